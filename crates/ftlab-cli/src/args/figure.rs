//! Arguments of `ftlab figure`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ftlab_lab::figure::FigureCurve;

use super::confidence;

/// `ftlab figure`.
#[derive(Debug, Args)]
#[command(
    after_help = "PDF, SVG and PNG are drawn by matplotlib, with ftlab's Python package; JSON and CSV have the numbers and need \
                  nothing."
)]
pub struct FigureArgs {
    /// The folder of a sweep, of a comparison, or of several runs under the same load; the first is the baseline.
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
    /// Draw a metric, such as read.latency.p99: a number of each run. May be repeated; each has its own panel.
    #[arg(short, long = "metric", value_name = "KEY")]
    pub metrics: Vec<String>,
    /// Draw a curve: many numbers of each run. May be repeated; each has its own panel.
    #[arg(short, long = "curve", value_name = "NAME", value_parser = parse_curve())]
    pub curves: Vec<FigureCurve>,
    /// The file to write. Its name ends in .pdf, .svg or .png, or in .json or .csv for the numbers alone.
    #[arg(short, long, value_name = "FILE", default_value = "figure.pdf")]
    pub output: PathBuf,
    /// The axis of a sweep that is the horizontal one; by default the first.
    #[arg(long, value_name = "AXIS", help_heading = "What is drawn")]
    pub along: Option<String>,
    /// Draw only the points of a sweep with this value on an axis; may be repeated.
    #[arg(long, value_name = "AXIS=VALUE", value_parser = parse_pair, help_heading = "What is drawn")]
    pub only: Vec<(String, String)>,
    /// Draw changes against the first variant, with their paired intervals.
    #[arg(long, help_heading = "What is drawn")]
    pub relative: bool,
    /// Call a variant or a value otherwise; may be repeated.
    #[arg(long = "rename", value_name = "OLD=NEW", value_parser = parse_pair, help_heading = "What is drawn")]
    pub names: Vec<(String, String)>,
    /// Draw values on a logarithmic scale.
    #[arg(long, help_heading = "What is drawn")]
    pub log: bool,
    /// The confidence level of the intervals; those of a sweep have theirs already.
    #[arg(long, default_value = "95%", value_name = "X", value_parser = confidence, help_heading = "What is drawn")]
    pub confidence: f64,
    /// How many columns of a paper the figure is wide: 1 is 3.33 inches, 2 are 7 inches.
    #[arg(long, default_value = "1", value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    #[arg(help_heading = "How it looks")]
    pub columns: u8,
    /// Its width, such as 88mm or 3.5in, in place of that of columns.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, conflicts_with = "columns")]
    #[arg(help_heading = "How it looks")]
    pub width: Option<f64>,
    /// Its height, such as 60mm; by default one that fits its panels.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, help_heading = "How it looks")]
    pub height: Option<f64>,
    /// The font: sans, serif (as Times), or the name of one that is installed.
    #[arg(long, default_value = "sans", value_name = "NAME", help_heading = "How it looks")]
    pub font: String,
    /// The size of labels; marks of axes and legends are smaller by an eighth.
    #[arg(long, default_value = "8pt", value_name = "SIZE", value_parser = parse_points)]
    #[arg(help_heading = "How it looks")]
    pub font_size: f64,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Print nothing.
    #[arg(short, long)]
    pub quiet: bool,
}

fn parse_curve() -> impl TypedValueParser<Value = FigureCurve> {
    let value = |curve: FigureCurve| PossibleValue::new(curve.name()).help(curve.about());
    let names = PossibleValuesParser::new(FigureCurve::ALL.map(value));
    names.try_map(|name| FigureCurve::named(&name).map_err(|failure| failure.to_string()))
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("write two names with = between them".to_owned()),
    }
}

/// The units of lengths, in millimetres.
const LENGTHS: [(&str, f64); 4] = [("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("pt", 25.4 / 72.0)];
/// The lengths that a figure can have, in millimetres.
const POSSIBLE: std::ops::RangeInclusive<f64> = 20.0..=1000.0;
/// The sizes that a font can have, in points.
const LEGIBLE: std::ops::RangeInclusive<f64> = 4.0..=40.0;

/// Parses a length into millimetres.
fn parse_length(text: &str) -> Result<f64, String> {
    let length = LENGTHS.iter().find_map(|(unit, millimetres)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * millimetres)
    });
    let possible = length.filter(|length| POSSIBLE.contains(length));
    possible.ok_or_else(|| {
        "write a length from 20mm to 1000mm, such as 88mm, 8.8cm, 3.5in or 252pt".to_owned()
    })
}

fn parse_points(text: &str) -> Result<f64, String> {
    let size = text.strip_suffix("pt").unwrap_or(text).trim().parse().ok();
    size.filter(|size| LEGIBLE.contains(size))
        .ok_or_else(|| "write a size from 4pt to 40pt, such as 8pt".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let near =
            |text: &str, millimetres: f64| (parse_length(text).unwrap() - millimetres).abs() < 1e-9;
        assert!(
            near("88mm", 88.0)
                && near("8.8 cm", 88.0)
                && near("3.5in", 88.9)
                && near("252pt", 88.9)
        );
        for bad in ["88", "mm", "-88mm", "3m", "1mm", "nanmm", ""] {
            assert!(parse_length(bad).is_err(), "{bad}");
        }
        assert_eq!((parse_points("8pt"), parse_points("9.5")), (Ok(8.0), Ok(9.5)));
        for bad in ["8px", "0pt", "99pt", ""] {
            assert!(parse_points(bad).is_err(), "{bad}");
        }
    }
}
