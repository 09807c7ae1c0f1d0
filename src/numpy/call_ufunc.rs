//! Ufuncs as objects of a script, and calls of them: arguments in, arrays or scalars out. Follows
//! <https://numpy.org/doc/2.4/reference/ufuncs.html>.

use crate::array::{Array, Order};
use crate::descr::{Casting, Descr};
use crate::ndarray::{NdArray, Number};
use crate::operate::operand;
use crate::settings;
use crate::ufunc::{self, FpFlags, Initial, Op, Operand, Options, Ufunc};
use crate::{bridge, convert, index};
use objects::calling::NativeFunction;
use std::rc::Rc;
use tensor::{Error, Result, Scalar, bail};
use value::{Keywords, Object, Value, intern};

/// `np.add` and its like.
pub(crate) struct UfuncObject(pub &'static Ufunc);

impl UfuncObject {
    pub(crate) fn value(ufunc: &'static Ufunc) -> Value {
        Value::Object(Rc::new(UfuncObject(ufunc)))
    }
}

fn known(name: &str) -> Result<&'static Ufunc> {
    ufunc::find(name).ok_or_else(|| Error::runtime(format!("there is no ufunc {name}")))
}

/// Returns as many of the values as the ufunc has inputs.
pub(crate) fn trimmed<'v>(name: &str, values: &'v [Value; 2]) -> &'v [Value] {
    let inputs = ufunc::find(name).map_or(2, |ufunc| ufunc.nin);
    values.get(..inputs.min(2)).unwrap_or(values)
}

fn operands(ufunc: &Ufunc, values: &[Value]) -> Result<Vec<Operand>> {
    let read = |(at, value): (usize, &Value)| match operand(value) {
        Ok(Some(operand)) => Ok(operand),
        Err(error) if error.kind != tensor::ErrorKind::NotImplementedError => Err(error),
        // The other of two operands says what an operator would.
        _ => match values.get(1 - at.min(1)).filter(|_| values.len() == 2) {
            Some(other) if operand(other).is_ok_and(|other| other.is_some()) => {
                Err(crate::operate::unlike_operands(other, ufunc.name, at == 0, value))
            }
            _ => Err(unsupported(ufunc, value)),
        },
    };
    values.iter().enumerate().map(read).collect()
}

/// The error for an operand that is neither a number nor an array.
fn unsupported(ufunc: &Ufunc, value: &Value) -> Error {
    match crate::operate::text_dtype(value) {
        Some(text) => text_error(ufunc.name, &text),
        None => Error::type_error(format!(
            "loop of ufunc does not support argument 0 of type {} which has no callable {} method",
            value.type_name(),
            ufunc.name
        )),
    }
}

/// The error for text among the operands, whose dtypes are given as NumPy shows them.
pub(crate) fn text_error(ufunc: &str, dtypes: &str) -> Error {
    // Those with loops for objects or text say which dtypes they were given.
    let names_dtypes = matches!(
        ufunc,
        "add"
            | "subtract"
            | "multiply"
            | "maximum"
            | "minimum"
            | "fmax"
            | "fmin"
            | "matmul"
            | "less"
            | "less_equal"
            | "greater"
            | "greater_equal"
    );
    match names_dtypes {
        true => Error::new(
            tensor::ErrorKind::Other("UFuncTypeError"),
            format!("ufunc '{ufunc}' did not contain a loop with signature matching types ({dtypes}) -> None"),
        ),
        false => Error::type_error(format!(
            "ufunc '{ufunc}' not supported for the input types, and the inputs could not be safely coerced to any supported \
             types according to the casting rule ''safe''"
        )),
    }
}

/// Calls a ufunc on values, and returns its results as arrays.
pub(crate) fn arrays(name: &str, values: &[Value]) -> Result<Vec<Array>> {
    let ufunc = known(name)?;
    let outputs = ufunc::call(ufunc, &operands(ufunc, values)?, &Options::default())?;
    settings::report(ufunc.name, outputs.flags, false)?;
    Ok(outputs.arrays.into_iter().collect())
}

