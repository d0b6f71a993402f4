//! From sections to jobs: every option is read by its meaning, and every problem is collected.

use ftlab::config::text::{clip, nearest};
use ftlab::config::{Place, Problem, Problems};
use ftlab::units::{Nanos, SECTOR_BYTES};

use super::job::{
    Amounts, Distribution, Flush, Job, Mix, Modifier, Pace, Queue, RandomOrder, Service, Sizes,
    Target, Think, Time, Zones, is_device,
};
use super::options::{self, ASYNCHRONOUS, OPTIONS, SYNCHRONOUS, Standing, option};
use super::text::{Entry, Section, Surroundings, sections};
use super::values::{
    Amount, Bad, Base, amount, bad, count, each, each_text, number, per_cent, range, request,
    sectors, switch, time,
};
use super::{JobFile, distribution};

const SECOND: Nanos = Nanos(1_000_000_000);
const MICROSECOND: Nanos = Nanos(1_000);
const MAX_CLONES: u64 = 4096;
const MAX_DEPTH: u64 = 1 << 20;
const MAX_FILES: u64 = 4096;
const MAX_JOBS: usize = 4096;
/// What `bssplit` takes for each direction, as fio does.
const MAX_SPLIT: usize = 64;

impl JobFile {
    /// Reads a job file. `file` is the name that problems carry; what it includes and the variables
    /// it names come from `around`.
    pub fn parse(
        file: &str,
        text: &str,
        around: &mut dyn Surroundings,
    ) -> Result<JobFile, Problems> {
        let mut problems = Vec::new();
        let sections = sections(file, text, around, &mut problems);
        if sections.is_empty() && problems.is_empty() {
            let message = "the file has no job".to_owned();
            let place = Some(Place::new(file, &text.into(), 0..0));
            let remedy = "add a section with a name of its own, such as [job]".to_owned();
            problems.push(Problem { path: String::new(), message, remedy, place });
        }
        if let Some(extra) = sections.get(MAX_JOBS) {
            let place = Some(extra.place.clone());
            let message = format!("more than {MAX_JOBS} jobs");
            let remedy = "use numjobs, or part the file".to_owned();
            problems.push(Problem { path: String::new(), message, remedy, place });
            return Err(Problems { problems });
        }
        let mut notes = Vec::new();
        let jobs: Vec<Job> = sections
            .iter()
            .filter_map(|section| {
                Draft::read(section, &mut problems)?.finish(&mut problems, &mut notes)
            })
            .collect();
        // What stands in [global] is read for each job, and told once.
        let mut told: Vec<Problem> = Vec::new();
        for problem in problems {
            if !told.contains(&problem) {
                told.push(problem);
            }
        }
        if !told.is_empty() {
            return Err(Problems { problems: told });
        }
        notes.dedup();
        Ok(JobFile { name: file.to_owned(), text: text.to_owned(), jobs, notes })
    }
}

