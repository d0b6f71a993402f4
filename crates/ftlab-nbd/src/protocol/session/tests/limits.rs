//! Clients that ask for too much.

use super::*;
use crate::protocol::fuzz::script::{option, request, write};
use crate::protocol::limits::{MOST_OPTIONS, MOST_PAYLOAD};

fn option_header(number: u32, length: u32) -> Vec<u8> {
    [&b"IHAVEOPT"[..], &number.to_be_bytes(), &length.to_be_bytes()].concat()
}

#[test]
fn long_options_are_skipped_or_end_the_connection() {
    let mut peer = Peer::negotiating();
    peer.send(&option(3, &vec![0; (64 << 10) + 1]));
    let reply = peer.take();
    assert_eq!(reply[12..16], ((1u32 << 31) + 9).to_be_bytes());
    peer.send(&option(99, &vec![0; 64 << 10]));
    assert_eq!(peer.take()[12..16], ((1u32 << 31) + 1).to_be_bytes());
    let closed = peer.send(&option_header(3, 3 << 30));
    assert_eq!(closed, [SessionEvent::Closed(Closing::OptionTooBig(3 << 30))]);
}

#[test]
fn options_without_end_do() {
    let mut peer = Peer::negotiating();
    for _ in 0..MOST_OPTIONS {
        assert_eq!(peer.send(&option(3, &[])), []);
        peer.take();
    }
    assert_eq!(peer.send(&option(3, &[])), [SessionEvent::Closed(Closing::TooManyOptions)]);
}

#[test]
fn options_wait_for_a_client_that_does_not_read() {
    let exports: Arc<[Export]> = (0..1000).map(|index| export(&format!("{index}"), 512)).collect();
    let mut peer = Peer { session: Session::new(exports) };
    peer.send(&script::client_flags());
    peer.send(&option(3, &[]).repeat(900));
    assert!(!peer.session.wants_input());
    assert!(peer.session.output().len() < 2 << 20);
    let mut total = 0;
    while !peer.session.output().is_empty() {
        total += peer.take().len();
        assert_eq!(peer.events(), []);
    }
    assert!(total > 20 << 20, "{total}");
    assert!(peer.session.wants_input());
}

#[test]
fn writes_that_are_far_too_long_end_the_connection() {
    let mut peer = Peer::open(true);
    let closed = peer.send(&request(1, 0, 1, (0, u32::MAX)));
    assert_eq!(closed, [SessionEvent::Closed(Closing::WriteTooBig(u32::MAX))]);
}

#[test]
fn only_so_many_requests_are_in_flight() {
    let mut peer = Peer::open(true);
    let mut events = peer.send(&request(3, 0, 1, (0, 0)).repeat(1000));
    assert_eq!(events.len(), 256);
    assert!(!peer.session.wants_input());
    let Some(SessionEvent::Request(request)) = events.pop() else { panic!() };
    peer.session.done(request.ticket);
    assert_eq!(peer.events().len(), 1);
    assert!(!peer.session.wants_input());
}

#[test]
fn only_so_much_payload_is_in_flight() {
    let mut peer = big_peer();
    let mut events = peer.send(&request(0, 0, 1, (0, MOST_PAYLOAD)).repeat(10));
    assert_eq!(events.len(), 2);
    for event in events.drain(..) {
        let SessionEvent::Request(request) = event else { panic!() };
        peer.session.read(request.ticket).data(MOST_PAYLOAD).fill(1);
    }
    // Two replies wait for the client to read them.
    assert_eq!(peer.events(), []);
    assert!(!peer.session.wants_input());
    peer.take();
    assert_eq!(peer.events().len(), 2);
}

#[test]
fn little_is_in_flight_if_memory_is_scarce() {
    let mut peer = big_peer();
    peer.session.spare_memory(true);
    let mut events = peer.send(&request(0, 0, 1, (0, MOST_PAYLOAD)).repeat(3));
    assert_eq!(events.len(), 1, "something may always be asked for");
    let Some(SessionEvent::Request(first)) = events.pop() else { panic!() };
    peer.session.read(first.ticket).data(MOST_PAYLOAD).fill(1);
    assert_eq!(peer.events(), [], "its reply was not read");
    assert!(peer.session.held() > MOST_PAYLOAD as usize);
    peer.take();
    assert_eq!((peer.session.held(), peer.events().len()), (0, 1));
    peer.session.spare_memory(false);
    assert_eq!(peer.events().len(), 1);
}

#[test]
fn a_write_that_was_accepted_is_received() {
    let mut peer = big_peer();
    let bytes = write(0, 1, 0, &vec![1; MOST_PAYLOAD as usize]);
    assert_eq!(peer.send(&bytes).len(), 1);
    // The headers just fit twice; the third waits.
    assert_eq!(peer.send(&bytes).len(), 1);
    assert_eq!(peer.send(&bytes), []);
    assert!(!peer.session.wants_input());
    assert_eq!(peer.session.in_flight(), 2);
}

fn big_peer() -> Peer {
    let mut peer = Peer { session: Session::new([export("disk", 1 << 30)].into()) };
    peer.send(&script::client_flags());
    peer.send(&option(1, b""));
    peer.take();
    peer
}
