//! Experiments whose loads are fio job files, with variables that differ from case to case.

use std::fs;

use serde_json::Value;

use super::common::{Place, fails};

const JOBS: &str = "[job]\nioengine=sync\nfilename=/dev/it\nrw=${RW}\nbs=${BS}\nsize=1m\n\
                    numjobs=${NUMJOBS}\ngroup_reporting\n";

const EXPERIMENT: &str = r#"
name = "jobs"
title = "Jobs"
paper = "Nobody: Nothing, 2026"
summary = "So many requests."
seeds = 1

[run]
device = "tiny"
fio = "job.fio"
fio_var = ["RW=write", "BS=4k"]

[[axis]]
name = "jobs"
fio_var = ["NUMJOBS={}"]
values = [1, 4]

[[axis]]
name = "load"
values = ["small", { name = "large", fio_var = ["BS=64k"] }]

[[metric]]
name = "requests"
from = "/report/host/write/requests"

[[claim]]
id = "requests"
text = "So many requests are made"
where = "page 1"
metric = "requests"
at = { load = "small" }
each = "jobs"
paper = { 1 = 256, 4 = 1024 }
tolerance = "1%"

[[claim]]
id = "large"
text = "And so many"
where = "page 1"
metric = "requests"
at = { load = "large", jobs = 4 }
paper = 64
tolerance = "1%"
"#;

fn place(experiment: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("jobs")).unwrap();
    place.write("jobs/experiment.toml", experiment.as_bytes());
    place.write("jobs/job.fio", JOBS.as_bytes());
    place
}

#[test]
fn variables_of_job_files_differ_from_case_to_case() {
    let place = place(EXPERIMENT);
    let done = place.run("reproduce jobs/ -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(place.json("out/result.json")["verdicts"]["reproduced"], 3);
}

#[test]
fn variables_that_fit_nothing_are_refused() {
    let bad = place(&EXPERIMENT.replace("\"BS=64k\"", "\"BSS=64k\""));
    fails(&bad, "reproduce jobs/", &["names no variable BSS", "remedy"]);
    let bad = place(&EXPERIMENT.replace("\"BS=4k\"", "\"BS\""));
    fails(&bad, "reproduce jobs/", &["run.fio_var[2]", "NAME=VALUE"]);
    let lacking = place(&EXPERIMENT.replace(", \"BS=4k\"", ""));
    fails(&lacking, "reproduce jobs/", &["no variable BS"]);
    let run = "run --device tiny --no-output";
    fails(&bad, &format!("{run} --trace trace.csv --fio-var A=1"), &["--fio-var", "job files"]);
    fails(&bad, &format!("{run} --fio jobs/job.fio --fio-var =1"), &["NAME=VALUE"]);
}

#[test]
fn results_know_what_variables_stood_for() {
    let place = place(EXPERIMENT);
    let run = |more: &str| {
        let line = format!("run --device tiny --fio jobs/job.fio --json --no-output {more}");
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut command = place.command(&args);
        let output =
            command.env("RW", "write").env("BS", "8k").env("NUMJOBS", "2").output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let (plain, given) = (run(""), run("--fio-var BS=4k --fio-var BS=16k"));
    assert_eq!(plain["load"]["variables"]["BS"], "8k");
    assert_eq!(given["load"]["variables"]["BS"], "16k", "the last one counts");
    assert_eq!(plain["load"]["variables"]["NUMJOBS"], "2");
    assert_ne!(plain["load"]["digest_blake3"], given["load"]["digest_blake3"]);
}
