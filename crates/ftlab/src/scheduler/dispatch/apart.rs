//! Dies whose planes sense on their own: whatever happens to one of its stations, a die looks at all of them.

use super::Dispatcher;
use crate::engine::skills::Skills;
use crate::scheduler::probe::Probe;
use crate::scheduler::station::StationId;
use crate::units::SimTime;

impl<P: Probe> Dispatcher<P> {
    /// Begins what the stations of a die can begin now, or puts them into the line for the bus.
    #[inline(never)]
    pub(super) fn start_apart<const S: Skills>(&mut self, now: SimTime, at: StationId) {
        self.array.settle_use(now, at);
        self.array.look_at_time(now, at);
        for one in self.array.stations_of(at) {
            self.start_station::<S>(now, one);
        }
        // What one of them began may keep others from beginning what they wanted the bus for.
        for one in self.array.stations_of(at) {
            self.array.leave_line_unless_wanted::<S>(now, one);
        }
    }

    fn start_station<const S: Skills>(&mut self, now: SimTime, at: StationId) {
        let station = &self.array.stations[at.at()];
        if self.array.sheet.settled.hold(&station.die) {
            return;
        }
        if !station.die.is_idle() {
            self.pass_on::<S>(now, at);
            self.send_held::<S>(now, at);
        }
        match self.array.next_apart(at) {
            Some(id) => self.begin_next::<S>(now, at, id),
            None => self.nothing_next::<S>(now, at),
        }
    }
}
