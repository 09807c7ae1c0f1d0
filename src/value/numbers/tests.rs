//! Tables of CPython 3.11's results, in its notation. Independent of how the numbers are computed.

use super::*;
use num_traits::Pow;

/// Parses a number in Python's notation; integers may also be powers.
fn read(text: &str) -> Number {
    let parsed = |digits: &str| digits.parse::<BigInt>().ok();
    let whole = match text.split_once("**") {
        Some((base, exponent)) => match (base.strip_prefix('-'), exponent.parse::<u32>()) {
            (Some(base), Ok(exponent)) => parsed(base).map(|base| -base.pow(exponent)),
            (None, Ok(exponent)) => parsed(base).map(|base| base.pow(exponent)),
            _ => None,
        },
        None => parsed(text),
    };
    if let Some(found) = whole.and_then(|whole| number(&Value::from(whole))) {
        return found;
    }
    match text.trim_matches(['(', ')']).strip_suffix('j') {
        None => Number::Float(text.parse().unwrap_or(f64::NAN)),
        Some(parts) => {
            let cut = parts.rfind(['+', '-']).filter(|at| *at > 0).unwrap_or(0);
            let (re, im) = parts.split_at(cut);
            Number::Complex(Complex::new(re.parse().unwrap_or(0.0), im.parse().unwrap_or(f64::NAN)))
        }
    }
}

fn shown(answer: NumberResult) -> String {
    match answer {
        None => "none".to_owned(),
        Some(Err(error)) => format!("{}: {}", error.kind.name(), error.message),
        Some(Ok(Value::Bool(b))) => if b { "True" } else { "False" }.to_owned(),
        Some(Ok(Value::Int(i))) => i.to_string(),
        // A big integer within 64 bits would violate the invariant of [`Value::BigInt`].
        Some(Ok(Value::BigInt(i))) => {
            if i.to_i64().is_some() {
                "short".to_owned()
            } else {
                i.to_string()
            }
        }
        Some(Ok(Value::Float(f))) => format!("{f:?}"),
        Some(Ok(Value::Complex(c))) => format!("({:?}+{:?}j)", c.re, c.im),
        Some(Ok(other)) => format!("{other:?}"),
    }
}

/// Converts a float from Python's notation to Rust's; other texts are unchanged.
fn written(expected: &str) -> String {
    match expected.parse::<f64>() {
        Ok(float) if expected.parse::<BigInt>().is_err() => format!("{float:?}"),
        _ => expected.to_owned(),
    }
}

fn operation(symbol: &str) -> fn(Number, Number) -> NumberResult {
    match symbol {
        "+" => add,
        "-" => sub,
        "*" => mul,
        "/" => true_divide,
        "//" => floor_divide,
        "%" => remainder,
        "**" => power,
        "<<" => shift_left,
        ">>" => shift_right,
        "&" => |a, b| bits(&a, &b, |a, b| a & b, |a, b| a & b),
        "|" => |a, b| bits(&a, &b, |a, b| a | b, |a, b| a | b),
        "^" => |a, b| bits(&a, &b, |a, b| a ^ b, |a, b| a ^ b),
        "<" => |a, b| compare(&a, &b, Ordering::is_lt),
        "<=" => |a, b| compare(&a, &b, Ordering::is_le),
        ">" => |a, b| compare(&a, &b, Ordering::is_gt),
        _ => |a, b| Some(Ok(Value::Bool(same(&a, &b)))),
    }
}

