//! Standard output and standard error: decides on colours, and ends the program instead of panicking when no one reads
//! any more. Chooses the colours of everything; knows nothing of what it says.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::exit;

use owo_colors::{AnsiColors, OwoColorize, Style};

use super::progress;
use explain::format::style::{Role, Styled};
use session::assist::{Mark, Marked, Piece, pieces};
use session::{Ink, Language, Picture, Said};

/// The choice of colours on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is a dumb one; anywhere if `FORCE_COLOR` is set.
    #[default]
    Auto,
    /// Wherever it goes.
    Always,
    /// Nowhere.
    Never,
}

/// One of the two standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Values and what is printed.
    Output,
    /// Errors and remarks.
    Error,
}

/// The destination of text, and its colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    choice: ColorChoice,
    theme: Theme,
}

/// The colours of a printed value's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    number: AnsiColors,
    constant: AnsiColors,
    string: AnsiColors,
    dtype: AnsiColors,
}

impl Default for Theme {
    fn default() -> Theme {
        Theme {
            number: AnsiColors::Cyan,
            constant: AnsiColors::Magenta,
            string: AnsiColors::Green,
            dtype: AnsiColors::Yellow,
        }
    }
}

impl Theme {
    /// The things that can be given a colour.
    pub(crate) const NAMES: &[&str] = &["number", "constant", "string", "dtype"];
    /// The colours there are.
    pub(crate) const COLORS: &[&str] =
        &["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "default"];

    /// Gives a part a colour; false if either is unknown.
    pub(crate) fn set(&mut self, name: &str, color: &str) -> bool {
        let part = match name {
            "number" => &mut self.number,
            "constant" => &mut self.constant,
            "string" => &mut self.string,
            "dtype" => &mut self.dtype,
            _ => return false,
        };
        if !Theme::COLORS.contains(&color) {
            return false;
        }
        *part = if color == "default" { AnsiColors::Default } else { AnsiColors::from(color) };
        true
    }
}

impl Screen {
    /// A screen coloured as `choice` says.
    pub fn new(choice: ColorChoice) -> Screen {
        Screen { choice, theme: Theme::default() }
    }

    /// The screen as a settings file wants it; what the command line said about colours stands above that.
    pub(crate) fn configured(self, choice: Option<ColorChoice>, theme: Theme) -> Screen {
        let choice = if self.choice == ColorChoice::Auto { choice.unwrap_or_default() } else { self.choice };
        Screen { choice, theme }
    }

    /// Whether text on `stream` may be coloured.
    pub fn is_coloured(&self, stream: Stream) -> bool {
        match self.choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let is_terminal = match stream {
                    Stream::Output => io::stdout().is_terminal(),
                    Stream::Error => io::stderr().is_terminal(),
                };
                let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                if is_set("FORCE_COLOR") && !is_set("NO_COLOR") {
                    return true;
                }
                is_terminal && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }

    /// `style` where the stream is coloured, and no style where it is not.
    pub fn style(&self, stream: Stream, style: Style) -> Style {
        if self.is_coloured(stream) { style } else { Style::new() }
    }
}

/// Writes to standard output. When its reader has gone away, the program ends quietly
/// and well, as it would had all been read.
pub fn show(text: &str) {
    progress::clear();
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| {
        // A line that is not finished yet is a progress report or a question: it has to be seen.
        if text.ends_with('\n') { Ok(()) } else { output.flush() }
    });
    if let Err(error) = written {
        if error.kind() == ErrorKind::BrokenPipe {
            exit(0);
        }
        drop(output);
        complain(&format!("tensorsh: standard output: {error}\n"));
        exit(1);
    }
}

/// A value as standard output shows it, in colours where it has them.
pub(crate) fn coloured(screen: Screen, text: &str) -> Cow<'_, str> {
    if !screen.is_coloured(Stream::Output) {
        return Cow::Borrowed(text);
    }
    let mut coloured = String::with_capacity(text.len() * 2);
    for (role, piece) in Styled::value(text).pieces() {
        let style = match role {
            Role::Number => Style::new().color(screen.theme.number),
            Role::Constant => Style::new().color(screen.theme.constant),
            Role::Str => Style::new().color(screen.theme.string),
            Role::DType => Style::new().color(screen.theme.dtype),
            Role::Keyword | Role::Footer | Role::Ellipsis => Style::new().dimmed(),
            Role::Plain | Role::Punctuation | Role::Name | Role::ErrorKind | Role::ErrorMessage => {
                coloured.push_str(piece);
                continue;
            }
        };
        coloured.push_str(&piece.style(style).to_string());
    }
    Cow::Owned(coloured)
}

