//! Policies from outside the crate replace those that a configuration chose (`external-policies`;
//! see [`OutsidePolicy`](crate::policy::OutsidePolicy)).
//!
//! The configured policy has already determined other parts of the device: the spare blocks for its streams, the DRAM
//! of the buffer, whether there is a log. A policy that would need other parts is refused. Seams without a function
//! here are public fields of the setups (`flash.timing.native = Timing::External(..)`); nothing is checked there.

use std::fmt;

use crate::cache::{ExternalWriteBuffer, WriteBuffer, WriteBufferPolicy};
use crate::device::DeviceSetup;
use crate::ftl::gc::pacing::{ExternalPacing, Pacing};
use crate::ftl::gc::{ExternalVictim, Victim};
use crate::ftl::mapping::{ExternalMapping, Mapping, MappingPolicy};
use crate::ftl::placement::{ExternalPlacement, Placement};
use crate::ftl::streams::{ExternalStreams, Streams};
use crate::ftl::wear::{ExternalLevelling, Levelling};
use crate::scheduler::{ExternalScheduler, Scheduler};

/// Why a policy cannot replace the configured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It fills more blocks of a plane at a time than the configured policy, or has no stream for
    /// the host or for copies.
    Streams {
        /// The number of blocks that it fills.
        wanted: u32,
        /// The number of blocks that the configured policy fills.
        room: u32,
    },
    /// The two policies need different parts of the device.
    Needs(&'static str),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Streams { wanted, room } => write!(
                f,
                "the policy fills {wanted} blocks of a plane at a time, and the device has room for 2 to {room}, with at \
                 least one for the host and one for copies: configure a policy with as many streams"
            ),
            Misfit::Needs(what) => write!(
                f,
                "the policy and the configured one do not agree on {what}: configure one that does"
            ),
        }
    }
}

impl std::error::Error for Misfit {}

/// Returns the first question that two policies answer differently.
fn agree<const N: usize>(questions: [(bool, bool, &'static str); N]) -> Result<(), Misfit> {
    match questions.into_iter().find(|(one, other, _)| one != other) {
        Some((.., what)) => Err(Misfit::Needs(what)),
        None => Ok(()),
    }
}

impl DeviceSetup {
    /// Sets the victim policy.
    #[must_use]
    pub fn with_victim(mut self, policy: impl ExternalVictim + 'static) -> DeviceSetup {
        self.ftl.victim = Victim::External(Box::new(policy));
        self
    }

    /// Sets the pacing of the host while planes collect.
    #[must_use]
    pub fn with_pacing(mut self, policy: impl ExternalPacing + 'static) -> DeviceSetup {
        self.ftl.pacing = Pacing::External(Box::new(policy));
        self
    }

    /// Sets the scheduler.
    #[must_use]
    pub fn with_scheduler(mut self, policy: impl ExternalScheduler + 'static) -> DeviceSetup {
        self.flash.scheduler = Scheduler::External(Box::new(policy));
        self
    }

    /// Sets the static wear levelling.
    #[must_use]
    pub fn with_levelling(mut self, policy: impl ExternalLevelling + 'static) -> DeviceSetup {
        self.ftl.wear.levelling = Levelling::External(Box::new(policy));
        self
    }

    /// Sets the placement.
    ///
    /// # Errors
    /// The buffer has to know the plane of a page in advance, which only the configured placement guarantees.
    pub fn with_placement(
        mut self,
        policy: impl ExternalPlacement + 'static,
    ) -> Result<DeviceSetup, Misfit> {
        if self.buffer.gate.is_some() {
            return Err(Misfit::Needs("planes that follow from the address"));
        }
        self.ftl.placement = Placement::External(Box::new(policy));
        Ok(self)
    }

    /// Sets the separation into streams.
    ///
    /// # Errors
    /// The policy has too few streams, or more than the configured one, for which blocks were set aside.
    pub fn with_streams(
        mut self,
        policy: impl ExternalStreams + 'static,
    ) -> Result<DeviceSetup, Misfit> {
        let (counts, room) = (policy.counts(), self.ftl.streams.open_blocks());
        let wanted = counts.open_blocks();
        if counts.host == 0 || counts.copies == 0 || wanted > room {
            return Err(Misfit::Streams { wanted, room });
        }
        self.ftl.streams = Streams::External(Box::new(policy));
        Ok(self)
    }

    /// Sets the eviction policy of the write buffer. The DRAM stays that of the configured buffer.
    ///
    /// # Errors
    /// Only one of the two policies needs DRAM, keeps several versions of a page, or counts the
    /// holes that overwritten pages leave.
    pub fn with_write_buffer(
        mut self,
        policy: impl ExternalWriteBuffer + 'static,
    ) -> Result<DeviceSetup, Misfit> {
        let configured = &self.buffer.policy;
        agree([
            (policy.acknowledges_early(), configured.acknowledges_early(), "whether there is DRAM"),
            (
                policy.keeps_versions(),
                configured.keeps_versions(),
                "whether versions of pages are kept",
            ),
            (policy.appends(), configured.appends(), "whether places in the buffer are counted"),
        ])?;
        self.buffer.policy = WriteBuffer::External(Box::new(policy));
        Ok(self)
    }

    /// Sets the mapping.
    ///
    /// # Errors
    /// Only one of the two policies translates, has a log, keeps the map on flash, or packs pages.
    pub fn with_mapping(
        mut self,
        policy: impl ExternalMapping + 'static,
    ) -> Result<DeviceSetup, Misfit> {
        let configured = &self.ftl.mapping;
        agree([
            (policy.translates(), configured.translates(), "whether addresses are translated"),
            (policy.has_log(), configured.has_log(), "whether there is a log"),
            (policy.log().is_some(), configured.has_log(), "whether there is a log"),
            (policy.dftl().is_some(), configured.dftl().is_some(), "whether the map lies on flash"),
            (policy.rmap().is_some(), configured.packs(), "whether pages lie in pieces"),
        ])?;
        self.ftl.mapping = Mapping::External(Box::new(policy));
        Ok(self)
    }
}
