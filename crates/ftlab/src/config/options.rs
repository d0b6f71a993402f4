//! The options of a device, section by section along the path of an I/O. Options of one policy are
//! declared with the policy.

use super::{
    CacheOpsOptions, CacheOptions, CostOptions, LinkOptions, MultiPlaneOptions, PowerOptions,
    RecoveryOptions, SuspendOptions,
};
use crate::ftl::gc::pacing::PacingChoice;
use crate::ftl::gc::{Scope, VictimChoice};
use crate::ftl::mapping::MappingChoice;
use crate::ftl::merge::MergeOptions;
use crate::ftl::parity::ParityOptions;
use crate::ftl::placement::PlacementChoice;
use crate::ftl::slc::SlcCacheChoice;
use crate::ftl::streams::StreamsChoice;
use crate::ftl::superblock::SuperblockOptions;
use crate::ftl::wear::{FreeBlockOrder, LevellingChoice, RefreshOptions};
use crate::host::arbitration::ArbitrationChoice;
use crate::host::hints::HintsChoice;
use crate::host::translation::HostTranslationOptions;
use crate::host::zones::ZoneOptions;
use crate::host::{Copies, DramRateOptions, StreamMap, WritePacingOptions};
use crate::nand::endurance::EnduranceChoice;
use crate::nand::timing::{TimingChoice, TransfersChoice};
use crate::nand::{DrawOptions, FaultOptions, ProgramUnit};
use crate::options::Switch;
use crate::options::declare::{choices, options};
use crate::options::text::{nearest, quoted, shown};
use crate::options::value::{Value, ValueError, ValueKind};
use crate::scheduler::{EccOptions, Pausable, PausedFor, SchedulerChoice};
use crate::shape::Cell;
use crate::units::{Bytes, BytesPerSec, Nanos, Ratio};

options! {
    /// A device.
    pub struct Options at "" with {
        device: DeviceOptions,
        host: HostOptions,
        firmware: FirmwareOptions,
        controller: ControllerOptions,
        nand: NandOptions,
        ftl: FtlOptions,
        cache: CacheOptions,
        power: PowerOptions,
        scheduler: SchedulerOptions,
    } {}
}

impl Options {
    /// Flash pages that are written back together: one for each plane of a die, if one program can serve them.
    #[must_use]
    pub fn pages_in_row(&self) -> u32 {
        // Log blocks of different planes are not filled in step.
        let in_step = self.ftl.mapping.policy.log().is_none();
        let together = self.nand.multi_plane.program.is_on() && self.ftl.placement.rows.is_on();
        if together && in_step { self.nand.planes_per_die } else { 1 }
    }
}

options! {
    /// The name of the device, and the source of its values.
    pub struct DeviceOptions at "device" {
        /// A short name. A preset's name is that of its file, which includes the logical capacity.
        name: String = "custom", source "free text";
        /// The kind of device that it represents, in one sentence.
        description: String = "", source "free text";
        /// The data sheet or paper from which the values come.
        source: String = "", source "free text";
    }
}

