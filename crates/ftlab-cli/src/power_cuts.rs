//! `ftlab run --cut-power SPAN`: now and then the power of a copy of the device is cut, and how it comes up again is taken
//! down. The run itself knows nothing of it.

use std::io::{self, Write};

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, Recovered, power_up};
use ftlab::ftl::recovery::RecoveryChoice;
use ftlab::host::Host;
use ftlab::units::{Nanos, SimTime};
use serde::Serialize;

use crate::failure::Failure;
use crate::human::{count, span};
use crate::table::{show, table};

/// Cuts that a run takes down at the most; a load that goes on for longer is asked for a longer span.
const MOST_CUTS: usize = 10_000;

/// What was asked, and what has come of it.
pub struct PowerCuts {
    config: Config,
    seed: u64,
    every: Nanos,
    next: Option<SimTime>,
    cuts: Vec<CutReport>,
}

/// How a device came up after one cut.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CutReport {
    /// When power was cut.
    pub at_ns: u64,
    /// From power-up until the device takes commands.
    pub recovery_ns: u64,
    /// For how long capacitors had kept it up.
    pub hold_up_ns: u64,
    /// Spare areas that were read.
    pub spare_reads: u64,
    /// Flash pages of the system area, and of a map on flash, that were read.
    pub system_reads: u64,
    /// Blocks that were erased before it was ready.
    pub erases: u64,
    /// Logical pages that it found.
    pub pages: u64,
    /// Flash pages whose program was cut.
    pub torn_pages: u64,
    /// Mapping units that were programmed and did not count yet.
    pub rolled_back_pages: u64,
    /// Blocks that were being filled, and are filled no further.
    pub closed_early_blocks: u64,
}

/// All cuts of a run.
#[derive(Clone, Debug, Serialize)]
pub struct PowerCutReport {
    /// The span between two of them.
    pub every_ns: u64,
    /// The shortest, the mean and the longest recovery.
    pub recovery_least_ns: u64,
    /// See above.
    pub recovery_mean_ns: u64,
    /// See above.
    pub recovery_most_ns: u64,
    /// Each of them, in order of time.
    pub cuts: Vec<CutReport>,
}

impl PowerCuts {
    /// Cuts the power that often.
    ///
    /// # Errors
    /// A device that keeps nothing for recovery.
    pub fn new(every: Nanos, config: &Config, seed: u64) -> Result<PowerCuts, Failure> {
        if matches!(config.options.ftl.recovery.policy, RecoveryChoice::None(_)) {
            return Err(Failure::usage(
                "--cut-power: this device keeps nothing for recovery (ftl.recovery.policy is \"none\")\n  \
                 remedy: add --set ftl.recovery.policy=scan, or checkpoint"
                    .to_owned(),
            ));
        }
        Ok(PowerCuts { config: config.clone(), seed, every, next: None, cuts: Vec::new() })
    }

    /// Time has passed in a part of the load that is measured.
    #[inline]
    pub fn look(&mut self, device: &Device) {
        let now = device.now();
        let next = *self.next.get_or_insert(now + self.every);
        if now >= next && self.cuts.len() < MOST_CUTS {
            self.cut(device);
            self.next = Some(now + self.every);
        }
    }

    fn cut(&mut self, device: &Device) {
        let at = device.now();
        let remains = device.clone().cut_power();
        let setup = DeviceSetup::new(&self.config, self.seed);
        let recovered = power_up(setup, (), remains);
        let (_, recovered) =
            recovered.expect("what a device leaves on flash does not contradict itself");
        self.cuts.push(CutReport::new(at, &recovered));
    }

    /// What came of it; none if the load was over before the first cut.
    pub fn report(&self) -> Option<PowerCutReport> {
        let times = || self.cuts.iter().map(|cut| cut.recovery_ns);
        let number = self.cuts.len() as u64;
        Some(PowerCutReport {
            every_ns: self.every.0,
            recovery_least_ns: times().min()?,
            recovery_mean_ns: times().sum::<u64>() / number,
            recovery_most_ns: times().max()?,
            cuts: self.cuts.clone(),
        })
    }
}

impl CutReport {
    fn new(at: SimTime, recovered: &Recovered) -> CutReport {
        CutReport {
            at_ns: at.0,
            recovery_ns: recovered.time.0,
            hold_up_ns: recovered.hold_up.0,
            spare_reads: recovered.spare_reads,
            system_reads: recovered.system_reads,
            erases: recovered.erases,
            pages: recovered.found.pages,
            torn_pages: recovered.found.torn,
            rolled_back_pages: recovered.found.rolled_back,
            closed_early_blocks: recovered.found.closed_early,
        }
    }
}

/// Prints it.
pub fn print(report: &PowerCutReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = table(&["Power cuts", "least", "mean", "most"]);
    let mut row = |name: &str, of: fn(&CutReport) -> u64, text: fn(u64) -> String| {
        let all = || report.cuts.iter().map(of);
        let mean = all().sum::<u64>() / report.cuts.len().max(1) as u64;
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        rows.add_row([name.to_owned(), text(least), text(mean), text(most)]);
    };
    row("until ready", |cut| cut.recovery_ns, span);
    row("kept up by capacitors", |cut| cut.hold_up_ns, span);
    row("spare areas read", |cut| cut.spare_reads, count);
    row("system pages read", |cut| cut.system_reads, count);
    row("blocks erased", |cut| cut.erases, count);
    row("torn flash pages", |cut| cut.torn_pages, count);
    row("pages rolled back", |cut| cut.rolled_back_pages, count);
    row("blocks closed early", |cut| cut.closed_early_blocks, count);
    show(rows, out)?;
    writeln!(out, "{} cuts, one each {}", count(report.cuts.len() as u64), span(report.every_ns))
}
