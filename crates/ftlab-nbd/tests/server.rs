//! The server beside clients that ask for too much, or say nothing: others are served meanwhile, and everyone gets an
//! answer at the end.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ftlab_lab::device::{load, settings};
use ftlab_nbd::control::{Clock, DriveOrder, client};
use ftlab_nbd::drive::DriveSpec;
use ftlab_nbd::server::{ExportSpec, Listen, Server, ServerSpec};

const MIB: u32 = 1 << 20;
/// The longest time that an honest client waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// After this time a test has failed.
const HANGS: Duration = Duration::from_secs(30);

/// Where honest clients write and read.
const PLACE: u64 = 20 << 20;

const READ: u16 = 0;
const WRITE: u16 = 1;
const TRIM: u16 = 4;
const SHUTDOWN: u32 = 108;

/// A served drive.
struct Served {
    folder: tempfile::TempDir,
    server: Option<JoinHandle<()>>,
}

impl Served {
    fn new(device: &str, sets: &[&str], connections: usize) -> Served {
        Served::with_clock(device, sets, connections, Clock::Simulated)
    }

    fn with_clock(device: &str, sets: &[&str], connections: usize, clock: Clock) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let config = load(device, &settings(sets)).unwrap_or_else(|error| panic!("{error}"));
        let data = folder.path().join("drive.flash");
        let drive = DriveSpec { config: Some(config), image: None, data, seed: 1 };
        let socket = folder.path().join("socket");
        let control = Listen::control_of(&socket);
        let listen = Listen { unix: Some(socket), control, ..Listen::default() };
        let spec = ServerSpec {
            listen,
            exports: vec![ExportSpec { name: String::new(), size: None, read_only: false }],
            clock,
            cut_every: None,
            record: None,
            connections,
            save: None,
        };
        let (ready, is_ready) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            let (drive, _) = drive.start().unwrap_or_else(|error| panic!("{error}"));
            let server = Server::new(drive, spec).unwrap_or_else(|error| panic!("{error}"));
            ready.send(()).unwrap();
            server.run(&mut |line| println!("{line}")).unwrap_or_else(|error| panic!("{error}"));
        });
        is_ready.recv_timeout(HANGS).unwrap();
        Served { folder, server: Some(server) }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Orders the end.
    fn stop(&self) {
        let mut control = UnixStream::connect(Listen::control_of(&self.socket())).unwrap();
        control.write_all(&client::order(&DriveOrder::Stop)).unwrap();
        control.set_read_timeout(Some(HANGS)).unwrap();
        control.read_to_end(&mut Vec::new()).unwrap();
    }

    /// Waits for the end.
    fn ended(mut self) {
        self.server.take().unwrap().join().unwrap();
    }
}

/// A client.
struct Client {
    socket: UnixStream,
    cookie: u64,
}

impl Client {
    /// Connects, and says nothing.
    fn silent(served: &Served) -> Client {
        let socket = UnixStream::connect(served.socket()).unwrap();
        socket.set_read_timeout(Some(HANGS)).unwrap();
        socket.set_write_timeout(Some(HANGS)).unwrap();
        Client { socket, cookie: 0 }
    }

