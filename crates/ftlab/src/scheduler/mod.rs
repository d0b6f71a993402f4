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

mod command;
mod deadline;
mod fifo;
mod flash;
mod lanes;
mod line;
mod load;
mod pause;
mod read_first;
mod station;

pub use crate::nand::Kind;
pub use command::{Command, CommandId, Origin, Spent, Task};
pub use deadline::{Deadline, DeadlineOptions};
pub use fifo::Fifo;
pub use flash::{
    Activity, CommandCounts, Flash, FlashSetup, Overlaps, Probe, flash_pages_programmed,
};
pub use load::{DieSet, Load};
pub use pause::{Pausable, PauseRule};
pub use read_first::ReadFirst;

use crate::policy::seam;
use crate::units::SimTime;

seam! {
    /// Decides in which order the commands of a die are served.
    pub enum Scheduler ("scheduler.policy" = "fifo") as SchedulerChoice, with scheduler_policy {
        Fifo(Fifo),
        ReadFirst(ReadFirst),
        Deadline(Deadline),
    }
}

/// What a policy sees of a command that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// What the die is to do.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// When it arrives.
    pub at: SimTime,
    /// How many commands arrived before, over the whole device.
    pub sequence: u64,
}

impl Scheduler {
    /// The rank of an arriving command: smaller goes first. Ranks of commands of one origin and kind
    /// must not fall from one to the next. Equals are served as they arrived.
    #[inline]
    pub fn rank(&mut self, arrival: &Arrival) -> u64 {
        scheduler_policy!(self, policy => policy.rank(arrival))
    }
}
