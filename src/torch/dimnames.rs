//! Functions that name the dimensions of tensors, and functions that take these names.
//! Follows <https://pytorch.org/docs/2.7/named_tensor.html>.

#[cfg(test)]
use call::Run;
use call::bind::Bound;
use call::dispatch::call_below;
use call::dispatch::names::{give, set};
use call::facets::NameInference::Itself;
use call::one;
use call::signature::Kind;
use call::state::State;
use call::{Call, Row, function, method};
use tensor::bail;
use tensor::layout::{infer_size, show, wrap_dim};
use tensor::names::{check_identifier, check_valid, position, show_name, show_names};
use tensor::{Dims, Error, Name, Result, Tensor};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "align_tensors(any[] tensors) -> any",
        |_| bail!(RuntimeError, "`align_tensors` not yet implemented."),
        "Gives tensors one order of dimensions; not yet implemented in PyTorch.",
    )
    .names(Itself)
    .python("align_tensors")
    .not_differentiable(),
    method(
        "has_names(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.has_names())),
        "Returns whether any dimension has a name.",
    )
    .names(Itself),
    method(
        "rename(Tensor self, any[] names, *, any{} rename_map) -> Tensor",
        |c| rename(c, "rename"),
        "Returns a view with other names, given in order or from old to new.",
    )
    .names(Itself)
    .python("Tensor.rename")
    .not_differentiable(),
    method(
        "rename_(Tensor self, any[] names, *, any{} rename_map) -> Tensor",
        |c| rename(c, "rename_"),
        "Renames the dimensions in place, in order or from old to new.",
    )
    .names(Itself)
    .python("Tensor.rename_")
    .not_differentiable(),
    method(
        "refine_names(Tensor self, any[] names) -> Tensor",
        refine_names,
        "Returns a view that names unnamed dimensions.",
    )
    .names(Itself)
    .python("Tensor.refine_names")
    .not_differentiable(),
    method(
        "align_to(Tensor self, any[] names) -> Tensor",
        align_to,
        "Returns a view with the dimensions in the order of the names, new ones of size 1.",
    )
    .names(Itself)
    .python("Tensor.align_to")
    .not_differentiable(),
    method(
        "align_as(Tensor self, Tensor other) -> Tensor",
        |c| {
            let names = c.tensor(1)?.all_names();
            aligned(c.state, c.tensor(0)?, &names)
        },
        "Returns a view with the dimensions in the order of another tensor's.",
    )
    .names(Itself)
    .not_differentiable(),
    // PyTorch implements `rename`, `rename_`, `refine_names` and `align_to` in Python, on top of these functions.
    method(
        "_VF.rename(Tensor(a) self, Dimname[]? names) -> Tensor(a)",
        |c| {
            let names = given(c, 1)?;
            renamed(c.state, c.tensor(0)?, names.as_deref())
        },
        "Returns a view with other names.",
    )
    .names(Itself)
    .not_differentiable(),
    method(
        "_VF.rename_(Tensor(a!) self, Dimname[]? names) -> Tensor(a!)",
        |c| {
            name(c.state, c.tensor(0)?, given(c, 1)?.as_deref())?;
            Ok(c.itself())
        },
        "Renames the dimensions in place.",
    )
    .names(Itself)
    .not_differentiable(),
    method(
        "_VF.refine_names(Tensor(a) self, Dimname[] names) -> Tensor(a)",
        refined,
        "Returns a view with more names.",
    )
    .names(Itself)
    .not_differentiable(),
    method(
        "_VF.align_to(Tensor(a) self, Dimname[] names) -> Tensor(a)",
        |c| {
            let names = given(c, 1)?.unwrap_or_default();
            aligned(c.state, c.tensor(0)?, &names)
        },
        "Returns a view with the dimensions in order.",
    )
    .names(Itself)
    .not_differentiable(),
    method(
        "_VF.align_to.ellipsis_idx(Tensor(a) self, Dimname[] order, int ellipsis_idx) -> Tensor(a)",
        aligned_around,
        "Returns a view with the dimensions in order and the unmentioned ones in one place.",
    ),
];

/// Returns the names in an argument, or `None` for the argument `None`.
///
/// # Errors
/// TypeError if a name is neither a string nor `None`.
pub(crate) fn given(call: &Call, index: usize) -> Result<Option<Vec<Name>>> {
    call.value(index).sequence().map(|items| items.iter().map(name_of).collect()).transpose()
}

