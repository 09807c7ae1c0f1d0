//! Python's strings. A string that grows piece by piece, by `text += piece`, keeps spare capacity.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// The number of bytes from which copying a string takes noticeable time.
const LONG: usize = 1 << 16;

/// An immutable string; clones share it.
#[derive(Clone)]
pub enum Text {
    Whole(Rc<str>),
    /// With spare capacity.
    Grown(Rc<String>),
}

impl Text {
    /// Appends to the string: in place if it has no other owner.
    pub fn with(self, more: &str) -> Text {
        let mut grown = match self {
            Text::Grown(grown) => grown,
            Text::Whole(text) => {
                let mut room = String::with_capacity(2 * (text.len() + more.len()));
                room.push_str(&text);
                Rc::new(room)
            }
        };
        Rc::make_mut(&mut grown).push_str(more);
        Text::Grown(grown)
    }

    /// Returns whether both are the same string in memory.
    pub fn is(&self, other: &Text) -> bool {
        std::ptr::eq(self.as_ptr(), other.as_ptr()) && self.len() == other.len()
    }

    pub fn to_rc(&self) -> Rc<str> {
        match self {
            Text::Whole(text) => text.clone(),
            Text::Grown(text) => Rc::from(text.as_str()),
        }
    }
}

impl Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        match self {
            Text::Whole(text) => text,
            Text::Grown(text) => text,
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
        Text::Whole(text)
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Text {
    fn from(text: &T) -> Text {
        Text::Whole(text.as_ref().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        // A long string is not copied again.
        if text.len() >= LONG { Text::Grown(Rc::new(text)) } else { Text::Whole(text.into()) }
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

    #[test]
    fn a_text_that_others_hold_stays_as_it_is() {
        let first = Text::from("a").with("b");
        let second = first.clone().with("c");
        assert_eq!((&*first, &*second, &*first.clone().with("d")), ("ab", "abc", "abd"));
    }
}
