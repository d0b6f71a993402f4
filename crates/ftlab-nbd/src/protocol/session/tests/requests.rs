//! Each command, answered and refused, with structured replies and without.

use super::*;
use crate::protocol::Errno;
use crate::protocol::fuzz::script::{request, write};

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const CACHE: u16 = 5;
const WRITE_ZEROES: u16 = 6;
const BLOCK_STATUS: u16 = 7;

const FUA: u16 = 1;
const NO_HOLE: u16 = 2;
const DONT_FRAGMENT: u16 = 4;
const REQ_ONE: u16 = 8;
const FAST: u16 = 16;

fn data_chunk(done: bool, cookie: u64, offset: u64, data: &[u8]) -> Reply {
    let payload = [&offset.to_be_bytes()[..], data].concat();
    Reply::Chunk { done, kind: 1, cookie, payload }
}

fn hole_chunk(done: bool, cookie: u64, offset: u64, length: u32) -> Reply {
    let payload = [&offset.to_be_bytes()[..], &length.to_be_bytes()].concat();
    Reply::Chunk { done, kind: 2, cookie, payload }
}

#[test]
fn a_simple_read_is_a_header_and_data() {
    let mut peer = Peer::open(false);
    let read = peer.request(&request(READ, 0, 7, (4096, 1024)));
    assert_eq!(read.command, BlockCommand::Read(Span { offset: 4096, length: 1024 }));
    let mut reply = peer.session.read(read.ticket);
    reply.data(512).fill(1);
    reply.zeroes(512);
    drop(reply);
    let output = peer.take();
    let (header, data) = output.split_at(16);
    assert_eq!(Reply::read_all(header), [Reply::good(7)]);
    assert_eq!(data, [[1; 512], [0; 512]].concat());
}

#[test]
fn a_structured_read_is_in_chunks() {
    let mut peer = Peer::open(true);
    let read = peer.request(&request(READ, FUA, 7, (4096, 2048)));
    let mut reply = peer.session.read(read.ticket);
    reply.data(512).fill(1);
    reply.zeroes(1024);
    reply.data(u32::MAX).fill(2);
    assert!(reply.data(512).is_empty());
    reply.zeroes(512);
    drop(reply);
    let expected = [
        data_chunk(false, 7, 4096, &[1; 512]),
        hole_chunk(false, 7, 4608, 1024),
        data_chunk(true, 7, 5632, &[2; 512]),
    ];
    assert_eq!(Reply::read_all(&peer.take()), expected);
}

#[test]
fn an_unfragmented_read_is_one_chunk() {
    let mut peer = Peer::open(true);
    // What an earlier reply left in the buffer must not show.
    let read = peer.request(&request(READ, 0, 1, (0, 8192)));
    peer.session.read(read.ticket).data(8192).fill(9);
    peer.take();
    let read = peer.request(&request(READ, DONT_FRAGMENT, 7, (0, 1536)));
    let mut reply = peer.session.read(read.ticket);
    reply.zeroes(512);
    reply.data(512).fill(1);
    reply.zeroes(512);
    drop(reply);
    let data = [[0; 512], [1; 512], [0; 512]].concat();
    assert_eq!(peer.reply(), data_chunk(true, 7, 0, &data));
}

#[test]
fn a_read_that_fails_half_way_is_only_an_error() {
    for (structured, flags) in [(false, 0), (true, 0), (true, DONT_FRAGMENT)] {
        let mut peer = Peer::open(structured);
        let read = peer.request(&request(READ, flags, 7, (0, 1024)));
        let mut reply = peer.session.read(read.ticket);
        reply.data(512).fill(1);
        reply.fail(Errno::NoMemory, "too little of everything");
        assert_eq!(peer.reply().error(), 12);
        let read = peer.request(&request(READ, flags, 8, (0, 1024)));
        peer.session.read(read.ticket).data(512).fill(1);
        assert_eq!(peer.reply().error(), 5);
    }
}

#[test]
fn a_write_brings_its_data() {
    for length in [512, 4096, 100_000 / 512 * 512] {
        let mut peer = Peer::open(true);
        let data: Vec<u8> = (0..length).map(|at: u32| (at % 251) as u8).collect();
        let Request { command, ticket, export } = peer.request(&write(FUA, 7, 512, &data));
        let BlockCommand::Write { offset: 512, data: found, fua: true } = command else {
            panic!("{command:?}")
        };
        assert_eq!((export, &*found), (0, &data[..]));
        peer.session.recycle(found);
        peer.session.done(ticket);
        assert_eq!(peer.reply(), Reply::good(7));
    }
}

