//! What the integration tests share: a compact description of a device, the rule that says which
//! descriptions can work, random ones, and two ways of driving a device.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod buffering;
pub mod caching;
mod drive;
pub mod failing;
pub mod gating;
mod host;
pub mod logs;
pub mod on_demand;
pub mod random;
pub mod reading;
pub mod regulating;

pub use buffering::{BufferSpec, NO_BUFFER, lru};
pub use caching::{NO_CACHE, SlcSpec};
pub use drive::*;
pub use host::HostSpec;
pub use logs::{LogSpec, NO_LOG};
pub use reading::{NO_READS, ReadSpec};
pub use regulating::{CostSpec, SAME_COST};

use ftlab::device::{DeviceSetup, HostSetup, drain_pages};
use ftlab::ftl::FtlSetup;
use ftlab::ftl::gc::{
    self, CostBenefit, DChoices, Greedy, Random, RandomGreedy, Thresholds, Triggers, Victim,
    WindowedGreedy,
};
use ftlab::ftl::mapping::dftl::translation_pages;
use ftlab::ftl::mapping::{Dftl, Mapping, PageMap, Physical, Reconstruction};
use ftlab::ftl::placement::{Dynamic, PartlyDynamic, Placement, StaticStripe};
use ftlab::ftl::recovery::{Recovery, Unprotected};
use ftlab::ftl::streams::{
    ByHostStream, CopyOptions, MultiBloom, MultiBloomOptions, MultiHash, MultiHashOptions, SepBit,
    Single, StreamCounts, Streams,
};
use ftlab::ftl::wear::{
    Bet, BetOptions, FreeBlockOrder, Levelling, NoLevelling, Threshold, ThresholdOptions, WearSetup,
};
use ftlab::host::arbitration::{
    Arbitration, Cost, PriorityClass, PriorityClasses, RoundRobin, StartTimeFair,
    WeightedRoundRobin,
};
use ftlab::host::{FrontEndSetup, LinkSetup, ProcessorSetup, Queues, StreamMap};
use ftlab::nand::endurance::{Fixed, Unlimited, Weibull};
use ftlab::nand::timing::{
    Bus, Interface, OneBit, PageTime, PageTimes, PageType, Plain, Prices, Rate, Timing, Transfers,
};
use ftlab::nand::{Abilities, Counting, FaultOptions, Faults, Hazards, Superblocks};
use ftlab::scheduler::{
    Deadline, DeadlineOptions, Estimate, Fifo, FlashSetup, PauseRule, ReadFirst, ReadFirstBounded,
    ReadFirstBoundedOptions, Scheduler, Scope,
};
use ftlab::shape::{Geometry, Level, Shape};
use ftlab::units::{Bytes, BytesPerSec, Nanos, Ratio, TransferRate};

/// The policies of a seam by name, as far as a description needs no more of them.
macro_rules! kinds {
    ($($Kind:ident { $($Variant:ident = $name:literal),+ })+) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Kind { $($Variant),+ }

        impl $Kind {
            pub const ALL: &'static [$Kind] = &[$($Kind::$Variant),+];

            pub fn named(name: &str) -> Option<$Kind> {
                [$(($name, $Kind::$Variant)),+].iter().find(|known| known.0 == name).map(|k| k.1)
            }
        }
    )+};
}

