//! The facets of a row, besides its schema: how dimension names follow, how it handles tensors that are not dense, and
//! which `out=` it accepts. PyTorch expresses the same facts as kernels for the dispatch keys `Named`, `SparseCPU`,
//! `SparseCsrCPU` and `QuantizedCPU`, and as checks in the kernels themselves.

use super::{Call, Run};
use tensor::element::integer_limits;
use tensor::ops::pointwise::classes::Classes;
use tensor::{DType, Name, Result, Scalar};
use value::Value;

/// Infers the dimension names of a result from the arguments, before the call; `None` if it has no names.
pub(crate) type Infer = fn(&Call) -> Result<Option<Vec<Name>>>;

/// Infers the names of a result from the arguments and the result.
pub(crate) type InferAfter = fn(&Call, &Value) -> Result<Option<Vec<Name>>>;

/// How the dimension names of a result follow from those of the arguments. Follows
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
    /// Results have the names of the first tensor, without those of the dimensions `dim` unless `keepdim` is set.
    Removes,
    /// Inferred before the call.
    Infers(Infer),
    /// Inferred before the call, but an error of the function itself is reported before one about names.
    InfersLate(Infer),
    /// Inferred after the call.
    InfersAfter(InferAfter),
    /// The function handles the names itself, or calls others that do.
    Itself,
}

/// How a function handles dimension names. Refusals name an operation, by default that of the row.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    pub inference: NameInference,
    /// The operation named in the refusal of a call with `out=`.
    pub out_refused_as: Option<&'static str>,
    /// The operation named in the refusal of several dimensions at once.
    pub several_refused_as: Option<&'static str>,
    /// The operation named in the refusal of complex tensors.
    pub complex_refused_as: Option<&'static str>,
    /// The operation named in the refusal of tensors with fewer dimensions than the number.
    pub few_refused_as: Option<(usize, &'static str)>,
    /// Whether the function checks its other arguments before it refuses names.
    pub checks_first: bool,
}

impl Names {
    /// The default of a row: named tensors are refused.
    pub(crate) const UNSUPPORTED: Names = Names {
        inference: NameInference::Unsupported,
        out_refused_as: None,
        several_refused_as: None,
        complex_refused_as: None,
        few_refused_as: None,
        checks_first: false,
    };
}

/// How a function, written for dense tensors, handles sparse or quantized ones.
#[derive(Clone, Copy, Debug)]
pub enum Dispatch {
    /// Runs the functions that PyTorch composes it of, or refuses if it is not composed of others.
    Missing,
    /// Refuses them under the name of another function, which PyTorch calls for it.
    Refused(&'static str),
    /// Runs a separate kernel.
    Own(Run),
    /// Accepts any tensor, because the function reads only sizes, dtype, history or layout.
    AsIs,
    /// Runs on the specified elements. The others, which are zeros, stay.
    Given,
    /// Runs on the specified elements, after adding up those with the same index.
    Coalesced,
    /// Runs on the coalesced elements. The result is one about all of them.
    Total,
    /// Runs on the integers of a quantized tensor.
    Integers,
    /// Runs on the integers of a quantized tensor with one scale. Scales for each channel are refused with this message.
    OneScale(&'static str),
    /// Runs on the dequantized numbers. The result is float32 or bool.
    Numbers,
    /// Runs on the dequantized numbers, and quantizes the result like the input.
    Requantized,
    /// The same, but refuses a scale for each channel with this message.
    RequantizedOneScale(&'static str),
    /// Handles COO tensors in the first way, and those with compressed rows or columns in the second.
    Split(&'static Dispatch, &'static Dispatch),
    /// Runs as for a dense tensor, which is possible with one scale for all elements. The default of views.
    Uniform,
}

/// Which outputs a function accepts as `out=`, and how it refuses others. The function itself makes a new result. This
/// facet decides whether and how the result is written to the output.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    /// Conditions on the dtype of an output, in the order in which they are checked, each with the message of its
    /// refusal. The message can contain `{out}`, `{result}` and `{input}` for the dtypes of the output, the result and
    /// the first tensor. `{out_cpp}` and `{result_cpp}` are their names in C++, `{out_class}` and `{result_class}`
    /// their legacy classes. `{field}` is the name of the part of a result.
    pub dtypes: &'static [(Takes, &'static str)],
    /// Whether an output may show one element at several positions.
    pub repeats: Repeats,
    /// Whether an output may share memory with the inputs.
    pub shares: Shares,
    /// Whether a missing `dtype` argument is taken from the output.
    pub gives_dtype: bool,
    /// How a reduction uses an output that shares memory with the input, or shows one element at several positions.
    pub folds: Folds,
    /// The layout in memory of an output after it was resized.
    pub lies: Lies,
    /// Whether the dtype is checked before shared memory.
    pub dtype_first: bool,
    /// Whether resizing an output that has elements causes a warning.
    pub warns: bool,
    /// Whether an output with the right number of elements keeps its sizes and is filled in row-major order.
    pub counts: bool,
    /// Which operation refuses an output while gradients are recorded.
    pub refused_by: RefusedBy,
}

