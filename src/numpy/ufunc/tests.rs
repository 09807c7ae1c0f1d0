//! Compares calls and reductions with tables that tests/record.py has recorded with NumPy 2.4.6.

#![cfg(test)]

use super::resolve::resolve;
use super::*;
use crate::array::Array;
use crate::descr::{Casting, Descr, Weak};
use std::collections::BTreeMap;
use tensor::ops::BY_GLIBC;
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

fn of(code: char, values: &[f64]) -> Array {
    Array::of(&values.iter().map(|&v| Scalar::Float(v)).collect::<Vec<_>>(), descr_of(code)).unwrap()
}

/// Errors are in NumPy's words.
#[test]
fn errors_are_those_of_numpy() {
    let integer = |value| Operand::Weak(Weak::Integer, Scalar::Int(value));
    let array = |code, values: &[f64]| Operand::Array(of(code, values));
    let message = |name: &str, inputs: &[Operand], options: &Options| match call(find(name).unwrap(), inputs, options) {
        Ok(outputs) => format!("{:?}", outputs.arrays[0].scalars()),
        Err(error) => format!("{}: {}", error.kind.name(), error.message),
    };
    let usual = Options::default();
    let with = |code| Options { dtype: Some(descr_of(code)), ..Options::default() };
    let none = "TypeError: No loop matching the specified signature and casting was found for ufunc ";
    let cast = "UFuncTypeError: Cannot cast ufunc ";
    for (found, wanted) in [
        (message("sin", &[array('l', &[1.0])], &with('i')), format!("{none}sin")),
        (message("equal", &[array('l', &[1.0]), integer(1)], &with('d')), format!("{none}equal")),
        (message("absolute", &[array('D', &[1.0])], &with('F')), format!("{none}absolute")),
        (
            message("absolute", &[array('D', &[1.0])], &with('f')),
            format!(
                "{cast}'absolute' input from dtype('complex128') to dtype('float32') with casting rule 'same_kind'"
            ),
        ),
        (
            message("add", &[array('l', &[1.0]), array('d', &[1.0])], &with('i')),
            format!("{cast}'add' input 1 from dtype('float64') to dtype('int32') with casting rule 'same_kind'"),
        ),
        (
            message("add", &[integer(1), integer(2)], &with('?')),
            format!("{cast}'add' input 0 from dtype('int64') to dtype('bool') with casting rule 'same_kind'"),
        ),
        (
            message("add", &[array('B', &[1.0]), integer(300)], &usual),
            "OverflowError: Python integer 300 out of bounds for uint8".to_owned(),
        ),
        (
            message("add", &[array('l', &[1.0, 2.0]), array('l', &[1.0, 2.0, 3.0])], &usual),
            "ValueError: operands could not be broadcast together with shapes (2,) (3,) ".to_owned(),
        ),
        (
            message("power", &[array('l', &[2.0]), integer(-1)], &usual),
            "ValueError: Integers to negative integer powers are not allowed.".to_owned(),
        ),
        (message("less", &[array('B', &[1.0]), integer(-1)], &usual), "Ok([Bool(false)])".to_owned()),
        (message("equal", &[integer(300), array('B', &[1.0])], &usual), "Ok([Bool(false)])".to_owned()),
        (
            message("matmul", &[array('d', &[1.0, 2.0]), array('d', &[1.0])], &usual),
            "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature \
             (n?,k),(k,m?)->(n?,m?) (size 1 is different from 2)"
                .to_owned(),
        ),
        (
            message("matmul", &[array('d', &[1.0, 2.0]), array('d', &[3.0, 4.0])], &usual),
            "Ok([Float(11.0)])".to_owned(),
        ),
    ] {
        assert_eq!(found, wanted);
    }
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

/// Whether two results of a function differ in the last bit of a float of `size` bytes, as a few in a thousand do where glibc
/// does not compute them.
fn is_neighbour(a: Scalar, b: Scalar, size: usize) -> bool {
    match (a, b, size) {
        _ if BY_GLIBC => false,
        (Scalar::Float(x), Scalar::Float(y), 4) => (x as f32).to_bits().abs_diff((y as f32).to_bits()) == 1,
        (Scalar::Float(x), Scalar::Float(y), 8) => x.to_bits().abs_diff(y.to_bits()) == 1,
        _ => false,
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
        // Overflows inside a function that the result does not show are not found.
        let is_hidden = name.starts_with("logaddexp") || name == "spacing" && codes == "e";
        if found != flags && flags != "?" && !is_hidden {
            examples
                .entry(format!("{name} {codes} flags"))
                .or_insert_with(Vec::new)
                .push(format!("{found} not {flags}"));
        }
        for (part, wanted) in right.split(' ').map(array_of).enumerate() {
            let (mine, theirs) = (outputs.arrays[part].scalars().unwrap(), wanted.scalars().unwrap());
            assert_eq!(outputs.arrays[part].descr, wanted.descr, "{name} {codes}");
            for (i, (&mine, &theirs)) in mine.iter().zip(&theirs).enumerate() {
                if !same(mine, theirs) && !is_neighbour(mine, theirs, wanted.descr.itemsize()) {
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
    let shown = |(key, list): (&String, &Vec<String>)| {
        format!("{key}: {:?} of {:?}\n      {}", wrong.get(key), totals.get(key), list.join("\n      "))
    };
    assert!(examples.is_empty(), "{}", examples.iter().map(shown).collect::<Vec<_>>().join("\n"));
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
        crate::descr::Kind::Bool => Scalar::Bool(bits(i) & 1 << 20 != 0),
        crate::descr::Kind::Signed | crate::descr::Kind::Unsigned => Scalar::Int(bits(i) as i64),
        crate::descr::Kind::Floating => Scalar::Float(wide(i)),
        crate::descr::Kind::Complex => Scalar::Complex(num_complex::Complex::new(wide(i), wide(count - 1 - i))),
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

#[test]
fn changes_in_place_and_reductions_with_options() {
    let target = of('l', &[1.0, 2.0, 3.0]);
    at(find("add").unwrap(), &target, &[0, 0, 16], Some(&of('l', &[5.0, 6.0, 7.0]))).unwrap();
    assert_eq!(target.scalars().unwrap(), [12, 2, 10].map(Scalar::Int));
    at(find("negative").unwrap(), &target, &[8], None).unwrap();
    assert_eq!(target.scalars().unwrap(), [12, -2, 10].map(Scalar::Int));
    let add = find("add").unwrap();
    let bools = of('?', &[1.0, 0.0, 1.0]);
    assert_eq!(reduce(add, &bools, None, &Reduction::default()).unwrap().0.item(), Ok(Scalar::Int(2)));
    let initial = Initial::Value(Operand::Weak(Weak::Integer, Scalar::Int(10)));
    let options = Reduction { initial, keepdims: true, ..Reduction::default() };
    let (sum, _) = reduce(add, &target, None, &options).unwrap();
    assert_eq!((sum.shape(), sum.item()), (&[1][..], Ok(Scalar::Int(30))));
    let out = of('d', &[0.0]);
    let options = Reduction { out: Some(out.at(crate::Strided::dense(&[], 8, false))), ..Reduction::default() };
    reduce(add, &target, None, &options).unwrap();
    assert_eq!(out.scalars().unwrap(), [Scalar::Float(20.0)]);
    let empty = of('d', &[]);
    let error = reduce(find("maximum").unwrap(), &empty, None, &Reduction::default()).unwrap_err();
    assert_eq!(error.message, "zero-size array to reduction operation maximum which has no identity");
    let chosen = Options { where_: Some(bools), out: &[Some(target.clone())], ..Options::default() };
    call(add, &[Operand::Array(target.clone()), Operand::Weak(Weak::Integer, Scalar::Int(1))], &chosen).unwrap();
    assert_eq!(target.scalars().unwrap(), [13, -2, 11].map(Scalar::Int));
    // An output that overlaps an input in another order.
    let reversed =
        target.at(crate::Strided { shape: [3].into_iter().collect(), strides: [-8].into_iter().collect(), offset: 16 });
    let options = Options { out: &[Some(reversed)], ..Options::default() };
    call(add, &[Operand::Array(target.clone()), Operand::Weak(Weak::Integer, Scalar::Int(0))], &options).unwrap();
    assert_eq!(target.scalars().unwrap(), [11, -2, 13].map(Scalar::Int));
}

/// New results have NumPy's strides: in the order of the operands.
#[test]
fn results_are_laid_out_as_in_numpy() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/layouts.txt").lines() {
        let parts: Vec<Vec<i64>> = line.split(' ').map(numbers).collect();
        let beneath = Array::zeros(&[4000], Descr::DOUBLE, false).unwrap();
        let operand = |at: usize| {
            let places = crate::Strided {
                shape: parts[at].clone().into(),
                strides: parts[at + 1].clone().into(),
                offset: parts[at + 2][0],
            };
            Operand::Array(beneath.at(places))
        };
        let outputs = call(find("add").unwrap(), &[operand(0), operand(3)], &Options::default()).unwrap();
        let places = &outputs.arrays[0].places;
        if places.shape[..] != parts[6] || places.strides[..] != parts[7] {
            wrong.push(format!("{line}: {:?} {:?}", places.shape, places.strides));
        }
    }
    assert!(wrong.is_empty(), "{} {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}
