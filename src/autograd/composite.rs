//! Functions that PyTorch composes of others (its `CompositeImplicitAutograd`). While gradients are recorded, the parts
//! run instead of the function, so the graph has the same nodes. If a part fails, the caller runs the function itself
//! to get its error message.

use super::Functions;
use super::context::Expr;
use tensor::layout::wrap_dim;
use tensor::{DType, Dims, Error, Result, Scalar, Tensor, View};
use value::Value;

/// Runs the parts of a function on bound arguments.
pub(crate) type Composite = fn(&dyn Functions, &[Value]) -> Result<Value>;

mod analysis;
mod fft;
mod linalg;

/// The composite functions, keyed by overload.
pub(crate) const TABLES: &[&[(&str, Composite)]] = &[ROWS, analysis::ROWS, fft::ROWS, linalg::ROWS];

const ROWS: &[(&str, Composite)] = &[
    // Views.
    ("view_as", |f, a| f.call("view", &[self_(a)?, sizes_of(a, 1)?])),
    ("reshape", |f, a| reshape(f, self_(a)?, &dims(a, 1))),
    ("reshape_as", |f, a| reshape(f, self_(a)?, tensor(a, 1)?.borrow().sizes())),
    ("flatten.using_ints", flatten),
    ("ravel", |f, a| {
        let whole = f.call("contiguous", &[self_(a)?])?;
        f.call("view", &[whole, Value::size(&[-1])])
    }),
    ("unflatten.int", unflatten),
    ("T", |f, a| {
        let reversed: Dims = (0..tensor(a, 0)?.borrow().ndim() as i64).rev().collect();
        f.call("permute", &[self_(a)?, Value::Size(reversed)])
    }),
    ("mT", |f, a| f.call("transpose.int", &[self_(a)?, Value::Int(-2), Value::Int(-1)])),
    ("H", |f, a| match tensor(a, 0)?.borrow().ndim() {
        0 => Ok(arg(a, 0)),
        _ => adjoint(f, self_(a)?, 0, 1),
    }),
    ("mH", |f, a| adjoint(f, self_(a)?, -2, -1)),
    ("adjoint", |f, a| adjoint(f, self_(a)?, -2, -1)),
    ("movedim.intlist", move_dims),
    ("movedim.int", move_dims),
    ("expand_as", |f, a| f.call("expand", &[self_(a)?, sizes_of(a, 1)?])),
    ("broadcast_to", |f, a| f.call("expand", &[self_(a)?, arg(a, 1)])),
    ("narrow", |f, a| narrow(f, a, int(a, 2))),
    ("narrow.Tensor", |f, a| {
        let start = tensor(a, 2)?.borrow().item()?.to_i64();
        narrow(f, a, start)
    }),
    ("split.sizes", |f, a| f.call("split_with_sizes", a)),
    ("chunk", chunk),
    ("unsafe_chunk", |f, a| {
        let parts = unrecorded(f, "unsafe_chunk", a)?.sequence().unwrap_or_default();
        let dim = wrap_dim(int(a, 2), tensor(a, 0)?.borrow().ndim())?;
        let longest = match parts.first() {
            Some(Value::Tensor(part)) => part.borrow().sizes().get(dim).copied().unwrap_or(0),
            _ => 0,
        };
        f.call("unsafe_split.Tensor", &[self_(a)?, Value::Int(longest.max(1)), arg(a, 2)])
    }),
    ("tensor_split.indices", |f, a| slices(f, "tensor_split.indices", a, int(a, 2))),
    ("tensor_split.tensor_indices_or_sections", |f, a| {
        slices(f, "tensor_split.tensor_indices_or_sections", a, int(a, 2))
    }),
    ("tensor_split.sections", |f, a| slices(f, "tensor_split.sections", a, int(a, 2))),
    ("hsplit.int", |f, a| slices(f, "hsplit.int", a, i64::from(tensor(a, 0)?.borrow().ndim() > 1))),
    ("vsplit.int", |f, a| slices(f, "vsplit.int", a, 0)),
    ("dsplit.int", |f, a| slices(f, "dsplit.int", a, 2)),
    ("hsplit.array", |f, a| slices(f, "hsplit.array", a, i64::from(tensor(a, 0)?.borrow().ndim() > 1))),
    ("vsplit.array", |f, a| slices(f, "vsplit.array", a, 0)),
    ("dsplit.array", |f, a| slices(f, "dsplit.array", a, 2)),
    ("real", |f, a| part(f, a, 0)),
    ("imag", |f, a| part(f, a, 1)),
    ("atleast_1d", |f, a| at_least(f, self_(a)?, 1)),
    ("atleast_2d", |f, a| at_least(f, self_(a)?, 2)),
    ("atleast_3d", |f, a| at_least(f, self_(a)?, 3)),
    ("nn.functional.tanhshrink", |f, a| f.call("sub.Tensor", &[self_(a)?, f.call("tanh", &[self_(a)?])?])),
    // Joining and repeating.
    ("hstack", |f, a| {
        let parts = each(f, a, |f, t| at_least(f, t, 1))?;
        let dim = parts.sequence().and_then(|parts| parts.first().map(|part| i64::from(ndim(part) > 1))).unwrap_or(0);
        f.call("cat", &[parts, Value::Int(dim)])
    }),
    ("vstack", |f, a| f.call("cat", &[each(f, a, |f, t| at_least(f, t, 2))?, Value::Int(0)])),
    ("dstack", |f, a| f.call("cat", &[each(f, a, |f, t| at_least(f, t, 3))?, Value::Int(2)])),
    ("column_stack", |f, a| {
        let column = |f: &dyn Functions, t: Value| match ndim(&t) {
            0 | 1 => reshape(f, t.clone(), &[numel(&t), 1]),
            _ => Ok(t),
        };
        f.call("cat", &[each(f, a, column)?, Value::Int(1)])
    }),
    ("tile", |f, a| {
        let (mut repeats, ndim) = (dims(a, 1), tensor(a, 0)?.borrow().ndim());
        while repeats.len() < ndim {
            repeats.insert(0, 1);
        }
        f.call("repeat", &[self_(a)?, Value::Size(repeats)])
    }),
    ("repeat_interleave.self_int", repeat_each),
    ("repeat_interleave.self_Tensor", |f, a| {
        let (this, dim) = along(f, a, 2)?;
        let count = tensor(std::slice::from_ref(&this), 0)?.borrow().sizes().get(dim).copied().unwrap_or(1);
        let places = View::from_scalars(&[count], DType::Long, (0..count).map(Scalar::Int))?;
        // Not recorded: counts that require a gradient would lead back to this function.
        let index = unrecorded(f, "repeat_interleave.self_Tensor", &[places.into(), arg(a, 1), Value::Int(0)])?;
        f.call("index_select", &[this, Value::Int(dim as i64), index])
    }),
    ("diag", |f, a| {
        let key = if tensor(a, 0)?.borrow().ndim() == 1 { "diag_embed" } else { "diagonal_copy" };
        f.call(key, &[self_(a)?, arg(a, 1)])
    }),
    ("diagflat", |f, a| {
        let flat = reshape(f, self_(a)?, &[-1])?;
        f.call("diag", &[flat, arg(a, 1)])
    }),
    ("fliplr", |f, a| f.call("flip", &[self_(a)?, Value::size(&[1])])),
    ("flipud", |f, a| f.call("flip", &[self_(a)?, Value::size(&[0])])),
    ("take_along_dim", |f, a| {
        if matches!(arg(a, 2), Value::None) {
            let flat = f.call("view", &[self_(a)?, Value::size(&[-1])])?;
            let index = reshape(f, arg(a, 1), &[-1])?;
            return f.call("gather", &[flat, Value::Int(0), index]);
        }
        let (sizes, other) = (tensor(a, 0)?.borrow().layout.sizes.clone(), tensor(a, 1)?.borrow().layout.sizes.clone());
        let dim = wrap_dim(int(a, 2), sizes.len())?;
        let stretched = |own: &Dims, other: &Dims| -> Dims {
            own.iter().zip(other).enumerate().map(|(d, (&s, &o))| if d == dim { s } else { s.max(o) }).collect()
        };
        let this = f.call("expand", &[self_(a)?, Value::Size(stretched(&sizes, &other))])?;
        let index = f.call("expand", &[arg(a, 1), Value::Size(stretched(&other, &sizes))])?;
        f.call("gather", &[this, Value::Int(dim as i64), index])
    }),
    ("where.method", |f, a| f.call("where.self", &[arg(a, 1), arg(a, 0), arg(a, 2)])),
    ("where.scalar_method", |f, a| f.call("where.self", &[arg(a, 1), arg(a, 0), arg(a, 2)])),
    ("fill_diagonal_", fill_diagonal),
    // Arithmetic.
    ("square", |f, a| f.call("pow.Tensor_Scalar", &[self_(a)?, Value::Int(2)])),
    ("square_", |f, a| f.call("pow_.Scalar", &[self_(a)?, Value::Int(2)])),
    ("float_power.Tensor_Tensor", |f, a| float_power(f, a, "pow.Tensor_Tensor")),
    ("float_power.Tensor_Scalar", |f, a| float_power(f, a, "pow.Tensor_Scalar")),
    ("float_power.Scalar", |f, a| float_power(f, a, "pow.Scalar")),
    ("float_power_.Tensor", |f, a| float_power(f, a, "pow_.Tensor")),
    ("float_power_.Scalar", |f, a| float_power(f, a, "pow_.Scalar")),
    ("ldexp", |f, a| {
        let two = on(f, self_(a)?).call("new_full", &[Value::size(&[]), Value::Float(2.0)]);
        let power = two.apply("pow.Tensor_Tensor", [Ok(arg(a, 1))]);
        f.call("mul", &[self_(a)?, power.value?])
    }),
    // Reductions.
    ("var", |f, a| f.call("var.correction", &[self_(a)?, Value::None, correction(arg(a, 1))])),
    ("std", |f, a| f.call("std.correction", &[self_(a)?, Value::None, correction(arg(a, 1))])),
    ("var.dim", |f, a| f.call("var.correction", &[self_(a)?, arg(a, 1), correction(arg(a, 2)), arg(a, 3)])),
    ("std.dim", |f, a| f.call("std.correction", &[self_(a)?, arg(a, 1), correction(arg(a, 2)), arg(a, 3)])),
    ("var_mean", |f, a| f.call("var_mean.correction", &[self_(a)?, Value::None, correction(arg(a, 1))])),
    ("std_mean", |f, a| f.call("std_mean.correction", &[self_(a)?, Value::None, correction(arg(a, 1))])),
    ("var_mean.dim", |f, a| f.call("var_mean.correction", &[self_(a)?, arg(a, 1), correction(arg(a, 2)), arg(a, 3)])),
    ("std_mean.dim", |f, a| f.call("std_mean.correction", &[self_(a)?, arg(a, 1), correction(arg(a, 2)), arg(a, 3)])),
    // Functions of `torch.nn.functional` that have their own rows.
    ("nn.functional.relu", |f, a| f.call(if flag(a, 1) { "relu_" } else { "relu" }, &[self_(a)?])),
    ("nn.functional.softmax", |f, a| shares(f, a, "softmax.int")),
    ("nn.functional.log_softmax", |f, a| shares(f, a, "log_softmax.int")),
];

