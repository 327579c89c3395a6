//! Players that can be broken off while they think.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rayon::{Scope, ThreadPool};

use crate::policy::{Policy, PolicyError};

/// How often the looker-on is asked.
const PERIOD: Duration = Duration::from_millis(50);

/// Lets a player think in the threads of a pool, or of the current one, while this thread asks
/// `go_on` again and again.
///
/// When that says no, the player is told, and this waits until it has stopped or answered.
///
/// # Errors
/// What `thought` returns; [`PolicyError::Interrupted`] when it was to stop, even if it answered.
pub(crate) fn think<'s, T: Send + 's>(
    pool: Option<&ThreadPool>,
    player: &'s mut (dyn Policy + 's),
    go_on: &mut dyn FnMut() -> bool,
    thought: impl FnOnce(&mut dyn Policy) -> Result<T, PolicyError> + Send + 's,
) -> Result<T, PolicyError> {
    let name = player.name();
    let flag = Arc::default();
    player.set_interrupt(&flag);
    watch(pool, &flag, go_on, || thought(player)).unwrap_or(Err(PolicyError::Interrupted { name }))
}

/// Does `work` in the threads of a pool, or of the current one, while this thread asks `go_on`
/// again and again; when that says no, sets the flag, which `work` looks at.
///
/// Returns what `work` returns, `None` if it was to stop.
pub(crate) fn watch<'s, T: Send + 's>(
    pool: Option<&ThreadPool>,
    flag: &AtomicBool,
    go_on: &mut dyn FnMut() -> bool,
    work: impl FnOnce() -> T + Send + 's,
) -> Option<T> {
    let (answer, answered) = mpsc::sync_channel(1);
    // Nobody but this thread receives, and it waits for as long as the sender lives.
    let send = move || drop(answer.send(work()));
    let mut listen = move || {
        loop {
            let received = answered.recv_timeout(PERIOD);
            let stopped = flag.load(Ordering::Relaxed);
            match received {
                Err(RecvTimeoutError::Timeout) if stopped || go_on() => {}
                Err(RecvTimeoutError::Timeout) => flag.store(true, Ordering::Relaxed),
                Ok(result) => return (!stopped).then_some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    };
    let both = move |scope: &Scope<'s>| {
        scope.spawn(|_| send());
        listen()
    };
    match pool {
        Some(pool) => pool.in_place_scope(both),
        None => rayon::in_place_scope(both),
    }
}
