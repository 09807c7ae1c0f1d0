//! Properties of the layout algebra, over random windows on random tensors, and of every view operation against a model
//! that knows indices only.

use proptest::prelude::*;
use tensorsh::ops::{split, view};
use tensorsh::tensor::iterate::walk;
use tensorsh::tensor::{DType, Device, Layout, Result, View};

/// One step from a window to another.
#[derive(Clone, Debug)]
enum Step {
    Transpose(usize, usize),
    Slice(usize, i64, i64),
    Select(usize),
    Unsqueeze(usize),
    Expand(usize),
}

fn apply(layout: &Layout, step: &Step) -> Result<Layout> {
    let n = layout.ndim();
    let at = |d: usize| d % n.max(1);
    Ok(match *step {
        Step::Transpose(a, b) if n > 0 => layout.transpose(at(a) as i64, at(b) as i64)?,
        Step::Slice(d, start, step) if n > 0 => layout.slice(at(d), Some(start), None, step),
        Step::Select(d) if n > 1 && layout.sizes[at(d)] > 0 => layout.select(at(d), layout.sizes[at(d)] - 1),
        Step::Unsqueeze(d) if n < 5 => layout.unsqueeze((d % (n + 1)) as i64)?,
        Step::Expand(d) if n > 0 && layout.sizes[at(d)] == 1 => {
            let mut sizes = layout.sizes.clone();
            sizes[at(d)] = 3;
            layout.expand(&sizes, "FloatTensor")?
        }
        _ => layout.clone(),
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0usize..5, 0usize..5).prop_map(|(a, b)| Step::Transpose(a, b)),
        (0usize..5, -2i64..3, 1i64..3).prop_map(|(d, start, step)| Step::Slice(d, start, step)),
        (0usize..5).prop_map(Step::Select),
        (0usize..5).prop_map(Step::Unsqueeze),
        (0usize..5).prop_map(Step::Expand),
    ]
}

/// A window reached from a row-major tensor by a few steps.
fn window() -> impl Strategy<Value = Layout> {
    (prop::collection::vec(0i64..5, 0..4), prop::collection::vec(step(), 0..5)).prop_map(|(sizes, steps)| {
        steps.iter().fold(Layout::contiguous(&sizes), |layout, step| apply(&layout, step).unwrap_or(layout))
    })
}

/// A shape with as many elements, by splitting the count into factors.
fn shapes(numel: i64, choices: &[usize]) -> Vec<i64> {
    let mut rest = numel.max(1);
    let mut shape = Vec::new();
    for &choice in choices {
        let factors: Vec<i64> = (1..=rest).filter(|f| rest % f == 0).collect();
        let factor = factors[choice % factors.len()];
        shape.push(factor);
        rest /= factor;
    }
    shape.push(rest);
    if numel == 0 {
        shape.push(0);
    }
    shape
}

/// The strides that would show these addresses under these sizes, if any do.
fn strides_of(offsets: &[i64], sizes: &[i64]) -> Option<Vec<i64>> {
    let mut step = 1usize;
    let mut strides = vec![0; sizes.len()];
    for d in (0..sizes.len()).rev() {
        if sizes[d] > 1 {
            strides[d] = offsets[step] - offsets[0];
        }
        step *= sizes[d] as usize;
    }
    let layout = Layout { sizes: sizes.into(), strides: strides.as_slice().into(), offset: offsets[0] };
    layout.offsets().eq(offsets.iter().copied()).then_some(strides)
}

/// Every view operation of the Tensor Views page, with raw numbers that [`Op::apply`] makes fit.
#[derive(Clone, Debug)]
struct Op {
    kind: u8,
    a: i64,
    b: i64,
    c: i64,
}

/// A view and, for each index of it in row-major order, the index of the tensor it was taken from.
type Modelled = (View, Vec<Vec<i64>>);

/// All indices of a tensor of these sizes, in row-major order.
fn every_index(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |shorter, &size| {
        let longer = |index: Vec<i64>| (0..size).map(move |i| index.iter().copied().chain([i]).collect());
        shorter.into_iter().flat_map(longer).collect()
    })
}

