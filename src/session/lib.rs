//! Takes one input and returns one [`Outcome`]. Scripts, typed lines, transcripts and pasted sessions all come through
//! here. Nothing is printed, except through a listener given by the caller.

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod assist;
pub mod lessons;
pub mod quiz;
pub mod transcript;

pub use call::stack::note as note_stack;
use call::state::State;
pub use call::state::{Live, Said};
pub use call::suggest::nearest;
use explain::aliases;
pub use explain::terminal::wrapped;
pub use explain::{Ink, Line, Picture, Redraw, RedrawContext, RedrawOutcome};
use failure::failure_of;
use languages::python::compile::Shows;
pub use languages::python::rhai_form::{VariableKind, rhai_form};
use languages::python::syntax;
use languages::script::callback::EngineHandle;
use languages::script::input::RhaiInput;
use languages::script::reading::Names;
use languages::script::runtime::{Constants, Runtime};
use languages::script::values::{is_ours, is_range, to_value};
use languages::script::{engine, fault, imports, numbers, own};
use logical::LineScanner;
use rhai::{Caches, Dynamic, Engine, Module, Scope, Shared};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
pub use tensor::Dims;
pub use tensor::limits::{BUDGET, set_budget};
pub use tensor::rehearsal::Rehearsal;
use tensor::{Error, ErrorKind, interrupt, missing_seed};
use torch::library::{help, registry};
use value::Value;

mod advice;
mod begun;
mod cells;
mod comparison;
mod complete;
mod cursor;
mod failure;
mod foreign;
mod logical;
mod magics;
mod members;
mod misspelt;
mod python;
mod results;
mod scripted;
mod stepwise;
pub mod texts;
mod timing;
mod undo;
mod variables;

pub use begun::Statement;
pub use complete::{Candidate, Completion, keywords};
pub(crate) use cursor::{comment_length, string_length};
pub use failure::Failure;
pub use magics::without_magics;
pub use scripted::Lines;
pub use stepwise::{Step, steps};
pub use timing::Timing;
pub use undo::Undone;
pub use variables::{MemoryUse, Variable};

/// The two languages an input may be written in. They share every variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    Rhai,
}

impl Language {
    /// Returns the language of a script, by its file extension.
    pub fn of_script(path: &Path) -> Language {
        if path.extension().is_some_and(|extension| extension == "py") { Language::Python } else { Language::Rhai }
    }

    /// Returns the prompts for the first and the further lines of an input.
    pub fn signs(self) -> (&'static str, &'static str) {
        match self {
            Language::Python => (">>> ", "... "),
            Language::Rhai => ("rhai> ", "    > "),
        }
    }
}

/// The outcome of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Everything printed, including the echoed value. Every line ends in a newline.
    pub text: String,
    pub error: Option<Failure>,
    /// The exit status, if the input asked to leave.
    pub exit: Option<i32>,
    /// A note on the input.
    pub note: Option<String>,
}

/// Whether more lines could complete an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    Complete,
    Incomplete,
    Invalid,
}

#[derive(Default)]
pub struct SessionOptions {
    /// The value of `ARGS` in scripts.
    pub args: Vec<String>,
    /// Receives printed text immediately, in place of [`Outcome::text`].
    pub live: Option<Live>,
    /// Whether to keep the latest results as `_`, `__` and `___`, like a prompt.
    pub keeps_results: bool,
    /// The seed in place of one that a program leaves out.
    pub seed: u64,
}

/// Returns whether a Python prompt would wait for more lines after this source: in an open bracket, or in a block that
/// no blank line has ended.
pub(crate) fn python_goes_on(source: &str) -> bool {
    syntax::awaits_blank_line(source) || syntax::parse(source).is_err_and(|fault| fault.incomplete)
}

/// Returns whether a Python source is one expression, whose value a prompt would show.
pub(crate) fn is_python_expression(source: &str) -> bool {
    syntax::is_expression(source)
}

