//! Compares the last numbers of tapes with what the kernels compute.

use super::super::{cumulative as running, mean as average, prod as product, sum as total, variance as spread};
use super::*;
use crate::ops::promote::testing::numbers;

const DTYPES: [DType; 8] =
    [DType::Float, DType::Double, DType::Half, DType::BFloat16, DType::Char, DType::Int, DType::Long, DType::Byte];

fn check(tape: Result<Option<Tape>>, wanted: &View, index: &[i64], name: &str) {
    let tape = tape.unwrap().expect(name);
    let got = tape.value(tape.result.unwrap());
    let at = wanted.layout.offset + index.iter().zip(wanted.strides()).map(|(i, stride)| i * stride).sum::<i64>();
    let wanted = wanted.read(&wanted.memory().unwrap(), at);
    let same = match wanted {
        Scalar::Float(wanted) => got.to_f64().to_bits() == wanted.to_bits(),
        wanted => got.to_i64() == wanted.to_i64(),
    };
    assert!(same, "{name}: {got:?}, not {wanted:?}");
}

/// Views of the same numbers: contiguous, transposed, with steps, backwards through a permutation, and expanded.
fn layouts(sizes: &[i64], dtype: DType, seed: u64) -> Vec<(&'static str, View)> {
    let plain = numbers(sizes, dtype, seed);
    let mut views = vec![("contiguous", plain.clone())];
    let wide: Vec<i64> = sizes.iter().map(|size| 2 * size + 1).collect();
    let wide = numbers(&wide, dtype, seed + 1);
    let stepped = (0..sizes.len()).fold(wide.layout.clone(), |layout, d| layout.slice(d, Some(1), None, 2));
    views.push(("stepped", wide.with_layout(stepped)));
    if sizes.len() > 1 {
        let order: Vec<i64> = (0..sizes.len() as i64).rev().collect();
        let turned: Vec<i64> = sizes.iter().rev().copied().collect();
        let turned = numbers(&turned, dtype, seed + 2);
        views.push(("transposed", turned.with_layout(turned.layout.permute(&order).unwrap())));
        let mut narrow = sizes.to_vec();
        narrow[0] = 1;
        let narrow = numbers(&narrow, dtype, seed + 3);
        views.push(("expanded", narrow.with_layout(narrow.layout.expand(sizes, "").unwrap())));
        let every: Vec<i64> = sizes.iter().enumerate().map(|(d, size)| size * if d == 1 { 2 } else { 1 }).collect();
        let every = numbers(&every, dtype, seed + 4);
        views.push(("every second column", every.with_layout(every.layout.slice(1, None, None, 2))));
    }
    views
}

/// The indices at both ends and in between.
fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let some = |size: i64| [0, size / 3, size - 2, size - 1].into_iter().filter(move |i| (0..size).contains(i));
    let mut all = vec![Vec::new()];
    for &size in sizes {
        all = all.iter().flat_map(|before| some(size).map(|i| [before.as_slice(), &[i]].concat())).collect();
    }
    all.sort();
    all.dedup();
    all
}

fn check_all(sizes: &[i64], dtype: DType, seed: u64) {
    for (layout, view) in layouts(sizes, dtype, seed) {
        let ndim = sizes.len() as i64;
        let mut choices = vec![None];
        choices.extend((0..ndim).map(|d| Some(vec![d])));
        if ndim > 2 {
            choices.extend([Some(vec![0, 2]), Some(vec![0, 1]), Some(vec![1, 2])]);
        }
        for dims in &choices {
            let name = format!("{dtype:?} {sizes:?} {layout} over {dims:?}");
            let dims = dims.as_deref();
            let wanted = total(&view, dims, false, None).unwrap();
            for index in indices(wanted.sizes()) {
                check(sum(&view, dims, false, None, &index), &wanted, &index, &format!("sum {name} {index:?}"));
            }
            if dims.is_none() && matches!(dtype, DType::Float | DType::Double) {
                for which in [SpreadMeasure::Variance, SpreadMeasure::StandardDeviation] {
                    let wanted = spread(which, &view, None, 1.0, false).unwrap();
                    check(variance_of_all(which, &view, 1.0), &wanted, &[], &format!("{which:?} {name}"));
                }
            }
            if dtype.is_floating_point() {
                let wanted = average(&view, dims, true, None).unwrap();
                for index in indices(wanted.sizes()) {
                    check(mean(&view, dims, true, None, &index), &wanted, &index, &format!("mean {name} {index:?}"));
                }
            }
            let dim = match dims {
                None => None,
                Some(&[d]) => Some(d),
                Some(_) => continue,
            };
            let wanted = product(&view, dim, false, None).unwrap();
            for index in indices(wanted.sizes()) {
                check(prod(&view, dim, false, None, &index), &wanted, &index, &format!("prod {name} {index:?}"));
            }
        }
        for (d, which) in (0..ndim).flat_map(|d| [(d, Running::Sum), (d, Running::Product)]) {
            let wanted = running(which, &view, d, None).unwrap();
            for index in indices(wanted.sizes()) {
                let name = format!("{which:?} {dtype:?} {sizes:?} {layout} along {d} {index:?}");
                check(cumulative(which, &view, d, None, &index), &wanted, &index, &name);
            }
        }
    }
}

#[test]
fn the_last_number_is_the_element() {
    for dtype in DTYPES {
        for size in (1..20).chain([31, 33, 64, 65, 127, 129, 257, 513, 1025, 1999]) {
            check_all(&[size], dtype, size as u64);
        }
        for (k, sizes) in
            [[1, 1], [5, 4], [3, 8], [17, 33], [70, 5], [300, 12], [130, 31], [9, 600]].into_iter().enumerate()
        {
            check_all(&sizes, dtype, 50 + k as u64);
        }
        for (k, sizes) in [[2, 3, 4], [3, 20, 5], [5, 7, 33]].into_iter().enumerate() {
            check_all(&sizes, dtype, 80 + k as u64);
        }
    }
}

/// Around the size from which all cores share one sum.
#[test]
fn the_last_number_is_the_element_of_a_long_sum() {
    for dtype in [DType::Float, DType::Double, DType::BFloat16] {
        for sizes in [[1, 5000], [5000, 1], [4097, 3], [4200, 8], [4100, 40], [3, 9000]] {
            for (layout, view) in layouts(&sizes, dtype, 7) {
                for dims in [None, Some([0].as_slice()), Some(&[1])] {
                    let wanted = total(&view, dims, false, None).unwrap();
                    for index in indices(wanted.sizes()).into_iter().take(12) {
                        let name = format!("{dtype:?} {sizes:?} {layout} over {dims:?} at {index:?}");
                        check(sum(&view, dims, false, None, &index), &wanted, &index, &name);
                    }
                }
            }
        }
    }
}

#[test]
fn other_dtypes_are_converted_first() {
    let floats = numbers(&[100], DType::Double, 3);
    for dtype in [DType::Float, DType::Half, DType::Int, DType::Char] {
        let wanted = total(&floats, None, false, Some(dtype)).unwrap();
        check(sum(&floats, None, false, Some(dtype), &[]), &wanted, &[], "sum");
    }
    let bytes = numbers(&[100], DType::Byte, 3);
    for dtype in [DType::Float, DType::Half, DType::Byte, DType::Char, DType::Short, DType::Bool] {
        let wanted = total(&bytes, None, false, Some(dtype)).unwrap();
        check(sum(&bytes, None, false, Some(dtype), &[]), &wanted, &[], "sum");
    }
}
