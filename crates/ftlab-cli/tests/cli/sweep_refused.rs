//! Sweep files that cannot be carried out: all problems at once, each with its line, and nothing is run or written.

use super::common::{Place, fails};
use super::sweep::SWEEP;

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let place = Place::new();
    place.write("sweep.toml", text.as_bytes());
    fails(&place, "sweep sweep.toml -o out", expected);
}

#[test]
fn all_problems_of_a_file_are_told_at_once() {
    let text = SWEEP
        .replace("name = 'small'", "name = 'a/b'")
        .replace("seeds = 2", "seeds = 0")
        .replace("requests = 400", "requests = 'many'\nspeeed = 2")
        .replace("steps = 3", "")
        .replace("[1, 8]", "[1, 1, 'deep']");
    let expected = [
        "no name for a folder",
        "0 is out of range",
        "`many` is no number of requests",
        "did you mean speed?",
        "the range lacks `steps`",
        "there are two values 1",
        "`deep` is no queue depth",
        "sweep.toml:16:17",
        "^^",
    ];
    refused(&text, &expected);
}

#[test]
fn axes_that_make_no_sense_are_refused() {
    let with = |from: &str, to: &str| SWEEP.replace(from, to);
    let spare = "option = 'ftl.over_provisioning'";
    for (text, expected) in [
        (with(spare, "option = 'ftl.over_provisionning'"), "did you mean"),
        (with(spare, "option = 'ftl.gc'"), "is a section, not an option"),
        (with(spare, "option = 'greedy'"), "is a policy, not an option"),
        (with(spare, "option = 'ftl.gc.victim'"), "it takes no numbers"),
        (with(spare, ""), "neither option nor name"),
        (with(spare, "name = 'spare'"), "a range needs an option"),
        (with("steps = 3", "steps = 1"), "1 is out of range"),
        (with("25%..50%", "50%..25%"), "smaller end first"),
        (with("25%..50%", "25..50"), "needs a unit"),
        (with("'25%..50%'\nsteps = 3", "[]"), "it has no values"),
        (with("'25%..50%'\nsteps = 3", "['25%', '9000%']"), "9000% is out of range"),
        (with("'25%..50%'\nsteps = 3", "'much'"), "neither a range nor a list"),
        (with("[1, 8]", "[1, 8]\nsteps = 2"), "a list has its own steps"),
        (with("[1, 8]", "'1..4'\nsteps = 9"), "no 9 different values"),
        (with("name = 'depth'", "name = 'iops'"), "named like another column"),
        (with("name = 'depth'", "name = 'ftl.over_provisioning'"), "two axes are named"),
        (
            with("[1, 8]", "[{ name = 1, set = ['ftl.over_provisioning=7%'] }]"),
            "both set ftl.over_provisioning",
        ),
        (with("[1, 8]", "[{ name = 1, set = ['queue_depth=7'] }]"), "sets no option of the device"),
        (
            with("[1, 8]", "[{ name = 1, workload = 'a', fio = 'b' }]"),
            "there is a workload already",
        ),
        (with("seeds = 2", "seeds = 100000\nfirst_seed = 7"), "more than 100000 runs"),
    ] {
        refused(&text, &[expected, "remedy"]);
    }
}

#[test]
fn points_that_cannot_be_are_named_before_anything_runs() {
    let low = SWEEP.replace("25%..50%", "1%..50%");
    refused(
        &low,
        &[
            "ftl.over_provisioning=1%",
            "in the point ftl.over_provisioning 1%, depth 1, and in another one",
        ],
    );
    let none = SWEEP.replace("workload = 'mixed-70-30-zipf'\n", "");
    refused(&none, &["there is no load", "remedy: name one for all points", "and in 5 others"]);
    let missing = SWEEP.replace("mixed-70-30-zipf", "no-such-load");
    refused(&missing, &["no workload no-such-load", "remedy"]);
    let two = SWEEP
        .replace("25%..50%", "1%..50%")
        .replace("[1, 8]", "[1, { name = 8, replay = 'open', speed = 2 }]");
    refused(&two, &["ftl.over_provisioning", "`speed`".trim_matches('`')]);
    let nowhere = SWEEP.replace("device = 'tiny'", "device = 'tinny'");
    refused(&nowhere, &["tinny", "did you mean"]);
}

#[test]
fn one_device_for_all_points_must_fit_them() {
    let base = SWEEP.replace("requests = 400", "requests = 400\nprepare = 'base'");
    refused(&base, &["can't start from the prepared base device", "depth 1, and in", "same shape"]);
    let unprepared = base.replace("precondition = 'fill,age'\n", "");
    refused(&unprepared, &["nothing prepares it", "precondition"]);
    let past = base.replace(
        "option = 'queue_depth'\nname = 'depth'\nvalues = [1, 8]",
        "option = 'precondition'\nvalues = ['none', 'fill']",
    );
    refused(
        &past,
        &["the axis precondition sets precondition, but the base device is prepared for all"],
    );
    let odd = SWEEP.replace("requests = 400", "prepare = 'twice'");
    refused(&odd, &["twice", "each, base"]);
}

#[test]
fn what_is_no_sweep_file_is_told() {
    let place = Place::new();
    fails(&place, "sweep none.toml", &["can't read the sweep file none.toml", "check the path"]);
    fails(&place, "sweep trace.csv", &["this is a trace", "not a sweep file"]);
    place.write("empty.toml", b"");
    fails(&place, "sweep empty.toml", &["empty.toml"]);
    place.write("syntax.toml", b"name = x\n");
    fails(&place, "sweep syntax.toml", &["syntax.toml:1:8", "in quotes"]);
    // A key of the file is not taken for the flag of the same name.
    place.write("set.toml", b"name = 'a'\n[run]\nset = 5\n");
    fails(
        &place,
        "sweep set.toml",
        &["run.set: expected a list", "change the value of set, or leave"],
    );
    place.write("sweep.toml", SWEEP.as_bytes());
    fails(&place, "sweep sweep.toml --no-output --force", &["--force"]);
    fails(&place, "sweep sweep.toml --seeds 0", &["--seeds"]);
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes.txt", b"mine");
    fails(&place, "sweep sweep.toml -o mine --force", &["exists and is not a result"]);
}
