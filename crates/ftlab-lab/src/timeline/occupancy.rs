//! Who held dies and buses when, from a record.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::slice::Iter;

use ftlab::nand::{Kind, PauseCost};
use ftlab::shape::FlashGeometry;
use ftlab::units::{Nanos, PlaneId, SimTime};

use super::recorder::{DeviceRecord, FlashCommand, FlashPart, Span};

/// How a command holds its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holding {
    /// The cells work for it.
    InCells,
    /// Its data or address is on the bus.
    OnBus,
    /// The register holds its data, which waits for the bus.
    InRegister,
    /// Its operation is being suspended or resumed.
    Switching,
}

/// A span in which a command holds a die or a bus.
#[derive(Clone, Copy, Debug)]
struct Hold {
    from: SimTime,
    until: SimTime,
    by: u64,
    how: Holding,
    /// The plane, if it alone is held.
    plane: Option<PlaneId>,
    /// How long the die then suspends the operation, and resumed it before.
    switching: (Nanos, Nanos),
}

/// Nothing is suspended or resumed.
const NONE: (Nanos, Nanos) = (Nanos::ZERO, Nanos::ZERO);

/// The holds of one die or bus, in the order of their starts.
#[derive(Clone, Debug, Default)]
struct HoldLine {
    holds: Vec<Hold>,
    /// The latest end of a hold and those before it.
    reach: Vec<SimTime>,
}

impl HoldLine {
    /// Adds the time in which a die suspends or resumes operations: as long as either takes, but no longer than the die
    /// does nothing else.
    fn add_switching(&mut self) {
        let mut added = Vec::new();
        let mut last: Option<Hold> = None;
        for hold in &self.holds {
            if let Some(last) = last.filter(|last| last.until < hold.from) {
                let pausing = (last.until + last.switching.0).min(hold.from);
                let resuming = SimTime(hold.from.0.saturating_sub(hold.switching.1.0)).max(pausing);
                for (from, until, by) in
                    [(last.until, pausing, last.by), (resuming, hold.from, hold.by)]
                {
                    let (how, switching, plane) = (Holding::Switching, NONE, None);
                    added.extend((from < until).then_some(Hold {
                        from,
                        until,
                        by,
                        how,
                        plane,
                        switching,
                    }));
                }
            }
            if last.is_none_or(|last| last.until <= hold.until) {
                last = Some(*hold);
            }
        }
        self.holds.append(&mut added);
    }

    fn sort(&mut self) {
        self.holds.sort_by_key(|hold| (hold.from, hold.until, hold.by));
        let mut reach = SimTime::ZERO;
        let longest = |hold: &Hold| {
            reach = reach.max(hold.until);
            reach
        };
        self.reach = self.holds.iter().map(longest).collect();
    }

    /// Returns the holds that overlap a span.
    fn over(&self, from: SimTime, until: SimTime) -> impl Iterator<Item = &Hold> {
        let first = self.reach.partition_point(|reach| *reach <= from);
        let holds = self.holds[first..].iter().take_while(move |hold| hold.from < until);
        holds.filter(move |hold| hold.until > from)
    }
}

/// The holds that last at a time which only grows.
struct OpenHolds<'a> {
    /// Those that begin later, in the order of their starts.
    later: Peekable<Iter<'a, Hold>>,
    /// Those that have begun, the one that counts first. Some of the others may have ended.
    begun: BTreeSet<(Holding, u64, SimTime)>,
}

impl OpenHolds<'_> {
    fn of(holds: &[Hold]) -> OpenHolds<'_> {
        OpenHolds { later: holds.iter().peekable(), begun: BTreeSet::new() }
    }

    /// Returns the hold that counts at a time and for a while after it.
    fn first(&mut self, at: SimTime) -> Option<(Holding, u64)> {
        while let Some(hold) = self.later.next_if(|hold| hold.from <= at) {
            self.begun.insert((hold.how, hold.by, hold.until));
        }
        while self.begun.first().is_some_and(|(.., until)| *until <= at) {
            self.begun.pop_first();
        }
        self.begun.first().map(|&(how, by, _)| (how, by))
    }
}

/// Who held what at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A command held the die.
    Die(u64, Holding),
    /// The die was free, but a command held the bus.
    Bus(u64),
    /// Neither: the die switched between operations, or commands had to keep an order.
    Nobody,
}

/// The holders of all dies and buses.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    dies: BTreeMap<u32, HoldLine>,
    buses: BTreeMap<u32, HoldLine>,
    /// The flash, if its planes sense on their own.
    apart: Option<FlashGeometry>,
}

impl Occupancy {
    /// Collects who held what. `apart` is the flash, if its planes sense on their own.
    #[must_use]
    pub fn of(record: &DeviceRecord, costs: &PauseCost, apart: Option<FlashGeometry>) -> Occupancy {
        let mut all = Occupancy { apart, ..Occupancy::default() };
        for command in record.commands.values() {
            all.add(command, costs);
        }
        all.add_gaps(record);
        all.dies.values_mut().chain(all.buses.values_mut()).for_each(HoldLine::sort);
        for die in all.dies.values_mut() {
            die.add_switching();
            die.sort();
        }
        all
    }

