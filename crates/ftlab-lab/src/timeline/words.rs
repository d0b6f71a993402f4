//! Words for the pieces of a request's time.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::scheduler::{Kind, Origin};
use ftlab::shape::FlashGeometry;
use ftlab::units::{Nanos, SimTime};
use ftlab_workload::replay::Completed;

use super::occupancy::{Holder, Holding};
use super::recorder::{DeviceRecord, FlashCommand, FlashPart, SeenCollection};
use super::story::{Doing, StoryPiece};
use super::traced::ToldRequest;
use crate::human;

/// Time that went to one thing.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Share {
    /// What it went to.
    pub what: String,
    /// The time.
    #[serde(rename = "ns")]
    pub time: Nanos,
    /// How many flash commands had part in it.
    pub commands: u64,
}

/// How closely things are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// By kind and purpose, to sum over many requests.
    Kinds,
    /// With dies, planes, blocks and buses.
    Places,
}

/// Time of which the record says nothing.
pub(super) const UNTOLD: &str = "what the record does not tell";
/// What waited for no command that is known.
const UNKNOWN: &str = "its turn: room in the write buffer, or what comes later by itself";

/// Names pieces.
pub struct Words<'a> {
    record: &'a DeviceRecord,
    geometry: FlashGeometry,
}

/// The time of pieces by what they went to.
#[derive(Default)]
pub struct Shares(BTreeMap<String, (Nanos, BTreeSet<u64>)>);

impl Shares {
    /// Adds time.
    pub fn add(&mut self, what: String, time: Nanos, command: Option<u64>) {
        if time > Nanos::ZERO {
            let (sum, commands) = self.0.entry(what).or_default();
            *sum += time;
            commands.extend(command);
        }
    }

    /// Returns the shares, the largest first.
    #[must_use]
    pub fn ranked(self) -> Vec<Share> {
        let share = |(what, (time, commands)): (String, (Nanos, BTreeSet<u64>))| Share {
            what,
            time,
            commands: commands.len() as u64,
        };
        let mut shares: Vec<Share> = self.0.into_iter().map(share).collect();
        shares.sort_by(|one, other| other.time.cmp(&one.time).then(one.what.cmp(&other.what)));
        shares
    }
}

