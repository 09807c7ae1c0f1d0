//! `RandomState` and `Generator` as objects of a script, and the members of `numpy.random`. Follows
//! <https://numpy.org/doc/2.4/reference/random/index.html>.
//!
//! NumPy seeds from the system's entropy if there is no seed. Here a missing seed counts as 0, for the global state, for
//! `RandomState()`, `default_rng()` and all bit generators, so that a session gives the same numbers again.

use super::arguments::{Args, Signature};
use super::state::{self, Bits, Place, given};
use super::{Api, Cache, Distribution, Source, methods, seeds, vectors};
use objects::calling::NativeFunction;
use std::rc::{Rc, Weak};
use tensor::{Error, Result};
use value::{Keywords, Object, ObjectState, Value, intern};

const GENERATOR: &str = "numpy.random._generator.Generator";
const RANDOM_STATE: &str = "numpy.random.mtrand.RandomState";

/// A `RandomState` or a `Generator`: what draws from a bit generator.
pub(super) struct Random {
    own: Weak<Random>,
    pub api: Api,
    pub bits: Rc<Bits>,
    cache: Place,
}

impl Random {
    fn at(api: Api, bits: Rc<Bits>, cache: Place) -> Rc<Random> {
        Rc::new_cyclic(|own| Random { own: own.clone(), api, bits, cache })
    }

    pub(super) fn new(api: Api, bits: Rc<Bits>) -> Result<Rc<Random>> {
        Ok(Random::at(api, bits, Place::own(&Cache::default().state())?))
    }

    /// Returns the `RandomState` behind the functions of `numpy.random`.
    fn of_session() -> Rc<Random> {
        Random::at(Api::RandomState, Bits::of_session(), Place::Session("numpy.<random.cache>"))
    }

    fn of(value: &Value) -> Option<Rc<Random>> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<Random>()?.own.upgrade(),
            _ => None,
        }
    }

    pub(super) fn value(&self) -> Value {
        self.own.upgrade().map_or(Value::None, |own| Value::Object(own))
    }

    pub(super) fn cache(&self) -> Result<Cache> {
        let mut cache = Cache::default();
        if let Some(block) = self.cache.load()? {
            cache.restore(&block)?;
        }
        Ok(cache)
    }

    pub(super) fn set_cache(&self, cache: &Cache) -> Result<()> {
        self.cache.store(cache.state())
    }

    /// Runs a function that draws, and keeps the new state, also after an error.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut Source<'_>) -> Result<R>) -> Result<R> {
        let mut cache = self.cache()?;
        let result = self.bits.with(|bits| run(&mut Source::new(bits, &mut cache)));
        self.set_cache(&cache)?;
        result
    }

    fn short_class(&self) -> &'static str {
        match self.api {
            Api::RandomState => "RandomState",
            Api::Generator => "Generator",
        }
    }
}

/// What a method runs.
pub(super) type Run = fn(&Random, &Args) -> Result<Value>;

/// A method other than a distribution: its name, its parameters as [`Signature::parse`] reads them, and its code.
pub(super) type Row = (&'static str, &'static str, Run);

fn rows(api: Api) -> impl Iterator<Item = &'static Row> {
    match api {
        Api::RandomState => methods::LEGACY.iter().chain(vectors::LEGACY),
        Api::Generator => methods::GENERATOR.iter().chain(vectors::GENERATOR),
    }
}

/// Returns a name of the table's, if the class has a method of that name.
fn method_named(api: Api, name: &str) -> Option<&'static str> {
    if api == Api::RandomState && matches!(name, "rand" | "randn") {
        return Some(intern(name));
    }
    let listed = rows(api).map(|row| row.0).find(|known| *known == name);
    listed.or_else(|| Distribution::find(api, name).map(|distribution| distribution.name))
}

/// Calls a method.
fn call(random: &Random, name: &str, args: &[Value], keywords: &Keywords) -> Result<Value> {
    if random.api == Api::RandomState && matches!(name, "rand" | "randn") {
        return methods::of_dimensions(random, name, args, keywords);
    }
    if let Some((_, signature, run)) = rows(random.api).find(|row| row.0 == name) {
        return run(random, &Signature::parse(name, signature).bind(args, keywords)?);
    }
    match Distribution::find(random.api, name) {
        Some(distribution) => {
            let args = Signature::of(name, distribution.parameters).bind(args, keywords)?;
            methods::draw(random, distribution, &args)
        }
        None => Err(Error::attribute(format!("'{}' object has no attribute '{name}'", random.class_name()))),
    }
}

