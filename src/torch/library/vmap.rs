//! `torch.vmap`: turns a function of tensors into one of batches. The function is called once for every item of the
//! batch, and the results are stacked. Follows <https://pytorch.org/docs/2.7/generated/torch.vmap.html>.

use crate::Steps;
use call::{Call, Keywords, Row, State, function, stack};
use objects::calling::{NativeFunction, call_value, name_of};
use tensor::{Error, Result, bail};
use value::{Dict, Value};

pub(super) const ROWS: &[Row] = &[function(
    "vmap(any func, any in_dims=0, any out_dims=0, any randomness=\"error\", *, any chunk_size=None) -> any",
    vmap,
    "Returns a function of batches that calls a function with each of their items.",
)
.python("vmap")
.aliases(&["func.vmap"])];

fn vmap(call: &mut Call) -> Result<Value> {
    let (function, in_dims, out_dims) = (call.value(0), call.value(1), call.value(2));
    let randomness = Randomness::of(call.state, &call.value(3))?;
    match call.value(4) {
        Value::Int(size) if size <= 0 => {
            bail!(ValueError, "vmap: `chunk_size` should be None or greater than 0. (got {size})")
        }
        _ => {}
    }
    let state = call.state.handle();
    Ok(NativeFunction::around(&function.clone(), move |args, keywords| {
        // Restores the outer setting for random numbers, even after an error.
        let before = state.random_refused.replace(randomness == Randomness::Error);
        let result = mapped(&state, &function, args, keywords, (&in_dims, &out_dims), randomness);
        state.random_refused.set(before);
        result
    }))
}

/// How random numbers differ between the examples of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Randomness {
    Error,
    Different,
    Same,
}

