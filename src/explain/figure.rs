//! Figures of a tensor's numbers: their distribution (`hist`), their course (`spark`) and their layout in a matrix
//! (`heat`). Elements are read in place, in several passes and without a copy, so the memory needed does not grow with
//! the tensor.

use super::element::rounded;
use super::quantiles::quantiles;
use super::residents::index_of;
use super::scene::{
    Bar, Bars, Block, Ink, Level, Levels, Scene, Shape, Span, counted, grouped, index_text, list, span,
};
use super::tensors::title;
use crate::format::float_repr;
use tensor::dispatch;
use tensor::memory::get;
use tensor::{Category, DType, Dims, Element, Result, Scalar, View, interrupt};

/// The approximate number of bins if none is given.
const BINS: f64 = 12.0;
/// The quantiles to report, in percent.
const QUANTILES: [u32; 5] = [5, 25, 50, 75, 95];
/// The number of positions to report for NaN and for infinities.
const PLACES: usize = 4;
/// The number of digits for numbers that are far apart.
const DIGITS: usize = 5;
/// The maximum number of rows and columns of cells. Further elements are averaged.
const ROWS: usize = 16;
const SPARK_COLUMNS: usize = 120;
const HEAT_COLUMNS: usize = 64;

/// The kinds of elements that are not finite, each with its sign in figures.
const KINDS: [(&str, char); 3] = [("nan", 'n'), ("inf", '+'), ("-inf", '-')];

fn kind(value: f64) -> Option<usize> {
    match value {
        value if value.is_nan() => Some(0),
        f64::INFINITY => Some(1),
        f64::NEG_INFINITY => Some(2),
        _ => None,
    }
}

/// Calls `body` with every element in reading order. A complex element is passed by magnitude.
pub(super) fn for_each_element(view: &View, mut body: impl FnMut(usize, f64)) -> Result<()> {
    let memory = view.memory()?;
    let sign = if view.neg { -1.0 } else { 1.0 };
    dispatch!(view.dtype, T => {
        let cells = memory.typed::<T>();
        for (number, at) in view.layout.offsets().enumerate() {
            let value = cells.get(at as usize).map(get).unwrap_or_default();
            body(number, match Element::load(value) {
                Scalar::Complex(value) => value.norm(),
                value => sign * value.to_f64(),
            });
        }
    });
    // The loop ends early after an interrupt.
    interrupt::check()
}

/// The statistics from one pass over the elements.
struct Summary {
    finite: u64,
    min: f64,
    max: f64,
    mean: f64,
    /// For each kind of non-finite element: how many there are, and the positions of the first.
    others: [(u64, Vec<usize>); 3],
}

impl Summary {
    fn of(view: &View) -> Result<Summary> {
        let others = Default::default();
        let mut all = Summary { finite: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, mean: 0.0, others };
        // Dividing before adding avoids overflow to infinity, but rounds each number.
        let count = view.numel().max(1) as f64;
        let (mut sum, mut divided) = (0.0, 0.0);
        for_each_element(view, |number, value| match kind(value).and_then(|kind| all.others.get_mut(kind)) {
            Some((count, places)) => {
                *count += 1;
                if places.len() < PLACES {
                    places.push(number);
                }
            }
            None => {
                all.finite += 1;
                all.min = all.min.min(value);
                all.max = all.max.max(value);
                sum += value;
                divided += value / count;
            }
        })?;
        if all.finite > 0 {
            let finite = all.finite as f64;
            let mean = if sum.is_finite() { sum / finite } else { divided * (count / finite) };
            all.mean = mean.clamp(all.min, all.max);
        }
        Ok(all)
    }

    /// Maps a finite value to a fraction: 0 is the minimum, 1 the maximum.
    fn fraction(&self, value: f64) -> f64 {
        let range = self.max - self.min;
        if range == 0.0 {
            0.5
        } else if range.is_finite() {
            (value - self.min) / range
        } else {
            (value / 2.0 - self.min / 2.0) / (self.max / 2.0 - self.min / 2.0)
        }
    }

