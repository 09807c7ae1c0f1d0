//! The pictures on the page: sent as SVG as wide as their column, and again when their subject or the column changes.

use super::events::Listener;
use super::request::Parsed;
use super::stage::COLUMNS;
use explain::{Blanks, Choose, Scene, svg};
use serde_json::{Value, json};
use session::{Picture, Redraw, RedrawContext, RedrawOutcome};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of pictures to keep up to date; older ones stay as they are.
const LIVE: usize = 30;

/// The pictures of one session.
pub(crate) struct Pictures {
    shown: VecDeque<LivePicture>,
    /// The last picture whose items can be chosen.
    choosable: Option<(u64, Rc<Choose>)>,
    /// The latest pictures with blank parts, each with its number.
    blank: VecDeque<(u64, Rc<Blanks>)>,
    /// The number of the next picture, common to all sessions.
    next: Rc<Cell<u64>>,
    /// The width of the column for pictures in pixels, common to all sessions.
    column: Rc<Cell<f64>>,
}

/// A picture that is redrawn when its subject or its column changes.
struct LivePicture {
    id: u64,
    scene: Scene,
    width: usize,
    /// `None` for a picture of a moment.
    again: Option<Rc<Redraw>>,
    /// Whether only the undo history still holds its subject.
    is_gone: bool,
}

impl Pictures {
    pub(crate) fn new() -> Pictures {
        let (next, column) = (Rc::new(Cell::new(1)), Rc::new(Cell::new(svg::NATURAL)));
        Pictures { shown: VecDeque::new(), choosable: None, blank: VecDeque::new(), next, column }
    }

    /// Returns the pictures of another session.
    pub(crate) fn another(&self) -> Pictures {
        let (next, column) = (Rc::clone(&self.next), Rc::clone(&self.column));
        Pictures { shown: VecDeque::new(), choosable: None, blank: VecDeque::new(), next, column }
    }

    /// Sets the width of the column for the pictures to come, in pixels.
    pub(crate) fn set_column(&self, width: f64) {
        self.column.set(width);
    }

    /// Resends all pictures, as wide as the column.
    pub(crate) fn refit(&self, listener: &Listener) {
        for shown in self.shown.iter().filter(|shown| !shown.is_gone) {
            let picture = Picture::of(shown.scene.clone(), shown.width);
            self.send(listener, "refitted", shown.id, &picture);
        }
    }

    /// Sends a picture, and remembers it if it can be redrawn.
    pub(crate) fn add(&mut self, picture: &Picture, listener: &Listener) {
        let id = self.next.get();
        self.next.set(id + 1);
        self.send(listener, "picture", id, picture);
        self.choosable = picture.choose.clone().map(|choose| (id, choose)).or(self.choosable.take());
        if let Some(blanks) = &picture.blanks {
            self.blank.truncate(LIVE - 1);
            self.blank.push_front((id, Rc::clone(blanks)));
        }
        self.shown.truncate(LIVE - 1);
        let (scene, width, again) = (picture.scene.clone(), picture.width, picture.again.clone());
        self.shown.push_front(LivePicture { id, scene, width, again, is_gone: false });
    }

    /// Draws a picture again for a chosen item. Returns false if the picture can no longer be asked.
    pub(crate) fn choose(&mut self, id: u64, choice: usize, listener: &Listener) -> bool {
        let chosen = self.choosable.as_ref().filter(|(known, _)| *known == id).and_then(|(_, choose)| choose(choice));
        let Some(picture) = chosen else { return false };
        self.send(listener, "redrawn", id, &picture);
        if let Some(shown) = self.shown.iter_mut().find(|shown| shown.id == id) {
            shown.scene = picture.scene;
        }
        true
    }

    /// Lets go of the tensors behind a picture, which the next input must not find held.
    pub(crate) fn let_go(&mut self) {
        self.choosable = None;
    }

