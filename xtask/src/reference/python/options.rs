//! `ftlab/_options`: the keyword arguments of devices, by layer, and of runs, traces and loads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ftlab::config::catalog;
use ftlab::options::OptionInfo;

use super::{ReferencePage, doc, meaning, module, python_policy, seam_name, sentence, type_of};

/// The options that a run has besides device, load and seed, with their types and meanings, by who takes them.
const PACE: [(&str, &str, &str); 4] = [
    ("requests", "int", "Measure this many requests; fewer if the load has no more."),
    (
        "replay",
        "Literal[\"open\", \"closed\", \"asap\"]",
        "What decides when requests are submitted.",
    ),
    ("queue_depth", "int", "How many requests are kept outstanding."),
    ("speed", "float | str", "How much faster than recorded: 2, 0.5 or \"200%\"."),
];
const TRACE: [(&str, &str, &str); 1] = [(
    "address",
    "str",
    "How addresses map to the device: as-is, fold, scale, scale:SIZE, partition, partition:N or compact.",
)];
const RUN: [(&str, &str, &str); 4] = [
    (
        "precondition",
        "str",
        "Steps that prepare the device, separated by commas: fill, age, workloads.",
    ),
    (
        "all_phases",
        "bool",
        "Play a workload's unmeasured beginning even on a device that was prepared.",
    ),
    ("accesses", "bool", "Report how reads and writes share pages."),
    (
        "cut_power",
        "str",
        "Cut the power of a copy of the device at this interval, such as \"500ms\".",
    ),
];
const READING: [(&str, &str, &str); 12] = [
    ("format", "str", "The format; by default detected."),
    ("time_unit", "Literal[\"ns\", \"filetime\", \"us\", \"ms\", \"s\"]", "The unit of times."),
    ("address_unit", "Literal[\"byte\", \"sector\", \"4k\"]", "The unit of addresses."),
    ("size_unit", "Literal[\"byte\", \"sector\", \"4k\"]", "The unit of sizes."),
    (
        "columns",
        "str | Mapping[str, str | int]",
        "Of a table, which column is what: {\"time\": \"ts:us\", \"op\": 3, \"offset\": \"lba:512\", \"size\": \"4KiB\"}.",
    ),
    (
        "op",
        "str | Mapping[str, str] | Mapping[int, str]",
        "What the words of operations in a table mean: {\"0\": \"read\", \"1\": \"write\"}.",
    ),
    ("invert_ops", "bool", "Swap reads and writes."),
    (
        "blkparse_event",
        "Literal[\"issue\", \"queue\", \"complete\"]",
        "Which events of blkparse are the requests.",
    ),
    ("skip_malformed", "bool", "Skip malformed or impossible lines, and count them."),
    ("accept_implausible", "bool", "Accept implausible values as they are."),
    ("order_window", "int", "How many records are held back to sort them by time."),
    (
        "late",
        "Literal[\"refuse\", \"clamp\", \"continue\"]",
        "What to do with a record that is too late for this window, or with a clock that begins anew.",
    ),
];

/// A `TypedDict`: its name, the one above it, what it is about, and its fields.
struct TypedDict<'a> {
    name: &'a str,
    above: &'a str,
    about: &'a str,
    fields: &'a [(&'a str, &'a str, &'a str)],
}

impl TypedDict<'_> {
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "\n\nclass {}({}, total=False):", self.name, self.above);
        doc(out, 4, &[self.about.to_owned()]);
        for (field, kind, text) in self.fields {
            let _ = writeln!(out, "\n    {field}: {kind} | None");
            doc(out, 4, &[(*text).to_owned()]);
        }
    }
}

/// Returns the modules of `ftlab/_options`.
pub fn pages() -> Vec<ReferencePage> {
    let mut layers: BTreeMap<&str, Vec<(String, &OptionInfo)>> = BTreeMap::new();
    for (name, option) in short_names() {
        let layer = option.path.split('.').next().unwrap_or(option.path);
        layers.entry(layer).or_default().push((name, option));
    }
    let mut pages: Vec<ReferencePage> =
        layers.iter().map(|(layer, options)| layer_page(layer, options)).collect();
    pages.push(run_page());
    pages.push(device_page(layers.keys().copied()));
    pages
}

