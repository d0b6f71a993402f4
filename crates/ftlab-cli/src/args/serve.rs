//! The arguments of `ftlab serve` and `ftlab ctl`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use ftlab::options::value::Value;
use ftlab::units::{Bytes, Nanos};
use ftlab_lab::load::parse_format;
use ftlab_nbd::control::{Clock, LEAST_CUT_MS, MOST_CUT_MS};
use ftlab_nbd::server::ExportSpec;
use ftlab_workload::trace::Format;

use super::seed;

/// `ftlab serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// A built-in device (see `ftlab list devices`) or a TOML file; by default that of the data file, or of --image.
    #[arg(value_name = "NAME|FILE")]
    pub device: Option<String>,
    /// Set an option of the device; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// The seed of all random decisions of a new drive; 1 by default.
    #[arg(long, value_name = "N", value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// The file that keeps the drive with its data; made if it is not there. It is sparse: it takes the space of what is
    /// written.
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Give a new drive the state of a saved device. Its pages read as zeros.
    #[arg(long, value_name = "FILE")]
    pub image: Option<String>,
    /// At the end, also save the state of the drive as an image.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Replace that image if it exists.
    #[arg(long, requires = "save")]
    pub force: bool,
    /// Who owns time: wall (an answer leaves when the simulated device would have sent it), simulated (at once), or
    /// scaled:X (simulated time passes X times as fast).
    #[arg(long, value_name = "CLOCK", default_value = "wall")]
    pub clock: Clock,
    /// Cut the power of the drive each time that this has passed, such as 5s.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub cut_every: Option<Duration>,
    /// Record the requests as a trace. It is complete when the server ends in order; until then, and after a kill, it is
    /// in FILE.unfinished.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The format of that trace; by default parquet if the name ends in .parquet, otherwise blkparse.
    #[arg(long, value_name = "FORMAT", value_parser = parse_format, requires = "record")]
    pub record_format: Option<&'static Format>,
    /// Leave out of that trace what its format can't express (of writes with FUA: make them plain), and count that.
    #[arg(long, requires = "record")]
    pub drop_unsupported: bool,
    /// A part of the drive that clients choose by name, one behind the other; may be repeated. By default one without a
    /// name, with everything. A last :ro makes it read-only.
    #[arg(long = "export", value_name = "NAME[:SIZE][:ro]", value_parser = export)]
    pub exports: Vec<ExportSpec>,
    /// Let clients only read.
    #[arg(long, conflicts_with = "exports")]
    pub read_only: bool,
    /// The Unix socket for clients; by default the data file's name with .sock, unless --tcp is given.
    #[arg(long, value_name = "FILE", help_heading = "Clients")]
    pub socket: Option<PathBuf>,
    /// Also listen on a port of this machine, or an address such as 127.0.0.1:10809; may be repeated.
    #[arg(long, value_name = "PORT|ADDRESS", value_parser = address, help_heading = "Clients")]
    pub tcp: Vec<SocketAddr>,
    /// Allow --tcp with addresses that other machines reach. Whoever reaches them can read and write the drive: NBD knows
    /// no passwords, and nothing is encrypted.
    #[arg(long, requires = "tcp", help_heading = "Clients")]
    pub unprotected: bool,
    /// The most clients at once.
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "Clients")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub connections: u16,
    /// Show the live page, and metrics for Prometheus, on a port of this machine.
    #[arg(long, value_name = "PORT|ADDRESS", value_parser = address, help_heading = "Clients")]
    pub http: Option<SocketAddr>,
    /// Print nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ftlab ctl`.
#[derive(Debug, Args)]
pub struct CtlArgs {
    /// The socket of the server, or its data file.
    #[arg(value_name = "SOCKET")]
    pub socket: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub order: CtlOrder,
}

/// What `ftlab ctl` does.
#[derive(Debug, Subcommand)]
pub enum CtlOrder {
    /// Tell what the drive has done and does.
    Stats {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Cut the power of the drive, and restore it.
    Cut {
        /// From now on, each time that this has passed, such as 5s.
        #[arg(long, value_name = "TIME", value_parser = duration)]
        every: Option<Duration>,
        /// Cut no more.
        #[arg(long, conflicts_with = "every")]
        never: bool,
    },
    /// Let a die die.
    KillDie {
        /// Its number, from 0.
        #[arg(value_name = "DIE", value_parser = die)]
        die: u32,
    },
    /// Bring all data to flash; with -o, save the state of the drive as an image.
    Save {
        /// The image to write.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace that image if it exists.
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Follow another clock: wall, simulated or scaled:X.
    Clock {
        /// The clock.
        #[arg(value_name = "CLOCK")]
        clock: Clock,
    },
    /// Save the drive in its data file, and end the server.
    Stop,
}

fn duration(text: &str) -> Result<Duration, String> {
    let (least, most) = (Duration::from_millis(LEAST_CUT_MS), Duration::from_millis(MOST_CUT_MS));
    match Nanos::parse(text).map(|time| Duration::from_nanos(time.0)) {
        Ok(time) if (least..=most).contains(&time) => Ok(time),
        Ok(_) => Err("the least is 100ms, and the most 24h".to_owned()),
        Err(_) => {
            let number = text.trim().parse::<u32>().ok().filter(|number| *number > 0);
            let example = number.map_or("5s".to_owned(), |number| format!("{number}s"));
            Err(format!(
                "write a number with a unit, like {example} (units: ms, s, min, h; 100ms to 24h)"
            ))
        }
    }
}

fn die(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a die is a whole number from 0".to_owned())
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| "a port, or an address and a port, such as 127.0.0.1:10809".to_owned())
}

fn export(text: &str) -> Result<ExportSpec, String> {
    let mut parts: Vec<&str> = text.split(':').collect();
    let read_only = parts.len() > 1 && parts.last() == Some(&"ro");
    if read_only {
        parts.pop();
    }
    match parts[..] {
        [name] => Ok(ExportSpec { name: name.to_owned(), size: None, read_only }),
        [name, size] => {
            let size = Some(size_of_export(size)?);
            Ok(ExportSpec { name: name.to_owned(), size, read_only })
        }
        _ => Err("NAME, NAME:SIZE or either with :ro, such as data:8GiB:ro".to_owned()),
    }
}

fn size_of_export(text: &str) -> Result<u64, String> {
    match Bytes::parse(text) {
        Ok(Bytes(0)) => Err("an export must not be empty: write a size, such as 8GiB".to_owned()),
        Ok(Bytes(bytes)) => Ok(bytes),
        Err(_) => {
            let number = text.trim().parse::<u32>().ok().filter(|number| *number > 0);
            let example = number.map_or("8GiB".to_owned(), |number| format!("{number}GiB"));
            Err(format!(
                "write a size with its unit, like {example} (units: KiB, MiB, GiB, TiB, or kB, MB, GB, TB)"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_propose_what_is_allowed() {
        assert_eq!(duration("1min"), Ok(Duration::from_secs(60)));
        for (wrong, hint) in
            [("5", "like 5s"), ("5parsec", "like 5s"), ("0", "like 5s"), ("1ms", "100ms")]
        {
            assert!(duration(wrong).unwrap_err().contains(hint), "{wrong}");
        }
        for (wrong, hint) in
            [("a:0", "like 8GiB"), ("a:0MiB", "such as 8GiB"), ("a:20", "like 20GiB")]
        {
            assert!(export(wrong).unwrap_err().contains(hint), "{wrong}");
        }
        assert_eq!(export("a:1MiB:ro").unwrap().size, Some(1 << 20));
    }
}
