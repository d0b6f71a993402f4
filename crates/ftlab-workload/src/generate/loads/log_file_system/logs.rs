//! What the logs of a log-structured file system hold, and the places of its files and directories.

/// The logs, in the order of their streams (FAST 2015, table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActiveLog {
    /// Nodes of directories.
    HotNode,
    /// Nodes of files that point to data.
    WarmNode,
    /// Nodes that point to nodes.
    ColdNode,
    /// Blocks of directories.
    HotData,
    /// New data.
    WarmData,
    /// Data that the cleaner moved.
    ColdData,
}

impl ActiveLog {
    pub const ALL: [ActiveLog; 6] = [
        ActiveLog::HotNode,
        ActiveLog::WarmNode,
        ActiveLog::ColdNode,
        ActiveLog::HotData,
        ActiveLog::WarmData,
        ActiveLog::ColdData,
    ];
    pub const COUNT: u32 = ActiveLog::ALL.len() as u32;
}

/// The blocks of data that a file's first node points to, and those of each further one.
const DATA_OF_INODE: u32 = 923;
const DATA_OF_NODE: u32 = 1018;
/// The nodes of data that the first node points to. Further ones have an indirect node before them.
const NODES_OF_INODE: u32 = 2;

/// What a block of the main area holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LiveBlock {
    /// Block `at` of a file.
    Data { file: u32, at: u32 },
    /// Node `at` of a file. The first one is its inode.
    Node { file: u32, at: u32 },
    /// The entries of a directory.
    Entries { directory: u32 },
    /// The node of a directory.
    DirectoryNode { directory: u32 },
}

impl LiveBlock {
    /// Returns the log that takes the block when it is written.
    pub fn log(self) -> ActiveLog {
        match self {
            LiveBlock::Data { .. } => ActiveLog::WarmData,
            LiveBlock::Node { at, .. } if at == NODES_OF_INODE + 1 => ActiveLog::ColdNode,
            LiveBlock::Node { .. } => ActiveLog::WarmNode,
            LiveBlock::Entries { .. } => ActiveLog::HotData,
            LiveBlock::DirectoryNode { .. } => ActiveLog::HotNode,
        }
    }

    /// Returns the log that takes the block when the cleaner moves it.
    pub fn log_when_cleaned(self) -> ActiveLog {
        match self {
            LiveBlock::Data { .. } | LiveBlock::Entries { .. } => ActiveLog::ColdData,
            node => node.log(),
        }
    }

    /// Returns the node that points to a block of data. What points to a node is the table of nodes.
    pub fn parent(self) -> Option<LiveBlock> {
        match self {
            LiveBlock::Data { file, at } => Some(LiveBlock::Node { file, at: node_of(at) }),
            LiveBlock::Entries { directory } => Some(LiveBlock::DirectoryNode { directory }),
            LiveBlock::Node { .. } | LiveBlock::DirectoryNode { .. } => None,
        }
    }
}

/// Returns the node that points to a block of data.
fn node_of(at: u32) -> u32 {
    let node = at.checked_sub(DATA_OF_INODE).map_or(0, |beyond| beyond / DATA_OF_NODE + 1);
    // The indirect node lies between those before it and those that it points to.
    node + u32::from(node > NODES_OF_INODE)
}

/// A file: where its blocks and nodes are; none until they are written.
#[derive(Clone, Debug, Default)]
struct FilePlaces {
    data: Vec<Option<u32>>,
    nodes: Vec<Option<u32>>,
}

/// A directory.
#[derive(Clone, Copy, Debug, Default)]
struct Directory {
    entries: Option<u32>,
    node: Option<u32>,
}

/// The live files of one kind.
#[derive(Clone, Debug, Default)]
struct Kind {
    files: Vec<u32>,
    blocks: u64,
}

/// The files and directories. A file keeps its number, and numbers are used again.
#[derive(Clone, Debug)]
pub(super) struct Files {
    files: Vec<FilePlaces>,
    unused: Vec<u32>,
    directories: Vec<Directory>,
    /// The temporary files, and the others.
    kinds: [Kind; 2],
}

impl Files {
    pub fn new(directories: u32) -> Files {
        let directories = vec![Directory::default(); directories as usize];
        Files { files: Vec::new(), unused: Vec::new(), directories, kinds: Default::default() }
    }

    /// Returns the blocks of data of a kind.
    pub fn blocks(&self, is_lasting: bool) -> u64 {
        self.kinds[usize::from(is_lasting)].blocks
    }

    /// Returns the number of files of a kind.
    pub fn count(&self, is_lasting: bool) -> u64 {
        self.kinds[usize::from(is_lasting)].files.len() as u64
    }

    /// Returns a file by its rank among those of its kind.
    pub fn nth(&self, is_lasting: bool, rank: u64) -> u32 {
        self.kinds[usize::from(is_lasting)].files[usize::try_from(rank).expect("below a length")]
    }

    /// Makes a file whose blocks have no places yet.
    pub fn create(&mut self, is_lasting: bool, blocks: u64) -> u32 {
        let count = u32::try_from(blocks).expect("a file fits into the main area");
        let file = self.unused.pop().unwrap_or_else(|| {
            self.files.push(FilePlaces::default());
            u32::try_from(self.files.len() - 1).expect("no more than there are blocks")
        });
        let nodes = node_of(count.saturating_sub(1)) + 1;
        let places = |count: u32| vec![None; count as usize];
        self.files[file as usize] = FilePlaces { data: places(count), nodes: places(nodes) };
        let kind = &mut self.kinds[usize::from(is_lasting)];
        kind.files.push(file);
        kind.blocks += blocks;
        file
    }

    /// Removes a file by its rank.
    pub fn remove(&mut self, is_lasting: bool, rank: u64) {
        let kind = &mut self.kinds[usize::from(is_lasting)];
        let file = kind.files.swap_remove(usize::try_from(rank).expect("below a length"));
        kind.blocks -= std::mem::take(&mut self.files[file as usize]).data.len() as u64;
        self.unused.push(file);
    }

    /// Returns the data and the nodes of a file.
    pub fn all_of(&self, file: u32) -> impl Iterator<Item = LiveBlock> + use<> {
        let FilePlaces { data, nodes } = &self.files[file as usize];
        let count = |places: &[Option<u32>]| u32::try_from(places.len()).expect("made of one");
        let data = (0..count(data)).map(move |at| LiveBlock::Data { file, at });
        data.chain((0..count(nodes)).map(move |at| LiveBlock::Node { file, at }))
    }

    /// Returns where something is, if it was written.
    pub fn place(&self, held: LiveBlock) -> Option<u32> {
        match held {
            LiveBlock::Data { file, at } => self.files[file as usize].data[at as usize],
            LiveBlock::Node { file, at } => self.files[file as usize].nodes[at as usize],
            LiveBlock::Entries { directory } => self.directories[directory as usize].entries,
            LiveBlock::DirectoryNode { directory } => self.directories[directory as usize].node,
        }
    }

    pub fn set_place(&mut self, held: LiveBlock, block: u32) {
        let place = match held {
            LiveBlock::Data { file, at } => &mut self.files[file as usize].data[at as usize],
            LiveBlock::Node { file, at } => &mut self.files[file as usize].nodes[at as usize],
            LiveBlock::Entries { directory } => &mut self.directories[directory as usize].entries,
            LiveBlock::DirectoryNode { directory } => {
                &mut self.directories[directory as usize].node
            }
        };
        *place = Some(block);
    }
}
