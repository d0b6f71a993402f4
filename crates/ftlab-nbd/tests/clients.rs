//! Real clients against a disk in memory. Those that are not installed are skipped.

#![cfg(unix)]

#[path = "../examples/ramdisk.rs"]
mod ramdisk;

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;

use tempfile::TempDir;

const SIZE: usize = 16 << 20;

/// Seconds after which a client is taken to hang.
const PATIENCE: &str = "60";

/// A disk, and a folder for its socket and files.
struct Served {
    folder: TempDir,
}

impl Served {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let disk = Arc::new(ramdisk::Disk::new(SIZE));
        std::thread::spawn(move || disk.serve(listener));
        Self { folder }
    }

    fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.file("socket").display())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file as large as the disk, with data and holes.
    fn pattern(&self) -> PathBuf {
        let page = |page: usize| (0..4096).map(move |at| (at * 31 + page * 7) as u8);
        let holes = |at: usize| at % 16 < 5;
        let bytes = (0..SIZE / 4096).flat_map(|at| match holes(at) {
            true => vec![0; 4096],
            false => page(at).collect(),
        });
        let path = self.file("pattern");
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).expect("room for a file");
        path
    }

    /// Runs a client in the folder.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE).arg(program).args(arguments).current_dir(self.folder.path());
        command.output().expect("it ran before")
    }

    /// Runs a client that has to succeed, and returns what it prints.
    fn good(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.run(program, arguments);
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{program} {arguments:?}\n{out}\n{err}");
        out
    }
}

/// Returns whether a client works here, and says so if it does not.
fn installed(program: &str, probe: &str) -> bool {
    let works = Command::new("timeout").args([PATIENCE, program, probe]).output();
    let works = works.is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: {program} {probe} does not work here");
    }
    works
}

#[test]
fn nbdinfo_sees_the_exports() {
    if !installed("nbdinfo", "--version") {
        return;
    }
    let served = Served::new();
    let list = served.good("nbdinfo", &["--list", &served.uri("")]);
    for expected in [
        "newstyle-fixed without TLS, using structured packets",
        "export=\"disk\"",
        "export=\"fixed\"",
        "description: a disk in memory",
        "export-size: 16777216 (16M)",
        "base:allocation",
        "is_read_only: true",
        "can_multi_conn: true",
        "block_size_minimum: 512",
        "block_size_maximum: 33554432",
    ] {
        assert!(list.contains(expected), "{expected}\n{list}");
    }
    let map = served.good("nbdinfo", &["--map", &served.uri("disk")]);
    assert_eq!(map.split_whitespace().collect::<Vec<_>>(), ["0", "16777216", "3", "hole,zero"]);
    assert!(!served.run("nbdinfo", &[&served.uri("tape")]).status.success());
}

#[test]
fn nbd_client_lists_the_exports() {
    if !installed("nbd-client", "-V") {
        return;
    }
    let served = Served::new();
    let list = served.good("nbd-client", &["-l", "-unix", "socket"]);
    assert!(list.contains("disk: a disk in memory"), "{list}");
}

#[test]
fn nbdcopy_copies_both_ways() {
    if !installed("nbdcopy", "--version") {
        return;
    }
    let served = Served::new();
    let (pattern, back) = (served.pattern(), served.file("back"));
    let (from, to) = (pattern.to_str().expect("a name"), back.to_str().expect("a name"));
    for options in [&[][..], &["--synchronous"], &["--connections=3", "--requests=7"]] {
        served.good("nbdcopy", &[options, &[from, &served.uri("disk")]].concat());
        served.good("nbdcopy", &[options, &[&served.uri("fixed"), to]].concat());
        assert!(std::fs::read(from).expect("it") == std::fs::read(to).expect("a copy"));
        std::fs::remove_file(to).expect("it is there");
    }
    assert!(!served.run("nbdcopy", &[from, &served.uri("fixed")]).status.success());
}

#[test]
fn qemu_io_reads_what_it_writes() {
    if !installed("qemu-io", "--version") {
        return;
    }
    let served = Served::new();
    let commands = [
        "write -P 0x5a 1M 3M",
        "read -P 0x5a 1M 3M",
        "write -z 2M 64k",
        "read -P 0 2M 64k",
        "write -z -u 3M 64k",
        "read -P 0 3M 64k",
        "discard 1M 1M",
        "read -P 0 1M 1M",
        "write -f -P 7 512 512",
        "read -P 7 512 512",
        "aio_write -P 9 8M 8M",
        "aio_write -P 1 4M 4M",
        "aio_flush",
        "read -P 9 8M 8M",
        "flush",
    ];
    let uri = served.uri("disk");
    let arguments = commands.into_iter().flat_map(|command| ["-c", command]);
    let arguments: Vec<_> = ["-f", "raw", uri.as_str()].into_iter().chain(arguments).collect();
    let out = served.good("qemu-io", &arguments);
    assert!(!out.contains("failed"), "{out}");
}

#[test]
fn qemu_img_converts_and_compares() {
    if !installed("qemu-img", "--version") {
        return;
    }
    let served = Served::new();
    let (pattern, uri) = (served.pattern(), served.uri("disk"));
    let pattern = pattern.to_str().expect("a name");
    assert!(served.good("qemu-img", &["info", &uri]).contains("virtual size: 16 MiB"));
    served.good("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", pattern, &uri]);
    served.good("qemu-img", &["compare", "-f", "raw", "-F", "raw", pattern, &uri]);
    let map = served.good("qemu-img", &["map", "-f", "raw", "--output=json", &uri]);
    assert!(map.contains("\"zero\": true") && map.contains("\"zero\": false"), "{map}");
}

#[test]
fn fio_verifies() {
    if !installed("fio", "--enghelp=nbd") {
        return;
    }
    let served = Served::new();
    let uri = format!("--uri={}", served.uri("disk"));
    let arguments = ["--name=test", "--ioengine=nbd", &uri, "--rw=randwrite", "--size=16m"];
    let verify = ["--bsrange=512-64k", "--blockalign=512", "--iodepth=32", "--verify=crc32c"];
    served.good("fio", &[&arguments[..], &verify].concat());
}

#[test]
fn nbdsh_gets_data_and_errors() {
    if !installed("nbdsh", "--version") {
        return;
    }
    let served = Served::new();
    let script = include_str!("clients.py").replace("URI", &served.uri("disk"));
    for structured in ["True", "False"] {
        served.good("nbdsh", &["-c", &script.replace("STRUCTURED", structured)]);
    }
}
