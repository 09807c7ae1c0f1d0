//! What `import` finds besides the program's own modules: files and folders of Python on `sys.path`, as in
//! [the import system](https://docs.python.org/3.11/reference/import.html). Each runs on a machine of its own, which has the
//! module's variables.

use super::builtins;
use super::compile::{Shows, Unit, compile, compile_known};
use super::descriptors;
use super::exceptions;
use super::frame::Frame;
use super::library;
use super::machine::Machine;
use super::syntax::{self, SyntaxFault};
use super::tracebacks;
use call::state::Import;
use call::{Receiver, State};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use tensor::system::{Files, PathKind, System};
use tensor::{Error, ErrorKind, Result, bail};
use value::equality::NotImplemented;
use value::{Dict, Keywords, Object, ObjectState, Text, Value};

/// A module of a script, or the script itself.
pub(super) struct Module {
    name: Rc<str>,
    machine: Weak<Machine>,
    is_loading: Cell<bool>,
    /// The code of a module of the library that another one has imported and not used yet.
    waiting: RefCell<Option<(Weak<Machine>, Source)>>,
}

impl Module {
    fn variable(&self, name: &str) -> Option<Value> {
        let machine = self.machine.upgrade()?;
        let own = machine.variables.borrow().named(name);
        own.or_else(|| machine.outer_lookup.borrow().clone()?(name)).or_else(|| builtins::imported(&machine, name))
    }

    /// Runs the module if it has not run yet.
    fn ready(&self) -> Result<()> {
        let Some((by, code)) = self.waiting.take() else { return Ok(()) };
        match (by.upgrade(), self.machine.upgrade()) {
            (Some(by), Some(machine)) => by.run_module(self, &machine, &code),
            _ => Err(Error::runtime("the session has ended")),
        }
    }

    fn text(&self, name: &str) -> Option<Text> {
        match self.variable(name)? {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the folders in which its submodules are found, if it is a package.
    pub(super) fn folders(&self) -> Option<Vec<Value>> {
        self.variable("__path__")?.sequence()
    }

    /// Where it is from, as messages say it.
    fn origin(&self) -> String {
        self.text("__file__").map_or_else(|| "unknown location".to_owned(), |file| file.to_string())
    }
}

impl Object for Module {
    fn object_state(&self) -> ObjectState {
        // The script's own variables are those of the session.
        let machine = self.machine.upgrade().filter(|machine| machine.own().is_none());
        let variables = machine.and_then(|machine| machine.globals().ok());
        ObjectState { dicts: variables.into_iter().collect(), ..ObjectState::default() }
    }
    fn type_name(&self) -> &str {
        "module"
    }
    fn class_name(&self) -> &'static str {
        "module"
    }
    fn repr(&self) -> String {
        match self.text("__file__") {
            Some(file) => format!("<module '{}' from {}>", self.name, descriptors::shown(&Value::str(&file))),
            None if self.folders().is_some() => format!("<module '{}' (namespace)>", self.name),
            None if self.variable("__spec__").is_some() => format!("<module '{}'>", self.name),
            None => format!("<module '{}' (built-in)>", self.name),
        }
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        if let Err(error) = self.ready() {
            return Some(Err(error));
        }
        if let Some(value) = self.variable(name) {
            return Some(Ok(value));
        }
        match name {
            "__name__" => Some(Ok(Value::str(&self.name))),
            "__dict__" => Some(self.machine.upgrade()?.globals().map(Value::Dict)),
            "__class__" => None,
            _ => {
                if let Some(found) = self.variable("__getattr__").filter(|_| !name.starts_with("__")) {
                    let machine = self.machine.upgrade()?;
                    return Some(super::calls::call(&machine, &found, vec![Value::str(name)], Vec::new()));
                }
                let (partially, why) = match self.is_loading.get() {
                    true => ("partially initialized ", " (most likely due to a circular import)"),
                    false => ("", ""),
                };
                let message = format!("{partially}module '{}' has no attribute '{name}'{why}", self.name);
                Some(Err(Error::new(ErrorKind::AttributeError, message)))
            }
        }
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        if let Err(error) = self.ready() {
            return Some(Err(error));
        }
        drop(replaced(&*self.machine.upgrade()?, name, Some(value.clone())));
        Some(Ok(()))
    }
    fn delete_attribute(&self, name: &str) -> Option<Result<()>> {
        let before = replaced(&*self.machine.upgrade()?, name, None);
        let absent =
            || Error::new(ErrorKind::AttributeError, format!("module '{}' has no attribute '{name}'", self.name));
        Some(before.map(drop).ok_or_else(absent))
    }
}

/// Sets or deletes a variable of a module, and returns its old value.
fn replaced(machine: &Machine, name: &str, value: Option<Value>) -> Option<Value> {
    let mut variables = machine.variables.borrow_mut();
    let slot = variables.slot(name);
    variables.set(slot, value)
}

/// Names with their values.
type Named = Vec<(Rc<str>, Value)>;

pub(super) fn as_module(value: &Value) -> Option<&Module> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    }
}

