//! `ftlab serve` and `ftlab ctl`: starting, stopping, being killed, and what is refused.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::browser::Browser;
use super::common::{Done, Place, fails};

/// A server that is killed when the test ends.
struct Serving(Option<Child>);

impl Serving {
    /// Starts a server and waits until it answers.
    fn start(place: &Place, line: &str) -> Serving {
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut command = place.command(&args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let serving = Serving(Some(child));
        let data = args[args.iter().position(|arg| *arg == "--data").unwrap() + 1];
        let until = Instant::now() + Duration::from_secs(20);
        while place.run(&format!("ctl {data} stats")).code != 0 {
            assert!(Instant::now() < until, "the server does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        serving
    }

    fn signal(&self, name: &str) {
        let id = self.0.as_ref().unwrap().id().to_string();
        let kill = std::process::Command::new("kill").args([name, &id]).status();
        assert!(kill.unwrap().success());
    }

    /// Returns where its live page is, by what it prints.
    fn page(&mut self) -> String {
        let out = self.0.as_mut().unwrap().stdout.take().unwrap();
        let lines = BufReader::new(out).lines().map(Result::unwrap);
        let mut words =
            lines.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        words.find(|word| word.starts_with("http://")).expect("a page")
    }

    /// Waits for its end.
    fn end(mut self) -> Done {
        Done::from(self.0.take().unwrap().wait_with_output().unwrap())
    }

    fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
        }
    }
}

const RECOVERS: &str =
    "serve tiny --set ftl.recovery.policy=scan --data drive.flash --clock simulated";

fn statistics(place: &Place) -> Value {
    let done = place.run("ctl drive.flash stats --json");
    assert_eq!(done.code, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_drive_is_served_stopped_and_served_again() {
    let place = Place::new();
    let serving = Serving::start(&place, "serve tiny --data drive.flash --clock simulated");
    let told = place.run("ctl drive.flash stats");
    assert!(told.out.contains("write amplification"), "{}", told.out);
    assert_eq!(statistics(&place)["device"]["clock"], "simulated");
    let clock = place.run("ctl drive.flash clock scaled:2");
    assert!(clock.out.contains("scaled:2"), "{}{}", clock.out, clock.err);
    // It keeps nothing for recovery, and says so.
    let cut = place.run("ctl drive.flash cut");
    assert_eq!(cut.code, 2);
    assert!(cut.err.contains("ftl.recovery.policy"), "{}", cut.err);
    assert_eq!(place.run("ctl drive.flash kill-die 99").code, 2);
    assert_eq!(place.run("ctl drive.flash stop").code, 0);
    let done = serving.end();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("nbd+unix:///?socket=drive.flash.sock"), "{}", done.out);
    assert!(done.err.contains("if the server is killed, all its data is lost"), "{}", done.err);
    assert_eq!(place.entries(), ["drive.flash", "trace.csv"], "sockets are gone");
    let again = Serving::start(&place, "serve --data drive.flash");
    again.signal("-TERM");
    let done = again.end();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("as it was shut down"), "{}", done.err);
}

#[test]
fn a_killed_drive_recovers_and_a_cut_one_goes_on() {
    let place = Place::new();
    Serving::start(&place, RECOVERS).kill();
    let serving = Serving::start(&place, "serve --data drive.flash --clock simulated");
    let cut = place.run("ctl drive.flash cut");
    assert_eq!(cut.code, 0, "{}", cut.err);
    let reading = statistics(&place);
    assert_eq!(reading["power"]["cuts"], 1);
    assert_eq!(reading["smart"]["unsafe_shutdowns"], 2);
    assert_eq!(place.run("ctl drive.flash save -o state.ftlab").code, 0);
    fails(&place, "ctl drive.flash save -o state.ftlab", &["already contains an image", "--force"]);
    assert_eq!(place.run("ctl drive.flash save -o state.ftlab --force").code, 0);
    fails(
        &place,
        "ctl drive.flash kill-die 0",
        &["no index of what lies on each die", "schedule it"],
    );
    assert_eq!(
        place.run("ctl drive.flash cut --every 1h").out,
        "power is cut every 1 h 0 min from now on\n"
    );
    assert_eq!(place.run("ctl drive.flash cut --never").code, 0);
    assert_eq!(place.run("ctl drive.flash stop").code, 0);
    let done = serving.end();
    assert!(done.err.contains("was killed"), "{}", done.err);
    assert!(done.err.contains("tiny with 1 option changed: the server"), "{}", done.err);
    assert!(
        done.err.contains("every 1 h 0 min") && done.err.contains("not cut any more"),
        "{}",
        done.err
    );
    assert_eq!(place.run("device show state.ftlab").code, 0);
    let aged = Serving::start(&place, "serve --image state.ftlab --data other.flash");
    aged.signal("-INT");
    assert_eq!(aged.end().code, 0);
}

#[test]
fn wrong_requests_are_refused_and_leave_nothing() {
    let place = Place::new();
    fails(&place, "serve nothing --data d", &["there is no preset", "nothing"]);
    fails(&place, "serve --data d", &["of which device?", "remedy"]);
    fails(&place, "serve tiny --data trace.csv", &["it is not the data file of a drive", "remedy"]);
    fails(&place, "serve tiny --data no/where/d", &["remedy"]);
    fails(&place, "serve tiny --data d --clock sundial", &["a clock is"]);
    fails(&place, "serve tiny --data d --tcp 0.0.0.0:10809", &["--unprotected"]);
    fails(&place, "serve tiny --data d --http 0.0.0.0:9100", &["127.0.0.1"]);
    fails(&place, "serve tiny --data d --cut-every 1ms", &["100ms"]);
    fails(&place, "serve tiny --data d --cut-every 5s", &["--set ftl.recovery.policy=scan"]);
    fails(&place, "serve tlc-1t --data d --cut-every 5s", &["--set ftl.recovery.policy=scan"]);
    fails(&place, "serve rw-scheduler --data d --cut-every 5s", &["another device"]);
    fails(
        &place,
        "serve tiny --data d --record r --record-format msr",
        &["flushes", "--drop-unsupported"],
    );
    fails(&place, "serve tiny --data d --record trace.csv", &["exists already"]);
    fails(
        &place,
        "serve tiny --data d --record ./r --save r",
        &["--save and --record are the same file"],
    );
    fails(&place, "serve tiny --data d --save d", &["--data and --save are the same file"]);
    fails(&place, "serve tiny --data d --socket s --record s", &["--socket and --record"]);
    fails(&place, "serve tiny --data d --export a:1MiB --export a", &["two exports are called"]);
    let long = format!("serve tiny --data d --socket {}", "s".repeat(110));
    fails(&place, &long, &["110 bytes", "at most 107", "--socket"]);
    fails(&place, "ctl d kill-die foo", &["a die is a whole number from 0"]);
    assert_eq!(place.entries(), ["trace.csv"], "nothing was made");
    fails(&place, "serve tiny --data d --export a:b:c", &["NAME"]);
    fails(&place, "serve tiny --data d --image trace.csv", &["trace.csv"]);
    fails(&place, "ctl d stats", &["no server", "remedy"]);
}

#[test]
fn a_drive_of_another_device_is_refused() {
    let place = Place::new();
    let serving = Serving::start(&place, RECOVERS);
    fails(&place, "serve --data drive.flash", &["another server uses it"]);
    assert_eq!(place.run("ctl drive.flash stop").code, 0);
    serving.end();
    fails(
        &place,
        "serve tiny --data drive.flash",
        &["another configuration", "ftl.recovery.policy = "],
    );
    let done = place.run("serve --data drive.flash --export a:1GiB");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("has 1073741824 bytes"), "{}", done.err);
    let done = place.run("serve tiny --data new.flash --socket trace.csv");
    assert!(done.err.contains("is no socket"), "{}", done.err);
    assert!(!place.entries().contains(&"new.flash".to_owned()), "a drive that never served");
}

