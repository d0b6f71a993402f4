//! The flash as seen by the layers above: commands from preparation to completion, the load of each die, and counts.
//! The [`Dispatcher`](super::dispatch::Dispatcher) makes dies and buses do the work.

mod at_once;
mod image;
mod power;
mod word_lines;

use super::array::{FlashArray, Rules};
use super::command::{Command, CommandId, Origin};
use super::counts::{CommandCounts, CostCounts, Overlaps};
use super::datasheet::Datasheet;
use super::decoder::{Decoder, DecoderSetup};
use super::dispatch::{Dispatcher, Stepped};
use super::history::CellHistory;
use super::laws::FlashLaws;
use super::load::Load;
use super::page_order::PageOrder;
use super::pause::{Pausable, PauseRule};
use super::probe::Probe;
use super::space::Shortage;
use super::station::StationId;
use super::watch::Watch;
use super::{Scheduler, SchedulerPolicy};
use crate::engine::skills::{self, Skills};
use crate::nand::timing::{Bus, Prices, TimingPolicy};
use crate::nand::{Abilities, CostClass, EnergyMeter, Hazards, Kind, Prior, Programmed};
use crate::shape::FlashGeometry;
use crate::units::{DieId, Nanos, Ppn, SimTime};
use crate::verify::{self, Canary, Plant};
pub(crate) use at_once::TimeAtOnce;

/// The setup of a [`Flash`].
#[derive(Clone, Debug)]
pub struct FlashSetup {
    /// The shape of the device.
    pub geometry: FlashGeometry,
    /// Times in the cells.
    pub timing: Prices,
    /// Times on the bus.
    pub bus: Bus,
    /// What the dies can do besides one thing at a time.
    pub abilities: Abilities,
    /// Which operations are suspended for a host read.
    pub pause: PauseRule,
    /// The order of commands.
    pub scheduler: Scheduler,
    /// The assumed state of data from before the run, if the timing knows costs.
    pub prior: Prior,
    /// Whether all commands that come at the same time are known before any of them begins, under any policy.
    pub whole_moments: bool,
    /// Whether a bus moves out data that waits in the dies before it begins anything else.
    pub data_out_first: bool,
    /// Failures, except programs and erases that fail by chance. `None` if nothing fails.
    pub hazards: Option<Hazards>,
    /// Engines that decode what is read. `None` if that takes no time.
    pub decoder: Option<DecoderSetup>,
    /// Whether what is read then has to cross the DRAM, which the layers above let it do.
    pub reads_cross_dram: bool,
}

/// The flash with everything that waits for it.
#[derive(Clone, Debug)]
pub struct Flash<P = ()> {
    dispatcher: Dispatcher<P>,
    /// The read that came further behind its die with the last event.
    came_further: Option<Further>,
    /// Whether what is read has to cross the DRAM.
    reads_cross_dram: bool,
    /// Used by dynamic placement to balance the dies.
    load: Load,
    done: CommandCounts,
    costs: CostCounts,
}

/// How far a read has come whose page is no longer in its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Further {
    /// Its page has left the die, which goes on.
    LeftDie(CommandId),
    /// Its page is decoded as well, if decoding takes time: it may cross the DRAM.
    Decoded(CommandId),
}

impl<P: Probe> Flash<P> {
    /// Returns an idle flash.
    pub fn new(setup: FlashSetup, probe: P) -> Flash<P> {
        let FlashSetup { geometry, timing, bus, abilities, .. } = setup;
        let FlashSetup { pause, scheduler, prior, whole_moments, data_out_first, hazards, .. } =
            setup;
        let decoder =
            setup.decoder.map(|engines| Box::new(Decoder::new(engines, geometry.channels())));
        let sheet = Datasheet::new(geometry, timing, bus, abilities);
        let rules = Rules {
            pause,
            bus_order: scheduler.bus_order(),
            data_out_first,
            overtaking: scheduler.overtaking() || whole_moments,
        };
        let load = Load::of_flash(&sheet.geometry);
        let cells = CellHistory::new(&sheet, prior, hazards);
        let mut array = FlashArray::new(sheet, rules, cells);
        let dies = array.sheet.geometry.dies();
        array.shortage =
            scheduler.follows_space().map(|limits| Box::new(Shortage::new(limits, dies)));
        let dispatcher = Dispatcher::new(array, scheduler, decoder, Watch { probe, laws: None });
        let (done, costs) = (CommandCounts::default(), CostCounts::default());
        let reads_cross_dram = setup.reads_cross_dram;
        let mut flash =
            Flash { dispatcher, came_further: None, reads_cross_dram, load, done, costs };
        let in_turn = skills::in_turn(flash.skills());
        flash.dispatcher.array.wait_in_turn(in_turn);
        flash
    }