/// Wraps a value as an expression, for arithmetic.
fn on(f: &dyn Functions, value: Value) -> Expr<'_> {
    Expr { functions: f, value: Ok(value) }
}

fn arg(args: &[Value], index: usize) -> Value {
    args.get(index).cloned().unwrap_or(Value::None)
}

fn self_(args: &[Value]) -> Result<Value> {
    tensor(args, 0).map(|tensor| Value::Tensor(tensor.clone()))
}

fn tensor(args: &[Value], index: usize) -> Result<&Tensor> {
    match args.get(index) {
        Some(Value::Tensor(tensor)) => Ok(tensor),
        _ => Err(Error::type_error("a Tensor was expected")),
    }
}

fn int(args: &[Value], index: usize) -> i64 {
    args.get(index).and_then(Value::as_scalar).map_or(0, Scalar::to_i64)
}

fn flag(args: &[Value], index: usize) -> bool {
    matches!(args.get(index), Some(Value::Bool(true)))
}

fn dims(args: &[Value], index: usize) -> Dims {
    match args.get(index) {
        Some(Value::Size(dims)) => dims.clone(),
        Some(Value::Int(one)) => Dims::from_slice(&[*one]),
        _ => Dims::new(),
    }
}

fn sizes_of(args: &[Value], index: usize) -> Result<Value> {
    tensor(args, index).map(|tensor| Value::size(tensor.borrow().sizes()))
}

