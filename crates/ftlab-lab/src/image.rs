//! Image files: a plain preamble, the sections, and the chunks of a large device, each compressed with zstd. Reading is
//! limited in memory; writing goes to a temporary file that is then renamed.
//!
//! ```text
//! preamble  the length of the sections (8 bytes), the sections   the length of each chunk (4 bytes)   the chunks
//! ```
//!
//! Numbers are little-endian. Small images are checked as a whole when they are read, the chunks of large ones when they
//! are needed.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Contents, Device};
use ftlab::image::{Chunks, Damage};
use ftlab::options::presets;
use ftlab::options::value::Value as _;
use ftlab::saved::{Image, Refusal, differences, file};
use ftlab::scheduler::Probe;
use serde_json::Value;

use crate::chunks;
use crate::failure::Failure;
use crate::human;
use crate::packing;
use crate::result::StepDocument;
use crate::text_file;

/// Images whose chunks unpack to more than this are not checked as a whole when they are read.
const CHECKED_AT_ONCE: u64 = 64 << 20;
/// What is read of an image that is no regular file, which has to fit in memory.
const MOST_PIPED: u64 = 4 << 30;
/// Bytes of the length of the sections.
const LENGTH: usize = size_of::<u64>();

/// The decompressed data may be at most this many times as long as the file, plus the limit of the
/// texts: without the limit, a file of a few kilobytes could name a device of terabytes. Images
/// compress best if the device was filled in order, about 150 times.
const MOST_EXPANSION: u64 = 4096;

/// Warns of a device whose blocks have reached their endurance: their next erase fails.
fn worn<P: Probe, C: Contents>(device: &Device<P, C>) -> Option<String> {
    let cycles = device.ftl().life()?.mean_endurance()?;
    let blocks = f64::from(device.flash().geometry().blocks());
    let mean = device.ftl().blocks().all_erases().map(f64::from).sum::<f64>() / blocks;
    (mean >= f64::from(cycles)).then(|| {
        format!(
            "blocks endure {cycles} cycles (nand.endurance.cycles), but those of the image have had {mean:.2} \
             on average: they fail at the next erase"
        )
    })
}

/// Where an image comes from.
#[derive(Clone)]
pub enum ImageSource {
    /// A file, by its name.
    File(String),
    /// An image in memory.
    Opened(Arc<OpenedImage>),
}

impl ImageSource {
    /// Reads the image.
    ///
    /// # Errors
    /// The file cannot be read, or is no image.
    pub fn open(&self) -> Result<Arc<OpenedImage>, Failure> {
        match self {
            ImageSource::File(name) => take(name).map(Arc::new),
            ImageSource::Opened(taken) => Ok(taken.clone()),
        }
    }

    /// Returns its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            ImageSource::File(name) => name,
            ImageSource::Opened(taken) => &taken.name,
        }
    }
}

impl fmt::Debug for ImageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ImageSource({:?})", self.name())
    }
}

/// Images are the same if their content is.
impl PartialEq for ImageSource {
    fn eq(&self, other: &ImageSource) -> bool {
        match (self, other) {
            (ImageSource::File(one), ImageSource::File(other)) => one == other,
            (ImageSource::Opened(one), ImageSource::Opened(other)) => {
                Arc::ptr_eq(one, other) || one.image == other.image
            }
            _ => false,
        }
    }
}

impl Eq for ImageSource {}

/// An image that was read, and its parsed configuration.
pub struct OpenedImage {
    /// The name in messages.
    pub name: String,
    /// The saved device.
    pub image: Image,
    /// The configuration of the image's device.
    pub config: Config,
}

/// Reads an image file.
pub fn take(name: &str) -> Result<OpenedImage, Failure> {
    taken(name, read(Path::new(name)))
}

/// Reads an image from memory. `name` is its name in messages.
pub fn take_bytes(name: &str, bytes: &[u8]) -> Result<OpenedImage, Failure> {
    taken(name, unpack(bytes, bytes.len() as u64, None))
}

