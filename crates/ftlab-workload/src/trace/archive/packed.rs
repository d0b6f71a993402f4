//! What zip and 7z archives hold.

use std::io::{self, Read, Seek};
use std::sync::mpsc::SyncSender;

use sevenz_rust2::{ArchiveReader, Password};
use zip::result::ZipError;

use super::{ArchivePiece, damaged, send_file};
use crate::trace::input::DECODER_MEMORY;
use crate::trace::natural::natural;

/// Files of a zip archive can be read in any order: by their names, with numbers by their values.
pub fn send_zip(from: impl Read + Seek, to: &SyncSender<ArchivePiece>) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(from).map_err(|error| match zip_error(error) {
        Ok(error) => error,
        Err(other) => no_index(&other),
    })?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(zip_damaged)?;
        if file.is_file() {
            names.push((file.name().map_err(damaged)?.into_owned(), index));
        }
    }
    names.sort_by(|one, other| natural(&one.0).cmp(&natural(&other.0)));
    for (name, index) in names {
        let mut file = archive.by_index(index).map_err(zip_damaged)?;
        if send_file(name, &mut file, to)?.is_none() {
            break;
        }
    }
    Ok(())
}

pub fn send_seven_zip(from: impl Read + Seek, to: &SyncSender<ArchivePiece>) -> io::Result<()> {
    let limit = (DECODER_MEMORY >> 10) as usize;
    let mut archive = ArchiveReader::new_with_memory_limit(from, Password::empty(), limit)
        .map_err(|error| seven_zip_error(error).unwrap_or_else(|other| no_index(&other)))?;
    let each = archive.for_each_entries(|entry, bytes| {
        if entry.is_directory() {
            return Ok(true);
        }
        let sent = send_file(entry.name().to_owned(), bytes, to)?;
        Ok(sent.is_some())
    });
    each.map_err(|error| seven_zip_error(error).unwrap_or_else(damaged))
}

/// The error for an archive that is whole, but can't be unpacked here: it is encrypted, or packed in a rare way.
#[cold]
fn unsupported(error: &dyn std::error::Error) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error.to_string())
}

/// An error that is none of a damaged archive; others are returned.
#[cold]
fn zip_error(error: ZipError) -> Result<io::Error, ZipError> {
    match error {
        ZipError::Io(error) => Ok(error),
        ZipError::UnsupportedArchive(_)
        | ZipError::InvalidPassword
        | ZipError::CompressionMethodNotSupported(_) => Ok(unsupported(&error)),
        other => Err(other),
    }
}

#[cold]
fn zip_damaged(error: ZipError) -> io::Error {
    zip_error(error).unwrap_or_else(damaged)
}

/// An error that is none of a damaged archive; others are returned.
#[cold]
fn seven_zip_error(error: sevenz_rust2::Error) -> Result<io::Error, sevenz_rust2::Error> {
    use sevenz_rust2::Error;
    match error {
        Error::PasswordRequired
        | Error::MaybeBadPassword(_)
        | Error::ExternalUnsupported
        | Error::UnsupportedCompressionMethod(_)
        | Error::UnsupportedVersion { .. }
        | Error::MaxMemLimited { .. }
        | Error::Unsupported(_) => Ok(unsupported(&error)),
        other => Err(other),
    }
}

/// The error for an archive that can't be opened: its index is at its end, which is missing if it was cut off.
#[cold]
fn no_index(error: &dyn std::error::Error) -> io::Error {
    let text = format!("the list of its files, which is at its end, can't be read ({error})");
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}
