//! From the text of `experiment.toml` to a [`Declaration`], or to the list of all its problems.

mod claims;
mod figures;
mod metrics;
mod names;
mod settings;

use std::sync::Arc;

use ftlab::config::{Place, Problem, Problems};
use toml::de::{DeTable, DeValue};

use super::declaration::{Axis, AxisValue, Claim, Curve, Declaration, Figure, Metric, Settings};
use super::keys::Section;
use super::reader::{Fields, Given, Reader, number, plain};

/// The longest text that is read.
const MAX_TEXT: usize = 1 << 20;
/// Ten years of processor time.
const MAX_CPU_MINUTES: u64 = 10 * 365 * 24 * 60;
/// The most seeds.
const MAX_SEEDS: u64 = 100_000;
/// The most cases that claims and figures may ask for.
const MAX_CASES: usize = 100_000;

/// Reads a declaration. `file` is the name that problems carry.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Declaration, Problems> {
    let origin: Arc<str> = text.into();
    let place = |span| Place::new(file, &origin, span);
    if text.len() > MAX_TEXT {
        let message = format!("the text has {} bytes; the limit is {MAX_TEXT}", text.len());
        let remedy = "check that it is the right file".to_owned();
        let problem = Problem { path: String::new(), message, remedy, place: Some(place(0..0)) };
        return Err(Problems { problems: vec![problem] });
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let syntax =
            |error: &toml::de::Error| Problem::syntax(error, place(error.span().unwrap_or(0..0)));
        return Err(Problems { problems: errors.iter().map(syntax).collect() });
    }
    let mut parser = Parser {
        reader: Reader::new(file, &origin),
        axes: Vec::new(),
        curves: Vec::new(),
        metrics: Vec::new(),
    };
    // What can't be printed is not looked at any further: it would stand in other messages.
    parser.reader.refuse_control_characters("", root.get_ref());
    let in_order = parser.reader.problems.is_empty();
    let declaration = in_order.then(|| parser.file(root.get_ref())).flatten();
    let mut problems = parser.reader.problems;
    match declaration {
        Some(declaration) if problems.is_empty() => Ok(declaration),
        _ => {
            problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.span.start));
            Err(Problems { problems })
        }
    }
}

/// Reads one part after the other; what is named must have been declared before.
struct Parser<'f> {
    reader: Reader<'f>,
    axes: Vec<Axis>,
    curves: Vec<Curve>,
    metrics: Vec<Metric>,
}

