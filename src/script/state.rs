//! What a session remembers besides variables: defaults, print options, the random generator, warnings shown.

use crate::format::{Formatter, PrintOptions};
use crate::ops::random::Generator;
use crate::tensor::{DType, Result, Tensor};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a piece of output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// What the input printed.
    Printed,
    /// The value of the input, shown because it is one.
    Value,
}

/// Receives text as it is produced.
pub type Live = Box<dyn FnMut(Said, &str)>;

/// The mutable state behind the functions of one session.
pub struct State {
    pub registry: &'static super::functions::Registry,
    pub default_dtype: Cell<DType>,
    pub generator: Rc<RefCell<Generator>>,
    pub print_options: RefCell<PrintOptions>,
    pub grad_enabled: Cell<bool>,
    pub interrupt: Arc<AtomicBool>,
    /// The code of `exit(code)`, once called.
    pub exit: Cell<Option<i32>>,
    warned: RefCell<HashSet<&'static str>>,
    printed: RefCell<String>,
    live: RefCell<Option<Live>>,
    /// The last tensor that a mask or list selected; see [`State::is_gathered`].
    gathered: Cell<usize>,
    /// Variables as functions of scripts see them.
    pub globals: RefCell<HashMap<String, rhai::Dynamic>>,
}

impl State {
    pub fn new(live: Option<Live>) -> State {
        State {
            registry: super::functions::registry(),
            default_dtype: Cell::new(DType::Float),
            generator: Rc::new(RefCell::new(Generator::new())),
            print_options: RefCell::new(PrintOptions::default()),
            grad_enabled: Cell::new(true),
            interrupt: Arc::new(AtomicBool::new(false)),
            exit: Cell::new(None),
            warned: RefCell::new(HashSet::new()),
            printed: RefCell::new(String::new()),
            live: RefCell::new(live),
            gathered: Cell::new(0),
            globals: RefCell::new(HashMap::new()),
        }
    }

    /// Text for the user: shown at once when someone listens, kept for the outcome otherwise.
    pub fn print(&self, text: &str) {
        self.say(Said::Printed, text);
    }

    /// As [`State::print`], for any kind of output.
    pub fn say(&self, what: Said, text: &str) {
        match self.live.borrow_mut().as_mut() {
            Some(live) => live(what, text),
            None => self.printed.borrow_mut().push_str(text),
        }
    }

    /// What was printed since the last call.
    pub fn take_printed(&self) -> String {
        self.printed.take()
    }

    /// Writes a warning to standard error, the first time only.
    pub fn warn_once(&self, category: &str, message: &'static str) {
        if self.warned.borrow_mut().insert(message) {
            eprintln!("{category}: {message}");
        }
    }

    /// Notes a tensor that subscripting had to copy.
    pub fn note_gathered(&self, tensor: &Tensor) {
        self.gathered.set(tensor.identity());
    }

    /// Is this the copy just made by a subscript, held by nobody but the engine? After `x[mask].fill_(1)` the engine
    /// wants to write the copy back into `x`, which PyTorch would not do.
    pub fn is_gathered(&self, tensor: &Tensor) -> bool {
        // One handle is the engine's temporary, the other the caller's.
        tensor.identity() == self.gathered.get() && tensor.holders() <= 2
    }

    pub fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Python's `repr` of a value, under the session's print options.
    pub fn repr(&self, value: &Value) -> Result<String> {
        self.with_formatter(|f| f.repr(value))
    }

    /// Python's `str` of a value.
    pub fn str(&self, value: &Value) -> Result<String> {
        self.with_formatter(|f| f.str(value))
    }

    pub fn with_formatter<R>(&self, use_it: impl FnOnce(Formatter) -> R) -> R {
        let options = self.print_options.borrow();
        use_it(Formatter { options: &options, default_dtype: self.default_dtype.get() })
    }
}
