//! `torch.vmap`: turns a function of tensors into one of batches. It calls the function once for every item of the
//! batch and stacks the results. Follows <https://pytorch.org/docs/2.7/generated/torch.vmap.html>.

use super::callable::{Scripted, call_value, native, split_keywords};
use super::fault;
use super::runtime::Runtime;
use super::value::to_value;
use crate::bail;
use crate::functions::Steps;
use crate::tensor::{Error, Result};
use crate::value::Value;
use rhai::{Array, Dynamic, NativeCallContext};
use std::rc::Rc;

/// `vmap(func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None)`
pub fn vmap(state: &Rc<Runtime>, _: &NativeCallContext, args: Array) -> Scripted<Dynamic> {
    let (args, keywords) = split_keywords(args);
    let option = |place: usize, name: &str| match args.get(place).or_else(|| keywords.get(name)) {
        Some(given) => to_value(given).map_err(fault::thrown),
        None => Ok(Value::Int(0)),
    };
    let Some(function) = args.first().or_else(|| keywords.get("func")).cloned() else {
        return Err(fault::thrown(Error::type_error("vmap() missing 1 required positional argument: 'func'")));
    };
    let (in_dims, out_dims) = (option(1, "in_dims")?, option(2, "out_dims")?);
    let randomness = Randomness::of(state, &option(3, "randomness")?).map_err(fault::thrown)?;
    let state = state.clone();
    let mapped = native("vmap", move |context, args| {
        // Whatever happens within, outside of it random numbers are what they were.
        let before = state.random_refused.replace(randomness == Randomness::Error);
        let result = mapped(&state, context, &function, args, (&in_dims, &out_dims), randomness);
        state.random_refused.set(before);
        result
    })?;
    Ok(Dynamic::from(mapped))
}

/// The random numbers for the examples of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Randomness {
    Error,
    Different,
    Same,
}

impl Randomness {
    /// What the argument `randomness` says; left out, it arrives as a number.
    fn of(state: &Runtime, given: &Value) -> Result<Randomness> {
        match given {
            Value::Int(_) => Ok(Randomness::Error),
            Value::Str(name) if &**name == "error" => Ok(Randomness::Error),
            Value::Str(name) if &**name == "different" => Ok(Randomness::Different),
            Value::Str(name) if &**name == "same" => Ok(Randomness::Same),
            other => bail!(
                RuntimeError,
                "Only allowed values for randomness are 'error', 'different', or 'same'. Got {}",
                state.str(other)?
            ),
        }
    }
}

fn mapped(
    state: &Rc<Runtime>,
    context: &NativeCallContext,
    function: &Dynamic,
    args: Array,
    (in_dims, out_dims): (&Value, &Value),
    randomness: Randomness,
) -> Scripted<Dynamic> {
    let (args, keywords) = split_keywords(args);
    let values = args.iter().map(to_value).collect::<Result<Vec<Value>>>().map_err(fault::thrown)?;
    let dims = each_dim(in_dims, values.len()).map_err(fault::thrown)?;
    let mut sizes = Vec::new();
    for (dim, value) in dims.iter().zip(&values) {
        measure(dim, value, &mut sizes).map_err(|error| fault::thrown(named(state, error, function, in_dims)))?;
    }
    let count = batch_size(&sizes).map_err(fault::thrown)?;
    let mut results = Vec::new();
    let start = state.generator.borrow().clone();
    for item in 0..count {
        if randomness == Randomness::Same {
            state.generator.replace(start.clone());
        }
        let give = |dim: &Value, value: &Value| {
            taken(state, dim, value, item).and_then(|value| state.give(value)).map_err(fault::thrown)
        };
        let args = dims.iter().zip(&values).map(|(dim, value)| give(dim, value)).collect::<Scripted<Array>>()?;
        // Keywords are not mapped.
        let result = call_value(state, context, function, args, keywords.clone())?;
        results.push(to_value(&result).map_err(fault::thrown)?);
    }
    stacked(state, &results, out_dims).and_then(|value| state.give(value)).map_err(fault::thrown)
}

/// An error about the arguments, with the function's name in front.
fn named(state: &Runtime, error: Error, function: &Dynamic, in_dims: &Value) -> Error {
    let name = match function.read_lock::<rhai::FnPtr>() {
        Some(pointer) if pointer.is_anonymous() => "<lambda>".to_owned(),
        Some(pointer) => pointer.fn_name().to_owned(),
        None => match to_value(function) {
            Ok(Value::Function(name)) => name.rsplit('.').next().unwrap_or_default().to_owned(),
            _ => "function".to_owned(),
        },
    };
    let dims = state.repr(in_dims).unwrap_or_default();
    Error::new(error.kind, format!("vmap({name}, in_dims={dims}, ...)(<inputs>): {}", error.message))
}

/// The dimensions for each argument.
fn each_dim(in_dims: &Value, count: usize) -> Result<Vec<Value>> {
    if count == 0 {
        bail!(
            ValueError,
            "vmap(<function>)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a \
             function with no inputs. The latter is unsupported."
        );
    }
    match in_dims {
        Value::Tuple(dims) | Value::List(dims) if dims.len() == count => Ok(dims.to_vec()),
        Value::Tuple(_) | Value::List(_) => {
            bail!(ValueError, "vmap: in_dims is not compatible with the structure of `inputs`.")
        }
        one => Ok(vec![one.clone(); count]),
    }
}

