//! fio's options for placement hints: which identifier the writes of each job carry.

use ftlab_workload::fio::{JobFile, Surroundings};

struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, _: &str) -> Result<String, String> {
        Err("no such file".to_owned())
    }

    fn variable(&mut self, _: &str) -> Option<String> {
        None
    }
}

fn identifiers(jobs: &str) -> Result<Vec<u8>, String> {
    let text =
        format!("[global]\nfilename=/dev/ng0n1\nrw=write\nbs=4k\n{}\n", jobs.replace(';', "\n"));
    let file = JobFile::parse("hints.fio", &text, &mut Nothing).map_err(|p| p.to_string())?;
    Ok(file.plan(1 << 20, 1).map_err(|p| p.to_string())?.placement)
}

#[test]
fn each_clone_writes_by_the_identifier_of_its_job() {
    let all = "[a];fdp=1;fdp_pli=3;numjobs=2;[b];[c];dataplacement=fdp;plids=1;[d];fdp=0;fdp_pli=2";
    assert_eq!(identifiers(all), Ok(vec![3, 3, 0, 1, 0]));
}

#[test]
fn what_a_job_cannot_do_is_an_error() {
    for (options, says) in [
        ("fdp=1", "a job has one"),
        ("fdp=1;fdp_pli=0,2", "carry one identifier"),
        ("fdp=1;fdp_pli=256", "256"),
        ("dataplacement=streams", "a job is a stream already"),
        ("dataplacement=zones", "fdp"),
    ] {
        let said = identifiers(&format!("[a];{options}")).expect_err(options);
        assert!(said.contains(says), "{options}: {said}");
    }
}
