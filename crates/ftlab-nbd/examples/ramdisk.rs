//! A disk in memory on a Unix socket, one thread for each client: the smallest server around a session.
//!
//! `cargo run --release -p ftlab-nbd --example ramdisk -- disk.sock 1048576`, then
//! `nbdinfo 'nbd+unix:///?socket=disk.sock'`.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use ftlab_nbd::protocol::{
    BlockCommand, Export, Request, Session, SessionEvent, Span, StatusExtent,
};

/// Unit in which parts are told to be zeroes.
const PAGE: usize = 4096;

/// A disk that all clients share.
pub struct Disk {
    exports: Arc<[Export]>,
    data: Mutex<Vec<u8>>,
}

impl Disk {
    /// A disk of zeroes, and the same to be read only.
    pub fn new(size: usize) -> Self {
        let disk = Export {
            name: "disk".into(),
            description: "a disk in memory".into(),
            size: size as u64,
            preferred_block: PAGE as u32,
            read_only: false,
            multi_connection: true,
            fast_zeroes: true,
        };
        let fixed = Export { name: "fixed".into(), read_only: true, ..disk.clone() };
        Self { exports: [disk, fixed].into(), data: Mutex::new(vec![0; size]) }
    }

    /// Serves clients for ever.
    pub fn serve(self: Arc<Self>, listener: UnixListener) {
        for client in listener.incoming().flatten() {
            let disk = self.clone();
            std::thread::spawn(move || match disk.converse(client) {
                Ok(()) => {}
                Err(error) => eprintln!("client: {error}"),
            });
        }
    }

    fn converse(&self, mut client: UnixStream) -> io::Result<()> {
        let mut session = Session::new(self.exports.clone());
        while !session.is_finished() {
            while let Some(event) = session.next() {
                match event {
                    SessionEvent::Request(request) => self.carry_out(&mut session, request),
                    SessionEvent::Closed(reason) if !reason.is_orderly() => {
                        eprintln!("client {reason}")
                    }
                    SessionEvent::Opened(_) | SessionEvent::Closed(_) => {}
                }
            }
            if !session.output().is_empty() {
                let count = client.write(session.output())?;
                session.sent(count);
            } else if session.wants_input() {
                match client.read(session.space())? {
                    0 => session.hung_up(),
                    count => session.received(count),
                }
            }
        }
        Ok(())
    }

    fn carry_out(&self, session: &mut Session, Request { command, ticket, .. }: Request) {
        let mut disk = self.data.lock().expect("no thread panics");
        match command {
            BlockCommand::Read(span) => {
                let mut reply = session.read(ticket);
                for page in disk[range(span)].chunks(PAGE).collect::<Vec<_>>().chunk_by(alike) {
                    let length = page.iter().map(|page| page.len()).sum::<usize>() as u32;
                    if is_zeroes(page[0]) {
                        reply.zeroes(length);
                    } else {
                        let data = reply.data(length).chunks_mut(PAGE);
                        data.zip(page).for_each(|(to, from)| to.copy_from_slice(from));
                    }
                }
                return;
            }
            BlockCommand::BlockStatus { span, .. } => {
                let pages = disk[range(span)].chunks(PAGE);
                let extents = pages.map(|page| {
                    let zeroes = is_zeroes(page);
                    StatusExtent { length: page.len() as u64, hole: zeroes, zeroes }
                });
                return session.block_status(ticket, extents);
            }
            BlockCommand::Write { offset, data, .. } => {
                disk[range(Span { offset, length: data.len() as u32 })].copy_from_slice(&data);
                session.recycle(data);
            }
            BlockCommand::Trim { span, .. } | BlockCommand::WriteZeroes { span, .. } => {
                disk[range(span)].fill(0);
            }
            BlockCommand::Flush | BlockCommand::Cache(_) => {}
        }
        session.done(ticket);
    }
}

fn range(span: Span) -> std::ops::Range<usize> {
    let start = span.offset as usize;
    start..start + span.length as usize
}

fn is_zeroes(page: &[u8]) -> bool {
    page.iter().all(|&byte| byte == 0)
}

fn alike(one: &&[u8], other: &&[u8]) -> bool {
    is_zeroes(one) == is_zeroes(other)
}

#[allow(dead_code, reason = "tests use only the disk")]
fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(Ok(kibibytes))) =
        (arguments.next(), arguments.next().map(|size| size.parse::<usize>()))
    else {
        eprintln!("usage: ramdisk SOCKET KIBIBYTES");
        std::process::exit(2);
    };
    Arc::new(Disk::new(kibibytes << 10)).serve(UnixListener::bind(path)?);
    Ok(())
}
