//! Checks a workload beyond the form of its values, wherever it came from.

use ftlab::config::Problem;
use ftlab::options::text::legible;
use ftlab::units::{Amount, Bytes, Nanos, Ratio, SECTOR_BYTES};

use super::loads;
use super::workload::{Addresses, Arrivals, Bucket, Duration, Mix, Phase, Sizes, Workload};

/// The largest request; commands of real devices carry far less.
const MAX_REQUEST: Bytes = Bytes(1 << 30);
/// Above this nearly every access goes to the first place.
const MAX_THETA: f64 = 10.0;

/// Key, message and remedy.
type Finding = (&'static str, String, String);

/// Returns everything that is wrong with a workload, apart from the device.
pub(super) fn problems(workload: &Workload) -> Vec<Problem> {
    let mut list = Vec::new();
    if workload.phases.is_empty() {
        let message = "the workload has no phase".to_owned();
        let remedy = "add one".to_owned();
        list.push(Problem { path: "phase".to_owned(), message, remedy, place: None });
    }
    let before = std::iter::once(None).chain(workload.phases.iter().map(Some));
    for ((index, phase), before) in workload.phases.iter().enumerate().zip(before) {
        let findings = [
            tenant(phase, before),
            measured(phase),
            mix(phase.mix),
            forced(phase),
            sizes("size", &phase.size),
            phase.write_size.as_ref().and_then(|size| sizes("write_size", size)),
            phase.trim_size.as_ref().and_then(|size| sizes("trim_size", size)),
            align(phase),
            shares(phase),
            region(phase),
            streams(phase),
            overlap(phase),
            addresses(phase, "address", &phase.address),
            phase.read_address.as_ref().and_then(|a| addresses(phase, "read_address", a)),
            loads::problem(phase, before),
            arrivals(phase.arrivals),
            duration(phase),
        ];
        list.extend(
            findings
                .into_iter()
                .flatten()
                .map(|(key, message, remedy)| workload.problem(index, key, message, remedy)),
        );
    }
    list
}

/// Checks that a tenant has a previous phase, with the same `measure`.
fn tenant(phase: &Phase, before: Option<&Phase>) -> Option<Finding> {
    if !phase.with_previous {
        return None;
    }
    let Some(before) = before else {
        let message = "the first phase has no previous phase to play with".to_owned();
        return Some(("with_previous", message, "remove it here".to_owned()));
    };
    let message =
        "phases that play at the same time must be measured together or not at all".to_owned();
    let remedy = format!("write measure = {} here too", before.measure);
    (phase.measure != before.measure).then_some(("measure", message, remedy))
}

/// Checks that the measured part of a phase exists.
fn measured(phase: &Phase) -> Option<Finding> {
    let first = phase.measure_first?;
    if !phase.measure {
        let message = "measure_first in a phase that is not measured".to_owned();
        return Some(("measure_first", message, "remove it, or measure = false".to_owned()));
    }
    if first == 0 {
        let message = "measure_first = 0 would measure nothing".to_owned();
        return Some(("measure_first", message, "choose 1 or more".to_owned()));
    }
    let requests = phase.duration.requests.filter(|&requests| first > requests)?;
    let message = format!("measure_first = {first}, but the phase has only {requests} requests");
    let remedy = format!("write at most measure_first = {requests}, or raise `requests`");
    Some(("measure_first", message, remedy))
}

/// Checks that FUA writes are a share of the writes.
fn forced(phase: &Phase) -> Option<Finding> {
    if phase.fua > Ratio::ONE {
        let message = format!("a share of {} is more than all", phase.fua);
        return Some(("fua", message, "choose a share from 0% to 100%".to_owned()));
    }
    let nothing = phase.fua.ppm > 0 && phase.mix.writes.ppm == 0;
    let message = "fua is a share of the writes, but there are none".to_owned();
    nothing.then(|| ("fua", message, "remove it, or write a share of writes".to_owned()))
}

fn mix(mix: Mix) -> Option<Finding> {
    let parts = [mix.reads, mix.writes, mix.trims, mix.flushes];
    let ppm: u64 = parts.iter().map(|share| u64::from(share.ppm)).sum();
    let message = format!("the shares of operations sum to {}%, not 100%", ppm as f64 / 1e4);
    let remedy = "make reads, writes, trims and flushes sum to 100%".to_owned();
    (ppm != u64::from(Ratio::ONE.ppm)).then_some(("reads", message, remedy))
}

fn sizes(key: &'static str, sizes: &Sizes) -> Option<Finding> {
    let all: Vec<Bytes> = match sizes {
        Sizes::Fixed(size) => vec![*size],
        Sizes::List(list) => list.iter().map(|entry| entry.0).collect(),
        Sizes::Range { from, to, step } => vec![*from, *to, *step],
    };
    if let Sizes::Range { from, to, .. } = sizes
        && from > to
    {
        let message = format!("the range of sizes runs from {from} down to {to}");
        return Some((key, message, "swap `from` and `to`".to_owned()));
    }
    if let Sizes::List(list) = sizes
        && list.iter().all(|entry| entry.1 == 0)
    {
        let message = "no size of the list has a weight".to_owned();
        return Some((key, message, "give a size and a weight of one or more".to_owned()));
    }
    let bad = all.iter().find(|size| !is_sectors(**size) || **size > MAX_REQUEST);
    if let Some(size) = bad {
        let message = format!("{size} is not a whole number of sectors, or too large");
        return Some((key, message, whole_sectors()));
    }
    None
}

/// Checks shares that only places chosen by popularity have.
fn shares(phase: &Phase) -> Option<Finding> {
    let walks =
        |address: &Addresses| matches!(address, Addresses::Sequential | Addresses::Strided { .. });
    let given = [
        ("unaligned", phase.unaligned),
        ("inside", phase.inside),
        ("sequential_reads", phase.sequential_reads),
        ("sequential_writes", phase.sequential_writes),
    ];
    if let Some((key, share)) = given.into_iter().find(|(_, share)| *share > Ratio::ONE) {
        let message = format!("a share of {share} is more than all");
        return Some((key, message, "choose a share from 0% to 100%".to_owned()));
    }
    let (key, _) = given.into_iter().find(|(_, share)| share.ppm > 0).unzip();
    if let Some(read) = &phase.read_address
        && (walks(read) || walks(&phase.address))
    {
        let message = "a walk cannot have another popularity of reads".to_owned();
        return Some(("read_address", message, "leave it out, or split the phase".to_owned()));
    }
    let message = "a walk has no share of such requests".to_owned();
    let remedy = "leave it out, or choose an address kind such as uniform".to_owned();
    key.filter(|_| walks(&phase.address)).map(|key| (key, message, remedy))
}

fn align(phase: &Phase) -> Option<Finding> {
    if !is_sectors(phase.align) || phase.align > MAX_REQUEST {
        let message = format!(
            "an alignment of {} is not a whole number of sectors, or too large",
            phase.align
        );
        return Some(("align", message, whole_sectors()));
    }
    None
}

fn is_sectors(size: Bytes) -> bool {
    size.0 != 0 && size.0.is_multiple_of(SECTOR_BYTES)
}

fn whole_sectors() -> String {
    format!("use a multiple of {SECTOR_BYTES}B from {SECTOR_BYTES}B to {MAX_REQUEST}")
}

fn region(phase: &Phase) -> Option<Finding> {
    let share = |amount: Amount| match amount {
        Amount::Share(share) => share,
        Amount::Bytes(_) => Ratio::default(),
    };
    let size = phase.region.size.map_or(Ratio::default(), share);
    let sum = u64::from(share(phase.region.offset).ppm) + u64::from(size.ppm);
    let message = "the region reaches beyond the end of the device".to_owned();
    let remedy = "make offset and size sum to at most 100%".to_owned();
    (sum > u64::from(Ratio::ONE.ppm)).then_some(("region", message, remedy))
}

fn streams(phase: &Phase) -> Option<Finding> {
    let message = "a phase without a stream".to_owned();
    (phase.streams == 0).then(|| ("streams", message, "use 1 or more".to_owned()))
}

fn overlap(phase: &Phase) -> Option<Finding> {
    let message = format!("an overlap of {} is more than all", phase.overlap);
    let remedy = "choose a share from 0% to 100%".to_owned();
    (phase.overlap > Ratio::ONE).then_some(("overlap", message, remedy))
}

fn addresses(phase: &Phase, key: &'static str, address: &Addresses) -> Option<Finding> {
    match address {
        Addresses::Strided { stride } => {
            let fits =
                stride.0 != 0 && phase.align.0 != 0 && stride.0.is_multiple_of(phase.align.0);
            let message = format!("a stride of {stride} with an alignment of {}", phase.align);
            let remedy = "make the stride a multiple of the alignment".to_owned();
            (!fits).then_some(("address.stride", message, remedy))
        }
        Addresses::Zipf { theta, .. } => {
            let message = format!("theta is {}, outside 0 to {MAX_THETA}", legible(*theta));
            let remedy = "measured loads have a theta from 0.5 to 1.3".to_owned();
            (!(0.0..=MAX_THETA).contains(theta)).then_some((key, message, remedy))
        }
        Addresses::HotCold { space, accesses, .. } => {
            let inside = |share: &Ratio| share.ppm > 0 && *share < Ratio::ONE;
            let message = format!("{space} of the region with {accesses} of the accesses");
            let remedy = "choose shares between 0% and 100%, for instance 20% and 80%".to_owned();
            let wrong = !inside(space) || !inside(accesses);
            wrong.then_some((key, message, remedy))
        }
        Addresses::Histogram { buckets, .. } => histogram(key, buckets),
        Addresses::Uniform | Addresses::Sequential => None,
    }
}

fn histogram(key: &'static str, buckets: &[Bucket]) -> Option<Finding> {
    // Sums and products of these stay well below 64 and 128 bits.
    const MAX_SUM: u128 = 1 << 56;
    let used = buckets.iter().any(|bucket| bucket.accesses > 0 && bucket.space > 0);
    let lost = buckets.iter().any(|bucket| bucket.accesses > 0 && bucket.space == 0);
    let sum = |part: fn(&Bucket) -> u64| buckets.iter().map(|b| u128::from(part(b))).sum::<u128>();
    let too_large = sum(|b| b.accesses) > MAX_SUM || sum(|b| b.space) > MAX_SUM;
    let message = "the histogram has accesses nowhere, on no space, or beyond 2^56".to_owned();
    let remedy = "give whole numbers, with space for every part that has accesses".to_owned();
    (!used || lost || too_large).then_some((key, message, remedy))
}

fn arrivals(arrivals: Arrivals) -> Option<Finding> {
    if let Arrivals::Clustered { variation, .. } | Arrivals::ClusteredPeriod { variation, .. } =
        arrivals
        && variation < Ratio::ONE
    {
        let message = format!("a variation of {variation} is more even than Poisson");
        let remedy = "choose 100% or more, or constant arrivals".to_owned();
        return Some(("arrivals.variation", message, remedy));
    }
    let (key, zero) = match arrivals {
        Arrivals::Closed { queue_depth, .. } => ("arrivals.queue_depth", queue_depth == 0),
        Arrivals::Poisson { rate } | Arrivals::ConstantRate { rate } => {
            ("arrivals.rate", rate.per_kilosecond == 0)
        }
        Arrivals::Clustered { rate, .. } => ("arrivals.rate", rate.per_kilosecond == 0),
        Arrivals::ConstantPeriod { period }
        | Arrivals::PoissonPeriod { period }
        | Arrivals::ClusteredPeriod { period, .. } => ("arrivals.period", period == Nanos::ZERO),
        Arrivals::Bursts { period, burst_period, .. } => {
            ("arrivals.period", period == Nanos::ZERO || burst_period == Nanos::ZERO)
        }
    };
    let message = "with zero, requests would arrive endlessly at one time, or never".to_owned();
    zero.then(|| (key, message, "choose more than zero".to_owned()))
}

fn duration(phase: &Phase) -> Option<Finding> {
    let Duration { requests, bytes, time } = phase.duration;
    let remedy = "give at least one of `requests`, `bytes`, `time` and `measure_first`".to_owned();
    if phase.measure_first.is_none() && requests.is_none() && bytes.is_none() && time.is_none() {
        return Some(("requests", "the phase has no end".to_owned(), remedy));
    }
    let counted = requests.or(phase.measure_first);
    if counted.is_none() && time.is_none() && phase.mix.flushes == Ratio::ONE {
        let message = "flushes have no bytes, so the phase has no end".to_owned();
        return Some(("bytes", message, remedy));
    }
    let zero = [
        ("requests", requests == Some(0)),
        ("bytes", bytes.is_some_and(|amount| amount.sectors(u64::MAX) == 0)),
        ("time", time == Some(Nanos::ZERO)),
    ];
    let (key, _) = zero.into_iter().find(|(_, zero)| *zero)?;
    let message = "the phase ends before its first request".to_owned();
    Some((key, message, "choose a larger number, or remove the phase".to_owned()))
}
