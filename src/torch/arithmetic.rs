//! Elementwise operations with parameters or three operands. Follows
//! <https://pytorch.org/docs/2.7/torch.html#pointwise-ops>.

use super::pointwise::{Argument, default, result};
use call::facets::{
    Dispatch::{Coalesced, Own, Refused, RequantizedOneScale, Split},
    Lies,
    NameInference::{Keeps, Unifies},
    ONE_SCALE, Out, Takes,
};
use call::reads::{CHOOSES, EACH};
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::ops::number::{Real, Stored, rounded};
use tensor::ops::pointwise::{self as ops, Output, RealFunction, TernaryOp, UnaryOp};
use tensor::ops::promote::Operand;
use tensor::ops::reduce::sum;
use tensor::ops::view::unsqueeze;
use tensor::ops::{copy, special};
use tensor::{DType, Layout, Result, Scalar, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor? out=None) -> Tensor",
        clamp_tensors,
        "Clamps every element to bounds.",
    )
    .reads(CHOOSES)
    .out(Out::ELEMENTWISE)
    .aliases(&["clip"])
    .names(Unifies),
    both(
        "clamp(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor? out=None) -> Tensor",
        clamp,
        "Clamps every element to bounds.",
    )
    .reads(CHOOSES)
    .out(Out::UNCAST)
    .aliases(&["clip"])
    .names(Keeps)
    .quantized(RequantizedOneScale(ONE_SCALE)),
    method(
        "clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
        clamp_tensors,
        "Clamps every element to bounds, in place.",
    )
    .reads(CHOOSES)
    .aliases(&["clip_"])
    .names(Unifies),
    method(
        "clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
        clamp,
        "Clamps every element to bounds, in place.",
    )
    .reads(CHOOSES)
    .aliases(&["clip_"])
    .names(Keeps),
    both(
        "clamp_min.Tensor(Tensor self, Tensor min, *, Tensor? out=None) -> Tensor",
        at_least_tensor,
        "Raises every element to at least another tensor's.",
    )
    .out(Out::ELEMENTWISE)
    .names(Unifies),
    method(
        "clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)",
        at_least_tensor,
        "Raises every element to at least another tensor's, in place.",
    )
    .names(Unifies),
    both(
        "clamp_max.Tensor(Tensor self, Tensor max, *, Tensor? out=None) -> Tensor",
        at_most_tensor,
        "Lowers every element to at most another tensor's.",
    )
    .out(Out::ELEMENTWISE)
    .names(Unifies),
    method(
        "clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)",
        at_most_tensor,
        "Lowers every element to at most another tensor's, in place.",
    )
    .names(Unifies),
    both(
        "clamp_min(Tensor self, Scalar min, *, Tensor? out=None) -> Tensor",
        at_least,
        "Raises every element to at least a number.",
    )
    .reads(CHOOSES)
    .out(Out::UNCAST)
    .names(Keeps),
    method(
        "clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)",
        at_least,
        "Raises every element to at least a number, in place.",
    )
    .reads(CHOOSES)
    .names(Keeps),
    both(
        "clamp_max(Tensor self, Scalar max, *, Tensor? out=None) -> Tensor",
        at_most,
        "Lowers every element to at most a number.",
    )
    .reads(CHOOSES)
    .out(Out::UNCAST)
    .names(Keeps),
    method(
        "clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)",
        at_most,
        "Lowers every element to at most a number, in place.",
    )
    .reads(CHOOSES)
    .names(Keeps),
    both(
        "lerp.Tensor(Tensor self, Tensor end, Tensor weight, *, Tensor? out=None) -> Tensor",
        lerp,
        "Interpolates linearly between two tensors.",
    )
    .reads(EACH)
    .out(Out::UNCAST),
    both(
        "lerp.Scalar(Tensor self, Tensor end, Scalar weight, *, Tensor? out=None) -> Tensor",
        lerp_number,
        "Interpolates linearly between two tensors.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE),
    method(
        "lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)",
        lerp,
        "Interpolates linearly between two tensors, in place.",
    ),
    method(
        "lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)",
        lerp_number,
        "Interpolates linearly between two tensors, in place.",
    ),
    both(
        "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor? out=None) -> Tensor",
        |c| sum_with(c, TernaryOp::Addcmul),
        "Adds the product of two tensors.",
    )
    .reads(EACH)
    .orders(&["self value tensor1 tensor2"])
    .out(Out::ELEMENTWISE)
    .names(Unifies),
    method(
        "addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)",
        |c| sum_with(c, TernaryOp::Addcmul),
        "Adds the product of two tensors, in place.",
    )
    .reads(EACH)
    .orders(&["self value tensor1 tensor2"])
    .names(Unifies),
    both(
        "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor? out=None) -> Tensor",
        |c| sum_with(c, TernaryOp::Addcdiv),
        "Adds the quotient of two tensors.",
    )
    .reads(EACH)
    .orders(&["self value tensor1 tensor2"])
    .out(Out::ELEMENTWISE)
    .names(Unifies),
    method(
        "addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)",
        |c| sum_with(c, TernaryOp::Addcdiv),
        "Adds the quotient of two tensors, in place.",
    )
    .reads(EACH)
    .orders(&["self value tensor1 tensor2"])
    .names(Unifies),
    both(
        "float_power.Tensor_Tensor(Tensor self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        float_power,
        "Computes the power in double precision.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE.takes(FLOAT_POWER))
    .names(Unifies),
    function(
        "float_power.Scalar(Scalar self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        float_power,
        "Raises a number to the power of every element, in double precision.",
    )
    .out(Out::ELEMENTWISE.takes(FLOAT_POWER))
    .names(Unifies),
    both(
        "float_power.Tensor_Scalar(Tensor self, Scalar exponent, *, Tensor? out=None) -> Tensor",
        float_power,
        "Raises every element to the power of a number, in double precision.",
    )
    .out(Out::ELEMENTWISE.takes(FLOAT_POWER))
    .names(Keeps),
    method(
        "float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)",
        float_power_in_place,
        "Computes the power in double precision, in place.",
    )
    .names(Unifies),
    method(
        "float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
        float_power_in_place,
        "Computes the power in double precision, in place.",
    )
    .names(Keeps),
    both(
        "round.decimals(Tensor self, *, int decimals, Tensor? out=None) -> Tensor",
        round,
        "Rounds to decimal places.",
    )
    .reads(EACH)
    .out(Out::UNCAST),
    method(
        "round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)",
        round,
        "Rounds to decimal places, in place.",
    ),
    function(
        "special.round(Tensor self, *, int decimals=0, Tensor? out=None) -> Tensor",
        round,
        "Rounds to decimal places.",
    )
    .out(Out::UNCAST)
    .operation("round.decimals")
    .derivative_of("round"),
    function(
        "polygamma(int n, Tensor self, *, Tensor? out=None) -> Tensor",
        |c| polygamma(c, 1, 0),
        "Computes a derivative of the digamma function.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE)
    .aliases(&["special.polygamma"])
    .names(Keeps),
    method(
        "polygamma.method(Tensor self, int n) -> Tensor",
        |c| polygamma(c, 0, 1),
        "Computes a derivative of the digamma function.",
    )
    .names(Keeps),
    method(
        "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
        |c| polygamma(c, 0, 1),
        "Computes a derivative of the digamma function, in place.",
    )
    .names(Keeps),
    both(
        "frexp.Tensor(Tensor self, *, Tensor[]? out=None) -> any",
        frexp,
        "Splits every element into a mantissa and an exponent of two.",
    )
    .reads(EACH)
    .out(Out::PLAIN.takes(FREXP)),
    function(
        "complex(Tensor real, Tensor imag, *, Tensor? out=None) -> Tensor",
        |c| complex(c, "complex"),
        "Builds a complex tensor from its real and imaginary parts.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE.takes(COMPLEX)),
    function(
        "polar(Tensor abs, Tensor angle, *, Tensor? out=None) -> Tensor",
        |c| complex(c, "polar"),
        "Builds a complex tensor from lengths and angles.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE.takes(COMPLEX)),
    method("conj_physical_(Tensor(a!) self) -> Tensor(a!)", conj_physical, "Computes the complex conjugate, in place."),
];

const FLOAT_POWER: &[(Takes, &str)] = &[(
    Takes::Same,
    "the output given to float_power has dtype {out} but the operation's result requires dtype {result}",
)];

const FREXP: &[(Takes, &str)] = &[
    (Takes::SameAt(0), "torch.frexp() expects mantissa to have dtype {result} but got {out}"),
    (Takes::SameAt(1), "torch.frexp() expects exponent to have int dtype but got {out}"),
];

const COMPLEX: &[(Takes, &str)] =
    &[(Takes::Same, "Expected object of scalar type {result} but got scalar type {out} for argument 'out'")];

const NAN_TO_NUM: &[(Takes, &str)] =
    &[(Takes::Same, "nan_to_num: dtype of out: {out} should be same as input: {result}")];

const MULTIGAMMA: &[(Takes, &str)] =
    &[(Takes::Castable, "mvlgamma: result type {input} can't be cast to the desired output type {out}")];

/// Declares a function and its in-place form. Aliases after `also` apply to the out-of-place form only.
macro_rules! pairs {
    ($($name:literal $parameters:literal $run:ident $doc:literal $(also $alias:literal)? $([$($facets:tt)*])? $(in place [$($own:tt)*])?;)*) => {
        pub(crate) const PAIRS: &[Row] = &[
            $(both(concat!($name, "(Tensor self", $parameters, ", *, Tensor? out=None) -> Tensor"), $run, $doc)
                .aliases(&[$($alias)?])
                .out(Out::ELEMENTWISE)
                .reads(EACH)
                $($($facets)*)?,
            method(concat!($name, "_(Tensor(a!) self", $parameters, ") -> Tensor(a!)"), $run, concat!($doc, " Works in place."))
                .reads(EACH)
                $($($facets)*)? $($($own)*)?,)*
        ];
    };
}

pairs! {
    "square" "" square "Squares every element." [.names(Keeps).sparse(Split(&Coalesced, &Own(super::sparse_kernels::no_layout))).grad_refused_by("pow")] in place [.sparse(Split(&Refused("pow_.Scalar"), &Own(super::sparse_kernels::no_layout)))];
    "ldexp" ", Tensor other" ldexp "Multiplies by a power of two." [.names(Unifies).grad_refused_by("mul")];
    "logit" ", float? eps=None" logit "Computes the logarithm of the odds." also "special.logit";
    "nan_to_num" ", float? nan=None, float? posinf=None, float? neginf=None" nan_to_num "Replaces NaN and infinities." [.sparse(Split(&Coalesced, &Refused("nan_to_num.out"))).out(Out::ELEMENTWISE.takes(NAN_TO_NUM))];
    "mvlgamma" ", int p" multigamma "Computes the multivariate log-gamma function." also "special.multigammaln" [.out(Out::PLAIN.takes(MULTIGAMMA).lying(Lies::InRows))];
}

fn square(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let two = Scalar::Int(2).into();
    result(call, |output| ops::pow((&view).into(), two, output, default(call)))
}

fn ldexp(call: &mut Call) -> Result<Value> {
    let (view, exponent) = (call.view(0)?, call.view(1)?);
    let two = Scalar::Float(2.0).into();
    let power = ops::pow(two, (&exponent).into(), Output::New, default(call))?;
    result(call, |output| ops::binary(ops::BinaryOp::Mul, (&view).into(), (&power).into(), output, default(call)))
}

fn opt_float(call: &Call, index: usize) -> Result<Option<f64>> {
    if call.is_none(index) { Ok(None) } else { call.scalar(index).map(|s| Some(s.to_f64())) }
}

#[derive(Clone, Copy)]
struct Logit {
    eps: Option<f64>,
}

impl RealFunction for Logit {
    const FUNCTIONS: usize = 1;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        ops::real::ln(special::odds(value, self.eps.map(T::from_f64), |v| v))
    }
    #[inline(always)]
    fn at_narrow<S: Stored<Compute = f32> + Real>(&self, value: f32) -> f32 {
        let odds = special::odds(value, self.eps.map(|eps| rounded::<S>(eps as f32)), rounded::<S>);
        ops::real::ln(odds)
    }
}

fn logit(call: &mut Call) -> Result<Value> {
    // A negative `eps` is treated as if none was given.
    let (view, logit) = (call.view(0)?, Logit { eps: opt_float(call, 1)?.filter(|&eps| eps >= 0.0) });
    result(call, |output| ops::map_real("logit_cpu", ops::FLOATS, &view, output, Some(default(call)), &logit))
}

fn nan_to_num(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let to = [opt_float(call, 1)?, opt_float(call, 2)?, opt_float(call, 3)?];
    result(call, |output| ops::nan_to_num(&view, to, output))
}

fn multigamma(call: &mut Call) -> Result<Value> {
    let (view, p) = (call.view(0)?, call.int(1)?);
    if p < 1 {
        bail!(RuntimeError, "p has to be greater than or equal to 1");
    }
    if call.signature.in_place && view.dtype.is_integral(true) {
        // In place, PyTorch makes the half steps in the integer dtype, where a step of 0.5 becomes zero.
        bail!(RuntimeError, "step must be nonzero");
    }
    let count = p as f64;
    if count >= -(i64::MIN as f64) {
        bail!(RuntimeError, "IntArrayRef contains an int that cannot be represented as a SymInt: {}", i64::MIN);
    }
    // Adds each half step (1-p)/2, …, -1/2, 0 to every element, along a new last dimension.
    let dtype = if view.dtype.is_floating_point() { view.dtype } else { default(call) };
    let room = View::zeros(&[count as i64], dtype, view.device())?;
    let halves = (0..room.numel()).map(|k| Scalar::Float((k + 1 - p) as f64 / 2.0));
    let halves = View::from_scalars(&[p], dtype, halves)?;
    let elements = unsqueeze(&view, -1)?;
    let shifted = ops::add((&halves).into(), (&elements).into(), Scalar::Int(1), Output::New, dtype)?;
    let sum = sum(&ops::unary(UnaryOp::Lgamma, &shifted, Output::New, dtype)?, Some(&[-1]), false, None)?;
    let constant = Scalar::Float(count * (count - 1.0) * std::f64::consts::PI.ln() * 0.25);
    result(call, |output| ops::add((&sum).into(), constant.into(), Scalar::Int(1), output, default(call)))
}

fn round(call: &mut Call) -> Result<Value> {
    let (view, decimals) = (call.view(0)?, call.int(1)?);
    if decimals == 0 {
        // Dtypes without decimals are rejected even though rounding to 0 decimals would leave them as they are.
        ops::check_kernel("round_vml_cpu", ops::classes::FLOAT | ops::classes::COMPLEX, view.dtype)?;
        return result(call, |output| ops::unary(ops::UnaryOp::Round, &view, output, default(call)));
    }
    let scale = 10f64.powi(decimals.unsigned_abs().min(400) as i32);
    let single = view.dtype != DType::Double;
    let round = move |x: f64| if single { f64::from(x as f32) } else { x };
    let function = move |x: f64| {
        if decimals < 0 {
            round(x / scale).round_ties_even() * scale
        } else {
            round(x * scale).round_ties_even() / scale
        }
    };
    result(call, |output| ops::map_real("round_cpu", ops::FLOATS, &view, output, None, &function))
}

fn polygamma(call: &mut Call, this: usize, order: usize) -> Result<Value> {
    let (view, n) = (call.view(this)?, call.int(order)?);
    if n < 0 {
        bail!(RuntimeError, "polygamma(n, x) does not support negative n.");
    }
    result(call, |output| match n {
        0 => ops::unary(UnaryOp::Digamma, &view, output, default(call)),
        1 => ops::map_real("trigamma", ops::FLOATS, &view, output, Some(default(call)), &Trigamma),
        _ => ops::map_real("polygamma", ops::FLOATS, &view, output, Some(default(call)), &Polygamma(n)),
    })
}

#[derive(Clone, Copy)]
struct Trigamma;

impl RealFunction for Trigamma {
    const FUNCTIONS: usize = 2;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        special::trigamma(value)
    }
}

/// The polygamma function of order 2 or higher.
#[derive(Clone, Copy)]
struct Polygamma(i64);

impl RealFunction for Polygamma {
    const FUNCTIONS: usize = 8;
    fn at<T: Real>(&self, value: T) -> T {
        special::polygamma(self.0, value)
    }
    fn at_narrow<S: Stored<Compute = f32> + Real>(&self, value: f32) -> f32 {
        self.at(S::narrow(value)).widen()
    }
}

fn sum_with(call: &mut Call, op: TernaryOp) -> Result<Value> {
    let (a, b, c) = (call.view(0)?, call.view(1)?, call.view(2)?);
    let value = call.scalar(3)?;
    result(call, |output| ops::ternary(op, [&a, &b, &c], value, output, default(call)))
}

fn lerp(call: &mut Call) -> Result<Value> {
    let (a, b, c) = (call.view(0)?, call.view(1)?, call.view(2)?);
    result(call, |output| ops::ternary(TernaryOp::Lerp, [&a, &b, &c], Scalar::Int(1), output, default(call)))
}

fn lerp_number(call: &mut Call) -> Result<Value> {
    let (a, b, weight) = (call.view(0)?, call.view(1)?, call.scalar(2)?);
    result(call, |output| ops::lerp_number(&a, &b, weight, output, default(call)))
}

fn clamp(call: &mut Call) -> Result<Value> {
    let bound = |i: usize| if call.is_none(i) { Ok(None) } else { call.scalar(i).map(Some) };
    let (view, bounds) = (call.view(0)?, [bound(1)?, bound(2)?]);
    result(call, |output| ops::clamp(&view, bounds, output, default(call)))
}

fn clamp_tensors(call: &mut Call) -> Result<Value> {
    let bound = |i: usize| if call.is_none(i) { Ok(None) } else { call.view(i).map(Some) };
    let (view, low, high) = (call.view(0)?, bound(1)?, bound(2)?);
    result(call, |output| ops::clamp_tensors(&view, [low.as_ref(), high.as_ref()], output, default(call)))
}

fn at_least_tensor(call: &mut Call) -> Result<Value> {
    let (view, bound) = (call.view(0)?, call.view(1)?);
    result(call, |output| ops::clamp_tensors(&view, [Some(&bound), None], output, default(call)))
}

fn at_most_tensor(call: &mut Call) -> Result<Value> {
    let (view, bound) = (call.view(0)?, call.view(1)?);
    result(call, |output| ops::clamp_tensors(&view, [None, Some(&bound)], output, default(call)))
}

fn at_least(call: &mut Call) -> Result<Value> {
    let (view, bound) = (call.view(0)?, call.scalar(1)?);
    result(call, |output| ops::clamp(&view, [Some(bound), None], output, default(call)))
}

fn at_most(call: &mut Call) -> Result<Value> {
    let (view, bound) = (call.view(0)?, call.scalar(1)?);
    result(call, |output| ops::clamp(&view, [None, Some(bound)], output, default(call)))
}

/// Raises to a power in `float64`, or in `complex128` if an operand is complex.
fn float_power(call: &mut Call) -> Result<Value> {
    let operands = [Argument::of(call, 0)?, Argument::of(call, 1)?];
    let complex = operands.iter().any(|operand| match operand {
        Argument::Tensor(view) => view.dtype.is_complex(),
        Argument::Number(number) => matches!(number, Scalar::Complex(_)),
    });
    let dtype = if complex { DType::ComplexDouble } else { DType::Double };
    let wide = |operand: Argument| match operand {
        Argument::Tensor(view) => copy::cast(&view, dtype).map(Wide::Tensor),
        Argument::Number(number @ Scalar::Complex(_)) => Ok(Wide::Number(number)),
        Argument::Number(number) => Ok(Wide::Number(Scalar::Float(number.to_f64()))),
    };
    let [base, exponent] = operands;
    let (base, exponent) = (wide(base)?, wide(exponent)?);
    ops::pow(base.operand(), exponent.operand(), Output::New, dtype).map(Value::from)
}

/// A converted operand.
enum Wide {
    Tensor(View),
    Number(Scalar),
}

impl Wide {
    fn operand(&self) -> Operand<'_> {
        match self {
            Wide::Tensor(view) => Operand::Tensor(view),
            Wide::Number(number) => Operand::Number(*number),
        }
    }
}

fn float_power_in_place(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let result = float_power(call)?;
    let Value::Tensor(result) = result else { return Ok(result) };
    let result = result.view();
    if result.dtype != view.dtype {
        bail!(
            RuntimeError,
            "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
            view.dtype.scalar_type(),
            result.dtype.scalar_type()
        );
    }
    copy::copy_into(&view, &result)?;
    Ok(call.itself())
}

fn frexp(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if !view.dtype.is_floating_point() {
        bail!(RuntimeError, "torch.frexp() only supports floating-point dtypes");
    }
    let mantissa = ops::map_real("frexp_cpu", ops::FLOATS, &view, Output::New, None, &|x: f64| special::frexp(x).0)?;
    let exponent =
        ops::map_real("frexp_cpu", ops::FLOATS, &copy::cast(&view, DType::Double)?, Output::New, None, &|x: f64| {
            f64::from(special::frexp(x).1)
        })?;
    let exponent = copy::cast(&exponent, DType::Int)?;
    Ok(Value::named_tuple(
        "torch.return_types.frexp",
        vec![("mantissa", mantissa.into()), ("exponent", exponent.into())],
    ))
}

fn complex(call: &mut Call, name: &str) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    let fits = |dtype| matches!(dtype, DType::Half | DType::Float | DType::Double);
    if !fits(a.dtype) || !fits(b.dtype) {
        bail!(
            RuntimeError,
            "Expected both inputs to be Half, Float or Double tensors but got {} and {}",
            a.dtype.scalar_type(),
            b.dtype.scalar_type()
        );
    }
    if a.dtype != b.dtype {
        bail!(
            RuntimeError,
            "Expected object of scalar type {} but got scalar type {} for second argument",
            a.dtype.scalar_type(),
            b.dtype.scalar_type()
        );
    }
    let polar = name == "polar";
    if polar && a.dtype == DType::Half {
        bail!(RuntimeError, "\"polar_cpu\" not implemented for 'Half'");
    }
    let new = Output::New;
    let (re, im) = if polar {
        let part = |op| {
            let unit = ops::unary(op, &b, new, a.dtype)?;
            ops::binary(ops::BinaryOp::Mul, (&a).into(), (&unit).into(), new, a.dtype)
        };
        (part(ops::UnaryOp::Cos)?, part(ops::UnaryOp::Sin)?)
    } else {
        (a, b)
    };
    let sizes = tensor::layout::broadcast_sizes(re.sizes(), im.sizes())?;
    let strides = Layout::elementwise_strides(&sizes, &[&re.layout, &im.layout]);
    let out = View::zeros_strided(&sizes, strides, re.dtype.to_complex()?, re.device())?;
    copy::copy_into(&out.complex_part(false), &re)?;
    copy::copy_into(&out.complex_part(true), &im)?;
    Ok(out.into())
}

fn conj_physical(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    copy::copy_into(&view, &ops::conj_physical(&view)?)?;
    Ok(call.itself())
}
