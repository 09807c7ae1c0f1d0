//! tensorsh, a shell for tensors and the bytes beneath them.
//!
//! One path serves every input. [`session`] takes a line; [`python`] runs what stands after `>>> `, [`script`] anything else;
//! [`call`] binds the arguments of every call to a row of the function table in [`functions`], and
//! [`dispatch`] runs it; [`autograd`] records, [`ops`] compute on [`tensor`]s; [`format`](mod@format) says what the value looks like; [`explain`] draws the
//! memory beneath it. [`transcript`], `shell` and [`web`] are the two ends: where inputs come from and where text goes. Beneath
//! all of it is a [`system`], or a page.
//!
//! A session evaluates inputs and prints nothing itself. Parsers and evaluation recurse, so a program of its own starts it by
//! [`transcript::spawn_with_big_stack`].
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
//! The core can be used without a script: a tensor is made, viewed and printed.
//!
//! ```
//! use tensorsh::format::{Formatter, PrintOptions};
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

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod assist;
pub mod autograd;
pub mod call;
pub mod dispatch;
pub mod explain;
pub mod files;
pub mod format;
pub mod functions;
pub mod lessons;
pub mod library;
pub mod linalg;
pub mod ops;
pub mod python;
pub mod script;
pub mod session;
#[cfg(not(target_family = "wasm"))]
pub mod shell;
pub mod system;
pub mod tensor;
pub mod transcript;
pub mod value;
pub mod web;
