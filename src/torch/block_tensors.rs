//! Tensors of quantized blocks, as GGUF files store them: dequantizing, taking one block, and describing a block for a
//! picture.

use call::{Row, method};
use explain::blocks::Block;
use files::gguf::BlockTensor;
use tensor::{Error, Result};
use value::Value;

/// Number of elements of a block that a picture describes. These share one scale in every block type.
const FIRST: usize = 8;

pub(crate) const ROWS: &[Row] = &[
    method(
        "dequantize.blocks(Object self) -> Tensor",
        |c| this(&c.value(0), "dequantize")?.dequantize().map(Value::from),
        "Returns the float32 numbers that the quantized blocks of a GGUF file stand for.",
    ),
    method(
        "block(Object self, int index) -> any",
        |c| this(&c.value(0), "block")?.block(c.int(1)?).map(BlockTensor::value),
        "Returns one block of a tensor of quantized blocks; show_bytes and bits draw it.",
    ),
];

fn this<'v>(value: &'v Value, name: &str) -> Result<&'v BlockTensor> {
    let text = || format!("'{}' object has no attribute '{name}'", value.type_name());
    BlockTensor::of(value).ok_or_else(|| Error::attribute(text()))
}

/// Splits the first block of a tensor into its parts, for a picture.
///
/// # Errors
/// IndexError if the tensor has no blocks; RuntimeError if its bytes were lost or the block type is not supported.
pub(crate) fn first_block(tensor: &BlockTensor) -> Result<Block> {
    let block = tensor.block(0)?;
    let (kind, bytes) = (block.kind(), block.data().storage.to_vec()?);
    let missing = || Error::runtime(format!("blocks of type {} are not taken apart here", kind.blocks.name));
    kind.element(&bytes, 0).ok_or_else(missing)?;
    let count = kind.blocks.count;
    Ok(Block {
        title: format!("{}, {}", block.title(), kind.blocks.name),
        elements: (0..count.min(FIRST)).filter_map(|index| kind.element(&bytes, index)).collect(),
        bytes,
        count,
        parts: kind.parts(),
    })
}
