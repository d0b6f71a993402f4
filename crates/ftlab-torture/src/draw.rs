//! Draws random devices: any option may get any value that its declaration allows and that keeps
//! the device small. The result is a TOML text; whatever the configuration's checks refuse is
//! repaired as their remedies say, or removed.

mod together;

use std::collections::BTreeMap;

pub use together::{SUPERBLOCKS, Together};

use ftlab::config::{Config, Layer, Problem, all_options};
use ftlab::engine::Stream;
use ftlab::options::OptionInfo;
use ftlab::options::value::ValueKind;
use ftlab::units::SECTOR_BYTES;

use together::TOGETHER;

/// Options with their values as TOML, by path.
pub type Settings = BTreeMap<&'static str, String>;

/// Values for options whose declared range is too wide for a small device, or that must be set.
const SMALL: &[(&str, &[&str])] = &[
    ("nand.channels", &["1", "2", "3"]),
    ("nand.chips_per_channel", &["1", "2"]),
    ("nand.dies_per_chip", &["1", "1", "2"]),
    ("nand.planes_per_die", &["1", "2", "3", "4"]),
    ("nand.blocks_per_plane", &["8", "10", "12", "16", "24"]),
    ("nand.pages_per_block", &["4", "5", "6", "8", "12"]),
    (
        "nand.page_size",
        &["2KiB", "4KiB", "4KiB", "8KiB", "12KiB", "16KiB", "16KiB", "32KiB", "64KiB"],
    ),
    ("nand.program_unit", &["page", "page", "page", "word-line"]),
    ("nand.codeword", &["512B", "1KiB", "2KiB", "4KiB"]),
    ("ftl.mapping.unit", &["flash-page", "512B", "2KiB", "4KiB", "4KiB", "8KiB"]),
    // Without translation there is little left to test.
    (
        "ftl.mapping.policy",
        &[
            "page",
            "page",
            "page",
            "page",
            "page",
            "page",
            "page",
            "dftl",
            "dftl",
            "physical",
            "log-block",
            "bast",
            "fast",
            "nftl",
            "reconstruction",
            "reconstruction",
        ],
    ),
    ("ftl.mapping.cache", &["64B", "64B", "256B", "1KiB", "8KiB", "1MiB"]),
    ("ftl.mapping.host_memory", &["none", "64B", "256B", "1KiB", "64KiB"]),
    ("ftl.capacity", &["none", "1MiB", "1MiB", "3MiB"]),
    ("ftl.parity.width", &["2", "2", "3", "4", "6"]),
    ("ftl.superblock.dies", &["1", "2", "2", "3", "4"]),
    ("ftl.merge.throttle", &["none", "1", "1", "2", "3"]),
    ("ftl.over_provisioning", &["15%", "30%", "50%", "100%", "300%"]),
    ("host.queues", &["1", "2", "3", "5"]),
    // What is decoded for long may be erased meanwhile.
    ("controller.ecc.engines", &["1", "1", "2", "20"]),
    ("controller.ecc.codeword", &["1ns", "2us", "200us", "1ms"]),
    ("controller.ecc.latency", &["0ns", "5us", "1ms"]),
    ("host.link.interface", &["none", "pcie-1x1", "pcie-4x4", "pcie-6x16", "sata-1", "sata-3"]),
    ("host.interrupt.coalesce", &["1", "2", "3", "8"]),
    ("host.interrupt.coalesce_time", &["0ns", "100us", "1ms"]),
    ("firmware.cores", &["1", "2", "3", "8"]),
    // A device that ignores flushes promises so little that hardly any check is left.
    (
        "host.flush",
        &["obeyed", "obeyed", "obeyed", "obeyed", "obeyed", "obeyed", "obeyed", "ignored"],
    ),
    ("nand.endurance.cycles", &["1", "3", "10", "1000"]),
    ("nand.faults.factory_bad", &["1%", "5%"]),
    ("nand.faults.program_failures", &["100000", "1000000", "10000000"]),
    ("nand.faults.erase_failures", &["1000000", "10000000", "300000000"]),
    ("nand.faults.disturb_limit", &["none", "60", "300"]),
    ("ftl.refresh.reads", &["none", "20", "100"]),
    ("nand.faults.read_failures", &["1000000", "30000000"]),
    ("ftl.gc.start", &["2", "3", "4"]),
    ("scheduler.short_at", &["1", "1", "2", "3"]),
    ("scheduler.ample_at", &["2", "3", "4", "12"]),
    ("ftl.gc.stop", &["2", "3", "4", "6"]),
    ("ftl.gc.reserve", &["1", "2"]),
    ("ftl.gc.bucket", &["1", "2", "16"]),
    ("ftl.slc_cache.blocks", &["1", "1", "2", "3"]),
    ("ftl.slc_cache.keep_free", &["0", "1", "2", "4"]),
    ("ftl.slc_cache.most_borrowed", &["1", "2", "5", "1000000"]),
    // Keeps planned reads readable and blocks from wearing out too early.
    ("nand.timing.program_step", &["400, 300, 225", "300, 300, 300", "350, 300, 100"]),
    ("nand.timing.rated_step", &["300", "400"]),
    ("nand.timing.rated_cycles", &["1000", "3000"]),
    ("nand.timing.rated_age", &["30d", "1y"]),
    ("nand.timing.disturbed_errors", &["0", "500", "5000"]),
    ("nand.timing.disturbed_reads", &["50", "1000"]),
    ("nand.timing.wear_at_least", &["0%", "50%", "100%"]),
    ("nand.timing.age_at_least", &["0%", "50%", "100%"]),
    ("nand.timing.references", &["1, 3, 7", "1, 2, 3", "2, 5, 60"]),
    ("nand.timing.corrects", &["4000, 7000, 12000", "6000, 12000, 200000"]),
    ("ftl.recovery.every", &["64KiB", "64KiB", "256KiB", "1MiB"]),
    ("ftl.refresh.period", &["1h", "1d", "90d"]),
    ("cache.capacity", &["4KiB", "16KiB", "64KiB", "256KiB"]),
    ("cache.read.capacity", &["16KiB", "64KiB", "256KiB"]),
    ("cache.read.ahead", &["0", "1", "4"]),
];

