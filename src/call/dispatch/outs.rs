//! Parameters that many functions share, handled before and after the function runs: `out=`, with one tensor or
//! several, and `requires_grad=`. A facet of the row says which outputs a function accepts. The facet is carried out
//! here, once for all rows.

use super::{count_write, folds};
use crate::facets::{Lies, Out, Repeats, Shares, Takes};
use crate::registry::Function;
use crate::signature::Signature;
use crate::{Call, State, as_tensor};
use std::rc::Rc;
use tensor::bail;
use tensor::element::integer_limits;
use tensor::journal;
use tensor::layout::show;
use tensor::ops::block::{check_no_internal_overlap, check_no_overlap, check_no_partial_overlap};
use tensor::ops::copy;
use tensor::ops::pointwise::classes;
use tensor::ops::sparse;
use tensor::view::storage_bytes;
use tensor::{DType, Error, Layout, Result, Scalar, Storage, Tensor, View, can_cast};
use value::{NamedTuple, Value, any_tensor};

/// Result types with named fields. PyTorch gives them another name in a call with `out=`.
macro_rules! named_outputs {
    ($($name:literal)*) => {
        &[$((concat!("torch.return_types.", $name), concat!("torch.return_types.", $name, "_out")),)*]
    };
}

const NAMED: &[(&str, &str)] = named_outputs! {
    "aminmax" "cummax" "cummin" "frexp" "geqrf" "histogram" "kthvalue" "linalg_cholesky_ex" "linalg_eig" "linalg_eigh"
    "linalg_inv_ex" "linalg_ldl_factor" "linalg_ldl_factor_ex" "linalg_lstsq" "linalg_lu" "linalg_lu_factor"
    "linalg_lu_factor_ex" "linalg_qr" "linalg_slogdet" "linalg_solve_ex" "linalg_svd" "lu_unpack" "max" "median" "min"
    "mode" "nanmedian" "qr" "slogdet" "sort" "svd" "topk" "triangular_solve"
};

/// Fills the `dtype` and `device` arguments that were not given from the `out` tensor, for functions that take them
/// from there.
pub fn prepare(function: &Function, call: &mut Call) {
    let facet = function.row.out;
    if !facet.gives_dtype {
        return;
    }
    let Some(Value::Tensor(out)) = call.signature.out.and_then(|i| call.args.get(i)) else { return };
    let (dtype, device) = (out.borrow().dtype, out.borrow().device());
    for (name, value) in [("dtype", Value::DType(dtype)), ("device", Value::Device(device))] {
        if let Some(slot) = call.position(name).and_then(|i| call.args.get_mut(i))
            && matches!(slot, Value::None)
        {
            *slot = value;
        }
    }
}

