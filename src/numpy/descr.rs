//! [`Descr`]: what an element of an array is, a dtype in one of two byte orders. One row per dtype holds NumPy's names and
//! codes; promotion and casting follow from the kind and the size. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.dtypes.html> and NEP 50.

use tensor::{DType, Error, Result, bail};

/// The dtype of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descr {
    pub dtype: DType,
    /// Whether the bytes of each element are in the order that the machine does not use.
    pub swapped: bool,
}

/// The kinds of numbers, in the order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bool,
    Unsigned,
    Signed,
    Floating,
    Complex,
}

struct Row {
    dtype: DType,
    name: &'static str,
    kind: Kind,
    /// The code of a single character, as in `np.dtype('d')`.
    code: char,
    /// NumPy's `dtype.num`.
    number: i64,
    /// Other names and codes.
    aliases: &'static [&'static str],
}

const fn row(
    dtype: DType,
    name: &'static str,
    kind: Kind,
    code: char,
    number: i64,
    aliases: &'static [&'static str],
) -> Row {
    Row { dtype, name, kind, code, number, aliases }
}

const ROWS: &[Row] = &[
    row(DType::Bool, "bool", Kind::Bool, '?', 0, &["bool_"]),
    row(DType::Char, "int8", Kind::Signed, 'b', 1, &["byte"]),
    row(DType::Byte, "uint8", Kind::Unsigned, 'B', 2, &["ubyte"]),
    row(DType::Short, "int16", Kind::Signed, 'h', 3, &["short"]),
    row(DType::UInt16, "uint16", Kind::Unsigned, 'H', 4, &["ushort"]),
    row(DType::Int, "int32", Kind::Signed, 'i', 5, &["intc"]),
    row(DType::UInt32, "uint32", Kind::Unsigned, 'I', 6, &["uintc"]),
    row(DType::Long, "int64", Kind::Signed, 'l', 7, &["int", "int_", "long", "longlong", "intp", "p", "q", "n"]),
    row(DType::UInt64, "uint64", Kind::Unsigned, 'L', 8, &["uint", "ulong", "ulonglong", "uintp", "P", "Q", "N"]),
    row(DType::Half, "float16", Kind::Floating, 'e', 23, &["half"]),
    row(DType::Float, "float32", Kind::Floating, 'f', 11, &["single"]),
    row(DType::Double, "float64", Kind::Floating, 'd', 12, &["double", "float"]),
    row(DType::ComplexFloat, "complex64", Kind::Complex, 'F', 14, &["csingle"]),
    row(DType::ComplexDouble, "complex128", Kind::Complex, 'D', 15, &["cdouble", "complex"]),
];

/// The classes of dtypes that arrays here cannot have, by the beginning of their names: the words that a refusal uses.
const REFUSED: &[(&[&str], &str)] = &[
    (&["S", "U", "a", "str", "bytes", "T", "c"], "text"),
    (&["O", "object"], "objects"),
    (&["M", "m", "datetime64", "timedelta64"], "dates and times"),
    (&["V", "void"], "records"),
    (&["g", "G", "longdouble", "clongdouble", "float128", "complex256", "f16", "c32"], "numbers of 128 bits"),
];

impl Descr {
    pub(crate) const BOOL: Descr = Descr::native(DType::Bool);
    pub(crate) const LONG: Descr = Descr::native(DType::Long);
    pub(crate) const DOUBLE: Descr = Descr::native(DType::Double);

    /// Every dtype of NumPy that arrays can have, in the order of NumPy's codes.
    pub(crate) fn all() -> impl Iterator<Item = Descr> {
        ROWS.iter().map(|row| Descr::native(row.dtype))
    }

    /// Returns the dtype in the byte order of the machine.
    pub(crate) const fn native(dtype: DType) -> Descr {
        Descr { dtype, swapped: false }
    }

    /// Returns the dtype for a tensor's, or `None` if NumPy has none.
    pub(crate) fn of(dtype: DType) -> Option<Descr> {
        ROWS.iter().any(|row| row.dtype == dtype).then_some(Descr::native(dtype))
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.dtype == self.dtype).unwrap_or(&ROWS[0])
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    pub(crate) fn kind(self) -> Kind {
        self.row().kind
    }

    pub(crate) fn code(self) -> char {
        self.row().code
    }

    pub(crate) fn number(self) -> i64 {
        self.row().number
    }

    pub(crate) fn itemsize(self) -> usize {
        self.dtype.itemsize()
    }

    /// Returns the letter of the kind, `'f'` of `'<f8'`.
    pub(crate) fn kind_code(self) -> char {
        match self.kind() {
            Kind::Bool => 'b',
            Kind::Unsigned => 'u',
            Kind::Signed => 'i',
            Kind::Floating => 'f',
            Kind::Complex => 'c',
        }
    }

