//! What to say of a file that fits no format: its first lines as they were split, and the `columns` that would probably read them.

use ftlab::host::Op;
use ftlab::options::text::clip;
use ftlab::units::SECTOR_BYTES;

use super::columns::{RequestPart, amount, is_plain};
use super::head;
use super::likely::{FoundColumns, add_likely};
use super::moments::moment_ns;
use super::names_of_columns::{HINTS, has, is_no_part, part_of, unit_of, words, yes_of};
use super::numbers::{decimal_time, whole_number};
use super::odd_tables::{
    BlockSize, DateInTwo, FioLog, events, ragged, seconds_and_parts, short_head,
};
use super::op_words::{self, OpWords, truth};
use super::table::{Splitter, first_lines, guess_separator, separator_in_words, without_head};
use super::units::{SINCE_1970, SpaceUnit, TimeUnit, time_name};

/// How many lines an error shows.
const SHOWN: usize = 3;
/// How many lines a guess looks at.
const LOOKED_AT: usize = 64;
/// The most columns of a table for which some are suggested.
const MOST_COLUMNS: usize = 256;
/// The longest name of a column that is suggested, in bytes.
const NAME: usize = 40;
/// How much of a line an error shows, in characters.
const LINE: usize = 160;

/// Output of programs that is no trace: words of its head, what it lacks, and the remedy.
const HALVES: [(&[&str], &str, &str); 3] = [
    (
        &["TIME(ms)", "DISK", "LAT(ms)"],
        "this is biosnoop of bpftrace, which prints neither addresses nor sizes",
        "record with biosnoop of bcc or libbpf-tools, which prints both, or with blktrace",
    ),
    (
        &["Device", "r/s", "w/s"],
        "this is iostat, which prints averages and no requests",
        "record requests with blktrace; or write a workload with these averages (docs/loads.md)",
    ),
    (
        &["COMM", "PID", "TYPE", "DEV", "BLOCK", "BYTES", "LATms"],
        "this is iosnoop without times",
        "record with iosnoop -ts and name the columns (`columns`), or with blktrace",
    ),
];

/// Whether a line begins an object of JSON, or a list of such.
fn is_json(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start().starts_with(b"{") || line == b"["
}

/// Whether a text is the output of a program that is only half of a trace: what it lacks, and the remedy.
pub(crate) fn half(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    if first_lines(sample).next().is_some_and(is_json) {
        return Some((
            "this is JSON, and no table",
            "make a table of it, such as by jq -r '[.time, .op, .offset, .size] | @csv' FILE with the keys that it has, and name its columns (`columns`)",
        ));
    }
    let lines = || first_lines(sample).take(SHOWN).map(String::from_utf8_lossy);
    let is = |words: &[&str]| lines().any(|line| words.iter().all(|word| line.contains(word)));
    let found = HALVES
        .into_iter()
        .find(|(words, ..)| is(words) && !lines().any(|line| line.contains("STARTs")));
    found.map(|(_, lacks, remedy)| (lacks, remedy))
}

/// A table's first lines, and a guess of its columns.
pub(crate) struct Guess {
    /// How the lines were split, and the first of them, behind a semicolon; empty if it is no table.
    pub shown: String,
    /// What `columns` would probably read it; none if nothing is likely.
    pub columns: Option<String>,
    /// Whether no column tells reads from writes.
    lacks_op: bool,
    /// What else the guess can't know.
    notes: Vec<String>,
}

/// What the columns have where none tells the operation, and what may be meant as well.
const OP_OF_ALL: [&str; 2] = ["op=write", "op=read"];

impl Guess {
    /// The guess as a remedy.
    pub fn in_words(&self) -> Option<String> {
        let columns = self.columns.as_ref()?;
        let notes: String = self.notes.iter().map(|note| format!(" ({note})")).collect();
        let others = self.lacks_op.then(|| {
            let [write, read] = OP_OF_ALL;
            let reads = columns.replacen(write, read, 1);
            format!(
                " if all requests are writes, or `columns` {reads} if all are reads, as no column tells the operation"
            )
        });
        let others = others.unwrap_or_default();
        Some(format!("these may be its columns: `columns` {columns}{others}{notes}"))
    }
}

