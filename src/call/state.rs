//! The state that functions read and change besides their arguments: PyTorch's settings (grad mode, default dtype,
//! random generator, print options), the output and warnings so far, and how functions of the script are called. State
//! of the running script itself is in `languages/script/runtime.rs`.

use super::embedded::Loader;
use super::extras::Extras;
use super::registry::Registry;
use super::trace::Trace;
use autograd::Packing;
use explain::format::{Formatter, PrintOptions};
use explain::watch::{Change, Watched};
use explain::{Holder, Picture};
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::{Rc, Weak};
use tensor::interrupt::{self, Interrupt};
use tensor::memory::check_files;
use tensor::ops::random::Generator;
use tensor::system::{Machine, System};
use tensor::{DType, Device, Error, Result};
use value::{Dict, Keywords, Value};

/// A piece of output.
#[derive(Clone, Copy)]
pub enum Said<'o> {
    /// Text that the input prints.
    Printed(&'o str),
    /// The value of the input.
    Value(&'o str),
    /// A picture.
    Drawn(&'o Picture),
    /// A warning, which transcripts do not record.
    Warned(&'o str),
}

impl<'o> Said<'o> {
    /// The text that a transcript records.
    pub fn text(self) -> Cow<'o, str> {
        match self {
            Said::Printed(text) | Said::Value(text) => Cow::Borrowed(text),
            Said::Drawn(picture) => Cow::Owned(picture.text()),
            Said::Warned(_) => Cow::Borrowed(""),
        }
    }
}

/// Receives output as it is produced.
pub type Live = Box<dyn FnMut(Said)>;

/// A request to import a module.
pub enum Import<'a> {
    /// By its path.
    Module(&'a str),
    /// What the library's text of a builtin module has under a name, `NotImplemented` if that is nothing.
    Member(&'static str, &'a str),
    /// No module: the call that runs at this depth, for `sys._getframe`.
    Frame(i64),
    /// Once more, for `importlib.reload`.
    Again(&'a Value),
}

/// A call of a function of a script.
pub struct Running {
    /// The address of the machine that runs it.
    pub machine: usize,
    /// The code, whose type is unknown here.
    pub code: Rc<dyn Any>,
    /// The instruction that it has come to.
    pub next: usize,
}

/// Imports the modules of a script.
pub type Importer = dyn Fn(Import) -> Result<Value>;

/// Finds an attribute that the language of a session gives to all values.
pub type SpecialAttribute = dyn Fn(&Value, &str) -> Result<Option<Value>>;

/// Creates an object of a class that only the script can create, such as an exception. Returns `None` for any other
/// class.
pub type Maker = dyn Fn(&'static str, &[Value], &Keywords) -> Option<Result<Value>>;

/// Lists the variables that have memory.
pub type Look = dyn Fn() -> Rc<Vec<Holder>>;

thread_local! {
    static CURRENT: RefCell<Weak<State>> = const { RefCell::new(Weak::new()) };
}

/// The mutable state behind the functions of one session.
pub struct State {
    own: Weak<State>,
    pub registry: &'static Registry,
    pub default_dtype: Cell<DType>,
    /// The device set by `set_default_device` or by a `with` block of a device.
    pub default_device: Cell<Option<Device>>,
    /// The default devices outside each `with` block of a device.
    pub outer_devices: RefCell<Vec<Option<Device>>>,
    /// The default generator. PyTorch seeds it randomly. Here it starts as after `torch.manual_seed(0)`, so a session
    /// can be repeated.
    pub generator: Rc<RefCell<Generator>>,
    pub print_options: RefCell<PrintOptions>,
    pub grad_enabled: Cell<bool>,
    /// Set while new tensors are fake. The value says whether real tensors may be used with them.
    pub fake_mode: Cell<Option<bool>>,
    /// Whether there may be fake tensors. Every call reads this, so it must be cheap.
    pub has_fakes: Cell<bool>,
    /// Whether any tensor has had dimension names. Every call reads this.
    pub has_names: Cell<bool>,
    /// Whether dimension names are ignored: in a call whose names were already handled, and in a backward pass.
    pub nameless: Cell<bool>,
    /// Whether random numbers are refused, in a `vmap` that does not specify `randomness`.
    pub random_refused: Cell<bool>,
    /// The packings for tensors saved for gradients, innermost last.
    pub packings: RefCell<Vec<Rc<dyn Packing>>>,
    /// The message with which saved tensor hooks are refused, if they are.
    pub packing_refused: RefCell<Option<Rc<str>>>,
    /// Whether the session is within `allow_mutation_on_saved_tensors`.
    pub mutation_allowed: Cell<bool>,
    /// Whether the session is within `inference_mode`.
    pub inference: Cell<bool>,
    /// Anomaly detection: whether it is on, and whether it checks gradients for NaN.
    pub anomaly: Cell<(bool, bool)>,
    /// Whether only deterministic algorithms are used, and whether others only cause a warning. If so, new memory is
    /// filled.
    pub deterministic: Cell<(bool, bool)>,
    /// Whether the session is within `serialization.skip_data`, where files are written and read without the bytes of
    /// storages.
    pub skip_data: Cell<bool>,
    pub interrupt: Interrupt,
    /// The code of `exit(code)`, once it was called.
    pub exit: Cell<Option<i32>>,
    warned: RefCell<HashSet<Cow<'static, str>>>,
    /// The warnings collected so far, if they are collected instead of written to standard error.
    collected: RefCell<Option<Vec<String>>>,
    printed: RefCell<String>,
    live: RefCell<Option<Live>>,
    /// Attributes that scripts set on modules, by path: `backends.cudnn.benchmark`.
    pub flags: RefCell<Rc<BTreeMap<String, Value>>>,
    /// Whether an attribute is looked up that may be missing, by `hasattr` or `getattr` with a default.
    pub is_probing: Cell<bool>,
    /// The calls that run now, innermost last.
    pub call_stack: RefCell<Vec<Running>>,
    /// The exceptions that `except` clauses handle now, innermost last.
    pub handling: RefCell<Vec<Value>>,
    /// Attributes that scripts set on tensors and storages.
    pub extras: Extras,
    /// Lists the variables that have memory, as the running language sees them.
    pub variables_seen: RefCell<Option<Rc<Look>>>,
    /// Storages whose changes are reported.
    pub watched: RefCell<Vec<Watched>>,
    /// The width of pictures in columns.
    pub width: Cell<usize>,
    /// Creates objects of classes that only the script knows.
    pub special_attribute: RefCell<Option<Rc<SpecialAttribute>>>,
    pub maker: RefCell<Option<Rc<Maker>>>,
    /// Compiles the sources in Python that rows run.
    pub embedded: RefCell<Option<Rc<Loader>>>,
    /// Imports the modules of a script.
    pub importer: RefCell<Option<Rc<Importer>>>,
    /// What `sys` has that belongs to the session: `argv`, `path`, `modules`.
    pub sys: Dict,
    /// The overload that was called last, for error messages.
    pub running: Cell<&'static str>,
    /// The calls of the expression in `origin(…)`, while it is evaluated.
    pub trace: Trace,
    /// Whether calls are counted. Every call reads this.
    counts_calls: Cell<bool>,
    /// The number of calls of each function, while they are counted.
    calls: RefCell<BTreeMap<&'static str, usize>>,
}

impl State {
    /// Downcasts the session that [`value::Object`] passes to its methods.
    ///
    /// # Errors
    /// RuntimeError if it is not a state.
    pub fn of(session: &dyn Any) -> Result<&State> {
        session.downcast_ref().ok_or_else(|| Error::runtime("only a session enters a context"))
    }

    pub fn new(registry: &'static Registry, live: Option<Live>) -> Rc<State> {
        Rc::new_cyclic(|own| State {
            own: own.clone(),
            registry,
            default_dtype: Cell::new(DType::Float),
            default_device: Cell::new(None),
            outer_devices: RefCell::new(Vec::new()),
            generator: Rc::new(RefCell::new(Generator::unseeded())),
            print_options: RefCell::new(PrintOptions::default()),
            grad_enabled: Cell::new(true),
            fake_mode: Cell::new(None),
            skip_data: Cell::new(false),
            deterministic: Cell::new((false, false)),
            anomaly: Cell::new((false, true)),
            has_fakes: Cell::new(false),
            has_names: Cell::new(false),
            nameless: Cell::new(false),
            random_refused: Cell::new(false),
            packings: RefCell::default(),
            mutation_allowed: Cell::new(false),
            packing_refused: RefCell::default(),
            interrupt: Interrupt::default(),
            inference: Cell::new(false),
            exit: Cell::new(None),
            warned: RefCell::new(HashSet::new()),
            collected: RefCell::new(None),
            printed: RefCell::new(String::new()),
            live: RefCell::new(live),
            flags: RefCell::default(),
            is_probing: Cell::new(false),
            call_stack: RefCell::default(),
            handling: RefCell::default(),
            extras: Extras::default(),
            special_attribute: RefCell::default(),
            maker: RefCell::default(),
            embedded: RefCell::default(),
            importer: RefCell::default(),
            sys: Dict::default(),
            running: Cell::new(""),
            counts_calls: Cell::new(false),
            calls: RefCell::default(),
            variables_seen: RefCell::default(),
            watched: RefCell::default(),
            trace: Trace::default(),
            width: Cell::new(80),
        })
    }

    /// Starts to count the calls of every function, also those that functions make.
    pub fn count_calls(&self) {
        self.calls.take();
        self.counts_calls.set(true);
    }

    /// Stops counting, and returns the number of calls by the function's name.
    pub fn take_calls(&self) -> BTreeMap<&'static str, usize> {
        self.counts_calls.set(false);
        self.calls.take()
    }

    /// Counts a call, if calls are counted.
    #[inline]
    pub(crate) fn note_call(&self, name: &'static str) {
        if self.counts_calls.get() {
            *self.calls.borrow_mut().entry(name).or_default() += 1;
        }
    }

    /// Makes this the state that [`State::current`] returns on this thread.
    pub fn make_current(&self) {
        CURRENT.set(self.own.clone());
    }

    /// Returns the state of the session that evaluates on this thread, for operators of objects, which are not passed
    /// one.
    ///
    /// # Errors
    /// RuntimeError outside of a session.
    pub fn current() -> Result<Rc<State>> {
        CURRENT.with_borrow(Weak::upgrade).ok_or_else(|| Error::runtime("there is no session on this thread"))
    }

    /// Returns a shared handle to the state, for code that runs later.
    pub fn handle(&self) -> Rc<State> {
        // The state is gone only while it is dropped. A handle made then refers to an empty state.
        self.own.upgrade().unwrap_or_else(|| State::new(self.registry, None))
    }

    /// Returns whether new memory is filled, so that reading it before writing gives the same values each time.
    pub(crate) fn fills_memory(&self) -> bool {
        let is_off = || matches!(self.flag("utils.deterministic.fill_uninitialized_memory"), Some(Value::Bool(false)));
        self.deterministic.get().0 && !is_off()
    }

    /// Returns an attribute that a script has set on a module.
    pub fn flag(&self, path: &str) -> Option<Value> {
        self.flags.borrow().get(path).cloned()
    }

    /// Sets an attribute of a module.
    pub fn set_flag(&self, path: &str, value: Value) {
        Rc::make_mut(&mut self.flags.borrow_mut()).insert(path.to_owned(), value);
    }

    /// Calls a function that a script passed as an argument.
    ///
    /// # Errors
    /// Any error of the function, and TypeError if the value is not callable.
    pub fn call_given(&self, function: &Value, args: Vec<Value>) -> Result<Value> {
        (self.registry.call)(self, function, args, Keywords::new())
    }

    /// Prints text for the user. A listener shows it at once. Without one, it is kept for the outcome.
    pub fn print(&self, text: &str) {
        self.say(Said::Printed(text));
    }

    /// Like [`State::print`], for any kind of output.
    pub fn say(&self, said: Said) {
        match self.live.borrow_mut().as_mut() {
            Some(live) => live(said),
            None => self.printed.borrow_mut().push_str(&said.text()),
        }
    }

    /// Returns the variables that have memory, as the running code sees them.
    pub fn holders(&self) -> Rc<Vec<Holder>> {
        let look = self.variables_seen.borrow().clone();
        look.map(|look| look()).unwrap_or_default()
    }

    /// Shows how the watched storages have changed since the last call.
    pub fn tell_changes(&self, holders: impl Fn() -> Vec<Holder>) {
        let width = self.width.get();
        let mut scenes = Vec::new();
        self.watched.borrow_mut().retain_mut(|watched| match watched.look(&holders) {
            Change::None => true,
            Change::Gone => false,
            Change::RedrawContext(scene) => {
                scenes.push(scene);
                true
            }
        });
        for scene in scenes {
            self.say(Said::Drawn(&Picture::of(scene, width)));
        }
    }

    /// Takes the text printed since the last call.
    pub fn take_printed(&self) -> String {
        self.printed.take()
    }

    /// Reports each warning once: to the collector or listener if there is one, and else to standard error.
    pub fn warn_once(&self, category: &str, message: impl Into<Cow<'static, str>>) {
        let message = message.into();
        if !self.warned.borrow().contains(&message) {
            self.warn(format!("{category}: {message}"));
            self.warned.borrow_mut().insert(message);
        }
    }

    /// Shows a warning, or a report of an error that does not stop the program.
    pub fn warn(&self, warning: String) {
        match (&mut *self.collected.borrow_mut(), self.live.borrow_mut().as_mut()) {
            (Some(collected), _) => collected.push(warning),
            (None, Some(live)) => live(Said::Warned(&warning)),
            (None, None) => System::write_error(&format!("{warning}\n")),
        }
    }

    /// Takes the warnings since the last call. After the first call, warnings are collected instead of written.
    pub fn take_warnings(&self) -> Vec<String> {
        self.collected.replace(Some(Vec::new())).unwrap_or_default()
    }

    /// Returns Python's `repr` of a value, with the session's print options.
    pub fn repr(&self, value: &Value) -> Result<String> {
        let text = self.with_formatter(|f| f.repr(value));
        check_files()?;
        interrupt::check()?;
        text
    }

    /// Returns Python's `str` of a value.
    pub fn str(&self, value: &Value) -> Result<String> {
        let text = self.with_formatter(|f| f.str(value));
        check_files()?;
        interrupt::check()?;
        text
    }

    pub fn with_formatter<R>(&self, use_it: impl FnOnce(Formatter) -> R) -> R {
        // A value that is shown by a function of the script may change the options, so they are copied.
        let options = *self.print_options.borrow();
        use_it(Formatter { options: &options, default_dtype: self.default_dtype.get() })
    }
}
