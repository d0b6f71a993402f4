//! Runs one clone of a job: chooses operation, place, size and time as fio's main loop does.

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Lba, Nanos, SECTOR_BYTES, SimTime};

use super::job::{Job, Mix, Modifier, READ, Service, TRIM, Think, WRITE};
use super::offsets::{Offsets, SizeDraw};
use super::placement::Chooser;
use super::report::{Notes, Synced, note_depth};
use super::values::MILLION;
use crate::replay::{Answered, Arrival, Issuer, Turn};

/// The range of a clone.
pub(super) struct Range {
    /// Its first sector on the device.
    pub start: u64,
    /// Its length in sectors.
    pub len: u64,
}

/// A running clone.
pub(super) struct Player {
    job: Job,
    number: u32,
    files: Vec<File>,
    streams: Streams,
    /// The initial streams.
    origin: Streams,
    /// The sectors of a pass.
    pass_sectors: u64,
    delay: Nanos,
    end: Option<Nanos>,
    // The current pass.
    loops: u64,
    pass_done: u64,
    pass_requests: u64,
    /// Whether a file has no place for the next request.
    exhausted: bool,
    /// Whether there was a request since the files were started.
    moved: bool,
    // Outstanding requests.
    outstanding: u32,
    filling: bool,
    flushing: bool,
    /// Completed writes that wait for a flush, and how many of them the outstanding flush covers:
    /// those completed when it was issued.
    undurable: u32,
    covered: u32,
    // History.
    writes: u64,
    flushed_last: bool,
    to_write: Option<(usize, u64, u32)>,
    since_random: u64,
    file: usize,
    file_requests: u64,
    due: [Due; 3],
    think: Thinking,
    stage: Stage,
    notes: Notes,
    /// Which stream each write has; none if all have the number of the clone.
    chooser: Option<Chooser>,
}

struct File {
    start: u64,
    offsets: Offsets,
    issued: u64,
    /// There is no place for the next request of this pass.
    exhausted: bool,
}

#[derive(Clone)]
struct Streams {
    op: Stream,
    size: Stream,
    random: Stream,
    file: Stream,
    rate: Stream,
}

/// When the next request of a direction is due, in nanoseconds and a fraction.
#[derive(Clone, Copy, Default)]
struct Due {
    at: u64,
    rest: u64,
}

#[derive(Clone, Copy, Default)]
struct Thinking {
    counted: u64,
    last_count: u64,
    since: Nanos,
    state: Thought,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Thought {
    #[default]
    Working,
    /// Waits for outstanding requests.
    Draining,
    Until(Nanos),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Running,
    /// Only the last flush is left.
    Ending,
    Flushed,
}

impl Player {
    /// Creates clone `number`, which works in `ranges`.
    pub fn new(
        job: &Job,
        number: u32,
        ranges: &[Range],
        pass_sectors: Option<u64>,
        seed: u64,
    ) -> Player {
        let seed = job.seed.unwrap_or(seed);
        let stream = |of: &str| Stream::new(seed, &format!("fio.{number}.{of}"));
        let smallest = job.smallest();
        let file = |(index, range): (usize, &Range)| File {
            start: range.start,
            offsets: Offsets::new(job, range.len, stream(&format!("place.{index}"))),
            issued: 0,
            exhausted: false,
        };
        let files: Vec<File> = ranges.iter().enumerate().map(file).collect();
        let whole = files.iter().map(|file| file.offsets.pass(smallest)).sum();
        let (low, high) = job.time.delay;
        let delay = Nanos(low.0 + stream("delay").below(high.0 - low.0 + 1));
        let streams = Streams {
            op: stream("operation"),
            size: stream("size"),
            random: stream("random"),
            file: stream("file"),
            rate: stream("rate"),
        };
        Player {
            number,
            files,
            origin: streams.clone(),
            streams,
            pass_sectors: pass_sectors.unwrap_or(whole),
            delay,
            end: job.time.runtime.map(|time| Nanos(delay.0 + job.time.ramp.0 + time.0)),
            loops: 0,
            pass_done: 0,
            pass_requests: 0,
            exhausted: false,
            moved: false,
            outstanding: 0,
            filling: true,
            flushing: false,
            undurable: 0,
            covered: 0,
            writes: 0,
            flushed_last: false,
            to_write: None,
            since_random: 0,
            file: 0,
            file_requests: 0,
            due: [Due { at: delay.0, rest: 0 }; 3],
            think: Thinking { since: delay, ..Thinking::default() },
            stage: Stage::Waiting,
            notes: Notes::default(),
            chooser: None,
            job: job.clone(),
        }
    }