/// What `columns` would probably read a table that begins so, in words: with what else may be meant, and what to look at.
#[must_use]
pub fn suggested_columns(sample: &[u8]) -> Option<String> {
    guess(sample).in_words()
}

/// Looks at the beginning of a text.
pub(crate) fn guess(sample: &[u8]) -> Guess {
    if head::of(sample).is_none()
        && let Some((begin, number)) = head::below_title(sample)
    {
        let mut below = guess(&sample[begin..]);
        below.notes.push(head::without_title(number));
        return below;
    }
    let Some(separator) = guess_separator(sample) else {
        let shown = ragged(sample).unwrap_or_default();
        return Guess { shown, columns: None, lacks_op: false, notes: Vec::new() };
    };
    let mut splitter = Splitter::new(separator);
    let head = head::of(sample);
    let is_head = head.is_some();
    // A head that is a comment is none of the lines.
    let comment = head.filter(|head| head.is_comment).map(|head| head.names);
    let names = first_lines(sample).next().filter(|_| is_head && comment.is_none());
    let below = names.into_iter().chain(without_head(sample, names)).take(LOOKED_AT).map(|line| {
        splitter.split(line);
        splitter.all()
    });
    let rows: Vec<Vec<String>> = comment.into_iter().chain(below).collect();
    let shown = rows.iter().take(SHOWN).map(|row| {
        let line: String = row
            .join(" | ")
            .chars()
            .map(|mark| if mark.is_control() { ' ' } else { mark })
            .collect();
        let cut: String = line.chars().take(LINE).collect();
        if cut.len() < line.len() { cut + "..." } else { cut }
    });
    let lines: Vec<String> = shown.collect();
    let separator = separator_in_words(separator);
    let shown = format!("; split at {separator}, it begins {}", lines.join(" // "));
    let shown = shown + &short_head(&rows).filter(|_| !is_head).unwrap_or_default();
    let mut guess = Guess { shown, columns: None, lacks_op: false, notes: Vec::new() };
    guess.columns = columns(&rows, is_head, &mut guess);
    guess
}

/// What no request can do without, though it may be given for all of them.
const NEEDED: [RequestPart; 3] = [RequestPart::Op, RequestPart::Offset, RequestPart::Size];

/// The columns that are likely by their names, and else by what they hold.
fn columns(rows: &[Vec<String>], is_head: bool, guess: &mut Guess) -> Option<String> {
    let notes = &mut guess.notes;
    let first = rows.first()?;
    let data = if is_head { &rows[1..] } else { rows };
    if data.is_empty() || !(SHOWN..=MOST_COLUMNS).contains(&first.len()) {
        return None;
    }
    if let Some(log) = FioLog::of(data).filter(|_| !is_head) {
        notes.push(log.note());
        if let Some(columns) = log.columns() {
            return Some(columns);
        }
    }
    let joined = DateInTwo::of(data);
    let block = BlockSize::of(first, data).filter(|_| is_head);
    let table = TableStart { first, is_head, data, joined, block };
    let found = table.parts(notes);
    let has = |part: RequestPart| found.iter().any(|(known, _)| *known == part);
    if NEEDED.into_iter().filter(|part| has(*part)).count() < 2 || !has(RequestPart::Offset) {
        return None;
    }
    let offset = found.iter().find(|(part, _)| *part == RequestPart::Offset && is_head);
    let counts_pages = offset
        .and_then(|(part, index)| unit_of(*part, &first[*index]))
        .filter(|unit| *unit == SpaceUnit::Page4k.bytes());
    let unit_in_blocks = |(part, index): &(RequestPart, usize)| {
        table.block.as_ref().and_then(|block| block.unit(*part, &first[*index]))
    };
    let usual = counts_pages.or_else(|| offset.and_then(unit_in_blocks));
    let said = |found: &(RequestPart, usize)| {
        let (part, index) = *found;
        let usual = usual.filter(|_| part == RequestPart::Size);
        table.said(part, Cells { data, index, usual, in_blocks: unit_in_blocks(found) }, notes)
    };
    let mut parts: Vec<String> = found.iter().map(said).collect();
    for part in NEEDED.into_iter().filter(|part| !has(*part)) {
        if part == RequestPart::Op {
            guess.lacks_op = true;
            parts.push(OP_OF_ALL[0].to_owned());
        } else {
            parts.push("size=4KiB".to_owned());
            notes.push("no column tells the sizes, so 4KiB is a guess".to_owned());
        }
    }
    let time = found.iter().find(|(part, _)| *part == RequestPart::Time).map(|(_, index)| *index);
    let in_two = seconds_and_parts(first, data, time).filter(|_| is_head);
    let none = || "no column was found for times, so the requests have none".to_owned();
    notes.extend(in_two.or_else(|| time.is_none().then(none)));
    notes.extend(table.block.as_ref().map(|block| block.note(first)));
    notes.extend(found.iter().find_map(|(part, index)| table.counts_from_zero(*part, *index)));
    notes.extend(events(data, &found));
    if let Some((_, index)) = found.iter().find(|(part, _)| *part == RequestPart::Op) {
        notes.extend(unexplained(is_head.then(|| first[*index].as_str()), data, *index));
    }
    Some(parts.join(","))
}

