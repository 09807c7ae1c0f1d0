//! Tables of pointwise operations with the results and errors of PyTorch 2.7.0.

use super::*;
use crate::DType::Float;
use crate::ops::promote::testing::{checked, held, meta, show, strides, tensor, transposed, window};

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod exponentials;

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| line.split(" | ").collect())
}

fn binary_op(name: &str) -> BinaryOp {
    match BinaryOp::ALL.iter().find(|op| format!("{op:?}") == name) {
        Some(op) => *op,
        None => panic!("no operation {name}"),
    }
}

const BINARY: &str = r#"
    Add | int64 1 2 | #1.5 | float32 2.5 3.5
    Add | uint8 1 200 | #255 | uint8 0 199
    Add | uint8 200 | int64[] 100 | uint8 44
    Add | int8 1 | #1000 | int8 -23
    Add | bool True False | bool True True | bool True True
    Add | bool True | #1 | int64 2
    Add | float16 1.5 | bfloat16 1.5 | float32 3
    Add | float32[2,1] 1 2 | float32 10 20 | float32[2,2] 11 21 12 22
    Add | float32 1 2 | float32 1 2 3 | RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0
    Add | uint16 1 | #1 | RuntimeError: "add_stub" not implemented for 'UInt16'
    Add | uint16 1 | int16 1 | RuntimeError: Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Short
    Add | uint16 1 | #1j | complex64 1+1j
    Add | float8_e5m2 1 | float8_e5m2 1 | RuntimeError: "add_stub" not implemented for 'Float8_e5m2'
    Add | float32 inf | #1j | complex64 inf+1j
    Add | bfloat16 1 2 256 | #0.005 | bfloat16 1.0078125 2 256
    Sub | bool True | bool True | RuntimeError: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.
    Sub | float32 1 | #True | RuntimeError: Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.
    Sub | uint8 1 | #2 | uint8 255
    Mul | float16 0.1 | #3 | float16 0.2998046875
    Mul | bfloat16 256 | #1.001 | bfloat16 256
    Mul | bfloat16 256 | float64[] 1.001 | bfloat16 256
    Mul | float8_e4m3fn 1.5 | float8_e4m3fn 2 | RuntimeError: "mul_cpu_reduced_float" not implemented for 'Float8_e4m3fn'
    Mul | float8_e4m3fn 1.5 | #2 | RuntimeError: "mul_cpu_reduced_float" not implemented for 'Float8_e4m3fn'
    Mul | complex64 1+2j | complex64 3-1j | complex64 5+5j
    TrueDivide | int64 1 0 | #0 | float32 inf nan
    TrueDivide | complex64 1+1j | #0 | complex64 inf+infj
    TrueDivide | complex32 1+1j | #2 | RuntimeError: "div_cpu" not implemented for 'ComplexHalf'
    FloorDivide | int64 5 -5 | #2 | int64 2 -3
    FloorDivide | int64 1 | #0 | RuntimeError: ZeroDivisionError
    FloorDivide | int8 -128 | #-1 | int8 -128
    FloorDivide | float32 1.5 -0.0 1 -1 5 | float32 -0.5 1 inf inf 0 | float32 -3 -0 0 -1 inf
    FloorDivide | bfloat16 1 2 256 | #0.1 | bfloat16 9 19 2560
    FloorDivide | bool True | bool True | RuntimeError: "div_floor_cpu" not implemented for 'Bool'
    FloorDivide | complex64 1+1j | #2 | RuntimeError: "div_floor_cpu" not implemented for 'ComplexFloat'
    TruncDivide | int64 5 -5 | #2 | int64 2 -2
    TruncDivide | float32 5 -5 | #2 | float32 2 -2
    Remainder | int64 5 -5 | #3 | int64 2 1
    Remainder | int64 5 -5 | #-3 | int64 -1 -2
    Remainder | uint8 5 | #0 | RuntimeError: ZeroDivisionError
    Remainder | float32 5 -5 5 -5 | float32 3 inf -3 inf | float32 2 inf -1 inf
    Fmod | int64 5 -5 | #3 | int64 2 -2
    Fmod | float32 5 -5 | #3 | float32 2 -2
    Maximum | float32 nan 1 0 | float32 1 nan -0.0 | float32 nan nan 0
    Minimum | int64 1 5 | float32 2 3 | float32 1 3
    Maximum | complex64 1j | complex64 1j | RuntimeError: maximum not implemented for complex tensors.
    Fmax | float32 nan 1 | float32 1 nan | float32 1 1
    Fmax | uint32 1 | uint32 1 | RuntimeError: "maximum_cpu" not implemented for 'UInt32'
    BitwiseAnd | int64 1 | int64 3 | int64 1
    BitwiseAnd | float32 1 | #1 | RuntimeError: "bitwise_and_cpu" not implemented for 'Float'
    BitwiseOr | uint16 1 | uint16 6 | uint16 7
    BitwiseXor | bool True True | bool True False | bool False True
    LeftShift | int32 1 1 1 | int32 3 33 -1 | int32 8 0 0
    LeftShift | uint8 200 | #3 | uint8 64
    RightShift | int32 -8 -8 8 | int32 1 33 -1 | int32 -4 -1 0
    LeftShift | bool True | bool True | RuntimeError: "lshift_cpu" not implemented for 'Bool'
    Gcd | int64 12 -12 0 | int64 18 18 5 | int64 6 6 5
    Lcm | int16 4 181 | int16 6 182 | int16 12 -32594
    Copysign | int64 1 -2 | #-0.0 | float32 -1 -2
    Heaviside | float32 -1 0 2 nan | float32 0.5 0.5 0.5 0.5 | float32 0 0.5 1 0
    Heaviside | float32 1 | float64 1 | RuntimeError: heaviside is not yet implemented for tensors with different dtypes.
    Hypot | float32 3 | float32 4 | float32 5
    Hypot | int64 3 | int64 4 | RuntimeError: "hypot_cpu" not implemented for 'Long'
