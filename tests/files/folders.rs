//! Folders of related files: models in several safetensors files, and the output of torch.distributed.
//! scripts/house/folders.py created those in tests/files.

use super::describe::describe;
use super::{contents_at, entry, folder, load_path};
use crate::pace::check;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::Instant;
use tempfile::TempDir;
use tensorsh::files::{self, SaveOptions};
use tensorsh::tensor::{DType, Device, Error, ErrorKind, View};
use tensorsh::value::{Dict, Value};

const FOLDERS: &[&str] = &["four_writers", "sharded", "two_writers"];

/// Copies a folder of tests/files.
pub(super) fn copied(name: &str) -> TempDir {
    let target = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder().join(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, target.path().join(path.file_name().unwrap())).unwrap();
    }
    target
}

/// Returns the error, on which loading and reporting must agree, and which must come quickly.
#[track_caller]
fn refusal(folder: &Path) -> Error {
    let (path, began) = (folder.to_str().unwrap(), Instant::now());
    let load = |mapped| match load_path(path, mapped) {
        Err(error) => error,
        Ok(value) => panic!("loaded as\n{}", describe(&value)),
    };
    let (mapped, copied) = (load(true), load(false));
    assert_eq!(mapped.message, copied.message);
    check(began, 1000, &mapped.message);
    assert!(!mapped.message.contains('\u{1b}') || mapped.message.starts_with("Weights only"), "{mapped:?}");
    mapped
}

#[track_caller]
fn refused(folder: &Path, kind: ErrorKind, part: &str) {
    let error = refusal(folder);
    assert!(error.kind == kind && error.message.contains(part), "{:?}: {}", error.kind, error.message);
    let report = contents_at(folder.to_str().unwrap());
    assert!(report.is_err_and(|error| error.message.contains(part)), "{part}");
}

#[test]
fn folders_of_others_hold_what_they_say() {
    for name in FOLDERS {
        let told = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
        for mapped in [false, true] {
            let value = load_path(folder().join(name).to_str().unwrap(), mapped);
            let value = value.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(describe(&value), told, "{name}, mapped: {mapped}");
        }
    }
    let index = folder().join("sharded/model.safetensors.index.json");
    let value = load_path(index.to_str().unwrap(), true).unwrap();
    assert_eq!(describe(&value), fs::read_to_string(folder().join("sharded.txt")).unwrap());
}

