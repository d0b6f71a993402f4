//! Ways to drive a device and to summarise what it did.

use ftlab::device::{Contents, Device};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::Probe;
use ftlab::units::{Lba, SimTime};

/// A request on stream 0.
pub fn request(op: Op, lba: u64, sectors: u32, tag: u32) -> Request {
    Request { op, lba: Lba(lba), sectors, stream: 0, tag, fua: false }
}

/// Keeps `depth` requests in the device until none are left and all have completed.
pub fn closed_loop<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    depth: usize,
    requests: impl IntoIterator<Item = Request>,
) -> Vec<Completion> {
    let mut requests = requests.into_iter();
    let mut done = Vec::new();
    loop {
        while device.requests_in_flight() < depth {
            let Some(next) = requests.next() else { break };
            device.submit(device.now(), next);
        }
        if device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
            assert_no_standstill(device);
            return done;
        }
    }
}

/// Submits each request at its time, runs the device until it is idle and passes each completion to `each`.
pub fn timed<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    requests: impl IntoIterator<Item = (SimTime, Request)>,
    mut each: impl FnMut(&Completion),
) {
    let mut done = Vec::new();
    let mut run = |device: &mut Device<P, C>, limit| {
        while device.advance_until(limit, &mut done) == Advanced::Completed {
            done.drain(..).for_each(|completion| each(&completion));
        }
    };
    for (at, request) in requests {
        run(device, at);
        device.submit(at, request);
    }
    run(device, SimTime::FOREVER);
    assert_no_standstill(device);
}

/// Asserts that an idle device holds no requests.
pub fn assert_no_standstill<P: Probe, C: Contents>(device: &Device<P, C>) {
    let stuck = device.requests_in_flight();
    assert_eq!(stuck, 0, "the device is stuck with {stuck} requests in it");
}

/// Runs one request on an otherwise idle device.
pub fn alone<P: Probe, C: Contents>(device: &mut Device<P, C>, request: Request) -> Completion {
    let done = closed_loop(device, 1, [request]);
    assert_eq!(done.len(), 1);
    done[0]
}

/// Writes each of `pages` once, in full, in order, one at a time.
pub fn fill<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    depth: usize,
    pages: std::ops::Range<u32>,
    sectors: u32,
) {
    let write = |page: u32| request(Op::Write, u64::from(page) * u64::from(sectors), sectors, page);
    closed_loop(device, depth, pages.map(write));
}

/// Arrival times of a Poisson process: the gaps are exponential with mean `mean_ns`.
pub fn poisson(seed: u64, mean_ns: f64) -> impl Iterator<Item = SimTime> {
    let mut stream = Stream::new(seed, "arrivals");
    let mut at = 0.0;
    std::iter::from_fn(move || {
        at -= mean_ns * libm::log(1.0 - stream.unit());
        Some(SimTime(at as u64))
    })
}

/// Mean of `values`, and its standard error from the means of 64 batches, which are nearly
/// independent even if neighbouring values are not.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    const BATCHES: usize = 64;
    let size = values.len() / BATCHES;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let means: Vec<f64> = values.chunks_exact(size).take(BATCHES).map(mean).collect();
    let all = mean(&means);
    let spread: f64 = means.iter().map(|m| (m - all).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
    (all, (spread / BATCHES as f64).sqrt())
}