pub(super) fn missing(name: &str, why: &str) -> Error {
    Error::new(ErrorKind::ModuleNotFoundError, format!("No module named '{name}'{why}"))
}

fn import_error(message: String) -> Error {
    Error::new(ErrorKind::Other("ImportError"), message)
}

/// `sys.modules`
fn modules(state: &State) -> Result<Dict> {
    match objects::members::of_module(state, "sys", "modules") {
        Some(Value::Dict(modules)) => Ok(modules),
        _ => bail!(RuntimeError, "unable to get sys.modules"),
    }
}

fn loaded(state: &State, name: &str) -> Result<Option<Value>> {
    match modules(state)?.get(&Value::str(name))? {
        Some(Value::None) => {
            Err(Error::new(ErrorKind::ModuleNotFoundError, format!("import of {name} halted; None in sys.modules")))
        }
        found => Ok(found),
    }
}

impl Machine {
    /// Begins a script, unless it has begun: its folder is where modules are found, and its name the first argument.
    pub fn begin_script(&self, file: Option<&Path>) {
        let Ok(shared) = self.shared() else { return };
        let full = file.map(|file| System::current_folder().join(file));
        let shown = full.as_ref().map(|full| Rc::from(full.display().to_string()));
        if *shared.file.borrow() == shown {
            return;
        }
        shared.file.replace(shown);
        shared.package.replace(None);
        shared.doc.replace(None);
        if let (Some(file), Some(folder)) = (file, full.as_deref().and_then(Path::parent)) {
            self.set_first("path", folder);
            self.set_first("argv", file);
        }
    }

    /// Sets the first item of `sys.path` or `sys.argv`.
    pub(super) fn set_first(&self, name: &str, path: &Path) {
        let Some(Value::List(list)) = self.state.sys.get_str(name) else { return };
        let rest = list.to_vec().into_iter().skip(1);
        // Lists of this size are not too large.
        drop(list.replace([shown(path)].into_iter().chain(rest).collect()));
    }

