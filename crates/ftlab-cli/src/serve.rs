//! `ftlab serve`: a simulated drive as a block device.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use ftlab::config::{Config, FlushRule};
use ftlab_lab::image::OpenedImage;
use ftlab_lab::{device, human, image};
use ftlab_nbd::drive::{DriveSpec, Start, settings_to_recover};
use ftlab_nbd::server::{ExportSpec, Listen, RecordSpec, SaveSpec, Server, ServerSpec, place};
use ftlab_workload::trace::{self, TraceWriter};

use crate::args::ServeArgs;
use crate::device::{settings, warn};
use crate::failure::Failure;

/// The formats of a recording, by its name.
const PARQUET: &str = "parquet";
const TEXT: &str = "blkparse";

/// The seed of a new drive.
const SEED: u64 = 1;

/// `ftlab serve`.
pub fn serve(args: &ServeArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = server_spec(args)?;
    refuse_clashes(args, &spec)?;
    spec.record.as_ref().map_or(Ok(()), RecordSpec::check)?;
    if let Some(path) = &args.save {
        image::refuse_to_overwrite(path, args.force).map_err(named)?;
    }
    let image = args.image.as_deref().map(image::take).transpose()?.map(Arc::new);
    let config = config(args, image.as_deref())?;
    if let Some(config) = config.as_ref().filter(|_| !args.quiet) {
        warn(config);
    }
    let seed = args.seed.unwrap_or(SEED);
    let drive = DriveSpec { config, image, data: args.data.clone(), seed };
    let (drive, start) = drive.start()?;
    let (config, size) = (drive.config().clone(), drive.capacity());
    let server = Server::new(drive, spec).inspect_err(|_| {
        // A drive that never served anything leaves no file behind.
        if is_new(start) {
            drop(std::fs::remove_file(&args.data));
        }
    })?;
    if !args.quiet {
        tell_start(&config, size, start);
        tell_notes(&config, args.seed.filter(|_| !is_new(start)));
        for address in server.addresses() {
            writeln!(out, "{address}")?;
        }
        out.flush()?;
    }
    let mut log = |line: &str| {
        if !args.quiet {
            say!("{line}");
        }
    };
    server.run(&mut log).map_err(named).map_err(Failure::from)
}

/// An image is written where this program's option says.
fn named(failure: ftlab_lab::failure::Failure) -> ftlab_lab::failure::Failure {
    failure.map_text(|text| text.replace("`output`", "--save"))
}

fn is_new(start: Start) -> bool {
    matches!(start, Start::New | Start::Aged)
}

/// The configuration that is asked for; none takes that of the data file.
fn config(args: &ServeArgs, image: Option<&OpenedImage>) -> Result<Option<Config>, Failure> {
    let sets = settings(&args.sets);
    match (&args.device, image) {
        (None, None) if sets.is_empty() => Ok(None),
        (None, None) => Err(Failure::usage(
            "--set changes the options of a new drive\n  remedy: name its device, or leave --set out to serve the drive \
             in the data file",
        )),
        (name, image) => Ok(Some(device::of_device_or_image(name.as_deref(), &sets, image)?)),
    }
}

/// Refuses two files of the server that are the same.
fn refuse_clashes(args: &ServeArgs, spec: &ServerSpec) -> Result<(), Failure> {
    let record = args.record.as_deref();
    let unfinished = record.map(TraceWriter::unfinished);
    let named = [
        ("--data", Some(args.data.as_path())),
        ("--socket", spec.listen.unix.as_deref()),
        ("the control socket", Some(spec.listen.control.as_path())),
        ("--save", args.save.as_deref()),
        ("--record", record),
        ("the unfinished file of --record", unfinished.as_deref()),
    ];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    let mut places: Vec<(&str, PathBuf)> = Vec::new();
    for (name, path) in named {
        let place = place(path);
        if let Some((other, _)) = places.iter().find(|(_, other)| *other == place) {
            return Err(Failure::usage(format!(
                "{other} and {name} are the same file, {}\n  remedy: give each its own name",
                path.display()
            )));
        }
        places.push((name, place));
    }
    Ok(())
}

