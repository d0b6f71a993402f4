//! Fits a workload to a trace: mix, sizes, popularity of reads and of writes, their overlap, runs,
//! arrivals.
//!
//! It keeps the shares of operations; the distributions of the sizes of reads, of writes and of trims; how often requests
//! start at each page of 4 KiB, as a curve of about forty parts; the share of requests to pages
//! that are both read and written; the share that continues the previous request; the mean rate and
//! the variation of gaps; the touched pages (an estimate beyond 65536 places of 16 MiB). It loses
//! which pages are neighbours, sequences other than runs, and changes over time.

use std::collections::HashMap;
use std::fmt::Write as _;

use ftlab::host::Op;
use ftlab::options::text::quoted;
use ftlab::options::value::Value;
use ftlab::units::{Nanos, SECTOR_BYTES};

use crate::trace::{PageSet, Record};

/// Sectors in a page.
const PAGE: u64 = 4096 / SECTOR_BYTES;
/// The most sizes listed; beyond that, rare sizes are merged into the next larger.
const MOST_SIZES: usize = 48;
/// The largest request of a workload, in sectors.
const LARGEST: u32 = (1 << 30) / 512;
/// A longer mean gap is written as such: a rate has three decimals, which are too few for it.
const LONG_GAP_NS: f64 = 1e9;
/// Gaps with a smaller squared coefficient of variation are taken as even.
const EVEN: f64 = 0.01;
/// The longest gap of a workload, a hundred years.
const LONGEST_GAP_NS: f64 = 876_000.0 * 3600.0 * 1e9;
/// Millionths.
const MILLION: f64 = 1e6;

/// Collects the statistics of a trace.
#[derive(Default)]
pub struct Fit {
    requests: u64,
    /// Reads, writes, trims, flushes.
    ops: [u64; 4],
    /// By first page.
    pages: HashMap<u64, PageStarts>,
    touched: PageSet,
    /// Of reads, writes, trims.
    sizes: [HashMap<u32, u64>; 3],
    unaligned: u64,
    /// Writes with FUA.
    forced: u64,
    runs: [u64; 2],
    ends: [Option<u64>; 2],
    first: Option<u64>,
    last: u64,
    gaps: u64,
    gap_squares: f64,
}

/// The requests that start at a page.
#[derive(Clone, Copy, Default)]
struct PageStarts {
    /// Reads, and writes and trims, without those that continue the previous request.
    uses: [u64; 2],
    /// The pages of the longest request.
    pages: u64,
}

impl Fit {
    /// Adds the next request. Streams are combined, each with an address space of its own.
    pub fn add(&mut self, record: &Record) {
        self.requests += 1;
        let at = record.at.0;
        if self.first.is_some() {
            let gap = at.saturating_sub(self.last) as f64;
            self.gaps += 1;
            self.gap_squares += gap * gap;
        }
        self.first.get_or_insert(at);
        self.last = self.last.max(at);
        let number = match record.op {
            Op::Read => 0,
            Op::Write | Op::Append => 1,
            Op::Trim => 2,
            Op::Flush => 3,
            // Nothing that a load of today's generators has.
            _ => return,
        };
        self.ops[number] += 1;
        self.forced += u64::from(record.fua);
        if record.op == Op::Flush || record.sectors == 0 {
            return;
        }
        let kind = usize::from(record.op != Op::Read);
        // Streams are 2^40 sectors apart, more than any known trace uses.
        let start = (u64::from(record.stream) << 40).wrapping_add(record.lba.0);
        *self.sizes[number].entry(record.sectors.min(LARGEST)).or_default() += 1;
        self.touched.touch(record.stream, record.lba.0, record.end());
        let end = start + u64::from(record.sectors);
        let entry = self.pages.entry(start / PAGE).or_default();
        entry.pages = entry.pages.max(end.div_ceil(PAGE) - start / PAGE);
        if self.ends[kind] == Some(start) {
            self.runs[kind] += 1;
        } else {
            self.unaligned += u64::from(!start.is_multiple_of(PAGE));
            entry.uses[kind] += 1;
        }
        self.ends[kind] = Some(end);
    }

