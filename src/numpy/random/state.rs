//! Where the state of a generator lives, and the objects of bit generators: `np.random.PCG64` and its like.

use super::arguments::{Args, Signature};
use super::bits::{BitGenerator, Half};
use super::mt19937::Mt19937;
use super::pcg64::Pcg64;
use super::philox::Philox;
use super::seeds::{Seeds, words_of_integer};
use super::sfc64::Sfc64;
use super::{SeedSequence, arguments, bit_generator};
use crate::convert;
use crate::descr::Descr;
use crate::ndarray::NdArray;
use crate::{Array, create};
use call::State;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use objects::calling::NativeFunction;
use std::rc::{Rc, Weak};
use tensor::memory::set;
use tensor::{DType, Error, Result, Scalar, Storage, bail};
use value::{Dict, Keywords, Object, ObjectState, Value};

/// Where a block of state lives. Undo must be able to restore it.
pub(super) enum Place {
    /// In memory that the object reports as its own.
    Own(Storage),
    /// Among the session's settings, under this name: the state of `np.random` itself, which no variable holds.
    Session(&'static str),
}

/// A block of state as a setting. It never changes: a new one takes its place.
struct Block(Vec<u8>);

impl Object for Block {
    fn class_name(&self) -> &'static str {
        "numpy.random.state"
    }
}

impl Place {
    pub(super) fn own(block: &[u8]) -> Result<Place> {
        Storage::from_bytes(block).map(Place::Own)
    }

    /// Returns the block; `None` before a session's first one.
    pub(super) fn load(&self) -> Result<Option<Vec<u8>>> {
        match self {
            Place::Own(storage) => storage.to_vec().map(Some),
            Place::Session(name) => Ok(match State::current()?.flag(name) {
                Some(Value::Object(object)) => object.as_any().downcast_ref::<Block>().map(|block| block.0.clone()),
                _ => None,
            }),
        }
    }

    pub(super) fn store(&self, block: Vec<u8>) -> Result<()> {
        match self {
            Place::Own(storage) => {
                for (cell, byte) in storage.data()?.bytes().iter().zip(block) {
                    set(cell, byte);
                }
            }
            Place::Session(name) => State::current()?.set_flag(name, Value::Object(Rc::new(Block(block)))),
        }
        Ok(())
    }

    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Place::Own(storage) => Some(Value::Storage(storage.clone())),
            Place::Session(_) => None,
        }
    }
}

/// The classes of bit generators: the last part of the name, and the whole one.
const CLASSES: [(&str, &str); 5] = [
    ("MT19937", "numpy.random._mt19937.MT19937"),
    ("PCG64", "numpy.random._pcg64.PCG64"),
    ("PCG64DXSM", "numpy.random._pcg64.PCG64DXSM"),
    ("Philox", "numpy.random._philox.Philox"),
    ("SFC64", "numpy.random._sfc64.SFC64"),
];

pub(super) const BASE: &str = "numpy.random.bit_generator.BitGenerator";

/// Returns the class of a bit generator by the last part of its name.
pub(super) fn class_named(name: &str) -> Option<&'static str> {
    CLASSES.iter().find(|(short, _)| *short == name).map(|(_, class)| *class)
}

/// Returns the last parts of their names.
pub(super) fn class_names() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(short, _)| *short)
}

/// A bit generator of a script.
pub(super) struct Bits {
    own: Weak<Bits>,
    name: &'static str,
    class: &'static str,
    place: Place,
    /// The `SeedSequence` that it started from; `None` if it was seeded in the legacy way.
    seeds: Option<Value>,
}

impl Bits {
    fn at(name: &'static str, place: Place, seeds: Option<Value>) -> Rc<Bits> {
        let class = class_named(name).unwrap_or(BASE);
        Rc::new_cyclic(|own| Bits { own: own.clone(), name, class, place, seeds })
    }

    pub(super) fn new(bits: &dyn BitGenerator, seeds: Option<Value>) -> Result<Rc<Bits>> {
        Ok(Bits::at(bits.name(), Place::own(&bits.state())?, seeds))
    }

