//! Order of elements. Expectations are the results of PyTorch 2.7.0 for the Python beside them.

use super::*;
use crate::ops::check::testing::*;
use crate::ops::join::cat;
use crate::ops::view::{reshape, transpose, unsqueeze};

/// Joins three copies of a vector to a matrix of one row.
fn stack_rows(ties: &View) -> Result<View> {
    unsqueeze(&cat(&[ties.clone(), ties.clone(), ties.clone()], 0)?, 0)
}

#[test]
fn sorted_selected_and_distinct() {
    let f = arange(&[2, 3], DType::Float);
    let n = tensor(&[], DType::Long, &[7.0]);
    let s = tensor(&[5], DType::Float, &[3.0, 1.0, f64::NAN, 1.0, 2.0]);
    let ties: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 5)).collect();
    let ties = tensor(&[40], DType::Long, &ties);
    check(&[
        (
            "s.sort()",
            lines(sort(&s, -1, false, false).map(|(values, places)| vec![values, places])),
            "float32 [5] (1) @0: 1 1 2 3 NaN | int64 [5] (1) @0: 1 3 4 0 2",
        ),
        (
            "s.sort(descending=True, stable=True)",
            lines(sort(&s, -1, true, true).map(|(values, places)| vec![values, places])),
            "float32 [5] (1) @0: NaN 3 2 1 1 | int64 [5] (1) @0: 2 0 4 1 3",
        ),
        (
            "((torch.arange(40) * 7) % 5).sort()",
            lines(sort(&ties, 0, false, false).map(|(values, places)| vec![values, places])),
            "int64 [40] (1) @0: 0 0 0 0 0 0 0 0 1 1 1 1 | int64 [40] (1) @0: 10 20 25 15 30 35 5 0 33 8 28 13",
        ),
        (
            "((torch.arange(40) * 7) % 5).sort(descending=True)",
            lines(sort(&ties, 0, true, false).map(|(values, places)| vec![values, places])),
            "int64 [40] (1) @0: 4 4 4 4 4 4 4 4 3 3 3 3 | int64 [40] (1) @0: 17 2 37 22 7 32 27 12 9 24 14 29",
        ),
        (
            "f.t().sort(0, descending=True)",
            lines(sort(&must(transpose(&f, 0, 1)), 0, true, false).map(|(values, places)| vec![values, places])),
            "float32 [3, 2] (1,3) @0: 2 5 1 4 0 3 | int64 [3, 2] (1,3) @0: 2 2 1 1 0 0",
        ),
        (
            "n.sort()",
            lines(sort(&n, 0, false, false).map(|(values, places)| vec![values, places])),
            "int64 [] () @0: 7 | int64 [] () @0: 0",
        ),
        (
            "f.sort(2)",
            lines(sort(&f, 2, false, false).map(|(values, places)| vec![values, places])),
            "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (
            "L([0j, 1]).sort()",
            lines(
                sort(&arange(&[2], DType::ComplexFloat), 0, false, false).map(|(values, places)| vec![values, places]),
            ),
            "ValueError: Sort currently does not support complex dtypes on CPU.",
        ),
        (
            "L([0., 1]).to(torch.float8_e5m2).sort()",
            lines(
                sort(&arange(&[2], DType::Float8_e5m2), 0, false, false).map(|(values, places)| vec![values, places]),
            ),
            "RuntimeError: \"sorting_kernel_method_name\" not implemented for 'Float8_e5m2'",
        ),
        (
            "L([2**63, 0, 1], dtype=torch.uint64).sort()",
            lines(
                sort(&tensor(&[3], DType::UInt64, &[2f64.powi(63), 0.0, 1.0]), 0, false, false)
                    .map(|(values, places)| vec![values, places]),
            ),
            "uint64 [3] (1) @0: 0 1 9223372036854775808 | int64 [3] (1) @0: 1 2 0",
        ),
        (
            "s.topk(2)",
            lines(topk(&s, 2, -1, true, true).map(|(values, places)| vec![values, places])),
            "float32 [2] (1) @0: NaN 3 | int64 [2] (1) @0: 2 0",
        ),
        (
            "((torch.arange(40) * 7) % 5).topk(6)",
            lines(topk(&ties, 6, 0, true, true).map(|(values, places)| vec![values, places])),
            "int64 [6] (1) @0: 4 4 4 4 4 4 | int64 [6] (1) @0: 22 12 27 32 7 37",
        ),
        (
            "((torch.arange(40) * 7) % 5).topk(6, largest=False, sorted=False)",
            lines(topk(&ties, 6, 0, false, false).map(|(values, places)| vec![values, places])),
            "int64 [6] (1) @0: 0 0 0 0 0 0 | int64 [6] (1) @0: 15 35 30 10 25 20",
        ),
        (
            "torch.cat([((torch.arange(40) * 7) % 5)] * 3)[None].topk(1)",
            lines(topk(&must(stack_rows(&ties)), 1, 1, true, true).map(|(values, places)| vec![values, places])),
            "int64 [1, 1] (1,1) @0: 4 | int64 [1, 1] (1,1) @0: 2",
        ),
        (
            "f.topk(4)",
            lines(topk(&f, 4, -1, true, true).map(|(values, places)| vec![values, places])),
            "RuntimeError: selected index k out of range",
        ),
        (
            "f.topk(-1)",
            lines(topk(&f, -1, -1, true, true).map(|(values, places)| vec![values, places])),
            "RuntimeError: selected index k out of range",
        ),
        (
            "n.topk(1)",
            lines(topk(&n, 1, 0, true, true).map(|(values, places)| vec![values, places])),
            "int64 [] () @0: 7 | int64 [] () @0: 0",
        ),
        (
            "L([True, False]).topk(1)",
            lines(topk(&bools(&[1, 0]), 1, 0, true, true).map(|(values, places)| vec![values, places])),
            "RuntimeError: \"topk_cpu\" not implemented for 'Bool'",
        ),
        (
            "s.unique(return_inverse=True, return_counts=True)",
            lines(unique(&s).map(|found| vec![found.values, found.inverse, found.counts])),
            "float32 [4] (1) @0: 1 2 3 NaN | int64 [5] (1) @0: 2 0 3 0 1 | int64 [4] (1) @0: 2 1 1 1",
        ),
        (
            "((torch.arange(40) * 7) % 5).reshape(8, 5).t().unique(return_inverse=True, return_counts=True)",
            lines(
                unique(&must(transpose(&must(reshape(&ties, &[8, 5])), 0, 1)))
                    .map(|found| vec![found.values, found.inverse, found.counts]),
            ),
            "int64 [5] (1) @0: 0 1 2 3 4 | int64 [5, 8] (8,1) @0: 0 0 0 0 0 0 0 0 2 2 2 2 | int64 [5] (1) @0: 8 8 8 8 8",
        ),
        (
            "L([1, 1, 2, 1, 1], dtype=torch.int32).unique_consecutive(return_inverse=True, return_counts=True)",
            lines(
                unique_consecutive(&tensor(&[5], DType::Int, &[1.0, 1.0, 2.0, 1.0, 1.0]), true)
                    .map(|found| vec![found.values, found.inverse, found.counts]),
            ),
            "int32 [3] (1) @0: 1 2 1 | int64 [5] (1) @0: 0 0 1 2 2 | int64 [3] (1) @0: 2 1 2",
        ),
        (
            "L([0j]).unique(return_inverse=True, return_counts=True)",
            lines(
                unique(&arange(&[1], DType::ComplexFloat)).map(|found| vec![found.values, found.inverse, found.counts]),
            ),
            "RuntimeError: \"unique\" not implemented for 'ComplexFloat'",
        ),
        (
            "((torch.arange(40) * 7) % 5).reshape(10, 4).unique(dim=0, return_inverse=True, return_counts=True)",
            lines(
                unique_slices(&must(reshape(&ties, &[10, 4])), 0, true)
                    .map(|found| vec![found.values, found.inverse, found.counts]),
            ),
            "int64 [5, 4] (4,1) @0: 0 2 4 1 1 3 0 2 2 4 1 3 | int64 [10] (1) @0: 0 3 1 4 2 0 3 1 4 2 | int64 [5] (1) @0: 2 2 2 2 2",
        ),
        (
            "((torch.arange(40) * 7) % 5).reshape(4, 10).unique(dim=1, return_inverse=True, return_counts=True)",
            lines(
                unique_slices(&must(reshape(&ties, &[4, 10])), 1, true)
                    .map(|found| vec![found.values, found.inverse, found.counts]),
            ),
            "int64 [4, 5] (1,4) @0: 0 1 2 3 4 0 1 2 3 4 0 1 | int64 [10] (1) @0: 0 2 4 1 3 0 2 4 1 3 | int64 [5] (1) @0: 2 2 2 2 2",
        ),
        (
            "n.unique(dim=0, return_inverse=True, return_counts=True)",
            lines(unique_slices(&n, 0, true).map(|found| vec![found.values, found.inverse, found.counts])),
            "IndexError: Dimension specified as 0 but tensor has no dimensions",
        ),
    ]);
}
