//! Code that a script makes while it runs: `exec`, `eval` and `compile`, and the names that it sees: `globals`, `locals`,
//! `vars` and `dir`.

use super::builtins;
use super::class::{Base, as_rc, instance_of};
use super::compile::{Shows, Unit, compile};
use super::exceptions;
use super::frame::{Frame, FrameExit};
use super::machine::Machine;
use super::syntax::{self, SyntaxFault};
use call::Receiver;
use objects::{container_methods, members};
use std::collections::BTreeSet;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, bail};
use value::{Dict, Keywords, Object, Value};

/// What `compile` returns. It is compiled again for the variables it runs with, because each module has slots of its own.
struct CodeObject {
    text: Rc<str>,
    file: Rc<str>,
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Exec,
    Eval,
    Single,
}

impl Object for CodeObject {
    fn type_name(&self) -> &str {
        "code"
    }
    fn class_name(&self) -> &'static str {
        "code"
    }
    fn repr(&self) -> String {
        let address = std::ptr::from_ref(self) as usize;
        format!("<code object <module> at {address:#x}, file \"{}\", line 1>", self.file)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "co_filename" => Some(Value::Str(self.file.clone().into())),
            "co_name" => Some(Value::str("<module>")),
            _ => None,
        }
    }
}

/// Returns the source in an argument of `exec`, `eval` or `compile`.
fn source_of(function: &str, value: &Value) -> Result<Rc<str>> {
    if let Value::Str(text) = value {
        return Ok(text.to_rc());
    }
    let bytes = match value {
        Value::Buffer(buffer) => Some(buffer.to_vec()?),
        Value::Object(object) => object.buffer().and_then(Result::ok).map(|buffer| buffer.to_vec()).transpose()?,
        _ => None,
    };
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => Ok(text.into()),
        Some(Err(_)) => bail!(SyntaxError, "(unicode error) 'utf-8' codec can't decode the source"),
        None => bail!(TypeError, "{function}() arg 1 must be a string, bytes or code object"),
    }
}

fn parsed(
    text: &Rc<str>,
    file: &str,
    mode: Mode,
    run_on: Option<(&Machine, Unit)>,
) -> Result<Option<Rc<super::code::Code>>> {
    let refuse = |fault: SyntaxFault| exceptions::of_fault(&fault, text, file);
    let module = syntax::parse(text).map_err(refuse)?;
    let body = &module.syntax().body;
    if mode == Mode::Eval && !(body.len() == 1 && body[0].is_expr_stmt()) {
        return Err(refuse(SyntaxFault::syntax("invalid syntax", 0)));
    }
    let Some((machine, unit)) = run_on else { return Ok(None) };
    let shows = match mode {
        Mode::Exec => Shows::Nothing,
        Mode::Eval => Shows::Result,
        Mode::Single => Shows::Every,
    };
    let mut slot_of = |name: &str| machine.variables.borrow_mut().slot(name);
    compile(module.syntax(), text, machine.state.registry, &mut slot_of, shows, unit).map(Some).map_err(refuse)
}

/// What every object of a script's class has.
const OF_OBJECTS: &str = "__class__ __delattr__ __dict__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ \
    __getstate__ __gt__ __hash__ __init__ __init_subclass__ __le__ __lt__ __module__ __ne__ __new__ __reduce__ \
    __reduce_ex__ __repr__ __setattr__ __sizeof__ __str__ __subclasshook__ __weakref__";

