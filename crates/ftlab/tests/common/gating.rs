//! Write-backs that start plane by plane, and random devices that do so.

use ftlab::cache::Gate;
use proptest::prelude::*;
use proptest::sample::select;

use super::Spec;
use super::random::{self, Run, mended, page_kib};

/// Each plane on its own.
pub const OWN: Gate = Gate { barrier: false, prefix: false };
/// Planes in lock-step.
pub const LOCK_STEP: Gate = Gate { barrier: true, prefix: false };
/// Pages reach flash in the order in which they were written.
pub const IN_ORDER: Gate = Gate { barrier: true, prefix: true };

/// The device with a gating buffer of `pages` flash pages.
pub fn buffered(spec: Spec, pages: u32, gate: Gate) -> Spec {
    let spec = spec.set("ftl.mapping.unit", "flash-page").buffered("gating", pages);
    gated(spec.set("cache.in_order", if gate.prefix { "on" } else { "off" }), gate)
}

/// The device with this gate. A configuration allows lock-step only for mappings with a log, or
/// to keep an order.
pub fn gated(spec: Spec, gate: Gate) -> Spec {
    spec.changed("write cycles", move |setup| {
        setup.buffer.gate = Some(gate);
        setup.buffer.write_back_together = None;
        let planes = setup.flash.geometry.planes();
        setup.buffer.programs_in_flight = setup.buffer.capacity.map(|_| planes);
    })
}

/// How write-backs start plane by plane, and the buffer that holds them.
#[derive(Clone, Copy, Debug)]
pub struct ByPlanes {
    policy: &'static str,
    /// In flash pages.
    pages: u32,
    /// In per cent, for a buffer that absorbs.
    write_back_start: u32,
    gate: Gate,
}

impl ByPlanes {
    /// A device with such a buffer, before it is mended. Programs that start by plane need no processor.
    pub fn buffers(self, spec: Spec) -> Spec {
        let others = |path: &str| {
            path.starts_with("firmware.")
                || path.starts_with("nand.multi_plane.")
                || path.starts_with("cache.") && path != "cache.latency"
        };
        let spec = spec.without(others).set("ftl.mapping.unit", "flash-page");
        let capacity = format!("{}KiB", u64::from(self.pages) * page_kib(&spec));
        let spec = spec
            .set("ftl.placement.policy", "static")
            .set("ftl.mapping.policy", "page")
            .set("cache.policy", self.policy);
        match self.policy {
            "none" => spec,
            "gating" => spec
                .set("cache.capacity", capacity)
                .set("cache.in_order", if self.gate.prefix { "on" } else { "off" }),
            _ => spec
                .set("cache.capacity", capacity)
                .set("cache.write_back_start", format!("{}%", self.write_back_start)),
        }
    }

    /// A device that supports this, before it is mended.
    pub fn on(self, spec: Spec) -> Spec {
        gated(self.buffers(spec), self.gate)
    }
}

/// Every way to start write-backs plane by plane.
pub fn any_buffer() -> impl Strategy<Value = ByPlanes> {
    let gathering =
        (1u32..=24, select(vec![OWN, LOCK_STEP, IN_ORDER])).prop_map(|(pages, gate)| ByPlanes {
            policy: "gating",
            pages,
            write_back_start: 100,
            gate,
        });
    let absorbing = (1u32..=24, 0u32..=100).prop_map(|(pages, write_back_start)| ByPlanes {
        policy: "lru",
        pages,
        write_back_start,
        gate: LOCK_STEP,
    });
    let none = ByPlanes { policy: "none", pages: 0, write_back_start: 100, gate: LOCK_STEP };
    prop_oneof![4 => gathering, 1 => absorbing, 1 => Just(none)]
}

/// The given random runs, on devices that start write-backs plane by plane.
pub fn of(runs: impl Strategy<Value = Run>) -> impl Strategy<Value = Run> {
    (runs, any_buffer())
        .prop_map(|((spec, depth, steps), buffer)| (mended(buffer.on(spec)), depth, steps))
}

/// A run of such a device.
pub fn run(steps: usize) -> impl Strategy<Value = Run> {
    of(random::run(steps))
}
