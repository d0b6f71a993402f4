//! Project chores that need the crates themselves: generated reference documentation.
fn main() {}