    /// `import path`, where `path` begins with a dot for each step up from the importing package. Returns the innermost
    /// module, or the outermost one, which is what `import a.b` binds.
    ///
    /// # Errors
    /// Fails with ImportError, ModuleNotFoundError, and any error of the module.
    pub(super) fn import(&self, path: &str, outermost: bool) -> Result<Value> {
        let state = &*self.state;
        let ups = path.len() - path.trim_start_matches('.').len();
        let full = if ups > 0 { self.relative(path, ups)? } else { path.to_owned() };
        let outer = full.split('.').next().unwrap_or_default();
        let is_ours = match loaded(state, outer)? {
            None => !self.is_shadowed(outer),
            known => matches!(known, Some(Value::Module(_))),
        };
        let ours = if self.is_hidden || is_ours {
            let found = objects::python::import(&full);
            if let (Ok(_), Ok(module), false) = (&found, objects::python::import(outer), self.is_hidden) {
                let modules = modules(state)?;
                if modules.get_str(outer).is_none() {
                    modules.insert(Value::str(outer), module)?;
                }
            }
            found
        } else {
            Err(missing(&full, ""))
        };
        let is_known = library::find(&full).is_some();
        match ours {
            Ok(_) if outermost => objects::python::import(outer),
            Ok(module) => Ok(module),
            Err(error) if is_known && !self.is_hidden => {
                let Some(innermost) = self.import_path(&full)? else { return Err(error) };
                match (outermost, loaded(state, outer)?) {
                    (true, Some(outer)) => Ok(outer),
                    (true, None) => objects::python::import(outer),
                    (false, _) => Ok(innermost),
                }
            }
            Err(error) if self.is_hidden || error.kind != ErrorKind::ModuleNotFoundError => Err(error),
            Err(error) => {
                let Some(innermost) = self.import_path(&full)? else { return Err(error) };
                if outermost { loaded(state, outer)?.ok_or(error) } else { Ok(innermost) }
            }
        }
    }

    /// `from module import name`: an attribute, or a submodule.
    pub(super) fn import_from(&self, module: &Value, path: &str, name: &str) -> Result<Value> {
        let Some(found) = as_module(module) else {
            return objects::python::import_from(&self.state, module, path, name);
        };
        found.ready()?;
        if let Some(value) = found.variable(name) {
            return Ok(value);
        }
        if found.folders().is_some()
            && let Some(inner) = self.import_path(&format!("{}.{name}", found.name))?
        {
            return Ok(inner);
        }
        if found.variable("__getattr__").is_some()
            && let Some(Ok(value)) = found.own_attribute(name)
        {
            return Ok(value);
        }
        let origin = found.origin();
        Err(import_error(match found.is_loading.get() {
            true => format!(
                "cannot import name '{name}' from partially initialized module '{}' (most likely due to a circular import) \
                 ({origin})",
                found.name
            ),
            false => format!("cannot import name '{name}' from '{}' ({origin})", found.name),
        }))
    }

    /// The names that `from module import *` binds: those that `__all__` lists, or all that do not begin with an underscore.
    /// `None` for a module of the program.
    pub(super) fn names_of_all(&self, module: &Value) -> Result<Option<Named>> {
        let companion = match module {
            Value::Module(name) => self.companion(name)?,
            _ => None,
        };
        let Some(found) = as_module(companion.as_ref().unwrap_or(module)) else { return Ok(None) };
        found.ready()?;
        let Some(all) = found.variable("__all__") else {
            let variables = found.machine.upgrade().map(|machine| machine.variables.borrow().bound());
            let mut names = variables.unwrap_or_default();
            names.retain(|(name, _)| !name.starts_with('_'));
            return Ok(Some(names));
        };
        let names = all.sequence().unwrap_or_default();
        let bound = names.iter().map(|name| match name {
            Value::Str(name) => {
                let value = match found.variable(name) {
                    Some(value) => value,
                    None => self.import_from(module, &found.name, name).map_err(|error| match error.kind {
                        ErrorKind::Other("ImportError") => Error::new(
                            ErrorKind::AttributeError,
                            format!("module '{}' has no attribute '{name}'", found.name),
                        ),
                        _ => error,
                    })?,
                };
                Ok((name.to_rc(), value))
            }
            other => bail!(TypeError, "Item in {}.__all__ must be str, not {}", found.name, other.type_name()),
        });
        bound.collect::<Result<_>>().map(Some)
    }

