//! `torch.autograd.Function`: a function of tensors whose backward is written in a script.
//! Follows <https://pytorch.org/docs/2.7/autograd.html#function>.

use super::callable::Scripted;
use super::callback::Home;
use super::class::{Base, Class, Entry, Instance, Native, class_of, instance_attribute};
use super::descriptors::{StaticMethod, as_object};
use super::fault;
use super::list::items_of;
use super::value::{object, to_dynamic, to_value};
use crate::autograd::custom::{self, Custom, Results};
use crate::autograd::{FREED, Node, Saved};
use crate::bail;
use crate::ops::create;
use crate::tensor::{Error, Result, Tensor};
use crate::value::{Object, Value};
use rhai::{Array, Dynamic, Map};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

pub use crate::functions::{CONTEXT, FUNCTION};

/// The knowledge of `ctx` besides the attributes that a script sets on it.
#[derive(Default)]
pub struct Context {
    needs_input_grad: Vec<bool>,
    to_save: RefCell<Vec<Value>>,
    dirty: RefCell<Vec<Tensor>>,
    not_differentiable: RefCell<Vec<Tensor>>,
    materialize: Cell<bool>,
    /// The saved values; for results, which of them.
    saved: RefCell<Vec<Option<Kept>>>,
    freed: Cell<bool>,
    node: RefCell<Weak<Node>>,
}

/// A saved tensor, and its place among the results if it is one.
struct Kept {
    saved: Saved,
    result: Option<usize>,
}

impl Context {
    fn saved_tensors(&self) -> Result<Value> {
        if self.freed.get() {
            bail!(RuntimeError, "{FREED}");
        }
        let node = self.node.borrow().upgrade();
        let tensor = |kept: &Option<Kept>| match kept {
            None => Ok(Value::None),
            Some(kept) => {
                let owner = node.as_ref().zip(kept.result);
                kept.saved.unpack(owner).map(Value::Tensor)
            }
        };
        let tensors = self.saved.borrow().iter().map(tensor).collect::<Result<Vec<_>>>()?;
        Ok(Value::tuple(tensors))
    }
}

impl Native for Context {
    fn attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match name {
            "saved_tensors" => self.saved_tensors(),
            "needs_input_grad" => Ok(Value::tuple(self.needs_input_grad.iter().copied().map(Value::Bool))),
            "materialize_grads" => Ok(Value::Bool(self.materialize.get())),
            "to_save" => Ok(Value::tuple(self.to_save.borrow().iter().cloned())),
            _ => return None,
        })
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Does something with the context behind `ctx`.
fn with_context(this: &Dynamic, run: impl FnOnce(&Context) -> Result<()>) -> Scripted<Dynamic> {
    let done = as_object(this, |this: &Instance| {
        this.native.as_ref().and_then(|native| native.as_any().downcast_ref::<Context>()).map(run)
    });
    done.unwrap_or(Ok(())).map(|()| Dynamic::UNIT).map_err(fault::thrown)
}

pub fn save_for_backward(this: &Dynamic, args: Array, _: Map) -> Scripted<Dynamic> {
    with_context(this, |context| {
        context.to_save.replace(args.iter().map(to_value).collect::<Result<_>>()?);
        Ok(())
    })
}

pub fn mark_dirty(this: &Dynamic, args: Array, _: Map) -> Scripted<Dynamic> {
    with_context(this, |context| {
        context.dirty.replace(tensors(&args));
        Ok(())
    })
}

pub fn mark_non_differentiable(this: &Dynamic, args: Array, _: Map) -> Scripted<Dynamic> {
    with_context(this, |context| {
        context.not_differentiable.replace(tensors(&args));
        Ok(())
    })
}

pub fn set_materialize_grads(this: &Dynamic, args: Array, _: Map) -> Scripted<Dynamic> {
    with_context(this, |context| {
        let on = args.first().map(to_value).transpose()?.unwrap_or(Value::None);
        context.materialize.set(crate::value::equality::truth(&on)?);
        Ok(())
    })
}

fn tensors(args: &[Dynamic]) -> Vec<Tensor> {
    args.iter().filter_map(|arg| arg.read_lock::<Tensor>().map(|tensor| tensor.clone())).collect()
}

/// The node of such a function.
struct FunctionNode {
    class: Rc<Class>,
    ctx: Rc<Instance>,
    home: Home,
    /// Whether each argument was a tensor.
    is_tensor: Vec<bool>,
}

impl FunctionNode {
    fn context(&self) -> Option<&Context> {
        self.ctx.native.as_ref()?.as_any().downcast_ref()
    }
}

impl Custom for FunctionNode {
    fn attribute(&self, name: &str) -> Option<Result<Value>> {
        let found = instance_attribute(&self.ctx, name).map_err(|error| fault::error_of(&error)).transpose()?;
        Some(found.and_then(|found| to_value(&found)))
    }

