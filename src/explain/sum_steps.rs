//! A sum, one addition after another in a dtype, beside the same sum in a wider one.

use super::calculation::Calculation;
use super::element;
use super::exact::Exact;
use super::picture::Picture;
use super::scene::{Block, Ink, Scene, Table, counted, span};
use std::rc::Rc;
use tensor::tape::{self, Operation, Tape};
use tensor::{DType, Error, ErrorKind, Result, Scalar, View, interrupt};
use value::{Object, Value};

/// A sum in steps.
pub struct SumSteps {
    /// The sum in the dtype asked for.
    own: Calculation,
    dtype: DType,
    given: DType,
    /// The first number, and how many were rounded to the dtype before they were added.
    first: Scalar,
    rounded: u64,
    count: u64,
    /// The sum in the wider dtype, step by step.
    wide: Option<Calculation>,
    /// The exact sum of the elements.
    exact: Option<Exact>,
    torch: Torch,
}

/// What `torch.sum` does with the elements.
#[derive(Clone, Copy)]
pub struct Torch {
    pub result: Scalar,
    /// Whether it adds several lanes at a time, and not one element after another.
    pub in_lanes: bool,
    /// The dtype in which it adds.
    wide: DType,
}

impl Torch {
    /// Creates what it does with elements of a dtype.
    pub fn new(result: Scalar, in_lanes: bool, dtype: DType) -> Torch {
        Torch { result, in_lanes, wide: accumulator(dtype) }
    }
}

/// Returns the dtype that `torch.sum` adds in.
fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::Half | DType::BFloat16 => DType::Float,
        dtype if dtype.is_integral(true) => DType::Long,
        dtype => dtype,
    }
}

impl SumSteps {
    /// Adds the elements of a view in `dtype`. `torch` tells what `torch.sum` does.
    ///
    /// # Errors
    /// ValueError for too many elements, TypeError for complex ones or a dtype without addition, KeyboardInterrupt.
    pub fn new(view: &View, dtype: DType, torch: impl FnOnce() -> Result<Torch>) -> Result<SumSteps> {
        let can_add =
            |dtype: DType| dtype.is_integral(false) || matches!(accumulator(dtype), DType::Float | DType::Double);
        if !can_add(dtype) || !(can_add(view.dtype) || view.dtype == DType::Bool) {
            let names = (view.dtype.name(), dtype.name());
            return Err(Error::type_error(format!("sum_steps() adds real numbers, not {} in {}", names.0, names.1)));
        }
        let count = view.numel();
        if count > tape::LONGEST {
            let text = format!("sum_steps() takes at most {} elements, this tensor has {count}", tape::LONGEST);
            return Err(Error::new(ErrorKind::ValueError, text));
        }
        let (memory, wider) = (view.memory()?, accumulator(dtype));
        let mut tapes = [Tape::new(vec![view.layout.clone()]), Tape::new(Vec::new())];
        let (mut totals, mut rounded, mut first) = ([None, None], 0, Scalar::Int(0));
        for (number, offset) in view.layout.offsets().enumerate() {
            interrupt::check_at(number)?;
            let value = view.read(&memory, offset);
            let kept = match (value, dtype.is_floating_point()) {
                (Scalar::Float(value), true) => Scalar::Float(tape::round(value, dtype)),
                _ => tape::fit(value, dtype),
            };
            let [before, after] = [value, kept].map(Scalar::to_f64);
            rounded += u64::from(before != after && !before.is_nan());
            if number == 0 {
                first = kept;
            }
            for ((tape, total), dtype) in tapes.iter_mut().zip(&mut totals).zip([dtype, wider]) {
                let term = tape.element(0, offset, dtype, kept);
                *total = Some(match *total {
                    Some(total) => tape.step(Operation::Add, dtype, total, term),
                    None => term,
                });
            }
        }
        for (tape, total) in tapes.iter_mut().zip(totals) {
            tape.result = Some(total.unwrap_or_else(|| tape.constant(dtype, Scalar::Int(0))));
        }
        let [own, wide] = tapes.map(|tape| Calculation::new(tape, String::new(), String::new()));
        let exact = Exact::sum(|| view.layout.offsets().map(|offset| view.read(&memory, offset)));
        interrupt::check()?;
        let torch = torch()?;
        let wide = (wider != dtype).then_some(wide);
        Ok(SumSteps { own, dtype, given: view.dtype, first, rounded, count: count as u64, wide, exact, torch })
    }

    fn total(&self, of: &Calculation) -> Scalar {
        of.result().unwrap_or(Scalar::Int(0))
    }

    /// Returns the wide sum, rounded to the dtype of the elements' sum.
    fn rounded_once(&self, wide: &Calculation) -> Scalar {
        match self.total(wide) {
            Scalar::Float(total) => Scalar::Float(tape::round(total, self.dtype)),
            total => total,
        }
    }

