//! Errors in traces: the file, the line with a caret under the wrong field, what was expected, and
//! the remedy.

use std::fmt;
use std::ops::Range;

use ftlab::options::excerpt;

/// The kind of a [`TraceError`], for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The file cannot be read or written.
    Io,
    /// The compressed or columnar container is damaged.
    Corrupt,
    /// No known format fits, or the name of a format is unknown.
    UnknownFormat,
    /// A line does not follow its format.
    Malformed,
    /// The line follows its format, but its values cannot be true.
    Implausible,
    /// A line is earlier than the sorting window can correct.
    Unordered,
    /// There are no requests.
    Empty,
    /// The request cannot be carried out with this format.
    Unsupported,
}

/// Why a trace could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The file, or a name for it (`standard input`).
    pub file: String,
    /// The place in the file, if the error concerns one line.
    pub place: Option<Box<TracePosition>>,
    /// What is wrong, and what was expected.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

/// A place in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracePosition {
    /// The line, counted from one; in a Parquet file the row.
    pub line: u64,
    /// The text of the line, without line ending. Empty for a Parquet row.
    pub text: String,
    /// The wrong field, in bytes of `text`.
    pub field: Range<usize>,
}

/// An error in a line, before the file and the line number are added to make a [`TraceError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub kind: ErrorKind,
    pub field: Range<usize>,
    pub problem: String,
    pub remedy: Option<String>,
}

impl Bad {
    /// Creates the error for a malformed record of bytes, which has no fields to point at.
    #[cold]
    pub fn record(problem: impl Into<String>) -> Bad {
        Bad::field(0..0, problem)
    }

    /// Adds the file and the number of the record of bytes.
    #[cold]
    pub fn of_record(self, file: &str, number: u64) -> TraceError {
        let remedy = self.remedy.unwrap_or_else(|| {
            "the file is damaged, or of another format: name that with `format`".to_owned()
        });
        TraceError::new(self.kind, file, self.problem, remedy).at(TracePosition::row(number))
    }

    /// Says that the file ends within the line.
    #[cold]
    pub fn cut_off(self) -> Bad {
        let remedy = "the file ends within this line, so it is probably truncated: fetch it again; or \
                      `skip_malformed` leaves the line out and counts it";
        Bad { remedy: Some(remedy.to_owned()), ..self }
    }

    /// Creates the error for a malformed field.
    #[cold]
    pub fn field(field: Range<usize>, problem: impl Into<String>) -> Bad {
        Bad { kind: ErrorKind::Malformed, field, problem: problem.into(), remedy: None }
    }
}

impl TraceError {
    #[cold]
    pub(crate) fn new(
        kind: ErrorKind,
        file: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> TraceError {
        TraceError {
            kind,
            file: file.to_owned(),
            place: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// Creates the error for a failure of the operating system or a decoder.
    #[cold]
    pub(crate) fn io(file: &str, doing: &str, error: &std::io::Error) -> TraceError {
        use std::io::ErrorKind as Io;
        let (kind, remedy) = match error.kind() {
            Io::NotFound => (ErrorKind::Io, "check the path"),
            Io::PermissionDenied => (ErrorKind::Io, "check its permissions"),
            Io::UnexpectedEof | Io::InvalidData | Io::InvalidInput => (
                ErrorKind::Corrupt,
                "it is truncated or damaged: compare its size with that of the original, and fetch it again",
            ),
            Io::Unsupported => (
                ErrorKind::Unsupported,
                "unpack it with the program that packed it, and name the folder",
            ),
            Io::NotADirectory => (ErrorKind::Io, "check the path: one of its folders is a file"),
            Io::StorageFull | Io::QuotaExceeded => {
                (ErrorKind::Io, "free some space, or choose another place")
            }
            Io::ReadOnlyFilesystem => (ErrorKind::Io, "choose another place"),
            Io::InvalidFilename => (ErrorKind::Io, "choose a shorter name"),
            Io::BrokenPipe => {
                (ErrorKind::Io, "its reader closed it; keep that open, or name a file")
            }
            _ => {
                (ErrorKind::Io, "check that it is a regular file on a healthy disk, and try again")
            }
        };
        TraceError::new(kind, file, format!("{doing}: {error}"), remedy)
    }

    #[cold]
    pub(crate) fn at(mut self, place: TracePosition) -> TraceError {
        self.place = Some(Box::new(place));
        self
    }
}

impl TracePosition {
    /// Creates the place of a field, in bytes of a line.
    #[cold]
    pub(crate) fn of(line: u64, content: &[u8], field: Range<usize>) -> TracePosition {
        // Invalid UTF-8 becomes a character of three bytes, so compute the caret's position from
        // the converted text.
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let from = field.start.min(content.len());
        let to = field.end.clamp(from, content.len());
        let start = lossy(&content[..from]).len();
        let field = start..start + lossy(&content[from..to]).len();
        TracePosition { line, text: lossy(content), field }
    }

    /// Creates the place of a record of bytes, or of a row of a table.
    #[cold]
    pub(crate) fn row(number: u64) -> TracePosition {
        TracePosition { line: number, text: String::new(), field: 0..0 }
    }

    /// Returns the line or row with its number.
    pub(crate) fn named(&self) -> String {
        let unit = if self.text.is_empty() { "row" } else { "line" };
        format!("{unit} {}", self.line)
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(place) = &self.place {
            write!(f, ", {}", place.named())?;
        }
        writeln!(f, ": {}", self.problem)?;
        if let Some(place) = self.place.as_deref().filter(|place| !place.text.is_empty()) {
            let number = usize::try_from(place.line).unwrap_or(usize::MAX);
            // The excerpt starts with an empty line.
            for line in short_excerpt(&place.text, number, &place.field).lines().skip(1) {
                writeln!(f, "  {line}")?;
            }
        }
        write!(f, "remedy: {}", self.remedy)
    }
}

/// More bytes than an excerpt that is cut at the width of a terminal has, in any script.
const LONGEST_EXCERPT: usize = 2048;

/// The excerpt of a line. It is cut by width, which marks without one defeat; then each of their bytes counts.
fn short_excerpt(text: &str, number: usize, field: &Range<usize>) -> String {
    let shown = excerpt(text, number, field);
    if shown.len() <= LONGEST_EXCERPT {
        return shown;
    }
    let plain = |mark: char| if mark.is_ascii() { mark } else { '?' };
    let bytes = text.chars().flat_map(|mark| std::iter::repeat_n(plain(mark), mark.len_utf8()));
    excerpt(&bytes.collect::<String>(), number, field)
}

impl std::error::Error for TraceError {}
