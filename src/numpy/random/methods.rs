//! Methods of `RandomState` and `Generator`: their table, distributions, bytes and states.

use super::arguments::{self, Args, Given, broadcast, c_long};
use super::bounded;
use super::classes::{Random, Row};
use super::integers::{integers, randint, random_integers};
use super::items::{choice, permutation, permuted, shuffle};
use super::mt19937::Mt19937;
use super::state::twister_of;
use super::table::{Argument, Distribution, Number};
use super::{Api, Source, generator, seeds, ziggurat};
use crate::array::Array;
use crate::descr::Descr;
use crate::ndarray::NdArray;
use crate::{convert, create, strided};
use call::State;
use tensor::interrupt::check_at;
use tensor::memory::set;
use tensor::{Buffer, DType, Error, Result, Scalar, bail};
use value::{Dict, Keywords, Value};

pub(super) const LEGACY: &[Row] = &[
    ("seed", "seed?", |random, args| seed(random, &args.value(0))),
    ("get_state", "legacy?", get_state),
    ("set_state", "state", |random, args| set_state(random, &args.value(0))),
    ("randint", "low, high?, size?, dtype?", randint),
    ("random_integers", "low, high?, size?", random_integers),
    ("tomaxint", "size?", |random, args| {
        filled(random, &args.value(0), Descr::LONG, |source| Scalar::Int(bounded::tomaxint(source.bits)))
    }),
    ("bytes", "length", bytes),
    ("choice", "a, size?, replace?, p?", choice),
    ("shuffle", "x", |random, args| shuffle(random, &args.value(0), 0)),
    ("permutation", "x", |random, args| permutation(random, &args.value(0), None)),
];

pub(super) const GENERATOR: &[Row] = &[
    ("random", "size?, dtype?, out?", |random, args| {
        plain(random, "random", args, 2, |source| source.bits.next_double(), |source| source.bits.next_float())
    }),
    ("standard_normal", "size?, dtype?, out?", |random, args| {
        let (wide, narrow) = (ziggurat::standard_normal, ziggurat::standard_normal_f32);
        plain(random, "standard_normal", args, 2, |source| wide(source.bits), |source| narrow(source.bits))
    }),
    ("standard_exponential", "size?, dtype?, method?, out?", |random, args| {
        let is_ziggurat = match args.or(2, Value::str("zig")) {
            Value::Str(method) => &*method == "zig",
            _ => false,
        };
        let wide = |source: &mut Source<'_>| match is_ziggurat {
            true => ziggurat::standard_exponential(source.bits),
            false => ziggurat::inverse_exponential(source.bits),
        };
        let narrow = |source: &mut Source<'_>| match is_ziggurat {
            true => ziggurat::standard_exponential_f32(source.bits),
            false => ziggurat::inverse_exponential_f32(source.bits),
        };
        plain(random, "standard_exponential", args, 3, wide, narrow)
    }),
    ("standard_gamma", "shape, size?, dtype?, out?", standard_gamma),
    ("integers", "low, high?, size?, dtype?, endpoint?", integers),
    ("bytes", "length", bytes),
    ("choice", "a, size?, replace?, p?, axis?, shuffle?", choice),
    ("shuffle", "x, axis?", |random, args| {
        shuffle(random, &args.value(0), create::integer(&args.or(1, Value::Int(0)))?)
    }),
    ("permutation", "x, axis?", |random, args| {
        permutation(random, &args.value(0), Some(create::integer(&args.or(1, Value::Int(0)))?))
    }),
    ("permuted", "x, axis?, out?", permuted),
    ("spawn", "n_children", |random, args| {
        let made = |bits| super::classes::Random::new(Api::Generator, bits).map(|random| random.value());
        let children = random.bits.spawned(&args.value(0))?.into_iter().map(made).collect::<Result<Vec<Value>>>()?;
        Ok(Value::list(children))
    }),
];

