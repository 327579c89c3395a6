//! Agent files: weights and what is known of them, in one safetensors file.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::features::{FEATURES, FEATURES_VERSION, GLOBALS};
use super::weights::{NamedTensor, NetworkShape, Weights, WeightsError};
use crate::ruleset::Ruleset;
use crate::whole_file::replace_whole;

/// The version of the agent file that this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// The key of the file's header under which everything but the tensors lies, as JSON.
pub(crate) const HEADER_KEY: &str = "endodoi";

const FORMAT: &str = "endodoi-agent";

/// The way an agent was trained, which decides how it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    /// Policy and value for Gumbel tree search.
    Gumbel,
    /// Value alone, for alpha-beta.
    Value,
}

impl Learner {
    /// Returns the name, `gumbel` or `value`.
    pub const fn name(self) -> &'static str {
        match self {
            Learner::Gumbel => "gumbel",
            Learner::Value => "value",
        }
    }
}

impl FromStr for Learner {
    type Err = String;

    fn from_str(text: &str) -> Result<Learner, String> {
        [Learner::Gumbel, Learner::Value]
            .into_iter()
            .find(|learner| learner.name() == text)
            .ok_or_else(|| format!("learner is {text:?}, expected gumbel or value"))
    }
}

/// What an agent file says of its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentMetadata {
    /// How the agent was trained.
    pub learner: Learner,
    /// The rules it was trained on. A Gumbel agent may play on any other size.
    pub ruleset: Ruleset,
    /// The widths of its network.
    pub network: NetworkShape,
    /// Optimiser steps taken.
    pub step: u64,
    /// Games of self-play finished.
    pub games: u64,
    /// Simulations of a Gumbel agent's move unless the player's specification says otherwise;
    /// 0 for a value agent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub simulations: u32,
    /// Plies that a value agent looks ahead unless the player's specification says otherwise; 0
    /// for a Gumbel agent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u32,
}

/// For serde, which wants a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// An agent file's contents.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFile {
    /// What is known of the weights.
    pub metadata: AgentMetadata,
    /// The weights.
    pub weights: Weights,
}

/// Why an agent file is refused.
#[derive(Debug, Error)]
pub enum AgentFileError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is no safetensors file, or only a part of one.
    #[error("not a complete safetensors file ({0})")]
    NotSafetensors(String),
    /// It is a safetensors file of something else.
    #[error("a safetensors file without the metadata of an agent ({0})")]
    NotAgent(String),
    /// It was written in another format.
    #[error("format version {got}, this program reads {FORMAT_VERSION}")]
    FormatVersion {
        /// The version found.
        got: u32,
    },
    /// Its network sees positions in another way.
    #[error(
        "features version {version} with {features} and {globals} numbers, this program has \
         version {} with {} and {}", expected.version, expected.pit, expected.board
    )]
    Features {
        /// The version found.
        version: u32,
        /// Features of a pit found.
        features: usize,
        /// Features of the board found.
        globals: usize,
        /// What this program has for the learner.
        expected: Features,
    },
    /// Its network is for another learner or board than its rules.
    #[error("the network does not fit learner {learner} on {columns} columns")]
    Network {
        /// The learner.
        learner: &'static str,
        /// The columns of the rules.
        columns: usize,
    },
    /// Its tensors do not make the network it describes.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// The part of the header that is read before anything else, whatever the version.
#[derive(Deserialize)]
struct Envelope {
    format: String,
    format_version: u32,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    format_version: u32,
    features: Features,
    agent: AgentMetadata,
}

/// How a network sees a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Raised when the same position is shown in another way.
    pub version: u32,
    /// Numbers that show a pit.
    pub pit: usize,
    /// Numbers that show the whole board.
    pub board: usize,
}

impl Features {
    /// Returns what the networks of a learner see.
    pub const fn of(learner: Learner) -> Features {
        match learner {
            Learner::Gumbel => Features {
                version: FEATURES_VERSION,
                pit: FEATURES,
                board: GLOBALS,
            },
            // The seeds of each pit.
            Learner::Value => Features {
                version: 1,
                pit: 1,
                board: 0,
            },
        }
    }
}

impl AgentFile {
    /// Reads an agent file and checks everything in it.
    ///
    /// # Errors
    /// [`AgentFileError`] says what is wrong with the file.
    pub fn read(path: &Path) -> Result<AgentFile, AgentFileError> {
        AgentFile::from_bytes(&fs::read(path)?)
    }