/// How many of a hundred devices get such a combination.
const MEETINGS: u64 = 75;

/// The most pages of a device; a case must take only milliseconds.
const MOST_UNITS: u64 = 6_000;

/// How often a device is repaired before it is dropped.
const MENDINGS: u32 = 24;

/// Returns the settings as the text of a device file.
pub fn text(settings: &Settings) -> String {
    settings.iter().map(|(path, value)| format!("{path} = {value}\n")).collect()
}

/// Loads and checks the configuration, as for a user's file.
pub fn load(settings: &Settings) -> Result<Config, Vec<Problem>> {
    let layer = Layer::file("swarm.toml", &text(settings));
    Config::load(&[layer]).map_err(|error| error.problems)
}

/// Draws a device.
pub fn device(stream: &mut Stream) -> Settings {
    let mut refused = 0;
    loop {
        let together = together(stream);
        let fixed: Vec<_> = together.keys().copied().collect();
        let settings = draw(stream, together, &fixed);
        if let Some(settings) = mend(stream, settings).filter(is_small) {
            return settings;
        }
        refused += 1;
        assert!(refused < 1_000, "nearly every draw is refused: widen what is drawn");
    }
}

/// Draws a combination of options, in most cases.
fn together(stream: &mut Stream) -> Settings {
    if stream.below(100) >= MEETINGS {
        return Settings::new();
    }
    let options = TOGETHER[stream.below(TOGETHER.len() as u64) as usize];
    meet(stream, options)
}

/// Draws a value for each of these options.
fn meet(stream: &mut Stream, options: Together) -> Settings {
    let value = |path: &str, text: &str| match all_options().iter().find(|o| o.path == path) {
        Some(option) => as_toml(option, text),
        None => quoted(text),
    };
    options.iter().map(|&(path, values)| (path, value(path, pick(stream, values)))).collect()
}

