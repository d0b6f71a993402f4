//! The program as its users meet it: every test runs the built binary.

mod common;
mod other_commands;
mod run;
