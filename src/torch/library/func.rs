//! Transformations of functions: `torch.func`. Follows <https://pytorch.org/docs/2.7/func.api.html>.
//!
//! PyTorch numbers nested transformations and keeps a graph for each. Here they share one graph. The arguments of a
//! function become leaves of the graph, or views if they were recorded already. At the end, a result is detached if its
//! history ends in those leaves only ([`Level`]).

use crate::autograd_rows::set_requires_grad;
use crate::steps::Steps;
use autograd::{Functions, comes_from_others};
use call::dispatch::{saving, tree};
use call::{Call, Keywords, Row, State, function};
use objects::calling::{NativeFunction, call_value};
use std::cell::Cell;
use tensor::{Result, Tensor, bail};
use value::Value;

mod products;
mod slopes;

use products::{JVP, jvp, linearize, vjp};
use slopes::{matrix, slopes};

pub(super) const ROWS: &[Row] = &[
    function(
        "func.grad(any func, any argnums=0, bool has_aux=False) -> any",
        |c| {
            let (argnums, has_aux) = (c.value(1), c.bool(2)?);
            transformed(c, move |f, args, keywords| {
                let (gradient, _, aux) = grad_and_value(f, args, keywords, &argnums, has_aux)?;
                Ok(if has_aux { Value::tuple([gradient, aux]) } else { gradient })
            })
        },
        "Returns a function that computes the gradient of a function whose result is one number.",
    )
    .python("grad"),
    function(
        "func.grad_and_value(any func, any argnums=0, bool has_aux=False) -> any",
        |c| {
            let (argnums, has_aux) = (c.value(1), c.bool(2)?);
            transformed(c, move |f, args, keywords| {
                let (gradient, output, aux) = grad_and_value(f, args, keywords, &argnums, has_aux)?;
                let output = if has_aux { Value::tuple([output, aux]) } else { output };
                Ok(Value::tuple([gradient, output]))
            })
        },
        "Returns a function that computes the gradient of a function and its result.",
    )
    .python("grad_and_value"),
    function(
        "func.vjp(any func, any[] primals, *, bool has_aux=False) -> any",
        |c| {
            let (primals, has_aux) = (c.value(1).sequence().unwrap_or_default(), c.bool(2)?);
            at_home(c, |f| vjp(f, primals, has_aux))
        },
        "Returns a function's results, and a function for the product of a vector and its Jacobian.",
    )
    .python("vjp"),
    function(
        "func.jvp(any func, any primals, any tangents, *, bool strict=False, bool has_aux=False) -> any",
        |c| {
            let (primals, tangents, strict, has_aux) = (c.value(1), c.value(2), c.bool(3)?, c.bool(4)?);
            at_home(c, |f| jvp(f, &primals, &tangents, strict, has_aux))
        },
        "Returns a function's results, and the product of its Jacobian and a vector.",
    )
    .python("jvp"),
    function(
        "func.linearize(any func, any[] primals) -> any",
        |c| {
            let primals = c.value(1).sequence().unwrap_or_default();
            at_home(c, |f| linearize(f, primals))
        },
        "Returns a function's results, and its linear approximation there as a function.",
    )
    .python("linearize"),
    function(
        "func.jacrev(any func, any argnums=0, *, bool has_aux=False, any chunk_size=None, bool \
 _preallocate_and_copy=False) -> any",
        |c| {
            if matches!(c.value(3), Value::Int(size) if size <= 0) {
                bail!(ValueError, "jacrev: `chunk_size` should be greater than 0.");
            }
            let (argnums, has_aux) = (c.value(1), c.bool(2)?);
            transformed(c, move |f, args, keywords| {
                refuse_keywords("jacrev", &keywords)?;
                jacobian(f, "jacrev", args, &argnums, has_aux)
            })
        },
        "Returns a function that computes the Jacobian of a function, row by row.",
    )
    .python("jacrev"),
    function(
        "func.jacfwd(any func, any argnums=0, bool has_aux=False, *, str randomness=\"error\") -> any",
        |c| {
            let (argnums, has_aux) = (c.value(1), c.bool(2)?);
            transformed(c, move |f, args, keywords| {
                refuse_keywords("jacfwd", &keywords)?;
                jacobian(f, "jacfwd", args, &argnums, has_aux)
            })
        },
        "Returns a function that computes the Jacobian of a function.",
    )
    .python("jacfwd"),
    function(
        "func.hessian(any func, any argnums=0) -> any",
        |c| {
            let argnums = c.value(1);
            transformed(c, move |f, args, keywords| {
                refuse_keywords("jacfwd", &keywords)?;
                let inner = |args: Vec<Value>, _: Keywords| jacobian(f, "jacrev", args, &argnums, false);
                jacobian(Function { state: f.state, call: &inner }, "jacfwd", args, &argnums, false)
            })
        },
        "Returns a function that computes the second derivatives of a function.",
    )
    .python("hessian"),
    function(
        "func.functionalize(any func, *, str remove=\"mutations\") -> any",
        |c| {
            if !matches!(c.str(1)?, "mutations" | "mutations_and_views") {
                bail!(
                    RuntimeError,
                    "functionalize(f, remove='mutations'): received invalid argument for remove={}. Valid options are:\n     \
                     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with \
                     their out-of-place equivalents.\n     remove='mutations_and_views': In addition to the above, all \
                     aliasing operators {{view}} will be replaced with their non-aliasing counterparts, {{view}}_copy.\n",
                    c.str(1)?
                );
            }
            transformed(c, |f, args, keywords| (f.call)(args, keywords))
        },
        "Returns a function with the same results that computes anew instead of writing in place.",
    )
    .python("functionalize"),
];

