//! `ftlab device scale|from-datasheet`: devices that are written as files.

mod measured;

use std::io::Write;
use std::path::Path;

use ftlab::config::Config;
use ftlab::config::datasheet::{Endurance, Guess, Row, Sheet, guess};
use ftlab::config::scale::scale;
use ftlab::options::Layer;
use ftlab_lab::device::load;
use ftlab_lab::result::{self, FileKind};

use crate::args::{DeviceFileArgs, Endured, ScaleArgs, SheetArgs};
use crate::device::{settings, warn};
use crate::failure::Failure;
use crate::table::{show, table};
use measured::MeasuredFigure;

const DEVICE_FILE: FileKind =
    FileKind { name: "device file", option: "output", is_one: is_device_file };

fn is_device_file(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    Config::load(&[Layer::file("there", text)]).is_ok()
}

/// The file to write; none for standard output.
fn target(args: &DeviceFileArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| path.as_os_str() != "-")
}

/// Writes a device to its file, or to standard output.
fn write(text: &str, args: &DeviceFileArgs, out: &mut dyn Write) -> Result<(), Failure> {
    match target(args) {
        Some(path) => Ok(result::write_file(path, text.as_bytes(), &DEVICE_FILE, args.force)?),
        None => Ok(out.write_all(text.as_bytes())?),
    }
}

/// `ftlab device scale`: writes a device with a part of the flash.
pub fn scaled(args: &ScaleArgs, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = target(&args.output) {
        result::refuse_file(path, &DEVICE_FILE, args.output.force)?;
    }
    let whole = load(&args.device, &settings(&args.sets))?;
    let (factor, name) = (args.factor, &whole.options.device.name);
    let part = scale(&whole, factor).map_err(|why| {
        Failure::usage(format!(
            "{factor} of {name} is no device: {why}\n  remedy: take a larger part, or a device with more blocks or more spare \
             capacity"
        ))
    })?;
    warn(&part.config);
    part.cautions().iter().for_each(|caution| say!("warning: {caution}."));
    write(&part.text(), &args.output, out)?;
    let Some(path) = target(&args.output) else { return Ok(()) };
    let mut lines = table(&["option", "was", "becomes", "why"]);
    // Name and description are long, and say nothing new.
    for change in part.changes.iter().filter(|change| !change.path.starts_with("device.")) {
        lines.add_row([change.path, &change.was, &change.becomes, &change.why]);
    }
    show(lines, out)?;
    let shown = path.display();
    writeln!(out, "{shown}: {factor} of {name}. Its head says what it can't keep.")?;
    Ok(())
}

/// `ftlab device from-datasheet`: guesses a device, and compares its figures with those of the data sheet.
pub fn guessed(args: &SheetArgs, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = target(&args.output) {
        result::refuse_file(path, &DEVICE_FILE, args.output.force)?;
    }
    let guess = guess(&sheet(args)).map_err(|why| Failure::usage(with_flags(&why)))?;
    warn(&guess.config);
    write(&guess.text(), &args.output, out)?;
    guess.doubts.iter().for_each(|doubt| say!("warning: {}.", with_flags(doubt)));
    let Some(path) = target(&args.output) else { return Ok(()) };
    let figures: Vec<&'static str> = guess.rows.iter().map(|row| row.figure).collect();
    let measured = args.measure.then(|| measured::measure(&guess.config, &figures)).transpose()?;
    let missed = measured.as_deref().map_or(Vec::new(), |measured| far(&guess.rows, measured));
    missed.iter().for_each(|text| say!("warning: {}.", with_flags(text)));
    print(&guess, measured.as_deref(), out)?;
    let shown = path.display();
    writeln!(out, "{shown}: a first guess. Each line says how it follows, or that it is assumed.")?;
    Ok(())
}

/// What was measured far from what was asked for.
fn far(rows: &[Row], measured: &[Option<MeasuredFigure>]) -> Vec<String> {
    const FAR: f64 = 0.2;
    let told = |(row, measured): (&Row, &Option<MeasuredFigure>)| {
        let (wanted, MeasuredFigure { number, text }) = (row.wanted?, measured.as_ref()?);
        let off = number / wanted - 1.0;
        let asked = row.asked.as_deref()?;
        (off.abs() > FAR).then(|| {
            format!(
                "`{}` {asked} was asked for, but {text} are measured: {:+.0} %",
                row.option,
                off * 100.0
            )
        })
    };
    rows.iter().zip(measured).filter_map(told).collect()
}

fn print(
    guess: &Guess,
    measured: Option<&[Option<MeasuredFigure>]>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let last = if measured.is_some() { "measured" } else { "of" };
    let mut lines = table(&["figure", "data sheet", "closed form", last]);
    for (at, row) in guess.rows.iter().enumerate() {
        let asked = row.asked.as_deref().unwrap_or("-");
        let last = measured
            .map_or(&*row.form, |all| all[at].as_ref().map_or("-", |measured| &*measured.text));
        lines.add_row([row.figure, asked, &row.given, last]);
    }
    Ok(show(lines, out)?)
}

/// The figures of a data sheet, as messages call them.
const FIGURES: [&str; 15] = [
    "capacity",
    "cell",
    "interface",
    "nand",
    "read",
    "write",
    "random_read",
    "random_write",
    "read_latency",
    "write_latency",
    "endurance",
    "warranty",
    "buffer",
    "slc_cache",
    "write_cached",
];

/// Writes the figures in a text as the flags of this command.
fn with_flags(text: &str) -> String {
    FIGURES.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("`{name}`"), &format!("--{}", name.replace('_', "-")))
    })
}

/// Seconds of a year of 365 days, in which warranties are stated.
const YEAR: f64 = 365.0 * 86_400.0;

fn sheet(args: &SheetArgs) -> Sheet {
    let years = args.warranty.as_secs_f64() / YEAR;
    let endured = |endured| match endured {
        Endured::DriveWrites(a_day) => Endurance::DriveWrites { a_day, years },
        Endured::Written(bytes) => Endurance::Written(bytes),
    };
    Sheet {
        name: args.name.clone(),
        capacity: args.capacity,
        cell: args.cell,
        interface: args.interface,
        part: args.nand,
        read: args.read,
        write: args.write,
        random_read: args.random_read,
        random_write: args.random_write,
        read_latency: args.read_latency,
        write_latency: args.write_latency,
        endurance: args.endurance.map(endured),
        buffer: args.buffer,
        slc_cache: args.slc_cache,
        write_cached: args.write_cached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab::options::value::Value;

    #[test]
    fn measured_figures_that_are_far_off_are_told() {
        let (cell, link) = (Value::parse("tlc").unwrap(), Value::parse("pcie-4x4").unwrap());
        let sheet = Sheet {
            random_read: Some(500_000.0),
            ..Sheet::new("mine".to_owned(), Value::parse("1TB").unwrap(), cell, link)
        };
        let rows = guess(&sheet).unwrap().rows;
        let told = |number: f64| {
            let one = |row: &Row| {
                (row.option == "random_read")
                    .then(|| MeasuredFigure { number, text: format!("{number:.0} IOPS") })
            };
            far(&rows, &rows.iter().map(one).collect::<Vec<_>>())
        };
        assert_eq!(told(410_000.0), Vec::<String>::new());
        let expected =
            "`random_read` 500000 IOPS was asked for, but 390000 IOPS are measured: -22 %";
        assert_eq!(told(390_000.0), [expected]);
    }
}