    /// Returns the bit generator of `np.random` itself.
    pub(super) fn of_session() -> Rc<Bits> {
        Bits::at("MT19937", Place::Session("numpy.<random.bits>"), None)
    }

    pub(super) fn of(value: &Value) -> Option<Rc<Bits>> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref::<Bits>()?.own.upgrade(),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn value(&self) -> Value {
        self.own.upgrade().map_or(Value::None, |own| Value::Object(own))
    }

    /// Returns the generator in its present state. A session's own starts as after `seed()`.
    pub(super) fn load(&self) -> Result<Box<dyn BitGenerator>> {
        let block = self.place.load()?;
        let mut bits: Box<dyn BitGenerator> = match self.name {
            "MT19937" if block.is_none() => Box::new(super::seeds::legacy(&Value::None)?),
            "MT19937" => Box::new(Mt19937::from_legacy_seed(0)),
            name => bit_generator(name, &SeedSequence::new(&[0])).ok_or_else(|| Error::runtime("no such generator"))?,
        };
        if let Some(block) = block {
            bits.restore(&block)?;
        }
        Ok(bits)
    }

    pub(super) fn store(&self, bits: &dyn BitGenerator) -> Result<()> {
        self.place.store(bits.state())
    }

    /// Runs a function on the generator and keeps the new state, also after an error.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut dyn BitGenerator) -> Result<R>) -> Result<R> {
        let mut bits = self.load()?;
        let result = run(&mut *bits);
        self.store(&*bits)?;
        result
    }

    /// Returns an independent generator in the same state.
    pub(super) fn copied(&self) -> Result<Rc<Bits>> {
        Bits::new(&*self.load()?, self.seeds.clone())
    }

    /// Creates generators of the same class from the next children of the seed sequence.
    pub(super) fn spawned(&self, count: &Value) -> Result<Vec<Rc<Bits>>> {
        let Some(seeds) = self.seeds.as_ref().and_then(Seeds::of) else {
            bail!(TypeError, "The underlying SeedSequence does not implement spawning.");
        };
        let children = seeds.spawn(count)?;
        children.into_iter().map(|child| made(self.name, child)).collect()
    }

    /// Returns `bit_generator.state`.
    pub(super) fn state(&self) -> Result<Vec<(&'static str, Value)>> {
        let bits = self.load()?;
        let any = bits.as_any();
        let (inner, half) = if let Some(twister) = any.downcast_ref::<Mt19937>() {
            let key: Vec<Scalar> = twister.key().iter().map(|word| Scalar::Int(i64::from(*word))).collect();
            let key = NdArray::value(Array::of(&key, Descr::native(DType::UInt32))?);
            let inner = Dict::of_names([("key", key), ("pos", Value::Int(twister.position() as i64))]);
            return Ok(vec![("bit_generator", Value::str(self.name)), ("state", Value::Dict(inner))]);
        } else if let Some(pcg) = any.downcast_ref::<Pcg64>() {
            let inner = [("state", BigInt::from(pcg.state)), ("inc", BigInt::from(pcg.increment))];
            (Dict::of_names(inner.map(|(name, number)| (name, Value::from(number)))), pcg.half)
        } else if let Some(sfc) = any.downcast_ref::<Sfc64>() {
            (Dict::of_names([("state", long_words(&sfc.words)?)]), sfc.half)
        } else if let Some(philox) = any.downcast_ref::<Philox>() {
            let inner = [("counter", long_words(&philox.counter)?), ("key", long_words(&philox.key)?)];
            let mut state = vec![
                ("bit_generator", Value::str(self.name)),
                ("state", Value::Dict(Dict::of_names(inner))),
                ("buffer", long_words(&philox.buffer)?),
                ("buffer_pos", Value::Int(philox.position as i64)),
            ];
            state.extend(half_entries(philox.half));
            return Ok(state);
        } else {
            bail!(RuntimeError, "no such generator");
        };
        let mut state = vec![("bit_generator", Value::str(self.name)), ("state", Value::Dict(inner))];
        state.extend(half_entries(half));
        Ok(state)
    }

    /// `bit_generator.state = …`
    pub(super) fn set_state(&self, state: &Value) -> Result<()> {
        let Value::Dict(state) = state else { bail!(TypeError, "state must be a dict") };
        let name = state.get_str("bit_generator");
        if !matches!(&name, Some(Value::Str(name)) if **name == *self.name) {
            bail!(
                ValueError,
                "state must be for a {} {}",
                self.name,
                match self.name {
                    "PCG64" | "PCG64DXSM" | "SFC64" => "RNG",
                    _ => "PRNG",
                }
            );
        }
        let inner = item(state, "state")?;
        let Value::Dict(inner) = inner else { bail!(TypeError, "state must be a dict") };
        let mut bits = self.load()?;
        let half = || {
            let number = |name| -> Result<u32> { Ok(create::integer(&item(state, name)?)? as u32) };
            Ok(Half { pending: number("has_uint32")? != 0, word: number("uinteger")? })
        };
        let any = bits.as_any_mut();
        if let Some(twister) = any.downcast_mut::<Mt19937>() {
            *twister = twister_of(&item(&inner, "key")?, &item(&inner, "pos")?)?;
        } else if let Some(pcg) = any.downcast_mut::<Pcg64>() {
            pcg.state = wide(&item(&inner, "state")?)?;
            pcg.increment = wide(&item(&inner, "inc")?)?;
            pcg.half = half()?;
        } else if let Some(sfc) = any.downcast_mut::<Sfc64>() {
            sfc.words = words(&item(&inner, "state")?)?;
            sfc.half = half()?;
        } else if let Some(philox) = any.downcast_mut::<Philox>() {
            philox.counter = words(&item(&inner, "counter")?)?;
            philox.key = words(&item(&inner, "key")?)?;
            philox.buffer = words(&item(state, "buffer")?)?;
            philox.position = usize::try_from(create::integer(&item(state, "buffer_pos")?)?).unwrap_or(4).min(4);
            philox.half = half()?;
        }
        self.store(&*bits)
    }
}