/// Converts a value to a name. The binder has already checked its characters.
fn name_of(value: &Value) -> Result<Name> {
    match value {
        Value::None => Ok(None),
        Value::Str(name) => Ok(Some(name.to_rc())),
        other => bail!(TypeError, "expected None or string for Dimname but got {}", other.type_name()),
    }
}

/// Sets the names of a tensor, or removes them.
///
/// # Errors
/// RuntimeError if there are too few or too many names, or if a name is repeated.
pub(crate) fn name(state: &State, tensor: &Tensor, names: Option<&[Name]>) -> Result<()> {
    let Some(names) = names else {
        tensor.set_names(&[]);
        return Ok(());
    };
    check_valid(tensor.borrow().ndim(), names)?;
    set(state, tensor, names);
    Ok(())
}

/// Calls a factory and gives its tensor the names of its data, or those in the `names` argument.
///
/// # Errors
/// Those of [`name`].
pub(crate) fn made(call: &mut Call, make: impl FnOnce(&mut Call) -> Result<Value>) -> Result<Value> {
    let tensor = make(call)?;
    let names = call.position("names").map_or(Ok(None), |index| given(call, index))?;
    if let (Value::Tensor(made), Value::Tensor(data)) = (&tensor, call.value(0))
        && let Some(known) = data.names()
    {
        give(call.state, made, Some(&known))?;
    }
    if let (Some(names), Value::Tensor(tensor)) = (names, &tensor) {
        if tensor.has_names() {
            give(call.state, tensor, Some(&names))?;
            return Ok(Value::Tensor(tensor.clone()));
        }
        if tensor.borrow().device().is_meta() && names.iter().any(Option::is_some) {
            bail!(RuntimeError, "NYI: named tensors only support CPU, CUDA, XPU or privateuseone tensors.");
        }
        name(call.state, tensor, Some(&names))?;
    }
    Ok(tensor)
}

/// `tensor.names = names`.
pub(crate) fn set_names(call: &mut Call) -> Result<Value> {
    let names = match &call.value(1) {
        Value::None => None,
        given if let Some(items) = given.items() => {
            let names = items.iter().map(name_of).collect::<Result<Vec<Name>>>()?;
            names.iter().flatten().try_for_each(|name| check_identifier(name))?;
            Some(names)
        }
        _ => bail!(RuntimeError, "names must either be None or a tuple of dim names"),
    };
    name(call.state, call.tensor(0)?, names.as_deref())?;
    Ok(Value::None)
}

/// Returns an alias of the tensor with these names.
fn renamed(state: &State, tensor: &Tensor, names: Option<&[Name]>) -> Result<Value> {
    let alias = nameless(state, "alias", &[Value::Tensor(tensor.clone())])?;
    name(state, &alias, names)?;
    Ok(Value::Tensor(alias))
}

/// Calls a function of the table with dimension names switched off.
fn nameless(state: &State, key: &str, args: &[Value]) -> Result<Tensor> {
    let before = state.nameless.replace(true);
    let result = autograd::Functions::call(state, key, args);
    state.nameless.set(before);
    one(result?)
}

fn is_ellipsis(value: &Value) -> bool {
    matches!(value, Value::Ellipsis) || matches!(value, Value::Str(text) if &**text == "...")
}

/// Returns the position of `...` in a list of names.
fn ellipsis(state: &State, names: &[Value], function: &str) -> Result<Option<usize>> {
    let mut places = names.iter().enumerate().filter(|(_, name)| is_ellipsis(name)).map(|(i, _)| i);
    match (places.next(), places.next()) {
        (_, Some(_)) => bail!(
            RuntimeError,
            "{function}: More than one Ellipsis ('...') found in names ({}). This function supports up to one \
 Ellipsis.",
            state.repr(&Value::tuple(names.iter().cloned()))?
        ),
        (place, None) => Ok(place),
    }
}

fn values_of(names: &[Name]) -> Vec<Value> {
    names.iter().map(|name| name.as_ref().map_or(Value::None, |name| Value::Str(name.clone().into()))).collect()
}

/// Returns a tensor's names as a Python tuple.
pub(crate) fn names_of(tensor: &Tensor) -> Value {
    Value::tuple(values_of(&tensor.all_names()))
}

/// Replaces `...` in a list of names by the tensor's own names at that position.
fn without_ellipsis(call: &Call, function: &str) -> Result<Value> {
    let names = call.value(1).sequence().unwrap_or_default();
    let Some(place) = ellipsis(call.state, &names, function)? else { return Ok(Value::tuple(names.iter().cloned())) };
    let known = values_of(&call.tensor(0)?.all_names());
    let behind = names.len() - place - 1;
    let filled = known.get(place..known.len().saturating_sub(behind)).unwrap_or_default();
    let parts = [&names[..place], filled, &names[place + 1..]];
    Ok(Value::tuple(parts.concat()))
}