options! {
    /// The host side of the device: the queues in which commands wait, as in NVMe.
    pub struct HostOptions at "host" with {
        arbitration: ArbitrationOptions,
        hints: HintsOptions,
        link: LinkOptions,
        interrupt: InterruptOptions,
        zones: ZoneOptions,
        translation: HostTranslationOptions,
    } {
        /// Submission queues.
        queues: u32 = "1", in "1"..="128", unit "queues",
            source "range: NVMe allows 65,535; hosts make one for each core";
        /// Commands of a queue that the host may have outstanding: one number for all queues, or
        /// one for each. A command holds its place from submission to completion, as the tags of a
        /// driver do. A request to a full queue waits in the host.
        queue_depth: Vec<u32> = "65536", in "1"..="65536",
            source "NVM Express Base Specification 2.0, 3.3.1: at most 65,536 slots";
        /// Which queue a command goes to, by the number of its stream: the volume of a trace, or
        /// the tenant of a workload.
        queue_of: StreamMap = "modulo", source "free choice of the host",
            applies_with "host.queues" not "1";
        /// Commands that the controller works on at once, over all queues. Others wait in their
        /// queue until it fetches them.
        outstanding: u32 = "65536", in "1"..="65536", unit "commands",
            source "default: as many as a queue holds, so that no command waits";
        /// The time that the controller's front end spends on each command before anything else
        /// happens to it. Each of `firmware.cores` spends it on one command after the other.
        command_time: Nanos = "0ns", in "0ns"..="1ms",
            source "default: not counted; 1us caps a device at a million commands a second";
        /// The time to post a completion, one after the other, after all else of its request is done.
        completion_time: Nanos = "0ns", in "0ns"..="1ms",
            source "default: not counted; 1us caps a device at a million completions a second";
        /// What a flush, or a write with FUA, does. A device that ignores them answers at once and loses
        /// acknowledged data when power is cut: for trying whether software would notice.
        flush: FlushRule = "obeyed",
            source "NVM Express NVM Command Set 1.0, 3.2.1: data is on the medium";
    }
}

choices! {
    /// What a device does with flushes, and with writes that ask for FUA.
    pub enum FlushRule {
        /// Data is on flash before they are answered.
        Obeyed = "obeyed",
        /// They are answered as if it were.
        Ignored = "ignored",
    }
}

options! {
    /// Which queue's command the controller fetches next.
    pub struct ArbitrationOptions at "host.arbitration" with { policy: ArbitrationChoice } {}
}

options! {
    /// What the host tells the drive about its writes.
    pub struct HintsOptions at "host.hints" with { policy: HintsChoice } {}
}

options! {
    /// Interrupts: how the host learns of completions. They can be coalesced, each queue for itself.
    pub struct InterruptOptions at "host.interrupt" {
        /// The time from an interrupt until the host sees the completions that it tells of.
        delay: Nanos = "0ns", in "0ns"..="10ms", source "default: not counted; it is the host's";
        /// Completions of a queue that raise its interrupt.
        coalesce: u32 = "1", in "1"..="256", unit "completions",
            source "NVM Express, feature 08h, aggregation threshold (which counts from 0); default: no coalescing",
            applies_with "host.interrupt.coalesce_time" not "0ns";
        /// The longest time that a completion waits for others of its queue. With "0ns" none waits.
        coalesce_time: Nanos = "0ns", in "0ns"..="25500us",
            source "NVM Express, feature 08h, aggregation time, in steps of 100 us; default: no coalescing",
            applies_with "host.interrupt.coalesce" not "1";
    }
}

options! {
    /// The controller's processor: its time for each task, besides taking up commands
    /// (`host.command_time`). By default nothing waits for it.
    pub struct FirmwareOptions at "firmware" with { pacing: WritePacingOptions } {
        /// Cores. Any free one takes up a command; all other tasks are done by one core at a time, in turn.
        cores: u32 = "1", in "1"..="64", unit "cores",
            source "default: one processor does everything; Lu et al. 2018",
            applies_with "host.command_time" not "0ns";
        /// The time to take in a mapping unit of a write: finding its place, and what it makes invalid.
        unit: Nanos = "0ns", in "0ns"..="1ms", source "default: not counted";
        /// The time to hand a flash page to the flash, in a write-back.
        page: Nanos = "0ns", in "0ns"..="1ms", source "default: not counted",
            applies_with "ftl.mapping.policy" not "physical";
        /// The time to notice that the flash has finished an operation that a host read, or the
        /// processor itself, waits for.
        poll: Nanos = "0ns", in "0ns"..="1ms", source "default: not counted";
        /// The data that is copied within the controller's memory.
        copies: Copies = "nothing",
            source "default: controllers move data to where it stays; Lu et al. 2018, 4.1.1, for the others";
        /// The rate of these copies.
        copy_rate: BytesPerSec = "60MB/s", in "1MB/s"..="1000GB/s",
            source "Lu et al. 2018, 4.1.1: memcpy on the Cosmos board", applies_with "firmware.copies" not "nothing";
        /// What the processor does while write-backs are in flight.
        write_back: DuringWriteBack = "goes-on", source "default: controllers are told when a program has ended",
            applies_with "ftl.mapping.policy" not "physical";
    }
}

