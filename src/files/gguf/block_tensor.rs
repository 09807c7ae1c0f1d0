//! [`BlockTensor`]: a tensor of quantized blocks, as a value. Its bytes stay in place and are dequantized on request.
//! Its attributes are those of `gguf.ReaderTensor`. Knows no scripts.

use super::super::contents::{Blocks, count as counted};
use super::block_type::BlockType;
use super::shown;
use std::rc::Rc;
use tensor::layout::contiguous_strides;
use tensor::{DType, Device, Dims, Error, Layout, Result, Storage, View, parallel};
use value::{Object, Value};

/// Quantized blocks in row-major order.
pub struct BlockTensor {
    name: Rc<str>,
    kind: &'static BlockType,
    sizes: Dims,
    /// The storage, with exactly the bytes of the blocks.
    storage: Storage,
    /// For a single block of a tensor, its index there.
    nth: Option<usize>,
}

impl BlockTensor {
    /// Creates a tensor of blocks. The sizes determine their number, and rows are whole blocks.
    pub fn new(name: &str, kind: &'static BlockType, sizes: &[i64], storage: Storage) -> BlockTensor {
        BlockTensor { name: name.into(), kind, sizes: sizes.into(), storage, nth: None }
    }

    pub fn value(self) -> Value {
        Value::Object(Rc::new(self))
    }

    /// Returns the value as a block tensor, if it is one.
    pub fn of(value: &Value) -> Option<&BlockTensor> {
        match value {
            Value::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }

    pub fn kind(&self) -> &'static BlockType {
        self.kind
    }

    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    fn numel(&self) -> usize {
        // The product of the sizes was checked before.
        self.sizes.iter().product::<i64>().try_into().unwrap_or(0)
    }

    pub fn block_count(&self) -> usize {
        self.numel() / self.kind.blocks.count
    }

    pub fn nbytes(&self) -> usize {
        self.block_count() * self.kind.blocks.nbytes
    }

    /// Returns the tensor's name, with the index of the block if it is a single one.
    pub fn title(&self) -> String {
        match self.nth {
            Some(nth) => format!("{}, block {nth}", shown(&self.name)),
            None => shown(&self.name),
        }
    }

    /// Returns the bytes as a tensor, with the same number of rows.
    pub fn data(&self) -> View {
        let mut sizes = self.sizes.clone();
        if let Some(inner) = sizes.last_mut() {
            *inner = *inner / self.kind.blocks.count as i64 * self.kind.blocks.nbytes as i64;
        }
        let layout = Layout::contiguous(&sizes);
        View { storage: self.storage.clone(), layout, dtype: DType::Byte, conj: false, neg: false, form: None }
    }

    /// Dequantizes the blocks to float32.
    ///
    /// # Errors
    /// Fails with RuntimeError if the memory is lost or insufficient, and with KeyboardInterrupt.
    pub fn dequantize(&self) -> Result<View> {
        let out = View::zeros_strided(&self.sizes, contiguous_strides(&self.sizes), DType::Float, Device::CPU)?;
        if self.numel() == 0 {
            return Ok(out);
        }
        let (from, kind, nbytes) = (self.data().memory()?, self.kind, self.nbytes());
        let done = parallel::between(&from, &*out.memory()?, 0..self.numel(), |bytes: &[u8], out: &mut [f32]| {
            kind.dequantize(bytes.get(..nbytes).unwrap_or_default(), out)
        });
        done.ok_or_else(|| Error::runtime("the blocks cannot be read"))??;
        // The lost part of a file reads as zeros.
        from.check()?;
        Ok(out)
    }

    /// Returns one block as a separate tensor, on the same bytes. A negative index counts from the end.
    ///
    /// # Errors
    /// Fails with IndexError if it is out of range.
    pub fn block(&self, index: i64) -> Result<BlockTensor> {
        let count = self.block_count();
        let place = if index < 0 { index.checked_add(count as i64) } else { Some(index) };
        let place = place.and_then(|place| usize::try_from(place).ok()).filter(|place| *place < count);
        let place = place.ok_or_else(|| Error::index(format!("block {index} is out of range: there are {count}")))?;
        let start = place * self.kind.blocks.nbytes;
        let storage = self.storage.slice(start, start + self.kind.blocks.nbytes)?;
        let sizes = [self.kind.blocks.count as i64].as_slice().into();
        let nth = Some(self.nth.unwrap_or(0) + place);
        Ok(BlockTensor { name: self.name.clone(), kind: self.kind, sizes, storage, nth })
    }
}

impl Object for BlockTensor {
    fn class_name(&self) -> &'static str {
        "BlockTensor"
    }

    fn repr(&self) -> String {
        let Blocks { name, count, nbytes, .. } = self.kind.blocks;
        let (title, sizes, blocks) = (self.title(), &self.sizes, counted(self.block_count(), "block"));
        format!("<BlockTensor {title}: {name}, {sizes:?}, {blocks} of {count} elements in {nbytes} bytes>")
    }

    fn attribute(&self, name: &str) -> Option<Value> {
        Some(match name {
            "name" => Value::str(&*self.name),
            "tensor_type" => Value::str(self.kind.blocks.name),
            "shape" => Value::size(&self.sizes),
            "n_elements" => Value::Int(self.numel() as i64),
            "n_bytes" => Value::Int(self.nbytes() as i64),
            "data" => Value::from(self.data()),
            _ => return None,
        })
    }
}
