//! The log's part of an image: the block of each data block, and the log blocks of each plane. The
//! places of the newest copies follow from the valid pages, which are committed to the mapping
//! first.

use super::spot::{DataBlock, Spot};
use super::tables::{LISTS, LOG, LogTables, STRAYED};
use crate::ftl::{BlockState, Blocks};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId, Ppn};

impl LogTables {
    /// Writes the state that does not follow from the valid pages.
    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        let LogTables {
            // Derived from the configuration.
            stripe: _,
            pages: _,
            shares: _,
            starts_full: _,
            // Follow from the valid pages.
            newest: _,
            logged: _,
            changed: _,
            blocks_of,
            // Follow from what is saved of each log block.
            homes: _,
            chains: _,
            infos,
            lists,
            used: _,
        } = self;
        out.list(blocks_of.iter().copied());
        for list in 0..self.lists_in_all() {
            let blocks: Vec<BlockId> = lists.all(list).collect();
            out.list(blocks.iter().map(|block| block.get()));
            for block in blocks {
                let info = infos[block.at()];
                out.flag(info.taken & STRAYED != 0);
                out.number(info.home);
                out.number(info.older);
            }
        }
    }

    /// Clears the initial state of the device; the image provides the contents.
    pub(in crate::ftl) fn begin_load(&mut self) {
        self.blocks_of.fill(0);
        self.infos.fill(super::tables::Info::default());
        self.changed.fill(self.starts_full);
    }

    /// Reads what [`save`](Self::save) wrote, after every valid page was committed. `blocks`
    /// provides how far each block is programmed.
    pub(in crate::ftl) fn load(
        &mut self,
        geometry: &Geometry,
        blocks: &Blocks,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        self.load_data(geometry, blocks, from)?;
        let mut heads = 0;
        for list in 0..self.lists_in_all() {
            heads += self.load_list(list, geometry, blocks, from)?;
        }
        self.load_chains(heads)?;
        self.check_copies(geometry)
    }

    fn lists_in_all(&self) -> usize {
        self.used.len()
    }

    fn load_data(
        &mut self,
        geometry: &Geometry,
        blocks: &Blocks,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let held = from.list(geometry.blocks() + 1, "the block of a data block")?;
        if held.len() != self.blocks_of.len() {
            return Err(Damage(format!(
                "{} data blocks, not {}",
                held.len(),
                self.blocks_of.len()
            )));
        }
        for (data, raw) in self.all_data_blocks().zip(held) {
            let Some(block) = BlockId::from_raw(raw) else { continue };
            if self.plane_of(data) != geometry.plane_of(block) {
                return Err(Damage(format!("{block:?} holds a data block of another plane")));
            }
            self.claim(block, blocks, 0)?;
            self.blocks_of[data.get() as usize] = raw;
            let first = block.get() * self.pages_per_block();
            let start = data.get() as usize * self.pages_per_block() as usize;
            for offset in 0..self.pages_per_block() {
                let newest = &mut self.newest[start + offset as usize];
                if *newest == Ppn::new(first + offset).to_raw() {
                    *newest = 0;
                    self.logged.put(Spot { data, offset }, false);
                }
            }
        }
        Ok(())
    }

    /// Marks a block as taken. It must be in use, and not taken yet.
    fn claim(&mut self, block: BlockId, blocks: &Blocks, marks: u32) -> Result<(), Damage> {
        let used = matches!(blocks.state(block), BlockState::Open | BlockState::Closed);
        let info = &mut self.infos[block.at()];
        if !used || info.taken != 0 {
            return Err(Damage(format!("{block:?} is not in use, or used twice")));
        }
        info.taken = blocks.programmed(block) | marks;
        Ok(())
    }

    /// Reads a list of log blocks. Returns the number of them that have a home.
    fn load_list(
        &mut self,
        list: usize,
        geometry: &Geometry,
        blocks: &Blocks,
        from: &mut ImageReader<'_>,
    ) -> Result<u32, Damage> {
        let homed = list % LISTS == 1;
        let plane = PlaneId::new((list / LISTS) as u32);
        let members = from.list(geometry.blocks(), "a log block")?;
        if members.len() > self.shares.log as usize {
            return Err(Damage(format!("{plane:?} has {} log blocks", members.len())));
        }
        for &block in &members {
            let block = BlockId::new(block);
            let strayed = from.flag("whether pages of a log block lie at other offsets")?;
            let home = from.below(self.blocks_of.len() as u64 + 1, "the home of a log block")?;
            let older = from.below(u64::from(geometry.blocks()) + 1, "an older log block")?;
            let fits = (home > 0) == homed && (homed || older == 0);
            let at_home = home == 0 || self.plane_of(DataBlock::new(home - 1)) == plane;
            if geometry.plane_of(block) != plane || !fits || !at_home {
                return Err(Damage(format!("{block:?} is not a log block of {plane:?}")));
            }
            self.claim(block, blocks, LOG | if strayed { STRAYED } else { 0 })?;
            let info = &mut self.infos[block.at()];
            (info.home, info.older) = (home, older);
            self.lists.append(list, block);
        }
        self.used[list] = members.len() as u32;
        Ok(if homed { members.len() as u32 } else { 0 })
    }

    /// Rebuilds the chains of log blocks of each data block. Each log block is in one chain.
    fn load_chains(&mut self, homed: u32) -> Result<(), Damage> {
        let all: Vec<BlockId> = (0..self.lists_in_all() / LISTS)
            .flat_map(|plane| self.homed_logs(PlaneId::new(plane as u32)))
            .collect();
        let mut followed = vec![false; self.infos.len()];
        for &block in &all {
            let info = self.infos[block.at()];
            let Some(older) = BlockId::from_raw(info.older) else { continue };
            let known = self.is_log(older) && self.infos[older.at()].home == info.home;
            if !known || std::mem::replace(&mut followed[older.at()], true) {
                return Err(Damage(format!("{older:?} is in no chain, or in two chains")));
            }
        }
        for &block in all.iter().filter(|block| !followed[block.at()]) {
            let home = self.infos[block.at()].home as usize - 1;
            if std::mem::replace(&mut self.homes[home], block.to_raw()) != 0 {
                return Err(Damage(format!("{block:?} begins a second chain of its data block")));
            }
        }
        let lengths: Vec<u32> =
            self.all_data_blocks().map(|data| self.own_logs(data).count() as u32).collect();
        self.chains = lengths;
        match self.chains.iter().sum::<u32>() == homed {
            true => Ok(()),
            false => Err(Damage::new("the log blocks of a data block form a cycle")),
        }
    }

    /// Checks that every newest copy lies in its data block, or in a log block of the same plane.
    fn check_copies(&self, geometry: &Geometry) -> Result<(), Damage> {
        for data in self.all_data_blocks() {
            let home = |block| self.home_of(block).is_none_or(|home| home == data);
            for (_, at) in self.newer(data) {
                let block = geometry.block_of(at);
                let here = geometry.plane_of(block) == self.plane_of(data);
                if !self.is_log(block) || !here || !home(block) {
                    return Err(Damage(format!("{at:?} cannot hold a page of {data:?}")));
                }
            }
        }
        Ok(())
    }
}
