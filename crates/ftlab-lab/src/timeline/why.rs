//! Why requests took as long as they did: single ones, and the slowest of all.

use ftlab::host::Op;
use ftlab::units::{Nanos, SECTOR_BYTES};
use ftlab_workload::replay::Completed;
use serde::Serialize;

use super::choose::{Chosen, RequestChoice};
use super::story::own_work;
use super::traced::{Again, Stories, ToldRequest, Traced, windows_of};
use super::words::{Detail, Share, Shares, UNTOLD, Words};
use crate::experiment::Watcher;
use crate::failure::Failure;
use crate::human;

/// What is asked about a run.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The request with this index, instead of the slowest.
    pub request: Option<u64>,
    /// How many of the slowest requests of each operation are told.
    pub slowest: usize,
    /// Requests of this operation alone.
    pub op: Option<Op>,
    /// The share of requests that form the tail, in millionths.
    pub tail_ppm: u64,
}

/// The most requests of a tail that are looked at.
const MOST_OF_TAIL: usize = 2_000;
/// Millionths of the whole.
const WHOLE_PPM: u64 = 1_000_000;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyDocument {
    /// Single requests: the one asked for, or the slowest of each operation, the slowest first.
    pub requests: Vec<WhyRequest>,
    /// What the tail of each operation consists of.
    pub tails: Vec<WhyTail>,
}

/// A request, and what its time went to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyRequest {
    /// What it is and how long it took, in words.
    pub title: String,
    /// Its index in its source, as in `requests.parquet`.
    pub index: u64,
    /// What it did.
    pub op: Op,
    /// Its first sector.
    pub lba: u64,
    /// Its length in sectors of 512 bytes.
    pub sectors: u32,
    /// When it arrived, since the device was switched on.
    pub arrived_ns: u64,
    /// From its arrival to its completion.
    pub latency_ns: u64,
    /// The part of it that went to the device's own work: collection, folding, care of blocks.
    pub own_work_ns: u64,
    /// What the time went to, the longest first; they sum to the latency.
    pub parts: Vec<Share>,
}

/// What the slowest requests of an operation consist of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyTail {
    /// What it is, in words.
    pub title: String,
    /// The operation.
    pub op: Op,
    /// How many requests were measured.
    pub measured: u64,
    /// How many of the slowest are looked at.
    pub requests: u64,
    /// The latency of the fastest of them.
    pub from_ns: u64,
    /// Their latencies together.
    pub total_ns: u64,
    /// The part of them that went to the device's own work: collection, folding, care of blocks.
    pub own_work_ns: u64,
    /// What the time went to, the longest first; they sum to the total.
    pub parts: Vec<Share>,
}

/// The answer, and what it was taken from.
#[derive(Debug)]
pub struct WhyAnswer {
    /// The answer.
    pub document: WhyDocument,
    /// The requests that are told one by one, in the order of the answer.
    pub told: Vec<Completed>,
    /// What the device did while the requests in question were in it, and the result of the run.
    pub traced: Traced,
}

/// Performs a run twice more, and tells why its requests took as long as they did.
///
/// # Errors
/// It was stopped, or failed; or there is no such request.
pub fn why(
    again: &Again<'_>,
    question: &Question,
    watcher: &mut dyn Watcher,
) -> Result<WhyAnswer, Failure> {
    let choice = match question.request {
        Some(index) => RequestChoice::Index(index),
        None => RequestChoice::Slowest(MOST_OF_TAIL.max(question.slowest)),
    };
    let mut chosen = again.choose(choice, watcher)?;
    if let Some(index) = question.request.filter(|_| chosen.others.is_empty()) {
        return Err(Failure::usage(format!(
            "no measured request has the index {index}\n  remedy: take one from requests.parquet, or ask for the slowest \
             (`slowest`)"
        )));
    }
    chosen.slowest.retain(|op, _| question.op.is_none_or(|wanted| wanted == *op));
    let tails = tails_of(&chosen, question);
    let singles: Vec<Completed> = singles_of(&chosen, question).copied().collect();
    let all: Vec<Completed> = singles.iter().chain(tails.iter().flatten()).copied().collect();
    let traced = again.trace(&windows_of(&all), watcher)?;
    let words = Words::new(&traced.record, again.config.flash());
    let teller = Teller { traced: &traced, stories: traced.stories(), words };
    let requests = singles.iter().map(|done| request(done, &teller)).collect();
    let tails = tails.iter().map(|tail| tail_of(tail, &chosen, &teller)).collect();
    let document = WhyDocument { requests, tails };
    Ok(WhyAnswer { document, told: singles, traced })
}

