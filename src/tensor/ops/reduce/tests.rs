//! Tables of reductions with the results and errors of PyTorch 2.7.0.

use super::*;
use crate::ops::create::arange;
use crate::ops::promote::testing::{checked, meta, show, tensor, transposed, window};
use crate::{Device, Scalar};

/// function | operand | dims | keepdim | dtype | result
const TABLE: &str = r#"
    sum | int8 1 2 100 | - | false | - | int64[] 103
    sum | bool True True | - | false | - | int64[] 2
    sum | float32[2,2] 1 2 3 4 | [0] | false | - | float32 4 6
    sum | float32[2,2] 1 2 3 4 | [-1] | true | - | float32[2,1] 3 7
    sum | float32[2,2] 1 2 3 4 | [] | false | - | float32[] 10
    sum | float32[2,0] | [1] | false | - | float32 0 0
    sum | float32[2,2] 1 2 3 4 | [2] | false | - | IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)
    sum | float32[2,2] 1 2 3 4 | [0, -2] | false | - | RuntimeError: dim 0 appears multiple times in the list of dims
    sum | float32[] 3 | [0] | false | - | float32[] 3
    sum | float32[] 3 | [1] | false | - | IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)
    sum | float32 1.5 1.7 | - | false | int32 | int32[] 2
    sum | int64 300 1 | - | false | uint8 | uint8[] 45
    sum | int64 300 1 | - | false | bool | bool[] True
    sum | float8_e5m2 1 | - | false | - | RuntimeError: "sum_cpu" not implemented for 'Float8_e5m2'
    sum | uint64 1 2 | - | false | - | int64[] 3
    sum | complex32 1j | - | false | - | RuntimeError: "sum_cpu" not implemented for 'ComplexHalf'
    mean | float32 1 2 | - | false | - | float32[] 1.5
    mean | int64 1 2 | - | false | - | RuntimeError: mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long
    mean | float32 1 2 | - | false | int64 | RuntimeError: mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: Long
    mean | int64 1 2 | - | false | float32 | float32[] 1.5
    mean | float32 | - | false | - | float32[] nan
    mean | complex64 1+2j 3-1j | - | false | - | complex64[] 2+0.5j
    mean | float16 60000 60000 | - | false | - | float16[] 60000
    prod | int8 100 100 | - | false | - | int64[] 10000
    prod | float32[2,2] 1 2 3 4 | [1] | true | - | float32[2,1] 2 12
    prod | float32 | - | false | - | float32[] 1
    prod | bool True False | - | false | - | int64[] 0
    any | float32 0 nan | - | false | - | bool[] True
    any | uint8 0 3 | - | false | - | uint8[] 1
    all | float32[2,2] 1 0 3 4 | [0] | false | - | bool True False
    all | float32 | - | false | - | bool[] True
    any | float32[2,2] 0 1 2 3 | [] | false | - | bool[2,2] False True True True
    any | float32[2,2] 0 1 2 3 | [0, 0] | false | - | RuntimeError: dim 0 appears multiple times in the list of dims
    amax | float32[2,2] 1 nan 3 4 | [1] | false | - | float32 nan 4
    amin | int64 3 1 2 | [] | false | - | int64[] 1
    amax | float32[2,0] | [1] | false | - | IndexError: amax(): Expected reduction dim 1 to have non-zero size.
    amax | float32[2,0] | [] | false | - | RuntimeError: amax(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.
    amax | complex64 1j | [] | false | - | RuntimeError: "max_values_cpu" not implemented for 'ComplexFloat'
    max | int64 3 1 2 | - | false | - | int64[] 3
    max | float32 | - | false | - | RuntimeError: max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.
    max | uint16 1 | - | false | - | RuntimeError: "max_all" not implemented for 'UInt16'
    max | float32[2,2] 1 nan 3 3 | [1] | false | - | float32 nan 3 / int64 1 0
    max | int64 1 3 3 2 | [0] | true | - | int64 3 / int64 1
    min | float32[2,0] | [1] | false | - | IndexError: min(): Expected reduction dim 1 to have non-zero size.
    min | complex64 1j | [0] | false | - | RuntimeError: min(): does not support complex input
    argmax | float32 1 nan nan 3 | - | false | - | int64[] 1
    argmax | int64[2,2] 1 4 4 2 | - | false | - | int64[] 1
    argmin | int64[2,2] 1 4 4 2 | [0] | true | - | int64[1,2] 0 1
    argmax | float32 | - | false | - | IndexError: argmax(): Expected reduction dim to be specified for input.numel() == 0.
    argmax | bool True False | - | false | - | RuntimeError: "argmax_cpu" not implemented for 'Bool'
    argmax | float32[2,0] | [1] | false | - | IndexError: argmax(): Expected reduction dim 1 to have non-zero size.
    cumsum | int8 100 100 | [0] | false | - | int64 100 200
    cumsum | float32[2,2] 1 2 3 4 | [1] | false | - | float32[2,2] 1 3 3 7
    cumprod | int64 1 2 3 | [0] | false | int8 | int8 1 2 6
    cumsum | float32[] 3 | [1] | false | - | IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)
    cumsum | bool True True | [0] | false | bool | RuntimeError: "cumsum_out_cpu" not implemented for 'Bool'
    cumprod | bool True False | [0] | false | - | int64 1 0
    var | float32 1 2 3 | - | false | - | float32[] 1
    var | float32 1 | - | false | - | float32[] nan
    var | int64 1 2 | - | false | - | RuntimeError: std and var only support floating point and complex dtypes
    var | complex64 1+2j 3-1j | - | false | - | float32[] 6.5
    std | float32[2,2] 1 2 3 5 | [1] | false | - | float32 0.7071067690849304 1.4142135381698608
    norm | float32 3 4 | - | false | - | float32[] 5
    norm | int64 3 4 | - | false | - | RuntimeError: linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long
    norm | complex64 3+4j 0j | - | false | - | float32[] 5
    norm | float32 3 4 | - | false | int32 | RuntimeError: linalg.vector_norm: dtype should be floating point or complex, but got Int
    norm | float32 3 4 | - | false | float64 | float64[] 5
