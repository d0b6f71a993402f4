//! Places of Zipf, Pareto and normal distributions. A job has one such distribution per file, and
//! reads, writes and trims draw from it in turn, so all have the same hot places.
//!
//! A value is drawn, spread over the places by multiplication, and shifted. Sources: Gray et al.,
//! "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, for Zipf; the manual of
//! fio 3.33; and observations of that version. For a given centre the hottest places equal fio's
//! exactly, and the shares of single values agree to within noise, also beyond [`MOST_TERMS`].

use ftlab::engine::Stream;

use super::job::Distribution;

/// 2^64 (1 - 1/phi), phi the golden ratio: multiplicative hashing (Knuth, "The Art of Computer
/// Programming" 3, 6.4). This is the distance of fio's hottest places, modulo the number of places.
/// If that is not a power of two, some places share a product and others have none, as in fio.
const SPREAD: u64 = 0x61C8_8646_80B5_83EB;
/// The number of draws whose mean approximates a normal distribution.
const NORMAL_DRAWS: u64 = 12;
/// How many terms of a sum are added one by one; an integral approximates the rest.
const SINGLE_TERMS: u64 = 1_000;
/// fio adds the popularities of at most this many values, however many places there are, so the
/// first two values of a larger file are more popular than by Zipf's law. fio 3.33 with `zipf:0.9`
/// over 400 GiB: 2.48 % of requests go to the hottest block, where the whole sum gives 1.85 %.
const MOST_TERMS: u64 = 10_000_000;

/// A distribution over the places of a file.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    values: Values,
    places: u64,
    shift: u64,
}

#[derive(Clone, Copy, Debug)]
enum Values {
    Zipf(Zipf),
    Pareto { power: f64 },
    Normal { width: u64 },
}

impl Skew {
    /// Creates a distribution over `places`; `None` for other kinds. Without a centre, Zipf and
    /// Pareto have a random one.
    pub fn new(of: &Distribution, places: u64, stream: &mut Stream) -> Option<Skew> {
        let share = |share: f64| (share * places as f64) as u64;
        let mut anywhere = |center: &Option<f64>| match center {
            Some(center) => share(*center) % places,
            None => stream.below(places),
        };
        let (values, shift) = match of {
            Distribution::Uniform | Distribution::Zoned(_) => return None,
            Distribution::Zipf { theta, center } => {
                (Values::Zipf(Zipf::new(places, *theta)), anywhere(center))
            }
            Distribution::Pareto { power, center } => {
                let power = libm::log(*power) / libm::log(1.0 - power);
                (Values::Pareto { power }, anywhere(center))
            }
            Distribution::Normal { deviation, center } => {
                let width = libm::ceil(deviation * places as f64) as u64;
                // Relative to the middle, where the values have their centre.
                let shift = match center.unwrap_or(0.5) - 0.5 {
                    right if right >= 0.0 => share(right),
                    left => places - share(-left),
                };
                (Values::Normal { width: width.min(places / 2) }, shift % places)
            }
        };
        Some(Skew { values, places, shift })
    }

    /// Returns a place below the number of places.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let value = self.values.draw(self.places, stream);
        (value.wrapping_mul(SPREAD) % self.places + self.shift) % self.places
    }
}

impl Values {
    fn draw(self, places: u64, stream: &mut Stream) -> u64 {
        match self {
            Values::Zipf(zipf) => zipf.draw(stream),
            Values::Pareto { power } => {
                let part = libm::exp(power * libm::log(stream.unit().max(f64::MIN_POSITIVE)));
                ((places - 1) as f64 * part) as u64
            }
            Values::Normal { width } => normal(places, width, stream),
        }
    }
}

/// Returns the mean of twelve uniform draws, whose deviation is a twelfth of the places, plus a
/// uniform draw of `width` around it. So fio's normal distribution is never narrower than a
/// twelfth, and `width`, which fio calls the deviation, has little effect while it is small.
fn normal(places: u64, width: u64, stream: &mut Stream) -> u64 {
    let sum: u64 = (0..NORMAL_DRAWS).map(|_| stream.below(places + 1)).sum();
    let mean = sum.div_ceil(NORMAL_DRAWS).min(places - 1) as i64;
    let mut aside = (width as f64 * stream.unit()) as i64 - (width / 2) as i64;
    // Values outside are halved until they are inside.
    while !(0..places as i64).contains(&(mean + aside)) {
        aside /= 2;
    }
    (mean + aside) as u64
}

