//! How each overload is recorded. This is the one place that knows whether a function is differentiable.

use super::composite::{self, Composite};
use super::derivative::Derivative;
use super::derivatives::TABLES;
use std::collections::HashMap;
use std::sync::LazyLock;
use value::{LIBRARY, Value};

/// The way a call is recorded.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Recorded with a row of the derivative table.
    Derivative(&'static Derivative),
    /// Recorded as the calls that the function is composed of.
    Composite(Composite),
    /// Not recorded. The result is not a differentiable function of the arguments, not a tensor, or recorded elsewhere.
    Plain,
    /// Should be recorded, but has no rule. The node fails when a gradient reaches it.
    Missing,
}

/// Functions with another name, but the same arguments and the same derivative. (An alias of a row does not need an
/// entry.)
const TWINS: &[(&str, &str)] = &[
    ("pow_.Scalar", "pow.Tensor_Scalar"),
    ("pow_.Tensor", "pow.Tensor_Tensor"),
    ("max.other", "maximum"),
    ("min.other", "minimum"),
    ("swapaxes", "transpose.int"),
    ("swapdims", "transpose.int"),
    ("swapaxes_", "transpose_"),
    ("contiguous", "clone"),
    ("resolve_conj", "clone"),
    ("resolve_neg", "clone"),
    ("to.device", "_to_copy"),
    ("to.dtype", "_to_copy"),
    ("to.other", "_to_copy"),
    ("type_as", "_to_copy"),
    ("type", "_to_copy"),
    ("cpu", "_to_copy"),
    ("cuda", "_to_copy"),
    ("half", "_to_copy"),
    ("bfloat16", "_to_copy"),
    ("float", "_to_copy"),
    ("double", "_to_copy"),
    ("chalf", "_to_copy"),
    ("cfloat", "_to_copy"),
    ("cdouble", "_to_copy"),
    ("special.round", "round"),
    ("special.xlogy", "xlogy"),
    ("special.xlogy.self_scalar", "xlogy.number_first"),
    ("special.xlogy.other_scalar", "xlogy.number"),
    ("special.softmax", "softmax.int"),
    ("special.log_softmax", "log_softmax.int"),
    ("orgqr", "linalg.householder_product"),
    ("det", "linalg.det"),
    ("slogdet", "linalg.slogdet"),
    ("matrix_exp", "linalg.matrix_exp"),
    ("linalg.pinv.rcond_tensor", "linalg.pinv.atol_rtol_tensor"),
    ("pinverse", "linalg.pinv.atol_rtol_tensor"),
    ("nn.functional.sigmoid", "sigmoid"),
    ("nn.functional.tanh", "tanh"),
];

/// Functions whose results never require a gradient, as in PyTorch: comparisons and tests, indices and counts, new
/// tensors, and queries about a tensor. Gradient functions and subscripts record for themselves.
const PLAIN: &[&str] = &[
    // Comparisons, tests and integers.
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "isnan",
    "isinf",
    "isfinite",
    "isposinf",
    "isneginf",
    "isreal",
    "signbit",
    "isclose",
    "allclose",
    "equal",
    "any",
    "any.dim",
    "any.dims",
    "all",
    "all.dim",
    "all.dims",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_not",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "gcd",
    "lcm",
    "argmax",
    "argmin",
    "argsort",
    "argsort.stable",
    "nonzero",
    "argwhere",
    "where",
    "count_nonzero",
    "histc",
    "bincount",
    "searchsorted.Tensor",
    "bucketize.Tensor",
    "searchsorted.Scalar",
    "bucketize.Scalar",
    "isin.Tensor_Tensor",
    "isin.Scalar_Tensor",
    "isin.Tensor_Scalar",
    "count_nonzero.dim_IntList",
    "nonzero.as_tuple",
    "nonzero_static",
    "multinomial",
    "linalg.matrix_rank.atol_rtol_tensor",
    "linalg.matrix_rank.tol_tensor",
    "nn.functional.one_hot",
    "repeat_interleave.Tensor",
    // Casts to integers, and reinterpreted bytes.
    "bool",
    "byte",
    "char",
    "short",
    "int",
    "long",
    "view.dtype",
    // How sparse and quantized tensors store their values.
    "indices",
    "_indices",
    "crow_indices",
    "col_indices",
    "ccol_indices",
    "row_indices",
    "int_repr",
    "qscheme",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    // New tensors.
    "tensor",
    "as_tensor",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "rand_like",
    "randn_like",
    "randint_like",
    "randint_like.low",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_tensor",
    "linspace.tensors",
    "logspace.tensors",
    "detach",
    "data",
    "nn.Parameter",
    // Saving to files.
    "save",
    // Queries about a tensor, and conversions.
    "numpy",
    "positive",
    "new",
    "new.data",
    "new.other",
    "new.sequence",
    "new.shape",
    "new.size",
    "new.storage",
    "Tensor.other",
    "BFloat16Tensor.other",
    "BoolTensor.other",
    "ByteTensor.other",
    "CharTensor.other",
    "DoubleTensor.other",
    "FloatTensor.other",
    "HalfTensor.other",
    "IntTensor.other",
    "LongTensor.other",
    "ShortTensor.other",
    "view_copy.dtype",
    "stride",
    "storage_type",
    "dim_order",
    "tolist",
    "pin_memory",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "shape",
    "dtype",
    "device",
    "layout",
    "ndim",
    "itemsize",
    "nbytes",
    "requires_grad",
    "grad",
    "grad_fn",
    "is_leaf",
    "retains_grad",
    "output_nr",
    "_base",
    "_version",
    "is_cuda",
    "is_cpu",
    "is_meta",
    "is_sparse",
    "is_quantized",
    "names",
    "resize_",
    "resize_as_",
    "share_memory_",
    "requires_grad_",
    "detach_",
    // Dimension names. The calls that these functions make are recorded.
    "align_as",
    "align_tensors",
    "align_to",
    "refine_names",
    "rename",
    "rename_",
    // Functions written in Python, whose parts are recorded.
    "split",
    "unflatten",
    "broadcast_tensors",
    // Subscripts, which record the calls they make.
    "__getitem__",
    "__setitem__",
    "__contains__",
];