/// `rand(d0, d1, …)` and `randn(d0, d1, …)`.
pub(super) fn of_dimensions(random: &Random, name: &str, args: &[Value], keywords: &Keywords) -> Result<Value> {
    if let Some((keyword, _)) = keywords.first() {
        bail!(TypeError, "{name}() got an unexpected keyword argument '{keyword}'");
    }
    if args.iter().any(|size| matches!(size, Value::Bool(_))) {
        bail!(TypeError, "an integer is required");
    }
    let size = if args.is_empty() { Value::None } else { Value::tuple(args.iter().cloned()) };
    let inner = if name == "rand" { "random_sample" } else { "standard_normal" };
    let distribution = Distribution::find(Api::RandomState, inner);
    let distribution = distribution.ok_or_else(|| Error::runtime("no such distribution"))?;
    one_by_one(random, distribution, &[], &size)
}

fn scalar_of(number: Number) -> Scalar {
    match number {
        Number::Real(number) => Scalar::Float(number),
        Number::Integer(number) => Scalar::Int(number),
    }
}

/// Draws numbers into a new array, or a single one if `size` is `None`.
fn filled(
    random: &Random,
    size: &Value,
    descr: Descr,
    mut draw: impl FnMut(&mut Source<'_>) -> Scalar,
) -> Result<Value> {
    match arguments::size(size)? {
        None => random.with(|source| Ok(Value::from(draw(source)))),
        Some(shape) => {
            let out = Array::unwritten(&shape, descr, false)?;
            fill(random, &out, draw)?;
            Ok(NdArray::value(out))
        }
    }
}

/// Draws every element of an array, in row-major order.
pub(super) fn fill(random: &Random, out: &Array, mut draw: impl FnMut(&mut Source<'_>) -> Scalar) -> Result<()> {
    let memory = out.memory()?;
    let (start, size) = (out.places.offset, out.itemsize() as i64);
    let is_plain = out.is_c() && start % size == 0;
    let range = tensor::limits::count(start / size)..tensor::limits::count(start / size + out.count());
    random.with(|source| {
        match out.descr {
            Descr::DOUBLE if is_plain => {
                for (i, cell) in memory.typed::<f64>().get(range).unwrap_or_default().iter().enumerate() {
                    check_at(i)?;
                    set(cell, draw(source).to_f64());
                }
            }
            Descr::LONG if is_plain => {
                for (i, cell) in memory.typed::<i64>().get(range).unwrap_or_default().iter().enumerate() {
                    check_at(i)?;
                    set(cell, draw(source).to_i64());
                }
            }
            _ => {
                for (i, offset) in out.offsets().enumerate() {
                    check_at(i)?;
                    out.write_at(&memory, offset, draw(source));
                }
            }
        }
        Ok(())
    })
}

/// Draws from a distribution whose parameters are all numbers.
fn one_by_one(random: &Random, distribution: &Distribution, arguments: &[Argument], size: &Value) -> Result<Value> {
    let descr = if distribution.is_integer() { Descr::LONG } else { Descr::DOUBLE };
    filled(random, size, descr, |source| scalar_of(distribution.draw(source, arguments)))
}

/// Returns the parameters in the order in which NumPy broadcasts them.
fn in_order<'g>(name: &str, given: &'g [Given]) -> Vec<&'g Given> {
    let mut order: Vec<&Given> = given.iter().collect();
    if name == "binomial" {
        order.reverse();
    }
    order
}

/// Returns the shape that parameters have together.
fn common_shape(name: &str, given: &[Given]) -> Result<Vec<i64>> {
    let shapes: Vec<&[i64]> = in_order(name, given).into_iter().map(Given::shape).collect();
    match (name, &shapes[..]) {
        ("uniform", [low, high]) => arguments::broadcast_operands(high, low),
        ("triangular", [left, mode, right]) => {
            arguments::broadcast_operands(left, mode)?;
            arguments::broadcast_operands(mode, right)?;
            broadcast(&shapes)
        }
        ("hypergeometric", [good, bad, sample]) => {
            arguments::broadcast_operands(&arguments::broadcast_operands(good, bad)?, sample)
        }
        _ => broadcast(&shapes),
    }
}

