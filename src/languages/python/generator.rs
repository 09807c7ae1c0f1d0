//! Generators: a frame that stops at each `yield` and continues when the next item is requested.

use super::exceptions;
use super::frame::{Frame, FrameExit};
use super::machine::Machine;
use objects::calling::NativeFunction;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use tensor::{Error, ErrorKind, Result, bail};
use value::{Object, Value};

pub struct Generator {
    name: Rc<str>,
    state: RefCell<State>,
    machine: Weak<Machine>,
    this: Weak<Generator>,
}

enum State {
    Waiting(Box<Frame>),
    Running,
    Done,
}

impl Generator {
    pub fn new(machine: &Rc<Machine>, frame: Frame) -> Rc<Generator> {
        Rc::new_cyclic(|this| Generator {
            name: frame.code.qualified.clone(),
            state: RefCell::new(State::Waiting(Box::new(frame))),
            machine: Rc::downgrade(machine),
            this: this.clone(),
        })
    }

    /// Runs to the next `yield` and returns its value, or to the end: `Ok(Err(value))` with the generator's return
    /// value.
    ///
    /// # Errors
    /// Fails with the errors of its body, and with ValueError if it is already running.
    pub(crate) fn resume(&self) -> Result<Result<Value, Value>> {
        self.run(|_| Ok(Ok(())))
    }

    /// Like [`Generator::resume`], after `begin` has prepared the frame. An error returned by `begin` is raised at the
    /// frame's current position.
    fn run(&self, begin: impl FnOnce(&mut Frame) -> Result<Result<()>>) -> Result<Result<Value, Value>> {
        let before = self.state.replace(State::Running);
        let mut frame = match before {
            State::Waiting(frame) => frame,
            State::Running => return Err(Error::value("generator already executing")),
            State::Done => {
                self.state.replace(State::Done);
                return Ok(Err(Value::None));
            }
        };
        let begun = match begin(&mut frame) {
            Ok(begun) => begun,
            Err(refusal) => {
                self.state.replace(State::Waiting(frame));
                return Err(refusal);
            }
        };
        let Some(machine) = self.machine.upgrade() else {
            return Err(Error::runtime("the session of this generator has ended"));
        };
        match machine.run_from(&mut frame, begun) {
            Ok(FrameExit::Yielded(value)) => {
                self.state.replace(State::Waiting(frame));
                Ok(Ok(value))
            }
            Ok(FrameExit::Returned(value)) => {
                self.state.replace(State::Done);
                Ok(Err(value))
            }
            Err(error) => {
                self.state.replace(State::Done);
                if error.kind == ErrorKind::StopIteration {
                    let cause = exceptions::of_error(&error);
                    let raised = exceptions::new("RuntimeError", vec![Value::str("generator raised StopIteration")]);
                    raised.fields.set("__cause__", Value::Object(cause.clone()));
                    raised.fields.set("__context__", Value::Object(cause));
                    return Err(exceptions::to_error(&raised));
                }
                Err(error)
            }
        }
    }

    /// Ends the generator at its `yield`: raises `GeneratorExit` there, so that `finally` blocks run.
    fn close(&self) -> Result<()> {
        let State::Waiting(mut frame) = self.state.replace(State::Done) else { return Ok(()) };
        if frame.is_unstarted() {
            return Ok(());
        }
        let Some(machine) = self.machine.upgrade() else { return Ok(()) };
        let raised = exceptions::to_error(&exceptions::new("GeneratorExit", Vec::new()));
        match machine.run_from(&mut frame, Err(raised)) {
            Ok(FrameExit::Yielded(_)) => Err(Error::runtime("generator ignored GeneratorExit")),
            Ok(FrameExit::Returned(_)) => Ok(()),
            Err(error) if error.kind.name() == "GeneratorExit" || error.kind == ErrorKind::StopIteration => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// `generator.send(value)`: resumes with `value` as the result of the current `yield`.
    fn send(&self, value: &Value) -> Result<Result<Value, Value>> {
        self.run(|frame| {
            if matches!(value, Value::None) {
                return Ok(Ok(()));
            }
            if frame.is_unstarted() {
                return Err(Error::type_error("can't send non-None value to a just-started generator"));
            }
            refuse_delegation(frame, "send")?;
            drop(frame.pop());
            frame.push(value.clone());
            Ok(Ok(()))
        })
    }

    /// `generator.throw(exception)`: raises the exception at the current `yield`.
    fn throw(&self, exception: &Value) -> Result<Result<Value, Value>> {
        let raised = exceptions::raise(exception, None).map_err(|_| {
            let message = "exceptions must be classes or instances deriving from BaseException";
            Error::type_error(format!("{message}, not {}", exception.type_name()))
        })?;
        let error = exceptions::to_error(&raised);
        if matches!(*self.state.borrow(), State::Done) {
            return Err(error);
        }
        self.run(|frame| refuse_delegation(frame, "throw").map(|()| Err(error)))
    }

    /// Calls one of the methods of a generator.
    fn method(&self, name: &str, args: &[Value]) -> Result<Value> {
        let given = args.len();
        let item = match (name, args) {
            ("__next__", []) => self.resume(),
            ("__iter__", []) => return self.iterator().unwrap_or(Ok(Value::None)),
            ("close", []) => return self.close().map(|()| Value::None),
            ("send", [value]) => self.send(value),
            ("throw", [exception]) => self.throw(exception),
            ("throw", []) => bail!(TypeError, "throw expected at least 1 argument, got 0"),
            ("throw", _) => {
                let message = "generator.throw() with several arguments is not supported at this prompt";
                return Err(Error::not_implemented(message));
            }
            ("send", _) => bail!(TypeError, "generator.send() takes exactly one argument ({given} given)"),
            ("close", _) => bail!(TypeError, "generator.close() takes no arguments ({given} given)"),
            _ => bail!(TypeError, "expected 0 arguments, got {given}"),
        };
        item?.map_err(ended)
    }
}

/// Fails with NotImplementedError if the call would have to be forwarded to the generator in `yield from`.
fn refuse_delegation(frame: &Frame, method: &str) -> Result<()> {
    if frame.delegates() {
        bail!(NotImplementedError, "generator.{method}() through `yield from` is not supported at this prompt");
    }
    Ok(())
}

/// Returns the StopIteration for a generator's return value.
fn ended(value: Value) -> Error {
    let args = if matches!(value, Value::None) { Vec::new() } else { vec![value] };
    exceptions::to_error(&exceptions::new("StopIteration", args))
}

/// Closes the generator like CPython does, so that open contexts and `finally` blocks end.
impl Drop for Generator {
    fn drop(&mut self) {
        // Errors are ignored here, like in CPython.
        let _ = self.close();
    }
}

impl Object for Generator {
    fn class_name(&self) -> &'static str {
        "generator"
    }
    fn repr(&self) -> String {
        format!("<generator object {} at {:#x}>", self.name, std::ptr::from_ref(self) as usize)
    }
    fn iterator(&self) -> Option<Result<Value>> {
        self.this.upgrade().map(|this| Ok(Value::Object(this)))
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        Some(match self.resume() {
            Ok(Ok(item)) => Ok(Some(item)),
            Ok(Err(Value::None)) => Ok(None),
            Ok(Err(value)) => Err(ended(value)),
            Err(error) => Err(error),
        })
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "__name__" | "__qualname__" => Some(Value::str(&self.name)),
            "__next__" | "__iter__" | "close" | "send" | "throw" => {
                let (this, called) = (self.this.upgrade()?, name.to_owned());
                Some(NativeFunction::value(name, move |args, _| this.method(&called, &args)))
            }
            _ => None,
        }
    }
}
