//! The program as its users meet it: every test runs the built binary.

mod common;
mod device;
mod other_commands;
mod run;
