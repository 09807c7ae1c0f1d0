//! A turned layout as a scene, and as words for a pipe.

use super::super::aliases::Holder;
use super::super::arrays;
use super::super::scene::{Ink, Scene, span};
use super::super::tensors::{self, Terms, fact};
use super::{Turn, Turned};

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
