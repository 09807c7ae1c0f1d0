//! Reductions.

use super::flags::FpFlags;
use super::table::Ufunc;
use crate::array::Array;
use crate::descr::Descr;
use tensor::{Error, Result, Scalar};

pub fn reduce(
    _ufunc: &'static Ufunc,
    _array: &Array,
    _axes: Option<&[usize]>,
    _dtype: Option<Descr>,
    _out: Option<Array>,
    _keepdims: bool,
    _initial: Option<Scalar>,
    _where: Option<Array>,
) -> Result<(Array, FpFlags)> {
    Err(Error::not_implemented("reductions"))
}
