//! Functions that make memory visible (`explain`, `why_view`, `bits`, `aliases`, `watch`), figures of numbers (`hist`,
//! `spark`, `heat`), and files with pictures of both. PyTorch has none of them. The room `explain` draws the pictures.

use std::path::Path;
use std::rc::Rc;

use super::block_tensors::first_block;
use super::calculation;
use call::{Call, Row, function};
use explain::bytes::Reading;
use explain::compare::{self, Side};
use explain::sum_steps::{SumSteps, Torch, picture as picture_of_steps};
use explain::tensors::{Terms, scene};
use explain::watch::Watched;
use explain::{Holder, Ink, Picture, Redraw, Scene, span, weakly};
use explain::{aliases, arrays, bits, bytes, chain, figure, html, svg, why, why_arrays};
use files::gguf::BlockTensor;
use tensor::bail;
use tensor::interrupt::watched;
use tensor::ops::check::resolved;
use tensor::ops::quantize::dequantize;
use tensor::ops::reduce::sum;
use tensor::rehearsal::to_write;
use tensor::system::{Files, System};
use tensor::{DType, Error, ErrorKind, Result, Scalar, Storage, Tensor, View};
use value::{ArrayMemory, Value};

/// The functions that read every variable of the session.
pub const READ_VARIABLES: &[&str] = &["explain", "aliases", "blank", "compare", "svg", "html", "origin", "readers"];

/// The maximum number of cells drawn.
const MOST_CELLS: i64 = 4096;
/// The maximum number of bins drawn.
const MOST_BINS: usize = 1000;

pub(crate) const ROWS: &[Row] = &[
    function(
        "py.explain(Tensor t, *, bool bytes=False, int cells=64, int? width=None) -> Object",
        explain,
        "Draws what a tensor shows of its storage: sizes, strides, the cells of memory and who shares them.",
    )
    .python("explain"),
    function(
        "py.explain(ndarray a, *, bool bytes=False, int cells=64, int? width=None) -> Object",
        explain,
        "Draws what an array shows of its storage: shape, strides in bytes, the bytes and who shares them.",
    ),
    function(
        "py.why(Tensor t, any[] shape_or_dtype, *, int? width=None) -> Object",
        why_view,
        "Explains why view(shape) or view(dtype) works or fails, and what works instead.",
    ),
    function(
        "py.why(ndarray a, any[] shape_or_dtype, *, int? width=None) -> Object",
        why_array,
        "Explains why reshape(shape) copies or not, why view(dtype) works or fails, or whether a tensor can share the bytes.",
    ),
    function(
        "py.why_view(Tensor t, any[] shape_or_dtype, *, int? width=None) -> Object",
        why_view,
        "Explains why view(shape) or view(dtype) works or fails, and what works instead.",
    ),
    function(
        "py.why_dtype(Tensor t, ScalarType dtype, *, int? width=None) -> Object",
        |c| {
            let wanted = c.opt_dtype(1);
            of_view(c, move |view| Ok(why::dtype(view, wanted.unwrap_or(view.dtype))))
        },
        "Explains why view(dtype) works or fails, condition by condition.",
    )
    .python("why_dtype"),
    function(
        "py.show_bytes(any x, any[] dtypes, *, int cells=32, int? width=None) -> Object",
        show_bytes,
        "Shows the bytes of a tensor, a storage or a quantized block, with what they mean in its dtype and in others.",
    ),
    function(
        "py.bits(any x, *, ScalarType? dtype=None, int? width=None) -> Object",
        show_bits,
        "Shows the bits of one number, or of a quantized block: sign, exponent and mantissa of a float.",
    )
    .python("bits"),
    function(
        "py.sum_steps(Tensor x, ScalarType? dtype=None, *, int? width=None) -> Object",
        sum_steps,
        "Shows a sum one addition after another: what each one loses, and the same sum in a wider dtype.",
    )
    .python("sum_steps"),
    function(
        "py.aliases(*, int? width=None) -> Object",
        |c| Ok(Value::Object(Rc::new(aliases::picture(&c.state.holders(), width(c)?)))),
        "Groups the variables by the storage they lie on: ranges, overlaps, what they keep alive.",
    )
    .python("aliases"),
    function(
        "py.compare(any x, any y, *, int? width=None) -> Object",
        compare,
        "Draws two tensors or arrays beside each other: what is the same, what differs, how the second came about.",
    )
    .python("compare"),
    function(
        "py.watch(any x, *, ScalarType? dtype=None) -> None",
        watch,
        "Shows after every input which bytes of a tensor's or a storage's memory it changed.",
    )
    .python("watch"),
    function("py.unwatch(any x=None) -> None", unwatch, "Stops watching a tensor or a storage, or all of them.")
        .python("unwatch"),
    function(
        "py.hist(Tensor x, *, int? bins=None, int? width=None) -> Object",
        hist,
        "Draws how the elements are distributed: bins, quantiles, where NaN and infinities are.",
    )
    .python("hist"),
    function(
        "py.hist(ndarray a, *, int? bins=None, int? width=None) -> Object",
        hist,
        "Draws how the elements of an array are distributed.",
    ),
    function(
        "py.spark(Tensor x, *, int? width=None) -> Object",
        |c| figure(c, figure::spark),
        "Draws how the elements run, each row as a line of heights.",
    )
    .python("spark"),
    function(
        "py.spark(ndarray a, *, int? width=None) -> Object",
        |c| figure(c, figure::spark),
        "Draws how the elements of an array run, each row as a line of heights.",
    ),
    function(
        "py.heat(Tensor x, *, int? width=None) -> Object",
        |c| figure(c, figure::heat),
        "Draws a matrix as shades, from its least element to its greatest.",
    )
    .python("heat"),
    function(
        "py.heat(ndarray a, *, int? width=None) -> Object",
        |c| figure(c, figure::heat),
        "Draws an array of two dimensions as shades, from its least element to its greatest.",
    ),
    function(
        "py.blank(any x, any[] parts, *, int? width=None) -> Object",
        blank,
        "Leaves parts of a picture blank, as an exercise: the index row, the size, the strides, who shares the memory.",
    )
    .python("blank"),
    function(
        "py.svg(any x, str file) -> None",
        |c| {
            let scene = scene_of(c, &c.value(0))?;
            write(c, &svg::draw(&scene))
        },
        "Writes a picture, or a tensor's picture, as an SVG file.",
    )
    .python("svg"),
    function(
        "py.html(any x, str file, *, bool blank=False) -> None",
        write_page,
        "Writes a picture, a tensor's picture, or a list of them as an HTML page that can be printed.",
    )
    .python("html"),
];

