//! A first guess of a device from what the data sheet of a drive says.
//!
//! A data sheet names the outside: capacity, rates, IOPS, latencies. Closed forms connect them with the inside, and what they
//! leave open is that of a die of the time ([`NandPart`]). Every number comes with its derivation.

mod derive;
mod forms;
mod parts;
mod rows;

pub use forms::Forms;
pub use parts::{NandPart, PARTS};

use super::{Config, Shown};
use crate::host::Interface;
use crate::options::Layer;
use crate::shape::Cell;
use crate::units::{Bytes, BytesPerSec, Nanos};

/// What a data sheet says of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The name that the device gets.
    pub name: String,
    /// What the host sees.
    pub capacity: Bytes,
    /// The cells.
    pub cell: Cell,
    /// The link.
    pub interface: Interface,
    /// The die that it is assumed to be built of.
    pub part: Option<&'static NandPart>,
    /// Sequential reads.
    pub read: Option<BytesPerSec>,
    /// Sequential writes at full density.
    pub write: Option<BytesPerSec>,
    /// Random reads of 4 KiB a second.
    pub random_read: Option<f64>,
    /// Random writes of 4 KiB a second, of a full drive in its steady state.
    pub random_write: Option<f64>,
    /// The latency of a random read of 4 KiB.
    pub read_latency: Option<Nanos>,
    /// The latency of a write of 4 KiB.
    pub write_latency: Option<Nanos>,
    /// What it endures.
    pub endurance: Option<Endurance>,
    /// The size of the write buffer.
    pub buffer: Option<Bytes>,
    /// The SLC cache of an empty drive.
    pub slc_cache: Option<Bytes>,
    /// Sequential writes into it.
    pub write_cached: Option<BytesPerSec>,
}

impl Sheet {
    /// A sheet that says no more than a device needs.
    #[must_use]
    pub fn new(name: String, capacity: Bytes, cell: Cell, interface: Interface) -> Sheet {
        Sheet {
            name,
            capacity,
            cell,
            interface,
            part: None,
            read: None,
            write: None,
            random_read: None,
            random_write: None,
            read_latency: None,
            write_latency: None,
            endurance: None,
            buffer: None,
            slc_cache: None,
            write_cached: None,
        }
    }

    /// The capacity as it is sold.
    fn sold(&self) -> String {
        let gigabytes = self.capacity.0 as f64 / 1e9;
        let text = format!("{gigabytes:.3}");
        format!("{} GB", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// What a drive endures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endurance {
    /// So many of its capacity a day, for so many years.
    DriveWrites {
        /// A day.
        a_day: f64,
        /// Years of warranty.
        years: f64,
    },
    /// So many bytes.
    Written(Bytes),
}

/// An option of the device, and how its value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedLine {
    /// The option.
    pub path: &'static str,
    /// Its value.
    pub value: String,
    /// The derivation.
    pub why: String,
}

/// A figure of the data sheet beside that of the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The figure.
    pub figure: &'static str,
    /// What the data sheet says, if it does.
    pub asked: Option<String>,
    /// What the closed form gives.
    pub given: String,
    /// The closed form in words.
    pub form: String,
    /// The figure of the sheet that it is compared with.
    pub option: &'static str,
    /// The number that the data sheet says, in the unit of `reached`.
    pub wanted: Option<f64>,
    /// The number that the closed form gives.
    pub reached: f64,
    /// What keeps it from being better.
    pub bound: String,
}

/// A guess.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The device.
    pub config: Config,
    /// The figures.
    pub rows: Vec<Row>,
    /// What is doubtful about the data sheet.
    pub doubts: Vec<String>,
    sheet: Sheet,
    lines: Vec<DerivedLine>,
}

/// Guesses a device.
///
/// # Errors
/// Figures that contradict each other: which, why, and a remedy.
pub fn guess(sheet: &Sheet) -> Result<Guess, String> {
    let derive::Derived { lines, doubts, forms } = derive::derive(sheet)?;
    let set =
        |line: &DerivedLine| Layer::set_by("data sheet", &format!("{}={}", line.path, line.value));
    let layers: Vec<Layer> = lines.iter().map(set).collect();
    let config = Config::load(&layers).map_err(|error| {
        let problem = error.problems.first().expect("a reason");
        format!(
            "these figures make no device: {}: {}\n  remedy: {}",
            problem.path, problem.message, problem.remedy
        )
    })?;
    let rows = forms.rows(sheet);
    Ok(Guess { config, rows, doubts, sheet: sheet.clone(), lines })
}

impl Guess {
    /// The device as a file.
    #[must_use]
    pub fn text(&self) -> String {
        let (name, capacity) = (&self.sheet.name, self.sheet.sold());
        let mut text = format!(
            "# {name}, {capacity}: a first guess from a data sheet, by ftlab device from-datasheet.\n#\n\
             # Each line says how its value follows from the figures below, or that it is assumed. Replace what you know\n\
             # better: the part number of the flash, the number of dies, the controller.\n#\n\
             # Figure | data sheet | the closed form with the values below\n"
        );
        for Row { figure, asked, given, form, .. } in &self.rows {
            let asked = asked.as_deref().unwrap_or("not given");
            text += &format!("# {figure} | {asked} | {given}: {form}\n");
        }
        if !self.doubts.is_empty() {
            text += "#\n# Doubts\n";
            self.doubts.iter().for_each(|doubt| text += &format!("# - {doubt}\n"));
        }
        text.push('\n');
        text + &self.config.show_as(|path| {
            let line = self.lines.iter().find(|line| line.path == path);
            match line {
                Some(line) if line.why.is_empty() => Shown::Bare,
                Some(line) => Shown::With(line.why.clone()),
                None => Shown::Not,
            }
        })
    }
}

#[cfg(test)]
mod tests;
