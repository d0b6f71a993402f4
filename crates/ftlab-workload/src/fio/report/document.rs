//! The document of `fio --output-format=json`, with fio's names, units and types.
//!
//! Source: the output of fio 3.33 for the jobs in `crates/ftlab-cli/tests/fio_json/`; a test
//! compares keys and types with it.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Ordered names and values: a JSON object whose keys are not identifiers.
#[derive(Clone, Debug, Default)]
pub struct Pairs<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for Pairs<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// The results of fio jobs, as `fio --output-format=json` of version 3.33 prints them.
#[derive(Clone, Debug, Serialize)]
pub struct FioDocument {
    /// `fio-3.33-ftlab`: the version of the keys.
    #[serde(rename = "fio version")]
    pub version: String,
    /// 0, because results do not depend on the calendar.
    pub timestamp: u64,
    /// 0.
    pub timestamp_ms: u64,
    /// The same as text.
    pub time: &'static str,
    /// The options of `[global]` that have a value; absent if there are none.
    #[serde(rename = "global options", skip_serializing_if = "Option::is_none")]
    pub global_options: Option<Pairs<String>>,
    /// The jobs, in the order of the file.
    pub jobs: Vec<FioEntry>,
    /// The device.
    pub disk_util: Vec<FioDisk>,
}

/// A clone of a job, or with `group_reporting` all clones that report together, combined as in fio.
#[derive(Clone, Debug, Serialize)]
pub struct FioEntry {
    /// Its name; with several jobs, that of the first.
    pub jobname: String,
    /// The number of the group, which increases at `stonewall` and `new_group`.
    pub groupid: u32,
    /// 5 (an input/output error) if the device refused requests, otherwise 0.
    pub error: u32,
    /// 0, because nothing is left to do.
    pub eta: u64,
    /// Seconds from the first request of all jobs to the end of the last.
    pub elapsed: u64,
    /// Its own options that have a value; with several jobs, those of the last.
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
    /// The run times of its clones in milliseconds, added up.
    pub job_runtime: u64,
    /// 0, because the simulated host has no processor.
    pub usr_cpu: f64,
    /// 0.
    pub sys_cpu: f64,
    /// 0.
    pub ctx: u64,
    /// 0.
    pub majf: u64,
    /// 0.
    pub minf: u64,
    /// The distribution of outstanding requests at each submission, in per cent: from this number
    /// to the next.
    pub iodepth_level: Pairs<f64>,
    /// The distribution of requests submitted at once. Submission takes no time here and is done
    /// one by one, so all requests are in `4`.
    pub iodepth_submit: Pairs<f64>,
    /// The distribution of completions handled at once; likewise.
    pub iodepth_complete: Pairs<f64>,
    /// The distribution of `clat_ns`, in per cent: below this many nanoseconds, and not below the
    /// previous entry.
    pub latency_ns: Pairs<f64>,
    /// In microseconds.
    pub latency_us: Pairs<f64>,
    /// In milliseconds.
    pub latency_ms: Pairs<f64>,
    /// `iodepth` as requested.
    pub latency_depth: u32,
    /// 0, because queue depths are not searched.
    pub latency_target: u64,
    /// 100, likewise.
    pub latency_percentile: f64,
    /// 0, likewise.
    pub latency_window: u64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct FioDirection {
    /// Bytes transferred.
    pub io_bytes: u64,
    /// The same in KiB.
    pub io_kbytes: u64,
    /// Bytes per second.
    pub bw_bytes: u64,
    /// KiB per second.
    pub bw: u64,
    /// Requests per second, from the exact duration.
    pub iops: f64,
    /// The duration of the longest clone in milliseconds, rounded up: from the arrival of its first
    /// request to the end of its last.
    pub runtime: u64,
    /// Completed requests.
    pub total_ios: u64,
    /// 0, because no request is cut short.
    pub short_ios: u64,
    /// 0.
    pub drop_ios: u64,
    /// The submission latency, which is 0; counted only for asynchronous engines.
    pub slat_ns: FioLatency,
    /// From arrival to completion.
    pub clat_ns: FioLatency,
    /// The same.
    pub lat_ns: FioLatency,
    /// The minimum of samples over half a second, in KiB per second. Samples of clones are added up
    /// as in fio: minimum to minimum, mean to mean.
    pub bw_min: u64,
    /// The maximum.
    pub bw_max: u64,
    /// The mean, in per cent of the rate of the group.
    pub bw_agg: f64,
    /// The mean.
    pub bw_mean: f64,
    /// The standard deviation.
    pub bw_dev: f64,
    /// The number of samples.
    pub bw_samples: u64,
    /// Requests per second in the same samples: the minimum.
    pub iops_min: u64,
    /// The maximum.
    pub iops_max: u64,
    /// The mean.
    pub iops_mean: f64,
    /// The standard deviation.
    pub iops_stddev: f64,
    /// The number of samples.
    pub iops_samples: u64,
}

/// Flushes of a job.
#[derive(Clone, Debug, Serialize)]
pub struct FioFlushes {
    /// Completed flushes.
    pub total_ios: u64,
    /// From arrival to completion.
    pub lat_ns: FioLatency,
}

/// A distribution of latencies in nanoseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FioLatency {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// The number of requests.
    #[serde(rename = "N")]
    pub count: u64,
    /// Percentiles: the middles of fio's histogram bins, which are a 64th of the power of two below
    /// them wide. Absent if nothing was counted, or if the job's options do not request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentile: Option<Pairs<u64>>,
}

/// The device, as used by all jobs together.
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
    /// The durations of all reads in milliseconds, added up.
    pub read_ticks: u64,
    /// The durations of all writes in milliseconds, added up.
    pub write_ticks: u64,
    /// The sum of both.
    pub in_queue: u64,
    /// The share of time with at least one outstanding request, in per cent.
    pub util: f64,
}

/// Rounds to the number of decimals that fio prints.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