fn taken(name: &str, image: Result<Image, Unread>) -> Result<OpenedImage, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::usage(format!("{name}: {error}"));
    let image = image.map_err(|error| match error {
        Unread::Io(error) if error.kind() == io::ErrorKind::NotFound => missing(name),
        Unread::Io(error) => Failure::file("can't read the image", Path::new(name), &error),
        Unread::Refused(refusal) => failed(&refusal),
    })?;
    let config = image.config(name).map_err(|error| {
        Failure::Config(format!(
            "{name} was made by ftlab {}, and this is {}, which refuses its configuration:\n{}",
            image.ftlab_version,
            env!("CARGO_PKG_VERSION"),
            text_file::told(error)
        ))
    })?;
    let opened = OpenedImage { name: name.to_owned(), image, config };
    // By what they unpack to: a large device that was filled in order has a small file.
    let chunks = opened.image.snapshot.chunks.as_ref().map_or(0, Chunks::count) as u64;
    if chunks * file::longest_chunk(&opened.config) as u64 <= CHECKED_AT_ONCE {
        opened.check_chunks()?;
    }
    Ok(opened)
}

fn missing(name: &str) -> Failure {
    let remedy = match presets::find(name) {
        Some(_) => format!(
            "{name} is a built-in device: name it with `device`; an image is the file of a saved device"
        ),
        None => "check the path; an image is the file of a saved device".to_owned(),
    };
    Failure::File(format!("can't read the image {name}: there is no such file\n  remedy: {remedy}"))
}

/// Whether a file is an image, damaged or not. A pipe is not read, because the bytes would be lost.
pub fn is_one(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut preamble = Vec::new();
    let begins = File::open(path)
        .and_then(|from| from.take(file::MAGIC.len() as u64).read_to_end(&mut preamble));
    begins.is_ok() && preamble == file::MAGIC
}

enum Unread {
    Io(io::Error),
    Refused(Refusal),
}

fn read(path: &Path) -> Result<Image, Unread> {
    let mut from = File::open(path).map_err(Unread::Io)?;
    let about = from.metadata().map_err(Unread::Io)?;
    if about.is_file() {
        let file = from.try_clone().map_err(Unread::Io)?;
        return unpack(&from, about.len(), Some(file));
    }
    // A pipe has no length, and can't be read by position later. Nor need it end.
    let mut bytes = Vec::new();
    (&mut from).take(file::PREAMBLE as u64).read_to_end(&mut bytes).map_err(Unread::Io)?;
    file::check_preamble(&bytes).map_err(Unread::Refused)?;
    from.take(MOST_PIPED).read_to_end(&mut bytes).map_err(Unread::Io)?;
    unpack(&*bytes, bytes.len() as u64, None)
}

/// Reads an image file of `length` bytes. Chunks are read later from `file`, or now if there is none.
fn unpack(mut from: impl Read, length: u64, file: Option<File>) -> Result<Image, Unread> {
    let mut preamble = Vec::new();
    let most = file::PREAMBLE as u64;
    (&mut from).take(most).read_to_end(&mut preamble).map_err(Unread::Io)?;
    file::check_preamble(&preamble).map_err(Unread::Refused)?;
    let mut of_sections = [0; LENGTH];
    from.read_exact(&mut of_sections).map_err(cut)?;
    let of_sections = u64::from_le_bytes(of_sections);
    let read = (file::PREAMBLE + LENGTH) as u64;
    let before_chunks = read.checked_add(of_sections).filter(|end| *end <= length);
    let before_chunks = before_chunks.ok_or_else(|| cut(io::ErrorKind::UnexpectedEof.into()))?;
    let mut packed = (&mut from).take(of_sections);
    let mut image = unpack_sections(&mut packed, of_sections)?;
    if packed.limit() > 0 {
        return Err(Unread::Refused(Damage::new("its sections end too early").into()));
    }
    let count = image.snapshot.chunks.as_ref().map_or(0, Chunks::count);
    let chunks = chunks::read(&mut from, count, before_chunks, length, file).map_err(Unread::Io)?;
    let chunks = chunks.map_err(|damage| Unread::Refused(damage.into()))?;
    if let Some(listed) = &mut image.snapshot.chunks {
        listed.come_from(Arc::new(chunks));
    }
    Ok(image)
}

