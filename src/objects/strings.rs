//! Strings and bytes: their methods, formatting, codecs, and buffers.

pub mod buffers;
pub mod byte_streams;
pub mod bytes;
pub mod characters;
pub(crate) mod codecs;
pub mod percent;
pub mod text;
pub(crate) mod text_format;
