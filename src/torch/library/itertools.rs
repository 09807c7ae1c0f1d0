//! Python's `itertools`: iterators built from iterators, some of them endless. Follows
//! <https://docs.python.org/3.11/library/itertools.html>.

use call::{Call, Row, State, function};
use objects::calling::call_plain;
use objects::iterate::{Iter, items, iterate};
use objects::lazy::Lazy;
use objects::operators;
use objects::plain::slices::as_index;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use tensor::{Error, Result, bail, interrupt, limits};
use value::Value;
use value::equality::truth;

pub(super) const ROWS: &[Row] = &[
    function(
        "itertools.product(any[] iterables, *, any repeat=1) -> any",
        product,
        "Gives every combination of one item of each.",
    )
    .python("product"),
    function(
        "itertools.combinations(any iterable, any r) -> any",
        |c| choose(c, Choice::Combinations),
        "Gives every choice of r items, in order.",
    )
    .python("combinations"),
    function(
        "itertools.combinations_with_replacement(any iterable, any r) -> any",
        |c| choose(c, Choice::WithReplacement),
        "Gives every choice of r items, in order, repeated ones too.",
    )
    .python("combinations_with_replacement"),
    function(
        "itertools.permutations(any iterable, any r=None) -> any",
        |c| choose(c, Choice::Permutations),
        "Gives every ordered choice of r items.",
    )
    .python("permutations"),
    function(
        "itertools.chain(any[] iterables) -> any",
        |c| chained(c.state, &c.value(0)),
        "Chains the items of several sequences.",
    )
    .python("chain"),
    function(
        "itertools.chain_from_iterable(any iterable) -> any",
        |c| chained(c.state, &c.value(0)),
        "Chains the items of the sequences that a sequence gives.",
    )
    .python("chain.from_iterable"),
    function(
        "itertools.accumulate(any iterable, any func=None, *, any initial=None) -> any",
        accumulate,
        "Gives the sums so far, or what a function makes of the items so far.",
    )
    .python("accumulate"),
    function("itertools.count(any start=0, any step=1) -> any", count, "Counts without an end.").python("count"),
    function("itertools.cycle(any iterable) -> any", cycle, "Repeats the items without an end.").python("cycle"),
    function(
        "itertools.repeat(any object, any[] times) -> any",
        repeat,
        "Gives a value again and again, or so many times.",
    )
    .python("repeat"),
    function(
        "itertools.islice(any iterable, any[] bounds) -> any",
        islice,
        "Gives the items at the places of a slice.",
    )
    .python("islice"),
    function(
        "itertools.takewhile(any predicate, any iterable) -> any",
        |c| {
            let (state, holds, mut items) = taken(c)?;
            let mut is_over = false;
            Ok(Lazy::value("itertools.takewhile", move || {
                let Some(item) = (if is_over { None } else { items.next()? }) else { return Ok(None) };
                is_over = !truth(&call_plain(&state, &holds, vec![item.clone()])?)?;
                Ok(Some(item).filter(|_| !is_over))
            }))
        },
        "Gives the items up to the first for which a function is false.",
    )
    .python("takewhile"),
    function(
        "itertools.dropwhile(any predicate, any iterable) -> any",
        |c| {
            let (state, holds, mut items) = taken(c)?;
            let mut is_open = false;
            Ok(Lazy::value("itertools.dropwhile", move || {
                let mut at = 0;
                while let Some(item) = items.next()? {
                    interrupt::check_at(at)?;
                    at += 1;
                    is_open = is_open || !truth(&call_plain(&state, &holds, vec![item.clone()])?)?;
                    if is_open {
                        return Ok(Some(item));
                    }
                }
                Ok(None)
            }))
        },
        "Gives the items from the first on for which a function is false.",
    )
    .python("dropwhile"),
    function(
        "itertools.filterfalse(any function, any iterable) -> any",
        |c| {
            let (state, holds, mut items) = taken(c)?;
            Ok(Lazy::value("itertools.filterfalse", move || {
                let mut at = 0;
                while let Some(item) = items.next()? {
                    interrupt::check_at(at)?;
                    at += 1;
                    let is_out = match &holds {
                        Value::None => truth(&item)?,
                        holds => truth(&call_plain(&state, holds, vec![item.clone()])?)?,
                    };
                    if !is_out {
                        return Ok(Some(item));
                    }
                }
                Ok(None)
            }))
        },
        "Gives the items for which a function is false.",
    )
    .python("filterfalse"),
    function(
        "itertools.compress(any data, any selectors) -> any",
        |c| {
            let (mut data, mut selectors) = (iterate(c.state, &c.value(0))?, iterate(c.state, &c.value(1))?);
            Ok(Lazy::value("itertools.compress", move || {
                let mut at = 0;
                while let (Some(item), Some(is_in)) = (data.next()?, selectors.next()?) {
                    interrupt::check_at(at)?;
                    at += 1;
                    if truth(&is_in)? {
                        return Ok(Some(item));
                    }
                }
                Ok(None)
            }))
        },
        "Gives the items whose selector is true.",
    )
    .python("compress"),
    function(
        "itertools.starmap(any function, any iterable) -> any",
        |c| {
            let (state, function, mut rows) = taken(c)?;
            Ok(Lazy::value("itertools.starmap", move || match rows.next()? {
                Some(row) => call_plain(&state, &function, items(&state, &row)?).map(Some),
                None => Ok(None),
            }))
        },
        "Gives what a function makes of each row of arguments.",
    )
    .python("starmap"),
    function(
        "itertools.pairwise(any iterable) -> any",
        |c| {
            let mut left = iterate(c.state, &c.value(0))?;
            let mut before = None;
            Ok(Lazy::value("itertools.pairwise", move || {
                let first = match before.take() {
                    Some(first) => first,
                    None => match left.next()? {
                        Some(first) => first,
                        None => return Ok(None),
                    },
                };
                before = left.next()?;
                Ok(before.clone().map(|second| Value::tuple([first, second])))
            }))
        },
        "Gives each item with the one behind it.",
    )
    .python("pairwise"),
    function(
        "itertools.zip_longest(any[] iterables, *, any fillvalue=None) -> any",
        zip_longest,
        "Pairs up the items of several sequences, as many as the longest has.",
    )
    .python("zip_longest"),
    function("itertools.tee(any iterable, any n=2) -> any", tee, "Makes several iterators of one.").python("tee"),
    function(
        "itertools.groupby(any iterable, any key=None) -> any",
        groupby,
        "Groups the items with the same key that stand in a row.",
    )
    .python("groupby"),
];

