//! The devices that tests have in common, compiled here once.
//!
//! A device is generic over its probe and its contents, and large. In debug builds what one crate has compiled of a
//! generic type serves every crate that stands on it, so the tests of the simulator and the program need not compile
//! their devices again. Other builds have nothing of this.

use ftlab::device::{Contents, Device};
use ftlab::host::{Advanced, Completion, Host, Request};
use ftlab::scheduler::Probe;
use ftlab::units::SimTime;

use crate::{AnyProbe, Versions};

/// One step of a device: a request, and what follows from it until something is done.
type Step<P, C> = fn(&mut Device<P, C>, Request, &mut Vec<Completion>) -> Advanced;

fn step<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    request: Request,
    done: &mut Vec<Completion>,
) -> Advanced {
    device.submit(device.now(), request);
    device.advance_until(SimTime::FOREVER, done)
}

/// Each of these devices, at work.
pub const DEVICES: (
    Step<(), ()>,
    Step<(), Versions>,
    Step<AnyProbe, ()>,
    Step<AnyProbe, Versions>,
) = (step, step, step, step);

/// Keeps them: what nothing refers to is not compiled.
#[must_use]
pub fn devices() -> usize {
    let (bare, carrying, watched, both) = DEVICES;
    bare as usize ^ carrying as usize ^ watched as usize ^ both as usize
}
