//! Functions that the standard library and the compiler look up by their names in C, for systems with another C library than
//! glibc for x86-64: there the last digits would be others. No caller sees a difference, and every machine gives the same
//! results.

use crate::glibc::{double, single};

/// Each row has a function's names for `f64` and `f32`, and its arguments.
macro_rules! provide {
    ($($name:ident $name_f32:ident($($x:ident),+);)+) => {$(
        // SAFETY: the function takes and returns what C's function of this name does. The linker takes it instead of the C
        // library's, which is searched later.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($x: f64),+) -> f64 {
            double::$name($($x),+)
        }

        // SAFETY: as above.
        #[unsafe(no_mangle)]
        extern "C" fn $name_f32($($x: f32),+) -> f32 {
            single::$name($($x),+)
        }
    )+};
}

provide! {
    sin sinf(x);
    cos cosf(x);
    tan tanf(x);
    asin asinf(x);
    acos acosf(x);
    atan atanf(x);
    atan2 atan2f(y, x);
    sinh sinhf(x);
    cosh coshf(x);
    tanh tanhf(x);
    exp expf(x);
    log logf(x);
    log2 log2f(x);
    log10 log10f(x);
    pow powf(x, y);
    hypot hypotf(x, y);
}

// WebAssembly takes these from the compiler, which has `libm`'s.
#[cfg(not(target_family = "wasm"))]
provide! {
    cbrt cbrtf(x);
    exp2 exp2f(x);
    expm1 expm1f(x);
    fma fmaf(x, y, z);
    log1p log1pf(x);
}

/// Visual C++ has the hypotenuse under names of its own.
#[cfg(target_env = "msvc")]
mod visual_c {
    use super::{double, single};

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    extern "C" fn _hypot(x: f64, y: f64) -> f64 {
        double::hypot(x, y)
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    extern "C" fn _hypotf(x: f32, y: f32) -> f32 {
        single::hypot(x, y)
    }
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