/// The requests that are told one by one.
fn singles_of<'a>(
    chosen: &'a Chosen,
    question: &Question,
) -> impl Iterator<Item = &'a Completed> + use<'a> {
    let most = question.slowest;
    let slowest = chosen.slowest.values().flat_map(move |of| of.iter().take(most));
    chosen.others.iter().chain(slowest)
}

/// The requests of each tail, by operation. None is empty.
fn tails_of(chosen: &Chosen, question: &Question) -> Vec<Vec<Completed>> {
    let tail = |(op, slowest): (&Op, &Vec<Completed>)| {
        let measured = chosen.measured.get(op).copied().unwrap_or(0);
        let beyond = (measured.saturating_mul(question.tail_ppm) / WHOLE_PPM).max(1);
        let most = usize::try_from(beyond).unwrap_or(usize::MAX).min(MOST_OF_TAIL);
        slowest.iter().take(most).copied().collect()
    };
    let tails = chosen.slowest.iter().map(tail);
    tails.filter(|tail: &Vec<Completed>| !tail.is_empty()).collect()
}

fn find<'a>(done: &Completed, traced: &'a Traced) -> Option<&'a ToldRequest> {
    // They are in the order of their ends.
    let end = done.completion.finished;
    let first = traced.requests.partition_point(|told| told.done.completion.finished < end);
    let ended = traced.requests[first..].iter();
    ended.take_while(|told| told.done.completion.finished == end).find(|told| told.done == *done)
}

/// Tells what the time of requests went to.
struct Teller<'a> {
    traced: &'a Traced,
    stories: Stories<'a>,
    words: Words<'a>,
}

impl Teller<'_> {
    /// Adds all of a request's time to shares. Returns the part of it that went to the device's own work.
    fn add(&self, done: &Completed, detail: Detail, shares: &mut Shares) -> Nanos {
        let Some(told) = find(done, self.traced) else {
            shares.add(UNTOLD.to_owned(), done.latency(), None);
            return Nanos::ZERO;
        };
        let pieces = self.stories.of(told);
        self.words.add(told, &pieces, detail, shares);
        own_work(&pieces, &self.traced.record)
    }
}

fn request(done: &Completed, teller: &Teller<'_>) -> WhyRequest {
    let mut shares = Shares::default();
    let own_work = teller.add(done, Detail::Places, &mut shares);
    let asked = &done.completion.request;
    WhyRequest {
        title: format!(
            "The {} with index {} (sector {}, {}) took {}",
            asked.op.name(),
            human::count(done.index),
            human::count(asked.lba.0),
            human::bytes(u64::from(asked.sectors) * SECTOR_BYTES),
            human::span(done.latency().0)
        ),
        index: done.index,
        op: asked.op,
        lba: asked.lba.0,
        sectors: asked.sectors,
        arrived_ns: done.arrived.0,
        latency_ns: done.latency().0,
        own_work_ns: own_work.0,
        parts: shares.ranked(),
    }
}

fn tail_of(tail: &[Completed], chosen: &Chosen, teller: &Teller<'_>) -> WhyTail {
    let op = tail[0].completion.request.op;
    let mut shares = Shares::default();
    let (mut total, mut own_work) = (Nanos::ZERO, Nanos::ZERO);
    for done in tail {
        total += done.latency();
        own_work += teller.add(done, Detail::Kinds, &mut shares);
    }
    let measured = chosen.measured.get(&op).copied().unwrap_or(0);
    let from = tail.last().map_or(Nanos::ZERO, Completed::latency);
    WhyTail {
        title: format!(
            "The slowest {} of {} {}s ({}) took {} or longer",
            human::count(tail.len() as u64),
            human::count(measured),
            op.name(),
            human::percent(tail.len() as f64 / measured.max(1) as f64),
            human::span(from.0)
        ),
        op,
        measured,
        requests: tail.len() as u64,
        from_ns: from.0,
        total_ns: total.0,
        own_work_ns: own_work.0,
        parts: shares.ranked(),
    }
}

/// Shares below this part of the whole are summed up in one line.
const LEAST_SHARE: f64 = 0.005;

/// Returns the shares that matter, and the sum of the others.
#[must_use]
pub fn main_shares(parts: &[Share], whole: u64) -> (Vec<&Share>, Nanos) {
    let matters = |part: &&Share| part.time.0 as f64 >= LEAST_SHARE * whole as f64;
    let (main, rest): (Vec<&Share>, Vec<&Share>) = parts.iter().partition(matters);
    (main, Nanos(rest.iter().map(|part| part.time.0).sum()))
}
