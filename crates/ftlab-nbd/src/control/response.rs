//! An answer to a request, as yet without its connection.

use std::borrow::Cow;

use serde::Serialize;

/// What an answer says about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was carried out.
    Ok,
    /// It can't be understood.
    BadRequest,
    /// Who asks may not.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// The thing has no such method.
    MethodNotAllowed,
    /// The drive is in a state that does not allow it.
    Conflict,
    /// A body needs a length.
    LengthRequired,
    /// The body is too long.
    BodyTooLong,
    /// The body is not JSON.
    NotJson,
    /// The session does not do what the client expects of it first.
    ExpectationFailed,
    /// The head is too long.
    HeadTooLong,
    /// It failed, which the client can't help.
    Failed,
    /// The server does not know this way of sending a body.
    NotImplemented,
    /// The server does not speak this version.
    UnknownVersion,
}

impl Status {
    /// Returns the number and the words of HTTP.
    pub fn line(self) -> (u16, &'static str) {
        match self {
            Self::Ok => (200, "OK"),
            Self::BadRequest => (400, "Bad Request"),
            Self::Forbidden => (403, "Forbidden"),
            Self::NotFound => (404, "Not Found"),
            Self::MethodNotAllowed => (405, "Method Not Allowed"),
            Self::Conflict => (409, "Conflict"),
            Self::LengthRequired => (411, "Length Required"),
            Self::BodyTooLong => (413, "Content Too Large"),
            Self::NotJson => (415, "Unsupported Media Type"),
            Self::ExpectationFailed => (417, "Expectation Failed"),
            Self::HeadTooLong => (431, "Request Header Fields Too Large"),
            Self::Failed => (500, "Internal Server Error"),
            Self::NotImplemented => (501, "Not Implemented"),
            Self::UnknownVersion => (505, "HTTP Version Not Supported"),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub(super) status: Status,
    pub(super) content_type: &'static str,
    pub(super) body: Cow<'static, [u8]>,
    /// The methods to use instead.
    pub(super) allow: Option<&'static str>,
}

/// The body of an answer to an order.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Told<'a> {
    Done(&'a str),
    Error(&'a str),
}

impl Response {
    /// The order was carried out: what happened, in a sentence.
    pub fn done(message: &str) -> Self {
        Self::json(Status::Ok, &Told::Done(message))
    }

    /// The request is refused: why, in a sentence.
    pub fn refused(status: Status, message: &str) -> Self {
        Self::json(status, &Told::Error(message))
    }

    /// There is something here, but with other methods.
    pub(super) fn use_method(allow: &'static str) -> Self {
        let message = format!("this takes {allow} only");
        let refused = Self::refused(Status::MethodNotAllowed, &message);
        Self { allow: Some(allow), ..refused }
    }

    /// A document.
    pub(super) fn json(status: Status, document: &impl Serialize) -> Self {
        match serde_json::to_vec(document) {
            Ok(body) => Self::text(status, "application/json", body),
            // Plain numbers and texts always fit JSON; if ever not, the client learns why.
            Err(error) => Self::text(Status::Failed, "text/plain", error.to_string().into_bytes()),
        }
    }

    /// Any text.
    pub(super) fn text(
        status: Status,
        content_type: &'static str,
        body: impl Into<Cow<'static, [u8]>>,
    ) -> Self {
        Self { status, content_type, body: body.into(), allow: None }
    }

    /// Returns what it says about the request.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns its text.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_json() {
        assert_eq!(Response::done("saved").body(), br#"{"done":"saved"}"#);
        let refused = Response::refused(Status::Conflict, "no \"power\"");
        assert_eq!(refused.body(), br#"{"error":"no \"power\""}"#);
        assert_eq!(refused.status().line().0, 409);
    }
}
