//! The laboratory in a page: what a script in a browser can ask of it. The script writes a question as JSON, gets an
//! answer as JSON, and owns the clock: a run goes on only when it is asked to.
//!
//! The library runs as WebAssembly in a worker ([`memory`]), and natively in tests.

mod ask;
mod frame;
pub mod memory;
mod scene;
mod session;
pub mod shares;
mod words;

pub use ask::{Desk, Question};
