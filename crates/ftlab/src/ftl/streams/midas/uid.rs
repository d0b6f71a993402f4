//! The distribution of update intervals (UID): how long pages live, in host page writes. One page in a
//! number is sampled, as a sample of pages gives the intervals in their true shares.

use crate::image::{Damage, ImageReader, ImageWriter};

/// Steps of the distribution in a segment, which is one block of each plane.
const STEPS: u32 = 4;
/// The length of an epoch, in capacities.
const CAPACITIES: u64 = 4;

/// The intervals of an epoch, as counts by step. Longer ones than an epoch have a count of their own.
#[derive(Clone, Debug)]
pub struct Intervals {
    counts: Vec<u32>,
    longer: u32,
    /// One page in this number is sampled.
    sample: u32,
    /// Page writes in a step.
    step: u64,
}

impl Intervals {
    /// Counts nothing yet.
    pub fn new(sample: u32, segment: u64, logical_pages: u32) -> Intervals {
        let step = segment.div_ceil(STEPS.into());
        let steps = (CAPACITIES * u64::from(logical_pages)).div_ceil(step);
        Intervals { counts: vec![0; steps as usize], longer: 0, sample, step }
    }

    /// Page writes in an epoch.
    pub fn epoch(&self) -> u64 {
        self.counts.len() as u64 * self.step
    }

    /// Records a write of page `number`. Its last write was `interval` page writes before, if it is known.
    #[inline]
    pub fn wrote(&mut self, number: u32, interval: Option<u64>) {
        if !number.is_multiple_of(self.sample) {
            return;
        }
        let step = interval.map(|interval| interval / self.step);
        match step.and_then(|step| self.counts.get_mut(step as usize)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.longer = self.longer.saturating_add(1),
        }
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.longer = 0;
    }

    /// Returns the distribution, or `None` if too few updates were seen to know one.
    pub fn distribution(&self) -> Option<Lifetimes> {
        /// Fewer samples say nothing about groups.
        const FEWEST: u64 = 100;
        let counted: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let total = counted + u64::from(self.longer);
        (total >= FEWEST).then(|| Lifetimes::new(&self.counts, total))
    }

    /// Writes the counts.
    pub fn save(&self, out: &mut ImageWriter) {
        let Intervals { counts, longer, sample: _, step: _ } = self;
        out.number(*longer);
        for run in counts.chunk_by(|a, b| a == b) {
            out.number(run.len() as u64);
            out.number(run[0]);
        }
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let all = 1 << u32::BITS;
        self.longer = from.below(all, "the number of long intervals")?;
        let mut left = &mut self.counts[..];
        while !left.is_empty() {
            let run = from.below(left.len() as u64 + 1, "a run of intervals")? as usize;
            let count = from.below(all, "the number of intervals")?;
            if run == 0 {
                return Err(Damage::new("a run of no intervals"));
            }
            let (these, others) = left.split_at_mut(run);
            these.fill(count);
            left = others;
        }
        Ok(())
    }
}

/// The lifetimes of page writes, in segments, with sums that make integrals quick.
#[derive(Clone, Debug)]
pub struct Lifetimes {
    /// By the beginning of a step: the share of writes that are valid at this age.
    valid: Vec<f64>,
    /// The integral of `valid` up to there.
    area: Vec<f64>,
    /// The sum of the lifetimes that end before, over all writes.
    spent: Vec<f64>,
}

impl Lifetimes {
    fn new(counts: &[u32], total: u64) -> Lifetimes {
        let width = 1.0 / f64::from(STEPS);
        let mut all = Lifetimes { valid: vec![1.0], area: vec![0.0], spent: vec![0.0] };
        let (mut ended, mut area, mut spent, mut before) = (0, 0.0, 0.0, 1.0);
        for (step, &count) in counts.iter().enumerate() {
            ended += u64::from(count);
            let after = 1.0 - ended as f64 / total as f64;
            area += (before + after) / 2.0 * width;
            spent += (before - after) * (step as f64 + 0.5) * width;
            before = after;
            all.valid.push(after);
            all.area.push(area);
            all.spent.push(spent);
        }
        all
    }

    /// The age up to which lifetimes are known.
    pub fn longest(&self) -> f64 {
        (self.valid.len() - 1) as f64 / f64::from(STEPS)
    }

    /// The step of an age, and the part of the step that has passed.
    fn place(&self, age: f64) -> (usize, f64) {
        let steps = (age * f64::from(STEPS)).clamp(0.0, (self.valid.len() - 1) as f64);
        let step = (steps as usize).min(self.valid.len() - 2);
        (step, steps - step as f64)
    }

    fn between(&self, of: &[f64], age: f64) -> f64 {
        let (step, part) = self.place(age);
        of[step] + (of[step + 1] - of[step]) * part
    }

    /// The share of writes that are valid at an age.
    pub fn valid_at(&self, age: f64) -> f64 {
        self.between(&self.valid, age)
    }

