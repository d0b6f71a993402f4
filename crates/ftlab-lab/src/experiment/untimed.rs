//! Steps performed without a clock: they only build the state that their writes leave, and their
//! duration is unknown ([`Untimed`]). A device that depends on time, or a step for which the user
//! wants it, is simulated in time instead.

use std::ops::ControlFlow;

use ftlab::device::{Contents, Device, NeedsTime, Stuck, Untimed};
use ftlab::host::translation::LogRules;
use ftlab::host::{Host, Op, Request};
use ftlab::scheduler::Probe;
use ftlab::shape::ZoneShape;
use ftlab::stats::{Ageing, Unmeasured};
use ftlab::units::{Nanos, SECTOR_BYTES};
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::{Arrival, Next, Source};

use super::ageing::{Age, AgeLoad};
use super::preparation::StepRun;
use super::steps::{DEPTH, Fill, Step};
use super::watch::Supervision;
use crate::failure::Failure;
use crate::recording::Recording;
use crate::result::{ClockDocument, StepDocument};

/// How many requests pass between two checks for an interrupt.
const REQUESTS_PER_LOOK: u64 = 1 << 14;

impl Step {
    /// Whether the step is simulated in time on this device.
    pub fn is_timed<P: Probe, C: Contents>(&self, device: &Device<P, C>) -> bool {
        let asked = match self {
            Step::Fill(fill) => fill.timed,
            Step::Age(age) => age.timed || matches!(age.load, AgeLoad::Own(_)),
            Step::Workload { .. } => true,
        };
        asked || device.needs_time().is_some()
    }

    /// Whether the step would run without a clock if the device allowed it.
    fn would_do_without(&self) -> bool {
        match self {
            Step::Fill(fill) => !fill.timed,
            Step::Age(age) => !age.timed,
            Step::Workload { .. } => false,
        }
    }
}

/// Returns the clock of a step that took `took`. `needs` says why the device needs time, if it does.
pub fn in_time(step: &Step, needs: Option<NeedsTime>, took: Nanos) -> ClockDocument {
    let own = matches!(step, Step::Age(Age { load: AgeLoad::Own(_), .. }))
        .then(|| "a load that is repeated has its own times".to_owned());
    let why = needs.map(|needs| format!("of this device {needs}")).or(own);
    ClockDocument {
        clock: "simulated",
        timed_because: why.filter(|_| step.would_do_without()),
        duration_ns: Some(took.0),
    }
}

/// The clock of a step that took no time.
const WITHOUT: ClockDocument =
    ClockDocument { clock: "none", timed_because: None, duration_ns: None };

/// Lets a device that was prepared without a clock come to rest, also without a clock.
pub fn rest<P: Probe, C: Contents>(ssd: &mut Device<P, C>) {
    if let Ok(untimed) = ssd.untimed(DEPTH) {
        untimed.rest();
    }
}

/// Performs a step on a device that needs no time.
pub async fn carry_out<P: Probe, C: Contents>(
    run: StepRun<'_>,
    ssd: &mut Device<P, C>,
    recording: &mut Recording<'_>,
    supervision: &mut Supervision<'_>,
) -> Result<StepDocument, Failure> {
    let StepRun { step, seed, translation } = run;
    let of_device = ssd.capacity_sectors();
    let capacity = translation.map_or(of_device, |rules| rules.capacity_sectors());
    let name = if matches!(step, Step::Fill(_)) { "fill" } else { "age" };
    supervision.watcher.begins(name, None);
    recording.recorder.phase_started(name, false, ssd);
    recording.phases_before += 1;
    let untimed = ssd.untimed(DEPTH).map_err(|needs| Failure::Experiment(needs.to_string()))?;
    let mut writes =
        Writes { untimed, translation, done: Unmeasured::default(), total: None, supervision };
    let document = writes.take(step, capacity, seed).await?;
    let done = writes.done;
    drop(writes);
    supervision.watcher.ended();
    recording.recorder.untimed_phase_ended(ssd, done);
    Ok(document)
}

/// Writes to a device without a clock.
struct Writes<'a, 's, P, C>
where
    P: Probe,
    C: Contents,
{
    untimed: Untimed<'a, P, C>,
    /// The rules of the store on the device, if the host translates addresses.
    translation: Option<LogRules>,
    done: Unmeasured,
    total: Option<u64>,
    supervision: &'a mut Supervision<'s>,
}

