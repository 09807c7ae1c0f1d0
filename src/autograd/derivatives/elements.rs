//! Operations that select, move, join and replace elements.

use crate::context::{Context, Expr};
use crate::custom;
use crate::derivative::{Derivative, RESULT, refused, row, same, zero};
use tensor::layout::wrap_dim;
use tensor::{DType, Dims, Result};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("roll", "RollBackward0").grad(0, &[], |c| {
        let back: Dims = c.dims(1).iter().map(|shift| shift.wrapping_neg()).collect();
        c.g().call("roll", &[Value::Size(back), c.value(2)])
    }),
    row("flip", "FlipBackward0").grad(0, &[], |c| c.g().call("flip", &[c.value(1)])),
    row("rot90", "Rot90Backward0")
        .grad(0, &[], |c| c.g().call("rot90", &[Value::Int(c.int(1).wrapping_neg()), c.value(2)])),
    row("repeat", "RepeatBackward0").grad(0, &[], repeated),
    row("tril", "TrilBackward0").grad(0, &[], |c| c.g().call("tril", &[c.value(1)])),
    row("triu", "TriuBackward0").grad(0, &[], |c| c.g().call("triu", &[c.value(1)])),
    row("diag_embed", "DiagEmbedBackward0")
        .grad(0, &[], |c| c.g().call("diagonal", &[c.value(1), c.value(2), c.value(3)])),
    row("cat", "CatBackward0").grad(0, &[], part),
    row("block_diag", "BlockDiagBackward0").grad(0, &[], |c| {
        // A vector is a matrix of one row, and a number a matrix of one element.
        let sides = |sizes: &Dims| match sizes.as_slice() {
            [rows, columns] => (*rows, *columns),
            rest => (1, rest.first().copied().unwrap_or(1)),
        };
        let all = c.list_sizes(0);
        let before = all.iter().take(c.element).map(sides).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        let Some(own) = all.get(c.element) else { return c.g() };
        let (rows, columns) = sides(own);
        let cut = |x: Expr<'_>, dim: i64, start: i64, length: i64| -> Result<Value> {
            x.call("narrow", &[Value::Int(dim), Value::Int(start), Value::Int(length)]).value
        };
        let block = cut(c.g(), 0, before.0, rows).and_then(|band| cut(c.expr(Ok(band)), 1, before.1, columns));
        c.expr(block).reshape(own)
    }),
    row("stack", "StackBackward0")
        .grad(0, &[], |c| c.g().call("select.int", &[c.value(1), Value::Int(c.element as i64)])),
    row("index_select", "IndexSelectBackward0")
        .grad(0, &[2], |c| c.room(0).apply("index_add_", [Ok(c.value(1)), c.arg(2).value, c.g().value])),
    row("gather", "GatherBackward0")
        .grad(0, &[2], |c| c.room(0).apply("scatter_add_", [Ok(c.value(1)), c.arg(2).value, c.g().value])),
    row("take", "TakeBackward0")
        .grad(0, &[1], |c| c.room(0).apply("put_", [c.arg(1).value, c.g().value, Ok(Value::Bool(true))])),
    row("index.Tensor", "IndexBackward0")
        .grad(0, &[1], |c| c.room(0).apply("_index_put_impl_", [c.arg(1).value, c.g().value, Ok(Value::Bool(true))])),
    row("index_put", "IndexPutBackward0")
        .grad(0, &[1], put_over)
        .grad(2, &[1], |c| c.g().apply("index.Tensor", [c.arg(1).value])),
    row("_index_put_impl_", "IndexPutImplBackward0")
        .grad(0, &[1], put_over)
        .grad(2, &[1], |c| c.g().apply("index.Tensor", [c.arg(1).value])),
    row("masked_fill.Scalar", "MaskedFillBackward0").grad(0, &[1], |c| c.g().cleared(&c.arg(1))),
    row("masked_fill.Tensor", "MaskedFillBackward1")
        .grad(0, &[1], |c| c.g().cleared(&c.arg(1)))
        .grad(2, &[1], |c| c.g().or_where(&c.arg(1), c.expr(Ok(Value::Int(0)))).call("sum", &[])),
    row("masked_select", "MaskedSelectBackward0").grad(0, &[0, 1], |c| {
        // The mask and the argument were broadcast together.
        let whole = c.arg(0).call("zeros_like", &[]) + c.arg(1).with("mul", &c.expr(Ok(Value::Float(0.0))), &[]);
        whole.apply("masked_scatter", [c.arg(1).value, c.g().value])
    }),
    row("masked_scatter", "MaskedScatterBackward0").grad(0, &[1], |c| c.g().cleared(&c.arg(1))).grad(2, &[1], |c| {
        let taken = c.g().with("masked_select", &c.arg(1), &[]);
        c.g().and(|_| {
            let count = taken.tensor()?.borrow().numel();
            let room = c.room(2).reshape(&[-1]);
            room.call("narrow", &[Value::Int(0), Value::Int(0), Value::Int(count)]).with("copy_", &taken, &[]).value?;
            Ok(room.reshape(&c.sizes(2)))
        })
    }),
    row("where.self", "WhereBackward0").grad(1, &[0], |c| c.g().or_where(&c.arg(0), c.expr(Ok(Value::Int(0))))).grad(
        2,
        &[0],
        |c| c.expr(Ok(Value::Int(0))).or_where(&c.arg(0), c.g()),
    ),
    row("scatter.src", "ScatterBackward0")
        .grad(0, &[2], |c| emptied(c, "scatter_.value"))
        .grad(3, &[2], |c| c.g().apply("gather", [Ok(c.value(1)), c.arg(2).value])),
    row("scatter.value", "ScatterBackward1").grad(0, &[2], |c| emptied(c, "scatter_.value")),
    row("scatter_add", "ScatterAddBackward0")
        .grad(0, &[], same)
        .grad(3, &[2], |c| c.g().apply("gather", [Ok(c.value(1)), c.arg(2).value])),
    row("index_add", "IndexAddBackward0").grad(0, &[], same).grad(3, &[2], |c| sources(c).scaled(c.arg(4))),
    row("index_copy", "IndexCopyBackward0").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")).grad(
        3,
        &[2],
        sources,
    ),
    row("index_fill.int_Scalar", "IndexFillBackward0").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")),
    row("index_fill.int_Tensor", "IndexFillBackward1").grad(0, &[2], |c| emptied(c, "index_fill_.int_Scalar")).grad(
        3,
        &[2],
        |c| c.g().apply("index_select", [Ok(c.value(1)), c.arg(2).call("unique", &[]).value]).call("sum", &[]),
    ),
    row("put", "PutBackward0")
        .grad(0, &[1], |c| {
            if c.flag(3) {
                return c.g();
            }
            let zero = c.arg(1).call("zeros_like", &[]).with("mul", &c.g().call("new_zeros", &[Value::size(&[])]), &[]);
            c.g().call("clone", &[]).apply("put_", [c.arg(1).value, zero.value])
        })
        .grad(2, &[1], |c| c.g().with("take", &c.arg(1), &[]).reshape(&c.sizes(2))),
    row("diagonal_scatter", "DiagonalScatterBackward0")
        .grad(0, &[], |c| emptied_part(c, "diagonal_scatter", 2..5))
        .grad(1, &[], |c| c.g().call("diagonal", &[c.value(2), c.value(3), c.value(4)])),
    row("select_scatter", "SelectScatterBackward0").grad(0, &[], |c| emptied_part(c, "select_scatter", 2..4)).grad(
        1,
        &[],
        |c| c.g().call("select.int", &[c.value(2), c.value(3)]),
    ),
    row("slice_scatter", "SliceScatterBackward0").grad(0, &[], |c| emptied_part(c, "slice_scatter", 2..6)).grad(
        1,
        &[],
        |c| c.g().call("slice.Tensor", &[c.value(2), c.value(3), c.value(4), c.value(5)]),
    ),
    row("as_strided_scatter", "AsStridedScatterBackward0")
        // PyTorch keeps the gradient of the replaced part, though it should keep that of the rest.
        .grad(0, &[], |c| {
            let window = [c.value(2), c.value(3), c.value(4)];
            let part = c.g().call("contiguous", &[]).call("as_strided", &window);
            let room = c.room(0);
            room.call("as_strided", &window).with("copy_", &part, &[]).then(room)
        })
        .grad(1, &[], |c| c.g().call("contiguous", &[]).call("as_strided", &[c.value(2), c.value(3), c.value(4)])),
    row("scatter_reduce.two", "ScatterReduceBackward0")
        .grad(0, &[0, 2, 3, RESULT], |c| Gathered::by_element(c).own())
        .grad(3, &[0, 2, 3, RESULT], |c| Gathered::by_element(c).source()),
    row("index_reduce", "IndexReduceBackward0").grad(0, &[0, 2, 3, RESULT], |c| Gathered::by_slice(c).own()).grad(
        3,
        &[0, 2, 3, RESULT],
        |c| Gathered::by_slice(c).source(),
    ),
    // Random numbers do not depend on the elements that they overwrite.
    row("uniform", "UniformBackward0").grad(0, &[], zero),
    row("normal", "NormalBackward0").grad(0, &[], zero),
    row("normal.Tensor_float", "NormalBackward1").grad(0, &[], zero),
    row("normal.float_Tensor", "NormalBackward2").grad(1, &[], zero),
    row("normal.Tensor_Tensor", "NormalBackward3").grad(0, &[], zero).grad(1, &[], zero),
    row("poisson", "PoissonBackward0").grad(0, &[], zero),
    row("random", "RandomBackward2").grad(0, &[], zero),
    row("random.from", "RandomBackward0").grad(0, &[], zero),
    row("random.to", "RandomBackward1").grad(0, &[], zero),
    row("bernoulli", "BernoulliBackward0").grad(0, &[], zero),
    row("bernoulli_.float", "BernoulliBackward2").grad(0, &[], zero),
    row("bernoulli_.Tensor", "BernoulliBackward1")
        .grad(0, &[], zero)
        .grad(1, &[1], |c| c.arg(1).call("zeros_like", &[])),
    // PyTorch has nodes for these functions that only fail.
    row("unique", "Unique2Backward0").grad(0, &[], |c| refused(c, "_unique2")),
    row("unique_consecutive", "UniqueConsecutiveBackward0").grad(0, &[], |c| refused(c, "unique_consecutive")),
    row("exponential", "ExponentialBackward0").grad(0, &[], zero),
    row("cauchy", "CauchyBackward0").grad(0, &[], zero),
    row("log_normal", "LogNormalBackward0").grad(0, &[], zero),
    row("geometric", "GeometricBackward0").grad(0, &[], zero),
];

