//! Products of matrices and their like: dimensions with the same letter run together, those that the result lacks are
//! summed.

use super::patterns::{broadcast, index_of, ints, number_of};
use call::reads::{Finder, Part, Read, TracedCall};
use std::collections::BTreeMap;
use tensor::Dims;
use value::Value;

/// A letter of a dimension. Dimensions of a batch have negative ones, which broadcast.
type Letter = i32;

/// A sum of products.
struct Contraction {
    /// The factors: positions among the tensors of the call, and the letters of their dimensions.
    factors: Vec<(usize, Vec<Letter>)>,
    result: Vec<Letter>,
    /// A tensor that is added, broadcast to the result.
    added: Option<usize>,
}

impl Contraction {
    fn finder(self, call: &TracedCall) -> Option<Finder> {
        let sizes: Vec<Dims> = call.tensors.iter().map(|traced| Dims::from_slice(traced.sizes())).collect();
        let shape = Dims::from_slice(call.outputs.first()?.sizes());
        let mut lengths: BTreeMap<Letter, i64> = BTreeMap::new();
        for (at, letters) in &self.factors {
            let own = sizes.get(*at).filter(|own| own.len() == letters.len())?;
            for (letter, size) in letters.iter().zip(own) {
                let length = lengths.entry(*letter).or_insert(*size);
                *length = (*length).max(*size);
            }
        }
        let is_known = |(letter, size): (&Letter, &i64)| lengths.get(letter) == Some(size);
        if self.result.len() != shape.len() || !self.result.iter().zip(&shape).all(is_known) {
            return None;
        }
        let summed: Vec<Letter> = lengths.keys().copied().filter(|letter| !self.result.contains(letter)).collect();
        let lines: Dims = summed.iter().filter_map(|letter| lengths.get(letter).copied()).collect();
        Some(Box::new(move |_, element| {
            let index = index_of(element, &shape);
            let mut found = Vec::new();
            if let Some(added) = self.added {
                let own = sizes.get(added).and_then(|own| broadcast(&index, own));
                found.extend(own.map(|element| Read { tensor: added, element, part: Part::Taken }));
            }
            for number in 0..lines.iter().product() {
                let place = index_of(number, &lines);
                let of = |letter: &Letter| {
                    let outer = self.result.iter().position(|own| own == letter).and_then(|at| index.get(at));
                    outer.or_else(|| summed.iter().position(|own| own == letter).and_then(|at| place.get(at))).copied()
                };
                for (at, letters) in &self.factors {
                    let Some(own) = sizes.get(*at) else { continue };
                    let index: Dims = letters.iter().map(|letter| of(letter).unwrap_or(0)).collect();
                    // A batch of size 1 serves all.
                    let index: Dims =
                        index.iter().zip(own).map(|(at, size)| if *size == 1 { 0 } else { *at }).collect();
                    found.push(Read { tensor: *at, element: number_of(&index, own), part: Part::Taken });
                }
            }
            found
        }))
    }
}

const ROW: Letter = 1;
const INNER: Letter = 2;
const COLUMN: Letter = 3;

/// The letters of a batch of `count` dimensions, aligned at the last.
fn batch(count: usize) -> impl Iterator<Item = Letter> {
    (1..=count as Letter).rev().map(|letter| -letter)
}

/// The rules of `matmul`: vectors as rows on the left and as columns on the right, other dimensions as a batch.
fn product(call: &TracedCall, left: usize, right: usize, added: Option<usize>) -> Option<Finder> {
    let (a, b) = (call.tensors.get(left)?.view.ndim(), call.tensors.get(right)?.view.ndim());
    let letters = |ndim: usize, last: [Letter; 2], only: Letter| -> Option<Vec<Letter>> {
        match ndim {
            0 => None,
            1 => Some(vec![only]),
            ndim => Some(batch(ndim - 2).chain(last).collect()),
        }
    };
    let first = letters(a, [ROW, INNER], INNER)?;
    let second = letters(b, [INNER, COLUMN], INNER)?;
    let mut result: Vec<Letter> = batch(a.max(b).saturating_sub(2)).collect();
    result.extend((a > 1).then_some(ROW));
    result.extend((b > 1).then_some(COLUMN));
    Contraction { factors: vec![(left, first), (right, second)], result, added }.finder(call)
}

