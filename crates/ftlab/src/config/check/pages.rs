//! The requirements of pages: codewords, mapping units and word lines of whole size.

use super::{Checker, text};
use crate::config::options::NandOptions;
use crate::options::value::Value;
use crate::units::{Bytes, SECTOR_BYTES, SectorMask};

const PAGE: &str = "nand.page_size";
const CODEWORD: &str = "nand.codeword";
const UNIT: &str = "ftl.mapping.unit";
const PROGRAM_UNIT: &str = "nand.program_unit";
const PAGES: &str = "nand.pages_per_block";

/// The largest mapping unit.
const LARGEST_UNIT: Bytes = Bytes(SectorMask::MOST_SECTORS as u64 * SECTOR_BYTES);
/// The fewest flash pages of a block.
const FEWEST_PAGES: u32 = 4;

impl Checker<'_, '_> {
    pub(super) fn pages(&mut self) {
        self.codewords();
        self.mapping_units();
        self.word_lines();
    }

    fn codewords(&mut self) {
        let nand = &self.options.nand;
        let (page, codeword) = (nand.page_size, nand.codeword);
        if !codeword.0.is_power_of_two() {
            let above = codeword.0.checked_next_power_of_two().unwrap_or(1 << 63);
            let remedy = format!("write {} or {}", text(&Bytes(above / 2)), text(&Bytes(above)));
            let message = format!("{} is not a power of two", codeword.print());
            self.fail(&[CODEWORD], message, remedy);
        }
        if codeword > page {
            let message = format!(
                "a codeword of {} is larger than the flash page of {}",
                codeword.print(),
                page.print()
            );
            let remedy = format!("write {} or less", text(&page));
            self.fail(&[CODEWORD, PAGE], message, remedy);
        } else if codeword.0.is_power_of_two() && !page.0.is_multiple_of(codeword.0) {
            let message =
                format!("{} is no whole number of codewords of {}", page.print(), codeword.print());
            let whole = Bytes(page.0.next_multiple_of(codeword.0));
            self.fail(&[PAGE, CODEWORD], message, format!("set {PAGE} to {}", text(&whole)));
        }
        let unit = self.options.ftl.mapping.unit.bytes(nand.flash_page());
        if codeword <= page && codeword > unit {
            let message = format!(
                "a codeword of {} spans several mapping units of {}",
                codeword.print(),
                unit.print()
            );
            let remedy = format!("write {} or less, or map larger units", text(&unit));
            self.fail(&[CODEWORD, UNIT], message, remedy);
        }
    }

    fn mapping_units(&mut self) {
        let page = self.options.nand.flash_page();
        let unit = self.options.ftl.mapping.unit.bytes(page);
        // The largest power of two that divides the flash page, within the limit.
        let exponent = page.0.trailing_zeros().min(LARGEST_UNIT.0.trailing_zeros());
        let largest = Bytes(1 << exponent);
        if !page.0.is_multiple_of(unit.0) || !unit.0.is_multiple_of(SECTOR_BYTES) {
            let message = format!(
                "units of {} do not divide the flash page of {} into whole sectors",
                unit.print(),
                page.print()
            );
            let remedy =
                format!("write \"flash-page\", or a power of two from 512B to {}", largest.print());
            self.fail(&[UNIT, PAGE, PROGRAM_UNIT], message, remedy);
        } else if !unit.0.is_power_of_two() {
            let message = format!(
                "a mapping unit of {} is not a power of two, and requests are cut into units by shifts",
                unit.print()
            );
            self.fail(&[UNIT, PAGE, PROGRAM_UNIT], message, self.smaller_unit(largest));
        } else if unit > LARGEST_UNIT && self.options.nand.pages_at_once() > 1 {
            let message = format!(
                "a mapping unit has up to {}, and the word line has {}",
                LARGEST_UNIT.print(),
                unit.print()
            );
            self.fail(&[UNIT, PAGE, PROGRAM_UNIT], message, self.smaller_unit(largest));
        }
    }

    /// The remedy for a unit that is no power of two or too large.
    fn smaller_unit(&self, largest: Bytes) -> String {
        let nand = &self.options.nand;
        let gates = self.options.cache.policy.gate().is_some();
        match self.has_log() || self.is_physical() || gates {
            false => format!("set {UNIT} to {}", text(&largest)),
            // These map whole flash pages.
            true if nand.pages_at_once() > 1 => format!("set {PROGRAM_UNIT} to \"page\""),
            true => {
                let page = Bytes(nand.page_size.0.next_power_of_two()).min(LARGEST_UNIT);
                format!("set {PAGE} to {}", text(&page))
            }
        }
    }

    /// Checks that a word line that is programmed at once has one time for that.
    pub(super) fn time_of_word_line(&mut self, path: &'static str, times: usize) {
        if times == 1 {
            return;
        }
        let message =
            format!("has {times} entries, but all pages of a word line are programmed at once");
        let remedy =
            format!("set {PROGRAM_UNIT} to \"page\", or give one time: that of the word line");
        self.fail(&[path, PROGRAM_UNIT], message, remedy);
    }

    /// A block has whole word lines, and as many of them as of other flash pages.
    fn word_lines(&mut self) {
        let nand = &self.options.nand;
        let NandOptions { pages_per_block: pages, .. } = *nand;
        let at_once = nand.pages_at_once();
        let fits = pages.next_multiple_of(at_once).max(FEWEST_PAGES * at_once);
        if at_once == 1 || pages == fits {
            return;
        }
        let message = format!(
            "{pages} pages are not at least {FEWEST_PAGES} whole word lines of {at_once} pages each, which are \
             programmed at once"
        );
        let remedy = format!("set {PAGES} to {fits}, or {PROGRAM_UNIT} to \"page\"");
        self.fail(&[PAGES, PROGRAM_UNIT, "nand.cell"], message, remedy);
    }
}
