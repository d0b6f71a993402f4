//! What a request asks for: a part of the page, a view of the drive, or an order to it.
//!
//! The loop carries orders out. What a body may say is checked here, strictly: a mistyped key must not cut the power at
//! once instead of every five seconds.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Clock, DriveReading, History, HttpRequest, Method, OriginRules, Response, Sample, Status,
    metrics,
};

/// The least time between repeated power cuts, in milliseconds.
pub const LEAST_CUT_MS: u64 = 100;
/// The most.
pub const MOST_CUT_MS: u64 = 24 * 60 * 60 * 1000;
/// The most bytes of a file's name.
const MOST_NAME_BYTES: usize = 1024;
/// The version of Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
const READ_ONLY: &str = "GET, HEAD";
const ORDER_ONLY: &str = "POST";
/// The query that asks for samples after a number.
const AFTER: &str = "after=";

/// The files of the page.
const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("page/page.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page/page.js")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
];

/// What can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The reading, as JSON.
    Reading,
    /// The reading, for Prometheus.
    Metrics,
    /// The samples after this number, as JSON.
    History {
        /// 0 for all.
        after: u64,
    },
}

/// The samples of a history.
#[derive(Serialize)]
struct Samples<'a> {
    samples: Vec<&'a Sample>,
}

impl View {
    /// Shows it.
    pub fn answer(self, reading: &DriveReading, history: &History) -> Response {
        match self {
            Self::Reading => Response::json(Status::Ok, reading),
            Self::Metrics => {
                Response::text(Status::Ok, METRICS_TYPE, metrics(reading).into_bytes())
            }
            Self::History { after } => {
                Response::json(Status::Ok, &Samples { samples: history.after(after).collect() })
            }
        }
    }

    /// Returns the target of its request.
    pub(super) fn target(self) -> String {
        match self {
            Self::Reading => "/api/reading".to_owned(),
            Self::Metrics => "/metrics".to_owned(),
            Self::History { after } => format!("/api/history?{AFTER}{after}"),
        }
    }
}

/// A power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// At once.
    Now,
    /// From now on, each time that so many milliseconds have passed on the wall.
    Every(u64),
    /// No more repeated cuts.
    Never,
}

/// What the drive is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum DriveOrder {
    /// Lose power.
    Cut(Cut),
    /// Lose a die, which may not exist.
    KillDie {
        /// Counted from 0.
        die: u32,
    },
    /// Save the drive.
    Save {
        /// The file, or the one that the drive came from.
        to: Option<String>,
        /// Whether that may replace an image.
        force: bool,
    },
    /// Follow the clock on the wall otherwise.
    SetClock(Clock),
    /// Save the drive and end the server.
    Stop,
}

/// Where a request leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Routed {
    /// It is answered.
    Answer(Response),
    /// It wants to see something.
    View(View),
    /// It wants something done.
    Order(DriveOrder),
}

