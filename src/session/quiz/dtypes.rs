//! Questions on dtypes: promotion, bytes, wrap-around and the same bytes as another dtype.

use super::answer::Form;
use super::draft::{Draft, Make, PictureRecipe, joined};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[promoted, promoted, bytes, element_size, by_function],
    &[promoted_with_number, promoted_with_scalar, reduced, size_as_dtype, wrapped, cast_in_place],
    &[bytes_of_value, truncated, complex_parts, promoted_of_three, size_of_part_as_dtype, value_of_bytes],
];

/// The dtypes that promotion is asked for. Half of them are common ones.
const NUMBERS: &[&str] =
    &["int64", "float32", "bool", "int32", "float64", "uint8", "int16", "float16", "bfloat16", "int8", "complex64"];

fn dtype(random: &mut Random) -> &'static str {
    random.pick(NUMBERS)
}

/// Returns two different dtypes.
fn pair(random: &mut Random) -> (&'static str, &'static str) {
    let a = dtype(random);
    let mut b = dtype(random);
    while b == a {
        b = dtype(random);
    }
    (a, b)
}

fn result_dtype(of: &'static str) -> Draft {
    Draft::new(Form::DType, format!("What is the dtype of `{of}`?"), format!("{of}.dtype"))
}

fn promoted(random: &mut Random) -> Draft {
    let (a, b) = pair(random);
    let operator = random.pick(&["+", "*"]);
    result_dtype("c")
        .given(format!("a = torch.ones({}, dtype=torch.{a})", random.within(2, 4)))
        .given(format!("b = torch.ones(1, dtype=torch.{b})"))
        .given(format!("c = a {operator} b"))
        .others(["a.dtype", "b.dtype", "torch.float32", "torch.float64", "torch.int64"])
        .explained(PictureRecipe::Promotion { operands: ["a", "b"], result: "c" })
}

fn bytes(random: &mut Random) -> Draft {
    let rank = random.within(1, 2) as usize;
    let sizes = random.sizes(rank, 2, 9);
    let dtype = dtype(random);
    Draft::new(Form::Number, "How many bytes do the elements of `x` take?", "x.nbytes")
        .given(format!("x = torch.zeros({}, dtype=torch.{dtype})", joined(&sizes)))
        .call("show_bytes(x, cells=16)")
        .others(["x.numel()", "4 * x.numel()", "8 * x.numel()", "2 * x.nbytes"])
}

fn element_size(random: &mut Random) -> Draft {
    let nbytes = 8 * random.within(1, 6);
    let dtype = random.pick(&["int16", "int32", "float64", "float16", "uint8", "complex64", "bfloat16"]);
    let ask = format!("How many elements of dtype `torch.{dtype}` fit into `storage`?");
    Draft::new(Form::Number, ask, format!("torch.tensor(storage, dtype=torch.{dtype}).numel()"))
        .given(format!("storage = torch.UntypedStorage({nbytes})"))
        .call(format!("show_bytes(storage, torch.{dtype})"))
}

fn by_function(random: &mut Random) -> Draft {
    let dtype = random.pick(&["int64", "int32", "float32", "bool", "uint8", "float64", "int16"]);
    let call = random.pick(&["x / 2", "x > 0", "x.sqrt()", "x.sum()", "x == x", "x.argmax()", "x * 2.5", "x.double()"]);
    result_dtype("y")
        .given(format!("x = torch.ones(3, dtype=torch.{dtype})"))
        .given(format!("y = {call}"))
        .others(["x.dtype", "torch.float32", "torch.int64", "torch.bool", "torch.float64"])
        .call("explain(y)")
}

fn promoted_with_number(random: &mut Random) -> Draft {
    let (dtype, number) = (dtype(random), random.pick(&["2", "0.5", "True", "1j", "300", "-1.5"]));
    let operator = random.pick(&["+", "*", "-", "/"]);
    let operator = if dtype == "bool" && operator == "-" { "+" } else { operator };
    result_dtype("c")
        .given(format!("a = torch.ones(3, dtype=torch.{dtype})"))
        .given(format!("b = {number}"))
        .given(format!("c = a {operator} b"))
        .explained(PictureRecipe::Promotion { operands: ["a", "b"], result: "c" })
}

