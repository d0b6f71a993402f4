//! The results of `ftlab torture`, as `--json` prints them.

use ftlab_torture::crash::{Case, CrashTally, Design};
use ftlab_torture::draw;
use hdrhistogram::Histogram;
use serde::Serialize;

/// The results of all designs.
#[derive(Serialize)]
pub struct TortureDocument {
    /// The first and last seed. For the last one, some designs may have no case.
    pub first_seed: u64,
    pub last_seed: u64,
    pub cases: u64,
    pub cuts: u64,
    /// Dies that died, on designs with parity across dies.
    pub deaths: u64,
    /// Failed cases.
    pub losses: u64,
    pub designs: Vec<DesignDocument>,
    pub failures: Vec<Failed>,
}

/// The results of one design.
#[derive(Serialize)]
pub struct DesignDocument {
    pub name: &'static str,
    pub about: &'static str,
    pub cases: u64,
    pub cuts: u64,
    pub losses: u64,
    /// Cuts during recovery; again before any command; with commands in the device; while blocks were being emptied.
    pub cuts_coming_up: u64,
    pub cuts_again: u64,
    pub cuts_at_work: u64,
    pub cuts_collecting: u64,
    pub commands: u64,
    pub torn_flash_pages: u64,
    pub half_erased_blocks: u64,
    pub rolled_back_units: u64,
    /// Failed programs and erases.
    pub faults: u64,
    /// Dead dies, flash pages rebuilt from the rest of their stripes, and devices on which more may fail than parity
    /// covers.
    pub deaths: u64,
    pub computed_pages: u64,
    pub beyond_parity: u64,
    /// Unreadable sectors and commands, where the design allows them.
    pub unreadable: u64,
    /// Flash pages that became unreadable where nothing fails by chance. Each had a cause, and was beyond its parity.
    pub judged_flash_pages: u64,
    /// Devices that reached the end of their life.
    pub ended: u64,
    pub recovery_ns: Option<Recoveries>,
    #[serde(skip)]
    times: Histogram<u64>,
}

/// The duration of recoveries, to three significant digits.
#[derive(Clone, Copy, Serialize)]
pub struct Recoveries {
    pub median: u64,
    pub p99: u64,
    pub max: u64,
}

/// The significant digits of recovery times.
const DIGITS: u8 = 3;

impl DesignDocument {
    /// Creates empty results.
    pub fn new(design: &Design) -> DesignDocument {
        DesignDocument {
            name: design.name,
            about: design.about,
            cases: 0,
            cuts: 0,
            losses: 0,
            cuts_coming_up: 0,
            cuts_again: 0,
            cuts_at_work: 0,
            cuts_collecting: 0,
            commands: 0,
            torn_flash_pages: 0,
            half_erased_blocks: 0,
            rolled_back_units: 0,
            faults: 0,
            deaths: 0,
            computed_pages: 0,
            beyond_parity: 0,
            unreadable: 0,
            judged_flash_pages: 0,
            ended: 0,
            recovery_ns: None,
            times: Histogram::new(DIGITS).expect("the number of digits is valid"),
        }
    }

    /// Adds a case with this many planned cuts.
    pub fn add(&mut self, cuts: u64, found: &Result<CrashTally, Failed>) {
        self.cases += 1;
        self.cuts += cuts;
        let Ok(tally) = found else {
            self.losses += 1;
            return;
        };
        self.cuts_coming_up += tally.cut_coming_up;
        self.cuts_again += tally.cut_again;
        self.cuts_at_work += tally.cut_at_work;
        self.cuts_collecting += tally.cut_collecting;
        self.commands += tally.commands;
        self.torn_flash_pages += tally.torn;
        self.half_erased_blocks += tally.half_erased;
        self.rolled_back_units += tally.rolled_back;
        self.faults += tally.faults;
        self.deaths += tally.deaths;
        self.computed_pages += tally.computed;
        self.beyond_parity += tally.beyond;
        self.unreadable += tally.unreadable;
        self.judged_flash_pages += tally.judged;
        self.ended += tally.ended;
        for time in &tally.recoveries {
            self.times.record(time.0).expect("it grows");
        }
    }

    /// Computes the figures of recoveries, after all cases.
    pub fn finish(&mut self) {
        self.recovery_ns = (!self.times.is_empty()).then(|| Recoveries {
            median: self.times.value_at_quantile(0.5),
            p99: self.times.value_at_quantile(0.99),
            max: self.times.max(),
        });
    }
}

/// A failed case.
#[derive(Serialize)]
pub struct Failed {
    /// The argument of `ftlab torture --replay`.
    pub replay: String,
    /// What was wrong.
    pub found: String,
    /// The smallest failing case found; only for the first failure.
    pub shrunk: Option<Shrunk>,
    #[serde(skip)]
    case: Box<Case>,
}

/// A case reduced to a small one.
#[derive(Serialize)]
pub struct Shrunk {
    pub replay: String,
    pub found: String,
    /// Its device, as a file for `--device`.
    pub device: String,
    /// Device, commands and cuts, as text.
    pub told: String,
}

impl Failed {
    /// Creates the failure of a case.
    pub fn new(case: Case, found: String) -> Failed {
        Failed { replay: case.line(), found, shrunk: None, case: Box::new(case) }
    }

    /// Reduces the case to a small one.
    pub fn shrink(&mut self) {
        let case = self.case.as_ref().clone().shrink(None);
        let found = case.run().err().unwrap_or_default();
        let (device, told) = (draw::text(&case.settings), case.to_string());
        self.shrunk = Some(Shrunk { replay: case.line(), found, device, told });
    }
}
