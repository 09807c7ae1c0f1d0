//! What each function does with the names of dimensions in PyTorch 2.7: facts, found by calling every function of the
//! table there. `names.rs` applies them. A function in none of these tables is refused by its own name.

use super::names::{Facts, Rule, Rules, all_names, check_size, names_in, refusal, unified};
use crate::bail;
use crate::call::Call;
use crate::tensor::layout::{show, wrap_dim};
use crate::tensor::names::{distances, matmul, show_name, show_names, unify};
use crate::tensor::{Name, Result};
use crate::value::Value;

pub const RULES: Rules = &[
    (
        Rule::Keeps,
        "BFloat16Tensor.other BoolTensor.other ByteTensor.other CharTensor.other DoubleTensor.other FloatTensor.other \
         HalfTensor.other IntTensor.other LongTensor.other ShortTensor.other Tensor.other abs abs_ absolute absolute_ \
         acos acos_ acosh acosh_ add.Scalar alias angle arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ \
         arctan arctan_ arctanh arctanh_ as_tensor asarray asin asin_ asinh asinh_ atan atan_ atanh atanh_ atleast_1d \
         atleast_2d atleast_3d bernoulli bernoulli_.Tensor bernoulli_.float bfloat16 bitwise_not bitwise_not_ bool byte cauchy_ cdouble ceil \
         ceil_ cfloat chalf char chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone conj \
         conj_physical contiguous cos cos_ cosh cosh_ cpu cummax cummin cumprod cumsum cumulative_trapezoid.x data \
         deg2rad deg2rad_ detach detach_ diff digamma digamma_ double dsplit.array dsplit.int empty_like erf \
         erf_ erfc erfc_ erfinv erfinv_ exp exp_ expm1 expm1_ exponential_ fill_.Scalar fill_.Tensor fill_diagonal_ fix \
         fix_ float float_power.Tensor_Scalar float_power_.Scalar floor floor_ frac frac_ full_like geometric_ gradient \
         half hsplit.array hsplit.int i0 i0_ index_fill.int_Scalar index_fill.int_Tensor index_fill_.int_Scalar \
         index_fill_.int_Tensor int isfinite isinf isnan isreal lgamma lgamma_ linalg.matrix_power log log10 log10_ \
         log1p log1p_ log2 log2_ log_ log_normal_ log_softmax.int logcumsumexp logical_not logical_not_ long \
         matrix_power narrow narrow.Tensor neg neg_ negative negative_ nn.Parameter \
         nn.functional.log_softmax nn.functional.relu nn.functional.sigmoid nn.functional.softmax nn.functional.tanh \
         nn.functional.threshold normal_ ones_like polygamma polygamma.method polygamma_ positive pow.Tensor_Scalar \
         pow_.Scalar pow.Scalar rad2deg rad2deg_ rand_like randn_like random_ random_.from random_.to real reciprocal \
         reciprocal_ relu relu_ requires_grad_ resolve_conj resolve_neg round round_ rsqrt rsqrt_ share_memory_ \
         short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinh sinh_ slice.Tensor softmax.int special.digamma special.erf \
         special.erfc special.erfinv special.expit special.expm1 special.gammaln special.i0 special.log1p \
         special.log_softmax special.polygamma special.psi special.softmax split split_with_sizes sqrt sqrt_ square \
         square_ sub.Scalar tan tan_ tanh tanh_ tensor tensor_split.indices tensor_split.sections \
         tensor_split.tensor_indices_or_sections to.device to.dtype to.other to_dense trunc trunc_ type type_as uniform_ \
         unsafe_chunk unsafe_split.Tensor unsafe_split_with_sizes vsplit.array vsplit.int zero_ zeros_like",
    ),
    (Rule::Each, "atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence broadcast_tensors"),
    (
        Rule::Unifies,
        "add.Tensor add_.Tensor addcdiv addcdiv_ addcmul addcmul_ arctan2 arctan2_ atan2 atan2_ clamp.Tensor \
         clamp_.Tensor clamp_max.Tensor clamp_max_.Tensor clamp_min.Tensor clamp_min_.Tensor clip.Tensor clip_.Tensor \
         copy_ div.Tensor div_.Tensor divide.Tensor divide_.Tensor eq float_power.Scalar float_power.Tensor_Tensor \
         float_power_.Tensor floor_divide floor_divide_ ge greater greater_equal gt hypot hypot_ igamma igamma_ igammac \
         igammac_ ldexp ldexp_ le less less_equal logaddexp logaddexp2 logical_and logical_and_ logical_or logical_or_ \
         logical_xor logical_xor_ lt mul mul_ multiply multiply_ ne nextafter nextafter_ not_equal pow.Tensor_Tensor \
         pow_.Tensor rsub.Tensor special.gammainc special.gammaincc sub.Tensor sub_.Tensor subtract.Tensor \
         subtract_.Tensor true_divide.Tensor true_divide_.Tensor",
    ),
    (
        Rule::Removes,
        "kthvalue logsumexp max.dim mean.dim median.dim min.dim mode nanmedian.dim prod.dim_int  \
         special.logsumexp std.correction std.dim std_mean.correction std_mean.dim sum.dim_IntList unbind.int \
         var.correction var.dim var_mean.correction var_mean.dim",
    ),
    (
        Rule::Nameless,
        "__contains__ __index__ __len__ _base _is_view _typed_storage _version all any as_strided \
         autograd.backward autograd.grad backward data_ptr device dim dim_order dot dtype element_size from_numpy \
         get_device grad grad_fn is_complex is_conj is_contiguous is_cpu is_cuda is_floating_point is_inference is_leaf \
         is_meta is_neg is_nonzero is_pinned is_quantized is_same_size is_shared is_signed is_sparse is_sparse_csr \
         is_tensor item itemsize layout max mean median min nanmedian nbytes ndim ndimension nelement numel numpy \
         output_nr prod register_hook register_post_accumulate_grad_hook requires_grad result_type result_type.Scalar \
         retain_grad retains_grad shape size size.dim std std_mean storage storage_offset storage_type stride stride.dim \
         sum to_dlpack tolist untyped_storage var var_mean",
    ),
    (Rule::Own(transposed), "H adjoint mH mT swapaxes swapdims t transpose.int"),
    (Rule::Own(selected_at), "select.int"),
    (Rule::After(expanded), "broadcast_to expand expand_as"),
    (Rule::Own(squeezed), "squeeze squeeze.dim"),
    (Rule::After(diagonal), "diagonal"),
    (Rule::Own(concatenated), "cat column_stack concat concatenate dstack hstack row_stack vstack"),
    (Rule::Own(product), "__matmul__ linalg.matmul matmul"),
    (Rule::Late(product), "mm mv"),
    (Rule::Own(product_from_right), "__rmatmul__"),
    (Rule::Own(batches), "bmm"),
    (Rule::Late(product_added), "addmm addmm.alpha addmm.beta addmm_ addmv addmv_"),
    (Rule::Own(between), "cdist"),
    (Rule::Own(masked), "masked_fill.Scalar masked_fill.Tensor masked_fill_.Scalar masked_fill_.Tensor"),
    (Rule::Own(flattened), "flatten.using_ints"),
    (Rule::Own(selected), "masked_select"),
    (Rule::Own(resized), "resize_ resize_as_"),
    (
        Rule::Itself,
        "__getitem__ __setitem__ align_as align_tensors align_to equal has_names names refine_names rename rename_ \
         unflatten unflatten.int",
    ),
];

