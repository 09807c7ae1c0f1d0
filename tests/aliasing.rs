//! Arrays and tensors on one memory: whatever views of each are made, a write through any of them is seen through all
//! others, and `np.shares_memory` says which bytes two of them have in common. The model knows nothing of strides: a view
//! is a list of bytes.

use proptest::prelude::*;
use std::collections::BTreeSet;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Session, SessionOptions};

/// The elements of a view, in row-major order: the first byte of each in the memory.
#[derive(Clone, Debug)]
struct View {
    shape: Vec<usize>,
    starts: Vec<usize>,
    /// Bytes per element: the dtype is `int16` or `uint8`.
    size: usize,
    is_tensor: bool,
    /// Where a tensor's storage begins: at the first element of the array that the tensor was made from.
    storage: usize,
}

impl View {
    /// Returns the view whose element at an index is this view's at another one.
    fn picked(&self, shape: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> View {
        let starts = indices(&shape).map(|index| self.starts[place(&self.shape, &from(&index))]).collect();
        View { shape, starts, ..self.clone() }
    }

    fn bytes(&self) -> BTreeSet<usize> {
        self.starts.iter().flat_map(|&start| start..start + self.size).collect()
    }
}

fn place(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |place, (size, at)| place * size + at)
}

fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |number: usize| {
        let mut rest = number;
        let mut index: Vec<usize> = shape
            .iter()
            .rev()
            .map(|&size| {
                let at = rest % size;
                rest /= size;
                at
            })
            .collect();
        index.reverse();
        index
    })
}

/// A step that makes a view from the last one.
#[derive(Clone, Debug)]
enum Step {
    /// `[…, start::step]` along a dimension; arrays also go backwards.
    Slice {
        dim: usize,
        start: usize,
        step: i64,
    },
    Transposed,
    NewAxis {
        dim: usize,
    },
    /// An integer in place of a dimension.
    Selected {
        dim: usize,
        at: usize,
    },
    /// Two bytes for each element, or one element for two bytes.
    Reinterpreted,
    /// All elements in one dimension, if that is no copy.
    Flat,
    /// A tensor on the array, or an array on the tensor.
    Crossed,
    /// Repeated along a new dimension; only for reading.
    Repeated,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4usize, 0..3usize, prop_oneof![Just(1), Just(2), Just(-1), Just(-2)])
            .prop_map(|(dim, start, step)| Step::Slice { dim, start, step }),
        2 => Just(Step::Transposed),
        1 => (0..4usize).prop_map(|dim| Step::NewAxis { dim }),
        1 => (0..4usize, 0..3usize).prop_map(|(dim, at)| Step::Selected { dim, at }),
        2 => Just(Step::Reinterpreted),
        1 => Just(Step::Flat),
        4 => Just(Step::Crossed),
        1 => Just(Step::Repeated),
    ]
}

/// Returns whether the elements lie at equal distances of one element, from the first to the last.
fn is_dense(view: &View) -> bool {
    view.starts.windows(2).all(|pair| pair[1] == pair[0] + view.size)
}

