//! Power cuts on random devices.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, assemble_with, power_up};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Outcome, Request};
use ftlab::units::{Lba, Lpn, Nanos, SimTime};
use ftlab_torture::draw::{self, Settings};
use ftlab_torture::{Load, Versions, finding};

/// A write or trim of a sector.
#[derive(Clone, Copy, Debug)]
struct Change {
    version: u32,
    begun: u64,
    done: Option<u64>,
    durable: bool,
}

struct Bench {
    device: Device<(), Versions>,
    config: Config,
    per_page: u64,
    clock: u64,
    tag: u32,
    sectors: Vec<Vec<Change>>,
    flying: BTreeMap<u32, (Op, Range<u64>, u64, bool)>,
    cuts: u32,
    torn: u64,
    rolled_back: u64,
}

impl Bench {
    fn new(config: Config) -> Bench {
        let setup = DeviceSetup::new(&config, 1);
        let per_page = setup.ftl.geometry.sectors_per_unit();
        let versions: Versions = Versions::new(setup.ftl.geometry.physical_pages(), per_page, ());
        let mut device = assemble_with(setup, (), versions);
        let all = (0..device.ftl().logical_pages()).map(Lpn::new);
        let held: Vec<_> =
            all.filter_map(|page| Some((page, device.ftl().look_up(page)?))).collect();
        device.contents_mut().hold(held.into_iter());
        let never = Change { version: 0, begun: 0, done: Some(0), durable: true };
        let sectors = vec![vec![never]; device.capacity_sectors() as usize];
        Bench {
            device,
            config,
            per_page: per_page.into(),
            clock: 0,
            tag: 0,
            sectors,
            flying: BTreeMap::new(),
            cuts: 0,
            torn: 0,
            rolled_back: 0,
        }
    }

    fn advance(&mut self, limit: SimTime) -> Result<Advanced, String> {
        let mut done = Vec::new();
        let advanced = self.device.advance_until(limit, &mut done);
        let write_through = self.config.options.cache.policy.dram().is_none();
        for (completion, _) in self.device.contents_mut().take_finished() {
            let (op, range, begun, fua) =
                self.flying.remove(&completion.request.tag).expect("it was begun");
            self.clock += 1;
            if completion.outcome != Outcome::Done {
                continue;
            }
            if op == Op::Flush {
                for changes in &mut self.sectors {
                    for change in changes.iter_mut() {
                        change.durable |= change.done.is_some_and(|done| done < begun);
                    }
                }
            }
            for sector in range {
                for change in self.sectors[sector as usize].iter_mut() {
                    if change.begun == begun {
                        change.done = Some(self.clock);
                        change.durable |= write_through || fua || op == Op::Trim;
                    }
                }
            }
        }
        Ok(advanced)
    }

    fn submit(&mut self, op: Op, range: Range<u64>, stream: u32, fua: bool) {
        self.tag += 1;
        self.clock += 1;
        let version = if op == Op::Write { self.tag } else { 0 };
        let per_page = self.per_page;
        let changed = match op {
            Op::Write => range.clone(),
            Op::Trim => {
                let first = range.start.next_multiple_of(per_page);
                first..(range.end - range.end % per_page).max(first)
            }
            _ => 0..0,
        };
        for sector in changed.clone() {
            let change = Change { version, begun: self.clock, done: None, durable: false };
            self.sectors[sector as usize].push(change);
        }
        self.flying.insert(self.tag, (op, changed, self.clock, fua));
        let sectors = (range.end - range.start) as u32;
        let lba = Lba(range.start);
        let request = Request { op, lba, sectors, stream, tag: self.tag, fua };
        self.device.submit(self.device.now(), request);
    }

    fn cut(self) -> Result<Bench, String> {
        let mut bench = self;
        if bench.config.options.power.capacitors.is_on() {
            for change in bench.sectors.iter_mut().flatten() {
                change.durable |= change.done.is_some();
            }
        }
        let remains = bench.device.cut_power();
        let setup = DeviceSetup::new(&bench.config, 1);
        let (device, recovered) =
            power_up(setup, (), remains).map_err(|damage| format!("recovery: {damage}"))?;
        bench.device = device;
        bench.cuts += 1;
        bench.torn += recovered.found.torn;
        bench.rolled_back += recovered.found.rolled_back;
        bench.flying.clear();
        bench.device.audit().map_err(|why| format!("after recovery: {why}"))?;
        bench.read_all()?;
        Ok(bench)
    }

