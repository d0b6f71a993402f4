//! Replays that can be interrupted. A replay is a future: it is ready when the replay is over, and pending while it is
//! paused. Who owns a clock of their own, such as a page that draws, polls it; everybody else lets it run to its end.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use ftlab::host::{Completion, Host};
use ftlab::units::SimTime;

use super::in_device::advance;
use super::options::{Ended, Progress, ReplayError};

/// How a replay goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// For a few thousand steps of the device.
    On,
    /// As [`On`](Self::On), and not beyond this time. The device comes to rest there even if nothing happens then. A time
    /// that has come already is as good as a pause.
    Until(SimTime),
    /// Not before it is polled again. Then it asks again.
    Pause,
    /// It ends; requests in the device are not in the results.
    Stop,
}

/// Asks how a replay goes on, given its progress, the device and the sink.
pub type Watch<'a, H, K> = &'a mut dyn FnMut(&Progress, &H, &K) -> Going;

/// The number of device steps between two questions.
const STEPS_PER_POLL: u32 = 4096;

/// A step of a replay.
pub(super) struct PacedStep<'s> {
    /// Not beyond this time.
    pub limit: SimTime,
    /// The requests in the device and in its queues.
    pub outstanding: u64,
    /// Receives the completions.
    pub done: &'s mut Vec<Completion>,
}

/// Returns whether the replay goes on behind a step. If not, notes that it was stopped, and why.
#[inline]
pub(super) fn went_on(
    step: Result<bool, Option<ReplayError>>,
    standstill: &mut Option<ReplayError>,
    stopped: &mut Option<Ended>,
) -> bool {
    step.unwrap_or_else(|why| {
        (*standstill, *stopped) = (why, Some(Ended::Stopped));
        false
    })
}

/// Takes steps, and asks from time to time.
pub(super) struct Pacer<'a, H, K> {
    watch: Watch<'a, H, K>,
    steps: u32,
    /// When the device has come here, it is time to ask.
    until: SimTime,
}

impl<'a, H: Host, K> Pacer<'a, H, K> {
    pub fn new(watch: Watch<'a, H, K>) -> Pacer<'a, H, K> {
        // The first question comes before the first step.
        Pacer { watch, steps: 0, until: SimTime::ZERO }
    }

    /// Runs the device until something completes or the limit is reached. Returns `false` if there is nothing to wait
    /// for.
    ///
    /// # Errors
    /// The device no longer responds; nothing, if the replay is told to stop.
    #[inline]
    pub async fn step(
        &mut self,
        host: &mut H,
        sink: &K,
        step: PacedStep<'_>,
        progress: impl Fn(SimTime) -> Progress,
    ) -> Result<bool, Option<ReplayError>> {
        let PacedStep { limit, outstanding, done } = step;
        loop {
            self.steps += 1;
            let now = host.now();
            if (self.steps >= STEPS_PER_POLL || now >= self.until)
                && !self.ask(progress(now), host, sink).await
            {
                return Err(None);
            }
            // With nothing to wait for, a replay without a limit ends; time alone must not keep it going.
            let ends = outstanding == 0 && limit == SimTime::FOREVER;
            let until = if ends { limit } else { limit.min(self.until) };
            let went = advance(host, until, outstanding, done)?;
            // At a time that only the watcher asked for, nobody else has anything to do.
            if until == limit || !done.is_empty() || host.now() < until {
                return Ok(went);
            }
        }
    }

    /// Asks, and pauses if told so. Returns whether the replay goes on.
    #[cold]
    async fn ask(&mut self, progress: Progress, host: &H, sink: &K) -> bool {
        self.steps = 0;
        self.until = SimTime::FOREVER;
        loop {
            match (self.watch)(&progress, host, sink) {
                Going::On => return true,
                Going::Until(time) if time > progress.now => {
                    self.until = time;
                    return true;
                }
                Going::Until(_) | Going::Pause => pause().await,
                Going::Stop => return false,
            }
        }
    }
}

/// Waits until it is polled again.
pub async fn pause() {
    Pause::default().await;
}

/// Pending once.
#[derive(Default)]
struct Pause {
    polled: bool,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.polled, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Runs a future to its end. Who pauses it is asked again at once, so a watcher that always pauses keeps it here for ever.
pub fn finished<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
