//! Requests of clients on their way through the device: what a client asks for becomes one or more requests of the
//! device, and their answers become one reply.

use std::collections::VecDeque;
use std::rc::Rc;

use ftlab::host::{Op, Outcome, Request};
use ftlab::units::{Lba, Nanos, SECTOR_BYTES, SimTime};

use super::latency::RequestKind;
use crate::drive::{Answer, Drive};
use crate::protocol::{BlockCommand, Errno, Payload, Span, Ticket};

/// The longest request to the device that trims or zeroes: others that come meanwhile are served in between.
const PIECE: u64 = 64 << 20;

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
    waiting: VecDeque<WaitingRequest>,
    settled: Vec<Settled>,
    runs: Vec<(Lba, u32)>,
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

    /// Takes a command that needs the device.
    pub fn take(&mut self, client: Client, command: BlockCommand, target: Target, drive: &Drive) {
        let sector = |offset: u64| (target.offset + offset) / SECTOR_BYTES;
        match command {
            BlockCommand::Read(span) => {
                let request = plain(Op::Read, sector(span.offset), span.length, target);
                self.whole(client, RequestKind::Read, request, None);
            }
            BlockCommand::Write { offset, data, fua } => {
                let request = plain(Op::Write, sector(offset), data.len() as u32, target);
                self.whole(
                    client,
                    RequestKind::Write,
                    Request { fua, ..request },
                    Some(Rc::new(data)),
                );
            }
            BlockCommand::Flush => {
                let request = Request { sectors: 0, ..plain(Op::Flush, 0, 0, target) };
                self.whole(client, RequestKind::Flush, request, None);
            }
            BlockCommand::Trim { span, fua } => {
                let job = self.begin(client, RequestKind::Trim, sector(span.offset), None);
                self.trim(job, span, target, drive);
                if fua {
                    self.flush(job, target);
                }
                self.settle_empty(job, drive.now());
            }
            BlockCommand::WriteZeroes { span, fua, no_hole, .. } => {
                let job = self.begin(client, RequestKind::Write, sector(span.offset), None);
                self.job(job).zeroes = true;
                match no_hole || !drive.trims() {
                    true => self.zero(job, span, fua, target),
                    false => self.zero_by_trims(job, span, fua, target, drive),
                }
                self.settle_empty(job, drive.now());
            }
            // Without effect: the server answers them itself.
            BlockCommand::Cache(_) | BlockCommand::BlockStatus { .. } => {
                let job = self.begin(client, RequestKind::Read, 0, None);
                self.settle_empty(job, drive.now());
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
        data: Option<Rc<Payload>>,
    ) {
        let job = self.begin(client, kind, request.lba.0, data.clone());
        self.add(job, request, data.map(|data| (data, 0)));
    }

    fn add(&mut self, job: usize, request: Request, data: Option<(Rc<Payload>, usize)>) {
        self.job(job).left += 1;
        self.waiting.push_back(WaitingRequest { job, request, data });
    }

    fn flush(&mut self, job: usize, target: Target) {
        let request = Request { sectors: 0, ..plain(Op::Flush, 0, 0, target) };
        self.add(job, request, None);
    }

    /// Trims the whole pages of a span that hold something.
    fn trim(&mut self, job: usize, span: Span, target: Target, drive: &Drive) {
        let (first, sectors) = sectors_of(span, target);
        let mut runs = std::mem::take(&mut self.runs);
        drive.to_trim(first, sectors, &mut runs);
        for (lba, sectors) in runs.drain(..) {
            self.trim_run(job, lba, sectors, target);
        }
        self.runs = runs;
    }

    fn trim_run(&mut self, job: usize, lba: Lba, sectors: u32, target: Target) {
        let most = (PIECE / SECTOR_BYTES) as u32;
        let mut done = 0;
        while done < sectors {
            let sectors = most.min(sectors - done);
            let request = Request {
                op: Op::Trim,
                lba: Lba(lba.0 + u64::from(done)),
                sectors,
                stream: target.stream,
                tag: 0,
                fua: false,
            };
            self.add(job, request, None);
            done += sectors;
        }
    }

    /// Writes zeroes as data.
    fn zero(&mut self, job: usize, span: Span, fua: bool, target: Target) {
        let most = crate::protocol::limits::MOST_PAYLOAD as u64;
        let zeroes = Rc::new(Payload::zeroes(most.min(u64::from(span.length)) as usize));
        let mut done = 0;
        while done < u64::from(span.length) {
            let length = most.min(u64::from(span.length) - done);
            let first = (target.offset + span.offset + done) / SECTOR_BYTES;
            let request = plain(Op::Write, first, length as u32, target);
            self.add(job, Request { fua, ..request }, Some((zeroes.clone(), 0)));
            done += length;
        }
    }

    /// Trims whole pages, which then read as zeros, and writes zeros to the ends.
    fn zero_by_trims(&mut self, job: usize, span: Span, fua: bool, target: Target, drive: &Drive) {
        let page = drive.page_bytes();
        let (from, to) =
            (target.offset + span.offset, target.offset + span.offset + u64::from(span.length));
        let (first, last) = (from.next_multiple_of(page), to / page * page);
        let part =
            |from: u64, to: u64| Span { offset: from - target.offset, length: (to - from) as u32 };
        if first >= last {
            return self.zero(job, span, fua, target);
        }
        self.trim(job, part(first, last), target, drive);
        for (from, to) in [(from, first), (last, to)] {
            if from < to {
                self.zero(job, part(from, to), fua, target);
            }
        }
    }

    /// A job that needs nothing of the device is done.
    fn settle_empty(&mut self, job: usize, now: SimTime) {
        if self.job(job).left == 0 {
            self.job(job).began = Some(now);
            self.job(job).ended = now;
            self.settle(job);
        }
    }

    /// Submits what the device has room for, at a moment that it has not passed.
    pub fn submit(
        &mut self,
        at: SimTime,
        drive: &mut Drive,
        mut tell: impl FnMut(&Request, SimTime),
    ) {
        while let Some(next) = self.waiting.front() {
            if !drive.has_room(next.request.stream) {
                return;
            }
            let Some(WaitingRequest { job, request, data }) = self.waiting.pop_front() else {
                return;
            };
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
        }
        match job.kind == RequestKind::Read && job.failed.is_none() {
            true => job.answer = Some(answer),
            false => drive.recycle(answer),
        }
        if self.job(number).left == 0 {
            self.settle(number);
        }
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

    /// The jobs that are done since the last call.
    pub fn settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// Power was cut: nothing that is open is ever answered.
    pub fn drop_all(&mut self) {
        *self = Jobs::default();
    }
}

fn plain(op: Op, first: u64, bytes: u32, target: Target) -> Request {
    let sectors = bytes / SECTOR_BYTES as u32;
    Request { op, lba: Lba(first), sectors, stream: target.stream, tag: 0, fua: false }
}

fn sectors_of(span: Span, target: Target) -> (u64, u64) {
    ((target.offset + span.offset) / SECTOR_BYTES, u64::from(span.length) / SECTOR_BYTES)
}
