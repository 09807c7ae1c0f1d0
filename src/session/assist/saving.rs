//! `:save`: writes a session as a transcript or as a script. A script is tried first in a separate session, which shows
//! nothing and writes no files. It must leave the variables with the values they have here.

use std::path::Path;

use super::console::Console;
use super::desk::Desk;
use super::fault::describe;
use super::marked::Marked;
use crate::transcript::describe as describe_file;
use crate::{Failure, Language, Outcome, Rehearsal, Session, SessionOptions};
use files::{COMMON, replace};

/// The maximum number of differing variables to report.
const TOLD: usize = 5;

/// The heading of a saved transcript.
pub const TITLE: &str = "A session of tensorsh";

/// Saves a session in the form given by the file's extension; `None` for an unknown extension. Returns a description of
/// the file, or the reason why it was not written.
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

/// Returns a script that repeats the session, to be saved at `path`.
///
/// # Errors
/// Fails with the reason why there is no such script.
pub fn script(desk: &Desk, console: &mut dyn Console, language: Language, path: &Path) -> Result<String, Marked> {
    let text = desk.log().script(&desk.session(), language).map_err(line)?;
    let mut fresh = Session::new(SessionOptions {
        args: desk.args().to_vec(),
        live: Some(Box::new(|_| {})),
        ..SessionOptions::default()
    });
    let (stop, mut outcome) = (fresh.interrupt_flag(), Outcome::default());
    console.begin(false);
    let tried = console.run_in_background(stop, &mut |folder| {
        let _elsewhere = Rehearsal::begin(folder);
        outcome = fresh.run_script(language, &text, Some(path));
    });
    console.end();
    tried.map_err(line)?;
    if let Some(failure) = outcome.error {
        if failure.interrupted {
            return Err("interrupted while the script was being checked\n".into());
        }
        let mut reason = describe(&advised(failure), &text, Some(&path.display().to_string()));
        reason.begin("the script fails when run on its own\n");
        return Err(reason);
    }
    let differences = desk.session().differences(&fresh);
    if differences.is_empty() {
        return Ok(text);
    }
    let mut reason = "the script leaves different variables when run on its own\n".to_owned();
    for difference in differences.iter().take(TOLD) {
        reason.push_str(&format!("  {difference}\n"));
    }
    if let Some(more) = differences.len().checked_sub(TOLD).filter(|more| *more > 0) {
        reason.push_str(&format!("  and {more} more\n"));
    }
    reason
        .push_str("hint: failed inputs are left out; values from clocks or files may differ now: assign them again\n");
    Err(reason.into())
}

fn line(text: String) -> Marked {
    format!("{text}\n").into()
}

/// Adds advice to a failure caused by names that only a prompt has.
fn advised(failure: Failure) -> Failure {
    let is_result = ["_", "__", "___"].iter().any(|name| failure.message == format!("name '{name}' is not defined"));
    match is_result {
        true => {
            Failure { hint: Some("only the prompt keeps results: assign this one to a variable".to_owned()), ..failure }
        }
        false => failure,
    }
}
