//! The server: one thread that owns the clock, the sockets and the drive.
//!
//! It waits for sockets and for the device's next event, whichever is first; takes what clients ask for; lets the
//! device go as far as its clock allows; commits if an answer promises that something lasts; and only then sends the
//! answers.

mod clock;
mod ending;
mod fair;
mod jobs;
mod latency;
mod listen;
mod orders;
mod peers;
mod poll;
mod record;
mod signals;
mod spec;
mod watch;

pub use record::RecordSpec;
pub use spec::{ExportSpec, Listen, SaveSpec, ServerSpec, place};

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ftlab::host::Advanced;
use ftlab::units::{Nanos, SECTOR_BYTES, SimTime};
use ftlab_lab::failure::Failure;
use ftlab_workload::trace::TraceWriter;

use self::clock::Timekeeper;
use self::jobs::{Client, Jobs, Settled, Target};
use self::listen::Listener;
use self::peers::{BlockPeer, HttpPeer, PeerMemory};
use self::poll::SocketsReady;
use self::watch::Watched;
use crate::control::OriginRules;
use crate::drive::{Answer, Drive};
use crate::protocol::{BlockCommand, Errno, Export, Request, Span, StatusExtent};

/// How long the device may work before sockets get their turn, on the wall.
const SLICE: Duration = Duration::from_millis(2);
/// Answers of the device after which sockets get their turn, with the `simulated` clock.
const ANSWERS: usize = 8;
/// Bytes that the device answers before sockets get their turn: to send them takes time, too.
const ANSWERED: u64 = 4 << 20;
/// Pages that are looked at in one turn for clients that want to know what is written. They ask again for the rest.
const STATUS_LOOKS: u64 = 1 << 16;
/// The least of them for one request.
const LEAST_STATUS_LOOKS: u64 = 64;
/// What has happened is committed after this time, even if no answer promises that it lasts. Until then neighbours come
/// together.
const COMMIT: Duration = Duration::from_millis(20);
/// For so long the server looks again and again after a client has sent something, instead of sleeping.
const SPIN: Duration = Duration::from_micros(50);
/// The longest time between two looks at clients that came half-way and at those who look.
const TICK: Duration = Duration::from_secs(1);
/// The most who look at the drive at once.
const MOST_HTTP: usize = 32;

/// What the server tells a person.
pub type Log<'a> = &'a mut dyn FnMut(&str);

/// A server.
pub struct Server {
    drive: Drive,
    spec: ServerSpec,
    exports: Arc<[Export]>,
    /// Where the commands of each export go.
    targets: Vec<Target>,
    time: Timekeeper,
    block_listeners: Vec<Listener>,
    http_listeners: Vec<(Listener, OriginRules)>,
    peers: Vec<BlockPeer>,
    lookers: Vec<HttpPeer>,
    jobs: Jobs,
    watched: Watched,
    answers: Vec<Answer>,
    requests: Vec<Request>,
    next_number: u64,
    /// Pages that may still be looked at in this turn for clients that want to know what is written.
    status_looks: u64,
    next_cut: Option<Instant>,
    /// When what has happened is committed, even if no answer needs it.
    commit_by: Option<Instant>,
    /// Until when nobody is let in, because the process has too many files open.
    full_until: Option<Instant>,
    /// When a client last sent something.
    last_asked: Instant,
    /// Since when nothing was asked.
    idle_since: Option<Instant>,
    /// With the `simulated` clock: until when a pause of the clients lasts that the device is still catching up with.
    pause_until: Option<SimTime>,
    recorder: Option<record::TraceRecorder>,
    signals: signals::StopSignals,
    stops: Option<&'static str>,
}

