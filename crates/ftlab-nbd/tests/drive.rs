//! A drive under random load, with a shadow copy of every sector: it is shut down, loses power, and has its server
//! killed, again and again.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftlab::engine::Stream;
use ftlab::host::{Advanced, Op, Outcome, Request};
use ftlab::units::{Lba, SimTime};
use ftlab_lab::device::{load, settings};
use ftlab_nbd::drive::{Answer, Drive, DriveSpec, Start};
use ftlab_nbd::protocol::Payload;

const SECTOR: usize = 512;
/// The part of the drive that is used: small, so that pages are written again and again.
const SECTORS: u64 = 4096;
const DEPTH: usize = 8;

/// What a sector may hold: the tags of the writes that may be its content. Zero is that of zeros.
type Shadow = Vec<BTreeSet<u32>>;

fn content(tag: u32, sector: u64) -> [u8; SECTOR] {
    let mut bytes = [0; SECTOR];
    if tag > 0 {
        for (at, chunk) in bytes.chunks_mut(16).enumerate() {
            chunk[..4].copy_from_slice(&tag.to_le_bytes());
            chunk[4..12].copy_from_slice(&sector.to_le_bytes());
            chunk[12] = at as u8;
        }
    }
    bytes
}

fn tag_of(bytes: &[u8], sector: u64) -> Option<u32> {
    let tag = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    (bytes == content(tag, sector)).then_some(tag)
}

/// A request that is in the drive.
struct Open {
    op: Op,
    range: std::ops::Range<u64>,
    tag: u32,
    fua: bool,
    /// The sectors as a flush found them: what each held when it was acknowledged.
    before: Vec<u32>,
}

struct Bench {
    folder: tempfile::TempDir,
    spec: DriveSpec,
    drive: Option<Drive>,
    per_page: u64,
    /// What may be there after a power cut.
    durable: Shadow,
    /// What reads return: the last acknowledged write.
    current: Vec<u32>,
    open: Vec<Option<Open>>,
    next: u32,
    stream: Stream,
    kills: u32,
    rolled_back: u64,
}

