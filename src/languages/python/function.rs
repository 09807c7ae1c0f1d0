//! Functions of a script: creation by `def`, argument binding, and Python's messages for binding errors.

use super::cell::Cell;
use super::class::instance_of;
use super::code::{Code, Late, Parameters};
use super::compile::compile_late;
use super::exceptions;
use super::fields::Fields;
use super::frame::Frame;
use super::machine::Machine;
use call::bind::missing_names;
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::{Dict, Keywords, Object, ObjectState, Slot, Tuple, Value};

/// A function written in Python; each run of its `def` creates a new one.
pub struct Function {
    /// Its code, or what is known of it before it is compiled.
    pub(super) head: Rc<Code>,
    pub defaults: Tuple,
    pub keyword_defaults: Dict,
    pub cells: Vec<Cell>,
    fields: Fields,
    /// The attributes in [`SLOTS`] that a script has set, which are not in `__dict__`.
    slots: Fields,
    machine: Weak<Machine>,
}

/// The attributes of a function that are not in its `__dict__`.
const SLOTS: [&str; 8] = [
    "__annotations__",
    "__defaults__",
    "__doc__",
    "__kwdefaults__",
    "__module__",
    "__name__",
    "__qualname__",
    "__type_params__",
];

impl Function {
    pub fn new(
        machine: &Rc<Machine>,
        head: Rc<Code>,
        defaults: Tuple,
        keyword_defaults: Dict,
        cells: Vec<Cell>,
    ) -> Function {
        Function {
            head,
            defaults,
            keyword_defaults,
            cells,
            fields: Fields::default(),
            slots: Fields::default(),
            machine: Rc::downgrade(machine),
        }
    }

    /// Returns whether the function's variables are those of a machine.
    #[inline]
    pub(super) fn runs_on(&self, machine: &Machine) -> bool {
        std::ptr::eq(self.machine.as_ptr(), machine)
    }

    /// Returns its code, which is compiled now if it was not needed before.
    ///
    /// # Errors
    /// KeyboardInterrupt, or RuntimeError after the session has ended.
    #[inline]
    pub(super) fn code(&self) -> Result<&Rc<Code>> {
        match &self.head.late {
            None => Ok(&self.head),
            Some(late) => match late.code.get() {
                Some(code) => Ok(code),
                None => self.compiled(late),
            },
        }
    }

    #[cold]
    fn compiled<'c>(&self, late: &'c Late) -> Result<&'c Rc<Code>> {
        let machine = self.machine()?;
        let mut slot_of = |name: &str| machine.variables.borrow_mut().slot(name);
        let code = compile_late(&self.head, late, machine.state.registry, &mut slot_of);
        let code =
            code.map_err(|fault| exceptions::of_fault(&fault, &self.head.source, &machine.file_of(&self.head)))?;
        Ok(late.code.get_or_init(|| code))
    }

    /// Returns `__qualname__`, which messages show.
    pub(super) fn qualified(&self) -> Rc<str> {
        match self.slots.get("__qualname__") {
            Some(Value::Str(name)) => name.to_rc(),
            _ => self.head.qualified.clone(),
        }
    }

    fn fields_of(&self, name: &str) -> &Fields {
        if SLOTS.contains(&name) { &self.slots } else { &self.fields }
    }

    /// Returns the name of the module that defines it.
    pub(super) fn module_name(&self) -> Rc<str> {
        self.machine.upgrade().map_or_else(|| "__main__".into(), |machine| machine.module_name())
    }

    pub(super) fn machine(&self) -> Result<Rc<Machine>> {
        self.machine.upgrade().ok_or_else(|| Error::runtime("the session of this function has ended"))
    }
}

