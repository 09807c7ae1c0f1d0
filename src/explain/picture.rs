//! A scene as a value: the result of `explain(t)`. A prompt draws it; `svg` and `html` use it directly.

use super::again::Redraw;
use super::scene::{Line, Scene};
use super::terminal;
use std::rc::Rc;
use value::Object;

/// A scene with its width in a terminal.
pub struct Picture {
    pub scene: Scene,
    pub width: usize,
    /// The recipe for redrawing, which keeps nothing alive. `None` for a picture of a moment.
    pub again: Option<Rc<Redraw>>,
}

impl Picture {
    /// Creates a picture of a moment.
    pub fn of(scene: Scene, width: usize) -> Picture {
        Picture { scene, width, again: None }
    }

    /// Returns the lines of the drawing.
    pub fn lines(&self) -> Vec<Line> {
        terminal::draw(&self.scene, self.width)
    }

    /// Returns the drawing as plain text; every line ends in a newline.
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
