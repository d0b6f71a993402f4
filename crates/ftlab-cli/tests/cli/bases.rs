//! Devices based on the user's own files: where the files are, what results, images and
//! fingerprints record of them, and what is refused.

use std::fs;

use super::common::{Place, fails};
use super::reproduce;

const LAB: &str =
    "# of the lab\nbase = \"tiny\"\n[device]\nname = \"lab\"\n[ftl.gc]\nstart = 3\nstop = 5\n";
const MINE: &str = "base = \"../lab.toml\"\n[ftl.gc]\nstop = 6\n";
const LOAD: &str = "--workload randwrite-4k --requests 200";

/// `drives/mine.toml` is based on `lab.toml`, which is based on `tiny`.
fn lab() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("drives")).unwrap();
    place.write("lab.toml", LAB.as_bytes());
    place.write("drives/mine.toml", MINE.as_bytes());
    place
}

#[test]
fn a_file_is_found_beside_the_one_that_names_it() {
    let place = lab();
    let shown = place.run("config show drives/mine.toml");
    assert_eq!(shown.code, 0, "{}", shown.err);
    let chain = "# drives/mine.toml builds on drives/../lab.toml, which builds on preset tiny\n";
    assert!(shown.out.starts_with(chain), "{}", shown.out);
    let line = |text: &str| shown.out.lines().find(|line| line.starts_with(text)).unwrap();
    assert!(line("start = 3").ends_with("# drives/../lab.toml:6"), "{}", shown.out);
    assert!(line("stop = 6").ends_with("# drives/mine.toml:3"), "{}", shown.out);
    assert!(line("name = \"lab\"").ends_with("# drives/../lab.toml:4"), "{}", shown.out);
    let checked = place.run("config check drives/mine.toml");
    assert_eq!((checked.code, checked.out.contains("in order")), (0, true), "{}", checked.out);
    // Only changes on top of the file that set the name are counted.
    let title = |device: &str| {
        let done = place.run(&format!("run --device {device} {LOAD} --no-output"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out.trim_start().lines().next().unwrap().split(',').next().unwrap().to_owned()
    };
    assert_eq!(title("lab.toml"), "lab");
    assert_eq!(title("drives/mine.toml"), "lab with 1 option changed");
    place.write("named.toml", b"base = \"lab.toml\"\n[device]\nname = \"named\"\n");
    assert_eq!(title("named.toml"), "named");
}

#[test]
fn results_and_fingerprints_hold_what_was_read() {
    let place = lab();
    let run = format!("run --device drives/mine.toml {LOAD} -o out");
    assert_eq!(place.run(&run).code, 0);
    let config = String::from_utf8(place.read("out/config.toml")).unwrap();
    assert!(config.contains("builds on drives/../lab.toml") && config.contains("start = 3"));
    let inputs = |place: &Place| place.json("out/run.json")["inputs_blake3"].clone();
    let first = inputs(&place);
    // The configuration in a result is a device like any other.
    fs::remove_file(place.path("lab.toml")).unwrap();
    assert_eq!(place.run(&format!("run --device out/config.toml {LOAD} --no-output")).code, 0);
    // A comment is no input; a value is, even one in a base.
    place.write("lab.toml", LAB.replace("of the lab", "of another lab").as_bytes());
    let again = place.run(&run);
    assert_eq!((again.code, again.out.as_str()), (0, ""), "it is complete: {}", again.err);
    place.write("lab.toml", LAB.replace("start = 3", "start = 4").as_bytes());
    assert_eq!(place.run(&run).code, 2, "the result that is there is of other inputs");
    assert_eq!(place.run(&format!("{run} --force")).code, 0);
    assert_ne!(inputs(&place), first);
}

#[test]
fn images_need_the_files_no_more() {
    let place = lab();
    let save = "device save --device drives/mine.toml --precondition fill -o mine.ftlab";
    assert_eq!(place.run(save).code, 0);
    let with_files = place.run(&format!("run --image mine.ftlab {LOAD} --no-output --json"));
    fs::remove_dir_all(place.path("drives")).unwrap();
    fs::remove_file(place.path("lab.toml")).unwrap();
    let without = place.run(&format!("run --image mine.ftlab {LOAD} --no-output --json"));
    assert_eq!((without.code, without.out), (0, with_files.out));
    assert!(place.run("device show mine.ftlab").out.starts_with("lab, "));
    // An image cannot be a base.
    place.write("on-image.toml", b"base = \"mine.ftlab\"\n");
    fails(&place, "config show on-image.toml", &["on-image.toml:1:8", "image", "--image"]);
}

#[test]
fn bases_that_can_not_be_read_are_told_with_the_line_that_names_them() {
    let place = lab();
    let refused = |text: &str, expected: &[&str]| {
        place.write("bad.toml", text.as_bytes());
        let run = format!("run --device bad.toml {LOAD}");
        fails(&place, &run, &[expected, &["bad.toml:1:8", "remedy"]].concat());
    };
    refused("base = \"gone.toml\"\n", &["\"gone.toml\"", "No such file", "check the path"]);
    refused("base = \"drives/\"\n", &["drives", "directory"]);
    refused("base = \"bad.toml\"\n", &["in a circle: bad.toml on bad.toml"]);
    refused("base = \"./drives/../bad.toml\"\n", &["in a circle"]);
    refused("base = \"tinny\"\n", &["did you mean \"tiny\""]);
    refused("base = \"\"\n", &["there is no preset"]);
    refused("base = \"a\\u0000b.toml\"\n", &["it is not a valid file name"]);
    #[cfg(unix)]
    refused("base = \"/dev/zero\"\n", &["longer than 32 MiB"]);
    // The limit is on all files together.
    let long = |base: &str| format!("base = \"{base}\"\n{}", "# much ado\n".repeat(1 << 20));
    place.write("one.toml", long("two.toml").as_bytes());
    place.write("two.toml", long("three.toml").as_bytes());
    place.write("three.toml", long("tiny").as_bytes());
    let told = ["two.toml:1:8", "longer than 32 MiB, with the files that build on it"];
    fails(&place, "config show one.toml", &told);
    // Mistakes in a base and in the file based on it are reported together.
    place.write("lab.toml", LAB.replace("start = 3", "start = \"x\"").as_bytes());
    place.write("drives/mine.toml", format!("{MINE}strat = 1\n").as_bytes());
    let told = ["drives/../lab.toml:6:9", "drives/mine.toml:4:1"];
    fails(&place, "config show drives/mine.toml", &told);
}

/// An experiment can be passed on because the bases of its devices are in its folder, too.
#[test]
fn devices_of_an_experiment_build_on_what_lies_in_its_folder() {
    let place = lab();
    reproduce::experiment(&place, "e", &reproduce::reads("paper = \"> 0\""));
    let declaration = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    place.write(
        "e/experiment.toml",
        declaration.replace("device = \"tiny\"", "device = \"own-drive.toml\"").as_bytes(),
    );
    place.write("e/own-drive.toml", b"base = \"lab.toml\"\n");
    place.write("e/lab.toml", LAB.as_bytes());
    assert_eq!(place.run("reproduce e --seeds 1 --no-output -q").code, 0);
    place.write("e/own-drive.toml", b"base = \"../lab.toml\"\n");
    let told = ["own-drive.toml:1:8", "outside the experiment's folder", "remedy"];
    fails(&place, "reproduce e --seeds 1 --no-output", &told);
    place.write("e/own-drive.toml", b"base = \"gone.toml\"\n");
    let told = ["own-drive.toml:1:8", "No such file", "check the path"];
    fails(&place, "reproduce e --seeds 1 --no-output", &told);
}

/// Writes an experiment `e` whose device is this file in its folder.
fn experiment_on(place: &Place, device: &str) {
    reproduce::experiment(place, "e", &reproduce::reads("paper = \"> 0\""));
    let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    let own = text.replace("device = \"tiny\"", &format!("device = \"{device}\""));
    assert_ne!(own, text);
    place.write("e/experiment.toml", own.as_bytes());
}

/// `..` may lead to another folder within the experiment.
#[test]
fn bases_of_an_experiment_may_lie_above_the_device() {
    let place = lab();
    experiment_on(&place, "drives/mine.toml");
    fs::create_dir(place.path("e/drives")).unwrap();
    place.write("e/drives/mine.toml", b"base = \"../used.toml\"\n");
    place.write("e/used.toml", LAB.as_bytes());
    let done = place.run("reproduce e --seeds 1 --no-output -q");
    assert_eq!(done.code, 0, "{}", done.err);
    place.write("e/drives/mine.toml", b"base = \"../../lab.toml\"\n");
    let told = ["mine.toml:1:8", "\"../../lab.toml\" is outside the experiment's folder"];
    fails(&place, "reproduce e --seeds 1 --no-output", &told);
    // Whatever path names the experiment.
    place.write("e/drives/mine.toml", b"base = \"../used.toml\"\n");
    let line = "reproduce drives/../e --seeds 1 --no-output -q";
    assert_eq!(place.run(line).code, 0);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_an_experiment() {
    use std::os::unix::fs::symlink;
    let place = lab();
    experiment_on(&place, "own-drive.toml");
    place.write("outside.toml", b"secret = 'line'\n");
    symlink(place.path("outside.toml"), place.path("e/esc.toml")).unwrap();
    let refused = |named_in: &str| {
        let told = [named_in, "esc.toml", "outside the experiment's folder"];
        fails(&place, "reproduce e --seeds 1 --no-output", &told);
        let err = place.run("reproduce e --seeds 1 --no-output").err;
        assert!(!err.contains("secret"), "{err}");
    };
    place.write("e/own-drive.toml", b"base = \"esc.toml\"\n");
    refused("own-drive.toml:1:8");
    experiment_on(&place, "esc.toml");
    refused("experiment.toml:");
    // A link that stays in the folder is followed.
    place.write("e/lab.toml", LAB.as_bytes());
    symlink("lab.toml", place.path("e/link.toml")).unwrap();
    place.write("e/own-drive.toml", b"base = \"link.toml\"\n");
    experiment_on(&place, "own-drive.toml");
    let done = place.run("reproduce e --seeds 1 --no-output -q");
    assert_eq!(done.code, 0, "{}", done.err);
}

/// A pipe can be read only once, so nothing may look into it beforehand.
#[cfg(unix)]
#[test]
fn devices_and_bases_can_come_through_pipes() {
    use std::io::Write;
    use std::process::Stdio;
    let place = Place::new();
    place.write("mine.toml", b"base = \"/dev/stdin\"\n");
    for device in ["/dev/stdin", "mine.toml"] {
        let mut command = place.command(&["config", "show", device]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(LAB.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{device}: {err}");
        assert!(out.contains("name = \"lab\""), "{device}: {out}");
    }
}
