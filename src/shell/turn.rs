//! `:turn x` at a terminal: reads keys one by one and redraws the form in place. Without a terminal that can do so, the
//! form is told in words.

use std::io::{IsTerminal, stdin, stdout};

use super::prompt::Prompt;
use session::assist::{Console, Desk, TurnForm};

/// Lets the user change a layout. Returns a line for the prompt and the cursor in it.
pub(super) fn run(prompt: &mut Prompt, desk: &Desk, form: TurnForm) -> Option<(String, usize)> {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !stdin().is_terminal() || !stdout().is_terminal() {
        let words = form.words(prompt.columns());
        prompt.tell(&words.into());
        return None;
    }
    by_keys(prompt, desk, form)
}

#[cfg(not(unix))]
fn by_keys(prompt: &mut Prompt, _: &Desk, form: TurnForm) -> Option<(String, usize)> {
    let words = form.words(prompt.columns());
    prompt.tell(&words.into());
    None
}

#[cfg(unix)]
use keys::by_keys;

#[cfg(unix)]
mod keys {
    use std::collections::VecDeque;
    use std::io::{self, Stdin, stdin};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    use super::super::prompt::Prompt;
    use super::super::screen::{coloured_lines, show};
    use session::Language;
    use session::assist::{Console, Desk, TurnForm, TurnKey, TurnStep};

    /// The pause between two elements while the reading order plays.
    const PACE: Duration = Duration::from_millis(400);
    /// The time in which the rest of an escape sequence arrives. An Escape alone has none.
    const SEQUENCE: Duration = Duration::from_millis(50);

    pub(super) fn by_keys(prompt: &mut Prompt, desk: &Desk, mut form: TurnForm) -> Option<(String, usize)> {
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

    /// Returns what clears the form of so many lines and goes to its beginning.
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

    /// The keys of the terminal, which is restored at the end.
    struct Keys {
        terminal: Stdin,
        before: Termios,
        bytes: VecDeque<u8>,
    }

    impl Keys {
        fn open() -> io::Result<Keys> {
            let terminal = stdin();
            let before = tcgetattr(&terminal)?;
            let mut mode = before.clone();
            // Ctrl-C is a key too, so that it leaves the form instead of a half-drawn screen.
            mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
            mode.special_codes[SpecialCodeIndex::VMIN] = 1;
            mode.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(&terminal, OptionalActions::Now, &mode)?;
            Ok(Keys { terminal, before, bytes: VecDeque::new() })
        }

        /// Returns the next key, or `None` after a pause without one.
        fn next(&mut self, pause: Option<Duration>) -> Option<TurnKey> {
            let byte = self.byte(pause)?;
            Some(match byte {
                Ok(0x1b) => self.sequence(),
                Ok(b'\r' | b'\n') => TurnKey::Enter,
                Ok(0x03 | 0x04) | Err(_) => TurnKey::Leave,
                Ok(byte) => TurnKey::Char(char::from(byte)),
            })
        }

        /// Reads what follows an Escape.
        fn sequence(&mut self) -> TurnKey {
            let mut last = None;
            while let Some(Ok(byte)) = self.byte(Some(SEQUENCE)) {
                last = Some(byte);
                // A sequence ends with a letter; `[` and `O` begin one.
                if byte.is_ascii_alphabetic() && byte != b'O' || byte == b'~' {
                    break;
                }
            }
            match last {
                None => TurnKey::Leave,
                Some(b'A') => TurnKey::Up,
                Some(b'B') => TurnKey::Down,
                Some(b'C') => TurnKey::Right,
                Some(b'D') => TurnKey::Left,
                Some(_) => TurnKey::Char('\0'),
            }
        }

        /// Returns the next byte, `None` after a pause without one, or an error at the end of the input.
        fn byte(&mut self, pause: Option<Duration>) -> Option<io::Result<u8>> {
            if let Some(byte) = self.bytes.pop_front() {
                return Some(Ok(byte));
            }
            let pause = pause.map(|pause| Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) });
            loop {
                match poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], pause.as_ref()) {
                    Ok(0) => return None,
                    Ok(_) => {}
                    // A new size of the terminal interrupts the wait; the form is then drawn again.
                    Err(rustix::io::Errno::INTR) => return None,
                    Err(error) => return Some(Err(error.into())),
                }
                let mut bytes = [0; 64];
                match rustix::io::read(&self.terminal, &mut bytes) {
                    Ok(0) => return Some(Err(io::ErrorKind::UnexpectedEof.into())),
                    Ok(count) => self.bytes.extend(bytes.iter().take(count)),
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(error) => return Some(Err(error.into())),
                }
                return self.bytes.pop_front().map(Ok);
            }
        }
    }

    impl Drop for Keys {
        fn drop(&mut self) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        }
    }
}
