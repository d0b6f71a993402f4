//! A case: a device, and rounds of load that end with a power cut or during which something dies. Its design and seed
//! determine it; a failing case shrinks to the options, rounds and commands that matter.

use std::fmt;

use ftlab::engine::Stream;
use ftlab::verify::Canary;

use super::bench::{Bench, PowerUp};
use super::edit::Edit;
use super::{CrashTally, DESIGNS, Design, Round, deaths};
use crate::draw::{self, Settings};
use crate::finding;
use crate::load::{DEPTHS, Profile};

/// A device that loses power or parts of its flash.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its design.
    pub design: &'static Design,
    /// The seed it was drawn from.
    pub seed: u64,
    /// Its options.
    pub settings: Settings,
    /// The most commands in the device at once.
    pub depth: usize,
    /// Whether everything is written once before the first round.
    pub fills: bool,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// The steps of shrinking that were applied.
    edits: Vec<Edit>,
}

/// The least number of rounds, and the range above it.
const ROUNDS: (u64, u64) = (4, 16);
/// In all but one of this many cases with deaths and power cuts, a die dies just after a power-up.
const AIMED: u64 = 4;
/// How many smaller cases are tried before shrinking stops.
const PATIENCE: u32 = 4_000;

impl Case {
    /// Draws the case of a seed.
    pub fn draw(design: &'static Design, seed: u64) -> Case {
        let settings = design.draw(&mut Stream::new(seed, design.name));
        // The device takes more numbers or fewer whenever a check or a remedy changes; its load stays.
        let mut stream = Stream::new(seed, "load of a crash test");
        let profile = Profile::draw(&mut stream);
        let depth = DEPTHS[stream.below(DEPTHS.len() as u64) as usize] as usize;
        let fills = stream.below(3) > 0;
        let count = ROUNDS.0 + stream.below(ROUNDS.1);
        let cuts = design.loses_power();
        let rounds = (0..count).map(|_| Round::draw(&mut stream, &profile, cuts)).collect();
        let mut case = Case { design, seed, settings, depth, fills, rounds, edits: Vec::new() };
        if cuts && stream.below(AIMED) > 0 {
            case.aim_death(&mut stream);
        }
        case
    }

    /// Moves a death to just after a power-up, if possible to a die whose pages are covered by parity that was computed
    /// again. When that is, and which dies there are, is known from a rehearsal in which nothing dies: until its death, a
    /// die makes no difference.
    fn aim_death(&mut self, stream: &mut Stream) {
        let Some(postponed) = deaths::postponed(&self.settings) else { return };
        let rehearsal = Case { settings: postponed, ..self.clone() };
        let Ok(mut ups) = rehearsal.power_ups() else {
            // It is a finding without any death. So is the case.
            self.settings = rehearsal.settings;
            return;
        };
        if ups.iter().any(|up| !up.open.is_empty()) {
            ups.retain(|up| !up.open.is_empty());
        }
        if !ups.is_empty() {
            let up = &ups[stream.below(ups.len() as u64) as usize];
            let aimed = deaths::soon_after(up, &rehearsal.settings, stream);
            if draw::load(&aimed).is_ok() {
                self.settings = aimed;
            }
        }
    }

    /// The power-ups after which a round's data was read.
    fn power_ups(&self) -> Result<Vec<PowerUp>, String> {
        let mut ups = Vec::new();
        finding(|| self.through_rounds(None, |bench| ups.push(bench.power_up())).map(drop))?;
        Ok(ups)
    }

    /// Returns the number of power cuts if nothing fails.
    pub fn cuts(&self) -> u64 {
        let more = |round: &Round| round.again.len() + round.within.len();
        let cut = self.rounds.iter().filter(|round| round.cut.is_some());
        cut.map(|round| 1 + more(round) as u64).sum()
    }

    /// Runs the case.
    ///
    /// # Errors
    /// What is wrong, by the judge or by a device that checks itself.
    pub fn run(&self) -> Result<CrashTally, String> {
        self.run_with(None)
    }

