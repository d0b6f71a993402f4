//! Damaged data files: whatever happened to the file, a drive comes up with the right data, or says what is wrong.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use ftlab::engine::Stream;
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};

use super::bench::{BUFFERED, Bench, SMALL};
use crate::drive::header::MAGIC;
use crate::drive::layout::{BLOCK_BYTES, CHECKSUM_BYTES, FileLayout, HEADER_SLOT, TRIM_BYTES};
use crate::drive::records::{self, StoredSuperblock};

/// Devices that keep different things.
const DEVICES: [(&str, &[&str]); 6] = [
    ("tiny", &[]),
    ("tiny", &BUFFERED),
    ("tiny", &[BUFFERED[0], BUFFERED[1], "ftl.mapping.policy=dftl"]),
    ("tiny", &["ftl.mapping.policy=fast"]),
    ("prlru", &["cache.policy=prlru", "cache.capacity=256KiB", "nand.pages_per_block=32"]),
    ("tiny", &SUPERBLOCKS),
];
/// Superblocks with parity, of which some have bad blocks.
const SUPERBLOCKS: [&str; 7] = [
    BUFFERED[0],
    BUFFERED[1],
    "nand.dies_per_chip=4",
    "ftl.parity.policy=dies",
    "ftl.parity.width=4",
    "ftl.over_provisioning=150%",
    "nand.faults.factory_bad=10%",
];

/// A drive whose server was killed, its layout, and its shape.
struct Killed {
    bench: Bench,
    layout: FileLayout,
    geometry: Geometry,
}

impl Killed {
    fn new((device, sets): (&str, &[&str])) -> Killed {
        let sets: Vec<&str> = SMALL.iter().chain(sets).copied().collect();
        let mut bench = Bench::new(device, &sets, 17);
        bench.steps(1200).unwrap();
        bench.kill();
        bench.steps(50).unwrap();
        let drive = bench.drive();
        let (layout, geometry) = ((*drive.file.layout()).clone(), drive.geometry.clone());
        bench.drive = None;
        Killed { bench, layout, geometry }
    }

    /// A copy, and its file.
    fn copy(&self) -> (Bench, File) {
        let copy = self.bench.left();
        let file = OpenOptions::new().read(true).write(true).open(&copy.spec.data).unwrap();
        (copy, file)
    }

    /// Where what is kept of a superblock lies.
    fn superblock(&self, block: BlockId, file: &File) -> Range<u64> {
        let mut record = [0; BLOCK_BYTES as usize];
        file.read_exact_at(&mut record, self.layout.block(block)).unwrap();
        let bytes = records::block_of(block, &record).map_or(0, |it| it.superblock.bytes);
        let at = self.layout.superblock(block);
        at..at + u64::from(bytes)
    }

    /// Everything but the data: its header, configuration, log and tables.
    fn kept(&self) -> Range<u64> {
        0..self.layout.data(Ppn::new(0), false)
    }
}

/// Starts a damaged drive. It comes up, or it says what is wrong and what to do.
fn starts(copy: &mut Bench) -> bool {
    match copy.start() {
        Ok(_) => true,
        Err(told) => {
            assert!(told.contains("damaged") || told.contains("remedy"), "{told}");
            false
        }
    }
}

/// Damages bytes of a range. Returns what was done.
fn damage(file: &File, range: Range<u64>, stream: &mut Stream) -> String {
    let length = range.end - range.start;
    let at = range.start + stream.below(length);
    let most = [1, 4, 64, 512, 1 << 12, 1 << 16][stream.below(6) as usize];
    let mut bytes = vec![0; most.min(range.end - at) as usize];
    file.read_exact_at(&mut bytes, at).unwrap();
    let what = stream.below(3);
    match what {
        0 => bytes.fill(0),
        1 => bytes.iter_mut().for_each(|byte| *byte = stream.below(256) as u8),
        _ => bytes[0] ^= 1 << stream.below(8),
    }
    file.write_all_at(&bytes, at).unwrap();
    format!("{} bytes at {at} ({what})", bytes.len())
}

/// The parts of the file that hold something, so that damage meets them.
fn used(killed: &Killed, file: &File, stream: &mut Stream) -> Range<u64> {
    let layout = &killed.layout;
    let log = FileLayout::log();
    let parts = [
        0..3 << 12,
        FileLayout::config()..FileLayout::config() + (1 << 14),
        log..log + (1 << 16),
        layout.block(BlockId::new(0))..layout.block(BlockId::new(layout.block_count)),
        superblocks(killed, file),
        layout.page(Ppn::new(0))..layout.page(Ppn::new(layout.physical_pages)),
        layout.trims(),
    ];
    let part = parts[stream.below(parts.len() as u64) as usize].clone();
    part.start..part.end.min(file.metadata().unwrap().len())
}

