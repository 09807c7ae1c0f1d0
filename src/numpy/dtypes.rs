//! The objects of `np.dtype` and the classes of scalars, and which values name a dtype. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.scalars.html>.

use crate::descr::{Casting, Descr};
use call::State;
use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::{Object, Value, intern};

/// The abstract classes of scalars.
pub(crate) const ABSTRACT: [&str; 8] =
    ["generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating"];

/// Returns the full name of the class of a dtype's scalars.
pub(crate) fn class_of(descr: Descr) -> &'static str {
    intern(&format!("numpy.{}", descr.name()))
}

/// Returns the dtype whose scalars have this class, by its full name.
pub(crate) fn descr_of_class(class: &str) -> Option<Descr> {
    let name = class.strip_prefix("numpy.")?;
    Descr::all().find(|descr| descr.name() == name)
}

/// `np.dtype(…)`.
#[derive(Clone, Copy)]
pub(crate) struct DTypeObject {
    descr: Descr,
    /// Whether it shows its byte order even if that is the machine's, as what `newbyteorder` returns does.
    shows_order: bool,
}

impl DTypeObject {
    pub(crate) fn value(descr: Descr) -> Value {
        Value::Object(Rc::new(DTypeObject { descr, shows_order: false }))
    }
}

/// Returns the dtype that a value names: a dtype, a class, or text.
///
/// # Errors
/// TypeError in NumPy's words for anything else.
pub(crate) fn descr_of(value: &Value) -> Result<Descr> {
    Ok(match value {
        Value::None => Descr::DOUBLE,
        Value::Object(object) => match object.as_any().downcast_ref::<DTypeObject>() {
            Some(dtype) => dtype.descr,
            None => match object.attribute("dtype") {
                Some(dtype @ Value::Object(_)) if !object.is_array() => descr_of(&dtype)?,
                _ => return Err(not_a_dtype(value)),
            },
        },
        Value::Str(text) => Descr::parse(text)?,
        Value::Type(class) => match *class {
            "float" => Descr::DOUBLE,
            "int" => Descr::LONG,
            "bool" => Descr::BOOL,
            "complex" => Descr::native(tensor::DType::ComplexDouble),
            "str" | "bytes" | "object" | "memoryview" => return Descr::parse(class),
            "numpy.number" | "numpy.inexact" | "numpy.floating" => {
                bail!(TypeError, "Converting `np.inexact` or `np.floating` to a dtype not allowed")
            }
            "numpy.integer" | "numpy.signedinteger" => {
                bail!(TypeError, "Converting 'np.integer' or 'np.signedinteger' to a dtype is not allowed")
            }
            "numpy.unsignedinteger" => bail!(TypeError, "Converting `np.unsignedinteger` to a dtype is not allowed"),
            "numpy.complexfloating" => bail!(TypeError, "Converting `np.complex` to a dtype is not allowed."),
            "numpy.generic" => bail!(TypeError, "Converting `np.generic` to a dtype is not allowed."),
            other => match descr_of_class(other) {
                Some(descr) => descr,
                None => return Err(not_a_dtype(value)),
            },
        },
        Value::Function(path) => match &**path {
            "py.float" => Descr::DOUBLE,
            "py.int" => Descr::LONG,
            "py.bool" => Descr::BOOL,
            "py.complex" => Descr::native(tensor::DType::ComplexDouble),
            _ => return Err(not_a_dtype(value)),
        },
        other => return Err(not_a_dtype(other)),
    })
}

fn not_a_dtype(value: &Value) -> Error {
    let shown = State::current().and_then(|state| state.repr(value)).unwrap_or_default();
    Error::type_error(format!("Cannot interpret '{shown}' as a data type"))
}

/// Returns whether a value is a dtype, or a class that stands for one.
pub(crate) fn is_dtype_like(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.as_any().is::<DTypeObject>(),
        Value::Type(_) | Value::Str(_) => descr_of(value).is_ok(),
        _ => false,
    }
}

