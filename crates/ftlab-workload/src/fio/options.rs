//! All options of fio job files, with their treatment in ftlab. The parser and the generated
//! reference both use this table.
//!
//! Source: fio 3.33, `fio --cmdhelp=all` and its manual. It includes options of I/O engines that
//! drive a block device; other engines are refused as a whole.

/// How ftlab treats an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It means the same as in fio, except for the remark.
    Honoured(&'static str),
    /// It is accepted but has no effect, for this reason.
    NoEffect(&'static str),
    /// It would change the load in a way that ftlab does not support.
    Refused {
        /// The reason.
        why: &'static str,
        /// What to write instead.
        remedy: &'static str,
    },
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct JobOption {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// Whether it may be written without a value, which means 1.
    pub bare: bool,
    /// How ftlab treats it.
    pub standing: Support,
}

impl JobOption {
    /// Returns all its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Returns the option named `name`.
#[must_use]
pub fn option(name: &str) -> Option<&'static JobOption> {
    OPTIONS.iter().find(|option| option.names().any(|known| known == name))
}

/// Whether a value switches off a refused option, so that it is harmless.
#[must_use]
pub fn is_off(value: &str) -> bool {
    matches!(value, "0" | "none" | "no")
}

const HOST: &str = "it concerns the machine that runs fio";
const REPORT: &str = "it concerns fio's reports";
const ALWAYS: &str = "fio.json always has it";
const FILES: &str = "it concerns files of a file system; the device has none";
const DATA: &str = "requests carry no data";
const RESULT: &str = "it concerns fio's own log files; a result folder has timeline and requests";
const ZBD: &str = "a zone is reset when it is written again";

macro_rules! options {
    ($($name:literal $(| $alias:literal)* $([$bare:ident])? : $standing:expr;)+) => {
        &[$(JobOption {
            name: $name,
            aliases: &[$($alias),*],
            bare: options!(@bare $($bare)?),
            standing: $standing,
        }),+]
    };
    (@bare bare) => { true };
    (@bare) => { false };
}

use Support::{Honoured, NoEffect};

const fn refused(why: &'static str, remedy: &'static str) -> Support {
    Support::Refused { why, remedy }
}

const LEAVE: &str = "leave it out";
const VERIFY: Support = refused("requests carry no data that could be verified", LEAVE);
const STEADY: Support = refused(
    "a run does not end at a steady state",
    "give runtime or size; results say whether the run was steady",
);
const REPLAY: Support = refused(
    "job files do not replay traces here",
    "replay the trace itself (`trace`): fio's logs and ten other formats are read",
);
const TARGET: Support =
    refused("queue depths are not searched", "run each depth: iodepth=1, 2, 4 ...");
const LIMIT: Support = refused(
    "a job does not end because it is slow",
    "leave it out, and read the rate from the result",
);

/// All options: descriptions first, then operations, places, amounts and timing; last the machine,
/// reports and data.
pub const OPTIONS: &[JobOption] = options![
    "name": Honoured("the job's name in results");
    "description": NoEffect("a remark");
    "filename": Honoured("names under /dev/ are the device itself; every other name is a separate file on it, shared by all jobs that name it. Several names are separated by colons");
    "filename_format": refused("jobs share files by `filename` only", "write filename=NAME");
    "nrfiles" | "nr_files": Honoured("that many files of size / nrfiles each");
    "file_service_type": Honoured("roundrobin, sequential and random, with the number of requests after a colon");
    "filesize": Honoured("one size; a range of sizes is refused");
    "size": Honoured("per cent of `filesize`, or of the device where `filename` is the device. With zonemode=zbd, `2z` is two zones, here and in io_size, offset, offset_increment and zoneskip");
    "io_size" | "io_limit": Honoured("in bytes, or per cent of `size`");
    "fill_device" | "fill_fs": Honoured("the whole device: `filename` must be the device");
    "offset" | "fileoffset": Honoured("in bytes, or per cent of the file or device");
    "offset_increment": Honoured("for each clone of `numjobs`");
    "offset_align": Honoured("for offsets in per cent");
    "number_ios": Honoured("");
    "loops": Honoured("");
    "numjobs": Honoured("clones without `filename` have files of their own");

    "rw" | "readwrite": Honoured("all kinds, with `:N`");
    "rw_sequencer": Honoured("");
    "rwmixread": Honoured("the later of rwmixread and rwmixwrite counts");
    "rwmixwrite": Honoured("see rwmixread");
    "bs" | "blocksize": Honoured("whole sectors of 512 bytes; for different sizes see above");
    "bsrange" | "blocksize_range": Honoured("multiples of the smaller one");
    "bssplit": Honoured("whole per cent");
    "bs_unaligned" | "blocksize_unaligned" [bare]: refused("a device takes whole sectors", "leave it out: sizes are multiples of the smallest");
    "bs_is_seq_rand": refused("sizes belong to reads, writes and trims here", "write a job for each");
    "ba" | "blockalign": Honoured("turns off the random map, as in fio");
    "percentage_random": Honoured("");
    "random_distribution": Honoured("random, zipf, pareto, normal, zoned and zoned_abs. All directions have the same hot places, spread as in fio; their position follows the seed, unless a centre is given. A normal distribution is never narrower than a twelfth of the file, as in fio");
    "norandommap" [bare]: Honoured("");
    "softrandommap": NoEffect("the map always finds memory");
    "random_generator": Honoured("lfsr is a permutation; tausworthe and tausworthe64 are the same here, and their sequences differ from fio's");
    "randrepeat": NoEffect("random numbers follow the seed of the run; with a random map every pass has the same order, as in fio");
    "allrandrepeat": NoEffect("see randrepeat");
    "randseed": Honoured("the job's random numbers follow it instead of the seed of the run");

    "iodepth": Honoured("synchronous engines keep one request outstanding");
    "iodepth_low": Honoured("");
    "iodepth_batch" | "iodepth_batch_submit": NoEffect("submission takes no time, and a full queue is submitted at once in fio too");
    "iodepth_batch_complete_min" | "iodepth_batch_complete": Honoured("a full queue is refilled only after that many completions");
    "iodepth_batch_complete_max": NoEffect("handling completions takes no time");
    "io_submit_mode": NoEffect("submission takes no time");
    "serialize_overlap": refused("requests of a job are not held back for each other", "leave it out; `replay` asap does it for traces");
    "ioengine": Honoured("decides whether `iodepth` counts; engines that do not drive a block device are refused");

    "runtime" | "timeout": Honoured("simulated time");
    "time_based" [bare]: Honoured("");
    "ramp_time": Honoured("counted from the start of the group, and equal for all jobs of a group, because the device's work is not separated by jobs");
    "startdelay" | "start_delay": Honoured("a range gives a random delay");
    "rate": Honoured("for each direction; lost time is made up for");
    "rate_iops": Honoured("with different sizes, in units of the smallest size, as in fio");
    "rate_process": Honoured("linear and poisson");
    "rate_ignore_thinktime": refused("time lost to thinking is made up for", "leave out thinktime or the rate");
    "rate_min" | "ratemin": LIMIT;
    "rate_iops_min": LIMIT;
    "rate_cycle" | "ratecycle": NoEffect("it belongs to rate_min");
    "thinktime": Honoured("after all requests of the job are done");
    "thinktime_blocks": Honoured("");
    "thinktime_blocks_type": Honoured("");
    "thinktime_iotime": Honoured("");
    "thinktime_spin": NoEffect("the device waits equally long whether the processor sleeps or spins");

    "fsync": Honoured("a flush for which the job waits");
    "fdatasync": Honoured("like fsync");
    "sync": Honoured("a flush after every write");
    "end_fsync": Honoured("");
    "fsync_on_close": Honoured("like end_fsync: files stay open until the job ends");
    "sync_file_range": refused("the device knows no ranges of a page cache", "use fdatasync=N");
    "write_barrier": refused("the device knows no barriers", "use fsync=N");

    "stonewall" | "wait_for_previous" [bare]: Honoured("");
    "new_group" [bare]: Honoured("for the report in fio.json; no job waits");
    "wait_for": refused("jobs only wait for groups", "order the jobs and use stonewall");
    "exitall" [bare]: Honoured("for the group of the job");
    "exit_what": refused("exitall ends the group", LEAVE);
    "exitall_on_error" [bare]: NoEffect("requests do not fail");
    "group_reporting" [bare]: Honoured("in fio.json; in other results jobs are separate if each has a queue (host.queues=N)");
    "thread" [bare]: NoEffect(HOST);

    "zonemode": Honoured("none, strided and zbd. With zbd on a device without zones they are only kept in mind, as in fio");
    "zonesize": Honoured("with zonemode=strided or zbd; with zbd on a device with zones it may be left out, and must be theirs");
    "zonerange": Honoured("with zonemode=strided");
    "zoneskip": Honoured("with zonemode=strided; with zbd in sequential jobs, a whole number of zones");
    "zonecapacity": Honoured("with zonemode=zbd on a device without zones");
    "read_beyond_wp": Honoured("with zonemode=zbd");
    "max_open_zones": Honoured("with zonemode=zbd: the limit of all jobs together; without it, that of the device");
    "job_max_open_zones": Honoured("with zonemode=zbd: the limit of each clone");
    "ignore_zone_limits": NoEffect("the limits of a device are its own");
    "zone_reset_threshold": NoEffect(ZBD);
    "zone_reset_frequency": NoEffect(ZBD);

    "fdp": Honoured("the writes of the job carry placement identifiers, those of other jobs carry 0 (`ftl.streams.policy` = fdp). Other drives take no notice");
    "fdp_pli" | "plids": Honoured("a list, perhaps with ranges; left out, all identifiers of the drive");
    "fdp_pli_select" | "plid_select": Honoured("roundrobin, random and scheme");
    "dataplacement": Honoured("none and fdp");
    "dp_scheme": Honoured("lines of start,end,identifier; read with fdp_pli_select=scheme");

    "direct": NoEffect("there is no page cache: every request goes to the device");
    "buffered": NoEffect("see direct");
    "atomic": NoEffect("see direct");
    "invalidate": NoEffect("see direct");
    "fadvise_hint": NoEffect("see direct");
    "overwrite": Honoured("files are written once before the first group, as they are for jobs that read");
    "pre_read": refused("there is no page cache to read into", LEAVE);
    "create_only": refused("jobs always run", "`precondition` fill writes the device");
    "file_append": refused("files have a fixed size", "use offset");
    "opendir": refused("there is no file system to look into", "write filename=A:B");
    "write_hint": refused("requests carry no lifetime hints", LEAVE);

    "trim_percentage": refused("it is part of verification", "use rw=randtrim, or rw=trimwrite");
    "trim_verify_zero": VERIFY;
    "trim_backlog": VERIFY;
    "trim_backlog_batch": VERIFY;
    "verify": VERIFY;
    "do_verify": NoEffect("without `verify` it has no meaning");
    "verify_only" [bare]: VERIFY;
    "verify_interval": NoEffect("without `verify` it has no meaning");
    "verify_offset": NoEffect("without `verify` it has no meaning");
    "verify_pattern": NoEffect("without `verify` it has no meaning");
    "verify_fatal": NoEffect("without `verify` it has no meaning");
    "verify_dump": NoEffect("without `verify` it has no meaning");
    "verify_async": NoEffect("without `verify` it has no meaning");
    "verify_backlog": NoEffect("without `verify` it has no meaning");
    "verify_backlog_batch": NoEffect("without `verify` it has no meaning");
    "verify_state_load": NoEffect("without `verify` it has no meaning");
    "verify_state_save": NoEffect("without `verify` it has no meaning");
    "experimental_verify": NoEffect("without `verify` it has no meaning");

    "read_iolog": REPLAY;
    "read_iolog_chunked": NoEffect("without `read_iolog` it has no meaning");
    "replay_no_stall": NoEffect("without `read_iolog` it has no meaning");
    "replay_redirect": NoEffect("without `read_iolog` it has no meaning");
    "replay_scale": NoEffect("without `read_iolog` it has no meaning");
    "replay_align": NoEffect("without `read_iolog` it has no meaning");
    "replay_time_scale": NoEffect("without `read_iolog` it has no meaning");
    "replay_skip": NoEffect("without `read_iolog` it has no meaning");
    "merge_blktrace_file": NoEffect("without `read_iolog` it has no meaning");
    "merge_blktrace_scalars": NoEffect("without `read_iolog` it has no meaning");
    "merge_blktrace_iters": NoEffect("without `read_iolog` it has no meaning");
    "write_iolog": NoEffect("`records` keeps every request: requests.parquet in the result folder");

    "flow": refused("jobs are not balanced against each other", "use rate or rate_iops");
    "flow_id": NoEffect("without `flow` it has no meaning");
    "flow_sleep": NoEffect("without `flow` it has no meaning");
    "latency_target": TARGET;
    "latency_window": NoEffect("without `latency_target` it has no meaning");
    "latency_percentile": NoEffect("without `latency_target` it has no meaning");
    "latency_run": NoEffect("without `latency_target` it has no meaning");
    "max_latency": LIMIT;
    "steadystate" | "ss": STEADY;
    "steadystate_duration" | "ss_dur": NoEffect("without `steadystate` it has no meaning");
    "steadystate_ramp_time" | "ss_ramp": NoEffect("without `steadystate` it has no meaning");
    "profile": refused("there are no profiles", "write the options");
    "cmdprio_percentage": refused("requests have no priorities", LEAVE);
    "cmdprio_bssplit": refused("requests have no priorities", LEAVE);
    "cmdprio": NoEffect("without `cmdprio_percentage` it has no meaning");
    "cmdprio_class": NoEffect("without `cmdprio_percentage` it has no meaning");
    "cmd_type": NoEffect(HOST);
    "readfua": refused("reads always return current data", LEAVE);
    "writefua": Honoured("each write completes only when it is on flash");
    "sg_write_mode": refused("writes are plain writes", LEAVE);
    "stream_id": refused("a job is a stream", LEAVE);

    "lockfile": NoEffect(FILES);
    "directory": NoEffect(FILES);
    "unique_filename": NoEffect(FILES);
    "openfiles": NoEffect(FILES);
    "fallocate": NoEffect(FILES);
    "create_serialize": NoEffect(FILES);
    "create_fsync": NoEffect(FILES);
    "create_on_open": NoEffect(FILES);
    "allow_file_create": NoEffect(FILES);
    "allow_mounted_write": NoEffect(FILES);
    "unlink": NoEffect("it happens after the job");
    "unlink_each_loop": refused("files are not deleted", LEAVE);

    "kb_base": Honoured("1024 or 1000");
    "unit_base": NoEffect(REPORT);
    "ignore_error": NoEffect("requests do not fail");
    "continue_on_error": NoEffect("requests do not fail");
    "error_dump": NoEffect("requests do not fail");
    "clocksource": NoEffect(HOST);
    "mem" | "iomem": NoEffect(HOST);
    "iomem_align" | "mem_align": NoEffect(HOST);
    "hugepage-size": NoEffect(HOST);
    "exec_prerun": NoEffect(HOST);
    "exec_postrun": NoEffect(HOST);
    "ioscheduler": NoEffect("there is no block layer");
    "lockmem": NoEffect(HOST);
    "nice": NoEffect(HOST);
    "prio": NoEffect(HOST);
    "prioclass": NoEffect(HOST);
    "cpumask": NoEffect(HOST);
    "cpus_allowed": NoEffect(HOST);
    "cpus_allowed_policy": NoEffect(HOST);
    "numa_cpu_nodes": NoEffect(HOST);
    "numa_mem_policy": NoEffect(HOST);
    "gtod_reduce": NoEffect(HOST);
    "gtod_cpu": NoEffect(HOST);
    "cgroup": NoEffect(HOST);
    "cgroup_nodelete": NoEffect(HOST);
    "cgroup_weight": NoEffect(HOST);
    "uid": NoEffect(HOST);
    "gid": NoEffect(HOST);
    "userspace_reap" [bare]: NoEffect(HOST);
    "hipri" [bare]: NoEffect(HOST);
    "hipri_percentage": NoEffect(HOST);
    "fixedbufs" [bare]: NoEffect(HOST);
    "registerfiles" [bare]: NoEffect(HOST);
    "sqthread_poll" [bare]: NoEffect(HOST);
    "sqthread_poll_cpu": NoEffect(HOST);
    "nonvectored": NoEffect(HOST);
    "uncached": NoEffect(HOST);
    "nowait": NoEffect(HOST);
    "force_async": NoEffect(HOST);

    "per_job_logs": NoEffect(RESULT);
    "write_bw_log" [bare]: NoEffect(RESULT);
    "write_lat_log" [bare]: NoEffect(RESULT);
    "write_iops_log" [bare]: NoEffect(RESULT);
    "write_hist_log" [bare]: NoEffect(RESULT);
    "bwavgtime": NoEffect("samples in fio.json are over 500 ms, fio's default");
    "iopsavgtime": NoEffect("samples in fio.json are over 500 ms, fio's default");
    "log_entries": NoEffect(RESULT);
    "log_avg_msec": NoEffect(RESULT);
    "log_hist_msec": NoEffect(RESULT);
    "log_hist_coarseness": NoEffect(RESULT);
    "log_max_value": NoEffect(RESULT);
    "log_offset": NoEffect(RESULT);
    "log_prio": NoEffect(RESULT);
    "log_compression": NoEffect(RESULT);
    "log_compression_cpus": NoEffect(RESULT);
    "log_store_compressed": NoEffect(RESULT);
    "log_unix_epoch": NoEffect(RESULT);
    "log_alternate_epoch": NoEffect(RESULT);
    "log_alternate_epoch_clock_id": NoEffect(RESULT);
    "block_error_percentiles": NoEffect(REPORT);
    "stats": NoEffect(REPORT);
    "clat_percentiles": Honoured("in fio.json");
    "lat_percentiles": Honoured("in fio.json");
    "slat_percentiles": Honoured("in fio.json");
    "percentile_list": Honoured("in fio.json");
    "significant_figures": NoEffect(REPORT);
    "disk_util": NoEffect(ALWAYS);
    "disable_lat": NoEffect(ALWAYS);
    "disable_clat": NoEffect(ALWAYS);
    "disable_slat": NoEffect(ALWAYS);
    "disable_bw_measurement" | "disable_bw": NoEffect(ALWAYS);
    "unified_rw_reporting": NoEffect("fio.json has reads, writes and trims separately");

    "zero_buffers" [bare]: NoEffect(DATA);
    "refill_buffers" [bare]: NoEffect(DATA);
    "scramble_buffers": NoEffect(DATA);
    "buffer_pattern": NoEffect(DATA);
    "buffer_compress_percentage": NoEffect(DATA);
    "buffer_compress_chunk": NoEffect(DATA);
    "dedupe_percentage": NoEffect(DATA);
    "dedupe_mode": NoEffect(DATA);
    "dedupe_working_set_percentage": NoEffect(DATA);
    "dedupe_global": NoEffect(DATA);
];

/// Engines that wait for each request before they submit the next.
pub(super) const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that keep `iodepth` requests outstanding.
pub(super) const ASYNCHRONOUS: [&str; 8] =
    ["libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "null"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let names: Vec<&str> = OPTIONS.iter().flat_map(JobOption::names).collect();
        let apart: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(apart.len(), names.len());
    }
}
