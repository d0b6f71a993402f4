//! Who waits for entries of the map, and for what: entries, translation pages that are read, and those that are rewritten.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::engine::{Handle, NumberHasher};
use crate::ftl::mapping::dftl::Cause;
use crate::scheduler::CommandId;
use crate::units::{Lpn, RequestId, SectorMask, SimTime};

/// Who looks for the entry of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seeker {
    /// A read of these sectors, which are not in the buffer.
    Read(RequestId, SectorMask),
    /// A page that is written back, as the write buffer knows it, for which a program waits.
    WriteBack(CommandId, u32),
}

impl Seeker {
    pub(super) fn cause(self) -> Cause {
        match self {
            Seeker::Read(..) => Cause::HostRead,
            Seeker::WriteBack(..) => Cause::WriteBack,
        }
    }
}

/// Tables by number, which are never walked.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// An entry on its way into memory.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    pub page: Lpn,
    pub cause: Cause,
    pub seekers: Queue<Waiter>,
    /// The next one that waits for the same translation page.
    pub next: Option<Handle<Fetch>>,
}

/// Somebody who waits for a fetch.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub who: Seeker,
    pub since: SimTime,
    pub next: Option<Handle<Waiter>>,
}

/// A queue through entries of a slab.
#[derive(Debug)]
pub(super) struct Queue<T> {
    pub first: Option<Handle<T>>,
    pub last: Option<Handle<T>>,
}

// Derives would ask for more of `T` than a handle needs.
impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Queue { first: self.first, last: self.last }
    }
}
impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { first: None, last: None }
    }
}

impl<T> Queue<T> {
    /// Puts one at the end; `link` says who follows the one that was last.
    pub(super) fn push(&mut self, id: Handle<T>, link: impl FnOnce(Handle<T>)) {
        match self.last.replace(id) {
            Some(last) => link(last),
            None => self.first = Some(id),
        }
    }
}

/// Reads of a translation page that have not come.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    pub reads: u32,
    pub fetches: Queue<Fetch>,
}

/// A translation page that is rewritten.
#[derive(Clone, Debug)]
pub(super) struct Rewrite {
    pub cause: Cause,
    /// Reads of its old copy that have not come; after that it is in memory as a whole.
    pub reads: u32,
    /// Who wants an entry of it.
    pub content: Queue<Fetch>,
    /// Whose entry takes the place of one that it holds.
    pub room: Queue<Fetch>,
    /// It is to be rewritten once more: what for, and for whom.
    pub again: Option<(Cause, Queue<Fetch>)>,
}
