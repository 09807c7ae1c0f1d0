//! How arrays and scalars print, and the session's print options. Follows
//! <https://numpy.org/doc/2.4/reference/generated/numpy.set_printoptions.html>.

use crate::array::Array;
use crate::convert;
use crate::create::integer;
use crate::descr::{Descr, Kind};
use crate::ndarray::NdArray;
use crate::settings::Within;
use call::{Call, Row, State, function};
use explain::format::arrays::{self, ArrayOptions, FloatMode, Sign, Style};
use std::rc::Rc;
use tensor::{Error, Result, View, bail};
use value::equality::{number, truth};
use value::{Dict, Object, ObjectState, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "numpy.set_printoptions(any precision=None, any threshold=None, any edgeitems=None, any linewidth=None, any \
         suppress=None, any nanstr=None, any infstr=None, any formatter=None, any sign=None, any floatmode=None, *, any \
         legacy=None, any override_repr=None) -> None",
        |c| {
            let options = changed(c, 0)?;
            set(c.state, options);
            Ok(Value::None)
        },
        "Sets how arrays print.",
    )
    .python("set_printoptions"),
    function("numpy.get_printoptions() -> any", |c| Ok(shown(&options(c.state))), "Returns how arrays print.")
        .python("get_printoptions"),
    function(
        "numpy.printoptions(any precision=None, any threshold=None, any edgeitems=None, any linewidth=None, any \
         suppress=None, any nanstr=None, any infstr=None, any formatter=None, any sign=None, any floatmode=None, *, any \
         legacy=None, any override_repr=None) -> any",
        within,
        "Sets how arrays print while it is entered.",
    )
    .python("printoptions"),
    function(
        "numpy.array2string(any a, any max_line_width=None, any precision=None, any suppress_small=None, any separator=\" \", \
         any prefix=\"\", *, any formatter=None, any threshold=None, any edgeitems=None, any sign=None, any floatmode=None, \
         any suffix=\"\", any legacy=None) -> any",
        array2string,
        "Returns the text of an array.",
    )
    .python("array2string"),
    function(
        "numpy.array_repr(any arr, any max_line_width=None, any precision=None, any suppress_small=None) -> any",
        |c| whole(c, Style::Repr),
        "Returns the text that the prompt shows for an array.",
    )
    .python("array_repr"),
    function(
        "numpy.array_str(any a, any max_line_width=None, any precision=None, any suppress_small=None) -> any",
        |c| whole(c, Style::Str),
        "Returns the text that `print` shows for an array.",
    )
    .python("array_str"),
];

const OPTIONS: &str = "numpy.<printoptions>";

/// Options as a value that a session keeps.
struct Held(Options);

/// The print options of a session: those of the core, and a function for each class of elements, if there are any.
#[derive(Clone)]
struct Options {
    core: ArrayOptions,
    formatter: Value,
}

impl Default for Options {
    fn default() -> Options {
        Options { core: ArrayOptions::default(), formatter: Value::None }
    }
}

impl Options {
    /// Returns the function that writes elements of a dtype: the one for it, for its kind or for all.
    fn function(&self, descr: Descr) -> Option<Value> {
        let Value::Dict(functions) = &self.formatter else { return None };
        let names = match descr.kind() {
            Kind::Bool => ["bool", "bool", "all"],
            Kind::Unsigned | Kind::Signed => ["int", "int_kind", "all"],
            Kind::Floating => ["float", "float_kind", "all"],
            Kind::Complex => ["complexfloat", "complex_kind", "all"],
        };
        names.iter().find_map(|name| functions.get_str(name).filter(|function| !matches!(function, Value::None)))
    }

    /// Returns the text of an array whose elements a function writes.
    fn written(&self, view: &View, function: Value, name: &str, more: Vec<Value>) -> Result<String> {
        let array = Array::of_view(view).ok_or_else(|| Error::type_error("not an array"))?;
        let state = State::current()?;
        let ArrayOptions { threshold, edgeitems, linewidth, .. } = self.core;
        let limits = [threshold, edgeitems, linewidth].map(Value::Int);
        let args = [NdArray::value(array), function].into_iter().chain(more).chain(limits).collect();
        let text = state.call_embedded(crate::python::source("text")?, name, args)?;
        state.str(&text)
    }
}

