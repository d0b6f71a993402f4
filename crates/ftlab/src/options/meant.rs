//! Finds the option that was meant by an unknown one: by the letters of its name, by its words, by
//! synonyms, and by its section.

use super::catalog::Catalog;
use super::text::nearest;

/// The beginning of a remedy that names a similar option.
pub(crate) const MEANT: &str = "did you mean";

/// Words of data sheets, papers and other simulators, and the last part of the option that they mean here.
const SYNONYMS: [(&str, &str); 39] = [
    ("algorithm", "policy"),
    ("algorithm", "victim"),
    ("bandwidth", "rate"),
    ("codeword_size", "codeword"),
    ("d", "draws"),
    ("depth", "queue_depth"),
    ("ecc", "codeword"),
    ("endurance", "cycles"),
    ("flush", "write_back"),
    ("flush_pages", "append_together"),
    ("flush_start", "append_start"),
    ("frequency", "transfers"),
    ("high_watermark", "stop"),
    ("iodepth", "queue_depth"),
    ("kind", "policy"),
    ("low_watermark", "start"),
    ("lun", "dies_per_chip"),
    ("luns", "dies_per_chip"),
    ("mapping_unit", "unit"),
    ("op", "over_provisioning"),
    ("overprovisioning", "over_provisioning"),
    ("pe_cycles", "cycles"),
    ("policy", "victim"),
    ("prefetch", "ahead"),
    ("qd", "queue_depth"),
    ("read_ahead", "ahead"),
    ("samples", "draws"),
    ("size", "capacity"),
    ("spare", "over_provisioning"),
    ("speed", "rate"),
    ("tbers", "erase"),
    ("threshold", "start"),
    ("tprog", "program"),
    ("tr", "read"),
    ("type", "policy"),
    ("victims", "draws"),
    ("watermark", "start"),
    ("ways", "chips_per_channel"),
    ("wear_leveling", "policy"),
];

impl Catalog {
    /// The remedy for the unknown `path`: what was probably meant, and what is known in its section.
    pub(crate) fn remedy_for(&self, path: &str) -> String {
        let mut parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        while !self.holds(parent) {
            parent = parent.rsplit_once('.').map_or("", |(parent, _)| parent);
        }
        let children = self.children(parent);
        let meant = meant(self, path, parent);
        let place = if parent.is_empty() { "at the top" } else { parent };
        let known = format!(
            "known {}: {}",
            if parent.is_empty() { place.to_owned() } else { format!("in {place}") },
            children.join(", ")
        );
        match meant {
            Some(meant) => format!("{MEANT} {meant}? ({known})"),
            None => format!("remove it, or write one that is {known}"),
        }
    }
}

/// The option or section that was probably meant by `path`. `parent` is its longest known part.
fn meant(catalog: &Catalog, path: &str, parent: &str) -> Option<String> {
    let rest = path.strip_prefix(parent).unwrap_or(path).trim_start_matches('.');
    let last = path.rsplit('.').next().unwrap_or(path).to_lowercase();
    let children = catalog.children(parent);
    let full = |name: &str| match parent {
        "" => name.to_owned(),
        _ => format!("{parent}.{name}"),
    };
    // An option has no options: ftl.gc.victim.policy means ftl.gc.victim.
    let option = rest.split('.').next().map(full).filter(|path| catalog.option(path).is_some());
    // The contents of an unknown section are unrelated to the options of the section around it.
    let is_here = !rest.contains('.');
    let worded = by_words(&last, &children).filter(|_| is_here);
    let near = || nearest(rest, children.iter().copied());
    let called = || synonyms(&last).find(|name| is_here && children.contains(name));
    let only = || {
        let mut same = catalog.paths().filter(|known| last_of(known) == last);
        same.next().filter(|_| same.next().is_none()).map(str::to_owned)
    };
    let inside = worded.or_else(near).or_else(called).map(full);
    option.or(inside).or_else(only).or_else(|| near_path(path, catalog.paths()))
}

fn last_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn synonyms(word: &str) -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().filter(move |(other, _)| *other == word).map(|(_, here)| *here)
}

/// A known path that resembles `path`. The last parts must resemble each other, too.
fn near_path<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let alike = |known: &&str| nearest(last_of(path), [last_of(known)]).is_some();
    nearest(path, known.filter(alike)).map(str::to_owned)
}

/// The shortest of these names that contains all words of `wanted`, in singular or plural; the first of several.
fn by_words<'a>(wanted: &str, known: &[&'a str]) -> Option<&'a str> {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(['_', '-']).filter(|word| !word.is_empty());
        words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect()
    };
    let all = words(wanted);
    let holds = |name: &&&str| !all.is_empty() && all.iter().all(|word| words(name).contains(word));
    // `pages` means `pages_per_block` rather than `page_size`.
    let differs = |name: &str| !name.starts_with(wanted);
    known.iter().filter(holds).min_by_key(|name| (differs(name), words(name).len())).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn words_of_others_stand_for_options_that_there_are() {
        for (word, here) in SYNONYMS {
            let known = catalog().paths().any(|path| last_of(path) == here);
            assert!(known, "{word} stands for {here}, which is no option");
        }
        assert!(SYNONYMS.is_sorted());
    }
}
