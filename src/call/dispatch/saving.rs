//! Contexts of `torch.autograd.graph` that decide how tensors saved for gradients are stored until the backward pass.
//! Follows <https://pytorch.org/docs/2.7/autograd.html#torch.autograd.graph.saved_tensors_hooks>.

use crate::state::State;
use crate::{Call, Row, function};
use autograd::{Functions, Packer, Packing};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tensor::bail;
use tensor::ops::copy;
use tensor::{Device, Error, ErrorKind, Result, Tensor, View};
use value::equality::truth;
use value::{Object, Value};

pub const ROWS: &[Row] = &[
    function(
        "autograd.graph.saved_tensors_hooks(any pack_hook, any unpack_hook) -> any",
        |c| {
            let hooks = Hooks { state: c.state.handle(), pack: c.value(0), unpack: c.value(1) };
            Ok(context("torch.autograd.graph.saved_tensors_hooks", Rc::new(hooks)))
        },
        "Creates a context in which a function decides how the tensors that gradients need are saved.",
    )
    .python("saved_tensors_hooks.__init__"),
    function(
        "autograd.graph.save_on_cpu(any pin_memory=False, str device_type=\"cuda\") -> any",
        |c| {
            // PyTorch pins memory if the module `torch.cuda`, or another for the device, is available.
            let packing: Rc<dyn Packing> = match truth(&c.value(0))? {
                true => Rc::new(Copied { pinned: c.str(1)? == "cpu" }),
                false => Rc::new(AsTheyAre),
            };
            Ok(context("torch.autograd.graph.save_on_cpu", packing))
        },
        "Creates a context that saves the tensors gradients need on the CPU, where they already are.",
    )
    .python("save_on_cpu.__init__"),
    function(
        "autograd.graph.disable_saved_tensors_hooks(str error_message) -> any",
        |c| Ok(Value::Object(Rc::new(Refusal { message: c.str(0)?.into(), before: RefCell::default() }))),
        "Creates a context in which such hooks are refused with a message.",
    )
    .python("disable_saved_tensors_hooks"),
    function(
        "autograd.graph.allow_mutation_on_saved_tensors() -> any",
        |_| Ok(Value::Object(Rc::new(Mutation { copies: Rc::new(Copies { valid: Cell::new(true) }) }))),
        "Creates a context in which tensors that gradients need may be changed in place.",
    )
    .python("allow_mutation_on_saved_tensors"),
];

/// Returns how the call being recorded saves its arguments. Like PyTorch, saves them in the order of the parameters'
/// names.
pub fn packer(call: &Call) -> Option<Packer> {
    let packing = call.state.packings.borrow().last()?.clone();
    let mut order: Vec<usize> = (0..call.args.len()).collect();
    order.sort_by_key(|&i| call.signature.params.get(i).map(|param| param.name));
    Some(Packer { packing, order })
}

/// Fails within a context of saved tensor hooks.
///
/// # Errors
/// RuntimeError within such a context.
pub fn refuse_within(state: &State) -> Result<()> {
    if !state.packings.borrow().is_empty() {
        bail!(
            RuntimeError,
            "torch.func.{{grad, vjp, jacrev, hessian}} don't yet support saved tensor hooks. Please open an issue with your \
             use case."
        );
    }
    Ok(())
}

/// A pair of hooks written in the script.
struct Hooks {
    state: Rc<State>,
    pack: Value,
    unpack: Value,
}

impl Packing for Hooks {
    fn pack(&self, tensor: &Tensor) -> Result<Value> {
        let before = self.state.set_recording(false);
        let packed = self.state.call_given(&self.pack, vec![Value::Tensor(tensor.clone())]);
        self.state.set_recording(before);
        packed
    }

    fn unpack(&self, packed: Value) -> Result<Tensor> {
        match self.state.call_given(&self.unpack, vec![packed])? {
            Value::Tensor(tensor) => Ok(tensor),
            other => bail!(
                TypeError,
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}",
                other.type_name()
            ),
        }
    }
}

struct AsTheyAre;

impl Packing for AsTheyAre {
    fn pack(&self, tensor: &Tensor) -> Result<Value> {
        Ok(Value::Tensor(tensor.clone()))
    }

