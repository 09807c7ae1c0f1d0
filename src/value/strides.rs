//! The strides, in bytes, of NumPy's arrays. NumPy gives a dimension of size 1 the stride that a dense array would have
//! there; PyTorch gives it that of its neighbour ([`tensor::Layout::compute_stride`]). Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html#internal-memory-layout-of-an-ndarray>.

use tensor::Dims;

/// Returns the strides of a dense array in row-major or column-major order. Sizes of zero count as one, as in NumPy.
pub fn dense_strides(shape: &[i64], itemsize: usize, column_major: bool) -> Dims {
    let mut strides = Dims::from_elem(0, shape.len());
    let mut step = itemsize as i64;
    let mut place = |d: usize| {
        strides[d] = step;
        step = step.saturating_mul(shape[d].max(1));
    };
    match column_major {
        true => (0..shape.len()).for_each(&mut place),
        false => (0..shape.len()).rev().for_each(&mut place),
    }
    strides
}

/// Returns whether elements with these strides follow each other without gaps, in row-major or column-major order.
pub fn is_dense(sizes: &[i64], strides: &[i64], itemsize: usize, column_major: bool) -> bool {
    if sizes.contains(&0) {
        return true;
    }
    let mut step = itemsize as i64;
    let fits = |d: usize| {
        let fits = sizes[d] == 1 || strides[d] == step;
        step = step.saturating_mul(sizes[d]);
        fits
    };
    match column_major {
        true => (0..sizes.len()).all(fits),
        false => (0..sizes.len()).rev().all(fits),
    }
}

/// Returns the strides of the same elements with another shape, if no element has to move; `column_major` is the order in
/// which elements are counted. The number of elements must be the same.
pub fn reshaped_strides(
    sizes: &[i64],
    strides: &[i64],
    asked: &[i64],
    itemsize: usize,
    column_major: bool,
) -> Option<Dims> {
    if is_dense(sizes, strides, itemsize, column_major) {
        return Some(dense_strides(asked, itemsize, column_major));
    }
    // Pairs of size and stride that matter, fastest first.
    let mut from: Vec<(i64, i64)> =
        sizes.iter().copied().zip(strides.iter().copied()).filter(|(size, _)| *size != 1).collect();
    let mut order: Vec<usize> = (0..asked.len()).collect();
    if !column_major {
        from.reverse();
        order.reverse();
    }
    let mut out = Dims::from_elem(0, asked.len());
    let (mut next, mut at) = (0, 0);
    while at < order.len() {
        if asked[order[at]] == 1 {
            at += 1;
            continue;
        }
        let &(size, stride) = from.get(next)?;
        let (mut have, mut want, first) = (size, asked[order[at]], at);
        let (begun, mut last) = (next, at);
        while have != want {
            if have < want {
                next += 1;
                let &(size, step) = from.get(next)?;
                let (before, along) = from[next - 1];
                if step != before.checked_mul(along)? {
                    return None;
                }
                have = have.checked_mul(size)?;
            } else {
                last += 1;
                want = want.checked_mul(asked[*order.get(last)?])?;
            }
        }
        let mut step = if begun <= next { stride } else { 0 };
        for &d in &order[first..=last] {
            out[d] = step;
            step = step.checked_mul(asked[d])?;
        }
        next += 1;
        at = last + 1;
    }
    // Dimensions of one element get the stride that a dense array would have beside its neighbour.
    let mut step = order.iter().find(|&&d| asked[d] != 1).map_or(itemsize as i64, |&d| out[d]);
    for &d in &order {
        if asked[d] == 1 {
            out[d] = step;
        } else {
            step = out[d].saturating_mul(asked[d]);
        }
    }
    Some(out)
}
