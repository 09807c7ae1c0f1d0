//! How one element of a result was computed. The order of the operations is that of the kernels (`tensor::ops`), written
//! to a tape, and is only told if the tape's last number is the element, to the bit.

use super::matmul;
use autograd::Pass;
use call::signature::name_in;
use call::{Call, State};
use explain::calculation::Calculation;
use tensor::ops::create::zeros_like;
use tensor::ops::matmul::order as products;
use tensor::ops::reduce::order as reductions;
use tensor::ops::reduce::{Extremum, Running, SpreadMeasure};
use tensor::ops::view::unsqueeze;
use tensor::tape::{LONGEST, Operation, Tape};
use tensor::{DType, Dims, Error, Layout, Result, Scalar, Tensor, View};
use value::{Value, as_tensor};

/// What is known of the order of a function's operations.
#[derive(Clone, Copy)]
enum Order {
    /// It is the kernel's.
    Kernel,
    /// Any order gives the same.
    Any,
    /// There is one operation for each element.
    Single,
}

/// The operations, if they are known, and what is known of their order.
type Ordered = (Option<Tape>, Order);

/// Returns how the element at `index` of the result of a call was computed: the overload's key, its bound arguments, and
/// the result. `None` for a function that computes nothing, or of which nothing is known. If the order is not known, the
/// calculation has no steps and says so.
///
/// # Errors
/// IndexError for an index outside of the result, KeyboardInterrupt.
pub fn of(
    state: &State,
    signature_key: &str,
    args: &[Value],
    result: &Value,
    index: &[i64],
) -> Result<Option<Calculation>> {
    let Some(function) = state.registry.overload(signature_key) else { return Ok(None) };
    let key = function.row.alias_of.unwrap_or(function.signature.key);
    let items = result.sequence().filter(|_| as_tensor(result).is_none());
    let first = items.as_ref().and_then(|items| items.first()).unwrap_or(result);
    let Some(wanted) = as_tensor(first).map(Tensor::view) else { return Ok(None) };
    let is_plain = |view: &View| !view.is_sparse() && !view.dtype.is_quantized() && !view.device().is_meta();
    if !is_plain(&wanted) || args.iter().filter_map(as_tensor).any(|tensor| !is_plain(&tensor.view())) {
        return Ok(None);
    }
    let fits = index.iter().zip(wanted.sizes()).all(|(index, size)| (0..*size).contains(index));
    if !fits || index.len() != wanted.ndim() {
        return Err(Error::index(format!("{index:?} is not the index of an element of {:?}", wanted.sizes())));
    }
    let call = Call::of(state, function, args.iter().cloned().collect());
    let Some(order) = order(&call, key, &wanted, index)? else { return Ok(None) };
    let place = if index.is_empty() { "the result".to_owned() } else { format!("the element at {index:?}") };
    let title = format!("{}: {place}, {}", name_in(key), wanted.dtype.name());
    let names: Vec<String> = call.signature.params.iter().take(2).map(|param| param.shown_name().to_owned()).collect();
    let value = element(&wanted, index)?;
    let (tape, way) = order;
    let Some(tape) = tape else {
        let text = format!("The order of its operations is not known, or there are more than {LONGEST} of them.");
        return Ok(Some(Calculation::unknown(title, text)));
    };
    if !tape.result.is_some_and(|last| same(tape.value(last), value)) {
        return Ok(Some(Calculation::unknown(title, "The order of its operations is not known.".to_owned())));
    }
    let calculation = Calculation::new(tape, title, String::new()).with_names(names);
    let text = match way {
        Order::Single => "One step for each element.",
        Order::Any => "In reading order; any other order gives the same.",
        Order::Kernel if calculation.has_lanes() => {
            "In the kernel's order, which is PyTorch's: the lanes of vectors side by side, and joined at the end."
        }
        Order::Kernel => "In the kernel's order, which is PyTorch's.",
    };
    Ok(Some(calculation.with_order(text)))
}

/// Returns the derivative of one element of a result by each element of a tensor that the result was computed from, read
/// from its graph, which stays. `None` if the result does not depend on it.
///
/// # Errors
/// IndexError for an index outside of the result; RuntimeError if the result has no graph, or if it was freed.
pub fn derivatives(state: &State, output: &Tensor, index: &[i64], input: &Tensor) -> Result<Option<View>> {
    let seed = zeros_like(&output.view(), None, None)?;
    if index.len() != seed.ndim() || index.iter().zip(seed.sizes()).any(|(index, size)| !(0..*size).contains(index)) {
        return Err(Error::index(format!("{index:?} is not the index of an element of {:?}", seed.sizes())));
    }
    let one = seed.with_layout(at(&seed, index));
    tensor::ops::copy::fill(&one, Scalar::Int(1))?;
    let pass = Pass { functions: state, retain_graph: true, create_graph: false };
    let found = autograd::gradients(pass, &[(output.clone(), Tensor::new(seed))], std::slice::from_ref(input))?;
    Ok(found.into_iter().next().flatten().map(|gradient| gradient.view()))
}