impl Randomness {
    /// Parses the argument `randomness`.
    fn of(state: &State, given: &Value) -> Result<Randomness> {
        match given {
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
    state: &State,
    function: &Value,
    args: Vec<Value>,
    keywords: Keywords,
    (in_dims, out_dims): (&Value, &Value),
    randomness: Randomness,
) -> Result<Value> {
    let dims = each_dim(function, in_dims, args.len())?;
    let mut sizes = Vec::new();
    for (dim, value) in dims.iter().zip(&args) {
        measure(dim, value, &mut sizes).map_err(|error| named(state, error, function, in_dims))?;
    }
    let count = batch_size(&sizes)?;
    let mut results = Vec::new();
    let start = state.generator.borrow().clone();
    for item in 0..count {
        if randomness == Randomness::Same {
            state.generator.replace(start.clone());
        }
        let args = dims.iter().zip(&args).map(|(dim, value)| taken(state, dim, value, item));
        // Keyword arguments are passed on without mapping.
        results.push(call_value(state, function, args.collect::<Result<_>>()?, keywords.clone())?);
    }
    stacked(state, function, &results, out_dims)
}

/// Prefixes an error about the arguments with the function's name.
fn named(state: &State, error: Error, function: &Value, in_dims: &Value) -> Error {
    let name = name_of(function).unwrap_or_else(|| "function".into());
    let dims = state.repr(in_dims).unwrap_or_default();
    Error::new(error.kind, format!("vmap({name}, in_dims={dims}, ...)(<inputs>): {}", error.message))
}

/// Returns the dimension to map for each argument.
fn each_dim(function: &Value, in_dims: &Value, count: usize) -> Result<Vec<Value>> {
    if count == 0 {
        let name = name_of(function).unwrap_or_else(|| "function".into());
        bail!(
            ValueError,
            "vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a \
             function with no inputs. The latter is unsupported."
        );
    }
    match in_dims.items() {
        Some(dims) if dims.len() == count => Ok(dims.to_vec()),
        Some(_) => bail!(ValueError, "vmap: in_dims is not compatible with the structure of `inputs`."),
        None => Ok(vec![in_dims.clone(); count]),
    }
}

/// Collects the sizes of the mapped dimensions.
fn measure(dim: &Value, value: &Value, sizes: &mut Vec<i64>) -> Result<()> {
    // A list can contain itself, so the depth is checked.
    stack::check()?;
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
        (dim, Value::Dict(dict)) => {
            dict.to_vec().iter().try_for_each(|(key, value)| measure(&within(dim, key), value, sizes))
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

/// Returns the dimension for an item of an argument: the same for all items, or the item's own.
fn within(dim: &Value, key: &Value) -> Value {
    match dim {
        Value::Dict(dict) => dict.get(key).ok().flatten().unwrap_or(Value::None),
        _ => match (dim.items(), key) {
            (Some(dims), Value::Int(i)) => dims.get(*i as usize).cloned().unwrap_or(Value::None),
            (Some(_), _) => Value::None,
            (None, _) => dim.clone(),
        },
    }
}

fn batch_size(sizes: &[i64]) -> Result<i64> {
    let Some(&first) = sizes.first() else { bail!(ValueError, "vmap: Expected at least one Tensor to vmap over") };
    if sizes.iter().any(|&size| size != first) {
        bail!(
            ValueError,
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped \
             dimension",
            tensor::layout::show(sizes)
        );
    }
    Ok(first)
}

/// Returns an argument as the function gets it for one item of the batch.
fn taken(state: &State, dim: &Value, value: &Value, item: i64) -> Result<Value> {
    match (dim, value) {
        (Value::None, value) => Ok(value.clone()),
        (Value::Int(dim), Value::Tensor(tensor)) => {
            Steps(state).on(tensor, "select", &[Value::Int(*dim), Value::Int(item)]).map(Value::Tensor)
        }
        (dim, Value::Dict(dict)) => {
            let part = |(key, value): &(Value, Value)| Ok((key.clone(), taken(state, &within(dim, key), value, item)?));
            let parts = dict.to_vec().iter().map(part).collect::<Result<Vec<_>>>()?;
            Ok(Value::Dict(Dict::new(parts)?.to_kind(dict.is_ordered())))
        }
        (dim, value) => {
            let items = value.sequence().unwrap_or_default();
            let part = |(i, value): (usize, &Value)| taken(state, &within(dim, &Value::Int(i as i64)), value, item);
            let parts = items.iter().enumerate().map(part).collect::<Result<Vec<Value>>>()?;
            Ok(if let Value::List(_) = value { Value::list(parts) } else { Value::tuple(parts) })
        }
    }
}

/// Stacks the results of all items.
fn stacked(state: &State, function: &Value, results: &[Value], out_dims: &Value) -> Result<Value> {
    stack::check()?;
    match results.first() {
        Some(Value::Tensor(_)) => {
            let dim = match out_dims.items() {
                Some(dims) => dims.first().cloned().unwrap_or(Value::Int(0)),
                None => out_dims.clone(),
            };
            Steps(state).torch("stack", &[Value::list(results.iter().cloned()), dim])
        }
        Some(row @ (Value::Tuple(_) | Value::List(_))) => {
            let columns = (0..row.items().map_or(0, |row| row.len())).map(|i| {
                let column: Vec<Value> =
                    results.iter().filter_map(|result| result.sequence().and_then(|row| row.get(i).cloned())).collect();
                stacked(state, function, &column, &within(out_dims, &Value::Int(i as i64)))
            });
            Ok(Value::tuple(columns.collect::<Result<Vec<Value>>>()?))
        }
        Some(Value::Dict(dict)) => {
            let column = |key: &Value| {
                let entry = |result: &Value| match result {
                    Value::Dict(dict) => dict.get(key).ok().flatten(),
                    _ => None,
                };
                stacked(state, function, &results.iter().filter_map(entry).collect::<Vec<_>>(), &within(out_dims, key))
            };
            let columns = dict.to_vec().into_iter().map(|(key, _)| column(&key).map(|column| (key, column)));
            Dict::new(columns.collect::<Result<Vec<_>>>()?).map(Value::Dict)
        }
        Some(other) => {
            let name = name_of(function).unwrap_or_else(|| "function".into());
            bail!(
                ValueError,
                "vmap({name}, ...): `{name}` must only return Tensors, got type <class '{}'>. Did you mean to set out_dims= to None \
                 for output?",
                other.class_name()
            )
        }
        None => bail!(RuntimeError, "vmap: an empty batch has no results to stack"),
    }
}
