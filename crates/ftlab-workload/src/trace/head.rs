//! The line with the names of columns at the beginning of a table: whether there is one, and whether a format may pass over it.
//!
//! Columns of numbers look alike. A table whose head names other columns than those of a format is not of this format, however
//! well its numbers would fit.

use ftlab::host::Op;
use ftlab::options::text::clip;

use super::columns::RequestPart;
use super::error::{Bad, ErrorKind};
use super::format::{Columns, Format};
use super::names_of_columns::{part_of, unit_of, yes_of};
use super::numbers::decimal_time;
use super::suggest;
use super::table::{Splitter, first_lines, guess_separator};
use super::units::Units;

/// The least number of columns of which one holds for a request.
const FEWEST: usize = 3;
/// How many lines of a title may stand above a head.
const TITLE: usize = 8;
/// How many names are listed.
const LISTED: usize = 20;
/// How many fields below a head are numbers at least: an address and a size.
const FEWEST_NUMBERS: usize = 2;

/// The first line of a table if it names columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its number, from one.
    pub number: u64,
    /// What it names.
    pub names: Vec<String>,
    /// Whether it is a comment, which every format passes over.
    pub is_comment: bool,
    /// How long it is, in bytes.
    length: usize,
}

/// The columns of a format.
pub(crate) struct OwnColumns {
    pub columns: Columns,
    /// The column with a 0 or 1 for the operation, and what a 1 is.
    pub flag: Option<(usize, Op)>,
    pub units: Units,
}

/// What a format does with the first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeadRule {
    /// It is read like the others.
    None,
    /// It is passed over, which is said.
    Passed { number: u64, said: String },
    /// It names other columns.
    Refused { number: u64, why: Bad },
}

/// The head of a text, if it has one: words, over as many fields of which some are numbers.
pub(crate) fn of(sample: &[u8]) -> Option<Head> {
    let mut lines = (1..).zip(sample.split(|&byte| byte == b'\n'));
    // A head may be a comment, as numpy writes it.
    let (number, line) = lines.find(|(_, line)| !line.trim_ascii().is_empty())?;
    let whole = line.strip_suffix(b"\r").unwrap_or(line);
    // A tab may stand behind a first column without a name.
    let line = match whole.strip_prefix(b"#") {
        Some(comment) => comment.trim_ascii_start(),
        None => &whole[whole.iter().take_while(|&&byte| byte == b' ').count()..],
    };
    let is_comment = whole.starts_with(b"#");
    // Most files begin with a number. The first column may have no name, as that of an index.
    let is_open = |byte: &&u8| !matches!(byte, b' ' | b'"' | b',' | b';' | b'\t');
    if !line.iter().find(is_open)?.is_ascii_alphabetic() {
        return None;
    }
    let mut splitter = Splitter::new(guess_separator(sample)?);
    splitter.split(line);
    let names = splitter.all();
    let is_number = |field: &String| decimal_time(field.as_bytes(), 1).is_some();
    let is_no_text = |name: &String| name.contains(char::is_control);
    if names.len() < FEWEST || names.iter().any(|name| is_number(name) || is_no_text(name)) {
        return None;
    }
    // A sentence may have as many words as a table columns.
    let is_telling = |name: &String| part_of(name).is_some();
    if is_comment && !names.iter().any(is_telling) {
        return None;
    }
    // A head without a table is one, too.
    let mut below = first_lines(sample).skip(usize::from(!is_comment));
    let is_head = below.next().map_or(!is_comment, |below| {
        let width = splitter.split(below);
        let numbers = splitter.all().iter().filter(|field| is_number(field)).count();
        width == names.len() && numbers >= FEWEST_NUMBERS
    });
    is_head.then_some(Head { number, names, is_comment, length: whole.len() })
}

/// Where the line that names the columns begins, and its number, if lines of a title stand above it.
pub(crate) fn below_title(sample: &[u8]) -> Option<(usize, u64)> {
    let mut begin = 0;
    for number in 2..=TITLE as u64 + 1 {
        begin += memchr::memchr(b'\n', &sample[begin..])? + 1;
        let rest = &sample[begin..];
        let is_blank = rest.split(|&byte| byte == b'\n').next()?.trim_ascii().is_empty();
        let Some(head) = of(rest).filter(|head| !is_blank && !head.is_comment) else { continue };
        // Data above it are no title.
        let mut splitter = Splitter::new(guess_separator(rest)?);
        let is_data = |line: &[u8]| splitter.split(line) == head.names.len();
        return (!first_lines(&sample[..begin]).any(is_data)).then_some((begin, number));
    }
    None
}

