//! The large tables of a large device, in chunks that stay packed until a loaded device needs them: the map by runs of
//! logical pages, and the owners of pages by block. So a load takes time and memory for what is touched.
//!
//! A snapshot lists the chunks with a digest of each. Their bytes come from a [`ChunkSource`], because this crate reads
//! no files. A chunk that turns out to be damaged when it is needed can't be refused any more: the run is
//! [given up](give_up).

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Damage, ImageReader, ImageWriter};

/// Words of a chunk of the map, if the sink has no other wish. Random reads unpack a whole chunk for each page, so it is small.
pub const MAP_WORDS: u32 = 4096;
/// Bytes of a word.
const WORD: usize = size_of::<u32>();
/// Bytes of a digest.
const DIGEST: usize = blake3::OUT_LEN;

/// A table that is saved in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChunkedTable {
    /// The places of logical pages.
    Map,
    /// The owners of physical pages, a chunk for each block.
    Owners,
}

impl ChunkedTable {
    /// Both, in the order in which their chunks are listed.
    const ALL: [ChunkedTable; 2] = [ChunkedTable::Map, ChunkedTable::Owners];
}

/// When a load unpacks chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpack {
    /// At once, and checks that they agree.
    Now,
    /// When they are needed.
    AsNeeded,
}

/// Takes the chunks of a device that is saved, in the order in which they are listed.
pub trait ChunkSink {
    /// Takes the next chunk.
    fn put(&mut self, bytes: &[u8]);

    /// Entries of the map in a chunk, at most [`MAP_WORDS`].
    fn map_words(&self) -> u32 {
        MAP_WORDS
    }
}

/// Gives the chunks of an image.
pub trait ChunkSource: fmt::Debug + Send + Sync {
    /// Returns the chunk at this position of the list. No chunk of the device is longer than `most` bytes.
    ///
    /// # Errors
    /// It can't be read.
    fn chunk(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage>;

    /// Returns the same chunk in the form in which the source keeps it, for a copy of the image.
    ///
    /// # Errors
    /// As there.
    fn packed(&self, position: usize) -> Result<Vec<u8>, Damage>;

    /// Returns the length of that form.
    ///
    /// # Errors
    /// There is no such chunk.
    fn packed_length(&self, position: usize) -> Result<u64, Damage> {
        self.packed(position).map(|packed| packed.len() as u64)
    }
}

/// A chunk in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListedChunk {
    table: ChunkedTable,
    number: u32,
    digest: [u8; DIGEST],
}

/// The chunks of a snapshot. They are the same if their digests are.
#[derive(Clone, Debug)]
pub struct Chunks {
    list: Arc<Vec<ListedChunk>>,
    map_words: u32,
    source: Option<Arc<dyn ChunkSource>>,
}

impl PartialEq for Chunks {
    fn eq(&self, other: &Chunks) -> bool {
        (&self.list, self.map_words) == (&other.list, other.map_words)
    }
}

impl Eq for Chunks {}

impl Chunks {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Sets where their bytes come from.
    pub fn come_from(&mut self, source: Arc<dyn ChunkSource>) {
        self.source = Some(source);
    }

    /// Returns where their bytes come from.
    #[must_use]
    pub fn source(&self) -> Option<&dyn ChunkSource> {
        self.source.as_deref()
    }

    /// Returns a chunk, checked.
    ///
    /// # Errors
    /// It can't be read, or does not match its digest.
    pub fn checked(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage> {
        let source = self.source.as_ref().ok_or_else(|| Damage::new("its chunks are missing"))?;
        let bytes = source.chunk(position, most)?;
        match self.list.get(position) {
            Some(listed) if *blake3::hash(&bytes).as_bytes() == listed.digest => Ok(bytes),
            _ => Err(Damage(format!("chunk {position} does not match its checksum"))),
        }
    }

    /// Writes the list.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        out.number(u64::from(self.map_words));
        for table in ChunkedTable::ALL {
            let of_table = || self.list.iter().filter(|listed| listed.table == table);
            out.number(of_table().count() as u64);
            let mut before = 0;
            for listed in of_table() {
                out.difference(before, listed.number);
                before = listed.number;
                out.raw(&listed.digest);
            }
        }
    }

