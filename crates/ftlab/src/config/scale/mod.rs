//! A device scaled down: the same channels, dies and planes with a part of the flash, so that what takes hours on the whole
//! takes minutes, and amplifies writes as the whole does.
//!
//! Blocks lose pages first. Collection keeps some blocks free and some open, and their number does not depend on the size
//! of a plane: with as many blocks, they take as large a share of the spare capacity. Below [`LEAST_PAGES`] pages, what
//! the copies of a victim leave empty of their last flash page would weigh more, so then the number of blocks shrinks. In
//! that case those that are free or open are kept in number, and the over-provisioning is computed again.

mod rules;
mod told;

use std::collections::BTreeMap;
use std::fmt;

use super::resolve::{self, ShapeCounts};
use super::{Config, Options, all_options};
use crate::options::Layer;
use crate::options::catalog::OptionInfo;
use crate::options::declaration::Condition;
use crate::options::text::quoted;
use crate::options::value::Value;
use crate::shape::Shares;
use crate::units::Ratio;
use rules::{By, Proportion, RULES, multiplied};

/// Blocks don't get fewer flash pages than this, as the FTL fills them.
pub const LEAST_PAGES: u32 = 144;

/// With fewer blocks of a plane, write amplification is no longer that of the whole.
pub const AMPLE_BLOCKS: u32 = 180;

/// Blocks of an SLC cache that are rounded by more than this share are told.
const ROUGH: f64 = 0.2;

/// The part of the flash that remains: below one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor(Proportion);

impl Factor {
    /// Parses a fraction such as 1/16, or a number such as 0.0625 or 6.25%.
    ///
    /// # Errors
    /// It is neither, or not between zero and one.
    pub fn parse(text: &str) -> Result<Factor, String> {
        let no_part = |why: &str| {
            format!("{why}: write a part of the flash between 0 and 1, such as 1/16 or 6.25%")
        };
        let fraction = text.split_once('/').map(|(part, whole)| {
            Some(Proportion { part: part.trim().parse().ok()?, whole: whole.trim().parse().ok()? })
        });
        let times = match fraction {
            Some(times) => times,
            None => decimal(text),
        };
        match times.ok_or_else(|| no_part(&format!("{} is no part", quoted(text))))? {
            Proportion { whole: 0, .. } => Err(no_part("nothing is a part of zero")),
            Proportion { part: 0, .. } => Err(no_part("nothing would be left")),
            Proportion { part, whole } if part > whole => {
                Err(no_part("that is more than all of it"))
            }
            Proportion { part, whole } if part == whole => Err(no_part("that is all of it")),
            times => Ok(Factor(lowest(times))),
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.part, self.0.whole)
    }
}

/// A number with decimal places, or per cent.
fn decimal(text: &str) -> Option<Proportion> {
    let (number, hundred) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100),
        None => (text.trim(), 1),
    };
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let tens = 10_u64.checked_pow(u32::try_from(places.len()).ok()?)?;
    let part = format!("{whole}{places}").parse().ok()?;
    Some(Proportion { part, whole: tens.checked_mul(hundred)? })
}

fn lowest(Proportion { part, whole }: Proportion) -> Proportion {
    let (mut a, mut b) = (part, whole);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    Proportion { part: part / a, whole: whole / a }
}

/// An option that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledOption {
    /// The option.
    pub path: &'static str,
    /// Its value before, as it is written.
    pub was: String,
    /// Its value, as it is written.
    pub becomes: String,
    /// Why.
    pub why: String,
}

/// A device that was scaled down.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// What it was made from.
    pub whole: Config,
    /// Its part of the flash.
    pub factor: Factor,
    /// The device.
    pub config: Config,
    /// What has changed, by option.
    pub changes: Vec<ScaledOption>,
}

/// Scales a device down.
///
/// # Errors
/// So little flash makes no device: why, and the smallest part that does.
pub fn scale(whole: &Config, factor: Factor) -> Result<Scaled, String> {
    attempt(whole, factor).map_err(|why| match smallest(whole, factor) {
        Some(smallest) => format!("{why}; the smallest part that works is {smallest}"),
        None => why,
    })
}