/// A function to transform, and the session it runs in.
#[derive(Clone, Copy)]
struct Function<'a> {
    state: &'a State,
    call: &'a dyn Fn(Vec<Value>, Keywords) -> Result<Value>,
}

/// Returns a function that runs the transformation of the call's first argument.
fn transformed(call: &Call, run: impl Fn(Function, Vec<Value>, Keywords) -> Result<Value> + 'static) -> Result<Value> {
    let (state, function) = (call.state.handle(), call.value(0));
    let wrapped = function.clone();
    let wrapper = move |args: Vec<Value>, keywords: Keywords| {
        let inner = |args: Vec<Value>, keywords: Keywords| call_value(&state, &function, args, keywords);
        run(Function { state: &state, call: &inner }, args, keywords)
    };
    Ok(NativeFunction::around(&wrapped, wrapper))
}

/// Runs the transformation of the call's first argument immediately.
fn at_home(call: &Call, run: impl FnOnce(Function) -> Result<Value>) -> Result<Value> {
    let function = call.value(0);
    let inner = |args: Vec<Value>, keywords: Keywords| call_value(call.state, &function, args, keywords);
    run(Function { state: call.state, call: &inner })
}

fn refuse_keywords(name: &str, keywords: &Keywords) -> Result<()> {
    match keywords.first() {
        Some((key, _)) => bail!(TypeError, "{name}.<locals>.wrapper_fn() got an unexpected keyword argument '{key}'"),
        None => Ok(()),
    }
}

/// The inside of one transformation: the tensors it differentiates by, and whether gradients are recorded outside.
struct Level {
    inputs: Vec<Tensor>,
    outside: Cell<bool>,
}

impl Level {
    /// Runs `run` with the recording of gradients switched on. `run` gets the previous setting.
    fn recording<R>(state: &State, run: impl FnOnce(bool) -> Result<R>) -> Result<R> {
        let before = state.set_recording(true);
        let result = run(before);
        state.set_recording(before);
        result
    }

    /// Turns the leaves of a tree into the inputs to differentiate by. Also returns the tree of these inputs.
    fn enter(state: &State, outside: bool, tree: &Value) -> Result<(Level, Value)> {
        let mut inputs = Vec::new();
        let inner = tree::map(tree, &mut |leaf| {
            let Value::Tensor(tensor) = leaf else {
                bail!(ValueError, "Thing passed to transform API must be Tensor, got <class '{}'>", leaf.class_name())
            };
            let input = match tensor.requires_grad() {
                true => Steps(state).pair("view_as", tensor, tensor)?,
                false => {
                    let input = tensor.detach();
                    set_requires_grad(state, &input, true, false)?;
                    input
                }
            };
            inputs.push(input.clone());
            Ok(Value::Tensor(input))
        })?;
        Ok((Level { inputs, outside: Cell::new(outside) }, inner))
    }