choices! {
    /// What a processor does while write-backs are in flight.
    pub enum DuringWriteBack {
        /// It continues with other tasks.
        GoesOn = "goes-on",
        /// It waits for all of them, and only hands out their pages.
        Waits = "waits",
    }
}

options! {
    /// Parts of the controller that take time beside its processor.
    pub struct ControllerOptions at "controller" with { ecc: EccOptions, dram: DramRateOptions } {}
}

options! {
    /// The flash: its geometry and its cells.
    pub struct NandOptions at "nand" with {
        timing: TimingOptions,
        slc_mode: SlcModeOptions,
        bus: BusOptions,
        multi_plane: MultiPlaneOptions,
        cache_ops: CacheOpsOptions,
        suspend: SuspendOptions,
        power: DrawOptions,
        endurance: EnduranceOptions,
        faults: FaultOptions,
    } {
        /// Channels of the device. Each has a bus of its own.
        channels: u32 = required, in "1"..="128", unit "channels",
            source "range: 4 to 32 are built; 128 leaves room for studies";
        /// Chips (packages with their own chip enable) on each channel.
        chips_per_channel: u32 = required, in "1"..="64", unit "chips",
            source "range: loads above 8 need buffered channels";
        /// Dies in each chip. A die carries out one operation at a time.
        dies_per_chip: u32 = "1", in "1"..="16", unit "dies",
            source "range: stacks of up to 16 dies are sold";
        /// Whether a chip does one thing at a time: from the beginning of a command of one of its dies to its end, data
        /// transfer included, its other dies begin nothing. Dies of real chips share only the pins of their chip, and
        /// work in parallel. MQSim's don't: it keeps one state per chip.
        one_die_at_a_time: Switch = "off", source "default: as real chips; on as MQSim, NVM_PHY_ONFI_NVDDR2.cpp",
            applies_with "nand.dies_per_chip" not "1";
        /// Planes in each die: parts of a die with blocks of their own.
        planes_per_die: u32 = required, in "1"..="16", unit "planes",
            source "range: 1 to 4 are common, 16 in XL-FLASH (KIOXIA, ISSCC 2020)";
        /// Blocks in each plane, including spare ones. A block is the unit of erasing.
        blocks_per_plane: u32 = required, in "4"..="1000000", unit "blocks",
            source "range: real planes have 500 to 4,000; below 4 nothing is left to collect into";
        /// Flash pages in each block, counting every page of a word line: three in TLC.
        pages_per_block: u32 = required, in "4"..="16384", unit "flash pages",
            source "range: 64 in early SLC to several thousand in 3D QLC";
        /// The size of a flash page, which is sensed together, without its spare area. A multiple of the codeword and of
        /// the mapping unit.
        page_size: Bytes = required, in "2KiB"..="64KiB", source "range: parts since about 2005";
        /// What a die programs at once, and the FTL fills as one: a page, or a word line with a page for each bit of its
        /// cells. A read senses the pages of a word line that hold what it wants, one after the other. To mappings, caches
        /// and faults, a flash page then is a word line. Blocks in SLC mode are filled with as much at a time, by one
        /// program after the other.
        program_unit: ProgramUnit = "page",
            source "default: parts up to about 2013; 3D NAND programs whole word lines in one shot";
        /// The size of an ECC codeword. A read moves whole codewords over the bus. A power of two;
        /// the default is cut to the size of the page.
        codeword: Bytes = "4KiB", in "512B"..="64KiB",
            source "LDPC codes of current controllers cover 1 to 4 KiB of data";
        /// The type of the cells.
        cell: Cell = required, source "the part";
    }
}

impl NandOptions {
    /// The pages that a die programs at once.
    #[must_use]
    pub fn pages_at_once(&self) -> u32 {
        match self.program_unit {
            ProgramUnit::Page => 1,
            ProgramUnit::WordLine => self.cell.bits(),
        }
    }