fn ndim(value: &Value) -> usize {
    if let Value::Tensor(tensor) = value { tensor.borrow().ndim() } else { 0 }
}

fn numel(value: &Value) -> i64 {
    if let Value::Tensor(tensor) = value { tensor.borrow().numel() } else { 0 }
}

/// `softmax` or `log_softmax`. If no dimension is given, PyTorch chooses one.
fn shares(f: &dyn Functions, args: &[Value], key: &str) -> Result<Value> {
    let chosen = i64::from(!matches!(tensor(args, 0)?.borrow().ndim(), 0 | 1 | 3));
    let dim = if let Value::None = arg(args, 1) { Value::Int(chosen) } else { arg(args, 1) };
    let this = match arg(args, 3) {
        Value::None => self_(args)?,
        dtype => f.call("to.dtype", &[self_(args)?, dtype])?,
    };
    f.call(key, &[this, dim])
}

/// Fills the diagonal through an `as_strided` window. If the diagonal wraps around in a tall matrix, a second window
/// fills the rest.
fn fill_diagonal(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let layout = tensor(args, 0)?.borrow().layout.clone();
    let (Some(&order), step) = (layout.sizes.iter().min(), layout.strides.iter().sum::<i64>()) else {
        return Err(Error::runtime("dimensions must larger than 1"));
    };
    let fill = |length: i64, offset: i64| {
        let window = [self_(args)?, Value::size(&[length]), Value::size(&[step]), Value::Int(layout.offset + offset)];
        f.call("fill_.Scalar", &[f.call("as_strided", &window)?, arg(args, 1)])
    };
    fill(order, 0)?;
    if let (true, &[rows, columns]) = (flag(args, 2), layout.sizes.as_slice())
        && rows > columns + 1
    {
        let rest = (rows * columns + order) / (order + 1) - order;
        fill(rest, step * (order + 1))?;
    }
    self_(args)
}

