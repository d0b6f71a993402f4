//! The FTL's part of an image: see [`image`](crate::image).
//!
//! The contents of the flash are read first. The mapping follows from them: every valid page is
//! passed to it as a commit. Then come the planes, which are checked against the blocks, and the
//! candidates, which are passed to the victim policy as blocks that close.

use crate::engine::skills;
use crate::ftl::gc::{VictimPolicy, VictimView, collection, kept};
use crate::ftl::mapping::{Dftl, Mapping, MappingPolicy};
use crate::ftl::merge::fold;
use crate::ftl::parity::rebuild as parity_rebuild;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::plane::Loaded;
use crate::ftl::recovery::rebuild;
use crate::ftl::space::Space;
use crate::ftl::streams::{StreamCounts, StreamsPolicy, WriteStream};
use crate::ftl::wear::{dies, life};
use crate::ftl::{BlockState, Features, Ftl, Map, Policies, fragments, groups, merge, slc};
use crate::image::{
    ChunkedTable, Chunking, Chunks, Damage, ImagePart, ImageReader, ImageWriter, PackedTable,
    Resume, Snapshot, Unpack, take_up,
};
use crate::units::{BlockId, PlaneId};

/// Saves the state of an FTL at rest. The destructuring makes sure that a new field does not
/// compile until somebody has decided whether it is saved.
pub(crate) fn save(to: &mut Snapshot, mut chunking: Option<Chunking<'_>>, ftl: &Ftl) {
    let Ftl {
        geometry,
        // Derived from the configuration.
        logical_pages: _,
        map,
        blocks,
        space,
        // The state of other policies is a part of its own. Pacing has none.
        policies: Policies { victim: _, pacing: _, placement: _, streams: _, levelling: _ },
        // Saved below, as far as it does not follow from bad, failed and dead blocks. At rest, the
        // failed blocks are on the lists of their planes, and deaths have been handled.
        health: _,
        features,
        // Measurements start at the load.
        counts: _,
        // Only used by checks.
        plant: _,
    } = ftl;
    // The mapping follows from owners and valid bits, and the room for packs from the places.
    // Further state of the mapping policy is a part of its own.
    let Map { spare, lost, mapping: _, pack_room: _ } = map;
    let Space {
        planes,
        hungry,
        fed,
        free_block: _,
        thresholds: _,
        triggers: _,
        kept_back: _,
        // Follow from the planes.
        writable: _,
        map_writable: _,
        groups: _,
        // None at rest.
        map_stalled: _,
    } = space;
    let Features {
        slc,
        stripes,
        superblock,
        // Due data is found again.
        refresh: _,
        // Its state is a part of its own.
        regulation: _,
        // The device had been shut down properly, so all its data is valid.
        record: _,
    } = features;
    if let (Some(chunking), Mapping::Page(map)) = (&mut chunking, &ftl.map.mapping) {
        map.save_chunks(chunking);
    }
    to.write(ImagePart::Blocks, |out| {
        // The contents of invalid pages don't matter any more.
        blocks.save(geometry, out, |block, out| {
            let pages = blocks.valid_pages(geometry, block);
            if let Some(chunking) = &mut chunking {
                // Others are still written to.
                let is_closed = blocks.state(block) == BlockState::Closed;
                let units = blocks.units_per_block();
                let apart = is_closed && spare.save_chunk(block, units, pages.clone(), chunking);
                out.flag(apart);
                if apart {
                    return;
                }
            }
            match ftl.packs() {
                true => fragments::image::save_fragments(block, out, ftl),
                false => spare.save(pages, out),
            }
        });
    });
    to.chunks = chunking.map(Chunking::end);
    to.write(ImagePart::Planes, |out| {
        life::save_life(out, ftl);
        planes.iter().for_each(|plane| plane.save(out, |stream| blocks.units_in(stream)));
        slc.iter().for_each(|cache| cache.save(out));
        ftl.map.mapping.log().iter().for_each(|(tables, _)| tables.save(out));
        hungry.iter().for_each(|&hungry| out.flag(hungry));
        out.list(fed.iter().map(|plane| plane.get()));
        superblock.iter().for_each(|superblock| superblock.save(out));
        stripes.iter().for_each(|stripes| stripes.save(out));
    });
    to.write(ImagePart::Closed, |out| {
        out.list(blocks.by_closing().iter().map(|block| block.get()));
        for plane in (0..geometry.planes()).map(PlaneId::new) {
            out.list(kept::candidates_and_kept(plane, ftl).iter().map(|block| block.get()));
        }
        lost.save(out);
    });
}

