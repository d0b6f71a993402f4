//! The Markov chain of groups (MCAM): what a number of groups and their sizes cost in copies, by the
//! lifetimes of pages; and the search for the best ones (GCS).
//!
//! All sizes are in segments, which are one block of each plane, and the open block counts. A group in turn
//! holds pages for as long as it takes to fill it. So the ages at which pages leave follow from the sizes,
//! the shares that are still valid from the ages, and from these the flow into the next group.

use super::uid::Lifetimes;

/// The largest HOT group that is tried.
const MOST_HOT: u32 = 29;
/// How often all sizes are tried again, one by one.
const ROUNDS: u32 = 4;
/// Full blocks of the last group count as idle if they are at least this share of all.
const IDLE: f64 = 0.2;
/// Writes of the last group count as hot below this part of their mean lifetime.
const HOT_PART: f64 = 0.7;

/// What the groups share.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Segments in use.
    pub segments: f64,
    /// Segments of valid pages.
    pub valid: f64,
    /// Segments of the last group of which all pages are valid: data that is not written any more.
    pub full: f64,
}

/// The HOT group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hot {
    pub size: u32,
    /// The share of writes that it takes.
    share: f64,
    /// The age at which its blocks are collected: it takes writes that die before.
    age: f64,
}

impl Hot {
    /// A group that takes no writes.
    pub const UNUSED: Hot = Hot { size: 1, share: 0.0, age: 0.0 };

    fn of(size: u32, lifetimes: &Lifetimes) -> Option<Hot> {
        let age = lifetimes.age_of_hot(f64::from(size) - 0.5)?;
        Some(Hot { size, share: 1.0 - lifetimes.valid_at(age), age })
    }
}

/// What a choice of groups leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub hot: Hot,
    /// The sizes of the groups between HOT and the last one.
    pub sizes: Vec<u32>,
    /// The share of valid pages in the victims of each of these groups, and of the last one.
    pub valid: Vec<f64>,
    /// Write amplification.
    pub amplification: f64,
}

/// Returns what a choice of groups leads to, or `None` if the last group has no room for its pages, or if
/// pages stay in a group for longer than lifetimes are known.
pub fn predict(hot: Hot, sizes: &[u32], room: Room, lifetimes: &Lifetimes) -> Option<Plan> {
    // The writes that do not go to HOT.
    let outside = 1.0 - hot.share;
    let left = |age: f64| lifetimes.valid_at(age).min(outside);
    let (mut age, mut flow, mut copies) = (0.0, outside, 0.0);
    let mut valid = Vec::with_capacity(sizes.len() + 1);
    let mut segments = room.segments - f64::from(hot.size);
    for &size in sizes {
        age += (f64::from(size) - 0.5) / flow;
        if age >= lifetimes.longest() {
            return None;
        }
        let after = left(age);
        if after <= 0.0 {
            return None;
        }
        valid.push(after / flow);
        copies += after;
        flow = after;
        segments -= f64::from(size);
    }
    let in_last = room.valid - before_last(hot, age, outside, lifetimes);
    let idle = if room.full >= IDLE * room.segments { room.full } else { 0.0 };
    let (segments, in_last) = (segments - idle, in_last - idle);
    if in_last <= 0.0 || segments <= in_last {
        return None;
    }
    let last = last_group(segments / in_last, age.max(hot.age), room, lifetimes);
    valid.push(1.0 - 1.0 / last);
    copies += flow * (last - 1.0);
    Some(Plan { hot, sizes: sizes.to_vec(), valid, amplification: 1.0 + copies })
}

/// The segments of valid pages in HOT and in the groups that pages leave before an age.
fn before_last(hot: Hot, age: f64, outside: f64, lifetimes: &Lifetimes) -> f64 {
    match age < hot.age {
        false => lifetimes.younger_than(age),
        // Outside of HOT nothing dies before its age.
        true => lifetimes.younger_than(hot.age) - (hot.age - age) * outside,
    }
}

/// The amplification of the last group with this ratio of its size to its valid pages, which are written again later
/// than at `age`. Source: Desnoyers, "Analytic Models of SSD Write Performance", ACM TOS 2014: hot and cold data
/// that is cleaned in turn.
fn last_group(ratio: f64, age: f64, room: Room, lifetimes: &Lifetimes) -> f64 {
    let writes = lifetimes.valid_at(age);
    // All other pages are written again sooner.
    let pages = room.valid - lifetimes.spent_by(age);
    let limit = (HOT_PART * pages / writes).max(age);
    let hot_writes = (writes - lifetimes.valid_at(limit)) / writes;
    let hot_pages = (lifetimes.spent_by(limit) - lifetimes.spent_by(age)) / pages;
    let copies = |writes: f64, pages: f64, amplification: f64| match writes > 0.0 && pages > 0.0 {
        true => writes / libm::expm1(writes * ratio / (pages * amplification)),
        false => 0.0,
    };
    let (mut low, mut high) = (1.0, MOST);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let found = 1.0
            + copies(hot_writes, hot_pages, middle)
            + copies(1.0 - hot_writes, 1.0 - hot_pages, middle);
        if found > middle { low = middle } else { high = middle }
    }
    low
}