    /// Draws the additions, and says which of the sums `torch.sum` gives.
    fn scene(&self) -> Scene {
        let name = self.dtype.name();
        let numbers = counted(self.count, "number");
        let mut scene = Scene::new(format!("the sum of {numbers}, one after another in {name}"));
        if self.rounded > 0 {
            let given = self.given.name();
            scene.note(
                Ink::Plain,
                format!(
                    "{} of {given} changed when converted to {name}, before the first addition.",
                    counted(self.rounded, "number")
                ),
            );
        }
        if self.own.steps() > 0 {
            scene.blocks.push(Block::Table(self.table()));
        }
        self.totals(&mut scene);
        scene
    }

    fn table(&self) -> Table {
        let is_float = self.dtype.is_floating_point();
        let mut head = vec!["step", "adds", "exact", "stored"];
        head.extend_from_slice(if is_float { &["error", "gap"] } else { &["wrapped"] });
        head.extend(self.wide.as_ref().map(|_| if is_float { "in float32" } else { "in int64" }));
        head.extend(is_float.then_some("kept | dropped"));
        let empty = || span(Ink::Plain, "");
        let stored = |value| span(Ink::Shown, element::precise(value, self.dtype));
        let mut rows = Vec::new();
        let mut start = vec![span(Ink::Label, "0"), stored(self.first), empty(), stored(self.first)];
        start.resize(head.len(), empty());
        rows.push(start);
        let mut before = 0;
        for number in self.own.drawn() {
            if number > before {
                let skipped = counted((number - before) as u64, "step");
                rows.push(vec![span(Ink::Unused, "…"), span(Ink::Unused, skipped)]);
            }
            before = number + 1;
            let Some(step) = self.own.step(number) else { continue };
            let adds = step
                .operands
                .get(1)
                .map_or_else(empty, |added| span(Ink::Plain, element::precise(added.value, added.dtype)));
            let mut row = vec![
                span(Ink::Label, before.to_string()),
                adds,
                span(Ink::Plain, step.exact_in_brief()),
                stored(step.stored),
            ];
            let mut lost = step.lost();
            let bits = is_float.then(|| lost.pop()).flatten();
            row.extend(lost);
            let wide = self.wide.as_ref().and_then(|wide| wide.step(number));
            row.extend(wide.map(|wide| span(Ink::Shared, element::precise(wide.stored, wide.dtype))));
            row.extend(bits);
            rows.push(row);
        }
        let width = head.len();
        rows.iter_mut().for_each(|row| row.resize(width, empty()));
        Table { head, rows }
    }

    /// Draws the results beside each other.
    fn totals(&self, scene: &mut Scene) {
        let name = self.dtype.name();
        let precise = |value| element::precise(value, self.dtype);
        let own = self.total(&self.own);
        let mut facts = vec![(format!("in {name}"), span(Ink::Shown, precise(own)))];
        if let Some(wide) = &self.wide {
            let total = self.total(wide);
            let wider = accumulator(self.dtype);
            let mut text = element::precise(total, wider);
            if self.dtype.is_floating_point() {
                let once = precise(self.rounded_once(wide));
                text = if once == text {
                    format!("{text}, also in {name}")
                } else {
                    format!("{text}, rounded once to {name}: {once}")
                };
            }
            facts.push((format!("in {}", wider.name()), span(Ink::Shared, text)));
        }
        if let Some(exact) = &self.exact {
            facts.push(("exact".to_owned(), span(Ink::Plain, exact.short(40))));
            let error = Exact::of(own).map(|own| own.minus(exact)).filter(|error| !error.is_zero());
            facts.extend(error.map(|error| (format!("error in {name}"), span(Ink::Fault, error.short(20)))));
        }
        scene.facts(facts);
        scene.note(Ink::Plain, self.about_torch());
    }

    /// Says what `torch.sum` does with these elements.
    fn about_torch(&self) -> String {
        let Torch { result, wide, in_lanes } = self.torch;
        let given = self.given.name();
        let stored = if self.given.is_integral(true) { DType::Long } else { self.given };
        let result = element::precise(result, stored);
        if self.given.is_integral(true) {
            return format!("torch.sum adds {given} in {}: {result}.", wide.name());
        }
        let order = if in_lanes { "several lanes at a time" } else { "one after another too" };
        let once = if wide == self.given { "" } else { ", and rounds once, at the end" };
        format!("torch.sum adds {given} in {}, {order}{once}: {result}.", wide.name())
    }
}

impl Object for SumSteps {
    fn type_name(&self) -> &str {
        "SumSteps"
    }

    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(Ok(match name {
            "steps" => return Some(self.own.list()),
            "result" => self.total(&self.own).into(),
            "wide" => self.wide.as_ref().map_or(Value::None, |wide| self.total(wide).into()),
            "exact" => self.exact.as_ref().map_or(Value::None, |exact| Value::str(exact.decimal().as_str())),
            "torch_sum" => self.torch.result.into(),
            _ => return None,
        }))
    }
}

/// Returns the picture of a sum in steps, whose attributes a script can read.
pub fn picture(steps: SumSteps, width: usize) -> Picture {
    let scene = steps.scene();
    Picture { about: Some(Rc::new(steps)), ..Picture::of(scene, width) }
}
