//! The cells of a storage that each of its variables shows, as a map with a row for each variable.

use super::places::{Places, cell_of};
use super::scene::{Block, CellColumn, CellMap, Ink, MapCell, Scene, byte_count, counted, grouped, index_text, list};
use super::shown::Shown;
use std::ops::Range;

/// The maximum number of columns of a map.
const COLUMNS: i64 = 64;
/// The maximum number of variables with a row of their own.
const ROWS: usize = 16;
/// The number of cells that are drawn one by one besides the bins of a long storage.
const CLOSER: i64 = 16;
/// The names to list in the sentence about a cell.
const NAMED: usize = 4;

/// A variable on a storage, or on several storages of the same bytes.
pub(super) struct Row<'a> {
    pub name: &'a str,
    /// The elements of a tensor or an array; `None` for a variable that only holds bytes.
    pub shown: Option<&'a Shown>,
    /// The bytes of the variable's own storage, counted from the first byte of all.
    pub bytes: Range<i64>,
}

/// The cells of all variables of a storage.
pub(super) struct Cells<'a> {
    rows: Vec<(Row<'a>, Places)>,
    /// The size of a cell in bytes.
    pub cell: i64,
    nbytes: i64,
}

impl<'a> Cells<'a> {
    pub(super) fn new(rows: Vec<Row<'a>>, nbytes: usize) -> Cells<'a> {
        let cell = cell_of(rows.iter().filter_map(|row| Some((row.shown?, row.bytes.start))));
        let places = |row: &Row| match row.shown {
            Some(shown) => Places::of(shown, row.bytes.start, cell),
            None => Places::solid(row.bytes.start / cell..row.bytes.end / cell + i64::from(row.bytes.end % cell != 0)),
        };
        let rows = rows.into_iter().map(|row| (places(&row), row)).map(|(places, row)| (row, places)).collect();
        Cells { rows, cell, nbytes: i64::try_from(nbytes).unwrap_or(i64::MAX) }
    }

    /// Counts the bytes that two variables show, if at most `walked` cells have to be looked up.
    pub(super) fn common(&self, one: usize, other: usize, walked: u64) -> Option<u64> {
        let ((_, one), (_, other)) = (self.rows.get(one)?, self.rows.get(other)?);
        Some(one.common(other, walked)?.saturating_mul(self.cell.unsigned_abs()))
    }

    /// Returns how many bytes two variables have in common at most.
    pub(super) fn at_most(&self, one: usize, other: usize) -> Option<u64> {
        let counts = [one, other].map(|row| self.rows.get(row).and_then(|(_, places)| places.count()));
        Some(counts.into_iter().flatten().min()?.saturating_mul(self.cell.unsigned_abs()))
    }

    /// Adds the map to a picture. A storage of more cells than columns is drawn in bins and, if there are gaps between
    /// the elements, its first cells one by one.
    pub(super) fn draw(&self, scene: &mut Scene) {
        let total = self.nbytes / self.cell + i64::from(self.nbytes % self.cell != 0);
        if total == 0 || self.rows.iter().all(|(row, _)| row.shown.is_none()) {
            return;
        }
        let bin = self.bin_size(total);
        let signs = self.map(scene, 0..total, bin);
        self.legend(scene, bin, &signs);
        let torn = self.rows.iter().map(|(_, places)| places).filter(|places| !places.is_solid());
        if let Some(first) = torn.map(Places::first).min().filter(|_| bin > 1) {
            let start = (first / bin * bin).min(total - CLOSER);
            let last = start + CLOSER - 1;
            scene.note(Ink::Label, format!("{}s {start} to {last}, one by one:", self.unit()));
            let closer = self.map(scene, start..start + CLOSER, 1);
            let new = Signs { gap: closer.gap && !signs.gap, several: closer.several, ..Signs::default() };
            self.legend(scene, 0, &new);
        }
        if self.rows.len() > ROWS {
            let more = counted((self.rows.len() - ROWS) as u64, "more variable");
            scene.note(Ink::Unused, format!("{more} on this storage without a row"));
        }
    }

    fn unit(&self) -> &'static str {
        if self.cell == 1 { "byte" } else { "cell" }
    }

