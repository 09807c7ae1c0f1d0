//! Records a call: decides what to keep before it runs, and gives its results a node afterwards.

use super::composite::Composite;
use super::derivative::{Derivative, RESULT};
use super::graph::{Argument, Edge, Formula, Kept, Node, Shape, Work, edge_of, set_history};
use super::inplace;
use super::rules::{Recorded, Rule, rule};
use super::saved::{Packer, Packing, Saved};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::ops::copy;
use tensor::{Result, Tensor};
use value::{Value, as_tensor};

/// How to run a call whose arguments require gradients.
pub enum Plan {
    /// Run the call without recording it.
    Plain,
    /// Run the parts of the function instead.
    Composite(Composite),
    /// Run the call, then [`Recording::finish`].
    Record(Recording),
}

/// A call that is about to run, with its arguments as they are before it.
pub struct Recording {
    key: &'static str,
    row: Option<&'static Derivative>,
    args: Vec<Argument>,
    edges: Vec<Edge>,
    inputs: Vec<Tensor>,
    /// The tensor that the call writes to.
    target: Option<Tensor>,
    packer: Option<Packer>,
}

/// Plans a call before it runs. `packer` gives the hooks that pack saved values, if there are any.
///
/// # Errors
/// RuntimeError if the call writes to a leaf that requires a gradient or to a view that must not be written to. Any
/// error of a pack hook.
pub fn plan(
    key: &'static str,
    recorded: Recorded,
    args: &[Value],
    target: Option<&Tensor>,
    packer: impl FnOnce() -> Option<Packer>,
) -> Result<Plan> {
    let row = match rule(key, recorded, args, target.is_some()) {
        Rule::Plain => return Ok(Plan::Plain),
        Rule::Composite(parts) => return Ok(Plan::Composite(parts)),
        Rule::Derivative(row) => Some(row),
        Rule::Missing => None,
    };
    if let Some(target) = target {
        inplace::check_in_place(target)?;
    }
    // Without a row, the result may not be a tensor, so the histories of the arguments are not looked up.
    let (edges, any) = match row {
        Some(row) => {
            let edges = edges_of_row(row, args)?;
            let any = edges.iter().any(|edge| edge.node.is_some());
            (edges, any)
        }
        None => (Vec::new(), args.iter().flat_map(tensors).any(|tensor| tensor.requires_grad())),
    };
    if !any {
        return Ok(Plan::Plain);
    }
    let packer = packer();
    let packing = packer.as_ref().map(|packer| &packer.packing);
    let kept = |i: usize, arg: &Value| keep(row, i, arg, &edges, args, target.is_some(), packing);
    let args_kept = match &packer {
        None => args.iter().enumerate().map(|(i, arg)| kept(i, arg)).collect::<Result<Vec<Argument>>>()?,
        Some(packer) => {
            let mut slots: Vec<Option<Argument>> = args.iter().map(|_| None).collect();
            for &i in &packer.order {
                if let (Some(slot), Some(arg)) = (slots.get_mut(i), args.get(i)) {
                    *slot = Some(kept(i, arg)?);
                }
            }
            slots.into_iter().flatten().collect()
        }
    };
    let inputs = args.iter().flat_map(tensors).collect();
    Ok(Plan::Record(Recording { key, row, args: args_kept, edges, inputs, target: target.cloned(), packer }))
}

/// Returns one edge for each argument that the row can differentiate by. A number in such a place gets an edge without
/// a node.
fn edges_of_row(row: &Derivative, args: &[Value]) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    for gradient in row.gradients() {
        match args.get(gradient.arg) {
            Some(list @ (Value::List(_) | Value::Tuple(_))) => {
                for tensor in tensors(list) {
                    edges.push(edge_of(&tensor)?);
                }
            }
            Some(Value::Tensor(tensor)) => edges.push(edge_of(tensor)?),
            _ => edges.push(Edge::default()),
        }
    }
    Ok(edges)
}

/// Returns the tensor in a value, or the tensors among its items.
fn tensors(value: &Value) -> impl Iterator<Item = Tensor> + use<> {
    let (one, several) = match value {
        Value::Tensor(tensor) => (Some(tensor.clone()), Vec::new()),
        _ => (None, value.items().map_or_else(Vec::new, |items| items.iter().filter_map(as_tensor).cloned().collect())),
    };
    one.into_iter().chain(several)
}

