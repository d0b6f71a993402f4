//! Figures of the data sheet that the closed forms don't reach: by how much, what bounds them, and what may be meant.

use super::{Derivation, LEAST_SPARE, MISSED, MOST_AMPLIFIED};
use crate::config::datasheet::Row;

impl Derivation<'_> {
    /// Doubts each figure that was asked for and is missed.
    pub(super) fn missed(&mut self) {
        for Row { option, wanted, reached, given, asked, bound, .. } in self.forms.rows(self.sheet)
        {
            let (Some(wanted), Some(asked)) = (wanted, asked) else { continue };
            if (reached / wanted - 1.0).abs() <= MISSED {
                continue;
            }
            let hint = match option {
                "random_write" => self.amplified(wanted),
                "random_read" if reached < wanted => {
                    format!(
                        ". Perhaps there are more dies, or pages are sensed faster than {} us",
                        self.forms.read
                    )
                }
                "read" | "write" if reached < wanted => {
                    format!(
                        ". Perhaps there are more dies than {}, or other flash",
                        self.forms.dies
                    )
                }
                _ => String::new(),
            };
            self.doubts.push(format!(
                "`{option}` {asked} is not met: the closed form gives {given}, bound by {bound}{hint}"
            ));
        }
    }

    /// What the random writes that were asked for mean.
    fn amplified(&self, wanted: f64) -> String {
        let forms = &self.forms;
        let amplification = forms.amplification_for(wanted);
        if amplification > MOST_AMPLIFIED {
            return format!(
                ". It means a write amplification of {amplification:.0}, which no over-provisioning gives: drives spare at \
                 least {:.0} %. Perhaps commands take longer (host.command_time), the map is not in DRAM \
                 (ftl.mapping.policy), or few requests were in flight",
                LEAST_SPARE * 100.0
            );
        }
        let blocks = forms.blocks_for(amplification);
        if blocks > forms.blocks + 1.0 {
            return format!(
                ". It needs a write amplification of {amplification:.2}, so {blocks:.0} blocks of a plane in place of {}: more \
                 flash than {} dies have. Perhaps it is no figure of a full drive, or there are more dies",
                forms.blocks, forms.dies
            );
        }
        String::new()
    }
}
