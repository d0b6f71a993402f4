//! Which option somebody meant who wrote one that is not known: by the letters of its name, by the words in it, by
//! what others call the same thing, and by its place.

use super::catalog::Catalog;
use super::text::nearest;

/// How a remedy begins that knows better.
pub(crate) const MEANT: &str = "did you mean";

/// Words of data sheets, papers and other simulators, and the last part of the option that stands for them here.
const SYNONYMS: [(&str, &str); 36] = [
    ("algorithm", "policy"),
    ("algorithm", "victim"),
    ("bandwidth", "rate"),
    ("codeword_size", "codeword"),
    ("d", "draws"),
    ("depth", "queue_depth"),
    ("ecc", "codeword"),
    ("endurance", "cycles"),
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
    /// What to write instead of the unknown `path`, and what is known around there.
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

/// The option or the section that `path` probably stands for. `parent` is the longest part of it that is known.
fn meant(catalog: &Catalog, path: &str, parent: &str) -> Option<String> {
    let rest = path.strip_prefix(parent).unwrap_or(path).trim_start_matches('.');
    let last = path.rsplit('.').next().unwrap_or(path).to_lowercase();
    let children = catalog.children(parent);
    let full = |name: &str| match parent {
        "" => name.to_owned(),
        _ => format!("{parent}.{name}"),
    };
    // An option holds nothing further: who writes ftl.gc.victim.policy means ftl.gc.victim.
    let option = rest.split('.').next().map(full).filter(|path| catalog.option(path).is_some());
    // What stands in a section that is not known itself says nothing of the options of the one around it.
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

/// A known path with a slip in it. What it ends in must be alike, not only where it lies.
fn near_path<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let alike = |known: &&str| nearest(last_of(path), [last_of(known)]).is_some();
    nearest(path, known.filter(alike)).map(str::to_owned)
}

/// The shortest of these names that holds all words of `wanted`, in the singular or the plural; of several the first.
fn by_words<'a>(wanted: &str, known: &[&'a str]) -> Option<&'a str> {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(['_', '-']).filter(|word| !word.is_empty());
        words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect()
    };
    let all = words(wanted);
    let holds = |name: &&&str| !all.is_empty() && all.iter().all(|word| words(name).contains(word));
    // Who writes `pages` means `pages_per_block` rather than `page_size`.
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
