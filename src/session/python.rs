//! Inputs in Python: compiled, run by the machine, and described if they fail. The session's variables are in Rhai's
//! scope; here they cross from one language to the other.
//!
//! Rhai sees the values of Python unchanged: lists, dictionaries, sets and objects stay shared. Python converts the
//! values of Rhai: an array or an object map becomes a list or a dictionary when Python first uses its variable, and
//! from then on both languages share it.

use super::begun::Begun;
use super::failure::{EARLIER, Failure, call_line, did_you_mean, failure_of, line_and_column, shorten_trace};
use super::results::{Capture, hidden_name, shown_name};
use super::{Language, Session, foreign, stopped};
use call::state::{Said, State};
use explain::{Holder, Picture};
use languages::python::builtins;
use languages::python::class::Instance;
use languages::python::code::Code;
use languages::python::compile::{Shows, Unit, compile};
use languages::python::exceptions;
use languages::python::machine::{Machine, TracebackStep};
use languages::python::shared::Origin;
use languages::python::syntax::scope::ScopeKind;
use languages::python::syntax::{self, Stage, SyntaxFault};
use languages::script::holders::{count, holders};
use languages::script::runtime::Runtime;
use languages::script::values::{from_python, to_value};
use languages::script::{callback, engine};
use rhai::{Dynamic, FnPtr, Scope};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use tensor::{Error, ErrorKind};
use value::Value;
use value::equality::is;

/// The Python part of a session.
pub(super) struct Python {
    pub(super) machine: Rc<Machine>,
    /// The variables, while Python runs.
    scope: Rc<RefCell<Scope<'static>>>,
    /// Whether the machine's copy of the variables is up to date.
    is_current: bool,
    /// The values shown by the running input.
    shown: Rc<RefCell<Vec<Value>>>,
    pub(super) begun: Begun,
}

impl Python {
    pub(super) fn new(state: &Rc<State>, runtime: &Rc<Runtime>, capture: &Rc<Cell<Capture>>) -> Python {
        let machine = Machine::new(state);
        let scope: Rc<RefCell<Scope<'static>>> = Rc::default();
        let (variables, functions) = (scope.clone(), Rc::downgrade(runtime));
        machine.outer_lookup.replace(Some(Rc::new(move |name: &str| {
            let name = hidden_name(name);
            let runtime = functions.upgrade()?;
            let variables = variables.try_borrow().ok();
            let held = variables.and_then(|variables| variables.get(name).cloned());
            match held.or_else(|| runtime.globals.borrow().get(name).cloned()) {
                Some(value) => to_value(&value).ok(),
                None if runtime.defined.borrow().contains_key(name) => FnPtr::new(name).ok().map(callback::function),
                None if runtime.is_rhai.get() && !builtins::is_known(&runtime.state, name) => {
                    engine::named(&runtime, name)
                }
                None => None,
            }
        })));
        let copies = scope.clone();
        machine.set_release(Rc::new(move |name: &str| {
            if let Ok(mut scope) = copies.try_borrow_mut()
                && let Some(copy) = scope.get_mut(hidden_name(name))
            {
                *copy = Dynamic::UNIT;
            }
        }));
        let (seen, known, runs) = (scope.clone(), Rc::downgrade(&machine), Rc::downgrade(runtime));
        state.variables_seen.replace(Some(Rc::new(move || {
            let found = || Some(seen_by(&*known.upgrade()?, &*seen.try_borrow().ok()?, &*runs.upgrade()?));
            Rc::new(found().unwrap_or_default())
        })));
        let shown: Rc<RefCell<Vec<Value>>> = Rc::default();
        let (kept, screen, capture) = (shown.clone(), Rc::downgrade(state), capture.clone());
        machine.show.replace(Some(Rc::new(move |value: &Value| {
            if let Some(state) = screen.upgrade() {
                if capture.get() != Capture::Hidden {
                    show(&state, value)?;
                }
                if !matches!(value, Value::None) {
                    kept.borrow_mut().push(value.clone());
                }
            }
            Ok(())
        })));
        Python { machine, scope, is_current: false, shown, begun: Begun::default() }
    }

    /// Returns where a text is from that is not an input.
    fn origin_of(&self, text: &Rc<str>) -> Option<Origin> {
        self.machine.shared().ok()?.origin_of(text)
    }

    /// Records that variables may have changed outside Python.
    pub(super) fn is_stale(&mut self) {
        self.is_current = false;
    }
}

