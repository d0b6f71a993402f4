//! Says what is reused of finished runs.

use std::path::Path;

use crate::args::OutputArgs;

/// Says how many runs are reused.
pub fn tell(kept: usize, runs: usize, output: &OutputArgs) {
    if kept > 0 && !output.quiet {
        say!("{kept} of {runs} runs had finished before and are reused.");
    }
}

/// Says that the result is already complete.
pub fn tell_done(path: &Path, output: &OutputArgs) {
    if !output.quiet {
        say!(
            "Result: {}, already complete for the same inputs: nothing was run (--force runs it again)",
            path.display()
        );
    }
}