/// The gradient of the tensor that values were put over, or added to.
fn put_over<'a>(c: &Context<'a>) -> Expr<'a> {
    if c.flag(3) {
        return c.g();
    }
    let zero = c.g().call("new_zeros", &[Value::size(&[])]);
    c.g().call("clone", &[]).apply("_index_put_impl_", [c.arg(1).value, zero.value, Ok(Value::Bool(false))])
}

/// The gradient of a repeated tensor: the sum over all copies.
fn repeated<'a>(c: &Context<'a>) -> Expr<'a> {
    let (sizes, repeats) = (c.sizes(0), c.dims(1));
    let added = repeats.len().saturating_sub(sizes.len());
    let mut split = Dims::new();
    let mut copies = Dims::new();
    for (d, &repeat) in repeats.iter().enumerate() {
        copies.push(split.len() as i64);
        split.push(repeat);
        if let Some(&size) = d.checked_sub(added).and_then(|d| sizes.get(d)) {
            split.push(size);
        }
    }
    if copies.is_empty() {
        return c.g();
    }
    c.g().reshape(&split).sum(&copies, false)
}

/// The gradient of one of several joined tensors: its part of the result's gradient.
fn part<'a>(c: &Context<'a>) -> Expr<'a> {
    let all = c.list_sizes(0);
    let Some(own) = all.get(c.element) else { return c.g() };
    let widest = all.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    // `cat` accepts an empty vector beside tensors with more dimensions.
    if own.len() != widest {
        return c.g().call("new_zeros", &[Value::Size(own.clone())]);
    }
    let Ok(dim) = wrap_dim(c.int(1), widest) else { return c.g() };
    let length = |sizes: &Dims| if sizes.len() == widest { sizes.get(dim).copied().unwrap_or(0) } else { 0 };
    let start: i64 = all.iter().take(c.element).map(length).sum();
    c.g().call("narrow", &[Value::Int(dim as i64), Value::Int(start), Value::Int(length(own))])
}

