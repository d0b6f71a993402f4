//! Values with units: what they accept, the errors otherwise, and that printing and parsing agree.

use ftlab::config::MapUnit;
use ftlab::options::value::Value;
use ftlab::shape::StripeOrder;
use ftlab::units::{Amount, Bytes, BytesPerSec, Nanos, Ratio, RequestRate};
use proptest::prelude::*;

fn message<T: Value>(text: &str) -> String {
    T::parse(text).expect_err(text).to_string()
}

#[test]
fn times_are_exact() {
    let ns = |text: &str| Nanos::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).0;
    assert_eq!(ns("200us"), 200_000);
    assert_eq!(ns("1.5ms"), 1_500_000);
    assert_eq!(ns("0.1 us"), 100);
    assert_eq!(ns("3.000000001s"), 3_000_000_001);
    assert_eq!(ns("1_000ns"), 1_000);
    assert_eq!(ns("12µs"), 12_000);
    assert_eq!(ns("1.5min"), 90_000_000_000);
    assert_eq!(ns("2h"), 7_200_000_000_000);
    assert_eq!(ns("1.50000000000000000000000000000000000000us"), 1_500);
    assert_eq!(
        message::<Nanos>("1.0005us"),
        "\"1.0005us\" is not a whole number of ns; round it to a multiple of ns"
    );
}

#[test]
fn days_and_years_are_printed_where_they_are_whole() {
    const DAY: u64 = 86_400_000_000_000;
    for (text, ns, printed) in [
        ("1d", DAY, "1d"),
        ("1.5d", DAY / 2 * 3, "129600s"),
        ("24h", DAY, "1d"),
        ("1y", 365 * DAY, "1y"),
        ("366d", 366 * DAY, "366d"),
        ("0.5y", 365 * DAY / 2, "15768000s"),
        ("100y", 36_500 * DAY, "100y"),
        ("12h", DAY / 2, "43200s"),
        ("0d", 0, "0ns"),
    ] {
        assert_eq!(Nanos::parse(text), Ok(Nanos(ns)), "{text}");
        assert_eq!(Nanos(ns).print(), printed);
    }
    // The clock counts 64 bits of nanoseconds.
    assert!(message::<Nanos>("585y").contains("is too large"));
}

#[test]
fn a_missing_unit_is_an_error_with_a_proposal() {
    let cases = [
        (
            message::<Nanos>("200"),
            "a time needs a unit; write \"200us\" (units: ns, us, ms, s, min, h, d, y of 365 d)",
        ),
        (message::<Ratio>("0.07"), "a share needs a unit; write \"7%\" (units: %)"),
        (message::<Ratio>("7"), "a share needs a unit; write \"7%\" (units: %)"),
    ];
    for (said, expected) in cases {
        assert_eq!(said, expected);
    }
    assert!(message::<Bytes>("4096").starts_with("a size needs a unit; write \"4KiB\""));
    assert!(message::<BytesPerSec>("800").starts_with("a rate needs a unit; write \"800MB/s\""));
}

#[test]
fn a_wrong_unit_is_an_error_with_the_nearest() {
    assert!(message::<Nanos>("70 msec").contains("write \"70ms\""));
    assert!(message::<Nanos>("70US").contains("write \"70us\""));
    // Either could be meant, so none is suggested.
    assert!(message::<Bytes>("4K").contains("write \"4KiB\" or \"4kB\""));
    assert!(message::<Bytes>("64G").contains("write \"64GiB\" or \"64GB\""));
    assert!(message::<u32>("8 blocks").contains("a count takes no unit"));
}

#[test]
fn binary_and_decimal_sizes_differ() {
    assert_eq!(Bytes::parse("16 KiB"), Ok(Bytes(16_384)));
    assert_eq!(Bytes::parse("16kB"), Ok(Bytes(16_000)));
    assert_eq!(Bytes::parse("0.5KiB"), Ok(Bytes(512)));
    assert_eq!(BytesPerSec::parse("1.2GB/s"), Ok(BytesPerSec(1_200_000_000)));
    assert_eq!(BytesPerSec::parse("333MB/s"), Ok(BytesPerSec(333_000_000)));
}

#[test]
fn request_rates_are_exact_and_have_a_limit() {
    assert_eq!(RequestRate::parse("0.5/s"), Ok(RequestRate { per_kilosecond: 500 }));
    assert_eq!(RequestRate::parse("50_000 /s"), Ok(RequestRate { per_kilosecond: 50_000_000 }));
    assert!(message::<RequestRate>("50000").contains("write \"50000/s\""));
    assert!(message::<RequestRate>("0.0005/s").contains("not a whole number of 0.001/s"));
    assert!(message::<RequestRate>("1000000001/s").contains("the most is 1000000000/s"));
}

