//! `ftlab serve`: a simulated drive as a block device. `ftlab ctl`: looks at a running one, and gives it orders.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use ftlab::config::{Config, FlushRule};
use ftlab_lab::{device, human, image};
use ftlab_nbd::control::client::{self, Answer, AnswerReader};
use ftlab_nbd::control::{Cut, DriveOrder, DriveReading, View, text};
use ftlab_nbd::drive::{Drive, DriveSpec, Start};
use ftlab_nbd::server::{ExportSpec, Listen, Server, ServerSpec};
use ftlab_workload::trace;

use crate::args::{CtlArgs, CtlOrder, ServeArgs};
use crate::device::{settings, warn};
use crate::failure::Failure;

/// The formats of a recording, by its name.
const PARQUET: &str = "parquet";
const TEXT: &str = "blkparse";

/// `ftlab serve`.
pub fn serve(args: &ServeArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = server_spec(args)?;
    if let Some(path) = &args.save {
        image::refuse_to_overwrite(path, args.force)?;
    }
    let image = args.image.as_deref().map(image::take).transpose()?.map(std::sync::Arc::new);
    let sets = settings(&args.sets);
    let config = match (&args.device, &image) {
        (None, None) if sets.is_empty() => None,
        (None, None) => {
            return Err(Failure::usage(
                "--set changes the options of a new drive\n  remedy: name its device, or leave --set out to serve \
                 the drive in the data file",
            ));
        }
        (name, image) => {
            Some(device::of_device_or_image(name.as_deref(), &sets, image.as_deref())?)
        }
    };
    if let Some(config) = config.as_ref().filter(|_| !args.quiet) {
        warn(config);
    }
    let drive = DriveSpec { config, image, data: args.data.clone(), seed: args.seed };
    let (drive, start) = drive.start()?;
    let told = told_of_start(&drive, start);
    let server = Server::new(drive, spec).inspect_err(|_| {
        // A drive that never served anything leaves no file behind.
        if matches!(start, Start::New | Start::Aged) {
            drop(std::fs::remove_file(&args.data));
        }
    })?;
    if !args.quiet {
        told.iter().for_each(|line| say!("{line}"));
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
    server.run(&mut log).map_err(Failure::from)
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
        format.map(|format| (path, format))
    });
    Ok(ServerSpec {
        listen: Listen { unix: socket, tcp: args.tcp.clone(), control, http: args.http },
        exports,
        clock: args.clock,
        cut_every: args.cut_every,
        record: record.flatten(),
        connections: args.connections.into(),
        save: args.save.clone(),
        offsets: Vec::new(),
    })
}

/// How the drive has started, and what a kill would cost.
fn told_of_start(drive: &Drive, start: Start) -> Vec<String> {
    let name = device::title(drive.config());
    let size = human::bytes(drive.capacity());
    let mut told = vec![match start {
        Start::New => format!("{name}: a new drive of {size}"),
        Start::Aged => {
            format!(
                "{name}: a new drive of {size} with the state of the image; its pages read as zeros"
            )
        }
        Start::Saved => format!("{name}: a drive of {size}, as it was shut down"),
        Start::Recovered { time, pages } => format!(
            "{name}: the server of this drive of {size} was killed, which is a power cut to it; it has recovered {} \
             pages, in {} of simulated time",
            human::count(pages),
            human::span(time.0)
        ),
    }];
    let options = &drive.config().options;
    if !drive.recovers() {
        told.push(format!(
            "note: the drive keeps nothing for recovery (ftl.recovery.policy = \"none\"): if the server is killed, all \
             its data is lost. Stop it by Ctrl-C, SIGTERM or `ftlab ctl`; {}.",
            way_to_recover(drive.config())
        ));
    } else if options.power.capacitors.is_on() {
        told.push(
            "note: power.capacitors carry DRAM to flash when power is cut by an order, and make flushes free; a killed \
             process has no capacitors, so a kill loses acknowledged data in DRAM, even what was flushed. Without \
             power.capacitors, flushed data bears a kill."
                .to_owned(),
        );
    }
    if options.host.flush == FlushRule::Ignored {
        told.push(
            "note: the drive lies: it answers flushes at once (host.flush = \"ignored\"), and a power cut loses data that \
             programs believe to be safe."
                .to_owned(),
        );
    }
    told
}

