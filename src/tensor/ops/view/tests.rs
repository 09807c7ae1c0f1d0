//! Views, and copies where views are impossible. Expectations are the results of PyTorch 2.7.0 for the Python beside
//! them.

use super::*;
use crate::ops::check::testing::*;
use crate::ops::copy::contiguous_as;
use crate::ops::split::*;
use crate::view::complex;
use crate::{Device, MemoryFormat};

#[test]
fn views_have_pytorchs_layouts_and_errors() {
    let x = arange(&[2, 3, 4], DType::Long);
    let f = arange(&[2, 3], DType::Float);
    let v = arange(&[5], DType::Long);
    let n = tensor(&[], DType::Long, &[7.0]);
    let z = must(View::from_scalars(&[1, 2], DType::ComplexFloat, [complex(1.0, 2.0), complex(3.0, -4.0)]));
    check(&[
        ("x.squeeze()", line(&squeeze(&x, None)), "int64 [2, 3, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x.squeeze((0, 0))",
            line(&squeeze(&x, Some(&[0, 0]))),
            "RuntimeError: dim 0 appears multiple times in the list of dims",
        ),
        (
            "x.squeeze(3)",
            line(&squeeze(&x, Some(&[3]))),
            "IndexError: Dimension out of range (expected to be in range of [-3, 2], but got 3)",
        ),
        (
            "x.unsqueeze(-5)",
            line(&unsqueeze(&x, -5)),
            "IndexError: Dimension out of range (expected to be in range of [-4, 3], but got -5)",
        ),
        ("x.unsqueeze(1)", line(&unsqueeze(&x, 1)), "int64 [2, 1, 3, 4] (12,12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x.transpose(-1, 0)",
            line(&transpose(&x, -1, 0)),
            "int64 [4, 3, 2] (1,4,12) @0: 0 12 4 16 8 20 1 13 5 17 9 21",
        ),
        (
            "x.permute(2, 0, 1)",
            line(&permute(&x, &[2, 0, 1])),
            "int64 [4, 2, 3] (1,12,4) @0: 0 4 8 12 16 20 1 5 9 13 17 21",
        ),
        (
            "x.permute(0, 1)",
            line(&permute(&x, &[0, 1])),
            "RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = 3 is not equal to len(dims) = 2",
        ),
        (
            "x.movedim((0, 1), (1, -1))",
            line(&movedim(&x, &[0, 1], &[1, -1])),
            "int64 [4, 2, 3] (1,12,4) @0: 0 4 8 12 16 20 1 5 9 13 17 21",
        ),
        (
            "x.movedim((0, 0), (1, 2))",
            line(&movedim(&x, &[0, 0], &[1, 2])),
            "RuntimeError: movedim: repeated dim in `source` ([0, 0])",
        ),
        (
            "x.movedim((0, 1), (1,))",
            line(&movedim(&x, &[0, 1], &[1])),
            "RuntimeError: movedim: Invalid source or destination dims: source ([0, 1] dims) should contain the same number of dims as destination ([1] dims)",
        ),
        ("x.t()", line(&t(&x)), "RuntimeError: t() expects a tensor with <= 2 dimensions, but self is 3D"),
        ("f.t()", line(&t(&f)), "float32 [3, 2] (1,3) @0: 0 3 1 4 2 5"),
        ("x.T", line(&Ok(numpy_t(&x))), "int64 [4, 3, 2] (1,4,12) @0: 0 12 4 16 8 20 1 13 5 17 9 21"),
        ("x.mT", line(&matrix_t(&x)), "int64 [2, 4, 3] (12,1,4) @0: 0 4 8 1 5 9 2 6 10 3 7 11"),
        (
            "v.mT",
            line(&matrix_t(&v)),
            "RuntimeError: tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.",
        ),
        (
            "x.H",
            line(&matrix_h(&x)),
            "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor. For batches of matrices, consider using tensor.mH",
        ),
        ("z.H", line(&matrix_h(&z)), "complex64 [2, 1] (1,2) @0 conj: 1-2j 3+4j"),
        (
            "v.adjoint()",
            line(&adjoint(&v, "adjoint()")),
            "RuntimeError: tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.",
        ),
        ("z.mH", line(&adjoint(&z, "mH")), "complex64 [2, 1] (1,2) @0 conj: 1-2j 3+4j"),
        ("z.conj()", line(&Ok(conj(&z))), "complex64 [1, 2] (2,1) @0 conj: 1-2j 3+4j"),
        ("z.conj().real", line(&Ok(real(&conj(&z)))), "float32 [1, 2] (4,2) @0: 1 3"),
        ("z.conj().imag", line(&imag(&conj(&z))), "float32 [1, 2] (4,2) @1 neg: -2 4"),
        ("x.imag", line(&imag(&x)), "RuntimeError: imag is not implemented for tensors with non-complex dtypes."),
        ("torch.view_as_real(z)", line(&view_as_real(&z)), "float32 [1, 2, 2] (4,2,1) @0: 1 2 3 -4"),
        (
            "torch.view_as_real(z.conj())",
            line(&view_as_real(&conj(&z))),
            "RuntimeError: view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.",
        ),
        (
            "torch.view_as_complex(f.reshape(3, 2))",
            line(&view_as_complex(&must(reshape(&f, &[3, 2])))),
            "complex64 [3] (1) @0: 0+1j 2+3j 4+5j",
        ),
        (
            "torch.view_as_complex(f)",
            line(&view_as_complex(&f)),
            "RuntimeError: Tensor must have a last dimension of size 2",
        ),
        (
            "torch.view_as_complex(x)",
            line(&view_as_complex(&x)),
            "RuntimeError: view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: Long",
        ),
        (
            "torch.view_as_complex(f[:, :2])",
            line(&view_as_complex(&must(narrow(&f, 1, 0, 2)))),
            "RuntimeError: Tensor must have a stride divisible by 2 for all but last dimension",
        ),
        (
            "x[:, :1].expand(2, 3, -1)",
            line(&expand(&must(narrow(&x, 1, 0, 1)), &[2, 3, -1])),
            "int64 [2, 3, 4] (12,0,1) @0: 0 1 2 3 0 1 2 3 0 1 2 3",
        ),
        (
            "x.expand(3, 3, 4)",
            line(&expand(&x, &[3, 3, 4])),
            "RuntimeError: The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  Target sizes: [3, 3, 4].  Tensor sizes: [2, 3, 4]",
        ),
        (
            "x.expand(3, 4)",
            line(&expand(&x, &[3, 4])),
            "RuntimeError: expand(torch.LongTensor{[2, 3, 4]}, size=[3, 4]): the number of sizes provided (2) must be greater or equal to the number of dimensions in the tensor (3)",
        ),
        (
            "z.expand(2)",
            line(&expand(&z, &[2])),
            "RuntimeError: expand(CPUComplexFloatType{[1, 2]}, size=[2]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)",
        ),
        ("n.expand(1, 2)", line(&expand(&n, &[1, 2])), "int64 [1, 2] (0,0) @0: 7 7"),
        (
            "x.expand(-1, 2, 3, 4)",
            line(&expand(&x, &[-1, 2, 3, 4])),
            "RuntimeError: The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0",
        ),
        (
            "f.expand(M, 2, 3)",
            line(&expand(&f, &[i64::MAX, 2, 3])),
            "RuntimeError: numel: integer multiplication overflow",
        ),
        (
            "x.as_strided((2, 2), (1, 2), 3)",
            line(&as_strided(&x, &[2, 2], &[1, 2], Some(3))),
            "int64 [2, 2] (1,2) @3: 3 5 4 6",
        ),
        (
            "x.as_strided((2,), (-1,))",
            line(&as_strided(&x, &[2], &[-1], None)),
            "RuntimeError: as_strided: Negative strides are not supported at the moment, got strides: [-1]",
        ),
        (
            "x.as_strided((2, 3), (1,))",
            line(&as_strided(&x, &[2, 3], &[1], None)),
            "RuntimeError: mismatch in length of strides and shape",
        ),
        (
            "x.as_strided((2,), (1,), -1)",
            line(&as_strided(&x, &[2], &[1], Some(-1))),
            "RuntimeError: Tensor: invalid storage offset -1",
        ),
        (
            "x.as_strided((2, 2), (0, 0), 24)",
            line(&as_strided(&x, &[2, 2], &[0, 0], Some(24))),
            "RuntimeError: setStorage: sizes [2, 2], strides [0, 0], storage offset 24, and itemsize 8 requiring a storage size of 200 are out of bounds for storage of size 192",
        ),
        (
            "x.as_strided((2,), (M,))",
            line(&as_strided(&x, &[2], &[i64::MAX], None)),
            "RuntimeError: Storage size calculation overflowed with sizes=[2] and strides=[9223372036854775807]",
        ),
        ("x.select(1, -1)", line(&select(&x, 1, -1)), "int64 [2, 4] (12,1) @8: 8 9 10 11 20 21 22 23"),
        (
            "x.select(1, 3)",
            line(&select(&x, 1, 3)),
            "IndexError: select(): index 3 out of range for tensor of size [2, 3, 4] at dimension 1",
        ),
        ("n.select(0, 0)", line(&select(&n, 0, 0)), "IndexError: select() cannot be applied to a 0-dim tensor."),
        (
            "x.select(0, -M - 1)",
            line(&select(&x, 0, i64::MIN)),
            "IndexError: select(): index -9223372036854775808 out of range for tensor of size [2, 3, 4] at dimension 0",
        ),
        (
            "x.narrow(-1, -3, 2)",
            line(&narrow(&x, -1, -3, 2)),
            "int64 [2, 3, 2] (12,4,1) @1: 1 2 5 6 9 10 13 14 17 18 21 22",
        ),
        (
            "x.narrow(0, 1, 2)",
            line(&narrow(&x, 0, 1, 2)),
            "RuntimeError: start (1) + length (2) exceeds dimension size (2).",
        ),
        (
            "x.narrow(0, 3, 0)",
            line(&narrow(&x, 0, 3, 0)),
            "IndexError: start out of range (expected to be in range of [-2, 2], but got 3)",
        ),
        ("x.narrow(0, 0, -1)", line(&narrow(&x, 0, 0, -1)), "RuntimeError: narrow(): length must be non-negative."),
        (
            "n.narrow(0, 0, 1)",
            line(&narrow(&n, 0, 0, 1)),
            "RuntimeError: narrow() cannot be applied to a 0-dim tensor.",
        ),
        (
            "x.narrow(0, 1, M)",
            line(&narrow(&x, 0, 1, i64::MAX)),
            "RuntimeError: start (1) + length (9223372036854775807) exceeds dimension size (2).",
        ),
        ("x.diagonal(-1)", line(&diagonal(&x, -1, 0, 1)), "int64 [4, 1] (1,16) @12: 12 13 14 15"),
        ("x.diagonal(-M - 1)", line(&diagonal(&x, i64::MIN, 0, 1)), "int64 [4, 0] (1,16) @0: "),
        ("x.unfold(1, 2, 1)", line(&unfold(&x, 1, 2, 1)), "int64 [2, 2, 4, 2] (12,4,1,4) @0: 0 4 1 5 2 6 3 7 4 8 5 9"),
        (
            "x.unfold(0, 3, 1)",
            line(&unfold(&x, 0, 3, 1)),
            "RuntimeError: maximum size for tensor at dimension 0 is 2 but size is 3",
        ),
        (
            "x.unfold(0, 1, M)",
            line(&unfold(&x, 0, 1, i64::MAX)),
            "RuntimeError: as_strided: Negative strides are not supported at the moment, got strides: [-12, 4, 1, 12]",
        ),
        ("n.unfold(0, 1, 1)", line(&unfold(&n, 0, 1, 1)), "int64 [1] (1) @0: 7"),
    ]);
}