/// Handles `out=` and `requires_grad=` after the function has run.
///
/// # Errors
/// RuntimeError for an output that the function does not accept. TypeError for the wrong number of outputs.
pub fn finish(function: &Function, call: &mut Call, result: Value) -> Result<Value> {
    let signature: &Signature = call.signature;
    let result = match signature.out.filter(|i| !call.is_none(*i)).map(|i| call.value(i)) {
        Some(Value::Tensor(out)) if !matches!(&result, Value::Tensor(result) if result.is(&out)) => {
            one_output(function, call, &out, result)?
        }
        Some(Value::Tensor(out)) if out.is_inference() => {
            count_write(call.state, &out)?;
            result
        }
        Some(outs @ (Value::List(_) | Value::Tuple(_))) => {
            return several(function, call, &outs.sequence().unwrap_or_default(), result);
        }
        _ => {
            if call.state.fills_memory() {
                fill_unwritten(signature.name, &result)?;
            }
            result
        }
    };
    let wants_grad = signature.requires_grad.is_some_and(|i| matches!(call.args.get(i), Some(Value::Bool(true))));
    if let (Value::Tensor(tensor), true) = (&result, wants_grad && signature.name != "requires_grad_") {
        if !tensor.borrow().dtype.is_differentiable() {
            bail!(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients");
        }
        tensor.autograd_mut(|meta| meta.requires_grad = true);
    }
    Ok(result)
}

/// Writes the result to the output.
fn one_output(function: &Function, call: &mut Call, out: &Tensor, result: Value) -> Result<Value> {
    let Value::Tensor(tensor) = &result else { return Ok(result) };
    let facet = &function.row.out;
    let writing = Writing { state: call.state, facet, inputs: inputs(call), field: "", part: 0 };
    let mut result = tensor.view();
    if facet.counts && out.borrow().numel() == result.numel() {
        result = tensor::ops::view::reshape(&result, out.borrow().sizes())?;
    }
    if out.borrow().is_sparse() || result.is_sparse() {
        writing.replace_sparse(out, &result)?;
        count_write(call.state, out)?;
        return Ok(Value::Tensor(out.clone()));
    }
    let is_resized = out.borrow().sizes() != result.sizes();
    writing.prepare(out, &result)?;
    // Such a function leaves the elements alone, and only counts as a write where it resizes.
    if UNWRITTEN.contains(&call.signature.name) {
        if is_resized {
            count_write(call.state, out)?;
        }
        if call.state.fills_memory() {
            fill_unwritten(call.signature.name, &Value::Tensor(out.clone()))?;
        }
        return Ok(Value::Tensor(out.clone()));
    }
    if folds::applies(facet.folds, &writing.inputs, out) {
        journal::note(&out.borrow());
        folds::fold(function, call, facet.folds, &out.view())?;
    } else {
        write(out, &result)?;
    }
    count_write(call.state, out)?;
    Ok(Value::Tensor(out.clone()))
}

/// Returns the tensors that a call reads.
fn inputs(call: &Call) -> Vec<Tensor> {
    let mut found = Vec::new();
    for (param, value) in call.signature.params.iter().zip(&call.args) {
        if param.name != "out" {
            any_tensor(value, &mut |tensor| {
                found.push(tensor.clone());
                false
            });
        }
    }
    found
}

fn is_input(inputs: &[Tensor], out: &Tensor) -> bool {
    inputs.iter().any(|input| input.is(out))
}

/// Writes the parts of a result to several outputs.
fn several(function: &Function, call: &Call, outs: &[Value], result: Value) -> Result<Value> {
    let Some(parts) = result.sequence() else { return Ok(result) };
    if parts.len() != outs.len() {
        bail!(TypeError, "expected tuple of {} elements but got {}", parts.len(), outs.len());
    }
    let fields: Vec<&str> = match &result {
        Value::NamedTuple(tuple) => tuple.fields.iter().map(|(field, _)| *field).collect(),
        _ => Vec::new(),
    };
    let inputs = inputs(call);
    for (i, (out, part)) in outs.iter().zip(parts.iter()).enumerate() {
        if let (Some(out), Some(part)) = (as_tensor(out), as_tensor(part)) {
            let field = fields.get(i).copied().unwrap_or_default();
            let writing =
                Writing { state: call.state, facet: &function.row.out, inputs: inputs.clone(), field, part: i };
            writing.check_dtype(out, &part.view())?;
        }
    }
    for (i, (out, part)) in outs.iter().zip(parts.iter()).enumerate() {
        if let (Some(out), Some(part)) = (as_tensor(out), as_tensor(part)) {
            let writing =
                Writing { state: call.state, facet: &function.row.out, inputs: inputs.clone(), field: "", part: i };
            writing.prepare(out, &part.view())?;
            write(out, &part.view())?;
        }
    }
    outs.iter().filter_map(as_tensor).try_for_each(|out| count_write(call.state, out))?;
    Ok(match result {
        Value::NamedTuple(tuple) => {
            let type_name =
                NAMED.iter().find(|(name, _)| *name == tuple.type_name).map_or(tuple.type_name, |(_, out)| out);
            let fields = tuple.fields.iter().zip(outs).map(|((field, _), out)| (*field, out.clone())).collect();
            Value::NamedTuple(Rc::new(NamedTuple { type_name, fields }))
        }
        _ => Value::tuple(outs.iter().cloned()),
    })
}

/// A result that is about to be written to an output.
struct Writing<'a> {
    state: &'a State,
    facet: &'a Out,
    /// The tensors that the function read.
    inputs: Vec<Tensor>,
    /// The name of this part of the result.
    field: &'a str,
    /// The position of this part among several.
    part: usize,
}

