//! Shared by the integration tests: devices as configurations, random ones, and ways to drive a device.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod caching;
pub mod chunks;
mod drive;
pub mod failing;
pub mod gating;
pub mod logs;
pub mod on_demand;
pub mod random;
pub mod regulating;

pub use drive::*;

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use ftlab::config::{Config, ConfigError, Layer, all_policies};
use ftlab::device::DeviceSetup;
use ftlab::nand::timing::{Bus, OneBit, PageTimes};
use ftlab::shape::{Geometry, Shape};
use ftlab::units::Nanos;
use ftlab_torture::draw;

/// The base of every test device. Like a preset's options, these give way where a mapping has no
/// use for them.
const BASE: [(&str, &str); 2] =
    [("options.toml", include_str!("options.toml")), ("small.toml", include_str!("small.toml"))];

/// Times in `small.toml` and `options.toml`.
pub const READ: Nanos = Nanos(50_000);
pub const PROGRAM: Nanos = Nanos(600_000);
pub const ERASE: Nanos = Nanos(3_000_000);
pub const PAGE_TIMES: [PageTimes; 3] = [
    PageTimes { read: Nanos(40_000), program: Nanos(300_000) },
    PageTimes { read: Nanos(55_000), program: Nanos(700_000) },
    PageTimes { read: Nanos(85_000), program: Nanos(1_900_000) },
];
pub const ONE_BIT: OneBit =
    OneBit { read: Nanos(20_000), program: Nanos(150_000), erase: Nanos(2_000_000) };
pub const DRAM: Nanos = Nanos(1_500);

/// The largest over-provisioning allowed, in millionths.
const MOST: u64 = 9_000_000;

/// The paths of options that many tests set.
pub const OVER_PROVISIONING: &str = "ftl.over_provisioning";
pub const BLOCKS: &str = "nand.blocks_per_plane";

type Change = Rc<dyn Fn(&mut DeviceSetup)>;

/// A device's configuration: its differences from `small.toml`, as `--set` takes them.
#[derive(Clone)]
pub struct Spec {
    /// Options by path; a later one wins.
    sets: Vec<(String, String)>,
    seed: u64,
    /// Changes that no configuration can express.
    changes: Vec<(&'static str, Change)>,
    config: OnceCell<Config>,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "small.toml")?;
        self.sets.iter().try_for_each(|(path, value)| write!(f, " --set '{path}={value}'"))?;
        write!(f, " --seed {}", self.seed)?;
        self.changes.iter().try_for_each(|(what, _)| write!(f, ", with other {what}"))
    }
}

impl Spec {
    /// `small.toml` as it is.
    pub fn small() -> Spec {
        Spec { sets: Vec::new(), seed: 1, changes: Vec::new(), config: OnceCell::new() }
    }

    /// With an option set over earlier ones. A changed policy drops the options of the old one.
    pub fn set(mut self, path: &str, value: impl fmt::Display) -> Spec {
        self.config.take();
        self.sets.retain(|(known, _)| known != path);
        self.sets.push((path.to_owned(), value.to_string()));
        self
    }

    /// With the options of a text that has one `path = value` a line.
    pub fn with(self, text: &str) -> Spec {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.fold(self, |spec, line| {
            let (path, value) = line.split_once('=').expect("path = value");
            spec.set(path.trim(), value.trim())
        })
    }