/// More amplification than any device has.
const MOST: f64 = 1_000.0;
/// How often the interval of amplifications is halved: to 0.0001.
const HALVINGS: u32 = 24;

/// Returns the best groups: at most `most` with HOT and the last one.
pub fn best(hot_works: bool, most: u32, room: Room, lifetimes: &Lifetimes) -> Option<Plan> {
    let hots: Vec<Hot> = match hot_works {
        true => (1..=MOST_HOT).filter_map(|size| Hot::of(size, lifetimes)).collect(),
        false => vec![Hot::UNUSED],
    };
    let best_hot =
        |sizes: &[u32]| least(hots.iter().filter_map(|&hot| predict(hot, sizes, room, lifetimes)));
    let mut plan = best_hot(&[])?;
    let mut best = plan.clone();
    // One group more at a time, taken from the last one.
    while plan.sizes.len() + 2 < most as usize {
        let mut sizes = plan.sizes.clone();
        sizes.push(0);
        let Some(found) = best_size(&plan, &mut sizes, plan.sizes.len(), room, lifetimes) else {
            break;
        };
        plan = found;
        keep_less(&mut best, Some(plan.clone()));
    }
    for _ in 0..ROUNDS {
        let before = best.amplification;
        let found = best_hot(&best.sizes);
        keep_less(&mut best, found);
        for group in 0..best.sizes.len() {
            let found = best_size(&best, &mut best.sizes.clone(), group, room, lifetimes);
            keep_less(&mut best, found);
        }
        if best.amplification >= before {
            break;
        }
    }
    Some(best)
}

fn least(plans: impl Iterator<Item = Plan>) -> Option<Plan> {
    plans.min_by(|a, b| a.amplification.total_cmp(&b.amplification))
}

fn keep_less(best: &mut Plan, found: Option<Plan>) {
    if let Some(found) = found.filter(|found| found.amplification < best.amplification) {
        *best = found;
    }
}

