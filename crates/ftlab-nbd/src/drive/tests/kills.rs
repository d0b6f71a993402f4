//! The server is killed at every kind of change of the data file, or the change fails: at the start, under load, while
//! the log is folded, in a recovery, a power cut, and at the end. Each time the drive must start again with all that was
//! flushed.

use std::ops::Range;

use ftlab::engine::Stream;

use super::bench::{BUFFERED, Bench, SMALL, Told};
use crate::drive::faults::{self, FileFault};

/// What is under way when the fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    /// A load.
    Load,
    /// A load, and the log is folded.
    Fold,
    /// A commit that is larger than the log.
    Large,
    /// The start after a kill.
    Recovery,
    /// A power cut by order.
    Cut,
    /// The end.
    Save,
    /// The start after an end in order.
    Resume,
}

const SCENES: [Scene; 7] = [
    Scene::Load,
    Scene::Fold,
    Scene::Large,
    Scene::Recovery,
    Scene::Cut,
    Scene::Save,
    Scene::Resume,
];
const FAULTS: [FileFault; 3] = [FileFault::KilledBefore, FileFault::KilledWithin, FileFault::Fails];
/// Faults of each kind in each scene.
const TRIES: u64 = 3;
/// More steps than fill the log.
const MOST_STEPS: u64 = 10_000;

impl Scene {
    /// The drive before the scene, from what is in the data file.
    fn begin(self, left: &Bench) -> Bench {
        let mut bench = left.left();
        if !matches!(self, Scene::Recovery | Scene::Resume) {
            bench.start().unwrap();
            bench.steps(5).unwrap();
        }
        if self == Scene::Large {
            bench.write_much().unwrap();
        }
        bench
    }

    /// Plays the scene. Returns the changes of the file that belong to it.
    fn play(self, bench: &mut Bench) -> Told<Range<u64>> {
        match self {
            Scene::Load => bench.steps(60)?,
            Scene::Fold => {
                for _ in 0..MOST_STEPS {
                    let (epoch, before) = (bench.drive().file.epoch(), faults::changes());
                    bench.step()?;
                    if bench.drive().file.epoch() != epoch {
                        return Ok(before..faults::changes());
                    }
                }
                panic!("the log was not folded");
            }
            Scene::Large => {
                bench.drive().commit().map_err(|error| error.to_string())?;
                let file = std::fs::metadata(&bench.spec.data).unwrap();
                let fits = file.len() == bench.drive().file.layout().image();
                assert!(!fits, "the commit fits in the log");
            }
            Scene::Recovery | Scene::Resume => drop(bench.start()?),
            Scene::Cut => drop(bench.drive().cut_power().map_err(|error| error.to_string())?),
            Scene::Save => {
                let saved = bench.drive().save(&mut Vec::new());
                saved.map_err(|error| error.to_string())?;
            }
        }
        Ok(0..faults::changes())
    }

    /// Plays the scene with a fault, and starts the drive again.
    fn survive(self, left: &Bench, fault: FileFault, at: u64) {
        let mut bench = self.begin(left);
        faults::plan(Some((fault, at)));
        let played = self.play(&mut bench);
        assert!(faults::has_happened(), "{self:?} has fewer changes than {at}");
        assert!(played.is_err(), "{self:?} ended well, in spite of {fault:?} at {at}");
        if let (Scene::Load | Scene::Fold | Scene::Large | Scene::Cut, Some(drive)) =
            (self, &mut bench.drive)
        {
            assert!(
                drive.commit().is_err(),
                "{self:?}, {fault:?} at {at}: a promise after a failure"
            );
        }
        bench.drive = None;
        faults::plan(None);
        let start = bench.start();
        start.unwrap_or_else(|told| panic!("{self:?}, {fault:?} at {at}: {told}"));
        bench.survey();
        bench.steps(20).unwrap();
        bench.kill();
    }
}

fn survives(device: &str, sets: &[&str]) {
    let sets: Vec<&str> = SMALL.iter().chain(sets).copied().collect();
    let mut bench = Bench::new(device, &sets, 11);
    bench.steps(1500).unwrap();
    bench.kill();
    let mut saved = bench.left();
    saved.start().unwrap();
    saved.shut_down();
    saved.drive = None;
    bench.drive = None;
    let mut stream = Stream::new(13, "kills");
    for scene in SCENES {
        let left = if scene == Scene::Resume { &saved } else { &bench };
        let mut rehearsed = scene.begin(left);
        faults::plan(None);
        let Range { start, end } = scene.play(&mut rehearsed).unwrap();
        for fault in FAULTS {
            for _ in 0..TRIES {
                scene.survive(left, fault, start + stream.below(end - start));
            }
        }
    }
}

#[test]
fn kills_without_a_write_buffer() {
    survives("tiny", &[]);
}

#[test]
fn kills_with_one() {
    survives("tiny", &BUFFERED);
}

