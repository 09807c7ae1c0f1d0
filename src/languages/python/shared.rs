//! What the machines of a session share. Knows no machine.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use value::Value;

/// What the machines of a session share, which the session's own machine owns.
pub struct Shared {
    /// The machines of modules, and of what `exec` ran. They live as long as the session: functions of a module that is no
    /// longer imported still run.
    pub(super) machines: RefCell<Vec<Rc<dyn Any>>>,
    /// The session's own machine.
    pub(super) main: RefCell<Weak<dyn Any>>,
    /// The library's texts of builtin modules, by their names.
    pub(super) companions: RefCell<HashMap<String, Value>>,
    /// The texts that are not inputs, by their addresses.
    texts: RefCell<HashMap<*const u8, Origin>>,
    /// `__file__`, `__package__` and `__doc__` of the script that runs.
    pub(super) file: RefCell<Option<Rc<str>>>,
    pub(super) package: RefCell<Option<Rc<str>>>,
    pub doc: RefCell<Option<Rc<str>>>,
}

impl Default for Shared {
    fn default() -> Shared {
        let nothing: Weak<()> = Weak::new();
        Shared {
            machines: RefCell::default(),
            main: RefCell::new(nothing),
            companions: RefCell::default(),
            texts: RefCell::default(),
            file: RefCell::default(),
            package: RefCell::default(),
            doc: RefCell::default(),
        }
    }
}

/// Where a text is from.
#[derive(Clone)]
pub struct Origin {
    text: Weak<str>,
    pub file: Rc<str>,
    /// Whether it is a module, and not what `exec` ran.
    pub is_module: bool,
}

impl Shared {
    /// Returns where a text is from that is not an input.
    pub fn origin_of(&self, text: &Rc<str>) -> Option<Origin> {
        let texts = self.texts.borrow();
        texts.get(&text.as_ptr()).filter(|origin| origin.text.strong_count() > 0).cloned()
    }

    pub(super) fn note_text(&self, text: &Rc<str>, file: &str, is_module: bool) {
        let mut texts = self.texts.borrow_mut();
        if texts.len() == texts.capacity() {
            // An address may have another text by now.
            texts.retain(|_, origin| origin.text.strong_count() > 0);
        }
        texts.insert(text.as_ptr(), Origin { text: Rc::downgrade(text), file: file.into(), is_module });
    }
}
