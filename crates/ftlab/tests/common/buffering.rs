//! A write buffer, described for tests, and how its policy is built.

use ftlab::cache::{
    self, AdLru, AdaptiveRules, Append, Bplru, BufferSetup, Cflru, ClockShape, ExLru, Fab, Gate,
    Gating, Lru, LruWsr, Pack, Prlru, PrlruAdaptive, Rules, Space, TwoQ, TwoQwClock, WriteBuffer,
    WriteThrough,
};
use ftlab::units::SectorMask;
use ftlab::units::{Nanos, Ratio};

use super::{DRAM, MappingKind, PlacementKind, Spec, WriteBufferKind};

/// A write buffer, described.
#[derive(Clone, Debug)]
pub struct BufferSpec {
    pub policy: WriteBufferKind,
    /// In pages.
    pub capacity: Option<u32>,
    pub space: Space,
    pub keeps_reads: bool,
    pub write_back_above: u32,
    /// Without a gate.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that go together; an append buffer has them go by twos otherwise.
    pub write_back_together: Option<u32>,
    pub gate: Option<Gate>,
    pub latency: Nanos,
}

/// The shares of 2Q.
const KIN: Ratio = Ratio::percent(25);
const KOUT: Ratio = Ratio::percent(50);

/// No write buffer.
pub const NO_BUFFER: BufferSpec = BufferSpec {
    policy: WriteBufferKind::None,
    capacity: None,
    space: Space::Pages,
    keeps_reads: false,
    write_back_above: 0,
    programs_in_flight: None,
    write_back_together: None,
    gate: None,
    latency: DRAM,
};

/// A write-back buffer of so many pages that writes back when it is full.
pub fn lru(capacity: u32) -> BufferSpec {
    BufferSpec {
        policy: WriteBufferKind::Lru,
        capacity: Some(capacity),
        space: Space::Pages,
        keeps_reads: false,
        write_back_above: capacity,
        programs_in_flight: Some(8),
        write_back_together: None,
        gate: None,
        latency: DRAM,
    }
}

impl BufferSpec {
    /// Flash pages that go together.
    fn write_back_together(&self) -> Option<u32> {
        let appends = self.policy == WriteBufferKind::Append;
        self.write_back_together.or(appends.then_some(2)).filter(|_| self.gate.is_none())
    }

    /// What the capacity counts.
    fn space(&self) -> Space {
        if self.policy == WriteBufferKind::Append { Space::Slots } else { self.space }
    }

    /// Whether its policy packs pages.
    pub fn packs(&self) -> bool {
        matches!(self.policy, WriteBufferKind::Prlru | WriteBufferKind::PrlruAdaptive)
    }
}

impl Spec {
    /// The same with what its write buffer asks for: a mapping that knows of fragments.
    pub fn fit_for_packing(self) -> Spec {
        match self.buffer.packs() {
            true => Spec {
                mapping: MappingKind::Reconstruction,
                placement: PlacementKind::Dynamic,
                ..self
            },
            false => self,
        }
    }

    fn write_buffer(&self) -> WriteBuffer {
        let pages = self.logical_pages;
        let block = self.geometry().units_per_block();
        match self.buffer.policy {
            WriteBufferKind::None => WriteBuffer::None(WriteThrough::default()),
            WriteBufferKind::Lru => WriteBuffer::Lru(Lru::default()),
            WriteBufferKind::Gating => WriteBuffer::Gating(Gating::default()),
            WriteBufferKind::Fifo => WriteBuffer::Fifo(cache::Fifo::default()),
            WriteBufferKind::Cflru => WriteBuffer::Cflru(Cflru::new(Ratio::percent(33))),
            WriteBufferKind::LruWsr => WriteBuffer::LruWsr(LruWsr::default()),
            WriteBufferKind::Fab => WriteBuffer::Fab(Fab::new(block, pages)),
            WriteBufferKind::Bplru => WriteBuffer::Bplru(Bplru::new(block, pages, true, true)),
            WriteBufferKind::AdLru => WriteBuffer::AdLru(AdLru::new(Ratio::percent(10))),
            WriteBufferKind::TwoQ => WriteBuffer::TwoQ(TwoQ::new(KIN, KOUT, pages)),
            WriteBufferKind::TwoQwClock => {
                let shape = ClockShape { kin: KIN, kout: KOUT, write_weight: 5 };
                WriteBuffer::TwoQwClock(TwoQwClock::new(shape, pages))
            }
            WriteBufferKind::ExLru => WriteBuffer::ExLru(ExLru::default()),
            WriteBufferKind::Prlru => {
                let pack = Pack::AfterTemperature;
                let rules = Rules { pack, temperature: true, search_region: Ratio::percent(90) };
                WriteBuffer::Prlru(Prlru::new(&rules, self.sectors_per_page()))
            }
            WriteBufferKind::PrlruAdaptive => {
                let rules = AdaptiveRules { packing: true, cooling: 2 };
                let capacity = self.buffer.capacity.unwrap_or(0);
                let policy = PrlruAdaptive::new(&rules, capacity, self.sectors_per_page());
                WriteBuffer::PrlruAdaptive(policy)
            }
            WriteBufferKind::Append => {
                WriteBuffer::Append(Append::new(self.geometry().units_per_page()))
            }
        }
    }

    pub(super) fn buffer_setup(&self) -> BufferSetup {
        let together = self.abilities.multi_plane.program && self.rows;
        let row = if together { self.shape.planes_per_die } else { 1 };
        let gate = self.buffer.gate;
        let of_planes = self.buffer.capacity.map(|_| self.geometry().planes());
        let of_dies = self.buffer.programs_in_flight.map(|programs| programs * row);
        let write_back_together = self.buffer.write_back_together();
        let free = write_back_together.map(|pages| pages.max(row)).or(of_dies);
        let whole_page = self.sectors_per_page();
        let space = self.buffer.space();
        let each = if space == Space::Sectors { whole_page } else { 1 };
        BufferSetup {
            policy: self.write_buffer(),
            capacity: self.buffer.capacity.map(|pages| pages * each),
            space,
            shape: cache::BufferShape {
                whole_page: SectorMask::range(0, whole_page),
                capacity: self.buffer.capacity.unwrap_or(0),
                logical_pages: self.logical_pages,
            },
            keeps_reads: self.buffer.keeps_reads,
            write_back_above: self.buffer.write_back_above * each,
            programs_in_flight: if gate.is_some() { of_planes } else { free },
            row,
            write_back_together,
            gate,
            latency: self.buffer.latency,
        }
    }
}
