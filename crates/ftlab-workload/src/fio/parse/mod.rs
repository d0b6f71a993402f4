//! Converts sections to jobs: `meaning.rs` reads every option, and all problems are collected.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::config::{Problem, Problems, SourcePlace};
use ftlab::options::text::{clip, nearest};
use ftlab::units::{Nanos, SECTOR_BYTES};

mod meaning;

use super::JobFile;
use super::job::{
    Amounts, Distribution, Flush, Job, JobTarget, Mix, Modifier, PERCENTILES, Pace, Queue,
    RandomOrder, Reporting, Service, Sizes, Think, Time, ZoneMode, Zones, is_device,
};
use super::options::{self, OPTIONS, Support, option};
use super::placement::{Hints, Select, scheme};
use super::text::{MAX_JOBS, OptionLine, Section, Surroundings, sections};
use super::values::{Amount, Bad, NumberBase, bad, switch};
use super::zbd::ZbdOptions;

/// The most problems of a file that are reported.
pub(super) const MOST_PROBLEMS: usize = 500;

impl JobFile {
    /// Parses a job file. `file` is its name in messages; included files and variables come from
    /// `around`.
    pub fn parse(
        file: &str,
        text: &str,
        around: &mut dyn Surroundings,
    ) -> Result<JobFile, Problems> {
        // Some editors start a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut problems = Vec::new();
        let mut around = Noting { around, variables: BTreeMap::new() };
        let sections = sections(file, text, &mut around, &mut problems);
        if sections.is_empty() && problems.is_empty() {
            let message = "the file has no job".to_owned();
            let place = Some(SourcePlace::new(file, &text.into(), 0..0));
            let remedy = "add a section with a name of its own, such as [job]".to_owned();
            problems.push(Problem { path: String::new(), message, remedy, place });
        }
        if let Some(extra) = sections.get(MAX_JOBS) {
            let place = Some(extra.place.clone());
            let message = format!("more than {MAX_JOBS} jobs");
            let remedy = "use numjobs, or split the file".to_owned();
            problems.push(Problem { path: String::new(), message, remedy, place });
            return Err(Problems { problems });
        }
        let mut notes = Vec::new();
        let jobs: Vec<Job> = sections
            .iter()
            .filter_map(|section| {
                Draft::read(section, &mut around, &mut problems)?.finish(&mut problems, &mut notes)
            })
            .collect();
        // Options of [global] are read for each job; their problems are reported once.
        let mut told = BTreeSet::new();
        problems.retain(|Problem { path, message, place, .. }| {
            // Not the whole place, because it contains all of the text.
            let place = place.as_ref().map(|place| (place.label.clone(), place.span.start));
            told.insert((path.clone(), message.clone(), place))
        });
        if !problems.is_empty() {
            return Err(Problems { problems });
        }
        notes.dedup();
        let global =
            sections.last().map_or(Vec::new(), |last| written(&last.entries[..last.inherited]));
        let (name, text, variables) = (file.to_owned(), text.to_owned(), around.variables);
        Ok(JobFile { name, text, variables, global, jobs, notes })
    }
}

/// Records which variables were used.
struct Noting<'a> {
    around: &'a mut dyn Surroundings,
    variables: BTreeMap<String, String>,
}

impl Surroundings for Noting<'_> {
    fn file(&mut self, name: &str) -> Result<String, String> {
        self.around.file(name)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let value = self.around.variable(name)?;
        self.variables.insert(name.to_owned(), value.clone());
        Some(value)
    }
}

/// A job while it is being parsed.
struct Draft {
    job: Job,
    base: NumberBase,
    synchronous: bool,
    /// Whether the engine is fio's null engine.
    idle: bool,
    depth: u32,
    low: Option<u32>,
    complete_min: u32,
    zoned: ZoneMode,
    zbd: ZbdOptions,
    /// Whether writes carry a placement identifier.
    places: bool,
    hints: Hints,
    zone: [u64; 2],
    zone_skip: Amount,
    rate_iops: [Option<u64>; 3],
    think: Option<Nanos>,
    think_blocks: Option<u64>,
    think_at_issue: bool,
    think_io_time: Option<Nanos>,
    read_share: Option<u64>,
    mixed: bool,
    modifier: Option<u64>,
    identical: bool,
    map: bool,
    lfsr: bool,
}

