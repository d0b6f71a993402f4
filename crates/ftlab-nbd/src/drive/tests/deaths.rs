//! Dies that are killed by order: the drive knows it at once, and comes back without them.

use std::sync::Arc;

use super::bench::Bench;
use crate::control::DieState;
use crate::drive::{DriveSpec, Start};

/// A drive that can spare a die.
const PARITY: [&str; 5] = [
    "ftl.parity.policy=dies",
    "ftl.parity.width=2",
    "ftl.over_provisioning=100%",
    "cache.policy=lru",
    "cache.capacity=256KiB",
];
/// One that loses what is on it.
const PLAIN: [&str; 3] =
    ["ftl.over_provisioning=100%", "cache.policy=lru", "cache.capacity=256KiB"];

fn is_dead(bench: &mut Bench, die: usize) -> bool {
    bench.drive().reading().dies[die].state == DieState::Dead
}

/// Shuts the drive down and starts it again.
fn restart(bench: &mut Bench) {
    bench.drive().save(&mut Vec::new()).unwrap();
    assert_eq!(bench.start().unwrap(), Start::Saved);
}

#[test]
fn parity_bears_a_death_and_starts() {
    let mut bench = Bench::new("tiny", &PARITY, 5);
    bench.steps(300).unwrap();
    bench.drive().kill_die(1).unwrap();
    for _ in 0..3 {
        bench.steps(300).unwrap();
        bench.shut_down();
        assert!(is_dead(&mut bench, 1));
    }
}

#[test]
fn a_death_is_known_at_once_and_after_a_start() {
    for (sets, reads) in [(&PLAIN[..], false), (&PLAIN[..], true), (&PARITY[..], false)] {
        let mut bench = Bench::new("tiny", sets, 5);
        bench.steps(300).unwrap();
        bench.finish().unwrap();
        bench.drive().kill_die(1).unwrap();
        assert!(is_dead(&mut bench, 1), "it is dead at once");
        let again = bench.drive().kill_die(1).unwrap_err();
        assert!(again.contains("dead already"), "{again}");
        if reads {
            bench.read_all();
        }
        restart(&mut bench);
        assert!(is_dead(&mut bench, 1));
        assert!(!is_dead(&mut bench, 0));
        bench.read_all();
        restart(&mut bench);
    }
}

/// So does a drive with the state of an image.
#[test]
fn an_image_with_a_dead_die_is_served() {
    for sets in [&PLAIN[..], &PARITY[..]] {
        let mut bench = Bench::new("tiny", sets, 5);
        bench.steps(300).unwrap();
        bench.finish().unwrap();
        bench.drive().kill_die(1).unwrap();
        let path = bench.folder.path().join("state.ftlab");
        bench.drive().save_image(&path, false, &mut Vec::new()).unwrap();
        let image = Some(Arc::new(ftlab_lab::image::take(path.to_str().unwrap()).unwrap()));
        let data = bench.folder.path().join("other.flash");
        bench.spec = DriveSpec { config: None, image, data, seed: 1 };
        assert_eq!(bench.start().unwrap(), Start::Aged);
        assert!(is_dead(&mut bench, 1));
        bench.spec.image = None;
        restart(&mut bench);
    }
}

/// A drive that loses die after die takes no writes in the end, and still shuts down.
#[test]
fn a_drive_without_dies_ends() {
    let mut bench = Bench::new("tiny", &PLAIN, 5);
    bench.steps(300).unwrap();
    bench.finish().unwrap();
    // What is in DRAM would have no place to go.
    bench.drive().bring_to_rest(&mut Vec::new()).unwrap();
    let dies = bench.drive().reading().dies.len() as u32;
    for die in 0..dies {
        bench.drive().kill_die(die).unwrap();
    }
    assert!(bench.drive().reading().smart.end_of_life);
    bench.read_all();
    restart(&mut bench);
    assert!(bench.drive().reading().smart.end_of_life);
}

/// A drive that recovers from power cuts has no index of what lies on each die, unless its schedule asks for one.
#[test]
fn a_drive_that_recovers_loses_no_die_by_order() {
    let mut bench = Bench::new("tiny", &["ftl.recovery.policy=scan"], 5);
    let refused = bench.drive().kill_die(1).unwrap_err();
    assert!(refused.contains("nand.faults.schedule"), "{refused}");
    assert!(!is_dead(&mut bench, 1));
}
