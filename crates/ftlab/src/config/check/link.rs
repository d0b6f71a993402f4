//! What the link asks of the rest: one rate, and the single short queue of Serial ATA.

use super::Checker;
use crate::host::{Interface, SATA_TAGS};
use crate::options::value::Value;

const INTERFACE: &str = "host.link.interface";

impl Checker<'_, '_> {
    pub(super) fn link(&mut self) {
        let link = &self.options.host.link;
        if let (Some(rate), true) = (link.rate, link.interface != Interface::None) {
            let message = format!(
                "{} already says how fast the link is, and host.link.rate says {}",
                link.interface.print(),
                rate.print()
            );
            let remedy = format!("set host.link.rate to \"none\", or {INTERFACE} to \"none\"");
            self.fail(&[INTERFACE, "host.link.rate"], message, remedy);
        }
        if link.interface.is_sata() {
            self.sata();
        }
    }

    fn sata(&mut self) {
        let host = &self.options.host;
        let elsewhere = format!("or {INTERFACE} to a PCIe link, such as \"pcie-3x4\"");
        if host.queues != 1 {
            let message = format!("Serial ATA has one queue, not {}", host.queues);
            let remedy = format!("set host.queues to 1, {elsewhere}");
            self.fail(&["host.queues", INTERFACE], message, remedy);
        } else if let Some(deep) = host.queue_depth.iter().find(|&&depth| depth > SATA_TAGS) {
            let message = format!("Serial ATA has tags for {SATA_TAGS} commands, not for {deep}");
            let remedy = format!("set host.queue_depth to {SATA_TAGS}, {elsewhere}");
            self.fail(&["host.queue_depth", INTERFACE], message, remedy);
        }
    }
}
