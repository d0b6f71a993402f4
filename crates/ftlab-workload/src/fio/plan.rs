//! Plans jobs on a device: the places of files, the groups of jobs, and the files written
//! beforehand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ftlab::config::{Problem, Problems};
use ftlab::engine::Stream;
use ftlab::host::zones::Zones;
use ftlab::host::{Host, Op, StreamIdentities};
use ftlab::units::{Bytes, Lba, Nanos, SECTOR_BYTES, SimTime};

use super::JobFile;
use super::job::{Job, Mix, READ, is_device};
use super::placement::Chooser;
use super::player::{Player, Range};
use super::report::{FioTally, Notes};
use super::values::Amount;
use super::zbd::{BookShape, ZbdPlayer, ZbdShape, ZoneBook};
use crate::replay::{Answered, Arrival, Group, Issuer, Turn};

/// The alignment of files, so that no page contains parts of two files.
const FILE_ALIGN: u64 = (64 << 10) / SECTOR_BYTES;
/// The request size and queue depth with which files are written beforehand.
const LAYOUT_SECTORS: u64 = (128 << 10) / SECTOR_BYTES;
const LAYOUT_DEPTH: u32 = 8;
/// More clones than this are a mistake.
const MAX_CLONES: usize = 1 << 16;

/// The plan of a job file on a device.
pub struct FioPlan {
    /// The groups, in order.
    pub groups: Vec<Group>,
    /// The names of phases: for each group, that of its ramp before its own.
    pub phase_names: Vec<String>,
    /// By stream: the name of the job, with the number of the clone if it has several.
    pub stream_names: Vec<String>,
    /// The placement identifiers of the streams. Jobs without one write by identifier 0.
    pub identities: StreamIdentities,
    /// The assumptions made.
    pub notes: Vec<String>,
    /// Collects the measurements for fio's document.
    pub tally: FioTally,
}

/// What jobs can know of a drive.
#[derive(Clone, Copy)]
pub struct DriveFacts<'a> {
    /// Its sectors.
    pub capacity_sectors: u64,
    /// Its zones, if it has any.
    pub zones: Option<&'a Zones>,
    /// The reclaim unit handles that a write may name; zero without flexible data placement.
    pub handles: u32,
}

impl<'a> DriveFacts<'a> {
    /// Those of a drive.
    pub fn of(host: &'a impl Host) -> DriveFacts<'a> {
        DriveFacts {
            capacity_sectors: host.capacity_sectors(),
            zones: host.zones(),
            handles: host.placement_handles(),
        }
    }
}

/// A clone of a job before it starts.
struct Clone<'j> {
    job: &'j Job,
    number: u64,
    name: String,
}

/// A file: named, or owned by a clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FileKey {
    Named(String),
    Own(u32, u32),
}

/// The range of a clone within a file, in sectors.
#[derive(Clone, Copy)]
struct Wanted {
    offset: u64,
    len: u64,
    file_len: u64,
}

impl JobFile {
    /// Lays the jobs out on a device of `capacity_sectors`. Fails if they do not fit, or do not go
    /// together.
    pub fn plan(&self, capacity_sectors: u64, seed: u64) -> Result<FioPlan, Problems> {
        self.plan_on(&DriveFacts { capacity_sectors, zones: None, handles: 0 }, seed)
    }

    /// Like [`plan`](Self::plan), on a device that may have zones or reclaim unit handles.
    pub fn plan_on(&self, drive: &DriveFacts<'_>, seed: u64) -> Result<FioPlan, Problems> {
        let device = drive.zones.map(|zones| zones.rules().shape.size_sectors());
        let mut jobs = self.clone();
        for job in &mut jobs.jobs {
            // Without a size the zones are refused.
            let own = job.zbd.and_then(|zbd| zbd.size);
            job.amounts = job.amounts.in_zones(device.or(own).unwrap_or(0));
        }
        jobs.plan_in_sectors(drive, seed)
    }

