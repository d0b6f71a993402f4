//! The page of a sweep file's keys, from the table that the program parses it by.

use super::{head, schema, tables};

/// The declarations, included by path because the laboratory does not export them.
#[path = "../../../crates/ftlab-lab/src/sweep/keys.rs"]
#[allow(dead_code, reason = "only what is declared is used here, not what is read")]
mod keys;

use keys::TABLES;

const ABOUT: &str = "\
A sweep file declares what `ftlab sweep` runs: a device and a load that all points share, and the axes that vary. \
[Sweeps](../sweep.md) explains how to write one. Options of the device are in [Options](options.md), and those of a run \
in `ftlab run --help`. JSON schema for editors: [sweep.schema.json](sweep.schema.json).";

pub fn page() -> String {
    head("Sweep files", ABOUT) + &tables::page(&TABLES)
}

pub fn schema() -> String {
    schema::document("ftlab sweep", &TABLES[0]())
}