/// Keeps the part of an argument that the wanted formulas read.
fn keep(
    row: Option<&Derivative>,
    index: usize,
    arg: &Value,
    edges: &[Edge],
    args: &[Value],
    in_place: bool,
    packing: Option<&Rc<dyn Packing>>,
) -> Result<Argument> {
    let used = row.is_some_and(|row| wanted(row, edges, args).any(|uses| uses.contains(&index)));
    let kept = |tensor: &Tensor| -> Result<Kept> {
        let saved = match used {
            false => None,
            // The call will overwrite this tensor, so a copy is saved.
            true if in_place && index == 0 => {
                Some(Saved::copy(&Tensor::new(copy::clone(&tensor.borrow())?), edge_of(tensor)?, packing)?)
            }
            true => Some(Saved::argument(tensor, packing)?),
        };
        Ok(Kept { shape: Shape::of(&tensor.borrow()), saved })
    };
    let differentiable = row.is_some_and(|row| row.gradients().any(|gradient| gradient.arg == index));
    Ok(match arg {
        Value::Tensor(tensor) => Argument::Tensor(kept(tensor)?),
        list @ (Value::List(_) | Value::Tuple(_)) if differentiable => {
            Argument::List(tensors(list).map(|tensor| kept(&tensor)).collect::<Result<Vec<Kept>>>()?)
        }
        list @ Value::List(_) if used => {
            let kept = |item: &Value| as_tensor(item).map(kept).transpose();
            Argument::Subscripts(list.items().iter().flat_map(|items| items.iter()).map(kept).collect::<Result<_>>()?)
        }
        // The caller may change the list before the backward pass, so it is copied.
        Value::List(list) => Argument::Plain(Value::List(list.to_vec().into())),
        plain => Argument::Plain(plain.clone()),
    })
}

/// Returns the arguments that the formulas of the wanted gradients use.
fn wanted<'r>(
    row: &'r Derivative,
    edges: &'r [Edge],
    args: &'r [Value],
) -> impl Iterator<Item = &'static [usize]> + use<'r> {
    let mut next = 0;
    row.gradients().filter_map(move |gradient| {
        let count = match args.get(gradient.arg) {
            Some(list @ (Value::List(_) | Value::Tuple(_))) => tensors(list).count(),
            _ => 1,
        };
        let own = edges.get(next..next + count).unwrap_or_default();
        next += count;
        own.iter().any(|edge| edge.node.is_some()).then_some(gradient.uses)
    })
}

/// Returns whether the wanted formulas read a number given for a tensor argument. PyTorch saves it as a tensor.
fn saves_number(row: &Derivative, edges: &[Edge], args: &[Value]) -> bool {
    let used = |&i: &usize| args.get(i).is_some_and(|arg| arg.as_scalar().is_some());
    wanted(row, edges, args).flatten().any(used)
}

impl Recording {
    /// Gives the results of the call their history.
    ///
    /// # Errors
    /// Any error of a pack hook.
    pub fn finish(self, args: &[Value], result: &Value) -> Result<()> {
        let Recording { key, row, args: kept, edges, inputs, target, packer } = self;
        let results: Vec<Tensor> = match result {
            Value::Tensor(tensor) => vec![tensor.clone()],
            Value::NamedTuple(tuple) => tuple.fields.iter().flat_map(|(_, value)| tensors(value)).collect(),
            _ => match result.items() {
                Some(items) => items.iter().flat_map(tensors).collect(),
                None => return Ok(()),
            },
        };
        let itself = |tensor: &Tensor| target.is_none() && inputs.iter().any(|input| input.is(tensor));
        let differentiable = |tensor: &Tensor| tensor.borrow().dtype.is_differentiable() && !itself(tensor);
        // Trailing integer results, such as the indices of a sort, are not outputs of the node.
        let Some(last) = results.iter().rposition(differentiable) else { return Ok(()) };
        let outputs = results.iter().take(last + 1).map(|tensor| Shape::of(&tensor.borrow())).collect();
        let uses_result = row.is_some_and(|row| wanted(row, &edges, args).any(|uses| uses.contains(&RESULT)));
        let (packing, order) = packer.map(|packer| (packer.packing, packer.order)).unzip();
        let mut formula = None;
        let node = match row {
            Some(row) => {
                let own = Rc::new(Formula {
                    row,
                    saves_number: saves_number(row, &edges, args),
                    args: kept,
                    results: RefCell::default(),
                    order,
                });
                formula = Some(own.clone());
                Node::new(row.name, edges, outputs, Work::Formula(own))
            }
            None => {
                let edges = inputs.iter().map(edge_of).collect::<Result<_>>()?;
                let name = key.split('.').next().unwrap_or(key);
                Node::new("NotImplemented", edges, outputs, Work::Missing(name.to_string()))
            }
        };
        for (i, tensor) in results.iter().enumerate() {
            if !differentiable(tensor) {
                continue;
            }
            match tensor.base() {
                Some(base) if target.is_some() && !row.is_some_and(|row| row.shows) => {
                    inplace::rebase(tensor, base, node.clone())?;
                }
                _ => set_history(tensor, &node, i),
            }
        }
        if let Some(formula) = formula.filter(|_| uses_result) {
            let save = |tensor: &Tensor| Saved::result(tensor, packing.as_ref()).map(Some);
            let saved = results.iter().map(save).collect::<Result<_>>()?;
            formula.results.replace(saved);
        }
        Ok(())
    }
}
