//! The evidence that the model is right: a naive device, the laws of the flash, and closed forms.
//! docs/validation.md says what is checked, how closely, and with what result.

mod ageing;
mod arbitration;
mod ceilings;
mod channels;
mod chips;
mod cleaning;
#[path = "../common/mod.rs"]
mod common;
mod contents;
mod cost_model;
mod determinism;
mod energy;
mod failures;
mod firmware;
mod gating;
mod idle;
mod images;
mod logs;
mod map_failures;
mod met;
mod misuse;
mod mqsim;
mod on_demand;
mod overtaking;
mod packing;
mod parity;
mod physical;
mod power;
mod queueing;
mod regulating;
mod retention;
mod rows;
mod sepbit;
mod sets_of_skills;
mod slc;
mod standstill;
mod statistics;
mod streams;
mod table;
mod timelines;
mod triggers;
mod untimed;
mod watch;
mod wear;
mod write_amplification;