    /// The size of what the FTL fills as a flash page: all that a die programs at once.
    #[must_use]
    pub fn flash_page(&self) -> Bytes {
        Bytes(self.page_size.0 * u64::from(self.pages_at_once()))
    }

    /// The number of flash pages of a block, as the FTL fills them. A check refuses blocks with a part of one.
    #[must_use]
    pub fn flash_pages_per_block(&self) -> u32 {
        (self.pages_per_block / self.pages_at_once()).max(1)
    }
}

options! {
    /// The times of a die's operations.
    pub struct TimingOptions at "nand.timing" with { policy: TimingChoice } {
        /// Erasing a block (tBERS).
        erase: Nanos = required, in "1us"..="1s", source "the part";
    }
}

options! {
    /// The times of a die's operations in blocks in SLC mode, which only an SLC cache uses.
    pub struct SlcModeOptions at "nand.slc_mode" {
        /// Sensing a flash page (tR).
        read: Nanos = "25us", in "100ns"..="100ms",
            source "Grupp et al., MICRO 2009: SLC parts sense in 25 us",
            applies_with "ftl.slc_cache.policy" not "none";
        /// Programming a flash page (tPROG).
        program: Nanos = "200us", in "1us"..="1s",
            source "Grupp et al., MICRO 2009: SLC parts program in about 200 us",
            applies_with "ftl.slc_cache.policy" not "none";
        /// Erasing a block (tBERS).
        erase: Nanos = "3ms", in "1us"..="1s",
            source "assumed: as native blocks of the presets, within 1.5 ms to 5 ms",
            applies_with "ftl.slc_cache.policy" not "none";
    }
}

options! {
    /// The bus of a channel.
    pub struct BusOptions at "nand.bus" with { policy: TransfersChoice } {
        /// The time of a command and its addresses on the bus, for each plane, besides the data. With "none", reads and
        /// erases begin without the bus. With "0ns" they take no time on it, but begin only when it is free.
        command: Option<Nanos> = "none", in "0ns"..="100us",
            source "default: not counted; seven cycles of 25 to 100 ns in asynchronous ONFI";
    }
}

options! {
    /// The endurance of the blocks.
    pub struct EnduranceOptions at "nand.endurance" with { policy: EnduranceChoice } {}
}

options! {
    /// The flash translation layer.
    pub struct FtlOptions at "ftl" with {
        mapping: MappingOptions,
        merge: MergeOptions,
        placement: PlacementOptions,
        streams: StreamsOptions,
        gc: GcOptions,
        slc_cache: SlcCacheOptions,
        wear: WearOptions,
        refresh: RefreshOptions,
        cost: CostOptions,
        recovery: RecoveryOptions,
        parity: ParityOptions,
        superblock: SuperblockOptions,
    } {
        /// Physical capacity beyond the logical capacity, as a share of the latter: at 7% a device with 107 GiB of
        /// flash offers 100 GiB. Parity (`ftl.parity`) is first subtracted from the physical capacity.
        over_provisioning: Ratio = "7%", in "0%"..="900%",
            source "default: the least a drive gets when it sells GiB as GB";
        /// The most capacity that the host sees. With "none" it is what over-provisioning leaves.
        /// Mappings with a log use no more blocks than this needs.
        capacity: Option<Bytes> = "none", in "1MiB"..="1000TiB",
            source "default: all that over-provisioning leaves";
    }
}

options! {
    /// How logical pages are mapped to flash.
    pub struct MappingOptions at "ftl.mapping" with { policy: MappingChoice } {
        /// The mapping unit: "flash-page", or a size that divides the flash page.
        unit: MapUnit = "4KiB", in "512B"..="64KiB",
            source "page-mapped drives map 4 KiB, the page of file systems";
    }
}

