//! Products of matrices and vectors. Follows
//! <https://pytorch.org/docs/2.7/torch.html#blas-and-lapack-operations>.

use super::einsum::{TENSORDOT, spread_tensors};
use super::origin::products;
use super::sparse_kernels;
use super::steps::{Steps, in_place};
use call::dispatch::name_inference;
use call::facets::{
    Dispatch::{AsIs, Missing, Own, Refused, Split},
    Folds,
    NameInference::{Infers, InfersLate, Nameless},
    Out, Shares, Takes,
};
use call::reads::Reads;
use call::{Call, Row, both, function, method, one};
use tensor::bail;
use tensor::layout::{Dims, broadcast_sizes};
use tensor::ops::matmul::{self as ops, Factors};
use tensor::{Result, Tensor, View, interrupt, limits};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "mm(Tensor self, Tensor mat2, *, Tensor? out=None) -> Tensor",
        |c| Ok(Value::from(ops::mm(&c.tensor(0)?.borrow(), &c.tensor(1)?.borrow())?)),
        "Multiplies two matrices.",
    )
    .reads(Reads::Own(products::matmul))
    .names(InfersLate(name_inference::product))
    .sparse(Own(sparse_kernels::mm)),
    both(
        "bmm(Tensor self, Tensor mat2, *, Tensor? out=None) -> Tensor",
        |c| Ok(Value::from(ops::bmm(&c.view(0)?, &c.view(1)?)?)),
        "Multiplies two batches of matrices.",
    )
    .reads(Reads::Own(products::matmul))
    .out(Out::PLAIN.unguarded())
    .names(Infers(name_inference::batches))
    .sparse(Split(&Own(sparse_kernels::multiply_batches), &Refused("bmm.out"))),
    both(
        "mv(Tensor self, Tensor vec, *, Tensor? out=None) -> Tensor",
        |c| Ok(Value::from(ops::mv(&c.view(0)?, &c.view(1)?)?)),
        "Multiplies a matrix by a vector.",
    )
    .reads(Reads::Own(products::matmul))
    .out(Out::PLAIN.unguarded().folding(Folds::Cleared))
    .names(InfersLate(name_inference::product))
    .sparse(Own(sparse_kernels::matrix_vector)),
    both(
        "dot(Tensor self, Tensor tensor, *, Tensor? out=None) -> Tensor",
        |c| dot_out(c, ops::dot(&c.view(0)?, &c.view(1)?)?),
        "Sums the products of two vectors' elements.",
    )
    .reads(Reads::Own(products::matmul))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "result dtype {out} does not match input dtype {result}")]))
    .names(Nameless),
    both(
        "vdot(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| dot_out(c, ops::vdot(&c.view(0)?, &c.view(1)?)?),
        "Computes the dot product with the first vector conjugated.",
    )
    .reads(Reads::Own(products::matmul))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "result dtype {out} does not match input dtype {result}")])),
    both(
        "matmul(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| product_out(c, 0, 1),
        "Multiplies matrices, vectors or broadcast batches of matrices.",
    )
    .reads(Reads::Own(products::matmul))
    .names(Infers(name_inference::product))
    .sparse(AsIs)
    .recorded_in_steps()
    .grad_refused_by("matmul"),
    function(
        "linalg.matmul(Tensor input, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| product_out(c, 0, 1),
        "Multiplies matrices, vectors or broadcast batches of matrices.",
    )
    .reads(Reads::Own(products::matmul))
    .names(Infers(name_inference::product))
    .sparse(AsIs)
    .recorded_in_steps()
    .grad_refused_by("matmul"),
    method(
        "__matmul__(Tensor self, Tensor other) -> Tensor",
        |c| product_out(c, 0, 1),
        "Implements Python's @ operator.",
    )
    .reads(Reads::Own(products::matmul))
    .names(Infers(name_inference::product))
    .sparse(AsIs)
    .recorded_in_steps(),
    both(
        "outer(Tensor self, Tensor vec2, *, Tensor? out=None) -> Tensor",
        |c| outer(c, "outer"),
        "Multiplies every element of one vector with every element of another.",
    )
    .reads(Reads::Own(products::outer))
    .out(Out::ELEMENTWISE)
    .grad_refused_by("mul")
    .aliases(&["ger"])
    .operation("view")
    .out_refused_as("view")
    .checks_first()
    .recorded_in_steps(),
    both(
        "inner(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        inner,
        "Computes the dot products of the vectors along the last dimensions.",
    )
    .reads(Reads::Own(products::inner))
    .out(Out::PLAIN.takes(&[TENSORDOT]))
    .operation("permute")
    .out_refused_as("permute")
    .checks_first()
    .recorded_in_steps(),
    both(
        "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None) \
 -> Tensor",
        |c| Ok(Value::from(ops::addmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?)),
        "Adds the product of two matrices to a third.",
    )
    .reads(Reads::Own(products::added_matmul))
    .orders(&["beta self alpha mat1 mat2", "beta self mat1 mat2"])
    .out(Out::PLAIN.sharing(Shares::Wholly))
    .names(InfersLate(name_inference::product_added))
    .sparse(Own(sparse_kernels::add_product)),
    method(
        "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)",
        |c| in_place(c, &ops::addmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?),
        "Adds the product of two matrices, in place.",
    )
    .orders(&["beta self alpha mat1 mat2", "beta self mat1 mat2"])
    .sparse(Own(sparse_kernels::add_product))
    .names(InfersLate(name_inference::product_added)),
    both(
        "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None) -> \
 Tensor",
        |c| Ok(Value::from(ops::addmv(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?)),
        "Adds the product of a matrix and a vector to another vector.",
    )
    .reads(Reads::Own(products::added_matmul))
    .sparse(Split(&Missing, &Own(sparse_kernels::add_vector_product)))
    .orders(&["beta self alpha mat vec", "beta self mat vec"])
    .names(InfersLate(name_inference::product_added)),
    method(
        "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)",
        |c| in_place(c, &ops::addmv(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?),
        "Adds the product of a matrix and a vector, in place.",
    )
    .orders(&["beta self alpha mat vec", "beta self mat vec"])
    .names(InfersLate(name_inference::product_added)),
    both(
        "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor? \
 out=None) -> Tensor",
        |c| Ok(Value::from(ops::addbmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?)),
        "Adds all products of two batches of matrices to one matrix.",
    )
    .reads(Reads::Own(products::added_batch))
    .orders(&["beta self alpha batch1 batch2", "beta self batch1 batch2"])
    .out(Out::PLAIN.takes(&[(Takes::Same, "self and mat2 must have the same dtype, but got {out} and {result}")])),
    method(
        "addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> \
 Tensor(a!)",
        |c| {
            let sum = ops::addbmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?;
            if sum.sizes() != c.view(0)?.sizes() {
                Steps::of(c).on(c.tensor(0)?, "resize_", &[Value::size(sum.sizes())])?;
            }
            in_place(c, &sum)
        },
        "Adds all products of two batches of matrices, in place.",
    )
    .orders(&["beta self alpha batch1 batch2", "beta self batch1 batch2"]),
    both(
        "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor? \
 out=None) -> Tensor",
        |c| Ok(Value::from(ops::baddbmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?)),
        "Adds the products of two batches of matrices to a third batch.",
    )
    .reads(Reads::Own(products::added_matmul))
    .orders(&["beta self alpha batch1 batch2", "beta self batch1 batch2"]),
    method(
        "baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> \
 Tensor(a!)",
        |c| in_place(c, &ops::baddbmm(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?)?),
        "Adds the products of two batches of matrices, in place.",
    )
    .orders(&["beta self alpha batch1 batch2", "beta self batch1 batch2"]),
    both(
        "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None) -> \
 Tensor",
        |c| ops::addr(&c.view(0)?, &c.view(1)?, &c.view(2)?, factors(c)?).map(Value::from),
        "Adds the outer product of two vectors to a matrix.",
    )
    .reads(Reads::Own(products::added_outer))
    .orders(&["beta self alpha vec1 vec2", "beta self vec1 vec2"])
    .out(Out::ELEMENTWISE),
    method(
        "addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)",
        addr_in_place,
        "Adds the outer product of two vectors, in place.",
    )
    .orders(&["beta self alpha vec1 vec2", "beta self vec1 vec2"]),
    function(
        "chain_matmul(any[] matrices, *, Tensor? out=None) -> Tensor",
        chain_matmul,
        "Multiplies several matrices.",
    )
    .out(
        Out::PLAIN
            .takes(&[(Takes::Same, "multi_dot(): expected out tensor to have dtype {result_cpp} but got {out_cpp}")]),
    )
    .python("chain_matmul")
    .recorded_in_steps(),
    function(
        "linalg.multi_dot(Tensor[] tensors, *, Tensor? out=None) -> Tensor",
        |c| multi_dot(c, &tensors(c, 0)?),
        "Multiplies several matrices in the order of fewest multiplications.",
    )
    .out(
        Out::PLAIN
            .takes(&[(Takes::Same, "multi_dot(): expected out tensor to have dtype {result_cpp} but got {out_cpp}")]),
    )
    .grad_refused_by("mm")
    .operation("view")
    .recorded_in_steps(),
];

/// Fails with RuntimeError if `out` has another dtype. The message is that of dot products.
fn dot_out(call: &Call, result: View) -> Result<Value> {
    if let Value::Tensor(out) = call.value(2) {
        let (wanted, given) = (result.dtype.scalar_type(), out.borrow().dtype.scalar_type());
        if wanted != given {
            bail!(RuntimeError, "result dtype {given} does not match input dtype {wanted}");
        }
    }
    Ok(result.into())
}

fn factors(call: &Call) -> Result<Factors> {
    Ok(Factors { beta: call.scalar(3)?, alpha: call.scalar(4)? })
}

fn addr_in_place(call: &mut Call) -> Result<Value> {
    let target = call.view(0)?;
    if target.ndim() != 2 {
        bail!(RuntimeError, "2D tensor expected, got {}D tensor for input", target.ndim());
    }
    let result = ops::addr(&target, &call.view(1)?, &call.view(2)?, factors(call)?)?;
    if !tensor::can_cast(result.dtype, target.dtype) {
        let (from, to) = (result.dtype.scalar_type(), target.dtype.scalar_type());
        bail!(RuntimeError, "result type {from} can't be cast to the desired output type {to}");
    }
    in_place(call, &result)
}

/// Returns the tensors of a list argument.
fn tensors(call: &Call, index: usize) -> Result<Vec<Tensor>> {
    call.value(index).sequence().unwrap_or_default().into_iter().map(one).collect()
}

fn product_out(call: &Call, a: usize, b: usize) -> Result<Value> {
    matmul(Steps::of(call), call.tensor(a)?, call.tensor(b)?).map(Value::Tensor)
}

/// `a @ b`, like [`torch.matmul`](https://pytorch.org/docs/2.7/generated/torch.matmul.html). The numbers of dimensions,
/// and the copies that would be needed, decide which product is computed.
pub(crate) fn matmul(steps: Steps, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let ndims = (a.borrow().ndim(), b.borrow().ndim());
    match ndims {
        (0, _) | (_, 0) => bail!(
            RuntimeError,
            "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
            ndims.0,
            ndims.1
        ),
        (1, 1) => steps.pair("dot", a, b),
        (2, 1) => steps.pair("mv", a, b),
        (1, 2) => steps.on(&steps.pair("mm", &steps.unsqueeze(a, 0)?, b)?, "squeeze", &[Value::Int(0)]),
        (2, 2) => steps.pair("mm", a, b),
        _ if folds(a, b)? => folded(steps, a, b),
        _ => batched(steps, a, b),
    }
}

/// Returns whether one operand is a batch whose matrices can be stacked, so that one matrix product suffices.
pub(super) fn folds(a: &Tensor, b: &Tensor) -> Result<bool> {
    let (x, y) = (a.view(), b.view());
    let (larger, smaller) = if x.ndim() >= y.ndim() { (x.clone(), b) } else { (tensor::ops::view::matrix_t(&y)?, a) };
    if larger.ndim() < 3 || smaller.borrow().ndim() > 2 {
        return Ok(false);
    }
    if smaller.requires_grad() {
        return Ok(true);
    }
    if x.ndim() == 2 {
        return Ok(false);
    }
    let (sizes, strides) = (larger.sizes(), larger.strides());
    let rows_follow = |i: usize| strides[i] == strides[i + 1].wrapping_mul(sizes[i + 1]);
    Ok(larger.numel() == 0 || (0..larger.ndim() - 2).all(rows_follow))
}

/// Multiplies a batch with a matrix or vector, in one product.
fn folded(steps: Steps, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let turned = b.borrow().ndim() > a.borrow().ndim();
    let (batch, other) = match (turned, a.borrow().ndim()) {
        (false, _) => (a.clone(), b.clone()),
        (true, 2) => (steps.transpose(b, -2, -1)?, steps.on(a, "t", &[])?),
        (true, _) => (steps.transpose(b, -2, -1)?, a.clone()),
    };
    let view = batch.view();
    let Some((&last, outer)) = view.sizes().split_last() else { bail!(RuntimeError, "a batch has dimensions") };
    let rows = outer.iter().product();
    let flat = steps.sized("reshape", &batch, &[rows, last])?;
    let mut sizes = Dims::from_slice(outer);
    if other.borrow().ndim() == 1 {
        return steps.unsafe_view(&steps.pair("mv", &flat, &other)?, &sizes);
    }
    sizes.push(other.borrow().sizes()[1]);
    let product = steps.unsafe_view(&steps.pair("mm", &flat, &other)?, &sizes)?;
    if !turned {
        return Ok(product);
    }
    steps.on(&steps.transpose(&product, -2, -1)?, "contiguous", &[])
}

/// Multiplies two batches of matrices, with broadcasting.
fn batched(steps: Steps, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (x, y) = (a.view(), b.view());
    let split = |view: &View| -> (Dims, i64, i64) {
        match view.sizes() {
            [batch @ .., n, m] => (Dims::from_slice(batch), *n, *m),
            [one] => (Dims::new(), 1, *one),
            [] => (Dims::new(), 1, 1),
        }
    };
    let (batch_a, n, m) = split(&x);
    let (batch_b, k, p) = match y.sizes() {
        [k] => (Dims::new(), *k, 1),
        _ => split(&y),
    };
    // A batch of size 1 that requires a gradient is multiplied as a matrix instead.
    if let ([one_a], [one_b]) = (batch_a.as_slice(), batch_b.as_slice())
        && one_a != one_b
    {
        if *one_a == 1 && a.requires_grad() {
            return matmul(steps, &steps.on(a, "squeeze", &[Value::Int(0)])?, b);
        }
        if *one_b == 1 && b.requires_grad() {
            return matmul(steps, a, &steps.on(b, "squeeze", &[Value::Int(0)])?);
        }
    }
    let mut sizes = broadcast_sizes(&batch_a, &batch_b)?;
    let count = sizes.iter().product();
    let spread = |tensor: &Tensor, matrix: &[i64]| -> Result<Tensor> {
        let whole: Dims = sizes.iter().chain(matrix).copied().collect();
        let flat: Dims = [count].iter().chain(matrix).copied().collect();
        steps.sized("reshape", &steps.sized("expand", tensor, &whole)?, &flat)
    };
    let left = spread(a, &[n, m])?;
    let right = if y.ndim() == 1 { steps.unsqueeze(&spread(b, &[k])?, 2)? } else { spread(b, &[k, p])? };
    let product = steps.pair("bmm", &left, &right)?;
    if x.ndim() > 1 {
        sizes.push(n);
    }
    if y.ndim() > 1 {
        sizes.push(p);
    }
    steps.unsafe_view(&product, &sizes)
}

fn outer(call: &Call, name: &str) -> Result<Value> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    for (which, vector) in [("self", a), ("vec2", b)] {
        let ndim = vector.borrow().ndim();
        if ndim != 1 {
            bail!(RuntimeError, "{name}: Expected 1-D argument {which}, but got {ndim}-D");
        }
    }
    let steps = Steps::of(call);
    let column = steps.sized("reshape", a, &[a.borrow().sizes()[0], 1])?;
    steps.pair("mul", &column, b).map(Value::Tensor)
}

