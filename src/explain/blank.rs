//! Pictures with parts left blank, as exercises: the index row of a storage, a shape, strides, who shares the memory.
//! What was blanked is kept, so that an answer can be judged and the whole picture shown.

use super::scene::{Block, HISTORY, Ink, Lane, Scene, Span, Strip, Table};

/// What is written in place of a blank part.
const MARK: &str = "____";
/// The parts that are left blank unless others are asked for.
const USUAL: [&str; 10] =
    ["index", "cell", "byte", "step", "size", "shape", "stride", "strides", "offset", "contiguous"];
/// The heading of the grid, which repeats what the index row says.
const GRID: &str = "Elements and their cells";

/// A part of a picture that was left blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// What belongs there: `stride`, or `index of cell 3`.
    pub label: String,
    pub answer: String,
}

/// The blank parts of a picture, and the picture with all of them.
pub struct Blanks {
    pub blanks: Vec<Blank>,
    pub solved: Scene,
}

impl Blank {
    /// Judges a typed text. Brackets, commas and the case of letters do not count; nothing stands for an empty cell.
    pub fn is_right(&self, typed: &str) -> bool {
        let (mut own, mut typed) = (words(&self.answer), words(typed));
        if self.label == "variables" {
            own.sort();
            typed.sort();
        }
        own == typed
    }
}

/// Returns the words and numbers of a text, without those that stand for nothing.
fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '−' | '+');
    let text = text.to_lowercase().replace('−', "-");
    let words = text.split(|c| !is_part(c)).map(|word| word.strip_prefix("torch.").unwrap_or(word));
    let words = words.filter(|word| !matches!(*word, "" | "." | "-" | "none" | "and" | "size" | "tuple"));
    // Equal numbers are equal words: `1` and `1.0`.
    words.map(|word| word.parse::<f64>().map_or_else(|_| word.to_owned(), |number| number.to_string())).collect()
}

impl Scene {
    /// Returns the picture with these parts left blank: facts and rows of cells by their names, columns of tables by
    /// their heads. Without any, the usual ones are. `None` if the picture has none of them.
    pub fn blanked(&self, parts: &[String]) -> Option<(Scene, Vec<Blank>)> {
        let is_blank = |name: &str| match parts {
            [] => USUAL.contains(&name),
            parts => parts.iter().any(|part| part == name || is_synonym(part, name)),
        };
        let (mut scene, mut blanks) = (Scene::new(self.title.as_str()), Vec::new());
        if is_blank("size") || is_blank("shape") {
            // `int64 tensor of size [2, 3]: 6 elements` gives it away.
            let end = self.title.find(" of size ").or_else(|| self.title.find(" of shape "));
            scene.title.truncate(end.unwrap_or(scene.title.len()));
        }
        let (mut is_left_out, mut is_history) = (false, false);
        for block in &self.blocks {
            if let Block::Heading(text) = block {
                is_history = text == HISTORY;
                // The grid says what the index row says.
                is_left_out = text == GRID && is_blank("index");
            }
            if is_left_out {
                continue;
            }
            let mut block = block.clone();
            match &mut block {
                Block::Facts(facts) => {
                    for (name, what) in facts.iter_mut().filter(|(name, _)| is_blank(name)) {
                        blanks.push(Blank { label: name.clone(), answer: said_first(&what.text).to_owned() });
                        *what = Span { ink: Ink::Plain, text: MARK.repeat(4) };
                    }
                }
                Block::Strip(strip) => blank_lanes(strip, &is_blank, &mut blanks),
                // The steps tell what the tensor is, but not what came of the last one.
                Block::Table(table) if is_history => blank_last(table, &is_blank),
                Block::Table(table) => {
                    for (column, head) in table.head.iter().enumerate().filter(|(_, head)| is_blank(head)) {
                        for (row, cells) in (1..).zip(&mut table.rows) {
                            if let Some(cell) = cells.get_mut(column) {
                                blanks.push(Blank { label: format!("{head}, row {row}"), answer: cell.text.clone() });
                                *cell = Span { ink: Ink::Plain, text: MARK.repeat(2) };
                            }
                        }
                    }
                }
                _ => {}
            }
            scene.blocks.push(block);
        }
        (!blanks.is_empty()).then_some((scene, blanks))
    }
}

fn blank_last(table: &mut Table, is_blank: &impl Fn(&str) -> bool) {
    let Some(last) = table.rows.last_mut() else { return };
    for (cell, _) in last.iter_mut().zip(&table.head).filter(|(_, head)| is_blank(head)) {
        *cell = Span { ink: Ink::Plain, text: MARK.to_owned() };
    }
}

/// Tensors have sizes and strides, arrays a shape and strides: each may be asked for by the other's name.
fn is_synonym(part: &str, name: &str) -> bool {
    const PAIRS: [(&str, &str); 2] = [("size", "shape"), ("stride", "strides")];
    PAIRS.iter().any(|(a, b)| (part, name) == (*a, *b) || (part, name) == (*b, *a))
}

/// Returns the part of a fact that is asked for. Explanations follow it.
fn said_first(text: &str) -> &str {
    let ends = [": ", ", which", " on this", " element", "; "].into_iter().filter_map(|end| text.find(end));
    text.get(..ends.min().unwrap_or(text.len())).unwrap_or(text)
}

