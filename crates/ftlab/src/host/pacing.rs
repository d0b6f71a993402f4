//! Pacing of the host's writes before they come into the buffer: they come in as fast as the flash can take them in the
//! long run, with what collection copies for them, and a burst ahead. So the wait for space is spread over all writes,
//! instead of standing still for some until a block is erased.
//!
//! It is a leaky bucket with the rate of the moment (the generic cell rate algorithm of ITU-T I.371): each write is due
//! when those before it have had their time, and comes in up to a burst earlier.

use std::collections::VecDeque;

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SimTime};

options! {
    /// How the controller spreads the host's writes over time, before they come into the buffer.
    pub struct WritePacingOptions at "firmware.pacing" {
        /// What the flash programs per second where nothing is collected, or "none": then writes come in as fast as there is
        /// room. A write takes its size over this rate, and so do the pages that the last victims held for each page that
        /// they gave, over `firmware.pacing.copy`.
        program: Option<BytesPerSec> = "none", in "1MB/s"..="1000GB/s",
            source "default: writes wait for room only; SSD-iq (PVLDB 18(11), 2025): near saturation writes of a PM9A3 wait \
                    as behind a server of constant rate",
            applies_with "ftl.mapping.policy" not "physical";
        /// What collection could copy per second, if it did nothing else.
        copy: BytesPerSec = "1GB/s", in "1MB/s"..="1000GB/s",
            source "assumed; as programs, less the time of the reads",
            applies_with "firmware.pacing.program" not "none";
        /// The data that may come in ahead of its time.
        burst: Bytes = "16KiB", in "0KiB"..="1GiB",
            source "assumed: a few writes",
            applies_with "firmware.pacing.program" not "none";
    }
}

/// How writes are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePacingSetup {
    /// The rate of programs for the host.
    pub program: BytesPerSec,
    /// The rate of copies.
    pub copy: BytesPerSec,
    /// The data that may be ahead.
    pub burst: Bytes,
}

/// What was collected for space so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Victims {
    /// Pages that victims could hold.
    pub room: u64,
    /// Pages that they held, valid.
    pub valid: u64,
}

/// The writes that are held back.
#[derive(Clone, Debug)]
pub(super) struct WritePacing {
    setup: WritePacingSetup,
    /// When the next write is due.
    due: SimTime,
    /// The writes on their way, in order.
    line: VecDeque<(SimTime, RequestId)>,
    seen: Victims,
    /// What was collected before the image that this device continues from, and not looked at.
    pending: Victims,
    /// The valid share of victims, a mean with weights that fall.
    valid: ValidShare,
}

impl WritePacing {
    pub fn new(setup: WritePacingSetup) -> WritePacing {
        WritePacing {
            setup,
            due: SimTime::ZERO,
            line: VecDeque::new(),
            seen: Victims::default(),
            pending: Victims::default(),
            valid: ValidShare::default(),
        }
    }

    /// Lets a write in. Returns when it comes in, or `None` if at once.
    pub fn admit(
        &mut self,
        now: SimTime,
        id: RequestId,
        data: Bytes,
        victims: Victims,
    ) -> Option<SimTime> {
        self.look_at(victims);
        let due = self.due.max(now);
        self.due = due + self.time_of(data);
        // The order of writes stays. A burst takes longer when the rate falls, which brings this one forward.
        let earliest = self.line.back().map_or(now, |&(last, _)| last);
        let at = SimTime(due.0.saturating_sub(self.time_of(self.setup.burst).0)).max(earliest);
        if at == now && self.line.is_empty() {
            return None;
        }
        self.line.push_back((at, id));
        Some(at)
    }

    /// How long the flash is busy for this much data of the host.
    fn time_of(&self, data: Bytes) -> Nanos {
        let copied = self.valid.for_each_of_the_rest(data);
        self.setup.program.time_for(data) + self.setup.copy.time_for(copied)
    }

    /// Takes victims into account that were chosen since. Counts that start again are only noted.
    fn look_at(&mut self, victims: Victims) {
        let room = victims.room.checked_sub(self.seen.room);
        let valid = victims.valid.checked_sub(self.seen.valid);
        if let (Some(room), Some(valid)) = (room, valid) {
            let before = std::mem::take(&mut self.pending);
            self.valid.add(valid + before.valid, room + before.room);
        }
        self.seen = victims;
    }

    /// Saves what is known of the last victims, and when the next write is due. `victims` is what was collected so far.
    pub fn save(&self, victims: Victims, out: &mut ImageWriter) {
        // No write is held back at rest.
        let WritePacing { setup: _, due, line: _, seen, pending, valid } = self;
        out.number(due.0);
        out.number(pending.room + victims.room.saturating_sub(seen.room));
        out.number(pending.valid + victims.valid.saturating_sub(seen.valid));
        // One more, so that zero says that nothing is known.
        out.number(valid.known.map_or(0, |known| u64::from(known) + 1));
    }

    /// Loads it. Counts of victims start at zero.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.due = SimTime(from.number()?);
        self.pending = Victims { room: from.number()?, valid: from.number()? };
        let known = from.number()?.checked_sub(1);
        if known.is_some_and(|known| known >= ValidShare::WHOLE)
            || self.pending.valid > self.pending.room
        {
            return Err(Damage("victims hold more than they can".to_owned()));
        }
        self.valid.known = known.map(|known| known as u32);
        Ok(())
    }

    pub fn next_time(&self) -> Option<SimTime> {
        self.line.front().map(|&(at, _)| at)
    }

    /// Takes out a write that comes in now, if one does.
    pub fn came_in(&mut self, now: SimTime) -> Option<RequestId> {
        self.next_time().filter(|&at| at <= now)?;
        self.line.pop_front().map(|(_, id)| id)
    }
}

