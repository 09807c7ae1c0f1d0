//! `_sre`: matches the programs that `re/_compiler.py` makes of regular expressions. A program is walked with a stack of the
//! places to go back to, so that neither a long text nor a deep pattern can exhaust the stack of calls, and Ctrl-C stops
//! what would take for ever.

use call::{Call, Row, function};
use objects::strings::bytes::raw;
use objects::strings::characters::{decimal, is_letter, is_numeric, is_space};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Result, bail, interrupt, limits};
use value::{Object, Text, Value};

pub(in crate::library) const ROWS: &[Row] = &[
    function(
        "_sre._program(any instructions, int groups, int counters, any is_text) -> any",
        program,
        "Reads a program, which matches texts, bytes, or (None) both.",
    ),
    function(
        "_sre._run(any program, any string, int pos, int endpos, int mode, bool must_advance) -> any",
        |c| with_input(c, Run { mode: c.int(4)?, must_advance: c.bool(5)? }),
        "Matches a text: at a position, in whole (mode 1) or anywhere behind it (2).",
    ),
    function(
        "_sre._run_all(any program, any string, int pos, int endpos) -> any",
        |c| with_input(c, RunAll),
        "Returns all matches in a text that do not overlap, each as `_run` returns it.",
    ),
    function(
        "_sre._cases(int character) -> any",
        |c| {
            let Some(given) = u32::try_from(c.int(0)?).ok().and_then(char::from_u32) else {
                return Ok(Value::tuple([]));
            };
            let mut cases = vec![given];
            cases.extend(single(given.to_lowercase()));
            cases.extend(single(given.to_uppercase()));
            cases.sort_unstable();
            cases.dedup();
            Ok(Value::tuple(cases.into_iter().map(|c| Value::Int(i64::from(u32::from(c))))))
        },
        "Returns the characters that differ from one only in their case.",
    ),
];

/// Returns the only character, if there is one only.
fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

/// The characters of `[...]`.
struct Set {
    negated: bool,
    ignores_case: bool,
    ranges: Vec<(u32, u32)>,
    categories: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

enum Op {
    Char(u32),
    AnyButNewline,
    Any,
    Set(Set),
    /// Goes on at the first place, and at the second if that fails.
    Split(usize, usize),
    Jump(usize),
    /// Notes the position as the beginning or the end of a group.
    Save(usize),
    At(i64),
    Group(usize, bool),
    /// Matches the instructions up to `end` without moving, from some characters before.
    Assert {
        negated: bool,
        back: usize,
        end: usize,
    },
    /// Matches the instructions up to `end`, which are not tried in another way later.
    Atomic(usize),
    IfGroup(usize, usize),
    /// Repeats the next instruction, which matches one character.
    RepeatOne(usize, usize, Greed),
    BeginLoop(usize),
    Loop {
        counter: usize,
        least: usize,
        most: usize,
        is_greedy: bool,
        exit: usize,
    },
    Done,
    Fail,
}

struct Program {
    ops: Vec<Op>,
    is_text: Option<bool>,
    groups: usize,
    counters: usize,
}

impl Object for Program {
    fn class_name(&self) -> &'static str {
        "_sre.Program"
    }
}

fn program(call: &mut Call) -> Result<Value> {
    let given = call.value(0).sequence().unwrap_or_default();
    let ops = given.iter().map(op).collect::<Result<Vec<_>>>()?;
    let count = |at: usize| call.int(at).map(|count| usize::try_from(count).unwrap_or_default());
    let is_text = if let Value::Bool(is_text) = call.value(3) { Some(is_text) } else { None };
    Ok(Value::Object(Rc::new(Program { ops, is_text, groups: count(1)?, counters: count(2)? })))
}

