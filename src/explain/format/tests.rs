//! Tables of the output of PyTorch 2.7.0 (on CPython 3.11).

use super::*;
use num_complex::Complex;
use std::rc::Rc;
use tensor::{Buffer, Device, GradFn, Layout, Scalar, Storage, TypeCode, TypedStorage, View};
use value::{Dict, MemoryFormat, NamedTuple, Range, Slice, TensorLayout};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn dtype(name: &str) -> DType {
    DType::from_name(name).unwrap_or_else(|| panic!("no dtype {name}"))
}

fn tensor(dtype_name: &str, sizes: &[i64], values: &[f64]) -> Tensor {
    let values = values.iter().copied().map(Scalar::Float);
    Tensor::new(View::from_scalars(sizes, dtype(dtype_name), values).unwrap_or_else(|e| panic!("{e}")))
}

/// `torch.arange(n, dtype=dtype).view(sizes)`.
fn arange(dtype_name: &str, sizes: &[i64]) -> Tensor {
    let values: Vec<f64> = (0..sizes.iter().product::<i64>()).map(|i| i as f64).collect();
    tensor(dtype_name, sizes, &values)
}

fn shown(result: Result<String>) -> String {
    result.unwrap_or_else(|error| error.to_string())
}

fn print_with(options: PrintOptions, default_dtype: DType, tensor: &Tensor) -> String {
    shown(Formatter { options: &options, default_dtype }.tensor(tensor))
}

fn print(tensor: &Tensor) -> String {
    print_with(PrintOptions::default(), DType::Float, tensor)
}