/// What is kept of one of the superblocks; without any, their blocks.
fn superblocks(killed: &Killed, file: &File) -> Range<u64> {
    let layout = &killed.layout;
    let all = (0..layout.block_count).map(BlockId::new);
    let kept = all.map(|block| killed.superblock(block, file)).find(|kept| !kept.is_empty());
    kept.unwrap_or(layout.block(BlockId::new(0))..layout.block(BlockId::new(layout.block_count)))
}

/// Whatever of it is damaged, nothing wrong is believed.
#[test]
fn damage_of_what_is_kept_is_noticed() {
    const ROUNDS: u64 = 120;
    for device in DEVICES {
        let killed = Killed::new(device);
        let mut stream = Stream::new(19, "damage");
        let mut noticed = 0;
        for _ in 0..ROUNDS {
            let (mut copy, file) = killed.copy();
            let part = used(&killed, &file, &mut stream);
            let what = damage(&file, part, &mut stream);
            println!("{device:?}: {what}");
            match starts(&mut copy) {
                true => copy.survey(),
                false => noticed += 1,
            }
        }
        // Of 300 rounds, 27 to 40 %.
        assert!(noticed > ROUNDS / 5, "{noticed} of {ROUNDS} were noticed");
    }
}

/// Damaged data can't be noticed, as it has no checksums. It is read, and nothing else happens.
#[test]
fn damage_of_data_breaks_nothing() {
    for device in DEVICES {
        let killed = Killed::new(device);
        let mut stream = Stream::new(23, "damage");
        for _ in 0..10 {
            let (mut copy, file) = killed.copy();
            let data = killed.kept().end..file.metadata().unwrap().len();
            damage(&file, data, &mut stream);
            assert!(starts(&mut copy));
            copy.read_all();
        }
    }
}

/// A file that lost its end is refused, wherever it ends.
#[test]
fn a_file_that_is_cut_short_is_refused() {
    let killed = Killed::new(DEVICES[0]);
    let mut stream = Stream::new(29, "damage");
    let length = killed.layout.image();
    let kept = killed.kept().end;
    for round in 0..60 {
        let (mut copy, file) = killed.copy();
        let most = if round % 2 == 0 { length } else { kept };
        file.set_len(stream.below(most)).unwrap();
        assert!(!starts(&mut copy));
    }
}

/// No commit of the log can be lost, not even the last one.
#[test]
fn every_bit_of_the_log_is_checked() {
    let killed = Killed::new(DEVICES[1]);
    let mut stream = Stream::new(41, "damage");
    for _ in 0..40 {
        let (mut copy, file) = killed.copy();
        let mut end = [0; 8];
        file.read_exact_at(&mut end, FileLayout::log_mark() + 8).unwrap();
        let at = FileLayout::log() + stream.below(u64::from_le_bytes(end));
        flip(&file, at, &mut stream);
        let told = copy.start().expect_err("it is noticed");
        assert!(told.contains("its log has changed"), "{told}");
    }
}

fn flip(file: &File, at: u64, stream: &mut Stream) {
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    byte[0] ^= 1 << stream.below(8);
    file.write_all_at(&byte, at).unwrap();
}

/// A drive that was shut down needs its end, too, and says what is missing.
#[test]
fn a_saved_file_that_is_cut_short_is_refused() {
    let mut bench = Bench::new("tiny", &SMALL, 17);
    bench.steps(200).unwrap();
    bench.finish().unwrap();
    bench.drive().save(&mut Vec::new()).unwrap();
    bench.drive = None;
    let length = std::fs::metadata(&bench.spec.data).unwrap().len();
    for left in [4096, 1 << 17, length / 2, length - 1] {
        let mut copy = bench.left();
        OpenOptions::new().write(true).open(&copy.spec.data).unwrap().set_len(left).unwrap();
        let told = copy.start().unwrap_err();
        assert!(told.contains("its end is missing") && !told.contains("rights"), "{left}: {told}");
    }
}

