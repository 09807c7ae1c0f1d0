//! Reads and writes by indices along one dimension. Expectations are the results of PyTorch 2.7.0 for the Python beside
//! them.

use super::*;
use crate::Scalar;
use crate::ops::check::testing::*;
use crate::view::complex;

/// Applies a change to a copy of the tensor.
fn written(view: &View, change: impl FnOnce(&View) -> Result<()>) -> Result<View> {
    let copy = crate::ops::copy::clone(view)?;
    change(&copy)?;
    Ok(copy)
}

#[test]
fn reading_by_indices() {
    let x = arange(&[2, 3, 4], DType::Long);
    let n = tensor(&[], DType::Long, &[7.0]);
    check(&[
        (
            "x.index_select(1, L([2, 0]))",
            line(&index_select(&x, 1, &long(&[2, 0]))),
            "int64 [2, 2, 4] (8,4,1) @0: 8 9 10 11 0 1 2 3 20 21 22 23",
        ),
        (
            "x.index_select(0, L([2]))",
            line(&index_select(&x, 0, &long(&[2]))),
            "IndexError: index out of range in self",
        ),
        (
            "x.index_select(1, L([-1]))",
            line(&index_select(&x, 1, &long(&[-1]))),
            "RuntimeError: INDICES element is out of DATA bounds, id=-1 axis_dim=3",
        ),
        (
            "n.index_select(0, L([0, 0]))",
            line(&index_select(&n, 0, &long(&[0, 0]))),
            "RuntimeError: index_select(): Index to scalar can have only 1 value, got 2 value(s)",
        ),
        (
            "x.index_select(0, L([0.]))",
            line(&index_select(&x, 0, &arange(&[1], DType::Float))),
            "RuntimeError: index_select(): Expected dtype int32 or int64 for index",
        ),
        (
            "x.index_select(0, L([[0]]))",
            line(&index_select(&x, 0, &arange(&[1, 1], DType::Long))),
            "IndexError: index_select(): Index is supposed to be a vector",
        ),
        (
            "L([1, 2], dtype=torch.uint16).index_select(0, L([0]))",
            line(&index_select(&tensor(&[2], DType::UInt16, &[1.0, 2.0]), 0, &long(&[0]))),
            "RuntimeError: \"index_select\" not implemented for 'UInt16'",
        ),
        (
            "x.gather(2, L([[[0, 3, 1], [2, 2, 0]]]))",
            line(&gather(&x, 2, &tensor(&[1, 2, 3], DType::Long, &[0.0, 3.0, 1.0, 2.0, 2.0, 0.0]))),
            "int64 [1, 2, 3] (6,3,1) @0: 0 3 1 6 6 4",
        ),
        (
            "x.gather(2, L([[[9]]]))",
            line(&gather(&x, 2, &tensor(&[1, 1, 1], DType::Long, &[9.0]))),
            "RuntimeError: index 9 is out of bounds for dimension 2 with size 4",
        ),
        (
            "x.gather(2, L([0]))",
            line(&gather(&x, 2, &long(&[0]))),
            "RuntimeError: Index tensor must have the same number of dimensions as input tensor",
        ),
        (
            "x.gather(0, torch.zeros(1, 4, 1, dtype=torch.long))",
            line(&gather(&x, 0, &must(View::zeros(&[1, 4, 1], DType::Long, Device::CPU)))),
            "RuntimeError: Size does not match at dimension 1 expected index [1, 4, 1] to be no larger than self [2, 3, 4] apart from dimension 0",
        ),
        (
            "x.gather(0, L([[[0]]], dtype=torch.int32))",
            line(&gather(&x, 0, &arange(&[1, 1, 1], DType::Int))),
            "RuntimeError: gather(): Expected dtype int64 for index",
        ),
        ("n.gather(0, L([0, 0]))", line(&gather(&n, 0, &long(&[0, 0]))), "int64 [2] (1) @0: 7 7"),
        ("x.take(L([0, 23, -1]))", line(&take(&x, &long(&[0, 23, -1]))), "int64 [3] (1) @0: 0 23 23"),
        (
            "x.transpose(0, 2).take(L([1, 2]))",
            line(&take(&must(view::transpose(&x, 0, 2)), &long(&[1, 2]))),
            "int64 [2] (1) @0: 12 4",
        ),
        (
            "x.take(L([24]))",
            line(&take(&x, &long(&[24]))),
            "IndexError: out of range: tried to access index 24 on a tensor of 24 elements.",
        ),
        (
            "torch.zeros(0).take(L([0]))",
            line(&take(&must(View::zeros(&[0], DType::Float, Device::CPU)), &long(&[0]))),
            "IndexError: take(): tried to take from an empty tensor",
        ),
        (
            "x.take_along_dim(L([[[1]]]), 0)",
            line(&take_along_dim(&x, &tensor(&[1, 1, 1], DType::Long, &[1.0]), Some(0))),
            "int64 [1, 3, 4] (12,4,1) @0: 12 13 14 15 16 17 18 19 20 21 22 23",
        ),
        ("x.take_along_dim(L([1]))", line(&take_along_dim(&x, &long(&[1]), None)), "int64 [1] (1) @0: 1"),
        (
            "x.take_along_dim(L([1]), 0)",
            line(&take_along_dim(&x, &long(&[1]), Some(0))),
            "RuntimeError: torch.take_along_dim(): input and indices should have the same number of dimensions, but got 3 dimensions for input, and 1 dimensions for indices",
        ),
        (
            "x.take_along_dim(torch.zeros(2, 2, 2, dtype=torch.long), 0)",
            line(&take_along_dim(&x, &must(View::zeros(&[2, 2, 2], DType::Long, Device::CPU)), Some(0))),
            "RuntimeError: The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 2",
        ),
    ]);
}