/// Whether the largest tables can be saved in chunks: the map is a table of its own, in which no two pages share a place.
pub(crate) fn has_chunks(ftl: &Ftl) -> bool {
    matches!(ftl.map.mapping, Mapping::Page(_)) && !ftl.packs()
}

/// Saves the state of the policies.
pub(crate) fn save_policies(out: &mut ImageWriter, ftl: &Ftl) {
    out.nested(|out| ftl.map.mapping.save(out));
    out.nested(|out| {
        ftl.policies.placement.save(out);
        groups::placements(ftl).iter().for_each(|placement| placement.save(out));
    });
    out.nested(|out| ftl.policies.streams.save(out));
    out.nested(|out| ftl.policies.victim.save(out));
    out.nested(|out| ftl.policies.levelling.save(out));
    out.nested(|out| ftl.features.regulation.iter().for_each(|regulation| regulation.save(out)));
}

/// Loads the state into an FTL that was just built.
pub(crate) fn load(
    from: &Snapshot,
    resume: Resume,
    unpack: Unpack,
    ftl: &mut Ftl,
) -> Result<(), Damage> {
    life::forget_factory_bad(ftl);
    fold::forget_data_blocks(ftl);
    if let Some(tables) = ftl.map.mapping.log_mut() {
        tables.begin_load();
    }
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.begin_load();
    }
    let chunks = from.chunks.as_ref();
    from.read(ImagePart::Blocks, resume.random, |from| {
        if ftl.packs() {
            return fragments::image::load_fragments(from, ftl);
        }
        take_packed(chunks, ftl)?;
        load_blocks(from, chunks.is_some(), ftl)?;
        match chunks {
            Some(chunks) if unpack == Unpack::AsNeeded && !reads_everything(ftl) => {
                take_packed_map(chunks, ftl)
            }
            _ => {
                ftl.map.spare.unpack_all()?;
                load_mapping(chunks.is_some(), ftl)
            }
        }
    })?;
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.end_load();
    }
    let left_over =
        from.read(ImagePart::Planes, resume.random, |from| load_planes(from, resume, ftl))?;
    check_places(ftl)?;
    from.read(ImagePart::Closed, resume.random, |from| load_closed(from, &left_over, resume, ftl))?;
    crate::ftl::room::note_streams(resume, ftl);
    life::recount_losses(ftl);
    dies::recount_dead(ftl);
    if let Some(stripes) = &mut ftl.features.stripes {
        stripes.keep_of_closed(&ftl.blocks);
    }
    parity_rebuild::find_exposed(ftl);
    groups::begin(ftl);
    fragments::room::refresh_pack_room(ftl);
    (0..ftl.geometry.planes())
        .map(PlaneId::new)
        .for_each(|at| crate::ftl::room::refresh_writable::<{ skills::ALL }>(at, ftl));
    rebuild::begin_record(ftl);
    Ok(())
}

