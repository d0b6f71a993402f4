//! What to say of a file that fits no format: its first lines as they were split, and the `columns` that would probably read them.

use super::columns::RequestPart;
use super::table::{
    Splitter, decimal_time, first_lines, guess_separator, separator_in_words, whole_number,
};

/// How many lines an error shows.
const SHOWN: usize = 3;
/// How many lines a guess looks at.
const LOOKED_AT: usize = 64;
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

/// Whether a text is the output of a program that is only half of a trace: what it lacks, and the remedy.
pub(crate) fn half(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    let lines = || first_lines(sample).take(SHOWN).map(String::from_utf8_lossy);
    let is = |words: &[&str]| lines().any(|line| words.iter().all(|word| line.contains(word)));
    let found = HALVES
        .into_iter()
        .find(|(words, ..)| is(words) && !lines().any(|line| line.contains("STARTs")));
    found.map(|(_, lacks, remedy)| (lacks, remedy))
}

/// Words in the names of columns, the most telling first.
const HINTS: [(RequestPart, &[&str]); 5] = [
    (RequestPart::Time, &["init time", "timestamp", "time", "ts", "clock", "date"]),
    (
        RequestPart::Op,
        &[
            "io type",
            "opcode",
            "operation",
            "op",
            "rw",
            "type",
            "cmd",
            "command",
            "request",
            "iotype",
        ],
    ),
    (RequestPart::Offset, &["offset", "lba", "lbn", "address", "addr", "sector", "block", "start"]),
    (RequestPart::Size, &["size", "length", "len", "bytes", "sectors", "count", "blocks", "nr"]),
    (RequestPart::Stream, &["disk", "volume", "device", "dev", "stream", "lun", "host"]),
];

/// A table's first lines, and a guess of its columns.
pub(crate) struct Guess {
    /// How the lines were split, and the first of them, behind a semicolon; empty if it is no table.
    pub shown: String,
    /// What `columns` would probably read it; none if nothing is likely.
    pub columns: Option<String>,
}

/// What `columns` would probably read a table that begins so.
#[must_use]
pub fn suggested_columns(sample: &[u8]) -> Option<String> {
    guess(sample).columns
}

/// Looks at the beginning of a text.
pub(crate) fn guess(sample: &[u8]) -> Guess {
    let Some(separator) = guess_separator(sample) else {
        return Guess { shown: String::new(), columns: None };
    };
    let mut splitter = Splitter::new(separator);
    let rows: Vec<Vec<String>> = first_lines(sample)
        .take(LOOKED_AT)
        .map(|line| {
            splitter.split(line);
            splitter.all()
        })
        .collect();
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
    Guess {
        shown: format!("; split at {separator}, it begins {}", lines.join(" // ")),
        columns: columns(&rows),
    }
}

/// The columns that are likely by their names, and else by what they hold.
fn columns(rows: &[Vec<String>]) -> Option<String> {
    let first = rows.first()?;
    let is_head = !first.iter().any(|field| decimal_time(field.as_bytes(), 1).is_some());
    let data = if is_head { &rows[1..] } else { rows };
    if data.is_empty() || first.len() < SHOWN {
        return None;
    }
    let mut found = if is_head { by_names(first, data) } else { Vec::new() };
    by_content(data, &mut found);
    found.sort_unstable();
    let has = |part: RequestPart| found.iter().any(|(known, _)| *known == part);
    let needed = [RequestPart::Op, RequestPart::Offset, RequestPart::Size];
    if needed.into_iter().filter(|part| has(*part)).count() < 2 || !has(RequestPart::Offset) {
        return None;
    }
    let missing = needed.into_iter().filter(|part| !has(*part));
    let instead = missing
        .map(|part| if part == RequestPart::Op { "op=write" } else { "size=4KiB" }.to_owned());
    let mut parts: Vec<String> = found
        .iter()
        .map(|(part, index)| {
            let name = &first[*index];
            let is_odd = |mark: char| mark.is_control() || [',', ':', '=', '\''].contains(&mark);
            // A name that is long or hard to type is called by its number.
            let plain = is_head && name.len() <= NAME && !name.contains(is_odd);
            let column = if plain { name.clone() } else { (index + 1).to_string() };
            format!("{}={column}{}", part.name(), unit(*part, &column, data, *index))
        })
        .collect();
    parts.extend(instead);
    Some(parts.join(","))
}

