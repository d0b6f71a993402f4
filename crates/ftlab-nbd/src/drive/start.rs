//! Starts a drive: new, from an image, as it was shut down, or as a killed server left it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, Remains, power_up};
use ftlab::ftl::recovery::Touched;
use ftlab::host::Host;
use ftlab::image::Resume;
use ftlab::shape::Geometry;
use ftlab::units::{Nanos, SimTime};
use ftlab_lab::experiment::refuse_foresight;
use ftlab_lab::failure::Failure;
use ftlab_lab::image::{self, OpenedImage};
use ftlab_lab::memory::{self, Instruments};

use super::bytes::Bytes;
use super::data_file::{self, DataFile, OpenedData, Unusable};
use super::header::{Facts, Header, State};
use super::layout::FileLayout;
use super::meter::Meter;
use super::stored::StoredDevice;
use super::tables::DriveView;
use super::{Cuts, Drive, recovery};

/// Which drive to start.
#[derive(Clone)]
pub struct DriveSpec {
    /// The configuration; none takes that of the data file or of the image.
    pub config: Option<Config>,
    /// The state that a new drive has, without its data.
    pub image: Option<Arc<OpenedImage>>,
    /// The data file.
    pub data: PathBuf,
    /// The seed of a new drive.
    pub seed: u64,
}

/// How a drive has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is new.
    New,
    /// It has the state of an image.
    Aged,
    /// It goes on as it was shut down.
    Saved,
    /// Its server was killed, and it has recovered.
    Recovered {
        /// How long the recovery took, in simulated time.
        time: Nanos,
        /// Logical pages that are there.
        pages: u64,
    },
}

impl DriveSpec {
    /// Starts the drive.
    ///
    /// # Errors
    /// The data file can't be used or belongs to another device, or a killed server left nothing.
    pub fn start(&self) -> Result<(Drive, Start), Failure> {
        let unusable = |error: Unusable| unusable(&self.data, &error);
        let is_new = !self.data.exists();
        if is_new {
            self.config_of_new(None)?;
        }
        let opened = data_file::open(&self.data).map_err(unusable)?;
        let state = opened.header.as_ref().map_or(State::New, |header| header.state);
        let config = self.config_for(&opened, state)?;
        let setup = device_setup(&config, self.seed);
        let (layout, geometry) = (FileLayout::of(&config, &setup), setup.ftl.geometry);
        let text = config.canonical();
        let file = DataFile::take(&self.data, opened, layout, &text, self.seed);
        let file = file.map_err(unusable)?;
        let start = Starting { path: &self.data, config, geometry, file };
        match (state, &self.image) {
            (State::New, None) => start.new_drive(None),
            (State::New, Some(image)) => start.new_drive(Some(image)),
            (State::Saved, _) => start.saved(),
            (State::Running, _) => start.killed(),
        }
    }

    /// The configuration of a new drive. One that was only begun has a header already.
    fn config_of_new(&self, begun: Option<&Header>) -> Result<Config, Failure> {
        let image = self.image.as_deref();
        let config = match (&self.config, image) {
            (Some(config), _) => config.clone(),
            (None, Some(image)) => image.config.clone(),
            (None, None) => {
                let (name, example) = (self.data.display(), "as in `ftlab serve tlc-32g`");
                return Err(Failure::usage(match begun {
                    None => {
                        format!(
                            "{name} is a new drive: of which device?\n  remedy: name one, {example}"
                        )
                    }
                    Some(_) => format!(
                        "the server of {name} was killed while it made the drive, which holds nothing yet\n  remedy: \
                         name its device, {example}, to begin anew; or delete the file"
                    ),
                }));
            }
        };
        image.map_or(Ok(()), |image| image.check(&config))?;
        refuse_foresight(&config, "a drive that is served")?;
        if config.zones().is_some() {
            return Err(Failure::usage(
                "the device has zones, which the protocol of network block devices does not know\n  remedy: set \
                 host.zones.policy to \"none\", or run a workload on the device (`ftlab run`)"
                    .to_owned(),
            ));
        }
        Ok(config)
    }

