//! Layers, origins, round trips and random configs.

use ftlab::cache::WriteBufferChoice;
use ftlab::config::{Config, Layer, MapUnit, ValueOrigin};
use ftlab::config::{Topic, all_options, all_policies, explain, fuzz};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::host::Host;
use ftlab::nand::timing::{TimingChoice, TimingPolicy};
use ftlab::nand::{CostClass, ReadEffort, Scheduled};
use ftlab::options::presets;
use ftlab::options::value::{Value, ValueKind};
use ftlab::scheduler::SchedulerChoice;
use ftlab::shape::{Geometry, StripeOrder};
use ftlab::units::{
    Amount, BlockId, Bytes, BytesPerSec, Microwatts, Nanos, Ratio, RequestRate, TransferRate,
};
use proptest::prelude::*;

fn load(layers: &[Layer]) -> Config {
    Config::load(layers).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn later_layers_win_and_values_remember_theirs() {
    let file = "base = \"tlc-512g\"\n[ftl.gc]\nstart = 5\nstop = 6\n[cache]\ncapacity = \"8MiB\"\n";
    let config = load(&[
        Layer::file("my.toml", file),
        Layer::set(1, "ftl.gc.stop=8"),
        Layer::set(2, " scheduler.policy = \"read-first\" "),
        Layer::set(3, "ftl.gc.stop = 9"),
    ]);
    assert_eq!(config.options.ftl.gc.start, 5);
    assert_eq!(config.options.ftl.gc.stop, 9);
    assert_eq!(config.options.nand.channels, 4);
    assert!(matches!(config.options.scheduler.policy, SchedulerChoice::ReadFirst(_)));
    let origin = |path| config.origin(path).map(ValueOrigin::to_string);
    assert_eq!(origin("ftl.gc.start").as_deref(), Some("my.toml:3"));
    assert_eq!(origin("ftl.gc.stop").as_deref(), Some("--set 3"));
    assert_eq!(origin("scheduler.policy").as_deref(), Some("--set 2"));
    assert_eq!(origin("nand.channels").as_deref(), Some("preset tlc-512g:17"));
    assert_eq!(origin("ftl.gc.reserve").as_deref(), Some("default"));
    assert_eq!(origin("nand.timing.read"), None, "it does not apply");
}

#[test]
fn a_changed_policy_drops_the_options_of_the_old_one() {
    let none = load(&[Layer::preset("tlc-512g"), Layer::set(1, "cache.policy=none")]);
    assert!(matches!(none.options.cache.policy, WriteBufferChoice::None(_)));
    assert!(none.options.cache.policy.dram().is_none());
    let plain = load(&[
        Layer::preset("tlc-512g"),
        Layer::set(1, "nand.timing.policy=plain"),
        Layer::set(2, "nand.timing.read=58us"),
        Layer::set(3, "nand.timing.program=575us"),
    ]);
    let TimingChoice::Plain(times) = &plain.options.nand.timing.policy else { panic!("not plain") };
    assert_eq!(times.read, Nanos::from_micros(58));
    assert!(!plain.show().contains("read_by_type"));
}

#[test]
fn defaults_give_way_to_a_small_page() {
    let sets = ["nand.page_size=2KiB", "nand.channels=1"];
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny"))
        .chain(sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)))
        .collect();
    let config = load(&layers);
    assert_eq!(config.options.nand.codeword, Bytes::from_kib(2));
    assert_eq!(config.options.ftl.mapping.unit, MapUnit::Size(Bytes::from_kib(2)));
    assert!(config.show().contains("# default, cut to the page size"));
}

