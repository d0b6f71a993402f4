//! How busy the parts of the device were. Parts that take no time have no share.

use serde::Serialize;

use super::DeviceCounters;
use super::figures::ratio;
use crate::device::{Contents, Device};
use crate::host::{FrontEndParts, LinkWays};
use crate::scheduler::Probe;
use crate::units::Nanos;

/// Shares of the measured time in which parts were occupied.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Utilisation {
    /// The buses.
    pub channels_ratio: Option<Spread>,
    /// The dies.
    pub dies_ratio: Option<Spread>,
    /// The engines that decode, pool by pool; null if decoding takes no time.
    pub decoders_ratio: Option<Spread>,
    /// The DRAM, as data crosses it one way or the other; null if it has no bandwidth.
    pub dram_ratio: Option<f64>,
    /// The link to the device, with data of writes and commands; null if it takes no time, or if both ways share the
    /// wire.
    pub link_in_ratio: Option<f64>,
    /// The link to the host, with data of reads and completions; null as before.
    pub link_out_ratio: Option<f64>,
    /// A link whose ways share the wire, either way; null for others.
    pub link_both_ratio: Option<f64>,
    /// The cores of the processor, as they do jobs or wait for a command that they fetched; what they wait for
    /// write-backs does not count. Null if it takes no time.
    pub processor_ratio: Option<f64>,
}

/// A quantity over several parts of the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Utilisation {
    pub(super) fn new<P: Probe, C: Contents>(
        counters: &DeviceCounters,
        device: &Device<P, C>,
    ) -> Utilisation {
        let DeviceCounters { channel_busy, die_busy, decoder_busy, front_end, span, .. } = counters;
        let FrontEndParts { dram, link, cores } =
            device.front().map(|front| front.parts()).unwrap_or_default();
        let engines = device.flash().engines_of_pool().unwrap_or(1);
        let share = |is_there: bool, busy: Nanos, of: u32| match is_there {
            true => ratio(busy.0 as f64, span.0 as f64 * f64::from(of)),
            false => None,
        };
        let (apart, shared) = (Some(LinkWays::Apart), Some(LinkWays::Shared));
        Utilisation {
            channels_ratio: spread(channel_busy, *span, 1),
            dies_ratio: spread(die_busy, *span, 1),
            decoders_ratio: spread(decoder_busy, *span, engines),
            dram_ratio: share(dram, front_end.dram, 1),
            link_in_ratio: share(link == apart, front_end.link_in, 1),
            link_out_ratio: share(link == apart, front_end.link_out, 1),
            link_both_ratio: share(link == shared, front_end.link_both, 1),
            processor_ratio: cores.and_then(|cores| share(true, front_end.processor, cores)),
        }
    }
}

/// The shares of parts that each consist of so many others.
fn spread(busy: &[Nanos], span: Nanos, of: u32) -> Option<Spread> {
    if busy.is_empty() || span == Nanos::ZERO {
        return None;
    }
    let whole = span.0 as f64 * f64::from(of);
    let shares = || busy.iter().map(|busy| busy.0 as f64 / whole);
    Some(Spread {
        mean: shares().sum::<f64>() / busy.len() as f64,
        min: shares().fold(f64::MAX, f64::min),
        max: shares().fold(0.0, f64::max),
    })
}
