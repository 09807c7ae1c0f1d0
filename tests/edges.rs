//! Every function of one or two numbers, at the limits of their types: zeros, infinities, NaN, the largest and the
//! smallest numbers. PyTorch's results are in edges/edges.txt, which edges/edges.py writes. A number may differ in its
//! fourth digit, or by the precision of its type. NaN, infinities, integers and signed zeros must match.

use tensorsh::session::{Language, Session, SessionOptions};

const TABLE: &str = include_str!("edges/edges.txt");

/// Results that PyTorch computes in another way, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("torch.log1p singles", "MKL takes subnormal numbers for zero"),
    ("torch.log1p doubles", "MKL takes subnormal numbers for zero"),
    ("torch.special.log1p singles", "MKL takes subnormal numbers for zero"),
    ("torch.special.log1p doubles", "MKL takes subnormal numbers for zero"),
];

fn eval(session: &mut Session, source: &str) -> Result<String, String> {
    let outcome = session.eval(Language::Python, source);
    match outcome.error {
        Some(failure) => Err(failure.message),
        None => Ok(outcome.text.trim().to_owned()),
    }
}

/// Returns the results of a line, with repeated ones expanded.
fn unfolded(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .flat_map(|item| {
            let (value, count) = item.split_once('*').unwrap_or((item, "1"));
            std::iter::repeat_n(value, count.parse().unwrap_or(1))
        })
        .collect()
}

fn agrees(got: &str, want: &str, tolerance: f64) -> bool {
    if got == want {
        return true;
    }
    let (Ok(got), Ok(want)) = (got.parse::<f64>(), want.parse::<f64>()) else { return false };
    if got == 0.0 || want == 0.0 || !got.is_finite() || !want.is_finite() {
        return got.is_nan() && want.is_nan() || got == want && got.is_sign_negative() == want.is_sign_negative();
    }
    (got - want).abs() <= tolerance * want.abs()
}

#[test]
fn functions_at_the_edges_of_their_types() {
    let mut session = Session::new(SessionOptions::default());
    let (mut numbers, mut wrong) = (Vec::new(), Vec::new());
    for line in TABLE.lines() {
        if let Some((name, text)) = line.split_once(" = ") {
            eval(&mut session, &format!("{name} = {text}")).unwrap_or_else(|error| panic!("{line}: {error}"));
            let count = eval(&mut session, &format!("{name}.numel()")).unwrap_or_default();
            numbers.push((name, count.parse::<usize>().unwrap_or(0)));
            continue;
        }
        let Some((function, (name, results))) =
            line.split_once(' ').and_then(|(function, rest)| Some((function, rest.split_once(' ')?)))
        else {
            panic!("{line}")
        };
        if EXCEPTIONS.iter().any(|(exception, _)| line.starts_with(exception)) {
            continue;
        }
        let count = numbers.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count);
        let want = unfolded(results);
        let arguments = if want.len() == count {
            name.to_owned()
        } else {
            format!("{name}.repeat_interleave({count}), {name}.repeat({count})")
        };
        let got = match eval(&mut session, &format!("{function}({arguments}).flatten().tolist()")) {
            Ok(got) => got,
            Err(error) => {
                wrong.push(format!("{function}({name}): {error}"));
                continue;
            }
        };
        let got: Vec<&str> = got.trim_matches(['[', ']']).split(", ").collect();
        let tolerance = match name {
            "halves" => 1e-3,
            "brains" => 8e-3,
            _ => 1e-4,
        };
        for (place, (got, want)) in got.iter().zip(&want).enumerate().filter(|(_, (g, w))| !agrees(g, w, tolerance)) {
            wrong.push(format!("{function}({name}), result {place}: {got}, not {want}"));
        }
        assert_eq!(got.len(), want.len(), "{line}");
    }
    assert!(wrong.is_empty(), "{} results:\n{}", wrong.len(), wrong.join("\n"));
}
