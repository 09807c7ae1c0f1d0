//! A turned layout as a scene, and as words for a pipe.

use super::super::aliases::Holder;
use super::super::arrays;
use super::super::scene::{Block, Ink, Scene, Strip, list, span, tuple};
use super::super::tensors::{self, Terms, fact};
use super::{Turn, Turned};
use tensor::Layout;

impl Turn {
    /// Returns the scene of the layout: its facts, its elements by index, and its storage.
    pub fn scene(&self, holders: &[Holder], terms: Terms) -> Scene {
        let mut scene = match &self.0 {
            Turned::Tensor(view) => tensors::describe(view, holders),
            Turned::Array(array) => arrays::describe(array, holders),
        };
        scene.facts(self.facts());
        match &self.0 {
            Turned::Tensor(view) => tensors::drawings(&mut scene, view, terms),
            Turned::Array(array) => arrays::drawings(&mut scene, array, terms),
        }
        scene
    }

    /// Describes the layout in a line.
    pub fn in_words(&self) -> String {
        match &self.0 {
            Turned::Tensor(view) => {
                let Layout { strides, offset, .. } = &view.layout;
                format!("{}, stride {}, offset {offset}", tensors::title(view, view.dtype), list(strides))
            }
            Turned::Array(array) => {
                let Layout { strides, offset, .. } = &array.layout;
                format!("{}, strides {}, offset {offset}", arrays::title(array), tuple(strides))
            }
        }
    }

    /// Returns a scene without a title of as many storage cells as fit one row. The element at `place` is in brackets.
    pub fn storage_row(&self, columns: usize, terms: Terms, place: Option<i64>) -> Scene {
        let mut whole = Scene::default();
        match &self.0 {
            Turned::Tensor(view) => tensors::drawings(&mut whole, view, terms),
            Turned::Array(array) => arrays::drawings(&mut whole, array, terms),
        }
        let mut strips = whole.blocks.into_iter().filter_map(|block| match block {
            Block::Strip(strip) => Some(strip),
            _ => None,
        });
        let mut scene = Scene::default();
        let Some(mut strip) = strips.next_back() else { return scene };
        for item in strip.lanes.iter_mut().filter(|lane| lane.name == "index").flat_map(|lane| &mut lane.items) {
            if item.at.is_some() && item.at == place {
                item.text = format!("[{}]", item.text);
                item.ink = Ink::Fault;
            }
        }
        let widest = strip.lanes.iter().flat_map(|lane| &lane.items).map(|item| item.text.chars().count());
        let unit = widest.max().unwrap_or_default() + 3;
        let mut rows = strip.rows((columns.saturating_sub(8) / unit).max(1)).into_iter();
        let is_there =
            |row: &Strip| place.is_some() && row.lanes.iter().flat_map(|l| &l.items).any(|item| item.at == place);
        let first = rows.next();
        scene.blocks.extend(rows.find(is_there).or(first).map(Block::Strip));
        scene
    }

    /// Returns the facts that a turned layout has beyond those of a tensor.
    fn facts(&self) -> Vec<(String, super::super::scene::Span)> {
        let layout = self.layout();
        let mut facts = Vec::new();
        if layout.numel() > 0 {
            let last: Vec<i64> = layout.sizes.iter().map(|size| size - 1).collect();
            facts.push(fact("last element", format!("at {} {}", self.unit(), self.address(&last))));
        }
        facts.push(fact("cache lines", self.cache_lines()));
        let views = self.views();
        let ink = if views.contains("refused") || views.contains("copies") { Ink::Fault } else { Ink::Good };
        facts.push((if self.is_array() { "reshape" } else { "view" }.to_owned(), span(ink, views)));
        facts
    }
}