/// The largest tensor, in elements, whose figure is redrawn after every input.
const DRAWN_AGAIN: i64 = 1 << 20;

/// Returns the width of a picture in columns.
pub(crate) fn width(call: &Call) -> Result<usize> {
    match call.position("width").map(|at| call.opt_int(at)).transpose()?.flatten() {
        Some(width) => match usize::try_from(width) {
            Ok(width) if width > 0 => Ok(width),
            _ => bail!(ValueError, "width must be positive, not {width}"),
        },
        None => Ok(call.state.width.get()),
    }
}

/// Draws a picture of a value. The picture can be redrawn as long as the value exists. `make` gets the value's current
/// state, and the current variables if `holders` is not empty.
fn picture(
    call: &Call,
    value: &Value,
    holders: &[Holder],
    make: impl Fn(&Value, &[Holder]) -> Result<Scene> + 'static,
) -> Result<Value> {
    let scene = make(value, holders)?;
    let again = Redraw::of(value, make).map(Rc::new);
    Ok(Value::Object(Rc::new(Picture { again, ..Picture::of(scene, width(call)?) })))
}

/// Like [`picture`], for a layout, which a page lets its reader change by hand.
fn picture_of_layout(
    call: &Call,
    value: &Value,
    make: impl Fn(&Value, &[Holder]) -> Result<Scene> + 'static,
) -> Result<Value> {
    let scene = make(value, &call.state.holders())?;
    let again = Redraw::of(value, make).map(|again| Rc::new(again.of_layout()));
    Ok(Value::Object(Rc::new(Picture { again, ..Picture::of(scene, width(call)?) })))
}

/// Draws a picture of the first argument, which must have its own storage.
fn of_view(call: &Call, make: impl Fn(&View) -> Result<Scene> + 'static) -> Result<Value> {
    let (value, name) = (Value::Tensor(call.tensor(0)?.clone()), call.signature.called().into_owned());
    picture(call, &value, &[], move |value, _| make(&strided(value, &name)?))
}

