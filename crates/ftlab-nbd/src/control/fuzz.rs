//! Entry points for fuzzing: any bytes as a connection of a client, and as the answer of a server.

use super::client::AnswerReader;
use super::{DriveReading, History, HttpSession, OriginRules, Response, Routed, route};

/// Bytes arrive in pieces of this size.
const PIECE: usize = 97;
/// Answers of at most so many bytes arrive byte by byte.
const SHORT: usize = 1024;

/// Serves a client that sends these bytes. Panics only if the session or the router is broken.
pub fn http(bytes: &[u8]) {
    for rules in [OriginRules::Local, OriginRules::Loopback] {
        let whole = served(rules, bytes, bytes.len().max(1));
        assert_eq!(whole, served(rules, bytes, PIECE), "pieces change the answer");
    }
}

/// Returns how much a client gets that sends these bytes in pieces, and a checksum of it.
fn served(rules: OriginRules, bytes: &[u8], piece: usize) -> (u64, u32) {
    let mut session = HttpSession::new(rules);
    let (mut length, mut checksum) = (0, crc32fast::Hasher::new());
    for mut piece in bytes.chunks(piece) {
        loop {
            let taken = session.receive(piece);
            piece = &piece[taken..];
            if let Some(request) = session.next_request() {
                let response = match route(&request) {
                    Routed::Answer(response) => response,
                    Routed::View(view) => {
                        view.answer(&DriveReading::default(), &History::default())
                    }
                    Routed::Order(order) => Response::done(&format!("{order:?}")),
                };
                session.respond(&response);
            }
            if taken == 0 && session.output().is_empty() {
                break;
            }
            checksum.update(session.output());
            length += session.output().len() as u64;
            session.sent(session.output().len());
        }
    }
    (length, checksum.finalize())
}

/// Reads these bytes as a server's answer. Panics only if the client is broken.
pub fn answer(bytes: &[u8]) {
    let mut whole = AnswerReader::default();
    let found = whole.receive(bytes);
    let mut reader = AnswerReader::default();
    // Byte by byte, the head is read again for each.
    let piece = if bytes.len() > SHORT { PIECE } else { 1 };
    for piece in bytes.chunks(piece) {
        match reader.receive(piece) {
            Ok(None) => {}
            answered => {
                assert_eq!(answered, found, "pieces change the answer");
                return;
            }
        }
    }
    assert_eq!(found, Ok(None), "pieces change the answer");
}
