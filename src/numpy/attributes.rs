//! The attributes of arrays and scalars that are not methods. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html#array-attributes>.

use crate::array::{Array, Order};
use crate::convert;
use crate::descr::{Descr, Kind};
use crate::dtypes::DTypeObject;
use crate::flat::Flat;
use crate::ndarray::{NdArray, Number};
use crate::strided::{Strided, infer_shape, show};
use objects::calling::NativeFunction;
use std::rc::Rc;
use tensor::{Dims, Error, Result, Scalar, bail};
use value::{Dict, Object, Value};

/// Returns an attribute of an array; `None` for names that are methods or unknown.
pub(crate) fn get(this: &NdArray, name: &str) -> Option<Result<Value>> {
    let array = this.array();
    Some(Ok(match name {
        "T" => this.view(array.at(reversed(&array.places))),
        "mT" => match array.ndim() {
            0 | 1 => return Some(Err(Error::value("matrix transpose with ndim < 2 is undefined"))),
            ndim => {
                let mut order: Vec<usize> = (0..ndim).collect();
                order.swap(ndim - 1, ndim - 2);
                this.view(array.at(array.places.permuted(&order)))
            }
        },
        "__class__" => Value::Type(this.class_name()),
        "base" => this.base().unwrap_or(Value::None),
        "flags" => Value::Object(Rc::new(Flags { of: Some(this.itself()), number: None })),
        "flat" => Flat::value(this.itself()),
        "real" if array.descr.kind() == Kind::Complex => this.view(part(&array, false)),
        "real" => this.itself(),
        "imag" if array.descr.kind() == Kind::Complex => this.view(part(&array, true)),
        // The imaginary parts of real numbers cannot be written to.
        "imag" => match Array::zeros(array.shape(), array.descr, array.is_f() && !array.is_c()) {
            Ok(zeros) => match NdArray::of(&NdArray::value(zeros)) {
                Some(zeros) => {
                    zeros.set_writeable(false);
                    zeros.itself()
                }
                None => Value::None,
            },
            Err(error) => return Some(Err(error)),
        },
        "data" => return Some(crate::bridge::buffer(this).map(Value::Buffer)),
        "ctypes" => return Some(Err(Error::not_implemented("ndarray.ctypes is not supported here"))),
        "__array_interface__" => interface(this, &array),
        "filename" | "mode" | "offset" | "flush" | "__array_priority__" if let Some(mapping) = this.mapping() => {
            match name {
                "filename" => mapping.filename.clone(),
                "mode" => mapping.mode.clone(),
                "offset" => mapping.offset.clone(),
                // What is written to a shared mapping is in the file at once.
                "flush" => NativeFunction::value("flush", |_, _| Ok(Value::None)),
                _ => Value::Float(-100.0),
            }
        }
        _ => return common(&array, name),
    }))
}

/// Returns an attribute that arrays and scalars share.
fn common(array: &Array, name: &str) -> Option<Result<Value>> {
    Some(Ok(match name {
        "shape" => Value::ints(array.shape()),
        "strides" => Value::ints(&array.places.strides),
        "ndim" => Value::Int(array.ndim() as i64),
        "size" => Value::Int(array.count()),
        "itemsize" => Value::Int(array.itemsize() as i64),
        "nbytes" => Value::Int(array.count().saturating_mul(array.itemsize() as i64)),
        "dtype" => DTypeObject::value(array.descr),
        "device" => Value::str("cpu"),
        "__array_priority__" => Value::Float(0.0),
        _ => return None,
    }))
}

