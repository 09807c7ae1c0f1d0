//! Decodes a stream of LZMA, as far as its reader wants. The names are those of the format's description, by Igor Pavlov.

/// The state of the range decoder, small enough for registers.
#[derive(Clone, Copy)]
struct Bits {
    packed: &'static [u8],
    at: usize,
    range: u32,
    code: u32,
}

/// A probability in units of 1/2048 that a bit is 0.
type Probability = u16;

const EVEN: Probability = 1024;

impl Bits {
    /// Reads the next byte; what follows the end is zeros. The caller compares `at` with the length.
    #[inline(always)]
    fn byte(&mut self) -> u32 {
        let byte = self.packed.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        u32::from(byte)
    }

    #[inline(always)]
    fn refill(&mut self) {
        if self.range < 1 << 24 {
            self.range <<= 8;
            self.code = self.code << 8 | self.byte();
        }
    }

    #[inline(always)]
    fn bit(&mut self, probability: &mut Probability) -> usize {
        let bound = (self.range >> 11) * u32::from(*probability);
        let bit = if self.code < bound {
            self.range = bound;
            *probability += (2048 - *probability) >> 5;
            0
        } else {
            self.range -= bound;
            self.code -= bound;
            *probability -= *probability >> 5;
            1
        };
        self.refill();
        bit
    }

    /// Reads bits without probabilities, the highest first.
    fn direct(&mut self, count: usize) -> usize {
        let mut value = 0;
        for _ in 0..count {
            self.range >>= 1;
            let is_set = self.code >= self.range;
            if is_set {
                self.code -= self.range;
            }
            self.refill();
            value = value << 1 | usize::from(is_set);
        }
        value
    }

    /// Reads the bits of a tree, the highest first.
    #[inline(always)]
    fn tree<const N: usize>(&mut self, tree: &mut [Probability; N]) -> usize {
        let mut node = 1;
        while node < N {
            node = node << 1 | self.bit(&mut tree[node]);
        }
        node - N
    }

    /// Reads the bits of a tree, the lowest first.
    fn reversed(&mut self, tree: &mut [Probability], count: usize) -> usize {
        let (mut node, mut value) = (1, 0);
        for i in 0..count {
            let bit = self.bit(&mut tree[node]);
            node = node << 1 | bit;
            value |= bit << i;
        }
        value
    }
}

/// The lengths of matches.
struct Lengths {
    choices: [Probability; 2],
    low: [[Probability; 8]; 16],
    middle: [[Probability; 8]; 16],
    high: [Probability; 256],
}

impl Lengths {
    const NEW: Lengths =
        Lengths { choices: [EVEN; 2], low: [[EVEN; 8]; 16], middle: [[EVEN; 8]; 16], high: [EVEN; 256] };

    /// Reads a length, less 2.
    #[inline(always)]
    fn read(&mut self, bits: &mut Bits, place: usize) -> usize {
        if bits.bit(&mut self.choices[0]) == 0 {
            bits.tree(&mut self.low[place])
        } else if bits.bit(&mut self.choices[1]) == 0 {
            8 + bits.tree(&mut self.middle[place])
        } else {
            16 + bits.tree(&mut self.high)
        }
    }
}

pub(crate) struct Lzma {
    bits: Bits,
    /// How many bits of the byte before select the probabilities of a literal, …
    before_bits: usize,
    /// … which bits of the position do, and which ones select those of a match.
    literal_places: usize,
    places: usize,
    literals: Vec<[Probability; 768]>,
    is_match: [[Probability; 16]; 12],
    is_repeat: [Probability; 12],
    is_older: [Probability; 12],
    is_much_older: [Probability; 12],
    is_oldest: [Probability; 12],
    is_long: [[Probability; 16]; 12],
    slots: [[Probability; 64]; 4],
    distances: [Probability; 128],
    aligned: [Probability; 16],
    lengths: Lengths,
    repeat_lengths: Lengths,
    state: usize,
    /// The last four distances, less 1.
    last: [usize; 4],
    unpacked: Vec<u8>,
    nbytes: usize,
}

impl Lzma {
    /// Begins a stream of `nbytes` unpacked bytes. `properties` is the first byte of an LZMA file.
    pub(crate) fn new(properties: u8, packed: &'static [u8], nbytes: usize) -> Lzma {
        let properties = usize::from(properties);
        let (before_bits, literal_bits, place_bits) = (properties % 9, properties / 9 % 5, properties / 45 % 5);
        let mut bits = Bits { packed, at: 1, range: u32::MAX, code: 0 };
        for _ in 0..4 {
            bits.code = bits.code << 8 | bits.byte();
        }
        Lzma {
            bits,
            before_bits,
            literal_places: (1 << literal_bits) - 1,
            places: (1 << place_bits) - 1,
            literals: vec![[EVEN; 768]; 1 << (before_bits + literal_bits)],
            is_match: [[EVEN; 16]; 12],
            is_repeat: [EVEN; 12],
            is_older: [EVEN; 12],
            is_much_older: [EVEN; 12],
            is_oldest: [EVEN; 12],
            is_long: [[EVEN; 16]; 12],
            slots: [[EVEN; 64]; 4],
            distances: [EVEN; 128],
            aligned: [EVEN; 16],
            lengths: Lengths::NEW,
            repeat_lengths: Lengths::NEW,
            state: 0,
            last: [0; 4],
            unpacked: Vec::with_capacity(nbytes),
            nbytes,
        }
    }