#[test]
fn reshaping_copies_where_it_must() {
    let x = arange(&[2, 3, 4], DType::Long);
    let f = arange(&[2, 3], DType::Float);
    let n = tensor(&[], DType::Long, &[7.0]);
    let z = must(View::from_scalars(&[1, 2], DType::ComplexFloat, [complex(1.0, 2.0), complex(3.0, -4.0)]));
    check(&[
        ("x.reshape(4, -1)", line(&reshape(&x, &[4, -1])), "int64 [4, 6] (6,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x.transpose(0, 1).reshape(3, 8)",
            line(&reshape(&must(transpose(&x, 0, 1)), &[3, 8])),
            "int64 [3, 8] (8,1) @0: 0 1 2 3 12 13 14 15 4 5 6 7",
        ),
        (
            "x.transpose(0, 2).reshape(2, 2, 3, 2)",
            line(&reshape(&must(transpose(&x, 0, 2)), &[2, 2, 3, 2])),
            "int64 [2, 2, 3, 2] (2,1,4,12) @0: 0 12 4 16 8 20 1 13 5 17 9 21",
        ),
        (
            "z.conj().transpose(0, 1).reshape(2)",
            line(&reshape(&must(transpose(&conj(&z), 0, 1)), &[2])),
            "complex64 [2] (1) @0 conj: 1-2j 3+4j",
        ),
        ("x.reshape(5)", line(&reshape(&x, &[5])), "RuntimeError: shape '[5]' is invalid for input of size 24"),
        ("x.reshape(-1, -1)", line(&reshape(&x, &[-1, -1])), "RuntimeError: only one dimension can be inferred"),
        ("x.flatten()", line(&flatten(&x, 0, -1)), "int64 [24] (1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x.transpose(0, 1).flatten(1)",
            line(&flatten(&must(transpose(&x, 0, 1)), 1, 2)),
            "int64 [3, 8] (8,1) @0: 0 1 2 3 12 13 14 15 4 5 6 7",
        ),
        (
            "x.flatten(2, 0)",
            line(&flatten(&x, 2, 0)),
            "RuntimeError: flatten() has invalid args: start_dim cannot come after end_dim",
        ),
        ("n.flatten()", line(&flatten(&n, 0, -1)), "int64 [1] (1) @0: 7"),
        ("f.t().ravel()", line(&ravel(&must(transpose(&f, 0, 1)))), "float32 [6] (1) @0: 0 3 1 4 2 5"),
        (
            "x.unflatten(2, (2, -1))",
            line(&unflatten(&x, 2, &[2, -1])),
            "int64 [2, 3, 2, 2] (12,4,2,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        (
            "x.unflatten(0, (3, 2))",
            line(&unflatten(&x, 0, &[3, 2])),
            "RuntimeError: unflatten: Provided sizes [3, 2] don't multiply up to the size of dim 0 (2) in the input tensor",
        ),
        ("x.unflatten(0, ())", line(&unflatten(&x, 0, &[])), "RuntimeError: unflatten: sizes must be non-empty"),
        (
            "n.unflatten(0, (1,))",
            line(&unflatten(&n, 0, &[1])),
            "IndexError: Dimension specified as 0 but tensor has no dimensions",
        ),
        (
            "x.reshape(2, 3, 2, 2).contiguous(memory_format=torch.channels_last)",
            line(&contiguous_as(&must(reshape(&x, &[2, 3, 2, 2])), MemoryFormat::ChannelsLast)),
            "int64 [2, 3, 2, 2] (12,1,6,3) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        (
            "x.reshape(2, 1, 3, 4).contiguous(memory_format=torch.channels_last)",
            line(&contiguous_as(&must(reshape(&x, &[2, 1, 3, 4])), MemoryFormat::ChannelsLast)),
            "int64 [2, 1, 3, 4] (12,12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11",
        ),
        (
            "x.contiguous(memory_format=torch.channels_last_3d)",
            line(&contiguous_as(&x, MemoryFormat::ChannelsLast3d)),
            "RuntimeError: required rank 5 tensor to use channels_last_3d format",
        ),
    ]);
}

