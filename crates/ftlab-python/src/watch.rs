//! Looks at Python while a device is simulated: Ctrl-C, and whoever wants to hear the progress.

use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ftlab::stats::AgeingOutlook;
use ftlab_lab::experiment::Watcher;
use ftlab_lab::pool::{RunsWatcher, locked};
use ftlab_lab::stop::Stop;
use ftlab_workload::replay::Progress;
use ftlab_workload::trace::Meter;
use pyo3::prelude::*;

/// How often Python is asked. Taking its lock more often would cost time.
const EVERY: Duration = Duration::from_millis(50);

/// A listener in Python: called with the name of what is done, what is done of it, and the whole, if it is known. All
/// are in requests, or in thousandths of a run.
pub type Listener = Option<Py<PyAny>>;

/// What Python raised while it was asked. It stops the run.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception, unless there is one already.
    pub fn set(&self, error: PyErr) {
        locked(&self.0).get_or_insert(error);
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        locked(&self.0).is_some()
    }

    /// Returns it in place of the outcome, if there is one.
    pub fn or<T>(&self, outcome: PyResult<T>) -> PyResult<T> {
        match locked(&self.0).take() {
            Some(error) => Err(error),
            None => outcome,
        }
    }
}

/// Asks Python at most every [`EVERY`].
pub struct PythonWatcher {
    listener: Listener,
    raised: Raised,
    asked: Instant,
    name: String,
    meter: Option<Arc<Meter>>,
}

impl PythonWatcher {
    /// Watches for a listener.
    pub fn new(listener: Listener, raised: Raised) -> PythonWatcher {
        PythonWatcher { listener, raised, asked: Instant::now(), name: String::new(), meter: None }
    }

    fn ask(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if self.asked.elapsed() < EVERY {
            return ControlFlow::Continue(());
        }
        let asked = Python::attach(|py| {
            py.check_signals()?;
            let Some(listener) = &self.listener else { return Ok(()) };
            let share = self.meter.as_ref().and_then(|meter| meter.share());
            let whole = share.filter(|share| *share > 0.0).map(|share| done as f64 / share);
            let total = total.or(whole.map(|whole| whole as u64));
            listener.call1(py, (self.name.as_str(), done, total)).map(drop)
        });
        self.asked = Instant::now();
        match asked {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised.set(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// Looks for Ctrl-C at most every [`EVERY`].
pub struct Signals(PythonWatcher);

impl Signals {
    /// Looks for a caller who takes what Python raises.
    pub fn new(raised: Raised) -> Signals {
        Signals(PythonWatcher::new(None, raised))
    }

    /// Returns whether to continue.
    pub fn look(&mut self) -> ControlFlow<()> {
        self.0.ask(0, None)
    }
}

impl Watcher for PythonWatcher {
    fn begins(&mut self, name: &str, meter: Option<Arc<Meter>>) {
        (self.name, self.meter) = (name.to_owned(), meter);
    }

    fn ages(&mut self, outlook: &AgeingOutlook) {
        self.name = format!("age, round {}", outlook.rounds);
    }

    fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        self.ask(done, total)
    }

    fn goes_on(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.ask(progress.completed, progress.total)
    }
}

/// The progress of many runs, on other threads than Python's.
#[derive(Default)]
pub struct ManyRuns(Mutex<RunsTally>);

#[derive(Clone, Copy, Default)]
struct RunsTally {
    runs: usize,
    share: f64,
}

impl RunsWatcher for ManyRuns {
    fn begin(&self, runs: usize) {
        locked(&self.0).runs = runs;
    }

    fn advance(&self, share: f64) {
        locked(&self.0).share += share;
    }
}

/// The thousandths of a run that a listener hears.
const STEPS: f64 = 1_000.0;

/// Performs work on other threads, and asks Python meanwhile. What Python raises sets the stop.
pub fn attended<T: Send>(
    py: Python<'_>,
    listener: &Listener,
    stop: &Stop,
    work: impl FnOnce(&ManyRuns) -> T + Send,
) -> PyResult<T> {
    let runs = ManyRuns::default();
    let raised = Raised::default();
    let done = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, finished) = channel::<()>();
            let runs = &runs;
            let worker = scope.spawn(move || {
                // Dropped when the work is done, also by a panic.
                let _sender = sender;
                work(runs)
            });
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(EVERY) {
                if let Err(error) = Python::attach(|py| tell(py, listener, runs)) {
                    raised.set(error);
                    stop.set();
                }
            }
            worker.join()
        })
    });
    let done = done.map_err(|_| pyo3::panic::PanicException::new_err("the simulator panicked"));
    raised.or(done)
}

/// Looks for Ctrl-C, and tells the progress.
fn tell(py: Python<'_>, listener: &Listener, runs: &ManyRuns) -> PyResult<()> {
    py.check_signals()?;
    let Some(listener) = listener else { return Ok(()) };
    let tally = *locked(&runs.0);
    let (done, all) = (tally.share * STEPS, tally.runs as f64 * STEPS);
    listener.call1(py, ("runs", done as u64, Some(all as u64))).map(drop)
}
