//! Turns a configuration into a device.

use std::collections::VecDeque;

use crate::cache::{Buffer, BufferSetup, BufferShape, Gate, ReadCacheSetup, Space};
use crate::config::{Config, FlushRule, GcOptions, MOST_COPIES, NandOptions, Options};
use crate::device::base::{Base, Reads};
use crate::device::desk::Desk;
use crate::device::host_setup::{HostSetup, dram, host};
use crate::device::idle::{Chore, Idle};
use crate::device::ledger::Ledger;
use crate::device::services::Services;
use crate::device::write::Writes;
use crate::device::write::cycle::Cycles;
use crate::device::write::lock_step::Standstill;
use crate::device::write::stalled::Stalled;
use crate::device::write::zones;
use crate::device::{Contents, Device, patrol};
use crate::engine::skills;
use crate::ftl::cost::{CostSetup, Rewriter};
use crate::ftl::gc::{Background, Collector, Thresholds, Triggers};
use crate::ftl::journal::{Journal, JournalSetup};
use crate::ftl::map_cache::MapCache;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::merge::{Clocks, Merger, MergerSetup};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::recovery::{RecoveryPolicy, snapshot};
use crate::ftl::service::Signals;
use crate::ftl::slc::SlcSetup;
use crate::ftl::superblock::{SuperblockPolicy, SuperblockState};
use crate::ftl::wear::WearSetup;
use crate::ftl::{Cargo, Ftl, FtlSetup, Kernel};
use crate::host::hints::HintedWrites;
use crate::host::zones::{ZoneRules, Zones};
use crate::host::{FrontEnd, Intake};
use crate::nand::timing::{Bus, OneBit, Prices};
use crate::nand::{
    Abilities, CacheOps, Counting, Draws, Faults, Hazards, MultiPlane, PauseCost, StripeLayout,
    WordLine,
};
use crate::policy::Parts;
use crate::scheduler::{Flash, FlashSetup, PauseRule, Probe};
use crate::shape::{Geometry, SuperblockSpan};
use crate::units::{Bytes, SectorMask, SimTime};
use crate::verify;
use crate::verify::Plant;

/// All parts of a device.
#[derive(Clone, Debug)]
pub struct DeviceSetup {
    /// The host side.
    pub host: HostSetup,
    /// The flash and its scheduler.
    pub flash: FlashSetup,
    /// The translation layer.
    pub ftl: FtlSetup,
    /// The zones, if there are any.
    pub zones: Option<ZoneRules>,
    /// The merger, if the mapping has a log.
    pub merger: Option<MergerSetup>,
    /// The write buffer.
    pub buffer: BufferSetup,
    /// The read cache.
    pub reads: ReadCacheSetup,
    /// Whether capacitors carry the contents of DRAM to flash when power is cut.
    pub has_capacitors: bool,
    /// Whether flushes and FUA are answered without effect.
    pub ignores_flush: bool,
    /// Whether the device checks itself while it runs ([`verify`]).
    pub checks_itself: bool,
}

impl DeviceSetup {
    /// The same device with self-checks, if they are compiled in ([`verify::ON`]).
    #[must_use]
    pub fn checking(self) -> DeviceSetup {
        DeviceSetup { checks_itself: verify::ON, ..self }
    }

    /// The same device, whose dies may die by order ([`Device::kill_die`]), and which loads images with dead dies. Until
    /// a die is dead, it makes no difference.
    #[must_use]
    pub fn bearing_deaths(mut self) -> DeviceSetup {
        self.ftl.wear.bears_deaths = true;
        self
    }

