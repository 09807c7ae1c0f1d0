//! How one number of a result was computed: every operation with its exact value, the value that was stored, and what
//! was lost in between. The operations come from a [`Tape`]; everything else is worked out for the steps that are shown.

use super::element;
use super::exact::{Exact, Format, Rounding};
use super::residents::residents;
use super::scene::{Block, Ink, Scene, Span, Table, counted, grouped, list, span};
use tensor::tape::{Done, Operation, Stage, Tape, Term};
use tensor::{DType, Error, ErrorKind, Result, Scalar};
use value::{Dict, Value};

/// The largest number of steps of which all are drawn.
const DRAWN: usize = 24;
/// The steps drawn at both ends of a long calculation, and those with the greatest errors.
const SOME: usize = 6;
/// The largest number of steps that a script gets as a list.
const LISTED: usize = 1 << 16;
/// The largest number of steps, and of bits, of a calculation that is repeated exactly.
const REPEATED: (usize, u64) = (1 << 12, 1 << 14);

/// The calculation of one number.
pub struct Calculation {
    tape: Tape,
    /// The names of the operands.
    names: Vec<String>,
    title: String,
    /// What is known about the order, as a sentence.
    order: String,
}

/// One operation, with what was lost in it.
pub struct Step {
    pub operation: Operation,
    pub stage: Stage,
    /// The dtype in which the result is stored.
    pub dtype: DType,
    pub operands: Vec<Operand>,
    /// The exact result of the stored operands. `None` if an operand is not finite, or if the result is not a fraction.
    pub exact: Option<Exact>,
    pub stored: Scalar,
    /// How the exact value was rounded. `None` for integers.
    pub rounding: Option<Rounding>,
}

/// A number that an operation reads.
pub struct Operand {
    pub value: Scalar,
    pub dtype: DType,
    pub source: Source,
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An element: the number of the operand, and the index in it.
    Element {
        operand: usize,
        index: Vec<i64>,
    },
    /// The result of an earlier step, counted from 0.
    Step(usize),
    Constant,
}

impl Calculation {
    /// Creates a calculation. `order` says in a sentence what is known about the order of the operations.
    pub fn new(tape: Tape, title: String, order: String) -> Calculation {
        Calculation { tape, names: vec!["x".to_owned(), "y".to_owned()], title, order }
    }

    /// Creates a calculation of which only the result is known.
    pub fn unknown(title: String, order: String) -> Calculation {
        Calculation::new(Tape::new(Vec::new()), title, order)
    }

    /// Replaces the sentence on the order.
    pub fn with_order(self, order: &str) -> Calculation {
        Calculation { order: order.to_owned(), ..self }
    }

    /// Names the operands, whose names are `x` and `y` by default.
    pub fn with_names(self, names: Vec<String>) -> Calculation {
        Calculation { names, ..self }
    }

    /// Returns the sentence on the order of the operations.
    pub fn order(&self) -> &str {
        &self.order
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.tape.steps.len()
    }

    /// Returns whether lanes or sums were joined, so that the order is not the one in which elements are read.
    pub fn has_lanes(&self) -> bool {
        self.tape.steps.iter().any(|done| matches!(done.stage, Stage::Lanes | Stage::Sums))
    }

    /// Returns the last number, which is the element of the result.
    pub fn result(&self) -> Option<Scalar> {
        self.tape.result.map(|term| self.tape.value(term))
    }

    pub fn dtype(&self) -> Option<DType> {
        self.tape.result.map(|term| self.tape.dtype(term))
    }

    /// Returns a step, worked out.
    pub fn step(&self, number: usize) -> Option<Step> {
        let done = self.tape.steps.get(number)?;
        let operands = self.terms(done).map(|term| self.operand(term)).collect();
        let exact = self.terms(done).map(|term| Exact::of(self.tape.value(term))).collect::<Option<Vec<_>>>();
        let exact = exact.and_then(|operands| exactly(done.operation, &operands));
        let stored = self.stored(number, done);
        let rounding = exact.as_ref().and_then(|exact| Some(Rounding::new(exact, Format::of(done.dtype)?)));
        Some(Step {
            operation: done.operation,
            stage: done.stage,
            dtype: done.dtype,
            operands,
            exact,
            stored,
            rounding,
        })
    }

    fn terms(&self, done: &Done) -> impl Iterator<Item = Term> + use<> {
        let [a, b] = done.operands;
        let is_pair = !matches!(done.operation, Operation::Convert | Operation::Negate | Operation::SquareRoot);
        [Some(a), is_pair.then_some(b)].into_iter().flatten()
    }

