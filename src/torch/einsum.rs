//! Sums of products over dimensions named by letters (`einsum`) or numbers (`tensordot`). Follows
//! <https://pytorch.org/docs/2.7/generated/torch.einsum.html>. Both compose permutations and products of batches of
//! matrices in PyTorch's order, so that strides and gradients match.

use super::origin::products;
use super::steps::Steps;
use call::facets::{Out, Takes};
use call::reads::Reads;
use call::{Call, Row, function, one};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Error, Result, Tensor};
use value::Value;
use value::equality::truth;

/// The condition on the `out` tensor of `tensordot` and of functions based on it.
pub(super) const TENSORDOT: (Takes, &str) = (
    Takes::Same,
    "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with dtype {out}",
);

pub(crate) const ROWS: &[Row] = &[
    function("einsum(any[] args) -> Tensor", einsum, "Sums products over dimensions named by letters.")
        .reads(Reads::Own(products::einsum))
        .operation("permute")
        .out_refused_as("permute")
        .python("einsum")
        .recorded_in_steps(),
    function(
        "tensordot(Tensor a, Tensor b, any dims=2, Tensor? out=None) -> Tensor",
        tensordot_row,
        "Sums products over dimensions of both tensors.",
    )
    .reads(Reads::Own(products::tensordot))
    .out(Out::PLAIN.takes(&[TENSORDOT]))
    .operation("permute")
    .out_refused_as("permute")
    .checks_first()
    .python("tensordot")
    .recorded_in_steps(),
];

/// Number of letters that can name dimensions.
const LETTERS: usize = 52;

/// The maximum depth of lists of operands: a list may contain itself.
const DEEPEST: usize = 1000;

/// One subscript of an operand: a letter's number, capitals first, or the ellipsis for all dimensions without letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subscript {
    Letter(usize),
    Ellipsis,
}

fn einsum(call: &mut Call) -> Result<Value> {
    let arguments = call.value(0).sequence().unwrap_or_default();
    let missing = || {
        Error::value(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its \
             subscripts list",
        )
    };
    let (Some(first), true) = (arguments.first(), arguments.len() >= 2) else { return Err(missing()) };
    let (equation, mut operands) = match first {
        Value::Tensor(_) => of_lists(&arguments)?,
        other => (other.clone(), arguments[1..].to_vec()),
    };
    // A list of operands stands for the operands, also inside another.
    let mut depth = 0;
    while let [only] = operands.as_slice()
        && let Some(items) = only.items().map(|items| items.to_vec())
    {
        operands = items;
        depth += 1;
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded");
        }
    }
    if operands.is_empty() {
        return Err(missing());
    }
    let Value::Str(equation) = &equation else {
        bail!(TypeError, "einsum(): argument 'equation' (position 1) must be str, not {}", equation.type_name());
    };
    let mut tensors = Vec::with_capacity(operands.len());
    for (i, operand) in operands.iter().enumerate() {
        match operand {
            Value::Tensor(tensor) => tensors.push(tensor.clone()),
            other => bail!(TypeError, "expected Tensor as element {i} in argument 1, but got {}", other.type_name()),
        }
    }
    contract(Steps::of(call), equation, tensors).map(Value::Tensor)
}

/// Converts `einsum(a, [0, 1], b, [1, 2], [0, 2])` to an equation and a list of operands.
fn of_lists(arguments: &[Value]) -> Result<(Value, Vec<Value>)> {
    let spelled = |list: &Value| -> Result<String> {
        if let Value::Tensor(_) = list {
            truth(list)?;
        }
        let Some(items) = list.sequence() else {
            bail!(TypeError, "'{}' object is not iterable", list.type_name());
        };
        let mut text = String::new();
        for item in &items {
            match item {
                Value::Ellipsis => text.push_str("..."),
                Value::Int(n @ 0..26) => text.push((b'A' + *n as u8) as char),
                Value::Int(n @ 26..52) => text.push((b'a' + (*n - 26) as u8) as char),
                _ => bail!(ValueError, "einsum(): subscript in subscript list is not within the valid range [0, 52)"),
            }
        }
        Ok(text)
    };
    let (pairs, output) = arguments.as_chunks::<2>();
    let lists: Result<Vec<String>> = pairs.iter().map(|[_, list]| spelled(list)).collect();
    let mut equation = lists?.join(",");
    if let [output] = output {
        equation = format!("{equation}->{}", spelled(output)?);
    }
    Ok((Value::str(equation), pairs.iter().map(|[operand, _]| operand.clone()).collect()))
}