    /// Which [`skills`] it has.
    pub(crate) fn skills(&self) -> Skills {
        let FlashArray { sheet, rules, cells, page_order, apart, shortage, .. } =
            &self.dispatcher.array;
        let Abilities { cache, one_die_at_a_time, .. } = &sheet.abilities;
        let rare = [
            *one_die_at_a_time,
            page_order.is_some(),
            cells.matters(),
            rules.data_out_first,
            sheet.bus.carries_commands(),
            sheet.timing.word_line.is_some(),
            sheet.geometry.superblocks().is_some(),
            self.dispatcher.decoder.is_some(),
            apart.is_some(),
            self.reads_cross_dram,
        ];
        skills::those(&[
            (sheet.serves_planes_together(), skills::MULTI_PLANE),
            (cache.read || cache.program, skills::CACHE_OPS),
            (rules.overtaking || rules.pause.which != Pausable::None, skills::OVERTAKING),
            (rare.contains(&true), skills::RARE_ON_FLASH),
            (!sheet.timing.native.is_flat(), skills::TIMES),
            (shortage.is_some(), skills::RARE),
        ])
    }

    /// The shape of the device.
    #[inline]
    pub fn geometry(&self) -> &FlashGeometry {
        &self.dispatcher.array.sheet.geometry
    }

    /// Times on the bus.
    #[inline]
    pub fn bus(&self) -> &Bus {
        &self.dispatcher.array.sheet.bus
    }

    /// From now on, keeps accesses to a flash page in order under every policy, because pages may be programmed in
    /// place.
    pub fn keep_page_order(&mut self) {
        self.dispatcher.array.page_order = Some(Box::<PageOrder>::default());
        self.dispatcher.array.wait_in_turn(false);
        if let Some(laws) = self.laws_mut() {
            laws.program_in_place();
        }
    }

    /// From now on, lets pages of a block be skipped; they cannot be programmed before the next erase.
    pub(crate) fn leave_pages_out(&mut self) {
        if let Some(laws) = self.laws_mut() {
            laws.leave_pages_out();
        }
    }

    /// Whether commands have deadlines.
    #[must_use]
    pub fn has_deadlines(&self) -> bool {
        self.dispatcher.scheduler.has_deadlines()
    }

    /// Whether the policy wants to know [how many blocks are free](Self::note_free_blocks).
    #[must_use]
    pub fn follows_space(&self) -> bool {
        self.dispatcher.array.shortage.is_some()
    }

    /// Notes the free blocks of the plane of a die that has the fewest; none if space is no concern.
    pub fn note_free_blocks(&mut self, die: DieId, free_blocks: Option<u32>) {
        if let Some(shortage) = &mut self.dispatcher.array.shortage {
            shortage.note(die, free_blocks);
        }
    }

    /// Whether a flash page programmed in native mode has more errors by now than any effort corrects: by its age, the
    /// wear of its block, and what was read there.
    #[must_use]
    pub fn is_worn_off(&self, page: Ppn, now: SimTime) -> bool {
        let array = &self.dispatcher.array;
        array.cells.is_worn_off(&array.sheet, page, now)
    }

    /// Number of commands that wait or run on each die.
    #[inline]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Commands done, by origin and kind.
    pub fn done(&self) -> &CommandCounts {
        &self.done
    }

    /// Costs of the commands done.
    #[must_use]
    pub fn costs(&self) -> &CostCounts {
        &self.costs
    }

    /// How often dies did more than one thing at a time.
    pub fn overlaps(&self) -> &Overlaps {
        &self.dispatcher.overlaps
    }

    /// What the energy of the flash is made of.
    pub fn energy_meter(&self) -> EnergyMeter {
        let Dispatcher { array, cell_time, .. } = &self.dispatcher;
        EnergyMeter { draws: array.sheet.abilities.draws, cells: *cell_time }
    }

