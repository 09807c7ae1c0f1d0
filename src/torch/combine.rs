//! Combinations of tensors element by element: grids, products of sets, Kronecker and cross products, indices of
//! triangles, distances. Follows <https://pytorch.org/docs/2.7/torch.html#other-operations>.

use super::einsum::spread_tensors;
use super::origin::products;
use super::python::in_python;
use super::steps::Steps;
use call::dispatch::name_inference;
use call::facets::{Lies, NameInference::Infers, Out, Repeats, Shares, Takes};
use call::reads::{ALONG, Reads};
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::ops::matmul as ops;
use tensor::ops::pointwise::{Output, UnaryOp, unary};
use tensor::ops::rearrange::{Triangle, triangle};
use tensor::ops::{copy, create, mask, view as views};
use tensor::{DType, Dims, Result, Scalar, Tensor, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "kron(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        kron,
        "Multiplies every element of one tensor with the whole other.",
    )
    .reads(Reads::Own(products::kron))
    .out(Out::ELEMENTWISE.repeating(Repeats::RefusedResized))
    .grad_refused_by("mul")
    .operation("_unsafe_view")
    .out_refused_as("_unsafe_view")
    .recorded_in_steps(),
    both(
        "cross(Tensor self, Tensor other, int? dim=None, *, Tensor? out=None) -> Tensor",
        cross,
        "Computes the cross products of vectors of three elements.",
    )
    .out(Out::PLAIN.unguarded())
    .grad_refused_by("linalg_cross")
    .operation("linalg_cross"),
    function(
        "linalg.cross(Tensor input, Tensor other, *, int dim=-1, Tensor? out=None) -> Tensor",
        |c| ops::cross(&c.view(0)?, &c.view(1)?, c.int(2)?).map(Value::from),
        "Computes the cross products of vectors of three elements.",
    )
    .out(Out::PLAIN.unguarded()),
    both(
        "trace(Tensor self) -> Tensor",
        |c| ops::trace(&c.view(0)?).map(Value::from),
        "Sums the diagonal of a matrix.",
    ),
    function(
        "cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode=\"use_mm_for_euclid_dist_if_necessary\") \
 -> Tensor",
        cdist,
        "Computes the distances between the rows of two matrices.",
    )
    .reads(Reads::Own(products::distances))
    .names(Infers(name_inference::between))
    .python("cdist"),
    function(
        "linalg.vecdot(Tensor x, Tensor y, *, int dim=-1, Tensor? out=None) -> Tensor",
        vecdot,
        "Computes the dot products of vectors along a dimension.",
    )
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "linalg.vecdot: Expected out of dtype{result} but found {out}")]))
    .grad_refused_by("vdot")
    .recorded_in_steps(),
    method(
        "tril_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)",
        |c| triangle_in_place(c, Triangle::Lower),
        "Zeroes the elements above a diagonal, in place.",
    )
    .reads(Reads::Moved),
    method(
        "triu_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)",
        |c| triangle_in_place(c, Triangle::Upper),
        "Zeroes the elements below a diagonal, in place.",
    )
    .reads(Reads::Moved),
    function(
        "tril_indices(int row, int col, int offset=0, *, {factory}) -> Tensor",
        |c| indices(c, Triangle::Lower),
        "Returns the indices of a lower triangle.",
    ),
    function(
        "triu_indices(int row, int col, int offset=0, *, {factory}) -> Tensor",
        |c| indices(c, Triangle::Upper),
        "Returns the indices of an upper triangle.",
    ),
    function(
        "block_diag(any[] tensors) -> Tensor",
        |c| {
            let blocks: Vec<View> = spread_tensors(c, 0)?.iter().map(Tensor::view).collect();
            ops::block_diag(&blocks).map(Value::from)
        },
        "Arranges matrices along a diagonal.",
    )
    .reads(Reads::Moved)
    .operation("block_diag")
    .python("block_diag"),
    function(
        "meshgrid(any[] tensors, *, any indexing=None) -> any",
        meshgrid_row,
        "Creates the coordinates of a grid.",
    )
    .reads(Reads::Moved)
    .operation("view")
    .checks_first()
    .python("meshgrid")
    .recorded_in_steps(),
    function(
        "cartesian_prod(any[] tensors) -> Tensor",
        cartesian_prod,
        "Lists all combinations of one element of each tensor.",
    )
    .reads(Reads::Moved)
    .operation("view")
    .python("cartesian_prod")
    .recorded_in_steps(),
    function(
        "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
        combinations,
        "Lists all selections of a number of elements.",
    )
    .reads(Reads::Moved)
    .operation("view")
    .recorded_in_steps(),
    function(
        "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
        vander,
        "Computes the powers of each element, side by side.",
    )
    .operation("unsqueeze"),
    function(
        "linalg.vander(Tensor x, *, SymInt? N=None) -> Tensor",
        linalg_vander,
        "Computes the powers of each element, side by side.",
    )
    .operation("unsqueeze"),
    both("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist, "Computes the norm of a difference.")
        .reads(ALONG),
    both(
        "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor? out=None) -> Tensor",
        |c| renorm(c).map(Value::from),
        "Scales slices down to a maximum norm.",
    )
    .out(Out::PLAIN.sharing(Shares::Wholly).lying(Lies::InRows)),
    method(
        "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)",
        |c| {
            copy::copy_into(&c.view(0)?, &renorm(c)?)?;
            Ok(c.itself())
        },
        "Scales slices down to a maximum norm, in place.",
    ),
];