/// Functions refused where the first tensor is complex, and the name in the refusal.
pub const COMPLEX: Facts = &[
    (
        "view_as_real",
        "abs absolute angle isfinite isinf isreal normal_ rand_like randn_like real std std.correction std.dim std_mean \
         std_mean.correction std_mean.dim uniform_ var var.correction var.dim var_mean var_mean.correction var_mean.dim",
    ),
    ("_conj", "H adjoint conj mH"),
    ("_conj_physical", "conj_physical"),
];

/// Functions refused where a tensor has fewer dimensions, and the name in the refusal.
pub const SMALL: &[(usize, &str, &str)] = &[
    (2, "unsqueeze", "atleast_2d atleast_2d.Sequence row_stack vstack"),
    (2, "view", "column_stack"),
    (3, "unsqueeze", "atleast_3d atleast_3d.Sequence dstack"),
    (3, "unsqueeze", "conv1d conv1d.padding conv_transpose1d nn.functional.conv1d nn.functional.conv_transpose1d"),
    (
        4,
        "unsqueeze",
        "conv2d conv2d.padding conv_transpose2d.input nn.functional.conv2d \
 nn.functional.conv_transpose2d.input",
    ),
    (
        5,
        "unsqueeze",
        "conv3d conv3d.padding conv_transpose3d.input nn.functional.conv3d \
 nn.functional.conv_transpose3d.input",
    ),
];