#[test]
fn writing_by_indices() {
    let f = arange(&[2, 3], DType::Float);
    check(&[
        (
            "do(\"scatter_\", f, 0, L([[0, 1, 0]]), L([[7., 8., 9.]]))",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    0,
                    &tensor(&[1, 3], DType::Long, &[0.0, 1.0, 0.0]),
                    Scattered::Source(&tensor(&[1, 3], DType::Float, &[7.0, 8.0, 9.0])),
                    None,
                )
            })),
            "float32 [2, 3] (3,1) @0: 7 1 9 3 8 5",
        ),
        (
            "do(\"scatter_\", f, 1, L([[2, 2, 2]]), L([[7., 8., 9.]]))",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    1,
                    &tensor(&[1, 3], DType::Long, &[2.0, 2.0, 2.0]),
                    Scattered::Source(&tensor(&[1, 3], DType::Float, &[7.0, 8.0, 9.0])),
                    None,
                )
            })),
            "float32 [2, 3] (3,1) @0: 0 1 9 3 4 5",
        ),
        (
            "do(\"scatter_\", f, 0, L([[0, 1, 0]]), 5, reduce=\"multiply\")",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    0,
                    &tensor(&[1, 3], DType::Long, &[0.0, 1.0, 0.0]),
                    Scattered::Value(Scalar::Int(5)),
                    Some("multiply"),
                )
            })),
            "float32 [2, 3] (3,1) @0: 0 1 10 3 20 5",
        ),
        (
            "do(\"scatter_\", f, 0, L([[0, 1, 0]]), 5, reduce=\"mean\")",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    0,
                    &tensor(&[1, 3], DType::Long, &[0.0, 1.0, 0.0]),
                    Scattered::Value(Scalar::Int(5)),
                    Some("mean"),
                )
            })),
            "RuntimeError: reduce argument must be either add or multiply.",
        ),
        (
            "do(\"scatter_\", f, 0, L([[0, 1, 0]]), 1j)",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    0,
                    &tensor(&[1, 3], DType::Long, &[0.0, 1.0, 0.0]),
                    Scattered::Value(complex(0.0, 1.0)),
                    None,
                )
            })),
            "RuntimeError: value cannot be converted to type float without overflow",
        ),
        (
            "do(\"scatter_\", f, 0, L([0]), f)",
            line(&written(&f, |t| scatter_(t, 0, &long(&[0]), Scattered::Source(&f), None))),
            "RuntimeError: Index tensor must have the same number of dimensions as self tensor",
        ),
        (
            "do(\"scatter_\", f, 0, L([[2]]), f)",
            line(&written(&f, |t| scatter_(t, 0, &tensor(&[1, 1], DType::Long, &[2.0]), Scattered::Source(&f), None))),
            "RuntimeError: index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            "do(\"scatter_\", f, 0, torch.zeros(3, 3, dtype=torch.long), f)",
            line(&written(&f, |t| {
                scatter_(t, 0, &must(View::zeros(&[3, 3], DType::Long, Device::CPU)), Scattered::Source(&f), None)
            })),
            "RuntimeError: Expected index [3, 3] to be no larger than self [2, 3] apart from dimension 0 and to be no larger size than src [2, 3]",
        ),
        (
            "do(\"scatter_\", f, 0, L([[0, 1, 0]]), torch.arange(6).reshape(2, 3))",
            line(&written(&f, |t| {
                scatter_(
                    t,
                    0,
                    &tensor(&[1, 3], DType::Long, &[0.0, 1.0, 0.0]),
                    Scattered::Source(&arange(&[2, 3], DType::Long)),
                    None,
                )
            })),
            "RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        ),
        (
            "do(\"scatter_add_\", L([256.]).bfloat16(), 0, L([0, 0, 0, 0]), torch.ones(4).bfloat16())",
            line(&written(&tensor(&[1], DType::BFloat16, &[256.0]), |t| {
                scatter_add_(t, 0, &long(&[0, 0, 0, 0]), &tensor(&[4], DType::BFloat16, &[1.0; 4]))
            })),
            "bfloat16 [1] (1) @0: 260",
        ),
        (
            "do(\"scatter_add_\", L([False] * 3), 0, L([1, 1]), L([True, True]))",
            line(&written(&tensor(&[3], DType::Bool, &[0.0; 3]), |t| {
                scatter_add_(t, 0, &long(&[1, 1]), &bools(&[1, 1]))
            })),
            "bool [3] (1) @0: 0 1 0",
        ),
        (
            "do(\"put_\", f, L([5, -6]), L([8., 9.]), accumulate=True)",
            line(&written(&f, |t| put_(t, &long(&[5, -6]), &tensor(&[2], DType::Float, &[8.0, 9.0]), true))),
            "float32 [2, 3] (3,1) @0: 9 1 2 3 4 13",
        ),
        (
            "do(\"put_\", f, L([6]), L([8.]))",
            line(&written(&f, |t| put_(t, &long(&[6]), &tensor(&[1], DType::Float, &[8.0]), false))),
            "IndexError: out of range: tried to access index 6 on a tensor of 6 elements.",
        ),
        (
            "do(\"put_\", f, L([0, 1]), L([8.]))",
            line(&written(&f, |t| put_(t, &long(&[0, 1]), &tensor(&[1], DType::Float, &[8.0]), false))),
            "IndexError: put_(): Expected source and index to have the same number of elements, but got source.numel() = 1, index.numel() = 2",
        ),
        (
            "do(\"index_add_\", f, 1, L([0, 0]), torch.ones(2, 2), alpha=0.5)",
            line(&written(&f, |t| {
                index_add_(t, 1, &long(&[0, 0]), &tensor(&[2, 2], DType::Float, &[1.0; 4]), Scalar::Float(0.5))
            })),
            "float32 [2, 3] (3,1) @0: 1 1 2 4 4 5",
        ),
        (
            "do(\"index_add_\", f, 0, L([0, 2]), f)",
            line(&written(&f, |t| index_add_(t, 0, &long(&[0, 2]), &f, Scalar::Int(1)))),
            "RuntimeError: index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            "do(\"index_add_\", f, 0, L([0, 2]), f, alpha=2)",
            line(&written(&f, |t| index_add_(t, 0, &long(&[0, 2]), &f, Scalar::Int(2)))),
            "IndexError: index out of range in self",
        ),
        (
            "do(\"index_add_\", f, 0, L([0]), f)",
            line(&written(&f, |t| index_add_(t, 0, &long(&[0]), &f, Scalar::Int(1)))),
            "RuntimeError: index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0",
        ),
        (
            "do(\"index_copy_\", f, 0, L([1, 0]), f)",
            line(&written(&f, |t| index_copy_(t, 0, &long(&[1, 0]), &f))),
            "float32 [2, 3] (3,1) @0: 3 4 5 0 1 2",
        ),
        (
            "do(\"index_copy_\", f, 0, L([1, -1]), f)",
            line(&written(&f, |t| index_copy_(t, 0, &long(&[1, -1]), &f))),
            "IndexError: index_copy_(): index -1 is out of bounds for dimension 0 with size 2",
        ),
        (
            "do(\"index_copy_\", f, 0, L([0]), f)",
            line(&written(&f, |t| index_copy_(t, 0, &long(&[0]), &f))),
            "IndexError: index_copy_(): Number of indices (1) should be equal to source.size(dim) (2)",
        ),
        (
            "do(\"index_copy_\", f, 0, L([0, 1]), torch.arange(4.).reshape(2, 2))",
            line(&written(&f, |t| index_copy_(t, 0, &long(&[0, 1]), &arange(&[2, 2], DType::Float)))),
            "RuntimeError: index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 3 at dimension 0 and source slice shape: 2 at dimension 0.",
        ),
        (
            "do(\"index_fill_\", f, 1, L([-1, 0]), 9)",
            line(&written(&f, |t| index_fill_(t, 1, &long(&[-1, 0]), Scalar::Int(9)))),
            "float32 [2, 3] (3,1) @0: 9 1 9 9 4 9",
        ),
        (
            "do(\"index_fill_\", f, 1, L([3]), 9)",
            line(&written(&f, |t| index_fill_(t, 1, &long(&[3]), Scalar::Int(9)))),
            "IndexError: index 3 is out of bounds for dimension 1 with size 3",
        ),
        (
            "do(\"index_fill_\", f, 1, L([0]), 1j)",
            line(&written(&f, |t| index_fill_(t, 1, &long(&[0]), complex(0.0, 1.0)))),
            "RuntimeError: index_fill_(): Converting complex Scalar to non-complex type is not supported",
        ),
        (
            "do(\"index_fill_\", f, 1, L([0], dtype=torch.int32), 9)",
            line(&written(&f, |t| index_fill_(t, 1, &arange(&[1], DType::Int), Scalar::Int(9)))),
            "IndexError: index_fill_(): Expected dtype int64 for index.",
        ),
    ]);
}