"#;

#[test]
fn two_operands() {
    for row in rows(BINARY) {
        let [op, a, b, want] = row[..] else { panic!("{row:?}") };
        let got = binary(binary_op(op), held(a).operand(), held(b).operand(), Output::New, Float);
        assert_eq!(show(got), want, "{op} {a} {b}");
    }
}

const POWERS: &str = r#"
    int64 2 | #-1 | RuntimeError: Integers to negative integer powers are not allowed.
    int64 2 1 -1 -1 | int64 -1 -2 -3 -2 | int64 0 1 -1 1
    int64 2 3 | #2 | int64 4 9
    int64 2 | #0.5 | float32 1.4142135381698608
    float32 2 -1 | #0.5 | float32 1.4142135381698608 nan
    float32 2 4 | #-1 | float32 0.5 0.25
    float32 2 -3 | #3 | float32 8 -27
    bfloat16 1.1 2 | #3 | bfloat16 1.3359375 8
    bool True | #2 | int64 1
    bool True | #True | bool True
    uint16 2 | #1 | uint16 2
    uint16 2 | #2 | RuntimeError: "pow" not implemented for 'UInt16'
    float8_e5m2 2 | #0 | float8_e5m2 1
    uint8 3 | #300 | RuntimeError: value cannot be converted to type uint8_t without overflow
    #2 | int64 3 -1 | int64 8 0
    #1 | int64 3 -1 | int64 1 1
    #1 | bool True | int64 1
    #True | bool True | RuntimeError: "pow" not implemented for 'Bool'
    #2.5 | int64 2 | float32 6.25
    float16 2 | #1e9 | RuntimeError: value cannot be converted to type at::Half without overflow
    complex64 1j | #2 | complex64 -1+0j
    float32 2 | #1j | complex64 0.7692388892173767+0.6389612555503845j
"#;

#[test]
fn powers() {
    for row in rows(POWERS) {
        let [a, b, want] = row[..] else { panic!("{row:?}") };
        assert_eq!(show(pow(held(a).operand(), held(b).operand(), Output::New, Float)), want, "{a} ** {b}");
    }
}

