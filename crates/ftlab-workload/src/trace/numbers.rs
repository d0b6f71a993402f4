//! The numbers that programs of all countries write: what a comma, a point or a blank within them means is found once for each column,
//! and then holds for all of it.
//!
//! `998,000` may be 998 with decimals or a number in groups of three. Read by itself it could mean one thing in this line and the other in the
//! next, so a column has one meaning, told by the fields that leave no doubt; a later field that contradicts it is an error.

/// What the marks within a column's numbers mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberMarks {
    decimal: Option<char>,
    group: Option<char>,
    /// The fields that told the one and the other.
    decimal_told: Option<Teller>,
    group_told: Option<Teller>,
    /// The first field of which either was taken for granted.
    doubtful: Option<Teller>,
    /// The numbers without marks at the beginning.
    plain: PlainNumbers,
}

/// Which numbers without marks occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainNumbers {
    /// Some that are too short for groups.
    pub has_short: bool,
    /// Some that would be in groups if any were.
    pub has_long: bool,
}

impl PlainNumbers {
    /// Adds a number without marks.
    pub fn add(&mut self, digits: &[u8]) {
        self.has_long |= digits.len() > GROUP;
        self.has_short |= (1..=GROUP).contains(&digits.len());
    }

    /// What a mark before three digits means by these.
    fn meaning(self, kind: NumberKind) -> Option<Meaning> {
        match kind {
            NumberKind::Time if self.has_long => Some(Meaning::Decimal),
            // Who prints three decimals prints them in each line.
            _ => self.has_short.then_some(Meaning::Group),
        }
    }
}

/// The most characters of a field that a message shows.
const SHOWN: usize = 40;

/// A field that told what a mark means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Teller {
    field: String,
    /// The number of its line, from one; none if it was not read from a file.
    line: Option<u64>,
}

impl Teller {
    /// Keeps as much of the field as a person reads.
    fn of((line, text): LinedField<'_>) -> Teller {
        let mut field: String = text.chars().take(SHOWN).collect();
        if field.len() < text.len() {
            field.push_str(" ...");
        }
        Teller { field, line }
    }

    fn in_words(&self) -> String {
        let line = self.line.map_or(String::new(), |line| format!(" in line {line}"));
        format!("`{}`{line}", self.field)
    }
}

/// A field of a column, and the number of its line.
pub(crate) type LinedField<'a> = (Option<u64>, &'a str);

/// What tells of a mark that no field with marks explains.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BesideMarks<'a> {
    /// Another column of the file, whose marks are clear.
    pub others: Option<&'a NumberMarks>,
    /// The numbers without marks.
    pub plain: PlainNumbers,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// Whole numbers: a mark before three digits stands between groups, unless other fields say otherwise.
    Whole,
    /// Times: such a mark stands before decimals.
    Time,
}

/// What a field says about a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Decimal,
    Group,
    Unclear,
}

/// The digits in a group.
const GROUP: usize = 3;
/// Further digits of a fraction count for less than a nanosecond.
const LONGEST_FRACTION: usize = 18;

fn is_mark(mark: char) -> bool {
    matches!(mark, ',' | '.' | ' ' | '\'' | '\u{a0}' | '\u{202f}')
}

/// Calls `tell` with each kind of mark within a number and what the field says of it. Nothing if the field is no such number.
fn weigh(field: &str, mut tell: impl FnMut(char, Meaning)) {
    let fits = |mark: char| mark.is_ascii_digit() || is_mark(mark);
    let Some(last) = field.chars().rfind(|mark| is_mark(*mark)).filter(|_| field.chars().all(fits))
    else {
        return;
    };
    let count = field.matches(last).count();
    // Something else than a number, such as an address of the internet.
    let mut behind = field.split(last).skip(1);
    if count > 1 && behind.any(|part| part.len() != GROUP) {
        return;
    }
    if let Some(first) = field.chars().find(|mark| is_mark(*mark) && *mark != last) {
        tell(first, Meaning::Group);
        tell(last, if count == 1 { Meaning::Decimal } else { Meaning::Group });
        return;
    }
    let (before, after) = field.split_once(last).unwrap_or((field, ""));
    let is_group = before.len() <= GROUP && !before.starts_with('0') && after.len() == GROUP;
    tell(
        last,
        match (count, last) {
            (1, ',' | '.') if is_group => Meaning::Unclear,
            (1, ',' | '.') => Meaning::Decimal,
            _ => Meaning::Group,
        },
    );
}

