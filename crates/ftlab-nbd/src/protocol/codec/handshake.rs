//! Messages of the handshake: sections "Fixed newstyle negotiation", "Option types" and "Option reply types".

use super::flags::{HandshakeFlags, TransmissionFlags};
use super::{Reader, join};
use crate::protocol::Export;
use crate::protocol::limits::{MINIMUM_BLOCK, MOST_PAYLOAD};

/// The first bytes of a server: `NBDMAGIC`.
pub const SERVER_MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
/// The first bytes of an option, and the second of a server: `IHAVEOPT`.
pub const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
/// The first bytes of a reply to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

/// Length of the client's flags.
pub const CLIENT_FLAGS: usize = 4;
/// Length of an option without its data.
pub const OPTION_HEADER: usize = 16;
/// Length of a reply to an option without its data.
pub const OPTION_REPLY_HEADER: usize = 20;
/// Zeroes behind the reply to the oldest option.
pub const ZEROES: usize = 124;

/// Name of the only metadata context: which parts are allocated.
pub const BASE_ALLOCATION: &str = "base:allocation";
/// Query for all contexts of the specification.
pub const BASE_WILDCARD: &[u8] = b"base:";
/// Number of the context in replies.
pub const BASE_ALLOCATION_ID: u32 = 1;

/// An option that the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownOption {
    /// Choose an export; failure ends the connection.
    ExportName,
    /// End the negotiation.
    Abort,
    /// Name all exports.
    List,
    /// Encrypt.
    StartTls,
    /// Describe an export.
    Info,
    /// Choose an export.
    Go,
    /// Reply to reads in chunks.
    StructuredReply,
    /// Name metadata contexts.
    ListMetaContext,
    /// Choose metadata contexts.
    SetMetaContext,
}

impl KnownOption {
    /// Returns whether the option may have data. Data of an abort is harmless.
    #[must_use]
    pub fn has_data(self) -> bool {
        !matches!(self, Self::List | Self::StartTls | Self::StructuredReply)
    }
}

/// Header of an option. The number is kept as it came, as the reply repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionHeader {
    /// Which option.
    pub option: OptionNumber,
    /// Length of its data.
    pub length: u32,
}

/// Number of an option, known or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionNumber(pub u32);

impl OptionNumber {
    /// Returns the option with this number.
    #[must_use]
    pub fn known(self) -> Option<KnownOption> {
        Some(match self.0 {
            1 => KnownOption::ExportName,
            2 => KnownOption::Abort,
            3 => KnownOption::List,
            5 => KnownOption::StartTls,
            6 => KnownOption::Info,
            7 => KnownOption::Go,
            8 => KnownOption::StructuredReply,
            9 => KnownOption::ListMetaContext,
            10 => KnownOption::SetMetaContext,
            _ => return None,
        })
    }
}

/// A message began with another number than it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMagic<T>(pub T);

impl OptionHeader {
    /// Reads a header off the front. `None` if more bytes are needed.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Result<Self, BadMagic<u64>>> {
        let mut reader = Reader::new(bytes.first_chunk::<OPTION_HEADER>()?);
        let magic = reader.u64()?;
        if magic != OPTION_MAGIC {
            return Some(Err(BadMagic(magic)));
        }
        Some(Ok(Self { option: OptionNumber(reader.u32()?), length: reader.u32()? }))
    }
}

/// Kind of a reply to an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OptionReply {
    /// Done.
    Ack = 1,
    /// Name of an export.
    Server = 2,
    /// A fact about an export.
    Info = 3,
    /// A metadata context.
    MetaContext = 4,
    /// Unknown option.
    Unsupported = ERROR | 1,
    /// The server does not want to.
    Policy = ERROR | 2,
    /// Malformed, or out of order.
    Invalid = ERROR | 3,
    /// No such export.
    Unknown = ERROR | 6,
    /// Too long.
    TooBig = ERROR | 9,
}

/// Bit of option replies that are errors.
const ERROR: u32 = 1 << 31;

/// Kind of a fact about an export: "Option types", `NBD_OPT_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Info {
    /// Size and flags.
    Export = 0,
    /// Its own name.
    Name = 1,
    /// Its description.
    Description = 2,
    /// Sizes of requests.
    BlockSize = 3,
}

/// What a client wants to know about an export: data of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoQuery<'a> {
    /// Name of the export.
    pub name: &'a [u8],
    requests: &'a [u8],
}

impl<'a> InfoQuery<'a> {
    /// Reads the data of the option. `None` if lengths don't match.
    #[must_use]
    pub fn decode(data: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(data);
        let name = reader.string()?;
        let count = usize::from(reader.u16()?);
        let requests = reader.bytes(count * size_of::<u16>())?;
        reader.is_empty().then_some(Self { name, requests })
    }

    /// Returns whether the client asks for a fact.
    #[must_use]
    pub fn wants(&self, info: Info) -> bool {
        self.requests.chunks_exact(2).any(|wanted| wanted == (info as u16).to_be_bytes())
    }
}

/// Which metadata contexts a client wants: data of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
#[derive(Clone, Copy, Debug)]
pub struct ContextQuery<'a> {
    /// Name of the export.
    pub name: &'a [u8],
    queries: Reader<'a>,
}

impl<'a> ContextQuery<'a> {
    /// Reads the data of the option. `None` if lengths don't match.
    #[must_use]
    pub fn decode(data: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(data);
        let name = reader.string()?;
        let count = reader.u32()?;
        let queries = reader;
        for _ in 0..count {
            reader.string()?;
        }
        reader.is_empty().then_some(Self { name, queries })
    }

    /// Returns the queries in order.
    pub fn queries(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut reader = self.queries;
        std::iter::from_fn(move || reader.string())
    }
}

/// The server's first words.
#[must_use]
pub fn greeting(flags: HandshakeFlags) -> [u8; 18] {
    let [_, _, flags @ ..] = flags.bits().to_be_bytes();
    join(&[&SERVER_MAGIC.to_be_bytes(), &OPTION_MAGIC.to_be_bytes(), &flags])
}

/// Header of a reply to an option.
#[must_use]
pub fn option_reply(
    option: OptionNumber,
    reply: OptionReply,
    length: u32,
) -> [u8; OPTION_REPLY_HEADER] {
    let magic = OPTION_REPLY_MAGIC.to_be_bytes();
    let (option, reply) = (option.0.to_be_bytes(), (reply as u32).to_be_bytes());
    join(&[&magic, &option, &reply, &length.to_be_bytes()])
}

/// Size and flags of an export: the reply to `NBD_OPT_EXPORT_NAME`, and what follows the kind of [`Info::Export`].
#[must_use]
pub fn export_facts(size: u64, flags: TransmissionFlags) -> [u8; 10] {
    join(&[&size.to_be_bytes(), &flags.bits().to_be_bytes()])
}

/// Sizes of requests: what follows the kind of [`Info::BlockSize`].
#[must_use]
pub fn block_sizes(export: &Export) -> [u8; 12] {
    let preferred = export.preferred_block.to_be_bytes();
    join(&[&MINIMUM_BLOCK.to_be_bytes(), &preferred, &MOST_PAYLOAD.to_be_bytes()])
}
