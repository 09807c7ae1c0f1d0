//! A scene as a value: what `explain(t)` gives. A prompt shows it drawn; `svg` and `html` take it as it is.

use super::scene::{Line, Scene};
use super::terminal;
use crate::value::Object;

/// A scene with the width at which a terminal draws it.
pub struct Picture {
    pub scene: Scene,
    pub width: usize,
}

impl Picture {
    /// The lines of the drawing.
    pub fn lines(&self) -> Vec<Line> {
        terminal::draw(&self.scene, self.width)
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