impl Object for Held {
    fn class_name(&self) -> &'static str {
        "numpy.printoptions"
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.0.formatter.clone()], ..ObjectState::default() }
    }
}

fn options(state: &State) -> Options {
    match state.flag(OPTIONS) {
        Some(Value::Object(object)) => match object.as_any().downcast_ref::<Held>() {
            Some(held) => held.0.clone(),
            None => Options::default(),
        },
        _ => Options::default(),
    }
}

fn set(state: &State, options: Options) {
    state.set_flag(OPTIONS, Value::Object(Rc::new(Held(options))));
}

/// Formats an array or a scalar with the options of the session.
///
/// # Errors
/// MemoryError if there is not enough memory.
pub(crate) fn write(view: &View, descr: Descr, style: Style) -> Result<String> {
    let options = State::current().map(|state| options(&state)).unwrap_or_default();
    write_with(view, descr, style, &options)
}

fn write_with(view: &View, descr: Descr, style: Style, options: &Options) -> Result<String> {
    let implied = arrays::is_implied(descr.dtype) && !descr.swapped;
    match (options.function(descr), style) {
        (Some(function), Style::Repr) => {
            let dtype = if implied && view.numel() > 0 { String::new() } else { descr.shown() };
            options.written(view, function, "_formatted_repr", vec![Value::str(dtype), Value::str("array(")])
        }
        (Some(function), Style::Memmap) => {
            let dtype = if implied && view.numel() > 0 { String::new() } else { descr.shown() };
            options.written(view, function, "_formatted_repr", vec![Value::str(dtype), Value::str("memmap(")])
        }
        (Some(function), Style::Str) if view.ndim() > 0 => {
            options.written(view, function, "_formatted", vec![Value::str(" "), Value::Int(0), Value::Int(0)])
        }
        _ => arrays::write(view, &descr.shown(), implied, style, &options.core),
    }
}

/// Reads a number of characters or elements; infinity stands for no limit.
fn count(value: &Value) -> Result<i64> {
    match value {
        Value::Float(f) if f.is_infinite() && *f > 0.0 => Ok(i64::MAX),
        Value::Float(f) => Ok(*f as i64),
        other => integer(other),
    }
}

/// Returns the session's options with those of a call, which begin at an argument.
fn changed(call: &Call, from: usize) -> Result<Options> {
    let mut options = options(call.state).core;
    let get = |i: usize| Some(call.value(from + i)).filter(|value| !matches!(value, Value::None));
    if let Some(precision) = get(0) {
        options.precision = integer(&precision)?;
    }
    if let Some(threshold) = get(1) {
        if number(&threshold).is_none() {
            bail!(TypeError, "threshold must be numeric");
        }
        if matches!(threshold, Value::Float(f) if f.is_nan()) {
            bail!(ValueError, "threshold must be non-NAN, try sys.maxsize for untruncated representation");
        }
        options.threshold = count(&threshold)?;
    }
    if let Some(edgeitems) = get(2) {
        options.edgeitems = integer(&edgeitems)?;
    }
    if let Some(linewidth) = get(3) {
        options.linewidth = count(&linewidth)?;
    }
    if let Some(suppress) = get(4) {
        options.suppress = truth(&suppress)?;
    }
    let text = |value: Value, name: &str| match value {
        Value::Str(text) => Ok(text.to_string()),
        other => bail!(TypeError, "{name} must be str, not {}", other.type_name()),
    };
    if let Some(nan) = get(5) {
        options.nanstr = text(nan, "nanstr")?;
    }
    if let Some(inf) = get(6) {
        options.infstr = text(inf, "infstr")?;
    }
    if let Some(sign) = get(8) {
        let Some(sign) = Sign::from_text(&text(sign, "sign")?) else {
            bail!(ValueError, "sign option must be one of ' ', '+', or '-'");
        };
        options.sign = sign;
    }
    if let Some(mode) = get(9) {
        let Some(mode) = FloatMode::from_name(&text(mode, "floatmode")?) else {
            bail!(ValueError, "floatmode option must be one of \"fixed\", \"unique\", \"maxprec\", \"maxprec_equal\"");
        };
        options.floatmode = mode;
    }
    if get(10).is_some_and(|legacy| !matches!(legacy, Value::Bool(false))) {
        bail!(NotImplementedError, "the print option 'legacy' is not supported here");
    }
    // Unlike the other options, the formatter is unset unless it is given.
    Ok(Options { core: options, formatter: call.value(from + 7) })
}