/// Functions refused by another name than their own: that of the operation that PyTorch calls for them.
pub const REFUSED: Facts = &[
    ("index_put_", "_index_put_impl_"),
    ("block_diag", "block_diag"),
    ("hardtanh", "nn.functional.relu6"),
    ("elu", "nn.functional.selu"),
    ("log_sigmoid_forward", "nn.functional.logsigmoid"),
    ("constant_pad_nd", "nn.functional.pad"),
    (
        "convolution",
        "conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_transpose1d conv_transpose2d.input \
         conv_transpose3d.input nn.functional.conv1d nn.functional.conv1d.padding nn.functional.conv2d \
         nn.functional.conv2d.padding nn.functional.conv3d nn.functional.conv3d.padding nn.functional.conv_transpose1d \
         nn.functional.conv_transpose2d.input nn.functional.conv_transpose3d.input",
    ),
    ("sort", "argsort msort nanquantile quantile"),
    ("nonzero", "argwhere where nonzero.as_tuple"),
    ("unsqueeze", "avg_pool1d corrcoef cov linalg.vander nn.functional.avg_pool1d nn.functional.one_hot vander"),
    ("bitwise_and.Tensor", "bitwise_and"),
    ("bitwise_left_shift.Tensor", "bitwise_left_shift"),
    ("bitwise_or.Tensor", "bitwise_or"),
    ("bitwise_right_shift.Tensor", "bitwise_right_shift"),
    ("bitwise_xor.Tensor", "bitwise_xor"),
    (
        "view",
        "cartesian_prod combinations diagflat ger nanquantile.scalar outer quantile.scalar ravel \
         repeat_interleave.self_Tensor repeat_interleave.self_int reshape take_along_dim reshape_as view_as \
         linalg.multi_dot meshgrid",
    ),
    ("copysign.Tensor", "copysign"),
    (
        "linalg_vector_norm",
        "cosine_similarity linalg.matrix_norm linalg.norm nn.functional.cosine_similarity \
 nn.functional.normalize norm",
    ),
    ("linalg_cross", "cross"),
    ("mul.Scalar", "cumulative_trapezoid.dx isclose trapezoid.dx trapz.dx special.ndtr"),
    ("dequantize.self", "dequantize"),
    ("_linalg_det", "det linalg.det"),
    ("diagonal_copy", "diag"),
    ("div.Tensor_mode", "divide.Tensor_mode"),
    ("fake_quantize_per_channel_affine_cachemask", "fake_quantize_per_channel_affine"),
    ("fake_quantize_per_tensor_affine_cachemask", "fake_quantize_per_tensor_affine"),
    ("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "fake_quantize_per_tensor_affine.tensor_qparams"),
    ("flip", "fliplr flipud"),
    ("fmod.Tensor", "fmod"),
    ("_histogramdd_bin_edges", "histogramdd"),
    ("permute", "T einsum inner moveaxis.intlist moveaxis.int movedim.intlist movedim.int tensordot"),
    ("linalg_inv_ex", "inverse linalg.inv"),
    ("_unsafe_view", "kron"),
    ("linspace.Tensor_Tensor", "linspace.tensors"),
    ("_linalg_slogdet", "logdet slogdet linalg.slogdet"),
    ("linalg_lu_factor_ex", "lu linalg.lu_factor"),
    ("linalg_lu_solve", "lu_solve"),
    ("linalg_matrix_exp", "matrix_exp"),
    ("maximum", "max.other"),
    ("minimum", "min.other"),
    ("nansum", "nanmean"),
    ("linalg_householder_product", "orgqr"),
    ("norm.ScalarOpt_dim", "nn.functional.pairwise_distance pairwise_distance"),
    ("linalg_pinv.atol_rtol_tensor", "pinverse linalg.pinv linalg.pinv.rcond"),
    ("linalg_qr", "qr"),
    ("randint_like.low_dtype", "randint_like.low"),
    ("remainder.Tensor", "remainder"),
    ("sspaddmm.out", "smm sspaddmm"),
    ("_linalg_svd", "svd linalg.cond linalg.matrix_rank linalg.matrix_rank.tol linalg.svd linalg.svdvals"),
    ("repeat", "tile"),
    ("_unique2", "unique"),
    ("where.self", "where.ScalarOther where.method where.scalar_method"),
    ("xlogy.Tensor", "xlogy special.xlogy"),
    ("bitwise_and_.Tensor", "bitwise_and_"),
    ("bitwise_left_shift_.Tensor", "bitwise_left_shift_"),
    ("bitwise_or_.Tensor", "bitwise_or_"),
    ("bitwise_right_shift_.Tensor", "bitwise_right_shift_"),
    ("bitwise_xor_.Tensor", "bitwise_xor_"),
    ("copysign_.Tensor", "copysign_"),
    ("eq_.Tensor", "eq_"),
    ("fmod_.Tensor", "fmod_"),
    ("ge_.Tensor", "ge_ greater_equal_"),
    ("gt_.Tensor", "greater_ gt_"),
    ("le_.Tensor", "le_ less_equal_"),
    ("lt_.Tensor", "less_ lt_"),
    ("ne_.Tensor", "ne_ not_equal_"),
    ("_pin_memory", "pin_memory"),
    ("remainder_.Tensor", "remainder_"),
    ("set_.source_Storage_storage_offset", "set_.source_Tensor_storage_offset"),
    ("transpose_", "swapaxes_ swapdims_"),
    ("_to_sparse.sparse_dim", "to_sparse.sparse_dim"),
    ("_to_sparse", "to_sparse to_sparse_coo"),
    ("_to_sparse_bsc", "to_sparse_bsc"),
    ("_to_sparse_bsr", "to_sparse_bsr"),
    ("_to_sparse_csc", "to_sparse_csc"),
    ("_to_sparse_csr", "to_sparse_csr"),
    ("xlogy_.Tensor", "xlogy_"),
    ("_fft_r2c", "fft.fft fft.ifft fft.ihfft fft.ihfft2 fft.ihfftn fft.rfft fft.rfft2 fft.rfftn"),
    ("_fft_c2c", "fft.fft2 fft.fftn fft.hfft2 fft.hfftn fft.ifft2 fft.ifftn"),
    ("roll", "fft.fftshift fft.ifftshift"),
    ("_conj", "fft.hfft"),
    ("_fft_c2r", "fft.irfft fft.irfft2 fft.irfftn"),
    ("linalg_cholesky_ex", "linalg.cholesky"),
    ("_linalg_eigh", "linalg.eigh linalg.eigvalsh"),
    ("_linalg_eigvals", "linalg.eigvals"),
    ("linalg_ldl_factor_ex", "linalg.ldl_factor"),
    ("_linalg_solve_ex", "linalg.solve linalg.solve_ex"),
    ("_sparse_addmm", "sparse.addmm sparse.mm"),
    ("_sparse_mm_reduce_impl", "sparse.mm.reduce"),
    ("_spdiags", "sparse.spdiags"),
    ("special_chebyshev_polynomial_t.x_scalar", "special.chebyshev_polynomial_t.self_scalar"),
    ("special_chebyshev_polynomial_t.n_scalar", "special.chebyshev_polynomial_t.other_scalar"),
    ("special_chebyshev_polynomial_u.x_scalar", "special.chebyshev_polynomial_u.self_scalar"),
    ("special_chebyshev_polynomial_u.n_scalar", "special.chebyshev_polynomial_u.other_scalar"),
    ("special_chebyshev_polynomial_v.x_scalar", "special.chebyshev_polynomial_v.self_scalar"),
    ("special_chebyshev_polynomial_v.n_scalar", "special.chebyshev_polynomial_v.other_scalar"),
    ("special_chebyshev_polynomial_w.x_scalar", "special.chebyshev_polynomial_w.self_scalar"),
    ("special_chebyshev_polynomial_w.n_scalar", "special.chebyshev_polynomial_w.other_scalar"),
    ("exp2", "special.exp2"),
    ("special_hermite_polynomial_h.x_scalar", "special.hermite_polynomial_h.self_scalar"),
    ("special_hermite_polynomial_h.n_scalar", "special.hermite_polynomial_h.other_scalar"),
    ("special_hermite_polynomial_he.x_scalar", "special.hermite_polynomial_he.self_scalar"),
    ("special_hermite_polynomial_he.n_scalar", "special.hermite_polynomial_he.other_scalar"),
    ("special_laguerre_polynomial_l.x_scalar", "special.laguerre_polynomial_l.self_scalar"),
    ("special_laguerre_polynomial_l.n_scalar", "special.laguerre_polynomial_l.other_scalar"),
    ("special_legendre_polynomial_p.x_scalar", "special.legendre_polynomial_p.self_scalar"),
    ("special_legendre_polynomial_p.n_scalar", "special.legendre_polynomial_p.other_scalar"),
    ("logit", "special.logit"),
    ("mvlgamma", "special.multigammaln"),
    ("round.decimals", "special.round"),
    ("special_shifted_chebyshev_polynomial_t.x_scalar", "special.shifted_chebyshev_polynomial_t.self_scalar"),
    ("special_shifted_chebyshev_polynomial_t.n_scalar", "special.shifted_chebyshev_polynomial_t.other_scalar"),
    ("special_shifted_chebyshev_polynomial_u.x_scalar", "special.shifted_chebyshev_polynomial_u.self_scalar"),
    ("special_shifted_chebyshev_polynomial_u.n_scalar", "special.shifted_chebyshev_polynomial_u.other_scalar"),
    ("special_shifted_chebyshev_polynomial_v.x_scalar", "special.shifted_chebyshev_polynomial_v.self_scalar"),
    ("special_shifted_chebyshev_polynomial_v.n_scalar", "special.shifted_chebyshev_polynomial_v.other_scalar"),
    ("special_shifted_chebyshev_polynomial_w.x_scalar", "special.shifted_chebyshev_polynomial_w.self_scalar"),
    ("special_shifted_chebyshev_polynomial_w.n_scalar", "special.shifted_chebyshev_polynomial_w.other_scalar"),
    ("sinc", "special.sinc"),
    ("xlogy.Scalar_Self", "special.xlogy.self_scalar"),
    ("xlogy.Scalar_Other", "special.xlogy.other_scalar"),
];

/// Functions refused by another name for one dimension than for several.
pub const COUNTED: &[(&str, &str, &str)] = &[
    ("all.dim", "all.dim", "all.dims"),
    ("any.dim", "any.dim", "any.dims"),
    ("count_nonzero.dim_IntList", "count_nonzero", "count_nonzero.dim_IntList"),
];

/// Functions that check their arguments before they call the operation that is refused.
pub const CHECKED: &str = "ger inner logdet meshgrid nanmean outer tensordot";

/// The same for calls with `out=`, where it is not the overload `.out` or `_out` of the operation.
pub const OUT: Facts = &[
    ("copysign.out", "copysign"),
    ("div.out_mode", "div.Tensor_mode divide.Tensor_mode"),
    ("unsqueeze", "dstack"),
    ("view", "ger nanquantile.scalar outer quantile.scalar take_along_dim"),
    ("permute", "T einsum inner tensordot"),
    ("linalg_inv_ex.inverse", "inverse linalg.inv"),
    ("_unsafe_view", "kron"),
    ("linalg_lu_factor_ex", "lu"),
    ("mean.dtype_out", "mean"),
    ("sort.values", "msort"),
    ("sort", "nanquantile quantile"),
    ("sspaddmm.out", "sspaddmm"),
    ("xlogy.OutTensor", "xlogy special.xlogy"),
    ("_conj", "fft.hfft"),
    ("_fft_c2c", "fft.hfft2 fft.hfftn"),
    ("_fft_r2c", "fft.ihfft2 fft.ihfftn"),
    ("linalg_cholesky_ex.L", "linalg.cholesky"),
    ("_linalg_svd", "linalg.cond linalg.matrix_rank linalg.matrix_rank.tol"),
    ("_linalg_det.result", "linalg.det"),
    ("linalg_eigvals.out", "linalg.eigvals"),
    ("_linalg_eigh.eigenvalues", "linalg.eigvalsh"),
    ("linalg_vector_norm", "linalg.matrix_norm linalg.norm"),
    ("linalg_pinv.atol_rtol_tensor", "linalg.pinv.rcond"),
    ("new_empty", "linalg.solve"),
    ("_linalg_svd.U", "linalg.svdvals"),
    ("mul.Scalar", "special.ndtr"),
    ("xlogy.OutScalar_Self", "special.xlogy.self_scalar"),
    ("xlogy.OutScalar_Other", "special.xlogy.other_scalar"),
];

/// The overloads of functions that take a number as their first operand, and as their second one; mostly they are
/// `Scalar_Tensor` and `Scalar`.
pub const SCALARS: &[(&str, &str, &[&str])] = &[
    ("Scalar_Tensor", "Tensor_Scalar", &["bitwise_left_shift", "bitwise_right_shift"]),
    ("Scalar_Self", "Scalar_Other", &["xlogy"]),
];

/// Two dimensions swapped: those that the call says, or the last two.
fn transposed(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let ndim = names.len();
    let (a, b) = match (call.args.get(1), call.args.get(2)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => (wrap_dim(*a, ndim)?, wrap_dim(*b, ndim)?),
        _ => (ndim.saturating_sub(2), ndim.saturating_sub(1)),
    };
    if a.max(b) < ndim {
        names.swap(a, b);
    }
    Ok(Some(names))
}

/// One dimension goes; what says that it is too short says its name.
fn selected_at(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let (dim, index) = (wrap_dim(call.int(1)?, names.len())?, call.int(2)?);
    let sizes = call.tensor(0)?.borrow().layout.sizes.clone();
    let name = names.remove(dim);
    if name.is_some() && !(-sizes[dim]..sizes[dim]).contains(&index) {
        bail!(
            IndexError,
            "select(): index {index} out of range for tensor of size {} at dimension {}",
            show(&sizes),
            show_name(&name)
        );
    }
    Ok(Some(names))
}

/// New dimensions stand in front and have no names.
fn expanded(call: &Call, result: &Value) -> Result<Option<Vec<Name>>> {
    let (Some(names), Value::Tensor(result)) = (names_in(call, 0), result) else { return Ok(None) };
    let new = result.borrow().ndim().saturating_sub(names.len());
    Ok(Some([vec![None; new], names].concat()))
}

/// Removes the names of dimensions of size 1. If one given dimension stays, PyTorch forgets all names.
fn squeezed(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(names) = names_in(call, 0) else { return Ok(None) };
    let sizes = call.tensor(0)?.borrow().layout.sizes.clone();
    let dim = match call.args.get(1) {
        Some(Value::Int(dim)) => Some(wrap_dim(*dim, names.len())?),
        _ => None,
    };
    if dim.is_some_and(|dim| sizes.get(dim).is_some_and(|size| *size != 1)) {
        return Ok(None);
    }
    let stays = |i: usize| sizes[i] != 1 || dim.is_some_and(|dim| dim != i);
    Ok(Some(names.into_iter().enumerate().filter(|(i, _)| stays(*i)).map(|(_, name)| name).collect()))
}

/// Both dimensions go, and a nameless one comes at the end.
fn diagonal(call: &Call, _: &Value) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let (a, b) = (wrap_dim(call.int(2)?, names.len())?, wrap_dim(call.int(3)?, names.len())?);
    names.remove(a.max(b));
    names.remove(a.min(b));
    names.push(None);
    Ok(Some(names))
}

