//! Python's format specifications, `[[fill]align][sign][z][#][0][width][,|_][.precision][type]`, for the four classes
//! that accept them: int, float, complex and str. Messages are CPython's. See
//! <https://docs.python.org/3.11/library/string.html#format-specification-mini-language>.

use super::number::{push_times, write_fixed, write_float, write_scientific};
use num_complex::Complex;
use num_traits::Signed;
use std::iter::Peekable;
use std::str::Chars;
use tensor::{Error, ErrorKind, Result, bail, limits};
use value::numbers::Number;
use value::{Value, integers};

/// Python's limits for width and precision.
const MOST_DIGITS: u64 = i64::MAX as u64;
const MOST_PRECISE: usize = i32::MAX as usize;

/// Formats a value with a non-empty specification.
///
/// # Errors
/// Fails with ValueError for a specification that the class does not accept, and with TypeError for a class that
/// accepts none.
pub(super) fn format(value: &Value, spec: &str) -> Result<String> {
    let read = |left_aligned: bool| Spec::parse(spec, value.type_name(), left_aligned);
    match value {
        Value::Str(text) => format_str(text, &read(true)?),
        Value::Bool(b) => format_int(&Number::Int(i64::from(*b)), &read(false)?, "bool"),
        Value::Int(i) => format_int(&Number::Int(*i), &read(false)?, "int"),
        Value::BigInt(i) => format_int(&Number::Big(i.clone()), &read(false)?, "int"),
        Value::Float(f) => format_float(*f, &read(false)?, "float"),
        Value::Complex(c) => format_complex(*c, &read(false)?),
        Value::TypedStorage(_) => Err(unsupported("torch.storage.TypedStorage")),
        other => Err(unsupported(other.type_name())),
    }
}

fn unsupported(class: &str) -> Error {
    Error::type_error(format!("unsupported format string passed to {class}.__format__"))
}

/// A parsed specification.
struct Spec {
    fill: char,
    align: Align,
    sign: Option<char>,
    no_negative_zero: bool,
    alternate: bool,
    width: usize,
    separator: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Center,
    /// Padding between the sign and the digits.
    AfterSign,
}

impl Align {
    fn from_char(c: char) -> Option<Align> {
        Some(match c {
            '<' => Align::Left,
            '>' => Align::Right,
            '^' => Align::Center,
            '=' => Align::AfterSign,
            _ => return None,
        })
    }
}

impl Spec {
    fn parse(text: &str, class: &str, left_aligned: bool) -> Result<Spec> {
        let mut chars = text.chars().peekable();
        let first = chars.peek().copied();
        let mut fill = None;
        let mut align = text.chars().nth(1).and_then(Align::from_char);
        if align.is_some() {
            fill = first;
            chars.next();
            chars.next();
        } else if let Some(found) = first.and_then(Align::from_char) {
            align = Some(found);
            chars.next();
        }
        let sign = chars.next_if(|c| matches!(c, '+' | '-' | ' '));
        let no_negative_zero = chars.next_if_eq(&'z').is_some();
        let alternate = chars.next_if_eq(&'#').is_some();
        if fill.is_none() && chars.next_if_eq(&'0').is_some() {
            fill = Some('0');
            if align.is_none() && !left_aligned {
                align = Some(Align::AfterSign);
            }
        }
        let width = parse_number(&mut chars)?.unwrap_or(0);
        let comma = chars.next_if_eq(&',').is_some();
        let underscore = chars.next_if_eq(&'_').is_some();
        if underscore && (comma || chars.peek() == Some(&',')) {
            bail!(ValueError, "Cannot specify both ',' and '_'.");
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            precision = parse_number(&mut chars)?;
            if precision.is_none() {
                bail!(ValueError, "Format specifier missing precision");
            }
        }
        let kind = chars.next();
        if chars.next().is_some() {
            bail!(ValueError, "Invalid format specifier '{text}' for object of type '{class}'");
        }
        let separator = if comma { Some(',') } else { underscore.then_some('_') };
        if let (Some(separator), Some(kind)) = (separator, kind) {
            let allowed = match kind {
                'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F' => true,
                'b' | 'o' | 'x' | 'X' => underscore,
                _ => false,
            };
            if !allowed {
                bail!(ValueError, "Cannot specify '{separator}' with '{}'.", show_kind(kind));
            }
        }
        let default = if left_aligned { Align::Left } else { Align::Right };
        limits::room(width.saturating_mul(fill.map_or(1, char::len_utf8)))?;
        Ok(Spec {
            fill: fill.unwrap_or(' '),
            align: align.unwrap_or(default),
            sign,
            no_negative_zero,
            alternate,
            width,
            separator,
            precision,
            kind,
        })
    }

