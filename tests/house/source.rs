//! A file of src/ as a list of words: enough Rust to see which names a file takes from where.

use super::{read, root, rust_files};
use std::path::Path;

/// The rooms, with those of their parts that know less than the room does.
pub(crate) const PARTS: &[(&str, &[&str])] = &[
    ("tensor", &["system", "ops", "linalg"]),
    ("explain", &["format"]),
    ("call", &["dispatch"]),
    ("torch", &["library"]),
    ("languages", &["python", "script"]),
    ("session", &["transcript", "lessons", "quiz", "assist"]),
];

const ROOMS: &[&str] = &[
    "elementary",
    "tensor",
    "value",
    "files",
    "autograd",
    "explain",
    "call",
    "objects",
    "torch",
    "languages",
    "session",
    "shell",
    "web",
];

fn parts_of(room: &str) -> &'static [&'static str] {
    PARTS.iter().find(|(parent, _)| *parent == room).map_or(&[], |(_, parts)| parts)
}

/// Every file of src/.
pub(crate) fn sources() -> Vec<Source> {
    let folder = root().join("src");
    let name = |path: &Path| path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
    rust_files(&folder).iter().map(|path| Source::of(&name(path), &read(path))).collect()
}

/// One file of src/.
pub(crate) struct Source {
    /// The path relative to src/.
    pub name: String,
    /// The crate of the file: a folder of src/, or `main` or `lib`.
    pub room: String,
    /// The part of the room, which is a separate module. Empty for the room itself.
    pub part: String,
    pub text: String,
    pub tokens: Vec<Token>,
}

/// A word or a single character of code. Comments and strings are left out.
pub(crate) struct Token {
    pub text: String,
    pub line: usize,
}

impl Source {
    pub(crate) fn of(name: &str, text: &str) -> Source {
        let mut steps = name.split(['/', '.']).map(str::to_owned);
        let (room, part) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
        let part = if parts_of(&room).contains(&part.as_str()) { part } else { String::new() };
        Source { name: name.to_owned(), room, part, text: text.to_owned(), tokens: tokens(text) }
    }

