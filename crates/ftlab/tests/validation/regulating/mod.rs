//! The cost of writes, and of the reads that follow (`ftl.cost`): every regulator against a naive machine
//! with only its rule, to the nanosecond; sequences worked out by hand; laws for any device.

mod golden;
mod laws;
mod machine;
mod polite;
mod superblocks;

use ftlab::config::{Config, Layer};
use ftlab::device::{Contents, Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::image::Resume;
use ftlab::scheduler::{Kind, Origin, Probe};
use ftlab::units::{Lpn, SimTime};
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::random::Step;
use crate::common::{Spec, assert_no_standstill, request};
use crate::contents::cases;
use machine::{Class, Counts, Item, Machine, Plan, Rule};

/// Sectors of a page.
const PAGE: u64 = 8;

/// The machine of the AGCR paper, with these options.
fn device(sets: &[String]) -> Device {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("agcr")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    assemble(DeviceSetup::new(&config, 1))
}

fn setting(sets: &[&str]) -> Vec<String> {
    sets.iter().map(|&set| set.to_owned()).collect()
}

/// Submits each item at its time, before anything else that happens then, until idle. Returns the latencies.
fn play(device: &mut Device, items: &[Item]) -> Vec<u64> {
    let mut done = Vec::new();
    for (tag, item) in (0..).zip(items) {
        while device.advance_until(SimTime(item.at - 1), &mut done) == Advanced::Completed {}
        device.submit(SimTime(item.at), request(item.op, item.page * PAGE, PAGE as u32, tag));
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert_no_standstill(device);
    done.sort_by_key(|completion| completion.request.tag);
    done.iter().map(|completion| completion.latency().0).collect()
}

/// Performs steps, at most `depth` at once, until the device is idle.
fn drive<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    spec: &Spec,
    depth: usize,
    steps: &[Step],
) {
    let capacity = device.capacity_sectors();
    let mut done = Vec::new();
    for (tag, step) in (0u32..).zip(steps) {
        while device.requests_in_flight() >= depth {
            if device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                assert_no_standstill(device);
            }
        }
        let until = device.now() + step.pause;
        while device.advance_until(until, &mut done) == Advanced::Completed {}
        let range = step.range(capacity, spec.sectors_per_page());
        let sectors = (range.end - range.start) as u32;
        let request = request(step.op, range.start, sectors, tag);
        device.submit(device.now(), Request { stream: tag / 3, ..request });
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert_no_standstill(device);
    assert_eq!(device.audit(), Ok(()));
}

/// Times by class of the copy. Without common divisors: two operations end together only if they began together.
const READ: [u64; 3] = [310_007, 170_003, 70_001];
const PROGRAM: [u64; 3] = [450_011, 600_013, 800_029];

/// A machine's plan and its prepared data.
#[derive(Clone, Copy, Debug)]
struct Run {
    plan: Plan,
    /// The class of prepared data; none if it stays as it was written.
    prior: Option<Class>,
    seed: u64,
}

impl Run {
    /// The same machine as settings of a device: no collection, no bus, no buffer.
    fn sets(&self) -> Vec<String> {
        let name = |class: Class| ["low", "medium", "high"][class as usize];
        let mut sets = setting(&[
            "nand.chips_per_channel=1",
            "nand.planes_per_die=2",
            "nand.blocks_per_plane=64",
            "nand.pages_per_block=16",
            "ftl.over_provisioning=300%",
            "ftl.placement.policy=static",
            "cache.policy=none",
            "cache.latency=0ns",
        ]);
        let Plan { rule, dies, remembers, .. } = self.plan;
        let times = |times: [u64; 3]| times.map(|time| format!("\"{time}ns\"")).join(", ");
        let [low, medium, high] = READ;
        sets.extend([
            format!("nand.channels={dies}"),
            // By the cost of a read.
            format!("nand.timing.read_by_cost=[{}]", times([high, medium, low])),
            format!("nand.timing.program_by_cost=[{}]", times(PROGRAM)),
            format!("ftl.cost.prior={}", self.prior.map_or("as-written", name)),
        ]);
        match rule {
            Rule::Traditional => sets.push("ftl.cost.policy=traditional".into()),
            Rule::HighWrite => sets.push("ftl.cost.policy=high-write".into()),
            Rule::LowWrite => sets.push("ftl.cost.policy=low-write".into()),
            Rule::QueueDriven { anywhere } => {
                sets.push("ftl.cost.policy=queue-driven".into());
                sets.push(format!("ftl.cost.waits={}", if anywhere { "device" } else { "die" }));
            }
            Rule::Agcr { hysteresis, rewrite } => {
                sets.push("ftl.cost.policy=agcr".into());
                let history = if hysteresis { "hysteresis" } else { "last-access" };
                sets.push(format!("ftl.cost.history={history}"));
                sets.push(format!("ftl.cost.rewrite={}", if rewrite { "on" } else { "off" }));
                if rewrite {
                    sets.push(format!("ftl.cost.rewrite_queue={remembers}"));
                }
            }
        }
        sets
    }
}

fn rules() -> impl Strategy<Value = Rule> {
    let queue = any::<bool>().prop_map(|anywhere| Rule::QueueDriven { anywhere });
    let agcr = (any::<bool>(), any::<bool>());
    let agcr = agcr.prop_map(|(hysteresis, rewrite)| Rule::Agcr { hysteresis, rewrite });
    prop_oneof![
        1 => select(&[Rule::Traditional, Rule::HighWrite, Rule::LowWrite][..]),
        2 => queue,
        5 => agcr,
    ]
}

prop_compose! {
    fn runs()(
        rule in rules(),
        dies in 1u64..=4,
        prior in select(&[None, Some(Class::Low), Some(Class::Medium), Some(Class::High)][..]),
        remembers in select(&[1usize, 2, 256][..]),
        seed in any::<u64>(),
    ) -> Run {
        Run { plan: Plan { rule, dies, read: READ, program: PROGRAM, remembers }, prior, seed }
    }
}

/// Pages that are used.
const PAGES: u64 = 24;

/// A load: bursts on few pages, or mostly one request at a time. Without bursts no two requests arrive together, so
/// the order in which dies begin is determined.
fn draw(seed: u64, count: usize, from: u64, bursts: bool) -> Vec<Item> {
    let mut stream = Stream::new(seed, "items");
    let gap = [50_000, 500_000, 5_000_000][stream.below(3) as usize];
    let (pages, writes) = (1 + stream.below(PAGES), 1 + stream.below(99));
    let mut at = from + 1;
    let items = (0..count).map(|_| {
        if !bursts || stream.below(3) > 0 {
            at += 1 + stream.below(gap);
        }
        let op = if stream.below(100) < writes { Op::Write } else { Op::Read };
        Item { at, op, page: stream.below(pages) }
    });
    items.collect()
}

/// The device and the naive machine, side by side.
struct Pair {
    run: Run,
    device: Device,
    machine: Machine,
}

impl Pair {
    fn new(run: Run) -> Pair {
        Pair { run, device: device(&run.sets()), machine: Machine::new(run.plan) }
    }

    /// A time at which both are idle.
    fn rested(&self) -> u64 {
        self.device.now().0.max(self.machine.now()) + 1
    }

    fn play(&mut self, items: &[Item]) -> Result<(), TestCaseError> {
        prop_assert_eq!(play(&mut self.device, items), self.machine.play(items));
        prop_assert_eq!(self.counted(), self.machine.counts);
        for page in 0..PAGES {
            let at = self.device.ftl().look_up(Lpn::new(page as u32));
            let class = at.map(|at| self.device.flash().class_at(at) as usize);
            prop_assert_eq!(
                class,
                self.machine.class_of(page).map(|class| class as usize),
                "page {}",
                page
            );
        }
        Ok(())
    }

    /// The device's counters in the naive machine's terms.
    fn counted(&self) -> Counts {
        let (costs, host) = (self.device.flash().costs(), Origin::Host as usize);
        let [high, medium, low, _] = costs.reads[host];
        let rewrites =
            self.device.rewriter().map(|rewriter| *rewriter.counts()).unwrap_or_default();
        let done = self.device.flash().done()[Origin::Rewrite as usize];
        Counts {
            reads: [low, medium, high],
            reads_of_prior: costs.prior_reads,
            writes: costs.programs[host],
            requested: rewrites.requested,
            done: rewrites.done,
            rewrite_reads: done[Kind::Read as usize],
            rewrite_programs: done[Kind::Program as usize],
        }
    }

    /// Marks the flash content as prepared.
    fn prepared(&mut self) {
        self.device.prepared();
        self.machine.prepared(self.run.prior);
    }

    /// Continues with another device.
    fn reload(&mut self) {
        assert_eq!(self.device.rest(&mut Vec::new()), Ok(()));
        let mut loaded = device(&self.run.sets());
        assert_eq!(loaded.load(&self.device.save(), Resume::ALL), Ok(()));
        self.device = loaded;
        self.machine.counts = Counts::default();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases / 4, ..cases() })]

    /// Every request takes as long as on the naive machine, and flash pages have the same class: before and
    /// after they are marked as prepared, after a trim, and after the device was saved and loaded.
    #[test]
    fn every_request_takes_what_a_naive_machine_takes(run in runs(), reloads in any::<bool>()) {
        let mut pair = Pair::new(run);
        for part in 0..3 {
            let bursts = !matches!(run.plan.rule, Rule::QueueDriven { anywhere: true });
            let items = draw(run.seed.wrapping_add(part), 120, pair.rested(), bursts);
            pair.play(&items)?;
            pair.play(&[Item { at: pair.rested(), op: Op::Trim, page: part }])?;
            if part == 0 {
                pair.prepared();
            }
            if reloads {
                pair.reload();
            }
        }
    }
}