    fn plan_in_sectors(&self, drive: &DriveFacts<'_>, seed: u64) -> Result<FioPlan, Problems> {
        let &DriveFacts { capacity_sectors, zones, handles } = drive;
        let clones: Vec<Clone> = self.jobs.iter().flat_map(clones).collect();
        let mut layout =
            Layout { capacity: capacity_sectors, files: BTreeMap::new(), problems: Vec::new() };
        if clones.len() > MAX_CLONES {
            let message = format!("{} clones in all, more than {MAX_CLONES}", clones.len());
            layout.wrong(&self.jobs[0], "numjobs", message, "use fewer");
            return Err(Problems { problems: layout.problems });
        }
        let wanted: Vec<Vec<(FileKey, Wanted)>> =
            (0u32..).zip(&clones).map(|(at, clone)| layout.wanted(at, clone)).collect();
        layout.place(&self.jobs);
        let groups = self.groups(&mut layout);
        let book = self.zone_book(zones, &mut layout);
        let identities = identities(&clones, handles, &mut layout);
        if !layout.problems.is_empty() {
            return Err(Problems { problems: layout.problems });
        }
        let mut plan = FioPlan {
            groups: Vec::new(),
            phase_names: Vec::new(),
            stream_names: clones.iter().map(|clone| clone.name.clone()).collect(),
            notes: self.notes.clone(),
            tally: FioTally::new(&self.global, identities.identifiers.len() / clones.len().max(1)),
            identities,
        };
        plan.lay_out(&layout, &clones, &wanted);
        let notes: Vec<Notes> =
            clones.iter().map(|clone| plan.tally.add(clone.job, clone.number == 0)).collect();
        for jobs in groups {
            let mut issuers: Vec<Box<dyn Issuer>> = Vec::new();
            let mut names: Vec<&str> = Vec::new();
            for (at, (clone, files)) in (0u32..).zip(clones.iter().zip(&wanted)) {
                if !jobs.iter().any(|job| std::ptr::eq(*job, clone.job)) {
                    continue;
                }
                if names.last() != Some(&clone.job.name.as_str()) {
                    names.push(&clone.job.name);
                }
                let ranges: Vec<Range> = files
                    .iter()
                    .map(|(key, wanted)| Range {
                        start: layout.start(key) + wanted.offset,
                        len: wanted.len,
                    })
                    .collect();
                let whole: u64 = ranges.iter().map(|range| range.len).sum();
                let pass = clone.job.amounts.io_size.map(|amount| amount.of(whole).max(1));
                let notes = notes[at as usize].clone();
                let hints = clone.job.placement.as_ref().filter(|_| handles > 0);
                let chooser = hints.map(|hints| {
                    let rounds = (hints.rounds(handles).len() as u32, plan.identities.round);
                    let starts = files.iter().map(|(key, _)| layout.start(key));
                    let seed = clone.job.seed.unwrap_or(seed);
                    let stream = Stream::new(seed, &format!("fio.{at}.placement"));
                    Chooser::new(hints, rounds, starts, stream)
                });
                let player = Player::new(clone.job, at, &ranges, pass, seed);
                let player = player.noting(notes).choosing(chooser);
                let range =
                    ranges.first().map_or(0..0, |range| range.start..range.start + range.len);
                issuers.push(match (clone.job.zbd, &book) {
                    (Some(options), Some(book)) => {
                        let shape = ZbdShape {
                            clone: at,
                            smallest: clone.job.smallest(),
                            random: clone.job.random,
                            mixes: matches!(clone.job.mix, Mix::Mixed(_)),
                        };
                        Box::new(ZbdPlayer::new(player, book, options, shape, range))
                    }
                    _ => Box::new(player),
                });
            }
            let (ramp, name) = (jobs[0].time.ramp, names.join("+"));
            if ramp > Nanos::ZERO {
                plan.phase_names.push(format!("{name} (ramp)"));
            }
            plan.phase_names.push(name);
            plan.groups.push(Group { measure: true, ramp, issuers });
        }
        Ok(plan)
    }

