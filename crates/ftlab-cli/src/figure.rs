//! `ftlab figure`: figures for papers. The numbers are chosen here; matplotlib draws them, in the Python package.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ftlab_lab::figure::{
    FigureChoice, FigureDocument, FigureLook, of_results, with_choices_called,
};
use ftlab_lab::result::{self, FileKind, to_json};

use crate::args::FigureArgs;
use crate::failure::Failure;

/// The program of the Python package that draws: it reads JSON and writes the file.
const DRAWS: &str = "ftlab-figure";
/// What our figures say of their origin.
const CREATOR: &[u8] = b"ftlab figure";
/// The width of one and of two columns of a paper, in millimetres: those of ACM and USENIX, within those of IEEE.
const COLUMNS: [f64; 2] = [3.33 * 25.4, 7.0 * 25.4];

/// What is written.
#[derive(Clone, Copy)]
enum Form {
    Json,
    Csv,
    Drawn(&'static str),
}

const FORMS: [(&str, Form); 5] = [
    ("pdf", Form::Drawn("pdf")),
    ("svg", Form::Drawn("svg")),
    ("png", Form::Drawn("png")),
    ("json", Form::Json),
    ("csv", Form::Csv),
];

impl Form {
    /// Returns the form that the name of a file asks for.
    fn of(file: &Path) -> Result<Form, Failure> {
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let found = FORMS.iter().find(|(name, _)| ending.as_deref() == Some(name));
        found.map(|(_, form)| *form).ok_or_else(|| {
            let known: Vec<String> = FORMS.iter().map(|(name, _)| format!(".{name}")).collect();
            Failure::usage(format!(
                "{}: the name of a figure says its form\n  remedy: end it in {}",
                file.display(),
                known.join(", ")
            ))
        })
    }

    fn kind(self) -> FileKind {
        let (name, is_one): (_, fn(&[u8]) -> bool) = match self {
            Form::Json => ("figure of ftlab in JSON", |text| has(text, b"\"kind\": \"figure\"")),
            Form::Csv => ("figure of ftlab in CSV", |text| text.starts_with(b"panel,unit,")),
            Form::Drawn(_) => ("figure of ftlab", |bytes| has(bytes, CREATOR)),
        };
        FileKind { name, option: "output", is_one }
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Performs the command.
pub fn run(args: &FigureArgs) -> Result<(), Failure> {
    let form = Form::of(&args.output)?;
    let kind = form.kind();
    result::check_file(&args.output, &kind, args.force)?;
    let flags = |text: String| with_choices_called(&text, |name| format!("--{name}"));
    let mut document =
        of_results(&args.results, &choice(args)).map_err(|failure| failure.map_text(flags))?;
    let content = match form {
        Form::Json => to_json(&document)?.into_bytes(),
        Form::Csv => document.csv()?.into_bytes(),
        Form::Drawn(format) => {
            document.look = Some(look(args));
            draw(&document, format)?
        }
    };
    result::write_file(&args.output, &content, &kind, args.force)?;
    if !args.quiet {
        say!("Figure: {}", args.output.display());
    }
    Ok(())
}

fn choice(args: &FigureArgs) -> FigureChoice {
    FigureChoice {
        metrics: args.metrics.clone(),
        curves: args.curves.clone(),
        along: args.along.clone(),
        only: args.only.clone(),
        is_relative: args.relative,
        is_log: args.log,
        names: args.names.clone(),
        confidence: args.confidence,
    }
}

fn look(args: &FigureArgs) -> FigureLook {
    FigureLook {
        width_mm: args.width.unwrap_or(COLUMNS[usize::from(args.columns) - 1]),
        height_mm: args.height,
        font: args.font.clone(),
        font_size_pt: args.font_size,
    }
}

/// Has a figure drawn, and returns the file.
fn draw(document: &FigureDocument, format: &str) -> Result<Vec<u8>, Failure> {
    let json = to_json(document)?;
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Failure::usage(format!(
            "figures are drawn with ftlab's Python package, and its program {DRAWS} is not on the PATH\n  remedy: install it \
             (pip install './crates/ftlab-python[plot]'; or ./x python, and then . .venv/python/bin/activate), or write the \
             numbers alone, with -o FILE.csv"
        )),
        _ => Failure::usage(format!(
            "{DRAWS} can't be run: {error}\n  remedy: install ftlab's Python package again"
        )),
    };
    let piped = Stdio::piped;
    let mut started = Command::new(DRAWS)
        .arg(format)
        .stdin(piped())
        .stdout(piped())
        .stderr(piped())
        .spawn()
        .map_err(failed)?;
    // It reads all of it before it writes. If it fails before, what it says is of more use than a broken pipe.
    let mut input = started.stdin.take();
    let sent = input.as_mut().map_or(Ok(()), |input| input.write_all(json.as_bytes()));
    drop(input);
    let Output { status, stdout, stderr } = started.wait_with_output().map_err(failed)?;
    if !status.success() {
        let told = String::from_utf8_lossy(&stderr);
        let told = told.trim().trim_start_matches("error: ");
        return Err(Failure::usage(match told.is_empty() {
            true => {
                format!("{DRAWS} failed: {status}\n  remedy: install ftlab's Python package again")
            }
            false => told.to_owned(),
        }));
    }
    sent.map_err(failed)?;
    match has(&stdout, CREATOR) {
        true => Ok(stdout),
        false => Err(Failure::usage(format!(
            "{DRAWS} wrote no figure\n  remedy: install ftlab's Python package again; another program may have this name"
        ))),
    }
}
