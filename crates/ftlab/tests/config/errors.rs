//! What a tired person reads when a config is wrong: each class of error, word for word.

use ftlab::config::{Config, ConfigError, Layer};
use ftlab::options::Severity;

pub(crate) fn error(layers: &[Layer]) -> ConfigError {
    Config::load(layers).expect_err("the config is wrong")
}

fn with_base(text: &str) -> Layer {
    Layer::file("my.toml", &format!("base = \"tlc-512g\"\n{text}"))
}

pub(crate) fn with_sets(preset: &str, sets: &[&str]) -> Vec<Layer> {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    std::iter::once(Layer::preset(preset)).chain(sets).collect()
}

#[test]
fn everything_at_once() {
    let file = with_base(
        r#"[nand]
chanels = 8
channels = 0x100
page_size = 16384
codeword = "3KiB"
blocks_per_plane = "many"
[nand.timing]
policy = "page-type"
read_by_type = ["40us", 60, "70 msec"]
read = "50us"
erase = 200
[nand.bus]
rate = "800MT/s"
[ftl]
over_provisioning = 0.07
mapping = "page"
[ftl.gc]
victim = "greddy"
start = 9
stop = 5
reserve = 20
[cache]
capacity = "4MB"
latency = "1.0005us"
[shceduler]
policy = "fifo"
[foo]
bar = 1
"#,
    );
    let sets = [Layer::set(1, "ftl.gc.victm=greedy"), Layer::set(2, "nand.bus.rate=0.5")];
    insta::assert_snapshot!(error(&[file, sets[0].clone(), sets[1].clone()]));
}

#[test]
fn without_a_base() {
    insta::assert_snapshot!(error(&[Layer::file("my.toml", "[device]\nname = \"mine\"\n")]));
}

#[test]
fn syntax() {
    let file = Layer::file("my.toml", "[device]\nname = x\n[nand\nchannels = 8\n");
    let twice = Layer::file("b.toml", "[nand]\nchannels = 8\nchannels = 4\n");
    let set = Layer::set(1, "device.name=\"open");
    insta::assert_snapshot!(error(&[file, twice, set]));
}

#[test]
fn overrides() {
    insta::assert_snapshot!(error(&with_sets(
        "tiny",
        &[
            "ftl.gc.start",
            "=4",
            "ftl.gc=4",
            "scheduler=fifo",
            "base=tiny",
            "ftl.gc.start=",
            "x.y=1",
            "nand.timing.read=[1]",
            "device.name=7",
            "nand.cell=TLC",
            "ftl.placement.policy=static",
            "ftl.placement.order=plane"
        ],
    )));
}

#[test]
fn unknown_presets() {
    let file = Layer::file("my.toml", "base = \"tny\"\n[[ftl]]\n");
    insta::assert_snapshot!(error(&[Layer::preset("tlc-521g"), file]));
    insta::assert_snapshot!(error(&[Layer::file("my.toml", "base = 5\n"), Layer::preset("???")]));
}

#[test]
fn word_lines_and_pages_that_do_not_fit() {
    insta::assert_snapshot!(error(&with_sets(
        "tlc-512g",
        &["nand.program_unit=word-line", "ftl.mapping.unit=flash-page", "nand.pages_per_block=13"],
    )));
    let odd = ["nand.page_size=18KiB", "ftl.mapping.unit=6KiB"];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &odd)));
}

#[test]
fn what_does_not_fit_together() {
    insta::assert_snapshot!(error(&with_sets(
        "tlc-512g",
        &[
            "nand.codeword=32KiB",
            "ftl.mapping.unit=6KiB",
            "ftl.gc.stop=2",
            "ftl.gc.reserve=3",
            "nand.cell=qlc",
            "cache.capacity=4KiB"
        ],
    )));
}

#[test]
fn what_a_gating_buffer_can_not_have() {
    let sets = ["cache.policy=gating", "nand.multi_plane.program=on", "ftl.mapping.unit=4KiB"];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &sets)));
    // Following the remedies gives a valid buffer.
    let followed = [
        "cache.policy=gating",
        "ftl.mapping.unit=flash-page",
        "ftl.placement.policy=static",
        "ftl.placement.rows=off",
    ];
    let capacity = |more: &[&'static str]| {
        let config = Config::load(&with_sets("tlc-512g", &[more, &followed].concat())).unwrap();
        let text = config.canonical();
        // The cache's capacity comes after the host's.
        let line = text.lines().rfind(|line| line.starts_with("capacity"));
        line.map(str::to_owned)
    };
    // The preset's capacity belongs to another buffer.
    assert_eq!(capacity(&[]).as_deref(), Some("capacity = \"32KiB\""));
    assert_eq!(capacity(&["cache.capacity=1MiB"]).as_deref(), Some("capacity = \"1MiB\""));
    assert_eq!(notes(&with_sets("tlc-512g", &followed)), [""; 0]);
}

