//! The page of fio's job options.

use ftlab_workload::fio::options::{JobOption, OPTIONS, Support};

use super::{MarkdownTable, code, head};

const ABOUT: &str = "\
`ftlab run --fio FILE` runs a job file of fio: its jobs at once, each a closed loop with its own `iodepth`, clones \
of `numjobs` included; a job with `stonewall` and those below it start when the ones above are done. The text is \
read as fio reads it: sections, `[global]` for the jobs below it, `#` and `;` begin comments, `include FILE`, \
`${NAME}` from the environment, numbers with k, m, g, t, p (of 1024, or of 1000 with an i, unless `kb_base=1000`). \
Arithmetic in parentheses is not read, and neither are fractions such as 1.5k, which fio 3.33 takes for 1.

Every option of fio 3.33 is in one of the three tables; one that is in none is an error that names it. A refused \
option may be given with a value that switches it off (0, none). In the tables, options of ftlab have their names in \
Python: `precondition` is `--precondition` of the program.

Files lie one after the other on the device, each at a multiple of 64 KiB; a job without `filename` has files of its \
own, as in fio, and so has each of its clones. Files that are read are written once beforehand, unmeasured, as fio \
does. A `filename` under `/dev/` is the device itself, whatever its name; nothing is written to it beforehand: use \
`--precondition fill`. Streams of requests are numbered by job and clone, in the order of the file; with `--set host.queues=N`, N \
the number of clones in all, each has a queue and results of its own.

`fio.json` in the result folder, and `--fio-json FILE` (- for standard output), hold what the jobs came to as \
`fio --output-format=json` of version 3.33 prints it, for the tools that read that: [its keys](results.md#fiojson). \
Jobs report by clone, or with `group_reporting` together, as in fio.

Departures from fio: random sequences are our own and follow `--seed`; `fsync` waits for its flush, and the job with \
it, as with `libaio`.

Reads, writes and trims of a random job share one map, or one Zipf, Pareto or normal distribution, as in fio 3.33: \
what is hot for reads is hot for writes. Where they differ in size, places are still counted in the smallest size of \
all directions, used or not, and requests at multiples of their own: a place that lies beyond the end ends the pass, \
often early (`rw=randrw`, `bs=4k,16k`, `size=1m`: on average 77 requests and not 100). A note says so; `norandommap` \
or one size for all goes everywhere.";

pub fn page() -> String {
    let mut text = head("fio job files", ABOUT);
    text += &table("Honoured", &["Option", "Remark"], |option| match option.standing {
        Support::Honoured(remark) => Some(vec![remark.to_owned()]),
        _ => None,
    });
    text += &table("Refused", &["Option", "Why", "What to do"], |option| match option.standing {
        Support::Refused { why, remedy } => Some(vec![why.to_owned(), remedy.to_owned()]),
        _ => None,
    });
    text += &table("No effect here", &["Option", "Why"], |option| match option.standing {
        Support::NoEffect(why) => Some(vec![why.to_owned()]),
        _ => None,
    });
    text
}

fn table(
    title: &str,
    columns: &[&str],
    cells: impl Fn(&JobOption) -> Option<Vec<String>>,
) -> String {
    let mut table = MarkdownTable::new(columns);
    for option in OPTIONS {
        if let Some(cells) = cells(option) {
            let names: Vec<String> = option.names().map(code).collect();
            table.row(std::iter::once(names.join(", ")).chain(cells));
        }
    }
    format!("\n## {title}\n\n{}", table.text)
}