    /// The parts of the device that a configuration describes. Policies that draw random numbers
    /// use the seed.
    #[must_use]
    pub fn new(config: &Config, seed: u64) -> DeviceSetup {
        let options = &config.options;
        let (nand, ftl) = (&options.nand, &options.ftl);
        let flash = config.flash();
        // Who counts in blocks needs no page numbers.
        let counts = Geometry::new(config.shape());
        // The layers above superblocks know only the volume.
        let volume = Geometry::new(config.volume());
        // Limits that count flash pages are those of a plane.
        let planes_collect = ftl.superblock.policy == SuperblockPolicy::None;
        let span = flash.superblocks().filter(|_| !planes_collect);
        let at_once = span.map_or(1, SuperblockSpan::blocks);
        let logical_pages = config.logical_pages();
        let of_flash = Parts {
            geometry: &counts,
            cell: nand.cell,
            erase: nand.timing.erase,
            superblock: at_once,
            logical_pages,
            shares: config.shares(),
            stripe: ftl.placement.policy.stripe().map(|stripe| stripe.order),
            zones: config.zones(),
            queues: options.host.queues,
            seed,
        };
        let parts = Parts { geometry: &volume, ..of_flash };
        let buffer = buffer(options, &parts, &counts);
        DeviceSetup {
            host: host(options, &parts),
            flash: FlashSetup {
                geometry: flash.clone(),
                timing: Prices {
                    native: nand.timing.policy.build(&of_flash),
                    one_bit: OneBit {
                        read: nand.slc_mode.read,
                        program: nand.slc_mode.program,
                        erase: nand.slc_mode.erase,
                    },
                    word_line: word_line(nand, &counts),
                },
                bus: bus(config, &of_flash),
                abilities: abilities(nand),
                pause: PauseRule {
                    which: options.scheduler.suspend,
                    times: options.scheduler.suspend_limit,
                    reads: options.scheduler.suspend_reads,
                    of: options.scheduler.suspend_of,
                    longest: options.scheduler.suspend_time,
                    rest: options.scheduler.suspend_rest,
                },
                scheduler: options.scheduler.policy.build(&of_flash),
                prior: ftl.cost.prior(),
                whole_moments: ftl.cost.policy.looks_at_queues(),
                data_out_first: options.scheduler.data_out_first.is_on(),
                hazards: Hazards::new(&nand.faults, counting(options), &flash, seed),
                decoder: options.controller.ecc.setup(),
                reads_cross_dram: dram(options).is_some(),
            },
            ftl: FtlSetup {
                geometry: volume.clone(),
                superblock: SuperblockState::of(&flash),
                stripes: StripeLayout::of(&flash),
                logical_pages,
                mapping: ftl.mapping.policy.build(&parts),
                placement: ftl.placement.policy.build(&parts),
                streams: ftl.streams.policy.build(&parts),
                victim: ftl.gc.victim.build(&parts),
                pacing: ftl.gc.pacing.build(&parts),
                thresholds: Thresholds {
                    start: ftl.gc.start,
                    stop: ftl.gc.stop,
                    reserve: ftl.gc.reserve,
                    copies_in_flight: ftl.gc.copies_in_flight.saturating_mul(at_once),
                },
                wear: WearSetup {
                    free_block: ftl.wear.free_block,
                    levelling: ftl.wear.policy.build(&parts),
                    refresh: ftl.refresh.rule(),
                    refresh_reads: ftl.refresh.reads.is_some(),
                    rebuilds: ftl.parity.rebuilds(),
                    faults: Faults::new(&nand.faults, nand.endurance.policy.build(&parts), seed),
                    bears_deaths: false,
                    closes_early: ftl.streams.policy.closes_early(),
                    drain_pages: drain_pages(&buffer, &volume),
                },
                triggers: triggers(&ftl.gc),
                slc: slc(options, &parts),
                cost: nand.timing.policy.knows_costs().then(|| CostSetup {
                    regulator: ftl.cost.policy.build(&parts),
                    rewrites: options.rewrites(),
                }),
                recovery: ftl.recovery.policy.build(&parts),
            },
            zones: config.zones().map(|shape| options.host.zones.rules(shape)),
            merger: merger(options, &parts),
            buffer,
            reads: reads(options, &parts),
            has_capacitors: options.power.capacitors.is_on(),
            ignores_flush: options.host.flush == FlushRule::Ignored,
            checks_itself: cfg!(feature = "verify"),
        }
    }
}