kinds! {
    ArbitrationKind {
        RoundRobin = "round-robin",
        Weighted = "weighted-round-robin",
        Classes = "priority-classes",
        Fair = "start-time-fair"
    }
    TimingKind { Plain = "plain", PageType = "page-type", ByCost = "by-cost", Ispp = "ispp" }
    TransfersKind { Rate = "rate", Interface = "interface", PageTime = "page-time" }
    SchedulerKind {
        Fifo = "fifo",
        ReadFirst = "read-first",
        Deadline = "deadline",
        ReadFirstBounded = "read-first-bounded"
    }
    MappingKind {
        Page = "page", Physical = "physical", Dftl = "dftl", Reconstruction = "reconstruction",
        LogBlock = "log-block", Bast = "bast", Fast = "fast", Nftl = "nftl"
    }
    RegulatorKind {
        Traditional = "traditional", HighWrite = "high-write", LowWrite = "low-write",
        QueueDriven = "queue-driven", Agcr = "agcr"
    }
    PlannerKind {
        None = "none",
        Synchronised = "synchronised",
        SuperDataBlock = "super-data-block",
        CycleStealing = "cycle-stealing"
    }
    PlacementKind { Static = "static", Dynamic = "dynamic", PartlyDynamic = "partly-dynamic" }
    StreamsKind {
        Single = "single", ByHostStream = "by-host-stream", MultiHash = "multi-hash",
        MultiBloom = "multi-bloom", SepBit = "sepbit"
    }
    VictimKind {
        Greedy = "greedy",
        CostBenefit = "cost-benefit",
        DChoices = "d-choices",
        RandomGreedy = "random-greedy",
        WindowedGreedy = "windowed-greedy",
        Fifo = "fifo",
        Random = "random"
    }
    WriteBufferKind {
        None = "none",
        Lru = "lru",
        Gating = "gating",
        Fifo = "fifo",
        Cflru = "cflru",
        LruWsr = "lru-wsr",
        Fab = "fab",
        Bplru = "bplru",
        AdLru = "ad-lru",
        TwoQ = "2q",
        TwoQwClock = "2qw-clock",
        ExLru = "exlru",
        Prlru = "prlru",
        PrlruAdaptive = "prlru-adaptive",
        Append = "append"
    }
    ReadCacheKind { None = "none", Lru = "lru" }
    LevellingKind { None = "none", Threshold = "threshold", Bet = "bet" }
    SlcKind { None = "none", Static = "static", Dynamic = "dynamic", Hybrid = "hybrid" }
    EnduranceKind { Unlimited = "unlimited", Fixed = "fixed", Weibull = "weibull" }
}

/// A device, described: change what matters of [`Spec::small`].
#[derive(Clone, Debug)]
pub struct Spec {
    pub host: HostSpec,
    pub shape: Shape,
    pub codeword: Bytes,
    pub bus: BytesPerSec,
    /// How the bus is described; the rate is the same.
    pub transfers: TransfersKind,
    pub abilities: Abilities,
    pub pause: PauseRule,
    pub timing: TimingKind,
    /// For timings that know costs.
    pub cost: CostSpec,
    pub scheduler: SchedulerKind,
    pub mapping: MappingKind,
    pub placement: PlacementKind,
    /// Whether programs of several planes are put together, where a part has them.
    pub rows: bool,
    pub streams: StreamsKind,
    /// For the kinds of streams that leave it open.
    pub copy_streams: u8,
    pub victim: VictimKind,
    /// How many blocks a victim policy draws, or has in its window.
    pub draws: u32,
    pub thresholds: Thresholds,
    pub triggers: Triggers,
    pub buffer: BufferSpec,
    pub reads: ReadSpec,
    pub life: LifeSpec,
    pub slc: SlcSpec,
    /// For mappings with a log.
    pub log: LogSpec,
    /// For a map on flash: how many of its entries are in memory.
    pub map_cache: u32,
    /// How the map is found again after a power cut.
    pub recovery: Recovery,
    pub logical_pages: u32,
    /// Dies of a stripe, where there is parity across dies.
    pub stripe: Option<u32>,
}

/// What fails on a device, and what is done about wear, described.
#[derive(Clone, Debug)]
pub struct LifeSpec {
    pub free_block: FreeBlockOrder,
    pub levelling: LevellingSpec,
    pub faults: FaultOptions,
    /// After how many reads of a block it is refreshed.
    pub refresh_reads: Option<u32>,
    pub endurance: EnduranceKind,
    /// The mean endurance, where there is one.
    pub cycles: u32,
    pub seed: u64,
}

