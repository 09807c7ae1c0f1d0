//! Joined tensors. Expectations are the results of PyTorch 2.7.0 for the Python beside them.

use super::*;
use crate::ops::check::testing::*;
use crate::{DType, Device};

#[test]
fn joined_tensors() {
    let f = arange(&[2, 3], DType::Float);
    let v = arange(&[5], DType::Long);
    let n = tensor(&[], DType::Long, &[7.0]);
    let c = must(View::zeros_strided(&[2, 3, 4, 5], Dims::from_slice(&[60, 1, 15, 3]), DType::Float, Device::CPU));
    check(&[
        ("torch.cat([v, v])", line(&cat(&[v.clone(), v.clone()], 0)), "int64 [10] (1) @0: 0 1 2 3 4 0 1 2 3 4"),
        (
            "torch.cat([f, torch.arange(2)[:, None]], -1)",
            line(&cat(&[f.clone(), arange(&[2, 1], DType::Long)], -1)),
            "float32 [2, 4] (4,1) @0: 0 1 2 0 3 4 5 1",
        ),
        (
            "torch.cat([f, torch.zeros(0).double()], 1)",
            line(&cat(&[f.clone(), must(View::zeros(&[0], DType::Double, Device::CPU))], 1)),
            "float64 [2, 3] (3,1) @0: 0 1 2 3 4 5",
        ),
        (
            "torch.cat([c, c], 1)",
            line(&cat(&[c.clone(), c.clone()], 1)),
            "float32 [2, 6, 4, 5] (120,1,30,6) @0: 0 0 0 0 0 0 0 0 0 0 0 0",
        ),
        ("torch.cat([])", line(&cat(&[], 0)), "RuntimeError: torch.cat(): expected a non-empty list of Tensors"),
        (
            "torch.cat([f, n])",
            line(&cat(&[f.clone(), n.clone()], 0)),
            "RuntimeError: zero-dimensional tensor (at position 1) cannot be concatenated",
        ),
        (
            "torch.cat([f, v])",
            line(&cat(&[f.clone(), v.clone()], 0)),
            "RuntimeError: Tensors must have same number of dimensions: got 2 and 1",
        ),
        (
            "torch.cat([f, torch.arange(2.)[None]])",
            line(&cat(&[f.clone(), arange(&[1, 2], DType::Float)], 0)),
            "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1 in the list.",
        ),
        (
            "torch.cat([f], 2)",
            line(&cat(std::slice::from_ref(&f), 2)),
            "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (
            "torch.cat([v, L([1], dtype=torch.uint16)])",
            line(&cat(&[v.clone(), tensor(&[1], DType::UInt16, &[1.0])], 0)),
            "RuntimeError: Promotion for uint16, uint32, uint64 types is not supported, attempted to promote Long and UInt16",
        ),
        (
            "torch.stack([f, f], 1)",
            line(&stack(&[f.clone(), f.clone()], 1)),
            "float32 [2, 2, 3] (6,3,1) @0: 0 1 2 0 1 2 3 4 5 3 4 5",
        ),
        (
            "torch.stack([f, f], -1)",
            line(&stack(&[f.clone(), f.clone()], -1)),
            "float32 [2, 3, 2] (6,2,1) @0: 0 0 1 1 2 2 3 3 4 4 5 5",
        ),
        ("torch.stack([n, n])", line(&stack(&[n.clone(), n.clone()], 0)), "int64 [2] (1) @0: 7 7"),
        (
            "torch.stack([f, v])",
            line(&stack(&[f.clone(), v.clone()], 0)),
            "RuntimeError: stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [5] at entry 1",
        ),
        ("torch.stack([])", line(&stack(&[], 0)), "RuntimeError: stack expects a non-empty TensorList"),
        ("torch.hstack([n, v])", line(&hstack(&[n.clone(), v.clone()])), "int64 [6] (1) @0: 7 0 1 2 3 4"),
        ("torch.vstack([v, v])", line(&vstack(&[v.clone(), v.clone()])), "int64 [2, 5] (5,1) @0: 0 1 2 3 4 0 1 2 3 4"),
        (
            "torch.dstack([v, v])",
            line(&dstack(&[v.clone(), v.clone()])),
            "int64 [1, 5, 2] (10,2,1) @0: 0 0 1 1 2 2 3 3 4 4",
        ),
        (
            "torch.column_stack([v, torch.arange(5)[:, None]])",
            line(&column_stack(&[v.clone(), arange(&[5, 1], DType::Long)])),
            "int64 [5, 2] (2,1) @0: 0 0 1 1 2 2 3 3 4 4",
        ),
        (
            "torch.column_stack([])",
            line(&column_stack(&[])),
            "RuntimeError: column_stack expects a non-empty TensorList",
        ),
        ("torch.atleast_2d(v)", line(&atleast_2d(&v)), "int64 [1, 5] (5,1) @0: 0 1 2 3 4"),
        ("torch.atleast_3d(v)", line(&atleast_3d(&v)), "int64 [1, 5, 1] (5,1,1) @0: 0 1 2 3 4"),
        ("torch.atleast_1d(n)", line(&atleast_1d(&n)), "int64 [1] (1) @0: 7"),
    ]);
}
