//! The cost of recording: nanoseconds for each completion, without a working device.

use std::hint::black_box;
use std::time::Instant;

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Breakdown, Completion, Op, Outcome, QueueId, Request};
use ftlab::stats::Recorder;
use ftlab::units::{Lba, Nanos, SimTime};

const COMPLETIONS: usize = 1 << 20;
const ROUNDS: u32 = 20;

fn main() {
    let config = Config::load(&[Layer::preset("tlc-512g")]).expect("the preset is valid");
    let device = assemble(DeviceSetup::new(&config, 1));
    let mut random = Stream::new(1, "completions");
    let completions: Vec<Completion> = (0..COMPLETIONS)
        .map(|at| {
            let op = if random.below(10) < 7 { Op::Read } else { Op::Write };
            // Latencies over three decades, as behind a queue.
            let cell = Nanos(50_000 << random.below(10) | random.below(50_000));
            let breakdown = Breakdown { cell, ..Breakdown::default() };
            let submitted = SimTime(at as u64 * 500);
            let request = Request { op, lba: Lba(0), sectors: 8, stream: 0, tag: 0, fua: false };
            Completion {
                request,
                queue: QueueId::default(),
                submitted,
                finished: submitted + cell,
                breakdown,
                outcome: Outcome::Done,
            }
        })
        .collect();
    let mut recorder = Recorder::new(&device);
    recorder.phase_started("bench", true, &device);
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for completion in &completions {
            recorder.look(&device);
            recorder.record(black_box(completion), completion.submitted);
        }
        best = best.min(started.elapsed().as_secs_f64() / COMPLETIONS as f64 * 1e9);
    }
    black_box(&recorder);
    println!("recording: {best:.1} ns a completion (best of {ROUNDS} rounds)");
}