/// Static wear levelling, described.
#[derive(Clone, Copy, Debug)]
pub struct LevellingSpec {
    pub policy: LevellingKind,
    /// The threshold, or the unevenness.
    pub limit: u32,
    pub moves: u32,
    pub set_blocks: u32,
}

/// Data that lies still keeps its blocks.
pub const NO_LEVELLING: LevellingSpec =
    LevellingSpec { policy: LevellingKind::None, limit: 4, moves: 1, set_blocks: 1 };

impl LevellingSpec {
    fn build(self, geometry: &Geometry) -> Levelling {
        let LevellingSpec { policy, limit, moves, set_blocks } = self;
        match policy {
            LevellingKind::None => Levelling::None(NoLevelling),
            LevellingKind::Threshold => {
                let options = ThresholdOptions { threshold: limit, moves };
                Levelling::Threshold(Threshold::new(&options, geometry))
            }
            LevellingKind::Bet => {
                let options = BetOptions { unevenness: limit, set_blocks };
                Levelling::Bet(Bet::new(&options, geometry))
            }
        }
    }
}

/// Nothing fails by chance, or when it is told to.
pub const NO_FAULTS: FaultOptions = FaultOptions {
    factory_bad: Ratio { ppm: 0 },
    program_failures: 0,
    erase_failures: 0,
    read_failures: 0,
    disturb_limit: None,
    schedule: Vec::new(),
};

/// Nothing ever fails.
pub const CAREFREE: LifeSpec = LifeSpec {
    free_block: FreeBlockOrder::Oldest,
    levelling: NO_LEVELLING,
    faults: NO_FAULTS,
    refresh_reads: None,
    endurance: EnduranceKind::Unlimited,
    cycles: 30,
    seed: 1,
};

impl LifeSpec {
    fn faults(&self) -> Option<Faults> {
        let cycles = self.cycles;
        let endurance = match self.endurance {
            EnduranceKind::Unlimited => Unlimited.into(),
            EnduranceKind::Fixed => Fixed { cycles }.into(),
            EnduranceKind::Weibull => Weibull { cycles, shape: 4 }.into(),
        };
        Faults::new(&self.faults, endurance, self.seed)
    }
}

/// Times of the plain model, and of the three page types of the page-type model.
pub const READ: Nanos = Nanos(50_000);
pub const PROGRAM: Nanos = Nanos(600_000);
pub const ERASE: Nanos = Nanos(3_000_000);
pub const PAGE_TIMES: [PageTimes; 3] = [
    PageTimes { read: Nanos(40_000), program: Nanos(300_000) },
    PageTimes { read: Nanos(55_000), program: Nanos(700_000) },
    PageTimes { read: Nanos(85_000), program: Nanos(1_900_000) },
];
/// Priorities by source.
pub const DEADLINES: DeadlineOptions =
    DeadlineOptions { host_read: Nanos::ZERO, host_write: Nanos(2_000_000), gc: Nanos(8_000_000) };
/// How late reads may make others.
pub const BOUNDS: ReadFirstBoundedOptions = ReadFirstBoundedOptions {
    write_bound: Some(Nanos(2_000_000)),
    gc_bound: Some(Nanos(8_000_000)),
    scope: Scope::Channel,
    estimate: Estimate::Die,
};
/// Times of blocks with one bit a cell.
pub const ONE_BIT: OneBit =
    OneBit { read: Nanos(20_000), program: Nanos(150_000), erase: Nanos(2_000_000) };
/// DRAM takes this long.
pub const DRAM: Nanos = Nanos(1_500);

