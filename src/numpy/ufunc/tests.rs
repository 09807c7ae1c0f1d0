use super::*;
use crate::array::Array;
use crate::descr::{Casting, Descr, Weak};
use std::collections::BTreeMap;
use tensor::{DType, Scalar};

fn ints(values: &[i64]) -> Operand {
    Operand::Array(Array::of(&values.iter().map(|&v| Scalar::Int(v)).collect::<Vec<_>>(), Descr::LONG).unwrap())
}

fn run(name: &str, inputs: &[Operand]) -> Vec<Scalar> {
    call(find(name).unwrap(), inputs, &Options::default()).unwrap().arrays[0].scalars().unwrap()
}

fn descr_of(code: char) -> Descr {
    Descr::parse(&code.to_string()).unwrap()
}

fn input(code: char) -> In {
    match code {
        'w' => In::Weak(Weak::Integer),
        'x' => In::Weak(Weak::Floating),
        'y' => In::Weak(Weak::Complex),
        code => In::Array(descr_of(code)),
    }
}

#[test]
fn names_and_loops() {
    assert_eq!(find("abs").unwrap().name, "absolute");
    assert_eq!(find("nosuch").map(|u| u.name), None);
    assert_eq!(find("add").unwrap().types()[..2], ["??->?", "bb->b"]);
    assert!(TABLE.iter().all(|u| find(u.name).is_some_and(|found| found.op == u.op)));
}

#[test]
fn simple_calls() {
    let two = Operand::Weak(Weak::Integer, Scalar::Int(2));
    assert_eq!(run("add", &[ints(&[1, 2, 3]), two.clone()]), [3, 4, 5].map(Scalar::Int));
    assert_eq!(run("divide", &[ints(&[1, 2, 3]), two.clone()]), [0.5, 1.0, 1.5].map(Scalar::Float));
    assert_eq!(run("less", &[two, ints(&[1, 2, 3])]), [false, false, true].map(Scalar::Bool));
    assert_eq!(run("sin", &[ints(&[0])]), [Scalar::Float(0.0)]);
    let _ = DType::Bool;
}

/// The loops for all pairs of dtypes and numbers are NumPy's.
#[test]
fn loops_are_those_of_numpy() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/loops.txt").lines() {
        let [name, types, all] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let ufunc = find(name).unwrap();
        for codes in all.split(',') {
            let ins: Vec<In> = codes.chars().map(input).collect();
            let found = match resolve(ufunc, &ins, None, Casting::SameKind, None) {
                Ok(types) => types.iter().map(|&dtype| Descr::native(dtype).code()).collect(),
                Err(_) => "-".to_owned(),
            };
            // Two numbers of a script are compared as objects.
            if found != types && !(types == "OO?" && codes == "ww") {
                wrong.push(format!("{name} {codes}: {found}, not {types}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} {:#?}", wrong.len(), &wrong[..wrong.len().min(40)]);
}

fn array_of(text: &str) -> Array {
    let (code, hex) = text.split_once(':').unwrap();
    let descr = descr_of(code.chars().next().unwrap());
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
    let size = descr.itemsize();
    let values: Vec<Scalar> = bytes
        .chunks(size)
        .map(|chunk| {
            let mut item = [0; 16];
            item[..size].copy_from_slice(chunk);
            crate::element::from_bytes(descr, item)
        })
        .collect();
    Array::of(&values, descr).unwrap()
}

fn is_nan(value: Scalar) -> bool {
    matches!(value, Scalar::Float(f) if f.is_nan())
}

/// Whether both print alike: NaNs are equal, zeros of different signs are not.
fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Complex(a), Scalar::Complex(b)) => {
            same(Scalar::Float(a.re), Scalar::Float(b.re)) && same(Scalar::Float(a.im), Scalar::Float(b.im))
        }
        (Scalar::Float(x), Scalar::Float(y)) => x.to_bits() == y.to_bits() || is_nan(a) && is_nan(b),
        _ => a == b,
    }
}

/// Returns the recorded operands of a loop.
fn recorded(name: &str, codes: &str) -> Vec<Array> {
    let find = |name: &str| {
        let lines = include_str!("tests/operands.txt").lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.into_iter().find(|line| line[0] == name && line[1] == codes)
    };
    find(name).or_else(|| find("-")).unwrap()[2..].iter().map(|text| array_of(text)).collect()
}

fn compare_values(path: &str) {
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    let (mut wrong, mut examples) = (BTreeMap::new(), BTreeMap::new());
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines() {
        let (left, right) = line.split_once(" = ").unwrap();
        let mut left = left.split(' ');
        let (name, flags) = (left.next().unwrap(), left.next().unwrap());
        let left: Vec<&str> = left.collect();
        let inputs = match left[..] {
            [codes] if !codes.contains(':') => recorded(name, codes),
            _ => left.into_iter().map(array_of).collect(),
        };
        let codes: String = inputs.iter().map(|a| a.descr.code()).collect();
        let operands: Vec<Operand> = inputs.iter().cloned().map(Operand::Array).collect();
        let outputs = match call(find(name).unwrap(), &operands, &Options::default()) {
            Ok(outputs) => outputs,
            Err(error) => {
                examples.insert(format!("{name} {codes}"), vec![error.message]);
                continue;
            }
        };
        let mut found = String::new();
        for (flag, letter) in [(FpFlags::DIVIDE, 'd'), (FpFlags::INVALID, 'i'), (FpFlags::OVERFLOW, 'o')] {
            if outputs.flags.contains(flag) {
                found.push(letter);
            }
        }
        let found = if found.is_empty() { "-" } else { &found };
        if found != flags && flags != "?" {
            examples
                .entry(format!("{name} {codes} flags"))
                .or_insert_with(Vec::new)
                .push(format!("{found} not {flags}"));
        }
        for (part, wanted) in right.split(' ').map(array_of).enumerate() {
            let (mine, theirs) = (outputs.arrays[part].scalars().unwrap(), wanted.scalars().unwrap());
            assert_eq!(outputs.arrays[part].descr, wanted.descr, "{name} {codes}");
            for (i, (&mine, &theirs)) in mine.iter().zip(&theirs).enumerate() {
                if !same(mine, theirs) {
                    let key = format!("{name} {codes} {part}");
                    *wrong.entry(key.clone()).or_insert(0) += 1;
                    let list: &mut Vec<String> = examples.entry(key).or_default();
                    if list.len() < 4 {
                        let at: Vec<_> = inputs.iter().map(|a| a.scalars().unwrap()[i]).collect();
                        list.push(format!("{at:?}: {mine:?} not {theirs:?}"));
                    }
                }
            }
            *totals.entry(format!("{name} {codes} {part}")).or_default() += mine.len();
        }
    }
    for (key, list) in &examples {
        println!("{key}: {:?} of {:?}", wrong.get(key), totals.get(key));
        list.iter().for_each(|item| println!("      {item}"));
    }
    assert!(examples.is_empty());
}