/// Draws a device within `limit` with this policy and with one of these values for each of these
/// options. Except for policies, other values are used if no valid device is possible otherwise.
pub fn device_with(
    stream: &mut Stream,
    given: &[Together],
    policy: (&'static str, &str),
    limit: Limit,
) -> Settings {
    let policy = (policy.0, quoted(policy.1));
    let mut refused = 0;
    loop {
        let options = given.iter().flat_map(|options| meet(stream, options));
        let given: Settings = options.chain([policy.clone()]).collect();
        let fixed: Vec<_> = given.keys().copied().collect();
        let settings = draw(stream, given.clone(), &fixed);
        let policies = || given.iter().filter(|(path, _)| path.ends_with("policy"));
        let keeps = |settings: &Settings| {
            policies().all(|(path, policy)| settings.get(path) == Some(policy))
        };
        let fits = |settings: &Settings| keeps(settings) && is_within(settings, limit);
        if let Some(settings) = mend(stream, settings).filter(fits) {
            return settings;
        }
        refused += 1;
        assert!(refused < 10_000, "nearly every draw is refused: widen what is drawn");
    }
}

/// The size limit of a drawn device.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Pages of its flash.
    pub units: u64,
    /// Sectors of its flash.
    pub sectors: u64,
}

/// Draws another device for the same flash: `kept` options stay as they are, the others are drawn again.
pub fn other_device(
    stream: &mut Stream,
    settings: &Settings,
    kept: impl Fn(&str) -> bool,
) -> Option<Settings> {
    let stays: Settings =
        settings.iter().filter(|(path, _)| kept(path)).map(|(&p, v)| (p, v.clone())).collect();
    let unset: Vec<_> =
        all_options().iter().map(|option| option.path).filter(|p| kept(p)).collect();
    let drawn = draw(stream, stays, &unset);
    let mended = mend(stream, drawn)?;
    let same = |path: &&str| settings.get(path) == mended.get(path);
    unset.iter().all(same).then_some(mended)
}

fn is_small(settings: &Settings) -> bool {
    is_within(settings, Limit { units: MOST_UNITS, sectors: u64::MAX })
}

fn is_within(settings: &Settings, limit: Limit) -> bool {
    load(settings).is_ok_and(|config| {
        let shape = config.shape();
        let pages = [
            shape.channels,
            shape.chips_per_channel,
            shape.dies_per_chip,
            shape.planes_per_die,
            shape.blocks_per_plane,
            shape.pages_per_block,
        ];
        let pages: u64 = pages.into_iter().map(u64::from).product();
        let units = pages * (shape.page_size.0 / shape.mapping_unit.0);
        units <= limit.units && pages * shape.page_size.0 / SECTOR_BYTES <= limit.sectors
    })
}

/// Sets required options and some of the others. The share varies between cases, so that features are combined in all
/// numbers (Groce et al., "Swarm Testing", ISSTA 2012). Options in `fixed` keep their values in `settings`.
fn draw(stream: &mut Stream, mut settings: Settings, fixed: &[&str]) -> Settings {
    let share = [5, 15, 40, 80][stream.below(4) as usize];
    // Policies first, because they determine which options exist.
    let (seams, others): (Vec<_>, Vec<_>) =
        all_options().iter().partition(|option| option.seam.is_some());
    for option in seams.into_iter().chain(others) {
        if fixed.contains(&option.path) || !is_drawn(option) || !applies(option, &settings) {
            continue;
        }
        // Policies are varied more often than numbers, because a feature that is off shows nothing.
        let share = if option.seam.is_some() { share.max(50) } else { share };
        let must = option.default.is_none() || option.path == "ftl.over_provisioning";
        if must || stream.below(100) < share {
            settings.extend(value(stream, option, &settings).map(|value| (option.path, value)));
        }
    }
    settings
}

/// Whether the policy is chosen that an option belongs to.
pub fn applies(option: &OptionInfo, settings: &Settings) -> bool {
    let Some(applies_to) = &option.applies_to else { return true };
    let seam = all_options().iter().find(|option| option.path == applies_to.seam);
    let default = seam.and_then(|seam| seam.default).map(quoted);
    let chosen = settings.get(applies_to.seam).cloned().or(default);
    applies_to.policies.iter().any(|policy| chosen == Some(quoted(policy)))
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn pick<'a, T: ?Sized>(stream: &mut Stream, from: &[&'a T]) -> &'a T {
    from[stream.below(from.len() as u64) as usize]
}

