//! Hooks on gradients. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.register_hook.html>.

use super::{Call, Row, method};
use crate::script::callback::{ScriptHook, is_function};
use crate::tensor::{Hook, Result, Tensor};
use crate::value::{Object, Value};
use crate::{autograd, bail};
use std::any::Any;
use std::rc::Rc;

pub const ROWS: &[Row] = &[
    method(
        "register_hook(Tensor self, any hook) -> any",
        |c| {
            refuse_without_gradient(c.tensor(0)?)?;
            let hook = hook_of(c)?;
            let tensor = c.tensor(0)?;
            Ok(handle(tensor, autograd::add_hook(tensor, hook)))
        },
        "Calls a function with the gradient of this tensor each time it is computed; what it returns takes its place.",
    )
    .python("Tensor.register_hook"),
    method(
        "register_post_accumulate_grad_hook(Tensor self, any hook) -> any",
        |c| {
            let tensor = c.tensor(0)?;
            refuse_without_gradient(tensor)?;
            if !tensor.is_leaf() {
                bail!(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors");
            }
            let hook = hook_of(c)?;
            let tensor = c.tensor(0)?;
            Ok(handle(tensor, autograd::add_after_hook(tensor, hook)))
        },
        "Calls a function with a leaf each time its gradient is complete.",
    )
    .python("Tensor.register_post_accumulate_grad_hook"),
    method(
        "remove(Object self) -> None",
        |c| match &c.value(0) {
            Value::Object(object) if let Some(handle) = object.as_any().downcast_ref::<Handle>() => {
                autograd::remove_hook(&handle.tensor, handle.id);
                Ok(Value::None)
            }
            other => bail!(AttributeError, "'{}' object has no attribute 'remove'", other.type_name()),
        },
        "Takes a hook away.",
    ),
];

fn refuse_without_gradient(tensor: &Tensor) -> Result<()> {
    if !tensor.requires_grad() {
        bail!(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
    }
    Ok(())
}

fn hook_of(call: &Call) -> Result<Rc<dyn Hook>> {
    let function = call.value(1);
    if !is_function(&function) {
        bail!(TypeError, "'{}' object is not callable", function.type_name());
    }
    Ok(Rc::new(ScriptHook { home: call.state.home.borrow().clone(), function }))
}

/// What takes a hook away again.
struct Handle {
    tensor: Tensor,
    id: u64,
}

fn handle(tensor: &Tensor, id: u64) -> Value {
    Value::Object(Rc::new(Handle { tensor: tensor.clone(), id }))
}

impl Object for Handle {
    fn type_name(&self) -> &str {
        "RemovableHandle"
    }
    fn repr(&self) -> String {
        format!("<torch.utils.hooks.RemovableHandle object at {:#x}>", std::ptr::from_ref(self) as usize)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
