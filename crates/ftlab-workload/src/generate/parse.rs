//! Parses a workload file to a [`Workload`], or to the list of all its problems.

use ftlab::config::Problems;
use ftlab::options::table::{At, Document, Field, Tables};
use ftlab::options::text::clip;
use ftlab::units::{Amount, Bytes, Ratio};

use super::keys::{
    AddressKeys, AddressKind, ArrivalKeys, ArrivalKind, FileKeys, PhaseKeys, RegionKeys,
};
use super::loads::PhaseLoad;
use super::workload::{
    Addresses, Arrivals, Bucket, Drift, Duration, Mix, Phase, Region, Sizes, Workload, WorkloadText,
};
use super::{skew, validate};

/// The longest text that is accepted; a workload with a full histogram needs less.
const MAX_TEXT: usize = 16 << 20;
/// The most parts of a histogram.
const MAX_BUCKETS: usize = 1 << 20;
/// The largest transfer and the block of a load that does not give them.
const LOAD_TRANSFER: Bytes = Bytes::from_kib(128);
const LOAD_BLOCK: Bytes = Bytes::from_kib(4);
/// The most phases.
const MAX_PHASES: usize = 1000;

/// Returns the text of a file that a workload names, or an error message.
pub type Fetch<'f> = &'f mut dyn FnMut(&str) -> Result<String, String>;

impl Workload {
    /// Parses a workload file. `file` is its name in messages; `fetch` returns the text of files
    /// that the workload names, by their paths as written.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &str, text: &str, fetch: Fetch) -> Result<Workload, Problems> {
        let shorten = "move long histograms into CSV files";
        let (document, keys) = Document::read::<FileKeys>(file, text, MAX_TEXT, shorten, |_, _| {});
        let mut parser = Parser { document, fetch };
        let sound = keys.filter(|keys| keys.table.is_sound);
        let mut workload = sound.and_then(|keys| parser.workload(keys));
        let mut document = parser.document;
        if let Some(workload) = &mut workload {
            let (text, spans) = document.places();
            workload.origin = Some(WorkloadText { file: file.to_owned(), text, spans });
            validate::problems(workload).into_iter().for_each(|problem| document.note(problem));
        }
        document.finish(workload)
    }
}

struct Parser<'f> {
    document: Document,
    fetch: Fetch<'f>,
}

