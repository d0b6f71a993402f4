//! A figure's data as a table: what somebody needs to draw it with another tool.

use super::document::{FigureDocument, FigurePanel};
use crate::failure::Failure;

impl FigureDocument {
    /// Returns a row for each point, as CSV.
    ///
    /// # Errors
    /// The table cannot be written.
    pub fn csv(&self) -> Result<String, Failure> {
        let mut to = csv::Writer::from_writer(Vec::new());
        let head = ["panel", "unit", "against", "line", "along", "x_unit", "x", "y", "low", "high"];
        to.write_record(head).map_err(Failure::usage)?;
        for panel in &self.panels {
            for row in rows(panel) {
                to.write_record(row).map_err(Failure::usage)?;
            }
        }
        let bytes = to.into_inner().map_err(Failure::usage)?;
        String::from_utf8(bytes).map_err(Failure::usage)
    }
}

fn rows(panel: &FigurePanel) -> impl Iterator<Item = [String; 10]> {
    let place = |x: f64| match &panel.x.names {
        Some(names) => names.get(x as usize).cloned().unwrap_or_default(),
        None => x.to_string(),
    };
    let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    panel.lines.iter().flat_map(move |line| {
        line.points.iter().map(move |point| {
            [
                panel.y.label.clone(),
                panel.y.unit.clone(),
                panel.against.clone().unwrap_or_default(),
                line.name.clone(),
                panel.x.label.clone(),
                panel.x.unit.clone(),
                place(point.x),
                number(point.y),
                number(point.low),
                number(point.high),
            ]
        })
    })
}
