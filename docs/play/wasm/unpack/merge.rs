//! Puts a WebAssembly module together from the streams that docs/play/split.js makes of it: its instructions, the operands
//! of each kind, and all else. Each stream repeats itself more than the module does, so they are packed better apart.

use crate::lzma::Lzma;

/// The streams, in the order in which they are packed.
const STREAMS: usize = 11;
/// All that is not in the code section.
const REST: usize = 0;
/// Instructions, with operands that have few values: types of blocks, alignments, globals, memories, lanes.
const INSTRUCTIONS: usize = 1;
/// The local variables of each function.
const DECLARATIONS: usize = 2;
/// Operands: local variables, small and large integers, jumps, called functions (two bytes each), types of functions
/// called through a table, offsets of memory, and constants that are no integers.
const LOCALS: usize = 3;
const INTEGERS: usize = 4;
const LONG_INTEGERS: usize = 5;
const JUMPS: usize = 6;
const CALLS: usize = 7;
const TYPES: usize = 8;
const OFFSETS: usize = 9;
const CONSTANTS: usize = 10;

/// The id of the code section.
const CODE: u8 = 10;
/// Bytes that are unpacked at a time.
const STEP: usize = 1 << 14;

/// A stream, and how much of it is read.
struct Stream {
    packed: Lzma,
    at: usize,
}

impl Stream {
    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        if self.at == self.packed.unpacked().len() {
            self.packed.unpack(self.at + STEP);
        }
        let byte = self.packed.unpacked().get(self.at).copied();
        self.at += 1;
        byte
    }

    fn bytes(&mut self, count: usize, into: &mut Vec<u8>) -> Option<()> {
        let end = self.at.checked_add(count)?;
        self.packed.unpack(end);
        into.extend_from_slice(self.packed.unpacked().get(self.at..end)?);
        self.at = end;
        Some(())
    }

    /// Copies a number in LEB128.
    #[inline(always)]
    fn number(&mut self, into: &mut Vec<u8>) -> Option<usize> {
        let (mut value, mut shift) = (0usize, 0);
        loop {
            let byte = self.byte()?;
            into.push(byte);
            value |= usize::from(byte & 127).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 128 {
                return Some(value);
            }
        }
    }
}

fn push_number(mut value: usize, into: &mut Vec<u8>) {
    while value > 127 {
        into.push(value as u8 | 128);
        value >>= 7;
    }
    into.push(value as u8);
}

/// What comes next in the module.
enum Next {
    Header,
    Section,
    /// The number of bytes left of a section that is copied.
    Copied(usize),
    /// So many functions.
    Functions(usize),
}

pub(crate) struct Module {
    streams: [Stream; STREAMS],
    next: Next,
    /// The function that is being put together.
    body: Vec<u8>,
}

impl Module {
    /// Begins with what split.js has written. For each stream: the first byte of an LZMA file, the numbers of unpacked and
    /// of packed bytes, in four bytes each. Then the streams.
    pub(crate) fn new(packed: &'static [u8]) -> Option<Module> {
        let (heads, mut rest) = packed.split_at_checked(9 * STREAMS)?;
        let mut streams = Vec::with_capacity(STREAMS);
        for head in heads.as_chunks::<9>().0 {
            let [properties, a, b, c, d, e, f, g, h] = *head;
            let (stream, behind) = rest.split_at_checked(u32::from_le_bytes([e, f, g, h]) as usize)?;
            let packed = Lzma::new(properties, stream, u32::from_le_bytes([a, b, c, d]) as usize);
            streams.push(Stream { packed, at: 0 });
            rest = behind;
        }
        Some(Module { streams: streams.try_into().ok()?, next: Next::Header, body: Vec::new() })
    }

