//! What the words of operations in a table mean: as was said (`0=read`), or as all traces write them.

use std::fmt::Write as _;

use ftlab::host::Op;

/// What words of a trace mean: `R=read`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpWords {
    words: Vec<(String, Op)>,
}

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordMeaning {
    pub op: Op,
    /// Whether a write is forced to flash.
    pub fua: bool,
}

impl WordMeaning {
    /// The operation as it is.
    pub fn of(op: Op) -> WordMeaning {
        WordMeaning { op, fua: false }
    }

    /// In words.
    pub fn in_words(self) -> String {
        format!("{}{}", self.op.name(), if self.fua { " with FUA" } else { "" })
    }
}

/// Words that need no explanation, alone or with the length of a SCSI command or FUA behind them (`READ_10`, `write(16)`).
const KNOWN: [(&str, Op); 21] = [
    ("read", Op::Read),
    ("reads", Op::Read),
    ("rd", Op::Read),
    ("load", Op::Read),
    ("get", Op::Read),
    // What Windows shows in German.
    ("lesen", Op::Read),
    ("schreiben", Op::Write),
    ("write", Op::Write),
    ("writes", Op::Write),
    ("wr", Op::Write),
    ("store", Op::Write),
    ("put", Op::Write),
    ("trim", Op::Trim),
    ("discard", Op::Trim),
    ("unmap", Op::Trim),
    ("deallocate", Op::Trim),
    ("dsm", Op::Trim),
    ("t", Op::Trim),
    ("u", Op::Trim),
    ("flush", Op::Flush),
    ("sync", Op::Flush),
];
/// How Linux begins its names of operations.
const OF_KERNEL: [&str; 2] = ["nvme_cmd_", "req_op_"];
/// Truth values: yes, and no.
const TRUTHS: [[&str; 5]; 2] = [["1", "t", "true", "y", "yes"], ["0", "f", "false", "n", "no"]];
/// The longest word in the letters of Linux' block layer (`WS`, `RSM`, `FWFS`).
const LONGEST_RWBS: usize = 5;

impl OpWords {
    /// Adds `word=operation`.
    ///
    /// # Errors
    /// It is not of this form, there is no such operation, or the word has a meaning already.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let known = Op::ALL.map(Op::name).join(", ");
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let Some((word, name)) = piece.split_once('=') else {
                return Err(format!(
                    "`{piece}` is not word=operation, as in R=read; operations are {known}"
                ));
            };
            let (word, name) = (word.trim(), name.trim());
            let op = Op::named(name);
            let op =
                op.ok_or_else(|| format!("there is no operation `{name}`; known are {known}"))?;
            if self.words.iter().any(|(other, _)| other == word) {
                return Err(format!("`{word}` has a meaning already; give it once"));
            }
            self.words.push((word.to_owned(), op));
        }
        Ok(())
    }

    /// What a word means, in capitals or not: as was said, or if it needs no explanation.
    pub(crate) fn meaning(&self, word: &[u8]) -> Option<WordMeaning> {
        let exact = self.words.iter().find(|(known, _)| known.as_bytes() == word);
        let same = |(known, _): &&(String, Op)| known.as_bytes().eq_ignore_ascii_case(word);
        let said = exact.or_else(|| self.words.iter().find(same));
        said.map(|(_, op)| WordMeaning::of(*op)).or_else(|| usual(word))
    }

    /// Gives truth values the meaning that they have in a column of which a yes is `yes`, such as `is_write`.
    ///
    /// # Errors
    /// A truth value that was given another meaning.
    pub(crate) fn follow(&mut self, yes: Op) -> Result<(), &'static str> {
        let no = if yes == Op::Read { Op::Write } else { Op::Read };
        for (truths, op) in TRUTHS.into_iter().zip([yes, no]) {
            for truth in truths {
                let said = self.words.iter().find(|(word, _)| word.eq_ignore_ascii_case(truth));
                match said {
                    // What is no write may be a trim, too.
                    Some((_, said)) if (op == yes) != (*said == yes) => return Err(truth),
                    Some(_) => {}
                    None => self.words.push((truth.to_owned(), op)),
                }
            }
        }
        Ok(())
    }

    /// Whether a meaning was given to this word.
    pub(crate) fn is_said(&self, word: &[u8]) -> bool {
        self.words.iter().any(|(known, _)| known.as_bytes().eq_ignore_ascii_case(word))
    }

    /// All words that were given, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (word, op) in &self.words {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(text, "{comma}{word}={}", op.name());
        }
        text
    }

    /// Whether no words were given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// What a word means that needs no explanation.
