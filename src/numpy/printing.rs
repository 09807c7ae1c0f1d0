//! How arrays and scalars print, with the session's print options. Follows
//! <https://numpy.org/doc/2.4/reference/generated/numpy.set_printoptions.html>.

use crate::descr::Descr;
use explain::format::arrays::{self, Style};
use tensor::{Result, View};

/// Formats an array or a scalar.
pub fn write(view: &View, descr: Descr, style: Style) -> Result<String> {
    let _ = descr;
    arrays::write(view, style)
}