/// The parts that want to know how often blocks are read.
fn counting(options: &Options) -> Counting {
    let errors = options.nand.timing.policy.errors();
    let disturbs = errors.is_some_and(|errors| errors.disturbed_errors > 0);
    Counting { disturbs, often: options.ftl.refresh.reads }
}

fn bus(config: &Config, parts: &Parts<'_>) -> Bus {
    let (nand, gang) = (&config.options.nand, config.gang());
    let mut shape = config.shape();
    shape.page_size = nand.page_size;
    shape.mapping_unit = Bytes(shape.mapping_unit.0 / u64::from(gang));
    let transfers = nand.bus.policy.build(parts);
    let bus = Bus::new(&transfers, nand.bus.command, nand.codeword, &shape);
    bus.for_word_lines(nand.pages_at_once()).ganged(gang)
}

/// The pages of a word line, if it is programmed at once.
fn word_line(nand: &NandOptions, counts: &Geometry) -> Option<WordLine> {
    let pages = nand.pages_at_once();
    (pages > 1).then(|| WordLine::of(counts.shape(), pages))
}

fn merger(options: &Options, parts: &Parts<'_>) -> Option<MergerSetup> {
    let ftl = &options.ftl;
    ftl.mapping.policy.log()?;
    Some(MergerSetup {
        planner: ftl.merge.planner.build(parts),
        throttle: ftl.merge.throttle,
        clocks: ftl.merge.clocks,
        planes: parts.geometry.planes(),
        copies_in_flight: ftl.gc.copies_in_flight,
        copyback: ftl.gc.copyback.is_on(),
    })
}

fn reads(options: &Options, parts: &Parts<'_>) -> ReadCacheSetup {
    let choice = &options.cache.read.policy;
    let Some(held) = choice.holds() else { return ReadCacheSetup::none() };
    let pages = held.capacity.0 / parts.geometry.shape().page_size.0;
    ReadCacheSetup {
        policy: choice.build(parts),
        capacity: u32::try_from(pages).unwrap_or(u32::MAX),
        ahead: held.ahead,
        units_per_page: parts.geometry.units_per_page(),
    }
}

fn slc(options: &Options, parts: &Parts<'_>) -> SlcSetup {
    let choice = &options.ftl.slc_cache.policy;
    let Some(rules) = choice.rules() else { return SlcSetup::none() };
    SlcSetup {
        policy: choice.build(parts),
        when_full: rules.when_full,
        fold_after_idle: rules.fold_when_idle.is_on().then_some(rules.fold_after_idle),
        bits: options.nand.cell.bits(),
        fold_inside: rules.fold_inside.is_on(),
    }
}

fn abilities(nand: &NandOptions) -> Abilities {
    let (planes, cache, suspend) = (&nand.multi_plane, &nand.cache_ops, &nand.suspend);
    Abilities {
        multi_plane: MultiPlane {
            read: planes.read.is_on(),
            program: planes.program.is_on(),
            erase: planes.erase.is_on(),
            independent_reads: planes.independent_reads.is_on(),
            address: planes.address,
            gap: planes.gap,
            looks: planes.looks,
        },
        cache: CacheOps {
            read: cache.read.is_on(),
            program: cache.program.is_on(),
            busy: cache.busy,
        },
        pause: PauseCost {
            program: suspend.program,
            erase: suspend.erase,
            resume: suspend.resume,
            program_pulse: suspend.program_pulse,
            erase_pulse: suspend.erase_pulse,
        },
        one_die_at_a_time: nand.one_die_at_a_time.is_on() && nand.dies_per_chip > 1,
        draws: Draws::of(&nand.power),
    }
}

