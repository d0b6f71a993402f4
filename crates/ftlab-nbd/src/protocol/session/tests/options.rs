//! Each option, answered and refused.

use super::*;
use crate::protocol::fuzz::script::{contexts, info, option};

/// Replies to options: number of the option, kind, data.
fn replies(bytes: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let mut reader = Reader::new(bytes);
    let replies = std::iter::from_fn(|| {
        assert_eq!(reader.u64()?, 0x0003_e889_0455_65a9);
        let (option, kind) = (reader.u32()?, reader.u32()?);
        Some((option, kind, reader.string()?.to_vec()))
    });
    replies.collect()
}

/// Sends an option that changes nothing for the server.
fn ask(peer: &mut Peer, number: u32, data: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    assert_eq!(peer.send(&option(number, data)), []);
    replies(&peer.take())
}

/// The only reply is this error, with an explanation.
fn refused(peer: &mut Peer, number: u32, data: &[u8], error: u32) {
    let replies = ask(peer, number, data);
    let [(to, kind, message)] = &replies[..] else { panic!("{replies:?}") };
    assert_eq!((*to, *kind), (number, (1 << 31) + error), "{}", String::from_utf8_lossy(message));
    assert!(!message.is_empty());
}

const ACK: u32 = 1;
const UNSUPPORTED: u32 = 1;
const POLICY: u32 = 2;
const INVALID: u32 = 3;
const UNKNOWN: u32 = 6;
const TOO_BIG: u32 = 9;

/// HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, MULTI_CONN, CACHE, FAST_ZERO.
const WRITABLE: u16 = 0b1101_0110_1101;
/// HAS_FLAGS, READ_ONLY, FLUSH, FUA, MULTI_CONN, CACHE.
const READ_ONLY: u16 = 0b101_0000_1111;
/// The flag DF.
const DONT_FRAGMENT: u16 = 1 << 7;

fn facts(size: u64, flags: u16) -> Vec<u8> {
    [&size.to_be_bytes()[..], &flags.to_be_bytes()].concat()
}

fn with_kind(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], data].concat()
}

#[test]
fn oldest_option_opens_with_or_without_zeroes() {
    for (flags, zeroes) in [(0u32, 124), (1, 124), (2, 0), (3, 0)] {
        let mut peer = Peer::new();
        peer.send(&flags.to_be_bytes());
        assert_eq!(peer.send(&option(1, b"disk")), [SessionEvent::Opened(0)]);
        let expected = [facts(1 << 20, WRITABLE), vec![0; zeroes]].concat();
        assert_eq!(peer.take(), expected, "{flags}");
    }
}

#[test]
fn oldest_option_can_only_hang_up() {
    let mut peer = Peer::negotiating();
    let reason = Closing::UnknownExport("tape".into());
    assert_eq!(peer.send(&option(1, b"tape")), [SessionEvent::Closed(reason)]);
    assert!(peer.session.is_finished());
    let mut peer = Peer::negotiating();
    let reason = Closing::NameTooLong(5000);
    assert_eq!(peer.send(&option(1, &[b'x'; 5000])), [SessionEvent::Closed(reason)]);
}

#[test]
fn go_tells_what_was_asked_for_and_opens() {
    let mut peer = Peer::negotiating();
    assert_eq!(peer.send(&option(7, &info("", &[1, 2, 3, 77]))), [SessionEvent::Opened(0)]);
    let sizes = [512u32, 4096, 32 << 20].map(u32::to_be_bytes).concat();
    let expected = [
        (7, 3, with_kind(0, &facts(1 << 20, WRITABLE))),
        (7, 3, with_kind(1, b"disk")),
        (7, 3, with_kind(2, b"the disk disk")),
        (7, 3, with_kind(3, &sizes)),
        (7, ACK, vec![]),
    ];
    assert_eq!(replies(&peer.take()), expected);
}

#[test]
fn info_goes_on_with_options() {
    let mut peer = Peer::negotiating();
    let expected = [(6, 3, with_kind(0, &facts(4096, READ_ONLY))), (6, ACK, vec![])];
    assert_eq!(ask(&mut peer, 6, &info("fixed", &[2])), expected);
    assert_eq!(ask(&mut peer, 8, &[]), [(8, ACK, vec![])]);
    let structured = READ_ONLY | DONT_FRAGMENT;
    let expected = [(6, 3, with_kind(0, &facts(4096, structured))), (6, ACK, vec![])];
    assert_eq!(ask(&mut peer, 6, &info("fixed", &[])), expected);
}

#[test]
fn bad_infos_are_refused() {
    let mut peer = Peer::negotiating();
    for number in [6, 7] {
        refused(&mut peer, number, &info("tape", &[]), UNKNOWN);
        refused(&mut peer, number, b"", INVALID);
        refused(&mut peer, number, &info("disk", &[1])[..9], INVALID);
        refused(&mut peer, number, &[&info("disk", &[])[..], b"x"].concat(), INVALID);
        refused(&mut peer, number, &[0xff; 100], INVALID);
        refused(&mut peer, number, &info(&"x".repeat(5000), &[]), TOO_BIG);
    }
}

