//! A device runs on the smallest set of skills that holds what it has, and on each larger one it does the same: every
//! submission and completion, every count and every byte at rest, whatever the device and the load.

use ftlab::device::{Device, assemble};
use ftlab::engine::skills::{ALL, COMMON, PLAIN, Skills};
use ftlab::ftl::gc::Triggers;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::nand::{Abilities, MultiPlane};
use ftlab::shape::Shape;
use ftlab::units::{Lba, SimTime};
use proptest::prelude::*;

use crate::common::random::{self, Step};
use crate::common::{
    BufferSpec, CAREFREE, HostSpec, LifeSpec, MappingKind, NO_BUFFER, NO_READS, SchedulerKind,
    Spec, TimingKind, assert_no_standstill,
};

/// Commands of a run.
const STEPS: usize = 700;

/// What may be left of a random device so that a set holds it.
fn cut_down(spec: Spec, set: Skills) -> Spec {
    let shape = spec.shape;
    let spec = Spec {
        host: HostSpec::default(),
        reads: NO_READS,
        triggers: Triggers::NONE,
        life: carefree(&spec),
        buffer: match spec.buffer.packs() {
            true => NO_BUFFER,
            false => BufferSpec { keeps_reads: false, ..spec.buffer.clone() },
        },
        timing: TimingKind::Plain,
        mapping: MappingKind::Page,
        ..spec
    };
    if set == COMMON {
        return legal(spec);
    }
    legal(Spec {
        // A flash page is a mapping unit, and a die does one thing at a time, in its turn.
        shape: Shape { mapping_unit: shape.page_size, planes_per_die: 1, ..shape },
        abilities: Abilities { multi_plane: MultiPlane::NONE, ..spec.abilities },
        scheduler: SchedulerKind::Fifo,
        ..spec
    })
}

/// As full as what is left of it can work.
fn legal(spec: Spec) -> Spec {
    let logical_pages = spec.logical_pages.min(spec.most_logical_pages());
    Spec { logical_pages, ..spec }
}

/// Wear levelling as it is, and nothing that fails.
fn carefree(spec: &Spec) -> LifeSpec {
    LifeSpec { levelling: spec.life.levelling, ..CAREFREE }
}

/// All that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    done: Vec<Completion>,
    now: SimTime,
    counts: String,
    image: String,
}

fn run(mut device: Device, depth: usize, steps: &[Step], per_page: u32) -> Seen {
    let capacity = device.capacity_sectors();
    let (mut seen, mut done) = (Vec::new(), Vec::new());
    let advance = |device: &mut Device, limit, seen: &mut Vec<Completion>, done: &mut Vec<_>| {
        let advanced = device.advance_until(limit, done);
        seen.append(done);
        advanced
    };
    for (tag, step) in (0..).zip(steps) {
        let at = device.now() + step.pause;
        while advance(&mut device, at, &mut seen, &mut done) == Advanced::Completed {}
        while device.requests_in_flight() >= depth {
            let advanced = advance(&mut device, SimTime::FOREVER, &mut seen, &mut done);
            assert_eq!(advanced, Advanced::Completed, "the device stands still");
        }
        let range = step.range(capacity, per_page);
        let (lba, sectors) = match step.op {
            Op::Flush => (Lba(0), 0),
            _ => (Lba(range.start), (range.end - range.start) as u32),
        };
        let request =
            Request { op: step.op, lba, sectors, stream: tag % 3, tag, fua: tag % 7 == 0 };
        device.submit(device.now(), request);
    }
    while advance(&mut device, SimTime::FOREVER, &mut seen, &mut done) != Advanced::Idle {}
    assert_no_standstill(&device);
    assert_eq!(device.ftl().audit(), Ok(()));
    let counts = format!(
        "{:?} {:?} {:?} {:?}",
        device.ftl_counts(),
        device.buffer_counts(),
        device.flash().done(),
        device.flash().overlaps(),
    );
    device.rest(&mut done).expect("nothing is on its way");
    let (now, image) = (device.now(), format!("{:?}", device.save()));
    Seen { done: seen, now, counts, image }
}

/// Runs a case on each set that holds the device.
fn compare(spec: &Spec, depth: usize, steps: &[Step], least: Skills) -> Result<(), TestCaseError> {
    prop_assume!(spec.logical_pages > 0);
    let per_page = (spec.shape.mapping_unit.0 / 512) as u32;
    let device = assemble(spec.setup());
    // Otherwise it would be compared with itself. Too many that are turned away fail the test.
    prop_assume!(device.skills() == least);
    let own = run(device, depth, steps, per_page);
    for set in [COMMON, ALL] {
        let mut device = assemble(spec.setup());
        device.use_skills(set);
        prop_assert_eq!(&run(device, depth, steps, per_page), &own);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn plain_devices_do_the_same_on_every_set((spec, depth, steps) in random::run(STEPS)) {
        compare(&cut_down(spec, PLAIN), depth, &steps, PLAIN)?;
    }

    #[test]
    fn common_devices_do_the_same_on_every_set((spec, depth, steps) in random::run(STEPS)) {
        let mut spec = cut_down(spec, COMMON);
        // Whatever else was drawn, one skill that plain devices lack.
        spec.scheduler = SchedulerKind::ReadFirst;
        compare(&spec, depth, &steps, COMMON)?;
    }
}
