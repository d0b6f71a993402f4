//! The engines that decode what is read from flash: their queues, and when they are done.
//!
//! A page leaves its die codeword by codeword, and an engine can decode a codeword as soon as all of it is there. So
//! an engine that is faster than the bus adds the time of the last codeword only, and a slower one is a queue with
//! constant service times behind the bus. Neither the die nor the bus is held meanwhile.
//!
//! Pages are decoded in the order in which their transfers end; codewords of a page go to the engine that is free
//! first. A page that was sensed again (`nand.timing.policy = "ispp"`) was decoded in vain once for each sensing; the
//! last one may take longer, because it uses soft information.
//!
//! Sources: Zhao et al., "LDPC-in-SSD: Making Advanced Error Correction Codes Work Effectively in Solid State Drives",
//! FAST 2013, section 2 (hard decisions first, soft ones after retries); for the queue, Tijms, "A First Course in
//! Stochastic Models", 2003, 9.6 (M/D/c).

mod options;

use std::collections::VecDeque;

pub use options::{EccOptions, EnginesServe};

use super::command::CommandId;
use crate::nand::ReadEffort;
use crate::units::{ChannelId, Nanos, SimTime};

/// What the engines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecoderSetup {
    /// Engines of a pool.
    pub engines: u32,
    /// Whether each channel has a pool of its own, or all share one.
    pub serve: EnginesServe,
    /// How long an engine takes for a codeword.
    pub codeword: Nanos,
    /// How much longer it takes for one of a page that was sensed again.
    pub soft: Nanos,
    /// How long each codeword takes besides, without keeping an engine from the next.
    pub latency: Nanos,
}

impl DecoderSetup {
    /// How long an engine takes for a codeword of a page that was read with this effort.
    fn time_for(&self, effort: ReadEffort) -> Nanos {
        match effort.retries() {
            0 => self.codeword,
            retries => Nanos(self.codeword.0 * (1 + retries)) + self.soft,
        }
    }
}

/// A page that has left its die.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentPage {
    pub id: CommandId,
    pub channel: ChannelId,
    pub codewords: u32,
    /// How long all of them took on the bus.
    pub on_bus: Nanos,
    pub effort: ReadEffort,
}

/// All engines.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    setup: DecoderSetup,
    pools: Vec<EnginePool>,
}

/// Engines that share their work.
#[derive(Clone, Debug)]
struct EnginePool {
    /// When each is free.
    free_at: Vec<SimTime>,
    /// The time of the engines that all codewords take that have come.
    taken: Nanos,
    /// Pages that are being decoded or wait, in the order in which they will be done.
    pages: VecDeque<(SimTime, CommandId)>,
}

/// Which pool has an event.
pub(super) type PoolId = u32;

impl Decoder {
    /// Returns idle engines for a device with so many channels.
    pub fn new(setup: DecoderSetup, channels: u32) -> Decoder {
        let pools = match setup.serve {
            EnginesServe::Channel => channels,
            EnginesServe::Device => 1,
        };
        let free_at = vec![SimTime::ZERO; setup.engines as usize];
        let pool = EnginePool { free_at, taken: Nanos::ZERO, pages: VecDeque::new() };
        Decoder { setup, pools: vec![pool; pools as usize] }
    }

    /// Upper bound of the time until the next page of a pool is done, for pages of so many codewords that are read with
    /// this effort at most: engines that have work are never idle.
    pub fn longest(&self, codewords: u32, most: ReadEffort) -> Nanos {
        Nanos(self.setup.time_for(most).0 * u64::from(codewords)) + self.setup.latency
    }

    fn pool_of(&self, channel: ChannelId) -> PoolId {
        match self.setup.serve {
            EnginesServe::Channel => channel.get(),
            EnginesServe::Device => 0,
        }
    }

    /// Engines of a pool.
    pub fn engines(&self) -> u32 {
        self.setup.engines
    }

    /// How long the engines of each pool have worked until now, together. What they do with a page that still leaves
    /// its die counts when all of it has.
    pub fn busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.pools.iter().map(move |pool| pool.busy_until(now))
    }

    /// Takes a page whose transfer ends now. Returns when it is decoded, and its pool if that has no earlier event.
    pub fn take(&mut self, now: SimTime, page: &SentPage) -> (SimTime, Option<PoolId>) {
        let number = self.pool_of(page.channel);
        let time = self.setup.time_for(page.effort);
        let pool = &mut self.pools[number as usize];
        let mut done = now;
        for codeword in 1..=page.codewords {
            done = done.max(pool.decode(codeword_comes(now, page, codeword), time));
        }
        let done = done + self.setup.latency;
        let place = pool.pages.partition_point(|&(at, _)| at <= done);
        pool.pages.insert(place, (done, page.id));
        (done, (place == 0).then_some(number))
    }

    /// Takes the page of a pool that is done now, if there is one. Also returns when the next one is done.
    pub fn done(&mut self, now: SimTime, pool: PoolId) -> Option<(CommandId, Option<SimTime>)> {
        let pages = &mut self.pools[pool as usize].pages;
        // A page that overtook others leaves their event behind.
        let &(_, id) = pages.front().filter(|&&(at, _)| at == now)?;
        pages.pop_front();
        Some((id, pages.front().map(|&(at, _)| at)))
    }
}