options! {
    /// Where a logical page is written.
    pub struct PlacementOptions at "ftl.placement" with { policy: PlacementChoice } {
        /// Whether write-back forms rows of dirty pages, one flash page for each plane of a die, so that one
        /// multi-plane program serves them all. Nothing waits until a row is full. Without rows, each flash page is
        /// placed alone, and shares a program only with others that happen to wait for the same die.
        rows: Switch = "on",
            source "controllers write superpages; rows: Hu et al., ICS 2011 (multi-plane commands)",
            applies_with "nand.multi_plane.program" is "on";
    }
}

options! {
    /// Which pages share blocks: each stream has its own open block in each plane.
    pub struct StreamsOptions at "ftl.streams" with { policy: StreamsChoice } {}
}

options! {
    /// Blocks in SLC mode, with one bit per cell, as a cache in front of the others.
    pub struct SlcCacheOptions at "ftl.slc_cache" with { policy: SlcCacheChoice } {}
}

options! {
    /// Garbage collection: which blocks are emptied, and when. Thresholds are per plane.
    pub struct GcOptions at "ftl.gc" with {
        victim: VictimChoice, pacing: PacingChoice, background: BackgroundOptions
    } {
        /// Free blocks of a plane at or below which collection starts.
        start: u32 = "2", in "2"..="100000", unit "blocks",
            source "small, so that the spare capacity holds stale pages rather than lie idle";
        /// Free blocks of a plane at which collection stops.
        stop: u32 = "3", in "2"..="100000", unit "blocks",
            source "one block a time, as closed forms of write amplification assume";
        /// Free blocks of a plane that only collection may write to.
        reserve: u32 = "1", in "1"..="99999", unit "blocks",
            source "a victim's pages must always have somewhere to go";
        /// Flash pages of a plane that are copied at the same time.
        copies_in_flight: u32 = "4", in "1"..="4096", unit "flash pages",
            source "enough to overlap a transfer with a program";
        /// Which planes collect together: when one must collect, the others in its scope collect
        /// one block, too, unless they have more than `ftl.gc.stop` free blocks.
        scope: Scope = "plane", source "each plane for itself: nothing is collected early";
        /// Whether commands of collection wait until their die is idle. They yield between
        /// commands, until `ftl.gc.hard_limit` is reached or the host waits for the plane.
        preemptible: Switch = "off", source "Lee et al., ISPASS 2011";
        /// Copies (flash pages) that a plane's collection may make for each flash page that the
        /// host writes to the plane. While the host pauses, collection pauses, too, except for its
        /// erase; after the last request it finishes. The largest value means no limit.
        copies_per_write: u32 = "4000000", in "1"..="4000000", unit "flash pages",
            source "incremental collection; by default the rest of the pacing is enough";
        /// Free blocks of a plane at or below which collection neither yields (`ftl.gc.preemptible`)
        /// nor waits for host writes (`ftl.gc.copies_per_write`).
        hard_limit: u32 = "1", in "1"..="100000", unit "blocks",
            source "the reserve: the host can't open a block any more",
            applies_with "ftl.gc.preemptible" is "on" or "ftl.gc.copies_per_write" not "4000000";
        /// Whether flash pages whose mapping units are all valid are copied within the plane, without
        /// crossing the bus (and without being checked by ECC).
        copyback: Switch = "off", source "ONFI copyback; drives avoid it, as errors add up";
    }
}

/// The largest value of `copies_per_write`, which means no limit.
pub const MOST_COPIES: u32 = 4_000_000;

options! {
    /// Collection while the host is idle.
    pub struct BackgroundOptions at "ftl.gc.background" {
        /// Whether the device collects before it must while the host is idle. Copies stop when the host becomes active.
        collect: Switch = "off", source "closed forms know no idle time";
        /// How long the device has to be without requests before it collects.
        after: Nanos = "100ms", in "0ns"..="100s", source "assumed: longer than pauses in a burst",
            applies_with "ftl.gc.background.collect" is "on";
        /// Free blocks of a plane up to which it collects in the background.
        blocks: u32 = "8", in "1"..="1000000", unit "blocks",
            source "assumed: a burst of a few blocks a plane finds room",
            applies_with "ftl.gc.background.collect" is "on";
    }
}

