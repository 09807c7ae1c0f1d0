//! Dispatch for tensors that are not dense. Rows of the function table are written for dense tensors; a separate table,
//! keyed by overload, says what a function does with a sparse or a quantized one. A function missing from it is refused
//! in PyTorch's words. This is PyTorch's dispatch by backend.

use super::tree;
use super::{quantized, sparse_rules};
use crate::call::signature::Kind;
use crate::call::{Call, Function, LIBRARY, Run, as_tensor};
use crate::ops::{quantize, sparse as ops};
use crate::tensor::{Error, Form, Result, Tensor, View};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The way a function treats a tensor that is not dense.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Something of its own.
    Own(Run),
    /// It takes any tensor: it looks at sizes, dtype and history, or only at the layout.
    Any,
    /// The same on the elements that are given; the others, which are zeros, stay.
    Given,
    /// The same, after elements of one index have been added up.
    Coalesced,
    /// The same on coalesced elements, for a result about all of them.
    Total,
    /// The same on the integers of a quantized tensor.
    Integers,
    /// The same on the numbers that a quantized tensor stands for; the result is of float32 or bool.
    Numbers,
    /// The same, and the result quantized as the input was.
    Requantized,
    /// Refused under the name of another function, which PyTorch calls for it.
    Refused(&'static str),
}

/// Rules of many functions at once.
pub type Rules = &'static [(Rule, &'static [&'static str])];

/// Functions that ask a tensor about itself, however it holds its values, and those that go on to other functions.
const ABOUT: &[&str] = &[
    "size",
    "size.dim",
    "storage_offset",
    "numel",
    "nelement",
    "dim",
    "ndimension",
    "ndim",
    "shape",
    "dtype",
    "device",
    "layout",
    "element_size",
    "itemsize",
    "is_floating_point",
    "is_complex",
    "is_conj",
    "is_neg",
    "is_leaf",
    "is_inference",
    "is_pinned",
    "is_same_size",
    "is_tensor",
    "requires_grad",
    "requires_grad_",
    "grad",
    "grad_fn",
    "data",
    "detach",
    "detach_",
    "_version",
    "_base",
    "is_sparse",
    "is_sparse_csr",
    "is_quantized",
    "is_cuda",
    "is_cpu",
    "is_meta",
    "names",
    "get_device",
    "backward",
    "retain_grad",
    "retains_grad",
    "autograd.grad",
    "autograd.backward",
    "__len__",
    "__getitem__",
    "__setitem__",
    "__contains__",
    "sparse_dim",
    "dense_dim",
    "_nnz",
    "is_coalesced",
    "coalesce",
    "_coalesced_",
    "_indices",
    "_values",
    "indices",
    "values",
    "crow_indices",
    "col_indices",
    "ccol_indices",
    "row_indices",
    "dequantize",
    "dequantize.tensors",
    "int_repr",
    "qscheme",
    "q_scale",
    "q_zero_point",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_per_channel_axis",
    "split",
];

/// The kind that a call is dispatched by: that of the argument that comes last in this list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    Quantized,
    Coo,
    Compressed,
}

impl Backend {
    fn of(view: &View) -> Option<Backend> {
        Some(match view.form.as_deref()? {
            Form::Quantized(_) => Backend::Quantized,
            Form::Coo(_) => Backend::Coo,
            Form::Compressed(_) => Backend::Compressed,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Backend::Quantized => "QuantizedCPU",
            Backend::Coo => "SparseCPU",
            Backend::Compressed => "SparseCsrCPU",
        }
    }

    fn rule(self, key: &str) -> Option<Rule> {
        static SPARSE: LazyLock<HashMap<&str, Rule>> = LazyLock::new(|| by_key(sparse_rules::RULES));
        static QUANTIZED: LazyLock<HashMap<&str, Rule>> = LazyLock::new(|| by_key(quantized::RULES));
        let rules = if self == Backend::Quantized { &QUANTIZED } else { &SPARSE };
        rules.get(key).copied()
    }
}

fn by_key(rules: Rules) -> HashMap<&'static str, Rule> {
    let own = rules.iter().flat_map(|(rule, keys)| keys.iter().map(|key| (*key, *rule)));
    ABOUT.iter().map(|key| (*key, Rule::Any)).chain(own).collect()
}

/// The backend of a call; `None` where all its tensors are dense, or where it does not matter.
#[inline]
pub fn backend(call: &Call) -> Option<Backend> {
    let found = call.args.iter().filter_map(backend_of).max()?;
    let signature = call.signature;
    let of_tensors = matches!(signature.receiver(), None | Some(Kind::Tensor));
    let module = signature.name.split_once('.').map_or("", |(module, _)| module);
    (of_tensors && !LIBRARY.contains(&module)).then_some(found)
}

#[inline]
fn backend_of(value: &Value) -> Option<Backend> {
    match value {
        Value::Tensor(tensor) => Backend::of(&tensor.borrow()),
        Value::List(items) | Value::Tuple(items) => items.iter().filter_map(backend_of).max(),
        _ => None,
    }
}

