//! The NBD protocol.
