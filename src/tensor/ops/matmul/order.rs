//! The order in which products compute one element of their result, written to a [`Tape`]. This is the slow twin of
//! `product`, `vector` and `tiles`: one lane at a time, and one number at a time. Its last number is the element.

use super::halves::has_own_loop;
use super::product::{SMALL, SMALL_COLUMN, Sums};
use super::{Factors, is_column_major};
use crate::ops::check::resolved;
use crate::ops::copy::cast;
use crate::ops::number::compute_dtype;
use crate::tape::{LONGEST, Stage, Tape, Term};
use crate::{DType, Layout, Memory, Result, Scalar, View};
use std::rc::Rc;

/// Writes what [`dot`](super::dot) computes. `None` if the order is not known.
///
/// # Errors
/// MemoryError.
pub fn dot(a: &View, b: &View) -> Result<Option<Tape>> {
    let size = a.numel().max(0) as usize;
    let Some(mut writer) = Writer::new([a, b], [[0, 0], [0, 0]], size)? else { return Ok(None) };
    if a.dtype.is_reduced_floating_point() {
        writer.product = a.dtype;
        let total = writer.in_turn(None, 0..size);
        return writer.finish(total);
    }
    let total = match writer.dtype {
        DType::Float => writer.library_dot(size, 4),
        DType::Double => writer.library_dot(size, 2),
        _ => writer.in_turn(None, 0..size),
    };
    writer.finish(total)
}

/// Writes what [`mv`](super::mv) computes for row `row`.
///
/// # Errors
/// MemoryError.
pub fn mv(a: &View, v: &View, row: i64) -> Result<Option<Tape>> {
    let &[rows, columns] = a.sizes() else { return Ok(None) };
    let [n, m] = [rows, columns].map(|size| size.max(0) as usize);
    let plain = Factors { beta: Scalar::Int(0), alpha: Scalar::Int(1) };
    let Some(mut writer) = Writer::new([a, v], [[0, row], [0, 0]], m)? else { return Ok(None) };
    if has_own_loop(a, v, plain) {
        if !is_column_major(a) {
            writer.product = a.dtype;
        }
        let total = writer.in_turn(None, 0..m);
        return writer.finish(total);
    }
    let sums = if n == 1 && is_column_major(a) { Sums::Library } else { Sums::Vector };
    let matrix = v.with_layout(v.layout.unsqueeze(1)?);
    writer.one([n, m, 1], [row as usize, 0], [strides(a)?, strides(&matrix)?], sums)
}

/// Writes what [`mm`](super::mm) computes for the element in a row and a column.
///
/// # Errors
/// MemoryError.
pub fn mm(a: &View, b: &View, [row, column]: [i64; 2]) -> Result<Option<Tape>> {
    matrices(a, b, [row, column], [strides(a)?, strides(b)?], false)
}

/// Writes what [`bmm`](super::bmm) computes for the element in a row and a column of a matrix.
///
/// # Errors
/// MemoryError.
pub fn bmm(a: &View, b: &View, [matrix, row, column]: [i64; 3]) -> Result<Option<Tape>> {
    let of_batch = |view: &View| view.with_layout(view.layout.select(0, matrix));
    matrices(&of_batch(a), &of_batch(b), [row, column], [strides(a)?, strides(b)?], true)
}

fn matrices(
    a: &View,
    b: &View,
    [row, column]: [i64; 2],
    strides: [[usize; 2]; 2],
    in_batch: bool,
) -> Result<Option<Tape>> {
    let (&[n, m], &[_, p]) = (a.sizes(), b.sizes()) else { return Ok(None) };
    let sizes = [n, m, p].map(|size| size.max(0) as usize);
    let Some(writer) = Writer::new([a, b], [[0, row], [1, column]], sizes[1])? else { return Ok(None) };
    let is_small = m.saturating_mul(n).saturating_mul(p) < 400;
    let sums = if in_batch && is_small { Sums::InOrder } else { Sums::Library };
    writer.one(sizes, [row as usize, column as usize], strides, sums)
}

/// Returns the strides that a matrix, or each matrix of a batch, has when it is multiplied.
fn strides(view: &View) -> Result<[usize; 2]> {
    let view = resolved(view)?;
    let view = if compute_dtype(view.dtype) == view.dtype { view } else { cast(&view, DType::Float)? };
    let &[.., rows, columns] = view.sizes() else { return Ok([0, 0]) };
    let by_columns = !view.layout.is_contiguous() && view.layout.transpose(-1, -2)?.is_contiguous();
    Ok(if by_columns { [1, rows.max(0) as usize] } else { [columns.max(0) as usize, 1] })
}