impl EnginePool {
    /// Decodes a codeword that comes at a time. Returns when that is done.
    fn decode(&mut self, comes: SimTime, time: Nanos) -> SimTime {
        let free_at = self.free_at.iter_mut().min().expect("a pool has engines");
        *free_at = comes.max(*free_at) + time;
        self.taken += time;
        *free_at
    }

    /// How long its engines have worked until now, together. Codewords come from now on at the latest, so no engine
    /// pauses before it is free.
    fn busy_until(&self, now: SimTime) -> Nanos {
        let ahead: u64 = self.free_at.iter().map(|at| at.saturating_since(now).0).sum();
        Nanos(self.taken.0 - ahead)
    }
}

/// When all of a codeword, counted from one, has left the die. The last one of a page comes now.
fn codeword_comes(now: SimTime, page: &SentPage, codeword: u32) -> SimTime {
    let behind = u64::from(page.codewords - codeword);
    SimTime(now.0 - page.on_bus.0 * behind / u64::from(page.codewords))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(engines: u32, codeword: u64) -> Decoder {
        let setup = DecoderSetup {
            engines,
            serve: EnginesServe::Channel,
            codeword: Nanos(codeword),
            soft: Nanos(500),
            latency: Nanos(7),
        };
        Decoder::new(setup, 2)
    }

    fn page(id: u32, codewords: u32, on_bus: u64) -> SentPage {
        SentPage {
            id: CommandId::new(id),
            channel: ChannelId::new(0),
            codewords,
            on_bus: Nanos(on_bus),
            effort: ReadEffort::default(),
        }
    }

    #[test]
    fn a_fast_engine_adds_the_last_codeword() {
        // Four codewords come 100 ns apart, the last one at 1000.
        let mut engines = decoder(1, 60);
        let (done, _) = engines.take(SimTime(1000), &page(1, 4, 400));
        assert_eq!(done, SimTime(1000 + 60 + 7));
    }

    #[test]
    fn a_slow_engine_works_from_the_first_codeword_on() {
        let mut engines = decoder(1, 250);
        let (done, pool) = engines.take(SimTime(1000), &page(1, 4, 400));
        // It begins at 700, when the first codeword is there.
        assert_eq!((done, pool), (SimTime(700 + 4 * 250 + 7), Some(0)));
        let (next, pool) = engines.take(SimTime(1400), &page(2, 4, 400));
        assert_eq!((next, pool), (SimTime(700 + 8 * 250 + 7), None));
    }

    #[test]
    fn engines_share_the_codewords_of_a_page() {
        let mut engines = decoder(2, 250);
        let (done, _) = engines.take(SimTime(1000), &page(1, 4, 0));
        assert_eq!(done, SimTime(1000 + 2 * 250 + 7));
    }

    #[test]
    fn a_page_that_was_sensed_again_is_decoded_again() {
        let mut engines = decoder(1, 100);
        let effort = ReadEffort(ReadEffort::default().0 + 4);
        let retries = effort.retries();
        let (done, _) = engines.take(SimTime(1000), &SentPage { effort, ..page(1, 1, 0) });
        assert_eq!(done, SimTime(1000 + 100 * (1 + retries) + 500 + 7));
    }

    #[test]
    fn a_page_overtakes_one_that_was_sensed_again() {
        let mut engines = decoder(2, 100);
        let effort = ReadEffort(ReadEffort::default().0 + 4);
        let (late, first) = engines.take(SimTime(1000), &SentPage { effort, ..page(1, 1, 0) });
        let (early, second) = engines.take(SimTime(1000), &page(2, 1, 0));
        assert!(early < late);
        assert_eq!((first, second), (Some(0), Some(0)));
        assert_eq!(engines.done(early, 0), Some((CommandId::new(2), Some(late))));
        // Two events are left for the end of the first page.
        assert_eq!(engines.done(late, 0), Some((CommandId::new(1), None)));
        assert_eq!(engines.done(late, 0), None);
    }

    #[test]
    fn pages_are_done_in_the_order_of_their_ends() {
        let mut engines = decoder(2, 100);
        let (long, _) = engines.take(SimTime(1000), &page(1, 5, 0));
        let (short, pool) = engines.take(SimTime(1000), &page(2, 1, 0));
        assert_eq!((long, short, pool), (SimTime(1307), SimTime(1307), None));
        assert_eq!(engines.done(SimTime(1300), 0), None);
        assert_eq!(engines.done(long, 0), Some((CommandId::new(1), Some(short))));
        assert_eq!(engines.done(short, 0), Some((CommandId::new(2), None)));
        assert_eq!(engines.done(short, 0), None);
    }
}
