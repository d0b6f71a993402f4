//! Notes on scheduled faults that did not occur.

use crate::device::{Contents, Device};
use crate::host::Host;
use crate::nand::Scheduled;
use crate::options::value::Value;
use crate::scheduler::Probe;
use crate::units::Nanos;

/// The most faults that are named; the others are counted.
const NAMED: usize = 3;

/// Returns notes on the scheduled faults that have not occurred.
pub fn collect<P: Probe, C: Contents>(device: &Device<P, C>) -> Vec<String> {
    let Some(hazards) = device.flash().hazards() else { return Vec::new() };
    let now = device.now();
    let late = named(hazards.to_come(now)).map(|faults| {
        format!(
            "nand.faults.schedule: {faults} never came, because the run ended before, {:.3} s after the device \
             was new. Name an earlier moment, or run for longer.",
            Nanos(now.0).as_secs_f64()
        )
    });
    let unmet = named(hazards.unmet(now)).map(|faults| {
        format!(
            "nand.faults.schedule: {faults} never came, because there was no such operation since its moment."
        )
    });
    late.into_iter().chain(unmet).collect()
}

/// Names faults as a device file does; none if there are none.
fn named<'a>(faults: impl Iterator<Item = &'a Scheduled>) -> Option<String> {
    let texts: Vec<String> = faults.map(|fault| format!("\"{}\"", fault.print())).collect();
    let named = texts.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match texts.len() {
        0 => None,
        all if all > NAMED => Some(format!("{named} and {} more", all - NAMED)),
        _ => Some(named),
    }
}
