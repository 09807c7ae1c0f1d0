//! Functions that the standard library and the compiler look up by their names in C, for systems with another C library than
//! glibc for x86-64: there the last digits would be others. No caller sees a difference, and every machine gives the same
//! results.

use crate::glibc::{double, single};

macro_rules! provide {
    ($t:ident: $($name:ident($($x:ident),+) = $function:path;)+) => {$(
        // SAFETY: the function takes and returns what C's function of this name does. The linker takes it instead of the C
        // library's, which is searched later.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($x: $t),+) -> $t {
            $function($($x),+)
        }
    )+};
}

provide! {
    f64:
    sin(x) = double::sin;
    cos(x) = double::cos;
    tan(x) = double::tan;
    asin(x) = double::asin;
    acos(x) = double::acos;
    atan(x) = double::atan;
    atan2(y, x) = double::atan2;
    sinh(x) = double::sinh;
    cosh(x) = double::cosh;
    tanh(x) = double::tanh;
    exp(x) = double::exp;
    log(x) = double::log;
    log2(x) = double::log2;
    log10(x) = double::log10;
    pow(x, y) = double::pow;
    hypot(x, y) = double::hypot;
}

provide! {
    f32:
    sinf(x) = single::sin;
    cosf(x) = single::cos;
    atanf(x) = single::atan;
    atan2f(y, x) = single::atan2;
    tanf(x) = single::tan;
    asinf(x) = single::asin;
    acosf(x) = single::acos;
    sinhf(x) = single::sinh;
    coshf(x) = single::cosh;
    tanhf(x) = single::tanh;
    expf(x) = single::exp;
    logf(x) = single::log;
    log2f(x) = single::log2;
    log10f(x) = single::log10;
    powf(x, y) = single::pow;
    hypotf(x, y) = single::hypot;
}

/// What optimisers make of a sine and a cosine of the same number.
#[cfg(not(target_family = "wasm"))]
mod pairs {
    use super::{double, single};

    macro_rules! provide {
        ($t:ident: $pair:ident $name:ident $apple:literal $module:ident) => {
            // SAFETY: as above.
            #[unsafe(no_mangle)]
            extern "C" fn $name(x: $t, sin: &mut $t, cos: &mut $t) {
                *sin = $module::sin(x);
                *cos = $module::cos(x);
            }

            #[cfg(target_vendor = "apple")]
            #[repr(C)]
            struct $pair($t, $t);

            // SAFETY: as above.
            #[cfg(target_vendor = "apple")]
            #[unsafe(export_name = $apple)]
            extern "C" fn together(x: $t) -> $pair {
                $pair($module::sin(x), $module::cos(x))
            }
        };
    }

    mod doubles {
        use super::double;
        provide!(f64: Doubles sincos "__sincos_stret" double);
    }

    mod singles {
        use super::single;
        provide!(f32: Singles sincosf "__sincosf_stret" single);
    }
}

/// Functions that WebAssembly takes from the compiler, which has `libm`'s. Most of them are glibc's formulas as well.
#[cfg(not(target_family = "wasm"))]
mod formulas {
    use super::double;

    provide! {
        f64:
        cbrt(x) = libm::cbrt;
        exp2(x) = double::exp2;
        expm1(x) = double::expm1;
        fma(x, y, z) = libm::fma;
        log1p(x) = libm::log1p;
    }

    provide! {
        f32:
        cbrtf(x) = libm::cbrtf;
        exp2f(x) = libm::exp2f;
        expm1f(x) = libm::expm1f;
        fmaf(x, y, z) = libm::fmaf;
        log1pf(x) = libm::log1pf;
    }
}