    /// Returns a tensor for use outside. It keeps its history only if that leads to leaves other than this level's.
    fn leave(&self, tensor: &Tensor) -> Result<Value> {
        let keeps = self.outside.get() && comes_from_others(tensor, &self.inputs)?;
        Ok(Value::Tensor(if keeps || !tensor.requires_grad() { tensor.clone() } else { tensor.detach() }))
    }

    fn leave_each(&self, tensors: &[Tensor]) -> Result<Vec<Value>> {
        tensors.iter().map(|tensor| self.leave(tensor)).collect()
    }

    fn leave_all(&self, value: &Value) -> Result<Value> {
        tree::map(value, &mut |leaf| match leaf {
            Value::Tensor(tensor) => self.leave(tensor),
            other => {
                bail!(RuntimeError, "Expected tensors, got unsupported type <class '{}'>", other.class_name())
            }
        })
    }
}

/// Returns the argument positions that `argnums` names, for `count` arguments.
fn places(state: &State, argnums: &Value, count: usize) -> Result<Vec<usize>> {
    let place = |argnum: &Value| {
        let Value::Int(argnum) = argnum else {
            bail!(RuntimeError, "argnum must be int, got: <class '{}'>", argnum.class_name())
        };
        let wrapped = if *argnum < 0 { argnum + count as i64 } else { *argnum };
        match usize::try_from(wrapped) {
            Ok(place) if place < count => Ok(place),
            _ => bail!(RuntimeError, "Got argnum={argnum}, but only {count} positional inputs"),
        }
    };
    match argnums {
        Value::Int(_) => Ok(vec![place(argnums)?]),
        Value::Tuple(several) => {
            let places = several.iter().map(place).collect::<Result<Vec<usize>>>()?;
            if places.is_empty() {
                bail!(RuntimeError, "argnums must be non-empty");
            }
            if (1..places.len()).any(|i| places[..i].contains(&places[i])) {
                bail!(RuntimeError, "argnums elements must be unique, got {}", state.repr(argnums)?);
            }
            Ok(places)
        }
        other => bail!(RuntimeError, "argnums must be int or Tuple[int, ...], got: <class '{}'>", other.class_name()),
    }
}

/// Returns the arguments to differentiate by, as one tree: one argument for a number, a tuple for a tuple.
fn sliced(argnums: &Value, places: &[usize], args: &[Value]) -> Value {
    let mut chosen = places.iter().filter_map(|place| args.get(*place)).cloned();
    match argnums {
        Value::Int(_) => chosen.next().unwrap_or(Value::None),
        _ => Value::tuple(chosen),
    }
}

/// Puts the arguments that [`sliced`] selected, now as inputs, back into the list.
fn put_back(argnums: &Value, places: &[usize], args: &mut [Value], inner: &Value) {
    let inner = match argnums {
        Value::Int(_) => vec![inner.clone()],
        _ => inner.sequence().unwrap_or_default(),
    };
    for (place, value) in places.iter().zip(inner) {
        if let Some(slot) = args.get_mut(*place) {
            *slot = value;
        }
    }
}

/// Splits a function's output into its result and its auxiliary value.
fn with_aux(output: Value, has_aux: bool, api: &str) -> Result<(Value, Value)> {
    if !has_aux {
        return Ok((output, Value::None));
    }
    match output {
        Value::Tuple(pair) if pair.len() == 2 => Ok((pair[0].clone(), pair[1].clone())),
        _ => bail!(RuntimeError, "{api}: output of function f should be a tuple: (output, aux) if has_aux is True"),
    }
}

