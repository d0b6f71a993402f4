//! Files that build on files: which value wins, which origin it reports, and what is refused.

use std::collections::BTreeMap;

use ftlab::config::{Config, ConfigError, Files, Layer, ValueOrigin, circle};
use ftlab::options::value::ValueError;

/// Files by name, all in one folder.
struct Shelf(BTreeMap<String, String>);

impl Shelf {
    fn of(files: &[(&str, &str)]) -> Shelf {
        Shelf(files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect())
    }
}

impl Files for Shelf {
    fn open(&mut self, name: &str, above: &[&str]) -> Result<Option<Layer>, ValueError> {
        assert!(above.len() <= 8, "the chain must end: {above:?}");
        if name == "refused.toml" {
            return Err(ValueError::new("it can't be read", "mend it"));
        }
        Ok(self.0.get(name).map(|text| Layer::file(name, text)))
    }
}

fn load(files: &[(&str, &str)], sets: &[&str]) -> Result<Config, ConfigError> {
    let (name, text) = files[0];
    let sets = sets.iter().zip(1..).map(|(set, number)| Layer::set(number, set));
    let layers: Vec<Layer> = std::iter::once(Layer::file(name, text)).chain(sets).collect();
    Config::load_with(&layers, &mut Shelf::of(files))
}

/// The problems as path, message, and where they lie.
fn problems(files: &[(&str, &str)]) -> Vec<(String, String, Option<String>)> {
    let error = load(files, &[]).expect_err("it is wrong");
    let told = error.problems.into_iter().map(|problem| {
        assert!(!problem.remedy.is_empty());
        let place = problem.place.map(|place| format!("{}:{}", place.label, place.line()));
        (problem.path, problem.message, place)
    });
    told.collect()
}

const MINE: (&str, &str) = ("mine.toml", "base = \"lab.toml\"\n[ftl.gc]\nstop = 8\n");
const LAB: (&str, &str) =
    ("lab.toml", "base = \"house.toml\"\n[ftl.gc]\nstart = 5\nstop = 7\nreserve = 2\n");
const HOUSE: (&str, &str) =
    ("house.toml", "base = \"tlc-512g\"\n[device]\nname = \"house\"\n[ftl.gc]\nstart = 4\n");

#[test]
fn a_file_overrides_its_base_and_values_know_their_origin() {
    let config = load(&[MINE, LAB, HOUSE], &["ftl.gc.reserve=1"]).unwrap();
    let gc = &config.options.ftl.gc;
    assert_eq!((gc.start, gc.stop, gc.reserve), (5, 8, 1));
    assert_eq!(config.options.device.name, "house");
    let origin = |path| config.origin(path).map(ValueOrigin::to_string);
    assert_eq!(origin("ftl.gc.stop").as_deref(), Some("mine.toml:3"));
    assert_eq!(origin("ftl.gc.start").as_deref(), Some("lab.toml:3"));
    assert_eq!(origin("ftl.gc.reserve").as_deref(), Some("--set 1"));
    assert_eq!(origin("device.name").as_deref(), Some("house.toml:3"));
    assert_eq!(origin("nand.channels").as_deref(), Some("preset tlc-512g:17"));
    for (above, below, builds) in [
        ("mine.toml", "lab.toml", true),
        ("mine.toml", "preset tlc-512g", true),
        ("house.toml", "lab.toml", false),
        ("--set 1", "mine.toml", false),
        ("mine.toml", "nobody", false),
    ] {
        assert_eq!(config.builds_on(above, below), builds, "{above} {below}");
    }
}

#[test]
fn a_shown_config_names_its_bases_and_loads_without_them() {
    let config = load(&[MINE, LAB, HOUSE], &[]).unwrap();
    let shown = config.show();
    let chain = "# mine.toml builds on lab.toml, which builds on house.toml, which builds on preset tlc-512g\n";
    assert!(shown.starts_with(chain), "{shown}");
    let again = Config::load(&[Layer::file("shown.toml", &shown)]).unwrap();
    assert_eq!(again.options, config.options);
    assert!(again.show().starts_with("[device]"), "a file without a base names none");
    assert!(!config.canonical().contains('#'));
    // What a base says counts; which file it stands in does not.
    let flat = "base = \"tlc-512g\"\n[device]\nname = \"house\"\n[ftl.gc]\nstart = 5\nstop = 8\nreserve = 2\n";
    assert_eq!(config.canonical(), load(&[("mine.toml", flat)], &[]).unwrap().canonical());
    let (name, changed) = (HOUSE.0, HOUSE.1.replace("house", "barn"));
    let other = load(&[MINE, LAB, (name, &changed)], &[]).unwrap();
    assert_ne!(config.canonical(), other.canonical());
}

