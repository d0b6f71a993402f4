//! Hints to the processor about memory that will be needed soon. The only place with `unsafe`.

/// Prefetches the cache line of `table[at]`, if there is such an entry. Has no observable effect.
#[inline(always)]
pub fn prefetch<T>(table: &[T], at: usize) {
    if let Some(entry) = table.get(at) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch of a valid address has no effect that a program can observe.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = entry;
    }
}
