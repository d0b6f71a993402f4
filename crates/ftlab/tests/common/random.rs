//! Random devices that can work, and random things to do with them.

use ftlab::cache::Space;
use ftlab::ftl::gc::{Background, Scope, Thresholds, Triggers};
use ftlab::host::{Copies, Op, ProcessorSetup};
use ftlab::nand::{Abilities, AddressRule, MultiPlane};
use ftlab::shape::Shape;
use ftlab::units::{Bytes, BytesPerSec, Nanos};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::regulating;
use super::{
    ArbitrationKind, BufferSpec, CAREFREE, DRAM, HostSpec, LevellingKind, LevellingSpec, LifeSpec,
    NO_BUFFER, NO_READS, PlacementKind, ReadCacheKind, ReadSpec, SchedulerKind, Spec, StreamsKind,
    TimingKind, VictimKind, WriteBufferKind,
};

/// Tiny shapes of every kind: pages of 2 to 64 KiB, mapped whole or in units of 4 KiB.
fn shape() -> impl Strategy<Value = Shape> {
    let parts = (1u32..=3, 1u32..=2, 1u32..=2, 1u32..=2);
    let counts = (6u32..=11, 2u32..=6);
    (parts, counts, select(vec![2u64, 4, 8, 16, 32, 64]), any::<bool>()).prop_map(
        |((channels, chips, dies, planes), (blocks, pages), page_kib, split)| Shape {
            channels,
            chips_per_channel: chips,
            dies_per_chip: dies,
            planes_per_die: planes,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            page_size: Bytes::from_kib(page_kib),
            mapping_unit: Bytes::from_kib(if split { page_kib.min(4) } else { page_kib }),
        },
    )
}

fn thresholds() -> impl Strategy<Value = Thresholds> {
    (1u32..=2, 0u32..=2, 0u32..=2, 1u32..=3, 1u32..=9).prop_map(
        |(reserve, early, more, copies, lead)| Thresholds {
            start: reserve + early,
            stop: reserve + 1 + more,
            reserve,
            copies_in_flight: copies,
            host_lead: lead,
        },
    )
}

/// Off in half of the cases.
pub fn triggers() -> impl Strategy<Value = Triggers> {
    let scope = select(vec![Scope::Plane, Scope::Die, Scope::Channel, Scope::Device]);
    let pauses = select(vec![Nanos::ZERO, Nanos::from_micros(300)]);
    let background = (pauses, 1u32..=9).prop_map(|(after, blocks)| Background { after, blocks });
    let on = (
        scope,
        proptest::option::of(background),
        any::<bool>(),
        proptest::option::of(1u32..=3),
        0u32..=4,
        any::<bool>(),
    )
        .prop_map(
            |(scope, background, preemptible, copies_per_write, hard_limit, copyback)| Triggers {
                scope,
                background,
                preemptible,
                copies_per_write,
                hard_limit,
                copyback,
            },
        );
    prop_oneof![Just(Triggers::NONE), on]
}

fn buffer() -> impl Strategy<Value = BufferSpec> {
    let programs = prop_oneof![(1u32..=4).prop_map(Some), Just(None)];
    let latency = select(vec![Nanos::ZERO, DRAM]);
    let counted = (1u32..=24, 0u32..=24, select(vec![Space::Pages, Space::Sectors]));
    // Gating buffers have devices of their own.
    let with_dram =
        |kind: &WriteBufferKind| !matches!(kind, WriteBufferKind::None | WriteBufferKind::Gating);
    let policies: Vec<_> = WriteBufferKind::ALL.iter().copied().filter(with_dram).collect();
    let kept = (select(policies), any::<bool>(), option::weighted(0.3, 1u32..=4));
    let buffered = (counted, kept, programs, latency).prop_map(
        |(
            (capacity, above, space),
            (policy, keeps_reads, write_back_together),
            programs,
            latency,
        )| {
            BufferSpec {
                policy,
                capacity: Some(capacity),
                space,
                // What is appended stays in order, and nothing that was read is.
                keeps_reads: keeps_reads && policy != WriteBufferKind::Append,
                write_back_above: above.min(capacity),
                programs_in_flight: programs,
                write_back_together,
                gate: None,
                latency,
            }
        },
    );
    prop_oneof![1 => Just(NO_BUFFER), 2 => buffered]
}

/// Half of the devices have no front end, the others have everything that one can have.
fn host() -> impl Strategy<Value = HostSpec> {
    let link = select(vec![None, Some(BytesPerSec(300_000_000)), Some(BytesPerSec(3_500_000_000))]);
    let command_time = select(vec![Nanos::ZERO, Nanos(700)]);
    let limits = (1u32..=5, 1u32..=3, prop_oneof![1u32..=8, Just(65_536u32)]);
    let front = (select(ArbitrationKind::ALL), limits, command_time, link).prop_map(
        |(arbitration, (queues, burst, outstanding), command_time, link)| HostSpec {
            queues,
            arbitration,
            burst,
            outstanding,
            command_time,
            link,
            ..HostSpec::default()
        },
    );
    let front = (front, prop_oneof![Just(ProcessorSetup::default()), processor()])
        .prop_map(|(host, processor)| HostSpec { processor, ..host });
    prop_oneof![Just(HostSpec::default()), front]
}

