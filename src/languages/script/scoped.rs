//! `no_grad(|| …)`: a closure that runs while recording is switched, and gives its value. What was before is there again
//! afterwards, whatever has happened.

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

/// The functions that switch, and whether they are told to what.
const SWITCHES: &[(&str, bool)] = &[
    ("no_grad", false),
    ("enable_grad", false),
    ("inference_mode", false),
    ("inference_mode", true),
    ("set_grad_enabled", true),
];

/// The box that modules travel in.
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

/// Leaves a context when it goes, even if the process is unwinding.
struct Within<'a>(&'a Runtime, Value);

impl Drop for Within<'_> {
    fn drop(&mut self) {
        // Leaving these contexts sets two switches, which cannot fail.
        let _ = exit_context(self.0, &self.1);
    }
}

fn run(state: &Runtime, context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let Some((closure, others)) = args.split_last_mut() else { return Ok(Dynamic::UNIT) };
    let Some(closure) = closure.read_lock::<FnPtr>().map(|closure| closure.clone()) else { return Ok(Dynamic::UNIT) };
    let Some(family) = state.registry.family(context.fn_name()) else { return Ok(Dynamic::UNIT) };
    let manager = dispatch(state, family, others).map_err(fault::thrown)?;
    enter_context(state, &manager).map_err(fault::thrown)?;
    let within = Within(state, manager);
    let result = closure.call_raw(context, None, []);
    drop(within);
    result
}
