//! NumPy's own series for single precision: `exp`, `log`, `sin` and `cos`. Each step rounds as the processor's fused
//! instructions do, so the digits are NumPy's.

/// `x * y + z`, rounded once.
#[inline(always)]
fn fused(x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}

/// Evaluates a polynomial; the coefficients start with that of the highest power.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = fused(sum, x, coefficient);
    }
    sum
}

/// Rounds a number of moderate size, ties to even.
#[inline(always)]
fn rounded(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0;
    (x + MAGIC) - MAGIC
}

/// Returns two to a power between -126 and 127.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const MOST: f32 = 88.722_84;
    const LEAST: f32 = -103.972_084;
    let inner = if x < MOST && x > LEAST { x } else { 0.0 };
    let quadrant = rounded(inner * std::f32::consts::LOG2_E);
    let y = fused(quadrant, -1.428_606_8e-6, fused(quadrant, -0.693_145_75, inner));
    let above = polynomial(y, [5.082_762e-4, 6.757_897e-3, 5.114_512e-2, 2.473_615_4e-1, 7.257_665e-1, 1.0]);
    let below = polynomial(y, [2.159_509_4e-2, -2.742_335_4e-1, 1.0]);
    let power = quadrant as i32;
    // Two factors, of which only the second can round: to a subnormal result.
    let first = power.max(-125);
    let bits = (above / below).to_bits().wrapping_add((first << 23) as u32);
    let value = f32::from_bits(bits) * power_of_two(power - first);
    if x.is_nan() {
        x
    } else if x >= MOST {
        f32::INFINITY
    } else if x <= LEAST {
        0.0
    } else {
        value
    }
}

#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    let is_small = x < f32::MIN_POSITIVE;
    let scaled = if is_small { x * power_of_two(100) } else { x };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 23) as i32 - 126) as f32 - if is_small { 100.0 } else { 0.0 };
    let mantissa = f32::from_bits(bits & 0x7f_ffff | 126 << 23);
    // Between the square root of one half and that of two.
    let is_low = mantissa < std::f32::consts::FRAC_1_SQRT_2;
    let exponent = if is_low { exponent - 1.0 } else { exponent };
    let y = if is_low { mantissa + mantissa } else { mantissa } - 1.0;
    let above = polynomial(y, [2.589_979_2e-2, 3.808_837_8e-1, 1.480_000_6, 2.112_677_6, 1.0, 0.0]);
    let below = polynomial(y, [5.875_095_4e-3, 1.546_476_4e-1, 9.864_943e-1, 2.453_006, 2.612_677_6, 1.0]);
    let value = fused(exponent, std::f32::consts::LN_2, above / below);
    if x.is_nan() || x == f32::INFINITY {
        x
    } else if x < 0.0 {
        f32::NAN
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        value
    }
}

/// Returns the sine of an angle moved by quarter turns.
#[inline(always)]
#[expect(clippy::approx_constant, reason = "the first digits of half of pi; the next lines have the others")]
fn wave(x: f32, quarter: i32) -> f32 {
    let quadrant = rounded(x * std::f32::consts::FRAC_2_PI);
    let y = fused(quadrant, -1.570_796, x);
    let y = fused(quadrant, -3.139_164_7e-7, y);
    let y = fused(quadrant, -5.390_302_5e-15, y);
    let square = y * y;
    let cosine = polynomial(
        square,
        [f32::from_bits(0x37cc_730b), f32::from_bits(0xbab6_036e), f32::from_bits(0x3d2a_aa9e), -0.5, 1.0],
    );
    let sine = polynomial(
        square,
        [
            f32::from_bits(0x363e_9dde),
            f32::from_bits(0xb950_35dd),
            f32::from_bits(0x3c08_88cd),
            f32::from_bits(0xbe2a_aaab),
            0.0,
        ],
    );
    let sine = fused(sine, y, y);
    let turned = (quadrant as i32).wrapping_add(quarter);
    let value = if turned & 1 == 0 { sine } else { cosine };
    if turned & 2 == 0 { value } else { -value }
}

/// Angles up to here are reduced exactly enough; the system's functions take larger ones.
const SINE_LIMIT: f32 = 117_435.99;
const COSINE_LIMIT: f32 = 71_476.06;

/// Applies a function to all numbers, and another one to those that are out of range.
#[inline(always)]
fn waves(from: &[f32], out: &mut [f32], quarter: i32, limit: f32, far: fn(f32) -> f32) {
    tensor::parallel::vectorised(|| {
        for (out, &x) in out.iter_mut().zip(from) {
            *out = wave(x, quarter);
        }
    });
    let is_far = |x: f32| x.is_nan() || x.abs() > limit;
    if from.iter().any(|&x| is_far(x)) {
        for (out, &x) in out.iter_mut().zip(from).filter(|(_, x)| is_far(**x)) {
            *out = if x.is_nan() { x } else { far(x) };
        }
    }
}

pub(super) fn sines(from: &[f32], out: &mut [f32]) {
    waves(from, out, 0, SINE_LIMIT, f32::sin);
}

pub(super) fn cosines(from: &[f32], out: &mut [f32]) {
    waves(from, out, 1, COSINE_LIMIT, f32::cos);
}
