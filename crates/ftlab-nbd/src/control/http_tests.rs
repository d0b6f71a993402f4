//! What a session accepts, and everything that it refuses.

use proptest::prelude::*;

use super::super::{Response, Status};
use super::*;

/// A whole order.
const CUT: &str = "POST /api/cut HTTP/1.1\r\nHost: localhost:9100\r\nOrigin: http://localhost:9100\r\n\
    Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
const READ: &str = "GET /api/reading?a=b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// Gives a session everything, answers each request with its number, and returns the requests and the output.
fn talk(rules: OriginRules, pieces: &[&[u8]]) -> (Vec<HttpRequest>, String) {
    let mut session = HttpSession::new(rules);
    let (mut requests, mut output) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let taken = session.receive(rest);
            rest = &rest[taken..];
            assert!(session.input.len() <= MOST_HEAD_BYTES + MOST_BODY_BYTES);
            if let Some(request) = session.next_request() {
                requests.push(request);
                session.respond(&Response::done(&requests.len().to_string()));
            }
            let moved = taken > 0 || !session.output().is_empty();
            output.extend_from_slice(session.output());
            session.sent(session.output().len());
            if !moved {
                assert!(rest.is_empty(), "a session that waits takes what comes");
                break;
            }
        }
    }
    (requests, String::from_utf8(output).unwrap())
}

