//! Processor-specific instructions: loops compiled for the widest vectors, and operations that compilers do not
//! generate by themselves: conversions of half precision, prefetching, and stores that bypass the caches.

use crate::memory::Plain;
use half::f16;
use std::cell::Cell;

thread_local! {
    /// The widest vectors, in bits, that kernels of this thread may use; 0 for the widest available.
    static WIDTH: Cell<usize> = const { Cell::new(0) };
    /// The widest vectors that they actually use; 0 before the first check.
    #[cfg(target_arch = "x86_64")]
    static USABLE: Cell<usize> = const { Cell::new(0) };
}

/// Sets the widest vectors, in bits, that kernels of this thread may use; 0 for the widest available. Results do not
/// depend on it.
pub fn set_width(bits: usize) {
    WIDTH.set(bits);
    #[cfg(target_arch = "x86_64")]
    USABLE.set(0);
}

/// Returns the value set by [`set_width`].
pub(super) fn width() -> usize {
    WIDTH.get()
}

/// Runs `body` compiled for the processor's widest vectors. Results are the same on every processor. Worthwhile for
/// loops that are vectorised and inlined here.
#[inline(always)]
pub fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    struct ClosureKernel<F>(F);
    impl<R, F: FnOnce() -> R> Kernel for ClosureKernel<F> {
        type Output = R;
        #[inline(always)]
        fn run(self, _fuses: bool) -> R {
            (self.0)()
        }
    }
    vectorised_kernel(ClosureKernel(body))
}

/// A loop that depends on the processor, or that is too large to be inlined as a closure.
pub trait Kernel {
    type Output;
    /// The widest vectors, in bits, to compile the loop for. Loops that look up tables are slower with wider ones than
    /// 256: the processor then looks up numbers one after another.
    const WIDEST: usize = 512;
    /// Must be marked `inline(always)`. `fuses` tells whether `mul_add` is a single instruction instead of a function
    /// call.
    fn run(self, fuses: bool) -> Self::Output;
}

/// Like [`vectorised`], for a [`Kernel`].
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
        // Not inlined, like the functions above: compiled once for all callers.
        #[inline(never)]
        fn by_128_bits<K: Kernel>(kernel: K) -> K::Output {
            kernel.run(false)
        }
        match usable() {
            // SAFETY: `first_look` found these instructions.
            512 if K::WIDEST >= 512 => unsafe { by_512_bits(kernel) },
            // SAFETY: as above.
            256 | 512 => unsafe { by_256_bits(kernel) },
            _ => by_128_bits(kernel),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run(fuses())
}

/// Returns whether kernels of this thread have an instruction for fused multiply-adds.
pub(super) fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    let fuses = usable() >= 256;
    // Every processor of `aarch64` has one.
    #[cfg(not(target_arch = "x86_64"))]
    let fuses = cfg!(target_arch = "aarch64");
    fuses
}

/// Returns the width of the widest vectors that this thread may use and the processor has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn usable() -> usize {
    let usable = USABLE.get();
    if usable > 0 { usable } else { first_look() }
}

/// Determines the width of the widest vectors for which the processor has all instructions that [`vectorised`] needs.
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

/// Prefetches elements that a loop will need soon. Processors prefetch by themselves, but not beyond the current page.
#[inline(always)]
pub(crate) fn prefetch<T: Plain>(elements: &[T]) {
    prefetch_bytes(elements.as_ptr().cast(), size_of_val(elements));
}

/// Like [`prefetch`], for any address, even an invalid one.
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

/// Copies a slice to one of the same length. Bypasses the caches if possible: whole cache lines need not be read before
/// they are written. Call [`flush_streamed_stores`] before another thread reads the result.
pub(super) fn stream<T: Plain>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if usable() > 128 && from.len() == to.len() {
        // SAFETY: both have as many bytes, and a mutable slice shares none with another; `usable` found AVX.
        return unsafe { stream_bytes(from.as_ptr().cast(), to.as_mut_ptr().cast(), size_of_val(from)) };
    }
    to.copy_from_slice(from);
}

