//! A case fails either by the judge's verdict or by a panic of a device that checks itself. Both
//! become findings, as text.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a case runs on this thread, and the message of the panic that ended it.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a case.
///
/// # Errors
/// The verdict, or the message of the panic that ended it.
pub fn finding<T>(case: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    silence_panics();
    LISTENING.set(true);
    let run = catch_unwind(AssertUnwindSafe(case));
    LISTENING.set(false);
    run.unwrap_or_else(|_| Err(SAID.take().unwrap_or_default()))
}

/// Captures panics of cases; others are printed as usual.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| match LISTENING.get() {
            true => SAID.set(Some(panic.to_string())),
            false => usual(panic),
        }));
    });
}