    /// Runs the case on a device with a planted bug.
    ///
    /// # Errors
    /// What was found.
    pub fn run_with(&self, canary: Option<Canary>) -> Result<CrashTally, String> {
        finding(|| {
            let bench = self.through_rounds(canary, |_| ())?;
            bench.finish().map_err(|said| format!("after the last round: {said}"))
        })
    }

    fn through_rounds(
        &self,
        canary: Option<Canary>,
        mut after_each: impl FnMut(&Bench),
    ) -> Result<Bench, String> {
        let config = draw::load(&self.settings).map_err(|problems| format!("{problems:?}"))?;
        let mut bench = Bench::new(config, self.depth, canary);
        if self.fills {
            bench.fill()?;
        }
        for (at, round) in self.rounds.iter().enumerate() {
            let ran = match round.cut {
                Some(_) => bench.round(round),
                None => bench.live(round),
            };
            bench = ran.map_err(|said| format!("round {at}: {said}"))?;
            after_each(&bench);
        }
        Ok(bench)
    }

    /// Returns the smallest case found that still fails, in whatever way.
    pub fn shrink(self, canary: Option<Canary>) -> Case {
        let mut case = self;
        let mut tried = 0;
        'smaller: loop {
            for edit in Edit::all(&case) {
                let mut smaller = case.clone();
                if tried == PATIENCE {
                    return case;
                }
                if !edit.apply(&mut smaller) || draw::load(&smaller.settings).is_err() {
                    continue;
                }
                tried += 1;
                if smaller.run_with(canary).is_err() {
                    smaller.edits.push(edit);
                    case = smaller;
                    continue 'smaller;
                }
            }
            return case;
        }
    }

    /// Returns the argument of [`Case::replay`].
    pub fn line(&self) -> String {
        let edits: Vec<_> = self.edits.iter().map(Edit::to_string).collect();
        let tail = if edits.is_empty() { String::new() } else { format!(":{}", edits.join(",")) };
        format!("{}:{}{tail}", self.design.name, self.seed)
    }

    /// Returns the case of a line: `DESIGN:SEED`, optionally followed by `:` and steps of shrinking.
    ///
    /// # Errors
    /// The line is invalid, or another version of ftlab wrote it.
    pub fn replay(line: &str) -> Result<Case, String> {
        let mut parts = line.splitn(3, ':');
        let (name, seed) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let design = Design::named(name).ok_or_else(|| {
            let known: Vec<_> = DESIGNS.iter().map(|design| design.name).collect();
            format!("there is no design `{name}`; there are {}", known.join(", "))
        })?;
        let seed = seed
            .parse()
            .map_err(|_| format!("`{seed}` is not a seed; a line is DESIGN:SEED[:STEPS]"))?;
        let mut case = Case::draw(design, seed);
        for text in parts.next().iter().flat_map(|edits| edits.split(',')) {
            let edit: Edit = text.parse()?;
            if !edit.apply(&mut case) {
                return Err(format!("`{text}` refers to something that the case does not have"));
            }
            case.edits.push(edit);
        }
        match draw::load(&case.settings) {
            Ok(_) => Ok(case),
            Err(_) => Err("these steps leave no valid device".to_owned()),
        }
    }
}

impl fmt::Display for Case {
    /// Prints the device as a text for `ftlab run --device`, and the rounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", draw::text(&self.settings))?;
        writeln!(f, "depth {}, filled first: {}", self.depth, self.fills)?;
        for (at, round) in self.rounds.iter().enumerate() {
            let Round { steps, cut, within, again } = round;
            let cut = cut.map_or("power stays on".to_owned(), |cut| cut.to_string());
            writeln!(f, "round {at}: {} commands; {cut}", steps.len())?;
            steps.iter().take(20).try_for_each(|step| writeln!(f, "  {step:?}"))?;
            for time in within {
                writeln!(f, "  and again {time:?} after power came back, or before it is ready")?;
            }
            again.iter().try_for_each(|time| writeln!(f, "  and again {time:?} after power-up"))?;
        }
        Ok(())
    }
}
