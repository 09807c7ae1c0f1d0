//! Compares differences of files with the simplest method: read every element and subtract in double precision. Sizes
//! are close to every size at which the comparison takes another path; layouts and owners of the bytes vary.

use super::{contents_at, folder, open, save_as, source};
use serde_json::Value as Json;
use std::path::Path;
use tensorsh::files::{self, Contents};
use tensorsh::tensor::thresholds::{COMPARED, COMPARED_AT_ONCE, RUN};
use tensorsh::tensor::{DType, Element, Layout, Scalar, Storage, View};
use tensorsh::value::{Dict, Value};

fn compare(a: &Contents, b: &Contents, tolerance: f64) -> Json {
    let differences = files::diff(a, b, tolerance).unwrap();
    let report: Json = serde_json::from_str(&differences.json()).unwrap();
    assert_eq!(report["is_equal"], differences.is_equal());
    report
}

fn bytes_of(dtype: DType, numbers: &[f64]) -> Vec<u8> {
    match dtype {
        DType::Double => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
        DType::Float => numbers.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect(),
        DType::Half => numbers.iter().flat_map(|&x| half::f16::store(Scalar::Float(x)).to_le_bytes()).collect(),
        DType::Long => numbers.iter().flat_map(|&number| (number as i64).to_le_bytes()).collect(),
        DType::Byte => numbers.iter().map(|&number| number as u8).collect(),
        other => panic!("{other:?} is not made here"),
    }
}

/// Converts bytes to numbers in the simplest way.
fn numbers_of(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.chunks_exact(N).map(|chunk| number(chunk.try_into().unwrap())).collect()
    }
    match dtype {
        DType::Double => each(bytes, f64::from_le_bytes),
        DType::Float => each(bytes, |bytes| f32::from_le_bytes(bytes).into()),
        DType::Half => each(bytes, |bytes| half::f16::from_le_bytes(bytes).to_f64()),
        DType::Long => each(bytes, |bytes| i64::from_le_bytes(bytes) as f64),
        _ => bytes.iter().map(|&byte| byte.into()).collect(),
    }
}

fn tensor(dtype: DType, layout: Layout, bytes: &[u8]) -> Value {
    let storage = Storage::from_bytes(bytes).unwrap();
    let view = View { storage, layout, dtype, conj: false, neg: false, form: None };
    view.check_bounds().unwrap();
    Value::from(view)
}

fn named(tensor: Value) -> Value {
    Value::Dict(Dict::new(vec![(Value::str("x"), tensor)]).unwrap())
}

/// Returns a tensor with every second element of a padded row.
fn stepped(dtype: DType, bytes: &[u8]) -> Value {
    let itemsize = dtype.itemsize();
    let spread: Vec<u8> = bytes.chunks_exact(itemsize).flat_map(|item| [item, &vec![7; itemsize]].concat()).collect();
    let layout = Layout {
        sizes: [(bytes.len() / itemsize) as i64].into_iter().collect(),
        strides: [2].into_iter().collect(),
        offset: 0,
    };
    tensor(dtype, layout, &spread)
}

/// Returns a tensor in every place that a comparison may find one: in the session, and in files that are mapped, packed
/// or in memory.
fn everywhere(dtype: DType, bytes: &[u8]) -> Vec<(&'static str, Contents)> {
    let row = Layout::contiguous(&[(bytes.len() / dtype.itemsize()) as i64]);
    let value = named(tensor(dtype, row, bytes));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut found = vec![
        ("in the session", files::contents_of(&value).unwrap()),
        ("stepped", files::contents_of(&named(stepped(dtype, bytes))).unwrap()),
    ];
    for name in ["x.safetensors", "x.pt", "x.npz"] {
        save_as(&value, path(name).to_str().unwrap()).unwrap();
        found.push((name, files::contents(&open(&path(name))).unwrap()));
    }
    let whole = std::fs::read(path("x.pt")).unwrap();
    found.push(("in memory", files::contents(&source(&whole)).unwrap()));
    found
}

