//! The keys of a Windows console.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use session::assist::TurnKey;

/// The keys of the console, whose mode is restored at the end.
pub(crate) struct Keys;

impl Keys {
    pub(crate) fn open() -> io::Result<Keys> {
        enable_raw_mode()?;
        Ok(Keys)
    }

    /// Returns the next key, or `None` after a pause without one, or if the console has a new size.
    pub(crate) fn next(&mut self, pause: Option<Duration>) -> Option<TurnKey> {
        loop {
            if let Some(pause) = pause
                && matches!(poll(pause), Ok(false))
            {
                return None;
            }
            let key = match read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => key,
                Ok(Event::Resize(..)) => return None,
                Ok(_) => continue,
                Err(_) => return Some(TurnKey::Leave),
            };
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            return Some(match key.code {
                KeyCode::Char('c' | 'd') if control => TurnKey::Leave,
                KeyCode::Char(letter) => TurnKey::Char(letter),
                KeyCode::Up => TurnKey::Up,
                KeyCode::Down => TurnKey::Down,
                KeyCode::Left => TurnKey::Left,
                KeyCode::Right => TurnKey::Right,
                KeyCode::Enter => TurnKey::Enter,
                KeyCode::Esc => TurnKey::Leave,
                _ => TurnKey::Char('\0'),
            });
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Returns false: a console also counts keys that were let go, and to look at them takes them from the prompt.
pub(crate) fn is_typed_ahead() -> bool {
    false
}