/// A unit that a column's name tells, or that its numbers make likely.
fn unit(part: RequestPart, name: &str, data: &[Vec<String>], index: usize) -> &'static str {
    let name = name.to_lowercase();
    let values = || data.iter().filter_map(|row| whole_number(row.get(index)?.as_bytes()));
    match part {
        RequestPart::Time if name.contains("ns") || name.contains("nano") => ":ns",
        RequestPart::Time
            if name.contains("us") || name.contains("µs") || name.contains("micro") =>
        {
            ":us"
        }
        RequestPart::Time if name.contains("ms") || name.contains("milli") => ":ms",
        RequestPart::Offset | RequestPart::Size
            if name.contains("sector") || name.contains("lba") || name.contains("block") =>
        {
            ":512"
        }
        // Bytes are multiples of sectors.
        RequestPart::Offset | RequestPart::Size if values().any(|value| value % 512 != 0) => ":512",
        _ => "",
    }
}

type Found = Vec<(RequestPart, usize)>;

fn by_names(head: &[String], data: &[Vec<String>]) -> Found {
    let mut found = Found::new();
    for (part, hints) in HINTS {
        let fits = |index: &usize, hint: &str| {
            let name = head[*index].to_lowercase();
            let free = !found.iter().any(|(_, taken)| taken == index);
            free && name.contains(hint) && holds(part, data, *index)
        };
        let of = |hint: &&str| (0..head.len()).find(|index| fits(index, hint));
        if let Some(index) = hints.iter().find_map(of) {
            found.push((part, index));
        }
    }
    found
}

/// Whether a column's fields can be this part.
fn holds(part: RequestPart, data: &[Vec<String>], index: usize) -> bool {
    data.iter().all(|row| {
        let Some(field) = row.get(index) else { return false };
        match part {
            RequestPart::Time => decimal_time(field.as_bytes(), 1).is_some(),
            RequestPart::Offset | RequestPart::Size => whole_number(field.as_bytes()).is_some(),
            RequestPart::Op => field.len() <= 8 && !field.is_empty(),
            RequestPart::Stream => true,
        }
    })
}

/// Adds what is missing: words are operations, a column that never falls is the time, the largest numbers are addresses, and
/// others that do not vary beyond a gigabyte are sizes.
fn by_content(data: &[Vec<String>], found: &mut Found) {
    let width = data.iter().map(Vec::len).min().unwrap_or(0);
    let column = |index: usize| -> Option<Vec<u64>> {
        data.iter().map(|row| whole_number(row[index].as_bytes())).collect()
    };
    let free = |index: &usize, found: &Found| !found.iter().any(|(_, taken)| taken == index);
    let lacks = |part: RequestPart, found: &Found| !found.iter().any(|(known, _)| *known == part);
    let is_word = |field: &str| {
        matches!(field.to_lowercase().as_str(), "r" | "w" | "read" | "write" | "rs" | "ws" | "rw")
    };
    if lacks(RequestPart::Op, found) {
        let word = (0..width).find(|&index| data.iter().all(|row| is_word(&row[index])));
        found.extend(word.map(|index| (RequestPart::Op, index)));
    }
    if lacks(RequestPart::Time, found) {
        let rises = |index: &usize| {
            let times = data.iter().map(|row| decimal_time(row[*index].as_bytes(), 1_000_000_000));
            let Some(times) = times.collect::<Option<Vec<_>>>() else { return false };
            times.len() > 1 && times.is_sorted() && times.first() != times.last()
        };
        let time = (0..width).filter(|index| free(index, found)).find(rises);
        found.extend(time.map(|index| (RequestPart::Time, index)));
    }
    let largest = |found: &Found| {
        let numbers = (0..width).filter(|index| free(index, found));
        let numbers = numbers.filter_map(|index| Some((column(index)?.into_iter().max()?, index)));
        numbers.filter(|(largest, _)| *largest > 1).max().map(|(_, index)| index)
    };
    for part in [RequestPart::Offset, RequestPart::Size] {
        if lacks(part, found) {
            found.extend(largest(found).map(|index| (part, index)));
        }
    }
}
