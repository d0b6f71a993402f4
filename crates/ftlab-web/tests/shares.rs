//! Busy times in windows: what they sum up to, whatever was suspended and however long the run is.

use ftlab::scheduler::Origin;
use ftlab::units::{ChannelId, DieId, SimTime};
use ftlab_web::shares::{BusyShares, MOST_WINDOWS};

const GC: usize = Origin::Gc as usize;

fn cells(shares: &mut BusyShares, from: u64, until: u64) {
    shares.cells(DieId::new(0), Origin::Gc, SimTime(from), SimTime(until));
}

#[test]
fn a_span_is_split_among_windows_and_can_be_suspended() {
    let mut shares = BusyShares::new(1, 1, true);
    // Two planes work together: that is one span of the die.
    cells(&mut shares, 512, 3072);
    cells(&mut shares, 512, 3072);
    shares.bus(ChannelId::new(0), Origin::Gc, SimTime(1024), SimTime(1280));
    let seen = shares.told(SimTime(3 * 1024));
    assert_eq!((seen.window_ns, &seen.by_origin[0]), (1024, &String::new()));
    assert_eq!(seen.by_origin[GC], "P0o@o0");
    assert_eq!(seen.busy_ns[GC], [2560, 256]);
    // Both are told to be suspended.
    shares.suspend(DieId::new(0), Origin::Gc, SimTime(512), SimTime(2048));
    shares.suspend(DieId::new(0), Origin::Gc, SimTime(512), SimTime(2048));
    assert_eq!(shares.told(SimTime(3 * 1024)).by_origin[GC], "P0o@00");
    // The window that is not over is not told.
    assert_eq!(shares.told(SimTime(2047)).by_origin[GC], "P0");
}

#[test]
fn a_long_run_has_longer_windows_and_loses_nothing() {
    let mut shares = BusyShares::new(1, 0, false);
    let end = 1_000_000_000;
    for at in (0..end).step_by(100_000) {
        cells(&mut shares, at, at + 25_000);
    }
    let seen = shares.told(SimTime(end));
    let gc = &seen.by_origin[GC];
    assert!((MOST_WINDOWS / 2..=MOST_WINDOWS).contains(&gc.len()), "{}", gc.len());
    assert!(gc.bytes().all(|share| (b'>'..=b'B').contains(&share)), "{gc:?}");
    assert_eq!(seen.busy_ns[GC], [end / 4]);
}