/// The engine, the variables and the settings of one session.
pub struct Session {
    engine: Rc<RefCell<Engine>>,
    /// The functions defined by inputs, one engine module per input.
    functions: Vec<Shared<Module>>,
    scope: Scope<'static>,
    runtime: Rc<Runtime>,
    home: EngineHandle,
    /// Whether a script function exists, which may read global variables.
    has_functions: bool,
    python: python::Python,
    /// Number of inputs so far, which gives each a unique id.
    inputs: std::cell::Cell<usize>,
    /// A note on the running input.
    note: Option<String>,
    past: undo::UndoHistory,
    keeps_results: bool,
    /// Whether the running input hands over the values that it shows, and the latest of them.
    capture: Rc<std::cell::Cell<results::Capture>>,
    captured: Option<Value>,
}

/// Lets loops of this thread use all cores again. Their number belongs to the thread, not to a session.
pub(crate) fn use_all_cores() {
    tensor::parallel::set_cores(0);
}

impl Session {
    pub fn new(options: SessionOptions) -> Session {
        missing_seed::set(options.seed);
        let state = State::new(registry(), options.live);
        let runtime = Rc::new(Runtime::new(state.clone()));
        let engine = Rc::new(RefCell::new(engine::build(&runtime)));
        let home = EngineHandle::new(&engine, &runtime);
        let capture = Rc::default();
        let python = python::Python::new(&state, &runtime, &capture);
        let mut scope = Scope::new();
        let argv = std::iter::once("").chain(options.args.iter().map(String::as_str)).map(Value::str);
        // A text always has a hash.
        drop(state.sys.insert(Value::str("argv"), Value::list(argv)));
        let args: rhai::Array = options.args.into_iter().map(Dynamic::from).collect();
        scope.push("ARGS", args);
        Session {
            engine,
            functions: Vec::new(),
            scope,
            runtime,
            has_functions: false,
            home,
            python,
            inputs: std::cell::Cell::default(),
            note: None,
            past: undo::UndoHistory::default(),
            keeps_results: options.keeps_results,
            capture,
            captured: None,
        }
    }

    /// Returns whether a random number was drawn without a seed of the program, in the last session of this thread.
    pub(crate) fn is_unseeded(&self) -> bool {
        missing_seed::is_used()
    }

