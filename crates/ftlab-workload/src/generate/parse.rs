//! From the text of a workload file to a [`Workload`], or to the list of all its problems.

use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Place, Problem, Problems};
use ftlab::options::text::{clip, shown};
use ftlab::options::value::unknown_name;
use ftlab::units::{Amount, Bytes, Ratio};
use toml::de::{DeTable, DeValue};

use super::keys::{
    ADDRESS_KINDS, ARRIVAL_KINDS, SIZE_ENTRY, SIZE_RANGE, Section, key, scatters_by_default,
};
use super::reader::{Fields, Given, Reader};
use super::validate;
use super::workload::{
    Addresses, Arrivals, Bucket, Drift, Duration, Mix, Origin, Phase, Region, Sizes, Workload,
};

/// The longest text that is read: a workload with a full histogram needs less.
const MAX_TEXT: usize = 16 << 20;
/// The most entries in a list of sizes.
const MAX_SIZES: usize = 4096;
/// The most parts of a histogram.
const MAX_BUCKETS: usize = 1 << 20;
/// The most phases.
const MAX_PHASES: usize = 1000;
/// The largest queue depth and number of streams.
const MAX_DEPTH: u64 = 1 << 20;
const MAX_STREAMS: u64 = 4096;
const MAX_BURST: u64 = 1 << 20;

/// Fetches the text of a file that a workload names, or says why it cannot.
pub type Fetch<'f> = &'f mut dyn FnMut(&str) -> Result<String, String>;

impl Workload {
    /// Reads a workload file. `file` is the name that problems carry; `fetch` gives the text of
    /// files that the workload names, with paths as they are written there.
    pub fn parse(file: &str, text: &str, fetch: Fetch) -> Result<Workload, Problems> {
        let origin: Arc<str> = text.into();
        let place = |span| Place::new(file, &origin, span);
        if text.len() > MAX_TEXT {
            return Err(Problems { problems: vec![too_long(text, place(0..0))] });
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let syntax = |error: &toml::de::Error| {
                Problem::syntax(error, place(error.span().unwrap_or(0..0)))
            };
            return Err(Problems { problems: errors.iter().map(syntax).collect() });
        }
        let mut parser = Parser { reader: Reader::new(file, &origin), fetch };
        let workload = parser.file(root.get_ref(), 0..0);
        let Reader { mut problems, spans, .. } = parser.reader;
        if let Some(mut workload) = workload {
            workload.origin =
                Some(Origin { file: file.to_owned(), text: Arc::clone(&origin), spans });
            problems.extend(validate::problems(&workload));
            if problems.is_empty() {
                return Ok(workload);
            }
        }
        problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.span.start));
        Err(Problems { problems })
    }
}

fn too_long(text: &str, place: Place) -> Problem {
    let message = format!("the text has {} bytes; the limit is {MAX_TEXT}", text.len());
    let remedy = "move long histograms into CSV files".to_owned();
    Problem { path: String::new(), message, remedy, place: Some(place) }
}

struct Parser<'f> {
    reader: Reader<'f>,
    fetch: Fetch<'f>,
}