/// Tries all sizes of one group. The last group gets the rest.
fn best_size(
    plan: &Plan,
    sizes: &mut [u32],
    group: usize,
    room: Room,
    lifetimes: &Lifetimes,
) -> Option<Plan> {
    least((1..room.segments as u32).filter_map(|size| {
        sizes[group] = size;
        predict(plan.hot, sizes, room, lifetimes)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::uid::Intervals;
    use super::*;
    use crate::engine::Stream;
    use std::collections::VecDeque;

    const PAGES: usize = 64;
    const SEGMENTS: usize = 240;
    const LOGICAL: usize = 12_800;

    /// A quarter of the pages gets 70 % of the writes.
    fn draw(stream: &mut Stream) -> usize {
        let quarter = LOGICAL as u64 / 4;
        let hot = stream.below(10) < 7;
        (if hot { stream.below(quarter) } else { quarter + stream.below(3 * quarter) }) as usize
    }

    /// Plain groups of segments, as vectors of pages: filled in turn and collected in turn, but for the last one,
    /// of which the segment with the fewest valid pages is collected.
    struct Chain {
        limits: Vec<usize>,
        groups: Vec<VecDeque<Vec<usize>>>,
        open: Vec<Vec<usize>>,
        /// By page: the number of its newest copy.
        newest: Vec<u64>,
        /// By group: the number of each page's copy, parallel to the pages.
        valid: Vec<u64>,
        victims: Vec<u64>,
        used: usize,
        copies: u64,
        at: Vec<(usize, u64)>,
        next: u64,
    }

    impl Chain {
        fn new(limits: &[usize]) -> Chain {
            let groups = limits.len() + 1;
            Chain {
                limits: limits.to_vec(),
                groups: vec![VecDeque::new(); groups],
                open: vec![Vec::new(); groups],
                newest: vec![u64::MAX; LOGICAL],
                valid: vec![0; groups],
                victims: vec![0; groups],
                used: 0,
                copies: 0,
                at: Vec::new(),
                next: 0,
            }
        }

        /// A slot is the index of a written copy; it is valid if it is its page's newest.
        fn append(&mut self, page: usize, group: usize) {
            let slot = self.at.len();
            self.at.push((page, self.next));
            self.newest[page] = self.next;
            self.next += 1;
            self.open[group].push(slot);
            if self.open[group].len() == PAGES {
                let full = std::mem::take(&mut self.open[group]);
                self.groups[group].push_back(full);
                self.used += 1;
            }
        }

        fn is_valid(&self, slot: usize) -> bool {
            self.newest[self.at[slot].0] == self.at[slot].1
        }

        fn collect(&mut self) {
            let last = self.limits.len();
            let over = (0..last).find(|&group| self.groups[group].len() >= self.limits[group]);
            let (group, place) = match over {
                Some(group) => (group, 0),
                None => {
                    let count = |segment: &Vec<usize>| {
                        segment.iter().filter(|&&slot| self.is_valid(slot)).count()
                    };
                    let fewest = self.groups[last].iter().map(count).enumerate();
                    (last, fewest.min_by_key(|&(_, valid)| valid).expect("a segment").0)
                }
            };
            let victim = self.groups[group].remove(place).expect("a victim");
            self.used -= 1;
            self.victims[group] += 1;
            for slot in victim {
                if self.is_valid(slot) {
                    self.valid[group] += 1;
                    self.copies += 1;
                    self.append(self.at[slot].0, (group + 1).min(last));
                }
            }
        }

        fn write(&mut self, page: usize) {
            self.append(page, 0);
            while self.used + self.open.len() > SEGMENTS {
                self.collect();
            }
        }
    }

    fn lifetimes() -> Lifetimes {
        let mut intervals = Intervals::new(1, PAGES as u64, LOGICAL as u32);
        let mut stream = Stream::new(5, "lifetimes");
        let mut last = vec![None; LOGICAL];
        for now in 0..10 * LOGICAL as u64 {
            let page = draw(&mut stream);
            if now >= 4 * LOGICAL as u64 {
                intervals.wrote(page as u32, last[page].map(|then: u64| now - then));
            }
            last[page] = Some(now);
        }
        intervals.distribution().expect("enough samples")
    }

    #[test]
    fn a_chain_of_groups_copies_as_predicted() {
        let lifetimes = lifetimes();
        let room = Room { segments: SEGMENTS as f64, valid: (LOGICAL / PAGES) as f64, full: 0.0 };
        for sizes in [vec![10], vec![30], vec![10, 15], vec![8, 10, 12]] {
            let plan = predict(
                Hot::UNUSED,
                &sizes,
                Room { segments: room.segments + 1.0, ..room },
                &lifetimes,
            );
            let plan = plan.expect("it fits");
            let limits: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
            let mut chain = Chain::new(&limits);
            (0..LOGICAL).for_each(|page| chain.write(page));
            let mut stream = Stream::new(9, "chain");
            (0..8 * LOGICAL).for_each(|_| chain.write(draw(&mut stream)));
            chain.valid.fill(0);
            chain.victims.fill(0);
            chain.copies = 0;
            let writes = 10 * LOGICAL;
            (0..writes).for_each(|_| chain.write(draw(&mut stream)));
            let measured = 1.0 + chain.copies as f64 / writes as f64;
            let off = plan.amplification / measured - 1.0;
            println!("{sizes:?}: predicted {:.3}, measured {measured:.3}", plan.amplification);
            for (group, &predicted) in plan.valid.iter().enumerate() {
                let pages = chain.victims[group] * PAGES as u64;
                let found = chain.valid[group] as f64 / pages as f64;
                println!("  group {group}: predicted {predicted:.3}, measured {found:.3}");
                let tolerance = if group < sizes.len() { 0.01 } else { 0.05 };
                assert!((found - predicted).abs() < tolerance, "{sizes:?}, group {group}");
            }
            assert!(off.abs() < 0.12, "{sizes:?}: off by {off}");
        }
    }

    #[test]
    fn the_search_finds_no_worse_than_any_two_groups() {
        let lifetimes = lifetimes();
        let room = Room { segments: SEGMENTS as f64, valid: (LOGICAL / PAGES) as f64, full: 0.0 };
        let found = best(true, 6, room, &lifetimes).expect("groups");
        assert!(found.sizes.len() <= 4);
        let all = found.sizes.iter().sum::<u32>() + found.hot.size;
        assert!(f64::from(all) < room.segments, "{found:?}");
        for hot in [Hot::UNUSED].into_iter().chain(Hot::of(3, &lifetimes)) {
            for first in (1..60).step_by(7) {
                for second in (1..60).step_by(9) {
                    let other = predict(hot, &[first, second], room, &lifetimes);
                    let less =
                        other.is_some_and(|it| it.amplification < found.amplification - 0.01);
                    assert!(!less, "{first} and {second} with {hot:?} are better than {found:?}");
                }
            }
        }
    }

    #[test]
    fn even_lifetimes_amplify_as_in_closed_form() {
        // Pages that are all alike: valid at an age with the same chance per write.
        let mut intervals = Intervals::new(1, PAGES as u64, LOGICAL as u32);
        let mut stream = Stream::new(3, "even");
        for _ in 0..400_000 {
            let interval = -libm::log(1.0 - stream.unit()) * LOGICAL as f64;
            intervals.wrote(0, Some(interval as u64));
        }
        let lifetimes = intervals.distribution().expect("enough samples");
        let room = Room { segments: SEGMENTS as f64, valid: (LOGICAL / PAGES) as f64, full: 0.0 };
        let plan =
            predict(Hot::UNUSED, &[], Room { segments: room.segments + 1.0, ..room }, &lifetimes);
        let expected = crate::ftl::gc::closed_form::endless_blocks(room.valid / room.segments);
        let found = plan.expect("it fits").amplification;
        assert!((found / expected - 1.0).abs() < 0.06, "{found} instead of {expected}");
    }
}
