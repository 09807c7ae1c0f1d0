//! `_random`: the generator of Python's `random`, the Mersenne Twister of 1997 with the seeding of 2002.

use call::{Row, function};
use num_bigint::{BigInt, BigUint, Sign};
use objects::calling::NativeFunction;
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Result, bail};
use value::{Object, Value};

pub(in crate::library) const ROWS: &[Row] = &[function(
    "_random._twister() -> any",
    |_| Ok(Value::Object(Rc::new(Generator(Rc::new(RefCell::new(Twister::of(19_650_218))))))),
    "Returns a generator with the methods seed, random, getrandbits, state and set_state.",
)];

const SIZE: usize = 624;

struct Twister {
    state: [u32; SIZE],
    next: usize,
}

impl Twister {
    fn of(seed: u32) -> Twister {
        let mut state = [seed; SIZE];
        let mut last = seed;
        for (i, word) in state.iter_mut().enumerate().skip(1) {
            last = 1_812_433_253u32.wrapping_mul(last ^ last >> 30).wrapping_add(i as u32);
            *word = last;
        }
        Twister { state, next: SIZE }
    }

    fn word(&self, at: usize) -> u32 {
        self.state.get(at % SIZE).copied().unwrap_or_default()
    }

    fn set(&mut self, at: usize, word: u32) {
        if let Some(held) = self.state.get_mut(at) {
            *held = word;
        }
    }

    fn seed(&mut self, key: &[u32]) {
        *self = Twister::of(19_650_218);
        let (mut i, mut j) = (1, 0);
        let before = |this: &Twister, i: usize| {
            let last = this.word(i + SIZE - 1);
            last ^ last >> 30
        };
        for _ in 0..SIZE.max(key.len()) {
            let mixed = self.word(i) ^ before(self, i).wrapping_mul(1_664_525);
            self.set(i, mixed.wrapping_add(key.get(j).copied().unwrap_or_default()).wrapping_add(j as u32));
            (i, j) = (i + 1, (j + 1) % key.len().max(1));
            if i == SIZE {
                self.set(0, self.word(SIZE - 1));
                i = 1;
            }
        }
        for _ in 1..SIZE {
            let mixed = self.word(i) ^ before(self, i).wrapping_mul(1_566_083_941);
            self.set(i, mixed.wrapping_sub(i as u32));
            i += 1;
            if i == SIZE {
                self.set(0, self.word(SIZE - 1));
                i = 1;
            }
        }
        self.set(0, 0x8000_0000);
    }

    fn next(&mut self) -> u32 {
        if self.next >= SIZE {
            for i in 0..SIZE {
                let y = self.word(i) & 0x8000_0000 | self.word(i + 1) & 0x7fff_ffff;
                let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.set(i, self.word(i + 397) ^ y >> 1 ^ odd);
            }
            self.next = 0;
        }
        let mut y = self.word(self.next);
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }
}

struct Generator(Rc<RefCell<Twister>>);

impl Object for Generator {
    fn class_name(&self) -> &'static str {
        "_random._Twister"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let twister = self.0.clone();
        let method = |run: fn(&mut Twister, &[Value]) -> Result<Value>| {
            NativeFunction::value(name, move |args, _| run(&mut twister.borrow_mut(), &args))
        };
        Some(match name {
            "random" => method(|twister, _| {
                let (high, low) = (twister.next() >> 5, twister.next() >> 6);
                Ok(Value::Float((f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0))
            }),
            "getrandbits" => method(|twister, args| match args {
                [Value::Int(bits @ 0..=100_000_000)] => Ok(Value::from(bits_of(twister, *bits as u64))),
                [Value::Int(..0)] => bail!(ValueError, "number of bits must be non-negative"),
                _ => bail!(TypeError, "the number of bits must be an integer below 100000000"),
            }),
            "seed" => method(|twister, args| {
                let key = args.first().and_then(value::numbers::integer).map(|key| key.magnitude().to_u32_digits());
                let key = key.unwrap_or_default();
                twister.seed(if key.is_empty() { &[0] } else { &key });
                Ok(Value::None)
            }),
            "state" => method(|twister, _| {
                let words = twister.state.iter().map(|word| Value::Int(i64::from(*word)));
                Ok(Value::tuple(words.chain([Value::Int(twister.next as i64)])))
            }),
            "set_state" => method(|twister, args| {
                let given = args.first().and_then(Value::sequence).unwrap_or_default();
                let words: Vec<u32> = given
                    .iter()
                    .filter_map(|word| if let Value::Int(word) = word { u32::try_from(*word).ok() } else { None })
                    .collect();
                let Some((next, words)) = words.split_last().filter(|_| words.len() == SIZE + 1) else {
                    bail!(ValueError, "state vector is the wrong size")
                };
                if *next as usize > SIZE {
                    bail!(ValueError, "invalid state");
                }
                twister.state.copy_from_slice(words);
                twister.next = *next as usize;
                Ok(Value::None)
            }),
            _ => return None,
        })
    }
}

/// Returns a number of random bits, the first word lowest.
fn bits_of(twister: &mut Twister, bits: u64) -> BigInt {
    let mut rest = bits;
    let mut words = Vec::new();
    while rest > 0 {
        let word = twister.next();
        words.push(if rest < 32 { word >> (32 - rest) } else { word });
        rest = rest.saturating_sub(32);
    }
    BigInt::from_biguint(Sign::Plus, BigUint::new(words))
}
