//! `ftlab ctl`: looks at a running drive, and gives it orders.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use ftlab_nbd::control::client::{self, Answer, AnswerReader};
use ftlab_nbd::control::{Cut, DriveOrder, DriveReading, View, text};
use ftlab_nbd::server::Listen;

use crate::args::{CtlArgs, CtlOrder};
use crate::failure::Failure;

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
            let to = absolute.map(text_of).transpose()?;
            DriveOrder::Save { to, force: *force }
        }
        CtlOrder::Clock { clock } => DriveOrder::SetClock(*clock),
        CtlOrder::Stop => DriveOrder::Stop,
    };
    let answer = ask(&args.socket, &client::order(&order))?;
    let message = answer.message().map_err(Failure::usage)?;
    writeln!(out, "{message}")?;
    Ok(())
}

/// A path as the order has it, which is text.
fn text_of(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!(
            "the path {} is not text (UTF-8), as an order to the server has to be\n  remedy: choose another name for \
             `output`, or start this program in another folder",
            path.display()
        ))
    })
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
    let places = [control.as_path(), beside.as_path(), socket];
    let mut denied = None;
    for place in places {
        match UnixStream::connect(place) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => denied = Some(place),
            Err(_) => {}
        }
    }
    Err(unreachable(socket, denied))
}

/// Nobody answers, or this user may not ask.
fn unreachable(socket: &Path, denied: Option<&Path>) -> Failure {
    Failure::usage(match denied {
        Some(place) => format!(
            "can't connect to {}: permission denied\n  remedy: only the user who started the server may give orders; be \
             that user",
            place.display()
        ),
        None => format!(
            "no server of a drive answers at {}\n  remedy: name the socket, or the data file, of a running `ftlab serve`",
            socket.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_ask_is_told_so() {
        let (socket, control) = (Path::new("a.sock"), Path::new("a.sock.ctl"));
        let told = |denied| match unreachable(socket, denied) {
            Failure::Lab(failure) => failure.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(told(Some(control)).starts_with("can't connect to a.sock.ctl: permission denied"));
        assert!(told(None).starts_with("no server of a drive answers at a.sock"));
    }
}
