//! Describes the path from a base tensor to a view, as recorded by the calls: what each did to sizes, strides and
//! offset.

use super::scene::{Ink, Table, counted, list, span};
use tensor::{DType, Dims, Layout, Step, Tensor};

/// An intermediate layout, with the dtype it is read in.
struct Stage<'a> {
    layout: &'a Layout,
    dtype: DType,
}

/// One stage on the way to a view: the call that led to it, its layout, and what the call did.
#[derive(Clone)]
pub(super) struct Told {
    pub name: &'static str,
    pub layout: Layout,
    pub dtype: DType,
    pub effect: String,
}

/// Returns the stages that led to a tensor, itself last. Empty for a tensor that is not a view.
pub(super) fn told(tensor: &Tensor) -> Vec<Told> {
    let Some(last) = tensor.step() else { return Vec::new() };
    let mut steps: Vec<&Step> = std::iter::successors(Some(&*last), |step| step.earlier.as_deref()).collect();
    steps.reverse();
    let view = tensor.view();
    let mut all = Vec::new();
    let mut tell = |name, stage: &Stage, effect: String| {
        all.push(Told { name, layout: stage.layout.clone(), dtype: stage.dtype, effect });
    };
    for (i, step) in steps.iter().enumerate() {
        let before = Stage { layout: &step.before, dtype: step.dtype };
        if i == 0 {
            tell(
                "base",
                &before,
                if step.is_cut { "earlier steps were dropped" } else { "the first tensor" }.to_owned(),
            );
        }
        let after = match steps.get(i + 1) {
            Some(next) => Stage { layout: &next.before, dtype: next.dtype },
            None => Stage { layout: &view.layout, dtype: view.dtype },
        };
        tell(step.name, &after, in_words(&before, &after));
    }
    all
}

/// Returns the table of the steps. `None` for a tensor that is not a view.
pub fn table(tensor: &Tensor) -> Option<Table> {
    let row = |stage: Told| {
        vec![
            span(Ink::Label, stage.name),
            span(Ink::Plain, list(&stage.layout.sizes)),
            span(Ink::Plain, list(&stage.layout.strides)),
            span(Ink::Plain, stage.layout.offset.to_string()),
            span(Ink::Plain, stage.effect),
        ]
    };
    let rows: Vec<_> = told(tensor).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { head: vec!["step", "size", "stride", "offset", "effect"], rows })
}

/// Describes the difference between two layouts of the same storage.
fn in_words(before: &Stage, after: &Stage) -> String {
    let (old, new) = (before.layout, after.layout);
    if before.dtype != after.dtype {
        return read_as(before.dtype, after.dtype);
    }
    if old == new {
        return "sizes, strides and offset unchanged".to_owned();
    }
    reordered(old, new)
        .or_else(|| selected_index(old, new))
        .or_else(|| with_ones(old, new))
        .or_else(|| repeated(old, new))
        .or_else(|| sliced(old, new))
        .or_else(|| reshaped(old, new))
        .unwrap_or_else(|| "other sizes, strides or offset over the same storage".to_owned())
}

fn read_as(old: DType, new: DType) -> String {
    let (from, to) = (old.itemsize(), new.itemsize());
    let (old, new) = (old.name(), new.name());
    match (from, to) {
        (from, to) if from == to => format!("the same bytes read as {new}"),
        (from, to) if from > to => format!("each {old} read as {} of {new}", from / to),
        (from, to) => format!("every {} of {old} read as one {new}", to / from),
    }
}

fn dims(layout: &Layout) -> Vec<(i64, i64)> {
    layout.sizes.iter().copied().zip(layout.strides.iter().copied()).collect()
}

/// Describes a permutation of the dimensions.
fn reordered(old: &Layout, new: &Layout) -> Option<String> {
    let (from, to) = (dims(old), dims(new));
    if old.offset != new.offset || from.len() != to.len() {
        return None;
    }
    let mut left: Vec<Option<(i64, i64)>> = from.iter().copied().map(Some).collect();
    let order: Option<Vec<i64>> = to
        .iter()
        .map(|dim| {
            let at = left.iter().position(|candidate| candidate.as_ref() == Some(dim))?;
            *left.get_mut(at)? = None;
            i64::try_from(at).ok()
        })
        .collect();
    let order = order?;
    let moved: Vec<_> = order.iter().enumerate().filter(|(i, d)| i64::try_from(*i) != Ok(**d)).collect();
    match moved.as_slice() {
        [(a, _), (b, _)] => Some(format!("dimensions {a} and {b} swapped, with sizes and strides; no byte moved")),
        _ => Some(format!("dimensions in the order {}; no byte moved", list(&order))),
    }
}

/// Describes the selection of one index, which removes a dimension.
fn selected_index(old: &Layout, new: &Layout) -> Option<String> {
    let (from, to) = (dims(old), dims(new));
    let ahead = new.offset.checked_sub(old.offset)?;
    let found = (0..from.len()).find_map(|d| {
        let (size, stride) = *from.get(d)?;
        let rest: Vec<_> = from.iter().enumerate().filter(|(i, _)| *i != d).map(|(_, dim)| *dim).collect();
        let index = if stride == 0 { 0 } else { ahead / stride };
        let leads_there = index.checked_mul(stride) == Some(ahead) && (0..size).contains(&index);
        (rest == to && leads_there && size > 1).then_some((d, index, stride))
    });
    let (d, index, stride) = found?;
    Some(match index {
        0 => format!("index 0 of dimension {d}, which is removed"),
        index => format!("index {index} of dimension {d}, which is removed: offset + {index} * {stride}"),
    })
}

