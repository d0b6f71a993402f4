//! The arguments of `ftlab torture`.

use std::time::Duration;

use clap::Args;
use ftlab_torture::crash::{DESIGNS, Design};

use super::{jobs, seed};

/// `ftlab torture`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("much").required(true).args(["cuts", "hours", "replay"])))]
#[command(
    after_help = "Exit codes: 0 nothing was lost, 1 something was, 2 usage, 130 interrupted."
)]
pub struct TortureArgs {
    /// Perform at least this many power cuts; the last case is finished.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cuts: Option<u64>,
    /// Run for this long: hours, or a time with its unit, such as 30min, 90s or 2h.
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(allow_negative_numbers = true)]
    pub hours: Option<Duration>,
    /// Run one case again: the line that a failure printed.
    #[arg(long, value_name = "LINE", conflicts_with_all = ["seed", "jobs", "design"])]
    pub replay: Option<String>,
    /// The first seed. Each seed is one case of every design.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: u64,
    /// Test only this design; may be repeated. By default all designs take turns.
    #[arg(long, value_name = "NAME", value_parser = design)]
    pub design: Vec<&'static Design>,
    /// How many cases to run at once; by default one per processor. It does not change the
    /// findings.
    #[arg(short, long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<u32>,
    /// Print JSON instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Print neither the table nor progress, only the findings.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

fn design(name: &str) -> Result<&'static Design, String> {
    Design::named(name).ok_or_else(|| {
        let known: Vec<_> = DESIGNS.iter().map(|design| design.name).collect();
        format!("there is no such design; there are {}", known.join(", "))
    })
}

/// Parses hours, or a number with its unit.
fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] =
        [("min", 60.0), ("h", 3_600.0), ("s", 1.0), ("d", 86_400.0), ("", 3_600.0)];
    let help = || format!("`{text}` is no time: write hours, such as 0.5, or 30min, 90s, 2h, 1d");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = text[digits.len()..].trim_start();
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(help)?;
    let number: f64 = digits.parse().map_err(|_| help())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(time) if time >= Duration::from_secs(1) => Ok(time),
        Ok(_) => Err("less than a second is no time for a crash test".to_owned()),
        Err(_) => Err(help()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_hours_or_have_a_unit() {
        let told = ["2", "0.5", "30min", "90s", "1.5 h", "1d"].map(|text| time(text).unwrap());
        assert_eq!(told.map(|time| time.as_secs()), [7_200, 1_800, 1_800, 90, 5_400, 86_400]);
        for bad in ["", "0", "-1", "min", "3 weeks", "nan", "inf", "1e300", "0.1s"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
