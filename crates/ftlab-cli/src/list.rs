//! `ftlab list` and `ftlab explain`.

use std::io::{self, Write};

use ftlab::config::{all_options, all_policies, explain as look_up};
use ftlab_lab::catalog::{document, presets_read};
use ftlab_workload::generate::PRESETS;
use ftlab_workload::trace::FORMATS;

use crate::args::Listed;
use crate::failure::{Failure, with_flags};
use crate::human::bytes;
use crate::table::{wrapped, wrapped_lines};
use ftlab_lab::result::to_json;

/// `ftlab list`: lists everything of one kind.
pub fn list(what: Listed, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        return Ok(out.write_all(to_json(&document(what.catalog())?)?.as_bytes())?);
    }
    match what {
        Listed::Policies => policies(out)?,
        Listed::Devices => devices(out)?,
        Listed::Formats => rows(
            out,
            FORMATS.iter().map(|format| {
                (format.name, format!("{} ({})", with_flags(format.doc), format.source))
            }),
        )?,
        Listed::Workloads => {
            rows(out, PRESETS.iter().map(|preset| (preset.name, preset.about().to_owned())))?;
        }
        Listed::Options => rows(
            out,
            all_options().iter().map(|option| {
                let default = option.default.filter(|text| !text.is_empty());
                let default = default
                    .map_or(String::new(), |text| format!(" [default {}]", option.with_unit(text)));
                (option.path, format!("{}{default}", first_sentence(option.doc)))
            }),
        )?,
    }
    Ok(())
}

fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

fn rows<'a>(out: &mut dyn Write, rows: impl Iterator<Item = (&'a str, String)>) -> io::Result<()> {
    let rows: Vec<(&str, String)> = rows.collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in rows {
        wrapped(out, &format!("{name:<width$}  "), &text)?;
    }
    Ok(())
}

fn policies(out: &mut dyn Write) -> io::Result<()> {
    for (at, seam) in all_policies().iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        wrapped(out, "", &format!("{}: {}", seam.path, seam.doc))?;
        let width = seam.policies.iter().map(|policy| policy.name.len()).max().unwrap_or(0);
        for policy in seam.policies {
            let default = if policy.name == seam.default { " (default)" } else { "" };
            let (name, summary, source) = (policy.name, policy.summary, policy.source);
            let lead = format!("  {name:<width$}  ");
            wrapped(out, &lead, &format!("{summary} [{source}]{default}"))?;
        }
    }
    Ok(())
}

fn devices(out: &mut dyn Write) -> Result<(), Failure> {
    let found = presets_read()?;
    let told = found.iter().map(|(name, capacity, config)| {
        (*name, format!("{}: {}", bytes(*capacity), config.options.device.description))
    });
    Ok(rows(out, told)?)
}

/// `ftlab explain`: describes an option, a section or a policy.
pub fn explain(path: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let topic = look_up(path).map_err(Failure::usage)?;
    Ok(wrapped_lines(out, &topic.to_string())?)
}
