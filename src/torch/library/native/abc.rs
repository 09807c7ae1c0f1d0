//! `_abc`: which classes an abstract class counts as its own, as in
//! [the module `abc`](https://docs.python.org/3.11/library/abc.html), which makes `ABCMeta` of these functions.

use call::{Row, State, function, stack};
use objects::calling::call_value;
use objects::members::{attribute, set_attribute};
use objects::plain::classes::{is_class, is_subclass};
use std::cell::Cell;
use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::equality::{NotImplemented, is, truth};
use value::{List, Object, ObjectState, Set, Value};

pub(in crate::library) const ROWS: &[Row] = &[
    function(
        "_abc._abc_init(any cls) -> None",
        |c| init(c.state, &c.value(0)).map(|()| Value::None),
        "Finds the abstract methods of a new class.",
    ),
    function(
        "_abc._abc_register(any cls, any subclass) -> any",
        |c| register(c.state, &c.value(0), &c.value(1)),
        "Makes a class count as derived from an abstract one.",
    ),
    function(
        "_abc._abc_instancecheck(any cls, any instance) -> bool",
        |c| is_instance(c.state, &c.value(0), &c.value(1)).map(Value::Bool),
        "Returns whether an object counts as one of an abstract class.",
    ),
    function(
        "_abc._abc_subclasscheck(any cls, any subclass) -> bool",
        |c| counts_as_own(c.state, &c.value(0), &c.value(1)).map(Value::Bool),
        "Returns whether a class counts as derived from an abstract one.",
    ),
    function(
        "_abc._get_dump(any cls) -> any",
        |c| {
            let data = data_of(c.state, &c.value(0))?;
            let known = [&data.positive, &data.negative].map(|set| Value::Set(set.clone()));
            let registry = Value::Set(Set::new(data.registry.to_vec())?);
            Ok(Value::tuple([registry].into_iter().chain(known).chain([Value::Int(data.token.get())])))
        },
        "Returns what an abstract class knows of others.",
    ),
    function(
        "_abc._reset_registry(any cls) -> None",
        |c| data_of(c.state, &c.value(0))?.registry.replace(Vec::new()).map(|_| Value::None),
        "Forgets the registered classes.",
    ),
    function(
        "_abc._reset_caches(any cls) -> None",
        |c| {
            let data = data_of(c.state, &c.value(0))?;
            data.positive.replace(Vec::new())?;
            data.negative.replace(Vec::new()).map(|()| Value::None)
        },
        "Forgets the answers of earlier checks.",
    ),
    function(
        "_abc.get_cache_token() -> int",
        |_| Ok(Value::Int(TOKEN.get())),
        "Returns a number that changes whenever a class is registered.",
    ),
];

thread_local! {
    /// How many classes have been registered. An abstract class trusts negative answers only as long as none was.
    static TOKEN: Cell<i64> = const { Cell::new(0) };
}

/// The attribute that holds the [`Data`] of an abstract class.
const DATA: &str = "_abc_impl";

/// What an abstract class knows of others.
struct Data {
    registry: List,
    /// The classes that have been checked, by the answer.
    positive: Set,
    negative: Set,
    /// The token when the negative answers were given.
    token: Cell<i64>,
}

impl Object for Data {
    fn object_state(&self) -> ObjectState {
        let sets = [&self.positive, &self.negative].map(|set| Value::Set(set.clone()));
        let values = [Value::List(self.registry.clone())].into_iter().chain(sets).collect();
        ObjectState { values, ..ObjectState::default() }
    }
    fn class_name(&self) -> &'static str {
        "_abc._abc_data"
    }
    fn repr(&self) -> String {
        format!("<_abc._abc_data object at {:#x}>", std::ptr::from_ref(self) as usize)
    }
}

fn data_of(state: &State, class: &Value) -> Result<Rc<Data>> {
    if let Value::Object(object) = attribute(state, class, DATA)? {
        let any: Rc<dyn std::any::Any> = object;
        if let Ok(data) = any.downcast() {
            return Ok(data);
        }
    }
    bail!(TypeError, "_abc_impl is set to a wrong type")
}

/// Looks up an attribute that may be missing.
fn probed(state: &State, value: &Value, name: &str) -> Option<Value> {
    let before = state.is_probing.replace(true);
    let found = attribute(state, value, name);
    state.is_probing.set(before);
    found.ok()
}

