//! fio's options for placement hints: which identifier the writes of each job carry, on drives with flexible data placement and
//! on others.

use std::ops::ControlFlow;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Completion, Host, Op};
use ftlab_workload::fio::{DriveFacts, FioPlan, JobFile, Surroundings};
use ftlab_workload::replay::{Crew, Limits};

use crate::common::Keep;

/// Surroundings with one file: a scheme.
struct OneFile;

impl Surroundings for OneFile {
    fn file(&mut self, name: &str) -> Result<String, String> {
        match name {
            "by-place" => Ok("0,65536,3\n65536,131072,1\n131072,131073,9\n".to_owned()),
            "broken" => Ok("0,4096,1\n0,1\n".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn variable(&mut self, _: &str) -> Option<String> {
        None
    }
}

fn plan(jobs: &str, handles: u32) -> Result<FioPlan, String> {
    let text =
        format!("[global]\nfilename=/dev/ng0n1\nrw=write\nbs=4k\n{}\n", jobs.replace(';', "\n"));
    let file = JobFile::parse("hints.fio", &text, &mut OneFile).map_err(|p| p.to_string())?;
    let drive = DriveFacts { capacity_sectors: 1 << 20, zones: None, handles };
    file.plan_on(&drive, 1).map_err(|p| p.to_string())
}

fn identifiers(jobs: &str, handles: u32) -> Result<Vec<u8>, String> {
    plan(jobs, handles).map(|plan| plan.identities.identifiers)
}

#[test]
fn each_clone_writes_by_the_identifier_of_its_job() {
    let all = "[a];fdp=1;fdp_pli=3;numjobs=2;[b];[c];dataplacement=fdp;plids=1;[d];fdp=0;fdp_pli=2";
    assert_eq!(identifiers(all, 8), Ok(vec![3, 3, 0, 1, 0]));
    assert_eq!(identifiers(all, 0), Ok(vec![0; 5]), "other drives take no notice");
    let lists = "[a];fdp=1;plids=2,0;[b];[c];fdp=1";
    assert_eq!(identifiers(lists, 3), Ok(vec![0, 0, 0, 2, 0, 1, 0, 0, 2]), "three rounds of three");
    let scheme = "[a];fdp=1;fdp_pli_select=scheme;dp_scheme=by-place";
    assert_eq!(identifiers(scheme, 4), Ok(vec![0, 3, 1, 9]));
}

#[test]
fn what_a_job_cannot_do_is_an_error() {
    for (options, says) in [
        ("fdp=1;fdp_pli=0,4", "no identifier 4, only 0 to 3"),
        ("fdp=1;fdp_pli=256", "256"),
        ("fdp=1;fdp_pli=2-1", "write 1-2"),
        ("fdp=1;fdp_pli_select=rr", "roundrobin, random, scheme"),
        ("fdp=1;fdp_pli_select=scheme", "give dp_scheme=FILE"),
        ("fdp=1;plid_select=scheme;dp_scheme=missing", "missing: no such file"),
        ("fdp=1;plid_select=scheme;dp_scheme=broken", "line 2 of the scheme, `0,1`"),
        ("dataplacement=streams", "a job is a stream already"),
        ("dataplacement=zones", "fdp"),
        ("zone_append=1", "not an option of fio"),
    ] {
        let said = identifiers(&format!("[a];{options}"), 4).expect_err(options);
        assert!(said.contains(says), "{options}: {said}");
    }
}

#[test]
fn the_scheme_is_part_of_what_decides() {
    let essence = |select: &str| {
        let text = format!("[a]\nsize=1m\nfdp=1\n{select}\n");
        JobFile::parse("a.fio", &text, &mut OneFile).unwrap_or_else(|p| panic!("{p}")).essence()
    };
    let scheme = essence("plid_select=scheme\ndp_scheme=by-place");
    assert!(scheme.contains("131073"), "{scheme}");
    assert!(!essence("dp_scheme=by-place").contains("131073"), "it is not read");
}

fn device(sets: &[&str]) -> Device {
    let all = ["ftl.streams.policy=fdp", "ftl.streams.handles=4"];
    let sets = all.iter().chain(sets).enumerate();
    let mut layers = vec![Layer::preset("tiny")];
    layers.extend(sets.map(|(number, set)| Layer::set(number, set)));
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{:?}", error.problems));
    assemble(DeviceSetup::new(&config, 1))
}

/// Plays jobs of 4 KiB. Returns their completed requests, each with the identifier of its stream.
fn play(device: &mut Device, jobs: &str) -> Vec<(Completion, u8)> {
    let text = format!(
        "[global]\nfilename=/dev/ng0n1\nbs=4k\nfdp=1\nioengine=libaio\n{}\n",
        jobs.replace(';', "\n")
    );
    let file = JobFile::parse("hints.fio", &text, &mut OneFile).unwrap_or_else(|p| panic!("{p}"));
    let plan = file.plan_on(&DriveFacts::of(device), 1).unwrap_or_else(|p| panic!("{p}"));
    device.identify_streams(&plan.identities);
    let mut sink = Keep::default();
    let crew = Crew { host: device, sink: &mut sink, limits: Limits::default() };
    crew.run(plan.groups, &mut |_| ControlFlow::Continue(())).expect("played");
    let identifier = |stream: u32| plan.identities.identifiers[stream as usize];
    let done = sink.completed.iter().map(|done| done.completion);
    done.map(|done| (done, identifier(done.request.stream))).collect()
}

/// Pages that the drive counts by handle.
fn written(device: &Device) -> Vec<u64> {
    device.handles().iter().map(|handle| handle.written.0 / 4096).collect()
}

#[test]
fn identifiers_take_turns_in_order() {
    let mut device = device(&[]);
    let done = play(&mut device, "[a];rw=write;size=400k;plids=3,1,2");
    let got: Vec<u8> = done.iter().map(|&(_, identifier)| identifier).collect();
    let expected: Vec<u8> = (0..100).map(|at| [1, 2, 3][at % 3]).collect();
    assert_eq!(got, expected, "ascending, as fio sorts them");
    assert_eq!(written(&device), [0, 34, 33, 33]);
    // Reads carry none and don't advance the turn.
    let mut mixed = self::device(&[]);
    let done = play(&mut mixed, "[a];rw=randrw;size=400k;plids=0,2");
    let writes: Vec<u8> =
        done.iter().filter(|(done, _)| done.request.op == Op::Write).map(|it| it.1).collect();
    assert!(writes.iter().enumerate().all(|(at, &it)| it == [0, 2][at % 2]), "{writes:?}");
    let reads = done.iter().filter(|(done, _)| done.request.op == Op::Read);
    assert!(reads.clone().count() > 20 && reads.clone().all(|(done, _)| done.request.stream == 0));
}

#[test]
fn a_random_choice_is_even_over_all_handles() {
    let mut device = device(&[]);
    play(&mut device, "[a];rw=write;size=8m;fdp_pli_select=random");
    let written = written(&device);
    assert_eq!(written.iter().sum::<u64>(), 2_048);
    // Five deviations of a fair draw.
    assert!(written.iter().all(|&pages| pages.abs_diff(512) < 98), "{written:?}");
}

#[test]
fn a_scheme_goes_by_the_place_in_the_file() {
    let mut device = device(&[]);
    let scheme = "plid_select=scheme;dp_scheme=by-place";
    play(&mut device, &format!("[a];rw=write;offset=16k;size=144k;{scheme}"));
    // 12 pages up to 64 KiB, 16 up to 128 KiB, one by the unknown 9, which handle 0 takes, and 7 in no range.
    assert_eq!(written(&device), [8, 16, 0, 12]);
    let fdp = device.fdp().expect("handles");
    assert_eq!(fdp.placement_counts().unknown_identifiers, 1);
}

/// A clone with several identifiers uses one queue, whatever spreads streams over queues, and its requests are its own in fio's
/// document.
#[test]
fn further_identifiers_stay_in_the_queue_of_their_clone() {
    for map in ["modulo", "saturate"] {
        let queue_of = format!("host.queue_of={map}");
        let mut device = device(&["host.queues=3", &queue_of]);
        let jobs = "[a];rw=write;size=400k;plids=0-3;[b];rw=write;size=400k;plids=1,2;[c];rw=randread;size=400k";
        let done = play(&mut device, jobs);
        assert_eq!(done.len(), 300);
        for (done, _) in &done {
            assert_eq!(
                device.queue_of(done.request.stream).get(),
                done.request.stream % 3,
                "{map}"
            );
        }
        assert_eq!(written(&device), [25, 75, 75, 25]);
    }
    let mut plan = plan("[a];size=400k;fdp=1;plids=0-3;numjobs=2;[b];size=4k", 4).expect("jobs");
    let mut device = device(&[]);
    device.identify_streams(&plan.identities);
    let mut sink = Keep::default();
    let crew = Crew { host: &mut device, sink: &mut sink, limits: Limits::default() };
    let groups = std::mem::take(&mut plan.groups);
    crew.run(groups, &mut |_| ControlFlow::Continue(())).expect("played");
    sink.completed.iter().for_each(|done| plan.tally.record(&done.completion, done.arrived));
    let document = serde_json::to_value(plan.tally.document("x")).expect("a document");
    let jobs = document["jobs"].as_array().expect("jobs");
    let writes: Vec<_> = jobs.iter().map(|job| job["write"]["total_ios"].as_u64()).collect();
    assert_eq!(writes, [100, 100, 1].map(Some));
}
