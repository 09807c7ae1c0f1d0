//! Classes as values: subclassing, `isinstance` and `issubclass`.

use crate::legacy_classes::{is_instance, legacy_dtype, legacy_tensor_class};
use crate::plain::{exceptions, type_forms};
use call::{Call, Row, function};
use tensor::{Result, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "py.isinstance(any object, any classes) -> bool",
        isinstance,
        "Returns whether a value is an instance of a class.",
    ),
    function(
        "py.issubclass(any cls, any classes) -> bool",
        issubclass,
        "Returns whether a class is another one or derived from it.",
    ),
];

/// Returns the full name of a value's class. The class of a class is its metaclass.
pub(crate) fn class_name(value: &Value) -> &'static str {
    match value {
        Value::Type("torch.storage.UntypedStorage") => "torch._C._StorageMeta",
        Value::Type("torch.Tensor") => "torch._C._TensorMeta",
        Value::Type(name) if legacy_dtype(name).is_some() => "torch.storage._LegacyStorageMeta",
        Value::Type(name) if is_legacy_tensor(name) => "torch.tensortype",
        other => other.class_name(),
    }
}

fn is_legacy_tensor(class: &str) -> bool {
    let short = class.strip_prefix("torch.").map(|short| short.strip_prefix("sparse.").unwrap_or(short));
    short.is_some_and(|short| legacy_tensor_class(short).is_some())
}

/// Returns the base class of a class; `None` for `object`.
pub fn parent_of_class(class: &str) -> Option<&'static str> {
    if let Some(parent) = exceptions::parent(class) {
        return Some(parent);
    }
    Some(match class {
        "object" => return None,
        "bool" => "int",
        "torch.Size" => "tuple",
        "torch.Tensor" => "torch._C.TensorBase",
        "torch._subclasses.fake_tensor.FakeTensor" | "torch.nn.parameter.Parameter" => "torch.Tensor",
        "torch.storage._LegacyStorage" => "torch.storage.TypedStorage",
        "torch._C._StorageMeta" | "torch._C._TensorMeta" | "torch.storage._LegacyStorageMeta" | "torch.tensortype" => {
            "type"
        }
        storage if legacy_dtype(storage).is_some() => "torch.storage._LegacyStorage",
        storage if storage.starts_with("torch.cuda.") && storage.ends_with("Storage") => "torch.storage._LegacyStorage",
        "collections.OrderedDict" => "dict",
        scalar if let Some(name) = scalar.strip_prefix("numpy.") => numpy_parent(name),
        _ => "object",
    })
}

/// Returns the class above one of NumPy's scalars.
fn numpy_parent(name: &str) -> &'static str {
    match name {
        "int8" | "int16" | "int32" | "int64" => "numpy.signedinteger",
        "uint8" | "uint16" | "uint32" | "uint64" => "numpy.unsignedinteger",
        "float16" | "float32" | "float64" => "numpy.floating",
        "complex64" | "complex128" => "numpy.complexfloating",
        "signedinteger" | "unsignedinteger" => "numpy.integer",
        "floating" | "complexfloating" => "numpy.inexact",
        "integer" | "inexact" => "numpy.number",
        "number" | "bool" => "numpy.generic",
        "memmap" => "numpy.ndarray",
        _ => "object",
    }
}

/// Returns whether a class is another one or derived from it, by their full names.
pub fn derives(class: &str, from: &str) -> bool {
    // These two have a second base.
    let second = match class {
        "numpy.float64" => "float",
        "numpy.complex128" => "complex",
        _ => "",
    };
    class == from || from == second || parent_of_class(class).is_some_and(|parent| derives(parent, from))
}

/// Returns whether a class is `from` or derives from it. Both may be classes of the table or of a script.
fn is_derived(class: &Value, from: &Value) -> bool {
    match (class, from) {
        (Value::Type(class), Value::Type(from)) => derives(class, from),
        (Value::Object(class), _) => class.derives(from).unwrap_or(false),
        _ => false,
    }
}

/// Returns whether `test` holds for a class, or for any class of a tuple.
/// A metaclass may answer for its classes, by the method of this name with the value as argument.
fn any_of(
    classes: &Value,
    refusal: &str,
    asked: Option<(&str, &Value)>,
    test: &dyn Fn(&Value) -> bool,
) -> Result<bool> {
    match classes {
        Value::Object(object)
            if let Some((method, value)) = asked
                && object.has_special(method)
                && let Some(answer) = object.special(method, std::slice::from_ref(value)) =>
        {
            value::equality::truth(&answer?)
        }
        Value::Tuple(items) => {
            for item in items.iter() {
                if any_of(item, refusal, asked, test)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Value::Type(_) => Ok(test(classes)),
        Value::Object(_) if let Some(members) = type_forms::members(classes)? => {
            any_of(&Value::tuple(members), refusal, asked, test)
        }
        Value::Object(object) if object.derives(classes).is_some() => Ok(test(classes)),
        // A class that is known only as a function.
        Value::Function(name) => Ok(test(&Value::Type(value::intern(name.rsplit('.').next().unwrap_or(name))))),
        _ => bail!(TypeError, "{refusal} must be a type, a tuple of types, or a union"),
    }
}

fn isinstance(call: &mut Call) -> Result<Value> {
    is_instance_of(&call.value(0), &call.value(1)).map(Value::Bool)
}

/// Returns whether a value is an instance of a class, or of one of a tuple of classes.
///
/// # Errors
/// TypeError if `classes` is not a class, a tuple of classes or a union.
pub fn is_instance_of(value: &Value, classes: &Value) -> Result<bool> {
    instance_of(value, classes, Some(("__instancecheck__", value)))
}

/// The same, without asking metaclasses.
///
/// # Errors
/// TypeError if `classes` is not a class, a tuple of classes or a union.
pub fn is_instance_plainly(value: &Value, classes: &Value) -> Result<bool> {
    instance_of(value, classes, None)
}

fn instance_of(value: &Value, classes: &Value, asked: Option<(&str, &Value)>) -> Result<bool> {
    let written = match value {
        Value::Object(object) => object.class(),
        _ => None,
    };
    if let Some(class) = written {
        return any_of(classes, "isinstance() arg 2", asked, &|from| is_derived(&class, from));
    }
    let class = class_name(value);
    any_of(classes, "isinstance() arg 2", asked, &|base| {
        let Value::Type(name) = *base else { return false };
        derives(class, name)
            || is_instance(value, name)
            // The class makes tensors, and says so when it is asked.
            || name == "torch.autograd.variable.Variable" && matches!(value, Value::Tensor(_))
            || matches!(value, Value::Object(object) if object.is_instance(name))
            || name == "tuple" && matches!(value, Value::NamedTuple(_))
            || class.rsplit('.').next() == Some(name)
    })
}

fn issubclass(call: &mut Call) -> Result<Value> {
    let class = call.value(0);
    if !is_class(&class) {
        bail!(TypeError, "issubclass() arg 1 must be a class");
    }
    is_subclass(&class, &call.value(1)).map(Value::Bool)
}

/// Returns whether a value is a class.
pub fn is_class(value: &Value) -> bool {
    match value {
        Value::Type(_) => true,
        Value::Object(object) => object.derives(value).is_some(),
        _ => false,
    }
}

/// `issubclass(class, from)`
///
/// # Errors
/// TypeError if `from` is neither a class nor a tuple or union of classes; errors of a metaclass that answers.
pub fn is_subclass(class: &Value, from: &Value) -> Result<bool> {
    any_of(from, "issubclass() arg 2", Some(("__subclasscheck__", class)), &|from| is_derived(class, from))
}
