//! Starts requests.

use crate::device::base::Base;
use crate::device::write::{Writes, end_of_life, lock_step, zones};
use crate::device::{Contents, direct, read};
use crate::engine::skills::{RARE, Skills, any};
use crate::host::{Op, Request};
use crate::scheduler::Probe;
use crate::units::RequestId;

/// Starts a request.
#[inline(always)]
pub(in crate::device) fn start<const S: Skills>(
    id: RequestId,
    request: &Request,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if any(S, RARE) {
        if on.direct.is_some() {
            return direct::start_direct(id, request, on);
        }
        if on.services.merger.is_some() && lock_step::hold(id, request.op, writes, on) {
            return;
        }
        end_of_life::consider_end::<S>(writes, on);
    }
    match any(S, RARE) && on.zones.is_some() {
        true => zones::start(id, request, writes, on),
        false => carry_out::<S>(id, request, writes, on),
    }
    if on.desk.intake.settle(id) {
        on.finish_from_buffer(id);
    }
    if any(S, RARE) {
        end_of_life::consider_end::<S>(writes, on);
    }
}

/// Carries out a request.
#[inline(always)]
pub(in crate::device) fn carry_out<const S: Skills>(
    id: RequestId,
    request: &Request,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    match request.op {
        _ if any(S, RARE) && on.refuses(request) => on.desk.intake.refuse(id),
        Op::Read => read::submit_read::<S>(id, request, on),
        Op::Write => writes.submit_write::<S>(id, request, on),
        Op::Trim => writes.trim(id, request, on),
        Op::Flush => writes.submit_flush(id, on),
        _ => zones::start_zoned(id, request, writes, on),
    }
}