    /// Appends about `count` bytes of the module, none at its end. Returns `None` if what is packed is damaged.
    pub(crate) fn read(&mut self, count: usize, into: &mut Vec<u8>) -> Option<()> {
        while into.len() < count {
            match self.next {
                Next::Header => {
                    self.streams[REST].bytes(8, into)?;
                    self.next = Next::Section;
                }
                Next::Section => {
                    let Some(id) = self.streams[REST].byte() else { break };
                    into.push(id);
                    let nbytes = self.streams[REST].number(into)?;
                    self.next = match id {
                        CODE => Next::Functions(self.streams[REST].number(into)?),
                        _ => Next::Copied(nbytes),
                    };
                }
                Next::Copied(0) | Next::Functions(0) => self.next = Next::Section,
                Next::Copied(left) => {
                    let step = left.min(STEP);
                    self.streams[REST].bytes(step, into)?;
                    self.next = Next::Copied(left - step);
                }
                Next::Functions(left) => {
                    self.body.clear();
                    self.function()?;
                    push_number(self.body.len(), into);
                    into.extend_from_slice(&self.body);
                    self.next = Next::Functions(left - 1);
                }
            }
        }
        Some(())
    }

    #[inline(always)]
    fn number(&mut self, stream: usize) -> Option<usize> {
        self.streams[stream].number(&mut self.body)
    }

    /// Copies an operand that is not needed to know what follows.
    #[inline(always)]
    fn operand(&mut self, stream: usize) -> Option<()> {
        self.number(stream).map(|_| ())
    }

    /// Puts a function together.
    fn function(&mut self) -> Option<()> {
        for _ in 0..self.number(DECLARATIONS)? {
            self.number(DECLARATIONS)?;
            self.number(DECLARATIONS)?;
        }
        let mut depth = 0;
        loop {
            let instruction = self.streams[INSTRUCTIONS].byte()?;
            self.body.push(instruction);
            match instruction {
                0x02..=0x04 => {
                    depth += 1;
                    self.number(INSTRUCTIONS)?;
                }
                0x0b if depth == 0 => return Some(()),
                0x0b => depth -= 1,
                0x0c | 0x0d => self.operand(JUMPS)?,
                0x0e => {
                    for _ in 0..=self.number(JUMPS)? {
                        self.number(JUMPS)?;
                    }
                }
                0x10 => {
                    let calls = &mut self.streams[CALLS];
                    let callee = u16::from_le_bytes([calls.byte()?, calls.byte()?]);
                    push_number(usize::from(callee), &mut self.body);
                }
                0x11 => {
                    self.operand(TYPES)?;
                    self.operand(TYPES)?;
                }
                0x20..=0x22 => self.operand(LOCALS)?,
                0x23 | 0x24 | 0x3f | 0x40 => self.operand(INSTRUCTIONS)?,
                0x28..=0x3e => self.access()?,
                0x41 => self.operand(INTEGERS)?,
                0x42 => self.operand(LONG_INTEGERS)?,
                0x43 => self.streams[CONSTANTS].bytes(4, &mut self.body)?,
                0x44 => self.streams[CONSTANTS].bytes(8, &mut self.body)?,
                0xfc => match self.number(INSTRUCTIONS)? {
                    10 => {
                        self.number(INSTRUCTIONS)?;
                        self.number(INSTRUCTIONS)?;
                    }
                    11 => self.operand(INSTRUCTIONS)?,
                    _ => {}
                },
                0xfd => match self.number(INSTRUCTIONS)? {
                    0..=11 | 92 | 93 => self.access()?,
                    12 | 13 => self.streams[CONSTANTS].bytes(16, &mut self.body)?,
                    21..=34 => self.operand(INSTRUCTIONS)?,
                    84..=91 => {
                        self.access()?;
                        self.number(INSTRUCTIONS)?;
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// The operands of an access to memory.
    #[inline(always)]
    fn access(&mut self) -> Option<()> {
        self.number(INSTRUCTIONS)?;
        self.number(OFFSETS)?;
        Some(())
    }
}