impl<'a> Words<'a> {
    /// Names the pieces of a record of a device of this shape.
    #[must_use]
    pub fn new(record: &'a DeviceRecord, geometry: FlashGeometry) -> Words<'a> {
        Words { record, geometry }
    }

    /// Adds all of a request's time to shares, given its story.
    pub fn add(
        &self,
        request: &ToldRequest,
        pieces: &[StoryPiece],
        detail: Detail,
        shares: &mut Shares,
    ) {
        let Completed { completion, arrived, .. } = &request.done;
        let spent = &completion.breakdown;
        let beside_flash = [
            ("a place in the submission queue, in the host", completion.submitted - *arrived),
            ("the controller to fetch it from the submission queue", spent.submission),
            ("the controller's front end", spent.front_end),
            ("its data on the link", spent.link),
            ("its data in DRAM", spent.buffer),
        ];
        for (what, time) in beside_flash {
            shares.add(what.to_owned(), time, None);
        }
        for piece in pieces {
            let (what, command) = self.name(piece, detail);
            shares.add(what, piece.length(), command);
        }
        let told: u64 = pieces.iter().map(|piece| piece.length().0).sum();
        let rest = Nanos(request.in_flash().0.saturating_sub(told));
        shares.add(UNTOLD.to_owned(), rest, None);
    }

    /// Names a piece, and returns the command that its time went to.
    #[must_use]
    pub fn name(&self, piece: &StoryPiece, detail: Detail) -> (String, Option<u64>) {
        let of = piece.of.and_then(|of| self.record.commands.get(&of));
        let Some(of) = of else {
            return (UNKNOWN.to_owned(), None);
        };
        match piece.doing {
            Doing::Works(part) if piece.depth == 0 => (self.work(of, part, detail), piece.of),
            Doing::Works(part) => {
                (format!("what had to be done first: {}", self.work(of, part, detail)), piece.of)
            }
            Doing::Waits(Holder::Die(by, how)) => match self.record.commands.get(&by) {
                Some(holder) => (self.behind(of, holder, how, piece.from, detail), Some(by)),
                None => ("a busy die".to_owned(), Some(by)),
            },
            Doing::Waits(Holder::Bus(by)) => match self.record.commands.get(&by) {
                Some(holder) => (self.bus(of, holder, detail), Some(by)),
                None => ("a busy bus".to_owned(), Some(by)),
            },
            Doing::Waits(Holder::Nobody) => {
                let place = match detail {
                    Detail::Kinds => "its die".to_owned(),
                    Detail::Places => format!("die {}", of.die.get()),
                };
                (format!("{place} between operations, or the order of commands"), None)
            }
            Doing::Before => (UNKNOWN.to_owned(), None),
        }
    }

    /// The work of a command itself.
    fn work(&self, of: &FlashCommand, part: FlashPart, detail: Detail) -> String {
        let what = match (part, of.kind) {
            (FlashPart::Bus, _) => "data on the bus",
            (FlashPart::Decoder, _) => "decoding, or waiting for an engine",
            (FlashPart::Dram, _) => "what was read moving into DRAM, or waiting to",
            (FlashPart::Cells, Kind::Read) => "sensing",
            (FlashPart::Cells, Kind::Program) => "programming",
            (FlashPart::Cells, Kind::Erase) => "erasing",
            (FlashPart::Cells, Kind::Copyback) => "copying within a plane",
        };
        match detail {
            Detail::Kinds => format!("{what}{}", own(of.origin)),
            Detail::Places => format!("{what}{} on die {}", own(of.origin), of.die.get()),
        }
    }

    /// What held the die of a waiting command.
    fn behind(
        &self,
        of: &FlashCommand,
        holder: &FlashCommand,
        how: Holding,
        at: SimTime,
        detail: Detail,
    ) -> String {
        let doing = match how {
            Holding::InCells => "",
            Holding::OnBus => ", on the bus",
            Holding::InRegister => ", waiting for the bus",
            Holding::Switching => ", being suspended or resumed",
        };
        let whose = purpose(holder);
        match detail {
            Detail::Kinds => {
                let plane = |command: &FlashCommand| self.geometry.plane_of_page(command.page);
                let place = match plane(of) == plane(holder) {
                    true => "the same plane",
                    false => "another plane of the die",
                };
                format!("{whose} on {place}{doing}")
            }
            Detail::Places => {
                let collection = self.collection(holder, at);
                let plane = self.geometry.plane_of_page(holder.page).get();
                let told = collection.map_or(String::new(), |one| {
                    format!(
                        " (block {}, {} valid pages, {})",
                        one.victim.get(),
                        human::count(u64::from(one.valid)),
                        one.purpose
                    )
                });
                format!("{whose} on plane {plane}{told}{doing}")
            }
        }
    }

    fn bus(&self, of: &FlashCommand, holder: &FlashCommand, detail: Detail) -> String {
        match detail {
            Detail::Kinds => format!("the bus, busy with {}", purpose(holder)),
            Detail::Places => {
                format!("the bus of channel {}, busy with {}", of.channel.get(), purpose(holder))
            }
        }
    }

    /// The collection that a command belongs to.
    fn collection(&self, of: &FlashCommand, at: SimTime) -> Option<&SeenCollection> {
        if !matches!(of.origin, Origin::Gc | Origin::Wear | Origin::Fold) {
            return None;
        }
        let plane = self.geometry.plane_of_page(of.page);
        let runs = |one: &&SeenCollection| {
            one.plane == plane && one.from <= at && one.until.is_none_or(|until| until >= at)
        };
        self.record.collections.iter().find(runs)
    }
}

/// A remark on work that is not the host's.
const fn own(origin: Origin) -> &'static str {
    match origin {
        Origin::Host => "",
        Origin::ReadModifyWrite => " for a read-modify-write",
        Origin::Gc => " for garbage collection",
        Origin::Wear => " to care for blocks",
        Origin::Fold => " to fold the SLC cache",
        Origin::Rewrite => " to rewrite pages",
        Origin::System => " for the system area",
    }
}

/// A command's kind and purpose, in the plural.
fn purpose(of: &FlashCommand) -> String {
    let kinds = match of.kind {
        Kind::Read => "reads",
        Kind::Program => "programs",
        Kind::Erase => "erases",
        Kind::Copyback => "copybacks",
    };
    match of.origin {
        Origin::Host => format!("{kinds} of the host"),
        other => format!("{kinds}{}", own(other)),
    }
}