#[test]
fn a_codeword_over_several_units() {
    let sets = ["nand.codeword=4KiB", "ftl.mapping.unit=2KiB"];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &sets)));
}

#[test]
fn too_large_a_device() {
    let sets = [
        "nand.channels=128",
        "nand.chips_per_channel=64",
        "nand.dies_per_chip=16",
        "nand.planes_per_die=16",
        "nand.blocks_per_plane=1000000",
        "nand.pages_per_block=16384",
        "nand.page_size=64KiB",
        "ftl.mapping.unit=512B",
        "ftl.gc.start=100000",
        "ftl.gc.stop=100000",
    ];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &sets)));
}

#[test]
fn too_little_over_provisioning() {
    insta::assert_snapshot!(error(&with_sets("tiny", &["ftl.over_provisioning=7%"])));
    insta::assert_snapshot!(error(&with_sets("tiny", &["nand.blocks_per_plane=6"])));
}

#[test]
fn an_slc_cache_that_cannot_work() {
    let text = |sets: &[&str]| error(&with_sets("plain-32g", sets)).to_string();
    let policy = "ftl.slc_cache.policy=static";
    let found = text(&[policy, "ftl.slc_cache.blocks=900"]);
    assert!(found.contains("900 more belong to the SLC cache"), "{found}");
    assert!(found.contains("or ftl.slc_cache.blocks"), "{found}");
    let found = error(&with_sets("slc-16g", &["ftl.slc_cache.policy=dynamic"])).to_string();
    assert!(found.contains("cells with one bit need no SLC cache"), "{found}");
    let found = text(&["ftl.slc_cache.policy=dynamic", "ftl.slc_cache.blocks=4"]);
    assert!(found.contains("ftl.slc_cache.blocks"), "{found}");
}

#[test]
fn options_of_another_policy() {
    let lower = Layer::file("my.toml", "base = \"tiny\"\n[cache]\ncapacity = \"1MiB\"\n");
    insta::assert_snapshot!(error(&[lower]));
    let same =
        Layer::file("b.toml", "base = \"tiny\"\n[cache]\npolicy = \"none\"\ncapacity = \"1MiB\"\n");
    assert_eq!(error(&[same]).problems.len(), 1);
}

#[test]
fn nothing_is_concluded_from_a_wrong_value() {
    // `start` is wrong, so whether it fits `stop` is unknown: one problem, not two.
    let found = error(&with_sets("tiny", &["ftl.gc.start=nine", "ftl.gc.stop=2"]));
    assert_eq!(found.problems.len(), 1, "{found}");
    // The intended policy is unknown, and so are the options that belong to it.
    let found = error(&with_sets("tiny", &["cache.policy=lruu", "cache.capacity=1MiB"]));
    assert_eq!(found.problems.len(), 1, "{found}");
}

#[test]
fn places_point_at_the_text() {
    let found = error(&[with_base("\tnand.channels = \"é8\"\r\nftl.gc.start=\"\"\"\nx\n\"\"\"\n")]);
    let places: Vec<_> = found.problems.iter().map(|p| p.place.clone().expect("a place")).collect();
    assert_eq!((places[0].line(), places[0].column()), (2, 18));
    assert_eq!(&places[0].text[places[0].span.clone()], "\"é8\"");
    assert_eq!(places[1].line(), 3);
    assert!(found.to_string().contains("  |                     ^^^^\n"), "{found}");
}

#[test]
fn long_lines_are_shown_around_the_place() {
    let name = "n".repeat(500);
    let text =
        format!("\"{name}\" = 1\nnand = {{ cell = \"{name}\", channels = 0, chanels = 1 }}\n");
    let text = text.replace("cell = \"nnn", "cell = \"\tnn");
    insta::assert_snapshot!(error(&[Layer::preset("tiny"), Layer::file("my.toml", &text)]));
}

