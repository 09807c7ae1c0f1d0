//! Commands that the prompt itself runs: `:vars`, `:save`, `:undo`, … One row per command.

use std::path::Path;
use std::time::Duration;

use super::console::Console;
use super::desk::Desk;
use super::entry::Paths;
use super::help::help;
use super::log::{Entry, compare};
use super::marked::{Mark, Marked};
use super::quizzing;
use super::saving::saved;
use super::table;
use super::turning::TurnForm;
use crate::quiz::Topic;
use crate::transcript::read_text;
use crate::{Failure, Language, Session, Undone, nearest, wrapped};
use tensor::system::Moment;

/// The total time of the repetitions of `:timeit`.
const TIMEIT: Duration = Duration::from_millis(1000);

/// A command.
struct Command {
    name: &'static str,
    /// The arguments after the name.
    arguments: &'static str,
    doc: &'static str,
    /// Runs the command. Returns an exit status if the prompt should end.
    run: fn(&Desk, &mut dyn Console, &str) -> Option<i32>,
}

const COMMANDS: &[Command] = &[
    Command { name: "aliases", arguments: "", doc: "draw the variables, grouped by storage", run: aliases },
    Command { name: "bits", arguments: "X", doc: "sign, exponent and mantissa of one number", run: bits },
    Command {
        name: "bytes",
        arguments: "X[, DTYPES]",
        doc: "the bytes of a tensor, an array or a storage, decoded",
        run: bytes,
    },
    Command { name: "check", arguments: "", doc: "compare the last paste with its recorded outputs", run: check },
    Command {
        name: "explain",
        arguments: "T",
        doc: "draw the storage of a tensor or an array, and what it shows",
        run: explain,
    },
    Command {
        name: "fill",
        arguments: "T[, PARTS]",
        doc: "draw T with parts left blank, and ask for each",
        run: quizzing::fill,
    },
    Command {
        name: "help",
        arguments: "[NAME or WORDS]",
        doc: "explain a function, or list these commands",
        run: show_help,
    },
    Command { name: "load", arguments: "FILE", doc: "run a script, or a session in a .md or .txt file", run: load },
    Command {
        name: "origin",
        arguments: "EXPRESSION",
        doc: "the elements that a result was read from, step by step",
        run: origin,
    },
    Command {
        name: "predict",
        arguments: "CODE",
        doc: "ask what CODE gives before it is shown, and judge the answer",
        run: quizzing::predict,
    },
    Command {
        name: "python",
        arguments: "[CODE]",
        doc: "read input as Python, or run CODE as Python once",
        run: python,
    },
    Command { name: "quit", arguments: "", doc: "leave, like Ctrl-D", run: |_, _, _| Some(0) },
    Command {
        name: "quiz",
        arguments: "[TOPIC] [--level N]",
        doc: "questions on strides, views, sharing, dtypes, broadcasting or indexing",
        run: quizzing::quiz,
    },
    Command { name: "redo", arguments: "[N]", doc: "redo the last N steps that were undone", run: redo },
    Command { name: "reset", arguments: "", doc: "forget every variable and setting", run: reset },
    Command { name: "rhai", arguments: "[CODE]", doc: "read input as Rhai, or run CODE as Rhai once", run: rhai },
    Command {
        name: "save",
        arguments: "FILE.md|FILE.rhai|FILE.py",
        doc: "save this session as a transcript, or as a script that recreates its variables",
        run: save,
    },
    Command { name: "time", arguments: "CODE", doc: "run once and print the time it took", run: time },
    Command { name: "timeit", arguments: "CODE", doc: "run many times and print the time of one run", run: timeit },
    Command { name: "translate", arguments: "on|off|CODE", doc: "show the Rhai form of Python", run: translate },
    Command {
        name: "turn",
        arguments: "T",
        doc: "change the size, stride, offset, dtype and bytes of a variable by keys",
        run: turn,
    },
    Command { name: "undo", arguments: "[N]", doc: "undo the last input, or the last N", run: undo },
    Command { name: "vars", arguments: "", doc: "list the variables: shape, storage, sharing", run: vars },
    Command { name: "why", arguments: "T, SHAPE|DTYPE", doc: "why a view works or does not", run: why },
];

/// Returns whether an entry is a command for the prompt: `:vars`, `?view`, `view?`.
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

