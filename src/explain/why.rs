//! Explains why a tensor can or cannot be viewed in another shape or as another dtype: PyTorch's conditions one by one,
//! with the numbers, and alternatives that work.

use super::residents::{index_of, place_at};
use super::scene::{Block, Ink, Lane, Scene, Strip, Table, byte_count, counted, list, span};
use tensor::layout::infer_size;
use tensor::{DType, Dims, Layout, Result, View, ViewFault, interrupt};

/// The number of elements drawn on each side of the break.
const AROUND: i64 = 6;

/// Explains why `view(shape)` works or fails.
///
/// # Errors
/// Fails with KeyboardInterrupt after Ctrl-C: a shape may be a list of millions.
pub fn shape(view: &View, shape: &[i64]) -> Result<Scene> {
    let layout = &view.layout;
    let mut scene = Scene::new(format!(
        "view({}) of a tensor with size {}, stride {}",
        list(shape),
        list(&layout.sizes),
        list(&layout.strides)
    ));
    interrupt::check()?;
    let sizes = match infer_size(shape, layout.numel()) {
        Ok(sizes) => sizes,
        Err(error) => {
            scene.note(Ink::Fault, format!("No: {}.", error.message));
            interrupt::check()?;
            scene.note(Ink::Plain, count_of(layout, shape));
            return Ok(scene);
        }
    };
    if sizes.as_slice() != shape {
        scene.note(Ink::Plain, format!("-1 is inferred: the sizes are {}.", list(&sizes)));
    }
    merging(&mut scene, layout, |d| format!("stride({d})"));
    interrupt::check()?;
    match layout.compute_stride(&sizes) {
        Some(strides) => {
            scene.heading("Yes");
            scene.note(
                Ink::Good,
                format!(
                    "No requested dimension crosses a border, so each has one stride: {}. Nothing is copied.",
                    list(&strides)
                ),
            );
        }
        None => {
            if let Some(fault) = layout.view_fault(&sizes) {
                let heading = format!("No: dimension {} of {}", fault.dim, list(&sizes));
                broken(&mut scene, layout, &sizes, fault, &heading, "tensor");
                scene.note(Ink::Label, "! marks a step that differs from the first");
                list_alternatives(&mut scene, view, &sizes, fault);
            }
        }
    }
    Ok(scene)
}

fn count_of(layout: &Layout, shape: &[i64]) -> String {
    let has = counted(layout.numel().unsigned_abs(), "element");
    if shape.iter().filter(|size| **size == -1).count() > 1 {
        return "Only one size can be inferred.".to_owned();
    }
    if shape.iter().any(|size| *size < -1) {
        return "A size is 0 or more, or -1 to infer it.".to_owned();
    }
    let known = shape.iter().filter(|size| **size >= 0).try_fold(1i64, |product, size| product.checked_mul(*size));
    match known {
        Some(known) if shape.contains(&-1) => {
            format!("The tensor has {has}, which {known}, the product of the known sizes, does not divide.")
        }
        Some(known) => format!("The tensor has {has}, the shape needs {known}."),
        None => format!("The tensor has {has}, the shape needs more than 64 bits can count."),
    }
}

/// Shows which neighbouring dimensions of the tensor can be walked with a single stride.
pub(super) fn merging(scene: &mut Scene, layout: &Layout, name: fn(usize) -> String) {
    if layout.ndim() < 2 || layout.numel() == 0 {
        let why = match layout.numel() {
            0 => "There are no elements, so any shape without elements is possible.",
            _ if layout.ndim() == 0 => "One element fits any shape of ones.",
            _ => "There is one dimension, with one stride.",
        };
        scene.note(Ink::Plain, why);
        return;
    }
    scene.heading("Which neighbouring dimensions can merge");
    let mut table =
        Table { head: vec!["dimensions", "stride of the left", "size * stride of the right", "so"], rows: vec![] };
    let dims: Vec<(i64, i64)> = layout.sizes.iter().copied().zip(layout.strides.iter().copied()).collect();
    // Dimensions of size 1 have no effect; the dimension to their right counts.
    let walked: Vec<usize> = (0..dims.len()).filter(|&d| dims.get(d).is_some_and(|(size, _)| *size != 1)).collect();
    for pair in walked.windows(2) {
        let [left, right] = *pair else { continue };
        let (Some(&(_, stride)), Some(&(size, step))) = (dims.get(left), dims.get(right)) else { continue };
        let needed = size.saturating_mul(step);
        let (ink, so) = if stride == needed {
            (Ink::Good, "equal: they merge".to_owned())
        } else {
            (Ink::Fault, "not equal: a border".to_owned())
        };
        table.rows.push(vec![
            span(Ink::Label, format!("{left} and {right}")),
            span(Ink::Plain, format!("{} = {stride}", name(left))),
            span(Ink::Plain, format!("{size} * {step} = {needed}")),
            span(ink, so),
        ]);
    }
    if table.rows.is_empty() {
        scene.note(Ink::Plain, "At most one dimension has size greater than 1.");
    } else {
        scene.blocks.push(Block::Table(table));
    }
}

