//! The one place that turns a configuration into a device.

use std::collections::VecDeque;

use super::{Contents, Device};
use crate::cache::{Buffer, BufferSetup};
use crate::ftl::gc::Collector;
use crate::ftl::{Cargo, Ftl, FtlSetup};
use crate::host::Intake;
use crate::scheduler::{Flash, FlashSetup, Probe};
use crate::units::SimTime;

/// Everything that a device is made of.
#[derive(Clone, Debug)]
pub struct DeviceSetup {
    /// The flash and the order of its commands.
    pub flash: FlashSetup,
    /// The translation layer.
    pub ftl: FtlSetup,
    /// The DRAM.
    pub buffer: BufferSetup,
}

/// Builds a device that observes nothing and carries no bytes.
#[must_use]
pub fn assemble(setup: DeviceSetup) -> Device {
    assemble_with(setup, (), ())
}

/// Builds a device with an observer of its flash and with the bytes that it carries.
#[must_use]
pub fn assemble_with<P: Probe, C: Contents>(
    setup: DeviceSetup,
    probe: P,
    contents: C,
) -> Device<P, C> {
    let geometry = &setup.ftl.geometry;
    let units_per_page = geometry.units_per_page();
    let sectors_per_page = geometry.sectors_per_unit();
    Device {
        now: SimTime::ZERO,
        capacity_sectors: u64::from(setup.ftl.logical_pages) * u64::from(sectors_per_page),
        sectors_per_page,
        units_per_page,
        intake: Intake::default(),
        buffer: Buffer::new(setup.buffer),
        ftl: Ftl::new(setup.ftl),
        collector: Collector::new(units_per_page),
        flash: Flash::new(setup.flash, probe),
        contents,
        loads: Cargo::new(units_per_page),
        stalled: VecDeque::new(),
        from_buffer: VecDeque::new(),
        finished: Vec::new(),
        batch: Vec::new(),
    }
}