impl NumberMarks {
    /// Finds what the marks in these fields mean. The error says which fields contradict each other.
    pub fn learn<'a>(
        kind: NumberKind,
        fields: impl Iterator<Item = LinedField<'a>>,
        beside: BesideMarks<'_>,
    ) -> Result<NumberMarks, String> {
        let mut marks = NumberMarks { plain: beside.plain, ..NumberMarks::default() };
        let mut clear: Vec<(char, Meaning, LinedField<'_>)> = Vec::new();
        let mut unclear: Vec<(char, LinedField<'_>)> = Vec::new();
        for field in fields {
            weigh(field.1, |mark, meaning| match meaning {
                Meaning::Unclear if unclear.iter().any(|known| known.0 == mark) => {}
                Meaning::Unclear => unclear.push((mark, field)),
                meaning if clear.iter().any(|known| (known.0, known.1) == (mark, meaning)) => {}
                meaning => clear.push((mark, meaning, field)),
            });
        }
        for (mark, meaning, field) in clear {
            marks.take(mark, meaning, field)?;
        }
        let is_single = unclear.len() == 1;
        for (mark, field) in unclear {
            let elsewhere = beside.others.and_then(|others| others.meaning_beside(mark));
            let is_open = marks.decimal.is_none() && marks.group.is_none();
            match elsewhere.filter(|_| is_open) {
                Some(meaning) => marks.take(mark, meaning, field)?,
                None if is_single => marks.settle(kind, mark, field)?,
                None => marks.settle_by(kind, mark, field, PlainNumbers::default())?,
            }
        }
        Ok(marks)
    }

    /// Whether it has marks of which none is in doubt.
    pub fn is_clear(&self) -> bool {
        (self.decimal.is_some() || self.group.is_some()) && self.doubtful.is_none()
    }

    /// What a mark means in another column of the same program: as here, or what its rival here leaves.
    fn meaning_beside(&self, mark: char) -> Option<Meaning> {
        match (self.decimal, self.group) {
            (Some(decimal), _) => {
                Some(if decimal == mark { Meaning::Decimal } else { Meaning::Group })
            }
            (None, Some(group)) => {
                Some(if group == mark { Meaning::Group } else { Meaning::Decimal })
            }
            (None, None) => None,
        }
    }

    /// Takes a meaning that leaves no doubt.
    fn take(&mut self, mark: char, meaning: Meaning, field: LinedField<'_>) -> Result<(), String> {
        let teller = || Teller::of(field);
        let is_decimal = meaning == Meaning::Decimal;
        let (own, told, other, other_told) = match is_decimal {
            true => (&mut self.decimal, &mut self.decimal_told, self.group, &self.group_told),
            false => (&mut self.group, &mut self.group_told, self.decimal, &self.decimal_told),
        };
        let role =
            |is_decimal: bool| if is_decimal { "decimal mark" } else { "mark between groups" };
        let against = match *own {
            _ if other == Some(mark) => other_told.as_ref().map(|told| (told, mark, !is_decimal)),
            Some(known) if known != mark => told.as_ref().map(|told| (told, known, is_decimal)),
            _ => None,
        };
        if let Some((told, other, other_is_decimal)) = against {
            return Err(format!(
                "{} has {} as {}, but {} has {} as {}",
                teller().in_words(),
                in_words(mark),
                role(is_decimal),
                told.in_words(),
                in_words(other),
                role(other_is_decimal)
            ));
        }
        *own = Some(mark);
        told.get_or_insert_with(teller);
        Ok(())
    }

    /// Decides a mark that may be either, by the others or else by what the column holds.
    fn settle(
        &mut self,
        kind: NumberKind,
        mark: char,
        field: LinedField<'_>,
    ) -> Result<(), String> {
        self.settle_by(kind, mark, field, self.plain)
    }

    fn settle_by(
        &mut self,
        kind: NumberKind,
        mark: char,
        field: LinedField<'_>,
        plain: PlainNumbers,
    ) -> Result<(), String> {
        if self.decimal == Some(mark) || self.group == Some(mark) {
            return Ok(());
        }
        let teller = Teller::of(field);
        if let Some(first) = &self.doubtful {
            return Err(format!(
                "{} and {} have two marks, and no number of the column tells which of them stands before decimals",
                first.in_words(),
                teller.in_words()
            ));
        }
        let meaning = match (self.decimal, self.group, kind) {
            (Some(_), None, _) => Meaning::Group,
            (None, Some(_), _) => Meaning::Decimal,
            _ => plain.meaning(kind).unwrap_or(match kind {
                NumberKind::Whole => Meaning::Group,
                NumberKind::Time => Meaning::Decimal,
            }),
        };
        if self.decimal.is_none() && self.group.is_none() {
            self.doubtful = Some(teller);
        }
        self.take(mark, meaning, field)
    }

    /// Learns from a field of a kind that did not occur before.
    #[cold]
    fn learn_late(&mut self, kind: NumberKind, field: LinedField<'_>) {
        let known = |mark: char| self.decimal == Some(mark) || self.group == Some(mark);
        let mut news = Vec::new();
        weigh(field.1, |mark, meaning| {
            if !known(mark) {
                news.push((mark, meaning));
            }
        });
        for (mark, meaning) in news {
            // A contradiction remains one: the number is refused.
            let _ = match meaning {
                Meaning::Unclear => self.settle(kind, mark, field),
                meaning => self.take(mark, meaning, field),
            };
        }
    }

    /// A whole number: decimal, hexadecimal with 0x, in groups of three, or with decimals that are zero.
    pub fn whole(&mut self, field: &[u8], line: Option<u64>) -> Option<u64> {
        let text = std::str::from_utf8(field).ok()?;
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok();
        }
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            return u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
        }
        let (whole, fraction) = self.split(NumberKind::Whole, (line, text))?;
        fraction.bytes().all(|byte| byte == b'0').then_some(whole)
    }

    /// A time in nanoseconds of a unit of so many. Parts of a nanosecond are cut off.
    pub fn time(&mut self, field: &[u8], unit_ns: u64, line: Option<u64>) -> Option<u64> {
        let text = std::str::from_utf8(field).ok()?;
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse::<u64>().ok()?.checked_mul(unit_ns);
        }
        let Some((whole, fraction)) = self.split(NumberKind::Time, (line, text)) else {
            let (number, power) = text.split_once(['e', 'E'])?;
            return self.scientific((line, number), power, unit_ns);
        };
        let mut ns = whole.checked_mul(unit_ns)?;
        let mut step = unit_ns;
        for digit in fraction.bytes() {
            step /= 10;
            ns = ns.checked_add(u64::from(digit - b'0') * step)?;
        }
        Some(ns)
    }

    /// A time with a power of ten, such as `1e-05`, which programs print for small numbers.
    #[cold]
    fn scientific(&mut self, number: LinedField<'_>, power: &str, unit_ns: u64) -> Option<u64> {
        let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let power: i32 = power.parse().ok().filter(|_| is_whole)?;
        let (whole, fraction) = self.split(NumberKind::Time, number)?;
        let fraction = fraction.get(..LONGEST_FRACTION).unwrap_or(fraction);
        let places = u32::try_from(fraction.len()).ok()?;
        let parts: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        let all = u128::from(whole) * 10_u128.pow(places) + parts;
        // The point moves to the right by so much.
        let moves = power.checked_sub(i32::try_from(places).ok()?)?;
        let scaled = all.checked_mul(u128::from(unit_ns))?;
        let factor = 10_u128.checked_pow(moves.unsigned_abs());
        let ns = match (moves >= 0, factor) {
            (true, factor) => scaled.checked_mul(factor?)?,
            // Less than a nanosecond.
            (false, None) => 0,
            (false, Some(factor)) => scaled / factor,
        };
        u64::try_from(ns).ok()
    }

    /// The whole part and the digits of the fraction.
    fn split<'a>(
        &mut self,
        kind: NumberKind,
        (line, text): (Option<u64>, &'a str),
    ) -> Option<(u64, &'a str)> {
        let is_new =
            |mark: char| is_mark(mark) && self.decimal != Some(mark) && self.group != Some(mark);
        if text.chars().any(is_new) {
            self.learn_late(kind, (line, text));
        }
        let (whole, fraction) = match self.decimal.and_then(|mark| text.split_once(mark)) {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return None,
            None => (text, ""),
        };
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some((self.grouped(whole)?, fraction))
    }

    /// A number that may be in groups.
    fn grouped(&self, text: &str) -> Option<u64> {
        let mut groups = text.split(|mark| Some(mark) == self.group);
        let first = groups.next()?;
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let mut all = first.parse().ok().filter(|_: &u64| digits(first))?;
        for group in groups {
            if first.len() > GROUP || group.len() != GROUP || !digits(group) {
                return None;
            }
            all = all.checked_mul(1_000)?.checked_add(group.parse().ok()?)?;
        }
        Some(all)
    }

    /// How the column's numbers are read, if they have marks.
    pub fn in_words(&self, column: &str) -> Option<String> {
        let decimal = self.decimal.map(|mark| format!("{} stands before decimals", in_words(mark)));
        let group = self.group.map(|mark| format!("{} between groups of three", in_words(mark)));
        let both = [decimal, group].into_iter().flatten().collect::<Vec<_>>().join(", and ");
        let doubt = self.doubtful.as_ref().map_or(String::new(), |told| {
            format!(", as in `{}`; no number of the column tells", told.field)
        });
        (!both.is_empty()).then(|| format!("in {column}, {both}{doubt}"))
    }

    /// How the column's numbers are read, and which of them told so.
    pub fn with_tellers(&self, column: &str) -> Option<String> {
        let told = [&self.decimal_told, &self.group_told].into_iter().flatten();
        let told: Vec<String> = told.map(Teller::in_words).collect();
        self.in_words(column).map(|words| format!("{words}: see {}", told.join(" and ")))
    }
}

