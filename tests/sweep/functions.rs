//! Finds out which functions of the table work element by element, along a dimension, or over all elements: calls each
//! on a few elements, and checks what its results depend on.

use crate::grid::{Form, Grid, Random, Values, bits, same};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tensorsh::autograd::Functions;
use tensorsh::call::State;
use tensorsh::call::signature::{Default, Kind, Signature};
use tensorsh::tensor::{DType, Dims, Result, Tensor};
use tensorsh::torch::library::registry;
use tensorsh::value::Value;

/// How a function works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// An element of the result depends only on the elements at the same index.
    Elementwise,
    /// Each line along a dimension is independent.
    Lines,
    /// All elements yield one number.
    All,
}

/// A function of the table, and how to call it.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    pub key: &'static str,
    pub class: Class,
    /// The dtypes of its further tensors.
    pub others: Vec<Other>,
    pub in_place: bool,
}

/// The dtype of a tensor other than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    Same,
    Bool,
    /// Indices along the dimension, or into all elements.
    Places,
}

impl Other {
    pub(crate) fn dtype(self, first: DType) -> DType {
        match self {
            Other::Same => first,
            Other::Bool => DType::Bool,
            Other::Places => DType::Long,
        }
    }
}

/// Returns the tensors among the results.
pub(crate) fn tensors(value: &Value) -> Vec<Tensor> {
    match value {
        Value::Tensor(tensor) => vec![tensor.clone()],
        other => other.sequence().unwrap_or_default().iter().flat_map(tensors).collect(),
    }
}

/// Calls a function with its tensors, and with plain numbers for its other parameters. `dim` is passed if it takes a
/// dimension.
pub(crate) fn call(state: &State, key: &str, given: &[Tensor], dim: Option<i64>) -> Result<Vec<Tensor>> {
    let signature = &registry().overload(key).unwrap().signature;
    let args = arguments(signature, given, dim).unwrap();
    let result = state.call(key, &args)?;
    // Resolve lazy conjugation and negation.
    let mut results = tensors(&result);
    for tensor in &mut results {
        for (lazy, carry_out) in [(tensor.view().conj, "resolve_conj"), (tensor.view().neg, "resolve_neg")] {
            if lazy {
                let resolved = tensors(&state.call(carry_out, &[Value::Tensor(tensor.clone())])?);
                *tensor = resolved[0].clone();
            }
        }
    }
    Ok(results)
}

fn is_dim(name: &str) -> bool {
    matches!(name, "dim" | "dims" | "axis" | "dimension")
}

fn arguments(signature: &Signature, given: &[Tensor], dim: Option<i64>) -> Option<Vec<Value>> {
    let mut given = given.iter();
    let mut args = Vec::new();
    for param in &signature.params {
        let dimension = dim.filter(|_| is_dim(param.name));
        args.push(match (param.kind, dimension, param.default) {
            (Kind::Int, Some(dim), _) => Value::Int(dim),
            (Kind::Ints(_), Some(dim), _) => Value::Size(Dims::from_slice(&[dim])),
            // Equivalent to no dimension, if one has to be given.
            (Kind::Ints(_), None, None) if is_dim(param.name) => Value::None,
            // An optional limit, of which at least one must be given.
            (Kind::Number, _, Some(Default::None)) if param.name == "min" => Value::Int(-1),
            (Kind::Tensor, _, Some(Default::None)) if param.name == "min" => Value::Tensor(given.next()?.clone()),
            (_, _, Some(default)) => match default {
                Default::None if is_dim(param.name) => Value::None,
                default => default.to_value(),
            },
            (Kind::Tensor | Kind::Operand, ..) => Value::Tensor(given.next()?.clone()),
            (Kind::Int, ..) if param.name == "k" => Value::Int(3),
            (Kind::Int, ..) => Value::Int(1),
            (Kind::Number | Kind::Float, ..) => Value::Float(0.5),
            (Kind::Bool, ..) => Value::Bool(true),
            (Kind::DType, ..) => Value::DType(DType::Float),
            (Kind::Str, ..) if param.name == "rounding_mode" => Value::str("floor"),
            _ => return None,
        });
    }
    Some(args)
}

