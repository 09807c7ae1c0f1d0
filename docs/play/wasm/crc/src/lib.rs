//! A stand-in for the crate of this name, whose tables are 16 KB that no packer makes smaller. Here they are computed when
//! an archive is first read or written.

use std::sync::OnceLock;

/// `TABLES[k][byte]` is the remainder of a byte followed by `k` bytes of zeros.
static TABLES: OnceLock<[[u32; 256]; 8]> = OnceLock::new();

fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    for byte in 0..256 {
        let step = |crc: u32| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
        tables[0][byte] = (0..8).fold(byte as u32, |crc, _| step(crc));
    }
    for k in 1..8 {
        for byte in 0..256 {
            let crc = tables[k - 1][byte];
            tables[k][byte] = crc >> 8 ^ tables[0][(crc & 255) as usize];
        }
    }
    tables
}

/// A checksum in progress.
#[derive(Clone, Debug, Default)]
pub struct Hasher(u32);

impl Hasher {
    pub fn new() -> Hasher {
        Hasher(0)
    }

    /// Continues a checksum; the length is needed only to combine several.
    pub fn new_with_initial_len(crc: u32, _length: u64) -> Hasher {
        Hasher(crc)
    }

    pub fn update(&mut self, bytes: &[u8]) {
        let tables = TABLES.get_or_init(tables);
        let (groups, rest) = bytes.as_chunks::<8>();
        let mut crc = !self.0;
        for group in groups {
            let first = crc.to_le_bytes();
            crc = (0..8).fold(0, |sum, i| {
                let byte = if i < 4 { group[i] ^ first[i] } else { group[i] };
                sum ^ tables[7 - i][usize::from(byte)]
            });
        }
        for byte in rest {
            crc = crc >> 8 ^ tables[0][usize::from(crc as u8 ^ byte)];
        }
        self.0 = !crc;
    }

    pub fn finalize(self) -> u32 {
        self.0
    }
}

/// Returns the checksum of all bytes.
pub fn hash(bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    /// The checksums are those that the catalogue of CRC algorithms lists, and those of the bytes one by one.
    #[test]
    fn checksums_are_the_known_ones() {
        assert_eq!(super::hash(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..100).map(|i| (i * 37) as u8).collect();
        for end in 0..bytes.len() {
            let mut one_by_one = super::Hasher::new();
            bytes[..end].chunks(1).for_each(|byte| one_by_one.update(byte));
            assert_eq!(super::hash(&bytes[..end]), one_by_one.finalize(), "{end}");
        }
    }
}
