//! The config of a device: TOML text with units, which is parsed, checked as a whole, and resolved to integers.
//!
//! A config is a stack of [`Layer`]s: built-in defaults, a preset, the user's file, and each `--set`. [`Config::load`]
//! combines them. It yields a config from which a device can be built, or all mistakes at once, each with its place and
//! its remedy. Options are declared once ([`declare`](crate::options::declare)); [`explain()`], [`all_options`] and
//! [`all_policies`] read the declarations. Nothing here touches a file or the environment: text in, values out.

mod abilities;
mod check;
mod cost;
pub mod datasheet;
mod dram;
mod explain;
#[doc(hidden)]
pub mod fuzz;
mod link;
mod options;
mod power;
mod resolve;
pub mod scale;
mod stack;
mod usual;

use std::collections::BTreeMap;

pub use abilities::*;
pub use cost::*;
pub use dram::*;
pub use explain::{PolicyTopic, Topic, UnknownPath, all_options, all_policies, catalog, explain};
pub use link::LinkOptions;
pub use options::*;
pub use power::*;
pub use stack::{Files, circle};

// Re-exported for callers that load a config.
pub use crate::options::{ConfigError, Layer, Problem, Problems, SourcePlace, ValueOrigin};

use link::adjust_link;
use stack::{NoFiles, Stack, Texts};

use crate::cache::UsualCapacity;
use crate::ftl::placement::{PlacementChoice, StripeOptions};
use crate::ftl::superblock::SuperblockPolicy;
use crate::host::translation::LogRules;
use crate::host::zones::ZonePolicy;
use crate::options::Node;
use crate::options::reader::{self, LayerReader};
use crate::options::show::Printer;
pub use crate::options::show::Shown;
use crate::shape::{FlashGeometry, Shape, ZoneShape};
use crate::shape::{Shares, StripeOrder};

/// A checked config.
#[derive(Clone, Debug)]
pub struct Config {
    /// The values of all options.
    pub options: Options,
    /// Suspicious but not wrong values.
    pub warnings: Vec<Problem>,
    /// Options that the user set although they do nothing.
    pub notes: Vec<Problem>,
    texts: Texts,
    origins: BTreeMap<&'static str, ValueOrigin>,
}

impl Config {
    /// Combines layers, the later over the earlier, and checks the result.
    ///
    /// A file that names a preset as its `base` inserts that preset just below itself.
    ///
    /// # Errors
    /// All mistakes: syntax, unknown keys and policies, values, and combinations.
    pub fn load(layers: &[Layer]) -> Result<Config, ConfigError> {
        Config::load_with(layers, &mut NoFiles)
    }

    /// Like [`load`](Self::load), but files may also build on files.
    ///
    /// # Errors
    /// All mistakes, including those in the opened files.
    pub fn load_with(layers: &[Layer], files: &mut dyn Files) -> Result<Config, ConfigError> {
        let Stack { layers: all, parsed } = Stack::of(layers, files);
        let unread = parsed.iter().any(|layer| !layer.is_read);
        let texts = Texts::of(&all, &parsed);
        let mut reader = LayerReader::new(&all, parsed, catalog());
        if unread {
            // If a layer could not be read, further problems may only be due to its missing options.
            return Err(ConfigError { problems: reader.problems() });
        }
        imply_zoned(&mut reader);
        let mut options = Options::read(&mut reader);
        reader.finish();
        adjust(&mut options, &mut reader);
        let check::Findings { mut warnings, mut notes } = check::check(&options, &mut reader);
        let problems = reader.problems();
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        reader::sort(&all, &mut warnings);
        reader::sort(&all, &mut notes);
        Ok(Config { options, warnings, notes, texts, origins: reader.origins })
    }

    /// The origin of an option's value; `None` if the option does not apply.
    #[must_use]
    pub fn origin(&self, path: &str) -> Option<&ValueOrigin> {
        self.origins.get(path)
    }

    /// The comment on the line that sets an option.
    #[must_use]
    pub fn comment(&self, path: &str) -> Option<&str> {
        match self.origin(path)? {
            ValueOrigin::Layer { label, line: Some(line) } => self.texts.comment(label, *line),
            _ => None,
        }
    }

    /// Whether the text labelled `above` builds on the one labelled `label`, directly or indirectly.
    #[must_use]
    pub fn builds_on(&self, above: &str, label: &str) -> bool {
        self.texts.builds_on(above, label)
    }

    /// The shape of the flash.
    #[must_use]
    pub fn shape(&self) -> Shape {
        resolve::shape(&self.options)
    }

    /// The flash, with its pages in order.
    #[must_use]
    pub fn flash(&self) -> FlashGeometry {
        resolve::flash(&self.options)
    }

    /// The shape that the FTL fills: the flash or, if it fills superblocks over several dies, the
    /// flash without parity ([`SuperblockSpan::volume`](crate::shape::SuperblockSpan::volume)).
    #[must_use]
    pub fn volume(&self) -> Shape {
        resolve::volume(&self.options)
    }

