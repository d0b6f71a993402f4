//! The figures of a data sheet, measured on the guessed device: scaled down, so that it takes minutes at most.

use ftlab::config::Config;
use ftlab::config::scale::{Factor, scale};
use ftlab::options::Layer;
use ftlab::stats::Report;
use ftlab_lab::experiment::{Experiment, LoadSource, RunOptions};

use crate::failure::Failure;
use crate::interrupt;

/// About as much is simulated.
const CAPACITY: u64 = 32_000_000_000;

/// How a figure is measured.
struct Run {
    /// The figure, as the closed forms call it.
    figure: &'static str,
    workload: &'static str,
    precondition: Option<&'static str>,
    queue_depth: u32,
    requests: u64,
    /// Options that are set: data sheets state some figures for the flash behind a cache, and no figure needs blocks
    /// that wear out, for which a small device would set too many aside.
    sets: &'static [&'static str],
    told: fn(&Report) -> Option<MeasuredFigure>,
}

/// A measured figure.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredFigure {
    /// In the unit of the closed form.
    pub number: f64,
    /// As it is printed.
    pub text: String,
}

fn rate(number: f64) -> MeasuredFigure {
    MeasuredFigure { number, text: format!("{number:.0} MB/s") }
}

fn latency(ns: f64) -> MeasuredFigure {
    let number = ns / 1e3;
    MeasuredFigure { number, text: format!("{number:.1} us") }
}

fn read_rate(report: &Report) -> Option<MeasuredFigure> {
    report.host.read.throughput_mb_per_s.map(rate)
}

fn write_rate(report: &Report) -> Option<MeasuredFigure> {
    report.host.write.throughput_mb_per_s.map(rate)
}

fn iops(report: &Report) -> Option<MeasuredFigure> {
    report.host.iops.map(|number| MeasuredFigure { number, text: format!("{number:.0} IOPS") })
}

fn read_latency(report: &Report) -> Option<MeasuredFigure> {
    report.host.read.latency_ns.mean.map(latency)
}

fn write_latency(report: &Report) -> Option<MeasuredFigure> {
    report.host.write.latency_ns.mean.map(latency)
}

const CACHED: &[&str] = &["nand.endurance.policy=unlimited"];
const NO_CACHE: &[&str] = &["nand.endurance.policy=unlimited", "ftl.slc_cache.policy=none"];

const RUNS: [Run; 7] = [
    Run {
        figure: "sequential read",
        workload: "seqread-128k",
        precondition: Some("fill"),
        queue_depth: 64,
        requests: 30_000,
        sets: CACHED,
        told: read_rate,
    },
    Run {
        figure: "sequential write",
        workload: "seqwrite-128k",
        precondition: None,
        queue_depth: 64,
        requests: 30_000,
        sets: NO_CACHE,
        told: write_rate,
    },
    Run {
        figure: "random read, 4 KiB",
        workload: "randread-4k",
        precondition: Some("fill"),
        queue_depth: 512,
        requests: 300_000,
        sets: CACHED,
        told: iops,
    },
    Run {
        figure: "random write, 4 KiB, steady",
        workload: "randwrite-4k",
        precondition: Some("fill,age"),
        queue_depth: 256,
        requests: 500_000,
        sets: NO_CACHE,
        told: iops,
    },
    Run {
        figure: "read latency, 4 KiB",
        workload: "randread-4k",
        precondition: Some("fill"),
        queue_depth: 1,
        requests: 5_000,
        sets: CACHED,
        told: read_latency,
    },
    Run {
        figure: "write latency, 4 KiB",
        workload: "randwrite-4k",
        precondition: None,
        queue_depth: 1,
        requests: 5_000,
        sets: CACHED,
        told: write_latency,
    },
    Run {
        figure: "sequential write, cached",
        workload: "seqwrite-128k",
        precondition: None,
        queue_depth: 64,
        requests: 5_000,
        sets: CACHED,
        told: write_rate,
    },
];

/// Measures these figures, where it knows how.
pub fn measure(
    config: &Config,
    figures: &[&'static str],
) -> Result<Vec<Option<MeasuredFigure>>, Failure> {
    interrupt::listen()?;
    let run_of = |figure: &&'static str| RUNS.iter().find(|run| run.figure == *figure);
    figures.iter().map(|figure| run_of(figure).map_or(Ok(None), |run| one(config, run))).collect()
}

fn one(config: &Config, run: &Run) -> Result<Option<MeasuredFigure>, Failure> {
    let config = small(&set(config, run.sets)?)?;
    let mut options = RunOptions {
        precondition: run.precondition.map(str::to_owned),
        requests: Some(run.requests),
        ..RunOptions::default()
    };
    options.queue_depth = Some(run.queue_depth);
    let experiment = Experiment::new(LoadSource::workload(run.workload)?, &options)?;
    experiment.check(&config, 1)?;
    let measured = interrupt::lab(Some(1)).run(&experiment, &config, 1, &mut (), None)?;
    Ok((run.told)(&measured.document.report))
}

fn set(config: &Config, sets: &[&str]) -> Result<Config, Failure> {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<Layer> =
        std::iter::once(Layer::saved("the guess", &config.canonical())).chain(sets).collect();
    Config::load(&layers).map_err(Failure::usage)
}

/// The device with about [`CAPACITY`].
fn small(config: &Config) -> Result<Config, Failure> {
    let bytes = u64::from(config.logical_pages()) * config.volume().mapping_unit.0;
    match bytes.div_ceil(CAPACITY) {
        0 | 1 => Ok(config.clone()),
        parts => {
            let factor = Factor::parse(&format!("1/{parts}")).map_err(Failure::usage)?;
            Ok(scale(config, factor).map_err(Failure::usage)?.config)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab::config::datasheet::{Sheet, guess};
    use ftlab::options::value::Value;

    /// The names of figures tie both together.
    #[test]
    fn all_figures_are_measured() {
        let (cell, link) = (Value::parse("tlc").unwrap(), Value::parse("pcie-4x4").unwrap());
        let sheet = Sheet {
            slc_cache: Some(Value::parse("100GB").unwrap()),
            ..Sheet::new("mine".to_owned(), Value::parse("1TB").unwrap(), cell, link)
        };
        let rows = guess(&sheet).unwrap().rows;
        let figures: Vec<&str> = rows.iter().map(|row| row.figure).collect();
        let measured: Vec<&str> = RUNS.iter().map(|run| run.figure).collect();
        assert_eq!(figures, measured);
    }

    /// Writes at depth 1 meet the buffer: the simulator agrees with command + link + DRAM.
    #[test]
    fn a_measured_latency_is_that_of_the_closed_form() {
        let (cell, link) = (Value::parse("tlc").unwrap(), Value::parse("sata-3").unwrap());
        let sheet = Sheet {
            write_latency: Some(Value::parse("65us").unwrap()),
            ..Sheet::new("mine".to_owned(), Value::parse("32GB").unwrap(), cell, link)
        };
        let guess = guess(&sheet).unwrap();
        let measured = measure(&guess.config, &["write latency, 4 KiB"]).unwrap();
        let [Some(MeasuredFigure { number, text })] = measured.as_slice() else {
            panic!("one figure")
        };
        assert!((number - 65.0).abs() < 0.5, "{text}");
    }
}