/// The beginning of a table.
struct TableStart<'a> {
    /// The names of its columns, or its first line.
    first: &'a [String],
    is_head: bool,
    data: &'a [Vec<String>],
    joined: Option<DateInTwo>,
    block: Option<BlockSize>,
}

impl TableStart<'_> {
    /// What to do about numbers of blocks as NVMe's commands have them.
    fn counts_from_zero(&self, part: RequestPart, index: usize) -> Option<String> {
        let is_nvme =
            self.is_head && part == RequestPart::Size && has(&words(&self.first[index]), "nlb");
        is_nvme.then(|| {
            "nlb in NVMe's commands is one less than the blocks: if it is here, add one first"
                .to_owned()
        })
    }

    /// Where the parts of a request are, as far as that is likely.
    fn parts(&self, notes: &mut Vec<String>) -> FoundColumns {
        let TableStart { first, is_head, data, joined, block } = self;
        let sizes = block.as_ref().map(|block| block.index);
        let mut found = if *is_head { by_names(first, data, sizes, notes) } else { Vec::new() };
        if let Some(joined) = joined {
            found.retain(|(part, _)| *part != RequestPart::Time);
            found.push((RequestPart::Time, joined.time));
            notes.push(joined.note(&data[0]));
        }
        notes.extend(odd_sizes(data, &mut found, are_amounts));
        // A line may have more cells than the head.
        let is_no_part = |index: usize| {
            let is_named = *is_head && first.get(index).is_some_and(|name| is_no_part(name));
            is_named
                || sizes == Some(index)
                || joined.as_ref().is_some_and(|joined| joined.date == index)
        };
        by_content(&without(data, is_no_part), &mut found);
        notes.extend(odd_sizes(data, &mut found, are_mostly_numbers));
        found.sort_unstable();
        found
    }

    /// How to say that a column is a part, with its unit.
    fn said(&self, part: RequestPart, cells: Cells<'_>, notes: &mut Vec<String>) -> String {
        let TableStart { first, is_head, joined, .. } = self;
        let (index, name) = (cells.index, &first[cells.index]);
        let joined = joined.as_ref();
        if let Some(joined) = joined.filter(|_| part == RequestPart::Time) {
            return format!("{}={}:iso", part.name(), joined.place(index) + 1);
        }
        // A name that is long or hard to type, or that of two columns, is called by its number.
        let is_same = |other: &&String| other.eq_ignore_ascii_case(name);
        let is_one = first.iter().filter(is_same).count() == 1;
        let is_short = !name.is_empty() && name.len() <= NAME;
        let column = match *is_head && is_short && is_one && name.chars().all(is_plain) {
            true => name.clone(),
            false => (joined.map_or(index, |joined| joined.place(index)) + 1).to_string(),
        };
        let unit = unit(part, if *is_head { name } else { "" }, cells, notes);
        format!("{}={column}{unit}", part.name())
    }
}