fn rename(call: &mut Call, function: &'static str) -> Result<Value> {
    let (this, names, map) = (call.value(0), call.value(1).sequence().unwrap_or_default(), call.value(2));
    let entries = map.entries().unwrap_or_default();
    if !names.is_empty() && !entries.is_empty() {
        bail!(
            RuntimeError,
            "{function}: This function takes either positional args or keyword args, but not both. Use \
             tensor.{function}(*names) to name dims and tensor.{function}(**rename_map) to rename dims."
        );
    }
    let wanted = match names.as_slice() {
        [Value::None] => Value::None,
        _ if entries.is_empty() => without_ellipsis(call, function)?,
        _ => {
            let mut changed = values_of(&call.tensor(0)?.all_names());
            let known = call.tensor(0)?.all_names();
            for (old, new) in entries.iter() {
                let Value::Str(old) = old else { continue };
                match known.iter().position(|name| name.as_deref() == Some(&**old)) {
                    Some(place) => changed[place] = new.clone(),
                    None => bail!(
                        RuntimeError,
                        "{function}: Tried to rename dim '{old}' to dim {} in Tensor[{}] but dim '{old}' does not exist",
                        call.state.str(new)?,
                        call.state.repr(&names_of(call.tensor(0)?))?
                    ),
                }
            }
            Value::tuple(changed)
        }
    };
    call_below(call.state, function, &[this, wanted])
}

fn refine_names(call: &mut Call) -> Result<Value> {
    let names = without_ellipsis(call, "refine_names")?;
    call_below(call.state, "refine_names", &[call.value(0), names])
}

fn refined(call: &mut Call) -> Result<Value> {
    let this = call.tensor(0)?;
    let (old, new) = (this.all_names(), given(call, 1)?.unwrap_or_default());
    let refused = |why: String| {
        let (old, new) = (show_names(&old), show_names(&new));
        Error::runtime(format!("refine_names: cannot coerce Tensor{old} to Tensor{new} because {why}"))
    };
    if old.len() != new.len() {
        let (had, has) = (old.len(), new.len());
        return Err(refused(format!("they have a different number of dims ({had} and {has} respectively).")));
    }
    check_valid(old.len(), &new)?;
    for (i, pair) in old.iter().zip(&new).enumerate() {
        let how = match pair {
            (Some(_), None) => "more specific than",
            (Some(old), Some(new)) if old != new => "different from",
            _ => continue,
        };
        return Err(refused(format!("{} is {how} {} at index {i}", show_name(pair.0), show_name(pair.1))));
    }
    renamed(call.state, this, Some(&new))
}

fn align_to(call: &mut Call) -> Result<Value> {
    let names = call.value(1).sequence().unwrap_or_default();
    let this = call.value(0);
    match ellipsis(call.state, &names, "align_to")? {
        None => call_below(call.state, "align_to", &[this, Value::tuple(names.iter().cloned())]),
        Some(place) => {
            let others = Value::list(names.iter().filter(|name| !is_ellipsis(name)).cloned());
            call_below(call.state, "align_to", &[this, others, Value::Int(place as i64)])
        }
    }
}

/// Permutes the dimensions of `tensor` to the positions in `places` and renames them. A position without a source
/// dimension has size 1.
fn placed(state: &State, tensor: &Tensor, names: &[Name], places: &[Option<usize>]) -> Result<Value> {
    let layout = tensor.borrow().layout.clone();
    let mut sizes = Dims::from_elem(1, names.len());
    let mut strides = Dims::from_elem(0, names.len());
    for (new, old) in places.iter().enumerate() {
        if let Some(old) = old {
            (sizes[new], strides[new]) = (layout.sizes[*old], layout.strides[*old]);
        }
    }
    let view =
        nameless(state, "as_strided", &[Value::Tensor(tensor.clone()), Value::Size(sizes), Value::Size(strides)])?;
    name(state, &view, Some(names))?;
    Ok(Value::Tensor(view))
}

/// Permutes the dimensions to the order of `names`, which must contain every name of the tensor.
fn aligned(state: &State, tensor: &Tensor, names: &[Name]) -> Result<Value> {
    let known = tensor.all_names();
    let mut places = vec![None; names.len()];
    for (i, name) in known.iter().enumerate() {
        if name.is_none() {
            bail!(
                RuntimeError,
                "align_to: All input dims must be named. Found unnamed dim at index {i} of Tensor{}",
                show_names(&known)
            );
        }
        let Some(place) = names.iter().position(|wanted| wanted == name) else {
            bail!(
                RuntimeError,
                "align_to: Cannot find dim {} from Tensor{wanted} in desired alignment {wanted}.",
                show_name(name),
                wanted = show_names(names)
            );
        };
        places[place] = Some(i);
    }
    placed(state, tensor, names, &places)
}

