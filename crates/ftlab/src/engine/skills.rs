//! What a device can do, as a constant: the code on the way of a page is compiled once for each set of
//! skills that is worth it, and what a set lacks leaves nothing behind in it, not even a question.
//!
//! All sets share one source and one layout of the data, so a device may run on any set that holds all of
//! its own skills; [`ALL`] serves every device. Which set it is, is chosen once, where the device is put
//! together, and looked up once a request.

/// A set of skills, a bit for each.
pub type Skills = u32;

/// One operation serves several planes of a die.
pub const MULTI_PLANE: Skills = 1 << 0;
/// Cells and register of a die work side by side.
pub const CACHE_OPS: Skills = 1 << 1;
/// Commands pass others that came before them, or what runs is left for them.
pub const OVERTAKING: Skills = 1 << 2;
/// What few devices have on flash: chips that do one thing at a time, page order, costs that differ by
/// program, parts that fail, commands that take the bus.
pub const RARE_ON_FLASH: Skills = 1 << 3;
/// A flash page holds several mapping units.
pub const UNITS: Skills = 1 << 4;
/// Flash pages are written in rows, one for each plane of a die.
pub const ROWS: Skills = 1 << 5;
/// Blocks with one bit a cell.
pub const SLC: Skills = 1 << 6;
/// Times of the cells that differ from page to page, or from block to block.
pub const TIMES: Skills = 1 << 8;
/// What few devices have above flash: everything else that is not on by default.
pub const RARE: Skills = 1 << 7;

/// Nothing but pages, blocks and collection.
pub const PLAIN: Skills = 0;
/// What drives on sale have.
pub const COMMON: Skills = MULTI_PLANE | CACHE_OPS | OVERTAKING | TIMES | UNITS | ROWS | SLC;
/// Everything.
pub const ALL: Skills = COMMON | RARE_ON_FLASH | RARE;

/// Whether the dies of a flash with these skills do one thing at a time, each in the order in which it was asked.
#[inline(always)]
#[must_use]
pub const fn in_turn(set: Skills) -> bool {
    !any(set, MULTI_PLANE | CACHE_OPS | OVERTAKING | RARE_ON_FLASH)
}

/// Whether a set holds any of these skills.
#[inline(always)]
#[must_use]
pub const fn any(set: Skills, of: Skills) -> bool {
    set & of != 0
}

/// How many units there are of `units` that lie on one flash page: one, where that is all that a flash page holds.
#[inline(always)]
#[must_use]
pub const fn units_of_page(set: Skills, units: u32) -> u32 {
    if any(set, UNITS) { units } else { 1 }
}

/// The set of those skills that are said to be there.
#[must_use]
pub fn those(skills: &[(bool, Skills)]) -> Skills {
    skills.iter().filter(|(is_there, _)| *is_there).fold(0, |all, (_, skill)| all | skill)
}