fn item(state: &Dict, name: &str) -> Result<Value> {
    state.get_str(name).ok_or_else(|| Error::new(tensor::ErrorKind::KeyError, format!("'{name}'")))
}

fn half_entries(half: Half) -> [(&'static str, Value); 2] {
    [("has_uint32", Value::Int(i64::from(half.pending))), ("uinteger", Value::Int(i64::from(half.word)))]
}

fn long_words(words: &[u64]) -> Result<Value> {
    let words: Vec<Scalar> = words.iter().map(|word| long(*word)).collect();
    Array::of(&words, Descr::native(DType::UInt64)).map(NdArray::value)
}

pub(super) fn long(word: u64) -> Scalar {
    i64::try_from(word).map_or(Scalar::UInt(word), Scalar::Int)
}

fn wide(value: &Value) -> Result<u128> {
    match value {
        Value::Int(number) if *number >= 0 => Ok(*number as u128),
        Value::BigInt(number) => Ok(number.to_u128().unwrap_or(u128::MAX)),
        _ => Ok(create::integer(value)? as u128),
    }
}

/// Reads an array of exactly `N` words.
fn words<const N: usize>(value: &Value) -> Result<[u64; N]> {
    let scalars = convert::array(value, None)?.scalars()?;
    let words: Vec<u64> = scalars.iter().map(|word| word.to_i64() as u64).collect();
    <[u64; N]>::try_from(words).map_err(|_| Error::value(format!("the state needs {N} words")))
}

/// Returns the twister with this key and position.
pub(super) fn twister_of(key: &Value, position: &Value) -> Result<Mt19937> {
    let key = convert::array(key, None)?.scalars()?;
    let key: Vec<u32> = key.iter().map(|word| word.to_i64() as u32).collect();
    let position = create::integer(position)?;
    Mt19937::from_state(&key, usize::try_from(position).unwrap_or(usize::MAX))
}

/// Creates a bit generator of a class from its seeds.
pub(super) fn made(name: &str, seeds: Rc<Seeds>) -> Result<Rc<Bits>> {
    let bits = bit_generator(name, &seeds.sequence()?).ok_or_else(|| Error::runtime("no such generator"))?;
    Bits::new(&*bits, Some(seeds.value()))
}

/// Creates a bit generator for a call of its class.
pub(super) fn construct(name: &'static str, args: &[Value], keywords: &Keywords) -> Result<Value> {
    let signature = if name == "Philox" { "seed?, counter?, key?" } else { "seed?" };
    let args = Signature::parse("__init__", signature).bind(args, keywords)?;
    if name == "Philox" {
        return philox(&args);
    }
    made(name, Seeds::from_value(&args.value(0))?).map(|bits| bits.value())
}

fn philox(args: &Args) -> Result<Value> {
    if args.is_given(0) && args.is_given(2) {
        bail!(ValueError, "seed and key cannot be both used");
    }
    let seeds = Seeds::from_value(&args.value(0))?;
    let mut philox = Philox::new(&seeds.sequence()?);
    if args.is_given(2) {
        let [low, high, ..] = long_integer(&args.value(2), "key", 2)?;
        philox.key = [low, high];
    }
    if args.is_given(1) {
        philox.counter = long_integer(&args.value(1), "counter", 4)?;
    }
    let seeds = (!args.is_given(2)).then(|| seeds.value());
    Bits::new(&philox, seeds).map(|bits| bits.value())
}

/// Reads an integer of up to `count` 64-bit words, or an array of exactly that many words.
fn long_integer(value: &Value, name: &str, count: usize) -> Result<[u64; 4]> {
    let mut long = [0; 4];
    let words = match value {
        Value::Int(_) | Value::BigInt(_) | Value::Bool(_) => {
            let words = words_of_integer(value)?;
            if words.len() > 2 * count {
                bail!(ValueError, "{name} must be positive and less than 2**{}.", 64 * count);
            }
            words.chunks(2).map(|pair| pair.iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))).collect()
        }
        _ => {
            let words = convert::array(value, None)?.scalars()?;
            if words.len() != count {
                bail!(ValueError, "{name} must have {count} elements when using array form");
            }
            words.iter().map(|word| word.to_i64() as u64).collect::<Vec<u64>>()
        }
    };
    long.iter_mut().zip(words).for_each(|(place, word)| *place = word);
    Ok(long)
}