impl Object for Random {
    fn class_name(&self) -> &'static str {
        match self.api {
            Api::RandomState => RANDOM_STATE,
            Api::Generator => GENERATOR,
        }
    }
    fn type_name(&self) -> &str {
        self.class_name()
    }
    fn repr(&self) -> String {
        let address = std::ptr::from_ref(self) as usize;
        format!("{}({}) at {address:#X}", self.short_class(), self.bits.name()).replace("at 0X", "at 0x")
    }
    fn text(&self) -> String {
        format!("{}({})", self.short_class(), self.bits.name())
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match (name, self.api) {
            ("__class__", _) => Ok(Value::Type(self.class_name())),
            ("bit_generator", Api::Generator) | ("_bit_generator", _) => Ok(self.bits.value()),
            _ => {
                let name = method_named(self.api, name)?;
                let this = self.own.upgrade()?;
                Ok(Value::Object(Rc::new(Bound { this, name })))
            }
        })
    }
    fn special(&self, name: &str, _args: &[Value]) -> Option<Result<Value>> {
        let copy = || {
            let copy = Random::new(self.api, self.bits.copied()?)?;
            copy.set_cache(&self.cache()?)?;
            Ok(copy.value())
        };
        matches!(name, "__deepcopy__" | "__copy__").then(copy)
    }
    fn object_state(&self) -> ObjectState {
        let values = [self.bits.value()].into_iter().chain(self.cache.value()).collect();
        ObjectState { values, ..ObjectState::default() }
    }
}

/// A method of a `RandomState` or `Generator`, bound to it.
struct Bound {
    this: Rc<Random>,
    name: &'static str,
}

impl Object for Bound {
    fn class_name(&self) -> &'static str {
        "method"
    }
    fn repr(&self) -> String {
        format!("<bound method {}.{} of {}>", self.this.short_class(), self.name, self.this.repr())
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(call(&self.this, self.name, &args, &keywords))
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        Some(match name {
            "__name__" => Value::str(self.name),
            "__qualname__" => Value::str(format!("{}.{}", self.this.short_class(), self.name)),
            "__self__" => self.this.value(),
            _ => return None,
        })
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.this.value()], ..ObjectState::default() }
    }
}

/// `np.random.default_rng(seed)`.
fn default_rng(seed: &Value) -> Result<Value> {
    if let Some(random) = Random::of(seed) {
        return match random.api {
            Api::Generator => Ok(seed.clone()),
            Api::RandomState => Random::new(Api::Generator, random.bits.clone()).map(|random| random.value()),
        };
    }
    let bits = match Bits::of(seed) {
        Some(bits) => bits,
        None => state::made("PCG64", seeds::Seeds::from_value(seed)?)?,
    };
    Random::new(Api::Generator, bits).map(|random| random.value())
}

/// Creates an object of a class of `numpy.random`; `None` for other classes.
pub(crate) fn construct(class: &str, args: &[Value], keywords: &Keywords) -> Option<Result<Value>> {
    let name = class.strip_prefix("numpy.random.")?.rsplit('.').next()?;
    let bind = |signature| Signature::parse("__init__", signature).bind(args, keywords);
    Some(match name {
        "Generator" => bind("bit_generator")
            .and_then(|args| Random::new(Api::Generator, given(&args.value(0))?).map(|random| random.value())),
        "RandomState" => bind("seed?").and_then(|args| {
            let bits = match Bits::of(&args.value(0)) {
                Some(bits) => bits,
                None => Bits::new(&seeds::legacy(&args.value(0))?, None)?,
            };
            Random::new(Api::RandomState, bits).map(|random| random.value())
        }),
        "SeedSequence" => seeds::construct(args, keywords),
        "BitGenerator" => Err(Error::not_implemented("BitGenerator is a base class and cannot be instantized")),
        _ => {
            state::class_named(name)?;
            state::construct(intern(name), args, keywords)
        }
    })
}

/// The classes of `numpy.random` besides bit generators.
const CLASSES: [(&str, &str); 4] = [
    ("Generator", GENERATOR),
    ("RandomState", RANDOM_STATE),
    ("SeedSequence", seeds::CLASS),
    ("BitGenerator", state::BASE),
];

/// Functions of `numpy.random` that are methods by another name.
const ALIASES: [(&str, &str); 2] = [("ranf", "random_sample"), ("sample", "random_sample")];

/// Returns a member of `numpy.random`.
pub(crate) fn member(name: &str) -> Option<Value> {
    if let Some((_, class)) = CLASSES.iter().find(|(short, _)| *short == name) {
        return Some(Value::Type(class));
    }
    if let Some(class) = state::class_named(name) {
        return Some(Value::Type(class));
    }
    let function = |name: &'static str, run: fn(&[Value], &Keywords) -> Result<Value>| {
        Some(NativeFunction::value(name, move |args, keywords| run(&args, &keywords)))
    };
    match name {
        "default_rng" => function("default_rng", |args, keywords| {
            default_rng(&Signature::parse("default_rng", "seed?").bind(args, keywords)?.value(0))
        }),
        "get_bit_generator" => function("get_bit_generator", |args, keywords| {
            Signature::parse("get_bit_generator", "").bind(args, keywords)?;
            Ok(Bits::of_session().value())
        }),
        "tomaxint" => None,
        _ => {
            let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
            let name = method_named(Api::RandomState, name)?;
            Some(Value::Object(Rc::new(Bound { this: Random::of_session(), name })))
        }
    }
}

/// Returns the names of all members of `numpy.random`.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec!["default_rng", "get_bit_generator", "rand", "randn", "ranf", "sample"];
    names.extend(CLASSES.iter().map(|(name, _)| *name));
    names.extend(state::class_names());
    names.extend(rows(Api::RandomState).map(|row| row.0).filter(|name| *name != "tomaxint"));
    names.extend(Distribution::names(Api::RandomState));
    names
}
