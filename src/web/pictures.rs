//! The pictures on the page: sent as SVG, and again when their subject changes.

use super::events::Listener;
use explain::{Choose, Scene, svg};
use serde_json::json;
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
    /// The number of the next picture, common to all sessions.
    next: Rc<Cell<u64>>,
}

/// A picture that is redrawn when its subject changes.
struct LivePicture {
    id: u64,
    scene: Scene,
    width: usize,
    again: Rc<Redraw>,
    /// Whether only the undo history still holds its subject.
    is_gone: bool,
}

impl Pictures {
    pub(crate) fn new(next: Rc<Cell<u64>>) -> Pictures {
        Pictures { shown: VecDeque::new(), choosable: None, next }
    }

    /// Returns the pictures of another session.
    pub(crate) fn another(&self) -> Pictures {
        Pictures::new(Rc::clone(&self.next))
    }

    /// Sends a picture, and remembers it if it can be redrawn.
    pub(crate) fn add(&mut self, picture: &Picture, listener: &Listener) {
        let id = self.next.get();
        self.next.set(id + 1);
        send(listener, "picture", id, picture);
        self.choosable = picture.choose.clone().map(|choose| (id, choose)).or(self.choosable.take());
        if let Some(again) = &picture.again {
            self.shown.truncate(LIVE - 1);
            let (scene, width, again) = (picture.scene.clone(), picture.width, Rc::clone(again));
            self.shown.push_front(LivePicture { id, scene, width, again, is_gone: false });
        }
    }

    /// Draws a picture again for a chosen item. Returns false if the picture can no longer be asked.
    pub(crate) fn choose(&mut self, id: u64, choice: usize, listener: &Listener) -> bool {
        let chosen = self.choosable.as_ref().filter(|(known, _)| *known == id).and_then(|(_, choose)| choose(choice));
        let Some(picture) = chosen else { return false };
        send(listener, "redrawn", id, &picture);
        true
    }

    /// Lets go of the tensors behind a picture, which the next input must not find held.
    pub(crate) fn let_go(&mut self) {
        self.choosable = None;
    }

    /// Resends pictures whose subject has changed or come back, and reports those whose subject is gone.
    pub(crate) fn renew(&mut self, seen: &RedrawContext, listener: &Listener) {
        self.shown.retain_mut(|shown| match shown.again.draw(seen) {
            RedrawOutcome::There(Ok(scene)) => {
                if shown.is_gone || scene != shown.scene {
                    let picture = Picture::of(scene, shown.width);
                    send(listener, "redrawn", shown.id, &picture);
                    (shown.scene, shown.is_gone) = (picture.scene, false);
                }
                true
            }
            RedrawOutcome::There(Err(_)) => true,
            fate => {
                if !shown.is_gone {
                    send_removed(listener, shown.id);
                    shown.is_gone = true;
                }
                matches!(fate, RedrawOutcome::Remembered)
            }
        });
    }

    /// Reports that the pictures are no longer redrawn.
    pub(crate) fn forget(&mut self, listener: &Listener) {
        for shown in self.shown.drain(..).filter(|shown| !shown.is_gone) {
            send_removed(listener, shown.id);
        }
    }
}

fn send_removed(listener: &Listener, id: u64) {
    listener.send(&json!({ "event": "gone", "id": id }));
}

fn send(listener: &Listener, event: &str, id: u64, picture: &Picture) {
    let (svg, alt) = (svg::draw(&picture.scene), picture.text());
    listener.send(&json!({ "event": event, "id": id, "svg": svg, "alt": alt.trim_end() }));
}