    fn operand(&self, term: Term) -> Operand {
        let source = match (term.step(), self.tape.source(term)) {
            (Some(step), _) => Source::Step(step),
            (_, Some((operand, offset))) => {
                let operand = usize::from(operand);
                let first = self.tape.operands.get(operand).and_then(|layout| residents(layout, offset));
                Source::Element { operand, index: first.map(|found| found.first.to_vec()).unwrap_or_default() }
            }
            _ => Source::Constant,
        };
        Operand { value: self.tape.value(term), dtype: self.tape.dtype(term), source }
    }

    fn stored(&self, number: usize, done: &Done) -> Scalar {
        self.tape.result_of(number).unwrap_or(match done.dtype.is_floating_point() {
            true => Scalar::Float(0.0),
            false => Scalar::Int(0),
        })
    }

    /// Returns an estimate of a step's error that is fast to compute.
    fn error(&self, number: usize) -> f64 {
        let Some(done) = self.tape.steps.get(number).filter(|done| done.dtype.is_floating_point()) else { return 0.0 };
        let [a, b] = done.operands.map(|term| self.tape.value(term).to_f64());
        let stored = self.stored(number, done).to_f64();
        let error = match done.operation {
            Operation::Add => {
                let sum = a + b;
                let part = sum - a;
                (sum - stored) + ((a - (sum - part)) + (b - part))
            }
            Operation::Multiply => (a * b - stored) + a.mul_add(b, -(a * b)),
            Operation::Divide => (a / b - stored) + (-(a / b)).mul_add(b, a) / b,
            Operation::Convert => a - stored,
            _ => 0.0,
        };
        if error.is_nan() { 0.0 } else { error.abs() }
    }

    /// Returns the numbers of the steps to draw: all, or both ends and those with the greatest errors.
    pub fn drawn(&self) -> Vec<usize> {
        let count = self.steps();
        if count <= DRAWN {
            return (0..count).collect();
        }
        let mut worst: Vec<(f64, usize)> = Vec::new();
        for number in SOME..count - SOME {
            let error = self.error(number);
            if error > 0.0 && (worst.len() < SOME || worst.last().is_some_and(|(least, _)| error > *least)) {
                let at = worst.partition_point(|(other, _)| *other >= error);
                worst.insert(at, (error, number));
                worst.truncate(SOME);
            }
        }
        let mut all: Vec<usize> = (0..SOME).chain(worst.into_iter().map(|(_, number)| number)).collect();
        all.extend(count - SOME..count);
        all.sort_unstable();
        all
    }

    /// Returns the result without any rounding. `None` if it is not finite, not a fraction, or takes too long.
    pub fn exact(&self) -> Option<Exact> {
        let (most_steps, most_bits) = REPEATED;
        let last = self.tape.result?;
        if self.steps() > most_steps {
            return self.exact_sum();
        }
        let mut known: Vec<Exact> = Vec::with_capacity(self.steps());
        let value = |known: &[Exact], term: Term| match term.step() {
            Some(step) => known.get(step).cloned(),
            None => Exact::of(self.tape.value(term)),
        };
        for done in &self.tape.steps {
            let operands = self.terms(done).map(|term| value(&known, term)).collect::<Option<Vec<_>>>()?;
            known.push(exactly(done.operation, &operands).filter(|exact| exact.bits() <= most_bits)?);
        }
        value(&known, last)
    }

    /// Returns the exact sum of everything that was read, if there are only additions, and a division at the end.
    fn exact_sum(&self) -> Option<Exact> {
        let is_last = |number: usize| number + 3 > self.steps();
        let adds = |(number, done): (usize, &Done)| match done.operation {
            Operation::Add | Operation::Convert => true,
            Operation::Divide => is_last(number),
            _ => false,
        };
        if !self.tape.steps.iter().enumerate().all(adds) {
            return None;
        }
        let elements = || self.tape.reads.iter().enumerate().filter(|(_, read)| read.element.is_some());
        let total = Exact::sum(|| elements().filter_map(|(number, _)| self.tape.read_value(number)))?;
        match self.tape.steps.iter().rev().take(2).find(|done| done.operation == Operation::Divide) {
            Some(done) => total.over(&Exact::of(self.tape.value(done.operands[1]))?),
            None => Some(total),
        }
    }

    /// Returns the steps as a list of dictionaries.
    ///
    /// # Errors
    /// ValueError if there are too many for a list.
    pub fn list(&self) -> Result<Value> {
        let count = self.steps();
        if count > LISTED {
            let text = format!("{count} steps are too many for a list, which may have {LISTED}");
            return Err(Error::new(ErrorKind::ValueError, text));
        }
        let steps = (0..count).filter_map(|number| self.step(number));
        Ok(Value::list(steps.map(|step| Value::Dict(self.dict(&step)))))
    }

