//! Calls in progress: what each has on its stack, in its variables and among its open handlers.

use super::cell::Cell;
use super::code::{Code, Op};
use call::State;
use objects::iterate::Iter;
use std::rc::Rc;
use tensor::{Error, Result};
use value::{Dict, Keywords, Value, discard};

/// How a frame stops.
pub enum FrameExit {
    Returned(Value),
    Yielded(Value),
}

/// A call in progress.
pub struct Frame {
    pub code: Rc<Code>,
    pub(super) next: usize,
    pub stack: Vec<Value>,
    pub locals: Vec<Option<Value>>,
    pub cells: Vec<Cell>,
    pub loops: Vec<Iter>,
    pub(super) tries: Vec<Try>,
    pub(super) handled: Vec<(Value, Error)>,
    /// The names of the class being created, or of `exec` with variables of its own.
    pub namespace: Option<Dict>,
    /// The object that a metaclass has prepared for the names, if it is more than a dictionary.
    pub(super) prepared: Option<Value>,
}

/// An open handler, with the heights of the stacks when it was opened.
pub(super) struct Try {
    pub handler: u32,
    pub stack: usize,
    loops: usize,
    handled: usize,
    /// Whether the handler leaves a context.
    pub leaves: bool,
}

impl Drop for Frame {
    fn drop(&mut self) {
        discard(std::mem::take(&mut self.stack));
        discard(std::mem::take(&mut self.locals).into_iter().flatten());
    }
}

impl Frame {
    /// Creates a frame with the arguments in the parameters' slots, and the enclosing functions' cells.
    pub fn new(code: Rc<Code>, mut locals: Vec<Option<Value>>, free: &[Cell]) -> Frame {
        locals.resize(code.locals.len(), None);
        let own = code.cells.iter().map(|(_, parameter)| {
            let value = parameter.and_then(|slot| locals.get(slot).cloned()).flatten();
            Cell::new(value)
        });
        let cells = own.chain(free.iter().cloned()).collect();
        Frame {
            code,
            next: 0,
            stack: Vec::new(),
            locals,
            cells,
            loops: Vec::new(),
            tries: Vec::new(),
            handled: Vec::new(),
            namespace: None,
            prepared: None,
        }
    }

    pub(crate) fn is_unstarted(&self) -> bool {
        self.next == 0
    }

    /// Returns the iterator for which the frame waits in `yield from` or `await`.
    pub(crate) fn delegate(&self) -> Option<Value> {
        let waits = self.next > 0 && matches!(self.code.ops.get(self.next), Some(Op::YieldFrom));
        if waits { self.stack.last().cloned() } else { None }
    }

    /// Pops the top of the stack. The compiler guarantees that it is not empty.
    #[inline]
    pub fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::None)
    }

    #[inline]
    pub fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    /// Pops `count` values from the stack. The topmost comes last in the result.
    pub fn take(&mut self, count: u32) -> Vec<Value> {
        let at = self.stack.len().saturating_sub(count as usize);
        self.stack.split_off(at)
    }

    /// Pops the values of keyword arguments from the stack.
    #[inline]
    pub(super) fn keywords(&mut self, names: &[Value]) -> Keywords {
        if names.is_empty() {
            return Keywords::new();
        }
        let values = self.take(names.len() as u32);
        let names = names.iter().filter_map(|name| if let Value::Str(name) = name { Some(name.to_rc()) } else { None });
        names.zip(values).collect()
    }

    pub(super) fn top(&self) -> Option<&Value> {
        self.stack.last()
    }

    /// Returns the byte offset in the source of the last instruction.
    pub(super) fn last_offset(&self) -> u32 {
        self.code.places.get(self.next.saturating_sub(1)).copied().unwrap_or_default()
    }

    pub fn jump(&mut self, target: u32) {
        self.next = target as usize;
    }

    /// Returns the names that the frame sees besides those of its module, as `locals()` does.
    pub(super) fn names(&self) -> Result<Dict> {
        if let Some(namespace) = &self.namespace {
            return Ok(namespace.clone());
        }
        let locals = self.code.locals.iter().zip(&self.locals).filter_map(|(name, value)| Some((name, value.clone()?)));
        let names = self.code.cells.iter().map(|(name, _)| name).chain(&self.code.free);
        let cells = names.zip(&self.cells).filter_map(|(name, cell)| Some((name, cell.get()?)));
        let all = locals.chain(cells).filter(|(name, _)| !name.starts_with('.'));
        Dict::new(all.map(|(name, value)| (Value::Str(name.clone().into()), value)))
    }

    /// Opens a handler.
    pub(super) fn open_try(&mut self, handler: u32, leaves: bool) {
        let (stack, loops, handled) = (self.stack.len(), self.loops.len(), self.handled.len());
        self.tries.push(Try { handler, stack, loops, handled, leaves });
    }

    /// Returns the stacks to the heights that they had when a handler was opened.
    pub(super) fn unwind(&mut self, state: &State, open: &Try) {
        discard(self.stack.split_off(open.stack.min(self.stack.len())));
        self.loops.truncate(open.loops);
        while self.handled.len() > open.handled {
            self.handled(state);
        }
    }

    /// Begins to handle an exception.
    pub(super) fn handle(&mut self, state: &State, exception: Value, error: Error) {
        state.handling.borrow_mut().push(exception.clone());
        self.handled.push((exception, error));
    }

    /// Ends the innermost handling of an exception, and returns the exception.
    pub(super) fn handled(&mut self, state: &State) -> Option<(Value, Error)> {
        let handled = self.handled.pop()?;
        state.handling.borrow_mut().pop();
        Some(handled)
    }

    /// Continues with the exceptions that a suspended frame handles. Returns how many there were before.
    pub(super) fn begin_handling(&self, state: &State) -> usize {
        let mut handling = state.handling.borrow_mut();
        let before = handling.len();
        handling.extend(self.handled.iter().map(|(exception, _)| exception.clone()));
        before
    }
}
