//! `Ruleset`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::arguments::{optional_whole, text};
use super::errors::{exception, type_error};
use crate::ruleset::{Ruleset, RulesetFields, Variant};

/// Names of all fields, in the order of the constructor.
const FIELDS: [&str; 8] = [
    "variant",
    "columns",
    "seeds_per_pit",
    "direction",
    "lone_capture",
    "endless",
    "lap_limit",
    "quiet_limit",
];

/// The rules of one game, complete, valid and immutable.
///
/// ``None`` stands for the variant's default. Two rule sets are equal when all their fields,
/// the variant's name included, are equal.
///
/// Parameters
/// ----------
/// variant : {"en-dodoi", "en-gehe", "cross-endodoi"}
///     The preset that gives the defaults.
/// columns : int, optional
///     ``C``, pits in a row, 1 to 64 (B1). Default 8, 50 and 6.
/// seeds_per_pit : int, optional
///     Seeds in every pit at the start, 1 to 64 (B1). Default 4, 4 and 3.
/// direction : {"anticlockwise", "parity"}, optional
///     Which way laps are sown (S5). Default "parity" for Cross-Endodoi alone.
/// lone_capture : {"stays", "taken"}, optional
///     What happens to a capturing seed opposite to an empty pit (C2). Default "stays".
/// endless : {"illegal", "draw"}, optional
///     What an endless sowing is (S6). Default "illegal".
/// lap_limit : int, optional
///     Laps after which a sowing is endless, 1 to 1,000,000 (S6). Default 10,000.
/// quiet_limit : int, optional
///     Plies without a capture that end the game, 1 to 32,767 (E3). Default ``40 * columns``.
///
/// Raises
/// ------
/// RulesetError
///     If a field is outside its range or has an unknown name.
/// ArgumentTypeError
///     If a number is a bool or float, or a name is no text.
///
/// Examples
/// --------
/// >>> from endodoi import Ruleset
/// >>> Ruleset(columns=6)
/// Ruleset('en-dodoi', columns=6)
/// >>> Ruleset(columns=6).quiet_limit
/// 240
#[pyclass(name = "Ruleset", module = "endodoi", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct PyRuleset(pub(super) Ruleset);

