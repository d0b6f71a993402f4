//! Draws faults for devices with parity, whose power is never cut: dies that die, failing programs, and unreadable
//! pages and blocks, at times within the load. On most devices no stripe misses more than its parity covers.

use ftlab::device::DeviceSetup;
use ftlab::engine::Stream;
use ftlab::nand::{Area, Fault, FaultOptions, FaultSpot, Scheduled, StripeLayout};
use ftlab::options::value::Value;
use ftlab::units::Nanos;

use super::bench::SEED;
use crate::cover::covers;
use crate::draw::{self, Limit, Settings, Together};

const SCHEDULE: &str = "nand.faults.schedule";
/// On one of this many devices more fails than parity covers.
const BEYOND: u64 = 4;
/// The most faults of a device.
const MOST: u64 = 8;
/// The shortest and longest times of a fault, as binary logarithms of nanoseconds: from the first
/// commands to the last.
const TIMES: (u64, u64) = (14, 27);

/// Draws a device with these options on which something fails.
pub(super) fn draw(stream: &mut Stream, given: &[Together], limit: Limit) -> Settings {
    loop {
        let mut settings = draw::device_with(stream, given, ("ftl.recovery.policy", "none"), limit);
        let Ok(config) = draw::load(&settings) else { continue };
        let Some(layout) = DeviceSetup::new(&config, SEED).ftl.stripes else { continue };
        let faults = faults(stream, &layout, &config.options.nand.faults);
        if faults.is_empty() {
            continue;
        }
        let texts = faults.iter().map(|fault| format!("\"{}\"", fault.print()));
        let list = format!("[{}]", texts.collect::<Vec<_>>().join(", "));
        settings.insert(SCHEDULE, list);
        if draw::load(&settings).is_ok() {
            return settings;
        }
    }
}

/// Draws faults that parity covers, or any faults.
fn faults(stream: &mut Stream, layout: &StripeLayout, options: &FaultOptions) -> Vec<Scheduled> {
    let beyond = stream.below(BEYOND) == 0;
    let (dies, count) = (stream.below(4), 1 + stream.below(MOST));
    let mut options = FaultOptions { schedule: Vec::new(), ..options.clone() };
    for _ in 0..count {
        let fault = fault(stream, layout, dies);
        let known = options.schedule.iter().any(|scheduled| scheduled.fault == fault);
        options.schedule.push(Scheduled { at: moment(stream), fault });
        if known || !(beyond || covers(layout, &options)) {
            options.schedule.pop();
        }
    }
    options.schedule
}

/// Draws a fault, a death with probability `dies` / 3.
fn fault(stream: &mut Stream, layout: &StripeLayout, dies: u64) -> Fault {
    let flash = layout.flash();
    let mut any = |below: u32| stream.below(below.into()) as u32;
    if u64::from(any(3)) < dies {
        return Fault::DieDies(any(flash.dies()));
    }
    if any(4) == 0 {
        return Fault::ProgramFails(Area::Block(any(flash.blocks())));
    }
    let pages = flash.blocks() * flash.shape().pages_per_block;
    Fault::Unreadable(match any(2) {
        0 => FaultSpot::Block(any(flash.blocks())),
        _ => FaultSpot::Page(any(pages)),
    })
}

fn moment(stream: &mut Stream) -> Nanos {
    let magnitude = TIMES.0 + stream.below(TIMES.1 - TIMES.0 + 1);
    Nanos(stream.below(1 << magnitude))
}
