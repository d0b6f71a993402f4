//! Minimum, maximum, mean and deviation of a list of numbers that is not stored.

/// The moments of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    sum: u128,
    /// The mean so far, and the sum of squared distances, for the deviation.
    running: f64,
    squares: f64,
}

impl Moments {
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        let distance = value as f64 - self.running;
        self.running += distance / self.count as f64;
        self.squares += distance * (value as f64 - self.running);
    }

    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the standard deviation, with the list as a sample.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_worked_out_by_hand() {
        let mut moments = Moments::default();
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|value| moments.record(value));
        assert_eq!((moments.count, moments.min, moments.max), (8, 2, 9));
        assert!((moments.mean() - 5.0).abs() < 1e-12);
        // The squares sum to 32.
        assert!((moments.deviation() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Moments::default().deviation(), 0.0);
    }
}
