//! Control and observation of a running drive over HTTP, as pure code: bytes in, bytes out.
//!
//! The loop that serves the drive owns the sockets and the clock. For each connection it keeps an [`HttpSession`], gives
//! it what it receives, [`route`]s the requests that come out, and sends what the session holds for the client. The
//! loop fills a [`DriveReading`], from which everything that is shown is made: JSON, Prometheus metrics, the curves of the
//! page, and the text of the command line.

pub mod client;
mod clock;
pub mod fuzz;
mod history;
mod http;
mod metrics;
mod order;
mod reading;
mod response;
mod text;

pub use clock::Clock;
pub use history::{History, MOST_SAMPLES, SAMPLE_PERIOD_NS, Sample};
pub use http::{
    HttpRequest, HttpSession, MOST_BODY_BYTES, MOST_HEAD_BYTES, MOST_HEADERS, Method, OriginRules,
};
pub use metrics::metrics;
pub use order::{Cut, DriveOrder, LEAST_CUT_MS, MOST_CUT_MS, Routed, View, route};
pub use reading::{
    DeviceReading, DieReading, DieState, DriveReading, FlashReading, HostReading, KindLatencies,
    Latencies, MOST_WEAR_CELLS, PlaneWear, PolicyReading, PowerReading, Programs, Quantiles,
    SmartReading, wear_cells_per_plane,
};
pub use response::{Response, Status};
#[cfg(target_os = "linux")]
pub(crate) use text::long_time;
pub use text::text;