fn cells(call: &Call) -> Result<usize> {
    let cells = call.position("cells").map_or(Ok(MOST_CELLS), |at| call.int(at))?;
    match usize::try_from(cells.min(MOST_CELLS)) {
        Ok(cells) if cells > 0 => Ok(cells),
        _ => bail!(ValueError, "cells must be positive, not {cells}"),
    }
}

fn tensor_of<'v>(value: &'v Value, function: &str) -> Result<&'v Tensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(TypeError, "{function}() takes a tensor, not {}", other.type_name()),
    }
}

/// Returns the place of an array in memory.
///
/// # Errors
/// TypeError for a NumPy scalar, which has no memory that others could share.
fn array_of(value: &Value, function: &str) -> Result<ArrayMemory> {
    value.array_memory().ok_or_else(|| {
        let name = value.type_name();
        Error::type_error(format!("{function}() takes a tensor or an array, not {name}: a scalar shares no memory"))
    })
}

/// Returns the view of a tensor. Fails with NotImplementedError for a sparse tensor, which has no storage of its own.
fn strided(value: &Value, function: &str) -> Result<View> {
    let view = tensor_of(value, function)?.view();
    refuse_sparse(&view, function)?;
    Ok(view)
}

pub(crate) fn refuse_sparse(view: &View, function: &str) -> Result<()> {
    if view.is_sparse() {
        let layout = view.tensor_layout().name();
        bail!(
            NotImplementedError,
            "{function}(): a torch.{layout} tensor has no storage of its own; its values() have"
        );
    }
    Ok(())
}

fn explain(call: &mut Call) -> Result<Value> {
    let terms = Terms { bytes: call.bool(1)?, cells: cells(call)? };
    if let Value::Object(_) = call.value(0) {
        return picture_of_layout(call, &call.value(0), move |value, holders| {
            Ok(arrays::scene(&array_of(value, "explain")?, holders, terms))
        });
    }
    let tensor = call.tensor(0)?;
    let first = chain(tensor);
    let made = super::origin::made_by(call.state, tensor);
    picture_of_layout(call, &Value::Tensor(tensor.clone()), move |value, holders| {
        let tensor = tensor_of(value, "explain")?;
        // The value that replaces a tensor that no longer exists has no history, so the first one is shown.
        let mut scene = scene(&tensor.view(), chain(tensor).or_else(|| first.clone()), holders, terms);
        scene.facts_first(made.iter().map(|made| ("values".to_owned(), span(Ink::Plain, made.as_str()))));
        Ok(scene)
    })
}

/// Draws two tensors or arrays beside each other.
fn compare(call: &mut Call) -> Result<Value> {
    let other = call.value(1);
    let side = |value: &Value, holders: &[Holder]| match value {
        Value::Object(_) => Ok(Side::of_array(&array_of(value, "compare")?, value, holders)),
        Value::Tensor(tensor) => {
            refuse_sparse(&tensor.borrow(), "compare")?;
            Ok(Side::of_tensor(tensor, holders))
        }
        other => bail!(TypeError, "compare() takes tensors and arrays, not {}", other.type_name()),
    };
    let history = side(&other, &[])?.history();
    let again = weakly(&other);
    picture(call, &call.value(0), &call.state.holders(), move |value, holders| {
        let other = again.as_ref().and_then(|again| again());
        let other = other.ok_or_else(|| Error::runtime("the second no longer exists"))?;
        Ok(compare::scene(&side(value, holders)?, &side(&other, holders)?.after(&history)))
    })
}

fn hist(call: &mut Call) -> Result<Value> {
    let bins = call.opt_int(1)?.map(|bins| match usize::try_from(bins) {
        Ok(bins @ 1..=MOST_BINS) => Ok(bins),
        _ => Err(Error::new(ErrorKind::ValueError, format!("bins must be from 1 to {MOST_BINS}, not {bins}"))),
    });
    let bins = bins.transpose()?;
    figure(call, move |view, dtype| figure::hist(view, dtype, bins))
}