    /// Sets where the clone records its notes.
    pub fn noting(self, notes: Notes) -> Player {
        Player { notes, ..self }
    }

    /// Sets how its writes get placement identifiers.
    pub fn choosing(self, chooser: Option<Chooser>) -> Player {
        Player { chooser, ..self }
    }

    /// Whether the queue has room for a request.
    fn has_room(&mut self) -> bool {
        let queue = self.job.queue;
        if self.outstanding >= queue.depth {
            self.filling = false;
        } else if self.outstanding <= queue.refill_at {
            self.filling = true;
        }
        self.filling && !self.flushing
    }

    /// Returns the turn of a pause, if there is one.
    fn thinks(&mut self, now: Nanos) -> Option<Turn> {
        let Think { time, every_requests, every_time, .. } = self.job.pace.think?;
        let think = &mut self.think;
        let over = think.counted - think.last_count >= every_requests
            || every_time.is_some_and(|every| now.0 - think.since.0 >= every.0);
        if think.state == Thought::Working && over {
            think.state = Thought::Draining;
        }
        if think.state == Thought::Draining {
            if self.outstanding > 0 {
                return Some(Turn::Wait);
            }
            think.state = Thought::Until(Nanos(now.0 + time.0));
        }
        match think.state {
            Thought::Until(at) if now < at => Some(Turn::Until(at)),
            Thought::Until(_) => {
                (think.state, think.last_count, think.since) =
                    (Thought::Working, think.counted, now);
                None
            }
            _ => None,
        }
    }

    /// Starts the next pass if this one is over. Returns `false` if there is none.
    fn pass(&mut self) -> bool {
        let amounts = &self.job.amounts;
        let enough = amounts.requests.is_some_and(|most| self.pass_requests >= most);
        let over = self.pass_done >= self.pass_sectors || enough;
        let exhausted = self.exhausted && self.files.iter().all(|file| self.is_done(file));
        if self.to_write.is_some() || !(over || exhausted) {
            return true;
        }
        // As in fio, a pass without a request is the last.
        if !self.moved {
            return false;
        }
        // As in fio, files are not restarted for a rest of `io_size` smaller than a request.
        let rest = self.pass_sectors.saturating_sub(self.pass_done);
        let goes_on = !enough && amounts.io_size.is_some() && rest >= self.job.largest().into();
        if !goes_on {
            self.loops += 1;
            if !self.job.time.time_based && self.loops >= amounts.loops {
                return false;
            }
            (self.pass_done, self.pass_requests) = (0, 0);
        }
        self.begin_files(exhausted);
        true
    }

    fn begin_files(&mut self, exhausted: bool) {
        (self.since_random, self.moved, self.exhausted) = (0, false, false);
        for file in &mut self.files {
            file.offsets.restart();
            (file.issued, file.exhausted) = (0, false);
        }
        // Every pass has the same order with a map, and after a pass that ran out of places.
        if self.job.repeats() || exhausted {
            let Streams { op, size, random, .. } = self.origin.clone();
            self.streams = Streams { op, size, random, ..self.streams.clone() };
        }
    }

    /// Whether a file has had its share of the pass, or has no place for the next request.
    fn is_done(&self, file: &File) -> bool {
        file.exhausted || file.issued >= self.pass_sectors / self.files.len() as u64
    }

