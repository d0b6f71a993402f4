//! The host side: requests as they arrive, split into pages with sector masks, and completed.

mod intake;
mod pages;
mod request;

pub use intake::{Active, Intake, RequestId};
pub use pages::{PageSpan, Pages, SectorMask};
pub use request::{Advanced, Breakdown, Completion, Host, Op, Outcome, Request};
