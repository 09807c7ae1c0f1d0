//! A scene as a value: the result of `explain(t)`. A prompt draws it; `svg` and `html` use it directly.

use super::again::Redraw;
use super::blank::Blanks;
use super::scene::{Line, Scene};
use super::terminal;
use std::rc::Rc;
use tensor::Result;
use value::{Object, Value};

/// Draws the picture for the item with a number. `None` if there is no such item.
pub type Choose = dyn Fn(usize) -> Option<Picture>;

/// A scene with its width in a terminal.
pub struct Picture {
    pub scene: Scene,
    pub width: usize,
    /// The recipe for redrawing, which keeps nothing alive. `None` for a picture of a moment.
    pub again: Option<Rc<Redraw>>,
    /// Draws the picture for a chosen item. Keeps what it needs alive, so a page drops it before the next input.
    pub choose: Option<Rc<Choose>>,
    /// The object whose attributes are those of the picture.
    pub about: Option<Rc<dyn Object>>,
    /// What was left blank. `None` for a whole picture.
    pub blanks: Option<Rc<Blanks>>,
}

impl Picture {
    /// Creates a picture of a moment.
    pub fn of(scene: Scene, width: usize) -> Picture {
        Picture { scene, width, again: None, choose: None, about: None, blanks: None }
    }

    /// Returns the picture with these parts left blank, or with the usual ones. `None` if it has none of them.
    pub fn blanked(scene: &Scene, width: usize, parts: &[String]) -> Option<Picture> {
        let (blank, blanks) = scene.blanked(parts)?;
        let blanks = Blanks { blanks, solved: scene.clone() };
        Some(Picture { blanks: Some(Rc::new(blanks)), ..Picture::of(blank, width) })
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

    fn attribute(&self, name: &str) -> Option<Value> {
        self.about.as_ref()?.attribute(name)
    }

    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        self.about.as_ref()?.own_attribute(name)
    }

    fn repr(&self) -> String {
        terminal::plain(&self.lines())
    }
}
