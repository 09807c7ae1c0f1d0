//! Instructions that the processor at hand has: loops compiled for its widest vectors, and what no loop becomes by itself:
//! conversions of half precision, memory asked for ahead, and memory written past the caches.

use crate::tensor::memory::Plain;
use half::f16;
use std::cell::Cell;

thread_local! {
    /// The widest vectors, in bits, that kernels of this thread may use; 0 for the widest there are.
    static WIDTH: Cell<usize> = const { Cell::new(0) };
    /// The widest that they do use; 0 before anyone has looked.
    #[cfg(target_arch = "x86_64")]
    static USABLE: Cell<usize> = const { Cell::new(0) };
}

/// Sets the widest vectors, in bits, that kernels of this thread may use; 0 for the widest there are. No result depends on
/// it.
pub fn set_width(bits: usize) {
    WIDTH.set(bits);
    #[cfg(target_arch = "x86_64")]
    USABLE.set(0);
}

/// Returns what [`set_width`] has set.
pub(super) fn width() -> usize {
    WIDTH.get()
}

/// Runs `body` compiled for the widest vectors that the processor has. The results are the same either way; a loop is
/// worth it that becomes vector instructions, and is inlined here.
#[inline(always)]
pub fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    struct Plain<F>(F);
    impl<R, F: FnOnce() -> R> Kernel for Plain<F> {
        type Output = R;
        #[inline(always)]
        fn run(self, _fuses: bool) -> R {
            (self.0)()
        }
    }
    vectorised_kernel(Plain(body))
}

/// A loop that wants to know the processor, or is so large that the compiler would not inline a closure of it.
pub trait Kernel {
    type Output;
    /// Must be marked `inline(always)`. `fuses` tells whether `mul_add` is one instruction, not a function call.
    fn run(self, fuses: bool) -> Self::Output;
}

/// As [`vectorised`], for a [`Kernel`].
#[inline(always)]
pub fn vectorised_kernel<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        fn by_512_bits<K: Kernel>(kernel: K) -> K::Output {
            kernel.run(true)
        }
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        fn by_256_bits<K: Kernel>(kernel: K) -> K::Output {
            kernel.run(true)
        }
        // Not inlined, as those above cannot be: once, however often the loop is called from.
        #[inline(never)]
        fn by_128_bits<K: Kernel>(kernel: K) -> K::Output {
            kernel.run(false)
        }
        match usable() {
            // SAFETY: `first_look` found these instructions.
            512 => unsafe { by_512_bits(kernel) },
            // SAFETY: as above.
            256 => unsafe { by_256_bits(kernel) },
            _ => by_128_bits(kernel),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run(false)
}

/// The width of the widest vectors that this thread uses, as far as the processor has them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn usable() -> usize {
    let usable = USABLE.get();
    if usable > 0 { usable } else { first_look() }
}

/// The width of the widest vectors that the processor has, with all instructions that [`vectorised`] wants for them.
#[cfg(target_arch = "x86_64")]
#[cold]
fn first_look() -> usize {
    macro_rules! all {
        ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
    }
    let half = all!("avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt" "popcnt");
    let machine = match half && all!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd") {
        true => 512,
        false if half => 256,
        false => 128,
    };
    let usable = if width() == 0 { machine } else { machine.min(width()) };
    USABLE.set(usable);
    usable
}

/// Asks for elements that a loop will want soon. Processors look ahead by themselves, but not beyond the page they are in.
#[inline(always)]
pub fn prefetch<T: Plain>(elements: &[T]) {
    prefetch_bytes(elements.as_ptr().cast(), size_of_val(elements));
}

/// As [`prefetch`]; there need not be anything.
#[inline(always)]
pub(super) fn prefetch_bytes(from: *const u8, nbytes: usize) {
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, nbytes);
    #[cfg(target_arch = "x86_64")]
    for line in (0..nbytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing, and no address is wrong for it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
}

/// Copies a slice to one of the same length, past the caches where the processor can: what is written as whole lines need not
/// be read first. [`written`] must follow before another thread looks.
pub(super) fn stream<T: Plain>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if usable() > 128 && from.len() == to.len() {
        // SAFETY: both have as many bytes, and a mutable slice shares none with another; `usable` found AVX.
        return unsafe { stream_bytes(from.as_ptr().cast(), to.as_mut_ptr().cast(), size_of_val(from)) };
    }
    to.copy_from_slice(from);
}