/// Writes the products of two lines of elements, and their sums.
struct Writer {
    tape: Tape,
    lines: [(View, Rc<Memory>, i64); 2],
    /// The dtypes of the result, of sums, and of products.
    stored: DType,
    dtype: DType,
    product: DType,
}

impl Writer {
    /// Creates a writer for the last dimension of each operand that remains after selecting an index in a dimension of
    /// each matrix.
    fn new(operands: [&View; 2], selected: [[i64; 2]; 2], size: usize) -> Result<Option<Writer>> {
        let [a, b] = operands;
        let dtype = match a.dtype {
            DType::Byte | DType::Char | DType::Short | DType::Int => DType::Int,
            DType::Long | DType::Float | DType::Double => a.dtype,
            DType::Half | DType::BFloat16 => DType::Float,
            _ => return Ok(None),
        };
        if a.dtype != b.dtype || size as i64 > LONGEST / 2 {
            return Ok(None);
        }
        let line = |view: &View, [d, index]: [i64; 2]| -> Result<_> {
            let view = resolved(view)?;
            let Layout { sizes, strides, offset } = &view.layout;
            let (start, stride) = match (sizes.len(), strides.as_slice()) {
                (1, &[stride]) => (*offset, stride),
                (_, &[down, across]) if d == 0 => (offset + index * down, across),
                (_, &[down, across]) => (offset + index * across, down),
                _ => (*offset, 0),
            };
            let memory = view.memory()?;
            let line =
                Layout { sizes: [size as i64].as_slice().into(), strides: [stride].as_slice().into(), offset: start };
            Ok((view.with_layout(line), memory, stride))
        };
        let [of_a, of_b] = selected;
        let lines = [line(a, of_a)?, line(b, of_b)?];
        let tape = Tape::new(vec![a.layout.clone(), b.layout.clone()]);
        Ok(Some(Writer { tape, lines, stored: a.dtype, dtype, product: dtype }))
    }

    fn finish(mut self, total: Option<Term>) -> Result<Option<Tape>> {
        self.tape.stage = Stage::End;
        let total = total.unwrap_or_else(|| self.tape.constant(self.dtype, Scalar::Int(0)));
        self.tape.result = Some(self.tape.convert(self.stored, total));
        Ok(Some(self.tape))
    }

    /// Writes the product of the two elements at `k`.
    fn term(&mut self, k: usize) -> Option<Term> {
        let mut factors = [None; 2];
        for (operand, (factor, (view, memory, stride))) in (0..).zip(factors.iter_mut().zip(&self.lines)) {
            let offset = view.layout.offset + k as i64 * stride;
            *factor = Some(self.tape.element(operand, offset, view.dtype, view.read(memory, offset)));
        }
        let [a, b] = factors;
        self.tape.multiply(self.product, a, b)
    }

    fn add(&mut self, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        self.tape.add(self.dtype, a, b)
    }

    fn add_term(&mut self, sum: &mut Option<Term>, k: usize) {
        let term = self.term(k);
        *sum = self.add(*sum, term);
    }

    /// Adds products to `total`, one after another.
    fn in_turn(&mut self, mut total: Option<Term>, terms: std::ops::Range<usize>) -> Option<Term> {
        terms.for_each(|k| self.add_term(&mut total, k));
        total
    }

    /// Adds products in lanes: `place` tells the lane of each. Returns the lanes.
    fn lanes(
        &mut self,
        count: usize,
        width: usize,
        terms: std::ops::Range<usize>,
        place: impl Fn(usize) -> usize,
    ) -> Vec<Option<Term>> {
        let mut lanes = vec![None; count];
        for k in terms {
            let at = place(k);
            self.tape.stage = Stage::Lane { sum: (at / width) as u8, lane: (at % width) as u8 };
            if let Some(lane) = lanes.get_mut(at) {
                self.add_term(lane, k);
            }
        }
        lanes
    }

