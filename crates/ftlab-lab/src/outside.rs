//! Policies from outside the simulator, which replace configured ones in the devices of an experiment.

use std::fmt;
use std::sync::Arc;

use ftlab::device::DeviceSetup;
use ftlab::image::Resume;

use crate::failure::Failure;

type Alteration = dyn Fn(DeviceSetup) -> Result<DeviceSetup, Failure> + Send + Sync;

/// A policy from outside.
#[derive(Clone)]
pub struct OutsidePolicy {
    /// The option that names the policy which it replaces.
    pub option: String,
    /// Its name in results.
    pub name: String,
    /// A text that changes whenever its decisions may change: part of the fingerprint of a run.
    pub version: String,
    /// Puts it into the setup of a device.
    pub install: Arc<Alteration>,
    /// Takes away what it can't resume from an image that another policy made.
    pub resume: fn(Resume) -> Resume,
}

impl fmt::Debug for OutsidePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutsidePolicy({}, {}, {})", self.option, self.name, self.version)
    }
}

/// The policies from outside of an experiment; usually none.
#[derive(Clone, Debug, Default)]
pub struct OutsidePolicies(pub Vec<OutsidePolicy>);

impl OutsidePolicies {
    /// Puts the policies into the setup of a device.
    ///
    /// # Errors
    /// A policy does not fit the device.
    pub fn install(&self, setup: DeviceSetup) -> Result<DeviceSetup, Failure> {
        self.0.iter().try_fold(setup, |setup, policy| (policy.install)(setup))
    }

    /// Returns these policies with later ones in place of those for the same option.
    #[must_use]
    pub fn with(&self, later: &OutsidePolicies) -> OutsidePolicies {
        let replaced = |one: &&OutsidePolicy| later.0.iter().any(|new| new.option == one.option);
        let kept = self.0.iter().filter(|one| !replaced(one));
        OutsidePolicies(kept.chain(&later.0).cloned().collect())
    }

    /// Returns what tells these policies from others in this process, even from others that claim to be the same.
    #[must_use]
    pub(crate) fn identities(&self) -> Vec<usize> {
        self.0.iter().map(|policy| Arc::as_ptr(&policy.install).cast::<()>() as usize).collect()
    }

    /// Returns what resumes from an image, if `resume` does without these policies.
    #[must_use]
    pub fn resume(&self, resume: Resume) -> Resume {
        self.0.iter().fold(resume, |resume, policy| (policy.resume)(resume))
    }

    /// Returns what a reader of results needs to know.
    #[must_use]
    pub fn assumed(&self) -> Vec<String> {
        let told =
            |policy: &OutsidePolicy| format!("{}: {}, {FROM_OUTSIDE}", policy.option, policy.name);
        self.0.iter().map(told).collect()
    }
}

/// What results say of a policy from outside.
const FROM_OUTSIDE: &str = "a policy from outside the simulator";

/// Whether something that a result assumes is a policy from outside.
pub(crate) fn is_told(text: &str) -> bool {
    text.ends_with(FROM_OUTSIDE)
}
