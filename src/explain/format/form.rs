//! Formats sparse and quantized tensors like PyTorch: their components, or the dequantized numbers.

use super::Formatter;
use super::number::write_float;
use super::repr::write_sizes;
use super::tensors::{PREFIX, indent, write_body};
use tensor::ops::quantize::dequantize;
use tensor::{Form, Quantizer, Result, Tensor, View};
use value::Value;

/// Appends the text before the suffixes, and returns the suffixes that describe how the values are stored.
pub(super) fn write(out: &mut String, formatter: Formatter<'_>, view: &View, form: &Form) -> Result<Vec<String>> {
    let mut size = String::from("size=");
    write_sizes(&mut size, view.sizes());
    let mut suffixes = vec![size];
    if view.device().is_meta() {
        suffixes.insert(0, format!("device='{}'", view.device()));
    }
    // The number of elements is not printed if there is no data.
    let counted = !view.device().is_meta();
    let parts = match form {
        Form::Coo(coo) => {
            if counted {
                suffixes.push(format!("nnz={}", coo.values.sizes().first().copied().unwrap_or(0)));
            }
            vec![("indices", &coo.indices), ("values", &coo.values)]
        }
        Form::Compressed(compressed) => {
            if counted {
                suffixes.push(format!("nnz={}", compressed.nnz()));
            }
            let (starts, plain) = compressed.layout.index_names();
            vec![(starts, &compressed.compressed), (plain, &compressed.plain), ("values", &compressed.values)]
        }
        Form::Quantized(quantizer) => {
            write_body(out, formatter.options, &dequantize(view)?, PREFIX.len())?;
            suffixes.push(format!("dtype=torch.{}", view.dtype.name()));
            suffixes.extend(parameters(formatter, quantizer)?);
            return Ok(suffixes);
        }
    };
    for (position, (name, part)) in parts.into_iter().enumerate() {
        if position > 0 {
            out.push_str(",\n");
            indent(out, PREFIX.len());
        }
        let start = out.len();
        out.push_str(name);
        out.push_str("=tensor(");
        let column = PREFIX.len() + out.len() - start;
        if counted {
            write_body(out, formatter.options, part, column)?;
        } else {
            out.push_str("...");
        }
        if !counted || part.sizes().contains(&0) {
            out.push_str(", size=");
            write_sizes(out, part.sizes());
        }
        out.push(')');
    }
    if !formatter.dtype_is_clear(view.dtype) {
        suffixes.push(format!("dtype=torch.{}", view.dtype.name()));
    }
    Ok(suffixes)
}

/// Returns a quantizer's scheme and parameters.
fn parameters(formatter: Formatter<'_>, quantizer: &Quantizer) -> Result<Vec<String>> {
    let mut suffixes = vec![format!("quantization_scheme=torch.{}", quantizer.scheme())];
    match quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            let mut text = String::from("scale=");
            write_float(&mut text, *scale);
            suffixes.push(text);
            suffixes.push(format!("zero_point={zero_point}"));
        }
        Quantizer::PerChannel { scales, zero_points, axis } => {
            let shown = |view: &View| formatter.repr(&Value::Tensor(Tensor::new(view.clone())));
            suffixes.push(format!("scale={}", shown(scales)?));
            suffixes.push(format!("zero_point={}", shown(zero_points)?));
            suffixes.push(format!("axis={axis}"));
        }
    }
    Ok(suffixes)
}
