//! Masks and conditions. Expectations are the results of PyTorch 2.7.0 for the Python beside them.

use super::*;
use crate::Device;
use crate::ops::check::testing::*;
use crate::ops::view::transpose;

/// Applies a change to a copy of the tensor.
fn written(view: &View, change: impl FnOnce(&View) -> Result<()>) -> Result<View> {
    let copy = crate::ops::copy::clone(view)?;
    change(&copy)?;
    Ok(copy)
}

#[test]
fn masks_choose_elements() {
    let f = arange(&[2, 3], DType::Float);
    let n = tensor(&[], DType::Long, &[7.0]);
    check(&[
        (
            "do(\"masked_fill_\", f, L([[True, False, True], [False, True, False]]), 9)",
            line(&written(&f, |t| {
                masked_fill_(t, &tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), Scalar::Int(9))
            })),
            "float32 [2, 3] (3,1) @0: 9 1 9 3 9 5",
        ),
        (
            "do(\"masked_fill_\", f, m, 0.5)",
            line(&written(&f, |t| masked_fill_(t, &bools(&[1, 0, 1]), Scalar::Float(0.5)))),
            "float32 [2, 3] (3,1) @0: 0.5 1 0.5 0.5 4 0.5",
        ),
        (
            "do(\"masked_fill_\", f, L([True, False]), 9)",
            line(&written(&f, |t| masked_fill_(t, &bools(&[1, 0]), Scalar::Int(9)))),
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
        ),
        (
            "do(\"masked_fill_\", f, f, 9)",
            line(&written(&f, |t| masked_fill_(t, &f, Scalar::Int(9)))),
            "RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype float",
        ),
        (
            "do(\"masked_fill_\", f, m[None, None], 9)",
            line(&written(&f, |t| masked_fill_(t, &tensor(&[1, 1, 3], DType::Bool, &[1.0; 3]), Scalar::Int(9)))),
            "RuntimeError: output with shape [2, 3] doesn't match the broadcast shape [1, 2, 3]",
        ),
        (
            "do(\"masked_fill_\", torch.arange(3, dtype=torch.int8), m, 200)",
            line(&written(&arange(&[3], DType::Char), |t| masked_fill_(t, &bools(&[1, 0, 1]), Scalar::Int(200)))),
            "RuntimeError: value cannot be converted to type int8_t without overflow",
        ),
        (
            "do(\"masked_fill_\", torch.arange(3.).to(torch.float8_e5m2), m, 2)",
            line(&written(&arange(&[3], DType::Float8_e5m2), |t| masked_fill_(t, &bools(&[1, 0, 1]), Scalar::Int(2)))),
            "RuntimeError: \"masked_fill\" not implemented for 'Float8_e5m2'",
        ),
        (
            "f.t().masked_fill(L([[True], [False], [False]]), 9)",
            line(&masked_fill(
                &must(transpose(&f, 0, 1)),
                &tensor(&[3, 1], DType::Bool, &[1.0, 0.0, 0.0]),
                Scalar::Int(9),
            )),
            "float32 [3, 2] (2,1) @0: 9 9 1 4 2 5",
        ),
        (
            "f.masked_fill_(f > 0, f)",
            fill_value("masked_fill_", &f).map_or_else(|e| e.to_string(), |v| format!("{v:?}")),
            "RuntimeError: masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 2 dimension(s).",
        ),
        (
            "f.t().masked_select(L([[True, False, True], [False, True, False]]).t())",
            line(&masked_select(
                &must(transpose(&f, 0, 1)),
                &must(transpose(&tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), 0, 1)),
            )),
            "float32 [3] (1) @0: 0 4 2",
        ),
        (
            "f.masked_select(L([False, True, True]))",
            line(&masked_select(&f, &bools(&[0, 1, 1]))),
            "float32 [4] (1) @0: 1 2 4 5",
        ),
        (
            "f.masked_select(L([True, False]))",
            line(&masked_select(&f, &bools(&[1, 0]))),
            "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
        ),
        (
            "f.masked_select(f)",
            line(&masked_select(&f, &f)),
            "RuntimeError: masked_select: expected BoolTensor for mask",
        ),
        (
            "do(\"masked_scatter_\", f, L([[True, False, True], [False, True, False]]), L([7., 8., 9.]))",
            line(&written(&f, |t| {
                masked_scatter_(
                    t,
                    &tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
                    &tensor(&[3], DType::Float, &[7.0, 8.0, 9.0]),
                )
            })),
            "float32 [2, 3] (3,1) @0: 7 1 8 3 9 5",
        ),
        (
            "do(\"masked_scatter_\", f, L([[True, False, True], [False, True, False]]), L([7., 8.]))",
            line(&written(&f, |t| {
                masked_scatter_(
                    t,
                    &tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
                    &tensor(&[2], DType::Float, &[7.0, 8.0]),
                )
            })),
            "RuntimeError: Number of elements of source < number of ones in mask",
        ),
        (
            "do(\"masked_scatter_\", f, L([[True, False, True], [False, True, False]]), L([7, 8, 9]))",
            line(&written(&f, |t| {
                masked_scatter_(t, &tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), &long(&[7, 8, 9]))
            })),
            "RuntimeError: masked_scatter: expected self and source to have same dtypes but gotFloat and Long",
        ),
        ("f.nonzero()", line(&nonzero(&f)), "int64 [5, 2] (1,5) @0: 0 1 0 2 1 0 1 1 1 2"),
        ("n.nonzero()", line(&nonzero(&n)), "int64 [1, 0] (1,1) @0: "),
        ("torch.where(n)", lines(nonzero_columns(&n)), "int64 [1] (1) @0: 0"),
        ("torch.where(f)", lines(nonzero_columns(&f)), "int64 [5] (1) @0: 0 0 1 1 1 | int64 [5] (1) @5: 1 2 0 1 2"),
        (
            "torch.zeros(2, device='meta').nonzero()",
            line(&nonzero(&must(View::zeros(&[2], DType::Float, Device::META)))),
            "NotImplementedError: The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor are non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.",
        ),
        (
            "torch.where(L([[True, False, True], [False, True, False]]), f, torch.arange(3.))",
            line(&where_(
                &tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
                &f,
                &arange(&[3], DType::Float),
                DType::Float,
            )),
            "float32 [2, 3] (3,1) @0: 0 1 2 0 4 2",
        ),
        (
            "torch.where(L([[True, False, True], [False, True, False]]), f, n)",
            line(&where_(&tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), &f, &n, DType::Float)),
            "float32 [2, 3] (3,1) @0: 0 7 2 7 4 7",
        ),
        (
            "torch.where(L([[True, False, True], [False, True, False]]).t(), f.t(), f.t())",
            line(&where_(
                &must(transpose(&tensor(&[2, 3], DType::Bool, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), 0, 1)),
                &must(transpose(&f, 0, 1)),
                &must(transpose(&f, 0, 1)),
                DType::Float,
            )),
            "float32 [3, 2] (1,3) @0: 0 3 1 4 2 5",
        ),
        (
            "torch.where(m, f, torch.arange(6.).reshape(3, 2))",
            line(&where_(&bools(&[1, 0, 1]), &f, &arange(&[3, 2], DType::Float), DType::Float)),
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
        ),
        (
            "torch.where(f, f, f)",
            line(&where_(&f, &f, &f, DType::Float)),
            "RuntimeError: where expected condition to be a boolean tensor, but got a tensor with dtype Float",
        ),
    ]);
}

