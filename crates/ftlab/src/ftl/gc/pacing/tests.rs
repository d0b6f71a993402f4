//! What the policies answer, worked out by hand.

use super::{Earned, PacingPolicy, Stall, TokenBucket};
use crate::ftl::gc::Thresholds;

const THRESHOLDS: Thresholds = Thresholds { start: 6, stop: 8, reserve: 2, copies_in_flight: 4 };

/// The whole pages of `copies` copies, all with so much room left.
fn earned(bucket: TokenBucket, copies: u32, left: u32, whole: u32) -> u32 {
    let mut parts = 0;
    let mut pages = 0;
    for _ in 0..copies {
        let share = bucket.tokens(left, whole);
        assert!(share.parts < share.of);
        parts += share.parts;
        pages += share.pages + parts / share.of;
        parts %= share.of;
    }
    pages
}

#[test]
fn the_bucket_shares_by_what_is_left() {
    let bucket = TokenBucket::new(16);
    // Half of the room: a page for each copy. Three quarters: three. A quarter: one for three.
    assert_eq!(bucket.tokens(50, 100), Earned { pages: 1, parts: 0, of: 65_536 });
    assert_eq!(bucket.tokens(75, 100), Earned { pages: 3, parts: 0, of: 65_536 });
    assert_eq!(bucket.tokens(25, 100), Earned { pages: 0, parts: 21_845, of: 65_536 });
    // A third of a page is counted down, so the hundredth page comes with the next copy.
    assert_eq!((earned(bucket, 300, 25, 100), earned(bucket, 301, 25, 100)), (99, 100));
    assert_eq!(earned(bucket, 70, 30, 100), 29);
    assert_eq!(earned(bucket, 71, 30, 100), 30);
}

#[test]
fn a_copy_fills_the_bucket_at_most() {
    let bucket = TokenBucket::new(16);
    assert_eq!(bucket.tokens(99, 100).pages, 16);
    assert_eq!(bucket.tokens(100, 100), Earned { pages: 16, parts: 0, of: 65_536 });
    // Several streams may have more room than one.
    assert_eq!(bucket.tokens(120, 100), Earned { pages: 16, parts: 0, of: 65_536 });
    assert_eq!(bucket.tokens(0, 100), Earned { pages: 0, parts: 0, of: 65_536 });
}

#[test]
fn each_policy_has_its_own_limit() {
    let most = |limits: &dyn Fn(u32) -> bool| (0..10).filter(|&free| limits(free)).max();
    assert_eq!(most(&|free| TokenBucket::new(16).limits(&THRESHOLDS, free)), Some(6));
    assert_eq!(most(&|free| Stall.limits(&THRESHOLDS, free)), Some(2));
}