    /// Returns what the library's text of a builtin module has under a name: a builtin module has what is quick or of tensors,
    /// and the library the rest.
    fn library_member(&self, module: &'static str, name: &str) -> Result<Option<Value>> {
        let inner = format!("{module}.{name}");
        if library::find(&inner).is_some() {
            return self.import_path(&inner);
        }
        let companion = self.companion(module)?;
        Ok(companion.as_ref().and_then(as_module).and_then(|companion| companion.variable(name)))
    }

    /// Calls the functions of `atexit`, if a script has imported it. Like in Python, their errors are reported and ignored.
    pub fn run_exit_functions(&self) {
        let Ok(Some(module)) = loaded(&self.state, "atexit") else { return };
        if as_module(&module).is_none_or(|module| module.waiting.borrow().is_some()) {
            return;
        }
        if let Ok(run) = objects::members::attribute(&self.state, &module, "_run_exitfuncs") {
            // It catches what the functions raise.
            drop(super::calls::call(self, &run, Vec::new(), Vec::new()));
        }
    }

    /// Returns what a builtin module has, by name: `module.__dict__`, as a copy.
    pub(super) fn names_of_module(&self, module: &'static str) -> Result<Dict> {
        let names = Dict::default();
        if let Some(machine) =
            self.companion(module)?.as_ref().and_then(as_module).and_then(|found| found.machine.upgrade())
        {
            for (name, value) in machine.variables.borrow().bound() {
                names.insert(Value::str(&name), value)?;
            }
        }
        let known = if module == "builtins" { "py" } else { module };
        for name in self.state.registry.names(Receiver::Module(known)) {
            if let Some(value) = objects::members::of_module(&self.state, module, name) {
                names.insert(Value::str(name), value)?;
            }
        }
        Ok(names)
    }

    /// Returns the library's text of a builtin module, which runs when it is first asked for.
    fn companion(&self, module: &str) -> Result<Option<Value>> {
        let Some(found) = library::find(module) else { return Ok(None) };
        let known = self.shared()?.companions.borrow().get(module).cloned();
        known.map_or_else(|| self.load(module, Found::of_library(found), false), Ok).map(Some)
    }

