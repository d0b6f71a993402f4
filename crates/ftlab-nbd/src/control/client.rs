//! The client's side: requests for views and orders, and the server's answers, as `ftlab ctl` needs them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Cut, DriveOrder, View};

/// The most bytes of an answer's head.
const MOST_HEAD_BYTES: usize = 8 * 1024;
/// The most bytes of an answer's body: more than the reading of the largest device.
const MOST_ANSWER_BYTES: usize = 16 * 1024 * 1024;
const MOST_HEADERS: usize = 64;
/// The host that the control socket is addressed by; it serves any.
const HOST: &str = "localhost";
/// The statuses that say that a request was carried out.
const GOOD: std::ops::Range<u16> = 200..300;

/// Writes the request for a view.
pub fn view(view: View) -> Vec<u8> {
    let target = view.target();
    format!("GET {target} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n").into_bytes()
}

/// Writes the request for an order.
pub fn order(order: &DriveOrder) -> Vec<u8> {
    let (target, body) = match order {
        DriveOrder::Cut(Cut::Now) => ("/api/cut", json!({})),
        DriveOrder::Cut(Cut::Every(period)) => ("/api/cut", json!({ "every_ms": period })),
        DriveOrder::Cut(Cut::Never) => ("/api/cut", json!({ "every_ms": null })),
        DriveOrder::KillDie { die } => ("/api/kill-die", json!({ "die": die })),
        DriveOrder::Save { to: None, .. } => ("/api/save", json!({})),
        DriveOrder::Save { to: Some(to), force } => {
            ("/api/save", json!({ "to": to, "force": force }))
        }
        DriveOrder::SetClock(clock) => ("/api/clock", json!({ "clock": clock })),
        DriveOrder::Stop => ("/api/stop", json!({})),
    };
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    (head + &body).into_bytes()
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It is not HTTP.
    #[error("the answer is not HTTP")]
    NotHttp,
    /// Its body has no length, or is too long.
    #[error("the answer's length is unknown or too large")]
    Length,
    /// Its body is not what was asked for.
    #[error("the answer is not what was asked for: {0}")]
    Body(String),
    /// The server refused, for this reason.
    #[error("{0}")]
    Refused(String),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP's number.
    pub status: u16,
    /// The text.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the document of a view, or why the server refused.
    pub fn document<T: DeserializeOwned>(&self) -> Result<T, AnswerError> {
        self.good()?;
        serde_json::from_slice(&self.body).map_err(|error| AnswerError::Body(error.to_string()))
    }

    /// Returns what an order did, or why the server refused.
    pub fn message(&self) -> Result<String, AnswerError> {
        let mut told: Map<String, Value> = self.document()?;
        match told.remove("done") {
            Some(Value::String(message)) => Ok(message),
            _ => Err(AnswerError::Body("it does not say what was done".to_owned())),
        }
    }

    fn good(&self) -> Result<(), AnswerError> {
        if GOOD.contains(&self.status) {
            return Ok(());
        }
        let told = serde_json::from_slice::<Map<String, Value>>(&self.body).unwrap_or_default();
        let reason = match told.get("error") {
            Some(Value::String(reason)) => reason.clone(),
            _ => format!("the server answered {}", self.status),
        };
        Err(AnswerError::Refused(reason))
    }
}

/// Collects the bytes of one answer.
#[derive(Clone, Debug, Default)]
pub struct AnswerReader {
    input: Vec<u8>,
    head: Option<AnswerHead>,
}

/// What an answer's head says.
#[derive(Clone, Copy, Debug)]
struct AnswerHead {
    status: u16,
    head_bytes: usize,
    body_bytes: usize,
}

impl AnswerReader {
    /// Takes bytes from the server. Returns the answer once it is whole; what follows it is ignored.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Answer>, AnswerError> {
        self.input.extend_from_slice(bytes);
        let head = match self.head {
            Some(head) => head,
            None => match answer_head(&self.input)? {
                Some(head) => *self.head.insert(head),
                None => return Ok(None),
            },
        };
        let body = self.input[head.head_bytes..].get(..head.body_bytes);
        Ok(body.map(|body| Answer { status: head.status, body: body.to_vec() }))
    }
}