/// Elements are collected in pieces, in every layout, as one after another.
#[test]
fn true_elements_are_collected_in_order() {
    for (rows, columns) in [(0, 2), (1, 1), (3, 5), (1, 2 * BLOCK as i64 + 1), (70, 301)] {
        let values: Vec<f64> = (0..rows * columns).map(|i| if i * i % 7 < 3 { 0.0 } else { i as f64 }).collect();
        let view = tensor(&[rows, columns], DType::Float, &values);
        let turned = must(crate::ops::view::transpose(&view, 0, 1));
        for view in [view, turned] {
            let all = must_list(view.scalars());
            let wanted: Vec<Scalar> = all.iter().copied().filter(|value| value.truth()).collect();
            let mask = must(cast(&view, DType::Bool));
            assert_eq!(must(masked_select(&view, &mask)).scalars(), Ok(wanted));
            let width = view.sizes()[1].max(1);
            let numbers = (0..).zip(&all).filter(|(_, value)| value.truth()).map(|(i, _)| i);
            let places: Vec<Scalar> = numbers.flat_map(|i: i64| [i / width, i % width]).map(Scalar::Int).collect();
            assert_eq!(must(nonzero(&view)).scalars(), Ok(places));
        }
    }
}

fn must_list(list: Result<Vec<Scalar>>) -> Vec<Scalar> {
    list.unwrap_or_else(|error| panic!("{error}"))
}
