//! The times of a configuration, and those of parts on the market.

use super::options::Options;
use crate::nand::timing::StatedTimes;
use crate::shape::Cell;
use crate::units::Nanos;

pub(super) fn times(options: &Options) -> StatedTimes<'_> {
    options.nand.timing.policy.times(options.nand.cell)
}

/// The times of parts on the market.
pub(super) struct UsualTimes {
    pub read: (Nanos, Nanos),
    pub program: (Nanos, Nanos),
}

/// Wide ranges around data sheets and ISSCC papers from 2005 to 2022. Outside of them, a unit or a
/// cell type is probably wrong.
pub(super) const fn usual_times(cell: Cell) -> UsualTimes {
    const fn micros(low: u64, high: u64) -> (Nanos, Nanos) {
        (Nanos::from_micros(low), Nanos::from_micros(high))
    }
    match cell {
        Cell::Slc => UsualTimes { read: micros(1, 50), program: micros(50, 500) },
        Cell::Mlc => UsualTimes { read: micros(20, 150), program: micros(300, 3_000) },
        Cell::Tlc => UsualTimes { read: micros(25, 250), program: micros(250, 5_000) },
        Cell::Qlc => UsualTimes { read: micros(40, 500), program: micros(700, 20_000) },
    }
}
