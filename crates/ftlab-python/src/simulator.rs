//! A device that Python steps.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use ftlab::device::Device;
use ftlab::host::Host;
use ftlab::units::SimTime;
use ftlab_lab::experiment::{LATEST, Preparation, refuse_foresight};
use ftlab_lab::image::OpenedImage;
use ftlab_lab::result::{StepDocument, steps};
use ftlab_lab::saved::{self, DeviceState};
use ftlab_lab::stepped::SteppedDevice;
use ftlab_lab::translation;
use ftlab_workload::replay::Completed;
use pyo3::prelude::*;

use crate::columns::requests_of;
use crate::config::PyConfig;
use crate::errors::{raised, usage};
use crate::image::PyImage;
use crate::options::PyRunOptions;
use crate::policies::Trouble;
use crate::table::PyColumns;
use crate::watch::{Raised, Signals};

/// A device, and the requests that wait for it.
#[pyclass(module = "ftlab._ftlab", name = "Simulator")]
pub struct PySimulator {
    config: Arc<ftlab::config::Config>,
    seed: u64,
    /// How the device came to its first state.
    story: Vec<StepDocument>,
    /// When it was opened.
    opened: SimTime,
    /// What goes wrong in its policies.
    trouble: Trouble,
    /// None once it was closed.
    stepped: Mutex<Option<SteppedDevice>>,
}

/// How far to advance.
enum Goal {
    Time(SimTime),
    Completion(SimTime),
    Drained,
}

impl PySimulator {
    /// Takes the device. Waiting for another thread could last forever: it may wait for Python.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<SteppedDevice>>> {
        self.stepped.try_lock().map_err(|error| {
            usage(match error {
                TryLockError::WouldBlock => {
                    "another thread uses this simulator\n  remedy: open one for each thread, or use it from one at a time"
                }
                TryLockError::Poisoned(_) => {
                    "the simulator failed earlier\n  remedy: open the device again, and report that failure"
                }
            })
        })
    }

    fn ask<T>(&self, ask: impl FnOnce(&SteppedDevice) -> T) -> PyResult<T> {
        self.lock()?.as_ref().map(ask).ok_or_else(closed)
    }

    /// Advances to a goal, which may depend on the time now.
    fn reach(
        &self,
        py: Python<'_>,
        goal: impl FnOnce(SimTime) -> PyResult<Goal>,
    ) -> PyResult<PyColumns> {
        let mut locked = self.lock()?;
        let stepped = locked.as_mut().ok_or_else(closed)?;
        let goal = goal(stepped.now())?;
        let raised_meanwhile = Raised::default();
        let mut signals = Signals::new(raised_meanwhile.clone());
        let mut look = || match self.trouble.is_there() {
            true => ControlFlow::Break(()),
            false => signals.look(),
        };
        let mut done: Vec<Completed> = Vec::new();
        let reached = py.detach(|| match goal {
            Goal::Time(limit) => stepped.advance_until(limit, &mut look, &mut done),
            Goal::Completion(limit) => stepped.advance_to_completion(limit, &mut look, &mut done),
            Goal::Drained => stepped.drain(&mut look, &mut done),
        });
        raised_meanwhile.or(self.trouble.or(reached.map_err(raised)))?;
        PyColumns::of(steps(&done))
    }
}

/// Refuses a time beyond which a device could not go on.
fn checked(time_ns: u64) -> PyResult<SimTime> {
    if time_ns <= LATEST.0 {
        return Ok(SimTime(time_ns));
    }
    Err(usage(format!(
        "a device lives until {} ns, and {time_ns} ns is later\n  remedy: advance to an earlier time",
        LATEST.0
    )))
}

fn closed() -> PyErr {
    usage("the simulator is closed\n  remedy: open the device again")
}

#[pymethods]
impl PySimulator {
    /// Creates the device; from an image, if there is one.
    #[new]
    fn new(
        py: Python<'_>,
        config: &PyConfig,
        seed: u64,
        options: &PyRunOptions,
    ) -> PyResult<PySimulator> {
        let (config, trouble) = (Arc::clone(&config.config), options.trouble.clone());
        let made = py.detach(|| -> Result<(Device, Vec<StepDocument>), ftlab_lab::Failure> {
            let preparation = Preparation::new(&options.options, None)?;
            translation::refuse(&config, "`open`")?;
            refuse_foresight(&config, "`open`")?;
            let story = preparation.image().map(OpenedImage::document).into_iter().collect();
            Ok((preparation.device(&config, seed)?, story))
        });
        let (device, story) = trouble.or(made.map_err(raised))?;
        Ok(PySimulator {
            config,
            seed,
            story,
            opened: device.now(),
            trouble,
            stepped: Mutex::new(Some(SteppedDevice::new(device))),
        })
    }