/// Returns the variables with memory that Python sees: those of the scope, and Python's changes to them.
fn seen_by(machine: &Machine, scope: &Scope, runtime: &Runtime) -> Vec<Holder> {
    let mut remembered = runtime.remembered.borrow().clone();
    let Ok(variables) = machine.variables.try_borrow() else { return Vec::new() };
    let mut entries: Vec<(String, Cow<Dynamic>)> = Vec::new();
    let (mut own, mut copies) = (variables.bound(), Vec::new());
    let mut in_scope: Vec<_> = scope.iter_raw().map(|(name, _, value)| (shown_name(name), value)).collect();
    // The scope lists the newest entry first.
    in_scope.reverse();
    for (name, value) in in_scope {
        match own.iter().position(|(known, _)| **known == *name) {
            Some(place) => {
                copies.push(value);
                entries.push((name.to_owned(), Cow::Owned(from_python(own.remove(place).1))));
            }
            None if variables.is_deleted(name) => copies.push(value),
            None => entries.push((name.to_owned(), Cow::Borrowed(value))),
        }
    }
    entries.extend(own.into_iter().map(|(name, value)| (name.to_string(), Cow::Owned(from_python(value)))));
    count(&mut remembered, copies.into_iter());
    holders(entries.iter().map(|(name, value)| (name.as_str(), value.as_ref())), remembered)
}

/// Shows a value like a prompt. `None` is not shown.
pub(super) fn show(state: &State, value: &Value) -> tensor::Result<()> {
    match value {
        Value::None => {}
        Value::Object(object) if let Some(picture) = object.as_any().downcast_ref::<Picture>() => {
            state.say(Said::Drawn(picture));
        }
        shown => {
            let text = state.repr(shown)?;
            state.say(Said::Value(&text));
            state.print("\n");
        }
    }
    Ok(())
}

/// Returns whether a Rhai variable is converted only when Python uses it.
fn is_foreign(value: &Dynamic) -> bool {
    value.is_array() || value.is_map() || value.is_blob() || value.is::<FnPtr>()
}

impl Session {
    fn compiled(&self, source: &Rc<str>, shows: Shows) -> Result<Rc<Code>, SyntaxFault> {
        let parsed = syntax::parse(source)?;
        let variables = &self.python.machine.variables;
        let mut slot_of = |name: &str| variables.borrow_mut().slot(name);
        let code = compile(parsed.syntax(), source, self.runtime.registry, &mut slot_of, shows, Unit::Module);
        if self.runtime.interrupt.is_set() {
            syntax::abandon(parsed);
            return Err(SyntaxFault::stopped());
        }
        if let (Shows::Nothing, Ok(code), Ok(shared)) = (shows, &code, self.python.machine.shared())
            && let Some(doc) = &code.doc
        {
            shared.doc.replace(Some(doc.clone()));
        }
        code
    }

    pub(super) fn eval_python(&mut self, source: &str, shows: Shows) -> Result<(), Box<Failure>> {
        self.eval_python_text(&source.into(), shows)
    }

    pub(super) fn eval_python_text(&mut self, source: &Rc<str>, shows: Shows) -> Result<(), Box<Failure>> {
        let code = self.compiled(source, shows).map_err(|fault| self.misread(source, fault))?;
        self.update_variables();
        self.runtime.remembered.replace(self.handles_of_ours(false));
        let done = self.run_python(code);
        done.map_err(|error| self.failed_in_python(source, error))
    }

    fn misread(&self, source: &Rc<str>, fault: SyntaxFault) -> Box<Failure> {
        if self.runtime.interrupt.is_set() {
            return stopped();
        }
        let place = line_and_column(source, fault.offset);
        let is_unread = fault.message.starts_with("invalid syntax");
        let keyword = is_unread.then(|| self.nearest_keyword(Language::Python, source, place)).flatten();
        let quotes = source.get(fault.offset..).and_then(foreign::on_quotes);
        Box::new(Failure {
            kind: fault.kind.to_string(),
            message: self.in_script_lines(source, fault.message),
            position: Some(place),
            lines_above: self.python.begun.lines_above(source),
            hint: quotes.or_else(|| keyword.map(did_you_mean)),
            unread: match (fault.kind, fault.stage) {
                ("NotImplementedError", _) => None,
                (_, Stage::Grammar) => Some("<unknown>"),
                (_, Stage::Compiler) => Some("<s>"),
            },
            ..Failure::default()
        })
    }

