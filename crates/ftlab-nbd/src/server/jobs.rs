//! Requests of clients on their way through the device: what a client asks for becomes one or more requests of the
//! device, and their answers become one reply.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use ftlab::host::{Op, Outcome, Request};
use ftlab::units::{Lba, Nanos, SECTOR_BYTES, SimTime};

use super::fair::FairQueue;
use super::latency::RequestKind;
use crate::drive::{Answer, Drive, ToTrim};
use crate::protocol::{BlockCommand, Errno, Payload, Ticket};

/// The longest request to the device that trims. A job has one of its pieces in the queue at a time, so that others are
/// served in between.
const TRIM_PIECE: u64 = 64 << 20;
/// The most bytes of requests in the device. Without a limit, a client that asks for gigabytes at once would keep the
/// server busy for seconds, whoever comes next.
const MOST_IN_DEVICE: u64 = 64 << 20;
/// What a request weighs beside its bytes, when clients take turns.
const REQUEST_WEIGHT: u64 = 4096;
/// Pages that are looked at in one turn of the server, in search of those that have to be trimmed: less than a
/// millisecond's worth.
const LOOKS: u64 = 1 << 15;
/// The least share of them for one of many.
const LEAST_LOOKS: u64 = 64;
/// The longest request to the device that writes zeroes as data.
const ZERO_PIECE: u64 = 1 << 20;

/// The client's side of a job: its connection, and the right to answer.
#[derive(Debug)]
pub struct Client {
    /// The number of the connection.
    pub connection: u64,
    /// The right to answer.
    pub ticket: Ticket,
}

/// A request of a client.
#[derive(Debug)]
struct Job {
    client: Client,
    kind: RequestKind,
    zeroes: bool,
    first: u64,
    /// Requests to the device that are not answered.
    left: u32,
    /// When the first of them was submitted, and the last answered.
    began: Option<SimTime>,
    ended: SimTime,
    failed: Option<(Errno, &'static str)>,
    payload: Option<Rc<Payload>>,
    answer: Option<Answer>,
    target: Target,
    /// What is still to be done, the next at the end.
    rest: Vec<Task>,
}

/// A part of a job that takes many requests to the device.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Trim the pages of these sectors that hold something.
    Trim { first: u64, end: u64 },
    /// Write zeroes to these sectors.
    Zero { first: u64, end: u64, fua: bool },
    /// Make it safe.
    Flush,
}

/// A request to the device that waits until it has room.
#[derive(Debug)]
struct WaitingRequest {
    job: usize,
    request: Request,
    data: Option<(Rc<Payload>, usize)>,
}

/// A job that is done.
#[derive(Debug)]
pub struct Settled {
    /// Who gets the reply.
    pub client: Client,
    /// Its kind.
    pub kind: RequestKind,
    /// Whether it wrote zeroes.
    pub zeroes: bool,
    /// The first sector on the device.
    pub first: u64,
    /// How long the device took.
    pub took: Nanos,
    /// When it was done.
    pub ended: SimTime,
    /// Why it failed, if it did.
    pub failed: Option<(Errno, &'static str)>,
    /// The data of a read.
    pub answer: Option<Answer>,
    /// The memory of a write's data.
    pub payload: Option<Payload>,
}

/// All jobs.
#[derive(Debug, Default)]
pub struct Jobs {
    jobs: Vec<Option<Job>>,
    free: Vec<usize>,
    /// By tag: the job of a request in the device.
    tags: Vec<usize>,
    free_tags: Vec<u32>,
    waiting: FairQueue<WaitingRequest>,
    /// Bytes of requests in the device.
    in_device: u64,
    settled: Vec<Settled>,
    /// Jobs that look for pages to trim when it is their turn.
    searching: VecDeque<usize>,
    /// Pages that may be looked at in this turn.
    looks: u64,
    /// What zeroes are written from.
    zeroes: Option<Rc<Payload>>,
}

/// A part of an export that a command is about, on the device.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Where the export begins on the device, in bytes.
    pub offset: u64,
    /// The stream of its requests.
    pub stream: u32,
}