/// The two most popular values exactly, the others by a curve: the third is a fifth more popular
/// than by Zipf's law at an exponent of 1.2.
#[derive(Clone, Copy, Debug)]
struct Zipf {
    places: f64,
    /// The sum of the popularities of all values, and of the first two; that of the first is 1.
    all: f64,
    two: f64,
    power: f64,
    slope: f64,
}

impl Zipf {
    fn new(places: u64, theta: f64) -> Zipf {
        let all = popularities(places.min(MOST_TERMS), theta);
        let two = popularities(2, theta);
        let places = places as f64;
        let slope = (1.0 - libm::pow(2.0 / places, 1.0 - theta)) / (1.0 - two / all);
        Zipf { places, all, two, power: 1.0 / (1.0 - theta), slope }
    }

    fn draw(&self, stream: &mut Stream) -> u64 {
        let drawn = stream.unit();
        match drawn * self.all {
            point if point < 1.0 => 0,
            point if point < self.two => 1,
            _ => {
                let part = libm::pow(1.0 - self.slope * (1.0 - drawn), self.power);
                (self.places * part).min(self.places - 1.0) as u64
            }
        }
    }
}

/// Returns the sum of `n^-theta` from 1 to `last`, by Euler-Maclaurin beyond the first terms.
/// `theta` must not be 1.
fn popularities(last: u64, theta: f64) -> f64 {
    let term = |n: f64| libm::pow(n, -theta);
    let single = last.min(SINGLE_TERMS);
    let sum: f64 = (1..=single).map(|n| term(n as f64)).sum();
    let (from, to) = (single as f64, last as f64);
    let integral = |n: f64| libm::expm1((1.0 - theta) * libm::log(n)) / (1.0 - theta);
    let fall = |n: f64| -theta * term(n) / n;
    let ends = (term(to) - term(from)) / 2.0 + (fall(to) - fall(from)) / 12.0;
    sum + integral(to) - integral(from) + ends
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_sum_by_its_integral_is_the_sum_of_its_terms() {
        for theta in [0.1, 0.5, 0.999, 1.2, 10.0] {
            for last in [1, 2, 1_000, 1_001, 20_000] {
                let terms: f64 = (1..=last).map(|n| libm::pow(n as f64, -theta)).sum();
                let sum = popularities(last, theta);
                assert!((sum / terms - 1.0).abs() < 1e-9, "{theta}, {last}: {sum}, not {terms}");
            }
        }
    }

    /// `rw=randread;bs=4k;size=400g;number_ios=200k;norandommap;random_distribution=zipf:0.9` in
    /// fio 3.33: the shares of the four hottest blocks. With the sum of all popularities the first
    /// two would be 0.0185 and 0.0099. Tolerance: four standard errors of the two counts.
    #[test]
    fn the_sum_of_a_large_file_ends_where_that_of_fio_does() {
        const PLACES: u64 = (400 << 30) / 4096;
        const DRAWS: u32 = 204_800;
        let mut stream = Stream::new(1, "skew");
        let of = Distribution::Zipf { theta: 0.9, center: Some(0.0) };
        let skew = Skew::new(&of, PLACES, &mut stream).expect("it is skewed");
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        (0..DRAWS).for_each(|_| *counts.entry(skew.draw(&mut stream)).or_default() += 1);
        let mut counts: Vec<f64> = counts.into_values().map(f64::from).collect();
        counts.sort_by(|one, other| other.total_cmp(one));
        for (count, fio) in counts.into_iter().zip([0.024829, 0.012861, 0.008252, 0.006108]) {
            let share = count / f64::from(DRAWS);
            let error = (2.0 * fio / f64::from(DRAWS)).sqrt();
            assert!((share - fio).abs() < 4.0 * error, "{share}, in fio {fio}");
        }
    }

    /// With few places, and with a centre far out.
    #[test]
    fn places_exist() {
        let mut stream = Stream::new(1, "skew");
        for places in [1, 2, 3, 100, 16_383] {
            for center in [None, Some(0.0), Some(0.3), Some(1.0)] {
                for of in [
                    Distribution::Zipf { theta: 0.001, center },
                    Distribution::Zipf { theta: 0.9999999, center },
                    Distribution::Zipf { theta: 10.0, center },
                    Distribution::Pareto { power: 0.999, center },
                    Distribution::Normal { deviation: 0.001, center },
                    Distribution::Normal { deviation: 0.99, center },
                ] {
                    let skew = Skew::new(&of, places, &mut stream).expect("it is skewed");
                    let beyond = (0..1_000).find(|_| skew.draw(&mut stream) >= places);
                    assert_eq!(beyond, None, "{of:?}, {places}");
                }
            }
        }
    }
}
