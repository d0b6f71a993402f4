//! What has to be set so that a drive recovers from a power cut.

use ftlab::config::Config;
use ftlab_lab::device;

/// What makes a drive recover.
const SCANS: &str = "ftl.recovery.policy=scan";

/// The arguments with which such a drive would recover from a power cut, as `--set ...`; none if it can't.
#[must_use]
pub fn settings_to_recover(config: &Config) -> Option<String> {
    let changed =
        device::of_text("the drive", &config.canonical(), &device::settings(&[SCANS])).is_ok();
    changed.then(|| format!("--set {SCANS}"))
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
        let told = |name| settings_to_recover(&device::load(name, &[]).unwrap());
        for name in ["tlc-32g", "tlc-1t", "qlc-1t", "qlc-2t"] {
            assert_eq!(told(name).as_deref(), Some("--set ftl.recovery.policy=scan"), "{name}");
        }
        assert_eq!(told("rw-scheduler"), None);
    }
}
