//! Images: the state of a device at rest, as bytes, so that many experiments can share one ageing.
//!
//! An image holds two things. The *physical* state (wear, valid pages with their owners and sectors, free and open
//! blocks, the order in which blocks closed) is restored into any device of the same shape. The *policy* state is
//! restored where the loading device has the same policy with the same options. Another policy is told only what the
//! core tells any policy: which blocks are closed, in the order in which they closed.
//!
//! Each owner of state saves and loads its own part with [`ImageWriter`] and [`ImageReader`], and destructures itself without
//! `..`: a new field does not compile until someone has decided whether it is saved. Each fact is stored once.
//! Derived state (the mapping, counts) is rebuilt while loading, so any image that loads gives a consistent device.
//!
//! Deriving the mapping reads everything. So the image of a large device may hold its two largest tables, the mapping and
//! the owners of pages, in [chunks](Chunks) that are read when they are needed. Each has a checksum; that they agree is
//! checked by an audit only.

mod chunks;
mod code;
mod snapshot;

pub use chunks::{ChunkSink, ChunkSource, Chunks, MAP_WORDS};
pub(crate) use chunks::{ChunkedTable, Chunking, PackedTable, Unpack};
pub use code::{Damage, ImageReader, ImageWriter};
pub use snapshot::{ImagePart, Snapshot};

/// Which policies resume, because the loading device has them with the same options. The others are told what
/// happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The host side: arbitration.
    pub host: bool,
    /// The mapping.
    pub mapping: bool,
    /// Placement.
    pub placement: bool,
    /// Which pages share blocks.
    pub streams: bool,
    /// The choice of victims.
    pub victim: bool,
    /// Static wear levelling.
    pub wear: bool,
    /// The write buffer.
    pub cache: bool,
    /// The scheduler.
    pub scheduler: bool,
    /// The timing of the cells.
    pub timing: bool,
    /// The cost of programs: the history of pages.
    pub cost: bool,
    /// Everything else that decides when collection starts and stops.
    pub collection: bool,
    /// Whether random streams resume. Otherwise they start anew, from the seed of the run.
    pub random: bool,
}

impl Resume {
    /// Everything: the loading device is the one that was saved.
    pub const ALL: Resume = Resume {
        host: true,
        mapping: true,
        placement: true,
        streams: true,
        victim: true,
        wear: true,
        cache: true,
        scheduler: true,
        timing: true,
        cost: true,
        collection: true,
        random: true,
    };

    /// Nothing.
    pub const NONE: Resume = Resume {
        host: false,
        mapping: false,
        placement: false,
        streams: false,
        victim: false,
        wear: false,
        cache: false,
        scheduler: false,
        timing: false,
        cost: false,
        collection: false,
        random: false,
    };
}

/// Loads the state of a policy, or skips it if another policy starts anew.
pub(crate) fn take_up(
    from: &mut ImageReader<'_>,
    resumes: bool,
    load: impl FnOnce(&mut ImageReader<'_>) -> Result<(), Damage>,
) -> Result<(), Damage> {
    let mut inner = from.nested()?;
    if !resumes {
        return Ok(());
    }
    load(&mut inner)?;
    inner.end()
}

/// Implements the methods of [`Policy`](crate::policy::Policy) that save and load, for a policy without state between
/// requests. All its fields are listed: each comes from the configuration or is empty at rest.
macro_rules! keeps_nothing {
    ($Type:ident { $($field:ident),* $(,)? }) => {
        fn save(&self, _out: &mut $crate::image::ImageWriter) {
            let $Type { $($field: _),* } = self;
        }

        fn load(
            &mut self,
            _from: &mut $crate::image::ImageReader<'_>,
        ) -> Result<(), $crate::image::Damage> {
            Ok(())
        }
    };
}

pub(crate) use keeps_nothing;
