//! How the cost of programs depends on the rest of the device.

use super::{Checker, text};
use crate::nand::CostClass;
use crate::nand::timing::TellsApart;

const TIMING: &str = "nand.timing.policy";
const POLICY: &str = "ftl.cost.policy";

impl Checker<'_, '_> {
    pub(super) fn cost(&mut self) {
        self.one_time_for_each_class();
        let (nand, ftl) = (&self.options.nand, &self.options.ftl);
        let chosen = ftl.cost.policy.name().to_owned();
        if ftl.cost.policy.regulates() && !nand.timing.policy.knows_costs() {
            let message = format!(
                "with {TIMING} = {}, all programs cost the same: {POLICY} = {} has nothing to decide",
                text(&nand.timing.policy.name().to_owned()),
                text(&chosen)
            );
            let remedy = format!(
                "set {TIMING} to \"by-cost\" or \"ispp\", whose times replace those of the part, or {POLICY} to \
                 \"traditional\""
            );
            self.fail(&[POLICY, TIMING], message, remedy);
        }
        if self.is_physical() && ftl.cost.policy.agcr().is_some() {
            let message = "without translation, no history of pages is kept".to_owned();
            let remedy =
                format!("set {POLICY} to another policy, or ftl.mapping.policy to \"page\"");
            self.fail(&[POLICY, "ftl.mapping.policy"], message, remedy);
        }
    }

    /// Whether pages may be rewritten while their die is idle.
    pub(super) fn rewrites(&self) -> bool {
        self.options.rewrites().is_some()
    }

    fn one_time_for_each_class(&mut self) {
        let timing = &self.options.nand.timing.policy;
        if timing.tells_apart() != TellsApart::Costs {
            return;
        }
        let [read, program] = timing.paths();
        let times = timing.times(self.options.nand.cell);
        let lists = [(read, times.read), (program, times.program)];
        for (path, list) in lists {
            let length = list.len();
            if length != CostClass::ALL.len() {
                let times = if length == 1 { "1 time".into() } else { format!("{length} times") };
                let message = format!("has {times}, but there are three costs");
                let remedy = "give one time for each cost: low, medium, high".to_owned();
                self.fail(&[path], message, remedy);
            } else if !list.is_sorted() {
                let message = "a higher cost takes less time".to_owned();
                let remedy = "write the times in rising order: low, medium, high".to_owned();
                self.fail(&[path], message, remedy);
            }
        }
    }
}