/// Returns an attribute of a scalar.
pub(crate) fn of_number(number: &Number, name: &str) -> Option<Result<Value>> {
    let wrapped = |value: Scalar, descr: Descr| Number { value, descr }.value();
    let array = match number.array() {
        Ok(array) => array,
        Err(error) => return Some(Err(error)),
    };
    let real = Descr::native(number.descr.dtype.to_real());
    Some(Ok(match (name, number.value) {
        ("real", Scalar::Complex(c)) => wrapped(Scalar::Float(c.re), real),
        ("imag", Scalar::Complex(c)) => wrapped(Scalar::Float(c.im), real),
        ("real", value) => wrapped(value, number.descr),
        ("imag", _) => wrapped(Scalar::Int(0), number.descr),
        ("numerator", value) if number.descr.is_integral() => wrapped(value, number.descr),
        ("denominator", _) if number.descr.is_integral() => wrapped(Scalar::Int(1), number.descr),
        ("T", value) => wrapped(value, number.descr),
        ("base", _) => Value::None,
        ("flags", _) => Value::Object(Rc::new(Flags { of: None, number: Some(*number) })),
        ("flat", _) => Flat::value(NdArray::value(array)),
        _ => return common(&array, name),
    }))
}

/// Returns the dimensions in reverse order.
pub(crate) fn reversed(places: &Strided) -> Strided {
    places.permuted(&(0..places.ndim()).rev().collect::<Vec<_>>())
}

/// Returns the real or imaginary parts of complex numbers, on the same memory.
pub(crate) fn part(array: &Array, imaginary: bool) -> Array {
    let descr = Descr { dtype: array.descr.dtype.to_real(), ..array.descr };
    let offset = array.places.offset + if imaginary { descr.itemsize() as i64 } else { 0 };
    Array { storage: array.storage.clone(), descr, places: Strided { offset, ..array.places.clone() } }
}

fn interface(this: &NdArray, array: &Array) -> Value {
    let strides = if array.is_c() { Value::None } else { Value::ints(&array.places.strides) };
    let text = Value::str(array.descr.text());
    Value::Dict(Dict::of_names([
        ("data", Value::tuple([Value::Int(array.address() as i64), Value::Bool(!this.is_writeable())])),
        ("strides", strides),
        ("descr", Value::list([Value::tuple([Value::str(""), text.clone()])])),
        ("typestr", text),
        ("shape", Value::ints(array.shape())),
        ("version", Value::Int(3)),
    ]))
}

/// Sets an attribute of an array.
///
/// # Errors
/// AttributeError for other attributes than those that NumPy lets one set; ValueError for values that do not fit.
pub(crate) fn set(this: &NdArray, name: &str, value: &Value) -> Result<()> {
    let array = this.array();
    match name {
        "shape" => {
            let asked = convert::shape(value)?;
            let shape = infer_shape(&asked, array.count())?;
            match array.places.reshaped(&shape, array.itemsize(), false) {
                Some(places) => this.show(array.at(places)),
                None => bail!(
                    AttributeError,
                    "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
                ),
            }
            Ok(())
        }
        "strides" => {
            let strides = convert::shape(value)?;
            if strides.len() != array.ndim() {
                bail!(ValueError, "strides must be  same length as shape ({})", array.ndim());
            }
            let places = Strided { strides: Dims::from_slice(&strides), ..array.places.clone() };
            // Not beyond the memory of the array that owns it.
            let owner =
                this.base().and_then(|base| NdArray::of(&base)).map_or_else(|| array.clone(), |base| base.array());
            let fits = match (places.span(array.itemsize()), owner.places.span(owner.itemsize())) {
                (Some((low, high)), Some((start, end))) => low >= start && high <= end,
                _ => array.count() == 0,
            };
            if !fits || !places.is_addressable(array.itemsize()) {
                bail!(ValueError, "strides is not compatible with available memory");
            }
            this.show(array.at(places));
            Ok(())
        }
        "dtype" => {
            let descr = crate::dtypes::descr_of(value)?;
            let changed = viewed_as(&array, descr)?;
            this.show(changed);
            Ok(())
        }
        "flat" => {
            this.check_writeable("assignment destination")?;
            crate::flat::assign_all(&array, value)
        }
        "real" | "imag" if array.descr.kind() == Kind::Complex => {
            this.check_writeable("assignment destination")?;
            crate::index::store(&part(&array, name == "imag"), value)
        }
        "real" => {
            this.check_writeable("assignment destination")?;
            crate::index::store(&array, value)
        }
        "imag" => bail!(TypeError, "array does not have imaginary part to set"),
        _ => match get(this, name) {
            Some(_) => bail!(AttributeError, "attribute '{name}' of 'numpy.ndarray' objects is not writable"),
            None => bail!(AttributeError, "'numpy.ndarray' object has no attribute '{name}'"),
        },
    }
}

