//! Which columns of bare numbers are probably times, addresses and sizes: by what such numbers have in common.
//!
//! Times rise and may have decimals; addresses are spread, and jump back; sizes are few, and multiples of sectors. Where a request
//! begins at the end of the one before, a pair of columns gives itself away.

use std::ops::RangeInclusive;

use ftlab::units::SECTOR_BYTES;

use super::columns::RequestPart;
use super::moments::moment_ns;
use super::numbers::{decimal_time, whole_number};
use super::units::{SINCE_1970, TimeUnit};

/// The most columns that are weighed against each other.
const MOST: usize = 12;
/// Parts of times that are looked at; fewer if they are too large for that.
const PARTS: [u64; 2] = [1_000_000_000, 1_000];
/// A larger size is none: 1 GiB.
const LARGEST_SIZE: u64 = 1 << 30;
/// The most different sizes of a table with few of them.
const FEW_SIZES: usize = 4;

/// The most seconds between the first and the last date of a column: a year.
const LONGEST_S: u64 = 365 * 24 * 3600;
/// Numbers of so many lines that rise by one with each are those of the lines.
const NUMBERED: usize = 8;

/// What a column of numbers looks like.
struct ColumnNumbers {
    index: usize,
    /// Its values if all are whole numbers.
    whole: Option<Vec<u64>>,
    rises: bool,
    falls: bool,
    is_date: bool,
    is_numbering: bool,
    different: usize,
    /// Whether all are multiples of 512, and not zero.
    are_bytes: bool,
}

/// Where parts of a request are, as far as it is known.
pub(super) type FoundColumns = Vec<(RequestPart, usize)>;

impl ColumnNumbers {
    /// Looks at a column; none if it has something else than numbers.
    fn of(data: &[Vec<String>], index: usize) -> Option<ColumnNumbers> {
        let field = |row: &Vec<String>| row.get(index).cloned();
        let fields = data.iter().map(field).collect::<Option<Vec<String>>>()?;
        let times = || {
            let dates = fields.iter().map(|field| moment_ns(field.as_bytes()));
            let in_parts = |parts: u64| -> Option<Vec<u64>> {
                fields.iter().map(|field| decimal_time(field.as_bytes(), parts)).collect()
            };
            dates.collect::<Option<Vec<u64>>>().or_else(|| PARTS.into_iter().find_map(in_parts))
        };
        let whole =
            fields.iter().map(|field| whole_number(field.as_bytes())).collect::<Option<Vec<u64>>>();
        let values = whole.clone().or_else(times)?;
        let mut different = values.clone();
        different.sort_unstable();
        different.dedup();
        let is = |(unit, dates): &(TimeUnit, RangeInclusive<u64>)| {
            *unit != TimeUnit::S && values.iter().all(|value| dates.contains(value))
        };
        let span = different.last().zip(different.first()).map_or(0, |(last, first)| last - first);
        // Numbers of devices may be as large, but then a few come again or they are far apart.
        let are_near = |(unit, _): &&(TimeUnit, RangeInclusive<u64>)| {
            span.saturating_mul(unit.ns()) / TimeUnit::S.ns() <= LONGEST_S
        };
        let is_date = whole.is_some()
            // By a coarse clock many come at one time.
            && (values.is_sorted() || different.len() * 2 > values.len())
            && SINCE_1970.iter().filter(are_near).any(is);
        let is_numbering = values.len() >= NUMBERED
            && values.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        Some(ColumnNumbers {
            index,
            rises: values.is_sorted() && different.len() > 1,
            falls: !values.is_sorted(),
            is_date,
            is_numbering,
            are_bytes: values.iter().all(|value| value % SECTOR_BYTES == 0)
                && values.iter().any(|value| *value > 0),
            different: different.len(),
            whole,
        })
    }

    fn largest(&self) -> u64 {
        self.whole.iter().flatten().copied().max().unwrap_or(0)
    }

    /// How well it holds times; none if it holds none.
    fn as_times(&self) -> Option<i32> {
        let has_decimals = self.whole.is_none();
        match () {
            // What a clock shows since 1970 is no address, even if it is not in order.
            () if self.is_date => Some(8),
            () if !self.rises || self.is_numbering => None,
            () if has_decimals => Some(6),
            () if self.are_bytes => Some(1),
            () => Some(3),
        }
    }

    fn as_addresses(&self) -> Option<i32> {
        self.whole.as_ref().filter(|_| self.largest() > 1)?;
        let spread = 2 * i32::from(self.different > FEW_SIZES)
            + i32::from(self.different > 1)
            + 2 * i32::from(self.falls)
            + i32::from(self.are_bytes);
        // A clock shows such numbers.
        Some(if self.is_date { spread - 4 } else { spread })
    }