/// Calls a ufunc on values. With `out`, the result is written to that array, which is returned.
pub(crate) fn apply(name: &str, values: &[Value], out: Option<&Value>) -> Result<Value> {
    run(known(name)?, values, &out.into_iter().cloned().collect::<Vec<_>>(), Options::default(), true)
}

/// Runs a ufunc. The faults of an operator between scalars are reported in words of their own.
fn run(ufunc: &'static Ufunc, values: &[Value], outs: &[Value], options: Options, is_operator: bool) -> Result<Value> {
    let inputs = operands(ufunc, values)?;
    let targets = outs.iter().map(output).collect::<Result<Vec<Option<Array>>>>()?;
    let options = Options { out: &targets, ..options };
    let outputs = ufunc::call(ufunc, &inputs, &options)?;
    let is_scalar = is_operator
        && values.iter().all(|value| Number::in_value(value).is_some() || value::equality::number(value).is_some());
    settings::report("cast", outputs.cast_flags, false)?;
    let wrapped = if is_scalar && wraps(ufunc, values, &outputs.arrays)? { FpFlags::OVERFLOW } else { FpFlags::NONE };
    settings::report(ufunc.name, outputs.flags | wrapped, is_scalar)?;
    let wraps = values.iter().any(|value| matches!(value, Value::Tensor(_)));
    let mut results = Vec::new();
    for (i, array) in outputs.arrays.into_iter().enumerate() {
        results.push(match outs.get(i) {
            Some(out @ Value::Object(_)) => out.clone(),
            _ if wraps => bridge::wrapped(&array)?,
            _ => convert::result(array)?,
        });
    }
    Ok(if results.len() == 1 { results.remove(0) } else { Value::tuple(results) })
}

/// Returns whether an operator between integer scalars has a result that its dtype cannot hold.
fn wraps(ufunc: &Ufunc, values: &[Value], results: &[Array]) -> Result<bool> {
    let [result] = results else { return Ok(false) };
    if !result.descr.is_integral() {
        return Ok(false);
    }
    let wide = |value: &Value| match Number::in_value(value).map(|number| number.value) {
        Some(Scalar::UInt(u)) => Some(i128::from(u)),
        Some(Scalar::Int(i)) => Some(i128::from(i)),
        Some(_) => None,
        None => match value {
            Value::Int(i) => Some(i128::from(*i)),
            _ => None,
        },
    };
    let numbers: Option<Vec<i128>> = values.iter().map(wide).collect();
    let exact = match (ufunc.op, numbers.as_deref()) {
        (Op::Add, Some(&[a, b])) => a + b,
        (Op::Subtract, Some(&[a, b])) => a - b,
        // Two unsigned numbers may even exceed the wide ones.
        (Op::Multiply, Some(&[a, b])) => a.saturating_mul(b),
        (Op::FloorDivide, Some(&[a, -1])) => -a,
        (Op::Negative, Some(&[a])) => -a,
        (Op::Absolute, Some(&[a])) => a.abs(),
        _ => return Ok(false),
    };
    let (low, high) = tensor::element::integer_limits(result.descr.dtype);
    Ok(!(low..=high).contains(&exact))
}

/// Returns the array that an `out` argument names.
pub(crate) fn output(value: &Value) -> Result<Option<Array>> {
    match value {
        Value::None => Ok(None),
        _ => match NdArray::of(value) {
            Some(array) => {
                array.check_writeable("output array")?;
                Ok(Some(array.array()))
            }
            None => bail!(TypeError, "return arrays must be of ArrayType"),
        },
    }
}

/// Reads the `where` argument of a ufunc: an array of bools.
pub(crate) fn mask(value: &Value) -> Result<Option<Array>> {
    match value {
        Value::Bool(true) => Ok(None),
        other => {
            let mask = match convert::held(other)? {
                Some(mask) => mask,
                // A list is converted.
                None => convert::array(other, Some(Descr::BOOL))?,
            };
            if mask.descr != Descr::BOOL {
                bail!(
                    TypeError,
                    "Cannot cast array data from dtype({}) to dtype('bool') according to the rule 'safe'",
                    mask.descr.inner_repr()
                );
            }
            Ok(Some(mask))
        }
    }
}

