//! The order of flash commands beneath the FTL.
//!
//! [`Flash`] owns every command in flight, the lanes in which they wait, and the dies and buses that serve them. The
//! policy ranks a command once, when it arrives. A die that becomes idle takes the command of the smallest rank, and
//! so does a bus that becomes free, among the dies that want it.
//!
//! The parts, from the bottom up: `datasheet` says what the flash can do and how long it takes; `array` has the dies,
//! the buses and what waits for them, which a policy sees as a [`View`]; `dispatch` gives them work; `flash` is the
//! interface to the layers above.
//!
//! A read senses first and then needs the bus; its die is held until the data is out. Then it may have to be decoded
//! (`decoder`). A program needs the bus first;
//! while it waits for the bus, its die may still take a better command. An erase never passes a read of its die that
//! arrived earlier: this keeps data readable until it is gone, and every policy must ensure it.

mod array;
mod cell_work;
mod command;
mod counts;
mod datasheet;
mod deadline;
mod decoder;
mod dispatch;
mod event;
mod fifo;
mod flash;
mod history;
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
mod read_first_with_space;
mod space;
mod station;
mod turns;
mod view;
mod watch;

pub use crate::nand::Kind;
pub use cell_work::CellWork;
pub use command::{Arrival, CellFindings, Command, CommandId, Origin, Spent};
pub use counts::{CommandCounts, CostCounts, EFFORTS, Overlaps, flash_pages_programmed};
pub use deadline::{Deadline, DeadlineOptions};
pub use decoder::{DecoderSetup, EccOptions, EnginesServe};
pub use fifo::Fifo;
pub use flash::{Flash, FlashSetup};
pub(crate) use flash::{Further, TimeAtOnce};
pub(crate) use history::CellHistory;
pub(crate) use laws::{FlashLaws, HeldBlock};
pub use line::BusOrder;
pub use load::{DieSet, Load};
pub use owner::{Owner, ServiceId};
pub use pause::{Pausable, PauseRule, PausedFor};
pub use probe::{Activity, Levels, Note, Probe};
pub use read_first::ReadFirst;
pub use read_first_bounded::{Estimate, ReadFirstBounded, ReadFirstBoundedOptions, Scope};
pub use read_first_with_space::{ReadFirstWithSpace, ReadFirstWithSpaceOptions};
pub use space::SpaceLimits;
pub(crate) use turns::{CellJob, Turns, Work};
pub use view::View;

use crate::policy::{contract, seam};
use crate::units::DieId;

seam! {
    /// Decides in which order the commands of a die are served.
    pub enum Scheduler ("scheduler.policy" = "fifo") as SchedulerChoice, with scheduler_policy, or ExternalScheduler {
        Fifo(Fifo),
        ReadFirst(ReadFirst),
        Deadline(Deadline),
        ReadFirstBounded(ReadFirstBounded),
        ReadFirstWithSpace(ReadFirstWithSpace),
    }
}

contract! {
    /// What the options of a scheduling policy determine.
    pub trait SchedulerFacts of SchedulerChoice, by scheduler_policy {
        /// When a die is short of free blocks, if the policy wants to know.
        fn space_limits(_options: &Self::Options) -> Option<SpaceLimits> {
            None
        }
    }
}

contract! {
    /// The decisions of a scheduling policy.
    pub trait SchedulerPolicy for Scheduler, by scheduler_policy, or ExternalScheduler {
        /// Which command a bus serves first. Asked once.
        #[must_use]
        fn bus_order(&self) -> BusOrder {
            BusOrder::Rank
        }

        /// Whether the rank of a command is the time at which it is due.
        #[must_use]
        fn has_deadlines(&self) -> bool {
            false
        }

        /// When a die is short of free blocks, if the policy wants to know. Asked once.
        #[must_use]
        fn follows_space(&self) -> Option<SpaceLimits> {
            None
        }

        /// Whether a command can go before one that came earlier, even at the same time. Asked once.
        #[must_use]
        fn overtaking(&self) -> bool {
            true
        }

        /// Ranks an arriving command; the smallest rank goes first. Among the commands that wait for a die, the ranks
        /// of one origin and kind must never decrease. Commands of equal rank are served in order of arrival. An
        /// erase must never go before a read of its die that arrived earlier.
        #[must_use]
        fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64;

        /// Called when a die begins a command, which then no longer waits.
        #[inline(always)]
        fn begins(&mut self, _die: DieId, _id: CommandId, _view: &View<'_>) {}
    }
}
