//! The last line of a text that has no line end: it may be cut off, so that a wrong number was read.

use super::format::{SAMPLE_LINES, is_void};
use super::head::Head;
use super::words::counted;

/// The lines before that make the length of a number telling.
const ENOUGH: usize = 8;

/// What the lines at the beginning of a text have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsualLine {
    lines: usize,
    /// The fewest fields of a line.
    fields: usize,
    /// The fewest characters of a last field; none if not all are numbers.
    last: Option<usize>,
}

/// The fields of a line of any format.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let separates = |byte: &u8| matches!(byte, b',' | b';' | b'|' | b'\t' | b' ');
    line.split(separates).filter(|field| !field.is_empty())
}

fn is_number(field: &[u8]) -> bool {
    field.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

impl UsualLine {
    /// Looks at the whole lines at the beginning of a text, apart from its head.
    pub fn of(sample: &[u8], head: Option<&Head>) -> UsualLine {
        let whole = memchr::memrchr(b'\n', sample).map_or(0, |at| at + 1);
        let mut usual = UsualLine::default();
        let lines = sample[..whole].split(|&byte| byte == b'\n').take(SAMPLE_LINES);
        let head = head.map(|head| head.number);
        for (number, line) in (1..).zip(lines) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if head != Some(number) && !is_void(line) {
                usual.add(line);
            }
        }
        usual
    }

    fn add(&mut self, line: &[u8]) {
        let last = fields(line).last().filter(|field| is_number(field)).map(<[u8]>::len);
        let count = fields(line).count();
        (self.fields, self.last) = match self.lines {
            0 => (count, last),
            _ => (self.fields.min(count), self.last.zip(last).map(|(one, other)| one.min(other))),
        };
        self.lines += 1;
    }

    /// Why a line without a line end may be cut off, if it does.
    pub fn doubt(&self, line: &[u8]) -> Option<String> {
        if self.lines == 0 {
            return None;
        }
        let (count, fewest) = (fields(line).count(), self.fields);
        if count < fewest {
            let fields = counted(count as u64, "field", "fields");
            return Some(format!("has {fields}, where all others have at least {fewest}"));
        }
        let length = fields(line).last().map_or(0, <[u8]>::len);
        self.last
            .filter(|least| self.lines >= ENOUGH && length < *least)
            .map(|_| "ends with a shorter number than all others".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::head;

    fn usual_of(text: &[u8]) -> UsualLine {
        UsualLine::of(text, head::of(text).as_ref())
    }

    #[test]
    fn a_last_line_is_doubted_if_it_is_shorter_than_all_others() {
        let lines = "1000 0 16 4096 1\n".repeat(ENOUGH);
        let usual = usual_of(format!("time disk lba size op\n{lines}").as_bytes());
        assert_eq!(usual.doubt(b"1000 0 16 4096 1"), None);
        assert!(usual.doubt(b"1000 0 16 4096").is_some_and(|why| why.starts_with("has 4 fields")));
        let times = "0,16,4096,r,10.25\n0,16,4096,w,7.125\n".repeat(ENOUGH);
        let usual = usual_of(format!("{times}0,16,4096,r,9.").as_bytes());
        assert_eq!(usual.doubt(b"0,16,4096,r,99.25"), None);
        assert!(usual.doubt(b"0,16,4096,r,99.2").is_some_and(|why| why.contains("shorter number")));
        // Too few to know how long a number is; or no number.
        let few = usual_of(b"0,16,4096,r,10.25\n");
        assert_eq!(few.doubt(b"0,16,4096,r,1"), None);
        let words = usual_of("8,0 1 R 16 + 8 [fio]\n".repeat(ENOUGH).as_bytes());
        assert_eq!(words.doubt(b"8,0 1 R 16 + 8 [a]"), None);
        assert_eq!(usual_of(b"").doubt(b"1"), None);
    }
}
