//! Questions on who sees a write.

use super::answer::Form;
use super::draft::{Draft, Make, counting, joined};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[who_changes, elements_after, elements_after],
    &[who_changes_of_three, by_index, rebound, count_of_changes, elements_of_view],
    &[overlapping, storages, written_through, mixed, rows_of_expanded],
];

/// A way to derive a tensor from a vector `x` of `count` elements.
fn derived(random: &mut Random, count: i64) -> String {
    let (start, end) = (random.within(0, 2), random.within(count - 2, count));
    if random.coin() {
        match random.below(6) {
            0 => format!("x[{start}:{end}]"),
            1 => "x[::2]".to_owned(),
            2 => format!("x.view(2, {})", count / 2),
            3 => "x.detach()".to_owned(),
            4 => format!("x[{}:]", random.within(1, 3)),
            _ => format!("x.reshape({}, 2)", count / 2),
        }
    } else {
        match random.below(6) {
            0 => format!("x[{start}:{end}].clone()"),
            1 => format!("x[[{}, {}]]", random.below(count), random.below(count)),
            2 => "x + 0".to_owned(),
            3 => format!("x[x > {}]", random.below(count - 1)),
            4 => "torch.tensor(x.tolist())".to_owned(),
            _ => "x.flip(0)".to_owned(),
        }
    }
}

/// Ends a draft with a write, and asks which of the variables hold other values than before.
fn asking_who(draft: Draft, names: &[&str], write: &str) -> Draft {
    let names = names.join(", ");
    // The values are noted as lists, which no write reaches.
    let mut draft = draft
        .hidden(format!("before = [t.tolist() for t in [{names}]]"))
        .given(write)
        .hidden(format!("after = [t.tolist() for t in [{names}]]"))
        .call("aliases()");
    draft.form = Form::Names;
    draft.ask =
        format!("Which of {} hold other values after the last line? Type the names, or `none`.", quoted(&names));
    let texts: Vec<String> = names.split(", ").map(|name| format!("'{name}'")).collect();
    draft.answer = format!("[name for name, a, b in zip([{}], before, after) if a != b]", texts.join(", "));
    draft
}

fn quoted(names: &str) -> String {
    names.split(", ").map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn empty() -> Draft {
    Draft::new(Form::Names, "", "")
}

fn length(random: &mut Random) -> i64 {
    2 * random.within(3, 5)
}

/// A write into one element or some of them.
fn write(random: &mut Random, name: &str) -> String {
    let value = random.within(20, 90);
    match random.below(4) {
        0 => format!("{name}[0] = {value}"),
        1 => format!("{name}[-1] = {value}"),
        2 => format!("{name}[:] = {value}"),
        _ => format!("{name} += {value}"),
    }
}

fn who_changes(random: &mut Random) -> Draft {
    let count = length(random);
    let (a, b) = (derived(random, count), derived(random, count));
    let name = random.pick(&["x", "x", "a"]);
    let draft = empty().given(format!("x = torch.arange({count})")).given(format!("a = {a}")).given(format!("b = {b}"));
    let write = format!("{name}[{}] = {}", random.pick(&["0", "1", "-1"]), random.within(20, 90));
    asking_who(draft, &["x", "a", "b"], &write)
}

fn elements(name: &str) -> Draft {
    Draft::new(Form::Elements, format!("Which elements has `{name}` after the last line?"), name).call("explain(x)")
}

fn elements_after(random: &mut Random) -> Draft {
    let count = random.within(4, 6);
    let value = random.within(20, 90);
    let (derive, write) = match random.below(5) {
        0 => (format!("x[{}:]", random.within(1, 2)), format!("a[0] = {value}")),
        1 => ("x[::2]".to_owned(), format!("a[1] = {value}")),
        2 => (format!("x[:{}].clone()", random.within(2, 3)), format!("a[0] = {value}")),
        3 => (format!("x[[{}, {}]]", random.below(count), random.below(count)), format!("a[0] = {value}")),
        _ => (format!("x[{}:{}]", random.within(0, 2), count - 1), format!("a[:] = {value}")),
    };
    elements("x").given(format!("x = torch.arange({count})")).given(format!("a = {derive}")).given(write)
}

fn who_changes_of_three(random: &mut Random) -> Draft {
    let count = length(random);
    let mut draft = empty().given(format!("x = torch.arange({count})"));
    for name in ["a", "b", "c"] {
        draft = draft.given(format!("{name} = {}", derived(random, count)));
    }
    let name = random.pick(&["x", "a", "b", "c"]);
    let write = write(random, name);
    asking_who(draft, &["x", "a", "b", "c"], &write)
}

fn by_index(random: &mut Random) -> Draft {
    let count = random.within(4, 6);
    let (i, j, value) = (random.below(count), random.below(count), random.within(20, 90));
    let write = match random.below(6) {
        0 => format!("x[[{i}, {j}]] = {value}"),
        1 => format!("x[[{i}, {j}]][0] = {value}"),
        2 => format!("x[x > {i}] = {value}"),
        3 => format!("x[x > {}][0] = {value}", i.min(count - 2)),
        4 => format!("x[[{i}, {j}]][:] = {value}"),
        _ => format!("x[{}:][0] = {value}", i.min(j)),
    };
    elements("x").given(format!("x = torch.arange({count})")).given(write)
}

fn rebound(random: &mut Random) -> Draft {
    let count = length(random);
    let value = random.within(2, 9);
    let name = random.pick(&["x", "a"]);
    let write = match random.below(4) {
        0 => format!("{name} = {name} + {value}"),
        1 => format!("{name} += {value}"),
        2 => format!("{name}[:] = {name} + {value}"),
        _ => format!("{name} = {name}.add({value})"),
    };
    let draft = empty()
        .given(format!("x = torch.arange({count})"))
        .given(format!("a = {}", random.pick(&["x", "x.view(2, -1)", "x[1:]", "x.clone()", "x[::2]"])))
        .given(format!("b = {}", derived(random, count)));
    asking_who(draft, &["x", "a", "b"], &write)
}

fn count_of_changes(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 6);
    let write = match random.below(5) {
        0 => format!("x[:, {}]", random.below(3)),
        1 => format!("x[{}]", random.below(3)),
        2 => format!("x.t()[{}]", random.below(3)),
        3 => "x[::2, ::2]".to_owned(),
        _ => "x[1:, 1:]".to_owned(),
    };
    Draft::new(Form::Number, "How many elements of `x` does the last line change?", "(x == -1).sum().item()")
        .given(format!("x = {}", counting(&sizes)))
        .given(format!("{write} = -1"))
        .call("explain(x)")
}

