//! What a tired person reads when a config is wrong: each class of error, word for word.

use ftlab::config::{Config, ConfigError, Layer};

fn error(layers: &[Layer]) -> ConfigError {
    Config::load(layers).expect_err("the config is wrong")
}

fn with_base(text: &str) -> Layer {
    Layer::file("my.toml", &format!("base = \"tlc-512g\"\n{text}"))
}

fn with_sets(preset: &str, sets: &[&str]) -> Vec<Layer> {
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
fn options_of_another_policy() {
    let lower = Layer::file("my.toml", "base = \"tiny\"\n[cache]\ncapacity = \"1MiB\"\n");
    insta::assert_snapshot!(error(&[lower]));
    let same =
        Layer::file("b.toml", "base = \"tiny\"\n[cache]\npolicy = \"none\"\ncapacity = \"1MiB\"\n");
    assert_eq!(error(&[same]).problems.len(), 1);
}

#[test]
fn nothing_is_concluded_from_a_wrong_value() {
    // `start` is wrong, so whether it fits `stop` is not known: one problem, not two.
    let found = error(&with_sets("tiny", &["ftl.gc.start=nine", "ftl.gc.stop=2"]));
    assert_eq!(found.problems.len(), 1, "{found}");
    // Which policy was meant is not known, nor then which options belong to it.
    let found = error(&with_sets("tiny", &["cache.policy=lruu", "cache.capacity=1MiB"]));
    assert_eq!(found.problems.len(), 1, "{found}");
}

#[test]
fn places_point_at_the_text() {
    let found = error(&[with_base("\tnand.channels = \"é8\"\r\nftl.gc.start=\"\"\"\nx\n\"\"\"\n")]);
    let places: Vec<_> = found.problems.iter().map(|p| p.place.clone().expect("a place")).collect();
    assert_eq!((places[0].line(), places[0].column()), (2, 18));
    assert_eq!(&places[0].text[places[0].span.clone()], "\"é8\"");
    assert_eq!(places[0].excerpt(), "\tnand.channels = \"é8\"");
    assert_eq!(places[1].line(), 3);
    assert!(found.to_string().contains("  | \t                ^^^^\n"), "{found}");
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
        config.warnings.iter().map(|warning| warning.render("warning")).collect();
    insta::assert_snapshot!(warnings.join("\n"));
}