#[test]
fn other_commands_pass_with_their_flags() {
    let mut peer = Peer::open(true);
    let span = Span { offset: 1024, length: 512 };
    let at = (span.offset, span.length);
    let zeroes = |fua, no_hole, fast| BlockCommand::WriteZeroes { span, fua, no_hole, fast };
    let cases = [
        (request(FLUSH, FUA, 1, (0, 0)), BlockCommand::Flush),
        (request(TRIM, 0, 2, at), BlockCommand::Trim { span, fua: false }),
        (request(TRIM, FUA, 3, at), BlockCommand::Trim { span, fua: true }),
        (request(CACHE, 0, 4, at), BlockCommand::Cache(span)),
        (request(WRITE_ZEROES, 0, 5, at), zeroes(false, false, false)),
        (request(WRITE_ZEROES, NO_HOLE, 6, at), zeroes(false, true, false)),
        (request(WRITE_ZEROES, FUA | FAST, 7, at), zeroes(true, false, true)),
    ];
    for (index, (bytes, command)) in cases.into_iter().enumerate() {
        let request = peer.request(&bytes);
        assert_eq!(request.command, command);
        peer.session.done(request.ticket);
        assert_eq!(peer.reply(), Reply::good(index as u64 + 1));
    }
}

fn extent(length: u64, hole: bool, zeroes: bool) -> StatusExtent {
    StatusExtent { length, hole, zeroes }
}

/// Asks for block status of the first MiB, and returns the extents of the reply.
fn status(flags: u16, extents: &[StatusExtent]) -> Vec<(u32, u32)> {
    let mut peer = Peer::open(true);
    let asked = peer.request(&request(BLOCK_STATUS, flags, 7, (0, 1 << 20)));
    let one = flags == REQ_ONE;
    let span = Span { offset: 0, length: 1 << 20 };
    assert_eq!(asked.command, BlockCommand::BlockStatus { span, one });
    peer.session.block_status(asked.ticket, extents.iter().copied());
    let Reply::Chunk { done: true, kind: 5, cookie: 7, payload } = peer.reply() else { panic!() };
    let mut reader = Reader::new(&payload);
    assert_eq!(reader.u32(), Some(1));
    std::iter::from_fn(|| Some((reader.u32()?, reader.u32()?))).collect()
}

#[test]
fn block_status_joins_and_cuts_extents() {
    let data = |length| extent(length, false, false);
    let hole = |length| extent(length, true, true);
    assert_eq!(status(0, &[data(u64::MAX)]), [(1 << 20, 0)]);
    assert_eq!(status(0, &[hole(512), data(1024)]), [(512, 3), (1024, 0)]);
    let joined = [data(0), data(512), data(512), hole(0), data(512), hole(1 << 40), data(512)];
    assert_eq!(status(0, &joined), [(1536, 0), ((1 << 20) - 1536, 3)]);
    assert_eq!(status(REQ_ONE, &joined), [(1536, 0)]);
    let states = [extent(512, true, false), extent(512, false, true)];
    assert_eq!(status(0, &states), [(512, 1), (512, 2)]);
    let many: Vec<_> = (0..2000).map(|index| extent(512, index % 2 == 0, false)).collect();
    assert_eq!(status(0, &many).len(), 1024);
}

#[test]
fn answers_of_the_wrong_kind_are_errors() {
    let mut peer = Peer::open(true);
    let read = peer.request(&request(READ, 0, 1, (0, 512)));
    peer.session.done(read.ticket);
    assert_eq!(peer.reply().error(), 5);
    let status = peer.request(&request(BLOCK_STATUS, 0, 2, (0, 512)));
    peer.session.done(status.ticket);
    assert_eq!(peer.reply().error(), 5);
    let status = peer.request(&request(BLOCK_STATUS, 0, 3, (0, 512)));
    peer.session.block_status(status.ticket, []);
    assert_eq!(peer.reply().error(), 5);
    let flush = peer.request(&request(FLUSH, 0, 4, (0, 0)));
    peer.session.block_status(flush.ticket, [extent(512, true, true)]);
    assert_eq!(peer.reply().error(), 5);
    let flush = peer.request(&request(FLUSH, 0, 5, (0, 0)));
    assert!(peer.session.read(flush.ticket).data(512).is_empty());
    assert_eq!(peer.reply().error(), 5);
    assert_eq!(peer.session.in_flight(), 0);
}