fn layer_page(layer: &str, options: &[(String, &OptionInfo)]) -> ReferencePage {
    let written: Vec<(&str, String, String)> =
        options.iter().map(|(name, option)| (&**name, type_of(option), meaning(option))).collect();
    let fields: Vec<(&str, &str, &str)> =
        written.iter().map(|(name, kind, text)| (*name, &**kind, &**text)).collect();
    let about = format!("The options whose paths begin with `{layer}`.");
    let mut body = String::new();
    let name = layer_class(layer);
    TypedDict { name: &name, above: "TypedDict", about: &about, fields: &fields }.write(&mut body);
    let seams = options.iter().filter_map(|(_, option)| option.seam);
    let mut python: Vec<&str> = seams.clone().filter_map(|seam| python_policy(seam.path)).collect();
    python.sort_unstable();
    let mut ours = Vec::new();
    if !python.is_empty() {
        ours.push(format!("from ftlab._outside import {}", python.join(", ")));
    }
    if seams.count() > 0 {
        ours.push("from ftlab._policy import Policy".to_owned());
    }
    module(&format!("_options/{layer}"), &about, &ours, &body)
}

fn run_page() -> ReferencePage {
    let mut body = String::new();
    for dict in [
        TypedDict {
            name: "PaceOptions",
            above: "TypedDict",
            about: "How a load is played.",
            fields: &PACE,
        },
        TypedDict {
            name: "TraceOptions",
            above: "PaceOptions",
            about: "How requests are played.",
            fields: &TRACE,
        },
        TypedDict {
            name: "ReadingOptions",
            above: "TraceOptions",
            about: "How a trace is read and played.",
            fields: &READING,
        },
        TypedDict {
            name: "RunOptions",
            above: "TraceOptions",
            about: "How a load is played on a device.",
            fields: &RUN,
        },
    ] {
        dict.write(&mut body);
    }
    module("_options/run", "The options of runs, traces and loads.", &[], &body)
}

/// Returns `_options/__init__.py`: the options of a whole device.
fn device_page<'a>(layers: impl Iterator<Item = &'a str>) -> ReferencePage {
    let mut above = Vec::new();
    let mut ours = Vec::new();
    for layer in layers {
        above.push(layer_class(layer));
        ours.push(format!("from ftlab._options.{layer} import {}", layer_class(layer)));
    }
    ours.push(
        "from ftlab._options.run import PaceOptions, ReadingOptions, RunOptions, TraceOptions"
            .to_owned(),
    );
    ours.sort();
    let mut body = format!(
        "\n__all__ = [{}]\n",
        ["DeviceOptions", "PaceOptions", "ReadingOptions", "RunOptions", "TraceOptions"]
            .map(|name| format!("\"{name}\""))
            .join(", ")
    );
    TypedDict {
        name: "DeviceOptions",
        above: &above.join(", "),
        about: "The options of a device, by the shortest name that no other option has.",
        fields: &[],
    }
    .write(&mut body);
    module("_options/__init__", "The types of all options.", &ours, &body)
}

/// Returns the name of the class of a layer: `FtlSection`.
fn layer_class(layer: &str) -> String {
    format!("{}Section", sentence(layer))
}

/// Returns the shortest name of each option that no other option has.
fn short_names() -> BTreeMap<String, &'static OptionInfo> {
    let mut ends: BTreeMap<String, Vec<&'static OptionInfo>> = BTreeMap::new();
    for option in &catalog().options {
        for end in ends_of(option.path) {
            ends.entry(end).or_default().push(option);
        }
    }
    let seams: Vec<String> =
        catalog().seams.iter().map(|seam| seam_name(seam.path).to_owned()).collect();
    let shortest = |option: &'static OptionInfo| {
        let name = match option.seam {
            Some(seam) => seam_name(seam.path).to_owned(),
            None => {
                let is_free = |end: &String| ends[end].len() == 1 && !seams.contains(end);
                ends_of(option.path).into_iter().rfind(is_free)?
            }
        };
        Some((name, option))
    };
    catalog().options.iter().filter_map(shortest).collect()
}

/// Returns the ends of a path, the longest first.
fn ends_of(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('.').collect();
    (0..parts.len()).map(|from| parts[from..].join("_")).collect()
}