fn concatenated(call: &Call) -> Result<Option<Vec<Name>>> {
    let items = call.value(0).sequence().unwrap_or_default();
    if let (Some(Value::Tensor(first)), Some(Value::Int(dim))) = (items.first(), call.args.get(1)) {
        wrap_dim(*dim, first.borrow().ndim())?;
    }
    let mut names: Vec<Name> = Vec::new();
    for item in items.iter() {
        let Value::Tensor(tensor) = item else { return Ok(None) };
        let given = tensor.all_names();
        if given.is_empty() {
            bail!(RuntimeError, "zero-dimensional tensor cannot be concatenated");
        }
        if !names.is_empty() && names.len() != given.len() {
            let (had, has) = (names.len(), given.len());
            bail!(RuntimeError, "Tensors must have same number of dimensions: got {had} and {has}");
        }
        names = unify(&names, &given, "cat")?;
    }
    Ok(Some(names))
}

fn product(call: &Call) -> Result<Option<Vec<Name>>> {
    matmul(&all_names(call, 0)?, &all_names(call, 1)?).map(Some)
}

fn product_from_right(call: &Call) -> Result<Option<Vec<Name>>> {
    matmul(&all_names(call, 1)?, &all_names(call, 0)?).map(Some)
}

fn batches(call: &Call) -> Result<Option<Vec<Name>>> {
    product(call)
}