    /// What the jobs know of zones; none if no job asks for them.
    fn zone_book(
        &self,
        zones: Option<&Zones>,
        layout: &mut Layout,
    ) -> Option<Rc<RefCell<ZoneBook>>> {
        let capacity = layout.capacity;
        // As in fio, all jobs share the limit, which is that of the device unless they say less.
        let allowed = zones.map(|it| it.rules().max_open.min(it.rules().max_active));
        let said = self.jobs.iter().filter_map(|job| job.zbd?.max_open);
        let most_open = said.chain(allowed).min();
        let mut book = None;
        for job in &self.jobs {
            let Some(options) = job.zbd else { continue };
            let device = job.target.names.as_ref().is_some_and(|names| is_device(&names[0]));
            if !device {
                let message = "zonemode=zbd works on a whole device".to_owned();
                layout.wrong(job, "zonemode", message, "write filename=/dev/zoned");
                continue;
            }
            let (size, holds, conventional) = match zones {
                Some(zones) => {
                    let shape = zones.rules().shape;
                    (shape.size_sectors(), shape.capacity_sectors(), shape.conventional)
                }
                None => {
                    let size = options.size.unwrap_or(0);
                    (size, options.capacity.unwrap_or(size), 0)
                }
            };
            let wrong_size = zones.is_some() && options.size.is_some_and(|own| own != size);
            if let Some(most) = allowed.filter(|&most| options.max_open.is_some_and(|it| it > most))
            {
                let message = format!("the device lets {most} zones be open");
                layout.wrong(job, "max_open_zones", message, "leave it out, or write that or less");
                continue;
            }
            if size == 0 || holds > size || wrong_size {
                let message = match wrong_size {
                    true => format!("the zones of the device have {}", Bytes(size * SECTOR_BYTES)),
                    false if zones.is_none() && options.size.is_none() => {
                        "the device has no zones, and the job names no size of zones".to_owned()
                    }
                    false => "zones need a size, of at least their capacity".to_owned(),
                };
                layout.wrong(
                    job,
                    "zonesize",
                    message,
                    "write the size of the zones; a device with zones (host.zones.policy = \"zns\") brings its own",
                );
                continue;
            }
            if job.trims().is_some_and(|sizes| sizes.map(u64::from) != [size; 2]) {
                let message = "a trim resets a zone, so it has its size".to_owned();
                layout.wrong(job, "bs", message, &format!("trim {}", Bytes(size * SECTOR_BYTES)));
                continue;
            }
            if !options.skip.in_zones(size).of(0).is_multiple_of(size) {
                let message = "zoneskip is not a whole number of zones".to_owned();
                layout.wrong(job, "zoneskip", message, "write a number of zones, such as 1z");
                continue;
            }
            if u64::from(job.largest_transfer()) > holds {
                let message =
                    format!("requests are larger than a zone, which holds {holds} sectors");
                layout.wrong(job, "bs", message, "use smaller requests");
                continue;
            }
            let shape = BookShape { size, capacity: holds, conventional, most_open };
            let new = || ZoneBook::new(shape, zones, capacity);
            book.get_or_insert_with(|| Rc::new(RefCell::new(new())));
        }
        book
    }

    /// Returns the groups of jobs that run together.
    fn groups(&self, layout: &mut Layout) -> Vec<Vec<&Job>> {
        let mut groups: Vec<Vec<&Job>> = Vec::new();
        for job in &self.jobs {
            match groups.last_mut() {
                Some(group) if !job.stonewall => {
                    if group[0].time.ramp != job.time.ramp {
                        let message =
                            "jobs that run together must have the same ramp_time".to_owned();
                        layout.wrong(
                            job,
                            "ramp_time",
                            message,
                            "put it into [global], or separate them by stonewall",
                        );
                    }
                    group.push(job);
                }
                _ => groups.push(vec![job]),
            }
        }
        groups
    }
}

