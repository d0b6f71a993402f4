//! A client that speaks byte by byte, and what it sees.

mod limits;
mod options;
mod properties;
mod requests;

use super::*;
use crate::protocol::codec::Reader;
use crate::protocol::codec::transmission::{CHUNK_MAGIC, SIMPLE_REPLY_MAGIC};
use crate::protocol::fuzz::script;

/// An export that can do everything.
pub(crate) fn export(name: &str, size: u64) -> Export {
    Export {
        name: name.into(),
        description: format!("the disk {name}"),
        size,
        preferred_block: 4096,
        read_only: false,
        multi_connection: true,
        fast_zeroes: true,
    }
}

/// The exports of most tests.
fn exports() -> Arc<[Export]> {
    let fixed = Export { read_only: true, description: String::new(), ..export("fixed", 4096) };
    [export("disk", 1 << 20), fixed].into()
}

/// A session and its client.
struct Peer {
    session: Session,
}

impl Peer {
    /// Directly behind the server's greeting.
    fn new() -> Self {
        let mut session = Session::new(exports());
        assert_eq!(session.output(), b"NBDMAGICIHAVEOPT\0\x03");
        session.sent(18);
        Self { session }
    }

    /// In the middle of options.
    fn negotiating() -> Self {
        let mut peer = Self::new();
        peer.send(&script::client_flags());
        peer
    }

    /// With structured replies and a metadata context, or with neither, at the first export.
    fn open(structured: bool) -> Self {
        let mut peer = Self::negotiating();
        if structured {
            peer.send(&script::option(8, &[]));
            peer.send(&script::option(10, &script::contexts("disk", &["base:allocation"])));
        }
        assert_eq!(
            peer.send(&script::option(7, &script::info("disk", &[]))),
            [SessionEvent::Opened(0)]
        );
        peer.take();
        peer
    }

    /// Sends bytes as far as the server wants them, and returns what it has to do.
    fn send(&mut self, mut bytes: &[u8]) -> Vec<SessionEvent> {
        let mut events = self.events();
        while !bytes.is_empty() && self.session.wants_input() {
            let space = self.session.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.session.received(count);
            bytes = &bytes[count..];
            events.extend(self.events());
        }
        events
    }

    fn events(&mut self) -> Vec<SessionEvent> {
        std::iter::from_fn(|| self.session.next()).collect()
    }

    /// Sends a request that is passed on.
    fn request(&mut self, request: &[u8]) -> Request {
        let mut events = self.send(request);
        match events.pop() {
            Some(SessionEvent::Request(request)) if events.is_empty() => request,
            other => panic!("{events:?} {other:?}"),
        }
    }

    /// Sends a request that is settled by the session, and returns the reply.
    fn settled(&mut self, request: &[u8]) -> Reply {
        assert_eq!(self.send(request), []);
        self.reply()
    }

    /// Takes all output.
    fn take(&mut self) -> Vec<u8> {
        let output = self.session.output().to_vec();
        self.session.sent(output.len());
        output
    }

    /// Takes the only reply.
    fn reply(&mut self) -> Reply {
        let output = self.take();
        let mut reader = Reader::new(&output);
        let reply = Reply::read(&mut reader).expect("a whole reply");
        assert!(reader.is_empty(), "{output:?}");
        reply
    }
}

/// A reply without data, or a chunk of one.
#[derive(Debug, PartialEq)]
enum Reply {
    Simple { error: u32, cookie: u64 },
    Chunk { done: bool, kind: u16, cookie: u64, payload: Vec<u8> },
}

impl Reply {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let magic = reader.u32()?;
        if magic == SIMPLE_REPLY_MAGIC {
            return Some(Self::Simple { error: reader.u32()?, cookie: reader.u64()? });
        }
        assert_eq!(magic, CHUNK_MAGIC);
        let (done, kind, cookie) = (reader.u16()? == 1, reader.u16()?, reader.u64()?);
        let payload = reader.string()?.to_vec();
        Some(Self::Chunk { done, kind, cookie, payload })
    }

    fn read_all(bytes: &[u8]) -> Vec<Self> {
        let mut reader = Reader::new(bytes);
        let replies = std::iter::from_fn(|| Self::read(&mut reader)).collect();
        assert!(reader.is_empty());
        replies
    }

    /// A request that succeeded.
    fn good(cookie: u64) -> Self {
        Self::Simple { error: 0, cookie }
    }

    /// The number of the error.
    fn error(&self) -> u32 {
        match self {
            Self::Simple { error, .. } => *error,
            Self::Chunk { kind: 0x8001, payload, done: true, .. } => {
                let mut reader = Reader::new(payload);
                let error = reader.u32().expect("a number");
                let length = reader.u16().expect("a length");
                assert_eq!(payload.len(), 6 + usize::from(length));
                assert!(length > 0, "errors explain themselves");
                error
            }
            Self::Chunk { .. } => 0,
        }
    }
}
