//! The allocator of ftlab's programs: the system's, which is told that large tables may lie on huge pages.
//!
//! A device's tables are touched at random, and with pages of 4 KiB nearly each touch also misses the processor's
//! table of translations. Pages of 2 MiB mend that, but many Linux systems give them only to memory that was advised
//! so. The simulator makes no system calls; its programs do that here, and nothing else: memory comes from the system's
//! allocator and goes back there, zeroed memory stays unmapped until it is touched, and small allocations cost one
//! comparison more.
//!
//! What is touched at a few places would take 2 MiB for each, and a device that is much larger than what is used of it
//! lives from taking 4 KiB. So only tables are advised that could be resident as a whole and nobody would mind, and none
//! while there is one that is larger: then the device is one of those, and its other tables are touched as thinly.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A huge page, on the processors where this is done.
const HUGE_PAGE: usize = 2 << 20;
/// Smaller tables are left alone: they hold less than two huge pages for certain.
const LEAST: usize = 2 * HUGE_PAGE;
/// No table larger than this is advised, so that a device of which little is used takes so much more for a table at
/// the most. The map of 64 GiB in pages of 4 KiB takes half of it.
const MOST: usize = 128 << 20;
/// Nor one that takes more than this part of the memory that the machine has.
#[cfg(target_os = "linux")]
const MOST_OF_MEMORY: usize = 16;

/// The system's allocator, with advice on large allocations.
///
/// ```
/// #[global_allocator]
/// static MEMORY: ftlab_memory::Tables = ftlab_memory::Tables::new();
/// ```
pub struct TableAllocator {
    /// Allocations at present that are too large to be advised.
    too_large: AtomicUsize,
    /// The size of the largest that is advised; zero as long as it was not found out.
    most: AtomicUsize,
}

impl TableAllocator {
    /// One for the whole program.
    #[must_use]
    pub const fn new() -> TableAllocator {
        TableAllocator { too_large: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// The size of the largest table that is advised. Asking twice at the same time finds the same.
    fn most(&self) -> usize {
        match self.most.load(Ordering::Relaxed) {
            0 => {
                let most =
                    system::memory().map_or(MOST, |memory| MOST.min(memory / MOST_OF_MEMORY));
                let most = most.max(LEAST);
                self.most.store(most, Ordering::Relaxed);
                most
            }
            most => most,
        }
    }

    /// Something large was allocated.
    #[cold]
    fn allocated(&self, at: *mut u8, size: usize) {
        if at.is_null() {
            return;
        }
        if size > self.most() {
            self.too_large.fetch_add(1, Ordering::Relaxed);
        } else if self.too_large.load(Ordering::Relaxed) == 0 {
            system::advise(at, size);
        }
    }

    /// Something large was freed.
    #[cold]
    fn freed(&self, size: usize) {
        if size > self.most() {
            self.too_large.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Default for TableAllocator {
    fn default() -> TableAllocator {
        TableAllocator::new()
    }
}

// SAFETY: all memory comes from the system's allocator and goes back to it with the same layout; advice changes none
// of its contents.
unsafe impl GlobalAlloc for TableAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the same promises.
        let at = unsafe { System.alloc(layout) };
        if layout.size() >= LEAST {
            self.allocated(at, layout.size());
        }
        at
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the same promises.
        let at = unsafe { System.alloc_zeroed(layout) };
        if layout.size() >= LEAST {
            self.allocated(at, layout.size());
        }
        at
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if layout.size() >= LEAST {
            self.freed(layout.size());
        }
        // SAFETY: the caller keeps the same promises, and all memory is the system's.
        unsafe { System.dealloc(at, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the same promises, and all memory is the system's.
        let grown = unsafe { System.realloc(at, layout, size) };
        if !grown.is_null() {
            if layout.size() >= LEAST {
                self.freed(layout.size());
            }
            if size >= LEAST {
                self.allocated(grown, size);
            }
        }
        grown
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::HUGE_PAGE;

    /// Bytes of memory that the machine has.
    pub fn memory() -> Option<usize> {
        // SAFETY: asks for two numbers.
        let (pages, bytes) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        usize::try_from(pages).ok()?.checked_mul(usize::try_from(bytes).ok()?)
    }

    /// Says that the huge pages that lie within so many bytes may be used. That the system does not want that is no
    /// error.
    pub fn advise(at: *mut u8, size: usize) {
        let before = at.align_offset(HUGE_PAGE);
        let whole = size.saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
        if whole > 0 {
            // SAFETY: the range lies within an allocation of `size` bytes, and its contents stay.
            unsafe { libc::madvise(at.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
}

/// Elsewhere nothing is advised.
#[cfg(not(target_os = "linux"))]
mod system {
    pub fn memory() -> Option<usize> {
        None
    }

    pub fn advise(_at: *mut u8, _size: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static MEMORY: TableAllocator = TableAllocator::new();

    /// Resident bytes of this process.
    #[cfg(target_os = "linux")]
    fn resident() -> usize {
        let text = std::fs::read_to_string("/proc/self/statm").expect("a Linux has it");
        let pages: usize =
            text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
        pages * 4096
    }

    #[test]
    fn zeroed_and_grown_tables_keep_what_they_hold() {
        let mut table = vec![0u8; LEAST + 12_345];
        assert!(table.iter().all(|&byte| byte == 0));
        (0u8..=250).cycle().zip(&mut table).for_each(|(value, byte)| *byte = value);
        let before = table.len();
        table.resize(7 * LEAST, 1);
        assert!((0u8..=250).cycle().zip(&table[..before]).all(|(value, byte)| *byte == value));
        assert!(table[before..].iter().all(|&byte| byte == 1));
        table.truncate(LEAST / 2);
        table.shrink_to_fit();
        assert!((0u8..=250).cycle().zip(&table).all(|(value, byte)| *byte == value));
    }

    /// More than is ever advised, touched at 64 places, and a smaller table beside it.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_larger_than_memory_stays_thin() {
        const TOUCHES: usize = 64;
        let before = resident();
        let mut sparse = vec![0u8; 3 * MOST];
        let mut beside = vec![0u8; MOST / 4];
        for touch in 0..TOUCHES {
            let (far, near) = (sparse.len() / TOUCHES * touch, beside.len() / TOUCHES * touch);
            (sparse[far], beside[near]) = (1, 1);
        }
        // The other test, which may run at the same time, holds less than sixteen of the least tables.
        let grown = resident().saturating_sub(before);
        assert!(grown < 16 * LEAST, "{grown} bytes for {TOUCHES} touches");
        drop((std::hint::black_box(sparse), std::hint::black_box(beside)));
        assert_eq!(MEMORY.too_large.load(Ordering::Relaxed), 0);
    }
}