fn op(given: &Value) -> Result<Op> {
    let parts = given.sequence().unwrap_or_default();
    let number = |at: usize| match parts.get(at).map(|part| part.underlying().unwrap_or_else(|| part.clone())) {
        Some(Value::Int(number)) => number,
        Some(Value::Bool(flag)) => i64::from(flag),
        _ => 0,
    };
    let place = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
    let character = |at: usize| number(at) as u32;
    Ok(match number(0) {
        0 => Op::Char(character(1)),
        1 => Op::AnyButNewline,
        2 => Op::Any,
        3 => {
            let pairs = parts.get(3).and_then(Value::sequence).unwrap_or_default();
            let pair = |pair: &Value| match pair.sequence().as_deref() {
                Some([Value::Int(low), Value::Int(high)]) => Some((*low as u32, *high as u32)),
                _ => None,
            };
            let categories = parts.get(4).and_then(Value::sequence).unwrap_or_default();
            let category = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
            Op::Set(Set {
                negated: number(1) != 0,
                ignores_case: number(2) != 0,
                ranges: pairs.iter().filter_map(pair).collect(),
                categories: categories.iter().filter_map(category).collect(),
            })
        }
        4 => Op::Split(place(1), place(2)),
        5 => Op::Jump(place(1)),
        6 => Op::Save(place(1)),
        7 => Op::At(number(1)),
        9 => Op::Group(place(1), number(2) != 0),
        10 => Op::Assert { negated: number(1) != 0, back: place(2), end: place(3) },
        11 => Op::Done,
        12 => Op::Atomic(place(1)),
        13 => Op::IfGroup(place(1), place(2)),
        14 => Op::RepeatOne(
            place(1),
            place(2),
            match number(3) {
                0 => Greed::Greedy,
                1 => Greed::Lazy,
                _ => Greed::Possessive,
            },
        ),
        15 => Op::BeginLoop(place(1)),
        16 => {
            Op::Loop { counter: place(1), least: place(2), most: place(3), is_greedy: number(4) != 0, exit: place(5) }
        }
        18 => Op::Fail,
        other => bail!(RuntimeError, "there is no instruction {other} of regular expressions"),
    })
}

/// The characters of a text or of bytes, by their numbers.
pub(super) trait Input {
    fn at(&self, index: usize) -> Option<u32>;
}

impl Input for [u8] {
    fn at(&self, index: usize) -> Option<u32> {
        self.get(index).map(|byte| u32::from(*byte))
    }
}

impl Input for [char] {
    fn at(&self, index: usize) -> Option<u32> {
        self.get(index).map(|c| u32::from(*c))
    }
}

thread_local! {
    /// The characters of the last text beyond ASCII: a text is usually searched many times.
    static LAST: RefCell<Option<(Text, Rc<[char]>)>> = const { RefCell::new(None) };
}

pub(super) fn characters(text: &Text) -> Rc<[char]> {
    LAST.with_borrow_mut(|last| match last {
        Some((known, characters)) if known.is(text) => characters.clone(),
        _ => {
            let characters: Rc<[char]> = text.chars().collect();
            *last = Some((text.clone(), characters.clone()));
            characters
        }
    })
}

/// What is done with a text, whatever its characters are.
trait Work {
    fn over<I: Input + ?Sized>(&self, program: &Program, input: &I, from: usize, to: usize) -> Result<Value>;
}

fn with_input(call: &Call, work: impl Work) -> Result<Value> {
    let Value::Object(object) = call.value(0) else { bail!(TypeError, "not a program") };
    let Some(program) = object.as_any().downcast_ref::<Program>() else { bail!(TypeError, "not a program") };
    let (pos, endpos) = (call.int(2)?, call.int(3)?);
    let string = call.value(1);
    let string = string.underlying().unwrap_or(string);
    match (&string, program.is_text) {
        (Value::Str(_), Some(false)) => bail!(TypeError, "cannot use a bytes pattern on a string-like object"),
        (Value::Buffer(_), Some(true)) => bail!(TypeError, "cannot use a string pattern on a bytes-like object"),
        _ => {}
    }
    let within = |length: usize| {
        let bound = |place: i64| usize::try_from(place.max(0)).unwrap_or(usize::MAX).min(length);
        (bound(pos), bound(endpos))
    };
    match &string {
        Value::Str(text) => {
            let (from, to) = within(text.characters());
            match text.characters() == text.len() {
                _ if from > to => Ok(Value::None),
                true => work.over(program, text.as_bytes(), from, to),
                false => work.over(program, &*characters(text), from, to),
            }
        }
        Value::Buffer(buffer) => {
            let bytes = raw(buffer)?;
            let (from, to) = within(bytes.len());
            if from > to { Ok(Value::None) } else { work.over(program, &*bytes, from, to) }
        }
        other => bail!(TypeError, "expected string or bytes-like object, got '{}'", other.type_name()),
    }
}

struct Run {
    mode: i64,
    must_advance: bool,
}

impl Work for Run {
    fn over<I: Input + ?Sized>(&self, program: &Program, input: &I, from: usize, to: usize) -> Result<Value> {
        let mut matcher = Matcher::new(program, input, to);
        matcher.is_whole = self.mode == 1;
        let found = matcher.find(from, self.mode == 2, self.must_advance)?;
        Ok(found.map_or(Value::None, |(start, end)| matcher.found(start, end, from)))
    }
}

struct RunAll;

