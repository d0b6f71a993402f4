//! Random runs that say what they met. Runs that reach nothing find nothing, so a property counts
//! how often each case that it is for has occurred, in the very runs that it checks.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

/// Whether the tests may take long.
pub fn is_long() -> bool {
    std::env::var_os("FTLAB_LONG").is_some()
}

/// How often each case occurred.
#[derive(Debug, Default)]
pub struct Met(RefCell<BTreeMap<&'static str, u32>>);

impl Met {
    /// Notes which cases a run met.
    pub fn note(&self, cases: impl IntoIterator<Item = (&'static str, bool)>) {
        for (name, occurs) in cases {
            *self.0.borrow_mut().entry(name).or_default() += u32::from(occurs);
        }
    }

    /// Every case occurred so many times, at least; once, in short tests.
    #[track_caller]
    pub fn each_at_least(&self, times: u32) {
        let met = self.0.borrow();
        println!("{met:#?}");
        let times = if is_long() { times } else { 1 };
        let rare: Vec<_> = met.iter().filter(|(_, met)| **met < times).collect();
        assert!(!met.is_empty() && rare.is_empty(), "too rare: {rare:?}, of {met:#?}");
    }
}

/// Checks a property of random runs, with the smallest run that breaks it.
#[track_caller]
pub fn check_runs<S: Strategy>(
    config: Config,
    runs: S,
    property: impl Fn(S::Value) -> Result<(), String>,
) {
    let checked =
        TestRunner::new(config).run(&runs, |run| property(run).map_err(TestCaseError::fail));
    match checked {
        Ok(()) => {}
        Err(TestError::Fail(why, run)) => panic!("{why}\nsmallest run: {run:#?}"),
        Err(why) => panic!("{why}"),
    }
}
