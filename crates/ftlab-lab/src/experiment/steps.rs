//! Parses the steps of a preparation, such as `fill:90%,age:tolerance=5%`.

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

/// The queue depth while a device is prepared.
pub const DEPTH: u32 = 32;
/// The size of a request of a sequential fill.
const ORDERLY_KIB: u64 = 128;
/// The size of a request of a random fill, in sectors.
const RANDOM_SECTORS: u64 = 4096 / SECTOR_BYTES;

/// The longest window of an ageing, in rounds.
const MOST_ROUNDS: u32 = 1_000;
/// The largest limit of an ageing.
const MOST_DRIVE_WRITES: u32 = 1_000;

/// A step of preparation.
pub enum Step {
    /// Writes the device once.
    Fill(Fill),
    /// Overwrites it until it is steady.
    Age(Age),
    /// Plays a workload.
    Workload {
        /// The workload.
        workload: Workload,
        /// The unmeasured phases at its beginning that are skipped because the device is in use.
        skipped: Vec<String>,
    },
}

impl Step {
    /// Returns the seed of the step's load. It depends on the run's seed, on the number of steps
    /// before it, and on the kind of step. With the run's own seed it would send the same addresses
    /// as the measured load: pages written together would become invalid together, and write
    /// amplification would be too low.
    pub fn seed(&self, of_run: u64, steps_before: usize) -> u64 {
        let what = match self {
            Step::Fill(_) => "fill",
            Step::Age(_) => "age",
            Step::Workload { .. } => "workload",
        };
        Stream::new(of_run, &format!("precondition.{steps_before}.{what}")).next_u64()
    }

    /// Returns its parts, for the fingerprint of a run.
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

    /// Returns the share of the device that it is certain to write; `None` for a workload, which
    /// may do anything.
    pub fn share_filled(&self) -> Option<Ratio> {
        match self {
            Step::Fill(fill) => Some(fill.share),
            Step::Age(_) | Step::Workload { .. } => None,
        }
    }
}

/// The conditions before the first step.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Whether the device is in use already.
    pub is_used: bool,
    /// Whether workloads always play their unmeasured beginnings.
    pub all_phases: bool,
}

/// Writes the device, or its first part, once.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    share: Ratio,
    random: bool,
    /// Whether the user wants it simulated in time.
    pub timed: bool,
}

impl Default for Fill {
    fn default() -> Fill {
        Fill { share: Ratio::ONE, random: false, timed: false }
    }
}

/// Parses the steps. Unless the device is in use, ageing starts with a fill.
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

const REMEDY: &str = "write steps separated by commas: fill, fill:90%, fill:random, fill:timed, \
                      age, age:self, age:timed, age:tolerance=5%:window=5:round=20%:limit=20, or workloads";

fn refused(part: &str, why: &str) -> Failure {
    Failure::usage(format!("`precondition` {part}: {why}\n  remedy: {REMEDY}"))
}

fn percent(part: &str, text: &str, most: u32) -> Result<Ratio, Failure> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let ppm = number.map(|number| (number * 1e4).round());
    let fits = |ppm: &f64| *ppm >= 1.0 && *ppm <= f64::from(Ratio::percent(most).ppm);
    match ppm.filter(fits) {
        Some(ppm) => Ok(Ratio { ppm: ppm as u32 }),
        None => Err(refused(part, &format!("{text} is not a share between 0 % and {most} %"))),
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
            Ok(AgeLoad::Own(workload.as_ref().clone()))
        }
        Some(LoadSource::Workload(_)) => {
            Err(refused(part, "the measured load writes nothing, so it cannot age a device"))
        }
        _ => Err(refused(part, "only a measured workload can be repeated as ageing")),
    }
}

fn writes(workload: &Workload) -> bool {
    workload.phases.iter().any(|phase| phase.measure && phase.mix.writes.ppm > 0)
}

impl Fill {
    /// Returns a sequential fill as a workload; `None` for a random fill.
    pub fn in_order(&self) -> Option<Workload> {
        let text = format!(
            "name = \"fill\"\n[[phase]]\nname = \"fill\"\nmeasure = false\nwrites = \"100%\"\n\
             size = \"{ORDERLY_KIB}KiB\"\nalign = \"4KiB\"\naddress = {{ kind = \"sequential\" }}\n\
             arrivals = {{ kind = \"closed\", queue_depth = {DEPTH} }}\nbytes = \"{}\"\n",
            self.share
        );
        (!self.random).then(|| own_workload("fill", &text))
    }

    /// Returns the number of requests of a sequential fill.
    pub fn requests(&self, capacity_sectors: u64) -> u64 {
        self.sectors(capacity_sectors).div_ceil(ORDERLY_KIB * 1024 / SECTOR_BYTES)
    }

    /// Returns how many requests of a sequential fill write the sectors before `end`.
    pub fn requests_until(&self, end: u64) -> u64 {
        end.div_ceil(ORDERLY_KIB * 1024 / SECTOR_BYTES)
    }

    /// Returns a random fill: each place once, in an order drawn from the seed.
    pub fn at_random(&self, capacity_sectors: u64, seed: u64) -> RandomFill {
        let sectors = self.sectors(capacity_sectors);
        let places = sectors.div_ceil(RANDOM_SECTORS);
        let order = Scatter::drawn(places, &mut Stream::new(seed, "fill"));
        RandomFill { begun: false, next: 0, places, sectors, order }
    }

    pub fn is_random(&self) -> bool {
        self.random
    }

    /// Returns how many sectors are written.
    pub fn sectors(&self, capacity_sectors: u64) -> u64 {
        self.share.of(capacity_sectors).max(1)
    }

    /// Returns the step in results, when it has written so many sectors.
    pub fn document(&self, written_sectors: u64, clock: ClockDocument) -> StepDocument {
        StepDocument::Fill {
            order: if self.random { "random" } else { "sequential" },
            share_ratio: f64::from(self.share.ppm) / f64::from(Ratio::ONE.ppm),
            written_bytes: written_sectors * SECTOR_BYTES,
            clock,
        }
    }
}

/// Serialises a workload, without the name of its file.
pub fn json(workload: &Workload) -> String {
    serde_json::to_string(workload).expect("a workload is plain data")
}

/// Parses a workload whose text is built in.
pub fn own_workload(name: &str, text: &str) -> Workload {
    let mut none = |file: &str| Err(format!("{file} is not asked for"));
    Workload::parse(name, text, &mut none).expect("a text of our own is in order")
}

/// A source with a known number of requests.
pub struct Counted<S> {
    /// The source.
    pub source: S,
    /// The number of requests.
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

/// Writes each place once, in a random order.
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
