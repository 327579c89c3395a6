//! Who plays the other side.

use std::sync::{Mutex, PoisonError};

use rand_xoshiro::Xoshiro128PlusPlus;

use crate::policy::{Policy, PolicyError, PolicySpec};
use crate::rng::{self, Purpose};
use crate::ruleset::Ruleset;

/// A player from outside: a function of views and masks.
pub trait Function: Send + Sync {
    /// Returns the name shown in errors.
    fn name(&self) -> String;

    /// Chooses columns for `B` rows to move: from views, `i16[B, 2C+3]`, and legal columns,
    /// `i8[B, C]`, to actions, one for each row.
    ///
    /// # Errors
    /// [`PolicyError`] when it cannot choose.
    fn choose(&mut self, views: &[i16], masks: &[i8], rows: usize)
    -> Result<Vec<i64>, PolicyError>;
}

/// A player of the other side.
pub enum Opponent {
    /// Plays every legal move with the same probability.
    Random,
    /// A player of the core; asked as often as there is something to move.
    /// Behind a lock that is never waited for, so that environments may be shared.
    Policy(Mutex<Box<dyn Policy>>),
    /// A player from outside, asked at most once in a step and once in a reset.
    Function(Box<dyn Function>),
}

impl Opponent {
    /// Makes the opponent of a specification.
    ///
    /// # Errors
    /// [`PolicyError::File`] or [`PolicyError::Table`] where the file of an agent or of an endgame
    /// table cannot be used.
    pub fn of_spec(spec: &PolicySpec) -> Result<Opponent, PolicyError> {
        Ok(match spec {
            PolicySpec::Random => Opponent::Random,
            _ => Opponent::of_policy(spec.build()?),
        })
    }

    /// Makes the opponent of a player of the core.
    pub fn of_policy(policy: Box<dyn Policy>) -> Opponent {
        Opponent::Policy(Mutex::new(policy))
    }

    /// Returns the name shown in errors.
    pub fn name(&self) -> String {
        match self {
            Opponent::Random => "random".to_owned(),
            Opponent::Policy(policy) => {
                let policy = policy.lock().unwrap_or_else(PoisonError::into_inner);
                policy.name()
            }
            Opponent::Function(function) => function.name(),
        }
    }

    /// Checks that it can play by these rules.
    pub(super) fn check(&mut self, ruleset: &Ruleset) -> Result<(), PolicyError> {
        match self {
            Opponent::Policy(policy) => {
                let policy = policy.get_mut().unwrap_or_else(PoisonError::into_inner);
                policy.check(ruleset)
            }
            Opponent::Random | Opponent::Function(_) => Ok(()),
        }
    }

    /// Tells whether it may fail to choose.
    pub(super) const fn can_fail(&self) -> bool {
        !matches!(self, Opponent::Random)
    }

    /// Tells whether it comes from outside.
    pub(super) const fn is_function(&self) -> bool {
        matches!(self, Opponent::Function(_))
    }
}

impl std::fmt::Debug for Opponent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Opponent({})", self.name())
    }
}

/// Opens the stream of a game's opponent and draws which of `count` opponents plays it.
pub(super) fn open_game(row_seed: u64, episode: u64, count: usize) -> (Xoshiro128PlusPlus, usize) {
    let mut stream = rng::stream(row_seed, episode, Purpose::Opponent);
    let playing = rng::below(&mut stream, count as u32);
    (stream, playing as usize)
}
