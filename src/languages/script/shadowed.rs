//! Functions of a script that share their name with one of the table. `softmax(x)` means the script's; `torch.softmax(x)`
//! and `x.softmax()` go on meaning PyTorch's.
//!
//! For the engine a method call may be a call of any script function of that name. It asks for one of the receiver's own
//! type first, so each class of ours gets one, which hands the call on to the table.

use super::Scripted;
use super::engine::dispatch;
use super::fault;
use super::native::{any, whole};
use super::runtime::{MOST_PARAMETERS, Runtime};
use super::values::CLASSES;
use super::words::SOURCE;
use rhai::{Dynamic, Engine, ImmutableString, NativeCallContext};
use std::rc::Rc;

/// The function that these methods hand their call on to: it takes the receiver, the name and the arguments.
const HANDED_ON: &str = "method_";

/// Gives the classes a method for each function noted.
pub(crate) fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    let noted = state.shadowing.take();
    if noted.is_empty() {
        return;
    }
    let mut text = String::new();
    for (name, count) in noted {
        let parameters: Vec<String> = (0..count).map(|index| format!("a{index}")).collect();
        let parameters = parameters.join(", ");
        // The engine would take `int` for its own whole numbers.
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

/// Adds the function that these methods call.
pub(crate) fn register_handed_on(engine: &mut Engine, state: &Rc<Runtime>) {
    for count in 2..=MOST_PARAMETERS + 2 {
        let state = state.clone();
        let run = move |_: NativeCallContext, args: &mut [&mut Dynamic]| handed_on(&state, args);
        engine.register_raw_fn(HANDED_ON, any(count), run);
    }
}

fn handed_on(state: &Runtime, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let Some(name) = args.get(1) else { return Ok(Dynamic::UNIT) };
    let name = name.read_lock::<ImmutableString>().map(|name| name.clone()).unwrap_or_default();
    let Some(family) = state.registry.family(&name) else { return Ok(Dynamic::UNIT) };
    // The receiver goes where the name was.
    args.swap(0, 1);
    let args = args.get_mut(1..).unwrap_or_default();
    dispatch(state, family, args).and_then(|value| state.give(value)).and_then(whole).map_err(fault::thrown)
}