impl Parser<'_> {
    fn file(&mut self, root: &DeTable<'_>, span: Range<usize>) -> Option<Workload> {
        let fields = self.reader.fields(root, Section::File, "", "", span);
        let name = self.reader.text(&fields, "name");
        let source = self.reader.text(&fields, "source");
        let value = self.reader.value(&fields, "phase")?;
        let DeValue::Array(list) = value.get_ref() else {
            self.reader.mismatch(&fields, "phase", &value);
            return None;
        };
        if list.is_empty() || list.len() > MAX_PHASES {
            let message = format!("{} phases, outside 1 to {MAX_PHASES}", list.len());
            let remedy = "a workload needs a [[phase]] table for each phase".to_owned();
            self.reader.report(value.span(), "phase", message, remedy);
            return None;
        }
        let mut phases = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            match entry.get_ref() {
                DeValue::Table(table) => phases.push(self.phase(table, index, entry.span())),
                _ => self.reader.mismatch(&fields, "phase", entry),
            }
        }
        let phases = phases.into_iter().collect::<Option<Vec<Phase>>>()?;
        Some(Workload { name: name?, source, phases, origin: None })
    }

    fn phase(&mut self, table: &DeTable<'_>, index: usize, span: Range<usize>) -> Option<Phase> {
        let path = format!("phase[{}]", index + 1);
        self.reader.spans.insert(path.clone(), span.clone());
        let fields = self.reader.fields(table, Section::Phase, "", &path, span);
        let name = match fields.has("name") {
            true => self.reader.text(&fields, "name"),
            false => Some((index + 1).to_string()),
        };
        let measure = self.reader.switch(&fields, "measure");
        let measure_first = match fields.has("measure_first") {
            true => self.reader.count(&fields, "measure_first", u64::MAX).map(Some),
            false => Some(None),
        };
        let with_previous = self.reader.switch(&fields, "with_previous");
        let first_stream = match fields.has("first_stream") {
            true => self.reader.whole(&fields, "first_stream", MAX_STREAMS).map(narrow).map(Some),
            false => Some(None),
        };
        let mix = self.mix(&fields);
        let size = self.sizes(&fields, "size", mix);
        let write_size = match fields.has("write_size") {
            true => self.sizes(&fields, "write_size", mix).map(Some),
            false => Some(None),
        };
        let align = match fields.has("align") {
            true => self.reader.size(&fields, "align"),
            false => size.as_ref().map(|size| match &write_size {
                Some(Some(writes)) => size.smallest().min(writes.smallest()),
                _ => size.smallest(),
            }),
        };
        let region = self.region(&fields);
        let streams = self.reader.count(&fields, "streams", MAX_STREAMS);
        let overlap = self.reader.share(&fields, "overlap");
        let fua = self.reader.share(&fields, "fua");
        let unaligned = self.reader.share(&fields, "unaligned");
        let inside = self.reader.share(&fields, "inside");
        let sequential_reads = self.reader.share(&fields, "sequential_reads");
        let sequential_writes = self.reader.share(&fields, "sequential_writes");
        let address = self.addresses(&fields, "address");
        let read_address = match fields.has("read_address") {
            true => self.addresses(&fields, "read_address").map(Some),
            false => Some(None),
        };
        let arrivals = self.arrivals(&fields);
        let duration = self.duration(&fields);
        Some(Phase {
            name: name?,
            measure: measure?,
            measure_first: measure_first?,
            with_previous: with_previous?,
            first_stream: first_stream?,
            mix: mix?,
            fua: fua?,
            size: size?,
            write_size: write_size?,
            unaligned: unaligned?,
            inside: inside?,
            sequential_reads: sequential_reads?,
            sequential_writes: sequential_writes?,
            align: align?,
            region: region?,
            streams: narrow(streams?),
            overlap: overlap?,
            address: address?,
            read_address: read_address?,
            arrivals: arrivals?,
            duration,
        })
    }

    fn mix(&mut self, fields: &Fields<'_, '_>) -> Option<Mix> {
        let [reads, writes, trims, flushes] =
            ["reads", "writes", "trims", "flushes"].map(|name| self.reader.share(fields, name));
        Some(Mix { reads: reads?, writes: writes?, trims: trims?, flushes: flushes? })
    }

    fn sizes(&mut self, fields: &Fields<'_, '_>, name: &str, mix: Option<Mix>) -> Option<Sizes> {
        let Some(value) = self.reader.value(fields, name) else {
            if mix.is_some_and(|mix| mix.flushes == Ratio::ONE) {
                // Flushes have no size: any stands.
                return Some(Sizes::Fixed(Bytes::from_kib(4)));
            }
            let remedy = format!("add `size`: {}", key(Section::Phase, "size").takes.describe());
            let path = fields.path_of("size");
            self.reader.report(fields.span(), &path, "[[phase]] lacks `size`".to_owned(), remedy);
            return None;
        };
        match value.get_ref() {
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => {
                self.reader.size(fields, name).map(Sizes::Fixed)
            }
            DeValue::Table(table) => {
                let path = fields.path_of(name);
                let range =
                    self.reader.fields(table, Section::Size, SIZE_RANGE, &path, value.span());
                let from = self.reader.size(&range, "from");
                let to = self.reader.size(&range, "to");
                let step = match range.has("step") {
                    true => self.reader.size(&range, "step"),
                    false => from,
                };
                Some(Sizes::Range { from: from?, to: to?, step: step? })
            }
            DeValue::Array(list) => self.size_list(fields, name, &value, list),
            _ => {
                self.reader.mismatch(fields, name, &value);
                None
            }
        }
    }

    fn size_list(
        &mut self,
        fields: &Fields<'_, '_>,
        name: &str,
        value: &Given<'_>,
        list: &[Given<'_>],
    ) -> Option<Sizes> {
        let path = fields.path_of(name);
        if list.is_empty() || list.len() > MAX_SIZES {
            let message = format!("a list of {} sizes, outside 1 to {MAX_SIZES}", list.len());
            let remedy = "give fewer sizes, or a range".to_owned();
            self.reader.report(value.span(), &path, message, remedy);
            return None;
        }
        let mut sizes = Vec::new();
        for (index, entry) in list.iter().enumerate() {
            let DeValue::Table(table) = entry.get_ref() else {
                self.reader.mismatch(fields, name, entry);
                continue;
            };
            let path = format!("{path}[{}]", index + 1);
            let entry = self.reader.fields(table, Section::Size, SIZE_ENTRY, &path, entry.span());
            let size = self.reader.size(&entry, "size");
            let weight = self.reader.count(&entry, "weight", u64::from(u32::MAX));
            sizes.push(size.zip(weight));
        }
        sizes.into_iter().collect::<Option<_>>().map(Sizes::List)
    }

    fn region(&mut self, fields: &Fields<'_, '_>) -> Option<Region> {
        let Some(value) = self.reader.value(fields, "region") else {
            return Some(Region { offset: Amount::Share(Ratio::default()), size: None });
        };
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, "region", &value);
            return None;
        };
        let path = fields.path_of("region");
        let region = self.reader.fields(table, Section::Region, "", &path, value.span());
        let offset = self.reader.amount(&region, "offset");
        let size = self.reader.amount(&region, "size");
        Some(Region { offset: offset?, size })
    }

    /// Opens the table `name`, whose `kind` decides what else it holds.
    fn kinded<'t>(
        &mut self,
        fields: &Fields<'_, 't>,
        name: &str,
        section: Section,
        kinds: &[&'static str],
    ) -> Option<(&'static str, Given<'t>)> {
        let value = self.reader.value(fields, name)?;
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, name, &value);
            return None;
        };
        let path = fields.path_of(name);
        let Some(kind) = table.get("kind") else {
            let message = format!("{} lacks `kind`", section.title());
            let remedy = format!("add `kind`, one of {}", kinds.join(", "));
            self.reader.report(value.span(), &path, message, remedy);
            return None;
        };
        let kind_path = format!("{path}.kind");
        let given: String = self.reader.parse(kind, &kind_path, None)?;
        let Some(known) = kinds.iter().find(|known| **known == given) else {
            let message = format!("unknown kind {}", shown(&given));
            let remedy = unknown_name(&given, kinds).remedy;
            self.reader.report(kind.span(), &kind_path, message, remedy);
            return None;
        };
        Some((known, value))
    }

    fn addresses(&mut self, phase: &Fields<'_, '_>, name: &str) -> Option<Addresses> {
        let (kind, value) = self.kinded(phase, name, Section::Address, &ADDRESS_KINDS)?;
        let DeValue::Table(table) = value.get_ref() else { return None };
        let path = phase.path_of(name);
        let fields = self.reader.fields(table, Section::Address, kind, &path, value.span());
        match kind {
            "uniform" => Some(Addresses::Uniform),
            "sequential" => Some(Addresses::Sequential),
            "strided" => {
                self.reader.size(&fields, "stride").map(|stride| Addresses::Strided { stride })
            }
            "zipf" => {
                let theta = self.reader.number(&fields, "theta");
                let scatter = self.scatter(&fields, kind);
                let drift = self.drift(&fields);
                Some(Addresses::Zipf { theta: theta?, scatter: scatter?, drift: drift? })
            }
            "hot-cold" => {
                let space = self.reader.share(&fields, "hot_space");
                let accesses = self.reader.share(&fields, "hot_accesses");
                let (scatter, drift) = (self.scatter(&fields, kind), self.drift(&fields));
                let (space, accesses) = (space?, accesses?);
                Some(Addresses::HotCold { space, accesses, scatter: scatter?, drift: drift? })
            }
            _ => {
                let buckets = self.histogram(&fields);
                let (scatter, drift) = (self.scatter(&fields, kind), self.drift(&fields));
                Some(Addresses::Histogram { buckets: buckets?, scatter: scatter?, drift: drift? })
            }
        }
    }

    fn scatter(&mut self, fields: &Fields<'_, '_>, kind: &str) -> Option<bool> {
        match fields.has("scatter") {
            true => self.reader.switch(fields, "scatter"),
            false => Some(scatters_by_default(kind)),
        }
    }

    fn drift(&mut self, fields: &Fields<'_, '_>) -> Option<Option<Drift>> {
        let Some(value) = self.reader.value(fields, "drift") else { return Some(None) };
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, "drift", &value);
            return None;
        };
        let path = fields.path_of("drift");
        let drift = self.reader.fields(table, Section::Drift, "", &path, value.span());
        let every = self.reader.count(&drift, "every", u64::MAX);
        let by = self.reader.amount(&drift, "by");
        Some(Some(Drift { every: every?, by: by? }))
    }

    fn histogram(&mut self, fields: &Fields<'_, '_>) -> Option<Vec<Bucket>> {
        if fields.has("weights") == fields.has("file") {
            let message = "a histogram has either `weights` or `file`".to_owned();
            let remedy = "give weights = [5, 3, 1], or file = \"curve.csv\"".to_owned();
            self.reader.report(fields.span(), &fields.path_of("weights"), message, remedy);
            return None;
        }
        if fields.has("weights") {
            self.inline_histogram(fields)
        } else {
            self.file_histogram(fields)
        }
    }

    fn inline_histogram(&mut self, fields: &Fields<'_, '_>) -> Option<Vec<Bucket>> {
        let value = self.reader.value(fields, "weights")?;
        let DeValue::Array(list) = value.get_ref() else {
            self.reader.mismatch(fields, "weights", &value);
            return None;
        };
        let path = fields.path_of("weights");
        let accesses: Vec<Option<u64>> =
            list.iter().map(|entry| self.reader.parse(entry, &path, None)).collect();
        let spaces = self.spaces(fields, accesses.len())?;
        let bucket = |(accesses, space): (Option<u64>, Option<u64>)| {
            Some(Bucket { space: space?, accesses: accesses? })
        };
        accesses.into_iter().zip(spaces).map(bucket).collect()
    }

    /// The space of each part of an inline histogram.
    fn spaces(&mut self, fields: &Fields<'_, '_>, parts: usize) -> Option<Vec<Option<u64>>> {
        if !fields.has("spaces") {
            return Some(vec![Some(1); parts]);
        }
        let value = self.reader.value(fields, "spaces")?;
        let path = fields.path_of("spaces");
        match value.get_ref() {
            DeValue::Array(list) if list.len() == parts => {
                Some(list.iter().map(|entry| self.reader.parse(entry, &path, None)).collect())
            }
            DeValue::Array(list) => {
                let message = format!("{} spaces for {parts} weights", list.len());
                let remedy = "give one for each weight".to_owned();
                self.reader.report(value.span(), &path, message, remedy);
                None
            }
            _ => {
                self.reader.mismatch(fields, "spaces", &value);
                None
            }
        }
    }

    fn file_histogram(&mut self, fields: &Fields<'_, '_>) -> Option<Vec<Bucket>> {
        let name = self.reader.text(fields, "file")?;
        let span = self.reader.value(fields, "file")?.span();
        let path = fields.path_of("file");
        let read = (self.fetch)(&name)
            .map_err(|why| {
                (format!("cannot read {}: {why}", clip(&name)), "check the path".to_owned())
            })
            .and_then(|text| {
                read_csv(&text).map_err(|(line, message, remedy)| {
                    (format!("{}:{line}: {message}", clip(&name)), remedy.to_owned())
                })
            });
        match read {
            Ok(buckets) => Some(buckets),
            Err((message, remedy)) => {
                self.reader.report(span, &path, message, remedy);
                None
            }
        }
    }

    fn arrivals(&mut self, phase: &Fields<'_, '_>) -> Option<Arrivals> {
        let (kind, value) = self.kinded(phase, "arrivals", Section::Arrivals, &ARRIVAL_KINDS)?;
        let DeValue::Table(table) = value.get_ref() else { return None };
        let path = phase.path_of("arrivals");
        let fields = self.reader.fields(table, Section::Arrivals, kind, &path, value.span());
        match kind {
            "closed" => {
                let depth = self.reader.count(&fields, "queue_depth", MAX_DEPTH);
                let think_time = self.reader.time(&fields, "think_time");
                Some(Arrivals::Closed { queue_depth: narrow(depth?), think_time: think_time? })
            }
            "poisson" => {
                self.need(&fields, "rate");
                self.reader.rate(&fields, "rate").map(|rate| Arrivals::Poisson { rate })
            }
            "clustered" => {
                self.need(&fields, "rate");
                let rate = self.reader.rate(&fields, "rate");
                let variation = self.reader.share(&fields, "variation");
                Some(Arrivals::Clustered { rate: rate?, variation: variation? })
            }
            "constant" => self.constant(&fields),
            _ => self.bursts(&fields),
        }
    }

    fn constant(&mut self, fields: &Fields<'_, '_>) -> Option<Arrivals> {
        if fields.has("rate") == fields.has("period") {
            let message = "constant arrivals have either `rate` or `period`".to_owned();
            let remedy = "give rate = \"25000/s\", or period = \"40us\"".to_owned();
            self.reader.report(fields.span(), &fields.path_of("rate"), message, remedy);
            return None;
        }
        if fields.has("rate") {
            return self.reader.rate(fields, "rate").map(|rate| Arrivals::ConstantRate { rate });
        }
        self.reader.time(fields, "period").map(|period| Arrivals::ConstantPeriod { period })
    }

    fn bursts(&mut self, fields: &Fields<'_, '_>) -> Option<Arrivals> {
        self.need(fields, "period");
        let period = self.reader.time(fields, "period");
        let burst_size = self.reader.count(fields, "burst_size", MAX_BURST);
        let burst_period = self.reader.time(fields, "burst_period");
        let burst_offset = match fields.has("burst_offset") {
            true => self.reader.time(fields, "burst_offset"),
            false => burst_period,
        };
        Some(Arrivals::Bursts {
            period: period?,
            burst_size: narrow(burst_size?),
            burst_period: burst_period?,
            burst_offset: burst_offset?,
        })
    }

    /// Reports a key that this kind requires although others do not.
    fn need(&mut self, fields: &Fields<'_, '_>, name: &str) {
        if !fields.has(name) {
            let takes = key(Section::Arrivals, name).takes.describe();
            let message = format!("these arrivals lack `{name}`");
            let remedy = format!("add `{name}`: {takes}");
            self.reader.report(fields.span(), &fields.path_of(name), message, remedy);
        }
    }

    fn duration(&mut self, fields: &Fields<'_, '_>) -> Duration {
        Duration {
            requests: self.reader.count(fields, "requests", u64::MAX),
            bytes: self.reader.amount(fields, "bytes"),
            time: self.reader.time(fields, "time"),
        }
    }
}

/// A count whose limit fits 32 bits.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).expect("the limits of counts fit 32 bits")
}

/// Reads a histogram: an optional header, then `accesses` or `space,accesses` a line.
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