fn letter(c: char) -> Option<usize> {
    match c {
        'A'..='Z' => Some(c as usize - 'A' as usize),
        'a'..='z' => Some(c as usize - 'a' as usize + 26),
        _ => None,
    }
}

fn spelling(letter: usize) -> char {
    char::from(if letter < 26 { b'A' + letter as u8 } else { b'a' + (letter as u8 - 26) })
}

/// Parses the subscripts of each operand.
fn inputs(text: &str, count: usize) -> Result<Vec<Vec<Subscript>>> {
    let mut operands = vec![Vec::new()];
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        let current = operands.len() - 1;
        match c {
            ' ' => {}
            '.' => {
                if operands[current].contains(&Subscript::Ellipsis) {
                    bail!(
                        RuntimeError,
                        "einsum(): found '.' for operand {current} for which an ellipsis was already found"
                    );
                }
                if chars.get(i..i + 3) != Some(&['.'; 3]) {
                    bail!(RuntimeError, "einsum(): found '.' for operand {current} that is not part of any ellipsis");
                }
                i += 2;
                operands[current].push(Subscript::Ellipsis);
            }
            ',' => {
                if current + 1 >= count {
                    bail!(RuntimeError, "einsum(): fewer operands were provided than specified in the equation");
                }
                operands.push(Vec::new());
            }
            c => operands[current].push(Subscript::Letter(checked_letter(c, i)?)),
        }
        i += 1;
    }
    if operands.len() < count {
        bail!(RuntimeError, "einsum(): more operands were provided than specified in the equation");
    }
    Ok(operands)
}

fn checked_letter(c: char, place: usize) -> Result<usize> {
    match letter(c) {
        Some(letter) => Ok(letter),
        None => bail!(
            RuntimeError,
            "einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in \
 [a-zA-Z]"
        ),
    }
}

/// The position of each letter's dimension. Positions behind the dimensions of the result are those of summed letters.
struct Places {
    letters: [Option<usize>; LETTERS],
    /// The position of the first dimension without a letter, and the number of such dimensions.
    ellipsis: usize,
    covered: usize,
    /// The number of dimensions of the result, and of all dimensions.
    kept: usize,
    all: usize,
}

impl Places {
    fn new(output: Option<&str>, before: usize, counts: &[usize; LETTERS], covered: usize) -> Result<Places> {
        let mut letters = [None; LETTERS];
        let (mut next, mut ellipsis) = (0, None);
        match output {
            None => {
                ellipsis = Some(0);
                next = covered;
                for (place, _) in letters.iter_mut().zip(counts).filter(|(_, count)| **count == 1) {
                    *place = Some(next);
                    next += 1;
                }
            }
            Some(text) => {
                let chars: Vec<char> = text.chars().collect();
                let mut i = 0;
                while let Some(&c) = chars.get(i) {
                    match c {
                        ' ' => {}
                        '.' => {
                            if ellipsis.is_some() {
                                bail!(
                                    RuntimeError,
                                    "einsum(): found '.' for output but an ellipsis (...) was already found"
                                );
                            }
                            if chars.get(i..i + 3) != Some(&['.'; 3]) {
                                bail!(
                                    RuntimeError,
                                    "einsum(): found '.' for output that is not part of any ellipsis (...)"
                                );
                            }
                            i += 2;
                            ellipsis = Some(next);
                            next += covered;
                        }
                        c => {
                            let letter = checked_letter(c, before + i)?;
                            if letters[letter].is_some() {
                                bail!(
                                    RuntimeError,
                                    "einsum(): output subscript {c} appears more than once in the output"
                                );
                            }
                            if counts[letter] == 0 {
                                bail!(
                                    RuntimeError,
                                    "einsum(): output subscript {c} does not appear in the equation for any input operand"
                                );
                            }
                            letters[letter] = Some(next);
                            next += 1;
                        }
                    }
                    i += 1;
                }
            }
        }
        let kept = next;
        let ellipsis = ellipsis.unwrap_or_else(|| {
            next += covered;
            kept
        });
        for (place, count) in letters.iter_mut().zip(counts) {
            if *count > 0 && place.is_none() {
                *place = Some(next);
                next += 1;
            }
        }
        Ok(Places { letters, ellipsis, covered, kept, all: next })
    }
}