    fn unpack(&self, packed: Value) -> Result<Tensor> {
        crate::one(packed)
    }
}

/// Saves row-major copies. Memory cannot be pinned here.
struct Copied {
    pinned: bool,
}

impl Packing for Copied {
    fn pack(&self, tensor: &Tensor) -> Result<Value> {
        let view = tensor.view();
        if view.form.is_some() {
            return copy::clone(&view).map(Value::from);
        }
        if self.pinned {
            Device::parse("cuda")?.available()?;
        }
        let room = View::zeros(view.sizes(), view.dtype, view.device())?;
        copy::write_into(&room, &view)?;
        Ok(room.into())
    }

    fn unpack(&self, packed: Value) -> Result<Tensor> {
        crate::one(packed)
    }
}

/// Saves copies, which are valid within their context. PyTorch copies a tensor only when it is changed.
struct Copies {
    valid: Cell<bool>,
}

impl Packing for Copies {
    fn pack(&self, tensor: &Tensor) -> Result<Value> {
        copy::clone(&tensor.borrow()).map(Value::from)
    }

    fn unpack(&self, packed: Value) -> Result<Tensor> {
        if !self.valid.get() {
            let message = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was \
                           originally recorded.";
            return Err(Error::new(ErrorKind::AssertionError, message));
        }
        crate::one(packed)
    }
}

/// A context that saves tensors with `packing`.
struct Saving {
    class: &'static str,
    packing: Rc<dyn Packing>,
}

fn context(class: &'static str, packing: Rc<dyn Packing>) -> Value {
    Value::Object(Rc::new(Saving { class, packing }))
}

/// A context in which saved tensor hooks are refused with a message.
struct Refusal {
    message: Rc<str>,
    before: RefCell<Option<Rc<str>>>,
}

/// A context in which saved tensors may be changed in place.
struct Mutation {
    copies: Rc<Copies>,
}

/// The value of a [`Mutation`] context.
struct Allowed;

fn enter_packing(state: &State, packing: Rc<dyn Packing>) -> Result<()> {
    if let Some(message) = state.packing_refused.borrow().as_ref() {
        return Err(Error::runtime(&**message));
    }
    state.packings.borrow_mut().push(packing);
    Ok(())
}

impl Object for Saving {
    fn class_name(&self) -> &'static str {
        self.class
    }
    /// Starts the context. Fails with RuntimeError while hooks are disabled.
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).and_then(|state| {
            enter_packing(state, self.packing.clone())?;
            Ok(Some(Value::None))
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        State::of(session)?.packings.borrow_mut().pop();
        Ok(())
    }
}

/// The class of a context that PyTorch writes as a generator function.
const GENERATED: &str = "contextlib._GeneratorContextManager";

impl Object for Refusal {
    fn class_name(&self) -> &'static str {
        GENERATED
    }
    /// Starts the context. Fails with RuntimeError if hooks are active.
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).and_then(|state| {
            if !state.packings.borrow().is_empty() {
                return Err(Error::runtime(&*self.message));
            }
            self.before.replace(state.packing_refused.replace(Some(self.message.clone())));
            Ok(Some(Value::None))
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        State::of(session)?.packing_refused.replace(self.before.take());
        Ok(())
    }
    fn is_decorator(&self) -> bool {
        true
    }
}

impl Object for Mutation {
    fn class_name(&self) -> &'static str {
        GENERATED
    }
    /// Starts the context. Fails with RuntimeError within another such context, or while hooks are disabled.
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).and_then(|state| {
            if state.mutation_allowed.get() {
                bail!(RuntimeError, "allow_mutation_on_saved_tensors contexts cannot be nested");
            }
            enter_packing(state, self.copies.clone())?;
            state.mutation_allowed.set(true);
            Ok(Some(Value::Object(Rc::new(Allowed))))
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        let state = State::of(session)?;
        state.packings.borrow_mut().pop();
        state.mutation_allowed.set(false);
        self.copies.valid.set(false);
        Ok(())
    }
    fn is_decorator(&self) -> bool {
        true
    }
}

impl Object for Allowed {
    fn class_name(&self) -> &'static str {
        "torch.autograd.graph._AllowMutationOnSavedContext"
    }
}
