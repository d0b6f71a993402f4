//! From answers to bytes: sections "Simple reply message", "Structured reply chunk message" and "Structured reply
//! types".
//!
//! An answer is put into the output as a whole before anything else is. So a read that fails half-way takes back what
//! it put there, and its reply is an error and nothing else.

use super::Session;
use super::Span;
use super::checks::Terms;
use super::options::clip;
use super::output::Output;
use super::requests::{ReplyDue, Ticket};
use crate::protocol::Errno;
use crate::protocol::codec::flags::ExtentFlags;
use crate::protocol::codec::handshake::BASE_ALLOCATION_ID;
use crate::protocol::codec::transmission::{self as codec, ChunkKind, Cookie, More, STATUS_CHUNK};
use crate::protocol::limits::MOST_EXTENTS;

/// A part of an export that is all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// Number of bytes.
    pub length: u64,
    /// Whether it is not allocated.
    pub hole: bool,
    /// Whether it reads as zeroes.
    pub zeroes: bool,
}

impl Session {
    /// Answers a request that succeeded. A read and a block status have more to say: without it they fail.
    pub fn done(&mut self, ticket: Ticket) {
        match ticket.due {
            ReplyDue::Outcome { .. } => {
                self.settle(&ticket);
                self.output.put(&codec::simple_reply(ticket.cookie, None));
            }
            ReplyDue::Data { .. } => drop(self.read(ticket)),
            ReplyDue::Extents { .. } => self.fail(ticket, Errno::Io, "the server told no extents"),
        }
    }

    /// Answers a request that failed. Clients that negotiated structured replies see the message.
    pub fn fail(&mut self, ticket: Ticket, errno: Errno, message: &str) {
        self.settle(&ticket);
        self.put_error(ticket.cookie, errno, message);
    }

    /// Answers a read. Its data goes straight into the output.
    pub fn read(&mut self, ticket: Ticket) -> ReadReply<'_> {
        self.settle(&ticket);
        ReadReply::begin(&mut self.output, self.terms, ticket)
    }

    /// Answers a block status request by extents in order, from the offset of the request on. They may go further
    /// than the request, or less far. Equal neighbours are joined.
    pub fn block_status(
        &mut self,
        ticket: Ticket,
        extents: impl IntoIterator<Item = StatusExtent>,
    ) {
        let ReplyDue::Extents { one } = ticket.due else {
            return self.fail(ticket, Errno::Io, "the server told extents of something else");
        };
        self.settle(&ticket);
        let begin = self.output.len();
        self.output.put(&[0; STATUS_CHUNK]);
        let most = if one { 1 } else { MOST_EXTENTS };
        let count = put_extents(&mut self.output, extents, ticket.span.length, most);
        if count == 0 {
            self.output.truncate(begin);
            return self.put_error(ticket.cookie, Errno::Io, "the server told no extents");
        }
        let header = codec::status_chunk(ticket.cookie, BASE_ALLOCATION_ID, count);
        self.output.replace(begin, &header);
    }

    pub(super) fn put_error(&mut self, cookie: Cookie, errno: Errno, message: &str) {
        put_error(&mut self.output, self.terms, cookie, (errno, message));
    }

    /// Takes a request out of the load. What it held is now counted as output.
    fn settle(&mut self, ticket: &Ticket) {
        self.load.requests = self.load.requests.saturating_sub(1);
        self.load.bytes = self.load.bytes.saturating_sub(ticket.held());
    }
}

fn put_error(output: &mut Output, terms: Terms, cookie: Cookie, (errno, message): (Errno, &str)) {
    if terms.structured {
        let message = clip(message).as_bytes();
        output.put(&codec::error_chunk(cookie, errno, message.len() as u16));
        output.put(message);
    } else {
        output.put(&codec::simple_reply(cookie, Some(errno)));
    }
}

