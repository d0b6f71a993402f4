//! Built-in workloads, whose names work anywhere.

/// A built-in workload.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name, as in the file.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

impl Preset {
    /// Returns its description: the comment on the first line of its file.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/presets/", $name, ".toml")),
        }),+]
    };
}

/// All built-in workloads, by name.
pub const PRESETS: &[Preset] = presets![
    "age",
    "cache",
    "file-system",
    "fill",
    "fill-then-randwrite-4k",
    "financial1-like",
    "financial2-like",
    "log-file-system",
    "lsm",
    "mixed-70-30-zipf",
    "msr-hm_0-like",
    "msr-hm_1-like",
    "msr-mds_0-like",
    "msr-prn_0-like",
    "msr-proj_0-like",
    "msr-prxy_0-like",
    "msr-rsrch_0-like",
    "msr-src1_2-like",
    "msr-src2_0-like",
    "msr-stg_0-like",
    "msr-ts_0-like",
    "msr-usr_0-like",
    "msr-wdev_0-like",
    "msr-web_0-like",
    "noisy-neighbour",
    "randread-4k",
    "randwrite-4k",
    "rw-scheduler-80",
    "seqread-128k",
    "seqwrite-128k",
];

/// Returns the built-in workload `name`.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
