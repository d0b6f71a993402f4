//! Requests that the caller has: columns in memory, or an iterator.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use blake3::Hasher;
use ftlab::units::SimTime;
use ftlab_workload::replay::{Arrival, Next, Source, SourceError};

use crate::failure::Failure;
use crate::pool::locked;

/// Requests as a load. Clones share them.
#[derive(Clone)]
pub struct GivenRequests {
    /// The name in results.
    pub name: String,
    /// Whether their arrival times mean anything; otherwise completions decide when they come.
    pub timed: bool,
    content: Content,
}

/// The latest time at which a request may come: 146 years after a device was switched on. Time itself goes four times as
/// far, so nothing that is done later overflows.
pub const LATEST: SimTime = SimTime(1 << 62);

type Made = Box<dyn Iterator<Item = Arrival> + Send>;

#[derive(Clone)]
enum Content {
    /// With its digest, once it was asked for.
    Columns(Arc<[Arrival]>, Arc<OnceLock<String>>),
    /// Until it is taken.
    Iterator(Arc<Mutex<Option<Made>>>),
}

impl GivenRequests {
    /// Takes requests in memory. With times, they are in the order of their times.
    #[must_use]
    pub fn columns(name: impl Into<String>, requests: Vec<Arrival>, timed: bool) -> GivenRequests {
        let content = Content::Columns(requests.into(), Arc::default());
        GivenRequests { name: name.into(), timed, content }
    }

    /// Takes an iterator, which can be played once.
    #[must_use]
    pub fn iterator(
        name: impl Into<String>,
        requests: impl Iterator<Item = Arrival> + Send + 'static,
        timed: bool,
    ) -> GivenRequests {
        let content = Content::Iterator(Arc::new(Mutex::new(Some(Box::new(requests)))));
        GivenRequests { name: name.into(), timed, content }
    }

    /// Returns the requests, if they are in memory.
    #[must_use]
    pub fn requests(&self) -> Option<&[Arrival]> {
        match &self.content {
            Content::Columns(requests, _) => Some(requests),
            Content::Iterator(_) => None,
        }
    }

    /// Returns the digest of the requests, if they can be read more than once.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        match &self.content {
            Content::Columns(requests, digest) => {
                let found = || {
                    let mut digest = RequestDigest::default();
                    requests.iter().for_each(|request| digest.add(request));
                    digest.finish()
                };
                Some(digest.get_or_init(found).clone())
            }
            Content::Iterator(_) => None,
        }
    }

    /// Returns the end of the last request, in sectors, and the number of streams.
    pub(super) fn extent(&self) -> Result<(u64, u64), Failure> {
        let Content::Columns(requests, _) = &self.content else {
            return Err(Failure::usage(
                "an iterator can be read only once, but this needs to know all its requests first\n  remedy: write \
                 scale:SIZE or partition:N, or give the requests as columns",
            ));
        };
        let end = requests.iter().map(|one| one.lba.0.saturating_add(one.sectors.into())).max();
        let streams: std::collections::BTreeSet<u32> =
            requests.iter().map(|one| one.stream).collect();
        Ok((end.unwrap_or(0), streams.len() as u64))
    }

    /// Opens the requests.
    pub(super) fn open(&self) -> Result<GivenSource, Failure> {
        let content = match &self.content {
            Content::Columns(requests, _) => Opened::Columns { requests: requests.clone(), at: 0 },
            Content::Iterator(made) => {
                let taken = locked(made).take();
                let made = taken.ok_or_else(|| {
                    Failure::usage(
                        "these requests come from an iterator, which can be played only once\n  remedy: give them \
                         as columns",
                    )
                })?;
                Opened::Iterator { made, digest: Box::default(), ended: false }
            }
        };
        Ok(GivenSource { whole: self.clone(), content })
    }
}

impl fmt::Debug for GivenRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest();
        write!(f, "GivenRequests({:?}, {:?}, timed {})", self.name, digest, self.timed)
    }
}

/// Opened requests.
pub struct GivenSource {
    whole: GivenRequests,
    content: Opened,
}

