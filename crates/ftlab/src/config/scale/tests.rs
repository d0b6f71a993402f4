//! Tests of scaling: what is kept, what goes along, what is refused.

use super::*;
use crate::options::presets;

fn preset(name: &str, sets: &[&str]) -> Config {
    let sets = sets.iter().enumerate().map(|(at, text)| Layer::set(at + 1, text));
    let layers: Vec<Layer> = std::iter::once(Layer::preset(name)).chain(sets).collect();
    Config::load(&layers).expect(name)
}

fn scaled(name: &str, sets: &[&str], factor: &str) -> Scaled {
    scale(&preset(name, sets), Factor::parse(factor).unwrap()).unwrap()
}

fn becomes<'a>(scaled: &'a Scaled, path: &str) -> Option<&'a str> {
    scaled.changes.iter().find(|change| change.path == path).map(|change| &*change.becomes)
}

#[test]
fn factors_are_parts() {
    let shown = |text: &str| Factor::parse(text).map(|factor| factor.to_string());
    for (text, factor) in [
        ("1/16", "1/16"),
        ("2/32", "1/16"),
        ("0.0625", "1/16"),
        ("6.25%", "1/16"),
        (" 3 / 4 ", "3/4"),
    ] {
        assert_eq!(shown(text), Ok(factor.to_owned()));
    }
    let long = "0.".to_owned() + &"1".repeat(40);
    for bad in
        ["0", "0/4", "1", "1/1", "2", "1/0", "0/0", "200%", "-1/2", "x", "", "1/2/3", "/", &long]
    {
        assert!(shown(bad).is_err_and(|told| told.contains("such as 1/16")), "{bad}");
    }
}

#[test]
fn a_quarter_has_shorter_blocks() {
    let quarter = scaled("tlc-512g", &[], "1/4");
    let whole = preset("tlc-512g", &[]);
    assert_eq!(quarter.config.options.nand.timing.erase.0, 5_000_000 / 4);
    let paths: Vec<&str> = quarter.changes.iter().map(|change| change.path).collect();
    let expected = [
        "device.name",
        "device.description",
        "nand.pages_per_block",
        "nand.timing.erase",
        "ftl.gc.host_lead",
    ];
    assert_eq!(paths, expected);
    assert_eq!(becomes(&quarter, "nand.pages_per_block"), Some("288"));
    assert!((quarter.config.logical_pages() * 4).abs_diff(whole.logical_pages()) < 8);
}

/// 144 pages are the least; with 162, a ninth of the blocks that hold data is a whole number, and three are free or open: the
/// reserve, one for the host and one for copies. (1821 - 3) / 9 + 3 = 205.
#[test]
fn fewer_blocks_keep_those_that_are_free_or_open() {
    let part = scaled("tlc-512g", &[], "1/64");
    assert_eq!(becomes(&part, "nand.pages_per_block"), Some("162"));
    assert_eq!(becomes(&part, "nand.blocks_per_plane"), Some("205"));
    let whole = preset("tlc-512g", &[]);
    let off = f64::from(part.config.logical_pages()) * 64.0 / f64::from(whole.logical_pages());
    assert!((off - 1.0).abs() < 3e-6, "{off}");
}

#[test]
fn what_is_a_share_of_the_capacity_goes_along() {
    let sets = ["ftl.capacity=400GB", "ftl.recovery.policy=checkpoint", "ftl.mapping.policy=dftl"];
    let part = scaled("tlc-512g", &sets, "1/16");
    assert_eq!(becomes(&part, "ftl.recovery.every"), Some("\"64MiB\""));
    assert_eq!(becomes(&part, "ftl.mapping.cache"), Some("\"4KiB\""));
    assert_eq!(part.config.options.ftl.capacity.map(|bytes| bytes.0 / 1_000_000), Some(25_000));
    assert_eq!(becomes(&part, "cache.capacity"), None);
}

#[test]
fn thresholds_keep_their_least() {
    let sets =
        ["ftl.gc.start=10", "ftl.gc.stop=11", "ftl.gc.reserve=3", "ftl.over_provisioning=30%"];
    let part = scaled("tlc-512g", &sets, "1/64");
    let values = ["ftl.gc.start", "ftl.gc.stop", "ftl.gc.reserve"].map(|path| becomes(&part, path));
    // (10 - 2) / 9 + 2, (11 - 3) / 9 + 3, (3 - 1) / 9 + 1, or nearly: the reserve has a part in which number of pages is best.
    assert_eq!(values, [Some("3"), Some("4"), Some("1")]);
}

#[test]
fn an_slc_cache_shrinks_with_the_blocks() {
    let half = scaled("qlc-1t", &[], "1/2");
    assert_eq!(becomes(&half, "ftl.slc_cache.blocks"), None);
    let part = scaled("qlc-1t", &[], "1/64");
    // 24 of 188 pages, as 1363 x 24 / 188 is 174: 60 and 636 blocks become 7.7 and 81.2.
    assert_eq!(becomes(&part, "nand.pages_per_block"), Some("188"));
    assert_eq!(becomes(&part, "ftl.slc_cache.blocks"), Some("8"));
    assert_eq!(becomes(&part, "ftl.slc_cache.most_borrowed"), Some("81"));
    assert_eq!(becomes(&part, "nand.slc_mode.erase"), Some("\"775.99us\""));
}