/// Special functions that PyTorch computes, but cannot differentiate.
const WITHOUT_DERIVATIVE: &[&str] = &[
    "special.airy_ai",
    "special.bessel_j0",
    "special.bessel_j1",
    "special.bessel_y0",
    "special.bessel_y1",
    "special.modified_bessel_i0",
    "special.modified_bessel_i1",
    "special.modified_bessel_k0",
    "special.modified_bessel_k1",
    "special.scaled_modified_bessel_k0",
    "special.scaled_modified_bessel_k1",
    "special.spherical_bessel_j0",
    "special.chebyshev_polynomial_t",
    "special.chebyshev_polynomial_u",
    "special.chebyshev_polynomial_v",
    "special.chebyshev_polynomial_w",
    "special.shifted_chebyshev_polynomial_t",
    "special.shifted_chebyshev_polynomial_u",
    "special.shifted_chebyshev_polynomial_v",
    "special.shifted_chebyshev_polynomial_w",
    "special.hermite_polynomial_h",
    "special.hermite_polynomial_he",
    "special.laguerre_polynomial_l",
    "special.legendre_polynomial_p",
];

/// Functions that call others of the table. Those are recorded, as in PyTorch.
const STEPS: &[&str] = &[
    "__matmul__",
    "cartesian_prod",
    "chain_matmul",
    "combinations",
    "einsum",
    "asarray",
    "unravel_index",
    "atleast_1d.tensors",
    "atleast_2d.tensors",
    "atleast_3d.tensors",
    "apply_",
    "map_",
    "map2_",
    "sum_to_size",
    "atleast_1d.Sequence",
    "atleast_2d.Sequence",
    "atleast_3d.Sequence",
    "testing.assert_close",
    "from_dlpack",
    "to_dlpack",
    "conv1d",
    "conv1d.padding",
    "conv2d",
    "conv2d.padding",
    "conv3d",
    "conv3d.padding",
    "conv_transpose1d",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
    "cosine_similarity",
    "pairwise_distance",
    "nn.functional.normalize",
    "inner",
    "kron",
    "linalg.matmul",
    "linalg.matrix_power",
    "linalg.multi_dot",
    "linalg.vecdot",
    "matmul",
    "matrix_power",
    "meshgrid",
    "nn.functional.pad",
    "outer",
    "tensordot",
    "stft",
    "stft.center",
    "_VF.stft",
    "istft",
];

/// Modules of PyTorch whose functions record for themselves.
const RECORDING: &[&str] = &["autograd", "serialization", "storage", "testing"];

/// The key suffixes of rows for operands that are numbers.
const NUMBER: &str = ".number";
const NUMBER_FIRST: &str = ".number_first";

static RULES: LazyLock<HashMap<&'static str, Rule>> = LazyLock::new(|| {
    let mut rules = HashMap::new();
    rules.extend(PLAIN.iter().chain(WITHOUT_DERIVATIVE).chain(STEPS).map(|key| (*key, Rule::Plain)));
    rules.extend(composite::TABLES.iter().copied().flatten().map(|(key, parts)| (*key, Rule::Composite(*parts))));
    rules.extend(TABLES.iter().copied().flatten().map(|row| (row.key, Rule::Derivative(row))));
    // A number modulo a tensor. PyTorch cannot differentiate it either.
    rules.insert("remainder.number_first", Rule::Missing);
    for (twin, key) in TWINS {
        if let Some(rule) = rules.get(key).copied() {
            rules.insert(twin, rule);
        }
    }
    rules
});

