//! Arguments of `ftlab why`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ftlab::host::Op;

/// `ftlab why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// The result folder of `ftlab run`. The run is performed twice more, with the arguments that the folder states:
    /// once to find the requests, once to see what the device did meanwhile.
    pub result: PathBuf,
    /// Tell about the request with this index, as in requests.parquet.
    #[arg(long, value_name = "N", conflicts_with_all = ["slowest", "op", "tail"])]
    pub request: Option<u64>,
    /// Tell about so many of the slowest requests of each operation.
    #[arg(long, value_name = "K", default_value = "1", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub slowest: u16,
    /// Tell about one operation alone.
    #[arg(long, value_parser = parse_op())]
    pub op: Option<Op>,
    /// The slowest share of requests that is summed up, at most 2,000 of each operation.
    #[arg(long, value_name = "SHARE", default_value = "0.1%", value_parser = parse_share)]
    pub tail: u64,
    /// Also write a page with the answer and the time line of each request that is told.
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Also write the time line of the requests that are told, for https://ui.perfetto.dev.
    #[arg(long, value_name = "FILE.pftrace")]
    pub timeline: Option<PathBuf>,
    /// Replace files of these kinds.
    #[arg(long)]
    pub force: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Reads the name of an operation.
fn parse_op() -> impl TypedValueParser<Value = Op> {
    let names = PossibleValuesParser::new(Op::ALL.map(Op::name));
    names.try_map(|name| Op::named(&name).ok_or("there is no such operation"))
}

/// Parses a share such as 0.1%, in millionths.
fn parse_share(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let share = share.ok_or_else(|| "write a share from 0.0001% to 100%, such as 0.1%".to_owned());
    share.map(|percent| ((percent * 10_000.0).round() as u64).max(1))
}
