//! Output to the user: remarks on standard error, and results on standard output.
//!
//! Either may be full or closed by its reader. That must not lose a run, so the command continues
//! and writes its result; `eprintln!` and `println!` would panic.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use crate::failure::Failure;

/// Prints a line on standard error, ignoring errors.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Implements [`say!`].
pub fn line(words: fmt::Arguments<'_>) {
    // There is nowhere else to report the error.
    drop(writeln!(io::stderr().lock(), "{words}"));
}

/// Standard output. After a failed write the rest is dropped, and [`finish`](Output::finish) returns the error.
pub struct Output<W: Write = StdoutLock<'static>> {
    /// `None` once a write has failed.
    to: Option<BufWriter<W>>,
    failed: Option<io::Error>,
}

impl Output {
    /// Returns the standard output of the program.
    pub fn standard() -> Output {
        Output::new(io::stdout().lock())
    }
}

impl<W: Write> Output<W> {
    fn new(to: W) -> Output<W> {
        Output { to: Some(BufWriter::new(to)), failed: None }
    }

    fn try_on<T>(
        &mut self,
        attempt: impl FnOnce(&mut BufWriter<W>) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let Some(to) = &mut self.to else { return Ok(None) };
        match attempt(to) {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failed = Some(error);
                // Otherwise dropping the writer would retry its buffered bytes.
                drop(self.to.take().map(BufWriter::into_parts));
                Ok(None)
            }
        }
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// A write failed, unless the reader closed the pipe (`ftlab ... | head`).
    pub fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self.failed.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::from(error)),
            _ => Ok(()),
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.try_on(|to| to.write(bytes))?.unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.try_on(BufWriter::flush).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts `room` bytes, then fails.
    struct Short {
        room: usize,
        kind: io::ErrorKind,
        tried: usize,
    }

    impl Write for &mut Short {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.tried += 1;
            match self.room.min(bytes.len()) {
                0 => Err(self.kind.into()),
                taken => {
                    self.room -= taken;
                    Ok(taken)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(kind: io::ErrorKind) -> (Result<(), Failure>, usize) {
        let mut short = Short { room: 10, kind, tried: 0 };
        let mut out = Output::new(&mut short);
        for _ in 0..3 {
            writeln!(out, "seven b").expect("it goes on");
            out.flush().expect("it goes on");
        }
        let finished = out.finish();
        (finished, short.tried)
    }

    #[test]
    fn what_takes_nothing_any_more_stops_nobody_and_is_told_once() {
        let (finished, tried) = written(io::ErrorKind::StorageFull);
        assert!(
            matches!(finished, Err(Failure::Lab(told)) if told.text().contains("standard output"))
        );
        // Eight bytes, then two of the next eight, then the refusal.
        assert_eq!(tried, 3, "it is not tried again");
        assert!(written(io::ErrorKind::BrokenPipe).0.is_ok(), "its reader had enough");
    }
}
