//! `torch.autograd.Function`: a function of tensors with a backward written in a script. Follows
//! <https://pytorch.org/docs/2.7/autograd.html#function>.

use super::calls::call;
use super::class::{Base, Class, Entry, Instance, as_rc, instance_attribute, instance_of};
use super::descriptors::StaticMethod;
use autograd::custom::{self, Custom, Results};
use autograd::{FREED, Node, Packing, Saved};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tensor::bail;
use tensor::ops::create;
use tensor::{Error, Result, Tensor};
use value::equality::truth;
use value::{Keywords, Value, as_tensor};

pub(crate) use objects::modules::CONTEXT;

/// The state of `ctx`, besides the attributes that a script sets on it.
#[derive(Default)]
pub struct Context {
    needs_input_grad: Vec<bool>,
    to_save: RefCell<Option<Vec<Value>>>,
    dirty: RefCell<Option<Vec<Value>>>,
    not_differentiable: RefCell<Option<Vec<Value>>>,
    materialize: Cell<bool>,
    /// Whether missing gradients of results that were marked as not differentiable are zeros too.
    materialize_unmarked: Cell<bool>,
    /// Whether each result has a gradient.
    differentiable: RefCell<Vec<bool>>,
    /// The saved values. For a saved result, the index of the result.
    saved: RefCell<Vec<Option<SavedTensor>>>,
    freed: Cell<bool>,
    node: RefCell<Weak<Node>>,
}

/// A saved tensor, with its index among the results if it is one.
struct SavedTensor {
    saved: Saved,
    result: Option<usize>,
}

impl Context {
    fn saved_tensors(&self) -> Result<Value> {
        if self.freed.get() {
            bail!(RuntimeError, "{FREED}");
        }
        let node = self.node.borrow().upgrade();
        let tensor = |kept: &Option<SavedTensor>| match kept {
            None => Ok(Value::None),
            Some(kept) => {
                let owner = node.as_ref().zip(kept.result);
                kept.saved.unpack(owner).map(Value::Tensor)
            }
        };
        let tensors = self.saved.borrow().iter().map(tensor).collect::<Result<Vec<_>>>()?;
        Ok(Value::tuple(tensors))
    }

    pub fn attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match name {
            "saved_tensors" => self.saved_tensors(),
            "needs_input_grad" => Ok(Value::tuple(self.needs_input_grad.iter().copied().map(Value::Bool))),
            "materialize_grads" => {
                let words = "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable";
                Err(Error::attribute(words))
            }
            "_materialize_non_diff_grads" => Ok(Value::Bool(self.materialize_unmarked.get())),
            "to_save" => Ok(given(&self.to_save)),
            "dirty_tensors" => Ok(given(&self.dirty)),
            "non_differentiable" => Ok(given(&self.not_differentiable)),
            "saved_for_forward" => Ok(Value::None),
            _ => return None,
        })
    }

    /// Sets an attribute that is not stored in the dictionary of `ctx`. Returns `None` for other attributes.
    ///
    /// # Errors
    /// TypeError unless the value is a bool.
    pub fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        let setting = match name {
            "materialize_grads" => &self.materialize,
            "_materialize_non_diff_grads" => &self.materialize_unmarked,
            _ => return None,
        };
        let Value::Bool(on) = value else {
            let message = format!(
                "set_{} received an invalid combination of arguments - got (), but expected (bool)",
                name.trim_start_matches('_')
            );
            return Some(Err(Error::type_error(message)));
        };
        setting.set(*on);
        Some(Ok(()))
    }
}

/// Returns the arguments of a marking method as a tuple, or `None` if it was not called.
fn given(args: &RefCell<Option<Vec<Value>>>) -> Value {
    args.borrow().as_ref().map_or(Value::None, |args| Value::tuple(args.iter().cloned()))
}

/// Calls `run` with the context behind `ctx`.
fn with_context(this: &Value, run: impl FnOnce(&Context)) -> Result<Value> {
    if let Some(context) = instance_of(this).as_ref().and_then(|instance| instance.context.as_ref()) {
        run(context);
    }
    Ok(Value::None)
}

pub(crate) fn save_for_backward(this: &Value, args: Vec<Value>, _: Keywords) -> Result<Value> {
    with_context(this, |context| *context.to_save.borrow_mut() = Some(args))
}

pub(crate) fn mark_dirty(this: &Value, args: Vec<Value>, _: Keywords) -> Result<Value> {
    with_context(this, |context| *context.dirty.borrow_mut() = Some(args))
}