/// Returns the layout of a single element.
fn at(view: &View, index: &[i64]) -> Layout {
    let offset = index.iter().zip(view.strides()).fold(view.layout.offset, |at, (index, stride)| at + index * stride);
    Layout { sizes: Dims::new(), strides: Dims::new(), offset }
}

fn element(view: &View, index: &[i64]) -> Result<Scalar> {
    view.with_layout(at(view, index)).item()
}

/// Returns whether two elements have the same bits. All NaNs count as one.
fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a.category() == b.category() && a == b,
    }
}

/// Writes the operations of a call for an element of its result. `None` for functions that are not known here.
fn order(call: &Call, key: &str, result: &View, index: &[i64]) -> Result<Option<Ordered>> {
    let dims = |at: usize| if call.is_none(at) { Ok(Dims::new()) } else { call.ints(at) };
    let view = |at: usize| call.view(at);
    let kernel = |tape: Result<Option<Tape>>| tape.map(|tape| Some((tape, Order::Kernel)));
    // Integers wrap.
    let reduced = |dtype: Option<DType>, tape: Result<Option<Tape>>| -> Result<Option<Ordered>> {
        let is_whole = dtype.unwrap_or(view(0)?.dtype).is_integral(true);
        tape.map(|tape| Some((tape, if is_whole { Order::Any } else { Order::Kernel })))
    };
    let any = |tape: Result<Option<Tape>>| tape.map(|tape| Some((tape, Order::Any)));
    match key {
        "sum" => reduced(call.opt_dtype(1), reductions::sum(&view(0)?, None, false, call.opt_dtype(1), index)),
        "sum.dim_IntList" => {
            let (dims, dtype) = (dims(1)?, call.opt_dtype(3));
            reduced(dtype, reductions::sum(&view(0)?, Some(&dims), call.bool(2)?, dtype, index))
        }
        "mean" => kernel(reductions::mean(&view(0)?, None, false, call.opt_dtype(1), index)),
        "mean.dim" => kernel(reductions::mean(&view(0)?, Some(&dims(1)?), call.bool(2)?, call.opt_dtype(3), index)),
        "prod" => reduced(call.opt_dtype(1), reductions::prod(&view(0)?, None, false, call.opt_dtype(1), index)),
        "prod.dim_int" => {
            let dtype = call.opt_dtype(3);
            reduced(dtype, reductions::prod(&view(0)?, Some(call.int(1)?), call.bool(2)?, dtype, index))
        }
        "cumsum" | "cumprod" => {
            let which = if key == "cumsum" { Running::Sum } else { Running::Product };
            kernel(reductions::cumulative(which, &view(0)?, call.int(1)?, call.opt_dtype(2), index))
        }
        "max" => any(reductions::extremum(Extremum::Max, &view(0)?, None, false, index)),
        "min" => any(reductions::extremum(Extremum::Min, &view(0)?, None, false, index)),
        "amax" => any(reductions::extremum(Extremum::Max, &view(0)?, Some(&dims(1)?), call.bool(2)?, index)),
        "amin" => any(reductions::extremum(Extremum::Min, &view(0)?, Some(&dims(1)?), call.bool(2)?, index)),
        "max.dim" => any(reductions::extremum(Extremum::Max, &view(0)?, Some(&[call.int(1)?]), call.bool(2)?, index)),
        "min.dim" => any(reductions::extremum(Extremum::Min, &view(0)?, Some(&[call.int(1)?]), call.bool(2)?, index)),
        "var" | "std" => {
            let correction = f64::from(u8::from(call.bool(1)?));
            kernel(reductions::variance_of_all(spread(key), &view(0)?, correction))
        }
        "var.correction" | "std.correction" if call.is_none(1) && index.is_empty() => {
            let correction = if call.is_none(2) { 1.0 } else { call.scalar(2)?.to_f64() };
            kernel(reductions::variance_of_all(spread(key), &view(0)?, correction))
        }
        "dot" | "vdot" | "mv" | "mm" | "bmm" | "matmul" => kernel(product(call, index)),
        _ => Ok(pointwise(call, key, result, index)?.map(|tape| (Some(tape), Order::Single))),
    }
}

