//! The pages in use by hour, and all pages so far. It counts followed pages, so it is exact while
//! all pages are followed; then its relative standard error is about one over the root of those
//! followed in that hour.

use serde::Serialize;

use super::sample::Touch;

/// An hour.
const HOUR_NS: u64 = 3_600_000_000_000;
/// The most hours with requests; later ones are left out.
const MOST_HOURS: usize = 4096;

/// The pages of 4 KiB used in an hour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HourUse {
    /// The hour, from zero. Hours without requests are left out, and those after 4096 others.
    pub hour: u32,
    /// Distinct pages, estimated if pages are sampled.
    pub pages: f64,
    /// Those of them that were never used before.
    pub new_pages: f64,
    /// Distinct pages up to the end of this hour.
    pub pages_so_far: f64,
    /// The relative standard error of `pages`; zero if all pages are followed.
    pub error_ratio: f64,
}

/// Counts pages by hour.
#[derive(Clone, Debug, Default)]
pub(super) struct HourTally {
    hours: Vec<Hour>,
}

#[derive(Clone, Copy, Debug)]
struct Hour {
    hour: u32,
    pages: f64,
    new_pages: f64,
    /// The variance of `pages`: of a page seen with a share of one in w it is w (w - 1).
    variance: f64,
}

impl HourTally {
    /// Adds a use.
    pub fn add(&mut self, touch: &mut Touch<'_>, at: u64) {
        // The clock of a trace has 64 bits of nanoseconds, which are five million hours.
        let hour = (at / HOUR_NS) as u32;
        let is_new = touch.distance.is_none();
        if !is_new && touch.page.hour == hour {
            return;
        }
        touch.page.hour = hour;
        if self.hours.last().is_none_or(|last| last.hour != hour) {
            if self.hours.len() == MOST_HOURS {
                return;
            }
            self.hours.push(Hour { hour, pages: 0.0, new_pages: 0.0, variance: 0.0 });
        }
        let Some(of) = self.hours.last_mut() else { return };
        of.pages += touch.weight;
        of.new_pages += if is_new { touch.weight } else { 0.0 };
        of.variance += touch.weight * (touch.weight - 1.0);
    }

    pub fn report(&self) -> Vec<HourUse> {
        let mut pages_so_far = 0.0;
        let report = |of: &Hour| {
            pages_so_far += of.new_pages;
            let Hour { hour, pages, new_pages, variance } = *of;
            HourUse { hour, pages, new_pages, pages_so_far, error_ratio: variance.sqrt() / pages }
        };
        self.hours.iter().map(report).collect()
    }
}
