//! The requirements of the model of costs: three classes of programs, the coarsest steps first; three levels of
//! sensing, each of which distinguishes and corrects more; and every class is readable at the planned wear and age.

use super::Checker;
use crate::nand::{CostClass, Reliability, ReliabilityOptions};
use crate::options::value::Value;
use crate::units::Nanos;

const STEP: &str = "nand.timing.program_step";
const REFERENCES: &str = "nand.timing.references";
const CORRECTS: &str = "nand.timing.corrects";

impl Checker<'_, '_> {
    pub(super) fn ispp(&mut self) {
        let Some(reliability) = self.options.nand.timing.policy.errors() else { return };
        let falls = |pair: &[u32]| pair[0] >= pair[1];
        let rises = |pair: &[u32]| pair[0] < pair[1];
        let steps = "the steps of a cheap, a medium and an expensive program, the coarsest first";
        let references = "the references of three levels, the fewest first";
        let corrects = "what three levels correct, the least first";
        let sound = [
            self.three(STEP, &reliability.program_step, steps, falls),
            self.three(REFERENCES, &reliability.references, references, rises),
            self.three(CORRECTS, &reliability.corrects, corrects, rises),
        ];
        if sound == [true; 3] {
            self.planned_point(reliability);
        }
    }

    /// Checks that a list has three entries in order; otherwise the error describes them.
    fn three(
        &mut self,
        path: &'static str,
        list: &[u32],
        what: &str,
        in_order: fn(&[u32]) -> bool,
    ) -> bool {
        let sound = list.len() == CostClass::ALL.len() && list.windows(2).all(in_order);
        if !sound {
            let message = format!("[{}] is not {what}", list.to_vec().print());
            self.fail(&[path], message, format!("give three numbers: {what}"));
        }
        sound
    }

    /// Checks that data at the planned wear and age is readable, and warns if it needs retries.
    fn planned_point(&mut self, options: &ReliabilityOptions) {
        let model = Reliability::new(options);
        let paths = [CORRECTS, STEP, "nand.timing.wear_at_least", "nand.timing.age_at_least"];
        for (class, name) in CostClass::ALL.into_iter().zip(["low", "medium", "high"]) {
            let effort = model.effort(class, 0, Nanos::ZERO);
            if effort.is_some_and(|effort| effort.at() < options.corrects.len()) {
                continue;
            }
            let errors = model.raw_errors(class, 0, Nanos::ZERO) * 1e6;
            let end = match effort {
                Some(_) => "so every read of one needs retries",
                None => "which cannot be corrected",
            };
            let message = format!(
                "pages of {name} cost hold {errors:.0} errors in a million bits at the wear and age that are planned \
                 for, {end}"
            );
            let remedy = "let the last level correct more, take smaller steps, or plan for less";
            match effort {
                Some(_) => self.warn(&paths, message, remedy.to_owned()),
                None => self.fail(&paths, message, remedy.to_owned()),
            }
        }
    }
}
