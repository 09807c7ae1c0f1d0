//! Python's `functools`: functions that wrap functions. Follows <https://docs.python.org/3.11/library/functools.html>.

use call::{Call, Keywords, Row, State, function};
use objects::calling::{NativeFunction, call_plain, call_value, is_callable};
use objects::iterate::{is_not_iterable, iterate};
use objects::members;
use std::cell::Cell;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, bail, interrupt};
use value::{Dict, Object, ObjectState, Value};

pub(super) const ROWS: &[Row] = &[
    function("functools.reduce(any[] args) -> any", reduce, "Combines all items, two at a time, by a function.")
        .python("reduce"),
    function(
        "functools.partial(any[] args, *, any{} keywords) -> any",
        partial,
        "Returns a function with some arguments already given.",
    )
    .python("partial"),
    function(
        "functools.wraps(any wrapped, any assigned=None, any updated=None) -> any",
        |c| {
            let (state, wrapped) = (c.state.handle(), c.value(0));
            Ok(NativeFunction::value("update_wrapper", move |args, _| {
                let wrapper = args.into_iter().next().unwrap_or(Value::None);
                update_wrapper(&state, &wrapper, &wrapped)?;
                Ok(wrapper)
            }))
        },
        "Returns a decorator that gives a function the names of another.",
    )
    .python("wraps"),
    function(
        "functools.update_wrapper(any wrapper, any wrapped, any assigned=None, any updated=None) -> any",
        |c| update_wrapper(c.state, &c.value(0), &c.value(1)).map(|()| c.value(0)),
        "Gives a function the names of another.",
    )
    .python("update_wrapper"),
    function(
        "functools.lru_cache(any maxsize=128, any typed=False) -> any",
        lru_cache,
        "Returns a function that remembers its latest results.",
    )
    .python("lru_cache"),
    function(
        "functools.cache(any user_function) -> any",
        |c| Cached::value(c.state, &c.value(0), None, false),
        "Returns a function that remembers all its results.",
    )
    .python("cache"),
    function(
        "functools.cmp_to_key(any mycmp) -> any",
        |c| {
            let (state, compare) = (c.state.handle(), c.value(0));
            Ok(NativeFunction::value("K", move |args, _| {
                let value = args.into_iter().next().unwrap_or(Value::None);
                Ok(Value::Object(Rc::new(Compared { state: state.handle(), compare: compare.clone(), value })))
            }))
        },
        "Returns a function of keys for sorting by a function that compares.",
    )
    .python("cmp_to_key"),
];

fn reduce(call: &mut Call) -> Result<Value> {
    let args = call.value(0).sequence().unwrap_or_default();
    let [function, source, start @ ..] = args.as_slice() else {
        bail!(TypeError, "reduce expected at least 2 arguments, got {}", args.len())
    };
    if start.len() > 1 {
        bail!(TypeError, "reduce expected at most 3 arguments, got {}", args.len());
    }
    let mut items = iterate(call.state, source).map_err(|error| match is_not_iterable(&error) {
        true => Error::type_error("reduce() arg 2 must support iteration"),
        false => error,
    })?;
    let start = match start.first() {
        Some(start) => Some(start.clone()),
        None => items.next()?,
    };
    let Some(mut total) = start else { bail!(TypeError, "reduce() of empty iterable with no initial value") };
    let mut at = 0;
    while let Some(item) = items.next()? {
        interrupt::check_at(at)?;
        at += 1;
        total = call_plain(call.state, function, vec![total, item])?;
    }
    Ok(total)
}

/// A function with some of its arguments fixed.
struct Partial {
    state: Rc<State>,
    function: Value,
    args: Vec<Value>,
    keywords: Keywords,
    fields: Dict,
}

fn partial(call: &mut Call) -> Result<Value> {
    let mut args = call.value(0).sequence().unwrap_or_default();
    if args.is_empty() {
        bail!(TypeError, "type 'partial' takes at least one argument");
    }
    let mut function = args.remove(0);
    if !is_callable(&function) {
        bail!(TypeError, "the first argument must be callable");
    }
    let mut keywords = named(&call.value(1));
    // Merges a partial of a partial into one.
    if let Value::Object(object) = &function.clone()
        && let Some(inner) = object.as_any().downcast_ref::<Partial>()
        && inner.fields.is_empty()
    {
        function = inner.function.clone();
        args = [inner.args.clone(), args].concat();
        keywords = merged(&inner.keywords, keywords);
    }
    let (state, fields) = (call.state.handle(), Dict::default());
    Ok(Value::Object(Rc::new(Partial { state, function, args, keywords, fields })))
}

