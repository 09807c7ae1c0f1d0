//! Python's strings, whose characters are numbered. A long one remembers where its characters lie, so that `text[i]` does
//! not walk from the beginning, and keeps spare capacity where it grows piece by piece, by `text += piece`.

use std::borrow::{Borrow, Cow};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// The number of bytes from which a string is long: walking or copying it takes noticeable time.
const LONG: usize = 1 << 8;

/// The number of characters from one mark to the next.
const STRIDE: usize = 1 << 7;

/// An immutable string; clones share it.
#[derive(Clone)]
pub enum Text {
    Short(Rc<str>),
    Long(Rc<LongText>),
}

/// A string, and as much as is known of where its characters lie. What is appended later does not change that.
#[derive(Clone, Default)]
pub struct LongText {
    text: String,
    /// How many bytes were counted from the beginning, and how many characters they are.
    counted: Cell<(usize, usize)>,
    /// The byte at which every [`STRIDE`]th character begins.
    marks: RefCell<Vec<usize>>,
}

impl LongText {
    fn new(text: String) -> LongText {
        LongText { text, ..LongText::default() }
    }

    /// Counts the characters.
    fn characters(&self) -> usize {
        let (bytes, characters) = self.counted.get();
        let rest = self.text.get(bytes..).unwrap_or_default();
        let characters = characters + characters_of(rest);
        self.counted.set((self.text.len(), characters));
        characters
    }

    fn is_ascii(&self) -> bool {
        self.characters() == self.text.len()
    }

    /// Returns the byte at which a character begins, which is there.
    fn byte_of(&self, character: usize) -> usize {
        if self.is_ascii() {
            return character;
        }
        let (mark, after) = (character / STRIDE, character % STRIDE);
        let mut marks = self.marks.borrow_mut();
        while marks.len() <= mark {
            let next =
                marks.last().map_or(0, |&last| last + byte_in(self.text.get(last..).unwrap_or_default(), STRIDE));
            marks.push(next);
        }
        let begin = marks.get(mark).copied().unwrap_or_default();
        begin + byte_in(self.text.get(begin..).unwrap_or_default(), after)
    }

    /// Returns how many characters begin before a byte.
    fn characters_before(&self, byte: usize) -> usize {
        if self.is_ascii() {
            return byte;
        }
        let marks = self.marks.borrow();
        let passed = marks.partition_point(|&mark| mark <= byte).saturating_sub(1);
        let begin = marks.get(passed).copied().unwrap_or_default();
        passed * STRIDE + characters_of(self.text.get(begin..byte).unwrap_or_default())
    }
}

/// Counts the characters of a string.
fn characters_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Returns the byte at which a character begins, or the length if there are fewer characters.
fn byte_in(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

impl Text {
    /// Appends to the string: in place if it has no other owner.
    pub fn with(self, more: &str) -> Text {
        let mut grown = match self {
            Text::Long(grown) => grown,
            Text::Short(text) => {
                let mut room = String::with_capacity(2 * (text.len() + more.len()));
                room.push_str(&text);
                Rc::new(LongText::new(room))
            }
        };
        Rc::make_mut(&mut grown).text.push_str(more);
        Text::Long(grown)
    }

    /// Returns whether both are the same string in memory.
    pub fn is(&self, other: &Text) -> bool {
        std::ptr::eq(self.as_ptr(), other.as_ptr()) && self.len() == other.len()
    }

    pub fn to_rc(&self) -> Rc<str> {
        match self {
            Text::Short(text) => text.clone(),
            Text::Long(long) => Rc::from(long.text.as_str()),
        }
    }

    /// Returns the number of characters: `len(text)`.
    pub fn characters(&self) -> usize {
        match self {
            Text::Short(text) => characters_of(text),
            Text::Long(long) => long.characters(),
        }
    }

    /// Returns the byte at which a character begins, or the length if there are fewer characters.
    pub fn byte_of(&self, character: usize) -> usize {
        match self {
            Text::Short(text) => byte_in(text, character),
            Text::Long(long) if character >= long.characters() => long.text.len(),
            Text::Long(long) => long.byte_of(character),
        }
    }

    /// Returns how many characters begin before a byte.
    pub fn characters_before(&self, byte: usize) -> usize {
        match self {
            Text::Short(text) => characters_of(text.get(..byte).unwrap_or_default()),
            Text::Long(long) => long.characters_before(byte),
        }
    }

    /// Returns the character at a position.
    pub fn character(&self, position: usize) -> Option<char> {
        self.get(self.byte_of(position)..)?.chars().next()
    }
}

impl Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        match self {
            Text::Short(text) => text,
            Text::Long(long) => &long.text,
        }
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<Rc<str>> for Text {
    fn from(text: Rc<str>) -> Text {
        if text.len() < LONG { Text::Short(text) } else { Text::from(&*text) }
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Text {
    fn from(text: &T) -> Text {
        let text = text.as_ref();
        if text.len() < LONG { Text::Short(text.into()) } else { Text::from(text.to_owned()) }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        if text.len() < LONG { Text::Short(text.into()) } else { Text::Long(Rc::new(LongText::new(text))) }
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Text {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every position beside a walk from the beginning, in short and long texts of narrow and wide characters.
    #[test]
    fn positions_are_those_of_a_walk() {
        for piece in ["a", "é", "a€", "𝄞bc", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé"] {
            for times in [0, 1, 3, LONG - 1, LONG, 3 * LONG + 5] {
                let mut text = Text::from(piece.repeat(times));
                // Asked in any order, and again after it has grown.
                for _ in 0..2 {
                    let chars: Vec<(usize, char)> = text.char_indices().collect();
                    for k in (0..chars.len() + 2).map(|k| k * 7919 % (chars.len() + 2)) {
                        let (at, c) = chars.get(k).map_or((text.len(), None), |&(at, c)| (at, Some(c)));
                        assert_eq!((text.byte_of(k), text.character(k)), (at, c), "{piece} {times} {k}");
                        assert_eq!(text.characters_before(at), k.min(chars.len()), "{piece} {times} {k}");
                    }
                    assert_eq!(text.characters(), chars.len());
                    text = text.with("ß…").with(piece);
                }
            }
        }
    }

    #[test]
    fn a_text_that_others_hold_stays_as_it_is() {
        let first = Text::from("a").with("b");
        let second = first.clone().with("c");
        assert_eq!((&*first, &*second, &*first.clone().with("d")), ("ab", "abc", "abd"));
    }
}