impl Spec {
    /// One channel, one die, one plane; flash pages of 4 KiB that are the mapping unit.
    pub fn small() -> Spec {
        Spec {
            host: HostSpec::default(),
            shape: Shape {
                channels: 1,
                chips_per_channel: 1,
                dies_per_chip: 1,
                planes_per_die: 1,
                blocks_per_plane: 16,
                pages_per_block: 12,
                page_size: Bytes::from_kib(4),
                mapping_unit: Bytes::from_kib(4),
            },
            codeword: Bytes::from_kib(1),
            bus: BytesPerSec(409_600_000),
            transfers: TransfersKind::Rate,
            abilities: Abilities::NONE,
            pause: PauseRule::NEVER,
            timing: TimingKind::Plain,
            cost: SAME_COST,
            scheduler: SchedulerKind::Fifo,
            mapping: MappingKind::Page,
            placement: PlacementKind::Static,
            rows: true,
            streams: StreamsKind::Single,
            copy_streams: 1,
            victim: VictimKind::Greedy,
            draws: 4,
            thresholds: Thresholds {
                start: 2,
                stop: 3,
                reserve: 1,
                copies_in_flight: 2,
                host_lead: 16,
            },
            triggers: Triggers::NONE,
            buffer: NO_BUFFER,
            reads: NO_READS,
            life: CAREFREE,
            slc: NO_CACHE,
            recovery: Recovery::None(Unprotected),
            log: NO_LOG,
            map_cache: 16,
            logical_pages: 96,
            stripe: None,
        }
    }

    /// The same flash without translation.
    pub fn physical(self) -> Spec {
        let page_size = self.shape.page_size;
        let mut spec = Spec { mapping: MappingKind::Physical, ..self };
        spec.shape.mapping_unit = page_size;
        spec.logical_pages = spec.geometry().physical_pages();
        spec
    }

    /// The bus.
    pub fn transfers(&self) -> Bus {
        let transfers = match self.transfers {
            TransfersKind::Rate => Transfers::Rate(Rate { rate: self.bus }),
            TransfersKind::Interface => Transfers::Interface(Interface {
                width: 16,
                transfers: TransferRate(self.bus.0 / 2),
            }),
            TransfersKind::PageTime => {
                Transfers::PageTime(PageTime { page: self.bus.time_for(self.shape.page_size) })
            }
        };
        Bus::new(&transfers, None, self.codeword, &self.shape)
    }

    pub fn geometry(&self) -> Geometry {
        Geometry::new(self.shape)
    }

    /// How what the FTL fills lies on flash, if that is not the flash itself.
    pub fn superblocks(&self) -> Option<Superblocks> {
        self.stripe.map(|width| Superblocks::new(&self.geometry(), width))
    }

    /// The shape of what the FTL fills.
    pub fn volume(&self) -> Geometry {
        self.superblocks()
            .map_or_else(|| self.geometry(), |superblocks| superblocks.volume().clone())
    }

    pub fn sectors_per_page(&self) -> u32 {
        self.geometry().sectors_per_unit()
    }

    /// Programs that begin by planes need no processor.
    fn host_setup(&self, geometry: &Geometry) -> HostSetup {
        let processor = match self.buffer.gate {
            Some(_) => ProcessorSetup::default(),
            None => self.host.processor,
        };
        HostSpec { processor, ..self.host.clone() }.setup(geometry)
    }

