//! Files of tensors. PyTorch, numpy, safetensors and gguf created those in tests/files/ with scripts/house/files.py,
//! which also wrote a description of each. `describe` produces the same text.

#[path = "files/convert.rs"]
mod convert;
#[path = "files/describe.rs"]
mod describe;
#[path = "files/diff.rs"]
mod diff;
#[path = "files/folders.rs"]
mod folders;
#[path = "files/fuzz.rs"]
mod fuzz;
#[path = "files/gguf.rs"]
mod gguf;
#[path = "files/hostile.rs"]
mod hostile;
#[path = "files/lying_around.rs"]
mod lying_around;
#[path = "files/page.rs"]
#[cfg(unix)]
mod page;
#[path = "files/round_trip.rs"]
mod round_trip;

use describe::describe;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tensorsh::files::{self, Contents, Input, Loading, Options, SaveOptions, Source};
use tensorsh::tensor::{ErrorKind, Memory, Result};
use tensorsh::value::{Dict, Value};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// Returns the loadable files: name, path and description.
fn references() -> Vec<(String, PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let told = entry.unwrap().path();
        // Folders have their own tests.
        if told.with_extension("").is_dir() {
            continue;
        }
        if told.extension().is_some_and(|extension| extension == "txt") {
            let file = told.with_extension("");
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            found.push((name, file, with_own_nans(&fs::read_to_string(&told).unwrap())));
        }
    }
    found.sort();
    assert!(found.len() >= 20, "tests/files has lost its files");
    found
}

/// Replaces the `float32` NaN that x86 makes by this processor's: ARM makes a positive one.
fn with_own_nans(told: &str) -> String {
    let made = std::hint::black_box(f32::INFINITY) * 0.0;
    told.replace("0000c0ff", &describe::hex(&made.to_le_bytes()))
}

/// Treats bytes as a file.
fn source(bytes: &[u8]) -> Source {
    Source::of_memory(&Rc::new(Memory::from_bytes(bytes).unwrap()), 0).unwrap()
}

fn open(path: &Path) -> Source {
    Source::open(path.to_str().unwrap()).unwrap()
}

fn loading(mapped: bool) -> Loading<'static> {
    Loading { mapped, say: &|_| (), attach: None, devices: None }
}

/// Loads the file or folder at a path.
fn load_path(path: &str, mapped: bool) -> Result<Value> {
    Input::at(path)?.load(&loading(mapped))
}

fn load_any(source: &Source, mapped: bool) -> Result<Value> {
    files::load_any(source, &loading(mapped))
}

fn save_as(value: &Value, path: &str) -> Result<()> {
    files::save_as(value, path, &SaveOptions::default())
}

fn contents_at(path: &str) -> Result<Contents> {
    Input::at(path)?.contents()
}

fn load_bytes(bytes: &[u8]) -> Result<Value> {
    load_any(&source(bytes), false)
}

#[test]
fn files_of_others_hold_what_they_say() {
    for (name, path, told) in references() {
        for mapped in [false, true] {
            let value = load_any(&open(&path), mapped).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(describe(&value), told, "{name}, mapped: {mapped}");
        }
        assert_eq!(describe(&load_bytes(&fs::read(&path).unwrap()).unwrap()), told, "{name} as bytes");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let target = tempfile::tempdir().unwrap();
    // Records, GGUF, pickles and the first archives can be read but not written.
    let is_written = |name: &str| {
        !name.starts_with("records") && ![".gguf", ".pkl", ".tar"].iter().any(|ending| name.ends_with(ending))
    };
    for (name, path, told) in references().into_iter().filter(|(name, ..)| is_written(name)) {
        let copy = target.path().join(&name);
        save_as(&load_any(&open(&path), true).unwrap(), copy.to_str().unwrap()).unwrap();
        let value = load_any(&open(&copy), true).unwrap();
        assert_eq!(describe(&value), told, "{name}");
    }
}

#[test]
fn numpy_writes_the_same_bytes() {
    let target = tempfile::tempdir().unwrap();
    for name in ["rows.npy", "columns.npy", "scalar.npy", "empty.npy", "complex.npy", "flags.npy"] {
        let (original, copy) = (folder().join(name), target.path().join(name));
        save_as(&load_any(&open(&original), true).unwrap(), copy.to_str().unwrap()).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&original).unwrap(), "{name}");
    }
}

