//! The members of `numpy` that are not rows of the table: constants, classes, ufuncs and the functions that are written
//! in Python.

use crate::array::Array;
use crate::call_ufunc::UfuncObject;
use crate::convert::{self, result};
use crate::descr::{Descr, Kind};
use crate::dtypes::{self, ABSTRACT, DTypeObject, descr_of};
use crate::ndarray::{NdArray, Number};
use crate::ufunc::{self};
use crate::{python, random, strided};
use call::State;
use call::registry::Outside;
use tensor::{Error, ErrorKind, Result, Scalar, bail};
use value::{Keywords, Value, intern};

/// What the table of functions asks for names that it lacks.
pub const OUTSIDE: Outside = Outside { member, construct, names };

/// The modules within `numpy`, by their paths.
const MODULES: [&str; 8] = [
    "numpy.linalg",
    "numpy.fft",
    "numpy.random",
    "numpy.testing",
    "numpy.exceptions",
    "numpy.lib",
    "numpy.lib.npyio",
    "numpy.lib.stride_tricks",
];

/// Classes that are reached by another name than their last one.
const CLASSES: &[(&str, &str, &str)] = &[
    ("numpy", "ndarray", "numpy.ndarray"),
    ("numpy", "memmap", "numpy.memmap"),
    ("numpy", "dtype", "numpy.dtype"),
    ("numpy", "ufunc", "numpy.ufunc"),
    ("numpy", "flatiter", "numpy.flatiter"),
    ("numpy.exceptions", "AxisError", "numpy.exceptions.AxisError"),
    ("numpy.exceptions", "ComplexWarning", "numpy.exceptions.ComplexWarning"),
    ("numpy.linalg", "LinAlgError", "numpy.linalg.LinAlgError"),
];

fn member(state: &State, module: &'static str, name: &str) -> Result<Option<Value>> {
    if module != "numpy" && !module.starts_with("numpy.") {
        return Ok(None);
    }
    if let Some(found) = constant(module, name)? {
        return Ok(Some(found));
    }
    if module == "numpy.random" {
        return Ok(random::member(name));
    }
    let path = format!("{module}.{name}");
    if let Some(inner) = MODULES.iter().find(|known| **known == path) {
        return Ok(Some(Value::Module(inner)));
    }
    match (module, name) {
        ("numpy.lib.stride_tricks", "as_strided") => Ok(Some(Value::Function("numpy.as_strided".into()))),
        ("numpy.lib.stride_tricks", "sliding_window_view" | "broadcast_to" | "broadcast_arrays") => {
            python::member(state, "numpy", name)
        }
        _ => python::member(state, module, name),
    }
}

fn constant(module: &str, name: &str) -> Result<Option<Value>> {
    if let Some((.., class)) = CLASSES.iter().find(|(known, own, _)| (*known, *own) == (module, name)) {
        return Ok(Some(Value::Type(class)));
    }
    if module != "numpy" {
        return Ok(None);
    }
    Ok(Some(match name {
        "pi" => Value::Float(std::f64::consts::PI),
        "e" => Value::Float(std::f64::consts::E),
        "euler_gamma" => Value::Float(0.577_215_664_901_532_9),
        "inf" => Value::Float(f64::INFINITY),
        "nan" => Value::Float(f64::NAN),
        "newaxis" => Value::None,
        "True_" | "False_" => Number { value: Scalar::Bool(name == "True_"), descr: Descr::BOOL }.value(),
        "little_endian" => Value::Bool(cfg!(target_endian = "little")),
        "__version__" => Value::str("2.4.6"),
        "__name__" => Value::str("numpy"),
        // The function `np.clip` is written in Python.
        "_clip" => return Ok(ufunc::find("clip").map(UfuncObject::value)),
        "clip" => return Ok(None),
        _ => {
            if let Some(ufunc) = ufunc::find(name) {
                return Ok(Some(UfuncObject::value(ufunc)));
            }
            if ABSTRACT.contains(&name) {
                return Ok(Some(Value::Type(intern(&format!("numpy.{name}")))));
            }
            return Ok(class_named(name).map(|descr| Value::Type(dtypes::class_of(descr))));
        }
    }))
}

