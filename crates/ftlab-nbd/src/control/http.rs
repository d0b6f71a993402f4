//! The server's side of one HTTP/1.1 connection: bounded, and without a socket.
//!
//! It serves a browser, Prometheus and the command line on the same machine, so it knows little: no chunked bodies, and
//! one request at a time. The next request is parsed once the answer to the last one was sent, so that a client that
//! sends many and reads nothing costs no memory.
//!
//! A server on loopback can be reached by every page that the user's browser opens. The `Host` header must therefore name
//! this machine (or a name that the attacker points here would do), and orders must be JSON from the page's own origin.

use httparse::{EMPTY_HEADER, Error, Header, Status as Parsed};

use super::{Response, Status};

/// The most bytes of a request's first line and headers.
pub const MOST_HEAD_BYTES: usize = 8 * 1024;
/// The most bytes of a body.
pub const MOST_BODY_BYTES: usize = 4 * 1024;
/// The most headers.
pub const MOST_HEADERS: usize = 64;

/// Headers of every answer. The page may load its own files and nothing else, and no page may embed it or read from it.
const FIXED_HEADERS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";
/// Names of this machine, which nobody else can point here.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const ALL_METHODS: &str = "GET, HEAD, POST";

/// Whom a listening socket serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginRules {
    /// Programs of the user: a Unix socket, which its file's permissions guard. Any host is right.
    Local,
    /// Anything on this machine, pages of strangers in the browser included: TCP on loopback.
    Loopback,
}

/// What to do with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Show it.
    Get,
    /// Say what a GET would say, but for the body.
    Head,
    /// Change it.
    Post,
}

/// A request that the session accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// What to do.
    pub method: Method,
    /// With what: begins with a slash.
    pub path: String,
    /// What follows the question mark.
    pub query: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// Who can have sent it.
    pub from: OriginRules,
}

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between requests, or within one.
    Listening,
    /// A request is out, and its answer awaited.
    Asked { method: Method, keep: bool },
    /// The last answer is in the output.
    Closing,
}

/// What the head says, as far as it matters.
struct Head {
    method: Method,
    path: String,
    query: Option<String>,
    keep: bool,
    body_bytes: usize,
}

/// One connection.
#[derive(Debug)]
pub struct HttpSession {
    rules: OriginRules,
    state: State,
    input: Vec<u8>,
    /// Before this place of the input, no head ends.
    scanned: usize,
    output: Vec<u8>,
    sent: usize,
}

impl HttpSession {
    /// Begins a connection.
    pub fn new(rules: OriginRules) -> Self {
        let (input, output) = (Vec::new(), Vec::new());
        Self { rules, state: State::Listening, input, scanned: 0, output, sent: 0 }
    }