/// Aligns the dimensions of all operands, then multiplies two operands at a time from the left.
fn contract(steps: Steps, equation: &str, operands: Vec<Tensor>) -> Result<Tensor> {
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation, None),
    };
    let subscripts = inputs(left, operands.len())?;
    let (mut counts, mut covered) = ([0; LETTERS], 0);
    for (i, (list, operand)) in subscripts.iter().zip(&operands).enumerate() {
        let (dims, has_ellipsis) = (operand.borrow().ndim(), list.contains(&Subscript::Ellipsis));
        let named = list.len() - usize::from(has_ellipsis);
        for subscript in list {
            if let Subscript::Letter(letter) = subscript {
                counts[*letter] += 1;
            }
        }
        if has_ellipsis && named > dims {
            bail!(
                RuntimeError,
                "einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions \
                 ({dims}) for operand {i}"
            );
        }
        if !has_ellipsis && named != dims {
            bail!(
                RuntimeError,
                "einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions \
                 ({dims}) for operand {i} and no ellipsis was given"
            );
        }
        covered = covered.max(if has_ellipsis { dims - named } else { 0 });
    }
    let places = Places::new(right, left.chars().count() + 2, &counts, covered)?;
    let mut sizes = vec![1; places.all];
    // For each dimension, the number of operands in which it has more than one element.
    let mut sharing = vec![0usize; places.all];
    let mut pending = Vec::with_capacity(operands.len());
    for (i, (list, operand)) in subscripts.iter().zip(operands).enumerate() {
        pending.push(align(steps, operand, i, list, &places, &mut sizes, &mut sharing)?);
    }
    let several = pending.len() > 1;
    let mut pending = pending.into_iter();
    let Some(mut result) = pending.next() else { bail!(RuntimeError, "einsum(): must provide at least one operand") };
    for other in pending {
        result = join(steps, result, other, &places, &mut sharing)?;
    }
    if places.all == places.kept {
        return Ok(result);
    }
    if several {
        let sizes = Dims::from_slice(&result.borrow().sizes()[..places.kept]);
        return steps.sized("view", &result, &sizes);
    }
    let summed: Dims = (places.kept as i64..places.all as i64).collect();
    steps.sum(&result, &summed, false)
}

