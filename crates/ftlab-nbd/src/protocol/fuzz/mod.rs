//! The entry point for fuzzing: any bytes as what a client sends, answered by a small disk.

#[cfg(test)]
pub(crate) mod script;

use super::limits::{MOST_IN_FLIGHT, MOST_OPTION_OUTPUT, MOST_PAYLOAD};
use super::{BlockCommand, Closing, Errno, Export, Request, Session, SessionEvent, StatusExtent};

/// Size of the disk. Small, as a request of 28 bytes can ask for all of it.
const SIZE: usize = 64 << 10;

/// How much of what was sent is compared byte by byte.
const COMPARED: usize = 1 << 20;

/// What a client saw, and how it ended.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Conversation {
    /// The beginning of what was sent to the client.
    output: Vec<u8>,
    /// Length of all of it.
    sent: usize,
    /// Number of requests that reached the disk.
    pub requests: usize,
    closed: Option<Closing>,
}

impl Conversation {
    fn take(&mut self, session: &mut Session) {
        let output = session.output();
        let compared = output.len().min(COMPARED - self.output.len());
        self.output.extend(&output[..compared]);
        self.sent += output.len();
        session.sent(output.len());
    }
}

/// A client's bytes in one piece, in pieces, and from a client that never reads. Panics only if the protocol's code is
/// broken.
pub fn session(bytes: &[u8]) {
    let whole = converse(bytes, &[usize::MAX]);
    let first = bytes.first().map_or(1, |&byte| usize::from(byte) + 1);
    assert!(whole == converse(bytes, &[first, 28, 7]), "pieces change the conversation");
    deaf(bytes);
}

fn exports() -> [Export; 2] {
    let disk = Export {
        name: "disk".into(),
        description: "a disk".into(),
        size: SIZE as u64,
        preferred_block: 4096,
        read_only: false,
        multi_connection: true,
        fast_zeroes: true,
    };
    [disk.clone(), Export { name: "fixed".into(), read_only: true, ..disk }]
}

/// A client that sends pieces of these lengths in turn, and reads everything.
pub(super) fn converse(mut bytes: &[u8], pieces: &[usize]) -> Conversation {
    let mut session = Session::new(exports().into());
    let mut disk = vec![0; SIZE];
    let mut conversation = Conversation::default();
    for &piece in pieces.iter().cycle() {
        settle(&mut session, &mut disk, &mut conversation);
        assert!(
            session.wants_input() || conversation.closed.is_some(),
            "all was answered and read"
        );
        if bytes.is_empty() || conversation.closed.is_some() {
            break;
        }
        let space = session.space();
        assert!(!space.is_empty() && space.len() <= MOST_PAYLOAD as usize);
        let count = piece.min(space.len()).min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        session.received(count);
        bytes = &bytes[count..];
    }
    session.hung_up();
    settle(&mut session, &mut disk, &mut conversation);
    assert!(session.is_finished() && conversation.closed.is_some());
    conversation
}

/// Answers all requests and takes all output.
fn settle(session: &mut Session, disk: &mut [u8], conversation: &mut Conversation) {
    while let Some(event) = session.next() {
        match event {
            SessionEvent::Request(request) => {
                conversation.requests += 1;
                carry_out(session, disk, request);
            }
            SessionEvent::Opened(export) => assert!(export < exports().len()),
            SessionEvent::Closed(reason) => {
                assert!(!reason.to_string().is_empty());
                assert_eq!(conversation.closed.replace(reason), None, "it closes once");
            }
        }
        conversation.take(session);
    }
    conversation.take(session);
}

/// A client that never reads: what waits for it stays bounded.
fn deaf(mut bytes: &[u8]) {
    let mut session = Session::new(exports().into());
    let mut disk = vec![0; SIZE];
    loop {
        while let Some(event) = session.next() {
            if let SessionEvent::Request(request) = event {
                carry_out(&mut session, &mut disk, request);
            }
        }
        assert!(session.output().len() <= MOST_IN_FLIGHT + MOST_OPTION_OUTPUT);
        if bytes.is_empty() || !session.wants_input() {
            return;
        }
        let space = session.space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        session.received(count);
        bytes = &bytes[count..];
    }
}

/// Does what a request says. The session has checked that it lies within the disk.
fn carry_out(session: &mut Session, disk: &mut [u8], Request { export, command, ticket }: Request) {
    let part = |offset: u64, length: usize| offset as usize..offset as usize + length;
    match command {
        BlockCommand::Read(span) => {
            let data = &disk[part(span.offset, span.length as usize)];
            let mut reply = session.read(ticket);
            for sector in data.chunks(4096) {
                let length = sector.len() as u32;
                match sector.iter().all(|&byte| byte == 0) {
                    true => reply.zeroes(length),
                    false => reply.data(length).copy_from_slice(sector),
                }
            }
            return;
        }
        BlockCommand::BlockStatus { span, .. } => {
            let sectors = disk[part(span.offset, span.length as usize)].chunks(512);
            let extents = sectors.map(|sector| {
                let zeroes = sector.iter().all(|&byte| byte == 0);
                StatusExtent { length: 512, hole: zeroes, zeroes }
            });
            return session.block_status(ticket, extents);
        }
        BlockCommand::Write { offset, data, .. } => {
            assert_eq!(export, 0, "the other is read-only");
            disk[part(offset, data.len())].copy_from_slice(&data);
            session.recycle(data);
        }
        BlockCommand::WriteZeroes { fast: true, .. } => {
            return session.fail(ticket, Errno::NotSupported, "zeroes are data here");
        }
        BlockCommand::Trim { span, .. } | BlockCommand::WriteZeroes { span, .. } => {
            disk[part(span.offset, span.length as usize)].fill(0);
        }
        BlockCommand::Flush | BlockCommand::Cache(_) => {}
    }
    session.done(ticket);
}
