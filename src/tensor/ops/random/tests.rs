//! Expected values printed by torch 2.7.0 on x86-64 with AVX-512.

use super::*;
use crate::thresholds::THREAD;
use RealKind::{BF16, F16, F32, F64};
use elementary::BY_GLIBC;

/// The last two are 2^40 + 7 and -1.
pub(super) const SEEDS: [u64; 6] = [0, 1, 42, 12345, 1_099_511_627_783, u64::MAX];
/// Single numbers, pairs, and lengths around the blocks of 16 in which normal numbers are generated.
const SIZES: [usize; 7] = [1, 2, 15, 16, 17, 33, 100];

pub(super) fn seeded(seed: u64) -> Generator {
    Generator::seeded(seed)
}

/// FNV-1a over the bytes of 64-bit words, folded once: stands for results that are too long to write out.
pub(super) fn hash(words: impl IntoIterator<Item = u64>) -> u32 {
    let bytes = words.into_iter().flat_map(u64::to_le_bytes);
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)) as u32
}

/// Draws `n` numbers by a function that fills a slice.
fn filled<T: Copy + Default>(n: usize, fill: impl FnOnce(&mut [T])) -> Vec<T> {
    let mut values = vec![T::default(); n];
    fill(&mut values);
    values
}

/// Hashes the results of `draw` for each of `SIZES` in turn.
fn hash_sizes<T: Word>(seed: u64, draw: impl Fn(&mut Generator, usize) -> Vec<T>) -> u32 {
    let mut generator = seeded(seed);
    hash(SIZES.iter().flat_map(|&n| draw(&mut generator, n)).map(Word::word))
}

trait Word {
    fn word(self) -> u64;
}

impl Word for f64 {
    fn word(self) -> u64 {
        self.to_bits()
    }
}

impl Word for i64 {
    fn word(self) -> u64 {
        self as u64
    }
}

impl Word for bool {
    fn word(self) -> u64 {
        u64::from(self)
    }
}

#[test]
fn words_of_each_seed() {
    let expected = [
        (0x8c7f_0aac_97c4_aa2f, 0xb716_a675_d821_ccc0),
        (0x6ac1_f425_ff47_80eb, 0xb867_2f8c_eebc_1448),
        (0x5fe1_dc66_cbea_3db3, 0xf362_035c_2ef5_950e),
        (0xedfb_51e2_e3e1_2de5, 0x50fd_fd1d_2176_0881),
        (0x1388_f0af_3a32_e4c4, 0xc7a8_c219_51a8_29f6),
        (0x18fe_69a3_1c92_4122, 0xe991_ec0c_900c_ac47),
    ];
    for (seed, expected) in SEEDS.into_iter().zip(expected) {
        let mut generator = seeded(seed);
        assert_eq!((generator.random64(), generator.random64()), expected, "seed {seed}");
        assert_eq!(generator.initial_seed(), seed);
    }
    assert_eq!(
        filled(3, |out| random_from_to(&mut Generator::new(), out, 0, (1 << 28) - 1)),
        [205_811_070, 81_747_464, 257_283_467]
    );
}

#[test]
fn first_values_in_single_precision() {
    // The first two of rand(3), of randn(3) and of randn(17), and the last of randn(17).
    let expected: [[f32; 7]; 6] = [
        [0.4962566, 0.7682218, 1.5409961, -0.2934289, -1.1258398, -1.6959312, 0.9318266],
        [0.7576316, 0.27931088, 0.66135216, 0.2669241, -1.5255959, -1.1607615, -0.7984398],
        [0.88226926, 0.91500396, 0.33669037, 0.1288094, 1.9269153, -0.15959747, -0.30972677],
        [0.9817182, 0.87960654, 1.4271305, -1.8700892, -1.4798077, -1.1370966, 0.52241766],
        [0.53492254, 0.19880319, -0.1467951, 0.7861413, -0.8201345, -0.32456663, -0.8667016],
        [0.9937994, 0.57130635, 1.219763, -0.39297947, -2.6642976, -0.8765852, 1.6243832],
    ];
    for (seed, expected) in SEEDS.into_iter().zip(expected) {
        let uniform = uniform(&mut seeded(seed), 3, F32, 0.0, 1.0);
        let normal = |n| normal(&mut seeded(seed), n, F32, 0.0, 1.0, true);
        let (few, many) = (normal(3), normal(17));
        let got = [uniform[0], uniform[1], few[0], few[1], many[0], many[1], many[16]];
        assert_eq!(got, expected.map(f64::from), "seed {seed}");
    }
}