impl Op {
    /// Runs the operation and the model beside it; `None` where it does not apply to this tensor.
    fn apply(&self, view: &View) -> Option<Modelled> {
        let (n, sizes) = (view.ndim() as i64, view.sizes().to_vec());
        let dim = |x: i64| x.rem_euclid(n.max(1));
        // Negative dimensions must mean the same as the positive ones.
        let signed = |d: i64| if self.c % 2 == 0 { d } else { d - n };
        let (d, e) = (dim(self.a), dim(self.b));
        let size = sizes.get(d as usize).copied().unwrap_or(1);
        let from = |out: View, source: &dyn Fn(&[i64]) -> Vec<i64>| {
            let model = every_index(out.sizes()).iter().map(|index| source(index)).collect();
            Some((out, model))
        };
        let inserted = |index: &[i64], at: i64, value: i64| {
            let mut index = index.to_vec();
            index.insert(at as usize, value);
            index
        };
        match self.kind {
            0 if n > 0 => from(view::transpose(view, signed(d), e).ok()?, &|index| {
                let mut index = index.to_vec();
                index.swap(d as usize, e as usize);
                index
            }),
            1 => {
                let order: Vec<i64> = (0..n).map(|i| (i + self.a).rem_euclid(n.max(1))).collect();
                from(view::permute(view, &order).ok()?, &|index| {
                    let mut source = vec![0; order.len()];
                    order.iter().zip(index).for_each(|(&old, &i)| source[old as usize] = i);
                    source
                })
            }
            2 => from(view::numpy_t(view), &|index| index.iter().rev().copied().collect()),
            3 if n > 0 => from(view::movedim(view, &[signed(d)], &[e]).ok()?, &|index| {
                let mut index = index.to_vec();
                let moved = index.remove(e as usize);
                index.insert(d as usize, moved);
                index
            }),
            4 => {
                let at = self.a.rem_euclid(n + 1);
                from(view::unsqueeze(view, at).ok()?, &|index| {
                    let mut index = index.to_vec();
                    index.remove(at as usize);
                    index
                })
            }
            5 => from(view::squeeze(view, None).ok()?, &|index| {
                let mut kept = index.iter();
                sizes.iter().map(|&size| if size == 1 { 0 } else { kept.next().copied().unwrap_or(0) }).collect()
            }),
            6 if size == 1 && n > 0 => {
                from(view::squeeze(view, Some(&[signed(d)])).ok()?, &|index| inserted(index, d, 0))
            }
            7 => {
                let wide: Vec<i64> =
                    [2].into_iter().chain(sizes.iter().map(|&s| if s == 1 { 3 } else { -1 })).collect();
                from(view::expand(view, &wide).ok()?, &|index| {
                    index[1..].iter().zip(&sizes).map(|(&i, &size)| if size == 1 { 0 } else { i }).collect()
                })
            }
            8 if n > 0 && size > 0 => {
                let at = self.b.rem_euclid(size);
                let given = if self.c % 2 == 0 { at } else { at - size };
                from(view::select(view, signed(d), given).ok()?, &|index| inserted(index, d, at))
            }
            9 if n > 0 => {
                let start = self.b.rem_euclid(size + 1);
                let length = self.c.rem_euclid(size - start + 1);
                from(view::narrow(view, d, start, length).ok()?, &|index| {
                    let mut index = index.to_vec();
                    index[d as usize] += start;
                    index
                })
            }
            10 if n > 0 => {
                let (start, step) = (self.b, 1 + self.c.rem_euclid(3));
                let first = (if start < 0 { start + size } else { start }).clamp(0, size);
                let out = view::slice(view, signed(d), Some(start), None, step).ok()?;
                assert_eq!(out.sizes()[d as usize], (size - first + step - 1) / step);
                from(out, &|index| {
                    let mut index = index.to_vec();
                    index[d as usize] = first + index[d as usize] * step;
                    index
                })
            }
            11 if n > 1 && d != e => {
                let offset = self.c % 3;
                let out = view::diagonal(view, offset, d, e).ok()?;
                let (down, right) = ((-offset).max(0), offset.max(0));
                let expected = (sizes[d as usize] - down).min(sizes[e as usize] - right).max(0);
                assert_eq!(out.sizes().last(), Some(&expected));
                from(out, &|index| {
                    let (step, rest) = (index[index.len() - 1], &index[..index.len() - 1]);
                    let (low, high) = if d < e {
                        ((d, step + down), (e, step + right))
                    } else {
                        ((e, step + right), (d, step + down))
                    };
                    inserted(&inserted(rest, low.0, low.1), high.0, high.1)
                })
            }
            12 if n > 0 && size > 0 => {
                let (width, step) = (1 + self.b.rem_euclid(size), 1 + self.c.rem_euclid(2));
                let out = view::unfold(view, d, width, step).ok()?;
                assert_eq!(out.sizes()[d as usize], (size - width) / step + 1);
                from(out, &|index| {
                    let (within, rest) = (index[index.len() - 1], &index[..index.len() - 1]);
                    let mut index = rest.to_vec();
                    index[d as usize] = index[d as usize] * step + within;
                    index
                })
            }
            13 if n > 0 => {
                let pieces = split::chunk(view, 1 + self.b.rem_euclid(4), signed(d)).ok()?;
                piece_of(&pieces, self.c, d, &sizes)
            }
            14 if n > 0 => {
                let pieces = split::tensor_split_sections(view, 1 + self.b.rem_euclid(4), signed(d)).ok()?;
                piece_of(&pieces, self.c, d, &sizes)
            }
            15 if n > 0 && size > 0 => {
                let pieces = split::unbind(view, signed(d)).ok()?;
                assert_eq!(pieces.len() as i64, size);
                let at = self.b.rem_euclid(size);
                from(pieces[at as usize].clone(), &|index| inserted(index, d, at))
            }
            16 if n > 0 && size > 0 => {
                let first = (1..=size).find(|f| size % f == 0 && *f > self.b.rem_euclid(size)).unwrap_or(size);
                let rest = size / first;
                from(view::unflatten(view, signed(d), &[first, -1]).ok()?, &|index| {
                    let mut index = index.to_vec();
                    let inner = index.remove(d as usize + 1);
                    index[d as usize] = index[d as usize] * rest + inner;
                    index
                })
            }
            17 if n > 1 => from(view::matrix_t(view).ok()?, &|index| {
                let mut index = index.to_vec();
                let last = index.len() - 1;
                index.swap(last - 1, last);
                index
            }),
            _ => None,
        }
    }
}