/// Permutes the dimensions to the order of the given names. Dimensions that are not named are inserted together at one
/// position.
fn aligned_around(call: &mut Call) -> Result<Value> {
    let (tensor, order) = (call.tensor(0)?, given(call, 1)?.unwrap_or_default());
    if order.iter().any(Option::is_none) {
        bail!(
            RuntimeError,
            "align_to: the desired order of dimensions cannot contain a None name, got {}",
            show_names(&order)
        );
    }
    let known = tensor.all_names();
    let wanted = order.iter().map(|name| (name.clone(), known.iter().position(|k| k == name)));
    let rest = (0..known.len()).filter(|i| !order.contains(&known[*i])).map(|i| (known[i].clone(), Some(i)));
    let mut all: Vec<(Name, Option<usize>)> = wanted.collect();
    let place = usize::try_from(call.int(2)?).unwrap_or(0).min(all.len());
    all.splice(place..place, rest);
    let (names, places): (Vec<Name>, Vec<Option<usize>>) = all.into_iter().unzip();
    check_valid(names.len(), &names)?;
    placed(call.state, tensor, &names, &places)
}

/// Functions that look up the second of two names first.
const LAST_FIRST: &[&str] = &["transpose", "diagonal"];

/// Replaces dimension names by positions and calls the overload of the same function that takes positions.
///
/// # Errors
/// RuntimeError if the tensor does not have a name, and any error of that overload.
pub(crate) fn by_position(call: &mut Call) -> Result<Value> {
    let names = known_names(call)?;
    let Some(sibling) = call.state.registry.by_position(call.signature) else {
        bail!(RuntimeError, "{} takes no dimension by name", call.signature.name);
    };
    let params = &call.signature.params;
    let mut given = call.args.clone();
    let mut places: Vec<usize> = (0..params.len()).filter(|&i| params[i].kind.is_of_names()).collect();
    if LAST_FIRST.contains(&call.signature.name) {
        places.reverse();
    }
    for place in places {
        given[place] = match call.value(place).sequence() {
            Some(list) => Value::Size(list.iter().map(|name| place_of(&names, name)).collect::<Result<Dims>>()?),
            None => Value::Int(place_of(&names, &call.value(place))?),
        };
    }
    let mut args = Bound::new();
    for param in &sibling.signature.params {
        let value = params.iter().position(|known| known.name == param.name).map(|at| given[at].clone());
        args.push(match (value, param.kind) {
            (Some(Value::Int(dim)), Kind::Ints(_)) => Value::size(&[dim]),
            (Some(value), _) => value,
            (None, _) => param.default.map_or(Value::None, |default| default.to_value()),
        });
    }
    call::dispatch::invoke(sibling, &mut Call::of(call.state, sibling, args))
}

/// Like [`by_position`], but for functions that PyTorch supports with names in this form only. The tensor keeps its
/// names.
pub(crate) fn in_place_by_position(call: &mut Call) -> Result<Value> {
    let state = call.state;
    let names = known_names(call)?;
    let before = state.nameless.replace(true);
    let result = by_position(call);
    state.nameless.set(before);
    let result = result?;
    name(state, call.tensor(0)?, Some(&names))?;
    Ok(result)
}

/// Returns the names of the first tensor argument, or of the first tensor of a list.
fn known_names(call: &Call) -> Result<tensor::Names> {
    match call.args.first() {
        Some(Value::Tensor(tensor)) => Ok(tensor.all_names()),
        Some(list) => match list.sequence().unwrap_or_default().first() {
            Some(Value::Tensor(tensor)) => Ok(tensor.all_names()),
            _ => bail!(RuntimeError, "expected a non-empty list of Tensors"),
        },
        None => bail!(RuntimeError, "expected a Tensor"),
    }
}

fn place_of(names: &[Name], name: &Value) -> Result<i64> {
    position(names, &name_of(name)?).map(|place| place as i64)
}

/// Fails with RuntimeError: PyTorch declares these overloads but does not implement them.
pub(crate) fn not_yet(call: &mut Call) -> Result<Value> {
    bail!(
        RuntimeError,
        "{}: You passed a dimname (string) to this op in place of a dimension index but it does not yet support this \
         behavior. Please pass a dimension index to work around this.",
        call.signature.name.trim_end_matches('_')
    )
}

