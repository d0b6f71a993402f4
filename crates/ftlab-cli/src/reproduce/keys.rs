//! Every key of `experiment.toml`, declared once: from here come the reading, the messages and the reference.

use ftlab::options::table::{
    self, Document, Field, Given, Key, Plain, Plains, Table, TableInfo, Tables,
};
use ftlab::options::value::Raw;
use ftlab::{choices, options};

/// The tables of the file, in the order of the reference.
#[allow(dead_code, reason = "read by the reference and by tests")]
pub const TABLES: [fn() -> TableInfo; 9] = [
    FileKeys::info,
    RunKeys::info,
    AxisKeys::info,
    ValueKeys::info,
    CurveKeys::info,
    MetricKeys::info,
    ClaimKeys::info,
    DiffersKeys::info,
    FigureKeys::info,
];

choices! {
    /// What is formed of a metric.
    pub enum Form {
        /// The metric at `at`.
        Value = "value",
        /// By how much it is more than at `against`, in per cent.
        Change = "change",
        /// By how much it is less than at `against`, in per cent.
        Reduction = "reduction",
        /// It, divided by that at `against`.
        Ratio = "ratio",
        /// It, less that at `against`.
        Difference = "difference",
    }
}

choices! {
    /// How a figure of metrics is drawn.
    pub enum FigureKind {
        /// Points with lines between them.
        Lines = "lines",
        /// Groups of bars.
        Bars = "bars",
        /// Cells by two axes, `x` and `y`, with the number of one metric in each. What is compared is coloured from
        /// blue (less) over white (alike) to orange (more).
        Heatmap = "heatmap",
    }
}

/// What `pick` takes of a curve; N is a number from 1 on.
pub const PICKS: [(&str, &str); 2] = [
    ("largest", "the largest value"),
    (
        "peak N",
        "the height of the N-th highest peak. A peak is the largest value between two falls to half of it or \
         less; before its beginning a curve counts as fallen, at its end it does not, so that a rise which \
         is cut off is none. Of equal values the first is the peak. Not known if there are fewer peaks",
    ),
];