#[test]
fn a_config_becomes_the_parts_of_a_device() {
    let config = load(&[
        Layer::preset("tlc-512g"),
        Layer::set(1, "cache.write_back_start=50%"),
        Layer::set(2, "cache.capacity=1MiB"),
    ]);
    let setup = DeviceSetup::new(&config, 7);
    assert_eq!(setup.ftl.geometry.planes(), 16);
    assert_eq!(setup.ftl.geometry.physical_pages(), 16 * 1821 * 1152 * 4);
    // 16 x 1821 x 1152 x 4 / 1.07407, rounded down.
    let logical = 134_258_688_u64 * 1_000_000 / 1_074_070;
    assert_eq!(u64::from(setup.ftl.logical_pages), logical);
    let flash_page = |page| {
        setup.flash.geometry.page_at(BlockId::new(0), page * setup.flash.geometry.units_per_page())
    };
    assert_eq!(
        setup.flash.timing.native.read(&setup.flash.geometry, flash_page(0), ReadEffort::default()),
        Nanos::from_micros(41)
    );
    assert_eq!(
        setup.flash.timing.native.read(&setup.flash.geometry, flash_page(5), ReadEffort::default()),
        Nanos::from_micros(77)
    );
    assert_eq!(
        setup.flash.timing.native.program(
            &setup.flash.geometry,
            flash_page(4),
            CostClass::default()
        ),
        Nanos::from_micros(575)
    );
    assert_eq!(setup.flash.timing.native.erase(), Nanos::from_micros(5_000));
    assert_eq!(setup.buffer.capacity, Some(256));
    assert_eq!(setup.buffer.write_back_above, 128);
    // Two rows for each of 8 dies of 2 planes.
    assert_eq!(setup.buffer.programs_in_flight, Some(2 * 8 * 2));
    assert_eq!(assemble(setup).capacity_sectors(), logical * 8);
}

#[test]
fn shown_text_loads_to_the_same_config() {
    for preset in presets::devices() {
        let config =
            load(&[Layer::preset(preset.name), Layer::set(1, "scheduler.policy=read-first")]);
        for text in [config.show(), config.canonical()] {
            let again = load(&[Layer::file("shown.toml", &text)]);
            assert_eq!(again.options, config.options, "{text}");
            assert_eq!(again.canonical(), config.canonical());
            assert_eq!(again.shape(), config.shape());
        }
    }
}

#[test]
fn a_shown_config_in_full() {
    insta::assert_snapshot!(
        load(&[
            Layer::preset("tiny"),
            Layer::set(1, "cache.policy=lru"),
            Layer::set(2, "cache.capacity=1MiB")
        ])
        .show()
    );
}

#[test]
fn every_declaration_holds_together() {
    for option in all_options() {
        assert!(!option.doc.is_empty() && option.doc.ends_with('.'), "{}", option.path);
        assert!(option.seam.is_some() || !option.source.is_empty(), "{}", option.path);
        assert!(matches!(explain(option.path), Ok(Topic::Option(_))), "{}", option.path);
        if option.kind == ValueKind::Count {
            assert!(!option.unit.is_empty(), "{} does not say what it counts", option.path);
        }
        for text in option.default.iter().chain(option.range.iter().flat_map(|(a, b)| [a, b])) {
            assert!(parses(option.kind, text), "{} = {text}", option.path);
        }
        if let (Some(default), Some((low, high))) = (option.default, option.range) {
            assert!(lies_within(option.kind, default, low, high), "{}", option.path);
        }
    }
    for seam in all_policies() {
        assert!(seam.policies.iter().any(|policy| policy.name == seam.default), "{}", seam.path);
        for policy in seam.policies {
            assert!(!policy.summary.is_empty() && !policy.source.is_empty(), "{}", policy.name);
        }
    }
}

fn parses(kind: ValueKind, text: &str) -> bool {
    match kind {
        ValueKind::Count => Option::<u32>::parse(text).is_ok(),
        ValueKind::Time => Option::<Nanos>::parse(text).is_ok(),
        ValueKind::Times => Vec::<Nanos>::parse(text).is_ok(),
        ValueKind::Counts => Vec::<u32>::parse(text).is_ok(),
        ValueKind::Size => Option::<Bytes>::parse(text).is_ok(),
        ValueKind::Rate => Option::<BytesPerSec>::parse(text).is_ok(),
        ValueKind::Share => Ratio::parse(text).is_ok(),
        ValueKind::RequestRate => RequestRate::parse(text).is_ok(),
        ValueKind::Power => Microwatts::parse(text).is_ok(),
        ValueKind::TransferRate => TransferRate::parse(text).is_ok(),
        ValueKind::Amount => Amount::parse(text).is_ok(),
        ValueKind::Order => StripeOrder::parse(text).is_ok(),
        ValueKind::Faults => Vec::<Scheduled>::parse(text).is_ok(),
        ValueKind::Text | ValueKind::Choice | ValueKind::Names => true,
    }
}