impl Machine {
    /// `compile(source, filename, mode)`
    pub(super) fn compiled(&self, args: &[Value], keywords: &Keywords) -> Result<Value> {
        let argument = |place: usize, name: &str| {
            let named = || keywords.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.clone());
            args.get(place).cloned().or_else(named)
        };
        let text = |place: usize, name: &str| match argument(place, name) {
            Some(Value::Str(text)) => Ok(text.to_rc()),
            Some(other) => bail!(TypeError, "compile() argument '{name}' must be str, not {}", other.type_name()),
            None => bail!(TypeError, "compile() missing required argument '{name}' (pos {})", place + 1),
        };
        let Some(source) = argument(0, "source") else {
            bail!(TypeError, "compile() missing required argument 'source' (pos 1)")
        };
        let (file, mode) = (text(1, "filename")?, text(2, "mode")?);
        let mode = match &*mode {
            "exec" => Mode::Exec,
            "eval" => Mode::Eval,
            "single" => Mode::Single,
            _ => bail!(ValueError, "compile() mode must be 'exec', 'eval' or 'single'"),
        };
        let text = source_of("compile", &source)?;
        parsed(&text, &file, mode, None)?;
        Ok(Value::Object(Rc::new(CodeObject { text, file, mode })))
    }

    /// Returns a machine whose variables are in a dictionary, and whether it is new.
    fn with_globals(&self, globals: &Dict) -> Result<(Rc<Machine>, bool)> {
        let has = |machine: &Machine| {
            machine.variables.borrow().dict().is_some_and(|dict| dict.identity() == globals.identity())
        };
        if has(self) {
            return Ok((self.handle()?, false));
        }
        let shared = self.shared()?;
        for known in &*shared.machines.borrow() {
            if let Ok(known) = known.clone().downcast::<Machine>()
                && has(&known)
            {
                return Ok((known, false));
            }
        }
        let machine = Machine::of_module(&self.state, &shared, globals.clone());
        machine.show.replace(self.show.borrow().clone());
        if globals.get_str("__builtins__").is_none() {
            globals.insert(Value::str("__builtins__"), Value::Module("builtins"))?;
        }
        Ok((machine, true))
    }

    /// `exec(source, globals, locals)` and `eval(source, globals, locals)`. Without the latter two, the code sees the names of the
    /// caller.
    pub(super) fn run_source(&self, function: &str, args: &[Value]) -> Result<Value> {
        let seen = self.seen.take();
        let Some(source) = args.first() else {
            match function {
                "exec" => bail!(TypeError, "exec() takes at least 1 positional argument (0 given)"),
                _ => bail!(TypeError, "{function} expected at least 1 argument, got 0"),
            }
        };
        let (text, file, mode) = match source {
            Value::Object(object) if let Some(code) = object.as_any().downcast_ref::<CodeObject>() => {
                (code.text.clone(), code.file.clone(), code.mode)
            }
            source => {
                let text = source_of(function, source)?;
                let is_eval = function == "eval";
                let text = if is_eval { text.trim_start_matches([' ', '\t']).into() } else { text };
                (text, "<string>".into(), if is_eval { Mode::Eval } else { Mode::Exec })
            }
        };
        let own = self.handle()?;
        let globals = match args.get(1) {
            None | Some(Value::None) => None,
            Some(Value::Dict(globals)) => Some(globals.clone()),
            Some(other) if function == "exec" => {
                bail!(TypeError, "exec() globals must be a dict, not {}", other.type_name())
            }
            Some(_) => bail!(TypeError, "globals must be a dict"),
        };
        let locals = match args.get(2) {
            None | Some(Value::None) if globals.is_some() => None,
            None | Some(Value::None) => seen,
            Some(Value::Dict(locals)) => Some(locals.clone()),
            Some(other) if function == "exec" => {
                bail!(TypeError, "locals must be a mapping or None, not {}", other.type_name())
            }
            Some(_) => bail!(TypeError, "locals must be a mapping"),
        };
        let (target, is_new) = match &globals {
            None => (own, false),
            Some(globals) => self.with_globals(globals)?,
        };
        // Variables that are those of the module itself are no other names.
        let is_same = |locals: &Dict| {
            target.variables.borrow().dict().is_some_and(|globals| globals.identity() == locals.identity())
        };
        let locals = locals.filter(|locals| !is_same(locals));
        let unit = if locals.is_some() { Unit::Namespace } else { Unit::Module };
        let Some(code) = parsed(&text, &file, mode, Some((&target, unit)))? else { return Ok(Value::None) };
        let mut frame = Frame::new(code, Vec::new(), &[]);
        frame.namespace = locals;
        self.shared()?.note_text(&text, &file, false);
        let done = target.run(&mut frame);
        // Something that it defined may still run. What it imported with * is kept by the dictionary's address.
        let defines = |globals: &Dict| globals.borrow().iter().any(|(_, value)| matches!(value, Value::Object(_)));
        if is_new && (globals.as_ref().is_some_and(defines) || builtins::has_imported_all(&target)) {
            self.shared()?.machines.borrow_mut().push(target.clone());
        }
        match done? {
            FrameExit::Returned(value) | FrameExit::Yielded(value) => {
                Ok(if mode == Mode::Eval { value } else { Value::None })
            }
        }
    }

    /// `locals()`
    pub(super) fn locals(&self) -> Result<Value> {
        let seen = self.seen.take();
        seen.map_or_else(|| self.globals(), Ok).map(Value::Dict)
    }

    /// `vars(object)`, or `locals()` without one.
    pub(super) fn vars(&self, args: &[Value]) -> Result<Value> {
        match args {
            [] => self.locals(),
            [object] => {
                self.seen.take();
                let found = members::attribute(&self.state, object, "__dict__");
                found.map_err(|_| Error::type_error("vars() argument must have __dict__ attribute"))
            }
            _ => bail!(TypeError, "vars expected at most 1 argument, got {}", args.len()),
        }
    }

    /// `dir(object)`, or the names in scope without one. Objects of Python's and PyTorch's own classes have more names in CPython
    /// than are known here, and are refused.
    /// Adds the names that a builtin object, class or module has. Returns whether they are known.
    fn names_of_builtin(&self, object: &Value, names: &mut BTreeSet<String>) -> bool {
        let class = match object {
            Value::Module(module) => {
                let module = if *module == "builtins" { "py" } else { module };
                names.extend(self.state.registry.names(Receiver::Module(module)).into_iter().map(str::to_owned));
                if module == "py" {
                    names.extend(objects::plain::exceptions::all().map(str::to_owned));
                    names.extend(objects::modules::CLASSES.iter().map(|class| (*class).to_owned()));
                }
                return true;
            }
            Value::None => {
                names.insert("__bool__".to_owned());
                return true;
            }
            Value::Type(class) => class,
            other => other.class_name(),
        };
        let known = container_methods::members_of(class);
        names.extend(known.iter().map(|name| (*name).to_owned()));
        !known.is_empty()
    }

    pub(super) fn dir(&self, args: &[Value]) -> Result<Value> {
        let sorted = |names: BTreeSet<String>| Ok(Value::list(names.into_iter().map(Value::str)));
        let keys = |dict: &Dict| {
            let names = dict.to_vec().into_iter().filter_map(|(key, _)| match key {
                Value::Str(name) => Some(name.to_string()),
                _ => None,
            });
            names.collect::<BTreeSet<_>>()
        };
        let [object] = args else {
            if args.len() > 1 {
                bail!(TypeError, "dir expected at most 1 argument, got {}", args.len());
            }
            let Value::Dict(names) = self.locals()? else { bail!(TypeError, "locals() is not a dictionary") };
            return sorted(keys(&names));
        };
        self.seen.take();
        let of_classes = |base: &Base, names: &mut BTreeSet<String>| -> bool {
            base.ancestors().iter().all(|class| match class {
                Base::User(class) => {
                    names.extend(keys(&class.fields.dict()));
                    true
                }
                Base::Builtin(name) => *name == "object",
            })
        };
        let mut names = BTreeSet::new();
        let is_known = match instance_of(object) {
            Some(instance) => {
                if let Some(listed) = instance.method("__dir__", Vec::new()) {
                    let listed = objects::iterate::iterate(&self.state, &listed?)?.collect()?;
                    let names = listed.iter().map(|name| self.state.str(name));
                    return sorted(names.collect::<Result<_>>()?);
                }
                names.extend(keys(&instance.fields.dict()));
                of_classes(&instance.class, &mut names)
            }
            None => match as_rc::<super::class::Class>(object) {
                Some(class) => of_classes(&Base::User(class), &mut names),
                None => match members::attribute(&self.state, object, "__dict__") {
                    Ok(Value::Dict(variables)) if object.type_name() == "module" => return sorted(keys(&variables)),
                    _ => self.names_of_builtin(object, &mut names),
                },
            },
        };
        if !is_known {
            let class = object.type_name();
            let message =
                format!("dir() of a {class} is not supported at this prompt; Tab after `x.` lists its members");
            return Err(Error::new(ErrorKind::NotImplementedError, message));
        }
        names.extend(OF_OBJECTS.split_whitespace().map(str::to_owned));
        sorted(names)
    }
}