#[test]
fn what_shares_memory_is_mapped_once_and_the_file_stays_as_it_is() {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("views.pt");
    fs::copy(folder().join("views.pt"), &path).unwrap();
    let before = fs::read(&path).unwrap();
    let value = files::load(&open(&path), &Options { mapped: true, ..Options::default() }).unwrap();
    let (base, transposed) = (entry(&value, "base"), entry(&value, "transposed"));
    assert!(base.view().storage == transposed.view().storage);
    assert!(base.is(&entry(&value, "again")));
    assert!(base.view().storage.set_byte(3, 0x40).unwrap());
    assert_eq!(transposed.view().storage.byte(3).unwrap(), Some(0x40));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(base.view().data_ptr() % 64, 0);
    // The file itself may be replaced while it is mapped; Windows refuses.
    assert_eq!(save_as(&value, path.to_str().unwrap()).is_ok(), cfg!(unix));
    assert_eq!(transposed.view().storage.byte(3).unwrap(), Some(0x40));
    assert_eq!(fs::read(&path).unwrap() != before, cfg!(unix));
}

fn entry(value: &Value, name: &str) -> tensorsh::tensor::Tensor {
    let entries = value.entries().expect("a dictionary");
    let found = entries.iter().find(|(key, _)| matches!(key, Value::Str(key) if **key == *name));
    match found {
        Some((_, Value::Tensor(tensor))) => tensor.clone(),
        _ => panic!("no tensor {name}"),
    }
}