/// The loops for lines, single elements and other layouts read what one read of an element after another gives, in all
/// orders of dimensions, with gaps, repeated and reversed indices, from one piece to several.
#[test]
fn slices_are_what_single_reads_give() {
    let read = |view: &View, place: &[i64]| {
        let offset: i64 = place.iter().zip(view.strides()).map(|(i, stride)| i * stride).sum();
        let memory = view.memory().unwrap();
        view.read(&memory, view.layout.offset + offset)
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut compared = 0;
    for sizes in [[1, 1, 1], [2, 3, 4], [7, 1, 5], [40, 30, 9], [3, 50, 40]] {
        for dtype in [DType::Byte, DType::Half, DType::Float, DType::Double, DType::ComplexDouble] {
            let whole = arange(&sizes, dtype);
            for order in orders {
                for step in [1, 2] {
                    let mut layout = whole.layout.permute(&order).unwrap();
                    for d in 0..3 {
                        layout.sizes[d] = (layout.sizes[d] + step - 1) / step;
                        layout.strides[d] *= step;
                    }
                    let view = whole.with_layout(layout);
                    for d in 0..3 {
                        let size = view.sizes()[d];
                        let numbers: Vec<i64> = (0..size).rev().chain(0..size / 2).chain([0, 0, size - 1]).collect();
                        let negative: Vec<i64> = numbers.iter().map(|i| i - size).collect();
                        let mut wanted = Vec::new();
                        let mut sizes: Vec<i64> = view.sizes().to_vec();
                        sizes[d] = numbers.len() as i64;
                        for i in 0..sizes[0] {
                            for j in 0..sizes[1] {
                                for k in 0..sizes[2] {
                                    let mut place = [i, j, k];
                                    place[d] = numbers[place[d] as usize];
                                    wanted.push(read(&view, &place));
                                }
                            }
                        }
                        let selected = must(index_select(&view, d as i64, &long(&numbers)));
                        assert_eq!(selected.scalars().unwrap(), wanted, "{dtype:?} {:?} {d}", view.layout);
                        let mut subscript = vec![ALL; d];
                        subscript.push(by(&long(&negative)));
                        let indexed = must(crate::ops::index::index(&view, &subscript));
                        assert_eq!(indexed.scalars().unwrap(), wanted, "{dtype:?} {:?} {d}", view.layout);
                        compared += 1;
                    }
                    let flat: Vec<i64> = (0..view.numel()).rev().chain([0, -1, -view.numel()]).collect();
                    let all = view.scalars().unwrap();
                    let wanted: Vec<Scalar> = flat.iter().map(|&i| all[i.rem_euclid(view.numel()) as usize]).collect();
                    assert_eq!(must(take(&view, &long(&flat))).scalars().unwrap(), wanted, "{:?}", view.layout);
                }
            }
        }
    }
    assert!(compared > 500);
}

/// Displacements of several indices are summed index by index; the first number out of bounds is still the one of the
/// first element.
#[test]
fn several_indices_are_refused_element_by_element() {
    let x = arange(&[4, 5, 6], DType::Long);
    let three =
        |a: &[i64], b: &[i64], c: &[i64]| crate::ops::index::index(&x, &[by(&long(a)), by(&long(b)), by(&long(c))]);
    check(&[
        ("x[[0, 3], [1, -5], [2, -1]]", line(&three(&[0, 3], &[1, -5], &[2, -1])), "int64 [2] (1) @0: 8 95"),
        (
            "x[[0, 9], [1, 1], [7, 1]]",
            line(&three(&[0, 9], &[1, 1], &[7, 1])),
            "IndexError: index 7 is out of bounds for dimension 2 with size 6",
        ),
        (
            "x[[0, 9], [-6, 1], [7, 1]]",
            line(&three(&[0, 9], &[-6, 1], &[7, 1])),
            "IndexError: index -6 is out of bounds for dimension 1 with size 5",
        ),
    ]);
}
