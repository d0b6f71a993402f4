//! The requirements of refresh: a timing model in which data ages, and blocks that can be emptied one by one.

use super::{Checker, text};
use crate::ftl::wear::RefreshWhen;
use crate::nand::Reliability;
use crate::options::value::Value;

const WHEN: &str = "ftl.refresh.when";
const READS: &str = "ftl.refresh.reads";
/// The least value of the option.
const LEAST_READS: u32 = 10;
const DISTURB: &str = "nand.faults.disturb_limit";
const PERIOD: &str = "ftl.refresh.period";

impl Checker<'_, '_> {
    pub(super) fn refresh(&mut self) {
        if self.options.ftl.refresh.reads.is_some() {
            self.can_be_emptied(READS, "none");
            self.can_be_read_once_more();
        }
        if self.options.ftl.refresh.when == RefreshWhen::Never {
            return;
        }
        let never = format!("or {WHEN} to \"never\"");
        if self.options.nand.timing.policy.errors().is_none() {
            let timing = &self.options.nand.timing.policy;
            let message = format!(
                "with nand.timing.policy = {} data does not age: there is nothing to refresh",
                text(&timing.name().to_owned())
            );
            let remedy = format!("set nand.timing.policy to \"ispp\", {never}");
            self.fail(&[WHEN, "nand.timing.policy"], message, remedy);
        }
        self.can_be_kept_up();
        self.foresees_reads();
        self.can_be_emptied(WHEN, "never");
    }

    /// A patrol foresees age, not reads.
    fn foresees_reads(&mut self) {
        let refresh = &self.options.ftl.refresh;
        let errors = self.options.nand.timing.policy.errors();
        if refresh.reads.is_some() || errors.is_none_or(|errors| errors.disturbed_errors == 0) {
            return;
        }
        let message = format!(
            "reads disturb their block, but patrols, which come every {}, foresee only its age: many reads in between may \
             lose data",
            refresh.period.print()
        );
        let remedy = format!("set {READS} to the reads that a block bears");
        self.warn(&[WHEN, READS, "nand.timing.disturbed_errors"], message, remedy);
    }

    /// A refresh reads the whole block once more.
    fn can_be_read_once_more(&mut self) {
        let nand = &self.options.nand;
        let (Some(reads), Some(limit)) =
            (self.options.ftl.refresh.reads, nand.faults.disturb_limit)
        else {
            return;
        };
        let pages = nand.flash_pages_per_block();
        if reads.saturating_add(pages) <= limit {
            return;
        }
        let message = format!(
            "a block is refreshed after {reads} reads, and that reads its {pages} pages, but a block is unreadable after \
             {limit} reads"
        );
        let most = limit.saturating_sub(pages);
        let remedy = match most {
            ..LEAST_READS => {
                format!("set {DISTURB} to at least {}", u64::from(reads) + u64::from(pages))
            }
            _ => format!("set {READS} to at most {most}"),
        };
        self.fail(&[READS, DISTURB], message, remedy);
    }

    /// Checks that blocks can be emptied one by one; `off` is the value of `path` that needs no emptying.
    fn can_be_emptied(&mut self, path: &'static str, off: &str) {
        if self.has_log() || self.is_physical() {
            let mapping = &self.options.ftl.mapping.policy;
            let message = format!(
                "with ftl.mapping.policy = {} a block can't be emptied whenever its data is old, or was read often",
                text(&mapping.name().to_owned())
            );
            let remedy = format!("set ftl.mapping.policy to \"page\", or {path} to \"{off}\"");
            self.fail(&[path, "ftl.mapping.policy"], message, remedy);
        }
    }

    /// Checks that data lasts for more than two periods at the planned wear. Blocks are emptied that long before their
    /// data is due, so otherwise a patrol would find the copies again at once.
    fn can_be_kept_up(&mut self) {
        let Some(reliability) = self.options.nand.timing.policy.errors() else { return };
        let Some(rule) = self.options.ftl.refresh.rule() else { return };
        let cost = &self.options.ftl.cost;
        // The wider the step, the sooner the data is due.
        let class = cost.policy.lowest().min(cost.prior().class);
        let lasts = Reliability::new(reliability).lasts(class, 0, rule.limit);
        let Some(lasts) = lasts.filter(|&lasts| lasts <= rule.period + rule.period) else {
            return;
        };
        let message = format!(
            "a patrol finds data two periods of {} before it is due, but pages of {} cost last for {} at the wear and age \
             that are planned for",
            rule.period.print(),
            class.name(),
            lasts.print()
        );
        let remedy = format!(
            "set {PERIOD} to less than half of that, plan for less (nand.timing.wear_at_least, \
             nand.timing.age_at_least), or set {WHEN} to \"never\""
        );
        let paths = [
            PERIOD,
            WHEN,
            "ftl.cost.policy",
            "ftl.cost.prior",
            "nand.timing.wear_at_least",
            "nand.timing.age_at_least",
        ];
        self.fail(&paths, message, remedy);
    }
}