    /// Corrects a message that ends in a line, `… on line 3`, if the text is a statement of a script.
    fn in_script_lines(&self, source: &Rc<str>, message: String) -> String {
        let corrected = || {
            let above = self.python.begun.lines_above(source)?;
            let (before, line) = message.rsplit_once(" on line ")?;
            Some(format!("{before} on line {}", line.parse::<usize>().ok()? + above))
        };
        corrected().unwrap_or(message)
    }

    fn run_python(&mut self, code: Rc<Code>) -> tensor::Result<()> {
        self.update_variables();
        self.python.scope.replace(std::mem::take(&mut self.scope));
        let done = self.python.machine.run_input(code);
        self.take_variables();
        for value in self.python.shown.take() {
            self.keep_result(&from_python(value));
            self.python.is_stale();
        }
        done
    }

    /// Updates the machine's copy of the variables.
    fn update_variables(&mut self) {
        if self.python.is_current {
            return;
        }
        let mut variables = self.python.machine.variables.borrow_mut();
        let known = variables.names();
        let gone = known.iter().filter(|name| !self.scope.contains(hidden_name(name)));
        let mut before: Vec<_> = gone.map(|name| variables.put(name, None)).collect();
        for (name, _, value) in self.scope.iter_raw() {
            let value = if is_foreign(value) { None } else { to_value(value).ok() };
            before.push(variables.put(shown_name(name), value));
        }
        drop(variables);
        drop(before);
        self.python.is_current = true;
    }

    /// Returns the number of storage handles in Python's copies of the variables, by storage identity.
    pub(super) fn python_handles(&self) -> HashMap<usize, usize> {
        let mut handles = HashMap::new();
        for (_, value) in self.python.machine.variables.borrow().bound() {
            let storage = match &value {
                Value::Storage(storage) => storage,
                Value::TypedStorage(typed) => &typed.storage,
                _ => continue,
            };
            *handles.entry(storage.identity()).or_default() += 1;
        }
        handles
    }

    /// Takes the variables back, including Python's changes.
    fn take_variables(&mut self) {
        self.scope = self.python.scope.take();
        let in_dict = self.python.machine.variables.borrow_mut().take_dict();
        for (name, value) in in_dict {
            let name = hidden_name(&name);
            let held = self.scope.get(name).filter(|held| !is_foreign(held)).and_then(|held| to_value(held).ok());
            match value {
                // A closure of Rhai may share the variable.
                Some(value) if held.is_some_and(|held| is(&held, &value)) => {}
                Some(value) => drop(self.scope.set_or_push(name.to_owned(), from_python(value))),
                None => drop(self.scope.remove::<Dynamic>(name)),
            }
        }
        self.take_changes();
    }

    /// Calls `__del__` of the objects that the input has released. The copies of its variables in the scope and the
    /// attributes of its tensors are gone only when it has ended.
    pub(super) fn finalise(&mut self) {
        self.runtime.extras.prune();
        while self.python.machine.is_finalising_due() {
            self.python.scope.replace(std::mem::take(&mut self.scope));
            self.python.machine.finalise();
            self.take_variables();
            self.runtime.extras.prune();
        }
    }

    /// Applies changes of variables made by Python functions.
    pub(super) fn take_changes(&mut self) {
        for (name, value) in self.python.machine.variables.borrow_mut().take_changes() {
            let name = hidden_name(&name);
            match value {
                Some(value) => drop(self.scope.set_or_push(name.to_owned(), from_python(value))),
                None => drop(self.scope.remove::<Dynamic>(name)),
            }
        }
    }

    pub(super) fn failed_in_python(&self, source: &Rc<str>, error: Error) -> Box<Failure> {
        if error.kind == ErrorKind::KeyboardInterrupt && self.runtime.interrupt.is_set() {
            return stopped();
        }
        let exception = exceptions::of_error(&error);
        // `exit()` has already set the status.
        if error.kind == ErrorKind::SystemExit && self.runtime.exit.get().is_none() {
            self.leave_with(&exception);
        }
        let steps = exception.trace.borrow();
        let mut failure = failure_of(error);
        failure.lines_above = self.python.begun.lines_above(source);
        if let Some(innermost) = steps.first() {
            let text = &innermost.code.source;
            failure.position = Some(line_and_column(text, innermost.place as usize));
            failure.source = Some(text).filter(|text| !Rc::ptr_eq(text, source)).map(ToString::to_string);
            failure.lines_above = self.python.begun.lines_above(text);
            failure.file = self.python.origin_of(text).map(|origin| origin.file.to_string());
        }
        let calls = steps.windows(2).filter_map(|pair| called(pair, source, &self.python));
        failure.trace = shorten_trace(calls.collect());
        Box::new(self.advise(failure, None))
    }