#[test]
fn hopeless_files_are_refused_briefly() {
    let many: String = (0..2_000).map(|i| format!("k{i} = 1\n")).collect();
    let long = format!("{} = 1\ndevice.name = '''{}", "k".repeat(100_000), "x".repeat(100_000));
    for text in [many, long, "[".repeat(100_000), "x = [".repeat(50_000)] {
        let told = error(&[Layer::file("my.toml", &text)]).to_string();
        assert!(told.len() < 50_000, "{} characters", told.len());
        let told = error(&[Layer::preset("tiny"), Layer::set(1, &text)]).to_string();
        assert!(told.len() < 1_000, "{} characters", told.len());
    }
}

#[test]
fn warnings() {
    let config = Config::load(&with_sets(
        "tlc-512g",
        &[
            "nand.cell=slc",
            "nand.timing.policy=plain",
            "nand.timing.read=80us",
            "nand.timing.program=1500us",
            "nand.timing.erase=1ms",
            "nand.bus.rate=10MB/s",
            "ftl.gc.stop=200",
            "cache.capacity=1TiB",
        ],
    ));
    let config = config.unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<String> =
        config.warnings.iter().map(|warning| warning.render(Severity::Warning)).collect();
    insta::assert_snapshot!(warnings.join("\n"));
}

/// What the notes of a configuration are about.
fn notes(layers: &[Layer]) -> Vec<String> {
    let config = Config::load(layers).unwrap_or_else(|error| panic!("{error}"));
    config.notes.iter().map(|note| note.path.clone()).collect()
}

#[test]
fn what_is_set_and_does_nothing_is_noted() {
    let idle = ["nand.suspend.erase=50us", "ftl.gc.background.after=1s", "nand.cache_ops.busy=5us"];
    let config = Config::load(&with_sets("tiny", &idle)).unwrap();
    let told: Vec<String> = config.notes.iter().map(|note| note.render(Severity::Note)).collect();
    insta::assert_snapshot!(told.join("\n"));
    // No note once it does something, or if its value is the default anyway.
    let at_work = [&idle[..1], &["scheduler.suspend=erase", "nand.suspend.resume=5us"]].concat();
    assert_eq!(notes(&with_sets("tiny", &at_work)), [""; 0]);
    let either = ["nand.cache_ops.busy=5us", "nand.cache_ops.program=on"];
    assert_eq!(notes(&with_sets("tiny", &either)), [""; 0]);
    // A scheduler that suspends only erases never suspends a program.
    let erases = ["nand.suspend.program=50us", "scheduler.suspend=erase"];
    assert_eq!(notes(&with_sets("tiny", &erases)), ["nand.suspend.program"]);
    // Noted in a user's file; not in a preset, a saved device or a printed configuration.
    let text = "base = \"tiny\"\n[nand.suspend]\nresume = \"9us\"\n";
    assert_eq!(notes(&[Layer::file("my.toml", text)]), ["nand.suspend.resume"]);
    let saved = Layer::saved("my.ftlab", "[nand.suspend]\nresume = \"9us\"\n");
    assert_eq!(notes(&[Layer::preset("tiny"), saved]), [""; 0]);
    let printed = Config::load(&[Layer::preset("tiny")]).unwrap().show();
    assert_eq!(notes(&[Layer::file("shown.toml", &printed)]), [""; 0]);
    for preset in ftlab::options::presets::devices() {
        assert_eq!(notes(&[Layer::preset(preset.name)]), [""; 0], "{}", preset.name);
    }
}

#[test]
fn conditions_name_existing_options_and_values() {
    use ftlab::config::all_options;
    let conditions = all_options().iter().flat_map(|option| option.applies_with);
    let mut found = 0;
    for condition in conditions {
        let other = all_options().iter().find(|option| option.path == condition.path);
        let other = other.unwrap_or_else(|| panic!("{condition}: no such option"));
        let choices = || other.choices.iter().any(|choice| choice.name == condition.value);
        assert!(other.choices.is_empty() || choices(), "{condition}: no such value");
        found += 1;
    }
    assert!(found > 10);
}

