//! `torch.testing.assert_close`: compares values of any kind as PyTorch does. Follows
//! <https://pytorch.org/docs/2.7/testing.html>.

use crate::steps::Steps;
use call::state::State;
use call::{Call, Row, function};
use objects::calling::call_plain;
use objects::iterate;
use objects::modules::scheme;
use objects::operators::{self, call_on};
use objects::plain::sorting::sorted_items;
use tensor::bail;
use tensor::ops::compare::{Tolerance, isclose};
use tensor::ops::promote::result_type;
use tensor::ops::quantize::dequantize;
use tensor::ops::{copy, reduce, sparse};
use tensor::{
    Compressed, Coo, DType, Error, ErrorKind, Form, Quantizer, Result, Scalar, Tensor, TensorLayout, View, interrupt,
};
use value::equality::{equals, truth};
use value::{Dict, Value};

pub(super) const ROWS: &[Row] = &[function(
    "testing.assert_close(any actual, any expected, *, any allow_subclasses=True, any rtol=None, any \
 atol=None, any equal_nan=False, any check_device=True, any check_dtype=True, any check_layout=True, \
 any check_stride=False, any msg=None) -> None",
    assert_close,
    "Raises an AssertionError unless two values are close to each other.",
)
.any_layout()
.python("assert_close")];

/// The maximum depth of containers to compare, the same as for `==`.
const MAX_DEPTH: usize = 200;

/// The word for tensors in messages.
const TENSORS: &str = "Tensor-likes";

const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0, equal_nan: false };

/// The options of a comparison.
struct Options {
    subclasses: bool,
    rtol: Option<f64>,
    atol: Option<f64>,
    equal_nan: bool,
    device: bool,
    dtype: bool,
    layout: bool,
    stride: bool,
}

/// Two values to compare, and their path within the arguments, such as `[0]['a']`.
struct Pair {
    path: String,
    values: Values,
}

enum Values {
    Nones(Value, Value),
    Booleans(bool, bool),
    Numbers(Value, Value, Tolerance),
    Tensors(View, View, Tolerance),
}

impl Values {
    /// Returns PyTorch's class name for such a pair.
    fn name(&self) -> &'static str {
        match self {
            Values::Nones(..) => "NonePair",
            Values::Booleans(..) => "BooleanPair",
            Values::Numbers(..) => "NumberPair",
            Values::Tensors(..) => "TensorLikePair",
        }
    }
}

fn assert_close(call: &mut Call) -> Result<Value> {
    let flag = |index: usize| truth(&call.value(index));
    let number = |index: usize| call.value(index).as_scalar().map(Scalar::to_f64);
    let options = Options {
        subclasses: flag(2)?,
        rtol: number(3),
        atol: number(4),
        equal_nan: flag(5)?,
        device: flag(6)?,
        dtype: flag(7)?,
        layout: flag(8)?,
        stride: flag(9)?,
    };
    // Like PyTorch, pairs all values before comparing any.
    let mut originate = Originate { state: call.state, options: &options, path: Vec::new(), pairs: Vec::new() };
    originate.pair(&call.value(0), &call.value(1))?;
    let compare = Compare { state: call.state, options: &options };
    let mut first = None;
    for (i, Pair { path, values }) in originate.pairs.iter().enumerate() {
        interrupt::check_at(i)?;
        let mismatch = compare.values(values).map_err(|error| compare.unexpected(error, values.name(), path))?;
        first = first.or_else(|| mismatch.map(|message| placed(message, path)));
    }
    let Some(message) = first else { return Ok(Value::None) };
    let message = match call.value(10) {
        Value::None => message,
        Value::Str(message) => message.to_string(),
        // A function that receives the default message and returns another.
        function => call.state.str(&call_plain(call.state, &function, vec![Value::str(&message)])?)?,
    };
    Err(Error::new(ErrorKind::AssertionError, message))
}

/// Adds the path of the mismatch to a message.
fn placed(message: impl Into<String>, path: &str) -> String {
    let message = message.into();
    if path.is_empty() { message } else { format!("{message}\n\nThe failure occurred for item {path}") }
}