/// Permutes an operand's dimensions to the order of the result. A repeated letter takes a diagonal.
fn align(
    steps: Steps,
    mut operand: Tensor,
    number: usize,
    subscripts: &[Subscript],
    places: &Places,
    sizes: &mut [i64],
    sharing: &mut [usize],
) -> Result<Tensor> {
    let mut order: Vec<Option<i64>> = vec![None; places.all];
    let ndim = operand.borrow().ndim();
    let mut dim = 0usize;
    let size_of = |operand: &Tensor, dim: usize| operand.borrow().sizes().get(dim).copied().unwrap_or(1);
    for subscript in subscripts {
        match *subscript {
            Subscript::Ellipsis => {
                let own = (ndim + 1).saturating_sub(subscripts.len());
                for place in places.ellipsis + places.covered - own..places.ellipsis + places.covered {
                    let size = size_of(&operand, dim);
                    if size != 1 {
                        if sizes[place] != 1 && sizes[place] != size {
                            bail!(
                                RuntimeError,
                                "einsum(): dimension {dim} covered by ellipsis in operand {number} has size {size} which \
                                 does not broadcast with previously seen ellipsis with size {} for the respective \
                                 dimension",
                                sizes[place]
                            );
                        }
                        sizes[place] = size;
                        sharing[place] += 1;
                    }
                    order[place] = Some(dim as i64);
                    dim += 1;
                }
            }
            Subscript::Letter(letter) => {
                let Some(place) = places.letters[letter] else { continue };
                let (size, name) = (size_of(&operand, dim), spelling(letter));
                match order[place] {
                    None => {
                        if size != 1 {
                            if sizes[place] != 1 && sizes[place] != size {
                                bail!(
                                    RuntimeError,
                                    "einsum(): subscript {name} has size {size} for operand {number} which does not \
                                     broadcast with previously seen size {}",
                                    sizes[place]
                                );
                            }
                            sizes[place] = size;
                            sharing[place] += 1;
                        }
                        order[place] = Some(dim as i64);
                        dim += 1;
                    }
                    Some(before) => {
                        let other = size_of(&operand, before as usize);
                        if size != other {
                            bail!(
                                RuntimeError,
                                "einsum(): subscript {name} is repeated for operand {number} but the sizes don't match, \
                                 {size} != {other}"
                            );
                        }
                        let diagonal = [Value::Int(0), Value::Int(before), Value::Int(dim as i64)];
                        operand = steps.on(&operand, "diagonal", &diagonal)?;
                        operand = steps.on(&operand, "movedim", &[Value::Int(-1), Value::Int(before)])?;
                    }
                }
            }
        }
    }
    let mut permutation = Dims::new();
    for place in order {
        permutation.push(match place {
            Some(dim) => dim,
            None => {
                operand = steps.unsqueeze(&operand, dim as i64)?;
                dim += 1;
                dim as i64 - 1
            }
        });
    }
    steps.sized("permute", &operand, &permutation)
}

/// Multiplies two aligned operands and sums over the dimensions that no later operand has.
fn join(steps: Steps, mut a: Tensor, mut b: Tensor, places: &Places, sharing: &mut [usize]) -> Result<Tensor> {
    let (mut both, mut only_a, mut only_b) = (Dims::new(), Dims::new(), Dims::new());
    {
        let (x, y) = (a.view(), b.view());
        let dims = x.sizes().iter().zip(y.sizes()).zip(sharing.iter_mut()).enumerate();
        for (dim, ((&size_a, &size_b), sharing)) in dims.skip(places.kept) {
            let dim = dim as i64;
            if size_a != 1 && size_b != 1 {
                *sharing -= 1;
                if *sharing == 1 {
                    both.push(dim);
                    *sharing = 0;
                }
            } else if *sharing == 1 && (size_a != 1 || size_b != 1) {
                if size_a != 1 { &mut only_a } else { &mut only_b }.push(dim);
                *sharing = 0;
            }
        }
    }
    if !only_a.is_empty() {
        a = steps.sum(&a, &only_a, true)?;
    }
    if !only_b.is_empty() {
        b = steps.sum(&b, &only_b, true)?;
    }
    sum_product(steps, &a, &b, &both)
}