fn inner(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let (x, y) = (a.view(), b.view());
    let steps = Steps::of(call);
    if x.ndim() == 0 || y.ndim() == 0 {
        return steps.pair("mul", a, b).map(Value::Tensor);
    }
    if x.sizes().last() != y.sizes().last() {
        let show = tensor::layout::show;
        bail!(
            RuntimeError,
            "inner() the last dimension must match on both input tensors but got shapes {} and {}",
            show(x.sizes()),
            show(y.sizes())
        );
    }
    if x.dtype != y.dtype {
        bail!(RuntimeError, "both inputs should have same dtype");
    }
    super::einsum::tensordot(steps, a, b, &[-1], &[-1]).map(Value::Tensor)
}

fn chain_matmul(call: &mut Call) -> Result<Value> {
    let matrices = spread_tensors(call, 0)?;
    call.state.warn_once(
        "UserWarning",
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot \
         instead, which accepts a list of two or more tensors rather than multiple parameters. (Triggered internally at \
         /pytorch/aten/src/ATen/native/LinearAlgebra.cpp:1109.)",
    );
    for matrix in &matrices {
        let ndim = matrix.borrow().ndim();
        if ndim != 2 {
            bail!(RuntimeError, "Tensor dimension is {ndim}, expected 2 instead.");
        }
    }
    match matrices.as_slice() {
        [] => bail!(RuntimeError, "chain_matmul(): Expected one or more matrices"),
        [only] => Steps::of(call).on(only, "clone", &[]).map(Value::Tensor),
        several => multi_dot(call, several),
    }
}

