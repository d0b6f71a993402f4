//! How long operations of a configuration take, and what parts on the market take.

use std::borrow::Cow;

use super::options::Options;
use crate::nand::timing::{Interface, PageTime, Rate, TimingChoice, Transfers, TransfersChoice};
use crate::shape::Cell;
use crate::units::{Bytes, Nanos};

/// The times of an operation, one for each type of page that is told apart.
pub(super) struct Times<'a> {
    pub read: Cow<'a, [Nanos]>,
    pub program: Cow<'a, [Nanos]>,
}

pub(super) fn times(options: &Options) -> Times<'_> {
    let stated =
        |read, program| Times { read: Cow::Borrowed(read), program: Cow::Borrowed(program) };
    match &options.nand.timing.policy {
        TimingChoice::Plain(plain) => {
            stated(std::slice::from_ref(&plain.read), std::slice::from_ref(&plain.program))
        }
        TimingChoice::PageType(by_type) => stated(&by_type.read_by_type, &by_type.program_by_type),
        TimingChoice::ByCost(by_cost) => stated(&by_cost.read_by_cost, &by_cost.program_by_cost),
        TimingChoice::Ispp(ispp) => {
            let levels = ispp.reliability.references.iter();
            let steps = ispp.reliability.program_step.iter();
            Times {
                read: levels.map(|&count| ispp.read_time(options.nand.cell, count)).collect(),
                program: steps.map(|&step| ispp.program_time(step)).collect(),
            }
        }
    }
}

/// What parts on the market take.
pub(super) struct UsualTimes {
    pub read: (Nanos, Nanos),
    pub program: (Nanos, Nanos),
}

/// Wide ranges around data sheets and ISSCC papers from 2005 to 2022: outside of them a unit was
/// probably mistaken, or a cell.
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

/// How long a flash page takes on the bus.
pub(super) fn transfer_time(choice: &TransfersChoice, page: Bytes) -> Nanos {
    let transfers = match choice {
        TransfersChoice::Rate(options) => Transfers::Rate(Rate { rate: options.rate.0 }),
        TransfersChoice::Interface(options) => {
            Transfers::Interface(Interface { width: options.width, transfers: options.transfers })
        }
        TransfersChoice::PageTime(options) => Transfers::PageTime(PageTime { page: options.page }),
    };
    transfers.time_for(page, page)
}
