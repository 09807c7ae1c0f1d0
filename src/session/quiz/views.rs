//! Questions on views and copies, and on what `view` can do.

use super::answer::Form;
use super::draft::{Chain, Draft, Make, counting, joined, shapes_of};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[view_or_copy, view_or_copy, view_of_new, contiguous_view],
    &[reshaped, view_of_part, converted, same_tensor],
    &[view_of_chain, strides_of_view, reshaped_chain, view_as_dtype],
];

const SHARES: &str = "y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()";

fn kind(ask: &str) -> Draft {
    Draft::new(Form::ViewCopy, ask, SHARES)
}

const VIEW_OR_COPY: &str = "Does `y` show the memory of `x`, or is it a copy? Type `view` or `copy`.";

fn view_or_copy(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 5);
    let (rows, columns) = (sizes.first().copied().unwrap_or(2), sizes.get(1).copied().unwrap_or(2));
    let (row, column) = (random.below(rows), random.below(columns));
    let count = rows * columns;
    let call = if random.coin() {
        match random.below(14) {
            0 => "x.t()".to_owned(),
            1 => format!("x[{row}]"),
            2 => format!("x[:, {column}]"),
            3 => format!("x.view({columns}, {rows})"),
            4 => format!("x.reshape({count})"),
            5 => "x.flatten()".to_owned(),
            6 => "x.unsqueeze(0)".to_owned(),
            7 => format!("x.expand(2, {rows}, {columns})"),
            8 => "x.detach()".to_owned(),
            9 => "x.diagonal()".to_owned(),
            10 => format!("x.narrow(1, {column}, 1)"),
            11 => format!("x.chunk(2)[{}]", random.below(2)),
            12 => format!("x.split(1)[{row}]"),
            _ => format!("x[{row}:, ::2]"),
        }
    } else {
        match random.below(14) {
            0 => format!("x[[{row}, {}]]", random.below(rows)),
            1 => "x.clone()".to_owned(),
            2 => "x + 0".to_owned(),
            3 => format!("x[x > {}]", random.below(count)),
            4 => "torch.cat([x, x])".to_owned(),
            5 => format!("x.repeat({}, 1)", random.within(1, 3)),
            6 => format!("x.index_select(0, torch.tensor([{row}]))"),
            7 => format!("x.flip({})", random.below(2)),
            8 => format!("x.roll({}, 0)", random.within(1, 2)),
            9 => "x.float()".to_owned(),
            10 => "x.t().contiguous()".to_owned(),
            11 => format!("torch.tensor(x.tolist())[{row}]"),
            12 => format!("torch.stack([x[{row}], x[0]])"),
            _ => format!("x[:, [{column}]]"),
        }
    };
    let call_of_picture = "explain(y)";
    kind(VIEW_OR_COPY).given(format!("x = {}", counting(&sizes))).given(format!("y = {call}")).call(call_of_picture)
}

/// Returns a shape with as many elements, and now and then one with another number.
fn target(random: &mut Random, count: i64) -> Vec<i64> {
    let count = if random.below(4) == 0 { count + random.within(1, 2) } else { count };
    let shapes = shapes_of(count);
    shapes.get(random.below(shapes.len() as i64) as usize).cloned().unwrap_or_default()
}

fn works(source: &str, target: &[i64]) -> Draft {
    let call = format!("{source}.view({})", joined(target));
    Draft::new(Form::Works, format!("Does `{call}` work, or is it refused? Type `yes` or `no`."), call)
        .call(format!("why_view({source}, {})", joined(target)))
}

fn view_of_new(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 6);
    let count = sizes.iter().product::<i64>();
    // Another number of elements is refused, so half of the questions have one.
    let wanted = if random.coin() { count } else { count + random.pick(&[-2, -1, 1, 2, 3]) };
    let shapes = shapes_of(wanted);
    let target = shapes.get(random.below(shapes.len() as i64) as usize).cloned().unwrap_or_default();
    works("x", &target).given(format!("x = torch.zeros({})", joined(&sizes)))
}

fn contiguous_view(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 6);
    let (source, step) = match random.below(5) {
        0 | 1 => ("x.t()".to_owned(), vec![sizes.iter().product()]),
        2 => (format!("x[:, :{}]", sizes.get(1).copied().unwrap_or(2) - 1), Vec::new()),
        3 => ("x[1:]".to_owned(), Vec::new()),
        _ => ("x.unsqueeze(1)".to_owned(), vec![sizes.iter().product()]),
    };
    let step = if step.is_empty() { vec![-1] } else { step };
    works("y", &step).given(format!("x = torch.zeros({})", joined(&sizes))).given(format!("y = {source}"))
}

/// Sets up `y`, a part of `x` or another order of it, and returns its sizes.
fn part(random: &mut Random, steps: i64) -> (String, Chain) {
    let rank = random.within(2, 3) as usize;
    let sizes = random.sizes(rank, 2, 5);
    let mut chain = Chain::of("x", &sizes);
    for _ in 0..steps {
        chain = chain.step(random);
    }
    (format!("x = {}", counting(&sizes)), chain)
}

