//! Each measure against a naive one, and against what is known of simple loads.