    /// The sum of the lifetimes that end before an age, over all writes: the number of segments of pages
    /// that are rewritten so quickly.
    pub fn spent_by(&self, age: f64) -> f64 {
        self.between(&self.spent, age)
    }

    /// The integral of [`valid_at`](Self::valid_at) up to an age: the segments of valid pages that are at
    /// most so old.
    pub fn younger_than(&self, age: f64) -> f64 {
        let (step, part) = self.place(age);
        let mean = (self.valid[step] + self.valid_at(age)) / 2.0;
        self.area[step] + mean * part / f64::from(STEPS)
    }

    /// The least age at which a group that takes only writes that die before it fills `segments`.
    pub fn age_of_hot(&self, segments: f64) -> Option<f64> {
        let width = 1.0 / f64::from(STEPS);
        let fills = |step: usize| step as f64 * width * (1.0 - self.valid[step]);
        let steps = 0..self.valid.len();
        // What fills the group grows with the age.
        let (mut low, mut high) = (steps.start, steps.end);
        while low < high {
            let middle = low.midpoint(high);
            if fills(middle) < segments { low = middle + 1 } else { high = middle }
        }
        (low < self.valid.len()).then_some(low as f64 * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    /// Writes 6,400 pages, half of which get four of five writes, and returns a distribution of one page in `sample`.
    fn sampled(sample: u32) -> Lifetimes {
        const PAGES: u32 = 6_400;
        let mut intervals = Intervals::new(sample, 64, PAGES);
        let mut stream = Stream::new(7, "intervals");
        let mut last = vec![None; PAGES as usize];
        for now in 0..12 * u64::from(PAGES) {
            let half = u64::from(PAGES / 2);
            let hot = stream.below(5) > 0;
            let page = stream.below(half) + if hot { 0 } else { half };
            let interval = last[page as usize].map(|then: u64| now - then);
            if now >= 2 * u64::from(PAGES) {
                intervals.wrote(page as u32, interval);
            }
            last[page as usize] = Some(now);
        }
        intervals.distribution().expect("enough samples")
    }

    #[test]
    fn a_sample_of_pages_has_the_lifetimes_of_all() {
        // Each page of a half is chosen with the same chance at each write, so intervals are geometric.
        let exact = |age: f64| {
            let writes = age * 64.0;
            let alive = |share: f64| libm::pow(1.0 - share / 3_200.0, writes);
            0.8 * alive(0.8) + 0.2 * alive(0.2)
        };
        for (sample, tolerance) in [(1, 0.01), (100, 0.05)] {
            let lifetimes = sampled(sample);
            for age in [1.0, 10.0, 50.0, 100.0, 200.0, 390.0] {
                let off = lifetimes.valid_at(age) - exact(age);
                assert!(off.abs() < tolerance, "1 in {sample} at {age}: off by {off}");
            }
        }
        // At any time all 100 segments are valid, and nearly all were written less than an epoch ago.
        let young = sampled(1).younger_than(400.0);
        let never = 0.5 * libm::pow(1.0 - 0.2 / 3_200.0, 400.0 * 64.0);
        assert!((young - 100.0 * (1.0 - never)).abs() < 1.5, "{young}");
    }

    #[test]
    fn only_one_page_in_a_number_is_counted() {
        let mut intervals = Intervals::new(10, 64, 640);
        (0..100).for_each(|page| intervals.wrote(page, Some(u64::from(page))));
        intervals.wrote(50, None);
        intervals.wrote(60, Some(intervals.epoch()));
        assert_eq!((intervals.step, intervals.epoch()), (16, 2_560));
        // 0 and 10, 20 and 30, 40, 50 and 60, 70, 80 and 90 page writes.
        assert_eq!(intervals.counts[..7], [2, 2, 1, 2, 1, 2, 0]);
        assert_eq!(intervals.longer, 2, "unknown and too long");
        assert!(intervals.distribution().is_none(), "too few");
    }

    #[test]
    fn integrals_are_those_of_a_plain_sum() {
        let lifetimes = sampled(1);
        let (mut area, mut spent) = (0.0, 0.0);
        let step = 1.0 / 64.0;
        for at in 0..64 * 120 {
            let (from, to) = (f64::from(at) * step, f64::from(at + 1) * step);
            let (before, after) = (lifetimes.valid_at(from), lifetimes.valid_at(to));
            area += (before + after) / 2.0 * step;
            spent += (before - after) * (from + to) / 2.0;
        }
        assert!((lifetimes.younger_than(120.0) - area).abs() < 1e-6);
        assert!((lifetimes.spent_by(120.0) - spent).abs() < 0.01);
        let age = lifetimes.age_of_hot(3.0).expect("three segments of hot pages");
        let fills = |age: f64| age * (1.0 - lifetimes.valid_at(age));
        assert!(fills(age) >= 3.0 && fills(age - 0.25) < 3.0, "{age}");
    }
}