/// The smallest part that works of those above this one with one as their numerator, by bisection.
fn smallest(whole: &Config, refused: Factor) -> Option<Factor> {
    let Proportion { part, whole: of } = refused.0;
    let one_of = |whole| Factor(Proportion { part: 1, whole });
    let (mut works, mut fails) = (1, (of / part).max(2));
    while fails - works > 1 {
        let middle = works + (fails - works) / 2;
        match attempt(whole, one_of(middle)) {
            Ok(_) => works = middle,
            Err(_) => fails = middle,
        }
    }
    (works > 1).then(|| one_of(works))
}

/// A part works if some number of pages a block makes a device of it: the one whose blocks are rounded least is taken.
fn attempt(whole: &Config, factor: Factor) -> Result<Scaled, String> {
    let mut told = None;
    for part in Flash::parts_of(&whole.options, factor)? {
        match with_flash(whole, factor, part) {
            Ok(scaled) => return Ok(scaled),
            // The first one is the best.
            Err(why) => drop(told.get_or_insert(why)),
        }
    }
    Err(told.unwrap_or_else(|| "there is no such block".to_owned()))
}

fn with_flash(whole: &Config, factor: Factor, mut part: Flash) -> Result<Scaled, String> {
    let old = &whole.options;
    if part.blocks_per_plane != old.nand.blocks_per_plane && part.fixed > 0 && !has_log(old) {
        part.over_provisioning = Some(part.spare(old, factor)?);
    }
    let changes = changes(whole, factor, &part);
    let set = |change: &ScaledOption| {
        Layer::set_by("scaling", &format!("{}={}", change.path, change.becomes))
    };
    let mut layers = vec![Layer::saved("the whole device", &whole.canonical())];
    layers.extend(changes.iter().map(set));
    let config = Config::load(&layers).map_err(|error| {
        let problems = error.problems.iter();
        let told: Vec<String> =
            problems.map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
        told.join("; ")
    })?;
    Ok(Scaled { whole: whole.clone(), factor, config, changes })
}

/// What changes, in the order of the I/O path.
fn changes(whole: &Config, factor: Factor, part: &Flash) -> Vec<ScaledOption> {
    let old = &whole.options;
    let values = whole.values();
    let mut changes = part.changes(old, factor);
    let name = &old.device.name;
    let named = |path, was: &str, becomes: String| ScaledOption {
        path,
        was: quoted(was),
        becomes: quoted(&becomes),
        why: String::new(),
    };
    let Proportion { part: number, whole: of } = factor.0;
    changes.push(named("device.name", name, format!("{name}-{number}-{of}")));
    let described = format!("{factor} of {name}: {}", old.device.description);
    changes.push(named("device.description", &old.device.description, described));
    for rule in RULES {
        let all = all_options();
        let info = all.iter().find(|info| info.path == rule.path);
        let (Some(info), Some(was)) = (info, values.get(rule.path)) else { continue };
        let (times, least) = match rule.by {
            By::Capacity => (factor.0, 0),
            By::Pages => (part.pages(old), 0),
            By::FewerPages => {
                let Proportion { part, whole } = part.pages(old);
                (Proportion { part: whole, whole: part }, 0)
            }
            By::Blocks(least) => (part.share_of_blocks, least),
        };
        let text = was.trim_matches('"');
        let acts = |condition: &Condition| holds(condition, &values);
        let idle = !info.applies_with.is_empty() && !info.applies_with.iter().any(acts);
        let becomes = multiplied(info, text, times, least).filter(|becomes| becomes != text);
        if let Some(becomes) = becomes.filter(|_| !idle) {
            let quotes = was.starts_with('"');
            let becomes = if quotes { quoted(&becomes) } else { becomes };
            let why = rule.why.to_owned();
            changes.push(ScaledOption { path: rule.path, was: was.clone(), becomes, why });
        }
    }
    let order = |info: &OptionInfo, change: &ScaledOption| info.path == change.path;
    changes.sort_by_key(|change| all_options().iter().position(|info| order(info, change)));
    changes
}