#[test]
fn kills_with_a_map_on_flash() {
    survives("tiny", &[&BUFFERED[..], &["ftl.mapping.policy=dftl"]].concat());
}

#[test]
fn kills_with_log_blocks() {
    survives("tiny", &["ftl.mapping.policy=fast"]);
}

#[test]
fn kills_with_packed_pages() {
    let sets = ["cache.policy=prlru", "cache.capacity=256KiB", "nand.pages_per_block=32"];
    survives("prlru", &sets);
}

#[test]
fn kills_with_an_slc_cache() {
    let cache = ["ftl.slc_cache.policy=hybrid", "ftl.slc_cache.blocks=2"];
    survives("tiny", &[&BUFFERED[..], &cache].concat());
}

#[test]
fn kills_with_superblocks() {
    let sets =
        ["ftl.superblock.policy=all", "ftl.placement.policy=dynamic", "nand.dies_per_chip=2"];
    survives("tiny", &[&BUFFERED[..], &sets].concat());
}

#[test]
fn kills_with_parity_and_bad_blocks() {
    let sets = [
        "ftl.parity.policy=dies",
        "ftl.parity.width=2",
        "ftl.placement.policy=dynamic",
        "ftl.over_provisioning=100%",
        "nand.dies_per_chip=2",
        "nand.faults.erase_failures=10000000",
    ];
    survives("tiny", &[&BUFFERED[..], &sets].concat());
}

#[test]
fn kills_with_parity_and_a_death() {
    let sets = [
        "ftl.parity.policy=dies",
        "ftl.parity.width=4",
        "ftl.placement.policy=dynamic",
        "ftl.over_provisioning=150%",
        "nand.dies_per_chip=4",
        "nand.blocks_per_plane=32",
        "nand.pages_per_block=12",
        "nand.faults.schedule=100ms: die 1 dies",
    ];
    survives("tiny", &[&BUFFERED[..], &sets].concat());
}

/// A drive whose first start was interrupted anywhere starts as if it were new.
#[test]
fn the_first_start_is_interrupted() {
    for recovery in ["none", "scan"] {
        let policy = format!("ftl.recovery.policy={recovery}");
        let mut bench = Bench::new("tiny", &[&policy], 3);
        for fault in FAULTS {
            for at in 0.. {
                bench.drive = None;
                std::fs::remove_file(&bench.spec.data).unwrap();
                faults::plan(Some((fault, at)));
                let started = bench.start();
                let happened = faults::has_happened();
                faults::plan(None);
                if !happened {
                    started.unwrap();
                    break;
                }
                assert!(started.is_err(), "{fault:?} at {at}");
                match bench.start() {
                    Ok(_) => bench.survey(),
                    // From the moment on at which it could have taken data.
                    Err(told) => {
                        assert!(recovery == "none" && told.contains("data is lost"), "{told}")
                    }
                }
            }
        }
    }
}

/// A large commit is there after a kill, whatever else was committed behind it, and a drive shuts down with it.
#[test]
fn a_commit_may_be_larger_than_the_log() {
    let mut bench = Bench::new("tiny", &[&SMALL[..], &BUFFERED].concat(), 3);
    for _ in 0..3 {
        bench.write_much().unwrap();
        bench.drive().commit().unwrap();
        bench.kill();
        bench.write_much().unwrap();
        bench.drive().commit().unwrap();
        bench.steps(30).unwrap();
        bench.kill();
        bench.write_much().unwrap();
        bench.cut();
        bench.write_much().unwrap();
        bench.shut_down();
    }
}

/// A drive whose server was killed while it made the drive begins anew, if its device is named.
#[test]
fn a_drive_that_was_only_begun_says_so() {
    let mut bench = Bench::new("tiny", &["ftl.recovery.policy=scan"], 3);
    let config = bench.spec.config.take();
    bench.drive = None;
    std::fs::remove_file(&bench.spec.data).unwrap();
    bench.spec.config.clone_from(&config);
    faults::plan(Some((FileFault::KilledBefore, 5)));
    assert!(bench.start().is_err());
    faults::plan(None);
    bench.spec.config = None;
    let told = bench.start().unwrap_err();
    assert!(told.contains("killed while it made the drive") && told.contains("remedy"), "{told}");
    bench.spec.config = config;
    bench.start().unwrap();
    bench.survey();
}

/// Where there is no room, the remedy is to make some.
#[test]
fn a_full_file_system_is_told() {
    let mut bench = Bench::new("tiny", &["ftl.recovery.policy=scan"], 3);
    bench.steps(50).unwrap();
    bench.finish().unwrap();
    bench.drive().save(&mut Vec::new()).unwrap();
    faults::plan(Some((FileFault::Fails, 1)));
    let told = bench.start().unwrap_err();
    faults::plan(None);
    assert!(told.contains("make room"), "{told}");
}
