//! The arguments of `ftlab device scale` and `ftlab device from-datasheet`: devices that are written as files.

use std::path::PathBuf;

use clap::Args;
use ftlab::config::datasheet::{NandPart, PARTS};
use ftlab::config::scale::Factor;
use ftlab::host::Interface;
use ftlab::options::value::Value;
use ftlab::shape::Cell;
use ftlab::units::{Bytes, BytesPerSec, Nanos};

/// `ftlab device scale`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ftlab device scale 1/16 --device tlc-512g -o small.toml\n  ftlab run --device \
                        small.toml --precondition fill,age --workload randwrite-4k\n\nThe file says what it keeps and what \
                        it can't keep. See docs/howto/my-drive.md."
)]
pub struct ScaleArgs {
    /// The part of the flash that remains, such as 1/16 or 6.25%.
    #[arg(value_name = "PART", value_parser = Factor::parse, allow_negative_numbers = true)]
    pub factor: Factor,
    /// A built-in device (see `ftlab list devices`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub device: String,
    /// Set an option of the whole device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    #[command(flatten)]
    pub output: DeviceFileArgs,
}

/// Where a device goes.
#[derive(Debug, Args)]
pub struct DeviceFileArgs {
    /// The device file to write; by default, or as -, standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// `ftlab device from-datasheet`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  ftlab device from-datasheet --name my-drive --capacity 960GB --cell tlc --interface \
                        pcie-4x4 \\\n    --read 6500MB/s --write 1500MB/s --random-read 580000 --random-write 70000 \\\n    \
                        --endurance 1DWPD -o my-drive.toml\n\nWhat is left out is assumed, and the file says so on each line. \
                        See docs/howto/my-drive.md."
)]
pub struct SheetArgs {
    /// The name of the device.
    #[arg(long, value_name = "NAME", default_value = "my-drive", value_parser = one_line)]
    pub name: String,
    /// What the host sees.
    #[arg(long, value_name = "SIZE", value_parser = positive::<Bytes>)]
    pub capacity: Bytes,
    /// The cells: slc, mlc, tlc or qlc.
    #[arg(long, value_name = "CELL", value_parser = parsed::<Cell>)]
    pub cell: Cell,
    /// The link, such as sata-3 or pcie-4x4 (see `ftlab explain host.link.interface`).
    #[arg(long, value_name = "LINK", value_parser = interface)]
    pub interface: Interface,
    /// The flash: z-nand, mlc-25nm, tlc-96, tlc-128, tlc-176 or qlc-96; by default that of the cells and of the link's time.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub nand: Option<&'static NandPart>,
    /// The rate of sequential reads.
    #[arg(long, value_name = "RATE", value_parser = positive::<BytesPerSec>, help_heading = "Figures")]
    pub read: Option<BytesPerSec>,
    /// The rate of sequential writes, without an SLC cache.
    #[arg(long, value_name = "RATE", value_parser = positive::<BytesPerSec>, help_heading = "Figures")]
    pub write: Option<BytesPerSec>,
    /// Random reads of 4 KiB a second.
    #[arg(long, value_name = "IOPS", value_parser = iops, help_heading = "Figures")]
    pub random_read: Option<f64>,
    /// Random writes of 4 KiB a second, of a full drive in its steady state. Figures of client drives are usually those of
    /// their caches: leave them out.
    #[arg(long, value_name = "IOPS", value_parser = iops, help_heading = "Figures")]
    pub random_write: Option<f64>,
    /// The latency of a random read of 4 KiB; by default that of the flash.
    #[arg(long, value_name = "TIME", value_parser = positive::<Nanos>, help_heading = "Figures")]
    pub read_latency: Option<Nanos>,
    /// The latency of a write of 4 KiB; by default 1 us of DRAM besides command and link.
    #[arg(long, value_name = "TIME", value_parser = positive::<Nanos>, help_heading = "Figures")]
    pub write_latency: Option<Nanos>,
    /// What it endures: drive writes a day (1DWPD) or terabytes (600TBW); by default without limit.
    #[arg(long, value_name = "AMOUNT", value_parser = endured, help_heading = "Figures")]
    pub endurance: Option<Endured>,
    /// The years for which drive writes a day are promised.
    #[arg(long, value_name = "TIME", value_parser = warranty, default_value = "5y", help_heading = "Figures")]
    pub warranty: Nanos,
    /// The size of the write buffer; by default 64 MiB.
    #[arg(long, value_name = "SIZE", value_parser = positive::<Bytes>, help_heading = "Figures")]
    pub buffer: Option<Bytes>,
    /// The size of the SLC cache of an empty drive; by default none, or with --write-cached all free blocks.
    #[arg(long, value_name = "SIZE", value_parser = positive::<Bytes>, help_heading = "Figures")]
    pub slc_cache: Option<Bytes>,
    /// The rate of sequential writes into the SLC cache.
    #[arg(long, value_name = "RATE", value_parser = positive::<BytesPerSec>, help_heading = "Figures")]
    pub write_cached: Option<BytesPerSec>,
    /// Also simulate the device, scaled down to about 32 GB, and print what it does beside the closed forms.
    #[arg(long, requires = "output")]
    pub measure: bool,
    #[command(flatten)]
    pub output: DeviceFileArgs,
}