const ALPHA: &str = r#"
    int64 1 2 | int64 3 4 | #2 | int64 7 10
    float32 1 2 3 | float32 3 4 5 | #0.1 | float32 1.2999999523162842 2.4000000953674316 3.5
    bool True False | bool True True | #False | bool True False
    int64 1 | int64 1 | #1.5 | RuntimeError: For integral input tensors, argument alpha must not be a floating point number.
    int64 1 | int64 1 | #True | RuntimeError: Boolean alpha only supported for Boolean results.
    float32 1 | float32 1 | #1j | RuntimeError: For non-complex input tensors, argument alpha must not be a complex number.
    uint8 1 | uint8 1 | #300 | RuntimeError: value cannot be converted to type uint8_t without overflow
    bfloat16 0.1 1 | bfloat16 3 5 | #0.1 | bfloat16 0.400390625 1.5
"#;

#[test]
fn sums_with_a_scaled_operand() {
    for row in rows(ALPHA) {
        let [a, b, alpha, want] = row[..] else { panic!("{row:?}") };
        let Operand::Number(alpha) = held(alpha).operand() else { panic!("{alpha}") };
        let got = add(held(a).operand(), held(b).operand(), alpha, Output::New, Float);
        assert_eq!(show(got), want, "{a} + {alpha:?} * {b}");
    }
}

const IN_PLACE: &str = r#"
    Add | int32 1 2 | #1 | int32 2 3
    Add | int32 1 2 | #1.5 | RuntimeError: result type Float can't be cast to the desired output type Int
    Add | int32 1 2 | float32 1 1 | RuntimeError: result type Float can't be cast to the desired output type Int
    TrueDivide | int32 4 | #2 | RuntimeError: result type Float can't be cast to the desired output type Int
    Add | bool True | #1 | RuntimeError: result type Long can't be cast to the desired output type Bool
    Add | float32 1 2 | float32[2,2] 1 2 3 4 | RuntimeError: output with shape [2] doesn't match the broadcast shape [2, 2]
    Add | float32[1,2] 1 2 | float32[2,2] 1 2 3 4 | RuntimeError: output with shape [1, 2] doesn't match the broadcast shape [2, 2]
    Add | float32 1 2 | float32 1 2 3 | RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0
    Add | float64 1 2 | float32 0.1 0.1 | float64 1.1000000014901161 2.100000001490116
    Mul | float16 1 2 | float32 1.001 1.001 | float16 1.0009765625 2.001953125
    Mul | complex64 1j | #2 | complex64 0+2j
    BitwiseAnd | int32 7 | #1.5 | RuntimeError: result type Float can't be cast to the desired output type Int
    FloorDivide | int32 7 -7 | #2 | int32 3 -4
"#;

#[test]
fn in_place() {
    for row in rows(IN_PLACE) {
        let [op, a, b, want] = row[..] else { panic!("{row:?}") };
        let a = tensor(a);
        let got = binary(binary_op(op), (&a).into(), held(b).operand(), Output::InPlace(&a), Float);
        assert_eq!(show(got), want, "{op} {b}");
    }
}

