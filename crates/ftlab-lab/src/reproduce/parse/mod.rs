//! Parses `experiment.toml` to a [`Declaration`], or to the list of all its problems.

mod claims;
mod figures;
mod metrics;
mod names;
mod settings;

use ftlab::config::Problems;
use ftlab::options::table::{At, Document, Given, Tables};
use ftlab::options::value::Raw;

use super::declaration::{Axis, AxisValue, Claim, Curve, Declaration, Figure, Metric, Settings};
use super::keys::{AxisKeys, FileKeys, ValueKeys};

/// The longest text that is accepted.
const MAX_TEXT: usize = 1 << 20;
/// The most cases that claims and figures may need.
const MAX_CASES: usize = 100_000;

/// Parses a declaration. `file` is its name in messages.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Declaration, Problems> {
    // Refuse texts with control characters, because they would appear in other messages.
    let check = |document: &mut Document, root: &Given| document.refuse_control_characters(root);
    let shorten = "check that it is the right file";
    let (document, keys) = Document::read::<FileKeys>(file, text, MAX_TEXT, shorten, check);
    let mut parser = Parser { document, axes: Vec::new(), curves: Vec::new(), metrics: Vec::new() };
    let declaration = keys.and_then(|keys| parser.file(keys));
    parser.document.finish(declaration)
}

/// Parses one part after another; names must be declared before they are used.
struct Parser {
    document: Document,
    axes: Vec<Axis>,
    curves: Vec<Curve>,
    metrics: Vec<Metric>,
}

impl Parser {
    fn file(&mut self, keys: FileKeys) -> Option<Declaration> {
        self.check_name(&keys);
        let knows_names = self.knows_names(&keys);
        let has_failed = |key| self.document.has_failed(&keys.table, key);
        let has_unreadable = has_failed("claim") || has_failed("figure");
        let run = settings::of(keys.run);
        for keys in keys.axis.0 {
            let axis = self.axis(keys);
            self.axes.push(axis);
        }
        for keys in all(keys.curve) {
            let curve = self.curve(keys);
            self.curves.push(curve);
        }
        if !knows_names {
            return None;
        }
        for keys in keys.metric.0 {
            let metric = self.metric(keys);
            self.metrics.push(metric);
        }
        let (mut claims, mut figures) = (Vec::new(), Vec::new());
        for keys in all(keys.claim) {
            let twice = claims.iter().flatten().any(|claim: &Claim| claim.id == keys.id);
            self.refuse_twice(&keys.table, "id", "claim", &keys.id, twice);
            let is_sound = keys.table.is_sound;
            claims.push(self.claim(keys).filter(|_| is_sound));
        }
        for keys in all(keys.figure) {
            let is_sound = keys.table.is_sound;
            figures.push(self.figure(keys).filter(|_| is_sound));
        }
        if claims.is_empty() && figures.is_empty() && !has_unreadable {
            let remedy = "declare a [[claim]] or a [[figure]]: they determine the runs";
            self.document.report_span("", 0..0, "there is neither a claim nor a figure", remedy);
        }
        let claims = claims.into_iter().collect::<Option<Vec<Claim>>>();
        let figures = figures.into_iter().collect::<Option<Vec<Figure>>>();
        let (claims, figures) = (claims?, figures?);
        self.refuse_too_many_cases(&claims, &figures);
        Some(Declaration {
            name: keys.name,
            title: keys.title,
            paper: keys.paper,
            doi: keys.doi,
            summary: keys.summary,
            seeds: keys.seeds,
            cpu_minutes: keys.cpu_minutes,
            run,
            axes: std::mem::take(&mut self.axes),
            curves: std::mem::take(&mut self.curves),
            metrics: std::mem::take(&mut self.metrics),
            claims,
            figures,
        })
    }