    /// Returns the workload file. `name` is its name in results, `source` describes the trace.
    ///
    /// # Errors
    /// The trace has no request with an address.
    pub fn workload(&mut self, name: &str, source: &str) -> Result<String, String> {
        let placed = self.ops[0] + self.ops[1] + self.ops[2];
        if placed == 0 || self.touched.estimate().0 == 0 {
            return Err("the trace has no request with an address to fit a workload to".to_owned());
        }
        let curves = [0, 1].map(|kind| self.curve(kind));
        let overlap = self.overlap();
        let (most, largest) = (curves.iter().map(Curve::pages).max().unwrap_or(1), self.largest());
        // Both pools must fit, and about as much must be touched as in the trace.
        let pools = (most as f64 * (2.0 - overlap / MILLION)).ceil() as u64 + 4;
        let region = self.room(pools) * 4096 + u64::from(largest) * SECTOR_BYTES;
        let region = region.next_multiple_of(1 << 20) >> 20;
        // Places where even the largest request fits, so that the parts of the curves fit
        // unchanged.
        let places = (region << 8) - u64::from(largest).div_ceil(PAGE) - 1;
        let ranks = (places as f64 / (2.0 - overlap / MILLION)) as u64;
        let mut text =
            format!("# Synthetic: fitted to a trace by ftlab.\nname = {}\n", quoted(name));
        let _ = writeln!(text, "source = {}", quoted(source));
        let _ = writeln!(text, "\n[[phase]]\nname = \"fitted\"\n{}", self.mix());
        if self.forced > 0 {
            let _ = writeln!(text, "fua = {}", per_cent(self.forced, self.ops[1]));
        }
        let reads = self.ops[0] > 0;
        let writes = self.ops[1] + self.ops[2] > 0;
        let of_ops = ["size", "write_size", "trim_size"].into_iter().zip(&self.sizes);
        let mut key = Some("size");
        for (own, sizes) in of_ops.filter(|(_, sizes)| !sizes.is_empty()) {
            let _ = writeln!(text, "{} = {}", key.take().unwrap_or(own), size_list(sizes));
        }
        let starts = placed - self.runs[0] - self.runs[1];
        let _ =
            writeln!(text, "align = \"4KiB\"\nunaligned = {}", per_cent(self.unaligned, starts));
        let _ = writeln!(text, "region = {{ size = \"{region}MiB\" }}");
        let _ = writeln!(text, "overlap = \"{:.4}%\"", overlap / 1e4);
        for (key, kind) in [("sequential_reads", 0), ("sequential_writes", 1)] {
            let all = if kind == 0 { self.ops[0] } else { self.ops[1] + self.ops[2] };
            let _ = writeln!(text, "{key} = {}", per_cent(self.runs[kind], all));
        }
        let _ = writeln!(text, "address = {}", curves[usize::from(writes)].text(ranks));
        if reads && writes {
            let _ = writeln!(text, "read_address = {}", curves[0].text(ranks));
        }
        let _ = writeln!(text, "arrivals = {}", self.arrivals());
        let _ = writeln!(text, "requests = {}", self.requests);
        Ok(text)
    }

    /// Returns the number of pages, at least `least`, in which requests that start anywhere touch
    /// as many pages as in the trace. Starts are distinct pages; the pages behind them overlap by
    /// chance. At most four times the touched pages, because more would only make the device
    /// larger.
    fn room(&mut self, least: u64) -> u64 {
        let touched = self.touched.estimate().0;
        let starts = self.pages.len() as f64;
        // A sum, so the order of the hash table has no effect.
        let tails = self.pages.values().map(|start| start.pages).sum::<u64>() as f64 - starts;
        let reached =
            |room: f64| starts + (room - starts).max(0.0) * -libm::expm1(-tails / room.max(1.0));
        let (mut low, mut high) = (touched, touched.saturating_mul(4));
        while low < high {
            let middle = low + (high - low) / 2;
            if reached(middle as f64) < touched as f64 { low = middle + 1 } else { high = middle }
        }
        low.max(least)
    }

    fn mix(&self) -> String {
        let mut parts = self.ops.map(|count| ppm(count, self.requests));
        // The largest share absorbs the rounding error.
        let sum: u64 = parts.iter().sum();
        if let Some(most) = parts.iter_mut().max() {
            *most = (*most + 1_000_000).saturating_sub(sum);
        }
        let names = ["reads", "writes", "trims", "flushes"];
        let given = names.iter().zip(parts).filter(|(_, part)| *part > 0);
        let lines: Vec<String> =
            given.map(|(name, part)| format!("{name} = \"{:.4}%\"", part as f64 / 1e4)).collect();
        lines.join("\n")
    }

    fn largest(&self) -> u32 {
        self.sizes.iter().flat_map(|sizes| sizes.keys().copied()).max().unwrap_or(1)
    }