const UNARY: &str = r#"
    Neg | int8 -128 5 | int8 -128 -5
    Neg | bool True | RuntimeError: Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.
    Neg | uint8 1 | uint8 255
    Neg | uint16 1 | RuntimeError: "neg_cpu" not implemented for 'UInt16'
    Abs | int8 -128 -5 | int8 -128 5
    Abs | complex64 3+4j | float32 5
    Abs | bool True | RuntimeError: "abs_cpu" not implemented for 'Bool'
    Abs | float8_e5m2 -1.5 | float8_e5m2 1.5
    Sign | float32 0 -0.0 nan -2 | float32 0 0 0 -1
    Sign | complex64 1j | RuntimeError: Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.
    Sgn | complex64 3+4j 0j | complex64 0.6000000238418579+0.800000011920929j 0+0j
    BitwiseNot | bool True | bool False
    BitwiseNot | uint8 1 | uint8 254
    BitwiseNot | float32 1 | RuntimeError: "bitwise_not_cpu" not implemented for 'Float'
    LogicalNot | float32 0 nan 2 | bool True False False
    LogicalNot | uint16 1 | RuntimeError: "logical_not_cpu" not implemented for 'UInt16'
    Exp | int64 0 | float32 1
    Exp | float8_e5m2 1 | RuntimeError: "exp_vml_cpu" not implemented for 'Float8_e5m2'
    Exp | complex32 1j | RuntimeError: "exp_vml_cpu" not implemented for 'ComplexHalf'
    Log | float32 1 0 -1 | float32 0 -inf nan
    Sqrt | uint16 4 | float32 2
    Sqrt | complex64 -4+0j 3+4j | complex64 0+2j 2+1j
    Rsqrt | float32 4 | float32 0.5
    Relu | float32 nan -0.0 -1 2 | float32 nan -0 0 2
    Relu | bool True | RuntimeError: Boolean inputs not supported for relu
    Relu | complex64 1j | RuntimeError: clamp is not supported for complex types
    Relu | uint16 1 | RuntimeError: "clamp_min_scalar_cpu" not implemented for 'UInt16'
    Floor | int64 5 | int64 5
    Floor | bool True | RuntimeError: "floor_vml_cpu" not implemented for 'Bool'
    Floor | complex64 1j | RuntimeError: floor is not supported for complex inputs
    Round | float32 0.5 1.5 2.5 -0.5 | float32 0 2 2 -0
    Trunc | float32 -1.5 1.5 | float32 -1 1
    Ceil | uint32 7 | uint32 7
    Frac | float32 -1.5 | float32 -0.5
    Frac | int64 1 | RuntimeError: "frac_cpu" not implemented for 'Long'
    Reciprocal | int64 0 2 | float32 inf 0.5
    Isnan | int64 1 | bool False
    Isnan | complex64 nan+1j | bool True
    Isinf | float8_e5m2 inf 1 | bool True False
    Isinf | float8_e4m3fn 1 | RuntimeError: "isinf" not implemented for 'Float8_e4m3fn'
    Isfinite | complex64 inf+0j 1j | bool False True
    Signbit | float32 -0.0 1 | bool True False
    Signbit | complex64 1j | RuntimeError: signbit is not implemented for complex tensors.
    Deg2rad | int64 180 | float32 3.1415927410125732
    Deg2rad | complex64 1j | RuntimeError: deg2rad is not supported for complex tensors.
    Isposinf | complex64 1j | RuntimeError: isposinf does not support complex inputs.
    Isreal | complex64 1+0j 1j | bool True False
"#;

#[test]
fn one_operand() {
    for row in rows(UNARY) {
        let [op, a, want] = row[..] else { panic!("{row:?}") };
        let Some(op) = UnaryOp::ALL.iter().find(|o| format!("{o:?}") == op) else { panic!("no operation {op}") };
        assert_eq!(show(unary(*op, &tensor(a), Output::New, Float)), want, "{op:?} {a}");
    }
}

#[test]
fn every_row_has_the_kernels_it_promises() {
    for &dtype in DType::ALL {
        let view = checked(View::zeros(&[1], dtype, Device::CPU));
        let one = checked(View::from_scalars(&[1], dtype, [Scalar::Int(1)]));
        for &op in BinaryOp::ALL {
            let text = show(binary(op, (&view).into(), (&one).into(), Output::New, Float));
            assert!(!text.contains("not converted"), "{op:?} {dtype:?}: {text}");
        }
        for &op in UnaryOp::ALL {
            let text = show(unary(op, &view, Output::New, Float));
            assert!(
                text.contains(dtype.name())
                    || text.contains("float")
                    || text.contains("bool")
                    || text.contains("Error"),
                "{op:?}"
            );
        }
    }
}

#[test]
fn outputs_of_other_sizes_grow_and_safe_casts_are_kept() {
    let (a, out) = (tensor("float32 1 2 3"), tensor("float32 9"));
    let grown = checked(binary(BinaryOp::Add, (&a).into(), (&a).into(), Output::Out(&out), Float));
    assert_eq!(show(Ok(grown.clone())), "float32 2 4 6");
    assert_eq!(grown.storage, out.storage);
    let whole = tensor("int32 0 0 0");
    assert_eq!(
        show(binary(BinaryOp::Add, (&a).into(), (&a).into(), Output::Out(&whole), Float)),
        "RuntimeError: result type Float can't be cast to the desired output type Int"
    );
    let wide = tensor("float64 0 0 0");
    assert_eq!(show(unary(UnaryOp::Neg, &a, Output::Out(&wide), Float)), "float64 -1 -2 -3");
}

