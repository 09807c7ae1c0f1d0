//! The functions beside those of the system, which has glibc.

use super::{double, single};

/// Bits that look random.
fn random() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    (0..100_000).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 32
    })
}

macro_rules! compared {
    ($t:ident, $name:ident, $bits:ident, $most:literal, [$($loose:literal $limit:literal),*], $edges:expr) => {
        /// Numbers of both signs, spread over all exponents from -range to `range`.
        fn numbers(range: i64) -> impl Iterator<Item = $t> {
            const MANTISSA: u32 = $t::MANTISSA_DIGITS - 1;
            random().map(move |bits| {
                let exponent = (bits >> 53) as i64 % (2 * range + 1) - range + i64::from($t::MAX_EXP - 1);
                let size = $t::from_bits((exponent as $bits) << MANTISSA | bits as $bits & ((1 << MANTISSA) - 1));
                if bits >> 52 & 1 == 1 { -size } else { size }
            })
        }

        const SPECIAL: [$t; 10] = [
            0.0, -0.0, 1.0, -1.0, $t::INFINITY, $t::NEG_INFINITY, $t::NAN, $t::MAX, $t::MIN_POSITIVE, $t::from_bits(1),
        ];

        /// Where a formula gives way to another one, with the numbers beside it.
        fn edges() -> impl Iterator<Item = $t> {
            let near = $edges.into_iter().flat_map(|edge: $t| [edge.next_down(), edge, edge.next_up()]);
            near.flat_map(|x| [x, -x])
        }

        /// Each result is the other's, or is some units in the last place beside it in a few cases of a thousand.
        fn agrees(name: &str, rows: impl Iterator<Item = ($t, $t, $t)>) {
            // The share that may differ, and by how many units. Logarithms and formulas double the error of what they are made of.
            const LOOSE: &[(&str, f64)] = &[$(($loose, $limit)),*];
            let share = LOOSE.iter().find(|(loose, _)| *loose == name).map_or($most, |(_, limit)| *limit);
            let (mut seen, mut differ) = (0, 0);
            for (x, mine, system) in rows {
                seen += 1;
                if mine.to_bits() != system.to_bits() && !(mine.is_nan() && system.is_nan()) {
                    differ += 1;
                    let apart = mine.to_bits().abs_diff(system.to_bits());
                    assert!(apart <= 4, "{name}({x:e}): {mine:e}, not {system:e}");
                }
            }
            let allowed = f64::from(seen) * share;
            assert!(f64::from(differ) <= allowed, "{name}: {differ} of {seen} differ");
        }

        #[test]
        fn $name() {
            let of = |range: i64, mine: fn($t) -> $t, system: fn($t) -> $t| {
                numbers(range).chain(SPECIAL).chain(edges()).map(move |x| (x, mine(x), system(x)))
            };
            let two = |range: i64, mine: fn($t, $t) -> $t, system: fn($t, $t) -> $t| {
                let pairs = numbers(range).zip(numbers(range).skip(7));
                let special = || SPECIAL.into_iter().chain(edges());
                let special = special().flat_map(move |x| special().map(move |y| (x, y)));
                pairs.chain(special).map(move |(x, y)| (x, mine(x, y), system(x, y)))
            };
            for range in [3, 40, i64::from($t::MAX_EXP - 2)] {
                agrees("sin", of(range, module::sin, $t::sin));
                agrees("cos", of(range, module::cos, $t::cos));
                agrees("tan", of(range, module::tan, $t::tan));
                agrees("atan", of(range, module::atan, $t::atan));
                agrees("exp", of(range, module::exp, $t::exp));
                agrees("exp2", of(range, module::exp2, $t::exp2));
                agrees("expm1", of(range, module::expm1, $t::exp_m1));
                agrees("log1p", of(range, module::log1p, $t::ln_1p));
                agrees("cbrt", of(range, module::cbrt, $t::cbrt));
                agrees("log", of(range, module::log, $t::ln));
                agrees("log2", of(range, module::log2, $t::log2));
                agrees("log10", of(range, module::log10, $t::log10));
                agrees("sinh", of(range, module::sinh, $t::sinh));
                agrees("cosh", of(range, module::cosh, $t::cosh));
                agrees("tanh", of(range, module::tanh, $t::tanh));
                agrees("atan2", two(range, module::atan2, $t::atan2));
                agrees("hypot", two(range, module::hypot, $t::hypot));
            }
            agrees("asin", of(30, |x| module::asin(x.fract()), |x| x.fract().asin()));
            agrees("acos", of(30, |x| module::acos(x.fract()), |x| x.fract().acos()));
            agrees("pow", two(3, |x, y| module::pow(x.abs(), y), |x, y| x.abs().powf(y)));
            agrees("pow", two(30, |x, y| module::pow(x, y.trunc()), |x, y| x.powf(y.trunc())));
        }
    };
}

mod doubles {
    use super::double as module;
    use super::random;

    compared!(
        f64,
        doubles_are_those_of_the_system,
        u64,
        0.003,
        [],
        [1.0 / (1 << 27) as f64, 0.5 * std::f64::consts::LN_2, 1.0, 22.0, 512.0, 700.0, 1000.0]
    );
}

mod singles {
    use super::random;
    use super::single as module;

    compared!(f32, singles_are_those_of_the_system, u32, 0.005, ["sin" 0.006, "cos" 0.006, "tan" 0.05, "asin" 0.04, "acos" 0.04], [
        1.0 / (1 << 29) as f32, 1.0 / 4096.0, 0.5 * std::f32::consts::LN_2, 0.4375, 0.6875, 1.0, 1.1875, 2.4375, 22.0, 120.0,
        (1 << 25) as f32,
    ]);
}