    /// `types.ModuleType(name, doc)`
    ///
    /// # Errors
    /// TypeError if the name is no text.
    pub(super) fn new_module(&self, args: &[Value], keywords: &Keywords) -> Result<Value> {
        let named = |name: &str| keywords.iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone());
        let name = match args.first().cloned().or_else(|| named("name")) {
            Some(Value::Str(name)) => name.to_rc(),
            Some(other) => bail!(TypeError, "module() argument 'name' must be str, not {}", other.type_name()),
            None => bail!(TypeError, "module() missing required argument 'name' (pos 1)"),
        };
        let shared = self.shared()?;
        let own = Machine::of_module(&self.state, &shared, Dict::default());
        shared.machines.borrow_mut().push(own.clone());
        let doc = args.get(1).cloned().or_else(|| named("doc")).unwrap_or(Value::None);
        let mut variables = own.variables.borrow_mut();
        for (variable, value) in [("__name__", Value::str(&name)), ("__doc__", doc), ("__package__", Value::None)] {
            variables.put(variable, Some(value));
        }
        for variable in ["__loader__", "__spec__"] {
            variables.put(variable, Some(Value::None));
        }
        drop(variables);
        Ok(Value::Object(Rc::new(Module {
            name,
            machine: Rc::downgrade(&own),
            is_loading: Cell::new(false),
            waiting: RefCell::default(),
        })))
    }

    /// `importlib.reload(module)`
    pub(super) fn reload(&self, module: &Value) -> Result<Value> {
        let Some(found) = as_module(module) else { bail!(TypeError, "reload() argument must be a module") };
        if loaded(&self.state, &found.name)?.is_none_or(|known| !value::equality::is(&known, module)) {
            return Err(import_error(format!("module {} not in sys.modules", found.name)));
        }
        let machine = found.machine.upgrade().filter(|_| &*found.name != "__main__");
        match machine.zip(found.text("__file__")) {
            Some((machine, file)) => {
                let code = match library::find(&found.name).filter(|module| *file == *module.shown()) {
                    Some(module) => Source::Library(module),
                    None => Source::File(PathBuf::from(&*file)),
                };
                self.run_module(found, &machine, &code)?;
            }
            None => bail!(ModuleNotFoundError, "spec not found for the module '{}'", found.name),
        }
        Ok(module.clone())
    }

    /// Resolves a path that begins with dots against the package of this machine's module.
    fn relative(&self, path: &str, ups: usize) -> Result<String> {
        let text = |name: &str| {
            let value = self.variables.borrow().named(name);
            if let Some(Value::Str(text)) = value { Some(text.to_string()) } else { None }
        };
        let of_script = || Some(self.own()?.package.borrow().as_ref()?.to_string());
        let package = text("__package__").or_else(of_script).filter(|package| !package.is_empty());
        let Some(package) = package else {
            return Err(import_error("attempted relative import with no known parent package".to_owned()));
        };
        let mut parts: Vec<&str> = package.split('.').collect();
        if ups > parts.len() {
            return Err(import_error("attempted relative import beyond top-level package".to_owned()));
        }
        parts.truncate(parts.len() + 1 - ups);
        parts.extend(path.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
        Ok(parts.join("."))
    }

    /// Loads a module and the packages around it, as far as they are not loaded. Returns `None` if there is no file for the
    /// outermost one.
    pub(super) fn import_path(&self, full: &str) -> Result<Option<Value>> {
        let state = &*self.state;
        let mut parent: Option<Value> = None;
        for (end, _) in full.char_indices().filter(|(_, c)| *c == '.').chain([(full.len(), '.')]) {
            let name = full.get(..end).unwrap_or_default();
            let leaf = name.rsplit('.').next().unwrap_or_default();
            if let Some(package) = parent.as_ref().and_then(as_module) {
                package.ready()?;
            }
            if let Some(known) = loaded(state, name)? {
                parent = Some(known);
                continue;
            }
            if let (None, Ok(ours)) = (&parent, objects::python::import(name))
                && !self.is_shadowed(name)
            {
                parent = Some(ours);
                continue;
            }
            let folders = match &parent {
                Some(Value::Module(_)) => Vec::new(),
                None => self.path(),
                Some(package) => match as_module(package).and_then(Module::folders) {
                    Some(folders) => folders,
                    None => {
                        let outer = name.rsplit_once('.').map_or("", |(outer, _)| outer);
                        return Err(missing(full, &format!("; '{outer}' is not a package")));
                    }
                },
            };
            let Some(found) = Found::module(&folders, name) else {
                return match &parent {
                    None | Some(Value::Module(_)) => Ok(None),
                    Some(_) => Err(missing(full, "")),
                };
            };
            let module = self.load(name, found, true)?;
            if let Some(Value::Object(package)) = &parent {
                package.set_attribute(leaf, &module).transpose()?;
            }
            parent = Some(module);
        }
        Ok(parent)
    }

    /// `sys.path`
    pub(super) fn path(&self) -> Vec<Value> {
        let path = objects::members::of_module(&self.state, "sys", "path");
        path.and_then(|path| path.sequence()).unwrap_or_default()
    }

    /// Returns whether a script's own file takes the place of a module that is part of the program. The library itself does
    /// not see it.
    fn is_shadowed(&self, name: &str) -> bool {
        SHADOWED.contains(&name)
            && !self.is_of_library.get()
            && find(&self.path(), name).is_some_and(|found| !matches!(found.code, Source::Nothing))
    }

    /// Runs the file of a module, which is in `sys.modules` meanwhile.
    fn load(&self, name: &str, found: Found, is_listed: bool) -> Result<Value> {
        let shared = self.shared()?;
        // In a dictionary, in which undo finds them.
        let machine = Machine::of_module(&self.state, &shared, Dict::default());
        machine.is_of_library.set(matches!(found.code, Source::Library(_)));
        shared.machines.borrow_mut().push(machine.clone());
        let package = if found.is_package { name } else { name.rsplit_once('.').map_or("", |(outer, _)| outer) };
        let mut variables = machine.variables.borrow_mut();
        for (variable, value) in [("__name__", name), ("__package__", package)] {
            variables.put(variable, Some(Value::str(value)));
        }
        variables.put("__doc__", Some(Value::None));
        variables.put("__path__", found.is_package.then(|| Value::list([shown(&found.folder)])));
        variables.put("__file__", found.code.shown());
        drop(variables);
        let module = Rc::new(Module {
            name: name.into(),
            machine: Rc::downgrade(&machine),
            is_loading: Cell::new(false),
            waiting: RefCell::default(),
        });
        let value = Value::Object(module.clone());
        if !is_listed {
            shared.companions.borrow_mut().insert(name.to_owned(), value.clone());
            if let Err(error) = self.run_module(&module, &machine, &found.code) {
                shared.companions.borrow_mut().remove(name);
                return Err(error);
            }
            return Ok(value);
        }
        let modules = modules(&self.state)?;
        modules.insert(Value::str(name), value.clone())?;
        if self.is_of_library.get() && matches!(found.code, Source::Library(_)) && !found.is_package {
            module.waiting.replace(Some((Rc::downgrade(&self.handle()?), found.code)));
            return Ok(value);
        }
        if let Err(error) = self.run_module(&module, &machine, &found.code) {
            modules.remove(&Value::str(name))?;
            return Err(error);
        }
        // A module may have put something else in its place.
        Ok(modules.get(&Value::str(name))?.unwrap_or(value))
    }

    fn run_module(&self, module: &Module, machine: &Rc<Machine>, code: &Source) -> Result<()> {
        let Some((text, file)) = code.read()? else { return Ok(()) };
        let text: Rc<str> = text.into();
        let shown = file.display().to_string();
        let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let refused = |fault: SyntaxFault| exceptions::of_fault(&fault, &text, &name);
        let (registry, mut slot_of) = (self.state.registry, |name: &str| machine.variables.borrow_mut().slot(name));
        let code = match code {
            Source::Library(_) => compile_known(&text, registry, &mut slot_of),
            _ => syntax::parse(&text).and_then(|parsed| {
                compile(parsed.syntax(), &text, registry, &mut slot_of, Shows::Nothing, Unit::Module)
            }),
        };
        let code = code.map_err(refused)?;
        if let Some(doc) = &code.doc {
            machine.variables.borrow_mut().put("__doc__", Some(Value::str(doc)));
        }
        self.shared()?.note_text(&text, &shown, true);
        module.is_loading.set(true);
        let done = machine.run(&mut Frame::new(code, Vec::new(), &[])).map(drop);
        module.is_loading.set(false);
        done
    }
}

