//! The meaning of each honoured option: converts its value to a part of the job.

use ftlab::options::text::{clip, nearest};
use ftlab::units::{Nanos, SECTOR_BYTES};

use super::super::distribution;
use super::super::job::{Job, Mix, Service, Sizes, ZoneMode};
use super::super::options::{ASYNCHRONOUS, SYNCHRONOUS};
use super::super::placement::{Select, identifiers};
use super::super::values::{
    Amount, Bad, NumberBase, amount, bad, count, each, each_text, number, per_cent, range, request,
    sectors, switch, time, zones,
};
use super::Draft;

const SECOND: Nanos = Nanos(1_000_000_000);
const MICROSECOND: Nanos = Nanos(1_000);
const MAX_CLONES: u64 = 4096;
const MAX_DEPTH: u64 = 1 << 20;
const MAX_FILES: u64 = 4096;
/// The most sizes of `bssplit` per direction, as in fio.
const MAX_SPLIT: usize = 64;
/// The most entries of `percentile_list`, as in fio.
const MAX_PERCENTILES: usize = 20;

impl Draft {
    /// Parses options on files and amounts.
    pub(super) fn target(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let amounts = &mut self.job.amounts;
        let target = &mut self.job.target;
        match name {
            "filename" => target.names = Some(names(value)?),
            "nrfiles" => target.files = narrow(count(value, base, 1, MAX_FILES)?),
            "file_service_type" => target.service = service(value, base)?,
            "overwrite" => target.overwrite = switch(value)?,
            "fill_device" => target.fill_device = switch(value)?,
            "filesize" if value.contains(['-', ':']) => {
                return bad("ranges of file sizes are not supported", "give one size");
            }
            "filesize" => {
                let size = number(value, base)? / SECTOR_BYTES;
                amounts.file_size = Some(size).filter(|size| *size > 0);
            }
            "size" => amounts.size = nonzero(amount(value, base, 100)?),
            "io_size" => amounts.io_size = nonzero(amount(value, base, 100_000)?),
            "offset" => amounts.offset = place(value, base)?,
            "offset_increment" => amounts.offset_increment = place(value, base)?,
            "offset_align" => amounts.offset_align = sectors(value, base)?.max(1),
            "number_ios" => amounts.requests = Some(number(value, base)?).filter(|n| *n > 0),
            "loops" => amounts.loops = count(value, base, 1, u64::from(u32::MAX))?,
            "numjobs" => self.job.clones = narrow(count(value, base, 1, MAX_CLONES)?),
            "zonemode" => {
                self.zoned = match value {
                    "none" => ZoneMode::None,
                    "strided" => ZoneMode::Strided,
                    "zbd" => ZoneMode::Zbd,
                    _ => return unknown(value, &["none", "strided", "zbd"]),
                }
            }
            "zonesize" => self.zone[0] = sectors(value, base)?,
            "zonerange" => self.zone[1] = sectors(value, base)?,
            "zoneskip" => self.zone_skip = place(value, base)?,
            "zonecapacity" => self.zbd.capacity = given(sectors(value, base)?),
            "max_open_zones" => self.zbd.max_open = open_zones(value, base)?,
            "job_max_open_zones" => self.zbd.job_max_open = open_zones(value, base)?,
            "fdp" => self.places = switch(value)?,
            "dataplacement" => {
                self.places = match value {
                    "none" => false,
                    "fdp" => true,
                    "streams" => return bad("a job is a stream already", "leave it out"),
                    _ => return unknown(value, &["none", "fdp"]),
                }
            }
            "fdp_pli" => self.hints.identifiers = identifiers(value, base)?,
            "fdp_pli_select" => {
                self.hints.select = match value {
                    "roundrobin" => Select::RoundRobin,
                    "random" => Select::Random,
                    "scheme" => Select::Scheme(Vec::new()),
                    _ => return unknown(value, &["roundrobin", "random", "scheme"]),
                }
            }
            // It is read when all options are known.
            "dp_scheme" => {}
            "read_beyond_wp" => self.zbd.read_beyond = switch(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses options on the pattern of requests.
    pub(super) fn pattern(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let job = &mut self.job;
        match name {
            "rw" => self.direction(value)?,
            "rw_sequencer" => {
                self.identical = match value {
                    "sequential" => false,
                    "identical" => true,
                    _ => return unknown(value, &["sequential", "identical"]),
                }
            }
            "rwmixread" => self.read_share = Some(per_cent(value, 100)?),
            "rwmixwrite" => self.read_share = Some(Job::ALL - per_cent(value, 100)?),
            "bs" => {
                // An omitted part means the default of 4 KiB, whatever was given before.
                let default = u32::try_from(4096 / SECTOR_BYTES).expect("eight");
                let sizes = each(value, [default; 3], |text| request(text, base))?;
                job.sizes = sizes.map(Sizes::Fixed);
            }
            "bsrange" => {
                for (slot, text) in job.sizes.iter_mut().zip(each_text(value)?) {
                    if let Some(text) = text {
                        let (low, high) = range(text, |text| request(text, base))?;
                        *slot =
                            if low == high { Sizes::Fixed(low) } else { Sizes::Range(low, high) };
                    }
                }
            }
            "bssplit" => {
                for (slot, text) in job.sizes.iter_mut().zip(each_text(value)?) {
                    if let Some(text) = text {
                        *slot = Sizes::Split(split(text, base)?);
                    }
                }
            }
            "ba" => {
                let had = [None; 3];
                job.align = each(value, had, |text| request(text, base).map(Some))?;
            }
            "percentage_random" => {
                job.random_share = each(value, [Job::ALL; 3], |text| per_cent(text, 100))?;
            }
            "random_distribution" => {
                for (slot, text) in job.distribution.iter_mut().zip(distribution::parts(value)) {
                    *slot = distribution::parse(&text, base)?;
                }
            }
            "norandommap" => self.map = !switch(value)?,
            "random_generator" => {
                self.lfsr = match value {
                    "lfsr" => true,
                    "tausworthe" | "tausworthe64" => false,
                    _ => return unknown(value, &["tausworthe", "lfsr", "tausworthe64"]),
                }
            }
            "randseed" => job.seed = Some(number(value, base)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn direction(&mut self, value: &str) -> Result<(), Bad> {
        let (kind, modifier) = match value.split_once(':') {
            Some((kind, modifier)) => (kind, Some(modifier)),
            None => (value, None),
        };
        let (mix, mixed, random) = match kind {
            "read" => (Mix::Read, false, false),
            "write" => (Mix::Write, false, false),
            "trim" => (Mix::Trim, false, false),
            "randread" => (Mix::Read, false, true),
            "randwrite" => (Mix::Write, false, true),
            "randtrim" => (Mix::Trim, false, true),
            "rw" | "readwrite" => (Mix::Mixed(0), true, false),
            "randrw" => (Mix::Mixed(0), true, true),
            "trimwrite" => (Mix::TrimWrite, false, false),
            "randtrimwrite" => (Mix::TrimWrite, false, true),
            _ => {
                let known = [
                    "read",
                    "write",
                    "trim",
                    "randread",
                    "randwrite",
                    "randtrim",
                    "rw",
                    "readwrite",
                    "randrw",
                    "trimwrite",
                    "randtrimwrite",
                ];
                return unknown(kind, &known);
            }
        };
        (self.job.mix, self.mixed, self.job.random) = (mix, mixed, random);
        self.modifier = match modifier {
            Some(text) if random => Some(count(text, self.base, 1, u64::from(u32::MAX))?),
            Some(text) => Some(sectors(text, self.base)?),
            None => None,
        };
        Ok(())
    }

    /// Parses options on rate, depth and time.
    pub(super) fn pace(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let base = self.base;
        let job = &mut self.job;
        match name {
            "ioengine" => (self.synchronous, self.idle) = (engine(value)?, value == "null"),
            "iodepth" => self.depth = narrow(count(value, base, 1, MAX_DEPTH)?),
            "iodepth_low" => self.low = Some(narrow(count(value, base, 0, MAX_DEPTH)?)),
            "iodepth_batch_complete_min" => {
                self.complete_min = narrow(count(value, base, 0, MAX_DEPTH)?.max(1));
            }
            "runtime" => job.time.runtime = Some(time(value, SECOND)?).filter(|t| t.0 > 0),
            "time_based" => job.time.time_based = switch(value)?,
            "ramp_time" => job.time.ramp = time(value, SECOND)?,
            "startdelay" => job.time.delay = range(value, |text| time(text, SECOND))?,
            "rate" => {
                job.pace.rate = each(value, [None; 3], |text| number(text, base).map(Some))?;
            }
            "rate_iops" => {
                self.rate_iops = each(value, [None; 3], |text| number(text, base).map(Some))?;
            }
            "rate_process" => {
                job.pace.poisson = match value {
                    "linear" => false,
                    "poisson" => true,
                    _ => return unknown(value, &["linear", "poisson"]),
                }
            }
            "thinktime" => self.think = Some(time(value, MICROSECOND)?).filter(|t| t.0 > 0),
            "thinktime_blocks" => {
                self.think_blocks = Some(count(value, base, 1, u64::from(u32::MAX))?);
            }
            "thinktime_blocks_type" => {
                self.think_at_issue = match value {
                    "complete" => false,
                    "issue" => true,
                    _ => return unknown(value, &["complete", "issue"]),
                }
            }
            "thinktime_iotime" => {
                self.think_io_time = Some(time(value, SECOND)?).filter(|t| t.0 > 0);
            }
            "fsync" => job.flush.every_writes[0] = number(value, base)?,
            "fdatasync" => job.flush.every_writes[1] = number(value, base)?,
            "sync" => {
                job.flush.each_write = match value {
                    "0" | "none" => false,
                    "1" | "sync" | "dsync" => true,
                    _ => return unknown(value, &["none", "sync", "dsync"]),
                }
            }
            "writefua" => job.flush.force_writes = switch(value)?,
            "end_fsync" | "fsync_on_close" => job.flush.at_end |= switch(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Draft {
    /// Parses options on the report.
    pub(super) fn report(&mut self, name: &str, value: &str) -> Result<bool, Bad> {
        let report = &mut self.job.report;
        match name {
            "group_reporting" => report.grouped = switch(value)?,
            "new_group" => report.begins_group = switch(value)?,
            "slat_percentiles" => report.slat = switch(value)?,
            "clat_percentiles" => report.clat = switch(value)?,
            "lat_percentiles" => report.lat = switch(value)?,
            "percentile_list" => report.percentiles = percentiles(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Parses numbers separated by colons and sorts them, as fio does.
fn percentiles(value: &str) -> Result<Vec<f64>, Bad> {
    let read = |text: &str| text.trim().parse::<f64>().ok().filter(|x| *x > 0.0 && *x <= 100.0);
    let list: Option<Vec<f64>> = value.split(':').map(read).collect();
    match list.filter(|list| list.len() <= MAX_PERCENTILES) {
        Some(mut list) => {
            list.sort_by(f64::total_cmp);
            list.dedup();
            Ok(list)
        }
        None => bad(
            format!("not up to {MAX_PERCENTILES} numbers above 0 and up to 100"),
            "write a list such as 50:99:99.9",
        ),
    }
}

fn unknown<T>(value: &str, known: &[&str]) -> Result<T, Bad> {
    let near = nearest(value, known.iter().copied())
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    bad(format!("unknown value `{}`", clip(value)), format!("{near}known: {}", known.join(", ")))
}

fn engine(value: &str) -> Result<bool, Bad> {
    if SYNCHRONOUS.contains(&value) {
        return Ok(true);
    }
    if ASYNCHRONOUS.contains(&value) {
        return Ok(false);
    }
    let known: Vec<&str> = ASYNCHRONOUS.into_iter().chain(SYNCHRONOUS).collect();
    let near = nearest(value, known.iter().copied())
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    let remedy = format!("{near}use one of {}", known.join(", "));
    bad(format!("`{}` is not an engine that drives a block device", clip(value)), remedy)
}

/// Parses the start of something, at a whole sector.
/// Zero means no limit.
fn open_zones(value: &str, base: NumberBase) -> Result<Option<u32>, Bad> {
    let most = narrow(count(value, base, 0, u32::MAX.into())?);
    Ok(Some(most).filter(|most| *most > 0))
}

/// Zero means none.
fn given(sectors: u64) -> Option<u64> {
    Some(sectors).filter(|sectors| *sectors > 0)
}

fn place(value: &str, base: NumberBase) -> Result<Amount, Bad> {
    if let Some(zones) = zones(value)? {
        return Ok(zones);
    }
    match value.ends_with('%') {
        true => amount(value, base, 100),
        false => sectors(value, base).map(Amount::Sectors),
    }
}

fn nonzero(amount: Amount) -> Option<Amount> {
    (!matches!(amount, Amount::Sectors(0) | Amount::Share(0) | Amount::Zones(0))).then_some(amount)
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("the limits of counts fit 32 bits")
}

/// Parses names separated by colons; a colon within a name is escaped by a backslash.
fn names(value: &str) -> Result<Vec<String>, Bad> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for c in value.chars() {
        let last = names.last_mut().expect("never empty");
        match (c, escaped) {
            (':', false) => names.push(String::new()),
            ('\\', false) => {
                escaped = true;
                continue;
            }
            (':', true) => last.push(':'),
            (other, true) => last.extend(['\\', other]),
            (other, false) => last.push(other),
        }
        escaped = false;
    }
    if escaped {
        names.last_mut().expect("never empty").push('\\');
    }
    if names.iter().any(String::is_empty) || names.len() > 4096 {
        return bad("an empty name, or more than 4096", "separate names by single colons");
    }
    Ok(names)
}

fn service(value: &str, base: NumberBase) -> Result<Service, Bad> {
    let (kind, every) = match value.split_once(':') {
        Some((kind, every)) => (kind, count(every, base, 1, u64::from(u32::MAX))?),
        None => (value, 1),
    };
    match kind {
        "roundrobin" => Ok(Service::RoundRobin(every)),
        "random" => Ok(Service::Random(every)),
        "sequential" => Ok(Service::Sequential),
        "zipf" | "pareto" | "normal" | "gauss" => bad(
            "files are not chosen by popularity",
            "use one file and random_distribution, or random",
        ),
        _ => unknown(kind, &["roundrobin", "random", "sequential"]),
    }
}

/// Parses `size/percent:size/percent`; sizes without a figure share what is left.
fn split(text: &str, base: NumberBase) -> Result<Vec<(u32, u64)>, Bad> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > MAX_SPLIT {
        return bad(format!("more than {MAX_SPLIT} sizes"), "give fewer");
    }
    let mut list = Vec::new();
    for part in parts {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(per_cent(share, 100)?),
        };
        list.push((request(size.trim(), base)?, share));
    }
    let given: u64 = list.iter().filter_map(|entry| entry.1).sum();
    let open = list.iter().filter(|entry| entry.1.is_none()).count() as u64;
    if given > Job::ALL {
        return bad("the shares sum to more than 100", "make them sum to 100");
    }
    if open == 0 && given != Job::ALL {
        return bad("the shares sum to less than 100", "make them sum to 100, or leave one empty");
    }
    let rest = (Job::ALL - given).checked_div(open).unwrap_or(0);
    let list: Vec<(u32, u64)> =
        list.into_iter().map(|(size, share)| (size, share.unwrap_or(rest))).collect();
    if list.iter().all(|entry| entry.1 == 0) {
        return bad("no size has a share", "give one");
    }
    Ok(list)
}
