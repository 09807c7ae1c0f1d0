//! What a row says about its function beside its schema: what becomes of the names of dimensions, what it does with
//! tensors that are not dense, and what it takes as `out=`. PyTorch keeps the same facts as kernels for the dispatch keys
//! `Named`, `SparseCPU`, `SparseCsrCPU` and `QuantizedCPU`, and as checks in the kernels themselves.

use super::{Call, Run};
use tensor::ops::pointwise::classes::Classes;
use tensor::{Name, Result};
use value::Value;

/// Infers the dimension names of a result from the arguments, before the call; `None` if it has no names.
pub(crate) type Infer = fn(&Call) -> Result<Option<Vec<Name>>>;

/// Infers the names of a result from the arguments and the result.
pub(crate) type InferAfter = fn(&Call, &Value) -> Result<Option<Vec<Name>>>;

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
    /// Each tensor of the result has the names of the argument at the same position.
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
    pub(crate) const UNSUPPORTED: Names = Names {
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

/// What a function takes as `out=`, and in whose words it refuses the rest. The function itself makes a new result; what
/// is said here decides whether and how that gets into the output.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    /// Conditions on the dtype of an output, in the order they are looked at, each with the words of its refusal. In them
    /// stand `{out}`, `{result}` and `{input}` for the dtypes of the output, the result and the first tensor; `{out_cpp}` and
    /// `{result_cpp}` for two of them as C++ names them; and `{field}` for the name of the part of a result.
    pub dtypes: &'static [(Takes, &'static str)],
    /// Whether an output may show one element at several places.
    pub repeats: Repeats,
    /// Whether it may share memory with the inputs.
    pub shares: Shares,
    /// Whether its dtype stands for a `dtype` that is not given.
    pub gives_dtype: bool,
    /// Whether the output is cleared before its inputs are read, which matters where they share memory.
    pub clears: bool,
    /// How the output lies in memory once it has been resized.
    pub lies: Lies,
    /// Whether the dtype is looked at before memory that is shared.
    pub dtype_first: bool,
    /// Whether resizing an output that has elements is worth a warning.
    pub warns: bool,
    /// Whether an output of as many elements keeps its sizes and is filled row by row.
    pub counts: bool,
}

/// A condition on the dtype of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One that the result's can be cast to.
    Castable,
    /// The result's.
    Same,
    /// The result's, unless the first tensor is complex.
    SameIfReal,
    /// `bool` or `uint8`.
    Truth,
    /// One of these.
    Of(Classes),
    /// One of the first, unless the first tensor's is one of the others.
    OfUnless(Classes, Classes),
    /// The result's, looked at for the part at this place among several.
    SameAt(usize),
}

/// What is said of an output that shows one element at several places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    Allowed,
    /// Refused as it is given.
    Refused,
    /// Refused if it does so under the size of the result.
    RefusedResized,
}

/// How a resized output lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// As a new result would.
    AsNew,
    /// Row by row.
    InRows,
    /// Row by row, but as a new result would if it was empty before.
    InRowsUnlessEmpty,
}

/// What is said of an output that shares memory with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    Allowed,
    /// Element for element or not at all.
    Wholly,
    Never,
}

/// The condition of linear algebra: a function, the part of its result, and a dtype that holds it.
#[macro_export]
macro_rules! safely {
    ($function:literal, $part:literal) => {
        (
            $crate::facets::Takes::Castable,
            concat!(
                $function,
                ": Expected ",
                $part,
                " to be safely castable from {result} dtype, but got ",
                $part,
                " with dtype {out}"
            ),
        )
    };
}

impl Out {
    /// The condition of most functions, in the words that most use.
    pub const PLAIN_DTYPE: (Takes, &'static str) =
        (Takes::Same, "Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead");

    /// The condition of operations element by element.
    pub const CAST_DTYPE: (Takes, &'static str) =
        (Takes::Castable, "result type {result} can't be cast to the desired output type {out}");

    /// The facts of a row that says nothing of `out=`.
    pub const PLAIN: Out = Out {
        dtypes: &[Out::PLAIN_DTYPE],
        repeats: Repeats::RefusedResized,
        shares: Shares::Allowed,
        gives_dtype: false,
        clears: false,
        lies: Lies::AsNew,
        dtype_first: false,
        warns: true,
        counts: false,
    };

    /// Element by element, into anything that the result can be cast to.
    pub const ELEMENTWISE: Out =
        Out { dtypes: &[Out::CAST_DTYPE], repeats: Repeats::Refused, shares: Shares::Wholly, ..Out::PLAIN };

    /// Element by element, without a cast.
    pub const UNCAST: Out =
        Out { dtypes: &[(Takes::Same, "Found dtype {out} but expected {result}")], ..Out::ELEMENTWISE };

    /// Element by element, into any dtype.
    pub const ANY: Out = Out { dtypes: &[], ..Out::ELEMENTWISE };

    /// Made, not computed of other tensors: the dtype is that of the output.
    pub const MADE: Out = Out {
        dtypes: &[(Takes::Same, "dtype {result} does not match dtype of out parameter ({out})")],
        gives_dtype: true,
        warns: false,
        ..Out::PLAIN
    };

    /// A series of numbers, made for as many elements as the output has.
    pub const SERIES: Out = Out { counts: true, ..Out::MADE };

    /// Computed along dimensions in the dtype of the output.
    pub const REDUCED: Out = Out::PLAIN.unguarded().giving_dtype();

    /// With other conditions on its dtype.
    pub const fn takes(self, dtypes: &'static [(Takes, &'static str)]) -> Out {
        Out { dtypes, dtype_first: true, ..self }
    }

    /// Lying in memory in its own way once it has been resized.
    pub const fn lying(self, lies: Lies) -> Out {
        Out { lies, ..self }
    }

    /// Added up in the output itself.
    pub const fn clearing(self) -> Out {
        Out { clears: true, ..self }
    }

    /// Computed in the output's dtype, where no other is given.
    pub const fn giving_dtype(self) -> Out {
        Out { gives_dtype: true, ..self }
    }

    /// With another look at memory shared with the inputs.
    pub const fn sharing(self, shares: Shares) -> Out {
        Out { shares, ..self }
    }

    /// With another look at elements that are shown several times.
    pub const fn repeating(self, repeats: Repeats) -> Out {
        Out { repeats, ..self }
    }

    /// Without a look at memory that is written twice.
    pub const fn unguarded(self) -> Out {
        Out { repeats: Repeats::Allowed, ..self }
    }
}