const OPERATIONS: &[(&str, &str)] = &[
    ("9223372036854775807 + 1", "9223372036854775808"),
    ("-9223372036854775808 - 1", "-9223372036854775809"),
    ("4611686018427387904 * -2", "-9223372036854775808"),
    (
        "717897987691852588770249 * 6366805760909027985741435139224001",
        "4570717043781485528972687003974031956881607078116735546249",
    ),
    ("-7 // 2", "-4"),
    ("-9223372036854775808 // -1", "9223372036854775808"),
    ("-42391158275216203514294433201 // 1180591620717411303424", "-35906708"),
    ("-42391158275216203514294433201 % 1180591620717411303424", "317130634673650534991"),
    ("5 % -3", "-1"),
    ("1.0 // 0.1", "9.0"),
    ("-1.0 % 3.0", "2.0"),
    ("6.0 % -3.0", "-0.0"),
    ("1 / 3", "0.3333333333333333"),
    ("1208925819614629174706177 / 717897987691852588770249", "1.6839799530592128"),
    ("-10**400 / 10**399", "-10.0"),
    ("10**400 / 1", "OverflowError: integer division result too large for a float"),
    ("1 / 10**400", "0.0"),
    ("0 / -5", "-0.0"),
    ("9007199254740993 / 9007199254740992", "1.0"),
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("1180591620717411303424 // 0", "ZeroDivisionError: integer division or modulo by zero"),
    ("1180591620717411303424 % 0", "ZeroDivisionError: integer modulo by zero"),
    ("1.5 // 0", "ZeroDivisionError: float floor division by zero"),
    ("1.5 % 0", "ZeroDivisionError: float modulo"),
    ("2 ** 100", "1267650600228229401496703205376"),
    ("-3 ** 41", "-36472996377170786403"),
    ("2 ** -2", "0.25"),
    ("0 ** -1", "ZeroDivisionError: 0.0 cannot be raised to a negative power"),
    ("0 ** 0", "1"),
    ("10.0 ** 400", "OverflowError: (34, 'Numerical result out of range')"),
    ("-8.0 ** 0.5", "(1.7319121124709868e-16+2.8284271247461903j)"),
    ("2**2000 ** 0.5", "OverflowError: int too large to convert to float"),
    ("-3 << 70", "-3541774862152233910272"),
    ("-1180591620717411303424 >> 69", "-2"),
    ("-1 >> 1180591620717411303424", "-1"),
    ("1 << -1", "ValueError: negative shift count"),
    ("0 << 1180591620717411303424", "0"),
    ("1 << 1180591620717411303424", "OverflowError: too many digits in integer"),
    ("-1180591620717411303424 & 2361183241434822606847", "1180591620717411303424"),
    ("-1180591620717411303424 | 5", "-1180591620717411303419"),
    ("1180591620717411303424 ^ -1", "-1180591620717411303425"),
    ("9007199254740993 == 9007199254740992.0", "False"),
    ("9007199254740992.0 < 9007199254740993", "True"),
    ("9223372036854775808 > 9.3e+18", "False"),
    ("-9223372036854775808 <= -9.2e+18", "True"),
    ("1 < nan", "False"),
    ("1180591620717411303424 > -inf", "True"),
    ("18446744073709551616 == 1.8446744073709552e+19", "True"),
    ("10**400 + 1.0", "OverflowError: int too large to convert to float"),
    ("1.0 * 10**400", "OverflowError: int too large to convert to float"),
];

#[test]
fn operators_give_what_python_gives() {
    for (line, expected) in OPERATIONS {
        let parts: Vec<&str> = line.split(' ').collect();
        let [a, symbol, b] = parts[..] else { panic!("{line}") };
        assert_eq!(shown(operation(symbol)(read(a), read(b))), written(expected), "{line}");
    }
}

#[test]
fn hashes_are_pythons() {
    for (text, expected) in HASHES {
        assert_eq!(hash_number(&Value::from(read(text))), Some(*expected), "{text}");
    }
}

const HASHES: &[(&str, i64)] = &[
    ("0", 0),
    ("1", 1),
    ("-1", -2),
    ("2305843009213693951", 0),
    ("2305843009213693952", 1),
    ("-2305843009213693952", -2),
    ("1267650600228229401496703205376", 549755813888),
    (
        "-114813069527425452423283320117768198402231770208869520047764273682576626139237031385665948631650626991844596463898746277344711896086305533142593135616665318539129989145312280000688779148240044871428926990063486244781615463646388363947317026040466353970904996558162398808944629605623311649536164221970332681344168908984458505602379484807914058900934776500429002716706625830522008132236281291761267883317206598995396418127021779858404042159853183251540889433902091920554957783589672039160081957216630582755380425583726015528348786419432054508915275783882625175435528800822842770817965453762184851149029376",
        -281474976710656,
    ),
    ("1.5", 1152921504606846977),
    ("-0.0", 0),
    ("0.1", 230584300921369408),
    ("1e+300", 1224995262755759164),
    ("5e-324", 16777216),
    ("inf", 314159),
    ("-inf", -314159),
    ("(1+2j)", 2000007),
    ("-1j", -2000006),
    ("(inf-1.5j)", -3458764513821226772),
];