/// Returns the function and the iterator in a call's arguments.
fn taken(call: &Call) -> Result<(Rc<State>, Value, Iter)> {
    Ok((call.state.handle(), call.value(0), iterate(call.state, &call.value(1))?))
}

fn no_integer(value: &Value) -> Error {
    Error::type_error(format!("'{}' object cannot be interpreted as an integer", value.type_name()))
}

fn added(state: &State, a: &Value, b: &Value) -> Result<Value> {
    match operators::find("+") {
        Some(plus) => operators::binary(state, plus, a, b),
        None => Ok(a.clone()),
    }
}

/// Lists every combination of one item from each pool. The last item changes fastest.
fn product(call: &mut Call) -> Result<Value> {
    let sources = call.value(0).sequence().unwrap_or_default();
    let once = sources.iter().map(|source| items(call.state, source)).collect::<Result<Vec<_>>>()?;
    let repeat = as_index(&call.value(1))?.ok_or_else(|| no_integer(&call.value(1)))?;
    let Ok(repeat) = usize::try_from(repeat) else { bail!(ValueError, "repeat argument cannot be negative") };
    let count = once.len().saturating_mul(repeat);
    limits::room_for::<Value>(count)?;
    let mut places = (!once.iter().any(Vec::is_empty) || count == 0).then(|| vec![0usize; count]);
    Ok(Lazy::value("itertools.product", move || {
        let Some(chosen) = &mut places else { return Ok(None) };
        let pool = |place: usize| once.get(place % once.len().max(1)).map(Vec::as_slice).unwrap_or_default();
        let row = Value::tuple(chosen.iter().enumerate().filter_map(|(place, &i)| pool(place).get(i).cloned()));
        let is_last = !chosen.iter_mut().enumerate().rev().any(|(place, i)| {
            *i += 1;
            let fits = *i < pool(place).len();
            if !fits {
                *i = 0;
            }
            fits
        });
        if is_last {
            places = None;
        }
        Ok(Some(row))
    }))
}