/// The operation named in the refusal of an output while gradients are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The function itself.
    Itself,
    /// Another operation, which the function calls.
    Operation(&'static str),
    /// PyTorch's fallback for operations without a derivative, which names the function with `aten::`.
    Fallback,
}

/// A condition on the dtype of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A dtype that the result's can be cast to.
    Castable,
    /// The dtype of the result.
    Same,
    /// The dtype of the result, unless the first tensor is complex.
    SameIfReal,
    /// `bool` or `uint8`.
    Truth,
    /// A dtype of these classes.
    Of(Classes),
    /// A dtype of the first classes, unless the first tensor's dtype is one of the others.
    OfUnless(Classes, Classes),
    /// The dtype of the result, checked for the part at this position among several.
    SameAt(usize),
}

/// How an output that shows one element at several positions is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    Allowed,
    /// Refused if it does so in its given size.
    Refused,
    /// Refused if it does so in the size of the result.
    RefusedResized,
}

/// The layout in memory of a resized output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// The same as that of a new result.
    AsNew,
    /// Row-major.
    InRows,
    /// Row-major, but like a new result if the output was empty before.
    InRowsUnlessEmpty,
}

/// How an output that shares memory with an input is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    Allowed,
    /// Allowed if they share memory element for element. Partial overlap is refused.
    Wholly,
    /// Allowed for the first tensor, as `Wholly`. Refused for the others.
    First,
    Never,
}

/// How a reduction uses an output that shares memory with its input, or shows one element at several positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folds {
    /// The result is computed aside and then written.
    Aside,
    /// The output is cleared; then the result is computed and written.
    Cleared,
    /// The output starts with a number, with which each element of the input is combined in turn.
    Each(Start),
    /// The output starts with zero, to which the sum of each slice is added in turn.
    Sums,
    /// Each slice is reduced and its result written before the next is read.
    InTurn,
    /// The same, in an output that is cleared first.
    InTurnCleared,
}

/// The number with which a reduction starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Number(i64),
    Lowest,
    Highest,
}

impl Folds {
    /// Returns the number that fills the output first.
    pub(crate) fn start(self, dtype: DType) -> Option<Scalar> {
        let limit = |number: i128| i64::try_from(number).map_or(Scalar::UInt(u64::MAX), Scalar::Int);
        let is_integer = dtype.is_integral(true);
        match self {
            Folds::Aside | Folds::InTurn => None,
            Folds::Cleared | Folds::Sums | Folds::InTurnCleared => Some(Scalar::Int(0)),
            Folds::Each(Start::Number(number)) => Some(Scalar::Int(number)),
            Folds::Each(Start::Lowest) if is_integer => Some(limit(integer_limits(dtype).0)),
            Folds::Each(Start::Highest) if is_integer => Some(limit(integer_limits(dtype).1)),
            Folds::Each(Start::Lowest) => Some(Scalar::Float(f64::NEG_INFINITY)),
            Folds::Each(Start::Highest) => Some(Scalar::Float(f64::INFINITY)),
        }
    }
}

