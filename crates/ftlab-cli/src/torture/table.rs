//! What was found, and what was met, for people.

use std::io::{self, Write};

use super::REPLAY;
use super::document::{DesignDocument, TortureDocument};
use crate::human::{count, time};
use crate::table::{show, table, wrapped};

/// Each failure with the line that replays it; the first one as small as it could be made.
pub fn failures(document: &TortureDocument, out: &mut dyn Write) -> io::Result<()> {
    for failed in &document.failures {
        writeln!(out, "LOST: {}", failed.found.trim_end())?;
        writeln!(out, "  {REPLAY}{}", failed.replay)?;
        let Some(shrunk) = &failed.shrunk else { continue };
        writeln!(out, "\nThe smallest case that still fails: {}", shrunk.found.trim_end())?;
        writeln!(out, "  {REPLAY}{}\n", shrunk.replay)?;
        writeln!(out, "{}", shrunk.told)?;
    }
    Ok(())
}

/// The table by design.
pub fn print(document: &TortureDocument, out: &mut dyn Write) -> io::Result<()> {
    let TortureDocument { first_seed, last_seed, cases, cuts, deaths, losses, designs, .. } =
        document;
    let deaths = match deaths {
        0 => String::new(),
        some => format!(" and {} deaths of dies", count(*some)),
    };
    let told = format!(
        "{} power cuts{deaths} in {} cases, seeds {first_seed} to {last_seed}: {}",
        count(*cuts),
        count(*cases),
        match losses {
            0 => "nothing lost".to_owned(),
            some => format!("{} cases lost something", count(*some)),
        }
    );
    wrapped(out, "", &told)?;
    recoveries(designs, out)?;
    met(designs, out)
}

fn recoveries(designs: &[DesignDocument], out: &mut dyn Write) -> io::Result<()> {
    let mut rows =
        table(&["Design", "cases", "cuts", "deaths", "lost", "recovery: median", "p99", "longest"]);
    for design in designs {
        let times = design.recovery_ns;
        let told = |of: Option<u64>| of.map_or("-".to_owned(), |ns| time(ns as f64));
        rows.add_row([
            design.name.to_owned(),
            count(design.cases),
            count(design.cuts),
            count(design.deaths),
            count(design.losses),
            told(times.map(|times| times.median)),
            told(times.map(|times| times.p99)),
            told(times.map(|times| times.max)),
        ]);
    }
    show(rows, out)
}

fn met(designs: &[DesignDocument], out: &mut dyn Write) -> io::Result<()> {
    let head = [
        "Design",
        "at work",
        "emptying",
        "coming up",
        "again",
        "torn",
        "erases",
        "undone",
        "faults",
    ];
    let mut rows = table(&head);
    for design in designs {
        rows.add_row([
            design.name.to_owned(),
            count(design.cuts_at_work),
            count(design.cuts_collecting),
            count(design.cuts_coming_up),
            count(design.cuts_again),
            count(design.torn_flash_pages),
            count(design.half_erased_blocks),
            count(design.rolled_back_units),
            count(design.faults),
        ]);
    }
    show(rows, out)?;
    let text = "Cuts with commands in the device, while blocks were emptied, while the device came up, and again \
                without a command; flash pages whose program was torn, erases that were; mapping units that did not \
                count yet and were rolled back; programs and erases that failed.";
    writeln!(out)?;
    wrapped(out, "", text)?;
    computed(designs, out)
}

/// What parity has done where dies die.
fn computed(designs: &[DesignDocument], out: &mut dyn Write) -> io::Result<()> {
    let of = |number: fn(&DesignDocument) -> u64| designs.iter().map(number).sum::<u64>();
    let (pages, beyond) = (of(|design| design.computed_pages), of(|design| design.beyond_parity));
    if pages + beyond == 0 {
        return Ok(());
    }
    let text = format!(
        "Where dies died, or pages could not be read, {} flash pages were computed. On {} devices more failed than \
         parity covers.",
        count(pages),
        count(beyond)
    );
    wrapped(out, "", &text)
}
