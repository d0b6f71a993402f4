//! `--precondition fill:90%,age:tolerance=5%`: what the text says, and everything that may be wrong
//! with it.

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::stats::AgeingRule;
use ftlab::units::{Lba, Nanos, Ratio, SECTOR_BYTES, SimTime};
use ftlab_workload::generate::{Scatter, Workload};
use ftlab_workload::replay::{Arrival, Next, Pace, PhaseStart, Source, SourceError, TenantPace};

use super::LoadSource;
use super::ageing::{Age, AgeLoad};
use crate::failure::Failure;
use crate::load;
use crate::result::{ClockDocument, StepDocument};

/// Requests outstanding while a device is prepared.
pub const DEPTH: u32 = 32;
/// What a fill in order writes at once.
const ORDERLY_KIB: u64 = 128;
/// What a random fill writes at once, in sectors.
const RANDOM_SECTORS: u64 = 4096 / SECTOR_BYTES;

/// The longest window of an ageing.
const MOST_ROUNDS: u32 = 1_000;
/// The largest limit of an ageing.
const MOST_DRIVE_WRITES: u32 = 1_000;

/// One step.
pub enum Step {
    /// The device is written once.
    Fill(Fill),
    /// It is overwritten until it is steady.
    Age(Age),
    /// A workload is played.
    Workload {
        /// Which.
        workload: Workload,
        /// The phases that it begins with, none of them measured, and that are left out because the
        /// device is in use already.
        skipped: Vec<String>,
    },
}

impl Step {
    /// The seed from which its load draws: its own, of the run's seed, of how many steps the device went
    /// through before, and of what it is. If it drew from the run's seed, as the measured load does, it
    /// would send the addresses that are measured: what is written together dies together, and write
    /// amplification would come out too low.
    pub fn seed(&self, of_run: u64, steps_before: usize) -> u64 {
        let what = match self {
            Step::Fill(_) => "fill",
            Step::Age(_) => "age",
            Step::Workload { .. } => "workload",
        };
        Stream::new(of_run, &format!("precondition.{steps_before}.{what}")).next_u64()
    }

    /// What it consists of, for the fingerprint of a run.
    pub fn parts(&self) -> String {
        match self {
            Step::Fill(fill) => format!("{fill:?}"),
            Step::Age(Age { rule, load: AgeLoad::Uniform(share), timed }) => {
                format!("{rule:?} {share:?} {timed:?}")
            }
            Step::Age(Age { rule, load: AgeLoad::Own(own), timed }) => {
                format!("{rule:?} {} {timed:?}", json(own))
            }
            Step::Workload { workload, skipped } => format!("{} {skipped:?}", json(workload)),
        }
    }

    /// The share of the device that it is certain to write; none of a workload, which may do anything.
    pub fn share_filled(&self) -> Option<Ratio> {
        match self {
            Step::Fill(fill) => Some(fill.share),
            Step::Age(_) | Step::Workload { .. } => None,
        }
    }
}

/// How the steps are taken up.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Whether the device is in use before the first step.
    pub is_used: bool,
    /// Whether workloads are played with their unmeasured beginnings in any case.
    pub all_phases: bool,
}

/// The device, or its first part, is written once.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    share: Ratio,
    random: bool,
    /// Whether it passes in time though the device could do without.
    pub timed: bool,
}

impl Default for Fill {
    fn default() -> Fill {
        Fill { share: Ratio::ONE, random: false, timed: false }
    }
}

/// Reads the steps. Unless the device is used already, ageing begins with a fill.
pub fn parse(text: &str, start: Start, load: Option<&LoadSource>) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    let mut share = Ratio::ONE;
    for part in text.split(',').map(str::trim) {
        let mut words = part.split(':').map(str::trim);
        match words.next() {
            Some("") | None => {
                return Err(refused(text, "there is a step without a name"));
            }
            Some("fill") => {
                let fill = fill(part, words)?;
                share = fill.share;
                steps.push(Step::Fill(fill));
            }
            Some("age") => {
                if steps.is_empty() && !start.is_used {
                    steps.push(Step::Fill(Fill::default()));
                }
                steps.push(Step::Age(age(part, words, share, load)?));
            }
            Some(_) => {
                let workload = load::workload(part)?;
                let is_used = start.is_used || !steps.is_empty();
                let skipped = match is_used && !start.all_phases {
                    true => workload.unmeasured_lead(),
                    false => Vec::new(),
                };
                steps.push(Step::Workload { workload, skipped });
            }
        }
    }
    Ok(steps)
}

