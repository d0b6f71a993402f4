//! The document that `fio --output-format=json` prints, with fio's names, units and types.
//!
//! Source: what fio 3.33 printed for the jobs in `crates/ftlab-cli/tests/fio_json/`; a test
//! compares its keys and types with these.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Names and values in their order: a JSON object whose keys are no identifiers.
#[derive(Clone, Debug, Default)]
pub struct Pairs<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for Pairs<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// What the jobs of a fio job file came to, as `fio --output-format=json` of version 3.33 tells it.
#[derive(Clone, Debug, Serialize)]
pub struct FioDocument {
    /// `fio-3.33-ftlab`: the version whose keys these are.
    #[serde(rename = "fio version")]
    pub version: String,
    /// 0: results do not depend on the calendar.
    pub timestamp: u64,
    /// 0.
    pub timestamp_ms: u64,
    /// The same in words.
    pub time: &'static str,
    /// The options of `[global]`, those without a value left out; not there if there are none.
    #[serde(rename = "global options", skip_serializing_if = "Option::is_none")]
    pub global_options: Option<Pairs<String>>,
    /// The jobs, in the order of the file.
    pub jobs: Vec<FioEntry>,
    /// The device.
    pub disk_util: Vec<FioDisk>,
}

/// A clone of a job, or with `group_reporting` all that report together, as fio puts them together.
#[derive(Clone, Debug, Serialize)]
pub struct FioEntry {
    /// Its name; of several, that of the first.
    pub jobname: String,
    /// The number of the group: it grows at `stonewall` and `new_group`.
    pub groupid: u32,
    /// 5, an error of input or output, if the device refused requests; otherwise 0.
    pub error: u32,
    /// 0: nothing is left to do.
    pub eta: u64,
    /// Seconds from the first request of all jobs to the end of the last one.
    pub elapsed: u64,
    /// Its own options, those without a value left out; of several jobs, those of the last.
    #[serde(rename = "job options")]
    pub job_options: Pairs<String>,
    /// Reads.
    pub read: FioDirection,
    /// Writes.
    pub write: FioDirection,
    /// Trims.
    pub trim: FioDirection,
    /// Flushes.
    pub sync: FioFlushes,
    /// Milliseconds that its clones ran, all added up.
    pub job_runtime: u64,
    /// 0: the simulated host has no processor.
    pub usr_cpu: f64,
    /// 0.
    pub sys_cpu: f64,
    /// 0.
    pub ctx: u64,
    /// 0.
    pub majf: u64,
    /// 0.
    pub minf: u64,
    /// How many requests its clone had outstanding with each that it submitted: from so many to the next, in
    /// per cent of them.
    pub iodepth_level: Pairs<f64>,
    /// How many were submitted at once. Submitting takes no time here and is done one by one: all of them
    /// are in `4`.
    pub iodepth_submit: Pairs<f64>,
    /// How many completions were taken note of at once; likewise.
    pub iodepth_complete: Pairs<f64>,
    /// Requests by `clat_ns`, in per cent: below so many nanoseconds, and not below the one before.
    pub latency_ns: Pairs<f64>,
    /// In microseconds.
    pub latency_us: Pairs<f64>,
    /// In milliseconds.
    pub latency_ms: Pairs<f64>,
    /// `iodepth`, as it was asked for.
    pub latency_depth: u32,
    /// 0: no queue depth is searched for.
    pub latency_target: u64,
    /// 100, likewise.
    pub latency_percentile: f64,
    /// 0, likewise.
    pub latency_window: u64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct FioDirection {
    /// Bytes moved.
    pub io_bytes: u64,
    /// The same in KiB.
    pub io_kbytes: u64,
    /// Bytes a second.
    pub bw_bytes: u64,
    /// KiB a second.
    pub bw: u64,
    /// Requests a second, by the exact duration.
    pub iops: f64,
    /// Milliseconds, rounded up, of the clone that ran longest: from the arrival of its first request to the
    /// end of its last.
    pub runtime: u64,
    /// Requests done.
    pub total_ios: u64,
    /// 0: no request is cut short.
    pub short_ios: u64,
    /// 0.
    pub drop_ios: u64,
    /// Submission, which takes no time; counted where the engine goes on after it.
    pub slat_ns: FioLatency,
    /// From arrival to completion.
    pub clat_ns: FioLatency,
    /// The same.
    pub lat_ns: FioLatency,
    /// The lowest of samples over half a second, in KiB a second. Samples of clones are added up as fio adds
    /// them: smallest to smallest, mean to mean.
    pub bw_min: u64,
    /// The highest.
    pub bw_max: u64,
    /// The mean in per cent of what the group moved a second.
    pub bw_agg: f64,
    /// The mean.
    pub bw_mean: f64,
    /// The standard deviation.
    pub bw_dev: f64,
    /// How many samples.
    pub bw_samples: u64,
    /// Requests a second in the same samples: the lowest.
    pub iops_min: u64,
    /// The highest.
    pub iops_max: u64,
    /// The mean.
    pub iops_mean: f64,
    /// The standard deviation.
    pub iops_stddev: f64,
    /// How many.
    pub iops_samples: u64,
}

/// Flushes of a job.
#[derive(Clone, Debug, Serialize)]
pub struct FioFlushes {
    /// How many were done.
    pub total_ios: u64,
    /// From arrival to completion.
    pub lat_ns: FioLatency,
}

/// A distribution of latencies in nanoseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FioLatency {
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// How many.
    #[serde(rename = "N")]
    pub count: u64,
    /// The middles of the bins of fio's histogram, which are a 64th of the power of two below them wide. Not
    /// there if nothing was counted, or if the job's options do not ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentile: Option<Pairs<u64>>,
}

/// The device, as all jobs together used it.
#[derive(Clone, Debug, Serialize)]
pub struct FioDisk {
    /// Its name.
    pub name: String,
    /// Reads.
    pub read_ios: u64,
    /// Writes.
    pub write_ios: u64,
    /// 0.
    pub read_merges: u64,
    /// 0.
    pub write_merges: u64,
    /// Milliseconds of all reads, added up.
    pub read_ticks: u64,
    /// Milliseconds of all writes, added up.
    pub write_ticks: u64,
    /// Both.
    pub in_queue: u64,
    /// For how much of the time at least one request was outstanding, in per cent.
    pub util: f64,
}

/// As many decimals as fio prints.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
