//! Sixty-four boards side by side, one byte of a vector for each, on every set of instructions.

// Kernels must be inlined into the function that switches the instructions on, or every operation
// would be a call.
#![allow(clippy::inline_always)]

use thiserror::Error;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod flight;
mod lap;
mod portable;
mod rows;
mod rows_lap;
#[cfg(target_arch = "x86_64")]
mod rows_x86;
#[cfg(target_arch = "x86_64")]
mod turned_lap;
mod vector;

#[cfg(target_arch = "x86_64")]
pub(in crate::batch) use flight::Flight;
pub(crate) use lap::{Hand, Ring, sow_next};
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

    /// Runs a kernel with these instructions, or in plain Rust where there are none.
    pub(in crate::batch) fn run_any<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Instructions::Avx2 => {
                if let Some(proof) = avx2::Avx2::detect() {
                    return proof.run(kernel);
                }
            }
            Instructions::Avx512 => {
                if let Some(proof) = avx512::Avx512::detect() {
                    return proof.run(kernel);
                }
            }
            Instructions::Scalar | Instructions::Portable => {}
        }
        kernel.run(portable::Portable)
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

#[cfg(test)]
mod tests {
    use super::{Instructions, Kernel, LANES, Row, Vector};

    /// Deals, packs and moves bytes between lanes.
    struct Move<'a> {
        row: &'a Row,
        from: &'a Row,
        lanes: u64,
    }

    impl Kernel for Move<'_> {
        type Output = ([u8; LANES], [u8; LANES], Vec<u8>);

        #[inline(always)]
        fn run<V: Vector>(self, v: V) -> Self::Output {
            let (mut moved, mut dealt) = (Row::ZERO, Row::ZERO);
            let (row, from) = (v.load(self.row), v.load(self.from));
            v.store(v.of_lanes(self.row, from), &mut moved);
            v.store(v.deal(&self.row.0, self.lanes, from), &mut dealt);
            let mut packed = [0; LANES];
            v.pack(row, self.lanes, &mut packed);
            let packed = packed[..self.lanes.count_ones() as usize].to_vec();
            (moved.0, dealt.0, packed)
        }
    }

    #[test]
    fn bytes_move_between_lanes_alike_on_all_instructions() {
        let row = Row(std::array::from_fn(|lane| (lane * 37 + 11) as u8));
        let from = Row(std::array::from_fn(|lane| (lane * 29 + 5) as u8 % 64));
        for lanes in [0, u64::MAX, 1, 1 << 63, 0xF0F0_1234_8001_7FFE] {
            let (row, from) = (&row, &from);
            let set = |lane: usize| lanes >> lane & 1 == 1;
            let members: Vec<usize> = (0..LANES).filter(|&lane| set(lane)).collect();
            let mut dealt = from.0;
            for (&lane, byte) in members.iter().zip(row.0) {
                dealt[lane] = byte;
            }
            let packed: Vec<u8> = members.iter().map(|&lane| row.0[lane]).collect();
            let moved = from.0.map(|lane| row.0[usize::from(lane)]);
            for instructions in Instructions::ALL {
                if instructions == Instructions::Scalar || !instructions.is_available() {
                    continue;
                }
                let got = instructions.run(Move { row, from, lanes });
                assert_eq!(
                    got,
                    Some((moved, dealt, packed.clone())),
                    "{}",
                    instructions.name()
                );
            }
        }
    }
}
