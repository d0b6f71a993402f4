//! What refresh asks for: timing that knows how data ages, and blocks that can be emptied one by one.

use super::{Checker, text};
use crate::ftl::wear::RefreshWhen;
use crate::nand::timing::TimingChoice;

const WHEN: &str = "ftl.refresh.when";

impl Checker<'_, '_> {
    pub(super) fn refresh(&mut self) {
        if self.options.ftl.refresh.when == RefreshWhen::Never {
            return;
        }
        let never = format!("or {WHEN} to \"never\"");
        if !matches!(self.options.nand.timing.policy, TimingChoice::Ispp(_)) {
            let timing = &self.options.nand.timing.policy;
            let message = format!(
                "with nand.timing.policy = {} data does not age: there is nothing to refresh",
                text(&timing.name().to_owned())
            );
            let remedy = format!("set nand.timing.policy to \"ispp\", {never}");
            self.fail(&[WHEN, "nand.timing.policy"], message, remedy);
        }
        if self.has_log() || self.is_physical() {
            let mapping = &self.options.ftl.mapping.policy;
            let message = format!(
                "with ftl.mapping.policy = {} a block can't be emptied whenever its data is old",
                text(&mapping.name().to_owned())
            );
            let remedy = format!("set ftl.mapping.policy to \"page\", {never}");
            self.fail(&[WHEN, "ftl.mapping.policy"], message, remedy);
        }
    }
}