/// Multiplies matrices in the order that needs the fewest multiplications. The first and the last may be vectors.
fn multi_dot(call: &Call, given: &[Tensor]) -> Result<Value> {
    let steps = Steps::of(call);
    let (Some(first), Some(last)) = (given.first(), given.last().filter(|_| given.len() >= 2)) else {
        bail!(RuntimeError, "multi_dot(): expected at least 2 tensors but got {}", given.len());
    };
    let mut matrices = given.to_vec();
    let mut shape = Dims::new();
    match first.borrow().sizes() {
        [_] => matrices[0] = steps.unsqueeze(first, 0)?,
        [rows, _] => shape.push(*rows),
        other => bail!(RuntimeError, "multi_dot(): the first tensor must be 1D or 2D but got {}D", other.len()),
    }
    let end = matrices.len() - 1;
    match last.borrow().sizes() {
        [_] => matrices[end] = steps.unsqueeze(last, -1)?,
        [_, columns] => shape.push(*columns),
        other => bail!(RuntimeError, "multi_dot(): the last tensor must be 1D or 2D but got {}D", other.len()),
    }
    for (i, matrix) in matrices.iter().enumerate() {
        let view = matrix.view();
        if view.ndim() != 2 {
            bail!(RuntimeError, "multi_dot(): tensor {i} must be 2D but got {}D", view.ndim());
        }
        let dtype = first.borrow().dtype;
        if view.dtype != dtype {
            let (a, b) = (dtype.cpp_name(), view.dtype.cpp_name());
            bail!(
                RuntimeError,
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is {a} and tensor {i} {b}"
            );
        }
        if let Some(next) = matrices.get(i + 1).map(Tensor::view)
            && next.ndim() == 2
            && view.sizes()[1] != next.sizes()[0]
        {
            let show = tensor::layout::show;
            bail!(
                RuntimeError,
                "multi_dot(): tensors {i} and {} with shapes {} and {} cannot be multiplied",
                i + 1,
                show(view.sizes()),
                show(next.sizes())
            );
        }
    }
    let product = chain(steps, &matrices, &cheapest_splits(&matrices)?, 0, end)?;
    steps.sized("view", &product, &shape).map(Value::Tensor)
}

