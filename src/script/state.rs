//! What a session remembers besides variables: defaults, print options, the random generator, warnings shown.

use super::callback::Home;
use super::class::Class;
use super::extras::Extras;
use super::operators;
use super::value::{to_dynamic, to_object};
use crate::autograd::Packing;
use crate::explain::watch::{Change, Watched};
use crate::explain::{Holder, Ink, Line, terminal};
use crate::format::{Formatter, PrintOptions};
use crate::functions::Family;
use crate::ops::random::Generator;
use crate::tensor::interrupt::{self, Interrupt};
use crate::tensor::memory::check_files;
use crate::tensor::{DType, Device, Result, Tensor, limits};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::{Rc, Weak};

/// What a piece of output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// What the input printed.
    Printed,
    /// The value of the input, shown because it is one.
    Value,
    /// A piece of a picture.
    Drawn(Ink),
}

/// Receives text as it is produced.
pub type Live = Box<dyn FnMut(Said, &str)>;

/// A copy made by a subscript, and what was subscripted.
struct Gathered {
    copy: Tensor,
    from: Tensor,
    index: Value,
}

/// The mutable state behind the functions of one session.
pub struct State {
    pub registry: &'static crate::functions::Registry,
    pub default_dtype: Cell<DType>,
    /// What `set_default_device` or a `with` of a device says.
    pub default_device: Cell<Option<Device>>,
    /// The default devices outside of each `with` of a device.
    pub outer_devices: RefCell<Vec<Option<Device>>>,
    pub generator: Rc<RefCell<Generator>>,
    pub print_options: RefCell<PrintOptions>,
    pub grad_enabled: Cell<bool>,
    /// Are new tensors fake? If so: may real ones be used with them?
    pub fake_mode: Cell<Option<bool>>,
    /// May there be fake tensors? Every call asks, so it has to be cheap.
    pub has_fakes: Cell<bool>,
    /// Has any tensor had names for its dimensions? Every call asks.
    pub has_names: Cell<bool>,
    /// Within a call whose names are seen to, and within a backward pass: there names do not count.
    pub nameless: Cell<bool>,
    /// Within a `vmap` that does not say what random numbers are to be.
    pub random_refused: Cell<bool>,
    /// How tensors that gradients need are saved, innermost last.
    pub packings: RefCell<Vec<Rc<dyn Packing>>>,
    /// Why they may only be saved as they are, if so.
    pub packing_refused: RefCell<Option<Rc<str>>>,
    /// Within `allow_mutation_on_saved_tensors`.
    pub mutation_allowed: Cell<bool>,
    /// Within `inference_mode`.
    pub inference: Cell<bool>,
    /// Are gradients that are not numbers errors? The first says whether anybody asked, the second whether numbers are
    /// looked at then.
    pub anomaly: Cell<(bool, bool)>,
    /// Are only deterministic algorithms to be used, and is anything else merely warned of? New memory is filled then.
    pub deterministic: Cell<(bool, bool)>,
    /// Within `serialization.skip_data`: files are written and read without the bytes of storages.
    pub skip_data: Cell<bool>,
    pub interrupt: Interrupt,
    /// The code of `exit(code)`, once called.
    pub exit: Cell<Option<i32>>,
    warned: RefCell<HashSet<&'static str>>,
    printed: RefCell<String>,
    live: RefCell<Option<Live>>,
    /// The last copy that a subscript made; see [`State::is_gathered`].
    gathered: RefCell<Option<Gathered>>,
    /// The text that is parsed now has a `switch`, in which `_` is not a name.
    pub has_switch: Cell<bool>,
    /// The functions of the table that the engine knows, and those that the text being parsed names besides.
    pub known: RefCell<HashSet<&'static str>>,
    pub named: RefCell<Vec<&'static Family>>,
    /// Attributes that scripts put on tensors and storages.
    pub extras: Extras,
    /// Variables as functions of scripts see them.
    pub globals: RefCell<HashMap<String, rhai::Dynamic>>,
    /// Every variable that has memory, as it was before the input, if that names a function that wants to know.
    pub holders: RefCell<Vec<Holder>>,
    /// Storages whose changes are told.
    pub watched: RefCell<Vec<Watched>>,
    /// The columns that pictures may take.
    pub width: Cell<usize>,
    /// How to call functions of the script.
    pub home: RefCell<Home>,
    /// How many such calls are going on, one within the other.
    pub callbacks: Cell<usize>,
    /// The parameters of functions without a name, by the name that the engine gives them.
    pub closures: RefCell<HashMap<String, Vec<String>>>,
    /// The methods that are running, each with the class that holds it and its first argument.
    pub frames: RefCell<Vec<(Weak<Class>, rhai::Dynamic)>>,
    /// What was last read as an attribute of an object of a script, the attribute and the object.
    pub read_back: RefCell<Option<(rhai::Dynamic, String, rhai::Dynamic)>>,
    /// What functions have assigned to variables of the session that did not share them yet.
    pub assigned: RefCell<Vec<(String, rhai::Dynamic)>>,
    /// The overload that was called last, for whoever has to tell what went wrong.
    pub running: Cell<&'static str>,
    /// Is a line of Python running? Then functions give lists that are shared, as Python's are.
    pub python: Cell<bool>,
}