    /// Sets the exit status for an uncaught SystemExit.
    fn leave_with(&self, exception: &Instance) {
        let status = match exception.fields.get("code") {
            None | Some(Value::None) => 0,
            Some(Value::Int(code)) => code as i32,
            Some(Value::Bool(code)) => i32::from(code),
            Some(other) => {
                let text = self.runtime.str(&other).unwrap_or_default();
                self.runtime.print(&format!("{text}\n"));
                1
            }
        };
        self.runtime.exit.set(Some(status));
    }

    /// Compiles Python for [`Session::timeit`].
    pub(super) fn prepare_python(&mut self, source: &str) -> Result<Rc<Code>, Box<Failure>> {
        let source: Rc<str> = source.into();
        self.compiled(&source, Shows::Nothing).map_err(|fault| self.misread(&source, fault))
    }

    pub(super) fn time_python(&mut self, code: &Rc<Code>, source: &str) -> Result<(), Box<Failure>> {
        self.run_python(code.clone()).map_err(|error| self.failed_in_python(&source.into(), error))
    }
}

impl Session {
    /// Returns the value of a variable, or of `_`.
    pub(crate) fn value_of_variable(&self, name: &str) -> Option<Value> {
        to_value(self.scope.get(hidden_name(name))?).ok()
    }

    /// Returns the values of all variables but modules, oldest first. Kept results are left out.
    pub(crate) fn variable_values(&self) -> Vec<(String, Value)> {
        let own = self.scope.iter_raw().filter(|(name, ..)| *name != "ARGS" && shown_name(name) == *name);
        let mut values: Vec<_> =
            own.filter_map(|(name, _, value)| Some((name.to_owned(), to_value(value).ok()?))).collect();
        values.retain(|(_, value)| !matches!(value, Value::Module(_)));
        // The scope lists the newest entry first.
        values.reverse();
        values
    }

    /// Binds a variable.
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        self.scope.set_or_push(name.to_owned(), from_python(value));
        self.python.is_stale();
        self.update_variables();
    }
}

/// The path of an error through Python functions called by another language.
pub(super) struct PythonFault {
    /// The position in the source of the function that failed.
    pub(super) position: (usize, usize),
    pub(super) source: String,
    /// The file of the source, if it is that of a module.
    pub(super) file: Option<String>,
    pub(super) calls: Vec<String>,
    /// The function that the other language called.
    pub(super) outermost: String,
}

/// Returns the path of an error through Python functions, if there is one.
pub(super) fn within(error: &Error, typed: &Rc<str>, python: &Python) -> Option<PythonFault> {
    let exception = error.raised.as_ref()?.0.clone().downcast::<Instance>().ok()?;
    let steps = exception.trace.borrow();
    let (innermost, outermost) = (steps.first()?, steps.last()?);
    let text = &innermost.code.source;
    Some(PythonFault {
        position: line_and_column(text, innermost.place as usize),
        source: text.to_string(),
        file: python.origin_of(text).map(|origin| origin.file.to_string()),
        calls: steps.windows(2).filter_map(|pair| called(pair, typed, python)).collect(),
        outermost: shown_function(outermost),
    })
}

/// Returns a function's name for a trace.
fn shown_function(step: &TracebackStep) -> String {
    match &*step.code.qualified {
        "<lambda>" => "an unnamed function".to_owned(),
        name => format!("{name}()"),
    }
}

/// Formats one call: the function and the calling line.
fn called(pair: &[TracebackStep], source: &Rc<str>, python: &Python) -> Option<String> {
    let [inner, outer] = pair else { return None };
    let text = &outer.code.source;
    let (line, _) = line_and_column(text, outer.place as usize);
    let above = python.begun.lines_above(text);
    let origin = match python.origin_of(text) {
        Some(Origin { file, .. }) => format!(" of {file}"),
        None if Rc::ptr_eq(text, source) || above.is_some() => String::new(),
        None => EARLIER.to_owned(),
    };
    let is_outside = matches!(inner.code.kind, ScopeKind::Module | ScopeKind::Namespace);
    let step = match python.origin_of(&inner.code.source).filter(|_| is_outside) {
        Some(Origin { file, is_module, .. }) => format!("{file}, {}", if is_module { "imported" } else { "run" }),
        None => format!("{}, called", shown_function(inner)),
    };
    Some(call_line(&step, text, line, above.unwrap_or_default(), &origin))
}
