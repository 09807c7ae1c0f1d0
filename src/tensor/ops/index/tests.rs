//! Reads and writes through subscripts. Expectations are the results of PyTorch 2.7.0 for the Python beside them.

use super::*;
use crate::ops::check::testing::*;
use crate::ops::view::conj;
use crate::view::complex;

/// Applies a change to a copy of the tensor.
fn written(view: &View, change: impl FnOnce(&View) -> Result<()>) -> Result<View> {
    let copy = clone(view)?;
    change(&copy)?;
    Ok(copy)
}

/// Applies a change that reads its own target to `torch.arange(5)`.
fn overlapping(change: impl FnOnce(&View) -> Result<()>) -> Result<View> {
    let v = arange(&[5], DType::Long);
    change(&v)?;
    Ok(v)
}

fn sliced(v: &View, start: i64, stop: i64) -> View {
    must(index(v, &[slice(start, stop, 1)]))
}

fn at(v: &View, i: i64) -> View {
    must(index(v, &[int(i)]))
}

#[test]
fn basic_subscripts_give_views() {
    let x = arange(&[2, 3, 4], DType::Long);
    check(&[
        ("x[0]", line(&index(&x, &[int(0)])), "int64 [3, 4] (4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        ("x[-1, 1]", line(&index(&x, &[int(-1), int(1)])), "int64 [4] (1) @16: 16 17 18 19"),
        (
            "x[1:]",
            line(&index(&x, &[slice(1, None, 1)])),
            "int64 [1, 3, 4] (12,4,1) @12: 12 13 14 15 16 17 18 19 20 21 22 23",
        ),
        (
            "x[:, :100:2]",
            line(&index(&x, &[ALL, slice(None, 100, 2)])),
            "int64 [2, 2, 4] (12,8,1) @0: 0 1 2 3 8 9 10 11 12 13 14 15",
        ),
        ("x[:, 5:]", line(&index(&x, &[ALL, slice(5, None, 1)])), "int64 [2, 0, 4] (12,4,1) @12: "),
        (
            "x[:, -100:2]",
            line(&index(&x, &[ALL, slice(-100, 2, 1)])),
            "int64 [2, 2, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 12 13 14 15",
        ),
        ("x[..., 0]", line(&index(&x, &[Index::Ellipsis, int(0)])), "int64 [2, 3] (12,4) @0: 0 4 8 12 16 20"),
        (
            "x[None, ..., 0, None]",
            line(&index(&x, &[Index::NewAxis, Index::Ellipsis, int(0), Index::NewAxis])),
            "int64 [1, 2, 3, 1] (24,12,4,1) @0: 0 4 8 12 16 20",
        ),
        ("x[()]", line(&index(&x, &[])), "int64 [2, 3, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x[..., 0, ...]",
            line(&index(&x, &[Index::Ellipsis, int(0), Index::Ellipsis])),
            "int64 [2, 3] (12,4) @0: 0 4 8 12 16 20",
        ),
        (
            "x[..., ..., :]",
            line(&index(&x, &[Index::Ellipsis, Index::Ellipsis, ALL])),
            "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 4)",
        ),
        (
            "x[..., ..., [0]]",
            line(&index(&x, &[Index::Ellipsis, Index::Ellipsis, by(&long(&[0]))])),
            "IndexError: too many indices for tensor of dimension 3 (got 5)",
        ),
        ("x[2]", line(&index(&x, &[int(2)])), "IndexError: index 2 is out of bounds for dimension 0 with size 2"),
        (
            "x[0, 3]",
            line(&index(&x, &[int(0), int(3)])),
            "IndexError: index 3 is out of bounds for dimension 1 with size 3",
        ),
        (
            "x[0, 0, 0, 0]",
            line(&index(&x, &[int(0), int(0), int(0), int(0)])),
            "IndexError: too many indices for tensor of dimension 3",
        ),
        ("x[::-1]", line(&index(&x, &[slice(None, None, -1)])), "ValueError: step must be greater than zero"),
        ("x[::0]", line(&index(&x, &[slice(None, None, 0)])), "ValueError: slice step cannot be zero"),
        (
            "x[::M]",
            line(&index(&x, &[slice(None, None, i64::MAX)])),
            "RuntimeError: as_strided: Negative strides are not supported at the moment, got strides: [-12, 4, 1]",
        ),
        (
            "x[L(1, dtype=torch.int16)]",
            line(&index(&x, &[by(&tensor(&[], DType::Short, &[1.0]))])),
            "int64 [3, 4] (4,1) @12: 12 13 14 15 16 17 18 19 20 21 22 23",
        ),
        (
            "x[L(1.)]",
            line(&index(&x, &[by(&tensor(&[], DType::Float, &[1.0]))])),
            "IndexError: tensors used as indices must be long, int, byte or bool tensors",
        ),
        (
            "x[True]",
            line(&index(&x, &[Index::Bool(true)])),
            "int64 [1, 2, 3, 4] (24,12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        ("x[False]", line(&index(&x, &[Index::Bool(false)])), "int64 [0, 2, 3, 4] (24,12,4,1) @0: "),
        (
            "x[None, True]",
            line(&index(&x, &[Index::NewAxis, Index::Bool(true)])),
            "int64 [1, 1, 2, 3, 4] (24,24,12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
    ]);
}

#[test]
fn tensors_and_masks_gather() {
    let x = arange(&[2, 3, 4], DType::Long);
    let z = must(View::from_scalars(&[1, 2], DType::ComplexFloat, [complex(1.0, 2.0), complex(3.0, -4.0)]));
    let turned = must(crate::ops::view::permute(&x, &[2, 0, 1]));
    check(&[
        (
            "x[[0, 1]]",
            line(&index(&x, &[by(&long(&[0, 1]))])),
            "int64 [2, 3, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        (
            "x[:, [0, 2]]",
            line(&index(&x, &[ALL, by(&long(&[0, 2]))])),
            "int64 [2, 2, 4] (8,4,1) @0: 0 1 2 3 8 9 10 11 12 13 14 15",
        ),
        (
            "x[[0, 1], [1, 2]]",
            line(&index(&x, &[by(&long(&[0, 1])), by(&long(&[1, 2]))])),
            "int64 [2, 4] (4,1) @0: 4 5 6 7 20 21 22 23",
        ),
        (
            "x[[0, 1], :, [1, 2]]",
            line(&index(&x, &[by(&long(&[0, 1])), ALL, by(&long(&[1, 2]))])),
            "int64 [2, 3] (3,1) @0: 1 5 9 14 18 22",
        ),
        ("x[0, :, [0, 1]]", line(&index(&x, &[int(0), ALL, by(&long(&[0, 1]))])), "int64 [3, 2] (2,1) @0: 0 1 4 5 8 9"),
        (
            "x[..., [0, 1]]",
            line(&index(&x, &[Index::Ellipsis, by(&long(&[0, 1]))])),
            "int64 [2, 3, 2] (6,2,1) @0: 0 1 4 5 8 9 12 13 16 17 20 21",
        ),
        (
            "x[:, None, [0, -1]]",
            line(&index(&x, &[ALL, Index::NewAxis, by(&long(&[0, -1]))])),
            "int64 [2, 1, 2, 4] (8,8,4,1) @0: 0 1 2 3 8 9 10 11 12 13 14 15",
        ),
        ("x[:, L([], dtype=torch.long)]", line(&index(&x, &[ALL, by(&long(&[]))])), "int64 [2, 0, 4] (4,4,1) @0: "),
        (
            "x[:, True, [0, 1]]",
            line(&index(&x, &[ALL, Index::Bool(true), by(&long(&[0, 1]))])),
            "int64 [2, 2, 4] (8,4,1) @0: 0 1 2 3 4 5 6 7 12 13 14 15",
        ),
        (
            "x[:, m]",
            line(&index(&x, &[ALL, by(&bools(&[1, 0, 1]))])),
            "int64 [2, 2, 4] (8,4,1) @0: 0 1 2 3 8 9 10 11 12 13 14 15",
        ),
        (
            "x[[0, 1], m]",
            line(&index(&x, &[by(&long(&[0, 1])), by(&bools(&[1, 0, 1]))])),
            "int64 [2, 4] (4,1) @0: 0 1 2 3 20 21 22 23",
        ),
        (
            "x[L([1, 0], dtype=torch.uint8)]",
            line(&index(&x, &[by(&tensor(&[2], DType::Byte, &[1.0, 0.0]))])),
            "int64 [1, 3, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        (
            "x[[2]]",
            line(&index(&x, &[by(&long(&[2]))])),
            "IndexError: index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            "x[:, [5]]",
            line(&index(&x, &[ALL, by(&long(&[5]))])),
            "IndexError: index 5 is out of bounds for dimension 0 with size 3",
        ),
        (
            "x[[0, 1], [0, 1, 2]]",
            line(&index(&x, &[by(&long(&[0, 1])), by(&long(&[0, 1, 2]))])),
            "IndexError: shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (
            "x[m]",
            line(&index(&x, &[by(&bools(&[1, 0, 1]))])),
            "IndexError: The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [2, 3, 4] at index 0",
        ),
        (
            "x[L([0], dtype=torch.int16)]",
            line(&index(&x, &[by(&tensor(&[1], DType::Short, &[0.0]))])),
            "IndexError: tensors used as indices must be long, int, byte or bool tensors",
        ),
        (
            "x.permute(2, 0, 1)[[0, 1]]",
            line(&index(&turned, &[by(&long(&[0, 1]))])),
            "int64 [2, 2, 3] (6,3,1) @0: 0 4 8 12 16 20 1 5 9 13 17 21",
        ),
        (
            "x.permute(2, 0, 1)[:, [1, 0]]",
            line(&index(&turned, &[ALL, by(&long(&[1, 0]))])),
            "int64 [4, 2, 3] (1,4,8) @0: 12 16 20 0 4 8 13 17 21 1 5 9",
        ),
        (
            "x.permute(2, 0, 1)[:, :, [[2, 0]]]",
            line(&index(&turned, &[ALL, ALL, by(&tensor(&[1, 2], DType::Long, &[2.0, 0.0]))])),
            "int64 [4, 2, 1, 2] (2,8,2,1) @0: 8 0 20 12 9 1 21 13 10 2 22 14",
        ),
        (
            "x.permute(2, 0, 1)[[0, 1], :, [1, 2]]",
            line(&index(&turned, &[by(&long(&[0, 1])), ALL, by(&long(&[1, 2]))])),
            "int64 [2, 2] (2,1) @0: 4 16 9 21",
        ),
        (
            "x.permute(2, 0, 1)[L([], dtype=torch.long), 2:]",
            line(&index(&turned, &[by(&long(&[])), slice(2, None, 1)])),
            "int64 [0, 0, 3] (3,3,1) @0: ",
        ),
        (
            "torch.zeros(0, 3)[[0]]",
            line(&index(&must(View::zeros(&[0, 3], DType::Float, Device::CPU)), &[by(&long(&[0]))])),
            "IndexError: index is out of bounds for dimension with size 0",
        ),
        (
            "L([1., 2.]).to(torch.float8_e5m2)[[0]]",
            line(&index(&tensor(&[2], DType::Float8_e5m2, &[1.0, 2.0]), &[by(&long(&[0]))])),
            "RuntimeError: \"index_cpu\" not implemented for 'Float8_e5m2'",
        ),
        ("z.conj()[:, [1]]", line(&index(&conj(&z), &[ALL, by(&long(&[1]))])), "complex64 [1, 1] (1,1) @0: 3+4j"),
        ("z.conj()[0]", line(&index(&conj(&z), &[int(0)])), "complex64 [2] (1) @0 conj: 1-2j 3+4j"),
        (
            "torch.zeros(2, 3, device='meta')[[9]]",
            line(&index(&must(View::zeros(&[2, 3], DType::Float, Device::META)), &[by(&long(&[9]))])),
            "float32 [1, 3] (3,1) @0 meta",
        ),
    ]);
}

#[test]
fn a_number_has_subscripts_too() {
    let n = tensor(&[], DType::Long, &[7.0]);
    check(&[
        (
            "n[0]",
            line(&index(&n, &[int(0)])),
            "IndexError: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
        ),
        ("n[0, 0]", line(&index(&n, &[int(0), int(0)])), "IndexError: too many indices for tensor of dimension 0"),
        ("n[...]", line(&index(&n, &[Index::Ellipsis])), "int64 [] () @0: 7"),
        ("n[None]", line(&index(&n, &[Index::NewAxis])), "int64 [1] (1) @0: 7"),
        ("n[True]", line(&index(&n, &[Index::Bool(true)])), "int64 [1] (1) @0: 7"),
        ("n[:]", line(&index(&n, &[ALL])), "IndexError: slice() cannot be applied to a 0-dim tensor."),
        ("n[1]", line(&index(&n, &[int(1)])), "IndexError: index 1 is out of bounds for dimension 0 with size 0"),
    ]);
}

#[test]
fn assignment_broadcasts() {
    let f = arange(&[2, 3], DType::Float);
    check(&[
        (
            "put(f, 0, 9)",
            line(&written(&f, |t| set(t, &[int(0)], &must(number(&f, Scalar::Int(9)))))),
            "float32 [2, 3] (3,1) @0: 9 9 9 3 4 5",
        ),
        (
            "put(f, 0, L([[[7, 8, 9]]]).double())",
            line(&written(&f, |t| set(t, &[int(0)], &tensor(&[1, 1, 3], DType::Double, &[7.0, 8.0, 9.0])))),
            "float32 [2, 3] (3,1) @0: 7 8 9 3 4 5",
        ),
        (
            "put(f, (slice(None), 1), L([5, 6]))",
            line(&written(&f, |t| set(t, &[ALL, int(1)], &tensor(&[2], DType::Long, &[5.0, 6.0])))),
            "float32 [2, 3] (3,1) @0: 0 5 2 3 6 5",
        ),
        (
            "put(f, 0, torch.arange(4.))",
            line(&written(&f, |t| set(t, &[int(0)], &arange(&[4], DType::Float)))),
            "RuntimeError: The expanded size of the tensor (3) must match the existing size (4) at non-singleton dimension 0.  Target sizes: [3].  Tensor sizes: [4]",
        ),
        (
            "put(f, 0, torch.arange(6.).reshape(2, 3))",
            line(&written(&f, |t| set(t, &[int(0)], &arange(&[2, 3], DType::Float)))),
            "RuntimeError: expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
        ),
        (
            "put(f, 0, torch.arange(6).reshape(2, 3).bool())",
            line(&written(&f, |t| set(t, &[int(0)], &arange(&[2, 3], DType::Bool)))),
            "RuntimeError: expand(CPUBoolType{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
        ),
        (
            "put(f, False, torch.arange(9.))",
            line(&written(&f, |t| set(t, &[Index::Bool(false)], &arange(&[9], DType::Float)))),
            "float32 [2, 3] (3,1) @0: 0 1 2 3 4 5",
        ),
        (
            "put(f, True, torch.arange(9.))",
            line(&written(&f, |t| set(t, &[Index::Bool(true)], &arange(&[9], DType::Float)))),
            "RuntimeError: The expanded size of the tensor (3) must match the existing size (9) at non-singleton dimension 2.  Target sizes: [1, 2, 3].  Tensor sizes: [9]",
        ),
        (
            "put(f, ([0, 0], [0, 0]), torch.arange(2.))",
            line(&written(&f, |t| set(t, &[by(&long(&[0, 0])), by(&long(&[0, 0]))], &arange(&[2], DType::Float)))),
            "float32 [2, 3] (3,1) @0: 1 1 2 3 4 5",
        ),
        (
            "put(f, ([0, 1], [0, 1]), torch.arange(3.))",
            line(&written(&f, |t| set(t, &[by(&long(&[0, 1])), by(&long(&[0, 1]))], &arange(&[3], DType::Float)))),
            "RuntimeError: shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape [2]",
        ),
        (
            "put(f, [0, 1], torch.arange(3))",
            line(&written(&f, |t| set(t, &[by(&long(&[0, 1]))], &arange(&[3], DType::Long)))),
            "RuntimeError: Index put requires the source and destination dtypes match, got Float for the destination and Long for the source.",
        ),
        (
            "put(f, (slice(None), m), -1)",
            line(&written(&f, |t| set(t, &[ALL, by(&bools(&[1, 0, 1]))], &must(number(&f, Scalar::Int(-1)))))),
            "float32 [2, 3] (3,1) @0: -1 1 -1 -1 4 -1",
        ),
        (
            "put(f, (slice(None), m), L([8]))",
            line(&written(&f, |t| set(t, &[ALL, by(&bools(&[1, 0, 1]))], &tensor(&[1], DType::Long, &[8.0])))),
            "float32 [2, 3] (3,1) @0: 8 1 8 8 4 8",
        ),
        (
            "put(f, [2], 1)",
            line(&written(&f, |t| set(t, &[by(&long(&[2]))], &must(number(&f, Scalar::Int(1)))))),
            "IndexError: index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            "put(f, (0, 0, 0), 1)",
            line(&written(&f, |t| set(t, &[int(0), int(0), int(0)], &must(number(&f, Scalar::Int(1)))))),
            "IndexError: too many indices for tensor of dimension 2",
        ),
        (
            "put(L([0], dtype=torch.uint8), 0, 256)",
            line(&number(&tensor(&[1], DType::Byte, &[0.0]), Scalar::Int(256))),
            "RuntimeError: value cannot be converted to type uint8_t without overflow",
        ),
        (
            "put(L([0j]).to(torch.complex32), 0, 70000)",
            line(&number(&tensor(&[1], DType::ComplexHalf, &[0.0]), Scalar::Int(70000))),
            "RuntimeError: value cannot be converted to type c10::complex<c10::Half> without overflow",
        ),
        (
            "(lambda v: on(v, slice(1, None), v[:-1]))(v)",
            line(&overlapping(|v| set(v, &[slice(1, None, 1)], &sliced(v, 0, 4)))),
            "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.",
        ),
        (
            "(lambda v: on(v, slice(1, None), v[1:2]))(v)",
            line(&overlapping(|v| set(v, &[slice(1, None, 1)], &sliced(v, 1, 2)))),
            "int64 [5] (1) @0: 0 1 1 1 1",
        ),
        (
            "(lambda v: on(v, slice(1, None), v[1]))(v)",
            line(&overlapping(|v| set(v, &[slice(1, None, 1)], &at(v, 1)))),
            "int64 [5] (1) @0: 0 1 1 1 1",
        ),
        (
            "(lambda v: on(v, slice(None, None, 2), v[:3]))(v)",
            line(&overlapping(|v| set(v, &[slice(None, None, 2)], &sliced(v, 0, 3)))),
            "int64 [5] (1) @0: 0 1 1 3 1",
        ),
        (
            "(lambda v: on(v, [0, 1], v[3:]))(v)",
            line(&overlapping(|v| set(v, &[by(&long(&[0, 1]))], &sliced(v, 3, 5)))),
            "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.",
        ),
        (
            "(lambda v: on(v, v, v))(v)",
            line(&overlapping(|v| set(v, &[by(v)], v))),
            "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.",
        ),
        (
            "do(\"index_put_\", f, (L([1, 1]),), L(1.), accumulate=True)",
            line(&written(&f, |t| index_put_(t, &[Some(long(&[1, 1]))], &tensor(&[], DType::Float, &[1.0]), true))),
            "float32 [2, 3] (3,1) @0: 0 1 2 5 6 7",
        ),
        (
            "do(\"index_put_\", f, (L([0]), L([0]), L([0])), L([1]))",
            line(&written(&f, |t| {
                index_put_(t, &[Some(long(&[0])), Some(long(&[0])), Some(long(&[0]))], &long(&[1]), false)
            })),
            "IndexError: too many indices for tensor of dimension 2 (got 3)",
        ),
        (
            "do(\"index_put_\", L([1, 2], dtype=torch.uint16), (L([0]),), L([1], dtype=torch.uint16))",
            line(&written(&tensor(&[2], DType::UInt16, &[1.0, 2.0]), |t| {
                index_put_(t, &[Some(long(&[0]))], &tensor(&[1], DType::UInt16, &[1.0]), false)
            })),
            "RuntimeError: \"index_put\" not implemented for 'UInt16'",
        ),
    ]);
}