impl Draft {
    fn new(section: &Section) -> Draft {
        let fixed = || Sizes::Fixed(u32::try_from(4096 / SECTOR_BYTES).expect("eight"));
        let job = Job {
            name: section.name.clone(),
            place: section.place.clone(),
            mix: Mix::Read,
            random: false,
            modifier: Modifier::None,
            random_share: [Job::ALL; 3],
            sizes: [fixed(), fixed(), fixed()],
            align: [None; 3],
            order: RandomOrder::Map,
            distribution: [const { Distribution::Uniform }; 3],
            seed: None,
            target: JobTarget {
                names: None,
                files: 1,
                service: Service::RoundRobin(1),
                overwrite: false,
                fill_device: false,
            },
            amounts: Amounts {
                size: None,
                io_size: None,
                file_size: None,
                offset: Amount::Sectors(0),
                offset_increment: Amount::Sectors(0),
                offset_align: 1,
                requests: None,
                loops: 1,
            },
            zones: None,
            zbd: None,
            placement: None,
            clones: 1,
            queue: Queue { depth: 1, refill_at: 0 },
            time: Time {
                delay: (Nanos::ZERO, Nanos::ZERO),
                ramp: Nanos::ZERO,
                runtime: None,
                time_based: false,
            },
            pace: Pace { rate: [None; 3], poisson: false, think: None },
            flush: Flush::default(),
            stonewall: false,
            ends_group: false,
            report: Reporting {
                grouped: false,
                begins_group: false,
                submits: false,
                depth: 1,
                slat: false,
                clat: true,
                lat: false,
                percentiles: PERCENTILES.to_vec(),
                options: written(&section.entries[section.inherited..]),
            },
        };
        Draft {
            job,
            base: NumberBase { decimal: false },
            // fio's default on Linux.
            synchronous: true,
            idle: false,
            depth: 1,
            low: None,
            complete_min: 1,
            zoned: ZoneMode::None,
            zbd: ZbdOptions::default(),
            places: false,
            hints: Hints { identifiers: Vec::new(), select: Select::RoundRobin },
            zone: [0; 2],
            zone_skip: Amount::Sectors(0),
            rate_iops: [None; 3],
            think: None,
            think_blocks: None,
            think_at_issue: false,
            think_io_time: None,
            read_share: None,
            mixed: false,
            modifier: None,
            identical: false,
            map: true,
            lfsr: false,
        }
    }

    /// Reads all options of a section; `None` if one of them is wrong.
    fn read(
        section: &Section,
        around: &mut dyn Surroundings,
        problems: &mut Vec<Problem>,
    ) -> Option<Draft> {
        let mut draft = Draft::new(section);
        let before = problems.len();
        // kb_base applies to all numbers, wherever it is written.
        for entry in section.entries.iter().filter(|entry| entry.name == "kb_base") {
            match entry.value.as_deref() {
                Some("1000") => draft.base = NumberBase { decimal: true },
                Some("1024") => draft.base = NumberBase { decimal: false },
                _ => problems.push(problem(entry, "neither 1024 nor 1000", "write one of them")),
            }
        }
        for (at, entry) in section.entries.iter().enumerate() {
            let own = at >= section.inherited;
            if problems.len() == MOST_PROBLEMS {
                let message = format!("{MOST_PROBLEMS} problems were found before this line");
                problems.push(problem(entry, &message, "fix those first"));
            }
            // Each unknown name costs a search for similar names, and nobody reads thousands of
            // problems.
            if problems.len() > MOST_PROBLEMS {
                break;
            }
            match draft.entry(entry, own) {
                Ok(()) => {}
                Err((message, remedy)) => problems.push(problem(entry, &message, &remedy)),
            }
        }
        if problems.len() == before
            && let Err(problem) = draft.read_scheme(section, around)
        {
            problems.push(*problem);
        }
        (problems.len() == before).then_some(draft)
    }