/// Returns the dtype whose scalars' class has this name in `numpy`.
fn class_named(name: &str) -> Option<Descr> {
    // `np.int` and `np.float` were removed; Python's own names do not count.
    if matches!(name, "int" | "float" | "complex") || name.len() == 1 {
        return None;
    }
    Descr::parse(name)
        .ok()
        .filter(|descr| descr.is_native() && !name.chars().next().is_some_and(|c| "<>=|".contains(c)))
        .filter(|descr| !name.starts_with(descr.kind_code()) || name.len() > 3)
}

/// Creates an object of a class of NumPy.
fn construct(state: &State, class: &'static str, args: &[Value], keywords: &Keywords) -> Option<Result<Value>> {
    let name = class.strip_prefix("numpy.")?;
    if let Some(made) = random::construct(class, args, keywords) {
        return Some(made);
    }
    Some(match name {
        "dtype" => match (args, &keywords[..]) {
            ([value, ..], _) => descr_of(value).map(DTypeObject::value),
            ([], [(keyword, value), ..]) if &**keyword == "dtype" => descr_of(value).map(DTypeObject::value),
            _ => Err(Error::type_error("dtype() missing required argument 'dtype' (pos 1)")),
        },
        "ndarray" => new_array(args, keywords),
        "memmap" => new_memmap(state, args, keywords),
        _ => match dtypes::descr_of_class(class) {
            Some(descr) => scalar(state, descr, args),
            None if ABSTRACT.contains(&name) => Err(Error::type_error(format!("cannot create '{class}' instances"))),
            None => return None,
        },
    })
}

/// `np.memmap(filename, dtype, mode, offset, shape, order)`.
fn new_memmap(state: &State, args: &[Value], keywords: &Keywords) -> Result<Value> {
    let make = state.embedded_value(python::source("files")?, "_new_memmap")?;
    let make = make.ok_or_else(|| Error::runtime("np.memmap is not part of the program"))?;
    (state.registry.call)(state, &make, args.to_vec(), keywords.clone())
}

/// `np.ndarray(shape, dtype, buffer, offset, strides)`.
fn new_array(args: &[Value], keywords: &Keywords) -> Result<Value> {
    let names = ["shape", "dtype", "buffer", "offset", "strides", "order"];
    let get = |i: usize| {
        let named = keywords.iter().find(|(keyword, _)| &**keyword == names[i]).map(|(_, value)| value.clone());
        args.get(i).cloned().or(named).unwrap_or(Value::None)
    };
    if let Value::None = get(0) {
        bail!(TypeError, "ndarray() missing required argument 'shape' (pos 0)");
    }
    let shape = convert::shape(&get(0))?;
    let descr = convert::dtype_argument(&get(1))?.unwrap_or(Descr::DOUBLE);
    let count = strided::checked_count(&shape, descr.itemsize())?;
    let Value::None = get(2) else {
        let offset = if let Value::None = get(3) { 0 } else { crate::create::integer(&get(3))? };
        let strides = match get(4) {
            Value::None => {
                strided::dense_strides(&shape, descr.itemsize(), matches!(get(5), Value::Str(o) if &*o == "F"))
            }
            strides => convert::shape(&strides)?.into_iter().collect(),
        };
        let flat = crate::bridge::frombuffer(&get(2), Descr::native(tensor::DType::Char), -1, 0)?;
        let flat = NdArray::of(&flat).ok_or_else(|| Error::type_error("not a buffer"))?;
        let bytes = flat.array();
        let places = crate::Strided {
            shape: shape.iter().copied().collect(),
            strides,
            offset: bytes.places.offset.saturating_add(offset),
        };
        let fits = match places.span(descr.itemsize()) {
            Some((low, high)) => {
                low >= bytes.places.offset && high <= bytes.places.offset.saturating_add(bytes.count())
            }
            None => count == 0,
        };
        if !fits || !places.is_addressable(descr.itemsize()) {
            match get(4) {
                Value::None => bail!(TypeError, "buffer is too small for requested array"),
                _ => bail!(ValueError, "strides is incompatible with shape of requested array and size of buffer"),
            }
        }
        if places.strides.len() != places.shape.len() {
            bail!(ValueError, "strides, if given, must be the same length as shape");
        }
        let array = Array { storage: bytes.storage.clone(), descr, places };
        return Ok(NdArray::on(array, get(2), flat.is_writeable()));
    };
    Array::zeros(&shape, descr, false).map(NdArray::value)
}

