#[path = "common/mod.rs"]
mod common;
#[path = "validation/power.rs"]
mod power;
#[path = "validation/timelines.rs"]
mod timelines;