impl Bench {
    fn new(device: &str, sets: &[&str], seed: u64) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let config = load(device, &settings(sets)).unwrap_or_else(|error| panic!("{error}"));
        let data = folder.path().join("drive.flash");
        let spec = DriveSpec { config: Some(config), image: None, data, seed: 1 };
        let (mut drive, start) = spec.start().unwrap_or_else(|error| panic!("{error}"));
        drive.begin().unwrap();
        assert_eq!(start, Start::New);
        let per_page = drive.page_bytes() / SECTOR as u64;
        Bench {
            folder,
            spec,
            drive: Some(drive),
            per_page,
            durable: vec![BTreeSet::from([0]); SECTORS as usize],
            current: vec![0; SECTORS as usize],
            open: Vec::new(),
            next: 1,
            stream: Stream::new(seed, "drive"),
            kills: 0,
            rolled_back: 0,
        }
    }

    fn drive(&mut self) -> &mut Drive {
        self.drive.as_mut().unwrap()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.stream.below(limit)
    }

    /// A range that no open request touches; its content would be anybody's guess.
    fn range(&mut self) -> Option<std::ops::Range<u64>> {
        let length = [1, 3, 8, 8, 8, 16, 40][self.below(7) as usize];
        let first = self.below(SECTORS - length);
        let range = first..first + length;
        let free = |open: &Open| open.range.end <= range.start || range.end <= open.range.start;
        self.open.iter().flatten().all(free).then_some(range)
    }

    fn submit(&mut self, op: Op, range: std::ops::Range<u64>, fua: bool) {
        let tag = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        let number = self.next;
        self.next += 1;
        let data = (op == Op::Write).then(|| {
            let mut payload = Payload::zeroes((range.end - range.start) as usize * SECTOR);
            for (sector, bytes) in range.clone().zip(payload.bytes_mut().chunks_mut(SECTOR)) {
                bytes.copy_from_slice(&content(number, sector));
            }
            (Rc::new(payload), 0)
        });
        if op == Op::Write {
            for sector in range.clone() {
                self.durable[sector as usize].insert(number);
            }
        }
        if op == Op::Trim {
            let whole = self.whole(&range);
            for sector in whole {
                self.durable[sector as usize].insert(0);
            }
        }
        let before = if op == Op::Flush { self.current.clone() } else { Vec::new() };
        let open = Open { op, range: range.clone(), tag: number, fua, before };
        match self.open.get_mut(tag) {
            Some(place) => *place = Some(open),
            None => self.open.push(Some(open)),
        }
        let sectors = (range.end - range.start) as u32;
        let request =
            Request { op, lba: Lba(range.start), sectors, stream: 0, tag: tag as u32, fua };
        let now = self.drive().now();
        self.drive().submit(now, request, data);
    }

    /// The sectors of the whole pages of a range.
    fn whole(&self, range: &std::ops::Range<u64>) -> std::ops::Range<u64> {
        let first = range.start.next_multiple_of(self.per_page);
        let end = range.end / self.per_page * self.per_page;
        first..end.max(first)
    }

    fn advance(&mut self) -> Advanced {
        let mut answers = Vec::new();
        let advanced = self.drive().advance(SimTime::FOREVER, &mut answers).unwrap();
        self.drive().commit().unwrap();
        answers.iter().for_each(|answer| self.answered(answer));
        advanced
    }

    fn answered(&mut self, answer: &Answer) {
        assert_eq!(answer.completion.outcome, Outcome::Done);
        let open = self.open[answer.completion.request.tag as usize].take().unwrap();
        let Open { op, range, tag, fua, before } = open;
        match op {
            Op::Read => {
                let mut bytes = vec![1; (range.end - range.start) as usize * SECTOR];
                answer.put(range.start, &mut bytes);
                for (sector, bytes) in range.zip(bytes.chunks(SECTOR)) {
                    let found = tag_of(bytes, sector);
                    assert_eq!(found, Some(self.current[sector as usize]), "sector {sector}");
                }
            }
            Op::Write => {
                for sector in range {
                    self.current[sector as usize] = tag;
                    if fua {
                        self.durable[sector as usize] = BTreeSet::from([tag]);
                    }
                }
            }
            // A trim that is answered lasts.
            Op::Trim => {
                for sector in self.whole(&range) {
                    self.current[sector as usize] = 0;
                    self.durable[sector as usize] = BTreeSet::from([0]);
                }
            }
            Op::Flush => {
                for (allowed, tag) in self.durable.iter_mut().zip(before) {
                    // What it found, or something newer.
                    allowed.retain(|&other| other >= tag);
                    allowed.insert(tag);
                }
            }
        }
    }

    fn step(&mut self) {
        while self.open.iter().flatten().count() >= DEPTH {
            self.advance();
        }
        let Some(range) = self.range() else { return };
        match self.below(20) {
            0..10 => self.submit(Op::Write, range, false),
            10 => self.submit(Op::Write, range, true),
            11..16 => self.submit(Op::Read, range, false),
            16 | 17 => self.submit(Op::Trim, range, false),
            18 => {
                // A flush beside others would need a finer shadow.
                self.finish();
                self.submit(Op::Flush, 0..0, false);
                self.finish();
            }
            _ => self.finish(),
        }
    }

    fn finish(&mut self) {
        while self.open.iter().flatten().count() > 0 {
            self.advance();
        }
    }

    /// Kills the server: what is in the data file now is all that is left.
    fn kill(&mut self) {
        self.kills += 1;
        let left = self.folder.path().join(format!("left-{}", self.kills));
        std::fs::copy(&self.spec.data, &left).unwrap();
        self.drive = None;
        self.start_on(left);
        self.open.clear();
        self.survey();
    }

    fn start_on(&mut self, data: PathBuf) {
        self.spec = DriveSpec { config: None, image: None, data, seed: 1 };
        let (drive, start) = self.spec.start().unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(start, Start::Recovered { .. }), "{start:?}");
        self.drive = Some(drive);
    }

    fn cut(&mut self) {
        self.drive().cut_power().unwrap();
        self.open.clear();
        self.survey();
    }

    fn shut_down(&mut self) {
        self.finish();
        self.drive().save(None, &mut Vec::new()).unwrap();
        self.drive = None;
        let (mut drive, start) = self.spec.start().unwrap_or_else(|error| panic!("{error}"));
        drive.begin().unwrap();
        assert_eq!(start, Start::Saved);
        self.drive = Some(drive);
        self.durable = self.current.iter().map(|&tag| BTreeSet::from([tag])).collect();
        self.survey();
    }

    /// Reads everything, and takes what is there for what is there from now on.
    fn survey(&mut self) {
        let mut answers = Vec::new();
        let request = Request {
            op: Op::Read,
            lba: Lba(0),
            sectors: SECTORS as u32,
            stream: 0,
            tag: 0,
            fua: false,
        };
        let now = self.drive().now();
        self.drive().submit(now, request, None);
        while answers.is_empty() {
            self.drive().advance(SimTime::FOREVER, &mut answers).unwrap();
        }
        let mut bytes = vec![1; SECTORS as usize * SECTOR];
        answers[0].put(0, &mut bytes);
        for (sector, bytes) in (0..SECTORS).zip(bytes.chunks(SECTOR)) {
            let found = tag_of(bytes, sector).unwrap_or_else(|| panic!("sector {sector} is torn"));
            let allowed = &mut self.durable[sector as usize];
            assert!(
                allowed.contains(&found),
                "sector {sector} holds {found}, and may hold {allowed:?} (acknowledged: {})",
                self.current[sector as usize]
            );
            // What is newer was on its way when power went.
            self.rolled_back += u64::from(found < self.current[sector as usize]);
            *allowed = BTreeSet::from([found]);
            self.current[sector as usize] = found;
        }
    }

    /// Works, and ends in every way, again and again.
    fn work(&mut self, rounds: u64) {
        for round in 0..rounds {
            for _ in 0..20 + self.below(400) {
                self.step();
            }
            match round % 5 {
                0 => self.shut_down(),
                1 => self.cut(),
                _ => self.kill(),
            }
        }
    }
}

