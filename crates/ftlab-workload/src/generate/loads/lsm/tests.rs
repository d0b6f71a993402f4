//! The tree behind the requests: its files and the free space fill the region exactly, and its
//! write amplification follows from the sizes of its levels.

use std::collections::BTreeMap;

use super::*;
use crate::generate::Workload;
use crate::generate::loads::Application;

/// 64 MiB.
const SECTORS: u64 = 1 << 17;
const LEVELS: u32 = 3;
const RATIO: u32 = 6;

fn run(address: &str, load: &str) -> LsmRun {
    let text = format!(
        "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '16KiB'\nrequests = 1\n\
         address = {address}\nregion = {{ offset = '4KiB' }}\n\
         load = {{ kind = 'lsm', {load}, memtable = '128KiB', file = '64KiB', levels = {LEVELS}, \
         ratio = {RATIO} }}"
    );
    let mut none = |_: &str| Err("no files".to_owned());
    let workload = Workload::parse("test", &text, &mut none).unwrap_or_else(|p| panic!("{p}"));
    let phase = &workload.phases[0];
    let extent = Extent::of(phase, SECTORS).unwrap();
    let Application::Lsm(shape) = phase.load.unwrap().application else { panic!("{text}") };
    LsmRun::new(&shape, phase, extent, Stream::new(1, "test")).unwrap()
}

/// Everything that occupies space: logs, files, and the outputs of work that is under way.
fn occupied(run: &LsmRun) -> Vec<(u64, u64)> {
    let mut runs = [&run.log, &run.full_log].map(|log| log.0.clone()).concat();
    runs.extend(run.levels.files().flat_map(|(_, file)| file.place.0.clone()));
    match &run.work {
        Some(TreeWork::Flush { file }) => runs.extend(file.place.0.clone()),
        Some(TreeWork::Compact { outputs, .. }) => {
            runs.extend(outputs.iter().flat_map(|file| file.place.0.clone()));
        }
        None => {}
    }
    runs.extend(run.deleted.iter().flat_map(|place| place.0.clone()));
    runs.sort_unstable();
    runs
}

fn check(run: &LsmRun) {
    let runs = occupied(run);
    assert!(runs.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "files overlap");
    let sectors: u64 = runs.iter().map(|run| run.1).sum();
    assert_eq!(sectors + run.space.free(), SECTORS - 8, "space is lost");
    let mut levels: BTreeMap<usize, Vec<&TableFile>> = BTreeMap::new();
    run.levels.files().for_each(|(level, file)| levels.entry(level).or_default().push(file));
    for (level, files) in levels.range(1..) {
        let apart = files.windows(2).all(|pair| pair[0].last() < pair[1].first());
        assert!(apart, "files of level {level} overlap");
    }
}

/// Marks or clears sectors; returns whether all of them changed.
fn set(live: &mut [bool], (start, sectors): (u64, u64), to: bool) -> bool {
    let sectors = start as usize..(start + sectors) as usize;
    live[sectors].iter_mut().fold(true, |all, sector| all & (std::mem::replace(sector, to) != to))
}

/// Every request, under even and uneven popularity: nothing is written onto a live sector, nothing
/// is read or trimmed that was not written, and all that is not a file or a log was trimmed.
#[test]
fn files_never_overlap_and_trims_are_the_deleted_files() {
    for address in ["{ kind = 'uniform' }", "{ kind = 'zipf', theta = 0.9 }"] {
        let mut run = run(address, "entry = '200B', data = '60%'");
        let mut lookups = Stream::new(2, "lookups");
        let mut live = vec![false; SECTORS as usize];
        for place in occupied(&run) {
            set(&mut live, place, true);
        }
        run.log.0.iter().for_each(|log| _ = set(&mut live, *log, false));
        let mut trims = 0;
        for step in 0..200_000 {
            let Transfer { op, start, sectors, .. } =
                run.next(|| lookups.below(4) == 0).expect("it has space");
            let fits = match op {
                Op::Read => live[start as usize..][..sectors as usize].iter().all(|live| *live),
                op => set(&mut live, (start, sectors), op == Op::Write),
            };
            assert!(fits, "step {step}: {op:?} of {sectors} sectors at {start}");
            trims += usize::from(op == Op::Trim);
            if step % 500 == 0 {
                check(&run);
                let mut rest = live.clone();
                occupied(&run).into_iter().for_each(|place| _ = set(&mut rest, place, false));
                assert!(!rest.contains(&true), "step {step}: a deleted file was not trimmed");
            }
        }
        assert!(trims > 100, "{trims}");
    }
}

/// With evenly used keys, a byte is written once to the log and once by the flush; once more into
/// level 1, with its part of the level; and from level to level with the files it overlaps. A
/// compaction walks through its level in turn, so the file it takes is from the part that has
/// gathered keys for longest: twice as dense as the level on average, it overlaps half of `ratio`
/// files (Lim et al., "Towards Accurate and Fast Evaluation of Multi-Stage Log-structured Designs",
/// FAST 2016, correct the estimate of `ratio` in the same way). The tree stays up to a quarter below:
/// a key that is met twice is written once, and level 0 may have more files when it is compacted.
#[test]
fn write_amplification_follows_from_the_levels() {
    let mut run = run("{ kind = 'uniform' }", "entry = '128B', data = '50%'");
    let (l0, l1) = (4.0 * 128.0 * 1024.0, (run.layout.targets[0] * SECTOR_BYTES) as f64);
    let below = f64::from(LEVELS - 1) * (1.0 + f64::from(RATIO) / 2.0);
    let expected = 1.0 + 1.0 + (1.0 + l1 / l0) + below;
    // Level by level, after the upper levels have filled.
    let (mut logged, mut written) = (0u64, 0u64);
    for step in 0..400_000 {
        let Transfer { op, sectors, stream, .. } = run.next(|| false).expect("it has space");
        if op == Op::Write && step > 100_000 {
            logged += if stream == LOG_STREAM { sectors } else { 0 };
            written += sectors;
        }
    }
    let found = written as f64 / logged as f64;
    assert!((0.75..1.0).contains(&(found / expected)), "{found}, expected {expected}");
}
