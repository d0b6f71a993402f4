//! The registry of services: one line per service generates everything that the device asks of all
//! of them.

use crate::device::Contents;
use crate::engine::skills::Skills;
use crate::ftl::Kernel;
use crate::ftl::cost::Rewriter;
use crate::ftl::gc::Collector;
use crate::ftl::journal::Journal;
use crate::ftl::map_cache::MapCache;
use crate::ftl::merge::Merger;
use crate::ftl::service::{Service, Signals};
use crate::scheduler::{CommandId, Owner, Probe};

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident: $service:ty,)*) => {
        /// The services: they move data for purposes of the device itself.
        #[derive(Clone, Debug)]
        pub(super) struct Services {
            /// Every device has a collector.
            pub collector: Collector,
            $($(#[$doc])* pub $name: Option<Box<$service>>,)*
        }

        impl Services {
            /// The skills that a device with these services needs.
            pub fn skills(&self) -> Skills {
                let of_each = [$(self.$name.as_ref().map_or(0, |_| <$service>::SKILLS)),*];
                of_each.into_iter().fold(0, |all, one| all | one)
            }

            /// The notifications that they need.
            pub fn wakes(&self) -> Signals {
                let of_each = [$(self.$name.as_ref().map(|_| <$service>::WAKES)),*];
                of_each.into_iter().flatten().fold(Signals::NONE, Signals::and)
            }

            /// Why a device with these services can't be written without a clock.
            pub fn needs_time(&self) -> Option<&'static str> {
                let of_each = [$(self.$name.as_ref().map(|_| <$service>::NEEDS_TIME)),*];
                of_each.into_iter().flatten().next()
            }

            /// Whether nothing waits and nothing is in flight.
            pub fn are_at_rest(&self) -> bool {
                true $(&& self.$name.as_ref().is_none_or(|service| service.is_at_rest()))*
            }

            /// A command of a service is done. Returns what the device has to attend to.
            pub fn done<P: Probe, C: Contents>(
                &mut self,
                owner: Owner,
                id: CommandId,
                on: &mut Kernel<P, C>,
            ) -> Signals {
                $(if let Some(service) = &mut self.$name
                    && owner.service == <$service>::ID
                {
                    return service.done(owner.token, id, on, &mut self.collector);
                })*
                Signals::NONE
            }

            /// A command of a service has read data that cannot be corrected.
            pub fn unreadable<P: Probe, C: Contents>(
                &mut self,
                owner: Owner,
                on: &mut Kernel<P, C>,
            ) {
                $(if let Some(service) = &mut self.$name
                    && owner.service == <$service>::ID
                {
                    service.unreadable(owner.token, &mut on.ftl);
                })*
            }
        }
    };
}

services! {
    /// Merges blocks; none if blocks are collected.
    merger: Merger,
    /// Rewrites pages at another cost.
    rewriter: Rewriter,
    /// Look-ups that wait for entries of the map; none if all entries are in memory.
    map: MapCache,
    /// Writes to the system area; none if nothing is kept there.
    journal: Journal,
}
