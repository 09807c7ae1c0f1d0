//! Commands that the prompt carries out itself: `:vars`, `:save`, `:undo`, … One row per command.

use std::path::Path;
use std::time::{Duration, Instant};

use owo_colors::{OwoColorize, Style};

use super::assistant::paths;
use super::fault::describe;
use super::help::help;
use super::log::{Entry, compare};
use super::pager::page;
use super::prompt::Prompt;
use super::saving::saved;
use super::screen::{Stream, complain, drawn, show};
use super::table;
use crate::session::{Failure, Language, Session, Undone, nearest, wrapped};
use crate::transcript::read_text;

/// The time for which `:timeit` repeats.
const TIMEIT: Duration = Duration::from_millis(1000);

/// A command.
struct Command {
    name: &'static str,
    /// The arguments after the name.
    arguments: &'static str,
    doc: &'static str,
    run: fn(&mut Prompt, &str) -> Flow,
}

/// Whether the prompt goes on.
pub enum Flow {
    On,
    /// With this exit status.
    Leave(i32),
}

const COMMANDS: &[Command] = &[
    Command { name: "aliases", arguments: "", doc: "the variables, storage by storage, drawn", run: aliases },
    Command { name: "bits", arguments: "X", doc: "sign, exponent and mantissa of one number", run: bits },
    Command { name: "bytes", arguments: "X[, DTYPES]", doc: "the bytes of a tensor or a storage, decoded", run: bytes },
    Command { name: "check", arguments: "", doc: "compare the last paste with its recorded outputs", run: check },
    Command { name: "explain", arguments: "T", doc: "what a tensor shows of its storage, drawn", run: explain },
    Command {
        name: "help",
        arguments: "[NAME or WORDS]",
        doc: "what a function does; or these commands",
        run: show_help,
    },
    Command { name: "load", arguments: "FILE", doc: "run a script, or a session in a .md or .txt file", run: load },
    Command { name: "python", arguments: "[CODE]", doc: "read what is typed as Python; or just this", run: python },
    Command { name: "quit", arguments: "", doc: "leave, as Ctrl-D does", run: |_, _| Flow::Leave(0) },
    Command { name: "reset", arguments: "", doc: "forget every variable and setting", run: reset },
    Command { name: "rhai", arguments: "[CODE]", doc: "read what is typed as Rhai; or just this", run: rhai },
    Command {
        name: "save",
        arguments: "FILE.md|FILE.rhai|FILE.py",
        doc: "write this session as a transcript, or as a script that gives its variables again",
        run: save,
    },
    Command { name: "time", arguments: "CODE", doc: "run once and say how long it took", run: time },
    Command { name: "timeit", arguments: "CODE", doc: "run many times and say how long one takes", run: timeit },
    Command { name: "translate", arguments: "on|off|CODE", doc: "show the Rhai form of Python", run: translate },
    Command { name: "undo", arguments: "", doc: "variables and bytes as before the last input", run: undo },
    Command { name: "vars", arguments: "", doc: "every variable: shape, storage, who shares it", run: vars },
    Command { name: "why", arguments: "T, SHAPE|DTYPE", doc: "why a view works or does not", run: why },
];

