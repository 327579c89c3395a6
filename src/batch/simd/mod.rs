//! Sixty-four boards side by side, one byte of a vector for each, on every set of instructions.

// Kernels must be inlined into the function that switches the instructions on, or every operation
// would be a call.
#![allow(clippy::inline_always)]

use thiserror::Error;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lap;
mod portable;
mod rows;
mod rows_lap;
#[cfg(target_arch = "x86_64")]
mod rows_x86;
mod vector;

pub(crate) use lap::{Hand, Ring, sow_lap, sow_next};
pub(crate) use rows::{RowBoard, RowKernel, RowVector};
pub(crate) use rows_lap::{LIGHT, RowRing, Sowings};
pub(crate) use vector::{Kernel, LANES, MAX_PITS, Row, Streams, Vector};

/// A set of instructions that boards in lanes can be sown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instructions {
    /// One board after another: the slow twin of the others.
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
    /// [`InstructionsError`] for a name that does not exist and for instructions that
    /// this processor does not have.
    pub fn chosen(asked: Option<Instructions>) -> Result<Instructions, InstructionsError> {
        let refuse = |field, value: &str| InstructionsError {
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

    /// Runs a kernel with these instructions, `None` where they are not there.
    ///
    /// [`Instructions::Scalar`] has no lanes and runs nothing.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> Option<K::Output> {
        match self {
            Instructions::Scalar => None,
            Instructions::Portable => Some(kernel.run(portable::Portable)),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => Some(avx2::Avx2::detect()?.run(kernel)),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => Some(avx512::Avx512::detect()?.run(kernel)),
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx2 | Instructions::Avx512 => None,
        }
    }
}

/// Instructions that do not exist or that this processor does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value:?}, expected one of {}", expected.join(", "))]
pub struct InstructionsError {
    /// The field's or environment variable's name.
    pub field: &'static str,
    /// The name given.
    pub value: String,
    /// The names that this processor has.
    pub expected: Vec<&'static str>,
}