    /// Reads the file that names an identifier for each range, if the job goes by one.
    fn read_scheme(
        &mut self,
        section: &Section,
        around: &mut dyn Surroundings,
    ) -> Result<(), Box<Problem>> {
        let Select::Scheme(spans) = &mut self.hints.select else { return Ok(()) };
        let named = |name: &str| {
            section
                .entries
                .iter()
                .rfind(|entry| option(&entry.name).is_some_and(|it| it.name == name))
        };
        let Some(entry) = named("dp_scheme") else {
            let entry = named("fdp_pli_select").expect("it chose the scheme");
            return Err(Box::new(problem(
                entry,
                "there is no scheme to go by",
                "give dp_scheme=FILE",
            )));
        };
        let name = entry.value.as_deref().unwrap_or_default();
        let text = around.file(name).map_err(|error| {
            Box::new(problem(
                entry,
                &format!("{}: {error}", clip(name)),
                "name a file that can be read",
            ))
        })?;
        *spans = scheme(&text)
            .map_err(|(message, remedy)| Box::new(problem(entry, &message, &remedy)))?;
        Ok(())
    }

    fn entry(&mut self, entry: &OptionLine, own: bool) -> Result<(), Bad> {
        let Some(option) = option(&entry.name) else {
            let names = OPTIONS.iter().flat_map(options::JobOption::names);
            let near = nearest(&entry.name, names)
                .map_or(String::new(), |near| format!("did you mean {near}? "));
            let remedy = format!("{near}docs/reference/fio.md lists every option");
            return bad("not an option of fio 3.33", remedy);
        };
        match (option.standing, &entry.value) {
            (Support::NoEffect(_), _) => Ok(()),
            (Support::Refused { .. }, Some(value)) if options::is_off(value) => Ok(()),
            (Support::Refused { why, remedy }, _) => bad(why, remedy),
            (Support::Honoured(_), None) if !option.bare => {
                bad("a value is missing", format!("write {}=VALUE", option.name))
            }
            (Support::Honoured(_), value) => {
                self.honour(option.name, value.as_deref().unwrap_or("1"), own)
            }
        }
    }

    fn honour(&mut self, name: &str, value: &str, own: bool) -> Result<(), Bad> {
        let known = self.target(name, value)? || self.pattern(name, value)?;
        if known || self.pace(name, value)? || self.report(name, value)? {
            return Ok(());
        }
        let job = &mut self.job;
        match name {
            "kb_base" => {}
            "name" => job.name = value.to_owned(),
            // As in fio, a stonewall in [global] applies to every job.
            "stonewall" => job.stonewall = switch(value)? || (job.stonewall && !own),
            "exitall" => job.ends_group = switch(value)?,
            other => unreachable!("the table honours {other}, and nobody reads it"),
        }
        Ok(())
    }

    /// Combines the options to a job.
    fn finish(mut self, problems: &mut Vec<Problem>, notes: &mut Vec<String>) -> Option<Job> {
        let before = problems.len();
        let place = self.job.place.clone();
        let mut wrong = |path: &str, message: &str, remedy: &str| {
            let (path, message) = (path.to_owned(), message.to_owned());
            let (remedy, place) = (remedy.to_owned(), Some(place.clone()));
            problems.push(Problem { path, message, remedy, place });
        };
        let job = &mut self.job;
        if self.mixed {
            job.mix = Mix::Mixed(self.read_share.unwrap_or(Job::ALL / 2));
        }
        job.modifier = match self.modifier {
            Some(requests) if job.random => Modifier::Every { requests, identical: self.identical },
            Some(hole) => Modifier::Skip(hole),
            None => Modifier::None,
        };
        let skewed = job.distribution.iter().any(|d| *d != Distribution::Uniform);
        let aligned = job.align.iter().any(Option::is_some);
        job.order = match (self.lfsr, self.map && !skewed && !aligned) {
            (true, true) => RandomOrder::Permuted,
            (false, true) => RandomOrder::Map,
            (_, false) => RandomOrder::Free,
        };
        if job.overshoots() {
            notes.push(format!(
                "job {}: its random places are counted in the smallest of the sizes of reads, writes \
                 and trims; as in fio 3.33, one that lies beyond the end for its own size ends the pass, \
                 often early; {}",
                clip(&job.name),
                match job.order {
                    RandomOrder::Free => "give all directions one size, and no blockalign",
                    _ => "norandommap, or one size for all, reaches every place",
                }
            ));
        }
        self.queue(notes);
        let job = &mut self.job;
        for (direction, limit) in self.rate_iops.into_iter().enumerate() {
            if let Some(limit) = limit {
                // As in fio, in requests of the smallest size.
                let bytes = u64::from(job.sizes[direction].smallest()) * SECTOR_BYTES;
                job.pace.rate[direction] = Some(limit.saturating_mul(bytes));
            }
        }
        job.pace.rate = job.pace.rate.map(|rate| rate.filter(|rate| *rate > 0));
        job.pace.think = self.think.map(|time| Think {
            time,
            every_requests: self.think_blocks.unwrap_or(match self.think_io_time {
                Some(_) => u64::MAX,
                None => 1,
            }),
            at_issue: self.think_at_issue,
            every_time: self.think_io_time,
        });
        job.placement = self.places.then_some(self.hints);
        if self.zoned == ZoneMode::Zbd {
            let size = Some(self.zone[0]).filter(|size| *size > 0);
            job.zbd = Some(ZbdOptions { size, skip: self.zone_skip, ..self.zbd });
        } else if job.amounts.has_zones() || matches!(self.zone_skip, Amount::Zones(_)) {
            wrong("zonemode", "a number of zones, and none are kept in mind", "give zonemode=zbd");
        }
        if self.zoned == ZoneMode::Strided {
            let ([size, range], skip) = (self.zone, self.zone_skip.of(0));
            if size == 0 {
                wrong("zonesize", "strided zones without a size", "give zonesize");
            }
            if job.random {
                wrong("zonemode", "random requests in strided zones", "use a sequential rw");
            }
            job.zones = Some(Zones { size, range: if range == 0 { size } else { range }, skip });
        }
        check(job, &mut wrong);
        (problems.len() == before).then_some(self.job)
    }