impl Parser<'_> {
    fn file(&mut self, root: &DeTable<'_>) -> Option<Declaration> {
        let fields = self.reader.fields(root, Section::File, "", 0..0);
        let name = self.name(&fields);
        let [title, paper, doi, summary] =
            ["title", "paper", "doi", "summary"].map(|key| self.reader.text(&fields, key));
        let seeds = self.count(&fields, "seeds", MAX_SEEDS);
        let cpu_minutes = self.count(&fields, "cpu_minutes", MAX_CPU_MINUTES);
        let run = self.run(&fields);
        for fields in self.reader.tables(&fields, "axis", Section::Axis) {
            if let Some(axis) = self.axis(&fields) {
                self.axes.push(axis);
            }
        }
        for fields in self.reader.tables(&fields, "curve", Section::Curve) {
            if let Some(curve) = self.curve(&fields) {
                self.curves.push(curve);
            }
        }
        for fields in self.reader.tables(&fields, "metric", Section::Metric) {
            if let Some(metric) = self.metric(&fields) {
                self.metrics.push(metric);
            }
        }
        let (mut claims, mut figures) = (Vec::new(), Vec::new());
        for fields in self.reader.tables(&fields, "claim", Section::Claim) {
            let known: Vec<String> = claims.iter().flatten().map(id_of).collect();
            claims.push(self.claim(&fields, &known));
        }
        for fields in self.reader.tables(&fields, "figure", Section::Figure) {
            figures.push(self.figure(&fields));
        }
        if claims.is_empty() && figures.is_empty() {
            let remedy = "declare a [[claim]] or a [[figure]]: they decide what is run";
            self.reader.report(0..0, "", "there is neither a claim nor a figure", remedy);
        }
        let claims = claims.into_iter().collect::<Option<Vec<Claim>>>();
        let figures = figures.into_iter().collect::<Option<Vec<Figure>>>();
        let (claims, figures) = (claims?, figures?);
        self.refuse_too_many_cases(&claims, &figures);
        Some(Declaration {
            name: name?,
            title: title?,
            paper: paper?,
            doi,
            summary: summary?,
            seeds: seeds?,
            cpu_minutes,
            run: run?,
            axes: std::mem::take(&mut self.axes),
            curves: std::mem::take(&mut self.curves),
            metrics: std::mem::take(&mut self.metrics),
            claims,
            figures,
        })
    }

    /// A name that folders and links take.
    fn name(&mut self, fields: &Fields<'_, '_>) -> Option<String> {
        let name = self.reader.text(fields, "name")?;
        if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return Some(name);
        }
        let remedy = "write letters, digits, - and _ only: it is the name of a folder";
        self.reader.report(fields.span_of("name"), "name", "no name for a folder", remedy);
        None
    }

    fn run(&mut self, fields: &Fields<'_, '_>) -> Option<Settings> {
        let value = self.reader.get(fields, "run")?;
        let DeValue::Table(table) = value.get_ref() else {
            self.reader.mismatch(fields, "run", value);
            return None;
        };
        let run = self.reader.fields(table, Section::Run, "run", value.span());
        Some(self.settings(&run))
    }

    /// A whole number of at least one.
    fn count(&mut self, fields: &Fields<'_, '_>, name: &str, most: u64) -> Option<u64> {
        let value = self.reader.get(fields, name)?;
        let number = match value.get_ref() {
            DeValue::Integer(_) => plain(value).and_then(|text| text.parse::<u64>().ok()),
            _ => None,
        };
        let number = number.filter(|number| (1..=most).contains(number));
        if number.is_none() {
            let remedy = format!("write a whole number from 1 to {most}");
            let message = "not such a number";
            self.reader.report(value.span(), &fields.path_of(name), message, remedy);
        }
        number
    }

    fn axis(&mut self, fields: &Fields<'_, '_>) -> Option<Axis> {
        let template = self.settings(fields);
        let unit = self.reader.text(fields, "unit").unwrap_or_default();
        let entries = self.reader.list(fields, "values");
        let mut values: Vec<AxisValue> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let path = format!("{}[{}]", fields.path_of("values"), at + 1);
            let Some(value) = self.axis_value(entry, &path, &unit, &template) else { continue };
            if values.iter().any(|known| known.name == value.name) {
                let message = format!("there are two values {}", value.name);
                self.reader.report(entry.span(), &path, message, "give each a name of its own");
            }
            values.push(value);
        }
        if entries.is_empty() && fields.has("values") {
            let (span, path) = (fields.span_of("values"), fields.path_of("values"));
            self.reader.report(span, &path, "there is no value", "write one at least");
        }
        self.check_templates(&template, values.len());
        let name = self.reader.text(fields, "name")?;
        self.refuse_twice(fields, "axis", &name, |parser| {
            parser.axes.iter().any(|axis| axis.name == name)
        });
        let label = self.reader.text(fields, "label").unwrap_or_else(|| name.clone());
        let note = self.reader.text(fields, "note");
        Some(Axis { name, label, note, unit, values })
    }

    fn axis_value(
        &mut self,
        entry: &Given<'_>,
        path: &str,
        unit: &str,
        template: &Settings,
    ) -> Option<AxisValue> {
        let (name, label, x, own) = match entry.get_ref() {
            DeValue::Table(table) => {
                let fields = self.reader.fields(table, Section::Value, path, entry.span());
                let own = self.settings(&fields);
                let label = self.reader.text(&fields, "label");
                let x = match fields.has("x") {
                    true => Some(self.reader.number(&fields, "x")?),
                    false => None,
                };
                (self.reader.plain(&fields, "name")?, label, x, own)
            }
            _ => match plain(entry) {
                Some(name) => (name, None, None, Settings::default()),
                None => {
                    let remedy = "write a name, or a table with `name`";
                    self.reader.report(entry.span(), path, "no value of an axis", remedy);
                    return None;
                }
            },
        };
        let settings = template.filled(&name).with(own);
        let number = name.strip_suffix(unit).and_then(|number| number.trim().parse().ok());
        let x = x.or(number.filter(|number: &f64| number.is_finite()));
        Some(AxisValue { label: label.unwrap_or_else(|| name.clone()), name, x, settings })
    }

    /// Counts what is asked for before any of it is listed.
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
            let remedy = "leave values of axes out, or make two experiments of it";
            self.reader.report(0..0, "", message, remedy);
        }
    }

    fn refuse_twice(
        &mut self,
        fields: &Fields<'_, '_>,
        what: &str,
        name: &str,
        is_known: impl Fn(&Self) -> bool,
    ) {
        if is_known(self) {
            let (span, path) = (fields.span_of("name"), fields.path_of("name"));
            let message = format!("there are two of the {what} {name}");
            self.reader.report(span, &path, message, "give each a name of its own");
        }
    }
}