/// One of the pieces, which together must cover the dimension.
fn piece_of(pieces: &[View], which: i64, d: i64, sizes: &[i64]) -> Option<Modelled> {
    let lengths: Vec<i64> = pieces.iter().map(|piece| piece.sizes()[d as usize]).collect();
    assert_eq!(lengths.iter().sum::<i64>(), sizes[d as usize]);
    let chosen = which.rem_euclid(pieces.len().max(1) as i64) as usize;
    let start: i64 = lengths[..chosen].iter().sum();
    let out = pieces.get(chosen)?.clone();
    let model = every_index(out.sizes()).into_iter().map(|mut index| {
        index[d as usize] += start;
        index
    });
    let model = model.collect();
    Some((out, model))
}

fn op() -> impl Strategy<Value = Op> {
    (0u8..18, -7i64..8, -7i64..8, -7i64..8).prop_map(|(kind, a, b, c)| Op { kind, a, b, c })
}

/// The address of one index.
fn address(layout: &Layout, index: &[i64]) -> i64 {
    layout.offset + index.iter().zip(&layout.strides).map(|(i, stride)| i * stride).sum::<i64>()
}

proptest! {
    /// After any run of view operations, the element reached through the view is the one that the indices lead to.
    #[test]
    fn views_reach_the_elements_a_model_reaches(
        sizes in prop::collection::vec(0i64..5, 0..4),
        ops in prop::collection::vec(op(), 1..5),
    ) {
        let mut view = View::zeros(&sizes, DType::Byte, Device::CPU).unwrap();
        for op in ops {
            if let Some((next, model)) = op.apply(&view) {
                if next.ndim() > 6 || next.numel() > 400 {
                    break;
                }
                prop_assert!(next.storage == view.storage);
                let reached: Vec<i64> = next.layout.offsets().collect();
                let expected: Vec<i64> = model.iter().map(|index| address(&view.layout, index)).collect();
                prop_assert_eq!(reached, expected, "{:?}", op);
                view = next;
            }
        }
    }

    /// `reshape` copies exactly when `view` refuses, and `flatten` agrees with both.
    #[test]
    fn reshape_copies_where_view_refuses(layout in window(), choices in prop::collection::vec(0usize..12, 0..4)) {
        let whole = View::zeros(&[layout.storage_elements().unwrap().max(1)], DType::Byte, Device::CPU).unwrap();
        let view = whole.with_layout(layout);
        let shape = shapes(view.numel(), &choices);
        let reshaped = view::reshape(&view, &shape).unwrap();
        prop_assert_eq!(reshaped.storage == view.storage, view.layout.view(&shape).is_ok());
        let flat = view::flatten(&view, 0, -1).unwrap();
        prop_assert_eq!(flat.storage == view.storage, view.ndim() == 0 || view.layout.view(&[view.numel()]).is_ok());
    }
}