/// The modules of the program that CPython finds on `sys.path`, after those of a script.
const SHADOWED: [&str; 6] = ["array", "collections", "copy", "functools", "math", "operator"];

/// The code of a module.
pub(super) enum Source {
    File(PathBuf),
    Library(&'static library::Module),
    /// A folder alone is a package without code.
    Nothing,
}

impl Source {
    /// Returns the text, and the file as faults show it: by its path from here. `None` for a package without code.
    pub(super) fn read(&self) -> Result<Option<(String, PathBuf)>> {
        Ok(Some(match self {
            Source::Nothing => return Ok(None),
            Source::Library(module) => (module.text()?, PathBuf::from(module.shown())),
            Source::File(file) => {
                let bytes = System::read(file)
                    .map_err(|error| Error::new(ErrorKind::Other("OSError"), format!("{}: {error}", file.display())))?;
                let shown = file.strip_prefix(System::current_folder()).unwrap_or(file).to_owned();
                match String::from_utf8(bytes) {
                    Ok(text) => (text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text), shown),
                    Err(_) => bail!(SyntaxError, "(unicode error) '{}' is not valid UTF-8", shown.display()),
                }
            }
        }))
    }

    /// `__file__`
    fn shown(&self) -> Option<Value> {
        match self {
            Source::File(file) => Some(shown(file)),
            Source::Library(module) => Some(Value::str(module.shown())),
            Source::Nothing => None,
        }
    }
}

