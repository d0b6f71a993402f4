//! Generates the requests of a workload. Every random choice of a phase (operation, size, address,
//! arrival) has its own stream, so changing one leaves the others unchanged, and a phase does not
//! depend on how far the previous one got.

use ftlab::config::Problems;
use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Lba, Nanos, Ratio, SimTime};

use super::address::{Extent, Placer};
use super::arrivals::ArrivalTimes;
use super::loads::{LoadState, PhaseLoad, Transfer};
use super::weighted::Weighted;
use super::workload::{Arrivals, Mix, Phase, Sizes, Workload, total_requests};
use crate::replay::{Arrival, Next, Pace, PhaseStart, Source, SourceError, TenantPace};

/// The requests of a workload for a device of a given capacity.
#[derive(Clone, Debug)]
pub struct Generator {
    phases: Vec<Phase>,
    capacity: u64,
    seed: u64,
    /// The next phase, and the number of earlier groups.
    next_phase: usize,
    begun: u32,
    /// The current phase, or several if tenants play at the same time.
    runs: Vec<PhaseRun>,
    /// The load of the last phase that was skipped, for a phase that continues it.
    stopped: Option<LoadState>,
    /// Why a load ended early.
    failure: Option<String>,
    total: Option<u64>,
}

/// A running phase.
#[derive(Clone, Debug)]
struct PhaseRun {
    ops: Ops,
    forced: Forced,
    sizes: SizeDraw,
    /// For writes and trims, if they differ.
    write_sizes: Option<SizeDraw>,
    trim_sizes: Option<SizeDraw>,
    placer: Placer,
    /// Makes the requests instead of the fields above, except for the operations.
    load: Option<LoadState>,
    arrivals: ArrivalTimes,
    requests_left: u64,
    sectors_left: u64,
    /// No request arrives at or after this time. Requests of a closed loop have no times and are
    /// not affected.
    end: Nanos,
    first_stream: u32,
    streams: u32,
    next_stream: u32,
}

impl Generator {
    /// Lays out `workload` on a device of `capacity_sectors`. Fails for regions that do not fit.
    pub fn new(
        workload: &Workload,
        capacity_sectors: u64,
        seed: u64,
    ) -> Result<Generator, Problems> {
        let misfits = workload.phases.iter().enumerate().filter_map(|(index, phase)| {
            let (key, message, remedy) =
                PhaseRun::new(phase, capacity_sectors, seed, index).err()?;
            Some(workload.problem(index, key, message, remedy))
        });
        let problems: Vec<_> = misfits.collect();
        if !problems.is_empty() {
            return Err(Problems { problems });
        }
        Ok(Generator {
            phases: workload.phases.clone(),
            capacity: capacity_sectors,
            seed,
            next_phase: 0,
            begun: 0,
            runs: Vec::new(),
            stopped: None,
            failure: None,
            total: total_requests(&workload.phases),
        })
    }

    /// Skips the phases before the first measured one; see [`Workload::unmeasured_lead`]. The
    /// remaining phases draw the same numbers as without skipping.
    pub fn skip_unmeasured_lead(&mut self) {
        let lead = self.phases.iter().position(|phase| phase.measure).unwrap_or(0);
        let groups = self.phases[..lead].iter().filter(|phase| !phase.with_previous).count();
        self.next_phase = lead;
        self.begun = u32::try_from(groups).expect("a workload has few phases");
        self.total = total_requests(&self.phases[lead..]);
    }

    /// Returns the next request, the start of a phase, or the end. Arrival times count from the
    /// start of the phase. A phase that follows completions and ends by time has no end here; the
    /// player must [skip](Self::skip_phase) to the next. Requests of tenants only come from
    /// [`next_of`](Source::next_of).
    #[inline]
    pub fn next_item(&mut self) -> Next {
        if let [run] = &mut self.runs[..] {
            if let Some(arrival) = run.next_arrival() {
                return Next::Request(arrival);
            }
            self.failure = run.failure();
        }
        self.start_phase()
    }

    /// Skips the rest of the current phase.
    pub fn skip_phase(&mut self) {
        if let Some(run) = self.runs.pop() {
            self.stopped = run.load;
        }
        self.runs.clear();
    }