/// Puts at most so many extents of together at most `length` bytes, and returns how many there are.
fn put_extents(
    output: &mut Output,
    extents: impl IntoIterator<Item = StatusExtent>,
    length: u32,
    most: usize,
) -> usize {
    let mut left = length;
    let mut count = 0;
    // The extent that still may grow.
    let mut current: Option<(u32, ExtentFlags)> = None;
    for extent in extents {
        let taken = u32::try_from(extent.length).map_or(left, |length| length.min(left));
        let flags =
            ExtentFlags::HOLE.only_if(extent.hole) | ExtentFlags::ZERO.only_if(extent.zeroes);
        current = match current {
            _ if taken == 0 => current,
            Some((length, same)) if same == flags => Some((length + taken, flags)),
            Some(_) if count + 1 == most => break,
            Some((length, other)) => {
                output.put(&codec::extent(length, other));
                count += 1;
                Some((taken, flags))
            }
            None => Some((taken, flags)),
        };
        left -= taken;
        if left == 0 {
            break;
        }
    }
    if let Some((length, flags)) = current {
        output.put(&codec::extent(length, flags));
        count += 1;
    }
    count
}

/// An answer to a read, in parts that follow each other. It ends when it is dropped; if parts are missing by then, the
/// read fails.
#[derive(Debug)]
pub struct ReadReply<'s> {
    output: &'s mut Output,
    terms: Terms,
    cookie: Cookie,
    /// Length of the output before the reply.
    begin: usize,
    /// Whether each part is a chunk. Otherwise one header precedes all.
    chunks: bool,
    /// What is missing.
    left: Span,
}

impl<'s> ReadReply<'s> {
    fn begin(output: &'s mut Output, terms: Terms, ticket: Ticket) -> Self {
        let Ticket { cookie, due, span } = ticket;
        let begin = output.len();
        let ReplyDue::Data { whole } = due else {
            let failure = (Errno::Io, "the server answered something else by data");
            put_error(output, terms, cookie, failure);
            let left = Span { length: 0, ..span };
            return Self { output, terms, cookie, begin, chunks: true, left };
        };
        if !terms.structured {
            output.put(&codec::simple_reply(cookie, None));
        } else if span.length == 0 {
            output.put(&codec::chunk(cookie, ChunkKind::None, More::Done, 0));
        } else if whole {
            output.put(&codec::data_chunk(cookie, More::Done, span));
        }
        Self { output, terms, cookie, begin, chunks: terms.structured && !whole, left: span }
    }

    /// Returns the place for the next bytes: as many as asked for, or all that are missing. Their values are undefined
    /// (those of an earlier reply) until they are set.
    pub fn data(&mut self, length: u32) -> &mut [u8] {
        let (span, more) = self.part(length);
        if self.chunks && span.length > 0 {
            self.output.put(&codec::data_chunk(self.cookie, more, span));
        }
        self.output.room(span.length as usize)
    }

    /// Says that the next bytes are zeroes: as many as asked for, or all that are missing.
    pub fn zeroes(&mut self, length: u32) {
        let (span, more) = self.part(length);
        if !self.chunks {
            self.output.room(span.length as usize).fill(0);
        } else if span.length > 0 {
            self.output.put(&codec::hole_chunk(self.cookie, more, span));
        }
    }

    /// Makes the read fail after all, whatever parts there are.
    pub fn fail(mut self, errno: Errno, message: &str) {
        self.replace_by_error(errno, message);
    }

    /// Takes the next part off what is missing.
    fn part(&mut self, length: u32) -> (Span, More) {
        let Span { offset, length: missing } = self.left;
        let length = length.min(missing);
        let left = missing - length;
        self.left = Span { offset: offset + u64::from(length), length: left };
        (Span { offset, length }, if left == 0 { More::Done } else { More::Follows })
    }

    fn replace_by_error(&mut self, errno: Errno, message: &str) {
        self.output.truncate(self.begin);
        put_error(self.output, self.terms, self.cookie, (errno, message));
        self.left.length = 0;
    }
}

impl Drop for ReadReply<'_> {
    fn drop(&mut self) {
        if self.left.length > 0 {
            self.replace_by_error(Errno::Io, "the server has only part of the data");
        }
    }
}
