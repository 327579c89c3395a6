//! Random games in lanes: 64 games side by side, one byte of a vector for each.
//!
//! What a game does depends on its number alone, so the rows are those of the slow twin for every
//! set of instructions.

// The kernel must be inlined into the function that switches the instructions on, or every
// operation would be a call.
#![allow(clippy::inline_always)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
mod kernel;
mod portable;
mod vector;

use block::{Block, Games, Rules};
use portable::Portable;
use vector::Vector;

use super::SimulateError;
use super::tally::GameRow;
use crate::ruleset::Ruleset;

/// A set of instructions that random games can be played with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instructions {
    /// One game after another, move by move: the slow twin of the others.
    Scalar,
    /// Lanes in plain Rust, on every processor.
    Portable,
    /// Lanes in two AVX2 registers.
    Avx2,
    /// Lanes in one AVX-512 register (F, BW, VL and VBMI).
    Avx512,
}

impl Instructions {
    /// All sets, the slowest first.
    pub const ALL: [Instructions; 4] = [
        Instructions::Scalar,
        Instructions::Portable,
        Instructions::Avx2,
        Instructions::Avx512,
    ];

    /// Returns the name: `scalar`, `portable`, `avx2` or `avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            Instructions::Scalar => "scalar",
            Instructions::Portable => "portable",
            Instructions::Avx2 => "avx2",
            Instructions::Avx512 => "avx512",
        }
    }

    /// Returns the set of a name, `None` if there is none.
    pub fn named(name: &str) -> Option<Instructions> {
        Instructions::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Tells whether this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Instructions::Scalar | Instructions::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => avx2::Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => avx512::Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx2 | Instructions::Avx512 => false,
        }
    }

    /// Returns the fastest set that this processor has.
    pub fn best() -> Instructions {
        let available = Instructions::ALL
            .into_iter()
            .rev()
            .find(|set| set.is_available());
        available.unwrap_or(Instructions::Portable)
    }

    /// Returns the set asked for, else the one that the environment variable
    /// `ENDODOI_INSTRUCTIONS` names, else the fastest one.
    ///
    /// # Errors
    /// [`SimulateError::Instructions`] for a name that does not exist and for instructions that
    /// this processor does not have.
    pub fn chosen(asked: Option<Instructions>) -> Result<Instructions, SimulateError> {
        let refuse = |field, value: &str| SimulateError::Instructions {
            field,
            value: value.to_owned(),
            expected: Instructions::ALL
                .into_iter()
                .filter(|set| set.is_available())
                .map(Instructions::name)
                .collect(),
        };
        if let Some(asked) = asked {
            return if asked.is_available() {
                Ok(asked)
            } else {
                Err(refuse("instructions", asked.name()))
            };
        }
        match std::env::var("ENDODOI_INSTRUCTIONS") {
            Ok(name) if !name.is_empty() => Instructions::named(&name)
                .filter(|set| set.is_available())
                .ok_or_else(|| refuse("ENDODOI_INSTRUCTIONS", &name)),
            _ => Ok(Instructions::best()),
        }
    }
}

/// Plays games `first..first + rows.len()` of a seed in lanes and writes their rows.
///
/// Returns false, and nothing is written, where the board does not fit the lanes or the
/// instructions are not there.
pub(super) fn play(
    instructions: Instructions,
    ruleset: &Ruleset,
    (seed, first): (u64, u64),
    max_plies: Option<u32>,
    rows: &mut [GameRow],
) -> bool {
    let Some(rules) = Rules::of(ruleset, max_plies) else {
        return false;
    };
    let mut games = Games {
        seed,
        first,
        rows,
        max_plies,
    };
    let mut block = Block::new();
    match instructions {
        Instructions::Scalar => return false,
        Instructions::Portable => by_size(Portable, &mut block, &rules, &mut games),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => match avx2::Avx2::detect() {
            Some(v) => v.play(&mut block, &rules, &mut games),
            None => return false,
        },
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => match avx512::Avx512::detect() {
            Some(v) => v.play(&mut block, &rules, &mut games),
            None => return false,
        },
        #[cfg(not(target_arch = "x86_64"))]
        Instructions::Avx2 | Instructions::Avx512 => return false,
    }
    true
}

/// Plays with code of its own for the traditional sizes.
#[inline(always)]
fn by_size<V: Vector>(v: V, block: &mut Block, rules: &Rules, games: &mut Games<'_>) {
    match rules.pits {
        12 => kernel::play::<V, 12>(v, block, rules, games),
        16 => kernel::play::<V, 16>(v, block, rules, games),
        20 => kernel::play::<V, 20>(v, block, rules, games),
        _ => kernel::play::<V, 0>(v, block, rules, games),
    }
}