    /// The device in the form in which it is assembled.
    pub fn setup(&self) -> DeviceSetup {
        let (flash, geometry) = (self.geometry(), self.volume());
        let buffer = self.buffer_setup();
        DeviceSetup {
            host: self.host_setup(&geometry),
            flash: FlashSetup {
                timing: Prices { native: timing(self.timing), one_bit: ONE_BIT },
                prior: self.cost.prior,
                whole_moments: self.cost.policy == RegulatorKind::QueueDriven,
                data_out_first: false,
                hazards: Hazards::new(
                    &self.life.faults,
                    Counting { disturbs: false, often: self.life.refresh_reads },
                    &flash,
                    self.life.seed,
                ),
                bus: self.transfers(),
                abilities: self.abilities,
                pause: self.pause,
                scheduler: match self.scheduler {
                    SchedulerKind::Fifo => Scheduler::Fifo(Fifo),
                    SchedulerKind::ReadFirst => Scheduler::ReadFirst(ReadFirst),
                    SchedulerKind::Deadline => Scheduler::Deadline(Deadline::new(&DEADLINES)),
                    SchedulerKind::ReadFirstBounded => {
                        let policy = ReadFirstBounded::new(&BOUNDS, flash.dies());
                        Scheduler::ReadFirstBounded(policy)
                    }
                },
                geometry: flash,
            },
            has_capacitors: false,
            checks_itself: false,
            ftl: FtlSetup {
                recovery: self.recovery.clone(),
                superblocks: self.superblocks(),
                logical_pages: self.logical_pages,
                mapping: match self.mapping {
                    MappingKind::Page => Mapping::Page(PageMap::new(self.logical_pages)),
                    MappingKind::Physical => Mapping::Physical(Physical),
                    MappingKind::Dftl => {
                        Mapping::Dftl(Dftl::new(self.logical_pages, self.map_cache, &geometry))
                    }
                    MappingKind::Reconstruction => {
                        Mapping::Reconstruction(Reconstruction::new(self.logical_pages, u32::MAX))
                    }
                    log => self.log.mapping(log, &geometry),
                },
                placement: match self.placement {
                    PlacementKind::Static => {
                        Placement::Static(StaticStripe::new(&geometry, Level::ALL))
                    }
                    PlacementKind::Dynamic => Placement::Dynamic(Dynamic::new(&geometry)),
                    PlacementKind::PartlyDynamic => Placement::PartlyDynamic(PartlyDynamic::new(
                        &geometry,
                        &[Level::Channel, Level::Plane],
                    )),
                },
                streams: self.streams(&geometry),
                victim: self.victim_policy(&geometry),
                thresholds: self.thresholds,
                wear: WearSetup {
                    free_block: self.life.free_block,
                    levelling: self.life.levelling.build(&geometry),
                    refresh: None,
                    refresh_reads: self.life.refresh_reads.is_some(),
                    faults: self.life.faults(),
                    drain_pages: drain_pages(&buffer, &geometry),
                },
                triggers: self.triggers,
                slc: self.slc.setup(),
                cost: self.cost_setup(),
                geometry,
            },
            merger: self.log.merger(self),
            buffer,
            reads: self.read_setup(),
        }
    }

    fn streams(&self, geometry: &Geometry) -> Streams {
        let copies = || CopyOptions { copy_streams: self.copy_streams.into() };
        match self.streams {
            StreamsKind::Single => Streams::Single(Single::new(self.copy_streams)),
            StreamsKind::ByHostStream => {
                let counts = StreamCounts::new(4, self.copy_streams);
                Streams::ByHostStream(ByHostStream::new(counts))
            }
            StreamsKind::MultiHash => Streams::MultiHash(MultiHash::new(&MultiHashOptions {
                copies: copies(),
                counters: 4_096,
                decay_writes: 5_117,
                hot_count: 4,
            })),
            StreamsKind::MultiBloom => Streams::MultiBloom(MultiBloom::new(&MultiBloomOptions {
                copies: copies(),
                filter_bits: 2_048,
                filter_writes: 512,
                hot_weight: 6,
            })),
            StreamsKind::SepBit => {
                Streams::SepBit(SepBit::new(self.logical_pages, geometry.blocks()))
            }
        }
    }