/// Draws a figure of the numbers in the first argument. Quantized tensors are dequantized first. A figure shows values,
/// not memory, so it may read a copy of an array that no view can show.
fn figure(call: &Call, draw: impl Fn(&View, DType) -> Result<Scene> + 'static) -> Result<Value> {
    let name = call.signature.called().into_owned();
    let make = move |value: &Value| {
        let view = match value.elements() {
            Some(elements) => elements,
            None => strided(value, &name)?,
        };
        let numbers = if view.dtype.is_quantized() { dequantize(&view)? } else { view.clone() };
        let mut scene = draw(&numbers, view.dtype)?;
        if let Some(array) = value.array_memory() {
            scene.title = arrays::title(&array);
        }
        Ok(scene)
    };
    let value = call.value(0);
    let count = match value.array_memory() {
        Some(array) => array.layout.numel(),
        None => value.elements().map_or_else(|| call.view(0), Ok)?.numel(),
    };
    if count > DRAWN_AGAIN {
        let scene = make(&value)?;
        return Ok(Value::Object(Rc::new(Picture::of(scene, width(call)?))));
    }
    picture(call, &value, &[], move |value, _| make(value))
}

/// Makes the scene of an array.
type MakeScene = Box<dyn Fn(&ArrayMemory) -> Result<Scene>>;

/// Explains what NumPy does with an array: as another shape, as another dtype or, without either, as a tensor.
fn why_array(call: &mut Call) -> Result<Value> {
    let wanted = call.value(1).sequence().unwrap_or_default();
    let about = |make: MakeScene| picture(call, &call.value(0), &[], move |value, _| make(&array_of(value, "why")?));
    let sizes = match wanted.as_slice() {
        [] => return about(Box::new(|array| Ok(why_arrays::tensor(array)))),
        [Value::Function(name)] if name.ends_with("from_numpy") || name.ends_with("as_tensor") => {
            return about(Box::new(|array| Ok(why_arrays::tensor(array))));
        }
        [one] => match one.sequence().filter(|_| !matches!(one, Value::Str(_))) {
            Some(sizes) => sizes,
            None if matches!(one, Value::Int(_)) => wanted.clone(),
            None => {
                let (dtype, name) = numpy::dtype_of(one)?;
                return about(Box::new(move |array| Ok(why_arrays::dtype(array, dtype, &name))));
            }
        },
        _ => wanted,
    };
    let size = |value: &Value| match value {
        Value::Int(size) => Ok(*size),
        other => Err(Error::type_error(format!("why() takes sizes or a dtype, not {}", other.type_name()))),
    };
    let sizes: Vec<i64> = watched(&sizes).map(size).collect::<Result<_>>()?;
    about(Box::new(move |array| why_arrays::reshape(array, &sizes)))
}

/// Explains a view as another shape or dtype. The shape can be given as a list or as separate numbers.
fn why_view(call: &mut Call) -> Result<Value> {
    let wanted = call.value(1).sequence().unwrap_or_default();
    let sizes: Vec<Value> = match wanted.as_slice() {
        &[Value::DType(dtype)] => return of_view(call, move |view| Ok(why::dtype(view, dtype))),
        [one] => one.sequence().unwrap_or_else(|| wanted.clone()),
        _ => wanted,
    };
    let size = |value: &Value| match value {
        Value::Int(size) => Ok(*size),
        other => Err(Error::type_error(format!("why_view() takes sizes or a dtype, not {}", other.type_name()))),
    };
    let sizes: Vec<i64> = watched(&sizes).map(size).collect::<Result<_>>()?;
    of_view(call, move |view| why::shape(view, &sizes))
}

fn dtypes(values: &[Value]) -> Result<Vec<DType>> {
    let dtype = |value: &Value| match value {
        Value::DType(dtype) => Ok(*dtype),
        Value::Object(_) | Value::Type(_) => numpy::dtype_of(value).map(|(dtype, _)| dtype),
        other => Err(Error::type_error(format!("bytes are read as a dtype, not {}", other.type_name()))),
    };
    values.iter().map(dtype).collect()
}

fn show_bytes(call: &mut Call) -> Result<Value> {
    let others = dtypes(&call.value(1).sequence().unwrap_or_default())?;
    bytes_of(call, &call.value(0), &others)
}

