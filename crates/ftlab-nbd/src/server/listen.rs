//! Sockets: where clients and those who look come in, without ever blocking.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ftlab_lab::failure::Failure;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};

/// For so long nobody is let in if the process has too many files open.
const FULL: Duration = Duration::from_secs(1);

/// The most bytes of the name of a Unix socket, which Linux keeps in 108 with a zero at its end.
const MOST_PATH_BYTES: usize = 107;

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    /// Its file, which is removed at the end.
    path: Option<PathBuf>,
    tcp: bool,
}

impl Listener {
    /// Listens on a Unix socket that only this user may use. A file that a killed server left is replaced.
    ///
    /// # Errors
    /// Another server listens there, the file is something else, or it can't be made.
    pub fn unix(path: &Path) -> Result<Listener, Failure> {
        let shown = path.display();
        let length = path.as_os_str().len();
        if length > MOST_PATH_BYTES {
            return Err(Failure::usage(format!(
                "the name of the socket {shown} has {length} bytes, and the system takes at most {MOST_PATH_BYTES}\n  \
                 remedy: give a shorter one by --socket, relative to this folder or in /tmp; the control socket's adds .ctl to it"
            )));
        }
        if let Ok(known) = path.symlink_metadata() {
            if !known.file_type().is_socket() {
                return Err(Failure::usage(format!(
                    "{shown} exists and is no socket\n  remedy: choose another name for the socket"
                )));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(Failure::usage(format!(
                    "a server listens on {shown} already\n  remedy: stop it, or choose another name for the socket"
                )));
            }
            std::fs::remove_file(path)
                .map_err(|error| Failure::file("can't replace the socket", path, &error))?;
        }
        let before = rustix::process::umask(Mode::from_bits_truncate(0o177));
        let bound = UnixListener::bind(path);
        rustix::process::umask(before);
        let listener = bound.map_err(|error| Failure::file("can't listen on", path, &error))?;
        let set = listener.set_nonblocking(true);
        set.map_err(|error| Failure::file("can't listen on", path, &error))?;
        Ok(Listener { fd: listener.into(), path: Some(path.to_owned()), tcp: false })
    }

    /// Listens on an address.
    ///
    /// # Errors
    /// The address is in use, or can't be had.
    pub fn tcp(address: SocketAddr) -> Result<Listener, Failure> {
        let failed = |error: io::Error| {
            Failure::usage(format!(
                "can't listen on {address}: {error}\n  remedy: choose another port; 0 takes any that is free"
            ))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Listener { fd: listener.into(), path: None, tcp: true })
    }

    /// Its address, if it has one.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        let address = net::getsockname(&self.fd).ok()?;
        SocketAddr::try_from(address).ok()
    }

    /// Accepts a client, if one waits. If the process has too many files open, says until when to wait.
    #[must_use]
    pub fn accept(&self, full_until: &mut Option<Instant>) -> Option<OwnedFd> {
        let flags = net::SocketFlags::NONBLOCK | net::SocketFlags::CLOEXEC;
        let client = match net::accept_with(&self.fd, flags) {
            Ok(client) => client,
            Err(Errno::MFILE | Errno::NFILE) => {
                *full_until = Some(Instant::now() + FULL);
                return None;
            }
            Err(_) => return None,
        };
        if self.tcp {
            // Replies must not wait for others.
            let _ = net::sockopt::set_tcp_nodelay(&client, true);
        }
        Some(client)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            drop(std::fs::remove_file(path));
        }
    }
}

/// What came of receiving or sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// So many bytes.
    Bytes(usize),
    /// Nothing for now.
    Later,
    /// The other side is gone, or the connection is broken for a reason of the system's.
    Gone(Option<Errno>),
}

/// Receives what is there.
#[must_use]
pub fn receive(fd: &OwnedFd, into: &mut [u8]) -> Moved {
    debug_assert!(!into.is_empty(), "there is room for something");
    match net::recv(fd, into, RecvFlags::DONTWAIT) {
        Ok((_, 0)) => Moved::Gone(None),
        Ok((_, count)) => Moved::Bytes(count),
        Err(error) => failed(error),
    }
}

/// Sends as much as goes.
#[must_use]
pub fn send(fd: &OwnedFd, bytes: &[u8]) -> Moved {
    match net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(count) => Moved::Bytes(count),
        Err(error) => failed(error),
    }
}

fn failed(error: Errno) -> Moved {
    match error {
        Errno::AGAIN | Errno::INTR => Moved::Later,
        // It has hung up.
        Errno::PIPE | Errno::CONNRESET => Moved::Gone(None),
        error => Moved::Gone(Some(error)),
    }
}