/// Converts a dictionary of keyword arguments to a list.
fn named(keywords: &Value) -> Keywords {
    let entries = keywords.entries().unwrap_or_default();
    let named = entries.into_iter().filter_map(|(name, value)| match name {
        Value::Str(name) => Some((name.to_rc(), value)),
        _ => None,
    });
    named.collect()
}

fn merged(before: &Keywords, after: Keywords) -> Keywords {
    let mut all = before.clone();
    for (name, value) in after {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => *slot = value,
            None => all.push((name, value)),
        }
    }
    all
}

impl Object for Partial {
    fn object_state(&self) -> ObjectState {
        let values = [self.function.clone()].into_iter().chain(self.args.iter().cloned());
        let values = values.chain(self.keywords.iter().map(|(_, value)| value.clone())).collect();
        ObjectState { dicts: vec![self.fields.clone()], values, ..ObjectState::default() }
    }
    fn class_name(&self) -> &'static str {
        "functools.partial"
    }
    fn type_name(&self) -> &str {
        "functools.partial"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        Some(match name {
            "func" => self.function.clone(),
            "args" => Value::tuple(self.args.iter().cloned()),
            "keywords" => {
                Value::Dict(Dict::of_names(self.keywords.iter().map(|(name, value)| (&**name, value.clone()))))
            }
            "__dict__" => Value::Dict(self.fields.clone()),
            other => return self.fields.get_str(other),
        })
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        Some(match name {
            "func" | "args" | "keywords" => Err(Error::attribute("readonly attribute")),
            _ => self.fields.insert(Value::str(name), value.clone()),
        })
    }
    fn special(&self, name: &str, _args: &[Value]) -> Option<Result<Value>> {
        (name == "__repr__").then(|| {
            let mut text = format!("functools.partial({}", self.state.repr(&self.function)?);
            for arg in &self.args {
                text += &format!(", {}", self.state.repr(arg)?);
            }
            for (name, value) in &self.keywords {
                text += &format!(", {name}={}", self.state.repr(value)?);
            }
            Ok(Value::str(text + ")"))
        })
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        let args = [self.args.as_slice(), &args].concat();
        Some(call_value(&self.state, &self.function, args, merged(&self.keywords, keywords)))
    }
}

/// Copies the name and docs of `wrapped` to `wrapper`, which keeps `wrapped` as `__wrapped__`.
fn update_wrapper(state: &State, wrapper: &Value, wrapped: &Value) -> Result<()> {
    let there = |name: &str| match members::attribute(state, wrapped, name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == ErrorKind::AttributeError => Ok(None),
        Err(error) => Err(error),
    };
    for name in ["__module__", "__name__", "__qualname__", "__doc__"] {
        if let Some(value) = there(name)? {
            members::set_attribute(state, wrapper, name, &value)?;
        }
    }
    for (name, value) in there("__dict__")?.and_then(|own| own.entries()).unwrap_or_default() {
        if let Value::Str(name) = name {
            members::set_attribute(state, wrapper, &name, &value)?;
        }
    }
    members::set_attribute(state, wrapper, "__wrapped__", wrapped)
}

fn lru_cache(call: &mut Call) -> Result<Value> {
    let typed = value::equality::truth(&call.value(1))?;
    let most = match call.value(0) {
        Value::None => None,
        Value::Int(most) => Some(usize::try_from(most).unwrap_or(0)),
        Value::Bool(most) => Some(usize::from(most)),
        function if is_callable(&function) => return Cached::value(call.state, &function, Some(128), typed),
        _ => bail!(TypeError, "Expected first argument to be an integer, a callable, or None"),
    };
    let state = call.state.handle();
    Ok(NativeFunction::value("lru_cache.<locals>.decorating_function", move |args, _| {
        Cached::value(&state, args.first().unwrap_or(&Value::None), most, typed)
    }))
}

/// A function that caches its results.
struct Cached(Rc<Cache>);

struct Cache {
    state: Rc<State>,
    function: Value,
    /// The maximum number of cached results; `None` keeps all.
    most: Option<usize>,
    /// Whether equal arguments of different classes are cached separately.
    typed: bool,
    /// The cached results, most recently used last.
    known: Dict,
    hits: Cell<i64>,
    misses: Cell<i64>,
    fields: Dict,
}

impl Cached {
    fn value(state: &State, function: &Value, most: Option<usize>, typed: bool) -> Result<Value> {
        if !is_callable(function) {
            bail!(TypeError, "the first argument must be callable");
        }
        let cached = Value::Object(Rc::new(Cached(Rc::new(Cache {
            state: state.handle(),
            function: function.clone(),
            most,
            typed,
            known: Dict::default(),
            hits: Cell::new(0),
            misses: Cell::new(0),
            fields: Dict::default(),
        }))));
        update_wrapper(state, &cached, function)?;
        Ok(cached)
    }
}