    /// Takes bytes from the client and returns how many; keep the others and offer them again when the output was sent.
    /// A session that is to be closed takes and drops all.
    #[must_use = "bytes that were not taken must be offered again"]
    pub fn receive(&mut self, bytes: &[u8]) -> usize {
        if self.state == State::Closing {
            return bytes.len();
        }
        let taken = bytes.len().min(MOST_HEAD_BYTES + MOST_BODY_BYTES - self.input.len());
        self.input.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// Returns the next request, which is to be answered with [`respond`](Self::respond). Bad ones the session answers.
    pub fn next_request(&mut self) -> Option<HttpRequest> {
        if self.state != State::Listening || !self.output.is_empty() {
            return None;
        }
        match self.parsed() {
            Ok(Some(request)) => Some(request),
            Ok(None) => None,
            Err(response) => {
                self.put(&response, Method::Post, false);
                None
            }
        }
    }

    /// Answers the request that is out. Without one, does nothing.
    pub fn respond(&mut self, response: &Response) {
        if let State::Asked { method, keep } = self.state {
            self.put(response, method, keep);
        }
    }

    /// Returns what is to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// Notes that so much of the output was sent.
    pub fn sent(&mut self, bytes: usize) {
        self.sent = self.sent.saturating_add(bytes).min(self.output.len());
        if self.sent == self.output.len() {
            // A large answer's memory is not kept for an idle connection.
            self.output = Vec::new();
            self.sent = 0;
        }
    }

    /// Whether the connection is to be closed: nothing is left to send, and nothing will be. Shut down sending first and read
    /// on for a moment: closing on unread bytes can take a refusal away from the client.
    pub fn is_done(&self) -> bool {
        self.state == State::Closing && self.output.is_empty()
    }

    fn parsed(&mut self) -> Result<Option<HttpRequest>, Response> {
        let Some(head_bytes) = self.head_bytes()? else { return Ok(None) };
        let head = head(&self.input[..head_bytes], self.rules)?;
        let whole = head_bytes + head.body_bytes;
        if self.input.len() < whole {
            return Ok(None);
        }
        let body = self.input[head_bytes..whole].to_vec();
        self.input.drain(..whole);
        self.scanned = 0;
        self.state = State::Asked { method: head.method, keep: head.keep };
        let Head { method, path, query, .. } = head;
        Ok(Some(HttpRequest { method, path, query, body, from: self.rules }))
    }

    /// Returns where the head ends, if its empty line is there. It is sought once in each byte, however few come at a time.
    fn head_bytes(&mut self) -> Result<Option<usize>, Response> {
        if self.scanned == 0 {
            // Empty lines before a request are allowed.
            let blank = self.input.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            self.input.drain(..blank);
        }
        let within = &self.input[..self.input.len().min(MOST_HEAD_BYTES)];
        let from = self.scanned.min(within.len());
        let end = |at: usize| match &within[at..] {
            [b'\n', b'\n', ..] => Some(at + 2),
            [b'\n', b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        };
        if let Some(end) = (from..within.len()).find_map(end) {
            self.scanned = end.saturating_sub(b"\n\r\n".len());
            return Ok(Some(end));
        }
        self.scanned = within.len().saturating_sub(b"\n\r".len());
        if within.len() == MOST_HEAD_BYTES {
            let message = format!("the head of a request has at most {MOST_HEAD_BYTES} bytes");
            return Err(Response::refused(Status::HeadTooLong, &message));
        }
        Ok(None)
    }

    fn put(&mut self, response: &Response, method: Method, keep: bool) {
        let (code, words) = response.status.line();
        let mut head = format!("HTTP/1.1 {code} {words}\r\n{FIXED_HEADERS}");
        let length = response.body.len();
        head += &format!("Content-Type: {}\r\nContent-Length: {length}\r\n", response.content_type);
        if let Some(allow) = response.allow {
            head += &format!("Allow: {allow}\r\n");
        }
        head += if keep { "Connection: keep-alive\r\n\r\n" } else { "Connection: close\r\n\r\n" };
        self.output = head.into_bytes();
        if method != Method::Head {
            self.output.extend_from_slice(&response.body);
        }
        self.sent = 0;
        self.state = if keep { State::Listening } else { State::Closing };
        if !keep {
            self.input = Vec::new();
        }
    }
}

fn bad(message: &str) -> Response {
    Response::refused(Status::BadRequest, message)
}

/// Reads a whole head, and judges it.
fn head(bytes: &[u8], rules: OriginRules) -> Result<Head, Response> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(Parsed::Complete(_)) => {}
        Ok(Parsed::Partial) => return Err(bad("this is no HTTP request")),
        Err(Error::TooManyHeaders) => {
            let message = format!("a request has at most {MOST_HEADERS} headers");
            return Err(Response::refused(Status::HeadTooLong, &message));
        }
        Err(Error::Version) => {
            return Err(Response::refused(Status::UnknownVersion, "this server speaks HTTP/1.1"));
        }
        Err(error) => return Err(bad(&format!("this is no HTTP request: {error}"))),
    }
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => return Err(Response::use_method(ALL_METHODS)),
    };
    let (path, query) = target(request.path.unwrap_or_default())?;
    let headers = Headers(request.headers);
    let host = headers.host(rules)?;
    let body_bytes = headers.body_bytes(method)?;
    if method == Method::Post {
        headers.may_order(host)?;
    }
    // HTTP/1.0 closes unless both agree otherwise, which is not worth the code.
    let keep = request.version == Some(1) && !headers.says("connection", "close");
    Ok(Head { method, path, query, keep, body_bytes })
}

