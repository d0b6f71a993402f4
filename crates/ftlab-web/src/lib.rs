//! The laboratory in a page.
#[unsafe(no_mangle)]
pub extern "C" fn web_try(seed: u64) -> u64 {
    use ftlab_lab::experiment::{Experiment, LoadSource, RunOptions};
    use ftlab_lab::{Lab, device};
    let config = device::load("tiny", &device::settings(&["ftl.over_provisioning=28%"])).unwrap();
    let options = RunOptions { requests: Some(2_000), ..RunOptions::default() };
    let experiment =
        Experiment::new(LoadSource::workload("randwrite-4k").unwrap(), &options).unwrap();
    let measured = Lab::default().run(&experiment, &config, seed, &mut (), None).unwrap();
    serde_json::to_string(&measured.document).unwrap().len() as u64
}