/// Checks that a requested shape is what parameters broadcast to.
pub(super) fn check_size(size: &[i64], shapes: &[&[i64]]) -> Result<()> {
    let all: Vec<&[i64]> = [size].into_iter().chain(shapes.iter().copied()).collect();
    let shape = broadcast(&all)?;
    if shape != size {
        let shown =
            |shape: &[i64]| State::current().and_then(|state| state.repr(&Value::ints(shape))).unwrap_or_default();
        bail!(
            ValueError,
            "Output size {} is not compatible with broadcast dimensions of inputs {}.",
            shown(size),
            shown(&shape)
        );
    }
    Ok(())
}

/// Calls a distribution: reads and checks its parameters, then draws.
pub(super) fn draw(random: &Random, distribution: &Distribution, args: &Args) -> Result<Value> {
    let mut given = Vec::new();
    for (i, parameter) in distribution.parameters.iter().enumerate() {
        let default = parameter.default.map_or(Value::None, Value::Float);
        given.push(Given::read(&args.or(i, default), parameter.integer)?);
    }
    let size = args.value(distribution.parameters.len());
    if given.iter().all(Given::is_scalar) {
        let floats = given.iter().map(|given| given.floats(&[])).collect::<Result<Vec<_>>>()?;
        let slices: Vec<&[f64]> = floats.iter().map(|numbers| &numbers[..]).collect();
        distribution.check(random.api, &slices, true)?;
        let arguments = given.iter().map(|given| given.arguments(&[])).collect::<Result<Vec<_>>>()?.concat();
        return one_by_one(random, distribution, &arguments, &size);
    }
    let alone = |given: &Given| given.floats(given.shape());
    let needs_pairs = matches!(distribution.name, "uniform" | "triangular" | "hypergeometric" | "negative_binomial");
    let floats = match needs_pairs {
        true => {
            let shape = common_shape(distribution.name, &given)?;
            given.iter().map(|given| given.floats(&shape)).collect::<Result<Vec<_>>>()?
        }
        false => given.iter().map(alone).collect::<Result<Vec<_>>>()?,
    };
    let slices: Vec<&[f64]> = floats.iter().map(|numbers| &numbers[..]).collect();
    distribution.check(random.api, &slices, false)?;
    let shape = match arguments::size(&size)? {
        None => common_shape(distribution.name, &given)?,
        Some(size) => {
            let shapes: Vec<&[i64]> = in_order(distribution.name, &given).into_iter().map(Given::shape).collect();
            check_size(&size, &shapes)?;
            size
        }
    };
    let columns = given.iter().map(|given| given.arguments(&shape)).collect::<Result<Vec<_>>>()?;
    let descr = if distribution.is_integer() { Descr::LONG } else { Descr::DOUBLE };
    let out = Array::unwritten(&shape, descr, false)?;
    let mut at = 0;
    fill(random, &out, |source| {
        let one = |column: &Vec<Argument>| column.get(at).or(column.first()).copied().unwrap_or(Argument::Real(0.0));
        let mut row = [Argument::Real(0.0); 3];
        row.iter_mut().zip(&columns).for_each(|(place, column)| *place = one(column));
        at += 1;
        scalar_of(distribution.draw(source, &row))
    })?;
    Ok(NdArray::value(out))
}

/// Reads a `dtype` argument that must be `float64` or `float32`.
fn float_dtype(method: &str, dtype: &Value) -> Result<Descr> {
    let descr = convert::dtype_argument(dtype)?.unwrap_or(Descr::DOUBLE);
    match descr.dtype {
        DType::Double | DType::Float if descr.is_native() => Ok(descr),
        _ => Err(unsupported(method, descr)),
    }
}

pub(super) fn unsupported(method: &str, descr: Descr) -> Error {
    Error::type_error(format!("Unsupported dtype dtype('{}') for {method}", descr.name()))
}