/// Draws the bytes of a tensor or a storage.
pub(crate) fn bytes_of(call: &Call, value: &Value, others: &[DType]) -> Result<Value> {
    let cells = match call.position("cells") {
        Some(_) => cells(call)?,
        None => 32,
    };
    let others = others.to_vec();
    picture(call, value, &[], move |value, _| match value {
        Value::Tensor(_) => bytes::of_view(&strided(value, "show_bytes")?, &others, cells),
        Value::Storage(storage) => bytes::of_storage(storage, &others, cells),
        Value::Object(object) if object.is_array() => bytes::of_array(&array_of(value, "show_bytes")?, &others, cells),
        Value::TypedStorage(typed) if others.is_empty() => bytes::of_storage(&typed.storage, &[typed.dtype], cells),
        Value::TypedStorage(typed) => bytes::of_storage(&typed.storage, &others, cells),
        other if let Some(blocks) = BlockTensor::of(other) => {
            if !others.is_empty() {
                bail!(TypeError, "the bytes of a block are read as its type says; data has them as a tensor");
            }
            Ok(first_block(blocks)?.bytes(cells))
        }
        other => bail!(TypeError, "show_bytes() takes a tensor, an array or a storage, not {}", other.type_name()),
    })
}

fn show_bits(call: &mut Call) -> Result<Value> {
    let wanted = call.opt_dtype(1);
    picture(call, &call.value(0), &[], move |given, _| {
        if let Some(blocks) = BlockTensor::of(given) {
            if wanted.is_some() {
                bail!(TypeError, "the bits of a block are read as its type says");
            }
            return Ok(first_block(blocks)?.bits());
        }
        let view = match given {
            Value::Tensor(_) => strided(given, "bits")?,
            // A copy has the same bits, in the machine's order.
            Value::Object(_) if let Some(elements) = given.elements() => elements,
            other => number(other, wanted)?,
        };
        match wanted {
            Some(dtype) if dtype != view.dtype && view.numel() == 1 => {
                let asked = view.item()?;
                bits::of_number(asked, &View::scalar(asked, dtype)?)
            }
            _ => match given.as_scalar() {
                Some(asked) => bits::of_number(asked, &view),
                None => bits::of_view(&view),
            },
        }
    })
}

fn sum_steps(call: &mut Call) -> Result<Value> {
    let view = strided(&call.value(0), "sum_steps")?;
    let dtype = call.opt_dtype(1).unwrap_or(match view.dtype {
        DType::Bool => DType::Long,
        dtype => dtype,
    });
    let view = resolved(&view)?;
    let steps = SumSteps::new(&view, dtype, || {
        let result = sum(&view, None, false, None)?;
        let (item, result) = (result.item()?, Value::from(result));
        let in_lanes = match view.numel() {
            // The order of long sums is never that of the elements.
            64.. => true,
            _ => {
                let args = [view.clone().into(), Value::None];
                calculation::of(call.state, "sum", &args, &result, &[])?.is_some_and(|known| known.has_lanes())
            }
        };
        Ok(Torch::new(item, in_lanes, view.dtype))
    })?;
    Ok(Value::Object(Rc::new(picture_of_steps(steps, width(call)?))))
}

/// Returns a number as a tensor of dtype `wanted`, or by default of the dtype Python computes with.
fn number(value: &Value, wanted: Option<DType>) -> Result<View> {
    let Some(scalar) = value.as_scalar() else {
        bail!(TypeError, "bits() takes a tensor of one element or a number, not {}", value.type_name())
    };
    let usual = match scalar {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) | Scalar::UInt(_) => DType::Long,
        Scalar::Float(_) => DType::Double,
        Scalar::Complex(_) => DType::ComplexDouble,
    };
    View::scalar(scalar, wanted.unwrap_or(usual))
}

/// Returns the storage behind a value, how to read its elements, and the first byte of one of them.
fn storage_of(value: &Value, name: &str) -> Result<(Storage, Reading, usize)> {
    Ok(match value {
        Value::Tensor(tensor) => {
            let view = tensor.borrow();
            refuse_sparse(&view, name)?;
            (view.storage.clone(), Reading::native(view.dtype), 0)
        }
        Value::Storage(storage) => (storage.clone(), Reading::native(DType::Byte), 0),
        Value::TypedStorage(typed) => (typed.storage.clone(), Reading::native(typed.dtype), 0),
        Value::Object(object) if object.is_array() => {
            let array = array_of(value, name)?;
            let reading = Reading::of_array(&array);
            (array.storage, reading, usize::try_from(array.layout.offset).unwrap_or_default())
        }
        other => bail!(TypeError, "{name}() takes a tensor, an array or a storage, not {}", other.type_name()),
    })
}