    /// Returns the direction of the next request, or the time when one is due.
    fn direction(&mut self, now: Nanos) -> Result<usize, Nanos> {
        let wanted = match self.job.mix {
            Mix::Read => READ,
            Mix::Write => WRITE,
            Mix::Trim => TRIM,
            Mix::TrimWrite if self.to_write.is_some() => WRITE,
            Mix::TrimWrite => TRIM,
            Mix::Mixed(reads) if self.streams.op.below(MILLION) < reads => READ,
            Mix::Mixed(_) => WRITE,
        };
        if self.due[wanted].at <= now.0 || self.job.pace.rate[wanted].is_none() {
            return Ok(wanted);
        }
        if let Mix::Mixed(_) = self.job.mix {
            // As in fio, a late direction precedes an early one.
            let other = READ + WRITE - wanted;
            if self.due[other].at < self.due[wanted].at || self.job.pace.rate[other].is_none() {
                return if self.due[other].at <= now.0 {
                    Ok(other)
                } else {
                    Err(Nanos(self.due[other].at))
                };
            }
        }
        Err(Nanos(self.due[wanted].at))
    }

    /// Advances the due time after a request of this many sectors.
    fn pay(&mut self, direction: usize, sectors: u32) {
        let Some(rate) = self.job.pace.rate[direction] else { return };
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let due = &mut self.due[direction];
        let cost = u128::from(bytes) * 1_000_000_000 + u128::from(due.rest);
        let gap = u64::try_from(cost / u128::from(rate)).unwrap_or(u64::MAX);
        due.rest = u64::try_from(cost % u128::from(rate)).expect("less than the rate");
        let gap = match self.job.pace.poisson {
            true => (-libm::log(1.0 - self.streams.rate.unit()) * gap as f64) as u64,
            false => gap,
        };
        due.at = due.at.saturating_add(gap);
    }

    /// Returns the next file.
    fn choose_file(&mut self) -> usize {
        let count = self.files.len();
        if count == 1 {
            return 0;
        }
        let every = match self.job.target.service {
            Service::RoundRobin(every) | Service::Random(every) => every,
            Service::Sequential => u64::MAX,
        };
        if self.file_requests >= every || self.is_done(&self.files[self.file]) {
            self.file_requests = 0;
            self.file = match self.job.target.service {
                Service::Random(_) => {
                    let open: Vec<usize> =
                        (0..count).filter(|&at| !self.is_done(&self.files[at])).collect();
                    match open.len() {
                        0 => (self.file + 1) % count,
                        len => {
                            open[usize::try_from(self.streams.file.below(len as u64)).expect("few")]
                        }
                    }
                }
                _ => {
                    let next = (1..=count).map(|step| (self.file + step) % count);
                    let open = next.clone().find(|&at| !self.is_done(&self.files[at]));
                    open.unwrap_or((self.file + 1) % count)
                }
            };
        }
        self.file_requests += 1;
        self.file
    }

    /// Returns file, place and size of the next request; `None` if the file is exhausted.
    fn place(&mut self, direction: usize) -> Option<(usize, u64, u32)> {
        if direction == WRITE
            && let Some(spot) = self.to_write.take()
        {
            return Some(spot);
        }
        let at = self.choose_file();
        let job = &self.job;
        let mut size = SizeDraw { sizes: &job.sizes[direction], stream: &mut self.streams.size };
        let offsets = &mut self.files[at].offsets;
        let share = job.random_share[direction];
        let jumps = job.random && (share == MILLION || self.streams.random.below(MILLION) < share);
        let spot = match job.modifier {
            Modifier::Every { identical, .. } if jumps && self.since_random > 0 => {
                self.since_random -= 1;
                Some(match identical {
                    true => offsets.again(direction, &mut size),
                    false => offsets.sequential(direction, &mut size),
                })
            }
            _ if !jumps => Some(offsets.sequential(direction, &mut size)),
            modifier => {
                if let Modifier::Every { requests, .. } = modifier {
                    self.since_random = requests - 1;
                }
                offsets.random(direction, &mut size)
            }
        };
        let file = &mut self.files[at];
        let Some((offset, sectors)) = spot else {
            (file.exhausted, self.exhausted) = (true, true);
            return None;
        };
        let spot = (at, file.start + offset, sectors);
        if job.mix == Mix::TrimWrite {
            self.to_write = Some(spot);
        }
        Some(spot)
    }

