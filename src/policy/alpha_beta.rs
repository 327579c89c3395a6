//! The player that searches with alpha-beta.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rand_xoshiro::Xoshiro128PlusPlus;
use rayon::prelude::*;

use crate::policy::{Policy, PolicyError};
use crate::position::Position;
use crate::search::{AlphaBetaConfig, AlphaBetaSearch, LeafEvaluator, SearchError, SeedCount};

/// Plays the best move of an alpha-beta search, the lowest column among equals.
///
/// Positions are searched in parallel in the current rayon pool; each choice depends on its
/// position alone, unless time limits the search. What the search maximises is told in
/// [`crate::search::alpha_beta`].
///
/// ```
/// use endodoi::policy::{AlphaBeta, Policy};
/// use endodoi::rng::{self, Purpose};
/// use endodoi::{Position, Variant};
///
/// let positions = [Position::start(&Variant::CrossEndodoi.ruleset())];
/// let mut streams = [rng::stream(1, 0, Purpose::Play)];
/// let mut moves = [0];
/// AlphaBeta::new(1)?.choose(&positions, &mut streams, &mut moves)?;
/// assert_eq!(moves, [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AlphaBeta {
    config: AlphaBetaConfig,
    searches: Searches,
}

impl AlphaBeta {
    /// Makes the player that looks `depth` plies ahead.
    ///
    /// # Errors
    /// [`SearchError::DepthRange`] when the depth is not 1 to [`crate::search::MAX_DEPTH`].
    pub fn new(depth: u32) -> Result<AlphaBeta, SearchError> {
        AlphaBeta::with(AlphaBetaConfig::of_depth(depth))
    }

    /// Makes the player of any limit.
    ///
    /// # Errors
    /// [`SearchError`] names the first setting out of its range.
    pub fn with(config: AlphaBetaConfig) -> Result<AlphaBeta, SearchError> {
        config.check()?;
        Ok(AlphaBeta {
            config,
            searches: Searches::default(),
        })
    }

    /// Returns its settings.
    pub const fn config(&self) -> &AlphaBetaConfig {
        &self.config
    }
}

impl Policy for AlphaBeta {
    fn name(&self) -> String {
        format!("alphabeta:{}", self.config)
    }

    fn choose(
        &mut self,
        positions: &[Position],
        _streams: &mut [Xoshiro128PlusPlus],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let name = self.name();
        self.searches.choose(self.config, &name, positions, moves)
    }

    fn set_interrupt(&mut self, flag: &Arc<AtomicBool>) {
        self.searches.interrupt = Arc::clone(flag);
    }
}

/// Searches that wait for the next positions, at most one for each thread at work.
#[derive(Debug)]
pub(super) struct Searches<E = SeedCount> {
    leaves: E,
    idle: Mutex<Vec<AlphaBetaSearch<E>>>,
    pub(super) interrupt: Arc<AtomicBool>,
}

impl<E: LeafEvaluator + Sync> Clone for Searches<E> {
    /// Starts without a search: they hold nothing that is worth copying.
    fn clone(&self) -> Searches<E> {
        Searches {
            leaves: self.leaves.clone(),
            idle: Mutex::default(),
            interrupt: Arc::clone(&self.interrupt),
        }
    }
}

impl Default for Searches {
    fn default() -> Searches {
        Searches::new(SeedCount)
    }
}

/// A search that goes back to the idle ones.
struct Lent<'a, E> {
    search: Option<AlphaBetaSearch<E>>,
    from: &'a Searches<E>,
}

impl<E> Drop for Lent<'_, E> {
    fn drop(&mut self) {
        self.from.idle().extend(self.search.take());
    }
}

impl<E> Searches<E> {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<AlphaBetaSearch<E>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: LeafEvaluator + Sync> Searches<E> {
    /// Prepares searches whose leaves an evaluator judges.
    pub(super) fn new(leaves: E) -> Searches<E> {
        Searches {
            leaves,
            idle: Mutex::default(),
            interrupt: Arc::default(),
        }
    }

    fn lend(&self, config: AlphaBetaConfig) -> Result<Lent<'_, E>, SearchError> {
        let idle = self.idle().pop();
        let mut search = match idle {
            Some(search) => search,
            None => AlphaBetaSearch::with_evaluator(config, self.leaves.clone())?,
        };
        search.set_interrupt(Arc::clone(&self.interrupt));
        Ok(Lent {
            search: Some(search),
            from: self,
        })
    }

    /// Searches every position and writes the best columns, in parallel.
    pub(super) fn choose(
        &self,
        config: AlphaBetaConfig,
        name: &str,
        positions: &[Position],
        moves: &mut [u8],
    ) -> Result<(), PolicyError> {
        let failed = |error: SearchError| match error {
            SearchError::Interrupted => PolicyError::Interrupted {
                name: name.to_owned(),
            },
            error => PolicyError::Failed {
                name: name.to_owned(),
                message: error.to_string(),
            },
        };
        positions
            .par_iter()
            .zip(moves.par_iter_mut())
            .try_for_each_init(
                || self.lend(config),
                |lent, (position, column)| {
                    let lent = lent.as_mut().map_err(|error| failed(error.clone()))?;
                    if let Some(search) = &mut lent.search {
                        *column = search.choose(position).map_err(failed)? as u8;
                    }
                    Ok(())
                },
            )
    }
}