fn place_of(number: i64, layout: &Layout) -> i64 {
    place_at(layout, &index_of(number, &layout.sizes))
}

/// Draws the elements around the border that a dimension crosses. `what` is a tensor or an array.
pub(super) fn broken(scene: &mut Scene, layout: &Layout, sizes: &[i64], fault: ViewFault, heading: &str, what: &str) {
    let ViewFault { dim, outer, inner, step, jump, from, to, .. } = fault;
    let size = sizes.get(dim).copied().unwrap_or_default();
    scene.heading(heading);
    scene.note(
        Ink::Fault,
        format!(
            "Dimension {dim} has size {size} and reaches across the border between dimensions {outer} and {inner} of the \
             {what}. A dimension has one stride, but its first step is {step:+}, the step from element {from} to \
             {to} is {jump:+}."
        ),
    );
    // Draw neighbours along the dimension: elements at a fixed distance in reading order.
    let block = to - from;
    let last = layout.numel() / block - 1;
    let border = from / block;
    let first = (border + 1 - AROUND).max(0);
    let numbers: Vec<i64> = (first..=(border + AROUND).min(last)).map(|i| i * block).collect();
    let mut element = Lane::ruler("element");
    let mut index = Lane::framed("index");
    // An array counts in bytes.
    let mut place = Lane::framed(if what == "array" { "byte" } else { "cell" });
    let mut steps = Lane::framed("step");
    for (i, &number) in numbers.iter().enumerate() {
        let texts: Vec<_> = index_of(number, &layout.sizes).iter().map(i64::to_string).collect();
        let at = place_of(number, layout);
        element.push(1, Ink::Label, number.to_string());
        index.push(1, Ink::Shown, texts.join(","));
        place.push(1, Ink::Shown, at.to_string());
        match i.checked_sub(1).and_then(|before| numbers.get(before)) {
            None => steps.push(1, Ink::Unused, ""),
            Some(&before) => {
                let moved = at.saturating_sub(place_of(before, layout));
                if moved == step {
                    steps.push(1, Ink::Plain, format!("{moved:+}"));
                } else {
                    steps.push(1, Ink::Fault, format!("{moved:+} !"));
                }
            }
        }
    }
    scene.blocks.push(Block::Strip(Strip { lanes: vec![element, index, place, steps] }));
}

fn list_alternatives(scene: &mut Scene, view: &View, sizes: &[i64], fault: ViewFault) {
    let layout = &view.layout;
    let bytes = byte_count(layout.numel().unsigned_abs().saturating_mul(view.dtype.itemsize() as u64));
    scene.heading("What works");
    let mut table = Table { head: vec!["try", "what it does"], rows: vec![] };
    let mut row = |call: String, what: String| table.rows.push(vec![span(Ink::Good, call), span(Ink::Plain, what)]);
    row(format!("reshape({})", list(sizes)), format!("copies {bytes}; writes do not reach the tensor"));
    row(
        format!("contiguous().view({})", list(sizes)),
        "the same in two steps; keep the result of contiguous()".to_owned(),
    );
    if let Some(split) = split(layout, sizes, fault) {
        row(format!("view({})", list(&split)), "without a copy: a dimension ends at the border".to_owned());
    }
    // In memory order, more dimensions can be merged.
    let mut order: Vec<usize> = (0..layout.ndim()).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(layout.strides.get(d).copied()));
    let order: Vec<i64> = order.into_iter().filter_map(|d| i64::try_from(d).ok()).collect();
    if let Ok(sorted) = layout.permute(&order)
        && sorted.compute_stride(sizes).is_some()
    {
        let call = format!("permute({}).view({})", list(&order), list(sizes));
        row(call, "without a copy, but with the elements in memory order".to_owned());
    }
    scene.blocks.push(Block::Table(table));
}

