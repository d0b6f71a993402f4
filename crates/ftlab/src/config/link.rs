//! The link between host and device.

use super::Options;
use crate::host::{Interface, SATA_TAGS};
use crate::options::Switch;
use crate::options::declare::options;
use crate::options::reader::{LayerReader, ValueOrigin};
use crate::units::{BytesPerSec, Nanos};

const INTERFACE: &str = "host.link.interface";
const RATE: &str = "host.link.rate";

options! {
    /// The link between host and device.
    pub struct LinkOptions at "host.link" {
        /// The interface, which determines the rate of the link. Serial ATA has one queue of at most 32 commands, and
        /// moves data one way at a time.
        interface: Interface = "none",
            source "default: not counted; the head of host/interface.rs derives the rates, with sources";
        /// The rate of the link in each direction, for a link that is no `host.link.interface`; or "none" if transfers
        /// take no time.
        rate: Option<BytesPerSec> = "none", in "1MB/s"..="1000GB/s",
            source "default: not counted; PCIe 3.0 moves 985 MB/s a lane after encoding, less headers";
        /// The time that each transfer of data takes besides its data, in each direction: setting up a DMA.
        setup: Nanos = "0ns", in "0ns"..="10ms",
            source "default: not counted; the Cosmos board moves 4 KiB at a fifth of its rate for 120 KiB";
        /// Whether commands and completions take time on the link: 64 and 16 bytes, or frames of 20 and 8 on Serial ATA.
        commands: Switch = "off",
            source "default: not counted; the sizes of the entries of NVM Express queues",
            applies_with "host.link.interface" not "none" or "host.link.rate" not "none";
    }
}

/// An interface or a rate that is set replaces the other of a preset below, and a queue of Serial ATA is no deeper than
/// its tags reach, unless it was set by hand.
pub(super) fn adjust_link(options: &mut Options, reader: &mut LayerReader<'_>) {
    let link = &mut options.host.link;
    if link.interface == Interface::None || link.rate.is_none() {
        // They don't contradict each other.
    } else if !reader.is_set_for(RATE, INTERFACE) {
        link.rate = None;
        reader.origins.insert(RATE, ValueOrigin::Adjusted("host.link.interface sets the rate"));
    } else if !reader.is_set_for(INTERFACE, RATE) {
        link.interface = Interface::None;
        reader.origins.insert(INTERFACE, ValueOrigin::Adjusted("host.link.rate sets the rate"));
    }
    const DEPTH: &str = "host.queue_depth";
    let deeper = options.host.queue_depth.iter().any(|&depth| depth > SATA_TAGS);
    if link.interface.is_sata() && deeper && !reader.set_by_hand(DEPTH) {
        options.host.queue_depth = vec![SATA_TAGS];
        reader.origins.insert(DEPTH, ValueOrigin::Adjusted("Serial ATA has 32 tags"));
    }
}