    /// Returns the number of cells in a column: a multiple of a step of the layouts if possible, so that columns look
    /// alike.
    fn bin_size(&self, total: i64) -> i64 {
        let least = total / COLUMNS + i64::from(total % COLUMNS != 0);
        let up = |step: i64| (least / step + i64::from(least % step != 0)).saturating_mul(step);
        let steps = self.rows.iter().flat_map(|(_, places)| places.steps());
        match steps.filter(|step| least > 1 && up(*step) <= 2 * least).max() {
            Some(step) => up(step),
            None => least,
        }
    }

    /// Explains the columns, if there are `bin` cells in each, and the signs.
    fn legend(&self, scene: &mut Scene, bin: i64, signs: &Signs) {
        let (count, size) = (counted(bin.unsigned_abs(), self.unit()), byte_count(self.cell.unsigned_abs()));
        let columns = match (bin, self.cell) {
            (0, _) | (1, 1) => None,
            (1, _) => Some(format!("a cell is {size}")),
            (_, 1) => Some(format!("a column is {count}")),
            _ => Some(format!("a column is {count} of {size}")),
        };
        let signs = [
            (signs.part, "▓▒░ shown in part"),
            (signs.gap, "· not shown"),
            (signs.several, "×n marks n elements in one cell"),
            (signs.unknown, "? too many overlaps to tell"),
        ];
        let signs = signs.into_iter().filter(|(is_there, _)| *is_there).map(|(_, text)| text.to_owned());
        let parts: Vec<String> = columns.into_iter().chain(signs).collect();
        if !parts.is_empty() {
            scene.note(Ink::Label, parts.join("; "));
        }
    }

    /// Adds a map of some cells, `bin` of them in a column.
    fn map(&self, scene: &mut Scene, range: Range<i64>, bin: i64) -> Signs {
        // Several maps of a picture have no column in common.
        let before = scene.blocks.iter().map(|block| if let Block::Cells(map) = block { map.columns.len() } else { 0 });
        let at = before.sum::<usize>() as i64;
        let starts: Vec<i64> = (range.start..range.end).step_by(usize::try_from(bin).unwrap_or(usize::MAX)).collect();
        let columns = (at..).zip(&starts).map(|(at, start)| CellColumn { at, cell: start.unsigned_abs() }).collect();
        let mut signs = Signs::default();
        let rows: Vec<(String, Vec<MapCell>)> = (0..self.rows.len().min(ROWS))
            .filter_map(|row| {
                let cells = starts.iter().filter_map(|start| {
                    let cells = *start..(start + bin).min(range.end);
                    if bin > 1 { self.bin(row, cells, &mut signs) } else { self.cell(row, *start, &mut signs) }
                });
                Some((self.rows.get(row)?.0.name.to_owned(), cells.collect()))
            })
            .collect();
        scene.blocks.push(Block::Cells(CellMap { unit: self.unit(), columns, rows, is_binned: bin > 1 }));
        signs
    }

    /// Names a range of cells: `cell 3, bytes 12 to 15`.
    fn in_words(&self, cells: &Range<i64>) -> String {
        let (first, last) = (cells.start * self.cell, (cells.end * self.cell).min(self.nbytes) - 1);
        let bytes = if first == last { format!("byte {first}") } else { format!("bytes {first} to {last}") };
        match cells.end - cells.start {
            _ if self.cell == 1 => bytes,
            1 => format!("cell {}, {bytes}", cells.start),
            _ => format!("cells {} to {}, {bytes}", cells.start, cells.end - 1),
        }
    }

    /// Returns the index of the first element at a cell, and how many there are.
    fn element(&self, row: &Row, cell: i64) -> Option<(Vec<i64>, u64)> {
        let byte = cell.checked_mul(self.cell)?.checked_sub(row.bytes.start)?;
        let mut found: Option<(Vec<i64>, u64)> = None;
        for (_, here) in row.shown?.at(byte) {
            let first = here.first.to_vec();
            found = Some(match found {
                Some((before, count)) => (before.min(first), count.saturating_add(here.count)),
                None => (first, here.count),
            });
        }
        found
    }

