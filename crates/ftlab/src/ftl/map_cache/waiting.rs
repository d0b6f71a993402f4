//! The look-ups that wait for entries of the map, and the fetches, reads and updates of
//! translation pages that they wait for.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::engine::{Handle, NumberHasher};
use crate::ftl::mapping::dftl::Cause;
use crate::scheduler::CommandId;
use crate::units::{Lpn, RequestId, SectorMask, SimTime};

/// What looks up the entry of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seeker {
    /// A host read of these sectors, which are not in the write buffer.
    Read(RequestId, SectorMask),
    /// A write-back: the program that waits for it, and the number of the page in the write buffer.
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

/// Hash tables by number. Nothing depends on their order.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// An entry that is being fetched into memory.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    pub page: Lpn,
    pub cause: Cause,
    /// Whether the host's memory has it.
    pub with_host: bool,
    pub seekers: Queue<Waiter>,
    /// The next fetch that waits for the same translation page.
    pub next: Option<Handle<Fetch>>,
}

/// A look-up that waits for a fetch.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub who: Seeker,
    pub since: SimTime,
    pub next: Option<Handle<Waiter>>,
}

/// A queue of elements of a slab.
#[derive(Debug)]
pub(super) struct Queue<T> {
    pub first: Option<Handle<T>>,
    pub last: Option<Handle<T>>,
}

// Derived implementations would put bounds on `T` that a handle does not need.
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
    /// Appends an element. `link` sets the successor of the previous last element.
    pub(super) fn push(&mut self, id: Handle<T>, link: impl FnOnce(Handle<T>)) {
        match self.last.replace(id) {
            Some(last) => link(last),
            None => self.first = Some(id),
        }
    }
}

/// The outstanding reads of a translation page.
#[derive(Clone, Debug, Default)]
pub(super) struct MapRead {
    pub reads: u32,
    pub fetches: Queue<Fetch>,
}

/// A translation page that is being updated.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub cause: Cause,
    /// Outstanding reads of its old copy and of the host's memory. After them, the whole translation page is in memory.
    pub reads: u32,
    /// Fetches that wait for an entry of it.
    pub content: Queue<Fetch>,
    /// Fetches whose entries replace an entry of it.
    pub room: Queue<Fetch>,
    /// A requested further update: its cause, and the fetches that need the space.
    pub again: Option<(Cause, Queue<Fetch>)>,
}
