//! What a result says of pages of a trace that share pages of the device: what they do to each other never
//! happened where the trace was taken.

use ftlab_workload::replay::PageSharing;

use crate::human::{count, percent};

/// The notes, as far as there is something to say.
pub fn notes(sharing: Option<&PageSharing>) -> Vec<String> {
    let Some(sharing) = sharing else { return Vec::new() };
    streams(sharing).into_iter().chain(folded(sharing)).collect()
}

/// Streams are devices or volumes: the same address in two of them is not the same data.
fn streams(sharing: &PageSharing) -> Option<String> {
    (sharing.shared_pages_4k > 0).then(|| {
        format!(
            "{} of the {} streams of the trace share addresses: of {} pages of 4 KiB that were touched {} \
             ({}) belong to several streams, which overwrite and hit each other's data as they never did. \
             {}",
            count(sharing.sharing_streams),
            count(sharing.streams),
            count(sharing.touched_pages_4k),
            count(sharing.shared_pages_4k),
            share(sharing.shared_pages_4k, sharing),
            if sharing.folded_pages_4k > 0 {
                "--address compact gives each stream room of its own, if what is touched fits."
            } else {
                "--address compact or --address partition gives each stream room of its own."
            },
        )
    })
}

/// What lies beyond the device, or the slice of a stream, is brought together with what is on it. Partition
/// is no remedy: it folds into even less room.
fn folded(sharing: &PageSharing) -> Option<String> {
    (sharing.folded_pages_4k > 0).then(|| {
        format!(
            "The trace is larger than its room on the device and was folded: of {} pages of 4 KiB that were \
             touched {} ({}) stand for several addresses of the trace, which overwrite and hit each other as they \
             never did. A larger device holds them apart, and so does --address compact, if what is touched \
             fits.",
            count(sharing.touched_pages_4k),
            count(sharing.folded_pages_4k),
            share(sharing.folded_pages_4k, sharing),
        )
    })
}

fn share(pages: u64, of: &PageSharing) -> String {
    percent(pages as f64 / of.touched_pages_4k as f64)
}
