//! Curves of an experiment: lists in results that `ftlab reproduce` draws and picks numbers from.

use super::common::{Place, fails};
use super::reproduce::{drawn, experiment, number, row};

/// Any list of numbers in a result is a curve; this one comes from the configuration.
#[test]
fn curves_are_drawn_along_themselves_and_picked_of() {
    let place = Place::new();
    let depths =
        "set = [\"ftl.gc.stop=5\", \"host.queues=6\", \"host.queue_depth=[8, 64, 10, 32, 9, 40]\"]";
    let curves = r#"
[[curve]]
name = "depths"
label = "depth"
from = "/device/config/host/queue_depth"
every = "/schema_version"
x_label = "queue"

[[metric]]
name = "second"
curve = "depths"
pick = "peak 2"

[[metric]]
name = "highest"
curve = "depths"
pick = "largest"

[[claim]]
id = "second"
text = "The second peak"
where = "figure 3"
origin = "an independent model"
metric = "second"
at = { policy = "fifo", start = 2 }
paper = 32
tolerance = "5%"

[[figure]]
title = "Figure 3: depths"
curves = ["depths"]
series = "policy"
panels = "load"
at = { start = 2 }

[[figure]]
title = "Figure 4: the second peak"
x = "start"
series = "policy"
metrics = ["second", "highest"]
"#;
    let with = |text: &str| {
        experiment(&place, "e", text);
        let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
        let text = text.replace("set = [\"ftl.gc.stop=5\"]", depths);
        place.write("e/experiment.toml", text.as_bytes());
    };
    with(curves);
    let done = place.run("reproduce e -o out --seeds 2");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.out.contains("(figure 3; numbers of an independent model)"), "{}", done.out);
    let (document, figures) = (place.json("out/result.json"), drawn(&place, "out/report.html"));
    assert_eq!(row(&document, 0, 0)["ours"], 32.0);
    let claim = &document["claims"][0];
    assert_eq!(
        (&claim["origin"], &claim["id"]),
        (&"an independent model".into(), &"second".into())
    );
    let cases = document["cases"].as_array().unwrap();
    for case in cases {
        // If no figure draws a case's curve, only its numbers are kept.
        let kept = &case["curves"]["depths"];
        assert_eq!(kept.is_null(), case["at"]["start"] != "2", "{case}");
        assert_eq!(case["metrics"]["highest"]["mean"], 64.0);
    }
    let every = f64::from(ftlab::stats::SCHEMA_VERSION);
    let lines = &figures[0];
    assert_eq!((&lines["kind"], &lines["x_label"]), (&"curves".into(), &"queue".into()));
    assert_eq!(lines["series"], serde_json::json!(["FIFO", "read-first"]));
    let panel = &lines["panels"][0];
    assert_eq!(panel["title"], "load own");
    let points = panel["points"][1].as_array().unwrap();
    let at: Vec<(f64, f64)> =
        points.iter().map(|dot| (number(&dot["x"]) / every, number(&dot["y"]))).collect();
    let expected = [(0.0, 8.0), (1.0, 64.0), (2.0, 10.0), (3.0, 32.0), (4.0, 9.0), (5.0, 40.0)];
    assert_eq!(at, expected);
    let mark = &figures[1]["panels"][0]["printed"][0];
    assert_eq!((&mark["origin"], &mark["y"]), (&"an independent model".into(), &32.0.into()));
    assert_eq!(place.run("reproduce e --claims-only -o claims --seeds 1 -q").code, 0);
    let claims = place.json("claims/result.json");
    assert_eq!(claims["cases"][0]["curves"], serde_json::json!({}), "no figure, no curve");
    // Mistakes are reported, including those that show only in a run.
    for (from, to, expected) in [
        ("pick = \"peak 2\"", "pick = \"peak 0\"", "pick from the curve"),
        ("curve = \"depths\"\npick = \"largest\"", "pick = \"largest\"", "picked from a curve"),
        ("curves = [\"depths\"]", "curves = [\"depths\"]\nx = \"start\"", "no meaning for curves"),
        ("curves = [\"depths\"]", "", "neither `metrics` nor `curves`"),
        ("curve = \"depths\"", "curve = \"depth\"", "unknown curve \"depth\""),
        (
            "from = \"/device/config/host/queue_depth\"",
            "from = \"/device/config/host/queues\"",
            "is no list",
        ),
        ("every = \"/schema_version\"", "every = \"/schema\"", "there is nothing at /schema"),
    ] {
        assert!(curves.contains(from), "{from}");
        with(&curves.replace(from, to));
        fails(&place, "reproduce e --seeds 1", &[expected, "remedy"]);
    }
}

/// A figure runs and draws only the values it is restricted to.
#[test]
fn a_figure_may_show_some_values_of_its_axes() {
    let place = Place::new();
    let figure = |only: &str| {
        format!(
            "[[figure]]\ntitle = \"f\"\nx = \"start\"\nseries = \"policy\"\nmetrics = [\"read\"]\n\
             reference = {{ start = 2, policy = \"read-first\" }}\n{only}\n"
        )
    };
    experiment(&place, "e", &figure("only = { start = [4, 2], policy = [\"read-first\"] }"));
    let done = place.run("reproduce e -o out --seeds 1 -q");
    assert_eq!(done.code, 0, "{}", done.err);
    let (document, figures) = (place.json("out/result.json"), drawn(&place, "out/report.html"));
    assert_eq!(document["cases"].as_array().unwrap().len(), 2);
    assert_eq!(figures[0]["series"], serde_json::json!(["read-first"]));
    let panel = &figures[0]["panels"][0];
    let xs: Vec<f64> =
        panel["points"][0].as_array().unwrap().iter().map(|dot| number(&dot["x"])).collect();
    assert_eq!(xs.len(), 2);
    assert_eq!(figures[0]["ticks"].as_array().unwrap().len(), 2);
    assert_eq!(panel["references"][0]["y"], panel["points"][0][0]["y"], "the line across is drawn");
    for (only, expected) in [
        ("only = { start = [] }", "list some of 2, 3, 4"),
        ("only = { start = [5] }", "unknown value of start"),
        ("only = { load = [\"own\"] }", "draws one value of this axis"),
        ("only = { strat = [2] }", "unknown axis"),
        ("only = 3", "expected values of axes"),
    ] {
        experiment(&place, "e", &figure(only));
        fails(&place, "reproduce e --seeds 1", &[expected, "remedy"]);
    }
}
