//! Measures how long a user waits for the prompt, and prints each figure beside its target. `cargo bench --bench prompt`.

#[cfg(unix)]
mod waits;

fn main() {
    #[cfg(unix)]
    waits::measure();
    #[cfg(not(unix))]
    eprintln!("It drives the program on a pseudo-terminal of Unix, and there is none here.");
}