fn watch(call: &mut Call) -> Result<Value> {
    let (storage, own, offset) = storage_of(&call.value(0), "watch")?;
    let watched = Watched::new(&storage, call.opt_dtype(1).map_or(own, Reading::native), offset)?;
    let mut all = call.state.watched.borrow_mut();
    all.retain(|other| !other.is_of(&storage));
    all.push(watched);
    Ok(Value::None)
}

fn unwatch(call: &mut Call) -> Result<Value> {
    let mut all = call.state.watched.borrow_mut();
    match call.value(0) {
        Value::None => all.clear(),
        value => {
            let (storage, ..) = storage_of(&value, "unwatch")?;
            all.retain(|other| !other.is_of(&storage));
        }
    }
    Ok(Value::None)
}

/// Returns the scene of a picture, or the picture that `explain` draws of a tensor or an array.
fn scene_of(call: &Call, value: &Value) -> Result<Scene> {
    let terms = Terms { bytes: false, cells: 64 };
    match value {
        Value::Object(object) => match object.as_any().downcast_ref::<Picture>() {
            Some(picture) => return Ok(picture.scene.clone()),
            None => {
                if let Some(array) = object.memory() {
                    return Ok(arrays::scene(&array, &call.state.holders(), terms));
                }
            }
        },
        Value::Tensor(tensor) => return Ok(scene(&tensor.view(), chain(tensor), &call.state.holders(), terms)),
        _ => {}
    }
    let name = call.signature.called();
    bail!(TypeError, "{name}() takes a picture, a tensor or an array, not {}", value.type_name())
}

/// Returns a picture with parts left blank.
///
/// # Errors
/// ValueError for a picture that has none of them.
fn blanked(scene: &Scene, width: usize, parts: &[String]) -> Result<Picture> {
    let Some(picture) = Picture::blanked(scene, width, parts) else {
        match parts {
            [] => bail!(
                ValueError,
                "this picture has no part that is usually left blank; name one, as in blank(p, \"index\")"
            ),
            parts => bail!(ValueError, "this picture has no part called {}", parts.join(" or ")),
        }
    };
    Ok(picture)
}

fn blank(call: &mut Call) -> Result<Value> {
    let scene = scene_of(call, &call.value(0))?;
    let names = call.value(1).sequence().unwrap_or_default();
    let parts = names.iter().map(|name| match name {
        Value::Str(name) => Ok(name.to_string()),
        other => bail!(TypeError, "parts are named by text, such as \"index\", not by {}", other.type_name()),
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(Value::Object(Rc::new(blanked(&scene, width(call)?, &parts)?)))
}

/// The most pictures of a page.
const MOST_PICTURES: usize = 1000;

/// Writes one picture or several to a page.
fn write_page(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let values = match &value {
        Value::List(_) | Value::Tuple(_) => value.sequence().unwrap_or_default(),
        _ => vec![value.clone()],
    };
    if values.is_empty() || values.len() > MOST_PICTURES {
        bail!(ValueError, "a page has from 1 to {MOST_PICTURES} pictures, not {}", values.len());
    }
    let is_blank = call.bool(2)?;
    let drawn = |value: &Value| {
        let scene = scene_of(call, value)?;
        match is_blank && !is_blanked(value) {
            true => Ok(blanked(&scene, 80, &[])?.scene),
            false => Ok(scene),
        }
    };
    let scenes = watched(&values).map(drawn).collect::<Result<Vec<_>>>()?;
    write(call, &html::draw(&scenes))
}

fn is_blanked(value: &Value) -> bool {
    let Value::Object(object) = value else { return false };
    object.as_any().downcast_ref::<Picture>().is_some_and(|picture| picture.blanks.is_some())
}

/// Writes a text to the file named by the second argument.
fn write(call: &Call, text: &str) -> Result<Value> {
    let file = call.str(1)?;
    System::replace_contents(&to_write(Path::new(file)), text.as_bytes()).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::FileNotFoundError,
            _ => ErrorKind::RuntimeError,
        };
        Error::new(kind, format!("{file}: {error}"))
    })?;
    Ok(Value::None)
}