    fn cell(&self, row: usize, cell: i64, signs: &mut Signs) -> Option<MapCell> {
        let (own, places) = self.rows.get(row)?;
        let here = self.in_words(&(cell..cell + 1));
        let others: Vec<String> = self
            .others(row)
            .filter_map(|(other, _)| {
                let (index, _) = self.element(other, cell)?;
                Some(format!("{}{}", other.name, list(&index)))
            })
            .collect();
        if own.shown.is_none() {
            let holds = places.within(cell..cell + 1) == Some(1);
            return Some(self.of_bytes(own, holds, &here, signs));
        }
        let Some((index, count)) = self.element(own, cell) else {
            signs.gap = true;
            let shown = if others.is_empty() { String::new() } else { format!("; {} there", named(&others)) };
            let about = format!("{here}: not shown by {}{shown}.", own.name);
            return Some(MapCell { ink: Ink::Unused, text: "·".to_owned(), sign: '·', about });
        };
        let mut text = index_text(&index);
        let mut about = format!("{here}: {}{}", own.name, list(&index));
        if count > 1 {
            text.push_str(&format!(" ×{count}"));
            about.push_str(&format!(" and {} more of its elements", grouped(count - 1)));
            signs.several = true;
        }
        if !others.is_empty() {
            about.push_str(&format!("; also {}", named(&others)));
        }
        about.push('.');
        let ink = if count > 1 || !others.is_empty() { Ink::Shared } else { Ink::Shown };
        Some(MapCell { ink, text, sign: if count > 1 { '×' } else { '█' }, about })
    }

    fn bin(&self, row: usize, cells: Range<i64>, signs: &mut Signs) -> Option<MapCell> {
        let (own, places) = self.rows.get(row)?;
        let here = self.in_words(&cells);
        if own.shown.is_none() {
            let holds = places.within(cells).is_some_and(|count| count > 0);
            return Some(self.of_bytes(own, holds, &here, signs));
        }
        let all = (cells.end - cells.start).unsigned_abs();
        let count = places.within(cells.clone());
        let meets = |(_, other): &(&Row, &Places)| {
            other.within(cells.clone()) != Some(0) && !places.is_apart(other) && places.common(other, 0) != Some(0)
        };
        let shared: Vec<String> = match count {
            Some(0) => Vec::new(),
            _ => self.others(row).filter(meets).map(|(other, _)| other.name.to_owned()).collect(),
        };
        let (sign, mut about) = match count {
            Some(0) => ('·', format!("{here}: {} shows none of them", own.name)),
            Some(count) if count == all => ('█', format!("{here}: {} shows all of them", own.name)),
            Some(count) => {
                let sign = match count.saturating_mul(3) / all {
                    0 => '░',
                    1 => '▒',
                    _ => '▓',
                };
                (sign, format!("{here}: {} shows {} of them", own.name, grouped(count)))
            }
            None => ('?', format!("{here}: {} may show some of them", own.name)),
        };
        signs.part |= matches!(sign, '▓' | '▒' | '░');
        signs.gap |= sign == '·';
        signs.unknown |= sign == '?';
        if let Some((index, _)) =
            places.next(cells.start).filter(|cell| cells.contains(cell)).and_then(|cell| self.element(own, cell))
        {
            about.push_str(&format!(", from {} on", list(&index)));
        }
        if !shared.is_empty() {
            about.push_str(&format!("; {} may show the same", named(&shared)));
        }
        about.push('.');
        let ink = match (sign, shared.is_empty()) {
            ('·', _) => Ink::Unused,
            (_, true) => Ink::Shown,
            (_, false) => Ink::Shared,
        };
        Some(MapCell { ink, text: sign.to_string(), sign, about })
    }

    /// Returns a cell of a variable that has bytes but no elements.
    fn of_bytes(&self, row: &Row, holds: bool, here: &str, signs: &mut Signs) -> MapCell {
        signs.gap |= !holds;
        let (ink, sign, verb) = if holds { (Ink::Label, '█', "held") } else { (Ink::Unused, '·', "not held") };
        MapCell { ink, text: sign.to_string(), sign, about: format!("{here}: {verb} by {}.", row.name) }
    }

    /// Returns the other variables that have a row and elements.
    fn others(&self, row: usize) -> impl Iterator<Item = (&Row<'a>, &Places)> {
        let others =
            self.rows.iter().take(ROWS).enumerate().filter(move |(at, (other, _))| *at != row && other.shown.is_some());
        others.map(|(_, (other, places))| (other, places))
    }
}

/// The signs of a map that need a legend.
#[derive(Default)]
struct Signs {
    part: bool,
    gap: bool,
    several: bool,
    unknown: bool,
}

