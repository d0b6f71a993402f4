//! Commits: what makes what has happened outlast a kill, and what of a drive's life is kept with it.

use std::io;

use ftlab::ftl::recovery::Touched;
use ftlab::host::Host;
use ftlab::units::BlockId;

use super::Drive;
use super::header::{Facts, LifeCounts};
use super::tables::DriveView;

/// The most blocks and pages of one commit after a recovery.
const AT_ONCE: usize = 4096;

impl Drive {
    /// Whether a commit has something to do.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.device().kept().is_some_and(|kept| kept.has_changed())
            || self.device().contents().has_news()
    }

    /// Makes what has happened outlast a kill.
    ///
    /// # Errors
    /// The data file can't be read or written. Nothing that has happened since the last commit may be told.
    pub fn commit(&mut self) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("a commit has failed before"));
        }
        let committed = self.try_commit();
        self.broken = committed.is_err();
        committed
    }

    fn try_commit(&mut self) -> io::Result<()> {
        let device = self.device.as_mut().expect("power is cut only within a call");
        device.swap_touched(&mut self.touched);
        if self.touched.is_empty() && !device.contents().has_news() {
            return device.contents().check();
        }
        device.contents_mut().write_out();
        device.contents().check()?;
        if self.recovers {
            let touched = std::mem::take(&mut self.touched);
            let committed = self.commit_touched(&touched);
            self.touched = touched;
            committed?;
        }
        self.touched.clear();
        let contents = self.device_mut().contents_mut();
        contents.committed();
        contents.check()
    }

    fn commit_touched(&mut self, touched: &Touched) -> io::Result<()> {
        let facts = self.facts();
        let Drive { device, file, geometry, .. } = self;
        let device = device.as_ref().expect("power is cut only within a call");
        let kept = device.kept().expect("a device that recovers keeps something");
        let view = DriveView { kept, seconds: &device.contents().seconds, geometry };
        file.commit(touched, device.contents().logged(), view, &facts)
    }

    /// Commits what a recovery has changed after a cut of a running drive: first what was committed last and what the
    /// recovery found, as one commit, and then the state of all blocks, which a recovery after a kill in between finds again.
    pub(super) fn commit_cut(&mut self) -> io::Result<()> {
        self.commit()?;
        self.commit_blocks()
    }

    /// Commits what a recovery has changed after a kill. Each part may be missing if the server is killed again, because
    /// the next recovery begins with the same and does the same.
    pub(super) fn commit_recovery(&mut self) -> io::Result<()> {
        let mut touched = Touched::default();
        self.device_mut().swap_touched(&mut touched);
        self.commit_blocks()?;
        for part in touched.blocks.chunks(AT_ONCE) {
            self.commit_touched(&Touched { blocks: part.to_vec(), ..Touched::default() })?;
        }
        for part in touched.pages.chunks(AT_ONCE) {
            self.commit_touched(&Touched { pages: part.to_vec(), ..Touched::default() })?;
        }
        for part in touched.trimmed.chunks(AT_ONCE) {
            self.commit_touched(&Touched { trimmed: part.to_vec(), ..Touched::default() })?;
        }
        self.device_mut().contents_mut().committed();
        self.device().contents().check()
    }

    /// Commits the state of all blocks. A recovery may have changed any.
    fn commit_blocks(&mut self) -> io::Result<()> {
        let all = (0..self.geometry.blocks()).map(BlockId::new);
        let kept = self.device().kept().expect("a device that recovers keeps something");
        let known: Vec<BlockId> = all.filter(|&block| kept.knows(block)).collect();
        known.chunks(AT_ONCE).try_for_each(|part| {
            self.commit_touched(&Touched { blocks: part.to_vec(), ..Touched::default() })
        })
    }

    pub(super) fn facts(&self) -> Facts {
        let device = self.device();
        let kept = device.kept().map(|kept| kept.facts()).unwrap_or_default();
        Facts::new(device.now().0, &kept, self.life())
    }

    /// What the drive has counted over its whole life.
    pub(super) fn life(&self) -> LifeCounts {
        let (before, now) = (&self.life_before, &self.counted);
        let device = self.device();
        let programmed = ftlab::scheduler::flash_pages_programmed(device.flash().done());
        let page = self.geometry.shape().page_size.0;
        LifeCounts {
            host_written_bytes: before.host_written_bytes + now.host_written_bytes,
            host_read_bytes: before.host_read_bytes + now.host_read_bytes,
            media_written_bytes: before.media_written_bytes
                + now.media_written_bytes
                + programmed * page,
            power_cycles: before.power_cycles + now.power_cycles,
            unsafe_shutdowns: before.unsafe_shutdowns + now.unsafe_shutdowns,
            powered_on_ns: before.powered_on_ns + (device.now() - self.started).0,
        }
    }
}
