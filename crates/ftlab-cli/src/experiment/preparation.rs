//! What a device goes through before it is measured.

use ftlab::device::Device;
use ftlab::host::Host;
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{self, Ended};

use super::{Watcher, phase_names, play_source};
use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::load;
use crate::recording::Recording;
use crate::result::LoadDocument;

/// What the bar says.
const NAME: &str = "preconditioning";

/// A workload that is played first, if there is one.
pub struct Preparation {
    workload: Option<Workload>,
}

impl Preparation {
    /// What the command line asks for.
    pub fn new(args: &LoadArgs) -> Result<Preparation, Failure> {
        let workload = args.precondition.as_deref().map(load::workload).transpose()?;
        Ok(Preparation { workload })
    }

    /// What results say of it.
    pub fn document(&self) -> Option<LoadDocument> {
        self.workload.as_ref().map(LoadDocument::workload)
    }

    /// Plays a workload whose phases are not measured.
    pub fn carry_out(
        &self,
        seed: u64,
        ssd: &mut Device,
        recording: &mut Recording<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        let Some(workload) = &self.workload else { return Ok(()) };
        let mut source =
            Generator::new(workload, ssd.capacity_sectors(), seed).map_err(Failure::usage)?;
        recording.names = phase_names(workload);
        watcher.begins(NAME, None);
        let report = play_source(ssd, &mut source, recording, replay::Options::default(), watcher)?;
        if report.ended == Ended::Stopped {
            return Err(Failure::Interrupted);
        }
        recording.phases_before = u32::try_from(report.phases.len()).unwrap_or(u32::MAX);
        Ok(())
    }
}
