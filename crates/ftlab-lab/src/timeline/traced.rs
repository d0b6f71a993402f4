//! Performs an experiment once more to see what its device did, and joins requests with their commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use ftlab::config::Config;
use ftlab::nand::PauseCost;
use ftlab::scheduler::Levels;
use ftlab::shape::FlashGeometry;
use ftlab::units::{Nanos, SimTime};
use ftlab_workload::replay::{Completed, finished};

use super::Windows;
use super::choose::{Chooser, Chosen, RequestChoice, window_of};
use super::occupancy::Occupancy;
use super::recorder::{DeviceRecord, Recorder, SeenRequest};
use super::story::{StoryPiece, chain, story};
use crate::experiment::{Conduct, Experiment, Measured, Watcher};
use crate::failure::Failure;
use crate::lab::Lab;
use crate::memory::Instruments;
use crate::result::{Requests, ResultDocument};

/// A request, and what the flash brought it.
#[derive(Clone, Copy, Debug)]
pub struct ToldRequest {
    /// The request.
    pub done: Completed,
    /// When the last thing came that it waited for, and the command that brought it.
    pub settled: Option<(SimTime, Option<u64>)>,
}

/// Tells the stories of requests.
pub struct Stories<'a> {
    record: &'a DeviceRecord,
    occupancy: Occupancy,
}

impl Stories<'_> {
    /// Returns what the time of a request in the flash went to, in order; nothing if it needed only DRAM.
    #[must_use]
    pub fn of(&self, request: &ToldRequest) -> Vec<StoryPiece> {
        let Some((until, last)) = request.settled else { return Vec::new() };
        story(self.record, &self.occupancy, last, (request.begins(until), until))
    }
}

impl ToldRequest {
    /// The time between the way in, by queue and link, and the way out.
    #[must_use]
    pub fn in_flash(&self) -> Nanos {
        let spent = &self.done.completion.breakdown;
        spent.admission + spent.translation + spent.queue + spent.gc + spent.bus + spent.cell
    }

    /// When its time in the flash begins, which ends at `until`.
    fn begins(&self, until: SimTime) -> SimTime {
        SimTime(until.0.saturating_sub(self.in_flash().0))
    }

    /// Returns the numbers of the commands that brought what it waited for, as far as a record has them.
    #[must_use]
    pub fn commands(&self, record: &DeviceRecord) -> Vec<u64> {
        let Some((until, last)) = self.settled else { return Vec::new() };
        let from = self.begins(until);
        if from == until {
            return Vec::new();
        }
        let mut commands: Vec<u64> = chain(record, last, from).map(|one| one.sequence).collect();
        commands.sort_unstable();
        commands.dedup();
        commands
    }
}

/// What a device did in some windows.
#[derive(Debug)]
pub struct Traced {
    /// The commands and collections.
    pub record: DeviceRecord,
    /// The requests that touch the windows, in the order of completion.
    pub requests: Vec<ToldRequest>,
    /// The windows.
    pub windows: Windows,
    /// The result of the run: that of the first time.
    pub document: Arc<ResultDocument>,
    /// How long its dies take to suspend and resume operations.
    pub pause: PauseCost,
    /// The flash, if its planes sense on their own.
    pub apart: Option<FlashGeometry>,
}

impl Traced {
    /// Returns who tells the stories of its requests.
    #[must_use]
    pub fn stories(&self) -> Stories<'_> {
        Stories {
            record: &self.record,
            occupancy: Occupancy::of(&self.record, &self.pause, self.apart.clone()),
        }
    }

    /// Returns what touches these windows, which are within its own.
    #[must_use]
    pub fn within(&self, windows: Windows) -> Traced {
        let Traced { record, requests, document, pause, apart, .. } = self;
        let meets = |from: SimTime, until: Option<SimTime>| {
            windows.meet(from, until.unwrap_or(SimTime::FOREVER))
        };
        let commands = record.commands.iter();
        let record = DeviceRecord {
            commands: commands
                .filter(|(_, one)| windows.meet(one.arrived, one.end()))
                .map(|(sequence, one)| (*sequence, one.clone()))
                .collect(),
            requests: Vec::new(),
            collections: kept(&record.collections, |one| meets(one.from, one.until)),
            merges: kept(&record.merges, |one| meets(one.from, one.until)),
            deaths: kept(&record.deaths, |(at, _)| windows.meet(*at, *at)),
            levels: levels_within(&record.levels, &windows),
        };
        let requests =
            kept(requests, |told| windows.meet(told.done.arrived, told.done.completion.finished));
        let (document, apart) = (Arc::clone(document), apart.clone());
        Traced { record, requests, windows, document, pause: *pause, apart }
    }
}

/// Levels are told when they change, so a window begins with those of the last change before it.
fn levels_within(levels: &[(SimTime, Levels)], windows: &Windows) -> Vec<(SimTime, Levels)> {
    let mut within = Vec::new();
    for &(from, until) in windows.all() {
        let first = levels.partition_point(|(at, _)| *at <= from);
        let before = first.checked_sub(1).map(|last| (from, levels[last].1));
        let changes = levels[first..].iter().take_while(|(at, _)| *at <= until).copied();
        within.extend(before.into_iter().chain(changes));
    }
    within
}