/// Writes pages of 4 KiB one after the other over NBD, again and again, until the drive hangs up.
fn write_on(socket: &Path) -> std::io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.read_exact(&mut [0; 18])?;
    // Fixed newstyle, no zeroes; then the export without a name.
    stream.write_all(&3u32.to_be_bytes())?;
    stream.write_all(&[&b"IHAVEOPT"[..], &1u32.to_be_bytes(), &0u32.to_be_bytes()].concat())?;
    let mut export = [0; 10];
    stream.read_exact(&mut export)?;
    let size = u64::from_be_bytes(export[..8].try_into().unwrap());
    for page in (0..size / 4096).cycle() {
        let command = [&0x2560_9513u32.to_be_bytes()[..], &1u32.to_be_bytes(), &page.to_be_bytes()];
        let place = [&(page * 4096).to_be_bytes()[..], &4096u32.to_be_bytes(), &[7; 4096]];
        stream.write_all(&[command.concat(), place.concat()].concat())?;
        stream.read_exact(&mut [0; 16])?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_live_page_of_a_drive_works_in_a_browser() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::new();
    let mut serving = Serving::start(&place, &format!("{RECOVERS} --http 0"));
    let address = serving.page();
    let socket = place.path("drive.flash.sock");
    // A client that comes back after power cuts, until the server is gone.
    let client = std::thread::spawn(move || {
        while socket.exists() {
            drop(write_on(&socket));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    browser.open("drive.mjs", address, 4);
    client.join().unwrap();
    let done = serving.end();
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn a_hangup_saves_and_two_signals_at_once_are_one() {
    let place = Place::new();
    let serving =
        Serving::start(&place, "serve tiny --data drive.flash --export a:1MiB --export b:ro");
    serving.signal("-HUP");
    serving.signal("-INT");
    let done = serving.end();
    assert_eq!(done.code, 0, "{}", done.err);
    let uri = "nbd+unix:///a?socket=drive.flash.sock (export \"a\", 1.05 MB)";
    assert!(done.out.contains(uri) && done.out.contains(", read-only)"), "{}", done.out);
    assert_eq!(place.entries(), ["drive.flash", "trace.csv"]);
    let again = Serving::start(&place, "serve --data drive.flash --seed 7");
    again.signal("-TERM");
    let done = again.end();
    assert!(done.err.contains("as it was shut down"), "{}", done.err);
    assert!(done.err.contains("--seed 7 has no effect"), "{}", done.err);
}

#[test]
fn a_drive_that_lies_says_so() {
    let place = Place::new();
    let serving = Serving::start(&place, "serve tiny --set host.flush=ignored --data drive.flash");
    let told = place.run("ctl drive.flash stats").out;
    assert!(told.contains("this drive lies"), "{told}");
    serving.signal("-TERM");
    assert!(serving.end().err.contains("note: this drive lies"));
}

#[test]
fn what_was_recorded_outlasts_a_kill_under_another_name() {
    let place = Place::new();
    let line =
        "serve tiny --data drive.flash --record r.csv --record-format msr --drop-unsupported";
    Serving::start(&place, line).kill();
    assert!(place.entries().contains(&"r.csv.unfinished".to_owned()));
    fails(&place, "serve tiny --data d --record r.csv", &["r.csv.unfinished", "rename or delete"]);
    let other = Serving::start(&place, "serve tiny --data other.flash --record r.txt");
    other.signal("-TERM");
    assert_eq!(other.end().code, 0);
    let there = place.entries();
    assert!(there.contains(&"r.txt".to_owned()) && !there.contains(&"r.txt.unfinished".to_owned()));
}
