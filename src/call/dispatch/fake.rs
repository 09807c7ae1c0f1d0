//! Fake tensors: shapes and dtypes computed without memory, on devices that need not exist. A fake tensor is a tensor
//! without data that names another device. Follows PyTorch's `torch._subclasses.fake_tensor`, which its page on
//! storages mentions.

use crate::state::State;
use crate::{Call, Row, function};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use tensor::{Result, Storage, Tensor, View, bail};
use value::{Object, Value};

pub const ROWS: &[Row] = &[function(
    "FakeTensorMode(*, any allow_fallback_kernels=True, bool allow_non_fake_inputs=False, any \
 shape_env=None) -> any",
    |c| Ok(Value::Object(Rc::new(FakeTensorMode { real_too: c.bool(1)?, before: Cell::new(None) }))),
    "Creates a context in which new tensors are fake: they have shapes and no memory.",
)];

/// The context manager. Keeps the previous mode, to restore it on exit.
pub struct FakeTensorMode {
    real_too: bool,
    before: Cell<Option<bool>>,
}

impl Object for FakeTensorMode {
    fn type_name(&self) -> &str {
        "FakeTensorMode"
    }
    fn repr(&self) -> String {
        format!("<torch._subclasses.fake_tensor.FakeTensorMode object at {:#x}>", std::ptr::from_ref(self).addr())
    }
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).map(|state| {
            self.before.set(state.fake_mode.replace(Some(self.real_too)));
            state.has_fakes.set(true);
            None
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        State::of(session)?.fake_mode.set(self.before.get());
        Ok(())
    }
}

fn is_fake(tensor: &Tensor) -> bool {
    tensor.borrow().device().is_fake()
}

fn tensors<'c>(call: &'c Call) -> impl Iterator<Item = &'c Tensor> {
    call.args.iter().filter_map(crate::as_tensor)
}

/// Fails if real tensors are mixed with fake ones, or are used within the context without permission.
///
/// # Errors
/// AssertionError with PyTorch's text.
#[inline]
pub(crate) fn refuse_mixture(call: &Call, row: &Row) -> Result<()> {
    if !call.state.has_fakes.get() {
        return Ok(());
    }
    let mode = call.state.fake_mode.get();
    if mode == Some(true) || mode.is_none() && !tensors(call).any(is_fake) || tensors(call).all(is_fake) {
        return Ok(());
    }
    // Asking a real tensor for its size does not compute anything.
    if !row.signature.rsplit("-> ").next().is_some_and(|kind| kind.starts_with("Tensor")) {
        return Ok(());
    }
    let (name, overload) = call.signature.key.split_once('.').unwrap_or((call.signature.key, "default"));
    let shown: Result<Vec<String>> = call.args.iter().map(|value| shown(call.state, value)).collect();
    let mut shown = shown?;
    // Trailing arguments that equal their defaults are left out.
    for param in call.signature.params.iter().skip(1).rev() {
        let Some(default) = param.default else { break };
        if shown.last() != Some(&call.state.repr(&default.to_value())?) {
            break;
        }
        shown.pop();
    }
    bail!(
        AssertionError,
        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. \
         Found in aten.{name}.{overload}({})",
        shown.join(", ")
    )
}

/// Replaces a new tensor that a function returns within the context by a fake one.
pub fn as_fake(call: &Call, result: Value) -> Result<Value> {
    match &result {
        Value::Tensor(tensor)
            if call.state.fake_mode.get().is_some()
                && !is_fake(tensor)
                && !tensors(call).any(|given| given.is(tensor)) =>
        {
            Ok(Value::Tensor(Tensor::new(without_data(&tensor.borrow())?)))
        }
        _ => Ok(result),
    }
}

/// Formats an argument as PyTorch's message shows it.
fn shown(state: &State, value: &Value) -> Result<String> {
    match value {
        Value::Tensor(tensor) if !is_fake(tensor) => {
            let sizes = state.repr(&Value::ints(tensor.borrow().sizes()))?;
            Ok(format!("tensor([...], size={sizes})"))
        }
        other => state.repr(other),
    }
}

/// Returns the same layout on a fake device of the same name, without bytes.
fn without_data(view: &View) -> Result<View> {
    let storage = Storage::zeroed(view.storage.nbytes(), view.device().as_fake())?;
    Ok(View { storage, ..view.clone() })
}