/// Calls a ufunc with the arguments of a script.
pub(crate) fn call(ufunc: &'static Ufunc, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let (name, nin, nout) = (ufunc.name, ufunc.nin, ufunc.nout);
    let given = args.len();
    if given < nin || given > nin + nout {
        bail!(
            TypeError,
            "{name}() takes from {nin} to {} positional arguments but {given} {} given",
            nin + nout,
            if given == 1 { "was" } else { "were" }
        );
    }
    let mut outs: Vec<Value> = args.get(nin..).unwrap_or_default().to_vec();
    let mut options = Options::default();
    let mut signature = None;
    for (keyword, value) in &keywords {
        match &**keyword {
            "out" => {
                if !outs.is_empty() {
                    bail!(TypeError, "cannot specify 'out' as both a positional and keyword argument");
                }
                outs = match value {
                    Value::Tuple(outs) if outs.len() == nout => outs.to_vec(),
                    Value::Tuple(_) => {
                        bail!(ValueError, "The 'out' tuple must have exactly one entry per ufunc output")
                    }
                    Value::None => Vec::new(),
                    one if nout == 1 => vec![one.clone()],
                    _ => bail!(TypeError, "'out' must be a tuple of arrays"),
                };
            }
            "where" => options.where_ = mask(value)?,
            "dtype" => options.dtype = convert::dtype_argument(value)?,
            "casting" => match value {
                Value::Str(text) => options.casting = Casting::parse(text, false)?,
                _ => bail!(TypeError, "casting must be a string"),
            },
            "order" => options.order = order(value)?,
            "subok" => {}
            "signature" | "sig" => signature = Some(value.clone()),
            "axis" | "axes" | "keepdims" if ufunc.signature.is_some() => {
                bail!(NotImplementedError, "the argument '{keyword}' of {name}() is not supported here")
            }
            other => bail!(TypeError, "{name}() got an unexpected keyword argument '{other}'"),
        }
    }
    if let Some(signature) = signature {
        if options.dtype.is_some() {
            bail!(TypeError, "cannot specify both 'signature' and 'dtype'");
        }
        options.signature = Some(loop_types(ufunc, &signature)?);
    }
    run(ufunc, args.get(..nin).unwrap_or_default(), &outs, options, false)
}

/// Reads the dtypes of a loop from text such as `'dd->d'`, or from a tuple of dtypes.
fn loop_types(ufunc: &Ufunc, signature: &Value) -> Result<Vec<Option<Descr>>> {
    let count = ufunc.nin + ufunc.nout;
    let types: Vec<Option<Descr>> = match signature {
        Value::Str(text) => text
            .replace("->", "")
            .chars()
            .map(|code| Descr::parse(&code.to_string()).map(Some))
            .collect::<Result<_>>()?,
        Value::Tuple(items) => items.iter().map(convert::dtype_argument).collect::<Result<_>>()?,
        other => vec![convert::dtype_argument(other)?],
    };
    match types.len() {
        1 => Ok((0..count).map(|i| types.first().copied().flatten().filter(|_| i >= ufunc.nin)).collect()),
        n if n == count => Ok(types),
        _ => bail!(ValueError, "a type-tuple must be specified of length 1 or {count} for ufunc '{}'", ufunc.name),
    }
}

/// Reads an `order` argument.
///
/// # Errors
/// ValueError in NumPy's words.
pub(crate) fn order(value: &Value) -> Result<Order> {
    let text = match value {
        Value::None => return Ok(Order::Keep),
        Value::Str(text) => text,
        other => bail!(TypeError, "order must be str, not {}", other.type_name()),
    };
    match &**text {
        "C" | "c" => Ok(Order::C),
        "F" | "f" => Ok(Order::F),
        "A" | "a" => Ok(Order::Any),
        "K" | "k" => Ok(Order::Keep),
        other => bail!(ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '{other}')"),
    }
}

