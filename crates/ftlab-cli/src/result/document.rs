//! The layout of `result.json` and `run.json`.

use std::collections::BTreeMap;

use ftlab::config::Config;
use ftlab::stats::Report;
use ftlab::units::SECTOR_BYTES;
use ftlab_workload::accesses::AccessReport;
use ftlab_workload::fio::JobFile;
use ftlab_workload::generate::Workload;
use ftlab_workload::replay::{self, Ended, PageSharing};
use serde::Serialize;
use serde_json::Value;

use super::StepDocument;
use crate::load::{TraceFacts, short_name};
use crate::power_cuts::PowerCutReport;

/// `result.json`: what depends on nothing but device, load and seed.
#[derive(Debug, Serialize)]
pub struct ResultDocument {
    /// See [`ftlab::stats::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Whether the run went to its end.
    pub complete: bool,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// What was measured.
    pub report: Report,
    /// What it was measured on.
    pub device: DeviceDocument,
    /// The seed of everything random.
    pub seed: u64,
    /// What was played.
    pub load: LoadDocument,
    /// How what was measured of it shares pages between reads and writes, by the addresses on the device;
    /// not there unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessReport>,
    /// How copies of the device came up again whose power was cut; not there unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cuts: Option<PowerCutReport>,
    /// What the device went through before, unmeasured.
    pub precondition: Vec<StepDocument>,
    /// How it was played.
    pub replay: ReplayDocument,
    /// What neither the input nor the command line said.
    pub assumed: Vec<String>,
    /// What looks wrong.
    pub warnings: Vec<String>,
}

/// The device.
#[derive(Debug, Serialize)]
pub struct DeviceDocument {
    /// Its name.
    pub name: String,
    /// What the host can address.
    pub capacity_bytes: u64,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// The configuration in full.
    pub config: Value,
}

impl DeviceDocument {
    /// The document of a device.
    pub fn new(config: &Config, capacity_sectors: u64) -> DeviceDocument {
        let text = config.canonical();
        DeviceDocument {
            name: config.options.device.name.clone(),
            capacity_bytes: capacity_sectors * SECTOR_BYTES,
            config_blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
            config: toml::from_str(&text).expect("the canonical text of a configuration is TOML"),
        }
    }
}

/// What was played.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadDocument {
    /// A trace.
    Trace {
        /// The file's name, without folder and endings.
        name: String,
        /// The format.
        format: &'static str,
        /// BLAKE3 of the records that were played; null if reading was cut off.
        digest_blake3: Option<String>,
        /// Requests read.
        requests: u64,
        /// Requests that came after a later one and were sorted in.
        out_of_order_requests: u64,
        /// Lines left out because they were wrong.
        skipped_lines: u64,
    },
    /// A workload.
    Workload {
        /// Its name.
        name: String,
        /// BLAKE3 of its description.
        digest_blake3: String,
        /// Where its figures come from.
        source: Option<String>,
        /// The description in full.
        workload: Value,
    },
    /// A fio job file.
    Fio {
        /// The file's name, without folder and endings.
        name: String,
        /// BLAKE3 of its text, without what it includes, and of its variables, if it names any.
        digest_blake3: String,
        /// The variables that it names, with what they stood for.
        variables: BTreeMap<String, String>,
        /// By stream: the job, with the number of the clone where there are several.
        jobs: Vec<String>,
        /// The text.
        text: String,
    },
}

impl LoadDocument {
    /// The document of a trace called `file`.
    pub fn trace(file: &str, read: &TraceFacts) -> LoadDocument {
        LoadDocument::Trace {
            name: short_name(file),
            format: read.facts.format,
            digest_blake3: read.digest.clone(),
            requests: read.requests,
            out_of_order_requests: read.facts.out_of_order,
            skipped_lines: read.facts.skipped_lines,
        }
    }

    /// In a few words.
    pub fn told(&self) -> String {
        match self {
            LoadDocument::Trace { name, format, .. } => format!("trace {name} ({format})"),
            LoadDocument::Workload { name, .. } => format!("workload {name}"),
            LoadDocument::Fio { name, .. } => format!("fio jobs {name}"),
        }
    }

    /// The document of a workload.
    pub fn workload(workload: &Workload) -> LoadDocument {
        let value = serde_json::to_value(workload).expect("a workload is plain data");
        LoadDocument::Workload {
            name: workload.name.clone(),
            digest_blake3: blake3::hash(value.to_string().as_bytes()).to_hex().to_string(),
            source: workload.source.clone(),
            workload: value,
        }
    }

