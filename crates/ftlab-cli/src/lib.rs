//! The command line of ftlab: parses arguments, calls the libraries, prints, and sets the exit code.
//!
//! It is a library only so that tests can reach it; the program is [`run_program`].

// Standard output and error may be full or closed; `say` writes to them without panicking.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod say;

mod accesses;
mod amplification;
mod args;
mod character;
mod compare;
#[cfg(target_os = "linux")]
mod ctl;
mod device;
mod drives;
mod failure;
mod figure;
mod fit;
mod health;
mod interrupt;
mod list;
mod manual;
mod power_cuts;
mod progress;
mod queues;
mod reproduce;
mod resume;
mod run;
mod saved;
#[cfg(target_os = "linux")]
mod serve;
mod sweep;
mod table;
mod torture;
mod traces;
mod utilisation;
mod why;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, ConfigCommand, DeviceCommand, MainCommand};
use failure::Failure;
use ftlab_lab::human;
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

fn carry_out(command: &MainCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        MainCommand::Run(args) => run::run(args, out),
        MainCommand::Compare(args) => compare::run(args, out),
        MainCommand::Sweep(args) => sweep::run(args, out),
        MainCommand::Why(args) => why::run(args, out),
        MainCommand::Report(args) => compare::report(args),
        MainCommand::Figure(args) => figure::run(args),
        MainCommand::Reproduce(args) => reproduce::run(args, out),
        MainCommand::Torture(args) => torture::run(args, out),
        #[cfg(target_os = "linux")]
        MainCommand::Serve(args) => serve::serve(args, out),
        #[cfg(target_os = "linux")]
        MainCommand::Ctl(args) => ctl::control(args, out),
        MainCommand::Trace(command) => traces::run(command, out),
        MainCommand::List { what, json } => list::list(*what, *json, out),
        MainCommand::Explain { path } => list::explain(path, out),
        MainCommand::Config(ConfigCommand::Check(arg)) => device::check(arg, out),
        MainCommand::Config(ConfigCommand::Show(arg)) => device::show(arg, out),
        MainCommand::Device(DeviceCommand::Save(args)) => saved::save(args, out),
        MainCommand::Device(DeviceCommand::Show(args)) => saved::show(args, out),
        MainCommand::Device(DeviceCommand::Load(args)) => saved::load(args, out),
        MainCommand::Device(DeviceCommand::Scale(args)) => drives::scaled(args, out),
        MainCommand::Device(DeviceCommand::FromDatasheet(args)) => drives::guessed(args, out),
        MainCommand::Completions { shell } => manual::completions(*shell, out),
        MainCommand::Man { command } => manual::page(command, out),
    }
}
