//! All keys of `experiment.toml`, declared once for parsing, messages and the reference.

use ftlab::options::table::{
    self, Document, Field, Given, Key, Plain, Plains, Table, TableInfo, Tables, Word,
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
    /// The form of a metric.
    pub enum Form {
        /// The metric at `at`.
        Value = "value",
        /// The increase from `against`, in per cent.
        Change = "change",
        /// The decrease from `against`, in per cent.
        Reduction = "reduction",
        /// The metric, divided by its value at `against`.
        Ratio = "ratio",
        /// The metric, minus its value at `against`.
        Difference = "difference",
    }
}

choices! {
    /// What a number is for a model that was fitted.
    pub enum Role {
        /// The model was fitted to it.
        Fitted = "fitted",
        /// The model predicts it.
        Predicted = "predicted",
    }
}

choices! {
    /// How a figure of metrics is drawn.
    pub enum FigureKind {
        /// Points connected by lines.
        Lines = "lines",
        /// Groups of bars.
        Bars = "bars",
        /// Cells over two axes, `x` and `y`, each with the number of one metric. Comparisons are
        /// coloured from blue (less) over white (equal) to orange (more).
        Heatmap = "heatmap",
    }
}

/// The values of `pick`; N is a number from 1.
pub const PICKS: [(&str, &str); 2] = [
    ("largest", "the largest value"),
    (
        "peak N",
        "the height of the N-th highest peak. A peak is the largest value between two falls to half of it or \
         less. The beginning of a curve counts as a fall, its end does not, so a rise that is cut off is \
         not a peak. Of equal values the first is the peak. Unknown if there are fewer peaks",
    ),
];

