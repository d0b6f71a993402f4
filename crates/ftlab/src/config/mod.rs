//! The config of a device: TOML text with units in it, parsed, checked as a whole, then resolved to
//! integers.
//!
//! A config is a stack of [`Layer`]s: built-in defaults, a preset, the user's file, each `--set`.
//! [`Config::load`] takes them together and either yields a config that a device can be built from,
//! or all that is wrong with it at once, each problem with its place and its remedy. Options are
//! declared once ([`declare`](crate::options::declare)); [`explain()`], [`all_options`] and [`all_policies`] read the
//! declarations. Nothing here touches a file or the environment: text in, values out.

mod abilities;
mod check;
mod cost;
mod dram;
mod explain;
#[doc(hidden)]
pub mod fuzz;
mod options;
mod power;
mod resolve;
mod stack;
mod usual;

use std::collections::BTreeMap;

pub use abilities::*;
pub use cost::*;
pub use dram::*;
pub use explain::{PolicyTopic, Topic, UnknownPath, all_options, all_policies, catalog, explain};
pub use options::*;
pub use power::*;
pub use stack::{Files, circle};

// Who loads a config deals with these, too.
pub use crate::options::{ConfigError, Layer, Problem, Problems, SourcePlace, ValueOrigin};

use stack::{NoFiles, Stack, Texts};

use crate::cache::UsualCapacity;
use crate::ftl::placement::{PlacementChoice, StripeOptions};
use crate::options::Node;
use crate::options::reader::{self, LayerReader};
use crate::options::show::Printer;
use crate::shape::Shape;
use crate::shape::{Shares, StripeOrder};

/// A checked config.
#[derive(Clone, Debug)]
pub struct Config {
    /// The values of all options.
    pub options: Options,
    /// What is suspicious about them, though not wrong.
    pub warnings: Vec<Problem>,
    /// What the user set, though it does nothing as other options are.
    pub notes: Vec<Problem>,
    texts: Texts,
    origins: BTreeMap<&'static str, ValueOrigin>,
}

impl Config {
    /// Takes layers together, the later over the earlier, and checks the whole.
    ///
    /// A file that names a preset as its `base` brings that in just beneath itself.
    ///
    /// # Errors
    /// Everything that is wrong: syntax, unknown keys and policies, values, and combinations.
    pub fn load(layers: &[Layer]) -> Result<Config, ConfigError> {
        Config::load_with(layers, &mut NoFiles)
    }

    /// The same where files may build on files, too.
    ///
    /// # Errors
    /// Everything that is wrong, also with the files that are opened.
    pub fn load_with(layers: &[Layer], files: &mut dyn Files) -> Result<Config, ConfigError> {
        let Stack { layers: all, parsed } = Stack::of(layers, files);
        let unread = parsed.iter().any(|layer| !layer.is_read);
        let texts = Texts::of(&all, &parsed);
        let mut reader = LayerReader::new(&all, parsed, catalog());
        if unread {
            // Without one of the layers, whatever else is found wrong may be set in it.
            return Err(ConfigError { problems: reader.problems() });
        }
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

    /// Where the value of an option comes from; `None` if the option does not apply.
    #[must_use]
    pub fn origin(&self, path: &str) -> Option<&ValueOrigin> {
        self.origins.get(path)
    }

    /// Whether the text that messages call `above` builds on the one that they call `label`, or on one that does.
    #[must_use]
    pub fn builds_on(&self, above: &str, label: &str) -> bool {
        self.texts.builds_on(above, label)
    }

    /// The shape of the flash.
    #[must_use]
    pub fn shape(&self) -> Shape {
        resolve::shape(&self.options)
    }

    /// The shape of what the FTL fills: that of the flash, less parity, where it fills superblocks over several
    /// dies ([`Superblocks`](crate::nand::Superblocks)).
    #[must_use]
    pub fn volume(&self) -> Shape {
        resolve::volume(&self.options)
    }

    /// How many logical pages (mapping units) the host sees.
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        let logical = resolve::logical_pages(&self.options);
        u32::try_from(logical).expect("a checked shape has fewer than 2^31 pages")
    }

    /// Channels that work as one (`ftl.merge.planner = "synchronised"`).
    #[must_use]
    pub fn gang(&self) -> u32 {
        resolve::gang(&self.options)
    }

    /// How a plane's blocks are shared out, if the mapping has a log.
    #[must_use]
    pub fn shares(&self) -> Option<Shares> {
        resolve::shares(&self.options)
    }

    /// The whole config as TOML, every option in a fixed order with a comment that says where its
    /// value comes from, after a comment that says what builds on what. Loading the text gives the same
    /// options.
    #[must_use]
    pub fn show(&self) -> String {
        self.texts.told() + &self.print(Some(&self.origins))
    }

    /// The whole config as TOML without comments: equal options give equal text. What a hash of the
    /// config is taken of.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.print(None)
    }

    fn print(&self, origins: Option<&BTreeMap<&'static str, ValueOrigin>>) -> String {
        let mut printer = Printer::new(catalog(), origins);
        self.options.write(&mut printer);
        printer.finish()
    }
}

/// A log maps whole flash pages, whose address tells where they go.
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

/// Fits defaults to the options they depend on.
fn adjust(options: &mut Options, reader: &mut LayerReader<'_>) {
    if options.ftl.mapping.policy.log().is_some() {
        adjust_to_log(options, reader);
    }
    let nand = &mut options.nand;
    const UNIT: &str = "ftl.mapping.unit";
    if options.ftl.mapping.unit.bytes(nand.page_size) > nand.page_size && !reader.is_set(UNIT) {
        options.ftl.mapping.unit = MapUnit::Size(nand.page_size);
        reader.origins.insert(UNIT, ValueOrigin::Adjusted("cut to the page size"));
    }
    const CODEWORD: &str = "nand.codeword";
    let unit = options.ftl.mapping.unit.bytes(nand.page_size);
    if nand.codeword > unit && !reader.is_set(CODEWORD) {
        nand.codeword = unit;
        reader.origins.insert(CODEWORD, ValueOrigin::Adjusted("cut to the mapping unit"));
    }
    const CAPACITY: &str = "cache.capacity";
    // Pages of channels that work as one are as many times larger.
    let page = resolve::shape(options).page_size;
    if let Some(UsualCapacity { capacity, usual, why }) = options.cache.policy.usual_capacity()
        && !reader.is_set_for(CAPACITY, "cache.policy")
    {
        *capacity = usual.max(page);
        reader.origins.insert(CAPACITY, ValueOrigin::Adjusted(why));
    }
}
