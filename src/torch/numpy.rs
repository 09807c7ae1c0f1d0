//! The part of numpy's arrays that PyTorch's documentation uses: creating, printing, reading and writing arrays, and
//! sharing memory with tensors. Follows <https://pytorch.org/docs/2.7/generated/torch.from_numpy.html>.

use super::Steps;
use call::facets::NameInference::Nameless;
use call::state::State;
use call::{Call, Row, function, method};
use explain::format::arrays::{self, ArrayOptions, Style};
use objects::strings::byte_streams::ByteStream;
use objects::subscript;
use std::any::Any;
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::ops::copy;
use tensor::rehearsal::to_write;
use tensor::system::{Files, System};
use tensor::{Buffer, DType, Device, Error, Layout, Result, Scalar, Tensor, View};
use value::{Dict, Object, ObjectState, Value, nested_list};

pub(crate) const ROWS: &[Row] = &[
    function("numpy.array(any object, any dtype=None) -> any", made, "Creates an array of numbers.").python("array"),
    function("numpy.zeros(any shape, any dtype=None) -> any", |c| filled(c, 0), "Creates an array of zeros.")
        .python("zeros"),
    function("numpy.ones(any shape, any dtype=None) -> any", |c| filled(c, 1), "Creates an array of ones.")
        .python("ones"),
    function("numpy.float64(any x) -> any", |c| scalar(c, DType::Double), "Converts to a number in double precision."),
    function("numpy.float32(any x) -> any", |c| scalar(c, DType::Float), "Converts to a number in single precision."),
    function("numpy.int64(any x) -> any", |c| scalar(c, DType::Long), "Converts to an integer of eight bytes."),
    function("numpy.int32(any x) -> any", |c| scalar(c, DType::Int), "Converts to an integer of four bytes."),
    function("numpy.sin(any x) -> any", |c| real_function(c, "sin"), "Computes the sine of each element."),
    function("numpy.cos(any x) -> any", |c| real_function(c, "cos"), "Computes the cosine of each element."),
    function("numpy.tan(any x) -> any", |c| real_function(c, "tan"), "Computes the tangent of each element."),
    function("numpy.arcsin(any x) -> any", |c| real_function(c, "asin"), "Computes the inverse sine of each element."),
    function(
        "numpy.arccos(any x) -> any",
        |c| real_function(c, "acos"),
        "Computes the inverse cosine of each element.",
    ),
    function(
        "numpy.arctan(any x) -> any",
        |c| real_function(c, "atan"),
        "Computes the inverse tangent of each element.",
    ),
    function("numpy.exp(any x) -> any", |c| real_function(c, "exp"), "Computes the exponential of each element."),
    function("numpy.log(any x) -> any", |c| real_function(c, "log"), "Computes the natural logarithm of each element."),
    function("numpy.sqrt(any x) -> any", |c| real_function(c, "sqrt"), "Computes the square root of each element."),
    function("from_numpy(any array) -> Tensor", from_numpy, "Creates a tensor on the memory of an array.")
        .names(Nameless)
        .python("from_numpy"),
    method("numpy(Tensor self, *, bool force=False) -> any", numpy, "Creates an array on the memory of a tensor.")
        .names(Nameless)
        .not_differentiable(),
    method(
        "tofile(Object self, any file) -> None",
        |c| {
            let bytes = copy::row_major_bytes(&this(c, "tofile")?)?;
            if let Value::Object(file) = c.value(1)
                && let Some(stream) = file.as_any().downcast_ref::<ByteStream>()
            {
                return stream.write(&bytes).map(|()| Value::None);
            }
            System::replace_contents(&to_write(Path::new(c.str(1)?)), &bytes)
                .map_err(|error| Error::runtime(error.to_string()))?;
            Ok(Value::None)
        },
        "Writes the raw elements of an array to a file.",
    ),
    method(
        "tobytes(Object self) -> any",
        |c| Buffer::bytes(&copy::row_major_bytes(&this(c, "tobytes")?)?).map(Value::Buffer),
        "Returns the raw elements of an array as bytes, in row-major order.",
    ),
    method(
        "tolist(Object self) -> any",
        |c| nested_list(&this(c, "tolist")?),
        "Returns the elements of an array as nested lists.",
    ),
    method(
        "item(Object self) -> any",
        |c| this(c, "item")?.item().map(Value::from),
        "Returns the only element of an array.",
    ),
    method("copy(Object self) -> any", |c| Ok(NdArray::value(copy::clone(&this(c, "copy")?)?)), "Copies the array."),
];

/// An array: a view, like that of a tensor.
struct NdArray {
    view: View,
    /// Whether this is a scalar instead of a 0-dimensional array.
    number: bool,
}

impl NdArray {
    fn value(view: View) -> Value {
        Value::Object(Rc::new(NdArray { view, number: false }))
    }

    fn number(view: View) -> Value {
        Value::Object(Rc::new(NdArray { view, number: true }))
    }