/// Loads the state of the policies. Those that do not resume start afresh.
pub(crate) fn load_policies(
    from: &mut ImageReader<'_>,
    resume: Resume,
    ftl: &mut Ftl,
) -> Result<(), Damage> {
    take_up(from, resume.mapping, |from| ftl.map.mapping.load(from))?;
    take_up(from, resume.placement, |from| {
        ftl.policies.placement.load(from)?;
        groups::load_placements(from, ftl)
    })?;
    take_up(from, resume.streams, |from| ftl.policies.streams.load(from))?;
    take_up(from, resume.victim, |from| ftl.policies.victim.load(from))?;
    take_up(from, resume.wear, |from| ftl.policies.levelling.load(from))?;
    let regulation = ftl.features.regulation.as_mut();
    take_up(from, resume.cost && regulation.is_some(), |from| {
        regulation.map_or(Ok(()), |regulation| regulation.load(from))
    })
}

/// Takes over the owners of pages that are in chunks.
fn take_packed(chunks: Option<&Chunks>, ftl: &mut Ftl) -> Result<(), Damage> {
    let Some(chunks) = chunks else { return Ok(()) };
    if !has_chunks(ftl) {
        return Err(Damage::new("its tables are in chunks, which this device can't load"));
    }
    if chunks.source().is_none() {
        return Err(Damage::new("its chunks are missing"));
    }
    let (words, length) = (ftl.blocks.units_per_block(), ftl.geometry.physical_pages());
    let owners = ChunkedTable::Owners;
    let owners = PackedTable::new(chunks, owners, words, length, ftl.logical_pages)?;
    ftl.map.spare.take_packed(owners);
    Ok(())
}

/// Takes over the map, which is in chunks.
fn take_packed_map(chunks: &Chunks, ftl: &mut Ftl) -> Result<(), Damage> {
    let Mapping::Page(map) = &mut ftl.map.mapping else { return Ok(()) };
    let (length, most) = (ftl.logical_pages, ftl.geometry.physical_pages());
    let in_chunk = chunks.map_words();
    map.take_packed(PackedTable::new(chunks, ChunkedTable::Map, in_chunk, length, most)?);
    Ok(())
}

/// Whether a load reads the owners of all pages anyway: for what recovery records, or to check where pages lie.
fn reads_everything(ftl: &Ftl) -> bool {
    ftl.keeps_records() || ftl.policies.placement.pools() > 1
}

fn load_blocks(from: &mut ImageReader<'_>, is_chunked: bool, ftl: &mut Ftl) -> Result<(), Damage> {
    let Ftl { geometry, logical_pages, map: Map { mapping, spare, .. }, blocks, .. } = ftl;
    let pages = mapping.dftl().map_or(*logical_pages, Dftl::all_pages);
    blocks.load(geometry, from, |blocks, block, from| {
        if is_chunked {
            let apart = from.flag("whether the owners of a block are in a chunk")?;
            let may_be = blocks.state(block) == BlockState::Closed;
            let has_valid = blocks.valid_pages(geometry, block).next().is_some();
            match (apart, spare.is_packed(block)) {
                (false, false) => {}
                (true, is_packed) if may_be && (is_packed || !has_valid) => return Ok(()),
                _ => return Err(Damage(format!("the owners of {block:?} are in the wrong place"))),
            }
        }
        if mapping.dftl().is_none() && blocks.stream(block).is_of_map() {
            return Err(Damage(format!(
                "{block:?} holds translation pages, but the map is not on flash"
            )));
        }
        spare.load(blocks.valid_pages(geometry, block), pages, from)
    })
}

/// Passes every valid page to the mapping. Those that were in chunks must have owners.
fn load_mapping(is_chunked: bool, ftl: &mut Ftl) -> Result<(), Damage> {
    let Ftl { geometry, map: Map { mapping, spare, .. }, blocks, .. } = ftl;
    for block in (0..geometry.blocks()).map(BlockId::new) {
        for at in blocks.valid_pages(geometry, block) {
            let Some(page) = spare.owner(at) else {
                if is_chunked {
                    return Err(Damage(format!("the valid page at {at:?} belongs to no page")));
                }
                continue;
            };
            if let Some(other) = mapping.commit(page, at) {
                return Err(Damage(format!("{page:?} lies at {other:?} and at {at:?}")));
            }
        }
    }
    Ok(())
}