    /// Busy time of each die until `now`.
    pub fn die_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        let array = &self.dispatcher.array;
        array.dies().map(move |die| array.die_busy_until(now, die))
    }

    /// Busy time of each bus until `now`.
    pub fn channel_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.dispatcher.array.lines.iter().map(move |line| line.channel.busy_until(now))
    }

    /// The time that the engines of each pool have decoded until `now`, together; none if decoding takes no time.
    pub fn decoders_busy(&self, now: SimTime) -> impl Iterator<Item = Nanos> {
        self.dispatcher.decoder.iter().flat_map(move |decoder| decoder.busy(now))
    }

    /// Engines of a pool, or `None` if decoding takes no time.
    pub fn engines_of_pool(&self) -> Option<u32> {
        self.dispatcher.decoder.as_ref().map(|decoder| decoder.engines())
    }

    /// The observer of every span of activity.
    pub fn probe(&self) -> &P {
        &self.dispatcher.watch.probe
    }

    /// The same observer, to be changed.
    #[inline(always)]
    pub fn probe_mut(&mut self) -> &mut P {
        &mut self.dispatcher.watch.probe
    }

    /// The laws of flash, in devices that check themselves.
    #[inline]
    pub(crate) fn laws(&self) -> Option<&FlashLaws> {
        self.dispatcher.watch.laws.as_deref().filter(|_| verify::ON)
    }

    /// From now on, checks the laws of flash.
    pub(crate) fn check_laws(&mut self) {
        let FlashArray { sheet, rules, .. } = &self.dispatcher.array;
        self.dispatcher.watch.laws = Some(Box::new(laws_for(sheet, rules)));
    }

    /// The laws, to be told facts that they cannot observe.
    pub(crate) fn laws_mut(&mut self) -> Option<&mut FlashLaws> {
        self.dispatcher.watch.laws.as_deref_mut()
    }

    /// The bug that was planted here.
    #[inline]
    pub(crate) fn plant(&self) -> Plant {
        self.dispatcher.array.plant
    }

    pub(crate) fn plant_mut(&mut self) -> &mut Plant {
        &mut self.dispatcher.array.plant
    }

    /// The history of the cells.
    #[inline]
    pub(crate) fn cells(&self) -> &CellHistory {
        &self.dispatcher.array.cells
    }

    /// The history of the cells, to be changed by code that knows more.
    #[inline]
    pub(crate) fn cells_mut(&mut self) -> &mut CellHistory {
        &mut self.dispatcher.array.cells
    }

    /// The cost at which flash pages were programmed, if the timing knows costs.
    #[inline]
    #[must_use]
    pub fn programmed(&self) -> Option<&Programmed> {
        self.cells().programmed.as_deref()
    }

    /// Failures, or `None` if nothing fails, or only programs and erases by chance.
    #[must_use]
    pub fn hazards(&self) -> Option<&Hazards> {
        self.cells().hazards.as_deref()
    }

    /// The cost class of the flash page that contains a page.
    #[inline]
    #[must_use]
    pub fn class_at(&self, page: Ppn) -> CostClass {
        self.cells().class_at(self.geometry(), page)
    }

    /// A command in flight.
    #[inline]
    pub fn command(&self, id: CommandId) -> &Command {
        &self.dispatcher.array.commands[id]
    }

    /// A command in flight, which its owner may change before it is submitted.
    #[inline]
    pub fn command_mut(&mut self, id: CommandId) -> &mut Command {
        &mut self.dispatcher.array.commands[id]
    }

    /// Adds a command without submitting it: its place or its inputs are still missing.
    #[inline]
    pub fn prepare(&mut self, command: Command) -> CommandId {
        self.prepare_with(|| command)
    }

    /// The same, but the command is constructed in place.
    #[inline(always)]
    pub fn prepare_with(&mut self, make: impl FnOnce() -> Command) -> CommandId {
        self.dispatcher.array.commands.insert_with(make)
    }

    /// Number of commands in flight, including prepared ones.
    pub fn in_flight(&self) -> usize {
        self.dispatcher.array.commands.in_use()
    }

    /// Frees a command that was reported done.
    #[inline]
    pub fn release(&mut self, id: CommandId) {
        self.dispatcher.array.commands.release(id);
    }

    /// Appends a command that has not been submitted to a row, after `last`.
    pub fn link(&mut self, last: CommandId, id: CommandId) {
        self.command_mut(last).ticket.next = Some(id);
    }

    /// The next command of a row that has not been submitted.
    pub fn next_of_row(&self, id: CommandId) -> Option<CommandId> {
        self.command(id).ticket.next
    }

    /// The die of a command that was submitted.
    #[inline]
    pub fn die_of(&self, id: CommandId) -> DieId {
        self.command(id).ticket.die
    }

    /// Puts a command whose page is known into the lane of its die, and starts it if possible.
    pub fn submit(&mut self, now: SimTime, id: CommandId) {
        self.submit_with::<{ skills::ALL }>(now, id);
    }

    /// The same, for a flash with these skills at most.
    #[inline]
    pub fn submit_with<const S: Skills>(&mut self, now: SimTime, id: CommandId) {
        if skills::in_turn(S) {
            return self.dispatcher.come_in_turn::<S>(now, id, &mut self.load);
        }
        let (die, host_read) = self.enqueue::<S>(now, id);
        self.dispatcher.arrived::<S>(now, StationId::of(die));
        if skills::any(S, skills::OVERTAKING) && host_read {
            self.dispatcher.pause_for_read(now, StationId::of(die));
        }
    }

    /// Submits a row of programs. All of them wait for their die before it starts any, so it finds them together.
    pub fn submit_row<const S: Skills>(&mut self, now: SimTime, row: &[CommandId]) {
        for &id in row {
            self.enqueue::<S>(now, id);
        }
        for &id in row {
            self.dispatcher.arrived::<S>(now, StationId::of(self.die_of(id)));
        }
    }

    /// Puts a command into the lane of its die. Returns the die, and whether it is a host read.
    #[inline(always)]
    fn enqueue<const S: Skills>(&mut self, now: SimTime, id: CommandId) -> (DieId, bool) {
        let Flash { dispatcher, load, .. } = self;
        let arrival = dispatcher.enqueue::<S>(now, id);
        let command = &dispatcher.array.commands[id];
        dispatcher.watch.submitted(now, id, command, load.of(arrival.die));
        load.add::<S>(arrival.die);
        (arrival.die, arrival.kind == Kind::Read && arrival.origin == Origin::Host)
    }

    /// The time of the next event.
    #[inline]
    pub fn next_time(&self) -> Option<SimTime> {
        self.dispatcher.events.next_time()
    }

    /// Runs the next event on any flash: see [`step_with`](Self::step_with).
    pub fn step(&mut self) -> Option<(SimTime, CommandId)> {
        self.step_with::<{ skills::ALL }>()
    }

    /// Runs the next event. Returns the command that it completed, if any; commands that the same operation
    /// completed are linked to it ([`next_completed`](Self::next_completed)). The caller handles each,
    /// [`release`](Self::release)s it, and then lets the die [`go_on`](Self::go_on).
    #[inline]
    pub fn step_with<const S: Skills>(&mut self) -> Option<(SimTime, CommandId)> {
        let Stepped { now, first, decoded } = self.dispatcher.step::<S>()?;
        if skills::any(S, skills::RARE_ON_FLASH)
            && (self.reads_cross_dram || self.decodes())
            && (decoded || self.command(first).is_read_with_data())
        {
            return self.read_goes_further::<S>(now, first, decoded);
        }
        let mut next = Some(first);
        while let Some(id) = next {
            self.count_done::<S>(now, id);
            next = self.companion::<S>(id);
        }
        Some((now, first))
    }

    /// A read whose data is decoded, or moves into DRAM, has left its die or the decoder. Returns it if it is done.
    #[inline(never)]
    fn read_goes_further<const S: Skills>(
        &mut self,
        now: SimTime,
        id: CommandId,
        decoded: bool,
    ) -> Option<(SimTime, CommandId)> {
        match (decoded, self.reads_cross_dram) {
            (false, _) => self.leave_die::<S>(now, id),
            (true, true) => self.came_further = Some(Further::Decoded(id)),
            (true, false) => {
                self.count_read(now, id);
                return Some((now, id));
            }
        }
        None
    }

    /// Whether decoding takes time.
    #[inline]
    pub(crate) fn decodes(&self) -> bool {
        self.dispatcher.decoder.is_some()
    }

    /// A page has left its die, which goes on. The command is done when the page is decoded and in DRAM.
    fn leave_die<const S: Skills>(&mut self, now: SimTime, id: CommandId) {
        if self.cells().matters() {
            self.note_cells(now, id);
        }
        let die = self.die_of(id);
        self.load.remove::<S>(die);
        self.dispatcher.hand_to_decoder(now, id);
        self.came_further = Some(Further::LeftDie(id));
        self.dispatcher.start::<S>(now, StationId::of(die));
    }

    /// The read that came further with the last event.
    // Nearly always there is none, and looking is cheaper than clearing.
    #[inline]
    pub(crate) fn take_further(&mut self) -> Option<Further> {
        if self.came_further.is_some() { self.came_further.take() } else { None }
    }

    /// What was read moves into DRAM from now until then.
    pub(crate) fn moves_into_dram(&mut self, now: SimTime, id: CommandId, until: SimTime) {
        let Dispatcher { array, watch, .. } = &mut self.dispatcher;
        array.commands[id].spent.bus += until - now;
        watch.filling_dram(array, id, now, until);
    }

    /// Counts a read that is done some time after its page has left the die.
    pub(crate) fn count_read(&mut self, now: SimTime, id: CommandId) {
        let command = &self.dispatcher.array.commands[id];
        self.done[command.origin as usize][command.kind as usize] += 1;
        self.dispatcher.watch.done(now, id, command);
    }

    /// The next command that was completed together with this one, if any.
    #[inline]
    pub fn next_completed(&self, id: CommandId) -> Option<CommandId> {
        self.command(id).ticket.next
    }

    /// The same, for a flash with these skills at most.
    #[inline(always)]
    pub fn companion<const S: Skills>(&self, id: CommandId) -> Option<CommandId> {
        self.dispatcher.array.companion::<S>(id)
    }

    /// Lets the die of a completed command take its next one, on any flash.
    pub fn go_on(&mut self, now: SimTime, die: DieId) {
        self.go_on_with::<{ skills::ALL }>(now, die);
    }

    /// Lets the die of a completed command take its next one.
    #[inline]
    pub fn go_on_with<const S: Skills>(&mut self, now: SimTime, die: DieId) {
        self.dispatcher.start::<S>(now, StationId::of(die));
    }

    #[inline]
    fn count_done<const S: Skills>(&mut self, now: SimTime, id: CommandId) {
        if skills::any(S, skills::RARE_ON_FLASH) && self.cells().matters() {
            self.note_cells(now, id);
        }
        let FlashArray { commands, plant, .. } = &self.dispatcher.array;
        let command = &commands[id];
        let erases = |canary| command.kind == Kind::Erase && plant.is(canary);
        let (drifts, forgotten) = (erases(Canary::LoadDrifts), erases(Canary::EraseNotCounted));
        if !drifts {
            self.load.remove::<S>(command.ticket.die);
        }
        if !forgotten {
            self.done[command.origin as usize][command.kind as usize] += 1;
        }
        self.dispatcher.watch.done(now, id, command);
    }

    /// Records what a command that is done met in the cells, and its cost.
    #[inline(never)]
    fn note_cells(&mut self, now: SimTime, id: CommandId) {
        let FlashArray { cells, sheet, commands, plant, .. } = &mut self.dispatcher.array;
        let command = &mut commands[id];
        cells.meet_hazards(sheet, now, command);
        // The system area is not in the map, and its costs are not counted.
        if cells.programmed.is_some() && command.origin != Origin::System {
            let lost = plant.is(Canary::ClassOfCopyLost) && command.is_gc();
            let known = if lost { CostClass::default() } else { command.class() };
            cells.note_class(sheet, now, command, known);
            self.costs.count(command);
        }
    }
}

/// Returns the laws for a flash with this data sheet and these rules.
fn laws_for(sheet: &Datasheet, rules: &Rules) -> FlashLaws {
    let mut laws = FlashLaws::new(&sheet.geometry, &sheet.abilities, &sheet.bus);
    if sheet.reliability().is_none() {
        laws.classes_decide_reads();
    }
    if rules.data_out_first {
        laws.move_data_out_first();
    }
    laws
}