/// Returns a safetensors header for one tensor of `nbytes` bytes.
#[cfg(unix)]
fn safetensors_header(nbytes: u64) -> Vec<u8> {
    let text = format!(r#"{{"weight":{{"dtype":"U8","shape":[{nbytes}],"data_offsets":[0,{nbytes}]}}}}"#);
    let padded = format!("{text:width$}", width = text.len().next_multiple_of(8));
    [&(padded.len() as u64).to_le_bytes(), padded.as_bytes()].concat()
}

/// Windows would count all of the private mapping as memory.
#[cfg(unix)]
#[test]
fn a_file_of_100_gigabytes_is_inspected_and_loaded_at_once() {
    const LENGTH: u64 = 100 << 30;
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("large.safetensors");
    let header = safetensors_header(LENGTH);
    fs::write(&path, &header).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(LENGTH + header.len() as u64).unwrap();
    let both = || (files::contents(&open(&path)).unwrap(), load_any(&open(&path), true).unwrap());
    let (report, value) = crate::pace::within(50, "a file of 100 gigabytes", both);
    assert!(report.text().contains("1 tensor on 1 storage of 107374182400 bytes (107.4 GB)"), "{}", report.text());
    assert_eq!(entry(&value, "weight").view().numel(), LENGTH as i64);
}

/// Loading rejects these files because of one name. A report lists everything else, and executes nothing either.
#[test]
fn a_report_tells_what_is_not_loaded() {
    for (name, kind) in [("mixed.pt", "PyTorch checkpoint"), ("mixed_legacy.pt", "checkpoint")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
        assert!(load_any(&open(&path), false).is_err(), "{name}");
        let report = files::contents(&open(&path)).unwrap();
        let text = report.text();
        assert!(text.contains(kind), "{text}");
        for line in [
            "settings.first             float32  (3,)    (1,)    0       12     ",
            "counts.a[0]                float32  (1, 3)  (3, 1)  3       12     ",
            "6 tensors on 4 storages of 44 bytes; 16 other values",
            "value epoch: int 3",
            "value name: str 'run\\u{1b}[31m of today'",
            "value made: datetime.datetime",
            "value module.in_features: int 2",
            "value kind: type datetime.date",
            "value dtype: torch.dtype torch.float16",
            "not executed: argparse.Namespace, collections.defaultdict, datetime.date, datetime.datetime, list, \
             torch.nn.modules.linear.Linear",
        ] {
            assert!(text.lines().any(|found| found.starts_with(line)), "{name}: {line}\n{text}");
        }
        let json = report.json();
        for part in ["\"class\": \"datetime.datetime\"", "\"value\": \"0.001\"", "\"not_executed\": ["] {
            assert!(json.contains(part), "{name}: {part}\n{json}");
        }
    }
    let path = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let text = files::contents(&open(&path("code.pt"))).unwrap().text();
    assert!(text.ends_with("\nnot executed: posix.system"), "{text}");
    let text = files::contents(&open(&path("dtypes.safetensors"))).unwrap().text();
    assert!(text.contains("\nmetadata made: by safetensors"), "{text}");
}

/// `torch.load` rejects numpy arrays with PyTorch's message; `load` and reports treat them as tensors.
#[test]
fn arrays_in_checkpoints_are_tensors_to_load_alone() {
    let message = |name: &str| match files::load(&open(&folder().join(name)), &Options::default()) {
        Err(error) if error.kind == ErrorKind::UnpicklingError => error.message,
        _ => panic!("no UnpicklingError"),
    };
    let unsupported = "WeightsUnpickler error: Unsupported global: GLOBAL numpy._core.multiarray._reconstruct was not an \
                       allowed global by default. Please use \
                       `torch.serialization.add_safe_globals([numpy._core.multiarray._reconstruct])`";
    assert!(message("numpy.pt").contains(unsupported));
    assert!(message("objects.pt").contains(unsupported));
    assert!(message("numpy_newest.pt").contains("WeightsUnpickler error: Unsupported operand 149\n"));
    let report = files::contents(&open(&folder().join("numpy.pt"))).unwrap();
    let text = report.text();
    for line in [
        "columns  array  float32     (2, 3)  (1, 2)  0       24     columns",
        "swapped  array  float32     (2, 3)  (3, 1)  0       24     swapped",
        "best     array  float64     ()      ()      0       8      best",
        "value nothing: bytes 0 bytes",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("not executed"), "{text}");
    let swapped = report.entries.iter().find(|entry| entry.name == "swapped").unwrap();
    let bytes = report.storages[swapped.storage.unwrap()].open().unwrap().to_vec().unwrap();
    assert_eq!(bytes[4..8], 1f32.to_le_bytes());
    // Arrays of objects are listed with the tensors in them.
    let error = load_bytes(&fs::read(folder().join("objects.pt")).unwrap()).unwrap_err();
    assert!(error.message.contains("Object arrays cannot be loaded when allow_pickle=False"), "{error}");
    let text = files::contents(&open(&folder().join("objects.pt"))).unwrap().text();
    for part in ["things(0)[4][0]         float32", "plain            array  int64", "\nnot executed: numpy.ndarray"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_report_tells_the_fields_of_records() {
    let text = |name: &str| files::contents(&open(&folder().join(name))).unwrap().text();
    let aligned = text("records_aligned.npy");
    for line in [
        "one.x          float64    (2, 3)        (10, 20)        0       48     records",
        "several.y      complex64  (2, 3, 2, 2)  (10, 20, 3, 1)  0       192    several.y",
        "n\\u{1b}[31m'o  uint8      (2, 3)        (80, 160)       24      6      records",
    ] {
        assert!(aligned.lines().any(|found| found == line), "{line}\n{aligned}");
    }
    let packed = text("records.npz");
    assert!(packed.contains("packed.d               int16      (3,)          (1,)"), "{packed}");
}

#[test]
fn a_report_tells_who_shares_and_what_is_wasted() {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("small.pt");
    let large = tensorsh::tensor::View::zeros(&[1000], tensorsh::tensor::DType::Float, tensorsh::tensor::Device::CPU);
    let large = large.unwrap();
    let part = |start: i64, length: i64| {
        let layout = tensorsh::tensor::Layout { offset: start, ..tensorsh::tensor::Layout::contiguous(&[length]) };
        Value::from(large.with_layout(layout))
    };
    let value = Value::Dict(Dict::of_names([("a", part(0, 5)), ("b", part(3, 7))]));
    files::save(&value, path.to_str().unwrap(), &SaveOptions::default()).unwrap();
    let report = files::contents(&open(&path)).unwrap();
    let text = report.text();
    for line in [
        "a     float32  (5,)  (1,)    0       20     0",
        "b     float32  (7,)  (1,)    3       28     0",
        "storage 0 is shared by a, b",
        "storage 0 has 4000 bytes (4.0 kB), of which 3960 bytes (4.0 kB) belong to no tensor",
        "2 tensors on 1 storage of 4000 bytes (4.0 kB), 3960 bytes (4.0 kB) of them in no tensor",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let json = report.json();
    assert!(json.contains("\"unused_bytes\": 3960") && json.contains("\"storage_offset\": 3"), "{json}");
}
