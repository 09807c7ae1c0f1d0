//! Standard output and standard error: whether they are coloured, and writing that ends the program instead of
//! panicking when nobody reads any more. Knows nothing of what is written.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::exit;

use owo_colors::{OwoColorize, Style};

use crate::format::style::{Role, Styled};

/// When to colour, as the command line says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
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

/// Where text goes, and in which colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    choice: ColorChoice,
}

impl Screen {
    /// A screen coloured as `choice` says.
    pub fn new(choice: ColorChoice) -> Screen {
        Screen { choice }
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
                is_terminal && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }

    /// `style` where the stream is coloured, and no style where it is not.
    pub fn style(&self, stream: Stream, style: Style) -> Style {
        if self.is_coloured(stream) { style } else { Style::new() }
    }
}

/// Writes to standard output. When its reader has gone away there is nobody left to serve: the program ends, quietly
/// and well, as it would had all been read.
pub fn show(text: &str) {
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

/// Writes a value to standard output, in colours where it has them: numbers plain, what surrounds them dimmed.
pub fn show_value(screen: Screen, text: &str) {
    if !screen.is_coloured(Stream::Output) {
        return show(text);
    }
    let mut coloured = String::with_capacity(text.len() * 2);
    for (role, piece) in Styled::value(text).pieces() {
        let style = match role {
            Role::Number => Style::new().cyan(),
            Role::Constant => Style::new().magenta(),
            Role::Str => Style::new().green(),
            Role::DType => Style::new().yellow(),
            Role::Keyword | Role::Footer | Role::Ellipsis => Style::new().dimmed(),
            Role::Plain | Role::Punctuation | Role::Name | Role::ErrorKind | Role::ErrorMessage => {
                coloured.push_str(piece);
                continue;
            }
        };
        coloured.push_str(&piece.style(style).to_string());
    }
    show(&coloured);
}

/// Writes to standard error; if even that fails there is nowhere left to say so.
pub fn complain(text: &str) {
    let mut error = io::stderr().lock();
    let _ = error.write_all(text.as_bytes());
}
