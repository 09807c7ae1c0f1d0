//! Operators and functions of numbers, where Rhai's own would differ from Python's and PyTorch's.
//!
//! The engine compares floats within a relative epsilon (`1.0 < inf` is false) and divides integers silently. Its
//! built-in operators bypass registered functions. Their tokens are therefore disabled and registered again as custom
//! operators, which the engine resolves like any call: see docs/architecture.md for the cost.

use super::native::any;
use super::runtime::Runtime;
use super::values::{is_ours, to_dynamic, to_value};
use super::{Scripted, fault, words};
use num_bigint::BigInt;
use objects::operators;
use rhai::{
    AST, ASTNode, Dynamic, Engine, EvalAltResult, Expr, FuncRegistration, ImmutableString, Module, NativeCallContext,
    Position, RhaiFunc, Stmt, Token,
};
use std::any::TypeId;
use std::cmp::Ordering;
use std::rc::Rc;
use tensor::{Error, Result};
use value::Value;
use value::equality::truth;
use value::numbers::{self, Number};

/// A comparison: its symbol, the engine's precedence, and the orders for which it is true. For unordered numbers, only
/// `!=` is true.
struct Comparison {
    symbol: &'static str,
    precedence: u8,
    holds: fn(Option<Ordering>) -> bool,
}

const COMPARISONS: &[Comparison] = &[
    Comparison { symbol: "==", precedence: 90, holds: |order| order == Some(Ordering::Equal) },
    Comparison { symbol: "!=", precedence: 90, holds: |order| order != Some(Ordering::Equal) },
    Comparison { symbol: "<", precedence: 130, holds: |order| order.is_some_and(Ordering::is_lt) },
    Comparison { symbol: "<=", precedence: 130, holds: |order| order.is_some_and(Ordering::is_le) },
    Comparison { symbol: ">", precedence: 130, holds: |order| order.is_some_and(Ordering::is_gt) },
    Comparison { symbol: ">=", precedence: 130, holds: |order| order.is_some_and(Ordering::is_ge) },
];

/// An operator that keeps the engine's meaning. A note at the prompt compares the result with Python's.
struct RhaiOperator {
    symbol: &'static str,
    precedence: u8,
    ints: fn(i64, i64) -> Scripted<i64>,
    /// `None` if the engine does not have the operator for floats.
    floats: Option<fn(f64, f64) -> f64>,
    /// What to write for Python's result.
    advice: &'static str,
}

const RHAI_OPERATORS: &[RhaiOperator] = &[
    RhaiOperator {
        symbol: "/",
        precedence: 180,
        ints: |a, b| match b {
            0 => Err(arithmetic(format!("Division by zero: {a} / {b}"))),
            b => a.checked_div(b).ok_or_else(|| arithmetic(format!("Division overflow: {a} / {b}"))),
        },
        floats: Some(|a, b| a / b),
        advice: "`7.0 / 2` divides floats, `torch.floor_divide(7, 2)` rounds down",
    },
    RhaiOperator {
        symbol: "%",
        precedence: 180,
        ints: |a, b| match b {
            0 => Err(arithmetic(format!("Modulo division by zero: {a} % {b}"))),
            b => Ok(a.checked_rem(b).unwrap_or(0)),
        },
        floats: Some(|a, b| a % b),
        advice: "`torch.remainder(a, b)` has the sign of the divisor",
    },
    RhaiOperator { symbol: "<<", precedence: 210, ints: |a, b| Ok(shifted(a, b)), floats: None, advice: SHIFTS },
    RhaiOperator {
        symbol: ">>",
        precedence: 210,
        ints: |a, b| Ok(shifted(a, b.saturating_neg())),
        floats: None,
        advice: SHIFTS,
    },
];

const SHIFTS: &str = "Rhai's whole numbers have 64 bits";

fn arithmetic(text: String) -> Box<EvalAltResult> {
    EvalAltResult::ErrorArithmetic(text, Position::NONE).into()
}

/// Shifts left, or right if `by` is negative. Bits beyond the 64th are lost, as in the engine.
fn shifted(number: i64, by: i64) -> i64 {
    match u32::try_from(by.unsigned_abs()) {
        Ok(bits @ 0..=63) if by >= 0 => number << bits,
        Ok(bits @ 0..=63) => number >> bits,
        _ if by >= 0 || number >= 0 => 0,
        _ => -1,
    }
}

