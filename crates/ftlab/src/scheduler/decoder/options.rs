//! The options of the engines that decode what is read from flash.

use super::DecoderSetup;
use crate::options::declare::{choices, options};
use crate::units::Nanos;

choices! {
    /// What the engines of a pool serve.
    pub enum EnginesServe {
        /// One channel: each has its own.
        Channel = "channel",
        /// All channels.
        Device = "device",
    }
}

options! {
    /// The engines that decode what is read from flash, as it leaves the dies. By default that takes no time.
    pub struct EccOptions at "controller.ecc" {
        /// Engines, or "none" if decoding takes no time. Codewords (`nand.codeword`) that find all of them busy wait.
        engines: Option<u32> = "none", in "1"..="256", unit "engines",
            source "default: not counted; controllers have one or two on each channel";
        /// What these engines serve.
        serve: EnginesServe = "channel",
            source "assumed: a decoder sits behind each flash interface", applies_with "controller.ecc.engines" not "none";
        /// How long an engine takes for a codeword.
        codeword: Nanos = "2us", in "1ns"..="1ms",
            source "assumed: 4 KiB in 2us are 2 GB/s, faster than a bus of 1200 MT/s",
            applies_with "controller.ecc.engines" not "none";
        /// How much longer it takes for a codeword of a page that was sensed again, since the last attempt uses soft
        /// information. Each sensing before takes `controller.ecc.codeword` once more, as its codewords were decoded in vain.
        soft: Nanos = "10us", in "0ns"..="10ms",
            source "assumed: soft decisions take several times as many iterations (Zhao et al., FAST 2013, section 2)",
            applies_with "controller.ecc.engines" not "none";
        /// How long each codeword takes besides, while its engine works on the next: the depth of the pipeline.
        latency: Nanos = "0ns", in "0ns"..="1ms", source "default: not counted",
            applies_with "controller.ecc.engines" not "none";
    }
}

impl EccOptions {
    /// The setup of the engines, or `None` if decoding takes no time.
    #[must_use]
    pub fn setup(&self) -> Option<DecoderSetup> {
        let EccOptions { engines, serve, codeword, soft, latency } = *self;
        Some(DecoderSetup { engines: engines?, serve, codeword, soft, latency })
    }
}
