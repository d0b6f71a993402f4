//! A simulated drive with its data: the device, its bytes, and the file that outlives the process.
//!
//! [`Drive`] is a host of the device that owns no clock: whoever serves it says when requests come and how far time
//! passes. A commit makes what has happened outlast a kill; it comes before any answer leaves.

mod bytes;
mod commit;
mod data_file;
#[cfg(test)]
mod faults;
mod file;
mod header;
mod host_data;
mod layout;
mod log;
mod meter;
mod observe;
mod records;
mod recovery;
mod start;
mod stored;
mod tables;
#[cfg(test)]
mod tests;

pub use data_file::Unusable;
pub use host_data::Answer;
pub use recovery::settings_to_recover;
pub use start::{DriveSpec, Start};

use std::io;
use std::path::Path;
use std::rc::Rc;

use ftlab::config::Config;
use ftlab::device::{Device, Remains, power_up};
use ftlab::ftl::recovery::Touched;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::shape::Geometry;
use ftlab::units::{DieId, Lba, Lpn, Nanos, SECTOR_BYTES, SimTime};
use ftlab_lab::failure::Failure;
use ftlab_lab::image;
use ftlab_lab::saved;

use self::bytes::Bytes;
use self::data_file::DataFile;
use self::header::LifeCounts;
use self::meter::Meter;
use crate::protocol::Payload;

/// The flush with which the drive empties its buffer. No client's request has its address.
const OWN_FLUSH: Request =
    Request { op: Op::Flush, lba: Lba(u64::MAX), sectors: 0, stream: 0, tag: u32::MAX, fua: false };
/// How far time passes at most before the device is asked whether a commit is due.
const STEP: Nanos = Nanos(1_000_000);
/// How long collections under way may take to end. One that refreshes data may find ever more.
const ENDS: Nanos = Nanos(10_000_000_000);
/// Pages that need no trim, between two that do, that are trimmed along.
const GAP: u64 = 16;

/// A running drive.
pub struct Drive {
    /// None only while power is cut.
    device: Option<Device<Meter, Bytes>>,
    config: Config,
    geometry: Geometry,
    file: DataFile,
    recovers: bool,
    /// Whether the data file has to be told that a server has it.
    begins: bool,
    /// Whether a commit has failed: nothing can be promised any more.
    broken: bool,
    touched: Touched,
    /// What was counted when it started.
    life_before: LifeCounts,
    /// What was counted since.
    counted: LifeCounts,
    started: SimTime,
    answers: Vec<Answer>,
    completions: Vec<ftlab::host::Completion>,
    /// What cuts have done.
    pub cuts: Cuts,
}

/// What has to be trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToTrim {
    /// These sectors: the first, and how many.
    Pages(Lba, u32),
    /// Nothing before this sector. From there on nobody has looked yet.
    NothingBefore(u64),
    /// Nothing.
    Nothing,
}

/// Power cuts of a running drive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cuts {
    /// How many.
    pub count: u64,
    /// The last recovery, also that at the start.
    pub last_recovery: Option<Nanos>,
    /// Acknowledged pages that all cuts lost.
    pub lost_pages: u64,
    /// Acknowledged pages that the last one lost.
    pub last_lost_pages: Option<u64>,
}

