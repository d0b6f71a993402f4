//! Clients that are connected: their sockets and their sessions.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Log;
use super::listen::{self, Moved};
use crate::control::{HttpRequest, HttpSession, OriginRules, Response};
use crate::protocol::limits::{MOST_KEPT_TOGETHER, MOST_TOGETHER};
use crate::protocol::{Closing, Export, Request, Session, SessionEvent};

/// A client must have chosen an export after this time.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// Bytes that are received from one client before others get their turn.
const TURN: usize = 4 << 20;
/// One who looks must ask something in this time.
const HTTP_IDLE: Duration = Duration::from_secs(30);
const HTTP_BUFFER: usize = 16 << 10;

/// A client of the block device.
#[derive(Debug)]
pub struct BlockPeer {
    /// Its number.
    pub number: u64,
    /// Its socket.
    pub fd: OwnedFd,
    /// Its session.
    pub session: Session,
    /// The export that it chose.
    pub export: Option<usize>,
    since: Instant,
    /// Whether it sends nothing more. It may still receive.
    silent: bool,
    /// Whether the connection is broken.
    gone: bool,
    /// Why it broke, if not because the client hung up.
    pub broke: Option<rustix::io::Errno>,
}

impl BlockPeer {
    /// Greets a client.
    #[must_use]
    pub fn new(number: u64, fd: OwnedFd, exports: Arc<[Export]>) -> BlockPeer {
        BlockPeer {
            number,
            fd,
            session: Session::new(exports),
            export: None,
            since: Instant::now(),
            silent: false,
            gone: false,
            broke: None,
        }
    }

    /// Whether the server should listen to it.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        !self.gone && !self.silent && self.session.wants_input()
    }

    /// Receives what is there, and adds its requests to the list. Returns why it was closed, if it was.
    pub fn receive(&mut self, requests: &mut Vec<Request>) -> Option<Closing> {
        let mut taken = 0;
        while taken < TURN && self.wants_input() {
            let space = self.session.space();
            let room = space.len();
            match listen::receive(&self.fd, space) {
                Moved::Bytes(count) => {
                    self.session.received(count);
                    taken += count;
                    if let Some(closing) = self.look(requests) {
                        return Some(closing);
                    }
                    // Less than there was room for: nothing is left.
                    if count < room {
                        return None;
                    }
                }
                Moved::Later => return None,
                Moved::Gone(why) => {
                    self.broke = self.broke.or(why);
                    self.session.hung_up();
                    self.silent = true;
                    return self.look(requests);
                }
            }
        }
        None
    }

    /// Takes what the session has understood. Also when it had too much to do before.
    pub fn look(&mut self, requests: &mut Vec<Request>) -> Option<Closing> {
        while let Some(event) = self.session.next() {
            match event {
                SessionEvent::Opened(export) => self.export = Some(export),
                SessionEvent::Request(request) => requests.push(request),
                SessionEvent::Closed(closing) => return Some(closing),
            }
        }
        None
    }

    /// Sends what waits.
    pub fn send(&mut self) {
        while self.has_output() {
            match listen::send(&self.fd, self.session.output()) {
                Moved::Bytes(count) => self.session.sent(count),
                Moved::Later => return,
                Moved::Gone(why) => {
                    self.broke = self.broke.or(why);
                    self.gone = true;
                }
            }
        }
    }

    /// Whether something waits to be sent.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.gone && !self.session.output().is_empty()
    }

    /// Whether nothing more will come of it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.gone || self.session.is_finished()
    }

    /// Whether it has taken too long to choose an export.
    #[must_use]
    pub fn is_half_open(&self, now: Instant) -> bool {
        self.export.is_none() && now.duration_since(self.since) > HANDSHAKE
    }
}

/// Drops the client that has been connected for the longest time without having chosen an export. Returns whether there
/// was one.
pub fn make_room(peers: &mut Vec<BlockPeer>, log: Log<'_>) -> bool {
    let Some(at) = peers.iter().position(|peer| peer.export.is_none()) else { return false };
    let peer = peers.remove(at);
    log(&format!("client {} chose no export, and made room for another one", peer.number));
    true
}

/// The memory of all clients together. While they hold too much, those who hold the most get nothing further; while they
/// keep too much to use it again, they give it back.
#[derive(Clone, Copy, Debug)]
pub struct PeerMemory {
    held: usize,
    kept: usize,
}

impl PeerMemory {
    /// What they have now.
    #[must_use]
    pub fn of(peers: &[BlockPeer]) -> PeerMemory {
        let sessions = || peers.iter().map(|peer| &peer.session);
        PeerMemory {
            held: sessions().map(Session::held).sum(),
            kept: sessions().map(Session::kept).sum(),
        }
    }

    /// Lets a client take requests.
    pub fn during<R>(&mut self, peer: &mut BlockPeer, take: impl FnOnce(&mut BlockPeer) -> R) -> R {
        peer.session.spare_memory(self.held > MOST_TOGETHER);
        self.held -= peer.session.held();
        self.kept -= peer.session.kept();
        if self.kept + peer.session.kept() > MOST_KEPT_TOGETHER {
            peer.session.give_back_memory();
        }
        let taken = take(peer);
        self.held += peer.session.held();
        self.kept += peer.session.kept();
        taken
    }
}

/// One who looks at the drive, or gives orders.
#[derive(Debug)]
pub struct HttpPeer {
    /// Its socket.
    pub fd: OwnedFd,
    session: HttpSession,
    /// What the session did not take yet.
    rest: Vec<u8>,
    last: Instant,
    gone: bool,
}

/// Drops the one that has sent and received nothing for the longest time.
pub fn drop_idlest(lookers: &mut Vec<HttpPeer>) {
    let idlest = lookers.iter().enumerate().min_by_key(|(_, looker)| looker.last);
    if let Some((at, _)) = idlest {
        lookers.remove(at);
    }
}

impl HttpPeer {
    /// Welcomes one.
    #[must_use]
    pub fn new(fd: OwnedFd, rules: OriginRules) -> HttpPeer {
        let session = HttpSession::new(rules);
        HttpPeer { fd, session, rest: Vec::new(), last: Instant::now(), gone: false }
    }

    /// Whether the server should listen to it.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        !self.gone && self.rest.is_empty()
    }

    /// Whether something waits to be sent.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.gone && !self.session.output().is_empty()
    }

    /// Receives what is there.
    pub fn receive(&mut self) {
        if self.wants_input() {
            let mut buffer = [0; HTTP_BUFFER];
            match listen::receive(&self.fd, &mut buffer) {
                Moved::Bytes(count) => {
                    self.rest.extend_from_slice(&buffer[..count]);
                    self.last = Instant::now();
                }
                Moved::Later => {}
                Moved::Gone(_) => self.gone = true,
            }
        }
    }

    /// The next thing that it asks for.
    pub fn next_request(&mut self) -> Option<HttpRequest> {
        if !self.rest.is_empty() {
            let taken = self.session.receive(&self.rest);
            self.rest.drain(..taken);
        }
        self.session.next_request()
    }

    /// Answers.
    pub fn respond(&mut self, response: &Response) {
        self.session.respond(response);
    }

    /// Sends what waits.
    pub fn send(&mut self) {
        while self.has_output() {
            match listen::send(&self.fd, self.session.output()) {
                Moved::Bytes(count) => {
                    self.session.sent(count);
                    self.last = Instant::now();
                }
                Moved::Later => return,
                Moved::Gone(_) => self.gone = true,
            }
        }
    }

    /// Whether nothing more will come of it.
    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        self.gone || self.session.is_done() || now.duration_since(self.last) > HTTP_IDLE
    }
}
