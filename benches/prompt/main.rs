//! Measures how long a user waits for the prompt, and prints each figure beside its target. `cargo bench --bench prompt`.

#[cfg(unix)]
mod waits;

fn main() {
    #[cfg(unix)]
    waits::measure();
    #[cfg(not(unix))]
    eprintln!("This benchmark needs a Unix pseudo-terminal. Nothing was measured.");
}