impl Work for RunAll {
    fn over<I: Input + ?Sized>(&self, program: &Program, input: &I, from: usize, to: usize) -> Result<Value> {
        let mut matcher = Matcher::new(program, input, to);
        let (mut all, mut start, mut must_advance) = (Vec::new(), from, false);
        while let Some((first, end)) = matcher.find(start, true, must_advance)? {
            limits::grown_to::<Value>(all.len() + 1)?;
            all.push(matcher.found(first, end, from));
            (start, must_advance) = (end, first == end);
        }
        Ok(Value::List(all.into()))
    }
}

/// No position.
const NOWHERE: usize = usize::MAX;

/// What to do when a way has failed.
enum Back {
    /// Go on there.
    Try(usize, usize),
    /// Repeat one character less often: the places are the least and the present one.
    Fewer(usize, usize, usize),
    /// Repeat one character once more, of the instruction there, up to a place.
    More(usize, usize, usize),
    /// Enter a loop's body once more.
    Again {
        at: usize,
        counter: usize,
        count: usize,
        place: usize,
    },
    Mark(usize, usize),
    Counter(usize, (usize, usize)),
}

struct Matcher<'p, I: ?Sized> {
    program: &'p Program,
    input: &'p I,
    end: usize,
    is_whole: bool,
    /// Where an empty match does not count.
    not_at: Option<usize>,
    marks: Vec<usize>,
    /// How often each loop has run, and where its last run began.
    counters: Vec<(usize, usize)>,
    log: Vec<Back>,
    steps: usize,
}

impl<'p, I: Input + ?Sized> Matcher<'p, I> {
    fn new(program: &'p Program, input: &'p I, end: usize) -> Self {
        Matcher {
            program,
            input,
            end,
            is_whole: false,
            not_at: None,
            marks: vec![NOWHERE; 2 * program.groups + 1],
            counters: vec![(0, NOWHERE); program.counters],
            log: Vec::new(),
            steps: 0,
        }
    }

    /// Finds the pattern at a place, or anywhere behind it. Returns where it begins and ends.
    fn find(&mut self, from: usize, anywhere: bool, must_advance: bool) -> Result<Option<(usize, usize)>> {
        self.not_at = must_advance.then_some(from);
        self.log.clear();
        self.marks.fill(NOWHERE);
        self.counters.fill((0, NOWHERE));
        let mut start = from;
        loop {
            // The first character decides most places of a search.
            if anywhere
                && let Some(first) = self.program.ops.first().filter(|op| matches!(op, Op::Char(_) | Op::Set(_)))
            {
                while start < self.end && !self.input.at(start).is_some_and(|c| one(first, c)) {
                    start += 1;
                    interrupt::check_at(start)?;
                }
            }
            if let Some(end) = self.walk(0, start)? {
                return Ok(Some((start, end)));
            }
            if !anywhere || start >= self.end {
                return Ok(None);
            }
            start += 1;
            // What must not be empty at the beginning may be empty elsewhere.
            self.not_at = None;
        }
    }

    /// Returns a match as a tuple: the last group that ended, the bounds of all groups, and those of the search.
    fn found(&self, start: usize, end: usize, from: usize) -> Value {
        let place = |place: usize| Value::Int(if place == NOWHERE { -1 } else { place as i64 });
        let (last, marks) = self.marks.split_last().unwrap_or((&NOWHERE, &[]));
        let bounds = [*last, start, end].into_iter().chain(marks.iter().copied()).chain([from, self.end]);
        Value::tuple(bounds.map(place))
    }

    /// Runs the program from an instruction and a place on. Returns where the match ends.
    fn walk(&mut self, mut at: usize, mut place: usize) -> Result<Option<usize>> {
        let (base, begin) = (self.log.len(), place);
        loop {
            self.steps += 1;
            if self.steps.is_multiple_of(4096) {
                interrupt::check()?;
                limits::grown_to::<Back>(self.log.len())?;
            }
            let next = match self.program.ops.get(at) {
                None => {
                    let counts = !(self.is_whole && place != self.end || self.not_at == Some(place) && begin == place);
                    if counts {
                        return Ok(Some(place));
                    }
                    None
                }
                Some(Op::Done) => return Ok(Some(place)),
                Some(op) => self.step(op, at, place)?,
            };
            match next.or_else(|| self.back(base)) {
                Some(next) => (at, place) = next,
                None => return Ok(None),
            }
        }
    }

    fn here(&self, place: usize) -> Option<u32> {
        if place < self.end { self.input.at(place) } else { None }
    }