    fn queue(&mut self, notes: &mut Vec<String>) {
        let asked = self.depth;
        if self.synchronous && asked > 1 {
            notes.push(format!(
                "job {}: its engine waits for each request, so iodepth={asked} counts as 1, as in \
                 fio; ioengine=libaio keeps {asked} outstanding",
                clip(&self.job.name)
            ));
        }
        let depth = if self.synchronous { 1 } else { asked };
        let report = &mut self.job.report;
        // An engine that does nothing and waits for it has no submission latency.
        let waits = self.synchronous || (self.idle && depth == 1);
        report.submits = !waits;
        report.begins_group |= self.job.stonewall;
        report.depth = asked;
        let low = self.low.map_or(depth - 1, |low| low.min(depth - 1));
        self.job.queue = Queue { depth, refill_at: low.min(depth - self.complete_min.min(depth)) };
    }
}

fn check(job: &Job, wrong: &mut dyn FnMut(&str, &str, &str)) {
    let device = job.target.names.as_ref().is_some_and(|names| names.iter().any(|n| is_device(n)));
    let (amounts, time) = (&job.amounts, &job.time);
    if job.target.fill_device && !device {
        wrong("fill_device", "a file does not fill the device", "give filename=/dev/ftlab");
    }
    if time.time_based && time.runtime.is_none() {
        wrong("time_based", "time_based without a runtime never ends", "give runtime");
    }
    if !device && amounts.size.is_none() && amounts.file_size.is_none() {
        wrong("size", "the job has no size", "give size, or filename=/dev/ftlab for the device");
    }
    let share = matches!(amounts.size, Some(Amount::Share(_)));
    if !device && share && amounts.file_size.is_none() {
        wrong("size", "per cent of a file whose size is not known", "give filesize, or a size");
    }
    if device && job.target.names.as_ref().is_some_and(|names| names.len() > 1) {
        wrong("filename", "only one device is simulated", "name it alone, or name files");
    }
}

/// Returns options as fio repeats them: by their main names, with the last value of each, and
/// without options that have no value.
fn written(entries: &[OptionLine]) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    for entry in entries {
        let Some(value) = &entry.value else { continue };
        let name = option(&entry.name).map_or(entry.name.as_str(), |option| option.name);
        match list.iter_mut().find(|known| known.0 == name) {
            Some(known) => known.1.clone_from(value),
            None => list.push((name.to_owned(), value.clone())),
        }
    }
    list
}

fn problem(entry: &OptionLine, message: &str, remedy: &str) -> Problem {
    Problem {
        path: clip(&entry.name),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
        place: Some(entry.place.clone()),
    }
}