/// Finds where to split each range of matrices for the fewest multiplications.
fn cheapest_splits(matrices: &[Tensor]) -> Result<Vec<Vec<usize>>> {
    let rows = |i: usize| matrices.get(i).map_or(1, |m| m.borrow().sizes().first().copied().unwrap_or(1));
    let n = matrices.len();
    let columns = matrices.last().map_or(1, |m| m.borrow().sizes().last().copied().unwrap_or(1));
    let size = |i: usize| if i == n { columns } else { rows(i) };
    limits::room_for::<[usize; 2]>(n.saturating_mul(n))?;
    let mut costs = vec![vec![0i64; n]; n];
    let mut splits = vec![vec![0; n]; n];
    for length in 1..n {
        for i in 0..n - length {
            interrupt::check()?;
            let j = i + length;
            let cost = |k: usize| {
                let product = size(i).saturating_mul(size(k + 1)).saturating_mul(size(j + 1));
                costs[i][k].saturating_add(costs[k + 1][j]).saturating_add(product)
            };
            // Among equally cheap splits, the first wins.
            let best = (i..j).map(|k| (cost(k), k)).min().unwrap_or_default();
            (costs[i][j], splits[i][j]) = best;
        }
    }
    Ok(splits)
}

fn chain(steps: Steps, matrices: &[Tensor], splits: &[Vec<usize>], from: usize, to: usize) -> Result<Tensor> {
    if from == to {
        return Ok(matrices[from].clone());
    }
    let split = splits[from][to];
    let left = chain(steps, matrices, splits, from, split)?;
    let right = chain(steps, matrices, splits, split + 1, to)?;
    steps.pair("mm", &left, &right)
}