const BUFFERED: [&str; 2] = ["cache.policy=lru", "cache.capacity=256KiB"];

fn bears(device: &str, sets: &[&str]) -> Bench {
    let sets: Vec<&str> = ["ftl.recovery.policy=scan"].iter().chain(sets).copied().collect();
    let mut bench = Bench::new(device, &sets, 7);
    bench.work(12);
    bench
}

#[test]
fn nothing_is_lost_without_a_write_buffer() {
    let bench = bears("tiny", &[]);
    assert_eq!(bench.rolled_back, 0, "what was acknowledged was on flash");
}

#[test]
fn only_what_was_not_flushed_is_lost_with_one() {
    let bench = bears("tiny", &BUFFERED);
    assert!(bench.rolled_back > 0, "unflushed data is lost now and then");
}

#[test]
fn checkpoints_are_not_needed_after_a_kill() {
    let sets = [&BUFFERED[..], &["ftl.recovery.policy=checkpoint", "ftl.recovery.every=1MiB"]];
    bears("tiny", &sets.concat());
}

#[test]
fn a_map_on_flash_is_found_again() {
    bears("tiny", &[&BUFFERED[..], &["ftl.mapping.policy=dftl"]].concat());
}

#[test]
fn log_blocks_are_found_again() {
    bears("tiny", &["ftl.mapping.policy=fast", "ftl.over_provisioning=30%"]);
}

/// Two logical pages share a physical one.
#[test]
fn packed_pages_are_found_again() {
    let small = ["nand.blocks_per_plane=16", "ftl.over_provisioning=60%"];
    let sets = [&["cache.policy=prlru", "cache.capacity=256KiB"][..], &small[..]].concat();
    let bench = bears("prlru", &sets);
    assert!(bench.rolled_back > 0);
}

#[test]
fn failing_flash_loses_nothing() {
    let sets = ["nand.faults.program_failures=2000000", "nand.faults.erase_failures=500000"];
    bears("tiny", &[&BUFFERED[..], &sets[..]].concat());
}

/// The check above can fail: a drive that lies about flushes is found out.
#[test]
#[should_panic(expected = "and may hold")]
fn a_drive_that_ignores_flushes_is_found_out() {
    bears("tiny", &[&BUFFERED[..], &["host.flush=ignored"]].concat());
}

/// A device that recovers nothing keeps its data when it is shut down, and says what a kill has cost.
#[test]
fn without_recovery_a_kill_loses_everything() {
    let mut bench = Bench::new("tiny", &BUFFERED, 3);
    for _ in 0..300 {
        bench.step();
    }
    bench.shut_down();
    for _ in 0..300 {
        bench.step();
    }
    let left = bench.folder.path().join("left");
    std::fs::copy(&bench.spec.data, &left).unwrap();
    bench.spec.data = left;
    bench.spec.config = None;
    let told = bench.spec.start().err().expect("nothing is left").to_string();
    assert!(told.contains("its data is lost"), "{told}");
}

/// A die dies while the drive has parity across dies.
#[test]
fn parity_bears_the_death_of_a_die() {
    let sets = [
        "ftl.parity.policy=dies",
        "ftl.parity.width=2",
        "ftl.over_provisioning=100%",
        "cache.policy=lru",
        "cache.capacity=256KiB",
    ];
    let mut bench = Bench::new("tiny", &sets, 5);
    for _ in 0..300 {
        bench.step();
    }
    bench.finish();
    bench.drive().kill_die(1).unwrap();
    for _ in 0..300 {
        bench.step();
    }
    bench.finish();
    bench.durable = bench.current.iter().map(|&tag| BTreeSet::from([tag])).collect();
    bench.survey();
}

/// Damage is told, whatever it is.
#[test]
fn damaged_files_are_refused() {
    let mut bench = Bench::new("tiny", &["ftl.recovery.policy=scan"], 2);
    for _ in 0..100 {
        bench.step();
    }
    bench.finish();
    bench.drive = None;
    let whole = std::fs::read(&bench.spec.data).unwrap();
    let damaged = bench.folder.path().join("damaged");
    let mut stream = Stream::new(9, "damage");
    for round in 0..60 {
        let mut bytes = whole.clone();
        // The header, the configuration, the log and the tables.
        let most = if round % 2 == 0 { 1 << 21 } else { bytes.len() as u64 / 2 };
        for _ in 0..1 + stream.below(200) {
            bytes[stream.below(most) as usize] ^= 1 << stream.below(8);
        }
        if round % 7 == 0 {
            bytes.truncate(stream.below(most) as usize);
        }
        std::fs::write(&damaged, &bytes).unwrap();
        start_if_possible(&damaged);
    }
}

fn start_if_possible(data: &Path) {
    let spec = DriveSpec { config: None, image: None, data: data.to_owned(), seed: 1 };
    if let Err(told) = spec.start() {
        assert!(told.to_string().contains("remedy"), "{told}");
    }
}
