//! Writes a recorded call as it would be typed: `x[[1, 0, 1]]`, `#2.sum(1)`, `torch.cat([x, y])`.

use super::lineage::{Lineage, Node};
use autograd::Functions;
use call::reads::TracedCall;
use call::{Param, Role, State};
use value::Value;

/// The operators by the functions that they call.
const OPERATORS: [(&str, &str); 18] = [
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("div", "/"),
    ("floor_divide", "//"),
    ("remainder", "%"),
    ("pow", "**"),
    ("matmul", "@"),
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("bitwise_and", "&"),
    ("bitwise_or", "|"),
    ("bitwise_xor", "^"),
    ("__matmul__", "@"),
];

/// The longest text of an argument.
const LONGEST: usize = 24;

/// The longest expression that is written out.
const LONGEST_EXPRESSION: usize = 60;

/// Returns a call as a line of code. Tensors are called as in [`Lineage::name`].
pub(super) fn label(lineage: &Lineage, at: usize) -> String {
    written(lineage, at, false).unwrap_or_default()
}

/// Returns the whole expression that made a tensor, or the tensor's name if it would be too long.
pub(super) fn expression(lineage: &Lineage, node: Node) -> String {
    let whole = match node {
        Node::Result { call, output: 0 } if lineage.calls.len() <= LONGEST_EXPRESSION => written(lineage, call, true),
        _ => None,
    };
    whole.unwrap_or_else(|| lineage.name(node))
}

/// Writes a call. `is_whole` writes out the calls that made its arguments. `None` if that is too long: a tensor that occurs
/// twice in each call would be written out as often as there are ways to it.
fn written(lineage: &Lineage, at: usize, is_whole: bool) -> Option<String> {
    let text = written_at_any_length(lineage, at, is_whole)?;
    (!is_whole || text.chars().count() <= LONGEST_EXPRESSION).then_some(text)
}

fn written_at_any_length(lineage: &Lineage, at: usize, is_whole: bool) -> Option<String> {
    let state = &*lineage.state;
    let call = lineage.calls.get(at)?;
    let inner = |value: &Value| match value {
        Value::Tensor(tensor) if is_whole => match lineage.argument(at, tensor) {
            Some(Node::Result { call, output: 0 }) if call < at => Some(call),
            _ => None,
        },
        _ => None,
    };
    let show = |value: &Value| match inner(value) {
        Some(call) => written(lineage, call, true),
        None => Some(argument(state, lineage, at, value)),
    };
    // An operand, or what stands before a point or a bracket.
    let tight = |index: usize| {
        let Some(value) = call.args.get(index) else { return Some(String::new()) };
        let is_operation =
            inner(value).and_then(|call| lineage.calls.get(call)).is_some_and(|call| operator(call).is_some());
        if is_operation { Some(format!("({})", show(value)?)) } else { show(value) }
    };
    if let Some(subscript) = subscript(call, &show) {
        return Some(format!("{}{}", tight(0)?, subscript?));
    }
    if let Some(symbol) = operator(call) {
        return Some(format!("{} {symbol} {}", tight(0)?, tight(1)?));
    }
    let role = lineage.role(at);
    let name = call.signature.name;
    if role == Some(Role::Attribute) {
        return Some(format!("{}.{name}", tight(0)?));
    }
    let is_method =
        matches!(call.args.first(), Some(Value::Tensor(_))) && matches!(role, Some(Role::Method | Role::Both));
    let given = rest(call, usize::from(is_method), &show)?;
    Some(if is_method { format!("{}.{name}({given})", tight(0)?) } else { format!("torch.{name}({given})") })
}

/// Returns the operator of a call, if it has the usual arguments.
fn operator(call: &TracedCall) -> Option<&'static str> {
    let name = call.key.split('.').next().unwrap_or(call.key);
    let (_, symbol) = OPERATORS.iter().find(|(known, _)| *known == name)?;
    let mut others = call.signature.params.iter().zip(&call.args).skip(2);
    (call.args.len() >= 2 && others.all(|(param, value)| is_default(param, value))).then_some(*symbol)
}

