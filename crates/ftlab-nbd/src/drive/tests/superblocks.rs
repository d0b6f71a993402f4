//! What a drive keeps of its superblocks grows with bad blocks and with deaths, beyond what a header holds. The drive goes
//! on, and comes up with all of it, however its server ended.

use ftlab::units::BlockId;

use super::bench::{BUFFERED, Bench};
use crate::control::DieState;
use crate::drive::layout::HEADER_SLOT;

/// What is kept of all superblocks.
fn kept(bench: &mut Bench) -> Vec<Vec<u8>> {
    let drive = bench.drive();
    let kept = drive.device().kept().unwrap();
    (0..drive.geometry.blocks()).map(|block| kept.superblock(BlockId::new(block))).collect()
}

fn bytes(kept: &[Vec<u8>]) -> u64 {
    kept.iter().map(|bytes| bytes.len() as u64).sum()
}

#[test]
fn thousands_of_bad_blocks_are_kept() {
    let sets = [
        "ftl.recovery.policy=scan",
        "ftl.superblock.policy=all",
        "ftl.placement.policy=dynamic",
        "ftl.over_provisioning=100%",
        "nand.blocks_per_plane=2048",
        "nand.faults.factory_bad=20%",
    ];
    let mut bench = Bench::new("tiny", &[&BUFFERED[..], &sets].concat(), 3);
    let before = kept(&mut bench);
    assert!(bytes(&before) > HEADER_SLOT);
    for end in [Bench::shut_down, Bench::cut, Bench::kill, Bench::kill] {
        bench.steps(100).unwrap();
        end(&mut bench);
        assert!(kept(&mut bench) == before, "other blocks are bad");
    }
}

/// Superblocks that are opened after a death are narrow, and more and more of them are.
#[test]
fn what_a_death_leaves_is_kept() {
    let sets = [
        "ftl.recovery.policy=scan",
        "ftl.parity.policy=dies",
        "ftl.parity.width=4",
        "ftl.over_provisioning=100%",
        "nand.blocks_per_plane=512",
        "nand.pages_per_block=6",
        "nand.faults.schedule=20ms: die 1 dies",
    ];
    let mut bench = Bench::new("tiny", &[&BUFFERED[..], &sets].concat(), 5);
    let mut round = 0;
    while bytes(&kept(&mut bench)) < HEADER_SLOT {
        bench.steps(500).unwrap();
        match round % 4 {
            0 => bench.shut_down(),
            1 => bench.cut(),
            _ => bench.kill(),
        }
        round += 1;
        assert!(round < 100, "{} bytes are kept", bytes(&kept(&mut bench)));
    }
    assert_eq!(bench.drive().reading().dies[1].state, DieState::Dead);
    bench.work(5);
}
