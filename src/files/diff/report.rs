//! Formats differences as text and as JSON.

use super::rename::{Prefixes, prefixes_of};
use super::{Change, ChangeKind, Differences, ShownTensor, Tally, Text};
use crate::contents::{count, shown};
use crate::inspect::{shortened, tuple};
use crate::names::parts;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

impl Differences {
    /// Returns the line above a report, if both are files.
    pub(super) fn heading(&self) -> String {
        let [from, to] = &self.names;
        match from.is_empty() && to.is_empty() {
            true => String::new(),
            false => format!("{} ({}) → {} ({})\n", shown(from), self.formats[0], shown(to), self.formats[1]),
        }
    }

    /// Returns one line per difference, and a summary. Tensors below a beginning of names that was replaced are one.
    pub fn text(&self) -> String {
        let mut out = self.heading();
        let groups = renamings(&self.changes);
        let is_last = |change: &&Change| matches!(change.what, ChangeKind::Removed(_) | ChangeKind::Added(_));
        let is_told = |change: &&Change| matches!(change.what, ChangeKind::Renamed) || is_last(change);
        // A tensor below a replaced beginning has its old name here.
        let below: HashSet<*const Change> =
            groups.iter().flat_map(|group| &group.changes).map(|change| std::ptr::from_ref(*change)).collect();
        let is_below = |change: &Change| below.contains(&std::ptr::from_ref(change));
        let rows_of = |change: &Change| row(change, self.tolerance, is_below(change));
        let mut rows: Vec<[String; 3]> = self.changes.iter().filter(|change| !is_told(change)).map(rows_of).collect();
        for change in self.changes.iter().filter(|change| matches!(change.what, ChangeKind::Renamed)) {
            if !is_below(change) {
                rows.push(rows_of(change));
            }
        }
        rows.extend(groups.iter().map(Renaming::row));
        rows.extend(self.changes.iter().filter(is_last).map(rows_of));
        for (side, names) in &self.shared {
            let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
            let side = if *side == 0 { "first" } else { "second" };
            rows.push(["sharing".to_owned(), names.join(", "), format!("share a storage in the {side} only")]);
        }
        for (what, texts) in [("value", &self.values), ("metadata", &self.metadata)] {
            rows.extend(texts.iter().map(|text| {
                let [from, to] = text.sides.each_ref().map(|side| side.as_deref().map_or("nothing".into(), shortened));
                [what.to_owned(), shown(&text.name), format!("{from} → {to}")]
            }));
        }
        let width = |column: usize| {
            let lengths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            lengths.filter(|&length| length <= WIDEST).max().unwrap_or(0)
        };
        let (kinds, names) = (width(0), width(1));
        for [kind, name, text] in &rows {
            let _ = writeln!(out, "{}", format!("{kind:kinds$}  {name:names$}  {text}").trim_end());
        }
        out + self.summary().as_str()
    }