/// An endurance as data sheets state it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endured {
    /// Drive writes a day.
    DriveWrites(f64),
    /// Bytes.
    Written(Bytes),
}

/// A text that can stand in a comment.
fn one_line(text: &str) -> Result<String, String> {
    match text.chars().any(char::is_control) {
        true => Err("it must be one line, without control characters".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// A name as options take it.
fn parsed<T: Value>(text: &str) -> Result<T, String> {
    T::parse(text).map_err(|error| error.to_string())
}

/// A quantity as options take it, that is not zero.
fn positive<T: Value + Default + PartialEq>(text: &str) -> Result<T, String> {
    let value = parsed::<T>(text)?;
    if value == T::default() {
        return Err("it must not be zero".to_owned());
    }
    Ok(value)
}

/// Years, or a time as options take it.
fn warranty(text: &str) -> Result<Nanos, String> {
    let help = || format!("`{text}` is no warranty: write a number of years, such as 5y");
    if text.trim().parse::<f64>().is_ok() {
        return Err(help());
    }
    positive(text).map_err(|_| help())
}

fn interface(text: &str) -> Result<Interface, String> {
    match parsed::<Interface>(text)? {
        Interface::None => {
            Err("a drive has a link: write one such as sata-3 or pcie-4x4".to_owned())
        }
        interface => Ok(interface),
    }
}

fn part(text: &str) -> Result<&'static NandPart, String> {
    NandPart::named(text).ok_or_else(|| {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        format!("there is no such flash: write one of {}", names.join(", "))
    })
}

fn iops(text: &str) -> Result<f64, String> {
    let (number, times) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1e3),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let value = ungrouped(number).and_then(|plain| plain.parse::<f64>().ok());
    match value.map(|value| value * times) {
        Some(value) if value >= 1.0 && value.is_finite() => Ok(value),
        _ => Err(format!(
            "`{text}` is no number of requests a second: write one such as 580000, 580,000, 580k or 1.5M"
        )),
    }
}

/// A number without what separates its thousands. `None` if a group has not three digits.
fn ungrouped(number: &str) -> Option<String> {
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let groups: Vec<&str> = whole.split([',', '_']).collect();
    let (first, rest) = groups.split_first()?;
    let three = |group: &&str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = rest.is_empty() || ((1..=3).contains(&first.len()) && rest.iter().all(three));
    grouped.then(|| format!("{}.{places}", groups.concat()))
}

fn endured(text: &str) -> Result<Endured, String> {
    let help = || {
        format!(
            "`{text}` is no endurance: write drive writes a day, such as 1DWPD, or terabytes, such as 600TBW"
        )
    };
    let upper = text.to_uppercase();
    let number = |text: &str| {
        text.trim().parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e6)
    };
    if let Some(writes) = upper.strip_suffix("DWPD") {
        return number(writes).map(Endured::DriveWrites).ok_or_else(help);
    }
    for (ending, bytes) in [("TBW", 1e12), ("TB", 1e12), ("PBW", 1e15), ("PB", 1e15)] {
        if let Some(amount) = upper.strip_suffix(ending) {
            return number(amount)
                .map(|amount| Endured::Written(Bytes((amount * bytes) as u64)))
                .ok_or_else(help);
        }
    }
    Err(help())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_data_sheets_print_them() {
        assert_eq!(
            (iops("580000"), iops("580k"), iops("1,200,000")),
            (Ok(580e3), Ok(580e3), Ok(1.2e6))
        );
        assert_eq!(endured("1DWPD"), Ok(Endured::DriveWrites(1.0)));
        assert_eq!(endured("0.3dwpd"), Ok(Endured::DriveWrites(0.3)));
        assert_eq!(endured("600TBW"), Ok(Endured::Written(Bytes(600_000_000_000_000))));
        assert_eq!(endured("600TB"), endured("600TBW"));
        for bad in ["", "0DWPD", "-1DWPD", "TBW", "600", "nanDWPD"] {
            assert!(endured(bad).is_err_and(|told| told.contains("600TBW")), "{bad}");
        }
        assert_eq!((iops("1.5M"), iops("1.5m"), iops("75_000")), (Ok(1.5e6), Ok(1.5e6), Ok(75e3)));
        for bad in [
            "0", "-5", "many", "k", "inf", "", "5,8", "5,80k", "1,2345", "1234,567", ",580",
            "5,8.1",
        ] {
            assert!(iops(bad).is_err(), "{bad}");
        }
        assert!(positive::<Bytes>("0GB").is_err() && positive::<Nanos>("0us").is_err());
        assert_eq!(positive::<Nanos>("75us"), Ok(Nanos(75_000)));
        assert!(warranty("5").is_err_and(|told| told.contains("5y") && !told.contains("us")));
        assert_eq!(warranty("5y"), positive::<Nanos>("5y"));
        assert!(interface("none").is_err() && part("tlc-9").is_err());
    }
}
