//! Picks the loop of a function for its operands' dtypes. Numbers of a script have a kind but no size (NEP 50). Follows
//! <https://numpy.org/doc/2.4/reference/ufuncs.html#casting-rules>; the exceptions are found in NumPy's own answers.

use super::table::{Op, Ufunc};
use crate::descr::{Casting, Descr, Kind, Weak, promoted};
use smallvec::SmallVec;
use tensor::{DType, Error, ErrorKind, Result};

/// What is known of an operand when a loop is picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum In {
    Array(Descr),
    Weak(Weak),
}

/// The dtypes of a loop: the inputs' and then the outputs'.
pub(crate) type LoopTypes = SmallVec<[DType; 4]>;

/// Returns the dtype for one of NumPy's codes.
fn dtype_of(code: u8) -> DType {
    match code {
        b'?' => DType::Bool,
        b'b' => DType::Char,
        b'B' => DType::Byte,
        b'h' => DType::Short,
        b'H' => DType::UInt16,
        b'i' => DType::Int,
        b'I' => DType::UInt32,
        b'l' => DType::Long,
        b'L' => DType::UInt64,
        b'e' => DType::Half,
        b'f' => DType::Float,
        b'F' => DType::ComplexFloat,
        b'D' => DType::ComplexDouble,
        _ => DType::Double,
    }
}

fn loop_types(codes: &str) -> LoopTypes {
    codes.bytes().map(dtype_of).collect()
}

impl Ufunc {
    /// Returns the dtypes of each loop in order.
    pub(super) fn all_loops(&self) -> impl Iterator<Item = LoopTypes> + use<> {
        self.runnable().map(loop_types)
    }
}

fn is_whole(dtype: DType) -> bool {
    Descr::native(dtype).kind() <= Kind::Signed
}

/// Returns the dtypes that the operands have for the choice of a loop: numbers get one from the arrays beside them.
fn strong(ufunc: &Ufunc, inputs: &[In]) -> LoopTypes {
    let arrays = inputs.iter().filter_map(|input| match input {
        In::Array(descr) => Some(descr.dtype),
        In::Weak(_) => None,
    });
    let common = arrays.reduce(promoted);
    let own = |(at, input): (usize, &In)| match (*input, common) {
        (In::Array(descr), _) => descr.dtype,
        // An exponent of two need not be wide, and a whole number needs the narrowest float.
        (In::Weak(Weak::Integer), Some(common)) if ufunc.op == Op::Ldexp => match (at, common) {
            (0, DType::Bool) => DType::Long,
            (0, _) => DType::Char,
            (_, DType::Bool) => DType::Long,
            _ => DType::Int,
        },
        (In::Weak(weak), Some(common)) => weak.with(common),
        (In::Weak(weak), None) => weak.default(),
    };
    inputs.iter().enumerate().map(own).collect()
}

/// Returns the loop for operands of these dtypes without further requests.
fn usual(ufunc: &Ufunc, own: &[DType], weak: bool) -> Option<LoopTypes> {
    let bools = own.iter().all(|&dtype| dtype == DType::Bool);
    match ufunc.op {
        Op::Divide if own.iter().all(|&dtype| is_whole(dtype)) => Some(loop_types("ddd")),
        Op::Gcd | Op::Lcm | Op::Negative | Op::Positive | Op::Sign | Op::Subtract if bools => None,
        op if op.is_logical() && (weak || own.first() != own.last()) => Some(loop_types("???")),
        op if op.is_comparison() => {
            let kinds = [own.first()?, own.last()?].map(|&dtype| (dtype, Descr::native(dtype).kind()));
            match kinds {
                [(_, Kind::Signed), (DType::UInt64, _)] => Some(loop_types("lL?")),
                [(DType::UInt64, _), (_, Kind::Signed)] => Some(loop_types("Ll?")),
                _ => first(ufunc, own),
            }
        }
        _ => first(ufunc, own),
    }
}

/// Returns the first loop to which all inputs can be cast safely.
fn first(ufunc: &Ufunc, own: &[DType]) -> Option<LoopTypes> {
    let fits = |codes: &&str| {
        own.iter().zip(codes.bytes()).all(|(&from, code)| {
            let to = dtype_of(code);
            from == to || promoted(from, to) == to
        })
    };
    ufunc.runnable().find(fits).map(loop_types)
}

