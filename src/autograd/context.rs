//! The vocabulary of formulas in the derivative table. [`Context`] gives access to the values that a formula may read,
//! and [`Expr`] provides arithmetic on them. Every step calls the function table, so it is recorded if gradients of
//! gradients are wanted.

use super::Functions;
use super::graph::{Argument, Formula, Kept, Node, Shape};
use super::saved::Saved;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;
use tensor::{Dims, Error, Result, Scalar, Tensor, View};
use value::Value;

/// The call that a formula belongs to, and the gradients of its results.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub functions: &'a dyn Functions,
    pub node: &'a Rc<Node>,
    pub formula: &'a Formula,
    pub grads: &'a [Option<Tensor>],
    /// For an argument that is a list of tensors: the position of the tensor whose gradient is wanted.
    pub element: usize,
}

impl<'a> Context<'a> {
    pub fn expr(&self, value: Result<Value>) -> Expr<'a> {
        Expr { functions: self.functions, value }
    }

    /// Returns the gradient of the result.
    pub fn g(&self) -> Expr<'a> {
        self.gradient(0)
    }

    /// Returns the gradient of one of several results, or zeros if no gradient arrived.
    pub fn gradient(&self, output: usize) -> Expr<'a> {
        match (self.grads.get(output), self.node.outputs.get(output)) {
            (Some(Some(gradient)), _) => self.expr(Ok(Value::Tensor(gradient.clone()))),
            (_, Some(shape)) => self.zeros(shape),
            _ => self.expr(Err(missing("a result"))),
        }
    }

    /// Returns whether a gradient of this result arrived.
    pub(crate) fn has_gradient(&self, output: usize) -> bool {
        matches!(self.grads.get(output), Some(Some(_)))
    }

    fn kept(&self, index: usize) -> Option<&'a Kept> {
        match self.formula.args.get(index) {
            Some(Argument::Tensor(kept)) => Some(kept),
            Some(Argument::List(list)) => list.get(self.element),
            _ => None,
        }
    }

    /// Returns an argument: a number, or a tensor that the row declares as used.
    pub fn arg(&self, index: usize) -> Expr<'a> {
        let value = match self.formula.args.get(index) {
            Some(Argument::Plain(value)) => Ok(value.clone()),
            Some(Argument::Subscripts(list)) => {
                let item = |kept: &Option<Kept>| match kept.as_ref().and_then(|kept| kept.saved.as_ref()) {
                    Some(saved) => saved.unpack(None).map(Value::Tensor),
                    None => Ok(Value::None),
                };
                list.iter().map(item).collect::<Result<Vec<_>>>().map(Value::list)
            }
            _ => match self.kept(index).and_then(|kept| kept.saved.as_ref()) {
                Some(saved) => saved.unpack(None).map(Value::Tensor),
                None => Err(missing("an argument")),
            },
        };
        self.expr(value)
    }

    /// Returns the result, if the row declares it as used.
    pub fn result(&self) -> Expr<'a> {
        self.result_at(0)
    }

    pub(crate) fn result_at(&self, output: usize) -> Expr<'a> {
        let results = self.formula.results.borrow();
        let value = match results.get(output) {
            Some(Some(saved)) => Saved::unpack(saved, Some((self.node, output))).map(Value::Tensor),
            _ => Err(missing("a result")),
        };
        self.expr(value)
    }

    /// Returns the shape of an argument.
    pub fn shape(&self, index: usize) -> Result<&'a Shape> {
        self.kept(index).map(|kept| &kept.shape).ok_or_else(|| missing("a tensor"))
    }

    pub fn sizes(&self, index: usize) -> Dims {
        self.kept(index).map(|kept| kept.shape.layout.sizes.clone()).unwrap_or_default()
    }

    /// Returns the sizes of the tensors in a list argument.
    pub(crate) fn list_sizes(&self, index: usize) -> Vec<Dims> {
        match self.formula.args.get(index) {
            Some(Argument::List(list)) => list.iter().map(|kept| kept.shape.layout.sizes.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns an argument that is not a tensor.
    pub fn value(&self, index: usize) -> Value {
        match self.formula.args.get(index) {
            Some(Argument::Plain(value)) => value.clone(),
            _ => Value::None,
        }
    }

    pub fn int(&self, index: usize) -> i64 {
        self.number(index).to_i64()
    }

    pub fn number(&self, index: usize) -> Scalar {
        self.value(index).as_scalar().unwrap_or(Scalar::Int(0))
    }

    pub fn flag(&self, index: usize) -> bool {
        matches!(self.value(index), Value::Bool(true))
    }

    /// Returns a list of integers. `None` gives an empty list.
    pub fn dims(&self, index: usize) -> Dims {
        match self.value(index) {
            Value::Size(dims) => dims,
            Value::Int(one) => Dims::from_slice(&[one]),
            other => other
                .sequence()
                .unwrap_or_default()
                .iter()
                .filter_map(|v| if let Value::Int(i) = v { Some(*i) } else { None })
                .collect(),
        }
    }

    /// Allocates row-major zeros of a shape.
    pub fn zeros(&self, shape: &Shape) -> Expr<'a> {
        self.expr(View::zeros(&shape.layout.sizes, shape.dtype, shape.device).map(Value::from))
    }

    /// Allocates zeros with the size of an argument and the dtype of the gradient.
    pub fn room(&self, index: usize) -> Expr<'a> {
        let made = self.g().tensor().and_then(|g| {
            let (dtype, device) = (g.borrow().dtype, g.borrow().device());
            View::zeros(&self.sizes(index), dtype, device)
        });
        self.expr(made.map(Value::from))
    }

    /// The gradient of a view that leaves elements out: zeros of the argument's size, with the gradient copied to the
    /// view.
    pub fn placed(&self, key: &str, args: &[Value]) -> Expr<'a> {
        let room = self.room(0);
        let placed = room.call(key, args).with("copy_", &self.g(), &[]);
        placed.then(room)
    }

    /// Returns integers as an index tensor.
    pub fn index(&self, values: impl ExactSizeIterator<Item = i64>) -> Expr<'a> {
        let sizes = [values.len() as i64];
        let made = View::from_scalars(&sizes, tensor::DType::Long, values.map(Scalar::Int));
        self.expr(made.map(Value::from))
    }
}