#[test]
fn all_problems_are_reported_with_their_file_and_line() {
    let lab = "base = \"tiny\"\n[ftl.gc]\nstart = \"many\"\n";
    let mine = "base = \"lab.toml\"\n[ftl.gc]\nstpo = 5\nreserve = -1\n";
    let found = problems(&[("mine.toml", mine), ("lab.toml", lab)]);
    let places: Vec<_> =
        found.iter().map(|(path, _, at)| (path.as_str(), at.as_deref().unwrap())).collect();
    let expected = [
        ("ftl.gc.start", "lab.toml:3"),
        ("ftl.gc.stpo", "mine.toml:3"),
        ("ftl.gc.reserve", "mine.toml:4"),
    ];
    assert_eq!(places, expected);
}

#[test]
fn missing_bases_are_reported_where_they_are_named() {
    let one = |text: &str| {
        let found = problems(&[("mine.toml", text)]);
        assert_eq!(found.len(), 1, "{found:?}");
        let (path, message, place) = found[0].clone();
        assert_eq!((path.as_str(), place.as_deref()), ("base", Some("mine.toml:1")));
        message
    };
    assert_eq!(one("base = \"tinny\"\n"), "there is no preset \"tinny\"");
    assert_eq!(one("base = \"refused.toml\"\n"), "it can't be read");
    let found = problems(&[("mine.toml", "base = 7\n")]);
    assert!(
        found
            .iter()
            .any(|one| one.1 == "expected the name of a preset or of a file, found the number 7")
    );
    // Nothing is concluded from a device of which only half was read.
    let lab = ("lab.toml", "base = \"gone\"\n[ftl.gc]\nstart = 5\n");
    let found = problems(&[MINE, lab]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].2.as_deref(), Some("lab.toml:1"));
}

#[test]
fn circular_and_deep_bases_are_refused() {
    let found =
        problems(&[("a", "base = \"b\"\n"), ("b", "base = \"c\"\n"), ("c", "base = \"a\"\n")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, "the files build on each other in a circle: a on b on c on a");
    assert_eq!(found[0].2.as_deref(), Some("c:1"));
    assert_eq!(
        circle("b", &["c", "b", "a"]).message,
        "the files build on each other in a circle: b on c on b"
    );
    let itself = problems(&[("a", "base = \"a\"\n")]);
    assert_eq!(itself[0].1, "the files build on each other in a circle: a on a");
    let tower = |height: usize| -> Vec<(String, String)> {
        let floor = |at| (format!("f{at}"), format!("base = \"f{}\"\n", at + 1));
        let lowest = (format!("f{}", height - 1), "base = \"tiny\"\n".to_owned());
        (0..height - 1).map(floor).chain([lowest]).collect()
    };
    let try_tower = |height| {
        let files = tower(height);
        let files: Vec<_> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        load(&files, &[]).map_err(|error| error.problems[0].message.clone())
    };
    assert!(try_tower(8).is_ok());
    assert_eq!(try_tower(9).unwrap_err(), "8 files build on each other already");
}

/// Without files a base is a preset, and a preset wins over a file.
#[test]
fn a_preset_is_found_first() {
    let error = Config::load(&[Layer::file("mine.toml", MINE.1)]).expect_err("no files");
    assert_eq!(error.problems[0].message, "there is no preset \"lab.toml\"");
    let hidden = ("tiny", "base = \"tlc-512g\"\n");
    let config = load(&[("mine.toml", "base = \"tiny\"\n"), hidden], &[]).unwrap();
    assert_eq!(config.options.device.name, "tiny");
}

/// Options of a base count as set by hand, and a policy of the file above drops them.
#[test]
fn a_policy_drops_the_options_of_its_base() {
    let lab = ("lab.toml", "base = \"tiny\"\n[cache]\npolicy = \"lru\"\ncapacity = \"1MiB\"\n");
    let mine = ("mine.toml", "base = \"lab.toml\"\n[cache]\npolicy = \"none\"\n");
    assert!(load(&[mine, lab], &[]).unwrap().options.cache.policy.dram().is_none());
}
