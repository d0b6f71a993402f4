//! How a trace is read: the flags of everything that takes one.

use clap::Args;
use ftlab_workload::trace::{self, BlkEvent, Format, Late, SpaceUnit, TimeUnit};

/// How a trace is read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading a trace")]
pub struct ReadingArgs {
    /// The format, instead of finding it from the content (see `ftlab list formats`).
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<&'static Format>,
    /// What times count: ns, filetime (100 ns), us, ms or s.
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    pub time_unit: Option<TimeUnit>,
    /// What addresses count: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = space_unit)]
    pub address_unit: Option<SpaceUnit>,
    /// What sizes count: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = space_unit)]
    pub size_unit: Option<SpaceUnit>,
    /// Take reads for writes and writes for reads: for files with the flag turned.
    #[arg(long)]
    pub invert_ops: bool,
    /// Which events of blkparse output are the requests: issue (D), queue (Q) or complete (C). By default
    /// issues, or, if the beginning of the file has none, what was queued.
    #[arg(long, value_name = "EVENT", value_parser = blkparse_event)]
    pub blkparse_event: Option<BlkEvent>,
    /// Leave out malformed or impossible lines, and count them.
    #[arg(long)]
    pub skip_malformed: bool,
    /// Take what can't be true as it stands.
    #[arg(long)]
    pub accept_implausible: bool,
    /// How many records are held back to be sorted by time.
    #[arg(long, value_name = "N")]
    pub order_window: Option<usize>,
    /// What happens to a record that is later than that: refuse (an error) or clamp.
    #[arg(long, value_name = "WHAT", value_parser = late)]
    pub late: Option<Late>,
}

impl ReadingArgs {
    /// The flags that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let ReadingArgs {
            format,
            time_unit,
            address_unit,
            size_unit,
            invert_ops,
            blkparse_event,
            skip_malformed,
            accept_implausible,
            order_window,
            late,
        } = self;
        let flags = [
            ("--format", format.is_some()),
            ("--time-unit", time_unit.is_some()),
            ("--address-unit", address_unit.is_some()),
            ("--size-unit", size_unit.is_some()),
            ("--invert-ops", *invert_ops),
            ("--blkparse-event", blkparse_event.is_some()),
            ("--skip-malformed", *skip_malformed),
            ("--accept-implausible", *accept_implausible),
            ("--order-window", order_window.is_some()),
            ("--late", late.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }

    /// As the reader of traces takes them.
    pub fn options(&self) -> trace::Options {
        let default = trace::Options::default();
        trace::Options {
            format: self.format,
            time_unit: self.time_unit,
            address_unit: self.address_unit,
            size_unit: self.size_unit,
            invert_ops: self.invert_ops,
            blkparse_event: self.blkparse_event,
            skip_malformed: self.skip_malformed,
            accept_implausible: self.accept_implausible,
            order_window: self.order_window.unwrap_or(default.order_window),
            late: self.late.unwrap_or(default.late),
        }
    }
}

pub(super) fn format(name: &str) -> Result<&'static Format, String> {
    trace::named(name).map_err(|error| format!("{}; {}", error.problem, error.remedy))
}

fn choice<T>(found: Option<T>, names: &[&str]) -> Result<T, String> {
    found.ok_or_else(|| format!("choose one of {}", names.join(", ")))
}

fn time_unit(name: &str) -> Result<TimeUnit, String> {
    choice(TimeUnit::named(name), &TimeUnit::ALL.map(|(name, _)| name))
}

fn space_unit(name: &str) -> Result<SpaceUnit, String> {
    choice(SpaceUnit::named(name), &SpaceUnit::ALL.map(|(name, _)| name))
}

fn blkparse_event(name: &str) -> Result<BlkEvent, String> {
    choice(BlkEvent::named(name), &BlkEvent::ALL.map(|(name, _)| name))
}

fn late(name: &str) -> Result<Late, String> {
    let found = Late::ALL.iter().find(|(known, _)| *known == name).map(|(_, late)| *late);
    choice(found, &Late::ALL.map(|(name, _)| name))
}
