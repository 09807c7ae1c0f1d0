//! Compares conversions to other formats and dtypes with the simplest method: load everything, cast each tensor as a
//! whole, and compare. Sizes are close to the number of elements copied at a time.

use super::describe::describe;
use super::{folder, load_any, open, save_as};
use std::path::Path;
use std::sync::Arc;
use tensorsh::files::{self, Conversion, Input, SaveOptions};
use tensorsh::tensor::ops::copy;
use tensorsh::tensor::thresholds::CONVERTED;
use tensorsh::tensor::{DType, ErrorKind, Layout, MemoryFormat, Result, Storage, View};
use tensorsh::value::{Dict, List, Value};

fn try_how(from: &Path, to: &Path, how: &Conversion) -> Result<Vec<String>> {
    let from = Input::at(from.to_str().unwrap()).unwrap();
    files::convert(&from, to.to_str().unwrap(), how, &Arc::default())
}

fn try_to(from: &Path, to: &Path, dtype: Option<DType>) -> Result<Vec<String>> {
    let dtype = dtype.map(|dtype| dtype.name().to_owned());
    try_how(from, to, &Conversion { dtype, ..Conversion::default() })
}

fn convert(from: &Path, to: &Path, dtype: Option<DType>) {
    try_to(from, to, dtype).unwrap_or_else(|error| panic!("{} to {}: {error}", from.display(), to.display()));
}

fn load(path: &Path) -> Value {
    load_any(&open(path), true).unwrap()
}

/// Casts every float tensor of a dictionary as a whole.
fn cast(value: &Value, dtype: DType) -> Vec<(Value, View)> {
    let tensor = |(name, value): &(Value, Value)| match value {
        Value::Tensor(tensor) => {
            let view = tensor.view();
            let dtype = if view.dtype.is_floating_point() { dtype } else { view.dtype };
            (name.clone(), copy::cast_as(&view, dtype, MemoryFormat::Contiguous).unwrap())
        }
        other => panic!("{other:?}"),
    };
    value.entries().unwrap().iter().map(tensor).collect()
}

#[test]
fn a_checkpoint_stays_what_it_is() {
    let target = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let told = path.with_file_name(format!("{}.txt", path.file_name().unwrap().to_string_lossy()));
        if path.extension().is_some_and(|extension| extension == "pt") && told.exists() {
            let copy = target.path().join(path.file_name().unwrap());
            convert(&path, &copy, None);
            assert_eq!(describe(&load(&copy)), std::fs::read_to_string(told).unwrap(), "{}", path.display());
        }
    }
}