fn triggers(gc: &GcOptions) -> Triggers {
    let background = &gc.background;
    Triggers {
        scope: gc.scope,
        background: background
            .collect
            .is_on()
            .then_some(Background { after: background.after, blocks: background.blocks }),
        preemptible: gc.preemptible.is_on(),
        copies_per_write: Some(gc.copies_per_write).filter(|&copies| copies < MOST_COPIES),
        hard_limit: gc.hard_limit,
        copyback: gc.copyback.is_on(),
    }
}

/// In lock-step, write-back runs in cycles, whatever the buffer says.
fn gate(options: &Options) -> Option<Gate> {
    let (ftl, gate) = (&options.ftl, options.cache.policy.gate());
    let lock_step = ftl.mapping.policy.log().is_some() && ftl.merge.clocks == Clocks::LockStep;
    match lock_step {
        true => Some(Gate { barrier: true, prefix: gate.is_some_and(|gate| gate.prefix) }),
        false => gate,
    }
}

fn buffer(options: &Options, parts: &Parts<'_>, flash: &Geometry) -> BufferSetup {
    let cache = &options.cache;
    let policy = cache.policy.build(parts);
    let latency = cache.latency;
    let row = options.pages_in_row();
    let gate = gate(options);
    let whole_page = parts.geometry.sectors_per_unit();
    let shape = |capacity| BufferShape {
        whole_page: SectorMask::range(0, whole_page),
        capacity,
        logical_pages: parts.logical_pages,
    };
    let Some(dram) = cache.policy.dram() else {
        return BufferSetup {
            policy,
            capacity: None,
            space: Space::Pages,
            shape: shape(0),
            keeps_reads: false,
            write_back_above: 0,
            programs_in_flight: None,
            row,
            write_back_together: None,
            gate,
            latency,
        };
    };
    let pages = dram.options.pages(parts.geometry.shape().mapping_unit, parts.logical_pages);
    let capacity = match dram.space {
        Space::Pages | Space::Slots => pages,
        Space::Sectors => pages.saturating_mul(whole_page),
    };
    let write_back_together = dram.write_back_together.filter(|_| gate.is_none());
    let (dies, planes) = (flash.dies(), flash.planes());
    let programs = match gate {
        Some(_) => planes,
        None => {
            let most = dram.programs_in_flight(dies.into(), planes.into(), row.into());
            u32::try_from(most).unwrap_or(u32::MAX)
        }
    };
    let above = dram.write_back_start.of(u64::from(capacity));
    BufferSetup {
        policy,
        capacity: Some(capacity),
        space: dram.space,
        shape: shape(pages),
        keeps_reads: dram.keeps_reads,
        write_back_above: u32::try_from(above).unwrap_or(capacity),
        programs_in_flight: Some(programs),
        row,
        write_back_together,
        gate,
        latency,
    }
}

/// The number of flash pages that may still have to be written at the end of life: the pages of a
/// full buffer, and programs that were already prepared and wait for a free page.
#[must_use]
pub fn drain_pages(buffer: &BufferSetup, geometry: &Geometry) -> u32 {
    // A buffer that is counted in sectors may hold one sector of each page.
    let Some(pages) = buffer.capacity else { return 0 };
    let together = pages.min(buffer.shape.logical_pages).div_ceil(geometry.units_per_page());
    together + buffer.programs_in_flight.unwrap_or(pages).min(pages)
}

/// Builds a device without a probe and without data.
#[must_use]
pub fn assemble(setup: DeviceSetup) -> Device {
    assemble_with(setup, (), ())
}