/// Returns the requested shape with the faulty dimension split at the break, if that can be viewed.
fn split(layout: &Layout, sizes: &[i64], fault: ViewFault) -> Option<Vec<i64>> {
    let block = fault.to.checked_sub(fault.from)?;
    let (inner, size) = (fault.to.checked_div(block)?, *sizes.get(fault.dim)?);
    if inner == 0 || size % inner != 0 {
        return None;
    }
    let mut cut = sizes.to_vec();
    cut.splice(fault.dim..=fault.dim, [size / inner, inner]);
    layout.compute_stride(&cut).is_some().then_some(cut)
}

/// Explains why `view(dtype)` works or fails.
pub fn dtype(view: &View, dtype: DType) -> Scene {
    let layout = &view.layout;
    let (old, new) = (view.dtype.itemsize() as i64, dtype.itemsize() as i64);
    let mut scene = Scene::new(format!(
        "view(torch.{}) of a {} tensor with size {}, stride {}, offset {}",
        dtype.name(),
        view.dtype.name(),
        list(&layout.sizes),
        list(&layout.strides),
        layout.offset
    ));
    let mut table = Table { head: vec!["condition", "here", ""], rows: vec![] };
    let mut holds = |condition: String, here: String, holds: bool| {
        let (ink, verdict) = if holds { (Ink::Good, "holds") } else { (Ink::Fault, "broken") };
        table.rows.push(vec![span(Ink::Plain, condition), span(Ink::Plain, here), span(ink, verdict)]);
    };
    let bit = |is_set: bool| if is_set { "it is set" } else { "it is not" }.to_owned();
    if dtype != view.dtype {
        holds("the conjugate bit is not set".to_owned(), bit(view.conj), !view.conj);
        holds("the negative bit is not set".to_owned(), bit(view.neg), !view.neg);
    }
    let last = layout.sizes.last().copied().zip(layout.strides.last().copied());
    match last {
        _ if old == new => {}
        None => holds("there is a last dimension to change".to_owned(), "no dimension".to_owned(), false),
        Some((size, stride)) => {
            let ratio = new / old.max(1);
            if new > old {
                let is_whole = |number: i64| number % ratio == 0;
                holds(format!("size(-1) is a multiple of {ratio}"), size.to_string(), is_whole(size));
                holds(
                    format!("the offset is a multiple of {ratio}"),
                    layout.offset.to_string(),
                    is_whole(layout.offset),
                );
            }
            holds("stride(-1) is 1".to_owned(), stride.to_string(), stride == 1);
            if new > old {
                for (d, stride) in layout.strides.iter().enumerate().take(layout.ndim() - 1) {
                    holds(format!("stride({d}) is a multiple of {ratio}"), stride.to_string(), stride % ratio == 0);
                }
            }
        }
    }
    scene.facts(vec![
        (
            "from".to_owned(),
            span(Ink::Plain, format!("{}, {} each", view.dtype.name(), byte_count(old.unsigned_abs()))),
        ),
        ("to".to_owned(), span(Ink::Plain, format!("{}, {} each", dtype.name(), byte_count(new.unsigned_abs())))),
    ]);
    if !table.rows.is_empty() {
        scene.blocks.push(Block::Table(table));
    }
    match view.view_dtype(dtype) {
        Ok(viewed) => scene.note(
            Ink::Good,
            format!(
                "Yes: the same bytes with size {}, stride {}, offset {}.",
                list(viewed.sizes()),
                list(viewed.strides()),
                viewed.layout.offset
            ),
        ),
        Err(error) => {
            scene.note(Ink::Fault, format!("No: {}.", error.message.trim_end_matches('.')));
            list_dtype_views(&mut scene, view, dtype);
        }
    }
    scene
}

