//! What functions read and change besides their arguments: the settings that PyTorch has (grad mode, default dtype, random
//! generator, print options), what has been printed and warned of, and who calls functions of the script. What only the
//! running script has is in `languages/script/runtime.rs`.

use super::extras::Extras;
use super::registry::Registry;
use autograd::Packing;
use explain::format::{Formatter, PrintOptions};
use explain::watch::{Change, Watched};
use explain::{Holder, Picture};
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::{Rc, Weak};
use tensor::interrupt::{self, Interrupt};
use tensor::memory::check_files;
use tensor::ops::random::Generator;
use tensor::system::{Machine, System};
use tensor::{DType, Device, Error, Result};
use value::{Keywords, Value};

/// A piece of output.
#[derive(Clone, Copy)]
pub enum Said<'o> {
    /// What the input prints.
    Printed(&'o str),
    /// The value of the input, shown because it is one.
    Value(&'o str),
    /// A picture.
    Drawn(&'o Picture),
    /// A warning, which is no part of what is recorded.
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

/// Makes an object of a class that only the script knows how to make: an exception. `None` for any other class.
pub type Maker = dyn Fn(&'static str, &[Value], &Keywords) -> Option<Result<Value>>;

/// Looks for the variables that have memory.
pub type Look = dyn Fn() -> Rc<Vec<Holder>>;

/// The mutable state behind the functions of one session.
pub struct State {
    own: Weak<State>,
    pub registry: &'static Registry,
    pub default_dtype: Cell<DType>,
    /// The device set by `set_default_device` or a `with` of a device.
    pub default_device: Cell<Option<Device>>,
    /// The default devices outside of each `with` of a device.
    pub outer_devices: RefCell<Vec<Option<Device>>>,
    /// The default generator. PyTorch's begins anywhere; a session here can be repeated, as after `torch.manual_seed(0)`.
    pub generator: Rc<RefCell<Generator>>,
    pub print_options: RefCell<PrintOptions>,
    pub grad_enabled: Cell<bool>,
    /// Set while new tensors are fake, to whether real ones may be used with them.
    pub fake_mode: Cell<Option<bool>>,
    /// Whether there may be fake tensors. Every call asks, so it has to be cheap.
    pub has_fakes: Cell<bool>,
    /// Whether any tensor has had names for its dimensions. Every call asks.
    pub has_names: Cell<bool>,
    /// Set within a call whose names are already handled, and within a backward pass: names do not count there.
    pub nameless: Cell<bool>,
    /// Within a `vmap` that does not say what random numbers are to be.
    pub random_refused: Cell<bool>,
    /// The ways to save tensors that gradients need, innermost last.
    pub packings: RefCell<Vec<Rc<dyn Packing>>>,
    /// The reason why they may only be saved as they are, if any.
    pub packing_refused: RefCell<Option<Rc<str>>>,
    /// Within `allow_mutation_on_saved_tensors`.
    pub mutation_allowed: Cell<bool>,
    /// Within `inference_mode`.
    pub inference: Cell<bool>,
    /// Whether NaN gradients are errors: the first says whether anybody asked, the second whether numbers are looked at
    /// then.
    pub anomaly: Cell<(bool, bool)>,
    /// Whether only deterministic algorithms are used, and anything else only causes a warning. New memory is then
    /// filled.
    pub deterministic: Cell<(bool, bool)>,
    /// Within `serialization.skip_data`: files are written and read without the bytes of storages.
    pub skip_data: Cell<bool>,
    pub interrupt: Interrupt,
    /// The code of `exit(code)`, once called.
    pub exit: Cell<Option<i32>>,
    warned: RefCell<HashSet<Cow<'static, str>>>,
    /// Warnings being collected, instead of written to standard error.
    collected: RefCell<Option<Vec<String>>>,
    printed: RefCell<String>,
    live: RefCell<Option<Live>>,
    /// Attributes that scripts put on tensors and storages.
    pub extras: Extras,
    /// Lists the variables that have memory, as the running language knows them.
    pub variables_seen: RefCell<Option<Rc<Look>>>,
    /// Storages whose changes are reported.
    pub watched: RefCell<Vec<Watched>>,
    /// The columns that pictures may take.
    pub width: Cell<usize>,
    /// Who makes objects of classes that only the script knows.
    pub maker: RefCell<Option<Rc<Maker>>>,
    /// The overload that was called last, for error messages.
    pub running: Cell<&'static str>,
}

impl State {
    /// The state behind what [`value::Object`] hands to an object of a room above it.
    ///
    /// # Errors
    /// RuntimeError for anything else.
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
            generator: Rc::new(RefCell::new(Generator::seeded(0))),
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
            extras: Extras::default(),
            maker: RefCell::default(),
            running: Cell::new(""),
            variables_seen: RefCell::default(),
            watched: RefCell::default(),
            width: Cell::new(80),
        })
    }

    /// The state, to be kept by what runs later.
    pub fn handle(&self) -> Rc<State> {
        // It is gone only while it is being dropped; what is made then reads an empty one.
        self.own.upgrade().unwrap_or_else(|| State::new(self.registry, None))
    }

    /// Calls a function that a script has given.
    ///
    /// # Errors
    /// What it raises, TypeError for what is none.
    pub fn call_given(&self, function: &Value, args: Vec<Value>) -> Result<Value> {
        (self.registry.call)(self, function, args, Keywords::new())
    }

    /// Text for the user: shown at once when someone listens, kept for the outcome otherwise.
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

    /// The variables that have memory, as the code that runs now sees them.
    pub fn holders(&self) -> Rc<Vec<Holder>> {
        let look = self.variables_seen.borrow().clone();
        look.map(|look| look()).unwrap_or_default()
    }

    /// Shows what has become of the watched storages since this was last asked.
    pub fn tell_changes(&self, holders: impl Fn() -> Vec<Holder>) {
        let width = self.width.get();
        let mut scenes = Vec::new();
        self.watched.borrow_mut().retain_mut(|watched| match watched.look(&holders) {
            Change::None => true,
            Change::Gone => false,
            Change::Seen(scene) => {
                scenes.push(scene);
                true
            }
        });
        for scene in scenes {
            self.say(Said::Drawn(&Picture::of(scene, width)));
        }
    }

    /// Takes what was printed since the last call.
    pub fn take_printed(&self) -> String {
        self.printed.take()
    }

    /// Reports a warning once: to its collector or listener if there is one, else to standard error.
    pub fn warn_once(&self, category: &str, message: impl Into<Cow<'static, str>>) {
        let message = message.into();
        if !self.warned.borrow().contains(&message) {
            let warning = format!("{category}: {message}");
            match (&mut *self.collected.borrow_mut(), self.live.borrow_mut().as_mut()) {
                (Some(collected), _) => collected.push(warning),
                (None, Some(live)) => live(Said::Warned(&warning)),
                (None, None) => System::complain(&format!("{warning}\n")),
            }
            self.warned.borrow_mut().insert(message);
        }
    }

    /// Gives the warnings since this was last called. From the first call on, none are written.
    pub fn take_warnings(&self) -> Vec<String> {
        self.collected.replace(Some(Vec::new())).unwrap_or_default()
    }

    /// Python's `repr` of a value, under the session's print options.
    pub fn repr(&self, value: &Value) -> Result<String> {
        let text = self.with_formatter(|f| f.repr(value));
        check_files()?;
        interrupt::check()?;
        text
    }

    /// Python's `str` of a value.
    pub fn str(&self, value: &Value) -> Result<String> {
        let text = self.with_formatter(|f| f.str(value));
        check_files()?;
        interrupt::check()?;
        text
    }

    pub fn with_formatter<R>(&self, use_it: impl FnOnce(Formatter) -> R) -> R {
        // What shows itself by a function of the script may set them.
        let options = *self.print_options.borrow();
        use_it(Formatter { options: &options, default_dtype: self.default_dtype.get() })
    }
}