fn spread(key: &str) -> SpreadMeasure {
    if name_in(key) == "var" { SpreadMeasure::Variance } else { SpreadMeasure::StandardDeviation }
}

/// Writes the operations of a product of vectors and matrices, by their dimensions.
fn product(call: &Call, index: &[i64]) -> Result<Option<Tape>> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    match (a.ndim(), b.ndim(), index) {
        (1, 1, _) => products::dot(&a, &b),
        (2, 1, &[row]) => products::mv(&a, &b, row),
        (1, 2, &[column]) => products::mm(&unsqueeze(&a, 0)?, &b, [0, column]),
        (2, 2, &[row, column]) => products::mm(&a, &b, [row, column]),
        (3, 3, &[matrix, row, column]) => products::bmm(&a, &b, [matrix, row, column]),
        // A matrix for all of a batch is multiplied by its rows, one below the other.
        (3, 2, &[matrix, row, column]) if matmul::folds(call.tensor(0)?, call.tensor(1)?)? => {
            let &[count, rows, columns] = a.sizes() else { return Ok(None) };
            match a.layout.view(&[count * rows, columns]) {
                Ok(layout) => products::mm(&a.with_layout(layout), &b, [matrix * rows + row, column]),
                Err(_) => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// Writes an operation on single elements. `None` if it is not one of those that are known.
fn pointwise(call: &Call, key: &str, result: &View, index: &[i64]) -> Result<Option<Tape>> {
    let (operation, swapped) = match name_in(key) {
        "add" => (Operation::Add, false),
        "sub" => (Operation::Subtract, false),
        "rsub" => (Operation::Subtract, true),
        "mul" => (Operation::Multiply, false),
        "div" => (Operation::Divide, false),
        "maximum" => (Operation::Larger, false),
        "minimum" => (Operation::Smaller, false),
        "max" if key == "max.other" => (Operation::Larger, false),
        "min" if key == "min.other" => (Operation::Smaller, false),
        "neg" => (Operation::Negate, false),
        "sqrt" => (Operation::SquareRoot, false),
        _ => return Ok(None),
    };
    let is_scaled = call.position("alpha").is_some_and(|at| call.scalar(at).is_ok_and(|alpha| alpha.to_f64() != 1.0));
    let is_rounded = call.position("rounding_mode").is_some_and(|at| !call.is_none(at));
    if call.signature.in_place || is_scaled || is_rounded || result.dtype.is_complex() {
        return Ok(None);
    }
    let is_pair = !matches!(operation, Operation::Negate | Operation::SquareRoot);
    let values: Vec<Value> = (0..if is_pair { 2 } else { 1 }).map(|at| call.value(at)).collect();
    let views: Vec<Option<View>> = values.iter().map(|value| as_tensor(value).map(Tensor::view)).collect();
    let layouts =
        views.iter().map(|view| view.as_ref().map_or_else(|| Layout::contiguous(&[]), |view| view.layout.clone()));
    let mut tape = Tape::new(layouts.collect());
    let (dtype, wide) = match result.dtype {
        DType::Half | DType::BFloat16 => (result.dtype, DType::Float),
        dtype => (dtype, dtype),
    };
    // The second operand of a product, or of a quotient, is not rounded to 16 bits if it is a single number.
    let is_direct = |number: u8| number == 1 && matches!(operation, Operation::Multiply | Operation::Divide);
    let mut terms = Vec::new();
    for (number, (view, value)) in (0..).zip(views.iter().zip(&values)) {
        terms.push(match (view, value.as_scalar()) {
            (Some(view), _) => {
                let own = index.get(index.len() - view.ndim().min(index.len())..).unwrap_or_default();
                let own: Vec<i64> =
                    own.iter().zip(view.sizes()).map(|(i, size)| if *size == 1 { 0 } else { *i }).collect();
                let term = tape.element(number, at(view, &own).offset, view.dtype, element(view, &own)?);
                tape.convert(if is_direct(number) && view.numel() == 1 { wide } else { dtype }, term)
            }
            (None, Some(scalar)) => {
                let term = tape.constant(if wide.is_floating_point() { DType::Double } else { wide }, scalar);
                tape.convert(if is_direct(number) { wide } else { dtype }, term)
            }
            _ => return Ok(None),
        });
    }
    let (Some(&a), Some(&b)) = (terms.first(), terms.last()) else { return Ok(None) };
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    tape.result = Some(tape.step(operation, dtype, a, b));
    Ok(Some(tape))
}