/// Whether an entry is for the prompt itself: `:vars`, `?view`, `view?`.
pub fn is_command(entry: &str) -> bool {
    let entry = entry.trim();
    let is_path = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    entry.starts_with(':')
        || entry.starts_with('?')
        || entry.strip_suffix('?').is_some_and(is_path)
        || entry
            .strip_prefix("help(")
            .and_then(|rest| rest.strip_suffix(')'))
            .is_some_and(|name| is_path(unquoted(name)))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// The ways to complete a command line, and where what they replace begins.
pub fn complete(line: &str, at: usize) -> Option<(usize, Vec<(String, String)>)> {
    let typed = line.get(..at)?.strip_prefix(':')?;
    match typed.split_once(' ') {
        None => {
            let meant = COMMANDS.iter().filter(|command| command.name.starts_with(typed));
            Some((0, meant.map(|command| (format!(":{}", command.name), command.doc.to_owned())).collect()))
        }
        Some(("load" | "save", path)) => {
            let (length, found) = paths(path.trim_start());
            Some((at - length, found))
        }
        Some(_) => None,
    }
}

/// Runs a command line.
pub fn run(prompt: &mut Prompt, entry: &str) -> Flow {
    let entry = entry.trim();
    let Some(line) = entry.strip_prefix(':') else {
        let topic = entry.strip_prefix("help(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(entry);
        return show_help(prompt, unquoted(topic.trim_matches('?')));
    };
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let meant: Vec<_> = COMMANDS.iter().filter(|command| command.name.starts_with(name) && !name.is_empty()).collect();
    let chosen =
        meant.iter().find(|command| command.name == name).or_else(|| meant.first().filter(|_| meant.len() == 1));
    match chosen {
        Some(command) => (command.run)(prompt, rest.trim()),
        None => {
            let names: Vec<_> = meant.iter().map(|command| format!(":{}", command.name)).collect();
            let near = match nearest(name, COMMANDS.iter().map(|command| command.name)) {
                _ if !names.is_empty() => format!("is it {}?", names.join(" or ")),
                Some(near) => format!("did you mean :{near}?"),
                None => ":help lists the commands".to_owned(),
            };
            complain(&format!("there is no command :{name}; {near}\n"));
            Flow::On
        }
    }
}

fn show_help(prompt: &mut Prompt, topic: &str) -> Flow {
    let text = if topic.is_empty() { overview(prompt.columns()) } else { help(&prompt.session(), topic) };
    page(&text, prompt.rows());
    Flow::On
}

/// The keys that the overview tells of.
const KEYS: &[(&str, &str)] = &[
    ("?NAME, NAME?, help(NAME)", "what a function does; F1 on the name at the cursor"),
    ("Tab", "names, methods, keywords, files"),
    ("Ctrl-R", "search what was typed before; the right arrow takes the dimmed hint"),
    ("Ctrl-X Ctrl-E", "edit the entry in $EDITOR"),
    ("Ctrl-C, Ctrl-D", "stop what runs; leave"),
    ("_, __, ___", "the last three results; a closing ; shows none"),
];

/// What there is besides the language; words stay whole on a terminal of so many columns.
fn overview(columns: usize) -> String {
    let first = "Type Rhai, or Python behind `>>> `; paste a session as it stands, outputs and all.";
    let mut text = wrapped(first, columns).join("\n") + "\n\n";
    let commands = COMMANDS.iter().map(|command| (format!(":{} {}", command.name, command.arguments), command.doc));
    let keys = KEYS.iter().map(|(key, doc)| ((*key).to_owned(), *doc));
    for (head, doc) in commands.chain([(String::new(), "")]).chain(keys) {
        // On a narrow terminal the text stands below its head.
        let (indent, is_beside) = if columns < 60 { (6, false) } else { (29, head.chars().count() <= 26) };
        let lines = wrapped(doc, columns.saturating_sub(indent).max(20));
        let mut lines = lines.iter();
        let beside = if is_beside { lines.next().map(String::as_str).unwrap_or_default() } else { "" };
        text.push_str(format!("  {head:<26} {beside}").trim_end());
        text.push('\n');
        lines.for_each(|line| text.push_str(&format!("{:indent$}{line}\n", "")));
    }
    text
}

fn vars(prompt: &mut Prompt, _: &str) -> Flow {
    let mut text = table::variables(&prompt.session().variables(), prompt.columns());
    for cost in prompt.session().costs() {
        text.push_str(&format!("{cost}\n"));
    }
    page(&text, prompt.rows());
    Flow::On
}

fn aliases(prompt: &mut Prompt, _: &str) -> Flow {
    let picture = prompt.session().aliases();
    let mut text = String::new();
    for line in picture.lines() {
        let pieces = line.iter().filter(|piece| !piece.text.is_empty());
        pieces.for_each(|piece| text.push_str(&drawn(prompt.screen(), piece.ink, &piece.text)));
        text.push('\n');
    }
    page(&text, prompt.rows());
    Flow::On
}

fn explain(prompt: &mut Prompt, arguments: &str) -> Flow {
    called(prompt, "explain", arguments)
}

fn why(prompt: &mut Prompt, arguments: &str) -> Flow {
    called(prompt, "why", arguments)
}

fn bytes(prompt: &mut Prompt, arguments: &str) -> Flow {
    called(prompt, "show_bytes", arguments)
}

fn bits(prompt: &mut Prompt, arguments: &str) -> Flow {
    called(prompt, "bits", arguments)
}

/// Evaluates a call of a function that draws, its arguments as they were typed.
fn called(prompt: &mut Prompt, function: &str, arguments: &str) -> Flow {
    let (language, arguments) = prompt.language_of(arguments);
    let code = format!("{function}({arguments})");
    let outcome = prompt.eval_paged(language, &code);
    prompt.settle(&outcome, &code).map_or(Flow::On, Flow::Leave)
}

fn python(prompt: &mut Prompt, code: &str) -> Flow {
    switch(prompt, Language::Python, code)
}

fn rhai(prompt: &mut Prompt, code: &str) -> Flow {
    switch(prompt, Language::Rhai, code)
}

fn switch(prompt: &mut Prompt, language: Language, code: &str) -> Flow {
    if code.is_empty() {
        prompt.set_language(language);
        return Flow::On;
    }
    let outcome = prompt.eval(language, code);
    prompt.settle(&outcome, code).map_or(Flow::On, Flow::Leave)
}

fn time(prompt: &mut Prompt, code: &str) -> Flow {
    if code.is_empty() {
        return usage("time");
    }
    let (language, code) = prompt.language_of(code);
    let begun = Instant::now();
    let outcome = prompt.eval(language, code);
    let elapsed = begun.elapsed();
    let left = prompt.settle(&outcome, code);
    prompt.remark(&format!("{elapsed:.1?}"));
    left.map_or(Flow::On, Flow::Leave)
}

fn timeit(prompt: &mut Prompt, code: &str) -> Flow {
    if code.is_empty() {
        return usage("timeit");
    }
    let (language, code) = prompt.language_of(code);
    match prompt.watched(|session| session.timeit(language, code, TIMEIT)) {
        Ok(timing) => prompt.remark(&format!("{:.1?} (best {:.1?}, {} runs)", timing.median, timing.best, timing.runs)),
        Err(failure) => complain(&describe(prompt.screen(), &failure, code, None)),
    }
    Flow::On
}

/// The failure with the command that was meant, where an input begins with a name that nothing goes by.
pub fn suggested(failure: &Failure, source: &str) -> Failure {
    let mut failure = failure.clone();
    let word = source.split_whitespace().next().unwrap_or_default();
    if failure.kind != "NameError" || failure.message != format!("name '{word}' is not defined") {
        return failure;
    }
    let names = COMMANDS.iter().map(|command| command.name);
    if names.clone().any(|name| name == word) {
        failure.hint = Some(format!("`:{word}` is the command of that name"));
    } else if failure.hint.is_none() {
        failure.hint = nearest(word, names).map(|name| format!("did you mean ':{name}'?"));
    }
    failure
}

fn usage(name: &str) -> Flow {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        complain(&format!(":{name} {} -- {}\n", command.arguments, command.doc));
    }
    Flow::On
}

fn translate(prompt: &mut Prompt, code: &str) -> Flow {
    match code {
        "" | "on" => prompt.set_translates(true),
        "off" => prompt.set_translates(false),
        code => {
            let code = code.strip_prefix(">>> ").unwrap_or(code);
            match prompt.session().rhai_form(code) {
                Ok(rhai) => show(&format!("{rhai}\n")),
                Err(reason) => complain(&format!("{reason}\n")),
            }
        }
    }
    Flow::On
}

fn undo(prompt: &mut Prompt, _: &str) -> Flow {
    let undone = prompt.watched(Session::undo);
    let inputs = if undone.is_some() { prompt.forget_undone() } else { Vec::new() };
    match undone {
        None => complain("there is nothing to undo\n"),
        Some(Err(error)) => complain(&format!("{}: {}\n", error.kind.name(), error.message)),
        Some(Ok(undone)) => {
            show(&undone.text);
            prompt.remark(&taken_back(&inputs, &undone));
            if !undone.left_out.is_empty() {
                let left = undone.left_out.join(", ");
                prompt.remark(&format!("too large to be remembered, so left as they are: {left}"));
            }
        }
    }
    Flow::On
}

/// What an undo took back, in a line: `t.fill_(5) taken back: t is as before; other is gone`.
fn taken_back(inputs: &[Entry], undone: &Undone) -> String {
    let what = match inputs {
        [] => "the last input".to_owned(),
        [input] => match input.source.trim_end().split_once('\n') {
            Some((first, _)) => format!("{first} …"),
            None => input.source.trim_end().to_owned(),
        },
        [first, ..] => format!("{} inputs from {} on", inputs.len(), first.source.lines().next().unwrap_or_default()),
    };
    let is = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
    let settings: Vec<String> = undone.settings.iter().map(|name| format!("the {name}")).collect();
    let restored = [undone.restored.clone(), settings].concat();
    let parts = [(&restored, "as before"), (&undone.back, "back"), (&undone.gone, "gone")];
    let told = parts.into_iter().filter(|(names, _)| !names.is_empty());
    let told: Vec<_> = told.map(|(names, how)| format!("{} {} {how}", names.join(", "), is(names))).collect();
    let told = if told.is_empty() { "nothing that is kept had changed".to_owned() } else { told.join("; ") };
    format!("taken back: {what} ({told})")
}

fn reset(prompt: &mut Prompt, _: &str) -> Flow {
    prompt.reset();
    Flow::On
}

fn save(prompt: &mut Prompt, name: &str) -> Flow {
    match saved(prompt, Path::new(name)) {
        None => usage("save"),
        Some(Ok(said)) => {
            prompt.remark(&said);
            Flow::On
        }
        Some(Err(error)) => {
            complain(&format!("not saved: {}\n", error.trim_end()));
            Flow::On
        }
    }
}

fn load(prompt: &mut Prompt, name: &str) -> Flow {
    if name.is_empty() {
        return usage("load");
    }
    let path = Path::new(name);
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) => {
            complain(&format!("{error}\n"));
            return Flow::On;
        }
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "txt") => prompt.take_session(&text, name),
        _ => {
            let language = Language::of_script(path);
            let outcome = prompt.run_script(language, &text, path);
            prompt.settle_file(&outcome, &text, name).map_or(Flow::On, Flow::Leave)
        }
    }
}

