//! Every key of `experiment.toml`, declared once: the reader takes names and defaults from this table,
//! and so does the generated reference.

/// The table of the file in which a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The top of the file.
    File,
    /// `[run]`.
    Run,
    /// One `[[axis]]`.
    Axis,
    /// An entry of `axis.values`.
    Value,
    /// One `[[curve]]`.
    Curve,
    /// One `[[metric]]`.
    Metric,
    /// One `[[claim]]`.
    Claim,
    /// `claim.differs`.
    Differs,
    /// One `[[figure]]`.
    Figure,
}

impl Section {
    /// How the section is written in a file.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Section::File => "the top of the file",
            Section::Run => "[run]",
            Section::Axis => "[[axis]]",
            Section::Value => "axis.values",
            Section::Curve => "[[curve]]",
            Section::Metric => "[[metric]]",
            Section::Claim => "[[claim]]",
            Section::Differs => "claim.differs",
            Section::Figure => "[[figure]]",
        }
    }
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Free text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number.
    Count,
    /// A number with or without a fraction.
    Number,
    /// A text or a number, handed on as it is written.
    Plain,
    /// The name of something that the file declares.
    Name,
    /// Several such names.
    Names,
    /// One such name, or several.
    NameOrNames,
    /// Values of axes.
    Point,
    /// Several values of each of some axes.
    Only,
    /// The values of an axis.
    Values,
    /// A number that is printed in a paper.
    Printed,
    /// How far from a printed number is near enough.
    Tolerance,
    /// A table.
    Table,
    /// Several `[[...]]` tables.
    Tables,
}

impl Takes {
    /// The form in words, with an example.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Takes::Text => "text in quotes",
            Takes::Texts => "a list of texts, such as [\"a\", \"b\"]",
            Takes::Count => "a whole number, such as 200",
            Takes::Number => "a number, such as 0.5",
            Takes::Plain => "a text or a number, as on the command line",
            Takes::Name => "the name of something that the file declares, such as \"read_mean\"",
            Takes::Names => "a list of names that the file declares, such as [\"read_mean\"]",
            Takes::NameOrNames => {
                "the name of something that the file declares, or a list of such names"
            }
            Takes::Point => "values of axes, such as { bound = \"200us\" }",
            Takes::Only => "values of axes, such as { bound = [\"200us\", \"300us\"] }",
            Takes::Values => {
                "a list of names or tables, such as [\"200us\", { name = \"none\", label = \"no bound\" }]"
            }
            Takes::Printed => {
                "a number (296, \"72%\"), a limit (\"< 1%\", \"> 1\"), or with `each` one for each of its \
                 values ({ \"0.8\" = 296, \"0.6\" = 181 })"
            }
            Takes::Tolerance => {
                "\"5%\" of the number, \"3 points\" of a per cent figure, \"2 us\" in the unit of the \
                 metric, or \"3.60 to 3.85\""
            }
            Takes::Table => {
                "a table, such as { expected = 0.5, tolerance = \"5%\", reason = \"...\" }"
            }
            Takes::Tables => "one or more [[...]] tables",
        }
    }
}

/// What holds where a key is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The key must be given.
    Required,
    /// Something, in words.
    Depends(&'static str),
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Where it stands.
    pub section: Section,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What holds without it.
    pub otherwise: Otherwise,
    /// What it means.
    pub doc: &'static str,
}

/// The ways to form a quantity out of a metric.
pub const FORMS: [(&str, &str); 5] = [
    ("value", "the metric at `at`"),
    ("change", "by how much it is more than at `against`, in per cent"),
    ("reduction", "by how much it is less than at `against`, in per cent"),
    ("ratio", "it, divided by that at `against`"),
    ("difference", "it, less that at `against`"),
];

/// The kinds of figures.
pub const KINDS: [(&str, &str); 3] = [
    ("lines", "points with lines between them"),
    ("bars", "groups of bars"),
    (
        "heatmap",
        "cells by two axes, `x` and `y`, with the number of one metric in each. What is compared is coloured \
         from blue, less, over white, alike, to orange, more",
    ),
];

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

macro_rules! keys {
    ($($section:ident . $name:literal : $takes:ident, $otherwise:expr, $doc:literal;)+) => {
        &[$(Key {
            section: Section::$section,
            name: $name,
            takes: Takes::$takes,
            otherwise: $otherwise,
            doc: $doc,
        }),+]
    };
}

use Otherwise::{Depends, Required};

