//! Numpy arrays in a pickle, read as tensors in modes that allow more than `weights_only`. A pickle creates an empty
//! array and a generic dtype, and then sets the state of each. Only plain arrays of numbers are supported.

use super::{Id, Mode, Node, PickleMachine};
use crate::npy::reversed;
use crate::pickle::names::{Class, NumPy};
use crate::pickle::refused;
use crate::records::Number;
use std::rc::Rc;
use tensor::layout::{checked_numel, contiguous_strides};
use tensor::{Dims, Layout, Result, Storage, View};

/// A pickle's description of an array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub number: Number,
    /// The layout, with strides in elements.
    pub layout: Layout,
    bytes: Rc<[u8]>,
}

impl Array {
    pub(crate) fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns a copy of its elements.
    ///
    /// # Errors
    /// Fails with RuntimeError if there is not enough memory.
    pub(crate) fn storage(&self) -> Result<Storage> {
        let storage = Storage::from_bytes(&self.bytes)?;
        if self.number.is_swapped {
            storage.byteswap(self.number.group())?;
        }
        Ok(storage)
    }

    /// Returns the array as a tensor.
    ///
    /// # Errors
    /// Fails with RuntimeError if there is not enough memory.
    pub(crate) fn view(&self) -> Result<View> {
        let (storage, layout) = (self.storage()?, self.layout.clone());
        let view = View { storage, layout, dtype: self.number.dtype, conj: false, neg: false, form: None };
        view.check_bounds()?;
        Ok(view)
    }
}

impl PickleMachine<'_> {
    /// Returns the result of calling a numpy name with these arguments.
    pub(super) fn numpy(&mut self, name: NumPy, args: &[Id]) -> Result<Node> {
        let wrong = || refused(format!("numpy's {name:?} does not take these arguments"));
        Ok(match (name, args) {
            (NumPy::Reconstruct, &[class, _, _]) if self.is_array_class(class) => Node::Array(None),
            (NumPy::DType, &[name, ..]) => Node::Number(format!("={}", self.str(name)?).into()),
            (NumPy::Scalar, &[dtype, bytes]) => self.array_on(Dims::new(), dtype, bytes, false)?,
            (NumPy::FromBuffer, &[bytes, dtype, sizes, order]) => {
                let (is_fortran, sizes) = (self.str(order)? == "F", self.dims(sizes)?);
                self.array_on(sizes, dtype, bytes, is_fortran)?
            }
            _ => return Err(wrong()),
        })
    }

    /// Sets the state of an array or a dtype.
    pub(super) fn build_numpy(&mut self, state: Id) -> Result<()> {
        let node = self.top_node()?.clone();
        let made = match &node {
            Node::Number(name) => self.number(name, state),
            _ => self.array_of(state),
        };
        let made = match made {
            // In a report, an array of objects lists its objects.
            Err(_) if self.mode == Mode::Report => match self.unknown("numpy.ndarray".to_owned()) {
                Class::Unknown(name) => Node::Unknown(name, vec![state], Vec::new()),
                _ => Node::None,
            },
            made => made?,
        };
        *self.top_node()? = made;
        Ok(())
    }

    fn is_array_class(&self, id: Id) -> bool {
        matches!(self.node(id), Node::Class(Class::NumPy(NumPy::NdArray)))
    }

    /// Reads the state of a dtype: a version, the byte order, and parts used only by dtypes other than numbers.
    fn number(&self, name: &str, state: Id) -> Result<Node> {
        let Some(&[_, order, subarray, names, fields, ..]) = self.items(state) else {
            return Err(refused("the state of numpy's dtype has too few parts"));
        };
        if [subarray, names, fields].iter().any(|&part| !matches!(self.node(part), Node::None)) {
            return Err(refused("an array of records is not read from a pickle"));
        }
        let (order, name) = (self.str(order)?, name.get(1..).unwrap_or_default());
        Ok(Node::Number(format!("{order}{name}").into()))
    }

    /// Reads the state of an array: version, sizes, dtype, whether it is column-major, and the bytes.
    fn array_of(&mut self, state: Id) -> Result<Node> {
        let Some(&[_, sizes, dtype, is_fortran, bytes]) = self.items(state) else {
            return Err(refused("the state of numpy's array has unexpected parts"));
        };
        let (sizes, is_fortran) = (self.dims(sizes)?, self.bool(is_fortran)?);
        self.array_on(sizes, dtype, bytes, is_fortran)
    }

    fn array_on(&mut self, sizes: Dims, dtype: Id, bytes: Id, is_fortran: bool) -> Result<Node> {
        let Node::Number(descr) = self.node(dtype) else { return Err(refused("an array's dtype is not a dtype")) };
        let number = Number::of(descr).map_err(|error| refused(error.message))?;
        let bytes = match self.node(bytes) {
            Node::Bytes(bytes) | Node::ByteArray(bytes) => bytes.clone(),
            _ => return Err(refused("the elements of an array are not bytes")),
        };
        let count = usize::try_from(checked_numel(&sizes)?).ok();
        // Several arrays may refer to the same bytes, and each gets its own copy.
        self.charge(bytes.len())?;
        if count.and_then(|count| count.checked_mul(number.dtype.itemsize())) != Some(bytes.len()) {
            return Err(refused(format!("an array of sizes {:?} has {} bytes", sizes.as_slice(), bytes.len())));
        }
        let strides = if is_fortran { reversed(&sizes) } else { contiguous_strides(&sizes) };
        let layout = Layout { sizes, strides, offset: 0 };
        Ok(Node::Array(Some(Rc::new(Array { number, layout, bytes }))))
    }
}