fn text(state: &State, value: &Value) -> String {
    state.str(value).unwrap_or_default()
}

fn class(state: &State, value: &Value) -> String {
    text(state, &Value::Type(value.class_name()))
}

/// Pairs the values to compare, container by container.
struct Originate<'s> {
    state: &'s State,
    options: &'s Options,
    /// The path to the current values: the keys of the containers around them, outermost first.
    path: Vec<String>,
    pairs: Vec<Pair>,
}

impl Originate<'_> {
    fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        Error::new(kind, placed(message, &self.path.concat()))
    }

    /// Pairs two values, or the items of two containers.
    ///
    /// # Errors
    /// TypeError for values that cannot be compared, AssertionError for containers of different lengths or keys.
    fn pair(&mut self, actual: &Value, expected: &Value) -> Result<()> {
        if let (Value::Dict(a), Value::Dict(b)) = (actual, expected) {
            return self.mappings(a, b);
        }
        if let (Some(a), Some(b)) = (sequence(self.state, actual)?, sequence(self.state, expected)?) {
            return self.sequences(&a, &b);
        }
        let values = self.single(actual, expected)?;
        self.pairs.push(Pair { path: self.path.concat(), values });
        Ok(())
    }

    fn inner(&mut self, key: &Value, actual: &Value, expected: &Value) -> Result<()> {
        if self.path.len() >= MAX_DEPTH {
            bail!(RecursionError, "maximum recursion depth exceeded in comparison");
        }
        self.path.push(format!("[{}]", self.state.repr(key)?));
        self.pair(actual, expected)?;
        self.path.pop();
        Ok(())
    }

    fn sequences(&mut self, actual: &[Value], expected: &[Value]) -> Result<()> {
        let (a, b) = (actual.len(), expected.len());
        if a != b {
            return Err(
                self.error(ErrorKind::AssertionError, format!("The length of the sequences mismatch: {a} != {b}"))
            );
        }
        for (i, (a, b)) in actual.iter().zip(expected).enumerate() {
            interrupt::check_at(i)?;
            self.inner(&Value::Int(i as i64), a, b)?;
        }
        Ok(())
    }

    fn mappings(&mut self, actual: &Dict, expected: &Dict) -> Result<()> {
        // Keys that cannot be sorted keep their order.
        let in_order = |keys: Vec<Value>| sorted_items(self.state, keys.clone(), &Value::None, false).unwrap_or(keys);
        let lacks = |of: &Dict, within: &Dict| -> Result<Vec<Value>> {
            let mut missing = Vec::new();
            for (i, (key, _)) in of.to_vec().into_iter().enumerate() {
                interrupt::check_at(i)?;
                if within.get(&key)?.is_none() {
                    missing.push(key);
                }
            }
            Ok(in_order(missing))
        };
        let (missing, additional) = (lacks(expected, actual)?, lacks(actual, expected)?);
        if !missing.is_empty() || !additional.is_empty() {
            let message = format!(
                "The keys of the mappings do not match:\nMissing keys in the actual mapping: {}\nAdditional keys in \
                 the actual mapping: {}",
                text(self.state, &Value::list(missing)),
                text(self.state, &Value::list(additional))
            );
            return Err(self.error(ErrorKind::AssertionError, message));
        }
        for key in in_order(actual.to_vec().into_iter().map(|(key, _)| key).collect()) {
            if let (Some(a), Some(b)) = (actual.get(&key)?, expected.get(&key)?) {
                self.inner(&key, &a, &b)?;
            }
        }
        Ok(())
    }

    fn single(&self, actual: &Value, expected: &Value) -> Result<Values> {
        let numbers = is_number(actual) && is_number(expected);
        Ok(match (actual, expected) {
            (Value::None, _) | (_, Value::None) => Values::Nones(actual.clone(), expected.clone()),
            (Value::Bool(a), Value::Bool(b)) => Values::Booleans(*a, *b),
            // PyTorch looks up the tolerance of `bool`, which is missing in its table.
            (Value::Bool(_), _) | (_, Value::Bool(_)) if numbers => {
                let shown = |value: &Value| format!("{}(): {}", value.type_name(), text(self.state, value));
                bail!(
                    RuntimeError,
                    "Originating a NumberPair() at item {} with\n\n{}\n\nand\n\n{}\n\nresulted in an unexpected exception.",
                    self.path.concat(),
                    shown(actual),
                    shown(expected)
                );
            }
            _ if numbers => {
                let tolerance = self.tolerance([actual, expected].map(|value| match value.as_scalar() {
                    Some(Scalar::Float(_)) => DType::Double,
                    Some(Scalar::Complex(_)) => DType::ComplexDouble,
                    _ => DType::Long,
                }))?;
                Values::Numbers(actual.clone(), expected.clone(), tolerance)
            }
            (Value::Tensor(a), Value::Tensor(b))
                if self.options.subclasses || actual.class_name() == expected.class_name() =>
            {
                let tolerance = self.tolerance([a.view().dtype, b.view().dtype])?;
                Values::Tensors(a.view(), b.view(), tolerance)
            }
            _ if let (Some(a), Some(b)) = (actual.elements(), expected.elements()) => {
                let tolerance = self.tolerance([a.dtype, b.dtype])?;
                Values::Tensors(a, b, tolerance)
            }
            _ => {
                let (a, b) = (class(self.state, actual), class(self.state, expected));
                let message = format!("No comparison pair was able to handle inputs of type {a} and {b}.");
                return Err(self.error(ErrorKind::TypeError, message));
            }
        })
    }

    /// Returns the given tolerance, or the looser of the two dtypes' defaults.
    fn tolerance(&self, dtypes: [DType; 2]) -> Result<Tolerance> {
        let usual = |dtype: DType| match dtype {
            DType::Half | DType::ComplexHalf => (1e-3, 1e-5),
            DType::BFloat16 => (1.6e-2, 1e-5),
            // Quantized values are compared as `float32`.
            _ if dtype.is_quantized() => (1.3e-6, 1e-5),
            DType::Float | DType::ComplexFloat => (1.3e-6, 1e-5),
            DType::Double | DType::ComplexDouble => (1e-7, 1e-7),
            _ => (0.0, 0.0),
        };
        let (rtol, atol) = match (self.options.rtol, self.options.atol) {
            (Some(rtol), Some(atol)) => (rtol, atol),
            (None, None) => {
                let [a, b] = dtypes.map(usual);
                (f64::max(a.0, b.0), f64::max(a.1, b.1))
            }
            (rtol, _) => {
                let missing = if rtol.is_none() { "rtol" } else { "atol" };
                let message =
                    format!("Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.");
                return Err(self.error(ErrorKind::ValueError, message));
            }
        };
        Ok(Tolerance { rtol, atol, equal_nan: self.options.equal_nan })
    }
}