#[test]
fn nothing_is_done_at_once() {
    for structured in [false, true] {
        let mut peer = Peer::open(structured);
        for action in [WRITE, TRIM, CACHE, WRITE_ZEROES] {
            assert_eq!(peer.settled(&request(action, 0, 3, (512, 0))), Reply::good(3));
        }
        let expected = match structured {
            true => Reply::Chunk { done: true, kind: 0, cookie: 3, payload: vec![] },
            false => Reply::good(3),
        };
        assert_eq!(peer.settled(&request(READ, 0, 3, (512, 0))), expected);
        assert_eq!(peer.session.in_flight(), 0);
    }
}

#[test]
fn a_refused_write_keeps_in_step() {
    for structured in [false, true] {
        let mut peer = Peer::open(structured);
        let cases = [(1 << 20, 512, 28), (100, 512, 22), (0, 99, 22), (0, (32 << 20) + 512, 22)];
        for (offset, length, error) in cases {
            let reply = peer.settled(&write(0, 7, offset, &vec![0x25; length]));
            assert_eq!(reply.error(), error, "{offset} {length}");
        }
        let flush = peer.request(&request(FLUSH, 0, 8, (0, 0)));
        peer.session.done(flush.ticket);
        assert_eq!(peer.reply(), Reply::good(8));
    }
}

#[test]
fn a_read_only_export_refuses_writes() {
    let mut peer = Peer::negotiating();
    peer.send(&script::option(1, b"fixed"));
    peer.take();
    assert_eq!(peer.settled(&write(0, 1, 0, &[1; 512])).error(), 1);
    assert_eq!(peer.settled(&request(TRIM, 0, 2, (0, 512))).error(), 1);
    assert_eq!(peer.request(&request(READ, 0, 3, (0, 512))).export, 1);
}

#[test]
fn replies_may_come_in_any_order() {
    let mut peer = Peer::open(false);
    let first = peer.request(&request(TRIM, 0, 1, (0, 512)));
    let second = peer.request(&request(TRIM, 0, 1, (0, 512)));
    let third = peer.request(&request(TRIM, 0, 3, (0, 512)));
    peer.session.done(third.ticket);
    peer.session.fail(first.ticket, Errno::Shutdown, "");
    peer.session.done(second.ticket);
    let expected = [Reply::good(3), Reply::Simple { error: 108, cookie: 1 }, Reply::good(1)];
    assert_eq!(Reply::read_all(&peer.take()), expected);
}

#[test]
fn requests_in_flight_are_answered_after_a_disconnect() {
    let mut peer = Peer::open(false);
    let flush = peer.request(&request(FLUSH, 0, 1, (0, 0)));
    let events = peer.send(&request(DISCONNECT, 0, 2, (0, 0)));
    assert_eq!(events, [SessionEvent::Closed(Closing::Disconnected)]);
    assert_eq!(peer.send(&request(FLUSH, 0, 3, (0, 0))), []);
    assert!(!peer.session.is_finished() && !peer.session.wants_input());
    peer.session.done(flush.ticket);
    assert!(!peer.session.is_finished());
    assert_eq!(peer.reply(), Reply::good(1));
    assert!(peer.session.is_finished());
}

#[test]
fn a_disconnect_has_no_reply_whatever_its_flags() {
    let mut peer = Peer::open(true);
    let events = peer.send(&request(DISCONNECT, u16::MAX, 2, (5, 6)));
    assert_eq!(events, [SessionEvent::Closed(Closing::Disconnected)]);
    assert!(peer.session.is_finished());
}

#[test]
fn bad_magic_ends_the_connection() {
    let mut peer = Peer::open(false);
    let reason = Closing::BadRequestMagic(0);
    assert_eq!(peer.send(&[0; 28]), [SessionEvent::Closed(reason)]);
}

#[test]
fn hanging_up_is_told() {
    let hang_up = |mut peer: Peer| {
        peer.session.hung_up();
        peer.events()
    };
    let told = |reason| [SessionEvent::Closed(reason)];
    assert_eq!(hang_up(Peer::new()), told(Closing::HungUp));
    assert_eq!(hang_up(Peer::open(true)), told(Closing::HungUp));
    let mut peer = Peer::open(true);
    assert_eq!(peer.send(&request(READ, 0, 1, (0, 512))[..20]), []);
    assert_eq!(hang_up(peer), told(Closing::HungUpInMessage));
    let mut peer = Peer::open(true);
    assert_eq!(peer.send(&request(WRITE, 0, 1, (0, 512))), []);
    assert_eq!(hang_up(peer), told(Closing::HungUpInMessage));
    let mut peer = Peer::open(true);
    assert_eq!(peer.send(&request(DISCONNECT, 0, 1, (0, 0))).len(), 1);
    assert_eq!(hang_up(peer), []);
}
