//! Which flash pages may become unreadable: those on dead dies, or with more errors than are corrected, of whose stripe
//! not all is left. A device on which pages also fail by chance is not judged.

use std::collections::BTreeSet;

use ftlab::config::Config;
use ftlab::host::Host;
use ftlab::nand::{Fault, FaultSpot, StripeLayout};
use ftlab::units::{DieId, Ppn, SimTime};

use super::Bench;
use crate::stripes::{Left, Loss};

/// What may make pages unreadable.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    layout: Option<StripeLayout>,
    /// When dies die; none if pages fail by chance, too.
    deaths: Option<Vec<(SimTime, DieId)>>,
    /// The dies that were dead when power came back last.
    without: BTreeSet<DieId>,
}

impl Losses {
    pub(super) fn new(config: &Config, layout: Option<&StripeLayout>) -> Losses {
        let faults = &config.options.nand.faults;
        let schedule = faults.schedule.iter();
        let of_spot = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(FaultSpot::Page(_) | FaultSpot::Block(_)))
        };
        let by_chance = faults.read_failures > 0
            || faults.disturb_limit.is_some()
            || schedule.clone().any(|scheduled| of_spot(&scheduled.fault));
        let deaths = schedule.filter_map(|scheduled| match scheduled.fault {
            Fault::DieDies(die) => Some((SimTime(scheduled.at.0), DieId::new(die))),
            _ => None,
        });
        let deaths = (!by_chance).then(|| deaths.collect());
        Losses { layout: layout.cloned(), deaths, without: BTreeSet::new() }
    }

    /// Power is back.
    pub(super) fn came_up(&mut self, now: SimTime) {
        self.without = self.dead_at(now);
    }

    /// The dies that are dead at a time.
    fn dead_at(&self, now: SimTime) -> BTreeSet<DieId> {
        let deaths = self.deaths.iter().flatten();
        deaths.filter(|&&(at, _)| at <= now).map(|&(_, die)| die).collect()
    }
}

impl Bench {
    /// Judges the pages that have become unreadable.
    pub(super) fn judge_losses(&mut self) -> Result<(), String> {
        let losses = self.device.contents_mut().take_losses();
        if self.losses.deaths.is_none() {
            return Ok(());
        }
        self.tally.judged += losses.len() as u64;
        losses.iter().try_for_each(|loss| self.judge_loss(loss))
    }

    fn judge_loss(&self, loss: &Loss) -> Result<(), String> {
        let (flash, now) = (self.device.flash(), self.device.now());
        let dead = self.losses.dead_at(now);
        let die_of = |page| flash.geometry().die_of_page(page);
        let is_gone = |page: Ppn| dead.contains(&die_of(page)) || flash.is_worn_off(page, now);
        let Loss { first, left } = *loss;
        let said = |why: &str| Err(format!("{first:?} on {:?} is lost, but {why}", die_of(first)));
        if !is_gone(first) {
            return said("its die lives, and its errors can be corrected");
        }
        let (Some(layout), Some(left)) = (&self.losses.layout, left) else { return Ok(()) };
        match left {
            Left::Computable(stripe, members) => {
                let needed = (0..layout.width()).filter(|member| members >> member & 1 == 1);
                match needed.into_iter().any(|member| is_gone(layout.on_flash(stripe, member))) {
                    true => Ok(()),
                    false => said(&format!("{stripe:?} has all that it takes: {members:b}")),
                }
            }
            // At power-up the parity of such stripes is computed again, as far as it can be read.
            Left::NoParity(stripe) => {
                let members = (0..layout.width()).map(|member| layout.on_flash(stripe, member));
                let could_be = self.losses.without.contains(&die_of(first))
                    || flash.is_worn_off(first, now)
                    || members.filter(|&page| dead.contains(&die_of(page))).count() > 1;
                match could_be {
                    true => Ok(()),
                    false => said("it could be read at the last power-up"),
                }
            }
            Left::NotCovered => said("its parity does not cover it"),
        }
    }
}
