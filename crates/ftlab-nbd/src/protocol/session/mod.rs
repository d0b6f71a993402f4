//! One connection, as a state machine: what was received becomes requests, and answers become what is to be sent.

mod checks;
mod closing;
mod input;
mod options;
mod output;
mod payload;
mod replies;
mod requests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::checks::{RequestRefusal, Terms};
use self::input::Input;
use self::options::Haggling;
use self::output::Output;
use self::payload::{Partial, PayloadPool};
use super::Export;
use super::codec::handshake::{self, OptionNumber};
use super::codec::transmission::RequestHeader;
use super::limits::{MOST_IF_SCARCE, MOST_IN_FLIGHT, MOST_OPTION_OUTPUT, MOST_REQUESTS};

pub use self::closing::Closing;
pub use self::payload::Payload;
pub use self::replies::{ReadReply, StatusExtent};
pub use self::requests::{BlockCommand, Request, Ticket};
pub use super::codec::transmission::Span;

/// What the server must know or do.
#[derive(Debug, PartialEq)]
pub enum SessionEvent {
    /// The client chose an export: its place in the list. Requests follow.
    Opened(usize),
    /// Carry out a request and answer it.
    Request(Request),
    /// Nothing more will come. Requests in flight are still to be answered; see [`Session::is_finished`].
    Closed(Closing),
}

/// The server's side of one connection.
///
/// ```
/// # use ftlab_nbd::protocol::{BlockCommand, Errno, SessionEvent, Session};
/// # fn serve(session: &mut Session, socket: &mut (impl std::io::Read + std::io::Write)) -> std::io::Result<()> {
/// while !session.is_finished() {
///     while let Some(event) = session.next() {
///         if let SessionEvent::Request(request) = event {
///             session.fail(request.ticket, Errno::Io, "this disk is broken");
///         }
///     }
///     let count = socket.write(session.output())?;
///     session.sent(count);
///     if session.wants_input() {
///         match socket.read(session.space())? {
///             0 => session.hung_up(),
///             count => session.received(count),
///         }
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    exports: Arc<[Export]>,
    phase: Phase,
    terms: Terms,
    input: Input,
    output: Output,
    payloads: PayloadPool,
    load: Load,
    /// Whether memory is scarce.
    spares: bool,
    /// Whether `next` found no complete message.
    hungry: bool,
}

/// What comes next from the client.
#[derive(Debug)]
enum Phase {
    /// Its flags.
    Greeting,
    /// An option.
    Options(Haggling),
    /// Rest of the data of an option that is too big.
    SkippedOption { haggling: Haggling, option: OptionNumber, left: usize },
    /// A request to this export.
    Requests(usize),
    /// The payload of a write.
    Payload { export: usize, request: RequestHeader, partial: Partial },
    /// Rest of the payload of a write that is refused.
    SkippedPayload { export: usize, request: RequestHeader, refusal: RequestRefusal, left: usize },
    /// Nothing, and the server has to be told.
    Closing(Closing),
    /// Nothing.
    Closed,
}

/// What waits for the server to answer.
#[derive(Debug, Default)]
struct Load {
    requests: u32,
    bytes: usize,
}

/// What a look at the input led to.
#[derive(Debug)]
enum SessionStep {
    /// Something for the server.
    SessionEvent(SessionEvent),
    /// Something that the session settled itself.
    Onward,
    /// More bytes are needed.
    Hungry,
    /// Too much waits already.
    Full,
}

impl Session {
    /// Begins a connection to a server that has these exports. The first is also the one without a name.
    #[must_use]
    pub fn new(exports: Arc<[Export]>) -> Self {
        let mut output = Output::default();
        output.put(&handshake::greeting(options::OFFERED));
        Self {
            exports,
            phase: Phase::Greeting,
            terms: Terms::default(),
            input: Input::new(),
            output,
            payloads: PayloadPool::default(),
            load: Load::default(),
            spares: false,
            hungry: true,
        }
    }

    /// Returns the place to receive into. Long payloads of writes arrive where they stay. Call it if
    /// [`wants_input`](Self::wants_input).
    pub fn space(&mut self) -> &mut [u8] {
        match &mut self.phase {
            Phase::Payload { partial, .. } => partial.space(),
            _ => self.input.space(),
        }
    }

    /// Counts bytes that were put at the front of [`space`](Self::space).
    pub fn received(&mut self, count: usize) {
        match &mut self.phase {
            Phase::Payload { partial, .. } => partial.received(count),
            Phase::Closing(_) | Phase::Closed => {}
            _ => self.input.received(count),
        }
        self.hungry &= count == 0;
    }