    fn dict(&self, step: &Step) -> Dict {
        let text = |text: String| Value::str(text.as_str());
        let exact = |exact: Option<Exact>| exact.map_or(Value::None, |exact| text(exact.decimal()));
        let rounding = step.rounding.as_ref();
        let (kept, dropped) = rounding.map(Rounding::bits).unzip();
        let sources = step.operands.iter().map(|operand| text(self.name(operand)));
        Dict::of_names([
            ("operation", text(step.name().to_owned())),
            ("operands", Value::tuple(step.operands.iter().map(|operand| operand.value.into()))),
            ("sources", Value::tuple(sources)),
            ("stage", text(step.stage_name())),
            ("dtype", Value::DType(step.dtype)),
            ("exact", exact(step.exact.clone())),
            ("stored", step.stored.into()),
            ("error", exact(step.error())),
            ("gap", exact(rounding.map(Rounding::gap))),
            ("rounding", text(step.rounding_in_words())),
            ("kept_bits", kept.map_or(Value::None, text)),
            ("dropped_bits", dropped.map_or(Value::None, text)),
        ])
    }

    fn name(&self, operand: &Operand) -> String {
        match &operand.source {
            Source::Element { operand, index } => {
                let name = self.names.get(*operand).map_or("x", String::as_str);
                if index.is_empty() { name.to_owned() } else { format!("{name}{}", list(index)) }
            }
            Source::Step(step) => format!("step {step}"),
            Source::Constant => element::precise(operand.value, operand.dtype),
        }
    }

    /// Draws the calculation: a row for each step, or for some of them.
    pub fn scene(&self) -> Scene {
        let mut scene = Scene::new(&self.title);
        scene.note(Ink::Plain, &self.order);
        let is_float = self.dtype().is_some_and(DType::is_floating_point);
        let mut head = vec!["step", "stage", "of", "computed", "exact", "stored"];
        head.extend_from_slice(if is_float { &["error", "gap", "kept | dropped"] } else { &["wrapped"] });
        let mut rows = Vec::new();
        let mut before = None;
        for number in self.drawn() {
            let Some(step) = self.step(number) else { continue };
            if before.is_some_and(|before| before + 1 != number) {
                let skipped = number - before.unwrap_or_default() - 1;
                rows.push(vec![span(Ink::Unused, "…"), span(Ink::Unused, counted(skipped as u64, "step"))]);
            }
            rows.push(self.row(number, &step));
            before = Some(number);
        }
        // Rows that stand for others leave their cells empty.
        let width = head.len();
        rows.iter_mut().for_each(|row| row.resize(width, span(Ink::Plain, "")));
        if self.steps() > 0 {
            scene.blocks.push(Block::Table(Table { head, rows }));
        }
        self.summary(&mut scene);
        scene
    }

    fn row(&self, number: usize, step: &Step) -> Vec<Span> {
        let names: Vec<String> = step.operands.iter().map(|operand| self.name(operand)).collect();
        let mut row = vec![
            span(Ink::Label, number.to_string()),
            span(Ink::Plain, step.stage_name()),
            span(Ink::Plain, names.join(", ")),
            span(Ink::Plain, step.computed()),
            span(Ink::Plain, step.exact_in_brief()),
            span(Ink::Shown, element::precise(step.stored, step.dtype)),
        ];
        row.extend(step.lost());
        row
    }

    /// Says what the result is, what it would be without rounding, and how far they are apart.
    fn summary(&self, scene: &mut Scene) {
        let (Some(result), Some(dtype)) = (self.result(), self.dtype()) else { return };
        let mut facts = vec![("result".to_owned(), span(Ink::Shown, element::precise(result, dtype)))];
        if let Some(exact) = self.exact() {
            facts.push(("without rounding".to_owned(), span(Ink::Plain, exact.short(40))));
            let error = Exact::of(result).map(|result| result.minus(&exact)).filter(|error| !error.is_zero());
            facts.extend(error.map(|error| ("error".to_owned(), span(Ink::Fault, error.short(20)))));
        }
        if self.steps() > DRAWN {
            let count = grouped(self.steps() as u64);
            facts.push((
                "steps".to_owned(),
                span(Ink::Plain, format!("{count}; drawn are both ends and the greatest errors")),
            ));
        }
        scene.facts(facts);
    }
}

/// The digits of exact values and of errors in a table.
const EXACT: usize = 14;
const ERROR: usize = 8;

impl Step {
    /// Returns the difference between the stored and the exact value.
    pub fn error(&self) -> Option<Exact> {
        Some(Exact::of(self.stored)?.minus(self.exact.as_ref()?))
    }