/// `matmul`, `mm`, `bmm`, `mv`, `dot`.
pub(crate) fn matmul(call: &TracedCall) -> Option<Finder> {
    product(call, 0, 1, None)
}

/// `addmm`, `addmv`, `baddbmm`: the first tensor is added.
pub(crate) fn added_matmul(call: &TracedCall) -> Option<Finder> {
    product(call, 1, 2, Some(0))
}

/// `addbmm`: the products of a batch are added too.
pub(crate) fn added_batch(call: &TracedCall) -> Option<Finder> {
    let factors = vec![(1, vec![-1, ROW, INNER]), (2, vec![-1, INNER, COLUMN])];
    Contraction { factors, result: vec![ROW, COLUMN], added: Some(0) }.finder(call)
}

/// `outer`: every product of two elements.
pub(crate) fn outer(call: &TracedCall) -> Option<Finder> {
    let factors = vec![(0, vec![ROW]), (1, vec![COLUMN])];
    Contraction { factors, result: vec![ROW, COLUMN], added: None }.finder(call)
}

/// `addr`: `outer` with a matrix added.
pub(crate) fn added_outer(call: &TracedCall) -> Option<Finder> {
    let factors = vec![(1, vec![ROW]), (2, vec![COLUMN])];
    Contraction { factors, result: vec![ROW, COLUMN], added: Some(0) }.finder(call)
}

/// `inner`: sums over the last dimensions of both.
pub(crate) fn inner(call: &TracedCall) -> Option<Finder> {
    let (a, b) = (call.tensors.first()?.view.ndim(), call.tensors.get(1)?.view.ndim());
    if a == 0 || b == 0 {
        return None;
    }
    let mut first: Vec<Letter> = (10..10 + a as Letter).collect();
    let mut second: Vec<Letter> = (100..100 + b as Letter).collect();
    let (Some(a), Some(b)) = (first.last_mut(), second.last_mut()) else { return None };
    (*a, *b) = (INNER, INNER);
    let result = first.iter().chain(&second).copied().filter(|letter| *letter != INNER).collect();
    Contraction { factors: vec![(0, first), (1, second)], result, added: None }.finder(call)
}

/// `cdist`: every row of one with every row of the other.
pub(crate) fn distances(call: &TracedCall) -> Option<Finder> {
    let (a, b) = (call.tensors.first()?.view.ndim(), call.tensors.get(1)?.view.ndim());
    let letters = |ndim: usize, last: [Letter; 2]| Some(batch(ndim.checked_sub(2)?).chain(last).collect());
    let factors = vec![(0, letters(a, [ROW, INNER])?), (1, letters(b, [COLUMN, INNER])?)];
    let result = batch(a.max(b) - 2).chain([ROW, COLUMN]).collect();
    Contraction { factors, result, added: None }.finder(call)
}