    fn start_phase(&mut self) -> Next {
        self.skip_phase();
        let index = self.next_phase;
        let Some(phase) = self.phases.get(index) else {
            return Next::End;
        };
        let others = self.phases[index + 1..].iter().take_while(|next| next.with_previous).count();
        let mut next_stream = 0;
        for index in index..=index + others {
            let run = PhaseRun::new(&self.phases[index], self.capacity, self.seed, index);
            let mut run = run.expect("every phase was laid out when the generator was made");
            run.first_stream = self.phases[index].first_stream.unwrap_or(next_stream);
            next_stream = run.first_stream + run.streams;
            let continued = phase.load.is_some_and(|load| load.continued);
            if let Some(stopped) = self.stopped.take().filter(|_| continued) {
                run.load = Some(stopped);
            }
            self.runs.push(run);
        }
        self.next_phase += 1 + others;
        self.begun += 1;
        let together = others > 0;
        Next::Phase(PhaseStart {
            index: self.begun - 1,
            pace: if together { Pace::Together } else { pace(phase) },
            time: if together { None } else { phase.duration.time },
            measure: phase.measure,
            measure_first: if together { None } else { phase.measure_first },
        })
    }

    /// Returns the current phases.
    fn under_way(&self) -> &[Phase] {
        &self.phases[self.next_phase - self.runs.len()..self.next_phase]
    }
}

fn pace(phase: &Phase) -> Pace {
    match phase.arrivals {
        Arrivals::Closed { queue_depth, think_time } => {
            Pace::Closed { depth: queue_depth, think_time }
        }
        _ => Pace::Timed,
    }
}

impl Source for Generator {
    #[inline]
    fn next(&mut self) -> Result<Next, SourceError> {
        match self.next_item() {
            request @ Next::Request(_) => Ok(request),
            other => match self.failure.take() {
                None => Ok(other),
                Some(failure) => Err(SourceError::message(failure)),
            },
        }
    }

    fn skip_phase(&mut self) {
        Generator::skip_phase(self);
    }

    fn tenants(&self) -> Vec<TenantPace> {
        let tenant = |phase: &Phase| TenantPace {
            pace: pace(phase),
            time: phase.duration.time,
            measure_first: phase.measure_first,
        };
        self.under_way().iter().map(tenant).collect()
    }

    #[inline]
    fn next_of(&mut self, tenant: usize) -> Result<Option<Arrival>, SourceError> {
        let run = &mut self.runs[tenant];
        match run.next_arrival() {
            None => run.failure().map_or(Ok(None), |text| Err(SourceError::message(text))),
            arrival => Ok(arrival),
        }
    }

    fn awaits_trims(&self, tenant: usize) -> bool {
        let load = self.runs.get(tenant).and_then(|run| run.load.as_ref());
        load.is_some_and(LoadState::awaits_trims)
    }

    fn total(&self) -> Option<u64> {
        self.total
    }
}

impl PhaseRun {
    fn new(
        phase: &Phase,
        capacity: u64,
        seed: u64,
        index: usize,
    ) -> Result<PhaseRun, (&'static str, String, String)> {
        let stream = |of: &str| Stream::new(seed, &format!("workload.{index}.{of}"));
        let extent = Extent::of(phase, capacity)?;
        let sectors = phase.duration.bytes.map(|bytes| bytes.sectors(extent.sectors));
        Ok(PhaseRun {
            ops: Ops::new(phase.mix, stream("operation")),
            forced: Forced { share: u64::from(phase.fua.ppm), stream: stream("fua") },
            sizes: SizeDraw::new(&phase.size, stream("size")),
            write_sizes: (phase.write_size.as_ref())
                .map(|sizes| SizeDraw::new(sizes, stream("write-size"))),
            trim_sizes: (phase.trim_size.as_ref())
                .map(|sizes| SizeDraw::new(sizes, stream("trim-size"))),
            placer: Placer::new(phase, extent, &stream)?,
            load: (phase.load.as_ref())
                .map(|load| LoadState::new(load, phase, extent, &stream))
                .transpose()?,
            arrivals: ArrivalTimes::new(phase.arrivals, stream("arrival")),
            requests_left: phase.duration.requests.unwrap_or(u64::MAX),
            sectors_left: sectors.unwrap_or(u64::MAX),
            end: phase.duration.time.unwrap_or(Nanos(u64::MAX)),
            first_stream: phase.first_stream.unwrap_or(0),
            streams: phase.load.as_ref().map_or(phase.streams, PhaseLoad::streams),
            next_stream: 0,
        })
    }

