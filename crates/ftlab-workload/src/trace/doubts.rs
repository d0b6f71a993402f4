//! Warns of readings that are possible but suggest a wrong unit. They are never corrected, because
//! a wrong guess would give a plausible wrong result; the warning names the option to change it.

use ftlab::units::{Nanos, SimTime};

use super::chance::FirstRequests;
use super::clock::{COARSE_NS, ClockSteps};
use super::columns::{ColumnUnit, Given, RequestPart};
use super::format::{Codec, Format};
use super::gate::{Gate, Late, RATE_FROM};
use super::options::Options;
use super::seams::Seam;
use super::shape::{SHAPED_FROM, Silence};
use super::units::{Epoch, SINCE_1970, SpaceUnit, TimeUnit};

/// Requests per second that few devices reach.
const HIGH_RATE: f64 = 100_000.0;
/// Requests per second that no load is below.
const LOW_RATE: f64 = 0.001;
/// Requests per second that only a misread clock gives.
const ABSURD_RATE: f64 = 2_000_000.0;
/// A mean size, in sectors, that hardly any load is below.
const SMALL_MEAN: u64 = 3;
/// A mean size, in sectors, that no load has: 16 MiB.
const LARGE_MEAN: u64 = 32 << 10;
/// The least number of requests for statements about shares.
const ENOUGH: u64 = 100;

/// Warns of a high mean rate if the file does not state its time unit, of an absurd rate in any case, and of requests that all have
/// one time.
pub(crate) fn clock(format: &Format, options: &Options, gate: &Gate) -> Option<String> {
    let plan = &options.columns;
    if gate.is_at_once() && gate.rate(SHAPED_FROM).is_some_and(|rate| rate > HIGH_RATE) {
        let remedy = if plan.is_empty() { "" } else { ": is that the column of the times?" };
        return Some(format!("all {} requests have one time{remedy}", gate.records));
    }
    let said =
        options.time_unit.is_some() || plan.of(RequestPart::Time).is_some_and(Given::has_unit);
    let unsaid = !said && format.unit_varies;
    let high = gate.rate(RATE_FROM).filter(|rate| unsaid && *rate > HIGH_RATE);
    let rate = high.or_else(|| gate.rate(SHAPED_FROM).filter(|rate| *rate > ABSURD_RATE))?;
    let unit = match plan.is_empty() {
        true => options.units(format).time,
        false => TimeUnit::of_ns(plan.time_unit_ns())?,
    };
    let slower = |next: &TimeUnit| {
        let slower = rate * unit.ns() as f64 / next.ns() as f64;
        let decimals = if slower < 10.0 { 2 } else { 0 };
        let (words, name) = (next.words(), next.name());
        let option =
            plan.with_unit(RequestPart::Time, name).map(|said| format!("`columns` {said}"));
        let option = option.unwrap_or_else(|| format!("`time_unit` {name}"));
        format!("; if they count {words}, it is {slower:.decimals$} ({option})")
    };
    let others: String = coarser(unit).iter().map(slower).collect();
    let remedy = if others.is_empty() { "; is that the column of the times?" } else { "" };
    let words = unit.words();
    Some(format!("{rate:.0} requests a second if times count {words}{others}{remedy}"))
}

/// Warns of seldom requests in a table whose times were taken for seconds because nobody said a unit.
pub(crate) fn seldom(options: &Options, gate: &Gate) -> Option<String> {
    let given = options.columns.of(RequestPart::Time).filter(|given| !given.has_unit())?;
    let rate = gate.rate(SHAPED_FROM).filter(|rate| *rate < LOW_RATE)?;
    let other = options.columns.with_unit(RequestPart::Time, "us")?;
    (given.unit() == ColumnUnit::Of(TimeUnit::S.ns())).then(|| {
        let apart = Nanos((1e9 / rate) as u64);
        format!("the requests are {apart} apart if times count seconds: is the unit another, as in `columns` {other}?")
    })
}

/// Warns of a pause of more than half of the trace, and of pauses far longer than all others.
pub(crate) fn silence(silence: &Silence, gate: &Gate) -> Option<String> {
    let longest = silence.longest();
    let share = |ns: u64| 100.0 * ns as f64 / silence.duration_ns as f64;
    let begin = format!("nothing arrives for {}", Nanos(longest.ns));
    let place =
        format!("after request {}, {} after the first", longest.after, Nanos(longest.at_ns));
    if silence.is_long(gate.tick_ns) {
        return Some(format!(
            "{begin}, {:.0} % of the trace, {place}: is a time damaged, or are these two recordings? \
             Replayed by its times, the device rests that long",
            share(longest.ns)
        ));
    }
    let (pauses, usual_ns) = silence.unusual(gate.tick_ns)?;
    let others = match pauses.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more such {}", if more == 1 { "pause" } else { "pauses" }),
    };
    Some(format!(
        "{begin}, {place}{others}: {:.0} % of the trace, where all other pauses are at most {}. Were the \
         recordings joined? Replayed by its times, the device rests that long; `queue_depth` plays them without",
        share(pauses.iter().map(|pause| pause.ns).sum()),
        Nanos(usual_ns)
    ))
}

