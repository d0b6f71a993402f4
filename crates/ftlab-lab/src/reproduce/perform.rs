//! Performs the runs of an experiment and keeps their metrics.

use serde_json::Value;
use std::collections::BTreeMap;

use super::cases::Case;
use super::declaration::{Curve, From, Metric};
use super::document::CurveDocument;
use crate::compare::Share;
use crate::experiment::{Conduct, Measured};
use crate::failure::Failure;
use crate::lab::Lab;
use crate::pool::{self, RunsWatcher};
use crate::result::{self, Folder, MARK, RUN};
use crate::resume::{self, Kept, RUNS};
use crate::stop::Stop;
use crate::text_file;

/// The runs of an experiment.
pub struct Jobs<'a> {
    /// The cases.
    pub cases: &'a [Case],
    /// The seeds of each case.
    pub seeds: &'a [u64],
    /// The metrics to keep.
    pub metrics: &'a [Metric],
    /// The curves that runs report.
    pub curves: &'a [Curve],
    /// By case, the curves to keep from the first seed.
    pub kept: &'a [Vec<usize>],
    /// Who performs them.
    pub lab: &'a Lab,
    /// Who watches.
    pub watcher: &'a dyn RunsWatcher,
    /// Where finished runs are saved and earlier ones are found; none if nothing is written.
    pub notes: Option<Noted<'a>>,
}

/// Where runs are saved as they finish, so that an interrupted or killed command can be continued.
pub struct Noted<'a> {
    /// The folder being written.
    pub folder: &'a Folder,
    /// The fingerprint of each run, by case and seed.
    pub inputs: &'a [Vec<String>],
}

/// The metrics of a run; `None` for unknown ones.
pub type Numbers = Vec<Option<f64>>;

/// The results of all runs.
pub struct Performed {
    /// By case and seed.
    pub numbers: Vec<Vec<Numbers>>,
    /// By case, the load from the result of the first seed.
    pub loads: Vec<Value>,
    /// By case, the curves kept from the first seed.
    pub curves: Vec<Curves>,
}

/// The curves of a run by index in the declaration, without unknown ones.
pub type Curves = BTreeMap<usize, CurveDocument>;

/// The result of one run.
struct Ran {
    numbers: Numbers,
    /// Only for the first seed.
    load: Option<Value>,
    curves: Curves,
}

impl Jobs<'_> {
    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.cases.len() * self.seeds.len()
    }

    /// Performs all runs.
    ///
    /// # Errors
    /// Interrupted; or the first run that failed, in the order of the runs, with its name.
    pub fn perform(&self) -> Result<Performed, Failure> {
        pool::perform(self.lab, self.runs(), self.watcher, |at, halt| self.one(at, halt))
            .map(|done| self.in_order(done))
    }

    fn in_order(&self, done: Vec<Ran>) -> Performed {
        let mut performed =
            Performed { numbers: Vec::new(), loads: Vec::new(), curves: Vec::new() };
        let mut runs = done.into_iter();
        for _ in self.cases {
            let mut of_case: Vec<Ran> = runs.by_ref().take(self.seeds.len()).collect();
            let curves = of_case.first_mut().map(|ran| std::mem::take(&mut ran.curves));
            performed.curves.push(curves.unwrap_or_default());
            let load = of_case.first().and_then(|ran| ran.load.clone());
            performed.loads.push(load.unwrap_or_default());
            performed.numbers.push(of_case.into_iter().map(|ran| ran.numbers).collect());
        }
        performed
    }

    fn one(&self, at: usize, halt: &Stop) -> Result<Ran, Failure> {
        let (case, seed) = (at / self.seeds.len(), at % self.seeds.len());
        let Case { label, config, experiment, .. } = &self.cases[case];
        let named = |failure: Failure| {
            let seed = self.seeds[seed];
            failure.map_text(|text| format!("the run of {label} with seed {seed} failed: {text}"))
        };
        let mut watcher = Share::of(self.watcher);
        let result = match self.noted(case, seed)? {
            Some(result) => result,
            None => {
                let load = experiment.load.open().map_err(named)?;
                let conduct = Conduct { watcher: &mut watcher, stop: halt, requests: None };
                let measured =
                    experiment.perform(load, config, self.seeds[seed], conduct).map_err(named)?;
                if !measured.document.complete {
                    return Err(Failure::Interrupted);
                }
                self.note(case, seed, &measured)?;
                serde_json::to_value(&measured.document).map_err(Failure::usage)?
            }
        };
        let told = |text| named(Failure::usage(text));
        let numbers = numbers(self.metrics, self.curves, &result).map_err(told)?;
        let mut curves = Curves::new();
        for &at in self.kept[case].iter().filter(|_| seed == 0) {
            let curve = list(&self.curves[at], &result).map_err(told)?;
            curves.extend(curve.map(|curve| (at, curve)));
        }
        watcher.finish();
        self.watcher.one_more();
        let load = (seed == 0).then(|| result["load"].clone());
        Ok(Ran { numbers, load, curves })
    }
}

