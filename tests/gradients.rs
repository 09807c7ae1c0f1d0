//! Checks of the derivative table that need the function table: it is complete, and every formula is right.

use tensorsh::autograd::{self, Derivative, Functions, Pass, Recorded, Rule};
use tensorsh::call::State;
use tensorsh::call::signature::Kind;
use tensorsh::tensor::view::complex;
use tensorsh::tensor::{DType, Dims, Scalar, Tensor, View};
use tensorsh::torch::library::registry;
use tensorsh::value::Value;

/// Functions that PyTorch cannot differentiate either. It records a node that fails.
const REFUSED: &[&str] = &[
    "aminmax",
    "bernoulli.p",
    "detach_copy",
    "floor_divide",
    "heaviside",
    "histogram.bin_ct",
    "histogram.bins_tensor",
    "histogramdd.int_bins",
    "linalg.ldl_factor",
    "linalg.ldl_factor_ex",
    "linalg.ldl_solve",
    "native_channel_shuffle",
    "nn.functional.native_channel_shuffle",
    "narrow_copy",
    "remainder.number_first",
    "scatter.reduce",
    "scatter.value_reduce",
    "set",
    "set.source_Storage",
    "set.source_Storage_storage_offset",
    "set.source_Tensor",
    "set.source_Tensor_storage_offset",
];

/// Functions without gradients so far. Their nodes say so.
const LATER: &[&str] = &[
    "histogramdd.int_bins",
    "linalg.eig",
    "linalg.eigvals",
    "linalg.ldl_factor",
    "linalg.ldl_factor_ex",
    "linalg.ldl_solve",
    "native_channel_shuffle",
    "nn.functional.native_channel_shuffle",
    "_coalesced",
    "_values",
    "dequantize",
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "fake_quantize_per_tensor_affine.tensor_qparams",
    "hspmm",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor.tensor_qparams",
    "quantize_per_tensor.tensors",
    "quantize_per_tensor_dynamic",
    "quantized_batch_norm",
    "quantized_max_pool1d",
    "quantized_max_pool2d",
    "smm",
    "sparse.addmm",
    "sparse.log_softmax",
    "sparse.softmax",
    "sparse.spdiags",
    "sparse.sum",
    "sparse_mask",
    "sparse_resize",
    "sparse_resize_and_clear",
    "sspaddmm",
    "to_sparse_bsc",
    "to_sparse_bsr",
    "to_sparse_coo",
    "to_sparse_csc",
    "to_sparse_csr",
    "values",
];

/// A call for every row of the derivative table that a function of the table reaches.
const CASES: &str = include_str!("gradients/cases.txt");

/// Returns the calls, each with its overload.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

/// Rows whose results are random, are refused or change a dtype, for which finite differences are meaningless.
/// Eigenvectors are excluded too: a weighted sum depends on their phases (see linear-algebra-signs.md).
const UNCHECKED: &[&str] = &[
    "linalg.eig",
    "_to_copy",
    "fill.Scalar",
    "fill.Tensor",
    "uniform",
    "normal",
    "random",
    "random.from",
    "random.to",
    "bernoulli",
    "bernoulli_.float",
    "bernoulli_.Tensor",
    "exponential",
    "cauchy",
    "log_normal",
    "geometric",
    "unique",
    "unique_consecutive",
    "normal.Tensor_float",
    "normal.float_Tensor",
    "normal.Tensor_Tensor",
    "poisson",
    "native_dropout",
    // Of sparse tensors; tests/transcripts/sparse-values.md records them.
    "to_sparse_coo",
    "to_sparse_csr",
    "to_sparse_csc",
    "to_sparse_bsr",
    "to_sparse_bsc",
    "sparse_coo_tensor.indices",
    "sparse_coo_tensor.indices_size",
    "sparse_compressed_tensor",
    "sparse_csr_tensor",
    "sparse_csc_tensor",
    "sparse_bsr_tensor",
    "sparse_bsc_tensor",
    "values",
    "sparse_mask",
    "_sparse_sum.dim",
    "to_dense",
    "to_sparse",
    "to_sparse.sparse_dim",
    "coalesce",
    "sparse.mm",
    "sparse.mm.reduce",
    // Not differentiable in one argument, or in any.
    "special.zeta",
    "special.zeta.self_scalar",
    "special.zeta.other_scalar",
    "igamma",
    "igammac",
    "nextafter",
    "geqrf",
    "ormqr",
    // PyTorch's own gradient is incomplete: it ignores the results that are means and scales.
    "as_strided_scatter",
    "native_batch_norm",
    "native_layer_norm",
];

