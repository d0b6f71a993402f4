//! Which placement identifier each write of a job carries: `fdp`, `fdp_pli`, `fdp_pli_select` and `dp_scheme`.
//!
//! A request has a stream, and drives learn the identifier of each stream. So a clone with several identifiers writes in a
//! stream for each: streams come in rounds of all clones, and round number n has the n-th identifier of each clone.
//!
//! Source: the source of fio after 3.38, which was read but not run. fio 3.33 has none of these options.

use ftlab::engine::Stream;
use ftlab::options::text::clip;
use ftlab::units::SECTOR_BYTES;

use super::values::{Bad, NumberBase, bad, number};

/// The most identifiers of a job, as in fio.
const MAX_IDENTIFIERS: usize = 128;
/// The most lines of a scheme, as in fio.
const MAX_SCHEME: usize = 32;

/// The identifiers of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hints {
    /// In ascending order, as in fio; empty for all that the drive has.
    pub identifiers: Vec<u8>,
    pub select: Select,
}

/// How the identifier of the next write is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Select {
    /// In turn, for each file.
    RoundRobin,
    Random,
    /// By the place in the file.
    Scheme(Vec<IdentifierSpan>),
}

/// The identifier of a range of a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdentifierSpan {
    start: u64,
    end: u64,
    identifier: u8,
}

impl Hints {
    /// The lines of its scheme, if it has one.
    pub fn scheme(&self) -> Option<&[IdentifierSpan]> {
        match &self.select {
            Select::Scheme(spans) => Some(spans),
            Select::RoundRobin | Select::Random => None,
        }
    }

    /// The identifiers of its rounds, on a drive with so many handles.
    pub fn rounds(&self, handles: u32) -> Vec<u8> {
        match (self.scheme(), self.identifiers.as_slice()) {
            // A place in no range has identifier 0.
            (Some(spans), _) => {
                let named = spans.iter().map(|span| span.identifier);
                std::iter::once(0).chain(named).collect()
            }
            (None, []) => (0..handles as u8).collect(),
            (None, identifiers) => identifiers.to_vec(),
        }
    }
}

/// Parses a list of identifiers and ranges of them, such as `0,2-4`.
pub(super) fn identifiers(text: &str, base: NumberBase) -> Result<Vec<u8>, Bad> {
    let parse = |text: &str| {
        let value = number(text, base)?;
        u8::try_from(value).or_else(|_| {
            let most = u8::MAX;
            bad(format!("identifier {value} is outside 0 to {most}"), "write a handle of the drive")
        })
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (parse(low)?, parse(high)?);
        if low > high {
            return bad(format!("{} runs backwards", clip(part)), format!("write {high}-{low}"));
        }
        list.extend(low..=high);
        if list.len() > MAX_IDENTIFIERS {
            let message = format!("more than {MAX_IDENTIFIERS} identifiers, which is fio's limit");
            return bad(message, "name each handle once");
        }
    }
    list.sort_unstable();
    Ok(list)
}

/// Parses a scheme: lines of start, end and identifier.
pub(super) fn scheme(text: &str) -> Result<Vec<IdentifierSpan>, Bad> {
    let mut spans = Vec::new();
    for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut parts = line.split(',').map(str::trim);
        let mut next = || parts.next()?.parse::<u64>().ok();
        let values = (next(), next(), next().and_then(|value| u8::try_from(value).ok()));
        let (Some(start), Some(end), Some(identifier), None) =
            (values.0, values.1, values.2, parts.next())
        else {
            let message =
                format!("line {at} of the scheme, `{}`, is not three numbers", clip(line));
            return bad(message, "write start,end,identifier: bytes of the file, and 0 to 255");
        };
        if spans.len() == MAX_SCHEME {
            let message = format!("a scheme of more than {MAX_SCHEME} lines; fio applies no more");
            return bad(message, "join ranges");
        }
        spans.push(IdentifierSpan { start, end, identifier });
    }
    Ok(spans)
}

/// Gives each write of a clone the stream of its identifier.
pub(super) struct Chooser {
    select: Select,
    rounds: u32,
    /// Streams of a round: the clones.
    round: u32,
    /// By file: its first sector on the device, and whose turn it is.
    files: Vec<(u64, u32)>,
    stream: Stream,
}

impl Chooser {
    /// For a clone with so many rounds of so many streams, and files that begin there.
    pub fn new(
        hints: &Hints,
        (rounds, round): (u32, u32),
        files: impl Iterator<Item = u64>,
        stream: Stream,
    ) -> Chooser {
        let files = files.map(|start| (start, 0)).collect();
        Chooser { select: hints.select.clone(), rounds, round, files, stream }
    }

    /// How far behind the clone's number the stream is for a write to a file at a sector of the device.
    pub fn behind(&mut self, file: usize, sector: u64) -> u32 {
        let (start, turn) = &mut self.files[file];
        let round = match &self.select {
            Select::RoundRobin => {
                let round = *turn;
                *turn = (round + 1) % self.rounds;
                round
            }
            Select::Random => self.stream.below(self.rounds.into()) as u32,
            Select::Scheme(spans) => {
                let place = (sector - *start) * SECTOR_BYTES;
                let found = spans.iter().position(|span| (span.start..span.end).contains(&place));
                found.map_or(0, |at| at as u32 + 1)
            }
        };
        round * self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_keep_what_is_named_twice() {
        let read = |text| identifiers(text, NumberBase { decimal: false });
        assert_eq!(read("3,0-1,0x1"), Ok(vec![0, 1, 1, 3]));
        for text in ["", "1,", "2-1", "-1", "0,256", "0-127,0"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_scheme_is_three_numbers_a_line() {
        let spans = scheme("0,4096,2\n\n 4096, 8192, 1\n").expect("readable");
        assert_eq!(spans[1], IdentifierSpan { start: 4096, end: 8192, identifier: 1 });
        for text in ["0,1", "0,1,2,3", "0,1,256", "a,1,0", &"0,1,2\n".repeat(MAX_SCHEME + 1)] {
            assert!(scheme(text).is_err(), "{text}");
        }
    }
}