options! {
    /// How wear is spread over the blocks.
    pub struct WearOptions at "ftl.wear" with { policy: LevellingChoice } {
        /// Which free block of a plane is used next (dynamic wear levelling).
        free_block: FreeBlockOrder = "oldest",
            source "default: a queue, as in most simulators; it spreads wear over the free blocks";
    }
}

options! {
    /// The scheduling of flash commands.
    pub struct SchedulerOptions at "scheduler" with { policy: SchedulerChoice } {
        /// Which operations of a die are suspended for a host read, and resumed when no read waits
        /// any more. `nand.suspend` has the cost.
        suspend: Pausable = "none",
            source "default: the baseline without; Wu and He, FAST 2012";
        /// How often an operation may be suspended.
        suspend_limit: u32 = "4", in "1"..="1000", unit "times",
            source "assumed: with suspend_reads it limits how long programs and erases are delayed",
            applies_with "scheduler.suspend" not "none";
        /// How many host reads may be served during each suspension.
        suspend_reads: u32 = "16", in "1"..="100000", unit "reads",
            source "assumed: with suspend_limit it limits how long programs and erases are delayed",
            applies_with "scheduler.suspend" not "none";
        /// Whose operations are suspended.
        suspend_of: PausedFor = "everybody",
            source "default: all; drives seem to let only their own work yield to reads",
            applies_with "scheduler.suspend" not "none";
        /// For how long an operation may be held up by suspensions, all of them together. Once it has been, no further
        /// read begins in its suspension, and it is not suspended again.
        suspend_time: Option<Nanos> = "none", in "0ns"..="10s",
            source "default: suspend_limit and suspend_reads are limits enough",
            applies_with "scheduler.suspend" not "none";
        /// The least time that an operation must have left to be suspended. One that ends earlier is waited for.
        suspend_rest: Nanos = "0ns", in "0ns"..="100ms",
            source "default: whenever a read then comes earlier; firmware may not bother near the end of an operation",
            applies_with "scheduler.suspend" not "none";
        /// Whether a bus that becomes free first transfers the data that waits in the dies, and begins new commands
        /// only when there is none, whatever their rank. This empties dies early, but lets them idle: one that could
        /// already sense or program waits for the data of all others on its channel.
        data_out_first: Switch = "off", source "default: the order of the policy; on as MQSim, NVM_PHY_ONFI_NVDDR2.cpp";
    }
}

/// The mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapUnit {
    /// A whole flash page.
    FlashPage,
    /// A part of a flash page.
    Size(Bytes),
}

impl MapUnit {
    /// The size of the unit on flash pages of `page` bytes.
    #[must_use]
    pub const fn bytes(self, page: Bytes) -> Bytes {
        match self {
            MapUnit::FlashPage => page,
            MapUnit::Size(size) => size,
        }
    }
}

const FLASH_PAGE: &str = "flash-page";

impl Value for MapUnit {
    const KIND: ValueKind = ValueKind::Size;

    fn parse(text: &str) -> Result<MapUnit, ValueError> {
        if text == FLASH_PAGE {
            return Ok(MapUnit::FlashPage);
        }
        match Bytes::parse(text) {
            Ok(size) => Ok(MapUnit::Size(size)),
            Err(_) if nearest(text, [FLASH_PAGE]).is_some() => Err(ValueError::new(
                format!("{} is neither a size nor {FLASH_PAGE}", shown(text)),
                format!("write {} or a size like \"4KiB\"", quoted(FLASH_PAGE)),
            )),
            Err(error) => Err(ValueError {
                remedy: format!("{}, or {}", error.remedy, quoted(FLASH_PAGE)),
                ..error
            }),
        }
    }

    fn print(&self) -> String {
        match self {
            MapUnit::FlashPage => FLASH_PAGE.to_owned(),
            MapUnit::Size(size) => size.print(),
        }
    }

    fn within(&self, low: &str, high: &str) -> bool {
        match self {
            MapUnit::FlashPage => true,
            MapUnit::Size(size) => size.within(low, high),
        }
    }

    fn placeholder() -> MapUnit {
        MapUnit::FlashPage
    }
}