/// The gradient of the source of an indexed write: selects the slices at the indices.
fn sources<'a>(c: &Context<'a>) -> Expr<'a> {
    let taken = c.g().apply("index_select", [Ok(c.value(1)), c.arg(2).value]);
    taken.call("expand", &[Value::Size(c.sizes(3))])
}

/// The gradient, set to zero where the operation wrote other values.
fn emptied<'a>(c: &Context<'a>, how: &str) -> Expr<'a> {
    c.g().call("clone", &[]).apply(how, [Ok(c.value(1)), c.arg(2).value, Ok(Value::Int(0))])
}

/// The gradient, set to zero in the replaced part, which the arguments in the range `arguments` describe.
fn emptied_part<'a>(c: &Context<'a>, scatter: &str, arguments: std::ops::Range<usize>) -> Expr<'a> {
    let zeros = c.g().call("new_zeros", &[Value::Size(c.sizes(1))]);
    let mut args = vec![zeros.value.unwrap_or(Value::None)];
    args.extend(arguments.map(|i| c.value(i)));
    c.g().call(scatter, &args)
}

/// Returns a factor with 1 where the mask is true.
fn without<'a>(x: Expr<'a>, mask: &Expr<'a>) -> Expr<'a> {
    x.with("masked_fill.Scalar", mask, &[Value::Int(1)])
}