impl Cache {
    fn key(&self, args: &[Value], keywords: &Keywords) -> Value {
        if let [only @ (Value::Int(_) | Value::Str(_))] = args
            && keywords.is_empty()
            && !self.typed
        {
            return only.clone();
        }
        let mut parts = args.to_vec();
        if !keywords.is_empty() {
            parts.push(Value::Ellipsis);
        }
        parts.extend(keywords.iter().flat_map(|(name, value)| [Value::Str(name.clone().into()), value.clone()]));
        if self.typed {
            let classes = args.iter().chain(keywords.iter().map(|(_, value)| value));
            parts.extend(classes.map(|value| Value::str(value.class_name())));
        }
        Value::tuple(parts)
    }

    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
        let count = |counter: &Cell<i64>| counter.set(counter.get().saturating_add(1));
        if self.most == Some(0) {
            count(&self.misses);
            return call_value(&self.state, &self.function, args, keywords);
        }
        let key = self.key(&args, &keywords);
        if let Some(value) = self.known.get(&key)? {
            count(&self.hits);
            if self.most.is_some() {
                self.known.remove(&key)?;
                self.known.insert(key, value.clone())?;
            }
            return Ok(value);
        }
        count(&self.misses);
        let value = call_value(&self.state, &self.function, args, keywords)?;
        self.known.insert(key, value.clone())?;
        if self.most.is_some_and(|most| self.known.len() > most) {
            let oldest = self.known.borrow().iter().next().map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.known.remove(&oldest)?;
            }
        }
        Ok(value)
    }
}

impl Object for Cached {
    fn class_name(&self) -> &'static str {
        "functools._lru_cache_wrapper"
    }
    fn type_name(&self) -> &str {
        "functools._lru_cache_wrapper"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let cache = self.0.clone();
        Some(match name {
            "cache_info" => NativeFunction::value(name, move |_, _| {
                let most = cache.most.map_or(Value::None, |most| Value::Int(most as i64));
                let fields = vec![
                    ("hits", Value::Int(cache.hits.get())),
                    ("misses", Value::Int(cache.misses.get())),
                    ("maxsize", most),
                    ("currsize", Value::Int(cache.known.len() as i64)),
                ];
                Ok(Value::named_tuple("functools.CacheInfo", fields))
            }),
            "cache_clear" => NativeFunction::value(name, move |_, _| {
                // The results are dropped after the cache's borrow has ended.
                drop(cache.known.change(std::mem::take)?);
                cache.hits.set(0);
                cache.misses.set(0);
                Ok(Value::None)
            }),
            "cache_parameters" => NativeFunction::value(name, move |_, _| {
                let most = cache.most.map_or(Value::None, |most| Value::Int(most as i64));
                Ok(Value::Dict(Dict::of_names([("maxsize", most), ("typed", Value::Bool(cache.typed))])))
            }),
            "__dict__" => Value::Dict(cache.fields.clone()),
            other => return cache.fields.get_str(other),
        })
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        Some(self.0.fields.insert(Value::str(name), value.clone()))
    }
    /// Binds the function to an instance when it is read as a method.
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        match (name, args) {
            ("__get__", [instance, ..]) if !matches!(instance, Value::None) => {
                let (cache, instance) = (self.0.clone(), instance.clone());
                Some(Ok(NativeFunction::around(&self.0.function, move |args, keywords| {
                    cache.call([vec![instance.clone()], args].concat(), keywords)
                })))
            }
            _ => None,
        }
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(self.0.call(args, keywords))
    }
}

/// A value ordered by a comparison function.
struct Compared {
    state: Rc<State>,
    compare: Value,
    value: Value,
}

impl Object for Compared {
    fn class_name(&self) -> &'static str {
        "functools.KeyWrapper"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "obj").then(|| self.value.clone())
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        let symbol = match name {
            "__lt__" => "<",
            "__le__" => "<=",
            "__gt__" => ">",
            "__ge__" => ">=",
            "__eq__" => "==",
            _ => return None,
        };
        let [Value::Object(other)] = args else { return None };
        let other = other.as_any().downcast_ref::<Compared>()?.value.clone();
        Some(call_plain(&self.state, &self.compare, vec![self.value.clone(), other]).and_then(|order| {
            match objects::operators::find(symbol) {
                Some(operator) => objects::operators::binary(&self.state, operator, &order, &Value::Int(0)),
                None => Ok(Value::Bool(false)),
            }
        }))
    }
}
