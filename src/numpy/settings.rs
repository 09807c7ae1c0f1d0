//! What a session has set: how floating-point faults are reported (`np.errstate`) and how arrays are printed
//! (`np.printoptions`). Both are kept with the other settings of the session, so that undo restores them.

use crate::ufunc::FpFlags;
use call::{Row, State, function};
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, bail};
use value::{Dict, Object, Value};

/// The faults, in NumPy's order: its name, what is done unless a session says otherwise, and the words of its report.
const FAULTS: [(&str, &str, &str); 4] = [
    ("divide", "warn", "divide by zero encountered in"),
    ("over", "warn", "overflow encountered in"),
    ("under", "ignore", "underflow encountered in"),
    ("invalid", "warn", "invalid value encountered in"),
];

pub(crate) const ROWS: &[Row] = &[
    function("numpy.geterrcall() -> any", |_| Ok(Value::None), "Returns the function that floating-point faults call: none.")
        .python("geterrcall"),
    function("numpy.geterr() -> any", |c| Ok(errors(c.state)), "Returns how floating-point faults are reported.")
        .python("geterr"),
    function(
        "numpy.seterr(any all=None, any divide=None, any over=None, any under=None, any invalid=None) -> any",
        |c| set_errors(c.state, &[c.value(0), c.value(1), c.value(2), c.value(3), c.value(4)]),
        "Sets how floating-point faults are reported: 'ignore', 'warn' or 'raise'. Returns what was set before.",
    )
    .python("seterr"),
    function(
        "numpy.errstate(*, any call=None, any all=None, any divide=None, any over=None, any under=None, any invalid=None) -> any",
        |c| {
            let asked = [c.value(1), c.value(2), c.value(3), c.value(4), c.value(5)];
            Ok(Value::Object(Rc::new(Within {
                class: "numpy.errstate",
                enter: Rc::new(move |state| set_errors(state, &asked)),
                leave: Rc::new(|state, before| {
                    state.set_flag(ERRORS, before);
                    Ok(())
                }),
                before: Default::default(),
            })))
        },
        "Sets how floating-point faults are reported while it is entered.",
    )
    .python("errstate.__init__"),
];

const MODES: [&str; 6] = ["ignore", "warn", "raise", "call", "print", "log"];

const ERRORS: &str = "numpy.<errstate>";

fn mode(state: &State, fault: &str) -> String {
    let set = match state.flag(ERRORS) {
        Some(Value::Dict(modes)) => modes.get_str(fault),
        _ => None,
    };
    match set {
        Some(Value::Str(mode)) => mode.to_string(),
        _ => FAULTS.iter().find(|(name, ..)| *name == fault).map_or("warn", |(_, mode, _)| mode).to_owned(),
    }
}

/// Reports the faults of a computation as the session has asked: by a warning, an error or not at all.
///
/// # Errors
/// FloatingPointError where the session asks for one.
#[inline]
pub(crate) fn report(name: &str, flags: FpFlags, is_scalar: bool) -> Result<()> {
    if flags.is_empty() { Ok(()) } else { report_faults(name, flags, is_scalar) }
}

#[cold]
fn report_faults(name: &str, flags: FpFlags, is_scalar: bool) -> Result<()> {
    let state = State::current()?;
    let kinds = [FpFlags::DIVIDE, FpFlags::OVERFLOW, FpFlags::UNDERFLOW, FpFlags::INVALID];
    let raised = kinds.map(|kind| flags.contains(kind));
    for ((fault, _, words), _) in FAULTS.iter().zip(raised).filter(|(_, raised)| *raised) {
        let scalar = if is_scalar { "scalar " } else { "" };
        let message = format!("{words} {scalar}{name}");
        match mode(&state, fault).as_str() {
            "ignore" | "call" | "log" => {}
            "raise" => return Err(Error::new(ErrorKind::Other("FloatingPointError"), message)),
            "print" => state.print(&format!("Warning: {message}\n")),
            _ => state.warn_once("RuntimeWarning", message),
        }
    }
    Ok(())
}

/// Returns the modes of all faults, `np.geterr()`.
fn errors(state: &State) -> Value {
    Value::Dict(Dict::of_names(FAULTS.map(|(fault, ..)| (fault, Value::str(mode(state, fault))))))
}

/// Sets the mode of all faults and of single ones, in NumPy's order. Returns the modes before.
///
/// # Errors
/// ValueError for an unknown mode.
fn set_errors(state: &State, asked: &[Value; 5]) -> Result<Value> {
    let before = errors(state);
    let mut modes = FAULTS.map(|(fault, ..)| (fault, Value::str(mode(state, fault))));
    let [all, single @ ..] = asked;
    for ((_, current), own) in modes.iter_mut().zip(single) {
        let wanted = if let Value::None = own { all } else { own };
        match wanted {
            Value::None => {}
            Value::Str(text) if MODES.contains(&&**text) => *current = wanted.clone(),
            other => bail!(ValueError, "invalid error mode '{}'", state.str(other)?),
        }
    }
    state.set_flag(ERRORS, Value::Dict(Dict::of_names(modes)));
    Ok(before)
}

/// Changes settings, and returns what they were.
type Enter = dyn Fn(&State) -> Result<Value>;

/// Restores settings.
type Leave = dyn Fn(&State, Value) -> Result<()>;

/// Changes settings while it is entered: `np.errstate(…)` and `np.printoptions(…)`.
pub(crate) struct Within {
    pub class: &'static str,
    pub enter: Rc<Enter>,
    pub leave: Rc<Leave>,
    pub before: std::cell::RefCell<Vec<Value>>,
}

impl Object for Within {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn enter(&self, session: &dyn std::any::Any) -> Option<Result<Option<Value>>> {
        let entered = || {
            let before = (self.enter)(State::of(session)?)?;
            self.before.borrow_mut().push(before.clone());
            Ok(Some(before))
        };
        Some(entered())
    }
    fn exit(&self, session: &dyn std::any::Any) -> Result<()> {
        match self.before.borrow_mut().pop() {
            Some(before) => (self.leave)(State::of(session)?, before),
            None => Ok(()),
        }
    }
    fn is_decorator(&self) -> bool {
        true
    }
}
