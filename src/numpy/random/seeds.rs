//! Seeds: `SeedSequence` objects, and the seeds of the legacy generator.

use super::arguments::{self, Args, Signature};
use super::mt19937::Mt19937;
use super::seed_sequence::integer_words;
use super::state::{Place, long};
use super::{SeedSequence, bits};
use crate::descr::Descr;
use crate::ndarray::NdArray;
use crate::{Array, convert, create};
use call::State;
use num_traits::ToPrimitive;
use objects::calling::NativeFunction;
use std::rc::{Rc, Weak};
use tensor::{DType, Error, ErrorKind, Result, Scalar, bail, limits, missing_seed};
use value::{Dict, Keywords, Object, ObjectState, Value};

pub(super) const CLASS: &str = "numpy.random.bit_generator.SeedSequence";

/// A `SeedSequence` of a script.
pub(super) struct Seeds {
    own: Weak<Seeds>,
    /// The entropy as it was given. Without any it is 0, so that sessions can be repeated.
    entropy: Value,
    words: Vec<u32>,
    spawn_key: Vec<u32>,
    pool_size: usize,
    /// The number of children so far.
    spawned: Place,
}

impl Seeds {
    fn new(entropy: Value, spawn_key: Vec<u32>, pool_size: usize, spawned: u32) -> Result<Rc<Seeds>> {
        let words = entropy_words(&entropy)?;
        // Reports a pool that is too small.
        SeedSequence::with_options(&words, &spawn_key, pool_size)?;
        let spawned = Place::own(&spawned.to_le_bytes())?;
        Ok(Rc::new_cyclic(|own| Seeds { own: own.clone(), entropy, words, spawn_key, pool_size, spawned }))
    }

    /// Returns the sequence that a value is, or the one that it seeds.
    pub(super) fn from_value(value: &Value) -> Result<Rc<Seeds>> {
        match Seeds::of(value) {
            Some(seeds) => Ok(seeds),
            None => Seeds::new(without_none(value), Vec::new(), 4, 0),
        }
    }

    pub(super) fn of(value: &Value) -> Option<Rc<Seeds>> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<Seeds>()?.own.upgrade(),
            _ => None,
        }
    }

    pub(super) fn value(&self) -> Value {
        self.own.upgrade().map_or(Value::None, |own| Value::Object(own))
    }

    pub(super) fn sequence(&self) -> Result<SeedSequence> {
        SeedSequence::with_options(&self.words, &self.spawn_key, self.pool_size)
    }

    fn count(&self) -> Result<u32> {
        match self.spawned.load()? {
            Some(block) => bits::Reader::new(&block).u32(),
            None => Ok(0),
        }
    }

    /// Creates the next children.
    pub(super) fn spawn(&self, count: &Value) -> Result<Vec<Rc<Seeds>>> {
        let count = match create::integer(count) {
            Ok(count) => u32::try_from(count)
                .map_err(|_| Error::new(ErrorKind::OverflowError, "can't convert negative value to uint32_t"))?,
            Err(_) => bail!(TypeError, "unsupported operand type(s) for +: 'int' and '{}'", count.type_name()),
        };
        let first = self.count()?;
        let end = first.saturating_add(count);
        // About the size of a child with its words and the handles to it.
        limits::room_for::<[u64; 32]>(limits::count(i64::from(end - first)))?;
        let child = |number: u32| {
            let key = self.spawn_key.iter().copied().chain([number]).collect();
            Seeds::new(self.entropy.clone(), key, self.pool_size, 0)
        };
        let children = tensor::interrupt::watched(first..end).map(child).collect::<Result<Vec<_>>>()?;
        self.spawned.store(end.to_le_bytes().to_vec())?;
        Ok(children)
    }

    fn generate_state(&self, count: &Value, dtype: &Value) -> Result<Value> {
        let descr = convert::dtype_argument(dtype)?.unwrap_or(Descr::native(DType::UInt32));
        let shape = arguments::shape(count)?;
        let count = crate::strided::checked_count(&shape, 8)?;
        limits::room_for::<u64>(limits::count(count))?;
        let count = limits::count(count);
        let sequence = self.sequence()?;
        let words: Vec<Scalar> = match descr.dtype {
            DType::UInt32 => sequence.words(count).into_iter().map(|word| Scalar::Int(i64::from(word))).collect(),
            DType::UInt64 => sequence.long_words(count).into_iter().map(long).collect(),
            _ => bail!(ValueError, "only support uint32 or uint64"),
        };
        Array::shaped(&shape, &words, descr).map(NdArray::value)
    }

    fn key(&self) -> Value {
        Value::tuple(self.spawn_key.iter().map(|word| Value::Int(i64::from(*word))))
    }

    fn shown(&self) -> Result<String> {
        let state = State::current()?;
        let mut lines = vec![format!("    entropy={},\n", state.repr(&self.entropy)?)];
        if !self.spawn_key.is_empty() {
            lines.push(format!("    spawn_key={},\n", state.repr(&self.key())?));
        }
        if self.pool_size != 4 {
            lines.push(format!("    pool_size={},\n", self.pool_size));
        }
        let spawned = self.count()?;
        if spawned != 0 {
            lines.push(format!("    n_children_spawned={spawned},\n"));
        }
        Ok(format!("SeedSequence(\n{})", lines.concat()))
    }
}