    fn formatted(&self, style: Style) -> String {
        let dtype = self.view.dtype;
        let options = ArrayOptions::default();
        arrays::write(&self.view, dtype.name(), arrays::is_implied(dtype), style, &options).unwrap_or_default()
    }
}

impl Object for NdArray {
    fn elements(&self) -> Option<View> {
        Some(self.view.clone())
    }

    fn number(&self) -> Option<Scalar> {
        if self.number { self.view.item().ok() } else { None }
    }

    fn length(&self) -> Option<Result<Value>> {
        Some(match self.view.sizes().first() {
            Some(&length) => Ok(Value::Int(length)),
            None => Err(Error::type_error("len() of unsized object")),
        })
    }

    /// A part on the same memory, or a number of its own.
    fn item(&self, session: &dyn Any, index: &Value) -> Option<Result<Value>> {
        let whole = Value::Tensor(Tensor::new(self.view.clone()));
        Some(State::of(session).and_then(|state| subscript::item(state, &whole, index)).and_then(|item| match item {
            Value::Tensor(part) => element_or_part(part.view()),
            other => Ok(other),
        }))
    }

    fn set_item(&self, session: &dyn Any, index: &Value, value: &Value) -> Option<Result<()>> {
        let value = value.elements().map_or_else(|| value.clone(), Value::from);
        let whole = Tensor::new(self.view.clone());
        Some(State::of(session).and_then(|state| subscript::set_tensor_item(state, &whole, index, &value)))
    }

    fn iterator(&self) -> Option<Result<Value>> {
        Some(match self.view.sizes().first() {
            Some(_) => Ok(Value::Object(Rc::new(Rows { view: self.view.clone(), next: Cell::new(0) }))),
            None => Err(Error::type_error("iteration over a 0-d array")),
        })
    }

    fn object_state(&self) -> ObjectState {
        // An array is not a tensor, but its bytes belong to a storage.
        ObjectState { values: vec![Value::Storage(self.view.storage.clone())], ..ObjectState::default() }
    }
    fn type_name(&self) -> &str {
        self.class_name()
    }

    fn class_name(&self) -> &'static str {
        match self.view.dtype {
            _ if !self.number => "numpy.ndarray",
            DType::Double => "numpy.float64",
            DType::Float => "numpy.float32",
            DType::Half => "numpy.float16",
            DType::Long => "numpy.int64",
            DType::Int => "numpy.int32",
            DType::Bool => "numpy.bool",
            _ => "numpy.generic",
        }
    }

    fn repr(&self) -> String {
        self.formatted(if self.number { Style::Number } else { Style::Repr })
    }

    fn text(&self) -> String {
        self.formatted(Style::Str)
    }

    fn attribute(&self, name: &str) -> Option<Value> {
        let view = &self.view;
        let shape = || Value::ints(view.sizes());
        Some(match name {
            "shape" => shape(),
            "ndim" => Value::Int(view.ndim() as i64),
            "size" => Value::Int(view.numel()),
            "itemsize" => Value::Int(view.dtype.itemsize() as i64),
            "nbytes" => Value::Int(view.numel().saturating_mul(view.dtype.itemsize() as i64)),
            "strides" => {
                Value::tuple(view.layout.strides.iter().map(|stride| Value::Int(stride * view.dtype.itemsize() as i64)))
            }
            "dtype" => Value::Object(Rc::new(ArrayType(view.dtype))),
            "T" => {
                let dims: Vec<i64> = (0..view.ndim() as i64).rev().collect();
                NdArray::value(tensor::ops::view::permute(view, &dims).ok()?)
            }
            "__array_interface__" => {
                let address = Value::Int(view.data_ptr() as i64);
                Value::Dict(Dict::of_names([
                    ("data", Value::tuple([address, Value::Bool(false)])),
                    ("shape", shape()),
                    ("version", Value::Int(3)),
                ]))
            }
            _ => return None,
        })
    }
}

/// An element by itself is a number of its own; anything larger stays a part of the array.
fn element_or_part(part: View) -> Result<Value> {
    if part.ndim() == 0 { copy::clone(&part).map(NdArray::number) } else { Ok(NdArray::value(part)) }
}

/// An iterator over the rows of an array.
struct Rows {
    view: View,
    next: Cell<i64>,
}

impl Object for Rows {
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![Value::Storage(self.view.storage.clone())], ..ObjectState::default() }
    }
    fn class_name(&self) -> &'static str {
        "iterator"
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        let at = self.next.get();
        if self.view.sizes().first().is_none_or(|&length| at >= length) {
            return Some(Ok(None));
        }
        self.next.set(at + 1);
        Some(element_or_part(self.view.with_layout(self.view.layout.select(0, at))).map(Some))
    }
}

/// A dtype, shown as `dtype('int64')`.
struct ArrayType(DType);

impl Object for ArrayType {
    fn type_name(&self) -> &str {
        "numpy.dtype"
    }

    fn repr(&self) -> String {
        format!("dtype('{}')", self.0.name())
    }