fn kron(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let (x, y) = (a.view(), b.view());
    let ndim = x.ndim().max(y.ndim());
    let padded = |view: &View| -> Dims {
        let mut sizes = Dims::from_elem(1, ndim - view.ndim());
        sizes.extend_from_slice(view.sizes());
        sizes
    };
    let (sizes_x, sizes_y) = (padded(&x), padded(&y));
    let (mut left, mut right, mut sizes) = (Dims::new(), Dims::new(), Dims::new());
    for (&m, &n) in sizes_x.iter().zip(&sizes_y) {
        left.extend_from_slice(&[m, 1]);
        right.extend_from_slice(&[1, n]);
        sizes.push(m.saturating_mul(n));
    }
    let steps = Steps::of(call);
    let product = steps.pair("mul", &steps.unsafe_view(a, &left)?, &steps.unsafe_view(b, &right)?)?;
    steps.unsafe_view(&product, &sizes).map(Value::Tensor)
}

fn cross(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    if let Some(dim) = call.opt_int(2)? {
        return ops::cross(&a, &b, dim).map(Value::from);
    }
    call.state.warn_once(
        "UserWarning",
        "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply \
         use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future \
         release. (Triggered internally at /pytorch/aten/src/ATen/native/Cross.cpp:62.)",
    );
    let Some(dim) = a.sizes().iter().position(|&size| size == 3) else {
        bail!(RuntimeError, "no dimension of size 3 in input");
    };
    ops::cross(&a, &b, dim as i64).map(Value::from)
}

fn cdist(call: &mut Call) -> Result<Value> {
    let mode = call.value(3);
    let by_product = match &mode {
        Value::Str(mode) => match &**mode {
            "use_mm_for_euclid_dist_if_necessary" => ops::ByProduct::IfLarge,
            "use_mm_for_euclid_dist" => ops::ByProduct::Always,
            "donot_use_mm_for_euclid_dist" => ops::ByProduct::Never,
            _ => bail!(ValueError, "{mode} is not a valid value for compute_mode"),
        },
        other => bail!(ValueError, "{} is not a valid value for compute_mode", other.type_name()),
    };
    ops::cdist(&call.view(0)?, &call.view(1)?, call.scalar(2)?.to_f64(), by_product).map(Value::from)
}

fn vecdot(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let (x, y) = (a.borrow().dtype, b.borrow().dtype);
    if !x.is_differentiable() {
        bail!(
            RuntimeError,
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got {}",
            x.scalar_type()
        );
    }
    if x != y {
        bail!(
            RuntimeError,
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} \
 instead",
            x.scalar_type(),
            y.scalar_type()
        );
    }
    let steps = Steps::of(call);
    let a = if x.is_complex() { steps.on(a, "conj", &[])? } else { a.clone() };
    steps.sum(&steps.pair("mul", &a, b)?, &[call.int(2)?], false).map(Value::Tensor)
}

fn triangle_in_place(call: &Call, side: Triangle) -> Result<Value> {
    let (target, diagonal) = (call.view(0)?, call.int(1)?);
    let kept = triangle(&target, side, diagonal)?;
    if !target.layout.has_internal_overlap() {
        copy::copy_into(&target, &kept)?;
        return Ok(call.itself());
    }
    // PyTorch writes only zeros, and so clears what an element outside the triangle shares with one inside.
    let inside = triangle(
        &create::full(target.sizes(), Scalar::Bool(true), Some(DType::Bool), DType::Float, target.device())?,
        side,
        diagonal,
    )?;
    let outside = unary(UnaryOp::LogicalNot, &inside, Output::New, DType::Float)?;
    mask::masked_fill_(&target, &outside, Scalar::Int(0))?;
    Ok(call.itself())
}