fn without_none(value: &Value) -> Value {
    if let Value::None = value {
        missing_seed::note();
        return Value::from(i128::from(missing_seed::get()));
    }
    value.clone()
}

/// Creates a sequence for a call of its class.
pub(super) fn construct(args: &[Value], keywords: &Keywords) -> Result<Value> {
    let signature = "entropy?, *, spawn_key?, pool_size?, n_children_spawned?";
    let args = Signature::parse("__init__", signature).bind(args, keywords)?;
    let key = match args.value(1) {
        Value::None => Vec::new(),
        key => entropy_words(&key)?,
    };
    let count = |index, default| match args.value(index) {
        Value::None => Ok(default),
        value => create::integer(&value),
    };
    let pool = limits::count(count(2, 4)?);
    limits::room_for::<u32>(pool)?;
    let spawned = u32::try_from(count(3, 0)?).unwrap_or(0);
    Seeds::new(without_none(&args.value(0)), key, pool, spawned).map(|seeds| seeds.value())
}

/// Splits a non-negative integer into 32-bit words, the lowest first.
pub(super) fn words_of_integer(value: &Value) -> Result<Vec<u32>> {
    let negative = || Error::value("expected non-negative integer");
    match value {
        Value::Bool(truth) => Ok(vec![u32::from(*truth)]),
        Value::Int(number) => {
            let number = u64::try_from(*number).map_err(|_| negative())?;
            Ok(integer_words(&number.to_le_bytes()))
        }
        Value::BigInt(number) if value::integers::is_negative(number) => Err(negative()),
        Value::BigInt(number) => Ok(integer_words(&number.to_bytes_le().1)),
        _ => match objects::plain::special::index(value) {
            Ok(index) => words_of_integer(&index),
            Err(_) => bail!(TypeError, "seed must be integer"),
        },
    }
}

/// Returns the words of an entropy: an integer, or integers in nested sequences.
fn entropy_words(value: &Value) -> Result<Vec<u32>> {
    let refused = || -> Error {
        let shown = State::current().and_then(|state| state.str(value)).unwrap_or_default();
        Error::type_error(format!("SeedSequence expects int or sequence of ints for entropy not {shown}"))
    };
    match value {
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => words_of_integer(value),
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => nested_words(value),
        _ => match convert::held(value)? {
            Some(_) if NdArray::of(value).is_none() => words_of_integer(value).map_err(|_| refused()),
            Some(array) if array.ndim() == 0 => bail!(TypeError, "len() of unsized object"),
            Some(array) if !array.descr.is_integral() => bail!(TypeError, "seed must be integer"),
            Some(array) => {
                let words = |number: Scalar| words_of_integer(&Value::from(number));
                Ok(array.scalars()?.into_iter().map(words).collect::<Result<Vec<_>>>()?.concat())
            }
            None => Err(refused()),
        },
    }
}

fn nested_words(value: &Value) -> Result<Vec<u32>> {
    let items = value.sequence().unwrap_or_default();
    let words = |item: &Value| match item {
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => nested_words(item),
        Value::Str(text) => {
            let number = text.parse::<u64>().map_err(|_| Error::value("unrecognized seed string"))?;
            Ok(integer_words(&number.to_le_bytes()))
        }
        Value::Object(_) if NdArray::of(item).is_some() => entropy_words(item),
        Value::Object(_) => words_of_integer(item),
        Value::Float(_) | Value::Complex(_) => bail!(TypeError, "seed must be integer"),
        other => words_of_integer(other),
    };
    Ok(items.iter().map(words).collect::<Result<Vec<_>>>()?.concat())
}

