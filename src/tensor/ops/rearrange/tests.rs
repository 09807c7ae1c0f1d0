//! Rearranged elements. Expectations are the results of PyTorch 2.7.0 for the Python beside them.

use super::*;
use crate::ops::check::testing::*;

#[test]
fn rearranged_copies() {
    let x = arange(&[2, 3, 4], DType::Long);
    let f = arange(&[2, 3], DType::Float);
    let v = arange(&[5], DType::Long);
    let n = tensor(&[], DType::Long, &[7.0]);
    check(&[
        ("x.roll(1)", line(&roll(&x, &[1], &[])), "int64 [2, 3, 4] (12,4,1) @0: 23 0 1 2 3 4 5 6 7 8 9 10"),
        (
            "f.t().roll(-4, 0)",
            line(&roll(&must(transpose(&f, 0, 1)), &[-4], &[0])),
            "float32 [3, 2] (2,1) @0: 1 4 2 5 0 3",
        ),
        (
            "x.roll((1, -1), (0, 2))",
            line(&roll(&x, &[1, -1], &[0, 2])),
            "int64 [2, 3, 4] (12,4,1) @0: 13 14 15 12 17 18 19 16 21 22 23 20",
        ),
        ("v.roll(M, 0)", line(&roll(&v, &[i64::MAX], &[0])), "int64 [5] (1) @0: 3 4 0 1 2"),
        ("x.roll((), ())", line(&roll(&x, &[], &[])), "RuntimeError: `shifts` required"),
        (
            "x.roll((1,), (0, 1))",
            line(&roll(&x, &[1], &[0, 1])),
            "RuntimeError: shifts and dimensions must align. shifts: 1, dims:2",
        ),
        (
            "n.roll(1, 0)",
            line(&roll(&n, &[1], &[0])),
            "IndexError: Dimension specified as 0 but tensor has no dimensions",
        ),
        (
            "x.flip(0, -1)",
            line(&flip(&x, &[0, -1])),
            "int64 [2, 3, 4] (12,4,1) @0: 15 14 13 12 19 18 17 16 23 22 21 20",
        ),
        ("f.t().flip(0)", line(&flip(&must(transpose(&f, 0, 1)), &[0])), "float32 [3, 2] (1,3) @0: 2 5 1 4 0 3"),
        ("x.flip(0, 0)", line(&flip(&x, &[0, 0])), "RuntimeError: dim 0 appears multiple times in the list of dims"),
        (
            "L([0, 1, 2], dtype=torch.uint16).flip(0)",
            line(&flip(&arange(&[3], DType::UInt16), &[0])),
            "RuntimeError: \"flip_cpu\" not implemented for 'UInt16'",
        ),
        (
            "L([[0, 1, 2], [3, 4, 5]], dtype=torch.uint16).flip(0)",
            line(&flip(&arange(&[2, 3], DType::UInt16), &[0])),
            "uint16 [2, 3] (3,1) @0: 3 4 5 0 1 2",
        ),
        ("torch.fliplr(v)", line(&fliplr(&v)), "RuntimeError: Input must be >= 2-d."),
        ("torch.flipud(v)", line(&flipud(&v)), "int64 [5] (1) @0: 4 3 2 1 0"),
        ("f.rot90()", line(&rot90(&f, 1, &[0, 1])), "float32 [3, 2] (1,3) @0: 2 5 1 4 0 3"),
        ("f.rot90(-1)", line(&rot90(&f, -1, &[0, 1])), "float32 [3, 2] (1,3) @0: 3 0 4 1 5 2"),
        (
            "f.t().rot90(-M - 1)",
            line(&rot90(&must(transpose(&f, 0, 1)), i64::MIN, &[0, 1])),
            "float32 [3, 2] (2,1) @0: 0 3 1 4 2 5",
        ),
        (
            "f.rot90(1, (0, -2))",
            line(&rot90(&f, 1, &[0, -2])),
            "RuntimeError: expected rotation dims to be different, but got dim0 = 0 and dim1 = -2",
        ),
        ("x.rot90(1, (0, 4))", line(&rot90(&x, 1, &[0, 4])), "RuntimeError: Rotation dim1 out of range, dim1 = 4"),
        ("v.rot90()", line(&rot90(&v, 1, &[0, 1])), "RuntimeError: expected total dims >= 2, but got total dims = 1"),
        ("f.repeat(2, 1, 2)", line(&repeat(&f, &[2, 1, 2])), "float32 [2, 2, 6] (12,6,1) @0: 0 1 2 0 1 2 3 4 5 3 4 5"),
        (
            "f.repeat(2)",
            line(&repeat(&f, &[2])),
            "RuntimeError: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
        ),
        (
            "f.repeat(1, -1)",
            line(&repeat(&f, &[1, -1])),
            "RuntimeError: Trying to create tensor with negative dimension -3: [2, -3]",
        ),
        (
            "f.repeat(M, 2)",
            line(&repeat(&f, &[i64::MAX, 2])),
            "RuntimeError: Trying to create tensor with negative dimension -2: [-2, 6]",
        ),
        ("x.tile(2)", line(&tile(&x, &[2])), "int64 [2, 3, 8] (24,8,1) @0: 0 1 2 3 0 1 2 3 4 5 6 7"),
        (
            "f.repeat_interleave(2)",
            line(&repeat_interleave(&f, 2, None, None)),
            "float32 [12] (1) @0: 0 0 1 1 2 2 3 3 4 4 5 5",
        ),
        (
            "f.repeat_interleave(2, dim=1)",
            line(&repeat_interleave(&f, 2, Some(1), None)),
            "float32 [2, 6] (6,1) @0: 0 0 1 1 2 2 3 3 4 4 5 5",
        ),
        (
            "f.repeat_interleave(-1)",
            line(&repeat_interleave(&f, -1, None, None)),
            "RuntimeError: Repeats must be non-negative",
        ),
        (
            "f.repeat_interleave(2, dim=0, output_size=5)",
            line(&repeat_interleave(&f, 2, Some(0), Some(5))),
            "RuntimeError: repeat_interleave: Invalid output_size, expected 4 but got 5",
        ),
        (
            "f.repeat_interleave(M)",
            line(&repeat_interleave(&f, i64::MAX, None, None)),
            "RuntimeError: numel: integer multiplication overflow",
        ),
        (
            "f.repeat_interleave(L([0, 2]), dim=0)",
            line(&repeat_interleave_counts(&f, &long(&[0, 2]), Some(0), None)),
            "float32 [2, 3] (3,1) @0: 3 4 5 3 4 5",
        ),
        (
            "f.repeat_interleave(L([1, 2]), dim=1)",
            line(&repeat_interleave_counts(&f, &long(&[1, 2]), Some(1), None)),
            "RuntimeError: repeats must have the same size as input along dim, but got repeats.size(0) = 2 and input.size(1) = 3",
        ),
        (
            "f.repeat_interleave(L([-1, 2]), dim=0)",
            line(&repeat_interleave_counts(&f, &long(&[-1, 2]), Some(0), None)),
            "RuntimeError: repeats can not be negative",
        ),
        (
            "f.repeat_interleave(L([0., 1.]), dim=0)",
            line(&repeat_interleave_counts(&f, &arange(&[2], DType::Float), Some(0), None)),
            "RuntimeError: \"repeat_interleave_cpu\" not implemented for 'Float'",
        ),
        ("x.tril()", line(&triangle(&x, Triangle::Lower, 0)), "int64 [2, 3, 4] (12,4,1) @0: 0 0 0 0 4 5 0 0 8 9 10 0"),
        (
            "f.t().triu(-1)",
            line(&triangle(&must(transpose(&f, 0, 1)), Triangle::Upper, -1)),
            "float32 [3, 2] (2,1) @0: 0 3 1 4 0 5",
        ),
        (
            "v.tril()",
            line(&triangle(&v, Triangle::Lower, 0)),
            "RuntimeError: tril: input tensor must have at least 2 dimensions",
        ),
        (
            "L([[0, 1], [2, 3]], dtype=torch.uint16).triu()",
            line(&triangle(&arange(&[2, 2], DType::UInt16), Triangle::Upper, 0)),
            "RuntimeError: \"triu\" not implemented for 'UInt16'",
        ),
        ("v.diag(1)", line(&diag(&v, 1)), "int64 [6, 6] (6,1) @0: 0 0 0 0 0 0 0 0 1 0 0 0"),
        ("f.diag(-1)", line(&diag(&f, -1)), "float32 [1] (1) @0: 3"),
        ("x.diag()", line(&diag(&x, 0)), "RuntimeError: diag(): Supports 1D or 2D tensors. Got 3D"),
        ("f.diag(-M - 1)", line(&diag(&f, i64::MIN)), "float32 [0] (1) @0: "),
        (
            "v.diag(M)",
            line(&diag(&v, i64::MAX)),
            "RuntimeError: IntArrayRef contains an int that cannot be represented as a SymInt: -9223372036854775804",
        ),
        (
            "f.diag_embed(-1, 0, 2)",
            line(&diag_embed(&f, -1, 0, 2)),
            "float32 [4, 2, 4] (8,4,1) @0: 0 0 0 0 0 0 0 0 0 0 0 0",
        ),
        (
            "f.diag_embed(0, 1, -2)",
            line(&diag_embed(&f, 0, 1, -2)),
            "RuntimeError: diagonal dimensions cannot be identical 1, -2",
        ),
        (
            "n.diag_embed()",
            line(&diag_embed(&n, 0, -2, -1)),
            "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got -2)",
        ),
        (
            "f.t().diagflat(1)",
            line(&diagflat(&must(transpose(&f, 0, 1)), 1)),
            "float32 [7, 7] (7,1) @0: 0 0 0 0 0 0 0 0 0 3 0 0",
        ),
    ]);
}