    pub(crate) fn is_native(self) -> bool {
        !self.swapped
    }

    pub(crate) fn to_native(self) -> Descr {
        Descr::native(self.dtype)
    }

    /// Returns the other byte order. Elements of one byte have only one.
    pub(crate) fn with_swapped(self, swapped: bool) -> Descr {
        Descr { swapped: swapped && self.itemsize() > 1, ..self }
    }

    pub(crate) fn is_integral(self) -> bool {
        matches!(self.kind(), Kind::Unsigned | Kind::Signed)
    }

    pub(crate) fn is_inexact(self) -> bool {
        self.kind() >= Kind::Floating
    }

    /// Returns the code with byte order and size: `<f8`, `|b1`.
    pub(crate) fn text(self) -> String {
        let order = match (self.itemsize(), self.swapped == cfg!(target_endian = "big")) {
            (1, _) => '|',
            (_, true) => '<',
            _ => '>',
        };
        format!("{order}{}{}", self.kind_code(), self.itemsize())
    }

    /// Returns NumPy's `dtype.byteorder`.
    pub(crate) fn byte_order(self) -> char {
        match self.itemsize() {
            1 => '|',
            _ if self.swapped => {
                if cfg!(target_endian = "big") {
                    '<'
                } else {
                    '>'
                }
            }
            _ => '=',
        }
    }

    /// Returns the text after `dtype=` in the output of an array.
    pub(crate) fn shown(self) -> String {
        if self.swapped { format!("'{}'", self.text()) } else { self.name().to_owned() }
    }

    /// Returns the argument of `dtype(…)` in its `repr`.
    pub(crate) fn inner_repr(self) -> String {
        if self.swapped { format!("'{}'", self.text()) } else { format!("'{}'", self.name()) }
    }

    /// Reads a dtype from text: a name, a code or a code with byte order.
    ///
    /// # Errors
    /// TypeError in NumPy's words; NotImplementedError for dtypes of other things than numbers.
    pub(crate) fn parse(text: &str) -> Result<Descr> {
        let understood = || Error::type_error(format!("data type '{text}' not understood"));
        let (order, rest) = match text.chars().next() {
            Some(order @ ('<' | '>' | '=' | '|')) => (Some(order), &text[1..]),
            _ => (None, text),
        };
        let named = |row: &&Row| {
            let name = order.is_none() && row.name == rest
                || row.aliases.contains(&rest) && (order.is_none() || rest.len() == 1);
            name || rest.len() == 1 && rest.starts_with(row.code) || sized(row) == rest
        };
        let Some(row) = ROWS.iter().find(named) else {
            return Err(refused(rest).unwrap_or_else(understood));
        };
        let swapped = match order {
            Some('<') => cfg!(target_endian = "big"),
            Some('>') => cfg!(target_endian = "little"),
            _ => false,
        };
        Ok(Descr::native(row.dtype).with_swapped(swapped))
    }
}

/// Returns the code of a row with its size: `f8`.
fn sized(row: &Row) -> String {
    let descr = Descr::native(row.dtype);
    format!("{}{}", descr.kind_code(), descr.itemsize())
}

/// Returns the refusal of a dtype that NumPy has and arrays here have not.
fn refused(name: &str) -> Option<Error> {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let starts = |known: &str| name == known || name.len() > digits.len() && digits == known;
    let dated = name.starts_with("M8") || name.starts_with("m8") || name.contains("64[");
    let what = match name.contains(',') || name.contains('{') {
        true => "records",
        false if dated => "dates and times",
        false => REFUSED.iter().find(|(names, _)| names.iter().any(|known| starts(known)))?.1,
    };
    Some(Error::not_implemented(format!("arrays of {what} (dtype '{name}') are not supported here")))
}

/// How freely values may be converted. Follows `np.can_cast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Casting {
    No,
    Equivalent,
    Safe,
    SameKind,
    Unsafe,
}

impl Casting {
    const NAMES: [(&str, Casting); 5] = [
        ("no", Casting::No),
        ("equiv", Casting::Equivalent),
        ("safe", Casting::Safe),
        ("same_kind", Casting::SameKind),
        ("unsafe", Casting::Unsafe),
    ];

