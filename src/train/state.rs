//! State of the parts of a run: arrays by name, in one safetensors file with a header in JSON.
//!
//! Every part puts its arrays under names of its own and takes them out again; a file in which an
//! array is missing, of another type or shape, or left over is refused by the array's name.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use thiserror::Error;

use crate::policy::agent_file::HEADER_KEY;
use crate::policy::weights::{NamedTensor, WeightsError};

/// Why a state is refused.
#[derive(Debug, Error)]
pub enum StateError {
    /// The file is no safetensors file, or only a part of one.
    #[error("not a complete safetensors file ({message}, {bytes} bytes)")]
    NotSafetensors {
        /// What the reader says.
        message: String,
        /// Length of the file.
        bytes: usize,
    },
    /// The file holds something else.
    #[error("no header under the key {HEADER_KEY:?}")]
    NoHeader,
    /// The arrays are not those that were written.
    #[error("the arrays have checksum {got:08x}, expected {expected:08x}: the file is damaged")]
    Checksum {
        /// CRC-32 of the arrays.
        got: u32,
        /// CRC-32 that the header names.
        expected: u32,
    },
    /// Another kind of file, or another version of it.
    #[error("{got}, this program reads {expected}")]
    Format {
        /// Format and version found.
        got: String,
        /// Format and version needed.
        expected: String,
    },
    /// A file of another run.
    #[error("its {field} is {got}, expected {expected}")]
    Foreign {
        /// What differs.
        field: &'static str,
        /// The file's.
        got: String,
        /// That of the run, or of the file's name.
        expected: String,
    },
    /// An array is not there.
    #[error("tensor {name} is missing")]
    Missing {
        /// The array's name.
        name: String,
    },
    /// An array that no part takes.
    #[error("tensor {name} is unknown")]
    Unknown {
        /// The array's name.
        name: String,
    },
    /// An array of another type.
    #[error("tensor {name} holds {got:?}, expected {expected:?}")]
    Type {
        /// The array's name.
        name: String,
        /// The type found.
        got: Dtype,
        /// The type needed.
        expected: Dtype,
    },
    /// An array of another shape.
    #[error("tensor {name} has shape {got:?}, expected {expected}")]
    Shape {
        /// The array's name.
        name: String,
        /// The shape found.
        got: Vec<usize>,
        /// What would be accepted.
        expected: String,
    },
    /// A row of an array that means nothing.
    #[error("tensor {name}, row {row}: {message}")]
    Row {
        /// The array's name.
        name: String,
        /// The row.
        row: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Weights that do not make the network.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Something that JSON cannot hold.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// A number that arrays are made of.
pub trait Number: bytemuck::Pod {
    /// Its type in a file.
    const TYPE: Dtype;
}

impl Number for f32 {
    const TYPE: Dtype = Dtype::F32;
}

impl Number for i16 {
    const TYPE: Dtype = Dtype::I16;
}

impl Number for u8 {
    const TYPE: Dtype = Dtype::U8;
}

impl Number for u32 {
    const TYPE: Dtype = Dtype::U32;
}

impl Number for u64 {
    const TYPE: Dtype = Dtype::U64;
}

/// Arrays by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<'a> {
    arrays: BTreeMap<String, Array<'a>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Array<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    /// Numbers of little-endian bytes.
    bytes: Cow<'a, [u8]>,
}

impl<'a> State<'a> {
    /// Puts an array of rows, each of the shape `row`, without copying it.
    pub fn put<T: Number>(&mut self, name: impl Into<String>, row: &[usize], numbers: &'a [T]) {
        self.insert::<T>(name.into(), row, numbers.len(), little_endian(numbers));
    }

    /// Puts an array of rows, each of the shape `row`, that nobody else keeps.
    pub fn put_owned<T: Number>(&mut self, name: impl Into<String>, row: &[usize], numbers: &[T]) {
        let bytes = Cow::Owned(little_endian(numbers).into_owned());
        self.insert::<T>(name.into(), row, numbers.len(), bytes);
    }

    /// Puts tensors, each under the prefix and its own name.
    pub fn put_tensors(&mut self, prefix: &str, tensors: &'a [NamedTensor]) {
        for tensor in tensors {
            let row = tensor.shape.get(1..).unwrap_or(&[]);
            self.put(format!("{prefix}{}", tensor.name), row, &tensor.data);
        }
    }

    fn insert<T: Number>(
        &mut self,
        name: String,
        row: &[usize],
        numbers: usize,
        bytes: Cow<'a, [u8]>,
    ) {
        let width: usize = row.iter().product();
        let rows = numbers / width.max(1);
        let shape = [&[rows], row].concat();
        let array = Array {
            dtype: T::TYPE,
            shape,
            bytes,
        };
        self.arrays.insert(name, array);
    }