    /// Checks that the name is valid for folders and links.
    fn check_name(&mut self, keys: &FileKeys) {
        if !keys.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            let remedy = "write letters, digits, - and _ only: it is the name of a folder";
            self.document.report_at(&keys.table, "name", "no name for a folder", remedy);
        }
    }

    /// Whether all axes with their values, curves and metrics could be read. If not, uses of the others would be reported
    /// as unknown names.
    fn knows_names(&self, keys: &FileKeys) -> bool {
        let curves = keys.curve.iter().flat_map(|curves| &curves.0);
        let tables = keys.axis.iter().map(|axis| &axis.table);
        let tables = tables.chain(curves.map(|curve| &curve.table));
        let mut tables = tables.chain(keys.metric.iter().map(|metric| &metric.table));
        let fails =
            |table: &At, keys: &[&str]| keys.iter().any(|key| self.document.has_failed(table, key));
        !fails(&keys.table, &["axis", "curve", "metric"])
            && !tables.any(|table| fails(table, &["name", "values"]))
    }

    fn axis(&mut self, keys: AxisKeys) -> Axis {
        let AxisKeys { table, run, name, label, note, unit, values: given } = keys;
        let (template, unit) = (settings::of(run), unit.unwrap_or_default());
        let mut values: Vec<AxisValue> = Vec::new();
        let entries = match &given.0.raw {
            Raw::List(entries) => entries.len(),
            _ => 0,
        };
        for entry in (0..entries).filter_map(|at| given.0.item(at)) {
            let Some(value) = self.axis_value(&entry, &unit, &template) else { continue };
            if values.iter().any(|known| known.name == value.name) {
                let message = format!("there are two values {}", value.name);
                self.document.report(&entry, message, "give each a name of its own");
            }
            values.push(value);
        }
        if entries == 0 {
            self.document.report(&given.0, "it has no values", "write a list of at least one");
        }
        self.check_templates(&template, values.len());
        let twice = self.axes.iter().any(|axis| axis.name == name);
        self.refuse_twice(&table, "name", "axis", &name, twice);
        Axis { label: label.unwrap_or_else(|| name.clone()), name, note, unit, values }
    }

    fn axis_value(&mut self, entry: &Given, unit: &str, template: &Settings) -> Option<AxisValue> {
        let (name, label, x, own) = match (&entry.raw, entry.plain()) {
            (Raw::Table(_), _) => {
                let keys: ValueKeys = self.document.open(entry)?;
                (keys.name.text, keys.label, keys.x, settings::of(keys.run))
            }
            (_, Some(name)) => (name, None, None, Settings::default()),
            _ => {
                let remedy = "write a name, or a table with `name`";
                self.document.report(entry, "no value of an axis", remedy);
                return None;
            }
        };
        let settings = template.filled(&name).with(own);
        let number = name.strip_suffix(unit).and_then(|number| number.trim().parse().ok());
        let x = x.or(number.filter(|number: &f64| number.is_finite()));
        Some(AxisValue { label: label.unwrap_or_else(|| name.clone()), name, x, settings })
    }

    /// Refuses too many cases before any of them is built.
    fn refuse_too_many_cases(&mut self, claims: &[Claim], figures: &[Figure]) {
        let all = |sizes: Vec<usize>| sizes.into_iter().fold(1usize, usize::saturating_mul);
        let of_claim = |claim: &Claim| {
            let open = claim.quantity.mean_over.iter();
            let each = all(open.map(|&axis| self.axes[axis].values.len()).collect());
            each.saturating_mul(claim.rows.len())
        };
        let of_figure = |figure: &Figure| {
            let open = figure.open().into_iter();
            all(open.map(|axis| figure.shown(axis, &self.axes).len()).collect())
        };
        let cases = claims.iter().map(of_claim).chain(figures.iter().map(of_figure));
        let cases = cases.fold(0usize, usize::saturating_add);
        if cases > MAX_CASES {
            let message =
                format!("claims and figures ask for {cases} cases, more than {MAX_CASES}");
            let remedy = "remove values of axes, or split it into two experiments";
            self.document.report_span("", 0..0, message, remedy);
        }
    }

    fn refuse_twice(&mut self, at: &At, key: &str, what: &str, name: &str, twice: bool) {
        if twice {
            let message = format!("there are two of the {what} {name}");
            let remedy = format!("give each a {key} of its own");
            self.document.report_at(at, key, message, remedy);
        }
    }
}

fn all<T>(tables: Option<Tables<T>>) -> Vec<T> {
    tables.map_or_else(Vec::new, |tables| tables.0)
}

#[cfg(test)]
mod tests {
    use ftlab::config::Problem;
    use ftlab::options::table::{Form, Key, Otherwise};

    use super::*;
    use crate::reproduce::keys::TABLES;
    use crate::text_file;

    /// A declaration in use, with many keys to break.
    const TEXT: &str = include_str!("../../../../../experiments/rw-scheduler/experiment.toml");

    /// Contains every key, each on its own line except those of values.
    const ALL: &str = include_str!("all_keys.toml");

