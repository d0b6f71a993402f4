//! Notes on pages of a trace that share pages of the device, and so affect each other as they never
//! did where the trace was recorded.

use ftlab_workload::replay::PageSharing;

use crate::human::{count, percent};

/// Returns the notes that apply.
pub fn notes(sharing: Option<&PageSharing>) -> Vec<String> {
    let Some(sharing) = sharing else { return Vec::new() };
    streams(sharing).into_iter().chain(folded(sharing)).collect()
}

/// Notes streams that share addresses: they are different devices or volumes, so their data differs.
fn streams(sharing: &PageSharing) -> Option<String> {
    (sharing.shared_pages_4k > 0).then(|| {
        format!(
            "{} of the {} streams of the trace share addresses: of {} touched pages of 4 KiB, {} \
             ({}) belong to several streams, which overwrite and hit each other's data as they never did. \
             {}",
            count(sharing.sharing_streams),
            count(sharing.streams),
            count(sharing.touched_pages_4k),
            count(sharing.shared_pages_4k),
            share(sharing.shared_pages_4k, sharing),
            if sharing.folded_pages_4k > 0 {
                "`address` compact gives each stream room of its own, if the touched pages fit."
            } else {
                "`address` compact or `address` partition gives each stream room of its own."
            },
        )
    })
}

/// Notes addresses beyond the device, or beyond the slice of a stream, that were folded onto
/// others. Partition is no remedy: its slices are smaller still.
fn folded(sharing: &PageSharing) -> Option<String> {
    (sharing.folded_pages_4k > 0).then(|| {
        format!(
            "The trace is larger than its room on the device and was folded: of {} touched pages of 4 KiB, \
             {} ({}) stand for several addresses of the trace, which overwrite and hit each other as they \
             never did. A larger device keeps them apart, and so does `address` compact, if the touched pages \
             fit.",
            count(sharing.touched_pages_4k),
            count(sharing.folded_pages_4k),
            share(sharing.folded_pages_4k, sharing),
        )
    })
}

fn share(pages: u64, of: &PageSharing) -> String {
    percent(pages as f64 / of.touched_pages_4k as f64)
}
