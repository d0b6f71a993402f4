//! What holds for all input: how it is cut changes nothing, and nothing makes a session panic or grow.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::protocol::fuzz::{self, script};

/// Conversations that get far, with errors in them.
fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let option = prop_oneof![
        Just(script::option(8, &[])),
        Just(script::option(3, &[])),
        Just(script::option(10, &script::contexts("", &["base:allocation"]))),
        Just(script::option(6, &script::info("disk", &[1, 2, 3]))),
        (0..15u32, prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(number, data)| script::option(number, &data)),
    ];
    let span = (0..150u64, 0..80u32).prop_map(|(offset, length)| (offset * 512, length * 512));
    let request = prop_oneof![
        (prop::sample::select(vec![0u16, 0, 3, 4, 5, 6, 7, 8]), 0..32u16, any::<u64>(), span)
            .prop_map(|(action, flags, cookie, span)| script::request(action, flags, cookie, span)),
        (0..2u16, any::<u64>(), 0..150u64, 0..60_000usize).prop_map(
            |(flags, cookie, offset, length)| {
                script::write(flags, cookie, offset * 512, &vec![cookie as u8; length / 512 * 512])
            }
        ),
    ];
    let options = prop::collection::vec(option, 0..5);
    let requests = prop::collection::vec(request, 0..20);
    (options, requests, any::<bool>()).prop_map(|(options, requests, polite)| {
        let mut bytes = script::client_flags().to_vec();
        options.iter().for_each(|option| bytes.extend(option));
        bytes.extend(script::option(7, &script::info("", &[3])));
        requests.iter().for_each(|request| bytes.extend(request));
        if polite {
            bytes.extend(script::request(2, 0, 0, (0, 0)));
        }
        bytes
    })
}

/// Places and bits.
fn flips() -> impl Strategy<Value = Vec<(prop::sample::Index, u32)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..8u32), 1..6)
}

#[test]
fn conversations_get_far() {
    let mut runner = TestRunner::deterministic();
    let requests = (0..50).map(|_| {
        let bytes = conversation().new_tree(&mut runner).expect("it has no filters").current();
        fuzz::converse(&bytes, &[usize::MAX]).requests
    });
    let requests: usize = requests.sum();
    assert!(requests > 100, "{requests} in 50 conversations");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn cuts_change_nothing(bytes in conversation(), cuts in prop::collection::vec(1..5000usize, 1..20)) {
        let whole = fuzz::converse(&bytes, &[usize::MAX]);
        let cut = fuzz::converse(&bytes, &cuts);
        prop_assert!(whole == cut, "cut at {:?}", cuts);
    }

    #[test]
    fn single_bytes_do(bytes in conversation()) {
        let end = bytes.len().min(3000);
        let whole = fuzz::converse(&bytes[..end], &[usize::MAX]);
        prop_assert!(whole == fuzz::converse(&bytes[..end], &[1]));
    }

    #[test]
    fn garbage_ends_or_waits(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        fuzz::session(&bytes);
    }

    #[test]
    fn flipped_bits_end_or_wait(mut bytes in conversation(), flips in flips()) {
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1u8 << bit;
        }
        fuzz::session(&bytes);
    }
}
