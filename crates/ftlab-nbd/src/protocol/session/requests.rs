//! From received bytes to requests: section "Request message" and "Request types".

use super::checks::{RequestRefusal, check};
use super::{Closing, Payload, Phase, Session, SessionEvent, SessionStep, Span};
use crate::protocol::codec::flags::CommandFlags;
use crate::protocol::codec::handshake::BadMagic;
use crate::protocol::codec::transmission::{Action, Cookie, REQUEST_HEADER, RequestHeader};
use crate::protocol::limits::MOST_SKIPPED_PAYLOAD;

/// A valid request. Nothing in it is empty or beyond the end of its export.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// Place of its export in the list.
    pub export: usize,
    /// What to do.
    pub command: BlockCommand,
    /// What to answer with.
    pub ticket: Ticket,
}

/// What a request asks for.
#[derive(Debug, PartialEq)]
pub enum BlockCommand {
    /// Send data: [`Session::read`].
    Read(Span),
    /// Store data.
    Write {
        /// First byte.
        offset: u64,
        /// The data. Give it back by [`Session::recycle`].
        data: Payload,
        /// Whether it must be safe before the answer.
        fua: bool,
    },
    /// Make all writes that were answered safe.
    Flush,
    /// Forget data.
    Trim {
        /// Which.
        span: Span,
        /// Whether that must be safe before the answer.
        fua: bool,
    },
    /// Store zeroes.
    WriteZeroes {
        /// Where.
        span: Span,
        /// Whether that must be safe before the answer.
        fua: bool,
        /// Whether the place must stay allocated.
        no_hole: bool,
        /// Whether to fail with [`Errno::NotSupported`](super::super::Errno) if it is not faster than writing.
        fast: bool,
    },
    /// Prepare for reads. Nothing has to be done.
    Cache(Span),
    /// Tell what is allocated: [`Session::block_status`].
    BlockStatus {
        /// Where.
        span: Span,
        /// Whether one extent is enough.
        one: bool,
    },
}

/// The right to answer a request, once. Each request in flight has one; a session takes only so many.
#[derive(Debug, PartialEq)]
#[must_use = "each request must be answered"]
pub struct Ticket {
    pub(super) cookie: Cookie,
    pub(super) due: ReplyDue,
    pub(super) span: Span,
}

/// What the answer must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyDue {
    /// Data, in one piece if the client asks for that.
    Data { whole: bool },
    /// Extents, or only one.
    Extents { one: bool },
    /// Only whether it worked.
    Outcome { held: usize },
}

impl Ticket {
    fn new(request: &RequestHeader, action: Action) -> Self {
        let due = match action {
            Action::Read => {
                ReplyDue::Data { whole: request.flags.has(CommandFlags::DONT_FRAGMENT) }
            }
            Action::BlockStatus => {
                ReplyDue::Extents { one: request.flags.has(CommandFlags::REQ_ONE) }
            }
            _ => ReplyDue::Outcome { held: held(request, action) },
        };
        Self { cookie: request.cookie, due, span: span(request) }
    }

    /// Returns how many bytes are held for the request.
    pub(super) fn held(&self) -> usize {
        match self.due {
            ReplyDue::Data { .. } => self.span.length as usize,
            ReplyDue::Extents { .. } => 0,
            ReplyDue::Outcome { held } => held,
        }
    }
}

fn span(request: &RequestHeader) -> Span {
    Span { offset: request.offset, length: request.length }
}

fn held(request: &RequestHeader, action: Action) -> usize {
    match action {
        Action::Read | Action::Write => request.length as usize,
        _ => 0,
    }
}