fn holds(condition: &Condition, values: &BTreeMap<&'static str, String>) -> bool {
    let value = values.get(condition.path).map(|value| value.trim_matches('"'));
    value.is_some_and(|value| (value == condition.value) == condition.is)
}

/// The flash of the scaled device.
struct Flash {
    pages_per_block: u32,
    blocks_per_plane: u32,
    /// What remains of the blocks that hold data.
    share_of_blocks: Proportion,
    /// Blocks of a plane that are free or open, however many others there are.
    fixed: u64,
    over_provisioning: Option<Ratio>,
}

impl Flash {
    /// The flash with each number of pages a block that may do, the least rounded first.
    fn parts_of(old: &Options, factor: Factor) -> Result<Vec<Flash>, String> {
        let pages = u64::from(old.nand.pages_per_block);
        let bits = u64::from(old.nand.cell.bits());
        let step = if pages.is_multiple_of(bits) { bits } else { 1 };
        let least = u64::from(LEAST_PAGES) * u64::from(old.nand.pages_at_once());
        let Proportion { part, whole } = factor.0;
        let wanted = (u128::from(pages) * u128::from(part)).div_ceil(u128::from(whole));
        let wanted = u64::try_from(wanted).expect("less than before");
        let least = wanted.max(least).next_multiple_of(step).min(pages);
        // Some number of pages leaves blocks that need hardly be rounded.
        let most = least.saturating_mul(2).min(pages);
        let numbers = (least..=most).step_by(usize::try_from(step).expect("bits of a cell"));
        let all: Option<Vec<(u64, Flash)>> =
            numbers.map(|fewer| Flash::with_pages(old, factor, fewer)).collect();
        let mut all = all.ok_or("a fraction of such numbers is too fine")?;
        all.sort_by_key(|(rounded, _)| *rounded);
        Ok(all.into_iter().map(|(_, flash)| flash).collect())
    }

    /// The flash with so many pages a block, and by how much its blocks are rounded, in millionths. `None` if numbers get
    /// too large.
    fn with_pages(old: &Options, factor: Factor, fewer: u64) -> Option<(u64, Flash)> {
        const MILLION: u128 = 1_000_000;
        let Proportion { part, whole } = factor.0;
        let pages = u64::from(old.nand.pages_per_block);
        let share_of_blocks =
            lowest(Proportion { part: part.checked_mul(pages)?, whole: whole.checked_mul(fewer)? });
        let blocks = u64::from(old.nand.blocks_per_plane);
        let none = Proportion { part: 1, whole: 1 };
        let [before, fixed] = [none, share_of_blocks].map(|times| fixed_blocks(old, times));
        let data = blocks.saturating_sub(before);
        let whole = u128::from(share_of_blocks.whole);
        let over = u128::from(data) * u128::from(share_of_blocks.part) % whole;
        let rounded = u64::try_from(over.min(whole - over) * MILLION / whole).ok()?;
        let flash = Flash {
            pages_per_block: u32::try_from(fewer).ok()?,
            blocks_per_plane: u32::try_from(fixed + share_of_blocks.of(data)).ok()?,
            share_of_blocks,
            fixed,
            over_provisioning: None,
        };
        Some((rounded, flash))
    }

    /// The over-provisioning with which the host sees its part of the capacity.
    fn spare(&self, old: &Options, factor: Factor) -> Result<Ratio, String> {
        let units = |options: &Options| {
            ShapeCounts::of(&resolve::volume(options)).map_or(0, |counts| counts.units)
        };
        let counts = ShapeCounts::of(&resolve::volume(old)).expect("a checked shape");
        let logical = factor.0.of(counts.logical(old.ftl.over_provisioning)).max(1);
        let mut options = old.clone();
        options.nand.blocks_per_plane = self.blocks_per_plane;
        options.nand.pages_per_block = self.pages_per_block;
        let whole = u128::from(Ratio::ONE.ppm);
        let ppm = u128::from(units(&options)) * whole / u128::from(logical);
        let ppm = ppm.saturating_sub(whole);
        u32::try_from(ppm).map(|ppm| Ratio { ppm }).map_err(|_| "hardly a page is left".to_owned())
    }

