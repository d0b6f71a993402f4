//! Turns the host's options into its side of a device: queues, front end and hints.

use crate::config::{DuringWriteBack, HostOptions, InterruptOptions, LinkOptions, Options};
use crate::ftl::mapping::dftl::DftlOptions;
use crate::host::arbitration::one_each;
use crate::host::hints::Hints;
use crate::host::{
    Coalescing, CompletionSetup, Copies, DramSetup, FrontEndSetup, LinkSetup, ProcessorSetup,
    Queues, StreamMap, Wire, WritePacingOptions, WritePacingSetup,
};
use crate::policy::Parts;
use crate::units::Nanos;

/// The host side of a device.
#[derive(Clone, Debug)]
pub struct HostSetup {
    /// The submission queues.
    pub queues: Queues,
    /// The front end that delays commands; none if nothing delays them.
    pub front_end: Option<FrontEndSetup>,
    /// The hints of the host; none if streams identify writes.
    pub hints: Option<Hints>,
}

impl HostSetup {
    /// One queue of this depth, from which the device fetches every command at once.
    #[must_use]
    pub fn one_queue(depth: u32) -> HostSetup {
        let queues =
            Queues { depths: vec![depth], weights: vec![1], map: StreamMap::Modulo, round: None };
        HostSetup { queues, front_end: None, hints: None }
    }
}

pub(super) fn host(options: &Options, parts: &Parts<'_>) -> HostSetup {
    let host = &options.host;
    let weights = host.arbitration.policy.weights().unwrap_or(&[1]);
    let queues = Queues {
        depths: one_each(&host.queue_depth, host.queues),
        weights: one_each(weights, host.queues),
        map: host.queue_of,
        round: None,
    };
    let always_fetched = host.queues == 1 && host.outstanding >= queues.depths[0];
    let processor = processor(options, parts);
    let link = link(&host.link);
    let completions = completions(host);
    let dram = dram(options);
    let host_memory =
        options.ftl.mapping.policy.on_flash().and_then(DftlOptions::host_memory_latency);
    let pacing = pacing(options);
    let delays = !processor.is_free()
        || pacing.is_some()
        || link.is_some()
        || dram.is_some()
        || host_memory.is_some()
        || !completions.is_free();
    let plain = always_fetched && !delays;
    let front_end = (!plain).then(|| FrontEndSetup {
        queues: host.queues,
        arbitration: host.arbitration.policy.build(parts),
        outstanding: host.outstanding,
        processor,
        link,
        dram,
        host_memory,
        pacing,
        completions,
    });
    let policy = &host.hints.policy;
    let hints = policy.identifiers().map(|_| policy.build(parts));
    HostSetup { queues, front_end, hints }
}

fn link(options: &LinkOptions) -> Option<LinkSetup> {
    let LinkOptions { interface, rate, setup, commands } = *options;
    let wire = interface.wire().or(rate.map(Wire::bare));
    let entries = commands.is_on().then_some(interface.entries());
    (wire.is_some() || setup > Nanos::ZERO).then_some(LinkSetup { wire, setup, entries })
}

/// Requests with physical addresses are for studies of the flash alone.
pub(super) fn dram(options: &Options) -> Option<DramSetup> {
    let rate = options.controller.dram.bandwidth;
    let rate = rate.filter(|_| options.ftl.mapping.policy.translates())?;
    Some(DramSetup { rate, codeword: options.nand.codeword })
}

/// Requests with physical addresses are never held back.
fn pacing(options: &Options) -> Option<WritePacingSetup> {
    let WritePacingOptions { program, copy, burst } = options.firmware.pacing;
    let program = program.filter(|_| options.ftl.mapping.policy.translates())?;
    Some(WritePacingSetup { program, copy, burst })
}

fn completions(host: &HostOptions) -> CompletionSetup {
    let InterruptOptions { delay, coalesce, coalesce_time } = host.interrupt;
    let coalesces = coalesce > 1 && coalesce_time > Nanos::ZERO;
    CompletionSetup {
        posting: host.completion_time,
        interrupt: delay,
        coalescing: coalesces.then_some(Coalescing { threshold: coalesce, time: coalesce_time }),
    }
}

fn processor(options: &Options, parts: &Parts<'_>) -> ProcessorSetup {
    let Options { host, firmware, .. } = options;
    let copies = Some(firmware.copies).filter(|&copies| copies != Copies::Nothing);
    ProcessorSetup {
        cores: firmware.cores,
        command: host.command_time,
        unit: firmware.unit,
        page: firmware.page,
        poll: firmware.poll,
        copies: copies.map(|copies| (copies, firmware.copy_rate)),
        waits: firmware.write_back == DuringWriteBack::Waits,
        flash_page: parts.geometry.shape().page_size,
        sectors_per_unit: parts.geometry.sectors_per_unit(),
    }
}
