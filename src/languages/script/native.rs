//! Helpers to add Rust functions to a module of the engine. Knows none of the functions.

use super::runtime::Runtime;
use super::{Scripted, fault};
use rhai::{Dynamic, FuncRegistration, Module, NativeCallContext, RhaiFunc};
use std::any::TypeId;
use std::rc::Rc;
use tensor::{Result, interrupt};

/// Adds a function over any types; the first argument is passed by reference and never copied back.
pub(super) fn add(
    module: &mut Module,
    name: &str,
    types: &[TypeId],
    run: impl Fn(&mut [&mut Dynamic]) -> Result<Dynamic> + 'static,
) {
    let func = move |_: Option<NativeCallContext>, args: &mut [&mut Dynamic]| {
        run(args).and_then(check_complete).map_err(fault::thrown)
    };
    FuncRegistration::new(name).in_global_namespace().set_into_module_raw(
        module,
        types,
        RhaiFunc::Method { func: Rc::new(func), has_context: false, is_pure: true, is_volatile: true },
    );
}

/// Returns a value unless an interrupt is pending. In that case the value may be incomplete and must not reach a
/// variable.
pub(super) fn check_complete(made: Dynamic) -> Result<Dynamic> {
    interrupt::check().map(|()| made)
}

pub(super) fn any(count: usize) -> Vec<TypeId> {
    vec![TypeId::of::<Dynamic>(); count]
}

/// A function of the engine that receives the context of its call, for calling closures.
pub(super) type Run = fn(&Runtime, &NativeCallContext, &mut [&mut Dynamic]) -> Scripted<Dynamic>;

/// Adds a function that calls closures or functions of Rhai. A pure function does not modify its first argument.
pub(crate) fn add_calling(
    module: &mut Module,
    state: &Rc<Runtime>,
    name: &str,
    types: &[TypeId],
    is_pure: bool,
    run: Run,
) {
    let state = state.clone();
    let func = move |context: Option<NativeCallContext>, args: &mut [&mut Dynamic]| match context {
        Some(context) => run(&state, &context, args),
        None => Ok(Dynamic::UNIT),
    };
    FuncRegistration::new(name).in_global_namespace().set_into_module_raw(
        module,
        types,
        RhaiFunc::Method { func: Rc::new(func), has_context: true, is_pure, is_volatile: true },
    );
}