/// Collects the sizes of the mapped dimensions.
fn measure(dim: &Value, value: &Value, sizes: &mut Vec<i64>) -> Result<()> {
    match (dim, value) {
        (Value::None, _) => Ok(()),
        (Value::Int(dim), Value::Tensor(tensor)) => {
            let view = tensor.borrow();
            let ndim = view.ndim() as i64;
            if !(-ndim..ndim).contains(dim) {
                bail!(
                    ValueError,
                    "Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so \
                     expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
                );
            }
            let place = if *dim < 0 { dim + ndim } else { *dim };
            sizes.extend(view.sizes().get(place as usize));
            Ok(())
        }
        (dim, Value::Dict(entries)) => {
            entries.iter().try_for_each(|(key, value)| measure(&within(dim, key), value, sizes))
        }
        (dim, value) => match value.sequence() {
            Some(items) => items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| measure(&within(dim, &Value::Int(i as i64)), item, sizes)),
            None => bail!(
                ValueError,
                "Got in_dim={} for an input but the input is of type <class '{}'>. We cannot vmap over non-Tensor \
                 arguments, please use None as the respective in_dim",
                if let Value::Int(dim) = dim { dim.to_string() } else { dim.type_name().to_owned() },
                value.class_name()
            ),
        },
    }
}

/// The dimension for a part of an argument: one for all, or each its own.
fn within(dim: &Value, key: &Value) -> Value {
    match dim {
        Value::Dict(entries) => {
            let own = entries.iter().find(|(name, _)| crate::value::equality::equal(name, key));
            own.map_or(Value::None, |(_, dim)| dim.clone())
        }
        Value::Tuple(dims) | Value::List(dims) => match key {
            Value::Int(i) => dims.get(*i as usize).cloned().unwrap_or(Value::None),
            _ => Value::None,
        },
        one => one.clone(),
    }
}

fn batch_size(sizes: &[i64]) -> Result<i64> {
    let Some(&first) = sizes.first() else { bail!(ValueError, "vmap: Expected at least one Tensor to vmap over") };
    if sizes.iter().any(|&size| size != first) {
        bail!(
            ValueError,
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped \
             dimension",
            crate::tensor::layout::show(sizes)
        );
    }
    Ok(first)
}

/// An argument as the function sees it for one item of the batch.
fn taken(state: &Runtime, dim: &Value, value: &Value, item: i64) -> Result<Value> {
    match (dim, value) {
        (Value::None, value) => Ok(value.clone()),
        (Value::Int(dim), Value::Tensor(tensor)) => {
            Steps(state).on(tensor, "select", &[Value::Int(*dim), Value::Int(item)]).map(Value::Tensor)
        }
        (dim, Value::Dict(entries)) => {
            let part = |(key, value): &(Value, Value)| Ok((key.clone(), taken(state, &within(dim, key), value, item)?));
            Ok(Value::Dict(entries.iter().map(part).collect::<Result<_>>()?))
        }
        (dim, value) => {
            let items = value.sequence().unwrap_or_default();
            let part = |(i, value): (usize, &Value)| taken(state, &within(dim, &Value::Int(i as i64)), value, item);
            let parts = items.iter().enumerate().map(part).collect::<Result<Vec<Value>>>()?;
            Ok(if let Value::List(_) = value { Value::list(parts) } else { Value::tuple(parts) })
        }
    }
}

/// The results of all items as one.
fn stacked(state: &Runtime, results: &[Value], out_dims: &Value) -> Result<Value> {
    match results.first() {
        Some(Value::Tensor(_)) => {
            let dim = match out_dims {
                Value::Tuple(dims) | Value::List(dims) => dims.first().cloned().unwrap_or(Value::Int(0)),
                one => one.clone(),
            };
            Steps(state).torch("stack", &[Value::list(results.iter().cloned()), dim])
        }
        Some(Value::Tuple(parts) | Value::List(parts)) => {
            let columns = (0..parts.len()).map(|i| {
                let column: Vec<Value> =
                    results.iter().filter_map(|result| result.sequence().and_then(|row| row.get(i).cloned())).collect();
                stacked(state, &column, &within(out_dims, &Value::Int(i as i64)))
            });
            Ok(Value::tuple(columns.collect::<Result<Vec<Value>>>()?))
        }
        Some(Value::Dict(entries)) => {
            let column = |key: &Value| {
                let entry = |result: &Value| match result {
                    Value::Dict(entries) => entries
                        .iter()
                        .find(|(name, _)| crate::value::equality::equal(name, key))
                        .map(|(_, value)| value.clone()),
                    _ => None,
                };
                stacked(state, &results.iter().filter_map(entry).collect::<Vec<_>>(), &within(out_dims, key))
            };
            let columns = entries.iter().map(|(key, _)| Ok((key.clone(), column(key)?)));
            Ok(Value::Dict(columns.collect::<Result<_>>()?))
        }
        Some(other) => bail!(
            ValueError,
            "vmap(<function>, ...): `<function>` must only return Tensors, got type {}.",
            other.type_name()
        ),
        None => bail!(RuntimeError, "vmap: an empty batch has no results to stack"),
    }
}
