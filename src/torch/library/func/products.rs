//! Products of Jacobians and vectors: `vjp` multiplies from the left, `jvp` and `linearize` from the right.

use super::slopes::{leaves_like, slopes};
use super::{Function, Level, outputs_of, with_aux};
use crate::autograd_rows::seeded;
use call::dispatch::{saving, tree};
use call::{Keywords, State};
use objects::calling::NativeFunction;
use tensor::layout::show;
use tensor::{Error, Result, Tensor, bail, ops};
use value::Value;

pub(crate) fn vjp(f: Function, primals: Vec<Value>, has_aux: bool) -> Result<Value> {
    const API: &str = "vjp(f, *primals)";
    saving::refuse_within(f.state)?;
    let primals = Value::tuple(primals);
    let (level, output, outputs, aux) = Level::recording(f.state, |outside| {
        let (level, inner) = Level::enter(f.state, outside, &primals)?;
        let (output, aux) = with_aux((f.call)(inner.sequence().unwrap_or_default(), Keywords::new())?, has_aux, API)?;
        let aux = if has_aux { level.leave_all(&aux)? } else { aux };
        let outputs = outputs_of(f.state, &output, API)?;
        Ok((level, output, outputs, aux))
    })?;
    if let Some(output) = outputs.iter().find(|output| !output.borrow().dtype.is_differentiable()) {
        bail!(
            RuntimeError,
            "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype \
 torch.{}",
            output.borrow().dtype.name()
        );
    }
    let results = level.leave_all(&output)?;
    let wrapper = of_values(f.state, move |state, args| {
        let [cotangents] = args.as_slice() else {
            bail!(
                TypeError,
                "_vjp_with_argnums.<locals>.wrapper() missing 1 required positional argument: 'cotangents'"
            )
        };
        if !tree::same(cotangents, &output) {
            bail!(
                RuntimeError,
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. \
                 cotangents: {}, primal output: {}",
                tree::show(state, cotangents)?,
                tree::show(state, &output)?
            );
        }
        let connected = outputs.iter().zip(tree::leaves(cotangents)?).filter(|(output, _)| output.requires_grad());
        let (roots, seeds): (Vec<Tensor>, Vec<Value>) = connected.map(|(o, seed)| (o.clone(), seed)).unzip();
        let seeds: Vec<Tensor> = seeded(roots.clone(), seeds)?.into_iter().map(|(_, seed)| seed).collect();
        level.outside.set(state.grad_enabled.get());
        let found = slopes(state, &roots, &level.inputs, Some(&seeds), state.grad_enabled.get())?;
        tree::filled(&primals, level.leave_each(&found)?)
    });
    Ok(if has_aux { Value::tuple([results, wrapper, aux]) } else { Value::tuple([results, wrapper]) })
}

pub(crate) const JVP: &str = "jvp(f, primals, tangents)";

/// Returns the leaves of a tree. Fails with RuntimeError unless all of them are tensors.
fn only_tensors(value: &Value, what: &str) -> Result<Vec<Tensor>> {
    let leaves = tree::leaves(value)?;
    if leaves.is_empty() {
        bail!(RuntimeError, "{JVP}: Expected {what} to contain at least one Tensor.");
    }
    let tensor = |leaf: &Value| match leaf {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => {
            bail!(RuntimeError, "{JVP}: Expected {what} to only contain Tensors, got <class '{}'>", other.class_name())
        }
    };
    leaves.iter().map(tensor).collect()
}

/// Checks that a tangent fits its primal.
fn check_tangent(primal: &Tensor, tangent: &Tensor) -> Result<()> {
    let (primal, tangent) = (primal.borrow(), tangent.borrow());
    for (view, what) in [(&primal, "primal"), (&tangent, "tangent")] {
        if !view.dtype.is_differentiable() {
            bail!(ValueError, "Expected {what} to be floating point or complex, but got: torch.{}", view.dtype.name());
        }
    }
    if primal.sizes() != tangent.sizes() {
        bail!(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not \
             supported. Tensor is of size {} while the given forward gradient is of size {}.",
            show(primal.sizes()),
            show(tangent.sizes())
        );
    }
    Ok(())
}

/// A Jacobian-vector product. The vector-Jacobian product is linear in its vector, so its derivative by that vector is
/// the Jacobian-vector product.
struct Pushed {
    level: Level,
    outputs: Vec<Tensor>,
    /// For each output that depends on the inputs: its position, and the vector that its product was taken with.
    seeds: Vec<(usize, Tensor)>,
    back: Vec<Tensor>,
}

impl Pushed {
    fn new(state: &State, level: Level, outputs: Vec<Tensor>) -> Result<Pushed> {
        let connected: Vec<usize> = (0..outputs.len()).filter(|i| outputs[*i].requires_grad()).collect();
        let roots: Vec<Tensor> = connected.iter().map(|i| outputs[*i].clone()).collect();
        let vectors = leaves_like(&roots)?;
        let back = slopes(state, &roots, &level.inputs, Some(&vectors), true)?;
        Ok(Pushed { level, outputs, seeds: connected.into_iter().zip(vectors).collect(), back })
    }