#[test]
fn differences_are_those_of_the_simplest_way() {
    let around = |size: usize| [size - 1, size, size + 1];
    let sizes = [1, 2, 4095, 4096, 4097].into_iter().chain(around(COMPARED)).chain(around(COMPARED_AT_ONCE));
    for (round, count) in sizes.chain([100_003]).enumerate() {
        for (dtype, other) in [
            (DType::Float, DType::Float),
            (DType::Double, DType::Half),
            (DType::Long, DType::Long),
            (DType::Byte, DType::Float),
        ] {
            let number = |k: usize| ((k * 37 + round) % 201) as f64;
            let before: Vec<f64> = (0..count).map(number).collect();
            let mut after = before.clone();
            for (step, place) in [0, count / 3, count / 2, count - 1].into_iter().enumerate() {
                after[place] += step as f64;
            }
            let (old, new) = (bytes_of(dtype, &before), bytes_of(other, &after));
            let (x, y) = (numbers_of(dtype, &old), numbers_of(other, &new));
            let (mut differing, mut greatest, mut at, mut sum) = (0, 0.0, 0, 0.0);
            for (place, (x, y)) in x.iter().zip(&y).enumerate() {
                let apart = (x - y).abs();
                differing += u64::from(apart > 0.0);
                sum += apart;
                if apart > greatest {
                    (greatest, at) = (apart, place);
                }
            }
            for (from, a) in everywhere(dtype, &old) {
                for (to, b) in everywhere(other, &new) {
                    let told = compare(&a, &b, 0.0);
                    let what = format!("{count} of {dtype:?} {from}, {other:?} {to}: {told:#}");
                    if differing == 0 && dtype == other {
                        assert_eq!(told["is_equal"], true, "{what}");
                        continue;
                    }
                    let elements = &told["changes"][0]["elements"];
                    assert_eq!(elements["compared"], count, "{what}");
                    assert_eq!(elements["differing"], differing, "{what}");
                    assert_eq!(elements["greatest_difference"], greatest, "{what}");
                    assert_eq!(elements["at"][0], if greatest > 0.0 { at } else { 0 }, "{what}");
                    let mean = elements["mean_difference"].as_f64().unwrap();
                    assert!((mean - sum / count as f64).abs() <= 1e-12 * mean, "{what}");
                }
            }
        }
    }
}

/// Columns of wider rows, which are read run by run if that is worthwhile, compared with the same numbers in a row.
#[test]
fn runs_of_a_file_are_those_of_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let save = |name: &str, layout: Layout, bytes: &[u8]| {
        save_as(&named(tensor(DType::Short, layout, bytes)), path(name).to_str().unwrap()).unwrap();
    };
    let number = |k: usize| ((k * 7919 + 13) % 30011) as i16;
    for run in [1, RUN / 2 - 1, RUN / 2, RUN / 2 + 1, 3000] {
        for (rows, planes) in [(1, 1), (3, 2), (2, 3), (COMPARED / run + 2, 1)] {
            let width = run + 5;
            let wide: Vec<u8> = (0..planes * rows * width).flat_map(|k| number(k).to_le_bytes()).collect();
            let (sizes, strides) = ([planes, rows, run], [rows * width, width, 1]);
            let narrow = Layout {
                sizes: sizes.iter().map(|&size| size as i64).collect(),
                strides: strides.iter().map(|&stride| stride as i64).collect(),
                offset: 3,
            };
            save("wide.pt", narrow.clone(), &wide);
            let mut row: Vec<u8> = narrow.offsets().flat_map(|k| number(k as usize).to_le_bytes()).collect();
            save("row.pt", Layout::contiguous(&narrow.sizes), &row);
            let contents = |name: &str| files::contents(&open(&path(name))).unwrap();
            let what = format!("{planes} times {rows} runs of {run}");
            assert_eq!(compare(&contents("wide.pt"), &contents("row.pt"), 0.0)["is_equal"], true, "{what}");
            let place = row.len() / 2 / 3 * 2;
            row[place] ^= 1;
            save("row.pt", Layout::contiguous(&narrow.sizes), &row);
            for [a, b] in [["wide.pt", "row.pt"], ["row.pt", "wide.pt"]] {
                let told = compare(&contents(a), &contents(b), 0.0);
                let elements = &told["changes"][0]["elements"];
                assert_eq!(
                    (&elements["differing"], &elements["greatest_difference"]),
                    (&1.into(), &1.0.into()),
                    "{what}"
                );
                let at: Vec<usize> =
                    elements["at"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect();
                assert_eq!((at[0] * rows + at[1]) * run + at[2], place / 2, "{what}");
            }
        }
    }
}

/// Returns the element statistics of the only tensor that changed.
fn elements(a: &[f64], b: &[f64], tolerance: f64) -> Json {
    let contents = |numbers: &[f64]| {
        let row = Layout::contiguous(&[numbers.len() as i64]);
        files::contents_of(&named(tensor(DType::Double, row, &bytes_of(DType::Double, numbers)))).unwrap()
    };
    compare(&contents(a), &contents(b), tolerance)["changes"][0]["elements"].clone()
}