/// Computes a power of operands converted to double precision.
fn float_power(f: &dyn Functions, args: &[Value], key: &str) -> Result<Value> {
    let operands = [arg(args, 0), arg(args, 1)];
    let is_complex = |value: &Value| match value {
        Value::Tensor(tensor) => tensor.borrow().dtype.is_complex(),
        number => matches!(number, Value::Complex(_)),
    };
    let dtype = if operands.iter().any(is_complex) { DType::ComplexDouble } else { DType::Double };
    let wide = |operand: Value| match operand {
        Value::Tensor(tensor) if tensor.borrow().dtype != dtype => {
            f.call("to.dtype", &[Value::Tensor(tensor), Value::DType(dtype)])
        }
        Value::Int(number) => Ok(Value::Float(number as f64)),
        same => Ok(same),
    };
    let [base, exponent] = operands.map(wide);
    f.call(key, &[base?, exponent?])
}

/// Converts the argument `unbiased` to a correction.
fn correction(unbiased: Value) -> Value {
    Value::Int(i64::from(matches!(unbiased, Value::Bool(true))))
}

/// Calls a function without recording it.
fn unrecorded(f: &dyn Functions, key: &str, args: &[Value]) -> Result<Value> {
    let before = f.set_recording(false);
    let result = f.call(key, args);
    f.set_recording(before);
    result
}

