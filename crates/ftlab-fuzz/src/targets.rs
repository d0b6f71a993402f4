//! The list of targets: what each reads, its seeds, and how much memory it may hold.

/// The most memory that a target may hold: a fixed part plus a part per byte of input.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Bytes, whatever the input.
    pub fixed: u64,
    /// Bytes for each byte of input.
    pub per_byte: u64,
}

impl Bound {
    /// Returns the bound for an input of this length.
    #[must_use]
    pub fn of(self, length: usize) -> u64 {
        self.fixed + self.per_byte * length as u64
    }
}

/// A parser, or a family of parsers.
pub struct Target {
    /// Name of the target and of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Description of the input.
    pub reads: &'static str,
    /// Folders of its seeds, relative to `fuzz/`.
    pub folders: &'static [&'static str],
    /// Parses an input.
    pub run: fn(&[u8]),
    /// Limit on memory.
    pub bound: Bound,
    /// Number of mutations tried by tests: a few seconds' worth.
    pub rounds: u64,
}

const MIB: u64 = 1 << 20;

/// All targets.
pub static TARGETS: [Target; 13] = [
    Target {
        name: "trace",
        reads: "traces in every format, compressed or not",
        folders: &["corpus/trace"],
        run: ftlab_workload::trace::fuzz::read_any,
        // Five columns of Parquet, each with a page of at most 64 MiB.
        bound: Bound { fixed: 384 * MIB, per_byte: 1024 },
        rounds: 2_500,
    },
    Target {
        name: "config",
        reads: "device files and --set",
        folders: &["corpus/config", "../presets/devices"],
        run: ftlab::config::fuzz::parse_any,
        bound: Bound { fixed: 8 * MIB, per_byte: 1024 },
        rounds: 6_000,
    },
    Target {
        name: "workload",
        reads: "workload files and the histograms that they name",
        folders: &["corpus/workload", "../presets/workloads"],
        run: ftlab_workload::generate::fuzz::parse_any,
        bound: Bound { fixed: 64 * MIB, per_byte: 1024 },
        rounds: 20_000,
    },
    Target {
        name: "fio",
        reads: "fio job files",
        folders: &["corpus/fio", "../examples/fio"],
        run: ftlab_workload::fio::fuzz::parse_any,
        bound: Bound { fixed: 64 * MIB, per_byte: 1024 },
        rounds: 4_000,
    },
    Target {
        name: "image",
        reads: "images of devices, uncompressed, and changes behind their checksums",
        folders: &["corpus/image"],
        run: ftlab::saved::fuzz::load_any,
        bound: Bound { fixed: 64 * MIB, per_byte: 1024 },
        rounds: 2_000,
    },
    Target {
        name: "image-file",
        reads: "image files as the command line takes them",
        folders: &["corpus/image-file"],
        run: ftlab_lab::fuzz::image_file,
        // Half of this is allocated and freed before tables are built, to check that there is room.
        bound: Bound { fixed: 256 * MIB, per_byte: 8192 },
        rounds: 2_000,
    },
    Target {
        name: "result",
        reads: "results and comparisons: their JSON and Parquet files, up to the page",
        folders: &["corpus/result"],
        run: ftlab_lab::fuzz::result_files,
        // Ten columns of Parquet with at most a million rows.
        bound: Bound { fixed: 1024 * MIB, per_byte: 1024 },
        rounds: 2_000,
    },
    Target {
        name: "experiment",
        reads: "experiment.toml and the README beside it",
        folders: &["corpus/experiment"],
        run: ftlab_lab::fuzz::experiment,
        bound: Bound { fixed: 64 * MIB, per_byte: 4096 },
        rounds: 3_000,
    },
    Target {
        name: "sweep",
        reads: "sweep files, up to their points",
        folders: &["corpus/sweep", "../examples/sweep"],
        run: ftlab_lab::fuzz::sweep,
        bound: Bound { fixed: 64 * MIB, per_byte: 4096 },
        rounds: 2_000,
    },
    Target {
        name: "arguments",
        reads: "--precondition, --vary, --variant and the other flags of a load",
        folders: &["corpus/arguments"],
        run: ftlab_lab::fuzz::arguments,
        bound: Bound { fixed: 8 * MIB, per_byte: 4096 },
        rounds: 800,
    },
    Target {
        name: "nbd",
        reads: "what a client of the block device sends",
        folders: &["corpus/nbd"],
        run: ftlab_nbd::protocol::fuzz::session,
        // Replies that nobody reads: the buffer for 64 MiB while it grows to 128 MiB.
        bound: Bound { fixed: 256 * MIB, per_byte: 64 },
        rounds: 60_000,
    },
    Target {
        name: "http",
        reads: "what a browser, Prometheus or a program sends to the control of a served drive",
        folders: &["corpus/http"],
        run: ftlab_nbd::control::fuzz::http,
        bound: Bound { fixed: 8 * MIB, per_byte: 64 },
        rounds: 20_000,
    },
    Target {
        name: "answer",
        reads: "what a server answers to `ftlab ctl`",
        folders: &["corpus/answer"],
        run: ftlab_nbd::control::fuzz::answer,
        bound: Bound { fixed: 8 * MIB, per_byte: 64 },
        rounds: 20_000,
    },
];