/// Warns of several recordings in one file, of a counter that wrapped, of two clocks, and of reverse order.
pub(crate) fn seam(gate: &Gate, whole: bool, is_archive: bool) -> Option<String> {
    let copies = gate.repeats.copies().filter(|_| whole).map(|(requests, copies)| {
        format!(
            "the file is {copies} copies of its first {requests} requests, one after another: \
             operations, addresses and sizes are the same"
        )
    });
    let back = gate.fallback.seam(gate.records).filter(|_| gate.late() != Late::Continue);
    let back = reversed(gate).or_else(|| {
        let seam = back?;
        Some(match is_archive {
            true => OVERLAP.to_owned(),
            false => shuffled(gate, seam).unwrap_or_else(|| fallen_back(gate, seam)),
        })
    });
    match (copies, back) {
        (Some(copies), Some(back)) => Some(format!("{copies}; {back}")),
        (copies, back) => copies.or(back),
    }
}

/// Files of an archive that are not one after another in time.
const OVERLAP: &str = "the files of the archive overlap in time, or are not in its order: as far as that can be done they are \
                       sorted by time; unpack it and name the folder, whose files are merged";

/// A file in no order of time, in words. Two clocks that take turns look alike, and are told by their turns.
fn shuffled(gate: &Gate, seam: Seam) -> Option<String> {
    let (backward, changes) = (gate.order.backward, gate.order.backward + gate.order.forward);
    let what = match gate.late() {
        Late::Refuse | Late::Clamp if gate.late_records == 0 => {
            "The requests are sorted by time; those of one time are in the order of the file"
        }
        _ => "Their times were lost: sort its lines by time",
    };
    (seam == Seam::Restart && gate.order.is_shuffled()).then(|| {
        format!(
            "the file is in no order of time, which goes back {backward} of {changes} times: is it sorted by another \
             column? {what}"
        )
    })
}

/// A clock that falls back, in words.
fn fallen_back(gate: &Gate, seam: Seam) -> String {
    let (back, after) = (Nanos(gate.fallback.back_ns), gate.fallback.after);
    if let Some(request) = gate.fallback.spike().filter(|_| seam == Seam::Restart) {
        return format!(
            "the time of request {request} of the file is ahead by {back} or so of those behind it, which go on from the one \
             before: is its line damaged? Sorted by time, it comes far behind its place; mend or delete that line"
        );
    }
    let begin = format!("the time goes back by {back} after request {after} of the file");
    let what = match seam {
        Seam::Restart => "as if another recording began there".to_owned(),
        Seam::Wrap(unit) => {
            format!("as if a counter of 32 bits began anew that counts {}", unit.words())
        }
        Seam::TwoClocks => {
            let behind = gate.fallback.records;
            return format!(
                "the file has two clocks: {behind} requests among the others are {back} or so behind, as \
                 if some times were times of day and others times since boot: sorted by time, the ones come \
                 after the others; keep the lines of one clock, or give both the same"
            );
        }
    };
    format!(
        "{begin}, {what}: sorted by time, they are played at once; `late` continue plays one after the other"
    )
}

/// Says where the clock began anew and was continued, which was asked for.
pub(crate) fn continued(gate: &Gate) -> Option<String> {
    let places = gate.fallback.records;
    let times = if places == 1 { "once".to_owned() } else { format!("{places} times") };
    (gate.late() == Late::Continue && places > 0).then(|| {
        format!(
            "the clock falls back {times}, by {} after request {} of the file at first, and goes on from the \
             time reached, as said",
            Nanos(gate.fallback.back_ns),
            gate.fallback.after
        )
    })
}

/// Warns of a clock so coarse that most requests share their time with others: by what the format says, and by the times.
pub(crate) fn tick(gate: &Gate, steps: &ClockSteps) -> Option<String> {
    let mean_gap_ns = gate.rate(RATE_FROM).map(|rate| 1e9 / rate);
    let said = gate.tick_ns >= COARSE_NS
        && mean_gap_ns.is_some_and(|mean_gap_ns| mean_gap_ns < gate.tick_ns as f64);
    let seen = gate.records >= ENOUGH && steps.is_coarse(gate.records);
    let step_ns = if seen { steps.step_ns } else { gate.tick_ns };
    (said || seen).then(|| {
        format!(
            "the clock steps by {}, and the requests within a step arrive at once: replayed by \
             their times they form bursts that never happened; `queue_depth` plays them without",
            Nanos(step_ns)
        )
    })
}

