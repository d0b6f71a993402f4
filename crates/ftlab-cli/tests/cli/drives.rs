//! Devices that are written as files: scaled down, or guessed from a data sheet.

use crate::common::{Place, fails};

const SHEET: &str =
    "device from-datasheet --name mine --capacity 960GB --cell tlc --interface pcie-4x4";

#[test]
fn a_scaled_device_runs() {
    let place = Place::new();
    let made =
        place.run("device scale 1/64 --device tlc-512g --set host.queue_depth=7 -o small.toml");
    assert_eq!((made.code, made.err.as_str()), (0, ""), "{}", made.out);
    assert!(made.out.contains("small.toml: 1/64 of tlc-512g"), "{}", made.out);
    let text = String::from_utf8(place.read("small.toml")).unwrap();
    for part in [
        "# What it keeps",
        "# What it can't keep",
        "name = \"tlc-512g-1-64\"",
        "# was 1152: ",
        "# preset tlc-512g:41: [2]: its throughput",
        "# --set 1",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
    let checked = place.run("config check small.toml");
    assert_eq!((checked.code, checked.out.as_str()), (0, "small.toml: in order\n"));
    let run =
        place.run("run --device small.toml --workload randwrite-4k --requests 2000 --no-output -q");
    assert_eq!(run.code, 0, "{}", run.err);
    // Without a file, it goes to standard output.
    let told = place.run("device scale 1/64 --device tlc-512g --set host.queue_depth=7");
    assert_eq!(told.out, text);
    // A part of a part.
    assert_eq!(place.run("device scale 50% --device small.toml -o smaller.toml").code, 0);
}

#[test]
fn wrong_parts_are_told() {
    let place = Place::new();
    for (part, told) in [
        ("0", "nothing would be left"),
        ("1/0", "nothing is a part of zero"),
        ("2", "more than all"),
        ("1", "all of it"),
        ("half", "is no part"),
    ] {
        fails(&place, &format!("device scale {part} --device tiny -o a.toml"), &[told, "1/16"]);
    }
    fails(&place, "device scale 1/1000 --device tiny -o a.toml", &["is no device", "larger part"]);
    fails(&place, "device scale 1/2 --device nothing -o a.toml", &["nothing"]);
    fails(&place, "device scale 1/2 --device tlc-32g -o trace.csv", &["is no device file"]);
}

#[test]
fn a_guessed_device_runs() {
    let place = Place::new();
    let figures = "--read 6500MB/s --write 1500MB/s --random-read 580000 --random-write 70k --endurance 1DWPD";
    let line = format!("{SHEET} {figures} --slc-cache 78GB --write-cached 4000MB/s -o mine.toml");
    let made = place.run(&line);
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(made.out.contains("mine.toml: a first guess."), "{}", made.out);
    let text = String::from_utf8(place.read("mine.toml")).unwrap();
    for part in [
        "# mine, 960 GB: a first guess",
        "# sequential read | 6500 MB/s | 6500 MB/s: least of link",
        "# 1 s / 580000 random reads",
        "independent_reads = \"on\"",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let checked = place.run("config check mine.toml");
    assert_eq!(checked.code, 0, "{}", checked.out);
    let run =
        place.run("run --device mine.toml --workload randwrite-4k --requests 2000 --no-output -q");
    assert_eq!(run.code, 0, "{}", run.err);
    fails(&place, &line, &["already exists", "--force"]);
    assert_eq!(place.run(&format!("{line} --force")).code, 0);
}

#[test]
fn data_sheets_that_contradict_themselves_are_told() {
    let place = Place::new();
    for (figures, told) in [
        ("--read 8GB/s", "--read 8000 MB/s is more than pcie-4x4 carries"),
        ("--random-write 1000000", "no figure of a full drive"),
        ("--write 6900MB/s --nand tlc-96", "--write-cached"),
        ("--nand qlc-96", "leave out --nand"),
        ("--random-read lots", "580k"),
        ("--endurance 5y", "600TBW"),
    ] {
        fails(&place, &format!("{SHEET} {figures} -o a.toml"), &[told]);
    }
    fails(&place, &format!("{} -o a.toml", SHEET.replace("tlc", "plc")), &["plc"]);
    let slow = place.run(&format!("{SHEET} --write 300MB/s -o a.toml"));
    assert_eq!(slow.code, 0, "{}", slow.err);
    assert!(slow.err.contains("warning: --write 300 MB/s is slow"), "{}", slow.err);
}

#[test]
fn a_dash_is_standard_output() {
    let place = Place::new();
    for line in ["device scale 1/64 --device tlc-512g", SHEET] {
        let plain = place.run(line);
        let dash = place.run(&format!("{line} -o -"));
        assert_eq!((dash.code, &dash.out), (0, &plain.out), "{line}: {}", dash.err);
        assert!(dash.out.starts_with("# "), "{}", dash.out);
    }
    assert_eq!(place.entries(), ["trace.csv"]);
}

#[cfg(unix)]
#[test]
fn links_are_neither_followed_nor_replaced() {
    let place = Place::new();
    let line = "device scale 1/64 --device tlc-512g";
    assert_eq!(place.run(&format!("{line} -o a.toml")).code, 0);
    for (link, to) in [("link.toml", "a.toml"), ("dangling.toml", "nothing.toml")] {
        std::os::unix::fs::symlink(to, place.path(link)).unwrap();
        fails(&place, &format!("{line} -o {link} --force"), &["is a link", "name the file itself"]);
        assert!(place.path(link).is_symlink());
    }
}

#[test]
fn what_a_guess_misses_is_told() {
    let place = Place::new();
    let line = format!("{} --read 7000MB/s", SHEET.replace("960GB", "240GB"));
    let made = place.run(&line);
    assert_eq!(made.code, 0, "{}", made.err);
    let told = "--read 7000 MB/s is not met: the closed form gives 4946 MB/s, bound by the dies, which sense";
    assert!(made.err.contains(told), "{}", made.err);
    let few = place.run("device scale 1/16 --device plain-32g -o small.toml");
    assert!(few.err.contains("warning: a plane has") && few.err.contains("drifts"), "{}", few.err);
    assert!(!few.out.contains("device.description"), "{}", few.out);
    fails(
        &place,
        "device scale 1/1024 --device tlc-512g -o a.toml",
        &["the smallest part that works is 1/"],
    );
    fails(&place, &format!("{SHEET} --warranty 5 -o a.toml"), &["such as 5y"]);
    fails(&place, &format!("{SHEET} --random-read 5,8 -o a.toml"), &["580,000"]);
}
