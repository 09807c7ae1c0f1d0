//! Formats differences as text and as JSON.

use super::{Change, ChangeKind, Differences, ShownTensor, Tally, Text};
use crate::contents::{count, shown};
use crate::inspect::{shortened, tuple};
use serde_json::{Value as Json, json};
use std::fmt::Write;

impl Differences {
    /// Returns one line per difference, and a summary.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let [from, to] = &self.names;
        if !from.is_empty() || !to.is_empty() {
            let _ = writeln!(out, "{} ({}) → {} ({})", shown(from), self.formats[0], shown(to), self.formats[1]);
        }
        let mut rows: Vec<[String; 3]> = self.changes.iter().map(|change| row(change, self.tolerance)).collect();
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

    fn summary(&self) -> String {
        let mut parts = vec![format!("{} equal", count(self.equal, "tensor"))];
        let number = |is: fn(&ChangeKind) -> bool| self.changes.iter().filter(|change| is(&change.what)).count();
        let told = [
            (number(|what| matches!(what, ChangeKind::Altered { .. })), "changed"),
            (number(|what| matches!(what, ChangeKind::Reshaped(_))), "with another shape"),
            (number(|what| matches!(what, ChangeKind::Renamed(_))), "renamed"),
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

fn row(change: &Change, tolerance: f64) -> [String; 3] {
    let (kind, text) = match &change.what {
        ChangeKind::Added(now) => ("added", described(now)),
        ChangeKind::Removed(before) => ("removed", described(before)),
        ChangeKind::Renamed(name) => ("renamed", format!("→ {}", shown(name))),
        ChangeKind::Reshaped([before, now]) => ("shape", format!("{} → {}", described(before), described(now))),
        ChangeKind::Altered { sides: [before, now], tally, at } => {
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
    [kind.to_owned(), shown(&change.name), text]
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
fn digits(number: f64) -> String {
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
    let fields = match &change.what {
        ChangeKind::Added(now) => json!({ "change": "added", "second": side(now) }),
        ChangeKind::Removed(before) => json!({ "change": "removed", "first": side(before) }),
        ChangeKind::Renamed(name) => json!({ "change": "renamed", "to": name }),
        ChangeKind::Reshaped([before, now]) => json!({ "change": "shape", "first": side(before), "second": side(now) }),
        ChangeKind::Altered { sides: [before, now], tally, at } => {
            let elements = tally.as_ref().map(|tally| {
                json!({
                    "compared": tally.elements,
                    "differing": tally.differing,
                    "greatest_difference": tally.greatest,
                    "at": at.as_slice(),
                    "mean_difference": tally.mean(),
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