fn shown(Options { core: options, formatter }: &Options) -> Value {
    let limit = |count: i64| if count == i64::MAX { Value::Float(f64::INFINITY) } else { Value::Int(count) };
    Value::Dict(Dict::of_names([
        ("edgeitems", Value::Int(options.edgeitems)),
        ("threshold", limit(options.threshold)),
        ("floatmode", Value::str(options.floatmode.name())),
        ("precision", Value::Int(options.precision)),
        ("suppress", Value::Bool(options.suppress)),
        ("linewidth", limit(options.linewidth)),
        ("nanstr", Value::str(options.nanstr.clone())),
        ("infstr", Value::str(options.infstr.clone())),
        ("sign", Value::str(options.sign.text())),
        ("formatter", formatter.clone()),
        ("legacy", Value::Bool(false)),
        ("override_repr", Value::None),
    ]))
}

fn within(call: &mut Call) -> Result<Value> {
    let inside = changed(call, 0)?;
    Ok(Value::Object(Rc::new(Within {
        class: "contextlib._GeneratorContextManager",
        enter: Rc::new(move |state| {
            let before = Value::Object(Rc::new(Held(options(state))));
            set(state, inside.clone());
            Ok(before)
        }),
        leave: Rc::new(|state, before| {
            state.set_flag(OPTIONS, before);
            Ok(())
        }),
        before: Default::default(),
    })))
}

fn array2string(call: &mut Call) -> Result<Value> {
    let Options { core: mut options, mut formatter } = options(call.state);
    let get = |i: usize| Some(call.value(i)).filter(|value| !matches!(value, Value::None));
    let text = |value: Value| match value {
        Value::Str(text) => Ok(text.to_string()),
        other => bail!(TypeError, "expected str, not {}", other.type_name()),
    };
    if let Some(width) = get(1) {
        options.linewidth = count(&width)?;
    }
    if let Some(precision) = get(2) {
        options.precision = integer(&precision)?;
    }
    if let Some(suppress) = get(3) {
        options.suppress = truth(&suppress)?;
    }
    if let Some(own) = get(6) {
        formatter = own;
    }
    if let Some(threshold) = get(7) {
        options.threshold = count(&threshold)?;
    }
    if let Some(edgeitems) = get(8) {
        options.edgeitems = integer(&edgeitems)?;
    }
    if let Some(sign) = get(9)
        && let Some(sign) = Sign::from_text(&text(sign)?)
    {
        options.sign = sign;
    }
    if let Some(mode) = get(10)
        && let Some(mode) = FloatMode::from_name(&text(mode)?)
    {
        options.floatmode = mode;
    }
    let array = convert::array(&call.value(0), None)?;
    let [separator, prefix, suffix] = [text(call.value(4))?, text(call.value(5))?, text(call.value(11))?];
    let (view, options) = (array.readable()?, Options { core: options, formatter });
    let written = match options.function(array.descr) {
        Some(function) => {
            let [before, behind] = [&prefix, &suffix].map(|text| Value::Int(text.chars().count() as i64));
            options.written(&view, function, "_formatted", vec![Value::str(separator), before, behind])?
        }
        None => arrays::text(&view, &options.core, &separator, &prefix, &suffix)?,
    };
    Ok(Value::str(written))
}

fn whole(call: &mut Call, style: Style) -> Result<Value> {
    let mut options = options(call.state);
    if !call.is_none(1) {
        options.core.linewidth = count(&call.value(1))?;
    }
    if !call.is_none(2) {
        options.core.precision = integer(&call.value(2))?;
    }
    if !call.is_none(3) {
        options.core.suppress = truth(&call.value(3))?;
    }
    let array = convert::array(&call.value(0), None)?;
    let style = match NdArray::of(&call.value(0)) {
        Some(this) if style == Style::Repr && this.mapping().is_some() => Style::Memmap,
        _ => style,
    };
    Ok(Value::str(write_with(&array.readable()?, array.descr, style, &options)?))
}