impl Writing<'_> {
    /// Checks an output, and resizes it to the size of a result.
    ///
    /// # Errors
    /// RuntimeError for an output that the function does not accept.
    fn prepare(&self, out: &Tensor, result: &View) -> Result<()> {
        if self.facet.dtype_first {
            self.check_device(out, result)?;
            self.check_dtype(out, result)?;
        }
        let by_elements = self.facet.repeats == Repeats::Refused;
        if by_elements {
            check_no_internal_overlap(&out.view())?;
            self.check_sharing(out)?;
        }
        let resized = out.borrow().sizes() != result.sizes();
        if resized && self.facet.shares == Shares::Wholly && is_input(&self.inputs, out) {
            let (out, result) = (show(out.borrow().sizes()), show(result.sizes()));
            bail!(RuntimeError, "output with shape {out} doesn't match the broadcast shape {result}");
        }
        self.check_dtype(out, result)?;
        self.check_device(out, result)?;
        if resized {
            self.resize(out, result)?;
        } else if self.facet.repeats == Repeats::RefusedResized {
            check_no_internal_overlap(&out.view())?;
        }
        if !by_elements {
            self.check_sharing(out)?;
        }
        Ok(())
    }

    /// Makes a sparse output show a sparse result, in the output's dtype.
    ///
    /// # Errors
    /// RuntimeError for other layouts, and for a dtype that the function does not accept.
    fn replace_sparse(&self, out: &Tensor, result: &View) -> Result<()> {
        if out.borrow().tensor_layout() != result.tensor_layout() {
            bail!(
                RuntimeError,
                "self.is_sparse() INTERNAL ASSERT FAILED at \"/pytorch/aten/src/ATen/native/SparseTensorUtils.h\":28, \
                 please report a bug to PyTorch. _internal_get_SparseTensorImpl: not a sparse tensor"
            );
        }
        self.check_dtype(out, result)?;
        let elements = copy::cast(sparse::elements(result), out.borrow().dtype)?;
        journal::note(&out.borrow());
        out.set_view(sparse::with_values(result, elements)?);
        Ok(())
    }

    fn check_dtype(&self, out: &Tensor, result: &View) -> Result<()> {
        let dtype = out.borrow().dtype;
        let input = self.inputs.first().map_or(result.dtype, |input| input.borrow().dtype);
        let refused = self.facet.dtypes.iter().find(|(takes, _)| match takes {
            Takes::Castable => !can_cast(result.dtype, dtype),
            Takes::Same => dtype != result.dtype,
            Takes::SameIfReal => dtype != result.dtype && !input.is_complex(),
            Takes::SameAt(part) => self.part == *part && dtype != result.dtype,
            Takes::Truth => !matches!(dtype, DType::Bool | DType::Byte),
            Takes::Of(all) => classes::of(dtype) & all == 0,
            Takes::OfUnless(all, others) => classes::of(dtype) & all == 0 && classes::of(input) & others == 0,
        });
        let Some((_, words)) = refused else { return Ok(()) };
        let text = words
            .replace("{out}", dtype.scalar_type())
            .replace("{result}", result.dtype.scalar_type())
            .replace("{input}", input.scalar_type())
            .replace("{out_cpp}", dtype.cpp_name())
            .replace("{result_cpp}", result.dtype.cpp_name())
            .replace("{out_class}", &dtype.legacy_class())
            .replace("{result_class}", &result.dtype.legacy_class())
            .replace("{field}", self.field);
        Err(Error::runtime(text))
    }

    /// Checks the device of an output. The message depends on the condition on dtypes.
    fn check_device(&self, out: &Tensor, result: &View) -> Result<()> {
        let (from, to) = (result.device(), out.borrow().device());
        if from == to || self.state.fake_mode.get().is_some() {
            return Ok(());
        }
        if self.facet.dtypes.contains(&Out::PLAIN_DTYPE) {
            bail!(RuntimeError, "Expected out tensor to have device {from}, but got {to} instead");
        }
        bail!(
            RuntimeError,
            "Attempting to copy from device {from} to device {to}, but cross-device copies are not allowed!"
        )
    }

    fn check_sharing(&self, out: &Tensor) -> Result<()> {
        let check = match self.facet.shares {
            Shares::Allowed => return Ok(()),
            Shares::Wholly => check_no_partial_overlap,
            Shares::First | Shares::Never => check_no_overlap,
        };
        let is_first = self.facet.shares == Shares::First;
        self.inputs.iter().enumerate().try_for_each(|(i, input)| {
            let check = if is_first && i == 0 { check_no_partial_overlap } else { check };
            check(&out.view(), &input.view())
        })
    }

    /// Resizes an output to the sizes of a result, with the facet's layout in memory.
    fn resize(&self, out: &Tensor, result: &View) -> Result<()> {
        if self.facet.warns && out.borrow().numel() > 0 {
            let (old, new) = (show(out.borrow().sizes()), show(result.sizes()));
            self.state.warn_once(
                "UserWarning",
                format!(
                    "An output with one or more elements was resized since it had shape {old}, which does not match the \
                     required output shape {new}. This behavior is deprecated, and in a future PyTorch release outputs \
                     will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by \
                     resizing it, inplace, to zero elements with t.resize_(0). (Triggered internally at \
                     /pytorch/aten/src/ATen/native/Resize.cpp:30.)"
                ),
            );
        }
        let as_new = match self.facet.lies {
            Lies::AsNew => true,
            Lies::InRows => false,
            Lies::InRowsUnlessEmpty => out.borrow().numel() == 0,
        };
        let sizes = result.sizes();
        let strides = if as_new && result.layout.is_non_overlapping_and_dense() {
            result.layout.clone()
        } else {
            Layout::contiguous(sizes)
        };
        let layout = Layout { offset: out.borrow().layout.offset, ..strides };
        let storage = out.borrow().storage.clone();
        show_layout(out, storage, layout, true)
    }
}

