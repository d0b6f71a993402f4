//! What the program says to its user: remarks on standard error, and what was asked for on standard output.
//!
//! Either may be full, or closed by whoever read it. That is no reason to lose a run: the command goes on to its
//! end and leaves the result that it would have left. `eprintln!` and `println!` would panic.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use crate::failure::Failure;

/// Says a line on standard error, if anybody can read it.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// What [`say!`] does.
pub fn line(words: fmt::Arguments<'_>) {
    // There is no other place to complain of it.
    drop(writeln!(io::stderr().lock(), "{words}"));
}

/// Standard output. Once it takes nothing any more, the rest is dropped, and [`finish`](Output::finish) says why.
pub struct Output<W: Write = StdoutLock<'static>> {
    /// `None` once a write has failed.
    to: Option<BufWriter<W>>,
    failed: Option<io::Error>,
}

impl Output {
    /// That of the program.
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
                // What it still holds would be tried again when it is dropped.
                drop(self.to.take().map(BufWriter::into_parts));
                Ok(None)
            }
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Something could not be written, and not because its reader had enough (`ftlab ... | head`).
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

    /// Takes some bytes, then nothing more.
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
        assert!(matches!(finished, Err(Failure::Usage(text)) if text.contains("standard output")));
        // Eight bytes, two of the next eight, and the refusal of the rest.
        assert_eq!(tried, 3, "it is not tried again");
        assert!(written(io::ErrorKind::BrokenPipe).0.is_ok(), "its reader had enough");
    }
}