impl Server {
    /// Makes a server of a drive that has started, and begins to listen. From now on its data file can be used again, even
    /// if the server is killed.
    ///
    /// # Errors
    /// An export does not fit, a socket can't be had, or the data file can't be written.
    pub fn new(mut drive: Drive, spec: ServerSpec) -> Result<Server, Failure> {
        if spec.cut_every.is_some() {
            drive.can_be_cut()?;
        }
        let exports: Arc<[Export]> = spec.exports(&drive)?.into();
        let block_listeners = spec.listen.block()?;
        let http_listeners = spec.listen.http()?;
        spec.check_files(&drive)?;
        let recorder = spec.record.as_ref().map(record::TraceRecorder::new).transpose()?;
        let signals = signals::StopSignals::listen(at_once(&drive, &spec));
        // Who connects meanwhile waits.
        let begun = signals.and_then(|signals| drive.begin().map(|()| signals));
        let (signals, recorder) = match begun {
            Ok(signals) => (signals, recorder),
            Err(failure) => {
                if let Some(recorder) = recorder {
                    recorder.discard();
                }
                return Err(failure);
            }
        };
        let now = Instant::now();
        Ok(Server {
            time: Timekeeper::new(spec.clock, drive.now()),
            watched: Watched::new(&drive),
            next_cut: spec.cut_every.map(|every| now + every),
            drive,
            targets: spec::targets(&exports),
            exports,
            block_listeners,
            http_listeners,
            peers: Vec::new(),
            lookers: Vec::new(),
            jobs: Jobs::default(),
            answers: Vec::new(),
            requests: Vec::new(),
            next_number: 1,
            status_looks: STATUS_LOOKS,
            commit_by: None,
            full_until: None,
            last_asked: now,
            idle_since: None,
            pause_until: None,
            recorder,
            signals,
            stops: None,
            spec,
        })
    }