proptest! {
    /// A view shows the same elements in the same order; and it is refused only when no strides could show them.
    #[test]
    fn view_keeps_the_order_of_elements(layout in window(), choices in prop::collection::vec(0usize..12, 0..4)) {
        let offsets: Vec<i64> = layout.offsets().collect();
        let shape = shapes(layout.numel(), &choices);
        match layout.view(&shape) {
            Ok(view) => prop_assert_eq!(view.offsets().collect::<Vec<_>>(), offsets),
            Err(_) => prop_assert_eq!(strides_of(&offsets, &shape), None),
        }
    }

    /// Every address shown lies in the span that bounds checks rely on.
    #[test]
    fn storage_elements_bounds_every_address(layout in window()) {
        let needed = layout.storage_elements();
        prop_assert!(needed.is_ok());
        for offset in layout.offsets() {
            prop_assert!((0..needed.clone().unwrap_or(0)).contains(&offset));
        }
    }

    /// A layout called contiguous reads addresses one after the other; one called dense reads each address once.
    #[test]
    fn contiguity_means_what_it_says(layout in window()) {
        let mut offsets: Vec<i64> = layout.offsets().collect();
        let consecutive = |offsets: &[i64]| offsets.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(layout.is_contiguous(), consecutive(&offsets));
        offsets.sort_unstable();
        prop_assert_eq!(layout.is_non_overlapping_and_dense(), consecutive(&offsets));
        if layout.has_internal_overlap() && !offsets.is_empty() {
            prop_assert!(offsets.windows(2).any(|pair| pair[0] == pair[1]));
        }
    }

    /// Walking a pair of operands meets every pair of addresses once, whatever order the walk takes.
    #[test]
    fn walk_visits_every_index_once(layout in window()) {
        let target = Layout::contiguous(&layout.sizes);
        let mut met = Vec::new();
        let walked = walk([&target, &layout], |run| {
            for i in 0..run.length as i64 {
                met.push((run.offset[0] + i * run.stride[0], run.offset[1] + i * run.stride[1]));
            }
            Ok(())
        });
        prop_assert_eq!(walked, Ok(()));
        met.sort_unstable();
        prop_assert_eq!(met, target.offsets().zip(layout.offsets()).collect::<Vec<_>>());
    }

    /// Swapping twice, and inserting and dropping a dimension, change nothing.
    #[test]
    fn inverses_cancel(layout in window(), a in 0usize..4, b in 0usize..4) {
        if layout.ndim() > 0 {
            let (a, b) = ((a % layout.ndim()) as i64, (b % layout.ndim()) as i64);
            let twice = layout.transpose(a, b).and_then(|l| l.transpose(a, b));
            prop_assert_eq!(twice, Ok(layout.clone()));
        }
        let d = a % (layout.ndim() + 1);
        let there_and_back = layout.unsqueeze(d as i64).map(|l| l.squeeze(|i| i == d));
        prop_assert_eq!(there_and_back, Ok(layout));
    }
}
