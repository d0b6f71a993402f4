//! What a Parquet file claims about itself, held against what it has, before the library believes it: it
//! makes room for as many values of a dictionary as a page claims, and for as many children as a group
//! of the schema claims, and goes as deep as groups lie within each other.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::{ByteWalk, I32, LIST, Malformed, STRUCT};

/// A page is never longer unpacked: writers make them a mebibyte, some a whole row group.
const LONGEST_PAGE: i64 = 64 << 20;
/// How much of a page is looked at for its head. Heads of integers take some fifty bytes.
const LONGEST_HEAD: u64 = 8 << 10;
/// Groups lie within each other at most so deep; columns of numbers need two levels.
const MOST_DEPTH: usize = 32;
/// At the end of a file: the length of its table of contents, and the mark.
const FOOTER: u64 = 8;

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

impl From<Malformed> for ParquetError {
    fn from(_: Malformed) -> ParquetError {
        wrong("a head is damaged")
    }
}

/// A file whose pages are looked at before they are read, once that is asked for.
pub struct Checked<R> {
    file: R,
    pages: Arc<AtomicBool>,
}

impl<R: ChunkReader> Checked<R> {
    /// Looks at the schema. Pages are looked at once what comes beside it is set.
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

/// The table of contents; none if the end of the file does not say where it is, which the library tells.
fn contents(file: &impl ChunkReader) -> Result<Option<Bytes>, ParquetError> {
    let Some(end) = file.len().checked_sub(FOOTER) else { return Ok(None) };
    let footer = file.get_bytes(end, FOOTER as usize)?;
    let length = footer.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    match end.checked_sub(u64::from(length)) {
        Some(start) => file.get_bytes(start, length as usize).map(Some),
        None => Ok(None),
    }
}

/// The elements of the schema are a tree, told by how many children each has.
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
    // By group that is not at its end: how many children are to come.
    let mut open: Vec<u64> = Vec::new();
    for at in 0..count {
        let children = children(walk)?;
        if children > count - at - 1 {
            return Err(wrong("a group of its schema claims more children than there are"));
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(children);
        if open.len() > MOST_DEPTH {
            return Err(wrong("groups of its schema lie too deep within each other"));
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
                children = u64::try_from(walk.integer()?)
                    .map_err(|_| wrong("a group of its schema has less than no children"))?;
            }
            _ => walk.skip(kind, false)?,
        }
        last = number;
    }
    Ok(children)
}

/// A page is not too long, and no dictionary claims more values than it has room for.
fn check_page(head: &[u8]) -> Result<(), ParquetError> {
    const UNPACKED: i64 = 2;
    const DICTIONARY: i64 = 7;
    /// The smallest of the integers that are read.
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
        return Err(wrong("a page of more than 64 MiB"));
    }
    if values.checked_mul(LEAST_BYTES).is_none_or(|bytes| bytes > unpacked) {
        return Err(wrong("a dictionary claims more values than it holds"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number as the protocol writes it.
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

    /// The head of a page: of a dictionary with so many values, so long unpacked.
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

    /// A table of contents whose schema has these numbers of children.
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
        assert!(told(&[i64::from(i32::MAX), 0]).contains("more children than there are"));
        assert!(told(&[-1, 0]).contains("less than no children"));
        let deep: Vec<i64> = std::iter::repeat_n(1, 40).chain([0]).collect();
        assert!(told(&deep).contains("too deep"));
    }
}
