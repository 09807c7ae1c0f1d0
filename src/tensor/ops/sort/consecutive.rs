//! `unique_consecutive` of all elements.

use super::Unique;
use crate::memory::{BoolByte, get, set};
use crate::ops::check::{by_width, lost, no_meta_kernel, not_implemented, resolved};
use crate::ops::copy::contiguous;
use crate::ops::number::Stored;
use crate::{DType, Device, Result, View, interrupt, limits};
use half::{bf16, f16};

/// `torch.unique_consecutive(x)` without a dimension: merges only adjacent equal elements. `inverse` is empty unless it
/// is wanted.
///
/// # Errors
/// RuntimeError for dtypes that PyTorch refuses; NotImplementedError for meta tensors.
pub fn unique_consecutive(view: &View, wants_inverse: bool) -> Result<Unique> {
    if view.device().is_meta() {
        return no_meta_kernel("unique_consecutive");
    }
    let view = contiguous(&resolved(view)?)?;
    let firsts = match view.dtype {
        DType::Bool => firsts::<BoolByte>(&view),
        DType::Byte => firsts::<u8>(&view),
        DType::Char => firsts::<i8>(&view),
        DType::Short => firsts::<i16>(&view),
        DType::Int => firsts::<i32>(&view),
        DType::Long => firsts::<i64>(&view),
        DType::UInt16 => firsts::<u16>(&view),
        DType::UInt32 => firsts::<u32>(&view),
        DType::UInt64 => firsts::<u64>(&view),
        DType::Half => firsts::<f16>(&view),
        DType::BFloat16 => firsts::<bf16>(&view),
        DType::Float => firsts::<f32>(&view),
        DType::Double => firsts::<f64>(&view),
        other => not_implemented("unique", other),
    }?;
    let length = firsts.len() as i64;
    let (values, counts) =
        (View::unwritten(&[length], view.dtype, Device::CPU)?, View::unwritten(&[length], DType::Long, Device::CPU)?);
    let inverse = View::unwritten(if wants_inverse { view.sizes() } else { &[0] }, DType::Long, Device::CPU)?;
    let (to, from) = (values.memory()?, view.memory()?);
    by_width!(view.dtype, T => {
        let from = from.typed::<T>().get(view.layout.offset as usize..).ok_or_else(lost)?;
        for (to, firsts) in to.typed::<T>().chunks(interrupt::STRIDE).zip(firsts.chunks(interrupt::STRIDE)) {
            interrupt::check()?;
            to.iter().zip(firsts).for_each(|(cell, &first)| set(cell, from.get(first).map(get).unwrap_or_default()));
        }
    });
    let (counts_memory, inverse_memory) = (counts.memory()?, inverse.memory()?);
    let mut ends = firsts;
    ends.push(view.numel() as usize);
    let runs = || ends.array_windows::<2>();
    interrupt::check()?;
    counts_memory.typed::<i64>().iter().zip(runs()).for_each(|(cell, [first, end])| set(cell, (end - first) as i64));
    let inverses = inverse_memory.typed::<i64>();
    for (i, &[first, end]) in runs().enumerate().take(if wants_inverse { ends.len() } else { 0 }) {
        interrupt::check_at(i)?;
        for part in inverses.get(first..end).unwrap_or_default().chunks(interrupt::STRIDE) {
            part.iter().for_each(|cell| set(cell, i as i64));
            interrupt::check_at(part.len())?;
        }
    }
    Ok(Unique { values, inverse, counts })
}

/// Returns the indices of the elements that differ from the one before. NaN differs from everything.
fn firsts<S: Stored>(view: &View) -> Result<Vec<usize>> {
    let memory = view.memory()?;
    let start = view.layout.offset as usize;
    let cells = memory.typed::<S>().get(start..start + view.numel() as usize).ok_or_else(lost)?;
    let mut firsts = Vec::new();
    let mut previous: Option<S::Compute> = None;
    for (cells, first) in cells.chunks(interrupt::STRIDE).zip((0..).step_by(interrupt::STRIDE)) {
        interrupt::check()?;
        let candidates = (first..).zip(cells).map(|(i, cell)| {
            let value = Some(get(cell).widen());
            let differs = previous != value;
            previous = value;
            (i, differs)
        });
        limits::push_wanted(&mut firsts, cells.len(), candidates)?;
    }
    Ok(firsts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;
    use crate::ops::check::testing::{must, tensor};

    #[test]
    fn runs_are_those_of_neighbours_compared_one_by_one() {
        for size in [0, 1, 2, 100, interrupt::STRIDE - 1, interrupt::STRIDE + 1] {
            let number = |i: usize| if i.is_multiple_of(97) { f64::NAN } else { (i * i / 11 % 3) as f64 - 1.0 };
            let values: Vec<f64> = (0..size).map(number).collect();
            let view = tensor(&[size as i64], DType::Float, &values);
            let (mut firsts, mut counts, mut inverse) = (Vec::new(), Vec::new(), Vec::new());
            for value in values {
                if firsts.last() != Some(&value) {
                    firsts.push(value);
                    counts.push(0);
                }
                if let Some(count) = counts.last_mut() {
                    *count += 1;
                }
                inverse.push(counts.len() as i64 - 1);
            }
            let found = unique_consecutive(&view, true).unwrap_or_else(|error| panic!("{error}"));
            let integers = |all: Vec<i64>| Ok(all.into_iter().map(Scalar::Int).collect::<Vec<_>>());
            assert_eq!(found.counts.scalars(), integers(counts));
            assert_eq!(found.inverse.scalars(), integers(inverse));
            let shown = |view: &View| format!("{:?}", must(Ok(view.clone())).scalars());
            assert_eq!(shown(&found.values), shown(&tensor(&[firsts.len() as i64], DType::Float, &firsts)));
        }
    }
}