    /// Formats a number with enough digits to distinguish it from others between minimum and maximum. An integer of an
    /// integer dtype is written without a point.
    fn shown(&self, value: f64, dtype: DType) -> String {
        if is_whole(dtype) && value.fract() == 0.0 && value.abs() < 1e5 {
            return format!("{value}");
        }
        let closeness = self.min.abs().max(self.max.abs()) / (self.max - self.min);
        float_repr(rounded(value, DIGITS + closeness.log10().clamp(0.0, 12.0) as usize))
    }

    /// Maps a fraction to a value: the inverse of [`Summary::fraction`].
    fn value(&self, fraction: f64) -> f64 {
        self.min * (1.0 - fraction) + self.max * fraction
    }

    /// Describes NaN and infinities, if there are any.
    fn others(&self, view: &View) -> Vec<(String, Span)> {
        let told = self.others.iter().zip(KINDS).filter(|((count, _), _)| *count > 0);
        let fact = |((count, places), (name, _)): (&(u64, Vec<usize>), (&str, char))| {
            let at: Vec<_> = places.iter().map(|place| list(&index_at(view, *place))).collect();
            let more = count.saturating_sub(places.len() as u64);
            let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
            (name.to_owned(), span(Ink::Fault, format!("{}, at {}{more}", grouped(*count), at.join(", "))))
        };
        told.map(fact).collect()
    }
}

/// Converts an element's position in reading order to its index.
fn index_at(view: &View, number: usize) -> Dims {
    index_of(i64::try_from(number).unwrap_or(i64::MAX), view.sizes())
}

fn is_whole(dtype: DType) -> bool {
    matches!(dtype.category(), Category::Bool | Category::Integral)
}

/// Starts the scene of a figure, with its introduction. An empty tensor has nothing to draw.
fn introduction(view: &View, of: DType) -> Scene {
    let mut scene = Scene::new(title(view, of));
    if of.is_quantized() {
        scene.note(Ink::Label, "Quantized elements are drawn as the numbers they represent.");
    }
    if of.is_complex() {
        scene.note(Ink::Label, "Complex values are drawn by magnitude.");
    }
    if view.numel() == 0 {
        scene.note(Ink::Plain, "There are no elements.");
    }
    scene
}

/// Draws the distribution of the elements. `of` is their dtype before dequantization.
///
/// # Errors
/// The errors of [`View::memory`], and KeyboardInterrupt.
pub fn hist(view: &View, of: DType, bins: Option<usize>) -> Result<Scene> {
    let mut scene = introduction(view, of);
    if view.numel() == 0 {
        return Ok(scene);
    }
    let all = Summary::of(view)?;
    let mut facts = Vec::new();
    if all.finite > 0 {
        let [min, max, mean] = [all.min, all.max, all.mean].map(|value| all.shown(value, view.dtype));
        let text = format!("{}, from {min} to {max}, mean {mean}", grouped(all.finite));
        facts.push(("finite".to_owned(), span(Ink::Plain, text)));
        let found = quantiles(view, all.finite, &QUANTILES.map(|percent| f64::from(percent) / 100.0))?;
        let told: Vec<_> = QUANTILES
            .iter()
            .zip(found)
            .map(|(percent, value)| format!("{percent}% {}", all.shown(value, view.dtype)))
            .collect();
        facts.push(("quantiles".to_owned(), span(Ink::Plain, told.join(", "))));
    }
    facts.extend(all.others(view));
    scene.facts(facts);
    let edges = Edges::of(&all, view.dtype, bins);
    let mut counts = vec![0u64; edges.count()];
    for_each_element(view, |_, value| {
        if let Some(count) = edges.bin(value).and_then(|bin| counts.get_mut(bin)) {
            *count += 1;
        }
    })?;
    let others = all.others.iter().zip(KINDS).filter(|((count, _), _)| *count > 0);
    let names = (0..edges.count()).map(|bin| (edges.name(bin, &all), Ink::Shown));
    let names = names.chain(others.clone().map(|(_, (name, _))| (name.to_owned(), Ink::Fault)));
    let counts: Vec<u64> = counts.into_iter().chain(others.map(|((count, _), _)| *count)).collect();
    let row =
        |((name, ink), &count): ((String, Ink), &u64)| Bar { name, text: grouped(count), start: 0, end: count, ink };
    let rows = names.zip(&counts).map(row).collect();
    scene.heading(format!("{} in each bin", if of.is_complex() { "Magnitudes" } else { "Elements" }));
    scene.blocks.push(Block::Bars(Bars { total: counts.iter().copied().max().unwrap_or_default(), rows }));
    Ok(scene)
}

