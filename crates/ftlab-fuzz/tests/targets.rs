//! Runs every target for some seconds: its seeds, which include past failures, and deterministic
//! mutations of them.

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

#[test]
fn a_broken_promise_is_told() {
    use ftlab_fuzz::{Bound, Target};
    let target = |run| Target {
        name: "test",
        reads: "",
        folders: &[],
        run,
        bound: Bound { fixed: 1000, per_byte: 10 },
        rounds: 0,
    };
    let allocates = target(|input| drop(std::hint::black_box(vec![0u8; input.len() * 11])));
    assert!(allocates.attempt(&[0; 100]).is_ok_and(|spent| spent.peak_bytes >= 1100));
    let told = allocates.attempt(&[0; 10_000]).expect_err("it holds too much");
    assert!(told.contains("110000 bytes of memory for 10000 of input"), "{told}");
    let panics = target(|_| panic!("on purpose"));
    assert_eq!(panics.attempt(b"").expect_err("it panics"), "it panicked");
}