/// The failure of a file that ends too early, or can't be read.
fn cut(error: io::Error) -> Unread {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Unread::Refused(Damage::new("it ends before its sections do").into())
        }
        _ => Unread::Io(error),
    }
}

/// Reads the sections of an image, which take `length` bytes of its file.
fn unpack_sections(from: impl Read, length: u64) -> Result<Image, Unread> {
    let damaged = |error: io::Error| {
        Unread::Refused(Damage::new(format!("it can't be decompressed ({error})")).into())
    };
    let mut from = packing::sections(from).map_err(Unread::Io)?;
    let mut sections = Vec::new();
    from.by_ref().take(file::LONGEST_TEXTS).read_to_end(&mut sections).map_err(damaged)?;
    // Stop where the data exceeds what the device can have.
    let most = file::most_bytes(&sections).map_err(Unread::Refused)?;
    let expanded = file::LONGEST_TEXTS.saturating_add(length.saturating_mul(MOST_EXPANSION));
    let left = most.min(expanded).saturating_sub(sections.len() as u64);
    let read = from.by_ref().take(left + 1).read_to_end(&mut sections).map_err(damaged)?;
    if read as u64 > left {
        let damage = Damage::new(if expanded < most {
            format!("it unpacks to more than {MOST_EXPANSION} times its length, as no image does")
        } else {
            "it holds more than a device of its size can have".to_owned()
        });
        return Err(Unread::Refused(damage.into()));
    }
    Image::decode(&sections).map_err(Unread::Refused)
}

/// Checks the target before any long work begins.
pub fn refuse_to_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_dir() || path.file_name().is_none() {
        return Err(Failure::usage(format!(
            "{shown} is a folder\n  remedy: name an image file (`output`)"
        )));
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!(
            "there is no folder {}\n  remedy: create it, or choose another place (`output`)",
            folder.display()
        )));
    }
    if !path.exists() {
        return temporary_beside(path).map(drop).map_err(|error| cant_write(path, &error));
    }
    if !is_one(path) {
        return Err(Failure::usage(format!(
            "{shown} exists and is not an image\n  remedy: choose another name (`output`)"
        )));
    }
    match force {
        true => temporary_beside(path).map(drop).map_err(|error| cant_write(path, &error)),
        false => Err(Failure::usage(format!(
            "{shown} already contains an image\n  remedy: `force` replaces it, or choose another name (`output`)"
        ))),
    }
}

/// Writes an image in the format of image files.
pub fn pack(mut to: impl Write, image: &Image) -> io::Result<()> {
    to.write_all(&file::preamble())?;
    let sections = packing::pack_sections(&image.encode())?;
    to.write_all(&(sections.len() as u64).to_le_bytes())?;
    to.write_all(&sections)?;
    let Some(chunks) = &image.snapshot.chunks else { return Ok(()) };
    let source = chunks.source().ok_or_else(|| io::Error::other("its chunks are missing"))?;
    chunks::write(&mut to, source, chunks.count())
}

/// A temporary file in the folder of an image, which proves that the image can be written there.
fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ftlab-unfinished-image-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn cant_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file("can't write", path, error)
}

/// Writes an image to a temporary file and renames it when it is complete. Without `force` that replaces nothing; with it,
/// only what is still an image then. Returns its length in bytes.
pub fn write(path: &Path, image: &Image, force: bool) -> Result<u64, Failure> {
    let packed = || -> io::Result<_> {
        let mut unfinished = temporary_beside(path)?;
        pack(&mut unfinished, image)?;
        unfinished.as_file().sync_all()?;
        let length = unfinished.as_file().metadata()?.len();
        Ok((unfinished, length))
    };
    let (unfinished, length) = packed().map_err(|error| cant_write(path, &error))?;
    refuse_to_overwrite(path, force)?;
    let published = match force {
        true => unfinished.persist(path),
        false => unfinished.persist_noclobber(path),
    };
    published.map_err(|error| cant_write(path, &error.error))?;
    Ok(length)
}