/// Checks that every page lies where the placement would put it. This need not be so if the device
/// reached the end of its life, when it wrote to wherever there was room, or if pages are packed.
fn check_places(ftl: &Ftl) -> Result<(), Damage> {
    let Ftl { geometry, policies, map: Map { spare, .. }, blocks, .. } = ftl;
    let placement = &policies.placement;
    let moved = dies::blocks_died(ftl);
    if life::must_end(ftl).is_some() || moved || placement.pools() == 1 || ftl.packs() {
        return Ok(());
    }
    for block in (0..geometry.blocks()).map(BlockId::new) {
        let plane = geometry.plane_of(block);
        let pages = blocks.valid_pages(geometry, block).filter_map(|at| spare.owner(at));
        let mut strays = pages.filter(|&page| placement.pool(page) != placement.pool_of(plane));
        if let Some(page) = strays.next() {
            return Err(Damage(format!(
                "{page:?} lies on {plane:?}, where this placement never puts it: a placement by \
                 address only loads images of the same order of levels"
            )));
        }
    }
    Ok(())
}

/// Loads the planes. Returns open blocks that no stream continues.
fn load_planes(
    from: &mut ImageReader<'_>,
    resume: Resume,
    ftl: &mut Ftl,
) -> Result<Vec<BlockId>, Damage> {
    life::load_life(from, ftl)?;
    let mut left_over = Vec::new();
    let StreamCounts { host, copies, .. } = ftl.policies.streams.counts();
    let streams = u32::from(host + copies);
    let own = slc::cache::own_slc_blocks(ftl);
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        let group = ftl.group_of(plane);
        let count = ftl.policies.streams.counts().groups;
        let is_home = |stream: WriteStream| stream.at() as u8 % count == group;
        let Ftl { geometry, blocks, space: Space { planes, .. }, .. } = ftl;
        let check = |block| {
            let on_device = block < geometry.blocks();
            match on_device.then(|| BlockId::new(block)) {
                Some(block) if geometry.plane_of(block) == plane => {
                    let (state, erases) = (blocks.state(block), blocks.erases(block));
                    Ok(Loaded { block, state, programmed: blocks.programmed(block), erases })
                }
                _ => Err(Damage(format!("block {block} is not one of {plane:?}"))),
            }
        };
        let blocks_per_plane = geometry.shape().blocks_per_plane - own;
        let of_map = ftl.map.mapping.dftl().is_some();
        let rewrites =
            ftl.features.regulation.as_ref().is_some_and(|regulation| regulation.rewrites);
        let is_filled = |stream: WriteStream| {
            (stream.at() as u32) < streams && is_home(stream)
                || stream == WriteStream::SLC
                || of_map && stream.is_of_map()
                || rewrites && stream == WriteStream::REWRITES
        };
        let more = planes[plane.at()].load(from, is_filled, blocks_per_plane, check)?;
        life::recount_unused(plane, ftl);
        left_over.extend(more);
    }
    slc::cache::load_slc(from, ftl)?;
    if let Some(tables) = ftl.map.mapping.log_mut() {
        tables.load(&ftl.geometry, &ftl.blocks, from)?;
    }
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        check_plane(plane, &left_over, ftl)?;
    }
    for plane in 0..ftl.space.hungry.len() {
        ftl.space.hungry[plane] = from.flag("whether a plane is hungry")? && resume.collection;
    }
    let fed = from.list(ftl.geometry.planes(), "a plane with something to collect")?;
    if resume.collection {
        ftl.space.fed.extend(fed.into_iter().map(PlaneId::new));
    } else {
        // Other rules may apply: every plane checks again whether it lacks free blocks.
        ftl.space.fed.extend((0..ftl.geometry.planes()).map(PlaneId::new));
    }
    if let Some(state) = &mut ftl.features.superblock {
        let may_fail = ftl.health.life.is_some() || ftl.health.life_after_death.is_some();
        state.members.load(may_fail, from)?;
        if let Some(stripes) = &mut ftl.features.stripes {
            stripes.load(&ftl.blocks, &state.members, from)?;
        }
        if state.members.any_dead() {
            life::begin_after_death(ftl);
        }
    }
    Ok(left_over)
}

