//! What a device keeps on flash for recovery, place by place, for a front end that stores it outside: a block device
//! whose process may be killed at any moment.
//!
//! [`Kept`] reads it, and the device notes what changes ([`Touched`]). [`KeptSource`] gives it back after a kill, and the
//! device recovers from it as after a power cut. A program or erase that was in flight then counts as cut off. What the
//! cells remember beside the data (costs of programs, reads since the last erase) is not kept.

use super::super::blocks::BlockWear;
use super::super::wear::{EndReason, Losses};
use super::super::{BlockState, Ftl, Spare, slc, superblock};
use super::checks::KeptLimits;
use super::news::Seen;
use super::record::Role;
use super::{Left, Record, left};
use crate::ftl::fragments::OwnerPart;
use crate::ftl::journal::JournalPages;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::mapping::hybrid::DataBlock;
use crate::image::Damage;
use crate::units::{BlockId, Lpn, Ppn, SectorMask, Tpn};

/// What a physical page holds of a logical page, in its spare area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptPart {
    /// The logical page; none if nothing was ever programmed there.
    pub owner: Option<Lpn>,
    /// Its sectors.
    pub sectors: SectorMask,
    /// Its version with marks, as the device understands them. Zero if the part does not count.
    pub version: u64,
}

/// The spare area of a physical page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptPage {
    /// The first logical page there, and the second one, if pages are packed.
    pub parts: [KeptPart; 2],
    /// Sectors whose data is lost.
    pub lost: SectorMask,
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptBlock {
    /// How often it was erased.
    pub erases: u32,
    /// Mapping units that are programmed.
    pub programmed: u32,
    /// Its state.
    pub state: BlockState,
    /// The stream that it was opened for.
    pub stream: u8,
    /// Its position in the order in which blocks were opened. Zero if it was never opened.
    pub opening: u64,
    /// The purpose for which it was opened, as the device understands it.
    pub purpose: u64,
    /// Whether it is given up and was not emptied yet.
    pub giving_up: bool,
}

/// Facts about the whole device. There is a fixed number of them: what grows is kept by page or block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptFacts {
    /// The version of the next write.
    pub next_version: u64,
    /// How many blocks were opened.
    pub openings: u64,
    /// Pages of the system area that recovery reads: of the journal, and of the index.
    pub journal_pages: JournalPages,
    /// Logical pages that have a trim.
    pub trimmed: u64,
    /// Whether and why the device takes no writes any more.
    pub end: Option<EndReason>,
    /// The key that determines which blocks are weak.
    pub weak: Option<u64>,
    /// What has failed.
    pub failures: Losses,
}

/// What changed since the last look.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Physical pages, as runs.
    pub pages: Vec<(Ppn, u32)>,
    /// Blocks that were opened, erased or given up, or whose superblocks have changed. The blocks of `pages` have changed,
    /// too.
    pub blocks: Vec<BlockId>,
    /// Logical pages that were trimmed.
    pub trimmed: Vec<Lpn>,
    /// What nobody notes when it changes, as of this look.
    pub seen: Seen,
}

impl Touched {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.blocks.is_empty() && self.trimmed.is_empty()
    }

    /// Forgets what changed, and keeps the memory.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.blocks.clear();
        self.trimmed.clear();
    }

    pub(super) fn page(&mut self, first: Ppn, units: u32) {
        match self.pages.last_mut() {
            Some((last, run)) if last.get() + *run == first.get() => *run += units,
            Some((last, run)) if *last == first && *run == units => {}
            _ => self.pages.push((first, units)),
        }
    }
}

/// A view of what a device keeps.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    ftl: &'a Ftl,
    record: &'a Record,
    journal_pages: JournalPages,
}

impl<'a> Kept<'a> {
    /// The view of a device, or none if it keeps nothing for recovery.
    pub(crate) fn of(ftl: &'a Ftl, journal_pages: JournalPages) -> Option<Kept<'a>> {
        ftl.features.record.as_deref().map(|record| Kept { ftl, record, journal_pages })
    }

    /// Whether something has changed since the device was last asked what.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.record.touched.as_deref().is_some_and(|touched| !touched.is_empty())
    }

    /// The spare area of a physical page.
    #[must_use]
    pub fn page(&self, at: Ppn) -> KeptPage {
        let packs = self.ftl.packs();
        let spare = &self.ftl.map.spare;
        let owners = match packs {
            true => spare.parts(at),
            false => [spare.owner(at).map(|page| (page, spare.sectors(at))), None],
        };
        let part = |second: bool| {
            let (owner, sectors) = owners[usize::from(second)].unzip();
            KeptPart {
                owner,
                sectors: sectors.unwrap_or(SectorMask::EMPTY),
                version: self.record.word(at, second),
            }
        };
        KeptPage { parts: [part(false), part(true)], lost: self.ftl.map.lost.at(at) }
    }