/// Returns the same bytes as elements of another dtype, `a.view(dtype)`.
///
/// # Errors
/// ValueError in NumPy's words if the last dimension cannot be divided.
pub(crate) fn viewed_as(array: &Array, descr: Descr) -> Result<Array> {
    let (old, new) = (array.itemsize() as i64, descr.itemsize() as i64);
    let mut places = array.places.clone();
    if old != new {
        let Some(last) = array.ndim().checked_sub(1) else {
            bail!(ValueError, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
        };
        if places.shape[last] != 1 && places.count() != 0 && places.strides[last] != old {
            bail!(ValueError, "To change to a dtype of a different size, the last axis must be contiguous");
        }
        if new < old {
            // Every size divides the larger ones.
            places.shape[last] = places.shape[last].saturating_mul(old / new);
            places.strides[last] = new;
        } else {
            let bytes = places.shape[last].saturating_mul(old);
            if bytes % new != 0 {
                bail!(
                    ValueError,
                    "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last \
                     axis of the array."
                );
            }
            places.shape[last] = bytes / new;
            places.strides[last] = new;
        }
    }
    Ok(Array { storage: array.storage.clone(), descr, places })
}

/// Returns the array with another shape: a view if possible, else a copy.
///
/// # Errors
/// Those of [`infer_shape`].
pub(crate) fn reshape(this: &NdArray, asked: &[i64], order: Order) -> Result<Value> {
    let array = this.array();
    if asked == array.shape() {
        return Ok(this.view(array));
    }
    let shape = infer_shape(asked, array.count())?;
    let column_major = order == Order::F || order == Order::Any && array.is_f() && !array.is_c();
    if let Some(places) = array.places.reshaped(&shape, array.itemsize(), column_major) {
        return Ok(this.view(array.at(places)));
    }
    let copy = array.copied(array.descr, if column_major { Order::F } else { Order::C })?;
    let places = copy.places.reshaped(&shape, copy.itemsize(), column_major);
    let places = places.ok_or_else(|| Error::value(format!("cannot reshape array into shape {}", show(&shape))))?;
    // NumPy shows a view of the copy.
    let whole = NdArray::value(copy.clone());
    Ok(NdArray::on(copy.at(places), whole, true))
}

/// `a.flags`.
pub(crate) struct Flags {
    of: Option<Value>,
    number: Option<Number>,
}

const FLAGS: [(&str, &str); 6] = [
    ("C_CONTIGUOUS", "c_contiguous"),
    ("F_CONTIGUOUS", "f_contiguous"),
    ("OWNDATA", "owndata"),
    ("WRITEABLE", "writeable"),
    ("ALIGNED", "aligned"),
    ("WRITEBACKIFCOPY", "writebackifcopy"),
];

impl Flags {
    fn array(&self) -> Option<Rc<NdArray>> {
        NdArray::of(self.of.as_ref()?)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        let Some(this) = self.array() else {
            let _ = self.number?;
            return Some(match name {
                "writeable" | "writebackifcopy" | "fnc" => false,
                "c_contiguous" | "f_contiguous" | "owndata" | "aligned" | "contiguous" | "fortran" | "forc" => true,
                "behaved" | "carray" | "farray" => false,
                _ => return None,
            });
        };
        let array = this.array();
        let (c, f) = (array.is_c(), array.is_f());
        let behaved = array.is_aligned() && this.is_writeable();
        Some(match name {
            "c_contiguous" | "contiguous" => c,
            "f_contiguous" | "fortran" => f,
            "owndata" => this.base().is_none(),
            "writeable" => this.is_writeable(),
            "aligned" => array.is_aligned(),
            "writebackifcopy" => false,
            "fnc" => f && !c,
            "forc" => f || c,
            "behaved" => behaved,
            "carray" => behaved && c,
            "farray" => behaved && f && !c,
            _ => return None,
        })
    }

    fn by_key(&self, key: &str) -> Option<bool> {
        let long = FLAGS.iter().find(|(known, _)| *known == key).map(|(_, name)| *name);
        let short = match key {
            "C" | "CONTIGUOUS" => Some("c_contiguous"),
            "F" | "FORTRAN" => Some("f_contiguous"),
            "O" => Some("owndata"),
            "W" => Some("writeable"),
            "A" => Some("aligned"),
            "X" => Some("writebackifcopy"),
            "B" | "BEHAVED" => Some("behaved"),
            "CA" | "CARRAY" => Some("carray"),
            "FA" | "FARRAY" => Some("farray"),
            "FNC" => Some("fnc"),
            "FORC" => Some("forc"),
            _ => None,
        };
        self.flag(long.or(short)?)
    }
}

impl Object for Flags {
    fn class_name(&self) -> &'static str {
        "numpy._core.multiarray.flagsobj"
    }
    fn repr(&self) -> String {
        let line = |(shown, name): &(&str, &str)| {
            let on = if self.flag(name) == Some(true) { "True" } else { "False" };
            format!("  {shown} : {on}\n")
        };
        FLAGS.iter().map(line).collect()
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        if name == "num" {
            const BITS: [(&str, i64); 5] = [
                ("c_contiguous", 0x1),
                ("f_contiguous", 0x2),
                ("owndata", 0x4),
                ("aligned", 0x100),
                ("writeable", 0x400),
            ];
            let set = BITS.iter().filter(|(name, _)| self.flag(name) == Some(true));
            return Some(Value::Int(set.map(|(_, bit)| bit).sum()));
        }
        // Only the lower-case names are attributes.
        if name == "num" {
            let bits =
                [("c_contiguous", 1), ("f_contiguous", 2), ("owndata", 4), ("aligned", 0x100), ("writeable", 0x400)];
            let set = bits.iter().filter(|(name, _)| self.flag(name) == Some(true)).map(|(_, bit)| bit);
            return Some(Value::Int(set.sum()));
        }
        if name.chars().any(char::is_uppercase) { None } else { self.flag(name).map(Value::Bool) }
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        if name == "aligned" || name == "writebackifcopy" {
            return None;
        }
        if name != "writeable" {
            let class = self.class_name();
            return self
                .flag(name)
                .map(|_| Err(Error::attribute(format!("attribute '{name}' of '{class}' objects is not writable"))));
        }
        let on = match value::equality::truth(value) {
            Ok(on) => on,
            Err(error) => return Some(Err(error)),
        };
        Some(self.array().map_or(Ok(()), |this| set_writeable(&this, on)))
    }
    fn item(&self, _session: &dyn std::any::Any, index: &Value) -> Option<Result<Value>> {
        Some(match index {
            Value::Str(key) if let Some(on) = self.by_key(key) => Ok(Value::Bool(on)),
            _ => Err(Error::new(tensor::ErrorKind::KeyError, "'Unknown flag'")),
        })
    }
    fn set_item(&self, _session: &dyn std::any::Any, index: &Value, value: &Value) -> Option<Result<()>> {
        Some(match index {
            Value::Str(key) if matches!(&**key, "WRITEABLE" | "W") => self.set_attribute("writeable", value)?,
            _ => Err(Error::new(tensor::ErrorKind::KeyError, "'Unknown flag'")),
        })
    }
}

/// Sets whether an array may be written to.
///
/// # Errors
/// ValueError in NumPy's words for an array whose memory cannot be written to.
pub(crate) fn set_writeable(this: &NdArray, on: bool) -> Result<()> {
    let refused = || Error::value("cannot set WRITEABLE flag to True of this array");
    if on && !this.is_writeable() {
        match this.base() {
            None => {}
            Some(base) => match NdArray::of(&base) {
                Some(base) if base.is_writeable() => {}
                _ => return Err(refused()),
            },
        }
    }
    this.set_writeable(on);
    Ok(())
}