/// Returns the leaves of a function's output. Fails with RuntimeError unless all of them are tensors.
fn outputs_of(state: &State, output: &Value, api: &str) -> Result<Vec<Tensor>> {
    let leaves = tree::leaves(output)?;
    if matches!(leaves.as_slice(), [] | [Value::None]) {
        bail!(
            RuntimeError,
            "{api}: Expected f to be a function that has non-empty output (got output = {})",
            state.repr(&Value::list(leaves))?
        );
    }
    let tensor = |leaf: &Value| match leaf {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => bail!(
            RuntimeError,
            "{api}: expected f(*primals) to return only tensors, got unsupported type <class '{}'>",
            other.class_name()
        ),
    };
    leaves.iter().map(tensor).collect()
}

fn refuse_complex(name: &str, value: &[Value], what: &str) -> Result<()> {
    let is_complex = |leaf: &Value| matches!(leaf, Value::Tensor(tensor) if tensor.borrow().dtype.is_complex());
    let leaves = value.iter().map(tree::leaves).collect::<Result<Vec<_>>>()?;
    match leaves.iter().flatten().position(is_complex) {
        Some(i) => bail!(
            RuntimeError,
            "{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
        ),
        None => Ok(()),
    }
}

/// Computes the gradient, the result and the auxiliary value.
fn grad_and_value(
    f: Function,
    mut args: Vec<Value>,
    keywords: Keywords,
    argnums: &Value,
    has_aux: bool,
) -> Result<(Value, Value, Value)> {
    const API: &str = "grad_and_value(f)(*args)";
    saving::refuse_within(f.state)?;
    Level::recording(f.state, |outside| {
        let places = places(f.state, argnums, args.len())?;
        let (level, inner) = Level::enter(f.state, outside, &sliced(argnums, &places, &args))?;
        put_back(argnums, &places, &mut args, &inner);
        let (output, aux) = with_aux((f.call)(args, keywords)?, has_aux, API)?;
        let Value::Tensor(output) = output else {
            bail!(RuntimeError, "{API}: Expected f(*args) to return a Tensor, got <class '{}'>", output.class_name())
        };
        let ndim = output.borrow().ndim();
        if ndim != 0 {
            bail!(
                RuntimeError,
                "{API}: Expected f(*args) to return a scalar Tensor, got tensor with {ndim} dims. Maybe you wanted to use \
                 the vjp or jacrev APIs instead?"
            );
        }
        let gradients = slopes(f.state, std::slice::from_ref(&output), &level.inputs, None, true)?;
        let gradient = tree::filled(&inner, level.leave_each(&gradients)?)?;
        let aux = if let Value::None = aux { aux } else { level.leave_all(&aux)? };
        Ok((gradient, level.leave(&output)?, aux))
    })
}

/// Computes the Jacobian of every result by every input, one element of a result at a time.
fn jacobian(f: Function, name: &str, mut args: Vec<Value>, argnums: &Value, has_aux: bool) -> Result<Value> {
    refuse_complex(name, &args, "inputs")?;
    if name == "jacrev" {
        saving::refuse_within(f.state)?;
    }
    let (reverse, api) = (name == "jacrev", if name == "jacrev" { "vjp(f, *primals)" } else { JVP });
    Level::recording(f.state, |outside| {
        let places = places(f.state, argnums, args.len())?;
        let chosen = sliced(argnums, &places, &args);
        if let Some(leaf) = tree::leaves(&chosen)?.iter().find(|leaf| !reverse && !matches!(leaf, Value::Tensor(_))) {
            bail!(AttributeError, "'{}' object has no attribute 'numel'", leaf.type_name());
        }
        let (level, inner) = Level::enter(f.state, outside, &chosen)?;
        put_back(argnums, &places, &mut args, &inner);
        let (output, aux) = with_aux((f.call)(args, Keywords::new())?, has_aux, api)?;
        let aux = if has_aux { level.leave_all(&aux)? } else { aux };
        let outputs = outputs_of(f.state, &output, api)?;
        refuse_complex(name, std::slice::from_ref(&output), "outputs")?;
        let rows = matrix(f.state, &outputs, &level.inputs, true)?;
        let row = |row: &Vec<Tensor>| tree::filled(&inner, level.leave_each(row)?);
        let rows = rows.iter().map(row).collect::<Result<Vec<Value>>>()?;
        let found = tree::filled(&output, rows)?;
        Ok(if has_aux { Value::tuple([found, aux]) } else { found })
    })
}