/// The arguments of a method of ufuncs, by name.
struct Arguments {
    values: Vec<Option<Value>>,
}

impl Arguments {
    /// Binds arguments to names; `required` of them must be given.
    fn bind(method: &str, names: &[&str], required: usize, args: Vec<Value>, keywords: Keywords) -> Result<Arguments> {
        if args.len() > names.len() {
            bail!(
                TypeError,
                "{method}() takes from {required} to {} positional arguments but {} were given",
                names.len(),
                args.len()
            );
        }
        let mut values: Vec<Option<Value>> = args.into_iter().map(Some).collect();
        values.resize(names.len(), None);
        for (keyword, value) in keywords {
            match names.iter().position(|name| **name == *keyword) {
                Some(i) if values[i].is_none() => values[i] = Some(value),
                Some(_) => bail!(TypeError, "argument for {method}() given by name ('{keyword}') and position"),
                None => bail!(TypeError, "{method}() got an unexpected keyword argument '{keyword}'"),
            }
        }
        for (i, name) in names.iter().enumerate().take(required) {
            if values[i].is_none() {
                bail!(TypeError, "{method}() missing required argument '{name}' (pos {i})");
            }
        }
        Ok(Arguments { values })
    }

    fn get(&self, at: usize) -> Value {
        self.values.get(at).cloned().flatten().unwrap_or(Value::None)
    }

    fn is_given(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(Option::is_some)
    }
}

/// What a reduction is asked for besides the array.
pub(crate) struct Reduction {
    pub axis: Option<Value>,
    pub dtype: Value,
    pub out: Value,
    pub keepdims: bool,
    pub initial: Option<Value>,
    pub mask: Value,
}

impl Default for Reduction {
    fn default() -> Reduction {
        Reduction {
            axis: Some(Value::None),
            dtype: Value::None,
            out: Value::None,
            keepdims: false,
            initial: None,
            mask: Value::Bool(true),
        }
    }
}

impl Reduction {
    /// Returns whether nothing but the reduction of all elements is asked for.
    fn is_of_all(&self, ndim: usize) -> bool {
        let is_all = match self.axis {
            Some(Value::None) => true,
            Some(Value::Int(0)) | None => ndim == 1,
            _ => false,
        };
        let is_plain = matches!((&self.dtype, &self.out, &self.mask), (Value::None, Value::None, Value::Bool(true)));
        is_all && is_plain && !self.keepdims && self.initial.is_none()
    }
}

/// `ufunc.reduce(…)`, also for the methods and functions that are named after it.
pub(crate) fn reduce(name: &str, value: &Value, asked: &Reduction) -> Result<Value> {
    let ufunc = known(name)?;
    let array = convert::array(value, None)?;
    if asked.is_of_all(array.ndim())
        && let Some(folded) = ufunc::reduce_few(ufunc, &array)
    {
        return Ok(Number { value: folded, descr: array.descr.to_native() }.value());
    }
    let axes = match &asked.axis {
        Some(axis) => reduced_axes(axis, array.ndim())?,
        None => reduced_axes(&Value::Int(0), array.ndim())?,
    };
    let out = match &asked.out {
        Value::Tuple(outs) if outs.len() == 1 => outs[0].clone(),
        other => other.clone(),
    };
    let target = output(&out)?;
    let initial = match &asked.initial {
        None => Initial::Identity,
        Some(Value::None) => Initial::First,
        Some(initial) => match operand(initial)? {
            Some(operand) => Initial::Value(operand),
            None => return Err(unsupported(ufunc, initial)),
        },
    };
    let options = ufunc::Reduction {
        dtype: convert::dtype_argument(&asked.dtype)?,
        out: target,
        keepdims: asked.keepdims,
        initial,
        where_: mask(&asked.mask)?,
    };
    let (reduced, flags) = ufunc::reduce(ufunc, &array, axes.as_deref(), &options)?;
    settings::report("reduce", flags, false)?;
    match out {
        Value::None => convert::result(reduced),
        out => Ok(out),
    }
}

