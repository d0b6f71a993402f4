//! The requirements of a write buffer: a plausible size, blocks set aside for its contents at the
//! end of life, and write-backs in its own order.

use super::{Checker, GEOMETRY, text};
use crate::config::resolve::{ShapeCounts, shape, superblocks};
use crate::ftl::merge::Clocks;
use crate::options::value::Value;
use crate::units::Bytes;

impl Checker<'_, '_> {
    /// Blocks of a plane that are set aside because operations can fail.
    pub(super) fn kept_back(&self, counts: &ShapeCounts) -> u64 {
        let nand = &self.options.nand;
        let limited = nand.endurance.policy.is_limited();
        if !nand.faults.can_fail() && !limited {
            return 0;
        }
        let drain = self.options.cache.policy.dram().map_or(0, |buffer| {
            let page = nand.flash_page().0.max(1);
            let row = u64::from(self.options.pages_in_row());
            let programs = buffer.programs_in_flight(self.dies(counts), counts.planes, row);
            // A buffer that is counted in sectors may hold one sector of each page.
            let held = match buffer.space.counts_sectors() {
                true => {
                    let logical = counts.logical(self.options.ftl.over_provisioning);
                    let pages = buffer.options.capacity.sectors().min(logical);
                    pages.div_ceil(counts.units_per_page)
                }
                false => buffer.options.capacity.0.div_ceil(page),
            };
            held + programs
        });
        // Superblocks shrink to a half.
        let pages = match superblocks(self.options) {
            None => u64::from(nand.flash_pages_per_block()),
            Some(_) => counts.units_per_block.div_ceil(2 * counts.units_per_page).max(1),
        };
        1 + drain.div_ceil(counts.planes * pages)
    }

    /// Checks that the DRAM holds at least one flash page.
    fn holds_a_page(&mut self, path: &'static str, capacity: Bytes) {
        let page = shape(self.options).page_size;
        if capacity < page {
            let message =
                format!("{} does not hold one flash page of {}", capacity.print(), page.print());
            let remedy = format!("write {} or more", text(&page));
            self.fail(&[path, "nand.page_size"], message, remedy);
        }
    }

    pub(super) fn cache(&mut self) {
        if let Some(reads) = self.options.cache.read.policy.holds() {
            self.holds_a_page("cache.read.capacity", reads.capacity);
        }
        let Some(buffer) = self.options.cache.policy.dram() else { return };
        let capacity = buffer.options.capacity;
        self.holds_a_page("cache.capacity", capacity);
        let shape = shape(self.options);
        let Some(counts) = ShapeCounts::of(&shape) else { return };
        let logical = counts.logical(self.options.ftl.over_provisioning);
        if capacity.0 / shape.mapping_unit.0 >= logical {
            let mut paths = vec!["cache.capacity", "ftl.over_provisioning"];
            paths.extend(GEOMETRY);
            let message = "the buffer holds the whole device: flash is hardly used".to_owned();
            self.warn(&paths, message, "write a smaller capacity".to_owned());
        }
    }

    /// An append buffer is written to flash in order: adjacent places share a flash page.
    pub(super) fn order_of_streams(&mut self) {
        let appends = self.options.cache.policy.appends();
        if !appends || self.options.ftl.streams.policy.counts().host <= 1 {
            return;
        }
        let message = "host streams would separate what is adjacent in an append buffer";
        let remedy = "set ftl.streams.policy to \"single\", or cache.policy to \"lru\"";
        let paths = ["ftl.streams.policy", "cache.policy"];
        self.fail(&paths, message.to_owned(), remedy.to_owned());
    }

    /// In lock-step, write cycles take the first page of each plane in the order of the buffer. A
    /// policy without a fixed order can't be used.
    pub(super) fn order_in_lock_step(&mut self) {
        let ftl = &self.options.ftl;
        let policy = &self.options.cache.policy;
        if policy.keeps_order() || !self.has_log() || ftl.merge.clocks != Clocks::LockStep {
            return;
        }
        let message = format!(
            "in lock-step, planes take pages in the order of the buffer, but {} decides anew for each",
            text(&policy.name().to_owned())
        );
        let remedy = "set ftl.merge.clocks to \"own\", or cache.policy to \"lru\"".to_owned();
        self.fail(&["ftl.merge.clocks", "cache.policy"], message, remedy);
    }
}