/// Returns the expression of a step and the view that it makes; `None` if the step does not apply.
fn taken(view: &View, step: &Step) -> Option<(String, View)> {
    let (ndim, shape) = (view.shape.len(), &view.shape);
    match *step {
        Step::Slice { dim, start, step } => {
            let dim = dim % ndim.max(1);
            let size = *shape.get(dim)?;
            if view.is_tensor && step < 0 || start >= size {
                return None;
            }
            // Backwards from the end, less what is left out.
            let (first, count) = match step {
                1.. => (start, (size - start).div_ceil(step as usize)),
                _ => (size - 1 - start, (size - start).div_ceil(step.unsigned_abs() as usize)),
            };
            let text = format!("{}{first}::{step}", ":, ".repeat(dim));
            let mut sizes = shape.clone();
            sizes[dim] = count;
            let made = view.picked(sizes, |index| {
                let mut index = index.to_vec();
                index[dim] = (first as i64 + index[dim] as i64 * step) as usize;
                index
            });
            Some((format!("[{text}]"), made))
        }
        Step::Transposed if ndim == 2 => {
            let sizes = shape.iter().rev().copied().collect();
            Some((".T".to_owned(), view.picked(sizes, |index| index.iter().rev().copied().collect())))
        }
        Step::Transposed => None,
        Step::NewAxis { dim } => {
            let dim = dim % (ndim + 1);
            let mut sizes = shape.clone();
            sizes.insert(dim, 1);
            let made = view.picked(sizes, |index| {
                let mut index = index.to_vec();
                index.remove(dim);
                index
            });
            Some((format!("[{}None]", ":, ".repeat(dim)), made))
        }
        Step::Selected { dim, at } => {
            // An array without dimensions would be a number of its own.
            let dim = dim % ndim.max(1);
            if ndim < 2 || at >= shape[dim] {
                return None;
            }
            let mut sizes = shape.clone();
            sizes.remove(dim);
            let made = view.picked(sizes, |index| {
                let mut index = index.to_vec();
                index.insert(dim, at);
                index
            });
            Some((format!("[{}{at}]", ":, ".repeat(dim)), made))
        }
        Step::Reinterpreted => {
            let (last, size) = (*shape.last()?, view.size);
            let name = if size == 2 { "uint8" } else { "int16" };
            let module = if view.is_tensor { "torch" } else { "np" };
            // Only whole rows of neighbours, which start where an element may. For a tensor, that is counted from its storage.
            let rows: Vec<&[usize]> = view.starts.chunks(last.max(1)).collect();
            let dense = |row: &&[usize]| row.windows(2).all(|pair| pair[1] == pair[0] + size);
            let starts_well = |row: &&[usize]| (row[0] - view.storage).is_multiple_of(2);
            if !rows.iter().all(dense) || size == 1 && (last % 2 != 0 || !rows.iter().all(starts_well)) {
                return None;
            }
            // A row of one element can have any stride, and PyTorch looks at it.
            if last < 2 {
                return None;
            }
            let starts = match size {
                2 => view.starts.iter().flat_map(|&start| [start, start + 1]).collect(),
                _ => view.starts.iter().copied().step_by(2).collect(),
            };
            let mut sizes = shape.clone();
            *sizes.last_mut()? = if size == 2 { last * 2 } else { last / 2 };
            let made = View { shape: sizes, starts, size: 3 - size, ..*view };
            Some((format!(".view({module}.{name})"), made))
        }
        Step::Flat if is_dense(view) => {
            let made = View { shape: vec![view.starts.len()], ..view.clone() };
            Some((".reshape(-1)".to_owned(), made))
        }
        Step::Flat => None,
        Step::Crossed => {
            let storage = if view.is_tensor { 0 } else { view.starts[0] };
            let made = View { is_tensor: !view.is_tensor, storage, ..view.clone() };
            Some((if view.is_tensor { ".numpy()" } else { "#from" }.to_owned(), made))
        }
        Step::Repeated if view.is_tensor => {
            let sizes: Vec<usize> = [2].into_iter().chain(shape.iter().copied()).collect();
            let text = format!(".expand({})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
            Some((text, view.picked(sizes, |index| index[1..].to_vec())))
        }
        Step::Repeated => None,
    }
}

/// Returns whether any dimension of an array goes backwards, which no tensor can.
fn goes_backwards(view: &View) -> bool {
    (0..view.shape.len()).any(|dim| {
        let mut next = vec![0; view.shape.len()];
        if view.shape[dim] < 2 {
            return false;
        }
        next[dim] = 1;
        view.starts[place(&view.shape, &next)] < view.starts[0]
    })
}

fn asked(session: &mut Session, line: &str) -> Result<String, String> {
    let outcome = session.eval(Language::Python, line);
    match outcome.error {
        Some(error) => Err(format!("{line}: {}: {}", error.kind, error.message)),
        None => Ok(outcome.text.trim().to_owned()),
    }
}

/// Returns the elements of a view as Python prints `view.tolist()`.
fn listed(view: &View, memory: &[u8]) -> String {
    fn nest(shape: &[usize], numbers: &mut impl Iterator<Item = i64>) -> String {
        match shape.split_first() {
            None => numbers.next().map(|number| number.to_string()).unwrap_or_default(),
            Some((&size, rest)) => {
                format!("[{}]", (0..size).map(|_| nest(rest, numbers)).collect::<Vec<_>>().join(", "))
            }
        }
    }
    let mut numbers = view.starts.iter().map(|&start| match view.size {
        2 => i64::from(i16::from_le_bytes([memory[start], memory[start + 1]])),
        _ => i64::from(memory[start]),
    });
    nest(&view.shape, &mut numbers)
}

fn checked(steps: &[Step], writes: &[(usize, usize, i16)]) -> Result<(), String> {
    let mut session = Session::new(SessionOptions::default());
    asked(&mut session, "import numpy as np, torch")?;
    asked(&mut session, "v0 = np.arange(24, dtype=np.int16).reshape(4, 6)")?;
    let mut memory: Vec<u8> = (0..24i16).flat_map(i16::to_le_bytes).collect();
    let base =
        View { shape: vec![4, 6], starts: (0..24).map(|i| 2 * i).collect(), size: 2, is_tensor: false, storage: 0 };
    let mut views = vec![base];
    for step in steps {
        let last = views.len() - 1;
        let Some((text, made)) = taken(&views[last], step) else { continue };
        let line = match text.as_str() {
            "#from" => format!("v{} = torch.from_numpy(v{last})", last + 1),
            text => format!("v{} = v{last}{text}", last + 1),
        };
        match asked(&mut session, &line) {
            Ok(_) if text == "#from" && goes_backwards(&views[last]) => {
                return Err(format!("v{} goes backwards", last + 1));
            }
            Ok(_) => {}
            // PyTorch also looks at the strides of dimensions of one element, which the model does not have.
            Err(refused) if refused.contains("negative") || refused.contains("self.stride(") => {
                if !goes_backwards(&views[last]) && !views[last].shape.contains(&1) {
                    return Err(refused);
                }
                continue;
            }
            Err(other) => return Err(other),
        }
        views.push(made);
    }
    for &(which, element, value) in writes {
        let which = which % views.len();
        let view = &views[which];
        let at = indices(&view.shape).nth(element % view.starts.len()).unwrap_or_default();
        let start = view.starts[place(&view.shape, &at)];
        let index = at.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let value = if view.size == 2 { i64::from(value) } else { i64::from(value as u8) };
        asked(&mut session, &format!("v{which}[{index}] = {value}"))?;
        memory[start..start + view.size].copy_from_slice(&value.to_le_bytes()[..view.size]);
        for (i, view) in views.iter().enumerate() {
            let (seen, wanted) = (asked(&mut session, &format!("v{i}.tolist()"))?, listed(view, &memory));
            if seen != wanted {
                return Err(format!("after a write to v{which}, v{i} is {seen} instead of {wanted}"));
            }
        }
    }
    for (i, one) in views.iter().enumerate() {
        for (j, other) in views.iter().enumerate() {
            let shares = asked(&mut session, &format!("np.shares_memory(np.asarray(v{i}), np.asarray(v{j}))"))?;
            let wanted = if one.bytes().is_disjoint(&other.bytes()) { "False" } else { "True" };
            if shares != wanted {
                return Err(format!("v{i} and v{j} share memory: {shares} instead of {wanted}"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn writes_are_seen_through_every_view(
        steps in prop::collection::vec(step(), 1..9),
        writes in prop::collection::vec((0..9usize, 0..48usize, any::<i16>()), 1..5),
    ) {
        let run = move || checked(&steps, &writes);
        let result = spawn_with_big_stack("aliasing", run).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let result = result.join().unwrap_or_else(|_| Err("the session panicked".to_owned()));
        prop_assert_eq!(result, Ok(()));
    }
}
