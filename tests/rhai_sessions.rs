//! The recorded sessions in Python, translated to Rhai, once as people write it and once restricted to Rhai's own
//! grammar. They must print the same as PyTorch 2.7.0, and write to each tensor as often as in Python. A session with a
//! line without a Rhai form is left out, and counted by the reason. `scripts/house/rhai` does the same with any other
//! sessions.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use tensorsh::languages::python::rhai_form::{VariableKind, grammar_form};
use tensorsh::session::transcript::{
    Case, Document, Example, Form, collect, matches, printed, read_text, spawn_with_big_stack,
};
use tensorsh::session::{Language, Session, SessionOptions};

/// With fewer sessions than this, the translation to Rhai would have lost a feature.
const LEAST: usize = 110;

/// The style of the Rhai.
#[derive(Clone, Copy, Debug)]
enum Forms {
    People,
    Grammar,
}

fn rewritten(session: &Session, forms: Forms, source: &str) -> Result<String, String> {
    match forms {
        Forms::People => session.rhai_form(source),
        Forms::Grammar => {
            let variables = session.variables();
            let known = |class: &str| if class == "Tensor" { VariableKind::Tensor } else { VariableKind::Other };
            grammar_form(source, &|name| variables.iter().find(|v| v.name == name).map(|v| known(&v.class)))
        }
    }
}

/// Returns the output of an input in recorded form.
fn answer(session: &mut Session, language: Language, source: &str, example: &Example) -> String {
    example.without_shown_dots(&printed(&session.eval(language, source))).to_owned()
}

fn run(case: &Case) -> impl Iterator<Item = &Example> {
    case.examples.iter().filter(|example| !example.options.skip)
}

fn is_right(example: &Example, got: &str) -> bool {
    matches(&example.expected, got, &example.options)
}

/// Runs the session in Python. Returns whether its output is as recorded.
fn in_python(case: &Case) -> (Session, bool) {
    let mut session = Session::new(SessionOptions::default());
    let is_right = run(case).all(|example| {
        let got = answer(&mut session, Language::Python, &example.source, example);
        is_right(example, &got)
    });
    (session, is_right)
}

/// Returns the tensors of a session with their numbers of writes.
fn writes(session: &mut Session) -> BTreeMap<String, String> {
    let tensors = session.variables().into_iter().filter(|variable| variable.class == "Tensor");
    let names: Vec<String> = tensors.map(|variable| variable.name).collect();
    let count = |name: String| {
        let version = session.eval(Language::Python, &format!("{name}._version"));
        (name, version.text)
    };
    names.into_iter().map(count).collect()
}

/// Returns the differences of a translated session from the recording, or the reason why it cannot be translated.
fn differences(case: &Case, forms: Forms) -> Result<Vec<String>, String> {
    let mut session = Session::new(SessionOptions::default());
    let mut differences = Vec::new();
    for example in run(case) {
        let rhai = rewritten(&session, forms, &example.source)?;
        let got = answer(&mut session, Language::Rhai, &rhai, example);
        if is_right(example, &got) {
            continue;
        }
        if !in_python(case).1 {
            return Err("in Python, too, something else is printed than was recorded".into());
        }
        if let Some(reason) = different_by_nature(example, &got) {
            return Err(reason.into());
        }
        differences
            .push(format!("{}\n  in Rhai: {rhai}\n  wanted:  {}\n  got:     {got}", example.source, example.expected));
    }
    // A tensor that is only read in one language must not be written to in the other.
    let (wanted, got) = (writes(&mut in_python(case).0), writes(&mut session));
    // The Rhai form may need additional names, spell names differently, and forget those of a loop.
    for (name, wanted) in &wanted {
        if let Some(got) = got.get(name).filter(|got| *got != wanted) {
            differences.push(format!("{name}._version is {got} in Rhai, and {wanted} in Python"));
        }
    }
    Ok(differences)
}