/// The words of operations that need an explanation.
fn unexplained(name: Option<&str>, data: &[Vec<String>], index: usize) -> Option<String> {
    let known = OpWords::default();
    let mut odd: Vec<&str> =
        data.iter().filter_map(|row| row.get(index).map(String::as_str)).collect();
    odd.sort_unstable();
    odd.dedup();
    let are_truths = op_words::are_t_and_f(odd.iter().map(|word| word.as_bytes()));
    odd.retain(|word| are_truths || known.meaning(word.as_bytes()).is_none());
    let (first, rest) = odd.split_first()?;
    let words = name.map(words).unwrap_or_default();
    if let Some(codes) = name.and_then(|name| truths(name, &odd)) {
        return Some(format!("with `op` {codes}"));
    }
    let of_nvme = is_called(&words, "opcode") && odd.iter().all(|word| matches!(*word, "1" | "2"));
    let codes = match of_nvme {
        true => "1=write,2=read as in NVMe".to_owned(),
        false => {
            let second = rest.first().map_or(String::new(), |word| format!(",{word}=write"));
            format!("{first}=read{second}")
        }
    };
    Some(format!("with `op` {codes}, or whatever {} mean", odd.join(", ")))
}

fn is_called(words: &[String], hint: &str) -> bool {
    words.iter().any(|word| word == hint)
}

/// What truth values mean in a column that is called by one operation.
fn truths(name: &str, odd: &[&str]) -> Option<String> {
    let yes = yes_of(name)?;
    let no = if yes == Op::Read { Op::Write } else { Op::Read };
    let said = |word: &&str| {
        let op = if truth(word.as_bytes())? { yes } else { no };
        Some(format!("{word}={}", op.name()))
    };
    Some(odd.iter().map(said).collect::<Option<Vec<String>>>()?.join(","))
}

/// A column, and what else tells the unit of its numbers.
struct Cells<'a> {
    data: &'a [Vec<String>],
    index: usize,
    /// The unit if they are no bytes and its name tells none.
    usual: Option<u64>,
    /// The unit if its name says that it counts blocks, and another column tells their size.
    in_blocks: Option<u64>,
}

/// A unit that a column's name tells, or that its numbers make likely.
fn unit(part: RequestPart, name: &str, cells: Cells<'_>, notes: &mut Vec<String>) -> String {
    let Cells { data, index, usual, in_blocks } = cells;
    let fields = || data.iter().filter_map(|row| Some(row.get(index)?.as_bytes()));
    match part {
        RequestPart::Time if fields().all(|field| moment_ns(field).is_some()) => ":iso".to_owned(),
        RequestPart::Time => {
            let by_name = unit_of(part, name);
            let largest = fields().filter_map(|field| decimal_time(field, 1)).max().unwrap_or(0);
            let by_date = SINCE_1970.iter().find(|(_, dates)| dates.contains(&largest));
            let by_date = by_date.map(|(unit, _)| unit.ns());
            if by_name.or(by_date).is_none() {
                notes.push(
                    "times count seconds unless a unit stands behind a colon, as in :us".to_owned(),
                );
            }
            let unit = by_name.or(by_date).filter(|ns| *ns != TimeUnit::S.ns());
            unit.map_or(String::new(), |ns| format!(":{}", time_name(ns)))
        }
        RequestPart::Offset | RequestPart::Size => {
            let is_odd = |field: &[u8]| whole_number(field).is_some_and(|value| value % 512 != 0);
            match in_blocks.or_else(|| unit_of(part, name)) {
                // Bytes are multiples of sectors.
                None if fields().any(is_odd) => {
                    guessed_unit(part, usual.unwrap_or(SECTOR_BYTES), notes)
                }
                None | Some(1) => String::new(),
                Some(unit) => guessed_unit(part, unit, notes),
            }
        }
        RequestPart::Op | RequestPart::Stream => String::new(),
    }
}