    /// Pads `text` to the width, according to the alignment.
    fn pad(&self, text: &str) -> String {
        let padding = self.width.saturating_sub(text.chars().count());
        let left = match self.align {
            Align::Left => 0,
            Align::Center => padding / 2,
            Align::Right | Align::AfterSign => padding,
        };
        let mut out = String::with_capacity(text.len() + padding * self.fill.len_utf8());
        push_times(&mut out, self.fill, left);
        out.push_str(text);
        push_times(&mut out, self.fill, padding - left);
        out
    }

    /// Pads a number to the width: sign, prefix, grouped digits, and the rest (point, fraction, exponent).
    fn pad_number(&self, number: &Pieces<'_>) -> String {
        let mut start = String::new();
        match (number.negative, self.sign) {
            (true, _) => start.push('-'),
            (false, Some(sign @ ('+' | ' '))) => start.push(sign),
            _ => {}
        }
        start.push_str(number.prefix);
        let taken = start.chars().count() + number.rest.chars().count();
        // Leading zeros are part of the number and are grouped too.
        let zero_filled = self.fill == '0' && self.align == Align::AfterSign;
        let least = if zero_filled { self.width.saturating_sub(taken) } else { 0 };
        let digits = match number.digits {
            // NaN, infinities and characters do not have digits to group.
            "" => String::new(),
            digits => group(digits, self.separator, self.group_size(), least),
        };
        if self.align == Align::AfterSign {
            let padding = self.width.saturating_sub(taken + digits.len());
            push_times(&mut start, self.fill, padding);
        }
        start.push_str(&digits);
        start.push_str(number.rest);
        self.pad(&start)
    }

    fn group_size(&self) -> usize {
        if matches!(self.kind, Some('b' | 'o' | 'x' | 'X')) { 4 } else { 3 }
    }
}

/// The pieces of a formatted number.
struct Pieces<'a> {
    negative: bool,
    prefix: &'a str,
    digits: &'a str,
    rest: &'a str,
}

fn parse_number(chars: &mut Peekable<Chars<'_>>) -> Result<Option<usize>> {
    let mut number = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        chars.next();
        let next = number.unwrap_or(0u64).checked_mul(10).and_then(|number| number.checked_add(u64::from(digit)));
        match next.filter(|next| *next <= MOST_DIGITS) {
            Some(next) => number = Some(next),
            None => bail!(ValueError, "Too many decimal digits in format string"),
        }
    }
    // With shorter addresses, memory would not suffice for that many either.
    Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
}

/// Formats a type character for messages.
fn show_kind(kind: char) -> String {
    if ('!'..'\u{80}').contains(&kind) { kind.to_string() } else { format!("\\x{:x}", u32::from(kind)) }
}

fn unknown_kind(kind: char, class: &str) -> Error {
    Error::value(format!("Unknown format code '{}' for object of type '{class}'", show_kind(kind)))
}

/// Groups ASCII digits with a separator, and pads with zeros up to `least` characters. A zero-padded number may become
/// one character longer, because it never begins with a separator.
fn group(digits: &str, separator: Option<char>, size: usize, least: usize) -> String {
    let Some(separator) = separator else { return format!("{digits:0>least$}") };
    let mut reversed = String::new();
    let mut remaining = digits.chars().rev();
    let mut in_group = 0;
    loop {
        let next = remaining.next();
        if next.is_none() && reversed.len() >= least {
            return reversed.chars().rev().collect();
        }
        if in_group == size {
            reversed.push(separator);
            in_group = 0;
        }
        reversed.push(next.unwrap_or('0'));
        in_group += 1;
    }
}