#[test]
fn overlapping_memory_is_refused_or_written_in_order() {
    let numbers = tensor("float32 0 1 2 3 4 5");
    let (low, high) = (window(&numbers, &[5], &[1], 0), window(&numbers, &[5], &[1], 1));
    let partial = "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor \
                   refer to a single memory location. Please clone() the tensor before performing the operation.";
    assert_eq!(show(binary(BinaryOp::Add, (&high).into(), (&low).into(), Output::InPlace(&high), Float)), partial);
    let repeated = window(&numbers, &[3], &[0], 0);
    assert_eq!(
        show(unary(UnaryOp::Neg, &repeated, Output::InPlace(&repeated), Float)),
        "RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a single memory \
         location. Please clone() the tensor before performing the operation."
    );
    let (even, odd) = (window(&numbers, &[3], &[2], 0), window(&numbers, &[3], &[2], 1));
    assert_eq!(
        show(binary(BinaryOp::Add, (&even).into(), (&odd).into(), Output::InPlace(&even), Float)),
        "float32 1 5 9"
    );
}

#[test]
fn results_are_laid_out_like_their_operands() {
    let a = tensor("float32[2,3] 1 2 3 4 5 6");
    let t = transposed(&a);
    let add = |a: &View, b: &View| checked(binary(BinaryOp::Add, a.into(), b.into(), Output::New, Float));
    assert_eq!(strides(&add(&t, &t)), [1, 3]);
    assert_eq!(strides(&add(&a, &checked(crate::ops::copy::contiguous(&a)))), [3, 1]);
    let row = tensor("float32 1 2");
    assert_eq!(strides(&add(&t, &row)), [1, 3]);
    assert_eq!(strides(&checked(pow(Scalar::Int(2).into(), (&t).into(), Output::New, Float))), [2, 1]);
}

#[test]
fn meta_tensors_have_shapes_only() {
    let (m, c) = (meta("float32 1 2"), tensor("float32 1 2"));
    let zero_dim = tensor("float32[] 1");
    let add = |a: &View, b: &View, output| show(binary(BinaryOp::Add, a.into(), b.into(), output, Float));
    assert_eq!(add(&m, &m, Output::New), "float32 without data");
    assert_eq!(add(&m, &zero_dim, Output::New), "float32 without data");
    assert_eq!(add(&m, &c, Output::New), "RuntimeError: Tensor on device cpu is not on the expected device meta!");
    assert_eq!(add(&c, &m, Output::New), "RuntimeError: Tensor on device meta is not on the expected device cpu!");
    assert_eq!(add(&c, &m, Output::InPlace(&c)), "float32 1 2");
    assert_eq!(
        add(&c, &c, Output::Out(&m)),
        "RuntimeError: Attempting to copy from device cpu to device meta, but cross-device copies are not allowed!"
    );
    assert_eq!(
        add(&meta("float32[2,3] 1 2 3 4 5 6"), &m, Output::New),
        "RuntimeError: Attempting to broadcast a dimension of length 2 at -1! Mismatching argument at index 1 had \
         torch.Size([2]); but expected shape should be broadcastable to [2, 3]"
    );
    assert_eq!(show(unary(UnaryOp::Exp, &meta("int64 1"), Output::New, Float)), "float32 without data");
}

#[test]
fn lazy_bits_are_carried_out() {
    let z = tensor("complex64 1+2j");
    let lazy = conj(&z);
    assert!(lazy.conj && lazy.storage == z.storage);
    let doubled = binary(BinaryOp::Add, (&lazy).into(), (&lazy).into(), Output::New, Float);
    assert_eq!(show(doubled), "complex64 2-4j");
    let imaginary = lazy.complex_part(true);
    assert!(imaginary.neg);
    assert_eq!(show(unary(UnaryOp::Abs, &imaginary, Output::New, Float)), "float32 2");
    assert_eq!(
        show(binary(BinaryOp::Add, (&lazy).into(), Scalar::Int(1).into(), Output::InPlace(&lazy), Float)),
        "complex64 2-2j"
    );
    assert_eq!(show(Ok(z)), "complex64 2+2j");
    assert_eq!(show(conj_physical(&tensor("float32 1"))), "float32 1");
}

