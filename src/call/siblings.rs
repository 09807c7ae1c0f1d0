//! The rows that follow from the row of a view: the function that copies the view, and the method that makes the tensor
//! itself show it. Follows the groups of view functions in PyTorch's `native_functions.yaml`.

use super::facets::{Out, RefusedBy};
use super::reads::Reads;
use super::row::{Role, Row, Run, row};
use super::signature::name_in;
use super::{Call, one};
use tensor::ops::copy;
use tensor::{Error, Result, Tensor};
use value::{Value, as_tensor};

impl Row {
    /// Returns every row that follows from this one.
    ///
    /// The signatures are leaked: the table lives as long as the process, and makes them once.
    pub fn siblings(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.under_aliases().chain(self.under_names()).collect();
        if let Some(shown) = self.in_place_row() {
            rows.push(shown);
            rows.extend(shown.under_aliases());
        }
        rows.extend(self.copy_row());
        rows
    }

    /// Returns the row of the function that copies the view. For `t(Tensor(a) self) -> Tensor(a)`, that is
    /// `t_copy(Tensor self, *, Tensor? out=None) -> Tensor`.
    fn copy_row(&self) -> Option<Row> {
        let doc = self.copied?;
        let (key, rest) = self.signature.split_once('(')?;
        let (parameters, result) = rest.rsplit_once(") -> ")?;
        let name = name_in(key);
        let overload = &key[name.len()..];
        let name = name.strip_prefix("_VF.").unwrap_or(name);
        let [parameters, result] = [parameters, result].map(|part| part.replace("Tensor(a)", "Tensor"));
        let star = if parameters.contains("*, ") { "" } else { "*, " };
        let refused_by = if result == "Tensor" { RefusedBy::Fallback } else { RefusedBy::Itself };
        let schema = format!("{name}_copy{overload}({parameters}, {star}{result}? out=None) -> {result}");
        let copy = row(schema.leak(), copied, doc, Role::Function).out(Out::PLAIN.refused_by(refused_by));
        // It moves elements to new places.
        Some(Row { base: Some(self.run), reads: Reads::Moved, ..copy })
    }

    /// Returns the row of the method that makes the tensor itself show the view, with aliases like those of this row.
    fn in_place_row(&self) -> Option<Row> {
        let form = self.in_place?;
        let written = |key: &str, schema: &str| -> Option<&'static str> {
            let parameters = &schema[schema.find('(')?..];
            Some(format!("{key}{}", parameters.replace("Tensor(a)", "Tensor(a!)")).leak())
        };
        let alias = |schema: &&str| written(&format!("{}_", name_in(schema.split('(').next()?)), schema);
        let aliases: Vec<&str> = self.aliases.iter().filter_map(alias).collect();
        let shown = row(written(form.key, self.signature)?, shown, form.doc, Role::Method);
        let uniform = shown.sparse(form.sparse).quantized(super::facets::Dispatch::Uniform);
        Some(Row { base: Some(self.run), aliases: aliases.leak(), ..uniform })
    }
}

/// Runs the function that the row of a call follows from.
fn view(call: &mut Call) -> Result<Value> {
    let base: Option<Run> = call.state.registry.overload(call.signature.key).and_then(|function| function.row.base);
    base.map_or_else(|| Err(Error::runtime("no such view")), |view| view(call))
}

/// Returns row-major copies of the views that the base function makes.
fn copied(call: &mut Call) -> Result<Value> {
    let copy = |tensor: &Tensor| copy::row_major(&tensor.borrow()).map(Value::from);
    match view(call)? {
        Value::Tensor(tensor) => copy(&tensor),
        parts => {
            let parts = parts.sequence().unwrap_or_default();
            Ok(Value::tuple(parts.iter().filter_map(as_tensor).map(copy).collect::<Result<Vec<_>>>()?))
        }
    }
}

/// Makes the receiver show the view that the base function makes.
fn shown(call: &mut Call) -> Result<Value> {
    let shown = one(view(call)?)?.view();
    call.tensor(0)?.set_view(shown);
    Ok(call.itself())
}