fn status(rules: OriginRules, text: &str) -> u16 {
    let (requests, output) = talk(rules, &[text.as_bytes()]);
    assert!(requests.is_empty(), "{text}: {requests:?}");
    assert!(output.contains("\r\nConnection: close\r\n"), "{output}");
    assert!(output.contains("{\"error\":\""), "{output}");
    output.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn requests_are_taken_apart() {
    let (requests, output) = talk(OriginRules::Loopback, &[CUT.as_bytes(), READ.as_bytes()]);
    let from = OriginRules::Loopback;
    let cut = HttpRequest {
        method: Method::Post,
        path: "/api/cut".to_owned(),
        query: None,
        body: b"{}".to_vec(),
        from,
    };
    let (path, query) = ("/api/reading".to_owned(), Some("a=b".to_owned()));
    let read = HttpRequest { method: Method::Get, path, query, body: Vec::new(), from };
    assert_eq!(requests, [cut, read]);
    assert_eq!(output.matches("HTTP/1.1 200 OK\r\n").count(), 2);
    assert_eq!(output.matches("Connection: keep-alive\r\n").count(), 2);
    assert!(output.ends_with("\r\n\r\n{\"done\":\"2\"}"), "{output}");
}

#[test]
fn every_answer_has_the_headers_that_protect() {
    let (_, good) = talk(OriginRules::Loopback, &[READ.as_bytes()]);
    let (_, bad) = talk(OriginRules::Loopback, &[b"nonsense\r\n\r\n"]);
    for output in [good, bad] {
        assert!(output.contains("Content-Security-Policy: default-src 'none'; script-src 'self'"));
        assert!(output.contains("frame-ancestors 'none'\r\n"));
        assert!(output.contains("X-Content-Type-Options: nosniff\r\n"));
        assert!(!output.contains("Access-Control"));
    }
}

#[test]
fn bad_requests_are_refused() {
    let status = |text: &str| status(OriginRules::Local, text);
    assert_eq!(status("nonsense\r\n\r\n"), 400);
    assert_eq!(status("GET /\r\n\r\n"), 400);
    assert_eq!(status("\u{1}\n\n"), 400);
    assert_eq!(status("GET http://localhost/ HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status("GET / HTTP/2.0\r\n\r\n"), 505);
    assert_eq!(status("PUT / HTTP/1.1\r\n\r\n"), 405);
    assert_eq!(status("OPTIONS * HTTP/1.1\r\n\r\n"), 405);
    assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
    let body = |header: &str| status(&format!("POST / HTTP/1.1\r\n{header}\r\n\r\n"));
    assert_eq!(body("Host: localhost"), 411);
    assert_eq!(body("Transfer-Encoding: chunked"), 501);
    assert_eq!(body("Transfer-Encoding: chunked\r\nContent-Length: 2"), 501);
    assert_eq!(body("Expect: 100-continue\r\nContent-Length: 2"), 417);
    assert_eq!(body("Content-Length: 4097"), 413);
    assert_eq!(body("Content-Length: 99999999999999999999999999"), 413);
    assert_eq!(body("Content-Length: 2\r\nContent-Length: 2"), 400);
    for length in ["", "-1", "+2", "0x2", "2 2", "2,2", "\u{663}"] {
        assert_eq!(body(&format!("Content-Length: {length}")), 400, "{length}");
    }
    assert_eq!(body("Content-Length: 2"), 415);
    assert_eq!(body("Content-Length: 2\r\nContent-Type: text/plain"), 415);
}

#[test]
fn long_heads_are_refused() {
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(MOST_HEAD_BYTES));
    assert_eq!(status(OriginRules::Local, &long), 431);
    assert_eq!(status(OriginRules::Local, &"a".repeat(MOST_HEAD_BYTES)), 431);
    let many = "a: b\r\n".repeat(MOST_HEADERS + 1);
    assert_eq!(status(OriginRules::Local, &format!("GET / HTTP/1.1\r\n{many}\r\n")), 431);
    let fits = "a: b\r\n".repeat(MOST_HEADERS);
    let fits = format!("GET / HTTP/1.1\r\n{fits}\r\n");
    assert_eq!(talk(OriginRules::Local, &[fits.as_bytes()]).0.len(), 1);
}

#[test]
fn other_hosts_are_refused_on_loopback() {
    let get = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for host in ["localhost", "LocalHost:1", "127.0.0.1:9100", "[::1]", "[::1]:80"] {
        assert_eq!(talk(OriginRules::Loopback, &[get(host).as_bytes()]).0.len(), 1, "{host}");
    }
    let strange = ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"];
    for host in strange.iter().chain(&["localhost:80x", "localhost:80:80", "127.0.0.2", "::1"]) {
        assert_eq!(status(OriginRules::Loopback, &get(host)), 403, "{host}");
        assert_eq!(talk(OriginRules::Local, &[get(host).as_bytes()]).0.len(), 1, "{host}");
    }
    assert_eq!(status(OriginRules::Loopback, "GET / HTTP/1.1\r\n\r\n"), 403);
    assert_eq!(status(OriginRules::Loopback, "GET / HTTP/1.0\r\n\r\n"), 403);
}

#[test]
fn orders_of_other_origins_are_refused() {
    let with = |origin: &str| CUT.replace("http://localhost:9100", origin);
    let strange = ["null", "http://evil.example", "https://localhost:9100", "http://localhost:80"];
    for origin in strange {
        assert_eq!(status(OriginRules::Loopback, &with(origin)), 403, "{origin}");
    }
    let without = CUT.replace("Origin: http://localhost:9100\r\n", "");
    assert_eq!(talk(OriginRules::Loopback, &[without.as_bytes()]).0.len(), 1);
    let without_host = CUT.replace("Host: localhost:9100\r\n", "");
    assert_eq!(status(OriginRules::Local, &without_host), 403);
    let charset = CUT.replace("application/json", "Application/JSON; charset=utf-8");
    assert_eq!(talk(OriginRules::Loopback, &[charset.as_bytes()]).0.len(), 1);
}

#[test]
fn connections_end_when_the_client_says_so() {
    for text in ["GET / HTTP/1.1\r\nConnection: a, Close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        let mut session = HttpSession::new(OriginRules::Local);
        assert_eq!(session.receive(text.as_bytes()), text.len());
        assert!(session.next_request().is_some());
        assert!(!session.is_done());
        session.respond(&Response::done("yes"));
        assert!(!session.is_done());
        session.sent(usize::MAX);
        assert!(session.is_done());
        assert_eq!(session.receive(text.as_bytes()), text.len());
        assert!(session.next_request().is_none());
    }
}

#[test]
fn the_next_request_waits_until_the_answer_was_sent() {
    let mut session = HttpSession::new(OriginRules::Local);
    let many = READ.repeat(1000);
    let taken = session.receive(many.as_bytes());
    assert!(taken < many.len());
    assert!(session.next_request().is_some());
    assert!(session.next_request().is_none(), "one is out");
    session.respond(&Response::done("1"));
    session.respond(&Response::done("2"));
    assert!(session.next_request().is_none(), "its answer was not sent");
    session.sent(1);
    assert!(session.next_request().is_none(), "its answer was not sent wholly");
    assert!(session.output().starts_with(b"TTP/1.1 200"));
    session.sent(session.output().len());
    assert!(session.next_request().is_some());
}

#[test]
fn a_head_has_no_body() {
    let (_, output) = talk(OriginRules::Local, &[b"\r\n\nHEAD / HTTP/1.1\n\n"]);
    assert!(output.contains("Content-Length: 12\r\n") && output.ends_with("\r\n\r\n"), "{output}");
}

#[test]
fn other_methods_are_named() {
    let (_, output) = talk(OriginRules::Local, &[b"PUT / HTTP/1.1\r\n\r\n"]);
    assert!(output.contains("Allow: GET, HEAD, POST\r\n"), "{output}");
    assert_eq!(Response::use_method("GET").status(), Status::MethodNotAllowed);
}

/// Requests, good and bad, and noise.
fn traffic() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..64);
    let piece = prop_oneof![
        8 => Just(CUT.as_bytes().to_vec()),
        8 => Just(READ.as_bytes().to_vec()),
        1 => Just(b"\r\n\r\n".to_vec()),
        1 => Just(b"GET / HTTP/1.1\nHost: localhost\nContent-Length: 9\n\n".to_vec()),
        1 => noise,
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn how_bytes_are_split_changes_nothing(
        bytes in traffic(), sizes in proptest::collection::vec(1usize..40, 1..20)
    ) {
        let mut pieces = Vec::new();
        let (mut rest, mut sizes) = (bytes.as_slice(), sizes.into_iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(sizes.next().unwrap().min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        for rules in [OriginRules::Local, OriginRules::Loopback] {
            prop_assert_eq!(talk(rules, &[&bytes]), talk(rules, &pieces));
        }
    }

    #[test]
    fn noise_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..20_000)) {
        super::super::fuzz::http(&bytes);
    }
}
