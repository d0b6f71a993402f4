//! The text of job files: sections, options, comments, includes, variables. [`job`](super::job)
//! contains the meaning of the options.
//!
//! As in fio: a line that begins with `#` or `;` is a comment, and so is the rest of a line from
//! such a character on; `[global]` applies to the jobs below it; options belong to a section;
//! `include FILE` is replaced by the file; `${NAME}` is an environment variable.

use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Problem, SourcePlace};
use ftlab::options::text::clip;

use super::parse::MOST_PROBLEMS;

/// The most jobs, without clones.
pub(super) const MAX_JOBS: usize = 4096;
/// The most options; those of `[global]` count for each job.
const MAX_OPTIONS: usize = 1 << 18;
/// The total length of all files.
const MAX_ALL_TEXT: usize = 16 << 20;
/// The longest file, without included files.
const MAX_TEXT: usize = 1 << 20;
/// The deepest nesting of includes.
const MAX_DEPTH: u32 = 8;
/// The most lines of a job file and its included files.
const MAX_LINES: usize = 100_000;
/// The value of `$pagesize`.
const PAGE_BYTES: &str = "4096";

/// What a job file can request from its surroundings.
pub trait Surroundings {
    /// Returns the text of an included file, by its path as written.
    fn file(&mut self, name: &str) -> Result<String, String>;
    /// Returns the value of an environment variable.
    fn variable(&mut self, name: &str) -> Option<String>;
}

/// An option in the file.
#[derive(Clone, Debug)]
pub(super) struct OptionLine {
    pub name: String,
    /// Its value with variables replaced; `None` without `=`.
    pub value: Option<String>,
    /// The place of the whole option.
    pub place: SourcePlace,
}

/// A job: the options of the `[global]` sections above it, then its own.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: SourcePlace,
    /// Later options override earlier ones.
    pub entries: Vec<OptionLine>,
    /// How many of them come from `[global]`.
    pub inherited: usize,
}

/// Reads the sections; unreadable parts are reported and skipped.
pub(super) fn sections(
    file: &str,
    text: &str,
    around: &mut dyn Surroundings,
    problems: &mut Vec<Problem>,
) -> Vec<Section> {
    let mut reader = JobReader {
        around,
        problems,
        global: Vec::new(),
        sections: Vec::new(),
        state: At::Nowhere,
        lines: 0,
        bytes: 0,
        options: 0,
    };
    reader.text(file, text, 0);
    reader.sections
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Nowhere,
    Global,
    Job,
}

struct JobReader<'a> {
    around: &'a mut dyn Surroundings,
    problems: &'a mut Vec<Problem>,
    global: Vec<OptionLine>,
    sections: Vec<Section>,
    state: At,
    lines: usize,
    /// The bytes of all files so far.
    bytes: usize,
    /// The options of all jobs so far.
    options: usize,
}