/// Lists views as the dtype that would work. Each is tried before it is listed.
fn list_dtype_views(scene: &mut Scene, view: &View, dtype: DType) {
    let works = |layout: Layout| View { conj: false, neg: false, ..view.with_layout(layout) }.view_dtype(dtype).is_ok();
    let mut table = Table { head: vec!["try", "what it does"], rows: vec![] };
    let mut row = |call: String, what: &str| table.rows.push(vec![span(Ink::Good, call), span(Ink::Plain, what)]);
    let name = format!("torch.{}", dtype.name());
    let ratio = (dtype.itemsize() / view.dtype.itemsize().max(1)).max(1) as i64;
    let is_lazy = view.conj || view.neg;
    let resolve = if view.conj { "resolve_conj()" } else { "resolve_neg()" };
    match view.sizes().last() {
        None if works(Layout {
            sizes: Dims::from_slice(&[1]),
            strides: Dims::from_slice(&[1]),
            ..view.layout.clone()
        }) =>
        {
            row(format!("view(1).view({name})"), "gives the element a dimension, whose size can change");
        }
        _ if is_lazy && works(Layout::contiguous(view.sizes())) => {
            row(format!("{resolve}.view({name})"), "copies, and applies the lazy bit");
        }
        Some(_) if works(Layout::contiguous(view.sizes())) => {
            row(format!("contiguous().view({name})"), "copies: offset 0, and stride(-1) is 1");
        }
        Some(size) if size / ratio > 0 && size % ratio != 0 && !is_lazy => {
            let last = view.ndim() - 1;
            let kept = size / ratio * ratio;
            let cut = view.layout.slice(last, None, Some(kept), 1);
            let sizes = cut.sizes.clone();
            if works(cut) {
                row(format!("[..., :{kept}].view({name})"), "drops the remainder, without a copy");
            } else if works(Layout::contiguous(&sizes)) {
                row(format!("[..., :{kept}].contiguous().view({name})"), "drops the remainder, and copies");
            }
        }
        _ => {}
    }
    if !dtype.is_quantized() {
        row(format!("to({name})"), "converts every value; the bytes change");
    }
    if !table.rows.is_empty() {
        scene.heading("What works");
        scene.blocks.push(Block::Table(table));
    }
}

#[cfg(test)]
mod tests {
    use super::super::terminal::{draw, plain};
    use super::*;
    use tensor::Device;

    #[test]
    fn conditions_and_verdict_agree() {
        let mut refused = 0;
        for old in [DType::Byte, DType::Short, DType::Float, DType::ComplexFloat] {
            for &new in DType::ALL {
                for (sizes, strides) in [
                    (vec![], vec![]),
                    (vec![8], vec![1]),
                    (vec![6], vec![1]),
                    (vec![4], vec![2]),
                    (vec![2, 8], vec![8, 1]),
                ] {
                    for offset in [0, 1, 4] {
                        let mut view = View::zeros(&[64], old, Device::CPU).unwrap();
                        let (sizes, strides): (Dims, Dims) = (sizes.clone().into(), strides.clone().into());
                        view.layout = Layout { sizes, strides, offset };
                        let drawn = plain(&draw(&dtype(&view, new), 200));
                        let is_broken = drawn.contains("broken");
                        assert_eq!(view.view_dtype(new).is_err(), is_broken, "{drawn}");
                        assert_eq!(drawn.contains("No: "), is_broken, "{drawn}");
                        refused += usize::from(is_broken);
                    }
                }
            }
        }
        assert!(refused > 50, "{refused}");
    }

    #[test]
    fn a_refused_shape_names_the_dimension() {
        let mut view = View::zeros(&[2, 4], DType::Float, Device::CPU).unwrap();
        view.layout = view.layout.transpose(0, 1).unwrap();
        let drawn = plain(&draw(&shape(&view, &[8]).unwrap(), 100));
        for wanted in ["No: dimension 0 of [8]", "reshape([8])", "permute([1, 0]).view([8])", "view([4, 2])"] {
            assert!(drawn.contains(wanted), "{wanted}\n{drawn}");
        }
        assert!(plain(&draw(&shape(&view, &[2, -1]).unwrap(), 80)).contains("the sizes are [2, 4]"));
        assert!(plain(&draw(&shape(&view, &[3]).unwrap(), 80)).contains("the shape needs 3."));
    }
}