/// Returns the command of an action on a part of an export that has no payload.
fn command(request: &RequestHeader, action: Action) -> Option<BlockCommand> {
    let (span, flags) = (span(request), request.flags);
    let fua = flags.has(CommandFlags::FUA);
    Some(match action {
        Action::Read => BlockCommand::Read(span),
        Action::Trim => BlockCommand::Trim { span, fua },
        Action::WriteZeroes => {
            let no_hole = flags.has(CommandFlags::NO_HOLE);
            BlockCommand::WriteZeroes {
                span,
                fua,
                no_hole,
                fast: flags.has(CommandFlags::FAST_ZERO),
            }
        }
        Action::Cache => BlockCommand::Cache(span),
        Action::BlockStatus => {
            BlockCommand::BlockStatus { span, one: flags.has(CommandFlags::REQ_ONE) }
        }
        Action::Write | Action::Disconnect | Action::Flush => return None,
    })
}

impl Session {
    pub(super) fn request(&mut self, export: usize) -> SessionStep {
        let request = match RequestHeader::decode(self.input.filled()) {
            None => return SessionStep::Hungry,
            Some(Err(BadMagic(magic))) => return self.close_step(Closing::BadRequestMagic(magic)),
            Some(Ok(request)) => request,
        };
        let checked = check(&request, &self.exports[export], self.terms);
        let bytes = checked.map_or(0, |action| held(&request, action));
        if !self.has_capacity(bytes) {
            return SessionStep::Full;
        }
        self.input.consume(REQUEST_HEADER);
        match checked {
            Err(refusal) => self.refuse_request(export, request, refusal),
            Ok(Action::Disconnect) => self.close_step(Closing::Disconnected),
            Ok(Action::Flush) => self.accept(export, &request, Action::Flush, BlockCommand::Flush),
            Ok(action) if request.length == 0 => {
                self.load.requests += 1;
                self.done(Ticket::new(&request, action));
                SessionStep::Onward
            }
            Ok(Action::Write) => {
                let mut partial = self.payloads.buffer(bytes);
                let taken = partial.take(self.input.filled());
                self.input.consume(taken);
                self.phase = Phase::Payload { export, request, partial };
                SessionStep::Onward
            }
            Ok(action) => match command(&request, action) {
                Some(command) => self.accept(export, &request, action, command),
                None => SessionStep::Onward,
            },
        }
    }

    /// Looks whether the payload of a write is complete.
    pub(super) fn payload(&mut self) -> SessionStep {
        match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Payload { export, request, partial } => match partial.complete() {
                Ok(data) => {
                    self.phase = Phase::Requests(export);
                    let fua = request.flags.has(CommandFlags::FUA);
                    let command = BlockCommand::Write { offset: request.offset, data, fua };
                    self.accept(export, &request, Action::Write, command)
                }
                Err(partial) => {
                    self.phase = Phase::Payload { export, request, partial };
                    SessionStep::Hungry
                }
            },
            other => {
                self.phase = other;
                SessionStep::Onward
            }
        }
    }

    fn accept(
        &mut self,
        export: usize,
        request: &RequestHeader,
        action: Action,
        command: BlockCommand,
    ) -> SessionStep {
        let ticket = Ticket::new(request, action);
        self.load.requests += 1;
        self.load.bytes += ticket.held();
        SessionStep::SessionEvent(SessionEvent::Request(Request { export, command, ticket }))
    }

    /// Refuses a request. The payload of a write still comes, and is skipped to keep in step with the client.
    fn refuse_request(
        &mut self,
        export: usize,
        request: RequestHeader,
        refusal: RequestRefusal,
    ) -> SessionStep {
        if request.action != Some(Action::Write) {
            self.refuse(&request, refusal);
            return SessionStep::Onward;
        }
        if request.length > MOST_SKIPPED_PAYLOAD {
            return self.close_step(Closing::WriteTooBig(request.length));
        }
        let left = request.length as usize;
        self.phase = Phase::SkippedPayload { export, request, refusal, left };
        SessionStep::Onward
    }

    pub(super) fn refuse(&mut self, request: &RequestHeader, refusal: RequestRefusal) {
        self.put_error(request.cookie, refusal.errno, refusal.message);
    }
}
