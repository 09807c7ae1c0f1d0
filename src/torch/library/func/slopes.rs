//! Gradients of several tensors by several others, and whole Jacobians.

use crate::steps::Steps;
use autograd::{self, Pass};
use call::{State, one};
use tensor::ops::create;
use tensor::{Dims, Result, Scalar, Tensor, View};
use value::Value;

/// Computes the gradients of `outputs` by `inputs`. An input that the outputs do not depend on has gradient zero.
pub(super) fn slopes(
    state: &State,
    outputs: &[Tensor],
    inputs: &[Tensor],
    seeds: Option<&[Tensor]>,
    create_graph: bool,
) -> Result<Vec<Tensor>> {
    let pass = Pass { functions: state, retain_graph: true, create_graph };
    let ones = ones_like(outputs)?;
    let seeds = seeds.unwrap_or(&ones);
    let roots: Vec<(Tensor, Tensor)> =
        outputs.iter().zip(seeds).filter(|(o, _)| o.requires_grad()).map(|(o, s)| (o.clone(), s.clone())).collect();
    let found = match roots.is_empty() {
        true => vec![None; inputs.len()],
        false => autograd::gradients(pass, &roots, inputs)?,
    };
    let zeros = |input: &Tensor| create::zeros_like(&input.borrow(), None, None).map(Tensor::new);
    found.into_iter().zip(inputs).map(|(found, input)| found.map_or_else(|| zeros(input), Ok)).collect()
}

fn ones_like(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let ones = |tensor: &Tensor| {
        let view = tensor.borrow();
        create::full(view.sizes(), Scalar::Int(1), Some(view.dtype), view.dtype, view.device()).map(Tensor::new)
    };
    tensors.iter().map(ones).collect()
}

/// Allocates zeros that require gradients.
pub(super) fn leaves_like(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let leaf = |tensor: &Tensor| {
        let zeros = Tensor::new(create::zeros_like(&tensor.borrow(), None, None)?);
        zeros.autograd_mut(|meta| meta.requires_grad = true);
        Ok(zeros)
    };
    tensors.iter().map(leaf).collect()
}

/// Selects one element of a tensor, as a 0-dimensional tensor.
fn element(steps: Steps, tensor: &Tensor, index: i64) -> Result<Tensor> {
    let flat = steps.sized("reshape", tensor, &[-1])?;
    steps.on(&flat, "select", &[Value::Int(0), Value::Int(index)])
}

/// Computes the Jacobian of every output by every input. Its sizes are those of the output, then those of the input.
pub(super) fn matrix(state: &State, outputs: &[Tensor], inputs: &[Tensor], create: bool) -> Result<Vec<Vec<Tensor>>> {
    let steps = Steps(state);
    let mut rows = Vec::new();
    for output in outputs {
        let (sizes, count) = (output.borrow().layout.sizes.clone(), output.borrow().numel());
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); inputs.len()];
        for index in 0..count {
            let one = element(steps, output, index)?;
            let found = slopes(state, &[one], inputs, None, create)?;
            for (column, gradient) in columns.iter_mut().zip(found) {
                column.push(Value::Tensor(gradient));
            }
        }
        let stacked = |(column, input): (Vec<Value>, &Tensor)| -> Result<Tensor> {
            let wanted: Dims = sizes.iter().chain(input.borrow().sizes()).copied().collect();
            if column.is_empty() {
                let view = input.borrow();
                return View::zeros(&wanted, view.dtype, view.device()).map(Tensor::new);
            }
            let stacked = one(steps.torch("stack", &[Value::list(column), Value::Int(0)])?)?;
            steps.sized("view", &stacked, &wanted)
        };
        rows.push(columns.into_iter().zip(inputs).map(stacked).collect::<Result<Vec<Tensor>>>()?);
    }
    Ok(rows)
}