enum Opened {
    Columns { requests: Arc<[Arrival]>, at: usize },
    Iterator { made: Made, digest: Box<RequestDigest>, ended: bool },
}

impl GivenSource {
    /// Returns the digest of all requests, if all were read, and how many were read.
    pub(super) fn finish(self) -> (Option<String>, u64) {
        match self.content {
            Opened::Columns { at, .. } => (self.whole.digest(), at as u64),
            Opened::Iterator { digest, ended, .. } => {
                let requests = digest.requests;
                (ended.then(|| digest.finish()), requests)
            }
        }
    }
}

impl Source for GivenSource {
    #[inline]
    fn next(&mut self) -> Result<Next, SourceError> {
        let next = match &mut self.content {
            Opened::Columns { requests, at } => {
                let next = requests.get(*at).copied();
                *at += usize::from(next.is_some());
                next
            }
            Opened::Iterator { made, digest, ended } => {
                let next = made.next();
                next.iter().for_each(|request| digest.add(request));
                *ended = next.is_none();
                next
            }
        };
        Ok(next.map_or(Next::End, Next::Request))
    }

    fn skip_phase(&mut self) {
        match &mut self.content {
            Opened::Columns { requests, at } => *at = requests.len(),
            Opened::Iterator { made, .. } => *made = Box::new(std::iter::empty()),
        }
    }

    fn total(&self) -> Option<u64> {
        match &self.content {
            Opened::Columns { requests, .. } => Some(requests.len() as u64),
            Opened::Iterator { made, .. } => {
                let (least, most) = made.size_hint();
                (Some(least) == most).then_some(least as u64)
            }
        }
    }
}

/// The bytes of a request in the digest.
const BYTES: usize = 8 + 8 + 4 + 4 + 2;
/// How many bytes are hashed together.
const AT_ONCE: usize = BYTES << 11;

/// Digests requests.
#[derive(Default)]
struct RequestDigest {
    hasher: Hasher,
    buffer: Vec<u8>,
    requests: u64,
}

impl RequestDigest {
    fn add(&mut self, request: &Arrival) {
        let &Arrival { at, op, lba, sectors, stream, fua } = request;
        self.buffer.extend_from_slice(&at.0.to_le_bytes());
        self.buffer.extend_from_slice(&lba.0.to_le_bytes());
        self.buffer.extend_from_slice(&sectors.to_le_bytes());
        self.buffer.extend_from_slice(&stream.to_le_bytes());
        self.buffer.extend_from_slice(&[op as u8, u8::from(fua)]);
        self.requests += 1;
        if self.buffer.len() >= AT_ONCE {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hasher.update(&self.buffer);
        self.hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use ftlab::host::Op;
    use ftlab::units::{Lba, SimTime};

    use super::*;

    fn requests() -> Vec<Arrival> {
        let request = |at: u64| Arrival {
            at: SimTime(at),
            op: Op::Write,
            lba: Lba(at * 8),
            sectors: 8,
            stream: (at % 3) as u32,
            fua: false,
        };
        (0..5_000).map(request).collect()
    }

    fn played(given: &GivenRequests) -> (Option<String>, u64) {
        let mut source = given.open().unwrap();
        assert_eq!(source.total(), Some(5_000));
        while source.next().unwrap() != Next::End {}
        source.finish()
    }

    #[test]
    fn columns_and_iterators_of_the_same_requests_have_the_same_digest() {
        let columns = GivenRequests::columns("a", requests(), true);
        let iterator = GivenRequests::iterator("a", requests().into_iter(), true);
        assert_eq!(columns.extent().unwrap(), (4_999 * 8 + 8, 3));
        assert!(iterator.extent().is_err() && iterator.digest().is_none());
        let (digest, count) = played(&columns);
        assert_eq!((digest.as_ref(), count), (columns.digest().as_ref(), 5_000));
        assert_eq!(played(&iterator), (digest, 5_000));
        assert!(iterator.open().is_err_and(|failure| failure.text().contains("only once")));
        assert!(columns.open().is_ok());
        let mut other = requests();
        other[4_321].fua = true;
        assert_ne!(GivenRequests::columns("a", other, true).digest(), columns.digest());
    }
}
