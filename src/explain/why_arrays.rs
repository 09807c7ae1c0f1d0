//! Explains what NumPy does with the bytes of an array: why `reshape` copies, why `view(dtype)` fails, and why a tensor
//! cannot show the same bytes. The conditions are those of the functions, with the strides in bytes.

use super::scene::{Block, Ink, Scene, Table, byte_count, counted, list, span, tuple};
use super::why::{broken, merging};
use tensor::layout::infer_size;
use tensor::{DType, Layout, Result, interrupt};
use value::ArrayMemory;

fn conditions() -> Table {
    Table { head: vec!["condition", "here", ""], rows: vec![] }
}

fn hold(table: &mut Table, condition: String, here: String, holds: bool) {
    let (ink, verdict) = if holds { (Ink::Good, "holds") } else { (Ink::Fault, "broken") };
    table.rows.push(vec![span(Ink::Plain, condition), span(Ink::Plain, here), span(ink, verdict)]);
}

fn alternatives(scene: &mut Scene, rows: Vec<(String, String)>) {
    if rows.is_empty() {
        return;
    }
    scene.heading("What works");
    let row = |(call, what): (String, String)| vec![span(Ink::Good, call), span(Ink::Plain, what)];
    scene
        .blocks
        .push(Block::Table(Table { head: vec!["try", "what it does"], rows: rows.into_iter().map(row).collect() }));
}

fn of_array(array: &ArrayMemory) -> String {
    let layout = &array.layout;
    format!("of an array with shape {}, strides {} bytes", tuple(&layout.sizes), tuple(&layout.strides))
}

fn bytes(array: &ArrayMemory) -> String {
    byte_count(array.layout.numel().unsigned_abs().saturating_mul(array.dtype.itemsize() as u64))
}

/// Explains whether `reshape(shape)` copies.
///
/// # Errors
/// Fails with KeyboardInterrupt after Ctrl-C.
pub fn reshape(array: &ArrayMemory, shape: &[i64]) -> Result<Scene> {
    let layout = &array.layout;
    let mut scene = Scene::new(format!("reshape({}) {}", tuple(shape), of_array(array)));
    interrupt::check()?;
    let Ok(sizes) = infer_size(shape, layout.numel()) else {
        let has = counted(layout.numel().unsigned_abs(), "element");
        scene.note(Ink::Fault, format!("No: the array has {has}, and {} needs a different number.", tuple(shape)));
        return Ok(scene);
    };
    if sizes.as_slice() != shape {
        scene.note(Ink::Plain, format!("-1 is inferred: the shape is {}.", tuple(&sizes)));
    }
    merging(&mut scene, layout, |d| format!("strides[{d}]"));
    interrupt::check()?;
    match array.reshaped(&sizes) {
        Some(Layout { strides, .. }) => {
            scene.heading("A view");
            scene.note(
                Ink::Good,
                format!(
                    "No requested dimension crosses a border, so each has one stride, {} bytes. reshape() returns a view.",
                    tuple(&strides)
                ),
            );
        }
        None => {
            if let Some(fault) = layout.view_fault(&sizes) {
                broken(
                    &mut scene,
                    layout,
                    &sizes,
                    fault,
                    &format!("A copy: dimension {} of {}", fault.dim, tuple(&sizes)),
                    "array",
                );
                scene.note(
                    Ink::Label,
                    "byte counts from the start of the storage; ! marks a step that differs from the first",
                );
            }
            alternatives(
                &mut scene,
                vec![
                    (
                        format!("reshape({})", tuple(&sizes)),
                        format!("copies {}; writes do not reach the array", bytes(array)),
                    ),
                    (
                        format!("reshape({}, copy=False)", tuple(&sizes)),
                        "raises ValueError instead of copying".to_owned(),
                    ),
                ],
            );
        }
    }
    Ok(scene)
}

