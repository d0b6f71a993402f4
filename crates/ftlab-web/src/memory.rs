//! How a script hands over texts: the functions that WebAssembly exports. A text is its length in four bytes, then UTF-8.

use std::cell::RefCell;

use crate::ask::Desk;

thread_local! {
    /// A worker has one thread, and one desk.
    static DESK: RefCell<Desk> = RefCell::new(Desk::default());
    /// What the script writes, and then reads.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a question of `length` bytes, and returns where it goes.
#[unsafe(no_mangle)]
pub extern "C" fn ftlab_room(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        text.clear();
        text.resize(length, 0);
        text.as_mut_ptr()
    })
}

/// Keeps what was written as the trace of plans that name one, in the place of an earlier one. It is not copied.
#[unsafe(no_mangle)]
pub extern "C" fn ftlab_keep() {
    let trace = TEXT.take();
    DESK.with_borrow_mut(|desk| desk.keep(trace));
}

/// Answers the question that was written, and returns where the answer is, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn ftlab_ask() -> *const u8 {
    TEXT.with_borrow_mut(|text| {
        let question = String::from_utf8_lossy(text).into_owned();
        let answer = DESK.with_borrow_mut(|desk| desk.answer(&question));
        text.clear();
        text.extend_from_slice(&(answer.len() as u32).to_le_bytes());
        text.extend_from_slice(answer.as_bytes());
        text.as_ptr()
    })
}
