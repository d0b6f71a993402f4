//! All keys of a sweep file, declared once for parsing, messages and the reference.

use ftlab::options::table::{
    self, Document, Field, Given, Key, Plain, Plains, Table, TableInfo, Tables, Word,
};
use ftlab::options::value::Raw;
use ftlab::units::Ratio;
use ftlab::{choices, options};

/// The tables of the file, in the order of the reference.
#[allow(dead_code, reason = "read by the reference and by tests")]
pub const TABLES: [fn() -> TableInfo; 5] =
    [SweepKeys::info, BaseKeys::info, PointKeys::info, SweepAxisKeys::info, SweepValueKeys::info];

choices! {
    /// Which device is prepared.
    pub enum Prepared {
        /// The device of each point, with its own options. Points that differ only in the load, or in how it is played,
        /// share one preparation.
        Each = "each",
        /// The device of [run], without what the axes set, once for each seed. All points start from its state, as from
        /// an image, so their devices must have its shape and capacity.
        Base = "base",
    }
}

choices! {
    /// The distances between the values of a range.
    pub enum Spacing {
        /// All differences are equal.
        Linear = "linear",
        /// All ratios are equal. The range begins above zero.
        Log = "log",
    }
}

/// The values of an axis: a range, or a list. It is kept unparsed, because its meaning depends on the option.
#[derive(Clone, Debug)]
pub struct AxisValues(pub Given);

impl Field for AxisValues {
    fn form() -> table::Form {
        table::Form::Words(
            "a range, such as \"7%..50%\", or a list of values or tables, such as [\"greedy\", { name = \"late\", set = \
             [\"ftl.gc.stop=9\"] }]",
        )
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        match &given.raw {
            Raw::Text(_) | Raw::List(_) => Some(AxisValues(given.clone())),
            _ => document.mismatch(given, key),
        }
    }

    fn stand_in(path: &str) -> Self {
        let (path, raw) = (path.to_owned(), Raw::Other("nothing"));
        AxisValues(Given { path, span: 0..0, raw })
    }
}

options! {
    /// A sweep: runs at all combinations of the values of its axes.
    pub struct SweepKeys in "the top of the file" {
        /// The name of the sweep: letters, digits, - and _. The result folder is named after it.
        name: String = required;
        /// What is swept, in one line.
        title: String = depends "the name";
        /// How many seeds each point is run with.
        seeds: u64 = "1", in "1"..="100000";
        /// The first seed.
        first_seed: u64 = "1", in "0"..="18446744073709551615";
        /// The confidence level of the intervals.
        confidence: Ratio = "95%", in "50%"..="99.9999%";
        /// The settings that all points share: a [run] table.
        run: BaseKeys = required;
        /// The dimensions that vary, one to sixteen. The first is the horizontal axis of the page's curves.
        axis: Tables<SweepAxisKeys> = required;
    }
}

options! {
    /// The settings that all points share. An axis may override them.
    pub struct BaseKeys in "[run]" with { point: PointKeys } {
        /// Which device `precondition` and `image` prepare.
        prepare: Prepared = "each";
    }
}

options! {
    /// The settings of a run. Files are relative to the folder of the sweep file.
    pub struct PointKeys in "the settings of a point" {
        /// The device: a built-in one, or a file.
        device: Plain = depends "given by an axis, or that of the image";
        /// Options of the device, each KEY=VALUE.
        set: Plains = depends "nothing";
        /// The workload: a built-in one, or a file. A point has exactly one of workload, trace and fio.
        workload: Plain = depends "another load";
        /// The trace: a file.
        trace: Plain = depends "another load";
        /// The fio job file.
        fio: Plain = depends "another load";
        /// Values of variables in the job file: ["NUMJOBS=256"]. Later values of
        /// a variable override earlier ones.
        fio_var: Plains = depends "the environment";
        /// The preparation of the device: steps, separated by commas, or none.
        precondition: Plain = depends "none";
        /// The saved device to start from: a file, or none.
        image: Plain = depends "none";
        /// As the option of a run.
        all_phases: Word = depends "as of a run";
        /// As the option of a run.
        requests: Plain = depends "no limit";
        /// As the option of a run.
        accesses: Word = depends "as of a run";
        /// As the option of a run.
        cut_power: Plain = depends "never";
        /// As the option of a run.
        replay: Plain = depends "as of a run";
        /// As the option of a run.
        queue_depth: Plain = depends "as of a run";
        /// As the option of a run.
        speed: Plain = depends "as of a run";
        /// As the option of a run.
        address: Plain = depends "as of a run";
    }
}

options! {
    /// A dimension that varies.
    pub struct SweepAxisKeys in "[[axis]]" {
        /// What it sets: an option of the device by its path (ftl.gc.victim), or a key of [run] other than `set`, `fio_var`
        /// and `prepare`.
        option: String = depends "only what its values set";
        /// The name of its column in the table.
        name: String = depends "the option";
        /// Its name on the page.
        label: String = depends "the name";
        /// Its values: a range of numbers with both ends ("7%..50%"), or a list of values, or of tables with `name`, `label`
        /// and the keys of [run].
        values: AxisValues = required;
        /// How many values a range has, both ends included. Those between the ends are rounded to three digits in the unit
        /// of the first end, counts and sizes in KiB, MiB or GiB to whole ones, and to more digits where values would be
        /// equal otherwise. All values must differ.
        steps: u64 = depends "needed for a range", in "2"..="1000";
        /// The distances between the values of a range, which also decides the scale of the page's curves.
        spacing: Spacing = depends "linear";
    }
}

options! {
    /// One value of an axis. It may set several things at once.
    pub struct SweepValueKeys in "axis.values" with { point: PointKeys } {
        /// The value in the table. If the axis has an option, it is set to this.
        name: Word = required;
        /// Its name on the page.
        label: String = depends "the name";
    }
}
