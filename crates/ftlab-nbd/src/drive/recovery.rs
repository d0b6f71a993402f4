//! What has to be set so that a drive recovers from a power cut.

use ftlab::config::Config;
use ftlab_lab::device;

/// What makes a drive recover, the least first.
const TRIED: [&[&str]; 2] =
    [&["ftl.recovery.policy=scan"], &["ftl.slc_cache.policy=none", "ftl.recovery.policy=scan"]];

/// The arguments with which such a drive would recover from a power cut, as `--set ...`; none if it can't.
#[must_use]
pub fn settings_to_recover(config: &Config) -> Option<String> {
    let sets = least_settings(config)?.iter().map(|set| format!("--set {set}"));
    Some(sets.collect::<Vec<_>>().join(" "))
}

fn least_settings(config: &Config) -> Option<&'static [&'static str]> {
    let text = config.canonical();
    let works =
        |sets: &&[&str]| device::of_text("the drive", &text, &device::settings(sets)).is_ok();
    TRIED.into_iter().find(works)
}

/// How to get a drive that recovers instead of one of this configuration.
pub(super) fn remedy(config: &Config) -> String {
    match settings_to_recover(config) {
        Some(sets) => format!("make a drive with {sets}"),
        None => "choose another device: this one has nothing to recover from".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_is_recommended() {
        let sets = |name| least_settings(&device::load(name, &[]).unwrap());
        assert_eq!(sets("tlc-32g"), Some(TRIED[0]));
        for cached in ["tlc-1t", "qlc-1t", "qlc-2t"] {
            assert_eq!(sets(cached), Some(TRIED[1]), "{cached}");
        }
        assert_eq!(sets("rw-scheduler"), None);
    }
}
