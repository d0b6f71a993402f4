//! Plays requests against a device: open loop, closed loop, as fast as it goes.
