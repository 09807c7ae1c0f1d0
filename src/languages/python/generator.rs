//! Generators and coroutines: a frame that stops at each `yield` or `await` and continues when the next item is requested.

use super::class::{as_rc, instance_of};
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
    kind: Kind,
    state: RefCell<State>,
    machine: Weak<Machine>,
    this: Weak<Generator>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Generator,
    Coroutine,
    /// What an async function with `yield` returns. It only says so.
    AsyncGenerator,
}

/// How a frame goes on.
enum Begin {
    /// At its current position, by raising an error if there is one.
    Run(Result<()>),
    /// Not at all: the iterator of its `yield from` has given an item.
    Item(Value),
    Refused(Error),
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
            kind: match (frame.code.is_async, frame.code.is_generator) {
                (false, _) => Kind::Generator,
                (true, false) => Kind::Coroutine,
                (true, true) => Kind::AsyncGenerator,
            },
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
        self.run(|_| Begin::Run(Ok(())))
    }

    /// Like [`Generator::resume`], after `begin` has prepared the frame.
    fn run(&self, begin: impl FnOnce(&mut Frame) -> Begin) -> Result<Result<Value, Value>> {
        if self.kind == Kind::AsyncGenerator {
            bail!(NotImplementedError, "asynchronous generators are not supported at this prompt");
        }
        let before = self.state.replace(State::Running);
        let mut frame = match before {
            State::Waiting(frame) => frame,
            State::Running => return Err(Error::value(format!("{} already executing", self.class_name()))),
            State::Done => {
                self.state.replace(State::Done);
                if self.kind == Kind::Coroutine {
                    return Err(Error::runtime("cannot reuse already awaited coroutine"));
                }
                return Ok(Err(Value::None));
            }
        };
        let begun = match begin(&mut frame) {
            Begin::Run(begun) => begun,
            Begin::Item(item) => {
                self.state.replace(State::Waiting(frame));
                return Ok(Ok(item));
            }
            Begin::Refused(refusal) => {
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
                    let message = format!("{} raised StopIteration", self.class_name());
                    let raised = exceptions::new("RuntimeError", vec![Value::str(message)]);
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
        let mut raised = exceptions::to_error(&exceptions::new("GeneratorExit", Vec::new()));
        if let Some(inner) = frame.delegate()
            && let Err(error) = told(&inner, "close", None)
        {
            raised = error;
        }
        match machine.run_from(&mut frame, Err(raised)) {
            Ok(FrameExit::Yielded(_)) => Err(Error::runtime(format!("{} ignored GeneratorExit", self.class_name()))),
            Ok(FrameExit::Returned(_)) => Ok(()),
            Err(error) if error.kind.name() == "GeneratorExit" || error.kind == ErrorKind::StopIteration => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// `generator.send(value)`: resumes with `value` as the result of the current `yield`.
    fn send(&self, value: &Value) -> Result<Result<Value, Value>> {
        self.run(|frame| {
            if matches!(value, Value::None) {
                return Begin::Run(Ok(()));
            }
            if frame.is_unstarted() {
                let message = format!("can't send non-None value to a just-started {}", self.class_name());
                return Begin::Refused(Error::type_error(message));
            }
            if let Some(inner) = frame.delegate() {
                return passed_on(frame, told(&inner, "send", Some(value)));
            }
            drop(frame.pop());
            frame.push(value.clone());
            Begin::Run(Ok(()))
        })
    }

    /// `generator.throw(exception)`: raises the exception at the current `yield`. The older form gives the class, its
    /// argument and a traceback.
    fn throw(&self, exception: &Value, value: Option<&Value>) -> Result<Result<Value, Value>> {
        let raised = match value {
            Some(value) if exceptions::raise(value, None).is_ok() => exceptions::raise(value, None)?,
            Some(value) if !matches!(value, Value::None) => {
                let machine = self.machine.upgrade().ok_or_else(|| Error::runtime("the session has ended"))?;
                let made = super::calls::call(&machine, exception, vec![value.clone()], Vec::new())?;
                exceptions::raise(&made, None)?
            }
            _ => exceptions::raise(exception, None).map_err(|_| {
                let message = "exceptions must be classes or instances deriving from BaseException";
                Error::type_error(format!("{message}, not {}", exception.type_name()))
            })?,
        };
        let error = exceptions::to_error(&raised);
        if matches!(*self.state.borrow(), State::Done) {
            return Err(error);
        }
        let thrown = Value::Object(raised.clone());
        self.run(|frame| match frame.delegate() {
            Some(inner) if raised.class.derives_builtin("GeneratorExit") => {
                Begin::Run(told(&inner, "close", None).and(Err(error)))
            }
            Some(inner) => match told(&inner, "throw", Some(&thrown)) {
                // An iterator without `throw`.
                Ok(None) => Begin::Run(Err(error)),
                told => passed_on(frame, told),
            },
            None => Begin::Run(Err(error)),
        })
    }

    /// Calls one of the methods of a generator.
    fn method(&self, name: &str, args: &[Value]) -> Result<Value> {
        let given = args.len();
        let item = match (name, args) {
            ("__next__", []) => self.resume(),
            ("__iter__" | "__await__", []) => {
                return Ok(self.this.upgrade().map_or(Value::None, |this| Value::Object(this)));
            }
            ("close", []) => return self.close().map(|()| Value::None),
            ("send", [value]) => self.send(value),
            ("throw", [exception, rest @ ..]) if rest.len() < 3 => self.throw(exception, rest.first()),
            ("throw", []) => bail!(TypeError, "throw expected at least 1 argument, got 0"),
            ("throw", _) => bail!(TypeError, "throw expected at most 3 arguments, got {given}"),
            ("send", _) => bail!(TypeError, "{}.send() takes exactly one argument ({given} given)", self.class_name()),
            ("close", _) => bail!(TypeError, "{}.close() takes no arguments ({given} given)", self.class_name()),
            _ => bail!(TypeError, "expected 0 arguments, got {given}"),
        };
        item?.map_err(ended)
    }
}

/// Passes a call on to the iterator of a `yield from`: its next item, or its return value. `None` if it has no such method.
fn told(inner: &Value, method: &str, arg: Option<&Value>) -> Result<Option<Result<Value, Value>>> {
    if let Some(inner) = as_rc::<Generator>(inner) {
        return match (method, arg) {
            ("send", Some(value)) => inner.send(value).map(Some),
            ("throw", Some(exception)) => inner.throw(exception, None).map(Some),
            _ => inner.close().map(|()| None),
        };
    }
    let Some(answer) = instance_of(inner).and_then(|inner| inner.method(method, arg.cloned().into_iter().collect()))
    else {
        if method == "send" {
            bail!(AttributeError, "'{}' object has no attribute 'send'", inner.type_name());
        }
        return Ok(None);
    };
    match answer {
        Ok(item) => Ok(Some(Ok(item))),
        Err(error) if error.kind == ErrorKind::StopIteration => {
            Ok(Some(Err(exceptions::of_error(&error).fields.get("value").unwrap_or(Value::None))))
        }
        Err(error) => Err(error),
    }
}

/// What a frame does after the iterator of its `yield from` was told something.
fn passed_on(frame: &mut Frame, told: Result<Option<Result<Value, Value>>>) -> Begin {
    match told {
        Ok(Some(Ok(item))) => Begin::Item(item),
        Ok(ended) => {
            drop(frame.pop());
            frame.push(ended.and_then(Result::err).unwrap_or(Value::None));
            frame.next += 1;
            Begin::Run(Ok(()))
        }
        Err(error) => Begin::Run(Err(error)),
    }
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
        match self.kind {
            Kind::Generator => "generator",
            Kind::Coroutine => "coroutine",
            Kind::AsyncGenerator => "async_generator",
        }
    }
    fn repr(&self) -> String {
        format!("<{} object {} at {:#x}>", self.class_name(), self.name, std::ptr::from_ref(self) as usize)
    }
    fn iterator(&self) -> Option<Result<Value>> {
        let this = self.this.upgrade().filter(|_| self.kind == Kind::Generator)?;
        Some(Ok(Value::Object(this)))
    }
    fn is_iterator(&self) -> bool {
        self.kind == Kind::Generator
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
            "__next__" | "__iter__" if self.kind != Kind::Generator => None,
            "__await__" if self.kind != Kind::Coroutine => None,
            "gi_running" | "cr_running" => Some(Value::Bool(matches!(*self.state.borrow(), State::Running))),
            "gi_frame" | "cr_frame" if matches!(*self.state.borrow(), State::Done) => Some(Value::None),
            "__next__" | "__iter__" | "__await__" | "close" | "send" | "throw" => {
                let (this, called) = (self.this.upgrade()?, name.to_owned());
                Some(NativeFunction::value(name, move |args, _| this.method(&called, &args)))
            }
            _ => None,
        }
    }
}