/// Returns the axes of a reduction. An array without dimensions accepts 0 and -1.
fn reduced_axes(axis: &Value, ndim: usize) -> Result<Option<Vec<usize>>> {
    if ndim == 0 && matches!(axis, Value::Int(0 | -1)) {
        return Ok(Some(Vec::new()));
    }
    convert::axes(axis, ndim)
}

fn method(ufunc: &'static Ufunc, name: &str, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    if ufunc.signature.is_some() {
        bail!(RuntimeError, "Reduction not defined on ufunc with signature");
    }
    let check_binary = |name: &str| match (ufunc.nin, ufunc.nout) {
        (2, 1) => Ok(()),
        (2, _) => Err(Error::value(format!("{name} only supported for functions returning a single value"))),
        _ => Err(Error::value(format!("{name} only supported for binary functions"))),
    };
    match name {
        "reduce" => {
            check_binary(name)?;
            let names = ["array", "axis", "dtype", "out", "keepdims", "initial", "where"];
            let bound = Arguments::bind(name, &names, 1, args, keywords)?;
            let asked = Reduction {
                axis: Some(bound.get(1)).filter(|_| bound.is_given(1)),
                dtype: bound.get(2),
                out: bound.get(3),
                keepdims: value::equality::truth(&bound.get(4))?,
                initial: Some(bound.get(5)).filter(|_| bound.is_given(5)),
                mask: if bound.is_given(6) { bound.get(6) } else { Value::Bool(true) },
            };
            reduce(ufunc.name, &bound.get(0), &asked)
        }
        "accumulate" => {
            check_binary(name)?;
            let bound = Arguments::bind(name, &["array", "axis", "dtype", "out"], 1, args, keywords)?;
            let axis = if bound.is_given(1) { bound.get(1) } else { Value::Int(0) };
            accumulate(ufunc.name, &bound.get(0), &axis, &bound.get(2), &bound.get(3))
        }
        "reduceat" => {
            check_binary(name)?;
            let bound = Arguments::bind(name, &["array", "indices", "axis", "dtype", "out"], 2, args, keywords)?;
            let array = convert::array(&bound.get(0), None)?;
            let indices = convert::array(&bound.get(1), None)?.scalars()?;
            let indices: Vec<i64> = indices.iter().map(|index| index.to_i64()).collect();
            let axis = if bound.is_given(2) { bound.get(2) } else { Value::Int(0) };
            let axis = convert::axes(&axis, array.ndim())?.and_then(|axes| axes.first().copied()).unwrap_or(0);
            let out = bound.get(4);
            let (reduced, flags) =
                ufunc::reduceat(ufunc, &array, &indices, axis, convert::dtype_argument(&bound.get(3))?, output(&out)?)?;
            settings::report("reduceat", flags, false)?;
            if let Value::None = out { convert::result(reduced) } else { Ok(out) }
        }
        "outer" => {
            if ufunc.nin != 2 {
                bail!(ValueError, "outer product only supported for binary functions");
            }
            let [a, b] = args.get(..2).and_then(|two| <&[Value; 2]>::try_from(two).ok()).cloned().ok_or_else(|| {
                Error::type_error(format!("outer() takes exactly 2 arguments ({} given)", args.len()))
            })?;
            let (first, second) = (convert::array(&a, None)?, convert::array(&b, None)?);
            let mut places = first.places.clone();
            places.shape.extend(std::iter::repeat_n(1, second.ndim()));
            places.strides.extend(std::iter::repeat_n(0, second.ndim()));
            // Here a number of a script has the dtype that an array of it has.
            call(ufunc, vec![NdArray::value(first.at(places)), NdArray::value(second)], keywords)
        }
        _ => at(ufunc, args),
    }
}

