//! `requests.parquet`: a row for each request, in the order of completion.

use ftlab::stats::QueueReport;
use ftlab_workload::replay::Completed;
use parquet::errors::ParquetError;

use super::columns::{Column, ColumnTable, TableBuilder, TableTarget};
use super::timeline::QUEUE;
use crate::timeline::{Chooser, Chosen};

const NS: &str = "nanoseconds";

const COLUMNS: [Column; 21] = [
    Column { name: "index", bits: 64, unit: "the request's number in its source, from 0" },
    Column { name: "phase", bits: 32, unit: "the phase's number, from 0" },
    Column { name: "measured", bits: 8, unit: "1 if the report counts it, else 0" },
    Column { name: "arrived_ns", bits: 64, unit: "nanoseconds since the device was switched on" },
    Column { name: "latency_ns", bits: 64, unit: "nanoseconds from arrival to completion" },
    Column { name: "op", bits: 8, unit: "0 read, 1 write, 2 trim, 3 flush" },
    Column { name: "lba", bits: 64, unit: "sectors of 512 bytes, on the device" },
    Column { name: "sectors", bits: 32, unit: "sectors of 512 bytes" },
    Column { name: "stream", bits: 32, unit: "the stream's number in its source" },
    Column { name: "queue", bits: 8, unit: QUEUE },
    Column { name: "host_queue_ns", bits: 64, unit: NS },
    Column { name: "submission_ns", bits: 64, unit: NS },
    Column { name: "front_end_ns", bits: 64, unit: NS },
    Column { name: "link_ns", bits: 64, unit: NS },
    Column { name: "buffer_ns", bits: 64, unit: NS },
    Column { name: "admission_ns", bits: 64, unit: NS },
    Column { name: "translation_ns", bits: 64, unit: NS },
    Column { name: "queue_ns", bits: 64, unit: NS },
    Column { name: "gc_ns", bits: 64, unit: NS },
    Column { name: "bus_ns", bits: 64, unit: NS },
    Column { name: "cell_ns", bits: 64, unit: NS },
];

/// What is kept of the requests of a run.
#[derive(Default)]
pub struct Requests {
    /// The table being filled.
    table: Option<TableBuilder<{ COLUMNS.len() }>>,
    /// Chosen requests.
    chooser: Option<Chooser>,
}

impl Requests {
    /// Starts the table.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn new(target: TableTarget) -> Result<Requests, ParquetError> {
        let about = "A row for each request, in the order in which they finished. host_queue_ns to \
                     cell_ns sum to latency_ns.";
        let table = Some(TableBuilder::new(target, about, COLUMNS)?);
        Ok(Requests { table, chooser: None })
    }

    /// Keeps chosen requests alone.
    #[must_use]
    pub fn chosen(chooser: Chooser) -> Requests {
        Requests { table: None, chooser: Some(chooser) }
    }

    /// Also keeps chosen requests.
    pub fn choose(&mut self, chooser: Chooser) {
        self.chooser = Some(chooser);
    }

    /// Returns the chosen requests.
    #[must_use]
    pub fn take_chosen(&mut self) -> Chosen {
        self.chooser.take().map_or_else(Chosen::default, Chooser::chosen)
    }

    /// Adds a request. `phase` counts all phases, those of the preconditioning first.
    pub(crate) fn push(
        &mut self,
        done: &Completed,
        phase: u32,
        measured: bool,
    ) -> Result<(), ParquetError> {
        if let Some(chooser) = &mut self.chooser {
            chooser.look(done, measured);
        }
        self.table.as_mut().map_or(Ok(()), |table| table.push(row(done, phase, measured)))
    }

    /// Completes the table, and returns it if it is in memory. `queues` names the tenants.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self, queues: &[QueueReport]) -> Result<Option<ColumnTable>, ParquetError> {
        let Some(mut table) = self.table else { return Ok(None) };
        table.name_queues(queues);
        table.finish()
    }
}

/// Returns a row. `phase` counts all phases, those of the preconditioning first.
fn row(done: &Completed, phase: u32, measured: bool) -> [u64; COLUMNS.len()] {
    let (request, spent) = (done.completion.request, done.completion.breakdown);
    [
        done.index,
        u64::from(phase),
        u64::from(measured),
        done.arrived.0,
        done.latency().0,
        request.op as u64,
        request.lba.0,
        u64::from(request.sectors),
        u64::from(request.stream),
        u64::from(done.completion.queue.get()),
        (done.completion.submitted - done.arrived).0,
        spent.submission.0,
        spent.front_end.0,
        spent.link.0,
        spent.buffer.0,
        spent.admission.0,
        spent.translation.0,
        spent.queue.0,
        spent.gc.0,
        spent.bus.0,
        spent.cell.0,
    ]
}

/// How a request ended.
const OUTCOME: Column = Column {
    name: "outcome",
    bits: 8,
    unit: "0 done, 1 refused because the device takes no writes, 2 unreadable, from 3 on the errors of zones",
};
/// The columns that only runs have: the phase, and whether it is measured.
const OF_RUNS: [usize; 2] = [1, 2];

/// Returns the completions of a device that is stepped by hand, as a table.
#[must_use]
pub fn steps(done: &[Completed]) -> ColumnTable {
    let kept = || (0..COLUMNS.len()).filter(|at| !OF_RUNS.contains(at));
    let columns: Vec<Column> = kept().map(|at| COLUMNS[at]).chain([OUTCOME]).collect();
    let about = "A row for each request, in the order in which they finished. host_queue_ns to cell_ns sum to latency_ns.";
    let mut table = ColumnTable::new(about, &columns);
    for one in done {
        let row = row(one, 0, true);
        let mut kept = kept().map(|at| row[at]).chain([one.completion.outcome.code().into()]);
        let row: [u64; COLUMNS.len() - OF_RUNS.len() + 1] =
            std::array::from_fn(|_| kept.next().unwrap_or_default());
        table.push(row);
    }
    table
}