    pub(crate) fn is(&self, index: usize, text: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| token.text == text)
    }

    pub(crate) fn is_path_separator(&self, index: usize) -> bool {
        self.is(index, ":") && self.is(index + 1, ":")
    }

    /// Returns the items of the crate's root that the file names with `crate::…` or `super::…`.
    pub(crate) fn parts_named(&self) -> Vec<(usize, String)> {
        let is_root = self.name.ends_with("lib.rs");
        // The folder of the crate is not a module.
        let file_depth = if is_root { 0 } else { self.name.split('/').count() - 1 };
        let mut named = Vec::new();
        // For every open brace, whether it opens a module.
        let mut braces = Vec::new();
        let mut index = 0;
        while let Some(token) = self.tokens.get(index) {
            match token.text.as_str() {
                "{" => braces.push(index >= 2 && self.is(index - 2, "mod")),
                "}" => drop(braces.pop()),
                "crate" if self.is_path_separator(index + 1) => self.items(index + 3, &mut named),
                "super" if self.is_path_separator(index + 1) => {
                    let mut climbed = 1;
                    while self.is(index + 3, "super") {
                        index += 3;
                        climbed += 1;
                    }
                    let depth = file_depth + braces.iter().filter(|is_module| **is_module).count();
                    if climbed >= depth {
                        self.items(index + 3, &mut named);
                    }
                }
                _ => {}
            }
            index += 1;
        }
        named
    }

    /// Adds the first names of the path at `start`: `a::b`, or a group `{a::b, c}`.
    fn items(&self, start: usize, named: &mut Vec<(usize, String)>) {
        let mut add = |token: &Token| named.push((token.line, token.text.clone()));
        if !self.is(start, "{") {
            self.tokens.get(start).into_iter().for_each(&mut add);
            return;
        }
        let (mut depth, mut index) = (0, start);
        while let Some(token) = self.tokens.get(index) {
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
            if depth == 1 && (index == start || token.text == ",") && !self.is(index + 1, "}") {
                self.tokens.get(index + 1).into_iter().for_each(&mut add);
            }
            index += 1;
        }
    }

    /// Returns the part that contains the file, or its room.
    pub(crate) fn place(&self) -> &str {
        if self.part.is_empty() { &self.room } else { &self.part }
    }

    /// Returns the rooms and parts that the file names: those of its own room with `crate::…`, others with `room::…`,
    /// any with `tensorsh::…`. `is_near` distinguishes submodules of the file from rooms of the same name.
    pub(crate) fn places_named(&self, is_near: &dyn Fn(&str) -> bool) -> Vec<(usize, String)> {
        let mut places = Vec::new();
        for (line, item) in self.parts_named() {
            let is_part = parts_of(&self.room).contains(&item.as_str());
            // `crate::f` names the room itself, which may be above or below a part.
            places.push((line, if is_part { item } else { self.room.clone() }));
        }
        for (index, token) in self.tokens.iter().enumerate() {
            let follows_path = index >= 2 && self.is_path_separator(index - 2);
            let by_root = follows_path && index >= 3 && self.is(index - 3, "tensorsh");
            let room = token.text.as_str();
            let is_use = index >= 1 && self.is(index - 1, "use");
            if !ROOMS.contains(&room) || (follows_path && !by_root) || (!by_root && is_near(room)) {
                continue;
            }
            if self.is_path_separator(index + 1) {
                let mut items = Vec::new();
                self.items(index + 3, &mut items);
                let place = |name: String| if parts_of(room).contains(&name.as_str()) { name } else { room.to_owned() };
                places.extend(items.into_iter().map(|(line, name)| (line, place(name))));
            } else if is_use {
                places.push((token.line, room.to_owned()));
            }
        }
        places.sort_by_key(|(line, _)| *line);
        places
    }

    /// Returns whether the file names a crate.
    pub(crate) fn names_crate(&self, name: &str) -> bool {
        (0..self.tokens.len()).any(|index| {
            let follows_path = index >= 2 && self.is_path_separator(index - 2);
            let is_use = index >= 1 && self.is(index - 1, "use");
            self.is(index, name) && !follows_path && (is_use || self.is_path_separator(index + 1))
        })
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut index, mut line) = (Vec::new(), 0, 1);
    while index < chars.len() {
        let start = index;
        match (at(index), at(index + 1)) {
            ('/', '/') => index += chars[index..].iter().take_while(|c| **c != '\n').count(),
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(index), at(index + 1)) {
                        ('/', '*') => (depth, index) = (depth + 1, index + 2),
                        ('*', '/') => (depth, index) = (depth - 1, index + 2),
                        _ => index += 1,
                    }
                    if depth == 0 || index >= chars.len() {
                        break;
                    }
                }
            }
            ('"', _) => index = after_quote(&chars, index),
            ('r', '#' | '"') if chars[index + 1..].iter().find(|c| **c != '#') == Some(&'"') => {
                let hashes = chars[index + 1..].iter().take_while(|c| **c == '#').count();
                index += hashes + 2;
                while index < chars.len()
                    && !(at(index) == '"' && chars[index + 1..].iter().take(hashes).all(|c| *c == '#'))
                {
                    index += 1;
                }
                index += hashes + 1;
            }
            // A character, unless it is a lifetime.
            ('\'', '\\') => index = after_quote(&chars, index),
            ('\'', _) if at(index + 2) == '\'' => index += 3,
            (c, _) if is_word(c) => {
                index += chars[index..].iter().take_while(|c| is_word(**c)).count();
                tokens.push(Token { text: chars[start..index].iter().collect(), line });
            }
            (c, _) => {
                if !c.is_whitespace() {
                    tokens.push(Token { text: c.to_string(), line });
                }
                index += 1;
            }
        }
        line += chars[start..index.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// Returns the position after the string or character that begins at `start`.
fn after_quote(chars: &[char], start: usize) -> usize {
    let mut index = start + 1;
    while let Some(c) = chars.get(index) {
        match c {
            '\\' => index += 2,
            c if *c == chars[start] => return index + 1,
            _ => index += 1,
        }
    }
    index
}
