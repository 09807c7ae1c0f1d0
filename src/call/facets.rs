//! What a row says about its function beside its schema: what becomes of the names of dimensions, and what it does with
//! tensors that are not dense. PyTorch keeps the same facts as kernels for the dispatch keys `Named`, `SparseCPU`,
//! `SparseCsrCPU` and `QuantizedCPU`.

use super::{Call, Run};
use crate::tensor::{Name, Result};
use crate::value::Value;

/// Infers the names of a result from the arguments, before the call; `None` where it has none.
pub type Infer = fn(&Call) -> Result<Option<Vec<Name>>>;

/// Infers the names of a result from the arguments and the result.
pub type InferAfter = fn(&Call, &Value) -> Result<Option<Vec<Name>>>;

/// How the names of a result follow from those of the arguments. Follows
/// <https://pytorch.org/docs/2.7/name_inference.html>.
#[derive(Clone, Copy, Debug)]
pub enum NameInference {
    /// Tensors with names are refused.
    Unsupported,
    /// Names are ignored, and results have none.
    Nameless,
    /// Results have the names of the first tensor.
    Keeps,
    /// Each tensor in the result has the names of the one that stands there among the arguments.
    Each,
    /// Results have the names of all tensors, broadcast together.
    Unifies,
    /// Results have the names of the first tensor, without those of the dimensions `dim`, unless `keepdim`.
    Removes,
    /// Inferred before the call.
    Infers(Infer),
    /// Inferred before the call, but an error of the function itself goes before one about names.
    InfersLate(Infer),
    /// Inferred after the call.
    InfersAfter(InferAfter),
    /// The function sees to the names itself, or calls others that do.
    Itself,
}

/// What a function does with the names of dimensions, and what its refusals say: each names an operation, by default that
/// of the row.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    pub inference: NameInference,
    /// The operation that refuses a call with `out=`.
    pub out_refused_as: Option<&'static str>,
    /// The one that refuses several dimensions at once.
    pub several_refused_as: Option<&'static str>,
    /// The one that refuses complex tensors.
    pub complex_refused_as: Option<&'static str>,
    /// The one that refuses tensors of fewer dimensions than this.
    pub few_refused_as: Option<(usize, &'static str)>,
    /// Whether the function checks its other arguments before it refuses.
    pub checks_first: bool,
}

impl Names {
    /// The facts of a row that says nothing of names.
    pub const UNSUPPORTED: Names = Names {
        inference: NameInference::Unsupported,
        out_refused_as: None,
        several_refused_as: None,
        complex_refused_as: None,
        few_refused_as: None,
        checks_first: false,
    };
}

/// What a function, written for dense tensors, does with sparse or quantized ones.
#[derive(Clone, Copy, Debug)]
pub enum Dispatch {
    /// They are refused.
    Missing,
    /// They are refused under the name of another function, which PyTorch calls for it.
    Refused(&'static str),
    /// It runs a kernel of its own.
    Own(Run),
    /// It takes any tensor: it looks at sizes, dtype and history, or only at the layout.
    AsIs,
    /// It runs on the elements that are given; the others, which are zeros, stay.
    Given,
    /// It runs on the elements that are given, after those of one index have been added up.
    Coalesced,
    /// It runs on coalesced elements, for a result about all of them.
    Total,
    /// It runs on the integers of a quantized tensor.
    Integers,
    /// It runs on the numbers that a quantized tensor stands for; the result is of float32 or bool.
    Numbers,
    /// It runs on those numbers, and the result is quantized as the input was.
    Requantized,
}