    /// Where it listens, in words: each export by its name, if there are several.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        let uris = |export| self.spec.listen.uris(&self.block_listeners, export);
        let sockets: Vec<String> = self.exports.iter().flat_map(uris).collect();
        let pages = self.http_listeners.iter().filter_map(|(listener, _)| listener.address());
        sockets.into_iter().chain(pages.map(|address| format!("http://{address}/"))).collect()
    }

    /// Serves until a signal or an order stops it, and shuts the drive down.
    ///
    /// # Errors
    /// The data file can't be written, or the drive can't be shut down.
    pub fn run(mut self, log: Log<'_>) -> Result<(), Failure> {
        poll::sleep_exactly();
        let served = self.serve(log);
        let ended = served.and_then(|()| self.end(log));
        self.end_recording(ended, log)
    }

    /// Serves until something stops it.
    fn serve(&mut self, log: Log<'_>) -> Result<(), Failure> {
        while self.stops.is_none() {
            let ready = self.wait();
            if ready.signalled {
                self.stops = Some("by a signal");
                break;
            }
            self.take_in(&ready, log)?;
            self.go_on()?;
            self.reply(log);
            self.look_after(log)?;
        }
        Ok(())
    }

    /// Waits for something to do.
    fn wait(&self) -> SocketsReady {
        let now = Instant::now();
        let mut timeout = self.watched.due(now).min(TICK);
        if let Some(cut) = self.next_cut {
            timeout = timeout.min(cut.saturating_duration_since(now));
        }
        if let Some(commit) = self.commit_by {
            timeout = timeout.min(commit.saturating_duration_since(now));
        }
        // Who has just asked soon asks again, and being woken takes longer than that.
        if now - self.last_asked < SPIN || self.jobs.can_go_on(&self.drive) {
            timeout = Duration::ZERO;
        }
        let moment = self.drive.next_moment();
        if self.jobs.open() > 0 && self.time.limit(now).is_none() {
            timeout = Duration::ZERO;
        } else if let Some(moment) = moment
            && self.time.limit(now).is_some()
        {
            timeout = timeout.min(self.time.wait_for(moment, now).unwrap_or_default());
        }
        let lets_in = self.full_until.is_none_or(|until| until <= now);
        let listens = |count: usize| if lets_in { count } else { 0 };
        poll::wait(
            &self.block_listeners[..listens(self.block_listeners.len())],
            &self.http_listeners[..listens(self.http_listeners.len())],
            &self.peers,
            &self.lookers,
            &self.signals,
            timeout,
        )
    }

    /// Takes what came through the sockets.
    fn take_in(&mut self, ready: &SocketsReady, log: Log<'_>) -> Result<(), Failure> {
        if ready.listeners {
            self.accept(log);
        }
        self.status_looks = STATUS_LOOKS;
        let mut requests = std::mem::take(&mut self.requests);
        if !ready.peers.is_empty() {
            self.last_asked = Instant::now();
        }
        let mut memory = PeerMemory::of(&self.peers);
        for number in &ready.peers {
            let Some(at) = self.peers.iter().position(|peer| peer.number == *number) else {
                continue;
            };
            let closing = memory.during(&mut self.peers[at], |peer| peer.receive(&mut requests));
            self.begin(at, &mut requests);
            if let Some(closing) = closing
                && !closing.is_orderly()
            {
                log(&format!("client {number} {closing}"));
            }
        }
        self.requests = requests;
        for &at in &ready.lookers {
            self.lookers.get_mut(at).map(HttpPeer::receive);
        }
        self.answer_lookers(log)
    }

    fn accept(&mut self, log: Log<'_>) {
        for listener in &self.block_listeners {
            while let Some(fd) = listener.accept(&mut self.full_until) {
                self.watched.connections_total += 1;
                if self.peers.len() >= self.spec.connections
                    && !peers::make_room(&mut self.peers, log)
                {
                    self.watched.connections_refused += 1;
                    log(&format!(
                        "a client was turned away: {} are connected already",
                        self.peers.len()
                    ));
                    continue;
                }
                let exports = self.exports.clone();
                self.peers.push(BlockPeer::new(self.next_number, fd, exports));
                self.next_number += 1;
            }
        }
        for (listener, rules) in &self.http_listeners {
            while let Some(fd) = listener.accept(&mut self.full_until) {
                if self.lookers.len() >= MOST_HTTP {
                    peers::drop_idlest(&mut self.lookers);
                }
                self.lookers.push(HttpPeer::new(fd, *rules));
            }
        }
    }

    /// Begins the requests of a client.
    fn begin(&mut self, at: usize, requests: &mut Vec<Request>) {
        for Request { command, ticket, .. } in requests.drain(..) {
            let peer = &mut self.peers[at];
            let Some(export) = peer.export else { continue };
            let target = self.targets[export];
            match command {
                BlockCommand::BlockStatus { span, .. } => {
                    let looks = self.status_looks.max(LEAST_STATUS_LOOKS);
                    let pages = u64::from(span.length).div_ceil(self.drive.page_bytes());
                    self.status_looks = self.status_looks.saturating_sub(pages);
                    let extents = extents(span, target, looks, &self.drive);
                    peer.session.block_status(ticket, extents);
                }
                BlockCommand::Cache(_) => peer.session.done(ticket),
                // Zeroes that stay allocated are written like other data.
                BlockCommand::WriteZeroes { no_hole, fast: true, .. }
                    if no_hole || !self.drive.trims() =>
                {
                    let why = "zeroes are written as data here, which is not faster";
                    peer.session.fail(ticket, Errno::NotSupported, why);
                }
                command => {
                    let client = Client { connection: peer.number, ticket };
                    self.jobs.take(client, command, target, &self.drive);
                }
            }
        }
    }

    /// Lets the device work, as far as its clock allows, and commits what it did.
    fn go_on(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        self.jobs.search(&self.drive);
        let mut answers = std::mem::take(&mut self.answers);
        let went = match self.time.limit(began) {
            Some(limit) => self.follow_wall(limit, began, &mut answers),
            None => self.follow_requests(began, &mut answers),
        };
        // What was answered as nothing to do may rest on what another client has done.
        let promised =
            self.jobs.has_settled() || answers.iter().any(|answer| self.drive.promises(answer));
        if self.drive.has_news() {
            self.commit_by.get_or_insert(began + COMMIT);
        }
        let due = promised || self.commit_by.is_some_and(|by| by <= began);
        let committed = match due {
            true => {
                self.commit_by = None;
                went.and_then(|()| self.drive.commit())
            }
            false => went,
        };
        committed.map_err(|error| self.unusable(&error))?;
        for answer in answers.drain(..) {
            self.jobs.answered(answer, &mut self.drive);
        }
        self.answers = answers;
        Ok(())
    }

    /// The data file failed.
    fn unusable(&self, error: &io::Error) -> Failure {
        Failure::File(format!(
            "the data file can't be used any more: {error}; what was acknowledged is as after a power cut\n  remedy: {}",
            self.drive.remedy(error.kind())
        ))
    }

    fn follow_wall(
        &mut self,
        limit: SimTime,
        began: Instant,
        answers: &mut Vec<Answer>,
    ) -> io::Result<()> {
        self.submit(limit);
        while self.drive.now() < limit {
            let advanced = self.advance(limit, began, answers)?;
            self.submit(limit);
            if advanced != Some(Advanced::Completed) || is_enough(answers, began) {
                break;
            }
        }
        Ok(())
    }

    /// Lets the device work until requests complete, to `limit`, or until the turn that began then is over. The latter is
    /// none.
    fn advance(
        &mut self,
        limit: SimTime,
        began: Instant,
        answers: &mut Vec<Answer>,
    ) -> io::Result<Option<Advanced>> {
        loop {
            let advanced = self.drive.step(limit, answers)?;
            if advanced.is_some() || began.elapsed() > SLICE {
                return Ok(advanced);
            }
        }
    }

    fn follow_requests(&mut self, began: Instant, answers: &mut Vec<Answer>) -> io::Result<()> {
        if self.jobs.open() == 0 {
            self.idle_since.get_or_insert(began);
            return Ok(());
        }
        if let Some(since) = self.idle_since.take() {
            self.pause_until = self.time.after_pause(began - since, self.drive.now());
        }
        while let Some(limit) = self.pause_until.filter(|&limit| self.drive.now() < limit) {
            match self.advance(limit, began, answers)? {
                Some(Advanced::Completed) => {}
                Some(_) => break,
                None => return Ok(()),
            }
        }
        self.pause_until = None;
        self.submit_next(answers)?;
        while answers.len() < ANSWERS && self.drive.in_flight() > 0 {
            if self.advance(SimTime::FOREVER, began, answers)? == Some(Advanced::Idle) {
                break;
            }
            self.submit_next(answers)?;
            if is_enough(answers, began) {
                break;
            }
        }
        Ok(())
    }

    /// Submits what waits after all that the device does at this moment. A host that answers what it was told can't be
    /// earlier, and a replay of what was recorded then has the same order.
    fn submit_next(&mut self, answers: &mut Vec<Answer>) -> io::Result<()> {
        let now = self.drive.now();
        while self.jobs.waits() && self.drive.next_moment() == Some(now) {
            self.drive.advance(now, answers)?;
        }
        self.submit(now + Nanos(1));
        Ok(())
    }

    /// Submits what waits, as late as `limit` if the device does nothing before.
    fn submit(&mut self, limit: SimTime) {
        if !self.jobs.waits() {
            return;
        }
        let now = self.drive.now();
        let next = self.drive.next_moment().unwrap_or(limit);
        let at = limit.min(next).max(now);
        let recorder = &mut self.recorder;
        self.jobs.submit(at, &mut self.drive, |request, at| {
            if let Some(recorder) = recorder {
                recorder.record(request, at);
            }
        });
    }

    /// Sends the replies of jobs that are done.
    fn reply(&mut self, log: Log<'_>) {
        let now = Instant::now();
        for settled in self.jobs.settled() {
            self.reply_to(settled, now);
        }
        self.peers.iter_mut().for_each(BlockPeer::send);
        let mut memory = PeerMemory::of(&self.peers);
        let mut requests = std::mem::take(&mut self.requests);
        for at in 0..self.peers.len() {
            // A session that had too much to do may go on.
            let closing = memory.during(&mut self.peers[at], |peer| peer.look(&mut requests));
            self.begin(at, &mut requests);
            if let Some(closing) = closing.filter(|closing| !closing.is_orderly()) {
                log(&format!("client {} {closing}", self.peers[at].number));
            }
        }
        self.requests = requests;
        for peer in self.peers.iter().filter(|peer| peer.is_over()) {
            if let Some(why) = peer.broke {
                log(&format!("the connection of client {} broke: {why}", peer.number));
            }
            self.jobs.leave(peer.number);
        }
        self.peers.retain(|peer| !peer.is_over());
    }

    fn reply_to(&mut self, settled: Settled, now: Instant) {
        let Settled { client, kind, zeroes, first, took, ended, failed, answer, payload } = settled;
        self.watched.count(kind, zeroes, failed.is_some());
        self.watched.latency(kind, took, self.time.late(ended, now));
        let peer = self.peers.iter_mut().find(|peer| peer.number == client.connection);
        if let Some(peer) = peer {
            match (failed, &answer) {
                (Some((errno, message)), _) => peer.session.fail(client.ticket, errno, message),
                (None, Some(answer)) => {
                    let bytes = answer.completion.request.sectors * SECTOR_BYTES as u32;
                    let mut reply = peer.session.read(client.ticket);
                    answer.put(first, reply.data(bytes));
                }
                (None, None) => peer.session.done(client.ticket),
            }
            if let Some(payload) = payload {
                peer.session.recycle(payload);
            }
        }
        if let Some(answer) = answer {
            self.drive.recycle(answer);
        }
    }

    /// Cuts that are due, clients that never came, and the reading of the moment.
    fn look_after(&mut self, log: Log<'_>) -> Result<(), Failure> {
        let now = Instant::now();
        if self.next_cut.is_some_and(|cut| cut <= now) {
            self.cut(log)?;
            self.next_cut = self.spec.cut_every.map(|every| now + every);
        }
        if self.watched.is_due(now) {
            self.read(now);
            if let Some(ended) = self.recorder.as_mut().and_then(record::TraceRecorder::flush) {
                log(&ended);
            }
            for peer in self.peers.iter().filter(|peer| peer.is_half_open(now)) {
                log(&format!("client {} chose no export in time", peer.number));
            }
            self.peers.retain(|peer| !peer.is_half_open(now));
        }
        self.lookers.retain(|looker| !looker.is_over(now));
        Ok(())
    }

    /// Cuts the power of the drive and restores it. All clients lose their connection, as the host of a real drive would.
    fn cut(&mut self, log: Log<'_>) -> Result<(), Failure> {
        let open = self.jobs.open();
        let time = self.drive.cut_power()?;
        self.jobs.drop_all();
        self.answers.clear();
        let clients = self.peers.len();
        self.peers.clear();
        self.time.meet(self.drive.now());
        (self.idle_since, self.pause_until) = (None, None);
        log(&format!(
            "power was cut: {open} requests are not answered, {clients} clients are disconnected, {} acknowledged pages \
             were only in DRAM; the drive is ready after {} of simulated time",
            self.drive.cuts.last_lost_pages.unwrap_or(0),
            ftlab_lab::human::span(time.0)
        ));
        Ok(())
    }
}