/// Types whose meaning depends on what else the file declares: what is given is kept as it is.
macro_rules! given {
    ($($(#[$doc:meta])+ $Name:ident: $words:literal;)+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug)]
            pub struct $Name(pub Given);

            impl Field for $Name {
                fn form() -> table::Form {
                    table::Form::Words($words)
                }

                fn read(_: &mut Document, given: &Given, _: &Key) -> Option<Self> {
                    Some($Name(given.clone()))
                }

                fn stand_in(path: &str) -> Self {
                    let (path, raw) = (path.to_owned(), Raw::Other("nothing"));
                    $Name(Given { path, span: 0..0, raw })
                }
            }
        )+
    };
}

given! {
    /// A name.
    Name: "the name of something that the file declares, such as \"read_mean\"";
    /// Several names.
    Names: "a list of names that the file declares, such as [\"read_mean\"]";
    /// One name, or several.
    NameOrNames: "the name of something that the file declares, or a list of such names";
    /// A value of each of some axes.
    Point: "values of axes, such as { bound = \"200us\" }";
    /// Several values of each of some axes.
    Only: "values of axes, such as { bound = [\"200us\", \"300us\"] }";
    /// The values of an axis.
    Values: "a list of names or tables, such as [\"200us\", { name = \"none\", label = \"no bound\" }]";
    /// A number that is printed in a paper, or one for each value of an axis.
    Printed: "a number (296, \"72%\"), a limit (\"< 1%\", \"> 1\"), or with `each` one for each of its values ({ \"0.8\" = 296, \"0.6\" = 181 })";
    /// How far from a printed number is near enough.
    Tolerance: "\"5%\" of the number, \"3 points\" of a per cent figure, \"2 us\" in the unit of the metric, or \"3.60 to 3.85\"";
}

options! {
    /// An experiment.
    pub struct FileKeys in "the top of the file" {
        /// The name of the experiment: that of its folder.
        name: String = required;
        /// What is reproduced, in a line.
        title: String = required;
        /// The paper in full: authors, title, where and when it appeared.
        paper: String = required;
        /// Its DOI, such as "10.1000/182".
        doi: String = depends "none";
        /// In a few sentences: what the paper claims and what came out.
        summary: String = required;
        /// With how many seeds each case is run. Tolerances hold for the mean of so many.
        seeds: u64 = required, in "1"..="100000";
        /// What all of its runs took of processor time when that was measured: ftlab reproduce list tells it.
        cpu_minutes: u64 = depends "it is not told", in "1"..="5256000";
        /// What all runs have in common: a [run] table.
        run: RunKeys = required;
        /// What is varied.
        axis: Tables<AxisKeys> = required;
        /// What each run reports as a list of numbers.
        curve: Tables<CurveKeys> = depends "none";
        /// What is taken from each run.
        metric: Tables<MetricKeys> = required;
        /// The numbers of the paper.
        claim: Tables<ClaimKeys> = depends "none";
        /// What is drawn.
        figure: Tables<FigureKeys> = depends "none";
    }
}

options! {
    /// What a run is made of. The same keys may stand in an axis, where {} stands for the name of the value (workload =
    /// "writes-{}.toml"), and in a value of an axis.
    pub struct RunKeys in "[run]" {
        /// The device: a file of the folder or below it, or a built-in one.
        device: Plain = depends "given by an axis";
        /// Options of the device, as with --set.
        set: Plains = depends "nothing";
        /// The workload: a file of the folder or below it, or a built-in one. One of workload, trace and fio is given.
        workload: Plain = depends "another load";
        /// The trace: a file, by its path from the folder. It alone may lie elsewhere, since traces are large.
        /// "$FTLAB_TRACES/hm_0.csv" is a file in the folder of real traces that the user names (--traces, or the
        /// environment variable FTLAB_TRACES): without it the case is not run, and named.
        trace: Plain = depends "another load";
        /// The fio job file, in the folder or below it.
        fio: Plain = depends "another load";
        /// What variables of the job file stand for, as with --fio-var: ["NUMJOBS=256"]. Of one variable what is said later
        /// counts.
        fio_var: Plains = depends "the environment";
        /// What the device goes through first, as with --precondition.
        precondition: Plain = depends "none";
        /// As --requests.
        requests: Plain = depends "no limit";
        /// As --replay.
        replay: Plain = depends "as --replay";
        /// As --queue-depth.
        queue_depth: Plain = depends "as --queue-depth";
        /// As --speed.
        speed: Plain = depends "as --speed";
        /// As --address.
        address: Plain = depends "as --address";
    }
}

options! {
    /// What is varied.
    pub struct AxisKeys in "[[axis]]" with { run: RunKeys } {
        /// Its name.
        name: String = required;
        /// What tables and figures call it.
        label: String = depends "the name";
        /// What to know of it, such as what the paper calls it: told beside numbers and figures.
        note: String = depends "none";
        /// Values whose names are a number and this unit are drawn at that number; without a unit, those whose names are a
        /// number. The others stand apart, in their order.
        unit: String = depends "none";
        /// Its values: names, or tables with `name`, `label`, `x` and the keys of [run].
        values: Values = required;
    }
}

options! {
    /// One value of an axis.
    pub struct ValueKeys in "axis.values" with { run: RunKeys } {
        /// What stands for {}, and by what claims name the value.
        name: Plain = required;
        /// What tables and figures call it.
        label: String = depends "the name";
        /// Where it is drawn.
        x: f64 = depends "as the axis says";
    }
}

options! {
    /// What each run reports as a list of numbers.
    pub struct CurveKeys in "[[curve]]" {
        /// Its name.
        name: String = required;
        /// What tables and figures call it.
        label: String = depends "the name";
        /// The unit of its values.
        unit: String = depends "none: plain numbers";
        /// Where it stands in result.json: a JSON pointer to a list of numbers, such as "/report/merges/per_reclaim/most".
        from: String = required;
        /// Where it stands there what each value is for: a JSON pointer to a number, such as the length of a bucket. Value
        /// number i, counted from 0, is drawn at i times that.
        every: String = depends "1";
        /// What is counted along it.
        x_label: String = depends "number";
    }
}

options! {
    /// What is taken from each run.
    pub struct MetricKeys in "[[metric]]" {
        /// Its name.
        name: String = required;
        /// What tables and figures call it.
        label: String = depends "the name";
        /// Its unit, once it is divided by `divide`.
        unit: String = depends "none: a plain number";
        /// Where it stands in result.json: a JSON pointer, such as "/report/host/read/latency_ns/mean". Where that, or what
        /// it lies in, is null, the metric of that run is not known. What lies below /accesses is found out because a
        /// metric asks for it, as by --accesses.
        from: String = depends "computed";
        /// What the number there is divided by: 1000 makes us of ns.
        divide: f64 = depends "1";
        /// The sum of these metrics of a run.
        sum: Names = depends "not computed so";
        /// The product of these metrics of a run.
        product: Names = depends "not computed so";
        /// The first of two metrics less the second.
        difference: Names = depends "not computed so";
        /// The first of two metrics over the second.
        quotient: Names = depends "not computed so";
        /// The curve of a run of which `pick` takes a number.
        curve: Name = depends "not picked so";
        /// What it takes: see below.
        pick: String = depends "needed with `curve`";
    }
}

options! {
    /// What the paper prints.
    pub struct ClaimKeys in "[[claim]]" {
        /// A name, by which result.json has it.
        id: String = required;
        /// What is claimed.
        text: String = required;
        /// Where in the paper: section, page, table or figure.
        r#where: String = required;
        /// Who gives the number, where the paper itself prints none: such as "another model". What stands in `paper` is
        /// then told as theirs.
        origin: String = depends "the paper";
        /// The metric that it is about.
        metric: Name = required;
        /// The case that it is about. Each axis with several values stands here, in `each` or in `mean_over`.
        at: Point = depends "the only value of each axis";
        /// What is formed of the metric: see below.
        r#as: Form = depends "value";
        /// The case that it is compared with: what differs from `at`. It is another case.
        against: Point = depends "not needed for a value";
        /// Axes over whose values the quantity is averaged, after it was formed.
        mean_over: Names = depends "none";
        /// An axis: the claim has a number for each of its values that `paper` names.
        each: Name = depends "a single number";
        /// What the paper prints.
        paper: Printed = required;
        /// How far the mean over the declared number of seeds may lie from the paper's number. A share is below 100%; a
        /// range holds the number.
        tolerance: Tolerance = depends "needed unless the paper gives a limit";
        /// Declares that the paper's number can't be reproduced: `expected` is held against ours instead. If ours lies
        /// within `tolerance` of the paper's number all the same, it is out.
        differs: DiffersKeys = depends "it is to be reproduced";
    }
}

options! {
    /// What is expected where a number cannot be reproduced.
    pub struct DiffersKeys in "claim.differs" {
        /// What we expect instead, in the form of `paper` and for the same values. It must not hold the paper's number, nor
        /// the paper's tolerance what is expected.
        expected: Printed = required;
        /// How far ours may lie from what is expected.
        tolerance: Tolerance = depends "needed unless `expected` is a limit";
        /// Why the paper's number can't be reproduced.
        reason: String = required;
    }
}

options! {
    /// What is drawn.
    pub struct FigureKeys in "[[figure]]" {
        /// The title, with the number of the figure in the paper.
        title: String = required;
        /// What to know of it.
        note: String = depends "none";
        /// How metrics are drawn.
        kind: FigureKind = depends "lines";
        /// The axis along which it is drawn; of a heat map that whose values are columns.
        x: Name = depends "needed unless `curves` is given";
        /// The axis whose values are the rows of a heat map.
        y: Name = depends "needed for a heat map";
        /// The metrics that are drawn; a heat map draws one.
        metrics: Names = depends "needed unless `curves` is given";
        /// The curves that are drawn in place of metrics, each along itself: those of the run with the first seed.
        /// `series`, `panels` and `at` say of which cases.
        curves: Names = depends "metrics";
        /// An axis: each metric or curve is drawn for each of its values.
        series: Name = depends "one for each metric or curve";
        /// An axis: one panel for each of its values. Or several: one for each combination of their values.
        panels: NameOrNames = depends "a single panel";
        /// Of these axes, along which it is drawn (`x`, `y`) or which `series` or `panels` name, only these values.
        only: Only = depends "all values of those axes";
        /// The values of all other axes.
        at: Point = depends "the only value of each axis";
        /// What is formed of the metrics, as in claims.
        r#as: Form = depends "value";
        /// As in claims.
        against: Point = depends "not needed for a value";
        /// A case whose values are drawn as horizontal lines: what differs from the points.
        reference: Point = depends "none";
        /// What stands at the vertical axis.
        y_label: String = depends "the unit";
    }
}