    /// The bytes that are unpacked.
    #[inline(always)]
    pub(crate) fn unpacked(&self) -> &[u8] {
        &self.unpacked
    }

    /// Unpacks up to `wanted` bytes, or a few more. Returns whether it has that many; it does not if the stream has
    /// ended or is damaged.
    #[inline(never)]
    pub(crate) fn unpack(&mut self, wanted: usize) -> bool {
        let end = wanted.min(self.nbytes);
        let mut bits = self.bits;
        while self.unpacked.len() < end && self.next(&mut bits).is_some() {}
        self.bits = bits;
        self.unpacked.len() >= wanted && bits.at <= bits.packed.len()
    }

    /// Unpacks a literal or a match. Returns `None` if it is damaged.
    #[inline(always)]
    fn next(&mut self, bits: &mut Bits) -> Option<()> {
        let state = self.state;
        let place = self.unpacked.len() & self.places;
        if bits.bit(&mut self.is_match[state][place]) == 0 {
            self.literal(bits);
            return Some(());
        }
        let length;
        if bits.bit(&mut self.is_repeat[state]) == 0 {
            length = self.lengths.read(bits, place);
            let distance = self.distance(bits, length);
            self.last = [distance, self.last[0], self.last[1], self.last[2]];
            self.state = if state < 7 { 7 } else { 10 };
        } else {
            if bits.bit(&mut self.is_older[state]) == 0 {
                if bits.bit(&mut self.is_long[state][place]) == 0 {
                    self.state = if state < 7 { 9 } else { 11 };
                    return self.copy(1);
                }
            } else {
                let older = match bits.bit(&mut self.is_much_older[state]) {
                    0 => 1,
                    _ => 2 + bits.bit(&mut self.is_oldest[state]),
                };
                self.last[..=older].rotate_right(1);
            }
            length = self.repeat_lengths.read(bits, place);
            self.state = if state < 7 { 8 } else { 11 };
        }
        self.copy(length + 2)
    }

    #[inline(always)]
    fn literal(&mut self, bits: &mut Bits) {
        let count = self.unpacked.len();
        let before = usize::from(self.unpacked.last().copied().unwrap_or(0));
        let context = (count & self.literal_places) << self.before_bits | before >> (8 - self.before_bits);
        let literals = &mut self.literals[context];
        let mut node = 1;
        // After a match, the byte that would have continued it is a bad guess, but a good context.
        if self.state >= 7 {
            let mut expected = count.checked_sub(self.last[0] + 1).map_or(0, |from| usize::from(self.unpacked[from]));
            while node < 256 {
                expected <<= 1;
                let guess = expected & 256;
                let bit = bits.bit(&mut literals[256 + guess + node]);
                node = node << 1 | bit;
                if guess != bit << 8 {
                    break;
                }
            }
        }
        while node < 256 {
            node = node << 1 | bits.bit(&mut literals[node]);
        }
        self.unpacked.push(node as u8);
        self.state = match self.state {
            0..4 => 0,
            state @ 4..10 => state - 3,
            state => state - 6,
        };
    }

    /// Reads the distance, less 1, of a match of this length, less 2.
    #[inline(always)]
    fn distance(&mut self, bits: &mut Bits, length: usize) -> usize {
        let slot = bits.tree(&mut self.slots[length.min(3)]);
        if slot < 4 {
            return slot;
        }
        let count = (slot >> 1) - 1;
        let base = (2 | slot & 1) << count;
        if slot < 14 {
            base + bits.reversed(&mut self.distances[base - slot..], count)
        } else {
            let high = bits.direct(count - 4) << 4;
            base.wrapping_add(high + bits.reversed(&mut self.aligned, 4))
        }
    }

    /// Repeats bytes from the last distance.
    #[inline(always)]
    fn copy(&mut self, count: usize) -> Option<()> {
        let from = self.unpacked.len().checked_sub(self.last[0].checked_add(1)?)?;
        if count > self.nbytes - self.unpacked.len() {
            return None;
        }
        // A match may overlap what it makes.
        for i in from..from + count {
            self.unpacked.push(self.unpacked[i]);
        }
        Some(())
    }
}