    fn backward(&self, node: &Rc<Node>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let materialize = self.context().is_some_and(|context| context.materialize.get());
        let mut args = vec![object(self.ctx.clone())];
        for (gradient, shape) in gradients.iter().zip(&node.outputs) {
            args.push(to_dynamic(match gradient {
                Some(gradient) => Value::Tensor(gradient.clone()),
                None if materialize => {
                    Value::Tensor(Tensor::new(create::zeros(&shape.layout.sizes, shape.dtype, shape.device)?))
                }
                None => Value::None,
            }));
        }
        let class = Base::User(self.class.clone());
        let Some(function) = class.find("backward").or_else(|| class.find("vjp")) else {
            bail!(
                NotImplementedError,
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with \
                 backward mode AD."
            )
        };
        let given = invoke(&self.home, &function, args).and_then(|given| {
            let state = self.home.runtime().map_err(fault::thrown)?;
            let is_tuple = matches!(to_value(&given), Ok(Value::Tuple(_)));
            if is_tuple { items_of(&state, &given).map_err(fault::thrown) } else { Ok(vec![given]) }
        });
        let given = given.map_err(|error| fault::error_of(&error))?;
        let mut given = given.iter().map(to_value).collect::<Result<Vec<Value>>>()?;
        let (name, expected) = (crate::tensor::GradFn::name(&**node), self.is_tensor.len());
        // More than there are arguments, as long as nothing stands there.
        if given.len() > expected && given.iter().skip(expected).all(|value| matches!(value, Value::None)) {
            given.truncate(expected);
        }
        if given.len() != expected {
            bail!(
                RuntimeError,
                "function {name} returned an incorrect number of gradients (expected {expected}, got {})",
                given.len()
            );
        }
        let mut outputs = Vec::new();
        for (i, (value, is_tensor)) in given.into_iter().zip(&self.is_tensor).enumerate() {
            match (value, is_tensor) {
                (Value::None, false) => {}
                (_, false) => bail!(
                    RuntimeError,
                    "function {name} returned a gradient different than None at position {}, but the corresponding \
                     forward input was not a Variable",
                    i + 1
                ),
                (Value::None, true) => outputs.push(None),
                (Value::Tensor(tensor), true) => outputs.push(Some(tensor)),
                (other, true) => bail!(RuntimeError, "expected Variable or None (got {})", other.type_name()),
            }
        }
        Ok(outputs)
    }

