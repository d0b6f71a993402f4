//! What a device keeps on flash, stored outside of it as a block device does, and brought up to date from what the
//! device says has changed. A killed process leaves nothing else.

use std::collections::BTreeMap;

use ftlab::device::{Device, DeviceSetup, Remains};
use ftlab::ftl::recovery::{KeptBlock, KeptFacts, KeptPage, KeptSource, Touched};
use ftlab::units::{BlockId, Lpn, Ppn};

use crate::versions::Versions;

/// The store.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    blocks: BTreeMap<BlockId, KeptBlock>,
    superblocks: BTreeMap<BlockId, Vec<u8>>,
    pages: BTreeMap<Ppn, KeptPage>,
    trims: BTreeMap<Lpn, u64>,
    facts: KeptFacts,
    touched: Touched,
}

impl Stored {
    /// Stores everything, and has the device say from now on what changes.
    pub(super) fn all_of(device: &mut Device<(), Versions>) -> Stored {
        let mut stored = Stored::default();
        if device.kept().is_none() {
            return stored;
        }
        device.swap_touched(&mut stored.touched);
        let geometry = device.ftl().geometry().clone();
        let all = (0..geometry.blocks()).map(BlockId::new);
        let known = |&block: &BlockId| device.kept().is_some_and(|kept| kept.knows(block));
        stored.touched.blocks = all.clone().filter(known).collect();
        let kept = device.kept();
        let superblocks = all.filter_map(|block| Some((block, kept?.superblock(block))));
        stored.superblocks = superblocks.collect();
        let units = geometry.units_per_block();
        let pages = stored.touched.blocks.iter().map(|&block| (geometry.page_at(block, 0), units));
        stored.touched.pages = pages.collect();
        stored.touched.trimmed = (0..device.ftl().logical_pages()).map(Lpn::new).collect();
        stored.store(device);
        stored
    }

    /// Stores what has changed.
    pub(super) fn update(&mut self, device: &mut Device<(), Versions>) {
        device.swap_touched(&mut self.touched);
        self.store(device);
    }

    /// Stores what a recovery has changed. It may have changed any block.
    pub(super) fn came_up(&mut self, device: &mut Device<(), Versions>) {
        device.swap_touched(&mut self.touched);
        let all = (0..device.ftl().geometry().blocks()).map(BlockId::new);
        let known = |&block: &BlockId| device.kept().is_some_and(|kept| kept.knows(block));
        self.touched.blocks.extend(all.filter(known));
        self.store(device);
    }

    fn store(&mut self, device: &Device<(), Versions>) {
        let Some(kept) = device.kept() else { return };
        let geometry = device.ftl().geometry();
        for &(first, units) in &self.touched.pages {
            for at in (first.get()..first.get() + units).map(Ppn::new) {
                let block = geometry.block_of(at);
                self.pages.insert(at, kept.page(at));
                self.blocks.insert(block, kept.block(block));
                self.superblocks.insert(block, kept.superblock(block));
            }
        }
        for &block in &self.touched.blocks {
            self.blocks.insert(block, kept.block(block));
            self.superblocks.insert(block, kept.superblock(block));
        }
        self.check(device);
        let trimmed = self.touched.trimmed.iter().map(|&page| (page, kept.trim(page)));
        self.trims.extend(trimmed.filter(|&(_, version)| version > 0));
        self.facts = kept.facts();
        self.touched.clear();
    }

    /// Checks that the device has told all superblocks that have changed.
    fn check(&self, device: &Device<(), Versions>) {
        let Some(kept) = device.kept() else { return };
        for block in (0..device.ftl().geometry().blocks()).map(BlockId::new) {
            let stored = self.superblocks.get(&block).map_or(&[][..], |bytes| bytes);
            assert_eq!(stored, kept.superblock(block), "nobody said that {block:?} has changed");
            let stored = self.blocks.get(&block).is_some_and(|block| block.giving_up);
            assert_eq!(stored, kept.block(block).giving_up, "{block:?} is given up, or is not");
        }
    }

    /// Kills the process of a device: what was stored remains, and the bytes on flash.
    pub(super) fn killed(
        &self,
        device: Device<(), Versions>,
        setup: DeviceSetup,
    ) -> Result<Remains<Versions>, String> {
        use ftlab::device::Contents;
        let at = ftlab::host::Host::now(&device);
        let mut contents = device.contents().clone();
        contents.lose_power();
        Remains::of_kept(setup, at, contents, self)
            .map_err(|damage| format!("what was stored is damaged: {damage}"))
    }
}

impl KeptSource for Stored {
    fn block(&self, block: BlockId) -> KeptBlock {
        self.blocks.get(&block).copied().unwrap_or_default()
    }

    fn superblock(&self, block: BlockId) -> Vec<u8> {
        self.superblocks.get(&block).cloned().unwrap_or_default()
    }

    fn page(&self, at: Ppn) -> KeptPage {
        self.pages.get(&at).copied().unwrap_or_default()
    }

    fn trims(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.trims.iter().map(|(&page, &version)| (page, version))
    }

    fn facts(&self) -> &KeptFacts {
        &self.facts
    }
}