fn server_spec(args: &ServeArgs) -> Result<ServerSpec, Failure> {
    let open = args.tcp.iter().find(|address| !address.ip().is_loopback());
    if let Some(address) = open.filter(|_| !args.unprotected) {
        return Err(Failure::usage(format!(
            "--tcp {address} can be reached from other machines, where anybody could read and write the drive\n  \
             remedy: use 127.0.0.1, or --unprotected if that is meant"
        )));
    }
    if let Some(address) = args.http.filter(|address| !address.ip().is_loopback()) {
        return Err(Failure::usage(format!(
            "--http {address} can be reached from other machines, and the page gives orders to the drive\n  remedy: use \
             127.0.0.1; `ssh -L` brings it to another machine"
        )));
    }
    let beside = |ending: &str| {
        let mut name = args.data.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let socket = args.socket.clone().or_else(|| args.tcp.is_empty().then(|| beside(".sock")));
    let control = Listen::control_of(socket.as_ref().unwrap_or(&args.data));
    let whole = ExportSpec { name: String::new(), size: None, read_only: args.read_only };
    let exports = if args.exports.is_empty() { vec![whole] } else { args.exports.clone() };
    let record = args.record.clone().map(|path| {
        let named = if path.extension().is_some_and(|it| it == PARQUET) { PARQUET } else { TEXT };
        let format = args.record_format.or_else(|| trace::named(named).ok());
        let drop_unsupported = args.drop_unsupported;
        format.map(|format| RecordSpec { path, format, drop_unsupported })
    });
    Ok(ServerSpec {
        listen: Listen { unix: socket, tcp: args.tcp.clone(), control, http: args.http },
        exports,
        clock: args.clock,
        cut_every: args.cut_every,
        record: record.flatten(),
        connections: args.connections.into(),
        save: args.save.clone().map(|path| SaveSpec { path, force: args.force }),
    })
}

/// Tells how the drive has started.
fn tell_start(config: &Config, size: u64, start: Start) {
    let (name, size) = (device::title_of_kept(config), human::bytes(size));
    match start {
        Start::New => say!("{name}: a new drive of {size}"),
        Start::Aged => say!(
            "{name}: a new drive of {size} with the state of the image; its pages read as zeros"
        ),
        Start::Saved => say!("{name}: a drive of {size}, as it was shut down"),
        Start::Recovered { time, pages } => say!(
            "{name}: the server of this drive of {size} was killed, which is a power cut to it; it has recovered {} \
             pages, in {} of simulated time",
            human::count(pages),
            human::span(time.0)
        ),
    }
}

/// Tells what a kill would cost, and what else may surprise. `unused` is a seed that comes too late.
fn tell_notes(config: &Config, unused: Option<u64>) {
    let options = &config.options;
    if !options.ftl.recovery.policy.survives() {
        say!(
            "note: the drive keeps nothing for recovery (ftl.recovery.policy = \"none\"): if the server is killed, all \
             its data is lost. Stop it by Ctrl-C, SIGTERM or `ftlab ctl`{}.",
            bears_a_kill(config)
        );
    } else if options.power.capacitors.is_on() {
        say!(
            "note: power.capacitors carry DRAM to flash when power is cut by an order, and make flushes free; a killed \
             process has no capacitors, so a kill loses acknowledged data in DRAM, even what was flushed. Without \
             power.capacitors, flushed data bears a kill."
        );
    }
    if options.host.flush == FlushRule::Ignored {
        say!(
            "note: this drive lies (host.flush = \"ignored\"): it answers flushes at once, and a kill or a power cut \
             loses what was flushed."
        );
    }
    if let Some(seed) = unused {
        say!("note: --seed {seed} has no effect: the drive keeps the seed that it was made with.");
    }
}

/// Which drive would bear a kill instead of this one.
fn bears_a_kill(config: &Config) -> String {
    match settings_to_recover(config) {
        Some(sets) => format!("; a drive made with {sets} bears a kill"),
        None => ". No setting makes this device bear a kill".to_owned(),
    }
}