#[test]
fn arbitration_without_a_choice_is_noted() {
    let weighted = ["host.queues=4", "host.arbitration.policy=weighted-round-robin"];
    let with = |more: &[&'static str]| notes(&with_sets("tiny", &[&weighted[..], more].concat()));
    assert_eq!(with(&[]), ["host.arbitration.policy"]);
    assert_eq!(with(&["host.outstanding=32"]), [""; 0]);
    assert_eq!(with(&["host.command_time=1us"]), [""; 0]);
    assert_eq!(with(&["host.outstanding=64", "host.queue_depth=16"]), ["host.arbitration.policy"]);
    assert_eq!(notes(&with_sets("tiny", &weighted[1..])), ["host.arbitration.policy"]);
}

/// The remedy for too many bad blocks is enough: following it gives a valid device.
#[test]
fn the_remedy_for_bad_blocks_helps() {
    let with =
        |more: &str| Config::load(&with_sets("plain-32g", &["nand.faults.factory_bad=40%", more]));
    let error = with("ftl.gc.stop=3").unwrap_err();
    let told = &error.problems[0];
    assert!(told.remedy.contains("nand.faults.factory_bad"), "{}", told.remedy);
    let share = told.remedy.split('"').nth(1).expect("a quoted share");
    assert!(with(&format!("ftl.over_provisioning={share}")).is_ok(), "{}", told.remedy);
    // It asks for little more than needed: one block of a plane is some per cent here.
    let percent: f64 = share.trim_end_matches('%').parse().unwrap();
    assert!(with(&format!("ftl.over_provisioning={:.1}%", percent - 5.0)).is_err(), "{share}");
}

#[test]
fn what_a_map_on_flash_can_not_have() {
    let refused =
        ["ftl.mapping.policy=dftl", "ftl.mapping.host_memory=1MiB", "host.link.interface=sata-3"];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &refused)));
    assert!(Config::load(&with_sets("tlc-512g", &refused[..2])).is_ok());
    let together = [
        "ftl.mapping.policy=dftl",
        "ftl.slc_cache.policy=dynamic",
        "nand.faults.schedule=10s: die 3 dies",
        "ftl.recovery.policy=scan",
    ];
    assert!(Config::load(&with_sets("tlc-512g", &together)).is_ok());
    // Whatever else fails.
    let fails = [
        "ftl.mapping.policy=dftl",
        "nand.faults.factory_bad=1%",
        "nand.faults.program_failures=1000",
        "nand.faults.erase_failures=1000",
        "nand.faults.schedule=1s: next program of block 17 fails",
        "nand.endurance.policy=weibull",
        "nand.endurance.cycles=3000",
    ];
    assert!(Config::load(&with_sets("tlc-512g", &fails)).is_ok());
    // A plane with this few blocks has no room for the map beside its data.
    let tight =
        ["ftl.mapping.policy=dftl", "nand.blocks_per_plane=12", "ftl.over_provisioning=75%"];
    insta::assert_snapshot!(error(&with_sets("tiny", &tight)));
    assert!(Config::load(&with_sets("tiny", &tight[1..])).is_ok());
    assert!(Config::load(&with_sets("tlc-512g", &["ftl.mapping.policy=dftl"])).is_ok());
}

#[test]
fn what_a_mapping_with_a_log_can_not_have() {
    let refused = [
        "ftl.mapping.policy=fast",
        "ftl.mapping.unit=4KiB",
        "ftl.placement.policy=dynamic",
        "ftl.over_provisioning=0.1%",
        "ftl.gc.victim=fifo",
        "ftl.slc_cache.policy=dynamic",
        "nand.faults.factory_bad=1%",
        "ftl.merge.planner=synchronised",
    ];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &refused)));
    insta::assert_snapshot!(error(&with_sets(
        "tlc-512g",
        &["ftl.merge.throttle=8", "ftl.capacity=1TiB"]
    )));
    let too_much = ["ftl.mapping.policy=log-block", "ftl.capacity=500GiB"];
    insta::assert_snapshot!(error(&with_sets("tlc-512g", &too_much)));
    // With nothing else set, any preset takes a log.
    for policy in ["log-block", "bast", "fast", "nftl"] {
        let set = format!("ftl.mapping.policy={policy}");
        assert!(Config::load(&with_sets("tlc-512g", &[&set])).is_ok(), "{policy}");
    }
}