/// As [`stream`], for bytes.
///
/// # Safety
/// `nbytes` bytes can be read from one address and written to the other, the two share none, and the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_bytes(from: *const u8, to: *mut u8, nbytes: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    const LINE: usize = 64;
    const VECTOR: usize = size_of::<__m256i>();
    // Whole lines in between; what is left at the ends is copied as ever.
    let head = to.align_offset(LINE).min(nbytes);
    let lines = (nbytes - head) / LINE * LINE;
    // SAFETY: head, lines and tail are the `nbytes` bytes that the caller names; lines begin where a vector may be streamed.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..head + lines).step_by(VECTOR) {
            _mm256_stream_si256(to.add(at).cast(), _mm256_loadu_si256(from.add(at).cast()));
        }
        let tail = head + lines;
        std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), nbytes - tail);
    }
}

/// Makes what this thread has streamed visible before what it does next.
pub(super) fn written() {
    // SAFETY: every processor of this kind has the instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Converts numbers from the first on, as many as fill vectors of a width.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($from:ident, $to:ident, $lanes:literal, $features:literal, |$source:ident, $target:ident| $convert:expr) => {{
        #[target_feature(enable = $features)]
        fn convert(from: &[Source], to: &mut [Target]) -> usize {
            let ((from, _), (to, _)) = (from.as_chunks::<$lanes>(), to.as_chunks_mut::<$lanes>());
            for (source, target) in from.iter().zip(&mut *to) {
                let ($source, $target) = (source.as_ptr(), target.as_mut_ptr());
                // SAFETY: as many numbers are read and written as the arrays have.
                unsafe { $convert }
            }
            $lanes * from.len().min(to.len())
        }
        // SAFETY: `usable` found these instructions.
        unsafe { convert($from, $to) }
    }};
}

/// Converts to single precision as many numbers, from the first on, as the processor has instructions for, and returns how
/// many that are.
pub fn singles(from: &[f16], to: &mut [f32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_loadu_si128, _mm256_cvtph_ps, _mm256_loadu_si256, _mm256_storeu_ps, _mm512_cvtph_ps, _mm512_storeu_ps,
        };
        type Source = f16;
        type Target = f32;
        match usable() {
            512 => {
                return by_vectors!(from, to, 16, "avx512f", |source, target| {
                    _mm512_storeu_ps(target, _mm512_cvtph_ps(_mm256_loadu_si256(source.cast())));
                });
            }
            256 => {
                return by_vectors!(from, to, 8, "avx,f16c", |source, target| {
                    _mm256_storeu_ps(target, _mm256_cvtph_ps(_mm_loadu_si128(source.cast())));
                });
            }
            _ => {}
        }
    }
    let _ = (from, to);
    0
}

/// As [`singles`], to half precision: to the nearest number, of two the even one.
pub fn halves(from: &[f32], to: &mut [f16]) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _MM_FROUND_TO_NEAREST_INT, _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_si256,
            _mm512_cvtps_ph, _mm512_loadu_ps,
        };
        type Source = f32;
        type Target = f16;
        match usable() {
            512 => {
                return by_vectors!(from, to, 16, "avx512f", |source, target| {
                    let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(source));
                    _mm256_storeu_si256(target.cast(), halves);
                });
            }
            256 => {
                return by_vectors!(from, to, 8, "avx,f16c", |source, target| {
                    let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(source));
                    _mm_storeu_si128(target.cast(), halves);
                });
            }
            _ => {}
        }
    }
    let _ = (from, to);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From every place in a line of the cache on, with and without whole lines in between.
    #[test]
    fn what_is_streamed_is_what_is_copied() {
        let from: Vec<u8> = (0..100_064u32).map(|i| (i % 251) as u8).collect();
        for start in 0..64 {
            for length in [0, 1, 31, 63, 64, 65, 127, 128, 129, 1000, 100_000] {
                let mut to = vec![0u8; from.len()];
                stream(&from[7..][..length], &mut to[start..][..length]);
                written();
                let beside = to[..start].iter().chain(&to[start + length..]);
                assert!(to[start..][..length] == from[7..][..length] && beside.copied().all(|byte| byte == 0));
            }
        }
    }

    /// What fills no vector is left to the caller.
    #[test]
    fn as_many_are_converted_as_fill_vectors() {
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100_000] {
            let singles_before: Vec<f32> = (0..length).map(|i| i as f32 / 8.0).collect();
            for width in [128, 256, 512] {
                set_width(width);
                let (mut to, mut back) = (vec![f16::ZERO; length], vec![-1.0; length]);
                let done = halves(&singles_before, &mut to);
                assert_eq!(singles(&to, &mut back), done);
                assert!(done <= length && length - done < 16 || done == 0);
                assert!((0..length).all(|i| {
                    let half = if i < done { f16::from_f32(singles_before[i]) } else { f16::ZERO };
                    to[i] == half && back[i] == if i < done { half.to_f32() } else { -1.0 }
                }));
            }
        }
        set_width(0);
    }
}
