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

/// A request, and what follows from it until something is done.
fn step<P: Probe, C: Contents>(
    device: &mut Device<P, C>,
    request: Request,
    done: &mut Vec<Completion>,
) -> Advanced {
    device.submit(device.now(), request);
    device.advance_until(SimTime::FOREVER, done)
}

/// Refers to each of these devices at work: what nothing refers to is not compiled.
#[inline(never)]
#[must_use]
pub fn devices() -> [*const (); 4] {
    [
        step::<(), ()> as *const (),
        step::<(), Versions> as *const (),
        step::<AnyProbe, ()> as *const (),
        step::<AnyProbe, Versions> as *const (),
    ]
}
