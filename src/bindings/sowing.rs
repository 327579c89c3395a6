//! `Sowing`.

use pyo3::prelude::*;

use crate::position::Position;
use crate::render;
use crate::sowing::{self, Sowing, SowingEnd};

/// Laps of an endless sowing that its trace shows unless more are asked for.
const ENDLESS_TRACE_LAPS: u32 = 100;

/// What one sowing does, as :meth:`Position.sow` finds it.
///
/// Two sowings are equal when they do the same from the same position.
#[pyclass(name = "Sowing", module = "endodoi", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct PySowing {
    pub(super) sowing: Sowing,
    pub(super) from: Position,
    pub(super) column: usize,
}

#[pymethods]
impl PySowing {
    /// Laps played, the first included; ``lap_limit`` for an endless sowing (S3, S6).
    #[getter]
    fn laps(&self) -> u32 {
        self.sowing.laps
    }

    /// Seeds dropped in all laps; for an endless sowing, in its first ``lap_limit`` laps.
    #[getter]
    fn seeds_sown(&self) -> u64 {
        self.sowing.seeds_sown
    }

    /// Ring index of the pit of the last seed (B2), ``None`` for an endless sowing.
    #[getter]
    fn last(&self) -> Option<u8> {
        self.sowing.last
    }

    /// Seeds captured, the capturing seed included (C1, C2).
    #[getter]
    fn captured(&self) -> u16 {
        self.sowing.captured
    }

    /// How it ended.
    ///
    /// ``"captured"``: with a capture (C1, C2); ``"empty"``: in an own pit without a capture
    /// (C2); ``"opponent"``: in the other side's row (C3); ``"endless"`` (S6).
    #[getter]
    fn end(&self) -> &'static str {
        self.sowing.end.name()
    }

    /// Follow the sowing pit by pit.
    ///
    /// Each lap starts with its lift, which leaves 0 seeds, and goes on with one step for every
    /// seed dropped (S1 to S5). The capture at the end is not a step.
    ///
    /// Parameters
    /// ----------
    /// max_laps : int, optional
    ///     Laps to follow at most. Default: all of a sowing that ends, the first 100 of an
    ///     endless one.
    ///
    /// Returns
    /// -------
    /// list of (lap, pit, seeds)
    ///     The lap from 1, the ring index of the pit (B2), and the seeds in it afterwards.
    #[pyo3(signature = (max_laps=None))]
    fn trace(&self, max_laps: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(u32, u8, u16)>> {
        let laps = match super::arguments::optional_whole(max_laps, "max_laps")? {
            Some(laps) => laps.clamp(0, u32::MAX.into()) as u32,
            None if self.sowing.end == SowingEnd::Endless => ENDLESS_TRACE_LAPS,
            None => u32::MAX,
        };
        let steps = sowing::trace(
            self.from.board(),
            self.from.ruleset(),
            self.from.to_move(),
            self.column,
            laps,
        );
        Ok(steps
            .into_iter()
            .map(|step| (step.lap, step.pit, step.seeds))
            .collect())
    }

    /// The board after the sowing and its way; nothing where the rules forbid it.
    fn _repr_svg_(&self) -> Option<String> {
        render::svg_of_move(&self.from, self.column).ok()
    }

    fn __repr__(&self) -> String {
        let last = self
            .sowing
            .last
            .map_or_else(|| "None".to_owned(), |last| last.to_string());
        format!(
            "<Sowing column={} laps={} seeds_sown={} last={last} captured={} end='{}'>",
            self.column,
            self.sowing.laps,
            self.sowing.seeds_sown,
            self.sowing.captured,
            self.end()
        )
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (super::position::PyPosition, usize)>> {
        let sow = py
            .get_type::<super::position::PyPosition>()
            .getattr("sow")?;
        Ok((sow, (super::position::PyPosition(self.from), self.column)))
    }
}
