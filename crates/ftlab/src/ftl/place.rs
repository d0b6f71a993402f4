//! The place of a flash page of the host.

use crate::engine::skills::{RARE, SLC, Skills, any};
use crate::ftl::placement::{PlacementPolicy, PlacementView};
use crate::ftl::room::take_for_host;
use crate::ftl::streams::WriteStream;
use crate::ftl::wear::{dies, failing};
use crate::ftl::{Ftl, slc};
use crate::scheduler::Load;
use crate::units::{Lpn, Ppn};

impl Ftl {
    /// Chooses the place of the flash page that begins with logical page `page`, and takes it.
    /// Returns none if no usable page is free.
    #[inline]
    pub fn place<const S: Skills>(
        &mut self,
        page: Lpn,
        stream: WriteStream,
        load: &Load,
    ) -> Option<Ppn> {
        let mut load = load;
        if any(S, RARE) {
            if self.health.read_only {
                return failing::place_anywhere(stream, self);
            }
            if self.is_homeless(page) {
                return dies::place_homeless(stream, self);
            }
            load = load.of_volume();
            if self.space.groups.is_some() {
                return self.place_in_group(stream, |stream, ftl| {
                    ftl.place_on_volume::<S>(page, stream, load)
                });
            }
        }
        if any(S, SLC)
            && let Some(cache) = &self.features.slc
        {
            let view = PlacementView { load, writable: &cache.writable };
            if let Some(plane) = self.policies.placement.choose(page, &view) {
                return slc::cache::take_slc_page(plane, self);
            }
        }
        self.place_on_volume::<S>(page, stream, load)
    }

    #[inline(always)]
    fn place_on_volume<const S: Skills>(
        &mut self,
        page: Lpn,
        stream: WriteStream,
        load: &Load,
    ) -> Option<Ppn> {
        let view = PlacementView { load, writable: &self.space.writable[stream.at()] };
        let plane = self.policies.placement.choose(page, &view)?;
        take_for_host::<S>(plane, stream, self)
    }
}
