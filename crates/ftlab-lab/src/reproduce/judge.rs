//! Compares the numbers of a paper with ours and gives verdicts.

use std::collections::BTreeMap;

use super::cases::{Case, LeftOut};
use super::declaration::{Axis, Claim, ClaimRow, Coordinates, Curve, Declaration, Figure, Point};
use super::document::{
    AxisDocument, CaseDocument, ClaimDocument, CurveDocument, CurveNamed, KIND, MetricNamed,
    NotRunDocument, NumberVerdict, OutcomeCounts, Reproduction, RowDocument, SCHEMA_VERSION,
    SpreadDocument,
};
use super::errors;
use super::library::FoundExperiment;
use super::measure::{CONFIDENCE, Measured, Spread};
use super::numbers::is_near;
use super::points;
use crate::result::DeviceDocument;

/// The runs of an experiment.
pub struct RanExperiment<'a> {
    /// The cases.
    pub cases: &'a [Case],
    /// The load of each case.
    pub loads: &'a [serde_json::Value],
    /// The seeds of each case.
    pub seeds: &'a [u64],
    /// Cases that were not run.
    pub left_out: &'a [LeftOut],
}

/// Returns the complete result, for files, table and page.
pub fn judged(
    found: &FoundExperiment,
    figures: &[Figure],
    ran: &RanExperiment<'_>,
    measured: &Measured,
) -> Reproduction {
    let declaration = &found.declaration;
    let RanExperiment { cases, loads, seeds, .. } = ran;
    let claims: Vec<ClaimDocument> =
        declaration.claims.iter().map(|claim| claimed(declaration, claim, ran, measured)).collect();
    Reproduction {
        kind: KIND,
        schema_version: SCHEMA_VERSION,
        ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: declaration.name.clone(),
        title: declaration.title.clone(),
        paper: declaration.paper.clone(),
        doi: declaration.doi.clone(),
        summary: declaration.summary.clone(),
        declared_seeds: declaration.seeds,
        seeds: seeds.to_vec(),
        confidence_ratio: CONFIDENCE,
        declaration_blake3: blake3::hash(found.text.as_bytes()).to_hex().to_string(),
        verdicts: counts(&claims),
        errors: errors::of(&claims),
        claims,
        axes: declaration.axes.iter().map(axis).collect(),
        curves: declaration.curves.iter().map(curve).collect(),
        metrics: metrics(declaration),
        cases: cases
            .iter()
            .zip(*loads)
            .map(|(case, load)| of_case(declaration, case, load, measured))
            .collect(),
        figures: points::of(declaration, figures, measured),
        not_run: ran.left_out.iter().map(|one| not_run(one, &declaration.axes)).collect(),
    }
}

fn not_run(one: &LeftOut, axes: &[Axis]) -> NotRunDocument {
    let point: Point = one.place.iter().map(|&value| Some(value)).collect();
    NotRunDocument { at: named(&point, &[], axes), trace: one.trace.clone() }
}

fn claimed(
    declaration: &Declaration,
    claim: &Claim,
    ran: &RanExperiment<'_>,
    measured: &Measured,
) -> ClaimDocument {
    let metric = &declaration.metrics[claim.quantity.metric];
    let rows = claim.rows.iter().map(|row| {
        let ours = measured.quantity(&claim.quantity, &row.at);
        let pairs = claim.quantity.pairs(&row.at, &declaration.axes);
        let is_left_out = |place: &Coordinates| ran.left_out.iter().any(|one| one.place == *place);
        let was_run = !pairs.iter().any(|(here, there)| is_left_out(here) || is_left_out(there));
        RowDocument {
            label: row.label.clone(),
            at: named(&row.at, &claim.quantity.mean_over, &declaration.axes),
            paper: row.paper,
            tolerance: row.tolerance,
            expected: row.expected.map(|expected| expected.value),
            expected_tolerance: row.expected.and_then(|expected| expected.tolerance),
            ours: ours.map(|ours| ours.value),
            low: ours.and_then(|ours| ours.low),
            high: ours.and_then(|ours| ours.high),
            verdict: match was_run {
                true => verdict(row, ours.map(|ours| ours.value)),
                false => NumberVerdict::NotRun,
            },
        }
    });
    ClaimDocument {
        id: claim.id.clone(),
        text: claim.text.clone(),
        place: claim.place.clone(),
        origin: claim.origin.clone(),
        role: claim.role,
        unit: claim.quantity.form.unit(&metric.unit).to_owned(),
        differs_because: claim.differs.clone(),
        rows: rows.collect(),
    }
}