/// `ufunc.accumulate(…)`.
pub(crate) fn accumulate(name: &str, value: &Value, axis: &Value, dtype: &Value, out: &Value) -> Result<Value> {
    let ufunc = known(name)?;
    let array = convert::array(value, None)?;
    if array.ndim() == 0 {
        bail!(TypeError, "cannot accumulate on a scalar");
    }
    let axis = convert::axes(axis, array.ndim())?.and_then(|axes| axes.first().copied()).unwrap_or(0);
    let (result, flags) = ufunc::accumulate(ufunc, &array, axis, convert::dtype_argument(dtype)?, output(out)?)?;
    settings::report("accumulate", flags, false)?;
    if let Value::None = out { convert::result(result) } else { Ok(out.clone()) }
}

/// `ufunc.at(a, indices, b)`: applies the function to elements in place, also to those that occur several times.
fn at(ufunc: &'static Ufunc, args: Vec<Value>) -> Result<Value> {
    if ufunc.nout != 1 {
        bail!(ValueError, "Only single output ufuncs supported at this time");
    }
    let expected = 1 + ufunc.nin;
    if args.len() != expected && !(args.len() == 2 && ufunc.nin == 1) {
        match ufunc.nin {
            2 if args.len() == 2 => bail!(ValueError, "second operand needed for ufunc"),
            _ => bail!(TypeError, "at() takes from 2 to 3 positional arguments but {} were given", args.len()),
        }
    }
    let this = args.first().and_then(NdArray::of);
    let this = this.ok_or_else(|| Error::type_error("first operand must be array"))?;
    this.check_writeable("operand array with iterator write flag set")?;
    let array = this.array();
    let (shape, offsets) = index::places(&array, args.get(1).unwrap_or(&Value::None))?;
    let values = match args.get(2) {
        None => None,
        Some(value) => {
            let values = convert::array(value, None)?;
            let fits = crate::strided::broadcast([values.shape(), &shape[..]].into_iter()).is_some_and(|s| s == shape);
            if !fits {
                bail!(ValueError, "array is not broadcastable to correct shape");
            }
            Some(values.at(values.places.broadcast_to(&shape)))
        }
    };
    let flags = ufunc::at(ufunc, &array, &offsets, values.as_ref())?;
    settings::report(ufunc.name, flags, false)?;
    Ok(Value::None)
}

impl Object for UfuncObject {
    fn class_name(&self) -> &'static str {
        "numpy.ufunc"
    }
    fn type_name(&self) -> &str {
        "numpy.ufunc"
    }
    fn repr(&self) -> String {
        format!("<ufunc '{}'>", self.0.name)
    }
    fn identity(&self) -> Option<usize> {
        Some(std::ptr::from_ref(self.0) as usize)
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(call(self.0, args, keywords))
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let ufunc = self.0;
        Some(match name {
            "__name__" | "__qualname__" => Value::str(ufunc.name),
            "__module__" => Value::str("numpy"),
            "nin" => Value::Int(ufunc.nin as i64),
            "nout" => Value::Int(ufunc.nout as i64),
            "nargs" => Value::Int((ufunc.nin + ufunc.nout) as i64),
            "ntypes" => Value::Int(ufunc.types().len() as i64),
            "types" => Value::list(ufunc.types().into_iter().map(Value::str)),
            "identity" => identity_value(ufunc),
            "__doc__" => {
                let page = "https://numpy.org/doc/2.4/reference/generated/numpy.";
                Value::str(format!("The universal function {0}; see {page}{0}.html.", ufunc.name))
            }
            "signature" => ufunc.signature.map_or(Value::None, Value::str),
            "reduce" | "accumulate" | "reduceat" | "outer" | "at" => {
                let method_name = intern(name);
                NativeFunction::value(name, move |args, keywords| method(ufunc, method_name, args, keywords))
            }
            _ => return None,
        })
    }
}

/// Returns what `ufunc.identity` shows.
fn identity_value(ufunc: &Ufunc) -> Value {
    match ufunc.identity {
        ufunc::Identity::None => Value::None,
        ufunc::Identity::Number(number) => Value::Int(number),
        ufunc::Identity::Bool(truth) => Value::Bool(truth),
        ufunc::Identity::NegativeInfinity => Value::Float(f64::NEG_INFINITY),
    }
}
