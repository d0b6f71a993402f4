//! State about requests in the device that all ways of replaying share: notes on each request,
//! counts, and the advance of the device.

use ftlab::host::{Advanced, Completion, Host, Request};
use ftlab::units::SimTime;

use super::mapping::MapCounts;
use super::options::ReplayError;

/// The counts of a replay so far.
#[derive(Default)]
pub(super) struct ReplayCounts {
    pub submitted: u64,
    /// The submitted requests that are measured, and those of them that have completed.
    pub measured: u64,
    pub measured_done: u64,
    pub completed: u64,
    pub sectors: u64,
    pub mapping: MapCounts,
    pub out_of_order: u64,
    pub held_back: u64,
}

/// Notes on the requests in the device, by tag.
#[derive(Default)]
pub(super) struct Tags {
    pub slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub arrived: SimTime,
    pub index: u64,
    /// The tenant that submitted it, if there are several.
    tenant: u32,
    /// Whether results count it.
    pub measured: bool,
    pub request: Request,
}

impl Tags {
    /// Returns the tenant that submitted the request.
    pub fn tenant(&self, tag: u32) -> usize {
        self.slots[tag as usize].tenant as usize
    }

    /// Sets the tenant that submitted the request.
    pub fn set_tenant(&mut self, tag: u32, tenant: usize) {
        self.slots[tag as usize].tenant = tenant as u32;
    }

    /// Assigns a tag to `request` and stores the request.
    #[inline]
    pub fn take(&mut self, mut request: Request, index: u64, arrived: SimTime) -> Request {
        let tag = self.free.pop().unwrap_or_else(|| {
            u32::try_from(self.slots.len()).expect("fewer requests outstanding than that")
        });
        request.tag = tag;
        let slot = Slot { arrived, index, tenant: 0, measured: true, request };
        match self.slots.get_mut(tag as usize) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        request
    }

    /// Frees a tag and returns its notes.
    #[inline]
    pub fn release(&mut self, tag: u32) -> Slot {
        self.free.push(tag);
        self.slots[tag as usize]
    }
}

/// Runs a device with `outstanding` requests until something completes or `limit` is reached;
/// completions are added to `done`. Returns `false` if there is nothing to wait for.
///
/// # Errors
/// The device no longer responds.
#[inline]
pub(super) fn advance<H: Host>(
    host: &mut H,
    limit: SimTime,
    outstanding: u64,
    done: &mut Vec<Completion>,
) -> Result<bool, ReplayError> {
    let advanced = host.advance_until(limit, done);
    if advanced == Advanced::Idle && outstanding > 0 {
        return Err(ReplayError::Standstill { at: host.now(), requests: outstanding });
    }
    Ok(advanced != Advanced::Idle || host.now() >= limit)
}