fn promoted_with_scalar(random: &mut Random) -> Draft {
    let (a, b) = pair(random);
    let (first, second) = if random.coin() { ("()", "3") } else { ("3", "()") };
    result_dtype("c")
        .given(format!("a = torch.ones({first}, dtype=torch.{a})"))
        .given(format!("b = torch.ones({second}, dtype=torch.{b})"))
        .given("c = a + b")
        .explained(PictureRecipe::Promotion { operands: ["a", "b"], result: "c" })
}

fn reduced(random: &mut Random) -> Draft {
    let dtype = random.pick(&["int32", "bool", "uint8", "int16", "float16", "float32", "int8", "float64", "bfloat16"]);
    let call = match dtype {
        "float16" | "float32" | "float64" | "bfloat16" => {
            random.pick(&["x.sum()", "x.mean()", "x.cumsum(0)", "x.argmax()", "x.prod()", "x.max()", "x.all()"])
        }
        _ => random.pick(&["x.sum()", "x.cumsum(0)", "x.argmax()", "x.prod()", "x.max()", "x.all()", "x / x"]),
    };
    result_dtype("y")
        .given(format!("x = torch.ones(3, dtype=torch.{dtype})"))
        .given(format!("y = {call}"))
        .call("explain(y)")
}

fn two_sizes(random: &mut Random) -> (&'static str, &'static str) {
    const OF_SIZE: [&[&str]; 4] =
        [&["uint8", "int8"], &["int16", "float16", "bfloat16"], &["int32", "float32"], &["int64", "float64"]];
    let from = random.below(4);
    let to = (from + random.within(1, 3)) % 4;
    let name = |random: &mut Random, at: i64| random.pick(OF_SIZE.get(at as usize).copied().unwrap_or_default());
    (name(random, from), name(random, to))
}

fn size_as_dtype(random: &mut Random) -> Draft {
    let (from, to) = two_sizes(random);
    let sizes = [random.within(2, 4), random.pick(&[2, 4, 6, 8, 16])];
    let call = format!("x.view(torch.{to})");
    Draft::new(
        Form::SizesOrRefused,
        format!("What is the shape of `{call}`? Type it, or `refused`."),
        format!("{call}.shape"),
    )
    .given(format!("x = torch.zeros({}, dtype=torch.{from})", joined(&sizes)))
    .call(format!("why_view(x, torch.{to})"))
}

fn wrapped(random: &mut Random) -> Draft {
    let (dtype, a, b) = match random.below(3) {
        0 => ("uint8", random.within(150, 250), random.within(50, 120)),
        1 => ("int8", random.within(60, 120), random.within(30, 100)),
        _ => ("uint8", random.within(0, 20), -random.within(21, 60)),
    };
    let sign = if b < 0 { "-" } else { "+" };
    Draft::new(Form::Number, "What is `y.item()`?", "y.item()")
        .given(format!("x = torch.tensor([{a}], dtype=torch.{dtype})"))
        .given(format!("y = x {sign} {}", b.abs()))
        .call("bits(y)")
}

fn cast_in_place(random: &mut Random) -> Draft {
    let (a, b) = pair(random);
    let operator = random.pick(&["+=", "*="]);
    let ask = "Does the line `a OP b` work, or is it refused? Type `yes` or `no`.".replace("OP", operator);
    let call = if operator == "+=" { "a.add_(b)" } else { "a.mul_(b)" };
    Draft::new(Form::Works, ask, call)
        .given(format!("a = torch.ones(3, dtype=torch.{a})"))
        .given(format!("b = torch.ones(3, dtype=torch.{b})"))
        .explained(PictureRecipe::Promotion { operands: ["a", "b"], result: "torch.empty_like(a)" })
}

