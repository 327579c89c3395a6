//! The rule set: sizes and options, checked once and immutable afterwards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::pit::MAX_COLUMNS;

/// A named preset of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// En Dodoi: 2x8, four seeds a pit; traditional boards have 6 to 10 columns.
    EnDodoi,
    /// En Gehé: 2x50, four seeds a pit; traditional boards have 40 to 50 columns.
    EnGehe,
    /// Cross-Endodoi (W. D. Troyka, 2002): 2x6, three seeds a pit, sown by parity (S5).
    CrossEndodoi,
}

impl Variant {
    /// All variants, in the order of the rules.
    pub const ALL: [Variant; 3] = [Variant::EnDodoi, Variant::EnGehe, Variant::CrossEndodoi];

    /// Returns the identifier, `"en-dodoi"`, `"en-gehe"` or `"cross-endodoi"`.
    pub const fn id(self) -> &'static str {
        match self {
            Variant::EnDodoi => "en-dodoi",
            Variant::EnGehe => "en-gehe",
            Variant::CrossEndodoi => "cross-endodoi",
        }
    }

    /// Returns the rule set with every field at this variant's default.
    pub const fn ruleset(self) -> Ruleset {
        let (columns, seeds_per_pit, direction) = match self {
            Variant::EnDodoi => (8, 4, Direction::Anticlockwise),
            Variant::EnGehe => (50, 4, Direction::Anticlockwise),
            Variant::CrossEndodoi => (6, 3, Direction::Parity),
        };
        Ruleset {
            variant: self,
            columns,
            seeds_per_pit,
            direction,
            lone_capture: LoneCapture::Stays,
            endless: Endless::Illegal,
            lap_limit: DEFAULT_LAP_LIMIT,
            quiet_limit: QUIET_PLIES_PER_COLUMN * columns as u16,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Declares an option of the rules: an enum with the names users type.
macro_rules! option {
    ($(#[$doc:meta])* $name:ident, $field:literal, $($(#[$vdoc:meta])* $variant:ident = $text:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Returns the name that users type.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl FromStr for $name {
            type Err = RulesetError;

            fn from_str(text: &str) -> Result<Self, RulesetError> {
                match text {
                    $($text => Ok($name::$variant),)+
                    _ => Err(RulesetError::UnknownName {
                        field: $field,
                        value: text.to_owned(),
                        expected: &[$($text),+],
                    }),
                }
            }
        }
    };
}

option! {
    /// Which way a lap is sown.
    Direction, "direction",
    /// Every lap by increasing ring index.
    Anticlockwise = "anticlockwise",
    /// A lap of an odd number of seeds clockwise, of an even number anticlockwise (S5).
    Parity = "parity"
}

option! {
    /// What happens to the capturing seed when the opposite pit is empty (C2).
    LoneCapture, "lone_capture",
    /// Nothing is taken.
    Stays = "stays",
    /// The capturing seed alone is taken.
    Taken = "taken"
}

option! {
    /// What an endless sowing is (S6).
    Endless, "endless",
    /// It is not a legal move.
    Illegal = "illegal",
    /// It is legal and ends the game as a draw.
    Draw = "draw"
}

impl FromStr for Variant {
    type Err = RulesetError;

    fn from_str(text: &str) -> Result<Variant, RulesetError> {
        Variant::ALL
            .into_iter()
            .find(|variant| variant.id() == text)
            .ok_or_else(|| RulesetError::UnknownName {
                field: "variant",
                value: text.to_owned(),
                expected: &["en-dodoi", "en-gehe", "cross-endodoi"],
            })
    }
}

/// The default of `lap_limit` (S6).
pub const DEFAULT_LAP_LIMIT: u32 = 10_000;

/// The default of `quiet_limit` is this many plies for every column (E3).
const QUIET_PLIES_PER_COLUMN: u16 = 40;

/// The rules of one game, complete and valid.
///
/// ```
/// use endodoi::{Ruleset, RulesetFields, Variant};
/// let fields = RulesetFields { columns: Some(6), ..RulesetFields::default() };
/// let ruleset = Ruleset::new(Variant::EnDodoi, &fields)?;
/// assert_eq!((ruleset.columns(), ruleset.seeds_per_pit(), ruleset.quiet_limit()), (6, 4, 240));
/// # Ok::<(), endodoi::RulesetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RulesetFields", into = "RulesetFields")]
pub struct Ruleset {
    variant: Variant,
    columns: u8,
    seeds_per_pit: u8,
    direction: Direction,
    lone_capture: LoneCapture,
    endless: Endless,
    lap_limit: u32,
    quiet_limit: u16,
}

/// The fields of a rule set as a user gives them; `None` stands for the variant's default.
///
/// Unknown keys are refused when it is read from JSON or TOML.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetFields {
    /// The preset that gives the defaults; En Dodoi where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Pits in a row, 1 to 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<i64>,
    /// Seeds in every pit at the start, 1 to 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds_per_pit: Option<i64>,
    /// Which way laps are sown (S5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What happens to a capturing seed opposite to an empty pit (C2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_capture: Option<LoneCapture>,
    /// What an endless sowing is (S6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endless: Option<Endless>,
    /// Laps after which a sowing is endless, 1 to 1,000,000 (S6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lap_limit: Option<i64>,
    /// Plies without a capture that end the game, 1 to 32,767 (E3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_limit: Option<i64>,
}

/// Why a rule set is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesetError {
    /// A number outside its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field's name.
        field: &'static str,
        /// The value given.
        value: i64,
        /// The smallest value allowed.
        low: i64,
        /// The largest value allowed.
        high: i64,
    },
    /// A name that is none of the field's names.
    #[error("{field} is {value:?}, expected one of {}", expected.join(", "))]
    UnknownName {
        /// The field's name.
        field: &'static str,
        /// The text given.
        value: String,
        /// The names allowed.
        expected: &'static [&'static str],
    },
}

