//! Checks what `origin` says by tainting: for every function with a pattern, called as in tests/calls/layouts.txt, an
//! element that is changed changes exactly the elements of the result that were said to take it. Those that were said to
//! compare it may change; no others do.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::thread;
use tensorsh::autograd::Functions;
use tensorsh::call::State;
use tensorsh::call::reads::{Finder, Part, Reads, TracedCall, tensors_in};
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::tensor::{Layout, Scalar, Storage, Tensor, View};
use tensorsh::torch::origin_finder;
use tensorsh::value::Value;

/// Parsing and evaluation recurse deeply.
const STACK: usize = 1 << 28;
/// Calls with more elements are left out.
const MOST_ELEMENTS: i64 = 150;
/// The elements that are changed of each tensor.
const CHANGED: i64 = 12;
/// The calls of each overload.
const MOST_CALLS: usize = 4;

type Calls = Rc<RefCell<Vec<Rc<TracedCall>>>>;

/// Evaluates the calls of the table, and returns what was recorded of each.
fn recorded(session: &mut Session, calls: &Calls, code: &str) -> Vec<Rc<TracedCall>> {
    calls.borrow_mut().clear();
    // The listener takes the record while the expression is evaluated.
    let code = format!("explain((lambda r: (print('x'), r))({code}))");
    session.eval(Language::Python, &code);
    calls.borrow().clone()
}

#[test]
fn elements_that_are_changed_change_what_origin_names() {
    thread::Builder::new().stack_size(STACK).spawn(check).unwrap().join().unwrap();
}

#[test]
fn elements_are_followed_through_chains_of_calls() {
    let check = || {
        let mut session = Session::new(SessionOptions::default());
        let outcome = session.run_script(Language::Python, include_str!("chains.py"), None);
        assert_eq!((outcome.error.map(|error| error.message), outcome.text.as_str()), (None, "19 chains\n"));
    };
    thread::Builder::new().stack_size(STACK).spawn(check).unwrap().join().unwrap();
}

fn check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls/layouts.txt");
    let text = fs::read_to_string(path).unwrap();
    let behind = |mark: &str| text.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
    let (setup, each) = (behind("| ").join("\n"), behind("each ").concat());
    let calls = Calls::default();
    let heard = calls.clone();
    let live = move |_: tensorsh::session::Said| {
        if let Ok(state) = State::current() {
            heard.borrow_mut().extend(state.trace.end());
        }
    };
    let mut session = Session::new(SessionOptions { live: Some(Box::new(live)), ..SessionOptions::default() });
    assert_eq!(session.eval(Language::Python, &setup).error, None);
    let own = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sweep/origins.txt")).unwrap();
    let rows = text.lines().filter_map(|line| line.split_once('\t')).map(|(call, _)| call);
    let rows = rows.chain(own.lines().filter(|line| !line.starts_with('#') && !line.is_empty()));
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut complaints = Vec::new();
    let mut learnt: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut checked: BTreeMap<&str, usize> = BTreeMap::new();
    let learns = std::env::var_os("ORIGIN_LEARN").is_some();
    let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let row = row.trim_start_matches("~ ");
        let tried = rows_of.entry(row.split('(').next().unwrap_or_default()).or_default();
        *tried += 1;
        if *tried > MOST_CALLS {
            continue;
        }
        assert_eq!(session.eval(Language::Python, &each).error, None);
        let state = State::current().unwrap();
        for call in recorded(&mut session, &calls, row) {
            let count = seen.entry(call.key).or_default();
            // A subscript is not run by its key.
            if *count >= MOST_CALLS || !is_small(&call) || call.subscript.is_some() {
                continue;
            }
            *count += 1;
            let Some(tainted) = Tainted::of(&state, &call) else { continue };
            if let Reads::Unknown = call.reads {
                if own.lines().any(|line| line == row) && !call.tensors.is_empty() {
                    complaints.push(format!("{row}: {} has no pattern", call.key));
                }
                if learns {
                    let fitting: BTreeSet<&str> = tainted.fitting(&state, &call);
                    println!("FITS {}\t{}\t{row}", call.key, fitting.iter().copied().collect::<Vec<_>>().join(" "));
                    let before = learnt.entry(call.key).or_insert_with(|| fitting.clone());
                    before.retain(|name| fitting.contains(name));
                }
                continue;
            }
            let Some(find) = origin_finder(&state, &call) else {
                if own.lines().any(|line| line == row) {
                    complaints.push(format!("{row}: {} is not followed", call.key));
                }
                if learns {
                    learnt.entry(call.key).or_default().insert("no finder for these arguments");
                }
                continue;
            };
            *checked.entry(call.key).or_default() += 1;
            if let Some(complaint) = tainted.complaint(&call, &find) {
                complaints.push(format!("{row}: {}: {complaint}", call.key));
            }
        }
    }
    if learns {
        for (key, fitting) in &learnt {
            println!("LEARNT {key}\t{}", fitting.iter().copied().collect::<Vec<_>>().join(" "));
        }
    }
    println!("{} overloads checked", checked.len());
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
    assert!(checked.len() >= 300, "only {} overloads", checked.len());
}