impl Object for DTypeObject {
    fn class_name(&self) -> &'static str {
        "numpy.dtype"
    }
    fn type_name(&self) -> &str {
        class_name(self.descr)
    }
    fn repr(&self) -> String {
        match self.shows_order {
            true => format!("dtype('{}')", self.descr.text()),
            false => format!("dtype({})", self.descr.inner_repr()),
        }
    }
    fn text(&self) -> String {
        if self.descr.swapped { self.descr.text() } else { self.descr.name().to_owned() }
    }
    fn identity(&self) -> Option<usize> {
        // Native dtypes exist once.
        static NATIVE: [u8; 32] = [0; 32];
        let place = NATIVE.get(usize::try_from(self.descr.number()).ok()?)?;
        (!self.descr.swapped && !self.shows_order).then_some(std::ptr::from_ref(place) as usize)
    }
    fn is_instance(&self, class: &str) -> bool {
        class == "numpy.dtype"
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        Some(Ok(Value::Bool(match (name, args) {
            ("__eq__" | "__ne__", [other]) => {
                let same = descr_of(other).is_ok_and(|other| other == self.descr);
                same == (name == "__eq__")
            }
            ("__lt__", [other]) => match descr_of(other) {
                Ok(other) => self.descr != other && Casting::Safe.allows(self.descr, other),
                Err(error) => return Some(Err(error)),
            },
            ("__le__", [other]) => match descr_of(other) {
                Ok(other) => Casting::Safe.allows(self.descr, other),
                Err(error) => return Some(Err(error)),
            },
            ("__gt__", [other]) => match descr_of(other) {
                Ok(other) => self.descr != other && Casting::Safe.allows(other, self.descr),
                Err(error) => return Some(Err(error)),
            },
            ("__ge__", [other]) => match descr_of(other) {
                Ok(other) => Casting::Safe.allows(other, self.descr),
                Err(error) => return Some(Err(error)),
            },
            ("__hash__", []) => return Some(Ok(Value::Int(self.descr.number() * 7 + i64::from(self.descr.swapped)))),
            ("__bool__", []) => true,
            _ => return None,
        })))
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let descr = self.descr;
        Some(match name {
            "name" => Value::str(descr.name()),
            "kind" => Value::str(descr.kind_code().to_string()),
            "char" => Value::str(descr.code().to_string()),
            "num" => Value::Int(descr.number()),
            "str" => Value::str(descr.text()),
            "byteorder" if self.shows_order => Value::str(descr.text().chars().take(1).collect::<String>()),
            "byteorder" => Value::str(descr.byte_order().to_string()),
            "itemsize" => Value::Int(descr.itemsize() as i64),
            "alignment" => Value::Int(descr.dtype.to_real().itemsize() as i64),
            "type" => Value::Type(class_of(descr)),
            "isnative" => Value::Bool(descr.is_native()),
            "base" => DTypeObject::value(descr),
            "shape" => Value::tuple([]),
            "ndim" => Value::Int(0),
            "names" | "fields" | "subdtype" | "metadata" => Value::None,
            "hasobject" => Value::Bool(false),
            "isbuiltin" => Value::Int(i64::from(descr.is_native())),
            "isalignedstruct" => Value::Bool(false),
            "flags" => Value::Int(0),
            "descr" => Value::list([Value::tuple([Value::str(""), Value::str(descr.text())])]),
            "newbyteorder" => objects::calling::NativeFunction::value("newbyteorder", move |args, _| {
                new_byte_order(descr, args.first())
            }),
            "__class__" => Value::Type(intern(self.type_name())),
            _ => return None,
        })
    }
}

/// Returns the name of the class that a dtype has to itself.
pub(crate) fn class_name(descr: Descr) -> &'static str {
    intern(&format!("numpy.dtypes.{}DType", capitalised(descr.name())))
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    // `UInt8DType`, but `Float32DType`.
    match name.strip_prefix("uint") {
        Some(bits) => format!("UInt{bits}"),
        None => {
            letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
        }
    }
}

fn new_byte_order(descr: Descr, order: Option<&Value>) -> Result<Value> {
    let order = match order {
        None => "S",
        Some(Value::Str(order)) => order,
        Some(other) => bail!(TypeError, "must be str, not {}", other.type_name()),
    };
    let is_big = cfg!(target_endian = "big");
    let swapped = match order {
        "S" | "s" | "swap" => !descr.swapped,
        "<" | "L" | "l" | "little" => is_big,
        ">" | "B" | "b" | "big" => !is_big,
        "=" | "N" | "n" | "native" => false,
        "|" | "I" | "i" | "ignore" => descr.swapped,
        _ => bail!(ValueError, "{order} is an unrecognized byteorder"),
    };
    let shows_order = !matches!(order, "=" | "N" | "n" | "native") && descr.itemsize() > 1;
    Ok(Value::Object(Rc::new(DTypeObject { descr: descr.with_swapped(swapped), shows_order })))
}