impl Object for Function {
    fn object_state(&self) -> ObjectState {
        ObjectState {
            dicts: vec![self.fields.dict(), self.slots.dict(), self.keyword_defaults.clone()],
            slots: self.cells.iter().map(|cell| Rc::new(cell.clone()) as Rc<dyn Slot>).collect(),
            values: self.defaults.to_vec(),
        }
    }
    fn type_name(&self) -> &str {
        "function"
    }
    fn class_name(&self) -> &'static str {
        "function"
    }
    fn repr(&self) -> String {
        format!("<function {} at {:#x}>", self.qualified(), std::ptr::from_ref(self) as usize)
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        if let Some(own) = self.fields_of(name).get(name) {
            // Annotations of what this program lacks.
            return match instance_of(&own).and_then(|own| own.error()) {
                Some(error) if name == "__annotations__" => Some(Err(error)),
                _ => Some(Ok(own)),
            };
        }
        Some(Ok(match name {
            "__name__" => Value::str(&self.head.name),
            "__qualname__" => Value::str(&self.head.qualified),
            "__doc__" => match self.code() {
                Ok(code) => code.doc.as_ref().map_or(Value::None, Value::str),
                Err(error) => return Some(Err(error)),
            },
            "__module__" => Value::Str(self.module_name().into()),
            "__globals__" => match self.machine().and_then(|machine| machine.globals()) {
                Ok(globals) => Value::Dict(globals),
                Err(error) => return Some(Err(error)),
            },
            "__dict__" => self.fields.to_dict(),
            "__annotations__" => {
                let none = Value::Dict(Dict::default());
                self.slots.set(name, none.clone());
                none
            }
            "__code__" => {
                let code = match self.code() {
                    Ok(code) => code.clone(),
                    Err(error) => return Some(Err(error)),
                };
                let file = self.machine().map(|machine| machine.file_of(&code));
                Value::Object(Rc::new(FunctionCode { code, file: file.unwrap_or_else(|_| "".into()) }))
            }
            "__closure__" if self.cells.is_empty() => Value::None,
            "__closure__" => Value::tuple(self.cells.iter().map(Cell::object)),
            "__builtins__" => Value::Module("builtins"),
            "__type_params__" => Value::tuple([]),
            "__defaults__" if self.defaults.is_empty() => Value::None,
            "__defaults__" => Value::Tuple(self.defaults.clone()),
            "__kwdefaults__" if self.keyword_defaults.is_empty() => Value::None,
            "__kwdefaults__" => Value::Dict(self.keyword_defaults.clone()),
            _ => return Some(Err(super::descriptors::missing("function", name))),
        }))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        self.fields_of(name).set(name, value.clone());
        Some(Ok(()))
    }
    fn delete_attribute(&self, name: &str) -> Option<Result<()>> {
        let missing = || super::descriptors::missing("function", name);
        Some(if self.fields_of(name).remove(name) { Ok(()) } else { Err(missing()) })
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn is_generator_function(&self) -> bool {
        self.code().is_ok_and(|code| code.is_generator)
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(self.machine().and_then(|machine| machine.call_function(self, args, keywords)))
    }
}

/// `function.__code__`
pub(super) struct FunctionCode {
    pub code: Rc<Code>,
    pub file: Rc<str>,
}

impl Object for FunctionCode {
    fn class_name(&self) -> &'static str {
        "code"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let code = &self.code;
        let parameters = &code.parameters;
        let names = |names: &mut dyn Iterator<Item = &Rc<str>>| Value::tuple(names.map(Value::str));
        let count = |count: usize| Value::Int(count as i64);
        Some(match name {
            "co_filename" => Value::str(&self.file),
            "co_name" => Value::str(&code.name),
            "co_qualname" => Value::str(&code.qualified),
            "co_argcount" => count(parameters.positional),
            "co_posonlyargcount" => count(parameters.positional_only),
            "co_kwonlyargcount" => count(parameters.keyword_only),
            "co_nlocals" => count(code.locals.len()),
            "co_varnames" => names(&mut code.locals.iter().filter(|name| !name.starts_with('.'))),
            "co_cellvars" => names(&mut code.cells.iter().map(|(name, _)| name)),
            "co_freevars" => names(&mut code.free.iter()),
            "co_names" => names(&mut code.names.iter().map(|name| &name.text)),
            "co_flags" => {
                let flags = [(parameters.has_rest, 4), (parameters.has_keywords, 8), (code.is_generator, 32)];
                let own = flags.iter().filter(|(has, _)| *has).map(|(_, flag)| flag).sum::<i64>();
                // Optimised, with locals of its own; a coroutine.
                Value::Int(own + 3 + if code.is_async { 128 } else { 0 })
            }
            "co_firstlineno" => {
                let before = code.places.first().and_then(|place| code.source.get(..*place as usize));
                count(before.unwrap_or_default().matches('\n').count() + 1)
            }
            _ => return None,
        })
    }
    fn repr(&self) -> String {
        format!("<code object {} at {:#x}>", self.code.name, Rc::as_ptr(&self.code) as usize)
    }
    fn identity(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.code) as usize)
    }
}