    /// The number of logical pages (mapping units) that the host sees.
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        let logical = resolve::logical_pages(&self.options);
        u32::try_from(logical).expect("a checked shape has fewer than 2^31 pages")
    }

    /// The zones, if the device has any.
    #[must_use]
    pub fn zones(&self) -> Option<ZoneShape> {
        resolve::zones(&self.options)
    }

    /// The option whose policy has to know the future of the load, if there is one.
    #[must_use]
    pub fn foresees(&self) -> Option<&'static str> {
        let Options { host, ftl, .. } = &self.options;
        let hints = host.hints.policy.foresees().then_some("host.hints.policy = \"oracle\"");
        let streams = ftl.streams.policy.foresees().then_some("ftl.streams.policy = \"future\"");
        hints.or(streams)
    }

    /// The rules of the log-structured store on the zones, if the host translates addresses.
    #[must_use]
    pub fn host_translation(&self) -> Option<LogRules> {
        resolve::host_translation(&self.options)
    }

    /// The number of channels that work as one (`ftl.merge.planner = "synchronised"`).
    #[must_use]
    pub fn gang(&self) -> u32 {
        resolve::gang(&self.options)
    }

    /// The division of a plane's blocks, if the mapping has a log.
    #[must_use]
    pub fn shares(&self) -> Option<Shares> {
        resolve::shares(&self.options)
    }

    /// The whole config as TOML: every option in a fixed order, with its origin in a comment, after
    /// a comment on the files that build on each other. Loading the text yields the same options.
    #[must_use]
    pub fn show(&self) -> String {
        let origin = |path: &str| match self.origins.get(path) {
            Some(origin) => Shown::With(origin.to_string()),
            None => Shown::Bare,
        };
        self.texts.told() + &self.show_as(origin)
    }

    /// The whole config as TOML without comments: equal options yield equal texts. Hashes of the
    /// config are made from this.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.show_as(|_| Shown::Bare)
    }

    /// The config as TOML in a fixed order. `shown` says what becomes of the line of each option.
    #[must_use]
    pub fn show_as(&self, shown: impl Fn(&str) -> Shown) -> String {
        self.printer().finish(shown)
    }

    /// The values in force as TOML, by the paths of their options.
    #[must_use]
    pub fn values(&self) -> BTreeMap<&'static str, String> {
        self.printer().values()
    }

    fn printer(&self) -> Printer {
        let mut printer = Printer::new(catalog());
        self.options.write(&mut printer);
        printer
    }
}

/// A log maps whole flash pages, and their addresses determine their places.
fn adjust_to_log(options: &mut Options, reader: &mut LayerReader<'_>) {
    const UNIT: &str = "ftl.mapping.unit";
    if !reader.set_by_hand(UNIT) {
        options.ftl.mapping.unit = MapUnit::FlashPage;
        reader.origins.insert(UNIT, ValueOrigin::Adjusted("a log maps whole flash pages"));
    }
    const PLACEMENT: &str = "ftl.placement.policy";
    let is_static = options.ftl.placement.policy.stripe().is_some();
    if !is_static && !reader.set_by_hand(PLACEMENT) {
        let stripe = StripeOptions { order: StripeOrder::CHANNELS_FIRST };
        options.ftl.placement.policy = PlacementChoice::striped(stripe);
        const WHY: ValueOrigin = ValueOrigin::Adjusted("a log needs pages that know their plane");
        reader.origins.insert(PLACEMENT, WHY);
        reader.origins.insert("ftl.placement.order", WHY);
    }
}

/// Zones lie on planes of their own, in streams of their own. Superblocks need no such placement: a zone fills some.
fn imply_zoned(reader: &mut LayerReader<'_>) {
    let zones = reader.peek::<ZonePolicy>("host.zones.policy");
    if zones.is_none_or(|policy| policy == ZonePolicy::None) {
        return;
    }
    const WHY: &str = "zones have blocks of their own";
    reader.imply("ftl.streams.policy", "zoned", WHY);
    let superblocks = reader.peek::<SuperblockPolicy>("ftl.superblock.policy");
    if superblocks.is_none_or(|policy| policy == SuperblockPolicy::None) {
        reader.imply("ftl.placement.policy", "zoned", WHY);
    }
}

/// Open zones are active, too.
fn adjust_to_zones(options: &mut Options, reader: &mut LayerReader<'_>) {
    if options.host.zones.policy == ZonePolicy::None {
        return;
    }
    let zones = &mut options.host.zones;
    const OPEN: &str = "host.zones.max_open";
    let more =
        zones.max_active.is_some_and(|active| zones.max_open.is_none_or(|open| open > active));
    if more && !reader.set_by_hand(OPEN) {
        zones.max_open = zones.max_active;
        reader.origins.insert(OPEN, ValueOrigin::Adjusted("open zones are active"));
    }
}

/// Adjusts defaults to the options on which they depend.
fn adjust(options: &mut Options, reader: &mut LayerReader<'_>) {
    if options.ftl.mapping.policy.log().is_some() {
        adjust_to_log(options, reader);
    }
    adjust_link(options, reader);
    adjust_to_zones(options, reader);
    let nand = &mut options.nand;
    const UNIT: &str = "ftl.mapping.unit";
    let page = nand.flash_page();
    if options.ftl.mapping.unit.bytes(page) > page && !reader.is_set(UNIT) {
        options.ftl.mapping.unit = MapUnit::Size(page);
        reader.origins.insert(UNIT, ValueOrigin::Adjusted("cut to the page size"));
    }
    const CODEWORD: &str = "nand.codeword";
    let unit = options.ftl.mapping.unit.bytes(page);
    if nand.codeword > unit && !reader.is_set(CODEWORD) {
        nand.codeword = unit;
        reader.origins.insert(CODEWORD, ValueOrigin::Adjusted("cut to the mapping unit"));
    }
    const CAPACITY: &str = "cache.capacity";
    // Channels that work as one have pages that are larger by this factor.
    let page = resolve::shape(options).page_size;
    if let Some(UsualCapacity { capacity, usual, why }) = options.cache.policy.usual_capacity()
        && !reader.is_set_for(CAPACITY, "cache.policy")
    {
        *capacity = usual.max(page);
        reader.origins.insert(CAPACITY, ValueOrigin::Adjusted(why));
    }
}
