//! Policies that are written in Python. Each seam has an adapter that implements the simulator's contract, keeps what
//! the contract needs, and asks the Python object for the decision alone.
//!
//! What a Python object raises or answers wrongly stops the run; until it stops, the adapter decides by itself. A copy
//! of a device has a deep copy of its policies, and every run starts from a deep copy, so runs do not influence each
//! other.

mod buffer;
mod scheduler;
mod streams;
mod victim;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ftlab::device::DeviceSetup;
use ftlab::image::Resume;
use ftlab_lab::Failure;
use ftlab_lab::outside::{OutsidePolicies, OutsidePolicy};
use ftlab_lab::pool::locked;
use ftlab_lab::stop::Stop;
use pyo3::prelude::*;

use crate::errors::{raised, usage};
use crate::watch::Raised;

/// The name of every policy in Python in images.
const NAME: &str = "python";

/// What goes wrong in a policy, and what it stops.
#[derive(Clone, Default)]
pub struct Trouble {
    raised: Raised,
    stops: Arc<Mutex<Vec<Stop>>>,
    /// How often a policy chose no victim although there was one.
    declined: Arc<AtomicU64>,
}

impl Trouble {
    /// Works with policies that stop the work if they fail, and returns what they raised in place of the outcome.
    pub fn watch<T>(
        troubles: &[Trouble],
        stop: &Stop,
        work: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<T> {
        for trouble in troubles {
            locked(&trouble.stops).push(stop.clone());
        }
        let outcome = work();
        troubles.iter().fold(outcome, |outcome, trouble| trouble.or(outcome))
    }

    /// Returns what a policy raised in place of the outcome, if there is anything.
    pub fn or<T>(&self, outcome: PyResult<T>) -> PyResult<T> {
        locked(&self.stops).clear();
        let declined = self.declined.swap(0, Ordering::Relaxed);
        let outcome = outcome.map_err(|error| match declined {
            0 => error,
            many => told_of_declined(error, many),
        });
        self.raised.or(outcome)
    }

    /// Notes that a policy chose no victim although there was one.
    fn decline(&self) {
        self.declined.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, error: PyErr) {
        self.raised.set(error);
        locked(&self.stops).iter().for_each(Stop::set);
    }

    /// Whether anything went wrong.
    pub fn is_there(&self) -> bool {
        self.raised.is_set()
    }

    /// Whether anything went wrong, or the work was stopped: answers are worth nothing any more.
    pub fn is_over(&self) -> bool {
        self.is_there() || locked(&self.stops).iter().any(Stop::is_set)
    }
}

/// Adds to a failure of the device that a policy chose no victim, which may be why.
fn told_of_declined(error: PyErr, many: u64) -> PyErr {
    Python::attach(|py| {
        if error.get_type(py).name().is_ok_and(|name| name == "ExperimentError") {
            return raised(Failure::Experiment(format!(
                "{}\n  note: the victim policy in Python chose no block {many} times, although there were candidates",
                error.value(py)
            )));
        }
        error
    })
}

/// A policy object in Python.
pub struct PythonPolicy {
    object: Py<PyAny>,
    trouble: Trouble,
}

impl PythonPolicy {
    /// Calls the policy. Returns none if it fails, now or earlier.
    fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if self.trouble.is_over() {
            return None;
        }
        let answered = Python::attach(|py| call(self.object.bind(py)));
        answered.map_err(|error| self.trouble.set(error)).ok()
    }

    /// Reports an answer that is not possible.
    fn refuse(&self, text: String) {
        self.trouble.set(usage(text));
    }

    fn copied(&self) -> PythonPolicy {
        let copied = Python::attach(|py| -> PyResult<Py<PyAny>> {
            let copies = py.import("copy")?.call_method1("deepcopy", (self.object.bind(py),));
            Ok(copies?.unbind())
        });
        let object = copied.unwrap_or_else(|error| {
            self.trouble.set(error);
            Python::attach(|py| self.object.clone_ref(py))
        });
        PythonPolicy { object, trouble: self.trouble.clone() }
    }
}

impl Clone for PythonPolicy {
    fn clone(&self) -> PythonPolicy {
        self.copied()
    }
}

impl std::fmt::Debug for PythonPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(NAME)
    }
}

/// A policy as Python gives it: the option, the object, its name, and a text that changes with its decisions.
pub type GivenPolicy = (String, Py<PyAny>, String, String);

type Install = fn(DeviceSetup, PythonPolicy) -> Result<DeviceSetup, Failure>;
type Afresh = fn(Resume) -> Resume;

/// Returns how a policy of a seam is put into a device, and what it can't resume from an image of another policy.
fn seam(option: &str) -> Option<(Install, Afresh)> {
    match option {
        "ftl.gc.victim" => Some((victim::install, |resume| Resume { victim: false, ..resume })),
        "scheduler.policy" => {
            Some((scheduler::install, |resume| Resume { scheduler: false, ..resume }))
        }
        "ftl.streams.policy" => {
            Some((streams::install, |resume| Resume { streams: false, ..resume }))
        }
        "cache.policy" => Some((buffer::install, |resume| Resume { cache: false, ..resume })),
        _ => None,
    }
}

/// Returns the policies of an experiment.
pub fn outside(given: Vec<GivenPolicy>, trouble: &Trouble) -> PyResult<OutsidePolicies> {
    let policy = |(option, object, name, version): GivenPolicy| {
        let Some((install, resume)) = seam(&option) else {
            return Err(usage(format!("{option} takes no policy in Python")));
        };
        let object = PythonPolicy { object, trouble: trouble.clone() };
        let object = Mutex::new(object);
        let install = Arc::new(move |setup| install(setup, locked(&object).copied()));
        Ok(OutsidePolicy { option, name, version, install, resume })
    };
    given.into_iter().map(policy).collect::<PyResult<Vec<_>>>().map(OutsidePolicies)
}

/// Returns the failure of a policy that does not fit the device.
fn misfit(option: &str, misfit: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{option}: {misfit}"))
}