/// Returns an integer modulo 2^256 as 64-bit words, the lowest first.
fn modular(value: &Value) -> Result<[u64; 4]> {
    let number = match objects::plain::special::index(value)? {
        Value::BigInt(number) => (*number).clone(),
        Value::Int(number) => BigInt::from(number),
        _ => BigInt::from(0),
    };
    let modulus = BigInt::from(1) << 256;
    let rest: BigInt = ((number % &modulus) + &modulus) % &modulus;
    let mut words = [0; 4];
    let bytes = rest.to_bytes_le().1;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    words.iter_mut().zip(bytes.chunks(8)).for_each(|(place, bytes)| *place = word(bytes));
    Ok(words)
}

fn jumped(bits: &Bits, jumps: &Value) -> Result<Value> {
    let count = create::integer(jumps)?;
    let mut generator = bits.load()?;
    let any = generator.as_any_mut();
    if let Some(twister) = any.downcast_mut::<Mt19937>() {
        *twister = twister.jumped(usize::try_from(count).unwrap_or(0));
    } else if let Some(pcg) = any.downcast_mut::<Pcg64>() {
        *pcg = pcg.jumped(count as u128);
        pcg.half = Half::default();
    } else if let Some(philox) = any.downcast_mut::<Philox>() {
        *philox = philox.jumped(u128::try_from(count).unwrap_or(0));
    }
    Bits::new(&*generator, bits.seeds.clone()).map(|bits| bits.value())
}