impl<P: Probe, C: Contents> Writes<'_, '_, P, C> {
    /// Performs a step that can run without time.
    async fn take(
        &mut self,
        step: &Step,
        capacity: u64,
        seed: u64,
    ) -> Result<StepDocument, Failure> {
        match step {
            Step::Fill(fill) => {
                self.fill(fill, capacity, seed).await?;
                let sectors = fill.sectors(capacity);
                let gaps = self.zones().filter(|_| self.translation.is_none());
                let written = gaps.map_or(sectors, |zones| zones.sectors_before(sectors));
                Ok(fill.document(written, WITHOUT))
            }
            Step::Age(age) => {
                let load = age.workload();
                let mut source = Generator::new(&load, capacity, seed).map_err(Failure::usage)?;
                let mut ageing = age.begin(self.untimed.device()).without_clock();
                self.age(&mut source, &mut ageing).await?;
                Ok(age.document(&load, &ageing, WITHOUT))
            }
            Step::Workload { .. } => unreachable!("workloads are played in time"),
        }
    }

    fn zones(&self) -> Option<ZoneShape> {
        self.untimed.device().zones().map(|zones| zones.rules().shape)
    }

    async fn fill(&mut self, fill: &Fill, capacity: u64, seed: u64) -> Result<(), Failure> {
        self.total = Some(fill.requests(capacity));
        if fill.is_random() {
            let mut source = fill.at_random(capacity, seed);
            self.total = source.total();
            while let Some(arrival) = next(&mut source)? {
                if self.write(&arrival)? {
                    self.look().await?;
                }
            }
            return Ok(());
        }
        let zones = self.zones();
        let Writes { untimed, translation, done, total, supervision } = self;
        let sectors = fill.sectors(capacity);
        let end = translation.map_or(sectors, |rules| rules.end_on_device(sectors));
        let look = async |until: u64| {
            // Gaps between zones hold nothing.
            let written = zones.map_or(until, |zones| zones.sectors_before(until));
            done.requests = fill.requests_until(translation.map_or(until, |_| written));
            done.written_bytes = written * SECTOR_BYTES;
            supervision.writes(done.requests, *total).await
        };
        match untimed.fill_watched(0..end, look).await.map_err(standstill)? {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Failure::Interrupted),
        }
    }

    /// Writes until the device is steady or the source ends.
    async fn age(&mut self, source: &mut impl Source, ageing: &mut Ageing) -> Result<(), Failure> {
        self.supervision.watcher.ages(&ageing.outlook());
        while let Some(arrival) = next(source)? {
            if self.write(&arrival)? {
                self.look().await?;
            }
            ageing.wrote(arrival.sectors);
            let rounds = ageing.rounds().len();
            let is_over = ageing.look(self.untimed.device());
            if ageing.rounds().len() > rounds {
                self.supervision.watcher.ages(&ageing.outlook());
            }
            if is_over {
                break;
            }
        }
        Ok(())
    }

    /// Writes, and returns whether it is time to look.
    #[inline]
    fn write(&mut self, arrival: &Arrival) -> Result<bool, Failure> {
        let &Arrival { op, lba, sectors, stream, fua, .. } = arrival;
        debug_assert_eq!(op, Op::Write, "fills and ageing only write");
        let request = Request { op: Op::Write, lba, sectors, stream, tag: 0, fua };
        self.untimed.write(&request).map_err(standstill)?;
        self.done.requests += 1;
        self.done.written_bytes += u64::from(sectors) * SECTOR_BYTES;
        Ok(self.done.requests.is_multiple_of(REQUESTS_PER_LOOK))
    }

    async fn look(&mut self) -> Result<(), Failure> {
        match self.supervision.writes(self.done.requests, self.total).await {
            ControlFlow::Break(()) => Err(Failure::Interrupted),
            ControlFlow::Continue(()) => Ok(()),
        }
    }
}

/// Returns the next request of a source, and skips everything else.
#[inline]
fn next(source: &mut impl Source) -> Result<Option<Arrival>, Failure> {
    loop {
        match source.next().map_err(|error| Failure::usage(error.to_string()))? {
            Next::Request(arrival) => return Ok(Some(arrival)),
            Next::End => return Ok(None),
            _ => {}
        }
    }
}

fn standstill(_: Stuck) -> Failure {
    Failure::Experiment(
        "the device is at a standstill: garbage collection cannot free any room".to_owned(),
    )
}
