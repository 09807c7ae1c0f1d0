//! Models in several files. An index, `model.safetensors.index.json` or `pytorch_model.bin.index.json`, names the file of
//! every tensor. The index and the files must agree completely.

use super::contents::{Contents, Entry, StorageInfo, shown};
use super::source::Source;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use tensor::bail;
use tensor::system::{Files, PathKind, System};
use tensor::{Error, ErrorKind, Result, interrupt};
use value::{Dict, Value};

/// The endings of index file names, preferred first.
pub(crate) const ENDINGS: [&str; 2] = [".safetensors.index.json", ".bin.index.json"];

/// The endings of files that a folder may have alone, preferred first.
const ALONE: [&str; 8] = [".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".npz", ".npy"];

/// The maximum size of an index, which is read as a whole.
const LARGEST_INDEX: usize = 1 << 28;

/// A model with its index read.
struct Model {
    /// The name of each tensor, and its file, in index order.
    places: Vec<(String, String)>,
    files: BTreeMap<String, Source>,
    /// The texts of the index.
    metadata: BTreeMap<String, String>,
    nbytes: u64,
}

fn wrong(why: impl std::fmt::Display) -> Error {
    Error::value(format!("the model's index is wrong: {why}"))
}

/// Reads the index: the file of each tensor, and the text metadata.
fn index(source: &Source) -> Result<(Map<String, Json>, BTreeMap<String, String>)> {
    if source.len() > LARGEST_INDEX {
        return Err(wrong("it is too large"));
    }
    let bytes = source.bytes(0, source.len()).unwrap_or_default();
    let index: Json = serde_json::from_slice(&bytes).map_err(wrong)?;
    let Json::Object(mut index) = index else { return Err(wrong("it is not a dictionary")) };
    let Some(Json::Object(places)) = index.remove("weight_map") else {
        return Err(wrong("it has no dictionary \"weight_map\""));
    };
    let mut metadata = BTreeMap::new();
    if let Some(Json::Object(said)) = index.remove("metadata") {
        for (key, value) in said {
            metadata.insert(key, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
    }
    Ok((places, metadata))
}

/// Returns an index.
pub(crate) fn index_text(places: &[(String, String)], nbytes: u64) -> String {
    let places: Map<String, Json> = places.iter().map(|(name, file)| (name.clone(), json!(file))).collect();
    let index = json!({ "metadata": { "total_size": nbytes }, "weight_map": places });
    format!("{index:#}\n")
}

/// Rejects the name of a file outside the folder, or of a file of another format than the index.
fn check_name(name: &str, index: &str) -> Result<()> {
    let mut parts = Path::new(name).components();
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    if !is_plain || name.contains(['/', '\\', '\0']) {
        return Err(wrong(format_args!("the file {} lies outside of the folder", shown(name))));
    }
    let (ending, format) = match index.ends_with(ENDINGS[0]) {
        true => (".safetensors", "a safetensors file"),
        false => (".bin", "a checkpoint"),
    };
    match name.ends_with(ending) {
        true => Ok(()),
        false => Err(wrong(format_args!("the file {} is not {format}", shown(name)))),
    }
}

impl Model {
    fn open(path: &str) -> Result<Model> {
        let source = Source::open(path)?;
        let (listed, metadata) = index(&source)?;
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        let mut nbytes = source.len() as u64;
        let (mut places, mut files) = (Vec::new(), BTreeMap::new());
        for (name, file) in listed {
            let Json::String(file) = file else {
                return Err(wrong(format_args!("the file of {} is not a string", shown(&name))));
            };
            if !files.contains_key(&file) {
                interrupt::check()?;
                check_name(&file, path)?;
                let place = folder.join(&file).to_string_lossy().into_owned();
                let source = Source::open(&place).map_err(|error| match error.kind {
                    ErrorKind::FileNotFoundError => {
                        let text = format!("the file {}, which has {}, is missing", shown(&file), shown(&name));
                        Error::new(error.kind, text)
                    }
                    _ => error,
                })?;
                nbytes = nbytes.saturating_add(source.len() as u64);
                files.insert(file.clone(), source);
            }
            places.push((name, file));
        }
        Ok(Model { places, files, metadata, nbytes })
    }

    /// Returns what `read` makes of each file. Errors name the file.
    fn read<T>(&self, read: impl Fn(&Source) -> Result<T>) -> Result<BTreeMap<&str, T>> {
        let mut all = BTreeMap::new();
        for (file, source) in &self.files {
            interrupt::check()?;
            let said = |error: Error| Error::new(error.kind, format!("{}: {}", shown(file), error.message));
            all.insert(file.as_str(), read(source).map_err(said)?);
        }
        Ok(all)
    }

    /// Checks that each tensor is in its own file alone.
    fn check(&self, names: &BTreeMap<&str, Vec<String>>) -> Result<()> {
        let places: HashMap<&str, &str> =
            self.places.iter().map(|(name, file)| (name.as_str(), file.as_str())).collect();
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for (file, names) in names {
            for name in names {
                if let Some(other) = owners.insert(name, file) {
                    let (name, other, file) = (shown(name), shown(other), shown(file));
                    return Err(wrong(format_args!("{name} is in two files: {other} and {file}")));
                }
                if !places.contains_key(name.as_str()) {
                    return Err(wrong(format_args!("{} is in {} and not in the index", shown(name), shown(file))));
                }
            }
        }
        match self.places.iter().find(|(name, file)| owners.get(name.as_str()) != Some(&file.as_str())) {
            Some((name, file)) => Err(wrong(format_args!("{} is not in {}", shown(name), shown(file)))),
            None => Ok(()),
        }
    }
}

/// Loads all tensors of a model by name. `read` loads one file.
///
/// # Errors
/// Fails with ValueError if index and files disagree, with FileNotFoundError for a missing file, and with the errors of
/// `read`.
pub(crate) fn load(path: &str, read: impl Fn(&Source) -> Result<Value>) -> Result<Value> {
    let model = Model::open(path)?;
    let named = |source: &Source| -> Result<HashMap<String, Value>> {
        let entries = read(source)?.entries().ok_or_else(|| Error::value("it is not a dictionary"))?;
        let entry = |(key, value): (Value, Value)| match key {
            Value::Str(name) => Ok((name.to_string(), value)),
            other => bail!(ValueError, "the name of a tensor is a {}", other.type_name()),
        };
        entries.into_iter().map(entry).collect()
    };
    let mut files = model.read(named)?;
    let names = files.iter().map(|(file, tensors)| {
        let mut names: Vec<String> = tensors.keys().cloned().collect();
        names.sort_unstable();
        (*file, names)
    });
    model.check(&names.collect())?;
    let tensor = |(name, file): &(String, String)| {
        let value = files.get_mut(file.as_str()).and_then(|tensors| tensors.remove(name));
        value.map(|value| (Value::str(name), value))
    };
    Dict::new(model.places.iter().filter_map(tensor).collect::<Vec<_>>()).map(Value::Dict)
}

/// Returns the contents of a model. `read` gives those of one file. Storages are named after their file.
///
/// # Errors
/// The errors of [`load`].
pub(crate) fn contents(path: &str, read: impl Fn(&Source) -> Result<Contents>) -> Result<Contents> {
    let model = Model::open(path)?;
    let files = model.read(read)?;
    let names = |of: &Contents| of.entries.iter().map(|entry| entry.name.clone()).collect();
    model.check(&files.iter().map(|(file, of)| (*file, names(of))).collect())?;
    let is_safetensors = path.ends_with(ENDINGS[0]);
    let format = if is_safetensors { "safetensors in several files" } else { "PyTorch checkpoint in several files" };
    let (nbytes, metadata) = (model.nbytes, model.metadata.clone());
    let mut whole = Contents { name: path.to_owned(), format, nbytes, metadata, ..Contents::default() };
    let mut entries: HashMap<String, Entry> = HashMap::new();
    for (file, of) in files {
        let first = whole.storages.len();
        whole.storages.extend(of.storages.into_iter().map(|held| match is_safetensors {
            true => StorageInfo { key: file.to_owned(), ..held },
            false => StorageInfo { key: format!("{file}/{}", held.key), ..held },
        }));
        for entry in of.entries {
            let storage = entry.storage.map(|storage| storage + first);
            entries.insert(entry.name.clone(), Entry { storage, ..entry });
        }
        whole.values.extend(of.values);
        whole.unknown.extend(of.unknown);
        for (key, text) in of.metadata {
            whole.metadata.entry(key).or_insert(text);
        }
    }
    whole.unknown.sort_unstable();
    whole.unknown.dedup();
    whole.entries = model.places.iter().filter_map(|(name, _)| entries.remove(name)).collect();
    Ok(whole)
}

/// Returns the file to read for a folder: the index of a model in several files, the only file of tensors, or in a
/// cache of models the revision that was downloaded.
///
/// # Errors
/// Fails with ValueError if there are several or none, and with OSError if the folder cannot be read.
pub(crate) fn model_in(folder: &str) -> Result<String> {
    let refused = |error: std::io::Error| Error::new(ErrorKind::OSError, format!("{folder} cannot be read: {error}"));
    let mut names = System::names(Path::new(folder)).map_err(refused)?;
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    let within = |name: &str| Path::new(folder).join(name).to_string_lossy().into_owned();
    for ending in ENDINGS.iter().chain(&ALONE) {
        let found: Vec<&String> = names.iter().filter(|name| name.ends_with(ending)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(within(one)),
            several => {
                let usual =
                    several.iter().find(|name| ["model.safetensors", "pytorch_model.bin"].contains(&name.as_str()));
                let names = several.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
                return match usual {
                    Some(usual) => Ok(within(usual)),
                    None => {
                        bail!(ValueError, "{folder} has several files of tensors, of which one must be named: {names}")
                    }
                };
            }
        }
    }
    match revision(Path::new(folder)) {
        Some(revision) => Ok(revision.to_string_lossy().into_owned()),
        None => bail!(
            ValueError,
            "the folder {folder} has no tensors: no index, no .metadata, and no file that ends in {}",
            ALONE.join(", ")
        ),
    }
}

/// Returns the folder of the main revision in a cache of downloaded models, or of the only one.
fn revision(folder: &Path) -> Option<PathBuf> {
    let snapshots = folder.join("snapshots");
    let is_folder = |path: &Path| matches!(System::kind(path), Ok(PathKind::Folder));
    let main = System::read(&folder.join("refs").join("main")).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(main) = main.map(|name| snapshots.join(name.trim())).filter(|path| is_folder(path)) {
        return Some(main);
    }
    match System::names(&snapshots).ok()?.as_slice() {
        [one] => Some(snapshots.join(one)).filter(|path| is_folder(path)),
        _ => None,
    }
}