/// A unit other than bytes, which is said to be a guess.
fn guessed_unit(part: RequestPart, unit: u64, notes: &mut Vec<String>) -> String {
    notes.push(format!("{} counts units of {unit} bytes if the guess is right", part.name()));
    format!(":{unit}")
}

/// The columns by their names, but for the one of other sizes. One that is called as a part is, but has a few cells that can't be it, is
/// none the less no other's.
fn by_names(
    head: &[String],
    data: &[Vec<String>],
    other: Option<usize>,
    notes: &mut Vec<String>,
) -> FoundColumns {
    let mut found = FoundColumns::new();
    let words: Vec<Vec<String>> = head.iter().map(|name| words(name)).collect();
    let parts: Vec<Option<RequestPart>> = head.iter().map(|name| part_of(name)).collect();
    for (part, hints) in HINTS {
        let fits = |index: &usize, hint: &str, is_odd: bool| {
            let free = other != Some(*index) && !found.iter().any(|(_, taken)| taken == index);
            let is_its = parts[*index] == Some(part) && has(&words[*index], hint);
            let holds = || match is_odd {
                true => odd_number(part, data, *index).is_some(),
                false => holds(part, data, *index),
            };
            free && is_its && holds()
        };
        let of = |is_odd: bool| {
            let of = |hint: &&str| (0..head.len()).find(|index| fits(index, hint, is_odd));
            hints.iter().find_map(of)
        };
        let Some(index) = of(false).or_else(|| of(true)) else { continue };
        if let Some(cell) = odd_number(part, data, index) {
            notes.push(odd_cell(part, cell));
        }
        found.push((part, index));
    }
    found
}

/// The cells without those of columns that are no part of a request.
fn without(data: &[Vec<String>], is_none: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
    let mut data = data.to_vec();
    for row in &mut data {
        for (index, cell) in row.iter_mut().enumerate() {
            if is_none(index) {
                cell.clear();
            }
        }
    }
    data
}

/// What to do about a cell that is not what its column holds.
fn odd_cell(part: RequestPart, cell: &str) -> String {
    let what = if part == RequestPart::Time { "numbers or dates" } else { "whole numbers" };
    format!(
        "the column of {} has cells that are no {what}, such as {}: correct them first",
        part.name(),
        clip(cell)
    )
}

/// A cell that can't be this part in a column of which most cells are numbers or begin as such; none if all can.
fn odd_number(part: RequestPart, data: &[Vec<String>], index: usize) -> Option<&str> {
    if !matches!(part, RequestPart::Time | RequestPart::Offset | RequestPart::Size) {
        return None;
    }
    let cells = || data.iter().filter_map(|row| row.get(index).map(String::as_str));
    let begin = cells().filter(|cell| cell.starts_with(|first: char| first.is_ascii_digit()));
    let are_numbers = begin.count() * 2 > data.len();
    cells().find(|cell| are_numbers && !can_be(part, cell))
}

/// Takes a column for the sizes, if there is none yet, of which some cells are none, but whose cells look so.
fn odd_sizes(
    data: &[Vec<String>],
    found: &mut FoundColumns,
    look_so: fn(&[&str]) -> bool,
) -> Option<String> {
    if found.iter().any(|(part, _)| *part == RequestPart::Size) {
        return None;
    }
    let width = data.iter().map(Vec::len).min().unwrap_or(0);
    let is_free = |index: &usize| !found.iter().any(|(_, taken)| taken == index);
    let cells = |index: usize| data.iter().map(|row| row[index].as_str()).collect::<Vec<_>>();
    let (index, cell) = (0..width).filter(is_free).find_map(|index| {
        let odd = odd_number(RequestPart::Size, data, index)?;
        look_so(&cells(index)).then_some((index, odd))
    })?;
    found.push((RequestPart::Size, index));
    Some(odd_cell(RequestPart::Size, cell))
}

/// Whether all cells are numbers, or such with a unit of bytes, as in 4096B or 4K.
fn are_amounts(cells: &[&str]) -> bool {
    cells.iter().all(|cell| is_number(cell) || amount(cell).is_some())
}

