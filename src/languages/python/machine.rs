//! The machine that runs compiled code: one frame per call, one instruction after another; errors go to the innermost
//! open handler. Instructions that do more than move values are in `operations.rs`, calls in `calls.rs`.

use super::class::{Base, instance_of};
use super::code::{Code, Op, Quick, Variable};
use super::exceptions;
use super::finalisers::Finalisers;
use super::frame::{Frame, FrameExit};
use super::function::Function;
use super::generator::Generator;
use super::shared::Shared;
use super::variables::{Variables, replaced};
use super::{builtins, calls, construct, operations, patterns};
use call::state::Running;
use call::{State, stack};
use objects::iterate::{Iter, iterate};
use objects::plain::{containers, slices};
use objects::{members, operators, subscript};
use std::any::Any;
use std::cell::{self, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use tensor::{Error, ErrorKind, Result, interrupt, limits};
use torch::RECORDING;
use value::equality::{is, truth};
use value::{Dict, Keywords, Set, Text, Value};

/// The maximum depth of calls, like in CPython.
const MAX_DEPTH: usize = 1000;

/// Shows the value of an expression, like a prompt.
pub type Show = dyn Fn(&Value) -> Result<()>;

/// Looks up a variable that is stored elsewhere.
pub type OuterLookup = dyn Fn(&str) -> Option<Value>;

/// Runs the Python code of a session.
pub struct Machine {
    pub state: Rc<State>,
    pub variables: RefCell<Variables>,
    pub outer_lookup: RefCell<Option<Rc<OuterLookup>>>,
    pub show: RefCell<Option<Rc<Show>>>,
    /// The machines of the program's own sources, by the name of the source.
    pub(super) embedded: RefCell<HashMap<&'static str, Rc<Machine>>>,
    pub(super) shared: Weak<Shared>,
    /// The names that the function about to be called may ask for: `locals()`, `exec(…)`.
    pub(super) seen: RefCell<Option<Dict>>,
    /// What the machines share, if this is the session's own.
    own: Option<Rc<Shared>>,
    /// Whether frames are left out of the trace of an exception: those of the program's own sources.
    pub(super) is_hidden: bool,
    /// `__dict__` of builtin classes, as far as it was asked for.
    pub(super) namespaces: RefCell<HashMap<&'static str, Value>>,
    /// Whether it runs a module of Python's library. What such a module imports is run when it is used.
    pub(super) is_of_library: cell::Cell<bool>,
    depth: cell::Cell<usize>,
    pub(super) finalisers: Finalisers,
    this: Weak<Machine>,
}

/// A call through which an exception has passed.
#[derive(Clone)]
pub struct TracebackStep {
    pub code: Rc<Code>,
    /// The byte offset in the source.
    pub place: u32,
    pub file: Rc<str>,
}

impl Machine {
    pub fn new(state: &Rc<State>) -> Rc<Machine> {
        let shared = Rc::default();
        let machine = Machine::with(state, false, Rc::downgrade(&shared), Some(shared));
        if let Some(shared) = machine.own() {
            let main: Rc<dyn Any> = machine.clone();
            shared.main.replace(Rc::downgrade(&main));
        }
        machine.begin_imports();
        let made_by = Rc::downgrade(&machine);
        let maker =
            move |class, args: &[Value], keywords: &Keywords| construct::builtin(&made_by, class, args, keywords);
        state.maker.replace(Some(Rc::new(maker)));
        let found_by = Rc::downgrade(&machine);
        state.special_attribute.replace(Some(Rc::new(move |object, name| match found_by.upgrade() {
            Some(machine) => operations::special_attribute(&machine, object, name),
            None => Ok(None),
        })));
        let run_by = Rc::downgrade(&machine);
        state.embedded.replace(Some(Rc::new(move |source, name| {
            let machine = run_by.upgrade().ok_or_else(|| Error::runtime("the session has ended"))?;
            machine.embedded_value(source, name)
        })));
        machine
    }

    /// Returns a machine for one of the program's own sources.
    pub(super) fn hidden(state: &Rc<State>) -> Rc<Machine> {
        Machine::with(state, true, Weak::new(), None)
    }

    /// Returns a machine for a module of a script, or for `exec`, whose variables are in a dictionary.
    pub(super) fn of_module(state: &Rc<State>, shared: &Rc<Shared>, variables: Dict) -> Rc<Machine> {
        let machine = Machine::with(state, false, Rc::downgrade(shared), None);
        machine.variables.replace(Variables::of(variables));
        machine
    }

    fn with(state: &Rc<State>, is_hidden: bool, shared: Weak<Shared>, own: Option<Rc<Shared>>) -> Rc<Machine> {
        Rc::new_cyclic(|this: &Weak<Machine>| Machine {
            state: state.clone(),
            variables: RefCell::default(),
            outer_lookup: RefCell::default(),
            show: RefCell::default(),
            embedded: RefCell::default(),
            shared,
            seen: RefCell::default(),
            own,
            is_hidden,
            namespaces: RefCell::default(),
            is_of_library: cell::Cell::new(false),
            depth: cell::Cell::new(0),
            finalisers: Finalisers::default(),
            this: this.clone(),
        })
    }

    /// Returns what the machines of the session's modules share.
    pub fn shared(&self) -> Result<Rc<Shared>> {
        self.shared.upgrade().ok_or_else(|| Error::runtime("the session has ended"))
    }

    /// The same, if this is the session's own machine.
    pub(super) fn own(&self) -> Option<&Shared> {
        self.own.as_deref()
    }

    /// Returns the name of the module whose variables these are. A source of the program says it by `__module__`.
    pub(super) fn module_name(&self) -> Rc<str> {
        let variables = self.variables.borrow();
        match variables.named(if self.is_hidden { "__module__" } else { "__name__" }) {
            Some(Value::Str(name)) => name.to_rc(),
            _ if variables.dict().is_some() && self.own.is_none() => "builtins".into(),
            _ => "__main__".into(),
        }
    }

    pub fn handle(&self) -> Result<Rc<Machine>> {
        self.this.upgrade().ok_or_else(|| Error::runtime("the session has ended"))
    }

    /// Runs an input.
    pub fn run_input(&self, code: Rc<Code>) -> Result<()> {
        self.depth.set(0);
        let done = self.run(&mut Frame::new(code, Vec::new(), &[])).map(drop);
        self.finalise();
        done
    }

    /// Calls a Python function.
    ///
    /// # Errors
    /// Fails with the function's own error, and with TypeError for arguments it does not accept.
    pub(crate) fn call_function(&self, function: &Function, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
        let mut frame = function.frame(args, keywords)?;
        if frame.code.is_generator || frame.code.is_async {
            return Ok(Value::Object(Generator::new(&self.handle()?, frame)));
        }
        match self.run(&mut frame)? {
            FrameExit::Returned(value) | FrameExit::Yielded(value) => Ok(value),
        }
    }

    /// Runs a frame until it returns or yields.
    ///
    /// # Errors
    /// Fails with an unhandled error, and with RecursionError if calls are nested too deeply.
    pub fn run(&self, frame: &mut Frame) -> Result<FrameExit> {
        self.run_from(frame, Ok(()))
    }

    /// Like [`Machine::run`]. If `begun` is an error, it is raised at the frame's current position.
    pub(crate) fn run_from(&self, frame: &mut Frame, begun: Result<()>) -> Result<FrameExit> {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH || !stack::has_room() {
            return Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded"));
        }
        // A recursive function can run forever without a loop.
        interrupt::check()?;
        self.depth.set(depth + 1);
        let running =
            Running { machine: std::ptr::from_ref(self) as usize, code: frame.code.clone(), next: frame.next };
        self.state.call_stack.borrow_mut().push(running);
        let handling = (!frame.handled.is_empty()).then(|| frame.begin_handling(&self.state));
        let outer = handling.unwrap_or_else(|| self.state.handling.borrow().len());
        let mut done = begun.and_then(|()| self.steps(frame));
        let exit = loop {
            match done {
                Ok(exit) => break Ok(exit),
                Err(error) => match self.handle_error(frame, error) {
                    Ok(()) => done = self.steps(frame),
                    Err(error) => break Err(error),
                },
            }
        };
        self.depth.set(depth);
        self.state.call_stack.borrow_mut().pop();
        if !frame.handled.is_empty() {
            self.state.handling.borrow_mut().truncate(outer);
        }
        exit
    }

    /// Passes an error to the innermost open handler, or returns it if there is none.
    fn handle_error(&self, frame: &mut Frame, error: Error) -> Result<()> {
        if interrupt::requested() || error.kind == ErrorKind::SystemExit && self.state.exit.get().is_some() {
            // An interrupt cannot be caught, but contexts are still left.
            while let Some(open) = frame.tries.pop() {
                frame.stack.truncate(open.stack);
                if open.leaves {
                    let context = frame.pop();
                    operations::leave_natively(self, &context);
                }
            }
            return Err(error);
        }
        if self.is_hidden && frame.tries.is_empty() {
            // The caller sees the error as if a function in Rust had failed.
            return Err(error);
        }
        let exception = exceptions::of_error(&error);
        let error = Error { raised: Some(tensor::Raised(exception.clone())), ..error };
        if let Some(outer) = self.state.handling.borrow().last()
            && !is(outer, &Value::Object(exception.clone()))
            && exception.fields.get("__context__").is_none()
        {
            exception.fields.set("__context__", outer.clone());
        }
        if !self.is_hidden {
            let step =
                TracebackStep { code: frame.code.clone(), place: frame.last_offset(), file: self.file_of(&frame.code) };
            exception.trace.borrow_mut().push(step);
        }
        let Some(open) = frame.tries.pop() else { return Err(error) };
        frame.unwind(&self.state, &open);
        frame.handle(&self.state, Value::Object(exception), error);
        frame.jump(open.handler);
        Ok(())
    }

    /// Runs instructions until the frame returns or yields.
    fn steps(&self, frame: &mut Frame) -> Result<FrameExit> {
        let code = frame.code.clone();
        let state = &*self.state;
        loop {
            if self.finalisers.due.get() {
                self.finalise();
            }
            let Some(op) = code.ops.get(frame.next) else { return Ok(FrameExit::Returned(Value::None)) };
            frame.next += 1;
            match *op {
                Op::Constant(at) => frame.push(code.constants.get(at as usize).cloned().unwrap_or(Value::None)),
                // The most frequent variables take a short cut.
                Op::Load(Variable::Local(slot)) if let Some(Some(value)) = frame.locals.get(slot as usize) => {
                    let value = value.clone();
                    frame.push(value);
                }
                Op::Store(Variable::Local(slot)) => {
                    let value = frame.pop();
                    if let Some(local) = frame.locals.get_mut(slot as usize) {
                        let before = local.replace(value);
                        drop(before);
                    }
                }
                Op::Load(variable) => {
                    let value = self.variable_value(frame, variable);
                    frame.push(value.map_or_else(|| operations::load_missing(self, &code, variable), Ok)?);
                }
                Op::Store(Variable::Namespace(name, _)) if let Some(prepared) = &frame.prepared => {
                    let (prepared, value) = (prepared.clone(), frame.stack.pop().unwrap_or(Value::None));
                    subscript::set_item(state, &prepared, &Value::str(code.name(name)), &value)?;
                }
                Op::Store(variable) => {
                    let value = frame.pop();
                    drop(self.replace(frame, variable, Some(value)));
                    self.prune_extras();
                }
                Op::Delete(variable) => {
                    if self.replace(frame, variable, None).is_some() {
                        self.prune_extras();
                    } else {
                        operations::delete_missing(self, &code, variable)?;
                    }
                }
                Op::Pop => drop(frame.pop()),
                Op::Copy(places) => {
                    let at = frame.stack.len().saturating_sub(places as usize);
                    frame.push(frame.stack.get(at).cloned().unwrap_or(Value::None));
                }
                Op::Swap(places) => {
                    let top = frame.stack.len().saturating_sub(1);
                    frame.stack.swap(top, (top + 1).saturating_sub(places as usize));
                }
                Op::Binary(quick, operator) => {
                    let (b, a) = (frame.pop(), frame.pop());
                    let value = match operations::quickly(quick, &a, &b) {
                        Some(value) => value,
                        None => operators::binary(state, operator, &a, &b)?,
                    };
                    frame.push(value);
                }
                Op::InPlace(quick, operator) => {
                    let (b, a) = (frame.pop(), frame.pop());
                    let value = match (quick, a, &b) {
                        // Clear the variable while its string grows in place; the next instruction sets it again.
                        (Quick::Plus, Value::Str(text), Value::Str(more)) => {
                            // With spare capacity, the string may take up to twice its length.
                            limits::grown_to::<u8>(text.len().saturating_add(more.len()))?;
                            self.let_go(frame, code.ops.get(frame.next), &text);
                            Value::Str(text.with(more))
                        }
                        (quick, a, b) => match operations::quickly(quick, &a, b) {
                            Some(value) => value,
                            None => operators::in_place(state, operator, &a, b)?,
                        },
                    };
                    frame.push(value);
                }
                Op::Is => {
                    let (b, a) = (frame.pop(), frame.pop());
                    frame.push(Value::Bool(is(&a, &b)));
                }
                Op::In => {
                    let (container, item) = (frame.pop(), frame.pop());
                    frame.push(Value::Bool(containers::contains(state, &container, &item)?));
                }
                Op::Unary(name) => {
                    let value = frame.pop();
                    frame.push(operators::unary(state, name, &value)?);
                }
                Op::Not => {
                    let value = frame.pop();
                    frame.push(Value::Bool(!truth(&value)?));
                }
                Op::Attribute(name) => {
                    let Some(name) = code.names.get(name as usize) else { continue };
                    let object = frame.pop();
                    let value = match members::read_directly(state, name.attributes, &object) {
                        Some(value) => value?,
                        None => operations::attribute(self, &object, &name.text)?,
                    };
                    frame.push(value);
                }
                Op::StoreAttribute(name) => {
                    let (object, value) = (frame.pop(), frame.pop());
                    members::set_attribute(state, &object, code.name(name), &value)?;
                }
                Op::DeleteAttribute(name) => {
                    let object = frame.pop();
                    members::delete_attribute(state, &object, code.name(name))?;
                }
                Op::Item => {
                    let (index, object) = (frame.pop(), frame.pop());
                    frame.push(subscript::item(state, &object, &index)?);
                }
                Op::StoreItem => {
                    let (index, object, value) = (frame.pop(), frame.pop(), frame.pop());
                    subscript::set_item(state, &object, &index, &value)?;
                }
                Op::DeleteItem => {
                    let (index, object) = (frame.pop(), frame.pop());
                    containers::delete_item(state, &object, &index)?;
                }
                Op::Slice => {
                    let (step, stop, start) = (frame.pop(), frame.pop(), frame.pop());
                    frame.push(slices::slice(start, stop, step));
                }
                Op::Tuple(count) => {
                    let items = frame.take(count);
                    frame.push(Value::Tuple(items.into()));
                }
                Op::List(count) => {
                    let items = frame.take(count);
                    frame.push(Value::List(items.into()));
                }
                Op::Set(count) => {
                    let items = frame.take(count);
                    frame.push(Value::Set(Set::new(items)?));
                }
                Op::Dict(count) => {
                    let mut items = frame.take(2 * count).into_iter();
                    let entries = std::iter::from_fn(|| items.next().zip(items.next()));
                    let dict = Dict::new(entries)?;
                    frame.push(Value::Dict(dict));
                }
                Op::Append => {
                    let item = frame.pop();
                    match frame.top() {
                        Some(Value::List(list)) => operations::push(list, item)?,
                        Some(Value::Set(set)) => set.insert(item).map(drop)?,
                        _ => {}
                    }
                }
                Op::SetEntry => {
                    let (value, key) = (frame.pop(), frame.pop());
                    if let Some(Value::Dict(dict)) = frame.top() {
                        dict.insert(key, value)?;
                    }
                }
                Op::Extend | Op::Spread | Op::Merge => operations::extend(self, frame, *op)?,
                Op::ListToTuple => {
                    let items = frame.pop().sequence().unwrap_or_default();
                    frame.push(Value::Tuple(items.into()));
                }
                Op::Format => {
                    let (spec, value) = (frame.pop(), frame.pop());
                    let text = match (&value, &spec) {
                        (Value::Str(_), Value::Str(spec)) if spec.is_empty() => value,
                        (value, Value::Str(spec)) => Value::str(state.with_formatter(|f| f.format(value, spec))?),
                        _ => value,
                    };
                    frame.push(text);
                }
                Op::Join(count) => {
                    let parts = frame.take(count);
                    frame.push(operations::joined(&parts)?);
                }
                Op::Jump(target) => {
                    if (target as usize) < frame.next {
                        interrupt::check()?;
                    }
                    frame.jump(target);
                }
                Op::JumpIf(wanted, target) => {
                    if truth(&frame.pop())? == wanted {
                        frame.jump(target);
                    }
                }
                Op::JumpIfOrPop(wanted, target) => match frame.top() {
                    Some(value) if truth(value)? == wanted => frame.jump(target),
                    _ => drop(frame.pop()),
                },
                Op::Begin => {
                    let iterable = frame.pop();
                    frame.loops.push(iterate(state, &iterable)?);
                }
                Op::Next(end) => {
                    interrupt::check()?;
                    match frame.loops.last_mut().map_or(Ok(None), Iter::next)? {
                        Some(item) => frame.push(item),
                        None => {
                            drop(frame.loops.pop());
                            frame.jump(end);
                        }
                    }
                }
                Op::End => drop(frame.loops.pop()),
                Op::Unpack(count) => {
                    let value = frame.pop();
                    operations::unpack(self, frame, &value, count as usize)?;
                }
                Op::MatchSequence(count, star) => {
                    let subject = frame.pop();
                    frame.push(patterns::sequence(&subject, count as usize, star.map(|star| star as usize))?);
                }
                Op::MatchMapping(has_rest) => {
                    let (keys, subject) = (frame.pop(), frame.pop());
                    frame.push(patterns::mapping(&subject, &keys, has_rest)?);
                }
                Op::MatchClass(positional, names) => {
                    let (class, subject) = (frame.pop(), frame.pop());
                    let names = code.keywords(names);
                    frame.push(patterns::object(state, &subject, &class, positional as usize, names)?);
                }
                Op::UnpackStarred(before, after) => {
                    let value = frame.pop();
                    operations::unpack_starred(self, frame, &value, before as usize, after as usize)?;
                }
                Op::Names(count) => {
                    let at = frame.stack.len().saturating_sub(count as usize + 1);
                    if frame.stack.get(at).is_some_and(builtins::sees_names) {
                        self.seen.replace(Some(frame.names()?));
                    }
                }
                Op::Call(count, names) => {
                    self.at(frame);
                    let keywords = frame.keywords(code.keywords(names));
                    let args = frame.take(count);
                    let callee = frame.pop();
                    frame.push(calls::call(self, &callee, args, keywords)?);
                }
                Op::Record => {
                    let is_ours = |path: &str| path.strip_prefix("py.").is_some_and(|name| RECORDING.contains(&name));
                    if matches!(frame.top(), Some(Value::Function(path)) if is_ours(path)) {
                        self.state.trace.begin();
                    }
                }
                Op::CallSpread => {
                    self.at(frame);
                    let (named, list, callee) = (frame.pop(), frame.pop(), frame.pop());
                    let keywords = operations::spread(&named)?;
                    let result = calls::call(self, &callee, list.sequence().unwrap_or_default(), keywords)?;
                    frame.push(result);
                }
                Op::Expect(name) => {
                    if let (Some(object), Some(name)) = (frame.top(), code.names.get(name as usize)) {
                        calls::expect(self, object, name)?;
                    }
                }
                Op::CallMethod(name, count, names) => {
                    self.at(frame);
                    let keywords = frame.keywords(code.keywords(names));
                    let at = frame.stack.len().saturating_sub(count as usize);
                    let Some(name) = code.names.get(name as usize) else { continue };
                    let result = calls::call_method(self, frame, at, name, keywords)?;
                    frame.push(result);
                }
                Op::Function(at) => {
                    let (named, defaults) = (frame.pop(), frame.pop());
                    let (Value::Dict(named), Value::Tuple(defaults), Some((made, taken))) =
                        (named, defaults, code.codes.get(at as usize))
                    else {
                        continue;
                    };
                    let cells = taken.iter().filter_map(|cell| frame.cells.get(*cell as usize).cloned()).collect();
                    let function = Function::new(&self.handle()?, made.clone(), defaults, named, cells);
                    frame.push(Value::Object(Rc::new(function)));
                }
                Op::Class => {
                    let (named, bases, function) = (frame.pop(), frame.pop(), frame.pop());
                    let class = construct::class(self, &function, &bases, &named)?;
                    frame.push(class);
                }
                Op::Super(cell) => frame.push(operations::super_of(frame, cell)?),
                Op::Return => return Ok(FrameExit::Returned(frame.pop())),
                Op::Yield => {
                    let value = frame.pop();
                    // The value of the `yield` expression.
                    frame.push(Value::None);
                    return Ok(FrameExit::Yielded(value));
                }
                Op::YieldFrom => {
                    // Repeats this instruction until the other iterator, which is on the stack, is exhausted.
                    let source = frame.pop();
                    match operations::next_of(&source)? {
                        Ok(item) => {
                            frame.push(source);
                            frame.next -= 1;
                            return Ok(FrameExit::Yielded(item));
                        }
                        Err(value) => frame.push(value),
                    }
                }
                Op::Await => {
                    let awaited = frame.pop();
                    frame.push(operations::awaitable(self, &awaited)?);
                }
                Op::Annotate => {
                    let annotations = frame.pop();
                    if let Some(Value::Object(function)) = frame.top() {
                        function.set_attribute("__annotations__", &annotations).transpose()?;
                    }
                }
                Op::AnnotateLater => {
                    let Some((exception, error)) = frame.handled(&self.state) else { continue };
                    match frame.top() {
                        Some(Value::Object(function)) if error.kind == ErrorKind::NotImplementedError => {
                            function.set_attribute("__annotations__", &exception).transpose()?;
                        }
                        _ => return Err(error),
                    }
                }
                Op::Try(handler) => frame.open_try(handler, false),
                Op::EndTry => drop(frame.tries.pop()),
                Op::Handled => {
                    let exception = frame.handled.last().map(|(exception, _)| exception.clone());
                    frame.push(exception.unwrap_or(Value::None));
                }
                Op::Catch(next) => {
                    let classes = frame.pop();
                    let Some(exception) = frame.handled.last().and_then(|(exception, _)| instance_of(exception)) else {
                        continue;
                    };
                    if !exceptions::matches(&exception, &classes)? {
                        frame.jump(next);
                    }
                }
                Op::Import(path, outermost) => {
                    let module = self.import(code.text(path), outermost)?;
                    frame.push(module);
                }
                Op::ImportFrom(path, name) => {
                    let value = frame.top().map(|module| self.import_from(module, code.text(path), code.text(name)));
                    frame.push(value.unwrap_or(Ok(Value::None))?);
                }
                Op::ImportAll => {
                    let module = frame.pop();
                    builtins::import_all(self, &module)?;
                }
                Op::EndHandler => drop(frame.handled(&self.state)),
                Op::Reraise => {
                    let Some((exception, error)) = frame.handled(&self.state) else { continue };
                    if let Some(exception) = instance_of(&exception).filter(|_| !self.is_hidden) {
                        // This frame is already in the trace.
                        exception.trace.borrow_mut().pop();
                    }
                    return Err(error);
                }
                Op::Raise(count) => {
                    let mut parts = frame.take(u32::from(count)).into_iter();
                    let Some(value) = parts.next() else {
                        let outer = state.handling.borrow().last().and_then(instance_of);
                        return match (frame.handled.last(), outer) {
                            (Some((_, error)), _) => Err(error.clone()),
                            (None, Some(outer)) => Err(exceptions::to_error(&outer)),
                            (None, None) => Err(Error::runtime("No active exception to reraise")),
                        };
                    };
                    let exception = exceptions::raise(&value, parts.next().as_ref())?;
                    let error = exceptions::to_error(&exception);
                    // An exception of a builtin class is raised anew in the caller. Others must stay what they are.
                    let is_raised_anew = self.is_hidden && matches!(exception.class, Base::Builtin(_));
                    return Err(if is_raised_anew { Error { raised: None, ..error } } else { error });
                }
                Op::With(handler) => {
                    let context = frame.pop();
                    let entered = operations::enter(self, &context)?;
                    frame.push(context);
                    frame.open_try(handler, true);
                    frame.push(entered);
                }
                Op::Leave => {
                    let context = frame.pop();
                    operations::leave(self, &context, None)?;
                }
                Op::LeaveHandler(settled) => {
                    let context = frame.pop();
                    let exception = frame.handled.last().and_then(|(exception, _)| instance_of(exception));
                    if operations::leave(self, &context, exception)? {
                        frame.jump(settled);
                    }
                }
                Op::Show => {
                    let value = frame.pop();
                    let show = self.show.borrow().clone();
                    match show {
                        Some(show) => show(&value)?,
                        None => operations::display(self, &value)?,
                    }
                }
            }
        }
    }

    /// Returns the value of a variable.
    #[inline]
    fn variable_value(&self, frame: &Frame, variable: Variable) -> Option<Value> {
        match variable {
            Variable::Local(slot) => frame.locals.get(slot as usize)?.clone(),
            Variable::Cell(cell) => operations::WeakClass::class_in(frame.cells.get(cell as usize)?.get()?),
            Variable::Global(slot) => self.variables.borrow().get(slot),
            Variable::Namespace(name, slot) => {
                let own = frame.namespace.as_ref().and_then(|names| names.get_str(frame.code.name(name)));
                own.or_else(|| self.variables.borrow().get(slot))
            }
        }
    }

    /// Sets or unbinds a variable, and returns its old value.
    #[inline]
    fn replace(&self, frame: &mut Frame, variable: Variable, value: Option<Value>) -> Option<Value> {
        match variable {
            Variable::Local(slot) => std::mem::replace(frame.locals.get_mut(slot as usize)?, value),
            Variable::Cell(cell) => frame.cells.get(cell as usize)?.set(value),
            Variable::Global(slot) => {
                let before = self.variables.borrow_mut().set(slot, value);
                if self.finalisers.any.get() {
                    self.release_copy(slot);
                }
                before
            }
            Variable::Namespace(name, _) => {
                replaced(frame.namespace.as_ref()?, &frame.code.names.get(name as usize)?.text, value)
            }
        }
    }

    /// Unbinds the variable that the next instruction sets, if it holds this same string.
    fn let_go(&self, frame: &mut Frame, next: Option<&Op>, text: &Text) {
        if let Some(Op::Store(variable)) = next
            && matches!(self.variable_value(frame, *variable), Some(Value::Str(held)) if held.is(text))
        {
            self.replace(frame, *variable, None);
        }
    }
}
