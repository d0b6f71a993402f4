//! Tests of guesses: figures come out, doubts and contradictions are told.

use super::*;

fn sheet() -> Sheet {
    Sheet::new("mine".to_owned(), Bytes(960_000_000_000), Cell::Tlc, Interface::Pcie4x4)
}

fn rate(mb: u64) -> Option<BytesPerSec> {
    Some(BytesPerSec(mb * 1_000_000))
}

fn given(guess: &Guess, figure: &str) -> f64 {
    let row = guess.rows.iter().find(|row| row.figure.starts_with(figure)).expect(figure);
    row.given.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn line(guess: &Guess, path: &str) -> String {
    guess.lines.iter().find(|line| line.path == path).expect(path).value.clone()
}

/// 16 dies of 4 planes of 16 KiB write 1,048,576 bytes at a time: in 699 us, those are 1500 MB/s. 3 us of them pass between
/// programs.
#[test]
fn figures_are_met() {
    let sheet = Sheet {
        read: rate(6_500),
        write: rate(1_500),
        random_read: Some(580_000.0),
        random_write: Some(70_000.0),
        read_latency: Some(Nanos(75_000)),
        write_latency: Some(Nanos(15_000)),
        endurance: Some(Endurance::DriveWrites { a_day: 1.0, years: 5.0 }),
        ..sheet()
    };
    let guess = guess(&sheet).unwrap();
    assert_eq!(guess.config.logical_pages(), 960_000_000_000_u64.div_euclid(4096) as u32);
    assert_eq!(line(&guess, "nand.timing.program"), "\"696.051us\"");
    for (figure, asked) in [
        ("sequential read", 6_500.0),
        ("sequential write", 1_500.0),
        ("random read", 580_000.0),
        ("read latency", 75.0),
        ("write latency", 15.0),
    ] {
        let off = given(&guess, figure) / asked - 1.0;
        assert!(off.abs() < 0.005, "{figure}: {}", given(&guess, figure));
    }
    // A block more or less of a plane.
    assert!((given(&guess, "random write") / 70_000.0 - 1.0).abs() < 0.02);
    assert_eq!(guess.doubts, Vec::<String>::new());
}

#[test]
fn a_file_yields_the_device() {
    let sheets = [
        sheet(),
        Sheet {
            cell: Cell::Slc,
            interface: Interface::Pcie3x4,
            capacity: Bytes(240_000_000_000),
            ..sheet()
        },
        Sheet {
            cell: Cell::Mlc,
            interface: Interface::Sata3,
            capacity: Bytes(256_000_000_000),
            read: rate(540),
            ..sheet()
        },
        Sheet {
            cell: Cell::Qlc,
            capacity: Bytes(2_000_000_000_000),
            slc_cache: Some(Bytes(100_000_000_000)),
            write_cached: rate(4_000),
            endurance: Some(Endurance::Written(Bytes(400_000_000_000_000))),
            ..sheet()
        },
        Sheet { capacity: Bytes(32_000_000_000), interface: Interface::Sata3, ..sheet() },
        Sheet { capacity: Bytes(15_360_000_000_000), ..sheet() },
    ];
    for sheet in sheets {
        let guess = guess(&sheet).unwrap();
        let text = guess.text();
        let again = Config::load(&[Layer::file("guess", &text)]);
        let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.values(), guess.config.values());
        let (noted, wanted) = (&again.notes, &guess.config.warnings);
        assert!(noted.is_empty() && wanted.is_empty(), "{noted:?} {wanted:?}\n{text}");
    }
}

/// A 990 PRO of 2 TB: hosts may allow larger packets than the link has here.
#[test]
fn a_link_may_carry_a_little_more() {
    let made = guess(&Sheet { read: rate(7_450), ..sheet() }).expect("a drive that is sold");
    assert!(!made.config.warnings.iter().any(|text| text.to_string().contains("read")));
}

#[test]
fn contradictions_are_told() {
    let told = |sheet: Sheet| guess(&sheet).expect_err("a contradiction");
    let wrong = [
        (
            Sheet { read: rate(7_700), ..sheet() },
            "`read` 7700 MB/s is more than pcie-4x4 carries: 7202 MB/s",
        ),
        (Sheet { random_write: Some(1e6), ..sheet() }, "more than the flash programs"),
        (Sheet { random_read: Some(3e6), ..sheet() }, "more than pcie-4x4 carries"),
        (Sheet { write: rate(6_900), part: NandPart::named("tlc-96"), ..sheet() }, "SLC cache"),
        (Sheet { read_latency: Some(Nanos(3_000)), ..sheet() }, "no time to sense"),
        (Sheet { write_latency: Some(Nanos(1_000)), ..sheet() }, "shorter than command and link"),
        (Sheet { write: rate(1_500), write_cached: rate(1_000), ..sheet() }, "swap them"),
        (Sheet { part: NandPart::named("qlc-96"), ..sheet() }, "or set `cell` to qlc"),
        (
            Sheet { cell: Cell::Slc, slc_cache: Some(Bytes(1 << 30)), ..sheet() },
            "SLC has no SLC cache",
        ),
        (Sheet { slc_cache: Some(Bytes(900_000_000_000)), ..sheet() }, "more than there is"),
        (Sheet { capacity: Bytes(1_000_000_000_000_000), ..sheet() }, "would need"),
    ];
    for (sheet, part) in wrong {
        let told = told(sheet);
        assert!(told.contains(part) && told.contains("remedy"), "{part}: {told}");
        assert!(!told.contains("`cell` to qlc-96"), "{told}");
    }
}