/// Returns the items of a Python sequence, or `None` for other values and for strings.
fn sequence(state: &State, value: &Value) -> Result<Option<Vec<Value>>> {
    match value {
        Value::Set(_) => Ok(None),
        Value::Buffer(_) => iterate::items(state, value).map(Some),
        _ => Ok(value.sequence()),
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) | Value::Complex(_))
}

/// Compares the pairs. A mismatch is a message instead of an error, because PyTorch also goes on with the next pair.
struct Compare<'s> {
    state: &'s State,
    options: &'s Options,
}

impl Compare<'_> {
    fn text(&self, value: &Value) -> String {
        text(self.state, value)
    }

    /// Wraps an error that was raised while comparing.
    fn unexpected(&self, error: Error, pair: &str, path: &str) -> Error {
        match error.kind {
            ErrorKind::KeyboardInterrupt | ErrorKind::MemoryError => error,
            _ => {
                let message = error.message;
                Error::runtime(format!("Comparing\n\n{pair}({path})\n\nresulted in an unexpected exception: {message}"))
            }
        }
    }

    fn values(&self, values: &Values) -> Result<Option<String>> {
        match values {
            Values::Nones(Value::None, Value::None) => Ok(None),
            Values::Nones(a, b) => Ok(Some(format!("None mismatch: {} is not {}", self.text(a), self.text(b)))),
            Values::Booleans(a, b) => {
                let [a_text, b_text] = [*a, *b].map(|value| self.text(&Value::Bool(value)));
                Ok((a != b).then(|| format!("Booleans mismatch: {a_text} is not {b_text}")))
            }
            Values::Numbers(a, b, tolerance) => self.numbers(a, b, *tolerance),
            Values::Tensors(a, b, tolerance) => self.tensors(a, b, *tolerance),
        }
    }

    fn numbers(&self, actual: &Value, expected: &Value, tolerance: Tolerance) -> Result<Option<String>> {
        if self.options.dtype && actual.class_name() != expected.class_name() {
            let (a, b) = (class(self.state, actual), class(self.state, expected));
            return Ok(Some(format!("The (d)types do not match: {a} != {b}.")));
        }
        if equals(actual, expected)? || tolerance.equal_nan && is_nan(actual) && is_nan(expected) {
            return Ok(None);
        }
        let distance = self.distance(actual, expected)?;
        let room = self.operate("*", &Value::Float(tolerance.rtol), &self.magnitude(expected)?)?;
        let room = self.operate("+", &Value::Float(tolerance.atol), &room)?;
        let is_finite = !matches!(distance, Value::Float(distance) if !distance.is_finite());
        if is_finite && truth(&self.operate("<=", &distance, &room)?)? {
            return Ok(None);
        }
        self.scalar_mismatch(actual, expected, tolerance).map(Some)
    }

    fn operate(&self, symbol: &str, a: &Value, b: &Value) -> Result<Value> {
        match operators::find(symbol) {
            Some(operator) => operators::binary(self.state, operator, a, b),
            None => bail!(TypeError, "there is no operator {symbol}"),
        }
    }

    fn magnitude(&self, number: &Value) -> Result<Value> {
        Steps(self.state).torch("py.abs", std::slice::from_ref(number))
    }

    fn distance(&self, a: &Value, b: &Value) -> Result<Value> {
        self.magnitude(&self.operate("-", a, b)?)
    }

    fn scalar_mismatch(&self, actual: &Value, expected: &Value, tolerance: Tolerance) -> Result<String> {
        let distance = self.distance(actual, expected)?;
        let of = self.magnitude(expected)?;
        let relative = if truth(&of)? { self.operate("/", &distance, &of)? } else { Value::Float(f64::INFINITY) };
        Ok(format!(
            "Scalars are not {}!\n\nExpected {} but got {}.\nAbsolute difference: {}{}\nRelative difference: {}{}",
            adjective(tolerance),
            self.text(expected),
            self.text(actual),
            self.text(&distance),
            self.allowed(tolerance.atol, tolerance),
            self.text(&relative),
            self.allowed(tolerance.rtol, tolerance)
        ))
    }

    fn allowed(&self, limit: f64, tolerance: Tolerance) -> String {
        match (tolerance.rtol, tolerance.atol) {
            (0.0, 0.0) => String::new(),
            _ => format!(" (up to {} allowed)", self.text(&Value::Float(limit))),
        }
    }

    fn tensors(&self, a: &View, b: &View, tolerance: Tolerance) -> Result<Option<String>> {
        if let Some((name, x, y)) = self.attribute(a, b)? {
            let (x, y) = (self.text(&x), self.text(&y));
            return Ok(Some(format!("The values for attribute '{name}' do not match: {x} != {y}.")));
        }
        if a.device().is_meta() || b.device().is_meta() {
            return Ok(None);
        }
        match (a.form.as_deref(), b.form.as_deref()) {
            (Some(Form::Coo(x)), Some(Form::Coo(y))) => self.coo(x, y, tolerance),
            (Some(Form::Compressed(x)), Some(Form::Compressed(y))) if x.layout == y.layout => {
                self.compressed(x, y, tolerance)
            }
            (Some(Form::Quantized(_)), Some(Form::Quantized(_))) => {
                self.elements(&dequantize(a)?, &dequantize(b)?, "Quantized tensor-likes", tolerance)
            }
            _ => {
                let dense = |view: &View| if view.is_sparse() { sparse::to_dense(view) } else { Ok(view.clone()) };
                self.elements(&dense(a)?, &dense(b)?, TENSORS, tolerance)
            }
        }
    }

    /// Returns the first attribute in which two tensors differ, with both of its values.
    fn attribute(&self, a: &View, b: &View) -> Result<Option<(&'static str, Value, Value)>> {
        let Options { device, dtype, layout, stride, .. } = *self.options;
        let quantized = [a, b].map(|view| view.dtype.is_quantized());
        let schemes = [a, b].map(|view| view.quantizer().map(Quantizer::scheme));
        let layouts = [a, b].map(View::tensor_layout);
        let strided = layouts == [TensorLayout::Strided; 2];
        Ok(Some(if a.sizes() != b.sizes() {
            ("shape", Value::size(a.sizes()), Value::size(b.sizes()))
        } else if quantized[0] != quantized[1] {
            ("is_quantized", Value::Bool(quantized[0]), Value::Bool(quantized[1]))
        } else if let [Some(x), Some(y)] = schemes
            && x != y
        {
            ("qscheme()", scheme(x).unwrap_or(Value::None), scheme(y).unwrap_or(Value::None))
        } else if layout && layouts[0] != layouts[1] {
            ("layout", Value::Layout(layouts[0]), Value::Layout(layouts[1]))
        } else if stride && strided && a.layout.strides != b.layout.strides {
            ("stride()", Value::ints(&a.layout.strides), Value::ints(&b.layout.strides))
        } else if device && a.device() != b.device() {
            ("device", Value::Device(a.device()), Value::Device(b.device()))
        } else if dtype && a.dtype != b.dtype {
            ("dtype", Value::DType(a.dtype), Value::DType(b.dtype))
        } else {
            return Ok(None);
        }))
    }

    /// Compares COO tensors: coordinates must be equal, values close.
    fn coo(&self, a: &Coo, b: &Coo, tolerance: Tolerance) -> Result<Option<String>> {
        let [dims, counts] = [0, 1].map(|dim| [a, b].map(|coo| coo.indices.sizes().get(dim).copied()));
        if let Some(message) = differ("sparse dimensions in sparse COO tensors", dims)
            .or_else(|| differ("specified values in sparse COO tensors", counts))
        {
            return Ok(Some(message));
        }
        Ok(match self.elements(&a.indices, &b.indices, "Sparse COO indices", EXACT)? {
            Some(message) => Some(message),
            None => self.elements(&a.values, &b.values, "Sparse COO values", tolerance)?,
        })
    }

    /// Compares compressed tensors of one layout: indices must be equal, values close.
    fn compressed(&self, a: &Compressed, b: &Compressed, tolerance: Tolerance) -> Result<Option<String>> {
        let name = a.layout.name().trim_start_matches("sparse_").to_uppercase();
        let counts = [a, b].map(|parts| parts.plain.sizes().last().copied());
        if let Some(message) = differ(&format!("specified values in sparse {name} tensors"), counts) {
            return Ok(Some(message));
        }
        let (compressed, plain) = a.layout.index_names();
        for (x, y, part, tolerance) in [
            (&a.compressed, &b.compressed, compressed, EXACT),
            (&a.plain, &b.plain, plain, EXACT),
            (&a.values, &b.values, "values", tolerance),
        ] {
            if let Some(message) = self.elements(x, y, &format!("Sparse {name} {part}"), tolerance)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Compares dense tensors, which are called `name` in the message.
    fn elements(&self, a: &View, b: &View, name: &str, tolerance: Tolerance) -> Result<Option<String>> {
        let default = self.state.default_dtype.get();
        let common = match a.dtype == b.dtype {
            true => a.dtype,
            false => {
                let [a, b] = [a, b].map(signed);
                result_type(&[(&a?).into(), (&b?).into()], default)?
            }
        };
        let (a, b) = (copy::cast(a, common)?, copy::cast(b, common)?);
        let matches = isclose(&a, &b, tolerance, default)?;
        if reduce::all(&matches, None, false)?.item()?.truth() {
            return Ok(None);
        }
        Ok(Some(if a.ndim() == 0 && name == TENSORS {
            self.scalar_mismatch(&a.item()?.into(), &b.item()?.into(), tolerance)?
        } else {
            self.tensor_mismatch(a, b, matches, name, tolerance)?
        }))
    }

    /// Builds the message with the number of mismatched elements and the greatest differences. Follows PyTorch's steps.
    fn tensor_mismatch(&self, a: View, b: View, matches: View, name: &str, tolerance: Tolerance) -> Result<String> {
        let steps = Steps(self.state);
        let sizes = a.sizes().to_vec();
        let flat = |view: View| steps.on(&Tensor::new(view), "flatten", &[]);
        let whole = a.dtype.is_integral(true);
        let [a, b] = [a, b].map(|view| match whole {
            true => flat(copy::cast(&view, DType::Long)?),
            false => flat(view),
        });
        let (a, b, matches) = (a?, b?, flat(matches)?);
        let total = matches.view().numel();
        let failed = total - steps.sum(&matches, &[], false)?.view().item()?.to_i64();
        let percent = 100.0 * failed as f64 / total as f64;
        let mut message = format!(
            "{name} are not {}!\n\nMismatched elements: {failed} / {total} ({percent:.1}%)",
            adjective(tolerance)
        );
        let clear = |x: &Tensor| steps.on(x, "masked_fill", &[Value::Tensor(matches.clone()), Value::Int(0)]);
        let absolute = clear(&steps.on(&steps.pair("sub", &a, &b)?, "abs", &[])?)?;
        let relative = clear(&steps.pair("div", &absolute, &steps.on(&b, "abs", &[])?)?)?;
        for (kind, differences, limit) in
            [("absolute", absolute, tolerance.atol), ("relative", relative, tolerance.rtol)]
        {
            let greatest = call_on(self.state, "max", &Value::Tensor(differences), &[Value::Int(0)])?;
            let greatest = greatest.sequence().unwrap_or_default();
            let [Value::Tensor(value), Value::Tensor(at)] = greatest.as_slice() else {
                bail!(TypeError, "max() gave no values and indices");
            };
            let index = place(at.view().item()?.to_i64(), &sizes);
            message.push_str(&format!(
                "\nGreatest {kind} difference: {} at index {}{}",
                self.text(&value.view().item()?.into()),
                self.text(&Value::ints(&index)),
                self.allowed(limit, tolerance)
            ));
        }
        Ok(message)
    }
}

fn adjective(tolerance: Tolerance) -> &'static str {
    if (tolerance.rtol, tolerance.atol) == (0.0, 0.0) { "equal" } else { "close" }
}

fn is_nan(number: &Value) -> bool {
    let parts = number.as_scalar().map(Scalar::to_complex);
    parts.is_some_and(|number| number.re.is_nan() || number.im.is_nan())
}

/// Builds the message for two numbers of something that differ, or `None` if they are equal.
fn differ(what: &str, [a, b]: [Option<i64>; 2]) -> Option<String> {
    let [x, y] = [a, b].map(Option::unwrap_or_default);
    (a != b).then(|| format!("The number of {what} does not match: {x} != {y}"))
}

/// Converts `uint16`, `uint32` and `uint64` to `int64`, because PyTorch cannot promote them.
fn signed(view: &View) -> Result<View> {
    if view.dtype.is_bare_unsigned() { copy::cast(view, DType::Long) } else { Ok(view.clone()) }
}

/// Converts the row-major number of an element to its index.
fn place(mut number: i64, sizes: &[i64]) -> Vec<i64> {
    let mut index: Vec<i64> = Vec::new();
    for &size in sizes.iter().rev() {
        index.push(number % size.max(1));
        number /= size.max(1);
    }
    index.reverse();
    index
}
