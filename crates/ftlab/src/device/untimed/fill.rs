//! A fill without a clock.

use std::ops::Range;

use super::{Stuck, Untimed};
use crate::device::Contents;
use crate::host::{Op, Request};
use crate::scheduler::Probe;
use crate::units::Lba;

/// What a fill in order writes at once, in sectors.
const AT_ONCE: u64 = 256;

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// Writes these sectors once, in order.
    ///
    /// # Errors
    /// The device can't take it.
    pub fn fill(&mut self, sectors: Range<u64>) -> Result<(), Stuck> {
        let mut next = sectors.start;
        while next < sectors.end {
            let count = AT_ONCE.min(sectors.end - next) as u32;
            let request = Request {
                op: Op::Write,
                lba: Lba(next),
                sectors: count,
                stream: 0,
                tag: 0,
                fua: false,
            };
            self.write(&request)?;
            next += u64::from(count);
        }
        Ok(())
    }
}
