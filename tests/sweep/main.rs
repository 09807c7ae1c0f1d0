//! Checks every function of the table that works element by element, along a dimension or over everything, at sizes
//! around every threshold of `tensor/thresholds.rs`. The results must equal those of the simplest loop, for any number
//! of threads and any vector width.
//!
//! - *Element by element*: compared with the same function on 64 consecutive elements at a time, which cross no
//!   threshold; or on one alone, or 64 times the same, since PyTorch's loops use vectors where possible, and may round
//!   differently there.
//! - *Along a dimension, over everything*: compared with `lines.rs`; sums of floats in PyTorch's order, in `sums.rs`.
//!
//! `cargo test` sweeps a debug build, whose thresholds are small, with a fixed seed. `scripts/house/sweep SEED MINUTES`
//! sweeps a release build for any time.

mod functions;
mod grid;
mod lines;
mod origins;
mod sums;

use functions::{Class, Other, Swept, call};
use grid::{FORMS, Form, Grid, Random, Values, bits, identical, same};
use lines::{Want, wanted};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tensorsh::call::State;
use tensorsh::tensor::thresholds::{ALL, THREAD};
use tensorsh::tensor::{DType, Error, Result, Scalar, Tensor, parallel};
use tensorsh::torch::library::registry;

/// Functions along a dimension or over everything that are not in `lines.rs`. Each is compared with its own result for
/// each line alone.
const ALONE: &[&str] = &[
    // Functions that move elements. The copies themselves are compared element by element.
    "gather",
    "narrow",
    "narrow_copy",
    "repeat_interleave",
    "scatter",
    "scatter_add",
    "select",
    "select_copy",
    "split",
    "split_copy",
    "squeeze_copy",
    "take_along_dim",
    "unbind",
    "unbind_copy",
    "unfold",
    "unfold_copy",
    "unsafe_split",
    "unsqueeze_copy",
    "unique",
    "unique_consecutive",
    // Functions composed of others that are compared.
    "_log_softmax_backward_data",
    "_softmax_backward_data",
    "cond",
    "cosine_similarity",
    "cumulative_trapezoid",
    "diff",
    "dist",
    "matrix_norm",
    "matrix_rank",
    "nanquantile",
    "normalize",
    "tensordot",
    "trace",
    "trapezoid",
    "trapz",
    "vecdot",
    // Another crate computes the lines.
    "fft",
    "fft2",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
];

/// A function called with one tensor.
#[derive(Clone, Debug)]
struct Case {
    swept: Swept,
    dtype: DType,
    form: Form,
    sizes: Vec<i64>,
    dim: Option<usize>,
    seed: u64,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Case { swept, dtype, form, sizes, dim, seed } = self;
        write!(f, "{} of {} {sizes:?} {form:?}, dim {dim:?}, seed {seed}", swept.key, dtype.name())
    }
}

/// Counts of the comparisons.
#[derive(Default)]
struct Tally {
    cases: usize,
    elements: usize,
    refused: usize,
    functions: BTreeSet<&'static str>,
    sizes: BTreeSet<Vec<i64>>,
    dtypes: BTreeSet<DType>,
    forms: BTreeSet<Form>,
    faults: Vec<String>,
}

/// Returns the function's name without its module, its overload and the mark for in-place functions.
fn short(key: &str) -> &str {
    const MODULES: &[&str] = &["fft.", "linalg.", "nn.functional.", "special."];
    let path = MODULES.iter().find_map(|module| key.strip_prefix(module)).unwrap_or(key);
    let name = path.split('.').next().unwrap_or(path);
    name.strip_suffix('_').unwrap_or(name)
}

/// Returns a size, usually at a threshold or a fraction of one.
fn size(random: &mut Random, most: usize) -> usize {
    let around = |threshold: usize, random: &mut Random| {
        let part = threshold / random.choose(&[1, 1, 1, 2, 3, 4, 8]);
        (part + random.below(3)).saturating_sub(1)
    };
    match random.below(10) {
        0 => random.below(9),
        1 | 2 => (most as f64).powf(random.unit()) as usize,
        _ => {
            let near: Vec<usize> = ALL.iter().map(|(_, size)| *size).filter(|size| *size <= 2 * most).collect();
            around(random.choose(&near), random)
        }
    }
    .min(most)
}