    /// Reads the list.
    pub(crate) fn load(from: &mut ImageReader<'_>) -> Result<Chunks, Damage> {
        let map_words = match u32::try_from(from.number()?) {
            Ok(words) if (1..=MAP_WORDS).contains(&words) => words,
            _ => return Err(Damage(format!("a chunk of the map has 1 to {MAP_WORDS} entries"))),
        };
        let mut list = Vec::new();
        for table in ChunkedTable::ALL {
            let mut next = 0;
            for at in 0..from.number()? {
                let before = if at == 0 { 0 } else { next - 1 };
                let number = from.difference(before, "a chunk")?;
                if number < next || number == u32::MAX {
                    return Err(Damage(format!("chunk {number} is out of order")));
                }
                next = number + 1;
                let mut digest = [0; DIGEST];
                digest.copy_from_slice(from.raw(DIGEST)?);
                list.push(ListedChunk { table, number, digest });
            }
        }
        from.end()?;
        Ok(Chunks { list: Arc::new(list), map_words, source: None })
    }

    /// Entries of the map in a chunk.
    pub(crate) fn map_words(&self) -> u32 {
        self.map_words
    }

    /// The numbers of the chunks of a table, with their positions.
    fn of(&self, table: ChunkedTable) -> impl Iterator<Item = (usize, u32)> {
        let all = self.list.iter().enumerate().filter(move |(_, listed)| listed.table == table);
        all.map(|(position, listed)| (position, listed.number))
    }
}

/// Hands chunks to a sink, and lists them.
pub(crate) struct Chunking<'a> {
    sink: &'a mut dyn ChunkSink,
    list: Vec<ListedChunk>,
}

