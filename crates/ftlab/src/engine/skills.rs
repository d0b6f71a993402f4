//! What a device can do, as a constant: code on the hot path is compiled once for each set of skills that is worth
//! it, and a set compiles without any trace of the skills that it lacks, not even a branch.
//!
//! All sets share one source and one data layout, so a device may run with any set that includes all of its own
//! skills; [`ALL`] serves every device. The set is chosen once, when the device is built, and dispatched once per
//! request.

/// A set of skills, one bit each.
pub type Skills = u32;

/// One operation serves several planes of a die.
pub const MULTI_PLANE: Skills = 1 << 0;
/// Cells and register of a die work in parallel.
pub const CACHE_OPS: Skills = 1 << 1;
/// Commands pass others that came before them, or suspend those that run.
pub const OVERTAKING: Skills = 1 << 2;
/// Features that few devices have on flash: chips that do one thing at a time, page order, costs that differ by
/// program, failures, commands that take the bus, superblocks, decoding that takes time.
pub const RARE_ON_FLASH: Skills = 1 << 3;
/// A flash page holds several mapping units.
pub const UNITS: Skills = 1 << 4;
/// Flash pages are written in rows, one for each plane of a die.
pub const ROWS: Skills = 1 << 5;
/// Blocks with one bit per cell.
pub const SLC: Skills = 1 << 6;
/// Times of the cells that differ from page to page, or from block to block.
pub const TIMES: Skills = 1 << 8;
/// Features that few devices have above flash: everything else that is off by default.
pub const RARE: Skills = 1 << 7;

/// Nothing but pages, blocks and collection.
pub const PLAIN: Skills = 0;
/// The features of commercial drives.
pub const COMMON: Skills = MULTI_PLANE | CACHE_OPS | OVERTAKING | TIMES | UNITS | ROWS | SLC;
/// What commercial drives and research have above flash, on flash that has nothing rare.
pub const ABOVE_FLASH: Skills = COMMON | RARE;
/// Everything.
pub const ALL: Skills = COMMON | RARE_ON_FLASH | RARE;

/// The set that code for a set is compiled with. The feature `compact` leaves one for all, a third of the code: it takes
/// more time to run, with the same results.
#[must_use]
pub const fn compiled(set: Skills) -> Skills {
    if cfg!(feature = "compact") { ALL } else { set }
}

/// Whether the dies of a flash with these skills do one thing at a time, in order of arrival.
#[inline(always)]
#[must_use]
pub const fn in_turn(set: Skills) -> bool {
    !any(set, MULTI_PLANE | CACHE_OPS | OVERTAKING | RARE_ON_FLASH)
}

/// Whether a set includes any of these skills.
#[inline(always)]
#[must_use]
pub const fn any(set: Skills, of: Skills) -> bool {
    set & of != 0
}

/// Returns `units`, the number of mapping units that concern a flash page, as the constant one if a flash page
/// holds only one.
#[inline(always)]
#[must_use]
pub const fn units_of_page(set: Skills, units: u32) -> u32 {
    if any(set, UNITS) { units } else { 1 }
}

/// Returns the set of the skills that are marked as present.
#[must_use]
pub fn those(skills: &[(bool, Skills)]) -> Skills {
    skills.iter().filter(|(is_there, _)| *is_there).fold(0, |all, (_, skill)| all | skill)
}
