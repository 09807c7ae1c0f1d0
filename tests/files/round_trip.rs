//! Random tensors of every dtype over a few shared storages, saved and loaded: everything about them is preserved. And
//! converted from every format to every other: they are equal, or the refusal names one.

use super::describe::describe;
use super::{contents_at, folder, load_bytes};
use proptest::prelude::*;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use tensorsh::files::{self, Contents, Conversion, Input, SaveOptions};
use tensorsh::tensor::{DType, Layout, Storage, Tensor, View};
use tensorsh::value::{Dict, Value};

/// Number of bytes of each storage.
const NBYTES: usize = 240;

/// Sizes, strides and offset of a view inside a storage, possibly overlapping or expanded.
fn layouts() -> impl Strategy<Value = (Vec<i64>, Vec<i64>, i64)> {
    proptest::collection::vec((0..4i64, 0..3i64), 0..4).prop_flat_map(|dims| {
        let (sizes, strides): (Vec<i64>, Vec<i64>) = dims.into_iter().unzip();
        let reach: i64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1).max(0) * stride).sum();
        // A storage has room for 15 of the widest elements, which have 16 bytes.
        let room = (NBYTES as i64 / 16 - 1 - reach).max(0);
        (Just(sizes), Just(strides), 0..=room)
    })
}

/// A storage: the index of its dtype, its bytes, and its views by sizes, strides, offset and flags.
type Group = (usize, Vec<u8>, Vec<(Vec<i64>, Vec<i64>, i64, u8)>);

fn tensors() -> impl Strategy<Value = Vec<Group>> {
    let bytes = proptest::collection::vec(any::<u8>(), NBYTES);
    let views = proptest::collection::vec((layouts(), any::<u8>()), 1..4).prop_map(|views| {
        views.into_iter().map(|((sizes, strides, offset), bits)| (sizes, strides, offset, bits)).collect()
    });
    proptest::collection::vec((0..DType::ALL.len(), bytes, views), 1..4)
}

proptest! {
    #[test]
    fn tensors_come_back_as_they_were(groups in tensors()) {
        let mut items = Vec::new();
        for (dtype, bytes, views) in groups {
            let (dtype, storage) = (DType::ALL[dtype], Storage::from_bytes(&bytes).unwrap());
            for (sizes, strides, offset, bits) in views {
                let layout = Layout { sizes: sizes.into(), strides: strides.into(), offset };
                let conj = bits & 1 > 0 && dtype.is_complex();
                let view = View { storage: storage.clone(), layout, dtype, conj, neg: bits & 2 > 0, form: None };
                prop_assume!(view.check_bounds().is_ok());
                let tensor = Tensor::new(view);
                let requires_grad = bits & 4 > 0 && dtype.is_differentiable();
                let tensor = match bits & 8 > 0 {
                    true => tensor.to_parameter(requires_grad),
                    false => {
                        tensor.autograd_mut(|meta| meta.requires_grad = requires_grad);
                        tensor
                    }
                };
                items.push(Value::Tensor(tensor.clone()));
                if bits & 16 > 0 {
                    items.push(Value::Tensor(tensor));
                }
            }
        }
        let value = Value::list(items);
        let mut bytes = Cursor::new(Vec::new());
        files::write(&value, "archive", &SaveOptions::default(), &mut bytes).unwrap();
        let loaded = load_bytes(&bytes.into_inner()).unwrap();
        prop_assert_eq!(describe(&loaded), describe(&value));
        // Tensors that were identical are identical again.
        let (Value::List(before), Value::List(after)) = (&value, &loaded) else { panic!("lists") };
        for i in 0..before.len() {
            for j in 0..before.len() {
                let is = |items: &[Value]| match (&items[i], &items[j]) {
                    (Value::Tensor(a), Value::Tensor(b)) => a.is(b),
                    _ => false,
                };
                prop_assert_eq!(is(&before.to_vec()), is(&after.to_vec()));
            }
        }
    }
}

const FORMATS: [&str; 4] = ["pt", "safetensors", "npz", "npy"];