    fn read_all(&mut self) -> Result<(), String> {
        self.tag += 1;
        let (lba, tag) = (Lba(0), self.tag);
        let sectors = self.device.capacity_sectors() as u32;
        let read = Request { op: Op::Read, lba, sectors, stream: 0, tag, fua: false };
        self.device.submit(self.device.now(), read);
        let mut got = None;
        while got.is_none() {
            let advanced = self.device.advance_until(SimTime::FOREVER, &mut Vec::new());
            for (completion, found) in self.device.contents_mut().take_finished() {
                assert_eq!(completion.outcome, Outcome::Done);
                got = Some(found);
            }
            if got.is_none() && advanced == Advanced::Idle {
                return Err("a read never ends".to_owned());
            }
        }
        let mut versions = vec![0; sectors as usize];
        got.into_iter().flatten().for_each(|(sector, version)| versions[sector as usize] = version);
        for (sector, &version) in versions.iter().enumerate() {
            let all = &self.sectors[sector];
            let hidden = |change: &Change| {
                all.iter().any(|next| {
                    next.durable && change.done.is_some_and(|done| done < next.begun)
                })
            };
            if !all.iter().any(|change| change.version == version && !hidden(change)) {
                let page = Lpn::new((sector as u64 / self.per_page) as u32);
                let parts = self.device.ftl().fragments(page);
                return Err(format!(
                    "cut {}: sector {sector} of {page:?} holds {version}, of {all:?}, at {parts:?}",
                    self.cuts
                ));
            }
            self.sectors[sector] =
                vec![Change { version, begun: 0, done: Some(0), durable: true }];
        }
        Ok(())
    }
}

fn settings(stream: &mut Stream) -> Settings {
    loop {
        let mut settings = draw::device(stream);
        let off = ["ftl.slc_cache", "nand.faults", "nand.endurance", "ftl.recovery", "power", "ftl.refresh"];
        settings.retain(|path, _| !off.iter().any(|prefix| path.starts_with(prefix)));
        let policy = if stream.below(2) == 0 { "\"checkpoint\"" } else { "\"scan\"" };
        settings.insert("ftl.recovery.policy", policy.to_owned());
        if policy == "\"checkpoint\"" {
            settings.insert("ftl.recovery.every", "\"64KiB\"".to_owned());
        }
        if stream.below(4) == 0 {
            settings.insert("power.capacitors", "\"on\"".to_owned());
        }
        if draw::load(&settings).is_ok() {
            return settings;
        }
        settings.remove("ftl.recovery.every");
        settings.insert("ftl.recovery.policy", "\"scan\"".to_owned());
        if draw::load(&settings).is_ok() {
            return settings;
        }
    }
}

fn case(seed: u64) -> Result<(String, u32), String> {
    let mut stream = Stream::new(seed, "power");
    let settings = settings(&mut stream);
    let load = Load::draw(&mut stream);
    let name = |path: &str| settings.get(path).cloned().unwrap_or_default();
    let design = format!("{} {}", name("ftl.mapping.policy"), name("ftl.recovery.policy"));
    let run = finding(|| {
        let config = draw::load(&settings).map_err(|problems| format!("{problems:?}"))?;
        let mut bench = Bench::new(config);
        let capacity = bench.device.capacity_sectors();
        let mut steps = load.steps.iter().cycle();
        for _ in 0..6 {
            for _ in 0..stream.below(1 + load.steps.len() as u64) {
                let Some(step) = steps.next() else { break };
                let queue = bench.device.queue_of(step.stream);
                while bench.device.requests_in_flight() >= load.depth
                    || !bench.device.has_room(queue)
                {
                    if bench.advance(SimTime::FOREVER)? == Advanced::Idle {
                        return Err("it stands still".to_owned());
                    }
                }
                let fua = step.op == Op::Write && stream.below(5) == 0;
                bench.submit(step.op, step.range(capacity, bench.per_page), step.stream, fua);
            }
            let magnitude = stream.below(24);
            let until = bench.device.now() + Nanos(stream.below(1 << magnitude));
            while bench.advance(until)? == Advanced::Completed {}
            bench = bench.cut()?;
        }
        Ok(bench.cuts)
    });
    run.map(|cuts| (design.clone(), cuts))
        .map_err(|why| format!("{seed} {design}: {why}\n{}", draw::text(&settings)))
}

#[test]
fn nothing_is_lost() {
    let asked = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (from, cases) = (asked("FROM", 0), asked("CASES", 300));
    let mut failed = BTreeMap::<String, Vec<String>>::new();
    let mut cuts = BTreeMap::<String, u32>::new();
    for seed in from..from + cases {
        match case(seed) {
            Ok((design, done)) => *cuts.entry(design).or_default() += done,
            Err(why) => {
                let kind = why.lines().next().unwrap_or_default().chars().take(160).collect();
                failed.entry(kind).or_default().push(why);
            }
        }
    }
    println!("{cuts:?}");
    for (kind, all) in &failed {
        println!("{kind}");
        if cases == 1 {
            println!("{}", all[0]);
        }
    }
    assert!(failed.is_empty(), "{} failed", failed.len());
}
