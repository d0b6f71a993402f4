//! A drive with a shadow copy of every sector, and the load that is put on it.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftlab::engine::Stream;
use ftlab::host::{Advanced, Op, Outcome, Request};
use ftlab::units::{Lba, SimTime};
use ftlab_lab::device::{load, settings};
use rustix::fs::{SeekFrom, seek};

use crate::drive::{Answer, Drive, DriveSpec, Start};
use crate::protocol::Payload;

const SECTOR: usize = 512;
/// The part of the drive that is used: small, so that pages are written again and again.
const SECTORS: u64 = 4096;
const DEPTH: usize = 8;
/// After one in so many answers there is a commit that no answer needs.
const COMMITS: u64 = 50;

/// So small that blocks are collected and erased all the time.
pub const SMALL: [&str; 5] = [
    "ftl.recovery.policy=scan",
    "nand.channels=1",
    "nand.chips_per_channel=1",
    "nand.blocks_per_plane=20",
    "ftl.over_provisioning=100%",
];
/// A write buffer.
pub const BUFFERED: [&str; 2] = ["cache.policy=lru", "cache.capacity=256KiB"];

impl Drive {
    /// What waits for a commit.
    fn waiting_bytes(&self) -> usize {
        self.device().contents().logged().map(|(_, _, bytes)| bytes.len()).sum()
    }
}

/// What a sector may hold: the tags of the writes that may be its content. Zero is that of zeros.
pub type Shadow = Vec<BTreeSet<u32>>;

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

/// What was told of a failure. A drive whose file fails is done.
pub type Told<T = ()> = Result<T, String>;

/// Copies a data file, without its holes.
pub fn copy(from: &Path, to: &Path) {
    let (from, to) = (File::open(from).unwrap(), File::create(to).unwrap());
    let length = from.metadata().unwrap().len();
    to.set_len(length).unwrap();
    let mut at = 0;
    while let Ok(data) = seek(&from, SeekFrom::Data(at)) {
        at = seek(&from, SeekFrom::Hole(data)).unwrap();
        let mut bytes = vec![0; (at - data) as usize];
        from.read_exact_at(&mut bytes, data).unwrap();
        to.write_all_at(&bytes, data).unwrap();
    }
}

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub spec: DriveSpec,
    pub drive: Option<Drive>,
    per_page: u64,
    /// What may be there after a power cut.
    pub durable: Shadow,
    /// What reads return: the last acknowledged write.
    pub current: Vec<u32>,
    open: Vec<Option<Open>>,
    next: u32,
    stream: Stream,
    kills: u32,
    /// Whether it makes no commits.
    pub holds_back: bool,
    pub rolled_back: u64,
}

impl Bench {
    pub fn new(device: &str, sets: &[&str], seed: u64) -> Bench {
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
            holds_back: false,
            rolled_back: 0,
        }
    }

    pub fn drive(&mut self) -> &mut Drive {
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

    fn advance(&mut self) -> Told<Advanced> {
        let mut answers = Vec::new();
        let advanced = self.drive().advance(SimTime::FOREVER, &mut answers);
        let advanced = advanced.map_err(|error| error.to_string())?;
        // As the server does: if it must, and now and then.
        let promised = answers.iter().any(|answer| self.drive.as_ref().unwrap().promises(answer));
        if !self.holds_back && (promised || self.below(COMMITS) == 0) {
            self.drive().commit().map_err(|error| error.to_string())?;
        }
        answers.iter().for_each(|answer| self.answered(answer));
        Ok(advanced)
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
            _ => {
                for (allowed, tag) in self.durable.iter_mut().zip(before) {
                    // What it found, or something newer.
                    allowed.retain(|&other| other >= tag);
                    allowed.insert(tag);
                }
            }
        }
    }

    /// Does something at random.
    pub fn step(&mut self) -> Told {
        while self.open.iter().flatten().count() >= DEPTH {
            self.advance()?;
        }
        let Some(range) = self.range() else { return Ok(()) };
        match self.below(20) {
            0..10 => self.submit(Op::Write, range, false),
            10 => self.submit(Op::Write, range, true),
            11..16 => self.submit(Op::Read, range, false),
            16 | 17 => self.submit(Op::Trim, range, false),
            18 => {
                // A flush beside others would need a finer shadow.
                self.finish()?;
                self.submit(Op::Flush, 0..0, false);
                self.finish()?;
            }
            _ => self.finish()?,
        }
        Ok(())
    }

    /// Writes so much without a commit that the next one is larger than the log.
    pub fn write_much(&mut self) -> Told {
        const MUCH: usize = 3 << 20;
        self.finish()?;
        self.holds_back = true;
        let waits = |bench: &mut Bench| bench.drive().waiting_bytes();
        while waits(self) < MUCH {
            while self.open.iter().flatten().count() >= DEPTH {
                self.advance()?;
            }
            if let Some(range) = self.range() {
                self.submit(Op::Write, range, false);
            }
        }
        self.finish()?;
        self.holds_back = false;
        Ok(())
    }

    /// Takes so many steps.
    pub fn steps(&mut self, count: u64) -> Told {
        (0..count).try_for_each(|_| self.step())
    }

    /// Waits for all answers.
    pub fn finish(&mut self) -> Told {
        while self.open.iter().flatten().count() > 0 {
            self.advance()?;
        }
        Ok(())
    }

    /// Kills the server: what is in the data file now is all that is left.
    pub fn kill(&mut self) {
        self.kills += 1;
        let left = self.folder.path().join(format!("left-{}", self.kills));
        copy(&self.spec.data, &left);
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

    pub fn cut(&mut self) {
        self.drive().cut_power().unwrap();
        self.open.clear();
        self.survey();
    }

    pub fn shut_down(&mut self) {
        self.finish().unwrap();
        self.drive().save(&mut Vec::new()).unwrap();
        self.drive = None;
        let (mut drive, start) = self.spec.start().unwrap_or_else(|error| panic!("{error}"));
        drive.begin().unwrap();
        assert_eq!(start, Start::Saved);
        self.drive = Some(drive);
        self.durable = self.current.iter().map(|&tag| BTreeSet::from([tag])).collect();
        self.survey();
    }

    /// A copy of what is left in the data file, without a drive.
    pub fn left(&self) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("drive.flash");
        copy(&self.spec.data, &data);
        Bench {
            folder,
            spec: DriveSpec { data, ..self.spec.clone() },
            drive: None,
            per_page: self.per_page,
            durable: self.durable.clone(),
            current: self.current.clone(),
            open: Vec::new(),
            next: self.next,
            stream: Stream::new(u64::from(self.next), "left"),
            kills: 0,
            holds_back: false,
            rolled_back: 0,
        }
    }

    /// Starts the drive on what is in its data file.
    pub fn start(&mut self) -> Told<Start> {
        self.drive = None;
        self.open.clear();
        let (mut drive, start) = self.spec.start().map_err(|error| error.to_string())?;
        drive.begin().map_err(|error| error.to_string())?;
        self.drive = Some(drive);
        Ok(start)
    }

    /// Reads everything. What can't be read is zero.
    pub fn read_all(&mut self) -> Vec<u8> {
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
        bytes
    }

    /// Reads everything, and takes what is there for what is there from now on.
    pub fn survey(&mut self) {
        let bytes = self.read_all();
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
    pub fn work(&mut self, rounds: u64) {
        for round in 0..rounds {
            let steps = 20 + self.below(400);
            self.steps(steps).unwrap();
            match round % 5 {
                0 => self.shut_down(),
                1 => self.cut(),
                _ => self.kill(),
            }
        }
    }
}