fn with_formatter<R>(body: impl FnOnce(Formatter<'_>) -> R) -> R {
    body(Formatter { options: &PrintOptions::default(), default_dtype: DType::Float })
}

fn repr(value: &Value) -> String {
    with_formatter(|formatter| shown(formatter.repr(value)))
}

#[test]
#[rustfmt::skip]
fn tensors() {
    let rows: &[(&str, &[i64], &[f64], &str)] = &[
        ("float32", &[], &[1.23456], "tensor(1.2346)"),
        ("float32", &[], &[-0.0], "tensor(-0.)"),
        ("float32", &[3], &[1.0, 2.0, 3.0], "tensor([1., 2., 3.])"),
        ("float32", &[2], &[1.0, 1000.0], "tensor([   1., 1000.])"),
        ("float32", &[2], &[1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ("float32", &[1], &[1e8], "tensor([100000000.])"),
        ("float32", &[1], &[1e9], "tensor([1.0000e+09])"),
        ("float32", &[2], &[0.0, 1000.0], "tensor([   0., 1000.])"),
        ("float32", &[2], &[-0.0, 0.0], "tensor([-0., 0.])"),
        ("float32", &[2], &[0.0, NAN], "tensor([0., nan])"),
        ("float32", &[2], &[INF, 10.0], "tensor([inf, 10.])"),
        ("float32", &[4], &[0.0, -0.0, NAN, 10.0], "tensor([ 0., -0., nan, 10.])"),
        ("float32", &[1], &[0.0001], "tensor([1.0000e-04])"),
        ("float64", &[1], &[0.0001], "tensor([0.0001], dtype=torch.float64)"),
        ("float32", &[2], &[0.5, 500.5], "tensor([5.0000e-01, 5.0050e+02])"),
        ("float32", &[2], &[0.5, 500.0], "tensor([  0.5000, 500.0000])"),
        ("float32", &[2], &[1e10, 0.5], "tensor([1.0000e+10, 5.0000e-01])"),
        ("float64", &[2], &[1e-100, 1e100], "tensor([1.0000e-100, 1.0000e+100], dtype=torch.float64)"),
        ("float32", &[3], &[1.5, -1e-30, 0.0], "tensor([ 1.5000e+00, -1.0000e-30,  0.0000e+00])"),
        ("float32", &[2], &[NAN, 1e10], "tensor([       nan, 1.0000e+10])"),
        ("float32", &[2], &[5e-05, 0.05], "tensor([5.0000e-05, 5.0000e-02])"),
        ("float32", &[1], &[1.00005], "tensor([1.0000])"),
        ("float64", &[1], &[1.00005], "tensor([1.0001], dtype=torch.float64)"),
        ("float64", &[1], &[5e-324], "tensor([4.9407e-324], dtype=torch.float64)"),
        ("float32", &[2, 2], &[1.5, 2.0, 100.25, -3.0], "tensor([[  1.5000,   2.0000],\n        [100.2500,  -3.0000]])"),
        ("float16", &[2], &[1.0, 0.333], "tensor([1.0000, 0.3330], dtype=torch.float16)"),
        ("float16", &[2], &[65504.0, 1.0], "tensor([6.5504e+04, 1.0000e+00], dtype=torch.float16)"),
        ("bfloat16", &[2], &[NAN, 1.0], "tensor([nan, 1.], dtype=torch.bfloat16)"),
        ("float8_e4m3fn", &[3], &[1.5, 448.0, -0.001], "tensor([ 1.5000e+00,  4.4800e+02, -1.9531e-03], dtype=torch.float8_e4m3fn)"),
        ("float8_e5m2", &[2], &[1.5, 57344.0], "tensor([1.5000e+00, 5.7344e+04], dtype=torch.float8_e5m2)"),
        ("float8_e4m3fnuz", &[1], &[1.5], "tensor([1.5000], dtype=torch.float8_e4m3fnuz)"),
        ("float8_e5m2fnuz", &[2], &[1.5, -7.0], "tensor([ 1.5000, -7.0000], dtype=torch.float8_e5m2fnuz)"),
        ("int64", &[3], &[1.0, -2.0, 300.0], "tensor([  1,  -2, 300])"),
        ("int8", &[2], &[1.0, -128.0], "tensor([   1, -128], dtype=torch.int8)"),
        ("uint16", &[1], &[65535.0], "tensor([65535], dtype=torch.uint16)"),
        ("bool", &[2], &[1.0, 0.0], "tensor([ True, False])"),
        ("bool", &[1], &[1.0], "tensor([True])"),
        ("bool", &[], &[1.0], "tensor(True)"),
        ("int32", &[2, 1, 1, 2], &[0.0; 4], "tensor([[[[0, 0]]],\n\n\n        [[[0, 0]]]], dtype=torch.int32)"),
        ("uint8", &[0], &[], "tensor([], dtype=torch.uint8)"),
        ("int64", &[0], &[], "tensor([], dtype=torch.int64)"),
        ("bool", &[0], &[], "tensor([], dtype=torch.bool)"),
        ("float32", &[0], &[], "tensor([])"),
        ("float32", &[2, 0, 3], &[], "tensor([], size=(2, 0, 3))"),
        ("float32", &[20], &[NAN; 20], "tensor([nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan])"),
        ("float32", &[25], &[0.0; 25], "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.,\n        0.])"),
        ("float64", &[17], &[0.0; 17], "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],\n       dtype=torch.float64)"),
        ("complex64", &[2], &[1.5, 3.0], "tensor([1.5000+0.j, 3.0000+0.j])"),
        ("complex64", &[1], &[0.0], "tensor([0.+0.j])"),
        ("complex128", &[], &[2.0], "tensor(2.+0.j, dtype=torch.complex128)"),
    ];
    for (dtype, sizes, values, want) in rows {
        assert_eq!(&print(&tensor(dtype, sizes, values)), want);
    }
    assert_eq!(print(&arange("int16", &[11])), "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10], dtype=torch.int16)");
    assert_eq!(print(&arange("int16", &[16])), "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15],\n       dtype=torch.int16)");
    let largest = View::scalar(Scalar::UInt(u64::MAX), DType::UInt64).map(Tensor::new);
    assert_eq!(largest.map(|t| print(&t)), Ok("tensor(18446744073709551615, dtype=torch.uint64)".into()));
}

#[test]
#[rustfmt::skip]
fn print_options() {
    let default = PrintOptions::default();
    let threshold = |threshold| PrintOptions { threshold, ..default };
    let edges = |threshold, edgeitems| PrintOptions { threshold, edgeitems, ..default };
    let linewidth = |linewidth| PrintOptions { linewidth, ..default };
    let precision = |precision, sci_mode| PrintOptions { precision, sci_mode, ..default };
    let rows: &[(PrintOptions, Tensor, &str)] = &[
        (threshold(5), arange("int64", &[10]), "tensor([0, 1, 2,  ..., 7, 8, 9])"),
        (threshold(5), arange("int64", &[3, 4]), "tensor([[ 0,  1,  2,  3],\n        [ 4,  5,  6,  7],\n        [ 8,  9, 10, 11]])"),
        (edges(5, 1), arange("int64", &[3, 4]), "tensor([[ 0,  ...,  3],\n        ...,\n        [ 8,  ..., 11]])"),
        (edges(5, 0), arange("int64", &[10]), "tensor([...], size=(10,))"),
        (edges(5, 0), arange("float32", &[3, 4]), "tensor([...], size=(3, 4))"),
        (edges(1000, 0), arange("int64", &[3]), "tensor([0, 1, 2], size=(3,))"),
        (edges(0, 0), arange("int64", &[1]), "tensor([...], size=(1,))"),
        (edges(-1, 2), arange("int64", &[4]), "tensor([0, 1, 2, 3])"),
        (edges(-1, 1), arange("int64", &[4]), "tensor([0,  ..., 3])"),
        (edges(3, 1), arange("int64", &[3, 3, 3]), "tensor([[[ 0,  ...,  2],\n         ...,\n         [ 6,  ...,  8]],\n\n        ...,\n\n        [[18,  ..., 20],\n         ...,\n         [24,  ..., 26]]])"),
        (PrintOptions { linewidth: 20, ..threshold(1) }, arange("int64", &[9]), "tensor([0, 1, 2,  ...,\n        6, 7, 8])"),
        (linewidth(40), arange("float32", &[30]), "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,\n         6.,  7.,  8.,  9., 10., 11.,\n        12., 13., 14., 15., 16., 17.,\n        18., 19., 20., 21., 22., 23.,\n        24., 25., 26., 27., 28., 29.])"),
        (linewidth(1), arange("int64", &[3]), "tensor([0,\n        1,\n        2])"),
        (linewidth(-7), arange("int64", &[2]), "tensor([0,\n        1])"),
        (precision(2, Some(true)), arange("float32", &[3]), "tensor([0.00e+00, 1.00e+00, 2.00e+00])"),
        (precision(0, Some(true)), arange("float32", &[3]), "tensor([0e+00, 1e+00, 2e+00])"),
        (precision(4, Some(false)), tensor("float32", &[2], &[1e10, 1e-10]), "tensor([10000000000.0000,     0.0000])"),
        (precision(4, Some(true)), tensor("float32", &[2], &[1.5, NAN]), "tensor([1.5000e+00,    nan])"),
        (precision(4, Some(true)), tensor("float32", &[2], &[100.0, -1.0]), "tensor([1.0000e+02, -1.0000e+00])"),
        (precision(4, Some(true)), tensor("float32", &[1], &[0.0]), "tensor([0.])"),
        (precision(0, None), tensor("float32", &[2], &[1.5, 2.5]), "tensor([2, 2])"),
        (precision(10, None), tensor("float32", &[1], &[1.12345]), "tensor([1.1234500408])"),
        (precision(-1, None), tensor("float32", &[1], &[1.5]), "ValueError: Format specifier missing precision"),
        (precision(-1, None), tensor("float32", &[1], &[1.0]), "tensor([1.])"),
        (precision(-1, None), tensor("float32", &[1], &[NAN]), "tensor([nan])"),
        (precision(-1, Some(true)), tensor("float32", &[1], &[1.0]), "ValueError: Format specifier missing precision"),
        (precision(i64::MAX, None), tensor("float32", &[1], &[1.5]), "ValueError: precision too big"),
    ];
    for (options, tensor, want) in rows {
        assert_eq!(&print_with(*options, DType::Float, tensor), want, "{options:?}");
    }
    let short = PrintOptions::profile("short").map(|o| print_with(o, DType::Float, &arange("int64", &[1001])));
    assert_eq!(short.as_deref(), Some("tensor([   0,    1,  ...,  999, 1000])"));
    let full = PrintOptions::profile("full").map(|o| print_with(o, DType::Float, &arange("int64", &[1001])).len());
    assert_eq!(full, Some(6678));
    assert_eq!(PrintOptions::profile("fancy"), None);
}

#[test]
fn the_default_dtype_goes_without_saying() {
    for (default, other, one, empty) in [
        ("float64", "float32", "tensor([1.], dtype=torch.float32)", "tensor([], dtype=torch.float32)"),
        ("float64", "float64", "tensor([1.])", "tensor([])"),
        ("float64", "complex64", "tensor([1.+0.j], dtype=torch.complex64)", "tensor([], dtype=torch.complex64)"),
        ("float64", "complex128", "tensor([1.+0.j])", "tensor([], dtype=torch.complex128)"),
        ("float64", "int64", "tensor([1])", "tensor([], dtype=torch.int64)"),
        ("float16", "float32", "tensor([1.], dtype=torch.float32)", "tensor([], dtype=torch.float32)"),
        ("float16", "float16", "tensor([1.])", "tensor([])"),
        ("bfloat16", "complex64", "tensor([1.+0.j])", "tensor([], dtype=torch.complex64)"),
        ("bfloat16", "bool", "tensor([True])", "tensor([], dtype=torch.bool)"),
    ] {
        let print = |tensor| print_with(PrintOptions::default(), dtype(default), &tensor);
        assert_eq!(print(tensor(other, &[1], &[1.0])), one);
        assert_eq!(print(tensor(other, &[0], &[])), empty);
    }
}

struct Node(&'static str);

impl GradFn for Node {
    fn name(&self) -> String {
        self.0.to_owned()
    }
}

#[test]
fn gradients_are_the_last_suffix() {
    let leaf = arange("float64", &[8]);
    leaf.autograd_mut(|meta| meta.requires_grad = true);
    let want = "tensor([0., 1., 2., 3., 4., 5., 6., 7.], dtype=torch.float64,\n       requires_grad=True)";
    assert_eq!(print(&leaf), want);
    let result = tensor("float32", &[6], &[2.5; 6]);
    result.autograd_mut(|meta| meta.grad_fn = Some((Rc::new(Node("MulBackward0")), 0)));
    let want = "tensor([2.5000, 2.5000, 2.5000, 2.5000, 2.5000, 2.5000],\n       grad_fn=<MulBackward0>)";
    assert_eq!(print(&result), want);
}

#[test]
fn meta_tensors_have_no_numbers() {
    for (name, sizes, want) in [
        ("float32", &[2][..], "tensor(..., device='meta', size=(2,))"),
        ("int64", &[], "tensor(..., device='meta', size=(), dtype=torch.int64)"),
        ("bool", &[0, 3], "tensor(..., device='meta', size=(0, 3), dtype=torch.bool)"),
    ] {
        let view = View::zeros(sizes, dtype(name), Device::META).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(print(&Tensor::new(view)), want);
    }
}

#[test]
fn lazy_bits_show_in_the_numbers() {
    let values = [Complex::new(1.0, 2.0), Complex::new(-0.5, -1e-3)].map(Scalar::Complex);
    let view = View::from_scalars(&[2], DType::ComplexFloat, values).unwrap_or_else(|e| panic!("{e}"));
    let conj = View { conj: true, ..view.clone() };
    let imaginary = conj.complex_part(true);
    for (view, want) in [
        (view, "tensor([ 1.0000+2.0000e+00j, -0.5000-1.0000e-03j])"),
        (conj, "tensor([ 1.0000-2.0000e+00j, -0.5000+1.0000e-03j])"),
        (imaginary, "tensor([-2.0000e+00,  1.0000e-03])"),
    ] {
        assert_eq!(print(&Tensor::new(view)), want);
    }
}

#[test]
fn tensors_beyond_their_storage() {
    let message = |sizes: &str, strides: &str, offset: i64, itemsize: i64, needed: i64, nbytes: i64| {
        format!(
            "RuntimeError: setStorage: sizes {sizes}, strides {strides}, storage offset {offset}, and itemsize \
             {itemsize} requiring a storage size of {needed} are out of bounds for storage of size {nbytes}"
        )
    };
    for (dtype, sizes, nbytes, want) in [
        ("int64", &[5][..], 0, message("[]", "[]", 0, 8, 8, 0)),
        ("int64", &[], 0, message("[]", "[]", 0, 8, 8, 0)),
        ("int32", &[4], 8, message("[]", "[]", 2, 4, 12, 8)),
        ("int64", &[2000], 40, message("[3]", "[1]", 1997, 8, 16000, 40)),
        ("int64", &[2000], 16, message("[3]", "[1]", 0, 8, 24, 16)),
        ("int64", &[20, 100], 14400, message("[100]", "[1]", 1800, 8, 15200, 14400)),
        ("int64", &[2, 1000], 14400, message("[1000]", "[1]", 1000, 8, 16000, 14400)),
        ("float32", &[20, 100], 7200, message("[100]", "[1]", 1800, 4, 7600, 7200)),
        ("complex64", &[2000], 7200, message("[2000]", "[2]", 0, 4, 15996, 7200)),
    ] {
        let tensor = tensor(dtype, sizes, &vec![0.0; sizes.iter().product::<i64>() as usize]);
        assert_eq!(tensor.view().storage.resize(nbytes), Ok(()));
        assert_eq!(print(&tensor), want);
    }
    // Only the elements shown are read, so the length does not matter.
    let view = View::zeros(&[2000], DType::Byte, Device::CPU).unwrap_or_else(|e| panic!("{e}"));
    let shared =
        view.with_layout(Layout { sizes: [1 << 40].as_slice().into(), strides: [0].as_slice().into(), offset: 9 });
    assert_eq!(print(&Tensor::new(shared)), "tensor([0, 0, 0,  ..., 0, 0, 0], dtype=torch.uint8)");
}

#[test]
fn storages() {
    let untyped = |bytes: &[u8]| Storage::from_bytes(bytes).unwrap_or_else(|e| panic!("{e}"));
    let typed = |name: &str, values: &[Scalar]| {
        let view = View::from_scalars(&[values.len() as i64], dtype(name), values.iter().copied());
        let storage = view.unwrap_or_else(|e| panic!("{e}")).storage;
        Value::TypedStorage(TypedStorage::new(storage, dtype(name)))
    };
    let meta = Storage::zeroed(8, Device::META).unwrap_or_else(|e| panic!("{e}"));
    let complex = |re, im| Scalar::Complex(Complex::new(re, im));
    for (value, want) in [
        (Value::Storage(untyped(&[])), " \n[torch.storage.UntypedStorage(device=cpu) of size 0]"),
        (Value::Storage(untyped(&[0, 10, 255])), " 0\n 10\n 255\n[torch.storage.UntypedStorage(device=cpu) of size 3]"),
        (Value::Storage(meta.clone()), "...\n[torch.storage.UntypedStorage(device=meta) of size 8]"),
        (
            Value::TypedStorage(TypedStorage::new(meta, DType::Float)),
            "...\n[torch.storage.TypedStorage(dtype=torch.float32, device=meta) of size 2]",
        ),
        (typed("float32", &[]), " \n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 0]"),
        (
            typed("float32", &[1.5, -0.0, INF, NAN, 1e-8].map(Scalar::Float)),
            " 1.5\n -0.0\n inf\n nan\n 9.99999993922529e-09\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 5]",
        ),
        (
            typed("complex64", &[complex(0.0, 1.0), complex(-0.0, 0.0), complex(2.0, -3.0)]),
            " 1j\n (-0+0j)\n (2-3j)\n[torch.storage.TypedStorage(dtype=torch.complex64, device=cpu) of size 3]",
        ),
        (
            typed("bool", &[true, false].map(Scalar::Bool)),
            " True\n False\n[torch.storage.TypedStorage(dtype=torch.bool, device=cpu) of size 2]",
        ),
    ] {
        assert_eq!(repr(&value), want);
    }
}

#[test]
fn values() {
    let one = || Value::Tensor(tensor("int64", &[], &[1.0]));
    let (values, indices) = (tensor("float32", &[2], &[1.0, 1.0]), tensor("int64", &[2], &[0.0, 1.0]));
    let maxima = vec![("values", Value::Tensor(values)), ("indices", Value::Tensor(indices))];
    let packed = vec![("data", Value::Int(1)), ("batch_sizes", Value::list([one()]))];
    let slice = |start, stop, step| Value::Slice(Rc::new(Slice { start, stop, step }));
    let range = |start, stop, step| Value::Range(Range { start, stop, step });
    let named = |type_name, fields| Value::NamedTuple(Rc::new(NamedTuple { type_name, fields }));
    let device = |name| Value::Device(Device::parse(name).unwrap_or_else(|e| panic!("{e}")));
    let buffer = |buffer: Result<Buffer>| Value::Buffer(buffer.unwrap_or_else(|e| panic!("{e}")));
    for (value, want) in [
        (Value::None, "None"),
        (Value::Bool(true), "True"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (Value::from(1i128 << 80), "1208925819614629174706176"),
        (Value::Float(1e16), "1e+16"),
        (Value::Complex(Complex::new(0.0, 2.0)), "2j"),
        (Value::tuple([]), "()"),
        (Value::tuple([Value::Int(1)]), "(1,)"),
        (Value::tuple([one(), Value::str("a")]), "(tensor(1), 'a')"),
        (Value::list([Value::None, Value::Ellipsis]), "[None, Ellipsis]"),
        (
            Value::Dict(
                Dict::new([(Value::str("a"), Value::tuple([one()])), (Value::Int(2), Value::list([]))])
                    .unwrap_or_default(),
            ),
            "{'a': (tensor(1),), 2: []}",
        ),
        (Value::size(&[]), "torch.Size([])"),
        (Value::size(&[2, 3]), "torch.Size([2, 3])"),
        (slice(Value::None, Value::Int(3), Value::None), "slice(None, 3, None)"),
        (slice(Value::Int(1), Value::ints(&[2]), one()), "slice(1, (2,), tensor(1))"),
        (range(0, 3, 1), "range(0, 3)"),
        (range(3, 0, -1), "range(3, 0, -1)"),
        (Value::DType(DType::Float), "torch.float32"),
        (Value::Layout(TensorLayout::Strided), "torch.strided"),
        (Value::MemoryFormat(MemoryFormat::Contiguous), "torch.contiguous_format"),
        (device("cpu"), "device(type='cpu')"),
        (device("cuda:0"), "device(type='cuda', index=0)"),
        (Value::Type("float"), "<class 'float'>"),
        (
            named("torch.return_types.max", maxima),
            "torch.return_types.max(\nvalues=tensor([1., 1.]),\nindices=tensor([0, 1]))",
        ),
        (named("PackedSequence", packed), "PackedSequence(data=1, batch_sizes=[tensor(1)])"),
        (buffer(Buffer::bytes(b"\x00a'\"\n\xff")), r#"b'\x00a\'"\n\xff'"#),
        (buffer(Buffer::bytes(b"it's")), r#"b"it's""#),
        (buffer(Buffer::bytearray(b"\x00a")), r"bytearray(b'\x00a')"),
        (buffer(Buffer::bytearray(b"it's")), r#"bytearray(b"it\'s")"#),
        (buffer(Buffer::array(TypeCode::I32, &[Scalar::Int(1), Scalar::Int(2)])), "array('i', [1, 2])"),
        (buffer(Buffer::array(TypeCode::F64, &[Scalar::Float(1.0)])), "array('d', [1.0])"),
        (buffer(Buffer::array(TypeCode::Char, &[Scalar::Int(97), Scalar::Int(98)])), "array('u', 'ab')"),
        (buffer(Buffer::array(TypeCode::I32, &[])), "array('i')"),
    ] {
        assert_eq!(repr(&value), want);
    }
}

#[test]
fn strings_are_quoted_and_escaped() {
    for (text, want) in [
        ("", "''"),
        ("it's", r#""it's""#),
        ("say \"hi\"", r#"'say "hi"'"#),
        ("'\"", r#"'\'"'"#),
        ("a\\b\n\r\t\0\x7f", r"'a\\b\n\r\t\x00\x7f'"),
        ("é日\u{1f600}", "'é日\u{1f600}'"),
        ("\u{301}", "'\u{301}'"),
        ("\u{a0}\u{200b}\u{e000}\u{e0001}", r"'\xa0\u200b\ue000\U000e0001'"),
    ] {
        assert_eq!(str_repr(text), want);
    }
}

#[test]
fn str_differs_from_repr_for_strings_and_devices() {
    with_formatter(|formatter| {
        let device = Value::Device(Device::CPU);
        assert_eq!(formatter.str(&Value::str("it's\n")), Ok("it's\n".into()));
        assert_eq!(formatter.str(&device), Ok("cpu".into()));
        assert_eq!(formatter.str(&Value::list([device])), Ok("[device(type='cpu')]".into()));
        assert_eq!(formatter.str(&Value::Float(1.0)), Ok("1.0".into()));
    });
}

#[test]
fn deep_nesting_is_an_error() {
    let nested = |depth| (0..depth).fold(Value::None, |inner, _| Value::list([inner]));
    assert_eq!(repr(&nested(200)).len(), 404);
    let want = "RecursionError: maximum recursion depth exceeded while getting the repr of an object";
    assert_eq!(repr(&nested(201)), want);
    assert_eq!(
        print(&tensor("float32", &[1; 300], &[0.0])),
        format!("tensor({}0.{})", "[".repeat(300), "]".repeat(300))
    );
    assert!(print(&tensor("float32", &[1; 5000], &[0.0])).starts_with("RecursionError"));
}

#[test]
fn format_specifications() {
    let number = |x| Value::Float(x);
    for (value, spec, want) in [
        (number(1.5), "", "1.5"),
        (number(1.23456), ".2f", "1.23"),
        (number(1234567.891), ",.2f", "1,234,567.89"),
        (number(1234.5), "010,.1f", "0,001,234.5"),
        (number(-0.0001), "z.1f", "0.0"),
        (number(12.0), ".3", "12.0"),
        (number(123.0), ".3", "1.23e+02"),
        (number(1e16), "g", "1e+16"),
        (number(0.5), ".0%", "50%"),
        (number(NAN), "010", "0000000nan"),
        (number(3.0), "#.0f", "3."),
        (number(INF), "F", "INF"),
        (number(1.5), "d", "ValueError: Unknown format code 'd' for object of type 'float'"),
        (number(1.5), ".f", "ValueError: Format specifier missing precision"),
        (number(1.5), ".1.5f", "ValueError: Invalid format specifier '.1.5f' for object of type 'float'"),
        (Value::Int(42), "5", "   42"),
        (Value::Int(-42), "=+6", "-   42"),
        (Value::Int(255), "#010x", "0x000000ff"),
        (Value::Int(1234567), "_", "1_234_567"),
        (Value::Int(255), "_b", "1111_1111"),
        (Value::Int(65), "c", "A"),
        (Value::Int(3), ".1f", "3.0"),
        (Value::Int(3), ".1", "ValueError: Precision not allowed in integer format specifier"),
        (Value::Int(3), ",x", "ValueError: Cannot specify ',' with 'x'."),
        (Value::Bool(true), "", "True"),
        (Value::Bool(true), ">3", "  1"),
        (Value::str("ab"), "", "ab"),
        (Value::str("ab"), "*^6", "**ab**"),
        (Value::str("héllo"), "05.3", "hél00"),
        (Value::str("ab"), "+", "ValueError: Sign not allowed in string format specifier"),
        (Value::Complex(Complex::new(1.0, -2.0)), ".1f", "1.0-2.0j"),
        (Value::Complex(Complex::new(0.0, 2.0)), "5", "   2j"),
        (Value::Complex(Complex::new(1.0, 2.0)), "*^9", "*(1+2j)**"),
        (Value::Tensor(tensor("float32", &[], &[1.5])), "", "1.5"),
        (Value::Tensor(tensor("float32", &[], &[1.25])), ".1f", "1.2"),
        (Value::Tensor(tensor("bool", &[], &[1.0])), "", "True"),
        (Value::Tensor(tensor("float32", &[1], &[1.5])), "", "tensor([1.5000])"),
        (
            Value::Tensor(tensor("float32", &[1], &[1.5])),
            ".2f",
            "TypeError: unsupported format string passed to Tensor.__format__",
        ),
        (Value::None, ">5", "TypeError: unsupported format string passed to NoneType.__format__"),
        (Value::Device(Device::CPU), "", "cpu"),
    ] {
        assert_eq!(with_formatter(|formatter| shown(formatter.format(&value, spec))), want, "{value:?} {spec:?}");
    }
}