    /// Returns the share, in millionths, of requests that start at a page that is both read and
    /// written.
    fn overlap(&self) -> f64 {
        let (mut shared, mut all) = (0, 0);
        // A sum, so the order of the hash table has no effect.
        for PageStarts { uses: [reads, writes], .. } in self.pages.values() {
            all += reads + writes;
            shared += if *reads > 0 && *writes > 0 { reads + writes } else { 0 };
        }
        (shared as f64 / all.max(1) as f64 * MILLION).round()
    }

    fn curve(&self, kind: usize) -> Curve {
        let counts = self.pages.values().map(|start| start.uses[kind]).filter(|count| *count > 0);
        let mut counts: Vec<u64> = counts.collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        Curve::of(&counts)
    }

    fn arrivals(&self) -> String {
        let span = self.last - self.first.unwrap_or(0);
        if span == 0 || self.gaps == 0 {
            return "{ kind = \"closed\" }".to_owned();
        }
        let mean = span as f64 / self.gaps as f64;
        let variation = self.gap_squares / self.gaps as f64 / (mean * mean) - 1.0;
        let often = match mean > LONG_GAP_NS {
            true => {
                let period = Nanos(mean.round().min(LONGEST_GAP_NS) as u64);
                format!("period = \"{}\"", period.print())
            }
            false => format!("rate = \"{}/s\"", (1e12 / mean).round() / 1000.0),
        };
        if variation < EVEN {
            return format!("{{ kind = \"constant\", {often} }}");
        }
        if variation <= 1.0 {
            return format!("{{ kind = \"poisson\", {often} }}");
        }
        let percent = (variation * 100.0).round().min(400_000.0);
        format!("{{ kind = \"clustered\", {often}, variation = \"{percent}%\" }}")
    }
}

/// Returns sizes in sectors with their counts as a list of a workload file.
fn size_list(counts: &HashMap<u32, u64>) -> String {
    let mut sizes: Vec<(u32, u64)> = counts.iter().map(|(&s, &n)| (s, n)).collect();
    // Sorted, because a hash table has no defined order.
    sizes.sort_unstable();
    // A rare size is merged into the next larger one, so that the sum of bytes hardly changes.
    while sizes.len() > MOST_SIZES {
        let rare = (0..sizes.len() - 1).min_by_key(|&at| sizes[at].1).expect("more than one");
        let (size, count) = sizes.remove(rare);
        let (large, others) = sizes[rare];
        let bytes = u64::from(size) * count + u64::from(large) * others;
        let mean = bytes.div_ceil(count + others);
        sizes[rare] = (u32::try_from(mean).expect("between the two"), count + others);
    }
    let entry = |(size, count): &(u32, u64)| {
        format!("{{ size = \"{}B\", weight = {count} }}", u64::from(*size) * SECTOR_BYTES)
    };
    format!("[{}]", sizes.iter().map(entry).collect::<Vec<_>>().join(", "))
}

fn ppm(part: u64, whole: u64) -> u64 {
    (part as f64 / whole.max(1) as f64 * MILLION).round() as u64
}

fn per_cent(part: u64, whole: u64) -> String {
    format!("\"{:.4}%\"", ppm(part, whole) as f64 / 1e4)
}

/// How often pages are used, by decreasing use, in parts of pages with similar use.
struct Curve {
    /// Pages and uses.
    parts: Vec<(u64, u64)>,
}

impl Curve {
    /// Makes two parts for every doubling of the rank.
    fn of(counts: &[u64]) -> Curve {
        let mut parts = Vec::new();
        let (mut from, mut width) = (0, 1);
        while from < counts.len() {
            let to = (from + width).min(counts.len());
            parts.push(((to - from) as u64, counts[from..to].iter().sum()));
            from = to;
            width = (from / 2).max(1);
        }
        Curve { parts }
    }

    fn pages(&self) -> u64 {
        self.parts.iter().map(|part| part.0).sum()
    }

    /// Returns the curve as a table of a workload file, for a pool of `ranks` pages.
    fn text(&self, ranks: u64) -> String {
        let rest = ranks.saturating_sub(self.pages());
        let rest = (rest > 0).then_some((rest, 0));
        let list = |pick: fn(&(u64, u64)) -> u64| {
            let numbers = self.parts.iter().chain(&rest).map(|part| pick(part).to_string());
            numbers.collect::<Vec<_>>().join(", ")
        };
        let (weights, spaces) = (list(|part| part.1), list(|part| part.0));
        format!(
            "{{ kind = \"histogram\", scatter = true, weights = [{weights}], spaces = [{spaces}] }}"
        )
    }
}
