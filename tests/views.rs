//! Tests every view operation against a model without strides: a list of the byte positions of all indices, in
//! row-major order. An operation on the model maps each index of the result to an index of the input.

use proptest::prelude::*;
use tensorsh::tensor::index::Index;
use tensorsh::tensor::ops::copy::fill;
use tensorsh::tensor::ops::split::{self, SplitAxis};
use tensorsh::tensor::ops::{index, view};
use tensorsh::tensor::{DType, Device, Result, Scalar, View};

/// The sizes of a tensor, and the position of each element in its storage in bytes.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    sizes: Vec<i64>,
    places: Vec<i64>,
}

/// Returns all indices of a tensor of these sizes, in row-major order.
fn every_index(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |shorter, &size| {
        let longer = |index: Vec<i64>| (0..size).map(move |i| index.iter().copied().chain([i]).collect());
        shorter.into_iter().flat_map(longer).collect()
    })
}

fn inserted(index: &[i64], dim: usize, value: i64) -> Vec<i64> {
    let mut index = index.to_vec();
    index.insert(dim, value);
    index
}

fn removed(index: &[i64], dim: usize) -> Vec<i64> {
    let mut index = index.to_vec();
    index.remove(dim);
    index
}

fn replaced(index: &[i64], dim: usize, value: i64) -> Vec<i64> {
    let mut index = index.to_vec();
    index[dim] = value;
    index
}

impl Model {
    /// Returns the model of a view.
    fn of(view: &View) -> Model {
        let itemsize = view.dtype.itemsize() as i64;
        let places = view.layout.offsets().map(|offset| offset * itemsize).collect();
        Model { sizes: view.sizes().to_vec(), places }
    }

    fn at(&self, index: &[i64]) -> i64 {
        assert_eq!(index.len(), self.sizes.len());
        let position = index.iter().zip(&self.sizes).fold(0, |position, (&i, &size)| {
            assert!((0..size).contains(&i));
            position * size + i
        });
        self.places[position as usize]
    }

    /// Returns a tensor of these sizes whose element at an index is this model's at `source(index)`.
    fn pick(&self, sizes: Vec<i64>, source: impl Fn(&[i64]) -> Vec<i64>) -> Model {
        self.shifted(sizes, |index| (source(index), 0))
    }

    /// Like `pick`, with an additional number of bytes.
    fn shifted(&self, sizes: Vec<i64>, source: impl Fn(&[i64]) -> (Vec<i64>, i64)) -> Model {
        let place = |index: Vec<i64>| {
            let (source, bytes) = source(&index);
            self.at(&source) + bytes
        };
        let places = every_index(&sizes).into_iter().map(place).collect();
        Model { sizes, places }
    }

    /// Reduces dimension `dim` to `size` indices, of which the i-th is `source(i)`.
    fn cut(&self, dim: usize, size: i64, source: impl Fn(i64) -> i64) -> Model {
        self.pick(replaced(&self.sizes, dim, size), |index| replaced(index, dim, source(index[dim])))
    }

    fn reshaped(&self, sizes: &[i64]) -> Model {
        Model { sizes: sizes.to_vec(), places: self.places.clone() }
    }

    /// Returns whether strides can show these positions in these sizes, so that no copy is needed.
    fn is_strided(&self) -> bool {
        let mut step = 1;
        let mut strides = vec![0; self.sizes.len()];
        for d in (0..self.sizes.len()).rev() {
            if self.sizes[d] > 1 && !self.places.is_empty() {
                strides[d] = self.places[step] - self.places[0];
            }
            step *= self.sizes[d].max(1) as usize;
        }
        let reached =
            |index: Vec<i64>| self.places[0] + index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<i64>();
        every_index(&self.sizes).into_iter().map(reached).eq(self.places.iter().copied())
    }
}