    /// The value set at this path, or else the base's.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.sets.iter().find(|(known, _)| known == path).map(|(_, value)| value.as_str())
    }

    /// Without the options at these paths.
    pub fn without(mut self, paths: impl Fn(&str) -> bool) -> Spec {
        self.config.take();
        self.sets.retain(|(path, _)| !paths(path));
        self
    }

    /// With the other device's options at these paths in place of its own.
    pub fn like(self, other: &Spec, paths: impl Fn(&str) -> bool) -> Spec {
        let sets = other.sets.iter().filter(|(path, _)| paths(path));
        sets.fold(self.without(&paths), |spec, (path, value)| spec.set(path, value))
    }

    /// With another seed for everything random.
    pub fn seeded(self, seed: u64) -> Spec {
        Spec { seed, ..self }
    }

    /// With a change that no configuration can express.
    pub fn changed(self, what: &'static str, change: impl Fn(&mut DeviceSetup) + 'static) -> Spec {
        let mut spec = self.unchanged(what);
        spec.changes.push((what, Rc::new(change)));
        spec
    }

    /// Without the change called `what`.
    pub fn unchanged(mut self, what: &'static str) -> Spec {
        self.changes.retain(|(known, _)| *known != what);
        self
    }

    /// With a write buffer of this policy and `units` mapping units.
    pub fn buffered(self, policy: &str, units: u32) -> Spec {
        // The most over-provisioning loads however full the device is to be.
        let unit = self.clone().set(OVER_PROVISIONING, ppm(MOST)).shape().mapping_unit.0;
        self.set("cache.policy", policy)
            .set("cache.capacity", format!("{}B", u64::from(units) * unit))
    }

    /// With this many logical pages: set as over-provisioning, or as a capacity if over-provisioning
    /// can't express it.
    pub fn holding(self, pages: u32) -> Spec {
        let spec = self.over_provisioned(pages);
        if spec.logical_pages() == pages {
            return spec;
        }
        let unit = spec.shape().mapping_unit.0;
        let spec = spec.set("ftl.capacity", format!("{}B", u64::from(pages) * unit));
        assert_eq!(spec.logical_pages(), pages, "{spec:?} can't hold that many pages");
        spec
    }

    /// With enough over-provisioning to leave this many logical pages, or as close as it gets.
    pub fn over_provisioned(self, pages: u32) -> Spec {
        let roomy = self.set("ftl.capacity", "none").set(OVER_PROVISIONING, ppm(MOST));
        let all = u64::from(Geometry::new(roomy.config().volume()).physical_pages());
        let spare = (all * 1_000_000 / u64::from(pages.max(1))).saturating_sub(1_000_000);
        roomy.set(OVER_PROVISIONING, ppm(spare.min(MOST)))
    }

    /// As full as the configuration's checks allow, or `percent` of that.
    pub fn filled(self, percent: u32) -> Spec {
        let mut spec = self.set("ftl.capacity", "none").set(OVER_PROVISIONING, "0%");
        while let Err(refused) = spec.load() {
            let mut remedies = refused.problems.iter().filter_map(draw::remedy);
            let Some((_, share)) = remedies.find(|(path, _)| *path == OVER_PROVISIONING) else {
                panic!("{spec:?}: {refused}")
            };
            spec = spec.set(OVER_PROVISIONING, share);
        }
        let pages = u64::from(spec.logical_pages()) * u64::from(percent) / 100;
        if percent == 100 { spec } else { spec.over_provisioned(pages as u32) }
    }

    /// The same flash without translation.
    pub fn physical(self) -> Spec {
        let of_places = |path: &str| path.starts_with("ftl.") || path.starts_with("cache.");
        let spec = self.without(of_places).set("ftl.mapping.policy", "physical");
        spec.with("ftl.mapping.unit = flash-page\n ftl.over_provisioning = 0%")
    }

    /// The checked configuration, or its errors.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let base = BASE.map(|(label, text)| Layer::saved(label, text));
        let sets = self.sets.iter().map(|(path, value)| format!("{path}={value}"));
        let sets = (1..).zip(sets).map(|(number, set)| Layer::set(number, &set));
        Config::load(&base.into_iter().chain(sets).collect::<Vec<_>>())
    }

    /// What is wrong with it. A right configuration is kept.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.config.get().is_none() {
            let config = self.load()?;
            self.config.get_or_init(|| config);
        }
        Ok(())
    }

    /// The checked configuration.
    pub fn config(&self) -> &Config {
        self.config.get_or_init(|| self.load().unwrap_or_else(|why| panic!("{self:?}: {why}")))
    }

    /// The setup from which the device is assembled.
    pub fn setup(&self) -> DeviceSetup {
        let mut setup = DeviceSetup::new(self.config(), self.seed);
        self.changes.iter().for_each(|(_, change)| change(&mut setup));
        setup
    }

    /// The shape of the flash.
    pub fn shape(&self) -> Shape {
        self.config().shape()
    }

    /// The geometry of the flash.
    pub fn geometry(&self) -> Geometry {
        Geometry::new(self.shape())
    }

    pub fn logical_pages(&self) -> u32 {
        self.config().logical_pages()
    }

    pub fn sectors_per_page(&self) -> u32 {
        self.geometry().sectors_per_unit()
    }

    pub fn bus(&self) -> Bus {
        self.setup().flash.bus
    }
}

/// A share as a configuration writes it.
fn ppm(ppm: u64) -> String {
    format!("{}.{:04}%", ppm / 10_000, ppm % 10_000)
}

/// A time as a configuration writes it.
pub fn ns(time: Nanos) -> String {
    format!("{}ns", time.0)
}

/// The names of all policies of a seam.
pub fn policies(path: &str) -> Vec<&'static str> {
    let seam = all_policies().iter().find(|seam| seam.path == path).expect("a seam");
    seam.policies.iter().map(|policy| policy.name).collect()
}