/// Several short runs in one block give what one element after another gives: around the length of a run and the number
/// of runs that a block holds, for operands of every layout, with elements that PyTorch's vectors leave over.
#[test]
fn short_runs_together_are_what_elements_are() {
    use crate::thresholds::{BLOCK, GATHERED};
    use crate::{Layout, View, parallel};
    let make = |sizes: &[i64], seed: i64, dtype| {
        let count = sizes.iter().product::<i64>();
        let values = (0..count).map(|k| match (k * 7 + seed) % 13 {
            4 => Scalar::Float(f64::NAN),
            9 => Scalar::Float(f64::INFINITY),
            n => Scalar::Float(n as f64 - 5.5),
        });
        View::from_scalars(sizes, dtype, values.collect::<Vec<_>>()).expect("memory")
    };
    let bits = |view: &View| -> Vec<u64> {
        view.scalars().expect("memory").into_iter().map(|value| value.to_f64().to_bits()).collect()
    };
    let (gathered, block) = (GATHERED as i64, BLOCK as i64);
    for along in [2, 3, 16, gathered - 1, gathered, gathered + 1] {
        for runs in [1, 2, block / along, block / along + 1, 3 * block / along + 2] {
            for dtype in [DType::Float, DType::Half, DType::Double] {
                let (row, column) = (make(&[along], 1, dtype), make(&[runs, 1], 2, dtype));
                let turned = make(&[along, runs], 3, dtype);
                let turned = turned.with_layout(turned.layout.transpose(0, 1).expect("two dimensions"));
                let wide = make(&[runs, 2 * along], 4, dtype);
                let steps =
                    Layout { strides: [2 * along, 2].into_iter().collect(), ..Layout::contiguous(&[runs, along]) };
                let every_other = wide.with_layout(steps);
                let left = crate::ops::view::narrow(&wide, 1, 1, along).expect("columns");
                let operands = [&row, &column, &turned, &every_other, &left];
                for (i, a) in operands.iter().enumerate() {
                    for b in &operands[i..] {
                        for op in [BinaryOp::Mul, BinaryOp::Sub, BinaryOp::Minimum] {
                            let sizes = crate::layout::broadcast_sizes(a.sizes(), b.sizes()).expect("sizes");
                            let [x, y] = [a, b].map(|v| v.with_layout(v.layout.broadcast_to(&sizes)));
                            // The same elements side by side, one run after another.
                            let lines = if sizes.len() == 2 { sizes[0] } else { 1 };
                            let line = |v: &View, k: i64| match v.ndim() {
                                2 => crate::ops::copy::row_major(&crate::ops::view::select(v, 0, k).expect("row")),
                                _ => crate::ops::copy::row_major(v),
                            };
                            let run = |x: &View, y: &View| {
                                let (x, y) = (Operand::Tensor(x), Operand::Tensor(y));
                                binary(op, x, y, Output::New, DType::Float).expect("supported")
                            };
                            let wanted: Vec<u64> = (0..lines)
                                .flat_map(|k| bits(&run(&line(&x, k).expect("row"), &line(&y, k).expect("row"))))
                                .collect();
                            for cores in [1, 3] {
                                parallel::set_cores(cores);
                                assert_eq!(
                                    bits(&run(a, b)),
                                    wanted,
                                    "{op:?} {dtype:?} {runs} runs of {along}, {cores}"
                                );
                            }
                            parallel::set_cores(0);
                        }
                    }
                }
            }
        }
    }
}

fn numbers(count: usize, seed: usize, dtype: DType) -> crate::View {
    let values = (0..count).map(|k| match (k * 7 + seed) % 17 {
        4 if dtype.is_floating_point() => Scalar::Float(f64::NAN),
        9 if dtype.is_floating_point() => Scalar::Float(f64::INFINITY),
        n => Scalar::Float(n as f64 * 0.75 + 1.0),
    });
    crate::View::from_scalars(&[count as i64], dtype, values.collect::<Vec<_>>()).expect("memory")
}

