//! Heat maps as tables of numbers on a terminal: 80 columns, without colours.

use std::io::{self, Write};

use ftlab_lab::reproduce::{Estimate, HeatMap, MapPanel};

use crate::table::wrapped;

/// The maximum width of a line.
const WIDTH: usize = 80;
/// The space between columns.
const ROOM: usize = 2;
/// Stands for an unknown value.
const NONE: &str = "-";

/// Prints heat maps, each below the title of its figure.
pub fn print(maps: &[(String, HeatMap)], out: &mut dyn Write) -> io::Result<()> {
    for (title, map) in maps {
        writeln!(out)?;
        wrapped(out, "", title)?;
        wrapped(out, "", &map.title())?;
        let axes = format!("{} down, {} across", map.rows.title, map.columns.title);
        wrapped(out, "", &axes)?;
        map.panels.iter().try_for_each(|panel| print_panel(map, panel, out))?;
    }
    Ok(())
}

fn print_panel(map: &HeatMap, panel: &MapPanel, out: &mut dyn Write) -> io::Result<()> {
    if !panel.title.is_empty() {
        wrapped(out, "  ", &panel.title)?;
    }
    let cells: Vec<Vec<String>> =
        panel.cells.iter().map(|row| row.iter().map(|cell| told(map, cell)).collect()).collect();
    let wide = |text: &String| text.chars().count();
    let names = map.rows.values.iter().map(wide).max().unwrap_or_default() + ROOM;
    let all = cells.iter().flatten().chain(&map.columns.values);
    let column = all.map(wide).max().unwrap_or_default() + ROOM;
    // Columns that do not fit are printed below.
    let at_once = (WIDTH.saturating_sub(names) / column).max(1);
    let count = map.columns.values.len();
    for from in (0..count).step_by(at_once) {
        let to = (from + at_once).min(count);
        let line = |name: &str, texts: &[String]| {
            let texts: String = texts.iter().map(|text| format!("{text:>column$}")).collect();
            format!("{name:>names$}{texts}")
        };
        writeln!(out, "{}", line("", &map.columns.values[from..to]))?;
        for (name, row) in map.rows.values.iter().zip(&cells) {
            writeln!(out, "{}", line(name, &row[from..to]))?;
        }
    }
    Ok(())
}

fn told(map: &HeatMap, cell: &Option<Estimate>) -> String {
    let Some(cell) = cell else { return NONE.to_owned() };
    let half = map.half(cell).map_or(String::new(), |half| format!(" ±{half}"));
    format!("{}{half}", map.number(cell.value))
}