/// A mean share in 1/65536, in which what is new counts for an eighth.
#[derive(Clone, Copy, Debug, Default)]
struct ValidShare {
    known: Option<u32>,
}

impl ValidShare {
    const WHOLE: u64 = 1 << 16;
    const WEIGHT: u64 = 8;

    fn add(&mut self, part: u64, whole: u64) {
        let Some(new) = (part * ValidShare::WHOLE).checked_div(whole) else { return };
        let mean = self.known.map_or(new, |known| {
            (u64::from(known) * (ValidShare::WEIGHT - 1) + new) / ValidShare::WEIGHT
        });
        // A share of one would leave no room at all.
        self.known = Some(mean.min(ValidShare::WHOLE - 1) as u32);
    }

    /// The data of the share, for this much of the rest.
    fn for_each_of_the_rest(self, data: Bytes) -> Bytes {
        let share = u64::from(self.known.unwrap_or_default());
        let copied = u128::from(data.0) * u128::from(share) / u128::from(ValidShare::WHOLE - share);
        Bytes(u64::try_from(copied).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pacing(burst: u64) -> WritePacing {
        let rate = BytesPerSec(1_000_000_000);
        WritePacing::new(WritePacingSetup { program: rate, copy: rate, burst: Bytes(burst) })
    }

    fn admit(pacing: &mut WritePacing, now: u64, victims: Victims) -> Option<u64> {
        let at = pacing.admit(SimTime(now), RequestId::new(0), Bytes(1_000), victims);
        at.map(|at| at.0)
    }

    #[test]
    fn a_burst_comes_in_at_once_and_the_rest_at_the_rate() {
        let mut pacing = pacing(2_000);
        let times: Vec<_> = (0..5).map(|_| admit(&mut pacing, 100, Victims::default())).collect();
        // One is due at once, two are ahead.
        assert_eq!(times, [None, None, None, Some(1_100), Some(2_100)]);
        assert_eq!(pacing.next_time(), Some(SimTime(1_100)));
        assert_eq!(pacing.came_in(SimTime(1_099)), None);
        assert!(
            pacing.came_in(SimTime(1_100)).is_some() && pacing.came_in(SimTime(2_100)).is_some()
        );
        // Idle time is not saved up beyond the burst.
        let times: Vec<_> =
            (0..4).map(|_| admit(&mut pacing, 90_000, Victims::default())).collect();
        assert_eq!(times, [None, None, None, Some(91_000)]);
    }

    #[test]
    fn copies_take_their_time_by_the_last_victims() {
        let mut pacing = pacing(0);
        // Three of four pages are copied: three for each one that is gained.
        let victims = Victims { room: 400, valid: 300 };
        assert_eq!(admit(&mut pacing, 0, victims), None);
        assert_eq!(admit(&mut pacing, 0, victims), Some(4_000));
        // Empty victims bring the share down by an eighth each time.
        let emptier = Victims { room: 500, valid: 300 };
        assert_eq!(admit(&mut pacing, 0, emptier), Some(8_000));
        // 3/4 x 7/8 = 21/32, so 21/11 are copied for each: 1,909 ns, and 1,000 of its own.
        assert_eq!(admit(&mut pacing, 0, emptier), Some(8_000 + 2_909));
        // Counts that start again are not compared.
        assert_eq!(admit(&mut pacing, 0, Victims::default()), Some(8_000 + 2 * 2_909));
    }

    #[test]
    fn writes_stay_in_order_when_the_rate_rises() {
        let mut pacing = pacing(1_000);
        let full = Victims { room: 100, valid: 75 };
        let times: Vec<_> = (0..4).map(|_| admit(&mut pacing, 0, full)).collect();
        assert_eq!(times, [None, None, Some(4_000), Some(8_000)]);
        let more = Victims { room: 10_000, valid: 75 };
        let next = admit(&mut pacing, 0, more).expect("it waits");
        assert!(next >= 8_000, "{next}");
    }

    #[test]
    fn writes_stay_in_order_when_the_rate_falls() {
        let mut pacing = pacing(8_000);
        let empty = Victims { room: 100, valid: 0 };
        let times: Vec<_> = (0..12).map(|_| admit(&mut pacing, 0, empty)).collect();
        let last = times[11].expect("it waits");
        // A burst of eight now takes eight times as long, so that without those before it would come in at once.
        let full = Victims { room: 10_100, valid: 10_000 };
        assert_eq!(admit(&mut pacing, 0, full), Some(last));
        // Also at the moment at which the last of them comes in.
        let fuller = Victims { room: 1_010_100, valid: 1_010_000 };
        assert_eq!(admit(&mut pacing, last, fuller), Some(last));
    }

    #[test]
    fn an_image_continues() {
        let seen = Victims { room: 400, valid: 300 };
        let later = Victims { room: 800, valid: 500 };
        let mut pacing = pacing(0);
        let _ = admit(&mut pacing, 50, seen);
        let mut snapshot = crate::image::Snapshot::default();
        let part = crate::image::ImagePart::Device;
        snapshot.write(part, |out| pacing.save(later, out));
        let mut loaded = super::tests::pacing(0);
        snapshot.read(part, true, |from| loaded.load(from)).expect("it is whole");
        assert_eq!(
            admit(&mut loaded, 60, Victims::default()),
            admit(&mut pacing, 60, later),
            "with what was collected since"
        );
        assert_eq!(loaded.due, pacing.due);
    }
}
