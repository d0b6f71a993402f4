//! What zip and 7z archives hold.

use std::io::{self, Read, Seek};
use std::sync::mpsc::SyncSender;

use sevenz_rust2::{ArchiveReader, Password};

use super::{ArchivePiece, send_file};
use crate::trace::input::DECODER_MEMORY;
use crate::trace::natural::natural;

/// Files of a zip archive can be read in any order: by their names, with numbers by their values.
pub fn send_zip(from: impl Read + Seek, to: &SyncSender<ArchivePiece>) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(from).map_err(io::Error::other)?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(io::Error::other)?;
        if file.is_file() {
            names.push((file.name().map_err(io::Error::other)?.into_owned(), index));
        }
    }
    names.sort_by(|one, other| natural(&one.0).cmp(&natural(&other.0)));
    for (name, index) in names {
        let mut file = archive.by_index(index).map_err(io::Error::other)?;
        if !send_file(name, &mut file, to)? {
            break;
        }
    }
    Ok(())
}

pub fn send_seven_zip(from: impl Read + Seek, to: &SyncSender<ArchivePiece>) -> io::Result<()> {
    let limit = (DECODER_MEMORY >> 10) as usize;
    let mut archive = ArchiveReader::new_with_memory_limit(from, Password::empty(), limit)
        .map_err(io::Error::other)?;
    let each = archive.for_each_entries(|entry, bytes| {
        if entry.is_directory() {
            return Ok(true);
        }
        send_file(entry.name().to_owned(), bytes, to).map_err(Into::into)
    });
    each.map_err(io::Error::other)
}
