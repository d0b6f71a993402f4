//! Plays several sources together, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftlab::units::SimTime;

use super::source::{Arrival, Next, Source, SourceError};

/// How the clocks of several sources relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// All first requests arrive at the same time.
    Together,
    /// The sources share one clock.
    AsRecorded,
}

/// Several sources as one. Each request has the number of its source as its stream; at equal times
/// the source with the lower number goes first. Sources with phases are refused, because their
/// times depend on the device.
pub struct Merge<S> {
    inputs: Vec<Input<S>>,
    /// The time of the next request of each input that has one, and the input.
    heads: BinaryHeap<Reverse<(SimTime, u32)>>,
    starts: Starts,
    primed: bool,
}

struct Input<S> {
    source: S,
    head: Option<Arrival>,
    origin: Option<SimTime>,
    latest: SimTime,
}

impl<S: Source> Merge<S> {
    /// Merges `sources`; stream `i` is the i-th.
    pub fn new(sources: Vec<S>, starts: Starts) -> Merge<S> {
        let input = |source| Input { source, head: None, origin: None, latest: SimTime::ZERO };
        Merge {
            inputs: sources.into_iter().map(input).collect(),
            heads: BinaryHeap::new(),
            starts,
            primed: false,
        }
    }

    /// Puts the next request of an input into the heap. A time before the latest one counts as the
    /// latest, so that an unsorted source keeps its own order.
    fn refill(&mut self, number: u32) -> Result<(), SourceError> {
        let input = &mut self.inputs[number as usize];
        input.head = match input.source.next()? {
            Next::End => None,
            Next::Request(arrival) => Some(arrival),
            Next::Phase(_) => {
                let text = "a workload with phases cannot be merged with other sources; \
                            play it on its own, or convert it to a trace first";
                return Err(SourceError::message(text.to_owned()));
            }
        };
        if let Some(arrival) = &mut input.head {
            let origin = *input.origin.get_or_insert(arrival.at);
            let own = match self.starts {
                Starts::Together => SimTime(arrival.at.0.saturating_sub(origin.0)),
                Starts::AsRecorded => arrival.at,
            };
            input.latest = input.latest.max(own);
            arrival.at = input.latest;
            arrival.stream = number;
            self.heads.push(Reverse((input.latest, number)));
        }
        Ok(())
    }
}

impl<S: Source> Source for Merge<S> {
    fn next(&mut self) -> Result<Next, SourceError> {
        if !self.primed {
            self.primed = true;
            for number in 0..self.inputs.len() {
                self.refill(u32::try_from(number).expect("fewer sources than that"))?;
            }
        }
        let Some(Reverse((_, number))) = self.heads.pop() else {
            return Ok(Next::End);
        };
        let arrival = self.inputs[number as usize].head.expect("in the heap, so it has a head");
        self.refill(number)?;
        Ok(Next::Request(arrival))
    }

    fn skip_phase(&mut self) {
        self.heads.clear();
    }

    fn total(&self) -> Option<u64> {
        self.inputs.iter().map(|input| input.source.total()).sum()
    }
}
