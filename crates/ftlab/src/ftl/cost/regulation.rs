//! The regulator within the FTL: asked for each page that is written or copied, and told what the host does.

use super::super::Ftl;
use super::super::streams::WriteStream;
use super::{History, Past, Regulator};
use crate::engine::skills;
use crate::ftl::cost::RegulatorPolicy;
use crate::ftl::gc::collection;
use crate::ftl::mapping::MappingPolicy;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::{CostClass, ProgramCost};
use crate::units::{Lpn, PlaneId, Ppn};
use crate::verify::Canary;

/// The setup of cost regulation.
#[derive(Clone, Debug)]
pub struct CostSetup {
    /// The policy.
    pub regulator: Regulator,
    /// Flash pages of a die that may wait for a rewrite; none if nothing is rewritten.
    pub rewrites: Option<u32>,
}

/// A regulator, and the histories that it needs.
#[derive(Clone, Debug)]
pub struct Regulation {
    regulator: Regulator,
    history: Option<History>,
    /// Whether pages are rewritten.
    pub(in crate::ftl) rewrites: bool,
}

impl Regulation {
    /// A regulator for this many pages of the host, without history.
    #[must_use]
    pub fn new(setup: CostSetup, logical_pages: u32) -> Regulation {
        let CostSetup { regulator, rewrites } = setup;
        let history = regulator.remembers().map(|rule| History::new(rule, logical_pages));
        Regulation { regulator, history, rewrites: rewrites.is_some() }
    }

    /// The name of the policy.
    #[must_use]
    pub fn policy_name(&self) -> &'static str {
        self.regulator.name()
    }

    /// The history of a page of the host.
    #[must_use]
    pub fn past(&self, page: Lpn) -> Past {
        self.history.as_ref().map_or(Past::None, |history| history.of(page))
    }

    fn access(&mut self, page: Lpn, access: Past) -> Past {
        self.history.as_mut().map_or(Past::None, |history| history.access(page, access))
    }

    /// The preparation is over: forgets what the host did so far.
    pub(crate) fn prepared(&mut self) {
        self.history.iter_mut().for_each(History::clear);
    }

    pub(in crate::ftl) fn trimmed(&mut self, page: Lpn) {
        self.history.iter_mut().for_each(|history| history.forget(page));
    }

    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        let Regulation { regulator, history, rewrites: _ } = self;
        regulator.save(out);
        history.iter().for_each(|history| history.save(out));
    }

    pub(in crate::ftl) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.regulator.load(from)?;
        self.history.as_mut().map_or(Ok(()), |history| history.load(from))
    }
}

impl Ftl {
    /// The cost regulation; none if the timing model has only one cost.
    #[inline]
    #[must_use]
    pub fn regulation(&self) -> Option<&Regulation> {
        self.features.regulation.as_deref()
    }
}

/// The history of a page of the host.
#[must_use]
pub(crate) fn past_of(page: Lpn, ftl: &Ftl) -> Past {
    ftl.features.regulation.as_ref().map_or(Past::None, |regulation| regulation.past(page))
}

/// Whether a page of a class, which the host is reading, should be rewritten; `past` is its history before this read.
pub(crate) fn wants_rewrite(past: Past, class: CostClass, ftl: &Ftl) -> bool {
    let regulation = ftl.features.regulation.as_ref();
    regulation.is_some_and(|regulation| regulation.regulator.wants_rewrite(past, class))
}

/// The cost regulation, for changes by the core.
pub(crate) fn regulation_mut(ftl: &mut Ftl) -> Option<&mut Regulation> {
    ftl.features.regulation.as_deref_mut()
}

/// The cost of a page that the host writes.
pub(crate) fn cost_of_write(page: Lpn, ftl: &mut Ftl) -> Option<ProgramCost> {
    let forgets = ftl.plant.is(Canary::WriteNotRemembered);
    let regulation = ftl.features.regulation.as_mut()?;
    let past = match forgets {
        true => regulation.past(page),
        false => regulation.access(page, Past::Written),
    };
    Some(regulation.regulator.write(past))
}

/// The cost of a translation page that is updated. It is read before each update, and its accesses
/// are not the host's, so it counts as interleaved.
pub(crate) fn cost_of_map(ftl: &Ftl) -> Option<ProgramCost> {
    let regulation = ftl.features.regulation.as_ref()?;
    Some(regulation.regulator.write(Past::Interleaved))
}

/// The cost of a copy of a page of class `as_was`. None keeps the class.
pub(crate) fn cost_of_copy(page: Lpn, as_was: CostClass, ftl: &Ftl) -> Option<ProgramCost> {
    let regulation = ftl.features.regulation.as_ref()?;
    regulation.regulator.copy(regulation.past(page), as_was)
}

/// The host reads a page from flash. Returns its history before this read.
pub(crate) fn read_by_host(page: Lpn, ftl: &mut Ftl) -> Past {
    let regulation = ftl.features.regulation.as_mut();
    regulation.map_or(Past::None, |regulation| regulation.access(page, Past::Read))
}

/// Whether a page is gone, or was not read since it was last written.
pub(in crate::ftl) fn was_written_last(page: Lpn, ftl: &Ftl) -> bool {
    ftl.look_up(page).is_none() || matches!(past_of(page, ftl), Past::None | Past::Written)
}

/// Whether a plane has room for a rewrite, besides what collection may need.
pub(in crate::ftl) fn may_rewrite(plane: PlaneId, ftl: &Ftl) -> bool {
    let state = &ftl.space.planes[plane.at()];
    let room = state.has_room(WriteStream::REWRITES, ftl.geometry.units_per_block());
    let to_spare =
        state.collection.is_none() && ftl.free_blocks(plane) > ftl.space.thresholds.start;
    !ftl.health.read_only && (room || to_spare)
}

/// Takes a flash page for a rewrite, if there is room.
pub(in crate::ftl) fn place_rewrite(plane: PlaneId, ftl: &mut Ftl) -> Option<Ppn> {
    let start = ftl.space.thresholds.start;
    may_rewrite(plane, ftl).then(|| {
        crate::ftl::room::take_page::<{ skills::ALL }>(plane, WriteStream::REWRITES, start, ftl)
    })?
}

/// Where the next rewrite on a plane goes, if there is room. Opens a block for it if necessary.
pub(in crate::ftl) fn next_place(plane: PlaneId, ftl: &mut Ftl) -> Option<Ppn> {
    let start = ftl.space.thresholds.start;
    may_rewrite(plane, ftl)
        .then(|| crate::ftl::room::next_place(plane, WriteStream::REWRITES, start, ftl))?
}

/// The page at `from` is also programmed at `to`. The new copy becomes current unless the page lies elsewhere by now.
pub(in crate::ftl) fn rewritten_page(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    if !collection::relocate::<{ skills::ALL }>(from, to, ftl)
        && !ftl.plant.is(Canary::RewriteOverNewer)
    {
        return;
    }
    let (block, unit) = ftl.geometry.place_of(to);
    ftl.blocks.set_valid(block, unit);
    ftl.invalidate::<{ skills::ALL }>(from);
    if let (Some(page), Some(map)) = (ftl.map.spare.owner(to), ftl.map.mapping.dftl_mut()) {
        map.changed(page);
    }
}
