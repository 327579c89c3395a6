//! All threads on one question.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::search::endgame::EndgameTable;
use crate::search::solver::field::{Field, Node};
use crate::search::solver::memory::Memory;
use crate::search::solver::worker::{Control, Worker};

/// How often the caller is asked whether to go on.
const ASKED_EVERY: Duration = Duration::from_millis(25);

/// What one proof needs.
pub(super) struct Proof<'a, F: Field> {
    pub(super) field: &'a F,
    pub(super) table: Option<&'a EndgameTable>,
    pub(super) memory: &'a Memory,
    pub(super) threads: usize,
}

impl<F: Field> Proof<'_, F> {
    /// Proves a bound of a position that reaches the threshold or stays below it.
    ///
    /// Every thread searches the whole tree in an order of its own and they share what they learn;
    /// the first to finish answers for all. `go_on` is asked on the calling thread; `None` if it
    /// said no or a thread could not be started.
    pub(super) fn run(
        &self,
        root: &Node<F::Board>,
        threshold: i32,
        control: &Control,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<i32> {
        control.stop.store(false, Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for salt in 0..self.threads as u32 {
                let sender = sender.clone();
                let search = move || {
                    let mut worker =
                        Worker::new(self.field, self.table, self.memory, control, salt);
                    let answer = worker.prove(root, threshold);
                    control.stop.store(true, Ordering::Relaxed);
                    // The other end is gone only if an answer is not wanted any more.
                    sender.send(answer).ok();
                };
                let name = format!("solver-{salt}");
                if thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, search)
                    .is_err()
                {
                    break;
                }
            }
            drop(sender);
            let mut bound = None;
            loop {
                match receiver.recv_timeout(ASKED_EVERY) {
                    Ok(answer) => bound = bound.or(answer),
                    Err(RecvTimeoutError::Disconnected) => return bound,
                    Err(RecvTimeoutError::Timeout) => {
                        if !go_on() {
                            control.stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        })
    }
}