    /// The configuration. That of the data file counts, and another one is refused.
    fn config_for(&self, opened: &OpenedData, state: State) -> Result<Config, Failure> {
        if state == State::New {
            return self.config_of_new(opened.header.as_ref());
        }
        let name = self.data.display().to_string();
        let kept = ftlab_lab::device::of_text(&name, &opened.config, &[])?;
        if self.image.is_some() {
            return Err(Failure::usage(format!(
                "{name} has a drive already, which does not take the state of an image\n  remedy: leave the image \
                 out, or choose another data file"
            )));
        }
        match &self.config {
            Some(config) if config.canonical() != kept.canonical() => {
                Err(other_device(&name, &kept, config))
            }
            _ => Ok(kept),
        }
    }
}

/// Refuses a device that is not the one in the file, with the first options that differ.
fn other_device(name: &str, kept: &Config, asked: &Config) -> Failure {
    const MOST: usize = 5;
    let (kept_options, asked_options) = (options_of(kept), options_of(asked));
    let other = kept_options.iter().filter(|option| !asked_options.contains(option));
    let told: String = other.take(MOST).map(|option| format!("  it has {option}\n")).collect();
    Failure::usage(format!(
        "{name} has a drive with another configuration ({}):\n{told}  remedy: leave the device and its options out, or \
         choose another data file",
        kept.options.device.name
    ))
}

/// The options of a configuration, one a line, with their paths.
fn options_of(config: &Config) -> Vec<String> {
    let text = config.canonical();
    let mut section = String::new();
    let mut options = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => section = format!("{name}."),
            None if line.contains('=') => options.push(format!("{section}{line}")),
            None => {}
        }
    }
    options
}

/// Tells why a data file can't be used.
fn unusable(path: &Path, error: &Unusable) -> Failure {
    let remedy = match error {
        Unusable::Foreign => {
            "choose another name for the data file, so that this one is not overwritten"
        }
        Unusable::InUse => "stop that server, or choose another data file",
        Unusable::OtherFormat(_) => {
            "use the version of ftlab that wrote it, or start with a new data file"
        }
        Unusable::Io(error) => remedy(error.kind()),
        Unusable::Damaged(_) => "start with a new data file",
    };
    let text = format!("can't use {}: {error}\n  remedy: {remedy}", path.display());
    match error {
        Unusable::Io(_) => Failure::File(text),
        _ => Failure::usage(text),
    }
}

/// What helps if a data file can't be read or written.
pub(super) fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "create the folder, or choose another place",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on its file system, and start the server again"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "put the file where you may write: it is written even if clients only read (--read-only)"
        }
        _ => "check the file, its file system, and your rights",
    }
}

/// The parts of a served device: its dies may be killed by order.
pub(super) fn device_setup(config: &Config, seed: u64) -> DeviceSetup {
    DeviceSetup::new(config, seed).bearing_deaths()
}

/// A drive that is being started.
struct Starting<'a> {
    path: &'a Path,
    config: Config,
    geometry: Geometry,
    file: DataFile,
}