fn usual(word: &[u8]) -> Option<WordMeaning> {
    let begins = |begin: &&str| {
        word.len() > begin.len() && word[..begin.len()].eq_ignore_ascii_case(begin.as_bytes())
    };
    let word = OF_KERNEL.into_iter().find(begins).map_or(word, |begin| &word[begin.len()..]);
    let letters = word.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(word.len());
    let (stem, rest) = word.split_at(letters);
    let is_length = |byte: &u8| byte.is_ascii_digit() || b"_-() ".contains(byte);
    let fua = rest.eq_ignore_ascii_case(b"_fua");
    if !rest.iter().all(is_length) && !fua {
        return None;
    }
    let known = KNOWN.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(stem));
    let known = known.map(|(_, op)| WordMeaning { op: *op, fua: fua && *op == Op::Write });
    known.or_else(|| rwbs(word))
}

/// What a word says if it is a truth value.
pub(crate) fn truth(word: &[u8]) -> Option<bool> {
    let is =
        |truths: &[&str]| truths.iter().any(|truth| word.eq_ignore_ascii_case(truth.as_bytes()));
    let [yes, no] = &TRUTHS;
    if is(yes) { Some(true) } else { is(no).then_some(false) }
}

/// Whether all of these words are truth values.
pub(crate) fn are_truths<'a>(words: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut words = words.peekable();
    words.peek().is_some() && words.all(|word| truth(word).is_some())
}

/// Whether all of these words are truth values of one letter that could be operations, too, as databases write them.
pub(crate) fn are_t_and_f<'a>(words: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_truth = |word: &[u8]| word.eq_ignore_ascii_case(b"t") || word.eq_ignore_ascii_case(b"f");
    let mut words = words.peekable();
    words.peek().is_some() && words.all(is_truth)
}

/// An operation in the letters of Linux' block layer: R, W, D or F, with others for how it is done.
fn rwbs(word: &[u8]) -> Option<WordMeaning> {
    let (first, rest) = word.split_first()?;
    // An F before another operation is a flush that comes with it.
    if first.eq_ignore_ascii_case(&b'f') && !rest.is_empty() {
        return rwbs(rest).filter(|meaning| meaning.op == Op::Write);
    }
    let is_manner = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b's' | b'm' | b'f');
    if word.len() > LONGEST_RWBS || !rest.iter().all(is_manner) {
        return None;
    }
    let op = match first.to_ascii_lowercase() {
        b'r' => Op::Read,
        b'w' => Op::Write,
        b'd' => Op::Trim,
        b'f' => Op::Flush,
        _ => return None,
    };
    // An F behind a write forces it to flash.
    let fua = op == Op::Write && rest.iter().any(|byte| byte.eq_ignore_ascii_case(&b'f'));
    Some(WordMeaning { op, fua })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_leave_no_doubt_need_no_explanation() {
        let told = |word: &str| usual(word.as_bytes()).map(|meaning| meaning.op);
        for word in [
            "R",
            "r",
            "read",
            "READ_10",
            "Read(16)",
            "RA",
            "RSM",
            "rd",
            "Lesen",
            "nvme_cmd_read",
            "REQ_OP_READ",
        ] {
            assert_eq!(told(word), Some(Op::Read), "{word}");
        }
        for word in ["W", "write", "WS", "FWS", "WRITE_FUA", "wr", "Schreiben"] {
            assert_eq!(told(word), Some(Op::Write), "{word}");
        }
        for (word, op) in [("T", Op::Trim), ("D", Op::Trim), ("unmap", Op::Trim), ("F", Op::Flush)]
        {
            assert_eq!(told(word), Some(op), "{word}");
        }
        for word in [
            "",
            "0",
            "1",
            "release",
            "wait",
            "done",
            "start",
            "rw",
            "flags",
            "FR",
            "url",
            "sync_write",
            "sync-read",
            "READ_CAPACITY(10)",
            "read/write",
        ] {
            assert_eq!(told(word), None, "{word}");
        }
    }

    #[test]
    fn writes_with_fua_are_told_apart() {
        for (word, fua) in [
            ("W", false),
            ("WF", true),
            ("WFS", true),
            ("FW", false),
            ("FWFS", true),
            ("write_fua", true),
        ] {
            let meaning = usual(word.as_bytes()).expect(word);
            assert_eq!((meaning.op, meaning.fua), (Op::Write, fua), "{word}");
        }
    }

    #[test]
    fn what_was_said_comes_first_and_capitals_do_not_matter() {
        let mut words = OpWords::default();
        words.add("Rd=write, wr=read, x=trim").expect("words");
        let told = |word: &str| words.meaning(word.as_bytes()).map(|meaning| meaning.op);
        assert_eq!(told("rd"), Some(Op::Write));
        assert_eq!(told("WR"), Some(Op::Read));
        assert_eq!(told("X"), Some(Op::Trim));
        assert_eq!(told("write"), Some(Op::Write));
        // Unless both were said.
        words.add("rd=flush").expect("another word");
        assert_eq!(words.meaning(b"rd"), Some(WordMeaning::of(Op::Flush)));
        assert_eq!(words.meaning(b"Rd"), Some(WordMeaning::of(Op::Write)));
    }
}
