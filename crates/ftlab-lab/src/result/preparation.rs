//! The preparation of a device in results.

use ftlab::stats::{Aged, AgedBefore, AgedRound, AgeingRule, Steadiness};
use ftlab::units::{Nanos, Ratio};
use ftlab_workload::generate::Workload;
use serde::Serialize;
use serde_json::Value;

use super::LoadDocument;
use crate::experiment::skipped_note;

/// A step of the device's preparation.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum StepDocument {
    /// The device was loaded from an image.
    Image {
        /// The file name without folder and extensions.
        name: String,
        /// BLAKE3 of the uncompressed content.
        digest_blake3: String,
        /// The seed that the image was made with.
        seed: u64,
        /// How the image was made.
        story: Value,
    },
    /// The device was written once.
    Fill {
        /// The order: sequential or random.
        order: &'static str,
        /// The share of the capacity, from its beginning.
        share_ratio: f64,
        /// Bytes written.
        written_bytes: u64,
        /// Whether simulated time passed.
        #[serde(flatten)]
        clock: ClockDocument,
    },
    /// The device was overwritten until it was steady.
    Age(Box<AgeDocument>),
    /// A workload was played.
    Workload {
        /// The workload.
        load: LoadDocument,
        /// The phases at its beginning that were skipped because the device was in use.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        skipped_phases: Vec<String>,
        /// The simulated time of the step.
        duration_ns: u64,
    },
    /// A caller stepped the device by hand.
    Stepped {
        /// Requests submitted.
        requests: u64,
        /// The simulated time of the step.
        duration_ns: u64,
    },
}

/// Whether a step took simulated time.
#[derive(Clone, Debug, Serialize)]
pub struct ClockDocument {
    /// `simulated` if flash, buses and requests were simulated in time; `none` if only the state
    /// that writes leave was built.
    pub clock: &'static str,
    /// Why the step was simulated in time although the user did not ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_because: Option<String>,
    /// The simulated time of the step; null without a clock.
    pub duration_ns: Option<u64>,
}

/// An ageing.
#[derive(Clone, Debug, Serialize)]
pub struct AgeDocument {
    /// Whether a steady state was reached.
    pub verdict: Aged,
    /// The writes.
    pub load: LoadDocument,
    /// The rule of steadiness.
    pub rule: AgeingRule,
    /// Bytes written in whole rounds.
    pub written_bytes: u64,
    /// Whether simulated time passed.
    #[serde(flatten)]
    pub clock: ClockDocument,
    /// Write amplification over the last rounds.
    pub write_amplification: Option<Steadiness>,
    /// The host's write throughput over the last rounds, in 10^6 bytes per second; null without a clock.
    pub write_mb_per_s: Option<Steadiness>,
    /// The rounds, oldest first.
    pub rounds: Vec<AgedRound>,
}

impl StepDocument {
    /// Creates the document of a workload.
    pub fn workload(workload: &Workload, skipped_phases: Vec<String>, took: Nanos) -> StepDocument {
        let load = LoadDocument::workload(workload);
        StepDocument::Workload { load, skipped_phases, duration_ns: took.0 }
    }

    /// Returns a note on skipped phases, if there are any.
    pub fn skipped(&self) -> Option<String> {
        match self {
            StepDocument::Workload {
                load: LoadDocument::Workload { name, .. },
                skipped_phases,
                ..
            } => skipped_note(name, skipped_phases),
            _ => None,
        }
    }

    /// Describes the step briefly.
    pub fn told(&self) -> String {
        match self {
            StepDocument::Image { name, .. } => format!("image {name}"),
            StepDocument::Fill { order: "random", .. } => "random fill".to_owned(),
            StepDocument::Fill { .. } => "fill".to_owned(),
            StepDocument::Age(age) => match age.verdict {
                Aged::Steady => "ageing to a steady state".to_owned(),
                Aged::EndOfLife => "ageing to the end of its life".to_owned(),
                Aged::NotSteady | Aged::GcNeverStarted => "ageing, not steady".to_owned(),
            },
            StepDocument::Workload { load, .. } => load.told(),
            StepDocument::Stepped { .. } => "requests of a caller".to_owned(),
        }
    }

