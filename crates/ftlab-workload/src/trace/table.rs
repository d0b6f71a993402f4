//! Tables of text: the separator of their columns, and their fields.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::fields::{BLANKS, Fields};
use super::format::{SAMPLE_LINES, is_void};

/// Separators that are tried, the likeliest first. The last stands for any run of blanks.
const SEPARATORS: [u8; 5] = [b',', b';', b'\t', b'|', BLANKS];

/// Splits lines into fields, which may be quoted.
#[derive(Debug)]
pub(crate) struct Splitter {
    separator: u8,
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Splitter {
    pub fn new(separator: u8) -> Splitter {
        let reader = ReaderBuilder::new().delimiter(separator).build();
        Splitter { separator, reader, text: Vec::new(), ends: Vec::new() }
    }

    /// The separator.
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// Splits a line. Returns how many fields it has.
    pub fn split(&mut self, line: &[u8]) -> usize {
        self.ends.clear();
        self.text.clear();
        if self.separator == BLANKS {
            let mut fields = Fields::<BLANKS>::new(line);
            while !fields.is_done() {
                self.text.extend_from_slice(fields.text());
                self.ends.push(self.text.len());
            }
            return self.ends.len();
        }
        self.text.resize(line.len() + 1, 0);
        // A line has at most as many fields as bytes, and one.
        self.ends.resize(line.len() + 2, 0);
        self.reader.reset();
        let (result, _, mut written, mut ended) =
            self.reader.read_record(line, &mut self.text, &mut self.ends);
        if result == ReadRecordResult::InputEmpty {
            // The end of the line ends the last field. Ends count from the beginning of the line.
            let (text, ends) = (&mut self.text[written..], &mut self.ends[ended..]);
            let (_, _, more, further) = self.reader.read_record(&[], text, ends);
            (written, ended) = (written + more, ended + further);
        }
        self.text.truncate(written);
        self.ends.truncate(ended);
        self.ends.len()
    }

    /// How many fields the last line has.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// A field of the last line, without blanks around it.
    pub fn field(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(self.text[start..end].trim_ascii())
    }

    /// All fields of the last line, as text.
    pub fn all(&self) -> Vec<String> {
        let fields = (0..self.ends.len()).filter_map(|index| self.field(index));
        fields.map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }
}

/// The lines with content at the beginning of a text.
pub(crate) fn first_lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = sample.split(|&byte| byte == b'\n').take(SAMPLE_LINES);
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !is_void(line))
}

/// The lines with content that do not repeat this head, as they do where files were joined.
pub(crate) fn without_head<'a>(
    sample: &'a [u8],
    head: Option<&'a [u8]>,
) -> impl Iterator<Item = &'a [u8]> {
    first_lines(sample).filter(move |line| head != Some(*line))
}

/// The separator that splits nine of ten lines into equally many fields, and most of them.
pub(crate) fn guess_separator(sample: &[u8]) -> Option<u8> {
    let worth = |separator: u8| {
        let mut splitter = Splitter::new(separator);
        let mut counts: Vec<usize> = first_lines(sample).map(|line| splitter.split(line)).collect();
        counts.sort_unstable();
        // The commonest number of fields, and how many lines have it.
        let runs = counts.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
        let (lines, fields) = runs.max().unwrap_or((0, 0));
        (fields > 1 && lines * 10 >= counts.len() * 9).then_some(fields)
    };
    let fits: Vec<(u8, usize)> = SEPARATORS
        .into_iter()
        .filter_map(|separator| Some((separator, worth(separator)?)))
        .collect();
    let has = |separator: u8| fits.iter().any(|(known, _)| *known == separator);
    // Blanks beside tabs are within fields; so are commas between digits, as decimal marks, if something else separates.
    let is_within = |separator: u8| match separator {
        BLANKS => has(b'\t'),
        b',' => fits.len() > 1 && commas_are_decimal(sample),
        _ => false,
    };
    let best = fits.iter().rev().filter(|(separator, _)| !is_within(*separator));
    // Of equally good ones the likelier.
    best.max_by_key(|(_, fields)| *fields).map(|(separator, _)| *separator)
}

/// Whether all commas below the first line stand between digits.
fn commas_are_decimal(sample: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let mut lines = first_lines(sample);
    let first = lines.next();
    // A head has no numbers.
    let all = first
        .into_iter()
        .filter(|line| !line.contains(&b',') || line[0].is_ascii_digit())
        .chain(lines);
    let mut has_any = false;
    for line in all {
        for at in memchr::memchr_iter(b',', line) {
            has_any = true;
            if !is_digit(at.checked_sub(1).and_then(|before| line.get(before)))
                || !is_digit(line.get(at + 1))
            {
                return false;
            }
        }
    }
    has_any
}

/// A separator in words.
pub(crate) fn separator_in_words(separator: u8) -> &'static str {
    match separator {
        b',' => "commas",
        b';' => "semicolons",
        b'\t' => "tabs",
        b'|' => "vertical bars",
        _ => "blanks",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_at_their_separator_and_quotes_hold_it() {
        let fields = |separator, line: &str| {
            let mut splitter = Splitter::new(separator);
            splitter.split(line.as_bytes());
            splitter.all()
        };
        assert_eq!(
            fields(b',', "1, 2 ,\"a,b\",\"say \"\"x\"\"\","),
            ["1", "2", "a,b", "say \"x\"", ""]
        );
        assert_eq!(fields(b';', "1,5;R;4096"), ["1,5", "R", "4096"]);
        assert_eq!(fields(BLANKS, "  1  2\t3 "), ["1", "2", "3"]);
        assert_eq!(fields(b',', ""), [""; 0]);
    }

    #[test]
    fn the_separator_is_the_one_that_gives_equal_lines() {
        let guess = |text: &str| guess_separator(text.as_bytes());
        assert_eq!(guess("a,b,c\n1,2,3\n4,5,6\n"), Some(b','));
        assert_eq!(guess("a;b;c\n1,5;2;3\n4,5;5;6\n"), Some(b';'));
        assert_eq!(guess("a b c\n1 2 3\n"), Some(BLANKS));
        assert_eq!(guess("t\tname of it\top\n1\ta b\tR\n2\tc\tW\n"), Some(b'\t'));
        // Blanks within fields, and commas within numbers.
        assert_eq!(guess("1\tkworker 0\t8\n2\tkworker 1\t16\n"), Some(b'\t'));
        assert_eq!(guess("1,5 800\n2,5 816\n"), Some(BLANKS));
        assert_eq!(guess("1,5;8,0;4096,0\n2,5;16,0;4096,0\n"), Some(b';'));
        assert_eq!(guess("1,500\t8,192\t4,096\n"), Some(b'\t'));
        assert_eq!(guess("1,8,4096\n2,16,4096\n"), Some(b','));
        assert_eq!(guess("1, 8, 4096\n2, 16, 4096\n"), Some(b','));
        assert_eq!(guess("nothing\n"), None);
        assert_eq!(guess("all of this\nis prose\n"), None);
    }
}