#[derive(Clone, Copy, PartialEq)]
enum Choice {
    Combinations,
    WithReplacement,
    Permutations,
}

fn choose(call: &mut Call, choice: Choice) -> Result<Value> {
    let pool = items(call.state, &call.value(0))?;
    let r = match (call.value(1), choice) {
        (Value::None, Choice::Permutations) => pool.len() as i64,
        (Value::Int(r), _) => r,
        (_, Choice::Permutations) => bail!(TypeError, "Expected int as r"),
        (other, _) => as_index(&other)?.ok_or_else(|| no_integer(&other))?,
    };
    let Ok(r) = usize::try_from(r) else { bail!(ValueError, "r must be non-negative") };
    limits::room_for::<usize>(r)?;
    let (n, class) = (
        pool.len(),
        match choice {
            Choice::Combinations => "itertools.combinations",
            Choice::WithReplacement => "itertools.combinations_with_replacement",
            Choice::Permutations => "itertools.permutations",
        },
    );
    let is_empty = r > n && !(choice == Choice::WithReplacement && n > 0);
    let mut chosen: Vec<usize> = Vec::new();
    // The first candidate for the next position. Positions are filled and given up in a loop instead of by recursion.
    let mut candidate = Some(0).filter(|_| !is_empty);
    let mut used = vec![false; if choice == Choice::Permutations { n } else { 0 }];
    Ok(Lazy::value(class, move || {
        let mut steps = 0;
        loop {
            steps += 1;
            interrupt::check_at(steps * 16)?;
            let Some(from) = candidate else { return Ok(None) };
            // Leaves enough items for the remaining positions.
            let end = if choice == Choice::Combinations { (n + 1 + chosen.len()).saturating_sub(r) } else { n };
            let is_free = |i: &usize| !used.get(*i).copied().unwrap_or(false);
            if chosen.len() < r
                && let Some(next) = (from..end).find(is_free)
            {
                chosen.push(next);
                if let Some(mark) = used.get_mut(next) {
                    *mark = true;
                }
                candidate = Some(match choice {
                    Choice::Combinations => next + 1,
                    Choice::WithReplacement => next,
                    Choice::Permutations => 0,
                });
                if chosen.len() < r {
                    continue;
                }
            } else if chosen.len() == r && r > 0 || chosen.len() < r {
                // The combination was returned, or no item is left for its next position.
                match chosen.pop() {
                    Some(last) => {
                        if let Some(mark) = used.get_mut(last) {
                            *mark = false;
                        }
                        candidate = Some(last + 1);
                    }
                    None => candidate = None,
                }
                continue;
            } else {
                // Without positions there is one combination, the empty one.
                candidate = None;
            }
            return Ok(Some(Value::tuple(chosen.iter().filter_map(|&i| pool.get(i).cloned()))));
        }
    }))
}

fn chained(state: &State, sources: &Value) -> Result<Value> {
    let (state, mut sources, mut current) = (state.handle(), iterate(state, sources)?, Iter::Done);
    Ok(Lazy::value("itertools.chain", move || {
        let mut at = 0;
        loop {
            if let Some(item) = current.next()? {
                return Ok(Some(item));
            }
            interrupt::check_at(at)?;
            at += 1;
            match sources.next()? {
                Some(source) => current = iterate(&state, &source)?,
                None => return Ok(None),
            }
        }
    }))
}

fn accumulate(call: &mut Call) -> Result<Value> {
    let (state, function) = (call.state.handle(), call.value(1));
    let mut items = iterate(&state, &call.value(0))?;
    let mut start = Some(call.value(2)).filter(|start| !matches!(start, Value::None));
    let mut total: Option<Value> = None;
    Ok(Lazy::value("itertools.accumulate", move || {
        if let Some(start) = start.take() {
            total = Some(start);
            return Ok(total.clone());
        }
        let Some(item) = items.next()? else { return Ok(None) };
        total = Some(match (&total, &function) {
            (None, _) => item,
            (Some(before), Value::None) => added(&state, before, &item)?,
            (Some(before), function) => call_plain(&state, function, vec![before.clone(), item])?,
        });
        Ok(total.clone())
    }))
}