#[test]
fn values_are_those_of_numpy() {
    compare_values(concat!(env!("CARGO_MANIFEST_DIR"), "/ufunc/tests/values.txt"));
}

/// Compares with a larger table, made by hand: `VALUES=path cargo test … -- --ignored`.
#[test]
#[ignore]
fn more_values_are_those_of_numpy() {
    compare_values(&std::env::var("VALUES").unwrap());
}

/// Numbers that the recording script computes in the same way.
fn base(count: usize, descr: Descr) -> Array {
    let bits = |i: usize| (i as u64).wrapping_mul(2_654_435_761) & 0xffff_ffff;
    let part = |i: usize| bits(i) as f64 / 4_294_967_296.0 - 0.5;
    let wide = |i: usize| part(i) * part(i) * part(i);
    let value = |i: usize| match descr.kind() {
        crate::Kind::Bool => Scalar::Bool(bits(i) & 1 << 20 != 0),
        crate::Kind::Signed | crate::Kind::Unsigned => Scalar::Int(bits(i) as i64),
        crate::Kind::Floating => Scalar::Float(wide(i)),
        crate::Kind::Complex => Scalar::Complex(num_complex::Complex::new(wide(i), wide(count - 1 - i))),
    };
    Array::of(&(0..count).map(value).collect::<Vec<_>>(), descr).unwrap()
}

fn digest(array: &Array) -> String {
    let mut total = 0xcbf2_9ce4_8422_2325u64;
    for value in array.scalars().unwrap() {
        for byte in &crate::element::to_bytes(array.descr, value)[..array.itemsize()] {
            total = (total ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    format!("{total:016x}")
}

fn numbers(text: &str) -> Vec<i64> {
    if text == "-" { Vec::new() } else { text.split(',').map(|item| item.parse().unwrap()).collect() }
}

#[test]
fn reductions_are_those_of_numpy() {
    let (mut wrong, mut counts) = (Vec::new(), BTreeMap::new());
    for line in include_str!("tests/reductions.txt").lines() {
        let [name, method, code, dtype, count, shape, strides, offset, axes, indices, result, sizes, steps, hash] =
            line.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        let ufunc = find(name).unwrap();
        let array = base(count.parse().unwrap(), descr_of(code.chars().next().unwrap()));
        let size = array.itemsize() as i64;
        let view = array.at(crate::Strided {
            shape: numbers(shape).into(),
            strides: numbers(strides).iter().map(|s| s * size).collect(),
            offset: offset.parse::<i64>().unwrap() * size,
        });
        let dtype = (dtype != "-").then(|| descr_of(dtype.chars().next().unwrap()));
        let chosen: Vec<usize> = numbers(axes).iter().map(|&axis| axis as usize).collect();
        let chosen = (axes != "-").then_some(&chosen[..]);
        let options = Reduction { dtype, ..Reduction::default() };
        let found = match method {
            "reduce" => reduce(ufunc, &view, chosen, &options),
            "where" => {
                let numbers = base(view.count() as usize, Descr::LONG).scalars().unwrap();
                let mask: Vec<Scalar> = numbers.iter().map(|n| Scalar::Bool(n.to_i64() % 7 != 0)).collect();
                let mask = Array::shaped(view.shape(), &mask, Descr::BOOL).unwrap();
                reduce(ufunc, &view, chosen, &Reduction { where_: Some(mask), ..options })
            }
            "accumulate" => accumulate(ufunc, &view, chosen.unwrap()[0], dtype, None),
            _ => reduceat(ufunc, &view, &numbers(indices), chosen.unwrap()[0], dtype, None),
        };
        let found = match found {
            Ok((found, _)) => found,
            Err(error) => {
                wrong.push(format!("{line}: {}", error.message));
                continue;
            }
        };
        *counts.entry(format!("{name} {method} {code}")).or_insert(0) += 1;
        let places: Vec<i64> = found.places.strides.iter().map(|s| s / found.itemsize() as i64).collect();
        let same_places = found.shape() == numbers(sizes) && (found.count() == 0 || places == numbers(steps));
        if found.descr != descr_of(result.chars().next().unwrap()) || digest(&found) != hash || !same_places {
            wrong.push(format!(
                "{line}: {} {:?} {places:?} {} {:?}",
                found.descr.name(),
                found.shape(),
                digest(&found),
                found.scalars().unwrap().first()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} {:#?}",
        wrong.len(),
        counts.values().sum::<i32>(),
        &wrong[..wrong.len().min(60)]
    );
}
