//! The lessons of docs/learn: their answers, their Rhai forms, and tricks that no exercise may fall for.

use super::trial::judged;
use super::*;
use crate::texts::lesson_pages;
use crate::transcript::{Options, Tried, matches, printed};

fn lessons_of_pages() -> Vec<Lesson> {
    lesson_pages().iter().map(|(_, page)| parse::lesson("", page)).collect()
}

/// Asserts that `check` returns no complaint about any page, on two threads.
fn for_each_page(check: fn(&str, &str) -> String) {
    let pages = lesson_pages();
    let told = std::thread::scope(|scope| {
        let pages = &pages;
        let parts = [0, 1].map(|part| {
            let run =
                move || pages.iter().skip(part).step_by(2).map(|(name, page)| check(name, page)).collect::<String>();
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, run).unwrap()
        });
        parts.map(|part| part.join().unwrap()).concat()
    });
    assert!(told.is_empty(), "{told}");
}

#[test]
fn right_answers_pass_and_no_others() {
    for_each_page(|name, page| {
        let on_open: OnOpen = Rc::new(|_| {});
        let tried = tried(page, &on_open);
        assert!(tried.len() > 30, "{name}");
        let told = |tried: &Tried| Some(format!("{name}:{}: {}: {}\n", tried.line, tried.text, tried.fault.as_ref()?));
        tried.iter().filter_map(told).collect()
    });
}

#[test]
fn every_exercise_has_answers_of_every_kind() {
    for lesson in lessons_of_pages() {
        for exercise in &lesson.exercises {
            let kinds = [("right", &exercise.right), ("wrong", &exercise.wrong), ("tricks", &exercise.tricks)];
            for (kind, answers) in kinds {
                assert!(answers.len() >= 5, "{}: {}: {kind}", lesson.title, exercise.title);
                let different: BTreeSet<_> = answers.iter().collect();
                assert_eq!(different.len(), answers.len(), "{}: {}: {kind}", lesson.title, exercise.title);
            }
        }
    }
}

/// An object that equals everything, and has all attributes and methods.
const ALWAYS: &str = "type('A', (), {'__eq__': lambda s, o: True, '__getattr__': lambda s, n: s, '__call__': lambda s, *a: s, '__bool__': lambda s: True, '__len__': lambda s: 1, '__iter__': lambda s: iter([s]), '__int__': lambda s: 1, '__getitem__': lambda s, i: s})()";

/// New meanings of names that a check could use.
const REBINDINGS: [&str; 6] = [
    "int = bool = float = len = lambda *a: 15360",
    "tuple = list = type = id = isinstance = lambda *a: True",
    "torch.equal = torch.Tensor.equal = lambda *a: True",
    "torch.Tensor.tolist = torch.Tensor.item = lambda *a: 1",
    "shares = same = number = lambda *a: True; given = fresh = None",
    "rebound = moved = (); writes = calls = {}; assert True",
];

#[test]
fn no_exercise_is_fooled() {
    for_each_page(|name, page| {
        parse::lesson("", page).exercises.iter().map(|exercise| fooled_by(exercise, name)).collect()
    });
}

/// Returns the tricks that an exercise falls for.
fn fooled_by(exercise: &Exercise, page: &str) -> String {
    let begin = || exercise.begin(Language::Python, SessionOptions::default());
    let mut told = String::new();
    let mut give = |inputs: &[&str]| {
        let mut attempt = begin();
        for input in inputs {
            if attempt.answer(Language::Python, input).1 == Some(Verdict::Right) {
                told.push_str(&format!("{page}: {}: {input} of {inputs:?}\n", exercise.title));
            }
        }
    };
    for rebinding in REBINDINGS {
        let wrong = exercise.wrong.iter().map(String::as_str);
        give(&std::iter::once(rebinding).chain(wrong).collect::<Vec<_>>());
    }
    give(&[ALWAYS, "[]", "True", "''", "torch.tensor([])"]);
    let names: Vec<_> = exercise.given.lines().filter_map(|line| line.split_once(" = ")).collect();
    let names: Vec<_> = names.iter().flat_map(|(names, _)| names.split(", ")).collect();
    for variable in &names {
        give(&[&format!("{variable} = {ALWAYS}"), variable]);
    }
    // The result of a right answer, written down.
    let mut solved = begin();
    solved.answer(Language::Python, &exercise.right[0]);
    let solved = solved.desk;
    let written = |name: &str| {
        let text = solved.session_mut().eval(Language::Python, &format!("print({name}.tolist(), {name}.dtype)")).text;
        let text = if text.is_empty() { solved.log().since(0).last().map(|input| input.output.clone())? } else { text };
        text.trim_end().rsplit_once(' ').map(|(list, dtype)| format!("torch.tensor({list}, dtype={dtype})"))
    };
    if exercise.asks_for_value() && !exercise.second.is_empty() {
        let last = solved.log().since(0).last().map(|input| input.output.clone()).unwrap_or_default();
        let shown = last.trim_end().replace("tensor(", "torch.tensor(").replace("dtype=torch.torch", "dtype=torch");
        give(&[&shown, &format!("a = {shown}; a"), &written("_").unwrap_or_default()]);
    }
    for variable in names.iter().filter(|_| !exercise.asks_for_value()) {
        let Some(literal) = written(variable).filter(|text| text.contains("torch.")) else { continue };
        for trick in ["{} = []", "{}.data = []", "{}.set_([])", "{}.numpy()[...] = [].numpy()"] {
            give(&[&trick.replace("{}", variable).replace("[]", &literal)]);
        }
    }
    told
}

