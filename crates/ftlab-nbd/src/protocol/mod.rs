//! The server's side of the NBD protocol, without sockets, clocks and threads: bytes in, bytes out.
//!
//! A [`Session`] is one connection. The server receives into [`Session::space`], asks [`Session::next`] what to do,
//! answers each request by its [`Ticket`], and sends [`Session::output`].
//!
//! Sections are those of the specification, `doc/proto.md` of the NBD project: fixed newstyle negotiation, structured
//! replies, metadata contexts (`base:allocation`). TLS and extended headers are refused.

mod codec;
mod errno;
mod export;
pub mod fuzz;
pub mod limits;
mod session;

pub use errno::Errno;
pub use export::Export;
pub use session::{
    BlockCommand, Closing, Payload, ReadReply, Request, Session, SessionEvent, Span, StatusExtent,
    Ticket,
};