/// A job as far as it is read.
struct Draft {
    job: Job,
    base: Base,
    synchronous: bool,
    depth: u32,
    low: Option<u32>,
    complete_min: u32,
    zoned: bool,
    zone: [u64; 3],
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
            target: Target {
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
        };
        Draft {
            job,
            base: Base { decimal: false },
            // fio's default on Linux is psync.
            synchronous: true,
            depth: 1,
            low: None,
            complete_min: 1,
            zoned: false,
            zone: [0; 3],
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

    /// All options of a section; nothing if one of them is wrong.
    fn read(section: &Section, problems: &mut Vec<Problem>) -> Option<Draft> {
        let mut draft = Draft::new(section);
        let before = problems.len();
        // The base counts for every number, wherever it stands.
        for entry in section.entries.iter().filter(|entry| entry.name == "kb_base") {
            match entry.value.as_deref() {
                Some("1000") => draft.base = Base { decimal: true },
                Some("1024") => draft.base = Base { decimal: false },
                _ => problems.push(problem(entry, "neither 1024 nor 1000", "write one of them")),
            }
        }
        for (at, entry) in section.entries.iter().enumerate() {
            let own = at >= section.inherited;
            match draft.entry(entry, own) {
                Ok(()) => {}
                Err((message, remedy)) => problems.push(problem(entry, &message, &remedy)),
            }
        }
        (problems.len() == before).then_some(draft)
    }

    fn entry(&mut self, entry: &Entry, own: bool) -> Result<(), Bad> {
        let Some(option) = option(&entry.name) else {
            let names = OPTIONS.iter().flat_map(options::JobOption::names);
            let near = nearest(&entry.name, names)
                .map_or(String::new(), |near| format!("did you mean {near}? "));
            let remedy = format!("{near}docs/reference/fio.md lists every option");
            return bad("no option of fio 3.33", remedy);
        };
        match (option.standing, &entry.value) {
            (Standing::NoEffect(_), _) => Ok(()),
            (Standing::Refused { .. }, Some(value)) if options::is_off(value) => Ok(()),
            (Standing::Refused { why, remedy }, _) => bad(why, remedy),
            (Standing::Honoured(_), None) if !option.bare => {
                bad("a value is missing", format!("write {}=VALUE", option.name))
            }
            (Standing::Honoured(_), value) => {
                self.honour(option.name, value.as_deref().unwrap_or("1"), own)
            }
        }
    }

    fn honour(&mut self, name: &str, value: &str, own: bool) -> Result<(), Bad> {
        if self.target(name, value)? || self.pattern(name, value)? || self.pace(name, value)? {
            return Ok(());
        }
        let job = &mut self.job;
        match name {
            "kb_base" => {}
            "name" => job.name = value.to_owned(),
            // A stonewall in [global] is one for every job, as in fio.
            "stonewall" => job.stonewall = switch(value)? || (job.stonewall && !own),
            "exitall" => job.ends_group = switch(value)?,
            other => unreachable!("the table honours {other}, and nobody reads it"),
        }
        Ok(())
    }

    /// Where and how much.
    fn target(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let amounts = &mut self.job.amounts;
        let target = &mut self.job.target;
        match name {
            "filename" => target.names = Some(names(value)?),
            "nrfiles" => target.files = narrow(count(value, base, 1, MAX_FILES)?),
            "file_service_type" => target.service = service(value, base)?,
            "overwrite" => target.overwrite = switch(value)?,
            "fill_device" => target.fill_device = switch(value)?,
            "filesize" if value.contains(['-', ':']) => {
                return bad("a range of file sizes is not drawn from", "give one size");
            }
            "filesize" => {
                let size = number(value, base)? / SECTOR_BYTES;
                amounts.file_size = Some(size).filter(|size| *size > 0);
            }
            "size" => amounts.size = nonzero(amount(value, base, 100)?),
            "io_size" => amounts.io_size = nonzero(amount(value, base, 100_000)?),
            "offset" => amounts.offset = place(value, base)?,
            "offset_increment" => amounts.offset_increment = place(value, base)?,
            "offset_align" => amounts.offset_align = sectors(value, base)?.max(1),
            "number_ios" => amounts.requests = Some(number(value, base)?).filter(|n| *n > 0),
            "loops" => amounts.loops = count(value, base, 1, u64::from(u32::MAX))?,
            "numjobs" => self.job.clones = narrow(count(value, base, 1, MAX_CLONES)?),
            "zonemode" => {
                self.zoned = match value {
                    "none" => false,
                    "strided" => true,
                    "zbd" => return bad("the device is not a zoned one", "use strided or none"),
                    _ => return unknown(value, &["none", "strided"]),
                }
            }
            "zonesize" => self.zone[0] = sectors(value, base)?,
            "zonerange" => self.zone[1] = sectors(value, base)?,
            "zoneskip" => self.zone[2] = sectors(value, base)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Which requests.
    fn pattern(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let job = &mut self.job;
        match name {
            "rw" => self.direction(value)?,
            "rw_sequencer" => {
                self.identical = match value {
                    "sequential" => false,
                    "identical" => true,
                    _ => return unknown(value, &["sequential", "identical"]),
                }
            }
            "rwmixread" => self.read_share = Some(per_cent(value, 100)?),
            "rwmixwrite" => self.read_share = Some(Job::ALL - per_cent(value, 100)?),
            "bs" => {
                // What a part leaves out is the default of 4 KiB, whatever was given before.
                let default = u32::try_from(4096 / SECTOR_BYTES).expect("eight");
                let sizes = each(value, [default; 3], |text| request(text, base))?;
                job.sizes = sizes.map(Sizes::Fixed);
            }
            "bsrange" => {
                for (slot, text) in job.sizes.iter_mut().zip(each_text(value)?) {
                    if let Some(text) = text {
                        let (low, high) = range(text, |text| request(text, base))?;
                        *slot =
                            if low == high { Sizes::Fixed(low) } else { Sizes::Range(low, high) };
                    }
                }
            }
            "bssplit" => {
                for (slot, text) in job.sizes.iter_mut().zip(each_text(value)?) {
                    if let Some(text) = text {
                        *slot = Sizes::Split(split(text, base)?);
                    }
                }
            }
            "ba" => {
                let had = [None; 3];
                job.align = each(value, had, |text| request(text, base).map(Some))?;
            }
            "percentage_random" => {
                job.random_share = each(value, [Job::ALL; 3], |text| per_cent(text, 100))?;
            }
            "random_distribution" => {
                for (slot, text) in job.distribution.iter_mut().zip(distribution::parts(value)) {
                    *slot = distribution::parse(&text, base)?;
                }
            }
            "norandommap" => self.map = !switch(value)?,
            "random_generator" => {
                self.lfsr = match value {
                    "lfsr" => true,
                    "tausworthe" | "tausworthe64" => false,
                    _ => return unknown(value, &["tausworthe", "lfsr", "tausworthe64"]),
                }
            }
            "randseed" => job.seed = Some(number(value, base)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn direction(&mut self, value: &str) -> Result<(), Bad> {
        let (kind, modifier) = match value.split_once(':') {
            Some((kind, modifier)) => (kind, Some(modifier)),
            None => (value, None),
        };
        let (mix, mixed, random) = match kind {
            "read" => (Mix::Read, false, false),
            "write" => (Mix::Write, false, false),
            "trim" => (Mix::Trim, false, false),
            "randread" => (Mix::Read, false, true),
            "randwrite" => (Mix::Write, false, true),
            "randtrim" => (Mix::Trim, false, true),
            "rw" | "readwrite" => (Mix::Mixed(0), true, false),
            "randrw" => (Mix::Mixed(0), true, true),
            "trimwrite" => (Mix::TrimWrite, false, false),
            "randtrimwrite" => (Mix::TrimWrite, false, true),
            _ => {
                let known = [
                    "read",
                    "write",
                    "trim",
                    "randread",
                    "randwrite",
                    "randtrim",
                    "rw",
                    "readwrite",
                    "randrw",
                    "trimwrite",
                    "randtrimwrite",
                ];
                return unknown(kind, &known);
            }
        };
        (self.job.mix, self.mixed, self.job.random) = (mix, mixed, random);
        self.modifier = match modifier {
            Some(text) if random => Some(count(text, self.base, 1, u64::from(u32::MAX))?),
            Some(text) => Some(sectors(text, self.base)?),
            None => None,
        };
        Ok(())
    }

    /// How fast, how many at once, when.
    fn pace(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let job = &mut self.job;
        match name {
            "ioengine" => self.synchronous = engine(value)?,
            "iodepth" => self.depth = narrow(count(value, base, 1, MAX_DEPTH)?),
            "iodepth_low" => self.low = Some(narrow(count(value, base, 0, MAX_DEPTH)?)),
            "iodepth_batch_complete_min" => {
                self.complete_min = narrow(count(value, base, 0, MAX_DEPTH)?.max(1));
            }
            "runtime" => job.time.runtime = Some(time(value, SECOND)?).filter(|t| t.0 > 0),
            "time_based" => job.time.time_based = switch(value)?,
            "ramp_time" => job.time.ramp = time(value, SECOND)?,
            "startdelay" => job.time.delay = range(value, |text| time(text, SECOND))?,
            "rate" => {
                job.pace.rate = each(value, [None; 3], |text| number(text, base).map(Some))?;
            }
            "rate_iops" => {
                self.rate_iops = each(value, [None; 3], |text| number(text, base).map(Some))?;
            }
            "rate_process" => {
                job.pace.poisson = match value {
                    "linear" => false,
                    "poisson" => true,
                    _ => return unknown(value, &["linear", "poisson"]),
                }
            }
            "thinktime" => self.think = Some(time(value, MICROSECOND)?).filter(|t| t.0 > 0),
            "thinktime_blocks" => {
                self.think_blocks = Some(count(value, base, 1, u64::from(u32::MAX))?);
            }
            "thinktime_blocks_type" => {
                self.think_at_issue = match value {
                    "complete" => false,
                    "issue" => true,
                    _ => return unknown(value, &["complete", "issue"]),
                }
            }
            "thinktime_iotime" => {
                self.think_io_time = Some(time(value, SECOND)?).filter(|t| t.0 > 0);
            }
            "fsync" => job.flush.every_writes[0] = number(value, base)?,
            "fdatasync" => job.flush.every_writes[1] = number(value, base)?,
            "sync" => {
                job.flush.each_write = match value {
                    "0" | "none" => false,
                    "1" | "sync" | "dsync" => true,
                    _ => return unknown(value, &["none", "sync", "dsync"]),
                }
            }
            "end_fsync" | "fsync_on_close" => job.flush.at_end |= switch(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the options come to together.
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
        self.queue(notes);
        let job = &mut self.job;
        for (direction, limit) in self.rate_iops.into_iter().enumerate() {
            if let Some(limit) = limit {
                // As in fio: counted in requests of the smallest size.
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
        if self.zoned {
            let [size, range, skip] = self.zone;
            if size == 0 {
                wrong("zonesize", "strided zones without a size", "give zonesize");
            }
            if job.random {
                wrong("zonemode", "random requests within strided zones", "use a sequential rw");
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
        wrong("time_based", "time_based without a runtime has no end", "give runtime");
    }
    if !device && amounts.size.is_none() && amounts.file_size.is_none() {
        wrong("size", "the job has no size", "give size, or filename=/dev/ftlab for the device");
    }
    let share = matches!(amounts.size, Some(Amount::Share(_)));
    if !device && share && amounts.file_size.is_none() {
        wrong("size", "per cent of a file whose size is not known", "give filesize, or a size");
    }
    if device && job.target.names.as_ref().is_some_and(|names| names.len() > 1) {
        wrong("filename", "one device is simulated", "name it alone, or name files");
    }
}

fn problem(entry: &Entry, message: &str, remedy: &str) -> Problem {
    Problem {
        path: clip(&entry.name),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
        place: Some(entry.place.clone()),
    }
}

fn unknown<T>(value: &str, known: &[&str]) -> Result<T, Bad> {
    let near = nearest(value, known.iter().copied())
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    bad(format!("unknown value `{}`", clip(value)), format!("{near}known: {}", known.join(", ")))
}

fn engine(value: &str) -> Result<bool, Bad> {
    if SYNCHRONOUS.contains(&value) {
        return Ok(true);
    }
    if ASYNCHRONOUS.contains(&value) {
        return Ok(false);
    }
    let known: Vec<&str> = ASYNCHRONOUS.into_iter().chain(SYNCHRONOUS).collect();
    let near = nearest(value, known.iter().copied())
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    let remedy = format!("{near}use one of {}", known.join(", "));
    bad(format!("`{}` is no engine that drives a block device", clip(value)), remedy)
}

/// Where something starts: at a whole sector.
fn place(value: &str, base: Base) -> Result<Amount, Bad> {
    match value.ends_with('%') {
        true => amount(value, base, 100),
        false => sectors(value, base).map(Amount::Sectors),
    }
}

fn nonzero(amount: Amount) -> Option<Amount> {
    (!matches!(amount, Amount::Sectors(0) | Amount::Share(0))).then_some(amount)
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("the limits of counts fit 32 bits")
}

/// Names parted by colons; a colon of a name has a backslash before it.
fn names(value: &str) -> Result<Vec<String>, Bad> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for c in value.chars() {
        let last = names.last_mut().expect("never empty");
        match (c, escaped) {
            (':', false) => names.push(String::new()),
            ('\\', false) => {
                escaped = true;
                continue;
            }
            (':', true) => last.push(':'),
            (other, true) => last.extend(['\\', other]),
            (other, false) => last.push(other),
        }
        escaped = false;
    }
    if escaped {
        names.last_mut().expect("never empty").push('\\');
    }
    if names.iter().any(String::is_empty) || names.len() > 4096 {
        return bad("an empty name, or more than 4096", "part names by single colons");
    }
    Ok(names)
}

fn service(value: &str, base: Base) -> Result<Service, Bad> {
    let (kind, every) = match value.split_once(':') {
        Some((kind, every)) => (kind, count(every, base, 1, u64::from(u32::MAX))?),
        None => (value, 1),
    };
    match kind {
        "roundrobin" => Ok(Service::RoundRobin(every)),
        "random" => Ok(Service::Random(every)),
        "sequential" => Ok(Service::Sequential),
        "zipf" | "pareto" | "normal" | "gauss" => bad(
            "files are not chosen by popularity",
            "use one file and random_distribution, or random",
        ),
        _ => unknown(kind, &["roundrobin", "random", "sequential"]),
    }
}

/// `size/percent:size/percent`; sizes without a figure share what is left.
fn split(text: &str, base: Base) -> Result<Vec<(u32, u64)>, Bad> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > MAX_SPLIT {
        return bad(format!("more than {MAX_SPLIT} sizes"), "give fewer");
    }
    let mut list = Vec::new();
    for part in parts {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(per_cent(share, 100)?),
        };
        list.push((request(size.trim(), base)?, share));
    }
    let given: u64 = list.iter().filter_map(|entry| entry.1).sum();
    let open = list.iter().filter(|entry| entry.1.is_none()).count() as u64;
    if given > Job::ALL {
        return bad("the shares sum to more than 100", "make them sum to 100");
    }
    if open == 0 && given != Job::ALL {
        return bad("the shares sum to less than 100", "make them sum to 100, or leave one empty");
    }
    let rest = (Job::ALL - given).checked_div(open).unwrap_or(0);
    let list: Vec<(u32, u64)> =
        list.into_iter().map(|(size, share)| (size, share.unwrap_or(rest))).collect();
    if list.iter().all(|entry| entry.1 == 0) {
        return bad("no size has a share", "give one");
    }
    Ok(list)
}