#[test]
fn tensors_of_one_piece_lie_on_their_files() {
    let copy = copied("two_writers");
    let loaded = load_path(copy.path().to_str().unwrap(), true).unwrap();
    let model = loaded.entries().unwrap();
    let Some((_, model)) = model.iter().find(|(key, _)| matches!(key, Value::Str(key) if **key == *"model")) else {
        panic!("no model")
    };
    let [plain, rows] = ["plain", "rows"].map(|name| entry(model, name).view().storage.clone());
    assert!(!plain.resizable() && rows.resizable());
    // Writes to the tensors stay in memory.
    let before: Vec<_> =
        fs::read_dir(copy.path()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(plain.set_byte(0, 9).unwrap());
    let after: Vec<_> =
        fs::read_dir(copy.path()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_report_tells_pieces_and_files() {
    let report = |name: &str| contents_at(folder().join(name).to_str().unwrap()).unwrap();
    let text = report("four_writers").text();
    for line in [
        "model.rows                 float32   (5, 3)  (3, 1)  0       60     4 pieces",
        "model.tiles at (2, 0): (2, 2) on __2_0.distcp@",
        "value name: str 'run\\u{1b}[31m of today'",
        "value epoch: int 3",
    ] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\n{text}");
    }
    assert!(!text.contains("not executed") && !text.contains("shown by no"), "{text}");
    let four = report("four_writers");
    // Every storage is where the report says.
    for entry in four.entries.iter().filter(|entry| entry.name == "model.tiles") {
        let told = fs::read_to_string(folder().join("four_writers.txt")).unwrap();
        let whole: Vec<i32> = (0..16).collect();
        assert!(
            told.contains(&whole.iter().flat_map(|i| i.to_le_bytes()).map(|b| format!("{b:02x}")).collect::<String>())
        );
        for piece in &entry.pieces {
            let bytes = four.storages[piece.storage].open().unwrap().to_vec().unwrap();
            let held = &four.storages[piece.storage];
            let file = fs::read(held.file().unwrap()).unwrap();
            assert_eq!(file[held.place().unwrap()..][..bytes.len()], bytes);
            let first = (piece.offsets[0] * 4 + piece.offsets[1]) as i32;
            assert_eq!(bytes[..4], first.to_le_bytes());
        }
    }
    let json = four.json();
    assert!(json.contains("\"first_index\": [") && json.contains("__3_0.distcp\""), "{json}");
    let text = report("sharded").text();
    for line in [
        "bias   float32  ()      ()      0       4      model-00002-of-00002.safetensors",
        "4 tensors on 4 storages of 56 bytes",
        "metadata total_size: 56",
        "metadata format: pt",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn pieces_are_compared_however_they_are_cut() {
    let [four, two] = ["four_writers", "two_writers"];
    let [four, two] = [four, two].map(|name| contents_at(folder().join(name).to_str().unwrap()).unwrap());
    let differences = files::diff(&four, &two, 0.0).unwrap().json();
    let report: serde_json::Value = serde_json::from_str(&differences).unwrap();
    assert_eq!(report["equal_tensors"], 8, "{differences}");
    let changes: Vec<_> = report["changes"].as_array().unwrap().iter().map(|change| &change["name"]).collect();
    assert_eq!(changes, ["model.tiles"], "{differences}");
}

#[test]
fn folders_cut_anywhere_are_refused() {
    for (name, file, step) in [
        ("two_writers", ".metadata", 1),
        ("two_writers", "__0_0.distcp", 1),
        ("two_writers", "__1_0.distcp", 7),
        ("sharded", "model.safetensors.index.json", 1),
        ("sharded", "model-00001-of-00002.safetensors", 1),
    ] {
        let copy = copied(name);
        let bytes = fs::read(copy.path().join(file)).unwrap();
        // The last newline of an index is optional.
        let end = if name == "sharded" && file.ends_with("json") { bytes.len() - 1 } else { bytes.len() };
        for length in (0..end).step_by(step) {
            fs::write(copy.path().join(file), &bytes[..length]).unwrap();
            let path = copy.path().to_str().unwrap();
            assert!(load_path(path, length % 2 == 0).is_err(), "{name}/{file} of {length} bytes");
            assert!(contents_at(path).is_err(), "{name}/{file} of {length} bytes, inspected");
        }
        fs::remove_file(copy.path().join(file)).unwrap();
        let error = load_path(copy.path().to_str().unwrap(), true).unwrap_err();
        let is_index = file == ".metadata" || file.ends_with("json");
        let wanted = if is_index { ErrorKind::ValueError } else { ErrorKind::FileNotFoundError };
        assert_eq!(error.kind, wanted, "{error}");
        assert!(is_index || error.message.contains(&format!("the file {file}, which has ")), "{error}");
    }
}

#[test]
fn indices_that_lie_are_refused() {
    let copy = copied("sharded");
    let index = copy.path().join("model.safetensors.index.json");
    let good = fs::read_to_string(&index).unwrap();
    let (first, second) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
    for (from, to, part) in [
        ("\"norm\"", "\"norms\"", "norm is in model-00001-of-00002.safetensors and not in the index"),
        ("\"bias\"", "\"more\": \"model-00001-of-00002.safetensors\", \"bias\"", "more is not in model-00001-of-00002"),
        (&format!("\"bias\": \"{second}\""), &format!("\"bias\": \"{first}\""), "bias is not in model-00001-of-00002"),
        (second, "../a.safetensors", "the file ../a.safetensors lies outside of the folder"),
        (second, "..", "the file .. lies outside of the folder"),
        (second, "", "lies outside of the folder"),
        (second, "/a.safetensors", "the file /a.safetensors lies outside of the folder"),
        (second, "a/b.safetensors", "the file a/b.safetensors lies outside of the folder"),
        (second, "./b.safetensors", "the file ./b.safetensors lies outside of the folder"),
        (second, "a\\\\b.safetensors", "lies outside of the folder"),
        (second, "a\\u0000.safetensors", "lies outside of the folder"),
        (second, "\\u001b[2J", "the file \\u{1b}[2J is not a safetensors file"),
        (second, "model.safetensors.index.json", "is not a safetensors file"),
        ("\"weight_map\"", "\"weights\"", "it has no dictionary \"weight_map\""),
        (&format!("\"{second}\""), "3", "the file of bias is not a string"),
        ("{", "[", "the model's index is wrong"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&index, good.replacen(from, to, if from == second { 9 } else { 1 })).unwrap();
        refused(copy.path(), ErrorKind::ValueError, part);
    }
    fs::write(&index, good.replace(second, "model-00003-of-00002.safetensors")).unwrap();
    let missing = "the file model-00003-of-00002.safetensors, which has bias, is missing";
    refused(copy.path(), ErrorKind::FileNotFoundError, missing);
    // Both files contain all tensors of the second.
    fs::write(&index, good.replace("\"embed\": \"model-00001", "\"embed\": \"model-00003")).unwrap();
    fs::copy(copy.path().join(first), copy.path().join("model-00003-of-00002.safetensors")).unwrap();
    let twice = "embed is in two files: model-00001-of-00002.safetensors and model-00003-of-00002.safetensors";
    refused(copy.path(), ErrorKind::ValueError, twice);
    fs::write(&index, &good).unwrap();
    fs::copy(&index, copy.path().join("other.safetensors.index.json")).unwrap();
    refused(
        copy.path(),
        ErrorKind::ValueError,
        "has several files of tensors, of which one must be named: model.safetensors.index.json, other.safetensors",
    );
    let empty = tempfile::tempdir().unwrap();
    refused(
        empty.path(),
        ErrorKind::ValueError,
        "has no tensors: no index, no .metadata, and no file that ends in .safetensors",
    );
}

/// Builds a pickle of metadata by hand.
mod pickle {
    pub(super) fn text(text: &str) -> Vec<u8> {
        [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
    }

    pub(super) fn int(number: i64) -> Vec<u8> {
        [b"\x8a\x08", &number.to_le_bytes()[..]].concat()
    }

    pub(super) fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
        [b"(", &items.concat()[..], b"t"].concat()
    }

    pub(super) fn ints(numbers: &[i64]) -> Vec<u8> {
        tuple(&numbers.iter().map(|&number| int(number)).collect::<Vec<_>>())
    }

    pub(super) fn dict(entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let entries: Vec<u8> = entries.iter().flat_map(|(key, value)| [&key[..], value].concat()).collect();
        [b"}(", &entries[..], b"u"].concat()
    }

    pub(super) fn object(class: &str, attributes: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let module = if class == "_StorageInfo" { "filesystem" } else { "metadata" };
        let attributes: Vec<_> = attributes.iter().map(|(name, value)| (text(name), value.clone())).collect();
        let class = format!("ctorch.distributed.checkpoint.{module}\n{class}\n)");
        [class.as_bytes(), b"\x81", &dict(&attributes), b"b"].concat()
    }
}

/// A piece in the metadata: its first index, its sizes, and its file, offset and length there.
type Told<'a> = (&'a [i64], &'a [i64], &'a str, i64, i64);

fn storage_info(file: &str, start: i64, length: i64) -> Vec<u8> {
    let (file, start, length) = (pickle::text(file), pickle::int(start), pickle::int(length));
    pickle::object("_StorageInfo", &[("relative_path", file), ("offset", start), ("length", length)])
}

/// Returns the metadata of one tensor `w` of 32-bit floats.
fn metadata(sizes: &[i64], pieces: &[Told], path: &[Vec<u8>]) -> Vec<u8> {
    use pickle::*;
    let chunk = |&(offsets, sizes, ..): &Told| {
        object("ChunkStorageMetadata", &[("offsets", ints(offsets)), ("sizes", ints(sizes))])
    };
    let place = |&(offsets, _, file, start, length): &Told| {
        (object("MetadataIndex", &[("fqn", text("w")), ("offset", ints(offsets))]), storage_info(file, start, length))
    };
    let properties = b"ctorch.distributed.checkpoint.metadata\nTensorProperties\n)\x81(ctorch\nfloat32\ntb".to_vec();
    let chunks = tuple(&pieces.iter().map(chunk).collect::<Vec<_>>());
    let tensor =
        object("TensorStorageMetadata", &[("properties", properties), ("size", ints(sizes)), ("chunks", chunks)]);
    let places = dict(&pieces.iter().map(place).collect::<Vec<_>>());
    let paths = dict(&[(text("w"), tuple(path))]);
    let all =
        [("state_dict_metadata", dict(&[(text("w"), tensor)])), ("storage_data", places), ("planner_data", paths)];
    [b"\x80\x02", &object("Metadata", &all)[..], b"."].concat()
}

/// Returns the archive of a tensor of ones.
fn archive(sizes: &[i64], dtype: DType) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let ones = View::zeros(sizes, dtype, Device::CPU).unwrap();
    files::write(&Value::from(ones), "archive", &SaveOptions::default(), &mut bytes).unwrap();
    bytes.into_inner()
}

#[test]
fn metadata_that_lies_is_refused() {
    let one = archive(&[2, 3], DType::Float);
    let length = one.len() as i64;
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("a.distcp"), [&one[..], &one].concat()).unwrap();
    let path = [pickle::text("w")];
    let write = |metadata: Vec<u8>| fs::write(target.path().join(".metadata"), metadata).unwrap();
    let load = || load_path(target.path().to_str().unwrap(), true);
    let (first, second): (Told, Told) =
        ((&[0, 0], &[2, 3], "a.distcp", 0, length), (&[2, 0], &[2, 3], "a.distcp", length, length));
    write(metadata(&[4, 3], &[first, second], &path));
    assert_eq!(entry(&load().unwrap(), "w").view().sizes(), [4, 3]);
    write(metadata(&[2, 3], &[first], &path));
    assert!(!entry(&load().unwrap(), "w").view().storage.resizable());
    let huge = 1 << 62;
    let in_file = |file| (&[0, 0][..], &[2, 3][..], file, 0, length);
    let cases: &[(&[i64], &[Told], &str)] = &[
        (&[4, 3], &[first], "w: the checkpoint's .metadata is wrong: 6 of its 12 elements are not in any piece"),
        (&[3, 3], &[first, second], "its piece at [2, 0] of [2, 3] lies outside of its sizes [3, 3]"),
        (&[4, 3], &[first, (&[1, 0], &[2, 3], "a.distcp", length, length)], "its pieces at [0, 0] and [1, 0] overlap"),
        (&[2, 3], &[first, first], "w has two locations for one piece"),
        (&[4, 3], &[first, (second.0, second.1, "a.distcp", 0, length)], "w and w share bytes of a.distcp"),
        (&[4, 3], &[first, (second.0, second.1, "a.distcp", length - 1, length)], "w and w share bytes of a.distcp"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", 0, 3 * length)], "w lies beyond the end of a.distcp"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", 2 * length, 24)], "w lies beyond the end of a.distcp"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", i64::MAX, i64::MAX)], "are not in any file"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", -1, length)], "a non-negative number"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", 0, 23)], "23 bytes are too few for its piece at [0, 0]"),
        (&[2, 3], &[(first.0, first.1, "a.distcp", 1, length)], "not an archive of torch.save"),
        (
            &[3, 2],
            &[(&[0, 0], &[3, 2], "a.distcp", 0, length)],
            "is float32 of [2, 3], where .metadata says float32 of [3, 2]",
        ),
        (&[6], &[(&[0], &[6], "a.distcp", 0, length)], "is float32 of [2, 3], where .metadata says float32 of [6]"),
        (&[huge], &[(&[0], &[huge], "a.distcp", 0, length)], "bytes are too few for its piece at [0]"),
        (&[-1, 3], &[first], "a non-negative number"),
        (&[2, 3], &[(&[0], &[2, 3], "a.distcp", 0, length)], "lies outside of its sizes"),
        (
            &[2, 3],
            &[in_file("../a.distcp")],
            "w: the checkpoint's .metadata is wrong: the file ../a.distcp lies outside",
        ),
        (&[2, 3], &[in_file("/etc/passwd")], "the file /etc/passwd lies outside of the folder"),
        (&[2, 3], &[in_file("a/../../b")], "the file a/../../b lies outside of the folder"),
        (&[2, 3], &[in_file("")], "lies outside of the folder"),
        (&[2, 3], &[in_file("a\0")], "the file a\\u{0} lies outside of the folder"),
    ];
    for (sizes, pieces, part) in cases {
        write(metadata(sizes, pieces, &path));
        refused(target.path(), ErrorKind::ValueError, part);
    }
    write(metadata(&[huge, 8], &[first], &path));
    refused(target.path(), ErrorKind::RuntimeError, "w: Storage size calculation overflowed");
    // No name of a file on Windows.
    if cfg!(unix) {
        write(metadata(&[2, 3], &[in_file("\u{1b}[2J")], &path));
        refused(target.path(), ErrorKind::FileNotFoundError, "the file \\u{1b}[2J, which has w, is missing");
    }
    // A shape with many dimensions, an object with many attributes.
    write(metadata(&[1; 65], &[first], &path));
    refused(target.path(), ErrorKind::ValueError, "a tensor of 65 dimensions");
    let attributes: Vec<_> = (0..65).map(|_| ("a", pickle::int(0))).collect();
    write([&pickle::object("Metadata", &attributes)[..], b"."].concat());
    refused(target.path(), ErrorKind::ValueError, "a Metadata has more than 64 attributes");
    // Paths into containers.
    let text = pickle::text;
    for (path, part) in [
        (vec![], "is not in a dictionary"),
        (vec![pickle::int(0)], "is not in a dictionary"),
        (vec![text("a"), pickle::int(-1)], "a non-negative number"),
        (vec![text("a"), pickle::int(1 << 40)], "lacks too many items"),
        (vec![text("a"); 300], "maximum recursion depth exceeded"),
    ] {
        write(metadata(&[2, 3], &[first], &path));
        let error = refusal(target.path());
        assert!(error.message.contains(part), "{error}");
    }
    write(metadata(&[2, 3], &[first], &[text("a"), pickle::int(1), text("b")]));
    assert!(describe(&load().unwrap()).contains("value.a[1].b: tensor float32 [2, 3]"));
}

