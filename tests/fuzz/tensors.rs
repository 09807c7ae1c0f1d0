//! Files and folders of tensors: loaded, printed, reported, compared with themselves and converted.

use explain::format::{Formatter, PrintOptions};
use files::gguf::BlockTensor;
use files::{Conversion, Input, Loading, ReportForm, Reporting, Source};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tempfile::TempDir;
use tensor::{DType, Memory};
use value::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Does with a file whatever a user can do with it.
pub fn file(bytes: &[u8]) {
    let source = Memory::from_bytes(bytes).and_then(|memory| Source::of_memory(&Rc::new(memory), 0));
    if let Ok(source) = source {
        read(&Input::File(source), bytes.len());
    }
}

/// The folders of tests/files that are read with one file changed.
const FOLDERS: &[(&str, &str)] = &[
    ("sharded", "model.safetensors.index.json"),
    ("sharded", "model-00001-of-00002.safetensors"),
    ("two_writers", ".metadata"),
    ("two_writers", "__0_0.distcp"),
];

thread_local! {
    /// Copies of the folders.
    static COPIES: RefCell<BTreeMap<usize, TempDir>> = const { RefCell::new(BTreeMap::new()) };
}

/// Reads a folder in which one file is changed. The first byte selects the file, the others are its contents.
pub fn folder(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let choice = usize::from(*choice) % FOLDERS.len();
    let (name, file) = FOLDERS[choice];
    let path = COPIES.with_borrow_mut(|copies| {
        let copy = copies.entry(choice).or_insert_with(|| copied(name).expect("a copy of the folder"));
        copy.path().to_owned()
    });
    fs::write(path.join(file), bytes).expect("space for a file");
    if let Ok(input) = Input::at(path.to_str().expect("a path in UTF-8")) {
        read(&input, bytes.len());
    }
}

fn copied(name: &str) -> io::Result<TempDir> {
    let copy = tempfile::tempdir()?;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../files").join(name))? {
        let entry = entry?;
        fs::copy(entry.path(), copy.path().join(entry.file_name()))?;
    }
    Ok(copy)
}

/// Returns the seeds of [`folder`].
///
/// # Errors
/// The errors of the system.
pub fn folder_seeds() -> io::Result<Vec<Vec<u8>>> {
    let seed = |(choice, (name, file)): (usize, &(&str, &str))| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../files").join(name).join(file);
        Ok([vec![choice as u8], fs::read(path)?].concat())
    };
    FOLDERS.iter().enumerate().map(seed).collect()
}

fn read(input: &Input, choice: usize) {
    let mut is_loaded = false;
    for mapped in [false, true] {
        if let Ok(value) = input.load(&loading(mapped)) {
            is_loaded = true;
            show(&value);
        }
    }
    report(input);
    if is_loaded {
        convert(input, choice);
    }
}

fn loading(mapped: bool) -> Loading<'static> {
    Loading { mapped, say: &|_| (), attach: None, devices: None }
}

/// Prints a value, and dequantizes the blocks in it.
fn show(value: &Value) {
    let formatter = Formatter { options: &PrintOptions::default(), default_dtype: DType::Float };
    let _ = formatter.repr(value);
    let Some(entries) = value.entries() else { return };
    for (_, value) in entries.iter() {
        let Some(tensor) = BlockTensor::of(value) else { continue };
        if let Ok(view) = tensor.dequantize() {
            assert_eq!(view.sizes(), tensor.sizes());
        }
        if tensor.block_count() > 0 {
            let _ = tensor.block(-1);
        }
    }
}

/// Reports what a file contains. A file equals itself.
fn report(input: &Input) {
    let Ok(report) = input.contents() else { return };
    let _ = (report.text(), report.json());
    let names: HashSet<&str> = report.entries.iter().map(|entry| entry.name.as_str()).collect();
    if names.len() == report.entries.len()
        && let Ok(differences) = files::diff(&report, &report, 0.0)
    {
        assert!(differences.is_equal(), "the file differs from itself: {}", differences.text());
    }
    for form in [ReportForm::Tree, ReportForm::Summary] {
        if let Ok(report) = input.contents() {
            let _ = report.report(&Reporting { form, ..Reporting::default() });
        }
    }
}

thread_local! {
    /// The folder of converted files.
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Converts a file to one of the formats, and loads the result. `choice` selects the format and the options.
fn convert(input: &Input, choice: usize) {
    let ending = ["pt", "safetensors", "npz", "npy"][choice % 4];
    let to = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().expect("a temporary folder"));
        folder.path().join(format!("x.{ending}"))
    });
    let to = to.to_str().expect("a path in UTF-8");
    let how =
        Conversion { tensors: choice & 4 > 0, clone: choice & 8 > 0, bits: ending != "pt", ..Conversion::default() };
    if files::convert(input, to, &how, &Arc::default()).is_ok() {
        let read = Input::at(to).and_then(|input| input.contents().and_then(|_| input.load(&loading(true))));
        read.unwrap_or_else(|error| panic!("the converted {ending} is refused: {error}"));
    }
}

/// Returns an archive of these entries. Its checksums are right.
pub fn archive(entries: &[(&str, &[u8])], is_packed: bool) -> Vec<u8> {
    let method = if is_packed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).expect("a new entry");
        writer.write_all(bytes).expect("enough memory");
    }
    writer.finish().expect("a whole archive").into_inner()
}