/// `np.float64(value)`: a scalar, or an array for a sequence.
fn scalar(state: &State, descr: Descr, args: &[Value]) -> Result<Value> {
    let class = dtypes::class_of(descr);
    let value = match args {
        [] => return Number { value: Scalar::Int(0), descr }.array().and_then(result),
        [value] => value,
        [re, im] if descr.kind() == Kind::Complex => {
            let whole = state.call_given(&Value::Function("py.complex".into()), vec![re.clone(), im.clone()])?;
            return scalar(state, descr, &[whole]);
        }
        several => match descr.kind() {
            Kind::Floating if descr == Descr::DOUBLE => {
                bail!(TypeError, "float expected at most 1 argument, got {}", several.len())
            }
            _ => bail!(TypeError, "{class}() takes from 0 to 1 positional arguments but {} were given", several.len()),
        },
    };
    if let Value::None = value {
        return match descr.kind() {
            Kind::Floating => Number { value: Scalar::Float(f64::NAN), descr }.array().and_then(result),
            Kind::Complex => Number { value: tensor::view::complex(f64::NAN, 0.0), descr }.array().and_then(result),
            Kind::Bool => Number { value: Scalar::Bool(false), descr }.array().and_then(result),
            _ => Err(Error::type_error(
                "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'",
            )),
        };
    }
    let is_text = match value {
        Value::Str(_) => true,
        Value::Buffer(buffer) => matches!(buffer.kind(), tensor::BufferKind::Bytes) && descr.kind() != Kind::Complex,
        _ => false,
    };
    if let (true, kind) = (is_text, descr.kind()) {
        let function = match kind {
            Kind::Bool => "py.bool",
            Kind::Unsigned | Kind::Signed => "py.int",
            Kind::Floating => "py.float",
            Kind::Complex => "py.complex",
        };
        let read = state.call_given(&Value::Function(function.into()), vec![value.clone()])?;
        return scalar(state, descr, &[read]);
    }
    if let Some(array) = convert::held(value)? {
        return result(array.copied(descr, crate::Order::C)?);
    }
    if value::equality::number(value).is_some() {
        let packed = convert::pack(value, descr)?;
        return Array::scalar(packed, descr).and_then(result);
    }
    let array = convert::array(value, Some(descr)).map_err(|error| match error.kind {
        ErrorKind::NotImplementedError if descr.kind() == Kind::Floating => Error::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            value.type_name()
        )),
        _ => error,
    })?;
    result(array)
}

fn names(module: &'static str) -> Vec<&'static str> {
    let mut names = if module == "numpy.random" { random::names() } else { python::names(module) };
    if module == "numpy" {
        names.extend(ufunc::TABLE.iter().map(|ufunc| ufunc.name));
        names.extend(Descr::all().map(Descr::name));
        names.extend(ABSTRACT);
        names.extend(["ndarray", "memmap", "dtype", "pi", "e", "inf", "nan", "newaxis"]);
        names.extend(MODULES.iter().filter_map(|path| path.strip_prefix("numpy.")).filter(|name| !name.contains('.')));
    }
    names.sort_unstable();
    names.dedup();
    names
}