#[test]
fn rounding_is_exact() {
    for (text, digits, expected) in ROUNDINGS {
        let digits = digits.parse::<BigInt>().ok();
        assert_eq!(shown(rounded(&read(text), digits.as_ref())), written(expected), "round({text}, {digits:?})");
    }
}

const ROUNDINGS: &[(&str, &str, &str)] = &[
    ("0.5", "", "0"),
    ("1.5", "", "2"),
    ("-2.5", "", "-2"),
    (
        "1e+100",
        "",
        "10000000000000000159028911097599180468360808563945281389781327557747838772170381060813469985856815104",
    ),
    ("2.675", "2", "2.67"),
    ("0.25", "1", "0.2"),
    ("12345", "-2", "12300"),
    ("12350", "-2", "12400"),
    ("25", "-1", "20"),
    ("-25", "-1", "-20"),
    ("15", "-1", "20"),
    ("5", "-9", "0"),
    ("717897987691852588770249", "-10", "717897987691850000000000"),
    ("1234.5", "-2", "1200.0"),
    ("1.7976931348623157e+308", "-308", "OverflowError: rounded value too large to represent"),
    ("-4.0", "-2", "-0.0"),
    ("5e-324", "323", "0.0"),
    ("1e+22", "-400", "0.0"),
    ("1.5", "400", "1.5"),
    ("inf", "", "OverflowError: cannot convert float infinity to integer"),
    ("nan", "", "ValueError: cannot convert float NaN to integer"),
    ("inf", "-2", "inf"),
    ("7", "3", "7"),
];

#[test]
fn powers_of_residues() {
    for (numbers, expected) in RESIDUES {
        let [a, b, modulus] = numbers.map(read);
        assert_eq!(shown(power_modulo(&a, &b, &modulus)), written(expected), "{numbers:?}");
    }
}

const RESIDUES: &[([&str; 3], &str)] = &[
    (["2", "10", "1000"], "24"),
    (["2", "-1", "7"], "4"),
    (["2", "-1", "4"], "ValueError: base is not invertible for the given modulus"),
    (["2", "-1", "1"], "0"),
    (["2", "3", "0"], "ValueError: pow() 3rd argument cannot be 0"),
    (["2", "3", "-7"], "-6"),
    (["2", "-3", "-7"], "-6"),
    (["0", "0", "1"], "0"),
    (["-3", "3", "7"], "1"),
    (["1180591620717411303424", "12157665459056928801", "36893488147419103233"], "36893488147419070465"),
    (["12157665459056928801", "-1", "36893488147419103232"], "30828009297673821153"),
];

#[test]
fn long_numbers_agree_with_the_rules_of_arithmetic() {
    // So long that products and quotients take several steps.
    let long = |base: u32, exponent: u32| BigInt::from(base).pow(exponent);
    let rows = [
        (long(3, 100_000), long(7, 30_000)),
        (-long(2, 300_000) + 1, long(2, 150_000) - 3),
        (long(2, 400_000) - 1, -long(2, 9_000)),
        (long(10, 60_000), long(5, 59_999)),
    ];
    for (x, y) in rows {
        assert_eq!(whole::product(&x, &y), Ok(&x * &y));
        let halves = whole::divided(&x, &y).map(|(quotient, rest)| {
            assert!(rest.magnitude() < y.magnitude() && (rest.is_zero() || rest.is_negative() == y.is_negative()));
            quotient * &y + rest
        });
        assert_eq!(halves, Ok(x.clone()));
        let root = whole::root(&x.abs()).unwrap_or_default();
        assert!(&root * &root <= x.abs() && (&root + 1) * (&root + 1) > x.abs());
    }
}

#[test]
fn what_would_never_end_is_refused_at_once() {
    let huge: BigInt = BigInt::from(1) << 70;
    let refused = [
        whole::power(&BigInt::from(3), huge.magnitude()),
        whole::power(&BigInt::from(2), &(1u64 << 40).into()),
        whole::shifted_left(&BigInt::from(1), 1 << 40),
        whole::falling(&huge, 1 << 40),
        whole::product(&(BigInt::from(1) << (1 << 25)), &huge),
    ];
    for result in refused {
        assert!(result.is_err_and(|error| error.kind == ErrorKind::MemoryError));
    }
}