/// A cache of reads, which reads ahead.
fn reads() -> impl Strategy<Value = ReadSpec> {
    (1u32..=6, 0u32..=3).prop_map(|(pages, ahead)| ReadSpec {
        policy: ReadCacheKind::Lru,
        pages,
        ahead,
    })
}

/// A processor that makes others wait.
fn processor() -> impl Strategy<Value = ProcessorSetup> {
    let time = || select(vec![Nanos::ZERO, Nanos(900), Nanos(40_000)]);
    let rate = BytesPerSec(60_000_000);
    let copies = vec![None, Some((Copies::Writes, rate)), Some((Copies::PageBuffer, rate))];
    (time(), time(), time(), select(copies), any::<bool>()).prop_map(
        |(unit, page, poll, copies, waits)| ProcessorSetup {
            unit,
            page,
            poll,
            copies,
            waits,
            ..ProcessorSetup::default()
        },
    )
}

fn levelling() -> impl Strategy<Value = LevellingSpec> {
    (select(LevellingKind::ALL), 2u32..=6, 1u32..=4, 1u32..=4).prop_map(
        |(policy, limit, moves, set_blocks)| LevellingSpec { policy, limit, moves, set_blocks },
    )
}

/// Rows of programs, on half of the devices that have planes for them.
fn multi_plane() -> impl Strategy<Value = MultiPlane> {
    let rules = [AddressRule::SamePage, AddressRule::SameBlockAndPage, AddressRule::Any];
    let rows = (select(rules.to_vec()), 0u64..=1_000).prop_map(|(address, gap)| MultiPlane {
        program: true,
        address,
        gap: Nanos(gap),
        ..MultiPlane::NONE
    });
    prop_oneof![Just(MultiPlane::NONE), rows]
}

/// A device that is as full as the rule of legality allows, or less.
pub fn spec() -> impl Strategy<Value = Spec> {
    let policies = (
        select(SchedulerKind::ALL),
        select(PlacementKind::ALL),
        (select(TimingKind::ALL), regulating::cost()),
        select(VictimKind::ALL),
    );
    let streams = (select(StreamsKind::ALL), 0u8..=3, levelling());
    let flash = (select(vec![512u64, 1024, 2048]), multi_plane());
    let share = prop_oneof![Just(100u32), 40u32..=100];
    let dram = (buffer(), prop_oneof![Just(NO_READS), reads()]);
    (host(), shape(), (thresholds(), triggers()), dram, policies, streams, flash, share).prop_map(
        |(
            host,
            shape,
            (thresholds, triggers),
            (buffer, reads),
            policies,
            (streams, copy_streams, levelling),
            (codeword, multi_plane),
            share,
        )| {
            let (scheduler, placement, (timing, cost), victim) = policies;
            let spec = Spec {
                host,
                shape,
                thresholds,
                triggers,
                buffer,
                reads,
                scheduler,
                placement,
                timing,
                cost,
                streams,
                copy_streams,
                victim,
                life: LifeSpec { levelling, ..CAREFREE },
                codeword: Bytes(codeword),
                abilities: Abilities { multi_plane, ..Abilities::NONE },
                bus: BytesPerSec(200_000_000),
                ..Spec::small()
            };
            let spec = spec.fit_for_packing();
            // Many streams leave nothing of a few blocks.
            let spec = match spec.most_logical_pages() {
                0 => Spec { streams: StreamsKind::Single, copy_streams: 1, ..spec },
                _ => spec,
            };
            let logical_pages = (spec.most_logical_pages() * share / 100).max(1);
            Spec { logical_pages, ..spec }
        },
    )
}

/// One command in terms that fit any device.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub op: Op,
    /// Where, as a share of the device in 1/65536.
    pub place: u32,
    /// In the first eighth of the device only, so that commands meet.
    pub hot: bool,
    /// From the beginning of a page.
    pub aligned: bool,
    /// How many pages' worth of sectors, in eighths of a page.
    pub eighths: u32,
    /// How long after the last submission; often at once.
    pub pause: Nanos,
}

impl Step {
    /// The range of sectors, at least one, on a device of `capacity` sectors.
    pub fn range(&self, capacity: u64, per_page: u32) -> std::ops::Range<u64> {
        let reach = if self.hot { capacity.div_ceil(8) } else { capacity };
        let mut first = u64::from(self.place) * reach / 65_536;
        let mut count = (u64::from(self.eighths) * u64::from(per_page) / 8).max(1);
        if self.aligned {
            first -= first % u64::from(per_page);
            count = count.next_multiple_of(u64::from(per_page));
        }
        first..(first + count).min(capacity)
    }
}

/// Mostly writes, so that tiny devices collect.
pub fn step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        12 => Just(Op::Write),
        6 => Just(Op::Read),
        2 => Just(Op::Trim),
        1 => Just(Op::Flush),
    ];
    let eighths = prop_oneof![1u32..=8, 1u32..=40];
    let pause = prop_oneof![3 => Just(0u64), 1 => 0u64..2_000_000];
    (op, 0u32..65_536, any::<bool>(), any::<bool>(), eighths, pause).prop_map(
        |(op, place, hot, aligned, eighths, pause)| Step {
            op,
            place,
            hot,
            aligned,
            eighths,
            pause: Nanos(pause),
        },
    )
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec(), depth, proptest::collection::vec(step(), steps / 2..=steps))
}