/// Whether a turn has taken long enough, or has brought enough to send.
fn is_enough(answers: &[Answer], began: Instant) -> bool {
    let sectors = |answer: &Answer| u64::from(answer.completion.request.sectors);
    let bytes = answers.iter().map(sectors).sum::<u64>() * SECTOR_BYTES;
    bytes > ANSWERED || began.elapsed() > SLICE
}

/// What is written of a span, or of its first pages.
fn extents(
    span: Span,
    target: Target,
    pages: u64,
    drive: &Drive,
) -> impl Iterator<Item = StatusExtent> + '_ {
    let first = (target.offset + span.offset) / SECTOR_BYTES;
    let most = pages * drive.page_bytes() / SECTOR_BYTES;
    let parts = drive.written(first, most.min(u64::from(span.length) / SECTOR_BYTES));
    parts.map(|(_, sectors, written)| StatusExtent {
        length: sectors * SECTOR_BYTES,
        hole: !written,
        zeroes: !written,
    })
}

/// What ending at once would leave.
fn at_once(drive: &Drive, spec: &ServerSpec) -> signals::AtOnce {
    let listen = &spec.listen;
    let sockets = listen.unix.iter().chain([&listen.control]).cloned().collect();
    let lost = match drive.recovers() {
        true => {
            "To the drive that is a power cut: its next start recovers, and acknowledged data that was not flushed may \
             be lost."
        }
        false => {
            "The drive was not saved, and its data is lost: it keeps nothing for recovery (ftl.recovery.policy = \
             \"none\")."
        }
    };
    let recorded = spec.record.as_ref().map(|record| {
        let unfinished = TraceWriter::unfinished(&record.path);
        format!(
            " What was recorded is in {}, or complete in {}.",
            unfinished.display(),
            record.path.display()
        )
    });
    signals::AtOnce { lost: lost.to_owned(), recorded: recorded.unwrap_or_default(), sockets }
}