    /// Returns the flag that stops the running evaluation, like Ctrl-C.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.runtime.interrupt.shared()
    }

    /// Returns the state that functions read and change.
    pub(crate) fn state(&self) -> Rc<State> {
        self.runtime.state.clone()
    }

    /// Returns whether the flag is set that stops the running evaluation.
    pub(crate) fn is_asked_to_stop(&self) -> bool {
        self.runtime.interrupt.is_set()
    }

    /// Evaluates an input and shows the value of an expression, like a prompt.
    pub fn eval(&mut self, language: Language, source: &str) -> Outcome {
        // A line copied with its prompt shows its language by the prompt.
        let (language, source) = match (language, source.strip_prefix(">>> ")) {
            (Language::Rhai, Some(python)) if !python.contains("\n>>> ") => (Language::Python, python),
            _ => (language, source),
        };
        self.guarded(|session| match language {
            Language::Python => session.eval_python(source, Shows::Every),
            Language::Rhai => session.eval_rhai(source, true, true),
        })
    }

    /// Runs a whole script without showing values. In a file, variables must be declared before they are assigned.
    /// Modules are imported from the file's folder.
    pub fn run_script(&mut self, language: Language, source: &str, file: Option<&Path>) -> Outcome {
        self.import_beside(file);
        self.guarded(|session| match language {
            Language::Python => {
                let done = session.eval_python(source, Shows::Nothing);
                session.python.machine.run_exit_functions();
                done
            }
            Language::Rhai => session.eval_rhai(source, false, file.is_none()),
        })
    }

    /// Runs a module of Python as a script, by its name. Also returns its text and its file, if it was found.
    pub fn run_module(&mut self, name: &str) -> (Outcome, Option<(String, PathBuf)>) {
        let mut module = None;
        let outcome = self.guarded(|session| {
            let machine = session.python.machine.clone();
            let found = machine.main_module(name);
            let (text, _) = module.insert(found.map_err(|error| session.failed_in_python(&"".into(), error))?);
            let done = session.eval_python(text, Shows::Nothing);
            machine.run_exit_functions();
            done
        });
        (outcome, module)
    }

    /// Lets the session import modules from the folder of a script.
    fn import_beside(&self, script: Option<&Path>) {
        if let Some(folder) = script.and_then(Path::parent) {
            self.runtime.modules.folder.replace(folder.to_owned());
        }
        self.python.machine.begin_script(script);
    }

    /// Returns the warnings since the last call. After the first call, warnings are no longer written to standard
    /// error.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.runtime.state.take_warnings()
    }

    /// Returns whether an input is a whole statement, or whether more lines could complete it.
    pub fn completeness(&self, language: Language, source: &str) -> Completeness {
        // Ctrl-C stops the parser of a long input.
        interrupt::watch(&self.runtime.interrupt);
        match language {
            Language::Python => completeness_of_python(source),
            Language::Rhai => {
                let scanner = LineScanner::of(language, source);
                if scanner.is_in_text() {
                    // The compiler accepts an open comment, and reports an open template at its start. In a comment of
                    // Python, a backtick opens nothing.
                    let is_python = source.contains('#') && completeness_of_python(source) == Completeness::Complete;
                    return if is_python { Completeness::Complete } else { Completeness::Incomplete };
                }
                match self.compile(source, true) {
                    Ok(_) => Completeness::Complete,
                    Err((error, cell)) => match cell.place(error.position()) {
                        place if at_end(place, source) => Completeness::Incomplete,
                        Some((LAST_LINE.., _)) if scanner.is_open() => Completeness::Incomplete,
                        _ => completeness_of_python(source),
                    },
                }
            }
        }
    }

    /// Returns whether an input is Python that Rhai does not accept.
    pub fn is_only_python(&self, source: &str) -> bool {
        self.compile(source, true).is_err() && !advice::is_rhai(source) && syntax::parse(source).is_ok()
    }

    /// Translates a Python input to the Rhai that a person would write. The result is never run.
    ///
    /// # Errors
    /// Fails with a sentence that names the construct without a Rhai form.
    pub fn rhai_form(&self, source: &str) -> Result<String, String> {
        rhai_form(source, &|name| {
            let value = self.scope.get(results::hidden_name(name))?;
            Some(match is_ours(value).then(|| to_value(value)) {
                Some(Ok(Value::Tensor(_))) => VariableKind::Tensor,
                Some(Ok(Value::List(_) | Value::Dict(_) | Value::Set(_))) => VariableKind::Container,
                // An array has Python's methods: `copy` copies the bytes.
                Some(Ok(Value::Object(object))) if object.is_array() => VariableKind::Container,
                _ => VariableKind::Other,
            })
        })
    }

    /// Returns help on a name: the value of a variable, functions of torch and Python, and functions of Rhai. `None`
    /// for an unknown name.
    pub fn help(&self, topic: &str) -> Option<String> {
        let topic = topic.trim();
        let described = help::describe(topic).or_else(|| {
            // `help(t.view)` for a variable `t`: show its class's entry.
            let (variable, name) = topic.rsplit_once('.')?;
            let class = self.class_path(variable)?;
            help::describe(&format!("{class}.{name}"))
        });
        let name = topic.trim_end_matches("()");
        let texts: Vec<_> = [self.describe(name), described, own::describe(name)].into_iter().flatten().collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Finds functions whose name or description contains all of these words, best match first.
    pub fn search(&self, words: &str) -> Vec<Candidate> {
        let found = help::search(words).into_iter();
        found.map(|member| Candidate::member(&member)).collect()
    }

    /// Parses an input in Rhai. If `declares`, an assignment to an unknown name declares the variable.
    fn compile(&self, source: &str, declares: bool) -> Result<(rhai::AST, RhaiInput), (rhai::ParseError, RhaiInput)> {
        // `_` is the last result, except in a `switch`, where it is the default case.
        self.runtime.has_switch.set(source.contains("switch"));
        self.inputs.set(self.inputs.get() + 1);
        let is_closure = |name: &str| self.scope.get(name).is_some_and(|value| value.is::<rhai::FnPtr>());
        let is_variable = |name: &str| self.scope.contains(name);
        let names = Names { is_closure: &is_closure, is_variable: if declares { Some(&is_variable) } else { None } };
        let cell = |written| RhaiInput::new(source, written, &self.inputs.get().to_string());
        match engine::compile(&self.engine, &self.runtime, source, &names) {
            Ok(compiled) => Ok((compiled.made, cell(compiled.written))),
            Err(refused) => Err((refused.made, cell(refused.written))),
        }
    }

    /// Sets the width of pictures, in columns.
    pub fn set_width(&mut self, columns: usize) {
        self.runtime.width.set(columns.max(1));
    }

    /// Draws the variables, grouped by storage.
    pub fn aliases(&self) -> Picture {
        aliases::picture(&self.holders(), self.runtime.width.get())
    }

    /// Describes the large storages kept alive by small views, one sentence each.
    pub fn storage_warnings(&self) -> Vec<String> {
        aliases::warnings(&self.holders())
    }

    /// Runs an evaluation. Catches panics, so that nothing can end the process.
    fn guarded(&mut self, evaluate: impl FnOnce(&mut Session) -> Result<(), Box<Failure>>) -> Outcome {
        interrupt::watch(&self.runtime.interrupt);
        value::drop_leftovers();
        self.home.settle();
        self.runtime.state.make_current();
        self.runtime.running.set("");
        let result = catch_unwind(AssertUnwindSafe(|| evaluate(self)));
        self.runtime.state.trace.end();
        let error = match result {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(*failure),
            // An unfinished kernel may have caused the error that followed.
            Err(_) if self.runtime.interrupt.is_set() => Some(*stopped()),
            Err(_) => {
                let running = match self.runtime.running.get() {
                    "" => String::new(),
                    running => format!(" in {running}"),
                };
                let message = format!("internal error{running}; the session continues; please report this input");
                Some(failure_of(Error::new(ErrorKind::SystemError, message)))
            }
        };
        if error.as_ref().is_some_and(|failure| failure.interrupted) {
            // The interrupt has been handled. One that arrives between two inputs is kept: a file may contain many
            // inputs.
            self.runtime.interrupt.clear();
        }
        self.finalise();
        self.runtime.tell_changes(|| self.holders());
        let exit = self.runtime.exit.take();
        let note = self.note.take();
        Outcome { text: self.runtime.take_printed(), error: error.filter(|_| exit.is_none()), exit, note }
    }

    fn eval_rhai(&mut self, source: &str, echo: bool, declares: bool) -> Result<(), Box<Failure>> {
        // A script's first line may name its interpreter. Turned into a comment, it keeps the line numbers.
        let shebang;
        let source = match source.strip_prefix("#!") {
            Some(rest) => {
                shebang = format!("//{rest}");
                shebang.as_str()
            }
            None => source,
        };
        let (ast, cell) = match self.compile(source, declares) {
            Ok(read) => read,
            Err(_) if self.runtime.interrupt.is_set() => return Err(stopped()),
            Err((error, cell)) => {
                // An input that only Python's parser accepts is read as Python. Scripts stay plain Rhai.
                if echo && !advice::is_rhai(source) && syntax::parse(source).is_ok() {
                    self.runtime.is_rhai.set(true);
                    let done = self.eval_python(source, Shows::Every);
                    self.runtime.is_rhai.set(false);
                    return done;
                }
                return Err(self.refused(&error, &cell));
            }
        };
        self.runtime.remembered.replace(self.handles_of_ours(true));
        if echo {
            self.note = advice::division(source, &|name| self.scope.contains(name));
        }
        let value = self.run(&ast, &cell).map_err(|error| self.failed(&error, &cell))?;
        if echo {
            numbers::note_builtin_operators(&self.runtime, &ast, &|name| self.scope.get_value(name), &value);
        }
        let notes = self.runtime.notes.take();
        if echo {
            let on_numbers = || notes.into_iter().map(|(_, note)| note).reduce(|all, note| format!("{all}\n{note}"));
            self.note = self.note.take().or_else(|| self.note_on_mutation(&ast, value.is_unit())).or_else(on_numbers);
        } else {
            // A script does not show notes, so the prompt may still show them later.
            self.runtime.noted.borrow_mut().retain(|symbol| notes.iter().all(|(noted, _)| noted != symbol));
        }
        if echo && !ends_muted(source) {
            self.show(&value).map_err(failure_of)?;
        }
        Ok(())
    }

    /// Evaluates a parsed input.
    fn run(&mut self, ast: &rhai::AST, cell: &RhaiInput) -> Result<Dynamic, Box<rhai::EvalAltResult>> {
        if ast.has_functions() {
            // Functions are kept as a module: later definitions replace earlier ones, and all see each other.
            self.has_functions = true;
            self.define(ast, cell);
            let mut functions = ast.clone_functions_only();
            functions.set_source(&*cell.id);
            let functions = functions.shared_lib().clone();
            self.functions.push(functions.clone());
            self.engine.borrow_mut().register_global_module(functions);
        }
        if self.has_functions {
            let variables = self.scope.iter().map(|(name, _, value)| (name.to_string(), value));
            *self.runtime.globals.borrow_mut() = variables.collect();
        }
        self.runtime.cell.replace(cell.clone());
        self.runtime.note_assigned(&cell.id, ast);
        let class = |value: &Dynamic| fault::python_type(value.type_name()).to_owned();
        let variables = self.scope.iter_raw().map(|(name, _, value)| (name.to_owned(), class(value)));
        self.runtime.variables.replace(variables.collect());
        let before = self.scope.len();
        let mut result = self.evaluate(ast);
        if self.runtime.interrupt.is_set() && !result.as_ref().is_err_and(|error| fault::is_end(error)) {
            // A kernel may have stopped early. Hide its incomplete result, or the error that it caused.
            result = Err(fault::interrupted());
        }
        imports::keep(&self.engine, &self.runtime, ast);
        self.runtime.globals.borrow_mut().clear();
        self.runtime.constants.take();
        self.runtime.callbacks.set(0);
        self.runtime.read.take();
        self.take_changes();
        self.python.is_stale();
        if self.scope.len() != before {
            // A second `let` of a name hides the first. Drop hidden variables, or their tensors would stay alive.
            self.scope = visible(&self.scope);
        }
        result
    }

    /// Rebuilds the engine with the session's functions and modules, because an engine cannot remove any.
    fn rebuild_engine(&mut self) {
        let mut engine = engine::rebuild(&self.runtime);
        for functions in &self.functions {
            engine.register_global_module(functions.clone());
        }
        for (name, module) in self.runtime.modules.named.borrow().iter() {
            engine.register_static_module(name.as_str(), module.clone());
        }
        self.engine.replace(engine);
    }

    /// Evaluates a parsed input in the engine, with the constants of earlier inputs.
    fn evaluate(&mut self, ast: &rhai::AST) -> Result<Dynamic, Box<rhai::EvalAltResult>> {
        let engine = self.engine.borrow();
        let constants = self.scope.iter_raw().filter(|(_, is_constant, _)| *is_constant);
        let constants: Constants =
            Rc::new(RefCell::new(constants.map(|(name, _, value)| (name.into(), value.clone())).collect()));
        self.runtime.constants.replace(Some(constants.clone()));
        let mut global = engine.new_global_runtime_state();
        global.constants = Some(constants);
        global.lib.push(ast.shared_lib().clone());
        #[expect(deprecated, reason = "no other way takes constants along")]
        engine.eval_statements_raw(&mut global, &mut Caches::new(), &mut self.scope, ast.statements())
    }

    /// Shows a value like a prompt. `None` is not shown.
    fn show(&mut self, value: &Dynamic) -> tensor::Result<()> {
        if !value.is_unit() {
            if self.capture.get() == results::Capture::Hidden {
                // The caller alone gets it.
            } else if is_range(value) {
                self.runtime.print(&format!("{value}\n"));
            } else {
                python::show(&self.runtime, &to_value(value)?)?;
            }
            self.keep_result(value);
            self.python.is_stale();
        }
        Ok(())
    }
}

