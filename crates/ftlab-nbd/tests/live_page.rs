//! The live page in a real browser, over a made-up drive.

use std::net::TcpListener;
use std::sync::mpsc;

use ftlab_nbd::control::{Clock, Cut, DriveOrder};

#[path = "../../../tests/browser/open.rs"]
mod browser;
// The example has a `main` of its own.
#[allow(dead_code)]
#[path = "../examples/control.rs"]
mod made_up;

const CHECKS: u32 = 11;

#[test]
#[ignore = "long: ./x test --all"]
fn the_live_page_works_in_a_browser() {
    let Some(browser) = browser::Browser::find() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let (hears, heard) = mpsc::channel();
    let server = std::thread::spawn(move || {
        made_up::serve_all(listener, |order| hears.send(order.clone()).expect("the test listens"))
    });
    browser.open("live.mjs", address, CHECKS);
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