/// `input + a @ b`.
fn product_added(call: &Call) -> Result<Option<Vec<Name>>> {
    let tensors: Vec<usize> = (0..call.args.len())
        .filter(|&i| matches!(call.args[i], Value::Tensor(_)) && call.signature.params[i].name != "out")
        .collect();
    let [input, a, b] = tensors[..] else { return Ok(None) };
    let names = matmul(&all_names(call, a)?, &all_names(call, b)?)?;
    unify(&names, &all_names(call, input)?, "broadcast").map(Some)
}

fn between(call: &Call) -> Result<Option<Vec<Name>>> {
    let (a, b) = (all_names(call, 0)?, all_names(call, 1)?);
    if a.len() < 2 || b.len() < 2 {
        return Ok(None);
    }
    distances(&a, &b).map(Some)
}

/// The mask must not have more dimensions than what it masks; in place it is the other way round.
fn masked(call: &Call) -> Result<Option<Vec<Name>>> {
    let (this, mask) = (all_names(call, 0)?, all_names(call, 1)?);
    let (from, to) = if call.signature.in_place { (&this, &mask) } else { (&mask, &this) };
    if from.len() > to.len() {
        bail!(
            RuntimeError,
            "{}: attempted to broadcast Tensor{} to Tensor{} but the number of dims ({}) must be less than or equal to the \
             number of dims in the tensor ({})",
            call.signature.name,
            show_names(from),
            show_names(to),
            from.len(),
            to.len()
        );
    }
    unify(to, from, "broadcast").map(Some)
}

/// One dimension is left as it is.
fn flattened(call: &Call) -> Result<Option<Vec<Name>>> {
    let names = all_names(call, 0)?;
    let (first, last) = (wrap_dim(call.int(1)?, names.len())?, wrap_dim(call.int(2)?, names.len())?);
    if first < last { Err(refusal("view")) } else { Ok(names_in(call, 0)) }
}

/// The names must match; what is selected has none.
fn selected(call: &Call) -> Result<Option<Vec<Name>>> {
    unified(call).map(|_| None)
}

/// Named tensors keep their sizes and names.
fn resized(call: &Call) -> Result<Option<Vec<Name>>> {
    let this = call.tensor(0)?;
    let (wanted, names) = match call.args.get(1) {
        Some(Value::Tensor(other)) => (other.borrow().layout.sizes.clone(), names_in(call, 1)),
        _ => (call.ints(1)?, names_in(call, 0)),
    };
    check_size(this, &wanted)?;
    Ok(names)
}
