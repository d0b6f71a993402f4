//! The allocator of ftlab's programs: the system's, with large tables advised to use huge pages.
//!
//! A device's tables are accessed at random, so with pages of 4 KiB nearly every access also misses
//! the TLB. Pages of 2 MiB fix that, but many Linux systems only give them to memory marked with
//! `madvise`. The simulator makes no system calls; its programs do this one here. Everything else
//! stays the same: memory comes from and returns to the system's allocator, zeroed memory stays
//! unmapped until it is touched, and small allocations cost one extra comparison.
//!
//! On huge pages, a sparsely used table takes 2 MiB for each place touched, and simulating a device much larger than
//! its used part relies on paying only 4 KiB. So only tables small enough to be resident as a whole are advised, and
//! none while a larger one exists: that device is probably used sparsely, and its other tables with it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of a huge page on supported processors.
const HUGE_PAGE: usize = 2 << 20;
/// Smaller tables are left alone: they cannot hold two whole huge pages.
const LEAST: usize = 2 * HUGE_PAGE;
/// Larger tables are not advised. This bounds the extra memory of a sparsely used table. The map of
/// a 64 GiB device with pages of 4 KiB takes half of it.
const MOST: usize = 128 << 20;
/// Tables larger than 1/16 of the machine's memory are not advised either.
#[cfg(target_os = "linux")]
const MOST_OF_MEMORY: usize = 16;

/// The system's allocator, with advice on large allocations.
///
/// ```
/// #[global_allocator]
/// static MEMORY: ftlab_memory::TableAllocator = ftlab_memory::TableAllocator::new();
/// ```
pub struct TableAllocator {
    /// Number of live allocations too large to be advised.
    too_large: AtomicUsize,
    /// Size of the largest table to advise; zero until determined.
    most: AtomicUsize,
}

impl TableAllocator {
    /// Creates the allocator; a program has one.
    #[must_use]
    pub const fn new() -> TableAllocator {
        TableAllocator { too_large: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// Returns the size of the largest table to advise. A race is harmless: both threads compute the same value.
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

    /// Handles a large allocation.
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

    /// Handles the freeing of a large allocation.
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

// SAFETY: all memory comes from the system's allocator and returns to it with the same layout;
// advice does not change its contents.
unsafe impl GlobalAlloc for TableAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
        let at = unsafe { System.alloc(layout) };
        if layout.size() >= LEAST {
            self.allocated(at, layout.size());
        }
        at
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
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
        // SAFETY: the caller upholds the contract, and all memory came from `System`.
        unsafe { System.dealloc(at, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract, and all memory came from `System`.
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

    /// Returns the machine's memory in bytes.
    pub fn memory() -> Option<usize> {
        // SAFETY: only queries two numbers.
        let (pages, bytes) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        usize::try_from(pages).ok()?.checked_mul(usize::try_from(bytes).ok()?)
    }

    /// Allows huge pages for those that lie whole within the range. If the system declines, that is no error.
    pub fn advise(at: *mut u8, size: usize) {
        let before = at.align_offset(HUGE_PAGE);
        let whole = size.saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
        if whole > 0 {
            // SAFETY: the range lies within an allocation of `size` bytes, and its contents are kept.
            unsafe { libc::madvise(at.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
}

/// Other systems get no advice.
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

    /// Returns the resident bytes of this process.
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

    /// A table larger than is ever advised, touched at 64 places, with a smaller one beside it.
    #[test]
    #[cfg(target_os = "linux")]
    fn tables_too_large_to_advise_stay_sparse() {
        const TOUCHES: usize = 64;
        let before = resident();
        let mut sparse = vec![0u8; 3 * MOST];
        let mut beside = vec![0u8; MOST / 4];
        for touch in 0..TOUCHES {
            let (far, near) = (sparse.len() / TOUCHES * touch, beside.len() / TOUCHES * touch);
            (sparse[far], beside[near]) = (1, 1);
        }
        // The other test may run at the same time; it holds less than 16 of the smallest tables.
        let grown = resident().saturating_sub(before);
        assert!(grown < 16 * LEAST, "{grown} bytes for {TOUCHES} touches");
        drop((std::hint::black_box(sparse), std::hint::black_box(beside)));
        assert_eq!(MEMORY.too_large.load(Ordering::Relaxed), 0);
    }
}
