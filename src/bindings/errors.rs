//! Errors of the core as exceptions of `endodoi.errors`.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::batch::BatchError;
use crate::environment::EnvironmentError;
use crate::notation::{NotationError, RecordError};
use crate::policy::PolicyError;
use crate::position::{MoveError, SetupError};
use crate::render::{MAX_SCALE, PictureError};
use crate::ruleset::RulesetError;
use crate::simulate::SimulateError;

/// Attributes of an exception, gathered before it is made.
pub(super) struct Fields<'py>(Bound<'py, PyDict>);

impl<'py> Fields<'py> {
    /// Sets one attribute.
    pub(super) fn set(self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Fields<'py>> {
        self.0.set_item(name, value)?;
        Ok(self)
    }

    /// Sets one attribute to a tuple of the items.
    pub(super) fn set_tuple<T>(
        self,
        name: &str,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    ) -> PyResult<Fields<'py>>
    where
        T: IntoPyObject<'py>,
    {
        let tuple = PyTuple::new(self.0.py(), items)?;
        self.set(name, tuple)
    }
}

/// Makes an exception of the class `endodoi.errors.<class>` with a message and attributes.
pub(super) fn exception(
    class: &str,
    message: &str,
    fields: impl for<'py> FnOnce(Fields<'py>) -> PyResult<Fields<'py>>,
) -> PyErr {
    Python::attach(|py| {
        let build = || {
            let fields = fields(Fields(PyDict::new(py)))?;
            py.import("endodoi.errors")?
                .getattr(class)?
                .call((message,), Some(&fields.0))
        };
        match build() {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    })
}

/// Makes an `ArgumentTypeError`: `field` has a value that is not `expected`.
pub(super) fn type_error(field: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let py = value.py();
    let build = || -> PyResult<PyErr> {
        let kind = value.get_type().name()?;
        let repr = value.repr()?;
        let message = format!("{field} is {repr} ({kind}), expected {expected}");
        let value = value.into_py_any(py)?;
        Ok(exception("ArgumentTypeError", &message, |fields| {
            fields.set("field", field)?.set("value", value)
        }))
    };
    build().unwrap_or_else(|error| error)
}

impl From<RulesetError> for PyErr {
    fn from(error: RulesetError) -> PyErr {
        exception("RulesetError", &error.to_string(), |fields| match error {
            RulesetError::OutOfRange {
                field,
                value,
                low,
                high,
            } => fields
                .set("field", field)?
                .set("value", value)?
                .set("low", low)?
                .set("high", high),
            RulesetError::UnknownName {
                field,
                ref value,
                expected,
            } => fields
                .set("field", field)?
                .set("value", value)?
                .set_tuple("expected", expected),
        })
    }
}

fn setup_fields<'py>(fields: Fields<'py>, error: &SetupError) -> PyResult<Fields<'py>> {
    const MOST: u32 = crate::board::MAX_SEEDS;
    match *error {
        SetupError::RowLength {
            side,
            got,
            expected,
        } => fields
            .set("field", "row")?
            .set("side", side.name())?
            .set("value", got)?
            .set("low", expected)?
            .set("high", expected),
        SetupError::PitRange {
            side,
            column,
            value,
        } => fields
            .set("field", "pit")?
            .set("side", side.name())?
            .set("column", column)?
            .set("value", value)?
            .set("low", 0)?
            .set("high", MOST),
        SetupError::CapturedRange { side, value } => fields
            .set("field", "captured")?
            .set("side", side.name())?
            .set("value", value)?
            .set("low", 0)?
            .set("high", MOST),
        SetupError::TotalRange { total } => fields
            .set("field", "total")?
            .set("value", total)?
            .set("low", 0)?
            .set("high", MOST),
        SetupError::QuietRange { value, limit } => fields
            .set("field", "quiet")?
            .set("value", value)?
            .set("low", 0)?
            .set("high", limit),
    }
}

impl From<SetupError> for PyErr {
    fn from(error: SetupError) -> PyErr {
        exception("SetupError", &error.to_string(), |fields| {
            setup_fields(fields, &error)
        })
    }
}

impl From<NotationError> for PyErr {
    fn from(error: NotationError) -> PyErr {
        exception("NotationError", &error.to_string(), |fields| match error {
            NotationError::Fields { got } => fields.set("field", "text")?.set("value", got),
            NotationError::Rows { got } => fields.set("field", "board")?.set("value", got),
            NotationError::Field {
                field, ref value, ..
            } => fields.set("field", field)?.set("value", value),
            NotationError::Setup(ref inner) => setup_fields(fields, inner),
        })
    }
}

impl From<MoveError> for PyErr {
    fn from(error: MoveError) -> PyErr {
        exception("MoveError", &error.to_string(), |fields| match error {
            MoveError::Over { .. } => fields.set("reason", "over"),
            MoveError::ColumnRange { column, .. } => {
                fields.set("reason", "range")?.set("column", column)
            }
            MoveError::EmptyPit {
                column,
                side,
                ref legal,
            } => fields
                .set("reason", "empty")?
                .set("column", column)?
                .set("side", side.name())?
                .set_tuple("legal", legal),
            MoveError::EndlessSowing {
                column,
                side,
                ref legal,
                ..
            } => fields
                .set("reason", "endless")?
                .set("column", column)?
                .set("side", side.name())?
                .set_tuple("legal", legal),
        })
    }
}