impl Function {
    /// Returns the frame of a call, with the arguments in their slots.
    ///
    /// # Errors
    /// Fails with Python's TypeError for surplus, missing, repeated and unknown arguments.
    pub fn frame(&self, mut args: Vec<Value>, keywords: Keywords) -> Result<Frame> {
        let code = self.code()?;
        let parameters = &code.parameters;
        if args.len() == code.parameters.names.len()
            && keywords.is_empty()
            && parameters.keyword_only == 0
            && !parameters.has_rest
            && !parameters.has_keywords
        {
            let mut locals = Vec::with_capacity(code.locals.len());
            locals.extend(args.into_iter().map(Some));
            return Ok(Frame::new(code.clone(), locals, &self.cells));
        }
        let given = args.len();
        let rest = if given > parameters.positional { args.split_off(parameters.positional) } else { Vec::new() };
        let singles = parameters.positional + parameters.keyword_only;
        let mut locals: Vec<Option<Value>> = args.into_iter().map(Some).collect();
        locals.resize(code.locals.len(), None);
        let gathered = self.take_keywords(&mut locals, keywords)?;
        if !rest.is_empty() && !parameters.has_rest {
            return Err(self.too_many(given, &locals));
        }
        self.take_defaults(&mut locals)?;
        let mut others = singles;
        if parameters.has_rest {
            if let Some(slot) = locals.get_mut(others) {
                *slot = Some(Value::tuple(rest));
            }
            others += 1;
        }
        if parameters.has_keywords {
            let gathered = Dict::new(gathered.into_iter().map(|(name, value)| (Value::Str(name.into()), value)))?;
            if let Some(slot) = locals.get_mut(others) {
                *slot = Some(Value::Dict(gathered));
            }
        }
        Ok(Frame::new(code.clone(), locals, &self.cells))
    }

    /// Puts keyword arguments into their slots, and returns those without a slot.
    fn take_keywords(&self, locals: &mut [Option<Value>], keywords: Keywords) -> Result<Keywords> {
        let Parameters { names, positional_only, positional, keyword_only, has_keywords, .. } = &self.head.parameters;
        let name = self.qualified();
        let (mut gathered, mut misplaced) = (Keywords::new(), Vec::new());
        for (keyword, value) in keywords {
            let singles = names.iter().take(positional + keyword_only);
            match singles.into_iter().skip(*positional_only).position(|known| *known == keyword) {
                Some(at) => match locals.get_mut(at + positional_only) {
                    Some(slot @ None) => *slot = Some(value),
                    _ => bail!(TypeError, "{name}() got multiple values for argument '{keyword}'"),
                },
                None if *has_keywords => gathered.push((keyword, value)),
                None if names.iter().take(*positional_only).any(|known| *known == keyword) => misplaced.push(keyword),
                None => bail!(TypeError, "{name}() got an unexpected keyword argument '{keyword}'"),
            }
        }
        if !misplaced.is_empty() {
            let listed = misplaced.join(", ");
            bail!(TypeError, "{name}() got some positional-only arguments passed as keyword arguments: '{listed}'");
        }
        Ok(gathered)
    }

    /// Returns the defaults of the positional parameters: those of the `def`, or those that a script has set.
    fn defaults(&self) -> Tuple {
        match self.slots.get("__defaults__") {
            None => self.defaults.clone(),
            Some(Value::Tuple(defaults)) => defaults,
            Some(_) => Vec::new().into(),
        }
    }

    fn take_defaults(&self, locals: &mut [Option<Value>]) -> Result<()> {
        let parameters = &self.head.parameters;
        let defaults = self.defaults();
        let first = parameters.positional.saturating_sub(defaults.len());
        for (slot, default) in locals.iter_mut().take(parameters.positional).skip(first).zip(defaults.iter()) {
            slot.get_or_insert_with(|| default.clone());
        }
        self.check_missing("positional", locals, 0, parameters.positional)?;
        let keyword_only = parameters.positional..parameters.positional + parameters.keyword_only;
        for (slot, name) in locals.iter_mut().zip(&parameters.names).skip(keyword_only.start).take(keyword_only.len()) {
            if slot.is_none() {
                *slot = self.keyword_defaults.get_str(name);
            }
        }
        self.check_missing("keyword-only", locals, keyword_only.start, keyword_only.end)
    }

    fn check_missing(&self, kind: &str, locals: &[Option<Value>], from: usize, to: usize) -> Result<()> {
        let slots = locals.iter().zip(&self.head.parameters.names).take(to).skip(from);
        let missing: Vec<&str> = slots.filter(|(slot, _)| slot.is_none()).map(|(_, name)| &**name).collect();
        if missing.is_empty() { Ok(()) } else { Err(missing_names(&self.qualified(), kind, &missing)) }
    }

    fn too_many(&self, given: usize, locals: &[Option<Value>]) -> Error {
        let parameters = &self.head.parameters;
        let most = parameters.positional;
        let least = most.saturating_sub(self.defaults().len());
        let takes = if least < most { format!("from {least} to {most}") } else { most.to_string() };
        let plural = if most == 1 { "" } else { "s" };
        let named = locals.iter().skip(most).take(parameters.keyword_only).flatten().count();
        let (were, also) = match (named, given) {
            (0, 1) => ("was given", String::new()),
            (0, _) => ("were given", String::new()),
            (named, given) => {
                let s = |count: usize| if count == 1 { "" } else { "s" };
                let also = format!(" positional argument{} (and {named} keyword-only argument{})", s(given), s(named));
                ("were given", also)
            }
        };
        let name = self.qualified();
        Error::type_error(format!("{name}() takes {takes} positional argument{plural} but {given}{also} {were}"))
    }
}