    /// Returns the name and clock of a step that can run with or without time.
    fn clock(&self) -> Option<(&'static str, &ClockDocument)> {
        match self {
            StepDocument::Fill { clock, .. } => Some(("fill", clock)),
            StepDocument::Age(age) => Some(("age", &age.clock)),
            StepDocument::Image { .. }
            | StepDocument::Workload { .. }
            | StepDocument::Stepped { .. } => None,
        }
    }

    /// Returns the steady state in which the step left the device, if it did.
    pub fn steady(&self) -> Option<AgedBefore> {
        match self {
            StepDocument::Age(age) if age.verdict == Aged::Steady => {
                Some(aged(age.write_amplification?.mean, age.rule.tolerance.ppm.into()))
            }
            StepDocument::Image { story, .. } => steady_after(story),
            _ => None,
        }
    }

    /// Returns a warning about the step, if there is one.
    pub fn complaint(&self) -> Option<String> {
        match self {
            StepDocument::Age(age) => age.complaint(),
            _ => None,
        }
    }
}

/// Returns notes on steps that ran without a clock, or in time without being asked.
pub fn notes_on_clocks(steps: &[StepDocument]) -> Vec<String> {
    let clocks = || steps.iter().filter_map(StepDocument::clock);
    let names = |names: Vec<&str>| names.join(", ");
    let without: Vec<&str> =
        clocks().filter(|(_, clock)| clock.duration_ns.is_none()).map(|(name, _)| name).collect();
    let mut notes = Vec::new();
    if !without.is_empty() {
        let (first, both) = (without[0], names(without.clone()));
        notes.push(format!(
            "The device was prepared without a clock ({both}): only the state that the writes leave was built, not \
             their time. {first}:timed simulates that too."
        ));
    }
    let because = |&(_, clock): &(&str, &ClockDocument)| clock.timed_because.clone();
    if let Some(why) = clocks().find_map(|step| because(&step)) {
        let timed = clocks().filter(|step| because(step).is_some()).map(|(name, _)| name).collect();
        notes.push(format!("The device was prepared in simulated time ({}): {why}.", names(timed)));
    }
    notes
}

/// Returns the steady state after steps as results and images list them.
fn steady_after(steps: &Value) -> Option<AgedBefore> {
    let last = steps.as_array()?.last()?;
    match last["step"].as_str()? {
        "age" if last["verdict"] == "steady" => Some(aged(
            last["write_amplification"]["mean"].as_f64()?,
            last["rule"]["tolerance_ppm"].as_f64()?,
        )),
        "image" => steady_after(&last["story"]),
        _ => None,
    }
}

fn aged(amplification: f64, tolerance_ppm: f64) -> AgedBefore {
    let tolerance = tolerance_ppm / f64::from(Ratio::ONE.ppm);
    AgedBefore { amplification, tolerance, written_since_bytes: 0 }
}

/// Counts the steps of a story, including those behind images.
pub fn steps_of(story: &Value) -> usize {
    let steps = story.as_array().map_or(&[][..], Vec::as_slice);
    let count = |step: &Value| match step["step"].as_str() {
        Some("image") => steps_of(&step["story"]),
        _ => 1,
    };
    steps.iter().map(count).sum()
}

impl AgeDocument {
    /// Returns a warning if the ageing ended without a steady state.
    fn complaint(&self) -> Option<String> {
        let limit = self.rule.limit_drive_writes;
        match self.verdict {
            Aged::Steady => None,
            Aged::EndOfLife => Some(
                "The device reached the end of its life while it aged: it accepts no more writes. Age it \
                 less, or make it live longer (nand.faults, nand.endurance, ftl.over_provisioning)"
                    .to_owned(),
            ),
            Aged::GcNeverStarted => Some(format!(
                "Ageing ended after {limit} drive writes at most, and garbage collection never \
                 started: the device is fresh, not aged. Fill it further, or give it less \
                 over-provisioning"
            )),
            Aged::NotSteady => {
                let by = self.write_amplification.map_or(String::new(), |wa| {
                    let varied = wa.range_ratio * 100.0;
                    format!(": write amplification was {:.2} and varied by {varied:.0} %", wa.mean)
                });
                Some(format!(
                    "Ageing reached its limit of {limit} drive writes before the device was \
                     steady{by}. Raise limit or tolerance, or use longer rounds"
                ))
            }
        }
    }
}