fn format_str(text: &str, spec: &Spec) -> Result<String> {
    if let Some(kind) = spec.kind.filter(|&kind| kind != 's') {
        return Err(unknown_kind(kind, "str"));
    }
    // If a type is given, the parser has checked this already.
    if let Some(separator) = spec.separator {
        bail!(ValueError, "Cannot specify '{separator}' with 's'.");
    }
    match spec.sign {
        Some(' ') => bail!(ValueError, "Space not allowed in string format specifier"),
        Some(_) => bail!(ValueError, "Sign not allowed in string format specifier"),
        None => {}
    }
    if spec.no_negative_zero {
        bail!(ValueError, "Negative zero coercion (z) not allowed in string format specifier");
    }
    if spec.alternate {
        bail!(ValueError, "Alternate form (#) not allowed in string format specifier");
    }
    if spec.align == Align::AfterSign {
        bail!(ValueError, "'=' alignment not allowed in string format specifier");
    }
    let shown: String = text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
    Ok(spec.pad(&shown))
}

fn format_int(value: &Number, spec: &Spec, class: &str) -> Result<String> {
    let kind = spec.kind.unwrap_or('d');
    if matches!(kind, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') {
        return format_float(value.to_float()?, spec, class);
    }
    if !matches!(kind, 'b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n') {
        return Err(unknown_kind(kind, class));
    }
    if spec.precision.is_some() {
        bail!(ValueError, "Precision not allowed in integer format specifier");
    }
    if spec.no_negative_zero {
        bail!(ValueError, "Negative zero coercion (z) not allowed in integer format specifier");
    }
    if kind == 'c' {
        if spec.sign.is_some() {
            bail!(ValueError, "Sign not allowed with integer format specifier 'c'");
        }
        if spec.alternate {
            bail!(ValueError, "Alternate form (#) not allowed with integer format specifier 'c'");
        }
        let Number::Int(code) = value else {
            bail!(OverflowError, "Python int too large to convert to C long");
        };
        let c = u32::try_from(*code).ok().and_then(char::from_u32);
        let c = c.ok_or_else(|| Error::new(ErrorKind::OverflowError, "%c arg not in range(0x110000)"))?;
        let rest = c.to_string();
        return Ok(spec.pad_number(&Pieces { negative: false, prefix: "", digits: "", rest: &rest }));
    }
    let prefix = match kind {
        'b' => "0b",
        'o' => "0o",
        'x' => "0x",
        'X' => "0X",
        _ => "",
    };
    let (negative, digits) = whole_digits(value, kind)?;
    let prefix = if spec.alternate { prefix } else { "" };
    Ok(spec.pad_number(&Pieces { negative, prefix, digits: &digits, rest: "" }))
}

/// Returns the digits of an integer in the base of a type, and whether it is negative.
fn whole_digits(value: &Number, kind: char) -> Result<(bool, String)> {
    match value {
        Number::Big(big) => {
            let digits = match kind {
                'b' => integers::binary_digits(big, 2)?,
                'o' => integers::binary_digits(big, 8)?,
                'x' => integers::binary_digits(big, 16)?,
                'X' => integers::binary_digits(big, 16)?.to_ascii_uppercase(),
                _ => integers::decimal(big)?.trim_start_matches('-').to_owned(),
            };
            Ok((big.is_negative(), digits))
        }
        Number::Int(short) => {
            let magnitude = short.unsigned_abs();
            let digits = match kind {
                'b' => format!("{magnitude:b}"),
                'o' => format!("{magnitude:o}"),
                'x' => format!("{magnitude:x}"),
                'X' => format!("{magnitude:X}"),
                _ => magnitude.to_string(),
            };
            Ok((*short < 0, digits))
        }
        Number::Float(_) | Number::Complex(_) => Err(Error::value("a whole number is needed")),
    }
}

fn format_float(value: f64, spec: &Spec, class: &str) -> Result<String> {
    if let Some(kind) = spec.kind.filter(|kind| !"eEfFgGn%".contains(*kind)) {
        return Err(unknown_kind(kind, class));
    }
    check_precision(spec)?;
    let text = float_text(value, spec, true);
    Ok(spec.pad_number(&split(&text)))
}

