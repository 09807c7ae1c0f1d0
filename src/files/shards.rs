//! Models in several safetensors files. An index, `model.safetensors.index.json`, names the file of every tensor. The
//! index and the files must agree completely.

use super::contents::{Bytes, Contents, shown};
use super::safetensors::{self, TensorHeader};
use super::source::Source;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path};
use tensor::bail;
use tensor::system::{Files, System};
use tensor::{Error, ErrorKind, Result, interrupt};
use value::{Dict, Value};

/// The ending of index file names.
pub(crate) const ENDING: &str = ".safetensors.index.json";

/// The maximum size of an index, which is read as a whole.
const LARGEST_INDEX: usize = 1 << 28;

/// A model with its headers read.
struct Model {
    /// Each tensor with its file, in index order.
    tensors: Vec<(String, Source, TensorHeader)>,
    /// Text metadata of the index and the files.
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

/// Rejects the name of a file outside the folder.
fn check_name(name: &str) -> Result<()> {
    let mut parts = Path::new(name).components();
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    if !is_plain || name.contains(['/', '\\', '\0']) {
        return Err(wrong(format_args!("the file {} lies outside of the folder", shown(name))));
    }
    if !name.ends_with(".safetensors") {
        return Err(wrong(format_args!("the file {} is not a safetensors file", shown(name))));
    }
    Ok(())
}

impl Model {
    fn open(path: &str) -> Result<Model> {
        let source = Source::open(path)?;
        let (places, mut metadata) = index(&source)?;
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        let mut nbytes = source.len() as u64;
        let mut files: BTreeMap<&str, (Source, HashMap<String, TensorHeader>)> = BTreeMap::new();
        for (name, file) in &places {
            let Json::String(file) = file else {
                return Err(wrong(format_args!("the file of {} is not a string", shown(name))));
            };
            if files.contains_key(&**file) {
                continue;
            }
            interrupt::check()?;
            check_name(file)?;
            let place = folder.join(file).to_string_lossy().into_owned();
            let source = Source::open(&place).map_err(|error| match error.kind {
                ErrorKind::FileNotFoundError => {
                    Error::new(error.kind, format!("the file {}, which has {}, is missing", shown(file), shown(name)))
                }
                _ => error,
            })?;
            let said = |error: Error| Error::new(error.kind, format!("{}: {}", shown(file), error.message));
            let header = safetensors::header(&source).map_err(said)?;
            for (key, text) in safetensors::metadata(&source).map_err(said)? {
                metadata.entry(key).or_insert(text);
            }
            nbytes = nbytes.saturating_add(source.len() as u64);
            let header = header.into_iter().map(|described| (described.name.clone(), described)).collect();
            files.insert(file, (source, header));
        }
        let tensors = joined(&places, files)?;
        Ok(Model { tensors, metadata, nbytes })
    }
}

/// Returns the tensors of all files, after checking that each is only in its own file.
fn joined(
    places: &Map<String, Json>,
    mut files: BTreeMap<&str, (Source, HashMap<String, TensorHeader>)>,
) -> Result<Vec<(String, Source, TensorHeader)>> {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for (file, (_, header)) in &files {
        let mut names: Vec<&String> = header.keys().collect();
        names.sort_unstable();
        for name in names {
            if let Some(other) = owners.insert(name, file) {
                let (name, other, file) = (shown(name), shown(other), shown(file));
                return Err(wrong(format_args!("{name} is in two files: {other} and {file}")));
            }
            if !places.contains_key(name) {
                return Err(wrong(format_args!("{} is in {} and not in the index", shown(name), shown(file))));
            }
        }
    }
    let mut tensors = Vec::new();
    for (name, file) in places {
        let file = file.as_str().unwrap_or_default();
        let found = files.get_mut(file).and_then(|(source, header)| Some((source.clone(), header.remove(name)?)));
        let Some((source, described)) = found else {
            return Err(wrong(format_args!("{} is not in {}", shown(name), shown(file))));
        };
        tensors.push((file.to_owned(), source, described));
    }
    Ok(tensors)
}

/// Loads all tensors of a model by name, on their files.
///
/// # Errors
/// Fails with ValueError if index and files disagree, with FileNotFoundError for a missing file, and with
/// SafetensorError for an invalid one.
pub(crate) fn load(path: &str, mapped: bool) -> Result<Value> {
    let tensor = |(_, source, described): (String, Source, TensorHeader)| {
        let name = Value::str(&*described.name);
        described.tensor(&source, mapped).map(|tensor| (name, tensor))
    };
    let tensors = Model::open(path)?.tensors.into_iter().map(tensor).collect::<Result<Vec<_>>>()?;
    Dict::new(tensors).map(Value::Dict)
}

/// Returns the contents of a model. Storages are named after their file.
///
/// # Errors
/// The errors of [`load`].
pub(crate) fn contents(path: &str) -> Result<Contents> {
    let Model { tensors, metadata, nbytes } = Model::open(path)?;
    let format = "safetensors in several files";
    let mut contents = Contents { name: path.to_owned(), format, nbytes, metadata, ..Contents::default() };
    for (file, source, TensorHeader { name, dtype, layout, place, nbytes }) in tensors {
        contents.add(name, dtype, layout, nbytes, Bytes::Stored(source, place));
        if let Some(held) = contents.storages.last_mut() {
            held.key = file;
        }
    }
    Ok(contents)
}

/// Returns the index file of a folder, if it has exactly one.
///
/// # Errors
/// Fails with ValueError if there are several, and with OSError if the folder cannot be read.
pub(crate) fn index_in(folder: &str) -> Result<Option<String>> {
    let refused = |error: std::io::Error| Error::new(ErrorKind::OSError, format!("{folder} cannot be read: {error}"));
    let mut found = System::names(Path::new(folder)).map_err(refused)?;
    found.retain(|name| name.ends_with(ENDING));
    found.sort_unstable();
    if found.len() > 1 {
        let names = found.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        bail!(ValueError, "{folder} has several models: {names}");
    }
    Ok(found.pop().map(|name| Path::new(folder).join(name).to_string_lossy().into_owned()))
}
