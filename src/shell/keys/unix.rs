//! The keys of a Unix terminal.

use std::collections::VecDeque;
use std::io::{self, Stdin, stdin};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use session::assist::TurnKey;

/// The time in which the rest of an escape sequence arrives. An Escape alone has none.
const SEQUENCE: Duration = Duration::from_millis(50);

/// The keys of the terminal, which is restored at the end.
pub(crate) struct Keys {
    terminal: Stdin,
    before: Termios,
    bytes: VecDeque<u8>,
}

impl Keys {
    pub(crate) fn open() -> io::Result<Keys> {
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
    pub(crate) fn next(&mut self, pause: Option<Duration>) -> Option<TurnKey> {
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

/// Returns whether typed keys are waiting to be read, with or without a complete line.
pub(crate) fn is_typed_ahead() -> bool {
    let terminal = stdin();
    let Ok(before) = tcgetattr(&terminal) else { return false };
    let mut mode = before.clone();
    // In canonical mode, the terminal does not report an incomplete line.
    mode.local_modes.remove(LocalModes::ICANON);
    if tcsetattr(&terminal, OptionalActions::Now, &mode).is_err() {
        return false;
    }
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let waits = poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0);
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    waits
}
