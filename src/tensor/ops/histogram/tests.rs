//! Counts and searches against the simplest way of doing the same, around the sizes at which methods change.

use super::*;
use crate::ops::check::testing::{must, tensor};
use crate::parallel::{set_cores, set_width};
use crate::thresholds::THREAD;

const SIZES: [usize; 8] = [0, 1, 15, 17, PIECE / 4 + 1, PIECE - 1, 2 * PIECE + 3, 8 * THREAD + 1];

fn numbers(size: usize, below: usize) -> Vec<f64> {
    (0..size).map(|i| ((i * 7919 + i / 5) % below) as f64).collect()
}

fn on_threads(body: impl Fn()) {
    for cores in [1, 2, 3, 7] {
        set_cores(cores);
        body();
    }
    set_cores(0);
}

#[test]
fn counts_are_those_of_one_table() {
    on_threads(|| {
        for (size, below) in SIZES.into_iter().flat_map(|size| [1, 3, 100, PIECE].map(|below| (size, below))) {
            let all = numbers(size, below);
            let (plain, weights) =
                (tensor(&[size as i64], DType::Int, &all), tensor(&[size as i64], DType::Float, &all));
            let (mut counts, mut totals) = (vec![0i64; below], vec![0f32; below]);
            for number in all {
                counts[number as usize] += 1;
                totals[number as usize] += number as f32;
            }
            let counted = must(bincount(&plain, None, below as i64)).scalars();
            assert_eq!(counted, Ok(counts.into_iter().map(Scalar::Int).collect()), "{size} below {below}");
            if size > 0 {
                let weighted = must(bincount(&plain, Some(&weights), below as i64)).scalars();
                assert_eq!(weighted, Ok(totals.into_iter().map(|t| Scalar::Float(f64::from(t))).collect()));
            }
        }
    });
}

type Rounding = fn(f64) -> f64;

#[test]
fn even_bins_are_those_of_one_number_after_another() {
    on_threads(|| {
        for width in [128, 256, 512] {
            set_width(width);
            for (size, bins) in SIZES.into_iter().flat_map(|size| [1, 3, 100].map(|bins| (size, bins))) {
                let mut all: Vec<f64> = numbers(size, 1001).into_iter().map(|number| number * 0.125 - 30.0).collect();
                all.iter_mut().step_by(7).for_each(|number| *number = f64::NAN);
                let roundings: [(DType, Rounding); 3] = [
                    (DType::Double, |value| value),
                    (DType::Float, |value| f64::from(value as f32)),
                    (DType::BFloat16, |value| f64::from(bf16::from_f32(value as f32))),
                ];
                for (dtype, round) in roundings {
                    let view = tensor(&[size as i64], dtype, &all);
                    let mut counts = vec![0.0; bins];
                    let (low, high) = (-16.0, -16.0 + 8.0 * bins as f64);
                    for number in must(Ok(view.clone())).scalars().unwrap_or_default() {
                        let number = number.to_f64();
                        if (round(low)..=round(high)).contains(&number) {
                            let place = round(round(round(number - low) * round(bins as f64)) / round(high - low));
                            counts[(place as usize).min(bins - 1)] += 1.0;
                        }
                    }
                    let wanted = must(View::from_scalars(&[bins as i64], dtype, counts.into_iter().map(Scalar::Float)));
                    let found = must(histc(&view, bins as i64, low, high));
                    assert_eq!(found.scalars(), wanted.scalars(), "{size} {dtype:?} in {bins}");
                }
            }
        }
        set_width(0);
    });
}

#[test]
fn searches_take_the_steps_of_one_search() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 3.0, 2.5, 2.5, 7.0, f64::NEG_INFINITY];
    on_threads(|| {
        for width in [128, 256, 512] {
            set_width(width);
            for length in [0, 1, 2, 7, 8, 9, 64, 100] {
                let ascending: Vec<f64> = (0..length).map(|i| (i / 2) as f64 * 0.5).collect();
                let disordered: Vec<f64> = (0..length).map(|i| odd[i % 8]).collect();
                for (boundaries, size) in [(&ascending, 8 * THREAD / 7), (&ascending, 16), (&disordered, 33)] {
                    let values: Vec<f64> =
                        (0..size).map(|i| if i % 9 == 0 { odd[i / 9 % 8] } else { i as f64 * 0.1 }).collect();
                    for (dtype, right) in [(DType::Float, true), (DType::Float, false), (DType::Half, false)] {
                        let (edges, wanted) =
                            (tensor(&[length as i64], dtype, boundaries), tensor(&[size as i64], dtype, &values));
                        let search = Search { right, int32: right, sorter: None };
                        let found = must(searchsorted(&edges, &wanted, false, &search)).scalars();
                        let edges: Vec<f64> =
                            edges.scalars().unwrap_or_default().into_iter().map(Scalar::to_f64).collect();
                        let place = |value: Scalar| {
                            let value = value.to_f64();
                            let (mut low, mut high) = (0, length);
                            while low < high {
                                let middle = (low + high) / 2;
                                let follows = if right { edges[middle] > value } else { edges[middle] >= value };
                                if follows { high = middle } else { low = middle + 1 }
                            }
                            Scalar::Int(low as i64)
                        };
                        let simple: Vec<Scalar> = wanted.scalars().unwrap_or_default().into_iter().map(place).collect();
                        assert_eq!(found, Ok(simple), "{length} {size} {dtype:?} {right}");
                    }
                }
            }
        }
        set_width(0);
    });
}