/// Returns the number of tensors that a signature takes, whether it takes a dimension, and whether the dimension is
/// optional.
fn wants(signature: &Signature) -> (usize, bool, bool) {
    let tensor = |kind: Kind| matches!(kind, Kind::Tensor | Kind::Operand);
    let tensors =
        signature.params.iter().filter(|p| tensor(p.kind) && (p.default.is_none() || p.name == "min")).count();
    let dim = signature.params.iter().find(|p| is_dim(p.name) && matches!(p.kind, Kind::Int | Kind::Ints(_)));
    (tensors, dim.is_some(), dim.is_none_or(|p| p.nullable || p.default.is_some()))
}

/// Returns the functions of the table that work in one of these ways, and the keys of other functions that take
/// tensors.
pub(crate) fn sweepable(state: &State) -> (Vec<Swept>, Vec<&'static str>) {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for function in registry().overloads() {
        let signature = &function.signature;
        let first = signature.params.first().is_some_and(|p| matches!(p.kind, Kind::Tensor | Kind::Operand));
        let gives = signature.returns.contains("Tensor") || signature.returns == "any";
        let draws = signature.params.iter().any(|p| p.kind == Kind::Generator);
        if !first || !gives || draws || function.signature.params.iter().any(|p| p.kind.is_of_names()) {
            continue;
        }
        match classify(state, signature) {
            Some(swept) => found.push(swept),
            None => others.push(signature.key),
        }
    }
    // The table is not ordered.
    found.sort_by_key(|swept| swept.key);
    others.sort();
    (found, others)
}

fn classify(state: &State, signature: &Signature) -> Option<Swept> {
    let (count, has_dim, without_dim) = wants(signature);
    // Functions that leave elements uninitialised.
    if signature.name.contains("empty") || signature.name.contains("resize") || signature.name.contains("storage") {
        return None;
    }
    // The result for an element depends on all other elements, even if the few here do not show it.
    if signature.name == "isin" {
        return None;
    }
    let choices: &[Other] = if count > 1 { &[Other::Same, Other::Bool, Other::Places] } else { &[Other::Same] };
    for &other in choices {
        let others = vec![other; count.saturating_sub(1)];
        let is = |class: Class| {
            // All probes must agree: the results for a few numbers alone may look like anything.
            let probes = [DType::Double, DType::Long, DType::Bool, DType::ComplexDouble]
                .into_iter()
                .flat_map(|dtype| [(dtype, Values::Distinct), (dtype, Values::Mixed)])
                .map(|(dtype, values)| Probe { state, key: signature.key, dtype, values, others: &others });
            let answers: Vec<bool> = probes.filter_map(|probe| probe.is(class)).collect();
            !answers.is_empty() && !answers.contains(&false)
        };
        let class = if is(Class::Elementwise) {
            Class::Elementwise
        } else if has_dim && is(Class::Lines) {
            Class::Lines
        } else if without_dim && is(Class::All) {
            Class::All
        } else {
            continue;
        };
        return Some(Swept { key: signature.key, class, others, in_place: signature.in_place });
    }
    None
}

/// A function called with a few elements.
struct Probe<'a> {
    state: &'a State,
    key: &'static str,
    dtype: DType,
    values: Values,
    others: &'a [Other],
}

const SIZES: [i64; 2] = [4, 6];