/// The body of a cut. What is missing, and what is null, differ.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutBody {
    #[serde(default, deserialize_with = "present")]
    every_ms: Option<Option<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DieBody {
    die: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaveBody {
    to: Option<String>,
    #[serde(default)]
    force: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockBody {
    clock: Clock,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoBody {}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Finds what a request asks for.
pub fn route(request: &HttpRequest) -> Routed {
    let path = request.path.as_str();
    if let Some((_, kind, text)) = FILES.iter().find(|(name, ..)| *name == path) {
        return reading_only(request, || {
            Ok(Routed::Answer(Response::text(Status::Ok, kind, text.as_bytes())))
        });
    }
    match path {
        "/metrics" => reading_only(request, || Ok(Routed::View(View::Metrics))),
        "/api/reading" => reading_only(request, || Ok(Routed::View(View::Reading))),
        "/api/history" => reading_only(request, || {
            Ok(Routed::View(View::History { after: after(request.query.as_deref())? }))
        }),
        "/api/cut" => ordering_only(request, cut),
        "/api/kill-die" => ordering_only(request, kill_die),
        "/api/save" => ordering_only(request, save),
        "/api/clock" => ordering_only(request, clock),
        "/api/stop" => ordering_only(request, stop),
        _ => Routed::Answer(Response::refused(Status::NotFound, "there is nothing here")),
    }
}

fn reading_only(request: &HttpRequest, find: impl FnOnce() -> Result<Routed, Response>) -> Routed {
    match request.method {
        Method::Get | Method::Head => find().unwrap_or_else(Routed::Answer),
        Method::Post => Routed::Answer(Response::use_method(READ_ONLY)),
    }
}

fn ordering_only(
    request: &HttpRequest,
    read: impl FnOnce(&HttpRequest) -> Result<DriveOrder, Response>,
) -> Routed {
    match request.method {
        Method::Post => read(request).map_or_else(Routed::Answer, Routed::Order),
        Method::Get | Method::Head => Routed::Answer(Response::use_method(ORDER_ONLY)),
    }
}

fn bad(message: &str) -> Response {
    Response::refused(Status::BadRequest, message)
}

fn after(query: Option<&str>) -> Result<u64, Response> {
    let Some(query) = query else { return Ok(0) };
    let number = query.strip_prefix(AFTER).and_then(|number| number.parse().ok());
    number.ok_or_else(|| bad("the history takes after=N, the number of a sample"))
}

/// Reads a body, and says what is allowed if it is something else.
fn body<T: DeserializeOwned>(request: &HttpRequest, allowed: &str) -> Result<T, Response> {
    // Derived readers take lists for structures, too.
    if request.body.trim_ascii_start().first().is_some_and(|byte| *byte != b'{') {
        return Err(bad(&format!("the body is no JSON object; allowed: {allowed}")));
    }
    serde_json::from_slice(&request.body)
        .map_err(|error| bad(&format!("{error}; allowed: {allowed}")))
}

fn cut(request: &HttpRequest) -> Result<DriveOrder, Response> {
    let allowed = format!(
        "{{}} to cut now, {{\"every_ms\": N}} with N from {LEAST_CUT_MS} to {MOST_CUT_MS}, or {{\"every_ms\": null}} to stop"
    );
    let CutBody { every_ms } = body(request, &allowed)?;
    match every_ms {
        None => Ok(DriveOrder::Cut(Cut::Now)),
        Some(None) => Ok(DriveOrder::Cut(Cut::Never)),
        Some(Some(period)) if (LEAST_CUT_MS..=MOST_CUT_MS).contains(&period) => {
            Ok(DriveOrder::Cut(Cut::Every(period)))
        }
        Some(Some(period)) => Err(bad(&format!("every_ms is {period}; allowed: {allowed}"))),
    }
}

fn kill_die(request: &HttpRequest) -> Result<DriveOrder, Response> {
    let DieBody { die } = body(request, "{\"die\": N}, counted from 0")?;
    Ok(DriveOrder::KillDie { die })
}

fn save(request: &HttpRequest) -> Result<DriveOrder, Response> {
    let allowed = "{}, {\"to\": FILE} or {\"to\": FILE, \"force\": true} to replace an image";
    let SaveBody { to, force } = body(request, allowed)?;
    if let Some(name) = &to {
        // Others on this machine may reach a port, but must not write files as this user.
        if request.from == OriginRules::Loopback {
            let message =
                "a file can only be named over the control socket; {} saves the drive to its own";
            return Err(Response::refused(Status::Forbidden, message));
        }
        if name.is_empty() || name.len() > MOST_NAME_BYTES || name.contains('\0') {
            let message =
                format!("to is a file's name of 1 to {MOST_NAME_BYTES} bytes without a zero byte");
            return Err(bad(&message));
        }
    }
    Ok(DriveOrder::Save { to, force })
}

fn clock(request: &HttpRequest) -> Result<DriveOrder, Response> {
    let ClockBody { clock } = body(request, &format!("{{\"clock\": C}} with {}", Clock::ALLOWED))?;
    Ok(DriveOrder::SetClock(clock))
}

fn stop(request: &HttpRequest) -> Result<DriveOrder, Response> {
    let NoBody {} = body(request, "{}")?;
    Ok(DriveOrder::Stop)
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::example;
    use super::*;

    fn request(method: Method, target: &str, body: &str) -> HttpRequest {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        let (path, body) = (path.to_owned(), body.as_bytes().to_vec());
        HttpRequest { method, path, query, body, from: OriginRules::Loopback }
    }

    fn post(target: &str, body: &str) -> Routed {
        route(&request(Method::Post, target, body))
    }

    /// Returns status and message of a refusal.
    fn refused(routed: Routed) -> (u16, String) {
        let Routed::Answer(response) = routed else { panic!("{routed:?} is accepted") };
        let told: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        (response.status().line().0, told["error"].as_str().unwrap().to_owned())
    }

    #[test]
    fn orders_are_read() {
        let cases = [
            ("/api/cut", "{}", DriveOrder::Cut(Cut::Now)),
            ("/api/cut", " {\"every_ms\": 5000}", DriveOrder::Cut(Cut::Every(5000))),
            ("/api/cut", "{\"every_ms\": null}", DriveOrder::Cut(Cut::Never)),
            ("/api/kill-die", "{\"die\": 3}", DriveOrder::KillDie { die: 3 }),
            ("/api/save", "{}", DriveOrder::Save { to: None, force: false }),
            ("/api/save", "{\"to\": null}", DriveOrder::Save { to: None, force: false }),
            ("/api/clock", "{\"clock\": \"scaled:2\"}", DriveOrder::SetClock(Clock::Scaled(2.0))),
            ("/api/stop", "{}", DriveOrder::Stop),
        ];
        for (target, body, order) in cases {
            assert_eq!(post(target, body), Routed::Order(order), "{target} {body}");
        }
    }

    #[test]
    fn other_bodies_are_refused_with_what_is_allowed() {
        let cases = [
            ("/api/cut", "", "EOF while parsing"),
            ("/api/cut", "[5000]", "no JSON object; allowed: {} to cut now"),
            ("/api/cut", "null", "no JSON object"),
            ("/api/cut", "{} {}", "trailing characters"),
            ("/api/cut", "{\"every\": 1}", "unknown field `every`, expected `every_ms`"),
            ("/api/cut", "{\"every_ms\": 99}", "every_ms is 99; allowed: {} to cut now"),
            ("/api/cut", "{\"every_ms\": 86400001}", "N from 100 to 86400000"),
            ("/api/cut", "{\"every_ms\": -1}", "invalid value"),
            ("/api/cut", "{\"every_ms\": 1.5}", "invalid type"),
            ("/api/cut", "{\"every_ms\": 500, \"every_ms\": 500}", "duplicate field"),
            ("/api/kill-die", "{}", "missing field `die`"),
            ("/api/kill-die", "{\"die\": -1}", "allowed: {\"die\": N}, counted from 0"),
            ("/api/kill-die", "{\"die\": 4294967296}", "invalid value"),
            ("/api/kill-die", "{\"die\": \"3\"}", "invalid type"),
            ("/api/kill-die", "{\"die\": null}", "invalid type"),
            ("/api/save", "{\"to\": 3}", "allowed: {}, {\"to\": FILE} or"),
            ("/api/clock", "{\"clock\": \"sundial\"}", "a clock is \"wall\""),
            ("/api/clock", "{\"clock\": 2}", "\"simulated\", or \"scaled:F\""),
            ("/api/clock", "{}", "missing field `clock`"),
            ("/api/stop", "{\"now\": true}", "unknown field `now`"),
            ("/api/stop", "\u{fffd}", "no JSON object; allowed: {}"),
        ];
        for (target, body, words) in cases {
            let (status, message) = refused(post(target, body));
            assert_eq!(status, 400, "{target} {body}");
            assert!(message.contains(words), "{target} {body}: {message}");
        }
    }

    #[test]
    fn files_are_named_over_the_control_socket_only() {
        let mut order = request(Method::Post, "/api/save", "{\"to\": \"a.flash\"}");
        let (status, message) = refused(route(&order));
        assert_eq!(status, 403);
        assert!(message.contains("control socket"), "{message}");
        order.from = OriginRules::Local;
        assert_eq!(
            route(&order),
            Routed::Order(DriveOrder::Save { to: Some("a.flash".to_owned()), force: false })
        );
        for name in ["".to_owned(), "a\\u0000".to_owned(), "a".repeat(MOST_NAME_BYTES + 1)] {
            order.body = format!("{{\"to\": \"{name}\"}}").into_bytes();
            assert_eq!(refused(route(&order)).0, 400, "{name}");
        }
    }

    #[test]
    fn other_methods_and_places_are_refused() {
        for target in ["/", "/page.js", "/page.css", "/metrics", "/api/reading", "/api/history"] {
            assert_eq!(refused(post(target, "{}")), (405, "this takes GET, HEAD only".to_owned()));
        }
        for target in ["/api/cut", "/api/kill-die", "/api/save", "/api/clock", "/api/stop"] {
            let (status, message) = refused(route(&request(Method::Get, target, "")));
            assert_eq!((status, message.as_str()), (405, "this takes POST only"), "{target}");
        }
        for target in ["/page.html", "//", "/api", "/api/cut/", "/favicon.ico", "/../page.js"] {
            assert_eq!(refused(route(&request(Method::Get, target, ""))).0, 404, "{target}");
            assert_eq!(refused(post(target, "{}")).0, 404, "{target}");
        }
    }

    #[test]
    fn views_show_the_drive() {
        let (reading, mut history) = (example(), History::default());
        (0..4).for_each(|second| {
            history.feed(&reading, second * super::super::SAMPLE_PERIOD_NS);
        });
        let shown = |target: &str| {
            let Routed::View(view) = route(&request(Method::Get, target, "")) else {
                panic!("{target} is no view")
            };
            if target != "/api/history" {
                assert_eq!(view.target(), target);
            }
            view.answer(&reading, &history)
        };
        let found: DriveReading = serde_json::from_slice(shown("/api/reading").body()).unwrap();
        assert_eq!(found, reading);
        assert!(shown("/metrics").body().starts_with(b"# HELP ftlab_"));
        let count = |target: &str| {
            let told: serde_json::Value = serde_json::from_slice(shown(target).body()).unwrap();
            told["samples"].as_array().unwrap().len()
        };
        assert_eq!((count("/api/history"), count("/api/history?after=2")), (3, 1));
    }

    #[test]
    fn other_queries_of_the_history_are_refused() {
        for query in ["", "after=", "after=-1", "before=1", "after=1&after=2"] {
            let target = format!("/api/history?{query}");
            let (status, message) = refused(route(&request(Method::Get, &target, "")));
            assert_eq!(status, 400, "{query}");
            assert!(message.contains("after=N"), "{message}");
        }
    }

    #[test]
    fn the_page_is_served() {
        for (target, kind, text) in FILES {
            let Routed::Answer(response) = route(&request(Method::Get, target, "")) else {
                panic!("{target} is no file")
            };
            assert_eq!((response.status(), response.content_type), (Status::Ok, kind));
            assert_eq!(response.body(), text.as_bytes());
        }
    }
}