const REMEDY: &str = "write steps with commas between them: fill, fill:90%, fill:random, fill:timed, \
                      age, age:self, age:timed, age:tolerance=5%:window=5:round=20%:limit=20, or workloads";

fn refused(part: &str, why: &str) -> Failure {
    Failure::usage(format!("--precondition {part}: {why}\n  remedy: {REMEDY}"))
}

fn percent(part: &str, text: &str, most: u32) -> Result<Ratio, Failure> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let ppm = number.map(|number| (number * 1e4).round());
    let fits = |ppm: &f64| *ppm >= 1.0 && *ppm <= f64::from(Ratio::percent(most).ppm);
    match ppm.filter(fits) {
        Some(ppm) => Ok(Ratio { ppm: ppm as u32 }),
        None => Err(refused(part, &format!("{text} is no share between 0 % and {most} %"))),
    }
}

fn fill<'a>(part: &str, words: impl Iterator<Item = &'a str>) -> Result<Fill, Failure> {
    let mut fill = Fill::default();
    for word in words {
        match word {
            "random" => fill.random = true,
            "sequential" => fill.random = false,
            "timed" => fill.timed = true,
            "untimed" => fill.timed = false,
            share if share.ends_with('%') => fill.share = percent(part, share, 100)?,
            other => {
                let why = format!(
                    "a fill takes a share, random or sequential, timed or untimed, not {other}"
                );
                return Err(refused(part, &why));
            }
        }
    }
    Ok(fill)
}

fn age<'a>(
    part: &str,
    words: impl Iterator<Item = &'a str>,
    share: Ratio,
    load: Option<&LoadSource>,
) -> Result<Age, Failure> {
    let load_of_fill = AgeLoad::Uniform(share);
    let mut age = Age { rule: AgeingRule::default(), load: load_of_fill, timed: false };
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let number = |least: u32, most: u32, unit: &str| {
            let number = value.strip_suffix('x').unwrap_or(value).parse().ok();
            number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
                let why =
                    format!("{key} is a number of {unit} from {least} to {most}, not {value:?}");
                refused(part, &why)
            })
        };
        match key {
            "self" if value.is_empty() => age.load = own_load(part, load)?,
            "timed" if value.is_empty() => age.timed = true,
            "untimed" if value.is_empty() => age.timed = false,
            "round" => age.rule.round = percent(part, value, 100)?,
            "tolerance" => age.rule.tolerance = percent(part, value, 100)?,
            "window" => age.rule.window = number(2, MOST_ROUNDS, "rounds")?,
            "limit" => age.rule.limit_drive_writes = number(1, MOST_DRIVE_WRITES, "drive writes")?,
            other => {
                let why = format!(
                    "ageing takes self, timed or untimed, round, tolerance, window and limit, not {other}"
                );
                return Err(refused(part, &why));
            }
        }
    }
    let rounds = u64::from(age.rule.window) * u64::from(age.rule.round.ppm);
    if rounds > u64::from(age.rule.limit_drive_writes) * u64::from(Ratio::ONE.ppm) {
        let why = "the limit, in drive writes, ends before a window of rounds is full";
        return Err(refused(part, why));
    }
    Ok(age)
}

fn own_load(part: &str, load: Option<&LoadSource>) -> Result<AgeLoad, Failure> {
    match load {
        Some(LoadSource::Workload(workload)) if writes(workload) => {
            Ok(AgeLoad::Own(workload.clone()))
        }
        Some(LoadSource::Workload(_)) => {
            Err(refused(part, "what is measured writes nothing, so it does not age a device"))
        }
        _ => Err(refused(part, "only a workload that is measured can be repeated as ageing")),
    }
}

fn writes(workload: &Workload) -> bool {
    workload.phases.iter().any(|phase| phase.measure && phase.mix.writes.ppm > 0)
}