impl Probe<'_> {
    fn grids(&self) -> Vec<Grid> {
        let mut random = Random::new(7);
        let mut grids = vec![Grid::new(self.dtype, &SIZES, Form::Contiguous, self.values, &mut random)];
        for other in self.others {
            let values = if *other == Other::Same { self.values } else { Values::NearOne };
            grids.push(Grid::new(other.dtype(self.dtype), &SIZES, Form::Contiguous, values, &mut random));
        }
        grids
    }

    /// Returns the bits and sizes of the results for some of the elements.
    fn results(&self, grids: &[Grid], elements: &[usize], dim: Option<i64>) -> Option<Vec<Shown>> {
        let given: Vec<Tensor> = grids.iter().map(|grid| grid.part(elements)).collect();
        self.run(&given, dim)
    }

    fn run(&self, given: &[Tensor], dim: Option<i64>) -> Option<Vec<Shown>> {
        let signature = &registry().overload(self.key)?.signature;
        arguments(signature, given, dim)?;
        let once = |given: &[Tensor]| {
            let given: Vec<Tensor> = given.iter().map(copy).collect();
            let called = catch_unwind(AssertUnwindSafe(|| call(self.state, self.key, &given, dim)));
            called.unwrap_or_else(|_| panic!("{} panics on {:?} of {}", self.key, SIZES, self.dtype.name())).ok()
        };
        let show = |results: &[Tensor]| -> Vec<_> {
            results.iter().map(|t| (t.view().dtype, t.view().sizes().to_vec(), bits(&t.view()))).collect()
        };
        let usable = |t: &Tensor| t.view().form.is_none() && !t.view().device().is_meta();
        let results = once(given).filter(|results| !results.is_empty() && results.iter().all(usable))?;
        // Random results and uninitialised memory cannot be compared.
        let (first, second) = (show(&results), show(&once(given)?));
        (first == second).then_some(first)
    }

    /// Returns whether the function works in this way. `None` if it rejects such elements.
    fn is(&self, class: Class) -> Option<bool> {
        let grids = self.grids();
        let whole: Vec<Tensor> = grids.iter().map(Grid::tensor).collect();
        match class {
            Class::Elementwise => self.is_elementwise(&grids, &self.run(&whole, None)?),
            Class::Lines => self.is_by_lines(&grids, &self.run(&whole, Some(1))?),
            Class::All => Some(self.run(&whole, None)?.iter().all(|(_, sizes, _)| sizes.is_empty())),
        }
    }

    /// Returns whether moving elements moves their results, and whether a subset alone has the same results.
    fn is_elementwise(&self, grids: &[Grid], square: &[Shown]) -> Option<bool> {
        if square.iter().any(|(_, sizes, _)| *sizes != SIZES) {
            return Some(false);
        }
        // A permutation that separates all neighbours and is not its own inverse, and a part of it.
        let mixed: Vec<usize> = (0..24).map(|i| (i * 7 + 5) % 24).collect();
        Some([&mixed[..], &mixed[3..8]].into_iter().all(|places| {
            self.results(grids, places, None).is_some_and(|moved| {
                square.iter().zip(&moved).all(|((dtype, _, square), (_, sizes, moved))| {
                    *sizes == [places.len() as i64]
                        && places.iter().zip(moved).all(|(&from, &moved)| near(*dtype, square[from], moved))
                })
            })
        }))
    }

    fn is_by_lines(&self, grids: &[Grid], results: &[Shown]) -> Option<bool> {
        Some((0..4).all(|row| {
            let line: Vec<usize> = (row * 6..row * 6 + 6).collect();
            let Some(alone) = self.results(grids, &line, Some(0)) else { return false };
            alone.len() == results.len()
                && results.iter().zip(&alone).all(|((dtype, sizes, all), (_, _, alone))| {
                    sizes.first() == Some(&4)
                        && all.len() == 4 * alone.len()
                        && all[row * alone.len()..].iter().zip(alone).all(|(&a, &b)| near(*dtype, a, b))
                })
        }))
    }
}

/// A result's dtype, sizes and bits.
type Shown = (DType, Vec<i64>, Vec<u128>);

fn copy(tensor: &Tensor) -> Tensor {
    let view = tensor.view();
    crate::grid::tensor(view.dtype, &bits(&view), tensorsh::tensor::Layout::contiguous(view.sizes()))
}

/// Returns whether two numbers are equal up to rounding.
pub(crate) fn near(dtype: DType, a: u128, b: u128) -> bool {
    if same(dtype, a, b) {
        return true;
    }
    let number = |bits: u128| crate::grid::decode(dtype, &[bits])[0].to_complex();
    let (a, b) = (number(a), number(b));
    let epsilon = match dtype {
        DType::Half => 1e-2,
        DType::BFloat16 => 5e-2,
        DType::Float | DType::ComplexFloat => 1e-4,
        DType::Double | DType::ComplexDouble => 1e-9,
        _ => return false,
    };
    (a - b).norm() <= epsilon * (1.0 + a.norm().max(b.norm()))
}
