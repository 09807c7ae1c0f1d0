//! Detects the format of a file: by its first bytes for reading, by its extension for writing. The format of a folder
//! is given by the files in it.

use super::archive::Archive;
use super::checkpoint::{self, Attach, Checkpoint, Location, Options, SaveOptions};
use super::contents::Contents;
use super::listing::Choose;
use super::names::Leaf;
use super::pickle::Mode;
use super::source::Source;
use super::{distributed, first_archives, foreign, gguf, legacy, listing, npy, npz, safetensors, shards};
use std::path::Path;
use tensor::system::{Files, PathKind, System};
use tensor::{Result, Storage, bail};
use value::Value;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Checkpoint,
    Legacy,
    /// A tar archive of PyTorch's first versions.
    FirstArchive,
    /// A pickle without more around it.
    Pickle,
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
            let archive = Archive::open(source).map_err(|error| foreign::cut_off(source, error))?;
            match npz::is_one(&archive) {
                true => Format::Npz,
                false if checkpoint::is_one(&archive) => Format::Checkpoint,
                false => return Err(foreign::archive(source, archive.names())),
            }
        } else if source.starts_with(npz::EMPTY) {
            Format::Npz
        } else if source.starts_with(npy::MAGIC) {
            Format::Npy
        } else if source.starts_with(gguf::MAGIC) {
            Format::Gguf
        } else if safetensors::is_one(source) {
            Format::Safetensors
        } else if legacy::is_one(source) {
            Format::Legacy
        } else if first_archives::is_one(source)? {
            Format::FirstArchive
        } else if is_pickle(source) {
            Format::Pickle
        } else {
            return Err(foreign::refused(source));
        })
    }

    /// Returns the name of a kind of checkpoint. `None` for the other formats.
    fn checkpoint(self) -> Option<&'static str> {
        Some(match self {
            Format::Checkpoint => "PyTorch checkpoint",
            Format::Legacy => "PyTorch checkpoint, from before 1.6",
            Format::FirstArchive => "PyTorch checkpoint, from before 0.4",
            Format::Pickle => "pickle",
            Format::Safetensors | Format::Npy | Format::Npz | Format::Gguf => return None,
        })
    }
}

/// Returns whether a file is a pickle: it begins with the number of a protocol, or is a whole pickle of those without.
fn is_pickle(source: &Source) -> bool {
    let byte = |at: usize| source.bytes(at, 1).and_then(|byte| byte.first().copied());
    let is_text = || {
        let (first, last) = (byte(0), source.len().checked_sub(1).and_then(byte));
        first.is_some_and(|first| b"(]}cdlSVIFL".contains(&first)) && last == Some(b'.')
    };
    source.bytes(0, 2).is_some_and(|head| matches!(*head, [0x80, 2..=5]))
        || is_text() && legacy::open_bare(source, Mode::Report).is_ok()
}

/// Returns the contents of a file of any format, without its data.
///
/// # Errors
/// Fails with ValueError if the format is unknown, and with the errors of its reader.
pub fn contents(source: &Source) -> Result<Contents> {
    let format = Format::of(source)?;
    if let Some(name) = format.checkpoint() {
        let mut contents = Contents::new(source, name);
        listing::list(Checkpoint::read(source, Mode::Report)?, &mut contents)?;
        return Ok(contents);
    }
    match format {
        Format::Npy => npy::contents(source),
        Format::Npz => npz::contents(source),
        Format::Gguf => gguf::contents(source),
        _ => safetensors::contents(source),
    }
}

/// Is told a storage, and the device that it was saved from.
type NoteDevice<'a> = dyn Fn(&Storage, &str) + 'a;

/// How to load a file.
pub struct Loading<'a> {
    /// Whether tensors lie on the file where they can.
    pub mapped: bool,
    /// Is told what is loaded in another way than it was saved, or not at all.
    pub say: &'a dyn Fn(String),
    /// Is told the attributes of a tensor.
    pub attach: Option<&'a Attach<'a>>,
    /// Is told the device that each storage was saved from, in place of `say`.
    pub devices: Option<&'a NoteDevice<'a>>,
}

/// Loads a file of any format.
///
/// # Errors
/// Fails with ValueError if the format is unknown, and with the errors of its reader.
pub fn load_any(source: &Source, how: &Loading) -> Result<Value> {
    let format = Format::of(source)?;
    if format.checkpoint().is_some() {
        return checkpoint::load(source, &options(format, how)).map_err(|error| foreign::explained(source, error));
    }
    match format {
        Format::Npy => npy::load(source, how.mapped),
        Format::Npz => npz::load(source, how.mapped, how.say),
        Format::Gguf => gguf::load(source, how.mapped),
        _ => safetensors::load_more(source, how.mapped, how.say),
    }
}

fn options<'a>(format: Format, how: &Loading<'a>) -> Options<'a> {
    // Elements are only aligned in archives. Elsewhere, they are always copied.
    let mapped = how.mapped && format == Format::Checkpoint;
    let Loading { say, attach, devices, .. } = *how;
    let location = match devices {
        None => Location::Here,
        Some(note) => Location::Asked(Box::new(move |storage, tag| {
            note(storage, tag);
            Ok((!tag.starts_with("meta")).then(|| storage.clone()))
        })),
    };
    Options { location, mapped, with_arrays: true, attach, say: Some(say), skip_data: false }
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
            // A revision is a folder, too, but has no revisions itself.
            return Input::at(&shards::model_in(path)?);
        }
        Ok(if shards::ENDINGS.iter().any(|ending| path.ends_with(ending)) {
            Input::Shards(path.to_owned())
        } else {
            Input::File(Source::open(path)?)
        })
    }

    /// Loads the value.
    ///
    /// # Errors
    /// Fails with ValueError if the format is unknown, and with the errors of its reader.
    pub fn load(&self, how: &Loading) -> Result<Value> {
        match self {
            Input::File(source) => load_any(source, how),
            Input::Shards(index) => shards::load(index, |source| load_any(source, how)),
            Input::Distributed(folder) => distributed::load(folder, how.mapped),
        }
    }

    /// Loads what contains nothing else and is chosen, by name. `choose` is given the name, and the class of an object
    /// or function that does not exist here.
    ///
    /// # Errors
    /// The errors of [`Input::load`] and of `choose`.
    pub(crate) fn leaves(&self, how: &Loading, choose: &Choose) -> Result<Vec<Leaf<Value>>> {
        if let Input::File(source) = self
            && let format = Format::of(source)?
            && format.checkpoint().is_some()
        {
            return listing::load_leaves(source, &options(format, how), choose);
        }
        let mut chosen = Vec::new();
        for leaf in super::values::leaves(&self.load(how)?)? {
            if choose(&leaf.name, None)? {
                chosen.push(leaf);
            }
        }
        Ok(chosen)
    }

    /// Returns the contents, without data.
    ///
    /// # Errors
    /// The errors of [`Input::load`].
    pub fn contents(&self) -> Result<Contents> {
        match self {
            Input::File(source) => contents(source),
            Input::Shards(index) => shards::contents(index, contents),
            Input::Distributed(folder) => distributed::contents(folder),
        }
    }
}

/// Writes a value in the format given by the extension.
///
/// # Errors
/// The errors of [`target`], and the errors of the writer.
pub fn save_as(value: &Value, path: &str, options: &SaveOptions) -> Result<()> {
    match target(path)? {
        Target::Checkpoint => checkpoint::save(value, path, options),
        Target::Safetensors => safetensors::save(value, &Value::None, path),
        Target::Npy => npy::save(value, path),
        Target::Npz => npz::save(value, path),
    }
}
