//! The bounds, in `bounds.toml`: the counts and the compiler of the last update.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::count::Counted;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bounds.toml");
const HEAD: &str = "\
# Instructions that a request takes in the small form of each scenario of the bench presets.
# Written by: ./x instructions --update
";
/// The largest relative deviation from a bound. The same build always counts the same; machines
/// with the same compiler differ only in the variant of `memcpy` that their C library picks.
const MARGIN: f64 = 0.02;
/// The same for a compiler other than the one the bounds were counted with.
const OTHER_COMPILER: f64 = 0.10;

/// Instructions per request, by scenario.
pub struct Bounds {
    compiler: String,
    each: BTreeMap<String, u64>,
}

impl Bounds {
    pub fn read() -> Result<Bounds, String> {
        let text = std::fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
        let table: toml::Table = text.parse().map_err(|error| format!("{FILE}: {error}"))?;
        let compiler = table.get("compiler").and_then(toml::Value::as_str);
        let each = table.get("instructions").and_then(toml::Value::as_table);
        let (Some(compiler), Some(each)) = (compiler, each) else {
            return Err(format!("{FILE}: needs a text compiler and a table instructions"));
        };
        let number = |(name, value): (&String, &toml::Value)| {
            let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
            let number = number.filter(|&number| number > 0);
            number.map(|number| (name.clone(), number)).ok_or(format!("{FILE}: {name}: a count"))
        };
        let each = each.iter().map(number).collect::<Result<_, _>>()?;
        Ok(Bounds { compiler: compiler.to_owned(), each })
    }

    /// Overwrites the file.
    pub fn write(compiler: &str, counted: &[Counted]) -> Result<(), String> {
        let mut text = format!("{HEAD}compiler = \"{compiler}\"\n\n[instructions]\n");
        for Counted { name, each } in counted {
            writeln!(text, "{name} = {each}").expect("text takes text");
        }
        std::fs::write(FILE, text).map_err(|error| format!("{FILE}: {error}"))
    }

    /// Returns the bound of a scenario.
    pub fn of(&self, name: &str) -> Option<u64> {
        self.each.get(name).copied()
    }

    /// Returns the allowed deviation for code from this compiler.
    pub fn margin(&self, compiler: &str) -> f64 {
        if compiler == self.compiler {
            return MARGIN;
        }
        println!(
            "instructions: bounds counted with {}, this is {compiler}: allowing {:.0} %",
            self.compiler,
            OTHER_COMPILER * 100.0
        );
        OTHER_COMPILER
    }
}

/// How a count compares with its bound.
pub enum BoundVerdict {
    Within,
    Above {
        percent: f64,
    },
    Below {
        percent: f64,
    },
    /// The scenario has no bound.
    Unbounded,
}

impl BoundVerdict {
    /// Compares a count with its bound; `margin` is a fraction of the bound.
    pub fn of(each: u64, bound: u64, margin: f64) -> BoundVerdict {
        let change = (each as f64 - bound as f64) / bound as f64;
        if change > margin {
            BoundVerdict::Above { percent: change * 100.0 }
        } else if change < -margin {
            BoundVerdict::Below { percent: -change * 100.0 }
        } else {
            BoundVerdict::Within
        }
    }

    pub fn told(&self) -> String {
        match self {
            BoundVerdict::Within => "within".to_owned(),
            BoundVerdict::Above { percent } => format!("ABOVE by {percent:.1} %"),
            BoundVerdict::Below { percent } => format!("fell by {percent:.1} %"),
            BoundVerdict::Unbounded => "HAS NO BOUND".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_within_its_margin() {
        assert!(matches!(BoundVerdict::of(1020, 1000, MARGIN), BoundVerdict::Within));
        assert!(matches!(BoundVerdict::of(980, 1000, MARGIN), BoundVerdict::Within));
        assert!(matches!(BoundVerdict::of(1021, 1000, MARGIN), BoundVerdict::Above { .. }));
        assert!(matches!(BoundVerdict::of(979, 1000, MARGIN), BoundVerdict::Below { .. }));
    }

    #[test]
    fn every_scenario_has_a_bound() {
        let bounds = Bounds::read().expect("the file of the bounds");
        let named: Vec<&str> = crate::scenarios::SCENARIOS.iter().map(|each| each.name).collect();
        for name in &named {
            assert!(bounds.of(name).is_some(), "{name}: ./x instructions --update");
        }
        assert_eq!(bounds.each.len(), named.len(), "a bound for what is no scenario any more");
    }
}