/// Returns the dtypes of the loop for these operands.
///
/// # Errors
/// TypeError in NumPy's words if there is none.
pub(crate) fn resolve(
    ufunc: &Ufunc,
    inputs: &[In],
    dtype: Option<Descr>,
    casting: Casting,
    signature: Option<&[Option<Descr>]>,
) -> Result<LoopTypes> {
    let own = strong(ufunc, inputs);
    let mut fixed: SmallVec<[Option<DType>; 4]> = SmallVec::from_elem(None, ufunc.nin + ufunc.nout);
    if let Some(signature) = signature {
        // A single dtype is that of the output.
        let start = if signature.len() == 1 { ufunc.nin } else { 0 };
        for (at, descr) in signature.iter().enumerate() {
            if let Some(place) = fixed.get_mut(start + at) {
                *place = descr.map(|descr| descr.dtype);
            }
        }
    }
    if let Some(descr) = dtype {
        fixed.iter_mut().skip(ufunc.nin).for_each(|place| *place = Some(descr.dtype));
    }
    let is_fixed = fixed.iter().any(Option::is_some);
    let has_weak = inputs.iter().any(|input| matches!(input, In::Weak(_)));
    let usual = usual(ufunc, &own, has_weak);
    if !is_fixed {
        return usual.ok_or_else(|| no_loop(ufunc, inputs));
    }
    let agrees = |types: &LoopTypes| -> bool {
        types.len() == fixed.len()
            && types.iter().zip(&fixed).all(|(&own, fixed)| fixed.is_none_or(|fixed| fixed == own))
    };
    if let Some(types) = usual.filter(agrees) {
        return Ok(types);
    }
    let castable = |types: &LoopTypes| {
        let free = own.iter().zip(types).zip(&fixed);
        free.into_iter().all(|((&from, &to), fixed)| {
            // The magnitude of a complex number is that of its own precision.
            let is_other = ufunc.op == Op::Absolute && to.is_complex() && from != to;
            fixed.is_some() || !is_other && casting.allows(Descr::native(from), Descr::native(to))
        })
    };
    if let Some(types) = ufunc.all_loops().find(|types| agrees(types) && castable(types)) {
        return Ok(types);
    }
    // Casting the inputs of this one then fails.
    if let Some(types) = ufunc.all_loops().find(agrees) {
        return Ok(types);
    }
    match ufunc.op {
        Op::Gcd | Op::Lcm => Err(no_match(ufunc, inputs, &fixed)),
        _ => Err(Error::type_error(format!(
            "No loop matching the specified signature and casting was found for ufunc {}",
            ufunc.name
        ))),
    }
}

fn class(dtype: DType) -> String {
    let name = Descr::native(dtype).name();
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).unwrap_or_default();
    let rest = letters.as_str();
    let rest = if name.starts_with('u') { format!("I{}", &rest[1..]) } else { rest.to_owned() };
    format!("<class 'numpy.dtypes.{first}{rest}DType'>")
}

fn class_of(input: &In) -> String {
    match input {
        In::Array(descr) => class(descr.dtype),
        In::Weak(Weak::Integer) => "<class 'numpy.dtypes._PyLongDType'>".to_owned(),
        In::Weak(Weak::Floating) => "<class 'numpy.dtypes._PyFloatDType'>".to_owned(),
        In::Weak(Weak::Complex) => "<class 'numpy.dtypes._PyComplexDType'>".to_owned(),
    }
}

fn tuple(items: &[String]) -> String {
    match items {
        [one] => one.clone(),
        items => format!("({})", items.join(", ")),
    }
}

fn no_match(ufunc: &Ufunc, inputs: &[In], fixed: &[Option<DType>]) -> Error {
    let input = |(at, input): (usize, &In)| match fixed.get(at) {
        Some(Some(dtype)) => class(*dtype),
        _ => class_of(input),
    };
    let ins: Vec<String> = inputs.iter().enumerate().map(input).collect();
    let outs: Vec<String> =
        fixed.iter().skip(ufunc.nin).map(|fixed| fixed.map_or_else(|| "None".to_owned(), class)).collect();
    Error::new(
        ErrorKind::Other("UFuncTypeError"),
        format!(
            "ufunc '{}' did not contain a loop with signature matching types {} -> {}",
            ufunc.name,
            tuple(&ins),
            tuple(&outs)
        ),
    )
}

fn no_loop(ufunc: &Ufunc, inputs: &[In]) -> Error {
    let bools = inputs.iter().all(|input| matches!(input, In::Array(descr) if descr.dtype == DType::Bool));
    match ufunc.op {
        Op::Subtract if bools => Error::type_error(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the \
             logical_xor function instead.",
        ),
        Op::Negative if bools => Error::type_error(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not \
             function instead.",
        ),
        Op::Gcd | Op::Lcm | Op::Positive | Op::Sign | Op::Matmul | Op::Vecdot | Op::Matvec | Op::Vecmat => {
            no_match(ufunc, inputs, &vec![None; ufunc.nin + ufunc.nout])
        }
        _ => Error::type_error(format!(
            "ufunc '{}' not supported for the input types, and the inputs could not be safely coerced to any supported \
             types according to the casting rule ''safe''",
            ufunc.name
        )),
    }
}