/// For each seed: rand, randn, uniform_(-3.3, 7.7), normal_(1.5, 0.3), and normal_ for every second element of a
/// tensor.
const FLOATS: [(RealKind, [[u32; 5]; 6]); 4] = [
    (
        F16,
        [
            [0x923caf77, 0xf7a08edd, 0xb5193a47, 0x983916fd, 0xb515fbf5],
            [0xe9a64d35, 0x8979d3c9, 0x286451ae, 0x33ed5071, 0xe84c7922],
            [0x8e1e09df, 0xd16304ee, 0x2e48bd2c, 0x23e7ad2e, 0x9a750426],
            [0x35c5483f, 0x134cf319, 0x3aa0c73f, 0x0e1d1617, 0x262cda3b],
            [0xf96aa3b0, 0xdbc8ca29, 0x172282be, 0x97fffde3, 0x7f2e8e76],
            [0xfe6a75a8, 0x96f7a646, 0x15a4e7b3, 0xa01b82f2, 0xdb508eb6],
        ],
    ),
    (
        BF16,
        [
            [0x1d009438, 0x691a1d96, 0x852422a7, 0x088b631a, 0x8eaed176],
            [0x035b1d6b, 0x355a2cf4, 0x92de2d84, 0xa5caacec, 0x01344bef],
            [0x9d06eb93, 0x4aac444d, 0x39f7edee, 0x093ae622, 0x5a1815aa],
            [0x3c8e1597, 0x48ab4842, 0x3da8409e, 0x62b46b1f, 0xf5e9307e],
            [0x4adbf1ea, 0x2016b67a, 0xcd4902f9, 0xc61f7952, 0x7ccc1deb],
            [0x0773c364, 0x35745a1a, 0xc7424d78, 0x68d8e77f, 0x94d964af],
        ],
    ),
    (
        F32,
        [
            [0x04db7ba8, 0x336f2940, 0x8846f91e, 0xbda5d6e0, 0x6e786185],
            [0xe0f69007, 0xb796bc81, 0x4aee7e6f, 0x4831c337, 0x1bcf342a],
            [0xbb4de27f, 0x35f91705, 0xe4352d97, 0xad72ffed, 0xab39b741],
            [0xd53919eb, 0xcf23debe, 0xa9eb653e, 0x9f7ea61d, 0x153cffba],
            [0xc40bff23, 0x96b532d4, 0x49bad60b, 0xd9a3abe2, 0xa98879e2],
            [0x72eb20c8, 0xc0fa7543, 0xf93b5165, 0x233d7be7, 0x7a6edb92],
        ],
    ),
    (
        F64,
        [
            [0x1836aee9, 0x07ad655b, 0xd1472b65, 0x00941aac, 0x2e0a56dc],
            [0x3adb2922, 0x045760bb, 0x110827f4, 0x314c4256, 0xbf8a2062],
            [0x014fba9b, 0x368b4178, 0xbaddcc0d, 0x041de612, 0x4f81bae9],
            [0xcf59e459, 0x8dada51d, 0xf3cebd38, 0xebd99022, 0x9b53510e],
            [0x6fc5b472, 0xb3e09ffc, 0xc71e951e, 0x0a0e8f04, 0x6e6ed15d],
            [0xd6e9f6f6, 0xfbc40249, 0xf4abd47f, 0xa99058a8, 0x851d8ea2],
        ],
    ),
];

/// The hashes to compare: those at these places only where glibc computes them.
fn comparable<const N: usize>(kind: RealKind, hashes: [u32; N], by_functions: &[usize]) -> Vec<u32> {
    let all = BY_GLIBC || kind != F64;
    (0..N).filter(|at| all || !by_functions.contains(at)).map(|at| hashes[at]).collect()
}

#[test]
fn uniform_and_normal_of_every_dtype() {
    for (kind, rows) in FLOATS {
        for (seed, expected) in SEEDS.into_iter().zip(rows) {
            let got = [
                hash_sizes(seed, |g, n| uniform(g, n, kind, 0.0, 1.0)),
                hash_sizes(seed, |g, n| normal(g, n, kind, 0.0, 1.0, true)),
                hash_sizes(seed, |g, n| uniform(g, n, kind, -3.3, 7.7)),
                hash_sizes(seed, |g, n| normal(g, n, kind, 1.5, 0.3, true)),
                hash_sizes(seed, |g, n| normal(g, n, kind, 1.5, 0.3, n == 1)),
            ];
            let [got, expected] = [got, expected].map(|hashes| comparable(kind, hashes, &[1, 3, 4]));
            assert_eq!(got, expected, "{kind:?}, seed {seed}");
        }
    }
}