fn format_complex(value: Complex<f64>, spec: &Spec) -> Result<String> {
    if let Some(kind) = spec.kind.filter(|kind| !"eEfFgGn".contains(*kind)) {
        return Err(unknown_kind(kind, "complex"));
    }
    if spec.fill == '0' {
        bail!(ValueError, "Zero padding is not allowed in complex format specifier");
    }
    if spec.align == Align::AfterSign {
        bail!(ValueError, "'=' alignment flag is not allowed in complex format specifier");
    }
    check_precision(spec)?;
    // Without a type, the parts look like `repr`: in parentheses, or only the imaginary part if the real part is zero.
    let like_repr = spec.kind.is_none();
    let part = |value: f64, sign: Option<char>| {
        let text = float_text(value, spec, false);
        Spec { fill: ' ', align: Align::Right, width: 0, sign, ..*spec }.pad_number(&split(&text))
    };
    let text = if like_repr && value.re == 0.0 && value.re.is_sign_positive() {
        format!("{}j", part(value.im, spec.sign))
    } else {
        let (real, imaginary) = (part(value.re, spec.sign), part(value.im, Some('+')));
        if like_repr { format!("({real}{imaginary}j)") } else { format!("{real}{imaginary}j") }
    };
    Ok(spec.pad(&text))
}

fn check_precision(spec: &Spec) -> Result<()> {
    match spec.precision {
        Some(precision) if precision > MOST_PRECISE => bail!(ValueError, "precision too big"),
        precision => limits::room(2 * precision.unwrap_or(0)),
    }
}

/// Splits a formatted float for grouping and padding.
fn split(text: &str) -> Pieces<'_> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Pieces { negative, prefix: "", digits, rest }
}

/// Writes a float in the notation of the specification, neither grouped nor padded. `point_zero` says whether a float
/// without a type may get a `.0`, like in `repr`.
fn float_text(value: f64, spec: &Spec, point_zero: bool) -> String {
    let mut out = String::new();
    let value = if spec.kind == Some('%') { value * 100.0 } else { value };
    let precision = spec.precision.unwrap_or(6);
    match spec.kind.map(|kind| kind.to_ascii_lowercase()) {
        Some('e') => write_scientific(&mut out, value, precision),
        Some('f' | '%') => write_fixed(&mut out, value, precision),
        None if spec.precision.is_none() => {
            write_float(&mut out, value);
            if !point_zero && out.ends_with(".0") {
                out.truncate(out.len() - 2);
            }
        }
        kind => write_general(&mut out, value, precision, spec.alternate, kind.is_none() && point_zero),
    }
    if spec.alternate && value.is_finite() && !out.contains('.') {
        out.insert(out.find('e').unwrap_or(out.len()), '.');
    }
    let mantissa = &out[..out.find('e').unwrap_or(out.len())];
    if spec.no_negative_zero && value.is_finite() && !mantissa.contains(|c: char| ('1'..='9').contains(&c)) {
        out = out.trim_start_matches('-').to_owned();
    }
    match spec.kind {
        Some('%') => out.push('%'),
        Some('E' | 'F' | 'G') => out.make_ascii_uppercase(),
        _ => {}
    }
    out
}

/// Appends `'%.{precision}g' % value`. With `point_zero`, an integer gets a `.0`, and switches to an exponent one digit
/// earlier to make room for it.
fn write_general(out: &mut String, value: f64, precision: usize, keep_zeros: bool, point_zero: bool) {
    let precision = precision.max(1);
    let start = out.len();
    write_scientific(out, value, precision - 1);
    let Some(e) = out[start..].rfind('e').filter(|_| value.is_finite()) else { return };
    let exponent_text = out.split_off(start + e);
    let exponent: i64 = exponent_text[1..].parse().unwrap_or(0);
    let trim = |out: &mut String| {
        if !keep_zeros && out[start..].contains('.') {
            let kept = out.trim_end_matches('0').trim_end_matches('.').len();
            out.truncate(kept);
        }
    };
    let limit = precision as i64 - i64::from(point_zero);
    if exponent < -4 || exponent >= limit {
        trim(out);
        out.push_str(&exponent_text);
        return;
    }
    out.truncate(start);
    // Not negative, since `exponent < precision`.
    write_fixed(out, value, (precision as i64 - 1 - exponent) as usize);
    trim(out);
    if point_zero && !out[start..].contains('.') {
        out.push_str(".0");
    }
}
