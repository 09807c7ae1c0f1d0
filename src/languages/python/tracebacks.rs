//! Tracebacks as objects: the calls that an exception has passed through, from `__traceback__` on.

use super::class::Instance;
use super::code::Code;
use super::function::FunctionCode;
use super::machine::{Machine, TracebackStep};
use objects::calling::NativeFunction;
use std::cell::Cell;
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::{Dict, Object, Value};

/// A call in a traceback.
struct Traceback {
    steps: Rc<[TracebackStep]>,
    /// The number of the step, from the outermost call on.
    at: usize,
    /// Whether a script has cut off the steps behind it.
    is_cut: Cell<bool>,
}

/// A call, as far as a traceback or `sys._getframe` knows it.
struct Frame {
    steps: Rc<[TracebackStep]>,
    at: usize,
    /// The machines of the calls, if these are running.
    machines: Option<Rc<[usize]>>,
    session: Weak<Machine>,
}

impl Instance {
    /// Returns `__traceback__` of an exception.
    pub(super) fn traceback(&self) -> Value {
        let steps: Rc<[TracebackStep]> = self.trace.borrow().iter().rev().cloned().collect();
        if steps.is_empty() {
            return Value::None;
        }
        Value::Object(Rc::new(Traceback { steps, at: 0, is_cut: Cell::new(false) }))
    }
}

impl Machine {
    /// Returns the machine of this session that is at an address.
    pub(super) fn at_address(&self, address: usize) -> Option<Rc<Machine>> {
        let shared = self.shared.upgrade()?;
        let is_it = |machine: &Rc<Machine>| Rc::as_ptr(machine) as usize == address;
        let machines = shared.machines.borrow();
        let mut all = machines.iter().filter_map(|machine| machine.clone().downcast::<Machine>().ok());
        all.find(is_it).or_else(|| shared.main.borrow().upgrade()?.downcast::<Machine>().ok().filter(is_it))
    }

    /// Returns the file that a code is from, as tracebacks name it.
    pub(super) fn file_of(&self, code: &Code) -> Rc<str> {
        let Some(shared) = self.shared.upgrade() else { return "<tensorsh>".into() };
        let known = shared.origin_of(&code.source).map(|origin| origin.file);
        known.or_else(|| shared.file.borrow().clone()).unwrap_or_else(|| "<stdin>".into())
    }

    /// Notes the instruction that a frame has come to, for `sys._getframe`.
    #[inline]
    pub(super) fn at(&self, frame: &super::frame::Frame) {
        if let Some(running) = self.state.call_stack.borrow_mut().last_mut() {
            running.next = frame.next;
        }
    }
}

/// Returns the line of an instruction, from 1 on.
fn line_of(code: &Code, place: u32) -> i64 {
    let before = code.source.get(..place as usize).unwrap_or_default();
    before.matches('\n').count() as i64 + 1
}

impl Object for Traceback {
    fn class_name(&self) -> &'static str {
        "traceback"
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let step = self.steps.get(self.at)?;
        Some(Ok(match name {
            "tb_lineno" => Value::Int(line_of(&step.code, step.place)),
            "tb_lasti" => Value::Int(-1),
            "tb_next" if self.at + 1 < self.steps.len() && !self.is_cut.get() => {
                let (steps, at) = (self.steps.clone(), self.at + 1);
                Value::Object(Rc::new(Traceback { steps, at, is_cut: Cell::new(false) }))
            }
            "tb_next" => Value::None,
            "tb_frame" => {
                let (steps, at) = (self.steps.clone(), self.at);
                Value::Object(Rc::new(Frame { steps, at, machines: None, session: Weak::new() }))
            }
            _ => return None,
        }))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        (name == "tb_next").then(|| match value {
            Value::None => {
                self.is_cut.set(true);
                Ok(())
            }
            _ => Err(Error::not_implemented("a traceback can only be cut off at this prompt: set tb_next to None")),
        })
    }
    fn identity(&self) -> Option<usize> {
        self.steps.get(self.at).map(|step| std::ptr::from_ref(step) as usize)
    }
}

/// `sys._getframe(depth)`
///
/// # Errors
/// ValueError if the call stack is not deep enough.
pub(super) fn running(machine: &Machine, depth: i64) -> Result<Value> {
    let session = machine.handle()?;
    let (mut steps, mut machines) = (Vec::new(), Vec::new());
    for call in machine.state.call_stack.borrow().iter() {
        let Ok(code) = call.code.clone().downcast::<Code>() else { continue };
        let file = session.at_address(call.machine).map(|machine| machine.file_of(&code));
        let place = code.places.get(call.next.saturating_sub(1)).copied().unwrap_or_default();
        steps.push(TracebackStep { code, place, file: file.unwrap_or_else(|| "<tensorsh>".into()) });
        machines.push(call.machine);
    }
    let at = usize::try_from(depth.max(0)).ok().and_then(|depth| steps.len().checked_sub(depth + 1));
    let Some(at) = at else { bail!(ValueError, "call stack is not deep enough") };
    let (steps, machines, session) = (steps.into(), Some(machines.into()), Rc::downgrade(&session));
    Ok(Value::Object(Rc::new(Frame { steps, at, machines, session })))
}

impl Object for Frame {
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "clear").then(|| NativeFunction::value(name, |_, _| Ok(Value::None)))
    }
    fn class_name(&self) -> &'static str {
        "frame"
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let step = self.steps.get(self.at)?;
        Some(Ok(match name {
            "f_lineno" => Value::Int(line_of(&step.code, step.place)),
            "f_code" => Value::Object(Rc::new(FunctionCode { code: step.code.clone(), file: step.file.clone() })),
            "f_back" if self.at > 0 => Value::Object(Rc::new(Frame {
                steps: self.steps.clone(),
                at: self.at - 1,
                machines: self.machines.clone(),
                session: self.session.clone(),
            })),
            "f_back" => Value::None,
            "f_globals" => {
                let address = self.machines.as_ref().and_then(|machines| machines.get(self.at).copied());
                let machine = address.and_then(|address| self.session.upgrade()?.at_address(address));
                // A traceback does not know them; what prints it finds lines by the name of their file.
                return Some(machine.map_or_else(|| Ok(Dict::default()), |machine| machine.globals()).map(Value::Dict));
            }
            "f_builtins" => Value::Dict(Dict::default()),
            "f_trace" => Value::None,
            "f_lasti" => Value::Int(-1),
            "f_locals" => {
                let message = "the variables of other calls are not supported at this prompt";
                return Some(Err(Error::not_implemented(message)));
            }
            _ => return None,
        }))
    }
    fn identity(&self) -> Option<usize> {
        self.steps.get(self.at).map(|step| std::ptr::from_ref(step) as usize)
    }
}
