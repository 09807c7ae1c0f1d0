//! tensorsh, a shell for tensors and the bytes beneath them.
//!
//! Every input takes the same path. [`session`] receives a line. [`languages::python`] runs text after `>>> `,
//! [`languages::script`] everything else. [`call`] binds the arguments of every call to a row of the function table in
//! [`torch`], and [`call::dispatch`] runs it. [`autograd`] records operations, which [`tensor::ops`] computes on
//! [`tensor`]s. [`explain::format`](mod@explain::format) formats values, and [`explain`] draws the memory beneath them.
//! [`session::transcript`], `shell` and [`web`] are the ends of the path: they provide inputs and receive text.
//! Everything runs on a [`tensor::system`]: an operating system, or a page.
//!
//! A session evaluates inputs and prints nothing itself. Parsing and evaluation recurse deeply, so start a session with
//! [`spawn_with_big_stack`](session::transcript::spawn_with_big_stack).
//!
//! ```
//! use tensorsh::session::{Language, Session, SessionOptions};
//!
//! let mut session = Session::new(SessionOptions::default());
//! session.eval(Language::Rhai, "let x = torch.arange(6).view(2, 3);");
//! assert_eq!(session.eval(Language::Python, "x.t()[:, 0]").text, "tensor([0, 1, 2])\n");
//! let refused = session.eval(Language::Python, "x.t().view(6)").error;
//! assert_eq!(refused.map(|failure| failure.kind).as_deref(), Some("RuntimeError"));
//! ```
//!
//! The core can be used without a script, here to create, view and print a tensor.
//!
//! ```
//! use tensorsh::explain::format::{Formatter, PrintOptions};
//! use tensorsh::tensor::{DType, Scalar, View};
//! use tensorsh::value::Value;
//!
//! # fn main() -> tensorsh::tensor::Result<()> {
//! let numbers = View::from_scalars(&[6], DType::Short, (0..6).map(Scalar::Int))?;
//! let rows = numbers.with_layout(numbers.layout.view(&[2, 3])?);
//! assert_eq!((rows.strides(), rows.storage == numbers.storage), (&[3, 1][..], true));
//! let formatter = Formatter { options: &PrintOptions::default(), default_dtype: DType::Float };
//! let text = formatter.repr(&Value::from(rows))?;
//! assert_eq!(text, "tensor([[0, 1, 2],\n        [3, 4, 5]], dtype=torch.int16)");
//! # Ok(())
//! # }
//! ```

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use session::texts::{self, Texts};

#[cfg(not(target_family = "wasm"))]
pub use shell;
pub use {autograd, call, explain, files, languages, objects, session, tensor, torch, value, web};

/// Provides lessons and examples to the session. Call it before showing lessons or help.
pub fn provide_texts() {
    texts::provide(TEXTS);
}

/// The lessons, and the sessions that provide examples for help.
const TEXTS: Texts = Texts {
    lessons: &[
        ("storage", include_str!("../docs/learn/01-storage.md")),
        ("strides", include_str!("../docs/learn/02-strides.md")),
        ("views", include_str!("../docs/learn/03-views.md")),
        ("transpose", include_str!("../docs/learn/04-transpose.md")),
        ("bytes", include_str!("../docs/learn/05-bytes.md")),
        ("frombuffer", include_str!("../docs/learn/06-frombuffer.md")),
        ("indexing", include_str!("../docs/learn/07-indexing.md")),
        ("broadcasting", include_str!("../docs/learn/08-broadcasting.md")),
        ("as-strided", include_str!("../docs/learn/09-as-strided.md")),
        ("saving", include_str!("../docs/learn/10-saving.md")),
        ("arrays", include_str!("../docs/learn/11-arrays.md")),
        ("rounding", include_str!("../docs/learn/12-rounding.md")),
        ("whose-memory", include_str!("../docs/learn/13-whose-memory.md")),
    ],
    examples: &[
        include_str!("../tests/transcripts/storage.md"),
        include_str!("../tests/transcripts/view-shape.md"),
        include_str!("../tests/transcripts/view-dtype.md"),
        include_str!("../tests/transcripts/tensor-views.md"),
        include_str!("../tests/transcripts/frombuffer.md"),
        include_str!("../tests/transcripts/slices.md"),
        include_str!("../tests/transcripts/expand.md"),
        include_str!("../tests/transcripts/bytes.md"),
        include_str!("../tests/transcripts/printing.md"),
        include_str!("../tests/transcripts/buffers.md"),
    ],
};