/// Explains why `view(dtype)` works or fails.
pub fn dtype(array: &ArrayMemory, dtype: DType, name: &str) -> Scene {
    let layout = &array.layout;
    let (old, new) = (array.dtype.itemsize() as i64, dtype.itemsize() as i64);
    let mut scene = Scene::new(format!("view({name}) {}", of_array(array)));
    let mut table = conditions();
    let mut works = true;
    if old != new {
        match layout.sizes.last().copied().zip(layout.strides.last().copied()) {
            None => {
                hold(&mut table, "there is a last axis to change".to_owned(), "no axis".to_owned(), false);
                works = false;
            }
            Some((size, stride)) => {
                let is_dense = size == 1 || layout.numel() == 0 || stride == old;
                hold(&mut table, format!("strides[-1] is {old}"), stride.to_string(), is_dense);
                works = is_dense;
                if new > old {
                    let along = size.saturating_mul(old);
                    let divides = along % new == 0;
                    hold(&mut table, format!("{new} divides the bytes of the last axis"), along.to_string(), divides);
                    works &= divides;
                }
            }
        }
    }
    scene.facts(vec![
        ("from".to_owned(), span(Ink::Plain, format!("{}, {} each", array.dtype_name, byte_count(old.unsigned_abs())))),
        ("to".to_owned(), span(Ink::Plain, format!("{name}, {} each", byte_count(new.unsigned_abs())))),
    ]);
    if !table.rows.is_empty() {
        scene.blocks.push(Block::Table(table));
    }
    if works {
        scene.note(Ink::Good, "Yes: the same bytes, read as another dtype.");
        return scene;
    }
    scene.note(Ink::Fault, "No: the size of elements can only change along a last axis without gaps.");
    let astype = (format!("astype({name})"), "converts every value; the bytes change".to_owned());
    let copied =
        Some((format!("copy().view({name})"), format!("copies {}, so that strides[-1] is {old}", bytes(array))));
    let fits = layout.sizes.last().is_some_and(|size| size.saturating_mul(old) % new == 0);
    alternatives(&mut scene, copied.filter(|_| fits).into_iter().chain([astype]).collect());
    scene
}

/// Explains whether a tensor can show the bytes of an array: what `torch.from_numpy` checks.
pub fn tensor(array: &ArrayMemory) -> Scene {
    let layout = &array.layout;
    let size = array.dtype.itemsize().max(1) as i64;
    let mut scene = Scene::new(format!("torch.from_numpy() {}", of_array(array)));
    let mut table = conditions();
    let (mut is_reversed, mut is_odd) = (false, false);
    for (d, (&stride, &count)) in layout.strides.iter().zip(&layout.sizes).enumerate() {
        let is_negative = stride < 0 && count > 0;
        hold(&mut table, format!("strides[{d}] is not negative"), format!("{stride} bytes"), !is_negative);
        if stride % size != 0 {
            hold(&mut table, format!("strides[{d}] is a multiple of {size}"), format!("{stride} bytes"), false);
        }
        is_reversed |= is_negative;
        is_odd |= stride % size != 0;
    }
    let order = if array.swapped { format!("{}: it is not", array.dtype_name) } else { "it is".to_owned() };
    hold(&mut table, "the byte order is the machine's".to_owned(), order, !array.swapped);
    scene.blocks.push(Block::Table(table));
    if !(is_reversed || is_odd || array.swapped) {
        let strides: Vec<i64> = layout.strides.iter().map(|stride| stride / size).collect();
        scene.note(
            Ink::Good,
            format!(
                "Yes: a tensor on the same bytes, whose storage begins at byte {} of the array's storage. Its strides \
                 count elements: {}.",
                layout.offset,
                list(&strides)
            ),
        );
        if !array.is_writeable {
            scene.note(
                Ink::Fault,
                "The array is read-only, and a tensor is not: from_numpy() warns, and writes reach the array.",
            );
        }
        return scene;
    }
    let reasons = [
        (is_reversed, "the strides of a tensor are 0 or more"),
        (is_odd, "the strides of a tensor count whole elements"),
        (array.swapped, "a tensor reads bytes in the machine's order"),
    ];
    let reasons: Vec<&str> = reasons.into_iter().filter(|(is_so, _)| *is_so).map(|(_, reason)| reason).collect();
    scene.note(Ink::Fault, format!("No: {}.", reasons.join(", and ")));
    let copy = match array.swapped {
        // The native dtype of the same kind and size.
        true => format!(".astype('={}')", array.dtype_name.trim_start_matches(['<', '>'])),
        false => ".copy()".to_owned(),
    };
    let what = format!("from_numpy() takes the copy of {}; writes do not reach the array", bytes(array));
    let mut rows = vec![(copy, what)];
    if is_reversed && !is_odd && !array.swapped {
        let dims = layout.strides.iter().zip(&layout.sizes).map(|(&stride, &count)| stride < 0 && count > 0);
        let dims: Vec<bool> = dims.collect();
        let slices: Vec<&str> = dims.iter().map(|is_back| if *is_back { "::-1" } else { ":" }).collect();
        let axes = dims.iter().enumerate().filter(|(_, is_back)| **is_back).filter_map(|(d, _)| i64::try_from(d).ok());
        let (turned, axes) = (format!("[{}]", slices.join(", ")), list(&axes.collect::<Vec<_>>()));
        rows.push((turned, "from_numpy() takes this view: the same bytes, in memory order".to_owned()));
        rows.push((
            format!("flip({axes}) of that tensor"),
            "the elements in the order of this array; flip() copies".to_owned(),
        ));
    }
    alternatives(&mut scene, rows);
    scene
}
