//! A device that was written without a clock, in later use.

use ftlab::host::Host;
use ftlab::image::Resume;

use super::bench::{Clock, config, device, in_order, play, rest, uniform};

/// It continues with and without a clock, in any order, and its tables agree; it can be saved, and the
/// loaded device continues in the same way.
#[test]
fn it_continues_in_time() {
    let config = config(&["ftl.slc_cache.policy=hybrid", "ftl.slc_cache.blocks=12"]);
    let mut kept = device(&config, 1);
    let all = in_order(&kept);
    play(&mut kept, Clock::Untimed, all);
    for (seed, clock) in [(1, Clock::Untimed), (2, Clock::Timed), (3, Clock::Untimed)] {
        let requests = uniform(&kept, seed, 4);
        play(&mut kept, clock, requests);
        kept.audit().unwrap_or_else(|broken| panic!("after {seed}: {broken}"));
    }
    rest(&mut kept, Clock::Untimed);
    let mut loaded = device(&config, 1);
    loaded.load(&kept.save(), Resume::ALL).expect("it is the same device");
    for device in [&mut kept, &mut loaded] {
        let requests = uniform(device, 4, 4);
        play(device, Clock::Timed, requests);
        rest(device, Clock::Timed);
    }
    assert!(kept.save() == loaded.save(), "they diverged");
}

/// The same seed leaves the same bytes, and no time passes.
#[test]
fn it_is_repeatable_and_takes_no_time() {
    let config = config(&["ftl.gc.victim=random-greedy"]);
    let [one, other] = [(); 2].map(|()| {
        let mut device = device(&config, 1);
        let all = in_order(&device);
        play(&mut device, Clock::Untimed, all);
        let requests = uniform(&device, 1, 10);
        play(&mut device, Clock::Untimed, requests);
        assert_eq!(device.now().0, 0);
        rest(&mut device, Clock::Untimed);
        device.save()
    });
    assert!(one == other);
}

/// A device that needs time says why.
#[test]
fn a_device_that_needs_time_says_why() {
    let needs: [(&[&str], &str); 5] = [
        (&["scheduler.policy=deadline"], "its commands have deadlines"),
        (&["ftl.gc.background.collect=on"], "it collects while the host is idle"),
        (&["ftl.gc.preemptible=on"], "its collection yields to other commands of a die"),
        (&["ftl.mapping.policy=dftl"], "its map lies on flash, and writes wait for entries of it"),
        (&["nand.faults.program_failures=1"], "its flash fails"),
    ];
    for (options, why) in needs {
        let mut device = device(&config(options), 1);
        assert_eq!(device.needs_time().map(|needs| needs.to_string()).as_deref(), Some(why));
        assert!(device.untimed(1).is_err(), "{options:?}");
    }
    assert_eq!(device(&config(&["ftl.gc.copyback=on"]), 1).needs_time(), None);
}
