//! Traces in several files: archives, folders, and several arguments.

use std::io::Read;
use std::path::Path;

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{ErrorKind, Facts, Location, Options, Record, TraceError, open};

const TAR: &[u8] = include_bytes!("../../../../fuzz/corpus/trace/small.tar.gz");
const ZIP: &[u8] = include_bytes!("../../../../fuzz/corpus/trace/small.zip");
const SEVEN_ZIP: &[u8] = include_bytes!("../../../../fuzz/corpus/trace/small.7z");

fn read(location: Location) -> Result<(Vec<Record>, Facts), TraceError> {
    let mut trace = open(location, Options::default())?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok((all, trace.facts()))
}

fn read_well(location: Location) -> (Vec<Record>, Facts) {
    read(location).unwrap_or_else(|error| panic!("{error}"))
}

fn memory(name: &str, bytes: &[u8]) -> Location {
    Location::Memory(name.to_owned(), bytes.to_vec().into())
}

fn record(ns: u64, op: Op, lba: u64, sectors: u32, stream: u32) -> Record {
    Record { at: SimTime(ns), op, lba: Lba(lba), sectors, stream, fua: false }
}

fn write(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), content).expect("written");
}

#[test]
fn the_files_of_an_archive_come_one_after_another() {
    let expected = [
        record(0, Op::Read, 2, 8, 3),
        record(1_000, Op::Write, 0, 1, 3),
        record(2_000, Op::Read, 4, 8, 4),
    ];
    for (name, bytes) in [("t.tar.gz", TAR), ("t.zip", ZIP), ("t.7z", SEVEN_ZIP)] {
        let (records, facts) = read_well(memory(name, bytes));
        assert_eq!(records, expected, "{name}");
        assert_eq!((facts.format, facts.requests), ("msr", 3));
        assert!(
            facts.assumed.contains(&"2 files with one clock, one after another".to_owned()),
            "{facts:?}"
        );
        assert!(facts.assumed.iter().any(|text| text.ends_with("README.txt")), "{facts:?}");
        // From a file on disk, too, and named in errors.
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), bytes).expect("written");
        assert_eq!(read_well(folder.path().join(name).as_path().into()).0, expected, "{name}");
    }
}

#[test]
fn damaged_archives_are_said_to_be_damaged() {
    for (name, bytes) in [("t.tar.gz", TAR), ("t.zip", ZIP), ("t.7z", SEVEN_ZIP)] {
        let error = read(memory(name, &bytes[..bytes.len() - 40])).expect_err(name);
        assert!(matches!(error.kind, ErrorKind::Corrupt | ErrorKind::Io), "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
        let said = error.to_string();
        assert!(said.contains("truncated") && said.contains("fetch it again"), "{said}");
    }
    // A tar archive without compression: its reader sees no fault until the next file.
    let mut tar = Vec::new();
    flate2::read::MultiGzDecoder::new(TAR).read_to_end(&mut tar).expect("whole");
    let lines = tar.windows(2).position(|pair| pair == b"\n\0").expect("the end of a file");
    let error = read(memory("t.tar", &tar[..lines - 4])).expect_err("cut off");
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
    assert!(error.problem.contains("the archive ends after"), "{error}");
    let mut empty = vec![0; 1024];
    empty[257..262].copy_from_slice(b"ustar");
    assert!(read(memory("t.tar", &empty)).is_err());
}

#[test]
fn the_files_of_a_folder_are_merged_by_time() {
    let folder = tempfile::tempdir().expect("a folder");
    // The third overlaps the first; the second follows both, although its name does not.
    write(folder.path(), "b_9.csv", "1000,h,0,Read,0,4096,1\n3000,h,0,Read,4096,4096,1\n");
    write(folder.path(), "a_1.csv", "9000,h,1,Write,0,4096,1\n");
    write(folder.path(), "c_2.csv", "2000,h,2,Read,0,512,1\n4000,h,2,Read,512,512,1\n");
    write(folder.path(), "README", "about\n");
    write(folder.path(), ".hidden", "about\n");
    let (records, facts) = read_well(folder.path().into());
    let expected = [
        record(0, Op::Read, 0, 8, 0),
        record(100_000, Op::Read, 0, 1, 2),
        record(200_000, Op::Read, 8, 8, 0),
        record(300_000, Op::Read, 1, 1, 2),
        record(800_000, Op::Write, 0, 8, 1),
    ];
    assert_eq!(records, expected);
    assert_eq!((facts.format, facts.out_of_order), ("msr", 0));
    assert!(
        facts.assumed.contains(&"3 files with one clock, merged by time".to_owned()),
        "{facts:?}"
    );
    // A fault is told with its file.
    write(
        folder.path(),
        "d_3.csv",
        "9500,h,2,Read,0,512,1\n9600,h,2,Reed,512,512,1\n9700,h,2,Read,512,512,1\n",
    );
    let error = read(folder.path().into()).expect_err("it is damaged");
    assert!(error.file.ends_with("d_3.csv") && error.to_string().contains("line 2"), "{error}");
    let nothing = tempfile::tempdir().expect("a folder");
    assert_eq!(read(nothing.path().into()).expect_err("no trace").kind, ErrorKind::Empty);
}

#[test]
fn a_file_that_a_folder_has_twice_is_remarked() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines =
        |address: u64| format!("1000,h,0,Read,{address},4096,1\n3000,h,0,Read,4096,4096,1\n");
    let warnings = || read_well(folder.path().into()).1.warnings;
    write(folder.path(), "a.csv", &lines(0));
    write(folder.path(), "b.csv", &lines(512));
    write(folder.path(), "later.csv", &lines(0).replace("000,h", "500,h"));
    assert_eq!(warnings(), [""; 0]);
    // In another container, it is the same.
    write(folder.path(), "copy of b.csv", &lines(512).replace('\n', "\r\n"));
    let [told] = &warnings()[..] else { panic!("one remark: {:?}", warnings()) };
    assert!(
        told.contains("copy of b.csv") && told.contains("played twice; take one away"),
        "{told}"
    );
    // Files that are named one by one may be meant so.
    let named = |names: [&str; 2]| {
        let files = names.map(|name| Location::File(folder.path().join(name)));
        read_well(Location::Several(files.to_vec())).1.warnings
    };
    assert_eq!(named(["a.csv", "b.csv"]), [""; 0]);
    let [told] = &named(["a.csv"; 2])[..] else { panic!("one remark") };
    assert!(told.contains("a.csv is named twice") && told.contains("streams of its own"), "{told}");
    let [told] = &named(["b.csv", "copy of b.csv"])[..] else { panic!("one remark") };
    assert!(told.contains("are those of") && told.contains("name one of them"), "{told}");
}

