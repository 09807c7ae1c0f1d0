//! The changes of a comparison as a table: a row a tensor, with norms.

use super::report::digits;
use super::{ChangeKind, Differences};
use crate::contents::shown;
use crate::inspect::{table, tuple};

impl Differences {
    /// Returns a table of the changed tensors, and the summary.
    pub fn stat(&self) -> String {
        let heads = ["changed", "size", "differing", "largest", "norm of change", "norm", "share"].map(str::to_owned);
        let mut rows = vec![heads];
        for change in &self.changes {
            let ChangeKind::Altered { sides: [before, _], tally, norm, .. } = &change.what else { continue };
            let name = match &change.renamed {
                Some(new) => format!("{} → {}", shown(&change.name), shown(new)),
                None => shown(&change.name),
            };
            let mut row =
                [name, tuple(&before.sizes), String::new(), String::new(), String::new(), String::new(), String::new()];
            if let Some(tally) = tally {
                row[2] = tally.differing.to_string();
                row[3] = digits(tally.greatest);
                row[4] = digits(tally.norm());
            }
            if let Some(norm) = norm {
                row[5] = digits(*norm);
            }
            if let (Some(tally), Some(norm)) = (tally, norm) {
                row[6] = if *norm > 0.0 { digits(tally.norm() / norm) } else { String::new() };
            }
            rows.push(row);
        }
        let table = if rows.len() > 1 { table(&rows) } else { String::new() };
        format!("{}{table}{}", self.heading(), self.summary())
    }
}
