//! Seeds as users give them to a reset.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::arguments::seed;
use crate::batch::{Batch, BatchError, Seeds};
use crate::rng;

/// One seed for all rows, or one for each.
pub(super) enum RowSeeds {
    Integer(u64),
    Rows(Vec<Option<u64>>),
}

impl RowSeeds {
    /// Reads an integer or a sequence of (int or None) with an entry for each row.
    pub(super) fn read(value: &Bound<'_, PyAny>, rows: usize) -> PyResult<RowSeeds> {
        let is_sequence = value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyTuple>()
            || value.hasattr("__array__")? && value.getattr("ndim")?.gt(0)?;
        if !is_sequence {
            return Ok(RowSeeds::Integer(seed(value, "seed")?));
        }
        let items = value.try_iter()?.enumerate().map(|(row, item)| {
            let item = item?;
            if item.is_none() {
                return Ok(None);
            }
            seed(&item, &format!("seed[{row}]")).map(Some)
        });
        let seeds: Vec<Option<u64>> = items.collect::<PyResult<_>>()?;
        if seeds.len() != rows {
            let error = BatchError::BufferLength {
                field: "seed",
                got: seeds.len(),
                expected: rows,
            };
            return Err(error.into());
        }
        Ok(RowSeeds::Rows(seeds))
    }

    /// Returns the row seed of `row`, if it is given one.
    fn row_seed(&self, row: usize) -> Option<u64> {
        match self {
            RowSeeds::Integer(seed) => Some(rng::mix(*seed, row as u64)),
            RowSeeds::Rows(seeds) => seeds.get(row).copied().flatten(),
        }
    }
}

/// Returns the seeds of a reset: those given, and `first` for rows that are given none and were
/// never reset. Rows without either go on with their next episode.
pub(super) fn seeds_of_reset(
    batch: &Batch,
    given: Option<&RowSeeds>,
    first: Option<&RowSeeds>,
) -> Seeds {
    let seed_of = |row| {
        let unseeded = || match batch.started(row) {
            Ok(false) => first?.row_seed(row),
            _ => None,
        };
        given
            .and_then(|seeds| seeds.row_seed(row))
            .or_else(unseeded)
    };
    Seeds::Some((0..batch.rows()).map(seed_of).collect())
}
