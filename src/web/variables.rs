//! The variables for a page's panel: those with memory grouped by storage, then the others.

use explain::svg;
use serde_json::{Value, json};
use session::{MemoryUse, Session, Variable};
use std::collections::BTreeMap;

/// The answer to "variables". `column` is the width of the panel's pictures in pixels.
pub(crate) fn variables(session: &Session, column: Option<f64>) -> Value {
    let column = column.unwrap_or(svg::NATURAL);
    let pictures: BTreeMap<_, _> = session.storages().into_iter().collect();
    let (mut storages, mut others) = (BTreeMap::new(), Vec::new());
    for variable in session.variables() {
        match &variable.memory {
            Some(memory) => {
                let (_, rows) = storages.entry(memory.storage).or_insert_with(|| (memory.nbytes, Vec::new()));
                rows.push(row(&variable, memory));
            }
            None => others.push(json!({ "name": variable.name, "type": variable.class, "value": variable.summary })),
        }
    }
    let storage = |(number, (nbytes, rows)): (usize, (usize, Vec<Value>))| {
        let picture = pictures.get(&number).map(|picture| svg::fitted(&picture.scene, column));
        json!({ "label": format!("#{number}"), "nbytes": nbytes, "picture": picture, "variables": rows })
    };
    let storages: Vec<Value> = storages.into_iter().map(storage).collect();
    json!({ "storages": storages, "others": others })
}

fn row(variable: &Variable, memory: &MemoryUse) -> Value {
    let mut row = json!({
        "name": variable.name,
        "type": variable.kind(),
        "size": memory.size.as_ref().map(|size| size.to_vec()),
        "stride": memory.stride.as_ref().map(|stride| stride.to_vec()),
        "offset": memory.offset,
        "bytes": memory.shown,
    });
    // Strides and offset of a tensor are in elements.
    if memory.is_in_bytes {
        row["unit"] = json!("bytes");
    }
    row
}
