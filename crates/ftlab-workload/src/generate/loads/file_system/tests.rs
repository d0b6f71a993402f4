//! The disk behind the requests: nothing is written where something lies, metadata is in the journal before it is in place, and
//! rates and lifetimes are those that follow from the sizes.

use ftlab::units::SECTOR_BYTES;

use super::*;
use crate::generate::Workload;
use crate::generate::loads::Application;
use crate::generate::loads::files::{SIZES, SMALLEST};

/// 128 MiB, after a region that begins a block later.
const SECTORS: u64 = 1 << 18;
const BLOCK: u64 = 8;

fn run(load: &str) -> FileSystemRun {
    let text = format!(
        "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '32KiB'\nrequests = 1\nregion = {{ offset = '4KiB' }}\n\
         address = {{ kind = 'zipf', theta = 0.8 }}\nload = {{ kind = 'file-system', largest_file = '1MiB', {load} }}"
    );
    let mut none = |_: &str| Err("no files".to_owned());
    let workload = Workload::parse("test", &text, &mut none).unwrap_or_else(|p| panic!("{p}"));
    let phase = &workload.phases[0];
    let extent = Extent::of(phase, SECTORS).unwrap();
    let Application::FileSystem(shape) = phase.load.unwrap().application else { panic!("{text}") };
    let stream = |of: &str| Stream::new(1, of);
    let mut run = FileSystemRun::new(&shape, phase, extent, &stream)
        .unwrap_or_else(|misfit| panic!("{misfit:?}"));
    run.lay_out();
    run
}

/// What holds at each sector, as the requests tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    Nothing,
    Data,
    /// It was trimmed, and no request has waited for that.
    Trimmed,
}

/// A disk that looks at every request.
struct Disk {
    held: Vec<Held>,
    metadata: std::ops::Range<u64>,
    journal: std::ops::Range<u64>,
    journal_at: u64,
    /// Blocks in the journal since the last flush, and flushed ones that are not in place.
    written: u64,
    in_place: u64,
    flushes: u64,
}

impl Disk {
    fn of(run: &FileSystemRun) -> Disk {
        let start = run.disk.start;
        let (metadata, journal) = (start..start + run.disk.metadata, run.disk.metadata + start);
        let mut held = vec![Held::Nothing; SECTORS as usize];
        for &(at, sectors) in run.files.iter().flat_map(|files| &files.places).flat_map(|f| &f.0) {
            held[at as usize..(at + sectors) as usize].fill(Held::Data);
        }
        let journal = journal..journal + run.disk.journal;
        let journal_at = journal.start;
        Disk { held, metadata, journal, journal_at, written: 0, in_place: 0, flushes: 0 }
    }

    fn see(&mut self, transfer: Transfer, awaits_trims: bool) {
        let Transfer { op, start, sectors, stream } = transfer;
        if awaits_trims {
            self.held
                .iter_mut()
                .filter(|held| **held == Held::Trimmed)
                .for_each(|h| *h = Held::Nothing);
        }
        let places = start as usize..(start + sectors) as usize;
        match (op, stream) {
            (Op::Write, JOURNAL_STREAM) => {
                assert_eq!(start, self.journal_at, "the journal is a ring");
                self.journal_at += sectors;
                assert!(self.journal_at <= self.journal.end);
                if self.journal_at == self.journal.end {
                    self.journal_at = self.journal.start;
                }
                self.written += sectors / BLOCK;
            }
            (Op::Flush, _) => {
                assert!(self.written > BLOCKS_PER_COMMIT, "a commit has blocks");
                (self.written, self.flushes) = (0, self.flushes + 1);
            }
            (Op::Write, METADATA_STREAM) => {
                assert_eq!((sectors, (start - self.metadata.start) % BLOCK), (BLOCK, 0));
                assert!(self.metadata.contains(&start), "{transfer:?}");
                self.in_place += 1;
            }
            (op, _) => {
                assert!(start >= self.journal.end, "{transfer:?}");
                let (from, to) = match op {
                    Op::Write => (Held::Nothing, Held::Data),
                    Op::Read => (Held::Data, Held::Data),
                    _ => (Held::Data, Held::Trimmed),
                };
                assert!(self.held[places.clone()].iter().all(|held| *held == from), "{transfer:?}");
                assert!(
                    op != Op::Trim || self.written == 0,
                    "deletions are committed before a trim"
                );
                self.held[places].fill(to);
            }
        }
    }
}

/// The disk is as full as it may be, so that files often wait for the space of others.
#[test]
fn files_never_overlap_and_space_is_used_after_its_trim() {
    for load in ["data = '50%'", "data = '90%', temporary_data = '8%', commit = 10000"] {
        let mut run = run(load);
        let mut reads = Stream::new(2, "reads");
        let mut disk = Disk::of(&run);
        let mut waits = 0;
        for _ in 0..200_000 {
            let transfer = run.next(|| reads.below(4) == 0);
            waits += u64::from(run.awaits_trims());
            disk.see(transfer, run.awaits_trims());
        }
        let live: u64 = run.files.iter().map(|files| files.sectors).sum();
        let going: u64 = run.deleted.iter().map(|file| file.1.sectors()).sum();
        let trimmed: u64 = run.trimmed.iter().map(Extents::sectors).sum();
        let all = SECTORS - BLOCK - run.disk.metadata - run.disk.journal;
        assert_eq!(live + going + trimmed + run.space.free(), all, "space is lost");
        assert!(waits > 100 && disk.flushes > 100, "{waits} {}", disk.flushes);
        assert!(disk.in_place > 100, "{}", disk.in_place);
    }
}