/// All keys, in the order of the reference.
pub const KEYS: &[Key] = keys![
    File."name": Text, Required, "The name of the experiment: that of its folder.";
    File."title": Text, Required, "What is reproduced, in a line.";
    File."paper": Text, Required, "The paper in full: authors, title, where and when it appeared.";
    File."doi": Text, Depends("none"), "Its DOI, such as \"10.1000/182\".";
    File."summary": Text, Required, "In a few sentences: what the paper claims and what came out.";
    File."seeds": Count, Required,
        "With how many seeds each case is run. Tolerances hold for the mean of so many.";
    File."cpu_minutes": Count, Depends("it is not told"),
        "What all of its runs took of processor time when that was measured: ftlab reproduce list tells it.";
    File."run": Table, Required, "What all runs have in common: a [run] table.";
    File."axis": Tables, Required, "What is varied.";
    File."curve": Tables, Depends("none"), "What each run reports as a list of numbers.";
    File."metric": Tables, Required, "What is taken from each run.";
    File."claim": Tables, Depends("none"), "The numbers of the paper.";
    File."figure": Tables, Depends("none"), "What is drawn.";

    Run."device": Text, Depends("given by an axis"),
        "The device: a file of the folder or below it, or a built-in one.";
    Run."set": Texts, Depends("nothing"), "Options of the device, as with --set.";
    Run."workload": Text, Depends("another load"),
        "The workload: a file of the folder or below it, or a built-in one. One of workload, trace and fio is given.";
    Run."trace": Text, Depends("another load"), "The trace: a file, by its path from the folder. It alone may lie elsewhere, since traces are large. \
         \"$FTLAB_TRACES/hm_0.csv\" is a file in the folder of real traces that the user names (--traces, or the \
         environment variable FTLAB_TRACES): without it the case is not run, and named.";
    Run."fio": Text, Depends("another load"), "The fio job file, in the folder or below it.";
    Run."fio_var": Texts, Depends("the environment"),
        "What variables of the job file stand for, as with --fio-var: [\"NUMJOBS=256\"]. Of one variable what is said \
         later counts.";
    Run."precondition": Text, Depends("none"),
        "What the device goes through first, as with --precondition.";
    Run."requests": Plain, Depends("no limit"), "As --requests.";
    Run."replay": Plain, Depends("as --replay"), "As --replay.";
    Run."queue_depth": Plain, Depends("as --queue-depth"), "As --queue-depth.";
    Run."speed": Plain, Depends("as --speed"), "As --speed.";
    Run."address": Plain, Depends("as --address"), "As --address.";

    Axis."name": Text, Required, "Its name.";
    Axis."label": Text, Depends("the name"), "What tables and figures call it.";
    Axis."note": Text, Depends("none"),
        "What to know of it, such as what the paper calls it: told beside numbers and figures.";
    Axis."unit": Text, Depends("none"),
        "Values whose names are a number and this unit are drawn at that number; without a unit, those \
         whose names are a number. The others stand apart, in their order.";
    Axis."values": Values, Required,
        "Its values: names, or tables with `name`, `label`, `x` and the keys of [run].";
    Axis."set": Texts, Depends("nothing"),
        "Options that each value sets, with {} for its name: [\"scheduler.write_bound={}\"]. The other keys of \
         [run] may stand here likewise: workload = \"writes-{}.toml\".";

    Value."name": Plain, Required, "What stands for {}, and by what claims name the value.";
    Value."label": Text, Depends("the name"), "What tables and figures call it.";
    Value."x": Number, Depends("as the axis says"), "Where it is drawn.";
    Value."set": Texts, Depends("nothing"),
        "Options that this value sets beyond those of the axis. The other keys of [run] may stand here \
         likewise.";

    Curve."name": Text, Required, "Its name.";
    Curve."label": Text, Depends("the name"), "What tables and figures call it.";
    Curve."unit": Text, Depends("none: plain numbers"), "The unit of its values.";
    Curve."from": Text, Required,
        "Where it stands in result.json: a JSON pointer to a list of numbers, such as \"/report/merges/per_reclaim/most\".";
    Curve."every": Text, Depends("1"),
        "Where it stands there what each value is for: a JSON pointer to a number, such as the length of a \
         bucket. Value number i, counted from 0, is drawn at i times that.";
    Curve."x_label": Text, Depends("number"), "What is counted along it.";

    Metric."name": Text, Required, "Its name.";
    Metric."label": Text, Depends("the name"), "What tables and figures call it.";
    Metric."unit": Text, Depends("none: a plain number"), "Its unit, once it is divided by `divide`.";
    Metric."from": Text, Depends("computed"),
        "Where it stands in result.json: a JSON pointer, such as \"/report/host/read/latency_ns/mean\". Where \
         that, or what it lies in, is null, the metric of that run is not known. What lies below /accesses is \
         found out because a metric asks for it, as by --accesses.";
    Metric."divide": Number, Depends("1"), "What the number there is divided by: 1000 makes us of ns.";
    Metric."sum": Names, Depends("not computed so"), "The sum of these metrics of a run.";
    Metric."product": Names, Depends("not computed so"), "The product of these metrics of a run.";
    Metric."difference": Names, Depends("not computed so"), "The first of two metrics less the second.";
    Metric."quotient": Names, Depends("not computed so"), "The first of two metrics over the second.";
    Metric."curve": Name, Depends("not picked so"), "The curve of a run of which `pick` takes a number.";
    Metric."pick": Text, Depends("needed with `curve`"), "What it takes: see below.";

    Claim."id": Text, Required, "A name, by which result.json has it.";
    Claim."text": Text, Required, "What is claimed.";
    Claim."where": Text, Required, "Where in the paper: section, page, table or figure.";
    Claim."origin": Text, Depends("the paper"),
        "Who gives the number, where the paper itself prints none: such as \"another model\". What stands in `paper` is \
         then told as theirs.";
    Claim."metric": Name, Required, "The metric that it is about.";
    Claim."at": Point, Depends("the only value of each axis"),
        "The case that it is about. Each axis with several values stands here, in `each` or in `mean_over`.";
    Claim."as": Name, Depends("value"), "What is formed of the metric: see below.";
    Claim."against": Point, Depends("not needed for a value"),
        "The case that it is compared with: what differs from `at`. It is another case.";
    Claim."mean_over": Names, Depends("none"),
        "Axes over whose values the quantity is averaged, after it was formed.";
    Claim."each": Name, Depends("a single number"),
        "An axis: the claim has a number for each of its values that `paper` names.";
    Claim."paper": Printed, Required, "What the paper prints.";
    Claim."tolerance": Tolerance, Depends("needed unless the paper gives a limit"),
        "How far the mean over the declared number of seeds may lie from the paper's number. A share is below \
         100%; a range holds the number.";
    Claim."differs": Table, Depends("it is to be reproduced"),
        "Declares that the paper's number can't be reproduced: `expected` is held against ours instead. \
         If ours lies within `tolerance` of the paper's number all the same, it is out.";

    Differs."expected": Printed, Required, "What we expect instead, in the form of `paper` and for the same values. It must not hold the \
         paper's number, nor the paper's tolerance what is expected.";
    Differs."tolerance": Tolerance, Depends("needed unless `expected` is a limit"),
        "How far ours may lie from what is expected.";
    Differs."reason": Text, Required, "Why the paper's number can't be reproduced.";

    Figure."title": Text, Required, "The title, with the number of the figure in the paper.";
    Figure."note": Text, Depends("none"), "What to know of it.";
    Figure."kind": Name, Depends("lines"), "lines, bars or heatmap.";
    Figure."x": Name, Depends("needed unless `curves` is given"), "The axis along which it is drawn; of a heat map that whose values are columns.";
    Figure."y": Name, Depends("needed for a heat map"), "The axis whose values are the rows of a heat map.";
    Figure."metrics": Names, Depends("needed unless `curves` is given"), "The metrics that are drawn; a heat map draws one.";
    Figure."curves": Names, Depends("metrics"),
        "The curves that are drawn in place of metrics, each along itself: those of the run with the first seed. \
         `series`, `panels` and `at` say of which cases.";
    Figure."series": Name, Depends("one for each metric or curve"),
        "An axis: each metric or curve is drawn for each of its values.";
    Figure."panels": NameOrNames, Depends("a single panel"),
        "An axis: one panel for each of its values. Or several: one for each combination of their values.";
    Figure."only": Only, Depends("all values of those axes"),
        "Of these axes, along which it is drawn (`x`, `y`) or which `series` or `panels` name, only these values.";
    Figure."at": Point, Depends("the only value of each axis"), "The values of all other axes.";
    Figure."as": Name, Depends("value"), "What is formed of the metrics, as in claims.";
    Figure."against": Point, Depends("not needed for a value"), "As in claims.";
    Figure."reference": Point, Depends("none"),
        "A case whose values are drawn as horizontal lines: what differs from the points.";
    Figure."y_label": Text, Depends("the unit"), "What stands at the vertical axis.";
];
