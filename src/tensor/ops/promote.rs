//! Type promotion: determines the dtype of a result from its operands. Works with dtypes and dimensions only. Follows
//! <https://pytorch.org/docs/2.7/tensor_attributes.html#type-promotion-doc>.

use crate::{Category, DType, Result, Scalar, View, promote_types};

/// An operand: a tensor, or a Python number (a "wrapped number"), which has lower priority than tensors.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    Tensor(&'a View),
    Number(Scalar),
}

impl Operand<'_> {
    /// The operand's own dtype. Numbers have `int64`, the default dtype, or its complex dtype.
    ///
    /// # Errors
    /// RuntimeError if the default dtype has no complex counterpart.
    pub fn dtype(&self, default: DType) -> Result<DType> {
        match self {
            Operand::Tensor(view) => Ok(view.dtype),
            Operand::Number(number) => number_dtype(*number, default),
        }
    }

    pub fn sizes(&self) -> &[i64] {
        match self {
            Operand::Tensor(view) => view.sizes(),
            Operand::Number(_) => &[],
        }
    }
}

impl<'a> From<&'a View> for Operand<'a> {
    fn from(view: &'a View) -> Operand<'a> {
        Operand::Tensor(view)
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(number: Scalar) -> Self {
        Operand::Number(number)
    }
}

/// Returns the dtype of a tensor made from a Python number.
pub fn number_dtype(number: Scalar, default: DType) -> Result<DType> {
    match number.category() {
        Category::Bool => Ok(DType::Bool),
        Category::Integral => Ok(DType::Long),
        Category::Floating => Ok(default),
        Category::Complex => default.to_complex(),
    }
}

/// Returns the dtype that these operands promote to, like
/// [`torch.result_type`](https://pytorch.org/docs/2.7/generated/torch.result_type.html). Tensors with dimensions have
/// priority; a 0-d tensor counts only if its category is higher, and numbers rank below 0-d tensors. `default` is the
/// default dtype.
///
/// # Errors
/// RuntimeError for combinations that PyTorch does not promote (8-bit floats, bare unsigned integers).
pub fn result_type(operands: &[Operand], default: DType) -> Result<DType> {
    let (mut dimensioned, mut zero_dim, mut numbers) = (None, None, None);
    for operand in operands {
        let class = match operand {
            Operand::Tensor(view) if view.ndim() > 0 => &mut dimensioned,
            Operand::Tensor(_) => &mut zero_dim,
            Operand::Number(_) => &mut numbers,
        };
        *class = promote_known(*class, Some(operand.dtype(default)?))?;
    }
    let result = combine(dimensioned, combine(zero_dim, numbers)?)?;
    Ok(result.unwrap_or(default))
}

fn promote_known(a: Option<DType>, b: Option<DType>) -> Result<Option<DType>> {
    match (a, b) {
        (Some(a), Some(b)) => promote_types(a, b).map(Some),
        (known, None) | (None, known) => Ok(known),
    }
}

/// Combines the dtypes of two priority classes: the higher class keeps its dtype unless the lower one has a higher
/// category.
fn combine(higher: Option<DType>, lower: Option<DType>) -> Result<Option<DType>> {
    let (Some(high), Some(low)) = (higher, lower) else {
        return Ok(higher.or(lower));
    };
    Ok(Some(match (high.category(), low.category()) {
        (Category::Complex, _) => high,
        (Category::Floating, Category::Complex) => high.to_complex()?,
        (Category::Floating, _) => high,
        // PyTorch refuses two tensors of these dtypes.
        (Category::Integral, Category::Floating | Category::Complex) if high.is_bare_unsigned() => low,
        (Category::Bool, _) | (_, Category::Floating | Category::Complex) => promote_types(high, low)?,
        (Category::Integral, _) => high,
    }))
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    fn named(name: &str) -> DType {
        match DType::from_name(name) {
            Some(dtype) => dtype,
            None => panic!("no dtype {name}"),
        }
    }

    fn tensor(dtype: DType, ndim: usize) -> View {
        match View::zeros(&[2, 2][..ndim], dtype, Device::CPU) {
            Ok(view) => view,
            Err(error) => panic!("{error}"),
        }
    }

    /// Columns: `result_type` of a 1-d tensor with True, 1, 1.5, 1j, and 0-d bool, int64, float64, float16, complex128.
    #[test]
    fn one_dimension_against_numbers_and_0d_tensors() {
        let rows = "\
            bool       bool int64 float32 complex64 bool int64 float64 float16 complex128\n\
            uint8      uint8 uint8 float32 complex64 uint8 uint8 float64 float16 complex128\n\
            uint16     uint16 uint16 float32 complex64 uint16 uint16 float64 float16 complex128\n\
            int64      int64 int64 float32 complex64 int64 int64 float64 float16 complex128\n\
            float16    float16 float16 float16 complex32 float16 float16 float16 float16 complex32\n\
            bfloat16   bfloat16 bfloat16 bfloat16 complex64 bfloat16 bfloat16 bfloat16 bfloat16 complex64\n\
            float64    float64 float64 float64 complex128 float64 float64 float64 float64 complex128\n\
            complex32  complex32 complex32 complex32 complex32 complex32 complex32 complex32 complex32 complex32\n\
            float8_e5m2 float8_e5m2 float8_e5m2 float8_e5m2 ! float8_e5m2 float8_e5m2 float8_e5m2 float8_e5m2 !";
        for row in rows.lines() {
            let mut cells = row.split_whitespace();
            let Some(first) = cells.next() else { continue };
            let view = tensor(named(first), 1);
            let zero_dim = ["bool", "int64", "float64", "float16", "complex128"].map(|d| tensor(named(d), 0));
            let numbers = [
                Scalar::Bool(true),
                Scalar::Int(1),
                Scalar::Float(1.5),
                Scalar::Complex(num_complex::Complex::new(0.0, 1.0)),
            ];
            let others = numbers.map(Operand::Number).into_iter().chain(zero_dim.iter().map(Operand::Tensor));
            for (other, want) in others.zip(cells) {
                let got = result_type(&[Operand::Tensor(&view), other], DType::Float);
                assert_eq!(got.map_or("!", DType::name), want, "{first} with {other:?}");
            }
        }
    }

    #[test]
    fn numbers_alone_and_mixed_refusals() {
        let both = [Operand::Number(Scalar::Bool(true)), Operand::Number(Scalar::Float(2.0))];
        assert_eq!(result_type(&both, DType::Double), Ok(DType::Double));
        let (a, b) = (tensor(DType::UInt16, 1), tensor(DType::Short, 1));
        let message = result_type(&[Operand::Tensor(&a), Operand::Tensor(&b)], DType::Float).map_err(|e| e.message);
        assert_eq!(
            message,
            Err("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Short"
                .into())
        );
    }
}
