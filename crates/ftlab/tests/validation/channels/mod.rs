//! Channel management in log-block devices: the thesis's machine as a naive model (`machine`), and
//! the evidence for that model: timelines by hand, laws, closed forms, and its version of the
//! thesis's figures.

mod by_hand;
mod closed_form;
mod device;
mod laws;
pub mod machine;
mod table;

use ftlab::engine::Stream;

use machine::{Machine, Params, Planner, Times};

/// 4 KiB pages, 512 KiB blocks, transfer included: the thesis's table 2.
const MLC: Times = Times { read: 166_000, program: 906_000, erase: 1_500_000 };
/// A request of the thesis's Random load, in sectors.
const REQUEST: u64 = 8;

/// The thesis's MLC device with `data_blocks` and `log_blocks` a channel.
fn mlc(channels: u32, data_blocks: u32, log_blocks: u32, planner: Planner) -> Params {
    Params {
        channels,
        sectors_per_page: 8,
        pages_per_block: 128,
        data_blocks,
        log_blocks,
        times: MLC,
        planner,
        throttle: None,
        buffer_bytes: 0,
        in_order: false,
    }
}

/// Back-to-back 4 KiB writes that start at any sector: the rate of the whole run and of its second
/// half, in requests a second.
struct Random {
    machine: Machine,
    whole: f64,
    steady: f64,
}

impl Random {
    fn run(params: Params, requests: u32, seed: u64) -> Random {
        let mut stream = Stream::new(seed, "sectors");
        let bound = params.sectors() - REQUEST;
        let mut machine = Machine::new(params);
        let mut half = 0;
        for request in 0..requests {
            if request == requests / 2 {
                half = machine.now();
            }
            machine.write(stream.below(bound), REQUEST);
        }
        let rate = |count: u32, time: u64| f64::from(count) * 1e9 / time as f64;
        let whole = rate(requests, machine.now());
        let steady = rate(requests - requests / 2, machine.now() - half);
        Random { machine, whole, steady }
    }
}
