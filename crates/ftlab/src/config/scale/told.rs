//! A scaled device as a file: what it is, what it keeps and what it can't keep, and a comment on each line.

use super::Scaled;
use super::rules::Proportion;
use crate::config::{Config, Shown, ValueOrigin};

const WIDTH: usize = 116;

/// The file.
pub(super) fn text(scaled: &Scaled) -> String {
    let mut text = String::new();
    let name = &scaled.whole.options.device.name;
    let Scaled { factor, config, .. } = scaled;
    let first = format!(
        "{factor} of the flash of {name}, made by ftlab device scale: as many channels, dies and planes, with as many blocks \
         as are needed to amplify writes as the whole does."
    );
    paragraph(&mut text, "", &first);
    text += "#\n# What it keeps\n";
    kept(config).iter().for_each(|line| paragraph(&mut text, "- ", line));
    text += "#\n# What it can't keep\n";
    lost(scaled).iter().for_each(|line| paragraph(&mut text, "- ", line));
    text += "#\n";
    paragraph(
        &mut text,
        "",
        "Lines without a comment of what they were are as in the whole device: after the place that set them comes the comment \
         there.",
    );
    text.push('\n');
    text + &config.show_as(|path| line(scaled, path))
}

/// What becomes of a line: what nobody has set is left out.
fn line(scaled: &Scaled, path: &str) -> Shown {
    if let Some(change) = scaled.changes.iter().find(|change| change.path == path) {
        let why = if change.why.is_empty() { "" } else { ": " };
        return Shown::With(format!("was {}{why}{}", change.was, change.why));
    }
    match scaled.whole.origin(path) {
        Some(origin @ ValueOrigin::Layer { .. }) => {
            let comment = scaled.whole.comment(path).map(|comment| format!(": {comment}"));
            Shown::With(format!("{origin}{}", comment.unwrap_or_default()))
        }
        _ => Shown::Not,
    }
}

/// A comment over as many lines as it needs.
fn paragraph(text: &mut String, lead: &str, told: &str) {
    let mut line = format!("# {lead}");
    let indent = format!("# {}", " ".repeat(lead.len()));
    let mut empty = true;
    for word in told.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            *text += &line;
            text.push('\n');
            (line, empty) = (indent.clone(), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    *text += &line;
    text.push('\n');
}

/// A caution as a sentence.
fn sentence(caution: &str) -> String {
    let mut letters = caution.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

fn kept(config: &Config) -> Vec<String> {
    let mut kept = vec![
        "Channels, dies, planes, page size, mapping unit; times of reads, programs, buses, link, processor and DRAM: \
         latencies without collection, and rates while nothing runs full."
            .to_owned(),
        "The share of the capacity that is spare, and how much of it is free or open: write amplification. With shorter \
         erases, so many for as many bytes, also the rate of a full device."
            .to_owned(),
    ];
    if config.options.cache.policy.dram().is_some() {
        kept.push(
            "The size of the write buffer, which decides how long a burst is absorbed, and for how long writes wait when \
             it is full."
                .to_owned(),
        );
    }
    kept
}

fn lost(scaled: &Scaled) -> Vec<String> {
    let Scaled { factor, whole, config, .. } = scaled;
    let (old, new) = (&whole.options, &config.options);
    let Proportion { part, whole: of } = factor.0;
    let mut lost = vec![format!(
        "Whatever takes as long as filling something: the time to fill the device, to age it, to the cliff of an SLC cache \
         or of free blocks, to scan it after a power cut is {part}/{of}. Workloads in shares of the device go along, those \
         in bytes or pages don't."
    )];
    if old.nand.pages_per_block != new.nand.pages_per_block {
        lost.push(format!(
            "Latencies behind a single erase: it takes {} in place of {}, as many times more often. The worst latencies \
             are lower. The copies of a block are fewer, too, so collection comes in shorter turns. If erasing is now faster than programming, a warning says so.",
            new.nand.timing.erase, old.nand.timing.erase
        ));
        lost.push(
            "What the copies of a victim leave empty: about half a flash page for each, of fewer. Write amplification \
             rises a little."
                .to_owned(),
        );
    }
    if old.nand.blocks_per_plane != new.nand.blocks_per_plane {
        lost.push(
            "Blocks of a plane are fewer: those that are free or open were added, but a block more or less weighs more, as for \
             wear levelling and for bad blocks."
                .to_owned(),
        );
    }
    lost.extend(scaled.cautions().iter().map(|caution| sentence(caution)));
    lost.push(format!(
        "Endurance in bytes: {part}/{of}. In cycles, and in drive writes, it is the same. Data ages by the clock, so as many \
         times less of it is ever old."
    ));
    if let Some(dram) = new.cache.policy.dram() {
        let share = |config: &Config| {
            let unit = config.volume().mapping_unit.0;
            let bytes = u64::from(config.logical_pages()) * unit;
            100.0 * dram.options.capacity.0 as f64 / bytes.max(1) as f64
        };
        lost.push(format!(
            "The share of the device that the write buffer holds: {:.2} % in place of {:.2} %. As many uniform writes hit \
             it, and never reach the flash.",
            share(config),
            share(whole)
        ));
    }
    if !old.nand.faults.schedule.is_empty() {
        lost.push(
            "Scheduled faults: their times and numbers stay, although blocks and pages are fewer and time passes as before."
                .to_owned(),
        );
    }
    if old.ftl.mapping.policy.log().is_some() {
        lost.push(
            "Merges: each moves fewer pages and is shorter, and blocks are mapped in smaller pieces."
                .to_owned(),
        );
    }
    lost
}