fn bits(view: &crate::View) -> Vec<u64> {
    let of = |value: Scalar| match value {
        Scalar::Complex(c) => vec![c.re.to_bits(), c.im.to_bits()],
        real => vec![real.to_f64().to_bits()],
    };
    view.scalars().expect("memory").into_iter().flat_map(of).collect()
}

/// A short loop gives what a long one gives: the same elements in whole vectors, and the same ones left over. Also in
/// place, for an operand that is the result, and for one at an odd address.
#[test]
fn a_short_loop_is_a_long_one() {
    use crate::thresholds::{KEPT, SHORT_LOOP};
    use crate::{Layout, Storage, View};
    fn run(op: BinaryOp, a: &View, b: &View, output: Output) -> Vec<u64> {
        bits(&binary(op, Operand::Tensor(a), Operand::Tensor(b), output, Float).expect("supported"))
    }
    for dtype in [DType::Float, DType::Double, DType::Half, DType::Int, DType::Byte] {
        let step = 64 / dtype.itemsize();
        let kept = KEPT / dtype.itemsize();
        let around = [kept, SHORT_LOOP].into_iter().flat_map(|limit| [limit - 1, limit, limit + 1]);
        for count in [1, 2, step - 1, step, step + 1, 3 * step + 5].into_iter().chain(around) {
            let (a, b) = (numbers(count, 1, dtype), numbers(count, 2, dtype));
            let rest = count % step;
            // The same numbers with others between the whole vectors and the rest.
            let long = |view: &View| {
                let (mut values, others) = (view.scalars().expect("memory"), 2 * SHORT_LOOP.next_multiple_of(step));
                let tail = values.split_off(count - rest);
                values.extend((0..others).map(|_| Scalar::Int(3)).chain(tail));
                View::from_scalars(&[values.len() as i64], dtype, values).expect("memory")
            };
            let cut = |mut results: Vec<u64>| {
                let tail = results.split_off(results.len() - rest);
                results.truncate(count - rest);
                [results, tail].concat()
            };
            for op in [BinaryOp::Add, BinaryOp::Remainder, BinaryOp::Maximum, BinaryOp::Pow] {
                let wanted = cut(run(op, &long(&a), &long(&b), Output::New));
                assert_eq!(run(op, &a, &b, Output::New), wanted, "{op:?} {dtype:?} {count}");
                let target = crate::ops::copy::clone(&a).expect("memory");
                assert_eq!(run(op, &target, &b, Output::InPlace(&target)), wanted, "{op:?} {dtype:?} {count} in place");
                let (twice, target) = (long(&a), crate::ops::copy::clone(&a).expect("memory"));
                let wanted_twice = cut(run(op, &twice, &twice, Output::New));
                assert_eq!(run(op, &target, &target, Output::InPlace(&target)), wanted_twice, "{op:?} {dtype:?} twice");
                let memory = b.memory().expect("memory");
                let moved: Vec<u8> = [0].into_iter().chain(memory.bytes().iter().map(crate::memory::get)).collect();
                let whole = Storage::from_bytes(&moved).expect("memory");
                let odd = whole.slice(1, moved.len()).expect("within");
                let odd = View { storage: odd, layout: Layout::contiguous(&[count as i64]), ..b.clone() };
                assert_eq!(run(op, &a, &odd, Output::New), wanted, "{op:?} {dtype:?} {count} at an odd address");
            }
        }
    }
}

