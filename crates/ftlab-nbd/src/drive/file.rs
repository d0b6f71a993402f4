//! The file under a drive. Every change of it goes through here, so that tests can stop a drive at any of them.

use std::fs::{File, Metadata};
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};

/// Zeros are written so many bytes at a time, where holes can't be punched.
const ZEROS: usize = 1 << 20;

/// An open file.
#[derive(Debug)]
pub struct DriveFile {
    file: File,
}

impl DriveFile {
    /// Takes an open file.
    #[must_use]
    pub fn new(file: File) -> DriveFile {
        DriveFile { file }
    }

    /// What the system says of it.
    ///
    /// # Errors
    /// The system can't say.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Its length.
    ///
    /// # Errors
    /// The system can't say.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    /// Reads bytes that must be there.
    ///
    /// # Errors
    /// The file can't be read, or ends before.
    pub fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)
    }

    /// Reads bytes; those behind the end of the file are zero.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read_sparse(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.file.read_at(&mut bytes[done..], at + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes[done..].fill(0);
        Ok(())
    }

    /// The next place from `at` on that is not in a hole, if there is one.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
        match seek(&self.file, SeekFrom::Data(at)) {
            Ok(data) => Ok(Some(data.max(at))),
            // Nothing but a hole, or the end of the file.
            Err(rustix::io::Errno::NXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// The file can't be written. A part of the bytes may be there.
    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(test)]
        super::faults::before_write(&self.file, bytes, at)?;
        self.file.write_all_at(bytes, at)
    }

    /// Writes pages of `size` bytes one behind the other.
    ///
    /// # Errors
    /// The file can't be written. A part of the pages may be there.
    pub fn write_pages(&self, pages: &[IoSlice<'_>], at: u64, size: u64) -> io::Result<()> {
        if pages.is_empty() {
            return Ok(());
        }
        #[cfg(test)]
        super::faults::before_write(
            &self.file,
            &pages.iter().flat_map(|page| page.to_vec()).collect::<Vec<u8>>(),
            at,
        )?;
        let mut done =
            match rustix::io::retry_on_intr(|| rustix::io::pwritev(&self.file, pages, at)) {
                Ok(done) => done as u64,
                Err(error) => return Err(error.into()),
            };
        while done < pages.len() as u64 * size {
            // The system took a part: the rest goes page by page.
            let page = &pages[(done / size) as usize][(done % size) as usize..];
            self.file.write_all_at(page, at + done)?;
            done += page.len() as u64;
        }
        Ok(())
    }

    /// Punches a hole: the bytes read as zeros, and their space is given back. Where a file system can't do that, zeros
    /// are written over what is there.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn punch(&self, from: u64, bytes: u64) -> io::Result<()> {
        let bytes = bytes.min(self.length()?.saturating_sub(from));
        if bytes == 0 {
            return Ok(());
        }
        #[cfg(test)]
        super::faults::before_write(&self.file, &[], from)?;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::io::retry_on_intr(|| fallocate(&self.file, flags, from, bytes)) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let zeros = vec![0; ZEROS.min(bytes as usize)];
                let mut at = from;
                while at < from + bytes {
                    let count = zeros.len().min((from + bytes - at) as usize);
                    self.file.write_all_at(&zeros[..count], at)?;
                    at += count as u64;
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Cuts the file to a length, or fills it up with a hole.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn set_length(&self, bytes: u64) -> io::Result<()> {
        #[cfg(test)]
        super::faults::before_write(&self.file, &[], bytes)?;
        self.file.set_len(bytes)
    }

    /// Waits until all of it is on the disk.
    ///
    /// # Errors
    /// The system can't write it.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        super::faults::before_write(&self.file, &[], 0)?;
        self.file.sync_all()
    }
}
