//! The order of flash commands, ranked in Python.

use ftlab::device::DeviceSetup;
use ftlab::policy::OutsidePolicy;
use ftlab::scheduler::{Arrival, Kind, Origin, SchedulerPolicy, View};
use ftlab_lab::Failure;
use pyo3::intern;
use pyo3::prelude::*;

use super::{NAME, PythonPolicy};

/// The kinds of commands, and their purposes.
const LANES: usize = Kind::ALL.len() * Origin::ALL.len();

/// Asks Python for the rank of each command.
///
/// The contract demands that the ranks of one origin and kind never decrease on a die, and that no erase goes before an
/// earlier read of its die. An answer that would break it is raised to what keeps it.
#[derive(Clone, Debug)]
struct PythonScheduler {
    policy: PythonPolicy,
    /// By die, the last rank of each kind and origin.
    last: Vec<[u64; LANES]>,
}

/// Puts the policy into a device.
pub fn install(setup: DeviceSetup, policy: PythonPolicy) -> Result<DeviceSetup, Failure> {
    let dies = setup.flash.geometry.dies() as usize;
    Ok(setup.with_scheduler(PythonScheduler { policy, last: vec![[0; LANES]; dies] }))
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Program => "program",
        Kind::Erase => "erase",
        Kind::Copyback => "copyback",
    }
}

fn lane(kind: Kind, origin: Origin) -> usize {
    kind as usize * Origin::ALL.len() + origin as usize
}

impl OutsidePolicy for PythonScheduler {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl SchedulerPolicy for PythonScheduler {
    fn rank(&mut self, arrival: &Arrival, _view: &View<'_>) -> u64 {
        let answer: Option<u64> = self.policy.ask(|policy| {
            let py = policy.py();
            let (kind, origin) = (kind_name(arrival.kind), arrival.origin.name());
            let told = (kind, origin, arrival.die.get(), arrival.at.0, arrival.sequence);
            policy.call_method1(intern!(py, "rank"), told)?.extract()
        });
        let last = &mut self.last[arrival.die.at()];
        let own = lane(arrival.kind, arrival.origin);
        let mut rank = answer.unwrap_or(arrival.sequence).max(last[own]);
        if arrival.kind == Kind::Erase {
            let reads = Origin::ALL.map(|origin| last[lane(Kind::Read, origin)]);
            rank = reads.into_iter().fold(rank, u64::max);
        }
        last[own] = rank;
        rank
    }
}