fn count(call: &mut Call) -> Result<Value> {
    let (state, mut next, step) = (call.state.handle(), call.value(0), call.value(1));
    for number in [&next, &step] {
        if number.as_scalar().is_none() && !matches!(number, Value::BigInt(_)) {
            bail!(TypeError, "a number is required");
        }
    }
    Ok(Lazy::value("itertools.count", move || {
        let after = added(&state, &next, &step)?;
        Ok(Some(std::mem::replace(&mut next, after)))
    }))
}

fn cycle(call: &mut Call) -> Result<Value> {
    let mut items = iterate(call.state, &call.value(0))?;
    let (mut seen, mut at) = (Vec::new(), None);
    Ok(Lazy::value("itertools.cycle", move || {
        if at.is_none() {
            if let Some(item) = items.next()? {
                limits::grown_to::<Value>(seen.len() + 1)?;
                seen.push(item.clone());
                return Ok(Some(item));
            }
            at = Some(0);
        }
        let place = at.unwrap_or(0);
        at = Some(if place + 1 < seen.len() { place + 1 } else { 0 });
        Ok(seen.get(place).cloned())
    }))
}

fn repeat(call: &mut Call) -> Result<Value> {
    let object = call.value(0);
    let mut left = match call.value(1).items().as_deref() {
        None | Some([]) => None,
        Some([times, ..]) => Some(as_index(times)?.ok_or_else(|| no_integer(times))?),
    };
    Ok(Lazy::value("itertools.repeat", move || {
        if let Some(left) = &mut left {
            if *left <= 0 {
                return Ok(None);
            }
            *left -= 1;
        }
        Ok(Some(object.clone()))
    }))
}

fn islice(call: &mut Call) -> Result<Value> {
    let mut items = iterate(call.state, &call.value(0))?;
    let bounds = call.value(1).sequence().unwrap_or_default();
    let part = |value: Option<&Value>, name: &str| -> Result<Option<usize>> {
        let refused =
            || Error::value(format!("{name} for islice() must be None or an integer: 0 <= x <= sys.maxsize."));
        match value {
            None | Some(Value::None) => Ok(None),
            Some(value) => {
                let number = as_index(value).ok().flatten().ok_or_else(refused)?;
                usize::try_from(number).map(Some).map_err(|_| refused())
            }
        }
    };
    let (start, stop, step) = match bounds.as_slice() {
        [] => bail!(TypeError, "islice expected at least 2 arguments, got 1"),
        [stop] => (0, part(Some(stop), "Stop argument")?, 1),
        [start, stop, rest @ ..] if rest.len() < 2 => {
            let step = match rest.first() {
                None | Some(Value::None) => 1,
                Some(step) => match as_index(step).ok().flatten() {
                    Some(step @ 1..) => step as usize,
                    _ => bail!(ValueError, "Step for islice() must be a positive integer or None."),
                },
            };
            let stop = part(Some(stop), "Stop argument")?;
            (part(Some(start), "Indices")?.unwrap_or(0), stop, step)
        }
        more => bail!(TypeError, "islice expected at most 4 arguments, got {}", 1 + more.len()),
    };
    let (mut at, mut wanted) = (0usize, start);
    Ok(Lazy::value("itertools.islice", move || {
        if stop.is_some_and(|stop| wanted >= stop) {
            // Like in Python, the items before the end are still consumed.
            while stop.is_some_and(|stop| at < stop) && items.next()?.is_some() {
                interrupt::check_at(at)?;
                at += 1;
            }
            return Ok(None);
        }
        while at < wanted {
            interrupt::check_at(at)?;
            if items.next()?.is_none() {
                return Ok(None);
            }
            at += 1;
        }
        let item = items.next()?;
        at += usize::from(item.is_some());
        wanted = wanted.saturating_add(step);
        Ok(item)
    }))
}