/// Replaces the operator tokens.
///
/// # Errors
/// Fails with the engine's reason if it rejects an operator.
pub(crate) fn register_operators(engine: &mut Engine, state: &Rc<Runtime>) -> std::result::Result<(), String> {
    let (int, float) = (TypeId::of::<i64>(), TypeId::of::<f64>());
    let numbers = [[int, int], [int, float], [float, int], [float, float]];
    for &Comparison { symbol, precedence, holds } in COMPARISONS {
        engine.disable_symbol(symbol).register_custom_operator(symbol, precedence)?;
        let in_condition = words::in_condition(symbol);
        engine.register_custom_operator(in_condition, precedence)?;
        engine.register_raw_fn(in_condition, any(2), move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
            let [a, b] = args else { return Ok(Dynamic::UNIT) };
            let answer = context.call_native_fn_raw(symbol, true, &mut [&mut a.clone(), &mut b.clone()])?;
            if is_ours(&answer) {
                return to_value(&answer).and_then(|answer| truth(&answer)).map(Dynamic::from).map_err(fault::thrown);
            }
            Ok(answer)
        });
        for types in numbers {
            for name in [symbol, in_condition] {
                engine.register_raw_fn(name, types, move |_, args| Ok(Dynamic::from(holds(order(args)))));
            }
        }
        engine.register_raw_fn(symbol, [TypeId::of::<bool>(); 2], move |_, args| {
            let [a, b] = args else { return Ok(Dynamic::UNIT) };
            Ok(Dynamic::from(holds(Some(a.as_bool().unwrap_or(false).cmp(&b.as_bool().unwrap_or(false))))))
        });
        engine.register_raw_fn(symbol, [TypeId::of::<ImmutableString>(); 2], move |_, args| {
            let [a, b] = args else { return Ok(Dynamic::UNIT) };
            let (a, b) = (a.read_lock::<ImmutableString>(), b.read_lock::<ImmutableString>());
            Ok(Dynamic::from(holds(a.zip(b).map(|(a, b)| a.as_str().cmp(b.as_str())))))
        });
    }
    for kept in RHAI_OPERATORS {
        engine.disable_symbol(kept.symbol).register_custom_operator(kept.symbol, kept.precedence)?;
        for types in numbers.into_iter().filter(|types| kept.floats.is_some() || *types == [int, int]) {
            let state = state.clone();
            engine.register_raw_fn(kept.symbol, types, move |_, args| kept.answer(&state, args));
        }
    }
    Ok(())
}

/// Compares two numbers: exact between integers and floats, `None` for NaN.
fn order(args: &[&mut Dynamic]) -> Option<Ordering> {
    let [a, b] = args else { return None };
    match (a.as_int(), b.as_int()) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        (Err(_), Err(_)) => a.as_float().ok()?.partial_cmp(&b.as_float().ok()?),
        _ => numbers::order(&number(a)?, &number(b)?),
    }
}

fn number(value: &Dynamic) -> Option<Number> {
    value.as_int().map(Number::Int).or_else(|_| value.as_float().map(Number::Float)).ok()
}

impl RhaiOperator {
    fn answer(&self, state: &Runtime, args: &[&mut Dynamic]) -> Scripted<Dynamic> {
        let [a, b] = args else { return Ok(Dynamic::UNIT) };
        let answer = match (a.as_int(), b.as_int(), self.floats) {
            (Ok(a), Ok(b), _) => {
                let answer = (self.ints)(a, b)?;
                // For most operands, the signs and the remainder alone tell that Python's result is the same.
                let is_plain = match self.symbol {
                    "/" => answer.checked_mul(b) == Some(a),
                    "%" => answer == 0 || (answer < 0) == (b < 0),
                    "<<" => (0..64).contains(&b) && answer >> b == a,
                    _ => b >= 0,
                };
                if is_plain {
                    return Ok(answer.into());
                }
                answer.into()
            }
            (.., Some(floats)) => {
                let [x, y] =
                    [a, b].map(|number| number.as_float().unwrap_or_else(|_| number.as_int().unwrap_or(0) as f64));
                let answer = floats(x, y);
                let is_plain = y != 0.0 && (self.symbol == "/" || answer == 0.0 || (answer < 0.0) == (y < 0.0));
                if is_plain {
                    return Ok(answer.into());
                }
                answer.into()
            }
            _ => return Ok(Dynamic::UNIT),
        };
        self.compare_with_python(state, a, b, &answer);
        Ok(answer)
    }

    /// Adds a note with Python's result if it differs, once per session.
    #[cold]
    fn compare_with_python(&self, state: &Runtime, a: &Dynamic, b: &Dynamic, answer: &Dynamic) {
        if state.noted.borrow().contains(self.symbol) {
            return;
        }
        let Some(operator) = operators::find(self.symbol) else { return };
        let values = [a, b, answer].map(to_value);
        let [Ok(a), Ok(b), Ok(answer)] = values else { return };
        let shown = |value: &Value| state.repr(value).unwrap_or_default();
        let python = match operators::binary(state, operator, &a, &b) {
            Ok(python) => {
                let both = numbers::number(&python).zip(numbers::number(&answer));
                if both.is_some_and(|(python, answer)| is_same(&python, &answer)) {
                    return;
                }
                format!("gives {}", shown(&python))
            }
            Err(error) => format!("raises {}", error.kind.name()),
        };
        state.noted.borrow_mut().insert(self.symbol);
        let input = format!("{} {} {}", shown(&a), self.symbol, shown(&b));
        let note = format!("`{input}` is {} in Rhai; Python {python}: {}", shown(&answer), self.advice);
        state.notes.borrow_mut().push((self.symbol, note));
    }
}