    /// Whether a flush is due before the next request.
    fn flush_is_due(&self) -> bool {
        let every = self.job.flush.every_writes;
        let due = |every: u64| every > 0 && self.writes.is_multiple_of(every);
        self.writes > 0 && !self.flushed_last && every.into_iter().any(due)
    }

    fn flush(&mut self) -> Turn {
        self.flushing = true;
        self.covered = self.undurable;
        let synced = self.notes.synced.get();
        let until = (self.covered > 0).then_some(synced.written);
        self.notes.synced.set(Synced { until, ..synced });
        self.flushed_last = true;
        self.arrival(Op::Flush, 0, 0, 0)
    }

    /// A request, in a stream so far behind that of the clone.
    fn arrival(&self, op: Op, at: u64, sectors: u32, behind: u32) -> Turn {
        let (at, lba) = (SimTime::ZERO, Lba(at));
        let fua = op == Op::Write && self.job.flush.force_writes;
        Turn::Submit(Arrival { at, op, lba, sectors, stream: self.number + behind, fua })
    }

    fn ending(&mut self) -> Turn {
        if self.outstanding > 0 || self.flushing {
            return Turn::Wait;
        }
        if self.stage == Stage::Ending && self.job.flush.at_end && self.writes > 0 {
            self.stage = Stage::Flushed;
            return self.flush();
        }
        Turn::Done { all: self.job.ends_group }
    }
}

impl Issuer for Player {
    fn turn(&mut self, now: Nanos) -> Turn {
        if self.stage == Stage::Waiting {
            if now < self.delay {
                return Turn::Until(self.delay);
            }
            self.stage = Stage::Running;
        }
        if self.undurable > 0 && !self.flushing {
            return self.flush();
        }
        if self.end.is_some_and(|end| now >= end) && self.stage == Stage::Running {
            self.stage = Stage::Ending;
        }
        if self.stage != Stage::Running {
            return self.ending();
        }
        if let Some(turn) = self.thinks(now) {
            return turn;
        }
        if !self.has_room() {
            return Turn::Wait;
        }
        let (direction, (file, at, sectors)) = loop {
            if !self.pass() {
                self.stage = Stage::Ending;
                return self.ending();
            }
            let direction = match self.direction(now) {
                Ok(direction) => direction,
                Err(at) => return Turn::Until(self.end.map_or(at, |end| at.min(end))),
            };
            if self.flush_is_due() {
                return self.flush();
            }
            if let Some(place) = self.place(direction) {
                break (direction, place);
            }
        };
        self.moved = true;
        let op = [Op::Read, Op::Write, Op::Trim][direction];
        self.pay(direction, sectors);
        self.outstanding += 1;
        if now >= self.job.time.ramp {
            note_depth(&self.notes.depths, self.outstanding);
        }
        self.flushed_last = false;
        self.writes += u64::from(op == Op::Write);
        self.pass_requests += 1;
        // A place that is trimmed and written counts once.
        if self.job.mix != Mix::TrimWrite || op == Op::Trim {
            self.pass_done += u64::from(sectors);
            self.files[file].issued += u64::from(sectors);
        }
        self.think.counted += u64::from(self.job.pace.think.is_some_and(|think| think.at_issue));
        let chooser = self.chooser.as_mut().filter(|_| op == Op::Write);
        let behind = chooser.map_or(0, |chooser| chooser.behind(file, at));
        self.arrival(op, at, sectors, behind)
    }

    fn completed(&mut self, Answered { op, .. }: Answered, _now: Nanos) {
        if op == Op::Flush {
            self.flushing = false;
            self.outstanding -= self.covered;
            self.undurable -= std::mem::take(&mut self.covered);
            return;
        }
        self.think.counted += u64::from(self.job.pace.think.is_some_and(|think| !think.at_issue));
        if op == Op::Write && self.job.flush.each_write {
            self.undurable += 1;
            let synced = self.notes.synced.get();
            self.notes.synced.set(Synced { written: synced.written + 1, ..synced });
        } else {
            self.outstanding -= 1;
        }
    }

    fn stop(&mut self) {
        if self.stage != Stage::Flushed {
            self.stage = Stage::Ending;
        }
    }
}
