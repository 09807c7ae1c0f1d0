//! Shorthand for functions that PyTorch composes of others: arithmetic on whole tensors and numbers under one default
//! dtype. Results are always new tensors.

use super::compare::{CompareOp, compare};
use super::pointwise::{self, BinaryOp, Output, UnaryOp};
use super::promote::Operand;
use crate::{DType, Result, Scalar, View};

/// Wraps a number as an operand.
pub(crate) fn number<'a>(value: f64) -> Operand<'a> {
    Operand::Number(Scalar::Float(value))
}

/// Arithmetic under a default dtype.
#[derive(Clone, Copy)]
pub struct Math(pub DType);

impl Math {
    pub fn binary<'a>(self, op: BinaryOp, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        pointwise::binary(op, a.into(), b.into(), Output::New, self.0)
    }

    pub fn unary(self, op: UnaryOp, a: &View) -> Result<View> {
        pointwise::unary(op, a, Output::New, self.0)
    }

    pub fn compare<'a>(self, op: CompareOp, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        compare(op, a.into(), b.into(), Output::New, self.0)
    }

    pub fn add<'a>(self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub<'a>(self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul<'a>(self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn div<'a>(self, a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<View> {
        self.binary(BinaryOp::TrueDivide, a, b)
    }
}
