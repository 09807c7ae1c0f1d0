//! Which elements of its arguments a function reads for one element of its result: a facet of the row, which `origin` and
//! `readers` follow from element to element. A view needs none: its elements are those of the same place in memory.

use super::Signature;
use tensor::{Tensor, View};
use value::{Value, any_tensor};

/// How an element of a result depends on an element that was read for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its value is in the result: moved there, or computed with.
    Taken,
    /// It only decided which others were taken, or whether: compared, counted, or used as an index or a condition.
    Compared,
}

/// An element that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The position of its tensor among the tensors of the call.
    pub tensor: usize,
    /// Its number in row-major order.
    pub element: i64,
    pub part: Part,
}

/// Which elements of the tensors, broadcast together, an element of the result reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// The one at the same index.
    Same,
    /// All along the dimensions named by `dim`, which the result lacks or has with size 1. All elements without `dim`.
    Along,
    /// Like `Same` or `Along` of everything, as `reduction` says.
    Reduction,
    /// The one at the same index and those before it along `dim`.
    UpTo,
    /// All along `dim`, which the result has too. All elements without `dim`.
    Line,
    /// All of the matrix in the last two dimensions.
    Matrix,
    /// All elements.
    All,
}

/// Which of the elements read are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    All,
    None,
    /// Those equal to the element of the result; the others are compared.
    Equal,
    /// The one at the index that the second result holds; the others are compared. The second result takes none.
    Indexed,
}

/// Finds the elements read for an element of a result.
pub type Finder = Box<dyn Fn(usize, i64) -> Vec<Read>>;

/// The pattern of a function, as a facet of its row.
#[derive(Clone, Copy)]
pub enum Reads {
    /// Not described. If the function calls others of the table, those are followed.
    Unknown,
    /// None: the result depends on sizes, dtypes and numbers alone.
    Nothing,
    /// The element at the same place in memory: a view. The default of rows whose result is one.
    Place,
    /// One element each, moved: found by running the function on the numbers of the elements.
    Moved,
    Spanned(Span, Takes),
    /// Found by a function of the row. `None` for arguments that it does not describe.
    Own(fn(&TracedCall) -> Option<Finder>),
}

/// Elementwise, after broadcasting.
pub const EACH: Reads = Reads::Spanned(Span::Same, Takes::All);
/// Elementwise tests and comparisons.
pub const COMPARES: Reads = Reads::Spanned(Span::Same, Takes::None);
/// Elementwise choices among the operands, such as `maximum`.
pub const CHOOSES: Reads = Reads::Spanned(Span::Same, Takes::Equal);
/// Reductions along `dim`.
pub const ALONG: Reads = Reads::Spanned(Span::Along, Takes::All);

/// Functions of lines along `dim`, such as `softmax`.
pub const LINE: Reads = Reads::Spanned(Span::Line, Takes::All);

/// A recorded call of a row.
pub struct TracedCall {
    /// The key of the overload.
    pub key: &'static str,
    pub signature: &'static Signature,
    pub reads: Reads,
    pub args: Vec<Value>,
    /// The tensors among the arguments, lists included, in order.
    pub tensors: Vec<TracedTensor>,
    /// The tensors among the results.
    pub outputs: Vec<TracedTensor>,
    /// Whether the call wrote to its first tensor.
    pub is_in_place: bool,
    /// The subscript, for a call that is one: `[:, 1:3]`.
    pub subscript: Option<String>,
}

/// A tensor as it was when it was passed or returned.
#[derive(Clone)]
pub struct TracedTensor {
    pub tensor: Tensor,
    pub view: View,
    version: u64,
}

impl TracedTensor {
    pub fn new(tensor: &Tensor) -> TracedTensor {
        TracedTensor { tensor: tensor.clone(), view: tensor.view(), version: tensor.version() }
    }

    pub fn sizes(&self) -> &[i64] {
        self.view.sizes()
    }

    /// Returns whether the values are those of the time of the call.
    pub fn is_unchanged(&self) -> bool {
        self.tensor.version() == self.version
    }
}

impl TracedCall {
    /// Returns the argument of a parameter. `None` if there is no such parameter, or if it is `None`.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        let at = self.signature.params.iter().position(|param| param.name == name)?;
        self.args.get(at).filter(|value| !matches!(value, Value::None))
    }

    /// Returns the position among the tensors of the tensor that a parameter has.
    pub fn tensor_of(&self, name: &str) -> Option<usize> {
        let at = self.signature.params.iter().position(|param| param.name == name)?;
        matches!(self.args.get(at)?, Value::Tensor(_)).then(|| tensors_in(self.args.iter().take(at)).len())
    }
}

/// Returns the tensors in values, lists included, in order.
pub fn tensors_in<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<TracedTensor> {
    let mut found = Vec::new();
    for value in values {
        any_tensor_in(value, &mut |tensor| {
            found.push(TracedTensor::new(tensor));
            false
        });
    }
    found
}

/// Like [`any_tensor`], also for the fields of a named tuple.
fn any_tensor_in(value: &Value, holds: &mut impl FnMut(&Tensor) -> bool) -> bool {
    match value {
        Value::NamedTuple(tuple) => tuple.fields.iter().any(|(_, field)| any_tensor(field, holds)),
        other => any_tensor(other, holds),
    }
}
