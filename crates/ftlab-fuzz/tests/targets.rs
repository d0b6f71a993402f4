//! Runs every target for some seconds: its seeds, which include past failures, and deterministic
//! mutations of them.

use std::time::Duration;

use ftlab_fuzz::{Bound, Target, clock};

macro_rules! targets {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            let target = ftlab_fuzz::target($name).expect("it is in the list");
            target.check(target.rounds);
        })*

        #[test]
        fn every_target_has_a_test() {
            let names = ftlab_fuzz::TARGETS.iter().map(|target| target.name);
            assert_eq!(names.collect::<Vec<_>>(), [$($name),*]);
        }
    };
}

targets! {
    trace: "trace",
    config: "config",
    workload: "workload",
    fio: "fio",
    image: "image",
    image_file: "image-file",
    result: "result",
    experiment: "experiment",
    sweep: "sweep",
    arguments: "arguments",
    nbd: "nbd",
    http: "http",
    answer: "answer",
}

/// A target without seeds.
fn target(run: fn(&[u8])) -> Target {
    let bound = Bound { fixed: 1000, per_byte: 10 };
    Target { name: "test", reads: "", folders: &[], run, bound, rounds: 0 }
}

#[test]
fn a_broken_promise_is_told() {
    let allocates = target(|input| drop(std::hint::black_box(vec![0u8; input.len() * 11])));
    assert!(allocates.attempt(&[0; 100]).is_ok_and(|spent| spent.peak_bytes >= 1100));
    let told = allocates.attempt(&[0; 10_000]).expect_err("it holds too much");
    assert!(told.contains("110000 bytes of memory for 10000 of input"), "{told}");
    let panics = target(|_| panic!("on purpose"));
    assert_eq!(panics.attempt(b"").expect_err("it panics"), "it panicked");
}

#[test]
fn time_is_what_the_thread_used_of_a_processor() {
    const SPAN: Duration = Duration::from_millis(200);
    let sleeps = target(|_| std::thread::sleep(SPAN));
    assert!(sleeps.attempt(b"").is_ok_and(|spent| spent.time < SPAN / 2));
    fn work(span: Duration) {
        let begun = clock::of_thread();
        while clock::of_thread() - begun < span {}
    }
    let works = target(|_| work(SPAN));
    assert!(works.attempt(b"").is_ok_and(|spent| spent.time >= SPAN));
    let helper = target(|_| std::thread::scope(|scope| drop(scope.spawn(|| work(SPAN)))));
    let before = clock::of_process();
    assert!(helper.attempt(b"").is_ok_and(|spent| spent.time < SPAN / 2));
    assert!(clock::of_process() - before >= SPAN);
}