impl OpenedImage {
    /// Checks the chunks, which are otherwise checked when they are needed.
    ///
    /// # Errors
    /// One is damaged.
    pub fn check_chunks(&self) -> Result<(), Failure> {
        let Some(chunks) = &self.image.snapshot.chunks else { return Ok(()) };
        let most = file::longest_chunk(&self.config);
        let check = |position| chunks.checked(position, most).map(drop);
        (0..chunks.count()).try_for_each(check).map_err(|damage| {
            Failure::usage(format!("{}: {}", self.name, Refusal::Damaged(damage)))
        })
    }

    /// Checks that a device of this configuration can load the image.
    pub fn check(&self, config: &Config) -> Result<(), Failure> {
        let differences = differences(&self.config, config);
        if differences.is_empty() {
            return Ok(());
        }
        let told: String = differences.iter().map(|one| format!("  {one}\n")).collect();
        Err(Failure::usage(format!(
            "{} does not fit the device, which must have the same shape and capacity:\n{told}  remedy: leave \
             out `device`, which takes that of the image ({}), and set only other options; or make an image of this device",
            self.name, self.config.options.device.name
        )))
    }

    /// Returns warnings about options that a loaded device ignores because the image has already
    /// decided them, and about worn-out blocks.
    pub fn hints<P: Probe, C: Contents>(
        &self,
        config: &Config,
        device: &Device<P, C>,
    ) -> Vec<String> {
        let bad = |config: &Config| config.options.nand.faults.factory_bad;
        let (saved, asked) = (bad(&self.config), bad(config));
        let factory = (saved != asked).then(|| {
            format!(
                "nand.faults.factory_bad = {asked} has no effect: which blocks are bad is part of the image \
                 (made with {saved}); set it when an image is made, on a new device"
            )
        });
        factory.into_iter().chain(self.already_due(config, device)).chain(worn(device)).collect()
    }

    /// Warns of scheduled faults that the image did not have and whose time has already passed.
    fn already_due<P: Probe, C: Contents>(
        &self,
        config: &Config,
        device: &Device<P, C>,
    ) -> Option<String> {
        let schedule = |config: &Config| config.options.nand.faults.schedule.clone();
        let (known, now) = (schedule(&self.config), ftlab::host::Host::now(device).0);
        let due = schedule(config).into_iter().filter(|one| one.at.0 < now && !known.contains(one));
        let due: Vec<String> = due.map(|fault| format!("\"{}\"", fault.print())).collect();
        (!due.is_empty()).then(|| {
            format!(
                "nand.faults.schedule: {} is earlier than the clock of the image {}, which is at {}: it takes effect \
                 at once. Times count from when the device was new; name a later one",
                due.join(", "),
                self.name,
                human::span(now)
            )
        })
    }

    /// Returns the failure for a state that the device rejects.
    pub fn refused(&self, damage: &Damage) -> Failure {
        Failure::usage(format!(
            "{}: the device rejects its state: {damage}\n  remedy: use the policies of the image, or create it \
             again",
            self.name
        ))
    }

    /// Returns how the image was made.
    pub fn story(&self) -> Value {
        serde_json::from_str(&self.image.story).unwrap_or(Value::Null)
    }

    /// Returns the image as a step of preparation in results.
    pub fn document(&self) -> StepDocument {
        StepDocument::Image {
            name: crate::load::short_name(&self.name),
            digest_blake3: blake3::hash(&self.image.encode()).to_hex().to_string(),
            seed: self.image.seed,
            story: self.story(),
        }
    }
}

#[cfg(all(test, feature = "compressors"))]
mod tests;
