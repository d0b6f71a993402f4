//! Policies from outside the crate take the place of those that a configuration chose
//! (`external-policies`; see [`OutsidePolicy`](crate::policy::OutsidePolicy)).
//!
//! What hangs on a policy was settled with the configured one: how many streams find spare blocks, what DRAM a buffer
//! has, whether there is a log. A policy that would need something else is refused. Seams that have no function here
//! are public fields of the setups (`flash.timing.native = Timing::External(..)`), and nothing is checked there.

use std::fmt;

use crate::cache::{ExternalWriteBuffer, WriteBuffer, WriteBufferPolicy};
use crate::device::DeviceSetup;
use crate::ftl::gc::{ExternalVictim, Victim};
use crate::ftl::mapping::{ExternalMapping, Mapping, MappingPolicy};
use crate::ftl::placement::{ExternalPlacement, Placement};
use crate::ftl::streams::{ExternalStreams, Streams};
use crate::ftl::wear::{ExternalLevelling, Levelling};
use crate::scheduler::{ExternalScheduler, Scheduler};

/// Why a policy cannot take the place of the configured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It fills more blocks of a plane at a time than the configured one, or has no stream for the host or for copies.
    Streams {
        /// The blocks that it fills.
        wanted: u32,
        /// Those of the configured one.
        room: u32,
    },
    /// A part of the device that one of the two needs is there, or missing, because of the configured one.
    Needs(&'static str),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Streams { wanted, room } => write!(
                f,
                "the policy fills {wanted} blocks of a plane at a time, and the device has room for 2 to {room}, at \
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

/// The first of some questions on which two policies differ.
fn agree<const N: usize>(questions: [(bool, bool, &'static str); N]) -> Result<(), Misfit> {
    match questions.into_iter().find(|(one, other, _)| one != other) {
        Some((.., what)) => Err(Misfit::Needs(what)),
        None => Ok(()),
    }
}

impl DeviceSetup {
    /// With this choice of victims.
    #[must_use]
    pub fn with_victim(mut self, policy: impl ExternalVictim + 'static) -> DeviceSetup {
        self.ftl.victim = Victim::External(Box::new(policy));
        self
    }

    /// With this order of commands.
    #[must_use]
    pub fn with_scheduler(mut self, policy: impl ExternalScheduler + 'static) -> DeviceSetup {
        self.flash.scheduler = Scheduler::External(Box::new(policy));
        self
    }

    /// With this static wear levelling.
    #[must_use]
    pub fn with_levelling(mut self, policy: impl ExternalLevelling + 'static) -> DeviceSetup {
        self.ftl.wear.levelling = Levelling::External(Box::new(policy));
        self
    }

    /// With this placement.
    ///
    /// # Errors
    /// The buffer has to know the plane of a page beforehand, which only the configured placement promises.
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

    /// With this separation of what is written.
    ///
    /// # Errors
    /// It has more streams than the configured one, for which blocks were set aside, or too few.
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

    /// With this order in which pages leave the write buffer. The DRAM stays that of the configured buffer.
    ///
    /// # Errors
    /// The buffer has no DRAM, and the policy wants some, or the other way round; or one of them keeps versions or
    /// holes.
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

    /// With this map.
    ///
    /// # Errors
    /// Only one of the two translates, has a log, lies on flash, or keeps pages in pieces.
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