/// Reads an `out` argument.
fn out_argument(value: &Value, descr: Descr, row_major: bool) -> Result<Option<Array>> {
    if let Value::None = value {
        return Ok(None);
    }
    let refused = || {
        let which = if row_major { "C-contiguous" } else { "contiguous" };
        Error::value(format!("Supplied output array must be {which}, writable, aligned, and in machine byte-order."))
    };
    let object = NdArray::of(value).ok_or_else(refused)?;
    let array = object.array();
    let is_dense = array.is_c() || !row_major && array.is_f();
    if !is_dense || !object.is_writeable() || !array.is_aligned() || !array.descr.is_native() {
        return Err(refused());
    }
    if array.descr != descr {
        bail!(
            TypeError,
            "Supplied output array has the wrong type. Expected {}, got {}",
            descr.name(),
            array.descr.name()
        );
    }
    Ok(Some(array))
}

/// Draws numbers without parameters, in one of two precisions: `size`, `dtype` and, at `out_at`, `out`.
fn plain(
    random: &Random,
    method: &str,
    args: &Args,
    out_at: usize,
    wide: impl Fn(&mut Source<'_>) -> f64,
    narrow: impl Fn(&mut Source<'_>) -> f32,
) -> Result<Value> {
    let descr = float_dtype(method, &args.value(1))?;
    let is_wide = descr == Descr::DOUBLE;
    let draw = |source: &mut Source<'_>| Scalar::Float(if is_wide { wide(source) } else { f64::from(narrow(source)) });
    let Some(out) = out_argument(&args.value(out_at), descr, false)? else {
        return filled(random, &args.value(0), descr, draw);
    };
    if let Some(size) = arguments::size(&args.value(0))?
        && size != out.shape()
    {
        bail!(ValueError, "size must match out.shape when used together");
    }
    // Elements are drawn in the order of memory.
    let places = strided::Strided { offset: out.places.offset, ..strided::Strided::dense(&[out.count()], 8, false) };
    let places = strided::Strided { strides: [descr.itemsize() as i64].into_iter().collect(), ..places };
    fill(random, &out.at(places), draw)?;
    Ok(args.value(out_at))
}

/// `standard_gamma(shape, size=None, dtype=np.float64, out=None)` of `Generator`.
fn standard_gamma(random: &Random, args: &Args) -> Result<Value> {
    let descr = float_dtype("standard_gamma", &args.value(2))?;
    let distribution = Distribution::find(Api::Generator, "standard_gamma");
    let distribution = distribution.ok_or_else(|| Error::runtime("no such distribution"))?;
    let given = Given::read(&args.value(0), false)?;
    let checked = given.floats(given.shape())?;
    distribution.check(Api::Generator, &[&checked], given.is_scalar())?;
    let target = out_argument(&args.value(3), descr, true)?;
    let size = arguments::size(&args.value(1))?;
    let is_wide = descr == Descr::DOUBLE;
    let one = |source: &mut Source<'_>, shape: f64| {
        Scalar::Float(match is_wide {
            true => generator::standard_gamma(source, shape),
            false => f64::from(generator::standard_gamma_f32(source, shape as f32)),
        })
    };
    if let (true, None, None) = (given.is_scalar(), &target, &size) {
        let shape = checked.first().copied().unwrap_or(0.0);
        return random.with(|source| Ok(Value::from(one(source, shape))));
    }
    if let (Some(size), Some(target), true) = (&size, &target, given.is_scalar())
        && size != target.shape()
    {
        bail!(ValueError, "size must match out.shape when used together");
    }
    let shape = match (&target, size) {
        (Some(target), _) => target.shape().to_vec(),
        (None, Some(size)) => size,
        (None, None) => given.shape().to_vec(),
    };
    if !given.is_scalar() {
        check_size(&shape, &[given.shape()])?;
    }
    let shapes = given.floats(&shape)?;
    let (array, result) = match target {
        Some(target) => (target, args.value(3)),
        None => {
            let array = Array::unwritten(&shape, descr, false)?;
            (array.clone(), NdArray::value(array))
        }
    };
    let mut at = 0;
    fill(random, &array, |source| {
        let shape = shapes.get(at).or(shapes.first()).copied().unwrap_or(0.0);
        at += 1;
        one(source, shape)
    })?;
    Ok(result)
}

/// `bytes(length)`. A negative length counts from the end of the words that C's division leaves.
fn bytes(random: &Random, args: &Args) -> Result<Value> {
    let length = c_long(&args.value(0))?;
    let drawn = match length {
        0.. => length,
        _ if length.saturating_sub(1) / 4 + 1 > 0 => 4,
        _ => return Buffer::bytes(&[]).map(Value::Buffer),
    };
    let count = tensor::limits::count(drawn);
    tensor::limits::room(count)?;
    let mut data = random.with(|source| bounded::bytes(source.bits, count))?;
    if length < 0 {
        data.truncate(usize::try_from(4 + length).unwrap_or(0));
    }
    Buffer::bytes(&data).map(Value::Buffer)
}

fn seed(random: &Random, seed: &Value) -> Result<Value> {
    if random.bits.name() != "MT19937" {
        bail!(TypeError, "can only re-seed a MT19937 BitGenerator");
    }
    random.bits.store(&seeds::legacy(seed)?)?;
    let mut cache = random.cache()?;
    cache.reset_gauss();
    random.set_cache(&cache)?;
    Ok(Value::None)
}

/// `get_state(legacy=True)`.
fn get_state(random: &Random, args: &Args) -> Result<Value> {
    let gauss = random.cache()?.gauss;
    let entries =
        [("has_gauss", Value::Int(i64::from(gauss.is_some()))), ("gauss", Value::Float(gauss.unwrap_or(0.0)))];
    let mut state = random.bits.state()?;
    if random.bits.name() == "MT19937" && args.truth(0, true)? {
        let Some((_, Value::Dict(inner))) = state.get(1) else { bail!(RuntimeError, "no such generator") };
        let part = |name| inner.get_str(name).unwrap_or(Value::None);
        let [(_, has_gauss), (_, gauss)] = entries;
        return Ok(Value::tuple([Value::str("MT19937"), part("key"), part("pos"), has_gauss, gauss]));
    }
    state.extend(entries);
    Ok(Value::Dict(Dict::of_names(state)))
}

fn set_state(random: &Random, state: &Value) -> Result<Value> {
    let cached = |has_gauss: Option<Value>, gauss: Option<Value>| -> Result<()> {
        let mut cache = random.cache()?;
        let is_set = has_gauss.map(|value| create::integer(&value)).transpose()?.unwrap_or(0) != 0;
        let gauss = gauss.map(|value| arguments::real(&value)).transpose()?.map(|array| array.item()).transpose()?;
        cache.gauss = gauss.filter(|_| is_set).map(Scalar::to_f64);
        random.set_cache(&cache)
    };
    match state {
        Value::Dict(entries) => {
            let is_whole = entries.get_str("bit_generator").is_some() && entries.get_str("state").is_some();
            if !is_whole {
                bail!(ValueError, "state dictionary is not valid.");
            }
            random.bits.set_state(state)?;
            cached(entries.get_str("has_gauss"), entries.get_str("gauss"))?;
        }
        Value::Tuple(_) | Value::List(_) => {
            let items = state.sequence().unwrap_or_default();
            let Some(name) = items.first() else { bail!(IndexError, "tuple index out of range") };
            if !matches!(name, Value::Str(name) if &**name == "MT19937") {
                bail!(ValueError, "set_state can only be used with legacy MT19937 state instances.");
            }
            let (Some(key), Some(position)) = (items.get(1), items.get(2)) else {
                bail!(IndexError, "tuple index out of range")
            };
            let twister: Mt19937 = twister_of(key, position)?;
            if random.bits.name() != "MT19937" {
                bail!(ValueError, "state must be for a {} RNG", random.bits.name());
            }
            random.bits.store(&twister)?;
            cached(items.get(3).cloned(), items.get(4).cloned())?;
        }
        _ => bail!(TypeError, "state must be a dict or a tuple."),
    }
    Ok(Value::None)
}
