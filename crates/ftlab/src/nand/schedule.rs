//! Faults at given times: what they are, and how they are written.
//!
//! Times are those of the simulation; a fault whose time is past when a device begins happens at once. What counts
//! is when the flash is done with something: a command that ends when its die dies, or later, has failed. Numbers
//! are those of the geometry: flash pages are counted over the device, block by block, then plane by plane, then
//! die by die.

use std::ops::Range;

use super::Kind;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::value::{Item, Value, ValueError, ValueKind};
use crate::shape::FlashGeometry;
use crate::units::Nanos;

/// The blocks in which an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// All blocks of a plane.
    Plane(u32),
    /// One block.
    Block(u32),
}

/// What becomes unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSpot {
    /// A block.
    Block(u32),
    /// A flash page.
    Page(u32),
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A die stops responding: its current command fails, and so does any later one.
    DieDies(u32),
    /// The next program fails, once.
    ProgramFails(Area),
    /// The next erase fails, once.
    EraseFails(Area),
    /// The data cannot be read until its block is erased.
    Unreadable(FaultSpot),
}

/// A fault and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The time, since the device was new.
    pub at: Nanos,
    /// The fault.
    pub fault: Fault,
}

/// How faults are written.
const FORMS: &str = "write one of: \"2s: die 3 dies\", \"2s: next program of block 17 fails\" (or of plane), \
                     \"2s: next erase of block 17 fails\" (or of plane), \"2s: page 1234 is unreadable\" (or block)";

impl Area {
    /// Whether a block of a plane is in the area.
    pub(super) fn holds(self, block: u32, plane: u32) -> bool {
        match self {
            Area::Plane(number) => number == plane,
            Area::Block(number) => number == block,
        }
    }

    fn parse(kind: &str, number: u32) -> Option<Area> {
        match kind {
            "plane" => Some(Area::Plane(number)),
            "block" => Some(Area::Block(number)),
            _ => None,
        }
    }

    fn print(self) -> String {
        match self {
            Area::Plane(number) => format!("plane {number}"),
            Area::Block(number) => format!("block {number}"),
        }
    }
}

impl FaultSpot {
    pub(super) fn flash_pages(self, geometry: &FlashGeometry) -> Range<u32> {
        let per_block = geometry.shape().pages_per_block;
        match self {
            FaultSpot::Block(block) => block * per_block..(block + 1) * per_block,
            FaultSpot::Page(page) => page..page + 1,
        }
    }
}

impl Fault {
    /// The part of the device that it names, and its number.
    #[must_use]
    pub const fn names(self) -> (&'static str, u32) {
        match self {
            Fault::DieDies(die) => ("die", die),
            Fault::ProgramFails(Area::Plane(plane)) | Fault::EraseFails(Area::Plane(plane)) => {
                ("plane", plane)
            }
            Fault::ProgramFails(Area::Block(block))
            | Fault::EraseFails(Area::Block(block))
            | Fault::Unreadable(FaultSpot::Block(block)) => ("block", block),
            Fault::Unreadable(FaultSpot::Page(page)) => ("page", page),
        }
    }

    /// Whether it is permanent.
    #[must_use]
    pub const fn is_for_good(self) -> bool {
        matches!(self, Fault::DieDies(_))
    }

    /// Whether it makes blocks unusable.
    #[must_use]
    pub const fn costs_blocks(self) -> bool {
        !matches!(self, Fault::Unreadable(_))
    }

    /// Whether the next operation of this kind on this block fails.
    pub(super) fn fails(self, kind: Kind, block: u32, plane: u32) -> bool {
        match self {
            Fault::ProgramFails(area) => kind.programs() && area.holds(block, plane),
            Fault::EraseFails(area) => kind == Kind::Erase && area.holds(block, plane),
            Fault::DieDies(_) | Fault::Unreadable(_) => false,
        }
    }