#[test]
fn amounts_are_sizes_or_shares() {
    assert_eq!(Amount::parse("2GiB"), Ok(Amount::Bytes(Bytes(2 << 30))));
    assert_eq!(Amount::parse("150%"), Ok(Amount::Share(Ratio::percent(150))));
    assert!(message::<Amount>("7").ends_with(", or a share of the whole like \"50%\""));
    assert!(Amount::parse("-1%").is_err() && Amount::parse("2 parts").is_err());
    assert!(Amount::parse("2GiB").unwrap().within("1GiB", "2GiB"));
    assert!(!Amount::parse("3GiB").unwrap().within("1GiB", "2GiB"));
}

#[test]
fn counts_have_32_or_64_bits() {
    assert_eq!(u64::parse("18446744073709551615"), Ok(u64::MAX));
    assert!(message::<u64>("18446744073709551616").contains("2^64"));
    assert_eq!(u32::parse("4294967295"), Ok(u32::MAX));
}

#[test]
fn messages_show_only_the_beginning_of_a_long_text() {
    let long = "9".repeat(100_000);
    let said = [
        message::<Nanos>(&format!("{long}us")),
        message::<Bytes>(&format!("1.{}B", "0".repeat(100_000))),
        message::<Ratio>(&format!("1{}", "x\n".repeat(100_000))),
        message::<u64>(&long),
        message::<MapUnit>(&long),
        message::<StripeOrder>(&long),
    ];
    for said in said {
        assert!(said.len() < 400 && !said.contains('\n'), "{said}");
    }
}

#[test]
fn nonsense_and_huge_numbers_are_errors() {
    for text in [
        "",
        " ",
        "us",
        "-3us",
        "1e3us",
        "1..5us",
        ".5us",
        "5.us",
        "1__0us",
        "_1us",
        "1_us",
        "99999999999999999999s",
        "340282366920938463463374607431768211456us",
        "0x10us",
        "∞us",
    ] {
        assert!(Nanos::parse(text).is_err(), "{text}");
    }
    assert!(message::<Nanos>("99999999999999999999s").contains("too large"));
    assert!(message::<Bytes>("16777216TiB").contains("too large"));
    assert!(message::<Ratio>("500000%").contains("too large"));
    assert!(message::<u32>("4294967296").contains("2^32"));
    assert!(message::<u32>("-1").contains("negative"));
    assert_eq!(u32::parse("1_000"), Ok(1_000));
    assert!(u32::parse("1.5").is_err());
}

#[test]
fn orders_are_permutations() {
    assert!(StripeOrder::parse("plane-die-chip-channel").is_ok());
    for text in [
        "",
        "channel",
        "channel-chip-die-die",
        "channel-chip-die-plane-",
        "a-b-c-d",
        "channel-chip-die-plane-plane",
        "channel-chip--die-plane",
    ] {
        assert!(StripeOrder::parse(text).is_err(), "{text}");
    }
}

fn comes_back<T: Value>(value: &T) {
    assert_eq!(T::parse(&value.print()).as_ref(), Ok(value), "{}", value.print());
}

proptest! {
    #[test]
    fn printing_and_parsing_agree(number in prop_oneof![any::<u64>(), 0..5_000_000_u64]) {
        comes_back(&Nanos(number));
        comes_back(&Bytes(number));
        comes_back(&BytesPerSec(number));
        comes_back(&Ratio { ppm: number as u32 });
        comes_back(&RequestRate { per_kilosecond: number % 1_000_000_000_000 });
        comes_back(&Amount::Bytes(Bytes(number)));
        comes_back(&Amount::Share(Ratio { ppm: number as u32 }));
        comes_back(&(number as u32));
        comes_back(&number);
        comes_back(&MapUnit::Size(Bytes(number)));
        comes_back(&vec![Nanos(number), Nanos(number / 7)]);
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in ".{0,40}") {
        let _ = Nanos::parse(&text);
        let _ = Bytes::parse(&text);
        let _ = BytesPerSec::parse(&text);
        let _ = Ratio::parse(&text);
        let _ = RequestRate::parse(&text);
        let _ = Amount::parse(&text);
        let _ = (u32::parse(&text), u64::parse(&text));
        let _ = MapUnit::parse(&text);
        let _ = StripeOrder::parse(&text);
        let _ = Vec::<Nanos>::parse(&text);
    }

    #[test]
    fn numbers_with_any_unit_never_panic(
        number in "[0-9_.]{1,45}",
        unit in prop_oneof![Just(""), Just("us"), Just("TiB"), Just("GB/s"), Just("%"), Just("é")],
    ) {
        let text = format!("{number}{unit}");
        let _ = (Nanos::parse(&text), Bytes::parse(&text), Ratio::parse(&text));
        let _ = (BytesPerSec::parse(&text), u32::parse(&text), MapUnit::parse(&text));
    }
}

#[test]
fn a_misspelt_word_is_not_taken_for_a_size() {
    assert_eq!(MapUnit::parse("flash-page"), Ok(MapUnit::FlashPage));
    assert_eq!(
        message::<MapUnit>("flash-pag"),
        "\"flash-pag\" is neither a size nor flash-page; write \"flash-page\" or a size like \"4KiB\""
    );
    let size = message::<MapUnit>("4096");
    assert!(
        size.contains("a size needs a unit") && size.ends_with(", or \"flash-page\""),
        "{size}"
    );
}