    /// Returns the recipe of a picture that is kept up to date.
    pub(crate) fn recipe(&self, id: u64) -> Option<Rc<Redraw>> {
        self.shown.iter().find(|shown| shown.id == id).and_then(|shown| shown.again.clone())
    }

    /// Keeps a picture up to date without sending it now. It takes the place of another if `id` says so. Returns its
    /// number.
    pub(crate) fn keep(&mut self, id: Option<u64>, scene: Scene, again: Redraw) -> u64 {
        let id = id.unwrap_or_else(|| self.next.replace(self.next.get() + 1));
        self.shown.retain(|shown| shown.id != id);
        self.shown.truncate(LIVE - 1);
        self.shown.push_front(LivePicture { id, scene, width: COLUMNS, again: Some(Rc::new(again)), is_gone: false });
        id
    }

    fn blanks(&self, id: u64) -> Parsed<&Blanks> {
        let found = self.blank.iter().find(|(known, _)| *known == id);
        found.map(|(_, blanks)| &**blanks).ok_or_else(|| format!("picture {id} has no blank parts, or is too old"))
    }

    /// Judges a text typed into a blank part.
    ///
    /// # Errors
    /// Fails if there is no such picture or part.
    pub(crate) fn fill(&self, id: u64, part: usize, typed: &str) -> Parsed<Value> {
        let part = self.blanks(id)?.blanks.get(part).ok_or_else(|| format!("picture {id} has no blank part {part}"))?;
        Ok(json!({ "verdict": if part.is_right(typed) { "right" } else { "wrong" } }))
    }

    /// Returns the whole of a picture with blank parts.
    ///
    /// # Errors
    /// Fails if there is no such picture.
    pub(crate) fn solve(&self, id: u64) -> Parsed<Value> {
        let picture = Picture::of(self.blanks(id)?.solved.clone(), COLUMNS);
        Ok(json!({ "id": id, "svg": svg::fitted(&picture.scene, self.column.get()), "alt": picture.text().trim_end() }))
    }

    /// Resends pictures whose subject has changed or come back, and reports those whose subject is gone.
    pub(crate) fn renew(&mut self, seen: &RedrawContext, listener: &Listener) {
        let column = self.column.get();
        self.shown.retain_mut(|shown| match shown.again.as_ref().map(|again| again.draw(seen)) {
            Some(RedrawOutcome::There(Ok(scene))) => {
                if shown.is_gone || scene != shown.scene {
                    let picture = Picture::of(scene, shown.width);
                    send(listener, "redrawn", shown.id, &picture, column);
                    (shown.scene, shown.is_gone) = (picture.scene, false);
                }
                true
            }
            None | Some(RedrawOutcome::There(Err(_))) => true,
            Some(fate) => {
                if !shown.is_gone {
                    send_removed(listener, shown.id);
                    shown.is_gone = true;
                }
                matches!(fate, RedrawOutcome::Remembered)
            }
        });
    }

    fn send(&self, listener: &Listener, event: &str, id: u64, picture: &Picture) {
        send(listener, event, id, picture, self.column.get());
    }

    /// Reports that the pictures are no longer redrawn.
    pub(crate) fn forget(&mut self, listener: &Listener) {
        for shown in self.shown.drain(..).filter(|shown| !shown.is_gone && shown.again.is_some()) {
            send_removed(listener, shown.id);
        }
    }
}

fn send_removed(listener: &Listener, id: u64) {
    listener.send(&json!({ "event": "gone", "id": id }));
}

fn send(listener: &Listener, event: &str, id: u64, picture: &Picture, column: f64) {
    let (svg, alt) = (svg::fitted(&picture.scene, column), picture.text());
    let turns = picture.again.as_ref().is_some_and(|again| again.is_layout());
    let mut drawn = json!({ "event": event, "id": id, "svg": svg, "alt": alt.trim_end(), "turns": turns });
    if let Some(blanks) = &picture.blanks {
        drawn["blanks"] = json!(blanks.blanks.iter().map(|blank| blank.label.as_str()).collect::<Vec<_>>());
    }
    listener.send(&drawn);
}