/// The option whose devices promise nothing that could be judged: they lose what was flushed.
const FLUSH: &str = "host.flush";

/// Whether an option is ever set. Texts change nothing, power is only added up, and a device that ignores flushes is
/// tested where its losses are looked for.
pub fn is_drawn(option: &OptionInfo) -> bool {
    !matches!(option.kind, ValueKind::Text | ValueKind::Power) && option.path != FLUSH
}

/// Draws a value of an option, as TOML; `None` if only the default is known.
fn value(stream: &mut Stream, option: &OptionInfo, settings: &Settings) -> Option<String> {
    let text = match SMALL.iter().find(|(path, _)| *path == option.path) {
        Some((_, values)) => pick(stream, values).to_owned(),
        None => match option.kind {
            ValueKind::Choice => {
                option.choices[stream.below(option.choices.len() as u64) as usize].name.to_owned()
            }
            ValueKind::Count => count(stream, option),
            ValueKind::Time => time(stream, option),
            ValueKind::Times => return times(stream, option, settings),
            ValueKind::Size => format!("{}KiB", 1 << stream.below(9)),
            ValueKind::Rate => format!("{}MB/s", pick(stream, &[&20, &100, &400, &1_200])),
            ValueKind::TransferRate => format!("{}MT/s", pick(stream, &[&40, &200, &800])),
            ValueKind::RequestRate => format!("{}/s", pick(stream, &[&1_000, &100_000])),
            ValueKind::Share => share(stream, option),
            ValueKind::Amount => pick(stream, &["5%", "30%", "90%", "64KiB"]).to_owned(),
            ValueKind::Order => order(stream),
            ValueKind::Counts | ValueKind::Names => return Some(list(stream, option, settings)),
            ValueKind::Faults => return Some(faults(stream)),
            ValueKind::Text | ValueKind::Power => return None,
        },
    };
    Some(as_toml(option, &text))
}