/// Multiplies two tensors of the same dimensions and sums over some of them, which are kept with size 1. Computed as
/// one batched matrix product.
fn sum_product(steps: Steps, a: &Tensor, b: &Tensor, summed: &[i64]) -> Result<Tensor> {
    if summed.is_empty() {
        return steps.pair("mul", a, b);
    }
    let (x, y) = (a.view(), b.view());
    let (mut shared, mut left, mut right) = (Dims::new(), Dims::new(), Dims::new());
    for dim in (0..x.ndim() as i64).filter(|dim| !summed.contains(dim)) {
        match (x.sizes()[dim as usize] != 1, y.sizes()[dim as usize] != 1) {
            (true, true) => shared.push(dim),
            (true, false) => left.push(dim),
            _ => right.push(dim),
        }
    }
    let joined = |parts: [&[i64]; 4]| -> Dims { parts.concat().into_iter().collect() };
    let extent = |sizes: &[i64], dims: &[i64]| -> i64 { dims.iter().map(|&d| sizes[d as usize]).product() };
    let (batch, rows) = (extent(x.sizes(), &shared), extent(x.sizes(), &left));
    let (inner, columns) = (extent(x.sizes(), summed), extent(y.sizes(), &right));
    let order = joined([&shared, &left, summed, &right]);
    let mut sizes = Dims::new();
    sizes.extend(shared.iter().chain(&left).map(|&d| x.sizes()[d as usize]));
    sizes.extend(summed.iter().map(|_| 1));
    sizes.extend(right.iter().map(|&d| y.sizes()[d as usize]));
    let mut back = Dims::from_elem(0, order.len());
    for (i, &dim) in order.iter().enumerate() {
        back[dim as usize] = i as i64;
    }
    let a = steps.sized("permute", a, &order)?;
    let a = steps.sized("reshape", &a, &[batch, rows, inner])?;
    let b = steps.sized("permute", b, &joined([&shared, summed, &right, &left]))?;
    let b = steps.sized("reshape", &b, &[batch, inner, columns])?;
    let product = steps.sized("view", &steps.pair("bmm", &a, &b)?, &sizes)?;
    steps.sized("permute", &product, &back)
}

fn tensordot_row(call: &mut Call) -> Result<Value> {
    let operand = |index: usize, name: &str| match call.value(index) {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(
            TypeError,
            "tensordot(): argument '{name}' (position {}) must be Tensor, not {}",
            index + 1,
            other.type_name()
        ),
    };
    let (a, b) = (operand(0, "input")?, operand(1, "other")?);
    let ints = |value: &Value| -> Result<Dims> {
        match value {
            Value::Int(one) => Ok(Dims::from_slice(&[*one])),
            Value::Tensor(tensor) => Ok(tensor.view().scalars()?.into_iter().map(|s| s.to_i64()).collect()),
            other => match other.sequence() {
                Some(items) => items
                    .iter()
                    .map(|item| match item {
                        Value::Int(dim) => Ok(*dim),
                        other => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
                    })
                    .collect(),
                None => bail!(RuntimeError, "unsupported dims type for tensordot: {}", other.type_name()),
            },
        }
    };
    let last = |count: i64| -> Result<(Dims, Dims)> {
        if count < 0 {
            bail!(RuntimeError, "tensordot expects dims >= 0, but got dims={count}");
        }
        if count > (a.borrow().ndim().min(b.borrow().ndim())) as i64 {
            bail!(RuntimeError, "tensordot expects dims < ndim_a or ndim_b, but got dims={count}");
        }
        Ok(((-count..0).collect(), (0..count).collect()))
    };
    let (dims_a, dims_b) = match call.value(2) {
        Value::Int(count) => last(count)?,
        Value::Tensor(pair) if pair.borrow().numel() > 1 => {
            let pair = pair.view();
            let row = |i| -> Result<Dims> {
                Ok(tensor::ops::view::select(&pair, 0, i)?.scalars()?.into_iter().map(|s| s.to_i64()).collect())
            };
            (row(0)?, row(1)?)
        }
        Value::Tensor(count) => last(count.borrow().item()?.to_i64())?,
        lists => match lists.sequence().as_deref() {
            Some([x, y]) => (ints(x)?, ints(y)?),
            Some(several) if several.len() < 2 => {
                bail!(ValueError, "not enough values to unpack (expected 2, got {})", several.len())
            }
            Some(_) => bail!(ValueError, "too many values to unpack (expected 2)"),
            None => bail!(
                RuntimeError,
                "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but \
                 got dims={}",
                call.state.str(&lists)?
            ),
        },
    };
    if a.borrow().dtype != b.borrow().dtype {
        bail!(RuntimeError, "both inputs should have same dtype");
    }
    tensordot(Steps::of(call), &a, &b, &dims_a, &dims_b).map(Value::Tensor)
}