/// `tensordot`: sums over the dimensions that `dims` counts or lists.
pub(crate) fn tensordot(call: &TracedCall) -> Option<Finder> {
    let wrapped = |dims: &Value, ndim: usize| -> Option<Vec<usize>> {
        let given = if let Value::Int(dim) = dims { vec![*dim] } else { ints(dims)? };
        given.into_iter().map(|dim| tensor::layout::wrap_dim(dim, ndim).ok()).collect()
    };
    let (a, b) = (call.tensors.first()?.view.ndim(), call.tensors.get(1)?.view.ndim());
    let (left, right) = match call.argument("dims") {
        Some(Value::Int(count)) => {
            let count = usize::try_from(*count).ok().filter(|count| *count <= a.min(b))?;
            ((a - count..a).collect(), (0..count).collect())
        }
        Some(pair) => match pair.sequence()?.as_slice() {
            [left, right] => (wrapped(left, a)?, wrapped(right, b)?),
            _ => return None,
        },
        None => return None,
    };
    let first: Vec<Letter> = (10..10 + a as Letter).collect();
    let mut second: Vec<Letter> = (1000..1000 + b as Letter).collect();
    for (l, r) in left.iter().zip(&right) {
        *second.get_mut(*r)? = *first.get(*l)?;
    }
    let free = |own: &[Letter], summed: &[usize]| -> Vec<Letter> {
        own.iter().enumerate().filter(|(d, _)| !summed.contains(d)).map(|(_, letter)| *letter).collect()
    };
    let result = [free(&first, &left), free(&second, &right)].concat();
    Contraction { factors: vec![(0, first), (1, second)], result, added: None }.finder(call)
}

/// `einsum`, by the letters of its equation.
pub(crate) fn einsum(call: &TracedCall) -> Option<Finder> {
    let given = call.argument("args")?.sequence()?;
    let Some(Value::Str(equation)) = given.first() else { return None };
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (operands, result) = match equation.split_once("->") {
        Some((operands, result)) => (operands, Some(result)),
        None => (equation.as_str(), None),
    };
    let letter = |c: char| 10 + c as Letter;
    let mut factors = Vec::new();
    let mut most = 0;
    for (at, text) in operands.split(',').enumerate() {
        let ndim = call.tensors.get(at)?.view.ndim();
        let (before, after) = match text.split_once("...") {
            Some((before, after)) => (before, Some(after)),
            None => (text, None),
        };
        let own = before.chars().count() + after.map_or(0, |after| after.chars().count());
        let rest = ndim.checked_sub(own).filter(|rest| after.is_some() || *rest == 0)?;
        most = most.max(rest);
        let letters =
            before.chars().map(letter).chain(batch(rest)).chain(after.unwrap_or_default().chars().map(letter));
        factors.push((at, letters.collect::<Vec<_>>()));
    }
    let result = match result {
        Some(result) => match result.split_once("...") {
            Some((before, after)) => {
                before.chars().map(letter).chain(batch(most)).chain(after.chars().map(letter)).collect()
            }
            None => result.chars().map(letter).collect(),
        },
        // Without an arrow, the letters that occur once, in the order of the alphabet.
        None => {
            let mut once: Vec<char> = operands.chars().filter(|c| c.is_alphabetic()).collect();
            once.retain(|c| operands.matches(*c).count() == 1);
            once.sort_unstable();
            batch(most).chain(once.into_iter().map(letter)).collect()
        }
    };
    Contraction { factors, result, added: None }.finder(call)
}

/// `kron`: an element of the result is a product of one element of each.
pub(crate) fn kron(call: &TracedCall) -> Option<Finder> {
    let (a, b) = (Dims::from_slice(call.tensors.first()?.sizes()), Dims::from_slice(call.tensors.get(1)?.sizes()));
    let shape = Dims::from_slice(call.outputs.first()?.sizes());
    let ndim = shape.len();
    let padded = |own: &Dims| -> Dims {
        std::iter::repeat_n(1, ndim.saturating_sub(own.len())).chain(own.iter().copied()).collect()
    };
    let (a, b) = (padded(&a), padded(&b));
    Some(Box::new(move |_, element| {
        let index = index_of(element, &shape);
        let outer: Dims = index.iter().zip(&b).map(|(at, size)| at / (*size).max(1)).collect();
        let inner: Dims = index.iter().zip(&b).map(|(at, size)| at % (*size).max(1)).collect();
        let read =
            |tensor, index: &Dims, own: &Dims| Read { tensor, element: number_of(index, own), part: Part::Taken };
        vec![read(0, &outer, &a), read(1, &inner, &b)]
    }))
}