/// Runs a function on arguments of which some are not dense.
///
/// # Errors
/// NotImplementedError where there is no rule for it.
pub fn run(function: &Function, call: &mut Call, backend: Backend) -> Result<Value> {
    let key = call.signature.key.strip_prefix("_VF.").unwrap_or(call.signature.key);
    match backend.rule(key) {
        Some(Rule::Own(run)) => run(call),
        Some(Rule::Any) => (function.row.run)(call),
        Some(Rule::Given) => on_elements(function.row.run, call, false),
        Some(Rule::Coalesced) => on_elements(function.row.run, call, true),
        Some(Rule::Total) => total(function.row.run, call),
        Some(Rule::Integers) => on_integers(function.row.run, call),
        Some(Rule::Numbers) => on_numbers(function.row.run, call, false),
        Some(Rule::Requantized) => on_numbers(function.row.run, call, true),
        Some(Rule::Refused(name)) => Err(Error::no_backend(name, backend.name())),
        // Of a plain function PyTorch looks for the form with an output first.
        None if backend == Backend::Quantized && !key.contains('.') => {
            Err(Error::no_backend(&format!("{key}.out"), backend.name()))
        }
        None => Err(Error::no_backend(key, backend.name())),
    }
}

/// Runs a function for dense tensors on the elements of the first sparse argument.
pub fn on_elements(run: Run, call: &mut Call, coalesced: bool) -> Result<Value> {
    let sparse = |value: &Value| as_tensor(value).is_some_and(|tensor| tensor.borrow().is_sparse());
    let Some(place) = call.args.iter().position(sparse) else { return run(call) };
    let target = call.tensor(place)?.clone();
    let whole = target.view();
    let whole = if coalesced && whole.coo().is_some() { ops::coalesce(&whole)? } else { whole };
    let given = Tensor::new(ops::elements(&whole).clone());
    call.args[place] = Value::Tensor(given.clone());
    let result = run(call);
    call.args[place] = Value::Tensor(target.clone());
    match result? {
        Value::Tensor(new) if new.is(&given) => {
            if call.signature.in_place {
                target.set_view(ops::with_values(&whole, new.view())?);
            }
            Ok(Value::Tensor(target))
        }
        Value::Tensor(new) => ops::with_values(&whole, new.view()).map(Value::from),
        other => Ok(other),
    }
}

/// Runs a function for dense tensors on the elements of a sparse receiver, for a result that is dense.
fn total(run: Run, call: &mut Call) -> Result<Value> {
    let target = call.tensor(0)?.clone();
    let view = target.view();
    let view = if view.coo().is_some() { ops::coalesce(&view)? } else { view };
    call.args[0] = ops::elements(&view).clone().into();
    let result = run(call);
    call.args[0] = Value::Tensor(target);
    result
}

/// Runs a function with something in the place of every quantized argument; with its result, the first of them.
fn replaced(run: Run, call: &mut Call, stand_in: impl Fn(&View) -> Result<View>) -> Result<(Value, View)> {
    let before = call.args.clone();
    let mut model = None;
    for value in &mut call.args {
        *value = mapped(value, &mut |tensor| {
            let view = tensor.view();
            if view.quantizer().is_none() {
                return Ok(tensor.clone());
            }
            let replacement = Tensor::new(stand_in(&view)?);
            model.get_or_insert(view);
            Ok(replacement)
        })?;
    }
    let result = run(call);
    call.args = before;
    match (result?, model) {
        (result, Some(model)) => Ok((result, model)),
        (_, None) => Err(Error::runtime("a quantized tensor is needed")),
    }
}

/// Runs a function on the integers of quantized arguments; results of integers are quantized as the first one was.
fn on_integers(run: Run, call: &mut Call) -> Result<Value> {
    let (result, model) = replaced(run, call, |view| Ok(quantize::integers(view)))?;
    if call.signature.in_place {
        return Ok(call.itself());
    }
    mapped(&result, &mut |tensor| {
        let view = tensor.view();
        let integers = view.dtype == model.dtype.stored_integers();
        Ok(Tensor::new(if integers { quantize::wrap_like(view, &model)? } else { view }))
    })
}

/// Runs a function on the numbers that quantized arguments stand for.
fn on_numbers(run: Run, call: &mut Call, requantized: bool) -> Result<Value> {
    let (result, model) = replaced(run, call, quantize::dequantize)?;
    if !requantized {
        return Ok(result);
    }
    let quantized = mapped(&result, &mut |tensor| Ok(Tensor::new(quantize::like(&tensor.view(), &model)?)))?;
    match quantized {
        Value::Tensor(new) if call.signature.in_place => {
            crate::ops::copy::copy_into(&quantize::integers(&call.view(0)?), &quantize::integers(&new.view()))?;
            Ok(call.itself())
        }
        other => Ok(other),
    }
}

/// A value with every tensor in it replaced.
fn mapped(value: &Value, change: &mut impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Value> {
    tree::map(value, &mut |leaf| match leaf {
        Value::Tensor(tensor) => change(tensor).map(Value::Tensor),
        other => Ok(other.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::registry;

    #[test]
    fn every_rule_is_about_an_overload_that_is_there() {
        let ruled = sparse_rules::RULES.iter().chain(quantized::RULES).flat_map(|(_, keys)| *keys);
        let unknown: Vec<_> = ruled.chain(ABOUT).filter(|key| registry().overload(key).is_none()).collect();
        assert!(unknown.is_empty(), "no overloads: {unknown:?}");
    }
}
