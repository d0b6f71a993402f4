//! The order in which pages leave the write buffer, decided in Python.

use std::collections::BTreeMap;

use ftlab::cache::{BufferView, Eviction, Leaves, SlotId, WriteBufferPolicy};
use ftlab::device::DeviceSetup;
use ftlab::policy::OutsidePolicy;
use ftlab::units::Lpn;
use ftlab_lab::Failure;
use pyo3::intern;
use pyo3::prelude::*;

use super::{NAME, PythonPolicy, misfit};

/// Asks Python for the next page to evict.
#[derive(Clone, Debug)]
struct PythonBuffer {
    policy: PythonPolicy,
    /// By slot, when the page in it came in; none if there is no evictable page in it.
    stamps: Vec<Option<u64>>,
    /// The slots of evictable pages, by when they came in.
    order: BTreeMap<u64, SlotId>,
    next: u64,
}

/// Puts the policy into a device.
pub fn install(setup: DeviceSetup, policy: PythonPolicy) -> Result<DeviceSetup, Failure> {
    let buffer = PythonBuffer { policy, stamps: Vec::new(), order: BTreeMap::new(), next: 0 };
    setup.with_write_buffer(buffer).map_err(|error| misfit("cache.policy", error))
}

impl PythonBuffer {
    fn tell(&self, what: &str, page: Lpn) {
        let told = self.policy.ask(|policy| policy.call_method1(what, (page.get(),)).map(drop));
        let _ = told;
    }

    fn stamp(&self, slot: SlotId) -> Option<u64> {
        self.stamps.get(slot.at()).copied().flatten()
    }
}

impl OutsidePolicy for PythonBuffer {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl WriteBufferPolicy for PythonBuffer {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        if self.stamps.len() <= slot.at() {
            self.stamps.resize(slot.at() + 1, None);
        }
        self.stamps[slot.at()] = Some(self.next);
        self.order.insert(self.next, slot);
        self.next += 1;
        self.tell("inserted", view.page(slot).page);
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.tell("written", view.page(slot).page);
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.tell("read", view.page(slot).page);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, _why: Leaves) {
        if let Some(stamp) = self.stamps.get_mut(slot.at()).and_then(Option::take) {
            self.order.remove(&stamp);
        }
        self.tell("removed", view.page(slot).page);
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let oldest = self.first()?;
        let answer: Option<Option<u32>> = self.policy.ask(|policy| {
            let py = policy.py();
            policy.call_method0(intern!(py, "choose"))?.extract()
        });
        // Without an answer the oldest page leaves: something has to.
        let Some(page) = answer.flatten() else { return Some(Eviction::Page(oldest)) };
        let slot = view.find(Lpn::new(page)).filter(|&slot| self.stamp(slot).is_some());
        if slot.is_none() {
            self.policy.refuse(format!(
                "the write buffer's policy chose page {page}, which is not in the buffer or on its way already\n  \
                 remedy: forget pages in `removed`, and choose one of the others"
            ));
        }
        Some(Eviction::Page(slot.unwrap_or(oldest)))
    }

    fn first(&self) -> Option<SlotId> {
        self.order.first_key_value().map(|(_, &slot)| slot)
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        let stamp = self.stamp(slot)?;
        self.order.range(stamp + 1..).next().map(|(_, &slot)| slot)
    }
}
