//! The parts of a picture, independent of the renderer: facts, sentences, tables, strips of cells and bars.

/// The meaning of a part of a picture; the renderer chooses its colour. Colour alone never carries information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ink {
    #[default]
    Plain,
    /// The title of the picture.
    Title,
    /// The label of a fact, a lane or a column.
    Label,
    /// Lines of a frame.
    Frame,
    /// A cell shown by the tensor once.
    Shown,
    /// A cell shown at several indices.
    Shared,
    /// A cell not shown.
    Unused,
    /// The sign of a number.
    Sign,
    Exponent,
    Mantissa,
    /// A property worth noticing, which is not a fault.
    Notable,
    /// A fault, or a change.
    Fault,
    /// A condition that holds, or a call that works.
    Good,
}

impl Ink {
    pub const ALL: &'static [Ink] = &[
        Ink::Plain,
        Ink::Title,
        Ink::Label,
        Ink::Frame,
        Ink::Shown,
        Ink::Shared,
        Ink::Unused,
        Ink::Sign,
        Ink::Exponent,
        Ink::Mantissa,
        Ink::Notable,
        Ink::Fault,
        Ink::Good,
    ];

    /// Inks for things of one kind that are told apart, in turn. Letters repeat what they say.
    pub const SERIES: [Ink; 4] = [Ink::Mantissa, Ink::Shared, Ink::Exponent, Ink::Sign];

    /// Returns the class name in style sheets.
    pub fn name(self) -> &'static str {
        match self {
            Ink::Plain => "plain",
            Ink::Title => "title",
            Ink::Label => "label",
            Ink::Frame => "frame",
            Ink::Shown => "shown",
            Ink::Shared => "shared",
            Ink::Unused => "unused",
            Ink::Sign => "sign",
            Ink::Exponent => "exponent",
            Ink::Mantissa => "mantissa",
            Ink::Notable => "notable",
            Ink::Fault => "fault",
            Ink::Good => "good",
        }
    }
}

/// Text with one ink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub ink: Ink,
    pub text: String,
}

/// A drawn line.
pub type Line = Vec<Span>;

/// Creates a span.
pub fn span(ink: Ink, text: impl Into<String>) -> Span {
    Span { ink, text: text.into() }
}

/// The heading above the steps that made a tensor.
pub(crate) const HISTORY: &str = "How it was made";

/// A picture before it is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// A part of a picture. Parts are stacked vertically.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Labelled facts.
    Facts(Vec<(String, Span)>),
    /// A sentence.
    Note(Span),
    /// The heading of the following blocks.
    Heading(String),
    Table(Table),
    Strip(Strip),
    Bars(Bars),
    Levels(Levels),
    Cells(CellMap),
}

/// Rows with the same number of cells, and a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<Span>>,
}

/// A row of cells in several stacked lanes. All lanes count the same units: bytes, elements or bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    pub lanes: Vec<Lane>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    pub name: String,
    /// The inks of the name's characters, if they are not those of a label.
    pub tints: Vec<Ink>,
    /// Whether the lane is inside the frame, or above it like the numbers of a ruler.
    pub is_framed: bool,
    /// The items. Their units have the same sum in every lane.
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The width in units; at least one.
    pub units: usize,
    pub ink: Ink,
    pub text: String,
    /// The inks of the individual characters, if they differ.
    pub tints: Vec<Ink>,
    /// The storage cell that the item is about. Items about the same cell are highlighted together.
    pub at: Option<i64>,
    /// A sentence for tooltips and screen readers.
    pub about: String,
    /// The number by which a page chooses the item, if that draws another picture.
    pub choice: Option<usize>,
}

impl Item {
    /// Returns the text in spans of one ink each.
    pub fn pieces(&self) -> Vec<Span> {
        pieces(&self.text, self.ink, &self.tints)
    }
}