/// A reduction of sources into destinations, with the functions that read from, add to and clear the destinations.
struct Gathered<'c, 'a> {
    c: &'c Context<'a>,
    gather: &'static str,
    add: &'static str,
    clear: &'static str,
}

impl<'c, 'a> Gathered<'c, 'a> {
    fn by_element(c: &'c Context<'a>) -> Self {
        Gathered { c, gather: "gather", add: "scatter_add", clear: "scatter.value" }
    }

    fn by_slice(c: &'c Context<'a>) -> Self {
        Gathered { c, gather: "index_select", add: "index_add", clear: "index_fill.int_Scalar" }
    }

    fn kind(&self) -> String {
        match self.c.value(4) {
            Value::Str(kind) => kind.to_string(),
            _ => String::new(),
        }
    }

    /// Returns the element of `x` at the destination of each source.
    fn taken(&self, x: &Expr<'a>) -> Expr<'a> {
        x.apply(self.gather, [Ok(self.c.value(1)), self.c.arg(2).value])
    }

    fn added(&self, room: Expr<'a>, sources: Expr<'a>) -> Expr<'a> {
        room.apply(self.add, [Ok(self.c.value(1)), self.c.arg(2).value, sources.value])
    }

    /// Counts the elements that went into each mean.
    fn counts(&self) -> Expr<'a> {
        let start = self.c.g().call(if self.c.flag(5) { "ones_like" } else { "zeros_like" }, &[]);
        let counts = self.added(start, self.c.arg(3).call("ones_like", &[]));
        counts.with("masked_fill.Scalar", &counts.compare("eq", Value::Int(0)), &[Value::Int(1)])
    }

    /// Divides the gradient among all elements that equal the extremum.
    fn shared(&self) -> Expr<'a> {
        let c = self.c;
        let own = self.equal(&c.arg(0), &c.result());
        let sources = self.equal(&c.arg(3), &self.taken(&c.result()));
        let winners = self.added(own, sources);
        c.g() / winners.with("masked_fill.Scalar", &winners.compare("eq", Value::Int(0)), &[Value::Int(1)])
    }

    fn equal(&self, x: &Expr<'a>, other: &Expr<'a>) -> Expr<'a> {
        let dtype = x.tensor().map_or(DType::Float, |x| x.borrow().dtype);
        x.with("eq", other, &[]).call("to.dtype", &[Value::DType(dtype)])
    }

    /// Multiplies destinations and sources like the operation itself.
    fn multiplied(&self, own: Expr<'a>, sources: Expr<'a>) -> Expr<'a> {
        let c = self.c;
        own.apply(self.name(), [Ok(c.value(1)), c.arg(2).value, sources.value, Ok(Value::str("prod")), Ok(c.value(5))])
    }

    fn name(&self) -> &'static str {
        if self.gather == "gather" { "scatter_reduce.two" } else { "index_reduce" }
    }

    /// The gradient of the destinations of a product. A destination of 0 counts as 1 in the product of the others.
    fn own_of_product(&self) -> Expr<'a> {
        let c = self.c;
        let own = without(c.arg(0), &c.arg(0).compare("eq", Value::Int(0)));
        c.g() * self.multiplied(own.clone(), c.arg(3)) / own
    }

    /// The gradient of the sources of a product. PyTorch cannot differentiate it again if several sources of one
    /// destination are 0.
    fn source_of_product(&self) -> Expr<'a> {
        let c = self.c;
        let is_zero = c.arg(3).compare("eq", Value::Int(0));
        let zeros = self.equal(&c.arg(3), &c.expr(Ok(Value::Int(0))));
        let zeros = self.taken(&self.added(c.arg(0).call("zeros_like", &[]), zeros));
        let is_only = is_zero.with("logical_and", &zeros.compare("eq", Value::Int(1)), &[]);
        let others = self.multiplied(c.arg(0), without(c.arg(3), &is_only));
        let divided = self.taken(&(c.g() * c.result())) / without(c.arg(3), &is_zero);
        let grad = self.taken(&(c.g() * others)).or_where(&is_only, divided);
        let several = zeros.compare("gt", Value::Int(1)).call("any", &[]);
        several.and(|several| {
            if !several.borrow().item()?.truth() {
                return Ok(grad);
            }
            let (name, source) = if self.gather == "gather" { ("scatter", "src") } else { ("index", "source") };
            let message = format!(
                "{name}_reduce(): Double backward is unsupported for {source} when >1 zeros in {source} are scattered to the \
                 same position in self"
            );
            let refused = custom::refuse(&[Some(grad.tensor()?)], &message)?.into_iter().flatten().next();
            Ok(refused.map_or(grad, |tensor| c.expr(Ok(Value::Tensor(tensor)))))
        })
    }

    fn own(&self) -> Expr<'a> {
        let c = self.c;
        let grad = match self.kind().as_str() {
            "prod" => self.own_of_product(),
            "mean" => c.g() / self.counts(),
            "amax" | "amin" => self.shared() * self.equal(&c.arg(0), &c.result()),
            _ => c.g(),
        };
        if c.flag(5) { grad } else { grad.apply(self.clear, [Ok(c.value(1)), c.arg(2).value, Ok(Value::Int(0))]) }
    }

    fn source(&self) -> Expr<'a> {
        let c = self.c;
        match self.kind().as_str() {
            "prod" => self.source_of_product(),
            "mean" => self.taken(&c.g()) / self.taken(&self.counts()),
            "amax" | "amin" => self.taken(&self.shared()) * self.equal(&c.arg(3), &self.taken(&c.result())),
            _ => self.taken(&c.g()),
        }
    }
}