/// Computes the sum of products over the dimensions `dims_a` of `a`, paired with the dimensions `dims_b` of `b`.
///
/// # Errors
/// RuntimeError for lists of different lengths, repeated dimensions and sizes that differ.
pub(crate) fn tensordot(steps: Steps, a: &Tensor, b: &Tensor, dims_a: &[i64], dims_b: &[i64]) -> Result<Tensor> {
    if dims_a.len() != dims_b.len() {
        bail!(RuntimeError, "both dimension lists should have same length");
    }
    let (mut x, mut y) = (a.clone(), b.clone());
    let mut inner = 1;
    for (&dim_a, &dim_b) in dims_a.iter().zip(dims_b) {
        let size = |tensor: &Tensor, dim: i64| -> Result<i64> {
            let view = tensor.borrow();
            Ok(view.sizes().get(wrap_dim(dim, view.ndim())?).copied().unwrap_or(1))
        };
        let (size_a, size_b) = (size(a, dim_a)?, size(b, dim_b)?);
        // A dimension of size 1 broadcasts, so the other operand is summed on its own.
        if size_b == 1 {
            x = steps.sum(&x, &[dim_a], true)?;
        } else if size_a == 1 {
            y = steps.sum(&y, &[dim_b], true)?;
        } else if size_a != size_b {
            bail!(
                RuntimeError,
                "contracted dimensions need to match, but first has size {size_a} in dim {dim_a} and second has size \
                 {size_b} in dim {dim_b}"
            );
        } else {
            inner *= size_a;
        }
    }
    let wrapped = |dims: &[i64], ndim: usize| -> Result<Vec<usize>> {
        let mut seen = Vec::new();
        for &dim in dims {
            let d = wrap_dim(dim, ndim)?;
            if seen.contains(&d) {
                bail!(RuntimeError, "dim {d} appears multiple times in the list of dims");
            }
            seen.push(d);
        }
        Ok(seen)
    };
    let (view_x, view_y) = (x.view(), y.view());
    let (dims_a, dims_b) = (wrapped(dims_a, view_x.ndim())?, wrapped(dims_b, view_y.ndim())?);
    let free_a: Vec<usize> = (0..view_x.ndim()).filter(|d| !dims_a.contains(d)).collect();
    let free_b: Vec<usize> = (0..view_y.ndim()).filter(|d| !dims_b.contains(d)).collect();
    let sizes_a: Dims = free_a.iter().map(|&d| view_x.sizes()[d]).collect();
    let sizes_b: Dims = free_b.iter().map(|&d| view_y.sizes()[d]).collect();
    let order = |parts: [&[usize]; 2]| -> Dims { parts.concat().into_iter().map(|d| d as i64).collect() };
    let left = steps.sized("permute", &x, &order([&free_a, &dims_a]))?;
    let left = steps.sized("reshape", &left, &[sizes_a.iter().product(), inner])?;
    let right = steps.sized("permute", &y, &order([&dims_b, &free_b]))?;
    let right = steps.sized("reshape", &right, &[inner, sizes_b.iter().product()])?;
    let sizes: Dims = sizes_a.into_iter().chain(sizes_b).collect();
    steps.sized("reshape", &steps.pair("mm", &left, &right)?, &sizes)
}

/// Returns the tensors among positional arguments. `meshgrid` also accepts them as one list.
pub(crate) fn spread_tensors(call: &Call, index: usize) -> Result<Vec<Tensor>> {
    let mut items = call.value(index).sequence().unwrap_or_default();
    if call.signature.name == "meshgrid"
        && let [only] = items.as_slice()
        && let Some(inner) = only.items().map(|items| items.to_vec())
    {
        items = inner;
    }
    for (i, item) in items.iter().enumerate() {
        if !matches!(item, Value::Tensor(_)) {
            bail!(TypeError, "expected Tensor as element {i} in argument 0, but got {}", item.type_name());
        }
    }
    items.into_iter().map(one).collect()
}
