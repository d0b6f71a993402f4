//! Names of disks or files in a trace, numbered in the order in which they come.

use std::collections::HashMap;
use std::ops::Range;

use ftlab::options::text::clip;

use crate::trace::character::MOST_STREAMS;
use crate::trace::error::{Bad, ErrorKind};

/// Names, numbered from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    /// The first of them, as many as streams are told apart.
    first: Vec<String>,
    bytes: usize,
}

/// How many names there may be: all are kept, so that each has one number. No one has so many disks, or so many files
/// of interest; it is rather another column.
const MOST_NAMES: usize = 1 << 20;
/// And so many bytes they may have together.
const MOST_BYTES: usize = 64 << 20;

/// How many names a remark lists.
const LISTED: usize = 6;

impl Names {
    /// The number of the name that stands at a place of a line.
    ///
    /// # Errors
    /// There are too many names to keep, or it is too long.
    #[inline]
    pub fn number(
        &mut self,
        name: &[u8],
        place: impl FnOnce() -> Range<usize>,
    ) -> Result<u32, Bad> {
        match self.numbers.get(name) {
            Some(number) => Ok(*number),
            None => self.add(name, place),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8], place: impl FnOnce() -> Range<usize>) -> Result<u32, Bad> {
        let number = self.numbers.len();
        let problem = if number == MOST_NAMES {
            format!("the streams have more than {MOST_NAMES} names")
        } else if name.len() > MOST_BYTES - self.bytes {
            format!("the names of the streams have more than {} MiB", MOST_BYTES >> 20)
        } else {
            self.bytes += name.len();
            self.numbers.insert(name.to_vec(), number as u32);
            if number < MOST_STREAMS {
                self.first.push(String::from_utf8_lossy(name).into_owned());
            }
            return Ok(number as u32);
        };
        let remedy =
            Some("is that the column of the streams? Without one, all are one stream".to_owned());
        Err(Bad { kind: ErrorKind::Unsupported, field: place(), problem, remedy })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The streams that have these names, which are of such things.
    pub fn streams(&self, what: &'static str) -> NamedStreams {
        NamedStreams { what, names: self.first.clone(), count: self.numbers.len() }
    }
}

/// Streams that a file calls by names.
#[derive(Clone, Debug)]
pub(crate) struct NamedStreams {
    /// What has the names, in words.
    pub what: &'static str,
    /// The names by number, as many as streams are told apart.
    pub names: Vec<String>,
    count: usize,
}

impl NamedStreams {
    /// Says which number which name has.
    pub fn in_words(&self) -> String {
        let listed = self.names.iter().take(LISTED).enumerate();
        let listed: Vec<_> =
            listed.map(|(number, name)| format!("{number} {}", clip(name))).collect();
        let more = match self.count.saturating_sub(LISTED) {
            0 => String::new(),
            more => {
                format!(" and {more} more; all are in stream_names of ftlab trace inspect --json")
            }
        };
        format!("the streams are the {}: {}{more}", self.what, listed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_up_to_a_bound() {
        let mut names = Names::default();
        for number in 0..MOST_NAMES as u32 {
            assert_eq!(names.number(&number.to_le_bytes(), || 0..0).ok(), Some(number));
        }
        assert!(
            names.number(b"one more", || 0..0).unwrap_err().problem.contains("more than 1048576")
        );
        assert_eq!(names.number(&7_u32.to_le_bytes(), || 0..0).ok(), Some(7));
        assert_eq!(names.streams("disks").names.len(), MOST_STREAMS);
        let mut names = Names::default();
        let long = vec![b'x'; MOST_BYTES / 2];
        assert_eq!(names.number(&long, || 0..0).ok(), Some(0));
        assert_eq!(names.number(&long[1..], || 0..0).ok(), Some(1));
        assert_eq!(names.number(b"y", || 0..0).ok(), Some(2));
        assert!(names.number(b"z", || 0..0).unwrap_err().problem.contains("more than 64 MiB"));
    }
}