    fn take_saved(&self) -> Vec<Saved> {
        let Some(context) = self.context() else { return Vec::new() };
        let saved = context.saved.take();
        if !saved.is_empty() {
            context.freed.set(true);
        }
        saved.into_iter().flatten().map(|kept| kept.saved).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Calls a function that stands in a class, with or without `@staticmethod`.
fn invoke(home: &Home, entry: &Entry, args: Array) -> Scripted<Dynamic> {
    match entry {
        Entry::Held(held) => {
            let function = as_object(held, |method: &StaticMethod| Some(method.0.clone()));
            home.invoke(function.as_ref().unwrap_or(held), args, Map::new())
        }
        Entry::Native(method) => (method.run)(&Dynamic::UNIT, args, Map::new()),
    }
}

/// `MyFunction.apply(*args)`
pub fn apply(this: &Dynamic, args: Array, keywords: Map) -> Scripted<Dynamic> {
    if !keywords.is_empty() {
        return Err(fault::thrown(Error::type_error("apply() takes no keyword arguments")));
    }
    let Some(class) = class_of(this) else {
        return Err(fault::thrown(Error::runtime("apply() belongs to a class derived from torch.autograd.Function")));
    };
    let home = class.home.clone();
    let state = home.runtime().map_err(fault::thrown)?;
    let inputs = tensors(&args);
    let is_tensor: Vec<bool> = args.iter().map(Dynamic::is::<Tensor>).collect();
    let needs_input_grad =
        args.iter().map(|arg| arg.read_lock::<Tensor>().is_some_and(|tensor| tensor.requires_grad())).collect();
    let is_recorded = state.grad_enabled.get() && inputs.iter().any(Tensor::requires_grad);
    let name = format!("{}Backward", class.name.rsplit('.').next().unwrap_or(class.name));
    let context = Context { needs_input_grad, materialize: Cell::new(true), ..Context::default() };
    let ctx_class = Class::within("torch.autograd.function", &name, vec![Base::Builtin(CONTEXT)], home.clone());
    let ctx = Instance::with_native(Base::User(ctx_class.map_err(fault::thrown)?), Rc::new(context));
    let recording = state.grad_enabled.replace(false);
    let output = run_forward(&class, &home, &ctx, args);
    state.grad_enabled.set(recording);
    let output = output?;
    let node = FunctionNode { class, ctx, home, is_tensor };
    finish(name, node, &inputs, &output, is_recorded).map_err(fault::thrown)
}

fn run_forward(class: &Rc<Class>, home: &Home, ctx: &Rc<Instance>, args: Array) -> Scripted<Dynamic> {
    let base = Base::User(class.clone());
    let Some(forward) = base.find("forward") else {
        let message = "You must implement the forward function for custom autograd.Function.";
        return Err(fault::thrown(Error::not_implemented(message)));
    };
    let Some(setup) = base.find("setup_context") else {
        let all = std::iter::once(object(ctx.clone())).chain(args).collect();
        return invoke(home, &forward, all);
    };
    let inputs = args.iter().map(to_value).collect::<Result<Vec<_>>>().map_err(fault::thrown)?;
    let output = invoke(home, &forward, args)?;
    let given = vec![object(ctx.clone()), to_dynamic(Value::tuple(inputs)), output.clone()];
    let _done: Dynamic = invoke(home, &setup, given)?;
    Ok(output)
}

/// Gives the results their history, and saves what is to be saved.
fn finish(name: String, node: FunctionNode, inputs: &[Tensor], output: &Dynamic, is_recorded: bool) -> Result<Dynamic> {
    let value = to_value(output)?;
    let parts = match &value {
        Value::Tuple(parts) => parts.to_vec(),
        single => vec![single.clone()],
    };
    let results: Vec<Tensor> = parts
        .iter()
        .filter_map(|part| if let Value::Tensor(tensor) = part { Some(tensor.clone()) } else { None })
        .collect();
    let ctx = node.ctx.clone();
    let Some(context) = ctx.native.as_ref().and_then(|native| native.as_any().downcast_ref::<Context>()) else {
        return Ok(output.clone());
    };
    let to_save = context.to_save.borrow().clone();
    if !is_recorded {
        return Ok(output.clone());
    }
    let (dirty, not_differentiable) = (context.dirty.take(), context.not_differentiable.take());
    let described = Results { tensors: &results, inputs, dirty: &dirty, not_differentiable: &not_differentiable };
    let (given, recorded) = custom::record(name, Rc::new(node), &described)?;
    context.node.replace(Rc::downgrade(&recorded));
    let mut saved = Vec::new();
    for (i, value) in to_save.iter().enumerate() {
        saved.push(match value {
            Value::None => None,
            Value::Tensor(tensor) => {
                let result = results.iter().position(|result| result.is(tensor));
                let is_input = inputs.iter().any(|input| input.is(tensor));
                let result = result.filter(|_| !is_input || dirty.iter().any(|dirty| dirty.is(tensor)));
                Some(Kept { saved: custom::save(tensor, result.is_some())?, result })
            }
            other => bail!(
                TypeError,
                "save_for_backward can only save variables, but argument {i} is of type {}",
                other.type_name()
            ),
        });
    }
    context.saved.replace(saved);
    context.to_save.take();
    let mut given = given.into_iter();
    let mut parts = parts.into_iter().map(|part| match part {
        Value::Tensor(same) => Value::Tensor(given.next().unwrap_or(same)),
        other => other,
    });
    Ok(to_dynamic(match value {
        Value::Tuple(_) => Value::tuple(parts),
        single => parts.next().unwrap_or(single),
    }))
}

/// `once_differentiable(backward)`: its results cannot be differentiated once more.
pub struct Once(pub Dynamic);

impl Object for Once {
    fn type_name(&self) -> &str {
        "function"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Once {
    pub fn call(&self, home: &Home, args: Array, keywords: Map) -> Scripted<Dynamic> {
        let state = home.runtime().map_err(fault::thrown)?;
        let inputs: Vec<Tensor> = tensors(&args).into_iter().filter(Tensor::requires_grad).collect();
        let recording = state.grad_enabled.replace(false);
        let output = home.invoke(&self.0, args, keywords);
        state.grad_enabled.set(recording);
        let output = output?;
        if !recording || inputs.is_empty() {
            return Ok(output);
        }
        let refused = |value: Value| match value {
            Value::Tensor(tensor) if tensor.borrow().dtype.is_differentiable() => {
                let message = "trying to differentiate twice a function that was marked with @once_differentiable";
                Value::Tensor(custom::refuse(&tensor, &inputs, "torch::autograd::DelayedError", message))
            }
            other => other,
        };
        let value = to_value(&output).map_err(fault::thrown)?;
        Ok(to_dynamic(match value {
            Value::Tuple(parts) => Value::tuple(parts.iter().cloned().map(refused)),
            single => refused(single),
        }))
    }
}
