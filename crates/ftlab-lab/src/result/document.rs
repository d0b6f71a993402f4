//! The layout of `result.json` and `run.json`.

use std::collections::BTreeMap;

use ftlab::config::Config;
use ftlab::stats::{HostTranslationReport, Report};
use ftlab::units::SECTOR_BYTES;
use ftlab_workload::accesses::AccessReport;
use ftlab_workload::fio::JobFile;
use ftlab_workload::generate::Workload;
use ftlab_workload::replay::{self, Ended, PageSharing};
use serde::Serialize;
use serde_json::Value;

use super::StepDocument;
use crate::experiment::TimeSpent;
use crate::load::{TraceFacts, short_name};
use crate::power_cuts::PowerCutReport;

/// `result.json`: everything that depends only on device, load and seed.
#[derive(Debug, Serialize)]
pub struct ResultDocument {
    /// See [`ftlab::stats::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Whether the run was completed.
    pub complete: bool,
    /// The version of ftlab.
    pub ftlab_version: String,
    /// The measurements.
    pub report: Report,
    /// The device.
    pub device: DeviceDocument,
    /// The seed of all random decisions.
    pub seed: u64,
    /// The load.
    pub load: LoadDocument,
    /// How reads and writes of the measured requests share pages, by device address; only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessReport>,
    /// The recovery of copies of the device after power cuts; only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cuts: Option<PowerCutReport>,
    /// What the host's translation did; only if there was one (`host.translation`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_translation: Option<HostTranslationReport>,
    /// The preparation of the device, unmeasured.
    pub precondition: Vec<StepDocument>,
    /// How the load was played.
    pub replay: ReplayDocument,
    /// Assumptions that neither the input nor the options of the run determined.
    pub assumed: Vec<String>,
    /// Suspicious findings.
    pub warnings: Vec<String>,
}

impl ResultDocument {
    /// Returns when measuring began, since the device was switched on.
    #[must_use]
    pub fn measured_from_ns(&self) -> u64 {
        let measured = self.report.phases.iter().filter(|phase| phase.measured);
        measured.filter_map(|phase| phase.started_ns).min().unwrap_or(0)
    }
}

/// The device.
#[derive(Debug, Serialize)]
pub struct DeviceDocument {
    /// The name of the device.
    pub name: String,
    /// The bytes that the host can write.
    pub capacity_bytes: u64,
    /// BLAKE3 of the configuration's canonical text.
    pub config_blake3: String,
    /// The configuration in full.
    pub config: Value,
}

impl DeviceDocument {
    /// Creates the document of a device.
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

/// The load.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadDocument {
    /// A trace.
    Trace {
        /// The file name without folder and extensions.
        name: String,
        /// The format.
        format: &'static str,
        /// BLAKE3 of the records that were played; null if reading was cut off.
        digest_blake3: Option<String>,
        /// Requests read.
        requests: u64,
        /// Requests that came after a later one and were sorted into place.
        out_of_order_requests: u64,
        /// Malformed lines that were skipped.
        skipped_lines: u64,
    },
    /// A workload.
    Workload {
        /// The name of the workload.
        name: String,
        /// BLAKE3 of the description.
        digest_blake3: String,
        /// The source of the workload's figures.
        source: Option<String>,
        /// The description in full.
        workload: Value,
    },
    /// Requests that the caller gave: columns in memory, or an iterator.
    Requests {
        /// The name that the caller gave.
        name: String,
        /// BLAKE3 of the requests; null if an iterator was not played to its end.
        digest_blake3: Option<String>,
        /// Requests read.
        requests: u64,
    },
    /// A fio job file.
    Fio {
        /// The file name without folder and extensions.
        name: String,
        /// BLAKE3 of the text, without included files, and of the variables, if any.
        digest_blake3: String,
        /// The variables in the text and their values.
        variables: BTreeMap<String, String>,
        /// By stream: the job, with the number of the clone if it has several.
        jobs: Vec<String>,
        /// The text of the job file.
        text: String,
    },
}

impl LoadDocument {
    /// Creates the document of a trace named `file`.
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

    /// Creates the document of requests that the caller gave.
    pub(crate) fn requests(name: &str, digest: Option<String>, requests: u64) -> LoadDocument {
        LoadDocument::Requests { name: name.to_owned(), digest_blake3: digest, requests }
    }