impl Drive {
    /// Notes in the data file that a server has the drive. Before, nothing of it is changed.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn begin(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.begins) {
            return Ok(());
        }
        let facts = self.facts();
        let recovers = self.recovers;
        let begun = self.write_tables().and_then(|()| self.file.run(recovers, facts));
        begun.map_err(|error| self.failed("write", &error))
    }

    /// Whether a file is the drive's data file, whatever its name.
    #[must_use]
    pub fn keeps(&self, path: &Path) -> bool {
        self.file.is_at(path)
    }

    fn device(&self) -> &Device<Meter, Bytes> {
        self.device.as_ref().expect("power is cut only within a call")
    }

    fn device_mut(&mut self) -> &mut Device<Meter, Bytes> {
        self.device.as_mut().expect("power is cut only within a call")
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether it recovers from a power cut.
    #[must_use]
    pub fn recovers(&self) -> bool {
        self.recovers
    }

    /// The device's clock.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.device().now()
    }

    /// Its capacity in bytes.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.device().capacity_sectors() * SECTOR_BYTES
    }

    /// The size of a page in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        u64::from(self.geometry.sectors_per_unit()) * SECTOR_BYTES
    }

    /// Whether the device can deallocate pages.
    #[must_use]
    pub fn trims(&self) -> bool {
        self.config.options.ftl.mapping.policy.name() != "physical"
    }

    /// Whether the device can take a request of this stream.
    #[must_use]
    pub fn has_room(&self, stream: u32) -> bool {
        let device = self.device();
        device.has_room(device.queue_of(stream))
    }

    /// Requests in the device.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.device().requests_in_flight()
    }

    /// When the device does something next, if nothing new comes.
    #[must_use]
    pub fn next_moment(&self) -> Option<SimTime> {
        self.device().next_moment()
    }

    /// Submits a request at this time, which must not be before [`now`](Self::now), nor after the
    /// [next moment](Self::next_moment). `data` is that of a write, from a place in the payload on.
    pub fn submit(&mut self, at: SimTime, request: Request, data: Option<(Rc<Payload>, usize)>) {
        if let Some((bytes, offset)) = data {
            let payloads = &mut self.device_mut().contents_mut().payloads;
            payloads.put(request.tag, request.lba.0, bytes, offset);
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        match request.op {
            Op::Read => self.counted.host_read_bytes += bytes,
            Op::Write => self.counted.host_written_bytes += bytes,
            // A block device knows no zones.
            _ => {}
        }
        self.device_mut().submit(at, request);
    }

    /// Lets time pass until requests complete, or to `limit`. Appends the answers.
    ///
    /// # Errors
    /// The data file can't be written.
    pub fn advance(&mut self, limit: SimTime, answers: &mut Vec<Answer>) -> io::Result<Advanced> {
        loop {
            if let Some(advanced) = self.step(limit, answers)? {
                return Ok(advanced);
            }
        }
    }

    /// A bounded part of [`advance`](Self::advance). None if that goes on.
    ///
    /// # Errors
    /// The data file can't be written.
    pub fn step(
        &mut self,
        limit: SimTime,
        answers: &mut Vec<Answer>,
    ) -> io::Result<Option<Advanced>> {
        self.completions.clear();
        let device = self.device.as_mut().expect("power is cut only within a call");
        let next = device.next_moment().unwrap_or(limit).max(device.now());
        let step = if limit.saturating_since(next) <= STEP { limit } else { next + STEP };
        let advanced = device.advance_until(step, &mut self.completions);
        device.contents_mut().swap_answers(&mut self.answers);
        self.answers.retain(|answer| answer.completion.request != OWN_FLUSH);
        answers.append(&mut self.answers);
        if device.contents().is_full() {
            self.commit()?;
        }
        let goes_on = step < limit && advanced != Advanced::Completed;
        let is_over = self.device().next_moment().is_none() && advanced == Advanced::Idle;
        Ok((!goes_on || is_over).then_some(advanced))
    }

    /// Gives back the memory of an answer.
    pub fn recycle(&mut self, answer: Answer) {
        self.device_mut().contents_mut().recycle(answer);
    }

    /// Whether this answer promises that something outlasts a power cut, so that a commit comes before it. A drive with a
    /// volatile write buffer promises that only to flushes, to writes with FUA and to trims.
    #[must_use]
    pub fn promises(&self, answer: &Answer) -> bool {
        let Request { op, fua, .. } = answer.completion.request;
        match op {
            Op::Read => false,
            Op::Write => fua || !self.is_volatile(),
            _ => true,
        }
    }

    /// Whether acknowledged writes may be lost when power is cut.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        let options = &self.config.options;
        options.cache.policy.dram().is_some() && !options.power.capacitors.is_on()
    }

    /// Cuts the power and restores it. Requests in the device are never answered.
    ///
    /// # Errors
    /// The device keeps nothing for recovery, does not come up again, or the data file can't be written.
    pub fn cut_power(&mut self) -> Result<Nanos, Failure> {
        self.can_be_cut()?;
        let remains = self.power_off();
        self.cuts.count += 1;
        self.cuts.lost_pages += remains.lost_pages;
        self.cuts.last_lost_pages = Some(remains.lost_pages);
        let time = self.power_on(remains)?;
        self.cuts.last_recovery = Some(time);
        let committed = self.commit_cut();
        self.broken |= committed.is_err();
        committed.map_err(|error| self.failed("write", &error))?;
        Ok(time)
    }

    /// Cuts the power. What the device has programmed since its start is counted before it is gone.
    fn power_off(&mut self) -> Remains<Bytes> {
        let device = self.device.take().expect("power is cut only within a call");
        let programmed = ftlab::scheduler::flash_pages_programmed(device.flash().done());
        self.counted.media_written_bytes += programmed * self.geometry.shape().page_size.0;
        self.counted.power_cycles += 1;
        self.counted.unsafe_shutdowns += 1;
        device.cut_power()
    }

    /// Brings the device up again. Returns how long that took, in simulated time.
    fn power_on(&mut self, remains: Remains<Bytes>) -> Result<Nanos, Failure> {
        let setup = start::device_setup(&self.config, self.file.seed());
        let up = power_up(setup, Meter::new(self.flash_dies()), remains);
        let (device, recovered) = up.map_err(|damage| {
            Failure::usage(format!("the drive does not come up after the power cut: {damage}"))
        })?;
        self.device = Some(device);
        Ok(recovered.time)
    }

    fn flash_dies(&self) -> u32 {
        ftlab::shape::Geometry::new(self.config.shape()).dies()
    }

    /// Whether power can be cut.
    ///
    /// # Errors
    /// The device keeps nothing for recovery.
    pub fn can_be_cut(&self) -> Result<(), Failure> {
        if self.recovers {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the drive keeps nothing for recovery (ftl.recovery.policy = \"none\"): a cut would leave nothing\n  \
             remedy: {}",
            recovery::remedy(&self.config)
        )))
    }

    fn failed(&self, what: &str, error: &io::Error) -> Failure {
        Failure::File(format!(
            "can't {what} {}: {error}\n  remedy: {}",
            self.file.path.display(),
            self.remedy(error.kind())
        ))
    }

    /// What helps if the data file of the running drive can't be written. The server ends then, which is a power cut.
    #[must_use]
    pub fn remedy(&self, kind: io::ErrorKind) -> String {
        let remedy = start::remedy(kind);
        match self.recovers {
            true => remedy.to_owned(),
            false => format!(
                "{remedy}; the data of this drive is lost, as it keeps nothing for recovery: next time {}",
                recovery::remedy(&self.config)
            ),
        }
    }

    /// Lets a die die.
    ///
    /// # Errors
    /// There is no such die, it is dead already, or the device can't live without it.
    pub fn kill_die(&mut self, die: u32) -> Result<(), String> {
        let dies = self.flash_dies();
        if die >= dies {
            return Err(format!("there is no die {die}: they are 0 to {}", dies - 1));
        }
        let id = DieId::new(die);
        if self.device().ftl().is_known_dead(id) {
            return Err(format!("die {die} is dead already"));
        }
        if self.recovers {
            return Err(
                "this drive keeps what it needs after a power cut, but no index of what lies on each die: only deaths \
                 that nand.faults.schedule foresees are provided for. Set ftl.recovery.policy to \"none\", or schedule it"
                    .to_owned(),
            );
        }
        let setting = format!("nand.faults.schedule={}ns: die {die} dies", self.now().0);
        let settings = ftlab_lab::device::settings(&[setting]);
        let text = self.config.canonical();
        if let Err(refusal) = ftlab_lab::device::of_text("the drive", &text, &settings) {
            return Err(refusal.to_string());
        }
        self.device_mut().kill_die(id);
        Ok(())
    }

    /// Bytes that the host has read and written since the start.
    #[must_use]
    pub fn host_bytes(&self) -> (u64, u64) {
        (self.counted.host_read_bytes, self.counted.host_written_bytes)
    }

    /// Brings the drive to rest, and writes its image to another file, which may replace one with `force`. The answers of
    /// outstanding requests are appended.
    ///
    /// # Errors
    /// Data can't leave DRAM any more, or a file can't be written.
    pub fn save_image(
        &mut self,
        to: &Path,
        force: bool,
        answers: &mut Vec<Answer>,
    ) -> Result<(), Failure> {
        self.bring_to_rest(answers)?;
        image::write(to, &self.image()?, force).map(drop)
    }

    /// Brings the drive to rest, and writes its image into its data file as the end of its work. The answers of outstanding
    /// requests are appended.
    ///
    /// # Errors
    /// Data can't leave DRAM any more, or the file can't be written.
    pub fn save(&mut self, answers: &mut Vec<Answer>) -> Result<(), Failure> {
        self.bring_to_rest(answers)?;
        let image = self.image()?;
        let mut packed = Vec::new();
        let facts = self.facts();
        let Drive { device, file, .. } = self;
        let device = device.as_ref().expect("power is cut only within a call");
        let seconds = &device.contents().seconds;
        image::pack(&mut packed, &image)
            .and_then(|()| file.save(&packed, seconds, facts))
            .map_err(|error| self.failed("save the drive in", &error))
    }

    /// Answers all requests in the device and brings all data to flash. The answers are appended.
    ///
    /// # Errors
    /// Data can't leave DRAM any more, or the data file can't be written.
    pub fn bring_to_rest(&mut self, answers: &mut Vec<Answer>) -> Result<(), Failure> {
        self.drain(answers)?;
        self.completions.clear();
        let device = self.device.as_mut().expect("power is cut only within a call");
        let rested = device.rest(&mut self.completions);
        device.contents_mut().swap_answers(&mut self.answers);
        // Our own flush, if there was one, is not among the completions.
        let ours = |answer: &Answer| self.completions.contains(&answer.completion);
        self.answers.retain(ours);
        answers.append(&mut self.answers);
        rested.map_err(|left| Failure::usage(format!("the drive can't come to rest: {left}")))?;
        self.commit().map_err(|error| self.failed("write", &error))
    }

    /// Answers all requests in the device, empties its buffer and lets collections end, with commits in between: all of
    /// it at once may be more than the log holds.
    fn drain(&mut self, answers: &mut Vec<Answer>) -> Result<(), Failure> {
        self.answer_all(answers)?;
        let now = self.now();
        self.device_mut().submit(now, OWN_FLUSH);
        self.answer_all(answers)?;
        let last = self.now() + ENDS;
        while let Some(at) = self.device().next_moment().filter(|&at| at < last) {
            self.advance(at, answers).map_err(|error| self.failed("write", &error))?;
        }
        self.commit().map_err(|error| self.failed("write", &error))
    }

    fn answer_all(&mut self, answers: &mut Vec<Answer>) -> Result<(), Failure> {
        while self.in_flight() > 0 {
            let advanced = self.advance(SimTime::FOREVER, answers);
            let advanced = advanced.map_err(|error| self.failed("write", &error))?;
            if advanced == Advanced::Idle && self.in_flight() > 0 {
                return Err(Failure::Experiment(format!(
                    "the drive is stuck: {} requests are in it, and nothing will ever happen",
                    self.in_flight()
                )));
            }
        }
        Ok(())
    }

    fn image(&self) -> Result<ftlab::saved::Image, Failure> {
        saved::image_of(self.device(), &self.config, self.file.seed(), &[])
    }

    /// Parts of a range that are written, as sectors. Others read as zeros.
    pub fn written(&self, first: u64, sectors: u64) -> impl Iterator<Item = (u64, u64, bool)> + '_ {
        let per_page = u64::from(self.geometry.sectors_per_unit());
        let end = first + sectors;
        let mut at = first;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (from, written) = (at, self.holds(at / per_page));
            while at < end && self.holds(at / per_page) == written {
                at = (at / per_page + 1) * per_page;
            }
            at = at.min(end);
            Some((from, at - from, written))
        })
    }

    /// Whether a page was written, on flash or in the buffer.
    fn holds(&self, page: u64) -> bool {
        let page = Lpn::new(page as u32);
        let device = self.device();
        device.ftl().look_up(page).is_some() || device.buffer().find(page).is_some()
    }

    /// The next whole pages of these sectors that have to be trimmed, at most so many sectors. Others hold nothing.
    /// `looks` is how many pages are looked at, at most, before the first that has to be trimmed.
    pub fn next_to_trim(&self, first: u64, end: u64, most: u64, looks: &mut u64) -> ToTrim {
        let per_page = u64::from(self.geometry.sectors_per_unit());
        let mut pages = first.div_ceil(per_page)..end / per_page;
        let begin = loop {
            let Some(page) = pages.next() else { return ToTrim::Nothing };
            let Some(left) = looks.checked_sub(1) else {
                return ToTrim::NothingBefore(page * per_page);
            };
            *looks = left;
            if self.holds(page) {
                break page;
            }
        };
        let (mut last, limit) = (begin, begin + (most / per_page).max(1));
        for page in pages.take_while(|&page| page < limit) {
            if self.holds(page) {
                last = page;
            } else if page - last > GAP {
                break;
            }
        }
        ToTrim::Pages(Lba(begin * per_page), ((last + 1 - begin) * per_page) as u32)
    }
}