    /// Adds the second half of the lanes to the first, until one is left.
    fn halves(&mut self, mut lanes: Vec<Option<Term>>) -> Option<Term> {
        self.tape.stage = Stage::Lanes;
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            for (lane, upper) in lanes.iter_mut().zip(upper) {
                *lane = self.add(*lane, upper);
            }
        }
        self.tape.stage = Stage::Rest;
        lanes.first().copied().flatten()
    }

    /// Like `vector::dot`.
    fn library_dot(&mut self, size: usize, width: usize) -> Option<Term> {
        const CHAINS: usize = 4;
        let step = CHAINS * width;
        let whole = size / step * step;
        let pair = if width == 4 && size - whole >= 2 * width { 2 * width } else { 0 };
        let vectors = (size - whole - pair) / width * width;
        let rest = whole + pair + vectors;
        let place = |k: usize| match k {
            k if k < whole => k % step,
            k if k < whole + pair => k - whole,
            k if k < rest => (k - whole - pair) % width,
            _ => 0,
        };
        let chains = self.lanes(step, width, 0..size, place);
        self.tape.stage = Stage::Sums;
        let (first, others) = chains.split_at(width);
        let mut lanes = first.to_vec();
        for chain in others.chunks(width) {
            for (lane, other) in lanes.iter_mut().zip(chain) {
                *lane = self.add(*lane, *other);
            }
        }
        self.halves(lanes)
    }

    /// Writes the element at `[i, j]` of a product of matrices with these strides, by the loop that `multiply_one`
    /// chooses.
    fn one(
        mut self,
        sizes: [usize; 3],
        [i, j]: [usize; 2],
        strides: [[usize; 2]; 2],
        sums: Sums,
    ) -> Result<Option<Tape>> {
        let [n, m, p] = sizes;
        let [[_, a_across], [b_down, b_across]] = strides;
        let is_stored = self.stored == self.dtype;
        let is_whole = self.dtype.is_integral(false);
        let width = match self.dtype {
            DType::Float => 4,
            DType::Double => 2,
            _ => 0,
        };
        let lanes = if is_stored { width } else { 0 };
        let is_outer = m == 1 && n > 1 && p > 1 && is_stored && sums != Sums::InOrder;
        if is_outer || is_whole || sums == Sums::InOrder {
            let total = self.in_turn(None, 0..m);
            return self.finish(total);
        }
        if lanes > 0 {
            let by_row = (n == 1 && sums == Sums::Library && a_across <= 1).then_some((b_across, p, j));
            let by_column = (p == 1 && b_down <= 1).then_some((strides[0][0], n, i));
            if let Some((stride, count, row)) = by_row.or(by_column) {
                let total = self.with_vector(stride, count, row, m, lanes);
                return self.finish(total);
            }
        }
        let most = if p == 1 { SMALL_COLUMN } else { SMALL };
        if n * p == 1 || n.saturating_mul(p).saturating_mul(m) > most {
            // The library of products chooses by processor.
            return Ok(None);
        }
        let is_narrow = n > 1 && p > 1 && n.min(m).min(p) < 8;
        if width == 4 && a_across == 1 && b_down == 1 && b_across > 1 && is_narrow {
            let own = if j < p / 4 * 4 { 4 } else { 8 };
            let whole = m / own * own;
            let lanes = self.lanes(own, own, 0..whole, |k| k % own);
            let total = self.halves(lanes);
            let total = self.in_turn(total, whole..m);
            return self.finish(total);
        }
        let is_tiled = if width == 4 { n.min(m).min(p) >= 8 } else { m > 1 };
        let columns = if width == 4 { 8 } else { 2 };
        let is_in_tile = is_tiled && i < n / 4 * 4 && j < p / columns * columns;
        if b_across != 1 || lanes == 0 || !is_in_tile {
            let total = self.in_turn(None, 0..m);
            return self.finish(total);
        }
        let depth = match m {
            _ if width == 4 => 112,
            ..=128 | 256.. => 128,
            _ => m / 8 * 4,
        };
        let mut total = None;
        for start in (0..m).step_by(depth) {
            self.tape.stage = Stage::InTurn;
            let part = self.in_turn(None, start..m.min(start + depth));
            self.tape.stage = Stage::Parts;
            total = self.add(total, part);
        }
        self.finish(total)
    }

    /// Writes a row's product with a vector, like `vector::add_product`: `stride` is the distance between rows, of which
    /// there are `count`.
    fn with_vector(&mut self, stride: usize, count: usize, row: usize, m: usize, width: usize) -> Option<Term> {
        // The number of columns that a row alone processes at a time.
        const COLUMNS: usize = 8;
        let whole_rows = count / 4 * 4;
        let alone = if width == 4 { 2 } else { 4 };
        let (block, chains) = match (row.checked_sub(whole_rows), count - whole_rows) {
            _ if stride == 1 => return self.in_turn(None, 0..m),
            (None, _) => (width, 1),
            (Some(0), 1) | (Some(2), _) => (COLUMNS, alone),
            (Some(0), _) => (COLUMNS, 2),
            _ => (COLUMNS, 1),
        };
        let whole = m.saturating_sub(1) / block * block + 1;
        let place = |k: usize| k.checked_sub(1).map_or(0, |k| k % (chains * width));
        let mut lanes = self.lanes(chains * width, width, 0..whole.min(m), place);
        self.tape.stage = Stage::Sums;
        while lanes.len() > width {
            // Neighbouring chains.
            let pairs: Vec<_> = lanes.chunks(2 * width).map(|pair| pair.split_at(width)).collect();
            let pairs: Vec<_> = pairs.into_iter().flat_map(|(a, b)| a.iter().copied().zip(b.iter().copied())).collect();
            lanes = pairs.into_iter().map(|(a, b)| self.add(a, b)).collect();
        }
        let total = self.halves(lanes);
        self.in_turn(total, whole.min(m)..m)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{bmm as product_of_batches, dot as dot_product, mm as product, mv as row_products};
    use super::*;
    use crate::ops::promote::testing::numbers;

    /// Returns the last number of a tape. `None` if the order is not known.
    fn last(tape: Result<Option<Tape>>) -> Option<Scalar> {
        let tape = tape.unwrap()?;
        tape.result.map(|term| tape.value(term))
    }

    fn same(a: Scalar, b: Scalar) -> bool {
        match a {
            Scalar::Float(a) => a.to_bits() == b.to_f64().to_bits(),
            a => a.to_i64() == b.to_i64(),
        }
    }

    const DTYPES: [DType; 7] =
        [DType::Float, DType::Double, DType::Half, DType::BFloat16, DType::Char, DType::Int, DType::Long];

    #[test]
    fn the_last_number_of_a_dot_product_is_the_result() {
        for dtype in DTYPES {
            for size in (0..70).chain([127, 128, 129, 255, 1000, 1023]) {
                for step in [1, 3] {
                    let line = |seed| {
                        let all = numbers(&[size * step], dtype, seed);
                        all.with_layout(all.layout.slice(0, None, None, step))
                    };
                    let (a, b) = (line(3), line(5));
                    let wanted = dot_product(&a, &b).unwrap().item().unwrap();
                    let got = last(dot(&a, &b)).unwrap();
                    assert!(same(got, wanted), "{dtype:?} {size} {step}: {got:?}, {wanted:?}");
                }
            }
        }
    }

    #[test]
    fn the_last_number_is_the_element_of_a_product() {
        let mut known = [0; 2];
        for dtype in DTYPES {
            for sizes in [
                [1, 1, 1],
                [1, 5, 3],
                [3, 5, 1],
                [3, 4, 5],
                [2, 30, 2],
                [4, 9, 4],
                [5, 17, 9],
                [8, 8, 8],
                [9, 113, 10],
                [13, 130, 11],
                [12, 200, 9],
                [12, 300, 9],
                [1, 300, 20],
                [17, 40, 1],
                [20, 40, 1],
                [6, 1, 7],
                [3, 70, 6],
                [2, 5000, 1],
            ] {
                let [n, m, p] = sizes;
                for turned in [[false, false], [true, false], [false, true], [true, true]] {
                    let matrix = |[rows, columns]: [i64; 2], turn: bool, seed| match turn {
                        true => {
                            let turned = numbers(&[columns, rows], dtype, seed);
                            turned.with_layout(turned.layout.transpose(0, 1).unwrap())
                        }
                        false => numbers(&[rows, columns], dtype, seed),
                    };
                    let (a, b) = (matrix([n, m], turned[0], 1), matrix([m, p], turned[1], 2));
                    let results = product(&a, &b).unwrap().scalars().unwrap();
                    let vector = b.with_layout(b.layout.select(1, 0));
                    let of_rows = row_products(&a, &vector).unwrap().scalars().unwrap();
                    let batch = |view: &View| view.with_layout(view.layout.unsqueeze(0).unwrap());
                    let of_batch = product_of_batches(&batch(&a), &batch(&b)).unwrap().scalars().unwrap();
                    let mut check = |got: Option<Scalar>, wanted: Scalar, name: &str| {
                        known[usize::from(got.is_some())] += 1;
                        let fits = got.is_none_or(|got| same(got, wanted));
                        assert!(fits, "{name} {dtype:?} {sizes:?} {turned:?}: {got:?}, {wanted:?}");
                    };
                    for i in 0..n {
                        check(last(mv(&a, &vector, i)), of_rows[i as usize], "mv");
                        for j in 0..p {
                            let at = (i * p + j) as usize;
                            check(last(mm(&a, &b, [i, j])), results[at], "mm");
                            check(last(bmm(&batch(&a), &batch(&b), [0, i, j])), of_batch[at], "bmm");
                        }
                    }
                }
            }
        }
        assert!(known[0] * 20 < known[1], "{known:?}");
    }
}
