//! Detects the format of a file: by its first bytes for reading, by its extension for writing. The format of a folder
//! is given by its index file.

use super::archive::Archive;
use super::checkpoint::{self, Checkpoint, Options};
use super::contents::Contents;
use super::source::Source;
use super::{distributed, gguf, legacy, listing, npy, npz, safetensors, shards};
use std::path::Path;
use tensor::system::{Files, PathKind, System};
use tensor::{Result, bail};
use value::Value;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Checkpoint,
    Legacy,
    Safetensors,
    Npy,
    Npz,
    Gguf,
}

impl Format {
    /// Detects the format of a file by its contents.
    ///
    /// # Errors
    /// Fails with ValueError if it is unknown, and with RuntimeError for a damaged archive.
    fn of(source: &Source) -> Result<Format> {
        Ok(if source.is_archive() {
            let archive = Archive::open(source)?;
            if npz::is_one(&archive) { Format::Npz } else { Format::Checkpoint }
        } else if source.starts_with(npy::MAGIC) {
            Format::Npy
        } else if source.starts_with(gguf::MAGIC) {
            Format::Gguf
        } else if safetensors::is_one(source) {
            Format::Safetensors
        } else if legacy::is_one(source) {
            Format::Legacy
        } else {
            let name = source.name().unwrap_or("the file");
            bail!(ValueError, "{name} is not a checkpoint, safetensors, npy, npz or GGUF file")
        })
    }
}

/// Returns the contents of a file of any format, without its data.
///
/// # Errors
/// Fails with ValueError if the format is unknown, and with the errors of its reader.
pub fn contents(source: &Source) -> Result<Contents> {
    let of_checkpoint = |name| {
        let mut contents = Contents::new(source, name);
        listing::list(Checkpoint::describe(source)?, &mut contents)?;
        Ok(contents)
    };
    match Format::of(source)? {
        Format::Checkpoint => of_checkpoint("PyTorch checkpoint"),
        Format::Legacy => of_checkpoint("PyTorch checkpoint, from before 1.6"),
        Format::Safetensors => safetensors::contents(source),
        Format::Npy => npy::contents(source),
        Format::Npz => npz::contents(source),
        Format::Gguf => gguf::contents(source),
    }
}

/// Loads a file of any format.
///
/// # Errors
/// Fails with ValueError if the format is unknown, and with the errors of its reader.
pub fn load_any(source: &Source, mapped: bool) -> Result<Value> {
    match Format::of(source)? {
        Format::Checkpoint => checkpoint::load(source, &Options { mapped, with_arrays: true, ..Options::default() }),
        // Elements are not aligned in legacy files, so they are always copied.
        Format::Legacy => checkpoint::load(source, &Options { with_arrays: true, ..Options::default() }),
        Format::Safetensors => safetensors::load(source, mapped),
        Format::Npy => npy::load(source, mapped),
        Format::Npz => npz::load(source, mapped),
        Format::Gguf => gguf::load(source, mapped),
    }
}

/// A format for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Checkpoint,
    Safetensors,
    Npy,
    Npz,
}

impl Target {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Target::Checkpoint => "a checkpoint",
            Target::Safetensors => "safetensors",
            Target::Npy => "npy",
            Target::Npz => "npz",
        }
    }
}

/// Returns the format for a file's extension.
///
/// # Errors
/// Fails with ValueError for an unknown extension, and with NotImplementedError for a read-only format.
pub(crate) fn target(path: &str) -> Result<Target> {
    Ok(match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("pt" | "pth" | "bin" | "ckpt") => Target::Checkpoint,
        Some("safetensors") => Target::Safetensors,
        Some("npy") => Target::Npy,
        Some("npz") => Target::Npz,
        Some("gguf") => bail!(NotImplementedError, "{path}: GGUF is read here, not written"),
        _ => bail!(ValueError, "{path}: a name ends in .pt, .pth, .bin, .ckpt, .safetensors, .npy or .npz"),
    })
}

/// The input at a path.
pub enum Input {
    /// A file of any format.
    File(Source),
    /// The index of a model in several files.
    Shards(String),
    /// The folder of a checkpoint written by several processes.
    Distributed(String),
}

impl Input {
    /// Finds the kind of input at a path.
    ///
    /// # Errors
    /// The errors of [`Source::open`], and ValueError for a folder without tensors.
    pub fn at(path: &str) -> Result<Input> {
        let place = Path::new(path);
        if matches!(System::kind(place), Ok(PathKind::Folder)) {
            if System::kind(&place.join(distributed::METADATA)).is_ok() {
                return Ok(Input::Distributed(path.to_owned()));
            }
            return match shards::index_in(path)? {
                Some(index) => Ok(Input::Shards(index)),
                None => bail!(ValueError, "the folder {path} has no .metadata and no index of safetensors"),
            };
        }
        Ok(if path.ends_with(shards::ENDING) {
            Input::Shards(path.to_owned())
        } else {
            Input::File(Source::open(path)?)
        })
    }

    /// Loads the value.
    ///
    /// # Errors
    /// Fails with ValueError if the format is unknown, and with the errors of its reader.
    pub fn load(&self, mapped: bool) -> Result<Value> {
        match self {
            Input::File(source) => load_any(source, mapped),
            Input::Shards(index) => shards::load(index, mapped),
            Input::Distributed(folder) => distributed::load(folder, mapped),
        }
    }

    /// Returns the contents, without data.
    ///
    /// # Errors
    /// The errors of [`Input::load`].
    pub fn contents(&self) -> Result<Contents> {
        match self {
            Input::File(source) => contents(source),
            Input::Shards(index) => shards::contents(index),
            Input::Distributed(folder) => distributed::contents(folder),
        }
    }
}

/// Writes a value in the format given by the extension.
///
/// # Errors
/// The errors of [`target`], and the errors of the writer.
pub fn save_as(value: &Value, path: &str) -> Result<()> {
    match target(path)? {
        Target::Checkpoint => checkpoint::save(value, path, false),
        Target::Safetensors => safetensors::save(value, &Value::None, path),
        Target::Npy => npy::save(value, path),
        Target::Npz => npz::save(value, path),
    }
}
