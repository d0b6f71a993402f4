//! Policies from outside the crate, boxed: the cargo feature `external-policies`.
//!
//! Each seam's enum has a variant `External` then, which holds whatever keeps to the seam's contract (`VictimPolicy`,
//! `SchedulerPolicy` ...) and to [`OutsidePolicy`]. A configuration knows nothing of it: a device is resolved with
//! some policy of its own first, and the other takes its place in the
//! [`DeviceSetup`](crate::device::DeviceSetup), by `with_victim` and the like, or by setting the field. What was
//! checked and sized by then is what the configured policy needs (streams, spare blocks, DRAM), so an outside one
//! has to make do with that.
//!
//! What it costs (random writes at steady state; CONTRIBUTING, "a policy of your own, outside"): with the feature alone 0.9 %
//! more instructions, with a boxed choice of victims the same, with the five policies boxed that a write asks 2.8 %, which took
//! about a tenth more time. Without the feature nothing of this is compiled.

use std::fmt::Debug;

use super::Policy;
use crate::image::{Damage, ImageReader, ImageWriter};

/// What a policy from outside the crate says of itself, beside its seam's contract. One that implements [`Policy`], as
/// those of the crate do, has it already, so a policy can move in and out as it is.
pub trait OutsidePolicy: Debug + Send {
    /// Its name, which images hold.
    fn name(&self) -> &'static str;

    /// Writes what it remembers while the device is at rest, beyond what it was built from and what the core tells it
    /// again on loading. Most policies have nothing to say.
    fn save(&self, _out: &mut ImageWriter) {}

    /// Takes up what [`save`](Self::save) wrote, in a policy that was just built alike.
    ///
    /// # Errors
    /// What is wrong with it. It may come from anywhere: nothing may panic, now or later.
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

/// Writes the name of a policy, then what it remembers.
pub(crate) fn save<P: OutsidePolicy + ?Sized>(policy: &P, out: &mut ImageWriter) {
    let name = policy.name().as_bytes();
    out.number(name.len() as u64);
    out.raw(name);
    policy.save(out);
}

/// Takes up what the policy of the same name wrote.
pub(crate) fn load<P: OutsidePolicy + ?Sized>(
    policy: &mut P,
    from: &mut ImageReader<'_>,
) -> Result<(), Damage> {
    let name = policy.name();
    let length = from.number()?;
    let same = length == name.len() as u64 && from.raw(name.len())? == name.as_bytes();
    if !same {
        return Err(Damage::new(format!(
            "what a policy remembers is not of the outside policy {name}"
        )));
    }
    policy.load(from)
}