pub(crate) fn mark_non_differentiable(this: &Value, args: Vec<Value>, _: Keywords) -> Result<Value> {
    with_context(this, |context| *context.not_differentiable.borrow_mut() = Some(args))
}

pub(crate) fn set_materialize_grads(this: &Value, args: Vec<Value>, _: Keywords) -> Result<Value> {
    let on = args.first().map_or(Ok(false), truth)?;
    with_context(this, |context| context.materialize.set(on))
}

fn tensors(args: &[Value]) -> Vec<Tensor> {
    args.iter().filter_map(|arg| if let Value::Tensor(tensor) = arg { Some(tensor.clone()) } else { None }).collect()
}

/// Returns the values that a function of a script has returned, as a list.
fn parts_of(returned: &Value) -> Vec<Value> {
    match returned {
        Value::Tuple(parts) => parts.to_vec(),
        single => vec![single.clone()],
    }
}

/// The graph node of such a function.
struct FunctionNode {
    class: Rc<Class>,
    ctx: Rc<Instance>,
    /// Whether each argument was a tensor.
    is_tensor: Vec<bool>,
    /// Whether each result is a tensor.
    gives_tensor: Vec<bool>,
}

impl Custom for FunctionNode {
    fn attribute(&self, name: &str) -> Option<Result<Value>> {
        instance_attribute(&self.ctx, name).transpose()
    }

    fn backward(&self, node: &Rc<Node>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let context = self.ctx.context.as_ref();
        let materialize = context.is_some_and(|context| context.materialize.get());
        let unmarked = context.is_some_and(|context| context.materialize_unmarked.get());
        let differentiable = context.map(|context| context.differentiable.borrow().clone()).unwrap_or_default();
        let mut args = vec![Value::Object(self.ctx.clone())];
        let results = self.gives_tensor.iter().zip(&differentiable);
        for ((gradient, shape), (is_tensor, has_gradient)) in gradients.iter().zip(&node.outputs).zip(results) {
            args.push(match gradient {
                Some(gradient) => Value::Tensor(gradient.clone()),
                None if *is_tensor && materialize && (*has_gradient || unmarked) => {
                    Value::Tensor(Tensor::new(create::zeros(&shape.layout.sizes, shape.dtype, shape.device)?))
                }
                None => Value::None,
            });
        }
        let class = Base::User(self.class.clone());
        let Some(function) = class.find("backward").or_else(|| class.find("vjp")) else {
            bail!(
                NotImplementedError,
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with \
                 backward mode AD."
            )
        };
        let mut given = parts_of(&invoke(&self.class, &function, args)?);
        let (name, expected) = (tensor::GradFn::name(&**node), self.is_tensor.len());
        // Surplus gradients are accepted if they are None.
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
        let Some(context) = &self.ctx.context else { return Vec::new() };
        let saved = context.saved.take();
        if !saved.is_empty() {
            context.freed.set(true);
        }
        saved.into_iter().flatten().map(|kept| kept.saved).collect()
    }
}

/// Calls a function stored in a class, with or without `@staticmethod`.
fn invoke(class: &Rc<Class>, entry: &Entry, args: Vec<Value>) -> Result<Value> {
    match entry {
        Entry::ObjectState(held) => {
            let function = as_rc::<StaticMethod>(held).map_or_else(|| held.clone(), |method| method.0.clone());
            call(&*class.machine()?, &function, args, Keywords::new())
        }
        Entry::Native(method) => (method.run)(&Value::None, args, Keywords::new()),
        Entry::Held(_) => bail!(TypeError, "forward() must be a function"),
    }
}