/// Which options make such a drive bear a kill.
fn way_to_recover(config: &Config) -> String {
    const WAYS: [&[&str]; 2] =
        [&["ftl.recovery.policy=scan"], &["ftl.recovery.policy=scan", "ftl.slc_cache.policy=none"]];
    let works = |way: &&[&str]| {
        let sets: Vec<String> = way.iter().map(|&set| set.to_owned()).collect();
        device::of_text("", &config.canonical(), &settings(&sets)).is_ok()
    };
    match WAYS.into_iter().find(works) {
        Some(way) => format!("a drive made with --set {} bears a kill", way.join(" --set ")),
        None => "no option makes a drive like this bear a kill".to_owned(),
    }
}

/// `ftlab ctl`.
pub fn control(args: &CtlArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let order = match &args.order {
        CtlOrder::Stats { json } => return stats(&args.socket, *json, out),
        CtlOrder::Cut { every: Some(every), .. } => {
            DriveOrder::Cut(Cut::Every(every.as_millis() as u64))
        }
        CtlOrder::Cut { never: true, .. } => DriveOrder::Cut(Cut::Never),
        CtlOrder::Cut { .. } => DriveOrder::Cut(Cut::Now),
        CtlOrder::KillDie { die } => DriveOrder::KillDie { die: *die },
        CtlOrder::Save { output, force } => {
            // The server may have been started in another folder.
            let absolute = output.as_deref().map(std::path::absolute).transpose()?;
            DriveOrder::Save { to: absolute.map(|path| path.display().to_string()), force: *force }
        }
        CtlOrder::Clock { clock } => DriveOrder::SetClock(*clock),
        CtlOrder::Stop => DriveOrder::Stop,
    };
    let answer = ask(&args.socket, &client::order(&order))?;
    let message = answer.message().map_err(Failure::usage)?;
    writeln!(out, "{message}")?;
    Ok(())
}

fn stats(socket: &Path, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let answer = ask(socket, &client::view(View::Reading))?;
    let reading: DriveReading = answer.document().map_err(Failure::usage)?;
    match json {
        true => {
            let text = serde_json::to_string_pretty(&reading).map_err(Failure::usage)?;
            writeln!(out, "{text}")?;
        }
        false => write!(out, "{}", text(&reading))?,
    }
    Ok(())
}

/// Sends a request to the server and waits for its answer.
fn ask(socket: &Path, request: &[u8]) -> Result<Answer, Failure> {
    let mut stream = connect(socket)?;
    let broken = |error: std::io::Error| {
        Failure::usage(format!("the server at {} went away: {error}", socket.display()))
    };
    stream.write_all(request).map_err(broken)?;
    let mut reader = AnswerReader::default();
    let mut buffer = [0; 1 << 14];
    loop {
        let count = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(broken)?,
        };
        let answer = reader.receive(&buffer[..count]).map_err(Failure::usage)?;
        if let Some(answer) = answer {
            return Ok(answer);
        }
        if count == 0 {
            return Err(broken(ErrorKind::UnexpectedEof.into()));
        }
    }
}

/// Connects to the control socket that belongs to a socket or data file.
fn connect(socket: &Path) -> Result<UnixStream, Failure> {
    let control = Listen::control_of(socket);
    let mut beside = socket.as_os_str().to_owned();
    beside.push(".sock");
    let beside = Listen::control_of(Path::new(&beside));
    let mut denied = false;
    for place in [control.as_path(), beside.as_path(), socket] {
        match UnixStream::connect(place) {
            Ok(stream) => return Ok(stream),
            Err(error) => denied |= error.kind() == ErrorKind::PermissionDenied,
        }
    }
    Err(match denied {
        true => Failure::usage(format!(
            "the server at {} belongs to another user, who alone may give it orders\n  remedy: run this as that user",
            socket.display()
        )),
        false => Failure::usage(format!(
            "no server of a drive answers at {}\n  remedy: name the socket, or the data file, of a running `ftlab serve`",
            socket.display()
        )),
    })
}
