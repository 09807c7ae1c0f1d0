//! Loops over pairs of elements.

use crate::parallel::{self, vectorised, vectorised_kernel};
use std::marker::PhantomData;

/// The function must own its captures: those behind references are read again for each element.
pub(super) fn zip<C: Copy>(a: &[C], b: &[C], out: &mut [C], function: impl Fn(C, C) -> C) {
    vectorised(move || {
        let done = if cfg!(target_family = "wasm") { zip_groups(a, b, out, &function) } else { 0 };
        for ((out, &a), &b) in out[done..].iter_mut().zip(&a[done..]).zip(&b[done..]) {
            *out = function(a, b);
        }
    });
}

/// Like [`zip`], for as many elements as fill whole groups; returns their number. Compilers that optimise for size
/// leave loops as they are; a loop with a constant count takes two thirds of the time.
#[inline(always)]
fn zip_groups<C: Copy>(a: &[C], b: &[C], out: &mut [C], function: impl Fn(C, C) -> C) -> usize {
    const GROUP: usize = 64;
    let groups = out.as_chunks_mut::<GROUP>().0.iter_mut().zip(a.as_chunks::<GROUP>().0).zip(b.as_chunks::<GROUP>().0);
    let mut done = 0;
    for ((out, a), b) in groups {
        for i in 0..GROUP {
            out[i] = function(a[i], b[i]);
        }
        done += GROUP;
    }
    done
}

/// A function that is inlined into vectorised code, as in `unary.rs`.
pub(super) trait PairFunction<T> {
    fn at(a: T, b: T) -> T;
}

/// Applies a function `F` to two slices.
struct PairLoop<'a, T, F> {
    a: &'a [T],
    b: &'a [T],
    out: &'a mut [T],
    function: PhantomData<F>,
}

impl<T: Copy, F: PairFunction<T>> parallel::Kernel for PairLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for ((out, &a), &b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = F::at(a, b);
        }
    }
}

pub(super) fn zip_function<T: Copy, F: PairFunction<T>>(a: &[T], b: &[T], out: &mut [T]) {
    vectorised_kernel(PairLoop { a, b, out, function: PhantomData::<F> });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups and the remainder give the same results as one loop, at lengths around that of a group.
    #[test]
    fn groups_are_the_loop() {
        for length in [0, 1, 63, 64, 65, 127, 128, 129, 100_000] {
            let a: Vec<i64> = (0..length).collect();
            let b: Vec<i64> = a.iter().map(|i| 3 * i + 1).collect();
            let mut out = vec![-1; a.len()];
            let done = zip_groups(&a, &b, &mut out, |a, b| a - b);
            assert_eq!(done, a.len() / 64 * 64);
            let wanted = |i: usize| if i < done { a[i] - b[i] } else { -1 };
            assert!(out.iter().enumerate().all(|(i, &got)| got == wanted(i)), "{length}");
        }
    }
}