/// What a name is on the file system or in the library.
pub(super) struct Found {
    pub code: Source,
    folder: PathBuf,
    pub is_package: bool,
}

impl Found {
    /// Looks for a module in folders and in the library. A folder without `__init__.py` comes after everything else.
    pub(super) fn module(folders: &[Value], name: &str) -> Option<Found> {
        let found = find(folders, name.rsplit('.').next().unwrap_or_default());
        let is_bare = found.as_ref().is_none_or(|found| matches!(found.code, Source::Nothing));
        let known = library::find(name).filter(|_| is_bare).map(Found::of_library);
        known.or(found)
    }

    fn of_library(module: &'static library::Module) -> Found {
        let file = PathBuf::from(module.shown());
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        Found { code: Source::Library(module), folder, is_package: module.is_package }
    }
}

fn shown(path: &Path) -> Value {
    Value::str(path.display().to_string())
}

/// Looks for a module in folders: in each a package comes before a file, and a folder without `__init__.py` after all others.
fn find(folders: &[Value], leaf: &str) -> Option<Found> {
    let is_file = |path: &Path| matches!(System::kind(path), Ok(PathKind::File(_)));
    let is_folder = |path: &Path| matches!(System::kind(path), Ok(PathKind::Folder));
    let mut bare = None;
    for folder in folders {
        let Value::Str(folder) = folder else { continue };
        // The present folder at a prompt.
        let folder = if folder.is_empty() { System::current_folder() } else { PathBuf::from(&**folder) };
        let package = folder.join(leaf);
        let (first, file) = (package.join("__init__.py"), folder.join(format!("{leaf}.py")));
        if is_file(&first) {
            return Some(Found { code: Source::File(first), folder: package, is_package: true });
        }
        if is_file(&file) {
            return Some(Found { code: Source::File(file), folder, is_package: false });
        }
        if bare.is_none() && is_folder(&package) {
            bare = Some(Found { code: Source::Nothing, folder: package, is_package: true });
        }
    }
    bare
}

impl Machine {
    /// Gives a new session what `sys` has at a prompt, and lets it import.
    pub(super) fn begin_imports(self: &Rc<Self>) {
        objects::standard_streams::provide(&self.state);
        let machine = self;
        let main = Module {
            name: "__main__".into(),
            machine: Rc::downgrade(machine),
            is_loading: Cell::new(false),
            waiting: RefCell::default(),
        };
        let known = [
            ("__main__", Value::Object(Rc::new(main))),
            ("builtins", Value::Module("builtins")),
            ("sys", Value::Module("sys")),
        ];
        let modules = Dict::new(known.map(|(name, module)| (Value::str(name), module))).unwrap_or_default();
        let nowhere = || Value::list([Value::str("")]);
        for (name, value) in [("modules", Value::Dict(modules)), ("path", nowhere()), ("argv", nowhere())] {
            // A text always has a hash.
            drop(machine.state.sys.insert(Value::str(name), value));
        }
        let own = Rc::downgrade(machine);
        machine.state.importer.replace(Some(Rc::new(move |import| {
            let machine = own.upgrade().ok_or_else(|| Error::runtime("the session has ended"))?;
            match import {
                Import::Module(path) => machine.import(path, false),
                Import::Member(module, name) => {
                    Ok(machine.library_member(module, name)?.unwrap_or_else(|| Value::Object(Rc::new(NotImplemented))))
                }
                Import::Frame(depth) => tracebacks::running(&machine, depth),
                Import::Again(module) => machine.reload(module),
            }
        })));
    }
}
