//! Writes tensors into several safetensors files with an index.

use crate::checkpoint::replacing;
use crate::safetensors::{self, Outgoing};
use crate::shards::{ENDINGS, index_text};
use std::collections::HashMap;
use std::io::Write;
use tensor::{Error, Result, bail};

/// Writes tensors into several files of at most `most` bytes, and an index that names the file of each: all of them, or
/// none. Tensors that fit into one file are written into that alone.
pub(super) fn write_shards(
    tensors: Vec<Outgoing>,
    texts: Option<HashMap<String, String>>,
    to: &str,
    most: u64,
) -> Result<()> {
    /// Each file stays open until the last is written.
    const MOST_SHARDS: usize = 256;
    let mut shards: Vec<(u64, Vec<Outgoing>)> = Vec::new();
    for tensor in tensors {
        let nbytes = tensor.body.nbytes() as u64;
        match shards.last_mut().filter(|(held, _)| held.saturating_add(nbytes) <= most) {
            Some((held, shard)) => {
                *held += nbytes;
                shard.push(tensor);
            }
            None => shards.push((nbytes, vec![tensor])),
        }
    }
    if shards.len() <= 1 {
        return safetensors::write(shards.pop().map(|(_, shard)| shard).unwrap_or_default(), texts, to);
    }
    if shards.len() > MOST_SHARDS {
        bail!(ValueError, "--shard-size: this would be {} files, of which {MOST_SHARDS} are possible", shards.len());
    }
    let stem = to.strip_suffix(".safetensors").unwrap_or(to);
    let (total, number) = (shards.iter().map(|(nbytes, _)| nbytes).sum(), shards.len());
    let path = |k: usize| format!("{stem}-{:05}-of-{number:05}.safetensors", k + 1);
    let mut places = Vec::new();
    for (k, (_, shard)) in shards.iter().enumerate() {
        let path = path(k);
        let file = path.rsplit(std::path::is_separator).next().unwrap_or(&path);
        places.extend(shard.iter().map(|tensor| (tensor.name.clone(), file.to_owned())));
    }
    let mut files = shards.into_iter().enumerate().map(|(k, (_, shard))| (path(k), shard));
    let index = format!("{stem}{}", ENDINGS[0]);
    replacing(&index, |file| {
        let refused = |error: std::io::Error| Error::runtime(format!("{index} cannot be written: {error}"));
        file.write_all(index_text(&places, total).as_bytes()).map_err(refused)?;
        write_nested(&mut files, &texts)
    })
}

/// Writes the first file, and the others before it takes its place.
fn write_nested(
    files: &mut dyn Iterator<Item = (String, Vec<Outgoing>)>,
    texts: &Option<HashMap<String, String>>,
) -> Result<()> {
    match files.next() {
        Some((path, shard)) => safetensors::write_then(shard, texts.clone(), &path, || write_nested(files, texts)),
        None => Ok(()),
    }
}