fn lies_within(kind: ValueKind, text: &str, low: &str, high: &str) -> bool {
    match kind {
        ValueKind::Count => Option::<u32>::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Time => Option::<Nanos>::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Times => Vec::<Nanos>::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Size => Option::<Bytes>::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Rate => {
            Option::<BytesPerSec>::parse(text).is_ok_and(|value| value.within(low, high))
        }
        ValueKind::Counts => Vec::<u32>::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Share => Ratio::parse(text).is_ok_and(|value| value.within(low, high)),
        ValueKind::Power => Microwatts::parse(text).is_ok_and(|value| value.within(low, high)),
        other => panic!("{other:?} has no range"),
    }
}

#[test]
fn explanations() {
    let explained: Vec<String> = ["ftl.gc", "ftl.gc.start", "scheduler.policy", "cache.capacity"]
        .iter()
        .map(|path| explain(path).expect(path).to_string())
        .collect();
    insta::assert_snapshot!(explained.join("----\n"));
    let unknown = explain("ftl.gc.victem").expect_err("a slip of the pen");
    assert!(unknown.remedy.starts_with("did you mean ftl.gc.victim?"), "{unknown}");
    let deeper = explain("ftl.gc.victim.policy").expect_err("an option holds no options");
    assert!(deeper.remedy.starts_with("did you mean ftl.gc.victim?"), "{deeper}");
    let lost = explain("zzz").expect_err("nothing like it");
    assert!(
        lost.remedy
            .contains("device, host, firmware, controller, nand, ftl, cache, power, scheduler"),
        "{lost}"
    );
}

/// A device of random geometry and thresholds, as overrides of the smallest preset. Each number
/// lies in the range of its option; whether they fit together is left to chance.
fn random_sets() -> impl Strategy<Value = Vec<String>> {
    let size = |low: u32, high: u32| (low..=high).prop_map(|bits| format!("{}B", 1_u64 << bits));
    (
        (1..=128_u32, 1..=64_u32, 1..=16_u32, 1..=16_u32),
        (4..=100_000_u32, 4..=16_384_u32, size(11, 16), size(9, 16), size(9, 16)),
        (0..=9_000_000_u32, 2..=20_u32, 2..=40_u32, 1..=20_u32),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        (1_u64..1_000_000_000, 1_000_000_u64..100_000_000_000, 2048..1_u64 << 40),
    )
        .prop_map(|(dies, blocks, gc, policies, quantities)| {
            let choose =
                |pick: bool, a: &str, b: &str| if pick { a.to_owned() } else { b.to_owned() };
            let mut sets = vec![
                format!("nand.channels={}", dies.0),
                format!("nand.chips_per_channel={}", dies.1),
                format!("nand.dies_per_chip={}", dies.2),
                format!("nand.planes_per_die={}", dies.3),
                format!("nand.blocks_per_plane={}", blocks.0),
                format!("nand.pages_per_block={}", blocks.1),
                format!("nand.page_size={}", blocks.2),
                format!("nand.codeword={}", blocks.3),
                format!("ftl.mapping.unit={}", blocks.4),
                format!("ftl.over_provisioning={}.{:04}%", gc.0 / 10_000, gc.0 % 10_000),
                format!("ftl.gc.start={}", gc.1),
                format!("ftl.gc.stop={}", gc.2),
                format!("ftl.gc.reserve={}", gc.3),
                format!("ftl.placement.policy={}", choose(policies.0, "static", "dynamic")),
                format!("scheduler.policy={}", choose(policies.1, "fifo", "read-first")),
                format!("cache.policy={}", choose(policies.2, "none", "lru")),
                format!("nand.timing.erase={}ns", quantities.0.max(1_000)),
                format!("nand.bus.rate={}B/s", quantities.1),
            ];
            if !policies.2 {
                sets.push(format!("cache.capacity={}B", quantities.2));
            }
            if policies.3 {
                // Half of the devices are small and have ordered thresholds, so that many are valid.
                sets.extend([
                    format!("nand.blocks_per_plane={}", blocks.0 % 1_000 + 100),
                    format!("nand.pages_per_block={}", blocks.1 % 300 + 4),
                    format!("nand.channels={}", dies.0 % 4 + 1),
                    format!("nand.chips_per_channel={}", dies.1 % 4 + 1),
                    format!("ftl.over_provisioning={}%", gc.0 % 860 + 40),
                    format!("ftl.gc.stop={}", gc.1 + gc.2),
                    "ftl.gc.reserve=1".to_owned(),
                    "ftl.mapping.unit=flash-page".to_owned(),
                    "nand.codeword=512B".to_owned(),
                ]);
            }
            sets
        })
}

