//! `:turn x` at a terminal: reads keys one by one and redraws the form in place. Without a terminal that can do so, the
//! form is told in words.

use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use super::keys::Keys;
use super::prompt::Prompt;
use super::screen::{coloured_lines, show};
use session::Language;
use session::assist::{Console, Desk, TurnForm, TurnStep};

/// Lets the user change a layout. Returns a line for the prompt and the cursor in it.
pub(super) fn run(prompt: &mut Prompt, desk: &Desk, form: TurnForm) -> Option<(String, usize)> {
    // A terminal of Unix says what it is; a console of Windows does not.
    let is_dumb = std::env::var_os("TERM").map_or(cfg!(unix), |term| term == "dumb");
    if is_dumb || !stdin().is_terminal() || !stdout().is_terminal() {
        let words = form.words(prompt.columns());
        prompt.tell(&words.into());
        return None;
    }
    by_keys(prompt, desk, form)
}

/// The pause between two elements while the reading order plays.
const PACE: Duration = Duration::from_millis(400);

fn by_keys(prompt: &mut Prompt, desk: &Desk, mut form: TurnForm) -> Option<(String, usize)> {
    let mut keys = match Keys::open() {
        Ok(keys) => keys,
        Err(error) => {
            prompt.complain(&format!("the terminal cannot be read key by key: {error}\n").into());
            return None;
        }
    };
    let mut drawn = 0;
    loop {
        let (columns, rows) = prompt.size().unwrap_or((80, 24));
        let lines = form.lines(columns, rows);
        show(&format!("{}{}", above(drawn), coloured_lines(prompt.screen, &lines)));
        drawn = lines.len();
        let key = keys.next(form.is_playing.then_some(PACE));
        let step = match key {
            None => {
                form.next();
                continue;
            }
            Some(key) => form.press(key),
        };
        match step {
            TurnStep::Draw => {}
            TurnStep::Write { line, byte, value } => {
                show(&above(drawn));
                drawn = 0;
                write(prompt, desk, &mut form, line, byte, value);
            }
            TurnStep::Leave => {
                show(&above(drawn));
                return None;
            }
            TurnStep::Insert(line) => {
                show(&above(drawn));
                let line = match desk.language() {
                    Language::Python => line,
                    Language::Rhai => desk.session().rhai_form(&line).unwrap_or_else(|_| format!(">>> {line}")),
                };
                let end = line.len();
                return Some((line, end));
            }
        }
    }
}

/// Returns the escape sequence that clears a form of `lines` lines and moves the cursor to its start.
fn above(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\u{1b}[{lines}A\r\u{1b}[J") }
}

/// Writes a byte. An input of the session does, if there is one, so that undo and the log know of it.
fn write(prompt: &mut Prompt, desk: &Desk, form: &mut TurnForm, line: Option<String>, byte: usize, value: u8) {
    let told = match line {
        Some(line) => {
            desk.take(prompt, &format!(">>> {line}"));
            line
        }
        None => match form.turn().set_byte(byte, value) {
            Ok(()) => format!("byte {byte} is {value}"),
            Err(why) => why,
        },
    };
    form.tell(told);
}