fn in_words(mark: char) -> &'static str {
    match mark {
        ',' => "a comma",
        '.' => "a point",
        '\'' => "an apostrophe",
        _ => "a blank",
    }
}

/// A whole number by itself.
pub(crate) fn whole_number(field: &[u8]) -> Option<u64> {
    NumberMarks::default().whole(field, None)
}

/// A time by itself.
pub(crate) fn decimal_time(field: &[u8], unit_ns: u64) -> Option<u64> {
    NumberMarks::default().time(field, unit_ns, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Learns from the lines of a file.
    fn learned(kind: NumberKind, fields: &[&str]) -> Result<NumberMarks, String> {
        let lines = (1..).map(Some).zip(fields.iter().copied());
        NumberMarks::learn(kind, lines, BesideMarks::default())
    }

    fn wholes(fields: &[&str]) -> Result<Vec<Option<u64>>, String> {
        let mut marks = learned(NumberKind::Whole, fields)?;
        Ok(fields.iter().map(|field| marks.whole(field.as_bytes(), None)).collect())
    }

    /// In thousandths.
    fn times(fields: &[&str]) -> Result<Vec<Option<u64>>, String> {
        let mut marks = learned(NumberKind::Time, fields)?;
        Ok(fields.iter().map(|field| marks.time(field.as_bytes(), 1_000, None)).collect())
    }

    #[test]
    fn a_column_has_one_meaning_of_its_marks() {
        let some = |numbers: &[u64]| Ok(numbers.iter().copied().map(Some).collect::<Vec<_>>());
        // Alone, a comma before three digits is a decimal mark in times; groups beside it tell otherwise.
        assert_eq!(times(&["997,000", "998,000"]), some(&[997_000, 998_000]));
        assert_eq!(times(&["998,000", "1,000,000"]), some(&[998_000_000, 1_000_000_000]));
        assert_eq!(times(&["1.250", "1.5"]), some(&[1_250, 1_500]));
        assert_eq!(times(&["0,125", "1,250"]), some(&[125, 1_250]));
        assert_eq!(times(&["1.234,5", "2.000", "1,125"]), some(&[1_234_500, 2_000_000, 1_125]));
        assert_eq!(times(&["1 000,250", "1 001"]), some(&[1_000_250, 1_001_000]));
        // In sizes it stands between groups, unless decimals of zero tell otherwise.
        assert_eq!(wholes(&["512", "4,096"]), some(&[512, 4096]));
        assert_eq!(wholes(&["512.000", "4096.000"]), some(&[512, 4096]));
        assert_eq!(wholes(&["1.234.567", "4.096"]), some(&[1_234_567, 4096]));
        assert_eq!(wholes(&["4.096,00", "512,00"]), some(&[4096, 512]));
    }

    #[test]
    fn contradictions_are_refused() {
        let told = |fields: &[&str]| times(fields).expect_err("they contradict each other");
        assert_eq!(
            told(&["1,5", "1,000,000"]),
            "`1,000,000` in line 2 has a comma as mark between groups, but `1,5` in line 1 has a comma as decimal mark"
        );
        assert_eq!(
            told(&["1,5", "7", "1.5"]),
            "`1.5` in line 3 has a point as decimal mark, but `1,5` in line 1 has a comma as decimal mark"
        );
        assert_eq!(
            told(&["1.234", "1,234"]),
            "`1.234` in line 1 and `1,234` in line 2 have two marks, and no number of the column tells which of them stands \
             before decimals"
        );
        // Behind the beginning of a file the number is refused.
        let mut marks = learned(NumberKind::Time, &["998,000"]).expect("no doubt");
        assert_eq!(marks.time(b"1,000,000", 1, Some(2)), None);
        let said = marks.with_tellers("ts").expect("a mark");
        assert!(said.ends_with(": see `998,000` in line 1"), "{said}");
        let mut marks = learned(NumberKind::Whole, &["998"]).expect("no doubt");
        assert_eq!(marks.whole(b"1.000", Some(7)), Some(1000));
        assert_eq!(marks.whole(b"4096.0", Some(8)), None);
        let said = marks.with_tellers("size").expect("a mark");
        assert!(said.ends_with(": see `1.000` in line 7"), "{said}");
        let long = format!("1.5{}", "0".repeat(5_000));
        let marks = learned(NumberKind::Time, &[&long]).expect("no doubt");
        assert!(marks.with_tellers("its time").unwrap().ends_with("000 ...` in line 1"));
    }

    #[test]
    fn what_was_taken_for_granted_is_said() {
        let said = |kind, fields: &[&str]| learned(kind, fields).expect("no doubt").in_words("ts");
        assert_eq!(said(NumberKind::Time, &["1", "2"]), None);
        assert_eq!(
            said(NumberKind::Time, &["998,000"]).expect("a mark"),
            "in ts, a comma stands before decimals, as in `998,000`; no number of the column tells"
        );
        assert_eq!(
            said(NumberKind::Time, &["1.998,5"]).expect("marks"),
            "in ts, a comma stands before decimals, and a point between groups of three"
        );
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
        for wrong in
            ["", "-1", "+1", "0x", "1.5", "12,34", "1 23", "a", "4 KiB", "99999999999999999999"]
        {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
        let time = |text: &str| decimal_time(text.as_bytes(), 1_000_000_000);
        assert_eq!(time("1.5"), Some(1_500_000_000));
        assert_eq!(time("1,000000001"), Some(1_000_000_001));
        assert_eq!(time("1.234,5"), Some(1_234_500_000_000));
        assert_eq!(time("1,234.5"), Some(1_234_500_000_000));
        assert_eq!(time("1,234,567"), Some(1_234_567_000_000_000));
        assert_eq!(time("1e-05"), Some(10_000));
        assert_eq!(time("1.25E-3"), Some(1_250_000));
        assert_eq!(time("1,5e+00"), Some(1_500_000_000));
        assert_eq!(time("1.714566600125e+09"), Some(1_714_566_600_125_000_000));
        assert_eq!(time("0.000000e+00"), Some(0));
        assert_eq!(time("3e-40"), Some(0));
        for wrong in [
            "",
            ".5",
            "5.",
            "-1",
            "1e",
            "e5",
            "1e+",
            "1e1.5",
            "1e30",
            "1e99999999999",
            "-1e-5",
            "1.2.3,4,5",
            "x",
            "99999999999999999999",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