    /// Reads a rule. `copies` says that it is for a function that copies, which knows one more.
    ///
    /// # Errors
    /// ValueError in NumPy's words for an unknown rule.
    pub(crate) fn parse(text: &str, copies: bool) -> Result<Casting> {
        match Casting::NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, casting)) => Ok(*casting),
            None => bail!(
                ValueError,
                "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe'{} (got '{text}')",
                if copies { ", or 'same_value'" } else { "" }
            ),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        Casting::NAMES.iter().find(|(_, casting)| *casting == self).map_or("", |(name, _)| name)
    }

    /// Returns whether values of one dtype may be converted to another.
    pub(crate) fn allows(self, from: Descr, to: Descr) -> bool {
        match self {
            Casting::No => from == to,
            Casting::Equivalent => from.dtype == to.dtype,
            Casting::Safe => promoted(from.dtype, to.dtype) == to.dtype,
            Casting::SameKind => from.kind() <= to.kind(),
            Casting::Unsafe => true,
        }
    }
}

/// A number of a script, which has a kind but no size of its own (NEP 50).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weak {
    Integer,
    Floating,
    Complex,
}

impl Weak {
    /// Returns the dtype of an array made of such a number.
    pub(crate) fn default(self) -> DType {
        match self {
            Weak::Integer => DType::Long,
            Weak::Floating => DType::Double,
            Weak::Complex => DType::ComplexDouble,
        }
    }

    /// Returns the dtype of an operation on an array of `dtype` and such a number.
    pub(crate) fn with(self, dtype: DType) -> DType {
        match (self, Descr::native(dtype).kind()) {
            (Weak::Integer, Kind::Bool) => DType::Long,
            (Weak::Floating, Kind::Bool | Kind::Unsigned | Kind::Signed) => DType::Double,
            (Weak::Complex, Kind::Bool | Kind::Unsigned | Kind::Signed) => DType::ComplexDouble,
            (Weak::Complex, Kind::Floating) => complex_of(dtype),
            _ => dtype,
        }
    }
}

/// Returns the complex dtype whose parts hold the numbers of a real one.
fn complex_of(real: DType) -> DType {
    if real == DType::Double { DType::ComplexDouble } else { DType::ComplexFloat }
}

/// Returns the smallest dtype to which both can be cast safely, `np.promote_types`.
pub(crate) fn promoted(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let [x, y] = [a, b].map(Descr::native);
    let (low, high) = if x.kind() <= y.kind() { (x, y) } else { (y, x) };
    match (low.kind(), high.kind()) {
        (Kind::Bool, _) => high.dtype,
        (low_kind, high_kind) if low_kind == high_kind => {
            if low.itemsize() >= high.itemsize() {
                low.dtype
            } else {
                high.dtype
            }
        }
        (Kind::Unsigned, Kind::Signed) => match (low.itemsize(), high.itemsize()) {
            (unsigned, signed) if unsigned < signed => high.dtype,
            (1, _) => DType::Short,
            (2, _) => DType::Int,
            (4, _) => DType::Long,
            _ => DType::Double,
        },
        (_, Kind::Complex) => {
            let parts = promoted(floating_for(low.dtype), high.dtype.to_real());
            complex_of(parts)
        }
        _ => promoted(floating_for(low.dtype), high.dtype),
    }
}

/// Returns the smallest floating-point dtype that holds the numbers of a real dtype.
fn floating_for(dtype: DType) -> DType {
    let descr = Descr::native(dtype);
    match (descr.kind(), descr.itemsize()) {
        (Kind::Floating, _) => dtype,
        (Kind::Bool, _) | (_, 1) => DType::Half,
        (_, 2) => DType::Float,
        _ => DType::Double,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_code_is_read_back() {
        for descr in Descr::all() {
            for text in [descr.name().to_owned(), descr.code().to_string(), descr.text()] {
                assert_eq!(Descr::parse(&text), Ok(descr), "{text}");
            }
            let swapped = descr.with_swapped(true);
            assert_eq!(Descr::parse(&swapped.text()), Ok(swapped));
        }
        assert!(Descr::parse("nosuch").is_err_and(|e| e.message == "data type 'nosuch' not understood"));
        for refused in ["U3", "O", "M8[s]", "i4,f8", "S", "float128", "object"] {
            assert!(Descr::parse(refused).is_err_and(|e| e.message.contains("not supported")), "{refused}");
        }
    }

    /// Promotion is symmetric and associative enough: the result of two holds both.
    #[test]
    fn promotion_is_symmetric_and_safe() {
        for a in Descr::all() {
            for b in Descr::all() {
                let both = Descr::native(promoted(a.dtype, b.dtype));
                assert_eq!(both.dtype, promoted(b.dtype, a.dtype));
                assert!(Casting::Safe.allows(a, both) && Casting::Safe.allows(b, both), "{a:?} {b:?}");
            }
        }
        assert_eq!(promoted(DType::Short, DType::UInt64), DType::Double);
        assert_eq!(promoted(DType::UInt32, DType::ComplexFloat), DType::ComplexDouble);
        assert_eq!(promoted(DType::Char, DType::Half), DType::Half);
    }
}