impl Starting<'_> {
    fn recovers(&self) -> bool {
        self.config.options.ftl.recovery.policy.survives()
    }

    fn bytes(&self) -> Bytes {
        let (file, layout) = (self.file.file(), self.file.layout());
        Bytes::new(file, layout, self.geometry.clone(), self.recovers())
    }

    fn meter(&self) -> Meter {
        Meter::new(Geometry::new(self.config.shape()).dies())
    }

    fn failed(&self, error: impl Into<Unusable>) -> Failure {
        unusable(self.path, &error.into())
    }

    fn device(&self) -> Result<Device<Meter, Bytes>, Failure> {
        let instruments = Instruments { probe: self.meter(), contents: self.bytes() };
        let setup = || Ok(device_setup(&self.config, self.file.seed()));
        memory::device_of(setup, &self.config, instruments)
    }

    fn new_drive(self, image: Option<&Arc<OpenedImage>>) -> Result<(Drive, Start), Failure> {
        let mut device = self.device()?;
        if let Some(image) = image {
            let loaded = device.load(&image.image.snapshot, Resume::ALL);
            loaded.map_err(|damage| image.refused(&damage))?;
        }
        let start = if image.is_some() { Start::Aged } else { Start::New };
        self.run(device, start)
    }

    fn saved(self) -> Result<(Drive, Start), Failure> {
        let (packed, seconds) = self.file.saved().map_err(|error| self.failed(error))?;
        let image = image::take_bytes(&self.path.display().to_string(), &packed)?;
        let mut device = self.device()?;
        let loaded = device.load(&image.image.snapshot, Resume::ALL);
        loaded.map_err(|damage| image.refused(&damage))?;
        device.contents_mut().seconds = seconds;
        self.run(device, Start::Saved)
    }

    /// The drive can take up its work. Nothing of its file has changed yet.
    fn run(self, device: Device<Meter, Bytes>, start: Start) -> Result<(Drive, Start), Failure> {
        let mut drive = self.drive(device);
        drive.counted.power_cycles = 1;
        drive.begins = true;
        Ok((drive, start))
    }

    fn drive(self, device: Device<Meter, Bytes>) -> Drive {
        let recovers = self.recovers();
        let Starting { config, geometry, file, .. } = self;
        let started = device.now();
        Drive {
            device: Some(device),
            config,
            geometry,
            life_before: file.life(),
            file,
            recovers,
            begins: false,
            broken: false,
            touched: Default::default(),
            counted: Default::default(),
            started,
            answers: Vec::new(),
            completions: Vec::new(),
            cuts: Cuts::default(),
        }
    }

    fn killed(mut self) -> Result<(Drive, Start), Failure> {
        if !self.recovers() {
            return Err(Failure::usage(format!(
                "the server of {} was killed, and its drive keeps nothing for recovery \
                 (ftl.recovery.policy = \"none\"): its data is lost\n  remedy: delete the file, and {}",
                self.path.display(),
                recovery::remedy(&self.config)
            )));
        }
        let stored = self.file.stored(&self.geometry).map_err(|error| self.failed(error))?;
        let (device, start) = self.recover(&stored)?;
        let facts: Facts = stored.all_facts().clone();
        let mut drive = self.drive(device);
        drive.life_before = facts.life;
        drive.counted.power_cycles = 1;
        drive.counted.unsafe_shutdowns = 1;
        if let Start::Recovered { time, .. } = start {
            drive.cuts.last_recovery = Some(time);
        }
        drive.commit_recovery().map_err(|error| drive.failed("write", &error))?;
        Ok((drive, start))
    }

    fn recover(&self, stored: &StoredDevice) -> Result<(Device<Meter, Bytes>, Start), Failure> {
        let damaged = |damage: ftlab::image::Damage| self.failed(Unusable::Damaged(damage.0));
        let setup = || device_setup(&self.config, self.file.seed());
        let at = SimTime(stored.all_facts().now_ns);
        let remains = Remains::of_kept(setup(), at, self.bytes(), stored);
        stored.check().map_err(|error| self.failed(error))?;
        let mut remains = remains.map_err(damaged)?;
        remains.contents.seconds = stored.take_seconds();
        let (device, recovered) = power_up(setup(), self.meter(), remains).map_err(damaged)?;
        let pages = recovered.found.pages;
        Ok((device, Start::Recovered { time: recovered.time, pages }))
    }
}

impl Drive {
    /// Writes everything that the device keeps, and has it say what changes from now on.
    pub(super) fn write_tables(&mut self) -> io::Result<()> {
        if !self.recovers {
            return Ok(());
        }
        self.device_mut().swap_touched(&mut Touched::default());
        let Drive { device, file, geometry, .. } = self;
        let device = device.as_ref().expect("power is cut only within a call");
        let kept = device.kept().expect("a device that recovers keeps something");
        let view = DriveView { kept, seconds: &device.contents().seconds, geometry };
        file.write_tables(view)
    }
}