/// Checks that every block of a plane is listed once, in its actual state.
fn check_plane(plane: PlaneId, left_over: &[BlockId], ftl: &Ftl) -> Result<(), Damage> {
    let state = &ftl.space.planes[plane.at()];
    let left_over = left_over.iter().filter(|&&block| ftl.geometry.plane_of(block) == plane);
    let mut listed: Vec<BlockId> = state.listed().chain(left_over.copied()).collect();
    listed.extend(slc::cache::free_slc_blocks(plane, ftl));
    listed.extend(merge::audit::open_in_log(plane, ftl));
    let number = listed.len();
    listed.sort_unstable();
    listed.dedup();
    let all = (0..ftl.geometry.shape().blocks_per_plane)
        .map(|index| (index < state.used(), ftl.geometry.block_in(plane, index)));
    let (mut waiting, mut bad, mut dead) = (0, 0, 0);
    for (used, block) in all {
        // Blocks of the SLC cache are listed even if they were never used.
        let own = slc::cache::is_own_slc(block, ftl);
        let used = used || own;
        match ftl.blocks.state(block) {
            BlockState::Bad => bad += u32::from(!own),
            BlockState::Dead => dead += 1,
            _ if used != ftl.blocks.is_used(block) && !own => {
                return Err(Damage(format!(
                    "{block:?} and its plane disagree on whether it was used"
                )));
            }
            BlockState::Free | BlockState::Open | BlockState::Collecting | BlockState::Failing => {
                waiting += usize::from(used);
            }
            BlockState::Closed => {}
        }
    }
    if listed.len() != number || number != waiting {
        return Err(Damage(format!("{plane:?} lists a block twice or not at all")));
    }
    if dead > 0 {
        return check_dead_plane(plane, dead, ftl);
    }
    check_room(plane, bad, ftl)?;
    // Collection needs a block to copy to, until the device has reached its end.
    let ended = life::must_end(ftl).is_some();
    match state.free_blocks() {
        0 if !ended => Err(Damage(format!("{plane:?} has no free block for collection"))),
        _ => Ok(()),
    }
}

/// Checks that a die is dead as a whole, with all its planes and blocks.
fn check_dead_plane(plane: PlaneId, dead: u32, ftl: &Ftl) -> Result<(), Damage> {
    let die = ftl.geometry.die_of(plane);
    let first = |index| ftl.geometry.block_in(ftl.geometry.plane_in(die, index), 0);
    let mut planes = (0..ftl.geometry.planes_per_die()).map(first);
    let whole = dead == ftl.geometry.shape().blocks_per_plane;
    if !whole || !planes.all(|block| ftl.blocks.state(block) == BlockState::Dead) {
        return Err(Damage(format!("die {} is only partly dead", die.get())));
    }
    match ftl.health.life.is_some() {
        true => Ok(()),
        false => Err(Damage(format!(
            "die {} has died: a device on which nothing fails can't go on without it; keep \
             nand.faults as it is in the image",
            die.get()
        ))),
    }
}