    /// Says that nothing more will be received.
    pub fn hung_up(&mut self) {
        let between =
            matches!(self.phase, Phase::Greeting | Phase::Options(_) | Phase::Requests(_));
        match self.phase {
            Phase::Closing(_) | Phase::Closed => {}
            _ if between && self.input.filled().is_empty() => self.close(Closing::HungUp),
            _ => self.close(Closing::HungUpInMessage),
        }
    }

    /// Returns the next thing for the server. `None` until more is received, sent or answered.
    #[expect(clippy::should_implement_trait, reason = "more may follow a `None`")]
    pub fn next(&mut self) -> Option<SessionEvent> {
        loop {
            let step = self.step();
            self.hungry = matches!(step, SessionStep::Hungry);
            match step {
                SessionStep::SessionEvent(event) => return Some(event),
                SessionStep::Onward => {}
                SessionStep::Hungry | SessionStep::Full => return None,
            }
        }
    }

    /// Returns what is to be sent.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.output.pending()
    }

    /// Counts bytes of [`output`](Self::output) that were sent.
    pub fn sent(&mut self, count: usize) {
        self.output.sent(count);
    }

    /// Returns whether the server should receive. Not before [`next`](Self::next) returned `None`, and not while too
    /// much waits to be answered or sent. A payload whose write was accepted is always received.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.hungry
            && match self.phase {
                Phase::Payload { .. } | Phase::SkippedPayload { .. } => true,
                Phase::SkippedOption { .. } => true,
                Phase::Greeting | Phase::Options(_) => self.output.len() <= MOST_OPTION_OUTPUT,
                Phase::Requests(_) => self.has_capacity(0),
                Phase::Closing(_) | Phase::Closed => false,
            }
    }

    /// Returns whether the connection can be closed: nothing more will come, be answered or be sent.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Closed) && self.load.requests == 0 && self.output.len() == 0
    }

    /// Returns the number of requests without an answer.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.load.requests
    }

    /// Returns how many bytes are held for the client: of requests in flight, and of replies not yet sent.
    #[must_use]
    pub fn held(&self) -> usize {
        self.load.bytes + self.output.len()
    }

    /// Returns how many bytes are kept to be used again.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.output.kept() + self.payloads.kept()
    }

    /// Says whether memory is scarce: then the session takes little.
    pub fn spare_memory(&mut self, scarce: bool) {
        self.spares = scarce;
    }

    /// Gives back what is only kept to be used again.
    pub fn give_back_memory(&mut self) {
        self.output.shrink();
        self.payloads = PayloadPool::default();
    }

    /// Takes back the data of a write, whose place is used again.
    pub fn recycle(&mut self, payload: Payload) {
        self.payloads.recycle(payload);
    }

    /// Returns whether another request can be taken that holds so many bytes until its answer is sent.
    fn has_capacity(&self, bytes: usize) -> bool {
        let held = self.held() + bytes;
        let most = if self.spares { MOST_IF_SCARCE } else { MOST_IN_FLIGHT };
        self.load.requests < MOST_REQUESTS && (held <= most || held == bytes)
    }

    fn close(&mut self, reason: Closing) {
        self.phase = Phase::Closing(reason);
        self.hungry = false;
    }

    fn close_step(&mut self, reason: Closing) -> SessionStep {
        self.close(reason);
        SessionStep::Onward
    }

    fn step(&mut self) -> SessionStep {
        match self.phase {
            Phase::Greeting => self.greeting(),
            Phase::Options(haggling) => self.option(haggling),
            Phase::SkippedOption { haggling, option, ref mut left } => {
                if skip(&mut self.input, left) {
                    self.refuse_big(option);
                    self.phase = Phase::Options(haggling);
                    return SessionStep::Onward;
                }
                SessionStep::Hungry
            }
            Phase::Requests(export) => self.request(export),
            Phase::Payload { .. } => self.payload(),
            Phase::SkippedPayload { export, request, refusal, ref mut left } => {
                if skip(&mut self.input, left) {
                    self.refuse(&request, refusal);
                    self.phase = Phase::Requests(export);
                    return SessionStep::Onward;
                }
                SessionStep::Hungry
            }
            Phase::Closing(_) => self.closing(),
            Phase::Closed => SessionStep::Full,
        }
    }

    fn closing(&mut self) -> SessionStep {
        match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Closing(reason) => SessionStep::SessionEvent(SessionEvent::Closed(reason)),
            _ => SessionStep::Full,
        }
    }
}

/// Skips what there is of `left` bytes, and returns whether that was all.
fn skip(input: &mut Input, left: &mut usize) -> bool {
    let count = input.filled().len().min(*left);
    input.consume(count);
    *left -= count;
    *left == 0
}