#[test]
fn floats_become_what_a_cast_makes_of_them() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| target.path().join(name);
    for count in [0, 1, CONVERTED - 1, CONVERTED, CONVERTED + 1, 2 * CONVERTED + 7, 100_003] {
        let bytes: Vec<u8> = (0..count).flat_map(|k| ((k * 37 % 1009) as f32 / 7.0 - 70.0).to_le_bytes()).collect();
        let storage = Storage::from_bytes(&bytes).unwrap();
        let view = |layout: Layout, dtype: DType| View {
            storage: storage.clone(),
            layout,
            dtype,
            conj: false,
            neg: false,
            form: None,
        };
        let rows = Layout::contiguous(&[(count / 2) as i64, 2]);
        let turned = rows.transpose(0, 1).unwrap();
        let named = |name: &str, view: View| {
            save_as(
                &Value::Dict(Dict::new(vec![(Value::str("x"), Value::from(view))]).unwrap()),
                path(name).to_str().unwrap(),
            )
            .unwrap();
        };
        named("rows.pt", view(rows, DType::Float));
        named("turned.pt", view(turned, DType::Float));
        for dtype in [DType::Float, DType::Double, DType::BFloat16, DType::Half, DType::Float8_e5m2] {
            for (from, to) in [
                ("rows.pt", "y.pt"),
                ("rows.pt", "y.safetensors"),
                ("turned.pt", "y.safetensors"),
                ("turned.pt", "z.pt"),
            ] {
                convert(&path(from), &path(to), Some(dtype));
                for ((name, want), (_, is)) in cast(&load(&path(from)), dtype).iter().zip(cast(&load(&path(to)), dtype))
                {
                    assert_eq!((want.sizes(), want.dtype), (is.sizes(), is.dtype));
                    let bytes = |view: &View| view.storage.to_vec().unwrap();
                    assert_eq!(bytes(want), bytes(&is), "{count} elements of {name:?} in {from}, as {dtype:?} in {to}");
                }
            }
        }
        convert(&path("turned.pt"), &path("y.npz"), Some(DType::Half));
        let [(_, want), (_, is)] = [
            cast(&load(&path("turned.pt")), DType::Half).remove(0),
            cast(&load(&path("y.npz")), DType::Half).remove(0),
        ];
        assert_eq!(want.storage.to_vec().unwrap(), is.storage.to_vec().unwrap());
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_by_name() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| target.path().join(name);
    let refused = |from: &Path, to: &str, dtype: Option<DType>| {
        let error = try_to(from, &path(to), dtype).unwrap_err();
        assert!(!path(to).exists());
        (error.kind, error.message)
    };
    let (kind, message) = refused(&folder().join("views.pt"), "x.safetensors", None);
    assert!(
        kind == ErrorKind::ValueError
            && message.starts_with("Some tensors share memory, ")
            && message.contains("--clone writes each on its own"),
        "{message}"
    );
    let (kind, message) = refused(&folder().join("arrays.npz"), "x.npy", None);
    assert!(kind == ErrorKind::ValueError && message.contains("can hold one tensor"), "{message}");
    let (kind, message) = refused(&folder().join("rows.npy"), "x.pt", Some(DType::Int));
    assert_eq!(
        (kind, message.as_str()),
        (
            ErrorKind::TypeError,
            "int32 is not a floating-point dtype: choose one of float16, bfloat16, float32, float64, float8_e4m3fn, \
         float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu"
        )
    );
    let (kind, message) = refused(&folder().join("dtypes.safetensors"), "x.npz", Some(DType::BFloat16));
    assert!(
        kind == ErrorKind::TypeError
            && message.contains(": npz has no bfloat16: write the numbers as another dtype (--as float32), or"),
        "{message}"
    );
    let (kind, message) = refused(&folder().join("records_aligned.npy"), "x.pt", None);
    assert!(
        kind == ErrorKind::ValueError && message.contains(" read the same storage as different dtypes"),
        "{message}"
    );
    let storage = Storage::from_bytes(&[0; 16]).unwrap();
    let view = |dtype: DType| View {
        storage: storage.clone(),
        layout: Layout::contiguous(&[1]),
        dtype,
        conj: false,
        neg: false,
        form: None,
    };
    let meta = View { storage: Storage::zeroed(8, tensorsh::tensor::Device::META).unwrap(), ..view(DType::Float) };
    files::save(&Value::from(meta), path("meta.pt").to_str().unwrap(), &SaveOptions::default()).unwrap();
    let (_, message) = refused(&path("meta.pt"), "x.npy", None);
    assert_eq!(message, "(all) has no data: it was on the meta device");
    let empty = View { layout: Layout::contiguous(&[0, 1 << 61]), ..view(DType::Float) };
    files::save(&Value::from(empty), path("empty.pt").to_str().unwrap(), &SaveOptions::default()).unwrap();
    for to in ["x.npy", "x.npz"] {
        let (kind, message) = refused(&path("empty.pt"), to, None);
        assert!(kind == ErrorKind::ValueError && message.starts_with("(all): array is too big; "), "{message}");
    }
}

