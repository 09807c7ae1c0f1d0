//! Compares our numbers and messages with NumPy's. Tables hold what NumPy 2.4.6 gave: the first words, a hash of all
//! of them, and the bit generator's next word.

use super::bounded::{IntegerType, Integers, bytes, tomaxint};
use super::mt19937::Mt19937;
use super::pcg64::Pcg64;
use super::philox::Philox;
use super::table::{Argument, Number};
use super::{
    Api, BitGenerator, Cache, Distribution, SeedSequence, Source, binomial, bit_generator, check, choose, generator,
    hypergeometric, legacy, seed_sequence, ziggurat,
};
use tensor::ops::BY_GLIBC;

fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3))
}

fn api(letter: &str) -> Api {
    if letter == "L" { Api::RandomState } else { Api::Generator }
}

fn seeded(api: Api, seed: u128) -> Box<dyn BitGenerator> {
    match api {
        Api::RandomState => Box::new(Mt19937::from_legacy_seed(seed as u32)),
        Api::Generator => Box::new(Pcg64::new(&SeedSequence::new(&seed_sequence::integer_words(&seed.to_le_bytes())))),
    }
}

/// Compares the first words, a hash of all of them where glibc computes functions, and the generator's next word.
fn compare(words: &[u64], first: &str, whole: &str, bits: &mut dyn BitGenerator, next: &str) -> Result<(), String> {
    // The NaN that x86 makes. ARM makes a positive one.
    let made = std::hint::black_box(f64::INFINITY) * 0.0;
    let first = &first.replace("fff8000000000000", &format!("{:x}", made.to_bits()));
    let start: Vec<String> = words.iter().take(4).map(|word| format!("{word:x}")).collect();
    let (start, all, after) = (start.join(" "), format!("{:x}", hash(words)), format!("{:x}", bits.next_raw()));
    if (start.as_str(), after.as_str()) == (first, next) && (all == whole || !BY_GLIBC) {
        return Ok(());
    }
    Err(format!("{start} ({all}), then {after}; NumPy: {first} ({whole}), then {next}"))
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn distributions() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/draws.txt").lines() {
        let [letter, seed, name, arguments, first, whole, next] = *line.split('|').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let api = api(letter);
        let distribution = Distribution::find(api, name).unwrap();
        let mut bits = seeded(api, seed.parse().unwrap());
        let mut cache = Cache::default();
        let values: Vec<f64> = arguments.split(',').filter_map(|text| text.parse().ok()).collect();
        let slices: Vec<&[f64]> = values.chunks(1).collect();
        distribution.check(api, &slices, true).unwrap();
        let arguments: Vec<Argument> = (distribution.parameters.iter().zip(&values))
            .map(|(p, value)| if p.integer { Argument::Integer(*value as i64) } else { Argument::Real(*value) })
            .collect();
        let words: Vec<u64> = (0..3000)
            .map(|index| {
                // Restoring the states in the middle must change nothing.
                if index == 7 {
                    let (state, cached) = (bits.state(), cache.state());
                    bits = seeded(api, 0);
                    bits.restore(&state).unwrap();
                    cache = Cache::default();
                    cache.restore(&cached).unwrap();
                }
                match distribution.draw(&mut Source::new(&mut *bits, &mut cache), &arguments) {
                    Number::Real(number) => number.to_bits(),
                    Number::Integer(number) => number as u64,
                }
            })
            .collect();
        if let Err(text) = compare(&words, first, whole, &mut *bits, next) {
            wrong.push(format!("{letter} {name} {values:?}: {text}"));
        }
    }
    report(wrong);
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split(',').filter_map(|text| text.parse().ok()).collect()
}

/// Splits a decimal integer of any size into 32-bit words.
fn words_of(decimal: &str) -> Vec<u32> {
    let mut bytes = vec![0_u8; 64];
    for digit in decimal.bytes() {
        let mut carry = u32::from(digit - b'0');
        for byte in &mut bytes {
            let value = u32::from(*byte) * 10 + carry;
            *byte = value as u8;
            carry = value >> 8;
        }
    }
    seed_sequence::integer_words(&bytes)
}