/// What to do about a title above the head in this line.
pub(crate) fn without_title(number: u64) -> String {
    format!(
        "line {number} names the columns: delete what stands above it, such as by tail -n +{number} FILE"
    )
}

impl HeadRule {
    /// What is wrong with a malformed line: nothing, if it names columns that the format has.
    #[cold]
    pub fn weigh(&self, line: u64, bad: Bad) -> Option<Bad> {
        match self {
            HeadRule::Passed { number, .. } if *number == line => None,
            HeadRule::Refused { number, why } if *number == line => Some(why.clone()),
            _ => Some(bad),
        }
    }
}

/// A name without capitals, blanks and marks.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|mark| mark.to_ascii_lowercase()).collect()
}

impl Head {
    /// Whether it is one of these.
    pub fn is_of(&self, heads: &[&[&str]]) -> bool {
        let same = |known: &&[&str]| {
            known.len() == self.names.len()
                && known.iter().zip(&self.names).all(|(known, name)| plain(known) == plain(name))
        };
        heads.iter().any(same)
    }

    /// What a format does with it that has these heads, and its parts in these columns.
    pub fn rule(
        &self,
        format: &Format,
        heads: &[&[&str]],
        own: &OwnColumns,
        sample: &[u8],
    ) -> HeadRule {
        let number = self.number;
        if self.is_of(heads) {
            return HeadRule::Passed { number, said: format!("line {number} names the columns") };
        }
        match self.contradiction(own) {
            None => {
                let names = self.names.iter().take(LISTED).map(|name| clip(name));
                let (own, names) = (format.columns, names.collect::<Vec<_>>().join(", "));
                let said = format!(
                    "line {number} names the columns ({names}), which are read as those of {}: {own}",
                    format.name
                );
                HeadRule::Passed { number, said }
            }
            Some(problem) => {
                let own = suggest::guess(sample)
                    .in_words()
                    .unwrap_or_else(|| "say with `columns` which column is what".to_owned());
                let problem = format!("{problem}; {} has {}", format.name, format.columns);
                let remedy = Some(format!("{own}; leave out `format` {}", format.name));
                let (kind, field) = (ErrorKind::Unsupported, 0..self.length);
                HeadRule::Refused { number, why: Bad { kind, field, problem, remedy } }
            }
        }
    }

    /// A column that it calls something else than a format has there.
    fn contradiction(&self, own: &OwnColumns) -> Option<String> {
        let OwnColumns { columns, flag, units } = own;
        let other_flag = flag.and_then(|(index, one)| {
            let name = self.names.get(index)?;
            yes_of(name).filter(|yes| *yes != one)?;
            let (number, name) = (index + 1, clip(name));
            Some(format!("column {number} is called `{name}`, but a 1 there is a {}", one.name()))
        });
        if other_flag.is_some() {
            return other_flag;
        }
        let own = [
            (columns.time, RequestPart::Time, units.time.ns(), "times"),
            (columns.address, RequestPart::Offset, units.address.bytes(), "addresses"),
            (columns.size, RequestPart::Size, units.size.bytes(), "sizes"),
        ];
        own.into_iter().find_map(|(index, part, unit, what)| {
            let name = self.names.get(index)?;
            if part_of(name).is_some_and(|named| named != part) {
                return Some(format!(
                    "column {} is called `{}`, and not {what}",
                    index + 1,
                    clip(name)
                ));
            }
            let other = unit_of(part, name).filter(|named| *named != unit);
            other.map(|_| {
                format!("column {} is called `{}`, which is another unit", index + 1, clip(name))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sample: &str) -> Option<Vec<String>> {
        of(sample.as_bytes()).map(|head| head.names)
    }

    #[test]
    fn a_head_is_words_over_numbers() {
        let found = names("\nts,op,lba,len\n1,R,16,8\n").expect("a head");
        assert_eq!(found, ["ts", "op", "lba", "len"]);
        assert!(names("ts op lba len\n1 R 16 8\n2 W 8 8\n").is_some());
        assert_eq!(names("# ts,op,lba,len\n1,R,16,8\n"), Some(found));
        assert_eq!(names("# made by hand\n1,R,16,8\n"), None);
        for none in [
            // A line that lost its beginning, one that was cut, and prose.
            "usr,0,Write,7014609920,24576\n1,usr,0,Write,7014609920,24576,41286\n",
            "us\n1,usr,0,Write,7014609920,24576,41286\n",
            "recorded on a host\n1,2,3,4\n2,3,4,5\n",
            "R 16 8\nW 8 8\n",
            "a,b,c\nd,e,f\n",
            "1,2,3\n",
            "one line of prose\n1\n",
        ] {
            assert_eq!(names(none), None, "{none}");
        }
    }
}