#[test]
fn archives_in_pieces_that_lie_are_refused() {
    let target = tempfile::tempdir().unwrap();
    let write = |sizes: &[i64], bytes: &[u8]| {
        let piece: Told = (&vec![0; sizes.len()], sizes, "a", 0, bytes.len() as i64);
        fs::write(target.path().join(".metadata"), metadata(sizes, &[piece], &[pickle::text("w")])).unwrap();
        fs::write(target.path().join("a"), bytes).unwrap();
    };
    write(&[2], &archive(&[2], DType::Int));
    refused(target.path(), ErrorKind::ValueError, "w: its piece at [0] is int32 of [2], where .metadata says float32");
    let mut list = Cursor::new(Vec::new());
    let ones = View::zeros(&[2], DType::Float, Device::CPU).unwrap();
    files::write(
        &Value::Dict(Dict::of_names([("x", Value::from(ones.clone()))])),
        "a",
        &SaveOptions::default(),
        &mut list,
    )
    .unwrap();
    write(&[2], &list.into_inner());
    let error = refusal(target.path());
    assert_eq!((error.kind, &*error.message), (ErrorKind::ValueError, "w: its piece at [0] is not a tensor"));
    // An expanded tensor cannot be larger than its file.
    let expanded = ones.with_layout(tensorsh::tensor::Layout {
        sizes: [1 << 40].as_slice().into(),
        strides: [0].as_slice().into(),
        offset: 0,
    });
    let mut bytes = Cursor::new(Vec::new());
    files::write(&Value::from(expanded), "archive", &SaveOptions::default(), &mut bytes).unwrap();
    write(&[1 << 40], &bytes.into_inner());
    refused(target.path(), ErrorKind::ValueError, "bytes are too few for its piece at [0]");
    // Code is rejected by name.
    let code = fs::read(folder().join("code.pt")).unwrap();
    write(&[2], &code);
    let error = refusal(target.path());
    assert_eq!(error.kind, ErrorKind::UnpicklingError);
    assert!(error.message.contains("Trying to load unsupported GLOBAL posix.system whose module posix is blocked."));
}