/// Returns a view if the strides allow one, and a copy otherwise.
fn reshape(f: &dyn Functions, this: Value, sizes: &[i64]) -> Result<Value> {
    let wanted = Value::size(sizes);
    if unrecorded(f, "view", &[this.clone(), wanted.clone()]).is_ok() {
        return f.call("view", &[this, wanted]);
    }
    let copy = f.call("clone", &[this, Value::MemoryFormat(value::MemoryFormat::Contiguous)])?;
    f.call("_unsafe_view", &[copy, wanted])
}

fn flatten(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let sizes = tensor(args, 0)?.borrow().layout.sizes.clone();
    if sizes.is_empty() {
        return reshape(f, self_(args)?, &[1]);
    }
    let (start, end) = (wrap_dim(int(args, 1), sizes.len())?, wrap_dim(int(args, 2), sizes.len())?);
    if start == end {
        return self_(args);
    }
    let (Some(before), Some(merged), Some(after)) = (sizes.get(..start), sizes.get(start..=end), sizes.get(end + 1..))
    else {
        return Err(Error::runtime("flatten() has invalid args: start_dim cannot come after end_dim"));
    };
    let merged: i64 = merged.iter().product();
    let wanted: Dims = before.iter().copied().chain([merged]).chain(after.iter().copied()).collect();
    reshape(f, self_(args)?, &wanted)
}

fn unflatten(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let shown = unrecorded(f, "unflatten.int", args)?;
    let sizes = sizes_of(&[shown], 0)?;
    f.call("view", &[self_(args)?, sizes])
}

fn adjoint(f: &dyn Functions, this: Value, first: i64, second: i64) -> Result<Value> {
    let turned = f.call("transpose.int", &[this, Value::Int(first), Value::Int(second)])?;
    match &turned {
        Value::Tensor(tensor) if tensor.borrow().dtype.is_complex() => f.call("conj", &[turned]),
        _ => Ok(turned),
    }
}

fn move_dims(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let ndim = tensor(args, 0)?.borrow().ndim();
    let wrapped = |index: usize| dims(args, index).iter().map(|&d| wrap_dim(d, ndim)).collect::<Result<Vec<usize>>>();
    let (from, to) = (wrapped(1)?, wrapped(2)?);
    let mut rest = (0..ndim).filter(|d| !from.contains(d));
    let mut order = Dims::new();
    for place in 0..ndim {
        let moved = to.iter().position(|&t| t == place).and_then(|i| from.get(i).copied());
        order.extend(moved.or_else(|| rest.next()).map(|d| d as i64));
    }
    f.call("permute", &[self_(args)?, Value::Size(order)])
}

fn narrow(f: &dyn Functions, args: &[Value], start: i64) -> Result<Value> {
    // Fails with the error of `narrow` if the range is out of bounds.
    unrecorded(f, "narrow", &[self_(args)?, arg(args, 1), Value::Int(start), arg(args, 3)])?;
    let sizes = tensor(args, 0)?.borrow().layout.sizes.clone();
    let dim = wrap_dim(int(args, 1), sizes.len())?;
    let start = if start < 0 { start + sizes.get(dim).copied().unwrap_or(0) } else { start };
    let stop = Value::Int(start.saturating_add(int(args, 3)));
    f.call("slice.Tensor", &[self_(args)?, Value::Int(dim as i64), Value::Int(start), stop, Value::Int(1)])
}

fn chunk(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let parts = unrecorded(f, "chunk", args)?.sequence().unwrap_or_default();
    let sizes = tensor(args, 0)?.borrow().layout.sizes.clone();
    let dim = wrap_dim(int(args, 2), sizes.len())?;
    let lengths: Vec<i64> = parts
        .iter()
        .map(|part| Ok(tensor(std::slice::from_ref(part), 0)?.borrow().sizes().get(dim).copied().unwrap_or(0)))
        .collect::<Result<_>>()?;
    match lengths.first() {
        Some(&longest) if longest > 0 => f.call("split.Tensor", &[self_(args)?, Value::Int(longest), arg(args, 2)]),
        _ => f.call("split_with_sizes", &[self_(args)?, Value::size(&lengths), arg(args, 2)]),
    }
}

