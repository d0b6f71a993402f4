//! The layout of a figure's data.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::failure::Failure;

/// The version of the layout. It increases when a key is renamed, removed or changes its meaning.
const SCHEMA_VERSION: u32 = 1;
/// What the document is.
const KIND: &str = "figure";
/// More lines are not told apart, and their names leave no room for them.
const MOST_LINES: usize = 12;
/// More values have names that overlap, however wide the figure is.
const MOST_NAMES: usize = 40;

/// A figure: panels side by side or one below the other.
#[derive(Clone, Debug, Serialize)]
pub struct FigureDocument {
    /// `figure`.
    pub kind: &'static str,
    /// The version of this layout.
    pub schema_version: u32,
    /// The version of ftlab.
    pub ftlab_version: &'static str,
    /// What it is to look like; null where the one who draws it decides.
    pub look: Option<FigureLook>,
    /// Its panels.
    pub panels: Vec<FigurePanel>,
}

/// What a figure is to look like.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FigureLook {
    /// Its width in millimetres.
    pub width_mm: f64,
    /// Its height in millimetres; null for one that fits its panels.
    pub height_mm: Option<f64>,
    /// `sans`, `serif` or the name of a font.
    pub font: String,
    /// The size of the labels of its axes in points.
    pub font_size_pt: f64,
}

/// A panel.
#[derive(Clone, Debug, Serialize)]
pub struct FigurePanel {
    /// The horizontal axis.
    pub x: FigureAxis,
    /// The vertical axis.
    pub y: FigureAxis,
    /// The variant that values are changes against; null if they are no changes.
    pub against: Option<String>,
    /// How its points are drawn.
    pub drawn: Drawn,
    /// What its lines differ in; empty where their names say it.
    pub legend: String,
    /// The confidence level of the intervals; null without intervals.
    pub confidence_ratio: Option<f64>,
    /// Its lines.
    pub lines: Vec<FigureLine>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// As marks with intervals: there is nothing between the places of the axis.
    Marks,
    /// As marks with intervals, joined by lines.
    Lines,
    /// As steps: a value holds up to the next point.
    Steps,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureAxis {
    /// Its label, without its unit.
    pub label: String,
    /// The unit of its numbers; empty for plain numbers and names.
    pub unit: String,
    /// Whether its scale is logarithmic.
    pub log: bool,
    /// The names of its places, which are numbered from 0; null if it has numbers.
    pub names: Option<Vec<String>>,
    /// The numbers that are to be marked; null if the one who draws it decides.
    pub ticks: Option<Vec<f64>>,
}

/// A line.
#[derive(Clone, Debug, Serialize)]
pub struct FigureLine {
    /// Its name; empty if it is the only one.
    pub name: String,
    /// Its points, in the order of `x`.
    pub points: Vec<FigurePoint>,
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FigurePoint {
    /// Its place on the horizontal axis.
    pub x: f64,
    /// Its value; null where there is none, so that a line has a gap.
    pub y: Option<f64>,
    /// The lower end of its interval; null without one.
    pub low: Option<f64>,
    /// The upper end of its interval; null without one.
    pub high: Option<f64>,
}

impl FigurePoint {
    /// Creates a point without an interval.
    #[must_use]
    pub fn at(x: f64, y: Option<f64>) -> FigurePoint {
        FigurePoint { x, y, low: None, high: None }
    }
}

impl FigureAxis {
    /// Creates a linear axis of numbers.
    #[must_use]
    pub fn numbers(label: impl Into<String>, unit: impl Into<String>) -> FigureAxis {
        FigureAxis { label: label.into(), unit: unit.into(), log: false, names: None, ticks: None }
    }

    /// Creates an axis of names.
    #[must_use]
    pub fn named(label: impl Into<String>, names: Vec<String>) -> FigureAxis {
        FigureAxis { names: Some(names), ..FigureAxis::numbers(label, "") }
    }

    /// Creates the axis of a metric. Names of metrics may end with their unit.
    #[must_use]
    pub fn of_metric(name: &str, unit: &str) -> FigureAxis {
        let bare = name.strip_suffix(unit).and_then(|name| name.strip_suffix(", "));
        // "IOPS" says it all.
        let unit = if unit == "1/s" { "" } else { unit };
        FigureAxis::numbers(bare.unwrap_or(name), unit)
    }
}

impl FigureDocument {
    /// Creates a figure of these panels, in which some names of lines and places are replaced.
    pub(super) fn new(
        panels: Vec<FigurePanel>,
        names: &[(String, String)],
    ) -> Result<FigureDocument, Failure> {
        let mut document = FigureDocument {
            kind: KIND,
            schema_version: SCHEMA_VERSION,
            ftlab_version: env!("CARGO_PKG_VERSION"),
            look: None,
            panels,
        };
        document.rename(names)?;
        document.check()?;
        Ok(document)
    }

    fn rename(&mut self, names: &[(String, String)]) -> Result<(), Failure> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut left: Vec<&str> = names.iter().map(|(old, _)| old.as_str()).collect();
        for panel in &mut self.panels {
            let lines = panel.lines.iter_mut().map(|line| &mut line.name);
            let places = panel.x.names.iter_mut().flatten().chain(&mut panel.against);
            for name in lines.chain(places) {
                known.insert(name.clone());
                if let Some((old, new)) = names.iter().find(|(old, _)| old == name) {
                    left.retain(|one| one != old);
                    name.clone_from(new);
                }
            }
        }
        known.remove("");
        if let Some((old, new)) = names.iter().find(|(old, new)| old != new && known.contains(new))
        {
            return Err(Failure::usage(format!(
                "{old} can't be called {new}: something else in the figure is called so\n  remedy: choose another name"
            )));
        }
        match left.first() {
            None => Ok(()),
            Some(unknown) => Err(Failure::usage(format!(
                "nothing in the figure is called {unknown}\n  remedy: the names are {}",
                Vec::from_iter(known).join("; ")
            ))),
        }
    }

    /// Refuses a figure that nobody could read.
    fn check(&self) -> Result<(), Failure> {
        let names = |panel: &FigurePanel| panel.x.names.as_ref().map_or(0, Vec::len);
        for panel in &self.panels {
            if panel.lines.len() > MOST_LINES {
                return Err(Failure::usage(format!(
                    "{}: {} lines are not told apart\n  remedy: at most {MOST_LINES} are drawn; choose some with `only`, or \
                     draw them along another axis (`along`)",
                    panel.y.label,
                    panel.lines.len()
                )));
            }
            if names(panel) > MOST_NAMES {
                return Err(Failure::usage(format!(
                    "{}: {} names have no room below a figure\n  remedy: at most {MOST_NAMES} have; choose some with `only`",
                    panel.y.label,
                    names(panel)
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_repeat_their_unit() {
        let label = |name, unit| {
            let axis = FigureAxis::of_metric(name, unit);
            (axis.label, axis.unit)
        };
        let texts = |label: &str, unit: &str| (label.to_owned(), unit.to_owned());
        assert_eq!(label("throughput, MB/s", "MB/s"), texts("throughput", "MB/s"));
        assert_eq!(label("IOPS", "1/s"), texts("IOPS", ""));
        assert_eq!(label("read latency, p99", "ns"), texts("read latency, p99", "ns"));
        assert_eq!(label("write amplification", ""), texts("write amplification", ""));
    }
}