    fn victim_policy(&self, geometry: &Geometry) -> Victim {
        const SEED: u64 = 1;
        let draws = self.draws;
        match self.victim {
            VictimKind::Greedy => Victim::Greedy(Greedy::new(geometry)),
            VictimKind::CostBenefit => Victim::CostBenefit(CostBenefit::new(geometry)),
            VictimKind::DChoices => Victim::DChoices(DChoices::new(geometry, draws, SEED)),
            VictimKind::RandomGreedy => {
                Victim::RandomGreedy(RandomGreedy::new(geometry, draws, SEED))
            }
            VictimKind::WindowedGreedy => {
                Victim::WindowedGreedy(WindowedGreedy::new(geometry, draws))
            }
            VictimKind::Fifo => Victim::Fifo(gc::Fifo::new(geometry)),
            VictimKind::Random => Victim::Random(Random::new(geometry, SEED)),
        }
    }

    /// Blocks that a plane keeps back because operations can fail: one for a failed erase, and its
    /// part of what the write buffer may hold at the end.
    pub fn kept_back(&self) -> u32 {
        let geometry = self.volume();
        let drain = drain_pages(&self.buffer_setup(), &geometry);
        let pages = geometry.planes() * geometry.shape().pages_per_block;
        self.life.faults().map_or(0, |_| 1 + drain.div_ceil(pages))
    }

    /// How many logical pages this device can hold without ever running out of room: with more, a
    /// plane can reach a state in which no closed block is worth collecting and no block is free.
    ///
    /// A plane at a standstill has at most `reserve` blocks free and a half-filled block of each
    /// stream but the one that waits, so with one stream for the host and one for copies at least
    /// B - reserve - 1 closed ones. Each is worth collecting (it frees a
    /// flash page) unless it holds more than b - u valid pages, with b pages a block and u a flash
    /// page. So with fewer than (B - reserve - 1)(b - u + 1) pages on the plane, there is always
    /// something worth collecting, and each collection frees at least one flash page. Static
    /// placement needs that of every plane; dynamic placement of one, hence of the sum; partly dynamic
    /// placement of one in each pool.
    ///
    /// A device on which operations can fail keeps more in reserve.
    pub fn most_logical_pages(&self) -> u32 {
        let geometry = self.volume();
        let (block, page) = (geometry.units_per_block(), geometry.units_per_page());
        let of_map = if self.mapping == MappingKind::Dftl { 2 } else { 0 };
        let of_rewrites = u32::from(self.rewrites().is_some());
        let open = self.streams(&geometry).open_blocks() - 1 + self.slc.kept_open();
        let open = open + of_map + of_rewrites;
        let reserve = self.thresholds.reserve + self.kept_back() + self.slc.own_blocks();
        let closed = self.shape.blocks_per_plane.saturating_sub(reserve + open);
        let sure = closed * (block - page + 1);
        // What a map of all of it would take is an upper bound.
        let map_pages = match self.mapping {
            MappingKind::Dftl => {
                let all = u64::from(sure) * u64::from(geometry.planes());
                translation_pages(all, self.shape.page_size) as u32
            }
            _ => 0,
        };
        match self.placement {
            // Whole flash pages' worth go round the planes.
            PlacementKind::Static => {
                let map = map_pages.div_ceil(geometry.planes()) * page;
                sure.saturating_sub(1 + map) / page * page * geometry.planes()
            }
            PlacementKind::Dynamic => {
                (sure * geometry.planes()).saturating_sub(1 + map_pages * page)
            }
            PlacementKind::PartlyDynamic => {
                let pools = self.shape.channels * self.shape.planes_per_die;
                let planes = geometry.planes() / pools;
                let map = map_pages.div_ceil(pools) * page;
                (sure * planes).saturating_sub(1 + map) / page * page * pools
            }
        }
    }
}

/// The timing of a kind, with the times above.
pub fn timing(kind: TimingKind) -> Timing {
    match kind {
        TimingKind::Plain => Timing::Plain(Plain { read: READ, program: PROGRAM, erase: ERASE }),
        TimingKind::PageType => {
            Timing::PageType(PageType { types: PAGE_TIMES.to_vec(), erase: ERASE })
        }
        TimingKind::ByCost => regulating::by_cost(),
        TimingKind::Ispp => regulating::ispp(),
    }
}
