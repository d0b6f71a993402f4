//! Opens pages in a real browser, for tests of several crates: Chromium, driven by playwright-core.
//!
//! If node, the browser or playwright-core is missing, a test says that it is skipped and passes,
//! unless `FTLAB_BROWSER_TESTS` is set to `required`, as in CI.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to `required` to fail instead of skipping.
const DEMAND: &str = "FTLAB_BROWSER_TESTS";
/// Set to a folder to keep screenshots there.
const PICTURES: &str = "FTLAB_BROWSER_PICTURES";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser, and the folder of the scripts that drive it.
pub struct Browser {
    folder: PathBuf,
    program: PathBuf,
}

impl Browser {
    /// Returns a browser. If something is missing, says that the test is skipped.
    pub fn find() -> Option<Browser> {
        match Browser::look() {
            Ok(browser) => Some(browser),
            Err(missing) => {
                let demanded = std::env::var(DEMAND).is_ok_and(|value| value == "required");
                assert!(!demanded, "{missing}, and {DEMAND} is set to required");
                eprintln!("SKIPPED: the page was not opened in a browser: {missing}");
                None
            }
        }
    }

    /// Returns a browser, or what is missing.
    fn look() -> Result<Browser, &'static str> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
        found("node").ok_or("node is not installed")?;
        let program = BROWSERS.iter().find_map(|name| found(name)).ok_or("there is no Chromium")?;
        if !folder.join("node_modules/playwright-core").is_dir() {
            return Err("playwright-core is not installed: run npm ci in tests/browser");
        }
        Ok(Browser { folder, program })
    }

    /// Opens a page, by its folder or address, with a script, which prints the number of checks passed.
    pub fn open(&self, script: &str, page: impl AsRef<OsStr>, checks: u32) {
        let mut node = Command::new("node");
        node.arg(script).arg(&self.program).arg(page).current_dir(&self.folder);
        node.args(std::env::var_os(PICTURES));
        let output = node.output().expect("node can be started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{complained}");
        assert!(said.contains(&format!("{checks} checks of the page passed")), "{said}");
    }
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
