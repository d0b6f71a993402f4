//! A case: a device, a load, and another device that takes over midway. Its seed determines it; a
//! failing case shrinks to the options and commands that matter.

use std::fmt;

use ftlab::engine::Stream;
use ftlab::saved::differences;
use ftlab::verify::Canary;
use ftlab_torture::draw::{self, Settings};
use ftlab_torture::shrink::{smaller_loads, smaller_settings};
use ftlab_torture::{CaseLoad, finding};

use crate::bench::{Bench, Met};

/// A device, a load, and perhaps a second device with a second load on the same flash.
#[derive(Clone, Debug)]
pub struct Case {
    pub settings: Settings,
    pub load: CaseLoad,
    pub then: Option<(Settings, CaseLoad)>,
}

/// Whether the two devices of a case must agree here: the flash itself, and where pages may lie.
fn of_the_flash(path: &str) -> bool {
    const SHAPE: [&str; 11] = [
        "nand.channels",
        "nand.chips_per_channel",
        "nand.dies_per_chip",
        "nand.planes_per_die",
        "nand.blocks_per_plane",
        "nand.pages_per_block",
        "nand.page_size",
        "nand.cell",
        "ftl.over_provisioning",
        "ftl.slc_cache.policy",
        "ftl.slc_cache.blocks",
    ];
    const SEAMS: [&str; 5] =
        ["ftl.mapping", "ftl.placement", "ftl.parity", "ftl.superblock", "host.zones"];
    SHAPE.contains(&path) || SEAMS.iter().any(|seam| path.starts_with(seam))
}

impl Case {
    /// The case of a seed.
    pub fn draw(seed: u64) -> Case {
        let mut stream = Stream::new(seed, "swarm");
        let settings = draw::device(&mut stream);
        let load = CaseLoad::draw(&mut stream);
        let then = (stream.below(4) == 0)
            .then(|| {
                let other = draw::other_device(&mut stream, &settings, of_the_flash)?;
                Some((other, CaseLoad::draw(&mut stream)))
            })
            .flatten()
            .filter(|(other, _)| match (draw::load(&settings), draw::load(other)) {
                (Ok(one), Ok(other)) => differences(&one, &other).is_empty(),
                _ => false,
            });
        Case { settings, load, then }
    }

    /// Runs it. An error says what was wrong, whether judged or panicked.
    pub fn run(&self) -> Result<Met, String> {
        self.run_with(None)
    }

    /// Runs it on devices with a planted bug.
    pub fn run_with(&self, canary: Option<Canary>) -> Result<Met, String> {
        finding(|| {
            let config = draw::load(&self.settings).map_err(|problems| format!("{problems:?}"))?;
            let mut bench = Bench::new(config, canary);
            bench.run(&self.load)?;
            if let Some((settings, load)) = &self.then {
                let config = draw::load(settings).map_err(|problems| format!("{problems:?}"))?;
                bench = bench.reload(config)?;
                bench.run(load)?;
            }
            Ok(bench.met)
        })
    }

    /// The smallest case found that still fails, in whatever way.
    pub fn shrink(self) -> Case {
        let mut case = self;
        loop {
            let smaller =
                case.smaller().find(|smaller| smaller.is_sound() && smaller.run().is_err());
            match smaller {
                Some(smaller) => case = smaller,
                None => return case,
            }
        }
    }

    fn is_sound(&self) -> bool {
        let sound = |settings: &Settings| draw::load(settings).is_ok();
        sound(&self.settings) && self.then.iter().all(|(settings, _)| sound(settings))
    }

    /// Smaller cases, the boldest cut first.
    fn smaller(&self) -> impl Iterator<Item = Case> {
        let mut all = Vec::new();
        if let Some((settings, load)) = &self.then {
            all.push(Case { then: None, ..self.clone() });
            all.push(Case { settings: settings.clone(), load: load.clone(), then: None });
        }
        for load in smaller_loads(&self.load) {
            all.push(Case { load, ..self.clone() });
        }
        for settings in smaller_settings(&self.settings) {
            all.push(Case { settings, ..self.clone() });
        }
        if let Some((settings, load)) = &self.then {
            let then =
                |settings: &Settings, load: &CaseLoad| Some((settings.clone(), load.clone()));
            for load in smaller_loads(load) {
                all.push(Case { then: then(settings, &load), ..self.clone() });
            }
            for settings in smaller_settings(settings) {
                all.push(Case { then: then(&settings, load), ..self.clone() });
            }
        }
        all.into_iter()
    }
}

impl fmt::Display for Case {
    /// The devices as texts that `ftlab run --device` takes, and the commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = |settings: &Settings, load: &CaseLoad| {
            writeln!(f, "{}", draw::text(settings))?;
            let CaseLoad { depth, fills, steps } = load;
            writeln!(f, "depth {depth}, filled first: {fills}, {} commands:", steps.len())?;
            steps.iter().take(20).try_for_each(|step| writeln!(f, "  {step:?}"))
        };
        part(&self.settings, &self.load)?;
        let Some((settings, load)) = &self.then else { return Ok(()) };
        writeln!(f, "then, saved and loaded into")?;
        let mut part = |settings: &Settings, load: &CaseLoad| {
            writeln!(f, "{}", draw::text(settings))?;
            writeln!(f, "depth {}, filled: {}, {:?}", load.depth, load.fills, load.steps)
        };
        part(settings, load)
    }
}
