//! The files of an LSM tree and what a compaction does to them, without requests or time.
//!
//! Level 0 holds flushed memtables, which may overlap; the files of each further level are sorted
//! and disjoint. A compaction merges all of level 0, or one file of a further level, with the files
//! of the next level that it overlaps. Keys are numbers. A file whose keys are consecutive, as in a
//! full last level, is stored as a range, so memory follows the keys of the upper levels.

use super::extents::Extents;

/// The keys of a file, in order.
#[derive(Clone, Debug)]
enum Keys {
    Range { first: u32, count: u32 },
    List(Box<[u32]>),
}

/// A file of the tree.
#[derive(Clone, Debug)]
pub(super) struct TableFile {
    keys: Keys,
    pub place: Extents,
}

impl TableFile {
    /// Creates a file of the consecutive keys from `first`.
    pub fn of_range(first: u32, count: u32, place: Extents) -> TableFile {
        TableFile { keys: Keys::Range { first, count }, place }
    }

    /// Creates a file of sorted keys; there is at least one.
    pub fn of_keys(keys: &[u32], place: Extents) -> TableFile {
        let (first, last) = (keys[0], keys[keys.len() - 1]);
        let count = u32::try_from(keys.len()).expect("keys are 32-bit numbers");
        if last - first == count - 1 {
            return TableFile::of_range(first, count, place);
        }
        TableFile { keys: Keys::List(keys.into()), place }
    }

    pub fn first(&self) -> u32 {
        match &self.keys {
            Keys::Range { first, .. } => *first,
            Keys::List(keys) => keys[0],
        }
    }

    pub fn last(&self) -> u32 {
        match &self.keys {
            Keys::Range { first, count } => first + (count - 1),
            Keys::List(keys) => keys[keys.len() - 1],
        }
    }

    /// Returns the number of keys before `key`, if the file has it.
    pub fn position(&self, key: u32) -> Option<u64> {
        match &self.keys {
            Keys::Range { first, count } => {
                key.checked_sub(*first).filter(|at| at < count).map(u64::from)
            }
            Keys::List(keys) => keys.binary_search(&key).ok().map(|at| at as u64),
        }
    }

    fn add_to(&self, keys: &mut Vec<u32>) {
        match &self.keys {
            Keys::Range { first, count } => keys.extend(*first..=first + (count - 1)),
            Keys::List(list) => keys.extend_from_slice(list),
        }
    }
}

/// A level below level 0.
#[derive(Clone, Debug)]
struct SortedLevel {
    /// Disjoint files in the order of their keys.
    files: Vec<TableFile>,
    sectors: u64,
    /// The size above which it is compacted; `None` for the last level.
    target: Option<u64>,
    /// The key at which its next compaction begins.
    cursor: u32,
}

/// The levels. Level 0 is the first of them in all numbers.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// The files of level 0, the oldest first.
    flushed: Vec<TableFile>,
    sorted: Vec<SortedLevel>,
    /// The files of level 0 that make a compaction.
    trigger: usize,
}

/// A compaction: files of `from` and of the next level become new files of the next level.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    pub from: usize,
    /// The indices of the files in either level.
    upper: std::ops::Range<usize>,
    lower: std::ops::Range<usize>,
}

impl Levels {
    /// Creates an empty tree whose levels below level 0 have these `targets`.
    pub fn new(trigger: usize, targets: &[u64]) -> Levels {
        let last = targets.len() - 1;
        let level = |(index, &target): (usize, &u64)| SortedLevel {
            files: Vec::new(),
            sectors: 0,
            target: (index < last).then_some(target),
            cursor: 0,
        };
        let sorted = targets.iter().enumerate().map(level).collect();
        Levels { flushed: Vec::new(), sorted, trigger }
    }

    pub fn flushed(&self) -> &[TableFile] {
        &self.flushed
    }

    /// Adds a flushed memtable.
    pub fn flush(&mut self, file: TableFile) {
        self.flushed.push(file);
    }

    /// Adds a file behind all others of the last level.
    pub fn append_to_last(&mut self, file: TableFile) {
        let last = self.sorted.last_mut().expect("a tree has a last level");
        last.sectors += file.place.sectors();
        last.files.push(file);
    }

