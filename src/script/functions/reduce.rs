//! Reductions. Follows <https://pytorch.org/docs/2.7/torch.html#reduction-ops>.

use super::{Call, Row, both};
use crate::ops::reduce as ops;
use crate::tensor::{Dims, Result};
use crate::value::Value;

pub const ROWS: &[Row] = &[
    both("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", |c| ops::sum(&c.view(0)?, None, false, c.opt_dtype(1)).map(Value::from), "The sum of all elements."),
    both("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor", |c| { let d = dims(c, 1)?; ops::sum(&c.view(0)?, Some(&d), c.bool(2)?, c.opt_dtype(3)).map(Value::from) }, "The sum along dimensions."),
    both("sum.dim_DimnameList(Tensor self, Dimname[1] dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor", |c| Ok(c.itself()), "The sum along named dimensions."),
    both("mean(Tensor self, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor", |c| ops::mean(&c.view(0)?, None, false, c.opt_dtype(1)).map(Value::from), "The mean of all elements."),
    both("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor", |c| { let d = dims(c, 1)?; ops::mean(&c.view(0)?, Some(&d), c.bool(2)?, c.opt_dtype(3)).map(Value::from) }, "The mean along dimensions."),
    both("mean.names_dim(Tensor self, Dimname[1] dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor", |c| Ok(c.itself()), "The mean along named dimensions."),
];

/// The dimensions to reduce; none given means all.
fn dims(call: &Call, index: usize) -> Result<Dims> {
    if call.is_none(index) { Ok(Dims::new()) } else { call.ints(index) }
}
