//! Questions and answers. Every answer is an object; one that failed has the program's own message in `error`.

use std::collections::BTreeMap;

use bytes::Bytes;
use ftlab::units::{Nanos, SimTime};
use ftlab_lab::Failure;
use ftlab_lab::catalog::{self, Catalog};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scene::Until;
use crate::session::{self, Session};
use crate::words;

/// What a script can ask.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// The built-in devices, workloads and policies.
    Catalog,
    /// Opens a run, in the place of an earlier one of this number.
    Open {
        /// The number of the run: two can go on side by side.
        run: u32,
        /// What to run.
        plan: Box<RunPlan>,
    },
    /// Lets a run go on.
    Go {
        /// The number of the run.
        run: u32,
        /// Not beyond this time of the simulation, in nanoseconds.
        until_ns: Option<u64>,
        /// The number of looks, a few thousand steps of the device apart, after which it waits again.
        looks: u32,
        /// Also stops there.
        stop_at: Option<StopAt>,
        /// Whether to tell what each die and channel did.
        spans: bool,
        /// Whether to tell the run over time, in at most 1,024 windows, and the blocks of the device.
        #[serde(default)]
        views: bool,
    },
    /// The result of a run that has ended, as the program writes it.
    Result {
        /// The number of the run.
        run: u32,
    },
    /// Forgets a run.
    Close {
        /// The number of the run.
        run: u32,
    },
}

/// Something interesting.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum StopAt {
    /// A plane begins to collect a block.
    Collection,
    /// A request took this long or longer, in nanoseconds.
    Slow(u64),
    /// The host writes past the SLC cache, because that is full.
    SlcCacheFull,
    /// A die is found to be dead.
    DieDeath,
    /// Whatever comes next: anything begins on a die or a bus, or a request is done.
    Anything,
}

impl StopAt {
    /// How far the device goes between two looks for it.
    pub fn grain(self) -> Nanos {
        match self {
            StopAt::Anything => Nanos(1_000),
            _ => Nanos(10_000),
        }
    }
}

/// A device, a load, and how it is played.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunPlan {
    /// The built-in device, or the name of the file in `device_text`.
    pub device: String,
    /// The text of a device file.
    pub device_text: Option<String>,
    /// Options on top, as `key=value`.
    pub set: Vec<String>,
    /// Options on top of these, by which a drive differs from the one that it stands beside.
    pub beside: Vec<String>,
    /// The built-in workload, or the name of the file in `workload_text`.
    pub workload: String,
    /// The text of a workload file.
    pub workload_text: Option<String>,
    /// The name of the trace that is kept ([`Desk::keep`]); then there is no workload.
    pub trace: Option<String>,
    /// How it is played, as `ftlab run` calls it: `precondition`, `requests`, `queue_depth` and so on.
    pub options: BTreeMap<String, String>,
    /// The seed: a whole number, as text, because those of a script have only 53 bits.
    pub seed: String,
}

/// Keeps the runs of a script.
#[derive(Default)]
pub struct Desk {
    runs: BTreeMap<u32, Session>,
    /// The trace that was handed over.
    kept: Bytes,
}

/// A failure as an answer.
fn failed(failure: &Failure) -> Value {
    json!({ "error": words::told(&failure.to_string()) })
}

impl Desk {
    /// Keeps a trace for plans that name one, in the place of an earlier one.
    pub fn keep(&mut self, trace: Vec<u8>) {
        self.kept = Bytes::from(trace);
    }

    /// Answers a question.
    pub fn answer(&mut self, question: &str) -> String {
        let answer = match serde_json::from_str(question) {
            Ok(question) => self.answered(question).unwrap_or_else(|failure| failed(&failure)),
            Err(error) => json!({ "error": format!("this is no question: {error}") }),
        };
        answer.to_string()
    }

    fn answered(&mut self, question: Question) -> Result<Value, Failure> {
        match question {
            Question::Catalog => {
                let devices = catalog::document(Catalog::Devices)?;
                let workloads = catalog::document(Catalog::Workloads)?;
                let policies = catalog::document(Catalog::Policies)?;
                let too_large = session::too_large()?;
                Ok(
                    json!({ "devices": devices, "workloads": workloads, "policies": policies, "too_large": too_large }),
                )
            }
            Question::Open { run, plan } => {
                self.runs.remove(&run);
                if plan.trace.is_none() {
                    self.kept = Bytes::new();
                }
                let taken = self.runs.values().map(Session::needed).sum::<u64>();
                let taken = taken + self.kept.len() as u64;
                let session = Session::open(*plan, &self.kept, taken)?;
                let facts = session.facts();
                self.runs.insert(run, session);
                Ok(facts)
            }
            Question::Go { run, until_ns, looks, stop_at, spans, views } => {
                let time = until_ns.map_or(SimTime::FOREVER, SimTime);
                self.run(run)?.go(Until { time, looks, stop_at, spans, views })
            }
            Question::Result { run } => self.run(run)?.result(),
            Question::Close { run } => {
                self.runs.remove(&run);
                Ok(json!({}))
            }
        }
    }

    fn run(&mut self, run: u32) -> Result<&mut Session, Failure> {
        self.runs.get_mut(&run).ok_or_else(|| {
            Failure::usage(format!("there is no run {run}\n  remedy: open it (`ask` \"open\")"))
        })
    }
}