fn answer_head(input: &[u8]) -> Result<Option<AnswerHead>, AnswerError> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let within = &input[..input.len().min(MOST_HEAD_BYTES)];
    let head_bytes = match response.parse(within).map_err(|_| AnswerError::NotHttp)? {
        httparse::Status::Complete(bytes) => bytes,
        httparse::Status::Partial if within.len() == MOST_HEAD_BYTES => {
            return Err(AnswerError::NotHttp);
        }
        httparse::Status::Partial => return Ok(None),
    };
    let status = response.code.ok_or(AnswerError::NotHttp)?;
    let mut lengths =
        response.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = lengths.next().and_then(|header| str::from_utf8(header.value).ok()?.parse().ok());
    let body_bytes = length.filter(|bytes| *bytes <= MOST_ANSWER_BYTES);
    let body_bytes = body_bytes.ok_or(AnswerError::Length)?;
    Ok(Some(AnswerHead { status, head_bytes, body_bytes }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reading::tests::example;
    use super::super::{
        Clock, DriveReading, History, HttpSession, OriginRules, Response, Routed, Status, route,
    };
    use super::*;

    /// Sends a request to a server, which refuses all orders with the order's name.
    fn served(request: &[u8]) -> (Option<DriveOrder>, Answer) {
        let mut session = HttpSession::new(OriginRules::Local);
        assert_eq!(session.receive(request), request.len());
        let request = session.next_request().expect("the session accepts what the client writes");
        let (order, response) = match route(&request) {
            Routed::Answer(response) => (None, response),
            Routed::View(view) => (None, view.answer(&example(), &History::default())),
            Routed::Order(order) => (Some(order), Response::done("so it is")),
        };
        session.respond(&response);
        let mut reader = AnswerReader::default();
        let answer = reader.receive(session.output()).unwrap().expect("the answer is whole");
        session.sent(session.output().len());
        assert!(session.is_done());
        (order, answer)
    }

    #[test]
    fn the_server_understands_every_order() {
        let orders = [
            DriveOrder::Cut(Cut::Now),
            DriveOrder::Cut(Cut::Every(5000)),
            DriveOrder::Cut(Cut::Never),
            DriveOrder::KillDie { die: 7 },
            DriveOrder::Save { to: None, force: false },
            DriveOrder::Save { to: Some("drive \"2\".flash".to_owned()), force: true },
            DriveOrder::SetClock(Clock::Scaled(0.5)),
            DriveOrder::Stop,
        ];
        for sent in orders {
            let (found, answer) = served(&order(&sent));
            assert_eq!(found, Some(sent));
            assert_eq!(answer.message().as_deref(), Ok("so it is"));
        }
    }

    #[test]
    fn views_arrive() {
        let (_, answer) = served(&view(View::Reading));
        assert_eq!(answer.document::<DriveReading>().unwrap(), example());
        let (_, answer) = served(&view(View::Metrics));
        assert!(answer.body.starts_with(b"# HELP "));
        let (_, answer) = served(&view(View::History { after: 3 }));
        assert_eq!(answer.document::<Value>().unwrap(), json!({ "samples": [] }));
        assert!(matches!(answer.message(), Err(AnswerError::Body(_))));
    }

    #[test]
    fn refusals_say_why() {
        let response = Response::refused(Status::Conflict, "there is no die 7");
        let (status, body) = (409, response.body().to_vec());
        let why = Answer { status, body }.message().unwrap_err();
        assert_eq!(why.to_string(), "there is no die 7");
        let silent = Answer { status: 502, body: b"<html>".to_vec() };
        assert_eq!(silent.message().unwrap_err().to_string(), "the server answered 502");
        let odd = Answer { status: 200, body: b"{}".to_vec() };
        assert!(matches!(odd.message(), Err(AnswerError::Body(_))));
    }

    #[test]
    fn other_answers_are_refused() {
        let error = |text: &str| AnswerReader::default().receive(text.as_bytes()).unwrap_err();
        assert_eq!(error("SSH-2.0\r\n"), AnswerError::NotHttp);
        assert_eq!(error(&format!("HTTP/1.1 200 {}", "a".repeat(9000))), AnswerError::NotHttp);
        assert_eq!(error("HTTP/1.1 200 OK\r\n\r\n"), AnswerError::Length);
        let long = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n";
        assert_eq!(error(long), AnswerError::Length);
    }

    proptest! {
        #[test]
        fn noise_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            super::super::fuzz::answer(&bytes);
            let good = [b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", bytes.as_slice()];
            super::super::fuzz::answer(&good.concat());
        }
    }
}