impl Jobs<'_> {
    /// Returns the place of a run in the folder.
    fn place(&self, case: usize, seed: usize) -> String {
        format!("{RUNS}/{}/seed-{}/", case + 1, self.seeds[seed])
    }

    /// Copies finished runs of an earlier command, and returns their number.
    pub fn take_up(&self) -> Result<usize, Failure> {
        let Some(Noted { folder, inputs }) = &self.notes else { return Ok(0) };
        let runs = inputs.iter().enumerate().flat_map(|(case, inputs)| {
            let of = move |(seed, inputs)| (inputs, self.place(case, seed));
            inputs.iter().enumerate().map(of)
        });
        Kept::beside(folder).take_up(folder, runs)
    }

    /// Returns the result of a run that had finished before.
    fn noted(&self, case: usize, seed: usize) -> Result<Option<Value>, Failure> {
        let Some(Noted { folder, .. }) = &self.notes else { return Ok(None) };
        let within = self.place(case, seed);
        if !resume::is_there(folder, &within) {
            return Ok(None);
        }
        let path = folder.path().join(within).join(MARK);
        let text =
            text_file::read(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
        serde_json::from_str(&text).map(Some).map_err(Failure::usage)
    }

    fn note(&self, case: usize, seed: usize, measured: &Measured) -> Result<(), Failure> {
        let Some(Noted { folder, inputs, .. }) = &self.notes else { return Ok(()) };
        let within = self.place(case, seed);
        let run = self.lab.run_document(inputs[case][seed].clone(), measured);
        folder.create_folder(&within)?;
        folder.write(&format!("{within}{RUN}"), result::to_json(&run)?.as_bytes())?;
        let document = result::to_json(&measured.document)?;
        folder.write(&format!("{within}{MARK}"), document.as_bytes())
    }
}

/// Computes the metrics of a result.
fn numbers(metrics: &[Metric], curves: &[Curve], result: &Value) -> Result<Numbers, String> {
    let mut numbers: Numbers = Vec::new();
    let in_metric = |metric: &Metric, text: String| format!("metric {}: {text}", metric.name);
    for metric in metrics {
        let number = match &metric.from {
            From::Result { pointer, divide } => taken(result, pointer)
                .map_err(|text| in_metric(metric, text))?
                .map(|number| number / divide),
            From::Sum(of) => of.iter().map(|&at| numbers[at]).sum::<Option<f64>>(),
            From::Product(of) => of.iter().map(|&at| numbers[at]).product::<Option<f64>>(),
            &From::Difference(a, b) => numbers[a].zip(numbers[b]).map(|(a, b)| a - b),
            &From::Quotient(a, b) => numbers[a].zip(numbers[b]).map(|(a, b)| a / b),
            From::Picked(curve, pick) => list(&curves[*curve], result)
                .map_err(|text| in_metric(metric, text))?
                .and_then(|curve| pick.of(&curve.values)),
        };
        // 0 / 0 is unknown.
        numbers.push(number.filter(|number| number.is_finite()));
    }
    Ok(numbers)
}

/// Returns the value at a place of the result. Below null everything is null: a device without a
/// write buffer has no number of one.
fn at<'r>(result: &'r Value, pointer: &str) -> Option<&'r Value> {
    let ends = pointer.match_indices('/').skip(1).map(|(end, _)| end);
    let above = ends.map(|end| result.pointer(&pointer[..end]));
    let unknown = above.flatten().find(|value| value.is_null());
    unknown.or_else(|| result.pointer(pointer))
}

/// Returns the number at a place of the result; `None` if it is unknown.
fn taken(result: &Value, pointer: &str) -> Result<Option<f64>, String> {
    match at(result, pointer) {
        Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => Ok(number.as_f64()),
        Some(_) => Err(format!(
            "the value at {pointer} is no number\n  remedy: name a number (docs/reference/results.md has all \
             keys)"
        )),
        None => Err(missing(result, pointer)),
    }
}

/// Returns the list of a curve; `None` if it is unknown.
fn list(curve: &Curve, result: &Value) -> Result<Option<CurveDocument>, String> {
    let told = |text: String| format!("curve {}: {text}", curve.name);
    let pointer = &curve.from;
    let list = match at(result, pointer) {
        Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => {
            return Err(told(format!(
                "the value at {pointer} is no list\n  remedy: name a list of numbers \
                 (docs/reference/results.md has all keys)"
            )));
        }
        None => return Err(told(missing(result, pointer))),
    };
    let every = match &curve.every {
        Some(pointer) => taken(result, pointer).map_err(told)?,
        None => Some(1.0),
    };
    let Some(values) = list.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>() else {
        return Err(told(format!(
            "an entry of the list at {pointer} is no number\n  remedy: name a list of numbers \
             (docs/reference/results.md has all keys)"
        )));
    };
    Ok(every.map(|every| CurveDocument { every, values }))
}

