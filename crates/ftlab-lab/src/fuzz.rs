//! Entry points for fuzzers: every file and text that the laboratory parses, as
//! arbitrary bytes. An input may fail, but must not cause a panic, a hang or unbounded memory use.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, Tables, assemble};
use ftlab::image::Resume;
use ftlab::saved::{Image, differences, file};
use ftlab_workload::trace;
use tempfile::TempDir;

use crate::experiment::{Preparation, RunOptions};
use crate::failure::Failure;
use crate::image::{self, OpenedImage};
use crate::load::set_reading;
use crate::result::{COMPARISON, MARK, MOMENTS, VARIANTS};
use crate::saved::{self, DeviceState};
use crate::{compare, device, reproduce, sweep, timeline};

/// Devices with larger tables are not created.
const MOST_TABLES: u64 = 16 << 20;

/// The usual confidence.
const CONFIDENCE: f64 = 0.95;

/// The most arguments that are read from an input.
const MOST_WORDS: usize = 32;

/// Asserts that a failure has a text.
fn check(failure: &Failure) {
    assert!(*failure == Failure::Interrupted || !failure.text().is_empty());
}

/// Reads an image file. Bytes without the magic number are packed into an image instead, once as
/// its configuration and once as its story.
pub fn image_file(bytes: &[u8]) {
    if bytes.starts_with(file::MAGIC) {
        try_image(bytes);
        // Corpus files may come from another version, so try the rest with this version's preamble too.
        if let Some(rest) = bytes.get(file::PREAMBLE..) {
            let length = (rest.len() as u64).to_le_bytes();
            try_image(&[&file::preamble()[..], rest].concat());
            // Those of before format 8 have no length of the sections.
            try_image(&[&file::preamble()[..], &length, rest].concat());
        }
        return;
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let base = &*TINY;
    let story = Image { story: text.clone(), ..base.clone() };
    for image in [Image { config: text, ..base.clone() }, story] {
        let mut packed = Vec::new();
        image::pack(&mut packed, &image).expect("memory can be written");
        try_image(&packed);
    }
}

fn try_image(bytes: &[u8]) {
    match image::take_bytes("fuzz", bytes) {
        Ok(taken) => use_image(&taken),
        Err(failure) => check(&failure),
    }
}

fn use_image(taken: &OpenedImage) {
    let other = Config::load(&[Layer::preset("tiny")]).expect("it is built in");
    differences(&taken.config, &other).iter().for_each(|one| assert!(!one.to_string().is_empty()));
    let Tables { reserved, written } = Tables::of(&taken.config);
    if reserved.0.max(written.0) > MOST_TABLES {
        return;
    }
    assert!(!saved::story_told(&taken.story()).is_empty());
    match saved::loaded(taken, &taken.config, Resume::ALL) {
        Ok(device) => assert!(DeviceState::of(&device).now_ns < u64::MAX),
        Err(failure) => check(&failure),
    }
}

/// An image of a new device.
static TINY: LazyLock<Image> = LazyLock::new(|| {
    let config = Config::load(&[Layer::preset("tiny")]).expect("it is built in");
    let device = assemble(DeviceSetup::new(&config, 1));
    Image {
        ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
        config: config.canonical(),
        seed: 1,
        story: "[]".to_owned(),
        snapshot: device.save(),
    }
});

/// A folder with two valid results, `a` and `b`, in the layout of a comparison.
struct Results(TempDir);

/// The files of a result, written by a run of a small device.
const SOUND: [(&str, &[u8]); 4] = [
    (MARK, include_bytes!("../corpus/result.json")),
    ("latencies.parquet", include_bytes!("../corpus/latencies.parquet")),
    ("timeline.parquet", include_bytes!("../corpus/timeline.parquet")),
    ("blocks.parquet", include_bytes!("../corpus/blocks.parquet")),
];

impl Results {
    fn new() -> Results {
        let folder = tempfile::tempdir().expect("a folder for results");
        for name in ["a", "b"] {
            fs::create_dir(folder.path().join(name)).expect("it can be made");
            for (file, content) in SOUND {
                fs::write(folder.path().join(name).join(file), content).expect("there is room");
            }
        }
        Results(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// Puts `bytes` in place of a file of `a`, builds the page of `a`, alone and beside `b`, and
    /// restores the file.
    fn replace(&self, file: &str, bytes: &[u8]) {
        let place = Path::new(&self.path("a")).join(file);
        fs::write(&place, bytes).expect("there is room");
        let alone = vec![self.path("a")];
        let beside = vec![self.path("b"), self.path("a")];
        // Only the result document takes part in comparisons; columns do not.
        for named in if file == MARK { vec![alone, beside] } else { vec![alone] } {
            if let Err(failure) = compare::page_of_results(&named, CONFIDENCE, &[]) {
                check(&failure);
            }
        }
        match SOUND.iter().find(|(known, _)| *known == file) {
            Some((_, content)) => fs::write(&place, content).expect("there is room"),
            None => fs::remove_file(&place).expect("it was there"),
        }
    }

    /// Writes `bytes` as the list of a comparison, and builds the page of the comparison.
    fn list(&self, file: &str, bytes: &[u8]) {
        let place = self.0.path().join(file);
        fs::write(&place, bytes).expect("there is room");
        if let Err(failure) = compare::page_of_results(&[self.path("")], CONFIDENCE, &[]) {
            check(&failure);
        }
        fs::remove_file(&place).expect("it was there");
    }
}

/// Reads bytes as every file of a result or a comparison that they may be, and builds the page.
pub fn result_files(bytes: &[u8]) {
    thread_local!(static RESULTS: Results = Results::new());
    RESULTS.with(|results| {
        if bytes.starts_with(b"PAR1") {
            for (file, _) in &SOUND[1..] {
                results.replace(file, bytes);
            }
        } else if timeline::is_timeline(bytes) {
            results.replace(MOMENTS, bytes);
        } else {
            results.replace(MARK, bytes);
            results.replace("run.json", bytes);
            results.list(VARIANTS, bytes);
            results.list(COMPARISON, bytes);
        }
    });
}

/// Reads bytes as the declaration of an experiment, up to its cases, and as a README.
pub fn experiment(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    reproduce::fuzz::declaration(&text);
    reproduce::fuzz::readme(&text);
}

/// Reads bytes as a sweep file, up to its points.
pub fn sweep(bytes: &[u8]) {
    sweep::fuzz::file(&String::from_utf8_lossy(bytes));
}

/// Reads lines as options of a run and of reading traces, steps of a preparation, variants and settings.
pub fn arguments(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<String> = text.lines().take(MOST_WORDS).map(str::to_owned).collect();
    let mut options = RunOptions::default();
    let mut reading = trace::Options::default();
    for word in &words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if let Err(why) = options.set(name.trim_start_matches('-'), value) {
            assert!(!why.is_empty());
        }
    }
    for word in &words {
        // Without separators, so that no argument names an existing file.
        if let Err(failure) =
            Preparation::of(None, Some(&word.replace(['/', '\\'], "_")), false, None)
        {
            check(&failure);
        }
        for name in ["columns", "op"] {
            if let Err(why) = set_reading(&mut reading, name, word) {
                assert!(!why.is_empty());
            }
        }
        if let Err(failure) = compare::read_choices(word) {
            check(&failure);
        }
        if let Err(failure) = device::load("tiny", &device::settings(&[word])) {
            check(&failure);
        }
    }
}