    /// Takes one instruction. Returns the next one and its place, or `None` if this way fails.
    fn step(&mut self, op: &Op, at: usize, place: usize) -> Result<Option<(usize, usize)>> {
        Ok(match op {
            Op::Char(_) | Op::AnyButNewline | Op::Any | Op::Set(_) => {
                self.here(place).filter(|c| one(op, *c)).map(|_| (at + 1, place + 1))
            }
            Op::Split(first, second) => {
                self.log.push(Back::Try(*second, place));
                Some((*first, place))
            }
            Op::Jump(to) => Some((*to, place)),
            Op::Save(slot) => {
                self.mark(*slot, place);
                if slot % 2 == 1 {
                    // The last slot has the number of the group that ended last.
                    self.mark(self.marks.len() - 1, slot / 2 + 1);
                }
                Some((at + 1, place))
            }
            Op::At(kind) => self.is_at(*kind, place).then_some((at + 1, place)),
            Op::Group(group, ignores_case) => {
                let bounds = (self.marks.get(2 * group), self.marks.get(2 * group + 1));
                let (Some(&from), Some(&to)) = bounds else { return Ok(None) };
                if from == NOWHERE || to == NOWHERE {
                    return Ok(None);
                }
                for offset in 0..to.saturating_sub(from) {
                    interrupt::check_at(offset)?;
                    let (wanted, given) = (self.input.at(from + offset), self.here(place + offset));
                    let is_same = match (wanted, given) {
                        (Some(wanted), Some(given)) => {
                            wanted == given || *ignores_case && lower(wanted) == lower(given)
                        }
                        _ => false,
                    };
                    if !is_same {
                        return Ok(None);
                    }
                }
                Some((at + 1, place + to.saturating_sub(from)))
            }
            Op::Assert { negated, back, end } => {
                let base = self.log.len();
                let (whole, not_at) = (std::mem::take(&mut self.is_whole), self.not_at.take());
                let found = match place.checked_sub(*back) {
                    Some(from) => self.walk(at + 1, from)?,
                    None => None,
                };
                (self.is_whole, self.not_at) = (whole, not_at);
                if *negated {
                    while self.log.len() > base {
                        self.undo();
                    }
                } else {
                    self.settle(base);
                }
                (found.is_some() != *negated).then_some((*end, place))
            }
            Op::Atomic(end) => {
                let base = self.log.len();
                let found = self.walk(at + 1, place)?;
                self.settle(base);
                found.map(|place| (*end, place))
            }
            Op::IfGroup(group, otherwise) => {
                let is_set = self.marks.get(2 * group + 1).is_some_and(|mark| *mark != NOWHERE);
                Some((if is_set { at + 1 } else { *otherwise }, place))
            }
            Op::RepeatOne(least, most, greed) => self.repeat(at, place, *least, *most, *greed)?,
            Op::BeginLoop(counter) => {
                self.count(*counter, (0, NOWHERE));
                Some((at + 1, place))
            }
            Op::Loop { counter, least, most, is_greedy, exit } => {
                let (count, last) = self.counters.get(*counter).copied().unwrap_or((0, NOWHERE));
                let (may, must) = (count < *most, count < *least);
                if must {
                    self.count(*counter, (count + 1, place));
                    return Ok(Some((at + 1, place)));
                }
                // A run without a character is the last.
                if !may || count > 0 && last == place {
                    return Ok(Some((*exit, place)));
                }
                if *is_greedy {
                    self.log.push(Back::Try(*exit, place));
                    self.count(*counter, (count + 1, place));
                    Some((at + 1, place))
                } else {
                    self.log.push(Back::Again { at: at + 1, counter: *counter, count: count + 1, place });
                    Some((*exit, place))
                }
            }
            Op::Done | Op::Fail => None,
        })
    }

    /// Repeats the instruction behind `at`, which matches one character.
    fn repeat(
        &mut self,
        at: usize,
        place: usize,
        least: usize,
        most: usize,
        greed: Greed,
    ) -> Result<Option<(usize, usize)>> {
        let Some(op) = self.program.ops.get(at + 1) else { return Ok(None) };
        let furthest = if greed == Greed::Lazy { least } else { most };
        let limit = place.saturating_add(furthest).min(self.end);
        let mut to = place;
        while to < limit && self.here(to).is_some_and(|c| one(op, c)) {
            to += 1;
            interrupt::check_at(to)?;
        }
        let Some(first) = place.checked_add(least).filter(|first| to >= *first) else { return Ok(None) };
        match greed {
            Greed::Greedy if to > first => self.log.push(Back::Fewer(at + 2, first, to)),
            Greed::Lazy => self.log.push(Back::More(at + 1, to, place.saturating_add(most).min(self.end))),
            Greed::Greedy | Greed::Possessive => {}
        }
        Ok(Some((at + 2, to)))
    }