#[test]
fn doubts_are_told() {
    let guess =
        guess(&Sheet { write: rate(300), random_read: Some(900_000.0), ..sheet() }).unwrap();
    assert!(
        guess.doubts.iter().any(|doubt| doubt.contains("slow for 16 dies")),
        "{:?}",
        guess.doubts
    );
}

fn doubts(sheet: &Sheet) -> String {
    guess(sheet).unwrap().doubts.join("\n")
}

/// Four dies of 4 planes of 16 KiB sense 4 x 65,536 bytes in 53 us: 4,946 MB/s. One die does a quarter.
#[test]
fn figures_that_are_missed_are_told() {
    let read = rate(7_000);
    for (capacity, reached) in [(240, "4946 MB/s"), (64, "1237 MB/s")] {
        let sheet = Sheet { capacity: Bytes(capacity * 1_000_000_000), read, ..sheet() };
        let told = doubts(&sheet);
        let dies = "bound by the dies, which sense";
        assert!(told.contains("`read` 7000 MB/s is not met") && told.contains(reached), "{told}");
        assert!(told.contains(dies), "{told}");
        assert!(guess(&sheet).unwrap().text().contains(dies));
    }
    let told = doubts(&Sheet { random_read: Some(1.7e6), ..sheet() });
    assert!(told.contains("`random_read` 1700000 IOPS is not met"), "{told}");
}

#[test]
fn an_amplification_that_no_spare_gives_is_told() {
    let sheet = Sheet { write: rate(1_500), random_write: Some(5_000.0), ..sheet() };
    let told = doubts(&sheet);
    assert!(told.contains("a write amplification of 7"), "{told}");
    assert!(told.contains("no over-provisioning gives") && told.contains("host.command_time"));
    // Without that, blocks are those of a drive that sells GiB as GB.
    assert!(given(&guess(&sheet).unwrap(), "random write") > 20_000.0);
}

/// Intel S3700, 200 GB: its link holds its reads up, and a page of 4 KiB passes a bus of 200 MB/s in 20.48 us.
#[test]
fn the_link_of_sata_is_no_bus() {
    let sheet = Sheet {
        capacity: Bytes(200_000_000_000),
        cell: Cell::Mlc,
        interface: Interface::Sata3,
        read: rate(500),
        write: rate(365),
        random_read: Some(75_000.0),
        random_write: Some(32_000.0),
        read_latency: Some(Nanos(50_000)),
        write_latency: Some(Nanos(65_000)),
        ..sheet()
    };
    let guess = guess(&sheet).unwrap();
    assert_eq!(line(&guess, "nand.bus.rate"), "\"200MB/s\"");
    let bus = guess.lines.iter().find(|line| line.path == "nand.bus.rate").unwrap();
    assert!(bus.why.contains("the link limits sequential reads of 500 MB/s"), "{}", bus.why);
    for (figure, asked) in [("read latency", 50.0), ("write latency", 65.0)] {
        assert!((given(&guess, figure) - asked).abs() < 0.1, "{figure}");
    }
}

#[test]
fn remedies_name_the_figure_that_decides() {
    let told = |sheet: Sheet| guess(&sheet).expect_err("no time to sense");
    let short = Some(Nanos(10_000));
    // 4 KiB on a bus of a quarter of 400 MB/s take 41 us.
    let slow = Sheet { read: rate(400), capacity: Bytes(32_000_000_000), ..sheet() };
    let bus = told(Sheet { read_latency: short, ..slow });
    assert!(bus.contains("follows from `read`") && !bus.contains("random_read"), "{bus}");
    let command = told(Sheet { read_latency: short, random_read: Some(50_000.0), ..sheet() });
    assert!(command.contains("`random_read` makes a command 20.0 us long"), "{command}");
    let link =
        told(Sheet { interface: Interface::Sata3, read_latency: Some(Nanos(5_000)), ..sheet() });
    assert!(!link.contains("random_read"), "{link}");
}

#[test]
fn long_commands_are_doubtful() {
    let told = doubts(&Sheet { random_read: Some(20_000.0), ..sheet() });
    assert!(told.contains("commands of 50.0 us") && told.contains("ftl.mapping.policy"), "{told}");
    assert_eq!(doubts(&Sheet { random_read: Some(100_000.0), ..sheet() }), "");
}

/// Without spare blocks random writes have no end: no number of cycles is enough.
#[test]
fn endurance_without_spare_is_refused() {
    let day = Endurance::DriveWrites { a_day: 1.0, years: 5.0 };
    let told = derive::endured_with(&Sheet { endurance: Some(day), ..sheet() }, 300.0).unwrap_err();
    assert!(told.contains("`endurance` can't be met") && told.contains("remedy"), "{told}");
    assert!(derive::endured_with(&Sheet { endurance: Some(day), ..sheet() }, 682.0).is_ok());
}