/// Builds a device with a probe on its flash and with the bytes that it carries.
#[must_use]
pub fn assemble_with<P: Probe, C: Contents>(
    setup: DeviceSetup,
    probe: P,
    contents: C,
) -> Device<P, C> {
    let geometry = &setup.ftl.geometry;
    let dies = geometry.dies();
    let units_per_page = geometry.units_per_page();
    let sectors_per_page = geometry.sectors_per_unit();
    let background = setup.ftl.triggers.background;
    let collect_after_idle = background.map(|background| background.after);
    let fold_after_idle = setup.ftl.slc.fold_after_idle;
    let translates = setup.ftl.mapping.translates();
    let dies_die = setup.flash.hazards.as_ref().is_some_and(Hazards::kills);
    let parts = if setup.ftl.mapping.packs() { 2 } else { 1 };
    let mut flash = Flash::new(setup.flash, probe);
    if verify::ON && setup.checks_itself {
        flash.check_laws();
    }
    if !translates {
        flash.keep_page_order();
    }
    if setup.merger.is_some() {
        flash.leave_pages_out();
    }
    let rewrites = setup.ftl.cost.as_ref().and_then(|cost| cost.rewrites);
    let rewriter = rewrites.map(|limit| Box::new(Rewriter::new(limit, flash.geometry())));
    let on_flash = setup.ftl.mapping.dftl().is_some();
    let pools = setup.ftl.placement.pools();
    let journal = match setup.merger {
        None => setup.ftl.recovery.upkeep(),
        Some(_) => None,
    };
    let logical_pages = setup.ftl.logical_pages;
    let journal = journal.map(|upkeep| {
        let setup = JournalSetup { upkeep, logical_pages, dies_die, parts };
        Box::new(Journal::new(setup, flash.geometry()))
    });
    let map = on_flash.then(|| Box::new(MapCache::new(pools)));
    let rows = |state: &&SuperblockState| state.members().span().planes > 1;
    let copy_rows = setup.ftl.superblock.as_ref().filter(rows);
    let copy_rows = copy_rows.map_or(0, |_| setup.ftl.geometry.planes());
    let services = Services {
        collector: Collector::new(units_per_page, dies, copy_rows),
        merger: setup.merger.map(|setup| Box::new(Merger::new(setup, dies))),
        rewriter,
        map,
        journal,
    };
    let desk = Desk {
        queues: setup.host.queues,
        front: setup.host.front_end.map(|setup| Box::new(FrontEnd::new(setup))),
        intake: Intake::default(),
        from_buffer: VecDeque::new(),
        finished: Vec::new(),
    };
    let writes = Writes {
        loads: Cargo::new(units_per_page),
        stalled: Stalled::new(pools, setup.ftl.streams.host_streams()),
        cycles: Cycles::new(setup.buffer.gate, pools),
        standstill: Standstill::default(),
        batch: Vec::new(),
        row: Vec::new(),
        recent: VecDeque::new(),
    };
    let mut ftl = Ftl::new(setup.ftl);
    if dies_die {
        snapshot::checkpoint_all(&mut ftl);
    }
    let base = Base {
        direct: (!translates).then(Box::default),
        sectors_per_page,
        units_per_page,
        kernel: Kernel { now: SimTime::ZERO, ftl, flash, contents },
        services,
        buffer: Buffer::new(setup.buffer),
        reads: Reads::new(setup.reads),
        desk,
        zones: setup.zones.map(|rules| Box::new(Zones::new(rules))),
        hints: setup.host.hints.map(|policy| Box::new(HintedWrites::new(policy))),
        idle: Idle::new(|chore| match chore {
            Chore::Collect => collect_after_idle,
            Chore::Fold => fold_after_idle,
            Chore::GoOn | Chore::Patrol => None,
        }),
        has_capacitors: setup.has_capacitors,
        ignores_flush: setup.ignores_flush,
        wakes: Signals::NONE,
        end_of_life: None,
        ledger: Ledger::new(setup.checks_itself),
        plant: Plant::default(),
    };
    let mut device = Device { skills: skills::ALL, base, writes };
    zones::give_way(&mut device.base);
    device.base.begin_ages();
    patrol::plan_patrol(&mut device.base);
    device.choose_skills();
    if device.base.services.merger.is_some() {
        // The initial blocks of a log-block mapping were not programmed by any command.
        device.go_on_counting();
    }
    device
}
