//! Images: the state of a device at rest, as bytes, so that many experiments share one ageing.
//!
//! An image holds two things. What lies on flash and what the FTL keeps beside it (the *physical*
//! state: wear, valid pages with their owners and sectors, free and open blocks, the order in which
//! blocks closed) is restored into any device of the same shape. What policies remember (the *policy* state) is restored
//! where the loading device has the same policy with the same options; another policy is told
//! what it would have been told: which blocks are closed, in the order in which they closed.
//!
//! Each owner of state writes and reads its own part, with [`ImageWriter`] and [`ImageReader`], and takes
//! itself apart without `..`: a new field does not compile until somebody has decided whether it
//! outlives rest. Facts are stored once: what follows from others (the mapping, counts) is derived
//! while loading, so bytes that load make a consistent device.

mod code;
mod snapshot;

pub use code::{Damage, ImageReader, ImageWriter};
pub use snapshot::{ImagePart, Snapshot};

/// Which policies find themselves again, with the same options, in the loading device, and so take up
/// their own state. The others are told what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The host's side: arbitration.
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
    /// The cost of programs: what pages have been through.
    pub cost: bool,
    /// Everything else that decides when collection starts and stops.
    pub collection: bool,
    /// Random streams go on where they stood. Otherwise they begin anew, from the seed of the run.
    pub random: bool,
}

impl Resume {
    /// All of them: the device that loads is the device that was saved.
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

    /// None of them.
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

/// Reads what a policy remembers, or passes it over if another policy is to begin anew.
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

/// For a policy that remembers nothing between requests: the methods of
/// [`Policy`](crate::policy::Policy) that save and load it. All its fields are listed, each of
/// which comes from the configuration or is empty at rest.
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
