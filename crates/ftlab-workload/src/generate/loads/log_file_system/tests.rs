//! The disk under the requests: logs are written in order, space is written again only after its trim, and what the file system
//! believes of its blocks is what was written.

use super::*;
use crate::generate::Workload;
use crate::generate::loads::Application;

/// 128 MiB, after a region that begins a block later.
const SECTORS: u64 = 1 << 18;
const BLOCK: u64 = 8;

fn try_run(load: &str) -> Result<LogFileSystemRun, Misfit> {
    let text = format!(
        "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '32KiB'\nrequests = 1\nregion = {{ offset = '4KiB' }}\n\
         address = {{ kind = 'zipf', theta = 0.8 }}\nload = {{ kind = 'log-file-system', largest_file = '1MiB', {load} }}"
    );
    let mut none = |_: &str| Err("no files".to_owned());
    let workload = Workload::parse("test", &text, &mut none).unwrap_or_else(|p| panic!("{p}"));
    let phase = &workload.phases[0];
    let extent = Extent::of(phase, SECTORS).unwrap();
    let Application::LogFileSystem(shape) = phase.load.unwrap().application else {
        panic!("{text}")
    };
    LogFileSystemRun::new(&shape, phase, extent, &|of: &str| Stream::new(1, of))
}

fn run(load: &str) -> LogFileSystemRun {
    let mut run = try_run(load).unwrap_or_else(|misfit| panic!("{misfit:?}"));
    run.lay_out();
    run
}

/// A disk that looks at every request.
struct Disk {
    main: u64,
    segment: u64,
    /// How far each segment is written, and by which stream.
    written: Vec<(u64, Option<u32>)>,
    /// Segments that were trimmed, and no request has waited for that.
    trimmed: Vec<usize>,
    is_flushed: bool,
    written_blocks: [u64; 7],
    trims: u64,
    reads: u64,
}

impl Disk {
    fn of(run: &LogFileSystemRun) -> Disk {
        let sectors = u64::from(run.disk.segment) * BLOCK;
        let mut written = vec![(0, None); run.disk.segments as usize];
        for directory in 0..run.disk.directories {
            for held in [LiveBlock::Entries { directory }, LiveBlock::DirectoryNode { directory }] {
                note(&mut written, run, held);
            }
        }
        let files: Vec<u32> =
            (0..run.files.count(true)).map(|at| run.files.nth(true, at)).collect();
        files
            .iter()
            .flat_map(|&file| run.files.all_of(file))
            .for_each(|h| note(&mut written, run, h));
        Disk {
            main: run.disk.main,
            segment: sectors,
            written,
            trimmed: Vec::new(),
            is_flushed: false,
            written_blocks: [0; 7],
            trims: 0,
            reads: 0,
        }
    }

    fn see(&mut self, transfer: Transfer, awaits_trims: bool) {
        let Transfer { op, start, sectors, stream } = transfer;
        if awaits_trims {
            self.trimmed.clear();
        }
        match op {
            Op::Flush => {
                self.is_flushed = true;
                return;
            }
            Op::Write => self.written_blocks[stream as usize] += sectors / BLOCK,
            Op::Trim => assert!(self.is_flushed, "a trim before its checkpoint"),
            Op::Read => self.reads += 1,
            other => panic!("{other:?}"),
        }
        if op == Op::Write {
            self.is_flushed = false;
        }
        if stream == IN_PLACE_STREAM && op == Op::Write {
            assert!(start + sectors <= self.main, "{transfer:?}");
            return;
        }
        let mut at = start - self.main;
        let end = at + sectors;
        while at < end {
            let number = usize::try_from(at / self.segment).unwrap();
            let stop = end.min((at / self.segment + 1) * self.segment);
            let (inside, until) = (at % self.segment, stop - number as u64 * self.segment);
            let (written, by) = &mut self.written[number];
            match op {
                Op::Write => {
                    assert!(
                        !self.trimmed.contains(&number),
                        "written before its trim: {transfer:?}"
                    );
                    assert_eq!(inside, *written, "a log goes forward: {transfer:?}");
                    assert_eq!(*by.get_or_insert(stream), stream, "one log in a segment");
                    *written = until;
                }
                Op::Read => assert!(until <= *written, "{transfer:?} of {written}"),
                _ => {
                    assert_eq!((inside, until), (0, self.segment), "whole segments");
                    assert_eq!(*written, self.segment, "a full segment");
                    (*written, *by) = (0, None);
                    self.trimmed.push(number);
                    self.trims += 1;
                }
            }
            at = stop;
        }
    }
}

