//! Misuse that the interface refuses: requests that a front end should have checked, and clocks that
//! run backwards.

use ftlab::device::assemble;
use ftlab::host::{Host, Op};
use ftlab::units::{Nanos, SimTime};

use crate::common::{DRAM, Spec, alone, request};

#[test]
#[should_panic(expected = "does not lie on the device")]
fn a_request_beyond_the_end_is_refused() {
    let mut device = assemble(Spec::small().setup());
    let end = device.capacity_sectors();
    device.submit(SimTime::ZERO, request(Op::Read, end - 1, 2, 0));
}

#[test]
#[should_panic(expected = "does not lie on the device")]
fn a_request_for_nothing_is_refused() {
    let mut device = assemble(Spec::small().setup());
    device.submit(SimTime::ZERO, request(Op::Write, 0, 0, 0));
}

#[test]
#[should_panic(expected = "already")]
fn a_request_in_the_past_is_refused() {
    let mut device = assemble(Spec::small().setup());
    alone(&mut device, request(Op::Write, 0, 8, 0));
    device.submit(SimTime::ZERO, request(Op::Read, 0, 8, 1));
}

#[test]
#[should_panic(expected = "but an event is due at")]
fn a_request_past_an_event_of_the_flash_is_refused() {
    let mut device = assemble(Spec::small().setup());
    device.submit(SimTime::ZERO, request(Op::Write, 0, 8, 0));
    device.submit(SimTime(100_000_000), request(Op::Read, 0, 8, 1));
}

/// A completion that needs no flash is an event, too: a later submission would move its time backwards.
#[test]
#[should_panic(expected = "but an event is due at")]
fn a_request_past_a_completion_from_dram_is_refused() {
    let mut device = assemble(Spec::small().setup());
    device.submit(SimTime::ZERO, request(Op::Read, 0, 8, 0));
    device.submit(SimTime::ZERO + DRAM + Nanos(1), request(Op::Read, 0, 8, 1));
}
