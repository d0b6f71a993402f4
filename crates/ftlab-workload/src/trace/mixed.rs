//! The formats of a trace's files, which must have one.

use ftlab::options::text::clip;

use super::error::{ErrorKind, TraceError};
use super::format::Format;

/// How many files an error lists for each format.
const LISTED: usize = 3;

/// The formats seen, each with its files.
#[derive(Default)]
pub(crate) struct FormatsSeen {
    all: Vec<(&'static Format, Vec<String>)>,
}

impl FormatsSeen {
    pub fn add(&mut self, format: &'static Format, file: &str) {
        match self.all.iter_mut().find(|(known, _)| known.name == format.name) {
            Some((_, files)) => files.push(file.to_owned()),
            None => self.all.push((format, vec![file.to_owned()])),
        }
    }

    /// The format of the first file.
    pub fn first(&self) -> Option<&'static Format> {
        self.all.first().map(|(format, _)| *format)
    }

    /// Whether there are several.
    pub fn differ(&self) -> bool {
        self.all.len() > 1
    }

    /// Says which files have which format. `name` is that of the folder or archive.
    #[cold]
    pub fn refusal(&self, name: &str) -> TraceError {
        let short = |file: &String| {
            let within = file.strip_prefix(name).unwrap_or(file);
            clip(within.trim_start_matches(['/', '\\', ',', ' ']))
        };
        let listed = self.all.iter().map(|(format, files)| {
            let names: Vec<String> = files.iter().take(LISTED).map(short).collect();
            let more = match files.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{} ({}{more})", format.name, names.join(", "))
        });
        let listed: Vec<String> = listed.collect();
        let problem =
            format!("its files have different formats, as they look: {}", listed.join("; "));
        let remedy = "name the files of one format only (of an archive, unpack it first); if all are of one format, \
                      name that with `format`; to join traces of different formats, convert each to parquet first";
        TraceError::new(ErrorKind::Unsupported, name, problem, remedy)
    }
}
