//! Empty: see `Cargo.toml`.