/// The placement identifiers of all streams: a round of all clones for each identifier of the clone that has the most. As fio,
/// refuses lists with identifiers that the drive does not have.
fn identities(clones: &[Clone<'_>], handles: u32, layout: &mut Layout) -> StreamIdentities {
    let round = clones.len() as u32;
    let of = |clone: &Clone<'_>| {
        let hints = clone.job.placement.as_ref().filter(|_| handles > 0);
        hints.map_or(vec![0], |hints| hints.rounds(handles))
    };
    for clone in clones.iter().filter(|_| handles > 0) {
        let named = clone.job.placement.as_ref().map_or(&[][..], |hints| &hints.identifiers);
        if let Some(unknown) = named.iter().find(|&&it| u32::from(it) >= handles) {
            let message =
                format!("the drive has no identifier {unknown}, only 0 to {}", handles - 1);
            let remedy = "name those, or give the drive more (ftl.streams.handles)";
            layout.wrong(clone.job, "fdp_pli", message, remedy);
        }
    }
    let lists: Vec<Vec<u8>> = clones.iter().map(of).collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..most).flat_map(|at| lists.iter().map(move |list| (list, at)));
    let identifiers = rounds.map(|(list, at)| list.get(at).copied().unwrap_or(0)).collect();
    StreamIdentities { identifiers, round }
}

fn clones(job: &Job) -> impl Iterator<Item = Clone<'_>> {
    (0..u64::from(job.clones)).map(move |number| {
        let name = match job.clones {
            1 => job.name.clone(),
            _ => format!("{}.{number}", job.name),
        };
        Clone { job, number, name }
    })
}

struct Layout {
    capacity: u64,
    /// By file: its start and length.
    files: BTreeMap<FileKey, (u64, u64)>,
    problems: Vec<Problem>,
}