/// Returns whether a member of a class is to be overridden: functions, properties and other objects say so.
fn is_abstract(member: &Value) -> Result<bool> {
    const MARK: &str = "__isabstractmethod__";
    let Value::Object(object) = member else { return Ok(false) };
    let mark = object.own_attribute(MARK).and_then(Result::ok).or_else(|| object.attribute(MARK));
    mark.map_or(Ok(false), |mark| truth(&mark))
}

fn init(state: &State, class: &Value) -> Result<()> {
    let members = attribute(state, class, "__dict__")?.entries().unwrap_or_default();
    let mut names = Vec::new();
    for (name, member) in members {
        if is_abstract(&member)? {
            names.push(name);
        }
    }
    for base in attribute(state, class, "__bases__")?.sequence().unwrap_or_default() {
        let inherited = probed(state, &base, "__abstractmethods__").and_then(|names| names.sequence());
        for name in inherited.unwrap_or_default() {
            if let Value::Str(text) = &name
                && let Some(member) = probed(state, class, text)
                && is_abstract(&member)?
            {
                names.push(name);
            }
        }
    }
    set_attribute(state, class, "__abstractmethods__", &Value::Set(Set::new(names)?.to_kind(true)))?;
    let [positive, negative] = [Set::default(), Set::default()];
    let data = Data { registry: List::default(), positive, negative, token: Cell::new(TOKEN.get()) };
    set_attribute(state, class, DATA, &Value::Object(Rc::new(data)))
}

fn register(state: &State, class: &Value, subclass: &Value) -> Result<Value> {
    if !is_class(subclass) {
        bail!(TypeError, "Can only register classes");
    }
    if is_subclass(subclass, class)? {
        return Ok(subclass.clone());
    }
    if is_subclass(class, subclass)? {
        return Err(Error::runtime("Refusing to create an inheritance cycle"));
    }
    data_of(state, class)?.registry.change(|classes| classes.push(subclass.clone()))?;
    TOKEN.set(TOKEN.get() + 1);
    Ok(subclass.clone())
}

fn is_instance(state: &State, class: &Value, instance: &Value) -> Result<bool> {
    let data = data_of(state, class)?;
    let said = attribute(state, instance, "__class__")?;
    if data.positive.contains(&said)? {
        return Ok(true);
    }
    let real = call_value(state, &Value::Type("type"), vec![instance.clone()], Vec::new())?;
    let is_same = is(&said, &real);
    if is_same && data.token.get() == TOKEN.get() && data.negative.contains(&said)? {
        return Ok(false);
    }
    let check = attribute(state, class, "__subclasscheck__")?;
    let asked = |subclass| truth(&call_value(state, &check, vec![subclass], Vec::new())?);
    Ok(asked(said)? || !is_same && asked(real)?)
}

fn counts_as_own(state: &State, class: &Value, subclass: &Value) -> Result<bool> {
    // Each registered or derived class may ask its own.
    stack::check()?;
    if !is_class(subclass) {
        bail!(TypeError, "issubclass() arg 1 must be a class");
    }
    let data = data_of(state, class)?;
    if data.positive.contains(subclass)? {
        return Ok(true);
    }
    if data.token.get() < TOKEN.get() {
        data.negative.replace(Vec::new())?;
        data.token.set(TOKEN.get());
    } else if data.negative.contains(subclass)? {
        return Ok(false);
    }
    let hook = attribute(state, class, "__subclasshook__")?;
    let answer = match call_value(state, &hook, vec![subclass.clone()], Vec::new())? {
        Value::Object(answer) if answer.as_any().is::<NotImplemented>() => is_derived(state, class, subclass, &data)?,
        answer => truth(&answer)?,
    };
    if answer { &data.positive } else { &data.negative }.insert(subclass.clone())?;
    Ok(answer)
}

/// Returns whether a class derives from an abstract one, or from a class registered with it or derived from it.
fn is_derived(state: &State, class: &Value, subclass: &Value, data: &Data) -> Result<bool> {
    let order = probed(state, subclass, "__mro__").and_then(|order| order.sequence()).unwrap_or_default();
    if order.iter().any(|above| is(above, class)) {
        return Ok(true);
    }
    let children = call_value(state, &attribute(state, class, "__subclasses__")?, Vec::new(), Vec::new())?;
    for other in data.registry.to_vec().into_iter().chain(children.sequence().unwrap_or_default()) {
        if is_subclass(subclass, &other)? {
            return Ok(true);
        }
    }
    Ok(false)
}