"#;

fn run(name: &str, view: &View, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Vec<Result<View>> {
    let dim = dims.and_then(<[i64]>::first).copied();
    let which = if name.ends_with("max") { Extremum::Max } else { Extremum::Min };
    vec![match name {
        "sum" => sum(view, dims, keepdim, dtype),
        "mean" => mean(view, dims, keepdim, dtype),
        "prod" => prod(view, dim, keepdim, dtype),
        "any" => any(view, dims, keepdim),
        "all" => all(view, dims, keepdim),
        "amax" | "amin" => extremum(which, view, dims.unwrap_or_default(), keepdim),
        "max" | "min" => match dim {
            None => extremum_all(which, view),
            Some(dim) => match extremum_dim(which, view, dim, keepdim) {
                Ok((values, indices)) => return vec![Ok(values), Ok(indices)],
                Err(error) => Err(error),
            },
        },
        "argmax" | "argmin" => arg_extremum(which, view, dim, keepdim),
        "cumsum" => cumulative(Running::Sum, view, dim.unwrap_or_default(), dtype),
        "cumprod" => cumulative(Running::Product, view, dim.unwrap_or_default(), dtype),
        "var" => variance(SpreadMeasure::Variance, view, dims, 1.0, keepdim),
        "std" => variance(SpreadMeasure::StandardDeviation, view, dims, 1.0, keepdim),
        "norm" => norm(view, 2.0, dims, keepdim, dtype),
        other => panic!("no function {other}"),
    }]
}

#[test]
fn table() {
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, operand, dims, keepdim, dtype, want] = cells[..] else { panic!("{line}") };
        let dims: Option<Vec<i64>> =
            (dims != "-").then(|| dims.trim_matches(['[', ']']).split(", ").filter_map(|d| d.parse().ok()).collect());
        let got = run(name, &tensor(operand), dims.as_deref(), keepdim == "true", DType::from_name(dtype));
        let got: Vec<String> = got.into_iter().map(show).collect();
        assert_eq!(got.join(" / "), want, "{line}");
    }
}

#[test]
fn sums_are_added_in_pytorch_order() {
    // Bit patterns of torch.arange(n).div(7).sum() for contiguous and strided operands.
    let sevenths = |n: i64| {
        let counted = checked(arange(
            Scalar::Int(0),
            Scalar::Int(n),
            Scalar::Int(1),
            Some(DType::Float),
            DType::Float,
            Device::CPU,
        ));
        let seven = Scalar::Float(7.0).into();
        checked(crate::ops::pointwise::div(
            (&counted).into(),
            seven,
            None,
            crate::ops::pointwise::Output::New,
            DType::Float,
        ))
    };
    let bits = |view: &View, dims: Option<&[i64]>| -> Vec<u32> {
        checked(checked(sum(view, dims, false, None)).scalars()).into_iter().map(|s| s.to_f32().to_bits()).collect()
    };
    assert_eq!(bits(&sevenths(3), None), [0x3edb6db8]);
    assert_eq!(bits(&sevenths(7), None), [0x40400001]);
    assert_eq!(bits(&sevenths(100), None), [0x4430c925]);
    assert_eq!(bits(&sevenths(1000), None), [0x478b5e93]);
    assert_eq!(bits(&sevenths(5000), None), [0x49d9f06a]);
    assert_eq!(bits(&window(&sevenths(6000), &[2000], &[3], 1), None), [0x49513a81]);
    assert_eq!(bits(&window(&sevenths(9000), &[40, 3], &[3, 1], 0), Some(&[0])), [0x43a72493, 0x43aa0000, 0x43acdb6e]);
    assert_eq!(
        bits(&window(&sevenths(9000), &[700, 9], &[9, 1], 0), Some(&[0])),
        [0x489996c0, 0x4899a340, 0x4899afc0, 0x4899bc40, 0x4899c8c0, 0x4899d540, 0x4899e1c0, 0x4899ee40, 0x4899fac0]
    );
    assert_eq!(
        bits(&transposed(&window(&sevenths(9000), &[3, 900], &[1000, 1], 5)), Some(&[0])),
        [0x476443b7, 0x48369fc9, 0x489a1752]
    );
    assert_eq!(bits(&window(&sevenths(9000), &[17, 300], &[400, 1], 0), None), [0x4a14f277]);
}