/// Checks that a page shows the same in Rhai as in Python.
fn shows_the_same(place: &str, parts: &[PagePart], session: &mut Session) {
    for part in parts {
        let PagePart::Session(inputs) = part else { continue };
        let wanted: Vec<_> = inputs.python.iter().map(|example| example.expected.as_str()).collect();
        let mut shown = Vec::new();
        for example in inputs.examples(Language::Rhai) {
            let is_formed = example.language == Language::Rhai || session.rhai_form(&example.source).is_ok();
            assert!(is_formed, "{place}: {} has no Rhai form", example.source);
            let told = translated(session, Language::Rhai, example.language, &example.source);
            let outcome = told.map(|told| session.eval(told.language, &told.source));
            shown.push(outcome.map(|outcome| printed(&outcome)).unwrap_or_default());
        }
        let (wanted, shown) = (wanted.join("\n"), shown.concat());
        let [wanted, shown] = [&wanted, &shown].map(|text| text.lines().filter(|line| !line.is_empty()));
        let [wanted, shown] = [wanted.collect::<Vec<_>>().join("\n"), shown.collect::<Vec<_>>().join("\n")];
        let terms = Options { ellipsis: true, ..Options::default() };
        assert!(matches(&wanted, &shown, &terms), "{place}\n{wanted}\n\n{shown}");
    }
}

#[test]
fn pages_show_the_same_in_rhai() {
    for lesson in lessons_of_pages() {
        let fresh = || Session::new(SessionOptions::default());
        shows_the_same(&lesson.title, &lesson.parts, &mut fresh());
        for exercise in &lesson.exercises {
            let begin = || exercise.begin(Language::Rhai, SessionOptions::default());
            let place = format!("{}: {}", lesson.title, exercise.title);
            let given = begin().given;
            assert!(given.iter().all(|told| told.language == Language::Rhai), "{place}: {given:?}");
            let mut session = fresh();
            given.iter().for_each(|told| drop(session.eval(told.language, &told.source)));
            exercise.hints.iter().for_each(|hint| shows_the_same(&place, hint, &mut session));
            shows_the_same(&place, &exercise.solution, &mut fresh());
        }
    }
}

fn exercise(given: &str, second: &str, check: &str) -> Exercise {
    Exercise { given: given.into(), second: second.into(), check: check.into(), ..Exercise::default() }
}

fn verdict(exercise: &Exercise, inputs: &[&str]) -> Verdict {
    let inputs: Vec<_> = inputs.iter().map(|input| (Language::Python, *input)).collect();
    let on_open: OnOpen = Rc::new(|_| {});
    judged(exercise, Language::Python, &inputs, &on_open).unwrap().unwrap()
}

