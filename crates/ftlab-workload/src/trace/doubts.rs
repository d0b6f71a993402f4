//! Readings that are possible and still look like the wrong unit. They are never corrected, since
//! a guess would be a wrong result that looks right; they are said, with the option to change it.

use ftlab::units::Nanos;

use super::format::Format;
use super::gate::Gate;
use super::options::Options;
use super::units::{SpaceUnit, TimeUnit};

/// Requests a second that few devices reach, and few traces were taken on one that does.
const HIGH_RATE: f64 = 100_000.0;
/// A mean size, in sectors, below which hardly any load lies.
const SMALL_MEAN: u64 = 3;
/// A statement about shares needs this many requests.
const ENOUGH: u64 = 100;

/// The mean rate, where the file itself does not say what its clock counts.
pub(crate) fn clock(format: &Format, options: &Options, gate: &Gate) -> Option<String> {
    if options.time_unit.is_some() || !format.unit_varies {
        return None;
    }
    let rate = gate.rate().filter(|rate| *rate > HIGH_RATE)?;
    let (unit, next) = (format.units.time, coarser(format.units.time)?);
    let slower = rate * unit.ns() as f64 / next.ns() as f64;
    Some(format!(
        "{rate:.0} requests a second if times count {}; if they count {}, it is {slower:.0} \
         (--time-unit {})",
        unit.words(),
        next.words(),
        name(next),
    ))
}

/// A clock so coarse that most requests share their moment with others.
pub(crate) fn tick(gate: &Gate) -> Option<String> {
    let mean_gap_ns = 1e9 / gate.rate()?;
    let coarse = gate.tick_ns >= TimeUnit::Ms.ns() && mean_gap_ns < gate.tick_ns as f64;
    coarse.then(|| {
        format!(
            "the clock steps by {}, and the requests within a step arrive at once: replayed by \
             their times they are bursts that never were",
            Nanos(gate.tick_ns)
        )
    })
}

fn coarser(unit: TimeUnit) -> Option<TimeUnit> {
    match unit {
        TimeUnit::Ns | TimeUnit::Filetime => Some(TimeUnit::Us),
        TimeUnit::Us => Some(TimeUnit::Ms),
        TimeUnit::Ms => Some(TimeUnit::S),
        TimeUnit::S => None,
    }
}

fn name(unit: TimeUnit) -> &'static str {
    TimeUnit::ALL.iter().find(|(_, known)| *known == unit).map_or("", |(name, _)| name)
}

/// Sizes that look like pages where the format has sectors.
pub(crate) fn sizes(format: &Format, options: &Options, gate: &Gate) -> Option<String> {
    let sectors = format.units.size == SpaceUnit::Sector && options.size_unit.is_none();
    if !sectors || gate.records < ENOUGH {
        return None;
    }
    // Pages counted as sectors: addresses on 4 KiB and sizes that are not, or hardly any size.
    let on_pages = gate.aligned_addresses * 10 > gate.records * 9;
    let off_pages = gate.aligned_sizes * 2 < gate.records;
    let tiny = gate.sectors < gate.records * SMALL_MEAN;
    (tiny || (on_pages && off_pages)).then(|| {
        let mean = gate.sectors as f64 / 2.0 / gate.records as f64;
        format!(
            "the mean request is {mean:.1} KiB if sizes count sectors; if they count pages of \
             4 KiB, it is {:.1} (--size-unit 4k)",
            mean * 8.0
        )
    })
}