impl Layout {
    fn wrong(&mut self, job: &Job, path: &str, message: String, remedy: &str) {
        let (path, remedy) = (format!("{}: {path}", job.name), remedy.to_owned());
        let problem = Problem { path, message, remedy, place: Some(job.place.clone()) };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn start(&self, key: &FileKey) -> u64 {
        self.files.get(key).map_or(0, |file| file.0)
    }

    /// Returns the files of a clone and its range in them.
    fn wanted(&mut self, at: u32, clone: &Clone) -> Vec<(FileKey, Wanted)> {
        let job = clone.job;
        let keys: Vec<FileKey> = match &job.target.names {
            Some(names) => names.iter().map(|name| FileKey::Named(name.clone())).collect(),
            None => (0..job.target.files).map(|file| FileKey::Own(at, file)).collect(),
        };
        let Some(wanted) = self.within(clone, keys.len() as u64) else { return Vec::new() };
        for key in &keys {
            let file = self.files.entry(key.clone()).or_insert((0, 0));
            file.1 = file.1.max(wanted.file_len);
        }
        keys.into_iter().map(|key| (key, wanted)).collect()
    }

    fn within(&mut self, clone: &Clone, files: u64) -> Option<Wanted> {
        let job = clone.job;
        let amounts = &job.amounts;
        let device = job.target.names.as_ref().is_some_and(|names| is_device(&names[0]));
        let file_len = match device {
            true => Some(self.capacity),
            false => amounts.file_size,
        };
        let size = if job.target.fill_device { None } else { amounts.size };
        let each = |size: u64| if file_len.is_some() { size } else { size / files };
        let whole = file_len.or(match size {
            Some(Amount::Sectors(size)) => Some(each(size)),
            _ => None,
        })?;
        let offset = match amounts.offset {
            Amount::Share(_) => amounts.offset.of(whole).next_multiple_of(amounts.offset_align),
            other => other.of(whole),
        };
        let offset =
            offset.saturating_add(amounts.offset_increment.of(whole).saturating_mul(clone.number));
        let room = file_len.map_or(u64::MAX, |len| len.saturating_sub(offset));
        let len = match size {
            Some(size) => each(size.of(whole)).min(room),
            None => room.min(whole),
        };
        let largest = u64::from(job.largest());
        if len < largest {
            let (len, largest) = (Bytes(len * SECTOR_BYTES), Bytes(largest * SECTOR_BYTES));
            let message =
                format!("{} has {len} to work in, but requests of up to {largest}", clone.name);
            self.wrong(
                job,
                "size",
                message,
                "give a larger size, a smaller offset or smaller requests",
            );
            return None;
        }
        Some(Wanted { offset, len, file_len: file_len.unwrap_or(offset.saturating_add(len)) })
    }

    /// Places every file: the device itself as a whole, others one after another.
    fn place(&mut self, jobs: &[Job]) {
        let mut end = 0u64;
        for (key, (start, len)) in &mut self.files {
            if !matches!(key, FileKey::Named(name) if is_device(name)) {
                *start = end;
                end = end.saturating_add(*len).next_multiple_of(FILE_ALIGN);
            }
        }
        let last = self
            .files
            .iter()
            .filter(|(key, _)| !matches!(key, FileKey::Named(name) if is_device(name)));
        let used = last.map(|(_, (start, len))| start.saturating_add(*len)).max().unwrap_or(0);
        if used > self.capacity {
            let bytes = |sectors: u64| Bytes(sectors.saturating_mul(SECTOR_BYTES));
            let message = format!(
                "the files of all jobs take {}, but the device has {}",
                bytes(used),
                bytes(self.capacity)
            );
            let remedy = "give smaller sizes, a larger device, or one filename for several jobs";
            self.wrong(&jobs[0], "size", message, remedy);
        }
    }
}

impl FioPlan {
    /// Writes files that are read, as fio does before the first job. The device itself is left as
    /// it is.
    fn lay_out(&mut self, layout: &Layout, clones: &[Clone], wanted: &[Vec<(FileKey, Wanted)>]) {
        let mut files: Vec<(u64, u64)> = Vec::new();
        for (clone, keys) in clones.iter().zip(wanted) {
            let device = clone.job.target.names.as_ref().is_some_and(|names| is_device(&names[0]));
            if device || !(clone.job.uses(READ) || clone.job.target.overwrite) {
                continue;
            }
            files.extend(keys.iter().map(|(key, _)| layout.files[key]));
        }
        files.sort_unstable();
        files.dedup();
        if files.is_empty() {
            return;
        }
        let count = files.len();
        let told = if count == 1 { "1 file was".to_owned() } else { format!("{count} files were") };
        self.notes.push(format!("{told} written once before the jobs, as fio does"));
        self.phase_names.push("files".to_owned());
        let issuer = Box::new(FileWriter { files, at: 0, outstanding: 0 });
        self.groups.push(Group { measure: false, ramp: Nanos::ZERO, issuers: vec![issuer] });
    }
}

/// Writes files from start to end.
struct FileWriter {
    files: Vec<(u64, u64)>,
    at: u64,
    outstanding: u32,
}

impl Issuer for FileWriter {
    fn turn(&mut self, _now: Nanos) -> Turn {
        if self.outstanding == LAYOUT_DEPTH {
            return Turn::Wait;
        }
        while self.files.last().is_some_and(|file| self.at >= file.1) {
            self.files.pop();
            self.at = 0;
        }
        let Some((start, len)) = self.files.last() else {
            return if self.outstanding > 0 { Turn::Wait } else { Turn::Done { all: false } };
        };
        let sectors = LAYOUT_SECTORS.min(len - self.at);
        let lba = Lba(start + self.at);
        self.at += sectors;
        self.outstanding += 1;
        let sectors = u32::try_from(sectors).expect("small");
        let at = SimTime::ZERO;
        Turn::Submit(Arrival { at, op: Op::Write, lba, sectors, stream: 0, fua: false })
    }

    fn completed(&mut self, _answered: Answered, _now: Nanos) {
        self.outstanding -= 1;
    }

    fn stop(&mut self) {
        self.files.clear();
    }
}
