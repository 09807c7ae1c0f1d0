//! The whole function table: the rows of `functions`, and those of Python's own modules and of `torch.func`,
//! `torch.autograd.functional` and `torch.testing`, which work on other functions. Also the help on the rows, and the
//! page that lists them.

use call::{Registry, Role, Row, bare_name};
use std::sync::LazyLock;

mod autograd_functional;
#[cfg(test)]
mod builtin_tests;
mod finite_differences;
mod func;
mod functools;
pub mod help;
mod itertools;
mod modules;
mod native;
#[cfg(test)]
mod plain_tests;
pub mod reference;
mod testing;
mod vmap;

const TABLES: &[&[Row]] = &[
    autograd_functional::ROWS,
    finite_differences::ROWS,
    func::ROWS,
    functools::ROWS,
    itertools::ROWS,
    modules::ROWS,
    native::abc::ROWS,
    native::json::ROWS,
    native::posix::ROWS,
    native::random::ROWS,
    native::regex::ROWS,
    native::structs::ROWS,
    native::weak::ROWS,
    testing::ROWS,
    vmap::ROWS,
];

/// The function table by name, built once and shared by all sessions.
pub fn registry() -> &'static Registry {
    use objects::{calling::call_value, container_methods::METHODS};
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(rows(), call_value, METHODS, numpy::OUTSIDE));
    &REGISTRY
}

/// Every row that is declared, without the derived ones.
fn written() -> impl Iterator<Item = &'static Row> {
    crate::rows().chain(TABLES.iter().copied().flatten())
}

/// The rows that follow from others, each with its subject.
static DERIVED: LazyLock<Vec<(&'static str, Row)>> = LazyLock::new(|| {
    let library = TABLES.iter().copied().flatten().map(|row| ("", row));
    let siblings = |(subject, row): (&'static str, &'static Row)| {
        let subject_of = move |sibling: &Row| if row.copied == Some(sibling.doc) { "copies" } else { subject };
        row.siblings().into_iter().map(move |sibling| (subject_of(&sibling), sibling))
    };
    crate::by_subject().chain(library).flat_map(siblings).collect()
});

/// The methods that work in place and are functions of `torch` too: `torch.exp_(x)`. The others are methods only.
const IN_PLACE_FUNCTIONS: &[&str] = &[
    "abs_",
    "acos_",
    "acosh_",
    "addmv_",
    "arccos_",
    "arccosh_",
    "arcsin_",
    "arcsinh_",
    "arctan_",
    "arctanh_",
    "as_strided_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "ceil_",
    "clamp_",
    "clamp_max_",
    "clamp_min_",
    "clip_",
    "conj_physical_",
    "cos_",
    "cosh_",
    "deg2rad_",
    "detach_",
    "erf_",
    "erfc_",
    "exp2_",
    "exp_",
    "expm1_",
    "fix_",
    "floor_",
    "frac_",
    "gcd_",
    "i0_",
    "lcm_",
    "ldexp_",
    "log10_",
    "log1p_",
    "log2_",
    "log_",
    "logit_",
    "nan_to_num_",
    "neg_",
    "negative_",
    "rad2deg_",
    "reciprocal_",
    "relu_",
    "round_",
    "rsqrt_",
    "sigmoid_",
    "sin_",
    "sinc_",
    "sinh_",
    "sqrt_",
    "square_",
    "tan_",
    "tanh_",
    "trunc_",
    "xlogy_",
];

/// The rows of [`IN_PLACE_FUNCTIONS`] as functions.
static IN_PLACE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // Every start asks this for all rows.
    let is_in_place = |row: &&Row| row.role == Role::Method && row.signature.contains('_');
    let is_function = |row: &&Row| is_in_place(row) && IN_PLACE_FUNCTIONS.contains(&bare_name(row.signature));
    written().chain(derived()).filter(is_function).map(|row| Row { role: Role::Function, ..*row }).collect()
});

fn derived() -> impl Iterator<Item = &'static Row> {
    DERIVED.iter().map(|(_, row)| row)
}

/// Every row, including those that follow from others: aliases, copies, forms in place, and those that take dimension
/// names.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    written().chain(derived()).chain(IN_PLACE.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use call::Signature;
    use call::signature::Kind;

    #[test]
    fn every_row_is_well_formed_and_documented() {
        for row in rows() {
            assert!(Signature::parse(row.signature).is_some(), "malformed signature: {}", row.signature);
            assert!(
                !row.doc.is_empty() && row.doc.ends_with(['.', '?']),
                "{}: one sentence of documentation",
                row.signature
            );
        }
    }

    /// Methods do not have `out`, and their functions count the arguments before it.
    #[test]
    fn out_is_the_last_parameter_of_what_is_a_method() {
        for row in rows().filter(|row| row.role == call::Role::Both) {
            let place = Signature::parse(row.signature).and_then(|signature| {
                let place = signature.params.iter().position(|param| param.name == "out")?;
                (place + 1 != signature.params.len()).then_some(place)
            });
            assert_eq!(place, None, "{}", row.signature);
        }
    }

    /// A row without a dimension to name would be duplicated unchanged.
    #[test]
    fn rows_by_name_take_names() {
        let named: Vec<_> = written().filter(|row| row.by_name.is_some()).collect();
        assert!(named.len() > 40);
        for row in named {
            let by_name = row.under_names().and_then(|row| Signature::parse(row.signature));
            let takes = by_name.is_some_and(|signature| {
                signature.params.iter().any(|param| matches!(param.kind, Kind::Name | Kind::Names { .. }))
            });
            assert!(takes, "{}", row.signature);
        }
    }

    #[test]
    fn no_row_stands_twice() {
        let mut seen = std::collections::HashSet::new();
        let twice: Vec<_> =
            rows().filter(|row| !seen.insert((row.signature, row.role as u8))).map(|row| row.signature).collect();
        assert!(twice.is_empty(), "{twice:#?}");
    }

    #[test]
    fn every_name_has_a_place() {
        for function in registry().overloads() {
            let signature = &function.signature;
            if crate::dimnames::is_by_position(function.row.run) {
                assert!(registry().by_position(signature).is_some(), "{} has no form by position", signature.key);
            }
        }
    }
}
