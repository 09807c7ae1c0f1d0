//! What is said of files that hold no tensors, or that are not whole.

use super::first_archives;
use super::source::Source;
use tensor::{Error, ErrorKind, interrupt};

/// Files that people take for tensors, by their first bytes.
const KNOWN: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "is compressed with gzip: decompress it first, with gzip -d"),
    (b"BZh", "is compressed with bzip2: decompress it first, with bzip2 -d"),
    (b"\xfd7zXZ\0", "is compressed with xz: decompress it first, with xz -d"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd: decompress it first, with zstd -d"),
    (b"\x04\x22\x4d\x18", "is compressed with lz4: decompress it first, with lz4 -d"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive: extract the files in it first, with 7z x"),
    (b"Rar!", "is a rar archive: extract the files in it first, with unrar x"),
    (b"\x89HDF", "is an HDF5 file, which tensorsh does not read"),
    (b"MATLAB 5.0", "is a MATLAB file, which tensorsh does not read"),
    (b"ggml", "is a model in a format that llama.cpp used before GGUF: convert it to GGUF with llama.cpp"),
    (b"lmgg", "is a model in a format that llama.cpp used before GGUF: convert it to GGUF with llama.cpp"),
    (b"tjgg", "is a model in a format that llama.cpp used before GGUF: convert it to GGUF with llama.cpp"),
    (b"PAR1", "is a Parquet file, which tensorsh does not read"),
    (b"ARROW1", "is an Arrow file, which tensorsh does not read"),
    (b"%PDF", "is a PDF document"),
    (b"\x89PNG", "is an image"),
    (b"\xff\xd8\xff", "is an image"),
];

/// How a pointer of git-lfs begins.
const POINTER: &str = "version https://git-lfs.github.com/spec/";

/// Number of bytes that are looked at.
const HEAD: usize = 1024;

/// Returns the error for a file of an unknown format: what it is, and what to do.
pub(crate) fn refused(source: &Source) -> Error {
    // After Ctrl-C no bytes are read, and nothing is known of them.
    if let Err(stopped) = interrupt::check() {
        return stopped;
    }
    let head = source.bytes(0, source.len().min(HEAD)).unwrap_or_default();
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let lower = text.to_ascii_lowercase();
    let known = KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| (*what).to_owned());
    let what = if source.is_empty() {
        "is empty: writing, copying or downloading it has failed".to_owned()
    } else if let Some(known) = known {
        known
    } else if text.starts_with(POINTER) {
        let size = text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse::<u64>().ok());
        let size = size.map(|size| format!(" to a file of {}", super::inspect::bytes(size))).unwrap_or_default();
        format!("is a pointer of git-lfs{size}, not the file: fetch that with git lfs pull")
    } else if ["<!doctype html", "<html", "<?xml", "<head"].iter().any(|tag| lower.starts_with(tag)) {
        "is a web page: the download gave a page, such as an error or a login, in place of the file".to_owned()
    } else if let Some(length) = cut_header(&head, source.len()) {
        format!("is cut off: a safetensors file whose header has {length} bytes, but the file has {}", source.len())
    } else if first_archives::is_tar(source) {
        "is a tar archive, but not one of PyTorch's: extract the files in it first, with tar xf".to_owned()
    } else if head.iter().all(|&byte| byte == 0) {
        "has only zeros where a file of tensors begins: writing, copying or downloading it has failed".to_owned()
    } else if matches!(text.chars().next(), Some('{' | '[')) && !text.contains('\u{fffd}') {
        "is JSON, not a checkpoint, safetensors, npy, npz or GGUF file".to_owned()
    } else {
        "is not a checkpoint, safetensors, npy, npz or GGUF file".to_owned()
    };
    Error::value(format!("{} {what}", name(source)))
}

/// Returns the length of a safetensors header that is longer than the file.
fn cut_header(head: &[u8], length: usize) -> Option<u64> {
    let (said, rest) = head.split_first_chunk::<8>()?;
    let said = u64::from_le_bytes(*said);
    (rest.starts_with(b"{") && said < 1 << 48 && said.saturating_add(8) > length as u64).then_some(said)
}

/// Returns the error for a zip archive without a directory. The directory is at its end.
pub(crate) fn cut_off(source: &Source, error: Error) -> Error {
    if !error.message.ends_with("failed finding central directory") {
        return error;
    }
    let text = format!(
        "{} is cut off: it begins like a checkpoint or an npz file, which are zip archives, but its end is missing",
        name(source)
    );
    Error::new(error.kind, text)
}

/// Returns the error for a zip archive of other files.
pub(crate) fn archive(source: &Source, names: &[String]) -> Error {
    let first = names.first().map(|name| format!(" of {}", super::contents::shown(name))).unwrap_or_default();
    let others = match names.len() {
        0 | 1 => String::new(),
        more => format!(" and {} more", super::contents::count(more - 1, "file")),
    };
    Error::value(format!("{} is a zip archive{first}{others}, not a checkpoint or an npz file", name(source)))
}

/// Returns the error of loading a checkpoint, with what can be done about objects in it.
pub(crate) fn explained(source: &Source, error: Error) -> Error {
    let way = "inspect lists it, and `tensorsh convert --tensors` takes its tensors out";
    let name = name(source);
    if error.message.starts_with("Cannot use ``weights_only=True`` with TorchScript") {
        return Error::new(error.kind, format!("{name} is a TorchScript archive, which holds a program: {way}"));
    }
    if error.message.starts_with("Object arrays cannot be loaded") {
        return Error::new(error.kind, format!("{name} has an array of objects. {}: {way}", error.message));
    }
    let class = error.message.split("nsupported global: GLOBAL ").nth(1);
    let class = class.or_else(|| error.message.split("unsupported GLOBAL ").nth(1));
    let class = class.and_then(|rest| rest.split(' ').next());
    match class {
        Some(class) if error.kind == ErrorKind::UnpicklingError => {
            let class = super::contents::shown(class);
            Error::new(error.kind, format!("{name} holds {class}, which could run code and is not loaded: {way}"))
        }
        _ => error,
    }
}

fn name(source: &Source) -> &str {
    source.name().unwrap_or("the file")
}