    fn mark(&mut self, slot: usize, place: usize) {
        if let Some(mark) = self.marks.get_mut(slot) {
            self.log.push(Back::Mark(slot, std::mem::replace(mark, place)));
        }
    }

    fn count(&mut self, counter: usize, new: (usize, usize)) {
        if let Some(held) = self.counters.get_mut(counter) {
            self.log.push(Back::Counter(counter, std::mem::replace(held, new)));
        }
    }

    /// Takes the last step back. Returns where to go on, if the step left a way open.
    fn undo(&mut self) -> Option<(usize, usize)> {
        match self.log.pop()? {
            Back::Mark(slot, place) => {
                if let Some(mark) = self.marks.get_mut(slot) {
                    *mark = place;
                }
                None
            }
            Back::Counter(counter, old) => {
                if let Some(held) = self.counters.get_mut(counter) {
                    *held = old;
                }
                None
            }
            Back::Try(at, place) => Some((at, place)),
            Back::Fewer(at, first, place) => {
                let place = place - 1;
                if place > first {
                    self.log.push(Back::Fewer(at, first, place));
                }
                Some((at, place))
            }
            Back::More(at, place, limit) => {
                let op = self.program.ops.get(at)?;
                if place >= limit || !self.here(place).is_some_and(|c| one(op, c)) {
                    return None;
                }
                self.log.push(Back::More(at, place + 1, limit));
                Some((at + 1, place + 1))
            }
            Back::Again { at, counter, count, place } => {
                self.count(counter, (count, place));
                Some((at, place))
            }
        }
    }

    /// Goes back to the last way that is open.
    fn back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.log.len() > base {
            if let Some(next) = self.undo() {
                return Some(next);
            }
        }
        None
    }

    /// Closes the ways since `base`, but still knows what was there before.
    fn settle(&mut self, base: usize) {
        let rest = self.log.split_off(base);
        self.log.extend(rest.into_iter().filter(|step| matches!(step, Back::Mark(..) | Back::Counter(..))));
    }

    fn is_at(&self, kind: i64, place: usize) -> bool {
        let before = || place.checked_sub(1).and_then(|at| self.input.at(at));
        let newline = u32::from('\n');
        let boundary = |category: i64| {
            let is_word = |c: Option<u32>| c.is_some_and(|c| is_of(category, c));
            is_word(before()) != is_word(self.here(place))
        };
        match kind {
            0 => place == 0,
            1 => place == 0 || before() == Some(newline),
            2 => place == self.end || place + 1 == self.end && self.here(place) == Some(newline),
            3 => place == self.end || self.here(place) == Some(newline),
            4 => place == self.end,
            5 => boundary(4),
            6 => !boundary(4),
            7 => boundary(12),
            _ => !boundary(12),
        }
    }
}

/// Returns whether an instruction matches a character.
#[inline]
fn one(op: &Op, c: u32) -> bool {
    match op {
        Op::Char(wanted) => *wanted == c,
        Op::AnyButNewline => c != u32::from('\n'),
        Op::Any => true,
        Op::Set(set) => set.has(c),
        _ => false,
    }
}

impl Set {
    fn has(&self, c: u32) -> bool {
        let listed = |c: u32| self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
        let is_in = listed(c)
            || self.ignores_case && (listed(lower(c)) || listed(upper(c)))
            || self.categories.iter().any(|category| is_of(*category, c));
        is_in != self.negated
    }
}

fn lower(c: u32) -> u32 {
    char::from_u32(c).and_then(|c| single(c.to_lowercase())).map_or(c, u32::from)
}

fn upper(c: u32) -> u32 {
    char::from_u32(c).and_then(|c| single(c.to_uppercase())).map_or(c, u32::from)
}

/// Returns whether a character is of a category: a digit, a space, part of a word, or none of these (the odd numbers); in
/// ASCII, or from 8 on in Unicode.
fn is_of(category: i64, c: u32) -> bool {
    let (in_unicode, kind, negated) = (category >= 8, category % 8 / 2, category % 2 == 1);
    let Some(c) = char::from_u32(c) else { return negated };
    let is_it = match (kind, in_unicode && !c.is_ascii()) {
        (0, false) => c.is_ascii_digit(),
        (0, true) => decimal(c).is_some(),
        (1, false) => matches!(c, ' ' | '\t'..='\r') || in_unicode && is_space(c),
        (1, true) => is_space(c),
        (_, false) => c.is_ascii_alphanumeric() || c == '_',
        (_, true) => is_letter(c) || is_numeric(c),
    };
    is_it != negated
}