fn bytes_of_value(random: &mut Random) -> Draft {
    let (dtype, value) = match random.below(4) {
        0 => ("int16", random.within(1, 3) * 256 + random.within(0, 9)),
        1 => ("int16", -random.within(1, 4)),
        2 => ("int32", random.within(1, 2) * 65536 + random.within(0, 5) * 256 + random.within(0, 5)),
        _ => ("int32", -random.within(1, 3)),
    };
    Draft::new(Form::Elements, "Which numbers has `y`? The machine stores the lowest byte first.", "y")
        .given(format!("x = torch.tensor([{value}], dtype=torch.{dtype})"))
        .given("y = x.view(torch.uint8)")
        .call("show_bytes(x, torch.uint8)")
}

fn value_of_bytes(random: &mut Random) -> Draft {
    let bytes = [random.within(0, 5), random.within(0, 2), random.within(0, 3), random.pick(&[0, 1, 255])];
    Draft::new(Form::Elements, "Which numbers has `y`? The machine stores the lowest byte first.", "y")
        .given(format!("x = torch.tensor([{}], dtype=torch.uint8)", joined(&bytes)))
        .given("y = x.view(torch.int16)")
        .call("show_bytes(x, torch.int16)")
}

fn truncated(random: &mut Random) -> Draft {
    let (whole, tenth) = (random.within(-9, 9), random.within(1, 9));
    let (value, dtype) = match random.below(4) {
        0 => (format!("{whole}.{tenth}"), "int32"),
        1 => (format!("-{}.{tenth}", whole.abs()), "int64"),
        2 => (format!("0.{tenth}"), "bool"),
        _ => ((random.within(1, 3) * 256 + random.within(1, 40)).to_string(), "uint8"),
    };
    Draft::new(Form::Elements, format!("Which element has `x.to(torch.{dtype})`?"), format!("x.to(torch.{dtype})"))
        .given(format!("x = torch.tensor([{value}])"))
        .call(format!("show_bytes(x.to(torch.{dtype}))"))
}

fn complex_parts(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 5);
    let dtype = random.pick(&["complex64", "complex128"]);
    let (ask, answer, form) = match random.below(4) {
        0 => ("What is `y.shape`?", "y.shape", Form::Sizes),
        1 => ("What is `y.stride()`?", "y.stride()", Form::Sizes),
        2 => ("What is the dtype of `y`?", "y.dtype", Form::DType),
        _ => ("How many bytes does the storage of `y` hold?", "y.untyped_storage().nbytes()", Form::Number),
    };
    let view = random.pick(&["torch.view_as_real(x)", "x.real", "x.imag"]);
    Draft::new(form, ask, answer)
        .given(format!("x = torch.zeros({}, dtype=torch.{dtype})", joined(&sizes)))
        .given(format!("y = {view}"))
        .call("explain(y)")
}

fn promoted_of_three(random: &mut Random) -> Draft {
    let (a, b) = pair(random);
    let number = random.pick(&["2", "0.5", "1j", "True"]);
    result_dtype("d")
        .given(format!("a = torch.ones(3, dtype=torch.{a})"))
        .given(format!("b = torch.ones((), dtype=torch.{b})"))
        .given("c = a * b")
        .given(format!("d = c + {number}"))
        .explained(PictureRecipe::Promotion { operands: ["a", "b"], result: "d" })
}

fn size_of_part_as_dtype(random: &mut Random) -> Draft {
    let (from, to) = two_sizes(random);
    let sizes = [random.within(2, 4), random.pick(&[4, 8, 12, 16])];
    let part = match random.below(4) {
        0 => "x.t()".to_owned(),
        1 => format!("x[:, :{}]", 2 * random.within(1, 2)),
        2 => format!("x[:, {}:]", random.within(1, 2)),
        _ => "x[:, ::2]".to_owned(),
    };
    let call = format!("y.view(torch.{to})");
    Draft::new(
        Form::SizesOrRefused,
        format!("What is the shape of `{call}`? Type it, or `refused`."),
        format!("{call}.shape"),
    )
    .given(format!("x = torch.zeros({}, dtype=torch.{from})", joined(&sizes)))
    .given(format!("y = {part}"))
    .call(format!("why_view(y, torch.{to})"))
}