    /// A block.
    #[must_use]
    pub fn block(&self, block: BlockId) -> KeptBlock {
        let blocks = &self.ftl.blocks;
        KeptBlock {
            erases: blocks.erases(block),
            programmed: blocks.programmed(block),
            state: blocks.state(block),
            stream: blocks.stream(block).at() as u8,
            opening: self.record.opening(block),
            purpose: purpose_of(self.record.role(block)),
            giving_up: left::is_given_up(block, self.ftl),
        }
    }

    /// What is known of a superblock that its block does not say, as the device understands it: which of its blocks are bad,
    /// and its stripes. Mostly nothing.
    #[must_use]
    pub fn superblock(&self, block: BlockId) -> Vec<u8> {
        superblock::kept::save(block, &self.ftl.features)
    }

    /// Whether anything is known of a block. Of others, and of their pages, nothing has to be stored.
    #[must_use]
    pub fn knows(&self, block: BlockId) -> bool {
        self.ftl.blocks.is_used(block) || self.record.opening(block) > 0
    }

    /// The version of the last trim of a logical page, or zero.
    #[must_use]
    pub fn trim(&self, page: Lpn) -> u64 {
        self.record.trim_of(page)
    }

    /// The facts about the whole device.
    #[must_use]
    pub fn facts(&self) -> KeptFacts {
        let (next_version, openings) = (self.record.next(), self.record.openings());
        let life = self.ftl.health.life.as_deref();
        KeptFacts {
            next_version,
            openings,
            journal_pages: self.journal_pages,
            trimmed: self.record.trimmed_pages(),
            end: life.and_then(|life| life.end_reason()),
            weak: life.map(|life| life.faults.key()),
            failures: life.map(|life| life.losses().failures()).unwrap_or_default(),
        }
    }
}

/// Gives back what a device kept.
pub trait KeptSource {
    /// A block.
    fn block(&self, block: BlockId) -> KeptBlock;
    /// What is known of a superblock that its block does not say.
    fn superblock(&self, block: BlockId) -> Vec<u8>;
    /// The spare area of a page.
    fn page(&self, at: Ppn) -> KeptPage;
    /// The logical pages that were trimmed, and the version of the last trim of each.
    fn trims(&self) -> impl Iterator<Item = (Lpn, u64)>;
    /// The facts about the whole device.
    fn facts(&self) -> &KeptFacts;
}

/// Exchanges what changed for an empty list, and notes from now on what changes.
pub(crate) fn swap_touched(list: &mut Touched, ftl: &mut Ftl) {
    if ftl.features.record.is_none() {
        return;
    }
    let seen = Seen::of(ftl);
    let Some(record) = ftl.features.record.as_deref_mut() else { return };
    let touched = record.touched.get_or_insert_default();
    std::mem::swap(&mut **touched, list);
    let changed = seen.changed_since(&list.seen, ftl);
    list.blocks.extend(changed);
    if let Some(touched) = ftl.features.record.as_deref_mut().and_then(|it| it.touched.as_mut()) {
        touched.seen = seen;
    }
}

