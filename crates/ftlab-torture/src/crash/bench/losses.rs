//! Which flash pages may become unreadable: those on dead dies, or with more errors than are corrected, of whose stripe
//! not all is left. A device on which pages also fail by chance is not judged.

use std::collections::BTreeSet;

use ftlab::config::Config;
use ftlab::host::Host;
use ftlab::nand::{Fault, FaultSpot, StripeLayout};
use ftlab::units::{DieId, Lba, Lpn, Ppn, SimTime};

use super::Bench;
use crate::stripes::{Left, Loss};
use crate::versions::{GARBAGE, Version};

/// What may make pages unreadable.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    layout: Option<StripeLayout>,
    /// When dies die; none if pages fail by chance, too.
    deaths: Option<Vec<(SimTime, DieId)>>,
    /// When power came back last.
    came_up: SimTime,
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
        Losses { layout: layout.cloned(), deaths, came_up: SimTime::ZERO }
    }

    /// Power is back.
    pub(super) fn came_up(&mut self, now: SimTime) {
        self.came_up = now;
    }

    pub(super) fn last_power_up(&self) -> SimTime {
        self.came_up
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

    /// Checks that what a survey found unreadable lies on pages that were judged as lost.
    pub(super) fn check_lost(&self, found: &[Option<Version>]) -> Result<(), String> {
        let ftl = self.device.ftl();
        // Of a map on flash, a page of the map takes the places of pages with it. Without parity, what lay on a dead die
        // at power-up is lost without being read.
        let judged = self.losses.deaths.is_some() && self.losses.layout.is_some();
        if !judged || ftl.map_on_flash().is_some() {
            return Ok(());
        }
        let lost = (0..).zip(found).filter(|(_, version)| version.is_none());
        for (sector, _) in lost {
            let inside = match self.device.zones() {
                Some(zones) => zones.without_gaps(Lba(sector)).0,
                None => sector,
            };
            let page = Lpn::new((inside / self.per_page) as u32);
            let parts = ftl.fragments(page);
            let versions = self.device.contents().read_parts(page, parts);
            let is_gone = parts.iter().flatten().any(|part| self.is_gone(part.at));
            if !is_gone && !versions.contains(&GARBAGE) {
                return Err(format!("sector {sector} of {page:?} is lost, but flash holds it"));
            }
        }
        Ok(())
    }

    /// Whether a flash page can't be read now.
    fn is_gone(&self, page: Ppn) -> bool {
        let (flash, now) = (self.device.flash(), self.device.now());
        let die = flash.geometry().die_of_page(page);
        self.losses.dead_at(now).contains(&die) || flash.is_worn_off(page, now)
    }

    fn judge_loss(&self, loss: &Loss) -> Result<(), String> {
        let flash = self.device.flash();
        let die_of = |page| flash.geometry().die_of_page(page);
        let is_gone = |page| self.is_gone(page);
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
                let at = self.losses.came_up;
                let could_be = self.losses.dead_at(at).contains(&die_of(first))
                    || flash.is_worn_off(first, at)
                    || members.filter(|&page| is_gone(page)).count() > 1;
                match could_be {
                    true => Ok(()),
                    false => said("it could be read at the last power-up"),
                }
            }
            Left::ProgramFailed => Ok(()),
            Left::NotCovered => said("its parity does not cover it"),
        }
    }
}
