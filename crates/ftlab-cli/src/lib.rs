//! The command line of ftlab: parses arguments, calls the libraries, prints, and sets the exit code.
//!
//! A library only so that fuzzing and tests reach the parsers of files ([`fuzz`]); the program is [`run_program`].

mod accesses;
mod args;
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

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, ConfigCommand, DeviceCommand};
use failure::Failure;

/// Does what the command line asks for.
#[must_use]
pub fn run_program() -> ExitCode {
    let cli = Cli::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = carry_out(&cli.command, &mut out);
    let flushed = out.flush().map_err(Failure::from);
    // What has been written is dropped with the buffer if nobody reads it any more.
    drop(out.into_parts());
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
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
    }
}