#[test]
fn metadata_of_other_classes_is_refused() {
    let target = tempfile::tempdir().unwrap();
    for (pickle, kind, part) in [
        (&b"N."[..], ErrorKind::ValueError, "expected a Metadata, not another value"),
        (b"cposix\nsystem\nX\x02\0\0\0ls\x85R.", ErrorKind::ValueError, "expected a Metadata, not posix.system"),
        (b"c\x1b[2J\nb\n)R.", ErrorKind::ValueError, "expected a Metadata, not \\u{1b}[2J.b"),
        (b"", ErrorKind::EOFError, ""),
        (b"a", ErrorKind::IndexError, ""),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff", ErrorKind::EOFError, ""),
        (b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f", ErrorKind::EOFError, ""),
        (b"\x8b\xff\xff\xff\xff.", ErrorKind::UnpicklingError, "negative length"),
        (b"NN\x93.", ErrorKind::UnpicklingError, "named by two strings"),
        (b"N(\x90.", ErrorKind::UnpicklingError, "only a set takes items"),
        (b"\x94.", ErrorKind::IndexError, ""),
    ] {
        fs::write(target.path().join(".metadata"), pickle).unwrap();
        refused(target.path(), kind, part);
    }
    fs::write(target.path().join(".metadata"), b"ctorch.distributed.checkpoint.metadata\nMetadata\n)\x81.").unwrap();
    refused(target.path(), ErrorKind::ValueError, "a Metadata has no storage_data");
}
