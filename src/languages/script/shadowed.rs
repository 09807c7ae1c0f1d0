//! Script functions that share their name with a table function. `softmax(x)` calls the script's function;
//! `torch.softmax(x)` and `x.softmax()` still call PyTorch's.
//!
//! For the engine, a method call may also call a script function of that name. It prefers a function typed for the
//! receiver's class, so each class of ours gets one, which forwards the call to the table.

use super::Scripted;
use super::engine::dispatch;
use super::fault;
use super::native::{any, check_complete};
use super::runtime::{MOST_PARAMETERS, Runtime};
use super::values::CLASSES;
use super::words::SOURCE;
use rhai::{Dynamic, Engine, ImmutableString, NativeCallContext};
use std::rc::Rc;

/// The function that these methods forward to. It takes the receiver, the name and the arguments.
const HANDED_ON: &str = "method_";

/// Defines a method on every class for each recorded function.
pub(crate) fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    let noted = state.shadowing.take();
    if noted.is_empty() {
        return;
    }
    let mut text = String::new();
    for (name, count) in noted {
        let parameters: Vec<String> = (0..count).map(|index| format!("a{index}")).collect();
        let parameters = parameters.join(", ");
        // The engine would take `int` for its own integers.
        let classes = CLASSES.iter().map(|(class, _)| *class).filter(|class| *class != "int");
        for class in classes.chain(["Tensor"]) {
            text.push_str(&format!(
                "fn \"{class}\".{name}({parameters}) {{ {HANDED_ON}(this, \"{name}\", {parameters}) }}\n"
            ));
        }
    }
    match engine.compile(&text) {
        Ok(mut ast) => {
            ast.set_source(SOURCE);
            engine.register_global_module(ast.shared_lib().clone());
        }
        Err(error) => state.print(&format!("methods of the table are unavailable: {error}\n")),
    }
}

/// Registers the function that these methods call.
pub(crate) fn register_handed_on(engine: &mut Engine, state: &Rc<Runtime>) {
    for count in 2..=MOST_PARAMETERS + 2 {
        let state = state.clone();
        let run = move |_: NativeCallContext, args: &mut [&mut Dynamic]| call_shadowed(&state, args);
        engine.register_raw_fn(HANDED_ON, any(count), run);
    }
}

fn call_shadowed(state: &Runtime, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let Some(name) = args.get(1) else { return Ok(Dynamic::UNIT) };
    let name = name.read_lock::<ImmutableString>().map(|name| name.clone()).unwrap_or_default();
    let Some(family) = state.registry.family(&name) else { return Ok(Dynamic::UNIT) };
    // Move the receiver to the place of the name.
    args.swap(0, 1);
    let args = args.get_mut(1..).unwrap_or_default();
    dispatch(state, family, args)
        .and_then(|value| state.to_script(value))
        .and_then(check_complete)
        .map_err(fault::thrown)
}
