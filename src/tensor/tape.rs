//! A tape: the operations on single numbers that give one element of a result, in the order of the kernel. Kernels do
//! not write tapes: `ops::reduce::order` and `ops::matmul::order` repeat their order, one operation at a time.

use crate::{DType, Layout, Scalar};
use half::{bf16, f16};

/// The largest number of elements for which a tape is written: it takes some 50 bytes for each.
pub const LONGEST: i64 = 1 << 20;

/// An operation on two numbers, or a conversion of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// Rounds, or wraps, to another dtype.
    Convert,
    Negate,
    SquareRoot,
    /// Keeps the larger number.
    Larger,
    /// Keeps the smaller number.
    Smaller,
}

/// The part of a kernel that an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// One number after another.
    InTurn,
    /// A lane of one of several sums.
    Lane { sum: u8, lane: u8 },
    /// Adds complete runs.
    Runs,
    /// Adds the sums of a lane.
    Sums,
    /// Combines the lanes.
    Lanes,
    /// The elements that fill no vector.
    Rest,
    /// Joins a part to the result.
    Parts,
    /// Finishes: a division, or rounding to the dtype of the result.
    End,
}

/// A number of a tape: one that was read, or the result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term(u32);

impl Term {
    const STEP: u32 = 1 << 31;

    /// Returns the number of the step that computed it. `None` for a number that was read.
    pub fn step(self) -> Option<usize> {
        (self.0 & Term::STEP != 0).then_some((self.0 & !Term::STEP) as usize)
    }
}

/// A number that was read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The operand and the offset of the element in its layout. `None` for a constant.
    pub element: Option<(u8, i64)>,
    pub dtype: DType,
    bits: u64,
}

/// An operation of a tape.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub operation: Operation,
    pub stage: Stage,
    /// The dtype of the result.
    pub dtype: DType,
    pub operands: [Term; 2],
    bits: u64,
}

/// Operations in order.
#[derive(Clone, Debug)]
pub struct Tape {
    pub reads: Vec<Read>,
    pub steps: Vec<Done>,
    /// The layouts that offsets of elements refer to.
    pub operands: Vec<Layout>,
    /// The last number, which is the element of the result.
    pub result: Option<Term>,
    /// The stage of the next operations.
    pub stage: Stage,
}

impl Tape {
    /// Creates an empty tape about elements of these layouts.
    pub fn new(operands: Vec<Layout>) -> Tape {
        Tape { reads: Vec::new(), steps: Vec::new(), operands, result: None, stage: Stage::InTurn }
    }

    /// Appends an element of an operand.
    pub fn element(&mut self, operand: u8, offset: i64, dtype: DType, value: Scalar) -> Term {
        self.read(Read { element: Some((operand, offset)), dtype, bits: bits(value, dtype) })
    }

    pub fn constant(&mut self, dtype: DType, value: Scalar) -> Term {
        self.read(Read { element: None, dtype, bits: bits(value, dtype) })
    }

    fn read(&mut self, read: Read) -> Term {
        self.reads.push(read);
        Term(self.reads.len() as u32 - 1)
    }

    /// Appends an operation, computes it and returns its result.
    pub fn step(&mut self, operation: Operation, dtype: DType, a: Term, b: Term) -> Term {
        let bits = match dtype.is_floating_point() {
            true => float(operation, self.value(a).to_f64(), self.value(b).to_f64(), dtype).to_bits(),
            false => whole(operation, self.value(a), self.value(b), dtype) as u64,
        };
        self.steps.push(Done { operation, stage: self.stage, dtype, operands: [a, b], bits });
        Term((self.steps.len() as u32 - 1) | Term::STEP)
    }