    fn pages(&self, old: &Options) -> Proportion {
        lowest(Proportion {
            part: u64::from(self.pages_per_block),
            whole: u64::from(old.nand.pages_per_block),
        })
    }

    fn changes(&self, old: &Options, factor: Factor) -> Vec<ScaledOption> {
        let nand = &old.nand;
        let mut changes = Vec::new();
        let mut number = |path, was: u32, becomes: u32, why: String| {
            if was != becomes {
                changes.push(ScaledOption {
                    path,
                    was: was.to_string(),
                    becomes: becomes.to_string(),
                    why,
                });
            }
        };
        let fewer = match self.share_of_blocks.part == self.share_of_blocks.whole {
            true => "all of the factor, so that as many blocks remain".to_owned(),
            false => format!(
                "{} flash pages, of {LEAST_PAGES} or more those with which blocks are hardly rounded",
                u64::from(self.pages_per_block) / u64::from(nand.pages_at_once())
            ),
        };
        number("nand.pages_per_block", nand.pages_per_block, self.pages_per_block, fewer);
        let why = match self.fixed {
            0 => "the rest of the factor".to_owned(),
            fixed => format!("the rest of the factor, but the {fixed} that are free or open stay"),
        };
        number("nand.blocks_per_plane", nand.blocks_per_plane, self.blocks_per_plane, why);
        let was = old.ftl.over_provisioning;
        if let Some(share) = self.over_provisioning.filter(|share| *share != was) {
            changes.push(ScaledOption {
                path: "ftl.over_provisioning",
                was: was.to_toml(),
                becomes: share.to_toml(),
                why: format!("what gives the host {factor} of the capacity"),
            });
        }
        changes
    }
}

fn has_log(options: &Options) -> bool {
    options.ftl.mapping.policy.log().is_some()
}

/// The blocks of a plane that are no candidates of collection under a full load: its reserve, and those that are being
/// filled. `times` is what remains of the other blocks.
fn fixed_blocks(options: &Options, times: Proportion) -> u64 {
    let ftl = &options.ftl;
    if !ftl.mapping.policy.translates() {
        return 0;
    }
    if has_log(options) {
        return u64::from(Shares::BESIDE);
    }
    const LEAST: u64 = 1;
    let more = u64::from(ftl.gc.reserve).saturating_sub(LEAST);
    LEAST + times.of(more) + u64::from(ftl.streams.policy.counts().open_blocks())
}

impl Scaled {
    /// What is doubtful about so small a part, for people who don't read its head.
    #[must_use]
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let blocks = |config: &Config| config.options.nand.blocks_per_plane;
        let (old, new) = (blocks(&self.whole), blocks(&self.config));
        if new < AMPLE_BLOCKS && new < old {
            cautions.push(format!(
                "a plane has {new} blocks in place of {old}: below about {AMPLE_BLOCKS}, write amplification drifts from that of \
                 the whole: with 155 to 45 of them 2 to 9 % lower ones were measured, with 17 of them 4.5 % higher ones"
            ));
        }
        let slc = |path: &str| self.changes.iter().find(|change| change.path == path);
        for path in
            ["ftl.slc_cache.blocks", "ftl.slc_cache.most_borrowed", "ftl.slc_cache.keep_free"]
        {
            let Some(ScaledOption { was, becomes, .. }) = slc(path) else { continue };
            let number = |text: &str| text.parse::<f64>().ok();
            let (Some(before), Some(after)) = (number(was), number(becomes)) else { continue };
            let exact = f64::from(new) / f64::from(old) * before;
            if (after - exact).abs() > ROUGH * exact {
                cautions.push(format!(
                    "`{path}` is rounded from {exact:.2} to {becomes} blocks: the SLC cache has another size than its share"
                ));
            }
        }
        cautions
    }

    /// The device as a file.
    #[must_use]
    pub fn text(&self) -> String {
        told::text(self)
    }
}

#[cfg(test)]
mod tests;