/// Returns the verdict on a number. A number that is declared to differ never counts as reproduced:
/// it must meet the expected number and must not meet the paper's.
fn verdict(row: &ClaimRow, ours: Option<f64>) -> NumberVerdict {
    let Some(ours) = ours else { return NumberVerdict::OutOfTolerance };
    let meets_paper = is_near(ours, row.paper, row.tolerance);
    match &row.expected {
        None if meets_paper => NumberVerdict::Reproduced,
        Some(expected) if !meets_paper && is_near(ours, expected.value, expected.tolerance) => {
            NumberVerdict::DiffersExplained
        }
        _ => NumberVerdict::OutOfTolerance,
    }
}

fn counts(claims: &[ClaimDocument]) -> OutcomeCounts {
    let mut counts = OutcomeCounts::default();
    for row in claims.iter().flat_map(|claim| &claim.rows) {
        match row.verdict {
            NumberVerdict::Reproduced => counts.reproduced += 1,
            NumberVerdict::DiffersExplained => counts.differs_explained += 1,
            NumberVerdict::OutOfTolerance => counts.out_of_tolerance += 1,
            NumberVerdict::NotRun => counts.not_run += 1,
        }
    }
    counts
}

/// Returns the names of the fixed values, by axis.
pub fn named(point: &Point, open: &[usize], axes: &[Axis]) -> BTreeMap<String, String> {
    let fixed = axes.iter().enumerate().zip(point).filter(|((at, _), _)| !open.contains(at));
    let name = |axis: &Axis, value: usize| (axis.name.clone(), axis.values[value].name.clone());
    fixed.filter_map(|((_, axis), value)| Some(name(axis, (*value)?))).collect()
}

fn axis(axis: &Axis) -> AxisDocument {
    AxisDocument {
        name: axis.name.clone(),
        label: axis.label.clone(),
        note: axis.note.clone(),
        values: axis.values.iter().map(|value| value.name.clone()).collect(),
    }
}

fn metrics(declaration: &Declaration) -> Vec<MetricNamed> {
    let of = declaration.metrics.iter().map(|metric| MetricNamed {
        name: metric.name.clone(),
        label: metric.label.clone(),
        unit: metric.unit.clone(),
    });
    of.collect()
}

fn curve(curve: &Curve) -> CurveNamed {
    CurveNamed {
        name: curve.name.clone(),
        label: curve.label.clone(),
        unit: curve.unit.clone(),
        x_label: curve.x_label.clone(),
    }
}

fn of_case(
    declaration: &Declaration,
    case: &Case,
    load: &serde_json::Value,
    measured: &Measured,
) -> CaseDocument {
    let device = DeviceDocument::new(&case.config, 0);
    let point: Point = case.place.iter().map(|&value| Some(value)).collect();
    let spread = |at: usize| measured.spread(&case.place, at).map(spread);
    let metrics = declaration.metrics.iter().enumerate();
    let curves = measured.curves_at(&case.place).into_iter().flatten();
    let curve = |(&at, curve): (&usize, &CurveDocument)| {
        (declaration.curves[at].name.clone(), curve.clone())
    };
    CaseDocument {
        at: named(&point, &[], &declaration.axes),
        device: device.name,
        config_blake3: device.config_blake3,
        load: load["name"].as_str().unwrap_or_default().to_owned(),
        load_blake3: load["digest_blake3"].as_str().map(str::to_owned),
        metrics: metrics.map(|(at, metric)| (metric.name.clone(), spread(at))).collect(),
        curves: curves.map(curve).collect(),
    }
}

fn spread(spread: Spread) -> SpreadDocument {
    SpreadDocument {
        mean: spread.mean.value,
        standard_deviation: spread.standard_deviation,
        low: spread.mean.low,
        high: spread.mean.high,
    }
}
