//! The live page in a real browser: Chromium, driven by playwright-core, over a made-up drive.
//!
//! If node, the browser or playwright-core is missing, the test says that it is skipped and passes,
//! unless `FTLAB_BROWSER_TESTS` is set to `required`, as in CI.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use ftlab_nbd::control::{Clock, Cut, DriveOrder};

// The example has a `main` of its own.
#[allow(dead_code)]
#[path = "../examples/control.rs"]
mod made_up;

/// Set to `required` to fail instead of skipping.
const DEMAND: &str = "FTLAB_BROWSER_TESTS";
/// Set to a folder to keep screenshots there.
const PICTURES: &str = "FTLAB_BROWSER_PICTURES";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const CHECKS: u32 = 11;

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns the scripts' folder and the browser, or what is missing.
fn tools() -> Result<(PathBuf, PathBuf), &'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    found("node").ok_or("node is not installed")?;
    let browser = BROWSERS.iter().find_map(|name| found(name)).ok_or("there is no Chromium")?;
    if !folder.join("node_modules/playwright-core").is_dir() {
        return Err("playwright-core is not installed: run npm ci in tests/browser");
    }
    Ok((folder, browser))
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_live_page_works_in_a_browser() {
    let (folder, browser) = match tools() {
        Ok(tools) => tools,
        Err(missing) => {
            let demanded = std::env::var(DEMAND).is_ok_and(|value| value == "required");
            assert!(!demanded, "{missing}, and {DEMAND} is set to required");
            eprintln!("SKIPPED: the live page was not opened in a browser: {missing}");
            return;
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let (hears, heard) = mpsc::channel();
    let server = std::thread::spawn(move || {
        made_up::serve_all(listener, |order| hears.send(order.clone()).expect("the test listens"))
    });
    let mut node = Command::new("node");
    node.arg("live.mjs").arg(browser).arg(address).current_dir(folder);
    node.args(std::env::var_os(PICTURES));
    let output = node.output().expect("node can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains(&format!("{CHECKS} checks of the page passed")), "{said}");
    server.join().expect("the server does not panic").expect("the server has its socket");
    let orders = [
        DriveOrder::Cut(Cut::Now),
        DriveOrder::Cut(Cut::Every(60_500)),
        DriveOrder::Cut(Cut::Never),
        DriveOrder::KillDie { die: 9 },
        DriveOrder::SetClock(Clock::Scaled(2.0)),
        DriveOrder::Save { to: None, force: false },
        DriveOrder::Stop,
    ];
    assert_eq!(heard.into_iter().collect::<Vec<_>>(), orders);
}