/// The numbers of one line, and the generator after them.
fn draw(kind: &str, api: Api, seed: u128, text: &str) -> (Vec<u64>, Box<dyn BitGenerator>) {
    let mut bits = seeded(api, seed);
    let mut cache = Cache::default();
    let ints = |items: Vec<i64>| items.into_iter().map(|item| item as u64).collect::<Vec<u64>>();
    let head: Vec<usize> = numbers(text);
    let tail: Vec<f64> = numbers(text.split_once(',').map_or("", |(_, rest)| rest));
    let legacy_api = api == Api::RandomState;
    let b = &mut *bits;
    let words = match kind {
        "integers" => {
            let fields: Vec<&str> = text.split(',').collect();
            let kind = IntegerType::from_name(fields[0]).unwrap();
            let (low, high): (i128, i128) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
            kind.check(&[low], &[high], false).unwrap();
            let mut integers = if legacy_api { Integers::legacy(kind) } else { Integers::new(kind) };
            (0..fields[3].parse().unwrap()).map(|_| integers.draw(b, low, high - 1) as u64).collect()
        }
        "permutation" => ints(choose::permutation(b, head[0]).unwrap()),
        "choice" => ints(choose::with_replacement(b, api, head[0], head[1]).unwrap()),
        "sample" if legacy_api => ints(choose::legacy_without_replacement(b, head[0], head[1]).unwrap()),
        "sample" => ints(choose::without_replacement(b, head[0], head[1], true).unwrap()),
        "unshuffled" => ints(choose::without_replacement(b, head[0], head[1], false).unwrap()),
        "weighted" => {
            choose::check_chances(api, &tail, tail.len(), f64::EPSILON).unwrap();
            ints(choose::weighted(b, &tail, head[0]).unwrap())
        }
        "weightedsample" => ints(choose::weighted_without_replacement(b, &tail, head[0]).unwrap()),
        "bytes" => bytes(b, head[0]).unwrap().into_iter().map(u64::from).collect(),
        "multinomial" | "cachedmultinomial" => {
            let source = &mut Source::new(b, &mut cache);
            let n = head[0] as i64;
            if kind == "cachedmultinomial" {
                let first = if legacy_api { binomial::legacy_binomial } else { binomial::binomial };
                first(source, n, tail[0]);
            }
            let mut counts = vec![0; tail.len()];
            let rows = (0..50).flat_map(|_| {
                binomial::multinomial(source, n, &tail, &mut counts);
                counts.clone()
            });
            ints(rows.collect())
        }
        "dirichlet" => {
            let source = &mut Source::new(b, &mut cache);
            let alpha: Vec<f64> = numbers(text);
            let mut row = vec![0.0; alpha.len()];
            let rows = (0..50).flat_map(|_| {
                let fill = if legacy_api { legacy::dirichlet } else { generator::dirichlet };
                fill(source, &alpha, &mut row);
                row.clone()
            });
            rows.map(f64::to_bits).collect()
        }
        "normal" => {
            let source = &mut Source::new(b, &mut cache);
            let normal = if legacy_api { legacy::normal } else { generator::normal };
            (0..5).map(|_| normal(source, 0.0, 1.0).to_bits()).collect()
        }
        "count" | "marginals" => {
            let source = &mut Source::new(b, &mut cache);
            let colors: Vec<i64> = tail.iter().map(|count| *count as i64).collect();
            let mut counts = vec![0; colors.len()];
            let mut urn = hypergeometric::Urn::new(&colors).unwrap();
            let rows = (0..30).flat_map(|_| {
                if kind == "count" {
                    urn.draw(source, &colors, head[0] as i64, &mut counts);
                } else {
                    hypergeometric::by_marginals(source, &colors, head[0] as i64, &mut counts);
                }
                counts.clone()
            });
            ints(rows.collect())
        }
        "f32random" => (0..head[0]).map(|_| b.next_float().to_bits().into()).collect(),
        "f32standard_normal" => (0..head[0]).map(|_| ziggurat::standard_normal_f32(b).to_bits().into()).collect(),
        "f32standard_exponential" => {
            (0..head[0]).map(|_| ziggurat::standard_exponential_f32(b).to_bits().into()).collect()
        }
        "f32inv" => (0..head[0]).map(|_| ziggurat::inverse_exponential_f32(b).to_bits().into()).collect(),
        "inv" => (0..head[0]).map(|_| ziggurat::inverse_exponential(b).to_bits()).collect(),
        "longstandard_normal" => (0..head[0]).map(|_| ziggurat::standard_normal(b).to_bits()).collect(),
        "longstandard_exponential" => (0..head[0]).map(|_| ziggurat::standard_exponential(b).to_bits()).collect(),
        "f32gamma" => {
            let source = &mut Source::new(b, &mut cache);
            let shape = tail[0] as f32;
            (0..head[0]).map(|_| generator::standard_gamma_f32(source, shape).to_bits().into()).collect()
        }
        "tomaxint" => (0..head[0]).map(|_| tomaxint(b) as u64).collect(),
        "seeds" => {
            bits = Box::new(Mt19937::from_legacy_seeds(&numbers::<u32>(text)).unwrap());
            (0..700).map(|_| bits.next_double().to_bits()).collect()
        }
        "bits" => {
            let (name, seed) = text.split_once(',').unwrap();
            bits = bit_generator(name, &SeedSequence::new(&words_of(seed))).unwrap();
            let b = &mut *bits;
            let single = |b: &mut dyn BitGenerator| f64::from(b.next_float()).to_bits();
            let mut words = vec![b.next_double().to_bits(), single(b), b.next_double().to_bits(), single(b), single(b)];
            let state = b.state();
            let mut other = bit_generator(name, &SeedSequence::new(&[0])).unwrap();
            other.restore(&state).unwrap();
            words.extend((0..700).map(|_| other.next_raw()));
            bits = other;
            words
        }
        "advance" | "jumped" => {
            let (name, distance) = text.split_once(',').unwrap();
            let distance: u128 = distance.parse().unwrap();
            bits = bit_generator(name, &SeedSequence::new(&seed_sequence::integer_words(&seed.to_le_bytes()))).unwrap();
            if let Some(pcg) = bits.as_any_mut().downcast_mut::<Pcg64>() {
                if kind == "advance" { pcg.advance(distance) } else { *pcg = pcg.jumped(distance) }
            } else if let Some(philox) = bits.as_any_mut().downcast_mut::<Philox>() {
                let low = [distance as u64, (distance >> 64) as u64, 0, 0];
                if kind == "advance" { philox.advance(low) } else { *philox = philox.jumped(distance) }
            }
            (0..5).map(|_| bits.next_double().to_bits()).collect()
        }
        "twisted" => {
            let mut twister =
                Mt19937::from_sequence(&SeedSequence::new(&seed_sequence::integer_words(&seed.to_le_bytes())));
            (0..head[0]).for_each(|_| _ = twister.next_u32());
            bits = Box::new(twister.jumped(2));
            (0..700).map(|_| bits.next_double().to_bits()).collect()
        }
        "mixed" => text.split(' ').flat_map(|name| mixed(name, api, b, &mut cache)).collect(),
        "sequence" => {
            let entropy: Vec<u32> = text.split(',').flat_map(words_of).collect();
            bits = Box::new(Pcg64::new(&SeedSequence::new(&entropy)));
            (0..5).map(|_| bits.next_double().to_bits()).collect()
        }
        "spawned" => {
            // The first child of the fourth child.
            let child = SeedSequence::with_options(&words_of(text), &[3, 0], 4).unwrap();
            bits = Box::new(Pcg64::new(&child));
            (0..5).map(|_| bits.next_double().to_bits()).collect()
        }
        _ => panic!("{kind}"),
    };
    (words, bits)
}