/// Mirrored and triangular copies of many sizes, dtypes and layouts equal copies of one element at a time, whatever the
/// number of threads.
#[test]
fn lines_are_copied_like_single_elements() {
    for cores in [1, 2, 3] {
        crate::parallel::set_cores(cores);
        for sizes in [&[1, 1][..], &[3, 5], &[7, 1], &[2, 3, 4], &[65, 130]] {
            for dtype in [DType::Byte, DType::Half, DType::Float, DType::Long, DType::ComplexDouble] {
                let whole = must(crate::ops::copy::cast(&arange(sizes, DType::Long), dtype));
                let flat = must(flatten(&whole, 0, -1));
                let last = sizes.len() as i64 - 1;
                let stepped = must(crate::ops::view::slice(&whole, last, Some(1), None, 2));
                let flipped = must(transpose(&whole, 0, last));
                for view in [whole, flipped, stepped, must(expand(&must(narrow(&flat, 0, 0, 1)), sizes))] {
                    if view.numel() > 0 {
                        agree(&view);
                    }
                }
            }
        }
    }
    crate::parallel::set_cores(0);
}

fn numbers(view: &View) -> Vec<crate::Scalar> {
    view.scalars().unwrap_or_else(|error| panic!("{error}"))
}

fn agree(view: &View) {
    let (sizes, read) = (view.sizes(), numbers(view));
    let at = |index: &[i64]| index.iter().zip(sizes).fold(0, |place, (i, size)| place * size + i) as usize;
    let places: Vec<Vec<i64>> = (0..view.numel())
        .map(|number| {
            let mut rest = number;
            let mut index: Vec<i64> = sizes.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
            index.reverse();
            index
        })
        .collect();
    for d in 0..sizes.len() {
        let mirrored = numbers(&must(flip(view, &[d as i64])));
        for (place, found) in places.iter().zip(mirrored) {
            let mut from = place.clone();
            from[d] = sizes[d] - 1 - place[d];
            assert_eq!(found, read[at(&from)], "{:?} flipped in {d}, at {place:?}", view.layout);
        }
    }
    for k in [-300, -2, 0, 1, 300] {
        for side in [Triangle::Lower, Triangle::Upper] {
            let triangle = numbers(&must(triangle(view, side, k)));
            for (place, found) in places.iter().zip(triangle) {
                let (row, column) = (place[sizes.len() - 2], place[sizes.len() - 1]);
                let kept = if side == Triangle::Lower { column <= row + k } else { column >= row + k };
                let expected = if kept { read[at(place)].to_complex() } else { Default::default() };
                assert_eq!(found.to_complex(), expected, "{:?} {side:?} {k} at {place:?}", view.layout);
            }
        }
    }
}