proptest! {
    #[test]
    fn any_config_is_refused_with_reasons_or_resolves(sets in random_sets()) {
        let mut layers = vec![Layer::preset("tiny")];
        layers.extend(sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)));
        match Config::load(&layers) {
            Err(error) => prop_assert!(!error.problems.is_empty()),
            Ok(config) => {
                let geometry = Geometry::new(config.shape());
                let gc = &config.options.ftl.gc;
                prop_assert!(config.options.nand.codeword <= config.shape().mapping_unit);
                let share = config.logical_pages().div_ceil(geometry.planes());
                let filled = share.div_ceil(geometry.units_per_block());
                prop_assert!(filled + gc.start + 3 <= config.shape().blocks_per_plane);
                prop_assert!(gc.stop >= gc.start && gc.start > gc.reserve);
                let again = Config::load(&[Layer::file("shown.toml", &config.show())]);
                prop_assert_eq!(again.map(|again| again.options).ok(), Some(config.options));
            }
        }
    }

    #[test]
    fn the_suggested_over_provisioning_is_enough(
        blocks in 8..200_u32,
        start in 2..20_u32,
        pages in 4..300_u32,
    ) {
        let sets = [
            format!("nand.blocks_per_plane={blocks}"),
            format!("nand.pages_per_block={pages}"),
            format!("ftl.gc.start={start}"),
            format!("ftl.gc.stop={start}"),
            "ftl.over_provisioning=0%".to_owned(),
        ];
        let mut layers = vec![Layer::preset("tiny")];
        layers.extend(sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set)));
        let error = Config::load(&layers).expect_err("nothing is left over");
        let remedy = &error.problems[0].remedy;
        let mut words = remedy.split_whitespace();
        let repaired = match words.find(|word| word.ends_with("%\"")) {
            Some(share) => format!("ftl.over_provisioning={share}"),
            None => {
                let enough = remedy.split_whitespace().find(|word| word.parse::<u32>().is_ok());
                layers.push(Layer::set(8, "ftl.over_provisioning=900%"));
                format!("nand.blocks_per_plane={}", enough.expect("a number of blocks"))
            }
        };
        layers.push(Layer::set(9, &repaired));
        let loaded = Config::load(&layers);
        prop_assert!(loaded.is_ok(), "{repaired}: {}", loaded.err().map_or(String::new(), |e| e.to_string()));
    }

    #[test]
    fn no_bytes_make_loading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        fuzz::parse_any(&bytes);
    }

    #[test]
    fn no_mangled_preset_makes_loading_panic(
        at in 0..2_000_usize,
        cut in 0..20_usize,
        put in prop_oneof![
            Just(""), Just("\""), Just("="), Just("["), Just("999999999999999999999999"), Just("µ"),
            Just("\n"), Just("true"), Just("{a=1}"), Just("1979-05-27"), Just("nan"), Just("\u{7f}"),
        ],
    ) {
        for preset in presets::devices() {
            let floor = |at: usize| (0..=at.min(preset.text.len()))
                .rev()
                .find(|at| preset.text.is_char_boundary(*at))
                .unwrap_or(0);
            let (start, end) = (floor(at), floor(at + cut));
            let text = format!("{}{put}{}", &preset.text[..start], &preset.text[end..]);
            fuzz::parse_any(text.as_bytes());
        }
    }
}