/// The condition of linear algebra functions. Takes the function's name and the name of the part of its result.
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

/// The refusal of a tensor with a scale for each channel where PyTorch asks for one scale without a word of its own.
pub const ONE_SCALE: &str = "Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.  (Could this \
                             error message be improved?  If so, please report an enhancement request to PyTorch.)";

/// The refusal of a tensor with a scale for each channel, where PyTorch would set its strides.
pub const NO_STRIDES: &str = "Setting strides is possible only on uniformly quantized tensor";

impl Out {
    /// The condition of most functions, with the message that most use.
    pub const PLAIN_DTYPE: (Takes, &'static str) =
        (Takes::Same, "Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead");

    /// The condition of elementwise operations.
    pub const CAST_DTYPE: (Takes, &'static str) =
        (Takes::Castable, "result type {result} can't be cast to the desired output type {out}");

    /// The default of a row.
    pub const PLAIN: Out = Out {
        dtypes: &[Out::PLAIN_DTYPE],
        repeats: Repeats::RefusedResized,
        shares: Shares::Allowed,
        gives_dtype: false,
        folds: Folds::Aside,
        lies: Lies::AsNew,
        dtype_first: false,
        warns: true,
        counts: false,
        refused_by: RefusedBy::Itself,
    };

    /// Elementwise. The output can have any dtype that the result can be cast to.
    pub const ELEMENTWISE: Out =
        Out { dtypes: &[Out::CAST_DTYPE], repeats: Repeats::Refused, shares: Shares::Wholly, ..Out::PLAIN };

    /// Elementwise, without a cast.
    pub const UNCAST: Out =
        Out { dtypes: &[(Takes::Same, "Found dtype {out} but expected {result}")], ..Out::ELEMENTWISE };

    /// Elementwise, for outputs of any dtype.
    pub const ANY: Out = Out { dtypes: &[], ..Out::ELEMENTWISE };

    /// Created without input tensors. The dtype is that of the output.
    pub const MADE: Out = Out {
        dtypes: &[(Takes::Same, "dtype {result} does not match dtype of out parameter ({out})")],
        gives_dtype: true,
        warns: false,
        ..Out::PLAIN.refused_by(RefusedBy::Fallback)
    };

    /// A series of numbers, with as many elements as the output has.
    pub const SERIES: Out = Out { counts: true, ..Out::MADE };

    /// Reduced along dimensions, in the dtype of the output.
    pub const REDUCED: Out = Out::PLAIN.unguarded().giving_dtype();

    /// Sets which operation refuses an output while gradients are recorded.
    pub(crate) const fn refused_by(self, refused_by: RefusedBy) -> Out {
        Out { refused_by, ..self }
    }

    /// Replaces the conditions on the dtype. They are checked first.
    pub const fn takes(self, dtypes: &'static [(Takes, &'static str)]) -> Out {
        Out { dtypes, dtype_first: true, ..self }
    }

    /// Replaces the layout of resized outputs.
    pub const fn lying(self, lies: Lies) -> Out {
        Out { lies, ..self }
    }

    /// Sets how the function uses an output that shares memory.
    pub const fn folding(self, folds: Folds) -> Out {
        Out { folds, ..self }
    }

    /// Computes in the dtype of the output if no other is given.
    pub const fn giving_dtype(self) -> Out {
        Out { gives_dtype: true, ..self }
    }

    /// Replaces the check for memory shared with the inputs.
    pub const fn sharing(self, shares: Shares) -> Out {
        Out { shares, ..self }
    }

    /// Replaces the check for elements that are shown several times.
    pub const fn repeating(self, repeats: Repeats) -> Out {
        Out { repeats, ..self }
    }

    /// Skips the check for elements that are shown several times.
    pub const fn unguarded(self) -> Out {
        Out { repeats: Repeats::Allowed, ..self }
    }
}
