//! Chips that do one thing at a time (`nand.one_die_at_a_time`): while one die of a chip works, the others begin
//! nothing. When it is done, the die whose next command ranks best goes on, as if all commands of the chip waited
//! in one queue.
//!
//! The dies themselves show which one is working, so a chip has no state. A die with a suspended operation is
//! working.

use super::FlashArray;
use crate::engine::skills;
use crate::scheduler::command::CommandId;
use crate::scheduler::station::StationId;
use crate::units::{Nanos, SimTime};
use crate::verify::Canary;

impl FlashArray {
    /// The dies of the chip of a die. Their planes do not sense on their own.
    fn dies_of_chip(&self, die: StationId) -> impl Iterator<Item = StationId> + use<> {
        let die = self.die_of::<{ skills::PLAIN }>(die);
        self.sheet.geometry.dies_of_chip(die).map(StationId::of)
    }

    /// Whether a die is working.
    fn is_at_work(&self, die: StationId) -> bool {
        !self.stations[die.at()].die.is_idle()
    }

    /// The rank of the command that a die would begin next.
    fn rank_of_next(&self, die: StationId) -> Option<(u64, u64)> {
        let next = self.stations[die.at()].lanes.first()?;
        Some(self.commands[next].rank())
    }

    /// Whether a die may not begin a command now, because another die of its chip is working or has a command
    /// that ranks better.
    #[cold]
    pub fn yields_on_chip(&self, die: StationId, id: CommandId) -> bool {
        if self.plant.is(Canary::ChipDoesTwo) {
            return false;
        }
        let rank = self.commands[id].rank();
        let mut others = self.dies_of_chip(die).filter(|&other| other != die);
        let better = |other| self.rank_of_next(other).is_some_and(|theirs| theirs < rank);
        others.any(|other| self.is_at_work(other) || better(other))
    }

    /// The die of a chip that may go on after a command came for `die`, or `die` finished, if any: the one that
    /// is working, or else the one whose next command ranks best.
    #[cold]
    pub fn turn_on_chip(&mut self, now: SimTime, die: StationId) -> Option<StationId> {
        if self.plant.is(Canary::ChipDoesTwo) {
            return Some(die);
        }
        let dies = || self.dies_of_chip(die);
        let waiting = || dies().filter_map(|one| Some((self.rank_of_next(one)?, one)));
        let at_work = dies().find(|&one| self.is_at_work(one));
        let best = || waiting().min().map_or(die, |(_, one)| one);
        let turn = at_work.unwrap_or_else(best);
        if turn == die {
            return Some(die);
        }
        self.leave_line_unless_wanted::<{ skills::ALL }>(now, die);
        at_work.is_none().then_some(turn)
    }

    /// Time until `now` for which the dies of a chip were busy with collection, for which each of them waits, or for
    /// which collection had the bus that a free die waited for.
    #[cold]
    pub fn chip_held_by_gc(&self, now: SimTime, die: StationId) -> Nanos {
        let station = &self.stations[die.at()];
        let on_bus = station.bus_held_until(now, &self.lines);
        let dies = self.dies_of_chip(die);
        dies.fold(on_bus, |sum, one| sum + self.stations[one.at()].die.gc_until(now))
    }
}