/// `MyFunction.apply(*args)`
pub(crate) fn apply(this: &Value, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    if !keywords.is_empty() {
        return Err(Error::type_error("apply() takes no keyword arguments"));
    }
    let class = match instance_of(this).map(|instance| instance.class.clone()) {
        Some(Base::User(class)) => Some(class),
        _ => as_rc::<Class>(this),
    };
    let Some(class) = class else {
        return Err(Error::runtime("apply() belongs to a class derived from torch.autograd.Function"));
    };
    let machine = class.machine()?;
    let state = machine.state.clone();
    let inputs = tensors(&args);
    let is_tensor: Vec<bool> = args.iter().map(|arg| matches!(arg, Value::Tensor(_))).collect();
    let needs_input_grad =
        args.iter().map(|arg| matches!(arg, Value::Tensor(tensor) if tensor.requires_grad())).collect();
    let is_recorded = state.grad_enabled.get() && inputs.iter().any(Tensor::requires_grad);
    let name = format!("{}Backward", class.name().rsplit('.').next().unwrap_or(class.name()));
    let settings = (Cell::new(true), Cell::new(true));
    let context =
        Context { needs_input_grad, materialize: settings.0, materialize_unmarked: settings.1, ..Context::default() };
    let ctx_class =
        Class::new(&machine, "torch.autograd.function", &name, vec![Base::Builtin(CONTEXT)], Base::Builtin("type"))?;
    let ctx = Instance::with(Base::User(ctx_class), None, Some(context));
    let recording = state.grad_enabled.replace(false);
    let output = run_forward(&class, &ctx, args);
    state.grad_enabled.set(recording);
    let output = output?;
    let gives_tensor = parts_of(&output).iter().map(|part| matches!(part, Value::Tensor(_))).collect();
    let node = FunctionNode { class, ctx, is_tensor, gives_tensor };
    let packing = state.packings.borrow().last().cloned();
    finish(name, node, &inputs, &output, is_recorded, packing.as_ref())
}

fn run_forward(class: &Rc<Class>, ctx: &Rc<Instance>, args: Vec<Value>) -> Result<Value> {
    let base = Base::User(class.clone());
    let Some(forward) = base.find("forward") else {
        let message = "You must implement the forward function for custom autograd.Function.";
        return Err(Error::not_implemented(message));
    };
    let Some(setup) = base.find("setup_context") else {
        let all = std::iter::once(Value::Object(ctx.clone())).chain(args).collect();
        return invoke(class, &forward, all);
    };
    let inputs = Value::Tuple(args.clone().into());
    let output = invoke(class, &forward, args)?;
    invoke(class, &setup, vec![Value::Object(ctx.clone()), inputs, output.clone()])?;
    Ok(output)
}

/// Attaches the results to the graph, and saves the tensors for backward.
fn finish(
    name: String,
    node: FunctionNode,
    inputs: &[Tensor],
    value: &Value,
    is_recorded: bool,
    packing: Option<&Rc<dyn Packing>>,
) -> Result<Value> {
    let parts = parts_of(value);
    let results: Vec<Option<Tensor>> = parts.iter().map(|part| as_tensor(part).cloned()).collect();
    let ctx = node.ctx.clone();
    let Some(context) = ctx.context.as_ref() else { return Ok(value.clone()) };
    let marked = |args: &RefCell<Option<Vec<Value>>>| tensors(&args.take().unwrap_or_default());
    let (dirty, not_differentiable) = (marked(&context.dirty), marked(&context.not_differentiable));
    let described = Results { results: &results, inputs, dirty: &dirty, not_differentiable: &not_differentiable };
    let work: Option<Rc<dyn Custom>> = if is_recorded { Some(Rc::new(node)) } else { None };
    let (given, recorded) = custom::record(name, work, &described)?;
    let to_save = context.to_save.take().unwrap_or_default();
    if let Some(recorded) = recorded {
        context.node.replace(Rc::downgrade(&recorded.node));
        context.differentiable.replace(recorded.differentiable);
        let mut saved = Vec::new();
        for (i, value) in to_save.iter().enumerate() {
            saved.push(match value {
                Value::None => None,
                Value::Tensor(tensor) => {
                    let result = results.iter().position(|result| result.as_ref().is_some_and(|r| r.is(tensor)));
                    let is_input = inputs.iter().any(|input| input.is(tensor));
                    let result = result.filter(|_| !is_input || dirty.iter().any(|dirty| dirty.is(tensor)));
                    Some(SavedTensor { saved: custom::save(tensor, result.is_some(), packing)?, result })
                }
                other => bail!(
                    TypeError,
                    "save_for_backward can only save variables, but argument {i} is of type {}",
                    other.type_name()
                ),
            });
        }
        context.saved.replace(saved);
    }
    let mut parts = parts.into_iter().zip(given).map(|(part, given)| given.map_or(part, Value::Tensor));
    Ok(match value {
        Value::Tuple(_) => Value::tuple(parts),
        single => parts.next().unwrap_or_else(|| single.clone()),
    })
}

/// `MyFunction()(…)`, which PyTorch refuses since functions have static methods.
pub(crate) fn call_legacy(_: &Value, _: Vec<Value>, _: Keywords) -> Result<Value> {
    bail!(
        RuntimeError,
        "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with \
         static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
    )
}
