//! An open safetensors file, whose tensors are made when they are asked for: what `safetensors.safe_open` reads.

use super::safetensors::{Header, TensorHeader, dtype_for};
use super::source::Source;
use std::collections::BTreeMap;
use tensor::{Dims, Error, ErrorKind, Result};
use value::Value;

/// A file whose header has been read. Its tensors lie on the file.
pub struct TensorFile {
    source: Source,
    tensors: Vec<TensorHeader>,
    metadata: Option<BTreeMap<String, String>>,
}

/// The header's entry of a tensor.
pub struct TensorEntry {
    pub name: String,
    /// The dtype as the format spells it: `F32`.
    pub dtype: String,
    pub sizes: Dims,
}

impl TensorFile {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// Fails with SafetensorError if it is invalid.
    pub fn new(source: &Source) -> Result<TensorFile> {
        let header = Header::of(source)?;
        Ok(TensorFile { source: source.clone(), tensors: header.tensors()?, metadata: header.texts() })
    }

    /// Returns the text metadata in alphabetical order. `None` if the header does not have any.
    pub fn metadata(&self) -> Option<&BTreeMap<String, String>> {
        self.metadata.as_ref()
    }

    /// Returns the tensors' entries, in the order of their bytes.
    pub fn entries(&self) -> Vec<TensorEntry> {
        let entry = |tensor: &TensorHeader| TensorEntry {
            name: tensor.name.clone(),
            dtype: dtype_for(tensor.elements).map(|dtype| format!("{dtype:?}")).unwrap_or_default(),
            sizes: tensor.layout.sizes.clone(),
        };
        self.tensors.iter().map(entry).collect()
    }

    /// Returns a tensor on the file, with a storage of its own.
    ///
    /// # Errors
    /// Fails with SafetensorError if the file does not contain the name.
    pub fn tensor(&self, name: &str) -> Result<Value> {
        let found = self.tensors.iter().find(|tensor| tensor.name == name);
        let missing = || Error::new(ErrorKind::SafetensorError, format!("File does not contain tensor {name}"));
        found.ok_or_else(missing)?.clone().tensor(&self.source, true, None)
    }
}