/// Lists the first of some names.
fn named(names: &[String]) -> String {
    let listed = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{listed} and {more} more"),
        _ => listed,
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::tests::Numbers;
    use super::*;
    use std::collections::HashMap;

    /// Finds the elements at every cell by walking through all of them: the first index, and how many there are.
    fn walk(shown: &Shown, start: i64, cell: i64) -> HashMap<i64, (Vec<i64>, u64)> {
        let mut found: HashMap<i64, (Vec<i64>, u64)> = HashMap::new();
        let sizes = &shown.layout.sizes;
        for number in 0..shown.layout.numel() {
            let index: Vec<i64> = super::super::residents::index_of(number, sizes).to_vec();
            let first = super::super::residents::place_at(&shown.layout, &index) + start;
            for cell in first / cell..(first + shown.itemsize as i64) / cell {
                found.entry(cell).or_insert_with(|| (index.clone(), 0)).1 += 1;
            }
        }
        found
    }

    #[test]
    fn every_cell_shows_what_a_walk_finds() {
        let mut numbers = Numbers(7);
        let (mut single, mut binned, mut shared) = (0, 0, 0);
        for _ in 0..300 {
            let shown = [numbers.shown(), numbers.shown(), numbers.shown()];
            let starts = [0, 0, numbers.below(2) * 8];
            let ends = shown.iter().zip(starts).map(|(shown, start)| shown.range().end + start);
            let nbytes = ends.max().unwrap() + numbers.below(20);
            let row = |(name, (shown, start))| Row { name, shown: Some(shown), bytes: start..nbytes };
            let rows = ["a", "b", "c"].into_iter().zip(shown.iter().zip(starts)).map(row).collect();
            let cells = Cells::new(rows, nbytes as usize);
            let walked: Vec<_> =
                shown.iter().zip(starts).map(|(shown, start)| walk(shown, start, cells.cell)).collect();
            let mut scene = Scene::default();
            cells.draw(&mut scene);
            let maps: Vec<&CellMap> =
                scene.blocks.iter().filter_map(|b| if let Block::Cells(map) = b { Some(map) } else { None }).collect();
            for map in &maps {
                assert!(map.columns.len() <= COLUMNS as usize);
                let bin = match map.columns.as_slice() {
                    [first, second, ..] => second.cell - first.cell,
                    _ => 1,
                } as i64;
                for (row, (_, drawn)) in map.rows.iter().enumerate() {
                    assert_eq!(drawn.len(), map.columns.len());
                    for (column, drawn) in map.columns.iter().zip(drawn) {
                        let cell = column.cell as i64;
                        let at = |row: usize, cell: i64| walked[row].get(&cell);
                        if map.is_binned {
                            let total = (nbytes + cells.cell - 1) / cells.cell;
                            let range = cell..(cell + bin).min(total);
                            let count = range.clone().filter(|cell| at(row, *cell).is_some()).count() as i64;
                            let is_all = count == range.end - range.start;
                            assert_eq!(
                                (drawn.sign == '·', drawn.sign == '█'),
                                (count == 0, is_all),
                                "{shown:?} {cell}"
                            );
                            binned += 1;
                            continue;
                        }
                        let text = match at(row, cell) {
                            None => "·".to_owned(),
                            Some((index, 1)) => index_text(index),
                            Some((index, count)) => format!("{} ×{count}", index_text(index)),
                        };
                        assert_eq!(drawn.text, text, "{shown:?} {cell}");
                        let others = (0..3).filter(|other| *other != row && at(*other, cell).is_some()).count();
                        let is_shared = at(row, cell).is_some_and(|(_, count)| *count > 1 || others > 0);
                        assert_eq!(drawn.ink == Ink::Shared, is_shared, "{shown:?} {cell}");
                        single += 1;
                        shared += usize::from(is_shared);
                    }
                }
            }
            // Columns of different maps are never highlighted together.
            let mut ats: Vec<i64> = maps.iter().flat_map(|map| map.columns.iter().map(|column| column.at)).collect();
            ats.dedup();
            assert_eq!(ats, (0..ats.len() as i64).collect::<Vec<_>>());
        }
        assert!(single > 5_000 && binned > 500 && shared > 1_000, "{single} {binned} {shared}");
    }
}
