//! `ftlab torture`: runs cases of devices that lose power or dies, on all cores, until there are
//! enough cuts or failures.
//!
//! Which cases count follows from the seed and the number of cuts, never from the number of
//! threads: results are recorded in the order of the cases, and cases beyond the end are discarded.

mod document;
mod ledger;
mod table;

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use ftlab_torture::crash::{Case, DESIGNS, Design};

use self::document::{Failed, TortureDocument};
use self::ledger::{Ledger, RanCase};
use crate::args::TortureArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Cuts;
use ftlab_lab::pool::locked;
use ftlab_lab::result::to_json;

/// The start of the line that a failure prints.
const REPLAY: &str = "ftlab torture --replay ";

/// `ftlab torture`.
pub fn run(args: &TortureArgs, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen()?;
    match &args.replay {
        Some(line) => replay(line, args, out),
        None => torture(args, out),
    }
}

fn replay(line: &str, args: &TortureArgs, out: &mut dyn Write) -> Result<(), Failure> {
    // The argument may be the whole printed line, or the part after the flag.
    let line = line.trim();
    let line = line.strip_prefix(REPLAY).map_or(line, str::trim);
    let case = Case::replay(line).map_err(|said| {
        Failure::usage(format!(
            "{said}\n  remedy: give the line as it was printed, with the version of ftlab that printed it"
        ))
    })?;
    let mut ledger = Ledger::new(vec![case.design], case.seed, None);
    let found = case.run();
    let found = found.map_err(|said| Failed::new(case.clone(), said));
    ledger.take(0, RanCase { cuts: case.cuts(), found });
    tell(&ledger.into_document(), args, out)
}

fn torture(args: &TortureArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let designs: Vec<&'static Design> = match args.design.is_empty() {
        true => DESIGNS.iter().collect(),
        // A design that is named twice is tested once.
        false => args.design.iter().fold(Vec::new(), |mut known, &design| {
            if !known.iter().any(|other: &&Design| other.name == design.name) {
                known.push(design);
            }
            known
        }),
    };
    if args.cuts.is_some() && !designs.iter().any(|design| design.loses_power()) {
        let said = "none of these designs loses power, so no number of cuts is ever reached";
        let remedy = "give a time with --hours, or a design that loses power";
        return Err(Failure::usage(format!("{said}\n  remedy: {remedy}")));
    }
    let threads = args
        .jobs
        .map_or_else(|| available_parallelism().map_or(1, usize::from), |jobs| jobs as usize);
    let began = Instant::now();
    let bar = Cuts::new(args.cuts, args.hours, !args.quiet);
    let ledger = Mutex::new(Ledger::new(designs.clone(), args.seed, args.cuts));
    let next = AtomicU64::new(0);
    let is_over = |ledger: &Ledger| {
        ledger.has_enough() || args.hours.is_some_and(|time| began.elapsed() >= time)
    };
    let work = || {
        while !interrupt::is_stopped() && !is_over(&locked(&ledger)) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let ran = RanCase::of(ledger::case(&designs, args.seed, number));
            let mut ledger = locked(&ledger);
            ledger.take(number, ran);
            bar.show(ledger.cuts(), ledger.losses());
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    bar.finish();
    let ledger = ledger.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let told = tell(&ledger.into_document(), args, out);
    if interrupt::is_stopped() { told.and(Err(Failure::INTERRUPTED)) } else { told }
}

/// Prints the results. Fails if something was lost.
fn tell(
    document: &TortureDocument,
    args: &TortureArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if args.json {
        out.write_all(to_json(document)?.as_bytes())?;
    } else {
        table::failures(document, out)?;
        if !args.quiet {
            table::print(document, out)?;
        }
    }
    if document.losses == 0 { Ok(()) } else { Err(Failure::Check) }
}