/// Blanks the cells of whole lanes. All cells of the strip lose the colours and descriptions that tell one from another.
fn blank_lanes(strip: &mut Strip, is_blank: &impl Fn(&str) -> bool, blanks: &mut Vec<Blank>) {
    // Where places are asked for, the index is what they are asked by.
    let has_places = strip.lanes.iter().any(|lane| lane.is_framed && matches!(lane.name.as_str(), "cell" | "byte"));
    let is_asked = |lane: &Lane| lane.is_framed && is_blank(&lane.name) && !(has_places && lane.name == "index");
    if !strip.lanes.iter().any(is_asked) {
        return;
    }
    let ruler: Vec<String> = strip.lanes.iter().find(|lane| !lane.is_framed).map_or_else(Vec::new, |ruler| {
        ruler.items.iter().map(|item| format!("{} {}", ruler.name, item.text)).collect()
    });
    for lane in &mut strip.lanes {
        let is_asked = is_asked(lane);
        for (column, item) in lane.items.iter_mut().enumerate() {
            (item.ink, item.about) = (Ink::Plain, String::new());
            // Gaps, and the step before the first element.
            if !is_asked || matches!(item.text.as_str(), "" | "…") {
                continue;
            }
            let of = ruler.get(column).cloned().unwrap_or_else(|| column.to_string());
            let label = format!("{} of {of}", lane.name);
            let answer = item.text.split(" ×").next().unwrap_or_default().trim_end_matches(" !").to_owned();
            item.about = format!("Blank {}: {label}.", blanks.len() + 1);
            blanks.push(Blank { label, answer });
            MARK.clone_into(&mut item.text);
            item.tints.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::{Terms, scene};
    use crate::terminal;
    use tensor::{DType, Device, Layout, View};

    fn transposed() -> Scene {
        let mut view = View::zeros(&[6], DType::Long, Device::CPU).unwrap();
        view.layout = Layout { sizes: [3i64, 2][..].into(), strides: [1i64, 3][..].into(), offset: 0 };
        scene(&view, None, &[], Terms { bytes: false, cells: 64 })
    }

    fn drawn(scene: &Scene) -> String {
        terminal::plain(&terminal::draw(scene, 80))
    }

    #[test]
    fn parts_are_left_blank_and_judged() {
        let scene = transposed();
        let (blank, blanks) = scene.blanked(&[]).unwrap();
        let labels: Vec<&str> = blanks.iter().map(|blank| blank.label.as_str()).collect();
        assert_eq!(labels[..5], ["size", "stride", "offset", "contiguous", "index of cell 0"]);
        assert_eq!(labels.len(), 10);
        let answers: Vec<&str> = blanks.iter().map(|blank| blank.answer.as_str()).collect();
        assert_eq!(answers, ["[3, 2]", "[1, 3]", "0", "no", "0,0", "1,0", "2,0", "0,1", "1,1", "2,1"]);
        let text = drawn(&blank);
        assert!(text.starts_with("int64 tensor\n"), "{text}");
        for given_away in ["[3, 2]", "[1, 3]", "0,1", "@", "contiguous order"] {
            assert!(!text.contains(given_away), "{given_away} in\n{text}");
        }
        for (at, typed, wanted) in [
            (0, "(3,2)", true),
            (0, "3 2", true),
            (0, "torch.size([3, 2])", true),
            (0, "2 3", false),
            (3, "No", true),
            (3, "yes", false),
            (5, "[1, 0]", true),
            (5, "1,0", true),
            (5, "", false),
        ] {
            assert_eq!(blanks[at].is_right(typed), wanted, "{typed}");
        }
    }

    #[test]
    fn the_places_of_a_refused_view_are_asked_for() {
        let mut view = View::zeros(&[6], DType::Long, Device::CPU).unwrap();
        view.layout = Layout { sizes: [3i64, 2][..].into(), strides: [1i64, 3][..].into(), offset: 0 };
        let (scene, blanks) = crate::why::shape(&view, &[6]).unwrap().blanked(&[]).unwrap();
        let of = |label: &str| blanks.iter().find(|blank| blank.label == label).map(|blank| blank.answer.as_str());
        assert_eq!(
            (of("cell of element 1"), of("step of element 1"), of("step of element 2")),
            (Some("3"), Some("+3"), Some("-2"))
        );
        assert!(blanks.iter().any(|blank| blank.is_right("3")) && of("step of element 0").is_none());
        assert!(drawn(&scene).contains("0,1"), "the index is given");
    }

    #[test]
    fn parts_are_chosen_by_name() {
        let scene = transposed();
        let of = |part: &str| scene.blanked(&[part.to_owned()]).map(|(_, blanks)| blanks.len());
        assert_eq!(
            (of("index"), of("strides"), of("shape"), of("value"), of("exponent")),
            (Some(6), Some(1), Some(1), Some(6), None)
        );
        let unused = Blank { label: "index of cell 1".to_owned(), answer: "·".to_owned() };
        for (typed, wanted) in [("", true), ("-", true), ("none", true), ("·", true), ("0", false)] {
            assert_eq!(unused.is_right(typed), wanted, "{typed}");
        }
        let sharing = Blank { label: "variables".to_owned(), answer: "x, y".to_owned() };
        assert!(sharing.is_right("y and x") && !sharing.is_right("x"));
    }
}