fn check(prompt: &mut Prompt, _: &str) -> Flow {
    let Some((pasted, first)) = prompt.last_paste() else {
        complain("nothing has been pasted with its outputs yet\n");
        return Flow::On;
    };
    let (reports, same) = compare(pasted, prompt.log().since(first));
    let mut text = String::new();
    let (red, green) = (Style::new().red(), Style::new().green());
    for line in reports.join("\n").lines() {
        let style = match line.chars().next() {
            Some('-') => prompt.screen().style(Stream::Output, red),
            Some('+') => prompt.screen().style(Stream::Output, green),
            _ => Style::new(),
        };
        text.push_str(&format!("{}\n", line.style(style)));
    }
    text.push_str(&format!("{same} outputs are as recorded, {} differ (- recorded, + printed here)\n", reports.len()));
    page(&text, prompt.rows());
    Flow::On
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_input() {
        for (entry, wanted) in [
            (":vars", true),
            ("?view", true),
            ("view?", true),
            ("torch.zeros?", true),
            ("help(view)", true),
            ("help(\"view\")", true),
            ("a ? b", false),
            ("x?.y", false),
            ("t.view(2)", false),
            ("help(f(x))", false),
            ("?", true),
        ] {
            assert_eq!(is_command(entry), wanted, "{entry}");
        }
    }

    #[test]
    fn a_name_that_nothing_goes_by_may_be_a_command() {
        let rows = [
            ("vars", Some("`:vars` is the command of that name")),
            ("hlep", Some("did you mean ':help'?")),
            ("timeit x", Some("`:timeit` is the command of that name")),
            ("xyz", None),
        ];
        for (source, wanted) in rows {
            let name = source.split(' ').next().unwrap_or_default();
            let message = format!("name '{name}' is not defined");
            let failure = Failure { kind: "NameError".to_owned(), message, ..Failure::default() };
            assert_eq!(suggested(&failure, source).hint.as_deref(), wanted, "{source}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    }
}