fn completeness_of_python(source: &str) -> Completeness {
    match syntax::parse(source) {
        Ok(parsed) => {
            if syntax::is_long(source) {
                syntax::abandon(parsed);
            }
            Completeness::Complete
        }
        Err(fault) if fault.incomplete => Completeness::Incomplete,
        Err(_) => Completeness::Invalid,
    }
}

/// Returns the failure of an input that Ctrl-C has stopped.
pub(crate) fn stopped() -> Box<Failure> {
    Box::new(Failure { interrupted: true, ..failure_of(Error::new(ErrorKind::KeyboardInterrupt, "")) })
}

/// Returns the variables in order, without those hidden by later ones of the same name.
fn visible(scope: &Scope) -> Scope<'static> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<_> = scope.iter_raw().filter(|(name, ..)| seen.insert(*name)).collect();
    // The entries come newest first.
    kept.reverse();
    let mut visible = Scope::new();
    for (name, is_constant, value) in kept {
        if is_constant {
            visible.push_constant_dynamic(name.to_owned(), value.clone());
        } else {
            visible.push_dynamic(name.to_owned(), value.clone());
        }
    }
    visible
}

/// Rhai counts lines up to this one. Errors below are reported in it.
const LAST_LINE: usize = u16::MAX as usize;

/// Returns whether a parse error is at the very end of the text, so that more text could fix it.
fn at_end(place: Option<(usize, usize)>, source: &str) -> bool {
    let offset = place.and_then(|place| failure::offset_of(source, place));
    offset.is_none_or(|offset| offset >= source.trim_end().len())
}