/// Notes what lies on the disk at the beginning.
fn note(written: &mut [(u64, Option<u32>)], run: &LogFileSystemRun, held: LiveBlock) {
    let block = run.files.place(held).expect("all is written");
    let (until, by) = &mut written[(block / run.disk.segment) as usize];
    *until = (*until).max(u64::from(block % run.disk.segment + 1) * BLOCK);
    *by = Some(IN_PLACE_STREAM + 1 + held.log() as u32);
}

/// Every live block is where its owner says, and nothing else is live.
fn agree(run: &LogFileSystemRun) {
    let live: Vec<_> = (0..run.disk.segments).flat_map(|segment| run.main.live(segment)).collect();
    for &(block, held) in &live {
        assert_eq!(run.files.place(held), Some(block), "{held:?}");
    }
    let files = [false, true]
        .into_iter()
        .flat_map(|kind| (0..run.files.count(kind)).map(move |at| run.files.nth(kind, at)));
    let written = files.flat_map(|file| run.files.all_of(file));
    let written = written.filter(|&held| run.files.place(held).is_some()).count();
    assert_eq!(live.len(), written + 2 * run.disk.directories as usize);
}

#[test]
fn logs_go_forward_and_segments_are_written_again_after_their_trim() {
    for load in [
        "segment = '256KiB', data = '50%'",
        "segment = '128KiB', data = '70%', temporary_data = '3%', commit = 1000",
        "segment = '64KiB', data = '20%', temporary_data = '60%', temporary = '100%'",
    ] {
        let mut run = run(load);
        let mut reads = Stream::new(2, "reads");
        let mut disk = Disk::of(&run);
        agree(&run);
        let mut waits = 0;
        for step in 0..300_000 {
            let transfer = run.next(|| reads.below(4) == 0).expect("it goes on");
            waits += u64::from(run.awaits_trims());
            disk.see(transfer, run.awaits_trims());
            if step % 30_000 == 0 {
                agree(&run);
            }
        }
        agree(&run);
        assert!(waits > 10 && disk.trims > 100 && disk.reads > 1000, "{waits} {}", disk.trims);
        let logs = [
            ActiveLog::HotNode,
            ActiveLog::WarmNode,
            ActiveLog::HotData,
            ActiveLog::WarmData,
            ActiveLog::ColdData,
        ];
        let written = logs.map(|log| disk.written_blocks[1 + log as usize]);
        assert!(written.iter().all(|&blocks| blocks > 1000), "{load}: {written:?}");
    }
}

#[test]
fn little_data_needs_little_cleaning_and_much_data_much() {
    let cost = |data: &str| {
        let mut run = run(&format!("segment = '256KiB', data = '{data}', temporary = '0%'"));
        let mut disk = Disk::of(&run);
        (0..400_000).for_each(|_| {
            let transfer = run.next(|| false).expect("it goes on");
            disk.see(transfer, run.awaits_trims());
        });
        let blocks = |log: ActiveLog| disk.written_blocks[1 + log as usize] as f64;
        blocks(ActiveLog::ColdData) / blocks(ActiveLog::WarmData)
    };
    let [little, some, much] = ["20%", "50%", "75%"].map(cost);
    assert!(little < some && some < much, "{little} {some} {much}");
    assert!(little < 0.15 && much > 0.5, "{little} {much}");
}

#[test]
fn nodes_point_to_what_they_can() {
    let parent = |at: u32| match (LiveBlock::Data { file: 7, at }).parent() {
        Some(LiveBlock::Node { file: 7, at }) => at,
        other => panic!("{other:?}"),
    };
    assert_eq!([0, 922, 923, 1940, 1941, 2958].map(parent), [0, 0, 1, 1, 2, 2]);
    assert_eq!([2959, 3976, 3977].map(parent), [4, 4, 5], "behind the indirect node");
    let logs = [0, 1, 2, 3, 4].map(|at| (LiveBlock::Node { file: 7, at }).log());
    let warm = ActiveLog::WarmNode;
    assert_eq!(logs, [warm, warm, warm, ActiveLog::ColdNode, warm]);
}

#[test]
fn what_does_not_fit_is_refused() {
    for (load, words) in [
        ("data = '95%'", "about"),
        ("segment = '16KiB'", "segments of 16KiB"),
        ("segment = '64MiB'", "about"),
        ("metadata = '4KiB'", "of directories"),
    ] {
        let (_, message, remedy) = try_run(load).err().unwrap_or_else(|| panic!("{load} fits"));
        assert!(message.contains(words) && !remedy.is_empty(), "{load}: {message}");
    }
}