    /// Returns the operator.
    pub fn name(&self) -> &'static str {
        match self.operation {
            Operation::Add => "+",
            Operation::Subtract | Operation::Negate => "-",
            Operation::Multiply => "*",
            Operation::Divide => "/",
            Operation::Convert => "to",
            Operation::SquareRoot => "sqrt",
            Operation::Larger => "max",
            Operation::Smaller => "min",
        }
    }

    fn stage_name(&self) -> String {
        match self.stage {
            Stage::InTurn => "in turn".to_owned(),
            Stage::Lane { sum, lane } => format!("sum {sum}, lane {lane}"),
            Stage::Runs => "join runs".to_owned(),
            Stage::Sums => "add sums".to_owned(),
            Stage::Lanes => "join lanes".to_owned(),
            Stage::Rest => "rest".to_owned(),
            Stage::Parts => "join parts".to_owned(),
            Stage::End => "end".to_owned(),
        }
    }

    /// Writes the operation on the values of its operands: `2048.0 + 1.0`.
    fn computed(&self) -> String {
        let texts: Vec<String> = self.operands.iter().map(|of| element::precise(of.value, of.dtype)).collect();
        match (self.operation, texts.as_slice()) {
            (Operation::Convert, [value]) => format!("{value} to {}", self.dtype.name()),
            (Operation::Larger | Operation::Smaller, [a, b]) => format!("{}({a}, {b})", self.name()),
            (_, [a, b]) => format!("{a} {} {b}", self.name()),
            (Operation::SquareRoot, [value]) => format!("sqrt({value})"),
            (_, texts) => format!("{}{}", self.name(), texts.concat()),
        }
    }

    /// Returns the cells of what is lost. Of a float: the error, the gap between neighbours, and the bits.
    pub(super) fn lost(&self) -> Vec<Span> {
        if !self.dtype.is_floating_point() {
            return vec![self.wrapped()];
        }
        let error = self.error();
        let ink = if error.as_ref().is_some_and(|error| !error.is_zero()) { Ink::Fault } else { Ink::Plain };
        vec![
            span(ink, error.map_or_else(String::new, |error| error.short(ERROR))),
            span(Ink::Plain, self.rounding.as_ref().map_or_else(String::new, Rounding::gap_in_brief)),
            span(ink, self.bits_in_words()),
        ]
    }

    /// Writes the exact value; that of an integer with all its digits.
    pub(super) fn exact_in_brief(&self) -> String {
        let digits = if self.dtype.is_floating_point() { EXACT } else { 2 * EXACT };
        self.exact.as_ref().map_or_else(String::new, |exact| exact.short(digits))
    }

    /// Returns the bits that were kept and dropped, and the rule.
    fn bits_in_words(&self) -> String {
        let Some(rounding) = &self.rounding else { return String::new() };
        let ((kept, dropped), rule) = (rounding.bits(), self.rounding_in_words());
        if dropped.is_empty() { rule } else { format!("{kept}|{dropped} {rule}") }
    }

    fn rounding_in_words(&self) -> String {
        match (&self.rounding, self.wraps()) {
            (Some(rounding), _) => rounding.in_words(self.stored.to_f64()).to_owned(),
            (None, Some(_)) => "wrapped".to_owned(),
            (None, None) => String::new(),
        }
    }

    /// Returns how often an integer went around the range of its dtype.
    pub fn wraps(&self) -> Option<Exact> {
        if self.dtype.is_floating_point() {
            return None;
        }
        let range = Exact::of(Scalar::Float(2f64.powi(8 * self.dtype.itemsize() as i32)))?;
        let times = self.exact.as_ref()?.minus(&Exact::of(self.stored)?).over(&range)?;
        (times.is_integer() && !times.is_zero()).then_some(times)
    }

    fn wrapped(&self) -> Span {
        let bits = 8 * self.dtype.itemsize();
        match self.wraps() {
            Some(times) => {
                let sign = if times.is_negative() { "plus" } else { "minus" };
                let times = times.decimal();
                span(Ink::Fault, format!("{sign} {} * 2^{bits}", times.trim_start_matches('-')))
            }
            None => span(Ink::Plain, ""),
        }
    }
}

/// Computes an operation without rounding.
fn exactly(operation: Operation, operands: &[Exact]) -> Option<Exact> {
    match (operation, operands) {
        (Operation::Add, [a, b]) => Some(a.plus(b)),
        (Operation::Subtract, [a, b]) => Some(a.minus(b)),
        (Operation::Multiply, [a, b]) => Some(a.times(b)),
        (Operation::Divide, [a, b]) => a.over(b),
        (Operation::Convert, [a]) => Some(a.clone()),
        (Operation::Negate, [a]) => Some(Exact::integer(0).minus(a)),
        (Operation::Larger, [a, b]) => Some(if a.minus(b).is_negative() { b } else { a }.clone()),
        (Operation::Smaller, [a, b]) => Some(if b.minus(a).is_negative() { b } else { a }.clone()),
        _ => None,
    }
}
