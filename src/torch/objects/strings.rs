//! Strings and bytes: their methods, formatting, codecs, and buffers.

pub(crate) mod buffers;
pub(crate) mod byte_streams;
pub(crate) mod bytes;
pub(crate) mod characters;
pub(crate) mod codecs;
pub(crate) mod percent;
pub(crate) mod text;
pub(crate) mod text_format;