/// Describes which keys exist along the way to `pointer`.
fn missing(result: &Value, pointer: &str) -> String {
    let (mut here, mut way) = (result, String::new());
    for key in pointer.split('/').skip(1) {
        let further = format!("{way}/{key}");
        match result.pointer(&further) {
            Some(next) => (here, way) = (next, further),
            None => break,
        }
    }
    let known = match here {
        Value::Object(keys) => keys.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        Value::Array(list) => format!("the numbers below {}", list.len()),
        _ => "nothing, because it is a value".to_owned(),
    };
    let place = if way.is_empty() { "the result" } else { &way };
    format!(
        "there is nothing at {pointer} in the result\n  remedy: write a key that exists (docs/reference/results.md); \
         in {place} there is {known}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::curve::Pick;
    use serde_json::json;

    #[test]
    fn numbers_are_taken_and_computed() {
        let metric = |name: &str, from| Metric {
            name: name.to_owned(),
            label: name.to_owned(),
            unit: String::new(),
            from,
        };
        let at = |pointer: &str, divide| From::Result { pointer: pointer.to_owned(), divide };
        let metrics = [
            metric("a", at("/x/a", 2.0)),
            metric("b", at("/x/b", 1.0)),
            metric("none", at("/x/none", 1.0)),
            metric("sum", From::Sum(vec![0, 1])),
            metric("difference", From::Difference(0, 1)),
            metric("quotient", From::Quotient(0, 1)),
            metric("unknown", From::Sum(vec![0, 2])),
            metric("zero", From::Difference(1, 1)),
            metric("over nothing", From::Quotient(0, 7)),
            metric("product", From::Product(vec![0, 1, 5])),
        ];
        let result = json!({"x": {"a": 12, "b": 3.0, "none": null, "text": "t"}});
        let found = numbers(&metrics, &[], &result).unwrap();
        let some = |numbers: [f64; 2]| numbers.map(Some);
        assert_eq!(found[..2], some([6.0, 3.0]));
        assert_eq!(found[2], None);
        assert_eq!(found[3..6], [Some(9.0), Some(3.0), Some(2.0)]);
        assert_eq!(found[6..], [None, Some(0.0), None, Some(36.0)]);
        let below = numbers(&[metric("m", at("/x/none/y/z", 1.0))], &[], &result);
        assert_eq!(below, Ok(vec![None]), "below what is not known nothing is");
        let wrong = |pointer: &str| {
            numbers(&[metric("m", at(pointer, 1.0))], &[], &result).expect_err("it is no number")
        };
        assert!(wrong("/x/text").contains("no number"));
        let missing = wrong("/x/c");
        assert!(missing.contains("in /x there is a, b, none, text"), "{missing}");
    }

    #[test]
    fn curves_are_taken_and_picked_of() {
        let curve = |from: &str, every: Option<&str>| Curve {
            name: "c".to_owned(),
            label: "c".to_owned(),
            unit: String::new(),
            from: from.to_owned(),
            every: every.map(str::to_owned),
            x_label: "number".to_owned(),
        };
        let result = json!({"merges": {
            "per_reclaim": {"bucket": 4, "most": [2, 7, 2, 5, 1]}, "none": null, "mixed": [1, "a"],
        }});
        let of = |from: &str, every| list(&curve(from, every), &result);
        let (from, every) = ("/merges/per_reclaim/most", Some("/merges/per_reclaim/bucket"));
        let expected = CurveDocument { every: 4.0, values: vec![2.0, 7.0, 2.0, 5.0, 1.0] };
        assert_eq!(of(from, every), Ok(Some(expected.clone())));
        assert_eq!(of(from, None), Ok(Some(CurveDocument { every: 1.0, ..expected })));
        assert_eq!(of("/merges/none", None), Ok(None));
        assert_eq!(of(from, Some("/merges/none")), Ok(None));
        for (from, every, said) in [
            ("/merges/per_reclaim/bucket", None, "no list"),
            ("/merges/mixed", None, "no number"),
            ("/merges/nothing", None, "in /merges there is mixed, none, per_reclaim"),
            (from, Some("/merges/mixed"), "no number"),
        ] {
            let told = of(from, every).expect_err("it is no curve");
            assert!(told.contains(said) && told.contains("curve c"), "{told}");
        }
        let metric = |pick| Metric {
            name: "m".to_owned(),
            label: "m".to_owned(),
            unit: String::new(),
            from: From::Picked(0, pick),
        };
        let metrics = [Pick::Largest, Pick::Peak(1), Pick::Peak(2), Pick::Peak(3)].map(metric);
        let found = numbers(&metrics, &[curve(from, every)], &result).unwrap();
        assert_eq!(found, [Some(7.0), Some(7.0), Some(5.0), None]);
    }
}