/// A board's firmware and caches, with everything that they exclude; word for word.
#[test]
fn what_a_board_can_not_have() {
    let refused: [&[&str]; 6] = [
        &["ftl.streams.policy=multi-hash"],
        &["cache.policy=gating", "ftl.mapping.unit=flash-page", "ftl.placement.policy=static"],
        &["ftl.mapping.policy=reconstruction"],
        &["cache.read.capacity=4KiB"],
        &["cache.append_together=0"],
        &["firmware.copies=everything"],
    ];
    let told = refused.map(|sets| error(&with_sets("cosmos-openssd", sets)).to_string());
    insta::assert_snapshot!(told.join("\n"));
}

/// Both remedies work.
#[test]
fn dram_and_memory_of_the_host_where_there_is_none() {
    let gated = [
        "controller.dram.bandwidth=1GB/s",
        "cache.policy=gating",
        "ftl.mapping.unit=flash-page",
        "ftl.placement.policy=static",
    ];
    let told = error(&with_sets("tiny", &gated)).to_string();
    assert!(told.contains("take no time to leave DRAM here"), "{told}");
    assert!(told.contains("set controller.dram.bandwidth to \"none\""), "{told}");
    let over_sata =
        ["ftl.mapping.policy=dftl", "ftl.mapping.host_memory=64KiB", "host.link.interface=sata-3"];
    let told = error(&with_sets("tiny", &over_sata)).to_string();
    assert!(told.contains("over sata-3 a drive can't use memory of the host"), "{told}");
    Config::load(&with_sets(
        "tiny",
        &[&over_sata[..2], &["host.link.interface=pcie-3x4"]].concat(),
    ))
    .expect("a PCIe link does");
}

#[test]
fn refresh_that_can_not_keep_up() {
    let sets = |more: &[&'static str]| {
        let always =
            ["nand.cell=mlc", "nand.timing.policy=ispp", "ftl.refresh.when=before-retries"];
        [&always, more].concat()
    };
    let slow = ["ftl.refresh.period=1y"];
    Config::load(&with_sets("tiny", &sets(&slow)))
        .expect("medium cost lasts for more than two years");
    let low = [slow[0], "ftl.cost.policy=low-write"];
    insta::assert_snapshot!(error(&with_sets("tiny", &sets(&low))));
    // It would be enough on a fresh device, but not with the planned wear.
    let worn = ["nand.timing.wear_at_least=300%"];
    assert!(error(&with_sets("tiny", &sets(&worn))).to_string().contains("ftl.refresh.period"));
}

#[test]
fn what_parity_across_dies_can_not_have() {
    let all = [
        "ftl.parity.policy=dies",
        "ftl.parity.width=5",
        "ftl.placement.policy=static",
        "ftl.slc_cache.policy=hybrid",
        "ftl.slc_cache.fold_inside=on",
        "ftl.gc.copyback=on",
        "nand.multi_plane.program=on",
        "nand.timing.policy=by-cost",
        "ftl.over_provisioning=200%",
    ];
    insta::assert_snapshot!(error(&with_sets("tiny", &all)));
    let right = ["ftl.parity.policy=dies", "ftl.placement.policy=dynamic"];
    assert!(Config::load(&with_sets("tiny", &right)).is_ok());
    // A map on flash has stripes of its own, but without translation pages stay where they are.
    let on_flash = [right[0], right[1], "ftl.mapping.policy=dftl", "ftl.over_provisioning=200%"];
    assert!(Config::load(&with_sets("tiny", &on_flash)).is_ok());
    let nowhere = [right[0], "ftl.mapping.policy=physical", "ftl.over_provisioning=0%"];
    assert!(
        error(&with_sets("tiny", &nowhere)).to_string().contains("this mapping does not allow")
    );
}

/// Copies of superblocks leave their die.
#[test]
fn superblocks_are_not_folded_inside_the_die() {
    let sets = [
        "ftl.superblock.policy=all",
        "ftl.slc_cache.policy=hybrid",
        "ftl.slc_cache.fold_inside=on",
        "ftl.over_provisioning=200%",
    ];
    let error = error(&with_sets("tiny", &sets));
    let remedy = "set ftl.slc_cache.fold_inside to \"off\", or ftl.superblock.policy to \"none\"";
    assert_eq!(error.problems.iter().map(|problem| &problem.remedy).collect::<Vec<_>>(), [remedy]);
}

/// The name proposed for an unknown key.
fn proposed(path: &str) -> Option<String> {
    let error = error(&with_sets("tiny", &[&format!("{path}=1")]));
    let remedy = &error.problems[0].remedy;
    let rest = remedy.strip_prefix("did you mean ")?;
    Some(rest.split_once('?').expect("a question").0.to_owned())
}