impl Jobs {
    /// Jobs that are not done.
    #[must_use]
    pub fn open(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Whether requests wait for room in the device.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether jobs have something to do that needs no answer of the device: to look for pages to trim, or to submit a
    /// request for which it has room. Nothing else wakes the server then.
    #[must_use]
    pub fn can_go_on(&self, drive: &Drive) -> bool {
        !self.searching.is_empty() || self.has_next(drive)
    }

    /// Whether the next request fits into the device.
    fn has_next(&self, drive: &Drive) -> bool {
        let next = self.waiting.front(|next| drive.has_room(next.request.stream));
        next.is_some_and(|next| {
            self.in_device == 0 || self.in_device + bytes_moved(&next.request) <= MOST_IN_DEVICE
        })
    }

    /// Begins a turn of the server: jobs go on that looked for pages to trim for too long. Each has a share of the looks, so
    /// that a short search does not wait for long ones.
    pub fn search(&mut self, drive: &Drive) {
        let count = self.searching.len();
        for job in std::mem::take(&mut self.searching) {
            self.looks = (LOOKS / count as u64).max(LEAST_LOOKS);
            self.go_on(job, drive);
        }
        self.looks = LOOKS;
    }

    /// A client is gone: what it still waits for is dropped, and what is in the device is its last.
    pub fn leave(&mut self, connection: u64) {
        for WaitingRequest { job, .. } in self.waiting.remove(connection) {
            self.job(job).left -= 1;
        }
        let jobs = &self.jobs;
        let is_of = |job: &Job| job.client.connection == connection;
        self.searching.retain(|&number| !jobs[number].as_ref().is_some_and(is_of));
        for number in 0..self.jobs.len() {
            let Some(job) = self.jobs[number].as_mut().filter(|job| is_of(job)) else { continue };
            job.rest.clear();
            if job.left == 0 {
                self.jobs[number] = None;
                self.free.push(number);
            }
        }
    }

    /// Takes a command that needs the device.
    pub fn take(&mut self, client: Client, command: BlockCommand, target: Target, drive: &Drive) {
        let sector = |offset: u64| (target.offset + offset) / SECTOR_BYTES;
        match command {
            BlockCommand::Read(span) => {
                let request = plain(Op::Read, sector(span.offset), span.length, target);
                self.whole(client, RequestKind::Read, request, target, None);
            }
            BlockCommand::Write { offset, data, fua } => {
                let request = plain(Op::Write, sector(offset), data.len() as u32, target);
                let request = Request { fua, ..request };
                self.whole(client, RequestKind::Write, request, target, Some(Rc::new(data)));
            }
            BlockCommand::Flush => {
                let request = plain(Op::Flush, 0, 0, target);
                self.whole(client, RequestKind::Flush, request, target, None);
            }
            BlockCommand::Trim { span, fua } => {
                let first = sector(span.offset);
                let job = self.begin(client, RequestKind::Trim, first, target, None);
                let end = first + u64::from(span.length) / SECTOR_BYTES;
                let flush = fua.then_some(Task::Flush);
                self.job(job).rest = flush.into_iter().chain([Task::Trim { first, end }]).collect();
                self.go_on(job, drive);
            }
            BlockCommand::WriteZeroes { span, fua, no_hole, .. } => {
                let first = sector(span.offset);
                let job = self.begin(client, RequestKind::Write, first, target, None);
                self.job(job).zeroes = true;
                let as_data = no_hole || !drive.trims();
                let end = first + u64::from(span.length) / SECTOR_BYTES;
                self.job(job).rest = zeroing(first..end, fua, as_data, drive);
                self.go_on(job, drive);
            }
            // Without effect: the server answers them itself.
            BlockCommand::Cache(_) | BlockCommand::BlockStatus { .. } => {
                let job = self.begin(client, RequestKind::Read, 0, target, None);
                self.go_on(job, drive);
            }
        }
    }

    fn job(&mut self, job: usize) -> &mut Job {
        self.jobs[job].as_mut().expect("the job is open")
    }

    fn begin(
        &mut self,
        client: Client,
        kind: RequestKind,
        first: u64,
        target: Target,
        payload: Option<Rc<Payload>>,
    ) -> usize {
        let job = Job {
            client,
            kind,
            zeroes: false,
            first,
            left: 0,
            began: None,
            ended: SimTime::ZERO,
            failed: None,
            payload,
            answer: None,
            target,
            rest: Vec::new(),
        };
        match self.free.pop() {
            Some(number) => {
                self.jobs[number] = Some(job);
                number
            }
            None => {
                self.jobs.push(Some(job));
                self.jobs.len() - 1
            }
        }
    }

    /// A job of one request.
    fn whole(
        &mut self,
        client: Client,
        kind: RequestKind,
        request: Request,
        target: Target,
        data: Option<Rc<Payload>>,
    ) {
        let job = self.begin(client, kind, request.lba.0, target, data.clone());
        self.add(job, request, data.map(|data| (data, 0)));
    }

    fn add(&mut self, job: usize, request: Request, data: Option<(Rc<Payload>, usize)>) {
        self.job(job).left += 1;
        let client = self.job(job).client.connection;
        let weight = bytes_moved(&request) + REQUEST_WEIGHT;
        self.waiting.push(client, WaitingRequest { job, request, data }, weight);
    }

    /// Queues the next piece of a job that has nothing in the device. If none is left, the job is done.
    fn go_on(&mut self, number: usize, drive: &Drive) {
        while let Some(task) = self.job(number).rest.pop() {
            let target = self.job(number).target;
            match task {
                Task::Flush => return self.add(number, plain(Op::Flush, 0, 0, target), None),
                Task::Trim { first, end } => {
                    let most = TRIM_PIECE / SECTOR_BYTES;
                    let (lba, sectors) = match drive.next_to_trim(first, end, most, &mut self.looks)
                    {
                        ToTrim::Pages(lba, sectors) => (lba, sectors),
                        ToTrim::Nothing => continue,
                        ToTrim::NothingBefore(first) => {
                            self.job(number).rest.push(Task::Trim { first, end });
                            return self.searching.push_back(number);
                        }
                    };
                    let rest = Task::Trim { first: lba.0 + u64::from(sectors), end };
                    self.job(number).rest.push(rest);
                    let request = Request { lba, sectors, ..plain(Op::Trim, 0, 0, target) };
                    return self.add(number, request, None);
                }
                Task::Zero { first, end, .. } if first >= end => {}
                Task::Zero { first, end, fua } => {
                    let sectors = (ZERO_PIECE / SECTOR_BYTES).min(end - first);
                    let new = || Rc::new(Payload::zeroes(ZERO_PIECE as usize));
                    let zeroes = self.zeroes.get_or_insert_with(new).clone();
                    self.job(number).rest.push(Task::Zero { first: first + sectors, end, fua });
                    let bytes = (sectors * SECTOR_BYTES) as u32;
                    let request = Request { fua, ..plain(Op::Write, first, bytes, target) };
                    return self.add(number, request, Some((zeroes, 0)));
                }
            }
        }
        // Nothing of it was left to do for the device, or all of it is done, maybe a while ago.
        let now = drive.now();
        let job = self.job(number);
        job.ended = job.ended.max(*job.began.get_or_insert(now));
        self.settle(number);
    }

    /// Submits what the device has room for, at a moment that it has not passed.
    pub fn submit(
        &mut self,
        at: SimTime,
        drive: &mut Drive,
        mut tell: impl FnMut(&Request, SimTime),
    ) {
        while self.has_next(drive) {
            let next = self.waiting.pop(|next| drive.has_room(next.request.stream));
            let Some(WaitingRequest { job, request, data }) = next else { return };
            self.in_device += bytes_moved(&request);
            let tag = self.free_tags.pop().unwrap_or_else(|| {
                self.tags.push(0);
                self.tags.len() as u32 - 1
            });
            self.tags[tag as usize] = job;
            self.job(job).began.get_or_insert(at);
            tell(&request, at);
            drive.submit(at, Request { tag, ..request }, data);
        }
    }

    /// Takes an answer of the device.
    pub fn answered(&mut self, answer: Answer, drive: &mut Drive) {
        let completion = answer.completion;
        let tag = completion.request.tag;
        let number = self.tags[tag as usize];
        self.free_tags.push(tag);
        self.in_device -= bytes_moved(&completion.request);
        let job = self.job(number);
        job.left -= 1;
        job.ended = job.ended.max(completion.finished);
        match completion.outcome {
            Outcome::Done => {}
            Outcome::ReadOnly => {
                job.failed = Some((
                    Errno::NoSpace,
                    "the drive is at the end of its life and takes no more writes",
                ));
            }
            Outcome::Unreadable => {
                job.failed = Some((Errno::Io, "the data can't be read any more"))
            }
            Outcome::Zone(_) => job.failed = Some((Errno::Io, "the state of a zone forbids it")),
        }
        match job.kind == RequestKind::Read && job.failed.is_none() {
            true => job.answer = Some(answer),
            false => drive.recycle(answer),
        }
        let job = self.job(number);
        match (job.left, job.rest.is_empty() || job.failed.is_some()) {
            (0, true) => self.settle(number),
            (0, false) => self.go_on(number, drive),
            _ => {}
        }
    }

    /// Whether jobs are done whose replies were not sent.
    #[must_use]
    pub fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    fn settle(&mut self, number: usize) {
        let Some(job) = self.jobs[number].take() else { return };
        self.free.push(number);
        let Job { client, kind, zeroes, first, began, ended, failed, payload, answer, .. } = job;
        let took = began.map_or(Nanos::ZERO, |began| ended.saturating_since(began));
        let payload = payload.and_then(|payload| Rc::try_unwrap(payload).ok());
        self.settled.push(Settled {
            client,
            kind,
            zeroes,
            first,
            took,
            ended,
            failed,
            answer,
            payload,
        });
    }

    /// The server ends: what is not done never will be.
    pub fn refuse_all(&mut self, drive: &Drive) {
        self.waiting.clear();
        self.searching.clear();
        for number in 0..self.jobs.len() {
            if let Some(job) = &mut self.jobs[number] {
                job.failed.get_or_insert((Errno::Shutdown, "the server ends"));
                job.ended = drive.now();
                self.settle(number);
            }
        }
    }

    /// The jobs that are done since the last call.
    pub fn settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// Power was cut: nothing that is open is ever answered.
    pub fn drop_all(&mut self) {
        *self = Jobs::default();
    }
}

/// Bytes of data that a request moves.
fn bytes_moved(request: &Request) -> u64 {
    match request.op {
        Op::Read | Op::Write => u64::from(request.sectors) * SECTOR_BYTES,
        _ => 0,
    }
}

fn plain(op: Op, first: u64, bytes: u32, target: Target) -> Request {
    let sectors = bytes / SECTOR_BYTES as u32;
    Request { op, lba: Lba(first), sectors, stream: target.stream, tag: 0, fua: false }
}

/// The tasks that write zeroes to sectors: whole pages are trimmed, and then read as zeros, unless that is not wanted.
fn zeroing(sectors: Range<u64>, fua: bool, as_data: bool, drive: &Drive) -> Vec<Task> {
    let per_page = drive.page_bytes() / SECTOR_BYTES;
    let Range { start, end } = sectors;
    let (first, last) = (start.next_multiple_of(per_page), end / per_page * per_page);
    if as_data || first >= last {
        return vec![Task::Zero { first: start, end, fua }];
    }
    let ends = [(start, first), (last, end)].map(|(first, end)| Task::Zero { first, end, fua });
    ends.into_iter().chain([Task::Trim { first, end: last }]).collect()
}