/// Like [`stream`], for bytes.
///
/// # Safety
/// `nbytes` bytes can be read from one address and written to the other, the two share none, and the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_bytes(from: *const u8, to: *mut u8, nbytes: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    const LINE: usize = 64;
    const VECTOR: usize = size_of::<__m256i>();
    // Streams the whole cache lines; copies the ends as usual.
    let head = to.align_offset(LINE).min(nbytes);
    let lines = (nbytes - head) / LINE * LINE;
    // SAFETY: head, lines and tail are the `nbytes` bytes that the caller names; lines begin where a vector may be
    // streamed.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..head + lines).step_by(VECTOR) {
            _mm256_stream_si256(to.add(at).cast(), _mm256_loadu_si256(from.add(at).cast()));
        }
        let tail = head + lines;
        std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), nbytes - tail);
    }
}

/// Makes streamed stores of this thread visible before its next operations.
pub(super) fn flush_streamed_stores() {
    // SAFETY: every processor of this kind has the instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Vector conversions between half and single precision, rounding to nearest, ties to even.
#[cfg(target_arch = "x86_64")]
mod half_vectors {
    use half::f16;
    use std::arch::x86_64::*;

    /// # Safety
    /// The processor has AVX-512, and 16 numbers can be read and written.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn widen_16(from: *const f16, to: *mut f32) {
        // SAFETY: as the caller promises.
        unsafe { _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(from.cast()))) };
    }

    /// # Safety
    /// Same as [`widen_16`].
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn narrow_16(from: *const f32, to: *mut f16) {
        // SAFETY: as the caller promises.
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(from))) };
    }

    /// # Safety
    /// The processor has AVX and F16C, and 8 numbers can be read and written.
    #[target_feature(enable = "avx,f16c")]
    pub(crate) unsafe fn widen_8(from: *const f16, to: *mut f32) {
        // SAFETY: as the caller promises.
        unsafe { _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from.cast()))) };
    }

    /// # Safety
    /// Same as [`widen_8`].
    #[target_feature(enable = "avx,f16c")]
    pub(crate) unsafe fn narrow_8(from: *const f32, to: *mut f16) {
        // SAFETY: as the caller promises.
        unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from))) };
    }
}

/// The same with the vectors of every `aarch64`.
#[cfg(target_arch = "aarch64")]
mod half_vectors {
    use half::f16;
    use std::arch::asm;

    /// # Safety
    /// 8 numbers can be read and written.
    #[inline(always)]
    pub(crate) unsafe fn widen_8(from: *const f16, to: *mut f32) {
        // SAFETY: as the caller promises; the registers are stated.
        unsafe {
            asm!(
                "ldr {halves:q}, [{from}]",
                "fcvtl {low:v}.4s, {halves:v}.4h",
                "fcvtl2 {high:v}.4s, {halves:v}.8h",
                "stp {low:q}, {high:q}, [{to}]",
                from = in(reg) from, to = in(reg) to,
                halves = out(vreg) _, low = out(vreg) _, high = out(vreg) _,
                options(nostack, preserves_flags),
            );
        }
    }