/// Defines an enumeration, and the list of all its variants.
macro_rules! operations {
    ($($op:ident)*) => {
        /// The operations of PyTorch's Tensor Views page.
        #[derive(Clone, Copy, Debug)]
        enum Op {
            $($op),*
        }

        const OPS: &[Op] = &[$(Op::$op),*];
    };
}

operations! {
    AsStrided
    Chunk
    Diagonal
    Expand
    Flatten
    Hsplit
    Imag
    MatrixTransposed
    Movedim
    Narrow
    Permute
    Real
    Reversed
    Select
    Slice
    Split
    SplitWithSizes
    Squeeze
    SqueezeOne
    Subscript
    TensorSplit
    TensorSplitAt
    Transpose
    Unbind
    Unflatten
    Unfold
    Unsqueeze
    View
    ViewAsComplex
    ViewAsReal
    ViewDtype
}

/// An operation with raw numbers, which become valid arguments for a given tensor.
#[derive(Clone, Debug)]
struct Step {
    op: Op,
    a: i64,
    b: i64,
    c: i64,
}

/// The result of an operation, and the expected one: `None` if only a copy is possible.
type Answers = (Result<View>, Option<Model>);

impl Step {
    /// Runs the operation on both. `None` if it cannot be applied to this tensor.
    fn run(&self, v: &View, m: &Model) -> Option<Answers> {
        let n = m.sizes.len();
        let d = self.a.rem_euclid(n.max(1) as i64) as usize;
        let e = self.b.rem_euclid(n.max(1) as i64) as usize;
        let size = m.sizes.get(d).copied().unwrap_or(0);
        // Negative numbers must mean the same as the corresponding positive ones.
        let from_end = |number: i64, count: i64| if self.c % 2 == 0 { number } else { number - count };
        let dim = |d: usize| from_end(d as i64, n as i64);
        let itemsize = v.dtype.itemsize() as i64;
        let made = |view: Result<View>, model: Model| Some((view, Some(model)));
        match self.op {
            _ if n == 0 && self.op.needs_dimension() => None,
            Op::Transpose => {
                let swap = |index: &[i64]| {
                    let mut index = index.to_vec();
                    index.swap(d, e);
                    index
                };
                made(view::transpose(v, dim(d), dim(e)), m.pick(swap(&m.sizes), swap))
            }
            Op::MatrixTransposed if n < 2 => None,
            Op::MatrixTransposed => {
                let swap = |index: &[i64]| {
                    let mut index = index.to_vec();
                    index.swap(n - 2, n - 1);
                    index
                };
                made(view::matrix_t(v), m.pick(swap(&m.sizes), swap))
            }
            Op::Reversed => {
                let reverse = |index: &[i64]| index.iter().rev().copied().collect::<Vec<_>>();
                made(Ok(view::numpy_t(v)), m.pick(reverse(&m.sizes), reverse))
            }
            Op::Permute => {
                // Every permutation of up to three dimensions is a rotation of the order or of the reversed order.
                let mut order: Vec<usize> = (0..n).map(|i| (i + d) % n).collect();
                if self.b % 2 == 0 {
                    order.reverse();
                }
                let sizes = order.iter().map(|&old| m.sizes[old]).collect();
                let dims: Vec<i64> = order.iter().map(|&old| dim(old)).collect();
                let back = |index: &[i64]| {
                    let mut source = vec![0; n];
                    order.iter().zip(index).for_each(|(&old, &i)| source[old] = i);
                    source
                };
                made(view::permute(v, &dims), m.pick(sizes, back))
            }
            Op::Movedim => {
                let moved = |index: &[i64], from: usize, to: usize| inserted(&removed(index, from), to, index[from]);
                let sizes = moved(&m.sizes, d, e);
                made(view::movedim(v, &[dim(d)], &[dim(e)]), m.pick(sizes, |index| moved(index, e, d)))
            }
            Op::Unsqueeze => {
                let at = self.a.rem_euclid(n as i64 + 1);
                let sizes = inserted(&m.sizes, at as usize, 1);
                let out = view::unsqueeze(v, from_end(at, n as i64 + 1));
                made(out, m.pick(sizes, |index| removed(index, at as usize)))
            }
            Op::Squeeze => {
                let sizes = m.sizes.iter().copied().filter(|&size| size != 1).collect();
                let source = |index: &[i64]| {
                    let mut kept = index.iter();
                    m.sizes.iter().map(|&size| if size == 1 { 0 } else { *kept.next().unwrap() }).collect()
                };
                made(view::squeeze(v, None), m.pick(sizes, source))
            }
            Op::SqueezeOne if size == 1 => {
                let sizes = removed(&m.sizes, d);
                made(view::squeeze(v, Some(&[dim(d)])), m.pick(sizes, |index| inserted(index, d, 0)))
            }
            Op::SqueezeOne => made(view::squeeze(v, Some(&[dim(d)])), m.clone()),
            Op::Expand => {
                let wide: Vec<i64> =
                    [2].into_iter().chain(m.sizes.iter().map(|&s| if s == 1 { 3 } else { s })).collect();
                // Sizes that do not grow may be given as -1.
                let asked = m.sizes.iter().map(|&size| if size == 1 { 3 } else { from_end(size, size + 1) });
                let asked: Vec<i64> = [2].into_iter().chain(asked).collect();
                let source = |index: &[i64]| {
                    index[1..].iter().zip(&m.sizes).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
                };
                made(view::expand(v, &asked), m.pick(wide, source))
            }
            Op::Select | Op::Unbind if size == 0 => None,
            Op::Select => {
                let at = self.b.rem_euclid(size);
                let model = m.pick(removed(&m.sizes, d), |index| inserted(index, d, at));
                made(view::select(v, dim(d), from_end(at, size)), model)
            }
            Op::Unbind => {
                let at = self.b.rem_euclid(size);
                let model = m.pick(removed(&m.sizes, d), |index| inserted(index, d, at));
                made(split::unbind(v, dim(d)).map(|pieces| pieces[at as usize].clone()), model)
            }
            Op::Narrow => {
                let start = self.b.rem_euclid(size + 1);
                let length = self.c.rem_euclid(size - start + 1);
                let given = if start < size { from_end(start, size) } else { start };
                made(view::narrow(v, dim(d), given, length), m.cut(d, length, |i| start + i))
            }
            Op::Slice => {
                let (start, step) = (self.b, 1 + self.c.rem_euclid(3));
                let first = (if start < 0 { start + size } else { start }).clamp(0, size);
                let out = view::slice(v, dim(d), Some(start), None, step);
                made(out, m.cut(d, (size - first + step - 1) / step, |i| first + i * step))
            }
            Op::Subscript => {
                // x[..., -1, None], or x[..., 1::2] if nothing can be selected.
                let leading = Index::Ellipsis;
                let last = n - 1;
                match m.sizes[last] {
                    0 | 1 => {
                        let odd = Index::Slice { start: Some(1), stop: None, step: 2 };
                        made(index::index(v, &[leading, odd]), m.cut(last, 0, |i| i))
                    }
                    size => {
                        let out = index::index(v, &[leading, Index::Int(-1), Index::NewAxis]);
                        made(out, m.cut(last, 1, |_| size - 1))
                    }
                }
            }
            Op::Diagonal if d == e => None,
            Op::Diagonal => {
                let (down, right) = ((-self.c).max(0) % 4, self.c.max(0) % 4);
                let length = (m.sizes[d] - down).min(m.sizes[e] - right).max(0);
                let rest = removed(&removed(&m.sizes, d.max(e)), d.min(e));
                let sizes = inserted(&rest, rest.len(), length);
                let source = |index: &[i64]| {
                    let (rest, step) = (&index[..index.len() - 1], index[index.len() - 1]);
                    let mut both = [(d, step + down), (e, step + right)];
                    both.sort_unstable();
                    inserted(&inserted(rest, both[0].0, both[0].1), both[1].0, both[1].1)
                };
                made(view::diagonal(v, right - down, dim(d), dim(e)), m.pick(sizes, source))
            }
            Op::Unfold => {
                let (width, step) = (self.b.rem_euclid(size + 1), 1 + self.c.rem_euclid(2));
                let windows = replaced(&m.sizes, d, (size - width) / step + 1);
                let source = |index: &[i64]| replaced(&index[..n], d, index[d] * step + index[n]);
                made(view::unfold(v, dim(d), width, step), m.pick(inserted(&windows, n, width), source))
            }
            Op::Chunk => {
                let chunks = 1 + self.b.rem_euclid(4);
                let length = ((size + chunks - 1) / chunks).max(1);
                let starts: Vec<i64> = (0..chunks).map(|i| i * length).filter(|&start| start < size.max(1)).collect();
                // An empty dimension yields the requested number of chunks.
                let starts = if size == 0 { vec![0; chunks as usize] } else { starts };
                self.piece(split::chunk(v, chunks, dim(d)), m, d, &starts)
            }
            Op::Split => {
                let length = 1 + self.b.rem_euclid(4);
                let starts: Vec<i64> = (0..size.max(1)).step_by(length as usize).collect();
                self.piece(split::split(v, length, dim(d)), m, d, &starts)
            }
            Op::SplitWithSizes => {
                let first = self.b.rem_euclid(size + 1);
                self.piece(split::split_with_sizes(v, &[first, 0, size - first], dim(d)), m, d, &[0, first, first])
            }
            Op::TensorSplit | Op::Hsplit => {
                let hsplit = matches!(self.op, Op::Hsplit);
                let d = if hsplit { usize::from(n > 1) } else { d };
                let size = m.sizes[d];
                // `hsplit` divides evenly or not at all.
                let sections = (1..=1 + self.b.rem_euclid(4)).rfind(|s| !hsplit || size % s == 0)?;
                let starts: Vec<i64> = (0..sections).map(|i| i * (size / sections) + i.min(size % sections)).collect();
                let pieces = match hsplit {
                    true => SplitAxis::H.split_sections(v, sections),
                    false => split::tensor_split_sections(v, sections, dim(d)),
                };
                self.piece(pieces, m, d, &starts)
            }
            Op::TensorSplitAt => {
                let (first, second) = (self.b.rem_euclid(size + 1), size);
                let pieces = split::tensor_split_indices(v, &[first, second], dim(d));
                self.piece(pieces, m, d, &[0, first, second])
            }
            Op::Unflatten => {
                let first = (1..=size.max(1)).rfind(|f| size % f == 0 && *f <= 1 + self.b.rem_euclid(4))?;
                let rest = size / first;
                let sizes = inserted(&replaced(&m.sizes, d, first), d + 1, rest);
                // A size can be inferred only if there are elements.
                let open = if m.places.is_empty() { rest } else { -1 };
                made(view::unflatten(v, dim(d), &[first, open]), m.reshaped(&sizes))
            }
            Op::Flatten => {
                let (first, last) = (d.min(e), d.max(e));
                let merged = m.sizes.get(first..=last).map_or(1, |sizes| sizes.iter().product());
                let mut sizes = m.sizes.clone();
                sizes.splice(first..(last + 1).min(n), [merged]);
                self.reshaped(view::flatten(v, dim(first), dim(last)), v, m.reshaped(&sizes))
            }
            Op::View => {
                let sizes = shape(m.places.len() as i64, [self.a, self.b, self.c]);
                let model = m.reshaped(&sizes);
                Some((v.layout.view(&sizes).map(|l| v.with_layout(l)), Some(model).filter(Model::is_strided)))
            }
            Op::AsStrided => {
                let held = v.storage.nbytes() as i64 / itemsize;
                let offset = self.a.rem_euclid(held.max(1));
                let strides = [self.b.rem_euclid(5), self.c.rem_euclid(3)];
                let fits = |sizes: &[i64]| {
                    let span: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum();
                    sizes.contains(&0) || offset + span < held
                };
                let sizes = [[4, 3], [3, 2], [2, 2], [1, 1], [2, 0]].into_iter().find(|sizes| fits(sizes))?;
                let place = |i: Vec<i64>| (offset + i[0] * strides[0] + i[1] * strides[1]) * itemsize;
                let places = every_index(&sizes).into_iter().map(place).collect();
                made(view::as_strided(v, &sizes, &strides, Some(offset)), Model { sizes: sizes.to_vec(), places })
            }
            Op::Real | Op::Imag | Op::ViewAsReal if !v.dtype.is_complex() => None,
            Op::Real => made(Ok(view::real(v)), m.clone()),
            Op::Imag => made(view::imag(v), m.shifted(m.sizes.clone(), |index| (index.to_vec(), itemsize / 2))),
            Op::ViewAsReal => {
                let model = m.shifted(inserted(&m.sizes, n, 2), |index| (index[..n].to_vec(), index[n] * itemsize / 2));
                made(view::view_as_real(v), model)
            }
            Op::ViewAsComplex if v.dtype.to_complex().is_err() || v.dtype.is_complex() || m.sizes[n - 1] != 2 => None,
            Op::ViewAsComplex => {
                let strides = v.strides();
                let pairs = strides[n - 1] == 1 && strides[..n - 1].iter().all(|stride| stride % 2 == 0);
                let model = m.pick(m.sizes[..n - 1].to_vec(), |index| inserted(index, n - 1, 0));
                Some((view::view_as_complex(v), Some(model).filter(|_| pairs && v.layout.offset % 2 == 0)))
            }
            Op::ViewDtype => {
                let dtype = DTYPES[self.a.rem_euclid(DTYPES.len() as i64) as usize];
                Some((v.view_dtype(dtype), viewed_as(v, m, dtype.itemsize() as i64)))
            }
        }
    }