#[test]
fn what_has_no_limit_keeps_none() {
    let sets = ["ftl.slc_cache.policy=dynamic", "nand.faults.disturb_limit=none"];
    let part = scaled("tlc-512g", &sets, "1/64");
    assert_eq!(becomes(&part, "ftl.slc_cache.most_borrowed"), None);
    assert_eq!(becomes(&part, "nand.faults.disturb_limit"), None);
}

/// Every built-in device that can be scaled yields a file with the same options.
#[test]
fn files_yield_the_device() {
    let mut told = 0;
    for name in presets::names() {
        for factor in ["1/2", "1/3", "1/16", "1/64"] {
            let Ok(part) = scale(&preset(name, &[]), Factor::parse(factor).unwrap()) else {
                continue;
            };
            let text = part.text();
            let again = Config::load(&[Layer::file("scaled", &text)]);
            let again = again.unwrap_or_else(|error| panic!("{name}, {factor}: {error}\n{text}"));
            assert_eq!(again.values(), part.config.values(), "{name}, {factor}");
            assert_eq!(again.notes, [], "{name}, {factor}\n{text}");
            told += 1;
        }
    }
    assert!(told > 40, "{told}");
}

#[test]
fn word_lines_stay_whole() {
    let sets = ["nand.program_unit=word-line", "nand.timing.program_by_type=1725us"];
    let part = scaled("tlc-512g", &sets, "1/10");
    // 144 word lines of three pages are the least.
    let pages = part.config.options.nand.pages_per_block;
    assert!(pages.is_multiple_of(3) && (432..=864).contains(&pages), "{pages}");
    assert!(scaled("tlc-512g", &[], "1/10").config.options.nand.pages_per_block.is_multiple_of(3));
}

#[test]
fn too_little_is_told() {
    let told = scale(&preset("tiny", &[]), Factor::parse("1/64").unwrap()).unwrap_err();
    assert!(told.contains("blocks"), "{told}");
}

/// What is named as the smallest part works, and the next one does not.
#[test]
fn a_refusal_names_the_smallest_part() {
    let whole = preset("tlc-512g", &[]);
    let told = scale(&whole, Factor::parse("1/1024").unwrap()).unwrap_err();
    let (_, smallest) = told.split_once("the smallest part that works is 1/").expect(&told);
    let smallest: u64 = smallest.parse().unwrap();
    let part =
        |whole| scale(&preset("tlc-512g", &[]), Factor::parse(&format!("1/{whole}")).unwrap());
    assert!(part(smallest).is_ok() && part(smallest + 1).is_err(), "{told}");
}

#[test]
fn few_blocks_are_told() {
    let few = scaled("plain-32g", &[], "1/16");
    let cautions = few.cautions().join("\n");
    assert!(cautions.contains("write amplification drifts"), "{cautions}");
    assert!(few.text().contains("write amplification drifts"));
    assert_eq!(scaled("tlc-512g", &[], "1/64").cautions(), Vec::<String>::new());
}

#[test]
fn rounded_slc_caches_are_told() {
    let sets = ["ftl.slc_cache.blocks=4", "ftl.slc_cache.most_borrowed=200"];
    let cautions = scaled("qlc-1t", &sets, "1/64").cautions().join("\n");
    assert!(cautions.contains("`ftl.slc_cache.blocks`"), "{cautions}");
    assert!(!cautions.contains("most_borrowed"), "{cautions}");
}

/// A lead is small against a block, and stays so: 16 x 288 / 1152 = 4.
#[test]
fn leads_go_along_with_blocks() {
    assert_eq!(becomes(&scaled("tlc-512g", &[], "1/4"), "ftl.gc.host_lead"), Some("4"));
    let bucket = scaled("tlc-512g", &["ftl.gc.pacing=token-bucket"], "1/4");
    assert_eq!(becomes(&bucket, "ftl.gc.bucket"), Some("4"));
}

#[test]
fn comments_name_the_pages_that_are_there() {
    let part = scaled("tlc-512g", &[], "1/64");
    let change = part.changes.iter().find(|change| change.path == "nand.pages_per_block").unwrap();
    assert!(change.why.starts_with("162 flash pages"), "{}", change.why);
}

/// Once 1/256 was refused, as the number of pages with the least rounding leaves too few blocks, and 1/300 was not.
#[test]
fn parts_are_refused_from_one_on() {
    let works = |name: &str, whole: u64| {
        scale(&preset(name, &[]), Factor::parse(&format!("1/{whole}")).unwrap()).is_ok()
    };
    for name in ["tlc-512g", "7450-max-800g"] {
        let parts: Vec<bool> = (200..=340).step_by(20).map(|whole| works(name, whole)).collect();
        assert!(parts.is_sorted_by(|larger, smaller| larger >= smaller), "{name}: {parts:?}");
    }
}