    /// The document of a job file whose clones are called so.
    pub fn fio(file: &JobFile, jobs: Vec<String>) -> LoadDocument {
        let mut hasher = blake3::Hasher::new();
        hasher.update(file.text.as_bytes());
        for (name, value) in &file.variables {
            hasher.update(format!("\0{name}={value}").as_bytes());
        }
        LoadDocument::Fio {
            name: short_name(&file.name),
            digest_blake3: hasher.finalize().to_hex().to_string(),
            variables: file.variables.clone(),
            jobs,
            text: file.text.clone(),
        }
    }
}

/// How it was played.
#[derive(Debug, Serialize)]
pub struct ReplayDocument {
    /// What decided when requests were submitted.
    pub pacing: PacingDocument,
    /// How addresses were brought onto the device.
    pub address: replay::Mapping,
    /// The phases that a workload begins with, none of them measured, and that were left out because
    /// the device was prepared otherwise; not there if none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_phases: Vec<String>,
    /// The limit on requests.
    pub requests_limit: Option<u64>,
    /// Why it ended.
    pub ended: Ended,
    /// Requests submitted.
    pub submitted_requests: u64,
    /// Requests finished.
    pub completed_requests: u64,
    /// Requests that lay beyond the device and were folded.
    pub folded_requests: u64,
    /// Requests that were cut at the end of the device or of their slice.
    pub clipped_requests: u64,
    /// What was cut off.
    pub clipped_bytes: u64,
    /// Requests over MiB that are not neighbours any more.
    pub torn_requests: u64,
    /// How pages of a trace share pages of the device; not there where none can: if what was played is no
    /// trace, or its MiB were packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<PageSharing>,
    /// Requests whose time lay before that of an earlier one; they were played with it.
    pub out_of_order_requests: u64,
    /// Requests without sectors, which were left out.
    pub empty_requests: u64,
    /// Requests that had to wait for a place in the queue.
    pub held_back_requests: u64,
    /// By submission queue: those of them that found it full; empty if none did.
    pub held_back_requests_by_queue: Vec<u64>,
    /// The simulated moment at the end, preconditioning included.
    pub finished_ns: u64,
}

impl ReplayDocument {
    /// The document of a replay.
    pub fn new(options: &replay::Options, limit: Option<u64>, report: &replay::Report) -> Self {
        let mapping = report.mapping;
        ReplayDocument {
            pacing: PacingDocument::new(options.pacing),
            address: options.mapping,
            skipped_phases: Vec::new(),
            requests_limit: limit,
            ended: report.ended,
            submitted_requests: report.submitted,
            completed_requests: report.completed,
            folded_requests: mapping.folded,
            clipped_requests: mapping.clipped,
            clipped_bytes: mapping.clipped_sectors * SECTOR_BYTES,
            torn_requests: mapping.torn,
            sharing: report.sharing,
            out_of_order_requests: report.out_of_order,
            empty_requests: report.empty,
            held_back_requests: report.held_back,
            held_back_requests_by_queue: report.held_back_by_queue.clone(),
            finished_ns: report.finished.0,
        }
    }
}

/// What decided when requests were submitted.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PacingDocument {
    /// The trace's times, or the workload's arrivals.
    Source {
        /// How much faster than they say.
        speed_ratio: f64,
        /// How many requests the device takes at once.
        queue_limit_requests: u32,
    },
    /// Completions.
    Closed {
        /// How many requests are kept outstanding.
        depth_requests: u32,
        /// From a completion to the request that replaces it.
        think_time_ns: u64,
    },
    /// Requests that overlap.
    Dependencies {
        /// How many requests are looked at together.
        depth_requests: u32,
    },
}

impl PacingDocument {
    fn new(pacing: replay::Pacing) -> PacingDocument {
        use replay::Pacing;
        match pacing {
            Pacing::Source { speed, queue_limit } => PacingDocument::Source {
                speed_ratio: f64::from(speed.ppm) / 1e6,
                queue_limit_requests: queue_limit,
            },
            Pacing::Closed { depth, think_time } => {
                PacingDocument::Closed { depth_requests: depth, think_time_ns: think_time.0 }
            }
            Pacing::Dependencies { depth } => {
                PacingDocument::Dependencies { depth_requests: depth }
            }
        }
    }
}

/// `run.json`: what differs from run to run.
#[derive(Debug, Serialize)]
pub struct RunDocument {
    /// BLAKE3 of all that the result depends on: the program, the device, the seed, and the content of everything
    /// that was read. A run of the same is not done again.
    pub inputs_blake3: String,
    /// The command as it was given.
    pub command_line: Vec<String>,
    /// Time on the clock.
    pub wall_s: f64,
    /// Processor time of the simulation.
    pub cpu_s: f64,
    /// Requests a second of processor time, preconditioning included.
    pub requests_per_cpu_s: f64,
}
