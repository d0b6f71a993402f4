//! Collection on failing flash: copies that are programmed again, blocks that are emptied because a
//! program on them failed, and what happens without room to copy to.

use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::gc::{Collector, Purpose, Wanted, collection, kept};
use crate::ftl::wear::{dies, failing, life};
use crate::ftl::{BlockState, FlashContents, Ftl, Kernel, lost, map_pages, slc};
use crate::scheduler::{Command, CommandId, Kind, Note, Probe};
use crate::units::{PlaneId, Ppn};

/// Requests the collection of failed blocks.
#[cold]
pub(in crate::ftl) fn want_failed(ftl: &mut Ftl) {
    while let Some(block) = ftl.health.failed.pop() {
        let plane = ftl.geometry.plane_of(block);
        ftl.space.planes[plane.at()].wanted.push_back(Wanted { block, purpose: Purpose::Retire });
    }
}

/// Ends a collection that found no room. The victim keeps its remaining pages.
fn end_stranded(plane: PlaneId, ftl: &mut Ftl) {
    let Some(run) = ftl.space.planes[plane.at()].collection.take() else { return };
    let victim = run.victim();
    collection::tell_streams(&run, false, ftl);
    if run.purpose().frees_block() {
        ftl.blocks.set_state(victim, BlockState::Closed);
        match ftl.blocks.is_slc(victim) {
            true => slc::cache::slc_stays(victim, ftl),
            false => kept::offer(victim, ftl),
        }
    } else {
        ftl.blocks.set_state(victim, BlockState::Failing);
        let wanted = Wanted { block: victim, purpose: Purpose::Retire };
        ftl.space.planes[plane.at()].wanted.push_front(wanted);
    }
    // The pages that it has moved lie elsewhere now, so their translation pages are due.
    map_pages::update_map_of(plane, ftl);
    crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
}

/// Ends a collection that found no room, and says so.
fn give_up(plane: PlaneId, on: &mut Kernel<impl Probe, impl FlashContents>) {
    end_stranded(plane, &mut on.ftl);
    on.flash.probe_mut().note(on.now, Note::Collected { plane });
}

impl Collector {
    /// Empties failed blocks that are not filled any more.
    pub fn empty_failed<const S: Skills>(
        &mut self,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        while let Some(&block) = on.ftl.health.failed.last() {
            want_failed(&mut on.ftl);
            self.start_wanted::<S>(on.ftl.geometry.plane_of(block), on);
        }
    }

    /// The program of a copy failed: its pages are still on the victim, and are copied elsewhere.
    pub(super) fn copy_again<const S: Skills>(
        &mut self,
        plane: PlaneId,
        failed: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Command { kind, origin, owner, page, units, codewords, source, mode, .. } =
            *on.flash.command(failed);
        let mut program = Command::new(kind, origin, owner, page).in_mode(mode);
        (program.units, program.codewords, program.source) = (units, codewords, source);
        let program = on.flash.prepare(program);
        self.sources.copy_row(failed, program);
        want_failed(&mut on.ftl);
        if let Some(row) = self.rows.get_mut(plane.at()) {
            row.reading += 1;
        }
        self.copy_is_read::<S>(plane, program, on);
    }

    /// A command of a collection ended on a dead die, and the collection with it. The pages to be copied stay where
    /// they were, and a program that waits for the last of its reads never begins.
    pub(super) fn lost_with_die(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Command { kind, then, page, .. } = *on.flash.command(id);
        match kind {
            Kind::Read => {
                if let Some(program) = then {
                    on.flash.command_mut(program).waits_for -= 1;
                    if on.flash.command(program).waits_for > 0 {
                        return;
                    }
                    on.flash.release(program);
                }
                self.lost_for_row(plane, on);
            }
            Kind::Program | Kind::Copyback => {
                failing::program_fails::<{ skills::ALL }>(
                    page,
                    true,
                    &mut on.contents,
                    &mut on.ftl,
                );
            }
            Kind::Erase => {
                failing::erase_fails(on.ftl.geometry.block_of(page), true, &mut on.ftl);
            }
        }
    }

    /// Places a copy whose pages are read, and programs it.
    pub(super) fn place_copy<const S: Skills>(
        &mut self,
        plane: PlaneId,
        program: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Some(first) =
            crate::ftl::room::place_copy::<S>(plane, self.source(program, 0), &mut on.ftl)
        else {
            return self.strand::<S>(plane, program, on);
        };
        for unit in 0..skills::units_of_page(S, on.flash.command(program).units) {
            let from = self.source(program, unit);
            let to = Ppn::new(first.get() + unit);
            collection::record_collected::<S>(from, to, &mut on.ftl);
            lost::carry::<S>(from, to, &mut on.contents, &mut on.ftl);
        }
        on.flash.command_mut(program).page = first;
        if skills::any(S, skills::RARE) && on.ftl.regulation().is_some() {
            self.regulate::<S>(program, on);
        }
        if skills::any(S, skills::RARE) && !self.rows.is_empty() {
            return self.put_in_row(plane, program);
        }
        self.submit::<S>(plane, program, on);
    }

    /// There is no room for a copy, because failures took it. The plane collects no more. If its die is dead, its
    /// collection has ended already, and there may be room elsewhere.
    #[cold]
    fn strand<const S: Skills>(
        &mut self,
        plane: PlaneId,
        program: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        assert!(on.ftl.health.life.is_some(), "the reserve leaves collection a free block");
        on.flash.release(program);
        if dies::is_dead_plane(plane, &on.ftl) {
            return;
        }
        life::note_no_room(&mut on.ftl);
        let Some(run) = on.ftl.space.planes[plane.at()].collection.as_mut() else { return };
        run.in_flight -= 1;
        run.stranded = true;
        if run.in_flight == 0 {
            give_up(plane, on);
        }
    }

