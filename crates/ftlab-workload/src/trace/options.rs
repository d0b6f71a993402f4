//! What the user says about a trace beyond naming it. Everything left unsaid is the format's
//! default, and is reported as assumed.

use super::format::{self, Format};
use super::gate::Late;
use super::units::{SpaceUnit, TimeUnit, Units};

/// Which events of blkparse output are the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlkEvent {
    /// `D`: issued to the driver, after merging; what the device sees.
    Issue,
    /// `Q`: queued by the file system or application, before merging.
    Queue,
    /// `C`: completed. Its time is that of the end, so that it is never taken unless asked for.
    Complete,
}

impl BlkEvent {
    /// Every choice, under the name that the command line takes.
    pub const ALL: [(&'static str, BlkEvent); 3] =
        [("issue", BlkEvent::Issue), ("queue", BlkEvent::Queue), ("complete", BlkEvent::Complete)];

    /// The choice called `name`, or by the letter that blkparse prints.
    #[must_use]
    pub fn named(name: &str) -> Option<BlkEvent> {
        let is_it = |(known, event): &&(&str, BlkEvent)| {
            *known == name || event.letter().as_bytes() == name.as_bytes()
        };
        BlkEvent::ALL.iter().find(is_it).map(|(_, event)| *event)
    }

    /// The letter that blkparse prints.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            BlkEvent::Issue => "D",
            BlkEvent::Queue => "Q",
            BlkEvent::Complete => "C",
        }
    }
}

/// How to read a trace.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format, instead of finding it from the content (`--format`).
    pub format: Option<&'static Format>,
    /// What times count (`--time-unit`).
    pub time_unit: Option<TimeUnit>,
    /// What addresses count (`--address-unit`).
    pub address_unit: Option<SpaceUnit>,
    /// What sizes count (`--size-unit`).
    pub size_unit: Option<SpaceUnit>,
    /// Reads are writes and writes are reads (`--invert-ops`): for files with the flag turned.
    pub invert_ops: bool,
    /// The events of blkparse output that count (`--blkparse-event`); by default issues, or queue
    /// events if the beginning of the file has no issue.
    pub blkparse_event: Option<BlkEvent>,
    /// Leave out lines that are malformed or can't be true, and count them (`--skip-malformed`).
    pub skip_malformed: bool,
    /// Take what can't be true as it stands (`--accept-implausible`).
    pub accept_implausible: bool,
    /// How many records are held back to be sorted (`--order-window`). A record this many places
    /// behind where it belongs is put right.
    pub order_window: usize,
    /// What happens to a record that comes later than that (`--late refuse|clamp`).
    pub late: Late,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: None,
            time_unit: None,
            address_unit: None,
            size_unit: None,
            invert_ops: false,
            blkparse_event: None,
            skip_malformed: false,
            accept_implausible: false,
            // Clocks of one second (Tencent) leave tens of thousands of records in any order.
            order_window: 64 << 10,
            late: Late::default(),
        }
    }
}

impl Options {
    /// These options with the format called `name`.
    pub fn with_format(self, name: &str) -> Result<Options, super::TraceError> {
        Ok(Options { format: Some(format::named(name)?), ..self })
    }

    /// The units that hold for a file of `format`.
    pub(crate) fn units(&self, format: &Format) -> Units {
        Units {
            time: self.time_unit.unwrap_or(format.units.time),
            address: self.address_unit.unwrap_or(format.units.address),
            size: self.size_unit.unwrap_or(format.units.size),
        }
    }
}