    fn parse(text: &str) -> Option<Fault> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().ok();
        match *words.as_slice() {
            ["die", die, "dies"] => Some(Fault::DieDies(number(die)?)),
            ["next", "program", "of", kind, at, "fails"] => {
                Area::parse(kind, number(at)?).map(Fault::ProgramFails)
            }
            ["next", "erase", "of", kind, at, "fails"] => {
                Area::parse(kind, number(at)?).map(Fault::EraseFails)
            }
            ["page", page, "is", "unreadable"] => {
                Some(Fault::Unreadable(FaultSpot::Page(number(page)?)))
            }
            ["block", at, "is", "unreadable"] => {
                Some(Fault::Unreadable(FaultSpot::Block(number(at)?)))
            }
            _ => None,
        }
    }

    fn print(self) -> String {
        match self {
            Fault::DieDies(die) => format!("die {die} dies"),
            Fault::ProgramFails(area) => format!("next program of {} fails", area.print()),
            Fault::EraseFails(area) => format!("next erase of {} fails", area.print()),
            Fault::Unreadable(FaultSpot::Page(page)) => format!("page {page} is unreadable"),
            Fault::Unreadable(FaultSpot::Block(block)) => format!("block {block} is unreadable"),
        }
    }
}

impl Scheduled {
    /// Saves it as text, as in a device file.
    pub(super) fn save(&self, out: &mut ImageWriter) {
        out.nested(|out| out.raw(self.print().as_bytes()));
    }

    /// Loads what [`save`](Self::save) wrote.
    pub(super) fn load(from: &mut ImageReader<'_>) -> Result<Scheduled, Damage> {
        let mut text = from.nested()?;
        let mut bytes = Vec::new();
        while text.end().is_err() {
            bytes.extend_from_slice(text.raw(1)?);
        }
        let text = std::str::from_utf8(&bytes).ok();
        let fault = text.and_then(|text| Scheduled::parse(text).ok());
        fault.ok_or_else(|| Damage::new("a past fault is not a valid fault"))
    }
}

impl Value for Scheduled {
    const KIND: ValueKind = ValueKind::Faults;

    fn parse(text: &str) -> Result<Scheduled, ValueError> {
        let Some((at, fault)) = text.split_once(':') else {
            let message = format!("\"{text}\" does not say when something fails");
            return Err(ValueError::new(message, FORMS));
        };
        let at = Nanos::parse(at.trim())?;
        match Fault::parse(fault) {
            Some(fault) => Ok(Scheduled { at, fault }),
            None => Err(ValueError::new(format!("\"{}\" is not a fault", fault.trim()), FORMS)),
        }
    }

    fn print(&self) -> String {
        format!("{}: {}", self.at.print(), self.fault.print())
    }

    fn within(&self, _low: &str, _high: &str) -> bool {
        true
    }

    fn placeholder() -> Scheduled {
        Scheduled { at: Nanos::ZERO, fault: Fault::Unreadable(FaultSpot::Page(0)) }
    }
}

impl Item for Scheduled {
    const LIST: ValueKind = ValueKind::Faults;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        for text in [
            "2s: die 3 dies",
            "1ms: next program of block 17 fails",
            "0ns: next program of plane 2 fails",
            "3600s: next erase of block 0 fails",
            "1us: next erase of plane 1 fails",
            "500ms: page 12345 is unreadable",
            "1d: block 7 is unreadable",
        ] {
            assert_eq!(Scheduled::parse(text).map(|fault| fault.print()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for text in [
            "",
            "2s",
            "die 3 dies",
            "2: die 3 dies",
            "2s: die 3",
            "2s: die x dies",
            "2s: die -1 dies",
            "2s: die 4294967296 dies",
            "2s: next program of page 3 fails",
            "2s: next read of block 3 fails",
            "2s: plane 3 is unreadable",
            "2s: page 3 is unreadable now",
        ] {
            assert!(Scheduled::parse(text).is_err(), "{text}");
        }
    }

    /// A fault concerns one kind of operation at one place.
    #[test]
    fn a_fault_meets_its_kind_of_operation_at_its_place_alone() {
        let program = Fault::ProgramFails(Area::Block(3));
        let erase = Fault::EraseFails(Area::Plane(1));
        for (kind, block, plane, met) in [
            (Kind::Program, 3, 0, [true, false]),
            (Kind::Copyback, 3, 0, [true, false]),
            (Kind::Program, 4, 1, [false, false]),
            (Kind::Erase, 3, 0, [false, false]),
            (Kind::Erase, 9, 1, [false, true]),
            (Kind::Read, 3, 1, [false, false]),
        ] {
            let fails = [program, erase].map(|fault| fault.fails(kind, block, plane));
            assert_eq!(fails, met, "{kind:?} of block {block}, plane {plane}");
        }
        assert!(!Fault::DieDies(0).fails(Kind::Program, 0, 0));
    }
}