/// Writes a value to standard output.
pub(crate) fn show_value(screen: Screen, text: &str) {
    show(&coloured(screen, text));
}

/// Writes a piece of a session's output, coloured by what it is.
pub(crate) fn show_said(screen: Screen, said: Said) {
    match said {
        Said::Printed(text) => show(text),
        Said::Value(text) => show_value(screen, text),
        Said::Drawn(picture) => show(&drawn(screen, picture)),
        Said::Warned(warning) => complain(&format!("{warning}\n")),
    }
}

/// A picture in its colours.
pub(crate) fn drawn(screen: Screen, picture: &Picture) -> String {
    let mut text = String::new();
    for line in picture.lines() {
        for piece in line.iter().filter(|piece| !piece.text.is_empty()) {
            text.push_str(&piece.text.style(screen.style(Stream::Output, style_of(piece.ink))).to_string());
        }
        text.push('\n');
    }
    text
}

/// Marked text as a stream shows it.
pub(crate) fn marked(screen: Screen, stream: Stream, text: &Marked) -> String {
    let piece = |(mark, piece): &(Mark, String)| {
        let style = match mark {
            Mark::Plain => return piece.clone(),
            Mark::Kind => Style::new().red().bold(),
            Mark::Caret | Mark::Removed => Style::new().red(),
            Mark::Aside => Style::new().dimmed(),
            Mark::Added => Style::new().green(),
        };
        piece.style(screen.style(stream, style)).to_string()
    };
    text.pieces.iter().map(piece).collect()
}

/// Typed text with colours.
pub(crate) fn highlighted(language: Language, text: &str) -> String {
    let mut coloured = String::with_capacity(text.len() * 2);
    for (piece, part) in pieces(language, text) {
        let style = match piece {
            Piece::Keyword => Style::new().blue(),
            Piece::Constant => Style::new().magenta(),
            Piece::Number => Style::new().cyan(),
            Piece::Text => Style::new().green(),
            Piece::Comment | Piece::Prompt => Style::new().dimmed(),
            Piece::Call => Style::new().yellow(),
            Piece::Plain => {
                coloured.push_str(part);
                continue;
            }
        };
        coloured.push_str(&part.style(style).to_string());
    }
    coloured
}

/// The colour of a picture's ink; what it means can be read without.
fn style_of(ink: Ink) -> Style {
    match ink {
        Ink::Plain => Style::new(),
        Ink::Title => Style::new().bold(),
        Ink::Label | Ink::Frame | Ink::Unused => Style::new().dimmed(),
        Ink::Shown | Ink::Mantissa => Style::new().cyan(),
        Ink::Shared => Style::new().yellow(),
        Ink::Sign | Ink::Fault => Style::new().red(),
        Ink::Exponent | Ink::Good => Style::new().green(),
    }
}

/// Writes to standard error; if even that fails there is nowhere left to say so.
pub fn complain(text: &str) {
    progress::clear();
    let mut error = io::stderr().lock();
    let _ = error.write_all(text.as_bytes());
}

/// Writes marked text to standard error.
pub(crate) fn complain_marked(screen: Screen, text: &Marked) {
    complain(&marked(screen, Stream::Error, text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::Failure;
    use session::assist::describe;

    #[test]
    fn what_is_marked_has_a_colour_where_there_are_colours() {
        let (kind, message) = ("RuntimeError".to_owned(), "no view".to_owned());
        let text = describe(&Failure { kind, message, ..Failure::default() }, "", None);
        let shown = |choice| marked(Screen::new(choice), Stream::Error, &text);
        assert_eq!(shown(ColorChoice::Always), "\u{1b}[31;1mRuntimeError\u{1b}[0m: no view\n");
        assert_eq!(shown(ColorChoice::Never), "RuntimeError: no view\n");
    }
}
