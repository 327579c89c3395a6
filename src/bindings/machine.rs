//! What the core finds on this machine.

use pyo3::prelude::*;

use crate::batch::{BatchError, Instructions};

/// Name the sets of instructions that boards can be sown with, the slowest first.
///
/// Returns
/// -------
/// sets : list of (str, bool)
///     The name of each, and whether this processor has it.
#[pyfunction]
pub(super) fn instruction_sets() -> Vec<(&'static str, bool)> {
    Instructions::ALL
        .into_iter()
        .map(|set| (set.name(), set.is_available()))
        .collect()
}

/// Return the set of instructions that is used: the one that the environment variable
/// `ENDODOI_INSTRUCTIONS` names, else the fastest one.
///
/// Raises
/// ------
/// BatchError
///     If that variable names none, or one that this processor does not have.
#[pyfunction]
pub(super) fn chosen_instructions() -> PyResult<&'static str> {
    let chosen = Instructions::chosen(None).map_err(BatchError::from)?;
    Ok(chosen.name())
}

/// Return the number of threads where none is asked for: the cores that this process may use,
/// after affinity and the limits of its control group.
#[pyfunction]
pub(super) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