    /// Submits requests in columns; all or none. Returns the number of the first, and how many there are.
    fn submit(&self, columns: &Bound<'_, PyAny>) -> PyResult<(u64, usize)> {
        let mut locked = self.lock()?;
        let stepped = locked.as_mut().ok_or_else(closed)?;
        let read = requests_of(columns, Some(stepped.now()))?;
        let first = stepped.submit_all(&read.requests).map_err(raised)?;
        Ok((first, read.requests.len()))
    }

    /// Advances to a time, in nanoseconds, and returns what completed.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<PyColumns> {
        self.reach(py, |now| match until_ns < now.0 {
            true => Err(usage(format!(
                "the device is at {} ns already, beyond {until_ns} ns\n  remedy: advance to a later time",
                now.0
            ))),
            false => Ok(Goal::Time(checked(until_ns)?)),
        })
    }

    /// Advances by a span of time, in nanoseconds, and returns what completed.
    fn advance_by(&self, py: Python<'_>, span_ns: u64) -> PyResult<PyColumns> {
        self.reach(py, |now| Ok(Goal::Time(checked(now.0.saturating_add(span_ns))?)))
    }

    /// Advances until something completes, at most to a time, in nanoseconds.
    fn advance_to_completion(&self, py: Python<'_>, limit_ns: Option<u64>) -> PyResult<PyColumns> {
        let limit = limit_ns.map(checked).transpose()?;
        self.reach(py, |_| Ok(Goal::Completion(limit.unwrap_or(SimTime::FOREVER))))
    }

    /// Advances until nothing is outstanding.
    fn drain(&self, py: Python<'_>) -> PyResult<PyColumns> {
        self.reach(py, |_| Ok(Goal::Drained))
    }

    /// The simulated time, in nanoseconds.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        self.ask(|stepped| stepped.now().0)
    }

    /// The number of requests that have not completed.
    #[getter]
    fn outstanding(&self) -> PyResult<u64> {
        self.ask(SteppedDevice::outstanding)
    }

    /// The number of requests that were submitted.
    #[getter]
    fn submitted(&self) -> PyResult<u64> {
        self.ask(SteppedDevice::submitted)
    }

    /// The bytes that the host can address.
    #[getter]
    fn capacity_bytes(&self) -> PyResult<u64> {
        self.ask(|stepped| stepped.device().capacity_sectors() * ftlab::units::SECTOR_BYTES)
    }

    /// The report so far, as the `report` of `result.json`.
    fn report(&self) -> PyResult<String> {
        let report = self.ask(SteppedDevice::report)?;
        serde_json::to_string(&report).map_err(|error| usage(error.to_string()))
    }

    /// The state of the device, as JSON.
    fn state(&self) -> PyResult<String> {
        let state = self.ask(|stepped| DeviceState::of(stepped.device()))?;
        serde_json::to_string(&state).map_err(|error| usage(error.to_string()))
    }

    /// Lets the device come to rest, returns its image, and closes the simulator.
    fn close_into_image(&self, py: Python<'_>) -> PyResult<PyImage> {
        let outstanding = self.ask(SteppedDevice::outstanding)?;
        if outstanding > 0 {
            return Err(usage(format!(
                "{outstanding} requests are outstanding\n  remedy: drain the simulator first"
            )));
        }
        let stepped = self.lock()?.take().ok_or_else(closed)?;
        let (config, seed) = (Arc::clone(&self.config), self.seed);
        let mut story = self.story.clone();
        let image = py.detach(|| {
            let requests = stepped.submitted();
            let mut device = stepped.into_device()?;
            ftlab_lab::experiment::rest(&mut device)?;
            let duration_ns = (device.now() - self.opened).0;
            story.push(StepDocument::Stepped { requests, duration_ns });
            saved::image_of(&device, &config, seed, &story)
        });
        let name = format!("{} stepped", self.config.options.device.name);
        let config = (*self.config).clone();
        let taken = OpenedImage { name, image: image.map_err(raised)?, config };
        Ok(PyImage { taken: Arc::new(taken) })
    }

    /// Frees the device.
    fn close(&self) -> PyResult<()> {
        self.lock()?.take();
        Ok(())
    }
}