/// Iterates over the rows of the derivative table.
pub fn derivatives() -> impl Iterator<Item = &'static Derivative> {
    TABLES.iter().copied().flatten()
}

/// The operations that refuse an `out` argument while gradients are recorded, for functions that call another.
const REFUSED_BY: &[(&str, &str)] = &[
    ("column_stack", "cat"),
    ("cross", "linalg_cross"),
    ("diag", "aten::diag_embed"),
    ("diff", "sub"),
    ("dstack", "cat"),
    ("fft.hfft", "_fft_c2r"),
    ("fft.hfftn", "_fft_c2r"),
    ("fft.irfft", "_fft_c2r"),
    ("fft.irfftn", "_fft_c2r"),
    ("hstack", "cat"),
    ("kron", "mul"),
    ("ldexp", "mul"),
    ("linalg.matmul", "matmul"),
    ("linalg.matrix_power", "matmul"),
    ("linalg.multi_dot", "mm"),
    ("linalg.vecdot", "vdot"),
    ("matmul", "matmul"),
    ("matrix_power", "matmul"),
    ("max.other", "maximum"),
    ("min.other", "minimum"),
    ("msort", "sort"),
    ("norm", "linalg_vector_norm"),
    ("outer", "mul"),
    ("square", "pow"),
    ("take_along_dim", "gather"),
    ("vstack", "cat"),
];

/// Functions whose `out` overload PyTorch refuses in a fallback for all operations, which names them with `aten::`.
const REFUSED_FOR_ALL: &[&str] = &[
    "alias_copy",
    "arange",
    "as_strided_copy",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "conj_physical",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "eye",
    "fft.fftfreq",
    "fft.rfftfreq",
    "floor_divide",
    "full",
    "heaviside",
    "linspace",
    "log_softmax",
    "logspace",
    "narrow_copy",
    "nonzero_static",
    "ones",
    "range",
    "select_copy",
    "slice_copy",
    "slice_scatter",
    "softmax",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
    "zeros",
];

/// Returns the operation that refuses an `out` argument while gradients are recorded, or `None` if it is the function
/// itself.
pub fn refused_by(key: &str, name: &str) -> Option<String> {
    let known = REFUSED_BY.iter().find(|(known, _)| [key, name].contains(known));
    let for_all = || REFUSED_FOR_ALL.contains(&name).then(|| format!("aten::{}", name.replace('.', "_")));
    known.map(|(_, operation)| (*operation).to_owned()).or_else(for_all)
}

/// Returns the rule for a call. An in-place function has the rule of its out-of-place form.
pub fn rule(key: &str, args: &[Value]) -> Rule {
    // The inner part of a function written in Python has the name of the whole function.
    let key = key.strip_prefix("_VF.").unwrap_or(key);
    let is_number = |arg: Option<&Value>| arg.is_some_and(|value| value.as_scalar().is_some());
    let variant = if is_number(args.first()) {
        Some(NUMBER_FIRST)
    } else if is_number(args.get(1)) {
        Some(NUMBER)
    } else {
        None
    };
    let of = |key: &str| {
        let special = variant.and_then(|suffix| RULES.get(format!("{key}{suffix}").as_str()));
        special.or_else(|| RULES.get(key)).copied()
    };
    // The other overloads of these functions take numbers.
    let overload_of_plain =
        || key.rsplit_once('.').and_then(|(name, _)| WITHOUT_DERIVATIVE.contains(&name).then_some(Rule::Plain));
    let found = of(key).or_else(|| of(&out_of_place(key)?)).or_else(overload_of_plain);
    // Python's own functions compute with functions that are recorded.
    let of_python = || {
        let mut modules = LIBRARY.iter().chain(RECORDING);
        modules.any(|module| key.strip_prefix(module).is_some_and(|rest| rest.starts_with('.')))
    };
    found.unwrap_or_else(|| if of_python() { Rule::Plain } else { Rule::Missing })
}

/// Returns a key such as `mul_.Tensor` without the underscore of in-place functions.
fn out_of_place(key: &str) -> Option<String> {
    match key.split_once('.') {
        Some((name, overload)) => Some(format!("{}.{overload}", name.strip_suffix('_')?)),
        None => key.strip_suffix('_').map(str::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_stands_twice() {
        let mut keys: Vec<_> = PLAIN.iter().chain(WITHOUT_DERIVATIVE).chain(STEPS).collect();
        keys.sort_unstable();
        let twice: Vec<_> = keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
