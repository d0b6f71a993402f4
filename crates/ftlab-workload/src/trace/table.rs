//! Tables of text: the separator of their columns, their head, and the numbers that programs of all countries write.

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
    // Of equally good ones the likelier.
    let best = SEPARATORS.into_iter().rev().max_by_key(|&separator| worth(separator));
    best.filter(|&separator| worth(separator).is_some())
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

/// A whole number: decimal, hexadecimal with 0x, in groups of three, or with decimals that are zero.
pub(crate) fn whole_number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number).filter(|_| !text.starts_with('+'));
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    }
    let is_group = |mark: char| matches!(mark, ',' | '.' | ' ' | '\'' | '\u{a0}' | '\u{202f}');
    let mut groups = text.split(is_group);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !rest.iter().all(|part| digits(part)) {
        return None;
    }
    if first.len() <= 3 && rest.iter().all(|part| part.len() == 3) {
        return format!("{first}{}", rest.concat()).parse().ok();
    }
    match rest[..] {
        [zeros] if zeros.bytes().all(|byte| byte == b'0') => first.parse().ok(),
        _ => None,
    }
}

/// A time with decimals behind a point or a comma, in nanoseconds of a unit of so many. Parts of a nanosecond are cut off.
pub(crate) fn decimal_time(field: &[u8], unit_ns: u64) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let marks = |mark: char| matches!(mark, ',' | '.');
    let (whole, fraction) = match text.rfind(marks) {
        // The last mark is that of the decimals, unless it is there twice.
        Some(at) if text[..at].find(&text[at..=at]).is_none() => (&text[..at], &text[at + 1..]),
        _ => (text, ""),
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut ns = whole_number(whole.as_bytes())?.checked_mul(unit_ns)?;
    let mut step = unit_ns;
    for digit in fraction.bytes() {
        step /= 10;
        ns = ns.checked_add(u64::from(digit - b'0') * step)?;
    }
    Some(ns)
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
        assert_eq!(guess("nothing\n"), None);
        assert_eq!(guess("all of this\nis prose\n"), None);
    }

    #[test]
    fn numbers_of_all_countries() {
        let whole = |text: &str| whole_number(text.as_bytes());
        assert_eq!(whole("4096"), Some(4096));
        assert_eq!(whole("0x1d8b0a000"), Some(0x0001_d8b0_a000));
        assert_eq!(whole("4,096"), Some(4096));
        assert_eq!(whole("1.234.567"), Some(1_234_567));
        assert_eq!(whole("1\u{202f}234"), Some(1234));
        assert_eq!(whole("4096.0"), Some(4096));
        for wrong in ["", "-1", "+1", "0x", "1.5", "12,34", "a", "4 KiB", "99999999999999999999"] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
        let time = |text: &str| decimal_time(text.as_bytes(), 1_000_000_000);
        assert_eq!(time("1.5"), Some(1_500_000_000));
        assert_eq!(time("1,000000001"), Some(1_000_000_001));
        assert_eq!(time("1.234,5"), Some(1_234_500_000_000));
        assert_eq!(time("1,234.5"), Some(1_234_500_000_000));
        assert_eq!(time("1,234,567"), Some(1_234_567_000_000_000));
        for wrong in ["", ".5", "-1", "1e3", "1.2.3,4,5", "x", "99999999999999999999"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