fn id_of(claim: &Claim) -> String {
    claim.id.clone()
}

/// A number, or a text, as a printed number may be written.
fn printed_text(value: &Given<'_>) -> Option<String> {
    number(value).map(|number| number.to_string()).or_else(|| plain(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::keys::{KEYS, Key, Otherwise, Takes};

    /// A declaration in use, which spoils easily.
    const TEXT: &str = include_str!("../../../../../experiments/rw-scheduler/experiment.toml");

    /// Every key stands in it, each on a line of its own but for those of values.
    const ALL: &str = include_str!("all_keys.toml");

    /// The section whose table begins with this line.
    fn begins(line: &str) -> Option<Section> {
        Some(match line {
            "[run]" => Section::Run,
            "[[axis]]" => Section::Axis,
            "[[curve]]" => Section::Curve,
            "[[metric]]" => Section::Metric,
            "[[claim]]" => Section::Claim,
            "[claim.differs]" => Section::Differs,
            "[[figure]]" => Section::Figure,
            _ => return None,
        })
    }

    /// The text without a key: where it stands first, or all tables of that name.
    fn without(text: &str, key: &Key) -> String {
        if key.section == Section::Value {
            let value = text.find("{ name = ").map_or("", |at| &text[at..]);
            let value = value.split(" }]").next().unwrap_or_default();
            let entries = value.trim_start_matches("{ ").split(", ");
            let is_it = |entry: &&str| entry.starts_with(&format!("{} = ", key.name));
            let kept: Vec<&str> = entries.filter(|entry| !is_it(entry)).collect();
            return text.replacen(value, &format!("{{ {}", kept.join(", ")), 1);
        }
        let name = key.name;
        let is_table = [Takes::Table, Takes::Tables].contains(&key.takes);
        let headers = [format!("[{name}]"), format!("[[{name}]]"), format!("[claim.{name}]")];
        let (mut section, mut is_out, mut gone) = (Section::File, false, false);
        let mut kept = String::new();
        for line in text.lines() {
            if let Some(begun) = begins(line) {
                section = begun;
                is_out = is_table && headers.iter().any(|header| header == line);
            }
            let is_it =
                !gone && section == key.section && line.starts_with(&format!("{} = ", key.name));
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
        for key in KEYS {
            let without = without(text, key);
            assert_ne!(without, text, "it stands in the text: {key:?}");
            let lacks = format!("{} lacks `{}`", key.section.title(), key.name);
            let found: Vec<String> =
                problems(&without).into_iter().map(|one| one.message).collect();
            assert_eq!(
                found.contains(&lacks),
                key.otherwise == Otherwise::Required,
                "{lacks}: {found:?}"
            );
        }
    }

    #[test]
    fn whatever_is_wrong_has_a_place_and_a_remedy() {
        assert_eq!(problems(TEXT), []);
        let text = ALL;
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out);
            let text: Vec<&str> = kept.map(|(_, line)| *line).collect();
            for problem in problems(&text.join("\n")) {
                assert!(!problem.remedy.is_empty() && problem.place.is_some(), "{problem}");
            }
        }
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