fn is_small(call: &TracedCall) -> bool {
    let dense = |view: &View| view.form.is_none() && !view.device().is_meta() && !view.conj && !view.neg;
    let all = || call.tensors.iter().chain(&call.outputs);
    let is_plain = |view: &View| dense(view) && view.layout.has_distinct_elements();
    all().all(|traced| is_plain(&traced.view)) && all().map(|traced| traced.view.numel()).sum::<i64>() <= MOST_ELEMENTS
}

/// For an element of a tensor, by their numbers: the elements of results that changed.
type Effects = BTreeMap<(usize, i64), BTreeSet<(usize, i64)>>;

/// The effects of changing each element of a call's tensors.
struct Tainted {
    /// Changes with other data: integers may hide a change, as `0 * x` does.
    possible: Effects,
    /// For an element of a tensor: the elements of results that changed, for each way of changing it.
    changes: Effects,
}

impl Tainted {
    /// `None` for a call that does not repeat, such as one that draws random numbers.
    fn of(state: &State, call: &TracedCall) -> Option<Tainted> {
        let before: Vec<View> = call.tensors.iter().map(|traced| traced.view.clone()).collect();
        let changes = Tainted::changes(state, call, &before)?;
        let mut possible = changes.clone();
        for seed in 0..3 {
            let mut random = crate::grid::Random::new(seed);
            let other: Vec<View> = before.iter().map(|view| shuffled(view, &mut random)).collect();
            for (element, changed) in Tainted::changes(state, call, &other).unwrap_or_default() {
                possible.entry(element).or_default().extend(changed);
            }
        }
        Some(Tainted { changes, possible })
    }

    fn changes(state: &State, call: &TracedCall, before: &[View]) -> Option<Effects> {
        let run = |changed: Option<(usize, i64, Scalar)>| -> Option<Vec<Vec<u128>>> {
            let copies: Vec<Tensor> = before.iter().map(copy).collect();
            if let Some((tensor, element, value)) = changed {
                let view = copies[tensor].view();
                let place = view.layout.offset_of(element);
                let one = view.with_layout(Layout {
                    sizes: [].into_iter().collect(),
                    strides: [].into_iter().collect(),
                    offset: place,
                });
                tensorsh::tensor::ops::copy::fill(&one, value).ok()?;
            }
            let mut next = copies.iter();
            let args: Vec<Value> = call.args.iter().map(|arg| replaced(arg, &mut next)).collect();
            let result = state.call(call.key, &args).ok()?;
            let mut outputs = tensors_in([&result]);
            if outputs.is_empty() && call.is_in_place {
                outputs = tensors_in(copies.first().map(|tensor| Value::Tensor(tensor.clone())).as_ref());
            }
            Some(outputs.iter().map(|output| crate::grid::bits(&output.view)).collect())
        };
        let base = run(None)?;
        if base != run(None)? || base.is_empty() {
            return None;
        }
        let mut changes = BTreeMap::new();
        for (tensor, view) in before.iter().enumerate() {
            let memory = view.memory().ok()?;
            for element in 0..view.numel().min(CHANGED) {
                let value = view.read(&memory, view.layout.offset_of(element));
                let mut changed: BTreeSet<(usize, i64)> = BTreeSet::new();
                for other in others(value, view) {
                    let Some(results) = run(Some((tensor, element, other))) else { continue };
                    for (output, (old, new)) in base.iter().zip(&results).enumerate() {
                        if old.len() != new.len() {
                            changed.extend((0..old.len() as i64).map(|number| (output, number)));
                        }
                        let differ = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
                        changed.extend(differ.map(|(number, _)| (output, number as i64)));
                    }
                }
                changes.insert((tensor, element), changed);
            }
        }
        Some(changes)
    }

