//! When a search stops before its depth is reached.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Positions between two looks at the clock and at the flags.
const PERIOD: u64 = 2048;

/// Why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Its positions or its time were used up, or another thread finished.
    Spent,
    /// The interrupt flag was set.
    Interrupted,
}

/// What a walk through a tree looks at every now and then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop<'a> {
    /// The user's flag.
    interrupt: &'a AtomicBool,
    /// Set when another thread has the result.
    finished: &'a AtomicBool,
    deadline: Option<Instant>,
    most_nodes: u64,
    /// When to look next, in positions visited.
    next: u64,
}

impl<'a> Stop<'a> {
    /// Stops for the flags alone.
    pub(super) fn new(interrupt: &'a AtomicBool, finished: &'a AtomicBool) -> Stop<'a> {
        Stop {
            interrupt,
            finished,
            deadline: None,
            most_nodes: u64::MAX,
            next: 0,
        }
    }

    /// Stops from now on at so many positions visited in all, or at a time.
    pub(super) fn limit(&mut self, most_nodes: u64, deadline: Option<Instant>) {
        self.most_nodes = most_nodes;
        self.deadline = deadline;
        self.next = 0;
    }

    /// Stops the search if it is time to.
    #[inline]
    pub(super) fn check(&mut self, nodes: u64) -> Result<(), Stopped> {
        if nodes < self.next {
            return Ok(());
        }
        self.look(nodes)
    }

    #[cold]
    fn look(&mut self, nodes: u64) -> Result<(), Stopped> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted);
        }
        let finished = self.finished.load(Ordering::Relaxed);
        let late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if finished || late || nodes >= self.most_nodes {
            return Err(Stopped::Spent);
        }
        self.next = self.most_nodes.min(nodes + PERIOD);
        Ok(())
    }
}