fn advance(bits: &Bits, delta: &Value) -> Result<Value> {
    let [a, b, c, d] = modular(delta)?;
    bits.with(|generator| {
        let any = generator.as_any_mut();
        if let Some(pcg) = any.downcast_mut::<Pcg64>() {
            pcg.advance(u128::from(b) << 64 | u128::from(a));
        } else if let Some(philox) = any.downcast_mut::<Philox>() {
            philox.advance([a, b, c, d]);
        }
        Ok(())
    })?;
    Ok(bits.value())
}

fn random_raw(bits: &Bits, size: &Value, output: bool) -> Result<Value> {
    if let Value::None = size {
        let word = bits.with(|bits| Ok(bits.next_raw()))?;
        return Ok(if output { Value::from(i128::from(word)) } else { Value::None });
    }
    let out = Array::unwritten(&arguments::shape(size)?, Descr::native(DType::UInt64), false)?;
    let memory = out.memory()?;
    bits.with(|bits| {
        for (i, offset) in out.offsets().enumerate() {
            tensor::interrupt::check_at(i)?;
            out.write_at(&memory, offset, long(bits.next_raw()));
        }
        Ok(())
    })?;
    Ok(if output { NdArray::value(out) } else { Value::None })
}

/// The methods of bit generators, with the classes that lack them.
const METHODS: &[(&str, &str, &[&str])] = &[
    ("random_raw", "size?, output?", &[]),
    ("jumped", "jumps?", &["SFC64"]),
    ("advance", "delta", &["SFC64", "MT19937"]),
    ("spawn", "n_children", &[]),
];

fn call(bits: &Bits, name: &str, args: &Args) -> Result<Value> {
    match name {
        "random_raw" => {
            let output = !args.is_given(1) || value::equality::truth(&args.value(1))?;
            random_raw(bits, &args.value(0), output)
        }
        "jumped" => jumped(bits, &args.or(0, Value::Int(1))),
        "advance" => advance(bits, &args.value(0)),
        _ => Ok(Value::list(bits.spawned(&args.value(0))?.iter().map(|bits| bits.value()))),
    }
}

impl Object for Bits {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn type_name(&self) -> &str {
        self.class
    }
    fn is_instance(&self, class: &str) -> bool {
        class == BASE
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match name {
            "__class__" => Ok(Value::Type(self.class)),
            "state" => self.state().map(|state| Value::Dict(Dict::of_names(state))),
            "seed_seq" => match &self.seeds {
                Some(seeds) => Ok(seeds.clone()),
                None => Ok(Value::None),
            },
            _ => {
                let (method, signature, lacking) = METHODS.iter().find(|(method, ..)| *method == name)?;
                if lacking.contains(&self.name) {
                    return None;
                }
                let own = self.own.upgrade()?;
                Ok(NativeFunction::value(method, move |args, keywords| {
                    let args = Signature::parse(method, signature).bind(&args, &keywords)?;
                    call(&own, method, &args)
                }))
            }
        })
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        Some(match name {
            "state" => self.set_state(value),
            _ => Err(Error::attribute(format!("'{}' object has no attribute '{name}'", self.class))),
        })
    }
    fn special(&self, name: &str, _args: &[Value]) -> Option<Result<Value>> {
        let copy = || self.copied().map(|bits| bits.value());
        matches!(name, "__deepcopy__" | "__copy__").then(copy)
    }
    fn object_state(&self) -> ObjectState {
        let values = self.place.value().into_iter().chain(self.seeds.clone()).collect();
        ObjectState { values, ..ObjectState::default() }
    }
}

/// Returns the bit generator of a value that a `Generator` or `RandomState` is made from.
///
/// # Errors
/// AttributeError in NumPy's words for anything else.
pub(super) fn given(value: &Value) -> Result<Rc<Bits>> {
    Bits::of(value)
        .ok_or_else(|| Error::attribute(format!("'{}' object has no attribute 'capsule'", value.type_name())))
}