#[test]
fn files_that_stand_beside_the_archive_they_came_from_are_remarked() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.tar.gz"), TAR).expect("written");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(TAR));
    archive.unpack(folder.path().join("t")).expect("unpacked");
    let (records, facts) = read_well(folder.path().into());
    assert_eq!(records.len(), 6);
    let told = facts.warnings.join("; ");
    assert_eq!(told.matches("and are played twice; take one away").count(), 2, "{told}");
    // Who names it twice may mean it.
    let archive = folder.path().join("t.tar.gz");
    let twice = Location::Several(vec![Location::File(archive.clone()), Location::File(archive)]);
    let told = read_well(twice).1.warnings.join("; ");
    assert!(told.contains("t.tar.gz is named twice"), "{told}");
}

#[test]
fn several_files_have_streams_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "one.csv", "1000,h,0,Read,0,4096,1\n3000,h,5,Read,4096,4096,1\n");
    write(folder.path(), "two.csv", "2000,h,0,Write,0,4096,1\n");
    let (one, two) = (folder.path().join("one.csv"), folder.path().join("two.csv"));
    let argument = format!("{},{}", two.display(), one.display());
    let (records, facts) = read_well(Location::from_argument(&argument));
    let expected = [
        record(0, Op::Read, 0, 8, 0),
        record(100_000, Op::Write, 0, 8, 1),
        record(200_000, Op::Read, 8, 8, 2),
    ];
    assert_eq!(records, expected);
    assert!(facts.assumed.iter().any(|text| text.ends_with("each with streams of its own")));
    // A file whose name has a comma is one file.
    write(folder.path(), "a,b.csv", "1000,h,0,Read,0,4096,1\n");
    let name = folder.path().join("a,b.csv").display().to_string();
    assert_eq!(read_well(Location::from_argument(&name)).0.len(), 1);
}

#[test]
fn folders_in_a_folder_are_read_and_what_is_passed_over_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "b.csv", "3000,h,0,Read,4096,4096,1\n");
    for name in ["day1", "day2/host", ".cache"] {
        std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
    }
    write(folder.path(), "day1/a.csv", "1000,h,0,Read,0,4096,1\n");
    write(folder.path(), "day2/host/a.csv", "2000,h,1,Write,0,512,1\n");
    write(folder.path(), "day2/notes.md", "about\n");
    write(folder.path(), "day2/sda.3", "");
    write(folder.path(), ".cache/a.csv", "1500,h,1,Write,0,512,1\n");
    let (records, facts) = read_well(folder.path().into());
    let expected = [
        record(0, Op::Read, 0, 8, 0),
        record(100_000, Op::Write, 0, 1, 1),
        record(200_000, Op::Read, 8, 8, 0),
    ];
    assert_eq!(records, expected);
    let said = facts.assumed.join("\n");
    for text in [
        "3 folders in it are read with it: day1, day2, day2/host",
        "3 things beside them are no traces: .cache (a folder), day2/notes.md, day2/sda.3 (empty)",
    ] {
        assert!(said.contains(text), "{said}");
    }
    // A link to a folder could lead back.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path(), folder.path().join("day1/up")).expect("a link");
        let (records, facts) = read_well(folder.path().into());
        assert_eq!(records, expected);
        assert!(facts.assumed.join("\n").contains("day1/up (a link to a folder)"), "{facts:?}");
    }
}

