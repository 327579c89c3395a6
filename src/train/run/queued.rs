//! A run for which actors play: its positions come from the queue.

use std::thread;
use std::time::{Duration, Instant};

use super::Run;
use super::measured::Outputs;
use crate::train::TrainError;
use crate::train::best::BestAgent;
use crate::train::queue::{Intake, News, QueueReport};
use crate::train::selfplay::Played;

/// How often a learner without work looks for a chunk.
const POLLED_EVERY: Duration = Duration::from_millis(10);

/// The queue as a run sees it.
#[derive(Debug)]
pub(super) struct Queued {
    intake: Intake,
    /// When weights were published last, and of which step.
    published: (Instant, u64),
}

/// Leaves the time to others.
pub(super) fn wait_a_moment() {
    thread::sleep(POLLED_EVERY);
}

impl Run {
    /// Lets actors play: the games in progress are dropped, and the positions come from the queue.
    ///
    /// # Errors
    /// [`TrainError::File`] when the queue's folder cannot be used.
    pub fn learn_from_queue(&mut self) -> Result<(), TrainError> {
        let intake = Intake::open(&self.folder, &self.counters.taken)?;
        self.groups.clear();
        self.queued = Some(Queued {
            intake,
            published: (Instant::now(), self.learner.step()),
        });
        Ok(())
    }

    /// Takes a chunk, if actors play and one is there.
    pub(super) fn take_chunk(&mut self) -> Result<Option<Played>, TrainError> {
        let Some(queued) = &mut self.queued else {
            return Ok(None);
        };
        let (step, taken) = (self.learner.step(), &mut self.counters.taken);
        queued.intake.next(&self.config, step, taken)
    }

    /// Publishes the weights that the run goes on from: one that was killed may have published later
    /// ones.
    pub(super) fn open_queue(&mut self) -> Result<(), TrainError> {
        match self.queued {
            Some(_) => self.publish(),
            None => Ok(()),
        }
    }

    /// Tells actors, if they play, how far the run is.
    pub(super) fn tell_actors(&self) -> Result<(), TrainError> {
        let Some(queued) = &self.queued else {
            return Ok(());
        };
        let progress = self.progress();
        queued.intake.queue().tell(News {
            seconds: self.seconds(),
            progress,
            finished: progress >= 1.0,
        })
    }

    /// Publishes weights if it is time, and says which chunks were refused.
    pub(super) fn serve_queue(&mut self, out: &mut Outputs<'_>) -> Result<(), TrainError> {
        let Some(queued) = &mut self.queued else {
            return Ok(());
        };
        for note in queued.intake.notes() {
            out.progress.say(&note);
        }
        let (at, of) = queued.published;
        let pause = self.config.queue.pause_at(self.seconds());
        if at.elapsed().as_secs_f64() >= pause && of != self.learner.step() {
            self.publish()?;
            let now = (Instant::now(), self.learner.step());
            if let Some(queued) = &mut self.queued {
                queued.published = now;
            }
        }
        Ok(())
    }

    /// Forgets the chunks that the checkpoint just written holds.
    pub(super) fn settle_queue(&mut self) -> Result<(), TrainError> {
        match &mut self.queued {
            Some(queued) => queued.intake.settle(&self.counters.taken),
            None => Ok(()),
        }
    }

    /// Takes over what another program that measures found the best.
    pub(super) fn heed_follower(&mut self) {
        if self.queued.is_some() && self.config.evaluation.every == 0.0 {
            self.best = BestAgent::open(&self.folder);
        }
    }

    pub(super) fn queue_report(&mut self) -> Result<Option<QueueReport>, TrainError> {
        let Some(queued) = &mut self.queued else {
            return Ok(None);
        };
        queued.intake.report(&self.counters.taken).map(Some)
    }

    /// Returns the threads that training takes: the learner of a queue is one.
    pub(super) fn threads(&self) -> usize {
        match self.queued {
            Some(_) => 1,
            None => self.config.threads(),
        }
    }
}