    /// Reads the bytes of an agent file.
    ///
    /// # Errors
    /// [`AgentFileError`] says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<AgentFile, AgentFileError> {
        let (tensors, json) = read_tensors(bytes)?;
        let header = parse_header(&json)?;
        let weights = Weights::new(header.agent.network, tensors)?;
        Ok(AgentFile {
            metadata: header.agent,
            weights,
        })
    }

    /// Returns the bytes of the file; equal agents give equal bytes.
    ///
    /// # Errors
    /// [`AgentFileError::NotSafetensors`] when the contents cannot be serialised.
    pub fn to_bytes(&self) -> Result<Vec<u8>, AgentFileError> {
        let header = Header {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            features: Features::of(self.metadata.learner),
            agent: self.metadata.clone(),
        };
        let json = serde_json::to_string(&header)
            .map_err(|error| AgentFileError::NotSafetensors(error.to_string()))?;
        let tensors = self.weights.tensors().iter();
        write_tensors(
            tensors.map(|t| (t.name.as_str(), &*t.shape, &*t.data)),
            json,
        )
    }

    /// Writes the file under a temporary name beside `path` and renames it: there is an old file
    /// or a new one at every moment, never a part of one.
    ///
    /// # Errors
    /// [`AgentFileError::Io`] when the folder cannot be written to; an older file stays.
    pub fn write(&self, path: &Path) -> Result<(), AgentFileError> {
        Ok(replace_file(path, &self.to_bytes()?)?)
    }
}

fn parse_header(json: &str) -> Result<Header, AgentFileError> {
    let not_agent = |error: serde_json::Error| AgentFileError::NotAgent(error.to_string());
    let envelope: Envelope = serde_json::from_str(json).map_err(not_agent)?;
    if envelope.format != FORMAT {
        let message = format!("format is {:?}", envelope.format);
        return Err(AgentFileError::NotAgent(message));
    }
    if envelope.format_version != FORMAT_VERSION {
        return Err(AgentFileError::FormatVersion {
            got: envelope.format_version,
        });
    }
    let header: Header = serde_json::from_str(json).map_err(not_agent)?;
    let features = &header.features;
    let expected = Features::of(header.agent.learner);
    if *features != expected {
        return Err(AgentFileError::Features {
            version: features.version,
            features: features.pit,
            globals: features.board,
            expected,
        });
    }
    let columns = header.agent.ruleset.columns();
    let fits = match (header.agent.learner, header.agent.network) {
        (Learner::Gumbel, NetworkShape::Gumbel(_)) => true,
        (Learner::Value, NetworkShape::Value(sizes)) => sizes.columns == columns,
        _ => false,
    };
    if !fits {
        let learner = header.agent.learner.name();
        return Err(AgentFileError::Network { learner, columns });
    }
    Ok(header)
}

/// Reads all tensors of a safetensors file, sorted by name, and its header's JSON.
///
/// # Errors
/// [`AgentFileError`] when the bytes are no safetensors file of ours.
fn read_tensors(bytes: &[u8]) -> Result<(Vec<NamedTensor>, String), AgentFileError> {
    let broken = |error: safetensors::SafeTensorError| {
        AgentFileError::NotSafetensors(format!("{error}, {} bytes", bytes.len()))
    };
    let (_, header): (usize, Metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let file = SafeTensors::deserialize(bytes).map_err(broken)?;
    let json = header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(HEADER_KEY))
        .ok_or_else(|| AgentFileError::NotAgent(format!("no key {HEADER_KEY:?}")))?;
    let mut tensors = Vec::with_capacity(file.len());
    for (name, view) in file.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(AgentFileError::Weights(WeightsError::Type {
                name: name.to_owned(),
                got: format!("{:?}", view.dtype()),
            }));
        }
        let numbers = view.data().chunks_exact(4);
        tensors.push(NamedTensor {
            name: name.to_owned(),
            shape: view.shape().to_vec(),
            data: numbers
                .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect(),
        });
    }
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((tensors, json.clone()))
}

/// Serialises tensors, given as (name, shape, numbers), under a header of JSON.
///
/// # Errors
/// [`AgentFileError::NotSafetensors`] when a shape does not match its numbers.
fn write_tensors<'a>(
    tensors: impl Iterator<Item = (&'a str, &'a [usize], &'a [f32])>,
    json: String,
) -> Result<Vec<u8>, AgentFileError> {
    let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = tensors
        .map(|(name, shape, data)| {
            let bytes = data.iter().flat_map(|number| number.to_le_bytes());
            (name.to_owned(), shape.to_vec(), bytes.collect())
        })
        .collect();
    let broken =
        |error: safetensors::SafeTensorError| AgentFileError::NotSafetensors(error.to_string());
    let views = bytes
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((
                name.as_str(),
                TensorView::new(Dtype::F32, shape.clone(), bytes)?,
            ))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    let header = HashMap::from([(HEADER_KEY.to_owned(), json)]);
    safetensors::serialize(views, Some(header)).map_err(broken)
}

/// Writes a file under a temporary name beside `path`, brings it to the disk and renames it.
///
/// # Errors
/// Those of the file system; the temporary file is removed and an older file stays.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let write = |temporary: &Path| {
        let mut file = fs::File::create(temporary)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    replace_whole(path, write, |error| error)
}
