//! Checks of gradients against finite differences: `gradcheck` and `gradgradcheck`. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.autograd.gradcheck.gradcheck.html>.

use crate::python::in_python;
use call::{Row, function};

pub(super) const ROWS: &[Row] = &[
    function(
        "autograd.gradcheck(any func, any inputs, *, float eps=1e-6, float atol=1e-5, float rtol=1e-3, bool \
 raise_exception=True, float nondet_tol=0.0, bool check_undefined_grad=True, bool \
 check_grad_dtypes=False, bool check_batched_grad=False, bool check_batched_forward_grad=False, bool \
 check_forward_ad=False, bool check_backward_ad=True, bool fast_mode=False, any masked=None) -> bool",
        |c| in_python(c, "gradcheck.gradcheck"),
        "Returns whether the gradients of a function agree with finite differences.",
    )
    .python("gradcheck"),
    function(
        "autograd.gradgradcheck(any func, any inputs, any grad_outputs=None, *, float eps=1e-6, float \
 atol=1e-5, float rtol=1e-3, bool gen_non_contig_grad_outputs=False, bool raise_exception=True, float \
 nondet_tol=0.0, bool check_undefined_grad=True, bool check_grad_dtypes=False, bool \
 check_batched_grad=False, bool check_fwd_over_rev=False, bool check_rev_over_rev=True, bool \
 fast_mode=False, any masked=False) -> bool",
        |c| in_python(c, "gradcheck.gradgradcheck"),
        "Returns whether the gradients of a function's gradients agree with finite differences.",
    )
    .python("gradgradcheck"),
];
