//! Write-backs that begin by planes: gating buffers, and write cycles in lock-step.

use proptest::prelude::*;

use crate::common::gating;
use crate::contents::{Bench, cases};

proptest! {
    #![proptest_config(cases())]

    /// Several versions of a page in the buffer, requests that pass through as a whole, cycles that
    /// wait for collection: a read returns what was last written, and a flush leaves nothing behind.
    #[test]
    fn nothing_is_lost((spec, depth, steps) in gating::run(400)) {
        let mut bench = Bench::new(&spec, None);
        let checked = bench.run(depth, &steps);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
