//! Closures that methods of arrays and maps call for every item.
//!
//! At each call the engine works out anew how the closure takes the item: as `this`, as its last argument, or followed
//! by its index. Every wrong guess costs an error message. Here the number of parameters decides once for all items.

use super::Scripted;
use super::runtime::Runtime;
use rhai::{Dynamic, EvalAltResult, FnPtr, NativeCallContext, Position};

/// How a closure receives an item.
#[derive(Clone, Copy)]
enum ClosureParameters {
    This,
    ThisAndIndex,
    Item,
    ItemAndIndex,
    /// The engine decides: a native function, or several functions of that name. `is_moved` says whether the item may
    /// become an argument.
    Unknown {
        is_moved: bool,
    },
}

/// A closure called for the items of one array or map.
pub(super) struct Closure<'c, 'e> {
    pointer: FnPtr,
    form: ClosureParameters,
    context: &'c NativeCallContext<'e>,
}

impl<'c, 'e> Closure<'c, 'e> {
    /// A closure that receives the item as `this`, whatever other parameters it has.
    pub(crate) fn on_this(state: &Runtime, context: &'c NativeCallContext<'e>, pointer: FnPtr) -> Closure<'c, 'e> {
        let form = match Closure::parameters(state, &pointer, 0) {
            Some(0) => ClosureParameters::This,
            Some(1) => ClosureParameters::ThisAndIndex,
            _ => ClosureParameters::Unknown { is_moved: false },
        };
        Closure { pointer, form, context }
    }

    /// A closure that takes `before` arguments ahead of the item.
    pub(super) fn new(
        state: &Runtime,
        context: &'c NativeCallContext<'e>,
        pointer: FnPtr,
        before: usize,
    ) -> Closure<'c, 'e> {
        let form = match Closure::parameters(state, &pointer, before) {
            Some(0) => ClosureParameters::This,
            Some(1) => ClosureParameters::Item,
            Some(2) => ClosureParameters::ItemAndIndex,
            _ => ClosureParameters::Unknown { is_moved: true },
        };
        Closure { pointer, form, context }
    }

    /// Returns the number of parameters that remain after the captured ones and `before` more. `None` if functions of
    /// that name differ in arity.
    fn parameters(state: &Runtime, pointer: &FnPtr, before: usize) -> Option<usize> {
        state.only_arity(pointer.fn_name())?.checked_sub(pointer.curry().len() + before)
    }

    /// Calls the closure with an item and its index.
    ///
    /// # Errors
    /// Fails with the closure's error.
    pub(super) fn call<const N: usize>(
        &self,
        before: [Dynamic; N],
        item: &mut Dynamic,
        index: usize,
    ) -> Scripted<Dynamic> {
        let place = Dynamic::from(i64::try_from(index).unwrap_or(i64::MAX));
        let called = match self.form {
            ClosureParameters::This => self.pointer.call_raw(self.context, Some(item), before),
            ClosureParameters::ThisAndIndex => self.pointer.call_raw(self.context, Some(item), [place]),
            ClosureParameters::Item if N == 0 => self.pointer.call_raw(self.context, None, [item.clone()]),
            ClosureParameters::ItemAndIndex if N == 0 => {
                self.pointer.call_raw(self.context, None, [item.clone(), place])
            }
            ClosureParameters::Item => {
                let args: Vec<Dynamic> = before.into_iter().chain([item.clone()]).collect();
                self.pointer.call_raw(self.context, None, args)
            }
            ClosureParameters::ItemAndIndex => {
                let args: Vec<Dynamic> = before.into_iter().chain([item.clone(), place]).collect();
                self.pointer.call_raw(self.context, None, args)
            }
            ClosureParameters::Unknown { is_moved } => {
                let (name, place_of_item) = (self.context.fn_name(), is_moved.then_some(N));
                let pointer = &self.pointer;
                return pointer.call_raw_with_extra_args(
                    name,
                    self.context,
                    Some(item),
                    before,
                    [place],
                    place_of_item,
                );
            }
        };
        called.map_err(|error| {
            let source = self.context.call_source().unwrap_or_default().to_owned();
            let name = self.context.fn_name().to_owned();
            EvalAltResult::ErrorInFunctionCall(name, source, error, Position::NONE).into()
        })
    }
}