/// Returns whether an input ends with a semicolon, which keeps its value from being shown.
fn ends_muted(source: &str) -> bool {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or("").trim()).rfind(|line| !line.is_empty());
    code.is_some_and(|line| line.ends_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_names_the_function_and_leaves_the_variables() {
        let mut session = Session::new(SessionOptions::default());
        assert_eq!(session.eval(Language::Rhai, "let x = torch.ones(2);").error, None);
        let told = |session: &mut Session, code: &str| {
            let outcome = session.guarded(|session| {
                session.eval_rhai(code, true, true)?;
                panic!("a fault of ours")
            });
            outcome.error.map(|failure| (failure.kind, failure.message)).unwrap_or_default()
        };
        let told = [told(&mut session, "x.view(2, 1).t()"), told(&mut session, "1")];
        let rest = "the session continues; please report this input";
        let wanted = [format!("internal error in t; {rest}"), format!("internal error; {rest}")];
        assert_eq!(told, wanted.map(|message| ("SystemError".to_owned(), message)));
        assert_eq!(session.eval(Language::Rhai, "x").text, "tensor([1., 1.])\n");
    }

    #[test]
    fn open_comments_and_templates_go_on() {
        let session = Session::new(SessionOptions::default());
        for (source, open) in [
            ("1 /* a", true),
            ("1 /* a */", false),
            ("\"/* a\"", false),
            ("1 // /* a", false),
            ("let x = `a", true),
            ("let x = `a\nb`", false),
            ("let x = `${1 +", true),
            ("x = 1  # a ` in Python", false),
            ("let x = \"a", false),
        ] {
            assert_eq!(session.completeness(Language::Rhai, source) == Completeness::Incomplete, open, "{source}");
        }
    }
}