/// Returns why a line has different output in the two languages by design.
fn different_by_nature(example: &Example, got: &str) -> Option<&'static str> {
    let (wanted, last) = (&example.expected, got.trim_end().lines().last().unwrap_or_default());
    let is_block = ["for ", "while ", "if "].iter().any(|word| example.source.starts_with(word));
    Some(match () {
        () if is_block && !wanted.is_empty() && got.is_empty() => "blocks of Python show their values as they run",
        () if wanted.contains("(operator.invert)") => "Rhai has no operator `~`, of which the error speaks",
        () if wanted.contains("tuple") && last == wanted.lines().last()?.replace("tuple", "list") => {
            "the error tells of a tuple, which is an array in Rhai"
        }
        () if wanted.contains("object is not callable") => "in Rhai, `x.f()` calls the function `f` of that name",
        () if example.source.contains("f'") && last.matches("tensor(").count() > wanted.matches("tensor(").count() => {
            "a text of Python holds the number of a tensor, one of Rhai the tensor"
        }
        () if wanted.contains("indices must be integers") => "the error is about a subscript of a text or an array",
        () if wanted.contains("'int' object has no attribute") => "in Rhai, `n.f()` calls the function `f` of a number",
        () if wanted.contains("unexpected keyword") && last.contains("unexpected keyword") => {
            "Rhai forgets the order of keywords, and another wrong one is named"
        }
        () => return None,
    })
}

/// Returns the Python sessions of a file, by name.
fn cases(path: &Path) -> Vec<(String, Case)> {
    let document = Document::parse(&read_text(path).unwrap(), Form::of(path));
    let in_python = |case: &Case| case.examples.iter().all(|example| example.language == Language::Python);
    let cases = document.cases.into_iter().filter(in_python);
    cases.map(|case| (format!("{}: {}", path.display(), case.name), case)).collect()
}

/// Returns whether a page records NumPy's own functions, whose errors and conversions are about Python's classes.
fn is_about_numpy(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("numpy-"))
}

#[derive(Default)]
struct Tally {
    sessions: usize,
    lines: usize,
    left_out: BTreeMap<String, usize>,
    differences: Vec<String>,
}

impl Tally {
    fn of(cases: &[(String, Case)], forms: Forms) -> Tally {
        let mut tally = Tally::default();
        for (name, case) in cases {
            match differences(case, forms) {
                Ok(found) => {
                    tally.sessions += 1;
                    tally.lines += case.examples.len();
                    tally.differences.extend(found.iter().map(|text| format!("{name}\n{text}")));
                }
                Err(reason) => *tally.left_out.entry(reason).or_default() += 1,
            }
        }
        tally
    }

    fn add(&mut self, other: Tally) {
        self.sessions += other.sessions;
        self.lines += other.lines;
        self.differences.extend(other.differences);
        other.left_out.into_iter().for_each(|(reason, count)| *self.left_out.entry(reason).or_default() += count);
    }
}

#[test]
fn recorded_sessions_rewritten_in_rhai_print_the_same() {
    let own = ["tests/transcripts", "README.md", "docs"].map(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let given = env::var_os("TENSORSH_SESSIONS");
    let paths: Vec<PathBuf> = given.as_ref().map_or(own.into(), |paths| env::split_paths(paths).collect());
    let files: Vec<_> = paths.iter().flat_map(|path| collect(path).unwrap().pages).collect();
    let cases: Vec<_> =
        files.iter().filter_map(|file| file.path()).filter(|path| !is_about_numpy(path)).flat_map(cases).collect();
    let folder = tempfile::tempdir().unwrap();
    if given.is_some() {
        // Other sessions may write files in the current folder.
        env::set_current_dir(folder.path()).unwrap();
    }
    let share = cases.len().div_ceil(available_parallelism().map_or(1, Into::into)).max(1);
    for forms in [Forms::People, Forms::Grammar] {
        let threads: Vec<_> = cases
            .chunks(share)
            .map(|cases| {
                let cases = cases.to_vec();
                spawn_with_big_stack("sessions", move || Tally::of(&cases, forms)).unwrap()
            })
            .collect();
        let mut tally = Tally::default();
        threads.into_iter().for_each(|thread| tally.add(thread.join().unwrap()));
        let left_out: Vec<_> = tally.left_out.iter().map(|(reason, count)| format!("{count:6}  {reason}\n")).collect();
        println!(
            "{forms:?}: {} sessions rewritten, {} lines; left out: {}\n{}",
            tally.sessions,
            tally.lines,
            tally.left_out.values().sum::<usize>(),
            left_out.concat()
        );
        assert!(
            tally.differences.is_empty(),
            "{forms:?}: {} lines differ\n{}",
            tally.differences.len(),
            tally.differences.join("\n\n")
        );
        assert!(given.is_some() || tally.sessions >= LEAST, "{forms:?}: only {} sessions", tally.sessions);
    }
}