impl State {
    pub fn new(live: Option<Live>) -> State {
        State {
            registry: crate::functions::registry(),
            default_dtype: Cell::new(DType::Float),
            default_device: Cell::new(None),
            outer_devices: RefCell::new(Vec::new()),
            generator: Rc::new(RefCell::new(Generator::new())),
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
            printed: RefCell::new(String::new()),
            live: RefCell::new(live),
            gathered: RefCell::new(None),
            has_switch: Cell::new(false),
            known: RefCell::default(),
            named: RefCell::default(),
            extras: Extras::default(),
            globals: RefCell::new(HashMap::new()),
            home: RefCell::default(),
            callbacks: Cell::new(0),
            closures: RefCell::default(),
            frames: RefCell::default(),
            read_back: RefCell::default(),
            assigned: RefCell::default(),
            running: Cell::new(""),
            python: Cell::new(false),
            holders: RefCell::default(),
            watched: RefCell::default(),
            width: Cell::new(80),
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

    /// Shows the lines of a picture.
    pub fn draw(&self, lines: &[Line]) {
        for line in lines {
            for piece in line.iter().filter(|piece| !piece.text.is_empty()) {
                self.say(Said::Drawn(piece.ink), &piece.text);
            }
            self.print("\n");
        }
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
        scenes.iter().for_each(|scene| self.draw(&terminal::draw(scene, width)));
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

    /// Notes that subscripting `from` by `index` had to copy.
    pub fn note_gathered(&self, copy: &Tensor, from: &Tensor, index: &Value) {
        self.gathered.replace(Some(Gathered { copy: copy.clone(), from: from.clone(), index: index.clone() }));
    }

    /// Is this the copy just made by that very subscript, held by nobody but the engine? After `x[mask].fill_(1)` the
    /// engine wants to write the copy back into `x`, which PyTorch would not do.
    pub fn is_gathered(&self, tensor: &Tensor, target: &Tensor, index: &Value) -> bool {
        self.gathered.borrow().as_ref().is_some_and(|gathered| {
            // One handle is the engine's temporary, one the caller's, one ours.
            gathered.copy.is(tensor)
                && tensor.holders() <= 3
                && gathered.from.is(target)
                && operators::equal(&gathered.index, index)
        })
    }

    /// Lets go of the copy; at the end of every input.
    pub fn forget_gathered(&self) {
        self.gathered.replace(None);
    }

    /// A function's result in the script language.
    ///
    /// # Errors
    /// TypeError for a dictionary with keys that can change, MemoryError.
    pub fn give(&self, value: Value) -> Result<rhai::Dynamic> {
        limits::grown_to::<u8>(copied(&value))?;
        if self.python.get() { to_object(value) } else { Ok(to_dynamic(value)) }
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

/// Bytes that the script language's form of a value takes besides it: its texts and lists are copies, one for each time
/// they stand in the value.
fn copied(value: &Value) -> usize {
    let held = |items: &[Value]| {
        let room = items.len().saturating_mul(size_of::<rhai::Dynamic>());
        items.iter().map(copied).fold(room, usize::saturating_add)
    };
    match value {
        Value::Str(text) => text.len(),
        Value::List(items) | Value::Set(items) => held(items),
        Value::Dict(entries) | Value::OrderedDict(entries) => {
            entries.iter().map(|(_, value)| copied(value)).fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}