/// Describes dimensions of size 1 that were added or removed.
fn with_ones(old: &Layout, new: &Layout) -> Option<String> {
    let without = |layout: &Layout| -> Vec<_> { dims(layout).into_iter().filter(|(size, _)| *size != 1).collect() };
    if old.offset != new.offset || without(old) != without(new) || old.ndim() == new.ndim() {
        return None;
    }
    let (more, verb) =
        if new.ndim() > old.ndim() { (new.ndim() - old.ndim(), "added") } else { (old.ndim() - new.ndim(), "dropped") };
    Some(format!("{} of size 1 {verb}", counted(more as u64, "dimension")))
}

/// Describes an expansion: dimensions of size 1 that became stride 0.
fn repeated(old: &Layout, new: &Layout) -> Option<String> {
    let added = new.ndim().checked_sub(old.ndim())?;
    if old.offset != new.offset {
        return None;
    }
    let (from, to) = (dims(old), dims(new));
    let mut repeated = Vec::new();
    for (d, &(size, stride)) in to.iter().enumerate() {
        let before = d.checked_sub(added).and_then(|d| from.get(d));
        match before {
            Some(&same) if same == (size, stride) => {}
            Some(&(1, _)) | None if stride == 0 || size == 1 => {
                if size != 1 {
                    repeated.push(format!("dimension {d} repeats one element {size} times, with stride 0"));
                }
            }
            _ => return None,
        }
    }
    (!repeated.is_empty()).then(|| repeated.join("; "))
}

/// Describes a slice of some dimensions.
fn sliced(old: &Layout, new: &Layout) -> Option<String> {
    if old.ndim() != new.ndim() {
        return None;
    }
    let mut ahead = new.offset.checked_sub(old.offset)?;
    let mut parts = Vec::new();
    let changed: Vec<_> = dims(old).into_iter().zip(dims(new)).enumerate().filter(|(_, (a, b))| a != b).collect();
    let shifted_only = changed.is_empty();
    for (i, (d, ((old_size, old_stride), (size, stride)))) in changed.iter().enumerate() {
        if size > old_size || *old_stride == 0 || (stride % old_stride != 0) {
            return None;
        }
        // The start is ambiguous with several dimensions. The largest stride takes as much as possible.
        let start = if i + 1 == changed.len() { ahead / old_stride } else { (ahead / old_stride).min(old_size - size) };
        ahead -= start.checked_mul(*old_stride)?;
        let step = stride / old_stride;
        parts.push(match (step, *size) {
            (_, 0) => format!("nothing of dimension {d}"),
            (1, size) => format!("indices {start} to {} of dimension {d}", start + size - 1),
            (step, size) => format!("{size} indices of dimension {d}: every {} index, from {start}", ordinal(step)),
        });
    }
    (ahead == 0 && !shifted_only).then(|| parts.join("; "))
}

/// `second`, `third`, … `12th`.
fn ordinal(number: i64) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        _ => match (number % 10, number % 100 / 10) {
            (1, tens) if tens != 1 => format!("{number}st"),
            (2, tens) if tens != 1 => format!("{number}nd"),
            (3, tens) if tens != 1 => format!("{number}rd"),
            _ => format!("{number}th"),
        },
    }
}

/// Describes a reshape: other sizes over the same elements in the same order.
fn reshaped(old: &Layout, new: &Layout) -> Option<String> {
    let strides: Dims = old.compute_stride(&new.sizes).filter(|_| old.numel() == new.numel())?;
    (old.offset == new.offset && strides == new.strides)
        .then(|| "the same elements in the same order, other sizes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_told_from_their_layouts() {
        let layout =
            |sizes: &[i64], strides: &[i64], offset| Layout { sizes: sizes.into(), strides: strides.into(), offset };
        let base = layout(&[3, 4], &[4, 1], 0);
        for (after, wanted) in [
            (base.clone(), "sizes, strides and offset unchanged"),
            (layout(&[4, 3], &[1, 4], 0), "dimensions 0 and 1 swapped, with sizes and strides; no byte moved"),
            (layout(&[4], &[1], 8), "index 2 of dimension 0, which is removed: offset + 2 * 4"),
            (layout(&[3], &[4], 1), "index 1 of dimension 1, which is removed: offset + 1 * 1"),
            (layout(&[3, 1, 4], &[4, 4, 1], 0), "1 dimension of size 1 added"),
            (layout(&[2, 3, 4], &[0, 4, 1], 0), "dimension 0 repeats one element 2 times, with stride 0"),
            (layout(&[3, 2], &[4, 1], 1), "indices 1 to 2 of dimension 1"),
            (layout(&[2, 4], &[8, 1], 0), "2 indices of dimension 0: every second index, from 0"),
            (layout(&[2, 2], &[4, 1], 5), "indices 1 to 2 of dimension 0; indices 1 to 2 of dimension 1"),
            (layout(&[2, 6], &[6, 1], 0), "the same elements in the same order, other sizes"),
            (layout(&[9], &[1], 2), "other sizes, strides or offset over the same storage"),
        ] {
            let dtype = DType::Float;
            let told = in_words(&Stage { layout: &base, dtype }, &Stage { layout: &after, dtype });
            assert_eq!(told, wanted, "{after:?}");
        }
        let ordinals = [3, 7, 11, 12, 21, 112, 122, 1003].map(ordinal);
        assert_eq!(ordinals, ["third", "7th", "11th", "12th", "21st", "112th", "122nd", "1003rd"]);
        assert_eq!(read_as(DType::Float, DType::Byte), "each float32 read as 4 of uint8");
        assert_eq!(read_as(DType::Byte, DType::Short), "every 2 of uint8 read as one int16");
    }
}
