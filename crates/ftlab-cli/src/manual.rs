//! Shell completions and manual pages, generated from the declaration of the command line.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Failure;

/// Prints a completion script for a shell.
pub fn completions(shell: Shell, out: &mut dyn Write) -> Result<(), Failure> {
    // The generator panics on write errors, so write to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ftlab", &mut script);
    Ok(out.write_all(&script)?)
}

/// Prints the manual page of a command, named as on the command line; without names, that of ftlab.
///
/// # Errors
/// There is no such command.
pub fn page(names: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let mut path = "ftlab".to_owned();
    for name in names {
        let Some(found) = command.find_subcommand(name).cloned() else {
            let known = command.get_subcommands().map(clap::Command::get_name);
            let known: Vec<&str> = known.filter(|name| *name != "help").collect();
            let remedy = match known.is_empty() {
                true => format!("ftlab man {}", path.trim_start_matches("ftlab").trim()),
                false => format!("write one of {}", known.join(", ")),
            };
            return Err(Failure::usage(format!(
                "{path} has no command {name}\n  remedy: {remedy}"
            )));
        };
        path = format!("{path} {name}");
        command = found;
    }
    Ok(clap_mangen::Man::new(command).render(out)?)
}