fn indices(call: &Call, side: Triangle) -> Result<Value> {
    let dtype = call.dtype_keyword().unwrap_or(DType::Long);
    let device = call.device_keyword()?;
    ops::triangle_indices(side, call.int(0)?, call.int(1)?, call.int(2)?, dtype, device).map(Value::from)
}

fn meshgrid_row(call: &mut Call) -> Result<Value> {
    let tensors = spread_tensors(call, 0)?;
    let by_columns = match call.value(1) {
        Value::None => {
            call.state.warn_once(
                "UserWarning",
                "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument. (Triggered \
                 internally at /pytorch/aten/src/ATen/native/TensorShape.cpp:4314.)",
            );
            false
        }
        Value::Str(indexing) if &*indexing == "ij" => false,
        Value::Str(indexing) if &*indexing == "xy" => true,
        Value::Str(other) => {
            bail!(RuntimeError, "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {other}")
        }
        other => {
            bail!(TypeError, "meshgrid(): argument 'indexing' must be str, not {}", other.type_name())
        }
    };
    let grids = meshgrid(Steps::of(call), tensors, by_columns)?;
    Ok(Value::tuple(grids.into_iter().map(Value::Tensor)))
}

/// Expands each vector along the dimensions of all others. With `by_columns`, the first two dimensions are swapped.
fn meshgrid(steps: Steps, mut tensors: Vec<Tensor>, by_columns: bool) -> Result<Vec<Tensor>> {
    let Some(first) = tensors.first() else { bail!(RuntimeError, "meshgrid expects a non-empty TensorList") };
    let (dtype, device) = (first.borrow().dtype, first.borrow().device());
    if tensors.iter().any(|tensor| tensor.borrow().dtype != dtype) {
        bail!(RuntimeError, "meshgrid expects all tensors to have the same dtype");
    }
    if tensors.iter().any(|tensor| tensor.borrow().device() != device) {
        bail!(RuntimeError, "meshgrid expects all tensors to have the same device");
    }
    for tensor in &tensors {
        let view = tensor.borrow();
        if view.ndim() > 1 {
            let rows: Vec<String> = view.sizes().iter().map(|size| format!(" {size}")).collect();
            bail!(
                RuntimeError,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}",
                rows.join(" ")
            );
        }
    }
    let swapped = by_columns && tensors.len() >= 2;
    if swapped {
        tensors.swap(0, 1);
    }
    let sizes: Dims = tensors.iter().map(|tensor| tensor.borrow().numel()).collect();
    let mut grids = Vec::with_capacity(tensors.len());
    for (d, tensor) in tensors.iter().enumerate() {
        let mut own = Dims::from_elem(1, sizes.len());
        own[d] = -1;
        let line = steps.sized("view", tensor, &own)?;
        grids.push(steps.sized("expand", &line, &sizes)?);
    }
    if swapped {
        grids.swap(0, 1);
    }
    Ok(grids)
}

fn cartesian_prod(call: &mut Call) -> Result<Value> {
    let tensors = spread_tensors(call, 0)?;
    for tensor in &tensors {
        let view = tensor.borrow();
        if view.ndim() != 1 {
            bail!(RuntimeError, "Expect a 1D vector, but got shape {}", tensor::layout::show(view.sizes()));
        }
    }
    if let [only] = tensors.as_slice() {
        return Ok(Value::Tensor(only.clone()));
    }
    let steps = Steps::of(call);
    let grids = meshgrid(steps, tensors, false)?;
    let lines: Result<Vec<Value>> =
        grids.iter().map(|grid| steps.on(grid, "flatten", &[]).map(Value::Tensor)).collect();
    steps.torch("stack", &[Value::list(lines?), Value::Int(1)])
}

fn combinations(call: &mut Call) -> Result<Value> {
    let count = call.int(1)?;
    // Both refusals of the arguments come before that of a grid for each of so many dimensions.
    if call.tensor(0)?.borrow().ndim() == 1 && count > 0 {
        tensor::ops::split::room_for(count)?;
    }
    in_python(call, "composites.combinations")
}