/// The strides of usual operands' results are those that any operands' are.
#[test]
fn usual_results_have_the_strides_of_any() {
    use crate::{Layout, View};
    let of = |sizes: &[i64], strides: &[i64]| {
        let layout = Layout { strides: crate::Dims::from_slice(strides), ..Layout::contiguous(sizes) };
        View::zeros(&[4096], Float, crate::Device::CPU).expect("memory").with_layout(layout)
    };
    let views = [
        of(&[2, 1, 3], &[3, 3, 1]),
        of(&[2, 1, 3], &[3, 7, 1]),
        of(&[2, 1, 3], &[1, 1, 2]),
        of(&[2, 1, 3], &[0, 0, 0]),
        of(&[1, 1, 3], &[3, 3, 1]),
        of(&[3], &[1]),
        of(&[], &[]),
        of(&[1], &[1]),
        of(&[2, 5, 3], &[15, 3, 1]),
        of(&[2, 5, 3], &[3, 6, 1]),
        of(&[2, 0, 3], &[3, 3, 1]),
    ];
    let operands: Vec<Operand> = views.iter().map(Operand::Tensor).chain([Operand::Number(Scalar::Int(2))]).collect();
    let mut tried = 0;
    for a in &operands {
        for b in &operands {
            for c in &operands {
                let both = [*a, *b, *c];
                let Ok(sizes) = super::check_sizes(&both, Output::New) else { continue };
                let shape = super::Shape { sizes, common: Float, result: Float, safe_cast: true };
                assert_eq!(super::result_strides(&both, &shape), super::strides_of(&both, &shape), "{both:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

/// A quick call gives what the usual way gives: values, dtype and layout. Every operation, every dtype.
#[test]
fn a_quick_call_is_a_usual_one() {
    use crate::View;
    use crate::ops::compare::{CompareOp, usual as usual_comparison};
    let shown = |view: &View| (view.dtype, view.layout.clone(), bits(view));
    let copy = |view: &View| crate::ops::copy::clone(view).expect("memory");
    let dtypes: Vec<DType> = DType::ALL.iter().copied().filter(|dtype| !dtype.is_quantized()).collect();
    let (mut binaries, mut unaries, mut comparisons) = (0, 0, 0);
    for dtype in dtypes {
        for count in [1, 5, 16, 33] {
            let (a, b) = (numbers(count, 1, dtype), numbers(count, 2, dtype));
            let two = a.with_layout(crate::Layout { ..crate::Layout::contiguous(&[1, count as i64, 1]) });
            let others = [
                Operand::Tensor(&b),
                Operand::Tensor(&a),
                Operand::Number(Scalar::Int(3)),
                Operand::Number(Scalar::Float(2.5)),
                Operand::Number(Scalar::Bool(true)),
            ];
            for op in BinaryOp::ALL {
                for other in others {
                    let this = Operand::Tensor(&a);
                    if op.check_operands([this, other]).is_err() {
                        continue;
                    }
                    let Some(got) = super::quick::binary(*op, this, other, Output::New) else { continue };
                    let wanted = super::binary::usual(*op, this, other, Output::New, Float);
                    assert_eq!(Ok(shown(&got)), wanted.map(|view| shown(&view)), "{op:?} {dtype:?} {count} {other:?}");
                    let (quick, usual) = (copy(&a), copy(&a));
                    let done = super::quick::binary(*op, (&quick).into(), other, Output::InPlace(&quick));
                    // An output that is an input is copied, if it is short enough.
                    assert_eq!(done.is_some(), count * dtype.itemsize() <= crate::thresholds::KEPT, "{op:?} {dtype:?}");
                    if done.is_none() {
                        continue;
                    }
                    super::binary::usual(*op, (&usual).into(), other, Output::InPlace(&usual), Float).expect("allowed");
                    assert_eq!(shown(&quick), shown(&usual), "{op:?} {dtype:?} {count} {other:?} in place");
                    binaries += 1;
                }
            }
            for op in CompareOp::ALL {
                for other in others {
                    let this = Operand::Tensor(&a);
                    let Some(got) = super::quick_compare(*op, this, other, Output::New) else { continue };
                    let wanted = usual_comparison(*op, this, other, Output::New, Float);
                    assert_eq!(Ok(shown(&got)), wanted.map(|view| shown(&view)), "{op:?} {dtype:?} {count} {other:?}");
                    comparisons += 1;
                }
            }
            for op in UnaryOp::ALL {
                for view in [&a, &two] {
                    let Some(got) = super::quick::unary(*op, view, Output::New) else { continue };
                    let wanted = super::unary::usual(*op, view, Output::New, Float);
                    assert_eq!(Ok(shown(&got)), wanted.map(|view| shown(&view)), "{op:?} {dtype:?} {count}");
                    unaries += 1;
                }
            }
        }
    }
    assert!(binaries > 2000 && comparisons > 1000 && unaries > 1000, "{binaries} {comparisons} {unaries}");
}
