//! Policies from outside the crate, boxed: the cargo feature `external-policies`.
//!
//! With it, each seam's enum has a variant `External` for any type that implements the seam's contract
//! (`VictimPolicy`, `SchedulerPolicy` ...) and [`OutsidePolicy`]. Configurations know nothing of it: a device is
//! first resolved with some policy of the crate, and the outside one then replaces it in the
//! [`DeviceSetup`](crate::device::DeviceSetup), with `with_victim` and the like or by setting the field. By then
//! everything has been checked and sized for the configured policy (streams, spare blocks, DRAM), so an outside
//! policy has to make do with that.
//!
//! The cost (random writes at steady state; CONTRIBUTING, "a policy of your own, outside"): the feature alone takes
//! 0.9 % more instructions, a boxed victim policy no more, and boxing the five policies that a write calls 2.8 %,
//! which took about a tenth more time. Without the feature nothing of this is compiled.

use std::fmt::Debug;

use super::Policy;
use crate::image::{Damage, ImageReader, ImageWriter};

/// What a policy from outside the crate needs besides its seam's contract. Every implementation of [`Policy`], like
/// those in the crate, has it already, so a policy can move in and out unchanged.
pub trait OutsidePolicy: Debug + Send {
    /// Its name, which images hold.
    fn name(&self) -> &'static str;

    /// Saves the state that it keeps while the device is at rest, except what it was built from and what the core
    /// tells it again on loading. Most policies have none.
    fn save(&self, _out: &mut ImageWriter) {}

    /// Loads what [`save`](Self::save) wrote, into a policy that was just built the same way.
    ///
    /// # Errors
    /// The damage. The data may come from anywhere: nothing may panic, now or later.
    fn load(&mut self, _from: &mut ImageReader<'_>) -> Result<(), Damage> {
        Ok(())
    }
}

impl<P: Policy + Debug + Send> OutsidePolicy for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn save(&self, out: &mut ImageWriter) {
        Policy::save(self, out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        Policy::load(self, from)
    }
}

/// Saves the name of a policy, then its state.
pub(crate) fn save<P: OutsidePolicy + ?Sized>(policy: &P, out: &mut ImageWriter) {
    let name = policy.name().as_bytes();
    out.number(name.len() as u64);
    out.raw(name);
    policy.save(out);
}

/// Loads the state that the policy of the same name saved.
pub(crate) fn load<P: OutsidePolicy + ?Sized>(
    policy: &mut P,
    from: &mut ImageReader<'_>,
) -> Result<(), Damage> {
    let name = policy.name();
    let length = from.number()?;
    let same = length == name.len() as u64 && from.raw(name.len())? == name.as_bytes();
    if !same {
        return Err(Damage::new(format!(
            "the saved state is not that of the outside policy {name}"
        )));
    }
    policy.load(from)
}