    /// Adds two numbers. `None` is the zero that an accumulator starts with, and adding it is not a step.
    pub fn add(&mut self, dtype: DType, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.step(Operation::Add, dtype, a, b)),
            // 0 + -0 is 0.
            (one, other) => one.or(other).filter(|&term| !self.is_negative_zero(term)),
        }
    }

    /// Multiplies two numbers. `None` is the one that an accumulator starts with.
    pub fn multiply(&mut self, dtype: DType, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.step(Operation::Multiply, dtype, a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Appends the conversion to a dtype, unless the value stays the same.
    pub fn convert(&mut self, dtype: DType, term: Term) -> Term {
        let value = self.value(term);
        let same = match (dtype.is_floating_point(), self.dtype(term).is_floating_point()) {
            (true, true) => round(value.to_f64(), dtype).to_bits() == value.to_f64().to_bits(),
            (false, false) => wrap(wide(value), dtype) == wide(value),
            _ => false,
        };
        if same { term } else { self.step(Operation::Convert, dtype, term, term) }
    }

    fn is_negative_zero(&self, term: Term) -> bool {
        self.dtype(term).is_floating_point() && self.value(term).to_f64().to_bits() == (-0.0f64).to_bits()
    }

    /// Returns the dtype of a number.
    pub fn dtype(&self, term: Term) -> DType {
        match term.step() {
            Some(step) => self.steps.get(step).map(|step| step.dtype),
            None => self.reads.get(term.0 as usize).map(|read| read.dtype),
        }
        .unwrap_or(DType::Double)
    }

    /// Returns the value of a number.
    pub fn value(&self, term: Term) -> Scalar {
        let bits = match term.step() {
            Some(step) => self.steps.get(step).map(|step| step.bits),
            None => self.reads.get(term.0 as usize).map(|read| read.bits),
        };
        let (bits, dtype) = (bits.unwrap_or_default(), self.dtype(term));
        match dtype {
            DType::Bool => Scalar::Bool(bits != 0),
            DType::UInt64 => Scalar::UInt(bits),
            dtype if dtype.is_floating_point() => Scalar::Float(f64::from_bits(bits)),
            _ => Scalar::Int(bits as i64),
        }
    }

    /// Returns the result of a step.
    pub fn result_of(&self, step: usize) -> Option<Scalar> {
        self.steps.get(step)?;
        Some(self.value(Term(step as u32 | Term::STEP)))
    }

    /// Returns a number that was read.
    pub fn read_value(&self, read: usize) -> Option<Scalar> {
        self.reads.get(read)?;
        Some(self.value(Term(read as u32)))
    }

    /// Returns the element that a number was read from.
    pub fn source(&self, term: Term) -> Option<(u8, i64)> {
        self.reads.get(term.0 as usize).filter(|_| term.step().is_none())?.element
    }
}

fn bits(value: Scalar, dtype: DType) -> u64 {
    if dtype.is_floating_point() { value.to_f64().to_bits() } else { wide(value) as u64 }
}

/// Returns an integer's value.
fn wide(value: Scalar) -> i128 {
    match value {
        Scalar::UInt(value) => value.into(),
        value => value.to_i64().into(),
    }
}

/// Returns the value that an integer has in a dtype.
fn wrap(value: i128, dtype: DType) -> i128 {
    let bits = 8 * dtype.itemsize() as u32;
    match dtype {
        DType::Bool => (value != 0).into(),
        _ if dtype.is_signed() => value << (128 - bits) >> (128 - bits),
        _ => value & ((1 << bits) - 1),
    }
}

fn whole(operation: Operation, a: Scalar, b: Scalar, dtype: DType) -> i128 {
    let (a, b) = match a {
        // A fraction is cut off.
        Scalar::Float(a) => (a as i64 as i128, 0),
        a => (wide(a), wide(b)),
    };
    let exact = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a.wrapping_mul(b),
        Operation::Negate => -a,
        Operation::Larger => a.max(b),
        Operation::Smaller => a.min(b),
        Operation::Divide | Operation::SquareRoot | Operation::Convert => a,
    };
    wrap(exact, dtype)
}

fn float(operation: Operation, a: f64, b: f64, dtype: DType) -> f64 {
    let value = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
        Operation::Convert => a,
        Operation::Negate => -a,
        Operation::SquareRoot => a.sqrt(),
        Operation::Larger if a.is_nan() || a >= b => a,
        Operation::Smaller if a.is_nan() || a <= b => a,
        Operation::Larger | Operation::Smaller => b,
    };
    round(value, dtype)
}

/// Returns the value that a real number has in a dtype.
pub fn fit(value: Scalar, dtype: DType) -> Scalar {
    let mut tape = Tape::new(Vec::new());
    let from = match value {
        Scalar::Float(_) | Scalar::Complex(_) => DType::Double,
        Scalar::UInt(_) => DType::UInt64,
        Scalar::Int(_) | Scalar::Bool(_) => DType::Long,
    };
    let term = tape.constant(from, value);
    let term = tape.convert(dtype, term);
    tape.value(term)
}

/// Rounds to a floating-point dtype. 16-bit floats are rounded to float32 first, as PyTorch's are. For the result of an
/// operation on two of them this gives what rounding once gives.
pub fn round(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::Half => f16::from_f32(value as f32).to_f64(),
        DType::BFloat16 => bf16::from_f32(value as f32).to_f64(),
        DType::Float => f64::from(value as f32),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_and_wrap() {
        let mut tape = Tape::new(Vec::new());
        for (operation, dtype, a, b, wanted) in [
            (Operation::Add, DType::Half, 2048.0, 1.0, 2048.0),
            (Operation::Add, DType::Half, 2048.0, 3.0, 2052.0),
            (Operation::Add, DType::Float, 16_777_216.0, 1.0, 16_777_216.0),
            (Operation::Divide, DType::Float, 1.0, 3.0, f64::from(1.0f32 / 3.0)),
            (Operation::Multiply, DType::BFloat16, 1.0078125, 1.0078125, 1.015625),
            (Operation::Convert, DType::Half, 65520.0, 0.0, f64::INFINITY),
        ] {
            let [a, b] = [a, b].map(|value| tape.constant(DType::Double, Scalar::Float(value)));
            let result = tape.step(operation, dtype, a, b);
            assert_eq!(tape.value(result).to_f64(), wanted, "{operation:?}");
        }
        for (dtype, value, wanted) in
            [(DType::Char, 200, -56), (DType::Byte, 256, 0), (DType::Byte, -1, 255), (DType::Long, -7, -7)]
        {
            let term = tape.constant(DType::Long, Scalar::Int(value));
            let result = tape.convert(dtype, term);
            assert_eq!(tape.value(result).to_i64(), wanted);
        }
        let most = tape.constant(DType::Long, Scalar::Int(i64::MAX));
        let twice = tape.step(Operation::Add, DType::Long, most, most);
        assert_eq!(tape.value(twice).to_i64(), -2);
    }
}