#[test]
fn files_of_different_formats_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.csv", "b.csv", "c.csv", "d.csv"] {
        write(folder.path(), name, "1000,h,0,Read,0,4096,1\n");
    }
    write(folder.path(), "x.txt", "0,16,512,r,0.5\n");
    let error = read(folder.path().into()).expect_err("two formats");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let said = error.to_string();
    assert!(said.contains("msr (a.csv, b.csv, c.csv and 1 more); spc (x.txt)"), "{said}");
    assert!(said.contains("`format`") && said.contains("one format only"), "{said}");
    // DiskSim's times are milliseconds: read as SSDsim's, they would be nanoseconds.
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "1.txt", "1000 0 16 8 1\n");
    write(folder.path(), "2.txt", "2.5 0 16 8 1\n");
    let said = read(folder.path().into()).expect_err("two formats").to_string();
    assert!(said.contains("ssdsim (1.txt); disksim (2.txt)"), "{said}");
    // What can't be told by its beginning has the format of the others.
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "1.csv", "1000,h,0,Read,0,4096,1\n");
    write(folder.path(), "2.csv", "1,2\n");
    let error = read(folder.path().into()).expect_err("it is damaged");
    assert!(error.file.ends_with("2.csv") && error.to_string().contains("line 1"), "{error}");
}

#[test]
fn a_file_of_a_folder_that_is_no_trace_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("results")).expect("a folder");
    write(folder.path(), "results/notes", "what we did\non that day, and why\n");
    write(folder.path(), "z.csv", "1000,h,0,Read,0,4096,1\n");
    let error = read(folder.path().into()).expect_err("notes are no trace");
    assert!(error.file.ends_with("notes"), "{error}");
    assert!(error.remedy.ends_with("if it is no trace, move it out of the folder"), "{error}");
}

#[test]
fn a_tar_without_its_end_is_doubted() {
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(TAR).read_to_end(&mut whole).expect("gzip");
    let warned = |bytes: &[u8]| {
        let (records, facts) = read_well(memory("t.tar", bytes));
        (records.len(), facts.warnings.iter().any(|text| text.contains("without its end mark")))
    };
    assert_eq!(warned(&whole), (3, false));
    // The blocks of zeros are gone, and nothing else.
    let end = whole.iter().rposition(|byte| *byte != 0).expect("content");
    assert_eq!(warned(&whole[..(end + 1).next_multiple_of(512)]), (3, true));
}

#[test]
fn archives_that_were_joined_are_read_to_the_end() {
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(TAR).read_to_end(&mut whole).expect("gzip");
    let joined = [&whole[..], &whole].concat();
    for (name, bytes) in [("t.tar", &joined[..]), ("t.tar.gz", &[TAR, TAR].concat())] {
        let (records, facts) = read_well(memory(name, bytes));
        assert_eq!(records.len(), 6, "{name}");
        assert!(
            facts.assumed.contains(&"4 files with one clock, one after another".to_owned()),
            "{facts:?}"
        );
        assert!(!facts.warnings.iter().any(|text| text.contains("without its end mark")));
    }
    // What stands behind the end and is no archive is none of its files.
    let followed = [&whole[..], &[b'x'; 700]].concat();
    let (records, facts) = read_well(memory("t.tar", &followed));
    assert_eq!(records.len(), 3);
    let said = facts.warnings.join("; ");
    assert!(
        said.contains("bytes behind the end of the archive") && said.contains("were not read"),
        "{said}"
    );
    let zeros = [&whole[..], &[0; 700]].concat();
    assert_eq!(read_well(memory("t.tar", &zeros)).1.warnings, [""; 0]);
    // The end of the second is missing.
    let end = joined.iter().rposition(|byte| *byte != 0).expect("content");
    let (_, facts) = read_well(memory("t.tar", &joined[..(end + 1).next_multiple_of(512)]));
    assert!(facts.warnings.iter().any(|text| text.contains("without its end mark")), "{facts:?}");
}