/// Splits a tensor along a dimension where the function `key` does. Each part is recorded as a slice.
fn slices(f: &dyn Functions, key: &str, args: &[Value], dim: i64) -> Result<Value> {
    let parts = unrecorded(f, key, args)?;
    let dim = wrap_dim(dim, tensor(args, 0)?.borrow().ndim())?;
    let mut start = 0;
    let mut cut = Vec::new();
    for part in parts.sequence().unwrap_or_default() {
        let length = tensor(std::slice::from_ref(&part), 0)?.borrow().sizes().get(dim).copied().unwrap_or(0);
        let range = [Value::Int(dim as i64), Value::Int(start), Value::Int(start + length), Value::Int(1)];
        let [dim, from, to, step] = range;
        cut.push(f.call("slice.Tensor", &[self_(args)?, dim, from, to, step])?);
        start += length;
    }
    Ok(if matches!(parts, Value::List(_)) { Value::list(cut) } else { Value::tuple(cut) })
}

/// Returns the real part (0) or the imaginary part (1).
fn part(f: &dyn Functions, args: &[Value], which: i64) -> Result<Value> {
    let (complex, conj) = {
        let view = tensor(args, 0)?.borrow();
        (view.dtype.is_complex(), view.conj)
    };
    if !complex {
        return if which == 0 { self_(args) } else { unrecorded(f, "imag", args) };
    }
    let plain = if conj { f.call("conj", &[self_(args)?])? } else { self_(args)? };
    let parts = f.call("view_as_real", &[plain])?;
    let parts = if conj && which == 1 { f.call("_neg_view", &[parts])? } else { parts };
    f.call("select.int", &[parts, Value::Int(-1), Value::Int(which)])
}

fn at_least(f: &dyn Functions, this: Value, wanted: usize) -> Result<Value> {
    let unsqueeze = |this: Value, dim: i64| f.call("unsqueeze", &[this, Value::Int(dim)]);
    match (ndim(&this), wanted) {
        (0, wanted) => reshape(f, this, &Dims::from_elem(1, wanted)),
        (1, 2) => unsqueeze(this, 0),
        (1, 3) => unsqueeze(unsqueeze(this, 0)?, -1),
        (2, 3) => unsqueeze(this, -1),
        _ => Ok(this),
    }
}

fn each(f: &dyn Functions, args: &[Value], run: impl Fn(&dyn Functions, Value) -> Result<Value>) -> Result<Value> {
    let items = arg(args, 0).sequence().unwrap_or_default();
    let items = items.into_iter().map(|item| run(f, item)).collect::<Result<Vec<Value>>>()?;
    Ok(Value::list(items))
}

/// Returns the tensor and the dimension to repeat along. Without a dimension, the tensor is flattened.
fn along(f: &dyn Functions, args: &[Value], index: usize) -> Result<(Value, usize)> {
    if matches!(arg(args, index), Value::None) {
        return Ok((f.call("flatten.using_ints", &[self_(args)?])?, 0));
    }
    Ok((self_(args)?, wrap_dim(int(args, index), tensor(args, 0)?.borrow().ndim())?))
}

fn repeat_each(f: &dyn Functions, args: &[Value]) -> Result<Value> {
    let (this, dim) = along(f, args, 2)?;
    let sizes = tensor(std::slice::from_ref(&this), 0)?.borrow().layout.sizes.clone();
    let repeats = int(args, 1);
    let mut stretched = sizes.clone();
    stretched.insert(dim + 1, repeats);
    let wide = f.call("unsqueeze", &[this, Value::Int(dim as i64 + 1)])?;
    let wide = f.call("expand", &[wide, Value::Size(stretched)])?;
    let copy = f.call("clone", &[wide, Value::MemoryFormat(value::MemoryFormat::Contiguous)])?;
    let mut merged = sizes;
    if let Some(size) = merged.get_mut(dim) {
        *size = size.saturating_mul(repeats);
    }
    f.call("view", &[copy, Value::Size(merged)])
}