/// exponential_(0.7), geometric_(0.3), log_normal_(0.5, 1.5), cauchy_(0.5, 1.5), random_() and bernoulli(linspace(0, 1)).
const OTHERS: [(RealKind, [u32; 6]); 4] = [
    (F16, [0xf38583c4, 0x6632da31, 0x73e701dd, 0x1fb8c107, 0x44431865, 0x4749d9bf]),
    (BF16, [0xb674b9e9, 0x6632da31, 0x57ce7ced, 0xe8b5d266, 0x82a0de19, 0x4749d9bf]),
    (F32, [0xd4c7bcb3, 0x6632da31, 0x88ede734, 0x4f4bea0b, 0x7aaf7106, 0x4749d9bf]),
    (F64, [0x8c6d120e, 0x6632da31, 0xbc23b24b, 0x57d8d9d0, 0x5fe1b96e, 0xf4fcd8bd]),
];

#[test]
fn other_distributions_of_every_dtype() {
    for (kind, expected) in OTHERS {
        let got = [
            hash_sizes(42, |g, n| filled(n, |out| exponential(g, out, kind, 0.7))),
            hash_sizes(42, |g, n| filled(n, |out| geometric(g, out, kind, 0.3))),
            hash_sizes(42, |g, n| filled(n, |out| log_normal(g, out, kind, 0.5, 1.5))),
            hash_sizes(42, |g, n| filled(n, |out| cauchy(g, out, kind, 0.5, 1.5))),
            hash_sizes(42, |g, n| filled(n, |out| random_full(g, out, FullRange::Real(kind)))),
            hash_sizes(42, |g, n| filled(n, |out| bernoulli_tensor(g, out, &ramp(n, kind), kind))),
        ];
        let [got, expected] = [got, expected].map(|hashes| comparable(kind, hashes, &[2, 3]));
        assert_eq!(got, expected, "{kind:?}");
    }
    assert_eq!(hash_sizes(42, |g, n| filled(n, |out| bernoulli_scalar(g, out, 0.3))), 0xd3500227);
}

/// Returns `n` probabilities that rise from 0 in equal steps; their exact values affect no draw here.
fn ramp(n: usize, kind: RealKind) -> Vec<f64> {
    (0..n).map(|i| kind.round(i as f64 / (n - 1).max(1) as f64)).collect()
}

#[test]
fn whole_range_of_integer_dtypes() {
    let expected = [
        (FullRange::Bool, 0x379f6b71),
        (FullRange::U8, 0x2c20ce17),
        (FullRange::I8, 0x7444f46f),
        (FullRange::I16, 0xd63c3165),
        (FullRange::I32, 0xf64df035),
        (FullRange::I64, 0xf4b19801),
    ];
    for (dtype, expected) in expected {
        assert_eq!(hash_sizes(42, |g, n| filled(n, |out| random_full(g, out, dtype))), expected, "{dtype:?}");
    }
}

#[test]
fn randint_takes_more_bits_from_2_to_the_28_on() {
    let expected = [
        (0, 10, [-1, 4, -2]),
        (0, 268_435_455, [209_652_399, 130_329_139, 118_924_923]),
        (0, 268_435_456, [130_329_130, 136_432_827, 195_187_446]),
        (0, 268_435_457, [265_551_854, 112_682_517, 112_664_403]),
        (0, 4_294_967_296, [2_546_248_234, 3_626_093_755, 3_684_848_374]),
        (0, 1_099_511_627_776, [741_280_623_146, 506_137_267_387, 291_447_657_206]),
        (u64::MAX, 10, [-4, 3, 1]),
        (u64::MAX, 268_435_455, [150_890_911, 210_911_518, 160_558_101]),
        (u64::MAX, 268_435_456, [210_911_517, 830_530, 113_049_147]),
        (u64::MAX, 268_435_457, [212_576_005, 116_255_843, 114_918_333]),
        (u64::MAX, 4_294_967_296, [479_346_973, 2_416_749_634, 2_260_532_795]),
        (u64::MAX, 1_099_511_627_776, [700_559_016_221, 53_956_357_186, 775_354_646_075]),
    ];
    for (seed, range, expected) in expected {
        assert_eq!(
            filled(3, |out| random_from_to(&mut seeded(seed), out, -5, range)),
            expected,
            "seed {seed}, range {range}"
        );
    }
    let all = [-8_322_921_849_960_486_353, -5_253_828_890_213_626_688];
    assert_eq!(filled(2, |out| random_from_to(&mut seeded(0), out, i64::MIN, 0)), all);
    let all_but_one = [900_450_186_894_289_455, 3_969_543_146_641_149_120];
    assert_eq!(filled(2, |out| random_from_to(&mut seeded(0), out, i64::MIN, u64::MAX)), all_but_one);
}