#[test]
fn results_without_data() {
    let m = meta("float32[2,3] 1 2 3 4 5 6");
    assert_eq!(show(sum(&m, Some(&[1]), true, None)), "float32[2,1] without data");
    assert_eq!(show(arg_extremum(Extremum::Max, &m, None, false)), "int64[] without data");
    assert_eq!(show(variance(SpreadMeasure::Variance, &m, None, 1.0, false)), "float32[] without data");
    assert_eq!(
        show(mean(&meta("int32 1"), None, false, None)),
        "RuntimeError: mean(): could not infer output dtype. Input dtype must be either a floating point or complex \
         dtype. Got: torch.int32"
    );
}

#[test]
fn degrees_of_freedom() {
    for (operand, dims, correction, want) in [
        ("float32 1", None, 1.0, true),
        ("float32 1 2", None, 1.0, false),
        ("float32", None, 1.0, true),
        ("float32[2,3] 1 2 3 4 5 6", Some(&[0i64][..]), 2.0, true),
        ("float32[0,1]", Some(&[1]), 1.0, false),
    ] {
        assert_eq!(checked(has_no_freedom(&tensor(operand), dims, correction)), want, "{operand}");
    }
}

/// Once all lanes of a product are zero, pieces are multiplied separately. The results are those of multiplying in
/// order, including signs and NaN.
#[test]
fn long_products_that_vanish() {
    let count = 100_003;
    let mut numbers: Vec<f32> = (0..count).map(|i| [0.5, -0.75, 1.5, -0.25][i * 7 % 13 % 4]).collect();
    let mut check = |name: &str, place: usize, value: f32| {
        let before = std::mem::replace(&mut numbers[place], value);
        // Eight lanes of four vectors in turn; then the vectors, the lanes, and the remainder are combined.
        let mut lanes = [1.0f32; 32];
        let steps = numbers.as_chunks::<32>();
        steps.0.iter().for_each(|step| lanes.iter_mut().zip(step).for_each(|(lane, number)| *lane *= number));
        let at = |k: usize| (lanes[k] * lanes[k + 8]) * (lanes[k + 16] * lanes[k + 24]);
        let wanted = (0..8).map(at).chain(steps.1.iter().copied()).fold(1.0, |all, lane| all * lane);
        let scalars = numbers.iter().map(|&number| Scalar::Float(f64::from(number)));
        let view = View::from_scalars(&[count as i64], DType::Float, scalars).expect("numbers");
        for cores in [1, 2, 3, 7] {
            parallel::set_cores(cores);
            let product =
                prod(&view, None, false, None).and_then(|product| product.item()).expect("a product").to_f64();
            let same = product.is_nan() == wanted.is_nan()
                && (wanted.is_nan()
                    || (product, product.is_sign_negative()) == (f64::from(wanted), wanted.is_sign_negative()));
            assert!(same, "{name} with {cores} cores: {product} is not {wanted}");
        }
        numbers[place] = before;
    };
    check("a number", 0, 0.5);
    check("a sign", 99_000, -0.5);
    check("another sign", 3, -0.5);
    check("infinity behind zeros", 99_000, f32::INFINITY);
    check("NaN behind zeros", 70_000, f32::NAN);
    check("NaN before them", 1, f32::NAN);
    check("infinity before them", 1, f32::NEG_INFINITY);
    parallel::set_cores(0);
}

/// Columns that are not adjacent are summed four at a time, also when there are too many for one piece of work. The bits
/// are those of PyTorch 2.7.0.
#[test]
fn groups_of_columns_are_not_divided() {
    let mut state = 1u64;
    let mut next = || {
        state = (state * 1103515245 + 12345) % 2147483648;
        Scalar::Float(state as f64 / 2147483648.0 - 0.3)
    };
    let all = View::from_scalars(&[300, 16], DType::Float, (0..4800).map(|_| next())).unwrap();
    let every = all.with_layout(all.layout.slice(1, None, None, 2));
    let sums = sum(&every, Some(&[0]), false, None).unwrap().scalars().unwrap();
    let bits: Vec<u32> = sums.iter().map(|sum| sum.to_f32().to_bits()).collect();
    let wanted =
        [1114413512, 1114854357, 1115533582, 1116062040, 1113227928, 1115054455, 1115546151, 1116195727].to_vec();
    assert_eq!(bits, wanted);
}
