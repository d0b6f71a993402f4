//! Those who look at the drive and give orders: what they ask for is answered or carried out.

use std::path::Path;
use std::time::{Duration, Instant};

use ftlab_lab::failure::Failure;
use ftlab_lab::image;

use super::watch::Rest;
use super::{Log, Server};
use crate::control::{Cut, DriveOrder, Response, Routed, Status, long_time, route};

/// What to do about a die that can't die.
const DIES_WITHOUT_RECOVERY: &str =
    "\n  remedy: let dies die in a drive without recovery (ftl.recovery.policy = \"none\")";

impl Server {
    /// Takes a reading.
    pub(super) fn read(&mut self, now: Instant) {
        let next_cut = self.next_cut.map(|cut| cut.saturating_duration_since(now));
        let rest = Rest {
            clock: self.time.clock(),
            in_flight: self.jobs.open() as u64,
            connections: self.peers.len() as u64,
            cut_every: self.spec.cut_every,
            next_cut,
            read_only: self.exports.iter().all(|export| export.read_only),
        };
        self.watched.read(&self.drive, now, rest);
    }

    /// Answers those who have sent something, as far as they take the answers.
    pub(super) fn answer_lookers(&mut self, log: Log<'_>) -> Result<(), Failure> {
        for at in 0..self.lookers.len() {
            self.lookers[at].send();
            while let Some(request) = self.lookers[at].next_request() {
                let response = match route(&request) {
                    Routed::Answer(response) => response,
                    Routed::View(view) => {
                        if self.watched.is_stale(Instant::now()) {
                            self.read(Instant::now());
                        }
                        view.answer(&self.watched.reading, &self.watched.history)
                    }
                    Routed::Order(order) => self.carry_out(order, log)?,
                };
                self.lookers[at].respond(&response);
                self.lookers[at].send();
            }
            // A refusal of the session's own.
            self.lookers[at].send();
        }
        Ok(())
    }

    fn carry_out(&mut self, order: DriveOrder, log: Log<'_>) -> Result<Response, Failure> {
        let response = match order {
            DriveOrder::Cut(cut) => self.order_cut(cut, log)?,
            DriveOrder::KillDie { die } => match self.drive.kill_die(die) {
                Ok(()) => {
                    log(&format!("die {die} died by an order"));
                    Response::done(&format!("die {die} is dead"))
                }
                Err(message) => {
                    let told = lives_on(die, &message, self.drive.recovers());
                    Response::refused(Status::Conflict, &told)
                }
            },
            DriveOrder::Save { to, force } => {
                self.order_save(to.as_deref().map(Path::new), force, log)?
            }
            DriveOrder::SetClock(clock) => {
                self.time.set(clock, self.drive.now());
                (self.idle_since, self.pause_until) = (None, None);
                log(&format!("the clock is {clock} from now on"));
                Response::done(&format!("the clock is {clock}"))
            }
            DriveOrder::Stop => {
                self.stops = Some("by an order");
                Response::done("the drive is being saved, and the server ends")
            }
        };
        self.read(Instant::now());
        Ok(response)
    }

    fn order_cut(&mut self, cut: Cut, log: Log<'_>) -> Result<Response, Failure> {
        if cut != Cut::Never
            && let Err(why) = self.drive.can_be_cut()
        {
            return Ok(Response::refused(Status::Conflict, &why.to_string()));
        }
        Ok(match cut {
            Cut::Now => {
                self.cut(log)?;
                let lost = self.drive.cuts.last_lost_pages.unwrap_or(0);
                Response::done(&format!(
                    "power was cut; {lost} acknowledged pages were only in DRAM; the drive is ready again"
                ))
            }
            Cut::Every(ms) => {
                let every = Duration::from_millis(ms);
                self.spec.cut_every = Some(every);
                self.next_cut = Some(Instant::now() + every);
                let told = format!(
                    "power is cut every {} from now on",
                    long_time(every.as_nanos() as u64)
                );
                log(&told);
                Response::done(&told)
            }
            Cut::Never => {
                (self.spec.cut_every, self.next_cut) = (None, None);
                log("power is not cut any more");
                Response::done("power is not cut any more")
            }
        })
    }

    /// Saves the state of the running drive in an image, or only brings its data to flash.
    fn order_save(
        &mut self,
        to: Option<&Path>,
        force: bool,
        log: Log<'_>,
    ) -> Result<Response, Failure> {
        // With force, an image may be replaced, but nothing else.
        if let Some(path) = to {
            let refused = match self.spec.user_of(path) {
                Some(user) => Err(Failure::usage(format!(
                    "{} is kept for {user}\n  remedy: choose another name (`output`)",
                    path.display()
                ))),
                None => image::refuse_to_overwrite(path, force),
            };
            if let Err(failure) = refused {
                return Ok(Response::refused(Status::Conflict, &failure.to_string()));
            }
        }
        let mut answers = Vec::new();
        let rested = self.drive.bring_to_rest(&mut answers);
        if rested.is_err() {
            // Answers are sent only if what they promise is in the file.
            self.drive.commit().map_err(|error| self.unusable(&error))?;
        }
        for answer in answers.drain(..) {
            self.jobs.answered(answer, &mut self.drive);
        }
        let saved = match to {
            Some(path) => rested.and_then(|()| self.drive.save_image(path, force, &mut answers)),
            None => rested,
        };
        self.time.meet(self.drive.now());
        Ok(match (saved, to) {
            (Ok(()), Some(path)) => {
                log(&format!("the state of the drive was saved in {}", path.display()));
                Response::done(&format!("the state of the drive is in {}", path.display()))
            }
            (Ok(()), None) => Response::done("all data is on flash, and in the data file"),
            (Err(failure), _) => Response::refused(Status::Conflict, &failure.to_string()),
        })
    }
}

/// Why a die can't die: what a refused configuration says, without the place in a text that nobody wrote.
fn lives_on(die: u32, message: &str, recovers: bool) -> String {
    let first = message.lines().next().unwrap_or_default();
    let problem = first.strip_prefix("error: ").and_then(|rest| rest.split_once(": "));
    let Some((_, problem)) = problem else { return first.to_owned() };
    let remedy = if recovers { DIES_WITHOUT_RECOVERY } else { "" };
    format!("die {die} can't die: {problem}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_without_their_place() {
        let long = "error: a.b: it is so: no\n --> setting 1\n  |\n1 | a.b=1\n  |     ^\n";
        assert_eq!(lives_on(3, long, false), "die 3 can't die: it is so: no");
        assert!(lives_on(3, long, true).ends_with(DIES_WITHOUT_RECOVERY));
        assert_eq!(lives_on(9, "there is no die 9", true), "there is no die 9");
    }
}
