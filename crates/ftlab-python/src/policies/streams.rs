//! Which pages share blocks, decided in Python.

use ftlab::device::DeviceSetup;
use ftlab::ftl::streams::{StreamCounts, StreamsPolicy, WriteStream};
use ftlab::policy::OutsidePolicy;
use ftlab::units::Lpn;
use ftlab_lab::Failure;
use pyo3::intern;
use pyo3::prelude::*;

use super::{NAME, PythonPolicy, misfit};

/// Asks Python for the stream of each page that the host writes. Copies are separated as the configured policy does.
#[derive(Clone, Debug)]
struct PythonStreams {
    policy: PythonPolicy,
    counts: StreamCounts,
}

/// Puts the policy into a device. It has as many streams as the configured one.
pub fn install(setup: DeviceSetup, policy: PythonPolicy) -> Result<DeviceSetup, Failure> {
    let counts = setup.ftl.streams.counts();
    setup
        .with_streams(PythonStreams { policy, counts })
        .map_err(|error| misfit("ftl.streams.policy", error))
}

impl OutsidePolicy for PythonStreams {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl StreamsPolicy for PythonStreams {
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    fn tag_of(&self, host_stream: u32) -> u8 {
        host_stream.min(u8::MAX.into()) as u8
    }

    fn host_stream(&self, page: Lpn, tag: u8) -> WriteStream {
        let answer: Option<u8> = self.policy.ask(|policy| {
            let py = policy.py();
            policy.call_method1(intern!(py, "stream"), (page.get(), tag))?.extract()
        });
        let host = self.counts.host;
        match answer {
            Some(stream) if stream < host => WriteStream::new(stream),
            Some(stream) => {
                self.policy.refuse(format!(
                    "the streams policy chose stream {stream}, but the device has {host}\n  remedy: configure a policy \
                     with as many, such as ftl.streams.policy = \"by-host-stream\" with ftl.streams.host_streams"
                ));
                WriteStream::new(0)
            }
            None => WriteStream::new(0),
        }
    }

    fn wrote(&mut self, page: Lpn) {
        let told = self.policy.ask(|policy| {
            let py = policy.py();
            policy.call_method1(intern!(py, "wrote"), (page.get(),)).map(drop)
        });
        let _ = told;
    }
}