    /// # Safety
    /// Same as [`widen_8`].
    #[inline(always)]
    pub(crate) unsafe fn narrow_8(from: *const f32, to: *mut f16) {
        // SAFETY: as the caller promises; the registers are stated.
        unsafe {
            asm!(
                "ldp {low:q}, {high:q}, [{from}]",
                "fcvtn {halves:v}.4h, {low:v}.4s",
                "fcvtn2 {halves:v}.8h, {high:v}.4s",
                "str {halves:q}, [{to}]",
                from = in(reg) from, to = in(reg) to,
                halves = out(vreg) _, low = out(vreg) _, high = out(vreg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Runs a body with `$lanes` lanes, the number in the widest usable vectors, and the functions of [`half_vectors`] for
/// them. Without such vectors, does nothing. The body becomes a function with the given arguments.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($lanes:ident, $widen:ident, $narrow:ident, ($($argument:ident: $type:ty),*) $body:block) => {{
        macro_rules! at {
            ($n:literal, $features:literal, $by:ident, $back:ident) => {{
                #[target_feature(enable = $features)]
                fn run($($argument: $type),*) -> usize {
                    #[allow(unused_imports, reason = "one of both")]
                    use half_vectors::{$by as $widen, $back as $narrow};
                    const $lanes: usize = $n;
                    $body
                }
                // SAFETY: `usable` found these instructions.
                unsafe { run($($argument),*) }
            }};
        }
        match usable() {
            512 => at!(16, "avx512f,avx2,fma", widen_16, narrow_16),
            256 => at!(8, "avx2,fma,f16c", widen_8, narrow_8),
            _ => 0,
        }
    }};
}

#[cfg(target_arch = "aarch64")]
macro_rules! by_vectors {
    ($lanes:ident, $widen:ident, $narrow:ident, ($($argument:ident: $type:ty),*) $body:block) => {{
        #[allow(unused_imports, reason = "one of both")]
        use half_vectors::{narrow_8 as $narrow, widen_8 as $widen};
        const $lanes: usize = 8;
        $body
    }};
}

/// Converts numbers to single precision, starting with the first, as far as they fill whole vectors. Returns how many
/// were converted.
pub fn singles(from: &[f16], to: &mut [f32]) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return by_vectors!(LANES, widen, narrow, (from: &[f16], to: &mut [f32]) {
        let ((from, _), (to, _)) = (from.as_chunks::<LANES>(), to.as_chunks_mut::<LANES>());
        for (from, to) in from.iter().zip(&mut *to) {
            // SAFETY: as many numbers are read and written as the arrays have.
            unsafe { widen(from.as_ptr(), to.as_mut_ptr()) }
        }
        LANES * from.len().min(to.len())
    });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    no_vectors((from, to))
}

/// Like [`singles`], to half precision, rounding to nearest, ties to even.
pub fn halves(from: &[f32], to: &mut [f16]) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return by_vectors!(LANES, widen, narrow, (from: &[f32], to: &mut [f16]) {
        let ((from, _), (to, _)) = (from.as_chunks::<LANES>(), to.as_chunks_mut::<LANES>());
        for (from, to) in from.iter().zip(&mut *to) {
            // SAFETY: as in `singles`.
            unsafe { narrow(from.as_ptr(), to.as_mut_ptr()) }
        }
        LANES * from.len().min(to.len())
    });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    no_vectors((from, to))
}

/// Combines the numbers of two slices as far as they fill whole vectors, and returns how many were combined. Numbers
/// stay in registers between widening and rounding.
pub(crate) fn join_halves(a: &[f16], b: &[f16], out: &mut [f16], join: impl Fn(f32, f32) -> f32) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return by_vectors!(LANES, widen, narrow, (a: &[f16], b: &[f16], out: &mut [f16], join: impl Fn(f32, f32) -> f32) {
        let ((a, _), (b, _), (out, _)) =
            (a.as_chunks::<LANES>(), b.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
        for ((a, b), out) in a.iter().zip(b).zip(&mut *out) {
            let (mut left, mut right) = ([0f32; LANES], [0f32; LANES]);
            // SAFETY: as in `singles`.
            unsafe {
                widen(a.as_ptr(), left.as_mut_ptr());
                widen(b.as_ptr(), right.as_mut_ptr());
            }
            let joined: [f32; LANES] = std::array::from_fn(|k| join(left[k], right[k]));
            // SAFETY: as in `singles`.
            unsafe { narrow(joined.as_ptr(), out.as_mut_ptr()) }
        }
        LANES * a.len().min(b.len()).min(out.len())
    });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    no_vectors((a, b, out, join))
}

/// Without vector instructions, these functions do nothing.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn no_vectors<T>(_: T) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At every offset in a cache line, with and without whole lines in between.
    #[test]
    fn what_is_streamed_is_what_is_copied() {
        let from: Vec<u8> = (0..100_064u32).map(|i| (i % 251) as u8).collect();
        for start in 0..64 {
            for length in [0, 1, 31, 63, 64, 65, 127, 128, 129, 1000, 100_000] {
                let mut to = vec![0u8; from.len()];
                stream(&from[7..][..length], &mut to[start..][..length]);
                flush_streamed_stores();
                let beside = to[..start].iter().chain(&to[start + length..]);
                assert!(to[start..][..length] == from[7..][..length] && beside.copied().all(|byte| byte == 0));
            }
        }
    }

    /// Numbers that fill no whole vector are left to the caller.
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
