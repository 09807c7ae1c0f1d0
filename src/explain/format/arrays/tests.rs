//! Checks the table that tests/arrays/arrays.py has recorded with NumPy 2.4.6.

#![cfg(test)]

use super::*;
use num_complex::Complex;

const TABLE: &str = include_str!("../../../../tests/arrays/arrays.txt");

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap(),
            }),
            other => out.push(other),
        }
    }
    out
}

fn options(text: &str) -> ArrayOptions {
    let mut options = ArrayOptions::default();
    for (name, value) in text.split(';').filter_map(|option| option.split_once('=')) {
        match name {
            "precision" => options.precision = value.parse().unwrap(),
            "threshold" => options.threshold = value.parse().unwrap(),
            "edgeitems" => options.edgeitems = value.parse().unwrap(),
            "linewidth" => options.linewidth = value.parse().unwrap(),
            "suppress" => options.suppress = value == "True",
            "nanstr" => options.nanstr = value.to_owned(),
            "infstr" => options.infstr = value.to_owned(),
            "sign" => options.sign = Sign::from_text(value).unwrap(),
            "floatmode" => options.floatmode = FloatMode::from_name(value).unwrap(),
            _ => panic!("no option {name}"),
        }
    }
    options
}

/// Reads the elements of an array, which are repeated until it is full.
fn view(dtype: DType, sizes: &str, bits: &str) -> View {
    let sizes: Vec<i64> = sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect();
    let bits: Vec<u64> = bits.split_whitespace().map(|bits| u64::from_str_radix(bits, 16).unwrap()).collect();
    let float = |bits: u64| match dtype.to_real() {
        DType::Half => half::f16::from_bits(bits as u16).to_f64(),
        DType::Float => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    let unused = 64 - 8 * dtype.itemsize().min(8) as u32;
    let scalars: Vec<Scalar> = match dtype {
        DType::Bool => bits.iter().map(|&bits| Scalar::Bool(bits != 0)).collect(),
        DType::UInt64 => bits.iter().map(|&bits| Scalar::UInt(bits)).collect(),
        _ if dtype.is_complex() => {
            bits.chunks(2).map(|pair| Scalar::Complex(Complex::new(float(pair[0]), float(pair[1])))).collect()
        }
        _ if dtype.is_floating_point() => bits.iter().map(|&bits| Scalar::Float(float(bits))).collect(),
        _ if dtype.is_signed() => bits.iter().map(|&bits| Scalar::Int(((bits << unused) as i64) >> unused)).collect(),
        _ => bits.iter().map(|&bits| Scalar::Int(bits as i64)).collect(),
    };
    View::from_scalars(&sizes, dtype, scalars.into_iter().cycle()).unwrap()
}

/// Formats a line of the table, and returns the text that it expects too.
fn case(line: &str) -> (String, String) {
    let fields: Vec<&str> = line.split('\t').collect();
    let [style, name, note, sizes, chosen, separator, prefix, suffix, bits, expected] = fields[..] else {
        panic!("no case: {line}");
    };
    let dtype = DType::from_name(name).unwrap();
    let (view, options) = (view(dtype, sizes, bits), options(chosen));
    let write = |style| write(&view, note, is_implied(dtype) && note == name, style, &options);
    let text = match style {
        "repr" => write(Style::Repr),
        "str" | "scalar" => write(Style::Str),
        "number" => write(Style::Number),
        "text" => text(&view, &options, &unescaped(separator), prefix, suffix),
        _ => panic!("no style {style}"),
    };
    (text.unwrap_or_else(|error| error.to_string()), unescaped(expected))
}

#[test]
fn arrays_look_like_numpys() {
    let path = std::env::var("TENSORSH_ARRAYS").ok();
    let table = path.map_or(TABLE.to_owned(), |path| std::fs::read_to_string(path).unwrap());
    let wrong = table.lines().filter_map(|line| {
        let (text, expected) = case(line);
        (text != expected).then(|| format!("{line}\n{text}\ninstead of\n{expected}\n"))
    });
    let wrong: Vec<String> = wrong.take(20).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A view of one zero in every element.
fn expanded(sizes: &[i64]) -> View {
    let one = View::zeros(&[], DType::Double, tensor::Device::CPU).unwrap();
    one.with_layout(one.layout.expand(sizes, "Tensor").unwrap())
}

#[test]
fn only_the_elements_shown_are_read() {
    let write = |options: &ArrayOptions| write(&expanded(&[1 << 40, 2]), "float64", true, Style::Repr, options);
    let options = ArrayOptions { edgeitems: 1, ..ArrayOptions::default() };
    let rows = "array([[0., 0.],\n       ...,\n       [0., 0.]], shape=(1099511627776, 2))";
    assert_eq!(write(&options).unwrap(), rows);
    let all = ArrayOptions { threshold: i64::MAX, ..options };
    assert!(write(&all).is_err_and(|error| error.kind == tensor::ErrorKind::MemoryError));
}

#[test]
fn an_interrupt_stops_the_output() {
    let flag = tensor::interrupt::Interrupt::default();
    tensor::interrupt::watch(&flag);
    flag.set();
    let options = ArrayOptions { threshold: i64::MAX, ..ArrayOptions::default() };
    let stopped = text(&expanded(&[1 << 20]), &options, " ", "", "");
    assert!(stopped.is_err_and(|error| error.kind == tensor::ErrorKind::KeyboardInterrupt));
}
