//! The registry of services: a line for each. What the device asks of all of them is written once.

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
        /// What moves data for purposes of the device's own.
        #[derive(Clone, Debug)]
        pub(super) struct Services {
            /// Which every device has.
            pub collector: Collector,
            $($(#[$doc])* pub $name: Option<Box<$service>>,)*
        }

        impl Services {
            /// What a device with these services needs of the skills.
            pub fn skills(&self) -> Skills {
                let of_each = [$(self.$name.as_ref().map_or(0, |_| <$service>::SKILLS)),*];
                of_each.into_iter().fold(0, |all, one| all | one)
            }

            /// What they want to hear of.
            pub fn wakes(&self) -> Signals {
                let of_each = [$(self.$name.as_ref().map(|_| <$service>::WAKES)),*];
                of_each.into_iter().flatten().fold(Signals::NONE, Signals::and)
            }

            /// Why a device with these services can't be written without a clock.
            pub fn needs_time(&self) -> Option<&'static str> {
                let of_each = [$(self.$name.as_ref().map(|_| <$service>::NEEDS_TIME)),*];
                of_each.into_iter().flatten().next()
            }

            /// Whether nothing waits and nothing is under way.
            pub fn are_at_rest(&self) -> bool {
                true $(&& self.$name.as_ref().is_none_or(|service| service.is_at_rest()))*
            }

            /// A command of one of them is done. Returns what others have to attend to.
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

            /// A command of one of them has read what nothing corrects.
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
    /// What merges blocks; none if they are collected.
    merger: Merger,
    /// What programs pages again at another cost; none if nothing does.
    rewriter: Rewriter,
    /// Who waits for entries of the map; none if all of it is in memory.
    map: MapCache,
    /// What is on its way to the system area; none if nothing is kept there.
    journal: Journal,
}
