//! `:save`: a session as a transcript or as a script. A script is tried out before it is kept: it runs in a session of its
//! own, in which nothing is shown and no file is written, and has to leave the variables as they are here.

use std::path::Path;

use super::console::Console;
use super::desk::Desk;
use super::fault::describe;
use super::marked::Marked;
use crate::transcript::describe as describe_file;
use crate::{Failure, Language, Outcome, Rehearsal, Session, SessionOptions};
use files::{COMMON, replace};

/// The number of variables that are told to differ.
const TOLD: usize = 5;

/// The heading of a saved transcript.
pub const TITLE: &str = "A session of tensorsh";

/// Saves a session in the form that the ending of the file's name asks for; `None` for any other ending. Says what is in
/// the file, or why it is as it was.
pub(super) fn saved(desk: &Desk, console: &mut dyn Console, path: &Path) -> Option<Result<String, Marked>> {
    let text = match path.extension()?.to_str()? {
        "md" => desk.log().markdown(TITLE).map_err(line),
        "rhai" => script(desk, console, Language::Rhai, path),
        "py" => script(desk, console, Language::Python, path),
        _ => return None,
    };
    Some(text.and_then(|text| {
        replace(path, text.as_bytes(), COMMON).map_err(|error| line(describe_file(path, &error)))?;
        Ok(format!("{} inputs in {}", desk.log().len(), path.display()))
    }))
}

/// The session as a script that does what the session did, and that would lie at `path`.
///
/// # Errors
/// The reason why there is none.
pub fn script(desk: &Desk, console: &mut dyn Console, language: Language, path: &Path) -> Result<String, Marked> {
    let text = desk.log().script(&desk.session(), language).map_err(line)?;
    let mut fresh = Session::new(SessionOptions {
        args: desk.args().to_vec(),
        live: Some(Box::new(|_| {})),
        ..SessionOptions::default()
    });
    let (stop, mut outcome) = (fresh.interrupt_flag(), Outcome::default());
    console.begin(false);
    let tried = console.aside(stop, &mut |folder| {
        let _elsewhere = Rehearsal::begin(folder);
        outcome = fresh.run_script(language, &text, Some(path));
    });
    console.end();
    tried.map_err(line)?;
    if let Some(failure) = outcome.error {
        if failure.interrupted {
            return Err("interrupted while the script was tried out\n".into());
        }
        let mut reason = describe(&advised(failure), &text, Some(&path.display().to_string()));
        reason.begin("the script, tried out by itself, fails\n");
        return Err(reason);
    }
    let differences = desk.session().differences(&fresh);
    if differences.is_empty() {
        return Ok(text);
    }
    let mut reason = "the script, tried out by itself, leaves other variables\n".to_owned();
    for difference in differences.iter().take(TOLD) {
        reason.push_str(&format!("  {difference}\n"));
    }
    if let Some(more) = differences.len().checked_sub(TOLD).filter(|more| *more > 0) {
        reason.push_str(&format!("  and {more} more\n"));
    }
    reason.push_str(
        "hint: inputs that failed are left out; values that came from clocks or files may differ now: assign them again\n",
    );
    Err(reason.into())
}

fn line(text: String) -> Marked {
    format!("{text}\n").into()
}

/// The failure with what to do about what only a prompt has.
fn advised(failure: Failure) -> Failure {
    let is_result = ["_", "__", "___"].iter().any(|name| failure.message == format!("name '{name}' is not defined"));
    match is_result {
        true => Failure { hint: Some("only a prompt keeps results: give this one a name".to_owned()), ..failure },
        false => failure,
    }
}