#[test]
fn a_request_that_does_not_fit_the_other_files_is_shown_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    write(folder.path(), "a.csv", "1000,h,0,Read,0,4096,1\n2000,h,0,Read,0,4096,1\n");
    // Two years later.
    let late = "631152000000000,h,0,Read,8192,4096,1\n631152000000001,h,0,Read,0,4096,1\n";
    write(folder.path(), "b.csv", &format!("{head}{late}"));
    let error = read(folder.path().into()).expect_err("two clocks");
    assert!(error.file.ends_with("b.csv"), "{error}");
    let place = error.place.as_deref().expect("a line");
    assert_eq!((place.line, place.text.as_str()), (2, late.lines().next().expect("a line")));
    assert!(error.problem.starts_with("the time jumps ahead by 730 days"), "{error}");
}

#[test]
fn a_table_that_fits_by_chance_is_refused_among_files_of_that_format() {
    let alibaba = "3,R,4096,8192,1000\n5,W,8192,512,1100\n3,W,8192,512,1200\n";
    let own = "1000,R,512,4096,90\n2000,R,1024,4096,70\n3000,R,512,4096,75\n";
    let files = |second: &str| {
        let both = [memory("a.csv", alibaba.as_bytes()), memory("b.csv", second.as_bytes())];
        read(Location::Several(both.to_vec()))
    };
    let error = files(own).expect_err("it is refused");
    assert!(error.problem.contains("its numbers would fit alibaba, but column 1"), "{error}");
    assert!(files(&alibaba.replace("3,", "7,")).is_ok());
}

#[test]
fn one_name_is_one_stream_in_all_files_of_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |at: u32, disk: &str| format!("{at}.000000 fio 1 {disk} R 16 4096 0.50\n");
    write(folder.path(), "a.txt", &(line(1, "sda") + &line(2, "sdb")));
    write(folder.path(), "b.txt", &(line(3, "sdb") + &line(4, "sdc") + &line(5, "sda")));
    let (records, facts) = read_well(folder.path().into());
    let streams: Vec<u32> = records.iter().map(|record| record.stream).collect();
    assert_eq!(streams, [0, 1, 1, 2, 0]);
    assert_eq!(facts.stream_names, ["sda", "sdb", "sdc"]);
    let said = "the streams are the disks: 0 sda, 1 sdb, 2 sdc".to_owned();
    assert_eq!(facts.assumed.iter().filter(|text| **text == said).count(), 1, "{facts:?}");
}

#[test]
fn files_of_several_hosts_in_a_folder_are_doubted() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |ms: u32, host: &str| {
        format!(
            "{},{host},0,Read,4096,4096,100\n",
            128_166_372_000_000_000 + u64::from(ms) * 10_000
        )
    };
    write(folder.path(), "hm_0.csv", &(line(1, "hm") + &line(3, "hm")));
    let warns =
        |facts: &Facts| facts.warnings.iter().any(|text| text.contains("several hosts (hm, web"));
    write(folder.path(), "web_0.csv", &(line(2, "hm") + &line(4, "hm")));
    assert!(!warns(&read_well(folder.path().into()).1));
    write(folder.path(), "web_0.csv", &(line(2, "web") + &line(4, "web")));
    let (_, facts) = read_well(folder.path().into());
    assert!(warns(&facts), "{facts:?}");
}

#[test]
fn files_that_overlap_and_folders_that_tell_a_column_are_doubted() {
    let lines = |range: std::ops::Range<u64>| -> String {
        range
            .map(|at| format!("{},h,0,Read,{},4096,1\n", 1_000 + at * 10_000, at * 37 % 64 * 4096))
            .collect()
    };
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.csv", &lines(0..100));
    write(folder.path(), "b.csv", &lines(80..150));
    let told = read_well(folder.path().into()).1.warnings.join("; ");
    assert!(
        told.contains("20 requests have the time, the place and the size of one in another file"),
        "{told}"
    );
    // Whatever else is odd.
    write(folder.path(), "c.csv", &lines(150..250).replace(",4096,1\n", ",4097,1\n"));
    let told = read_well(folder.path().into()).1.warnings.join("; ");
    assert!(told.contains("widened") && told.contains("20 requests have the time"), "{told}");
    std::fs::remove_file(folder.path().join("c.csv")).expect("removed");
    write(folder.path(), "b.csv", &lines(100..150));
    assert_eq!(read_well(folder.path().into()).1.warnings, [""; 0]);
    std::fs::create_dir(folder.path().join("stream=5")).expect("a folder");
    write(folder.path(), "stream=5/c.csv", &lines(200..250));
    let told = read_well(folder.path().into()).1.warnings.join("; ");
    assert!(told.contains("the folder stream=5 tells a column that its files lack"), "{told}");
}