    /// Returns one of the pieces that begin at these positions; together they cover the dimension.
    fn piece(&self, pieces: Result<Vec<View>>, m: &Model, d: usize, starts: &[i64]) -> Option<Answers> {
        let ends = starts[1..].iter().copied().chain([m.sizes[d]]);
        let chosen = self.c.rem_euclid(starts.len() as i64) as usize;
        let (start, end) = starts.iter().copied().zip(ends).nth(chosen)?;
        let out = pieces.map(|pieces| {
            assert_eq!(pieces.len(), starts.len());
            pieces[chosen].clone()
        });
        Some((out, Some(m.cut(d, end - start, |i| start + i))))
    }

    /// Checks an operation that may return a view or a copy: it must return a view exactly if one is possible.
    fn reshaped(&self, out: Result<View>, v: &View, model: Model) -> Option<Answers> {
        let out = out.unwrap_or_else(|error| panic!("{self:?} of {:?}: {error}", v.layout));
        assert_eq!(out.storage == v.storage, model.is_strided(), "{self:?} of {:?}", v.layout);
        (out.storage == v.storage).then_some((Ok(out), Some(model)))
    }
}

impl Op {
    /// Returns whether the operation names a dimension, which a 0-d tensor does not have.
    fn needs_dimension(self) -> bool {
        use Op::*;
        !matches!(
            self,
            AsStrided
                | Expand
                | Flatten
                | Imag
                | MatrixTransposed
                | Real
                | Reversed
                | Squeeze
                | Unsqueeze
                | View
                | ViewAsReal
                | ViewDtype
        )
    }
}

