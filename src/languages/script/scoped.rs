//! `no_grad(|| …)`: runs a closure with a switch of recording set, and returns its value. The previous setting is
//! restored afterwards, in every case.

use super::Scripted;
use super::engine::dispatch;
use super::fault;
use super::native::add_calling;
use super::runtime::Runtime;
use super::values::Boxed;
use objects::contexts::{enter_context, exit_context};
use rhai::{Dynamic, FnPtr, Module, NativeCallContext};
use std::any::TypeId;
use std::rc::Rc;
use value::Value;

/// The functions that set a switch, and whether each takes the new setting as an argument.
const SWITCHES: &[(&str, bool)] = &[
    ("no_grad", false),
    ("enable_grad", false),
    ("inference_mode", false),
    ("inference_mode", true),
    ("set_grad_enabled", true),
];

/// The box that holds modules.
type BoxedModule = Boxed<16>;

pub(super) fn register(module: &mut Module, state: &Rc<Runtime>) {
    for (name, is_told) in SWITCHES {
        let mut types = vec![TypeId::of::<FnPtr>()];
        if *is_told {
            types.insert(0, TypeId::of::<bool>());
        }
        add_calling(module, state, name, &types, true, run);
        types.insert(0, TypeId::of::<BoxedModule>());
        add_calling(module, state, name, &types, true, run);
    }
}

/// Leaves a context when dropped, even during unwinding.
struct ContextGuard<'a>(&'a Runtime, Value);

impl Drop for ContextGuard<'_> {
    fn drop(&mut self) {
        // Leaving these contexts only sets two switches and cannot fail.
        let _ = exit_context(self.0, &self.1);
    }
}

fn run(state: &Runtime, context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let Some((closure, others)) = args.split_last_mut() else { return Ok(Dynamic::UNIT) };
    let Some(closure) = closure.read_lock::<FnPtr>().map(|closure| closure.clone()) else { return Ok(Dynamic::UNIT) };
    let Some(family) = state.registry.family(context.fn_name()) else { return Ok(Dynamic::UNIT) };
    let manager = dispatch(state, family, others).map_err(fault::thrown)?;
    enter_context(state, &manager).map_err(fault::thrown)?;
    let within = ContextGuard(state, manager);
    let result = closure.call_raw(context, None, []);
    drop(within);
    result
}