#[test]
fn permutations() {
    // randperm(10), and the hash of a randperm(1000) after it.
    let expected = [
        ([4, 1, 7, 5, 3, 9, 0, 8, 6, 2], 0xf92d3727),
        ([5, 6, 1, 2, 0, 8, 9, 3, 7, 4], 0xab5be709),
        ([2, 6, 1, 8, 4, 5, 0, 9, 3, 7], 0xfc585e43),
        ([0, 7, 1, 6, 4, 2, 8, 9, 5, 3], 0xcbc05faa),
        ([5, 0, 3, 4, 1, 7, 9, 6, 8, 2], 0x018d2dbe),
        ([1, 4, 6, 2, 0, 5, 8, 7, 9, 3], 0xeb593ced),
    ];
    for (seed, (ten, thousand)) in SEEDS.into_iter().zip(expected) {
        let mut generator = seeded(seed);
        assert_eq!(randperm(&mut generator, 10), ten, "seed {seed}");
        assert_eq!(hash(randperm(&mut generator, 1000).into_iter().map(Word::word)), thousand, "seed {seed}");
    }
    assert!(randperm(&mut seeded(0), 0).is_empty());
}

/// Returns the generator after randn(1), randn(2, float64), rand(2), randn(16), randn(2, float16), randint(100, (2,))
/// and randn(1) from seed 0. A cached normal number survives all of these calls.
pub(super) fn mixed_stream() -> Generator {
    let mut g = seeded(0);
    assert_eq!(normal(&mut g, 1, F32, 0.0, 1.0, true), [f64::from(1.540_996_1_f32)]);
    assert_eq!(normal(&mut g, 2, F64, 0.0, 1.0, true), [-0.2934289057609464, -2.1787893820745574]);
    assert_eq!(uniform(&mut g, 2, F32, 0.0, 1.0), [0.455627977848053, 0.6323062777519226]);
    assert_eq!(normal(&mut g, 16, F32, 0.0, 1.0, true)[..2], [0.4913049638271332, -0.20410172641277313]);
    assert_eq!(normal(&mut g, 2, F16, 0.0, 1.0, true), [0.568359375, -0.82666015625]);
    assert_eq!(filled(2, |out| random_from_to(&mut g, out, 0, 100)), [81, 12]);
    assert_eq!(normal(&mut g, 1, F32, 0.0, 1.0, true), [-0.7949366569519043]);
    g
}

#[test]
fn remainders_of_floats_are_those_of_integers() {
    let mut generator = seeded(3);
    for bits in 1..=28 {
        for divisor in [(1u32 << bits) - 1, 1 << (bits - 1), (generator.random() % (1 << bits)) | 1] {
            let multiples = [0, 1, u32::MAX / divisor, generator.random() / divisor, generator.random() / divisor];
            let words =
                multiples.iter().flat_map(|k| (0..3).map(move |d| (k * divisor).wrapping_add(d).wrapping_sub(1)));
            for word in words.chain([u32::MAX, generator.random()]) {
                let found = super::discrete::rest(word, f64::from(divisor));
                assert_eq!(i64::from(found), i64::from(word % divisor), "{word} % {divisor}");
            }
        }
    }
}

/// Whole blocks are computed on all cores, wherever the length divides.
#[test]
fn normal_numbers_do_not_depend_on_the_number_of_cores() {
    // At release sizes every length would take minutes. An odd number of blocks meets the bounds of the cores' parts in
    // different ways.
    let step = BLOCK * ((THREAD / 64 / BLOCK) | 1);
    for n in (BLOCK..4 * THREAD).step_by(step).flat_map(|n| [n, n + 5]) {
        let mut expected = vec![0.0_f32; n];
        let mut generator = seeded(3);
        f32::units(&mut generator, &mut expected);
        for part in expected.as_chunks_mut::<BLOCK>().0 {
            vectorised_kernel(Normal { part, mean: 1.0, std: 2.0 });
        }
        if let (false, Some(last)) = (n.is_multiple_of(BLOCK), expected.last_chunk_mut::<BLOCK>()) {
            f32::units(&mut generator, last);
            f32::box_muller(last, 1.0, 2.0, false);
        }
        for cores in [1, 2, 3, 7] {
            parallel::set_cores(cores);
            let made = filled(n, |out: &mut [f32]| normal_into(&mut seeded(3), out, 1.0, 2.0, true));
            assert!(made == expected, "{n} numbers on {cores} cores");
        }
    }
    parallel::set_cores(0);
}