fn zip_longest(call: &mut Call) -> Result<Value> {
    let (sources, fill) = (call.value(0).sequence().unwrap_or_default(), call.value(1));
    let mut sources =
        sources.iter().map(|source| iterate(call.state, source).map(Some)).collect::<Result<Vec<Option<Iter>>>>()?;
    Ok(Lazy::value("itertools.zip_longest", move || {
        let mut row = Vec::with_capacity(sources.len());
        for source in &mut sources {
            let item = match source {
                Some(items) => items.next()?,
                None => None,
            };
            if item.is_none() {
                *source = None;
            }
            row.push(item.unwrap_or_else(|| fill.clone()));
        }
        Ok(if sources.iter().all(Option::is_none) { None } else { Some(Value::Tuple(row.into())) })
    }))
}

/// An iterator shared by several others, with the items that each of these has not returned yet.
struct Shared {
    items: Iter,
    waiting: Vec<VecDeque<Value>>,
}

fn tee(call: &mut Call) -> Result<Value> {
    let n = as_index(&call.value(1))?.ok_or_else(|| no_integer(&call.value(1)))?;
    let Ok(n) = usize::try_from(n) else { bail!(ValueError, "n must be >= 0") };
    limits::room_for::<[Value; 4]>(n)?;
    let shared = Shared { items: iterate(call.state, &call.value(0))?, waiting: vec![VecDeque::new(); n] };
    let shared = Rc::new(RefCell::new(shared));
    Ok(Value::tuple((0..n).map(|own| {
        let shared = shared.clone();
        Lazy::value("itertools._tee", move || {
            let Ok(mut shared) = shared.try_borrow_mut() else {
                bail!(RuntimeError, "cannot re-enter the tee iterator")
            };
            if let Some(item) = shared.waiting.get_mut(own).and_then(VecDeque::pop_front) {
                return Ok(Some(item));
            }
            let Some(item) = shared.items.next()? else { return Ok(None) };
            for (_, waiting) in shared.waiting.iter_mut().enumerate().filter(|(i, _)| *i != own) {
                limits::grown_to::<Value>(waiting.len() + 1)?;
                waiting.push_back(item.clone());
            }
            Ok(Some(item))
        })
    })))
}

/// The state of `groupby`: the iterator and its position.
struct Groups {
    state: Rc<State>,
    items: Iter,
    key: Value,
    /// The item after the last one returned, and its key. It continues the current group or begins the next.
    ahead: Option<(Value, Value)>,
    /// The key of the current group.
    current: Option<Value>,
    /// The number of the current group. Older groups have no more items.
    number: usize,
}

impl Groups {
    fn look_ahead(&mut self) -> Result<()> {
        if self.ahead.is_none()
            && let Some(item) = self.items.next()?
        {
            let key = match &self.key {
                Value::None => item.clone(),
                function => call_plain(&self.state, function, vec![item.clone()])?,
            };
            self.ahead = Some((key, item));
        }
        Ok(())
    }

    /// Returns the next item of a group, or `None` at its end.
    fn next_of(&mut self, number: usize) -> Result<Option<Value>> {
        if number != self.number {
            return Ok(None);
        }
        self.look_ahead()?;
        let (Some((key, _)), Some(current)) = (&self.ahead, &self.current) else { return Ok(None) };
        if !operators::is_or_equals(&self.state, current, key)? {
            return Ok(None);
        }
        Ok(self.ahead.take().map(|(_, item)| item))
    }
}

fn groupby(call: &mut Call) -> Result<Value> {
    let (state, items, key) = (call.state.handle(), iterate(call.state, &call.value(0))?, call.value(1));
    let groups = Groups { state, items, key, ahead: None, current: None, number: 0 };
    let groups = Rc::new(RefCell::new(groups));
    let busy = || Error::value("groupby already executing");
    Ok(Lazy::value("itertools.groupby", move || {
        let mut all = groups.try_borrow_mut().map_err(|_| busy())?;
        let mut at = 0;
        let number = all.number;
        while all.current.is_some() && all.next_of(number)?.is_some() {
            interrupt::check_at(at)?;
            at += 1;
        }
        all.look_ahead()?;
        let Some((key, _)) = all.ahead.clone() else { return Ok(None) };
        all.current = Some(key.clone());
        all.number += 1;
        let (number, groups) = (all.number, groups.clone());
        let group =
            Lazy::value("itertools._grouper", move || groups.try_borrow_mut().map_err(|_| busy())?.next_of(number));
        Ok(Some(Value::tuple([key, group])))
    }))
}
