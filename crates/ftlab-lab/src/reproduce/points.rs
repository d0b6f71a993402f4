//! The points of figures of metrics, for `result.json`.

use ftlab::options::value::Value;

use super::declaration::{
    Coordinates, Declaration, Drawn, Figure, FigureKind, Point, Quantity, places,
};
use super::document::{FigureDocument, PointDocument};
use super::judge::named;
use super::measure::Measured;

/// Returns the points of all figures except those of curves.
pub fn of(
    declaration: &Declaration,
    figures: &[Figure],
    measured: &Measured,
) -> Vec<FigureDocument> {
    figures.iter().filter_map(|figure| drawn(declaration, figure, measured)).collect()
}

fn drawn(
    declaration: &Declaration,
    figure: &Figure,
    measured: &Measured,
) -> Option<FigureDocument> {
    let axes = &declaration.axes;
    let (kind, quantities) = match &figure.drawn {
        Drawn::Curves(_) => return None,
        Drawn::Map(across) => (FigureKind::Heatmap, vec![across.quantity.clone()]),
        Drawn::Metrics(along) => {
            let of = |&metric: &usize| Quantity {
                metric,
                form: along.form,
                against: along.against.clone(),
                mean_over: Vec::new(),
            };
            (along.kind, along.metrics.iter().map(of).collect())
        }
    };
    let open: Vec<_> =
        figure.open().into_iter().map(|axis| (axis, figure.shown(axis, axes))).collect();
    let places = places(&figure.at, &open);
    let point = |quantity: &Quantity, place: &Coordinates| {
        let at: Point = place.iter().map(|&value| Some(value)).collect();
        let found = measured.quantity(quantity, &at);
        let metric = &declaration.metrics[quantity.metric];
        PointDocument {
            at: named(&at, &[], axes),
            metric: metric.name.clone(),
            unit: quantity.form.unit(&metric.unit).to_owned(),
            value: found.map(|found| found.value),
            low: found.and_then(|found| found.low),
            high: found.and_then(|found| found.high),
        }
    };
    let points = quantities.iter().flat_map(|one| places.iter().map(|place| point(one, place)));
    let first = &quantities[0];
    Some(FigureDocument {
        title: figure.title.clone(),
        kind: kind.print(),
        form: first.form.print(),
        against: named(&first.against, &[], axes),
        points: points.collect(),
    })
}
