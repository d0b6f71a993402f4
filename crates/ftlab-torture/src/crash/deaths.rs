//! Draws dies that die, failing programs, and unreadable pages and blocks, at times within the load: for devices with parity
//! whose power is not cut, mostly so that no stripe misses more than its parity covers; for others, a death or two between
//! power cuts.

use ftlab::device::DeviceSetup;
use ftlab::engine::Stream;
use ftlab::nand::{Area, Fault, FaultOptions, FaultSpot, Scheduled, StripeLayout};
use ftlab::options::value::Value;
use ftlab::units::Nanos;

use super::bench::{PowerUp, SEED};
use crate::cover::covers;
use crate::draw::{self, Limit, Settings, Together};

pub(super) const SCHEDULE: &str = "nand.faults.schedule";
/// On one of this many devices more fails than parity covers.
const BEYOND: u64 = 4;
/// The most faults of a device.
const MOST: u64 = 8;
/// The shortest and longest times of a fault, as binary logarithms of nanoseconds: from the first
/// commands to the last.
const TIMES: (u64, u64) = (14, 27);

/// After the end of any case, whose data ages for years: a century.
const NEVER: Nanos = Nanos(100 * 365 * 86_400 * 1_000_000_000);
/// The least longest time from a power-up to a death, as a binary logarithm of nanoseconds, and how many more there are:
/// from the first read to all of them.
const SOON: (u64, u64) = (10, 12);

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
        settings.insert(SCHEDULE, list(faults.into_iter()));
        if draw::load(&settings).is_ok() {
            return settings;
        }
    }
}

/// Draws a device with these options that recovers from power cuts, and loses one or two dies.
pub(super) fn draw_with_cuts(
    stream: &mut Stream,
    given: &[Together],
    recovery: &str,
    limit: Limit,
) -> Settings {
    loop {
        let policy = ("ftl.recovery.policy", recovery);
        let mut settings = draw::device_with(stream, given, policy, limit);
        let Ok(config) = draw::load(&settings) else { continue };
        let shape = config.shape();
        let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
        let first = stream.below(dies.into()) as u32;
        let mut dying = vec![first];
        if dies > 2 && stream.below(3) == 0 {
            dying.push((first + 1 + stream.below(u64::from(dies) - 1) as u32) % dies);
        }
        let fault = |die| Scheduled { at: moment(stream), fault: Fault::DieDies(die) };
        settings.insert(SCHEDULE, list(dying.into_iter().map(fault)));
        if draw::load(&settings).is_ok() {
            return settings;
        }
    }
}

/// The settings with all deaths after the end of any case; none if nothing dies.
pub(super) fn postponed(settings: &Settings) -> Option<Settings> {
    let faults = schedule(settings)?;
    if !faults.iter().any(dies) {
        return None;
    }
    let later = faults.into_iter().map(|fault| match dies(&fault) {
        true => Scheduled { at: NEVER, ..fault },
        false => fault,
    });
    let mut settings = settings.clone();
    settings.insert(SCHEDULE, list(later));
    Some(settings)
}

/// The settings with the first death soon after this power-up, while the first data is read. Others come later.
pub(super) fn soon_after(up: &PowerUp, settings: &Settings, stream: &mut Stream) -> Settings {
    let magnitude = SOON.0 + stream.below(SOON.1);
    let at = Nanos(up.at.0 + 1 + stream.below(1 << magnitude));
    let mut faults = schedule(settings).unwrap_or_default();
    let mut deaths = faults.iter_mut().filter(|fault| dies(fault));
    if let Some(first) = deaths.next() {
        first.at = at;
        if !up.open.is_empty() {
            let die = up.open[stream.below(up.open.len() as u64) as usize];
            first.fault = Fault::DieDies(die.at() as u32);
        }
    }
    deaths.for_each(|death| death.at = Nanos(at.0 + moment(stream).0));
    let mut settings = settings.clone();
    settings.insert(SCHEDULE, list(faults.into_iter()));
    settings
}

fn schedule(settings: &Settings) -> Option<Vec<Scheduled>> {
    Some(draw::load(settings).ok()?.options.nand.faults.schedule)
}

fn dies(scheduled: &Scheduled) -> bool {
    matches!(scheduled.fault, Fault::DieDies(_))
}

/// A schedule as TOML.
fn list(faults: impl Iterator<Item = Scheduled>) -> String {
    let texts = faults.map(|fault| format!("\"{}\"", fault.print()));
    format!("[{}]", texts.collect::<Vec<_>>().join(", "))
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