    /// A copy is done. Returns whether its collection found no room for another one; ends it when no copy is in flight.
    #[inline]
    pub(super) fn wind_up<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> bool {
        let run = on.ftl.space.planes[plane.at()].collection.as_ref();
        let Some(run) = run.filter(|run| run.stranded) else { return false };
        if run.in_flight == 0 {
            give_up(plane, on);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Layer};
    use crate::device::DeviceSetup;
    use crate::ftl::gc::wanted;
    use crate::ftl::mapping::MappingPolicy;
    use crate::ftl::streams::WriteStream;
    use crate::units::{BlockId, Lpn};

    /// One plane, on which programs can fail.
    const SMALL: [&str; 7] = [
        "nand.channels=1",
        "nand.chips_per_channel=1",
        "nand.dies_per_chip=1",
        "nand.planes_per_die=1",
        "nand.blocks_per_plane=24",
        "nand.pages_per_block=8",
        "nand.faults.program_failures=1",
    ];
    const PLANE: PlaneId = PlaneId::new(0);

    fn ftl(more: &[&str]) -> Ftl {
        let sets = SMALL.iter().chain(more).zip(1..).map(|(set, number)| Layer::set(number, set));
        let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
        let config = Config::load(&layers).expect("it is sound");
        Ftl::new(DeviceSetup::new(&config, 1).ftl)
    }

    /// An FTL, and a block of it that is full of valid pages.
    fn written() -> (Ftl, BlockId) {
        let mut ftl = ftl(&[]);
        assert_eq!(ftl.geometry.units_per_page(), 1);
        let places = (0..ftl.geometry.units_per_block()).map(Lpn::new).map(|page| {
            let at = crate::ftl::room::take_page::<{ skills::ALL }>(
                PLANE,
                WriteStream::new(0),
                0,
                &mut ftl,
            )
            .expect("there is room");
            ftl.record::<{ skills::ALL }>(at, page, ftl.full_page());
            ftl.commit::<{ skills::ALL }>(page, at);
            ftl.programmed_for_host::<{ skills::ALL }>(at, 1);
            ftl.geometry.block_of(at)
        });
        let blocks: Vec<BlockId> = places.collect();
        assert!(blocks.iter().all(|&block| block == blocks[0]));
        assert_eq!(ftl.blocks.state(blocks[0]), BlockState::Closed);
        (ftl, blocks[0])
    }

    /// Like [`written`], after a collection of that block found no room.
    fn stranded(purpose: Purpose) -> (Ftl, BlockId) {
        let (mut ftl, block) = written();
        assert!(wanted::want(Wanted { block, purpose }, &mut ftl));
        let wanted = collection::next_to_collect(PLANE, &mut ftl).expect("it is asked for");
        collection::begin_collection(PLANE, wanted, &mut ftl);
        end_stranded(PLANE, &mut ftl);
        assert!(ftl.space.planes[PLANE.at()].collection.is_none());
        assert_eq!(ftl.blocks.valid(block), ftl.geometry.units_per_block(), "it keeps what it has");
        (ftl, block)
    }

    fn lost_blocks(ftl: &Ftl) -> u32 {
        ftl.life().expect("programs can fail").losses().grown_bad
    }

    #[test]
    fn a_stranded_victim_that_was_to_be_erased_is_a_candidate_again() {
        for purpose in [Purpose::Space, Purpose::Background, Purpose::WearLevel] {
            let (mut ftl, block) = stranded(purpose);
            assert_eq!(ftl.blocks.state(block), BlockState::Closed, "{purpose:?}");
            assert!(!wanted::has_wanted(PLANE, &ftl), "{purpose:?}");
            assert_eq!(lost_blocks(&ftl), 0, "{purpose:?}");
            ftl.trim(Lpn::new(0));
            let next = collection::next_to_collect(PLANE, &mut ftl);
            assert_eq!(next, Some(Wanted { block, purpose: Purpose::Space }), "{purpose:?}");
        }
    }

    #[test]
    fn a_stranded_victim_that_is_given_up_waits_to_be_emptied() {
        let (mut ftl, block) = stranded(Purpose::Retire);
        assert_eq!(ftl.blocks.state(block), BlockState::Failing);
        // The loss of a block that fails was already counted when it failed.
        assert_eq!(lost_blocks(&ftl), 0);
        let next = collection::next_to_collect(PLANE, &mut ftl);
        assert_eq!(next, Some(Wanted { block, purpose: Purpose::Retire }));
    }

    #[test]
    fn the_map_on_flash_learns_what_a_stranded_collection_moved() {
        let mut ftl = ftl(&["ftl.mapping.policy=dftl", "ftl.over_provisioning=70%"]);
        let wanted = Wanted { block: BlockId::new(0), purpose: Purpose::Space };
        collection::begin_collection(PLANE, wanted, &mut ftl);
        let map = ftl.map.mapping.dftl_mut().expect("the map is on flash");
        map.copied(PLANE, Lpn::new(0), true);
        assert!(map_pages::map_is_behind(PLANE, &ftl));
        end_stranded(PLANE, &mut ftl);
        assert!(!map_pages::map_is_behind(PLANE, &ftl));
        let map = ftl.map.mapping.dftl_mut().expect("the map is on flash");
        assert!(map.next_due().is_some(), "the translation page of the page that was moved");
    }
}
