//! Messages of the transmission phase: sections "Request message", "Simple reply message", "Structured reply chunk
//! message", "Structured reply types" and "Request types".

use super::flags::{CommandFlags, ExtentFlags};
use super::handshake::BadMagic;
use super::{Reader, join};
use crate::protocol::Errno;

/// The first bytes of a request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// The first bytes of a simple reply.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// The first bytes of a chunk of a structured reply.
pub const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Length of a request without its payload.
pub const REQUEST_HEADER: usize = 28;
/// Length of a simple reply without data.
pub const SIMPLE_REPLY: usize = 16;
/// Length of a chunk without its payload.
pub const CHUNK_HEADER: usize = 20;
/// Length of a chunk of data, without the data.
pub const DATA_CHUNK: usize = CHUNK_HEADER + OFFSET;
/// Length of a chunk of zeroes.
pub const HOLE_CHUNK: usize = CHUNK_HEADER + HOLE_PAYLOAD as usize;
/// Length of a chunk that tells an error, without the message.
pub const ERROR_CHUNK: usize = CHUNK_HEADER + ERROR_PAYLOAD as usize;
/// Length of a chunk of block status, without the extents.
pub const STATUS_CHUNK: usize = CHUNK_HEADER + CONTEXT;
/// Length of an extent in a chunk of block status.
pub const EXTENT: usize = 8;

const OFFSET: usize = 8;
const CONTEXT: usize = 4;
const HOLE_PAYLOAD: u32 = 12;
const ERROR_PAYLOAD: u32 = 6;

/// The client's name for a request, repeated in the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie(pub u64);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send data.
    Read,
    /// Store the payload.
    Write,
    /// End the connection.
    Disconnect,
    /// Make what was written safe.
    Flush,
    /// Forget data.
    Trim,
    /// Prepare to read.
    Cache,
    /// Store zeroes.
    WriteZeroes,
    /// Tell what is allocated.
    BlockStatus,
}

impl Action {
    /// Returns the action with this number.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Action::Read,
            1 => Action::Write,
            2 => Action::Disconnect,
            3 => Action::Flush,
            4 => Action::Trim,
            5 => Action::Cache,
            6 => Action::WriteZeroes,
            7 => Action::BlockStatus,
            _ => return None,
        })
    }
}

/// A request, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    /// How.
    pub flags: CommandFlags,
    /// What; `None` if unknown.
    pub action: Option<Action>,
    /// The client's name for it.
    pub cookie: Cookie,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u32,
}

impl RequestHeader {
    /// Reads a header off the front. `None` if more bytes are needed.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Result<Self, BadMagic<u32>>> {
        let mut reader = Reader::new(bytes.first_chunk::<REQUEST_HEADER>()?);
        let magic = reader.u32()?;
        if magic != REQUEST_MAGIC {
            return Some(Err(BadMagic(magic)));
        }
        Some(Ok(Self {
            flags: CommandFlags::from_bits(reader.u16()?),
            action: Action::from_number(reader.u16()?),
            cookie: Cookie(reader.u64()?),
            offset: reader.u64()?,
            length: reader.u32()?,
        }))
    }
}

/// A reply without chunks; data of a read follows. Without an error the request succeeded.
#[must_use]
pub fn simple_reply(cookie: Cookie, error: Option<Errno>) -> [u8; SIMPLE_REPLY] {
    let error = error.map_or(0, Errno::number).to_be_bytes();
    join(&[&SIMPLE_REPLY_MAGIC.to_be_bytes(), &error, &cookie.0.to_be_bytes()])
}

/// Kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ChunkKind {
    /// Nothing, which ends a reply.
    None = 0,
    /// Data behind its offset.
    OffsetData = 1,
    /// Zeroes.
    OffsetHole = 2,
    /// Extents.
    BlockStatus = 5,
    /// An error.
    Error = 1 << 15 | 1,
}

/// Whether a reply goes on behind a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum More {
    /// Further chunks follow.
    Follows = 0,
    /// The flag `DONE`.
    Done = 1,
}

/// Header of a chunk.
#[must_use]
pub fn chunk(cookie: Cookie, kind: ChunkKind, more: More, payload: u32) -> [u8; CHUNK_HEADER] {
    let (kind, more) = ((kind as u16).to_be_bytes(), (more as u16).to_be_bytes());
    let (cookie, payload) = (cookie.0.to_be_bytes(), payload.to_be_bytes());
    join(&[&CHUNK_MAGIC.to_be_bytes(), &more, &kind, &cookie, &payload])
}

/// A part of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u32,
}

/// A chunk of data, up to the data.
#[must_use]
pub fn data_chunk(cookie: Cookie, more: More, span: Span) -> [u8; DATA_CHUNK] {
    let header = chunk(cookie, ChunkKind::OffsetData, more, span.length + OFFSET as u32);
    join(&[&header, &span.offset.to_be_bytes()])
}

/// A chunk of zeroes.
#[must_use]
pub fn hole_chunk(cookie: Cookie, more: More, span: Span) -> [u8; HOLE_CHUNK] {
    let header = chunk(cookie, ChunkKind::OffsetHole, more, HOLE_PAYLOAD);
    join(&[&header, &span.offset.to_be_bytes(), &span.length.to_be_bytes()])
}

/// The last chunk of a request that failed, up to the message.
#[must_use]
pub fn error_chunk(cookie: Cookie, errno: Errno, message_length: u16) -> [u8; ERROR_CHUNK] {
    let payload = ERROR_PAYLOAD + u32::from(message_length);
    let header = chunk(cookie, ChunkKind::Error, More::Done, payload);
    join(&[&header, &errno.number().to_be_bytes(), &message_length.to_be_bytes()])
}

/// A chunk of block status, up to its extents.
#[must_use]
pub fn status_chunk(cookie: Cookie, context: u32, extents: usize) -> [u8; STATUS_CHUNK] {
    let payload = (CONTEXT + extents * EXTENT) as u32;
    let header = chunk(cookie, ChunkKind::BlockStatus, More::Done, payload);
    join(&[&header, &context.to_be_bytes()])
}

/// An extent in a chunk of block status.
#[must_use]
pub fn extent(length: u32, flags: ExtentFlags) -> [u8; EXTENT] {
    join(&[&length.to_be_bytes(), &flags.bits().to_be_bytes()])
}