impl JobReader<'_> {
    fn report(&mut self, path: &str, message: String, remedy: &str, place: SourcePlace) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let (path, remedy) = (clip(path), remedy.to_owned());
        self.problems.push(Problem { path, message, remedy, place: Some(place) });
    }

    fn text(&mut self, file: &str, text: &str, depth: u32) {
        let text: Arc<str> = text.into();
        if text.len() > MAX_TEXT {
            let message = format!("the file has {} bytes; the limit is {MAX_TEXT}", text.len());
            return self.report("", message, "split it", SourcePlace::new(file, &text, 0..0));
        }
        self.bytes += text.len();
        if self.bytes > MAX_ALL_TEXT {
            let message = format!("more than {MAX_ALL_TEXT} bytes, with included files");
            return self.report("", message, "include less", SourcePlace::new(file, &text, 0..0));
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.lines += 1;
            if self.lines > MAX_LINES {
                let message = format!("more than {MAX_LINES} lines, with included files");
                let place = SourcePlace::new(file, &text, start..start);
                return self.report("", message, "include less", place);
            }
            let cut = line.find(['#', ';']).map_or(line, |at| &line[..at]);
            let bare = cut.trim();
            if !bare.is_empty() {
                let from = start + (cut.len() - cut.trim_start().len());
                self.line(bare, file, &text, from..from + bare.len(), depth);
            }
            start += line.len();
        }
    }

    fn line(&mut self, line: &str, file: &str, text: &Arc<str>, span: Range<usize>, depth: u32) {
        let place = SourcePlace::new(file, text, span);
        if line.starts_with('[') {
            return self.section(line, place);
        }
        if let Some(name) =
            line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t']))
        {
            return self.include(name.trim(), file, place, depth);
        }
        if self.state == At::Nowhere {
            let message = "an option before the first section".to_owned();
            return self.report(line, message, "put [global] above it", place);
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start())),
            None => (line, None),
        };
        let value = match value.map(|value| self.expand(value, &place)) {
            Some(None) => return,
            Some(value) => value,
            None => None,
        };
        let entry = OptionLine { name: name.to_owned(), value, place };
        match (self.state, self.sections.last_mut()) {
            (At::Job, Some(section)) => section.entries.push(entry),
            _ => self.global.push(entry),
        }
    }

    fn section(&mut self, line: &str, place: SourcePlace) {
        let name = line[1..].strip_suffix(']').filter(|name| !name.contains(['[', ']']));
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
            let message = "not a section header".to_owned();
            return self.report("", message, "write [NAME], alone on its line", place);
        };
        if name == "global" {
            self.state = At::Global;
            return;
        }
        // One more than allowed is kept, so that it can be refused at its place.
        if self.sections.len() > MAX_JOBS {
            return;
        }
        self.state = At::Job;
        self.options += self.global.len();
        if self.options > MAX_OPTIONS {
            let message =
                format!("more than {MAX_OPTIONS} options, with those of [global] for each job");
            return self.report("", message, "write fewer jobs; numjobs clones a job", place);
        }
        let (entries, inherited) = (self.global.clone(), self.global.len());
        self.sections.push(Section { name: name.to_owned(), place, entries, inherited });
    }

    fn include(&mut self, name: &str, file: &str, place: SourcePlace, depth: u32) {
        let beside = match file.rsplit_once('/') {
            Some((folder, _)) if !name.starts_with('/') => format!("{folder}/{name}"),
            _ => name.to_owned(),
        };
        if depth == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} files include each other");
            return self.report("include", message, "does a file include itself?", place);
        }
        match self.around.file(&beside) {
            Ok(text) => self.text(&beside, &text, depth + 1),
            Err(why) => {
                let message = format!("cannot read {}: {why}", clip(&beside));
                self.report(
                    "include",
                    message,
                    "check the path, which is relative to this file",
                    place,
                );
            }
        }
    }

    /// Returns `value` with its variables replaced; `None` after a problem.
    fn expand(&mut self, value: &str, place: &SourcePlace) -> Option<String> {
        let value = value.replace("$pagesize", PAGE_BYTES);
        for word in ["$mb_memory", "$ncpus"] {
            if value.contains(word) {
                let message = format!("{word} depends on the machine that runs fio");
                self.report("", message, "write a number", place.clone());
                return None;
            }
        }
        let mut out = String::new();
        let mut rest = value.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, tail)) = after.split_once('}') else { break };
            let Some(found) = self.around.variable(name) else {
                let message = format!("the environment has no variable {}", clip(name));
                self.report("", message, "set it, or write the value", place.clone());
                return None;
            };
            out += before;
            out += &found;
            rest = tail;
        }
        out += rest;
        // fio multiplies where a keyword was replaced: 4*$pagesize.
        let product = out.split('*').map(|part| part.trim().parse::<u64>().ok());
        match (out.contains('*'), product.collect::<Option<Vec<u64>>>()) {
            (true, Some(parts)) => parts
                .iter()
                .try_fold(1u64, |all, part| all.checked_mul(*part))
                .map(|n| n.to_string()),
            _ => Some(out),
        }
        .or_else(|| {
            let message = "the product is too large".to_owned();
            self.report("", message, "write a smaller number", place.clone());
            None
        })
    }
}