/// Writes a result to an output of the same size. The caller counts the write.
fn write(out: &Tensor, result: &View) -> Result<()> {
    journal::note(&out.borrow());
    copy::write_into(&out.view(), result)
}

/// Writes a result to a named output whose size was checked.
pub(crate) fn write_named(function: &Function, call: &Call, out: &Tensor, result: &View) -> Result<()> {
    Writing { state: call.state, facet: &function.row.out, inputs: inputs(call), field: "", part: 0 }
        .prepare(out, result)?;
    write(out, result)?;
    count_write(call.state, out)
}

/// Makes a tensor show a layout of a storage. The storage grows first if it may. If that fails, nothing changes.
pub fn show_layout(tensor: &Tensor, storage: Storage, layout: Layout, keep_bits: bool) -> Result<()> {
    let dtype = tensor.borrow().dtype;
    storage.reserve(storage_bytes(&layout, dtype)?)?;
    let old = tensor.view();
    let (conj, neg) = if keep_bits { (old.conj, old.neg) } else { (false, false) };
    tensor.set_view(View { storage, layout, dtype, conj, neg, form: old.form });
    Ok(())
}

/// Functions whose results are uninitialized.
const UNWRITTEN: &[&str] =
    &["empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"];

/// Fills an uninitialized result with NaN, the largest integer, or true.
fn fill_unwritten(name: &str, result: &Value) -> Result<()> {
    match result {
        Value::Tensor(tensor) if UNWRITTEN.contains(&name.split('.').next().unwrap_or(name)) => fill(&tensor.borrow()),
        _ => Ok(()),
    }
}

fn fill(view: &View) -> Result<()> {
    if view.device().is_meta() || view.form.is_some() { Ok(()) } else { copy::fill(view, unwritten(view.dtype)) }
}

/// In deterministic mode, fills a new tensor whose values are unspecified.
pub fn fill_new(state: &State, view: &View) -> Result<()> {
    if state.fills_memory() { fill(view) } else { Ok(()) }
}

/// Returns the value that fills new memory in deterministic mode.
fn unwritten(dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(true),
        dtype if dtype.is_integral(false) => {
            let (_, largest) = integer_limits(dtype);
            i64::try_from(largest).map_or(Scalar::UInt(u64::MAX), Scalar::Int)
        }
        _ => Scalar::Float(f64::NAN),
    }
}

/// In deterministic mode, fills the elements that a storage has gained since it had `old` bytes.
pub fn fill_grown(state: &State, tensor: &Tensor, old: usize) -> Result<()> {
    let view = tensor.view();
    if !state.fills_memory() || view.device().is_meta() || view.form.is_some() {
        return Ok(());
    }
    let size = view.dtype.itemsize();
    let (from, to) = (old / size, view.storage.nbytes() / size);
    if from >= to {
        return Ok(());
    }
    let layout = Layout { offset: from as i64, ..Layout::contiguous(&[(to - from) as i64]) };
    copy::fill(&View { layout, conj: false, neg: false, ..view.clone() }, unwritten(view.dtype))
}
