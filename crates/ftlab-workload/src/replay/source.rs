//! Sources of requests.

use std::error::Error;
use std::fmt;

use ftlab::host::Op;
use ftlab::units::{Lba, Nanos, SimTime};

/// A request before it is mapped to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrival {
    /// The arrival time, from the start of its phase, or by the trace's own clock if the source has
    /// no phases.
    pub at: SimTime,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub lba: Lba,
    /// The number of sectors.
    pub sectors: u32,
    /// The stream, queue or volume it belongs to.
    pub stream: u32,
    /// Whether a write completes only when its data is on flash (force unit access).
    pub fua: bool,
}

/// What decides when the requests of a phase are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Their arrival times.
    Timed,
    /// Completions: a fixed number of requests is kept outstanding.
    Closed {
        /// The number of outstanding requests.
        depth: u32,
        /// The time from a completion to the request that replaces it.
        think_time: Nanos,
    },
    /// Several tenants at the same time, each at its own pace; see [`Source::tenants`].
    Together,
}

/// What decides when the requests of one tenant are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantPace {
    /// Its times, or its completions.
    pub pace: Pace,
    /// The simulated time after which it ends, if it has not ended before.
    pub time: Option<Nanos>,
    /// As in [`PhaseStart::measure_first`].
    pub measure_first: Option<u64>,
}

/// The start of a phase, when all earlier requests have completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseStart {
    /// Its index, from 0.
    pub index: u32,
    /// What decides when its requests are submitted.
    pub pace: Pace,
    /// The simulated time after which the phase ends, if it has not ended before.
    pub time: Option<Nanos>,
    /// Whether results count it.
    pub measure: bool,
    /// Results count only this many of its requests, the first ones. Later requests keep the device
    /// busy until these have completed; then the phase ends.
    pub measure_first: Option<u64>,
}

impl PhaseStart {
    /// Creates a phase whose requests have times of their own, and that is measured in whole or not
    /// at all.
    #[must_use]
    pub fn timed(index: u32, measure: bool) -> PhaseStart {
        PhaseStart { index, pace: Pace::Timed, time: None, measure, measure_first: None }
    }
}

/// An item of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A request of the current phase. A source that never starts a phase has a single one, timed
    /// and measured, whose clock starts at its first request.
    Request(Arrival),
    /// The next phase starts.
    Phase(PhaseStart),
    /// There are no more items.
    End,
}

/// Why a source failed; the message says where and what to do.
#[derive(Debug)]
pub struct SourceError(pub Box<dyn Error + Send + Sync>);

impl SourceError {
    /// Creates an error from a message.
    #[must_use]
    pub fn message(text: String) -> SourceError {
        SourceError(text.into())
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Yields requests in the order in which they are to be played.
pub trait Source {
    /// Returns the next item. Not called again after [`Next::End`] or an error.
    fn next(&mut self) -> Result<Next, SourceError>;

    /// Skips the rest of the current phase.
    fn skip_phase(&mut self);

    /// Returns the tenants of the current phase, if its pace is [`Pace::Together`].
    fn tenants(&self) -> Vec<TenantPace> {
        Vec::new()
    }

    /// Returns the next request of a tenant of the current phase, if there is one.
    fn next_of(&mut self, tenant: usize) -> Result<Option<Arrival>, SourceError> {
        let _ = tenant;
        Ok(None)
    }

    /// Whether the request that was returned last, of this tenant, waits until all trims that were returned before it have
    /// completed. A phase without tenants is tenant 0.
    fn awaits_trims(&self, tenant: usize) -> bool {
        let _ = tenant;
        false
    }

    /// Returns the total number of requests, if it is known.
    fn total(&self) -> Option<u64> {
        None
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next(&mut self) -> Result<Next, SourceError> {
        (**self).next()
    }

    fn skip_phase(&mut self) {
        (**self).skip_phase();
    }

    fn tenants(&self) -> Vec<TenantPace> {
        (**self).tenants()
    }

    fn next_of(&mut self, tenant: usize) -> Result<Option<Arrival>, SourceError> {
        (**self).next_of(tenant)
    }

    fn awaits_trims(&self, tenant: usize) -> bool {
        (**self).awaits_trims(tenant)
    }

    fn total(&self) -> Option<u64> {
        (**self).total()
    }
}

/// A source from an iterator of requests, such as a slice or a decoded trace.
#[derive(Clone, Debug)]
pub struct Records<I> {
    records: I,
    total: Option<u64>,
    skipped: bool,
}

impl<I: Iterator<Item = Result<Arrival, SourceError>>> Records<I> {
    /// Creates a source from an iterator that may fail.
    pub fn fallible(records: I, total: Option<u64>) -> Records<I> {
        Records { records, total, skipped: false }
    }
}

impl Records<()> {
    /// Creates a source from a slice of requests.
    pub fn of(
        records: &[Arrival],
    ) -> Records<impl Iterator<Item = Result<Arrival, SourceError>> + '_> {
        let total = Some(records.len() as u64);
        Records { records: records.iter().copied().map(Ok), total, skipped: false }
    }
}

impl<I: Iterator<Item = Result<Arrival, SourceError>>> Source for Records<I> {
    #[inline]
    fn next(&mut self) -> Result<Next, SourceError> {
        if self.skipped {
            return Ok(Next::End);
        }
        self.records.next().map_or(Ok(Next::End), |record| record.map(Next::Request))
    }

    /// There is only one phase, so nothing is left.
    fn skip_phase(&mut self) {
        self.skipped = true;
    }

    fn total(&self) -> Option<u64> {
        self.total
    }
}

/// A source that is filled in batches, as traces are decoded.
#[derive(Clone, Debug)]
pub struct Batches<R, F> {
    fill: F,
    batch: Vec<R>,
    /// How many requests of the batch have been returned.
    taken: usize,
    total: Option<u64>,
    ended: bool,
}

impl<R, F> Batches<R, F>
where
    R: Copy + Into<Arrival>,
    F: FnMut(&mut Vec<R>) -> Result<bool, SourceError>,
{
    /// Creates a source. `fill` replaces the content of the batch, and returns false once nothing
    /// is left.
    pub fn new(fill: F, total: Option<u64>) -> Batches<R, F> {
        Batches { fill, batch: Vec::new(), taken: 0, total, ended: false }
    }

    #[cold]
    fn refill(&mut self) -> Result<Next, SourceError> {
        self.taken = 0;
        while !self.ended {
            self.batch.clear();
            self.ended = !(self.fill)(&mut self.batch)?;
            if let Some(&record) = self.batch.first() {
                self.taken = 1;
                return Ok(Next::Request(record.into()));
            }
        }
        Ok(Next::End)
    }
}

impl<R, F> Source for Batches<R, F>
where
    R: Copy + Into<Arrival>,
    F: FnMut(&mut Vec<R>) -> Result<bool, SourceError>,
{
    #[inline]
    fn next(&mut self) -> Result<Next, SourceError> {
        let Some(&record) = self.batch.get(self.taken) else {
            return self.refill();
        };
        self.taken += 1;
        Ok(Next::Request(record.into()))
    }

    /// There is only one phase, so nothing is left.
    fn skip_phase(&mut self) {
        self.batch.clear();
        self.ended = true;
    }

    fn total(&self) -> Option<u64> {
        self.total
    }
}