/// Warns of a file that is in reverse order of time.
fn reversed(gate: &Gate) -> Option<String> {
    let what = match gate.late() {
        Late::Continue => "`late` continue takes each for another recording: leave it out",
        Late::Refuse | Late::Clamp if gate.late_records == 0 => {
            "it is sorted, but requests at one time stay in reverse"
        }
        Late::Refuse | Late::Clamp => "their times were lost",
    };
    let (backward, changes) = (gate.order.backward, gate.order.backward + gate.order.forward);
    gate.order.is_reversed().then(|| {
        format!(
            "the file is in reverse order of time, which goes back {backward} of {changes} times: {what}; reverse its \
             lines, such as by tac, with the header first if it has one"
        )
    })
}

/// Returns the coarser units.
fn coarser(unit: TimeUnit) -> &'static [TimeUnit] {
    match unit {
        TimeUnit::Ns | TimeUnit::Filetime => &[TimeUnit::Us, TimeUnit::Ms, TimeUnit::S],
        TimeUnit::Us => &[TimeUnit::Ms, TimeUnit::S],
        TimeUnit::Ms => &[TimeUnit::S],
        TimeUnit::S => &[],
    }
}

/// Warns of a mean size that no load has: another column may be that of the sizes.
pub(crate) fn large(gate: &Gate) -> Option<String> {
    let mean = gate.sectors / gate.records.max(1);
    (mean >= LARGE_MEAN).then(|| {
        format!(
            "the mean request has {} MiB: is that the column of the sizes, and their unit?",
            mean >> 11
        )
    })
}

/// Warns of times of long ago that would be of today in another unit.
pub(crate) fn date(format: &Format, options: &Options, origin: SimTime) -> Option<String> {
    let unit = options.units(format).time;
    if format.epoch != Epoch::Calendar || options.time_unit.is_some() || !options.columns.is_empty()
    {
        return None;
    }
    let count = origin.0 / unit.ns();
    let other = SINCE_1970.iter().find(|(_, dates)| dates.contains(&count)).map(|(unit, _)| *unit);
    let other = other.filter(|other| *other != unit)?;
    let begin = match unit {
        TimeUnit::Filetime => "as Windows file times these are of the 17th century".to_owned(),
        _ => format!("in {} since 1970 these are not of our days", unit.words()),
    };
    Some(format!(
        "{begin}; as {} since 1970 they would be (`time_unit` {})",
        other.words(),
        other.name()
    ))
}

/// Warns of addresses that look like bytes in a format that uses sectors.
pub(crate) fn bytes(format: &Format, options: &Options, first: &FirstRequests) -> Option<String> {
    let unsaid = options.address_unit.is_none() && options.columns.is_empty();
    let odd = first.bytes(&options.units(format)).filter(|_| format.address_varies && unsaid)?;
    // They are said to be odd only if such sizes are, too.
    let sizes = options.units(format).size == SpaceUnit::Sector && options.size_unit.is_none();
    let sizes = if sizes { ", and `size_unit` byte, as the sizes look so, too" } else { "" };
    Some(format!("{odd} (`address_unit` byte{sizes}; or `address_unit` sector, if they are right)"))
}

/// Warns of sizes that look like sectors in a text that has bytes: nearly all requests, `widened` of them, end within a sector, and few
/// take more than one. Those that only begin within a sector take two or more.
pub(crate) fn sectors(
    format: &Format,
    options: &Options,
    gate: &Gate,
    widened: u64,
) -> Option<String> {
    let unsaid = options.size_unit.is_none() && options.columns.is_empty();
    let has_bytes =
        format.units.size == SpaceUnit::Byte && matches!(format.codec, Codec::Text { .. });
    let are_odd = gate.records >= SHAPED_FROM
        && widened * 10 > gate.records * 9
        && gate.sectors * 2 < gate.records * 3;
    (unsaid && has_bytes && are_odd).then(|| {
        let too = match format.units.address {
            SpaceUnit::Byte => ", and `address_unit` sector if addresses do, too",
            _ => "",
        };
        format!(
            "{widened} of {} requests end within a sector if sizes count bytes, as those of disks don't: do they count sectors \
             (`size_unit` sector{too})?",
            gate.records
        )
    })
}

/// Warns of sizes that look like pages in a format that uses sectors.
pub(crate) fn sizes(format: &Format, options: &Options, gate: &Gate) -> Option<String> {
    let sectors = format.units.size == SpaceUnit::Sector && options.size_unit.is_none();
    if !sectors || gate.records < ENOUGH {
        return None;
    }
    // Pages counted as sectors: aligned addresses with unaligned sizes, or tiny sizes.
    let on_pages = gate.aligned_addresses * 10 > gate.records * 9;
    let off_pages = gate.aligned_sizes * 2 < gate.records;
    let tiny = gate.sectors < gate.records * SMALL_MEAN;
    (tiny || (on_pages && off_pages)).then(|| {
        let mean = gate.sectors as f64 / 2.0 / gate.records as f64;
        format!(
            "the mean request is {mean:.1} KiB if sizes count sectors; if they count pages of \
             4 KiB, it is {:.1} (`size_unit` 4k)",
            mean * 8.0
        )
    })
}
