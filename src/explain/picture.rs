//! A scene as a value: what `explain(t)` gives. A prompt shows it drawn; `svg` and `html` take it as it is.

use super::again::Again;
use super::scene::{Line, Scene};
use super::terminal;
use std::rc::Rc;
use value::Object;

/// A scene with the width at which a terminal draws it.
pub struct Picture {
    pub scene: Scene,
    pub width: usize,
    /// The way to draw it again later, which keeps nothing alive; none for what tells of a moment.
    pub again: Option<Rc<Again>>,
}

impl Picture {
    /// A picture of a moment.
    pub fn of(scene: Scene, width: usize) -> Picture {
        Picture { scene, width, again: None }
    }

    /// The lines of the drawing.
    pub fn lines(&self) -> Vec<Line> {
        terminal::draw(&self.scene, self.width)
    }

    /// The drawing as plain text, each line with its end.
    pub fn text(&self) -> String {
        self.repr() + "\n"
    }
}

impl Object for Picture {
    fn type_name(&self) -> &str {
        "Picture"
    }

    fn repr(&self) -> String {
        terminal::plain(&self.lines())
    }
}