#[test]
fn every_function_is_recorded_or_known_not_to_be() {
    let mut forgotten = Vec::new();
    for function in registry().overloads() {
        let signature = &function.signature;
        let tensors = signature.params.iter().any(|p| matches!(p.kind, Kind::Tensor | Kind::Tensors | Kind::Operand));
        let of_tensors = matches!(signature.receiver(), None | Some(Kind::Tensor));
        let gives = signature.returns.contains("Tensor") || signature.returns == "any";
        let out_only = signature.params.iter().filter(|p| p.kind == Kind::Tensor).all(|p| p.name == "out");
        let known = signature.takes_names()
            || !matches!(function.rule(&[]), Rule::Missing)
            || [REFUSED, LATER].concat().contains(&plain(function.key()).as_str());
        if tensors && of_tensors && gives && !out_only && !known {
            forgotten.push(signature.key);
        }
    }
    assert!(
        forgotten.is_empty(),
        "say how these functions are differentiated: by a row in autograd/derivatives (and a case in {}), by their parts \
         in autograd/composite.rs, or not at all by a facet of the row (not_differentiable, recorded_in_steps); or list \
         them in REFUSED if PyTorch's grad_fn is NotImplemented: {forgotten:?}",
        file!()
    );
}

/// A row that says how its calls are recorded has no derivative under its own key, and names one that is there.
#[test]
fn no_function_says_twice_how_it_is_recorded() {
    let wrong = |key: &str, recorded: Recorded| {
        let is_missing = |recorded| matches!(autograd::rule(key, recorded, &[], false), Rule::Missing);
        match recorded {
            Recorded::ByKey => false,
            Recorded::Like(_) => is_missing(recorded),
            Recorded::Never | Recorded::InSteps => !is_missing(Recorded::ByKey),
        }
    };
    let functions = registry().overloads().map(|function| (function.key(), function.row.recorded));
    let twice: Vec<_> = functions.filter(|(key, recorded)| wrong(key, *recorded)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Formulas and composite functions call others by overload. Before they run, only a search of the source can find
/// missing ones.
#[test]
fn every_overload_that_is_called_by_name_is_there() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.join("autograd"), source.join("torch")];
    let (mut called, mut missing) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for call in text.split(".call(").skip(1) {
                let Some(rest) = call.trim_start().strip_prefix('"') else { continue };
                let key = rest.split('"').next().unwrap_or_default();
                called += 1;
                if registry().overload(key).is_none() {
                    missing.push(format!("{}: {key}", path.display()));
                }
            }
            // `Steps` name the function, which selects the overload.
            for step in [".torch(", ".pair(", ".sized(", ".on("].iter().flat_map(|step| text.split(step).skip(1)) {
                let Some(arguments) = step.split(';').next().filter(|text| text.contains('"')) else { continue };
                let name = arguments.split('"').nth(1).unwrap_or_default();
                let bare = name.rsplit('.').next().unwrap_or_default();
                called += 1;
                if !registry().is_callable(bare) {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    assert!(called > 500, "only {called} calls were found");
    assert!(missing.is_empty(), "no such overloads: {missing:#?}");
}

#[test]
fn every_derivative_agrees_with_finite_differences() {
    let mut wrong = Vec::new();
    for row in autograd::derivatives() {
        let cases: Vec<&str> = cases().filter(|(key, _)| *key == row.key).map(|(_, case)| case).collect();
        if cases.is_empty() && reachable(row) && !UNCHECKED.contains(&row.key) {
            wrong.push(format!("{}: add a case to tests/gradients/cases.txt", row.key));
        }
        for case in cases {
            if reachable(row)
                && let Err(reason) = check(row, case)
            {
                wrong.push(format!("{} ({case}): {reason}", row.key));
            }
        }
    }
    assert!(wrong.is_empty(), "derivatives that are not those of their functions:\n{}", wrong.join("\n"));
}

/// Returns the key without the marks for in-place functions and numbers.
fn plain(key: &str) -> String {
    let (name, overload) = key.split_once('.').map_or((key, None), |(name, overload)| (name, Some(overload)));
    let name = name.strip_suffix('_').unwrap_or(name);
    overload.map_or_else(|| name.to_string(), |overload| format!("{name}.{overload}"))
}

/// Returns the functions of a row: the one in its key, and its in-place variant.
fn functions_of(row: &Derivative) -> Vec<String> {
    let key = row.key.trim_end_matches(".number_first").trim_end_matches(".number");
    let twin = match key.split_once('.') {
        Some((name, overload)) => format!("{name}_.{overload}"),
        None => format!("{key}_"),
    };
    [key.to_string(), twin].into_iter().filter(|key| registry().overload(key).is_some()).collect()
}

fn reachable(row: &Derivative) -> bool {
    !functions_of(row).is_empty()
}

/// Compares the gradients of a weighted sum over the results with finite differences, for each differentiable argument.
fn check(row: &Derivative, case: &str) -> Result<(), String> {
    let state = State::new(registry(), None);
    // A function of symmetric matrices reads only one half of them.
    let symmetric = case.starts_with('~');
    // A function of triangular matrices also returns gradients for the zeros.
    let triangular = case.starts_with('^');
    let args: Vec<Value> = case.trim_start_matches(['~', '^']).split(' ').map(argument).collect();
    for key in functions_of(row) {
        let in_place = registry().overload(&key).is_some_and(|function| function.signature.in_place);
        if in_place && !fits(&state, &functions_of(row), &args) {
            continue;
        }
        let total = |args: &[Value], recorded: bool| -> Result<Tensor, String> {
            let mut args = args.to_vec();
            if in_place && let Some(first) = args.first_mut() {
                // A leaf cannot be modified in place.
                *first = state.call("clone", std::slice::from_ref(first)).map_err(|e| e.message)?;
            }
            let before = state.set_recording(recorded);
            let result = state.call(&key, &args).and_then(|result| weighted(&state, &result));
            state.set_recording(before);
            result.map_err(|e| format!("{key}: {}", e.message))
        };
        let inputs: Vec<Tensor> = row.gradients().flat_map(|gradient| leaves(args.get(gradient.arg))).collect();
        for input in &inputs {
            input.autograd_mut(|meta| meta.requires_grad = true);
        }
        let sum = total(&args, true)?;
        let one = Tensor::new(View::scalar(Scalar::Int(1), DType::Double).map_err(|e| e.message)?);
        let pass = Pass { functions: &*state, retain_graph: false, create_graph: false };
        let found = autograd::gradients(pass, &[(sum, one)], &inputs).map_err(|e| format!("{key}: {}", e.message))?;
        for (n, (input, gradient)) in inputs.iter().zip(found).enumerate() {
            let view = input.view();
            let values = view.scalars().map_err(|e| e.message)?;
            let slopes = match gradient {
                Some(gradient) => gradient.view().scalars().map_err(|e| e.message)?,
                None => vec![Scalar::Float(0.0); values.len()],
            };
            for (i, (value, slope)) in values.iter().zip(slopes.iter().copied()).enumerate() {
                let mut difference = [0.0; 2];
                for (part, slot) in difference.iter_mut().enumerate().take(if view.dtype.is_complex() { 2 } else { 1 })
                {
                    let at = |step: f64| -> Result<f64, String> {
                        let (re, im) = if part == 0 { (step, 0.0) } else { (0.0, step) };
                        let moved = Scalar::Complex(value.to_complex() + complex(re, im).to_complex());
                        let moved = if view.dtype.is_complex() { moved } else { Scalar::Float(value.to_f64() + step) };
                        let twin = if symmetric { mirrored(i, view.sizes()) } else { i };
                        let all = values.iter().enumerate().map(|(k, v)| match k {
                            _ if k == i => moved,
                            _ if k == twin => conjugate(moved),
                            _ => *v,
                        });
                        let fresh = View::from_scalars(view.sizes(), view.dtype, all.collect::<Vec<_>>());
                        input.set_view(fresh.map_err(|e| e.message)?);
                        let sum = total(&args, false)?;
                        input.set_view(view.clone());
                        let sum = sum.borrow().item().map_err(|e| e.message)?;
                        Ok(sum.to_f64())
                    };
                    *slot = (at(STEP)? - at(-STEP)?) / (2.0 * STEP);
                }
                let [re, im] = difference;
                let mut slope = slope.to_complex();
                let twin = mirrored(i, view.sizes());
                if symmetric && twin == i {
                    slope.im = im;
                } else if symmetric {
                    slope += slopes.get(twin).copied().unwrap_or(Scalar::Int(0)).to_complex().conj();
                }
                let error = (slope.re - re).abs().max((slope.im - im).abs());
                if triangular && value.to_f64() == 0.0 {
                    continue;
                }
                if error.is_nan() || error > 1e-5 * (1.0 + re.abs() + im.abs()) {
                    return Err(format!("{key}: input {n}, element {i}: {slope} instead of {re:.6} {im:+.6}i"));
                }
            }
        }
    }
    Ok(())
}

/// Returns whether the result can be written over the first argument.
fn fits(state: &State, functions: &[String], args: &[Value]) -> bool {
    let Some(Value::Tensor(first)) = args.first() else { return false };
    let plain = functions.iter().find(|key| registry().overload(key).is_some_and(|f| !f.signature.in_place));
    match plain.map(|key| state.call(key, args)) {
        Some(Ok(Value::Tensor(result))) => {
            (result.borrow().dtype, result.borrow().sizes()) == (first.borrow().dtype, first.borrow().sizes())
        }
        Some(_) => false,
        None => true,
    }
}

/// Returns the position mirrored at a matrix's diagonal.
fn mirrored(place: usize, sizes: &[i64]) -> usize {
    let order = sizes.last().copied().unwrap_or(1) as usize;
    place % order * order + place / order
}

fn conjugate(value: Scalar) -> Scalar {
    match value {
        Scalar::Complex(value) => Scalar::Complex(value.conj()),
        real => real,
    }
}

const STEP: f64 = 1e-6;

/// Returns the sum over the real and imaginary parts of all differentiable results, each with its own weight.
fn weighted(state: &State, result: &Value) -> tensorsh::tensor::Result<Tensor> {
    let results = leaves(Some(result));
    let mut total = Value::from(View::scalar(Scalar::Int(0), DType::Double)?);
    for tensor in results.into_iter().filter(|tensor| tensor.borrow().dtype.is_differentiable()) {
        let mut value = Value::Tensor(tensor.clone());
        if tensor.borrow().dtype.is_complex() {
            value = state.call("resolve_conj", &[value])?;
            value = state.call("view_as_real", &[value])?;
        }
        if let Value::Tensor(tensor) = &value {
            let (sizes, count) = (tensor.borrow().layout.sizes.clone(), tensor.borrow().numel());
            let weights = (0..count).map(|i| Scalar::Float((i as f64 * 1.7).sin() + 0.3));
            let weights = View::from_scalars(&sizes, DType::Double, weights.collect::<Vec<_>>())?;
            value = state.call("mul", &[value, weights.into()])?;
        }
        let sum = state.call("sum", &[value])?;
        total = state.call("add.Tensor", &[total, sum])?;
    }
    leaves(Some(&total)).pop().ok_or_else(|| tensorsh::tensor::Error::runtime("nothing to differentiate"))
}

fn leaves(value: Option<&Value>) -> Vec<Tensor> {
    match value {
        Some(Value::Tensor(tensor)) => vec![tensor.clone()],
        Some(other) => other.sequence().unwrap_or_default().iter().flat_map(|item| leaves(Some(item))).collect(),
        None => Vec::new(),
    }
}

/// Parses an argument: a number, `True`, `None`, `'text'`, `[1,2]` for integers, `(x,y)` and `{None,i}` for lists of
/// tensors, or the name of a sample tensor.
fn argument(text: &str) -> Value {
    let inner = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(list) = inner('[', ']') {
        return Value::Size(list.split(',').filter_map(|n| n.parse().ok()).collect::<Dims>());
    }
    if let Some(list) = inner('(', ')').or_else(|| inner('{', '}')) {
        return Value::list(list.split(',').map(argument));
    }
    if let Some(text) = inner('\'', '\'') {
        return Value::str(text);
    }
    match text {
        "None" => return Value::None,
        "True" | "False" => return Value::Bool(text == "True"),
        _ => {}
    }
    if let Ok(int) = text.parse() {
        return Value::Int(int);
    }
    if let Ok(float) = text.parse() {
        return Value::Float(float);
    }
    sample(text)
}

/// Returns complex numbers without a pattern.
fn complex_matrix(sizes: &[i64], seed: f64) -> tensorsh::tensor::Result<View> {
    let count: i64 = sizes.iter().product();
    let value = |i: i64| complex((i as f64 * 1.3 + seed).sin(), (i as f64 * 2.1 - seed).cos());
    View::from_scalars(sizes, DType::ComplexDouble, (0..count).map(value).collect::<Vec<_>>())
}

/// Returns a sample tensor. Unless noted, there are no ties and no integers, and all values are in the domain of
/// `acos`.
fn sample(name: &str) -> Value {
    let reals = |sizes: &[i64], values: &[f64]| {
        View::from_scalars(sizes, DType::Double, values.iter().map(|&v| Scalar::Float(v)).collect::<Vec<_>>())
    };
    let longs = |sizes: &[i64], values: &[i64]| {
        View::from_scalars(sizes, DType::Long, values.iter().map(|&v| Scalar::Int(v)).collect::<Vec<_>>())
    };
    let complexes = |values: &[(f64, f64)]| {
        let values = values.iter().map(|&(re, im)| complex(re, im)).collect::<Vec<_>>();
        View::from_scalars(&[2, 3], DType::ComplexDouble, values)
    };
    let long: Vec<f64> = (0..24).map(|i| ((i * 7 % 24) as f64).mul_add(0.037, 0.05)).collect();
    let view = match name {
        "x" => reals(&[2, 3], &[0.31, 0.77, 0.12, 0.93, 0.58, 0.46]),
        "y" => reals(&[2, 3], &[0.64, 0.23, 0.85, 0.37, 0.71, 0.19]),
        "row" => reals(&[3], &[0.35, -0.8, 1.4]),
        // With both signs, with zeros, above 1.
        "s" => reals(&[2, 3], &[-0.31, 0.77, -1.12, 0.93, -0.58, 0.46]),
        "o" => reals(&[2, 3], &[0.31, 0.0, 0.12, 0.93, 0.58, 0.46]),
        "g" => reals(&[2, 3], &[1.31, 2.77, 1.12, 1.93, 3.58, 1.46]),
        "k" => reals(&[2, 1, 3], &[0.31, 0.77, 0.12, 0.93, 0.58, 0.46]),
        "c" => reals(&[2, 3, 4], &long),
        "r" => reals(&[3, 4, 2], &long),
        "v" => reals(&[7], &[0.31, 0.77, 0.12, 0.93, 0.58, 0.46, 0.22]),
        "v2" => reals(&[2], &[0.61, 0.34]),
        "v3" => reals(&[3], &[0.44, 0.61, 0.27]),
        "n" => reals(&[], &[0.9]),
        "z" => complexes(&[(0.3, 0.7), (-0.4, 0.2), (0.6, -0.5), (0.9, 0.1), (-0.2, -0.8), (0.5, 0.4)]),
        "w" => complexes(&[(0.7, -0.2), (0.5, 0.6), (-0.3, 0.4), (0.8, -0.9), (0.1, 0.3), (-0.6, 0.5)]),
        "i" => longs(&[3], &[2, 0, 2]),
        "p" => longs(&[3], &[2, 0, 1]),
        "q" => longs(&[3], &[4, 0, 3]),
        "j" => longs(&[2, 2], &[0, 2, 1, 1]),
        "j0" => longs(&[3], &[0, 1, 1]),
        "j1" => longs(&[2, 2], &[0, 2, 1, 0]),
        "a3" => reals(&[3, 3], &[1.3, 0.4, -0.7, 0.25, -1.1, 0.6, 0.8, 0.35, 0.9]),
        "spd" => reals(&[3, 3], &[2.0, 0.5, 0.1, 0.5, 1.5, 0.2, 0.1, 0.2, 3.0]),
        "lower" => reals(&[3, 3], &[1.2, 0.0, 0.0, 0.4, 0.9, 0.0, -0.3, 0.5, 1.4]),
        "upper3" => reals(&[3, 3], &[1.2, 0.4, -0.3, 0.0, 0.9, 0.5, 0.0, 0.0, 1.4]),
        "lu3" => reals(&[3, 3], &[1.3, 0.4, -0.7, 0.25, -1.1, 0.6, 0.8, 0.35, 0.9]),
        "x3" => reals(&[3, 2], &[0.31, 0.77, 0.12, 0.93, 0.58, 0.46]),
        "x3t" => reals(&[2, 2], &[0.41, 0.67, 0.22, 0.83]),
        "x3o" => reals(&[2, 2], &[0.0, 0.67, 0.22, 0.0]),
        "v3c" => reals(&[3, 1], &[0.44, 0.61, 0.27]),
        "t2" => reals(&[2], &[0.6, 0.8]),
        "b3" => reals(&[2, 3, 3], &long[..18]),
        "c3" => reals(&[2, 2, 2], &long[..8]),
        "p4" => reals(&[1, 4, 2, 2], &long[..16]),
        "az" => complex_matrix(&[3, 3], 0.9),
        "hpd" => View::from_scalars(
            &[3, 3],
            DType::ComplexDouble,
            [
                (2.0, 0.0),
                (0.5, 0.3),
                (0.1, -0.2),
                (0.5, -0.3),
                (1.5, 0.0),
                (0.2, 0.1),
                (0.1, 0.2),
                (0.2, -0.1),
                (3.0, 0.0),
            ]
            .map(|(re, im)| complex(re, im)),
        ),
        "x3z" => complex_matrix(&[3, 2], 1.7),
        "vz" => complex_matrix(&[3], 0.4),
        "wz" => complex_matrix(&[3], 2.3),
        "pivots" => View::from_scalars(&[3], DType::Int, [1, 3, 3].map(Scalar::Int)),
        "m" => View::from_scalars(&[2, 3], DType::Bool, [1, 0, 1, 0, 0, 1].map(|b| Scalar::Bool(b == 1))),
        other => panic!("no sample is called {other}"),
    };
    match view {
        Ok(view) => Value::from(view),
        Err(error) => panic!("{}", error.message),
    }
}