/// Takes the target of a request apart.
fn target(target: &str) -> Result<(String, Option<String>), Response> {
    if !target.starts_with('/') {
        return Err(bad("the target of a request begins with a slash"));
    }
    Ok(match target.split_once('?') {
        Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
        None => (target.to_owned(), None),
    })
}

/// The headers of a request.
struct Headers<'a>(&'a [Header<'a>]);

impl<'a> Headers<'a> {
    /// Returns the only header of this name.
    fn one(&self, name: &str) -> Result<Option<&'a str>, Response> {
        let mut found = self.0.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let Some(first) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(bad(&format!("there is more than one header {name}")));
        }
        match str::from_utf8(first.value) {
            Ok(value) => Ok(Some(value.trim())),
            Err(_) => Err(bad(&format!("the header {name} is not text"))),
        }
    }

    /// Whether a header that is a list has this word.
    fn says(&self, name: &str, word: &str) -> bool {
        let named = self.0.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let mut words = named.flat_map(|header| header.value.split(|byte| *byte == b','));
        words.any(|found| found.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Returns the host that the client meant to reach, if these rules allow it.
    fn host(&self, rules: OriginRules) -> Result<Option<&'a str>, Response> {
        let host = self.one("host")?;
        if rules == OriginRules::Loopback && !host.is_some_and(is_this_machine) {
            let message = "the header host names localhost, 127.0.0.1 or [::1]";
            return Err(Response::refused(Status::Forbidden, message));
        }
        Ok(host)
    }

    /// Returns the length of the body.
    fn body_bytes(&self, method: Method) -> Result<usize, Response> {
        if self.one("transfer-encoding")?.is_some() {
            let message = "send a body whole, with its content-length";
            return Err(Response::refused(Status::NotImplemented, message));
        }
        if self.one("expect")?.is_some() {
            let message = "this server does not answer before it has the body";
            return Err(Response::refused(Status::ExpectationFailed, message));
        }
        let Some(length) = self.one("content-length")? else {
            return match method {
                Method::Post => {
                    let message = "an order needs a content-length";
                    Err(Response::refused(Status::LengthRequired, message))
                }
                Method::Get | Method::Head => Ok(0),
            };
        };
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad("the content-length is a number of bytes"));
        }
        // What does not fit a number is too long, too.
        match length.parse() {
            Ok(bytes) if bytes <= MOST_BODY_BYTES => Ok(bytes),
            _ => {
                let message = format!("a body has at most {MOST_BODY_BYTES} bytes");
                Err(Response::refused(Status::BodyTooLong, &message))
            }
        }
    }

    /// Refuses orders that a page of another origin can have sent without the browser asking.
    fn may_order(&self, host: Option<&str>) -> Result<(), Response> {
        if let Some(origin) = self.one("origin")? {
            let own = host.map(|host| format!("http://{host}"));
            if !own.is_some_and(|own| own.eq_ignore_ascii_case(origin)) {
                let message = "orders are taken from the page of this server only";
                return Err(Response::refused(Status::Forbidden, message));
            }
        }
        let kind = self.one("content-type")?.unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "the content-type of an order is application/json";
            return Err(Response::refused(Status::NotJson, message));
        }
        Ok(())
    }
}

/// Whether a `Host` header names this machine, with any port or none.
fn is_this_machine(host: &str) -> bool {
    OWN_NAMES.iter().any(|name| {
        let Some((start, rest)) = host.split_at_checked(name.len()) else { return false };
        let port = rest.strip_prefix(':').unwrap_or(rest);
        let is_port = rest.is_empty() || rest.starts_with(':');
        start.eq_ignore_ascii_case(name)
            && is_port
            && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
