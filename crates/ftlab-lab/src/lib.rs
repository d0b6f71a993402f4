//! The laboratory: experiments on simulated SSDs, their results, and comparisons between them.
//!
//! A [`LoadSource`](experiment::LoadSource) (a trace, a workload, a fio job file, or requests of the caller's) and
//! [`RunOptions`](experiment::RunOptions) make an [`Experiment`](experiment::Experiment). A [`Lab`] performs it on a
//! device of some [`Config`](ftlab::config::Config) with some seed, and returns a
//! [`Measured`](experiment::Measured): the document of the result, and everything that was recorded. Who watches gets
//! events ([`Watcher`](experiment::Watcher)), and anyone may stop it ([`Stop`](stop::Stop)).
//!
//! ```
//! use ftlab_lab::experiment::{Experiment, LoadSource, RunOptions};
//! use ftlab_lab::{Lab, device};
//!
//! let config = device::load("tiny", &device::settings(&["ftl.over_provisioning=28%"]))?;
//! let options = RunOptions { requests: Some(2_000), ..RunOptions::default() };
//! let experiment = Experiment::new(LoadSource::workload("randwrite-4k")?, &options)?;
//! experiment.check(&config, 1)?;
//! let measured = Lab::default().run(&experiment, &config, 7, &mut (), None)?;
//! assert_eq!(measured.document.report.host.write.requests, 2_000);
//! # Ok::<(), ftlab_lab::Failure>(())
//! ```
//!
//! This crate reads and writes files, uses threads and knows the time of day; it knows no terminal, no arguments and no
//! global state. Its messages name options as all front ends do (`queue_depth`).

// Who uses the library decides what is printed.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod bases;
pub mod catalog;
pub mod character;
mod chunks;
pub mod compare;
pub mod device;
pub mod experiment;
pub mod failure;
pub mod figure;
#[doc(hidden)]
pub mod fuzz;
pub mod human;
pub mod image;
mod lab;
pub mod load;
pub mod memory;
pub mod outside;
mod packing;
mod page;
pub mod pool;
pub mod power_cuts;
mod recording;
pub mod reproduce;
pub mod result;
pub mod resume;
pub mod saved;
pub mod seeds;
pub mod stepped;
pub mod stop;
pub mod sweep;
pub mod tenants;
pub mod text_file;
pub mod timeline;
pub mod translation;

pub use failure::Failure;
pub use lab::Lab;
