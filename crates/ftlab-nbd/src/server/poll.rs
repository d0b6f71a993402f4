//! Waits for sockets and signals, for exactly as long as the device's clock says.

use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::listen::Listener;
use super::peers::{BlockPeer, HttpPeer};
use super::signals::StopSignals;
use crate::control::OriginRules;

/// What is ready.
#[derive(Debug, Default)]
pub struct SocketsReady {
    /// A signal asks the server to stop.
    pub signalled: bool,
    /// Somebody comes in.
    pub listeners: bool,
    /// Clients that sent something, by number.
    pub peers: Vec<u64>,
    /// Those who look, by place.
    pub lookers: Vec<usize>,
}

/// Waits until something is ready, at most for this time.
pub fn wait(
    block: &[Listener],
    http: &[(Listener, OriginRules)],
    peers: &[BlockPeer],
    lookers: &[HttpPeer],
    signals: &StopSignals,
    timeout: Duration,
) -> SocketsReady {
    let input = PollFlags::IN;
    let mut fds = vec![PollFd::new(signals, input)];
    fds.extend(block.iter().map(|listener| PollFd::new(listener, input)));
    fds.extend(http.iter().map(|(listener, _)| PollFd::new(listener, input)));
    let listeners = 1..fds.len();
    let flags = |reads: bool, writes: bool| {
        let reads = if reads { PollFlags::IN } else { PollFlags::empty() };
        reads | if writes { PollFlags::OUT } else { PollFlags::empty() }
    };
    // One of whom nothing is wanted is left out: a broken connection would be reported again and again.
    let clients: Vec<(&BlockPeer, PollFlags)> = peers
        .iter()
        .map(|peer| (peer, flags(peer.wants_input(), peer.has_output())))
        .filter(|(_, flags)| !flags.is_empty())
        .collect();
    fds.extend(clients.iter().map(|(peer, flags)| PollFd::new(&peer.fd, *flags)));
    let first_looker = fds.len();
    fds.extend(
        lookers.iter().map(|looker| {
            PollFd::new(&looker.fd, flags(looker.wants_input(), looker.has_output()))
        }),
    );
    let mut ready = SocketsReady::default();
    if !matches!(poll(&mut fds, Some(&timespec(timeout))), Ok(1..)) {
        return ready;
    }
    let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
    ready.signalled = is_ready(&fds[0]);
    ready.listeners = fds[listeners.clone()].iter().any(is_ready);
    let clients = fds[listeners.end..first_looker].iter().zip(&clients);
    ready.peers =
        clients.filter(|(fd, _)| is_ready(fd)).map(|(_, (peer, _))| peer.number).collect();
    let looking = fds[first_looker..].iter().enumerate();
    ready.lookers = looking.filter(|(_, fd)| is_ready(fd)).map(|(at, _)| at).collect();
    ready
}

/// Waits until one of them takes more, at most for this time.
pub fn wait_to_send(peers: &[BlockPeer], lookers: &[HttpPeer], timeout: Duration) {
    let sockets = peers.iter().map(|peer| &peer.fd).chain(lookers.iter().map(|looker| &looker.fd));
    let mut fds: Vec<_> = sockets.map(|fd| PollFd::new(fd, PollFlags::OUT)).collect();
    // Whatever woke it, the next attempt to send tells.
    let _ = poll(&mut fds, Some(&timespec(timeout)));
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() }
}

/// Asks the system not to round waits up, which it does by 50 us to save power.
pub fn sleep_exactly() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

impl AsFd for StopSignals {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.pipe()
    }
}