/// One call of several in a row, which share the generator and the cache.
fn mixed(name: &str, api: Api, bits: &mut dyn BitGenerator, cache: &mut Cache) -> Vec<u64> {
    let drawn =
        |bits: &mut dyn BitGenerator, cache: &mut Cache, arguments: &[Argument]| match Distribution::find(api, name)
            .unwrap()
            .draw(&mut Source::new(bits, cache), arguments)
        {
            Number::Real(number) => number.to_bits(),
            Number::Integer(number) => number as u64,
        };
    let integers = |kind, bits: &mut dyn BitGenerator, high: i128| {
        let mut integers = if api == Api::RandomState { Integers::legacy(kind) } else { Integers::new(kind) };
        (0..3).map(|_| integers.draw(bits, 0, high - 1) as u64).collect::<Vec<u64>>()
    };
    let items = match name {
        "random" => return vec![drawn(bits, cache, &[])],
        "normal" => return vec![drawn(bits, cache, &[Argument::Real(0.0), Argument::Real(2.0)])],
        "binomial" => {
            return (0..3).map(|_| drawn(bits, cache, &[Argument::Integer(10), Argument::Real(0.5)])).collect();
        }
        "exponential" => return vec![drawn(bits, cache, &[Argument::Real(1.0)])],
        "gamma" => return vec![drawn(bits, cache, &[Argument::Real(2.5), Argument::Real(1.0)])],
        "integers" => return integers(IntegerType::Int64, bits, 9),
        "small" => return integers(IntegerType::Uint8, bits, 200),
        "single" if api == Api::RandomState => return vec![bits.next_double().to_bits()],
        "single" => return vec![f64::from(bits.next_float()).to_bits()],
        "permutation" => choose::permutation(bits, 5),
        "choice" => choose::with_replacement(bits, api, 7, 3),
        "sample" if api == Api::RandomState => choose::legacy_without_replacement(bits, 6, 3),
        _ => choose::without_replacement(bits, 6, 3, true),
    };
    items.unwrap().into_iter().map(|item| item as u64).collect()
}