fn kept<T: Clone>(all: &[T], is_kept: impl Fn(&T) -> bool) -> Vec<T> {
    all.iter().filter(|one| is_kept(one)).cloned().collect()
}

/// A run that can be performed again, with the same result.
#[derive(Clone, Copy)]
pub struct Again<'a> {
    /// The laboratory.
    pub lab: &'a Lab,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The device.
    pub config: &'a Config,
    /// The seed.
    pub seed: u64,
}

impl Again<'_> {
    /// Performs the run, and returns the chosen requests.
    ///
    /// # Errors
    /// It was stopped, or failed.
    pub fn choose(
        &self,
        choice: RequestChoice,
        watcher: &mut dyn Watcher,
    ) -> Result<Chosen, Failure> {
        self.choose_with_result(choice, watcher).map(|(_, chosen)| chosen)
    }

    /// As [`choose`](Self::choose), with the result of the run.
    ///
    /// # Errors
    /// As there.
    pub fn choose_with_result(
        &self,
        choice: RequestChoice,
        watcher: &mut dyn Watcher,
    ) -> Result<(ResultDocument, Chosen), Failure> {
        let (measured, chosen) = self.perform(choice, watcher, Instruments::<(), ()>::default())?;
        Ok((measured.document, chosen))
    }

    /// Performs the run, and returns what its device did within some windows.
    ///
    /// # Errors
    /// It was stopped, or failed.
    pub fn trace(&self, windows: &Windows, watcher: &mut dyn Watcher) -> Result<Traced, Failure> {
        let probe = Recorder::new(windows.clone());
        let instruments = Instruments { probe, contents: () };
        let choice = RequestChoice::Within(windows.clone());
        let (measured, chosen) = self.perform(choice, watcher, instruments)?;
        let record = measured.device.flash().probe().clone().into_record();
        let suspend = &self.config.options.nand.suspend;
        let pause = PauseCost {
            program: suspend.program,
            erase: suspend.erase,
            resume: suspend.resume,
            ..PauseCost::default()
        };
        let requests = told(&record, chosen.others);
        let document = Arc::new(measured.document);
        let nand = &self.config.options.nand;
        let is_apart = nand.multi_plane.independent_reads.is_on() && nand.planes_per_die > 1;
        let apart = is_apart.then(|| self.config.flash());
        Ok(Traced { requests, record, windows: windows.clone(), document, pause, apart })
    }

    /// The failure for a load that can't be read again.
    pub(super) fn read_once() -> Failure {
        Failure::usage(
            "standard input and pipes can be read only once, but the run has to be performed again\n  remedy: save the trace \
             to a file",
        )
    }

    fn perform<P: ftlab::scheduler::Probe + Clone>(
        &self,
        choice: RequestChoice,
        watcher: &mut dyn Watcher,
        instruments: Instruments<P, ()>,
    ) -> Result<(Measured<P, ()>, Chosen), Failure> {
        if self.experiment.load.is_read_once() {
            return Err(Again::read_once());
        }
        let requests = Some(Requests::chosen(Chooser::new(choice)));
        let conduct = Conduct { watcher, stop: &self.lab.stop, requests };
        let load = self.experiment.load.open()?;
        let run = self.experiment.play_with(load, self.config, self.seed, conduct, instruments);
        let mut measured = finished(run)?;
        if !measured.document.complete {
            return Err(Failure::Interrupted);
        }
        let chosen = measured.requests.as_mut().map_or_else(Chosen::default, Requests::take_chosen);
        Ok((measured, chosen))
    }
}

/// Returns the windows of some requests, from their arrivals to their ends.
#[must_use]
pub fn windows_of(requests: &[Completed]) -> Windows {
    Windows::new(requests.iter().map(window_of))
}

/// Joins requests with what the flash saw of them.
fn told(record: &DeviceRecord, requests: Vec<Completed>) -> Vec<ToldRequest> {
    // A mark is used again when its request has completed, perhaps at once. Such requests complete in order.
    let mut seen: BTreeMap<(SimTime, u32), BTreeMap<u64, &SeenRequest>> = BTreeMap::new();
    for one in &record.requests {
        seen.entry((one.submitted, one.tag)).or_default().insert(one.order, one);
    }
    let tell = |done: Completed| {
        let completion = &done.completion;
        let same = seen.get_mut(&(completion.submitted, completion.request.tag));
        // One that ended just before the windows is not in the record.
        let fits =
            |seen: &SeenRequest| seen.settled.is_none_or(|(at, _)| at <= completion.finished);
        let next = same.and_then(|same| same.first_entry()).filter(|next| fits(next.get()));
        ToldRequest { done, settled: next.and_then(|next| next.remove().settled) }
    };
    requests.into_iter().map(tell).collect()
}