    #[inline]
    fn next_arrival(&mut self) -> Option<Arrival> {
        if self.requests_left == 0 || self.sectors_left == 0 {
            return None;
        }
        let at = self.arrivals.next_time();
        if at >= self.end {
            return None;
        }
        self.requests_left -= 1;
        let at = SimTime(at.0);
        if self.load.is_some() {
            return self.next_of_load(at);
        }
        let stream = self.next_stream;
        self.next_stream = if stream + 1 == self.streams { 0 } else { stream + 1 };
        let op = self.ops.draw();
        if op == Op::Flush {
            let stream = self.first_stream + stream;
            return Some(Arrival { at, op, lba: Lba(0), sectors: 0, stream, fua: false });
        }
        let sizes = match (&mut self.trim_sizes, &mut self.write_sizes) {
            (Some(sizes), _) if op == Op::Trim => sizes,
            (_, Some(sizes)) if op != Op::Read => sizes,
            _ => &mut self.sizes,
        };
        let size = u64::from(sizes.draw()).min(self.sectors_left);
        let size = u32::try_from(size).expect("no more than was drawn");
        let (lba, sectors) = self.placer.place(op, stream, size);
        self.sectors_left -= u64::from(sectors);
        let fua = op == Op::Write && self.forced.draw();
        Some(Arrival { at, op, lba, sectors, stream: self.first_stream + stream, fua })
    }

    fn next_of_load(&mut self, at: SimTime) -> Option<Arrival> {
        let ops = &mut self.ops;
        let Transfer { op, start, sectors, stream } =
            self.load.as_mut()?.next(|| ops.draw() == Op::Read)?;
        let sectors = match op {
            // A file is deallocated as a whole, which moves no bytes.
            Op::Trim => sectors,
            _ => {
                let sectors = sectors.min(self.sectors_left);
                self.sectors_left -= sectors;
                sectors
            }
        };
        let sectors = u32::try_from(sectors).expect("requests are limited");
        let fua = op == Op::Write && self.forced.draw();
        Some(Arrival { at, op, lba: Lba(start), sectors, stream: self.first_stream + stream, fua })
    }

    fn failure(&self) -> Option<String> {
        self.load.as_ref()?.failure()
    }
}

/// Draws operations.
#[derive(Clone, Debug)]
struct Ops {
    /// Below these values, in millionths, the draw is a read, a write, a trim; otherwise a flush.
    bounds: [u64; 3],
    stream: Stream,
}

impl Ops {
    fn new(mix: Mix, stream: Stream) -> Ops {
        let reads = u64::from(mix.reads.ppm);
        let writes = reads + u64::from(mix.writes.ppm);
        Ops { bounds: [reads, writes, writes + u64::from(mix.trims.ppm)], stream }
    }

    #[inline]
    fn draw(&mut self) -> Op {
        let drawn = self.stream.below(u64::from(Ratio::ONE.ppm));
        let [reads, writes, trims] = self.bounds;
        if drawn < reads {
            Op::Read
        } else if drawn < writes {
            Op::Write
        } else if drawn < trims {
            Op::Trim
        } else {
            Op::Flush
        }
    }
}

/// Draws which writes have FUA.
#[derive(Clone, Debug)]
struct Forced {
    /// In millionths.
    share: u64,
    stream: Stream,
}

impl Forced {
    #[inline]
    fn draw(&mut self) -> bool {
        self.share > 0 && self.stream.below(u64::from(Ratio::ONE.ppm)) < self.share
    }
}

/// Draws sizes, in sectors.
#[derive(Clone, Debug)]
enum SizeDraw {
    Fixed(u32),
    List { sizes: Vec<u32>, weights: Weighted, stream: Stream },
    Range { from: u32, step: u32, count: u64, stream: Stream },
}

impl SizeDraw {
    fn new(sizes: &Sizes, stream: Stream) -> SizeDraw {
        let sectors =
            |size: ftlab::units::Bytes| u32::try_from(size.sectors()).expect("sizes are limited");
        match sizes {
            Sizes::Fixed(size) => SizeDraw::Fixed(sectors(*size)),
            Sizes::List(list) => {
                let weights: Vec<u64> = list.iter().map(|entry| entry.1).collect();
                let sizes = list.iter().map(|entry| sectors(entry.0)).collect();
                SizeDraw::List { sizes, weights: Weighted::new(&weights), stream }
            }
            Sizes::Range { from, to, step } => SizeDraw::Range {
                from: sectors(*from),
                step: sectors(*step),
                count: (to.0 - from.0) / step.0 + 1,
                stream,
            },
        }
    }

    #[inline]
    fn draw(&mut self) -> u32 {
        match self {
            SizeDraw::Fixed(sectors) => *sectors,
            SizeDraw::List { sizes, weights, stream } => sizes[weights.draw(stream)],
            SizeDraw::Range { from, step, count, stream } => {
                let steps = u32::try_from(stream.below(*count)).expect("sizes are limited");
                *from + steps * *step
            }
        }
    }
}