    pub(super) fn summary(&self) -> String {
        let mut parts = vec![format!("{} equal", count(self.equal, "tensor"))];
        let number = |is: fn(&ChangeKind) -> bool| self.changes.iter().filter(|change| is(&change.what)).count();
        let told = [
            (number(|what| matches!(what, ChangeKind::Altered { .. })), "changed"),
            (number(|what| matches!(what, ChangeKind::Reshaped(_))), "with another shape"),
            (number(|what| matches!(what, ChangeKind::Renamed)), "renamed"),
            (number(|what| matches!(what, ChangeKind::Removed(_))), "removed"),
            (number(|what| matches!(what, ChangeKind::Added(_))), "added"),
        ];
        parts.extend(told.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")));
        let texts = self.values.len() + self.metadata.len();
        if texts > 0 {
            parts.push(format!("{} changed", count(texts, "other value")));
        }
        if self.tolerance > 0.0 {
            parts.push(format!("tolerance {}", self.tolerance));
        }
        parts.join(", ")
    }

    /// Returns the differences as JSON. Numbers that JSON cannot represent become strings.
    pub fn json(&self) -> String {
        let text = |text: &Text| json!({ "name": text.name, "first": text.sides[0], "second": text.sides[1] });
        let shared = |(side, names): &(usize, Vec<String>)| {
            let side = if *side == 0 { "first" } else { "second" };
            json!({ "in": side, "tensors": names })
        };
        let report = json!({
            "first": { "file": self.names[0], "format": self.formats[0] },
            "second": { "file": self.names[1], "format": self.formats[1] },
            "tolerance": self.tolerance,
            "is_equal": self.is_equal(),
            "equal_tensors": self.equal,
            "changes": self.changes.iter().map(change).collect::<Vec<Json>>(),
            "shared": self.shared.iter().map(shared).collect::<Vec<Json>>(),
            "values": self.values.iter().map(text).collect::<Vec<Json>>(),
            "metadata": self.metadata.iter().map(text).collect::<Vec<Json>>(),
        });
        format!("{report:#}")
    }
}

/// The maximum width of the name column.
const WIDEST: usize = 60;

/// Returns the row of a change. If `is_below` a replaced beginning, another row gives the name in the second file.
fn row(change: &Change, tolerance: f64, is_below: bool) -> [String; 3] {
    let (kind, text) = match &change.what {
        ChangeKind::Added(now) => ("added", described(now)),
        ChangeKind::Removed(before) => ("removed", described(before)),
        ChangeKind::Renamed => ("renamed", format!("→ {}", shown(change.renamed.as_deref().unwrap_or_default()))),
        ChangeKind::Reshaped([before, now]) => ("shape", format!("{} → {}", described(before), described(now))),
        ChangeKind::Altered { sides: [before, now], tally, at, .. } => {
            let mut parts = Vec::new();
            let kind = if before.dtype == now.dtype { "changed" } else { "dtype" };
            parts.push(if before.dtype == now.dtype {
                described(before)
            } else {
                format!("{} → {}", before.dtype, described(now))
            });
            if before.scale != now.scale {
                let scale = |side: &ShownTensor| side.scale.clone().unwrap_or_else(|| "no scale".to_owned());
                parts.push(format!("{} → {}", scale(before), scale(now)));
            }
            match (tally, before.has_data, now.has_data) {
                (Some(tally), ..) => parts.push(describe_distance(tally, at, tolerance)),
                (None, true, true) => parts.push("different bytes, in blocks that cannot be dequantized".to_owned()),
                (None, true, _) => parts.push("no data in the second".to_owned()),
                (None, _, true) => parts.push("no data in the first".to_owned()),
                (None, ..) => {}
            }
            (kind, parts.join("  "))
        }
    };
    let name = match (&change.what, &change.renamed) {
        (ChangeKind::Renamed, _) | (_, None) => shown(&change.name),
        (_, Some(_)) if is_below => shown(&change.name),
        (_, Some(new)) => format!("{} → {}", shown(&change.name), shown(new)),
    };
    [kind.to_owned(), name, text]
}

/// Several tensors below a beginning of names that was replaced.
struct Renaming<'d> {
    prefixes: Prefixes,
    changes: Vec<&'d Change>,
}

/// Returns the replaced beginnings, in order.
fn renamings(changes: &[Change]) -> Vec<Renaming<'_>> {
    let (mut groups, mut places): (Vec<Renaming>, HashMap<Prefixes, usize>) = Default::default();
    for change in changes {
        let Some(new) = &change.renamed else { continue };
        let prefixes = prefixes_of(&change.name, new);
        let place = *places.entry(prefixes.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Renaming { prefixes, changes: Vec::new() });
        }
        if let Some(group) = groups.get_mut(place) {
            group.changes.push(change);
        }
    }
    groups.retain(|group| group.changes.len() > 1);
    groups
}

