//! What the dies do now, for those who look at a running drive.

use ftlab::nand::Kind;
use ftlab::scheduler::{Activity, Probe};
use ftlab::units::{DieId, SimTime};

/// The last span in which each die was busy.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    dies: Vec<BusySpan>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BusySpan {
    kind: Option<Kind>,
    until: SimTime,
    /// Whether it was suspended, and not resumed since.
    suspended: bool,
}

/// What a die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing.
    Nothing,
    /// An operation.
    Works(Kind),
    /// An operation waits for something urgent.
    Suspended,
}

impl Meter {
    /// A meter for so many dies.
    #[must_use]
    pub fn new(dies: u32) -> Meter {
        Meter { dies: vec![BusySpan::default(); dies as usize] }
    }

    /// What a die does at a moment.
    #[must_use]
    pub fn at(&self, die: DieId, now: SimTime) -> Doing {
        let span = &self.dies[die.at()];
        match span.kind {
            Some(kind) if span.until > now => Doing::Works(kind),
            _ if span.suspended => Doing::Suspended,
            _ => Doing::Nothing,
        }
    }
}

impl Probe for Meter {
    fn cell(&mut self, activity: &Activity) {
        let span = &mut self.dies[activity.die.at()];
        let goes_on = span.suspended && activity.kind != Kind::Read;
        *span = BusySpan {
            kind: Some(activity.kind),
            until: activity.until,
            suspended: span.suspended && !goes_on,
        };
    }

    fn pause(&mut self, activity: &Activity, at: SimTime) {
        let span = &mut self.dies[activity.die.at()];
        (span.until, span.suspended) = (at, true);
    }
}
