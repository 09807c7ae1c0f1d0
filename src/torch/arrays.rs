//! Between tensors and NumPy's arrays. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.from_numpy.html>.

use call::facets::NameInference::Nameless;
use call::{Row, function, method};
use numpy::bridge;

pub(crate) const ROWS: &[Row] = &[
    function(
        "from_numpy(any array) -> Tensor",
        |c| bridge::from_numpy(&c.value(0)),
        "Creates a tensor on the memory of an array.",
    )
    .names(Nameless)
    .python("from_numpy"),
    method(
        "numpy(Tensor self, *, bool force=False) -> any",
        |c| bridge::numpy(c.tensor(0)?, c.bool(1)?),
        "Creates an array on the memory of a tensor.",
    )
    .names(Nameless)
    .not_differentiable(),
    method(
        "__array__(Tensor self, any dtype=None) -> any",
        |c| {
            let array = bridge::numpy(c.tensor(0)?, false)?;
            match c.is_none(1) {
                true => Ok(array),
                false => objects::calling::call_method(c.state, &array, "astype", vec![c.value(1)], Vec::new()),
            }
        },
        "Returns an array on the memory of a tensor, or a copy in another dtype.",
    )
    .names(Nameless)
    .python("Tensor.__array__")
    .not_differentiable(),
];