fn vander(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if view.ndim() != 1 {
        bail!(RuntimeError, "x must be a one-dimensional tensor.");
    }
    let columns = call.opt_int(1)?.unwrap_or(view.numel());
    if columns < 0 {
        bail!(RuntimeError, "N must be non-negative.");
    }
    let dtype = if view.dtype.is_integral(true) { DType::Long } else { view.dtype };
    let powers = View::zeros(&[view.numel(), columns], dtype, view.device())?;
    if columns > 0 {
        copy::fill(&views::select(&powers, 1, 0)?, Scalar::Int(1))?;
        let rest = views::narrow(&powers, 1, 1, columns - 1)?;
        copy::copy_into(&rest, &views::unsqueeze(&view, 1)?)?;
        copy::copy_into(
            &rest,
            &tensor::ops::reduce::cumulative(tensor::ops::reduce::Running::Product, &rest, 1, None)?,
        )?;
    }
    let powers = if call.bool(2)? { powers } else { tensor::ops::rearrange::flip(&powers, &[1])? };
    Ok(powers.into())
}

fn linalg_vander(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let view = tensor.view();
    if view.dtype == DType::Bool {
        bail!(RuntimeError, "linalg.vander supports floating point, complex, and integer tensors, but got Bool");
    }
    let columns = match call.opt_int(1)? {
        Some(columns) => columns,
        None => view.sizes().last().copied().unwrap_or(1),
    };
    if columns <= 1 {
        bail!(RuntimeError, "N must be greater than 1.");
    }
    let steps = Steps::of(call);
    // A 0-dimensional tensor is treated as a vector of one element.
    let row = if view.ndim() == 0 { steps.unsqueeze(tensor, -1)? } else { tensor.clone() };
    let tensor = &row;
    let mut sizes = Dims::from_slice(tensor.view().sizes());
    sizes.push(columns - 1);
    let repeated = steps.sized("expand", &steps.unsqueeze(tensor, -1)?, &sizes)?;
    let powers = steps.on(&repeated, "cumprod", &[Value::Int(-1)])?;
    if let Some(last) = sizes.last_mut() {
        *last = 1;
    }
    let ones = create::ones(&sizes, powers.borrow().dtype, view.device())?;
    steps.torch("cat", &[Value::list([ones.into(), Value::Tensor(powers)]), Value::Int(-1)])
}

fn dist(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let difference = steps.pair("sub", call.tensor(0)?, call.tensor(1)?)?;
    let dtype = difference.borrow().dtype;
    if !dtype.is_differentiable() {
        bail!(
            RuntimeError,
            "norm(): input dtype should be either floating point or complex. Got {} instead.",
            dtype.scalar_type()
        );
    }
    tensor::ops::reduce::norm(&difference.view(), call.scalar(2)?.to_f64(), None, false, None).map(Value::from)
}

/// Scales down the slices along a dimension whose norm exceeds the limit.
fn renorm(call: &Call) -> Result<View> {
    use tensor::ops::pointwise::{BinaryOp, Output, binary};
    use tensor::ops::promote::Operand;
    let (view, p, dim, largest) = (call.view(0)?, call.scalar(1)?.to_f64(), call.int(2)?, call.scalar(3)?);
    if p <= 0.0 {
        bail!(RuntimeError, "renorm: non-positive-norm not supported");
    }
    if largest.to_f64() < 0.0 {
        bail!(RuntimeError, "renorm: expected maxnorm to be >= 0 but got {}", largest.to_f64());
    }
    if view.ndim() < 2 {
        bail!(RuntimeError, "renorm: input needs at least 2 dimensions, got {} dimensions", view.ndim());
    }
    let dim = wrap_dim(dim, view.ndim())?;
    let others: Dims = (0..view.ndim()).filter(|&d| d != dim).map(|d| d as i64).collect();
    // Norms of 16-bit floats stay in `float32` until the scales are computed.
    let reduced = view.dtype.is_reduced_floating_point();
    let norms = tensor::ops::reduce::norm(&view, p, Some(&others), true, reduced.then_some(DType::Float))?;
    let scales = norms.scalars()?.into_iter().map(|norm| {
        let (norm, largest) = (norm.to_f64(), largest.to_f64());
        // The small addition is PyTorch's guard against a division by zero.
        Scalar::Float(if norm > largest { largest / (norm + 1e-7) } else { 1.0 })
    });
    let scales = View::from_scalars(norms.sizes(), if reduced { view.dtype } else { norms.dtype }, scales)?;
    binary(BinaryOp::Mul, Operand::Tensor(&view), Operand::Tensor(&scales), Output::New, view.dtype)
}
