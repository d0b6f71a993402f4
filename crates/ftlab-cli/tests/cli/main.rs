//! Tests of the program as users meet it: each runs the built binary.

mod bases;
mod browser;
mod common;
mod compare;
mod compare_pasts;
mod device;
mod drives;
mod figure;
mod fio_json;
mod fit;
mod hostile;
mod independent_loads;
mod other_commands;
mod power_cuts;
mod queues;
mod reproduce;
mod reproduce_curves;
mod reproduce_jobs;
mod reproduce_maps;
mod reproduce_papers;
mod reproduce_refused;
mod resumed;
mod run;
#[cfg(unix)]
mod run_interrupted;
mod run_refused;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod streams;
mod sweep;
mod sweep_refused;
mod tables;
mod timeline;
mod torture;
mod traces;
