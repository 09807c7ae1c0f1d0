//! Unary functions of 16-bit floats, looked up among the results of all 65,536 operands. A lookup takes a third of the
//! time of a series, and a twentieth of that of a call. The kernels themselves make the table, once.

use super::unary::{UnaryKernel, UnaryOp};
use crate::ops::block::{self, Pace};
use crate::ops::number::Stored;
use crate::{DType, Layout, Result, Scalar, View};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const OPERANDS: usize = 1 << 16;

/// The bits of the results, by the bits of the operand.
type Results = Box<[u16; OPERANDS]>;

/// A table, and the number of elements that were computed without it.
struct Table {
    results: OnceLock<Results>,
    computed: AtomicUsize,
}

/// For each operation: tables of `float16` and `bfloat16`, each for whole vectors and for single elements.
static TABLES: [[Table; 4]; UnaryOp::ALL.len()] =
    [const { [const { Table { results: OnceLock::new(), computed: AtomicUsize::new(0) } }; 4] }; UnaryOp::ALL.len()];

/// Applies a kernel to 16-bit floats, and another one, if given, to elements that PyTorch does not process in vectors.
pub(super) fn run<S: Stored<Compute = f32>>(
    op: UnaryOp,
    out: &View,
    a: &View,
    layout: &Layout,
    kernel: UnaryKernel<f32>,
    tail_kernel: Option<UnaryKernel<f32>>,
) -> Result<()> {
    let pace = op.pace(S::DTYPE);
    let numel = usize::try_from(out.numel()).unwrap_or(usize::MAX);
    let table = |tail: bool, kernel| results::<S>(op, tail, kernel, numel);
    if pace.weight > 1
        && let Some(results) = table(false, kernel)?
        && let Some(tail_results) = tail_kernel.map_or(Ok(Some(results)), |kernel| table(true, kernel))?
    {
        let pace = Pace { weight: 1, ..pace };
        return block::unary::<u16, u16>(&as_bits(out), &as_bits(a), layout, pace, &|a, out, tail| {
            let results = if tail { tail_results } else { results };
            out.iter_mut().zip(a).for_each(|(out, &bits)| *out = results[usize::from(bits)]);
        });
    }
    block::unary::<S, S>(out, a, layout, pace, &|a, out, tail| match tail_kernel {
        Some(tail_kernel) if tail => tail_kernel(a, out),
        _ => kernel(a, out),
    })
}

/// Returns the elements of a tensor of 16-bit floats as their bits.
pub(super) fn as_bits(view: &View) -> View {
    View { dtype: DType::UInt16, ..view.clone() }
}

/// Returns the results of a kernel. `None` until it has computed as many elements as a table has, which makes the table
/// double the time of all calls at most.
fn results<S: Stored<Compute = f32>>(
    op: UnaryOp,
    tail: bool,
    kernel: UnaryKernel<f32>,
    numel: usize,
) -> Result<Option<&'static [u16; OPERANDS]>> {
    let column = 2 * usize::from(S::DTYPE == DType::Half) + usize::from(tail);
    let Some(table) = TABLES.get(op as usize).and_then(|tables| tables.get(column)) else { return Ok(None) };
    if table.results.get().is_none() {
        let before = table.computed.fetch_add(numel.min(OPERANDS), Ordering::Relaxed);
        if before + numel.min(OPERANDS) < OPERANDS {
            return Ok(None);
        }
        if let Ok(results) = Results::try_from(computed::<S>(kernel)?.into_boxed_slice()) {
            // Another thread may have been first, with the same results.
            table.results.get_or_init(|| results);
        }
    }
    Ok(table.results.get().map(|results| &**results))
}

/// Applies a kernel to all operands.
fn computed<S: Stored<Compute = f32>>(kernel: UnaryKernel<f32>) -> Result<Vec<u16>> {
    let sizes = [OPERANDS as i64];
    let operands = View::from_scalars(&sizes, DType::UInt16, (0..OPERANDS as i64).map(Scalar::Int))?;
    let operands = View { dtype: S::DTYPE, ..operands };
    let out = View::zeros(&sizes, S::DTYPE, operands.device())?;
    block::unary::<S, S>(&out, &operands, &operands.layout, Pace::PLAIN, &|a, out, _| kernel(a, out))?;
    block::values::<u16>(&as_bits(&out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::pointwise::{Output, unary};

    /// Results are the same before an operation has a table and after, in whole vectors and in the elements after them.
    #[test]
    fn looked_up_results_are_those_of_kernels() {
        let ops = [UnaryOp::Exp, UnaryOp::Sigmoid, UnaryOp::Rsqrt, UnaryOp::Lgamma, UnaryOp::Exp2, UnaryOp::Neg];
        for (op, dtype) in ops.into_iter().flat_map(|op| [(op, DType::Half), (op, DType::BFloat16)]) {
            let apply = |count: i64| -> Vec<u16> {
                let bits = (0..count).map(|i| Scalar::Int(i * 40_503 % 65_536));
                let operand = View::from_scalars(&[count], DType::UInt16, bits).unwrap();
                let result = unary(op, &View { dtype, ..operand }, Output::New, DType::Float).unwrap();
                block::values::<u16>(&as_bits(&result)).unwrap()
            };
            let all = || [0, 1, 100, 32_736].map(apply);
            let before = all();
            apply(65_536);
            assert!(before == all(), "{op:?} {dtype:?}");
        }
    }
}
