//! Checks the sizes that a Parquet file claims before the Parquet library trusts them: the library
//! allocates for as many dictionary values as a page claims and for as many children as a schema
//! group claims, and recurses as deeply as groups are nested.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::{ByteWalk, I32, LIST, Malformed, STRUCT};

/// The longest uncompressed page. Writers make pages of a mebibyte; some write a whole row group.
const LONGEST_PAGE: i64 = 64 << 20;
/// How many bytes of a page are searched for its header. Headers of integer pages have about fifty
/// bytes.
const LONGEST_HEAD: u64 = 8 << 10;
/// The deepest nesting of groups; columns of numbers need two levels.
const MOST_DEPTH: usize = 32;
/// The end of a file: the length of its footer, and the magic number.
const FOOTER: u64 = 8;

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

impl From<Malformed> for ParquetError {
    fn from(_: Malformed) -> ParquetError {
        wrong("a head is damaged")
    }
}

/// A file whose pages are checked before they are read, once this is switched on.
pub struct Checked<R> {
    file: R,
    pages: Arc<AtomicBool>,
}

impl<R: ChunkReader> Checked<R> {
    /// Checks the schema. Pages are checked once the returned flag is set.
    pub fn new(file: R) -> Result<(Checked<R>, Arc<AtomicBool>), ParquetError> {
        if let Some(contents) = contents(&file)? {
            check_schema(&contents)?;
        }
        let pages = Arc::new(AtomicBool::new(false));
        Ok((Checked { file, pages: pages.clone() }, pages))
    }
}

impl<R: ChunkReader> Length for Checked<R> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl<R: ChunkReader> ChunkReader for Checked<R> {
    type T = std::io::Chain<Cursor<Vec<u8>>, R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut from = self.file.get_read(start)?;
        let mut head = Vec::new();
        if self.pages.load(Ordering::Relaxed) {
            from.by_ref().take(LONGEST_HEAD).read_to_end(&mut head)?;
            check_page(&head)?;
        }
        Ok(Cursor::new(head).chain(from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.file.get_bytes(start, length)
    }
}

/// Returns the footer, or `None` if the end of the file does not locate it; the library reports
/// that.
fn contents(file: &impl ChunkReader) -> Result<Option<Bytes>, ParquetError> {
    let Some(end) = file.len().checked_sub(FOOTER) else { return Ok(None) };
    let footer = file.get_bytes(end, FOOTER as usize)?;
    let length = footer.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    match end.checked_sub(u64::from(length)) {
        Some(start) => file.get_bytes(start, length as usize).map(Some),
        None => Ok(None),
    }
}

/// Checks the schema, whose elements form a tree given by numbers of children.
fn check_schema(contents: &[u8]) -> Result<(), ParquetError> {
    const SCHEMA: i64 = 2;
    let (mut walk, mut last) = (ByteWalk::new(contents), 0);
    while let Some((number, kind)) = walk.field(last)? {
        if (number, kind) == (SCHEMA, LIST) {
            let (count, _) = walk.list()?;
            return check_elements(&mut walk, count);
        }
        walk.skip(kind, false)?;
        last = number;
    }
    Ok(())
}

fn check_elements(walk: &mut ByteWalk<'_>, count: u64) -> Result<(), ParquetError> {
    // For each open group: the number of children still to come.
    let mut open: Vec<u64> = Vec::new();
    for at in 0..count {
        let children = children(walk)?;
        if children > count - at - 1 {
            return Err(wrong("a group of its schema claims more children than exist"));
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(children);
        if open.len() > MOST_DEPTH {
            return Err(wrong("groups of its schema are nested too deeply"));
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Ok(())
}

fn children(walk: &mut ByteWalk<'_>) -> Result<u64, ParquetError> {
    const CHILDREN: i64 = 5;
    let (mut children, mut last) = (0, 0);
    while let Some((number, kind)) = walk.field(last)? {
        match (number, kind) {
            (CHILDREN, I32) => {
                children = u64::try_from(walk.integer()?).map_err(|_| {
                    wrong("a group of its schema has a negative number of children")
                })?;
            }
            _ => walk.skip(kind, false)?,
        }
        last = number;
    }
    Ok(children)
}

/// Checks that a page is not too long and that no dictionary claims more values than fit.
fn check_page(head: &[u8]) -> Result<(), ParquetError> {
    const UNPACKED: i64 = 2;
    const DICTIONARY: i64 = 7;
    /// The size of the smallest supported integer.
    const LEAST_BYTES: i64 = 4;
    let (mut unpacked, mut values) = (0, 0);
    let (mut walk, mut last) = (ByteWalk::new(head), 0);
    while let Some((number, kind)) = walk.field(last)? {
        match (number, kind) {
            (UNPACKED, I32) => unpacked = walk.integer()?,
            (DICTIONARY, STRUCT) => {
                let mut within = walk;
                if within.field(0)? == Some((1, I32)) {
                    values = within.integer()?;
                }
                walk.skip(kind, false)?;
            }
            _ => walk.skip(kind, false)?,
        }
        last = number;
    }
    if unpacked > LONGEST_PAGE {
        return Err(wrong("a page has more than 64 MiB"));
    }
    if values.checked_mul(LEAST_BYTES).is_none_or(|bytes| bytes > unpacked) {
        return Err(wrong("a dictionary claims more values than it holds"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a number in Thrift's compact protocol.
    fn number(value: i64) -> Vec<u8> {
        let mut left = ((value << 1) ^ (value >> 63)).cast_unsigned();
        let mut bytes = Vec::new();
        while left > 0x7f {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// Encodes the header of a dictionary page of this uncompressed length and number of values.
    fn dictionary(unpacked: i64, values: i64) -> Vec<u8> {
        let page = [&[0x15, 4, 0x15][..], &number(unpacked), &[0x15, 20, 0x4c, 0x15]].concat();
        [page, number(values), vec![0x15, 0, 0, 0]].concat()
    }

    #[test]
    fn pages_that_claim_too_much_are_refused() {
        assert!(check_page(&dictionary(4000, 1000)).is_ok());
        let told = |head: &[u8]| check_page(head).expect_err("it claims too much").to_string();
        assert!(told(&dictionary(4000, 1001)).contains("more values than it holds"));
        assert!(told(&dictionary(4000, i64::from(i32::MAX))).contains("more values"));
        assert!(told(&dictionary(LONGEST_PAGE + 1, 1)).contains("more than 64 MiB"));
        assert!(told(&dictionary(4000, 1000)[..6]).contains("a head is damaged"));
    }

    /// Encodes a footer whose schema has these numbers of children.
    fn schema(children: &[i64]) -> Vec<u8> {
        assert!(children.len() < 0x80, "its length has one byte");
        let mut bytes = vec![0x15, 2, 0x19, 0xfc, children.len() as u8];
        for &of in children {
            bytes.push(0x55);
            bytes.extend(number(of));
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn schemas_that_are_no_tree_are_refused() {
        assert!(check_schema(&schema(&[3, 0, 1, 0, 0])).is_ok());
        let told = |children: &[i64]| check_schema(&schema(children)).unwrap_err().to_string();
        assert!(told(&[i64::from(i32::MAX), 0]).contains("more children than exist"));
        assert!(told(&[-1, 0]).contains("negative number of children"));
        let deep: Vec<i64> = std::iter::repeat_n(1, 40).chain([0]).collect();
        assert!(told(&deep).contains("too deeply"));
    }
}