#[test]
fn unknown_keys_get_a_proposal() {
    for (wrong, right) in [
        // Words of the name.
        ("nand.dies", "nand.dies_per_chip"),
        ("nand.chips", "nand.chips_per_channel"),
        ("nand.planes", "nand.planes_per_die"),
        ("nand.blocks", "nand.blocks_per_plane"),
        ("nand.pages", "nand.pages_per_block"),
        ("nand.codeword_size", "nand.codeword"),
        ("ftl.gc.limit", "ftl.gc.hard_limit"),
        ("cache.region", "cache.search_region"),
        // What others call it.
        ("cache.size", "cache.capacity"),
        ("cache.read.size", "cache.read.capacity"),
        ("ftl.gc.d", "ftl.gc.draws"),
        ("ftl.gc.samples", "ftl.gc.draws"),
        ("ftl.gc.algorithm", "ftl.gc.victim"),
        ("ftl.gc.policy", "ftl.gc.victim"),
        ("ftl.op", "ftl.over_provisioning"),
        ("host.qd", "host.queue_depth"),
        ("nand.luns", "nand.dies_per_chip"),
        ("nand.timing.tprog", "nand.timing.program"),
        ("nand.endurance.pe_cycles", "nand.endurance.cycles"),
        ("scheduler.type", "scheduler.policy"),
        ("nand.bus.speed", "nand.bus.rate"),
        // The right name at the wrong place.
        ("gc.victim", "ftl.gc.victim"),
        ("dies_per_chip", "nand.dies_per_chip"),
        // Misspellings.
        ("ftl.gc.strat", "ftl.gc.start"),
        ("shceduler.policy", "scheduler.policy"),
    ] {
        assert_eq!(proposed(wrong).as_deref(), Some(right), "{wrong}");
    }
    for chance in ["x.y", "nand.qqq", "ftl.gc.x", "foo"] {
        assert_eq!(proposed(chance), None, "{chance}");
    }
}

#[test]
fn only_a_bus_takes_a_rate_in_transfers() {
    let rate = |text: &str| {
        let layers = with_sets("tiny", &[&format!("nand.bus.rate={text}")]);
        Config::load(&layers).map(|config| config.canonical())
    };
    // Eight data lines: one byte with each transfer.
    for (transfers, bytes) in
        [("1600MT/s", "1600MB/s"), ("1.6GT/s", "1600MB/s"), ("533 MT/s", "533MB/s")]
    {
        assert_eq!(rate(transfers).unwrap(), rate(bytes).unwrap(), "{transfers}");
    }
    let by_width = with_sets(
        "tiny",
        &["nand.bus.policy=interface", "nand.bus.transfers=1600MT/s", "nand.bus.width=16"],
    );
    assert!(Config::load(&by_width).is_ok());
    let told = |layers: &[Layer]| {
        let problem = &error(layers).problems[0];
        (problem.message.clone(), problem.remedy.clone())
    };
    let (message, remedy) = told(&with_sets("tiny", &["nand.bus.rate=1600"]));
    assert_eq!(message, "the rate of a bus needs a unit");
    assert!(remedy.contains("\"1600MB/s\"") && remedy.contains("MT/s"), "{remedy}");
    let (_, remedy) = told(&with_sets("tiny", &["nand.bus.rate=1600mt/s"]));
    assert!(remedy.contains("\"1600MT/s\""), "{remedy}");
    assert!(rate("200GT/s").is_err(), "out of range");
    // A lane of the link moves bits, and not all of them are data.
    let (message, remedy) = told(&with_sets("tiny", &["host.link.rate=6.4Gb/s"]));
    assert_eq!(message, "unknown unit \"Gb/s\" for a rate");
    assert!(remedy.contains("\"0.8GB/s\""), "{remedy}");
    let (_, remedy) = told(&with_sets("tiny", &["controller.dram.bandwidth=25Gbit/s"]));
    assert!(remedy.contains("\"3.125GB/s\""), "{remedy}");
    let (message, remedy) = told(&with_sets("tiny", &["host.link.rate=16GT/s"]));
    assert_eq!(message, "unknown unit \"GT/s\" for a rate");
    assert!(remedy.contains("in bytes"), "{remedy}");
}
