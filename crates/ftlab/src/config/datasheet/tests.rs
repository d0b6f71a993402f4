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

#[test]
fn contradictions_are_told() {
    let told = |sheet: Sheet| guess(&sheet).expect_err("a contradiction");
    let wrong = [
        (
            Sheet { read: rate(7_500), ..sheet() },
            "`read` 7500 MB/s is more than pcie-4x4 carries: 7202 MB/s",
        ),
        (Sheet { random_write: Some(1e6), ..sheet() }, "more than the flash programs"),
        (Sheet { random_read: Some(3e6), ..sheet() }, "more than pcie-4x4 carries"),
        (Sheet { write: rate(6_900), part: NandPart::named("tlc-96"), ..sheet() }, "SLC cache"),
        (Sheet { read_latency: Some(Nanos(3_000)), ..sheet() }, "no time to sense"),
        (Sheet { write_latency: Some(Nanos(1_000)), ..sheet() }, "shorter than command and link"),
        (Sheet { write: rate(1_500), write_cached: rate(1_000), ..sheet() }, "swap them"),
        (Sheet { part: NandPart::named("qlc-96"), ..sheet() }, "has qlc cells"),
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
