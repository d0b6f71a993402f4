//! The `ftlab` binary.
fn main() {}
