//! The built-in device presets, which make `--device NAME` work anywhere.

/// A preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name, which is the name of its file.
    pub name: &'static str,
    /// Its TOML text.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            text: include_str!(
                concat!(env!("CARGO_MANIFEST_DIR"), "/presets/", $name, ".toml")
            ),
        }),+]
    };
}

/// All device presets: a toy, real parts from the smallest cell up, drives that were sold, then the
/// machines of papers.
#[must_use]
pub const fn devices() -> &'static [Preset] {
    presets![
        "tiny",
        "slc-16g",
        "slc-240g",
        "mlc-32g",
        "mlc-256g",
        "tlc-32g",
        "plain-32g",
        "tlc-512g",
        "tlc-1t",
        "qlc-1t",
        "qlc-2t",
        "970-evo-plus-500g",
        "980-1t",
        "660p-1t",
        "850-pro-256g",
        "sz985-800g",
        "pm9a3-960g",
        "p5520-1.92t",
        "7450-max-800g",
        "mqsim",
        "rw-scheduler",
        "channel-management",
        "prlru",
        "cosmos-openssd",
        "cosmos-openssd-stock",
        "agcr",
        "everything",
    ]
}

/// The names of all device presets.
#[must_use]
pub fn names() -> Vec<&'static str> {
    devices().iter().map(|preset| preset.name).collect()
}

/// The device preset with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Preset> {
    devices().iter().find(|preset| preset.name == name)
}
