//! Write-backs that begin by planes, described for tests; random devices with them.

use ftlab::cache::{Gate, Space};
use ftlab::nand::MultiPlane;
use ftlab::units::Bytes;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Step};
use super::{BufferSpec, NO_BUFFER, PlacementKind, Spec, WriteBufferKind, lru};

/// Each plane by itself.
pub const OWN: Gate = Gate { barrier: false, prefix: false };
/// Planes in lock-step.
pub const LOCK_STEP: Gate = Gate { barrier: true, prefix: false };
/// Pages reach flash in the order in which they were written.
pub const IN_ORDER: Gate = Gate { barrier: true, prefix: true };

/// A gating buffer of so many pages.
pub fn buffer(capacity: u32, gate: Gate) -> BufferSpec {
    let policy = WriteBufferKind::Gating;
    BufferSpec { policy, gate: Some(gate), programs_in_flight: None, ..lru(capacity) }
}

/// A device on which that works: with a buffer that goes by planes.
pub fn by_planes(base: Spec, buffer: BufferSpec) -> Spec {
    let mut spec = Spec { buffer, placement: PlacementKind::Static, ..base };
    spec.shape.mapping_unit = spec.shape.page_size;
    spec.codeword = Bytes(spec.codeword.0.min(spec.shape.page_size.0));
    spec.abilities.multi_plane = MultiPlane::NONE;
    spec.logical_pages = spec.logical_pages.min(spec.most_logical_pages()).max(1);
    spec
}

/// Every way of beginning write-backs by planes.
pub fn any_buffer() -> impl Strategy<Value = BufferSpec> {
    let gathering = (1u32..=24, select(vec![OWN, LOCK_STEP, IN_ORDER]))
        .prop_map(|(capacity, gate)| buffer(capacity, gate));
    let absorbing = (1u32..=24, 0u32..=24).prop_map(|(capacity, above)| BufferSpec {
        space: Space::Pages,
        keeps_reads: false,
        write_back_above: above.min(capacity),
        gate: Some(LOCK_STEP),
        ..lru(capacity)
    });
    let none = Just(BufferSpec { gate: Some(LOCK_STEP), ..NO_BUFFER });
    prop_oneof![4 => gathering, 1 => absorbing, 1 => none]
}

/// The random runs of others, on devices that go by planes.
pub fn of(
    runs: impl Strategy<Value = (Spec, usize, Vec<Step>)>,
) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    (runs, any_buffer()).prop_map(|((base, depth, steps), buffer)| {
        let latency = base.buffer.latency;
        (by_planes(base, BufferSpec { latency, ..buffer }), depth, steps)
    })
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    of(random::run(steps))
}