    /// Returns the level and the file of the newest version of `key`.
    pub fn find(&self, key: u32) -> Option<(usize, &TableFile, u64)> {
        let newest = self.flushed.iter().rev().map(|file| (0, file));
        let sorted = self.sorted.iter().enumerate().filter_map(|(index, level)| {
            let at = level.files.partition_point(|file| file.last() < key);
            level.files.get(at).map(|file| (index + 1, file))
        });
        newest
            .chain(sorted)
            .find_map(|(level, file)| file.position(key).map(|position| (level, file, position)))
    }

    /// Chooses the next compaction, if a level is too large: the lowest one, so that no level grows
    /// far beyond its target.
    pub fn choose(&self) -> Option<Compaction> {
        let full = |level: &SortedLevel| level.target.is_some_and(|target| level.sectors > target);
        if let Some(index) = self.sorted.iter().rposition(full) {
            let SortedLevel { files, cursor, .. } = &self.sorted[index];
            let next = files.partition_point(|file| file.first() < *cursor);
            let upper = if next == files.len() { 0 } else { next };
            let (first, last) = (files[upper].first(), files[upper].last());
            let lower = self.sorted[index + 1].overlap(first, last);
            return Some(Compaction { from: index + 1, upper: upper..upper + 1, lower });
        }
        if self.flushed.len() < self.trigger {
            return None;
        }
        let first = self.flushed.iter().map(TableFile::first).min()?;
        let last = self.flushed.iter().map(TableFile::last).max()?;
        let lower = self.sorted[0].overlap(first, last);
        Some(Compaction { from: 0, upper: 0..self.flushed.len(), lower })
    }

    /// Returns the input files of a compaction and their levels.
    pub fn inputs(&self, of: &Compaction) -> impl Iterator<Item = (usize, &TableFile)> {
        let upper = match of.from {
            0 => &self.flushed[of.upper.clone()],
            from => &self.sorted[from - 1].files[of.upper.clone()],
        };
        let (from, lower) = (of.from, &self.sorted[of.from].files[of.lower.clone()]);
        let upper = upper.iter().map(move |file| (from, file));
        upper.chain(lower.iter().map(move |file| (from + 1, file)))
    }

    /// Whether the file of a compaction only moves to the next level, which has no keys there.
    pub fn only_moves(of: &Compaction) -> bool {
        of.from > 0 && of.lower.is_empty()
    }

    /// Puts all keys of the inputs into `keys`, in order and once each.
    pub fn merge(&self, of: &Compaction, keys: &mut Vec<u32>) {
        keys.clear();
        self.inputs(of).for_each(|(_, file)| file.add_to(keys));
        // The inputs are a few sorted runs, which a stable sort finds and merges.
        keys.sort();
        keys.dedup();
    }

    /// Replaces the inputs of a compaction by `outputs` and returns the inputs with their levels.
    /// Without outputs the file moves.
    pub fn install(&mut self, of: Compaction, outputs: Vec<TableFile>) -> Vec<(usize, TableFile)> {
        let mut upper: Vec<TableFile> = match of.from {
            0 => self.flushed.drain(of.upper).collect(),
            from => {
                let level = &mut self.sorted[from - 1];
                let files: Vec<_> = level.files.drain(of.upper).collect();
                level.sectors -= sectors(&files);
                level.cursor = files[0].last().saturating_add(1);
                files
            }
        };
        let outputs = if outputs.is_empty() { std::mem::take(&mut upper) } else { outputs };
        let next = &mut self.sorted[of.from];
        next.sectors += sectors(&outputs);
        let lower: Vec<_> = next.files.splice(of.lower, outputs).collect();
        next.sectors -= sectors(&lower);
        let upper = upper.into_iter().map(|file| (of.from, file));
        upper.chain(lower.into_iter().map(|file| (of.from + 1, file))).collect()
    }

    /// Returns all files, level by level.
    #[cfg(test)]
    pub fn files(&self) -> impl Iterator<Item = (usize, &TableFile)> {
        let sorted = self.sorted.iter().enumerate();
        let sorted =
            sorted.flat_map(|(at, level)| level.files.iter().map(move |file| (at + 1, file)));
        self.flushed.iter().map(|file| (0, file)).chain(sorted)
    }
}

impl SortedLevel {
    /// Returns the files that have keys from `first` to `last`.
    fn overlap(&self, first: u32, last: u32) -> std::ops::Range<usize> {
        let begin = self.files.partition_point(|file| file.last() < first);
        let end = self.files.partition_point(|file| file.first() <= last);
        begin..end
    }
}

fn sectors(files: &[TableFile]) -> u64 {
    files.iter().map(|file| file.place.sectors()).sum()
}