/// Returns what a device left, from what was kept of it. `ftl` is newly built.
///
/// # Errors
/// What was kept contradicts itself, or is of another device.
pub(crate) fn left_of(from: &impl KeptSource, mut ftl: Ftl) -> Result<Left, Damage> {
    let facts = from.facts();
    let limits = KeptLimits::new(facts, &ftl)?;
    let Some(mut record) = ftl.features.record.take() else {
        return Err(Damage("the device keeps nothing for recovery".to_owned()));
    };
    record.restart(facts.next_version, facts.openings);
    record.touched = Some(Box::default());
    let geometry = ftl.geometry.clone();
    let sectors = geometry.sectors_per_unit();
    let mut spare = Spare::new(geometry.physical_pages(), sectors);
    let packs = ftl.packs();
    let (mut torn, mut giving_up) = (Vec::new(), Vec::new());
    for block in (0..geometry.blocks()).map(BlockId::new) {
        let kept = from.block(block);
        limits.block(block, &kept)?;
        let KeptBlock { erases, programmed, state, stream, .. } = kept;
        ftl.blocks.put_kept(block, BlockWear { erases, programmed, state, stream });
        record.put_block(block, kept.opening, role_of(kept.purpose));
        superblock::kept::load((block, state), &from.superblock(block), &mut ftl.features)?;
        if kept.giving_up {
            giving_up.push(block);
        }
        if kept.opening == 0 && kept.programmed == 0 {
            continue;
        }
        let first = geometry.page_at(block, 0).get();
        for at in (first..first + geometry.units_per_block()).map(Ppn::new) {
            let page = from.page(at);
            limits.page(at, &page)?;
            put_spare(at, &page, packs, &mut spare);
            record.put(at, page.parts.map(|part| part.version));
            ftl.map.lost.put(at, page.lost);
        }
        torn.extend(torn_in(block, &record, &ftl));
    }
    for (page, version) in from.trims() {
        if page.get() >= ftl.logical_pages || !limits.has_version(version) {
            return Err(Damage(format!("{page:?} can't have been trimmed at {version}")));
        }
        record.put_trim(page, version);
    }
    if record.trimmed_pages() != facts.trimmed {
        let (found, kept) = (record.trimmed_pages(), facts.trimmed);
        return Err(Damage(format!("{kept} pages were trimmed, and trims of {found} are there")));
    }
    let native = slc::cache::native_blocks(&ftl);
    let plane_used = |plane| {
        let mut blocks = (0..native).rev().map(|index| geometry.block_in(plane, index));
        let used = |&block: &BlockId| ftl.blocks.is_used(block) || record.opening(block) > 0;
        let last = blocks.by_ref().position(|block| used(&block));
        last.map_or(0, |from_end| native - from_end as u32)
    };
    let used = (0..geometry.planes()).map(crate::units::PlaneId::new).map(plane_used).collect();
    // Which translation pages were up to date is not kept.
    let stale = ftl.map.mapping.dftl().map_or(0, |map| map.translation_pages());
    let members = ftl.features.superblock.take().map(|state| state.members);
    let stripes = ftl.features.stripes.take();
    if let (Some(members), Some(stripes)) = (&members, &stripes) {
        // Programs that were under way, or had not begun, may have left gaps.
        let in_order = |block| {
            let programmed = ftl.blocks.programmed(block);
            let mut all = 0..geometry.units_per_block();
            all.all(|unit| {
                let counts = record.word(geometry.page_at(block, unit), false) > 0;
                counts == (unit < programmed)
            })
        };
        stripes.check_open(&ftl.blocks, members, in_order)?;
    }
    Ok(Left {
        members,
        stripes,
        spare,
        blocks: ftl.blocks,
        lost: ftl.map.lost,
        record,
        used,
        giving_up,
        failures: facts.failures,
        weak: facts.weak.map(|key| (key, facts.end)),
        torn,
        landed: Vec::new(),
        half_erased: Vec::new(),
        dead: Vec::new(),
        stale_map: (0..stale).map(Tpn::new).collect(),
        lay: Vec::new(),
    })
}

/// The flash pages of a block whose program was begun and is not known to have ended.
fn torn_in(block: BlockId, record: &Record, ftl: &Ftl) -> Vec<Ppn> {
    let (units, geometry) = (ftl.geometry.units_per_page(), &ftl.geometry);
    let first = geometry.page_at(block, 0).get();
    let all = (first..first + geometry.units_per_block()).step_by(units as usize);
    let pending = |&first: &u32| (first..first + units).any(|at| record.is_pending(Ppn::new(at)));
    all.filter(pending).map(Ppn::new).collect()
}

fn put_spare(at: Ppn, page: &KeptPage, packs: bool, spare: &mut Spare) {
    let part =
        |part: KeptPart| -> Option<OwnerPart> { part.owner.map(|owner| (owner, part.sectors)) };
    match page.parts.map(part) {
        [Some(first), Some(second)] if packs => spare.record_pack(at, [first, second]),
        [Some((owner, sectors)), _] => spare.record(at, owner, sectors),
        [None, _] => {}
    }
}

/// Numbers a purpose: even numbers from two on are data blocks, odd ones log blocks of a data block.
fn purpose_of(role: Role) -> u64 {
    match role {
        Role::Log => 0,
        Role::Data(data) => 2 * (u64::from(data.get()) + 1),
        Role::HomedLog(data) => 2 * (u64::from(data.get()) + 1) + 1,
    }
}

fn role_of(purpose: u64) -> Role {
    let Some(number) = (purpose / 2).checked_sub(1) else { return Role::Log };
    let data = DataBlock::numbered(number as u32);
    if purpose.is_multiple_of(2) { Role::Data(data) } else { Role::HomedLog(data) }
}
