//! Load from a description: phases, address popularity, arrivals.
