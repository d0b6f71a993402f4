//! Replays that can be interrupted. A replay is a future: it is ready when the replay is over, and pending while it is
//! paused. Who owns a clock of their own, such as a page that draws, polls it; everybody else lets it run to its end.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use ftlab::units::SimTime;

use super::options::Progress;

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

/// Asks from time to time.
pub(super) struct Pacer<'a, H, K> {
    watch: Watch<'a, H, K>,
    steps: u32,
    /// When the device has come here, it is time to ask.
    pub until: SimTime,
}

impl<'a, H, K> Pacer<'a, H, K> {
    pub fn new(watch: Watch<'a, H, K>) -> Pacer<'a, H, K> {
        // The first question comes before the first step.
        Pacer { watch, steps: 0, until: SimTime::ZERO }
    }

    /// Counts a step; whether to ask before it.
    #[inline]
    pub fn is_due(&mut self, now: SimTime) -> bool {
        self.steps += 1;
        self.steps >= STEPS_PER_POLL || now >= self.until
    }

    /// Asks, and pauses if told so. Returns whether the replay goes on.
    #[cold]
    pub async fn ask(&mut self, progress: Progress, host: &H, sink: &K) -> bool {
        self.steps = 0;
        self.until = SimTime::FOREVER;
        loop {
            match (self.watch)(&progress, host, sink) {
                Going::On => return true,
                Going::Until(time) if time > progress.now => {
                    self.until = time;
                    return true;
                }
                Going::Until(_) | Going::Pause => Pause::default().await,
                Going::Stop => return false,
            }
        }
    }
}

/// Pending once.
#[derive(Default)]
pub(super) struct Pause {
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
