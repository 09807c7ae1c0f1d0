//! NumPy's random numbers, bit for bit: `np.random.*`, `RandomState`, `default_rng` and `Generator`.
//!
//! Most files here draw numbers and check parameters. The object layer on top of them consists of `classes` (objects and
//! members of `numpy.random`), `state` (bit generators), `seeds`, `arguments` (names, sizes, broadcasting) and the methods
//! in `methods`, `integers`, `items` and `vectors`. It keeps a [`BitGenerator`] for each bit generator object, and a
//! [`Cache`] for each `RandomState` and `Generator`, because several of these can share one bit generator. `state()` of
//! both is a byte block of constant length, which undo restores.
//!
//! # Seeds
//!
//! | Python | here |
//! | --- | --- |
//! | `np.random.seed(5)`, `RandomState(5)` | [`Mt19937::from_legacy_seed`](mt19937::Mt19937::from_legacy_seed), then [`Cache::reset_gauss`] |
//! | `np.random.seed([1, 2])` | [`Mt19937::from_legacy_seeds`](mt19937::Mt19937::from_legacy_seeds) |
//! | `RandomState()`, `seed(None)` | the same as seed 0; NumPy asks the system for entropy |
//! | `default_rng(5)`, `PCG64(5)`, `SeedSequence(5)` | [`SeedSequence::new`] of [`integer_words`](seed_sequence::integer_words), [`bit_generator`] |
//! | `default_rng([1, 2])` | the same, with the words of all integers one after the other |
//! | `rng.spawn(2)` | [`SeedSequence::with_options`]: the spawn key grows by the number of the child |
//!
//! `MT19937(5)` and `RandomState(5)` differ: only the latter seeds in the legacy way. `RandomState(bit_generator)` draws
//! legacy distributions from any bit generator, `Generator(MT19937(5))` draws new ones from the twister.
//!
//! # Methods
//!
//! | Python | here |
//! | --- | --- |
//! | distributions with parameters that are numbers or arrays | [`Distribution::find`], [`check`](Distribution::check), [`draw`](Distribution::draw) |
//! | `rand`, `random_sample`, `ranf`, `sample`; `randn` | distribution `random`; `standard_normal` |
//! | `random`, `standard_normal`, `standard_exponential` of `Generator` with `dtype=np.float32` or `method='inv'` | [`next_float`](BitGenerator::next_float), [`ziggurat`] |
//! | `standard_gamma(dtype=np.float32)` | [`generator::standard_gamma_f32`] |
//! | `randint`, `integers` | [`IntegerType::check`](bounded::IntegerType::check), then one [`Integers`](bounded::Integers) for the whole call |
//! | `random_integers(low, high)` | `randint(low, high + 1)`; `tomaxint` is [`bounded::tomaxint`] |
//! | `bytes` | [`bounded::bytes`] |
//! | `shuffle` | [`choose::Swaps`] |
//! | `permutation`, of a number or of the indices of an array's rows | [`choose::permutation`] |
//! | `permuted(axis=…)` | [`choose::Swaps`] for each line along the axis; without `axis`, for all elements |
//! | `choice` | [`choose::check_population`], [`check_chances`](choose::check_chances) if there is `p`, [`check_sample`](choose::check_sample) if without replacement; then one of [`with_replacement`](choose::with_replacement), [`weighted`](choose::weighted), [`weighted_without_replacement`](choose::weighted_without_replacement), [`legacy_without_replacement`](choose::legacy_without_replacement), [`without_replacement`](choose::without_replacement) |
//! | `multinomial` | [`check::multinomial`], then [`binomial::multinomial`] for each row, in both classes |
//! | `dirichlet` | [`check::dirichlet`], then [`legacy::dirichlet`] or [`generator::dirichlet`] for each row |
//! | `multivariate_hypergeometric` | [`check::colors`], then [`hypergeometric::by_marginals`] for each row, or one [`hypergeometric::Urn`] for the call |
//! | `multivariate_normal` | `standard_normal` for all elements; the factor is linear algebra |
//! | `random_raw` | [`next_raw`](BitGenerator::next_raw) |
//! | `advance`, `jumped`, `state` | methods and fields of [`Pcg64`](pcg64::Pcg64), [`Mt19937`](mt19937::Mt19937), [`Philox`](philox::Philox), [`Sfc64`](sfc64::Sfc64), reached by [`as_any_mut`](BitGenerator::as_any_mut) |
//!
//! # Order
//!
//! Parameters are checked before anything is drawn. Elements are drawn in C order of the result, each with the
//! parameters broadcast to its place, and each with as many bits as it takes. So `normal(size=4)` equals four calls of
//! `normal()`. Only [`Integers`](bounded::Integers) of at most 16 bits differ: they waste the rest of a word at the end
//! of a call. A result without elements draws nothing; `randint` and `integers` do not even check bounds then.
//!
//! Without `size`, and if all parameters are 0-d, results are Python's `float` and `int`. Exceptions: `integers` returns
//! its dtype's scalar unless `dtype` is `int` or `bool` itself, and so does `randint` for any `dtype` but those (its
//! default is `int`). `choice` returns an `int` if `a` is a number, else an item.
//!
//! # `RandomState` and `Generator`
//!
//! * Normal numbers: polar method with a cached second number, against ziggurat. So all that builds on them differs.
//! * Exponential numbers: `-log(1 - u)`, against ziggurat.
//! * Integers: masked rejection, against Lemire's method. Shuffles mask in both.
//! * `choice(replace=False)`: the start of a permutation, against Floyd's algorithm or a partial shuffle.
//! * `binomial`, `geometric`, `zipf`, `logseries`, `hypergeometric`, `wald`, `vonmises`: alike, but rounded differently.
//! * Alike: `random`, `uniform`, `laplace`, `gumbel`, `logistic`, `triangular`, `poisson`, `multinomial`, `shuffle`.
//! * Messages of errors differ; see [`Distribution::check`] and [`choose`].
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod arguments;
mod binomial;
mod bits;
mod bounded;
mod check;
mod choose;
mod classes;
mod common;
mod generator;
mod hypergeometric;
mod integers;
mod items;
mod jump;
mod legacy;
mod logarithms;
mod methods;
mod mt19937;
mod pcg64;
mod philox;
mod seed_sequence;
mod seeds;
mod sfc64;
mod source;
mod state;
mod table;
mod tables;
mod vectors;
mod ziggurat;

use bits::BitGenerator;
use choose::Api;
use seed_sequence::SeedSequence;
use source::{Cache, Source};
use table::Distribution;

pub(crate) use classes::{construct, member, names};

/// Makes the bit generator of that class, seeded by a sequence, or `None` if there is no such class.
fn bit_generator(name: &str, sequence: &SeedSequence) -> Option<Box<dyn BitGenerator>> {
    Some(match name {
        "MT19937" => Box::new(mt19937::Mt19937::from_sequence(sequence)),
        "PCG64" => Box::new(pcg64::Pcg64::new(sequence)),
        "PCG64DXSM" => Box::new(pcg64::Pcg64::new_dxsm(sequence)),
        "Philox" => Box::new(philox::Philox::new(sequence)),
        "SFC64" => Box::new(sfc64::Sfc64::new(sequence)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