impl<'a> Chunking<'a> {
    /// Nothing so far.
    pub fn new(sink: &'a mut dyn ChunkSink) -> Chunking<'a> {
        Chunking { sink, list: Vec::new() }
    }

    /// Entries of the map in a chunk.
    pub fn map_words(&self) -> u32 {
        self.sink.map_words()
    }

    /// Saves a chunk; zero words at its end are left out. Chunks come in the order of their tables and numbers.
    pub fn put(&mut self, table: ChunkedTable, number: u32, words: impl Iterator<Item = u32>) {
        // Adjacent words mostly differ by as much as the words before them. No two are the same except for zero.
        let mut before = 0_u32;
        let mut bytes = Vec::new();
        let mut length = 0;
        for word in words {
            let step = if word == 0 { 0 } else { word.wrapping_sub(before) };
            bytes.extend_from_slice(&step.to_le_bytes());
            if word != 0 {
                before = word;
                length = bytes.len();
            }
        }
        bytes.truncate(length);
        if !bytes.is_empty() {
            self.list.push(ListedChunk { table, number, digest: *blake3::hash(&bytes).as_bytes() });
            self.sink.put(&bytes);
        }
    }

    /// Returns the list.
    pub fn end(self) -> Chunks {
        let map_words = self.map_words();
        Chunks { list: Arc::new(self.list), map_words, source: None }
    }
}

/// The words of a chunk that [`Chunking::put`] wrote. They are at most `limit`.
fn words(bytes: &[u8], limit: u32) -> Result<Box<[u32]>, Damage> {
    let (steps, []) = bytes.as_chunks::<WORD>() else {
        return Err(Damage::new("a chunk ends within a word"));
    };
    let mut before = 0_u32;
    let mut most = 0;
    let word = |&step: &[u8; WORD]| match u32::from_le_bytes(step) {
        0 => 0,
        step => {
            before = before.wrapping_add(step);
            most = most.max(before);
            before
        }
    };
    let words = steps.iter().map(word).collect();
    match most <= limit {
        true => Ok(words),
        false => Err(Damage(format!("a chunk holds {most}, which must be at most {limit}"))),
    }
}

/// Ends a run, because state that it needs is damaged. Whoever loaded the device with [`Unpack::AsNeeded`] catches this and
/// tells the damage.
fn give_up(damage: Damage) -> ! {
    std::panic::resume_unwind(Box::new(damage))
}

/// A chunk of a table: where it is in the list, and its words once they were read.
#[derive(Clone, Debug)]
struct PackedChunk {
    position: usize,
    words: OnceLock<Box<[u32]>>,
}

/// The part of a table of words that is still packed. In the table itself, its words are zero; so what reads zero asks
/// here, and what makes a word zero first unpacks.
#[derive(Clone, Debug)]
pub(crate) struct PackedTable {
    chunks: Chunks,
    words_per_chunk: u32,
    /// The largest word.
    limit: u32,
    /// By number; none where nothing is packed.
    packed: Vec<Option<Box<PackedChunk>>>,
}

impl PackedTable {
    /// The chunks of this table. `length` is that of the table in words.
    ///
    /// # Errors
    /// A chunk lies beyond the table.
    pub fn new(
        chunks: &Chunks,
        table: ChunkedTable,
        words_per_chunk: u32,
        length: u32,
        limit: u32,
    ) -> Result<PackedTable, Damage> {
        let mut packed = vec![None; length.div_ceil(words_per_chunk) as usize];
        for (position, number) in chunks.of(table) {
            let place = packed.get_mut(number as usize);
            let place = place.ok_or_else(|| {
                Damage(format!("chunk {number} of {table:?} is not on the device"))
            })?;
            *place = Some(Box::new(PackedChunk { position, words: OnceLock::new() }));
        }
        Ok(PackedTable { chunks: chunks.clone(), words_per_chunk, limit, packed })
    }

    /// Whether this chunk is packed.
    pub fn holds(&self, number: u32) -> bool {
        self.packed.get(number as usize).is_some_and(Option::is_some)
    }

    /// The word at a place whose word in the table is zero.
    #[cold]
    pub fn word(&self, at: usize) -> u32 {
        let words_per_chunk = self.words_per_chunk as usize;
        let Some(Some(packed)) = self.packed.get(at / words_per_chunk) else { return 0 };
        let words = packed.words.get_or_init(|| self.needed(packed.position));
        words.get(at % words_per_chunk).copied().unwrap_or(0)
    }

    /// Unpacks the chunk of a place into the table. Words that were written meanwhile stay.
    #[cold]
    pub fn unpack(&mut self, at: usize, table: &mut [u32]) {
        let words_per_chunk = self.words_per_chunk as usize;
        let number = at / words_per_chunk;
        let Some(packed) = self.packed.get_mut(number).and_then(Option::take) else { return };
        let PackedChunk { position, words } = *packed;
        let words = words.into_inner().unwrap_or_else(|| self.needed(position));
        let first = number * words_per_chunk;
        let places = table[first..].iter_mut().zip(words.iter());
        places.filter(|(place, _)| **place == 0).for_each(|(place, word)| *place = *word);
    }

    /// Unpacks everything into the table, in which nothing was written yet.
    ///
    /// # Errors
    /// A chunk is damaged.
    pub fn unpack_all(self, table: &mut [u32]) -> Result<(), Damage> {
        let parts = table.chunks_mut(self.words_per_chunk as usize);
        for (part, packed) in parts.zip(&self.packed) {
            let Some(packed) = packed else { continue };
            let words = self.read(packed.position)?;
            part.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        }
        Ok(())
    }

    /// Forgets a chunk, whose words mean nothing any more.
    pub fn forget(&mut self, number: u32) {
        if let Some(place) = self.packed.get_mut(number as usize) {
            *place = None;
        }
    }

