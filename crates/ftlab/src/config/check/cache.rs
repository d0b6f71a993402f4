//! What a write buffer needs: a size that makes sense, blocks kept back for what it holds when the device
//! comes to its end, and write-backs in its own order.

use super::{Checker, GEOMETRY, text};
use crate::config::resolve::{ShapeCounts, shape};
use crate::ftl::merge::Clocks;
use crate::options::value::Value;
use crate::units::Bytes;

impl Checker<'_, '_> {
    /// Blocks of a plane that a device keeps back because operations on it can fail.
    pub(super) fn kept_back(&self, counts: &ShapeCounts) -> u64 {
        let nand = &self.options.nand;
        let limited = nand.endurance.policy.is_limited();
        if !nand.faults.can_fail() && !limited {
            return 0;
        }
        let drain = self.options.cache.policy.dram().map_or(0, |buffer| {
            let page = nand.page_size.0.max(1);
            let row = u64::from(self.options.pages_in_row());
            let programs = buffer.programs_in_flight(self.dies(counts), counts.planes, row);
            // Counted by sectors, it may hold one of each page.
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
        1 + drain.div_ceil(counts.planes * u64::from(nand.pages_per_block))
    }

    /// DRAM holds a flash page, at the least.
    fn holds_a_page(&mut self, path: &'static str, capacity: Bytes) {
        let page = shape(self.options).page_size;
        if capacity < page {
            let message =
                format!("{} do not hold one flash page of {}", capacity.print(), page.print());
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

    /// What was appended goes to flash in order, places that lie together on one flash page.
    pub(super) fn order_of_streams(&mut self) {
        let appends = self.options.cache.policy.appends();
        if !appends || self.options.ftl.streams.policy.counts().host <= 1 {
            return;
        }
        let message = "streams of the host would part what lies together in an append buffer";
        let remedy = "set ftl.streams.policy to \"single\", or cache.policy to \"lru\"";
        let paths = ["ftl.streams.policy", "cache.policy"];
        self.fail(&paths, message.to_owned(), remedy.to_owned());
    }

    /// In lock-step, write cycles take the first page of each plane in the order of the buffer: a policy that
    /// decides anew each time is not asked.
    pub(super) fn order_in_lock_step(&mut self) {
        let ftl = &self.options.ftl;
        let policy = &self.options.cache.policy;
        if policy.keeps_order() || !self.has_log() || ftl.merge.clocks != Clocks::LockStep {
            return;
        }
        let message = format!(
            "in lock-step, planes take pages in the order of the buffer, and {} decides anew for each",
            text(&policy.name().to_owned())
        );
        let remedy = "set ftl.merge.clocks to \"own\", or cache.policy to \"lru\"".to_owned();
        self.fail(&["ftl.merge.clocks", "cache.policy"], message, remedy);
    }
}
