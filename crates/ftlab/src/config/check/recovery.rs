//! The requirements of recovery from power cuts: a translated map, and a design in which it can be rebuilt.

use super::{Checker, text};

const POLICY: &str = "ftl.recovery.policy";

impl Checker<'_, '_> {
    pub(super) fn recovery(&mut self) {
        let policy = &self.options.ftl.recovery.policy;
        if !policy.survives() {
            return;
        }
        let mapping = &self.options.ftl.mapping.policy;
        let named = text(&mapping.name().to_owned());
        if self.is_physical() {
            let message =
                format!("with ftl.mapping.policy = {named} there is no map that could be lost");
            self.fail(
                &[POLICY, "ftl.mapping.policy"],
                message,
                format!("set {POLICY} to \"none\""),
            );
        } else if policy.writes_checkpoints() && !mapping.fits_checkpoints() {
            let message = format!(
                "checkpoints need a map with one place for each page; with ftl.mapping.policy = {named} the map is \
                 rebuilt by a scan"
            );
            let remedy = format!("set {POLICY} to \"scan\", or ftl.mapping.policy to \"page\"");
            self.fail(&[POLICY, "ftl.mapping.policy"], message, remedy);
        }
    }
}
