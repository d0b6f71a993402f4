//! Sequences of accesses to one page, one at a time, worked out by hand on the machine of the paper: its
//! table of costs, no bus, microseconds.

use ftlab::host::Op;

use super::{Item, device, play, setting};

/// Far more than a request takes, including what an idle die does after it.
const APART: u64 = 10_000_000;

/// Performs accesses to page 0, far apart: `W`, `R`, and `|`, which marks the flash content as prepared.
fn accesses(sets: &[&str], sequence: &str) -> Vec<u64> {
    let mut device = device(&setting(sets));
    let mut at = 1;
    let mut took = Vec::new();
    for access in sequence.chars() {
        let op = match access {
            'W' => Op::Write,
            'R' => Op::Read,
            'T' => Op::Trim,
            _ => {
                device.prepared();
                continue;
            }
        };
        took.extend(play(&mut device, &[Item { at, op, page: 0 }]));
        at += APART;
    }
    took.iter().map(|latency| latency / 1_000).collect()
}

/// The table of the paper, and the model whose defaults give it.
const TIMINGS: [&str; 2] = ["nand.timing.policy=by-cost", "nand.timing.policy=ispp"];

/// With a regulator, on both timings.
fn check(sets: &[&str], sequence: &str, expected: &[u64]) {
    for timing in TIMINGS {
        let sets = [&[timing, "nand.cell=mlc", "cache.latency=0ns"], sets].concat();
        assert_eq!(accesses(&sets, sequence), expected, "{sequence} with {sets:?}");
    }
}

const AGCR: &str = "ftl.cost.policy=agcr";

#[test]
fn what_the_regulator_of_the_paper_does_to_one_page() {
    let fresh = [800, 450, 310, 310, 70, 600, 170, 170, 170, 600, 450, 310];
    check(&[AGCR], "WWRRRWRRRWWR", &fresh);
    // Prepared at high cost.
    check(&[AGCR], "W|RRWWRR", &[800, 70, 70, 600, 450, 310, 310]);
    check(&[AGCR, "ftl.cost.prior=by-policy"], "W|RRWWRR", &[800, 70, 70, 600, 450, 310, 310]);
    check(&[AGCR, "ftl.cost.prior=high"], "W|RRWWRR", &[800, 70, 70, 600, 450, 310, 310]);
}

/// Prepared data is of another class, and has no history.
#[test]
fn prepared_data_decides_the_first_reads() {
    let prior = |class| format!("ftl.cost.prior={class}");
    check(&[AGCR, &prior("low")], "W|RRRWWRRR", &[800, 310, 310, 70, 600, 450, 310, 310, 70]);
    check(&[AGCR, &prior("medium")], "W|RRRWWRRR", &[800, 170, 170, 170, 600, 450, 310, 310, 70]);
    check(&[AGCR, &prior("high")], "W|RRRWWRRR", &[800, 70, 70, 70, 600, 450, 310, 310, 70]);
    // A write finds no history, whatever there was.
    for class in ["low", "medium", "high"] {
        check(&[AGCR, &prior(class)], "WW|WWR", &[800, 450, 800, 450, 310]);
        check(&[AGCR, &prior(class)], "WRR|WWR", &[800, 70, 70, 800, 450, 310]);
    }
    // Prepared as it was: with its class and its history.
    let as_written = prior("as-written");
    check(&[AGCR, &as_written], "WW|RRR", &[800, 450, 310, 310, 70]);
    check(&[AGCR, &as_written], "WW|WRR", &[800, 450, 450, 310, 310]);
    check(&[AGCR, &as_written], "WR|WR", &[800, 70, 600, 170]);
    check(&[AGCR, &as_written], "WWR|RR", &[800, 450, 310, 310, 70]);
}

#[test]
fn without_rewrites_a_page_stays_as_it_was_written() {
    check(&[AGCR, "ftl.cost.rewrite=off"], "WWRRRRW", &[800, 450, 310, 310, 310, 310, 600]);
}

/// An access of the other kind makes a page interleaved, and the next one makes it a page of its kind.
#[test]
fn with_hysteresis_one_access_of_the_other_kind_is_not_enough() {
    let slow = "ftl.cost.history=hysteresis";
    check(&[AGCR, slow], "WWWRRRR", &[800, 450, 450, 310, 310, 310, 70]);
    check(&[AGCR, slow], "WWWRWWRRRR", &[800, 450, 450, 310, 600, 450, 310, 310, 310, 70]);
    check(&[AGCR, slow], "W|RRWWWRRRR", &[800, 70, 70, 600, 600, 450, 310, 310, 310, 70]);
    check(&[AGCR, slow], "W|RRWRRWWRW", &[800, 70, 70, 600, 170, 170, 600, 600, 170, 600]);
}

#[test]
fn fixed_regulators_know_one_class() {
    for (policy, write, read) in
        [("traditional", 600, 170), ("high-write", 800, 70), ("low-write", 450, 310)]
    {
        let policy = format!("ftl.cost.policy={policy}");
        check(&[&policy], "WWRRWR", &[write, write, read, read, write, read]);
        // Prepared data is of the same class, unless an option names another.
        check(&[&policy], "W|RRWR", &[write, read, read, write, read]);
        check(&[&policy, "ftl.cost.prior=as-written"], "W|RRWR", &[write, read, read, write, read]);
        for (prior, before) in [("low", 310), ("medium", 170), ("high", 70)] {
            let prior = format!("ftl.cost.prior={prior}");
            check(&[&policy, &prior], "W|RRRWR", &[write, before, before, before, write, read]);
        }
    }
}

/// Nothing waits while one page is used at a time.
#[test]
fn an_empty_queue_asks_for_high_cost() {
    for waits in ["ftl.cost.waits=die", "ftl.cost.waits=device"] {
        let queue = "ftl.cost.policy=queue-driven";
        check(&[queue, waits], "WWRRWR", &[800, 800, 70, 70, 800, 70]);
        check(&[queue, waits], "W|RWR", &[800, 170, 800, 70]);
        check(&[queue, waits, "ftl.cost.prior=high"], "W|RWR", &[800, 70, 800, 70]);
    }
}

/// Simultaneous writes of several pages on two dies, and their reads: the cost depends on what waits
/// when each begins.
#[test]
fn a_queue_makes_writes_cheap() {
    let write = |page| Item { at: 1, op: Op::Write, page };
    // Pages 0, 2 and 4 lie on the first die, 1 on the second.
    let items = [write(0), write(2), write(4), write(1)];
    let read = |page| Item { at: APART, op: Op::Read, page };
    let reads = [read(0), read(1)];
    for timing in TIMINGS {
        let latencies = |scope: &str| {
            let sets = setting(&[
                timing,
                "nand.channels=2",
                "nand.chips_per_channel=1",
                "ftl.placement.policy=static",
                "ftl.cost.policy=queue-driven",
                scope,
            ]);
            let mut device = device(&sets);
            let mut all = play(&mut device, &items);
            all.extend(play(&mut device, &reads));
            all.iter().map(|latency| latency / 1_000).collect::<Vec<_>>()
        };
        // The first begins while the second and the third wait, the second while the third does.
        assert_eq!(latencies("ftl.cost.waits=die"), [450, 900, 1_700, 800, 310, 70]);
        assert_eq!(latencies("ftl.cost.waits=device"), [450, 900, 1_700, 450, 310, 310]);
    }
}