#[test]
fn every_input_gets_a_verdict_or_a_reason() {
    let changes = exercise("import torch\nt = torch.zeros(2)", "", "given.t.tolist() == [1, 0]");
    let asks = exercise("import torch\nt = torch.zeros(2)", "", "same(answer, fresh.t + 1)");
    let rows = [
        ("t", "step Nothing was written: all that was given is as before.", "step Only a look: `t` was given."),
        (
            "print(t)",
            "step Only a look: nothing was written.",
            "step Only a look: the exercise asks for a value, not for text or a picture.",
        ),
        (
            "explain(t)",
            "step Only a look: nothing was written.",
            "step Only a look: the exercise asks for a value, not for text or a picture.",
        ),
        ("s = t[1:]", "step `s` is new; all that was given is as before.", "unsaid To submit it, type s."),
        ("t[0] = 2", "wrong Not yet.", "step Nothing was shown: the exercise asks for a value."),
        ("t + 2", "step Nothing was written: all that was given is as before.", "wrong Not yet."),
        ("t + 1", "step Nothing was written: all that was given is as before.", "right Right."),
        (
            "t[0] = 0",
            "wrong Not yet: nothing has changed; all that was given is as before.",
            "step Nothing was shown: the exercise asks for a value.",
        ),
        ("t[0] = 1", "right Right.", "step Nothing was shown: the exercise asks for a value."),
        (
            "t[[0]][0] = 1",
            "wrong Not yet: this wrote to other memory; all that was given is as before.",
            "step Nothing was shown: the exercise asks for a value.",
        ),
        (
            "t = torch.tensor([1., 0.])",
            "forbidden Not this way: `t` names something else now; what it named is as before.",
            "step Nothing was shown: the exercise asks for a value.",
        ),
        (
            "t.data = torch.tensor([1., 0.])",
            "forbidden Not this way: `t` shows other memory now; the memory that it showed is as before.",
            "step Nothing was shown: the exercise asks for a value.",
        ),
    ];
    for (source, of_changes, of_asks) in rows {
        for (exercise, wanted) in [(&changes, of_changes), (&asks, of_asks)] {
            let verdict = verdict(exercise, &[source]);
            assert_eq!(format!("{} {}", verdict.name(), verdict.text()), wanted, "{source}: {}", exercise.check);
        }
    }
    // A variable counts as an answer once it is shown.
    assert_eq!(verdict(&asks, &["s = t + 1", "s"]), Verdict::Right);
    assert_eq!(verdict(&asks, &["t = t + 1", "t"]), Verdict::Right);
}

#[test]
fn answers_are_tried_on_other_data() {
    let sum =
        exercise("import torch\nt = torch.arange(3)", "import torch\nt = torch.arange(5)", "number(answer) == t.sum()");
    for answer in ["t.sum()", "sum(t.tolist())", "t[0] + t[1:].sum()"] {
        assert_eq!(verdict(&sum, &[answer]), Verdict::Right, "{answer}");
    }
    for answer in ["3", "torch.tensor(3)", "t[0] + t[1] + t[2]", "3 if len(t) == 3 else 0"] {
        let said = "Not yet: this is right for these data only; with other data it fails.";
        assert_eq!(verdict(&sum, &[answer]).text(), said, "{answer}");
    }
    // All inputs are given again, those that failed as well.
    assert_eq!(verdict(&sum, &["t = t * 1", "n = t.sum()", "n"]), Verdict::Right);
}

#[test]
fn the_judge_keeps_no_handle() {
    let asks = exercise("import torch\nt = torch.zeros(2)\nv = t[1:]", "", "shares(answer, given.t)");
    let mut attempt = asks.begin(Language::Python, SessionOptions::default());
    let handles = |attempt: &Attempt| {
        let text = attempt.desk.session().aliases().text();
        text.lines().find(|line| line.starts_with("storage #1")).map(str::to_owned)
    };
    let before = handles(&attempt);
    attempt.answer(Language::Python, "t + 1");
    attempt.answer(Language::Python, "x = [t]; x.clear(); 5");
    attempt.answer(Language::Python, "6; 7; 8");
    assert_eq!(handles(&attempt), before);
}

#[test]
fn what_an_answer_did_is_known() {
    let facts = "torch.equal(given.t, torch.ones(3)) and (calls.get('fill_', 0), writes) == (1, {'tensor': 12})";
    let fills = exercise("import torch\nt = torch.zeros(3)\nb = bytearray(4)", "", facts);
    assert_eq!(verdict(&fills, &["t.fill_(1)"]), Verdict::Right);
    for other in ["t.add_(1)", "t[:2].fill_(1); t[2] = 1", "t.numpy()[:] = 1", "t.fill_(1); t.fill_(1)"] {
        assert_ne!(verdict(&fills, &[other]), Verdict::Right, "{other}");
    }
    let rows = [
        ("t[1] = 1", "{'tensor': 4}"),
        ("t.numpy()[1] = 1", "{'array': 4}"),
        ("t.untyped_storage()[3] = 1", "{'storage': 1}"),
        ("t.data[1:] = 1", "{'tensor': 8}"),
        ("t.view(torch.uint8)[3] += 1", "{'tensor': 1}"),
        ("t.clone()[0] = 1", "{}"),
    ];
    for (source, wanted) in rows {
        let writes = exercise("import torch\nt = torch.zeros(3)", "", &format!("writes == {wanted}"));
        let mut attempt = writes.begin(Language::Python, SessionOptions::default());
        let (_, verdict) = attempt.answer(Language::Python, source);
        assert_eq!(verdict, Some(Verdict::Right), "{source}");
    }
    let steps =
        exercise("import torch\nt = torch.zeros(2, 2)", "", "steps == ['t', 'as_strided'] and answer is not None");
    assert_eq!(verdict(&steps, &["t.t().as_strided((2,), (1,))"]), Verdict::Right);
}
