//! The parameters that many functions share and that act after the function ran: `out=`, with one tensor or several,
//! and `requires_grad=`.

use crate::bail;
use crate::call::signature::Signature;
use crate::call::{Call, as_tensor};
use crate::ops::copy;
use crate::tensor::element::integer_limits;
use crate::tensor::view::storage_bytes;
use crate::tensor::{DType, Layout, Result, Scalar, Storage, Tensor, View};
use crate::value::{NamedTuple, Value};
use std::rc::Rc;

/// The results with named fields of functions that take `out=`; PyTorch names those with an output otherwise.
macro_rules! named_outputs {
    ($($name:literal)*) => {
        &[$((concat!("torch.return_types.", $name), concat!("torch.return_types.", $name, "_out")),)*]
    };
}

const NAMED: &[(&str, &str)] = named_outputs! {
    "cummax" "cummin" "geqrf" "kthvalue" "linalg_cholesky_ex" "linalg_eig" "linalg_eigh" "linalg_inv_ex"
    "linalg_ldl_factor" "linalg_ldl_factor_ex" "linalg_lu" "linalg_lu_factor" "linalg_lu_factor_ex" "linalg_qr"
    "linalg_slogdet" "linalg_solve_ex" "linalg_svd" "lu_unpack" "max" "median" "min" "mode" "nanmedian" "qr" "sort" "svd"
    "topk"
};

/// Sees to the parameters that ask for it.
///
/// # Errors
/// RuntimeError for outputs of another dtype, or that cannot be written to; TypeError for too many or too few.
pub fn finish(signature: &Signature, call: &Call, result: Value) -> Result<Value> {
    for (param, value) in signature.params.iter().zip(&call.args) {
        match (param.name, value, &result) {
            ("requires_grad", Value::Bool(true), Value::Tensor(tensor)) if signature.name != "requires_grad_" => {
                if !tensor.borrow().dtype.is_differentiable() {
                    bail!(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients");
                }
                tensor.autograd_mut(|meta| meta.requires_grad = true);
            }
            ("out", Value::Tensor(out), Value::Tensor(tensor)) if !out.is(tensor) => {
                write_out(out, &tensor.view())?;
                return Ok(Value::Tensor(out.clone()));
            }
            ("out", Value::List(_) | Value::Tuple(_), _) => {
                return several(&value.sequence().unwrap_or_default(), result);
            }
            _ => {}
        }
    }
    if call.state.deterministic.get().0 {
        fill_unwritten(signature.name, &result)?;
    }
    Ok(result)
}

/// Writes the parts of a result into as many tensors.
fn several(outs: &[Value], result: Value) -> Result<Value> {
    let Some(parts) = result.sequence() else { return Ok(result) };
    if parts.len() != outs.len() {
        bail!(TypeError, "expected tuple of {} elements but got {}", parts.len(), outs.len());
    }
    let pairs = || outs.iter().zip(parts.iter()).filter_map(|(out, part)| Some((as_tensor(out)?, as_tensor(part)?)));
    for (out, part) in pairs() {
        let (got, expected) = (out.borrow().dtype, part.borrow().dtype);
        if got != expected {
            let (expected, got) = (expected.cpp_name(), got.cpp_name());
            bail!(RuntimeError, "Expected out tensor to have dtype {expected}, but got {got} instead");
        }
    }
    for (out, part) in pairs() {
        write_out(out, &part.view())?;
    }
    Ok(match result {
        Value::NamedTuple(tuple) => {
            let type_name =
                NAMED.iter().find(|(name, _)| *name == tuple.type_name).map_or(tuple.type_name, |(_, out)| out);
            let fields = tuple.fields.iter().zip(outs).map(|((field, _), out)| (*field, out.clone())).collect();
            Value::NamedTuple(Rc::new(NamedTuple { type_name, fields, class: None }))
        }
        _ => Value::tuple(outs.iter().cloned()),
    })
}

/// Copies a result into the tensor given as `out`, resizing it as PyTorch does.
pub fn write_out(out: &Tensor, result: &View) -> Result<()> {
    if !crate::tensor::can_cast(result.dtype, out.borrow().dtype) {
        bail!(
            RuntimeError,
            "result type {} can't be cast to the desired output type {}",
            result.dtype.scalar_type(),
            out.borrow().dtype.scalar_type()
        );
    }
    if out.borrow().sizes() != result.sizes() {
        let layout = Layout { offset: out.borrow().layout.offset, ..Layout::contiguous(result.sizes()) };
        let storage = out.borrow().storage.clone();
        show_layout(out, storage, layout, true)?;
    }
    out.bump_version();
    copy::copy_into(&out.view(), result)
}

/// Makes a tensor show a layout of a storage, growing the storage first where that is allowed. Nothing changes on
/// failure.
pub fn show_layout(tensor: &Tensor, storage: Storage, layout: Layout, keep_bits: bool) -> Result<()> {
    let dtype = tensor.borrow().dtype;
    storage.reserve(storage_bytes(&layout, dtype)?)?;
    let old = tensor.view();
    let (conj, neg) = if keep_bits { (old.conj, old.neg) } else { (false, false) };
    tensor.set_view(View { storage, layout, dtype, conj, neg, form: old.form });
    Ok(())
}

/// The functions whose results are not written yet.
const UNWRITTEN: &[&str] =
    &["empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"];

/// Fills a result that was only made: with what is not a number, or with the largest integer.
fn fill_unwritten(name: &str, result: &Value) -> Result<()> {
    let Value::Tensor(tensor) = result else { return Ok(()) };
    let view = tensor.borrow();
    if !UNWRITTEN.contains(&name) || view.device().is_meta() || view.form.is_some() {
        return Ok(());
    }
    let with = match view.dtype {
        DType::Bool => Scalar::Bool(true),
        dtype if dtype.is_integral(false) => {
            let (_, largest) = integer_limits(dtype);
            i64::try_from(largest).map_or(Scalar::UInt(u64::MAX), Scalar::Int)
        }
        _ => Scalar::Float(f64::NAN),
    };
    copy::fill(&view, with)
}
