//! The controller's DRAM as a bandwidth: all that moves into it or out of it takes its turn, in the order of the calls.
//!
//! Data on its way through the controller rests in DRAM, since the host's DMA and those of the channels move at their own
//! times. So a write crosses twice, from the host into DRAM and from there to the flash, and so does a read. What the
//! device copies is read into DRAM and leaves it again; both happen one after the other when it is read.
//! What is computed from several pages leaves when the last of them has come in.

use super::passage::Passage;
use crate::options::declare::options;
use crate::scheduler::CommandId;
use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SimTime};

options! {
    /// The controller's DRAM, as far as it takes time to move data through it.
    pub struct DramRateOptions at "controller.dram" {
        /// The rate at which data moves into the controller's DRAM and out of it, one thing after the other, or "none" if
        /// that takes no time. Data of writes and of reads crosses twice. `cache.latency` comes on top.
        bandwidth: Option<BytesPerSec> = "none", in "1MB/s"..="1000GB/s",
            source "default: not counted; 3200 MT/s over the 16 bits of one DDR4 chip are 6.4 GB/s",
            applies_with "ftl.mapping.policy" not "physical";
    }
}

/// What crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// The data of a write comes in from the host.
    FromHost(RequestId),
    /// The data of a read goes out to the host.
    ToHost(RequestId),
    /// A page that was read comes in from the flash.
    FromFlash(CommandId),
    /// A page that was computed from others, for a copy, goes out to be programmed.
    Computed(CommandId),
    /// A flash page, or a row of them, goes out to be programmed.
    ToFlash(CommandId),
}

/// How fast data crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramSetup {
    /// The rate, of both directions together.
    pub rate: BytesPerSec,
    /// The data of a codeword, of which the flash moves whole ones.
    pub codeword: Bytes,
}

/// What is crossing, or waits for its turn.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    setup: DramSetup,
    crossing: Passage<Crossing>,
}

impl Dram {
    pub fn new(setup: DramSetup) -> Dram {
        Dram { setup, crossing: Passage::default() }
    }

    /// Lets data cross. Returns when it has.
    pub fn cross(&mut self, now: SimTime, what: Crossing, data: Bytes) -> SimTime {
        self.crossing.send(now, what, self.setup.rate.time_for(data))
    }

    /// When the next data has crossed.
    pub fn next_time(&self) -> Option<SimTime> {
        self.crossing.next_time()
    }

    /// How long data has crossed until now.
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        self.crossing.busy_until(now)
    }

    /// Takes out what has crossed now, if anything has.
    pub fn arrived(&mut self, now: SimTime) -> Option<Crossing> {
        self.crossing.arrived(now)
    }

    /// The data of so many codewords.
    pub fn codewords(&self, count: u32) -> Bytes {
        Bytes(u64::from(count) * self.setup.codeword.0)
    }
}
