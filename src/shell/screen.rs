//! Standard output and standard error: decides on colours, and ends the program instead of panicking if its output is
//! no longer read. Chooses the colours of everything, without knowing its meaning.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::exit;

use owo_colors::{AnsiColors, OwoColorize, Style};

use super::progress;
use explain::format::style::{Role, Styled};
use session::assist::{Mark, Marked, Piece, pieces};
use session::{Ink, Language, Line, Picture, Said};

/// When to use colours, as given on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is dumb. Everywhere if `FORCE_COLOR` is set.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// One of the two standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Values and printed output.
    Output,
    /// Errors and remarks.
    Error,
}

/// The output streams with their colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    choice: ColorChoice,
    theme: Theme,
}

/// The colours of the parts of a printed value.
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
    /// The names of the colourable parts.
    pub(crate) const NAMES: &[&str] = &["number", "constant", "string", "dtype"];
    /// The names of the colours.
    pub(crate) const COLORS: &[&str] =
        &["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "default"];

    /// Sets the colour of a part. Returns false if either name is unknown.
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
    /// Creates a screen with this choice of colours.
    pub fn new(choice: ColorChoice) -> Screen {
        // A console that cannot show colours would show their codes; all of today can.
        #[cfg(windows)]
        let _ = anstyle_query::windows::enable_ansi_colors();
        Screen { choice, theme: Theme::default() }
    }

    /// Applies a settings file. The command line takes precedence.
    pub(crate) fn configured(self, choice: Option<ColorChoice>, theme: Theme) -> Screen {
        let choice = if self.choice == ColorChoice::Auto { choice.unwrap_or_default() } else { self.choice };
        Screen { choice, theme }
    }

    /// Returns whether text on `stream` may be coloured.
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

    /// Returns `style` if the stream is coloured, and no style otherwise.
    pub fn style(&self, stream: Stream, style: Style) -> Style {
        if self.is_coloured(stream) { style } else { Style::new() }
    }
}

/// Writes to standard output. If its reader has gone away, the program ends quietly and successfully, as if everything
/// had been read.
pub fn show(text: &str) {
    progress::clear();
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| {
        // Show an unfinished line now: it is a progress report or a question.
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

/// Returns a value's text for standard output, coloured if enabled.
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

/// Writes a piece of a session's output, coloured by its kind.
pub(crate) fn show_said(screen: Screen, said: Said) {
    match said {
        Said::Printed(text) => show(text),
        Said::Value(text) => show_value(screen, text),
        Said::Drawn(picture) => show(&coloured_picture(screen, picture)),
        Said::Warned(warning) => complain(&format!("{warning}\n")),
    }
}

/// Returns the text of a picture in its colours.
pub(crate) fn coloured_picture(screen: Screen, picture: &Picture) -> String {
    coloured_lines(screen, &picture.lines())
}

/// Returns drawn lines in their colours.
pub(crate) fn coloured_lines(screen: Screen, lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        for piece in line.iter().filter(|piece| !piece.text.is_empty()) {
            text.push_str(&piece.text.style(screen.style(Stream::Output, style_of(piece.ink))).to_string());
        }
        text.push('\n');
    }
    text
}

/// Returns marked text in the colours of a stream.
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

/// Returns typed text with colours.
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

/// Returns the style of a picture's ink. Colour carries no information of its own.
fn style_of(ink: Ink) -> Style {
    match ink {
        Ink::Plain => Style::new(),
        Ink::Title => Style::new().bold(),
        Ink::Label | Ink::Frame | Ink::Unused => Style::new().dimmed(),
        Ink::Shown | Ink::Mantissa => Style::new().cyan(),
        Ink::Shared | Ink::Notable => Style::new().yellow(),
        Ink::Sign | Ink::Fault => Style::new().red(),
        Ink::Exponent | Ink::Good => Style::new().green(),
    }
}

/// Writes to standard error. Errors are ignored: there is no place left to report them.
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