impl Parser<'_> {
    fn workload(&mut self, keys: FileKeys) -> Option<Workload> {
        let FileKeys { table, name, source, phase: Tables(phases) } = keys;
        if phases.is_empty() || phases.len() > MAX_PHASES {
            let message = format!("{} phases, outside 1 to {MAX_PHASES}", phases.len());
            let remedy = "a workload needs a [[phase]] table for each phase";
            self.document.report_at(&table, "phase", message, remedy);
            return None;
        }
        let phases = phases.into_iter().enumerate();
        let phases: Vec<_> = phases.map(|(index, keys)| self.phase(keys, index)).collect();
        let phases = phases.into_iter().collect::<Option<Vec<Phase>>>()?;
        Some(Workload { name, source, phases, origin: None })
    }

    fn phase(&mut self, keys: PhaseKeys, index: usize) -> Option<Phase> {
        let PhaseKeys { reads, writes, trims, flushes, .. } = keys;
        let mix = Mix { reads, writes, trims, flushes };
        let size = match keys.size {
            Some(size) => Some(size),
            // Flushes have no size, so any value is fine.
            None if flushes == Ratio::ONE => Some(Sizes::Fixed(Bytes::from_kib(4))),
            None if keys.load.is_some() => Some(Sizes::Fixed(LOAD_TRANSFER)),
            None => {
                let remedy = format!("add `size`: {}", Sizes::form().describe());
                self.document.report_at(&keys.table, "size", "[[phase]] lacks `size`", remedy);
                None
            }
        };
        let load = match &keys.load {
            Some(load) => PhaseLoad::of(load).map(Some),
            None => Some(None),
        };
        let align = keys.align.or(keys.load.is_some().then_some(LOAD_BLOCK)).or_else(|| {
            let others = [&keys.write_size, &keys.trim_size];
            let others = others.into_iter().flatten().map(Sizes::smallest).min();
            size.as_ref().map(|size| others.unwrap_or(size.smallest()).min(size.smallest()))
        });
        let address = self.addresses(keys.address);
        let read_address = match keys.read_address {
            Some(address) => self.addresses(address).map(Some),
            None => Some(None),
        };
        let arrivals = self.arrivals(&keys.arrivals);
        Some(Phase {
            name: keys.name.unwrap_or_else(|| (index + 1).to_string()),
            measure: keys.measure,
            measure_first: keys.measure_first,
            with_previous: keys.with_previous,
            first_stream: keys.first_stream,
            mix,
            fua: keys.fua,
            size: size?,
            write_size: keys.write_size,
            trim_size: keys.trim_size,
            unaligned: keys.unaligned,
            inside: keys.inside,
            sequential_reads: keys.sequential_reads,
            sequential_writes: keys.sequential_writes,
            align: align?,
            region: region(keys.region),
            streams: keys.streams,
            overlap: keys.overlap,
            address: address?,
            read_address: read_address?,
            load: load?,
            arrivals: arrivals?,
            duration: Duration { requests: keys.requests, bytes: keys.bytes, time: keys.time },
        })
    }

    fn addresses(&mut self, keys: AddressKeys) -> Option<Addresses> {
        let scatter = keys.scatter.unwrap_or(keys.kind == AddressKind::Zipf);
        let drift = keys.drift.as_ref().map(|drift| Drift { every: drift.every, by: drift.by });
        Some(match keys.kind {
            AddressKind::Uniform => Addresses::Uniform,
            AddressKind::Sequential => Addresses::Sequential,
            AddressKind::Strided => Addresses::Strided { stride: keys.stride? },
            AddressKind::Zipf => Addresses::Zipf { theta: keys.theta?, scatter, drift },
            AddressKind::HotCold => {
                let (space, accesses) = (keys.hot_space?, keys.hot_accesses?);
                Addresses::HotCold { space, accesses, scatter, drift }
            }
            AddressKind::Histogram => {
                Addresses::Histogram { buckets: self.histogram(keys)?, scatter, drift }
            }
        })
    }

    fn histogram(&mut self, keys: AddressKeys) -> Option<Vec<Bucket>> {
        match (keys.weights, keys.file, keys.skew) {
            (Some(weights), None, None) => {
                self.inline_histogram(&keys.table, &weights, keys.spaces)
            }
            (None, Some(file), None) => self.file_histogram(&keys.table, &file),
            (None, None, Some(text)) => skew::parse(&text)
                .map_err(|(message, remedy)| {
                    self.document.report_at(&keys.table, "skew", message, remedy);
                })
                .ok(),
            _ => {
                let message = "a histogram has either `weights`, `file` or `skew`";
                let remedy = "give weights = [5, 3, 1], file = \"curve.csv\" or skew = \"s0.9 f0.1 s0.1 f0.9\"";
                let path = keys.table.path_of("weights");
                self.document.report_span(&path, keys.table.span, message, remedy);
                None
            }
        }
    }

    fn inline_histogram(
        &mut self,
        at: &At,
        weights: &[u64],
        spaces: Option<Vec<u64>>,
    ) -> Option<Vec<Bucket>> {
        let spaces = spaces.unwrap_or_else(|| vec![1; weights.len()]);
        if spaces.len() != weights.len() {
            let message = format!("{} spaces for {} weights", spaces.len(), weights.len());
            self.document.report_at(at, "spaces", message, "give one for each weight");
            return None;
        }
        let bucket = |(&accesses, space)| Bucket { space, accesses };
        Some(weights.iter().zip(spaces).map(bucket).collect())
    }

    fn file_histogram(&mut self, at: &At, name: &str) -> Option<Vec<Bucket>> {
        let read = (self.fetch)(name)
            .map_err(|why| (format!("cannot read {}: {why}", clip(name)), "check the path"))
            .and_then(|text| {
                read_csv(&text).map_err(|(line, message, remedy)| {
                    (format!("{}:{line}: {message}", clip(name)), remedy)
                })
            });
        read.map_err(|(message, remedy)| self.document.report_at(at, "file", message, remedy)).ok()
    }

    /// Reports arrivals without a rate, or with two.
    fn no_rate(&mut self, keys: &ArrivalKeys, kind: &str) -> Option<Arrivals> {
        let message = format!("{kind} arrivals have either `rate` or `period`");
        let remedy = "give rate = \"25000/s\", or period = \"40us\"";
        let table = &keys.table;
        let path = table.path_of("rate");
        self.document.report_span(&path, table.span.clone(), message, remedy);
        None
    }

    fn arrivals(&mut self, keys: &ArrivalKeys) -> Option<Arrivals> {
        let (rate, period) = (keys.rate, keys.period);
        Some(match keys.kind {
            ArrivalKind::Closed => {
                Arrivals::Closed { queue_depth: keys.queue_depth?, think_time: keys.think_time? }
            }
            ArrivalKind::Poisson => match (rate, period) {
                (Some(rate), None) => Arrivals::Poisson { rate },
                (None, Some(period)) => Arrivals::PoissonPeriod { period },
                _ => return self.no_rate(keys, "poisson"),
            },
            ArrivalKind::Clustered => match (rate, period, keys.variation?) {
                (Some(rate), None, variation) => Arrivals::Clustered { rate, variation },
                (None, Some(period), variation) => Arrivals::ClusteredPeriod { period, variation },
                _ => return self.no_rate(keys, "clustered"),
            },
            ArrivalKind::Constant => match (rate, period) {
                (Some(rate), None) => Arrivals::ConstantRate { rate },
                (None, Some(period)) => Arrivals::ConstantPeriod { period },
                _ => return self.no_rate(keys, "constant"),
            },
            ArrivalKind::Bursts => Arrivals::Bursts {
                period: period?,
                burst_size: keys.burst_size?,
                burst_period: keys.burst_period?,
                burst_offset: keys.burst_offset.or(keys.burst_period)?,
            },
        })
    }
}

fn region(keys: Option<RegionKeys>) -> Region {
    let whole = Region { offset: Amount::Share(Ratio::default()), size: None };
    keys.map_or(whole, |keys| Region { offset: keys.offset, size: keys.size })
}

/// Reads a histogram: an optional header, then lines of `accesses` or `space,accesses`.
fn read_csv(text: &str) -> Result<Vec<Bucket>, (usize, String, &'static str)> {
    let mut buckets = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || (index == 0 && !starts_with_digit(line)) {
            continue;
        }
        let (space, accesses) = line.split_once(',').unwrap_or(("1", line));
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (Some(space), Some(accesses)) = (number(space), number(accesses)) else {
            let message = format!("`{}` is not a line of a histogram", clip(line));
            return Err((index + 1, message, "write two whole numbers: space,accesses"));
        };
        if buckets.len() == MAX_BUCKETS {
            let message = format!("more than {MAX_BUCKETS} parts");
            return Err((index + 1, message, "merge neighbouring parts"));
        }
        buckets.push(Bucket { space, accesses });
    }
    Ok(buckets)
}

fn starts_with_digit(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_digit())
}