fn is_number(cell: &str) -> bool {
    !cell.is_empty() && cell.bytes().all(|mark| mark.is_ascii_digit())
}

/// Whether most cells are numbers, whatever stands behind them.
fn are_mostly_numbers(cells: &[&str]) -> bool {
    let is_one = |cell: &&&str| {
        let unit = cell.trim_start_matches(|mark: char| mark.is_ascii_digit());
        unit.len() < cell.len()
            && unit.bytes().all(|mark| mark.is_ascii_alphabetic() || mark == b' ')
    };
    cells.iter().filter(is_one).count() * 2 > cells.len()
}

/// The longest word of an operation.
const LONGEST_WORD: usize = 12;
/// The most different words in a column of operations.
const MOST_WORDS: usize = 8;

/// Whether a field can be this part.
fn can_be(part: RequestPart, field: &str) -> bool {
    let bytes = field.as_bytes();
    match part {
        RequestPart::Time => decimal_time(bytes, 1).or_else(|| moment_ns(bytes)).is_some(),
        RequestPart::Offset | RequestPart::Size => whole_number(bytes).is_some(),
        RequestPart::Op => field.len() <= LONGEST_WORD && !field.is_empty(),
        RequestPart::Stream => true,
    }
}

/// Whether a column's fields can be this part.
fn holds(part: RequestPart, data: &[Vec<String>], index: usize) -> bool {
    let fits = |row: &Vec<String>| row.get(index).is_some_and(|field| can_be(part, field));
    let few = part != RequestPart::Op || {
        let mut words: Vec<&String> = data.iter().filter_map(|row| row.get(index)).collect();
        words.sort_unstable();
        words.dedup();
        words.len() <= MOST_WORDS
    };
    few && data.iter().all(fits)
}

/// Whether these are two words, of which one begins with a read and one with a write, as rd_blk and wr_blk.
fn are_a_pair<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let mut words: Vec<String> = cells.map(str::to_ascii_lowercase).collect();
    words.sort_unstable();
    words.dedup();
    let first =
        |word: &str| word.split(|mark: char| !mark.is_ascii_alphabetic()).next().map(str::to_owned);
    let is =
        |word: &str, known: [&str; 4]| first(word).is_some_and(|first| known.contains(&&*first));
    let [read, write] = &words[..] else { return false };
    is(read, ["r", "rd", "read", "reads"]) && is(write, ["w", "wr", "write", "writes"])
}

/// Adds what is missing: words are operations, and so are two codes; of numbers what is likely.
fn by_content(data: &[Vec<String>], found: &mut FoundColumns) {
    let width = data.iter().map(Vec::len).min().unwrap_or(0);
    let is_free = |index: &usize| !found.iter().any(|(_, taken)| taken == index);
    let known = OpWords::default();
    let is_word = |field: &str| known.meaning(field.as_bytes()).is_some();
    if !found.iter().any(|(part, _)| *part == RequestPart::Op) {
        let all = |index: usize| data.iter().map(move |row| row[index].as_str());
        let words = || (0..width).filter(is_free).filter(|index| all(*index).all(is_word));
        // A column of D alone may hold issues and no trims.
        let moves = |word: &str| {
            let op = known.meaning(word.as_bytes()).map(|meaning| meaning.op);
            matches!(op, Some(Op::Read | Op::Write))
        };
        let word = words().find(|index| all(*index).any(moves)).or_else(|| words().next());
        // Two codes, whatever they mean, are asked for.
        let is_code = |index: &usize| {
            all(*index).all(|code| matches!(code, "0" | "1"))
                && all(*index).any(|code| code == "0")
                && all(*index).any(|code| code == "1")
        };
        let code = || (0..width).filter(is_free).find(is_code);
        let pair = || (0..width).filter(is_free).find(|index| are_a_pair(all(*index)));
        let op = word.or_else(code).or_else(pair);
        found.extend(op.map(|index| (RequestPart::Op, index)));
    }
    add_likely(data, found);
}