    /// Returns the title of the table that begins with this line.
    fn begins(line: &str) -> Option<&'static str> {
        let written = if line == "[claim.differs]" { "claim.differs" } else { line };
        TABLES.iter().map(|table| table().title).find(|title| *title == written)
    }

    /// Returns the text without a key of a table: the first place, or all tables of that name.
    fn without(text: &str, table: &str, key: &Key) -> String {
        if table == "axis.values" {
            let value = text.find("{ name = ").map_or("", |at| &text[at..]);
            let value = value.split(" }]").next().unwrap_or_default();
            let entries = value.trim_start_matches("{ ").split(", ");
            let is_it = |entry: &&str| entry.starts_with(&format!("{} = ", key.name));
            let kept: Vec<&str> = entries.filter(|entry| !is_it(entry)).collect();
            return text.replacen(value, &format!("{{ {}", kept.join(", ")), 1);
        }
        let name = key.name;
        let is_table = matches!((key.form)(), Form::Table(_) | Form::Tables(_));
        let headers = [format!("[{name}]"), format!("[[{name}]]"), format!("[claim.{name}]")];
        let (mut within, mut is_out, mut gone) = ("the top of the file", false, false);
        let mut kept = String::new();
        for line in text.lines() {
            if let Some(begun) = begins(line) {
                within = begun;
                is_out = is_table && headers.iter().any(|header| header == line);
            }
            let is_it = !gone && within == table && line.starts_with(&format!("{name} = "));
            gone |= is_it || is_out;
            if !is_it && !is_out {
                kept += &format!("{line}\n");
            }
        }
        kept
    }

    fn problems(text: &str) -> Vec<Problem> {
        parse("e.toml", text).map_or_else(|problems| problems.problems, |_| Vec::new())
    }

    #[test]
    fn every_key_is_read_and_told_if_it_is_needed_and_missing() {
        let text = ALL;
        assert_eq!(problems(text), []);
        for table in TABLES.map(|table| table()) {
            for key in table.keys {
                let without = without(text, table.title, key);
                assert_ne!(without, text, "it stands in the text: {key:?}");
                let lacks = format!("{} lacks `{}`", table.title, key.name);
                let found: Vec<String> =
                    problems(&without).into_iter().map(|one| one.message).collect();
                let needed = key.otherwise == Otherwise::Required;
                assert_eq!(found.contains(&lacks), needed, "{lacks}: {found:?}");
                assert!(key.needed.iter().all(|kind| key.of.contains(kind)), "{key:?}");
            }
        }
    }

    #[test]
    fn whatever_is_wrong_has_a_place_and_a_remedy() {
        assert_eq!(problems(TEXT), []);
        text_file::every_problem_is_told_well(ALL, problems);
    }

    /// A wrong entry of a list is reported once: what uses its name, or would follow it, is not.
    #[test]
    fn an_entry_that_is_no_table_is_told_once() {
        let entry_of = |list: &str| {
            // A list in brackets replaces the `[[...]]` tables, each of which ends with an empty line.
            let begins = [format!("[[{list}]]"), format!("[{list}.")];
            let is_one = |text: &&str| begins.iter().any(|begin| text.starts_with(begin));
            let kept: Vec<&str> = ALL.split("\n\n").filter(|text| !is_one(text)).collect();
            format!("{list} = [1]\n{}", kept.join("\n\n"))
        };
        for list in ["axis", "curve", "metric", "claim", "figure"] {
            let found: Vec<String> = problems(&entry_of(list))
                .into_iter()
                .map(|one| one.path + ": " + &one.message)
                .collect();
            let [told] = &found[..] else { panic!("{list}: {found:?}") };
            assert!(told.starts_with(&format!("{list}[1]: expected a table, such as")), "{told}");
        }
        let line = |key: &str, value: &str| {
            let from = ALL
                .lines()
                .find(|line| line.starts_with(&format!("{key} = ")))
                .expect("it has every key");
            let found = problems(&ALL.replacen(from, &format!("{key} = {value}"), 1));
            found
                .into_iter()
                .map(|one| format!("{}: {}; {}", one.path, one.message, one.remedy))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            line("at", "5"),
            [
                "claim[1].at: expected values of axes, such as { bound = \"200us\" }, found the number 5; change the value \
              of `at`, or leave the key out: The case of the claim."
            ]
        );
        assert_eq!(
            line("values", "5"),
            [
                "axis[1].values: expected a list of names or tables, such as [\"200us\", { name = \"none\", label = \
              \"no bound\" }], found the number 5; change the value of `values`: Its values: names, or tables with \
              `name`, `label`, `x` and the keys of [run]."
            ]
        );
    }

    #[test]
    fn no_text_is_too_bad_to_be_read() {
        for end in (0..TEXT.len()).step_by(7).filter(|&end| TEXT.is_char_boundary(end)) {
            problems(&TEXT[..end]);
        }
        for (from, to) in
            [("\"", "'"), ("[[", "["), ("=", "=="), ("us", "ms"), ("0.", "-1."), ("name", "x")]
        {
            for (at, _) in TEXT.match_indices(from).step_by(3) {
                problems(&format!("{}{to}{}", &TEXT[..at], &TEXT[at + from.len()..]));
            }
        }
    }

    #[test]
    fn more_cases_than_can_be_meant_are_refused() {
        let axis = |name: &str| {
            let values: Vec<String> = (0..400).map(|value| value.to_string()).collect();
            format!("[[axis]]\nname = \"{name}\"\nvalues = [{}]\n", values.join(", "))
        };
        let head =
            "name = \"e\"\ntitle = \"t\"\npaper = \"p\"\nsummary = \"s\"\nseeds = 1\n[run]\n";
        let metric = "[[metric]]\nname = \"m\"\nfrom = \"/m\"\n";
        let figure = |more: &str| {
            format!("[[figure]]\ntitle = \"f\"\nx = \"a\"\nmetrics = [\"m\"]\n{more}\n")
        };
        let text = |more: &str| [head, &axis("a"), &axis("b"), metric, &figure(more)].concat();
        assert_eq!(problems(&text("at = { b = 1 }")), [], "axes may span more than is asked for");
        let found = problems(&text("series = \"b\""));
        assert!(found.iter().any(|one| one.message.contains("160000 cases")), "{found:?}");
    }
}