fn optional_name<T>(value: Option<&Bound<'_, PyAny>>, field: &str) -> PyResult<Option<T>>
where
    T: std::str::FromStr<Err = crate::ruleset::RulesetError>,
{
    value
        .map(|value| Ok(text(value, field)?.parse()?))
        .transpose()
}

#[pymethods]
impl PyRuleset {
    #[new]
    #[pyo3(
        signature = (variant=None, *, columns=None, seeds_per_pit=None, direction=None,
                     lone_capture=None, endless=None, lap_limit=None, quiet_limit=None),
        text_signature = "(variant='en-dodoi', *, columns=None, seeds_per_pit=None, \
                          direction=None, lone_capture=None, endless=None, lap_limit=None, \
                          quiet_limit=None)"
    )]
    #[allow(clippy::too_many_arguments)] // One for each field of the rules.
    fn new(
        variant: Option<&Bound<'_, PyAny>>,
        columns: Option<&Bound<'_, PyAny>>,
        seeds_per_pit: Option<&Bound<'_, PyAny>>,
        direction: Option<&Bound<'_, PyAny>>,
        lone_capture: Option<&Bound<'_, PyAny>>,
        endless: Option<&Bound<'_, PyAny>>,
        lap_limit: Option<&Bound<'_, PyAny>>,
        quiet_limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyRuleset> {
        let variant: Variant = match variant {
            Some(variant) => text(variant, "variant")?.parse()?,
            None => Variant::EnDodoi,
        };
        let fields = RulesetFields {
            variant: Some(variant),
            columns: optional_whole(columns, "columns")?,
            seeds_per_pit: optional_whole(seeds_per_pit, "seeds_per_pit")?,
            direction: optional_name(direction, "direction")?,
            lone_capture: optional_name(lone_capture, "lone_capture")?,
            endless: optional_name(endless, "endless")?,
            lap_limit: optional_whole(lap_limit, "lap_limit")?,
            quiet_limit: optional_whole(quiet_limit, "quiet_limit")?,
        };
        Ok(PyRuleset(Ruleset::new(variant, &fields)?))
    }

    /// Build a rule set from a dictionary of fields, as :meth:`to_dict` gives it.
    ///
    /// Absent fields and fields that are ``None`` get the variant's default.
    ///
    /// Raises
    /// ------
    /// RulesetError
    ///     If a key is no field, or as the constructor does.
    #[staticmethod]
    #[pyo3(signature = (fields, /))]
    fn from_dict(fields: &Bound<'_, PyAny>) -> PyResult<PyRuleset> {
        let dict = match fields.cast::<PyDict>() {
            Ok(dict) => dict.clone(),
            Err(_) => return Err(type_error("fields", fields, "a dictionary")),
        };
        for key in dict.keys() {
            if !FIELDS.iter().any(|field| key.eq(field).unwrap_or(false)) {
                return Err(unknown_key(&key));
            }
        }
        let given = |field| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(dict.get_item(field)?.filter(|value| !value.is_none()))
        };
        PyRuleset::new(
            given("variant")?.as_ref(),
            given("columns")?.as_ref(),
            given("seeds_per_pit")?.as_ref(),
            given("direction")?.as_ref(),
            given("lone_capture")?.as_ref(),
            given("endless")?.as_ref(),
            given("lap_limit")?.as_ref(),
            given("quiet_limit")?.as_ref(),
        )
    }

    /// Return all fields, resolved, as a dictionary of numbers and texts.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("variant", self.variant())?;
        dict.set_item("columns", self.columns())?;
        dict.set_item("seeds_per_pit", self.seeds_per_pit())?;
        dict.set_item("direction", self.direction())?;
        dict.set_item("lone_capture", self.lone_capture())?;
        dict.set_item("endless", self.endless())?;
        dict.set_item("lap_limit", self.lap_limit())?;
        dict.set_item("quiet_limit", self.quiet_limit())?;
        Ok(dict)
    }

    /// The variant's name.
    #[getter]
    fn variant(&self) -> &'static str {
        self.0.variant().id()
    }

    /// ``C``, pits in a row (B1).
    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Seeds in every pit at the start (B1).
    #[getter]
    fn seeds_per_pit(&self) -> u16 {
        self.0.seeds_per_pit()
    }

    /// Which way laps are sown (S5): ``"anticlockwise"`` or ``"parity"``.
    #[getter]
    fn direction(&self) -> &'static str {
        self.0.direction().name()
    }

    /// What happens to a lone capturing seed (C2): ``"stays"`` or ``"taken"``.
    #[getter]
    fn lone_capture(&self) -> &'static str {
        self.0.lone_capture().name()
    }

    /// What an endless sowing is (S6): ``"illegal"`` or ``"draw"``.
    #[getter]
    fn endless(&self) -> &'static str {
        self.0.endless().name()
    }

    /// Laps after which a sowing is endless (S6).
    #[getter]
    fn lap_limit(&self) -> u32 {
        self.0.lap_limit()
    }

    /// Plies without a capture that end the game (E3).
    #[getter]
    fn quiet_limit(&self) -> u16 {
        self.0.quiet_limit()
    }

    pub(super) fn __repr__(&self) -> String {
        let preset = self.0.variant().ruleset();
        let quiet_default =
            preset.quiet_limit() / preset.columns() as u16 * self.0.columns() as u16;
        let number = |field: &str, value: u32, default: u32| {
            (value != default).then(|| format!(", {field}={value}"))
        };
        let name = |field: &str, value: &str, default: &str| {
            (value != default).then(|| format!(", {field}='{value}'"))
        };
        let rules = &self.0;
        let fields = [
            number("columns", rules.columns() as u32, preset.columns() as u32),
            number(
                "seeds_per_pit",
                rules.seeds_per_pit().into(),
                preset.seeds_per_pit().into(),
            ),
            name("direction", self.direction(), preset.direction().name()),
            name(
                "lone_capture",
                self.lone_capture(),
                preset.lone_capture().name(),
            ),
            name("endless", self.endless(), preset.endless().name()),
            number("lap_limit", rules.lap_limit(), preset.lap_limit()),
            number(
                "quiet_limit",
                rules.quiet_limit().into(),
                quiet_default.into(),
            ),
        ];
        let given: String = fields.into_iter().flatten().collect();
        format!("Ruleset('{}'{given})", self.variant())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<super::Reduced<'py, (Bound<'py, PyDict>,)>> {
        let from_dict = py.get_type::<PyRuleset>().getattr("from_dict")?;
        Ok((from_dict, (self.to_dict(py)?,)))
    }
}

fn unknown_key(key: &Bound<'_, PyAny>) -> PyErr {
    let name = match key.cast::<PyString>() {
        Ok(name) => name.to_string(),
        Err(_) => key
            .repr()
            .map_or_else(|_| "?".to_owned(), |repr| repr.to_string()),
    };
    let message = format!(
        "{name} is no field of a rule set, expected one of {}",
        FIELDS.join(", ")
    );
    exception("RulesetError", &message, |fields| {
        fields.set("field", name)?.set_tuple("expected", FIELDS)
    })
}
