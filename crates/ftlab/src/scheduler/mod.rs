//! The order of flash commands beneath the FTL.
//!
//! [`Flash`] owns every command in flight, the lanes in which they wait, and the dies and buses that
//! serve them. The policy ranks a command once, when it arrives; a die that falls idle takes the
//! command of the smallest rank, and so does a bus that falls free among the dies that want it.
//!
//! A read senses first and then needs the bus, its die held until the data is out. A program needs the
//! bus first; while it waits for it, its die stays open for a better command. An erase never passes
//! a read of its die that arrived earlier: that is what keeps data readable until it is gone, and
//! every policy must see to it.

mod adding_up;
mod cell_work;
mod chip;
mod command;
mod costs;
mod cut;
mod deadline;
mod fifo;
mod flash;
mod hazards;
mod image;
mod in_turn;
mod lanes;
mod last_below;
mod laws;
mod line;
mod load;
mod look_ahead;
mod owner;
mod page_order;
mod pause;
mod probe;
mod read_first;
mod read_first_bounded;
mod station;
mod turns;
mod view;

pub use crate::nand::Kind;
pub use cell_work::CellWork;
pub use command::{Command, CommandId, Origin, Spent};
pub use costs::{CostCounts, EFFORTS};
pub(crate) use cut::CellsLeft;
pub use deadline::{Deadline, DeadlineOptions};
pub use fifo::Fifo;
pub use flash::{CommandCounts, Flash, FlashSetup, Overlaps, flash_pages_programmed};
pub(crate) use laws::{FlashLaws, Held};
pub use load::{DieSet, Load};
pub use owner::{Owner, ServiceId};
pub use pause::{Pausable, PauseRule};
pub use probe::{Activity, Probe};
pub use read_first::ReadFirst;
pub use read_first_bounded::{Estimate, ReadFirstBounded, ReadFirstBoundedOptions, Scope};
pub use turns::Gathered;
pub(crate) use turns::{Turns, Work};
pub use view::View;

use crate::policy::{contract, seam};
use crate::units::{DieId, SimTime};

seam! {
    /// Decides in which order the commands of a die are served.
    pub enum Scheduler ("scheduler.policy" = "fifo") as SchedulerChoice, with scheduler_policy, or ExternalScheduler {
        Fifo(Fifo),
        ReadFirst(ReadFirst),
        Deadline(Deadline),
        ReadFirstBounded(ReadFirstBounded),
    }
}

/// What a policy sees of a command that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Which one.
    pub id: CommandId,
    /// What the die is to do.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// For which die.
    pub die: DieId,
    /// When it arrives.
    pub at: SimTime,
    /// How many commands arrived before, over the whole device.
    pub sequence: u64,
}

/// Which command a bus that falls free serves first, among those that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusOrder {
    /// The one that ranks best.
    Rank,
    /// The one that arrived first.
    Arrival,
}

contract! {
    /// What a scheduler decides.
    pub trait SchedulerPolicy for Scheduler, by scheduler_policy, or ExternalScheduler {
        /// Which command a bus serves first. Asked once.
        #[must_use]
        fn bus_order(&self) -> BusOrder {
            BusOrder::Rank
        }

        /// Whether the rank of a command is the moment at which it is due.
        #[must_use]
        fn has_deadlines(&self) -> bool {
            false
        }

        /// Whether a command can go before one that came earlier, even at the same moment. Asked once.
        #[must_use]
        fn overtaking(&self) -> bool {
            true
        }

        /// The rank of an arriving command: smaller goes first. Among what waits for a die, ranks of
        /// commands of one origin and kind must not fall from one to the next. Equals are served as they
        /// arrived. An erase never goes before a read of its die that arrived earlier.
        #[must_use]
        fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64;

        /// A die begins with a command: it waits no longer.
        #[inline(always)]
        fn begins(&mut self, _die: DieId, _id: CommandId, _view: &View<'_>) {}
    }
}
