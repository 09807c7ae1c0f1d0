//! `torch.testing.assert_close`: compares values of any kind as PyTorch does. Follows
//! <https://pytorch.org/docs/2.7/testing.html>.

use crate::python::in_python;
use call::{Row, function};

pub(super) const ROWS: &[Row] = &[function(
    "testing.assert_close(any actual, any expected, *, any allow_subclasses=True, any rtol=None, any \
 atol=None, any equal_nan=False, any check_device=True, any check_dtype=True, any check_layout=True, \
 any check_stride=False, any msg=None) -> None",
    |c| in_python(c, "testing.assert_close"),
    "Raises an AssertionError unless two values are close to each other.",
)
.any_layout()
.python("assert_close")];
