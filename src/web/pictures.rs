//! The pictures that have been shown: sent as SVG, and sent again when what they show has changed.

use super::events::Listener;
use explain::{Scene, svg};
use serde_json::json;
use session::{Again, Fate, Picture, Seen};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of pictures that are drawn again; older ones stay as they are.
const LIVE: usize = 30;

/// The pictures of one session.
pub(crate) struct Pictures {
    shown: VecDeque<Shown>,
    /// The number of the next picture, of all sessions.
    next: Rc<Cell<u64>>,
}

/// A picture that is drawn again when it is no longer true.
struct Shown {
    id: u64,
    scene: Scene,
    width: usize,
    again: Rc<Again>,
    /// What it shows is only remembered.
    is_gone: bool,
}

impl Pictures {
    pub(crate) fn new(next: Rc<Cell<u64>>) -> Pictures {
        Pictures { shown: VecDeque::new(), next }
    }

    /// Those of another session.
    pub(crate) fn another(&self) -> Pictures {
        Pictures::new(Rc::clone(&self.next))
    }

    /// Sends a picture, and remembers it if it can be drawn again.
    pub(crate) fn add(&mut self, picture: &Picture, listener: &Listener) {
        let id = self.next.get();
        self.next.set(id + 1);
        send(listener, "picture", id, picture);
        if let Some(again) = &picture.again {
            self.shown.truncate(LIVE - 1);
            let (scene, width, again) = (picture.scene.clone(), picture.width, Rc::clone(again));
            self.shown.push_front(Shown { id, scene, width, again, is_gone: false });
        }
    }

    /// Sends those that show something else now or can be drawn once more, and says which are gone.
    pub(crate) fn renew(&mut self, seen: &Seen, listener: &Listener) {
        self.shown.retain_mut(|shown| match shown.again.draw(seen) {
            Fate::There(Ok(scene)) => {
                if shown.is_gone || scene != shown.scene {
                    let picture = Picture::of(scene, shown.width);
                    send(listener, "redrawn", shown.id, &picture);
                    (shown.scene, shown.is_gone) = (picture.scene, false);
                }
                true
            }
            Fate::There(Err(_)) => true,
            fate => {
                if !shown.is_gone {
                    gone(listener, shown.id);
                    shown.is_gone = true;
                }
                matches!(fate, Fate::Remembered)
            }
        });
    }

    /// Says of all that they are no longer redrawn.
    pub(crate) fn forget(&mut self, listener: &Listener) {
        for shown in self.shown.drain(..).filter(|shown| !shown.is_gone) {
            gone(listener, shown.id);
        }
    }
}

fn gone(listener: &Listener, id: u64) {
    listener.send(&json!({ "event": "gone", "id": id }));
}

fn send(listener: &Listener, event: &str, id: u64, picture: &Picture) {
    let (svg, alt) = (svg::draw(&picture.scene), picture.text());
    listener.send(&json!({ "event": event, "id": id, "svg": svg, "alt": alt.trim_end() }));
}
