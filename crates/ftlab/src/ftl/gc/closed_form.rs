//! Write amplification of uniform random writes under greedy collection, in closed form. Derived in docs/validation.md,
//! and measured in tests/validation/write_amplification.rs.
//!
//! `share` is that of valid pages in the blocks from which a victim is chosen: those neither free nor open.

/// The mean number of valid pages of a victim with `pages` pages, by the mean field: Van Houdt, "A Mean Field Model for a
/// Class of Garbage Collection Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013, with the number of choices
/// going to infinity; Bux and Iliadis, "Performance of Greedy Garbage Collection in Flash-based Solid-state Drives",
/// Performance Evaluation 2010, have the same result. `None` if the share is not below one.
#[must_use]
pub fn victim_valid(pages: u32, share: f64) -> Option<f64> {
    let valid = |m: u32| {
        let (b, level) = (f64::from(pages), f64::from(m));
        let harmonic: f64 = (m + 1..=pages).map(|i| 1.0 / f64::from(i)).sum();
        let inverse_rate = (b - level - level * harmonic) / (share * b - level);
        let at_level = 1.0 - harmonic / inverse_rate;
        let below = level * inverse_rate * at_level;
        let fits = inverse_rate > 0.0 && at_level >= 0.0 && (0.0..=1.0).contains(&below);
        fits.then_some(level - below)
    };
    (0..pages).take_while(|&m| f64::from(m) < share * f64::from(pages)).find_map(valid)
}

/// Write amplification with infinitely many pages a block. Greedy then equals a log cleaned in turn: the valid share p of a
/// victim solves share = (p - 1) / ln p (Robinson, "Analysis of Steady-State Segment Storage Utilizations in a Log-Structured
/// File System with Least-Utilized Segment Cleaning", Operating Systems Review 1996; Desnoyers, "Analytic Models of SSD
/// Write Performance", ACM TOS 2014).
#[must_use]
pub fn endless_blocks(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..100 {
        let p: f64 = (low + high) / 2.0;
        if share_of_victims(p) < share { low = p } else { high = p }
    }
    1.0 / (1.0 - low)
}

/// The share with which endless blocks amplify writes this much: the inverse of [`endless_blocks`].
#[must_use]
pub fn share_for(amplification: f64) -> f64 {
    share_of_victims(1.0 - 1.0 / amplification)
}

/// The valid share of the candidates if victims have a share of `p`.
fn share_of_victims(p: f64) -> f64 {
    if p <= 0.0 { 0.0 } else { (p - 1.0) / libm::log(p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        for amplification in [1.0, 1.2, 2.0, 4.0, 10.0] {
            let again = endless_blocks(share_for(amplification));
            assert!((again / amplification - 1.0).abs() < 1e-6, "{again} of {amplification}");
        }
    }
}