/// A value as TOML: counts are numbers, unless they are "none".
fn as_toml(option: &OptionInfo, text: &str) -> String {
    let is_bare = option.kind == ValueKind::Count && text.parse::<u64>().is_ok();
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Draws one entry for all queues, or one for each.
fn list(stream: &mut Stream, option: &OptionInfo, settings: &Settings) -> String {
    let queues = settings.get("host.queues").and_then(|text| text.parse().ok()).unwrap_or(1);
    let length = if stream.below(2) == 0 { 1 } else { queues };
    let entries: Vec<_> = (0..length)
        .map(|_| match option.kind {
            ValueKind::Counts => count(stream, option),
            _ => quoted(option.choices[stream.below(option.choices.len() as u64) as usize].name),
        })
        .collect();
    format!("[{}]", entries.join(", "))
}

/// Draws faults during the case. The numbers are low enough for most small devices.
fn faults(stream: &mut Stream) -> String {
    let fault = |stream: &mut Stream| {
        let at = stream.below(100_000);
        let (die, block, page) = (stream.below(2), stream.below(16), stream.below(100));
        let what = match stream.below(6) {
            0 | 1 => format!("die {die} dies"),
            2 => format!("next program of block {block} fails"),
            3 => format!("next erase of plane {die} fails"),
            4 => format!("block {block} is unreadable"),
            _ => format!("page {page} is unreadable"),
        };
        quoted(&format!("{at}us: {what}"))
    };
    let faults: Vec<_> = (0..=stream.below(3)).map(|_| fault(stream)).collect();
    format!("[{}]", faults.join(", "))
}

/// Draws a count within the declared range, usually low.
fn count(stream: &mut Stream, option: &OptionInfo) -> String {
    let (low, high) = option.range.unwrap_or(("1", "64"));
    let (low, high): (u64, u64) = (low.parse().unwrap_or(1), high.parse().unwrap_or(u64::MAX));
    let reach = (1 << stream.below(9)).min(high - low);
    (low + stream.below(reach + 1)).to_string()
}

/// Parses a time to nanoseconds.
fn nanos(text: &str) -> u64 {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let scale = match &text[digits..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        _ => 1_000_000_000,
    };
    text[..digits].parse::<u64>().unwrap_or(0).saturating_mul(scale)
}

/// Draws a time of any order of magnitude up to some milliseconds.
fn time(stream: &mut Stream, option: &OptionInfo) -> String {
    let (low, high) = option.range.map_or((0, 1_000_000), |(low, high)| (nanos(low), nanos(high)));
    let magnitude = stream.below(23);
    let any = stream.below(1 << magnitude);
    format!("{}ns", any.clamp(low, high))
}

/// Draws a time for each page type of the cell, or for each cost in increasing order.
fn times(stream: &mut Stream, option: &OptionInfo, settings: &Settings) -> Option<String> {
    if option.path.ends_with("_by_cost") {
        let mut times: Vec<_> = (0..3).map(|_| nanos(&time(stream, option))).collect();
        times.sort_unstable();
        let times: Vec<_> = times.iter().map(|time| quoted(&format!("{time}ns"))).collect();
        return Some(format!("[{}]", times.join(", ")));
    }
    let bits = match settings.get("nand.cell").map(String::as_str) {
        Some("\"slc\"") => 1,
        Some("\"mlc\"") => 2,
        Some("\"qlc\"") => 4,
        _ => 3,
    };
    let is_word_line = settings.get("nand.program_unit").is_some_and(|unit| unit.contains("word"));
    let count = if is_word_line && option.path.ends_with("program_by_type") { 1 } else { bits };
    let times: Vec<_> = (0..count).map(|_| quoted(&time(stream, option))).collect();
    Some(format!("[{}]", times.join(", ")))
}

fn share(stream: &mut Stream, option: &OptionInfo) -> String {
    let per_cent = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap_or(0.0);
    let (low, high) =
        option.range.map_or((0.0, 100.0), |(low, high)| (per_cent(low), per_cent(high)));
    let any = low + (high.min(100.0) - low) * stream.below(101) as f64 / 100.0;
    format!("{:.4}%", any.max(low))
}

fn order(stream: &mut Stream) -> String {
    let mut levels = vec!["channel", "chip", "die", "plane"];
    let order: Vec<_> =
        (0..4).map(|_| levels.swap_remove(stream.below(levels.len() as u64) as usize)).collect();
    order.join("-")
}

/// Follows the remedies until nothing is refused.
fn mend(stream: &mut Stream, mut settings: Settings) -> Option<Settings> {
    // What is drawn next does not depend on what was repaired here.
    let stream = &mut Stream::new(stream.next_u64(), "repairs");
    for _ in 0..MENDINGS {
        let Err(problems) = load(&settings) else { return Some(settings) };
        for problem in &problems {
            if !follow(&mut settings, problem) {
                leave_out(stream, &mut settings, problem);
            }
        }
    }
    None
}

/// What a problem's remedy says, if that is "set PATH to VALUE", or more: the option, and the value as TOML.
pub fn remedy(problem: &Problem) -> Option<(&'static str, String)> {
    let (path, rest) = problem.remedy.strip_prefix("set ")?.split_once(" to ")?;
    let option = all_options().iter().find(|option| option.path == path)?;
    let value = rest.split(' ').next()?;
    Some((option.path, value.trim_end_matches(',').to_owned()))
}

/// Does what the remedy says. False if it says nothing that helps.
fn follow(settings: &mut Settings, problem: &Problem) -> bool {
    let Some((path, value)) = remedy(problem) else { return false };
    settings.insert(path, value.clone()) != Some(value)
}

/// Removes the option at fault, or any other.
fn leave_out(stream: &mut Stream, settings: &mut Settings, problem: &Problem) {
    let required = |path: &str| {
        all_options().iter().any(|option| option.path == path && option.default.is_none())
    };
    let named = settings.keys().copied().find(|path| *path == problem.path && !required(path));
    let optional: Vec<_> = settings.keys().copied().filter(|path| !required(path)).collect();
    let any =
        || (!optional.is_empty()).then(|| optional[stream.below(optional.len() as u64) as usize]);
    if let Some(path) = named.or_else(any) {
        settings.remove(path);
        // Also remove the options of that policy.
        let orphans: Vec<_> = all_options()
            .iter()
            .filter(|option| settings.contains_key(option.path) && !applies(option, settings))
            .map(|option| option.path)
            .collect();
        orphans.into_iter().for_each(|path| drop(settings.remove(path)));
    }
}