    fn along(&self, state: &State, tangents: &[Tensor], strict: bool) -> Result<Vec<Value>> {
        let vectors: Vec<Tensor> = self.seeds.iter().map(|(_, vector)| vector.clone()).collect();
        let mut found = slopes(state, &self.back, &vectors, Some(tangents), true)?.into_iter();
        let own: Vec<Tensor> = self.level.inputs.iter().chain(&vectors).cloned().collect();
        let level = Level { inputs: own, outside: self.level.outside.clone() };
        let of_output = |(i, output): (usize, &Tensor)| {
            if self.seeds.iter().any(|(place, _)| *place == i) {
                return found.next().ok_or_else(lost).and_then(|tangent| level.leave(&tangent));
            }
            if strict {
                bail!(
                    RuntimeError,
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not \
                     allowed with strict=True."
                );
            }
            ops::create::zeros_like(&output.borrow(), None, None).map(Value::from)
        };
        self.outputs.iter().enumerate().map(of_output).collect()
    }
}

/// The error for a missing product. It cannot happen, because [`slopes`] returns a gradient for every seed.
fn lost() -> Error {
    Error::runtime("a product with the Jacobian was not computed")
}

pub(crate) fn jvp(f: Function, primals: &Value, tangents: &Value, strict: bool, has_aux: bool) -> Result<Value> {
    let Value::Tuple(_) = primals else {
        bail!(RuntimeError, "{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    };
    if !tree::same(primals, tangents) {
        bail!(
            RuntimeError,
            "{JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of \
             3 tensors, tangents also must be. Got primals with structure {} and tangents with structure {}",
            tree::spec(f.state, primals)?,
            tree::spec(f.state, tangents)?
        );
    }
    let (flat, tangents) = (only_tensors(primals, "primals")?, only_tensors(tangents, "tangents")?);
    flat.iter().zip(&tangents).try_for_each(|(primal, tangent)| check_tangent(primal, tangent))?;
    Level::recording(f.state, |outside| {
        let (level, inner) = Level::enter(f.state, outside, primals)?;
        let (output, aux) = with_aux((f.call)(inner.sequence().unwrap_or_default(), Keywords::new())?, has_aux, JVP)?;
        let aux = if has_aux { level.leave_all(&aux)? } else { aux };
        let outputs = outputs_of(f.state, &output, JVP)?;
        let results = level.leave_all(&output)?;
        let products = Pushed::new(f.state, level, outputs)?.along(f.state, &tangents, strict)?;
        let products = tree::filled(&output, products)?;
        Ok(if has_aux { Value::tuple([results, products, aux]) } else { Value::tuple([results, products]) })
    })
}

pub(crate) fn linearize(f: Function, primals: Vec<Value>) -> Result<Value> {
    // PyTorch calls the function once for the result and once more for the linear approximation.
    let output = (f.call)(primals.clone(), Keywords::new())?;
    let primals = Value::tuple(primals);
    let pushed = Level::recording(f.state, |_| {
        let (level, inner) = Level::enter(f.state, false, &primals)?;
        let again = (f.call)(inner.sequence().unwrap_or_default(), Keywords::new())?;
        let outputs = outputs_of(f.state, &again, JVP)?;
        Pushed::new(f.state, level, outputs)
    })?;
    let shape = output.clone();
    let wrapper = of_values(f.state, move |state, tangents| {
        let tangents = Value::tuple(tangents);
        if !tree::same(&tangents, &primals) {
            bail!(
                RuntimeError,
                "Expected the tangents {} to have the same argspec as the primals {}",
                tree::spec(state, &tangents)?,
                tree::spec(state, &primals)?
            );
        }
        let given = only_tensors(&tangents, "tangents")?;
        for (i, (tangent, primal)) in given.iter().zip(&pushed.level.inputs).enumerate() {
            let (tangent, primal) = (tangent.borrow(), primal.borrow());
            let size = |sizes: &[i64]| format!("torch.Size({})", show(sizes));
            let differing = [
                ("shape", size(tangent.sizes()), size(primal.sizes())),
                ("device", tangent.device().to_string(), primal.device().to_string()),
                ("dtype", format!("torch.{}", tangent.dtype.name()), format!("torch.{}", primal.dtype.name())),
            ];
            if let Some((what, got, wanted)) = differing.into_iter().find(|(_, got, wanted)| got != wanted) {
                bail!(
                    RuntimeError,
                    "tangent:{i} with {what} {got} in flattened pytree doesn't match the {what} {wanted} of the \
                     corresponding primal."
                );
            }
        }
        let products = Level::recording(state, |_| pushed.along(state, &given, false))?;
        tree::filled(&shape, products)
    });
    Ok(Value::tuple([output, wrapper]))
}

/// Wraps a closure as a function value that a row can return.
fn of_values(state: &State, run: impl Fn(&State, Vec<Value>) -> Result<Value> + 'static) -> Value {
    let state = state.handle();
    NativeFunction::value("wrapper", move |values, _| run(&state, values))
}
