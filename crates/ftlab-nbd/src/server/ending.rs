//! The end of a server: what is open is answered, the drive is saved, and clients get their last replies.

use std::time::{Duration, Instant};

use ftlab_lab::failure::Failure;

use super::peers::{BlockPeer, HttpPeer};
use super::{Log, Server, poll};

/// How long clients may take to receive their last replies.
const FAREWELL: Duration = Duration::from_secs(5);

impl Server {
    /// Answers what is open, and shuts the drive down.
    pub(super) fn end(&mut self, log: Log<'_>) -> Result<(), Failure> {
        log(&format!("stopped {}: saving the drive", self.stops.unwrap_or("by an order")));
        let mut answers = Vec::new();
        let rested = self.drive.bring_to_rest(&mut answers);
        // Answers are sent only if what they promise is in the file.
        self.drive.commit().map_err(|error| self.unusable(&error))?;
        for answer in answers.drain(..) {
            self.jobs.answered(answer, &mut self.drive);
        }
        self.reply(log);
        // Replies let sessions go on with what they have received.
        while self.jobs.open() > 0 || self.jobs.has_settled() {
            self.jobs.refuse_all(&self.drive);
            self.reply(log);
        }
        let saved = rested.and_then(|()| self.save_at_the_end());
        self.say_farewell();
        saved
    }

    /// Completes the recording, however serving ended, and says what it lacks.
    pub(super) fn end_recording(
        &mut self,
        ended: Result<(), Failure>,
        log: Log<'_>,
    ) -> Result<(), Failure> {
        let Some(recorder) = self.recorder.take() else { return ended };
        match (&ended, recorder.finish()) {
            (_, Ok(told)) => told.iter().for_each(|told| log(told)),
            (Ok(()), Err(failure)) => return Err(failure),
            (Err(_), Err(failure)) => log(&failure.to_string()),
        }
        ended
    }

    /// Saves the drive in its data file, and as an image if that is asked for.
    fn save_at_the_end(&mut self) -> Result<(), Failure> {
        let mut none = Vec::new();
        let image = match self.spec.save.clone() {
            Some(save) => self.drive.save_image(&save.path, save.force, &mut none),
            None => Ok(()),
        };
        self.drive.save(&mut none)?;
        self.signals.saved();
        image
    }

    /// Sends what is left to those who take it.
    fn say_farewell(&mut self) {
        let until = Instant::now() + FAREWELL;
        loop {
            self.peers.iter_mut().for_each(BlockPeer::send);
            self.lookers.iter_mut().for_each(HttpPeer::send);
            self.peers.retain(BlockPeer::has_output);
            self.lookers.retain(HttpPeer::has_output);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.peers.is_empty() && self.lookers.is_empty() {
                return;
            }
            poll::wait_to_send(&self.peers, &self.lookers, left);
        }
    }
}