/// The error for a formula that reads a value its row does not declare. A test over the table finds such rows.
fn missing(what: &str) -> Error {
    Error::runtime(format!("the derivative's formula reads {what} that was not saved"))
}

/// A value in a formula: a tensor or a number, or the first error that occurred.
#[derive(Clone)]
pub struct Expr<'a> {
    pub functions: &'a dyn Functions,
    pub value: Result<Value>,
}

impl<'a> Expr<'a> {
    /// Calls a function of the table with this value as its first argument.
    pub fn call(&self, key: &str, rest: &[Value]) -> Expr<'a> {
        let value = self.value.clone().and_then(|first| {
            let mut args = vec![first];
            args.extend_from_slice(rest);
            self.functions.call(key, &args)
        });
        Expr { functions: self.functions, value }
    }

    /// Like [`Expr::call`], but the arguments may be results of failed steps.
    pub fn apply<const N: usize>(&self, key: &str, rest: [Result<Value>; N]) -> Expr<'a> {
        let args: Result<Vec<Value>> = std::iter::once(self.value.clone()).chain(rest).collect();
        let value = args.and_then(|args| self.functions.call(key, &args));
        Expr { functions: self.functions, value }
    }

    /// Like [`Expr::call`], but with another expression as the second argument.
    pub fn with(&self, key: &str, other: &Expr<'a>, rest: &[Value]) -> Expr<'a> {
        let value = self.value.clone().and_then(|first| {
            let mut args = vec![first, other.value.clone()?];
            args.extend_from_slice(rest);
            self.functions.call(key, &args)
        });
        Expr { functions: self.functions, value }
    }

    /// Returns one of several results.
    pub fn field(&self, index: usize) -> Expr<'a> {
        let field = self.value.clone().and_then(|value| {
            let fields = value.sequence().unwrap_or_default();
            fields.get(index).cloned().ok_or_else(|| missing("a result"))
        });
        Expr { functions: self.functions, value: field }
    }

    pub fn tensor(&self) -> Result<Tensor> {
        match self.value.clone()? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(Error::type_error(format!("a gradient must be a Tensor, not {}", other.type_name()))),
        }
    }

    /// Returns `other`, unless `self` is an error.
    pub fn then(self, other: Expr<'a>) -> Expr<'a> {
        if self.value.is_err() { self } else { other }
    }

    /// Continues with an expression that depends on the tensor's value.
    pub fn and(self, go_on: impl FnOnce(Tensor) -> Result<Expr<'a>>) -> Expr<'a> {
        let functions = self.functions;
        match self.tensor().and_then(go_on) {
            Ok(expr) => expr,
            Err(error) => Expr { functions, value: Err(error) },
        }
    }

    pub fn is_complex(&self) -> bool {
        match &self.value {
            Ok(Value::Tensor(tensor)) => tensor.borrow().dtype.is_complex(),
            Ok(Value::Complex(_)) => true,
            _ => false,
        }
    }

    pub fn conj(self) -> Expr<'a> {
        match &self.value {
            Ok(Value::Complex(c)) => Expr { value: Ok(Value::Complex(c.conj())), ..self },
            Ok(Value::Tensor(_)) if self.is_complex() => self.call("conj", &[]),
            _ => self,
        }
    }

    /// Multiplies by the conjugate of a factor. Does nothing if the factor is 1.
    pub fn scaled(self, by: Expr<'a>) -> Expr<'a> {
        match &by.value {
            Ok(Value::Int(1)) => self,
            Ok(Value::Float(one)) if *one == 1.0 => self,
            Ok(Value::Tensor(_)) | Err(_) => self * by.conj(),
            Ok(_) => match by.conj().value {
                Ok(number) => self.call("mul.Scalar", &[number]),
                Err(error) => Expr { value: Err(error), ..self },
            },
        }
    }

    pub fn squared(self) -> Expr<'a> {
        self.clone() * self
    }

    pub fn pow(&self, exponent: Value) -> Expr<'a> {
        self.call("pow.Tensor_Scalar", &[exponent])
    }

    pub fn reshape(&self, sizes: &[i64]) -> Expr<'a> {
        match &self.value {
            Ok(Value::Tensor(tensor)) if tensor.borrow().sizes() == sizes => self.clone(),
            _ => self.call("reshape", &[Value::size(sizes)]),
        }
    }

    /// Sums over dimensions.
    pub fn sum(&self, dims: &[i64], keep: bool) -> Expr<'a> {
        self.call("sum.dim_IntList", &[Value::size(dims), Value::Bool(keep)])
    }

    /// Sets the elements where the mask is true to zero.
    pub fn cleared(&self, mask: &Expr<'a>) -> Expr<'a> {
        self.with("masked_fill.Scalar", mask, &[Value::Int(0)])
    }

    pub fn compare(&self, key: &str, other: impl Into<Value>) -> Expr<'a> {
        self.call(key, &[other.into()])
    }

    /// Takes elements from `self` where the mask is true, and from `other` elsewhere.
    pub fn or_where(self, mask: &Expr<'a>, other: Expr<'a>) -> Expr<'a> {
        mask.apply("where.self", [self.value, other.value])
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $key:literal $number:literal;)*) => {$(
        impl<'a> $operator for Expr<'a> {
            type Output = Expr<'a>;
            fn $method(self, other: Expr<'a>) -> Expr<'a> {
                self.with($key, &other, &[])
            }
        }
        impl<'a> $operator<f64> for Expr<'a> {
            type Output = Expr<'a>;
            fn $method(self, other: f64) -> Expr<'a> {
                self.call($number, &[Value::Float(other)])
            }
        }
    )*};
}

operators! {
    Add add "add.Tensor" "add.Number";
    Sub sub "sub.Tensor" "sub.Number";
    Mul mul "mul" "mul.Scalar";
    Div div "div.Tensor" "div.Scalar";
}

impl<'a> Neg for Expr<'a> {
    type Output = Expr<'a>;
    fn neg(self) -> Expr<'a> {
        self.call("neg", &[])
    }
}