    fn read(&self, position: usize) -> Result<Box<[u32]>, Damage> {
        let most = self.words_per_chunk as usize * WORD;
        let bytes = self.chunks.checked(position, most)?;
        match bytes.len() <= most {
            true => words(&bytes, self.limit),
            false => Err(Damage::new("a chunk is too long")),
        }
    }

    /// The words of a chunk without which nothing goes on.
    fn needed(&self, position: usize) -> Box<[u32]> {
        self.read(position).unwrap_or_else(|damage| give_up(damage))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use super::*;

    #[derive(Debug, Default)]
    struct InMemory(Vec<Vec<u8>>);

    impl ChunkSink for InMemory {
        fn put(&mut self, bytes: &[u8]) {
            self.0.push(bytes.to_vec());
        }
    }

    impl ChunkSource for InMemory {
        fn chunk(&self, position: usize, _most: usize) -> Result<Vec<u8>, Damage> {
            self.packed(position)
        }

        fn packed(&self, position: usize) -> Result<Vec<u8>, Damage> {
            self.0.get(position).cloned().ok_or_else(|| Damage::new("it is missing"))
        }
    }

    /// Two chunks of four words: the first and the third of a table.
    fn saved() -> (Chunks, InMemory) {
        let mut sink = InMemory::default();
        let mut chunking = Chunking::new(&mut sink);
        chunking.put(ChunkedTable::Map, 0, [7, 0, 3, 0].into_iter());
        chunking.put(ChunkedTable::Map, 1, [0; 4].into_iter());
        chunking.put(ChunkedTable::Owners, 2, [1, 2, 3, 4].into_iter());
        (chunking.end(), sink)
    }

    #[test]
    fn words_are_unpacked_where_they_are_needed() {
        let (mut chunks, source) = saved();
        assert_eq!((chunks.count(), source.0[0].len()), (2, 12), "zeros at the end are left out");
        let mut out = ImageWriter::default();
        chunks.save(&mut out);
        let bytes = out.into_bytes();
        assert_eq!(Chunks::load(&mut ImageReader::new(&bytes, true)), Ok(chunks.clone()));
        chunks.come_from(Arc::new(source));
        let mut map = PackedTable::new(&chunks, ChunkedTable::Map, 4, 12, 7).unwrap();
        assert_eq!([0, 1, 2, 3, 5].map(|at| map.word(at)), [7, 0, 3, 0, 0]);
        let mut table = [0; 12];
        table[1] = 5;
        map.unpack(2, &mut table);
        assert_eq!((table[..4].to_vec(), map.holds(0), map.word(0)), (vec![7, 5, 3, 0], false, 0));
        let owners = PackedTable::new(&chunks, ChunkedTable::Owners, 4, 12, 7).unwrap();
        let mut table = [0; 12];
        assert_eq!(owners.unpack_all(&mut table), Ok(()));
        assert_eq!(table, [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn what_is_damaged_is_told() {
        let (mut chunks, mut source) = saved();
        assert!(chunks.checked(0, 16).is_err(), "there is no source");
        source.0[0][1] ^= 1;
        chunks.come_from(Arc::new(source));
        assert!(chunks.checked(0, 16).is_err() && chunks.checked(1, 16).is_ok());
        let told = |words: Result<Box<[u32]>, Damage>| words.unwrap_err().to_string();
        assert!(told(words(&[8, 0, 0, 0], 7)).contains("must be at most 7"));
        assert!(told(words(&[1, 0, 0], 7)).contains("within a word"));
        let map = PackedTable::new(&chunks, ChunkedTable::Map, 4, 12, 7).unwrap();
        let given_up = std::panic::catch_unwind(AssertUnwindSafe(|| map.word(0))).unwrap_err();
        assert!(given_up.downcast_ref::<Damage>().is_some());
        assert!(PackedTable::new(&chunks, ChunkedTable::Owners, 4, 8, 7).is_err());
    }
}
