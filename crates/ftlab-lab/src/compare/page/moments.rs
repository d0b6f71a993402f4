//! The time lines of results that have one (`timeline.pftrace`), for the page's panels.

use std::fs;

use super::super::build::Series;
use super::super::finished::Finished;
use crate::failure::Failure;
use crate::result::MOMENTS;
use crate::timeline::{Moment, TimelinePanel, panel};

/// Returns the time lines of the variants, each from the first seed that has one; with the names of the variants if there
/// are several.
pub fn of(series: &[Series]) -> Result<Vec<Moment>, Failure> {
    let mut moments = Vec::new();
    for one in series {
        let title = if series.len() > 1 { one.name.clone() } else { String::new() };
        for (_, result) in &one.results {
            if let Some(panel) = read(result)? {
                moments.push(Moment { title, about: None, panel });
                break;
            }
        }
    }
    Ok(moments)
}

fn read(result: &Finished) -> Result<Option<TimelinePanel>, Failure> {
    let path = result.folder.join(MOMENTS);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
    let drawn = panel(&bytes, result.measured_from_ns()).map_err(|why| {
        let path = path.display();
        Failure::usage(format!("can't use {path}: {why}\n  remedy: run it again with `timeline`"))
    })?;
    Ok(Some(drawn))
}