fn elements_of_view(random: &mut Random) -> Draft {
    let (rows, columns) = (2, random.within(2, 3));
    let (row, column, value) = (random.below(rows), random.below(columns), random.within(20, 90));
    let derive = random.pick(&["x.t()", "x.t().clone()", "x.flatten()", "x.t().flatten()", "x[1]", "x[:, 0]"]);
    Draft::new(Form::Elements, "Which elements has `y` after the last line?", "y")
        .given(format!("x = {}", counting(&[rows, columns])))
        .given(format!("y = {derive}"))
        .given(format!("x[{row}, {column}] = {value}"))
        .call("explain(y)")
}

fn overlapping(random: &mut Random) -> Draft {
    let count = random.within(6, 8);
    let (first, second) = (random.within(2, 4), random.within(1, 3));
    let by = random.within(10, 40);
    elements("x")
        .given(format!("x = torch.arange({count})"))
        .given(format!("a = x[:{first}]"))
        .given(format!("b = x[{second}:]"))
        .given(format!("a += {by}"))
        .given(format!("b[{}] = {}", random.below(2), random.within(50, 90)))
}

fn storages(random: &mut Random) -> Draft {
    let count = length(random);
    let mut draft = Draft::new(
        Form::Number,
        "On how many different storages do `x`, `a`, `b`, `c` and `d` lie?",
        "len({t.untyped_storage().data_ptr() for t in [x, a, b, c, d]})",
    )
    .given(format!("x = torch.arange({count})"));
    for name in ["a", "b"] {
        draft = draft.given(format!("{name} = {}", derived(random, count)));
    }
    for (name, of) in [("c", "a"), ("d", "b")] {
        let call = random.pick(&["t()", "flatten()", "clone()", "contiguous()", "float()", "view(-1)", "detach()"]);
        draft = draft.given(format!("{name} = {of}.{call}"));
    }
    draft.call("aliases()")
}

fn written_through(random: &mut Random) -> Draft {
    let columns = random.within(2, 3);
    let value = random.within(20, 90);
    let through = match random.below(6) {
        0 => "x.t().reshape(-1)".to_owned(),
        1 => "x.reshape(-1)".to_owned(),
        2 => "x.t()[0]".to_owned(),
        3 => "x[:, 1:].reshape(-1)".to_owned(),
        4 => "x[1:].reshape(-1)".to_owned(),
        _ => "x.t().contiguous()[0]".to_owned(),
    };
    elements("x")
        .given(format!("x = {}", counting(&[2, columns])))
        .given(format!("y = {through}"))
        .given(format!("y[{}] = {value}", random.below(2)))
}

fn mixed(random: &mut Random) -> Draft {
    let count = length(random);
    let array = random.pick(&["x.numpy()", "x.numpy().copy()", "x[2:].numpy()"]);
    let name = random.pick(&["x", "a", "b"]);
    let draft = empty()
        .given(format!("x = torch.arange({count})"))
        .given(format!("a = {array}"))
        .given(format!("b = torch.{}(a)", random.pick(&["from_numpy", "tensor", "as_tensor"])))
        .given(format!("c = {}", derived(random, count)));
    let write = format!("{name}[{}] = {}", random.within(0, 3), random.within(20, 90));
    asking_who(draft, &["x", "a", "b", "c"], &write)
}

fn rows_of_expanded(random: &mut Random) -> Draft {
    let sizes = [random.within(2, 3), random.within(2, 3)];
    let copy = random.pick(&["", "", ".clone()", ".contiguous()"]);
    let (row, column) = (random.below(sizes[0]), random.below(sizes[1]));
    Draft::new(Form::Elements, "Which elements has `y` after the last line?", "y")
        .given(format!("x = torch.arange({})", sizes[1]))
        .given(format!("y = x.expand({}){copy}", joined(&sizes)))
        .given(format!("y[{row}, {column}] = {}", random.within(20, 90)))
        .call("explain(y)")
}
