//! `:save`: a session as a transcript or as a script. A script is tried out before it is kept: it runs in a session of its
//! own, in which nothing is shown and no file is written, and has to leave the variables as they are here.

use std::path::Path;

use signal_hook::consts::SIGINT;
use signal_hook::{flag, low_level};

use super::fault::describe;
use super::progress;
use super::prompt::Prompt;
use crate::files::{COMMON, replace};
use crate::session::{Failure, Language, Rehearsal, Session, SessionOptions};
use crate::transcript::describe as describe_file;

/// The number of variables that are told to differ.
const TOLD: usize = 5;

/// Saves a session in the form that the ending of the file's name asks for; `None` for any other ending. Says what is in
/// the file, or why it is as it was.
pub fn saved(prompt: &Prompt, path: &Path) -> Option<Result<String, String>> {
    let text = match path.extension()?.to_str()? {
        "md" => prompt.log().markdown("A session of tensorsh"),
        "rhai" => script(prompt, Language::Rhai, path),
        "py" => script(prompt, Language::Python, path),
        _ => return None,
    };
    Some(text.and_then(|text| {
        replace(path, text.as_bytes(), COMMON).map_err(|error| describe_file(path, &error))?;
        Ok(format!("{} inputs in {}", prompt.log().len(), path.display()))
    }))
}

/// The session as a script that does what the session did.
fn script(prompt: &Prompt, language: Language, path: &Path) -> Result<String, String> {
    let text = prompt.log().script(&prompt.session(), language)?;
    let mut fresh = Session::new(SessionOptions {
        args: prompt.args().to_vec(),
        live: Some(Box::new(|_, _| {})),
        ..SessionOptions::default()
    });
    // From now on none are shown.
    fresh.take_warnings();
    let folder = tempfile::Builder::new().prefix("tensorsh-").tempdir().map_err(|error| error.to_string())?;
    let stop = flag::register(SIGINT, fresh.interrupt_flag()).map_err(|error| error.to_string())?;
    let outcome = {
        let _running = progress::begin();
        let _elsewhere = Rehearsal::begin(folder.path());
        fresh.run_script(language, &text, Some(path))
    };
    low_level::unregister(stop);
    if let Some(failure) = outcome.error {
        if failure.interrupted {
            return Err("interrupted while the script was tried out".to_owned());
        }
        let name = path.display().to_string();
        let failure = describe(prompt.screen(), &advised(failure), &text, Some(&name));
        return Err(format!("the script, tried out by itself, fails\n{failure}"));
    }
    let differences = prompt.session().differences(&fresh);
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
    Err(reason
        + "hint: inputs that failed are left out, and clocks and files may say something else now; assign anew what differs")
}

/// The failure with what to do about what only a prompt has.
fn advised(failure: Failure) -> Failure {
    let is_result = ["_", "__", "___"].iter().any(|name| failure.message == format!("name '{name}' is not defined"));
    match is_result {
        true => Failure { hint: Some("only a prompt keeps results: give this one a name".to_owned()), ..failure },
        false => failure,
    }
}