#[test]
fn everything_else() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/other.txt").lines() {
        let [kind, letter, seed, text, first, whole, next] = *line.split('|').collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let (words, mut bits) = draw(kind, api(letter), seed.parse().unwrap(), text);
        if let Err(difference) = compare(&words, first, whole, &mut *bits, next) {
            wrong.push(format!("{kind} {letter} {text}: {difference}"));
        }
    }
    report(wrong);
}

fn said(outcome: tensor::Result<()>) -> String {
    outcome.map_or_else(|error| format!("{}: {}", error.kind.name(), error.message), |()| "fine".to_owned())
}

fn choice(api: Api, text: &str) -> tensor::Result<()> {
    let fields: Vec<&str> = text.split(';').collect();
    let sized = fields[0] == "empty";
    let population: i128 = fields[0].parse().unwrap_or(0);
    let samples = fields[1].parse().unwrap();
    let chances: Vec<f64> = fields[3].split(',').filter_map(|text| text.parse().ok()).collect();
    let chances = if fields[3].is_empty() { None } else { Some(&chances[..]) };
    choose::check_population(api, population, sized, samples)?;
    if let Some(chances) = chances {
        choose::check_chances(api, chances, population as usize, f64::EPSILON)?;
    }
    if fields[2] == "False" { choose::check_sample(api, population as usize, samples, chances) } else { Ok(()) }
}

#[test]
fn messages() {
    let mut wrong = Vec::new();
    for line in include_str!("tests/errors.txt").lines() {
        let [letter, name, kind, text, expected] = *line.splitn(5, '|').collect::<Vec<_>>() else { panic!("{line}") };
        let api = if letter == "L" { Api::RandomState } else { Api::Generator };
        let outcome = if let Some(integer) = IntegerType::from_name(name) {
            let bounds: Vec<i128> = text.split(',').map(|text| text.parse().unwrap()).collect();
            let (lows, highs) = bounds.split_at(bounds.len() / 2);
            integer.check(lows, highs, kind == "closed")
        } else if name == "choice" {
            choice(api, text)
        } else if let Some(rest) = name.strip_prefix("multinomial") {
            let values: Vec<f64> = text.split(';').filter_map(|text| text.parse().ok()).collect();
            let narrow = (kind == "32").then(|| values[1..].iter().map(|value| *value as f32).sum::<f32>().into());
            check::multinomial(api, &values[..1], &values[1..], values.len() - 1, 1 + rest.len(), narrow)
        } else if name == "dirichlet" {
            check::dirichlet(api, &text.split(',').map(|text| text.parse().unwrap()).collect::<Vec<f64>>())
        } else if name == "colors" {
            let (sample, rest) = text.split_once(';').unwrap();
            let fields = rest.split(';').filter(|text| !text.is_empty());
            let colors: Option<Vec<i64>> = fields.map(|text| text.parse().ok()).collect();
            check::colors(kind, sample.parse().unwrap(), colors.as_deref())
        } else {
            let values: Vec<f64> = text.split(',').map(|text| text.parse().unwrap()).collect();
            let slices: Vec<&[f64]> = values.chunks(1).collect();
            Distribution::find(api, name).unwrap().check(api, &slices, kind == "scalar")
        };
        let outcome = said(outcome);
        if outcome != expected {
            wrong.push(format!("{line}\n   ours: {outcome}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `np.random.seed(5)` and three calls, then the same numbers from a restored state.
#[test]
fn undo_restores_the_cached_normal() {
    let mut bits = Mt19937::from_legacy_seed(5);
    let mut cache = Cache::default();
    let first = legacy::standard_normal(&mut Source::new(&mut bits, &mut cache));
    assert_eq!(first, 0.44122748688504143);
    let (bits_before, cache_before) = (bits.state(), cache.state());
    let second = legacy::standard_normal(&mut Source::new(&mut bits, &mut cache));
    assert_eq!(second, -0.33087015189408764);
    bits.restore(&bits_before).unwrap();
    cache.restore(&cache_before).unwrap();
    assert_eq!(legacy::standard_normal(&mut Source::new(&mut bits, &mut cache)), second);
    assert!(bits.restore(&bits_before[1..]).is_err());
}