/// Adds notes on operators for which the engine calls no function of ours: `n /= 2` with an integer, and powers that
/// did not yield a number.
pub fn note_builtin_operators(state: &Runtime, ast: &AST, variable: &dyn Fn(&str) -> Option<Dynamic>, value: &Dynamic) {
    let mut found = Vec::new();
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Assignment(parts))) => {
                if let (Some((.., symbol, _, _)), Expr::Variable(name, ..)) =
                    (parts.0.get_op_assignment_info(), &parts.1.lhs)
                    && let Some(left) = variable(&name.1).and_then(|value| value.as_int().ok())
                {
                    match symbol {
                        "/=" => found.push((
                            "/=",
                            format!("`/=` leaves {} a whole number in Rhai; Python makes it a float", name.1),
                        )),
                        "%=" if left < 0 => found.push((
                            "%=",
                            "`%=` has the sign of the dividend in Rhai, in Python that of the divisor".to_owned(),
                        )),
                        _ => {}
                    }
                }
            }
            Some(ASTNode::Expr(Expr::FnCall(call, _)))
                if call.op_token == Some(Token::PowerOf) && value.as_float().is_ok_and(|value| !value.is_finite()) =>
            {
                let note = "`**` of floats gives nan or inf in Rhai where Python gives a complex number or an error";
                found.push(("**", note.to_owned()));
            }
            _ => {}
        }
        true
    });
    for (symbol, note) in found {
        if state.noted.borrow_mut().insert(symbol) {
            state.notes.borrow_mut().push((symbol, note));
        }
    }
}

/// Returns whether two numbers have the same kind and value. NaN equals NaN.
fn is_same(a: &Number, b: &Number) -> bool {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Number::Int(_) | Number::Big(_), Number::Int(_) | Number::Big(_)) => numbers::same(a, b),
        _ => false,
    }
}

/// A function of one number, with the same result as PyTorch for a float64 tensor.
type Unary = (&'static str, fn(f64) -> f64);

/// Functions that return a float for every number.
pub const FLOATS: &[Unary] = &[
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Functions that return integers unchanged.
pub const ROUNDING: &[Unary] = &[
    ("ceil", f64::ceil),
    ("ceiling", f64::ceil),
    ("floor", f64::floor),
    ("round", f64::round_ties_even),
    ("trunc", f64::trunc),
];

/// A function of two numbers.
type Binary = (&'static str, fn(f64, f64) -> f64);

const PAIRS: &[Binary] =
    &[("atan", f64::atan2), ("atan2", f64::atan2), ("hypot", f64::hypot), ("log", |x, base| x.ln() / base.ln())];

/// Replaces Rhai's functions, and its properties of the same names.
pub fn register(module: &mut Module) {
    let (int, float) = (TypeId::of::<i64>(), TypeId::of::<f64>());
    for &(name, function) in FLOATS {
        for class in [int, float] {
            add(module, name, &[class], move |args| Ok(function(float_of(args, 0)).into()));
        }
    }
    for &(name, function) in ROUNDING {
        for name in [name.to_owned(), format!("get${name}")] {
            add(module, &name, &[int], |args| Ok(args.first().map(|number| (**number).clone()).unwrap_or_default()));
            add(module, &name, &[float], move |args| Ok(function(float_of(args, 0)).into()));
        }
    }
    for &(name, function) in PAIRS {
        for types in [[int, int], [int, float], [float, int], [float, float]] {
            add(module, name, &types, move |args| Ok(function(float_of(args, 0), float_of(args, 1)).into()));
        }
    }
    for class in [int, float] {
        add(module, "round", &[class, int], |args| round_to(args).map(to_dynamic));
    }
    add(module, "sign", &[float], |args| {
        let number = float_of(args, 0);
        Ok(if number > 0.0 {
            1.0
        } else if number < 0.0 {
            -1.0
        } else {
            0.0
        }
        .into())
    });
    for name in ["int", "get$int"] {
        add(module, name, &[float], |args| numbers::truncated(float_of(args, 0)).map(to_dynamic));
    }
}

/// Python's `round(number, digits)`.
fn round_to(args: &[&mut Dynamic]) -> Result<Value> {
    let [value, digits] = args else { return Ok(Value::None) };
    let digits = BigInt::from(digits.as_int().unwrap_or(0));
    let answer = number(value).and_then(|number| numbers::rounded(&number, Some(&digits)));
    answer.unwrap_or_else(|| Err(Error::type_error("round() takes a number")))
}

fn float_of(args: &[&mut Dynamic], index: usize) -> f64 {
    args.get(index).map_or(0.0, |arg| arg.as_float().unwrap_or_else(|_| arg.as_int().unwrap_or(0) as f64))
}

fn add(module: &mut Module, name: &str, types: &[TypeId], run: impl Fn(&[&mut Dynamic]) -> Result<Dynamic> + 'static) {
    let func = move |_: Option<rhai::NativeCallContext>, args: &mut [&mut Dynamic]| run(args).map_err(fault::thrown);
    FuncRegistration::new(name).in_global_namespace().set_into_module_raw(
        module,
        types,
        RhaiFunc::Method { func: Rc::new(func), has_context: false, is_pure: true, is_volatile: false },
    );
}