const DTYPES: [DType; 5] = [DType::Byte, DType::Short, DType::Float, DType::Double, DType::ComplexFloat];

/// `view(dtype)` by the conditions of its page: bytes are regrouped only along a last dimension without gaps.
fn viewed_as(v: &View, m: &Model, new: i64) -> Option<Model> {
    let old = v.dtype.itemsize() as i64;
    if new == old {
        return Some(m.clone());
    }
    let last = m.sizes.len().checked_sub(1).filter(|&last| v.strides()[last] == 1)?;
    if new < old {
        let sizes = replaced(&m.sizes, last, m.sizes[last] * (old / new));
        return Some(m.shifted(sizes, |index| {
            let byte = index[last] * new;
            (replaced(index, last, byte / old), byte % old)
        }));
    }
    let ratio = new / old;
    let divides = |number: &i64| number % ratio == 0;
    let even = v.strides()[..last].iter().chain([&m.sizes[last], &v.layout.offset]).all(divides);
    even.then(|| m.cut(last, m.sizes[last] / ratio, |i| i * ratio))
}

/// Returns a shape with the same number of elements, by splitting the count into factors.
fn shape(numel: i64, choices: [i64; 3]) -> Vec<i64> {
    let mut rest = numel.max(1);
    let mut shape = Vec::new();
    for choice in choices.into_iter().filter(|choice| choice % 3 != 0) {
        let factors: Vec<i64> = (1..=rest).filter(|f| rest % f == 0).collect();
        let factor = factors[choice.unsigned_abs() as usize % factors.len()];
        shape.push(factor);
        rest /= factor;
    }
    shape.push(if numel == 0 { 0 } else { rest });
    shape
}