/// `flatten(start, end, out_dim)` and its overloads: flattens a range of dimensions into one and names it.
fn flattened(call: &Call, start: i64, end: i64, out: &Name) -> Result<Value> {
    let this = call.tensor(0)?;
    let (ndim, names) = (this.borrow().ndim(), this.all_names());
    let (first, last) = (wrap_dim(start, ndim)?, wrap_dim(end, ndim)?);
    if first > last {
        bail!(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim");
    }
    let flat = nameless(call.state, "flatten.using_ints", &[call.value(0), Value::Int(start), Value::Int(end)])?;
    let rest = names.get(last + 1..).unwrap_or_default();
    let names = [&names[..first.min(ndim)], std::slice::from_ref(out), rest].concat();
    name(call.state, &flat, Some(&names))?;
    Ok(Value::Tensor(flat))
}

pub(crate) fn flatten_named(call: &mut Call) -> Result<Value> {
    let out = name_of(&call.value(3))?;
    flattened(call, call.int(1)?, call.int(2)?, &out)
}

pub(crate) fn flatten_between(call: &mut Call) -> Result<Value> {
    let names = known_names(call)?;
    let (start, end) = (place_of(&names, &call.value(1))?, place_of(&names, &call.value(2))?);
    flattened(call, start, end, &name_of(&call.value(3))?)
}

pub(crate) fn flatten_list(call: &mut Call) -> Result<Value> {
    let names = known_names(call)?;
    let dims = given(call, 1)?.unwrap_or_default();
    let places = dims.iter().map(|dim| position(&names, dim)).collect::<Result<Vec<usize>>>()?;
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        bail!(RuntimeError, "flatten(tensor, dims, out_dim): dims cannot be empty");
    };
    if places.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
        bail!(
            RuntimeError,
            "flatten(tensor, dims, out_dim): dims {} must be consecutive in Tensor{}",
            show_names(&dims),
            show_names(&names)
        );
    }
    flattened(call, *first as i64, *last as i64, &name_of(&call.value(2))?)
}

/// `unflatten(dim, sizes, names)`.
pub(crate) fn unflatten(call: &mut Call) -> Result<Value> {
    let (this, new) = (call.tensor(0)?, given(call, 3)?.unwrap_or_default());
    let (names, sizes) = (this.all_names(), call.ints(2)?);
    let dim = place_of(&names, &call.value(1))?;
    let at = wrap_dim(dim, names.len())?;
    if sizes.is_empty() {
        bail!(RuntimeError, "unflatten: sizes must be non-empty");
    }
    if sizes.len() != new.len() {
        bail!(
            RuntimeError,
            "!names || names->size() == sizes.size() INTERNAL ASSERT FAILED at \
             \"/pytorch/aten/src/ATen/native/TensorShape.cpp\":4245, please report a bug to PyTorch. "
        );
    }
    let size = this.borrow().sizes()[at];
    if infer_size(&sizes, size).is_err_and(|error| error.message.contains("is invalid for input of size")) {
        bail!(
            RuntimeError,
            "unflatten: Provided sizes {} don't multiply up to the size of dim {at} ({}: {size}) in Tensor{}",
            show(&sizes),
            show_name(&names[at]),
            show_names(&names)
        );
    }
    let split = nameless(call.state, "unflatten.int", &[call.value(0), Value::Int(dim), Value::Size(sizes)])?;
    let names = [&names[..at], &new, names.get(at + 1..).unwrap_or_default()].concat();
    name(call.state, &split, Some(&names))?;
    Ok(Value::Tensor(split))
}

/// `diagonal(outdim=, dim1=, dim2=)`.
pub(crate) fn diagonal(call: &mut Call) -> Result<Value> {
    let names = known_names(call)?;
    let out = name_of(&call.value(1))?;
    let dim2 = place_of(&names, &call.value(3))?;
    let dim1 = place_of(&names, &call.value(2))?;
    let args = [call.value(0), call.value(4), Value::Int(dim1), Value::Int(dim2)];
    let result = one(autograd::Functions::call(call.state, "diagonal", &args)?)?;
    let mut all = result.all_names().to_vec();
    if let Some(last) = all.last_mut() {
        *last = out;
    }
    renamed(call.state, &result, Some(&all))
}

/// Returns whether a row does nothing but replace dimension names by positions.
#[cfg(test)]
pub(crate) fn is_by_position(run: Run) -> bool {
    std::ptr::fn_addr_eq(run, by_position as Run)
}