/// Converts a file to a format. `None` for a refusal, which must name a tensor or the file.
fn converted(from: &str, to: &Path, how: &Conversion) -> Option<String> {
    let to = to.to_str().unwrap();
    let told = contents_at(from).unwrap();
    match files::convert(&Input::at(from).unwrap(), to, how, &Arc::default()) {
        Ok(_) => Some(to.to_owned()),
        Err(error) => {
            let names = told.entries.iter().map(|entry| &entry.name).chain(told.values.iter().map(|value| &value.name));
            let is_named = |name: &String| error.message.contains(if name.is_empty() { "(all)" } else { name });
            let is_of_file = [from, to].iter().any(|path| error.message.contains(path));
            assert!(names.into_iter().any(is_named) || is_of_file, "{from} to {to}: {error}");
            assert!(!Path::new(to).exists(), "{to} was written");
            None
        }
    }
}

/// Converts a file to every format and from there to every other. Returns the number of conversions and of refusals.
fn all_ways(from: &str, how: &Conversion) -> (usize, usize) {
    let target = tempfile::tempdir().unwrap();
    let (mut done, mut refused) = (0, 0);
    let before = contents_at(from).unwrap();
    let mut check = |path: &Option<String>| {
        let Some(path) = path else {
            refused += 1;
            return;
        };
        done += 1;
        // The array of an npy file has no name.
        if path.contains("npy") {
            let nbytes = |of: &Contents| of.entries.iter().map(|entry| entry.nbytes).sum::<u64>();
            assert_eq!(nbytes(&contents_at(path).unwrap()), nbytes(&before), "{from} to {path}");
            return;
        }
        let told = files::diff(&before, &contents_at(path).unwrap(), 0.0).unwrap();
        let json: serde_json::Value = serde_json::from_str(&told.json()).unwrap();
        assert_eq!(json["changes"].as_array().map(Vec::len), Some(0), "{from} to {path}: {}", told.text());
    };
    for first in FORMATS {
        let one = converted(from, &target.path().join(format!("one.{first}")), how);
        check(&one);
        for second in FORMATS.iter().filter(|_| one.is_some()) {
            let two = target.path().join(format!("{first}_two.{second}"));
            check(&converted(one.as_deref().unwrap(), &two, how));
        }
    }
    (done, refused)
}

#[test]
fn files_of_others_are_equal_in_every_format_that_can_hold_them() {
    let (mut done, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // What is beside the tensors, and dequantized blocks, have tests of their own.
        if path.is_dir() || [".txt", ".rs", ".gguf"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let plain = Conversion::default();
        for how in [plain.clone(), Conversion { tensors: true, clone: true, ..plain }] {
            if how.tensors && contents_at(path.to_str().unwrap()).unwrap().entries.is_empty() {
                continue;
            }
            let (more, less) = all_ways(path.to_str().unwrap(), &how);
            (done, refused) = (done + more, refused + less);
        }
    }
    println!("{done} conversions, {refused} refusals");
    assert!(done > 500 && refused > 100, "{done} conversions, {refused} refusals");
}

/// Keys of which some make the same names.
const KEYS: [&str; 8] = ["a", "a.b", "b", "a[0]", "", "it's", "layer.0.weight", "é"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn tensors_are_equal_in_every_format_that_can_hold_them(
        groups in tensors(),
        keys in proptest::collection::vec((0..KEYS.len(), 0..KEYS.len(), any::<bool>()), 12),
        clone in any::<bool>(),
    ) {
        let root = Dict::default();
        let mut places = keys.into_iter().cycle();
        for (dtype, bytes, views) in groups {
            let (dtype, storage) = (DType::ALL[dtype], Storage::from_bytes(&bytes).unwrap());
            for (sizes, strides, offset, bits) in views {
                let layout = Layout { sizes: sizes.into(), strides: strides.into(), offset };
                let conj = bits & 1 > 0 && dtype.is_complex();
                let view = View { storage: storage.clone(), layout, dtype, conj, neg: bits & 2 > 0, form: None };
                prop_assume!(view.check_bounds().is_ok());
                let (outer, inner, is_nested) = places.next().unwrap();
                let tensor = Value::from(view);
                let (outer, inner) = (Value::str(KEYS[outer]), Value::str(KEYS[inner]));
                match (is_nested, root.get(&outer).unwrap()) {
                    (true, None) => root.insert(outer, Value::Dict(Dict::new([(inner, tensor)]).unwrap())).unwrap(),
                    (true, Some(Value::Dict(dict))) => dict.insert(inner, tensor).unwrap(),
                    _ => root.insert(outer, tensor).unwrap(),
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pt");
        files::save(&Value::Dict(root), path.to_str().unwrap(), &SaveOptions::default()).unwrap();
        let (done, _) = all_ways(path.to_str().unwrap(), &Conversion { clone, ..Conversion::default() });
        prop_assert!(done > 0);
    }
}
