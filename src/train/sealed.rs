//! Sealed files: arrays with a header that names format, version and checksum.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::state::{State, StateError};
use crate::policy::features::FEATURES_VERSION;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// The version that is written.
    pub version: u32,
    /// The oldest version that is read.
    pub oldest: u32,
}

/// What every header begins with; it is read first, so that a newer version is refused as such.
#[derive(Serialize, Deserialize)]
struct Envelope {
    format: String,
    format_version: u32,
    features_version: u32,
    /// CRC-32 of the arrays.
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
struct Header<T> {
    #[serde(flatten)]
    envelope: Envelope,
    about: T,
}

impl Format {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// [`StateError::Json`] when the header cannot be written.
    pub fn seal<T: Serialize>(&self, about: &T, state: &State<'_>) -> Result<Vec<u8>, StateError> {
        let envelope = Envelope {
            format: self.name.to_owned(),
            format_version: self.version,
            features_version: FEATURES_VERSION,
            checksum: state.checksum(),
        };
        state.to_bytes(serde_json::to_string(&Header { envelope, about })?)
    }

    /// Reads the header and the arrays of a file.
    ///
    /// # Errors
    /// [`StateError`] when the file is damaged, of another kind or version.
    pub fn open<'a, T: DeserializeOwned>(
        &self,
        bytes: &'a [u8],
    ) -> Result<(T, State<'a>), StateError> {
        let (state, json) = State::from_bytes(bytes)?;
        let envelope: Envelope = serde_json::from_str(&json)?;
        let named = |name: &str, version, features| {
            format!("{name} version {version} with features version {features}")
        };
        let version = envelope.format_version;
        if envelope.format != self.name
            || !(self.oldest..=self.version).contains(&version)
            || envelope.features_version != FEATURES_VERSION
        {
            return Err(StateError::Format {
                got: named(&envelope.format, version, envelope.features_version),
                expected: named(self.name, self.version, FEATURES_VERSION),
            });
        }
        let header: Header<T> = serde_json::from_str(&json)?;
        let got = state.checksum();
        if got != envelope.checksum {
            return Err(StateError::Checksum {
                got,
                expected: envelope.checksum,
            });
        }
        Ok((header.about, state))
    }
}