fn sizes(random: &mut Random, class: Class) -> Vec<i64> {
    let most = match (cfg!(debug_assertions), random.below(100), class) {
        (true, 0..60, _) => 1 << 11,
        (true, 60..97, _) => 1 << 13,
        (true, ..) => 1 << 17,
        (false, 0..40, _) => 1 << 14,
        (false, 40..85, _) => (1 << 18) + 2,
        (false, 99.., Class::Lines | Class::All) => (1 << 22) + 5,
        (false, ..) => 1_000_003,
    };
    let long = size(random, most);
    if random.below(3) == 0 {
        return vec![long as i64];
    }
    let short = random.choose(&[1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 1025]);
    let short = short.min(most / long.max(1)).max(1);
    if random.below(2) == 0 { vec![long as i64, short as i64] } else { vec![short as i64, long as i64] }
}

impl Case {
    fn new(swept: &Swept, random: &mut Random) -> Case {
        let sizes = sizes(random, swept.class);
        let dim = (swept.class == Class::Lines).then(|| random.below(sizes.len()));
        let dtype = random.choose(DType::ALL);
        Case { swept: swept.clone(), dtype, form: random.choose(FORMS), sizes, dim, seed: random.next() >> 16 }
    }

    fn values(&self, random: &mut Random) -> Values {
        let name = short(self.swept.key);
        let by_order = ["any", "all", "max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "cummax", "cummin"];
        let skips = ["count_nonzero", "median", "nanmedian", "nansum", "nanmean", "kthvalue", "sort", "msort", "topk"];
        match self.swept.class {
            _ if name.contains("prod") => Values::NearOne,
            Class::Elementwise if random.below(3) == 0 => Values::Special,
            _ if (by_order.contains(&name) || skips.contains(&name)) && random.below(2) == 0 => Values::Special,
            _ => Values::Mixed,
        }
    }

    /// Returns the tensors of the call, known element by element.
    fn grids(&self) -> Vec<Grid> {
        let mut random = Random::new(self.seed);
        let values = self.values(&mut random);
        let mut grids = vec![Grid::new(self.dtype, &self.sizes, self.form, values, &mut random)];
        for other in &self.swept.others {
            // It may have another layout.
            let form = if random.below(2) == 0 { self.form } else { random.choose(FORMS) };
            let values = if *other == Other::Same { values } else { Values::NearOne };
            grids.push(Grid::new(other.dtype(self.dtype), &self.sizes, form, values, &mut random));
        }
        grids
    }

    /// Runs the case with vectors of at most `width` bits; 0 means the widest available.
    fn run(&self, state: &State, grids: &[Grid], cores: usize, width: usize) -> Result<Vec<Tensor>> {
        let given: Vec<Tensor> = grids.iter().map(Grid::tensor).collect();
        parallel::set_cores(cores);
        parallel::set_width(width);
        let results = call(state, self.swept.key, &given, self.dim.map(|dim| dim as i64));
        parallel::set_cores(1);
        parallel::set_width(0);
        results
    }

    /// Compares the results. Returns the number of elements compared, or `None` if the function rejects such tensors.
    fn check(&self, state: &State) -> std::result::Result<Option<usize>, String> {
        let grids = self.grids();
        if self.swept.in_place && !self.form.is_distinct() {
            return Ok(None);
        }
        let results = match self.run(state, &grids, 1, 0) {
            Ok(results) => results,
            Err(error) => return self.refused(state, &error).map(|()| None),
        };
        let plain: Vec<Vec<u128>> = results.iter().map(|result| bits(&result.view())).collect();
        let elements = grids[0].elements.len();
        // Without explicit vectors a kernel may take long, so use one of three widths.
        let widths = [128, 256, 0];
        let all = [2, 3, 7].map(|cores| (cores, widths[(elements + cores) % 3]));
        let some = if elements >= THREAD { &all[..] } else { &all[elements % 3..][..1] };
        for &(cores, width) in some {
            let how = format!("{cores} threads, vectors of {width} bits (0: any)");
            let again = self.run(state, &grids, cores, width).map_err(|error| format!("{how}: {error}"))?;
            assert_eq!(again.len(), plain.len());
            for (result, plain) in again.iter().zip(&plain) {
                let (dtype, found) = (result.view().dtype, bits(&result.view()));
                if found.len() != plain.len() {
                    return Err(format!("{how}: {} elements instead of {}", found.len(), plain.len()));
                }
                if let Some(i) = found.iter().zip(plain).position(|(&a, &b)| !identical(dtype, a, b)) {
                    let elements = grid::decode(dtype, &[found[i], plain[i]]);
                    return Err(format!("{how}: element {i}: {:?} instead of {:?}", elements[0], elements[1]));
                }
            }
        }
        match self.swept.class {
            Class::Elementwise => self.compare_elements(state, &grids, &results, &plain)?,
            Class::Lines | Class::All => self.compare_lines(state, &grids, &results, &plain)?,
        }
        Ok(Some(plain.iter().map(Vec::len).sum()))
    }

    /// Checks that a case rejected at this size is rejected at a small size too.
    fn refused(&self, state: &State, error: &Error) -> std::result::Result<(), String> {
        let small = Case { sizes: self.sizes.iter().map(|&size| size.min(4)).collect(), ..self.clone() };
        match small.run(state, &small.grids(), 1, 0) {
            // A division by zero and an index out of bounds depend on elements, not on sizes. PyTorch sorts long lines by
            // a function that has no unsigned integers of several bytes.
            Ok(_)
                if error.message != "ZeroDivisionError"
                    && !["out of bounds", "parallel_sort1d_kernel"].iter().any(|part| error.message.contains(part)) =>
            {
                Err(format!("refused at this size only: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the results of the function for some elements in a row.
    fn part(&self, state: &State, grids: &[Grid], places: &[usize]) -> std::result::Result<Vec<Vec<u128>>, String> {
        let given: Vec<Tensor> = grids.iter().map(|grid| grid.part(places)).collect();
        let results = call(state, self.swept.key, &given, None).map_err(|e| format!("in parts: {e}"))?;
        Ok(results.iter().map(|result| bits(&result.view())).collect())
    }

    fn compare_elements(
        &self,
        state: &State,
        grids: &[Grid],
        results: &[Tensor],
        got: &[Vec<u128>],
    ) -> std::result::Result<(), String> {
        let count = grids[0].elements.len();
        for start in (0..count).step_by(64) {
            let end = count.min(start + 64);
            // PyTorch treats a single element as a number, for which other rules apply.
            let places: Vec<usize> = (if end - start == 1 { start.saturating_sub(1) } else { start }..end).collect();
            let wanted = self.part(state, grids, &places)?;
            for (k, wanted) in wanted.iter().enumerate() {
                let dtype = results[k].view().dtype;
                for (&place, &wanted) in places.iter().zip(wanted) {
                    let found = got[k][place];
                    // The element may be in a vector on one side and in the remainder on the other. Steps of a complex
                    // formula may even differ individually.
                    let steps = dtype.is_complex() && self.swept.key.contains("_backward");
                    let alike = |places: &[usize]| -> std::result::Result<bool, String> {
                        let other = self.part(state, grids, places)?[k][0];
                        Ok(same(dtype, found, other) || steps && functions::near(dtype, found, other))
                    };
                    if !same(dtype, found, wanted) && !alike(&[place])? && !alike(&[place; 64])? {
                        let [found, wanted] = [found, wanted].map(|bits| grid::decode(dtype, &[bits])[0]);
                        return Err(format!("element {place}: {found:?} instead of {wanted:?}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the results of the function for one line.
    fn alone(&self, state: &State, grids: &[Grid], line: &[usize]) -> std::result::Result<Vec<Want>, String> {
        let given: Vec<Tensor> = grids.iter().map(|grid| grid.part(line)).collect();
        let results = call(state, self.swept.key, &given, Some(0)).map_err(|error| format!("a line alone: {error}"))?;
        let elements = |result: &Tensor| grid::decode(result.view().dtype, &bits(&result.view()));
        Ok(results.iter().map(|result| Want::Nearly(elements(result))).collect())
    }

    fn compare_lines(
        &self,
        state: &State,
        grids: &[Grid],
        results: &[Tensor],
        got: &[Vec<u128>],
    ) -> std::result::Result<(), String> {
        let (name, grid) = (short(self.swept.key), &grids[0]);
        let elements = sums::numbers(grid);
        let (width, height) = (*self.sizes.last().unwrap_or(&1) as usize, elements.len());
        let height = height.checked_div(width).unwrap_or(0);
        if elements.is_empty() {
            return Ok(());
        }
        // The positions of each line, and where its results begin and how far apart they are.
        let lines: Vec<Vec<usize>> = match self.dim {
            None => vec![(0..elements.len()).collect()],
            Some(dim) if dim + 1 == self.sizes.len() => {
                (0..height).map(|i| (i * width..(i + 1) * width).collect()).collect()
            }
            Some(_) => (0..width).map(|j| (0..height).map(|i| i * width + j).collect()).collect(),
        };
        let floats = self.dtype.is_floating_point() || self.dtype.is_complex();
        let in_order = match name {
            "sum" | "nansum" => floats,
            "mean" => matches!(self.dtype, DType::Float | DType::Double),
            _ => false,
        };
        let in_order: Option<Vec<Scalar>> = in_order.then(|| {
            let nan = |value: &Scalar| value.to_complex().re.is_nan() || value.to_complex().im.is_nan();
            let counted: Vec<Scalar> = elements
                .iter()
                .map(|value| if name == "nansum" && nan(value) { Scalar::Float(0.0) } else { *value })
                .collect();
            let sums = sums::sums(grid, &counted, self.dim);
            if name == "mean" { sums::means(self.dtype, sums, lines[0].len()) } else { sums }
        });
        for (n, places) in lines.iter().enumerate() {
            let line: Vec<Scalar> = places.iter().map(|&place| elements[place]).collect();
            let wants = match &in_order {
                Some(sums) => vec![Want::Exactly(vec![sums[n]])],
                None => match wanted(name, self.dtype, &line) {
                    Some(wants) => wants,
                    None if lines.len() > 1 && lines.len() <= 300 => self.alone(state, grids, places)?,
                    None => return Ok(()),
                },
            };
            for ((result, got), want) in results.iter().zip(got).zip(wants) {
                let count = got.len() / lines.len();
                let by_columns = self.dim.is_some_and(|dim| dim + 1 < self.sizes.len());
                let found: Vec<u128> = match by_columns {
                    false => got[n * count..(n + 1) * count].to_vec(),
                    true => got.iter().skip(n).step_by(lines.len()).copied().collect(),
                };
                let dtype = result.view().dtype;
                compare(dtype, self.dtype, &line, &grid::decode(dtype, &found), want)
                    .map_err(|e| format!("line {n}: {e}"))?;
            }
        }
        Ok(())
    }
}

fn compare(dtype: DType, of: DType, line: &[Scalar], found: &[Scalar], want: Want) -> std::result::Result<(), String> {
    let nan = |value: &Scalar| value.to_complex().re.is_nan() || value.to_complex().im.is_nan();
    let equal = |a: &Scalar, b: &Scalar| a == b || a.to_complex() == b.to_complex() || nan(a) && nan(b);
    let at = |place: &Scalar| line.get(place.to_i64() as usize).copied();
    match want {
        Want::Exactly(wanted) => {
            let wanted = grid::decode(dtype, &grid::encode(dtype, &wanted));
            if wanted.len() != found.len() {
                return Err(format!("{} results instead of {}", found.len(), wanted.len()));
            }
            match found.iter().zip(&wanted).position(|(found, wanted)| !equal(found, wanted)) {
                Some(i) => Err(format!("result {i}: {:?} instead of {:?}", found[i], wanted[i])),
                None => Ok(()),
            }
        }
        Want::Nearly(wanted) => {
            // Values too large for the dtype are infinite in both.
            let wanted = grid::decode(dtype, &grid::encode(dtype, &wanted));
            // Most results are equal. For a function with a result per element, only unequal ones need a look at the
            // whole line.
            if found.len() == wanted.len() && found.iter().zip(&wanted).all(|(found, wanted)| equal(found, wanted)) {
                return Ok(());
            }
            // Rounding errors partly cancel, but less so if values repeat.
            let alike = line.iter().filter(|&value| equal(value, &line[0])).count();
            let roundings = if alike * 16 > line.len() { line.len() as f64 } else { (line.len() as f64).sqrt() };
            let epsilon = match of {
                DType::Half | DType::ComplexHalf => 1e-3,
                DType::BFloat16 => 8e-3,
                DType::Double | DType::ComplexDouble if dtype != DType::Float => 1e-15,
                _ => 1.2e-7,
            };
            let close = |found: &Scalar, wanted: &Scalar| {
                let (found, wanted) = (found.to_complex(), wanted.to_complex());
                let room = epsilon * 4.0 * (2.0 + roundings) * (1.0 + wanted.norm());
                (found - wanted).norm().partial_cmp(&room) != Some(std::cmp::Ordering::Greater)
                    && nan(&Scalar::Complex(found)) == nan(&Scalar::Complex(wanted))
            };
            match found.iter().zip(&wanted).position(|(found, wanted)| !equal(found, wanted) && !close(found, wanted)) {
                Some(i) => Err(format!("result {i}: {:?} instead of about {:?}", found[i], wanted[i])),
                None => Ok(()),
            }
        }
        Want::At(values) => {
            let right = |(place, value): (&Scalar, &Scalar)| at(place).is_some_and(|there| equal(&there, value));
            match found.iter().zip(&values).position(|pair| !right(pair)) {
                Some(i) => Err(format!("result {i}: place {:?}, where {:?} is not", found[i], values[i])),
                None => Ok(()),
            }
        }
        Want::Ordered { descending } => {
            let mut places: Vec<i64> = found.iter().map(|place| place.to_i64()).collect();
            let values: Vec<Scalar> = found.iter().filter_map(at).collect();
            let ordered = values.windows(2).all(|pair| match descending {
                false => !lines::before(&pair[1], &pair[0]),
                true => !lines::before(&pair[0], &pair[1]),
            });
            places.sort();
            let each_once =
                places.iter().enumerate().all(|(i, &place)| i as i64 == place) && places.len() == line.len();
            if ordered && each_once {
                Ok(())
            } else {
                Err("these places are not in the order of the values".to_owned())
            }
        }
    }
}

/// Sweeps on two threads: `rounds` cases of every function, or as many as the time allows.
fn sweep(seed: u64, rounds: usize, time: Option<Duration>) -> Tally {
    let (tally, next, began) = (Mutex::new(Tally::default()), AtomicUsize::new(0), Instant::now());
    let work = || {
        let state = State::new(registry(), None);
        parallel::set_cores(1);
        let (swept, _) = functions::sweepable(&state);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if time.map_or(number >= rounds * swept.len(), |time| began.elapsed() > time) {
                return;
            }
            let case = Case::new(&swept[number % swept.len()], &mut Random::new(seed.wrapping_add(number as u64 + 1)));
            let checked = catch_unwind(AssertUnwindSafe(|| case.check(&state)));
            let mut tally = tally.lock().unwrap();
            tally.cases += 1;
            match checked {
                Ok(Ok(Some(elements))) => {
                    tally.elements += elements;
                    tally.functions.insert(case.swept.key);
                    tally.sizes.insert(case.sizes);
                    tally.dtypes.insert(case.dtype);
                    tally.forms.insert(case.form);
                }
                Ok(Ok(None)) => tally.refused += 1,
                Ok(Err(fault)) => tally.faults.push(format!("{case}: {fault}")),
                Err(_) => tally.faults.push(format!("{case}: panic")),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).unwrap();
        }
    });
    tally.into_inner().unwrap()
}

impl Tally {
    fn report(&self) -> String {
        format!(
            "{} calls of {} functions, {} sizes, {} dtypes, {} layouts: {} elements compared, {} calls refused, {} differences\n{}",
            self.cases,
            self.functions.len(),
            self.sizes.len(),
            self.dtypes.len(),
            self.forms.len(),
            self.elements,
            self.refused,
            self.faults.len(),
            self.faults.iter().take(60).cloned().collect::<Vec<_>>().join("\n"),
        )
    }
}

#[test]
fn no_size_changes_a_result() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
    let time = number("SWEEP_MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    let tally = sweep(number("SWEEP_SEED").unwrap_or(1), number("SWEEP_ROUNDS").unwrap_or(12) as usize, time);
    println!("{}", tally.report());
    assert!(tally.faults.is_empty(), "{}", tally.report());
}

#[test]
fn what_is_swept_is_known() {
    let state = State::new(registry(), None);
    let (swept, others) = functions::sweepable(&state);
    let count = |class: Class| swept.iter().filter(|swept| swept.class == class).count();
    let counts = [Class::Elementwise, Class::Lines, Class::All].map(count);
    println!("{counts:?} of {}", swept.len() + others.len());
    println!("neither: {}", others.join(" "));
    let line: Vec<Scalar> = (1..6).map(|i| Scalar::Float(f64::from(i))).collect();
    let unknown: Vec<&str> = swept
        .iter()
        .filter(|swept| swept.class != Class::Elementwise)
        .filter(|swept| wanted(short(swept.key), DType::Float, &line).is_none() && !ALONE.contains(&short(swept.key)))
        .map(|swept| swept.key)
        .collect();
    assert!(unknown.is_empty(), "say in lines.rs what these give: {unknown:?}");
}
