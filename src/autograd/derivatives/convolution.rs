//! Convolutions. The gradient of the input is the transposed convolution. The gradient of the kernels is a convolution
//! of the input with the gradient, with batch and channels swapped, and strides and dilations swapped.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row};
use tensor::Dims;
use value::Value;

pub(super) const ROWS: &[Derivative] =
    &[row("convolution", "ConvolutionBackward0").grad(0, &[1], input).grad(1, &[0], kernels).grad(2, &[], |c| {
        let dims: Dims = (0..c.sizes(0).len() as i64).filter(|&d| d != 1).collect();
        c.g().sum(&dims, false)
    })];

/// The parameters of a convolution, with one number for each dimension.
struct Called {
    stride: Dims,
    padding: Dims,
    dilation: Dims,
    transposed: bool,
    groups: i64,
}

impl Called {
    fn of(c: &Context) -> Called {
        let count = c.sizes(0).len().saturating_sub(2);
        let each = |index: usize| {
            let given = c.dims(index);
            if given.len() == 1 && count > 1 { given.repeat(count).into() } else { given }
        };
        Called { stride: each(3), padding: each(4), dilation: each(5), transposed: c.flag(6), groups: c.int(8) }
    }
}

fn input<'a>(c: &Context<'a>) -> Expr<'a> {
    let called = Called::of(c);
    let (sizes, kernels) = (c.sizes(0), c.sizes(1));
    c.g().and(|g| {
        // Inputs of several sizes can lead to a result of the same size. Computes how much longer the input was than
        // the shortest.
        let made = Dims::from_slice(g.borrow().sizes());
        let rest = (0..called.stride.len()).map(|d| {
            let reach = called.dilation[d] * (kernels[d + 2] - 1) + 1;
            let least = (made[d + 2] - 1) * called.stride[d] - 2 * called.padding[d] + reach;
            if called.transposed { 0 } else { sizes[d + 2] - least }
        });
        let rest: Dims = rest.collect();
        Ok(c.g().apply(
            "convolution",
            [
                c.arg(1).value,
                Ok(Value::None),
                Ok(Value::Size(called.stride)),
                Ok(Value::Size(called.padding)),
                Ok(Value::Size(called.dilation)),
                Ok(Value::Bool(!called.transposed)),
                Ok(Value::Size(rest)),
                Ok(Value::Int(called.groups)),
            ],
        ))
    })
}

fn kernels<'a>(c: &Context<'a>) -> Expr<'a> {
    let called = Called::of(c);
    // For a transposed convolution, the input and the gradient swap roles.
    let (moved, over) = if called.transposed { (c.g(), c.arg(0)) } else { (c.arg(0), c.g()) };
    let wanted = c.sizes(1);
    moved.and(|tensor| {
        let sizes = Dims::from_slice(tensor.borrow().sizes());
        let (batch, channels) = (sizes[0], sizes[1] / called.groups.max(1));
        let split: Dims = [batch, called.groups, channels].into_iter().chain(sizes[2..].iter().copied()).collect();
        let order: Dims = [2, 1, 0].into_iter().chain(3..split.len() as i64).collect();
        let joined: Dims = [channels, called.groups * batch].into_iter().chain(sizes[2..].iter().copied()).collect();
        let swapped =
            c.expr(Ok(Value::Tensor(tensor))).reshape(&split).call("permute", &[Value::Size(order)]).reshape(&joined);
        let kernels = over.call("transpose.int", &[Value::Int(0), Value::Int(1)]);
        let mut found = swapped.apply(
            "convolution",
            [
                kernels.value,
                Ok(Value::None),
                Ok(Value::Size(called.dilation)),
                Ok(Value::Size(called.padding)),
                Ok(Value::Size(called.stride)),
                Ok(Value::Bool(false)),
                Ok(Value::size(&[0])),
                Ok(Value::Int(called.groups)),
            ],
        );
        for (d, &size) in wanted.iter().enumerate().skip(2) {
            found = found.call("narrow", &[Value::Int(d as i64), Value::Int(0), Value::Int(size)]);
        }
        Ok(found.call("transpose.int", &[Value::Int(0), Value::Int(1)]))
    })
}