    /// Tells whether an array of this name is there.
    pub fn contains(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Takes out an array of rows, each of the shape `row`; there may be any number of rows.
    ///
    /// # Errors
    /// [`StateError`] when it is missing or of another type or shape.
    pub fn take<T: Number>(&mut self, name: &str, row: &[usize]) -> Result<Vec<T>, StateError> {
        let array = self.arrays.remove(name);
        let array = array.ok_or_else(|| StateError::Missing {
            name: name.to_owned(),
        })?;
        if array.shape.get(1..) != Some(row) {
            return Err(StateError::Shape {
                name: name.to_owned(),
                got: array.shape,
                expected: format!("rows of {row:?}"),
            });
        }
        array.numbers(name)
    }

    /// Takes out an array of `rows` rows, each of the shape `row`.
    ///
    /// # Errors
    /// [`StateError`] when it is missing or of another type or shape.
    pub fn take_rows<T: Number>(
        &mut self,
        name: &str,
        rows: usize,
        row: &[usize],
    ) -> Result<Vec<T>, StateError> {
        let numbers = self.take(name, row)?;
        let width: usize = row.iter().product();
        if numbers.len() == rows * width {
            return Ok(numbers);
        }
        Err(StateError::Shape {
            name: name.to_owned(),
            got: [&[numbers.len() / width.max(1)], row].concat(),
            expected: format!("{:?}", [&[rows], row].concat()),
        })
    }

    /// Takes out all tensors under a prefix, in the order of their names.
    ///
    /// # Errors
    /// [`StateError::Type`] of an array that is no tensor of `f32`.
    pub fn take_tensors(&mut self, prefix: &str) -> Result<Vec<NamedTensor>, StateError> {
        let of_prefix = |name: &String| name.starts_with(prefix);
        let names: Vec<String> = self
            .arrays
            .keys()
            .filter(|n| of_prefix(n))
            .cloned()
            .collect();
        let mut tensors = Vec::with_capacity(names.len());
        for name in names {
            let Some(array) = self.arrays.remove(&name) else {
                continue;
            };
            tensors.push(NamedTensor {
                shape: array.shape.clone(),
                data: array.numbers(&name)?,
                name: name[prefix.len()..].to_owned(),
            });
        }
        Ok(tensors)
    }

    /// Drops all arrays under a prefix.
    pub fn discard(&mut self, prefix: &str) {
        self.arrays.retain(|name, _| !name.starts_with(prefix));
    }

    /// Checks that every array has been taken out.
    ///
    /// # Errors
    /// [`StateError::Unknown`] names one that has not.
    pub fn finish(self) -> Result<(), StateError> {
        match self.arrays.into_keys().next() {
            Some(name) => Err(StateError::Unknown { name }),
            None => Ok(()),
        }
    }

    /// Returns the CRC-32 of all names and arrays.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for (name, array) in &self.arrays {
            hasher.update(name.as_bytes());
            hasher.update(&array.bytes);
        }
        hasher.finalize()
    }

    /// Returns the bytes of a file with these arrays; equal states give equal bytes.
    ///
    /// # Errors
    /// [`StateError::NotSafetensors`] when an array does not fill whole rows.
    pub fn to_bytes(&self, header: String) -> Result<Vec<u8>, StateError> {
        let broken = |error| not_safetensors(&error, 0);
        let views = self
            .arrays
            .iter()
            .map(|(name, array)| {
                let view = TensorView::new(array.dtype, array.shape.clone(), &array.bytes)?;
                Ok((name.as_str(), view))
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(broken)?;
        let header = HashMap::from([(HEADER_KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(header)).map_err(broken)
    }

    /// Reads the arrays of a file, which stay where they are, and its header.
    ///
    /// # Errors
    /// [`StateError`] when the bytes are no such file.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<(State<'a>, String), StateError> {
        let broken = |error| not_safetensors(&error, bytes.len());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        let entries = metadata.metadata().as_ref();
        let header = entries.and_then(|entries| entries.get(HEADER_KEY));
        let header = header.ok_or(StateError::NoHeader)?.clone();
        let arrays = file.iter().map(|(name, view)| {
            let array = Array {
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                bytes: Cow::Borrowed(view.data()),
            };
            (name.to_owned(), array)
        });
        let arrays = arrays.collect();
        Ok((State { arrays }, header))
    }
}

impl Array<'_> {
    fn numbers<T: Number>(&self, name: &str) -> Result<Vec<T>, StateError> {
        if self.dtype != T::TYPE {
            return Err(StateError::Type {
                name: name.to_owned(),
                got: self.dtype,
                expected: T::TYPE,
            });
        }
        let bytes = swapped_on_big_endian::<T>(&self.bytes);
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

fn little_endian<T: Number>(numbers: &[T]) -> Cow<'_, [u8]> {
    swapped_on_big_endian::<T>(bytemuck::cast_slice(numbers))
}

fn swapped_on_big_endian<T: Number>(bytes: &[u8]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let numbers = bytes.chunks(size_of::<T>());
    Cow::Owned(
        numbers
            .flat_map(|number| number.iter().rev().copied())
            .collect(),
    )
}

fn not_safetensors(error: &SafeTensorError, bytes: usize) -> StateError {
    StateError::NotSafetensors {
        message: error.to_string(),
        bytes,
    }
}