/// One header is enough, and an older one is not taken for the truth.
#[test]
fn a_damaged_header_is_made_up_for() {
    const HEADERS: usize = 2 * HEADER_SLOT as usize;
    let mut bench = Bench::new("tiny", &SMALL, 17);
    let headers = |bench: &Bench| {
        let mut bytes = vec![0; HEADERS];
        File::open(&bench.spec.data).unwrap().read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    bench.steps(100).unwrap();
    let older = headers(&bench);
    bench.drive().file.fold().unwrap();
    bench.steps(100).unwrap();
    bench.finish().unwrap();
    bench.drive().commit().unwrap();
    let killed = bench.left();
    bench.drive().save(&mut Vec::new()).unwrap();
    bench.drive = None;
    let write = |bench: &Bench, bytes: &[u8], at: u64| {
        let file = OpenOptions::new().write(true).open(&bench.spec.data).unwrap();
        file.write_all_at(bytes, at).unwrap();
    };
    for (at, length) in [(0, 4096), (0, 64), (4096, 64), (4096, 4096)] {
        for (left, start) in [(&killed, "Recovered"), (&bench, "Saved")] {
            let mut copy = left.left();
            write(&copy, &vec![0xa5; length], at);
            let found = format!("{:?}", copy.start().unwrap());
            assert!(found.starts_with(start), "{length} bytes at {at}: {found}");
            copy.survey();
        }
    }
    let mut copy = killed.left();
    write(&copy, &older, 0);
    let told = copy.start().unwrap_err();
    assert!(told.contains("its header is older than its log"), "{told}");
}

/// A file of another version is not taken for damaged, nor for something else.
#[test]
fn another_format_is_refused() {
    let mut bench = Bench::new("tiny", &SMALL, 17);
    bench.drive = None;
    let text = br#"{"format":3,"generation":9,"state":"running","facts":{"giving_up":[1]}}"#;
    let (length, checksum) = (text.len() as u32, crc32fast::hash(text));
    let slot = [&MAGIC[..], &length.to_le_bytes(), &checksum.to_le_bytes(), text].concat();
    let file = OpenOptions::new().write(true).open(&bench.spec.data).unwrap();
    for at in [0, HEADER_SLOT] {
        file.write_all_at(&slot, at).unwrap();
    }
    let told = bench.start().unwrap_err();
    assert!(told.contains("it has format 3, and this program reads format 4"), "{told}");
    assert!(told.contains("remedy: use the version of ftlab that wrote it"), "{told}");
}

/// Every record of the tables is checked: a bit that flips in one that counts is noticed.
#[test]
fn every_record_of_the_tables_is_checked() {
    for device in DEVICES {
        let mut killed = Killed::new(device);
        killed.fold();
        let mut stream = Stream::new(31, "damage");
        for place in killed.records(&mut stream, 12) {
            for zeroed in [false, true] {
                let (mut copy, file) = killed.copy();
                let mut record = vec![0; place.bytes as usize];
                file.read_exact_at(&mut record, place.at).unwrap();
                match zeroed {
                    true => record.fill(0),
                    false => record[stream.below(place.bytes) as usize] ^= 1 << stream.below(8),
                }
                file.write_all_at(&record, place.at).unwrap();
                let told = copy.start().expect_err("it is noticed");
                assert!(told.contains("damaged"), "{told}");
            }
        }
    }
}

/// Records with right checksums may still make no sense. Then a drive says so, or comes up in some way.
#[test]
fn senseless_records_break_nothing() {
    for device in DEVICES {
        let mut killed = Killed::new(device);
        killed.fold();
        let mut stream = Stream::new(37, "damage");
        for _ in 0..6 {
            for place in killed.records(&mut stream, 3) {
                let (mut copy, file) = killed.copy();
                let mut record = vec![0; place.bytes as usize];
                file.read_exact_at(&mut record, place.at).unwrap();
                for _ in 0..1 + stream.below(3) {
                    let at = stream.below(place.bytes) as usize;
                    record[at] ^= 1 << stream.below(8);
                }
                place.seal(&mut record);
                file.write_all_at(&record, place.at).unwrap();
                println!("{device:?}: {place:?} {record:?}");
                if starts(&mut copy) {
                    copy.read_all();
                }
            }
        }
    }
}

/// What is kept of superblocks is checked, too.
#[test]
fn every_superblock_is_checked() {
    let mut killed = Killed::new(("tiny", &SUPERBLOCKS));
    killed.fold();
    let mut stream = Stream::new(43, "damage");
    let mut checked = 0;
    for block in (0..killed.layout.block_count).map(BlockId::new) {
        let (mut copy, file) = killed.copy();
        let kept = killed.superblock(block, &file);
        if !kept.is_empty() {
            flip(&file, kept.start + stream.below(kept.end - kept.start), &mut stream);
            let told = copy.start().expect_err("it is noticed");
            assert!(told.contains("superblock"), "{told}");
            checked += 1;
        }
    }
    assert!(checked > 0, "no superblock has anything to keep");
}

/// With right checksums, it may still make no sense.
#[test]
fn senseless_superblocks_break_nothing() {
    let mut killed = Killed::new(("tiny", &SUPERBLOCKS));
    killed.fold();
    let mut stream = Stream::new(47, "damage");
    for number in 0..killed.layout.block_count {
        let (mut copy, file) = killed.copy();
        let (block, at) = (BlockId::new(number), killed.layout.block(BlockId::new(number)));
        let place = killed.superblock(block, &file);
        if place.is_empty() {
            continue;
        }
        let mut kept = vec![0; (place.end - place.start) as usize];
        file.read_exact_at(&mut kept, place.start).unwrap();
        kept[stream.below(place.end - place.start) as usize] ^= 1 << stream.below(8);
        file.write_all_at(&kept, place.start).unwrap();
        let mut record = [0; BLOCK_BYTES as usize];
        file.read_exact_at(&mut record, at).unwrap();
        let mut stored = records::block_of(block, &record).unwrap();
        stored.superblock = StoredSuperblock::of(block, &kept);
        file.write_all_at(&records::block_record(block, &stored), at).unwrap();
        if starts(&mut copy) {
            copy.read_all();
        }
    }
}

/// A record of a table.
#[derive(Clone, Copy, Debug)]
struct PlaceOfRecord {
    number: u32,
    at: u64,
    bytes: u64,
}

impl PlaceOfRecord {
    /// Puts in the right checksum.
    fn seal(&self, record: &mut [u8]) {
        if self.bytes == BLOCK_BYTES {
            record[records::BLOCK_CHECKSUM].fill(0);
            let checksum = records::checksum(self.number, record);
            record[records::BLOCK_CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        } else {
            let (content, end) = record.split_at_mut((self.bytes - CHECKSUM_BYTES) as usize);
            end.copy_from_slice(&records::checksum(self.number, content).to_le_bytes());
        }
    }
}

impl Killed {
    /// Brings everything from the log to the tables.
    fn fold(&mut self) {
        self.bench.start().unwrap();
        self.bench.drive().commit().unwrap();
        self.bench.drive().file.fold().unwrap();
        self.bench.drive = None;
    }

    /// Records that count: so many blocks, pages and trims.
    fn records(&self, stream: &mut Stream, count: u64) -> Vec<PlaceOfRecord> {
        let (layout, file) = (&self.layout, File::open(&self.bench.spec.data).unwrap());
        let read = |at: u64, bytes: u64| {
            let mut record = vec![0; bytes as usize];
            file.read_exact_at(&mut record, at).unwrap();
            record
        };
        let units = self.geometry.units_per_block();
        let (mut blocks, mut pages, mut trims) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..layout.block_count {
            let (block, at) = (BlockId::new(number), layout.block(BlockId::new(number)));
            blocks.push(PlaceOfRecord { number, at, bytes: BLOCK_BYTES });
            let record: [u8; BLOCK_BYTES as usize] = read(at, BLOCK_BYTES).try_into().unwrap();
            let stored = records::block_of(block, &record).unwrap();
            let first = self.geometry.page_at(block, 0).get();
            let counts = stored.kept.opening > 0 || stored.kept.programmed > 0;
            let all = if counts { first..first + units } else { 0..0 };
            pages.extend(all.map(|number| PlaceOfRecord {
                number,
                at: layout.page(Ppn::new(number)),
                bytes: layout.record_bytes,
            }));
        }
        for number in 0..layout.logical_pages {
            let at = layout.trim(Lpn::new(number));
            if read(at, TRIM_BYTES).iter().any(|&byte| byte > 0) {
                trims.push(PlaceOfRecord { number, at, bytes: TRIM_BYTES });
            }
        }
        let mut some = Vec::new();
        for places in [blocks, pages, trims].iter().filter(|places| !places.is_empty()) {
            let one = |_| places[stream.below(places.len() as u64) as usize];
            some.extend((0..count).map(one));
        }
        some
    }
}