    fn as_sizes(&self) -> Option<i32> {
        let values = self.whole.as_ref()?;
        let largest = self.largest();
        let all_differ = self.different == values.len();
        // Whatever rises with each line, in no sectors, counts something else.
        let counts_on = self.rises && all_differ && values.len() > 2 && !self.are_bytes;
        if largest > LARGEST_SIZE || largest <= 1 || counts_on {
            return None;
        }
        let are_few = self.different <= FEW_SIZES.max(values.len() / 3);
        let are_powers = values.iter().all(|value| value.is_power_of_two());
        let mut weight = 2 * i32::from(are_few) + i32::from(self.are_bytes) + i32::from(are_powers);
        weight -= 4 * i32::from(values.contains(&0));
        weight -= 2 * i32::from(self.rises && all_differ);
        Some(weight)
    }
}

/// Whether most requests begin where the one before ended, in bytes or with sizes in sectors.
fn follow_each_other(addresses: &ColumnNumbers, sizes: &ColumnNumbers) -> bool {
    let (Some(addresses), Some(sizes)) = (&addresses.whole, &sizes.whole) else { return false };
    let follows = |unit: u64| {
        let pairs = addresses.windows(2).zip(sizes);
        let end = |begin: u64, size: u64| begin.checked_add(size.checked_mul(unit)?);
        pairs.filter(|(pair, size)| end(pair[0], **size) == Some(pair[1])).count()
    };
    let steps = addresses.len().saturating_sub(1);
    steps > 0 && [1, SECTOR_BYTES].into_iter().any(|unit| follows(unit) * 2 > steps)
}

/// Adds times, addresses and sizes as far as they are missing: the columns of numbers that fit best together.
pub(super) fn add_likely(data: &[Vec<String>], found: &mut FoundColumns) {
    let width = data.iter().map(Vec::len).min().unwrap_or(0);
    let is_free = |index: &usize| !found.iter().any(|(_, taken)| taken == index);
    let free = (0..width).filter(is_free);
    let free: Vec<ColumnNumbers> =
        free.filter_map(|index| ColumnNumbers::of(data, index)).take(MOST).collect();
    let known = |part: RequestPart| found.iter().find(|(known, _)| *known == part);
    let lacks = |part: RequestPart| known(part).is_none();
    // For each part that is missing: each column, or none.
    let choices = |part: RequestPart| -> Vec<Option<usize>> {
        let columns = (0..free.len()).filter(|_| lacks(part));
        columns.map(Some).chain([None]).collect()
    };
    let fixed =
        |part: RequestPart| known(part).and_then(|(_, index)| ColumnNumbers::of(data, *index));
    let (known_offset, known_size) = (fixed(RequestPart::Offset), fixed(RequestPart::Size));
    let mut best: Option<(i32, [Option<usize>; 3])> = None;
    for time in choices(RequestPart::Time) {
        for offset in choices(RequestPart::Offset) {
            for size in choices(RequestPart::Size) {
                let chosen = [time, offset, size];
                let Some(mut weight) = weigh(&free, chosen) else { continue };
                let at = |choice: Option<usize>| choice.map(|at| &free[at]);
                let pair =
                    at(offset).or(known_offset.as_ref()).zip(at(size).or(known_size.as_ref()));
                weight += pair.map_or(0, |(offset, size)| fitness_of_pair(offset, size));
                if best.is_none_or(|(known, _)| weight > known) {
                    best = Some((weight, chosen));
                }
            }
        }
    }
    let parts = [RequestPart::Time, RequestPart::Offset, RequestPart::Size];
    let chosen = best.map_or([None; 3], |(_, chosen)| chosen);
    for (part, choice) in parts.into_iter().zip(chosen) {
        found.extend(choice.map(|at| (part, free[at].index)));
    }
}

/// What a part that has a column counts for: an address is needed most, and a size more than a time.
const HAS: [i32; 3] = [6, 40, 20];

/// How well columns fit as time, address and size; none if one of them can't be, or stands for two.
fn weigh(free: &[ColumnNumbers], chosen: [Option<usize>; 3]) -> Option<i32> {
    let [time, offset, size] = chosen;
    let twice = |one: Option<usize>, other: Option<usize>| one.is_some() && one == other;
    if twice(time, offset) || twice(time, size) || twice(offset, size) {
        return None;
    }
    let of =
        |choice: Option<usize>, has: i32, weight: fn(&ColumnNumbers) -> Option<i32>| match choice {
            Some(at) => weight(&free[at]).map(|weight| weight + has),
            None => Some(0),
        };
    let time = of(time, HAS[0], ColumnNumbers::as_times)?;
    let offset = of(offset, HAS[1], ColumnNumbers::as_addresses)?;
    Some(time + offset + of(size, HAS[2], ColumnNumbers::as_sizes)?)
}

/// How well an address and a size fit together: addresses are larger, and may follow from sizes.
fn fitness_of_pair(offset: &ColumnNumbers, size: &ColumnNumbers) -> i32 {
    let is_larger = offset.largest() > size.largest();
    2 * i32::from(is_larger) + 6 * i32::from(follow_each_other(offset, size))
}