impl Fill {
    /// A fill in order is a workload like any other.
    pub fn in_order(&self) -> Option<Workload> {
        let text = format!(
            "name = \"fill\"\n[[phase]]\nname = \"fill\"\nmeasure = false\nwrites = \"100%\"\n\
             size = \"{ORDERLY_KIB}KiB\"\nalign = \"4KiB\"\naddress = {{ kind = \"sequential\" }}\n\
             arrivals = {{ kind = \"closed\", queue_depth = {DEPTH} }}\nbytes = \"{}\"\n",
            self.share
        );
        (!self.random).then(|| own_workload("fill", &text))
    }

    /// How many requests a fill in order has.
    pub fn requests(&self, capacity_sectors: u64) -> u64 {
        self.sectors(capacity_sectors).div_ceil(ORDERLY_KIB * 1024 / SECTOR_BYTES)
    }

    /// How many of these have written the sectors before `end`.
    pub fn requests_until(&self, end: u64) -> u64 {
        end.div_ceil(ORDERLY_KIB * 1024 / SECTOR_BYTES)
    }

    /// A fill at random: each place once, in an order that follows from the seed.
    pub fn at_random(&self, capacity_sectors: u64, seed: u64) -> RandomFill {
        let sectors = self.sectors(capacity_sectors);
        let places = sectors.div_ceil(RANDOM_SECTORS);
        let order = Scatter::drawn(places, &mut Stream::new(seed, "fill"));
        RandomFill { begun: false, next: 0, places, sectors, order }
    }

    /// Whether places are written in an order that the seed gives.
    pub fn is_random(&self) -> bool {
        self.random
    }

    /// How many sectors are written.
    pub fn sectors(&self, capacity_sectors: u64) -> u64 {
        self.share.of(capacity_sectors).max(1)
    }

    /// What results say of it.
    pub fn document(&self, capacity_sectors: u64, clock: ClockDocument) -> StepDocument {
        StepDocument::Fill {
            order: if self.random { "random" } else { "sequential" },
            share_ratio: f64::from(self.share.ppm) / f64::from(Ratio::ONE.ppm),
            written_bytes: self.sectors(capacity_sectors) * SECTOR_BYTES,
            clock,
        }
    }
}

/// A workload, whatever its file is called.
pub fn json(workload: &Workload) -> String {
    serde_json::to_string(workload).expect("a workload is plain data")
}

/// A workload whose text is written here.
pub fn own_workload(name: &str, text: &str) -> Workload {
    let mut none = |file: &str| Err(format!("{file} is not asked for"));
    Workload::parse(name, text, &mut none).expect("a text of our own is in order")
}

/// A source of which is known how many requests it has.
pub struct Counted<S> {
    /// Which.
    pub source: S,
    /// So many.
    pub total: u64,
}

impl<S: Source> Source for Counted<S> {
    fn next(&mut self) -> Result<Next, SourceError> {
        self.source.next()
    }

    fn skip_phase(&mut self) {
        self.source.skip_phase();
    }

    fn tenants(&self) -> Vec<TenantPace> {
        self.source.tenants()
    }

    fn next_of(&mut self, tenant: usize) -> Result<Option<Arrival>, SourceError> {
        self.source.next_of(tenant)
    }

    fn total(&self) -> Option<u64> {
        Some(self.total)
    }
}

/// Writes each place once.
pub struct RandomFill {
    begun: bool,
    next: u64,
    places: u64,
    sectors: u64,
    order: Scatter,
}

impl Source for RandomFill {
    fn next(&mut self) -> Result<Next, SourceError> {
        if !std::mem::replace(&mut self.begun, true) {
            let pace = Pace::Closed { depth: DEPTH, think_time: Nanos::ZERO };
            return Ok(Next::Phase(PhaseStart { pace, ..PhaseStart::timed(0, false) }));
        }
        if self.next == self.places {
            return Ok(Next::End);
        }
        let first = self.order.place(self.next) * RANDOM_SECTORS;
        self.next += 1;
        Ok(Next::Request(Arrival {
            at: SimTime::ZERO,
            op: Op::Write,
            lba: Lba(first),
            sectors: RANDOM_SECTORS.min(self.sectors - first) as u32,
            stream: 0,
            fua: false,
        }))
    }

    fn skip_phase(&mut self) {
        self.next = self.places;
    }

    fn total(&self) -> Option<u64> {
        Some(self.places)
    }
}