    fn text(&self) -> String {
        self.0.name().to_owned()
    }
}

fn this(call: &Call, name: &str) -> Result<View> {
    call.value(0)
        .elements()
        .ok_or_else(|| Error::attribute(format!("'{}' object has no attribute '{name}'", call.value(0).type_name())))
}

/// Returns the requested dtype: numpy's, named by the function that creates its scalars, or Python's.
fn dtype(call: &Call) -> Result<Option<DType>> {
    Ok(match call.value(1) {
        Value::None => None,
        Value::DType(dtype) => Some(dtype),
        Value::Function(name) => match name.as_ref() {
            "numpy.float64" => Some(DType::Double),
            "numpy.float32" => Some(DType::Float),
            "numpy.int64" => Some(DType::Long),
            "numpy.int32" => Some(DType::Int),
            _ => bail!(TypeError, "Cannot interpret '{name}' as a data type"),
        },
        Value::Type("float") => Some(DType::Double),
        Value::Type("int") => Some(DType::Long),
        Value::Type("bool") => Some(DType::Bool),
        Value::Type("complex") => Some(DType::ComplexDouble),
        other => bail!(TypeError, "Cannot interpret '{}' as a data type", call.state.str(&other)?),
    })
}

fn made(call: &mut Call) -> Result<Value> {
    // Numbers with a fraction are double here, whatever PyTorch's default.
    objects::data::from_data(&call.value(0), dtype(call)?, DType::Double).map(NdArray::value)
}

fn scalar(call: &mut Call, dtype: DType) -> Result<Value> {
    objects::data::from_data(&call.value(0), Some(dtype), DType::Double).map(NdArray::number)
}

/// Applies a function to each element, converting integers to float64. A 0-dimensional result becomes a scalar.
fn real_function(call: &mut Call, name: &str) -> Result<Value> {
    let view = match call.value(0).elements() {
        Some(view) => view,
        None => objects::data::from_data(&call.value(0), None, DType::Double)?,
    };
    let view = if view.dtype.is_integral(true) { copy::cast(&view, DType::Double)? } else { view };
    let result = Steps::of(call).on(&Tensor::new(view), name, &[])?.view();
    Ok(if result.ndim() == 0 { NdArray::number(result) } else { NdArray::value(result) })
}

fn filled(call: &mut Call, value: i64) -> Result<Value> {
    let sizes: Vec<i64> = match call.value(0) {
        Value::Int(size) => vec![size],
        other => {
            let items = other.sequence().unwrap_or_default();
            items.iter().filter_map(|item| if let Value::Int(size) = item { Some(*size) } else { None }).collect()
        }
    };
    if sizes.iter().any(|&size| size < 0) {
        bail!(ValueError, "negative dimensions are not allowed");
    }
    let view = View::zeros(&sizes, dtype(call)?.unwrap_or(DType::Double), Device::CPU)?;
    if value != 0 {
        copy::fill(&view, Scalar::Int(value))?;
    }
    Ok(NdArray::value(view))
}

fn from_numpy(call: &mut Call) -> Result<Value> {
    match call.value(0).elements().filter(|_| call.value(0).type_name() == "numpy.ndarray") {
        // The storage begins where the array does, and belongs to the array.
        Some(view) => {
            let start = usize::try_from(view.layout.offset).unwrap_or_default().saturating_mul(view.dtype.itemsize());
            let layout = Layout { offset: 0, ..view.layout.clone() };
            let length = tensor::view::storage_bytes(&layout, view.dtype)?;
            let storage = view.storage.slice(start, start.saturating_add(length))?;
            Ok(View { storage, layout, ..view }.into())
        }
        None => bail!(TypeError, "expected np.ndarray (got {})", call.value(0).type_name()),
    }
}

/// The maximum number of dimensions of an array.
const MOST_DIMS: usize = 64;

fn numpy(call: &mut Call) -> Result<Value> {
    let (tensor, force) = (call.tensor(0)?, call.bool(1)?);
    let view = tensor.view();
    if tensor.requires_grad() && call.state.grad_enabled.get() && !force {
        bail!(RuntimeError, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    }
    if view.device().is_meta() {
        bail!(
            TypeError,
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory \
 first."
        );
    }
    if view.ndim() > MOST_DIMS {
        bail!(ValueError, "number of dimensions must be within [0, {MOST_DIMS}]");
    }
    if (view.conj || view.neg) && !force {
        let (bit, name) = if view.conj { ("conjugate", "conj") } else { ("negative", "neg") };
        bail!(
            RuntimeError,
            "Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() instead."
        );
    }
    if view.dtype == DType::BFloat16 || view.dtype.is_float8() || view.dtype == DType::ComplexHalf {
        bail!(TypeError, "Got unsupported ScalarType {}", view.dtype.scalar_type());
    }
    let view =
        if view.conj || view.neg { copy::clone(&copy::resolve_neg(&copy::resolve_conj(&view)?)?)? } else { view };
    view.storage.keep_size();
    Ok(NdArray::value(view))
}