/// No block is written in place that the journal has not: in-place writes are fewer than journalled blocks, and follow them.
#[test]
fn the_journal_is_ahead_of_what_is_in_place() {
    // The second journal is so small that a large file displaces more than it holds.
    for load in ["data = '50%'", "data = '50%', journal = '128KiB', metadata = '10%'"] {
        let mut run = run(load);
        let (mut since, mut journalled, mut in_place) = (0, 0u64, 0u64);
        let (half, mut commit) = (run.disk.journal / 2, 0);
        for _ in 0..200_000 {
            let Transfer { op, sectors, stream, .. } = run.next(|| false);
            match (op, stream) {
                (Op::Write, JOURNAL_STREAM) => {
                    (since, journalled) = (since + sectors, journalled + sectors / BLOCK);
                    commit += sectors;
                }
                (Op::Flush, _) => assert!(std::mem::take(&mut commit) <= half, "a long commit"),
                (Op::Write, METADATA_STREAM) => {
                    (since, in_place) = (since.min(half), in_place + 1);
                    assert!(in_place <= journalled, "{in_place} of {journalled}");
                }
                _ => {}
            }
            assert!(since <= 2 * half, "the journal went round before its blocks were in place");
        }
        assert!(in_place > 1000, "{in_place}");
    }
}

/// The mean size follows from the table; the shares of bytes are the shares of files; and a kind of files whose space is
/// full lives as long, in bytes of its kind, as it has space (Little's law).
#[test]
fn sizes_shares_and_lifetimes_follow_from_the_options() {
    let mut run = run("data = '50%', temporary = '70%', temporary_data = '4%'");
    let limit = f64::from(1u32 << 20);
    let smallest = SMALLEST.0 as f64;
    let mean = |bin: usize| {
        let top = smallest * f64::from(1u32 << bin);
        // Sizes are whole blocks, and even between two powers of two.
        let size = if bin == 0 { top } else { (top * 0.75) + smallest / 2.0 };
        size.min(limit)
    };
    let weight: u64 = SIZES.iter().sum();
    let expected =
        SIZES.iter().enumerate().map(|(bin, &files)| files as f64 * mean(bin)).sum::<f64>();
    let expected = expected / weight as f64;
    let (mut written, mut age) = ([0u64; 2], 0.0);
    let mut born = std::collections::BTreeMap::new();
    let (mut dead, mut files) = (0u64, 0u64);
    let mut operations = run.operations;
    for _ in 0..600_000 {
        let Transfer { op, start, sectors, stream } = run.next(|| false);
        files += u64::from(run.operations != operations && run.operations != 0);
        operations = run.operations;
        if op == Op::Write && stream >= TEMPORARY_STREAM {
            written[(stream - TEMPORARY_STREAM) as usize] += sectors;
            (start..start + sectors)
                .step_by(BLOCK as usize)
                .for_each(|at| _ = born.insert(at, written[0]));
        }
        if op == Op::Trim && stream == TEMPORARY_STREAM {
            for at in (start..start + sectors).step_by(BLOCK as usize) {
                age += (written[0] - born.remove(&at).expect("a block that was written")) as f64;
                dead += 1;
            }
        }
    }
    let all = (written[0] + written[1]) as f64;
    let share = written[0] as f64 / all;
    assert!((share - 0.7).abs() < 0.02, "{share} of the bytes are temporary");
    let size = all * SECTOR_BYTES as f64 / files as f64;
    assert!((size / expected - 1.0).abs() < 0.05, "files of {size} bytes, expected {expected}");
    let life = age / dead as f64 / run.disk.most[0] as f64;
    assert!((0.9..1.1).contains(&life), "{life} of the space of temporary files");
}

/// With room for one file of a kind, the next one waits until that is trimmed. There is none meanwhile.
#[test]
fn the_only_file_is_displaced() {
    let mut run = run("data = '1MiB', temporary = '0%', temporary_data = '1MiB'");
    run.disk.most[1] = run.disk.largest;
    run.sizes = FileSizes::new(run.disk.largest, run.disk.largest);
    run.space = Space::new(run.disk.start, run.disk.largest);
    run.files = Default::default();
    run.lay_out();
    let mut writes = 0;
    for _ in 0..1000 {
        let transfer = run.next(|| false);
        writes += u64::from(transfer.op == Op::Write && transfer.stream == LASTING_STREAM);
    }
    assert!(writes > 100, "{writes} pieces of files");
    assert!(run.files[1].places.len() <= 1, "no file appears by itself");
}
