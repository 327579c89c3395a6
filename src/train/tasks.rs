//! Runs the tasks of an iteration on a few threads.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::TrainError;

/// A piece of an iteration, which leaves its result in a place of its own.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs all tasks, each thread taking the next one when it has finished another, and waits for
/// the last one.
///
/// libtorch uses the thread it is called on and no other.
///
/// # Errors
/// [`TrainError::Thread`] when a task panics.
pub fn run_tasks(threads: usize, tasks: Vec<Task<'_>>) -> Result<(), TrainError> {
    let threads = threads.min(tasks.len());
    let queue = Mutex::new(VecDeque::from(tasks));
    let take = || {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    tch::set_num_threads(1);
                    while let Some(task) = take() {
                        task();
                    }
                })
            })
            .collect();
        let ended: Vec<_> = workers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        match ended.into_iter().find_map(Result::err) {
            Some(payload) => Err(TrainError::Thread {
                message: message_of(payload.as_ref()),
            }),
            None => Ok(()),
        }
    })
}

/// Returns the text of a panic.
pub fn message_of(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "no message".to_owned())
}
