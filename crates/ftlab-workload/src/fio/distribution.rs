//! `random_distribution`: parsing, and drawing of uniform and zoned places.

use ftlab::engine::Stream;

use super::job::Distribution;
use super::values::{Amount, Bad, MILLION, NumberBase, bad, per_cent, sectors};

/// The most zones, as in fio.
const MAX_ZONES: usize = 256;
/// Above this nearly every request goes to the first place.
const MAX_THETA: f64 = 10.0;

/// Returns the texts for reads, writes and trims. Only zones may differ between them.
pub(super) fn parts(value: &str) -> [String; 3] {
    let Some((kind, zones)) = value.split_once(':').filter(|(kind, _)| kind.starts_with("zoned"))
    else {
        return [(); 3].map(|()| value.to_owned());
    };
    let parts: Vec<&str> = zones.split(',').collect();
    [0, 1, 2].map(|at| {
        let part = parts.get(at).or(parts.last()).expect("splitting gives one part or more");
        format!("{kind}:{part}")
    })
}

/// Parses one of these texts.
pub(super) fn parse(text: &str, base: NumberBase) -> Result<Distribution, Bad> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "random" => Ok(Distribution::Uniform),
        "zoned" | "zoned_abs" => zones(rest, kind == "zoned_abs", base).map(Distribution::Zoned),
        "zipf" | "pareto" | "normal" => skewed(kind, rest),
        _ => bad(
            "unknown distribution",
            "known: random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:ACCESSES/SPACE:...",
        ),
    }
}

fn skewed(kind: &str, rest: &str) -> Result<Distribution, Bad> {
    let (value, center) = match rest.split_once(':') {
        Some((value, center)) => (value, Some(center)),
        None => (rest, None),
    };
    let parse = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let center = match center.map(|text| parse(text).filter(|c| (0.0..=1.0).contains(c))) {
        Some(None) => return bad("the centre is not a number from 0 to 1", "leave it out"),
        center => center.flatten(),
    };
    let value = parse(value);
    match kind {
        "zipf" => {
            match value.filter(|theta| *theta > 0.0 && *theta <= MAX_THETA && *theta != 1.0) {
                Some(theta) => Ok(Distribution::Zipf { theta, center }),
                None => bad("theta must be above 0, at most 10 and not 1", "write zipf:1.2"),
            }
        }
        "pareto" => match value.filter(|power| *power > 0.0 && *power < 1.0) {
            Some(power) => Ok(Distribution::Pareto { power, center }),
            None => bad("the power must be between 0 and 1", "write pareto:0.2"),
        },
        _ => match value.filter(|deviation| *deviation > 0.0 && *deviation < 100.0) {
            Some(deviation) => Ok(Distribution::Normal { deviation: deviation / 100.0, center }),
            None => bad("the deviation must be between 0 and 100", "write normal:10"),
        },
    }
}

fn zones(text: &str, absolute: bool, base: NumberBase) -> Result<Vec<(u64, Amount)>, Bad> {
    let remedy = "write ACCESSES/SPACE:..., accesses and, unless absolute, space summing to 100";
    let mut zones = Vec::new();
    for part in text.split(':') {
        let Some((accesses, space)) = part.split_once('/') else {
            return bad("a zone has no space", remedy);
        };
        let space = match absolute {
            true => Amount::Sectors(sectors(space, base)?),
            false => Amount::Share(per_cent(space, 100)?),
        };
        zones.push((per_cent(accesses, 100)?, space));
    }
    let accesses: u64 = zones.iter().map(|zone| zone.0).sum();
    let space: u64 = zones
        .iter()
        .map(|zone| match zone.1 {
            Amount::Share(ppm) => ppm,
            Amount::Sectors(_) | Amount::Zones(_) => 0,
        })
        .sum();
    let empty = zones
        .iter()
        .any(|zone| matches!(zone.1, Amount::Sectors(0) | Amount::Share(0)) && zone.0 > 0);
    if zones.len() > MAX_ZONES || accesses != MILLION || (!absolute && space != MILLION) || empty {
        return bad("zones that do not sum to 100, without space, or more than 256", remedy);
    }
    Ok(zones)
}

/// Draws uniform places, within zones or of the whole file; [`skew`](super::skew) has the other
/// distributions.
#[derive(Clone, Debug)]
pub(super) enum Draw {
    Uniform,
    /// By zone: the cumulative accesses in millionths, and its end in places.
    Zoned(Vec<(u64, u64)>),
}

impl Draw {
    /// Creates a draw from `places` of `unit` sectors each.
    pub fn new(of: &Distribution, places: u64, unit: u64) -> Draw {
        let Distribution::Zoned(zones) = of else { return Draw::Uniform };
        let whole = places * unit;
        let (mut accesses, mut end) = (0, 0);
        let list = zones.iter().map(|(share, space)| {
            accesses += share;
            end = (end + space.of(whole).div_ceil(unit)).min(places);
            (accesses, end)
        });
        Draw::Zoned(list.collect())
    }

    /// Returns a place below `places`.
    pub fn draw(&self, places: u64, stream: &mut Stream) -> u64 {
        match self {
            Draw::Uniform => stream.below(places),
            Draw::Zoned(zones) => {
                let drawn = stream.below(MILLION);
                let at = zones.partition_point(|zone| zone.0 <= drawn);
                let begin = at.checked_sub(1).map_or(0, |before| zones[before].1);
                match zones[at].1.saturating_sub(begin) {
                    0 => stream.below(places),
                    width => begin + stream.below(width),
                }
            }
        }
    }
}