impl Renaming<'_> {
    fn row(&self) -> [String; 3] {
        let below = |prefix: &str| if prefix.is_empty() { "*".to_owned() } else { format!("{}.*", shown(prefix)) };
        let (old, new) = self.widened();
        let equal = self.changes.iter().filter(|change| matches!(change.what, ChangeKind::Renamed)).count();
        let others = match self.changes.len() - equal {
            0 => String::new(),
            others => format!(", {others} changed"),
        };
        ["renamed".to_owned(), below(&old), format!("→ {}, {} equal{others}", below(&new), count(equal, "tensor"))]
    }

    /// Returns the beginnings. If one is empty, both go on with the part that all names have next.
    fn widened(&self) -> Prefixes {
        let (old, new) = self.prefixes.clone();
        let rest =
            |change: &&Change| change.name.strip_prefix(&*old).map(|rest| rest.trim_start_matches('.').to_owned());
        let next = |change: &&Change| parts(&rest(change)?).next().map(str::to_owned);
        let first = self.changes.first().and_then(next);
        // Where nothing would follow, the star would stand for nothing.
        let is_common = |change: &&Change| next(change) == first && rest(change) != first;
        match first {
            Some(ref part) if (old.is_empty() || new.is_empty()) && self.changes.iter().all(is_common) => {
                let with = |prefix: &str| if prefix.is_empty() { part.clone() } else { format!("{prefix}.{part}") };
                (with(&old), with(&new))
            }
            _ => (old, new),
        }
    }
}

fn described(side: &ShownTensor) -> String {
    format!("{} {}", side.dtype, tuple(&side.sizes))
}

/// Describes how far elements moved.
fn describe_distance(tally: &Tally, at: &[i64], tolerance: f64) -> String {
    if tally.differing == 0 {
        return if tolerance > 0.0 { "all within the tolerance" } else { "all elements equal" }.to_owned();
    }
    let mut parts = vec![format!("{} of {} differ", tally.differing, count(tally.elements as usize, "element"))];
    if tally.greatest > 0.0 {
        parts.push(format!("by up to {} at {}", digits(tally.greatest), tuple(at)));
        parts.push(format!("{} on average", digits(tally.mean())));
        parts.push(format!("relative {}", digits(tally.relative)));
    }
    let others =
        [(tally.new_nan, "new NaN"), (tally.new_inf, "new infinities"), (tally.respelt, "equal with different bytes")];
    parts.extend(others.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")));
    parts.join(", ")
}

/// Formats a number with four digits.
pub(super) fn digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&number) {
        return format!("{number:.3e}");
    }
    let places = (3 - number.log10().floor() as i64).max(0) as usize;
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn change(change: &Change) -> Json {
    let side = |side: &ShownTensor| json!({ "dtype": side.dtype, "size": side.sizes.as_slice(), "scale": side.scale });
    let mut told = json!({ "name": change.name });
    if let Some(new) = &change.renamed {
        told["to"] = json!(new);
    }
    let fields = match &change.what {
        ChangeKind::Added(now) => json!({ "change": "added", "second": side(now) }),
        ChangeKind::Removed(before) => json!({ "change": "removed", "first": side(before) }),
        ChangeKind::Renamed => json!({ "change": "renamed" }),
        ChangeKind::Reshaped([before, now]) => json!({ "change": "shape", "first": side(before), "second": side(now) }),
        ChangeKind::Altered { sides: [before, now], tally, at, norm } => {
            let elements = tally.as_ref().map(|tally| {
                json!({
                    "compared": tally.elements,
                    "differing": tally.differing,
                    "greatest_difference": tally.greatest,
                    "at": at.as_slice(),
                    "mean_difference": tally.mean(),
                    "norm_of_difference": tally.norm(),
                    "norm": norm,
                    "greatest_relative_difference": tally.relative,
                    "new_nan": tally.new_nan,
                    "new_infinities": tally.new_inf,
                    "equal_in_other_bytes": tally.respelt,
                })
            });
            let what = if before.dtype == now.dtype { "elements" } else { "dtype" };
            json!({ "change": what, "first": side(before), "second": side(now), "elements": elements })
        }
    };
    if let (Some(told), Json::Object(fields)) = (told.as_object_mut(), fields) {
        told.extend(fields);
    }
    told
}