impl From<PictureError> for PyErr {
    fn from(error: PictureError) -> PyErr {
        let scale = match error {
            PictureError::Scale { scale } => scale,
            PictureError::Move(error) => return error.into(),
        };
        exception("ArgumentValueError", &error.to_string(), |fields| {
            fields
                .set("field", "scale")?
                .set("value", scale)?
                .set("low", 1)?
                .set("high", MAX_SCALE)
        })
    }
}

impl From<RecordError> for PyErr {
    fn from(error: RecordError) -> PyErr {
        exception("RecordError", &error.to_string(), |fields| match error {
            RecordError::Json(_) => fields.set("field", "json"),
            RecordError::Start(_) => fields.set("field", "start"),
            RecordError::Move { ply, .. } => fields.set("field", "moves")?.set("ply", ply),
            RecordError::Mismatch {
                field,
                ref recorded,
                ref replayed,
            } => fields
                .set("field", field)?
                .set("recorded", recorded)?
                .set("replayed", replayed),
        })
    }
}

impl From<BatchError> for PyErr {
    fn from(error: BatchError) -> PyErr {
        exception("BatchError", &error.to_string(), |fields| match error {
            BatchError::OutOfRange { field, value, .. } => {
                fields.set("field", field)?.set("value", value)
            }
            BatchError::OpeningCut {
                random_opening_plies,
                ..
            } => fields
                .set("field", "random_opening_plies")?
                .set("value", random_opening_plies),
            BatchError::Opening {
                row,
                random_opening_plies,
                ..
            } => fields
                .set("field", "random_opening_plies")?
                .set("value", random_opening_plies)?
                .set("row", row),
            BatchError::Threads { num_threads, .. } => fields
                .set("field", "num_threads")?
                .set("value", num_threads),
            BatchError::Instructions(error) => {
                fields.set("field", error.field)?.set("value", error.value)
            }
            BatchError::ActionsLength { got, .. } => {
                fields.set("field", "actions")?.set("value", got)
            }
            BatchError::IllegalAction {
                row,
                action,
                ref legal,
                ..
            } => fields
                .set("field", "actions")?
                .set("value", action)?
                .set("row", row)?
                .set_tuple("legal", legal),
            BatchError::Finished { row } | BatchError::NotReset { row } => {
                fields.set("field", "actions")?.set("row", row)
            }
            BatchError::BufferLength { field, got, .. } => {
                fields.set("field", field)?.set("value", got)
            }
            BatchError::RowRange { row, .. } => fields.set("field", "row")?.set("value", row),
            BatchError::Ruleset { ref got, .. } => {
                fields.set("field", "ruleset")?.set("value", got)
            }
            BatchError::Snapshot(_) => fields.set("field", "state"),
        })
    }
}

impl From<EnvironmentError> for PyErr {
    fn from(error: EnvironmentError) -> PyErr {
        let message = error.to_string();
        match error {
            EnvironmentError::Batch(error) => error.into(),
            EnvironmentError::Policy(error) => error.into(),
            EnvironmentError::Answer { name, .. }
            | EnvironmentError::AnswersLength { name, .. }
            | EnvironmentError::Interrupted { name } => {
                exception("PolicyError", &message, |fields| fields.set("player", name))
            }
            EnvironmentError::NoOpponents | EnvironmentError::Kind { .. } => {
                exception("BatchError", &message, |fields| {
                    fields.set("field", "opponent")
                })
            }
        }
    }
}

impl From<PolicyError> for PyErr {
    fn from(error: PolicyError) -> PyErr {
        let message = error.to_string();
        match error {
            PolicyError::Spec { spec, .. } | PolicyError::Members { spec, .. } => {
                exception("PolicyError", &message, |fields| fields.set("player", spec))
            }
            PolicyError::Committee { .. } => exception("PolicyError", &message, |fields| {
                fields.set("player", "committee")
            }),
            PolicyError::File { path, .. } => {
                exception("AgentError", &message, |fields| fields.set("path", path))
            }
            PolicyError::Table { path, .. } => {
                exception("TableError", &message, |fields| fields.set("path", path))
            }
            PolicyError::Interrupted { name }
            | PolicyError::Rules { name, .. }
            | PolicyError::Failed { name, .. } => {
                exception("PolicyError", &message, |fields| fields.set("player", name))
            }
        }
    }
}

impl From<SimulateError> for PyErr {
    fn from(error: SimulateError) -> PyErr {
        let message = error.to_string();
        match error {
            SimulateError::OutOfRange { field, value, .. } => {
                exception("SimulationError", &message, |fields| {
                    fields.set("field", field)?.set("value", value)
                })
            }
            SimulateError::NoOpening { plies } => {
                exception("SimulationError", &message, |fields| {
                    fields
                        .set("field", "random_opening_plies")?
                        .set("value", plies)
                })
            }
            SimulateError::Player(error) => error.into(),
            SimulateError::Instructions(error) => {
                exception("SimulationError", &message, |fields| {
                    fields.set("field", error.field)?.set("value", error.value)
                })
            }
            SimulateError::Threads { .. } => exception("SimulationError", &message, |fields| {
                fields.set("field", "num_threads")
            }),
        }
    }
}