#[test]
fn list_names_all() {
    let mut peer = Peer::negotiating();
    let expected = [
        (3, 2, b"\0\0\0\x04diskthe disk disk".to_vec()),
        (3, 2, b"\0\0\0\x05fixed".to_vec()),
        (3, ACK, vec![]),
    ];
    assert_eq!(ask(&mut peer, 3, &[]), expected);
    refused(&mut peer, 3, b"x", INVALID);
}

#[test]
fn what_the_server_lacks_is_refused() {
    let mut peer = Peer::negotiating();
    refused(&mut peer, 5, b"", POLICY);
    refused(&mut peer, 5, b"x", INVALID);
    refused(&mut peer, 4, b"", UNSUPPORTED);
    refused(&mut peer, 11, b"", UNSUPPORTED);
    refused(&mut peer, 0xffff_ffff, b"whatever", UNSUPPORTED);
}

#[test]
fn structured_replies_are_negotiated_once() {
    let mut peer = Peer::negotiating();
    refused(&mut peer, 8, b"x", INVALID);
    assert_eq!(ask(&mut peer, 8, &[]), [(8, ACK, vec![])]);
    refused(&mut peer, 8, &[], INVALID);
}

#[test]
fn abort_is_acknowledged() {
    let mut peer = Peer::negotiating();
    assert_eq!(peer.send(&option(2, &[])), [SessionEvent::Closed(Closing::Aborted)]);
    assert!(!peer.session.is_finished());
    assert_eq!(replies(&peer.take()), [(2, ACK, vec![])]);
    assert!(peer.session.is_finished());
}

#[test]
fn contexts_are_listed_and_set() {
    let mut peer = Peer::negotiating();
    refused(&mut peer, 9, &contexts("disk", &[]), INVALID);
    refused(&mut peer, 10, &contexts("disk", &[]), INVALID);
    ask(&mut peer, 8, &[]);
    let found = |number| {
        let name = [&1u32.to_be_bytes()[..], b"base:allocation"].concat();
        vec![(number, 4, name), (number, ACK, vec![])]
    };
    let nothing = |number| vec![(number, ACK, vec![])];
    let cases: [(&[&str], _, _); 5] = [
        (&[], found(9), nothing(10)),
        (&["base:"], found(9), nothing(10)),
        (&["qemu:dirty-bitmap:x"], nothing(9), nothing(10)),
        (&["x", "base:allocation", "base:allocation"], found(9), found(10)),
        (&["base:allocation", "base:"], found(9), found(10)),
    ];
    for (queries, listed, set) in cases {
        assert_eq!(ask(&mut peer, 9, &contexts("disk", queries)), listed, "{queries:?}");
        assert_eq!(ask(&mut peer, 10, &contexts("disk", queries)), set, "{queries:?}");
    }
    for number in [9, 10] {
        refused(&mut peer, number, &contexts("tape", &[]), UNKNOWN);
        refused(&mut peer, number, &contexts(&"x".repeat(5000), &[]), TOO_BIG);
        refused(&mut peer, number, &contexts("disk", &["base:"])[..14], INVALID);
        refused(&mut peer, number, &[&contexts("disk", &[])[..], b"x"].concat(), INVALID);
    }
}

#[test]
fn a_context_counts_only_for_its_export_and_until_the_next_choice() {
    let allocation = &["base:allocation"][..];
    let cases = [
        (vec![contexts("disk", allocation)], true),
        (vec![contexts("", allocation)], true),
        (vec![contexts("fixed", allocation)], false),
        (vec![contexts("disk", allocation), contexts("disk", &[])], false),
        (vec![contexts("disk", allocation), contexts("tape", allocation)], false),
    ];
    for (choices, counts) in cases {
        let mut peer = Peer::negotiating();
        ask(&mut peer, 8, &[]);
        choices.iter().for_each(|choice| _ = ask(&mut peer, 10, choice));
        peer.send(&option(7, &info("disk", &[])));
        peer.take();
        let events = peer.send(&script::request(7, 0, 1, (0, 512)));
        assert_eq!(events.len(), usize::from(counts), "{choices:?}");
    }
}

#[test]
fn clients_of_before_fixed_newstyle_have_one_option() {
    let mut peer = Peer::new();
    peer.send(&[0; 4]);
    assert_eq!(peer.send(&option(3, &[])), [SessionEvent::Closed(Closing::NotFixedNewstyle(3))]);
}

#[test]
fn unknown_client_flags_end_the_connection() {
    let mut peer = Peer::new();
    let reason = Closing::UnknownClientFlags(7);
    assert_eq!(peer.send(&7u32.to_be_bytes()), [SessionEvent::Closed(reason)]);
}

#[test]
fn bad_magic_ends_the_connection() {
    let mut peer = Peer::negotiating();
    let reason = Closing::BadOptionMagic(u64::from_be_bytes(*b"GET / HT"));
    assert_eq!(peer.send(b"GET / HTTP/1.1\r\n"), [SessionEvent::Closed(reason)]);
}