#[test]
fn pieces_of_a_tensor() {
    let x = arange(&[2, 3, 4], DType::Long);
    let f = arange(&[2, 3], DType::Float);
    let v = arange(&[5], DType::Long);
    let n = tensor(&[], DType::Long, &[7.0]);
    check(&[
        (
            "x.unbind(2)",
            lines(unbind(&x, 2)),
            "int64 [2, 3] (12,4) @0: 0 4 8 12 16 20 | int64 [2, 3] (12,4) @1: 1 5 9 13 17 21 | int64 [2, 3] (12,4) @2: 2 6 10 14 18 22 | int64 [2, 3] (12,4) @3: 3 7 11 15 19 23",
        ),
        ("n.unbind()", lines(unbind(&n, 0)), "IndexError: Dimension specified as 0 but tensor has no dimensions"),
        (
            "x.split(3, 2)",
            lines(split(&x, 3, 2)),
            "int64 [2, 3, 3] (12,4,1) @0: 0 1 2 4 5 6 8 9 10 12 13 14 | int64 [2, 3, 1] (12,4,1) @3: 3 7 11 15 19 23",
        ),
        (
            "x.split(0)",
            lines(split(&x, 0, 0)),
            "RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension size of 2",
        ),
        (
            "x.split(-1)",
            lines(split(&x, -1, 0)),
            "RuntimeError: split expects split_size be non-negative, but got split_size=-1",
        ),
        ("n.split(1)", lines(split(&n, 1, 0)), "RuntimeError: split expects at least a 1-dimensional tensor"),
        ("x.split(M)", lines(split(&x, i64::MAX, 0)), "int64 [2, 3, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 8 9 10 11"),
        (
            "x.split([1, 3], 2)",
            lines(split_with_sizes(&x, &[1, 3], 2)),
            "int64 [2, 3, 1] (12,4,1) @0: 0 4 8 12 16 20 | int64 [2, 3, 3] (12,4,1) @1: 1 2 3 5 6 7 9 10 11 13 14 15",
        ),
        (
            "x.split([1, 2])",
            lines(split_with_sizes(&x, &[1, 2], 0)),
            "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at dimension 0), but got split_sizes=[1, 2]",
        ),
        (
            "x.split([3, -1])",
            lines(split_with_sizes(&x, &[3, -1], 0)),
            "RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[3, -1]",
        ),
        (
            "x.split([M, M])",
            lines(split_with_sizes(&x, &[i64::MAX, i64::MAX], 0)),
            "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at dimension 0), but got split_sizes=[9223372036854775807, 9223372036854775807]",
        ),
        (
            "x.chunk(2, 1)",
            lines(chunk(&x, 2, 1)),
            "int64 [2, 2, 4] (12,4,1) @0: 0 1 2 3 4 5 6 7 12 13 14 15 | int64 [2, 1, 4] (12,4,1) @8: 8 9 10 11 20 21 22 23",
        ),
        (
            "torch.zeros(0, dtype=torch.long).chunk(2)",
            lines(chunk(&must(View::zeros(&[0], DType::Long, Device::CPU)), 2, 0)),
            "int64 [0] (1) @0:  | int64 [0] (1) @0: ",
        ),
        ("x.chunk(0)", lines(chunk(&x, 0, 0)), "RuntimeError: chunk expects `chunks` to be greater than 0, got: 0"),
        (
            "x.chunk(M)",
            lines(chunk(&x, i64::MAX, 0)),
            "RuntimeError: split expects split_size be non-negative, but got split_size=-1",
        ),
        (
            "x.tensor_split(3, 2)",
            lines(tensor_split_sections(&x, 3, 2)),
            "int64 [2, 3, 2] (12,4,1) @0: 0 1 4 5 8 9 12 13 16 17 20 21 | int64 [2, 3, 1] (12,4,1) @2: 2 6 10 14 18 22 | int64 [2, 3, 1] (12,4,1) @3: 3 7 11 15 19 23",
        ),
        (
            "x.tensor_split(0)",
            lines(tensor_split_sections(&x, 0, 0)),
            "RuntimeError: number of sections must be larger than 0, got 0",
        ),
        (
            "x.tensor_split(M)",
            lines(tensor_split_sections(&x, i64::MAX, 0)),
            "RuntimeError: cannot create std::vector larger than max_size()",
        ),
        (
            "v.tensor_split((3, 1, -1, 9))",
            lines(tensor_split_indices(&v, &[3, 1, -1, 9], 0)),
            "int64 [3] (1) @0: 0 1 2 | int64 [0] (1) @3:  | int64 [3] (1) @1: 1 2 3 | int64 [1] (1) @4: 4 | int64 [0] (1) @5: ",
        ),
        (
            "n.tensor_split([1])",
            lines(tensor_split_indices(&n, &[1], 0)),
            "RuntimeError: tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
        ),
        (
            "x.hsplit(3)",
            lines(SplitAxis::H.split_sections(&x, 3)),
            "int64 [2, 1, 4] (12,4,1) @0: 0 1 2 3 12 13 14 15 | int64 [2, 1, 4] (12,4,1) @4: 4 5 6 7 16 17 18 19 | int64 [2, 1, 4] (12,4,1) @8: 8 9 10 11 20 21 22 23",
        ),
        (
            "f.hsplit(2)",
            lines(SplitAxis::H.split_sections(&f, 2)),
            "RuntimeError: torch.hsplit attempted to split along dimension 1, but the size of the dimension 3 is not divisible by the split_size 2!",
        ),
        (
            "v.vsplit(2)",
            lines(SplitAxis::V.split_sections(&v, 2)),
            "RuntimeError: torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with 1 dimensions!",
        ),
        (
            "x.dsplit([1, 2])",
            lines(SplitAxis::D.split_indices(&x, &[1, 2])),
            "int64 [2, 3, 1] (12,4,1) @0: 0 4 8 12 16 20 | int64 [2, 3, 1] (12,4,1) @1: 1 5 9 13 17 21 | int64 [2, 3, 2] (12,4,1) @2: 2 3 6 7 10 11 14 15 18 19 22 23",
        ),
        (
            "x.hsplit(-1)",
            lines(SplitAxis::H.split_sections(&x, -1)),
            "RuntimeError: number of sections must be larger than 0, got -1",
        ),
        (
            "f.dsplit(2)",
            lines(SplitAxis::D.split_sections(&f, 2)),
            "RuntimeError: torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with 2 dimensions!",
        ),
    ]);
}
