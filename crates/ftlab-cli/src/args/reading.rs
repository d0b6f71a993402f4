//! The flags of every command that reads a trace.

use clap::Args;
use ftlab_lab::load::{
    parse_blkparse_event, parse_columns, parse_format, parse_late, parse_op_words,
    parse_space_unit, parse_time_unit,
};
use ftlab_workload::trace::{
    self, BlkEvent, ColumnPlan, Format, Late, OpWords, SpaceUnit, TimeUnit,
};

use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading a trace")]
pub struct ReadingArgs {
    /// The format of the trace; by default detected from its content (see `ftlab list formats`).
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<&'static Format>,
    /// The unit of times: ns, filetime (100 ns), us, ms or s.
    #[arg(long, value_name = "UNIT", value_parser = parse_time_unit)]
    pub time_unit: Option<TimeUnit>,
    /// The unit of addresses: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = parse_space_unit)]
    pub address_unit: Option<SpaceUnit>,
    /// The unit of sizes: byte, sector (512 bytes) or 4k.
    #[arg(long, value_name = "UNIT", value_parser = parse_space_unit)]
    pub size_unit: Option<SpaceUnit>,
    /// Read a table: which column is what, by name or number, with units, such as
    /// time=ts:us,op=3,offset=lba:512,size=4KiB.
    #[arg(long, value_name = "PART=COLUMN,...", value_parser = parse_columns)]
    pub columns: Option<ColumnPlan>,
    /// What the words of operations in a table mean, such as 0=read,1=write.
    #[arg(long = "op", value_name = "WORD=OP,...", value_parser = parse_op_words, requires = "columns")]
    pub op_words: Option<OpWords>,
    /// Swap reads and writes, for files with the flag inverted.
    #[arg(long)]
    pub invert_ops: bool,
    /// Which events of blkparse output are the requests: issue (D), queue (Q) or complete (C). By
    /// default issue, or queue if the beginning of the file has no issues.
    #[arg(long, value_name = "EVENT", value_parser = parse_blkparse_event)]
    pub blkparse_event: Option<BlkEvent>,
    /// Skip malformed or impossible lines, and count them.
    #[arg(long)]
    pub skip_malformed: bool,
    /// Accept implausible values as they are.
    #[arg(long)]
    pub accept_implausible: bool,
    /// How many records to hold back to sort them by time.
    #[arg(long, value_name = "N")]
    pub order_window: Option<usize>,
    /// What to do with a record that is too late for this window: refuse (an error) or clamp; or, where the clock falls
    /// back as if another recording began, continue from the time reached.
    #[arg(long, value_name = "WHAT", value_parser = parse_late)]
    pub late: Option<Late>,
}

impl ReadingArgs {
    /// Refuses the flags for a load that is generated.
    ///
    /// # Errors
    /// Some were given.
    pub fn refuse_idle(&self) -> Result<(), Failure> {
        let given = self.given();
        if given.is_empty() {
            return Ok(());
        }
        let one = given.len() == 1;
        let (verb, it) = if one { ("is", "it") } else { ("are", "them") };
        Err(Failure::usage(format!(
            "{} {verb} for reading traces, but this load is generated\n  remedy: leave {it} out, or \
             give a trace with --trace",
            given.join(", ")
        )))
    }

    /// Returns the names of the flags that were given.
    fn given(&self) -> Vec<&'static str> {
        let ReadingArgs {
            format,
            time_unit,
            address_unit,
            size_unit,
            columns,
            op_words,
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
            ("--columns", columns.is_some()),
            ("--op", op_words.is_some()),
            ("--invert-ops", *invert_ops),
            ("--blkparse-event", blkparse_event.is_some()),
            ("--skip-malformed", *skip_malformed),
            ("--accept-implausible", *accept_implausible),
            ("--order-window", order_window.is_some()),
            ("--late", late.is_some()),
        ];
        flags.into_iter().filter_map(|(flag, given)| given.then_some(flag)).collect()
    }

    /// Converts the flags to the options of the trace reader.
    pub fn options(&self) -> trace::Options {
        let default = trace::Options::default();
        trace::Options {
            format: self.format,
            time_unit: self.time_unit,
            address_unit: self.address_unit,
            size_unit: self.size_unit,
            columns: self.columns.clone().unwrap_or_default(),
            op_words: self.op_words.clone().unwrap_or_default(),
            invert_ops: self.invert_ops,
            blkparse_event: self.blkparse_event,
            skip_malformed: self.skip_malformed,
            accept_implausible: self.accept_implausible,
            order_window: self.order_window.unwrap_or(default.order_window),
            late: self.late.unwrap_or(default.late),
        }
    }
}
