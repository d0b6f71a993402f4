//! The command line of ftlab: parses arguments, calls the libraries, prints, and sets the exit code.
//!
//! It is a library only so that fuzzers and tests can reach the parsers of files ([`fuzz`]); the
//! program is [`run_program`].

// Standard output and error may be full or closed; `say` writes to them without panicking.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod say;

mod accesses;
mod args;
mod bases;
mod compare;
mod device;
mod experiment;
mod failure;
#[doc(hidden)]
pub mod fuzz;
mod health;
mod human;
mod image;
mod interrupt;
mod list;
mod load;
mod manual;
mod memory;
mod page;
mod pool;
mod power_cuts;
mod progress;
mod queues;
mod recording;
mod reproduce;
mod result;
mod resume;
mod run;
mod saved;
mod seeds;
mod table;
mod tenants;
mod text_file;
mod torture;
mod traces;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, ConfigCommand, DeviceCommand};
use failure::Failure;
use say::Output;

/// Parses the command line and runs the command.
#[must_use]
pub fn run_program() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return parted(&told),
    };
    let mut out = Output::standard();
    let done = carry_out(&cli.command, &mut out);
    match (done, out.finish()) {
        (Ok(()), Ok(())) => ExitCode::SUCCESS,
        (Ok(()), Err(failure)) | (Err(failure), Ok(())) => failure.report(),
        (Err(failure), Err(unwritten)) => {
            unwritten.report();
            failure.report()
        }
    }
}

/// Prints a parse error, the help or the version.
fn parted(told: &clap::Error) -> ExitCode {
    match told.print() {
        Err(error) if !told.use_stderr() && error.kind() != ErrorKind::BrokenPipe => {
            Failure::from(error).report()
        }
        _ => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(failure::USAGE)),
    }
}

fn carry_out(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(args, out),
        Command::Compare(args) => compare::run(args, out),
        Command::Report(args) => compare::report(args),
        Command::Reproduce(args) => reproduce::run(args, out),
        Command::Torture(args) => torture::run(args, out),
        Command::Trace(command) => traces::run(command, out),
        Command::List { what, json } => list::list(*what, *json, out),
        Command::Explain { path } => list::explain(path, out),
        Command::Config(ConfigCommand::Check(arg)) => device::check(arg, out),
        Command::Config(ConfigCommand::Show(arg)) => device::show(arg, out),
        Command::Device(DeviceCommand::Save(args)) => saved::save(args, out),
        Command::Device(DeviceCommand::Show(args)) => saved::show(args, out),
        Command::Device(DeviceCommand::Load(args)) => saved::load(args, out),
        Command::Completions { shell } => manual::completions(*shell, out),
        Command::Man { command } => manual::page(command, out),
    }
}