/// Returns whether the prompt has a command that a line beginning with `:` may mean.
pub fn is_known_command(line: &str) -> bool {
    let name = line.trim().trim_start_matches(':').split_whitespace().next().unwrap_or_default();
    COMMANDS.iter().any(|command| command.name.starts_with(name))
}

/// Returns the topic of `?view`, `view?` or `help(view)`.
pub fn topic(entry: &str) -> &str {
    let entry = entry.trim();
    let asked = entry.strip_prefix("help(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(entry);
    unquoted(asked.trim_matches('?'))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Returns the completions of a command line, and where the text that they replace begins.
pub(super) fn complete(line: &str, at: usize, paths: Paths) -> Option<(usize, Vec<(String, String)>)> {
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
        Some(("quiz", words)) => {
            let word = words.rsplit(' ').next().unwrap_or_default();
            let names = Topic::ALL.map(Topic::name).into_iter().filter(|name| name.starts_with(word));
            Some((at - word.len(), names.map(|name| (name.to_owned(), String::new())).collect()))
        }
        Some(_) => None,
    }
}

/// Runs a command line. Returns an exit status if the prompt should end.
pub fn run(desk: &Desk, console: &mut dyn Console, entry: &str) -> Option<i32> {
    let entry = entry.trim();
    let Some(line) = entry.strip_prefix(':') else { return show_help(desk, console, topic(entry)) };
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let meant: Vec<_> = COMMANDS.iter().filter(|command| command.name.starts_with(name) && !name.is_empty()).collect();
    let chosen =
        meant.iter().find(|command| command.name == name).or_else(|| meant.first().filter(|_| meant.len() == 1));
    match chosen {
        Some(command) => (command.run)(desk, console, rest.trim()),
        None => {
            let names: Vec<_> = meant.iter().map(|command| format!(":{}", command.name)).collect();
            let near = match nearest(name, COMMANDS.iter().map(|command| command.name)) {
                _ if !names.is_empty() => format!("is it {}?", names.join(" or ")),
                Some(near) => format!("did you mean :{near}?"),
                None => ":help lists the commands".to_owned(),
            };
            console.complain(&format!("there is no command :{name}; {near}\n").into());
            None
        }
    }
}

fn show_help(desk: &Desk, console: &mut dyn Console, topic: &str) -> Option<i32> {
    let text = if topic.is_empty() { overview(console) } else { help(&desk.session(), topic) };
    console.tell(&text.into());
    None
}

/// Returns the overview of commands and keys. Narrow terminals wrap between words.
fn overview(console: &dyn Console) -> String {
    let columns = console.columns();
    let first = "Type Rhai, or Python after `>>> `. A pasted session may include its outputs.";
    let mut text = wrapped(first, columns).join("\n") + "\n\n";
    let commands = COMMANDS.iter().map(|command| (format!(":{} {}", command.name, command.arguments), command.doc));
    let keys = console.keys().iter().map(|(key, doc)| ((*key).to_owned(), *doc));
    for (head, doc) in commands.chain([(String::new(), "")]).chain(keys) {
        // On a narrow terminal, the description goes below the name.
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

fn vars(desk: &Desk, console: &mut dyn Console, _: &str) -> Option<i32> {
    let mut text = table::variables(&desk.session().variables(), console.columns());
    for cost in desk.session().storage_warnings() {
        text.push_str(&format!("{cost}\n"));
    }
    console.tell(&text.into());
    None
}

fn aliases(desk: &Desk, console: &mut dyn Console, _: &str) -> Option<i32> {
    let picture = desk.session().aliases();
    console.draw(&picture);
    None
}

fn explain(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    called(desk, console, "explain", arguments)
}

fn origin(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    called(desk, console, "origin", arguments)
}

fn why(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    called(desk, console, "why", arguments)
}

fn bytes(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    called(desk, console, "show_bytes", arguments)
}

fn bits(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    called(desk, console, "bits", arguments)
}

fn turn(desk: &Desk, console: &mut dyn Console, name: &str) -> Option<i32> {
    if name.is_empty() {
        return usage(console, "turn");
    }
    let (_, name) = desk.language_of(name);
    let begun = desk.session().turn(name);
    let holders = desk.session().seen().holders;
    match begun {
        Ok(begun) => console.turn(desk, TurnForm::new(name, begun, &holders)),
        Err(why) => console.complain(&format!("{why}\n").into()),
    }
    None
}

/// Calls a drawing function with the arguments as typed.
fn called(desk: &Desk, console: &mut dyn Console, function: &str, arguments: &str) -> Option<i32> {
    let (language, arguments) = desk.language_of(arguments);
    let code = format!("{function}({arguments})");
    let outcome = desk.eval(console, language, &code, true);
    desk.settle(console, &outcome, &code, None)
}

fn python(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    switch(desk, console, Language::Python, code)
}

fn rhai(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    switch(desk, console, Language::Rhai, code)
}

fn switch(desk: &Desk, console: &mut dyn Console, language: Language, code: &str) -> Option<i32> {
    if code.is_empty() {
        desk.set_language(language);
        return None;
    }
    let outcome = desk.eval(console, language, code, false);
    desk.settle(console, &outcome, code, None)
}

fn time(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    if code.is_empty() {
        return usage(console, "time");
    }
    let (language, code) = desk.language_of(code);
    let begun = Moment::now();
    let outcome = desk.eval(console, language, code, false);
    let elapsed = begun.elapsed();
    let left = desk.settle(console, &outcome, code, None);
    console.remark(&format!("{elapsed:.1?}"));
    left
}

fn timeit(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    if code.is_empty() {
        return usage(console, "timeit");
    }
    let (language, code) = desk.language_of(code);
    match desk.watched(console, false, |session| session.timeit(language, code, TIMEIT)) {
        Ok(timing) => {
            console.remark(&format!("{:.1?} (best {:.1?}, {} runs)", timing.median, timing.best, timing.runs));
        }
        Err(failure) => console.fail(&failure, code, None),
    }
    None
}

/// Adds the intended command to a failure, if an input begins with an undefined name.
pub(super) fn suggested(failure: &Failure, source: &str) -> Failure {
    let mut failure = failure.clone();
    let word = source.split_whitespace().next().unwrap_or_default();
    if failure.kind != "NameError" || failure.message != format!("name '{word}' is not defined") {
        return failure;
    }
    let names = COMMANDS.iter().map(|command| command.name);
    if names.clone().any(|name| name == word) {
        failure.hint = Some(format!("the command of that name is `:{word}`"));
    } else if failure.hint.is_none() {
        failure.hint = nearest(word, names).map(|name| format!("did you mean ':{name}'?"));
    }
    failure
}

pub(super) fn usage(console: &mut dyn Console, name: &str) -> Option<i32> {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        console.complain(&format!(":{name} {} -- {}\n", command.arguments, command.doc).into());
    }
    None
}

fn translate(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    match code {
        "" | "on" => desk.set_translates(true),
        "off" => desk.set_translates(false),
        code => {
            let code = code.strip_prefix(">>> ").unwrap_or(code);
            match desk.session().rhai_form(code) {
                Ok(rhai) => console.tell(&format!("{rhai}\n").into()),
                Err(reason) => console.complain(&format!("{reason}\n").into()),
            }
        }
    }
    None
}

fn undo(desk: &Desk, console: &mut dyn Console, steps: &str) -> Option<i32> {
    move_in_history(desk, console, steps, "undo", Session::undo, Desk::forget_undone)
}

fn redo(desk: &Desk, console: &mut dyn Console, steps: &str) -> Option<i32> {
    move_in_history(desk, console, steps, "redo", Session::redo, Desk::take_up_undone)
}

/// Moves several steps through the history, and reports the effect of each.
fn move_in_history(
    desk: &Desk,
    console: &mut dyn Console,
    steps: &str,
    name: &str,
    step: fn(&mut Session) -> Option<Undone>,
    inputs: fn(&Desk) -> Vec<Entry>,
) -> Option<i32> {
    let count = match steps.parse::<usize>() {
        _ if steps.is_empty() => 1,
        Ok(count) if count > 0 => count,
        _ => {
            console.complain(&format!(":{name} takes a number of steps, not `{steps}`: `:{name} 3`\n").into());
            return None;
        }
    };
    for done in 0..count {
        let Some(undone) = desk.watched(console, false, step) else {
            let left = if done == 0 { "Nothing" } else { "Nothing more" };
            console.complain(&format!("{left} to {name}.\n").into());
            return None;
        };
        for line in describe_effect(name, &inputs(desk), &undone) {
            console.remark(&line);
        }
    }
    None
}

/// Describes the effect of a step, one sentence each: "Undone: `t.fill_(5)`. `t` is as before; `other` is gone."
fn describe_effect(name: &str, inputs: &[Entry], undone: &Undone) -> Vec<String> {
    let what = match inputs {
        [] => "the last input".to_owned(),
        [input] => match input.source.trim_end().split_once('\n') {
            Some((first, _)) => format!("`{first} …`"),
            None => format!("`{}`", input.source.trim_end()),
        },
        [first, ..] => {
            format!("{} inputs, from `{}`", inputs.len(), first.source.lines().next().unwrap_or_default())
        }
    };
    let listed = |names: &[String]| match names {
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
        [] => String::new(),
    };
    let quoted = |names: &[String]| -> Vec<String> { names.iter().map(|name| format!("`{name}`")).collect() };
    let settings: Vec<String> = undone.settings.iter().map(|name| format!("the {name}")).collect();
    let kept: Vec<String> =
        quoted(&undone.restored).into_iter().filter(|name| !quoted(&undone.left_out).contains(name)).collect();
    let restored = [kept, settings].concat();
    let (back, gone) = (quoted(&undone.back), quoted(&undone.gone));
    let state = if name == "undo" { "as before" } else { "changed again" };
    let parts = [(&restored, state), (&back, "back"), (&gone, "gone")];
    let told = parts.into_iter().filter(|(names, _)| !names.is_empty());
    let told: Vec<_> = told
        .map(|(names, how)| format!("{} {} {how}", listed(names), if names.len() == 1 { "is" } else { "are" }))
        .collect();
    let mut lines = Vec::new();
    if told.is_empty() && undone.left_out.is_empty() && undone.files.is_empty() {
        lines.push(format!("Nothing to {name} in {what}."));
    } else {
        let done = if name == "undo" { "Undone" } else { "Redone" };
        let told = if told.is_empty() { String::new() } else { format!(" {}.", told.join("; ")) };
        lines.push(format!("{done}: {what}.{told}"));
    }
    let (are, their, values) =
        if undone.left_out.len() == 1 { ("is", "its", "value") } else { ("are", "their", "values") };
    let keeps = if undone.left_out.len() == 1 { "it keeps" } else { "they keep" };
    if !undone.left_out.is_empty() {
        let names = listed(&quoted(&undone.left_out));
        lines.push(format!("{names} {are} too large to {name}; {keeps} {their} present {values}."));
    }
    if !undone.files.is_empty() {
        let names = listed(&quoted(&undone.files));
        let keep = if undone.files.len() == 1 { "keeps its new content" } else { "keep their new content" };
        lines.push(format!("{names} {keep}: files are not undone."));
    }
    lines
}

fn reset(desk: &Desk, console: &mut dyn Console, _: &str) -> Option<i32> {
    desk.reset(console);
    None
}

fn save(desk: &Desk, console: &mut dyn Console, name: &str) -> Option<i32> {
    match saved(desk, console, Path::new(name)) {
        None => return usage(console, "save"),
        Some(Ok(said)) => console.remark(&said),
        Some(Err(mut reason)) => {
            reason.begin("not saved: ");
            console.complain(&reason);
        }
    }
    None
}

fn load(desk: &Desk, console: &mut dyn Console, name: &str) -> Option<i32> {
    if name.is_empty() {
        return usage(console, "load");
    }
    let path = Path::new(name);
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) => {
            console.complain(&format!("{error}\n").into());
            return None;
        }
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "txt") => desk.take_session(console, &text, name),
        _ => {
            let language = Language::of_script(path);
            let outcome = desk.run_script(console, language, &text, path);
            desk.settle(console, &outcome, &text, Some(name))
        }
    }
}

fn check(desk: &Desk, console: &mut dyn Console, _: &str) -> Option<i32> {
    let Some((pasted, first)) = desk.last_paste() else {
        console.complain(&"no session with recorded outputs has been pasted\n".into());
        return None;
    };
    let (reports, same) = compare(&pasted, desk.log().since(first));
    let mut text = Marked::default();
    for line in reports.join("\n").lines() {
        let mark = match line.chars().next() {
            Some('-') => Mark::Removed,
            Some('+') => Mark::Added,
            _ => Mark::Plain,
        };
        text.push(mark, line);
        text.push(Mark::Plain, "\n");
    }
    let differ = reports.len();
    text.push(Mark::Plain, format!("{same} outputs match, {differ} differ (- recorded, + printed)\n"));
    console.tell(&text);
    None
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
            ("vars", Some("the command of that name is `:vars`")),
            ("hlep", Some("did you mean ':help'?")),
            ("timeit x", Some("the command of that name is `:timeit`")),
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
