//! The host side: requests as they arrive, split into pages with sector masks, and completed.

mod request;

pub use request::{Advanced, Breakdown, Completion, Host, Op, Request};