fn reshaped(random: &mut Random) -> Draft {
    let (given, chain) = part(random, 1);
    let shapes = shapes_of(chain.sizes.iter().product());
    let target = shapes.get(random.below(shapes.len() as i64) as usize).cloned().unwrap_or_default();
    let call = match random.below(3) {
        0 => "flatten()".to_owned(),
        1 => "contiguous()".to_owned(),
        _ => format!("reshape({})", joined(&target)),
    };
    let why = match call.as_str() {
        "contiguous()" => "explain(z)".to_owned(),
        "flatten()" => "why_view(z, -1)".to_owned(),
        _ => format!("why_view(z, {})", joined(&target)),
    };
    kind(VIEW_OR_COPY).given(given).given(format!("z = {}", chain.text)).given(format!("y = z.{call}")).call(why)
}

fn view_of_part(random: &mut Random) -> Draft {
    let (given, chain) = part(random, 1);
    let target = target(random, chain.sizes.iter().product());
    works("y", &target).given(given).given(format!("y = {}", chain.text))
}

fn converted(random: &mut Random) -> Draft {
    let dtype = random.pick(&["float32", "float64", "int64"]);
    let (sizes, other) = (random.sizes(2, 2, 4), random.pick(&["float32", "float64", "int64", "int32"]));
    let call = match random.below(5) {
        0 => format!("to(torch.{dtype})"),
        1 => format!("to(torch.{other})"),
        2 => random.pick(&["float()", "double()", "long()"]).to_owned(),
        3 => format!("type(torch.{dtype})"),
        _ => random.pick(&["to('cpu')", "cpu()", "contiguous()", "detach()", "to('cpu', copy=True)"]).to_owned(),
    };
    kind(VIEW_OR_COPY)
        .given(format!("x = torch.ones({}, dtype=torch.{dtype})", joined(&sizes)))
        .given(format!("y = x.{call}"))
        .call("explain(y)")
}

fn same_tensor(random: &mut Random) -> Draft {
    let (given, chain) = part(random, 1);
    let call = random.pick(&[
        "torch.as_tensor(z)",
        "torch.asarray(z)",
        "torch.tensor(z.tolist())",
        "z.reshape(z.shape)",
        "z.clone()",
        "torch.from_numpy(z.numpy())",
        "torch.from_numpy(z.numpy().copy())",
        "torch.clone(z).view(z.shape)",
        "z.numpy()",
        "z.data",
        "z.expand_as(z)",
        "z.repeat(1, 1, 1)",
        "z.masked_fill(z > 1, 0)",
        "torch.broadcast_to(z, z.shape)",
    ]);
    let shares = if call == "z.numpy()" { "torch.from_numpy(y).data_ptr() == z.data_ptr()" } else { SHARES };
    Draft::new(Form::ViewCopy, VIEW_OR_COPY, shares)
        .given(given)
        .given(format!("z = {}", chain.text))
        .given(format!("y = {call}"))
        .call("aliases()")
}

fn view_of_chain(random: &mut Random) -> Draft {
    let (given, chain) = part(random, 2);
    let target = target(random, chain.sizes.iter().product());
    works("y", &target).given(given).given(format!("y = {}", chain.text))
}

fn strides_of_view(random: &mut Random) -> Draft {
    let steps = random.within(1, 2);
    let (given, chain) = part(random, steps);
    let shapes = shapes_of(chain.sizes.iter().product());
    let target = shapes.get(random.below(shapes.len() as i64) as usize).cloned().unwrap_or_default();
    let call = format!("y.view({})", joined(&target));
    Draft::new(
        Form::SizesOrRefused,
        format!("Which strides has `{call}`? Type them, or `refused`."),
        format!("{call}.stride()"),
    )
    .given(given)
    .given(format!("y = {}", chain.text))
    .call(format!("why_view(y, {})", joined(&target)))
}

fn reshaped_chain(random: &mut Random) -> Draft {
    let (given, chain) = part(random, 2);
    let shapes = shapes_of(chain.sizes.iter().product());
    let target = shapes.get(random.below(shapes.len() as i64) as usize).cloned().unwrap_or_default();
    kind(VIEW_OR_COPY)
        .given(given)
        .given(format!("z = {}", chain.text))
        .given(format!("y = z.reshape({})", joined(&target)))
        .call(format!("why_view(z, {})", joined(&target)))
}

fn view_as_dtype(random: &mut Random) -> Draft {
    let sizes = vec![random.within(2, 4), random.within(2, 8)];
    let (from, to) = random.pick(&[
        ("int16", "int64"),
        ("int16", "int32"),
        ("int16", "uint8"),
        ("uint8", "int16"),
        ("uint8", "int32"),
        ("uint8", "int64"),
        ("int32", "int64"),
        ("int32", "float64"),
        ("int32", "float32"),
        ("float32", "int16"),
        ("float32", "float64"),
    ]);
    let step = match random.below(4) {
        0 => "x.t()".to_owned(),
        1 => format!("x[:, {}:]", random.within(0, 2)),
        2 => format!("x[:, :{}]", random.within(1, 6)),
        _ => "x[1:]".to_owned(),
    };
    let call = format!("y.view(torch.{to})");
    Draft::new(Form::Works, format!("Does `{call}` work, or is it refused? Type `yes` or `no`."), call)
        .given(format!("x = torch.zeros({}, dtype=torch.{from})", joined(&sizes)))
        .given(format!("y = {step}"))
        .call(format!("why_view(y, torch.{to})"))
}
