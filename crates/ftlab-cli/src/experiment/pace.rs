//! Converts the flags about replaying to the options of a replay.

use ftlab::stats::Arriving;
use ftlab::units::{Nanos, Ratio};
use ftlab_workload::replay::{self, Limits, Mapping, Pacing};
use ftlab_workload::trace;

use super::LoadSource;
use crate::args::{AddressKind, LoadArgs, ReplayKind};
use crate::failure::Failure;
use crate::load;

/// How many requests `--replay asap` considers together by default.
const ASAP_DEPTH: u32 = 256;

/// Returns the options of the replay.
pub fn options(args: &LoadArgs) -> Result<replay::Options, Failure> {
    let mapping = mapping(args)?;
    Ok(replay::Options {
        pacing: pacing(args)?,
        mapping,
        limits: Limits { requests: args.requests, time: None },
        // Packed extents are never shared, and workloads are laid out for the device.
        count_sharing: args.trace.is_some() && mapping != Mapping::Compact,
    })
}

fn pacing(args: &LoadArgs) -> Result<Pacing, Failure> {
    let pace = &args.pace;
    let Pacing::Source { queue_limit, .. } = Pacing::default() else {
        return Ok(Pacing::default());
    };
    let closed = |depth| Pacing::Closed { depth, think_time: Nanos::ZERO };
    let kind = match (pace.replay, pace.queue_depth) {
        (None, Some(_)) => ReplayKind::Closed,
        (kind, _) => kind.unwrap_or(ReplayKind::Open),
    };
    if pace.speed.is_some() && kind != ReplayKind::Open {
        return Err(Failure::usage(
            "--speed changes the times of requests, but this replay does not follow them\n  \
             remedy: leave out --speed, or --queue-depth and --replay",
        ));
    }
    match (kind, pace.queue_depth) {
        (ReplayKind::Open, depth) => Ok(Pacing::Source {
            speed: pace.speed.unwrap_or(Ratio::ONE),
            queue_limit: depth.unwrap_or(queue_limit),
        }),
        (ReplayKind::Closed, Some(depth)) => Ok(closed(depth)),
        (ReplayKind::Asap, depth) => {
            Ok(Pacing::Dependencies { depth: depth.unwrap_or(ASAP_DEPTH) })
        }
        (ReplayKind::Closed, None) if args.workload.is_some() => Ok(Pacing::default()),
        (ReplayKind::Closed, None) => Err(Failure::usage(
            "a closed loop needs the number of outstanding requests\n  remedy: add \
             --queue-depth, for example --queue-depth 32",
        )),
    }
}

/// Returns what decides when requests arrive.
pub fn arriving(args: &LoadArgs, load: &LoadSource) -> Arriving {
    let open = match (args.pace.replay, args.pace.queue_depth) {
        (None, None) | (Some(ReplayKind::Open), _) => true,
        (Some(ReplayKind::Closed | ReplayKind::Asap), _) | (None, Some(_)) => false,
    };
    if open && load.has_times() { Arriving::ByTime } else { Arriving::AfterCompletions }
}

/// Returns the address mapping. Scaling and partitioning may need to read the whole trace first.
fn mapping(args: &LoadArgs) -> Result<Mapping, Failure> {
    let kind = args.pace.address;
    let Some(file) = &args.trace else {
        return match kind {
            AddressKind::AsIs => Ok(Mapping::AsIs),
            _ => Err(Failure::usage(
                "--address is for traces: a workload is laid out for the device anyway\n  remedy: \
                 leave it out",
            )),
        };
    };
    match kind {
        AddressKind::AsIs => Ok(Mapping::AsIs),
        AddressKind::Fold => Ok(Mapping::Fold),
        AddressKind::Compact => Ok(Mapping::Compact),
        AddressKind::Scale(Some(span_sectors)) => Ok(Mapping::Scale { span_sectors }),
        AddressKind::Partition(Some(slices)) => Ok(Mapping::Partition { slices }),
        AddressKind::Scale(None) | AddressKind::Partition(None) if file == "-" => {
            Err(Failure::usage(
                "standard input can be read only once, but this needs to know the whole trace \
                 first\n  remedy: write scale:SIZE or partition:N, or save the trace to a file",
            ))
        }
        AddressKind::Scale(None) => {
            let span_sectors = look_through(file, args)?.max_lba_end;
            Ok(Mapping::Scale { span_sectors })
        }
        AddressKind::Partition(None) => {
            let streams = look_through(file, args)?.streams;
            Ok(Mapping::Partition { slices: u32::try_from(streams).unwrap_or(u32::MAX) })
        }
    }
}

fn look_through(file: &str, args: &LoadArgs) -> Result<trace::Inspection, Failure> {
    let mut trace = load::open(file, args.reading.options())?;
    trace::inspect(&mut trace).map_err(Failure::usage)
}
