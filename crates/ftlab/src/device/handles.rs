//! Flexible data placement, as the host sees it: its handles, what their reclaim units still take, and the log of events.

use crate::device::{Contents, Device};
use crate::engine::skills;
use crate::ftl::handles;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::streams::fdp::{Fdp, LifeCounts};
use crate::scheduler::Probe;
use crate::units::{Bytes, Lpn, SECTOR_BYTES};

/// A reclaim unit handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleStatus {
    /// What its open reclaim units still take (NVMe: reclaim unit available media writes). Zero before the next write opens one.
    pub available: Bytes,
    /// What the host has written to it since the device was made, loaded or powered up.
    pub written: Bytes,
}

/// What was written since the drive was new (NVMe: FDP statistics). It outlives images and power cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementLife {
    /// What the host wrote.
    pub host: Bytes,
    /// What was programmed for it: its data, copies, padding, and a map on flash.
    pub media_written: Bytes,
    /// What was erased.
    pub media_erased: Bytes,
}

/// A handle that the device does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownHandle;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Flexible data placement, with its events and counts; none if the device has none.
    #[must_use]
    pub fn fdp(&self) -> Option<&Fdp> {
        self.base.kernel.ftl.streams().fdp()
    }

    /// The bytes of a reclaim unit: a superblock, or a block where there are none.
    #[must_use]
    pub fn reclaim_unit(&self) -> Bytes {
        let page = u64::from(self.base.sectors_per_page) * SECTOR_BYTES;
        Bytes(u64::from(self.base.kernel.ftl.geometry().units_per_block()) * page)
    }

    /// The reclaim unit handles in order; none without flexible data placement.
    #[must_use]
    pub fn handles(&self) -> Vec<HandleStatus> {
        let Some(fdp) = self.fdp() else { return Vec::new() };
        let page = u64::from(self.base.sectors_per_page) * SECTOR_BYTES;
        let status = |handle: u8| HandleStatus {
            available: Bytes(handles::pages_left(handle, &self.base.kernel.ftl) * page),
            written: Bytes(fdp.placement_counts().sectors[usize::from(handle)] * SECTOR_BYTES),
        };
        (0..fdp.counts().host).map(status).collect()
    }

    /// What the host and the media wrote since the drive was new; none without flexible data placement.
    #[must_use]
    pub fn placement_life(&self) -> Option<PlacementLife> {
        let LifeCounts { host_sectors, programmed, erased, left_groups: _ } =
            *self.fdp()?.life_counts();
        let page = u64::from(self.base.sectors_per_page) * SECTOR_BYTES;
        Some(PlacementLife {
            host: Bytes(host_sectors * SECTOR_BYTES),
            media_written: Bytes(programmed * page),
            media_erased: Bytes(erased * page),
        })
    }

    /// The handle in whose reclaim units a page lies; none if it is not on flash, or among copies of several handles.
    #[must_use]
    pub fn handle_of(&self, page: Lpn) -> Option<u8> {
        let ftl = &self.base.kernel.ftl;
        let block = ftl.geometry().block_of(ftl.look_up(page)?);
        ftl.streams().isolated(ftl.blocks().stream(block))
    }

    /// Gives a handle new reclaim units (NVMe: I/O management send, reclaim unit handle update). What it has begun to fill is
    /// closed. Data that waits in the write buffer goes to the new units.
    ///
    /// # Errors
    /// There is no such handle.
    pub fn update_handle(&mut self, handle: u8) -> Result<(), UnknownHandle> {
        let known = self.fdp().is_some_and(|fdp| handle < fdp.counts().host);
        if !known {
            return Err(UnknownHandle);
        }
        self.base.kernel.ftl.comes_to(self.base.kernel.now);
        handles::update(handle, &mut self.base.kernel.ftl);
        // What was closed may be collected.
        self.base.relieve::<{ skills::ALL }>();
        Ok(())
    }
}