    /// Returns the first difference between what changed and what a pattern names.
    fn complaint(&self, call: &TracedCall, find: &Finder) -> Option<String> {
        let mut named: BTreeMap<(usize, i64), BTreeMap<(usize, i64), Part>> = BTreeMap::new();
        for (output, made) in call.outputs.iter().enumerate() {
            for number in 0..made.view.numel() {
                for read in find(output, number) {
                    let parts = named.entry((read.tensor, read.element)).or_default();
                    let part = parts.entry((output, number)).or_insert(read.part);
                    *part = (*part).min(read.part);
                }
            }
        }
        for (element, changed) in &self.changes {
            let none = BTreeMap::new();
            let parts = named.get(element).unwrap_or(&none);
            if let Some(missed) = changed.iter().find(|place| !parts.contains_key(place)) {
                return Some(format!("{element:?} changes {missed:?}, which does not name it"));
            }
            let taking = parts.iter().filter(|(_, part)| **part == Part::Taken);
            let possible = self.possible.get(element).unwrap_or(changed);
            if let Some((idle, _)) = taking.into_iter().find(|(place, _)| !possible.contains(place)) {
                return Some(format!("{element:?} does not change {idle:?}, which takes it"));
            }
        }
        None
    }

    fn fitting(&self, state: &State, call: &Rc<TracedCall>) -> BTreeSet<&'static str> {
        use tensorsh::call::reads::{Span::*, Takes};
        let spans = [Same, Along, Reduction, UpTo, Line, Matrix, All];
        let names = ["Same", "Along", "Reduction", "UpTo", "Line", "Matrix", "All"];
        let takes = [(Takes::All, "All"), (Takes::Indexed, "Indexed"), (Takes::Equal, "Equal"), (Takes::None, "None")];
        let mut tried: Vec<(String, Reads)> =
            vec![("Nothing".into(), Reads::Nothing), ("Place".into(), Reads::Place), ("Moved".into(), Reads::Moved)];
        for (span, name) in spans.iter().zip(names) {
            for (takes, taken) in takes {
                tried.push((format!("{name}/{taken}"), Reads::Spanned(*span, takes)));
            }
        }
        let mut found = BTreeSet::new();
        for (name, reads) in tried {
            let call = Rc::new(TracedCall {
                reads,
                args: call.args.clone(),
                tensors: call.tensors.clone(),
                outputs: call.outputs.clone(),
                subscript: None,
                ..**call
            });
            if let Some(find) = origin_finder(state, &call)
                && self.complaint(&call, &find).is_none()
            {
                found.insert(&*name.leak());
            }
        }
        found
    }
}

/// Returns values that differ from one, NaN first.
fn others(value: Scalar, view: &View) -> Vec<Scalar> {
    match value {
        Scalar::Bool(is) => vec![Scalar::Bool(!is)],
        Scalar::Int(_) | Scalar::UInt(_) if !view.dtype.is_floating_point() => {
            let number = value.to_i64();
            [number + 1, number - 1, number + 37, number - 41].map(Scalar::Int).to_vec()
        }
        Scalar::Complex(c) => vec![Scalar::Complex(c + 1.5), Scalar::Complex(c * 2.0 - 3.0)],
        _ => vec![Scalar::Float(f64::NAN), Scalar::Float(value.to_f64() + 1.71), Scalar::Float(value.to_f64() - 2.3)],
    }
}

/// Returns an argument with other tensors in place of its own.
fn replaced<'t>(value: &Value, next: &mut impl Iterator<Item = &'t Tensor>) -> Value {
    match value {
        Value::Tensor(_) => Value::Tensor(next.next().unwrap().clone()),
        Value::List(_) | Value::Tuple(_) => {
            Value::list(value.sequence().unwrap().iter().map(|item| replaced(item, next)).collect::<Vec<_>>())
        }
        other => other.clone(),
    }
}

/// Returns other elements for a tensor of integers or truths.
fn shuffled(view: &View, random: &mut crate::grid::Random) -> View {
    let copied = copy(view).view();
    if !view.dtype.is_complex() {
        let most = random.choose(&[5, 120]);
        for number in 0..view.numel() {
            let place = Layout {
                sizes: [].into_iter().collect(),
                strides: [].into_iter().collect(),
                offset: view.layout.offset_of(number),
            };
            let _ = tensorsh::tensor::ops::copy::fill(
                &copied.with_layout(place),
                Scalar::Int(random.below(most) as i64 + 1),
            );
        }
    }
    copied
}

/// Copies a tensor with its layout and the bytes that it shows.
fn copy(view: &View) -> Tensor {
    let bytes = view.storage.data().and_then(|memory| memory.to_vec()).unwrap_or_default();
    Tensor::new(View { storage: Storage::from_bytes(&bytes).unwrap(), ..view.clone() })
}
