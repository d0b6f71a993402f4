//! Victims of collection, chosen in Python.

use ftlab::device::DeviceSetup;
use ftlab::ftl::gc::{VictimPolicy, VictimView, most_valid};
use ftlab::policy::OutsidePolicy;
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, PlaneId};
use ftlab_lab::Failure;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{NAME, PythonPolicy};

/// Asks Python which candidate to collect.
#[derive(Clone, Debug)]
struct PythonVictim {
    policy: PythonPolicy,
    /// By plane, the candidates in the order in which they closed.
    candidates: Vec<Vec<BlockId>>,
    most_valid: u32,
}

/// Puts the policy into a device.
pub fn install(setup: DeviceSetup, policy: PythonPolicy) -> Result<DeviceSetup, Failure> {
    let victim = PythonVictim::new(policy, &setup.ftl.geometry);
    Ok(setup.with_victim(victim))
}

impl PythonVictim {
    fn new(policy: PythonPolicy, geometry: &Geometry) -> PythonVictim {
        let candidates = vec![Vec::new(); geometry.planes() as usize];
        PythonVictim { policy, candidates, most_valid: most_valid(geometry) }
    }

    /// Returns the position of the choice among the candidates that free a page.
    fn ask(&self, view: &VictimView<'_>, worth: &[BlockId]) -> Option<usize> {
        let of = |what: fn(&ftlab::ftl::Blocks, BlockId) -> u32| {
            worth.iter().map(|&block| what(view.blocks, block)).collect::<Vec<u32>>()
        };
        let answer: Option<Option<usize>> = self.policy.ask(|policy| {
            let py = policy.py();
            let seen = PyDict::new(py);
            seen.set_item("plane", view.plane.get())?;
            seen.set_item("pages_per_block", view.blocks.units_per_block())?;
            let blocks: Vec<u32> = worth.iter().map(|block| block.get()).collect();
            seen.set_item("blocks", PyArray1::from_vec(py, blocks))?;
            seen.set_item("valid", PyArray1::from_vec(py, of(ftlab::ftl::Blocks::valid)))?;
            seen.set_item("erases", PyArray1::from_vec(py, of(ftlab::ftl::Blocks::erases)))?;
            policy.call_method1("_choose", (seen,))?.extract()
        });
        let Some(position) = answer.flatten() else {
            self.policy.trouble.decline();
            return None;
        };
        if position >= worth.len() {
            let many = worth.len();
            self.policy.refuse(format!(
                "the victim policy chose candidate {position}, but there are {many}\n  remedy: return a position in the \
                 arrays of the view, from 0, or None"
            ));
            return None;
        }
        Some(position)
    }
}

impl OutsidePolicy for PythonVictim {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl VictimPolicy for PythonVictim {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates[view.plane.at()].push(block);
    }

    fn lost_page(&mut self, _view: &VictimView<'_>, _block: BlockId) {}

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates[view.plane.at()].retain(|&other| other != block);
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.candidates[plane.at()].clone()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let frees = |block: &BlockId| view.blocks.valid(*block) <= self.most_valid;
        let all = &self.candidates[view.plane.at()];
        let worth: Vec<BlockId> = all.iter().copied().filter(frees).collect();
        if worth.is_empty() {
            return None;
        }
        let position = self.ask(view, &worth);
        // A policy that fails must not let the device run full before the run stops.
        let failed = || self.policy.trouble.is_over().then_some(0);
        let block = worth[position.or_else(failed)?];
        self.withdrawn(view, block);
        Some(block)
    }
}