    /// Describes the load briefly.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            LoadDocument::Trace { name, format, .. } => format!("trace {name} ({format})"),
            LoadDocument::Workload { name, .. } => format!("workload {name}"),
            LoadDocument::Requests { name, .. } => format!("requests {name}"),
            LoadDocument::Fio { name, .. } => format!("fio jobs {name}"),
        }
    }

    /// Creates the document of a workload.
    pub fn workload(workload: &Workload) -> LoadDocument {
        let value = serde_json::to_value(workload).expect("a workload is plain data");
        LoadDocument::Workload {
            name: workload.name.clone(),
            digest_blake3: blake3::hash(value.to_string().as_bytes()).to_hex().to_string(),
            source: workload.source.clone(),
            workload: value,
        }
    }

    /// Creates the document of a job file whose clones have these names.
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

/// How the load was played.
#[derive(Debug, Serialize)]
pub struct ReplayDocument {
    /// What decided when requests were submitted.
    pub pacing: PacingDocument,
    /// How addresses mapped to the device.
    pub address: replay::Mapping,
    /// The unmeasured phases at the beginning of a workload that were skipped because the device
    /// was already prepared; absent if none were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_phases: Vec<String>,
    /// The limit on requests.
    pub requests_limit: Option<u64>,
    /// Why the replay ended.
    pub ended: Ended,
    /// Requests submitted.
    pub submitted_requests: u64,
    /// Requests finished.
    pub completed_requests: u64,
    /// Requests beyond the end of the device that were folded.
    pub folded_requests: u64,
    /// Requests that were cut at the end of the device or of their slice.
    pub clipped_requests: u64,
    /// The bytes that were cut off.
    pub clipped_bytes: u64,
    /// Requests across MiB that are no longer neighbours.
    pub torn_requests: u64,
    /// How pages of a trace share pages of the device; absent if they cannot: if the load is not a
    /// trace, or its MiB were packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<PageSharing>,
    /// Requests earlier than their predecessor; they were played at its time.
    pub out_of_order_requests: u64,
    /// Requests without sectors, which were skipped.
    pub empty_requests: u64,
    /// Requests that had to wait for a place in the queue.
    pub held_back_requests: u64,
    /// By submission queue: the requests that found it full; empty if there were none.
    pub held_back_requests_by_queue: Vec<u64>,
    /// The simulated time at the end, including preconditioning.
    pub finished_ns: u64,
}

impl ReplayDocument {
    /// Creates the document of a replay.
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
        /// The speed, relative to those times.
        speed_ratio: f64,
        /// How many requests the device accepts at once.
        queue_limit_requests: u32,
    },
    /// Completions.
    Closed {
        /// How many requests are kept outstanding.
        depth_requests: u32,
        /// The time from a completion to the request that replaces it.
        think_time_ns: u64,
    },
    /// Dependencies between overlapping requests.
    Dependencies {
        /// How many requests are considered together.
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

/// `run.json`: everything that differs from run to run.
#[derive(Debug, Serialize)]
pub struct RunDocument {
    /// BLAKE3 of everything that the result depends on: the program, the device, the seed, and the
    /// content of all input files. A finished run with the same value is not repeated.
    pub inputs_blake3: String,
    /// The command line; empty if the run was not started by a command.
    pub command_line: Vec<String>,
    /// Wall-clock time.
    pub wall_s: f64,
    /// Processor time of the simulation.
    pub cpu_s: f64,
    /// Requests per second of processor time, including preconditioning.
    pub requests_per_cpu_s: f64,
}

impl RunDocument {
    /// Creates the document of a run that `command` started.
    #[must_use]
    pub fn new(
        inputs: String,
        command: &[String],
        spent: &TimeSpent,
        requests: u64,
    ) -> RunDocument {
        RunDocument {
            inputs_blake3: inputs,
            command_line: command.to_vec(),
            wall_s: spent.wall.as_secs_f64(),
            cpu_s: spent.cpu.as_secs_f64(),
            requests_per_cpu_s: requests as f64 / spent.cpu.as_secs_f64().max(1e-9),
        }
    }
}