#[test]
fn folders_and_blocks_become_files() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| target.path().join(name);
    let equal = |a: &Path, b: &Path| {
        let [a, b] = [a, b].map(|path| Input::at(path.to_str().unwrap()).unwrap().contents().unwrap());
        files::diff(&a, &b, 0.0).unwrap()
    };
    // Pieces of several writers, assembled.
    for name in ["two_writers", "four_writers"] {
        convert(&folder().join(name), &path("whole.pt"), None);
        let differences = equal(&folder().join(name), &path("whole.pt"));
        assert!(differences.is_equal(), "{name}: {}", differences.text());
    }
    convert(&folder().join("sharded"), &path("one.safetensors"), None);
    let differences = equal(&folder().join("sharded"), &path("one.safetensors"));
    assert!(!differences.text().contains("changed "), "{}", differences.text());
    // Blocks are dequantized. Their values are compared with the gguf package elsewhere.
    for to in ["blocks.safetensors", "blocks.pt", "blocks.npz"] {
        let note = try_to(&folder().join("blocks.gguf"), &path(to), None).unwrap();
        assert!(note.iter().any(|note| note.ends_with("of metadata left out")), "{note:?}");
        let text = equal(&folder().join("blocks.gguf"), &path(to)).text();
        assert!(text.contains(" → float32") && !text.contains(" differ"), "{to}: {text}");
    }
}

#[test]
fn a_list_that_holds_itself_is_converted() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| target.path().join(name);
    let list = List::default();
    let tensor = View {
        storage: Storage::from_bytes(&[0, 0, 128, 63]).unwrap(),
        layout: Layout::contiguous(&[1]),
        dtype: DType::Float,
        conj: false,
        neg: false,
        form: None,
    };
    list.replace(vec![Value::from(tensor), Value::List(list.clone()), Value::List(list.clone())]).unwrap();
    save_as(&Value::List(list), path("x.pt").to_str().unwrap()).unwrap();
    for dtype in [None, Some(DType::Half)] {
        let converted = path(if dtype.is_some() { "half.pt" } else { "same.pt" });
        convert(&path("x.pt"), &converted, dtype);
        let Value::List(list) = load(&converted) else { panic!("a list") };
        let items = list.to_vec();
        let is_itself = |item: &Value| matches!(item, Value::List(inner) if inner.identity() == list.identity());
        assert!(items.len() == 3 && items[1..].iter().all(is_itself));
        let Value::Tensor(tensor) = &items[0] else { panic!("a tensor") };
        assert_eq!(tensor.view().dtype, dtype.unwrap_or(DType::Float));
    }
}

/// Sparse and quantized tensors, parameters, containers and sharing are unchanged; only floats have another dtype.
#[test]
fn a_checkpoint_of_other_floats_is_otherwise_what_it_was() {
    let target = tempfile::tempdir().unwrap();
    let mut converted = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let told = path.with_file_name(format!("{}.txt", path.file_name().unwrap().to_string_lossy()));
        if path.extension().is_none_or(|extension| extension != "pt") || !told.exists() {
            continue;
        }
        let copy = target.path().join("copy.pt");
        if let Err(error) = try_to(&path, &copy, Some(DType::Half)) {
            assert!(error.message.contains("as different dtypes"), "{}: {error}", path.display());
            continue;
        }
        converted += 1;
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with("storage "));
            lines.map(|line| floats_named(line, "float16")).collect()
        };
        let (before, after) = (std::fs::read_to_string(&told).unwrap(), describe(&load(&copy)));
        assert_eq!(lines(&after), lines(&before), "{}", path.display());
        assert!(!after.contains("float32 ") && !after.contains("bfloat16 "), "{after}");
    }
    assert!(converted >= 6, "{converted}");
}

/// Replaces every float dtype in a line of a description with one name.
fn floats_named(line: &str, name: &str) -> String {
    let floats = DType::ALL.iter().filter(|dtype| dtype.is_floating_point()).map(|dtype| dtype.name());
    let is_float = |word: &&str| floats.clone().any(|float| float == *word);
    line.split(' ').map(|word| if is_float(&word) { name } else { word }).collect::<Vec<_>>().join(" ")
}