#[test]
fn numbers_that_are_none_are_told_apart() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let told = elements(&[1.0, 2.0, nan, nan, inf, inf, 0.0], &[nan, inf, nan, 4.0, inf, -inf, -0.0], 0.0);
    assert_eq!((&told["differing"], &told["new_nan"], &told["new_infinities"]), (&4.into(), &1.into(), &1.into()));
    assert_eq!(told["equal_in_other_bytes"], 1, "a zero with a sign");
    assert_eq!(told["greatest_difference"], 0.0);
    assert_eq!(elements(&[0.0], &[-0.0], 0.0), Json::Null, "equal in value");
    let told = elements(&[100.0, 1.0, 0.0], &[101.0, 1.25, 0.005], 0.01);
    assert_eq!(told["differing"], 1, "1 of 100 and 0.005 of 0 lie within, a quarter of 1 does not");
    assert_eq!(told["greatest_difference"], 1.0);
    assert_eq!(told["greatest_relative_difference"], 1.0);
}

#[test]
fn integers_are_compared_to_the_last_bit() {
    let large = 1i64 << 62;
    let contents = |number: i64| {
        files::contents_of(&tensor(DType::Long, Layout::contiguous(&[1]), &number.to_le_bytes())).unwrap()
    };
    let told = compare(&contents(large), &contents(large + 1), 0.0);
    assert_eq!(told["changes"][0]["elements"]["greatest_difference"], 1.0);
    assert_eq!(compare(&contents(large), &contents(large), 0.0)["is_equal"], true);
}

#[test]
fn every_file_is_equal_to_itself_and_differs_from_others() {
    let mut names: Vec<_> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let contents = |path: &Path| contents_at(path.to_str().unwrap());
    names.retain(|path| contents(path).is_ok() && path.extension().is_none_or(|it| it != "txt"));
    names.sort();
    assert!(names.len() >= 18);
    for path in &names {
        // A tensor that extends beyond its storage cannot be compared, and is rejected.
        if let Ok(differences) = files::diff(&contents(path).unwrap(), &contents(path).unwrap(), 0.0) {
            assert!(differences.is_equal(), "{}:\n{}", path.display(), differences.text());
        }
    }
    let npy = |name: &str| files::contents(&open(&folder().join(name))).unwrap();
    assert_eq!(
        compare(&npy("rows.npy"), &npy("columns.npy"), 0.0)["is_equal"],
        true,
        "the same numbers in another order"
    );
    assert_eq!(compare(&npy("rows.npy"), &npy("scalar.npy"), 0.0)["is_equal"], false);
}

#[test]
fn names_shapes_and_sharing_are_told() {
    let row = |count: i64| Layout::contiguous(&[count]);
    let storage = Storage::from_bytes(&[1, 2, 3, 4]).unwrap();
    let on = |layout: Layout| {
        Value::from(View { storage: storage.clone(), layout, dtype: DType::Byte, conj: false, neg: false, form: None })
    };
    let alone = |bytes: &[u8]| tensor(DType::Byte, row(bytes.len() as i64), bytes);
    let dict = |entries: Vec<(&str, Value)>| {
        let entries: Vec<_> = entries.into_iter().map(|(name, value)| (Value::str(name), value)).collect();
        files::contents_of(&Value::Dict(Dict::new(entries).unwrap())).unwrap()
    };
    let before = dict(vec![
        ("a", on(row(4))),
        ("b", on(row(2))),
        ("moved", alone(&[9, 8, 7])),
        ("gone", alone(&[5])),
        ("shape", alone(&[1, 2])),
        ("step", Value::Int(3)),
    ]);
    let after = dict(vec![
        ("a", alone(&[1, 2, 3, 4])),
        ("b", alone(&[1, 2])),
        ("here", alone(&[9, 8, 7])),
        ("came", alone(&[6])),
        ("shape", alone(&[1, 2, 3])),
        ("step", Value::Int(4)),
    ]);
    let text = files::diff(&before, &after, 0.0).unwrap().text();
    assert_eq!(
        text,
        "shape    shape  uint8 (2,) → uint8 (3,)\nrenamed  moved  → here\nremoved  gone   uint8 (1,)\nadded    came   \
         uint8 (1,)\nsharing  a, b   share a storage in the first only\nvalue    step   3 → 4\n2 tensors equal, 1 with another \
         shape, 1 renamed, 1 removed, 1 added, 1 other value changed"
    );
}
