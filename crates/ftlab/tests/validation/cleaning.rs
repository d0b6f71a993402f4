//! Write amplification of uniform random writes under FIFO and d-choices, against the mean field.
//! Derived in docs/validation.md.

use crate::common::Spec;
use crate::write_amplification::{endless_blocks, expected_share, mean_field, measure, planes};

/// What happens if all d drawn blocks are full of valid pages.
#[derive(Clone, Copy, PartialEq)]
enum Futile {
    /// One of them is collected in vain, as in the paper.
    Collected,
    /// Any block that is not full is collected instead, as in the device.
    Replaced,
}

/// d choices, by Van Houdt's mean field (SIGMETRICS 2013) in its steady state.
///
/// Valid pages are overwritten at rate 1; blocks are collected at rate g each and filled again. Let
/// s(j) be the share of blocks with at least j of `b` pages valid, and v(j) the share of such
/// victims. What crosses from j to j - 1 by overwriting equals what enters at the top and is not
/// collected on the way: j x(j) = g (1 - v(j)), with v(j) = s(j)^d in the paper. Levels follow from
/// the top down; bisection finds the g for which the valid share is `rho`. A victim holds
/// v(1) + ... + v(b) pages on average.
fn d_choices(b: u32, rho: f64, d: u32, futile: Futile) -> f64 {
    let (mut low, mut high) = (0.0, f64::from(b) * 1e3);
    for _ in 0..200 {
        let g = (low + high) / 2.0;
        if levels(b, g, d, futile).0 < rho { low = g } else { high = g }
    }
    let (_, victim) = levels(b, low, d, futile);
    f64::from(b) / (f64::from(b) - victim)
}

/// The valid share, and the pages of a victim, at a rate of collection. Both rise with the rate.
fn levels(b: u32, g: f64, d: u32, futile: Futile) -> (f64, f64) {
    let (mut above, mut full, mut valid, mut victim) = (0.0, 0.0, 0.0, 0.0);
    for j in (1..=b).rev() {
        // Victims with at least j valid pages, if this share of blocks has at least as many.
        let victims = |s: f64| -> f64 {
            let power = |s: f64| s.powi(d as i32);
            match futile {
                Futile::Collected => power(s),
                Futile::Replaced if j == b => 0.0,
                Futile::Replaced => {
                    power(s) - power(full) + power(full) * (s - full) / (1.0 - full)
                }
            }
        };
        // One root, as j x + g v(j) rises with x.
        let (mut low, mut high) = (0.0, 1.0 - above);
        for _ in 0..60 {
            let x = (low + high) / 2.0;
            if f64::from(j) * x < g * (1.0 - victims(above + x)) { low = x } else { high = x }
        }
        above += low;
        valid += f64::from(j) * low;
        victim += victims(above);
        full = if j == b { above } else { full };
    }
    (valid / f64::from(b), victim)
}

#[test]
fn many_choices_are_greedy() {
    for (b, rho) in [(32, 0.7), (32, 0.85), (64, 0.8)] {
        let (many, greedy) = (d_choices(b, rho, 4_000, Futile::Collected), mean_field(b, rho));
        assert!((many / greedy - 1.0).abs() < 2e-3, "b = {b}, {rho}: {many}, greedy {greedy}");
    }
}

/// A single choice gives each block the same chance at any time, so its share of valid pages when
/// chosen is the mean share of all: 1 / (1 - rho), whatever b.
#[test]
fn one_choice_collects_the_average_block() {
    for (b, rho) in [(8, 0.5), (32, 0.8), (64, 0.9)] {
        let one = d_choices(b, rho, 1, Futile::Collected);
        assert!((one * (1.0 - rho) - 1.0).abs() < 1e-6, "b = {b}, {rho}: {one}");
    }
}

/// Within 2 % of the mean field. As in `write_amplification.rs`, the device has more blocks where
/// one block more or less matters more.
fn check(name: &str, spec: &Spec, expected: impl Fn(u32, f64) -> f64) {
    let (share, b) = (expected_share(spec), spec.geometry().units_per_block());
    let (expected, measured) = (expected(b, share), measure(spec, 1).amplification);
    let off = measured / expected - 1.0;
    println!(
        "{name}: share {share:.4}, expected {expected:.4}, measured {measured:.4}, {:+.2} %",
        100.0 * off
    );
    assert!(off.abs() < 0.02, "{name}: {measured} instead of {expected}");
}

const SIZES: [(u32, u32); 4] = [(10, 1_024), (15, 1_024), (28, 512), (50, 512)];

#[test]
fn fifo_amplifies_as_the_mean_field_says() {
    for (percent, blocks) in SIZES {
        let spec = planes(Spec::small(), blocks, 32, percent).set("ftl.gc.victim", "fifo");
        check(&format!("fifo, {percent} %"), &spec, |_, rho| endless_blocks(rho));
    }
}

#[test]
fn d_choices_amplify_as_the_mean_field_says() {
    for draws in [2, 5, 10] {
        for (percent, blocks) in SIZES {
            let spec = planes(Spec::small(), blocks, 32, percent);
            let spec = spec.set("ftl.gc.victim", "d-choices").set("ftl.gc.draws", draws);
            check(&format!("{draws} choices, {percent} %"), &spec, |b, rho| {
                d_choices(b, rho, draws, Futile::Replaced)
            });
        }
    }
}

/// Drawing without replacement makes no measurable difference among hundreds of blocks.
#[test]
fn random_greedy_amplifies_as_d_choices_do() {
    let spec = planes(Spec::small(), 512, 32, 28);
    let spec = spec.set("ftl.gc.victim", "random-greedy").set("ftl.gc.draws", 5);
    check("random greedy, 28 %", &spec, |b, rho| d_choices(b, rho, 5, Futile::Replaced));
}

#[test]
fn random_collection_amplifies_as_one_choice_does() {
    let spec = planes(Spec::small(), 512, 32, 28).set("ftl.gc.victim", "random");
    check("random, 28 %", &spec, |b, rho| d_choices(b, rho, 1, Futile::Replaced));
}