/// Returns a text in spans of one ink each: its own, or those of its characters.
fn pieces(text: &str, ink: Ink, tints: &[Ink]) -> Vec<Span> {
    if tints.is_empty() {
        return vec![span(ink, text)];
    }
    let mut pieces: Vec<Span> = Vec::new();
    for (c, &ink) in text.chars().zip(tints) {
        match pieces.last_mut().filter(|last| last.ink == ink) {
            Some(last) => last.text.push(c),
            None => pieces.push(span(ink, c)),
        }
    }
    pieces
}

/// Ranges of a whole, drawn to scale, one per row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bars {
    /// The length of the whole.
    pub total: u64,
    pub rows: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub name: String,
    pub text: String,
    pub start: u64,
    pub end: u64,
    pub ink: Ink,
}

/// Which cells of a storage each of several variables shows: a row for each variable, a column for each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellMap {
    /// What a column is: `cell` or `byte`.
    pub unit: &'static str,
    pub columns: Vec<CellColumn>,
    /// The rows with their names, each with as many cells as there are columns.
    pub rows: Vec<(String, Vec<MapCell>)>,
    /// Whether a column stands for several cells, which have no index to show.
    pub is_binned: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellColumn {
    /// The number by which the items of a column are highlighted together, unique in its picture.
    pub at: i64,
    /// The number of its first cell.
    pub cell: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapCell {
    pub ink: Ink,
    /// The index of the element there.
    pub text: String,
    /// The sign that replaces the text if there is no room for it.
    pub sign: char,
    /// A sentence for tooltips and screen readers.
    pub about: String,
}

/// Numbers as heights or shades, in rows with the same number of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    pub shape: Shape,
    /// The rows with their labels.
    pub rows: Vec<(String, Vec<Level>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Heights,
    Shades,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// A level from 0, the minimum, to 1.
    Of(f32),
    /// A sign for a cell without a level.
    Fault(char),
}

impl Levels {
    /// Returns the levels with at most this many cells per row, combining neighbours. Faults are kept.
    pub fn narrowed(&self, columns: usize) -> Levels {
        let narrow = |cells: &[Level]| -> Vec<Level> {
            let parts = columns.clamp(1, cells.len().max(1));
            let part =
                |at: usize| cells.get(at * cells.len() / parts..(at + 1) * cells.len() / parts).unwrap_or_default();
            (0..parts).map(|at| combine(part(at))).collect()
        };
        let rows = self.rows.iter().map(|(name, cells)| (name.clone(), narrow(cells)));
        Levels { shape: self.shape, rows: rows.collect() }
    }
}

/// Returns the first fault, or else the mean.
fn combine(cells: &[Level]) -> Level {
    let mut sum = 0.0;
    for cell in cells {
        match cell {
            Level::Of(level) => sum += level,
            fault => return *fault,
        }
    }
    Level::Of(sum / cells.len().max(1) as f32)
}

impl CellMap {
    /// Returns the map as a strip, with an index in every cell.
    pub(crate) fn strip(&self) -> Strip {
        let mut ruler = Lane::ruler(self.unit);
        for column in &self.columns {
            ruler.push_at(column.at, Ink::Label, column.cell.to_string(), String::new());
        }
        let lane = |(name, cells): &(String, Vec<MapCell>)| {
            let mut lane = Lane::framed(name.as_str());
            for (column, cell) in self.columns.iter().zip(cells) {
                lane.push_at(column.at, cell.ink, cell.text.as_str(), cell.about.clone());
            }
            lane
        };
        Strip { lanes: std::iter::once(ruler).chain(self.rows.iter().map(lane)).collect() }
    }

    /// Returns how many columns fit into a row of `most`: all of them, or else a power of two.
    pub(crate) fn per_row(&self, most: usize) -> usize {
        let most = most.max(1);
        if self.columns.len() <= most { self.columns.len().max(1) } else { 1 << most.ilog2() }
    }

    /// Returns the distance of two numbers above a row of signs, each of which is `wide` times as wide as a digit.
    pub(crate) fn spacing(&self, wide: f64) -> usize {
        let digits = self.columns.last().map_or(1, |last| last.cell.to_string().len());
        (((digits + 1) as f64 / wide).ceil() as usize).next_power_of_two().max(8)
    }
}

impl Scene {
    pub fn new(title: impl Into<String>) -> Scene {
        Scene { title: title.into(), blocks: Vec::new() }
    }

    /// Returns the scene without the history of a tensor, and with these facts alone.
    pub fn with_facts(&self, kept: &[&str]) -> Scene {
        let mut scene = Scene::new(self.title.as_str());
        let mut is_history = false;
        for block in &self.blocks {
            match block {
                Block::Heading(text) => is_history = text == HISTORY,
                Block::Facts(facts) => {
                    let is_kept = |(name, _): &&(String, Span)| kept.contains(&name.as_str());
                    scene.facts(facts.iter().filter(is_kept).cloned().collect());
                    continue;
                }
                _ => {}
            }
            if !is_history {
                scene.blocks.push(block.clone());
            }
        }
        scene
    }

    pub fn note(&mut self, ink: Ink, text: impl Into<String>) {
        self.blocks.push(Block::Note(span(ink, text)));
    }

    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Adds facts to the first ones.
    pub fn facts_first(&mut self, facts: impl Iterator<Item = (String, Span)>) {
        if let Some(Block::Facts(before)) = self.blocks.iter_mut().find(|block| matches!(block, Block::Facts(_))) {
            before.extend(facts);
        }
    }

    pub fn facts(&mut self, facts: Vec<(String, Span)>) {
        match self.blocks.last_mut() {
            Some(Block::Facts(before)) => before.extend(facts),
            _ if facts.is_empty() => {}
            _ => self.blocks.push(Block::Facts(facts)),
        }
    }
}

impl Lane {
    /// Creates a lane inside the frame.
    pub(crate) fn framed(name: impl Into<String>) -> Lane {
        Lane { name: name.into(), tints: Vec::new(), is_framed: true, items: Vec::new() }
    }

    /// Creates a lane of numbers above the frame.
    pub(crate) fn ruler(name: impl Into<String>) -> Lane {
        Lane { name: name.into(), tints: Vec::new(), is_framed: false, items: Vec::new() }
    }

    /// Returns the name in spans of one ink each.
    pub(crate) fn name_pieces(&self) -> Vec<Span> {
        pieces(&self.name, Ink::Label, &self.tints)
    }

    pub fn push(&mut self, units: usize, ink: Ink, text: impl Into<String>) {
        let text = text.into();
        self.items.push(Item {
            units: units.max(1),
            ink,
            text,
            tints: Vec::new(),
            at: None,
            about: String::new(),
            choice: None,
        });
    }

    /// Appends an item of one unit about a cell of the storage.
    pub(crate) fn push_at(&mut self, at: i64, ink: Ink, text: impl Into<String>, about: String) {
        let (text, at) = (text.into(), Some(at));
        self.items.push(Item { units: 1, ink, text, tints: Vec::new(), at, about, choice: None });
    }

    /// Appends an item of one unit, with an ink for each character.
    pub(crate) fn push_tinted(&mut self, text: impl IntoIterator<Item = (char, Ink)>) {
        let (text, tints): (String, Vec<Ink>) = text.into_iter().unzip();
        self.items.push(Item { units: 1, ink: Ink::Plain, text, tints, at: None, about: String::new(), choice: None });
    }
}

impl Strip {
    /// Returns the length in units.
    pub fn units(&self) -> usize {
        self.lanes.iter().map(|lane| lane.items.iter().map(|item| item.units).sum()).max().unwrap_or_default()
    }

    /// Returns where the strip can be cut: positions that no item of any lane crosses.
    pub(crate) fn cuts(&self) -> Vec<usize> {
        let ends = |lane: &Lane| -> Vec<usize> {
            let ends = lane.items.iter().scan(0, |end, item| {
                *end += item.units;
                Some(*end)
            });
            ends.collect()
        };
        let mut lanes = self.lanes.iter().map(ends);
        let mut cuts = lanes.next().unwrap_or_default();
        for other in lanes {
            cuts.retain(|cut| other.binary_search(cut).is_ok());
        }
        cuts
    }

    /// Splits the strip into rows of at most `per_row` units, or the fewest that its lanes allow.
    pub fn rows(&self, per_row: usize) -> Vec<Strip> {
        let cuts = self.cuts();
        let (mut rows, mut start) = (Vec::new(), 0);
        while let Some(&next) = cuts.iter().find(|cut| **cut > start) {
            let fitting = cuts.iter().copied().filter(|cut| *cut > start && *cut - start <= per_row).max();
            let end = fitting.unwrap_or(next);
            // Prefer rows whose length is a power of two, if that does not waste much: equal rows are easier to
            // compare.
            let even =
                cuts.iter().copied().filter(|cut| *cut <= end && cut.saturating_sub(start).is_power_of_two()).max();
            let end = even.filter(|even| end < self.units() && (even - start) * 4 >= (end - start) * 3).unwrap_or(end);
            rows.push(self.part(start, end));
            start = end;
        }
        rows
    }

    /// Returns the units from `start` to `end`, both of which are cuts.
    pub fn part(&self, start: usize, end: usize) -> Strip {
        let lanes = self.lanes.iter().map(|lane| {
            let mut at = 0;
            let items = lane.items.iter().filter(|item| {
                let first = at;
                at += item.units;
                first >= start && at <= end
            });
            Lane { items: items.cloned().collect(), name: lane.name.clone(), tints: lane.tints.clone(), ..*lane }
        });
        Strip { lanes: lanes.collect() }
    }
}

/// Formats sizes, strides and indices: `[2, 3]`.
pub(crate) fn list(numbers: &[i64]) -> String {
    format!("{numbers:?}")
}

/// Formats an index for a cell: `0,2`.
pub(crate) fn index_text(index: &[i64]) -> String {
    if index.is_empty() {
        // A 0-dimensional tensor has one element with an empty index.
        return "( )".to_owned();
    }
    let parts: Vec<_> = index.iter().map(i64::to_string).collect();
    parts.join(",")
}

/// Formats numbers as a tuple, as NumPy shows shapes and strides.
pub(crate) fn tuple(numbers: &[i64]) -> String {
    match numbers {
        [one] => format!("({one},)"),
        numbers => format!("({})", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// `1 byte`, `24 bytes`, `1 000 000 000 bytes (953.7 MiB)`.
pub fn byte_count(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let plain = counted(bytes, "byte");
    match UNITS.iter().find(|(size, _)| bytes >= *size && bytes >= 10_000) {
        Some((size, name)) => format!("{plain} ({:.1} {name})", bytes as f64 / *size as f64),
        None => plain,
    }
}

/// `1 element`, `2 elements`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Formats a large number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let groups: Vec<String> = (!head.is_empty()).then(|| head.to_owned()).into_iter().chain(groups).collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (bytes, wanted) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (9999, "9999 bytes"),
            (10_240, "10 240 bytes (10.0 KiB)"),
            (4_000_000_000, "4 000 000 000 bytes (3.7 GiB)"),
        ] {
            assert_eq!(byte_count(bytes), wanted);
        }
    }

    #[test]
    fn a_strip_is_cut_where_no_lane_goes_on() {
        let mut wide = Lane::framed("wide");
        let mut narrow = Lane::framed("narrow");
        (0..2).for_each(|_| wide.push(2, Ink::Plain, ""));
        (0..4).for_each(|_| narrow.push(1, Ink::Plain, ""));
        let strip = Strip { lanes: vec![narrow, wide] };
        assert_eq!((strip.units(), strip.cuts()), (4, vec![2, 4]));
        assert_eq!(strip.part(2, 4).lanes.iter().map(|lane| lane.items.len()).collect::<Vec<_>>(), [2, 1]);
    }
}