fn step() -> impl Strategy<Value = Step> {
    (prop::sample::select(OPS.to_vec()), -7i64..8, -7i64..8, -7i64..8).prop_map(|(op, a, b, c)| Step { op, a, b, c })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// After any chain of view operations, the bytes reached through the view are those of the indices. An operation
    /// may fail exactly if the model has no answer.
    #[test]
    fn views_reach_the_elements_that_a_model_reaches(
        dtype in prop::sample::select(DTYPES.to_vec()),
        sizes in prop::collection::vec(0i64..5, 0..4),
        steps in prop::collection::vec(step(), 1..8),
    ) {
        let mut v = View::zeros(&sizes, dtype, Device::CPU).unwrap();
        let mut model = Model::of(&v);
        prop_assert_eq!(&model.places, &(0..v.numel()).map(|i| i * dtype.itemsize() as i64).collect::<Vec<_>>());
        for step in steps {
            match step.run(&v, &model) {
                Some((Ok(next), Some(expected))) => {
                    prop_assert!(next.storage == v.storage);
                    prop_assert_eq!(&Model::of(&next), &expected, "{:?} of {:?}", step, v.layout);
                    if next.ndim() > 6 || next.numel() > 300 {
                        break;
                    }
                    (v, model) = (next, expected);
                }
                Some((Err(_), None)) | None => {}
                Some((got, expected)) => {
                    prop_assert!(false, "{:?} of {:?}: {:?}, the model {:?}", step, v.layout, got, expected);
                }
            }
        }
    }

    /// Writing through a view reaches exactly the bytes it shows.
    #[test]
    fn writing_through_a_view_reaches_what_it_shows(
        sizes in prop::collection::vec(1i64..5, 1..4),
        steps in prop::collection::vec(step(), 1..5),
    ) {
        let whole = View::zeros(&sizes, DType::Byte, Device::CPU).unwrap();
        let mut v = whole.clone();
        for step in steps {
            if let Some((Ok(next), Some(_))) = step.run(&v, &Model::of(&v)) && next.dtype == DType::Byte {
                v = next;
            }
        }
        let shown = Model::of(&v).places;
        fill(&v, Scalar::Int(7)).unwrap();
        for (place, value) in (0..).zip(whole.scalars().unwrap()) {
            prop_assert_eq!(value.to_i64() == 7, shown.contains(&place));
        }
    }
}