const METHODS: &[(&str, &str)] = &[("generate_state", "n_words, dtype?"), ("spawn", "n_children")];

fn call(seeds: &Seeds, method: &str, args: &Args) -> Result<Value> {
    match method {
        "generate_state" => seeds.generate_state(&args.value(0), &args.value(1)),
        _ => Ok(Value::list(seeds.spawn(&args.value(0))?.iter().map(|child| child.value()))),
    }
}

impl Object for Seeds {
    fn class_name(&self) -> &'static str {
        CLASS
    }
    fn type_name(&self) -> &str {
        CLASS
    }
    fn repr(&self) -> String {
        self.shown().unwrap_or_default()
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let count = || self.count().map(|count| Value::Int(i64::from(count)));
        Some(match name {
            "__class__" => Ok(Value::Type(CLASS)),
            "entropy" => Ok(self.entropy.clone()),
            "spawn_key" => Ok(self.key()),
            "pool_size" => Ok(Value::Int(self.pool_size as i64)),
            "n_children_spawned" => count(),
            "pool" => self.sequence().and_then(|sequence| {
                let pool: Vec<Scalar> = sequence.pool().iter().map(|word| Scalar::Int(i64::from(*word))).collect();
                Array::of(&pool, Descr::native(DType::UInt32)).map(NdArray::value)
            }),
            "state" => count().map(|spawned| {
                Value::Dict(Dict::of_names([
                    ("entropy", self.entropy.clone()),
                    ("spawn_key", self.key()),
                    ("pool_size", Value::Int(self.pool_size as i64)),
                    ("n_children_spawned", spawned),
                ]))
            }),
            _ => {
                let (method, signature) = METHODS.iter().find(|(method, _)| *method == name)?;
                let own = self.own.upgrade()?;
                Ok(NativeFunction::value(method, move |args, keywords| {
                    let args = Signature::parse(method, signature).bind(&args, &keywords)?;
                    call(&own, method, &args)
                }))
            }
        })
    }
    fn object_state(&self) -> ObjectState {
        let values = self.spawned.value().into_iter().chain([self.entropy.clone()]).collect();
        ObjectState { values, ..ObjectState::default() }
    }
}

/// Returns the twister that `RandomState(seed)` and `np.random.seed(seed)` start from. Without a seed it is that of the
/// session, so that sessions can be repeated.
///
/// # Errors
/// TypeError and ValueError in NumPy's words.
pub(super) fn legacy(seed: &Value) -> Result<Mt19937> {
    let range = || Error::value("Seed must be between 0 and 2**32 - 1");
    let unsafe_cast = |from: &str| {
        Error::type_error(format!(
            "Cannot cast scalar from dtype('{from}') to dtype('int64') according to the rule 'safe'"
        ))
    };
    match seed {
        Value::None => {
            missing_seed::note();
            return Ok(Mt19937::from_legacy_seed(missing_seed::get() as u32));
        }
        Value::Float(_) => return Err(unsafe_cast("float64")),
        Value::Complex(_) => return Err(unsafe_cast("complex128")),
        Value::Str(text) => return Err(unsafe_cast(&format!("<U{}", text.chars().count()))),
        Value::Int(_) | Value::BigInt(_) | Value::Bool(_) => return single(seed).ok_or_else(range),
        _ => {}
    }
    if convert::held(seed)?.is_none() && value_is_object(seed) {
        return Err(unsafe_cast("O"));
    }
    let array = convert::array(seed, None)?;
    if array.ndim() == 0 {
        if !array.descr.is_integral() {
            arguments::cast(&array, Descr::LONG)?;
        }
        return single(&Value::from(array.item()?)).ok_or_else(range);
    }
    if array.count() == 0 {
        bail!(ValueError, "Seed must be non-empty");
    }
    arguments::cast(&array, Descr::LONG)?;
    if array.ndim() != 1 {
        bail!(ValueError, "Seed array must be 1-d");
    }
    let words = array.scalars()?.into_iter().map(|number| u32::try_from(number.to_i64()).map_err(|_| range()));
    Mt19937::from_legacy_seeds(&words.collect::<Result<Vec<u32>>>()?)
}

fn single(seed: &Value) -> Option<Mt19937> {
    let number = match seed {
        Value::Bool(truth) => u32::from(*truth),
        Value::Int(number) => u32::try_from(*number).ok()?,
        Value::BigInt(number) => number.to_u32()?,
        _ => return None,
    };
    Some(Mt19937::from_legacy_seed(number))
}

fn value_is_object(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Tuple(_) | Value::Range(_))
}