    /// The plane that a command holds, if it alone.
    fn plane_of(&self, command: &FlashCommand) -> Option<PlaneId> {
        let apart = self.apart.as_ref().filter(|_| command.kind == Kind::Read)?;
        Some(apart.plane_of_page(command.page))
    }

    fn add(&mut self, command: &FlashCommand, costs: &PauseCost) {
        let by = command.sequence;
        let plane = self.plane_of(command);
        let die = self.dies.entry(command.die.get()).or_default();
        let mut before: Option<&Span> = None;
        for span in &command.spans {
            let how = match span.part {
                FlashPart::Cells => Holding::InCells,
                FlashPart::Bus => Holding::OnBus,
                // Neither is held meanwhile.
                FlashPart::Decoder | FlashPart::Dram => continue,
            };
            let was_suspended = before.is_some_and(|before| before.suspended);
            // While an operation is suspended, its die serves others.
            if let Some(before) =
                before.filter(|before| !before.suspended && before.until < span.from)
            {
                let (from, until) = (before.until, span.from);
                let how = Holding::InRegister;
                die.holds.push(Hold { from, until, by, how, plane, switching: NONE });
            }
            let pause = if command.kind == Kind::Erase { costs.erase } else { costs.program };
            let or_none = |is: bool, time: Nanos| if is { time } else { Nanos::ZERO };
            let switching = (or_none(span.suspended, pause), or_none(was_suspended, costs.resume));
            die.holds.push(Hold { from: span.from, until: span.until, by, how, plane, switching });
            before = Some(span);
        }
        let bus = self.buses.entry(command.channel.get()).or_default();
        let on_bus = command.spans.iter().filter(|span| span.part == FlashPart::Bus);
        bus.holds.extend(on_bus.map(|span| Hold {
            from: span.from,
            until: span.until,
            by,
            how: Holding::OnBus,
            plane: None,
            switching: NONE,
        }));
    }

    /// Adds the gaps between what moves in for the planes of one operation. Its bus is kept meanwhile.
    fn add_gaps(&mut self, record: &DeviceRecord) {
        let mut operations: BTreeMap<(u32, SimTime), Vec<(Span, &FlashCommand)>> = BTreeMap::new();
        for command in record.commands.values() {
            if let [moves, cells, ..] = command.spans[..]
                && (moves.part, cells.part) == (FlashPart::Bus, FlashPart::Cells)
                && self.plane_of(command).is_none()
            {
                let operation = operations.entry((command.die.get(), cells.from)).or_default();
                operation.push((moves, command));
            }
        }
        for mut moves in operations.into_values() {
            moves.sort_by_key(|(span, _)| span.from);
            for pair in moves.windows(2) {
                let ((before, _), (next, command)) = (pair[0], pair[1]);
                if before.until < next.from {
                    let bus = self.buses.entry(command.channel.get()).or_default();
                    bus.holds.push(Hold {
                        from: before.until,
                        until: next.from,
                        by: command.sequence,
                        how: Holding::OnBus,
                        plane: None,
                        switching: NONE,
                    });
                }
            }
        }
    }

    /// Splits the time in which a command waits by who held what it waited for: the bus alone, to send what it has sensed,
    /// or the die and then the bus.
    #[must_use]
    pub fn split(
        &self,
        waiting: &FlashCommand,
        to_send: bool,
        (from, until): (SimTime, SimTime),
    ) -> Vec<(SimTime, SimTime, Holder)> {
        let plane = self.plane_of(waiting);
        let of = |line: Option<&HoldLine>| -> Vec<Hold> {
            let holds = line.into_iter().flat_map(|line| line.over(from, until));
            let elsewhere =
                |hold: &&Hold| plane.zip(hold.plane).is_some_and(|(own, held)| own != held);
            let others = holds.filter(|hold| hold.by != waiting.sequence && !elsewhere(hold));
            others.copied().collect()
        };
        let die = of(self.dies.get(&waiting.die.get()).filter(|_| !to_send));
        let bus = of(self.buses.get(&waiting.channel.get()));
        let mut edges = vec![from, until];
        let inner = die.iter().chain(&bus).flat_map(|hold| [hold.from, hold.until]);
        edges.extend(inner.filter(|at| (from..until).contains(at)));
        edges.sort_unstable();
        edges.dedup();
        let mut split: Vec<(SimTime, SimTime, Holder)> = Vec::new();
        let (mut on_die, mut on_bus) = (OpenHolds::of(&die), OpenHolds::of(&bus));
        for pair in edges.windows(2) {
            let (from, until) = (pair[0], pair[1]);
            let holder = match (on_die.first(from), on_bus.first(from)) {
                (Some((how, by)), _) => Holder::Die(by, how),
                (None, Some((_, by))) => Holder::Bus(by),
                (None, None) => Holder::Nobody,
            };
            match split.last_mut() {
                Some(last) if last.2 == holder => last.1 = until,
                _ => split.push((from, until, holder)),
            }
        }
        split
    }
}
