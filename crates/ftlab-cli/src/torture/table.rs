//! The results of `ftlab torture` as tables.

use std::io::{self, Write};

use super::REPLAY;
use super::document::{DesignDocument, TortureDocument};
use crate::human::{count, time};
use crate::table::{show, table, wrapped};

/// Prints each failure with the line that replays it; the first one as a small case.
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

/// Prints the table of designs.
pub fn print(document: &TortureDocument, out: &mut dyn Write) -> io::Result<()> {
    let TortureDocument { first_seed, last_seed, cases, cuts, deaths, losses, designs, .. } =
        document;
    let deaths = match deaths {
        0 => String::new(),
        some => format!(" and {} dead dies", count(*some)),
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
    let text = "Cuts with commands in the device, while blocks were being emptied, during recovery, and again \
                before any command; flash pages with a torn program, torn erases; pages that did not \
                count yet and were rolled back; failed programs and erases.";
    writeln!(out)?;
    wrapped(out, "", text)?;
    computed(designs, out)
}

/// Prints what parity rebuilt.
fn computed(designs: &[DesignDocument], out: &mut dyn Write) -> io::Result<()> {
    let of = |number: fn(&DesignDocument) -> u64| designs.iter().map(number).sum::<u64>();
    let (pages, beyond) = (of(|design| design.computed_pages), of(|design| design.beyond_parity));
    let judged = of(|design| design.judged_flash_pages);
    let mut said = Vec::new();
    if pages + beyond > 0 {
        said.push(format!(
            "After dead dies and unreadable pages, {} flash pages were rebuilt. On {} devices more may fail than parity \
             covers.",
            count(pages),
            count(beyond)
        ));
    }
    if judged > 0 {
        said.push(format!(
            "{} flash pages became unreadable on devices where nothing fails by chance. Of each, its die was dead or its \
             errors too many, and no parity was left to compute it.",
            count(judged)
        ));
    }
    said.iter().try_for_each(|text| wrapped(out, "", text))
}