/// Defines types whose meaning depends on other parts of the file. They keep the given value unparsed, and report one that
/// has none of the forms.
macro_rules! given {
    ($($(#[$doc:meta])+ $Name:ident [$forms:pat]: $words:literal;)+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug)]
            pub struct $Name(pub Given);

            impl Field for $Name {
                fn form() -> table::Form {
                    table::Form::Words($words)
                }

                fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
                    if !matches!(&given.raw, $forms) {
                        document.mismatch::<Self>(given, key);
                        document.fail(&given.path);
                    }
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
    Name [_]: "the name of something that the file declares, such as \"read_mean\"";
    /// Several names.
    Names [_]: "a list of names that the file declares, such as [\"read_mean\"]";
    /// One name, or several.
    NameOrNames [_]: "the name of something that the file declares, or a list of such names";
    /// One value for each of some axes.
    Point [Raw::Table(_)]: "values of axes, such as { bound = \"200us\" }";
    /// Several values for each of some axes.
    Only [Raw::Table(_)]: "values of axes, such as { bound = [\"200us\", \"300us\"] }";
    /// The values of an axis.
    Values [Raw::List(_)]: "a list of names or tables, such as [\"200us\", { name = \"none\", label = \"no bound\" }]";
    /// A number printed in a paper, or one for each value of an axis.
    Printed [Raw::Text(_) | Raw::Number(_) | Raw::Table(_)]: "a number (296, \"72%\"), a limit (\"< 1%\", \"> 1\"), or with `each` a number for each of its values ({ \"0.8\" = 296, \"0.6\" = 181 })";
    /// How near to a printed number is near enough.
    Tolerance [Raw::Text(_) | Raw::Number(_)]: "\"5%\" of the number, \"3 points\" of a per cent figure, \"2 us\" in the unit of the metric, or \"3.60 to 3.85\"";
}

options! {
    /// An experiment.
    pub struct FileKeys in "the top of the file" {
        /// The name of the experiment: the name of its folder.
        name: String = required;
        /// What is reproduced, in one line.
        title: String = required;
        /// The full citation of the paper: authors, title, where and when it appeared.
        paper: String = required;
        /// Its DOI, such as "10.1000/182".
        doi: String = depends "none";
        /// What the paper claims and what we found, in a few sentences.
        summary: String = required;
        /// How many seeds each case is run with. Tolerances are meant for the mean over this many.
        seeds: u64 = required, in "1"..="100000";
        /// The measured processor time of all runs, as shown by ftlab reproduce list.
        cpu_minutes: u64 = depends "it is not shown", in "1"..="5256000";
        /// The settings that all runs share: a [run] table.
        run: RunKeys = required;
        /// The dimensions that vary.
        axis: Tables<AxisKeys> = required;
        /// Lists of numbers that runs report.
        curve: Tables<CurveKeys> = depends "none";
        /// The numbers taken from each run.
        metric: Tables<MetricKeys> = required;
        /// The numbers of the paper.
        claim: Tables<ClaimKeys> = depends "none";
        /// The figures to draw.
        figure: Tables<FigureKeys> = depends "none";
    }
}

options! {
    /// The settings of a run. An axis may have the same keys, with {} for the name of the value
    /// (workload = "writes-{}.toml"), and so may a value of an axis.
    pub struct RunKeys in "[run]" {
        /// The device: a file in the folder or below it, or a built-in one.
        device: Plain = depends "given by an axis";
        /// Options of the device, each KEY=VALUE.
        set: Plains = depends "nothing";
        /// The workload: a file in the folder or below it, or a built-in one. A run has exactly one
        /// of workload, trace and fio.
        workload: Plain = depends "another load";
        /// The trace: a file, by its path from the folder. Traces may also lie elsewhere, because they are large:
        /// "$FTLAB_TRACES/hm_0.csv" is a file in the user's folder of real traces (the option traces, or the environment
        /// variable FTLAB_TRACES). Without that file the case is not run, and listed.
        trace: Plain = depends "another load";
        /// The fio job file, in the folder or below it.
        fio: Plain = depends "another load";
        /// Values of variables in the job file: ["NUMJOBS=256"]. Later values of
        /// a variable override earlier ones.
        fio_var: Plains = depends "the environment";
        /// The preparation of the device: steps, separated by commas.
        precondition: Plain = depends "none";
        /// As the option of a run.
        all_phases: Word = depends "as of a run";
        /// As the option of a run.
        requests: Plain = depends "no limit";
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
    pub struct AxisKeys in "[[axis]]" with { run: RunKeys } {
        /// Its name.
        name: String = required;
        /// Its name in tables and figures.
        label: String = depends "the name";
        /// A note shown beside numbers and figures, for example what the paper calls it.
        note: String = depends "none";
        /// A value whose name is a number with this unit is drawn at that number; without a unit, a
        /// value whose name is a number. Other values are drawn apart, in their order.
        unit: String = depends "none";
        /// Its values: names, or tables with `name`, `label`, `x` and the keys of [run].
        values: Values = required;
    }
}

options! {
    /// One value of an axis.
    pub struct ValueKeys in "axis.values" with { run: RunKeys } {
        /// The name of the value in claims; it replaces {}.
        name: Plain = required;
        /// Its name in tables and figures.
        label: String = depends "the name";
        /// Its position in drawings.
        x: f64 = depends "as the axis says";
    }
}

options! {
    /// A list of numbers that each run reports.
    pub struct CurveKeys in "[[curve]]" {
        /// Its name.
        name: String = required;
        /// Its name in tables and figures.
        label: String = depends "the name";
        /// The unit of its values.
        unit: String = depends "none: plain numbers";
        /// Its place in result.json: a JSON pointer to a list of numbers, such as "/report/merges/per_reclaim/most".
        from: String = required;
        /// The place in result.json of the distance between values: a JSON pointer to a number,
        /// such as the width of a bucket. Value number i, counted from 0, is drawn at i times that.
        every: String = depends "1";
        /// The label of the horizontal axis.
        x_label: String = depends "number";
    }
}

options! {
    /// A number taken from each run.
    pub struct MetricKeys in "[[metric]]" {
        /// Its name.
        name: String = required;
        /// Its name in tables and figures.
        label: String = depends "the name";
        /// Its unit, after the division by `divide`.
        unit: String = depends "none: a plain number";
        /// Its place in result.json: a JSON pointer, such as "/report/host/read/latency_ns/mean".
        /// If the value, or an object that contains it, is null, the metric is unknown for that
        /// run. A metric below /accesses turns on --accesses.
        from: String = depends "computed";
        /// The divisor of the number: 1000 converts ns to us.
        divide: f64 = depends "1";
        /// The sum of these metrics.
        sum: Names = depends "not computed so";
        /// The product of these metrics.
        product: Names = depends "not computed so";
        /// The first of two metrics minus the second.
        difference: Names = depends "not computed so";
        /// The first of two metrics divided by the second.
        quotient: Names = depends "not computed so";
        /// The curve from which `pick` takes a number.
        curve: Name = depends "not picked so";
        /// The number to take from the curve; see below.
        pick: String = depends "needed with `curve`";
    }
}

options! {
    /// A claim of the paper.
    pub struct ClaimKeys in "[[claim]]" {
        /// Its name in result.json.
        id: String = required;
        /// The claim in words.
        text: String = required;
        /// Its place in the paper: section, page, table or figure.
        r#where: String = required;
        /// The origin of the number, such as "another model", if the paper itself does not print
        /// one. The number in `paper` is then shown as theirs.
        origin: String = depends "the paper";
        /// Whether the device was fitted to the number or predicts it. The errors of both are summed up apart.
        role: Role = depends "neither";
        /// Whether a quick reproduction (--quick) measures it.
        quick: bool = depends "false";
        /// The metric of the claim.
        metric: Name = required;
        /// The case of the claim. Each axis with several values must be here, in `each` or in `mean_over`.
        at: Point = depends "the only value of each axis";
        /// The form of the metric; see below.
        r#as: Form = depends "value";
        /// The case to compare with: the values that differ from `at`. It must be another case.
        against: Point = depends "not needed for a value";
        /// Axes to average over, after the form is computed.
        mean_over: Names = depends "none";
        /// An axis: the claim has a number for each of its values in `paper`.
        each: Name = depends "a single number";
        /// The number in the paper.
        paper: Printed = required;
        /// How far our mean over the declared number of seeds may be from the paper's number. A
        /// share must be below 100%; a range must contain the number.
        tolerance: Tolerance = depends "needed unless the paper gives a limit";
        /// Declares that the paper's number cannot be reproduced: ours is compared with `expected` instead. If ours
        /// is within `tolerance` of the paper's number after all, the verdict is out of tolerance.
        differs: DiffersKeys = depends "it is to be reproduced";
    }
}

options! {
    /// The number expected if the paper's cannot be reproduced.
    pub struct DiffersKeys in "claim.differs" {
        /// The number that we expect instead, in the form of `paper` and for the same values. It
        /// must be outside the paper's tolerance, and the paper's number outside its own.
        expected: Printed = required;
        /// How far our number may be from the expected one.
        tolerance: Tolerance = depends "needed unless `expected` is a limit";
        /// Why the paper's number cannot be reproduced.
        reason: String = required;
    }
}

options! {
    /// A figure.
    pub struct FigureKeys in "[[figure]]" {
        /// The title, with the number of the figure in the paper.
        title: String = required;
        /// A note for readers.
        note: String = depends "none";
        /// How metrics are drawn.
        kind: FigureKind = depends "lines";
        /// The horizontal axis; in a heat map, the axis of the columns.
        x: Name = depends "needed unless `curves` is given";
        /// The axis of the rows of a heat map.
        y: Name = depends "needed for a heat map";
        /// The metrics to draw; a heat map draws one.
        metrics: Names = depends "needed unless `curves` is given";
        /// The curves to draw in place of metrics, from the run with the first seed. `series`,
        /// `panels` and `at` select the cases.
        curves: Names = depends "metrics";
        /// An axis: each metric or curve is drawn once for each of its values.
        series: Name = depends "one for each metric or curve";
        /// One or several axes: there is a panel for each of their values, or each combination of values.
        panels: NameOrNames = depends "a single panel";
        /// Restricts the values of axes in `x`, `y`, `series` or `panels` to these.
        only: Only = depends "all values of those axes";
        /// The values of all other axes.
        at: Point = depends "the only value of each axis";
        /// The form of the metrics, as in claims.
        r#as: Form = depends "value";
        /// The case to compare with, as in claims.
        against: Point = depends "not needed for a value";
        /// A case whose values are drawn as horizontal lines: the values that differ from the points.
        reference: Point = depends "none";
        /// The label of the vertical axis.
        y_label: String = depends "the unit";
    }
}