/// Writes the subscript that makes a call: `[1]`, `[:, 1:3]`, `[[1, 0]]`. `None` for a call that none makes, and inside it
/// for a subscript that is too long.
fn subscript(call: &TracedCall, show: &impl Fn(&Value) -> Option<String>) -> Option<Option<String>> {
    if let Some(subscript) = &call.subscript {
        return Some(Some(subscript.clone()));
    }
    let int = |index: usize| if let Some(Value::Int(number)) = call.args.get(index) { Some(*number) } else { None };
    let colons = || ":, ".repeat(int(1).and_then(|dim| usize::try_from(dim).ok()).unwrap_or_default());
    Some(Some(match call.signature.key {
        "select.int" => format!("[{}{}]", colons(), int(2)?),
        "slice.Tensor" => {
            let start = int(2).filter(|start| *start != 0).map(|start| start.to_string()).unwrap_or_default();
            let end = int(3).filter(|end| *end != i64::MAX).map(|end| end.to_string()).unwrap_or_default();
            let step = int(4).filter(|step| *step != 1).map(|step| format!(":{step}")).unwrap_or_default();
            format!("[{}{start}:{end}{step}]", colons())
        }
        "index.Tensor" => {
            let parts = call.args.get(1)?.sequence()?;
            let part = |part: &Value| if matches!(part, Value::None) { Some(":".to_owned()) } else { show(part) };
            match parts.iter().map(part).collect::<Option<Vec<_>>>() {
                Some(parts) => format!("[{}]", parts.join(", ")),
                None => return Some(None),
            }
        }
        _ => return None,
    }))
}

/// Returns the arguments from a position on, without those that have their default.
fn rest(call: &TracedCall, from: usize, show: &impl Fn(&Value) -> Option<String>) -> Option<String> {
    let mut parts = Vec::new();
    let mut skipped = false;
    for (param, value) in call.signature.params.iter().zip(&call.args).skip(from) {
        if is_default(param, value) {
            skipped = true;
        } else if param.keyword_only || skipped {
            parts.push(format!("{}={}", param.name, show(value)?));
        } else {
            parts.push(show(value)?);
        }
    }
    Some(parts.join(", "))
}

fn is_default(param: &Param, value: &Value) -> bool {
    let same = |default: &Value| match (default, value) {
        (Value::None, Value::None) => true,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Int(a), Value::Float(b)) => *a as f64 == *b,
        (Value::Size(a), Value::Size(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => **a == **b,
        (Value::Layout(_), Value::Layout(_)) | (Value::MemoryFormat(_), Value::MemoryFormat(_)) => true,
        _ => false,
    };
    param.default.is_some_and(|default| same(&default.to_value()))
}

fn argument(state: &State, lineage: &Lineage, at: usize, value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => {
            let name = lineage.argument_name(at, tensor);
            // A list of indices was given as such.
            let view = tensor.view();
            if name.starts_with("tensor ") && view.numel() <= 8 && view.ndim() <= 1 {
                let list = state.call("tolist", std::slice::from_ref(value)).ok();
                return list.and_then(|list| state.repr(&list).ok()).unwrap_or(name);
            }
            name
        }
        Value::List(_) | Value::Tuple(_) => {
            let items = value.sequence().unwrap_or_default();
            let shown: Vec<String> = items.iter().take(8).map(|item| argument(state, lineage, at, item)).collect();
            let more = if items.len() > 8 { ", …" } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
        Value::Size(sizes) => match sizes.as_slice() {
            [one] => one.to_string(),
            several => format!("{several:?}"),
        },
        other => {
            let text = state.repr(other).unwrap_or_default();
            if text.chars().count() > LONGEST {
                format!("{}…", text.chars().take(LONGEST).collect::<String>())
            } else {
                text
            }
        }
    }
}