/// The edges of a histogram's bins.
enum Edges {
    /// One bin per integer, starting at `first`.
    Single { first: f64, count: usize, dtype: DType },
    /// Each bin includes its lower edge; the last also includes its upper edge.
    Between(Vec<f64>),
}

impl Edges {
    fn of(all: &Summary, dtype: DType, bins: Option<usize>) -> Edges {
        let (min, max) = (all.min, all.max);
        if all.finite == 0 {
            return Edges::Between(Vec::new());
        }
        if bins.is_none() && dtype == DType::Bool {
            return Edges::Single { first: 0.0, count: 2, dtype };
        }
        if min == max || bins.is_none() && is_whole(dtype) && max - min < 2.0 * BINS {
            return Edges::Single { first: min, count: (max - min) as usize + 1, dtype };
        }
        if bins.is_none()
            && let Some(edges) = round_edges(min, max)
        {
            return Edges::Between(edges);
        }
        let count = bins.unwrap_or(BINS as usize);
        // Computed as weighted means, because the difference may overflow.
        let edge = |i: usize| {
            let part = i as f64 / count as f64;
            min * (1.0 - part) + max * part
        };
        let mut edges: Vec<f64> = (0..=count).map(edge).collect();
        // There may be fewer numbers than bins.
        edges.dedup();
        Edges::Between(edges)
    }

    fn count(&self) -> usize {
        match self {
            Edges::Single { count, .. } => *count,
            Edges::Between(edges) => edges.len().saturating_sub(1),
        }
    }

    fn bin(&self, value: f64) -> Option<usize> {
        match self {
            _ if !value.is_finite() => None,
            Edges::Single { first, .. } => Some((value - first) as usize),
            Edges::Between(edges) => {
                let below = edges.partition_point(|edge| *edge <= value);
                Some(below.clamp(1, self.count().max(1)) - 1)
            }
        }
    }

    fn name(&self, bin: usize, all: &Summary) -> String {
        match self {
            Edges::Single { dtype: DType::Bool, first, .. } => {
                if first + bin as f64 == 0.0 { "False" } else { "True" }.to_owned()
            }
            Edges::Single { first, dtype, .. } => all.shown(first + bin as f64, *dtype),
            Edges::Between(edges) => {
                let at = |at: usize| edges.get(at).copied().unwrap_or_default();
                // Use enough digits to distinguish neighbouring edges.
                let widest = at(0).abs().max(at(self.count()).abs());
                let digits = (widest / (at(1) - at(0))).log10().ceil().clamp(0.0, 15.0) as usize + 2;
                // An edge close to 0, compared with the bin width, is 0.
                let nearly = (at(1) - at(0)) * 1e-9;
                let text = |edge: f64| float_repr(if edge.abs() < nearly { 0.0 } else { rounded(edge, digits) });
                let close = if bin + 1 == self.count() { ']' } else { ')' };
                format!("[{}, {}{close}", text(at(bin)), text(at(bin + 1)))
            }
        }
    }
}

/// Returns edges that are multiples of 1, 2 or 5 times a power of ten. `None` if the numbers are too close together or
/// too far apart.
fn round_edges(min: f64, max: f64) -> Option<Vec<f64>> {
    let least = (max - min) / BINS;
    let power = least.log10().floor();
    let unit = 10f64.powf(power);
    if !unit.is_normal() || min.abs().max(max.abs()) / unit > 1e12 {
        return None;
    }
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * unit >= least)?;
    // Positive powers of ten are exact; their inverses often are not.
    let at = |i: f64| if power < 0.0 { i * step / 10f64.powf(-power) } else { i * step * unit };
    let (mut first, mut last) = ((min / (step * unit)).floor(), (max / (step * unit)).ceil());
    // Rounding may leave the extremes just outside.
    first -= f64::from(u8::from(at(first) > min));
    last += f64::from(u8::from(at(last) < max));
    Some((0..=(last - first) as usize).map(|i| at(first + i as f64)).collect())
}