/// Checks that a plane has enough good blocks. A device that can fail reaches its end if it has
/// not. On a device without faults, collection must always find something; the configuration was
/// checked for a device without bad blocks.
fn check_room(plane: PlaneId, bad: u32, ftl: &Ftl) -> Result<(), Damage> {
    let leaving = ftl.space.planes[plane.at()].giving_up();
    let lost = bad + leaving.filter(|&block| !slc::cache::is_own_slc(block, ftl)).count() as u32;
    if lost == 0 || ftl.health.life.is_some() {
        return Ok(());
    }
    let good = slc::cache::native_blocks(ftl) - lost;
    let needed = life::least_good_blocks(ftl);
    if good < needed {
        return Err(Damage(format!(
            "{plane:?} has {good} good blocks ({lost} are bad), and {needed} must be good so that \
             collection always finds something: lower ftl.gc.reserve ({} now) or the number of \
             streams, or leave nand.faults as it is in the image",
            ftl.space.thresholds.reserve
        )));
    }
    Ok(())
}

/// After a load, planes on which the host finds no room, although there is something to collect,
/// are woken. No device at rest is left like this, so only a damaged image needs it.
pub(crate) fn wake_planes(ftl: &mut Ftl) -> bool {
    if ftl.map.mapping.has_log() {
        return false;
    }
    let before = ftl.space.fed.len();
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        if !ftl.may_write_any(plane) && collection::has_something_to_collect(plane, ftl) {
            ftl.space.hungry[plane.at()] = false;
            ftl.space.fed.push(plane);
        }
    }
    ftl.space.fed.len() > before
}

/// Loads the order in which blocks closed, and passes them to the victim policy, in its own order
/// if it resumes. Open blocks that no stream continues are closed as they are.
fn load_closed(
    from: &mut ImageReader<'_>,
    left_over: &[BlockId],
    resume: Resume,
    ftl: &mut Ftl,
) -> Result<(), Damage> {
    let blocks = ftl.geometry.blocks();
    let to_blocks = |list: Vec<u32>| list.into_iter().map(BlockId::new).collect::<Vec<_>>();
    let order = to_blocks(from.list(blocks, "a closed block")?);
    ftl.blocks.load_closing(&order)?;
    let mut candidates = Vec::with_capacity(order.len());
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        let list = to_blocks(from.list(blocks, "a candidate for collection")?);
        if let Some(stray) = list.iter().find(|&&block| ftl.geometry.plane_of(block) != plane) {
            return Err(Damage(format!("{stray:?} is a candidate of {plane:?}")));
        }
        candidates.extend(list);
    }
    ftl.map.lost.load(from, ftl.geometry.physical_pages(), ftl.map.spare.full())?;
    // Blocks of a log are merged, so none is a candidate.
    if ftl.map.mapping.has_log() {
        return match candidates.is_empty() {
            true => Ok(()),
            false => Err(Damage::new("a log has candidates for collection")),
        };
    }
    // Cached blocks are not candidates: they are folded in the order of closing.
    let (cached, order): (Vec<BlockId>, Vec<BlockId>) =
        order.into_iter().partition(|&block| ftl.blocks.is_slc(block));
    cached.into_iter().for_each(|block| slc::cache::slc_loaded(block, ftl));
    let (mut sorted, mut closed) = (candidates.clone(), order.clone());
    sorted.sort_unstable();
    closed.sort_unstable();
    if sorted != closed {
        return Err(Damage::new("candidates for collection are not the closed blocks"));
    }
    for block in if resume.victim { candidates } else { order } {
        offer_loaded(block, resume, ftl);
    }
    for &block in left_over {
        let rest = ftl.geometry.units_per_block() - ftl.blocks.programmed(block);
        ftl.blocks.add_programmed(block, rest);
        ftl.blocks.close(block);
        offer_loaded(block, resume, ftl);
    }
    Ok(())
}

/// Passes a closed block to the victim policy. If the streams policy does not resume, it keeps none of them.
fn offer_loaded(block: BlockId, resume: Resume, ftl: &mut Ftl) {
    if resume.streams {
        return kept::offer(block, ftl);
    }
    let plane = ftl.geometry.plane_of(block);
    ftl.policies.victim.closed(&VictimView { plane, blocks: &ftl.blocks }, block);
}