    /// Connects, and chooses the export.
    fn new(served: &Served) -> Client {
        const GREETING: usize = 18;
        const MAGIC: &[u8] = b"IHAVEOPT";
        const GO: u32 = 7;
        const ACKNOWLEDGED: u32 = 1;
        let mut client = Client::silent(served);
        client.bytes(GREETING);
        let mut hello = 3u32.to_be_bytes().to_vec();
        hello.extend_from_slice(MAGIC);
        hello.extend_from_slice(&GO.to_be_bytes());
        // No name, and no questions.
        hello.extend_from_slice(&6u32.to_be_bytes());
        hello.extend_from_slice(&[0; 6]);
        client.socket.write_all(&hello).unwrap();
        loop {
            let head = client.bytes(20);
            client.bytes(number(&head[16..]) as usize);
            if number(&head[12..]) == ACKNOWLEDGED {
                return client;
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The header of a request.
    fn header(&mut self, command: u16, offset: u64, length: u32) -> Vec<u8> {
        self.cookie += 1;
        let mut header = 0x2560_9513_u32.to_be_bytes().to_vec();
        header.extend_from_slice(&0u16.to_be_bytes());
        header.extend_from_slice(&command.to_be_bytes());
        header.extend_from_slice(&self.cookie.to_be_bytes());
        header.extend_from_slice(&offset.to_be_bytes());
        header.extend_from_slice(&length.to_be_bytes());
        header
    }

    /// Sends a request.
    fn ask(&mut self, command: u16, offset: u64, length: u32) {
        let header = self.header(command, offset, length);
        self.socket.write_all(&header).unwrap();
    }

    /// Receives the head of a reply. Returns its error.
    fn reply(&mut self) -> u32 {
        number(&self.bytes(16)[4..])
    }

    /// Writes and reads back, and returns how long that took.
    fn works(&mut self, count: u64) -> Duration {
        const BYTES: usize = 4096;
        let mut longest = Duration::ZERO;
        for round in 0..count {
            let (began, data) = (Instant::now(), [round as u8 + 1; BYTES]);
            let at = PLACE + round * BYTES as u64;
            let mut request = self.header(WRITE, at, BYTES as u32);
            request.extend_from_slice(&data);
            self.socket.write_all(&request).unwrap();
            assert_eq!(self.reply(), 0);
            self.ask(READ, at, BYTES as u32);
            assert_eq!(self.reply(), 0);
            assert!(self.bytes(BYTES) == data, "it reads what it wrote");
            longest = longest.max(began.elapsed());
        }
        longest
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().unwrap())
}

/// Trims of what was never written find nothing to do, but they have to look for it. At the end of the server, those
/// that still look are told.
#[test]
fn trims_of_nothing_hold_nobody_up() {
    const TRIMS: usize = 256;
    let served = Served::new("plain-32g", &[], 8);
    let mut trims = Client::new(&served);
    for _ in 0..TRIMS {
        trims.ask(TRIM, 4 << 30, u32::MAX - 511);
    }
    let mut honest = Client::new(&served);
    let longest = honest.works(20);
    assert!(longest < PATIENCE / 4, "{longest:?}");
    served.stop();
    let errors: Vec<u32> = (0..TRIMS).map(|_| trims.reply()).collect();
    assert!(errors.iter().all(|&error| error == 0 || error == SHUTDOWN), "{errors:?}");
    assert_eq!(errors.last(), Some(&SHUTDOWN), "the server ended before they did");
    served.ended();
}

/// Requests that never came into the device are answered at the end, too.
#[test]
fn at_the_end_everything_is_answered() {
    const REQUESTS: usize = 50;
    // Time hardly passes, so that the first request keeps the others out.
    let clock = Clock::Scaled(1e-6);
    let served = Served::with_clock("tiny", &["host.queue_depth=1"], 8, clock);
    let mut client = Client::new(&served);
    for at in 0..REQUESTS as u64 {
        let mut request = client.header(WRITE, at * 4096, 4096);
        request.extend_from_slice(&[7; 4096]);
        client.socket.write_all(&request).unwrap();
    }
    served.stop();
    let errors: Vec<u32> = (0..REQUESTS).map(|_| client.reply()).collect();
    let refused = errors.iter().filter(|&&error| error == SHUTDOWN).count();
    assert_eq!((errors[0], refused), (0, REQUESTS - 1), "{errors:?}");
    served.ended();
}

/// Clients that choose no export make room for others.
#[test]
fn silent_clients_shut_nobody_out() {
    let served = Served::new("tiny", &[], 4);
    let mut first = Client::new(&served);
    let mut silent: Vec<Client> = (0..8).map(|_| Client::silent(&served)).collect();
    for _ in 0..3 {
        let mut honest = Client::new(&served);
        assert!(honest.works(3) < PATIENCE);
        silent.push(Client::silent(&served));
    }
    assert!(first.works(3) < PATIENCE, "who chose an export stays");
    // The same for orders.
    let control = Listen::control_of(&served.socket());
    let lookers: Vec<_> = (0..40).map(|_| UnixStream::connect(&control).unwrap()).collect();
    served.stop();
    served.ended();
    drop(lookers);
}

/// Clients that read no replies don't hold up others, and all together hold a bounded amount of memory.
#[test]
fn deaf_clients_hold_little_together() {
    const DEAF: usize = 8;
    let served = Served::new("tiny", &[], 64);
    let mut honest = Client::new(&served);
    honest.works(3);
    let before = resident();
    let mut deaf: Vec<Client> = (0..DEAF).map(|_| Client::new(&served)).collect();
    for client in &mut deaf {
        for _ in 0..64 {
            client.ask(READ, 0, 16 * MIB);
        }
    }
    let until = Instant::now() + Duration::from_secs(2);
    let mut longest = Duration::ZERO;
    while Instant::now() < until {
        longest = longest.max(honest.works(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    // On a quiet machine, 0.3 s: replies of 16 MiB take their time.
    assert!(longest < 3 * PATIENCE, "{longest:?}");
    let more = resident().saturating_sub(before);
    assert!(more < 512 << 20, "{} MiB", more >> 20);
    println!("{longest:?}, {} MiB", more >> 20);
    // They may still get everything that they asked for.
    let client = &mut deaf[0];
    for _ in 0..64 {
        assert_eq!(client.reply(), 0);
        client.bytes(16 * MIB as usize);
    }
    drop(deaf);
    served.stop();
    served.ended();
}

/// Memory that this process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}