/// Draws the course of the elements: each row as a line of heights.
///
/// # Errors
/// The errors of [`View::memory`], and KeyboardInterrupt.
pub fn spark(view: &View, of: DType) -> Result<Scene> {
    levels(view, of, Shape::Heights, SPARK_COLUMNS)
}

/// Draws the elements of a matrix as shades. The dimensions before the last are its rows.
///
/// # Errors
/// The errors of [`View::memory`], and KeyboardInterrupt.
pub fn heat(view: &View, of: DType) -> Result<Scene> {
    levels(view, of, Shape::Shades, HEAT_COLUMNS)
}

/// The elements combined in one cell of a figure.
#[derive(Clone, Copy, Default)]
struct FigureCell {
    sum: f64,
    count: u64,
    /// The first kind of non-finite element in the cell.
    fault: Option<usize>,
}

impl FigureCell {
    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

fn levels(view: &View, of: DType, shape: Shape, most_columns: usize) -> Result<Scene> {
    let mut scene = introduction(view, of);
    if view.numel() == 0 {
        return Ok(scene);
    }
    let all = Summary::of(view)?;
    let length = |size: i64| usize::try_from(size).unwrap_or(usize::MAX);
    let across = view.sizes().last().map_or(1, |size| length(*size));
    let down = length(view.numel()) / across;
    let (rows, columns) = (down.min(ROWS), across.min(most_columns));
    let part = |at: usize, of: usize, into: usize| (at as u128 * into as u128 / of as u128) as usize;
    let mut cells = vec![FigureCell::default(); rows * columns];
    for_each_element(view, |number, value| {
        let at = part(number / across, down, rows) * columns + part(number % across, across, columns);
        let Some(cell) = cells.get_mut(at) else { return };
        match kind(value) {
            Some(kind) => cell.fault = Some(cell.fault.map_or(kind, |before| before.min(kind))),
            None => {
                cell.sum += all.fraction(value);
                cell.count += 1;
            }
        }
    })?;
    let mut facts = Vec::new();
    if all.finite > 0 {
        let [min, max] = [all.min, all.max].map(|value| all.shown(value, view.dtype));
        facts.push(("range".to_owned(), span(Ink::Plain, format!("{min} to {max}"))));
    }
    // Means are closer together than elements, so scale to the minimum and maximum of the means.
    let drawn = cells.iter().filter(|cell| cell.fault.is_none()).map(FigureCell::mean);
    let (least, most) = (drawn.clone().fold(1.0, f64::min), drawn.fold(0.0, f64::max));
    if rows < down || columns < across {
        let (tall, wide) = (down.div_ceil(rows) as u64, across.div_ceil(columns) as u64);
        let of = match (tall, wide) {
            (1, wide) => counted(wide, "element"),
            (tall, 1) => format!("{}, one below the other", counted(tall, "element")),
            (tall, wide) => format!("{} by {} elements", grouped(tall), grouped(wide)),
        };
        let range = match least <= most {
            true => {
                let [least, most] = [least, most].map(|part| all.shown(all.value(part), view.dtype));
                format!(", from {least} to {most}")
            }
            false => String::new(),
        };
        facts.push(("cells".to_owned(), span(Ink::Plain, format!("means of up to {of}{range}"))));
    }
    facts.extend(all.others(view));
    scene.facts(facts);
    let level = |cell: &FigureCell| match cell.fault.and_then(|kind| KINDS.get(kind)) {
        Some((_, sign)) => Level::Fault(*sign),
        None if least < most => Level::Of(((cell.mean() - least) / (most - least)) as f32),
        None => Level::Of(0.5),
    };
    // A row of cells is labelled with the index of its first element, without the last dimension.
    let name = |row: usize| match index_at(view, (row * down).div_ceil(rows) * across).split_last() {
        Some((_, leading)) if !leading.is_empty() => index_text(leading),
        _ => String::new(),
    };
    let drawn = cells.chunks(columns).enumerate();
    let drawn = drawn.map(|(row, cells)| (name(row), cells.iter().map(level).collect()));
    scene.blocks.push(Block::Levels(Levels { shape, rows: drawn.collect() }));
    if all.others.iter().any(|(count, _)| *count > 0) {
        scene.note(Ink::Fault, "n marks cells with NaN, + and - cells with infinities");
    }
    Ok(scene)
}