fn in_range(
    field: &'static str,
    value: Option<i64>,
    default: i64,
    high: i64,
) -> Result<i64, RulesetError> {
    let value = value.unwrap_or(default);
    if (1..=high).contains(&value) {
        Ok(value)
    } else {
        Err(RulesetError::OutOfRange {
            field,
            value,
            low: 1,
            high,
        })
    }
}

impl Ruleset {
    /// Builds a rule set from a variant and the fields that differ from its defaults.
    ///
    /// The variant given wins over `fields.variant`. The default of `quiet_limit` follows the
    /// columns chosen (40 plies a column, E3).
    ///
    /// # Errors
    /// [`RulesetError::OutOfRange`] names the first field outside its range.
    pub fn new(variant: Variant, fields: &RulesetFields) -> Result<Ruleset, RulesetError> {
        let preset = variant.ruleset();
        let columns = in_range(
            "columns",
            fields.columns,
            i64::from(preset.columns),
            MAX_COLUMNS as i64,
        )?;
        let seeds = in_range(
            "seeds_per_pit",
            fields.seeds_per_pit,
            preset.seeds_per_pit.into(),
            64,
        )?;
        let laps = in_range(
            "lap_limit",
            fields.lap_limit,
            preset.lap_limit.into(),
            1_000_000,
        )?;
        let quiet_default = i64::from(QUIET_PLIES_PER_COLUMN) * columns;
        let quiet = in_range("quiet_limit", fields.quiet_limit, quiet_default, 32_767)?;
        Ok(Ruleset {
            variant,
            columns: columns as u8,
            seeds_per_pit: seeds as u8,
            direction: fields.direction.unwrap_or(preset.direction),
            lone_capture: fields.lone_capture.unwrap_or(preset.lone_capture),
            endless: fields.endless.unwrap_or(preset.endless),
            lap_limit: laps as u32,
            quiet_limit: quiet as u16,
        })
    }

    /// Returns the preset this rule set was made from.
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Returns `C`, the pits in a row, 1 to 64 (B1).
    pub const fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Returns `N = 2C`, the pits on the ring (B1).
    pub const fn pits(&self) -> usize {
        2 * self.columns as usize
    }

    /// Returns `k`, the seeds in every pit at the start, 1 to 64 (B1).
    pub const fn seeds_per_pit(&self) -> u16 {
        self.seeds_per_pit as u16
    }

    /// Returns which way laps are sown (S5).
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns what happens to a capturing seed opposite to an empty pit (C2).
    pub const fn lone_capture(&self) -> LoneCapture {
        self.lone_capture
    }

    /// Returns what an endless sowing is (S6).
    pub const fn endless(&self) -> Endless {
        self.endless
    }

    /// Returns the laps after which a sowing is endless (S6).
    pub const fn lap_limit(&self) -> u32 {
        self.lap_limit
    }

    /// Returns the plies without a capture that end the game (E3).
    pub const fn quiet_limit(&self) -> u16 {
        self.quiet_limit
    }
}

impl TryFrom<RulesetFields> for Ruleset {
    type Error = RulesetError;

    fn try_from(fields: RulesetFields) -> Result<Ruleset, RulesetError> {
        Ruleset::new(fields.variant.unwrap_or(Variant::EnDodoi), &fields)
    }
}

impl From<Ruleset> for RulesetFields {
    fn from(ruleset: Ruleset) -> RulesetFields {
        RulesetFields {
            variant: Some(ruleset.variant),
            columns: Some(ruleset.columns.into()),
            seeds_per_pit: Some(ruleset.seeds_per_pit.into()),
            direction: Some(ruleset.direction),
            lone_capture: Some(ruleset.lone_capture),
            endless: Some(ruleset.endless),
            lap_limit: Some(ruleset.lap_limit.into()),
            quiet_limit: Some(ruleset.quiet_limit.into()),
        }
    }
}

impl fmt::Display for Ruleset {
    /// Writes the variant and size, as in `en-dodoi 2x6 k=4`, then each option off its default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} 2x{} k={}",
            self.variant, self.columns, self.seeds_per_pit
        )?;
        let preset = self.variant.ruleset();
        if self.direction != preset.direction {
            write!(f, " direction={}", self.direction.name())?;
        }
        if self.lone_capture != preset.lone_capture {
            write!(f, " lone_capture={}", self.lone_capture.name())?;
        }
        if self.endless != preset.endless {
            write!(f, " endless={}", self.endless.name())?;
        }
        if self.lap_limit != preset.lap_limit {
            write!(f, " lap_limit={}", self.lap_limit)?;
        }
        if self.quiet_limit != QUIET_PLIES_PER_COLUMN * u16::from(self.columns) {
            write!(f, " quiet_limit={}", self.quiet_limit)?;
        }
        Ok(())
    }
}
